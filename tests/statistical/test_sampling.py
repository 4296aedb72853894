"""Simulations of sampling weights: intervals cover, and rows drawn for recall save labels.

A run with all repetitions takes minutes; ``make statistical QUICK=1`` does a tenth of them.
"""

import contextlib
import itertools
from pathlib import Path

import numpy as np
import polars as pl
import pytest
from scipy.special import ndtr, ndtri

import uqcli
from tests.statistical.levels import keep, lowest, repetitions
from uqcli.base.choices import OnInvalid
from uqcli.base.counts import bin_of
from uqcli.base.rows import Rows
from uqcli.base.sampling_weights import inverse
from uqcli.engines.request import DataRequest, Roles, in_memory
from uqcli.estimates.design import flags
from uqcli.estimates.proportion import clopper_pearson
from uqcli.evaluate.decisions import DecisionTally, units_of
from uqcli.evaluate.labelled_part import labelled_parts
from uqcli.sample.sampling import RateCounter, labels_for, recall_design, steps

REPETITIONS = repetitions(100) * 3 // 2
LEAST = lowest(0.93, REPETITIONS)
"""Least coverage that 93 % would show by chance."""

CENSUS = Path(__file__).parents[2] / "sample_data" / "census_test.parquet"


def rates(score, label, flagged, weight, taken):
    """Return the intervals of precision, recall and fpr of the rows taken, in which zone 0 is flagged."""
    rows = Rows(numbers={"score": score[taken], "sampling_weight": weight[taken]}, positive=label[taken])
    return intervals_of(sampled(rows, [np.where(flagged[taken], 0, 2)]))


def sampled(rows, zones):
    """Return the design of rows with sampling weights."""
    tally = DecisionTally(len(zones), units_of(None, None), is_weighted=True)
    tally.add(rows, zones)
    return tally.of_all(0.95, "clusters")


def intervals_of(design):
    """Return the intervals of precision, recall and fpr, in which zone 0 is flagged."""
    return (
        design.precision(flags(0)),
        design.share(flags(0), positive=True),
        design.share(flags(0), positive=False),
    )


def part_of(score, label, known, rule):
    """Return the design of rows of which some have a label."""
    (part,) = labelled_parts(some_labels(score, label, known), [rule], units_of(None, None))
    return part.of_all(0.95, 1, "clusters")


def some_labels(score, label, known):
    """Return a request for rows of which some have a label."""
    frame = pl.DataFrame({"score": score, "label": np.where(known, label, np.nan)})
    return DataRequest(
        inputs=in_memory(frame.with_columns(pl.col("label").fill_nan(None))),
        roles=Roles(numbers={"score": "score"}, label="label"),
        on_invalid=OnInvalid.DROP,
    )


def coverage(draw, truth):
    """Return how often each interval covers its truth; one that is not printed is no miss."""
    covered = np.zeros(len(truth))
    for _ in range(REPETITIONS):
        covered += [
            found.low is None or found.low <= value <= found.high
            for found, value in zip(draw(), truth, strict=True)
        ]
    return covered / REPETITIONS


def rare(random, rows):
    """Draw rows of a prevalence of 0.5 % from two normal classes; positives score 2.5 higher on average."""
    label = random.random(rows) < 0.005
    return random.normal(size=rows) + 2.5 * label, label


def law(threshold):
    """Return the true precision, recall and fpr of a threshold on rare rows."""
    from scipy.stats import norm

    recall, fpr = norm.sf(threshold - 2.5), norm.sf(threshold)
    return 0.005 * recall / (0.005 * recall + 0.995 * fpr), recall, fpr


FEW_HEAVY = [
    *itertools.product([200, 600, 2000], [0.02, 0.05], [50.0, 200.0]),
    (5000, 0.01, 50.0),
    (20_000, 0.002, 50.0),
    (20_000, 0.002, 200.0),
]


