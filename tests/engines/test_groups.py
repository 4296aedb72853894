"""Contract tests, on every engine, of tables of single groups: they answer as tables of these rows alone."""

import os
import threading
from dataclasses import replace
from pathlib import Path

import numpy as np
import polars as pl
import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.engines.conftest import ON_SPARK, REREAD_PARTS, SMALL_PARTS
from tests.engines.test_partitions import (
    CLASS_ROLES,
    CLASSES,
    DAYS,
    RECORD,
    RECORDS,
    ROLES,
    bin_of,
    count_tuples,
    expected_counts,
    frame,
)
from tests.engines.test_tables import EXAMPLES, count_triples, write_inputs
from uqcli.base.choices import EngineName, OnInvalid
from uqcli.base.errors import DataError
from uqcli.engines.local.check.batches import LocalBatches
from uqcli.engines.local.count import cached
from uqcli.engines.open import open_engine
from uqcli.engines.protocol import ALL_ROWS, Partition
from uqcli.engines.request import INPUT, PROBA, DataRequest, in_memory


def table_of(engine, records, folder, cuts=()):
    return engine.table(DataRequest(**write_inputs(frame(records), folder, cuts), roles=ROLES))


def of_group(records, name, key="region"):
    return [record for record in records if record[key] == name]


def alone(records, roles=ROLES):
    """Open a table of some rows in a data frame of their own."""
    request = DataRequest(inputs=in_memory(frame(records)), roles=roles)
    return open_engine(EngineName.POLARS).table(request)


def every_range(counts):
    return [~pool.exact for pool in counts]


