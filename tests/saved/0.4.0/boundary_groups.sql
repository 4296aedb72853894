-- uqcli export. rule: Boundaries (smooth) of 2 groups of sex for target precision >= 0.7
-- uqcli export. kind: boundary
-- uqcli export. digest: d70fb6adfdc878b3c075a38e1f62640daa41db2eb406e36ad359a38234eeec5b
-- uqcli export. version: 0.4.0
-- uqcli export. bound: precision >= 0.7
-- Null for rows whose numbers are null, NaN, infinite or out of their range.
CASE
  WHEN ISFINITE(CAST("score" AS DOUBLE)) AND ISFINITE(CAST("uncertainty" AS DOUBLE))
  THEN CASE
    WHEN COALESCE(
      TRIM(
        CAST("sex" AS TEXT),
        CHR(9) || CHR(10) || CHR(11) || CHR(12) || CHR(13) || CHR(32) || CHR(133) || CHR(160) || CHR(5760) || CHR(8192) || CHR(8193) || CHR(8194) || CHR(8195) || CHR(8196) || CHR(8197) || CHR(8198) || CHR(8199) || CHR(8200) || CHR(8201) || CHR(8202) || CHR(8232) || CHR(8233) || CHR(8239) || CHR(8287) || CHR(12288)
      ) IN ('Female'),
      FALSE
    )
    THEN CAST("score" AS DOUBLE) >= 0.8100519607314042e0
    WHEN COALESCE(
      TRIM(
        CAST("sex" AS TEXT),
        CHR(9) || CHR(10) || CHR(11) || CHR(12) || CHR(13) || CHR(32) || CHR(133) || CHR(160) || CHR(5760) || CHR(8192) || CHR(8193) || CHR(8194) || CHR(8195) || CHR(8196) || CHR(8197) || CHR(8198) || CHR(8199) || CHR(8200) || CHR(8201) || CHR(8202) || CHR(8232) || CHR(8233) || CHR(8239) || CHR(8287) || CHR(12288)
      ) IN ('Male'),
      FALSE
    )
    THEN CASE
      WHEN CAST("uncertainty" AS DOUBLE) < -1.6693256548952036e0
      THEN CAST("score" AS DOUBLE) >= 0.9509482720183455e0
      ELSE CAST("score" AS DOUBLE) >= 0.7134594212882308e0
    END
    ELSE CASE
      WHEN CAST("uncertainty" AS DOUBLE) < -1.8004399934308282e0
      THEN CAST("score" AS DOUBLE) >= 0.9470640683926232e0
      ELSE CAST("score" AS DOUBLE) >= 0.7740792960100166e0
    END
  END
END
