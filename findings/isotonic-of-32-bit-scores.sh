#!/usr/bin/env bash
# scikit-learn's isotonic regression pools different scores if they are 32-bit numbers.
#
# One would guess: a fit of the same scores as float32 and as float64 differs in the last digits.
# What happens: float32 scores closer than about 1e-6 are one knot, and take the mean of their labels whatever
#   their order: four scores give four knots as float64 and two as float32, and the fitted values are others
#   (0, 0.5, 0.5, 1 beside 0.33, 0.33, 0.33, 1).
# Why: duplicates are removed with the resolution of the type as tolerance, not by equality.
# Who meets it: rare-event models, whose scores lie close together near 0, as XGBoost and neural networks
#   write them (32 bits); the calibrator that was fitted on a CSV of the same scores is another one.
source "$(dirname "$0")/common.sh"

packages scikit-learn==1.9.1 numpy==2.4.6
cat > "$folder/look.py" <<'P'
import numpy as np
from sklearn.isotonic import IsotonicRegression

score = np.array([0.5, 0.5000001, 0.5000002, 0.9], dtype=np.float32)
for kind in (np.float64, np.float32):
    fit = IsotonicRegression().fit(score.astype(kind), [0, 1, 0, 1])
    print(kind.__name__, len(np.unique(score)), "scores,", len(fit.X_thresholds_), "knots:", end=" ")
    print(fit.predict(score.astype(kind)).round(2).tolist())
P
seen "$folder/venv/bin/python" look.py <<'P'
float64 4 scores, 4 knots: [0.0, 0.5, 0.5, 1.0]
float32 4 scores, 2 knots: [0.33000001311302185, 0.33000001311302185, 0.33000001311302185, 1.0]
P
