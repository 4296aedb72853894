"""Contract tests, on every engine, of class probabilities as predictions of the most probable class."""

from collections import Counter
from dataclasses import replace

import numpy as np
import polars as pl
import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.engines.conftest import REREAD_PARTS, SMALL_PARTS
from tests.engines.test_tables import EXAMPLES, count_triples, write_inputs
from tests.oracles import counting
from tests.oracles.isotonic_blocks import isotonic_counts
from tests.oracles.predictions import by_predicted_class, predicted_class, predictions
from uqcli.base.choices import OnInvalid
from uqcli.base.counts import merge
from uqcli.base.errors import DataError
from uqcli.base.rows import Rows
from uqcli.engines.protocol import ALL_ROWS, Partition
from uqcli.engines.request import INPUT, PREDICTED, PROBA, ClassColumns, DataRequest, Roles

NAMES = (("9", "10", "a,b"), ("no", "yes"), ("ünter", "z", "B", "b", "1.0"))
"""Class orders, of which the first and the last are not the order of texts."""

EDGES = [0.5, 2.0]
UNCERTAINTIES = [0.0, 0.5, 1.0, 3.0]
REGIONS = ("north", "south", "10")


@st.composite
def problems(draw):
    """Draw classes, records with many ties between classes, and the type of each probability column."""
    classes = draw(st.sampled_from(NAMES))
    dtypes = draw(
        st.one_of(
            st.sampled_from([(pl.Float64,) * len(classes), (pl.Float32,) * len(classes)]),
            st.tuples(*(st.sampled_from([pl.Float32, pl.Float64]) for _ in classes)),
        )
    )
    weight = st.integers(0, 3) if draw(st.booleans()) else st.just(1)
    mass = draw(st.sampled_from([st.integers(0, 3), st.floats(0.5, 1), st.just(1)]))
    record = st.fixed_dictionaries(
        {
            "mass": st.lists(mass, min_size=len(classes), max_size=len(classes)).filter(any),
            "uncertainty": st.sampled_from(UNCERTAINTIES),
            "label": st.sampled_from(classes),
            "weight": weight,
            "region": st.sampled_from(REGIONS),
        }
    )
    records = draw(
        st.lists(record, min_size=1, max_size=24).filter(
            lambda records: any(record["weight"] for record in records)
        )
    )
    for record in records:
        masses = record.pop("mass")
        record["p"] = {
            name: as_read(mass / sum(masses), dtype)
            for name, mass, dtype in zip(classes, masses, dtypes, strict=True)
        }
    return classes, records, dtypes


def as_read(value, dtype):
    return float(np.float32(value)) if dtype == pl.Float32 else value


def frame(classes, records, dtypes):
    """Make the columns p0, p1, ... in class order, and the others."""
    probabilities = {
        f"p{index}": pl.Series([record["p"][name] for record in records], dtype=dtype)
        for index, (name, dtype) in enumerate(zip(classes, dtypes, strict=True))
    }
    others = {
        name: [record[name] for record in records] for name in ("uncertainty", "label", "weight", "region")
    }
    return pl.DataFrame(probabilities | others)


def roles_of(classes, **changes):
    columns = ",".join(f"p{index}" for index in range(len(classes)))
    roles = Roles(
        numbers={"uncertainty": "uncertainty"},
        label="label",
        weight="weight",
        class_columns=ClassColumns(columns=columns, names=classes),
        predicted=True,
    )
    return replace(roles, **changes)


def every_range(counts):
    return [~pool.exact for pool in counts]


@EXAMPLES
@given(problem=problems(), cuts=st.lists(st.integers(0, 24), max_size=3))
def test_predictions_are_counted_as_by_hand(engine, source, tmp_path_factory, problem, cuts):
    classes, records, _ = problem
    cuts = [min(cut, len(records)) for cut in cuts]
    inputs = write_inputs(frame(*problem), tmp_path_factory.mktemp("rows"), cuts, source)
    table = engine.table(DataRequest(**inputs, roles=roles_of(classes)))
    rows, parts_by_class = predictions(records, classes), by_predicted_class(records, classes)
    assert table.groups(PREDICTED) == tuple(parts_by_class)
    assert count_triples(table.pooled(ALL_ROWS)[0]) == counting.pooled(rows)
    by_class = [counting.pooled(part) for part in parts_by_class.values()]
    by = Partition(groups=(PREDICTED,))
    assert [count_triples(counts) for counts in table.pooled(by)] == by_class
    *parts, whole = table.range_counts(by, every_range)
    assert [count_triples(counts) for counts in parts] == by_class
    assert count_triples(whole) == counting.pooled(rows)
    summary = table.summary
    assert (summary.rows, summary.positives, summary.dropped) == (len(rows), sum(row[2] for row in rows), 0)
    probabilities = {f"{PROBA}{name}": f"p{index}" for index, name in enumerate(classes)}
    others = {name: name for name in ("uncertainty", "label", "weight")}
    assert summary.columns == {**probabilities, **others}


