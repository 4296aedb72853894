"""Two boundaries on the same rows, against counting row by row."""

import random

import msgspec
import pytest
from hypothesis import given
from hypothesis import strategies as st

import uqcli
from tests.oracles.difference import differences, repeated
from tests.properties.strategies import data_sets
from uqcli.api.columns import table_of
from uqcli.artifacts.columns import ColumnOverrides
from uqcli.engines.request import DataRequest
from uqcli.jobs.evaluate.request import EvaluateRequest
from uqcli.jobs.evaluate.run import run
from uqcli.reports.evaluate.boundaries import UNSEEN

ANY = uqcli.find_boundary(
    [0.1, 0.9], [0, 1], uncertainty=[0, 1], precision=1, algorithm="ew-dpmt", uncertainty_bins=2
).artifact
THRESHOLDS = st.one_of(st.none(), st.sampled_from([0.0, 1 / 3, 0.5, 2 / 3, 1.0]))


def boundary(edge, low, high):
    return msgspec.structs.replace(ANY, uncertainty_edges=[edge], thresholds=[low, high])


BOUNDARIES = st.builds(boundary, st.sampled_from([0.0, 1.0]), THRESHOLDS, THRESHOLDS)


def selects(artifact, score, uncertainty):
    threshold = artifact.thresholds[uncertainty >= artifact.uncertainty_edges[0]]
    return threshold is not None and score >= threshold


def evaluate(models, rows, weighted=True):
    score, uncertainty, label, weight = (list(column) for column in zip(*rows, strict=True))
    columns = {
        "score": score,
        "uncertainty": uncertainty,
        "label": [int(each) for each in label],
        "w": weight,
    }
    request = EvaluateRequest(
        data=DataRequest(inputs=(), frame=table_of(columns)),
        artifacts=tuple("ABC"[: len(models)]),
        models=tuple(models),
        columns=ColumnOverrides(weight="w") if weighted else ColumnOverrides(),
    )
    return run(request).report


def found(models, rows, weighted=True):
    return evaluate(models, rows, weighted).payload()["metrics"]["difference"]


@given(BOUNDARIES, BOUNDARIES, data_sets())
def test_values_by_counting_rows(first, second, rows):
    decided = [(selects(first, s, u), selects(second, s, u), y, w) for s, u, y, w in rows]
    by_hand, report = differences(repeated(decided)), found([first, second], rows)
    for name, expected in by_hand.items():
        value = report[name] if name.endswith("_p") else report[name]["value"]
        assert value == (None if expected is None else pytest.approx(expected, abs=1e-12)), name
    assert report["disagreements"] == sum(w for one, other, _, w in decided if one != other)
    assert report["disagreements_positive"] == sum(w for one, other, y, w in decided if y and one != other)
    for name, most in (("recall", 1), ("precision", 1), ("selected", sum(row[3] for row in rows))):
        estimate = report[name]
        if estimate["value"] is None:
            assert (estimate["low"], estimate["high"]) == (-1, 1)
        else:
            assert -most <= estimate["low"] <= estimate["value"] + 1e-12
            assert estimate["value"] - 1e-12 <= estimate["high"] <= most


@given(BOUNDARIES, BOUNDARIES, data_sets(), st.randoms(use_true_random=False))
def test_neither_order_nor_how_rows_are_repeated_matters(first, second, rows, shuffled):
    expected = found([first, second], rows)
    single = [(*row[:3], 1) for row in rows for _ in range(row[3])]
    shuffled.shuffle(single)
    assert found([first, second], single, weighted=False) == expected


@given(BOUNDARIES, BOUNDARIES, data_sets())
def test_the_other_way_round_is_the_mirror(first, second, rows):
    there, back = found([first, second], rows), found([second, first], rows)
    for name in ("recall", "precision", "selected"):
        one, other = there[name], back[name]
        if one["value"] is not None:
            assert other["value"] == pytest.approx(-one["value"], abs=1e-12)
        assert other["low"] == pytest.approx(-one["high"], abs=1e-12)
        assert other["high"] == pytest.approx(-one["low"], abs=1e-12)
    for name in ("recall_p", "selected_p", "disagreements", "disagreements_positive"):
        assert there[name] == back[name]


@given(BOUNDARIES, BOUNDARIES, data_sets())
def test_what_is_said_follows_from_the_intervals(first, second, rows):
    report = evaluate([first, second], rows)
    difference = report.payload()["metrics"]["difference"]
    worth = [note for note in report.document().notes if note != UNSEEN]
    if worth:  # what further alerts hold is said where both differences are significant
        assert all(
            difference[name]["low"] > 0 or difference[name]["high"] < 0 for name in ("recall", "selected")
        )
        assert " rows more than " in worth[0]
    full = report.document().tables[0]
    for table in (full, full.brief):
        precision, recall, _, selected, _ = (row[-1] for row in table.rows)
        for name, cell in (("recall", recall), ("precision", precision), ("selected", selected)):
            low, high = difference[name]["low"], difference[name]["high"]
            assert cell == "-" or ("n.s." in cell) == (low <= 0 <= high)
            assert cell == "-" or ("[" in cell) == (table is full)


def test_one_or_three_boundaries_are_compared_with_nothing():
    rows = [(random.Random(each).random(), 0.0, each % 2, 1) for each in range(20)]
    models = [boundary(1.0, each, None) for each in (0.2, 0.5, 0.8)]
    alone, several = evaluate(models[:1], rows).payload(), evaluate(models, rows).payload()
    assert "difference" not in alone["metrics"]
    assert "metrics" not in several
    pair = evaluate(models[:2], rows).payload()
    assert [each["metrics"] for each in pair["results"]] == [
        each["metrics"] for each in several["results"][:2]
    ]
    assert pair["results"][0]["metrics"] == alone["metrics"]
