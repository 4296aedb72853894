#!/usr/bin/env bash
# A certain miss costs 36, 16 or 7 nats in scikit-learn, by the type of the scores, and 37 in XGBoost.
#
# One would guess: log_loss clips at 1e-15 as it did for years, so that a score of 1 with the label 0 costs
#   34.5 nats.
# What happens: the clip is the distance of 1 to the next number of the scores' type. A single such row
#   decides the mean of a file, and the same file saved in half precision "improves" by 29 nats a row.
# Why: 1 - 1e-15 is no 32-bit number, so the clip follows the type. XGBoost takes the logarithm of 1e-16
#   instead.
# Who meets it: comparisons of models whose scores reach 0 or 1 (trees, naive Bayes, scores rounded to two
#   places) where one model writes 32 bits and the other 64.
source "$(dirname "$0")/common.sh"

packages scikit-learn==1.9.1 xgboost==3.2.0 numpy==2.4.6
cat > "$folder/look.py" <<'P'
import numpy as np
import xgboost
from sklearn.metrics import log_loss

for kind in (np.float64, np.float32, np.float16):
    print(kind.__name__, f"{log_loss([0, 1], np.array([1, 1], dtype=kind)) * 2:.2f}")
rows = xgboost.DMatrix(np.zeros((2, 1)), label=[0, 1], base_margin=[50.0, 50.0])
model = xgboost.train({"objective": "binary:logistic", "eval_metric": "logloss"}, rows, 0)
print("XGBoost", f"{float(model.eval(rows).split(':')[-1]) * 2:.2f}")
P
seen "$folder/venv/bin/python" look.py <<'P'
float64 36.04
float32 15.94
float16 6.93
XGBoost 36.84
P
