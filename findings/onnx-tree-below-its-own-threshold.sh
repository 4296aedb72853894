#!/usr/bin/env bash
# A threshold taken from a tree's own scores loses a leaf of rows once the tree runs as ONNX.
#
# One would guess: probabilities of an exported tree differ in the eighth digit, which matters to no decision,
#   since rows far from the threshold stay where they are.
# What happens: the threshold is one of the scores, as every threshold chosen on data is. All rows of that leaf
#   have it; as a 32-bit number it may lie below the double, and then the whole leaf is lost: 69 of 1,014
#   alerts here, if the threshold is the array's own number. As a plain float of Python, numpy rounds it to 32
#   bits, and all alerts are there.
# Why: skl2onnx writes the leaves as 32-bit numbers. numpy compares them exactly with its own float64, but takes
#   Python's float for a number of the array's type.
# Who meets it: whoever serves a tree or forest by ONNX Runtime: whether alerts are lost depends on whether the
#   threshold came from an array or from a JSON file, and in Java or C++ on the type that is written there.
source "$(dirname "$0")/common.sh"

packages scikit-learn==1.9.1 skl2onnx==1.20.0 onnx==1.23.2 onnxruntime==1.32.0 numpy==2.4.6
cat > "$folder/look.py" <<'P'
import numpy as np
import onnxruntime
from skl2onnx import to_onnx
from sklearn.tree import DecisionTreeClassifier

random = np.random.default_rng(0)
features = random.random((2000, 3)).round(2)
label = (random.random(2000) < features[:, 0]).astype(int)
tree = DecisionTreeClassifier(max_depth=8, random_state=0).fit(features, label)
narrow = features.astype(np.float32)
model = to_onnx(tree, narrow[:1], options={id(tree): {"zipmap": False}})
served = onnxruntime.InferenceSession(model.SerializeToString()).run(None, {"X": narrow})[1][:, 1]
score = tree.predict_proba(features)[:, 1]
threshold = np.sort(score)[-1000]
print("largest difference below 1e-7:", bool(np.abs(score - served).max() < 1e-7))
print("flagged in the notebook:", (score >= threshold).sum())
print("flagged by ONNX Runtime:", (served >= threshold).sum())
print("with Python's float:", (served >= float(threshold)).sum())
P
seen "$folder/venv/bin/python" look.py <<'P'
largest difference below 1e-7: True
flagged in the notebook: 1014
flagged by ONNX Runtime: 945
with Python's float: 1014
P
