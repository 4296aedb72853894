"""Tests of the parts of a report on calibration: which facts each statement needs, and that a part can go."""

import re
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

import uqcli.tce.parts
from tests.facts import statements_by
from tests.requests import labelled_rows
from uqcli.base.options import ResamplingOptions, SamplingWeights
from uqcli.tce.options import TceRequest
from uqcli.tce.report import LAYOUT, Fact
from uqcli.tce.run import run

NEEDS = {
    Fact.TESTED: {"groups-untested", "mean-over-classes", "group-sizes"},
    Fact.ONE_SCORE: {"few-positives", "bins", "panel", "calibrate"},
    Fact.ONE_GROUP: {"by-weight", "classes"},
    Fact.ONE_PART: {"within", "metrics"},
}
"""What is not said of a result of which a fact does not hold."""

INSTEAD = {
    Fact.TESTED: set(),
    Fact.ONE_SCORE: {"calibrate-classes"},
    Fact.ONE_GROUP: {"groups-by-weight", "classes-in-detail"},
    Fact.ONE_PART: {"within-of-parts", "metrics-in-detail"},
}
"""What is said of such a result only."""


@pytest.mark.parametrize("fact", Fact)
def test_what_a_fact_allows_is_as_listed(fact):
    assert statements_by(LAYOUT.places, fact)[0] == NEEDS[fact]
    assert {name for name, place in LAYOUT.places.items() if fact in place.unless} == INSTEAD[fact]


def test_every_place_is_taken_by_a_part():
    text = Path(uqcli.tce.parts.__file__).read_text(encoding="utf-8")
    assert set(LAYOUT.places) <= set(re.findall(r'"([a-z-]+)"', text))


def scores(rows, **more):
    random = np.random.default_rng(3)
    score = random.random(rows)
    return labelled_rows(score, (random.random(rows) < score**2).astype(int), more=more)


def classes(rows, **more):
    random = np.random.default_rng(4)
    probability = random.dirichlet([0.5] * 3, rows)
    return labelled_rows(probability, random.integers(0, 3, rows), more=more)


REGION = [f"{index % 3}" for index in range(600)]
WEIGHT = [1.0 + index % 2 for index in range(600)]
REQUESTS = {
    "plain": TceRequest(data=scores(600)),
    "by group": TceRequest(data=scores(600, region=REGION), by="region"),
    "of classes": TceRequest(data=classes(600)),
    "of classes by group": TceRequest(data=classes(600, region=REGION), by="region"),
    "of clusters": TceRequest(data=scores(600, region=REGION).clustered_by("region")),
    "drawn": TceRequest(data=scores(600), resampling=ResamplingOptions(bootstrap=20)),
    "audited": TceRequest(data=scores(600, region=REGION), audit=("region",)),
    "by weight": TceRequest(
        data=scores(600, weight=WEIGHT), sampling=SamplingWeights(sampling_weight="weight")
    ),
    "of too few rows": TceRequest(data=scores(5)),
}


@pytest.mark.parametrize("name", REQUESTS)
def test_any_part_can_be_taken_out(name):
    """Whatever else is in a report, it is complete without any of its parts."""
    report = run(REQUESTS[name]).report
    for part in report.parts:
        without = replace(report, parts=[other for other in report.parts if other is not part])
        document, payload = without.document(), without.payload()
        assert document.title or "not_calibrated" not in payload  # tests and weights have the title
        assert payload["bins"] == report.payload()["bins"]
        assert set(payload) <= set(report.payload())


@pytest.mark.covering("thorough", every=2)
@pytest.mark.parametrize("name", REQUESTS)
def test_the_order_of_parts_changes_nothing_but_what_they_share(name):
    report = run(REQUESTS[name]).report
    turned = replace(report, parts=sorted(report.parts, key=lambda part: type(part).__name__))
    assert turned.payload() == report.payload()
    assert turned.document().notes == report.document().notes
    assert set(report.metrics) <= {*report.overall.metrics, *LAYOUT.metrics}
