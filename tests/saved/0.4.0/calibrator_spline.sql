-- uqcli export. rule: Calibrator (spline)
-- uqcli export. kind: calibrator
-- uqcli export. digest: f2ba0474ce34bea4804b7ac2edd625e42a08c6c81116bae5cf9113ace8d95b1a
-- uqcli export. version: 0.4.0
-- Null for rows whose numbers are null, NaN, infinite or out of their range.
CASE
  WHEN ISFINITE(CAST("score" AS DOUBLE))
  AND CAST("score" AS DOUBLE) >= 0.0e0
  AND CAST("score" AS DOUBLE) <= 1.0e0
  THEN CAST(CASE
    WHEN CASE
      WHEN LN(
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
      ) < -1.4942511172695916e0
      THEN CASE
        WHEN LN(
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
        ) < -4.31454672641927e0
        THEN CASE
          WHEN LN(
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
          ) < -5.607445784320051e0
          THEN (
            7.224565356750341e0 * (
              (
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
              ) - (
                -5.607445784320051e0
              )
            )
          ) + (
            -10.114719197672297e0
          )
          ELSE (
            (
              (
                (
                  (
                    0.7474578072392736e0 * (
                      (
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
                      ) - (
                        -5.607445784320051e0
                      )
                    )
                  ) + (
                    -3.4589767420162327e0
                  )
                ) * (
                  (
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
                  ) - (
                    -5.607445784320051e0
                  )
                )
              ) + 7.224565356750341e0
            ) * (
              (
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
              ) - (
                -5.607445784320051e0
              )
            )
          ) + (
            -10.114719197672297e0
          )
        END
        ELSE CASE
          WHEN LN(
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
          ) < -2.8133532057278714e0
          THEN (
            (
              (
                (
                  (
                    0.06803232424783658e0 * (
                      (
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
                      ) - (
                        -4.31454672641927e0
                      )
                    )
                  ) + (
                    -0.5598142576155112e0
                  )
                ) * (
                  (
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
                  ) - (
                    -4.31454672641927e0
                  )
                )
              ) + 2.0286742594263205e0
            ) * (
              (
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
              ) - (
                -4.31454672641927e0
              )
            )
          ) + (
            -4.940667663757531e0
          )
          ELSE (
            (
              (
                (
                  (
                    0.11873902347276248e0 * (
                      (
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
                      ) - (
                        -2.8133532057278714e0
                      )
                    )
                  ) + (
                    -0.2534252045402255e0
                  )
                ) * (
                  (
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
                  ) - (
                    -2.8133532057278714e0
                  )
                )
              ) + 0.8078444480675713e0
            ) * (
              (
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
              ) - (
                -2.8133532057278714e0
              )
            )
          ) + (
            -2.926664719734551e0
          )
        END
      END
      ELSE CASE
        WHEN LN(
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
        ) < 1.964993245190581e0
        THEN CASE
          WHEN LN(
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
          ) < 0.18888510802669034e0
          THEN (
            (
              (
                (
                  (
                    (
                      -0.09052926706264741e0
                    ) * (
                      (
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
                      ) - (
                        -1.4942511172695916e0
                      )
                    )
                  ) + 0.2164614769930276e0
                ) * (
                  (
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
                  ) - (
                    -1.4942511172695916e0
                  )
                )
              ) + 0.7590855178628597e0
            ) * (
              (
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
              ) - (
                -1.4942511172695916e0
              )
            )
          ) + (
            -2.0294639365922573e0
          )
          ELSE (
            (
              (
                (
                  (
                    0.032605973250214124e0 * (
                      (
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
                      ) - 0.18888510802669034e0
                    )
                  ) + (
                    -0.24065778953496256e0
                  )
                ) * (
                  (
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
                  ) - 0.18888510802669034e0
                )
              ) + 0.7183598277049382e0
            ) * (
              (
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
              ) - 0.18888510802669034e0
            )
          ) + (
            -0.5702605609993149e0
          )
        END
        ELSE CASE
          WHEN LN(
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
          ) < 4.536080658903538e0
          THEN (
            (
              (
                (
                  (
                    0.2339863369168466e0 * (
                      (
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
                      ) - 1.964993245190581e0
                    )
                  ) + (
                    -0.06692258630540217e0
                  )
                ) * (
                  (
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
                  ) - 1.964993245190581e0
                )
              ) + 0.1720638193429386e0
            ) * (
              (
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
              ) - 1.964993245190581e0
            )
          ) + 0.1291407577461295e0
          ELSE (
            4.46822954485849e0 * (
              (
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
              ) - 4.536080658903538e0
            )
          ) + 4.106007379290812e0
        END
      END
    END >= 40.0e0
    THEN 1.0e0
    WHEN CASE
      WHEN LN(
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
      ) < -1.4942511172695916e0
      THEN CASE
        WHEN LN(
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
        ) < -4.31454672641927e0
        THEN CASE
          WHEN LN(
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
          ) < -5.607445784320051e0
          THEN (
            7.224565356750341e0 * (
              (
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
              ) - (
                -5.607445784320051e0
              )
            )
          ) + (
            -10.114719197672297e0
          )
          ELSE (
            (
              (
                (
                  (
                    0.7474578072392736e0 * (
                      (
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
                      ) - (
                        -5.607445784320051e0
                      )
                    )
                  ) + (
                    -3.4589767420162327e0
                  )
                ) * (
                  (
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
                  ) - (
                    -5.607445784320051e0
                  )
                )
              ) + 7.224565356750341e0
            ) * (
              (
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
              ) - (
                -5.607445784320051e0
              )
            )
          ) + (
            -10.114719197672297e0
          )
        END
        ELSE CASE
          WHEN LN(
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
          ) < -2.8133532057278714e0
          THEN (
            (
              (
                (
                  (
                    0.06803232424783658e0 * (
                      (
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
                      ) - (
                        -4.31454672641927e0
                      )
                    )
                  ) + (
                    -0.5598142576155112e0
                  )
                ) * (
                  (
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
                  ) - (
                    -4.31454672641927e0
                  )
                )
              ) + 2.0286742594263205e0
            ) * (
              (
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
              ) - (
                -4.31454672641927e0
              )
            )
          ) + (
            -4.940667663757531e0
          )
          ELSE (
            (
              (
                (
                  (
                    0.11873902347276248e0 * (
                      (
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
                      ) - (
                        -2.8133532057278714e0
                      )
                    )
                  ) + (
                    -0.2534252045402255e0
                  )
                ) * (
                  (
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
                  ) - (
                    -2.8133532057278714e0
                  )
                )
              ) + 0.8078444480675713e0
            ) * (
              (
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
              ) - (
                -2.8133532057278714e0
              )
            )
          ) + (
            -2.926664719734551e0
          )
        END
      END
      ELSE CASE
        WHEN LN(
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
        ) < 1.964993245190581e0
        THEN CASE
          WHEN LN(
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
          ) < 0.18888510802669034e0
          THEN (
            (
              (
                (
                  (
                    (
                      -0.09052926706264741e0
                    ) * (
                      (
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
                      ) - (
                        -1.4942511172695916e0
                      )
                    )
                  ) + 0.2164614769930276e0
                ) * (
                  (
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
                  ) - (
                    -1.4942511172695916e0
                  )
                )
              ) + 0.7590855178628597e0
            ) * (
              (
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
              ) - (
                -1.4942511172695916e0
              )
            )
          ) + (
            -2.0294639365922573e0
          )
          ELSE (
            (
              (
                (
                  (
                    0.032605973250214124e0 * (
                      (
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
                      ) - 0.18888510802669034e0
                    )
                  ) + (
                    -0.24065778953496256e0
                  )
                ) * (
                  (
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
                  ) - 0.18888510802669034e0
                )
              ) + 0.7183598277049382e0
            ) * (
              (
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
              ) - 0.18888510802669034e0
            )
          ) + (
            -0.5702605609993149e0
          )
        END
        ELSE CASE
          WHEN LN(
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
          ) < 4.536080658903538e0
          THEN (
            (
              (
                (
                  (
                    0.2339863369168466e0 * (
                      (
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
                      ) - 1.964993245190581e0
                    )
                  ) + (
                    -0.06692258630540217e0
                  )
                ) * (
                  (
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
                  ) - 1.964993245190581e0
                )
              ) + 0.1720638193429386e0
            ) * (
              (
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
              ) - 1.964993245190581e0
            )
          ) + 0.1291407577461295e0
          ELSE (
            4.46822954485849e0 * (
              (
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
              ) - 4.536080658903538e0
            )
          ) + 4.106007379290812e0
        END
      END
    END >= (
      -700.0e0
    )
    THEN 1.0e0 / (
      1.0e0 + EXP(
        0.0e0 - CASE
          WHEN LN(
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
          ) < -1.4942511172695916e0
          THEN CASE
            WHEN LN(
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
            ) < -4.31454672641927e0
            THEN CASE
              WHEN LN(
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
              ) < -5.607445784320051e0
              THEN (
                7.224565356750341e0 * (
                  (
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
                  ) - (
                    -5.607445784320051e0
                  )
                )
              ) + (
                -10.114719197672297e0
              )
              ELSE (
                (
                  (
                    (
                      (
                        0.7474578072392736e0 * (
                          (
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
                          ) - (
                            -5.607445784320051e0
                          )
                        )
                      ) + (
                        -3.4589767420162327e0
                      )
                    ) * (
                      (
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
                      ) - (
                        -5.607445784320051e0
                      )
                    )
                  ) + 7.224565356750341e0
                ) * (
                  (
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
                  ) - (
                    -5.607445784320051e0
                  )
                )
              ) + (
                -10.114719197672297e0
              )
            END
            ELSE CASE
              WHEN LN(
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
              ) < -2.8133532057278714e0
              THEN (
                (
                  (
                    (
                      (
                        0.06803232424783658e0 * (
                          (
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
                          ) - (
                            -4.31454672641927e0
                          )
                        )
                      ) + (
                        -0.5598142576155112e0
                      )
                    ) * (
                      (
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
                      ) - (
                        -4.31454672641927e0
                      )
                    )
                  ) + 2.0286742594263205e0
                ) * (
                  (
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
                  ) - (
                    -4.31454672641927e0
                  )
                )
              ) + (
                -4.940667663757531e0
              )
              ELSE (
                (
                  (
                    (
                      (
                        0.11873902347276248e0 * (
                          (
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
                          ) - (
                            -2.8133532057278714e0
                          )
                        )
                      ) + (
                        -0.2534252045402255e0
                      )
                    ) * (
                      (
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
                      ) - (
                        -2.8133532057278714e0
                      )
                    )
                  ) + 0.8078444480675713e0
                ) * (
                  (
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
                  ) - (
                    -2.8133532057278714e0
                  )
                )
              ) + (
                -2.926664719734551e0
              )
            END
          END
          ELSE CASE
            WHEN LN(
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
            ) < 1.964993245190581e0
            THEN CASE
              WHEN LN(
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
              ) < 0.18888510802669034e0
              THEN (
                (
                  (
                    (
                      (
                        (
                          -0.09052926706264741e0
                        ) * (
                          (
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
                          ) - (
                            -1.4942511172695916e0
                          )
                        )
                      ) + 0.2164614769930276e0
                    ) * (
                      (
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
                      ) - (
                        -1.4942511172695916e0
                      )
                    )
                  ) + 0.7590855178628597e0
                ) * (
                  (
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
                  ) - (
                    -1.4942511172695916e0
                  )
                )
              ) + (
                -2.0294639365922573e0
              )
              ELSE (
                (
                  (
                    (
                      (
                        0.032605973250214124e0 * (
                          (
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
                          ) - 0.18888510802669034e0
                        )
                      ) + (
                        -0.24065778953496256e0
                      )
                    ) * (
                      (
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
                      ) - 0.18888510802669034e0
                    )
                  ) + 0.7183598277049382e0
                ) * (
                  (
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
                  ) - 0.18888510802669034e0
                )
              ) + (
                -0.5702605609993149e0
              )
            END
            ELSE CASE
              WHEN LN(
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
              ) < 4.536080658903538e0
              THEN (
                (
                  (
                    (
                      (
                        0.2339863369168466e0 * (
                          (
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
                          ) - 1.964993245190581e0
                        )
                      ) + (
                        -0.06692258630540217e0
                      )
                    ) * (
                      (
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
                      ) - 1.964993245190581e0
                    )
                  ) + 0.1720638193429386e0
                ) * (
                  (
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
                  ) - 1.964993245190581e0
                )
              ) + 0.1291407577461295e0
              ELSE (
                4.46822954485849e0 * (
                  (
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
                  ) - 4.536080658903538e0
                )
              ) + 4.106007379290812e0
            END
          END
        END
      )
    )
    WHEN CASE
      WHEN LN(
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
      ) < -1.4942511172695916e0
      THEN CASE
        WHEN LN(
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
        ) < -4.31454672641927e0
        THEN CASE
          WHEN LN(
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
          ) < -5.607445784320051e0
          THEN (
            7.224565356750341e0 * (
              (
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
              ) - (
                -5.607445784320051e0
              )
            )
          ) + (
            -10.114719197672297e0
          )
          ELSE (
            (
              (
                (
                  (
                    0.7474578072392736e0 * (
                      (
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
                      ) - (
                        -5.607445784320051e0
                      )
                    )
                  ) + (
                    -3.4589767420162327e0
                  )
                ) * (
                  (
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
                  ) - (
                    -5.607445784320051e0
                  )
                )
              ) + 7.224565356750341e0
            ) * (
              (
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
              ) - (
                -5.607445784320051e0
              )
            )
          ) + (
            -10.114719197672297e0
          )
        END
        ELSE CASE
          WHEN LN(
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
          ) < -2.8133532057278714e0
          THEN (
            (
              (
                (
                  (
                    0.06803232424783658e0 * (
                      (
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
                      ) - (
                        -4.31454672641927e0
                      )
                    )
                  ) + (
                    -0.5598142576155112e0
                  )
                ) * (
                  (
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
                  ) - (
                    -4.31454672641927e0
                  )
                )
              ) + 2.0286742594263205e0
            ) * (
              (
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
              ) - (
                -4.31454672641927e0
              )
            )
          ) + (
            -4.940667663757531e0
          )
          ELSE (
            (
              (
                (
                  (
                    0.11873902347276248e0 * (
                      (
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
                      ) - (
                        -2.8133532057278714e0
                      )
                    )
                  ) + (
                    -0.2534252045402255e0
                  )
                ) * (
                  (
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
                  ) - (
                    -2.8133532057278714e0
                  )
                )
              ) + 0.8078444480675713e0
            ) * (
              (
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
              ) - (
                -2.8133532057278714e0
              )
            )
          ) + (
            -2.926664719734551e0
          )
        END
      END
      ELSE CASE
        WHEN LN(
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
        ) < 1.964993245190581e0
        THEN CASE
          WHEN LN(
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
          ) < 0.18888510802669034e0
          THEN (
            (
              (
                (
                  (
                    (
                      -0.09052926706264741e0
                    ) * (
                      (
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
                      ) - (
                        -1.4942511172695916e0
                      )
                    )
                  ) + 0.2164614769930276e0
                ) * (
                  (
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
                  ) - (
                    -1.4942511172695916e0
                  )
                )
              ) + 0.7590855178628597e0
            ) * (
              (
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
              ) - (
                -1.4942511172695916e0
              )
            )
          ) + (
            -2.0294639365922573e0
          )
          ELSE (
            (
              (
                (
                  (
                    0.032605973250214124e0 * (
                      (
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
                      ) - 0.18888510802669034e0
                    )
                  ) + (
                    -0.24065778953496256e0
                  )
                ) * (
                  (
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
                  ) - 0.18888510802669034e0
                )
              ) + 0.7183598277049382e0
            ) * (
              (
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
              ) - 0.18888510802669034e0
            )
          ) + (
            -0.5702605609993149e0
          )
        END
        ELSE CASE
          WHEN LN(
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
          ) < 4.536080658903538e0
          THEN (
            (
              (
                (
                  (
                    0.2339863369168466e0 * (
                      (
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
                      ) - 1.964993245190581e0
                    )
                  ) + (
                    -0.06692258630540217e0
                  )
                ) * (
                  (
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
                  ) - 1.964993245190581e0
                )
              ) + 0.1720638193429386e0
            ) * (
              (
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
              ) - 1.964993245190581e0
            )
          ) + 0.1291407577461295e0
          ELSE (
            4.46822954485849e0 * (
              (
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
              ) - 4.536080658903538e0
            )
          ) + 4.106007379290812e0
        END
      END
    END >= (
      -745.0e0
    )
    THEN EXP(
      CASE
        WHEN LN(
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
        ) < -1.4942511172695916e0
        THEN CASE
          WHEN LN(
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
          ) < -4.31454672641927e0
          THEN CASE
            WHEN LN(
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
            ) < -5.607445784320051e0
            THEN (
              7.224565356750341e0 * (
                (
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
                ) - (
                  -5.607445784320051e0
                )
              )
            ) + (
              -10.114719197672297e0
            )
            ELSE (
              (
                (
                  (
                    (
                      0.7474578072392736e0 * (
                        (
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
                        ) - (
                          -5.607445784320051e0
                        )
                      )
                    ) + (
                      -3.4589767420162327e0
                    )
                  ) * (
                    (
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
                    ) - (
                      -5.607445784320051e0
                    )
                  )
                ) + 7.224565356750341e0
              ) * (
                (
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
                ) - (
                  -5.607445784320051e0
                )
              )
            ) + (
              -10.114719197672297e0
            )
          END
          ELSE CASE
            WHEN LN(
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
            ) < -2.8133532057278714e0
            THEN (
              (
                (
                  (
                    (
                      0.06803232424783658e0 * (
                        (
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
                        ) - (
                          -4.31454672641927e0
                        )
                      )
                    ) + (
                      -0.5598142576155112e0
                    )
                  ) * (
                    (
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
                    ) - (
                      -4.31454672641927e0
                    )
                  )
                ) + 2.0286742594263205e0
              ) * (
                (
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
                ) - (
                  -4.31454672641927e0
                )
              )
            ) + (
              -4.940667663757531e0
            )
            ELSE (
              (
                (
                  (
                    (
                      0.11873902347276248e0 * (
                        (
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
                        ) - (
                          -2.8133532057278714e0
                        )
                      )
                    ) + (
                      -0.2534252045402255e0
                    )
                  ) * (
                    (
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
                    ) - (
                      -2.8133532057278714e0
                    )
                  )
                ) + 0.8078444480675713e0
              ) * (
                (
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
                ) - (
                  -2.8133532057278714e0
                )
              )
            ) + (
              -2.926664719734551e0
            )
          END
        END
        ELSE CASE
          WHEN LN(
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
          ) < 1.964993245190581e0
          THEN CASE
            WHEN LN(
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
            ) < 0.18888510802669034e0
            THEN (
              (
                (
                  (
                    (
                      (
                        -0.09052926706264741e0
                      ) * (
                        (
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
                        ) - (
                          -1.4942511172695916e0
                        )
                      )
                    ) + 0.2164614769930276e0
                  ) * (
                    (
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
                    ) - (
                      -1.4942511172695916e0
                    )
                  )
                ) + 0.7590855178628597e0
              ) * (
                (
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
                ) - (
                  -1.4942511172695916e0
                )
              )
            ) + (
              -2.0294639365922573e0
            )
            ELSE (
              (
                (
                  (
                    (
                      0.032605973250214124e0 * (
                        (
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
                        ) - 0.18888510802669034e0
                      )
                    ) + (
                      -0.24065778953496256e0
                    )
                  ) * (
                    (
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
                    ) - 0.18888510802669034e0
                  )
                ) + 0.7183598277049382e0
              ) * (
                (
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
                ) - 0.18888510802669034e0
              )
            ) + (
              -0.5702605609993149e0
            )
          END
          ELSE CASE
            WHEN LN(
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
            ) < 4.536080658903538e0
            THEN (
              (
                (
                  (
                    (
                      0.2339863369168466e0 * (
                        (
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
                        ) - 1.964993245190581e0
                      )
                    ) + (
                      -0.06692258630540217e0
                    )
                  ) * (
                    (
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
                    ) - 1.964993245190581e0
                  )
                ) + 0.1720638193429386e0
              ) * (
                (
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
                ) - 1.964993245190581e0
              )
            ) + 0.1291407577461295e0
            ELSE (
              4.46822954485849e0 * (
                (
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
                ) - 4.536080658903538e0
              )
            ) + 4.106007379290812e0
          END
        END
      END
    )
    ELSE 0.0e0
  END AS DOUBLE)
END
