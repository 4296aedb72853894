"""Class weights: intervals hold the true weights and shares at about their level, from few rows, too."""

import os

import numpy as np
import polars as pl
import pytest
from scipy import stats

from uqcli.choices import ShiftEstimator
from uqcli.class_counts import ClassCounts
from uqcli.draws import Purpose, generator
from uqcli.engines.request import ClassColumns, DataRequest, Roles
from uqcli.errors import InfeasibleError
from uqcli.jobs.shift.evidence import Likelihood, MeanProbabilities, PredictedClasses
from uqcli.jobs.shift.run import ShiftRequest, intervals_of_shares, intervals_of_weights, run

SOURCE, TARGET = np.array([0.5, 0.3, 0.2]), np.array([0.2, 0.3, 0.5])


def write(random, rows, prior, path):
    probability, label = drawn_rows(random, rows, prior, SOURCE, 1.5)
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


RUNS = int(os.environ.get("STATISTICAL_REPETITIONS", "200"))
FEW = {  # shares in source and target, how far classes are apart, labelled and unlabelled rows
    "one positive expected among the unlabelled": ([0.9, 0.1], [0.98, 0.02], 2, 2000, 50),
    "few rows, no false positive expected": ([0.5, 0.5], [0.99, 0.01], 4, 30, 1000),
    "three labelled positives": ([0.9, 0.1], [0.7, 0.3], 2, 30, 1000),
    "a class is gone": ([0.5, 0.5], [1.0, 0.0], 2, 50, 50),
    "three classes": ([0.5, 0.3, 0.2], [0.2, 0.3, 0.5], 1.6, 50, 50),
}


def drawn_rows(random, rows, prior, source, apart):
    """Calibrated probabilities under the source's prior, and labels."""
    label = random.choice(len(prior), rows, p=prior)
    x = random.normal(apart * label, 1.0)
    joint = np.stack([q * stats.norm.pdf(x, apart * k, 1.0) for k, q in enumerate(source)], axis=1)
    return joint / joint.sum(axis=1, keepdims=True), label


def evidence_of(kind, rows, unlabelled, classes):
    probability, label = rows
    target = ClassCounts.of(unlabelled, np.zeros(len(unlabelled), dtype=np.int64), None)
    if kind == "em":
        labels = np.bincount(label, minlength=len(classes))
        return Likelihood(labels=labels, target=target, classes=classes)
    if kind == "soft":
        return MeanProbabilities(
            source=ClassCounts.of(probability, label, None), target=target, classes=classes
        )
    size = len(classes)
    joint = np.bincount(probability.argmax(axis=1) * size + label, minlength=size**2).reshape(size, size)
    predicted = np.bincount(unlabelled.argmax(axis=1), minlength=size)
    return PredictedClasses(joint=joint, target=predicted, classes=classes)


@pytest.mark.parametrize("kind", ["hard", "soft", "em"])
@pytest.mark.parametrize("case", FEW)
def test_intervals_from_few_rows_hold_weights_and_shares(kind, case):
    source, target, apart, labelled, unlabelled = FEW[case]
    runs = RUNS if kind == "hard" else max(20, RUNS // 8)
    held, asked, classes = np.zeros((2, len(source))), 0, tuple(map(str, range(len(source))))
    truth = np.array(target) / source, np.array(target)
    for number in range(runs):
        random = np.random.default_rng([8, number])
        rows = drawn_rows(random, labelled, source, source, apart)
        if len(set(rows[1])) < len(source):
            continue  # nothing is printed of a class without labelled rows
        fresh, _ = drawn_rows(random, unlabelled, target, source, apart)
        evidence = evidence_of(kind, rows, fresh, classes)
        try:
            found = evidence.estimate()
        except InfeasibleError:
            continue  # nothing is printed
        drawn = [evidence.redrawn(generator(number, Purpose.BOOTSTRAP, each), found) for each in range(79)]
        of_weights = intervals_of_weights([each.weights for each in drawn], 0.95)
        of_shares = intervals_of_shares([each.target_prior for each in drawn], 0.95)
        for which, ends in enumerate(map(np.array, (of_weights, of_shares))):
            held[which] += (ends[:, 0] <= truth[which]) & (truth[which] <= ends[:, 1])
        asked += 1
    assert asked > 0.8 * runs
    for count in held.ravel().tolist():
        assert stats.binomtest(int(count), asked, 0.93, alternative="less").pvalue > 0.003, held / asked
