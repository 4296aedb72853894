-- uqcli export. rule: Calibrator (venn-abers)
-- uqcli export. kind: calibrator
-- uqcli export. digest: 7bf960b438255f98a3d0e26a7a9bee100a9de3c5e30aba05ce1e911a4d997dd1
-- uqcli export. version: 0.4.0
-- Null for rows whose numbers are null, NaN, infinite or out of their range.
CASE
  WHEN ISFINITE(CAST("rounded" AS DOUBLE))
  AND CAST("rounded" AS DOUBLE) >= 0.0e0
  AND CAST("rounded" AS DOUBLE) <= 1.0e0
  THEN CAST(CASE
    WHEN CAST("rounded" AS DOUBLE) < 0.42000000000000004e0
    THEN CASE
      WHEN CAST("rounded" AS DOUBLE) < 0.10000000000000002e0
      THEN CASE
        WHEN CAST("rounded" AS DOUBLE) < 0.05000000000000001e0
        THEN CASE
          WHEN CAST("rounded" AS DOUBLE) < 0.010000000000000002e0
          THEN CASE
            WHEN CAST("rounded" AS DOUBLE) < 5e-324
            THEN 0.001443001443001443e0
            ELSE 0.004048582995951417e0
          END
          ELSE CASE
            WHEN CAST("rounded" AS DOUBLE) < 0.020000000000000004e0
            THEN 0.02181818181818182e0
            ELSE 0.028985507246376812e0
          END
        END
        ELSE CASE
          WHEN CAST("rounded" AS DOUBLE) < 0.08000000000000002e0
          THEN CASE
            WHEN CAST("rounded" AS DOUBLE) < 0.060000000000000005e0
            THEN 0.05357142857142857e0
            ELSE 0.06547619047619048e0
          END
          ELSE 0.08264462809917356e0
        END
      END
      ELSE CASE
        WHEN CAST("rounded" AS DOUBLE) < 0.21000000000000002e0
        THEN CASE
          WHEN CAST("rounded" AS DOUBLE) < 0.13000000000000003e0
          THEN CASE
            WHEN CAST("rounded" AS DOUBLE) < 0.11000000000000001e0
            THEN 0.1273209549071618e0
            ELSE 0.12912912912912913e0
          END
          ELSE CASE
            WHEN CAST("rounded" AS DOUBLE) < 0.15000000000000002e0
            THEN 0.13043478260869565e0
            ELSE 0.13095238095238096e0
          END
        END
        ELSE CASE
          WHEN CAST("rounded" AS DOUBLE) < 0.37000000000000005e0
          THEN CASE
            WHEN CAST("rounded" AS DOUBLE) < 0.36000000000000004e0
            THEN 0.14825581395348839e0
            ELSE 0.16129032258064516e0
          END
          ELSE 0.2638888888888889e0
        END
      END
    END
    ELSE CASE
      WHEN CAST("rounded" AS DOUBLE) < 0.8200000000000001e0
      THEN CASE
        WHEN CAST("rounded" AS DOUBLE) < 0.6300000000000001e0
        THEN CASE
          WHEN CAST("rounded" AS DOUBLE) < 0.5900000000000001e0
          THEN CASE
            WHEN CAST("rounded" AS DOUBLE) < 0.5500000000000002e0
            THEN 0.3279569892473118e0
            ELSE 0.4166666666666667e0
          END
          ELSE CASE
            WHEN CAST("rounded" AS DOUBLE) < 0.6200000000000001e0
            THEN 0.425531914893617e0
            ELSE 0.42857142857142855e0
          END
        END
        ELSE CASE
          WHEN CAST("rounded" AS DOUBLE) < 0.7200000000000001e0
          THEN CASE
            WHEN CAST("rounded" AS DOUBLE) < 0.6500000000000001e0
            THEN 0.4411764705882353e0
            ELSE 0.4462809917355372e0
          END
          ELSE 0.4975845410628019e0
        END
      END
      ELSE CASE
        WHEN CAST("rounded" AS DOUBLE) < 0.9700000000000001e0
        THEN CASE
          WHEN CAST("rounded" AS DOUBLE) < 0.9500000000000001e0
          THEN CASE
            WHEN CAST("rounded" AS DOUBLE) < 0.9400000000000001e0
            THEN 0.5504761904761905e0
            ELSE 0.5789473684210527e0
          END
          ELSE CASE
            WHEN CAST("rounded" AS DOUBLE) < 0.9600000000000001e0
            THEN 0.65625e0
            ELSE 0.7941176470588235e0
          END
        END
        ELSE CASE
          WHEN CAST("rounded" AS DOUBLE) < 0.9900000000000001e0
          THEN CASE
            WHEN CAST("rounded" AS DOUBLE) < 0.9800000000000001e0
            THEN 0.8163265306122449e0
            ELSE 0.9850746268656716e0
          END
          ELSE 1.0e0
        END
      END
    END
  END / (
    (
      1.0e0 - CASE
        WHEN CAST("rounded" AS DOUBLE) < 0.56e0
        THEN CASE
          WHEN CAST("rounded" AS DOUBLE) < 0.11e0
          THEN CASE
            WHEN CAST("rounded" AS DOUBLE) < 0.06e0
            THEN CASE
              WHEN CAST("rounded" AS DOUBLE) < 0.02e0
              THEN CASE WHEN CAST("rounded" AS DOUBLE) < 0.0e0 THEN 0.0e0 ELSE 0.0e0 END
              ELSE CASE
                WHEN CAST("rounded" AS DOUBLE) < 0.03e0
                THEN 0.01818181818181818e0
                ELSE 0.02608695652173913e0
              END
            END
            ELSE CASE
              WHEN CAST("rounded" AS DOUBLE) < 0.09e0
              THEN CASE
                WHEN CAST("rounded" AS DOUBLE) < 0.07e0
                THEN 0.044642857142857144e0
                ELSE 0.05952380952380952e0
              END
              ELSE 0.0743801652892562e0
            END
          END
          ELSE CASE
            WHEN CAST("rounded" AS DOUBLE) < 0.22e0
            THEN CASE
              WHEN CAST("rounded" AS DOUBLE) < 0.14e0
              THEN CASE
                WHEN CAST("rounded" AS DOUBLE) < 0.12e0
                THEN 0.1111111111111111e0
                ELSE 0.12345679012345678e0
              END
              ELSE 0.12648221343873517e0
            END
            ELSE CASE
              WHEN CAST("rounded" AS DOUBLE) < 0.43e0
              THEN CASE
                WHEN CAST("rounded" AS DOUBLE) < 0.38e0
                THEN 0.14534883720930233e0
                ELSE 0.25e0
              END
              ELSE 0.3225806451612903e0
            END
          END
        END
        ELSE CASE
          WHEN CAST("rounded" AS DOUBLE) < 0.84e0
          THEN CASE
            WHEN CAST("rounded" AS DOUBLE) < 0.66e0
            THEN CASE
              WHEN CAST("rounded" AS DOUBLE) < 0.64e0
              THEN CASE WHEN CAST("rounded" AS DOUBLE) < 0.6e0 THEN 0.4e0 ELSE 0.4098360655737705e0 END
              ELSE 0.4148936170212766e0
            END
            ELSE CASE
              WHEN CAST("rounded" AS DOUBLE) < 0.83e0
              THEN CASE
                WHEN CAST("rounded" AS DOUBLE) < 0.73e0
                THEN 0.4380165289256198e0
                ELSE 0.4927536231884058e0
              END
              ELSE 0.5384615384615384e0
            END
          END
          ELSE CASE
            WHEN CAST("rounded" AS DOUBLE) < 0.97e0
            THEN CASE
              WHEN CAST("rounded" AS DOUBLE) < 0.96e0
              THEN CASE
                WHEN CAST("rounded" AS DOUBLE) < 0.95e0
                THEN 0.5485714285714286e0
                ELSE 0.5526315789473685e0
              END
              ELSE 0.640625e0
            END
            ELSE CASE
              WHEN CAST("rounded" AS DOUBLE) < 0.99e0
              THEN CASE
                WHEN CAST("rounded" AS DOUBLE) < 0.98e0
                THEN 0.7843137254901961e0
                ELSE 0.7959183673469388e0
              END
              ELSE 0.9701492537313433e0
            END
          END
        END
      END
    ) + CASE
      WHEN CAST("rounded" AS DOUBLE) < 0.42000000000000004e0
      THEN CASE
        WHEN CAST("rounded" AS DOUBLE) < 0.10000000000000002e0
        THEN CASE
          WHEN CAST("rounded" AS DOUBLE) < 0.05000000000000001e0
          THEN CASE
            WHEN CAST("rounded" AS DOUBLE) < 0.010000000000000002e0
            THEN CASE
              WHEN CAST("rounded" AS DOUBLE) < 5e-324
              THEN 0.001443001443001443e0
              ELSE 0.004048582995951417e0
            END
            ELSE CASE
              WHEN CAST("rounded" AS DOUBLE) < 0.020000000000000004e0
              THEN 0.02181818181818182e0
              ELSE 0.028985507246376812e0
            END
          END
          ELSE CASE
            WHEN CAST("rounded" AS DOUBLE) < 0.08000000000000002e0
            THEN CASE
              WHEN CAST("rounded" AS DOUBLE) < 0.060000000000000005e0
              THEN 0.05357142857142857e0
              ELSE 0.06547619047619048e0
            END
            ELSE 0.08264462809917356e0
          END
        END
        ELSE CASE
          WHEN CAST("rounded" AS DOUBLE) < 0.21000000000000002e0
          THEN CASE
            WHEN CAST("rounded" AS DOUBLE) < 0.13000000000000003e0
            THEN CASE
              WHEN CAST("rounded" AS DOUBLE) < 0.11000000000000001e0
              THEN 0.1273209549071618e0
              ELSE 0.12912912912912913e0
            END
            ELSE CASE
              WHEN CAST("rounded" AS DOUBLE) < 0.15000000000000002e0
              THEN 0.13043478260869565e0
              ELSE 0.13095238095238096e0
            END
          END
          ELSE CASE
            WHEN CAST("rounded" AS DOUBLE) < 0.37000000000000005e0
            THEN CASE
              WHEN CAST("rounded" AS DOUBLE) < 0.36000000000000004e0
              THEN 0.14825581395348839e0
              ELSE 0.16129032258064516e0
            END
            ELSE 0.2638888888888889e0
          END
        END
      END
      ELSE CASE
        WHEN CAST("rounded" AS DOUBLE) < 0.8200000000000001e0
        THEN CASE
          WHEN CAST("rounded" AS DOUBLE) < 0.6300000000000001e0
          THEN CASE
            WHEN CAST("rounded" AS DOUBLE) < 0.5900000000000001e0
            THEN CASE
              WHEN CAST("rounded" AS DOUBLE) < 0.5500000000000002e0
              THEN 0.3279569892473118e0
              ELSE 0.4166666666666667e0
            END
            ELSE CASE
              WHEN CAST("rounded" AS DOUBLE) < 0.6200000000000001e0
              THEN 0.425531914893617e0
              ELSE 0.42857142857142855e0
            END
          END
          ELSE CASE
            WHEN CAST("rounded" AS DOUBLE) < 0.7200000000000001e0
            THEN CASE
              WHEN CAST("rounded" AS DOUBLE) < 0.6500000000000001e0
              THEN 0.4411764705882353e0
              ELSE 0.4462809917355372e0
            END
            ELSE 0.4975845410628019e0
          END
        END
        ELSE CASE
          WHEN CAST("rounded" AS DOUBLE) < 0.9700000000000001e0
          THEN CASE
            WHEN CAST("rounded" AS DOUBLE) < 0.9500000000000001e0
            THEN CASE
              WHEN CAST("rounded" AS DOUBLE) < 0.9400000000000001e0
              THEN 0.5504761904761905e0
              ELSE 0.5789473684210527e0
            END
            ELSE CASE
              WHEN CAST("rounded" AS DOUBLE) < 0.9600000000000001e0
              THEN 0.65625e0
              ELSE 0.7941176470588235e0
            END
          END
          ELSE CASE
            WHEN CAST("rounded" AS DOUBLE) < 0.9900000000000001e0
            THEN CASE
              WHEN CAST("rounded" AS DOUBLE) < 0.9800000000000001e0
              THEN 0.8163265306122449e0
              ELSE 0.9850746268656716e0
            END
            ELSE 1.0e0
          END
        END
      END
    END
  ) AS DOUBLE)
