-- uqcli export. kind: calibrator, version: 0.5.0, digest: ca3d1a6f140941b0d5c473a355fa868178cba09f0f3787a5c5cd8db1c1505645
-- Null for rows whose numbers are null, NaN, infinite or out of their range.
LIST_TRANSFORM(LIST_TRANSFORM(LIST_TRANSFORM(LIST_TRANSFORM([{'uqcli_score': TRY_CAST("score" AS DOUBLE),
'uqcli_number': TRY_CAST("age" AS DOUBLE),
'uqcli_number_2': TRY_CAST("hours_per_week" AS DOUBLE),
'uqcli_text': CASE WHEN TYPEOF("education") NOT IN ('FLOAT', 'DOUBLE') OR ISFINITE(TRY_CAST("education" AS DOUBLE)) THEN TRIM(CAST("education" AS TEXT), CHR(9) || CHR(10) || CHR(11) || CHR(12) || CHR(13) || CHR(32) || CHR(133) || CHR(160) || CHR(5760) || CHR(8192) || CHR(8193) || CHR(8194) || CHR(8195) || CHR(8196) || CHR(8197) || CHR(8198) || CHR(8199) || CHR(8200) || CHR(8201) || CHR(8202) || CHR(8232) || CHR(8233) || CHR(8239) || CHR(8287) || CHR(12288)) COLLATE "C" END}], LAMBDA uqcli_row:
STRUCT_INSERT(uqcli_row, uqcli_usable := ISFINITE(uqcli_row.uqcli_score) AND uqcli_row.uqcli_score >= 0.0e0 AND uqcli_row.uqcli_score <= 1.0e0 AND (uqcli_row.uqcli_number IS NULL OR NOT (uqcli_row.uqcli_number = CAST('inf' AS DOUBLE) OR uqcli_row.uqcli_number = CAST('-inf' AS DOUBLE))) AND (uqcli_row.uqcli_number_2 IS NULL OR NOT (uqcli_row.uqcli_number_2 = CAST('inf' AS DOUBLE) OR uqcli_row.uqcli_number_2 = CAST('-inf' AS DOUBLE))))), LAMBDA uqcli_row:
STRUCT_INSERT(uqcli_row, uqcli_leaf := CASE WHEN uqcli_row.uqcli_usable THEN CASE
  WHEN CASE
    WHEN (uqcli_row.uqcli_number IS NULL OR NOT ISFINITE(uqcli_row.uqcli_number)) THEN FALSE
    ELSE uqcli_row.uqcli_number <= 33.5e0
  END THEN CASE
    WHEN CASE
      WHEN (uqcli_row.uqcli_number IS NULL OR NOT ISFINITE(uqcli_row.uqcli_number)) THEN TRUE
      ELSE uqcli_row.uqcli_number <= 26.5e0
    END THEN 0.0e0
    ELSE 1.0e0
  END
  ELSE CASE
    WHEN CASE
      WHEN (uqcli_row.uqcli_text IS NULL OR uqcli_row.uqcli_text = '') THEN TRUE
      ELSE uqcli_row.uqcli_text IN ('12th', '9th', '11th', '10th', '7th-8th', 'HS-grad', 'Some-college', 'Assoc-acdm', 'Assoc-voc')
    END THEN 2.0e0
    ELSE 3.0e0
  END
END END,
uqcli_clipped := CASE WHEN uqcli_row.uqcli_usable THEN CASE
  WHEN uqcli_row.uqcli_score < 1e-12 THEN 1e-12
  WHEN uqcli_row.uqcli_score > 0.999999999999e0 THEN 0.999999999999e0
  ELSE uqcli_row.uqcli_score
END END)), LAMBDA uqcli_row:
STRUCT_INSERT(uqcli_row, uqcli_log_odds := CASE
  WHEN uqcli_row.uqcli_leaf < 2.0e0 THEN CASE WHEN uqcli_row.uqcli_leaf < 1.0e0 THEN -1.2321734418987003e0 ELSE -0.6634593639812356e0 END
  ELSE CASE WHEN uqcli_row.uqcli_leaf < 3.0e0 THEN -1.1095612523986085e0 ELSE -0.5305365551577674e0 END
END + CASE
  WHEN uqcli_row.uqcli_leaf < 2.0e0 THEN CASE WHEN uqcli_row.uqcli_leaf < 1.0e0 THEN 1.0708617105727816e0 ELSE 0.6923741753216078e0 END
  ELSE CASE WHEN uqcli_row.uqcli_leaf < 3.0e0 THEN 0.4806133448666283e0 ELSE 0.5655520553742037e0 END
END * (LN(uqcli_row.uqcli_clipped) - LN(1.0e0 - uqcli_row.uqcli_clipped)))), LAMBDA uqcli_row:
CASE WHEN uqcli_row.uqcli_usable THEN CAST(CASE
  WHEN uqcli_row.uqcli_log_odds >= 40.0e0 THEN 1.0e0
  WHEN uqcli_row.uqcli_log_odds >= -700.0e0 THEN 1.0e0 / (1.0e0 + EXP(0.0e0 - uqcli_row.uqcli_log_odds))
  WHEN uqcli_row.uqcli_log_odds >= -745.0e0 THEN EXP(uqcli_row.uqcli_log_odds)
  ELSE 0.0e0
END / 1.0e0 AS DOUBLE) END)[1] AS "calibrated",
LIST_TRANSFORM([{'uqcli_score': TRY_CAST("score" AS DOUBLE),
'uqcli_number': TRY_CAST("age" AS DOUBLE),
'uqcli_number_2': TRY_CAST("hours_per_week" AS DOUBLE),
'uqcli_text': CASE WHEN TYPEOF("education") NOT IN ('FLOAT', 'DOUBLE') OR ISFINITE(TRY_CAST("education" AS DOUBLE)) THEN TRIM(CAST("education" AS TEXT), CHR(9) || CHR(10) || CHR(11) || CHR(12) || CHR(13) || CHR(32) || CHR(133) || CHR(160) || CHR(5760) || CHR(8192) || CHR(8193) || CHR(8194) || CHR(8195) || CHR(8196) || CHR(8197) || CHR(8198) || CHR(8199) || CHR(8200) || CHR(8201) || CHR(8202) || CHR(8232) || CHR(8233) || CHR(8239) || CHR(8287) || CHR(12288)) COLLATE "C" END}], LAMBDA uqcli_row:
CASE WHEN ISFINITE(uqcli_row.uqcli_score) AND uqcli_row.uqcli_score >= 0.0e0 AND uqcli_row.uqcli_score <= 1.0e0 AND (uqcli_row.uqcli_number IS NULL OR NOT (uqcli_row.uqcli_number = CAST('inf' AS DOUBLE) OR uqcli_row.uqcli_number = CAST('-inf' AS DOUBLE))) AND (uqcli_row.uqcli_number_2 IS NULL OR NOT (uqcli_row.uqcli_number_2 = CAST('inf' AS DOUBLE) OR uqcli_row.uqcli_number_2 = CAST('-inf' AS DOUBLE))) THEN CASE
  WHEN CASE
    WHEN (uqcli_row.uqcli_number IS NULL OR NOT ISFINITE(uqcli_row.uqcli_number)) THEN FALSE
    ELSE uqcli_row.uqcli_number <= 33.5e0
  END THEN CASE
    WHEN CASE
      WHEN (uqcli_row.uqcli_number IS NULL OR NOT ISFINITE(uqcli_row.uqcli_number)) THEN TRUE
      ELSE uqcli_row.uqcli_number <= 26.5e0
    END THEN 0
    ELSE 1
  END
  ELSE CASE
    WHEN CASE
      WHEN (uqcli_row.uqcli_text IS NULL OR uqcli_row.uqcli_text = '') THEN TRUE
      ELSE uqcli_row.uqcli_text IN ('12th', '9th', '11th', '10th', '7th-8th', 'HS-grad', 'Some-college', 'Assoc-acdm', 'Assoc-voc')
    END THEN 2
    ELSE 3
  END
END END)[1] AS "leaf"