@pytest.mark.parametrize(("rows", "heavy_share", "heavy"), FEW_HEAVY)
def test_rates_of_rows_with_a_few_heavy_weights_are_covered(rows, heavy_share, heavy):
    """Weights have nothing to do with the label; 0.3.0 covered down to 56 %."""
    random = np.random.default_rng([5, rows, round(100 * heavy_share), round(heavy)])

    def draw():
        flagged = random.random(rows) < 0.5
        label = random.random(rows) < np.where(flagged, 0.9, 0.02)
        weight = np.where(random.random(rows) < heavy_share, heavy, 1.0)
        return rates(flagged * 1.0, label, flagged, weight, np.ones(rows, dtype=bool))

    assert (coverage(draw, (0.9, 0.45 / 0.46, 0.05 / 0.54)) >= LEAST).all()


@pytest.mark.parametrize("threshold", [2.0, 3.0, 3.5, 4.0])
@pytest.mark.parametrize(
    ("positive_share", "negative_share"), [(1.0, 0.2), (1.0, 0.1), (1.0, 0.02), (0.5, 0.05)]
)
def test_rates_of_rows_kept_by_label_are_covered(threshold, positive_share, negative_share):
    """Often no flagged row with a large weight is drawn."""
    random = np.random.default_rng([round(10 * threshold), round(1 / negative_share)])

    def draw():
        score, label = rare(random, 100_000)
        share = np.where(label, positive_share, negative_share)
        taken = random.random(len(score)) < share
        return rates(score, label, score >= threshold, 1 / share, taken)

    assert (coverage(draw, law(threshold)) >= LEAST).all()


@pytest.mark.parametrize("bad", [0.0, 0.3, 0.6])
@pytest.mark.parametrize("others", [200, 1000])
def test_rare_rows_that_were_not_drawn_are_not_seen(others, bad):
    """Of flagged rows, 20 were kept with a probability of .05 and all others; often none of them is drawn."""
    random, heavy = np.random.default_rng([6, others, round(10 * bad)]), np.arange(2 * others + 40) < 20

    def draw():
        flagged = np.arange(len(heavy)) < others + 20
        label = random.random(len(heavy)) < np.where(heavy, bad, np.where(flagged, 0.9, 0.02))
        taken = ~heavy | (random.random(len(heavy)) < 0.05)
        return rates(flagged * 1.0, label, flagged, np.where(heavy, 20.0, 1.0), taken)

    precision = (20 * bad + 0.9 * others) / (others + 20)
    wrong = (1 - precision) * (others + 20)
    fpr = wrong / (wrong + 0.98 * (others + 20))
    missed = 1 - coverage(draw, (precision, 0.0, fpr))[[0, 2]]
    assert missed.max() < 0.5
    for name, share in zip(("precision", "fpr"), missed, strict=True):
        keep(f"sampling/20 rare rows/{name} missed/{others} others, {bad} positive", share, REPETITIONS)


NO_COUNTS = {
    "amounts": lambda random, size: np.maximum(1, np.rint(np.exp(random.normal(2, 0.5, size)))),
    "one in ten kept": lambda random, size: np.where(random.random(size) < 0.5, 10, 1),
    "copies": lambda random, size: np.full(size, 10),
}
"""Weights that are not numbers of independent rows."""


@pytest.mark.filterwarnings("ignore:weights are")
@pytest.mark.parametrize("weights", NO_COUNTS)
def test_weights_that_are_no_counts_break_the_levels(weights):
    """Why ``--weight`` is for counts: intervals are too narrow, and certificates break."""
    covered, broken = 0, 0
    for seed in range(REPETITIONS):
        random = np.random.default_rng([7, seed])
        weight = NO_COUNTS[weights](random, 400).astype(np.int64)
        hit = random.random(400) < 0.8
        low, high = clopper_pearson(int(weight[hit].sum()), int(weight.sum()), 0.95)
        covered += low <= 0.8 <= high
        score = random.random(2000)
        label, weight = random.random(2000) < score**2, NO_COUNTS[weights](random, 2000).astype(np.int64)
        options = {"weight": weight, "precision": "0.7", "certify": "0.1", "score_bins": 100, "seed": seed}
        with contextlib.suppress(uqcli.InfeasibleError):
            (threshold,) = uqcli.find_boundary(score, label, algorithm="st", **options).thresholds
            broken += (1 - threshold**3) / 3 / (1 - threshold) < 0.7
    assert covered / REPETITIONS < 0.8
    assert broken / REPETITIONS > 0.1
    keep(f"weights that are no counts/covered/{weights}", covered / REPETITIONS, REPETITIONS)
    keep(f"weights that are no counts/certificates break/{weights}", broken / REPETITIONS, REPETITIONS)