END AS "calibrated",
CASE
  WHEN ISFINITE(CAST("rounded" AS DOUBLE))
  AND CAST("rounded" AS DOUBLE) >= 0.0e0
  AND CAST("rounded" AS DOUBLE) <= 1.0e0
  THEN CAST(CASE
    WHEN CAST("rounded" AS DOUBLE) < 0.56e0
    THEN CASE
      WHEN CAST("rounded" AS DOUBLE) < 0.11e0
      THEN CASE
        WHEN CAST("rounded" AS DOUBLE) < 0.06e0
        THEN CASE
          WHEN CAST("rounded" AS DOUBLE) < 0.02e0
          THEN CASE WHEN CAST("rounded" AS DOUBLE) < 0.0e0 THEN 0.0e0 ELSE 0.0e0 END
          ELSE CASE
            WHEN CAST("rounded" AS DOUBLE) < 0.03e0
            THEN 0.01818181818181818e0
            ELSE 0.02608695652173913e0
          END
        END
        ELSE CASE
          WHEN CAST("rounded" AS DOUBLE) < 0.09e0
          THEN CASE
            WHEN CAST("rounded" AS DOUBLE) < 0.07e0
            THEN 0.044642857142857144e0
            ELSE 0.05952380952380952e0
          END
          ELSE 0.0743801652892562e0
        END
      END
      ELSE CASE
        WHEN CAST("rounded" AS DOUBLE) < 0.22e0
        THEN CASE
          WHEN CAST("rounded" AS DOUBLE) < 0.14e0
          THEN CASE
            WHEN CAST("rounded" AS DOUBLE) < 0.12e0
            THEN 0.1111111111111111e0
            ELSE 0.12345679012345678e0
          END
          ELSE 0.12648221343873517e0
        END
        ELSE CASE
          WHEN CAST("rounded" AS DOUBLE) < 0.43e0
          THEN CASE
            WHEN CAST("rounded" AS DOUBLE) < 0.38e0
            THEN 0.14534883720930233e0
            ELSE 0.25e0
          END
          ELSE 0.3225806451612903e0
        END
      END
    END
    ELSE CASE
      WHEN CAST("rounded" AS DOUBLE) < 0.84e0
      THEN CASE
        WHEN CAST("rounded" AS DOUBLE) < 0.66e0
        THEN CASE
          WHEN CAST("rounded" AS DOUBLE) < 0.64e0
          THEN CASE WHEN CAST("rounded" AS DOUBLE) < 0.6e0 THEN 0.4e0 ELSE 0.4098360655737705e0 END
          ELSE 0.4148936170212766e0
        END
        ELSE CASE
          WHEN CAST("rounded" AS DOUBLE) < 0.83e0
          THEN CASE
            WHEN CAST("rounded" AS DOUBLE) < 0.73e0
            THEN 0.4380165289256198e0
            ELSE 0.4927536231884058e0
          END
          ELSE 0.5384615384615384e0
        END
      END
      ELSE CASE
        WHEN CAST("rounded" AS DOUBLE) < 0.97e0
        THEN CASE
          WHEN CAST("rounded" AS DOUBLE) < 0.96e0
          THEN CASE
            WHEN CAST("rounded" AS DOUBLE) < 0.95e0
            THEN 0.5485714285714286e0
            ELSE 0.5526315789473685e0
          END
          ELSE 0.640625e0
        END
        ELSE CASE
          WHEN CAST("rounded" AS DOUBLE) < 0.99e0
          THEN CASE
            WHEN CAST("rounded" AS DOUBLE) < 0.98e0
            THEN 0.7843137254901961e0
            ELSE 0.7959183673469388e0
          END
          ELSE 0.9701492537313433e0
        END
      END
    END
  END AS DOUBLE)
