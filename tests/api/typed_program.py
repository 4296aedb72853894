# pyright: strict
"""A program as users write it, for type checkers; it is not run."""

from typing import Any

import numpy as np
from numpy.typing import NDArray

import uqcli
from uqcli.sklearn import BoundaryClassifier, CalibratedScores

score: NDArray[np.float64] = np.array([0.1, 0.4, 0.6, 0.9])
label: NDArray[np.int64] = np.array([0, 1, 0, 1])

boundary = uqcli.find_boundary(score, label, precision="0.6", uncertainty={"spread": score})
recall: float | None = boundary.fit.recall
flagged: NDArray[np.bool_] = boundary.decide(score, {"spread": score})
boundary.plot("boundary.png")

calibrator = uqcli.Calibrator.fit(score, label, method="venn-abers")
probability: NDArray[np.float64] = calibrator.predict(score)
low, high = calibrator.interval(score)
width: NDArray[np.float64] = high - low
evaluation: uqcli.Evaluation = calibrator.evaluate(score, label)

loaded: uqcli.Fitted[Any] = uqcli.load("rule.json")
try:
    loaded.save("copy.json")
except uqcli.DataError as error:
    code: int = error.exit_code

model = CalibratedScores(method="auto").fit(score[:, None], label)
shares: NDArray[np.float64] = model.predict_proba(score[:, None])
decisions = BoundaryClassifier(precision=0.6).fit(score[:, None], label).predict(score[:, None])
