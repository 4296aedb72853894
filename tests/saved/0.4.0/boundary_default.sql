-- uqcli export. rule: Boundary (smooth) for target precision >= 0.7
-- uqcli export. kind: boundary
-- uqcli export. digest: d0c9a034e67421a6e5ee16f3ec59a850a48b503e2b94bb76fa7d4282c6c52829
-- uqcli export. version: 0.4.0
-- uqcli export. bound: precision >= 0.7
-- Null for rows whose numbers are null, NaN, infinite or out of their range.
CASE
  WHEN ISFINITE(CAST("score" AS DOUBLE)) AND ISFINITE(CAST("uncertainty" AS DOUBLE))
  THEN CASE
    WHEN CAST("uncertainty" AS DOUBLE) < -1.8004399934308282e0
    THEN CAST("score" AS DOUBLE) >= 0.9470640683926232e0
    ELSE CAST("score" AS DOUBLE) >= 0.7740792960100166e0
  END
END
