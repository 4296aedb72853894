"""Tests of the net benefits in an evaluation of boundaries, against counting row by row."""

import msgspec
import pytest
from hypothesis import assume, given
from hypothesis import strategies as st

from tests.evaluate.test_difference import BOUNDARIES, boundary, evaluate, has_cleared_rows, is_flagged
from tests.oracles.net_benefit import net_benefit
from tests.properties.strategies import data_sets
from uqcli.boundary.rule_file import SavedConstraint
from uqcli.boundary.search.constraint_kinds import ConstraintKind

CONSTRAINTS = [
    ("precision", "0.05"),
    ("precision", "0.7"),
    ("precision", "0.95"),
    ("utility", "gain=3,cost=7"),
    ("utility", "gain=20,cost=0.3"),
]
RULE = boundary(1.0, 0.5, None)
ROWS = [(tenth / 10, 0.0, tenth % 3 == 0, 1) for tenth in range(10)]


def with_constraint(artifact, kind, value):
    constraint = SavedConstraint(kind=ConstraintKind(kind), value=value)
    return msgspec.structs.replace(artifact, constraint=constraint)


def flags(artifact, rows):
    """Return (flagged, positive) of each row, repeated by its weight."""
    return [(is_flagged(artifact, s, u), y) for s, u, y, weight in rows for _ in range(weight)]


@given(BOUNDARIES, BOUNDARIES, st.sampled_from(CONSTRAINTS), data_sets())
def test_net_benefits_equal_those_counted_row_by_row(first, second, constraint, rows):
    assume(has_cleared_rows([first, second], rows))
    rules = [with_constraint(artifact, *constraint) for artifact in (first, second)]
    odds = rules[0].constraint.parsed().odds
    report = evaluate(rules, rows).payload()
    expected = [net_benefit(flags(artifact, rows), odds) for artifact in rules]
    for result, value in zip(report["results"], expected, strict=True):
        estimate = result["metrics"]["net_benefit"]
        assert estimate["value"] == float(value)
        assert estimate["low"] <= estimate["value"] + 1e-12
        assert estimate["value"] - 1e-12 <= estimate["high"]
    difference = report["metrics"]["difference"]["net_benefit"]
    assert difference["value"] == float(expected[1] - expected[0])
    assert difference["low"] - 1e-12 <= difference["value"] <= difference["high"] + 1e-12


@given(BOUNDARIES, st.sampled_from(CONSTRAINTS), data_sets())
def test_repeated_rows_have_the_net_benefit_of_their_weights(artifact, constraint, rows):
    rule = with_constraint(artifact, *constraint)
    repeated_rows = [(*row[:3], 1) for row in rows for _ in range(row[3])]
    weighted, repeated = (
        evaluate([rule, artifact], part, weighted=is_weighted).payload()["results"][0]["metrics"]
        for part, is_weighted in ((rows, True), (repeated_rows, False))
    )
    assert weighted["net_benefit"] == repeated["net_benefit"]


@pytest.mark.parametrize(
    ("first", "second", "has_difference"),
    [
        (("precision", "0.7"), ("utility", "gain=3,cost=7"), True),  # both have odds of 7/3
        (("precision", "0.7"), ("precision", "0.8"), False),
        (("precision", "0.7"), ("recall", "0.7"), False),
        (("max-selected", "5%"), ("max-fpr", "0.1"), False),
    ],
)
def test_only_rules_at_the_same_odds_are_compared(first, second, has_difference):
    rules = [with_constraint(RULE, *constraint) for constraint in (first, second)]
    report = evaluate(rules, ROWS).payload()
    assert ("net_benefit" in report["metrics"]["difference"]) == has_difference
    for (kind, _), result in zip((first, second), report["results"], strict=True):
        assert ("net_benefit" in result["metrics"]) == (kind in ("precision", "utility"))


def test_infinite_odds_have_no_net_benefit():
    rules = [with_constraint(RULE, "precision", "1.0")] * 2
    report, unknown = evaluate(rules, ROWS).payload(), {"value": None, "low": None, "high": None}
    assert [result["metrics"]["net_benefit"] for result in report["results"]] == [unknown, unknown]
    assert report["metrics"]["difference"]["net_benefit"] == unknown
