-- uqcli export. rule: Calibrator (heterogeneous)
-- uqcli export. kind: calibrator
-- uqcli export. digest: a59ee0d7d68402ec3a3666e531ff05b8b2b557bf13a071757807ec32fc83eac4
-- uqcli export. version: 0.4.0
-- Null for rows whose numbers are null, NaN, infinite or out of their range.
CASE
  WHEN (
    ISFINITE(CAST("score" AS DOUBLE))
    AND CAST("score" AS DOUBLE) >= 0.0e0
    AND CAST("score" AS DOUBLE) <= 1.0e0
  )
  AND (
    (
      CAST("age" AS DOUBLE) IS NULL OR ISNAN(CAST("age" AS DOUBLE))
    )
    OR NOT (
      CAST("age" AS DOUBLE) = CAST('inf' AS DOUBLE)
      OR CAST("age" AS DOUBLE) = CAST('-inf' AS DOUBLE)
    )
  )
  AND (
    (
      CAST("hours_per_week" AS DOUBLE) IS NULL
      OR ISNAN(CAST("hours_per_week" AS DOUBLE))
    )
    OR NOT (
      CAST("hours_per_week" AS DOUBLE) = CAST('inf' AS DOUBLE)
      OR CAST("hours_per_week" AS DOUBLE) = CAST('-inf' AS DOUBLE)
    )
  )
  THEN CAST((
    0.0e0 + CASE
      WHEN (
        CAST("age" AS DOUBLE) IS NULL OR ISNAN(CAST("age" AS DOUBLE))
      )
      THEN CASE
        WHEN (
          TRIM(
            CAST("education" AS TEXT),
            CHR(9) || CHR(10) || CHR(11) || CHR(12) || CHR(13) || CHR(32) || CHR(133) || CHR(160) || CHR(5760) || CHR(8192) || CHR(8193) || CHR(8194) || CHR(8195) || CHR(8196) || CHR(8197) || CHR(8198) || CHR(8199) || CHR(8200) || CHR(8201) || CHR(8202) || CHR(8232) || CHR(8233) || CHR(8239) || CHR(8287) || CHR(12288)
          ) IS NULL
          OR TRIM(
            CAST("education" AS TEXT),
            CHR(9) || CHR(10) || CHR(11) || CHR(12) || CHR(13) || CHR(32) || CHR(133) || CHR(160) || CHR(5760) || CHR(8192) || CHR(8193) || CHR(8194) || CHR(8195) || CHR(8196) || CHR(8197) || CHR(8198) || CHR(8199) || CHR(8200) || CHR(8201) || CHR(8202) || CHR(8232) || CHR(8233) || CHR(8239) || CHR(8287) || CHR(12288)
          ) = ''
        )
        THEN CASE
          WHEN (
            (
              -1.1095612523986085e0
            ) + (
              0.4806133448666283e0 * (
                LN(
                  CASE
                    WHEN CAST("score" AS DOUBLE) < 1e-12
                    THEN 1e-12
                    WHEN CAST("score" AS DOUBLE) > 0.999999999999e0
                    THEN 0.999999999999e0
                    ELSE CAST("score" AS DOUBLE)
                  END
                ) - LN(
                  1.0e0 - CASE
                    WHEN CAST("score" AS DOUBLE) < 1e-12
                    THEN 1e-12
                    WHEN CAST("score" AS DOUBLE) > 0.999999999999e0
                    THEN 0.999999999999e0
                    ELSE CAST("score" AS DOUBLE)
                  END
                )
              )
            )
          ) >= 40.0e0
          THEN 1.0e0
          WHEN (
            (
              -1.1095612523986085e0
            ) + (
              0.4806133448666283e0 * (
                LN(
                  CASE
                    WHEN CAST("score" AS DOUBLE) < 1e-12
                    THEN 1e-12
                    WHEN CAST("score" AS DOUBLE) > 0.999999999999e0
                    THEN 0.999999999999e0
                    ELSE CAST("score" AS DOUBLE)
                  END
                ) - LN(
                  1.0e0 - CASE
                    WHEN CAST("score" AS DOUBLE) < 1e-12
                    THEN 1e-12
                    WHEN CAST("score" AS DOUBLE) > 0.999999999999e0
                    THEN 0.999999999999e0
                    ELSE CAST("score" AS DOUBLE)
                  END
                )
              )
            )
          ) >= (
            -700.0e0
          )
          THEN 1.0e0 / (
            1.0e0 + EXP(
              0.0e0 - (
                (
                  -1.1095612523986085e0
                ) + (
                  0.4806133448666283e0 * (
                    LN(
                      CASE
                        WHEN CAST("score" AS DOUBLE) < 1e-12
                        THEN 1e-12
                        WHEN CAST("score" AS DOUBLE) > 0.999999999999e0
                        THEN 0.999999999999e0
                        ELSE CAST("score" AS DOUBLE)
                      END
                    ) - LN(
                      1.0e0 - CASE
                        WHEN CAST("score" AS DOUBLE) < 1e-12
                        THEN 1e-12
                        WHEN CAST("score" AS DOUBLE) > 0.999999999999e0
                        THEN 0.999999999999e0
                        ELSE CAST("score" AS DOUBLE)
                      END
                    )
                  )
                )
              )
            )
          )
          WHEN (
            (
              -1.1095612523986085e0
            ) + (
              0.4806133448666283e0 * (
                LN(
                  CASE
                    WHEN CAST("score" AS DOUBLE) < 1e-12
                    THEN 1e-12
                    WHEN CAST("score" AS DOUBLE) > 0.999999999999e0
                    THEN 0.999999999999e0
                    ELSE CAST("score" AS DOUBLE)
                  END
                ) - LN(
                  1.0e0 - CASE
                    WHEN CAST("score" AS DOUBLE) < 1e-12
                    THEN 1e-12
                    WHEN CAST("score" AS DOUBLE) > 0.999999999999e0
                    THEN 0.999999999999e0
                    ELSE CAST("score" AS DOUBLE)
                  END
                )
              )
            )
          ) >= (
            -745.0e0
          )
          THEN EXP(
            (
              -1.1095612523986085e0
            ) + (
              0.4806133448666283e0 * (
                LN(
                  CASE
                    WHEN CAST("score" AS DOUBLE) < 1e-12
                    THEN 1e-12
                    WHEN CAST("score" AS DOUBLE) > 0.999999999999e0
                    THEN 0.999999999999e0
                    ELSE CAST("score" AS DOUBLE)
                  END
                ) - LN(
                  1.0e0 - CASE
                    WHEN CAST("score" AS DOUBLE) < 1e-12
                    THEN 1e-12
                    WHEN CAST("score" AS DOUBLE) > 0.999999999999e0
                    THEN 0.999999999999e0
                    ELSE CAST("score" AS DOUBLE)
                  END
                )
              )
            )
          )
          ELSE 0.0e0
        END
        WHEN COALESCE(
          TRIM(
            CAST("education" AS TEXT),
            CHR(9) || CHR(10) || CHR(11) || CHR(12) || CHR(13) || CHR(32) || CHR(133) || CHR(160) || CHR(5760) || CHR(8192) || CHR(8193) || CHR(8194) || CHR(8195) || CHR(8196) || CHR(8197) || CHR(8198) || CHR(8199) || CHR(8200) || CHR(8201) || CHR(8202) || CHR(8232) || CHR(8233) || CHR(8239) || CHR(8287) || CHR(12288)
          ) IN (
            '12th',
            '9th',
            '11th',
            '10th',
            '7th-8th',
            'HS-grad',
            'Some-college',
            'Assoc-acdm',
            'Assoc-voc'
          ),
          FALSE
        )
        THEN CASE
          WHEN (
            (
              -1.1095612523986085e0
            ) + (
              0.4806133448666283e0 * (
                LN(
                  CASE
                    WHEN CAST("score" AS DOUBLE) < 1e-12
                    THEN 1e-12
                    WHEN CAST("score" AS DOUBLE) > 0.999999999999e0
                    THEN 0.999999999999e0
                    ELSE CAST("score" AS DOUBLE)
                  END
                ) - LN(
                  1.0e0 - CASE
                    WHEN CAST("score" AS DOUBLE) < 1e-12
                    THEN 1e-12
                    WHEN CAST("score" AS DOUBLE) > 0.999999999999e0
                    THEN 0.999999999999e0
                    ELSE CAST("score" AS DOUBLE)
                  END
                )
              )
            )
          ) >= 40.0e0
          THEN 1.0e0
          WHEN (
            (
              -1.1095612523986085e0
            ) + (
              0.4806133448666283e0 * (
                LN(
                  CASE
                    WHEN CAST("score" AS DOUBLE) < 1e-12
                    THEN 1e-12
                    WHEN CAST("score" AS DOUBLE) > 0.999999999999e0
                    THEN 0.999999999999e0
                    ELSE CAST("score" AS DOUBLE)
                  END
                ) - LN(
                  1.0e0 - CASE
                    WHEN CAST("score" AS DOUBLE) < 1e-12
                    THEN 1e-12
                    WHEN CAST("score" AS DOUBLE) > 0.999999999999e0
                    THEN 0.999999999999e0
                    ELSE CAST("score" AS DOUBLE)
                  END
                )
              )
            )
          ) >= (
            -700.0e0
          )
          THEN 1.0e0 / (
            1.0e0 + EXP(
              0.0e0 - (
                (
                  -1.1095612523986085e0
                ) + (
                  0.4806133448666283e0 * (
                    LN(
                      CASE
                        WHEN CAST("score" AS DOUBLE) < 1e-12
                        THEN 1e-12
                        WHEN CAST("score" AS DOUBLE) > 0.999999999999e0
                        THEN 0.999999999999e0
                        ELSE CAST("score" AS DOUBLE)
                      END
                    ) - LN(
                      1.0e0 - CASE
                        WHEN CAST("score" AS DOUBLE) < 1e-12
                        THEN 1e-12
                        WHEN CAST("score" AS DOUBLE) > 0.999999999999e0
                        THEN 0.999999999999e0
                        ELSE CAST("score" AS DOUBLE)
                      END
                    )
                  )
                )
              )
            )
          )
          WHEN (
            (
              -1.1095612523986085e0
            ) + (
              0.4806133448666283e0 * (
                LN(
                  CASE
                    WHEN CAST("score" AS DOUBLE) < 1e-12
                    THEN 1e-12
                    WHEN CAST("score" AS DOUBLE) > 0.999999999999e0
                    THEN 0.999999999999e0
                    ELSE CAST("score" AS DOUBLE)
                  END
                ) - LN(
                  1.0e0 - CASE
                    WHEN CAST("score" AS DOUBLE) < 1e-12
                    THEN 1e-12
                    WHEN CAST("score" AS DOUBLE) > 0.999999999999e0
                    THEN 0.999999999999e0
                    ELSE CAST("score" AS DOUBLE)
                  END
                )
              )
            )
          ) >= (
            -745.0e0
          )
          THEN EXP(
            (
              -1.1095612523986085e0
            ) + (
              0.4806133448666283e0 * (
                LN(
                  CASE
                    WHEN CAST("score" AS DOUBLE) < 1e-12
                    THEN 1e-12
                    WHEN CAST("score" AS DOUBLE) > 0.999999999999e0
                    THEN 0.999999999999e0
                    ELSE CAST("score" AS DOUBLE)
                  END
                ) - LN(
                  1.0e0 - CASE
                    WHEN CAST("score" AS DOUBLE) < 1e-12
                    THEN 1e-12
                    WHEN CAST("score" AS DOUBLE) > 0.999999999999e0
                    THEN 0.999999999999e0
                    ELSE CAST("score" AS DOUBLE)
                  END
                )
              )
            )
          )
          ELSE 0.0e0
        END
        ELSE CASE
          WHEN (
            (
              -0.5305365551577674e0
            ) + (
              0.5655520553742037e0 * (
                LN(
                  CASE
                    WHEN CAST("score" AS DOUBLE) < 1e-12
                    THEN 1e-12
                    WHEN CAST("score" AS DOUBLE) > 0.999999999999e0
                    THEN 0.999999999999e0
                    ELSE CAST("score" AS DOUBLE)
                  END
                ) - LN(
                  1.0e0 - CASE
                    WHEN CAST("score" AS DOUBLE) < 1e-12
                    THEN 1e-12
                    WHEN CAST("score" AS DOUBLE) > 0.999999999999e0
                    THEN 0.999999999999e0
                    ELSE CAST("score" AS DOUBLE)
                  END
                )
              )
            )
          ) >= 40.0e0
          THEN 1.0e0
          WHEN (
            (
              -0.5305365551577674e0
            ) + (
              0.5655520553742037e0 * (
                LN(
                  CASE
                    WHEN CAST("score" AS DOUBLE) < 1e-12
                    THEN 1e-12
                    WHEN CAST("score" AS DOUBLE) > 0.999999999999e0
                    THEN 0.999999999999e0
                    ELSE CAST("score" AS DOUBLE)
                  END
                ) - LN(
                  1.0e0 - CASE
                    WHEN CAST("score" AS DOUBLE) < 1e-12
                    THEN 1e-12
                    WHEN CAST("score" AS DOUBLE) > 0.999999999999e0
                    THEN 0.999999999999e0
                    ELSE CAST("score" AS DOUBLE)
                  END
                )
              )
            )
          ) >= (
            -700.0e0
          )
          THEN 1.0e0 / (
            1.0e0 + EXP(
              0.0e0 - (
                (
                  -0.5305365551577674e0
                ) + (
                  0.5655520553742037e0 * (
                    LN(
                      CASE
                        WHEN CAST("score" AS DOUBLE) < 1e-12
                        THEN 1e-12
                        WHEN CAST("score" AS DOUBLE) > 0.999999999999e0
                        THEN 0.999999999999e0
                        ELSE CAST("score" AS DOUBLE)
                      END
                    ) - LN(
                      1.0e0 - CASE
                        WHEN CAST("score" AS DOUBLE) < 1e-12
                        THEN 1e-12
                        WHEN CAST("score" AS DOUBLE) > 0.999999999999e0
                        THEN 0.999999999999e0
                        ELSE CAST("score" AS DOUBLE)
                      END
                    )
                  )
                )
              )
            )
          )
          WHEN (
            (
              -0.5305365551577674e0
            ) + (
              0.5655520553742037e0 * (
                LN(
                  CASE
                    WHEN CAST("score" AS DOUBLE) < 1e-12
                    THEN 1e-12
                    WHEN CAST("score" AS DOUBLE) > 0.999999999999e0
                    THEN 0.999999999999e0
                    ELSE CAST("score" AS DOUBLE)
                  END
                ) - LN(
                  1.0e0 - CASE
                    WHEN CAST("score" AS DOUBLE) < 1e-12
                    THEN 1e-12
                    WHEN CAST("score" AS DOUBLE) > 0.999999999999e0
                    THEN 0.999999999999e0
                    ELSE CAST("score" AS DOUBLE)
                  END
                )
              )
            )
          ) >= (
            -745.0e0
          )
          THEN EXP(
            (
              -0.5305365551577674e0
            ) + (
              0.5655520553742037e0 * (
                LN(
                  CASE
                    WHEN CAST("score" AS DOUBLE) < 1e-12
                    THEN 1e-12
                    WHEN CAST("score" AS DOUBLE) > 0.999999999999e0
                    THEN 0.999999999999e0
                    ELSE CAST("score" AS DOUBLE)
                  END
                ) - LN(
                  1.0e0 - CASE
                    WHEN CAST("score" AS DOUBLE) < 1e-12
                    THEN 1e-12
                    WHEN CAST("score" AS DOUBLE) > 0.999999999999e0
                    THEN 0.999999999999e0
                    ELSE CAST("score" AS DOUBLE)
                  END
                )
              )
            )
          )
          ELSE 0.0e0
        END
      END
      WHEN CAST("age" AS DOUBLE) <= 33.5e0
      THEN CASE
        WHEN (
          CAST("age" AS DOUBLE) IS NULL OR ISNAN(CAST("age" AS DOUBLE))
        )
        THEN CASE
          WHEN (
            (
              -1.2321734418987003e0
            ) + (
              1.0708617105727816e0 * (
                LN(
                  CASE
                    WHEN CAST("score" AS DOUBLE) < 1e-12
                    THEN 1e-12
                    WHEN CAST("score" AS DOUBLE) > 0.999999999999e0
                    THEN 0.999999999999e0
                    ELSE CAST("score" AS DOUBLE)
                  END
                ) - LN(
                  1.0e0 - CASE
                    WHEN CAST("score" AS DOUBLE) < 1e-12
                    THEN 1e-12
                    WHEN CAST("score" AS DOUBLE) > 0.999999999999e0
                    THEN 0.999999999999e0
                    ELSE CAST("score" AS DOUBLE)
                  END
                )
              )
            )
          ) >= 40.0e0
          THEN 1.0e0
          WHEN (
            (
              -1.2321734418987003e0
            ) + (
              1.0708617105727816e0 * (
                LN(
                  CASE
                    WHEN CAST("score" AS DOUBLE) < 1e-12
                    THEN 1e-12
                    WHEN CAST("score" AS DOUBLE) > 0.999999999999e0
                    THEN 0.999999999999e0
                    ELSE CAST("score" AS DOUBLE)
                  END
                ) - LN(
                  1.0e0 - CASE
                    WHEN CAST("score" AS DOUBLE) < 1e-12
                    THEN 1e-12
                    WHEN CAST("score" AS DOUBLE) > 0.999999999999e0
                    THEN 0.999999999999e0
                    ELSE CAST("score" AS DOUBLE)
                  END
                )
              )
            )
          ) >= (
            -700.0e0
          )
          THEN 1.0e0 / (
            1.0e0 + EXP(
              0.0e0 - (
                (
                  -1.2321734418987003e0
                ) + (
                  1.0708617105727816e0 * (
                    LN(
                      CASE
                        WHEN CAST("score" AS DOUBLE) < 1e-12
                        THEN 1e-12
                        WHEN CAST("score" AS DOUBLE) > 0.999999999999e0
                        THEN 0.999999999999e0
                        ELSE CAST("score" AS DOUBLE)
                      END
                    ) - LN(
                      1.0e0 - CASE
                        WHEN CAST("score" AS DOUBLE) < 1e-12
                        THEN 1e-12
                        WHEN CAST("score" AS DOUBLE) > 0.999999999999e0
                        THEN 0.999999999999e0
                        ELSE CAST("score" AS DOUBLE)
                      END
                    )
                  )
                )
              )
            )
          )
          WHEN (
            (
              -1.2321734418987003e0
            ) + (
              1.0708617105727816e0 * (
                LN(
                  CASE
                    WHEN CAST("score" AS DOUBLE) < 1e-12
                    THEN 1e-12
                    WHEN CAST("score" AS DOUBLE) > 0.999999999999e0
                    THEN 0.999999999999e0
                    ELSE CAST("score" AS DOUBLE)
                  END
                ) - LN(
                  1.0e0 - CASE
                    WHEN CAST("score" AS DOUBLE) < 1e-12
                    THEN 1e-12
                    WHEN CAST("score" AS DOUBLE) > 0.999999999999e0
                    THEN 0.999999999999e0
                    ELSE CAST("score" AS DOUBLE)
                  END
                )
              )
            )
          ) >= (
            -745.0e0
          )
          THEN EXP(
            (
              -1.2321734418987003e0
            ) + (
              1.0708617105727816e0 * (
                LN(
                  CASE
                    WHEN CAST("score" AS DOUBLE) < 1e-12
                    THEN 1e-12
                    WHEN CAST("score" AS DOUBLE) > 0.999999999999e0
                    THEN 0.999999999999e0
                    ELSE CAST("score" AS DOUBLE)
                  END
                ) - LN(
                  1.0e0 - CASE
                    WHEN CAST("score" AS DOUBLE) < 1e-12
                    THEN 1e-12
                    WHEN CAST("score" AS DOUBLE) > 0.999999999999e0
                    THEN 0.999999999999e0
                    ELSE CAST("score" AS DOUBLE)
                  END
                )
              )
            )
          )
          ELSE 0.0e0
        END
        WHEN CAST("age" AS DOUBLE) <= 26.5e0
        THEN CASE
          WHEN (
            (
              -1.2321734418987003e0
            ) + (
              1.0708617105727816e0 * (
                LN(
                  CASE
                    WHEN CAST("score" AS DOUBLE) < 1e-12
                    THEN 1e-12
                    WHEN CAST("score" AS DOUBLE) > 0.999999999999e0
                    THEN 0.999999999999e0
                    ELSE CAST("score" AS DOUBLE)
                  END
                ) - LN(
                  1.0e0 - CASE
                    WHEN CAST("score" AS DOUBLE) < 1e-12
                    THEN 1e-12
                    WHEN CAST("score" AS DOUBLE) > 0.999999999999e0
                    THEN 0.999999999999e0
                    ELSE CAST("score" AS DOUBLE)
                  END
                )
              )
            )
          ) >= 40.0e0
          THEN 1.0e0
          WHEN (
            (
              -1.2321734418987003e0
            ) + (
              1.0708617105727816e0 * (
                LN(
                  CASE
                    WHEN CAST("score" AS DOUBLE) < 1e-12
                    THEN 1e-12
                    WHEN CAST("score" AS DOUBLE) > 0.999999999999e0
                    THEN 0.999999999999e0
                    ELSE CAST("score" AS DOUBLE)
                  END
                ) - LN(
                  1.0e0 - CASE
                    WHEN CAST("score" AS DOUBLE) < 1e-12
                    THEN 1e-12
                    WHEN CAST("score" AS DOUBLE) > 0.999999999999e0
                    THEN 0.999999999999e0
                    ELSE CAST("score" AS DOUBLE)
                  END
                )
              )
            )
          ) >= (
            -700.0e0
          )
          THEN 1.0e0 / (
            1.0e0 + EXP(
              0.0e0 - (
                (
                  -1.2321734418987003e0
                ) + (
                  1.0708617105727816e0 * (
                    LN(
                      CASE
                        WHEN CAST("score" AS DOUBLE) < 1e-12
                        THEN 1e-12
                        WHEN CAST("score" AS DOUBLE) > 0.999999999999e0
                        THEN 0.999999999999e0
                        ELSE CAST("score" AS DOUBLE)
                      END
                    ) - LN(
                      1.0e0 - CASE
                        WHEN CAST("score" AS DOUBLE) < 1e-12
                        THEN 1e-12
                        WHEN CAST("score" AS DOUBLE) > 0.999999999999e0
                        THEN 0.999999999999e0
                        ELSE CAST("score" AS DOUBLE)
                      END
                    )
                  )
                )
              )
            )
          )
          WHEN (
            (
              -1.2321734418987003e0
            ) + (
              1.0708617105727816e0 * (
                LN(
                  CASE
                    WHEN CAST("score" AS DOUBLE) < 1e-12
                    THEN 1e-12
                    WHEN CAST("score" AS DOUBLE) > 0.999999999999e0
                    THEN 0.999999999999e0
                    ELSE CAST("score" AS DOUBLE)
                  END
                ) - LN(
                  1.0e0 - CASE
                    WHEN CAST("score" AS DOUBLE) < 1e-12
                    THEN 1e-12
                    WHEN CAST("score" AS DOUBLE) > 0.999999999999e0
                    THEN 0.999999999999e0
                    ELSE CAST("score" AS DOUBLE)
                  END
                )
              )
            )
          ) >= (
            -745.0e0
          )
          THEN EXP(
            (
              -1.2321734418987003e0
            ) + (
              1.0708617105727816e0 * (
                LN(
                  CASE
                    WHEN CAST("score" AS DOUBLE) < 1e-12
                    THEN 1e-12
                    WHEN CAST("score" AS DOUBLE) > 0.999999999999e0
                    THEN 0.999999999999e0
                    ELSE CAST("score" AS DOUBLE)
                  END
                ) - LN(
                  1.0e0 - CASE
                    WHEN CAST("score" AS DOUBLE) < 1e-12
                    THEN 1e-12
                    WHEN CAST("score" AS DOUBLE) > 0.999999999999e0
                    THEN 0.999999999999e0
                    ELSE CAST("score" AS DOUBLE)
                  END
                )
              )
            )
          )
          ELSE 0.0e0
        END
        ELSE CASE
          WHEN (
            (
              -0.6634593639812356e0
            ) + (
              0.6923741753216078e0 * (
                LN(
                  CASE
                    WHEN CAST("score" AS DOUBLE) < 1e-12
                    THEN 1e-12
                    WHEN CAST("score" AS DOUBLE) > 0.999999999999e0
                    THEN 0.999999999999e0
                    ELSE CAST("score" AS DOUBLE)
                  END
                ) - LN(
                  1.0e0 - CASE
                    WHEN CAST("score" AS DOUBLE) < 1e-12
                    THEN 1e-12
                    WHEN CAST("score" AS DOUBLE) > 0.999999999999e0
                    THEN 0.999999999999e0
                    ELSE CAST("score" AS DOUBLE)
                  END
                )
              )
            )
          ) >= 40.0e0
          THEN 1.0e0
          WHEN (
            (
              -0.6634593639812356e0
            ) + (
              0.6923741753216078e0 * (
                LN(
                  CASE
                    WHEN CAST("score" AS DOUBLE) < 1e-12
                    THEN 1e-12
                    WHEN CAST("score" AS DOUBLE) > 0.999999999999e0
                    THEN 0.999999999999e0
                    ELSE CAST("score" AS DOUBLE)
                  END
                ) - LN(
                  1.0e0 - CASE
                    WHEN CAST("score" AS DOUBLE) < 1e-12
                    THEN 1e-12
                    WHEN CAST("score" AS DOUBLE) > 0.999999999999e0
                    THEN 0.999999999999e0
                    ELSE CAST("score" AS DOUBLE)
                  END
                )
              )
            )
          ) >= (
            -700.0e0
          )
          THEN 1.0e0 / (
            1.0e0 + EXP(
              0.0e0 - (
                (
                  -0.6634593639812356e0
                ) + (
                  0.6923741753216078e0 * (
                    LN(
                      CASE
                        WHEN CAST("score" AS DOUBLE) < 1e-12
                        THEN 1e-12
                        WHEN CAST("score" AS DOUBLE) > 0.999999999999e0
                        THEN 0.999999999999e0
                        ELSE CAST("score" AS DOUBLE)
                      END
                    ) - LN(
                      1.0e0 - CASE
                        WHEN CAST("score" AS DOUBLE) < 1e-12
                        THEN 1e-12
                        WHEN CAST("score" AS DOUBLE) > 0.999999999999e0
                        THEN 0.999999999999e0
                        ELSE CAST("score" AS DOUBLE)
                      END
                    )
                  )
                )
              )
            )
          )
          WHEN (
            (
              -0.6634593639812356e0
            ) + (
              0.6923741753216078e0 * (
                LN(
                  CASE
                    WHEN CAST("score" AS DOUBLE) < 1e-12
                    THEN 1e-12
                    WHEN CAST("score" AS DOUBLE) > 0.999999999999e0
                    THEN 0.999999999999e0
                    ELSE CAST("score" AS DOUBLE)
                  END
                ) - LN(
                  1.0e0 - CASE
                    WHEN CAST("score" AS DOUBLE) < 1e-12
                    THEN 1e-12
                    WHEN CAST("score" AS DOUBLE) > 0.999999999999e0
                    THEN 0.999999999999e0
                    ELSE CAST("score" AS DOUBLE)
                  END
                )
              )
            )
          ) >= (
            -745.0e0
          )
          THEN EXP(
            (
              -0.6634593639812356e0
            ) + (
              0.6923741753216078e0 * (
                LN(
                  CASE
                    WHEN CAST("score" AS DOUBLE) < 1e-12
                    THEN 1e-12
                    WHEN CAST("score" AS DOUBLE) > 0.999999999999e0
                    THEN 0.999999999999e0
                    ELSE CAST("score" AS DOUBLE)
                  END
                ) - LN(
                  1.0e0 - CASE
                    WHEN CAST("score" AS DOUBLE) < 1e-12
                    THEN 1e-12
                    WHEN CAST("score" AS DOUBLE) > 0.999999999999e0
                    THEN 0.999999999999e0
                    ELSE CAST("score" AS DOUBLE)
                  END
                )
              )
            )
          )
          ELSE 0.0e0
        END
      END
      ELSE CASE
        WHEN (
          TRIM(
            CAST("education" AS TEXT),
            CHR(9) || CHR(10) || CHR(11) || CHR(12) || CHR(13) || CHR(32) || CHR(133) || CHR(160) || CHR(5760) || CHR(8192) || CHR(8193) || CHR(8194) || CHR(8195) || CHR(8196) || CHR(8197) || CHR(8198) || CHR(8199) || CHR(8200) || CHR(8201) || CHR(8202) || CHR(8232) || CHR(8233) || CHR(8239) || CHR(8287) || CHR(12288)
          ) IS NULL
          OR TRIM(
            CAST("education" AS TEXT),
            CHR(9) || CHR(10) || CHR(11) || CHR(12) || CHR(13) || CHR(32) || CHR(133) || CHR(160) || CHR(5760) || CHR(8192) || CHR(8193) || CHR(8194) || CHR(8195) || CHR(8196) || CHR(8197) || CHR(8198) || CHR(8199) || CHR(8200) || CHR(8201) || CHR(8202) || CHR(8232) || CHR(8233) || CHR(8239) || CHR(8287) || CHR(12288)
          ) = ''
        )
        THEN CASE
          WHEN (
            (
              -1.1095612523986085e0
            ) + (
              0.4806133448666283e0 * (
                LN(
                  CASE
                    WHEN CAST("score" AS DOUBLE) < 1e-12
                    THEN 1e-12
                    WHEN CAST("score" AS DOUBLE) > 0.999999999999e0
                    THEN 0.999999999999e0
                    ELSE CAST("score" AS DOUBLE)
                  END
                ) - LN(
                  1.0e0 - CASE
                    WHEN CAST("score" AS DOUBLE) < 1e-12
                    THEN 1e-12
                    WHEN CAST("score" AS DOUBLE) > 0.999999999999e0
                    THEN 0.999999999999e0
                    ELSE CAST("score" AS DOUBLE)
                  END
                )
              )
            )
          ) >= 40.0e0
          THEN 1.0e0
          WHEN (
            (
              -1.1095612523986085e0
            ) + (
              0.4806133448666283e0 * (
                LN(
                  CASE
                    WHEN CAST("score" AS DOUBLE) < 1e-12
                    THEN 1e-12
                    WHEN CAST("score" AS DOUBLE) > 0.999999999999e0
                    THEN 0.999999999999e0
                    ELSE CAST("score" AS DOUBLE)
                  END
                ) - LN(
                  1.0e0 - CASE
                    WHEN CAST("score" AS DOUBLE) < 1e-12
                    THEN 1e-12
                    WHEN CAST("score" AS DOUBLE) > 0.999999999999e0
                    THEN 0.999999999999e0
                    ELSE CAST("score" AS DOUBLE)
                  END
                )
              )
            )
          ) >= (
            -700.0e0
          )
          THEN 1.0e0 / (
            1.0e0 + EXP(
              0.0e0 - (
                (
                  -1.1095612523986085e0
                ) + (
                  0.4806133448666283e0 * (
                    LN(
                      CASE
                        WHEN CAST("score" AS DOUBLE) < 1e-12
                        THEN 1e-12
                        WHEN CAST("score" AS DOUBLE) > 0.999999999999e0
                        THEN 0.999999999999e0
                        ELSE CAST("score" AS DOUBLE)
                      END
                    ) - LN(
                      1.0e0 - CASE
                        WHEN CAST("score" AS DOUBLE) < 1e-12
                        THEN 1e-12
                        WHEN CAST("score" AS DOUBLE) > 0.999999999999e0
                        THEN 0.999999999999e0
                        ELSE CAST("score" AS DOUBLE)
                      END
                    )
                  )
                )
              )
            )
          )
          WHEN (
            (
              -1.1095612523986085e0
            ) + (
              0.4806133448666283e0 * (
                LN(
                  CASE
                    WHEN CAST("score" AS DOUBLE) < 1e-12
                    THEN 1e-12
                    WHEN CAST("score" AS DOUBLE) > 0.999999999999e0
                    THEN 0.999999999999e0
                    ELSE CAST("score" AS DOUBLE)
                  END
                ) - LN(
                  1.0e0 - CASE
                    WHEN CAST("score" AS DOUBLE) < 1e-12
                    THEN 1e-12
                    WHEN CAST("score" AS DOUBLE) > 0.999999999999e0
                    THEN 0.999999999999e0
                    ELSE CAST("score" AS DOUBLE)
                  END
                )
              )
            )
          ) >= (
            -745.0e0
          )
          THEN EXP(
            (
              -1.1095612523986085e0
            ) + (
              0.4806133448666283e0 * (
                LN(
                  CASE
                    WHEN CAST("score" AS DOUBLE) < 1e-12
                    THEN 1e-12
                    WHEN CAST("score" AS DOUBLE) > 0.999999999999e0
                    THEN 0.999999999999e0
                    ELSE CAST("score" AS DOUBLE)
                  END
                ) - LN(
                  1.0e0 - CASE
                    WHEN CAST("score" AS DOUBLE) < 1e-12
                    THEN 1e-12
                    WHEN CAST("score" AS DOUBLE) > 0.999999999999e0
                    THEN 0.999999999999e0
                    ELSE CAST("score" AS DOUBLE)
                  END
                )
              )
            )
          )
          ELSE 0.0e0
        END
        WHEN COALESCE(
          TRIM(
            CAST("education" AS TEXT),
            CHR(9) || CHR(10) || CHR(11) || CHR(12) || CHR(13) || CHR(32) || CHR(133) || CHR(160) || CHR(5760) || CHR(8192) || CHR(8193) || CHR(8194) || CHR(8195) || CHR(8196) || CHR(8197) || CHR(8198) || CHR(8199) || CHR(8200) || CHR(8201) || CHR(8202) || CHR(8232) || CHR(8233) || CHR(8239) || CHR(8287) || CHR(12288)
          ) IN (
            '12th',
            '9th',
            '11th',
            '10th',
            '7th-8th',
            'HS-grad',
            'Some-college',
            'Assoc-acdm',
            'Assoc-voc'
          ),
          FALSE
        )
        THEN CASE
          WHEN (
            (
              -1.1095612523986085e0
            ) + (
              0.4806133448666283e0 * (
                LN(
                  CASE
                    WHEN CAST("score" AS DOUBLE) < 1e-12
                    THEN 1e-12
                    WHEN CAST("score" AS DOUBLE) > 0.999999999999e0
                    THEN 0.999999999999e0
                    ELSE CAST("score" AS DOUBLE)
                  END
                ) - LN(
                  1.0e0 - CASE
                    WHEN CAST("score" AS DOUBLE) < 1e-12
                    THEN 1e-12
                    WHEN CAST("score" AS DOUBLE) > 0.999999999999e0
                    THEN 0.999999999999e0
                    ELSE CAST("score" AS DOUBLE)
                  END
                )
              )
            )
          ) >= 40.0e0
          THEN 1.0e0
          WHEN (
            (
              -1.1095612523986085e0
            ) + (
              0.4806133448666283e0 * (
                LN(
                  CASE
                    WHEN CAST("score" AS DOUBLE) < 1e-12
                    THEN 1e-12
                    WHEN CAST("score" AS DOUBLE) > 0.999999999999e0
                    THEN 0.999999999999e0
                    ELSE CAST("score" AS DOUBLE)
                  END
                ) - LN(
                  1.0e0 - CASE
                    WHEN CAST("score" AS DOUBLE) < 1e-12
                    THEN 1e-12
                    WHEN CAST("score" AS DOUBLE) > 0.999999999999e0
                    THEN 0.999999999999e0
                    ELSE CAST("score" AS DOUBLE)
                  END
                )
              )
            )
          ) >= (
            -700.0e0
          )
          THEN 1.0e0 / (
            1.0e0 + EXP(
              0.0e0 - (
                (
                  -1.1095612523986085e0
                ) + (
                  0.4806133448666283e0 * (
                    LN(
                      CASE
                        WHEN CAST("score" AS DOUBLE) < 1e-12
                        THEN 1e-12
                        WHEN CAST("score" AS DOUBLE) > 0.999999999999e0
                        THEN 0.999999999999e0
                        ELSE CAST("score" AS DOUBLE)
                      END
                    ) - LN(
                      1.0e0 - CASE
                        WHEN CAST("score" AS DOUBLE) < 1e-12
                        THEN 1e-12
                        WHEN CAST("score" AS DOUBLE) > 0.999999999999e0
                        THEN 0.999999999999e0
                        ELSE CAST("score" AS DOUBLE)
                      END
                    )
                  )
                )
              )
            )
          )
          WHEN (
            (
              -1.1095612523986085e0
            ) + (
              0.4806133448666283e0 * (
                LN(
                  CASE
                    WHEN CAST("score" AS DOUBLE) < 1e-12
                    THEN 1e-12
                    WHEN CAST("score" AS DOUBLE) > 0.999999999999e0
                    THEN 0.999999999999e0
                    ELSE CAST("score" AS DOUBLE)
                  END
                ) - LN(
                  1.0e0 - CASE
                    WHEN CAST("score" AS DOUBLE) < 1e-12
                    THEN 1e-12
                    WHEN CAST("score" AS DOUBLE) > 0.999999999999e0
                    THEN 0.999999999999e0
                    ELSE CAST("score" AS DOUBLE)
                  END
                )
              )
            )
          ) >= (
            -745.0e0
          )
          THEN EXP(
            (
              -1.1095612523986085e0
            ) + (
              0.4806133448666283e0 * (
                LN(
                  CASE
                    WHEN CAST("score" AS DOUBLE) < 1e-12
                    THEN 1e-12
                    WHEN CAST("score" AS DOUBLE) > 0.999999999999e0
                    THEN 0.999999999999e0
                    ELSE CAST("score" AS DOUBLE)
                  END
                ) - LN(
                  1.0e0 - CASE
                    WHEN CAST("score" AS DOUBLE) < 1e-12
                    THEN 1e-12
                    WHEN CAST("score" AS DOUBLE) > 0.999999999999e0
                    THEN 0.999999999999e0
                    ELSE CAST("score" AS DOUBLE)
                  END
                )
              )
            )
          )
          ELSE 0.0e0
        END
        ELSE CASE
          WHEN (
            (
              -0.5305365551577674e0
            ) + (
              0.5655520553742037e0 * (
                LN(
                  CASE
                    WHEN CAST("score" AS DOUBLE) < 1e-12
                    THEN 1e-12
                    WHEN CAST("score" AS DOUBLE) > 0.999999999999e0
                    THEN 0.999999999999e0
                    ELSE CAST("score" AS DOUBLE)
                  END
                ) - LN(
                  1.0e0 - CASE
                    WHEN CAST("score" AS DOUBLE) < 1e-12
                    THEN 1e-12
                    WHEN CAST("score" AS DOUBLE) > 0.999999999999e0
                    THEN 0.999999999999e0
                    ELSE CAST("score" AS DOUBLE)
                  END
                )
              )
            )
          ) >= 40.0e0
          THEN 1.0e0
          WHEN (
            (
              -0.5305365551577674e0
            ) + (
              0.5655520553742037e0 * (
                LN(
                  CASE
                    WHEN CAST("score" AS DOUBLE) < 1e-12
                    THEN 1e-12
                    WHEN CAST("score" AS DOUBLE) > 0.999999999999e0
                    THEN 0.999999999999e0
                    ELSE CAST("score" AS DOUBLE)
                  END
                ) - LN(
                  1.0e0 - CASE
                    WHEN CAST("score" AS DOUBLE) < 1e-12
                    THEN 1e-12
                    WHEN CAST("score" AS DOUBLE) > 0.999999999999e0
                    THEN 0.999999999999e0
                    ELSE CAST("score" AS DOUBLE)
                  END
                )
              )
            )
          ) >= (
            -700.0e0
          )
          THEN 1.0e0 / (
            1.0e0 + EXP(
              0.0e0 - (
                (
                  -0.5305365551577674e0
                ) + (
                  0.5655520553742037e0 * (
                    LN(
                      CASE
                        WHEN CAST("score" AS DOUBLE) < 1e-12
                        THEN 1e-12
                        WHEN CAST("score" AS DOUBLE) > 0.999999999999e0
                        THEN 0.999999999999e0
                        ELSE CAST("score" AS DOUBLE)
                      END
                    ) - LN(
                      1.0e0 - CASE
                        WHEN CAST("score" AS DOUBLE) < 1e-12
                        THEN 1e-12
                        WHEN CAST("score" AS DOUBLE) > 0.999999999999e0
                        THEN 0.999999999999e0
                        ELSE CAST("score" AS DOUBLE)
                      END
                    )
                  )
                )
              )
            )
          )
          WHEN (
            (
              -0.5305365551577674e0
            ) + (
              0.5655520553742037e0 * (
                LN(
                  CASE
                    WHEN CAST("score" AS DOUBLE) < 1e-12
                    THEN 1e-12
                    WHEN CAST("score" AS DOUBLE) > 0.999999999999e0
                    THEN 0.999999999999e0
                    ELSE CAST("score" AS DOUBLE)
                  END
                ) - LN(
                  1.0e0 - CASE
                    WHEN CAST("score" AS DOUBLE) < 1e-12
                    THEN 1e-12
                    WHEN CAST("score" AS DOUBLE) > 0.999999999999e0
                    THEN 0.999999999999e0
                    ELSE CAST("score" AS DOUBLE)
                  END
                )
              )
            )
          ) >= (
            -745.0e0
          )
          THEN EXP(
            (
              -0.5305365551577674e0
            ) + (
              0.5655520553742037e0 * (
                LN(
                  CASE
                    WHEN CAST("score" AS DOUBLE) < 1e-12
                    THEN 1e-12
                    WHEN CAST("score" AS DOUBLE) > 0.999999999999e0
                    THEN 0.999999999999e0
                    ELSE CAST("score" AS DOUBLE)
                  END
                ) - LN(
                  1.0e0 - CASE
                    WHEN CAST("score" AS DOUBLE) < 1e-12
                    THEN 1e-12
                    WHEN CAST("score" AS DOUBLE) > 0.999999999999e0
                    THEN 0.999999999999e0
                    ELSE CAST("score" AS DOUBLE)
                  END
                )
              )
            )
          )
          ELSE 0.0e0
        END
      END
    END
  ) / 1.0e0 AS DOUBLE)
