"""Strategies and draws of calibration sets, and the calibration methods that use the score alone."""

import numpy as np
from hypothesis import strategies as st

from uqcli.base.counts import Feature
from uqcli.base.rows import Rows
from uqcli.calibrate.fit import SCORE_FITS
from uqcli.calibrate.scale import Scale

PROBABILITY = Scale()


ROWS = st.lists(
    st.tuples(st.one_of(st.floats(0, 1), st.integers(0, 6).map(lambda v: v / 6)), st.booleans()),
    min_size=1,
    max_size=40,
)


SCORE_ONLY_METHODS = list(SCORE_FITS)


def arrays(rows):
    return np.array([s + 0.0 for s, _ in rows]), np.array([y for _, y in rows])


def scored(score, label, uncertainty=None, weight=None, features=None):
    score = np.asarray(score, dtype=float)
    return Rows(
        numbers={"score": score} if uncertainty is None else {"score": score, "uncertainty": uncertainty},
        positive=np.asarray(label, dtype=bool),
        weight=weight,
        features=features or {},
    )


def draw_rows(seed, rows=400):
    """Draw overconfident scores, with an informative uncertainty and features of both kinds."""
    random = np.random.default_rng(seed)
    score = random.random(rows)
    kind = random.integers(0, 3, rows)
    age = np.where(random.random(rows) < 0.1, np.nan, random.normal(40, 10, rows))
    label = random.random(rows) < score ** (1 + kind)
    features = {
        "kind": Feature(levels=("a", "b", "c"), value=kind.astype(float)),
        "age": Feature(levels=None, value=age),
    }
    return scored(score, label, uncertainty=random.random(rows), features=features)