@pytest.mark.parametrize("labels", [100, 300, 1000])
@pytest.mark.parametrize("threshold", [1.5, 2.5, 3.5])
def test_rates_of_rows_drawn_for_recall_are_covered(threshold, labels):
    random = np.random.default_rng([round(threshold), labels])

    def draw():
        score, label = rare(random, 50_000)
        odds = 0.005 / 0.995 * np.exp(2.5 * score - 2.5**2 / 2)
        step, flagged = steps(odds / (1 + odds)), score >= threshold
        counter = RateCounter()
        counter.add(step, flagged, np.zeros(len(flagged), dtype=bool))
        probability = recall_design(counter.result(), labels).of_rows(step, flagged)
        taken = random.random(len(score)) < probability
        return rates(score, label, flagged, inverse(probability), taken)

    assert (coverage(draw, law(threshold)) >= LEAST).all()


@pytest.mark.parametrize(("flagged_share", "cleared_share"), [(0.6, 0.02), (0.1, 0.2), (1.0, 0.004)])
@pytest.mark.parametrize("threshold", [1.5, 3.0])
def test_rates_of_rows_with_labels_for_some_are_covered(threshold, flagged_share, cleared_share):
    random = np.random.default_rng([round(10 * threshold), round(1000 * cleared_share)])
    rule = uqcli.find_boundary([0.0, threshold], [0, 1], precision=1, algorithm="st").artifact

    def draw():
        score, label = rare(random, 30_000)
        known = random.random(len(score)) < np.where(score >= threshold, flagged_share, cleared_share)
        design = part_of(score, label, known, rule)
        assert not design.missing
        return intervals_of(design)

    assert (coverage(draw, law(threshold)) >= LEAST).all()


def has_label(random, design, score, threshold):
    """Draw which rows have a label, by their score alone."""
    rank, draw = score.argsort().argsort() / len(score), random.random(len(score))
    match design:
        case "all above a cut, 15 % below":
            return (rank >= 0.9) | (draw < 0.15)
        case "three tiers":
            return draw < np.select([rank >= 0.95, rank >= 0.7], [1, 0.4], 0.08)
        case "falls smoothly":
            return draw < 0.03 + 0.95 / (1 + np.exp(-12 * (rank - 0.9)))
        case "all flagged rows, 1 % of the others":
            return (score >= threshold) | (draw < 0.01)
    return draw < 0.3


DESIGNS = [
    "all above a cut, 15 % below",
    "three tiers",
    "falls smoothly",
    "all flagged rows, 1 % of the others",
    "at random",
]


