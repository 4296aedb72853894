"""One contract for the tables of every engine: counts as if all rows had been pooled by hand."""

import gzip
import itertools
import os
import threading
from dataclasses import replace
from functools import cache

import numpy as np
import polars as pl
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from tests.engines.conftest import AGAIN, FRAME, ON_SPARK, TIGHT
from tests.oracles import counting
from tests.oracles.isotonic_blocks import isotonic_counts
from tests.properties.array_table import ArrayTable
from tests.properties.strategies import as_hold_out, build_cells, data_sets
from uqcli.choices import Algorithm, Binning, ConstraintKind, EngineName, OnInvalid
from uqcli.counts import merge
from uqcli.engines.local.count import cached
from uqcli.engines.protocol import WHOLE, Partition
from uqcli.engines.request import DataRequest, Roles
from uqcli.errors import DataError
from uqcli.jobs.bin.run import bin_rows
from uqcli.jobs.boundary.calibration_set import CalibrationRows
from uqcli.jobs.boundary.request import GridRequest
from uqcli.jobs.grids import grid_parts, uncertainty_edges
from uqcli.methods.bin.grid import GridSpec, cells_from, joined_bins, pool_by
from uqcli.methods.bin.isotonic_error import isotonic_errors
from uqcli.methods.boundary.constraint import parse_constraint
from uqcli.methods.boundary.optimum import optimise

ROLES = Roles(numbers={"score": "score", "uncertainty": "uncertainty"}, label="label", weight="weight")
EXAMPLES = settings(
    max_examples=8, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture]
)
CONSTRAINTS = [
    (ConstraintKind.PRECISION, "0.6"),
    (ConstraintKind.PRECISION, "0.999999"),
    (ConstraintKind.RECALL, "0.7"),
    (ConstraintKind.MAX_SELECTED, "3"),
    (ConstraintKind.MAX_SELECTED, "40%"),
    (ConstraintKind.MAX_FPR, "0.3"),
    (ConstraintKind.UTILITY, "gain=1,cost=0.7"),
]


def frame(data, dtype=pl.Float64):
    score, uncertainty, label, weight = (list(column) for column in zip(*data, strict=True))
    columns = {"score": score, "uncertainty": uncertainty, "label": label, "weight": weight}
    return pl.DataFrame(columns).with_columns(
        pl.col("score", "uncertainty").cast(dtype), pl.col("label").cast(pl.Int8)
    )


def written(rows, folder, cuts=(), ending="parquet", group=2):
    """The rows in several files of a format, cut anywhere, or in a frame cut alike."""
    bounds = [0, *sorted(cuts), rows.height]
    if ending == FRAME:
        parts = [rows[start:stop] for start, stop in itertools.pairwise(bounds)]
        return {"inputs": (), "frame": pl.concat(parts, rechunk=False)}
    names = []
    for number, (start, stop) in enumerate(itertools.pairwise(bounds)):
        path = folder / f"{number}.{ending}"
        part = rows[start:stop]
        if ending == "parquet":
            part.write_parquet(path, row_group_size=group)
        elif ending == "jsonl":
            part.write_ndjson(path)
        elif ending == "arrow":
            part.write_ipc(path)
        elif ending == "csv.gz":
            path.write_bytes(gzip.compress(part.write_csv().encode()))
        else:
            part.write_csv(path)
        names.append(str(path))
    return {"inputs": tuple(names)}


def table_of(engine, inputs, **changes):
    return engine.table(DataRequest(**inputs, roles=ROLES, **changes))


def table_with(engine, inputs, data):
    """A table of inputs that hold the data."""
    roles = ROLES if is_weighted(data) else replace(ROLES, weight=None)
    return engine.table(DataRequest(**inputs, roles=roles))


def is_weighted(data):
    """Whether any row counts otherwise than once; else the engine is not told of weights."""
    return any(row[3] != 1 for row in data)


DATA = st.booleans().flatmap(lambda weighted: data_sets(weighted=weighted))


def narrow(data):
    return [(float(np.float32(row[0])), float(np.float32(row[1])), *row[2:]) for row in data]


def triples(counts):
    columns = counts.value, counts.count, counts.positives
    return list(zip(*(column.tolist() for column in columns), strict=True))


