-- uqcli export. rule: Boundaries (smooth) of 10 groups of predicted class for target precision >= 0.97
-- uqcli export. kind: boundary
-- uqcli export. digest: 09bf7a20018f1d1764a997fedbfc7b90fd01392600de3eadfc3d9218ce22ad33
-- uqcli export. version: 0.4.0
-- uqcli export. bound: precision >= 0.97
-- Null for rows whose numbers are null, NaN, infinite or out of their range.
CASE
  WHEN ISFINITE(CAST("p_0" AS DOUBLE))
  AND ISFINITE(CAST("p_1" AS DOUBLE))
  AND ISFINITE(CAST("p_2" AS DOUBLE))
  AND ISFINITE(CAST("p_3" AS DOUBLE))
  AND ISFINITE(CAST("p_4" AS DOUBLE))
  AND ISFINITE(CAST("p_5" AS DOUBLE))
  AND ISFINITE(CAST("p_6" AS DOUBLE))
  AND ISFINITE(CAST("p_7" AS DOUBLE))
  AND ISFINITE(CAST("p_8" AS DOUBLE))
  AND ISFINITE(CAST("p_9" AS DOUBLE))
  THEN CASE
    WHEN CAST("p_0" AS DOUBLE) >= CASE
      WHEN CAST("p_0" AS DOUBLE) IS NULL
      OR CAST("p_1" AS DOUBLE) IS NULL
      OR CAST("p_2" AS DOUBLE) IS NULL
      OR CAST("p_3" AS DOUBLE) IS NULL
      OR CAST("p_4" AS DOUBLE) IS NULL
      OR CAST("p_5" AS DOUBLE) IS NULL
      OR CAST("p_6" AS DOUBLE) IS NULL
      OR CAST("p_7" AS DOUBLE) IS NULL
      OR CAST("p_8" AS DOUBLE) IS NULL
      OR CAST("p_9" AS DOUBLE) IS NULL
      THEN NULL
      ELSE GREATEST(
        CAST("p_0" AS DOUBLE),
        CAST("p_1" AS DOUBLE),
        CAST("p_2" AS DOUBLE),
        CAST("p_3" AS DOUBLE),
        CAST("p_4" AS DOUBLE),
        CAST("p_5" AS DOUBLE),
        CAST("p_6" AS DOUBLE),
        CAST("p_7" AS DOUBLE),
        CAST("p_8" AS DOUBLE),
        CAST("p_9" AS DOUBLE)
      )
    END
    THEN CASE
      WHEN CAST("p_0" AS DOUBLE) IS NULL
      OR CAST("p_1" AS DOUBLE) IS NULL
      OR CAST("p_2" AS DOUBLE) IS NULL
      OR CAST("p_3" AS DOUBLE) IS NULL
      OR CAST("p_4" AS DOUBLE) IS NULL
      OR CAST("p_5" AS DOUBLE) IS NULL
      OR CAST("p_6" AS DOUBLE) IS NULL
      OR CAST("p_7" AS DOUBLE) IS NULL
      OR CAST("p_8" AS DOUBLE) IS NULL
      OR CAST("p_9" AS DOUBLE) IS NULL
      THEN NULL
      ELSE GREATEST(
        CAST("p_0" AS DOUBLE),
        CAST("p_1" AS DOUBLE),
        CAST("p_2" AS DOUBLE),
        CAST("p_3" AS DOUBLE),
        CAST("p_4" AS DOUBLE),
        CAST("p_5" AS DOUBLE),
        CAST("p_6" AS DOUBLE),
        CAST("p_7" AS DOUBLE),
        CAST("p_8" AS DOUBLE),
        CAST("p_9" AS DOUBLE)
      )
    END >= 0.501639e0
    WHEN CAST("p_1" AS DOUBLE) >= CASE
      WHEN CAST("p_0" AS DOUBLE) IS NULL
      OR CAST("p_1" AS DOUBLE) IS NULL
      OR CAST("p_2" AS DOUBLE) IS NULL
      OR CAST("p_3" AS DOUBLE) IS NULL
      OR CAST("p_4" AS DOUBLE) IS NULL
      OR CAST("p_5" AS DOUBLE) IS NULL
      OR CAST("p_6" AS DOUBLE) IS NULL
      OR CAST("p_7" AS DOUBLE) IS NULL
      OR CAST("p_8" AS DOUBLE) IS NULL
      OR CAST("p_9" AS DOUBLE) IS NULL
      THEN NULL
      ELSE GREATEST(
        CAST("p_0" AS DOUBLE),
        CAST("p_1" AS DOUBLE),
        CAST("p_2" AS DOUBLE),
        CAST("p_3" AS DOUBLE),
        CAST("p_4" AS DOUBLE),
        CAST("p_5" AS DOUBLE),
        CAST("p_6" AS DOUBLE),
        CAST("p_7" AS DOUBLE),
        CAST("p_8" AS DOUBLE),
        CAST("p_9" AS DOUBLE)
      )
    END
    THEN CASE
      WHEN CAST("p_0" AS DOUBLE) IS NULL
      OR CAST("p_1" AS DOUBLE) IS NULL
      OR CAST("p_2" AS DOUBLE) IS NULL
      OR CAST("p_3" AS DOUBLE) IS NULL
      OR CAST("p_4" AS DOUBLE) IS NULL
      OR CAST("p_5" AS DOUBLE) IS NULL
      OR CAST("p_6" AS DOUBLE) IS NULL
      OR CAST("p_7" AS DOUBLE) IS NULL
      OR CAST("p_8" AS DOUBLE) IS NULL
      OR CAST("p_9" AS DOUBLE) IS NULL
      THEN NULL
      ELSE GREATEST(
        CAST("p_0" AS DOUBLE),
        CAST("p_1" AS DOUBLE),
        CAST("p_2" AS DOUBLE),
        CAST("p_3" AS DOUBLE),
        CAST("p_4" AS DOUBLE),
        CAST("p_5" AS DOUBLE),
        CAST("p_6" AS DOUBLE),
        CAST("p_7" AS DOUBLE),
        CAST("p_8" AS DOUBLE),
        CAST("p_9" AS DOUBLE)
      )
    END >= 0.357118e0
    WHEN CAST("p_2" AS DOUBLE) >= CASE
      WHEN CAST("p_0" AS DOUBLE) IS NULL
      OR CAST("p_1" AS DOUBLE) IS NULL
      OR CAST("p_2" AS DOUBLE) IS NULL
      OR CAST("p_3" AS DOUBLE) IS NULL
      OR CAST("p_4" AS DOUBLE) IS NULL
      OR CAST("p_5" AS DOUBLE) IS NULL
      OR CAST("p_6" AS DOUBLE) IS NULL
      OR CAST("p_7" AS DOUBLE) IS NULL
      OR CAST("p_8" AS DOUBLE) IS NULL
      OR CAST("p_9" AS DOUBLE) IS NULL
      THEN NULL
      ELSE GREATEST(
        CAST("p_0" AS DOUBLE),
        CAST("p_1" AS DOUBLE),
        CAST("p_2" AS DOUBLE),
        CAST("p_3" AS DOUBLE),
        CAST("p_4" AS DOUBLE),
        CAST("p_5" AS DOUBLE),
        CAST("p_6" AS DOUBLE),
        CAST("p_7" AS DOUBLE),
        CAST("p_8" AS DOUBLE),
        CAST("p_9" AS DOUBLE)
      )
    END
    THEN CASE
      WHEN CAST("p_0" AS DOUBLE) IS NULL
      OR CAST("p_1" AS DOUBLE) IS NULL
      OR CAST("p_2" AS DOUBLE) IS NULL
      OR CAST("p_3" AS DOUBLE) IS NULL
      OR CAST("p_4" AS DOUBLE) IS NULL
      OR CAST("p_5" AS DOUBLE) IS NULL
      OR CAST("p_6" AS DOUBLE) IS NULL
      OR CAST("p_7" AS DOUBLE) IS NULL
      OR CAST("p_8" AS DOUBLE) IS NULL
      OR CAST("p_9" AS DOUBLE) IS NULL
      THEN NULL
      ELSE GREATEST(
        CAST("p_0" AS DOUBLE),
        CAST("p_1" AS DOUBLE),
        CAST("p_2" AS DOUBLE),
        CAST("p_3" AS DOUBLE),
        CAST("p_4" AS DOUBLE),
        CAST("p_5" AS DOUBLE),
        CAST("p_6" AS DOUBLE),
        CAST("p_7" AS DOUBLE),
        CAST("p_8" AS DOUBLE),
        CAST("p_9" AS DOUBLE)
      )
    END >= 0.442809e0
    WHEN CAST("p_3" AS DOUBLE) >= CASE
      WHEN CAST("p_0" AS DOUBLE) IS NULL
      OR CAST("p_1" AS DOUBLE) IS NULL
      OR CAST("p_2" AS DOUBLE) IS NULL
      OR CAST("p_3" AS DOUBLE) IS NULL
      OR CAST("p_4" AS DOUBLE) IS NULL
      OR CAST("p_5" AS DOUBLE) IS NULL
      OR CAST("p_6" AS DOUBLE) IS NULL
      OR CAST("p_7" AS DOUBLE) IS NULL
      OR CAST("p_8" AS DOUBLE) IS NULL
      OR CAST("p_9" AS DOUBLE) IS NULL
      THEN NULL
      ELSE GREATEST(
        CAST("p_0" AS DOUBLE),
        CAST("p_1" AS DOUBLE),
        CAST("p_2" AS DOUBLE),
        CAST("p_3" AS DOUBLE),
        CAST("p_4" AS DOUBLE),
        CAST("p_5" AS DOUBLE),
        CAST("p_6" AS DOUBLE),
        CAST("p_7" AS DOUBLE),
        CAST("p_8" AS DOUBLE),
        CAST("p_9" AS DOUBLE)
      )
    END
    THEN CASE
      WHEN CAST("p_0" AS DOUBLE) IS NULL
      OR CAST("p_1" AS DOUBLE) IS NULL
      OR CAST("p_2" AS DOUBLE) IS NULL
      OR CAST("p_3" AS DOUBLE) IS NULL
      OR CAST("p_4" AS DOUBLE) IS NULL
      OR CAST("p_5" AS DOUBLE) IS NULL
      OR CAST("p_6" AS DOUBLE) IS NULL
      OR CAST("p_7" AS DOUBLE) IS NULL
      OR CAST("p_8" AS DOUBLE) IS NULL
      OR CAST("p_9" AS DOUBLE) IS NULL
      THEN NULL
      ELSE GREATEST(
        CAST("p_0" AS DOUBLE),
        CAST("p_1" AS DOUBLE),
        CAST("p_2" AS DOUBLE),
        CAST("p_3" AS DOUBLE),
        CAST("p_4" AS DOUBLE),
        CAST("p_5" AS DOUBLE),
        CAST("p_6" AS DOUBLE),
        CAST("p_7" AS DOUBLE),
        CAST("p_8" AS DOUBLE),
        CAST("p_9" AS DOUBLE)
      )
    END >= 0.65433e0
    WHEN CAST("p_4" AS DOUBLE) >= CASE
      WHEN CAST("p_0" AS DOUBLE) IS NULL
      OR CAST("p_1" AS DOUBLE) IS NULL
      OR CAST("p_2" AS DOUBLE) IS NULL
      OR CAST("p_3" AS DOUBLE) IS NULL
      OR CAST("p_4" AS DOUBLE) IS NULL
      OR CAST("p_5" AS DOUBLE) IS NULL
      OR CAST("p_6" AS DOUBLE) IS NULL
      OR CAST("p_7" AS DOUBLE) IS NULL
      OR CAST("p_8" AS DOUBLE) IS NULL
      OR CAST("p_9" AS DOUBLE) IS NULL
      THEN NULL
      ELSE GREATEST(
        CAST("p_0" AS DOUBLE),
        CAST("p_1" AS DOUBLE),
        CAST("p_2" AS DOUBLE),
        CAST("p_3" AS DOUBLE),
        CAST("p_4" AS DOUBLE),
        CAST("p_5" AS DOUBLE),
        CAST("p_6" AS DOUBLE),
        CAST("p_7" AS DOUBLE),
        CAST("p_8" AS DOUBLE),
        CAST("p_9" AS DOUBLE)
      )
    END
    THEN CASE
      WHEN CAST("p_0" AS DOUBLE) IS NULL
      OR CAST("p_1" AS DOUBLE) IS NULL
      OR CAST("p_2" AS DOUBLE) IS NULL
      OR CAST("p_3" AS DOUBLE) IS NULL
      OR CAST("p_4" AS DOUBLE) IS NULL
      OR CAST("p_5" AS DOUBLE) IS NULL
      OR CAST("p_6" AS DOUBLE) IS NULL
      OR CAST("p_7" AS DOUBLE) IS NULL
      OR CAST("p_8" AS DOUBLE) IS NULL
      OR CAST("p_9" AS DOUBLE) IS NULL
      THEN NULL
      ELSE GREATEST(
        CAST("p_0" AS DOUBLE),
        CAST("p_1" AS DOUBLE),
        CAST("p_2" AS DOUBLE),
        CAST("p_3" AS DOUBLE),
        CAST("p_4" AS DOUBLE),
        CAST("p_5" AS DOUBLE),
        CAST("p_6" AS DOUBLE),
        CAST("p_7" AS DOUBLE),
        CAST("p_8" AS DOUBLE),
        CAST("p_9" AS DOUBLE)
      )
    END >= 0.685822e0
    WHEN CAST("p_5" AS DOUBLE) >= CASE
      WHEN CAST("p_0" AS DOUBLE) IS NULL
      OR CAST("p_1" AS DOUBLE) IS NULL
      OR CAST("p_2" AS DOUBLE) IS NULL
      OR CAST("p_3" AS DOUBLE) IS NULL
      OR CAST("p_4" AS DOUBLE) IS NULL
      OR CAST("p_5" AS DOUBLE) IS NULL
      OR CAST("p_6" AS DOUBLE) IS NULL
      OR CAST("p_7" AS DOUBLE) IS NULL
      OR CAST("p_8" AS DOUBLE) IS NULL
      OR CAST("p_9" AS DOUBLE) IS NULL
      THEN NULL
      ELSE GREATEST(
        CAST("p_0" AS DOUBLE),
        CAST("p_1" AS DOUBLE),
        CAST("p_2" AS DOUBLE),
        CAST("p_3" AS DOUBLE),
        CAST("p_4" AS DOUBLE),
        CAST("p_5" AS DOUBLE),
        CAST("p_6" AS DOUBLE),
        CAST("p_7" AS DOUBLE),
        CAST("p_8" AS DOUBLE),
        CAST("p_9" AS DOUBLE)
      )
    END
    THEN CASE
      WHEN CAST("p_0" AS DOUBLE) IS NULL
      OR CAST("p_1" AS DOUBLE) IS NULL
      OR CAST("p_2" AS DOUBLE) IS NULL
      OR CAST("p_3" AS DOUBLE) IS NULL
      OR CAST("p_4" AS DOUBLE) IS NULL
      OR CAST("p_5" AS DOUBLE) IS NULL
      OR CAST("p_6" AS DOUBLE) IS NULL
      OR CAST("p_7" AS DOUBLE) IS NULL
      OR CAST("p_8" AS DOUBLE) IS NULL
      OR CAST("p_9" AS DOUBLE) IS NULL
      THEN NULL
      ELSE GREATEST(
        CAST("p_0" AS DOUBLE),
        CAST("p_1" AS DOUBLE),
        CAST("p_2" AS DOUBLE),
        CAST("p_3" AS DOUBLE),
        CAST("p_4" AS DOUBLE),
        CAST("p_5" AS DOUBLE),
        CAST("p_6" AS DOUBLE),
        CAST("p_7" AS DOUBLE),
        CAST("p_8" AS DOUBLE),
        CAST("p_9" AS DOUBLE)
      )
    END >= 0.522718e0
    WHEN CAST("p_6" AS DOUBLE) >= CASE
      WHEN CAST("p_0" AS DOUBLE) IS NULL
      OR CAST("p_1" AS DOUBLE) IS NULL
      OR CAST("p_2" AS DOUBLE) IS NULL
      OR CAST("p_3" AS DOUBLE) IS NULL
      OR CAST("p_4" AS DOUBLE) IS NULL
      OR CAST("p_5" AS DOUBLE) IS NULL
      OR CAST("p_6" AS DOUBLE) IS NULL
      OR CAST("p_7" AS DOUBLE) IS NULL
      OR CAST("p_8" AS DOUBLE) IS NULL
      OR CAST("p_9" AS DOUBLE) IS NULL
      THEN NULL
      ELSE GREATEST(
        CAST("p_0" AS DOUBLE),
        CAST("p_1" AS DOUBLE),
        CAST("p_2" AS DOUBLE),
        CAST("p_3" AS DOUBLE),
        CAST("p_4" AS DOUBLE),
        CAST("p_5" AS DOUBLE),
        CAST("p_6" AS DOUBLE),
        CAST("p_7" AS DOUBLE),
        CAST("p_8" AS DOUBLE),
        CAST("p_9" AS DOUBLE)
      )
    END
    THEN CASE
      WHEN CAST("p_0" AS DOUBLE) IS NULL
      OR CAST("p_1" AS DOUBLE) IS NULL
      OR CAST("p_2" AS DOUBLE) IS NULL
      OR CAST("p_3" AS DOUBLE) IS NULL
      OR CAST("p_4" AS DOUBLE) IS NULL
      OR CAST("p_5" AS DOUBLE) IS NULL
      OR CAST("p_6" AS DOUBLE) IS NULL
      OR CAST("p_7" AS DOUBLE) IS NULL
      OR CAST("p_8" AS DOUBLE) IS NULL
      OR CAST("p_9" AS DOUBLE) IS NULL
      THEN NULL
      ELSE GREATEST(
        CAST("p_0" AS DOUBLE),
        CAST("p_1" AS DOUBLE),
        CAST("p_2" AS DOUBLE),
        CAST("p_3" AS DOUBLE),
        CAST("p_4" AS DOUBLE),
        CAST("p_5" AS DOUBLE),
        CAST("p_6" AS DOUBLE),
        CAST("p_7" AS DOUBLE),
        CAST("p_8" AS DOUBLE),
        CAST("p_9" AS DOUBLE)
      )
    END >= 0.699995e0
    WHEN CAST("p_7" AS DOUBLE) >= CASE
      WHEN CAST("p_0" AS DOUBLE) IS NULL
      OR CAST("p_1" AS DOUBLE) IS NULL
      OR CAST("p_2" AS DOUBLE) IS NULL
      OR CAST("p_3" AS DOUBLE) IS NULL
      OR CAST("p_4" AS DOUBLE) IS NULL
      OR CAST("p_5" AS DOUBLE) IS NULL
      OR CAST("p_6" AS DOUBLE) IS NULL
      OR CAST("p_7" AS DOUBLE) IS NULL
      OR CAST("p_8" AS DOUBLE) IS NULL
      OR CAST("p_9" AS DOUBLE) IS NULL
      THEN NULL
      ELSE GREATEST(
        CAST("p_0" AS DOUBLE),
        CAST("p_1" AS DOUBLE),
        CAST("p_2" AS DOUBLE),
        CAST("p_3" AS DOUBLE),
        CAST("p_4" AS DOUBLE),
        CAST("p_5" AS DOUBLE),
        CAST("p_6" AS DOUBLE),
        CAST("p_7" AS DOUBLE),
        CAST("p_8" AS DOUBLE),
        CAST("p_9" AS DOUBLE)
      )
    END
    THEN CASE
      WHEN CAST("p_0" AS DOUBLE) IS NULL
      OR CAST("p_1" AS DOUBLE) IS NULL
      OR CAST("p_2" AS DOUBLE) IS NULL
      OR CAST("p_3" AS DOUBLE) IS NULL
      OR CAST("p_4" AS DOUBLE) IS NULL
      OR CAST("p_5" AS DOUBLE) IS NULL
      OR CAST("p_6" AS DOUBLE) IS NULL
      OR CAST("p_7" AS DOUBLE) IS NULL
      OR CAST("p_8" AS DOUBLE) IS NULL
      OR CAST("p_9" AS DOUBLE) IS NULL
      THEN NULL
      ELSE GREATEST(
        CAST("p_0" AS DOUBLE),
        CAST("p_1" AS DOUBLE),
        CAST("p_2" AS DOUBLE),
        CAST("p_3" AS DOUBLE),
        CAST("p_4" AS DOUBLE),
        CAST("p_5" AS DOUBLE),
        CAST("p_6" AS DOUBLE),
        CAST("p_7" AS DOUBLE),
        CAST("p_8" AS DOUBLE),
        CAST("p_9" AS DOUBLE)
      )
    END >= 0.486309e0
    WHEN CAST("p_8" AS DOUBLE) >= CASE
      WHEN CAST("p_0" AS DOUBLE) IS NULL
      OR CAST("p_1" AS DOUBLE) IS NULL
      OR CAST("p_2" AS DOUBLE) IS NULL
      OR CAST("p_3" AS DOUBLE) IS NULL
      OR CAST("p_4" AS DOUBLE) IS NULL
      OR CAST("p_5" AS DOUBLE) IS NULL
      OR CAST("p_6" AS DOUBLE) IS NULL
      OR CAST("p_7" AS DOUBLE) IS NULL
      OR CAST("p_8" AS DOUBLE) IS NULL
      OR CAST("p_9" AS DOUBLE) IS NULL
      THEN NULL
      ELSE GREATEST(
        CAST("p_0" AS DOUBLE),
        CAST("p_1" AS DOUBLE),
        CAST("p_2" AS DOUBLE),
        CAST("p_3" AS DOUBLE),
        CAST("p_4" AS DOUBLE),
        CAST("p_5" AS DOUBLE),
        CAST("p_6" AS DOUBLE),
        CAST("p_7" AS DOUBLE),
        CAST("p_8" AS DOUBLE),
        CAST("p_9" AS DOUBLE)
      )
    END
    THEN CASE
      WHEN CAST("p_0" AS DOUBLE) IS NULL
      OR CAST("p_1" AS DOUBLE) IS NULL
      OR CAST("p_2" AS DOUBLE) IS NULL
      OR CAST("p_3" AS DOUBLE) IS NULL
      OR CAST("p_4" AS DOUBLE) IS NULL
      OR CAST("p_5" AS DOUBLE) IS NULL
      OR CAST("p_6" AS DOUBLE) IS NULL
      OR CAST("p_7" AS DOUBLE) IS NULL
      OR CAST("p_8" AS DOUBLE) IS NULL
      OR CAST("p_9" AS DOUBLE) IS NULL
      THEN NULL
      ELSE GREATEST(
        CAST("p_0" AS DOUBLE),
        CAST("p_1" AS DOUBLE),
        CAST("p_2" AS DOUBLE),
        CAST("p_3" AS DOUBLE),
        CAST("p_4" AS DOUBLE),
        CAST("p_5" AS DOUBLE),
        CAST("p_6" AS DOUBLE),
        CAST("p_7" AS DOUBLE),
        CAST("p_8" AS DOUBLE),
        CAST("p_9" AS DOUBLE)
      )
    END >= 0.498432e0
    ELSE CASE
      WHEN CAST("p_0" AS DOUBLE) IS NULL
      OR CAST("p_1" AS DOUBLE) IS NULL
      OR CAST("p_2" AS DOUBLE) IS NULL
      OR CAST("p_3" AS DOUBLE) IS NULL
      OR CAST("p_4" AS DOUBLE) IS NULL
      OR CAST("p_5" AS DOUBLE) IS NULL
      OR CAST("p_6" AS DOUBLE) IS NULL
      OR CAST("p_7" AS DOUBLE) IS NULL
      OR CAST("p_8" AS DOUBLE) IS NULL
      OR CAST("p_9" AS DOUBLE) IS NULL
      THEN NULL
      ELSE GREATEST(
        CAST("p_0" AS DOUBLE),
        CAST("p_1" AS DOUBLE),
        CAST("p_2" AS DOUBLE),
        CAST("p_3" AS DOUBLE),
        CAST("p_4" AS DOUBLE),
        CAST("p_5" AS DOUBLE),
        CAST("p_6" AS DOUBLE),
        CAST("p_7" AS DOUBLE),
        CAST("p_8" AS DOUBLE),
        CAST("p_9" AS DOUBLE)
      )
    END >= 0.772593e0
  END
