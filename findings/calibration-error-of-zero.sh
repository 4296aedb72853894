#!/usr/bin/env bash
# uncertainty-calibration finds an error of exactly 0 in a file whose scores are off by 18 points.
#
# One would guess: get_calibration_error and get_ece measure one thing, and 0.0 means that mean score and rate
#   agree.
# What happens: on these 20 rows the first is 0.0, without debias=True 0.39, and the second 0.18.
# Why: what noise alone would give is subtracted from the squared error, and a negative rest becomes 0, whose
#   root is taken.
# Who meets it: small hold-outs, groups above all: a table of groups shows the smallest ones as perfectly
#   calibrated.
source "$(dirname "$0")/common.sh"

packages uncertainty-calibration==0.1.4 scikit-learn==1.9.1 numpy==2.4.6
cat > "$folder/look.py" <<'P'
import calibration
import numpy as np

score = [.02, .05, .1, .1, .15, .2, .25, .3, .35, .4, .45, .5, .55, .6, .7, .75, .8, .9, .95, 1.0]
label = [0, 0, 0, 0, 1, 0, 0, 1, 0, 0, 1, 1, 0, 1, 1, 0, 1, 1, 1, 0]
both = np.column_stack([1 - np.array(score), score])
print(f"get_calibration_error: {calibration.get_calibration_error(both, label):.2f}")
print(f"without debiasing: {calibration.get_calibration_error(both, label, debias=False):.2f}")
print(f"get_ece: {calibration.get_ece(both, label):.2f}")
P
seen "$folder/venv/bin/python" look.py <<'P'
get_calibration_error: 0.00
without debiasing: 0.39
get_ece: 0.18
P
