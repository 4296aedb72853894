"""Tests of the difference of two boundaries on the same rows, against counting row by row."""

import random

import msgspec
import pytest
from hypothesis import assume, given
from hypothesis import strategies as st

import uqcli
from tests.oracles.difference import differences, repeated
from tests.properties.strategies import data_sets
from uqcli.engines.request import DataRequest, in_memory
from uqcli.evaluate.options import EvaluateRequest
from uqcli.evaluate.run import run
from uqcli.jobs.tables import table_of
from uqcli.rules.columns import ColumnOverrides

TEMPLATE = uqcli.find_boundary(
    [0.1, 0.9], [0, 1], uncertainty=[0, 1], precision=1, algorithm="ew-dpmt", uncertainty_bins=2
).artifact
THRESHOLDS = st.one_of(st.none(), st.sampled_from([0.0, 1 / 3, 0.5, 2 / 3, 1.0]))


def boundary(edge, low, high):
    return msgspec.structs.replace(TEMPLATE, uncertainty_edges=[edge], thresholds=[low, high])


BOUNDARIES = st.builds(boundary, st.sampled_from([0.0, 1.0]), THRESHOLDS, THRESHOLDS)


def is_flagged(artifact, score, uncertainty):
    threshold = artifact.thresholds[uncertainty >= artifact.uncertainty_edges[0]]
    return threshold is not None and score >= threshold


def has_cleared_rows(boundaries, rows):
    """Whether no rule flags all rows: a file of flagged rows only says nothing about recall."""
    return all(any(w and not is_flagged(rule, s, u) for s, u, _, w in rows) for rule in boundaries)


def evaluate(boundaries, rows, weighted=True):
    score, uncertainty, label, weight = (list(column) for column in zip(*rows, strict=True))
    columns = {
        "score": score,
        "uncertainty": uncertainty,
        "label": [int(is_positive) for is_positive in label],
        "w": weight,
    }
    request = EvaluateRequest(
        data=DataRequest(inputs=in_memory(table_of(columns))),
        artifacts=tuple("ABC"[: len(boundaries)]),
        rules=tuple(boundaries),
        columns=ColumnOverrides(named={"weight": "w"} if weighted else {}),
    )
    return run(request).report


def difference_of(boundaries, rows, weighted=True):
    return evaluate(boundaries, rows, weighted).payload()["metrics"]["difference"]


@given(BOUNDARIES, BOUNDARIES, data_sets())
def test_differences_equal_those_counted_row_by_row(first, second, rows):
    assume(has_cleared_rows([first, second], rows))
    flags = [(is_flagged(first, s, u), is_flagged(second, s, u), y, w) for s, u, y, w in rows]
    expected_by_name, report = differences(repeated(flags)), difference_of([first, second], rows)
    for name, expected in expected_by_name.items():
        value = report[name] if name.endswith("_p") else report[name]["value"]
        assert value == (None if expected is None else pytest.approx(expected, abs=1e-12)), name
    assert report["disagreements"] == sum(w for by_first, by_second, _, w in flags if by_first != by_second)
    assert report["disagreements_positive"] == sum(
        w for by_first, by_second, y, w in flags if y and by_first != by_second
    )
    for name, maximum in (("recall", 1), ("precision", 1), ("selected", sum(row[3] for row in rows))):
        estimate = report[name]
        if estimate["value"] is None:
            assert (estimate["low"], estimate["high"]) == (-1, 1)
        else:
            assert -maximum <= estimate["low"] <= estimate["value"] + 1e-12
            assert estimate["value"] - 1e-12 <= estimate["high"] <= maximum


@given(BOUNDARIES, BOUNDARIES, data_sets(), st.randoms(use_true_random=False))
def test_order_and_repetition_of_rows_do_not_matter(first, second, rows, shuffled):
    expected = difference_of([first, second], rows)
    repeated_rows = [(*row[:3], 1) for row in rows for _ in range(row[3])]
    shuffled.shuffle(repeated_rows)
    assert difference_of([first, second], repeated_rows, weighted=False) == expected


@given(BOUNDARIES, BOUNDARIES, data_sets())
def test_swapping_the_boundaries_mirrors_the_differences(first, second, rows):
    assume(has_cleared_rows([first, second], rows))
    forward, backward = difference_of([first, second], rows), difference_of([second, first], rows)
    for name in ("recall", "precision", "selected"):
        estimate, mirrored = forward[name], backward[name]
        if estimate["value"] is not None:
            assert mirrored["value"] == pytest.approx(-estimate["value"], abs=1e-12)
        assert mirrored["low"] == pytest.approx(-estimate["high"], abs=1e-12)
        assert mirrored["high"] == pytest.approx(-estimate["low"], abs=1e-12)
    for name in ("recall_p", "selected_p", "disagreements", "disagreements_positive"):
        assert forward[name] == backward[name]


@given(BOUNDARIES, BOUNDARIES, data_sets())
def test_notes_and_tables_follow_from_the_intervals(first, second, rows):
    assume(has_cleared_rows([first, second], rows))
    report = evaluate([first, second], rows)
    difference = report.payload()["metrics"]["difference"]
    if any(" on balance, and " in line for line in report.document().lead):  # two significant differences
        assert all(
            difference[name]["low"] > 0 or difference[name]["high"] < 0 for name in ("recall", "selected")
        )
    full = report.document().tables[0]
    for table in (full, full.brief):
        precision, recall, _, selected, *_ = (row[-1] for row in table.rows)
        for name, cell in (("recall", recall), ("precision", precision), ("selected", selected)):
            low, high = difference[name]["low"], difference[name]["high"]
            assert cell == "-" or ("n.s." in cell) == (low <= 0 <= high)
            assert cell == "-" or ("[" in cell) == (table is full)


def test_one_or_three_boundaries_are_not_compared():
    rows = [(random.Random(seed).random(), 0.0, seed % 2, 1) for seed in range(20)]
    boundaries = [boundary(1.0, threshold, None) for threshold in (0.2, 0.5, 0.8)]
    single_report, three_reports = (
        evaluate(boundaries[:1], rows).payload(),
        evaluate(boundaries, rows).payload(),
    )
    assert "difference" not in single_report["metrics"]
    assert "metrics" not in three_reports
    pair = evaluate(boundaries[:2], rows).payload()
    assert [result["metrics"] for result in pair["results"]] == [
        result["metrics"] for result in three_reports["results"][:2]
    ]
    assert pair["results"][0]["metrics"] == single_report["metrics"]