@EXAMPLES
@given(problem=problems())
def test_predictions_are_divided_by_class_and_uncertainty(engine, source, tmp_path_factory, problem):
    """The table may free the uncertainty after rows are divided by it; the other columns stay."""
    classes, records, _ = problem
    inputs = write_inputs(frame(*problem), tmp_path_factory.mktemp("rows"), ending=source)
    table = engine.table(DataRequest(**inputs, roles=roles_of(classes)))
    rows = predictions(records, classes)
    by_class = list(by_predicted_class(records, classes).values())
    by_both = [part for of_name in by_class for part in counting.rows_by_bin(of_name, EDGES)]
    edges = np.array(EDGES)
    for by, parts in [
        (Partition(groups=(PREDICTED,), edges=edges), by_both),
        (Partition(edges=edges), counting.rows_by_bin(rows, EDGES)),
        (Partition(groups=(PREDICTED,)), by_class),
    ]:
        assert [count_triples(counts) for counts in table.pooled(by)] == [
            counting.pooled(part) for part in parts
        ]
        expected_blocks = [isotonic_counts(counts) for counts in table.pooled(by)]
        expected_blocks.append(isotonic_counts(merge(table.pooled(by))))
        assert [count_triples(counts) for counts in table.isotonic(by)] == [
            count_triples(counts) for counts in expected_blocks
        ]
    (uncertainties,) = table.pooled(ALL_ROWS, "uncertainty")
    assert count_triples(uncertainties) == counting.pooled([(row[1], row[0], *row[2:]) for row in rows])


@EXAMPLES
@given(problem=problems(), share=st.fractions(0, 1))
def test_edges_of_predictions_are_the_values_of_their_ranks(engine, tmp_path_factory, problem, share):
    classes, records, _ = problem
    inputs = write_inputs(frame(*problem), tmp_path_factory.mktemp("rows"))
    table = engine.table(DataRequest(**inputs, roles=roles_of(classes, numbers={})))

    def rank_at_share(size):
        return np.array([int(share * (size - 1))])

    pools = table.edges("score", rank_at_share, Partition(groups=(PREDICTED,)))
    for counts, part in zip(pools, by_predicted_class(records, classes).values(), strict=True):
        values = [(row[0], row[3]) for row in part]
        (rank,) = rank_at_share(sum(weight for _, weight in values)).tolist()
        index = np.searchsorted(np.cumsum(counts.count), rank, side="right")
        assert counts.value[index] == counting.at_rank(values, rank)


@EXAMPLES
@given(problem=problems(), cuts=st.lists(st.integers(0, 24), max_size=2))
def test_the_predicted_class_is_a_key_beside_others(engine, tmp_path_factory, problem, cuts):
    classes, records, _ = problem
    cuts = [min(cut, len(records)) for cut in cuts]
    inputs = write_inputs(frame(*problem), tmp_path_factory.mktemp("rows"), cuts)
    roles = roles_of(classes, keys=("region", PREDICTED, INPUT))
    table = engine.table(DataRequest(**inputs, roles=roles))
    regions = sorted({record["region"] for record in records if record["weight"]})
    expected = []
    for region in regions:
        parts = by_predicted_class([record for record in records if record["region"] == region], classes)
        names = by_predicted_class(records, classes)
        expected += [counting.pooled(parts.get(name, [])) for name in names]
    by = Partition(groups=("region", PREDICTED))
    assert [count_triples(counts) for counts in table.pooled(by)] == expected
    assert PREDICTED not in table.summary.columns.values()


def collected(rows, names):
    """Return the weight of each (score, uncertainty, right, class)."""
    weights = Counter()
    uncertainty = np.zeros(len(rows)) if rows.uncertainty is None else rows.uncertainty
    columns = rows.score, uncertainty, rows.labels, rows.groups[PREDICTED], rows.weights()
    for *values, code, weight in zip(*(column.tolist() for column in columns), strict=True):
        weights[(*values, names[code])] += weight
    return +weights


