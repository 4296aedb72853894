-- uqcli export. kind: boundary, version: 0.5.0, digest: b1dc82c0e4fb6565692871c5672049f0d8039fde2ace178b20b31c60027d125a
-- Null for rows whose numbers are null, NaN, infinite or out of their range.
LIST_TRANSFORM(LIST_TRANSFORM(LIST_TRANSFORM(LIST_TRANSFORM([{'uqcli_number': TRY_CAST("p_0" AS DOUBLE),
'uqcli_number_2': TRY_CAST("p_1" AS DOUBLE),
'uqcli_number_3': TRY_CAST("p_2" AS DOUBLE),
'uqcli_number_4': TRY_CAST("p_3" AS DOUBLE),
'uqcli_number_5': TRY_CAST("p_4" AS DOUBLE),
'uqcli_number_6': TRY_CAST("p_5" AS DOUBLE),
'uqcli_number_7': TRY_CAST("p_6" AS DOUBLE),
'uqcli_number_8': TRY_CAST("p_7" AS DOUBLE),
'uqcli_number_9': TRY_CAST("p_8" AS DOUBLE),
'uqcli_number_10': TRY_CAST("p_9" AS DOUBLE)}], LAMBDA uqcli_row:
STRUCT_INSERT(uqcli_row, uqcli_usable := ISFINITE(uqcli_row.uqcli_number) AND ISFINITE(uqcli_row.uqcli_number_2) AND ISFINITE(uqcli_row.uqcli_number_3) AND ISFINITE(uqcli_row.uqcli_number_4) AND ISFINITE(uqcli_row.uqcli_number_5) AND ISFINITE(uqcli_row.uqcli_number_6) AND ISFINITE(uqcli_row.uqcli_number_7) AND ISFINITE(uqcli_row.uqcli_number_8) AND ISFINITE(uqcli_row.uqcli_number_9) AND ISFINITE(uqcli_row.uqcli_number_10))), LAMBDA uqcli_row:
STRUCT_INSERT(uqcli_row, uqcli_largest := CASE WHEN uqcli_row.uqcli_usable
  THEN GREATEST(uqcli_row.uqcli_number, uqcli_row.uqcli_number_2, uqcli_row.uqcli_number_3, uqcli_row.uqcli_number_4, uqcli_row.uqcli_number_5, uqcli_row.uqcli_number_6, uqcli_row.uqcli_number_7, uqcli_row.uqcli_number_8, uqcli_row.uqcli_number_9, uqcli_row.uqcli_number_10) END)), LAMBDA uqcli_row:
STRUCT_INSERT(uqcli_row, uqcli_decision := CASE WHEN uqcli_row.uqcli_usable THEN CASE
  WHEN uqcli_row.uqcli_number >= uqcli_row.uqcli_largest THEN uqcli_row.uqcli_largest >= 0.5016389787197113e0
  WHEN uqcli_row.uqcli_number_2 >= uqcli_row.uqcli_largest THEN uqcli_row.uqcli_largest >= 0.35711799561977386e0
  WHEN uqcli_row.uqcli_number_3 >= uqcli_row.uqcli_largest THEN uqcli_row.uqcli_largest >= 0.44280897080898285e0
  WHEN uqcli_row.uqcli_number_4 >= uqcli_row.uqcli_largest THEN uqcli_row.uqcli_largest >= 0.6543299853801727e0
  WHEN uqcli_row.uqcli_number_5 >= uqcli_row.uqcli_largest THEN uqcli_row.uqcli_largest >= 0.6858219802379608e0
  WHEN uqcli_row.uqcli_number_6 >= uqcli_row.uqcli_largest THEN uqcli_row.uqcli_largest >= 0.522717982530594e0
  WHEN uqcli_row.uqcli_number_7 >= uqcli_row.uqcli_largest THEN uqcli_row.uqcli_largest >= 0.6999949514865876e0
  WHEN uqcli_row.uqcli_number_8 >= uqcli_row.uqcli_largest THEN uqcli_row.uqcli_largest >= 0.4863089770078659e0
  WHEN uqcli_row.uqcli_number_9 >= uqcli_row.uqcli_largest THEN uqcli_row.uqcli_largest >= 0.49843199551105505e0
  ELSE uqcli_row.uqcli_largest >= 0.7725929915904999e0
END END)), LAMBDA uqcli_row:
CASE WHEN uqcli_row.uqcli_usable THEN uqcli_row.uqcli_decision END)[1] AS "decision",
LIST_TRANSFORM(LIST_TRANSFORM(LIST_TRANSFORM(LIST_TRANSFORM([{'uqcli_number': TRY_CAST("p_0" AS DOUBLE),
'uqcli_number_2': TRY_CAST("p_1" AS DOUBLE),
'uqcli_number_3': TRY_CAST("p_2" AS DOUBLE),
'uqcli_number_4': TRY_CAST("p_3" AS DOUBLE),
'uqcli_number_5': TRY_CAST("p_4" AS DOUBLE),
'uqcli_number_6': TRY_CAST("p_5" AS DOUBLE),
'uqcli_number_7': TRY_CAST("p_6" AS DOUBLE),
'uqcli_number_8': TRY_CAST("p_7" AS DOUBLE),
'uqcli_number_9': TRY_CAST("p_8" AS DOUBLE),
'uqcli_number_10': TRY_CAST("p_9" AS DOUBLE)}], LAMBDA uqcli_row:
STRUCT_INSERT(uqcli_row, uqcli_usable := ISFINITE(uqcli_row.uqcli_number) AND ISFINITE(uqcli_row.uqcli_number_2) AND ISFINITE(uqcli_row.uqcli_number_3) AND ISFINITE(uqcli_row.uqcli_number_4) AND ISFINITE(uqcli_row.uqcli_number_5) AND ISFINITE(uqcli_row.uqcli_number_6) AND ISFINITE(uqcli_row.uqcli_number_7) AND ISFINITE(uqcli_row.uqcli_number_8) AND ISFINITE(uqcli_row.uqcli_number_9) AND ISFINITE(uqcli_row.uqcli_number_10))), LAMBDA uqcli_row:
STRUCT_INSERT(uqcli_row, uqcli_largest := CASE WHEN uqcli_row.uqcli_usable
  THEN GREATEST(uqcli_row.uqcli_number, uqcli_row.uqcli_number_2, uqcli_row.uqcli_number_3, uqcli_row.uqcli_number_4, uqcli_row.uqcli_number_5, uqcli_row.uqcli_number_6, uqcli_row.uqcli_number_7, uqcli_row.uqcli_number_8, uqcli_row.uqcli_number_9, uqcli_row.uqcli_number_10) END)), LAMBDA uqcli_row:
STRUCT_INSERT(uqcli_row, uqcli_decision := CASE WHEN uqcli_row.uqcli_usable THEN CASE
  WHEN uqcli_row.uqcli_number >= uqcli_row.uqcli_largest THEN uqcli_row.uqcli_largest >= 0.5016389787197113e0
  WHEN uqcli_row.uqcli_number_2 >= uqcli_row.uqcli_largest THEN uqcli_row.uqcli_largest >= 0.35711799561977386e0
  WHEN uqcli_row.uqcli_number_3 >= uqcli_row.uqcli_largest THEN uqcli_row.uqcli_largest >= 0.44280897080898285e0
  WHEN uqcli_row.uqcli_number_4 >= uqcli_row.uqcli_largest THEN uqcli_row.uqcli_largest >= 0.6543299853801727e0
  WHEN uqcli_row.uqcli_number_5 >= uqcli_row.uqcli_largest THEN uqcli_row.uqcli_largest >= 0.6858219802379608e0
  WHEN uqcli_row.uqcli_number_6 >= uqcli_row.uqcli_largest THEN uqcli_row.uqcli_largest >= 0.522717982530594e0
  WHEN uqcli_row.uqcli_number_7 >= uqcli_row.uqcli_largest THEN uqcli_row.uqcli_largest >= 0.6999949514865876e0
  WHEN uqcli_row.uqcli_number_8 >= uqcli_row.uqcli_largest THEN uqcli_row.uqcli_largest >= 0.4863089770078659e0
  WHEN uqcli_row.uqcli_number_9 >= uqcli_row.uqcli_largest THEN uqcli_row.uqcli_largest >= 0.49843199551105505e0
  ELSE uqcli_row.uqcli_largest >= 0.7725929915904999e0
END END)), LAMBDA uqcli_row:
CASE WHEN uqcli_row.uqcli_usable THEN CASE
  WHEN uqcli_row.uqcli_decision THEN CASE
    WHEN uqcli_row.uqcli_number >= uqcli_row.uqcli_largest THEN '0'
    WHEN uqcli_row.uqcli_number_2 >= uqcli_row.uqcli_largest THEN '1'
    WHEN uqcli_row.uqcli_number_3 >= uqcli_row.uqcli_largest THEN '2'
    WHEN uqcli_row.uqcli_number_4 >= uqcli_row.uqcli_largest THEN '3'
    WHEN uqcli_row.uqcli_number_5 >= uqcli_row.uqcli_largest THEN '4'
    WHEN uqcli_row.uqcli_number_6 >= uqcli_row.uqcli_largest THEN '5'
    WHEN uqcli_row.uqcli_number_7 >= uqcli_row.uqcli_largest THEN '6'
    WHEN uqcli_row.uqcli_number_8 >= uqcli_row.uqcli_largest THEN '7'
    WHEN uqcli_row.uqcli_number_9 >= uqcli_row.uqcli_largest THEN '8'
    ELSE '9'
  END
  ELSE NULL
END END)[1] AS "class"
