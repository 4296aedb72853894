-- uqcli export. rule: Calibrator (isotonic)
-- uqcli export. kind: calibrator
-- uqcli export. digest: 0eb718a808e645321b0130448465557ec88fe3efb2f6ab3e127bf088a80f1d60
-- uqcli export. version: 0.4.0
-- Null for rows whose numbers are null, NaN, infinite or out of their range.
CASE
  WHEN ISFINITE(CAST("score" AS DOUBLE))
  AND CAST("score" AS DOUBLE) >= 0.0e0
  AND CAST("score" AS DOUBLE) <= 1.0e0
  THEN CAST(CASE
    WHEN CAST("score" AS DOUBLE) < 0.3785437116005635e0
    THEN CASE
      WHEN CAST("score" AS DOUBLE) < 0.10495439846815946e0
      THEN CASE
        WHEN CAST("score" AS DOUBLE) < 0.05920500890336813e0
        THEN CASE
          WHEN CAST("score" AS DOUBLE) < 0.017136673978133236e0
          THEN CASE
            WHEN CAST("score" AS DOUBLE) < 0.015092589687015434e0
            THEN CASE
              WHEN CAST("score" AS DOUBLE) < 0.015091539240555724e0
              THEN 0.0e0
              ELSE 14423.881399624534e0 * (
                CAST("score" AS DOUBLE) - 0.015091539240555724e0
              ) + 0.0e0
            END
            ELSE CASE
              WHEN CAST("score" AS DOUBLE) < 0.01705989793122844e0
              THEN 0.015151515151515152e0
              ELSE 22.17380942868199e0 * (
                CAST("score" AS DOUBLE) - 0.01705989793122844e0
              ) + 0.015151515151515152e0
            END
          END
          ELSE CASE
            WHEN CAST("score" AS DOUBLE) < 0.023180402765367907e0
            THEN CASE
              WHEN CAST("score" AS DOUBLE) < 0.02317596854321015e0
              THEN 0.016853932584269662e0
              ELSE 2191.1657511134904e0 * (
                CAST("score" AS DOUBLE) - 0.02317596854321015e0
              ) + 0.016853932584269662e0
            END
            ELSE 0.026570048309178744e0
          END
        END
        ELSE CASE
          WHEN CAST("score" AS DOUBLE) < 0.0663448032705661e0
          THEN CASE
            WHEN CAST("score" AS DOUBLE) < 0.06620401113520093e0
            THEN CASE
              WHEN CAST("score" AS DOUBLE) < 0.059323080929653424e0
              THEN 203.79817167771202e0 * (
                CAST("score" AS DOUBLE) - 0.05920500890336813e0
              ) + 0.026570048309178744e0
              ELSE 0.05063291139240506e0
            END
            ELSE 81.78000307402048e0 * (
              CAST("score" AS DOUBLE) - 0.06620401113520093e0
            ) + 0.05063291139240506e0
          END
          ELSE CASE
            WHEN CAST("score" AS DOUBLE) < 0.08874376605194245e0
            THEN CASE
              WHEN CAST("score" AS DOUBLE) < 0.08855547404841649e0
              THEN 0.062146892655367235e0
              ELSE 94.81606765191691e0 * (
                CAST("score" AS DOUBLE) - 0.08855547404841649e0
              ) + 0.062146892655367235e0
            END
            ELSE 0.08e0
          END
        END
      END
      ELSE CASE
        WHEN CAST("score" AS DOUBLE) < 0.36698875822210697e0
        THEN CASE
          WHEN CAST("score" AS DOUBLE) < 0.2160935482431163e0
          THEN CASE
            WHEN CAST("score" AS DOUBLE) < 0.13912681348101882e0
            THEN CASE
              WHEN CAST("score" AS DOUBLE) < 0.10502229371892347e0
              THEN 377.5492766939044e0 * (
                CAST("score" AS DOUBLE) - 0.10495439846815946e0
              ) + 0.08e0
              ELSE 0.1056338028169014e0
            END
            ELSE CASE
              WHEN CAST("score" AS DOUBLE) < 0.13932982556053727e0
              THEN 141.961890957747e0 * (
                CAST("score" AS DOUBLE) - 0.13912681348101882e0
              ) + 0.1056338028169014e0
              ELSE 0.13445378151260504e0
            END
          END
          ELSE CASE
            WHEN CAST("score" AS DOUBLE) < 0.3668965810173466e0
            THEN CASE
              WHEN CAST("score" AS DOUBLE) < 0.2172252520164898e0
              THEN 9.41644698264629e0 * (
                CAST("score" AS DOUBLE) - 0.2160935482431163e0
              ) + 0.13445378151260504e0
              ELSE 0.14511041009463724e0
            END
            ELSE 233.85669621978684e0 * (
              CAST("score" AS DOUBLE) - 0.3668965810173466e0
            ) + 0.14511041009463724e0
          END
        END
        ELSE CASE
          WHEN CAST("score" AS DOUBLE) < 0.37524322170901975e0
          THEN CASE
            WHEN CAST("score" AS DOUBLE) < 0.37304025869181123e0
            THEN CASE
              WHEN CAST("score" AS DOUBLE) < 0.37288613745173377e0
              THEN 0.16666666666666666e0
              ELSE 216.27994503923816e0 * (
                CAST("score" AS DOUBLE) - 0.37288613745173377e0
              ) + 0.16666666666666666e0
            END
            ELSE 0.2e0
          END
          ELSE CASE
            WHEN CAST("score" AS DOUBLE) < 0.378475174250633e0
            THEN CASE
              WHEN CAST("score" AS DOUBLE) < 0.37598625842451044e0
              THEN 67.29142579042045e0 * (
                CAST("score" AS DOUBLE) - 0.37524322170901975e0
              ) + 0.2e0
              ELSE 0.25e0
            END
            ELSE 110.53473155058924e0 * (
              CAST("score" AS DOUBLE) - 0.378475174250633e0
            ) + 0.25e0
          END
        END
      END
    END
    ELSE CASE
      WHEN CAST("score" AS DOUBLE) < 0.946270103773481e0
      THEN CASE
        WHEN CAST("score" AS DOUBLE) < 0.6583715104399597e0
        THEN CASE
          WHEN CAST("score" AS DOUBLE) < 0.5559338055484684e0
          THEN CASE
            WHEN CAST("score" AS DOUBLE) < 0.42508895146689946e0
            THEN CASE
              WHEN CAST("score" AS DOUBLE) < 0.4243306204185117e0
              THEN 0.25757575757575757e0
              ELSE 88.02035323554078e0 * (
                CAST("score" AS DOUBLE) - 0.4243306204185117e0
              ) + 0.25757575757575757e0
            END
            ELSE CASE
              WHEN CAST("score" AS DOUBLE) < 0.5533871885979926e0
              THEN 0.32432432432432434e0
              ELSE 29.71615957458308e0 * (
                CAST("score" AS DOUBLE) - 0.5533871885979926e0
              ) + 0.32432432432432434e0
            END
          END
          ELSE CASE
            WHEN CAST("score" AS DOUBLE) < 0.5634395894808941e0
            THEN CASE
              WHEN CAST("score" AS DOUBLE) < 0.5623978680691117e0
              THEN 0.4e0
              ELSE 2.577045770611487e0 * (
                CAST("score" AS DOUBLE) - 0.5623978680691117e0
              ) + 0.4e0
            END
            ELSE 0.40268456375838924e0
          END
        END
        ELSE CASE
          WHEN CAST("score" AS DOUBLE) < 0.7271285353405114e0
          THEN CASE
            WHEN CAST("score" AS DOUBLE) < 0.7269883544567552e0
            THEN CASE
              WHEN CAST("score" AS DOUBLE) < 0.6587653118086166e0
              THEN 127.74686234492336e0 * (
                CAST("score" AS DOUBLE) - 0.6583715104399597e0
              ) + 0.40268456375838924e0
              ELSE 0.452991452991453e0
            END
            ELSE 266.08342125566475e0 * (
              CAST("score" AS DOUBLE) - 0.7269883544567552e0
            ) + 0.452991452991453e0
          END
          ELSE CASE
            WHEN CAST("score" AS DOUBLE) < 0.8264758906900712e0
            THEN CASE
              WHEN CAST("score" AS DOUBLE) < 0.8263552721641952e0
              THEN 0.49029126213592233e0
              ELSE 500.5694895272425e0 * (
                CAST("score" AS DOUBLE) - 0.8263552721641952e0
              ) + 0.49029126213592233e0
            END
            ELSE 0.5506692160611855e0
          END
        END
      END
      ELSE CASE
        WHEN CAST("score" AS DOUBLE) < 0.9680016914822729e0
        THEN CASE
          WHEN CAST("score" AS DOUBLE) < 0.9616803416929847e0
          THEN CASE
            WHEN CAST("score" AS DOUBLE) < 0.9615680084515713e0
            THEN CASE
              WHEN CAST("score" AS DOUBLE) < 0.9467417163295861e0
              THEN 48.47240686785794e0 * (
                CAST("score" AS DOUBLE) - 0.946270103773481e0
              ) + 0.5506692160611855e0
              ELSE 0.5735294117647058e0
            END
            ELSE 1297.6464670234361e0 * (
              CAST("score" AS DOUBLE) - 0.9615680084515713e0
            ) + 0.5735294117647058e0
          END
          ELSE CASE
            WHEN CAST("score" AS DOUBLE) < 0.9677369986022911e0
            THEN CASE
              WHEN CAST("score" AS DOUBLE) < 0.9676385458080631e0
              THEN 0.7192982456140351e0
              ELSE 311.8423872749749e0 * (
                CAST("score" AS DOUBLE) - 0.9676385458080631e0
              ) + 0.7192982456140351e0
            END
            ELSE 0.75e0
          END
        END
        ELSE CASE
          WHEN CAST("score" AS DOUBLE) < 0.9818818389621827e0
          THEN CASE
            WHEN CAST("score" AS DOUBLE) < 0.9817642799352718e0
            THEN CASE
              WHEN CAST("score" AS DOUBLE) < 0.9680419264549909e0
              THEN 1716.1095033313372e0 * (
                CAST("score" AS DOUBLE) - 0.9680016914822729e0
              ) + 0.75e0
              ELSE 0.819047619047619e0
            END
            ELSE 1038.872596599258e0 * (
              CAST("score" AS DOUBLE) - 0.9817642799352718e0
            ) + 0.819047619047619e0
          END
          ELSE CASE
            WHEN CAST("score" AS DOUBLE) < 0.9860843423892718e0
            THEN CASE
              WHEN CAST("score" AS DOUBLE) < 0.9858813375070999e0
              THEN 0.9411764705882353e0
              ELSE 289.76411198806056e0 * (
                CAST("score" AS DOUBLE) - 0.9858813375070999e0
              ) + 0.9411764705882353e0
            END
            ELSE 1.0e0
          END
        END
      END
    END
  END AS DOUBLE)
END