END AS "calibrated",
CASE
  WHEN (
    ISFINITE(CAST("score" AS DOUBLE))
    AND CAST("score" AS DOUBLE) >= 0.0e0
    AND CAST("score" AS DOUBLE) <= 1.0e0
  )
  AND (
    (
      CAST("age" AS DOUBLE) IS NULL OR ISNAN(CAST("age" AS DOUBLE))
    )
    OR NOT (
      CAST("age" AS DOUBLE) = CAST('inf' AS DOUBLE)
      OR CAST("age" AS DOUBLE) = CAST('-inf' AS DOUBLE)
    )
  )
  AND (
    (
      CAST("hours_per_week" AS DOUBLE) IS NULL
      OR ISNAN(CAST("hours_per_week" AS DOUBLE))
    )
    OR NOT (
      CAST("hours_per_week" AS DOUBLE) = CAST('inf' AS DOUBLE)
      OR CAST("hours_per_week" AS DOUBLE) = CAST('-inf' AS DOUBLE)
    )
  )
  THEN CASE
    WHEN (
      CAST("age" AS DOUBLE) IS NULL OR ISNAN(CAST("age" AS DOUBLE))
    )
    THEN CASE
      WHEN (
        TRIM(
          CAST("education" AS TEXT),
          CHR(9) || CHR(10) || CHR(11) || CHR(12) || CHR(13) || CHR(32) || CHR(133) || CHR(160) || CHR(5760) || CHR(8192) || CHR(8193) || CHR(8194) || CHR(8195) || CHR(8196) || CHR(8197) || CHR(8198) || CHR(8199) || CHR(8200) || CHR(8201) || CHR(8202) || CHR(8232) || CHR(8233) || CHR(8239) || CHR(8287) || CHR(12288)
        ) IS NULL
        OR TRIM(
          CAST("education" AS TEXT),
          CHR(9) || CHR(10) || CHR(11) || CHR(12) || CHR(13) || CHR(32) || CHR(133) || CHR(160) || CHR(5760) || CHR(8192) || CHR(8193) || CHR(8194) || CHR(8195) || CHR(8196) || CHR(8197) || CHR(8198) || CHR(8199) || CHR(8200) || CHR(8201) || CHR(8202) || CHR(8232) || CHR(8233) || CHR(8239) || CHR(8287) || CHR(12288)
        ) = ''
      )
      THEN 2
      WHEN COALESCE(
        TRIM(
          CAST("education" AS TEXT),
          CHR(9) || CHR(10) || CHR(11) || CHR(12) || CHR(13) || CHR(32) || CHR(133) || CHR(160) || CHR(5760) || CHR(8192) || CHR(8193) || CHR(8194) || CHR(8195) || CHR(8196) || CHR(8197) || CHR(8198) || CHR(8199) || CHR(8200) || CHR(8201) || CHR(8202) || CHR(8232) || CHR(8233) || CHR(8239) || CHR(8287) || CHR(12288)
        ) IN (
          '12th',
          '9th',
          '11th',
          '10th',
          '7th-8th',
          'HS-grad',
          'Some-college',
          'Assoc-acdm',
          'Assoc-voc'
        ),
        FALSE
      )
      THEN 2
      ELSE 3
    END
    WHEN CAST("age" AS DOUBLE) <= 33.5e0
    THEN CASE
      WHEN (
        CAST("age" AS DOUBLE) IS NULL OR ISNAN(CAST("age" AS DOUBLE))
      )
      THEN 0
      WHEN CAST("age" AS DOUBLE) <= 26.5e0
      THEN 0
      ELSE 1
    END
    ELSE CASE
      WHEN (
        TRIM(
          CAST("education" AS TEXT),
          CHR(9) || CHR(10) || CHR(11) || CHR(12) || CHR(13) || CHR(32) || CHR(133) || CHR(160) || CHR(5760) || CHR(8192) || CHR(8193) || CHR(8194) || CHR(8195) || CHR(8196) || CHR(8197) || CHR(8198) || CHR(8199) || CHR(8200) || CHR(8201) || CHR(8202) || CHR(8232) || CHR(8233) || CHR(8239) || CHR(8287) || CHR(12288)
        ) IS NULL
        OR TRIM(
          CAST("education" AS TEXT),
          CHR(9) || CHR(10) || CHR(11) || CHR(12) || CHR(13) || CHR(32) || CHR(133) || CHR(160) || CHR(5760) || CHR(8192) || CHR(8193) || CHR(8194) || CHR(8195) || CHR(8196) || CHR(8197) || CHR(8198) || CHR(8199) || CHR(8200) || CHR(8201) || CHR(8202) || CHR(8232) || CHR(8233) || CHR(8239) || CHR(8287) || CHR(12288)
        ) = ''
      )
      THEN 2
      WHEN COALESCE(
        TRIM(
          CAST("education" AS TEXT),
          CHR(9) || CHR(10) || CHR(11) || CHR(12) || CHR(13) || CHR(32) || CHR(133) || CHR(160) || CHR(5760) || CHR(8192) || CHR(8193) || CHR(8194) || CHR(8195) || CHR(8196) || CHR(8197) || CHR(8198) || CHR(8199) || CHR(8200) || CHR(8201) || CHR(8202) || CHR(8232) || CHR(8233) || CHR(8239) || CHR(8287) || CHR(12288)
        ) IN (
          '12th',
          '9th',
          '11th',
          '10th',
          '7th-8th',
          'HS-grad',
          'Some-college',
          'Assoc-acdm',
          'Assoc-voc'
        ),
        FALSE
      )
      THEN 2
      ELSE 3
    END
  END
END AS "leaf"