END AS "decision",
CASE
  WHEN ISFINITE(CAST("p_0" AS DOUBLE))
  AND ISFINITE(CAST("p_1" AS DOUBLE))
  AND ISFINITE(CAST("p_2" AS DOUBLE))
  AND ISFINITE(CAST("p_3" AS DOUBLE))
  AND ISFINITE(CAST("p_4" AS DOUBLE))
  AND ISFINITE(CAST("p_5" AS DOUBLE))
  AND ISFINITE(CAST("p_6" AS DOUBLE))
  AND ISFINITE(CAST("p_7" AS DOUBLE))
  AND ISFINITE(CAST("p_8" AS DOUBLE))
  AND ISFINITE(CAST("p_9" AS DOUBLE))
  THEN CASE
    WHEN CAST("p_0" AS DOUBLE) >= CASE
      WHEN CAST("p_0" AS DOUBLE) IS NULL
      OR CAST("p_1" AS DOUBLE) IS NULL
      OR CAST("p_2" AS DOUBLE) IS NULL
      OR CAST("p_3" AS DOUBLE) IS NULL
      OR CAST("p_4" AS DOUBLE) IS NULL
      OR CAST("p_5" AS DOUBLE) IS NULL
      OR CAST("p_6" AS DOUBLE) IS NULL
      OR CAST("p_7" AS DOUBLE) IS NULL
      OR CAST("p_8" AS DOUBLE) IS NULL
      OR CAST("p_9" AS DOUBLE) IS NULL
      THEN NULL
      ELSE GREATEST(
        CAST("p_0" AS DOUBLE),
        CAST("p_1" AS DOUBLE),
        CAST("p_2" AS DOUBLE),
        CAST("p_3" AS DOUBLE),
        CAST("p_4" AS DOUBLE),
        CAST("p_5" AS DOUBLE),
        CAST("p_6" AS DOUBLE),
        CAST("p_7" AS DOUBLE),
        CAST("p_8" AS DOUBLE),
        CAST("p_9" AS DOUBLE)
      )
    END
    THEN CASE
      WHEN CASE
        WHEN CAST("p_0" AS DOUBLE) IS NULL
        OR CAST("p_1" AS DOUBLE) IS NULL
        OR CAST("p_2" AS DOUBLE) IS NULL
        OR CAST("p_3" AS DOUBLE) IS NULL
        OR CAST("p_4" AS DOUBLE) IS NULL
        OR CAST("p_5" AS DOUBLE) IS NULL
        OR CAST("p_6" AS DOUBLE) IS NULL
        OR CAST("p_7" AS DOUBLE) IS NULL
        OR CAST("p_8" AS DOUBLE) IS NULL
        OR CAST("p_9" AS DOUBLE) IS NULL
        THEN NULL
        ELSE GREATEST(
          CAST("p_0" AS DOUBLE),
          CAST("p_1" AS DOUBLE),
          CAST("p_2" AS DOUBLE),
          CAST("p_3" AS DOUBLE),
          CAST("p_4" AS DOUBLE),
          CAST("p_5" AS DOUBLE),
          CAST("p_6" AS DOUBLE),
          CAST("p_7" AS DOUBLE),
          CAST("p_8" AS DOUBLE),
          CAST("p_9" AS DOUBLE)
        )
      END >= 0.501639e0
      THEN '0'
      ELSE NULL
    END
    WHEN CAST("p_1" AS DOUBLE) >= CASE
      WHEN CAST("p_0" AS DOUBLE) IS NULL
      OR CAST("p_1" AS DOUBLE) IS NULL
      OR CAST("p_2" AS DOUBLE) IS NULL
      OR CAST("p_3" AS DOUBLE) IS NULL
      OR CAST("p_4" AS DOUBLE) IS NULL
      OR CAST("p_5" AS DOUBLE) IS NULL
      OR CAST("p_6" AS DOUBLE) IS NULL
      OR CAST("p_7" AS DOUBLE) IS NULL
      OR CAST("p_8" AS DOUBLE) IS NULL
      OR CAST("p_9" AS DOUBLE) IS NULL
      THEN NULL
      ELSE GREATEST(
        CAST("p_0" AS DOUBLE),
        CAST("p_1" AS DOUBLE),
        CAST("p_2" AS DOUBLE),
        CAST("p_3" AS DOUBLE),
        CAST("p_4" AS DOUBLE),
        CAST("p_5" AS DOUBLE),
        CAST("p_6" AS DOUBLE),
        CAST("p_7" AS DOUBLE),
        CAST("p_8" AS DOUBLE),
        CAST("p_9" AS DOUBLE)
      )
    END
    THEN CASE
      WHEN CASE
        WHEN CAST("p_0" AS DOUBLE) IS NULL
        OR CAST("p_1" AS DOUBLE) IS NULL
        OR CAST("p_2" AS DOUBLE) IS NULL
        OR CAST("p_3" AS DOUBLE) IS NULL
        OR CAST("p_4" AS DOUBLE) IS NULL
        OR CAST("p_5" AS DOUBLE) IS NULL
        OR CAST("p_6" AS DOUBLE) IS NULL
        OR CAST("p_7" AS DOUBLE) IS NULL
        OR CAST("p_8" AS DOUBLE) IS NULL
        OR CAST("p_9" AS DOUBLE) IS NULL
        THEN NULL
        ELSE GREATEST(
          CAST("p_0" AS DOUBLE),
          CAST("p_1" AS DOUBLE),
          CAST("p_2" AS DOUBLE),
          CAST("p_3" AS DOUBLE),
          CAST("p_4" AS DOUBLE),
          CAST("p_5" AS DOUBLE),
          CAST("p_6" AS DOUBLE),
          CAST("p_7" AS DOUBLE),
          CAST("p_8" AS DOUBLE),
          CAST("p_9" AS DOUBLE)
        )
      END >= 0.357118e0
      THEN '1'
      ELSE NULL
    END
    WHEN CAST("p_2" AS DOUBLE) >= CASE
      WHEN CAST("p_0" AS DOUBLE) IS NULL
      OR CAST("p_1" AS DOUBLE) IS NULL
      OR CAST("p_2" AS DOUBLE) IS NULL
      OR CAST("p_3" AS DOUBLE) IS NULL
      OR CAST("p_4" AS DOUBLE) IS NULL
      OR CAST("p_5" AS DOUBLE) IS NULL
      OR CAST("p_6" AS DOUBLE) IS NULL
      OR CAST("p_7" AS DOUBLE) IS NULL
      OR CAST("p_8" AS DOUBLE) IS NULL
      OR CAST("p_9" AS DOUBLE) IS NULL
      THEN NULL
      ELSE GREATEST(
        CAST("p_0" AS DOUBLE),
        CAST("p_1" AS DOUBLE),
        CAST("p_2" AS DOUBLE),
        CAST("p_3" AS DOUBLE),
        CAST("p_4" AS DOUBLE),
        CAST("p_5" AS DOUBLE),
        CAST("p_6" AS DOUBLE),
        CAST("p_7" AS DOUBLE),
        CAST("p_8" AS DOUBLE),
        CAST("p_9" AS DOUBLE)
      )
    END
    THEN CASE
      WHEN CASE
        WHEN CAST("p_0" AS DOUBLE) IS NULL
        OR CAST("p_1" AS DOUBLE) IS NULL
        OR CAST("p_2" AS DOUBLE) IS NULL
        OR CAST("p_3" AS DOUBLE) IS NULL
        OR CAST("p_4" AS DOUBLE) IS NULL
        OR CAST("p_5" AS DOUBLE) IS NULL
        OR CAST("p_6" AS DOUBLE) IS NULL
        OR CAST("p_7" AS DOUBLE) IS NULL
        OR CAST("p_8" AS DOUBLE) IS NULL
        OR CAST("p_9" AS DOUBLE) IS NULL
        THEN NULL
        ELSE GREATEST(
          CAST("p_0" AS DOUBLE),
          CAST("p_1" AS DOUBLE),
          CAST("p_2" AS DOUBLE),
          CAST("p_3" AS DOUBLE),
          CAST("p_4" AS DOUBLE),
          CAST("p_5" AS DOUBLE),
          CAST("p_6" AS DOUBLE),
          CAST("p_7" AS DOUBLE),
          CAST("p_8" AS DOUBLE),
          CAST("p_9" AS DOUBLE)
        )
      END >= 0.442809e0
      THEN '2'
      ELSE NULL
    END
    WHEN CAST("p_3" AS DOUBLE) >= CASE
      WHEN CAST("p_0" AS DOUBLE) IS NULL
      OR CAST("p_1" AS DOUBLE) IS NULL
      OR CAST("p_2" AS DOUBLE) IS NULL
      OR CAST("p_3" AS DOUBLE) IS NULL
      OR CAST("p_4" AS DOUBLE) IS NULL
      OR CAST("p_5" AS DOUBLE) IS NULL
      OR CAST("p_6" AS DOUBLE) IS NULL
      OR CAST("p_7" AS DOUBLE) IS NULL
      OR CAST("p_8" AS DOUBLE) IS NULL
      OR CAST("p_9" AS DOUBLE) IS NULL
      THEN NULL
      ELSE GREATEST(
        CAST("p_0" AS DOUBLE),
        CAST("p_1" AS DOUBLE),
        CAST("p_2" AS DOUBLE),
        CAST("p_3" AS DOUBLE),
        CAST("p_4" AS DOUBLE),
        CAST("p_5" AS DOUBLE),
        CAST("p_6" AS DOUBLE),
        CAST("p_7" AS DOUBLE),
        CAST("p_8" AS DOUBLE),
        CAST("p_9" AS DOUBLE)
      )
    END
    THEN CASE
      WHEN CASE
        WHEN CAST("p_0" AS DOUBLE) IS NULL
        OR CAST("p_1" AS DOUBLE) IS NULL
        OR CAST("p_2" AS DOUBLE) IS NULL
        OR CAST("p_3" AS DOUBLE) IS NULL
        OR CAST("p_4" AS DOUBLE) IS NULL
        OR CAST("p_5" AS DOUBLE) IS NULL
        OR CAST("p_6" AS DOUBLE) IS NULL
        OR CAST("p_7" AS DOUBLE) IS NULL
        OR CAST("p_8" AS DOUBLE) IS NULL
        OR CAST("p_9" AS DOUBLE) IS NULL
        THEN NULL
        ELSE GREATEST(
          CAST("p_0" AS DOUBLE),
          CAST("p_1" AS DOUBLE),
          CAST("p_2" AS DOUBLE),
          CAST("p_3" AS DOUBLE),
          CAST("p_4" AS DOUBLE),
          CAST("p_5" AS DOUBLE),
          CAST("p_6" AS DOUBLE),
          CAST("p_7" AS DOUBLE),
          CAST("p_8" AS DOUBLE),
          CAST("p_9" AS DOUBLE)
        )
      END >= 0.65433e0
      THEN '3'
      ELSE NULL
    END
    WHEN CAST("p_4" AS DOUBLE) >= CASE
      WHEN CAST("p_0" AS DOUBLE) IS NULL
      OR CAST("p_1" AS DOUBLE) IS NULL
      OR CAST("p_2" AS DOUBLE) IS NULL
      OR CAST("p_3" AS DOUBLE) IS NULL
      OR CAST("p_4" AS DOUBLE) IS NULL
      OR CAST("p_5" AS DOUBLE) IS NULL
      OR CAST("p_6" AS DOUBLE) IS NULL
      OR CAST("p_7" AS DOUBLE) IS NULL
      OR CAST("p_8" AS DOUBLE) IS NULL
      OR CAST("p_9" AS DOUBLE) IS NULL
      THEN NULL
      ELSE GREATEST(
        CAST("p_0" AS DOUBLE),
        CAST("p_1" AS DOUBLE),
        CAST("p_2" AS DOUBLE),
        CAST("p_3" AS DOUBLE),
        CAST("p_4" AS DOUBLE),
        CAST("p_5" AS DOUBLE),
        CAST("p_6" AS DOUBLE),
        CAST("p_7" AS DOUBLE),
        CAST("p_8" AS DOUBLE),
        CAST("p_9" AS DOUBLE)
      )
    END
    THEN CASE
      WHEN CASE
        WHEN CAST("p_0" AS DOUBLE) IS NULL
        OR CAST("p_1" AS DOUBLE) IS NULL
        OR CAST("p_2" AS DOUBLE) IS NULL
        OR CAST("p_3" AS DOUBLE) IS NULL
        OR CAST("p_4" AS DOUBLE) IS NULL
        OR CAST("p_5" AS DOUBLE) IS NULL
        OR CAST("p_6" AS DOUBLE) IS NULL
        OR CAST("p_7" AS DOUBLE) IS NULL
        OR CAST("p_8" AS DOUBLE) IS NULL
        OR CAST("p_9" AS DOUBLE) IS NULL
        THEN NULL
        ELSE GREATEST(
          CAST("p_0" AS DOUBLE),
          CAST("p_1" AS DOUBLE),
          CAST("p_2" AS DOUBLE),
          CAST("p_3" AS DOUBLE),
          CAST("p_4" AS DOUBLE),
          CAST("p_5" AS DOUBLE),
          CAST("p_6" AS DOUBLE),
          CAST("p_7" AS DOUBLE),
          CAST("p_8" AS DOUBLE),
          CAST("p_9" AS DOUBLE)
        )
      END >= 0.685822e0
      THEN '4'
      ELSE NULL
    END
    WHEN CAST("p_5" AS DOUBLE) >= CASE
      WHEN CAST("p_0" AS DOUBLE) IS NULL
      OR CAST("p_1" AS DOUBLE) IS NULL
      OR CAST("p_2" AS DOUBLE) IS NULL
      OR CAST("p_3" AS DOUBLE) IS NULL
      OR CAST("p_4" AS DOUBLE) IS NULL
      OR CAST("p_5" AS DOUBLE) IS NULL
      OR CAST("p_6" AS DOUBLE) IS NULL
      OR CAST("p_7" AS DOUBLE) IS NULL
      OR CAST("p_8" AS DOUBLE) IS NULL
      OR CAST("p_9" AS DOUBLE) IS NULL
      THEN NULL
      ELSE GREATEST(
        CAST("p_0" AS DOUBLE),
        CAST("p_1" AS DOUBLE),
        CAST("p_2" AS DOUBLE),
        CAST("p_3" AS DOUBLE),
        CAST("p_4" AS DOUBLE),
        CAST("p_5" AS DOUBLE),
        CAST("p_6" AS DOUBLE),
        CAST("p_7" AS DOUBLE),
        CAST("p_8" AS DOUBLE),
        CAST("p_9" AS DOUBLE)
      )
    END
    THEN CASE
      WHEN CASE
        WHEN CAST("p_0" AS DOUBLE) IS NULL
        OR CAST("p_1" AS DOUBLE) IS NULL
        OR CAST("p_2" AS DOUBLE) IS NULL
        OR CAST("p_3" AS DOUBLE) IS NULL
        OR CAST("p_4" AS DOUBLE) IS NULL
        OR CAST("p_5" AS DOUBLE) IS NULL
        OR CAST("p_6" AS DOUBLE) IS NULL
        OR CAST("p_7" AS DOUBLE) IS NULL
        OR CAST("p_8" AS DOUBLE) IS NULL
        OR CAST("p_9" AS DOUBLE) IS NULL
        THEN NULL
        ELSE GREATEST(
          CAST("p_0" AS DOUBLE),
          CAST("p_1" AS DOUBLE),
          CAST("p_2" AS DOUBLE),
          CAST("p_3" AS DOUBLE),
          CAST("p_4" AS DOUBLE),
          CAST("p_5" AS DOUBLE),
          CAST("p_6" AS DOUBLE),
          CAST("p_7" AS DOUBLE),
          CAST("p_8" AS DOUBLE),
          CAST("p_9" AS DOUBLE)
        )
      END >= 0.522718e0
      THEN '5'
      ELSE NULL
    END
    WHEN CAST("p_6" AS DOUBLE) >= CASE
      WHEN CAST("p_0" AS DOUBLE) IS NULL
      OR CAST("p_1" AS DOUBLE) IS NULL
      OR CAST("p_2" AS DOUBLE) IS NULL
      OR CAST("p_3" AS DOUBLE) IS NULL
      OR CAST("p_4" AS DOUBLE) IS NULL
      OR CAST("p_5" AS DOUBLE) IS NULL
      OR CAST("p_6" AS DOUBLE) IS NULL
      OR CAST("p_7" AS DOUBLE) IS NULL
      OR CAST("p_8" AS DOUBLE) IS NULL
      OR CAST("p_9" AS DOUBLE) IS NULL
      THEN NULL
      ELSE GREATEST(
        CAST("p_0" AS DOUBLE),
        CAST("p_1" AS DOUBLE),
        CAST("p_2" AS DOUBLE),
        CAST("p_3" AS DOUBLE),
        CAST("p_4" AS DOUBLE),
        CAST("p_5" AS DOUBLE),
        CAST("p_6" AS DOUBLE),
        CAST("p_7" AS DOUBLE),
        CAST("p_8" AS DOUBLE),
        CAST("p_9" AS DOUBLE)
      )
    END
    THEN CASE
      WHEN CASE
        WHEN CAST("p_0" AS DOUBLE) IS NULL
        OR CAST("p_1" AS DOUBLE) IS NULL
        OR CAST("p_2" AS DOUBLE) IS NULL
        OR CAST("p_3" AS DOUBLE) IS NULL
        OR CAST("p_4" AS DOUBLE) IS NULL
        OR CAST("p_5" AS DOUBLE) IS NULL
        OR CAST("p_6" AS DOUBLE) IS NULL
        OR CAST("p_7" AS DOUBLE) IS NULL
        OR CAST("p_8" AS DOUBLE) IS NULL
        OR CAST("p_9" AS DOUBLE) IS NULL
        THEN NULL
        ELSE GREATEST(
          CAST("p_0" AS DOUBLE),
          CAST("p_1" AS DOUBLE),
          CAST("p_2" AS DOUBLE),
          CAST("p_3" AS DOUBLE),
          CAST("p_4" AS DOUBLE),
          CAST("p_5" AS DOUBLE),
          CAST("p_6" AS DOUBLE),
          CAST("p_7" AS DOUBLE),
          CAST("p_8" AS DOUBLE),
          CAST("p_9" AS DOUBLE)
        )
      END >= 0.699995e0
      THEN '6'
      ELSE NULL
    END
    WHEN CAST("p_7" AS DOUBLE) >= CASE
      WHEN CAST("p_0" AS DOUBLE) IS NULL
      OR CAST("p_1" AS DOUBLE) IS NULL
      OR CAST("p_2" AS DOUBLE) IS NULL
      OR CAST("p_3" AS DOUBLE) IS NULL
      OR CAST("p_4" AS DOUBLE) IS NULL
      OR CAST("p_5" AS DOUBLE) IS NULL
      OR CAST("p_6" AS DOUBLE) IS NULL
      OR CAST("p_7" AS DOUBLE) IS NULL
      OR CAST("p_8" AS DOUBLE) IS NULL
      OR CAST("p_9" AS DOUBLE) IS NULL
      THEN NULL
      ELSE GREATEST(
        CAST("p_0" AS DOUBLE),
        CAST("p_1" AS DOUBLE),
        CAST("p_2" AS DOUBLE),
        CAST("p_3" AS DOUBLE),
        CAST("p_4" AS DOUBLE),
        CAST("p_5" AS DOUBLE),
        CAST("p_6" AS DOUBLE),
        CAST("p_7" AS DOUBLE),
        CAST("p_8" AS DOUBLE),
        CAST("p_9" AS DOUBLE)
      )
    END
    THEN CASE
      WHEN CASE
        WHEN CAST("p_0" AS DOUBLE) IS NULL
        OR CAST("p_1" AS DOUBLE) IS NULL
        OR CAST("p_2" AS DOUBLE) IS NULL
        OR CAST("p_3" AS DOUBLE) IS NULL
        OR CAST("p_4" AS DOUBLE) IS NULL
        OR CAST("p_5" AS DOUBLE) IS NULL
        OR CAST("p_6" AS DOUBLE) IS NULL
        OR CAST("p_7" AS DOUBLE) IS NULL
        OR CAST("p_8" AS DOUBLE) IS NULL
        OR CAST("p_9" AS DOUBLE) IS NULL
        THEN NULL
        ELSE GREATEST(
          CAST("p_0" AS DOUBLE),
          CAST("p_1" AS DOUBLE),
          CAST("p_2" AS DOUBLE),
          CAST("p_3" AS DOUBLE),
          CAST("p_4" AS DOUBLE),
          CAST("p_5" AS DOUBLE),
          CAST("p_6" AS DOUBLE),
          CAST("p_7" AS DOUBLE),
          CAST("p_8" AS DOUBLE),
          CAST("p_9" AS DOUBLE)
        )
      END >= 0.486309e0
      THEN '7'
      ELSE NULL
    END
    WHEN CAST("p_8" AS DOUBLE) >= CASE
      WHEN CAST("p_0" AS DOUBLE) IS NULL
      OR CAST("p_1" AS DOUBLE) IS NULL
      OR CAST("p_2" AS DOUBLE) IS NULL
      OR CAST("p_3" AS DOUBLE) IS NULL
      OR CAST("p_4" AS DOUBLE) IS NULL
      OR CAST("p_5" AS DOUBLE) IS NULL
      OR CAST("p_6" AS DOUBLE) IS NULL
      OR CAST("p_7" AS DOUBLE) IS NULL
      OR CAST("p_8" AS DOUBLE) IS NULL
      OR CAST("p_9" AS DOUBLE) IS NULL
      THEN NULL
      ELSE GREATEST(
        CAST("p_0" AS DOUBLE),
        CAST("p_1" AS DOUBLE),
        CAST("p_2" AS DOUBLE),
        CAST("p_3" AS DOUBLE),
        CAST("p_4" AS DOUBLE),
        CAST("p_5" AS DOUBLE),
        CAST("p_6" AS DOUBLE),
        CAST("p_7" AS DOUBLE),
        CAST("p_8" AS DOUBLE),
        CAST("p_9" AS DOUBLE)
      )
    END
    THEN CASE
      WHEN CASE
        WHEN CAST("p_0" AS DOUBLE) IS NULL
        OR CAST("p_1" AS DOUBLE) IS NULL
        OR CAST("p_2" AS DOUBLE) IS NULL
        OR CAST("p_3" AS DOUBLE) IS NULL
        OR CAST("p_4" AS DOUBLE) IS NULL
        OR CAST("p_5" AS DOUBLE) IS NULL
        OR CAST("p_6" AS DOUBLE) IS NULL
        OR CAST("p_7" AS DOUBLE) IS NULL
        OR CAST("p_8" AS DOUBLE) IS NULL
        OR CAST("p_9" AS DOUBLE) IS NULL
        THEN NULL
        ELSE GREATEST(
          CAST("p_0" AS DOUBLE),
          CAST("p_1" AS DOUBLE),
          CAST("p_2" AS DOUBLE),
          CAST("p_3" AS DOUBLE),
          CAST("p_4" AS DOUBLE),
          CAST("p_5" AS DOUBLE),
          CAST("p_6" AS DOUBLE),
          CAST("p_7" AS DOUBLE),
          CAST("p_8" AS DOUBLE),
          CAST("p_9" AS DOUBLE)
        )
      END >= 0.498432e0
      THEN '8'
      ELSE NULL
    END
    ELSE CASE
      WHEN CASE
        WHEN CAST("p_0" AS DOUBLE) IS NULL
        OR CAST("p_1" AS DOUBLE) IS NULL
        OR CAST("p_2" AS DOUBLE) IS NULL
        OR CAST("p_3" AS DOUBLE) IS NULL
        OR CAST("p_4" AS DOUBLE) IS NULL
        OR CAST("p_5" AS DOUBLE) IS NULL
        OR CAST("p_6" AS DOUBLE) IS NULL
        OR CAST("p_7" AS DOUBLE) IS NULL
        OR CAST("p_8" AS DOUBLE) IS NULL
        OR CAST("p_9" AS DOUBLE) IS NULL
        THEN NULL
        ELSE GREATEST(
          CAST("p_0" AS DOUBLE),
          CAST("p_1" AS DOUBLE),
          CAST("p_2" AS DOUBLE),
          CAST("p_3" AS DOUBLE),
          CAST("p_4" AS DOUBLE),
          CAST("p_5" AS DOUBLE),
          CAST("p_6" AS DOUBLE),
          CAST("p_7" AS DOUBLE),
          CAST("p_8" AS DOUBLE),
          CAST("p_9" AS DOUBLE)
        )
      END >= 0.772593e0
      THEN '9'
      ELSE NULL
    END
  END
END AS "class"