def thirds(rows):
    return np.array([rows // 3, 2 * rows // 3])


def uncertainty_edges(table):
    """Return edges between a table's own rows, which differ between groups."""
    (counts,) = table.edges("uncertainty", thirds)
    index = np.searchsorted(np.cumsum(counts.count), thirds(counts.rows), side="right")
    return np.unique(counts.value[index])


def row_tuples(table):
    """Return single rows as sorted tuples, equal rows pooled."""
    rows = table.rows().pooled()
    columns = rows.numbers["score"], rows.numbers["uncertainty"], rows.labels, rows.weights()
    return sorted(zip(*(column.tolist() for column in columns), strict=True))


def answers(table):
    """Query everything, with partitions that depend on the table's own rows."""
    edges = uncertainty_edges(table)
    partitions = [
        ALL_ROWS,
        Partition(edges=edges),
        Partition(groups=("day",)),
        Partition(groups=("region", "day"), edges=edges[:1]),
    ]
    return {
        "summary": table.summary,
        "groups": (table.groups("region"), table.groups("day")),
        "edges": edges.tolist(),
        "pooled": [list(map(count_tuples, table.pooled(by))) for by in partitions],
        "ranges": [list(map(count_tuples, table.range_counts(by, every_range))) for by in partitions],
        "isotonic": list(map(count_triples, table.isotonic(partitions[1]))),
        "rows": row_tuples(table),
    }


@EXAMPLES
@given(records=RECORDS, cut=st.integers(0, 24))
def test_a_group_answers_as_a_table_of_its_rows_alone(engine, variant, tmp_path_factory, records, cut):
    table = table_of(engine, records, tmp_path_factory.mktemp("rows"), [min(cut, len(records))])
    names = table.groups("region")
    for name in names if variant == EngineName.POLARS else names[:1]:
        assert answers(table.only("region", name)) == answers(alone(of_group(records, name)))


@EXAMPLES
@given(records=RECORDS)
def test_groups_are_counted_in_turn_after_the_whole_table(engine, variant, tmp_path_factory, records):
    """The whole table may free the uncertainty after rows are divided by it; its groups still have theirs."""
    table = table_of(engine, records, tmp_path_factory.mktemp("rows"))
    by = Partition(edges=np.array([0.5, 2.0]))
    whole = list(map(count_tuples, table.pooled(by)))
    groups = {name: table.only("region", name) for name in table.groups("region")[:2]}
    for partition in (by, ALL_ROWS) if variant in ON_SPARK else (by, ALL_ROWS, Partition(edges=by.edges[:1])):
        for name, group in groups.items():
            rows = [record for record in of_group(records, name) if record["weight"]]
            expected = [
                expected_counts([record for record in rows if min(bin_of(record), len(partition.edges)) == b])
                for b in range(len(partition.edges) + 1)
            ]
            assert list(map(count_tuples, group.pooled(partition))) == expected
    assert list(map(count_tuples, table.pooled(by))) == whole


@EXAMPLES
@given(records=RECORDS)
def test_a_group_of_a_group_has_the_rows_of_both(engine, variant, tmp_path_factory, records):
    table = table_of(engine, records, tmp_path_factory.mktemp("rows"))
    region = table.only("region", table.groups("region")[0])
    days = region.groups("day")
    for day in days[:1] if variant in ON_SPARK else days:
        rows = of_group(of_group(records, region.groups("region")[0]), day, "day")
        both = region.only("day", day)
        assert (both.groups("region"), both.groups("day")) == (region.groups("region"), (day,))
        assert both.summary == alone(rows).summary
        assert row_tuples(both) == row_tuples(alone(rows))


@pytest.mark.thorough
@pytest.mark.usefixtures("larger_cache")
@pytest.mark.parametrize("weighted", [False, True])
def test_larger_groups_are_counted_alike(engine, variant, tmp_path, weighted):
    random = np.random.default_rng(11)
    size = {**dict.fromkeys(ON_SPARK, 60), REREAD_PARTS: 90}.get(variant, 400)
    records = [
        RECORD
        | {
            "score": float(np.round(random.normal(index % 3, 0.1), 3)),
            "uncertainty": float(random.exponential(1 + index % 3)),
            "label": int(random.random() < 0.3),
            "weight": int(random.integers(0, 4)) if weighted else 1,
            "region": "abc"[index % 3] if index < size - 5 else "only at the end",
            "day": DAYS[index % 2],
        }
        for index in range(size)
    ]
    roles = ROLES if weighted else replace(ROLES, weight=None)
    inputs = write_inputs(frame(records), tmp_path, row_group_size=20)
    table = engine.table(DataRequest(**inputs, roles=roles))
    for name in ("a", "only at the end"):
        expected = answers(alone(of_group(records, name), roles))
        assert answers(table.only("region", name)) == expected


@pytest.fixture
def larger_cache(engine, variant, monkeypatch):
    """Set parts to some dozen rows where limits are small; where rows are read again, half are in memory."""
    if variant in (SMALL_PARTS, REREAD_PARTS):
        monkeypatch.setattr(cached, "ROWS_PER_PART", 40)
    if variant == REREAD_PARTS:
        monkeypatch.setattr(cached, "cached_bytes", lambda: 2000)


def test_unusable_rows_belong_to_no_group(engine, tmp_path):
    labels = [1, None, 0, 1, None]
    rows = [RECORD | {"label": label, "region": name} for label, name in zip(labels, "aabbb", strict=True)]
    request = DataRequest(**write_inputs(frame(rows), tmp_path), roles=ROLES, on_invalid=OnInvalid.DROP)
    table = engine.table(request)
    assert (table.summary.rows, table.summary.dropped) == (3, 2)
    for name, size, positives in (("a", 1, 1), ("b", 2, 1)):
        group = table.only("region", name)
        assert (
            group.summary == alone([row for row in of_group(rows, name) if row["label"] is not None]).summary
        )
        assert (group.summary.rows, group.summary.positives) == (size, positives)
        assert group.summary.dropped == group.summary.unlabelled == 0
        assert [pool.rows for pool in group.pooled(ALL_ROWS)] == [size]


def test_classes_of_a_group_are_those_of_the_request(engine, tmp_path):
    records = [("cat", 0.25, "x"), ("emu", 0.5, "x"), ("dog", 0.0, "y"), ("cat", 0.25, "x")]
    rows = pl.DataFrame(
        [
            {"label": label, "p_cat": p, "p_dog": 0.5, "p_emu": 0.5 - p, "region": region}
            for label, p, region in records
        ]
    )
    table = engine.table(DataRequest(**write_inputs(rows, tmp_path), roles=CLASS_ROLES))
    group = table.only("region", "x")
    pools = group.pooled(Partition(classes=True), PROBA + "cat")
    expected = {"cat": [(0.25, 2, 0)], "dog": [], "emu": [(0.5, 1, 0)]}
    assert dict(zip(CLASSES, map(count_triples, pools), strict=True)) == expected
    assert (group.summary.rows, group.summary.positives) == (3, None)


def test_an_input_is_a_group_like_any_other(engine, tmp_path):
    rows = [RECORD | {"score": score} for score in (0.25, 0.5, 0.75)]
    inputs = write_inputs(frame(rows), tmp_path, cuts=[1])
    table = engine.table(DataRequest(**inputs, roles=replace(ROLES, keys=(INPUT,))))
    pools = [table.only(INPUT, name).pooled(ALL_ROWS)[0] for name in table.groups(INPUT)]
    assert list(map(count_tuples, pools)) == [expected_counts(rows[:1]), expected_counts(rows[1:])]


@pytest.mark.usefixtures("local_only")
def test_groups_of_a_stream_are_counted(engine, tmp_path):
    rows = [RECORD | {"score": score, "region": name} for score, name in ((0.25, "a"), (0.5, "b"))] * 9
    path = tmp_path / "pipe"
    os.mkfifo(path)
    writer = threading.Thread(target=path.write_text, args=(frame(rows).write_csv(),))
    writer.start()
    table = engine.table(DataRequest(inputs=(str(path),), roles=ROLES))
    table.pooled(Partition(edges=np.array([0.5])))
    for name in table.groups("region"):
        assert answers(table.only("region", name)) == answers(alone(of_group(rows, name)))
    writer.join()


@pytest.mark.parametrize("variant", [EngineName.POLARS], indirect=True)
def test_rows_in_memory_are_not_read_again(engine, tmp_path):
    rows = [RECORD | {"uncertainty": index / 7, "region": "abc"[index % 3]} for index in range(30)]
    table = table_of(engine, rows, tmp_path)
    names = table.groups("region")
    for file in Path(tmp_path).iterdir():
        file.unlink()
    for name in names:
        assert answers(table.only("region", name)) == answers(alone(of_group(rows, name)))


@pytest.mark.parametrize("variant", [EngineName.POLARS], indirect=True)
def test_the_files_are_read_once_more_for_all_groups_if_the_uncertainty_was_freed(
    engine, tmp_path, monkeypatch
):
    rows = [RECORD | {"uncertainty": index / 7, "region": "abc"[index % 3]} for index in range(30)]
    table = table_of(engine, rows, tmp_path)
    table.pooled(Partition(edges=np.array([2.0])))
    passes, read = [], LocalBatches.each
    monkeypatch.setattr(LocalBatches, "each", lambda self, work: (passes.append(1), read(self, work))[1])
    for name in table.groups("region"):
        answers(table.only("region", name))
    assert len(passes) == 1


def test_a_file_that_changes_is_reported_by_a_group(engine, variant, tmp_path):
    rows = [RECORD | {"score": index / 7, "region": "ab"[index % 2]} for index in range(30)]
    inputs = write_inputs(frame(rows), tmp_path)
    group = engine.table(DataRequest(**inputs, roles=ROLES)).only("region", "b")
    expected = count_tuples(group.pooled(ALL_ROWS)[0])
    frame(rows[:20]).write_parquet(inputs["inputs"][0])
    if variant in (*ON_SPARK, REREAD_PARTS):
        with pytest.raises(DataError, match="changed while they were read"):
            group.pool(ALL_ROWS, "score")
    else:
        assert count_tuples(group.pool(ALL_ROWS, "score")[0]) == expected  # the engine kept the rows
