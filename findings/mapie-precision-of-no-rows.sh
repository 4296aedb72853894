#!/usr/bin/env bash
# MAPIE certifies no precision by default if one of its thresholds is above every score.
#
# One would guess: of the 100 thresholds that it tries by default, those that flag no row are never certified,
#   and the others are tested as usual.
# What happens: 5,000 rows whose scores end at 0.9 give no threshold for a precision of 0.5, which all
#   thresholds have. With 100 thresholds up to 0.85, or by fwer_method="bonferroni", the same rows certify them.
# Why: the precision of no rows has the p-value NaN. The default (Holm) takes NaN for the smallest p-value,
#   tests it first, and stops as it does not pass.
# Who meets it: any model that is never sure, such as a calibrated one of rare events; the warning asks for
#   more rows, a better model or a less strict target.
source "$(dirname "$0")/common.sh"

packages mapie==1.6.0 scikit-learn==1.9.1 numpy==2.4.6
cat > "$folder/look.py" <<'P'
import warnings

import numpy as np
from mapie.risk_control import BinaryClassificationController

warnings.simplefilter("ignore")
random = np.random.default_rng(0)
score = 0.9 * random.random(5_000)
label = (random.random(5_000) < 0.5 + score / 2).astype(int)
for highest, method in ((0.99, "bonferroni_holm"), (0.99, "bonferroni"), (0.85, "bonferroni_holm")):
    control = BinaryClassificationController(
        lambda rows: np.column_stack([1 - rows[:, 0], rows[:, 0]]),
        risk="precision",
        target_level=0.5,
        confidence_level=0.9,
        list_predict_params=np.linspace(0, highest, 100),
        fwer_method=method,
    )
    control.calibrate(score[:, None], label)
    print(f"thresholds up to {highest}, {method}: {len(control.valid_predict_params)} certified")
P
seen "$folder/venv/bin/python" look.py <<'P'
thresholds up to 0.99, bonferroni_holm: 0 certified
thresholds up to 0.99, bonferroni: 90 certified
thresholds up to 0.85, bonferroni_holm: 100 certified
P
