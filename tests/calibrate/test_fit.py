"""Tests of calibration fits to rows, to counts, and to folds of rows."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.properties.calibration_rows import draw_rows, scored
from tests.properties.strategies import data_sets
from uqcli.base.choices import CalibrationMethod, Partitioner
from uqcli.base.counts import Feature, pool
from uqcli.calibrate.fit import ROW_FITS, SCORE_FITS, Choice, Tried, cross_validated, fit, fit_counts
from uqcli.calibrate.fit_options import CalibrationOptions
from uqcli.calibrate.folds import rows_of
from uqcli.calibrate.scale import Scale


def test_cross_validated_scores_do_not_depend_on_the_rows_own_label():
    data = draw_rows(6, rows=101).pooled()
    options = CalibrationOptions(method=CalibrationMethod.ISOTONIC)

    def cross_validated_scores(positive):
        prediction = next(cross_validated(scored(data.score, positive).pooled(), [options], None))
        return dict(zip(prediction.rows.score.tolist(), prediction.after.tolist(), strict=True))

    scores = cross_validated_scores(data.positive)
    for row in (0, 50, 100):
        flipped = data.positive.copy()
        flipped[row] = not flipped[row]
        flipped_scores = cross_validated_scores(flipped)
        assert flipped_scores[data.score[row]] == scores[data.score[row]]
        assert flipped_scores != scores


@pytest.mark.thorough
def test_folds_do_not_depend_on_the_order_of_rows():
    data = draw_rows(3, rows=400)
    features = {"g": Feature(levels=("a", "b"), value=np.arange(400.0) % 2)}
    twice = np.concatenate([np.arange(400), np.arange(0, 400, 3)])
    order = np.random.default_rng(1).permutation(len(twice))
    weight = np.ones(400, dtype=np.int64)
    weight[::3] = 2
    rows = scored(data.score, data.positive, weight=weight, features=features)
    shuffled = scored(
        data.score[twice][order],
        data.positive[twice][order],
        features={"g": features["g"].select(twice[order])},
    )
    for partitioner in Partitioner:
        options = CalibrationOptions(
            method=CalibrationMethod.HETEROGENEOUS, min_leaf=20, partitioner=partitioner
        )
        assert fit(rows.pooled(), options) == fit(shuffled.pooled(), options)
        first, second = (next(cross_validated(table.pooled(), [options], None)) for table in (rows, shuffled))
        assert first.after.tolist() == second.after.tolist()
        assert first.rows.weight.tolist() == second.rows.weight.tolist()


@given(data_sets(max_size=40), st.booleans())
def test_counts_and_rows_give_the_same_map(data, undersampled):
    score, _, positive, weight = (np.array(column) for column in zip(*data, strict=True))
    score = np.clip(score, 0, 1)
    rows = scored(score, positive, weight=weight).pooled()
    counts = pool(score, positive, weight)
    from_counts = rows_of(counts)
    for name in ("score", "positive", "weight"):
        assert getattr(from_counts, name).tolist() == getattr(rows, name).tolist()
    scale = Scale(undersampled=3.0 if undersampled else 1.0)
    options = CalibrationOptions(method=CalibrationMethod.ISOTONIC, scale=scale)
    assert fit_counts(counts, options) == fit(rows, options)


@pytest.mark.parametrize("method", [*SCORE_FITS, *ROW_FITS])
def test_the_method_is_among_the_methods_of_its_map(method):
    fitted = fit(draw_rows(10, rows=200), CalibrationOptions(method=method, min_leaf=30))
    assert method in fitted.map.methods
    assert not fitted.map.contradiction()


@pytest.mark.parametrize(
    ("excess", "reason"),
    [
        (0.002, "it has the lowest log loss, by more than a standard error."),
        (0.0005, "it has the lowest log loss, and it is the simplest."),
    ],
)
def test_the_reason_for_a_method_follows_from_the_standard_errors(excess, reason):
    simplest, platt = CalibrationMethod.TEMPERATURE, CalibrationMethod.PLATT
    tried = (
        Tried(method=simplest, log_loss=0.5, excess=0.0, error=0.0),
        Tried(method=platt, log_loss=0.5 + excess, excess=excess, error=0.001),
    )
    assert Choice(method=simplest, tried=tried).reason() == f"Chose temperature: of 2 methods tried, {reason}"
