"""Tests of the parts of a boundary's report: which facts each statement needs, and that a part can go."""

import re
from dataclasses import replace
from pathlib import Path

import numpy as np
import polars as pl
import pytest

import uqcli.boundary.calibration
import uqcli.boundary.parts
from uqcli.base.choices import GroupBound
from uqcli.base.options import FirstRowsOptions
from uqcli.boundary import certify, first_rows, groups
from uqcli.boundary import run as boundary_run
from uqcli.boundary.options import BinOptions, BoundaryRequest, CertificateOptions, GroupOptions, Target
from uqcli.boundary.parts import registry
from uqcli.boundary.parts.first_rows import FoundFirstRows
from uqcli.boundary.parts.found import FoundRule
from uqcli.boundary.parts.infeasible import NoRule
from uqcli.boundary.run import run
from uqcli.boundary.search.typed_constraints import constraint_from
from uqcli.boundary.search.zones import review_limit
from uqcli.boundary.statements import LAYOUT, PLACES, Fact
from uqcli.engines.request import DataRequest, Roles, in_memory

NEEDS = {
    Fact.UNCERTIFIED: {
        *("unestimated", "reversed-score", "few-alerts", "just-met", "likely-missed", "joint-target"),
        *("random-gains", "random-column", "random-bins", "frontier", "points"),
        *("untested-bound", "joint-target-bound"),
    },
    Fact.UNTESTED: {"untested", "untested-beside", "untested-bound"},
    Fact.ONE_ALGORITHM: {
        *("unestimated", "value", "untested-beside", "result", "result-unsaved", "result-beside"),
        *("result-equal-alerts", "result-uncertified"),
    },
    Fact.ONE_RULE: {"joint-target", "joint-target-bound", "thresholds", "thresholds-of-zones"},
    Fact.ONE_THRESHOLD: {"flag-when", "raised-score"},
    Fact.TWO_ZONES: {"thresholds"},
    Fact.LIKE_NEW_ROWS: {
        *("beside-answer", "one-class", "result", "result-unsaved", "result-beside", "result-equal-alerts"),
        *("result-uncertified", "algorithms"),
    },
    Fact.PRECISION_KNOWN: set(),
    Fact.INDEPENDENT: {"with-margin", "frontier", "points"},
    Fact.SOURCE_PRIORS: {"likely-missed"},
    Fact.PRIORS_KNOWN: {"expectation", "class-weights"},
    Fact.ENOUGH_ALERTS: {"unestimated", "expectation", "just-met", "likely-missed"},
    Fact.SEARCHED: {"goal"},
    Fact.ORDERED: {"next"},
}
"""What is not said of a result of which a fact does not hold."""

INSTEAD = {
    Fact.FOUND: {"no-positive", "uncertifiable", "out-of-reach"},
    Fact.UNCERTIFIED: {"missed-at-most", "several-certificates"},
    Fact.ONE_THRESHOLD: {"no-uncertainty", "raised-scores"},
}
"""What is said of such a result only."""


@pytest.mark.parametrize("fact", [fact for fact in Fact if fact is not Fact.FOUND])
def test_what_a_fact_allows_is_as_listed(fact):
    everything = frozenset(Fact)
    said = {name for name, place in PLACES.items() if fact in place.needs}
    assert said == NEEDS[fact]
    without = {name for name in said if not PLACES[name].is_open(everything - {fact})}
    assert without == said


def test_what_is_said_without_a_fact_is_as_listed():
    instead = {fact: {name for name, place in PLACES.items() if fact in place.unless} for fact in Fact}
    assert {fact: names for fact, names in instead.items() if names} == INSTEAD


def test_every_place_is_taken_by_a_part():
    modules = [
        *Path(uqcli.boundary.parts.__path__[0]).glob("*.py"),
        Path(uqcli.boundary.calibration.__file__),
    ]
    text = "".join(path.read_text(encoding="utf-8") for path in modules)
    assert set(PLACES) <= set(re.findall(r'"([a-z-]+)"', text))


@pytest.fixture(scope="module")
def data():
    random = np.random.default_rng(4)
    score, uncertainty = random.random(3000), random.random(3000)
    label = random.random(3000) < score ** (1 + uncertainty)
    frame = pl.DataFrame(
        {
            "score": score,
            "uncertainty": uncertainty,
            "label": label.astype(int),
            "day": [f"2026-01-{1 + index % 30:02}" for index in range(3000)],
            "region": [f"{index % 3}" for index in range(3000)],
            "amount": random.integers(1, 100, 3000).astype(float),
        }
    )
    roles = Roles(numbers={"score": "score", "uncertainty": "uncertainty"}, label="label")
    return DataRequest(inputs=in_memory(frame), roles=roles)


