"""Property tests of rows as columns, against lists of tuples."""

from collections import Counter

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from uqcli.base.counts import Feature
from uqcli.base.rows import Rows

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
RECORDS = st.lists(RECORD, min_size=1, max_size=16)


def numbered(records):
    """Add a distinct position to each record."""
    return [(*record, 10 + position) for position, record in enumerate(records)]


def as_rows(records, valid=None):
    """Turn records into rows."""
    score, uncertainty, positive, class_number, weight, group, text, age, position = (
        zip(*records, strict=True) if records else [()] * len(FIELDS)
    )
    ages = np.array(
        [np.nan if years_or_missing == MISSING else years_or_missing for years_or_missing in age],
        dtype=np.float64,
    )
    return Rows(
        numbers={"score": np.array(score, dtype=float), "uncertainty": np.array(uncertainty, dtype=float)},
        positive=np.array(positive, dtype=np.bool_),
        label_class=np.array(class_number, dtype=np.int64),
        weight=np.array(weight, dtype=np.int64),
        groups={"city": np.array(group, dtype=np.int64)},
        features={
            "text": Feature(levels=LEVELS, value=np.array(text, dtype=float)),
            "age": Feature(levels=None, value=ages),
        },
        position=np.array(position, dtype=np.int64),
        valid=None if valid is None else np.array(valid, dtype=np.bool_),
    )


def records_of(rows):
    """Turn rows into records, without positions if these are not known."""
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
    records = zip(*(column.tolist() for column in columns), strict=True)
    return [tuple(MISSING if value != value else value for value in record) for record in records]


@given(RECORDS, st.data())
def test_rows_are_selected_by_position_or_by_mask(records, data):
    records = numbered(records)
    rows = as_rows(records)
    positions = data.draw(st.lists(st.integers(0, len(records) - 1), max_size=20))
    assert records_of(rows.select(np.array(positions, dtype=np.int64))) == [
        records[position] for position in positions
    ]
    mask = data.draw(st.lists(st.booleans(), min_size=len(records), max_size=len(records)))
    kept = [record for record, inside in zip(records, mask, strict=True) if inside]
    assert records_of(rows.select(np.array(mask))) == kept
    usable = as_rows(records, valid=mask).usable()
    assert usable.valid is None
    assert records_of(usable) == kept


def test_absent_columns_stay_absent():
    bare = Rows(numbers={"score": np.array([0.5, 0.25])}).select(np.array([1]))
    assert (bare.positive, bare.label_class, bare.weight, bare.position, bare.valid) == (None,) * 5
    assert (bare.uncertainty, bare.groups, bare.features) == (None, {}, {})
    joined = Rows.joined([bare, bare])
    assert (joined.positive, joined.weight, joined.score.tolist()) == (None, None, [0.25, 0.25])


@given(RECORDS)
def test_rows_are_counted_by_weight(records):
    rows = as_rows(numbered(records))
    weights = [record[4] for record in records]
    assert (len(rows), rows.size) == (len(records), sum(weights))
    assert rows.weights().tolist() == weights
    unweighted = Rows(numbers=rows.numbers)
    assert (len(unweighted), unweighted.size, unweighted.weights().tolist()) == (len(records),) * 2 + (
        [1] * len(records),
    )


@given(RECORDS, st.data())
def test_values_are_pooled_with_their_labels(records, data):
    rows = as_rows(numbered(records))
    positions = data.draw(st.lists(st.integers(0, len(records) - 1), unique=True))
    for selected, taken in (
        (slice(None), records),
        (np.array(positions, dtype=np.int64), [records[i] for i in positions]),
    ):
        counts = rows.counts(rows.uncertainty, selected)
        pooled = list(zip(counts.value, counts.count, counts.positives, strict=True))
        values = sorted({record[1] for record in taken if record[4]})
        assert pooled == [
            (
                value,
                sum(record[4] for record in taken if record[1] == value),
                sum(record[4] for record in taken if record[1] == value and record[2]),
            )
            for value in values
        ]


def sort_key(record):
    """Sort by score, label, features, group, uncertainty; missing values come first."""
    score, uncertainty, positive, class_number, group, text, age = record
    return (
        score,
        positive,
        class_number,
        text,
        (age != MISSING, 0 if age == MISSING else age),
        group,
        uncertainty,
    )


@given(RECORDS, st.randoms(use_true_random=False))
def test_equal_rows_are_pooled_in_any_order(records, random):
    total = Counter()
    for record in records:
        total[record[:4] + record[5:]] += record[4]
    distinct = sorted((record for record, weight in total.items() if weight), key=sort_key)
    expected = [(*record[:4], total[record], *record[4:]) for record in distinct]
    for _ in range(2):
        pooled = as_rows(numbered(records)).pooled()
        assert pooled.position is None
        assert records_of(pooled) == expected
        random.shuffle(records)
    plain = Rows(numbers={"score": np.array([0.5, 0.25, 0.5])}).pooled()
    assert (plain.score.tolist(), plain.weight.tolist()) == ([0.25, 0.5], [1, 2])


@given(st.lists(RECORDS, min_size=1, max_size=4), st.data())
def test_joined_parts_contain_all_usable_rows(parts, data):
    records = numbered([record for part in parts for record in part])
    valid = data.draw(st.lists(st.booleans(), min_size=len(records), max_size=len(records)))
    pieces, start = [], 0
    for part in parts:
        part_slice = slice(start, start + len(part))
        pieces.append(as_rows(records[part_slice], None if all(valid[part_slice]) else valid[part_slice]))
        start += len(part)
    kept = [record for record, inside in zip(records, valid, strict=True) if inside]
    assert records_of(Rows.joined(pieces)) == kept


@given(RECORDS, st.data())
def test_new_weights_drop_rows_of_weight_zero(records, data):
    records = numbered(records)
    weights = data.draw(st.lists(st.integers(0, 2), min_size=len(records), max_size=len(records)))
    reweighted = as_rows(records).reweighted(np.array(weights))
    expected = [(*record[:4], weight, *record[5:]) for record, weight in zip(records, weights, strict=True)]
    assert records_of(reweighted) == [record for record in expected if record[4]]


@given(RECORDS)
def test_new_scores_change_no_other_column(records):
    records = numbered(records)
    rescored = as_rows(records).scored(np.arange(float(len(records))))
    assert records_of(rescored) == [(float(position), *record[1:]) for position, record in enumerate(records)]


@pytest.mark.parametrize("shape", [(3,), (3, 2)])
def test_values_of_unusable_rows_are_filled(shape):
    value = np.full(shape, 0.25)
    numbers = {"score": np.zeros(3)}
    assert Rows(numbers=numbers).filled(value, 9.0) is value
    filled = Rows(numbers=numbers, valid=np.array([True, False, True])).filled(value, 9.0)
    expected = value.copy()
    expected[1] = 9.0
    assert filled.tolist() == expected.tolist()
