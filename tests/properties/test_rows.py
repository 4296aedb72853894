"""Rows as columns, held against lists of tuples."""

from collections import Counter

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from uqcli.counts import Feature
from uqcli.rows import Rows

FIELDS = ("score", "uncertainty", "positive", "class", "weight", "group", "text", "age", "position")
LEVELS = ("a", "b")
MISSING = "missing"
RECORD = st.tuples(
    st.sampled_from([-0.5, 0.0, 0.25, 1.0]),
    st.sampled_from([0.0, 2.0]),
    st.booleans(),
    st.integers(0, 2),
    st.integers(0, 3),
    st.integers(0, 1),
    st.integers(-1, 2).map(float),
    st.sampled_from([MISSING, -7.5, 30.0]),
)
SOME = st.lists(RECORD, min_size=1, max_size=16)


def numbered(records):
    """The same with positions that tell them apart."""
    return [(*record, 10 + place) for place, record in enumerate(records)]


def as_rows(records, valid=None):
    """Rows of records."""
    score, uncertainty, positive, number, weight, group, text, age, position = (
        zip(*records, strict=True) if records else [()] * len(FIELDS)
    )
    years = np.array([np.nan if each == MISSING else each for each in age], dtype=np.float64)
    return Rows(
        numbers={"score": np.array(score, dtype=float), "uncertainty": np.array(uncertainty, dtype=float)},
        positive=np.array(positive, dtype=np.bool_),
        label_class=np.array(number, dtype=np.int64),
        weight=np.array(weight, dtype=np.int64),
        groups={"city": np.array(group, dtype=np.int64)},
        features={
            "text": Feature(levels=LEVELS, value=np.array(text, dtype=float)),
            "age": Feature(levels=None, value=years),
        },
        position=np.array(position, dtype=np.int64),
        valid=None if valid is None else np.array(valid, dtype=np.bool_),
    )


def records_of(rows):
    """The records again; without positions where these are not known."""
    assert rows.features["text"].levels == LEVELS
    columns = [
        rows.score,
        rows.uncertainty,
        rows.positive,
        rows.label_class,
        rows.weight,
        rows.groups["city"],
        rows.features["text"].value,
        rows.features["age"].value,
    ]
    if rows.position is not None:
        columns.append(rows.position)
    lines = zip(*(column.tolist() for column in columns), strict=True)
    return [tuple(MISSING if each != each else each for each in line) for line in lines]


@given(SOME, st.data())
def test_some_rows_are_taken_by_place_or_by_mask(records, data):
    records = numbered(records)
    rows = as_rows(records)
    places = data.draw(st.lists(st.integers(0, len(records) - 1), max_size=20))
    assert records_of(rows.select(np.array(places, dtype=np.int64))) == [records[each] for each in places]
    mask = data.draw(st.lists(st.booleans(), min_size=len(records), max_size=len(records)))
    kept = [record for record, inside in zip(records, mask, strict=True) if inside]
    assert records_of(rows.select(np.array(mask))) == kept
    found = as_rows(records, valid=mask).usable()
    assert found.valid is None
    assert records_of(found) == kept


def test_columns_that_are_not_there_stay_away():
    bare = Rows(numbers={"score": np.array([0.5, 0.25])}).select(np.array([1]))
    assert (bare.positive, bare.label_class, bare.weight, bare.position, bare.valid) == (None,) * 5
    assert (bare.uncertainty, bare.groups, bare.features) == (None, {}, {})
    again = Rows.joined([bare, bare])
    assert (again.positive, again.weight, again.score.tolist()) == (None, None, [0.25, 0.25])


@given(SOME)
def test_rows_are_counted_by_weight(records):
    rows = as_rows(numbered(records))
    weights = [record[4] for record in records]
    assert (len(rows), rows.size) == (len(records), sum(weights))
    assert rows.weights().tolist() == weights
    alone = Rows(numbers=rows.numbers)
    assert (len(alone), alone.size, alone.weights().tolist()) == (len(records),) * 2 + ([1] * len(records),)


@given(SOME, st.data())
def test_values_are_pooled_with_their_labels(records, data):
    rows = as_rows(numbered(records))
    places = data.draw(st.lists(st.integers(0, len(records) - 1), unique=True))
    for some, taken in ((None, records), (np.array(places, dtype=np.int64), [records[i] for i in places])):
        counts = rows.counts(rows.uncertainty, some)
        found = list(zip(counts.value, counts.count, counts.positives, strict=True))
        held = sorted({record[1] for record in taken if record[4]})
        assert found == [
            (
                value,
                sum(record[4] for record in taken if record[1] == value),
                sum(record[4] for record in taken if record[1] == value and record[2]),
            )
            for value in held
        ]


def sort_key(record):
    """Score, label, features, group, uncertainty; what is missing comes first."""
    score, uncertainty, positive, number, group, text, age = record
    return score, positive, number, text, (age != MISSING, 0 if age == MISSING else age), group, uncertainty


@given(SOME, st.randoms(use_true_random=False))
def test_equal_rows_are_one_whatever_their_order(records, random):
    total = Counter()
    for record in records:
        total[record[:4] + record[5:]] += record[4]
    held = sorted((each for each, weight in total.items() if weight), key=sort_key)
    expected = [(*each[:4], total[each], *each[4:]) for each in held]
    for _ in range(2):
        pooled = as_rows(numbered(records)).pooled()
        assert pooled.position is None
        assert records_of(pooled) == expected
        random.shuffle(records)
    plain = Rows(numbers={"score": np.array([0.5, 0.25, 0.5])}).pooled()
    assert (plain.score.tolist(), plain.weight.tolist()) == ([0.25, 0.5], [1, 2])


@given(st.lists(SOME, min_size=1, max_size=4), st.data())
def test_joined_parts_are_all_their_usable_rows(parts, data):
    records = numbered([record for part in parts for record in part])
    valid = data.draw(st.lists(st.booleans(), min_size=len(records), max_size=len(records)))
    made, start = [], 0
    for part in parts:
        here = slice(start, start + len(part))
        made.append(as_rows(records[here], None if all(valid[here]) else valid[here]))
        start += len(part)
    kept = [record for record, inside in zip(records, valid, strict=True) if inside]
    assert records_of(Rows.joined(made)) == kept


@given(SOME, st.data())
def test_other_weights_leave_out_what_weighs_nothing(records, data):
    records = numbered(records)
    weights = data.draw(st.lists(st.integers(0, 2), min_size=len(records), max_size=len(records)))
    found = as_rows(records).reweighted(np.array(weights))
    expected = [(*record[:4], weight, *record[5:]) for record, weight in zip(records, weights, strict=True)]
    assert records_of(found) == [record for record in expected if record[4]]


@given(SOME)
def test_other_scores_change_nothing_else(records):
    records = numbered(records)
    found = as_rows(records).scored(np.arange(float(len(records))))
    assert records_of(found) == [(float(place), *record[1:]) for place, record in enumerate(records)]


@pytest.mark.parametrize("shape", [(3,), (3, 2)])
def test_values_of_unusable_rows_have_a_stand_in(shape):
    value = np.full(shape, 0.25)
    numbers = {"score": np.zeros(3)}
    assert Rows(numbers=numbers).filled(value, 9.0) is value
    found = Rows(numbers=numbers, valid=np.array([True, False, True])).filled(value, 9.0)
    expected = value.copy()
    expected[1] = 9.0
    assert found.tolist() == expected.tolist()