REQUESTS = {
    "plain": {"constraint": constraint_from(precision="0.8")},
    "with a gain and a cost": {"constraint": constraint_from(gain="amount", cost="20")},
    "with a review": {"constraint": constraint_from(precision="0.8"), "limit": review_limit(miss="0.1")},
    "with a limit": {"constraint": constraint_from(max_selected="10%")},
    "compared": {"constraint": constraint_from(precision="0.8"), "compared": ("uncertainty", "-uncertainty")},
    "certified": {"constraint": constraint_from(precision="0.7"), "certify": "0.1"},
    "uncertifiable": {"constraint": constraint_from(precision="0.999"), "certify": "0.1"},
    "by group": {
        "constraint": constraint_from(precision="0.8"),
        "by": "region",
        "bound": GroupBound.EACH,
        "min_group": 100,
    },
    "by day": {"constraint": constraint_from(precision="0.8"), "day": "day"},
    "infeasible": {"constraint": constraint_from(precision="1"), "uncertainty_bins": 2},
    "first rows": {"first": FirstRowsOptions(top=9, per="day")},
    "first rows by region": {"first": FirstRowsOptions(top=9, per="region"), "day": "day"},
}


def requested(data, *, day=None, by=None, **options):
    """Return a request whose data have the columns of its options."""
    asked = data.grouped_by(by).clustered_by(day, days=day is not None)
    groups = {name: options.pop(name) for name in ("bound", "min_group") if name in options}
    target = {name: options.pop(name) for name in ("constraint", "limit") if name in options}
    bins = {name: options.pop(name) for name in ("uncertainty_bins",) if name in options}
    return BoundaryRequest(
        data=asked,
        target=Target(**target),
        bins=BinOptions(**bins),
        certificate=CertificateOptions(certify=options.pop("certify", None)),
        groups=GroupOptions(by=by, **groups),
        **options,
    )


@pytest.fixture(scope="module")
def found(data):
    return {name: run_as_asked(requested(data, **options)) for name, options in REQUESTS.items()}


def run_as_asked(request):
    """Find a rule, or the first rows of each day."""
    return (first_rows.run if request.first.are_asked else run)(request)


@pytest.mark.covering("thorough", every=3)
@pytest.mark.parametrize("name", REQUESTS)
def test_any_part_can_be_taken_out(found, name):
    """Whatever else is in a report, it is complete without any of its parts."""
    report = found[name].report
    outcome = report.outcome
    for part in outcome.parts:
        others = tuple(other for other in outcome.parts if other is not part)
        without = replace(report, outcome=replace(outcome, parts=others))
        if isinstance(part, FoundRule | FoundFirstRows | NoRule):  # what was found is no feature
            continue
        document, payload = without.document(), without.payload()
        assert document.title
        assert document.card is not None
        assert list(payload["metrics"])
        assert payload["feasible"] == report.payload()["feasible"]


@pytest.mark.parametrize("name", REQUESTS)
def test_the_order_of_parts_of_one_rank_changes_nothing_but_what_they_share(found, name):
    outcome = found[name].report.outcome
    said = [outcome.story.metrics(), outcome.story.payload()]
    turned = replace(outcome, parts=tuple(sorted(outcome.parts, key=lambda part: type(part).__name__)))
    assert [turned.story.metrics(), turned.story.payload()] == said
    assert set(outcome.story.metrics()) <= set(LAYOUT.metrics)


CORE = {"parts_of_found", "parts_of_nothing", "parts_of_first_rows", "parts_of_no_first_rows"}
FEATURES = sorted(name for name in vars(registry) if name.startswith("parts_of_") and name not in CORE)


@pytest.mark.thorough
@pytest.mark.parametrize("feature", FEATURES)
def test_without_a_feature_rules_are_found_and_saved_and_decide_alike(data, found, monkeypatch, feature):
    """A feature that is not registered is in no report and no file, and the others are as they were."""
    cases = {name: requested(data, **options) for name, options in REQUESTS.items()}
    for module in (boundary_run, certify, first_rows, groups):
        monkeypatch.setattr(module, feature, lambda *_, **__: [], raising=False)
    for name, request in cases.items():
        without = run_as_asked(request)
        assert without.report.document().title
        if found[name].artifact is None:
            assert without.artifact is None
            continue
        assert without.artifact.thresholds == found[name].artifact.thresholds
        assert without.artifact.fit.selected == found[name].artifact.fit.selected
