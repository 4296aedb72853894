"""Copies are told from independent rows that came out alike, and weights that count rows from others."""

import numpy as np
import pytest

from uqcli.jobs.boundary.keyed import copies
from uqcli.jobs.calibrate.sampled_rows import deal_rows
from uqcli.repeats import WeightSummary, are_copies
from uqcli.rows import Rows


def table(score, uncertainty, positive, weight=None):
    numbers = {"score": score} if uncertainty is None else {"score": score, "uncertainty": uncertainty}
    return Rows(numbers=numbers, positive=positive, weight=weight).pooled()


def drawn(seed, size, rate=1.0):
    random = np.random.default_rng(seed)
    score, uncertainty = random.beta(1, 2, size), random.random(size)
    return score, uncertainty, random.random(size) < rate * score


@pytest.mark.parametrize("seed", range(10))
@pytest.mark.parametrize(("rate", "size"), [(1.0, 300), (0.1, 3000), (0.01, 50_000)])
def test_copies_are_told_from_rows_that_came_out_alike(seed, rate, size):
    score, uncertainty, positive = drawn(seed, size, rate)
    for digits in (1, 2, 3):
        assert not are_copies(table(score.round(digits), None, positive))
        assert not are_copies(table(score.round(digits), uncertainty.round(1), positive))
    weight = np.random.default_rng(seed).integers(1, 12, size)
    assert are_copies(table(score, uncertainty, positive, weight))
    assert are_copies(table(*(np.repeat(each, 5) for each in (score, uncertainty, positive))))
    assert not are_copies(table(score, uncertainty, positive))


def test_rows_without_numbers_enough_are_no_copies():
    assert not are_copies(table(np.array([0.5]), None, np.array([True]), np.array([9])))
    assert not are_copies(table(np.array([0.1, 0.9]), None, np.array([False, True]), np.array([50, 50])))


@pytest.mark.parametrize("weighted", [True, False])
def test_copies_of_a_row_stay_on_one_side(weighted):
    score, uncertainty, positive = drawn(1, 400)
    weight = np.random.default_rng(2).integers(1, 9, 400)
    if weighted:
        rows = table(score, uncertainty, positive, weight)
    else:
        rows = table(*(np.repeat(each, weight) for each in (score, uncertainty, positive)))
    single = copies(rows, 0)
    part = single.parts([len(single.of) // 5 * number for number in range(1, 5)])
    for row in range(len(rows)):
        assert len(set(part[single.of == row].tolist())) == 1
    sizes = np.bincount(part)
    assert sizes.min() > 0.9 * sizes.max()
    folds = deal_rows(rows, 5, np.random.default_rng(0))
    assert (np.count_nonzero(folds, axis=0) == 1).all()
    assert (folds.sum(axis=0) == rows.weights()).all()
    alike = table(score.round(1), None, positive)
    assert (np.count_nonzero(deal_rows(alike, 5, np.random.default_rng(0)), axis=0) > 1).any()


def seen(score, uncertainty, label, weight, batches=1):
    found = WeightSummary()
    for part in np.array_split(np.arange(len(score)), batches):
        found.add_rows(
            Rows(
                numbers={"score": score[part], "uncertainty": uncertainty[part]},
                positive=label[part],
                weight=weight[part],
            )
        )
    return found.caution()


@pytest.mark.parametrize("seed", range(5))
def test_weights_that_count_no_rows_are_cautioned_against(seed):
    random = np.random.default_rng(seed)
    score, uncertainty, label = drawn(seed, 3000)
    cases = {
        "weights are": np.ceil(random.lognormal(3, 1, 3000)).astype(np.int64),
        "weights are 1": np.where(label, 1, 20),
        "weights take 2 values and follow the label": np.where(label, 1, 3),
        "weights take 4 values and follow the label": np.where(label, 2, 1) * random.integers(1, 3, 3000)
        + label,
    }
    for said, weight in cases.items():
        assert seen(score, uncertainty, label, weight).startswith(said)
        order = random.permutation(3000)
        assert seen(*(each[order] for each in (score, uncertainty, label, weight)), batches=7).startswith(
            said
        )
    for weight in (np.ones(3000, dtype=np.int64), random.integers(0, 4, 3000)):
        assert seen(score, uncertainty, label, weight) == ""


@pytest.mark.parametrize("seed", range(5))
@pytest.mark.parametrize(("digits", "levels"), [(2, 0), (2, 1), (3, 1), (1, 1)])
@pytest.mark.parametrize("rate", [1.0, 0.02])
def test_grouped_counts_are_not(seed, digits, levels, rate):
    score, uncertainty, label = drawn(seed, 40_000, rate)
    grouped = table(score.round(digits), uncertainty.round(levels), label)
    columns = (*grouped.numbers.values(), grouped.labels, grouped.weights())
    assert seen(*columns, batches=3) == ""
    by_score = seen(
        columns[0], np.zeros(len(grouped)), *columns[2:]
    )  # as a command that reads no uncertainty
    assert by_score == ""


def test_a_sample_tells_the_same_in_any_order(monkeypatch):
    monkeypatch.setattr("uqcli.repeats.MOST_SAMPLED", 100)
    score, uncertainty, label = drawn(3, 2000)
    found = []
    for seed in range(4):
        order = np.random.default_rng(seed).permutation(2000)
        one = WeightSummary()
        for part in np.array_split(order, 1 + 3 * seed):
            one.add([score[part], uncertainty[part]], label[part].astype(np.int64), np.full(len(part), 7))
        found.append(
            (one.key.tolist(), one.size.tolist(), one.odd.tolist(), one.rows.tolist(), one.caution())
        )
    assert found[0] == found[1] == found[2] == found[3]
    assert len(found[0][0]) == 100
