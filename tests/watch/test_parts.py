"""Tests of the parts of a watch: which facts each statement needs, and that a part can go."""

import re
from dataclasses import replace
from fractions import Fraction
from pathlib import Path

import msgspec
import pytest

import uqcli.watch.parts
from tests.facts import statements_by
from tests.watch.test_measure import HALF, draw, state_of
from uqcli.boundary.promise import Promise
from uqcli.watch.measure import measured_promises, with_alarms
from uqcli.watch.parts import NewRows, Targets, report_of
from uqcli.watch.report import LAYOUT, Fact

SAID = {
    Fact.NO_ALARM: ({"alike-days", "evidence-of-earlier-version"}, {"alarm-of-earlier-version"}),
    Fact.ONE_TARGET: ({"expected-of-the-target", "below-target", "misses-target"}, {"expected-of-a-target"}),
}
"""What needs a fact, and what is said without it only."""

EXPECTED = Promise(
    rate="precision", bound=Fraction(1, 2), origin="lower end of what was expected of target 0.7"
)
RECALL = Promise(rate="recall", bound=Fraction(1, 2), origin="target")
NEW = NewRows(
    unit="day",
    added=("2026-01-01",),
    known=("2026-01-02",),
    replaced=("2026-01-03",),
    young=3,
    unwatched=4,
    stray=("2036-01-01",),
    missing=("2026-01-04",),
)
RATES = {"kept": 0.6, "missed": 0.1, "without trials": None}


@pytest.mark.parametrize("fact", Fact)
def test_what_a_fact_allows_is_as_listed(fact):
    assert statements_by(LAYOUT.places, fact) == SAID[fact]


def test_every_place_is_taken_by_a_part():
    text = Path(uqcli.watch.parts.__file__).read_text(encoding="utf-8")
    assert set(LAYOUT.places) <= set(re.findall(r'"([a-z-]+)"', text))


@pytest.mark.parametrize("kept", [True, False])
@pytest.mark.parametrize("promises", [(HALF,), (EXPECTED,), (EXPECTED, RECALL)])
@pytest.mark.parametrize("rate", RATES)
def test_any_part_can_be_taken_out_but_the_targets(rate, promises, kept):
    """Whatever else is in a report, it is complete without any of its parts."""
    days = [[(0, 0)] * len(promises)] * 2
    if RATES[rate]:
        days = [[(k, 20)] * len(promises) for k in draw(RATES[rate], 30)]
    state = with_alarms(state_of(promises, days, version="0.4.0"), promises, known=0)
    report = report_of(
        msgspec.structs.replace(state, acknowledged=0),
        measured_promises(state, promises, 0.95),
        NEW,
        0.95,
        kept=kept,
        is_continued=True,
    )
    whole = report.payload()
    for part in report.parts:
        if isinstance(part, Targets):  # how many targets there are is no feature
            continue
        without = replace(report, parts=[other for other in report.parts if other is not part])
        document, payload = without.document(), without.payload()
        assert document.title
        assert document.card.verdict.text
        assert set(payload) <= set(whole)
        assert set(payload["metrics"]) <= set(whole["metrics"])
        assert [each["name"] for each in payload["promises"]] == [promise.name for promise in promises]
