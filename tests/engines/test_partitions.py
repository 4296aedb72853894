"""Contract tests, on every engine, of counts by any key and of sums of amounts."""

import gzip
import hashlib
import itertools
import os
import threading
from dataclasses import replace
from fractions import Fraction

import numpy as np
import polars as pl
import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.engines.test_tables import EXAMPLES, write_inputs
from uqcli.base.errors import DataError
from uqcli.engines.open import reusable_streams
from uqcli.engines.protocol import ALL_ROWS, Partition
from uqcli.engines.request import INPUT, PROBA, ClassColumns, DataRequest, Roles

GROUPS = ("north", "south", "ünter", "a,b", "10", "9")
DAYS = ("2026-11-02", "2026-10-30", "2025-01-01")
SCORES = (0.0, 0.25, 0.5, 0.75, 1.0, -2.5)
EDGES = [0.5, 2.0]
AMOUNTS = ("0", "0.0001", "12.5", "99999.9999", "3")

RECORDS = st.lists(
    st.fixed_dictionaries(
        {
            "score": st.sampled_from(SCORES),
            "uncertainty": st.sampled_from([0.0, 0.5, 1.0, 3.0]),
            "label": st.integers(0, 1),
            "weight": st.integers(0, 3),
            "region": st.sampled_from(GROUPS),
            "day": st.sampled_from(DAYS),
            "amount": st.sampled_from(AMOUNTS),
        }
    ),
    min_size=1,
    max_size=24,
).filter(lambda records: any(record["weight"] for record in records))

ROLES = Roles(
    numbers={"score": "score", "uncertainty": "uncertainty", "amount": "amount"},
    label="label",
    weight="weight",
    keys=("region", "day"),
    amounts=("amount",),
)


def frame(records):
    return pl.DataFrame(records).with_columns(
        pl.col("label").cast(pl.Int8), pl.col("day").str.to_date(), pl.col("amount").cast(pl.Float64)
    )


def expected_counts(records, column="score"):
    """Count by hand: value, rows, positive rows, and the summed amounts of both, ascending by value."""
    counts = []
    for value in sorted({record[column] for record in records}):
        tied = [record for record in records if record[column] == value]
        sums = []
        for rows in (tied, [record for record in tied if record["label"]]):
            sums.append(sum(record["weight"] * int(Fraction(record["amount"]) * 10_000) for record in rows))
        positives = sum(record["weight"] for record in tied if record["label"])
        counts.append((value, sum(record["weight"] for record in tied), positives, *sums))
    return counts


def count_tuples(counts):
    columns = counts.value, counts.count, counts.positives, *counts.sums[0]
    return list(zip(*(column.tolist() for column in columns), strict=True))


def bin_of(record):
    return sum(record["uncertainty"] >= edge for edge in EDGES)


def records_by_part(records, keys, *, bins):
    """Divide the records into the parts of a partition."""
    weighted = [record for record in records if record["weight"]]
    names = [sorted({record[key] for record in weighted}) for key in keys]
    parts = itertools.product(*names, range(len(EDGES) + 1 if bins else 1))
    return [
        [
            record
            for record in weighted
            if all(record[key] == text for key, text in zip(keys, key_values, strict=True))
            and (not bins or bin_of(record) == bin_index)
        ]
        for *key_values, bin_index in parts
    ]


@pytest.mark.parametrize(
    ("keys", "bins"), [(("region",), False), (("day",), True), (("region", "day"), True)], ids=str
)
@EXAMPLES
@given(records=RECORDS, cut=st.integers(0, 24))
def test_counts_and_sums_by_key_are_those_by_hand(engine, tmp_path_factory, records, cut, keys, bins):
    cuts = [min(cut, len(records))]
    inputs = write_inputs(frame(records), tmp_path_factory.mktemp("rows"), cuts)
    table = engine.table(DataRequest(**inputs, roles=ROLES))
    by = Partition(groups=keys, edges=np.array(EDGES if bins else []))
    weighted = [record for record in records if record["weight"]]
    for key in keys:
        assert table.groups(key) == tuple(sorted({record[key] for record in weighted}))
    expected = [expected_counts(part) for part in records_by_part(records, keys, bins=bins)]
    assert [count_tuples(pool) for pool in table.pooled(by)] == expected

    def every_range(counts):
        return [~pool.exact for pool in counts]

    *parts, whole = table.range_counts(by, every_range)
    assert [count_tuples(pool) for pool in parts] == expected
    assert count_tuples(whole) == expected_counts(weighted)


