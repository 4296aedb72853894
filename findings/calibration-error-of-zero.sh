#!/usr/bin/env bash
# uncertainty-calibration finds an error of exactly 0 in a file whose scores are off by 26 points on average.
#
# One would guess: get_calibration_error and get_ece measure one thing, and 0.0 means that mean score and rate
#   agree.
# What happens: on these 20 rows the first is 0.0, without debias=True 0.41, and the second 0.26 in ten bins.
# Why: the first is the root of a mean square over 15 bins, from which it takes what noise alone would give. A
#   negative rest becomes 0. Ten of the bins have a single row, which counts as no error.
# Who meets it: small hold-outs, groups above all: a table of groups shows the smallest ones as perfectly
#   calibrated.
source "$(dirname "$0")/common.sh"

packages uncertainty-calibration==0.1.4 scikit-learn==1.9.1 numpy==2.4.6
cat > "$folder/look.py" <<'P'
import calibration
import numpy as np

score = [.02, .05, .1, .1, .15, .2, .25, .3, .35, .4, .45, .5, .55, .6, .7, .75, .8, .9, .95, 1.0]
label = [0, 0, 0, 0, 1, 0, 0, 1, 0, 0, 1, 1, 0, 1, 1, 0, 1, 1, 1, 0]
score, label = np.array(score), np.array(label)
print(f"get_calibration_error: {calibration.get_calibration_error(score, label):.2f}")
print(f"without debiasing: {calibration.get_calibration_error(score, label, debias=False):.2f}")
print(f"get_ece: {calibration.get_ece(score, label, num_bins=10):.2f}")
P
seen "$folder/venv/bin/python" look.py <<'P'
get_calibration_error: 0.00
without debiasing: 0.41
get_ece: 0.26
P