def cell_tuples(row):
    held = [
        None if not hits else low
        for hits, low in zip(row.positives, row.lowest_positive.tolist(), strict=True)
    ]
    below = [0 if low is None else each for low, each in zip(held, row.below_positive.tolist(), strict=True)]
    return list(zip(row.count.tolist(), row.positives.tolist(), held, below, strict=True))


@pytest.mark.parametrize("ending", ["parquet", "csv", "csv.gz", "jsonl", "arrow", FRAME])
@EXAMPLES
@given(
    data=DATA,
    edges=st.lists(st.sampled_from([-1.5, 0.0, 0.4, 1.0]), max_size=3, unique=True),
    cuts=st.lists(st.integers(0, 24), max_size=3),
)
def test_pooled_counts_are_those_by_hand(engine, tmp_path_factory, data, edges, cuts, ending):
    edges = sorted(edges)
    inputs = written(frame(data), tmp_path_factory.mktemp("rows"), [min(c, len(data)) for c in cuts], ending)
    table = table_with(engine, inputs, data)
    expected = [counting.pooled(part) for part in counting.rows_by_bin(data, edges)]
    assert [triples(each) for each in table.pooled(Partition(edges=np.array(edges)))] == expected
    assert (table.facts.rows, table.facts.positives) == (len(data), sum(row[2] for row in data))