@EXAMPLES
@given(records=RECORDS)
def test_unopened_ranges_keep_the_sums(engine, tmp_path_factory, records):
    inputs = write_inputs(frame(records), tmp_path_factory.mktemp("rows"))
    table = engine.table(DataRequest(**inputs, roles=ROLES))
    by = Partition(groups=("region",), edges=np.array(EDGES))

    def no_range(counts):
        return [np.zeros(len(pool.value), dtype=np.bool_) for pool in counts]

    for pooled, rows in zip(
        table.range_counts(by, no_range)[:-1], records_by_part(records, ("region",), bins=True), strict=True
    ):
        totals = pooled.count.sum(), pooled.positives.sum(), *pooled.sums[0].sum(axis=1)
        assert (
            totals
            == tuple(
                map(
                    sum, zip(*(totals_by_value[1:] for totals_by_value in expected_counts(rows)), strict=True)
                )
            )
            or not rows
        )


@EXAMPLES
@given(records=RECORDS, share=st.fractions(0, 1))
def test_edges_by_key_are_the_values_of_their_ranks(engine, tmp_path_factory, records, share):
    inputs = write_inputs(frame(records), tmp_path_factory.mktemp("rows"))
    table = engine.table(DataRequest(**inputs, roles=ROLES))

    def rank_at_share(rows):
        return np.array([int(share * (rows - 1))])

    pools = table.edges("uncertainty", rank_at_share, Partition(groups=("day",)))
    for counts, rows in zip(pools, records_by_part(records, ("day",), bins=False), strict=True):
        values = sorted(value for record in rows for value in [record["uncertainty"]] * record["weight"])
        index = np.searchsorted(np.cumsum(counts.count), rank_at_share(len(values)), side="right")
        assert counts.value[index].tolist() == [values[int(share * (len(values) - 1))]]


@EXAMPLES
@given(records=RECORDS)
def test_one_table_counts_by_one_key_after_another(engine, tmp_path_factory, records):
    """The table may free the uncertainty after rows are divided by it; other keys stay."""
    inputs = write_inputs(frame(records), tmp_path_factory.mktemp("rows"))
    table = engine.table(DataRequest(**inputs, roles=ROLES))
    edges = np.array(EDGES)
    partitions = [((), False), (("day",), True), (("region",), False), ((), True), (("region",), True)]
    for keys, bins in partitions:
        by = Partition(groups=keys, edges=edges if bins else edges[:0])
        expected = [expected_counts(part) for part in records_by_part(records, keys, bins=bins)]
        assert [count_tuples(pool) for pool in table.pooled(by)] == expected
    (uncertainties,) = table.pooled(ALL_ROWS, "uncertainty")
    weighted = [record for record in records if record["weight"]]
    assert count_tuples(uncertainties) == expected_counts(weighted, "uncertainty")


CLASSES = ("cat", "dog", "emu")
CLASS_ROLES = Roles(numbers={}, label="label", class_columns=ClassColumns(columns="p_*"), keys=("region",))


@EXAMPLES
@given(
    records=st.lists(
        st.tuples(st.sampled_from(CLASSES), st.sampled_from([0.0, 0.25, 0.5]), st.sampled_from(GROUPS[:3])),
        min_size=1,
        max_size=20,
    )
)
def test_classes_are_a_key_like_any_other(engine, tmp_path_factory, records):
    rows = pl.DataFrame(
        [
            {"label": label, "p_cat": p, "p_dog": 0.5, "p_emu": 0.5 - p, "region": region}
            for label, p, region in records
        ]
    )
    inputs = write_inputs(rows, tmp_path_factory.mktemp("rows"))
    table = engine.table(DataRequest(**inputs, roles=CLASS_ROLES))
    regions = sorted({region for *_, region in records})
    by = Partition(groups=("region",), classes=True)
    pools = table.pooled(by, PROBA + "cat")
    for counts, (region, label) in zip(pools, itertools.product(regions, CLASSES), strict=True):
        probabilities = [
            p
            for label_of_record, p, region_of_record in records
            if (label_of_record, region_of_record) == (label, region)
        ]
        expected = [(value, probabilities.count(value), 0) for value in sorted(set(probabilities))]
        columns = counts.value, counts.count, counts.positives
        assert list(zip(*(column.tolist() for column in columns), strict=True)) == expected


