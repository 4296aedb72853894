-- uqcli export. rule: Boundary (smooth) for target precision >= 0.7
-- uqcli export. kind: boundary
-- uqcli export. digest: 70bd5c3f9619c431b5416d24ead7dab80385978bdbe40aa2dc7c997754ef6881
-- uqcli export. version: 0.3.0
-- uqcli export. bound: precision >= 0.7
-- Null for rows whose numbers are null, NaN, infinite or out of their range.
CASE
  WHEN ISFINITE(CAST(score AS DOUBLE)) AND ISFINITE(CAST(uncertainty AS DOUBLE))
  THEN CASE
    WHEN CAST(uncertainty AS DOUBLE) < -1.8004399934308282e0
    THEN CAST(score AS DOUBLE) >= 0.9470640683926232e0
    ELSE CAST(score AS DOUBLE) >= 0.7740792960100166e0
  END
END