@pytest.mark.parametrize("design", DESIGNS)
@pytest.mark.parametrize(
    ("rows", "prevalence"), [(2000, 0.2), (20_000, 0.01), (20_000, 0.1), (200_000, 0.05)]
)
def test_rates_of_rows_labelled_by_score_are_covered(design, rows, prevalence):
    """Few rates are unknown; those of 0.3.0, in five bins of each decision, were covered as little as 0 %."""
    runs = max(10, REPETITIONS // 2) if rows < 100_000 else max(10, REPETITIONS // 10)
    random = np.random.default_rng([rows, round(1000 * prevalence), DESIGNS.index(design)])
    for recall in (0.4, 0.7, 0.9):
        threshold = 2 - ndtri(recall)
        rule = uqcli.find_boundary([0.0, threshold], [0, 1], precision=1, algorithm="st").artifact
        fpr = ndtr(-threshold)
        truth = prevalence * recall / (prevalence * recall + (1 - prevalence) * fpr), recall, fpr
        covered, made, tables, unknown = np.zeros(3), np.zeros(3), 0, 0
        for _ in range(runs):
            label = random.random(rows) < prevalence
            score = random.normal(size=rows) + 2 * label
            known, flagged = has_label(random, design, score, threshold), score >= threshold
            part = part_of(score, label, known, rule)
            enough = (known & ~flagged).sum() >= 100
            sides = min((known & label & flagged).sum(), (known & label & ~flagged).sum())
            tables += enough and sides >= 20
            unknown += enough and sides >= 20 and bool(part.halving)
            if enough and not part.halving:
                found = [rate.low is not None for rate in intervals_of(part)]
                made += found
                covered += [
                    shown and rate.low <= value <= rate.high
                    for shown, rate, value in zip(found, intervals_of(part), truth, strict=True)
                ]
        assert (covered >= made * lowest(0.93, made, drawn=REPETITIONS)).all(), (covered, made)
        assert unknown <= tables * 0.05 + 3 * np.sqrt(tables * 0.05 * 0.95), (unknown, tables)


@pytest.mark.parametrize(
    ("rows", "threshold", "shares"), [(60_000, 2.0, (1.0, 0.1)), (60_000, 3.0, (1.0, 0.02))]
)
def test_differences_of_rules_are_covered(rows, threshold, shares):
    """Of two equally good scores; without the rule on few outcomes, precision is covered in 84 %."""
    random = np.random.default_rng(round(threshold))

    def draw():
        label = random.random(rows) < 0.005
        scores = random.normal(size=(2, rows)) + 2.5 * label
        share = np.where(label, *shares)
        taken = random.random(rows) < share
        drawn = {"score": scores[0][taken], "sampling_weight": (1 / share)[taken]}
        zones = [np.where(score[taken] >= threshold, 0, 2) for score in scores]
        design = sampled(Rows(numbers=drawn, positive=label[taken]), zones)
        return (
            design.difference(flags(0), flags(1), positive=True),
            design.precision_difference(flags(0), flags(1)),
        )

    assert (coverage(draw, (0.0, 0.0)) >= LEAST).all()


def isotonic(score, label):
    """Return the rates of 40 equi-weight score bins; labels of other rows than those that are drawn."""
    edges = np.quantile(score, np.arange(1, 40) / 40)
    bins = bin_of(score, edges)
    return edges, np.bincount(bins, label, 40) / np.bincount(bins, minlength=40)


@pytest.mark.parametrize(("recall", "least"), [(0.2, 1.4), (0.3, 1.2), (0.5, 1.0), (0.7, 1.0), (0.9, 1.0)])
def test_rows_drawn_for_recall_save_labels_on_the_census(recall, least):
    frame = pl.read_parquet(CENSUS)
    score, label = frame["score"].to_numpy(), frame["label"].to_numpy().astype(bool)
    edges, rate = isotonic(score[::2], label[::2])
    score, label = score[1::2], label[1::2]
    flagged = score >= np.quantile(score[label], 1 - recall)
    step = steps(rate[bin_of(score, edges)])
    counter = RateCounter()
    counter.add(step, flagged, np.zeros(len(flagged), dtype=bool))
    designed = recall_design(counter.result(), 500).of_rows(step, flagged)
    random = np.random.default_rng(3)

    def error(probability):
        found = [
            rates(score, label, flagged, inverse(probability), random.random(len(score)) < probability)[1]
            for _ in range(5 * REPETITIONS)
        ]
        return np.std([interval.value for interval in found])

    ratio = error(np.full(len(score), 500 / len(score))) / error(designed)
    assert ratio >= least * (1 - 3 / np.sqrt(5 * REPETITIONS))


@pytest.mark.parametrize("width", [0.1, 0.2])
def test_planned_labels_give_the_width_on_the_census(width):
    frame = pl.read_parquet(CENSUS)
    score, label = frame["score"].to_numpy(), frame["label"].to_numpy().astype(bool)
    edges, rate = isotonic(score[::2], label[::2])
    score, label = score[1::2], label[1::2]
    flagged = score >= np.quantile(score[label], 0.7)
    step = steps(rate[bin_of(score, edges)])
    counter = RateCounter()
    counter.add(step, flagged, np.zeros(len(flagged), dtype=bool))
    rows = counter.result()
    labels = labels_for(lambda number: recall_design(rows, number).width(0.95), width, rows.rows)
    probability = recall_design(rows, labels).of_rows(step, flagged)
    random, widths = np.random.default_rng(9), []
    for _ in range(REPETITIONS):
        taken = random.random(len(score)) < probability
        _, recall, _ = rates(score, label, flagged, inverse(probability), taken)
        widths.append(recall.high - recall.low)
    assert np.mean(widths) == pytest.approx(width, rel=0.1)
