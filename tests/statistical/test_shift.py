"""Simulations of intervals of class weights and priors: coverage is near the level, even with few rows."""

import numpy as np
import polars as pl
import pytest
from scipy import stats
from scipy.special import softmax

from tests.statistical.levels import keep, lowest, repetitions
from uqcli.base.choices import ShiftEstimator
from uqcli.base.draws import Purpose, generator
from uqcli.base.errors import InfeasibleError
from uqcli.base.options import OptionalResampling
from uqcli.base.rows import ClassCounts
from uqcli.engines.request import ClassColumns, DataRequest, Roles
from uqcli.shift.estimators import (
    Likelihood,
    MeanProbabilities,
    PredictedClasses,
    no_shift_p_value,
    pooled_classes,
)
from uqcli.shift.mixture import UnitCounts, same_shares_between_units
from uqcli.shift.options import ShiftRequest
from uqcli.shift.run import intervals_of_priors, intervals_of_weights, run

SOURCE, TARGET = np.array([0.5, 0.3, 0.2]), np.array([0.2, 0.3, 0.5])


def write_rows(random, rows, prior, path):
    probability, label = sampled_rows(random, rows, prior, SOURCE, 1.5)
    columns = {f"p_{k}": probability[:, k] for k in range(3)}
    pl.DataFrame({**columns, "label": label}).write_parquet(path)


@pytest.mark.parametrize(("estimator", "runs"), [(ShiftEstimator.BBSE, 60), (ShiftEstimator.EM, 15)])
def test_intervals_cover_the_true_weights(tmp_path, estimator, runs):
    covered, interval_count = 0, 0
    for seed in range(runs):
        random = np.random.default_rng(seed)
        write_rows(random, 500, SOURCE, tmp_path / "source.parquet")
        write_rows(random, 500, TARGET, tmp_path / "target.parquet")
        data = DataRequest(
            inputs=(str(tmp_path / "source.parquet"),),
            roles=Roles(numbers={}, label="label", class_columns=ClassColumns(columns="p_*")),
        )
        target = (str(tmp_path / "target.parquet"),)
        outcome = run(
            ShiftRequest(
                data=data,
                target=target,
                estimator=estimator,
                resampling=OptionalResampling(bootstrap=40, confidence=0.9, seed=seed),
            )
        )
        intervals_and_truths = zip(outcome.artifact.interval, TARGET / SOURCE, strict=True)
        covered += sum(low <= truth <= high for (low, high), truth in intervals_and_truths)
        interval_count += 3
    assert stats.binomtest(covered, interval_count, 0.9).pvalue > 1e-3, covered / interval_count


RUNS = repetitions(200)
FEW_ROWS = {  # priors in source and target data, distance of the classes, labelled and unlabelled rows
    "one positive expected among the unlabelled": ([0.9, 0.1], [0.98, 0.02], 2, 2000, 50),
    "few rows, no false positive expected": ([0.5, 0.5], [0.99, 0.01], 4, 30, 1000),
    "three labelled positives": ([0.9, 0.1], [0.7, 0.3], 2, 30, 1000),
    "a class is gone": ([0.5, 0.5], [1.0, 0.0], 2, 50, 50),
    "three classes": ([0.5, 0.3, 0.2], [0.2, 0.3, 0.5], 1.6, 50, 50),
}


def sampled_rows(random, rows, prior, source, distance):
    """Draw probabilities that are calibrated under the source priors, and labels."""
    label = random.choice(len(prior), rows, p=prior)
    x = random.normal(distance * label, 1.0)
    joint = np.stack([q * stats.norm.pdf(x, distance * k, 1.0) for k, q in enumerate(source)], axis=1)
    return joint / joint.sum(axis=1, keepdims=True), label


