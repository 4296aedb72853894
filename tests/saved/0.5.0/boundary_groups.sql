-- uqcli export. kind: boundary, version: 0.5.0, digest: c7f06845b35cf55dc5e8959fc835db31be9eb03431b01e85677e69d37268b0af
-- Null for rows whose numbers are null, NaN, infinite or out of their range.
LIST_TRANSFORM([{'uqcli_score': TRY_CAST("score" AS DOUBLE),
'uqcli_uncertainty': TRY_CAST("uncertainty" AS DOUBLE),
'uqcli_text': CASE WHEN TYPEOF("sex") NOT IN ('FLOAT', 'DOUBLE') OR ISFINITE(TRY_CAST("sex" AS DOUBLE)) THEN TRIM(CAST("sex" AS TEXT), CHR(9) || CHR(10) || CHR(11) || CHR(12) || CHR(13) || CHR(32) || CHR(133) || CHR(160) || CHR(5760) || CHR(8192) || CHR(8193) || CHR(8194) || CHR(8195) || CHR(8196) || CHR(8197) || CHR(8198) || CHR(8199) || CHR(8200) || CHR(8201) || CHR(8202) || CHR(8232) || CHR(8233) || CHR(8239) || CHR(8287) || CHR(12288)) COLLATE "C" END}], LAMBDA uqcli_row:
CASE WHEN ISFINITE(uqcli_row.uqcli_score) AND ISFINITE(uqcli_row.uqcli_uncertainty) THEN uqcli_row.uqcli_score >= CASE
  WHEN uqcli_row.uqcli_text = 'Female' THEN 0.8100519478321077e0
  WHEN uqcli_row.uqcli_text = 'Male' THEN CASE WHEN uqcli_row.uqcli_uncertainty < -1.669325768947601e0 THEN 0.9509482681751252e0 ELSE 0.7134594023227693e0 END
  ELSE CASE WHEN uqcli_row.uqcli_uncertainty < -1.8004400134086607e0 THEN 0.9470640122890472e0 ELSE 0.774079293012619e0 END
END END)[1]