END AS "calibrated_low",
CASE
  WHEN ISFINITE(CAST("rounded" AS DOUBLE))
  AND CAST("rounded" AS DOUBLE) >= 0.0e0
  AND CAST("rounded" AS DOUBLE) <= 1.0e0
  THEN CAST(CASE
    WHEN CAST("rounded" AS DOUBLE) < 0.42000000000000004e0
    THEN CASE
      WHEN CAST("rounded" AS DOUBLE) < 0.10000000000000002e0
      THEN CASE
        WHEN CAST("rounded" AS DOUBLE) < 0.05000000000000001e0
        THEN CASE
          WHEN CAST("rounded" AS DOUBLE) < 0.010000000000000002e0
          THEN CASE
            WHEN CAST("rounded" AS DOUBLE) < 5e-324
            THEN 0.001443001443001443e0
            ELSE 0.004048582995951417e0
          END
          ELSE CASE
            WHEN CAST("rounded" AS DOUBLE) < 0.020000000000000004e0
            THEN 0.02181818181818182e0
            ELSE 0.028985507246376812e0
          END
        END
        ELSE CASE
          WHEN CAST("rounded" AS DOUBLE) < 0.08000000000000002e0
          THEN CASE
            WHEN CAST("rounded" AS DOUBLE) < 0.060000000000000005e0
            THEN 0.05357142857142857e0
            ELSE 0.06547619047619048e0
          END
          ELSE 0.08264462809917356e0
        END
      END
      ELSE CASE
        WHEN CAST("rounded" AS DOUBLE) < 0.21000000000000002e0
        THEN CASE
          WHEN CAST("rounded" AS DOUBLE) < 0.13000000000000003e0
          THEN CASE
            WHEN CAST("rounded" AS DOUBLE) < 0.11000000000000001e0
            THEN 0.1273209549071618e0
            ELSE 0.12912912912912913e0
          END
          ELSE CASE
            WHEN CAST("rounded" AS DOUBLE) < 0.15000000000000002e0
            THEN 0.13043478260869565e0
            ELSE 0.13095238095238096e0
          END
        END
        ELSE CASE
          WHEN CAST("rounded" AS DOUBLE) < 0.37000000000000005e0
          THEN CASE
            WHEN CAST("rounded" AS DOUBLE) < 0.36000000000000004e0
            THEN 0.14825581395348839e0
            ELSE 0.16129032258064516e0
          END
          ELSE 0.2638888888888889e0
        END
      END
    END
    ELSE CASE
      WHEN CAST("rounded" AS DOUBLE) < 0.8200000000000001e0
      THEN CASE
        WHEN CAST("rounded" AS DOUBLE) < 0.6300000000000001e0
        THEN CASE
          WHEN CAST("rounded" AS DOUBLE) < 0.5900000000000001e0
          THEN CASE
            WHEN CAST("rounded" AS DOUBLE) < 0.5500000000000002e0
            THEN 0.3279569892473118e0
            ELSE 0.4166666666666667e0
          END
          ELSE CASE
            WHEN CAST("rounded" AS DOUBLE) < 0.6200000000000001e0
            THEN 0.425531914893617e0
            ELSE 0.42857142857142855e0
          END
        END
        ELSE CASE
          WHEN CAST("rounded" AS DOUBLE) < 0.7200000000000001e0
          THEN CASE
            WHEN CAST("rounded" AS DOUBLE) < 0.6500000000000001e0
            THEN 0.4411764705882353e0
            ELSE 0.4462809917355372e0
          END
          ELSE 0.4975845410628019e0
        END
      END
      ELSE CASE
        WHEN CAST("rounded" AS DOUBLE) < 0.9700000000000001e0
        THEN CASE
          WHEN CAST("rounded" AS DOUBLE) < 0.9500000000000001e0
          THEN CASE
            WHEN CAST("rounded" AS DOUBLE) < 0.9400000000000001e0
            THEN 0.5504761904761905e0
            ELSE 0.5789473684210527e0
          END
          ELSE CASE
            WHEN CAST("rounded" AS DOUBLE) < 0.9600000000000001e0
            THEN 0.65625e0
            ELSE 0.7941176470588235e0
          END
        END
        ELSE CASE
          WHEN CAST("rounded" AS DOUBLE) < 0.9900000000000001e0
          THEN CASE
            WHEN CAST("rounded" AS DOUBLE) < 0.9800000000000001e0
            THEN 0.8163265306122449e0
            ELSE 0.9850746268656716e0
          END
          ELSE 1.0e0
        END
      END
    END
  END AS DOUBLE)
END AS "calibrated_high"