@pytest.mark.parametrize("uncertain", [True, False])
@EXAMPLES
@given(problem=problems())
def test_single_predictions_are_those_by_hand(engine, source, tmp_path_factory, problem, uncertain):
    classes, records, _ = problem
    inputs = write_inputs(frame(*problem), tmp_path_factory.mktemp("rows"), ending=source)
    roles = roles_of(classes) if uncertain else roles_of(classes, numbers={})
    request = DataRequest(**inputs, roles=roles)
    expected = Counter()
    for record, (score, uncertainty, is_right, weight) in zip(
        records, predictions(records, classes), strict=True
    ):
        name = predicted_class(record, classes)
        expected[score, uncertainty if uncertain else 0.0, is_right, name] += weight
    read = engine.rows(request)
    assert collected(read.rows, read.group_names[PREDICTED]) == +expected
    assert (read.classes, read.rows.label_class) == (classes, None)
    batches = engine.batches(request)
    rows = Rows.joined(list(batches))
    assert list(rows.numbers) == ["score", *roles.numbers]
    names = {code: name for name, code in batches.levels[PREDICTED].items()}
    assert collected(rows, names) == +expected
    assert batches.summary == read.summary
    table_rows = engine.table(request).rows()
    assert sorted(set(table_rows.score.tolist())) == sorted({values[0] for values in +expected})


