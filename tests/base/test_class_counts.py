"""Tests of pooled rows of class probabilities, against loops over rows."""

from collections import Counter

import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from tests.properties.class_rows import problems
from uqcli.base.rows import ClassCounts, DistinctClasses


def counted(probability, label, weight):
    """Add up the weights of equal rows, one by one."""
    rows = Counter()
    for row, class_index, times in zip(probability.tolist(), label.tolist(), weight, strict=True):
        rows[*row, class_index] += times
    return sorted((row, times) for row, times in rows.items() if times)


def rows_of(counts):
    columns = zip(counts.probability.tolist(), counts.label.tolist(), counts.count.tolist(), strict=True)
    return [((*row, class_index), times) for row, class_index, times in columns]


@given(problems(), st.data())
def test_sorted_rows_are_counted_by_any_weight(problem, data):
    probability, label, _ = problem
    weight = st.lists(st.integers(0, 3), min_size=len(label), max_size=len(label)).map(np.array)
    distinct = DistinctClasses.of(probability, label)
    for weights in (None, data.draw(weight), data.draw(weight)):
        expected = counted(probability, label, np.ones(len(label), dtype=int) if weights is None else weights)
        assert rows_of(distinct.counts(weights)) == expected
        assert rows_of(ClassCounts.from_rows(probability, label, weights)) == expected


@given(problems(), st.booleans())
def test_a_class_against_the_rest_is_counted_by_its_probability(problem, with_weight):
    probability, label, _ = problem
    weight = np.arange(len(label)) % 3 + 1 if with_weight else np.ones(len(label), dtype=int)
    counts = ClassCounts.from_rows(probability, label, weight)
    observed = counts.observed_labels()
    for index in range(probability.shape[1]):
        pooled, other = counts.against_rest(index), counts.one_vs_rest(index, observed)
        values = sorted(set(probability[:, index].tolist()))
        assert pooled.value.tolist() == other.value.tolist() == values
        of_values = [(probability[:, index] == value) for value in values]
        assert pooled.count.tolist() == [weight[rows].sum() for rows in of_values]
        assert pooled.positives.tolist() == [weight[rows & (label == index)].sum() for rows in of_values]
        assert other.count.tolist() == pooled.count.tolist()
        assert other.positives.tolist() == pooled.positives.tolist()
