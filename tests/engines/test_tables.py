"""Contract tests of the tables of every engine: counts equal those of all rows pooled by hand."""

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

from tests.engines.conftest import FRAME, ON_SPARK, REREAD_PARTS, SMALL_PARTS
from tests.oracles import counting
from tests.oracles import reference as oracle
from tests.oracles.isotonic_blocks import isotonic_counts
from tests.properties.array_table import ArrayTable
from tests.properties.strategies import as_rows, build_cells, data_sets
from uqcli.base import defaults
from uqcli.base.choices import Algorithm, Binning, EngineName, OnInvalid
from uqcli.base.counts import merge
from uqcli.base.errors import DataError
from uqcli.bin.grid import GridSpec, cells_from, grid_parts, joined_bins, pool_by, uncertainty_axis
from uqcli.bin.isotonic_error import isotonic_errors
from uqcli.bin.run import bin_rows
from uqcli.boundary.calibration_set import CalibrationRows
from uqcli.boundary.options import BinOptions, Target
from uqcli.boundary.search.algorithms import optimise
from uqcli.boundary.search.constraint_kinds import ConstraintKind
from uqcli.boundary.search.typed_constraints import parse_constraint
from uqcli.engines.local.count import cached
from uqcli.engines.protocol import ALL_ROWS, Partition
from uqcli.engines.request import DataRequest, Roles, in_memory

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
    (ConstraintKind.MIN_SPECIFICITY, "0.7"),
    (ConstraintKind.UTILITY, "gain=1,cost=0.7"),
]


def frame(data, dtype=pl.Float64):
    score, uncertainty, label, weight = (list(column) for column in zip(*data, strict=True))
    columns = {"score": score, "uncertainty": uncertainty, "label": label, "weight": weight}
    return pl.DataFrame(columns).with_columns(
        pl.col("score", "uncertainty").cast(dtype), pl.col("label").cast(pl.Int8)
    )


def write_inputs(rows, folder, cuts=(), ending="parquet", row_group_size=2):
    """Write the rows to files of a format, or put them into a data frame; both are split at the cuts."""
    bounds = [0, *sorted(cuts), rows.height]
    if ending == FRAME:
        parts = [rows[start:stop] for start, stop in itertools.pairwise(bounds)]
        return {"inputs": in_memory(pl.concat(parts, rechunk=False))}
    names = []
    for number, (start, stop) in enumerate(itertools.pairwise(bounds)):
        path = folder / f"{number}.{ending}"
        part = rows[start:stop]
        if ending == "parquet":
            part.write_parquet(path, row_group_size=row_group_size)
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
    """Open a table of inputs that contain the data."""
    roles = ROLES if is_weighted(data) else replace(ROLES, weight=None)
    return engine.table(DataRequest(**inputs, roles=roles))


def is_weighted(data):
    """Return whether any weight differs from 1; otherwise the request has no weight column."""
    return any(row[3] != 1 for row in data)


DATA = st.booleans().flatmap(lambda weighted: data_sets(weighted=weighted))


def rounded_to_float32(data):
    return [(float(np.float32(row[0])), float(np.float32(row[1])), *row[2:]) for row in data]


def count_triples(counts):
    columns = counts.value, counts.count, counts.positives
    return list(zip(*(column.tolist() for column in columns), strict=True))


def cell_tuples(row):
    lowest = [
        None if not hits else low
        for hits, low in zip(row.positives, row.lowest_positive.tolist(), strict=True)
    ]
    below = [
        0 if low is None else rows_below
        for low, rows_below in zip(lowest, row.below_positive.tolist(), strict=True)
    ]
    return list(zip(row.count.tolist(), row.positives.tolist(), lowest, below, strict=True))


