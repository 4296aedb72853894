#!/usr/bin/env bash
# MAPIE's expected calibration error with num_bins=10 has nine bins.
#
# One would guess: num_bins is the number of bins, as in every other package, so that 10 is the usual ECE.
# What happens: it is the number of edges. Scores of 0.45 and 0.54 with opposite errors share the fifth of
#   nine bins (4/9 to 5/9), and cancel; with ten bins they would not. num_bins=11 gives ten bins.
# Why: the edges are linspace(0, 1, num_bins).
# Who meets it: whoever compares an ECE "with 10 bins" with that of another tool or of a paper.
source "$(dirname "$0")/common.sh"

packages mapie==1.6.0 scikit-learn==1.9.1 numpy==2.4.6
cat > "$folder/look.py" <<'P'
import numpy as np
from mapie.metrics.calibration import expected_calibration_error

label, score = np.array([1, 0]), np.array([0.45, 0.54])
for number in (10, 11):
    error = expected_calibration_error(label, score, num_bins=number, split_strategy="uniform")
    print(f"num_bins={number}: {error:.3f}")
P
seen "$folder/venv/bin/python" look.py <<'P'
num_bins=10: 0.005
num_bins=11: 0.545
P
