"""Tests of cumulated probabilities: the same doubles as by a scan, and fast for many classes."""

import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from tests.oracles import nonconformity as oracle
from uqcli.kernels import nonconformity
from uqcli.kernels.nonconformity import sets_below, true_label_scores


@st.composite
def problems(draw):
    """Draw rows of few or many classes, with ties, zeros, tiny negatives, and thresholds by class or row."""
    classes = draw(st.one_of(st.integers(2, 5), st.integers(14, 60)))
    rows = draw(st.integers(1, 8))
    random = np.random.default_rng(draw(st.integers(0, 2**32)))
    probability = random.dirichlet(np.full(classes, draw(st.sampled_from([0.05, 1.0, 1000.0]))), rows)
    if draw(st.booleans()):
        probability = probability.round(2)  # ties, and sums that differ from 1
    if draw(st.booleans()):
        probability[random.random(probability.shape) < 0.2] = -1e-7
    label = random.integers(0, classes, rows)
    uniform = random.choice([0.0, 0.3, 0.99, 1.0], rows)
    threshold_rows = draw(st.sampled_from([1, rows]))
    threshold = random.choice([0.0, 0.2, 0.5, 0.9, 0.999, 1.0], (threshold_rows, classes))
    return probability, label, uniform, threshold


def thresholds_by_row(threshold, rows):
    return threshold if len(threshold) == rows else np.repeat(threshold, rows, axis=0)


@given(problems())
def test_scores_and_sets_equal_those_of_the_scan_exactly(problem):
    probability, label, uniform, threshold = problem
    expected = [
        oracle.true_label_score(*row)
        for row in zip(probability.tolist(), label.tolist(), uniform.tolist(), strict=True)
    ]
    assert true_label_scores(probability, label, uniform).tolist() == expected
    threshold_rows = thresholds_by_row(threshold, len(label))
    sets = [
        oracle.members(*row)
        for row in zip(probability.tolist(), threshold_rows.tolist(), uniform.tolist(), strict=True)
    ]
    assert sets_below(probability, threshold, uniform).tolist() == sets


@given(problems())
def test_compiled_equals_python(problem):
    probability, label, uniform, threshold = problem
    scores = [np.empty(len(label)) for _ in range(2)]
    nonconformity.fill_true_label_scores.python(
        probability, label, uniform, scores[0], np.empty(probability.shape[1])
    )
    nonconformity.fill_true_label_scores.compiled(
        probability, label, uniform, scores[1], np.empty(probability.shape[1])
    )
    assert scores[0].tolist() == scores[1].tolist()
    order = np.empty(probability.shape[1], dtype=np.int64)
    masks = [np.zeros(probability.shape, dtype=bool) for _ in range(2)]
    nonconformity.fill_sets.python(probability, threshold, uniform, masks[0], order)
    nonconformity.fill_sets.compiled(probability, threshold, uniform, masks[1], order)
    assert (masks[0] == masks[1]).all()


class Counted(float):
    """A number that counts how often it is compared."""

    comparisons = 0

    def __gt__(self, other):
        Counted.comparisons += 1
        return float(self) > float(other)

    def __lt__(self, other):
        Counted.comparisons += 1
        return float(self) < float(other)


def test_many_near_flat_classes_cost_little_more_than_a_few_likely_ones():
    """Summing all likelier classes again for each class would cost a hundred times as much."""
    flat, peaked = (comparisons(concentration) for concentration in (1000.0, 0.01))
    assert flat < 20 * peaked


def comparisons(concentration):
    """Count the comparisons for the scores and sets of 5 rows of 500 classes."""
    random = np.random.default_rng(5)
    rows, classes = 5, 500
    probability = random.dirichlet(np.full(classes, concentration), rows)
    counted = np.array([[Counted(value) for value in row] for row in probability], dtype=object)
    label, uniform = random.integers(0, classes, rows).tolist(), random.random(rows).tolist()
    Counted.comparisons = 0
    likelier, inside = [0.0] * classes, np.zeros(probability.shape, dtype=bool)
    nonconformity.fill_true_label_scores.python(counted, label, uniform, [0.0] * rows, likelier)
    threshold = np.full((1, classes), 0.95)
    nonconformity.fill_sets.python(counted, threshold, uniform, inside, [0] * classes)
    assert inside.any()
    return Counted.comparisons
