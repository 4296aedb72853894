"""Joint calibration of many classes.

Sums are over distinct rows in sorted order, so the result does not depend on row order.
"""

from __future__ import annotations

import numpy as np

from uqcli.class_counts import ClassCounts
from uqcli.counts import Floats
from uqcli.methods.calibrate.maps.class_temperature import ClassTemperatureMap
from uqcli.methods.calibrate.parametric import at_bound, best_slope
from uqcli.methods.calibrate.scale import class_logits, softmax


def fit_class_temperature(counts: ClassCounts) -> tuple[ClassTemperatureMap, tuple[str, ...]]:
    """Fit ``softmax(ln p / T)`` by maximum likelihood, with 1/T between 1e-3 and 1e3.

    Returns
    -------
    The map, and notes on its fit.
    """
    logits = class_logits(counts.probability)
    label_logit = logits[np.arange(len(logits)), counts.label]

    def derivative(slope: float) -> tuple[float, float]:
        probability = softmax(slope * logits)
        mean: Floats = (probability * logits).sum(axis=1)
        variance = (probability * logits**2).sum(axis=1) - mean**2
        gradient = float((counts.count * (mean - label_logit)).sum())
        return gradient, float((counts.count * variance).sum())

    slope = best_slope(derivative)
    return ClassTemperatureMap(slope=slope), at_bound(slope)
