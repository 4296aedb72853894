-- uqcli export. kind: calibrator, version: 0.5.0, digest: 11473e5c523ddfc496e0e0c696d57f81eb1fe167a2b58a8dfab8a1ef368602cf
-- Null for rows whose numbers are null, NaN, infinite or out of their range.
LIST_TRANSFORM(LIST_TRANSFORM(LIST_TRANSFORM(LIST_TRANSFORM(LIST_TRANSFORM([{'uqcli_score': TRY_CAST("score" AS DOUBLE)}], LAMBDA uqcli_row:
STRUCT_INSERT(uqcli_row, uqcli_usable := ISFINITE(uqcli_row.uqcli_score) AND uqcli_row.uqcli_score >= 0.0e0 AND uqcli_row.uqcli_score <= 1.0e0)), LAMBDA uqcli_row:
STRUCT_INSERT(uqcli_row, uqcli_clipped := CASE WHEN uqcli_row.uqcli_usable THEN CASE
  WHEN uqcli_row.uqcli_score < 1e-12 THEN 1e-12
  WHEN uqcli_row.uqcli_score > 0.999999999999e0 THEN 0.999999999999e0
  ELSE uqcli_row.uqcli_score
END END)), LAMBDA uqcli_row:
STRUCT_INSERT(uqcli_row, uqcli_log_odds := LN(uqcli_row.uqcli_clipped) - LN(1.0e0 - uqcli_row.uqcli_clipped))), LAMBDA uqcli_row:
STRUCT_INSERT(uqcli_row, uqcli_log_odds_2 := CASE
  WHEN uqcli_row.uqcli_log_odds < -1.4942511172695916e0 THEN CASE
    WHEN uqcli_row.uqcli_log_odds < -4.31454672641927e0 THEN CASE
      WHEN uqcli_row.uqcli_log_odds < -5.607445784320051e0 THEN 7.224565356750341e0 * (uqcli_row.uqcli_log_odds - (-5.607445784320051e0)) + (-10.114719197672297e0)
      ELSE ((0.7474578072392736e0 * (uqcli_row.uqcli_log_odds - (-5.607445784320051e0)) + (-3.4589767420162327e0)) * (uqcli_row.uqcli_log_odds - (-5.607445784320051e0)) + 7.224565356750341e0) * (uqcli_row.uqcli_log_odds - (-5.607445784320051e0)) + (-10.114719197672297e0)
    END
    ELSE CASE
      WHEN uqcli_row.uqcli_log_odds < -2.8133532057278714e0 THEN ((0.06803232424783658e0 * (uqcli_row.uqcli_log_odds - (-4.31454672641927e0)) + (-0.5598142576155112e0)) * (uqcli_row.uqcli_log_odds - (-4.31454672641927e0)) + 2.0286742594263205e0) * (uqcli_row.uqcli_log_odds - (-4.31454672641927e0)) + (-4.940667663757531e0)
      ELSE ((0.11873902347276248e0 * (uqcli_row.uqcli_log_odds - (-2.8133532057278714e0)) + (-0.2534252045402255e0)) * (uqcli_row.uqcli_log_odds - (-2.8133532057278714e0)) + 0.8078444480675713e0) * (uqcli_row.uqcli_log_odds - (-2.8133532057278714e0)) + (-2.926664719734551e0)
    END
  END
  ELSE CASE
    WHEN uqcli_row.uqcli_log_odds < 1.964993245190581e0 THEN CASE
      WHEN uqcli_row.uqcli_log_odds < 0.18888510802669034e0 THEN (((-0.09052926706264741e0) * (uqcli_row.uqcli_log_odds - (-1.4942511172695916e0)) + 0.2164614769930276e0) * (uqcli_row.uqcli_log_odds - (-1.4942511172695916e0)) + 0.7590855178628597e0) * (uqcli_row.uqcli_log_odds - (-1.4942511172695916e0)) + (-2.0294639365922573e0)
      ELSE ((0.032605973250214124e0 * (uqcli_row.uqcli_log_odds - 0.18888510802669034e0) + (-0.24065778953496256e0)) * (uqcli_row.uqcli_log_odds - 0.18888510802669034e0) + 0.7183598277049382e0) * (uqcli_row.uqcli_log_odds - 0.18888510802669034e0) + (-0.5702605609993149e0)
    END
    ELSE CASE
      WHEN uqcli_row.uqcli_log_odds < 4.536080658903538e0 THEN ((0.2339863369168466e0 * (uqcli_row.uqcli_log_odds - 1.964993245190581e0) + (-0.06692258630540217e0)) * (uqcli_row.uqcli_log_odds - 1.964993245190581e0) + 0.1720638193429386e0) * (uqcli_row.uqcli_log_odds - 1.964993245190581e0) + 0.1291407577461295e0
      ELSE 4.46822954485849e0 * (uqcli_row.uqcli_log_odds - 4.536080658903538e0) + 4.106007379290812e0
    END
  END
END)), LAMBDA uqcli_row:
CASE WHEN uqcli_row.uqcli_usable THEN CAST(CASE
  WHEN uqcli_row.uqcli_log_odds_2 >= 40.0e0 THEN 1.0e0
  WHEN uqcli_row.uqcli_log_odds_2 >= -700.0e0 THEN 1.0e0 / (1.0e0 + EXP(0.0e0 - uqcli_row.uqcli_log_odds_2))
  WHEN uqcli_row.uqcli_log_odds_2 >= -745.0e0 THEN EXP(uqcli_row.uqcli_log_odds_2)
  ELSE 0.0e0
END AS DOUBLE) END)[1]
