-- uqcli export. rule: Boundaries (smooth) of 2 groups of sex for target precision >= 0.7
-- uqcli export. kind: boundary
-- uqcli export. digest: b10a0e70ee7c18108b942afe64f538be7eea1ee039632241fddc058bc04f1b23
-- uqcli export. version: 0.3.0
-- uqcli export. bound: precision >= 0.7
-- Null for rows whose numbers are null, NaN, infinite or out of their range.
CASE
  WHEN ISFINITE(CAST(score AS DOUBLE)) AND ISFINITE(CAST(uncertainty AS DOUBLE))
  THEN CASE
    WHEN COALESCE(TRIM(CAST(sex AS TEXT)) IN ('Female'), FALSE)
    THEN CAST(score AS DOUBLE) >= 0.8100519607314042e0
    WHEN COALESCE(TRIM(CAST(sex AS TEXT)) IN ('Male'), FALSE)
    THEN CASE
      WHEN CAST(uncertainty AS DOUBLE) < -1.6693256548952036e0
      THEN CAST(score AS DOUBLE) >= 0.9509482720183455e0
      ELSE CAST(score AS DOUBLE) >= 0.7134594212882308e0
    END
    ELSE CASE
      WHEN CAST(uncertainty AS DOUBLE) < -1.8004399934308282e0
      THEN CAST(score AS DOUBLE) >= 0.9470640683926232e0
      ELSE CAST(score AS DOUBLE) >= 0.7740792960100166e0
    END
  END
END