@EXAMPLES
@given(data=DATA, bins=st.integers(1, 5))
def test_edges_are_the_values_of_their_ranks(engine, source, tmp_path_factory, data, bins):
    inputs = written(frame(data), tmp_path_factory.mktemp("rows"), ending=source)
    (counts,) = table_with(engine, inputs, data).edges(
        "uncertainty", lambda rows: np.array([r * rows // bins for r in range(bins)])
    )
    pairs = [(row[1], row[3]) for row in data]
    total = sum(row[3] for row in data)
    ranks = [r * total // bins for r in range(bins)]
    found = counts.value[np.searchsorted(np.cumsum(counts.count), ranks, side="right")]
    assert found.tolist() == [counting.at_rank(pairs, rank) for rank in ranks]


SPECS = [
    GridSpec(binning=binning, uncertainty_bins=k, score_bins=bins)
    for binning, k, bins in [
        (Binning.EQUI_WEIGHT, 1, 3),
        (Binning.EQUI_WEIGHT, 3, 4),
        (Binning.EQUI_WEIGHT, 2, None),
        (Binning.EQUI_SPAN, 2, 3),
        (Binning.SHARED, 4, 7),
        (Binning.SHARED, 2, None),
        (Binning.QUANTILE, 1, 5),
        (Binning.PAVA, 1, None),
    ]
]


def grid_cells(table, spec):
    edges = uncertainty_edges(table, spec)
    return cells_from(edges, [each.counts for each in grid_parts(table, edges, spec)[:-1]], spec)


@pytest.mark.parametrize("dtype", [pl.Float64, pl.Float32])
@EXAMPLES
@given(data=DATA)
def test_cells_are_those_by_hand(engine, source, tmp_path_factory, data, dtype):
    data = narrow(data) if dtype == pl.Float32 else data
    inputs = written(frame(data, dtype), tmp_path_factory.mktemp("rows"), ending=source)
    table = table_with(engine, inputs, data)
    for spec in SPECS:
        found, whole = grid_cells(table, spec), build_cells(as_hold_out(data), spec)
        assert found.uncertainty_edges.tolist() == whole.uncertainty_edges.tolist()
        assert found.uncertainty_edges.tolist() == uncertainty_edges(table, spec).tolist()
        parts = counting.rows_by_bin(data, found.uncertainty_edges.tolist())
        for row, other, part in zip(found.rows, whole.rows, parts, strict=True):
            assert row.lower.tolist() == other.lower.tolist()
            if spec.score_bins is not None:
                assert cell_tuples(row) == counting.cells(part, row.lower[1:].tolist())


CROWDED = {
    "spikes": lambda u: np.where(u < 0.5, np.floor(14 * u) / 7, 0.5 + 1e-9 * u),
    "denormals": lambda u: np.where(u < 0.05, 1.0, np.floor(1e6 * u) * 5e-324),
    "one binade": lambda u: np.where(u < 0.02, 0.0, np.where(u > 0.98, 1e300, 1 + u)),
    "powers": lambda u: 2.0 ** np.floor(2000 * u - 1000) * (1 + 1e-12 * u),
    "two clusters": lambda u: np.where(u < 0.5, -1e-200, 1e200) * (1 + 1e-9 * u),
    "ends": lambda u: np.where(u < 0.3, 0.0, np.where(u > 0.7, 1.0, 0.02 + 1e-5 * u)),
}


@pytest.fixture
def larger_parts(engine, room, monkeypatch):
    """Parts of 20 rows where they are of a few: all are gone through for every range that is opened."""
    if room in (TIGHT, AGAIN):
        monkeypatch.setattr(cached, "ROWS_PER_PART", 20)
    if room == AGAIN:
        monkeypatch.setattr(cached, "KEPT_BYTES", 400)


@pytest.mark.usefixtures("larger_parts")
@pytest.mark.parametrize("name", CROWDED)
def test_values_crowded_anywhere_are_counted_as_by_hand(engine, room, tmp_path, name):
    random = np.random.default_rng(7)
    size = {**dict.fromkeys((*ON_SPARK, AGAIN), 60), TIGHT: 120}.get(room, 300)
    score = CROWDED[name](random.random(size))
    data = [(float(s), float(random.random()), bool(random.random() < 0.4), 1) for s in score]
    table = table_with(engine, written(frame(data), tmp_path, group=20), data)
    for spec in SPECS:
        found, whole = grid_cells(table, spec), build_cells(as_hold_out(data), spec)
        for row, other in zip(found.rows, whole.rows, strict=True):
            assert row.lower.tolist() == other.lower.tolist()
            assert row.count.tolist() == other.count.tolist()
            assert row.positives.tolist() == other.positives.tolist()


@EXAMPLES
@given(data=DATA)
def test_joined_bins_are_those_of_all_scores_pooled(engine, source, tmp_path_factory, data):
    inputs = written(frame(data), tmp_path_factory.mktemp("rows"), ending=source)
    table = table_with(engine, inputs, data)
    spec = GridSpec(binning=Binning.SHARED, uncertainty_bins=4, score_bins=7)
    edges = uncertainty_edges(table, spec)
    parts = [each.counts for each in grid_parts(table, edges, spec)[:-1]]
    for bins in (1, 2):
        found = cells_from(*joined_bins(edges, parts, bins), spec)
        whole = build_cells(as_hold_out(data), replace(spec, uncertainty_bins=bins))
        assert found.uncertainty_edges.tolist() == whole.uncertainty_edges.tolist()
        added = cells_from(edges, parts, spec).joined(bins)
        for row, other, sums in zip(found.rows, whole.rows, added.rows, strict=True):
            held = other.positives > 0
            for name in ("lower", "count", "positives"):
                assert getattr(row, name).tolist() == getattr(other, name).tolist()
                assert getattr(sums, name).tolist() == getattr(other, name).tolist()
            assert row.lowest_positive[held].tolist() == other.lowest_positive[held].tolist()
            assert row.below_positive[held].tolist() == other.below_positive[held].tolist()


def calibration_set(table, constraint, grid, **more):
    """Rows of a table to find boundaries on; nothing of them is saved."""
    return CalibrationRows(constraint=constraint, source=None, table=table, uncertain=True, grid=grid, **more)


@EXAMPLES
@given(data=DATA, turn=st.integers(0, len(CONSTRAINTS) - 1))
def test_smoothed_boundaries_need_no_more_than_their_thresholds(engine, source, tmp_path_factory, data, turn):
    inputs = written(frame(data), tmp_path_factory.mktemp("rows"), ending=source)
    kind, text = CONSTRAINTS[turn]
    for grid in (GridRequest(score_bins=7), GridRequest(uncertainty_bins=4, score_bins=7)):
        found = []
        for table, lean in ((table_with(engine, inputs, data), True), (ArrayTable(as_hold_out(data)), False)):
            rows = calibration_set(table, parse_constraint(kind, text), grid, smoothed_only=lean)
            optima = [
                rows.optimum(Algorithm.SMOOTH),
                optimise(rows.one_row, Algorithm.SMOOTH, rows.constraint),
            ]
            optima.append(replace(rows, least_bins=2).optimum(Algorithm.SMOOTH))
            found.append([each.found and (each.found.thresholds, each.found.fit) for each in optima])
        assert found[0] == found[1]


WAYS = (
    (GridRequest(uncertainty_bins=2, score_bins=3), Algorithm.VW_DPMT),
    (GridRequest(uncertainty_bins=2, score_bins=3), Algorithm.ST),
    (GridRequest(score_bins=7), Algorithm.SMOOTH),
)
"""How rows are cut, and the algorithm that asks first."""


def optima(table, kind, text, way):
    """What every algorithm finds in a table."""
    grid, first = way
    rows = calibration_set(table, parse_constraint(kind, text), grid)
    found = [rows.optimum(each) for each in dict.fromkeys([first, *Algorithm]) if rows.obstacle(each) is None]
    return [
        (each.found and (each.found.thresholds, each.found.fit), each.closest and each.closest.fit)
        for each in found
    ]


@cache
def optima_of_all_pooled(data, kind, text, way):
    """The same on all rows pooled: what every engine must find."""
    return optima(ArrayTable(as_hold_out(list(data))), kind, text, way)


@EXAMPLES
@given(data=DATA, turn=st.integers(0, len(WAYS) - 1))
def test_boundaries_are_those_of_all_scores_pooled(engine, room, source, tmp_path_factory, data, turn):
    """Each constraint is asked for in one or two of the ways, and in the others in other examples."""
    inputs = written(frame(data), tmp_path_factory.mktemp("rows"), ending=source)
    table = table_with(engine, inputs, data)
    for number, (kind, text) in enumerate(CONSTRAINTS):
        for other in range(1 if room == EngineName.POLARS else 2):  # the one with more examples
            way = WAYS[(turn + number + other) % len(WAYS)]
            assert optima(table, kind, text, way) == optima_of_all_pooled(tuple(data), kind, text, way)


def test_columns_of_either_width_are_one_table(engine, tmp_path):
    data = [(0.1, 1.0, True, 1), (float(np.float32(0.1)), -2.0, False, 2), (-0.5, 0.0, True, 1)] * 4
    (tmp_path / "wide").mkdir()
    narrow_file = written(frame(data[1::3] * 3, pl.Float32), tmp_path)["inputs"]
    inputs = {"inputs": narrow_file + written(frame(data), tmp_path / "wide")["inputs"]}
    expected = counting.pooled(data[1::3] * 3 + data)
    assert triples(table_with(engine, inputs, data).pooled(WHOLE)[0]) == expected


def test_unusable_rows_are_left_out(engine, room, source, tmp_path):
    text = (
        "score,uncertainty,label,weight\n0.5,1,true,1\n,1,1,1\n0.5,nan,0,1\n0.25,2,False,3\n0.5,3, 0 ,1\n"
        "inf,1,1,1\n0.5,1,,1\n0.75,0,1.0,2\n0.75,0,0,\n-0.0,1,0,1\n0,1,TRUE,1\n"
    )
    inputs, place = as_texts(text, tmp_path, source)
    place = "" if room in ON_SPARK else place
    table = table_of(engine, inputs, on_invalid=OnInvalid.DROP)
    assert triples(table.pooled(WHOLE)[0]) == [(0.0, 2, 1), (0.25, 3, 0), (0.5, 2, 1), (0.75, 2, 2)]
    assert (table.facts.rows, table.facts.positives, table.facts.dropped) == (6, 3, 5)
    with pytest.raises(DataError, match=f"'score' has 1 null.*{place}"):
        table_of(engine, inputs).pooled(WHOLE)


def as_texts(text, folder, source):
    """CSV, or a frame of its texts; and what messages call the second row."""
    if source == FRAME:
        rows = pl.read_csv(text.encode(), infer_schema=False)
        return {"inputs": (), "frame": rows}, "row index 1 of the data frame"
    path = folder / "rows.csv"
    path.write_text(text)
    return {"inputs": (str(path),)}, "data row 2 of '.*rows.csv'"


@pytest.mark.usefixtures("here")
def test_a_stream_is_counted_as_often_as_asked(engine, tmp_path):
    data = [(number / 64, number % 5, number % 3 == 0, 1) for number in range(64)]
    path = tmp_path / "pipe"
    os.mkfifo(path)
    writer = threading.Thread(target=path.write_text, args=(frame(data).write_csv(),))
    writer.start()
    table = table_of(engine, {"inputs": (str(path),)})
    expected = [counting.pooled(part) for part in counting.rows_by_bin(data, [2])]
    for _ in range(2):
        assert [triples(each) for each in table.pooled(Partition(edges=np.array([2.0])))] == expected
    writer.join()
    assert sorted(table.rows().numbers["score"].tolist()) == [row[0] for row in data]


def test_no_weight_is_no_row(engine, source, tmp_path):
    inputs = written(frame([(0.5, 1.0, True, 0)] * 5), tmp_path, ending=source)
    with pytest.raises(DataError, match="every row has weight 0"):
        table_of(engine, inputs).pooled(WHOLE)


@pytest.mark.usefixtures("larger_parts")
def test_the_best_threshold_is_found_among_many_scores(engine, room, source, tmp_path):
    random = np.random.default_rng(3)
    for seed in range({**dict.fromkeys(ON_SPARK, 1), AGAIN: 2, TIGHT: 3}.get(room, 8)):
        score = random.random(150)
        label = random.random(150) < score ** (seed % 3 + 1)
        data = [(*row, 1) for row in zip(score.tolist(), score.tolist(), label.tolist(), strict=True)]
        folder = tmp_path / str(seed)
        folder.mkdir()
        inputs = written(frame(data), folder, ending=source, group=20)
        tables = table_with(engine, inputs, data), ArrayTable(as_hold_out(data))
        for kind, text in [*CONSTRAINTS, (ConstraintKind.PRECISION, "0.9")]:
            found = [
                calibration_set(table, parse_constraint(kind, text), GridRequest(uncertainty_bins=1))
                .optimum(Algorithm.ST)
                .found
                for table in tables
            ]
            assert (found[0] and (found[0].thresholds, found[0].fit)) == (
                found[1] and (found[1].thresholds, found[1].fit)
            )


@EXAMPLES
@given(data=DATA)
def test_isotonic_blocks_are_those_of_all_rows_at_once(engine, source, tmp_path_factory, data):
    inputs = written(frame(data), tmp_path_factory.mktemp("rows"), ending=source)
    table = table_with(engine, inputs, data)
    by = Partition(edges=np.array([0.0, 1.0]))
    whole = ArrayTable(as_hold_out(data)).isotonic(by)
    assert [triples(each) for each in table.isotonic(by)] == [triples(each) for each in whole]


@EXAMPLES
@given(data=DATA)
def test_errors_by_score_bin_are_those_of_all_scores_pooled(engine, source, tmp_path_factory, data):
    inputs = written(frame(data), tmp_path_factory.mktemp("rows"), ending=source)
    roles = ROLES if is_weighted(data) else replace(ROLES, weight=None)
    request = DataRequest(**inputs, roles=roles)
    spec = GridSpec(binning=Binning.EQUI_WEIGHT, uncertainty_bins=2, score_bins=3)
    found = bin_rows(request, spec).report.errors
    edges = uncertainty_edges(table_with(engine, inputs, data), spec)
    parts = pool_by(as_hold_out(data), edges)
    blocks = [isotonic_counts(each) for each in (*parts, merge(parts))]
    expected = isotonic_errors(parts, blocks, build_cells(as_hold_out(data), spec))
    for one, other in zip(found, expected, strict=True):
        np.testing.assert_array_equal(one.ece, other.ece)


def test_a_file_that_changes_while_it_is_read_is_said(engine, room, tmp_path):
    data = [(number / 64, number % 5, number % 3 == 0, 1) for number in range(64)]
    inputs = written(frame(data), tmp_path)
    table = table_of(engine, inputs)
    expected = triples(table.pooled(WHOLE)[0])
    frame(data[:20]).write_parquet(inputs["inputs"][0])
    if room in (AGAIN, *ON_SPARK):
        with pytest.raises(DataError, match="changed while they were read"):
            table.pooled(WHOLE)
    else:
        assert triples(table.pooled(WHOLE)[0]) == expected  # it was kept


@pytest.mark.usefixtures("here")
def test_a_file_that_changes_between_two_questions_is_said(engine, tmp_path):
    data = [(number / 64, number % 5, number % 3 == 0, 1) for number in range(64)]
    inputs = written(frame(data), tmp_path)
    table = table_of(engine, inputs)
    table.pooled(Partition(edges=np.array([2.0])))  # divided: the uncertainty is let go
    assert table.rows().numbers["uncertainty"].sum() == sum(row[1] for row in data)
    table.pooled(Partition(edges=np.array([2.0])))
    frame(data[:20]).write_parquet(inputs["inputs"][0])
    with pytest.raises(DataError, match="changed while they were read"):
        table.rows()
