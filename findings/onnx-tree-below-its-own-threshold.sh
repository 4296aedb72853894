#!/usr/bin/env bash
# A threshold taken from a tree's own scores loses a leaf of rows once the tree runs as ONNX or SQL.
#
# One would guess: probabilities of an exported tree differ in the eighth digit, which matters to no decision,
#   since rows far from the threshold stay where they are.
# What happens: the threshold is one of the scores, as every threshold chosen on data is. All rows of that leaf
#   have it; as a 32-bit number it may lie below the double, and then the whole leaf is lost: 69 of 1,014
#   alerts here, if the threshold is the array's own number. As a plain float of Python, numpy rounds it to 32
#   bits, and all alerts are there. orbital's SQL of the same tree has a column of doubles, and loses the same
#   69 rows with any threshold.
# Why: skl2onnx writes the leaves as 32-bit numbers, and orbital makes its SQL of them. numpy compares them
#   exactly with its own float64, but takes Python's float for a number of the array's type.
# Who meets it: whoever serves a tree or forest by ONNX Runtime: whether alerts are lost depends on whether the
#   threshold came from an array or from a JSON file, and in Java or C++ on the type that is written there.
source "$(dirname "$0")/common.sh"

packages scikit-learn==1.9.1 skl2onnx==1.20.0 onnx==1.22.0 onnxruntime==1.32.0 numpy==2.4.6 \
    orbital==0.6.0 duckdb==2.0.1 pandas==3.1.1
cat > "$folder/look.py" <<'P'
import warnings

import duckdb
import numpy as np
import onnxruntime
import orbital
import pandas as pd
from skl2onnx import to_onnx
from sklearn.pipeline import Pipeline
from sklearn.preprocessing import StandardScaler
from sklearn.tree import DecisionTreeClassifier

warnings.simplefilter("ignore")

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
rows = pd.DataFrame(features, columns=["a", "b", "c"])
again = DecisionTreeClassifier(max_depth=8, random_state=0)
scaled = Pipeline([("scale", StandardScaler()), ("tree", again)]).fit(rows, label)
kinds = {name: orbital.types.DoubleColumnType() for name in rows}
query = orbital.export_sql("rows", orbital.parse_pipeline(scaled, features=kinds), dialect="duckdb")
found = duckdb.sql(f'select "output_probability.1" as score from ({query})').df()["score"]
threshold = np.sort(scaled.predict_proba(rows)[:, 1])[-1000]
print("flagged by orbital's SQL:", (found >= float(threshold)).sum(), "of a column of", found.dtype)
P
seen "$folder/venv/bin/python" look.py <<'P'
largest difference below 1e-7: True
flagged in the notebook: 1014
flagged by ONNX Runtime: 945
with Python's float: 1014
flagged by orbital's SQL: 945 of a column of float64
P
