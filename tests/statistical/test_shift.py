"""Class weights: bootstrap intervals hold the true weights at about their level."""

import numpy as np
import polars as pl
import pytest
from scipy import stats

from uqcli.choices import ShiftEstimator
from uqcli.engines.request import ClassColumns, DataRequest, Roles
from uqcli.jobs.shift.run import ShiftRequest, run

SOURCE, TARGET = np.array([0.5, 0.3, 0.2]), np.array([0.2, 0.3, 0.5])


def write(random, rows, prior, path):
    label = random.choice(3, rows, p=prior)
    x = random.normal(1.5 * label, 1.0)
    joint = np.stack([q * stats.norm.pdf(x, 1.5 * k, 1.0) for k, q in enumerate(SOURCE)], axis=1)
    probability = joint / joint.sum(axis=1, keepdims=True)
    columns = {f"p_{k}": probability[:, k] for k in range(3)}
    pl.DataFrame({**columns, "label": label}).write_parquet(path)


@pytest.mark.parametrize(("estimator", "runs"), [(ShiftEstimator.BBSE, 60), (ShiftEstimator.EM, 15)])
def test_intervals_hold_the_true_weights(tmp_path, estimator, runs):
    held, asked = 0, 0
    for number in range(runs):
        random = np.random.default_rng(number)
        write(random, 500, SOURCE, tmp_path / "source.parquet")
        write(random, 500, TARGET, tmp_path / "target.parquet")
        data = DataRequest(
            inputs=(str(tmp_path / "source.parquet"),),
            roles=Roles(numbers={}, label="label", class_columns=ClassColumns(columns="p_*")),
        )
        target = (str(tmp_path / "target.parquet"),)
        outcome = run(
            ShiftRequest(
                data=data, target=target, estimator=estimator, bootstrap=40, confidence=0.9, seed=number
            )
        )
        pairs = zip(outcome.artifact.interval, TARGET / SOURCE, strict=True)
        held += sum(low <= truth <= high for (low, high), truth in pairs)
        asked += 3
    assert stats.binomtest(held, asked, 0.9).pvalue > 1e-3, held / asked
