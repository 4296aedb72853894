-- uqcli export. kind: boundary, version: 0.5.0, digest: 81ceb8ee2eafbbcd276e83a872a710b9eae084f7227332de70fc88d6b60f6a1e
-- Null for rows whose numbers are null, NaN, infinite or out of their range.
CASE WHEN ISFINITE(TRY_CAST("score" AS DOUBLE)) AND ISFINITE(TRY_CAST("uncertainty" AS DOUBLE)) THEN TRY_CAST("score" AS DOUBLE) >= CASE
  WHEN TRY_CAST("uncertainty" AS DOUBLE) < -1.8004400134086607e0 THEN 0.9470640122890472e0
  ELSE 0.774079293012619e0
END END