@pytest.mark.parametrize("ending", ["parquet", "csv", "csv.gz", "jsonl", "arrow", FRAME])
@EXAMPLES
@given(
    data=DATA,
    edges=st.lists(st.sampled_from([-1.5, 0.0, 0.4, 1.0]), max_size=3, unique=True),
    cuts=st.lists(st.integers(0, 24), max_size=3),
)
def test_pooled_counts_are_those_by_hand(engine, tmp_path_factory, data, edges, cuts, ending):
    edges = sorted(edges)
    inputs = write_inputs(
        frame(data), tmp_path_factory.mktemp("rows"), [min(c, len(data)) for c in cuts], ending
    )
    table = table_with(engine, inputs, data)
    expected = [counting.pooled(part) for part in counting.rows_by_bin(data, edges)]
    assert [count_triples(counts) for counts in table.pooled(Partition(edges=np.array(edges)))] == expected
    assert (table.summary.rows, table.summary.positives) == (len(data), sum(row[2] for row in data))


@EXAMPLES
@given(data=DATA, bins=st.integers(1, 5))
def test_edges_are_the_values_of_their_ranks(engine, source, tmp_path_factory, data, bins):
    inputs = write_inputs(frame(data), tmp_path_factory.mktemp("rows"), ending=source)
    (counts,) = table_with(engine, inputs, data).edges(
        "uncertainty", lambda rows: np.array([r * rows // bins for r in range(bins)])
    )
    values_and_weights = [(row[1], row[3]) for row in data]
    total = sum(row[3] for row in data)
    ranks = [r * total // bins for r in range(bins)]
    edges = counts.value[np.searchsorted(np.cumsum(counts.count), ranks, side="right")]
    assert edges.tolist() == [counting.at_rank(values_and_weights, rank) for rank in ranks]


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
    edges = uncertainty_axis(table, spec).edges
    return cells_from(edges, [part.counts for part in grid_parts(table, edges, spec)[:-1]], spec)


@pytest.mark.parametrize("dtype", [pl.Float64, pl.Float32])
@EXAMPLES
@given(data=DATA)
def test_cells_are_those_by_hand(engine, source, tmp_path_factory, data, dtype):
    data = rounded_to_float32(data) if dtype == pl.Float32 else data
    inputs = write_inputs(frame(data, dtype), tmp_path_factory.mktemp("rows"), ending=source)
    table = table_with(engine, inputs, data)
    for spec in SPECS:
        cells, expected = grid_cells(table, spec), build_cells(as_rows(data), spec)
        assert cells.uncertainty_edges.tolist() == expected.uncertainty_edges.tolist()
        assert cells.uncertainty_edges.tolist() == uncertainty_axis(table, spec).edges.tolist()
        parts = counting.rows_by_bin(data, cells.uncertainty_edges.tolist())
        for row, expected_row, part in zip(cells.rows, expected.rows, parts, strict=True):
            assert row.lower.tolist() == expected_row.lower.tolist()
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
def larger_parts(engine, variant, monkeypatch):
    """Set parts to 20 rows where limits are small, since each opened range reads all parts."""
    if variant in (SMALL_PARTS, REREAD_PARTS):
        monkeypatch.setattr(cached, "ROWS_PER_PART", 20)
    if variant == REREAD_PARTS:
        monkeypatch.setattr(cached, "cached_bytes", lambda: 400)


@pytest.mark.covering("thorough", every=3)
@pytest.mark.usefixtures("larger_parts")
@pytest.mark.parametrize("name", CROWDED)
def test_values_crowded_anywhere_are_counted_as_by_hand(engine, variant, tmp_path, name):
    random = np.random.default_rng(7)
    size = {**dict.fromkeys((*ON_SPARK, REREAD_PARTS), 60), SMALL_PARTS: 120}.get(variant, 300)
    score = CROWDED[name](random.random(size))
    data = [(float(s), float(random.random()), bool(random.random() < 0.4), 1) for s in score]
    table = table_with(engine, write_inputs(frame(data), tmp_path, row_group_size=20), data)
    for spec in SPECS:
        cells, expected = grid_cells(table, spec), build_cells(as_rows(data), spec)
        for row, expected_row in zip(cells.rows, expected.rows, strict=True):
            assert row.lower.tolist() == expected_row.lower.tolist()
            assert row.count.tolist() == expected_row.count.tolist()
            assert row.positives.tolist() == expected_row.positives.tolist()


@EXAMPLES
@given(data=DATA)
def test_joined_bins_are_those_of_all_scores_pooled(engine, source, tmp_path_factory, data):
    inputs = write_inputs(frame(data), tmp_path_factory.mktemp("rows"), ending=source)
    table = table_with(engine, inputs, data)
    spec = GridSpec(binning=Binning.SHARED, uncertainty_bins=4, score_bins=7)
    edges = uncertainty_axis(table, spec).edges
    parts = [part.counts for part in grid_parts(table, edges, spec)[:-1]]
    for bins in (1, 2):
        cells = cells_from(*joined_bins(edges, parts, bins), spec)
        expected = build_cells(as_rows(data), replace(spec, uncertainty_bins=bins))
        assert cells.uncertainty_edges.tolist() == expected.uncertainty_edges.tolist()
        added = cells_from(edges, parts, spec).joined(bins)
        for row, expected_row, sums in zip(cells.rows, expected.rows, added.rows, strict=True):
            has_positives = expected_row.positives > 0
            for name in ("lower", "count", "positives"):
                assert getattr(row, name).tolist() == getattr(expected_row, name).tolist()
                assert getattr(sums, name).tolist() == getattr(expected_row, name).tolist()
            assert (
                row.lowest_positive[has_positives].tolist()
                == expected_row.lowest_positive[has_positives].tolist()
            )
            assert (
                row.below_positive[has_positives].tolist()
                == expected_row.below_positive[has_positives].tolist()
            )


def outcome(boundary):
    """Return the rule, as it is saved and as it is printed, and its counts."""
    return boundary.thresholds, boundary.shown, boundary.fit


def calibration_set(table, constraint, grid, **options):
    """Make the calibration set of a table; nothing is saved."""
    data = DataRequest(inputs=())
    return CalibrationRows(
        target=Target(constraint=constraint),
        table=table,
        uncertain=True,
        data=data,
        options=grid,
        seed=defaults.SEED,
        **options,
    )


@EXAMPLES
@given(data=DATA, constraint_index=st.integers(0, len(CONSTRAINTS) - 1))
def test_smoothed_boundaries_of_smoothed_counts_are_those_of_all_scores_pooled(
    engine, source, tmp_path_factory, data, constraint_index
):
    inputs = write_inputs(frame(data), tmp_path_factory.mktemp("rows"), ending=source)
    kind, text = CONSTRAINTS[constraint_index]
    for grid in (BinOptions(score_bins=7), BinOptions(uncertainty_bins=4, score_bins=7)):
        results = []
        for table, smoothed_only in (
            (table_with(engine, inputs, data), True),
            (ArrayTable(as_rows(data)), False),
        ):
            rows = calibration_set(table, parse_constraint(kind, text), grid, smoothed_only=smoothed_only)
            optima = [
                rows.optimum(Algorithm.SMOOTH),
                optimise(rows.one_row, Algorithm.SMOOTH, rows.constraint),
            ]
            optima.append(replace(rows, min_bins=2).optimum(Algorithm.SMOOTH))
            results.append([optimum.boundary and outcome(optimum.boundary) for optimum in optima])
        assert results[0] == results[1]


SETUPS = (
    (BinOptions(uncertainty_bins=2, score_bins=3), Algorithm.VW_DPMT),
    (BinOptions(uncertainty_bins=2, score_bins=3), Algorithm.ST),
    (BinOptions(score_bins=7), Algorithm.SMOOTH),
)
"""Grids, and the algorithm that runs first on each."""


def optima(table, kind, text, setup):
    """Run every algorithm on a table."""
    grid, first = setup
    rows = calibration_set(table, parse_constraint(kind, text), grid)
    results = [
        rows.optimum(algorithm)
        for algorithm in dict.fromkeys([first, *Algorithm])
        if not rows.obstacle(algorithm)
    ]
    return [
        (optimum.boundary and outcome(optimum.boundary), optimum.closest and optimum.closest.fit)
        for optimum in results
    ]


@cache
def optima_of_all_pooled(data, kind, text, setup):
    """Run every algorithm on all rows pooled, as the expected result of every engine."""
    return optima(ArrayTable(as_rows(list(data))), kind, text, setup)


@EXAMPLES
@given(data=DATA, first_setup=st.integers(0, len(SETUPS) - 1))
def test_boundaries_are_those_of_all_scores_pooled(
    engine, variant, source, tmp_path_factory, data, first_setup
):
    """Each example tests every constraint on one or two of the setups, and other examples on the others."""
    inputs = write_inputs(frame(data), tmp_path_factory.mktemp("rows"), ending=source)
    table = table_with(engine, inputs, data)
    for index, (kind, text) in enumerate(CONSTRAINTS):
        for offset in range(2 if variant == SMALL_PARTS else 1):
            setup = SETUPS[(first_setup + index + offset) % len(SETUPS)]
            assert optima(table, kind, text, setup) == optima_of_all_pooled(tuple(data), kind, text, setup)


def test_columns_of_either_width_are_one_table(engine, tmp_path):
    data = [(0.1, 1.0, True, 1), (float(np.float32(0.1)), -2.0, False, 2), (-0.5, 0.0, True, 1)] * 4
    (tmp_path / "wide").mkdir()
    narrow_file = write_inputs(frame(data[1::3] * 3, pl.Float32), tmp_path)["inputs"]
    inputs = {"inputs": narrow_file + write_inputs(frame(data), tmp_path / "wide")["inputs"]}
    expected = counting.pooled(data[1::3] * 3 + data)
    assert count_triples(table_with(engine, inputs, data).pooled(ALL_ROWS)[0]) == expected


@pytest.mark.filterwarnings("ignore:.* of the rows were left out:UserWarning")
def test_unusable_rows_are_left_out(engine, variant, source, tmp_path):
    text = (
        "score,uncertainty,label,weight\n0.5,1,true,1\n,1,1,1\n0.5,nan,0,1\n0.25,2,False,3\n0.5,3, 0 ,1\n"
        "inf,1,1,1\n0.5,1,,1\n0.75,0,1.0,2\n0.75,0,0,\n-0.0,1,0,1\n0,1,TRUE,1\n"
    )
    inputs, location = as_texts(text, tmp_path, source)
    location = "" if variant in ON_SPARK else location
    table = table_of(engine, inputs, on_invalid=OnInvalid.DROP)
    assert count_triples(table.pooled(ALL_ROWS)[0]) == [(0.0, 2, 1), (0.25, 3, 0), (0.5, 2, 1), (0.75, 2, 2)]
    assert (table.summary.rows, table.summary.positives, table.summary.dropped) == (6, 3, 5)
    with pytest.raises(DataError, match=f"'score' has 1 null.*{location}"):
        table_of(engine, inputs).pooled(ALL_ROWS)


def as_texts(text, folder, source):
    """Return CSV inputs or a frame of its texts, and how messages name the second row."""
    if source == FRAME:
        rows = pl.read_csv(text.encode(), infer_schema=False)
        return {"inputs": in_memory(rows)}, "row index 1 of the data frame"
    path = folder / "rows.csv"
    path.write_text(text)
    return {"inputs": (str(path),)}, "data row 2 of '.*rows.csv'"


@pytest.mark.usefixtures("local_only")
def test_a_stream_is_counted_repeatedly(engine, tmp_path):
    data = [(number / 64, number % 5, number % 3 == 0, 1) for number in range(64)]
    path = tmp_path / "pipe"
    os.mkfifo(path)
    writer = threading.Thread(target=path.write_text, args=(frame(data).write_csv(),))
    writer.start()
    table = table_of(engine, {"inputs": (str(path),)})
    expected = [counting.pooled(part) for part in counting.rows_by_bin(data, [2])]
    for _ in range(2):
        assert [
            count_triples(counts) for counts in table.pooled(Partition(edges=np.array([2.0])))
        ] == expected
    writer.join()
    assert sorted(table.rows().numbers["score"].tolist()) == [row[0] for row in data]


def test_weights_of_zero_only_are_refused(engine, source, tmp_path):
    inputs = write_inputs(frame([(0.5, 1.0, True, 0)] * 5), tmp_path, ending=source)
    with pytest.raises(DataError, match="every row has weight 0"):
        table_of(engine, inputs).pooled(ALL_ROWS)


@pytest.mark.usefixtures("larger_parts")
def test_the_best_threshold_is_found_among_many_scores(engine, variant, source, tmp_path):
    random = np.random.default_rng(3)
    constraints = [*CONSTRAINTS, (ConstraintKind.PRECISION, "0.9")]
    if variant != EngineName.POLARS:
        constraints = constraints[::3]
    for seed in range({**dict.fromkeys((*ON_SPARK, REREAD_PARTS), 1), SMALL_PARTS: 3}.get(variant, 3)):
        score = random.random(150)
        label = random.random(150) < score ** (seed % 3 + 1)
        data = [(*row, 1) for row in zip(score.tolist(), score.tolist(), label.tolist(), strict=True)]
        folder = tmp_path / str(seed)
        folder.mkdir()
        inputs = write_inputs(frame(data), folder, ending=source, row_group_size=20)
        tables = table_with(engine, inputs, data), ArrayTable(as_rows(data))
        for kind, text in constraints:
            optima = [
                calibration_set(table, parse_constraint(kind, text), BinOptions(uncertainty_bins=1))
                .optimum(Algorithm.ST)
                .boundary
                for table in tables
            ]
            assert (optima[0] and outcome(optima[0])) == (optima[1] and outcome(optima[1]))


@EXAMPLES
@given(data=DATA)
def test_isotonic_blocks_are_those_of_all_rows_at_once(engine, source, tmp_path_factory, data):
    inputs = write_inputs(frame(data), tmp_path_factory.mktemp("rows"), ending=source)
    table = table_with(engine, inputs, data)
    by = Partition(edges=np.array([0.0, 1.0]))
    expected = ArrayTable(as_rows(data)).isotonic(by)
    assert [count_triples(counts) for counts in table.isotonic(by)] == [
        count_triples(counts) for counts in expected
    ]


@EXAMPLES
@given(data=DATA)
def test_errors_by_score_bin_are_those_of_all_scores_pooled(engine, source, tmp_path_factory, data):
    inputs = write_inputs(frame(data), tmp_path_factory.mktemp("rows"), ending=source)
    roles = ROLES if is_weighted(data) else replace(ROLES, weight=None)
    request = DataRequest(**inputs, roles=roles)
    spec = GridSpec(binning=Binning.EQUI_WEIGHT, uncertainty_bins=2, score_bins=3)
    errors = bin_rows(request, spec).report.errors
    edges = uncertainty_axis(table_with(engine, inputs, data), spec).edges
    parts = pool_by(as_rows(data), edges)
    blocks = [isotonic_counts(part) for part in (*parts, merge(parts))]
    expected = isotonic_errors(parts, blocks, build_cells(as_rows(data), spec))
    for error, expected_error in zip(errors, expected, strict=True):
        np.testing.assert_array_equal(error, expected_error)


@EXAMPLES
@given(data=DATA, kind=st.sampled_from(CONSTRAINTS))
def test_references_are_those_by_hand(engine, source, tmp_path_factory, data, kind):
    inputs = write_inputs(frame(data), tmp_path_factory.mktemp("rows"), ending=source)
    ends = [oracle.ends(data, column) for column in (0, 1)]
    for algorithm, grid, merged in (
        (Algorithm.SMOOTH, BinOptions(uncertainty_bins=4, score_bins=7), (1, 2, 4)),
        (Algorithm.VW_DPMT, BinOptions(uncertainty_bins=3, score_bins=4), (1, 3)),
        (Algorithm.ST, BinOptions(), (1,)),
    ):
        table, constraint = table_with(engine, inputs, data), parse_constraint(*kind)
        calibration = calibration_set(table, constraint, grid, smoothed_only=algorithm is Algorithm.SMOOTH)
        edges = calibration.cells(algorithm).uncertainty_edges
        for bins in merged:
            run = (len(edges) + 1) // bins
            of_rule = edges[run - 1 :: run]
            reference = calibration.reference(of_rule, uncertain=True)
            counted = reference.score_edges, reference.count
            assert counted == oracle.reference(data, of_rule.tolist())
            found = (reference.lowest.numbers, reference.highest.numbers)
            assert [tuple(end[role] for end in found) for role in ("score", "uncertainty")] == ends
        assert set(calibration.reference(edges[:0], uncertain=False).lowest.numbers) == {"score"}


@pytest.mark.covering("thorough", every=3, also=["spark, in a few cells-denormals"])
@pytest.mark.usefixtures("larger_parts")
@pytest.mark.parametrize("name", CROWDED)
def test_references_of_crowded_scores_are_those_by_hand(engine, variant, tmp_path, name):
    random = np.random.default_rng(8)
    size = {**dict.fromkeys((*ON_SPARK, REREAD_PARTS), 60), SMALL_PARTS: 120}.get(variant, 300)
    score = CROWDED[name](random.random(size))
    data = [(float(s), float(random.random()), bool(random.random() < 0.4), 1) for s in score]
    table = table_with(engine, write_inputs(frame(data), tmp_path, row_group_size=20), data)
    calibration = calibration_set(table, parse_constraint("precision", "0.6"), BinOptions(uncertainty_bins=2))
    edges = calibration.cells(Algorithm.SMOOTH).uncertainty_edges
    reference = calibration.reference(edges, uncertain=True)
    assert (reference.score_edges, reference.count) == oracle.reference(data, edges.tolist())


def test_a_file_that_changes_while_it_is_read_is_reported(engine, variant, tmp_path):
    data = [(number / 64, number % 5, number % 3 == 0, 1) for number in range(64)]
    inputs = write_inputs(frame(data), tmp_path)
    table = table_of(engine, inputs)
    expected = count_triples(table.pooled(ALL_ROWS)[0])
    frame(data[:20]).write_parquet(inputs["inputs"][0])
    if variant in (REREAD_PARTS, *ON_SPARK):
        with pytest.raises(DataError, match="changed while they were read"):
            table.pool(ALL_ROWS, "score")
    else:
        assert count_triples(table.pool(ALL_ROWS, "score")[0]) == expected  # the engine kept the rows


def test_the_scores_of_all_rows_are_pooled_once(engine, tmp_path):
    data = [(number / 64, number % 5, number % 3 == 0, 1) for number in range(64)]
    table = table_of(engine, write_inputs(frame(data), tmp_path))
    assert table.pooled(ALL_ROWS)[0] is table.pooled(ALL_ROWS)[0]


@pytest.mark.usefixtures("local_only")
def test_a_file_that_changes_between_two_queries_is_reported(engine, tmp_path):
    data = [(number / 64, number % 5, number % 3 == 0, 1) for number in range(64)]
    inputs = write_inputs(frame(data), tmp_path)
    table = table_of(engine, inputs)
    table.pooled(Partition(edges=np.array([2.0])))  # divides the rows and frees the uncertainty
    assert table.rows().numbers["uncertainty"].sum() == sum(row[1] for row in data)
    table.pooled(Partition(edges=np.array([2.0])))
    frame(data[:20]).write_parquet(inputs["inputs"][0])
    with pytest.raises(DataError, match="changed while they were read"):
        table.rows()