@EXAMPLES
@given(problem=problems(), random=st.randoms(use_true_random=False))
def test_the_order_of_rows_changes_nothing(engine, tmp_path_factory, problem, random):
    classes, records, dtypes = problem
    shuffled = random.sample(records, len(records))
    by, results = Partition(groups=(PREDICTED,), edges=np.array(EDGES)), []
    for ordered in (records, shuffled):
        rows = frame(classes, ordered, dtypes)
        inputs = write_inputs(rows, tmp_path_factory.mktemp("rows"), [len(ordered) // 3])
        table = engine.table(DataRequest(**inputs, roles=roles_of(classes)))
        results.append([count_triples(counts) for counts in table.pooled(by)])
    assert results[0] == results[1]


CLASSES = ("9", "10", "a,b")


def rows_of(labels, probabilities, **others):
    """Make a data frame of labels, probability rows and further columns."""
    columns = zip(*probabilities, strict=True)
    values = {f"p{index}": list(column) for index, column in enumerate(columns)}
    defaults = {"uncertainty": [0.5] * len(labels), "weight": [1] * len(labels)}
    return pl.DataFrame({**values, "label": labels, **defaults, **others})


def test_columns_of_32_and_64_bits_are_compared_as_read(engine, tmp_path):
    """The nearest 32-bit number to 0.4 is larger than 0.4, and 0.5 is equal in both."""
    rows = rows_of(["10", "9", "9", "10"], [(0.4, 0.4, 0.2), (0.5, 0.5, 0.0)] * 2)
    narrow = rows.with_columns(pl.col("p1").cast(pl.Float32))
    narrow_first = rows.with_columns(pl.col("p0").cast(pl.Float32))
    for index, mixed in enumerate((narrow, narrow_first)):
        folder = tmp_path / str(index)
        folder.mkdir()
        table = engine.table(DataRequest(**write_inputs(mixed, folder), roles=roles_of(CLASSES)))
        by_class = [count_triples(counts) for counts in table.pooled(Partition(groups=(PREDICTED,)))]
        close = float(np.float32(0.4))
        if index == 0:
            assert table.groups(PREDICTED) == ("10", "9")
            assert by_class == [[(close, 2, 1)], [(0.5, 2, 1)]]
        else:
            assert table.groups(PREDICTED) == ("9",)
            assert by_class == [[(close, 2, 1), (0.5, 2, 1)]]


def test_probabilities_beyond_the_ends_are_clipped_before_they_are_scores(engine, tmp_path):
    rows = rows_of(["a,b"] * 2, [(-5e-7, 0.0, 1 + 5e-7), (0.0, -0.0, 1.0)])
    table = engine.table(DataRequest(**write_inputs(rows, tmp_path), roles=roles_of(CLASSES)))
    assert count_triples(table.pooled(ALL_ROWS)[0]) == [(1.0, 2, 2)]


@pytest.mark.filterwarnings("ignore:.* of the rows were left out:UserWarning")
def test_unusable_rows_are_no_predictions(engine, source, tmp_path):
    labels = ["9", None, "10", "a,b", "a,b", "9", "9"]
    probabilities = [
        (0.5, 0.25, 0.25),
        (0.5, 0.5, 0.0),
        (0.25, 0.75, 0.0),
        (None, 0.5, 0.5),
        (float("nan"), 0.5, 0.5),
        (0.5, 0.5, 0.0),
        (None, None, None),
    ]
    uncertainty = [0.5, 0.5, float("inf"), 0.5, 0.5, 0.5, 0.5]
    rows = rows_of(labels, probabilities, uncertainty=uncertainty)
    inputs = write_inputs(rows, tmp_path, ending=source)
    request = DataRequest(**inputs, roles=roles_of(CLASSES), on_invalid=OnInvalid.DROP)
    table = engine.table(request)
    assert count_triples(table.pooled(ALL_ROWS)[0]) == [(0.5, 2, 2)]
    assert table.groups(PREDICTED) == ("9",)
    summary = table.summary
    assert (summary.rows, summary.positives, summary.dropped, summary.unlabelled) == (2, 2, 5, 1)
    with pytest.raises(DataError, match="'p0' has 2 null, column 'p0' has 1 NaN"):
        engine.table(replace(request, on_invalid=OnInvalid.ERROR)).pooled(ALL_ROWS)


@pytest.mark.parametrize(
    ("label", "probabilities", "message"),
    [
        ("8", (0.5, 0.25, 0.25), "one of the classes 9, 10, a,b"),
        ("9", (1.5, -0.25, -0.25), "probabilities between 0 and 1"),
        ("9", (0.5, 0.25, 0.0), "a sum of 1 in every row"),
    ],
)
def test_predictions_are_refused_as_class_probabilities_are(engine, tmp_path, label, probabilities, message):
    rows = rows_of(["9", label], [(1.0, 0.0, 0.0), probabilities])
    request = DataRequest(**write_inputs(rows, tmp_path), roles=roles_of(CLASSES))
    with pytest.raises(DataError, match=message) as of_predictions:
        engine.table(request).pooled(ALL_ROWS)
    plain = replace(request, roles=replace(request.roles, predicted=False))
    with pytest.raises(DataError, match=message) as of_classes:
        engine.table(plain).pooled(ALL_ROWS, PROBA + "9")
    assert str(of_predictions.value) == str(of_classes.value)


def test_rows_of_weight_zero_predict_no_class(engine, tmp_path):
    rows = rows_of(["9", "10"], [(1.0, 0.0, 0.0), (0.0, 1.0, 0.0)], weight=[0, 3])
    table = engine.table(DataRequest(**write_inputs(rows, tmp_path), roles=roles_of(CLASSES)))
    assert table.groups(PREDICTED) == ("10",)
    assert [count_triples(counts) for counts in table.pooled(Partition(groups=(PREDICTED,)))] == [
        [(1.0, 3, 3)]
    ]
    assert (table.summary.rows, table.summary.positives) == (2, 2)


def test_amounts_are_summed_by_predicted_class(engine, tmp_path):
    rows = rows_of(["9", "10", "10"], [(0.5, 0.25, 0.25)] * 2 + [(0.25, 0.5, 0.25)], amount=[1.5, 2.0, 4.0])
    roles = roles_of(CLASSES, numbers={"amount": "amount"}, amounts=("amount",))
    table = engine.table(DataRequest(**write_inputs(rows, tmp_path), roles=roles))
    counts = table.pooled(Partition(groups=(PREDICTED,)))
    assert [part.sums[0].tolist() for part in counts] == [[[40_000], [40_000]], [[35_000], [15_000]]]


def test_many_classes_are_predicted_as_by_hand(engine, variant, tmp_path):
    random = np.random.default_rng(4)
    classes = tuple(str(number) for number in range(50))
    size = {SMALL_PARTS: 60, REREAD_PARTS: 60}.get(variant, 1000)
    probability = random.dirichlet(np.full(50, 0.05), size).round(2)
    probability[:, 0] += 1 - probability.sum(axis=1)
    probability = np.where((probability < 0).any(axis=1, keepdims=True), 0.02, probability)
    label = random.integers(0, 50, size)
    records = [
        {"p": dict(zip(classes, row, strict=True)), "uncertainty": 0.5, "label": str(name), "weight": 1}
        | {"region": "north"}
        for row, name in zip(probability.tolist(), label.tolist(), strict=True)
    ]
    inputs = write_inputs(frame(classes, records, [pl.Float64] * 50), tmp_path, row_group_size=500)
    table = engine.table(DataRequest(**inputs, roles=roles_of(classes, weight=None)))
    parts_by_class = by_predicted_class(records, classes)
    assert table.groups(PREDICTED) == tuple(parts_by_class)
    assert len(parts_by_class) > 20
    assert [count_triples(counts) for counts in table.pooled(Partition(groups=(PREDICTED,)))] == [
        counting.pooled(part) for part in parts_by_class.values()
    ]
