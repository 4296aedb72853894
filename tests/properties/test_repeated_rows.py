"""Tests that copied rows are recognised, and so are weights that are not row counts."""

import numpy as np
import pytest

from uqcli.base.rows import Rows
from uqcli.boundary.drawn_rows import split_by_hash
from uqcli.calibrate.folds import deal_rows
from uqcli.engines.repeated_rows import WeightSummary, are_copies


def pooled_rows(score, uncertainty, positive, weight=None):
    numbers = {"score": score} if uncertainty is None else {"score": score, "uncertainty": uncertainty}
    return Rows(numbers=numbers, positive=positive, weight=weight).pooled()


def draw_rows(seed, size, rate=1.0):
    random = np.random.default_rng(seed)
    score, uncertainty = random.beta(1, 2, size), random.random(size)
    return score, uncertainty, random.random(size) < rate * score


@pytest.mark.covering("thorough", every=3)
@pytest.mark.parametrize("seed", range(10))
@pytest.mark.parametrize(("rate", "size"), [(1.0, 300), (0.1, 3000), (0.01, 50_000)])
def test_copies_are_distinguished_from_rows_that_are_equal_by_chance(seed, rate, size):
    score, uncertainty, positive = draw_rows(seed, size, rate)
    for digits in (1, 2, 3):
        assert not are_copies(pooled_rows(score.round(digits), None, positive))
        assert not are_copies(pooled_rows(score.round(digits), uncertainty.round(1), positive))
    weight = np.random.default_rng(seed).integers(1, 12, size)
    assert are_copies(pooled_rows(score, uncertainty, positive, weight))
    assert are_copies(pooled_rows(*(np.repeat(column, 5) for column in (score, uncertainty, positive))))
    assert not are_copies(pooled_rows(score, uncertainty, positive))


def test_too_few_rows_are_no_copies():
    assert not are_copies(pooled_rows(np.array([0.5]), None, np.array([True]), np.array([9])))
    assert not are_copies(
        pooled_rows(np.array([0.1, 0.9]), None, np.array([False, True]), np.array([50, 50]))
    )