def evidence_of(kind, rows, unlabelled, classes):
    probability, label = rows
    target = ClassCounts.from_rows(unlabelled, np.zeros(len(unlabelled), dtype=np.int64), None)
    if kind == "em":
        return Likelihood(
            source=ClassCounts.from_rows(probability, label, None), target=target, classes=classes
        )
    if kind == "soft":
        return MeanProbabilities(
            source=ClassCounts.from_rows(probability, label, None), target=target, classes=classes
        )
    size = len(classes)
    joint = np.bincount(probability.argmax(axis=1) * size + label, minlength=size**2).reshape(size, size)
    predicted = np.bincount(unlabelled.argmax(axis=1), minlength=size)
    return PredictedClasses(joint=joint, target=predicted, classes=classes)


@pytest.mark.parametrize("kind", ["hard", "soft", "em"])
@pytest.mark.parametrize("case", FEW_ROWS)
def test_intervals_from_few_rows_cover_weights_and_priors(kind, case):
    source, target, distance, labelled, unlabelled = FEW_ROWS[case]
    runs = RUNS if kind == "hard" or RUNS > 999 else max(20, RUNS // 8)
    runs = runs * 3 // 2
    covered, interval_count, classes = np.zeros((2, len(source))), 0, tuple(map(str, range(len(source))))
    truth = np.array(target) / source, np.array(target)
    for seed in range(runs):
        random = np.random.default_rng([8, seed])
        rows = sampled_rows(random, labelled, source, source, distance)
        if len(set(rows[1])) < len(source):
            continue  # uqcli prints no interval for a class without labelled rows
        target_probability, _ = sampled_rows(random, unlabelled, target, source, distance)
        evidence = evidence_of(kind, rows, target_probability, classes)
        try:
            estimate = evidence.estimate()
        except InfeasibleError:
            continue  # uqcli prints no interval
        redrawn = [
            evidence.redrawn(generator(seed, Purpose.BOOTSTRAP, replicate), estimate)
            for replicate in range(79)
        ]
        weight_intervals = intervals_of_weights([weights for weights, _ in redrawn], 0.95)
        prior_intervals = intervals_of_priors([prior for _, prior in redrawn], 0.95)
        for quantity, interval in enumerate(map(np.array, (weight_intervals, prior_intervals))):
            covered[quantity] += (interval[:, 0] <= truth[quantity]) & (truth[quantity] <= interval[:, 1])
        interval_count += 1
    assert interval_count > 0.8 * runs
    for count in covered.ravel().tolist():
        assert count / interval_count >= lowest(0.93, interval_count, drawn=runs), covered / interval_count


MODELS = {  # factor of the calibrated log-odds, and the step of the intercept from class to class
    "calibrated": (1.0, 0.0),
    "undersampled": (1.0, 2.2),
    "overconfident": (2.0, 0.0),
}
UNCALIBRATED = {  # priors in source and target data, distance of the classes, labelled and unlabelled rows
    "more positives": ([0.9, 0.1], [0.8, 0.2], 1.5, 300, 2000),
    "few labelled rows": ([0.7, 0.3], [0.5, 0.5], 2, 50, 300),
    "few positives, no shift": ([0.95, 0.05], [0.95, 0.05], 2, 400, 2000),
    "three classes": ([0.5, 0.3, 0.2], [0.2, 0.3, 0.5], 1.6, 150, 500),
}


def uncalibrated(probability, model):
    factor, step = MODELS[model]
    score = probability**factor * np.exp(step * np.arange(probability.shape[1]))
    return score / score.sum(axis=1, keepdims=True)


@pytest.mark.parametrize("model", MODELS)
@pytest.mark.parametrize("case", UNCALIBRATED)
def test_intervals_of_em_cover_for_models_that_are_not_calibrated(case, model):
    source, target, distance, labelled, unlabelled = UNCALIBRATED[case]
    runs, covered, errors, names = (
        (RUNS * 3 // 2 if RUNS > 999 else 40),
        0,
        [],
        tuple(map(str, range(len(source)))),
    )
    for seed in range(runs):
        random = np.random.default_rng([9, seed])
        probability, label = sampled_rows(random, labelled, source, source, distance)
        new, _ = sampled_rows(random, unlabelled, target, source, distance)
        evidence = evidence_of(
            "em", (uncalibrated(probability, model), label), uncalibrated(new, model), names
        )
        estimate = evidence.estimate()
        redrawn = [
            evidence.redrawn(generator(seed, Purpose.BOOTSTRAP, replicate), estimate)
            for replicate in range(79)
        ]
        (low, high) = intervals_of_priors([prior for _, prior in redrawn], 0.95)[-1]
        covered += low <= target[-1] <= high
        errors.append(estimate.weights[-1] * np.mean(label == len(source) - 1) - target[-1])
    assert covered / runs >= lowest(0.93, runs), covered / runs
    assert abs(np.mean(errors)) < 3 * np.std(errors) / np.sqrt(runs) + 0.01


@pytest.mark.parametrize("case", FEW_ROWS | UNCALIBRATED)
def test_em_seldom_contradicts_target_data_that_differ_in_priors_only(case):
    source, target, distance, labelled, unlabelled = (FEW_ROWS | UNCALIBRATED)[case]
    runs, contradicted, names = 2 * RUNS, 0, tuple(map(str, range(len(source))))
    for seed in range(runs):
        random = np.random.default_rng([10, seed])
        rows = sampled_rows(random, labelled, source, source, distance)
        new, _ = sampled_rows(random, unlabelled, target, source, distance)
        if len(set(rows[1])) == len(source):
            try:
                evidence_of("em", rows, new, names).estimate()
            except InfeasibleError as failure:
                contradicted += "contradict" in str(failure)
    assert stats.binomtest(contradicted, runs, 0.003, alternative="greater").pvalue > 0.003


RARE = [  # shares of the predicted classes, source and target rows
    ([0.97, 0.03], 100, 100),
    ([0.98, 0.02], 100, 300),
    ([0.95, 0.05], 60, 60),
    ([0.99, 0.01], 300, 300),
    ([0.99, 0.01], 200, 2000),
    ([0.995, 0.005], 1000, 300),
    ([0.985, 0.015], 200, 200),
    ([0.94, 0.06], 50, 50),
    ([0.9, 0.1], 30, 30),
    ([0.9, 0.1], 20, 500),
    ([0.7, 0.3], 10, 20),
    ([0.5, 0.5], 12, 12),
    ([0.5, 0.5], 400, 100),
    ([0.6, 0.39, 0.01], 200, 200),
    ([0.6, 0.38, 0.01, 0.01], 150, 150),
    ([0.5, 0.3, 0.15, 0.03, 0.01, 0.01], 100, 100),
    ([0.5, 0.3, 0.15, 0.03, 0.01, 0.01], 100, 1000),
    ([0.9, 0.05, 0.03, 0.02], 80, 80),
    ([0.8, 0.1, 0.05, 0.05], 50, 200),
    ([0.3, 0.3, 0.3, 0.05, 0.05], 60, 40),
    ([0.3, 0.3, 0.3, 0.1], 25, 400),
    ([0.96, 0.02, 0.02], 100, 100),
    ([0.99, 0.005, 0.005], 400, 400),
    ([0.97, 0.01, 0.01, 0.01], 300, 100),
    ([0.2, 0.2, 0.2, 0.2, 0.2], 30, 30),
]


@pytest.mark.parametrize("case", range(len(RARE)))
def test_the_test_of_no_shift_has_its_size_with_rare_classes(case):
    shares, source, target = RARE[case]
    random, draws = np.random.default_rng([11, case]), 10 * RUNS
    pairs = zip(
        random.multinomial(source, shares, draws), random.multinomial(target, shares, draws), strict=True
    )
    p_values = np.array([no_shift_p_value(*pair) for pair in pairs])
    for level in (0.05, 0.01):
        rejected = int((p_values <= level).sum())
        most = 1.12 * level  # .056 of .05
        assert stats.binomtest(rejected, draws, most, alternative="greater").pvalue > 0.003, rejected / draws


NAMED = {  # classes, labelled and unlabelled rows, and the estimator
    "3 classes": (3, 2000, 2000, "bbse"),
    "10 classes": (10, 2000, 200, "bbse"),
    "10 classes, many rows": (10, 2000, 2000, "bbse"),
    "20 classes": (20, 2000, 2000, "bbse"),
    "3 classes by EM": (3, 1000, 500, "em"),
}


def write_classes(random, rows, prior, separation, path):
    label = random.choice(len(prior), rows, p=prior)
    value = random.normal(size=(rows, len(prior)))
    value[np.arange(rows), label] += separation
    probability = softmax(separation * value, axis=1)
    columns = {f"p_{k}": probability[:, k] for k in range(len(prior))}
    pl.DataFrame({**columns, "label": label}).write_parquet(path)


def changed_classes(tmp_path, runs, case, prior, separation=1.5):
    """Return the class that each of some runs names as changed."""
    classes, labelled, unlabelled, estimator = case
    names = []
    for seed in range(runs):
        random = np.random.default_rng([12, seed, classes, unlabelled])
        write_classes(
            random, labelled, np.full(classes, 1 / classes), separation, tmp_path / "source.parquet"
        )
        write_classes(random, unlabelled, prior, separation, tmp_path / "target.parquet")
        data = DataRequest(
            inputs=(str(tmp_path / "source.parquet"),),
            roles=Roles(numbers={}, label="label", class_columns=ClassColumns(columns="p_*")),
        )
        outcome = run(
            ShiftRequest(
                data=data,
                target=(str(tmp_path / "target.parquet"),),
                estimator=ShiftEstimator(estimator),
                resampling=OptionalResampling(bootstrap=79, confidence=0.95, seed=seed),
            )
        )
        names.append(outcome.report.payload()["changed"])
    return names


@pytest.mark.parametrize("case", NAMED)
def test_no_class_is_named_without_a_shift(tmp_path, case):
    classes = NAMED[case][0]
    runs = max(40, RUNS // 4) if NAMED[case][3] == "bbse" else max(20, RUNS // 8)
    named = changed_classes(tmp_path, runs, NAMED[case], np.full(classes, 1 / classes))
    found = sum(name is not None for name in named)
    assert stats.binomtest(found, runs, 0.06, alternative="greater").pvalue > 0.003, found / runs


def test_a_class_that_is_half_as_frequent_again_is_named(tmp_path):
    prior = np.full(10, 0.85 / 9)
    prior[0] = 0.15
    runs = max(20, RUNS // 4)
    named = changed_classes(tmp_path, runs, (10, 2000, 2000, "bbse"), prior, separation=3.0)
    assert named.count("0") > 0.65 * runs
    assert sum(name not in (None, "0") for name in named) <= 0.06 * runs


def rows_by_day(random, days, law, effect, prior):
    """Draw predicted classes of days, whose shares and sizes vary; shape (days, classes)."""
    sizes = {
        "alike": np.full(days, 50.0),
        "log-normal": 50 * random.lognormal(0, 1, days),
        "Pareto": 50 * (0.2 + random.pareto(1.2, days)),
    }[law]
    shares = softmax(np.log(prior) + effect * random.normal(size=(days, len(prior))), axis=1)
    return np.stack(
        [random.multinomial(max(1, int(size)), share) for size, share in zip(sizes, shares, strict=True)]
    )


def p_value_between_days(source, target):
    cell_of, needs_exact_test = pooled_classes(source.sum(axis=0) * 1.0, target.sum(axis=0) * 1.0)
    if needs_exact_test:
        return None
    counts = []
    for table in (source, target):
        day, index = np.nonzero(table)
        counts.append(
            UnitCounts(
                unit=day,
                class_index=np.zeros(len(day), dtype=np.int64),
                cell=cell_of[index],
                count=table[day, index],
                shape=(len(table), 1, int(cell_of.max()) + 1),
            )
        )
    return same_shares_between_units(*counts).p_value


@pytest.mark.parametrize("law", ["alike", "log-normal", "Pareto"])
@pytest.mark.parametrize("effect", [0.3, 0.8])
@pytest.mark.parametrize(("days", "new_days", "classes"), [(20, 20, 3), (30, 100, 3), (60, 60, 10)])
def test_days_without_a_shift_do_not_differ(days, new_days, classes, effect, law):
    """By rows .2 to 1.0 of such files differ; with the number of days up to .34 of those with large days."""
    random, prior = np.random.default_rng([13, days, new_days, classes]), np.full(classes, 1 / classes)
    pairs = (
        [rows_by_day(random, number, law, effect, prior) for number in (days, new_days)]
        for _ in range(3 * RUNS)
    )
    p_values = [p_value for pair in pairs if (p_value := p_value_between_days(*pair)) is not None]
    rejected = sum(p_value < 0.05 for p_value in p_values)
    assert not p_values or (
        stats.binomtest(rejected, len(p_values), 0.06, alternative="greater").pvalue > 0.003
    ), rejected / len(p_values)


def test_a_shift_between_days_is_found():
    random, prior = np.random.default_rng(14), np.full(3, 1 / 3)
    moved = np.array([1.5, 1, 1]) / 3.5
    pairs = [
        (rows_by_day(random, 40, "alike", 0.2, prior), rows_by_day(random, 40, "alike", 0.2, moved))
        for _ in range(RUNS)
    ]
    assert np.mean([p_value_between_days(*pair) < 0.05 for pair in pairs]) > 0.9


def rows_of_customers(random, customers, correlation):
    """Draw three classes at even priors for ten rows of each customer, and probabilities of them."""
    likely = random.integers(0, 3, customers)
    label = np.where(random.random((customers, 10)) < correlation**0.5, likely[:, None], 3)
    label = np.where(label == 3, random.integers(0, 3, label.shape), label).ravel()
    values = random.normal(size=(len(label), 3))
    values[np.arange(len(label)), label] += 1.5
    return softmax(1.5 * values, axis=1), label


@pytest.mark.parametrize("correlation", [0, 0.5])
def test_rows_of_customers_taken_as_independent_break_the_levels(correlation):
    """Why customers must be named, or a row of each be kept."""
    names, covered, rejected, runs = ("0", "1", "2"), 0, 0, max(60, RUNS // 2)
    for seed in range(runs):
        random = np.random.default_rng([15, round(10 * correlation), seed])
        rows = rows_of_customers(random, 50, correlation)
        new, _ = rows_of_customers(random, 50, correlation)
        evidence = evidence_of("hard", rows, new, names)
        estimate = evidence.estimate()
        redrawn = [
            evidence.redrawn(generator(seed, Purpose.BOOTSTRAP, number), estimate) for number in range(79)
        ]
        limits = np.array(intervals_of_weights([weights for weights, _ in redrawn], 0.95))
        covered += ((limits[:, 0] <= 1) & (limits[:, 1] >= 1)).mean()
        rejected += no_shift_p_value(evidence.joint.sum(axis=1), evidence.target) <= 0.05
    if correlation:
        assert covered / runs < 0.85
        assert rejected / runs > 0.2
        keep("shift/ten rows of a customer/covered", covered / runs, runs)
        keep("shift/ten rows of a customer/no shift rejected", rejected / runs, runs)
    else:
        assert covered / runs >= lowest(0.93, runs)
        assert rejected / runs <= 0.05 + 3 * np.sqrt(0.05 / runs)
