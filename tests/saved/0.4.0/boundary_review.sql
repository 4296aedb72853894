-- uqcli export. rule: Boundary (smooth) for target precision >= 0.7, at most 10 % of rows reviewed
-- uqcli export. kind: boundary
-- uqcli export. digest: d4c2a41eac55278b91887436a0ecc93bfbb314dcab0d8e9677705f06b8abee3c
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
END AS "decision",
CASE
  WHEN ISFINITE(CAST("score" AS DOUBLE)) AND ISFINITE(CAST("uncertainty" AS DOUBLE))
  THEN CASE
    WHEN CASE
      WHEN CAST("uncertainty" AS DOUBLE) < -1.8004399934308282e0
      THEN CAST("score" AS DOUBLE) >= 0.9470640683926232e0
      ELSE CAST("score" AS DOUBLE) >= 0.7740792960100166e0
    END
    THEN 'flag'
    WHEN CASE
      WHEN CAST("uncertainty" AS DOUBLE) < -1.8004399934308282e0
      THEN CAST("score" AS DOUBLE) >= 0.8849049255900997e0
      ELSE CAST("score" AS DOUBLE) >= 0.6672715591909817e0
    END
    THEN 'review'
    ELSE 'clear'
  END
END AS "zone"