@pytest.mark.covering("thorough", every=2)
def test_a_hundred_classes_are_counted(engine, tmp_path):
    probability_by_class = {f"{number:02}": 1 / 64 if number < 64 else 0.0 for number in range(100)}
    columns = {f"p_{name}": [value] for name, value in probability_by_class.items()}
    rows = pl.DataFrame({**columns, "label": ["07"], "region": ["north"]})
    table = engine.table(DataRequest(**write_inputs(rows, tmp_path), roles=CLASS_ROLES))
    parts = table.pooled(Partition(classes=True), PROBA + "07")
    assert [(index, part.value.tolist()) for index, part in enumerate(parts) if part.rows] == [(7, [1 / 64])]


RECORD = {
    **{"score": 0.5, "uncertainty": 1.0, "label": 1, "weight": 1},
    **{"region": "x", "day": DAYS[0], "amount": "1"},
}


def test_groups_are_compared_without_blanks_around_them(engine, tmp_path):
    rows = [RECORD | {"region": text} for text in ("x", " x", "x\t", "TRUE", "true", "X")]
    table = engine.table(DataRequest(**write_inputs(frame(rows), tmp_path), roles=ROLES))
    assert table.groups("region") == ("X", "true", "x")
    pools = table.pooled(Partition(groups=("region",)))
    assert [pool.rows for pool in pools] == [1, 2, 3]


@pytest.mark.parametrize("amount", [0.00001, 1e12, 1e-300, -1.0])
def test_amounts_that_are_negative_or_no_multiples_of_a_ten_thousandth_are_refused(engine, tmp_path, amount):
    rows = frame([RECORD] * 3).with_columns(amount=pl.Series([1.0, 2.5, amount]))
    table = engine.table(DataRequest(**write_inputs(rows, tmp_path), roles=ROLES))
    with pytest.raises(
        DataError, match=r"column 'amount' has .* (with at most 4 decimals|at most 900,719,925,474)"
    ):
        table.pooled(ALL_ROWS)


def test_amounts_whose_sum_would_not_be_exact_are_refused(engine, tmp_path):
    rows = frame([RECORD | {"weight": 900, "amount": "9e11"}])
    table = engine.table(DataRequest(**write_inputs(rows, tmp_path), roles=ROLES))
    with pytest.raises(DataError, match="the amounts in column 'amount' add up to more"):
        table.pooled(ALL_ROWS)


def test_the_input_is_a_key_like_any_other(engine, tmp_path):
    rows = [RECORD | {"score": score} for score in (0.25, 0.5, 0.75)]
    inputs = write_inputs(frame(rows), tmp_path, cuts=[1])
    table = engine.table(DataRequest(**inputs, roles=replace(ROLES, keys=(INPUT, "region"))))
    assert table.groups(INPUT) == inputs["inputs"]
    first, second = table.pooled(Partition(groups=(INPUT,)))
    assert (count_tuples(first), count_tuples(second)) == (
        expected_counts(rows[:1]),
        expected_counts(rows[1:]),
    )
    assert INPUT not in table.summary.columns.values()


@pytest.mark.usefixtures("local_only")
def test_the_digest_covers_every_byte_of_any_source(engine, tmp_path):
    text = b"score,uncertainty,label,weight\n0.5,1,1,1\n0.25,2,0,1\n"
    (tmp_path / "rows.csv").write_bytes(text)
    (tmp_path / "rows.csv.gz").write_bytes(gzip.compress(text))
    expected = hashlib.sha256(text).hexdigest()
    roles = Roles(numbers={"score": "score"}, label="label")
    for name in ("rows.csv", "rows.csv.gz"):
        assert engine.digest(DataRequest(inputs=(str(tmp_path / name),), roles=roles)) == expected
    pipe = tmp_path / "pipe.csv"
    os.mkfifo(pipe)
    writer = threading.Thread(target=pipe.write_bytes, args=(text,))
    writer.start()
    request = DataRequest(inputs=(str(pipe),), roles=roles)
    with reusable_streams():
        assert engine.table(request).summary.rows == 2
        assert engine.digest(request) == expected
    writer.join()
    (tmp_path / "copy.csv").write_bytes(text)
    both = DataRequest(inputs=(str(tmp_path / "rows.csv"), str(tmp_path / "copy.csv")), roles=roles)
    assert engine.digest(both) == hashlib.sha256(text * 2).hexdigest()
