-- uqcli export. rule: Counted 4,000 rows (965 positive) in 4 uncertainty bins with 11 score bins each.
-- uqcli export. kind: grid
-- uqcli export. digest: 7b9465fb0a79ffd29ef54462fd927ab835a7ac9444783072f8d915cd02dcfc8b
-- uqcli export. version: 0.4.0
-- Null for rows whose numbers are null, NaN, infinite or out of their range.
CASE
  WHEN ISFINITE(CAST("score" AS DOUBLE)) AND ISFINITE(CAST("uncertainty" AS DOUBLE))
  THEN CASE
    WHEN CAST("uncertainty" AS DOUBLE) < -1.8004399934308282e0
    THEN CASE WHEN CAST("uncertainty" AS DOUBLE) < -2.847693449906018e0 THEN 0 ELSE 1 END
    ELSE CASE WHEN CAST("uncertainty" AS DOUBLE) < -1.0724901099678714e0 THEN 2 ELSE 3 END
  END
END AS "uncertainty_bin",
CASE
  WHEN ISFINITE(CAST("score" AS DOUBLE)) AND ISFINITE(CAST("uncertainty" AS DOUBLE))
  THEN CASE
    WHEN CAST("uncertainty" AS DOUBLE) < -1.8004399934308282e0
    THEN CASE
      WHEN CAST("uncertainty" AS DOUBLE) < -2.847693449906018e0
      THEN CASE
        WHEN CAST("score" AS DOUBLE) < 0.7088486082428782e0
        THEN CASE
          WHEN CAST("score" AS DOUBLE) < 0.18328451516234895e0
          THEN CASE
            WHEN CAST("score" AS DOUBLE) < 0.056606844740053106e0
            THEN CASE WHEN CAST("score" AS DOUBLE) < 0.013196142699151982e0 THEN 0 ELSE 1 END
            ELSE 2
          END
          ELSE CASE
            WHEN CAST("score" AS DOUBLE) < 0.5470813810107129e0
            THEN CASE WHEN CAST("score" AS DOUBLE) < 0.4342707718535702e0 THEN 3 ELSE 4 END
            ELSE 5
          END
        END
        ELSE CASE
          WHEN CAST("score" AS DOUBLE) < 0.9073398510104832e0
          THEN CASE
            WHEN CAST("score" AS DOUBLE) < 0.8770723208893254e0
            THEN CASE WHEN CAST("score" AS DOUBLE) < 0.8609321257826629e0 THEN 6 ELSE 7 END
            ELSE 8
          END
          ELSE CASE WHEN CAST("score" AS DOUBLE) < 0.968196213299773e0 THEN 9 ELSE 10 END
        END
      END
      ELSE CASE
        WHEN CAST("score" AS DOUBLE) < 0.7088486082428782e0
        THEN CASE
          WHEN CAST("score" AS DOUBLE) < 0.18328451516234895e0
          THEN CASE
            WHEN CAST("score" AS DOUBLE) < 0.056606844740053106e0
            THEN CASE WHEN CAST("score" AS DOUBLE) < 0.013196142699151982e0 THEN 0 ELSE 1 END
            ELSE 2
          END
          ELSE CASE
            WHEN CAST("score" AS DOUBLE) < 0.5470813810107129e0
            THEN CASE WHEN CAST("score" AS DOUBLE) < 0.4342707718535702e0 THEN 3 ELSE 4 END
            ELSE 5
          END
        END
        ELSE CASE
          WHEN CAST("score" AS DOUBLE) < 0.9073398510104832e0
          THEN CASE
            WHEN CAST("score" AS DOUBLE) < 0.8770723208893254e0
            THEN CASE WHEN CAST("score" AS DOUBLE) < 0.8609321257826629e0 THEN 6 ELSE 7 END
            ELSE 8
          END
          ELSE CASE WHEN CAST("score" AS DOUBLE) < 0.968196213299773e0 THEN 9 ELSE 10 END
        END
      END
    END
    ELSE CASE
      WHEN CAST("uncertainty" AS DOUBLE) < -1.0724901099678714e0
      THEN CASE
        WHEN CAST("score" AS DOUBLE) < 0.7088486082428782e0
        THEN CASE
          WHEN CAST("score" AS DOUBLE) < 0.18328451516234895e0
          THEN CASE
            WHEN CAST("score" AS DOUBLE) < 0.056606844740053106e0
            THEN CASE WHEN CAST("score" AS DOUBLE) < 0.013196142699151982e0 THEN 0 ELSE 1 END
            ELSE 2
          END
          ELSE CASE
            WHEN CAST("score" AS DOUBLE) < 0.5470813810107129e0
            THEN CASE WHEN CAST("score" AS DOUBLE) < 0.4342707718535702e0 THEN 3 ELSE 4 END
            ELSE 5
          END
        END
        ELSE CASE
          WHEN CAST("score" AS DOUBLE) < 0.9073398510104832e0
          THEN CASE
            WHEN CAST("score" AS DOUBLE) < 0.8770723208893254e0
            THEN CASE WHEN CAST("score" AS DOUBLE) < 0.8609321257826629e0 THEN 6 ELSE 7 END
            ELSE 8
          END
          ELSE CASE WHEN CAST("score" AS DOUBLE) < 0.968196213299773e0 THEN 9 ELSE 10 END
        END
      END
      ELSE CASE
        WHEN CAST("score" AS DOUBLE) < 0.7088486082428782e0
        THEN CASE
          WHEN CAST("score" AS DOUBLE) < 0.18328451516234895e0
          THEN CASE
            WHEN CAST("score" AS DOUBLE) < 0.056606844740053106e0
            THEN CASE WHEN CAST("score" AS DOUBLE) < 0.013196142699151982e0 THEN 0 ELSE 1 END
            ELSE 2
          END
          ELSE CASE
            WHEN CAST("score" AS DOUBLE) < 0.5470813810107129e0
            THEN CASE WHEN CAST("score" AS DOUBLE) < 0.4342707718535702e0 THEN 3 ELSE 4 END
            ELSE 5
          END
        END
        ELSE CASE
          WHEN CAST("score" AS DOUBLE) < 0.9073398510104832e0
          THEN CASE
            WHEN CAST("score" AS DOUBLE) < 0.8770723208893254e0
            THEN CASE WHEN CAST("score" AS DOUBLE) < 0.8609321257826629e0 THEN 6 ELSE 7 END
            ELSE 8
          END
          ELSE CASE WHEN CAST("score" AS DOUBLE) < 0.968196213299773e0 THEN 9 ELSE 10 END
        END
      END
    END
  END
END AS "score_bin"