@pytest.mark.parametrize("weighted", [True, False])
def test_copies_of_a_row_stay_in_one_fold(weighted):
    score, uncertainty, positive = draw_rows(1, 400)
    weight = np.random.default_rng(2).integers(1, 9, 400)
    if weighted:
        rows = pooled_rows(score, uncertainty, positive, weight)
    else:
        rows = pooled_rows(*(np.repeat(column, weight) for column in (score, uncertainty, positive)))
    parts = np.array(split_by_hash(rows, 0, [int(rows.weights().sum()) // 5 * fold for fold in range(1, 5)]))
    assert (np.count_nonzero(parts, axis=0) == 1).all()
    assert (parts.sum(axis=0) == rows.weights()).all()
    sizes = parts.sum(axis=1)
    assert sizes.min() > 0.9 * sizes.max()
    folds = deal_rows(rows, 5, np.random.default_rng(0))
    assert (np.count_nonzero(folds, axis=0) == 1).all()
    assert (folds.sum(axis=0) == rows.weights()).all()
    rounded = pooled_rows(score.round(1), None, positive)
    assert (np.count_nonzero(deal_rows(rounded, 5, np.random.default_rng(0)), axis=0) > 1).any()


def caution_of(score, uncertainty, label, weight, batches=1):
    summary = WeightSummary()
    for part in np.array_split(np.arange(len(score)), batches):
        summary.add_rows(
            Rows(
                numbers={"score": score[part], "uncertainty": uncertainty[part]},
                positive=label[part],
                weight=weight[part],
            )
        )
    return summary.caution()


@pytest.mark.parametrize("seed", range(5))
def test_weights_that_are_not_row_counts_give_a_caution(seed):
    random = np.random.default_rng(seed)
    score, uncertainty, label = draw_rows(seed, 3000)
    cases = {
        "weights are": np.ceil(random.lognormal(3, 1, 3000)).astype(np.int64),
        "weights are 1": np.where(label, 1, 20),
        "weights take 2 values and follow the label": np.where(label, 1, 3),
        "weights take 4 values and follow the label": np.where(label, 2, 1) * random.integers(1, 3, 3000)
        + label,
    }
    for caution, weight in cases.items():
        assert caution_of(score, uncertainty, label, weight).startswith(caution)
        order = random.permutation(3000)
        assert caution_of(
            *(column[order] for column in (score, uncertainty, label, weight)), batches=7
        ).startswith(caution)
    for weight in (np.ones(3000, dtype=np.int64), random.integers(0, 4, 3000)):
        assert caution_of(score, uncertainty, label, weight) == ""


@pytest.mark.parametrize("seed", range(5))
@pytest.mark.parametrize(("digits", "levels"), [(2, 0), (2, 1), (3, 1), (1, 1)])
@pytest.mark.parametrize("rate", [1.0, 0.02])
def test_grouped_counts_give_no_caution(seed, digits, levels, rate):
    score, uncertainty, label = draw_rows(seed, 40_000, rate)
    grouped = pooled_rows(score.round(digits), uncertainty.round(levels), label)
    columns = (*grouped.numbers.values(), grouped.labels, grouped.weights())
    assert caution_of(*columns, batches=3) == ""
    by_score = caution_of(
        columns[0], np.zeros(len(grouped)), *columns[2:]
    )  # as in a command that reads no uncertainty
    assert by_score == ""


def test_a_sample_is_the_same_in_any_order_of_rows(monkeypatch):
    monkeypatch.setattr("uqcli.engines.repeated_rows.MAX_SAMPLED", 100)
    score, uncertainty, label = draw_rows(3, 2000)
    summaries = []
    for seed in range(4):
        order = np.random.default_rng(seed).permutation(2000)
        summary = WeightSummary()
        for part in np.array_split(order, 1 + 3 * seed):
            summary.add([score[part], uncertainty[part]], label[part].astype(np.int64), np.full(len(part), 7))
        summaries.append(
            (
                summary.key.tolist(),
                summary.size.tolist(),
                summary.odd.tolist(),
                summary.rows.tolist(),
                summary.caution(),
            )
        )
    assert summaries[0] == summaries[1] == summaries[2] == summaries[3]
    assert len(summaries[0][0]) == 100


@pytest.mark.parametrize("seed", range(3))
@pytest.mark.parametrize("digits", [1, 2, 3, 15])
def test_weights_of_kept_negatives_give_a_caution_however_the_scores_are(seed, digits):
    """Negatives kept by a rate have one weight, positives another; rounded scores occur with both labels."""
    score, uncertainty, label = draw_rows(seed, 3000, 0.2)
    for kept in (2, 10, 50):
        weight = np.where(label, 1, kept)
        for columns in ((score.round(digits), uncertainty), (score.round(digits), np.zeros(3000))):
            assert caution_of(*columns, label, weight, batches=3).startswith("weights ")
        for some in (weight, np.where(np.arange(3000) % 25 == 0, 1, weight)):  # and some hard negatives
            assert caution_of(score.round(1), np.zeros(3000), label, some).startswith("weights take 2 values")


@pytest.mark.parametrize("weights", [(1, 10), (1, 2, 1000), (3, 4), tuple(range(1, 400))])
@pytest.mark.parametrize("digits", [1, 2, 3])
def test_weights_that_have_nothing_to_do_with_the_label_give_no_caution(weights, digits):
    """Even if few rows are heavy: the test orders the weights, and does not compare their sums."""
    for seed in range(20):
        random = np.random.default_rng(seed)
        score, _, label = draw_rows(seed, 1000, 0.5)
        weight = random.choice(
            weights, 1000, p=np.array([0.97, *[0.03 / (len(weights) - 1)] * (len(weights) - 1)])
        )
        caution = caution_of(score.round(digits), np.zeros(1000), label, weight)
        assert "follow the label" not in caution


def test_counts_of_equal_rows_whose_sizes_follow_the_label_give_no_caution():
    """Such as 40 scores, each with 8 negatives and 2 positives: no row has the score and label of another."""
    score, label = np.repeat(np.arange(40) / 40, 2), np.tile([False, True], 40)
    weight = np.where(label, 2, 8)
    assert caution_of(score, np.zeros(80), label, weight) == ""
    repeated = caution_of(np.tile(score, 2), np.zeros(160), np.tile(label, 2), np.tile(weight, 2))
    assert repeated.startswith("weights take 2 values and follow the label")
