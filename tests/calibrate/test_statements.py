"""Tests of the parts of a calibrator's report: which facts each statement needs, and that a part can go."""

import re
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

import uqcli.calibrate
from tests.facts import statements_by
from tests.requests import labelled_rows
from uqcli.base.choices import CalibrationMethod
from uqcli.base.options import OptionalResampling
from uqcli.calibrate.fit_options import CalibrationOptions
from uqcli.calibrate.options import CalibrateRequest
from uqcli.calibrate.report import LAYOUT, Fact
from uqcli.calibrate.run import run, run_all_methods
from uqcli.engines.request import DataRequest

NEEDS = {
    Fact.MEASURED: {"one-class-verdict", "kept", "no-intervals", "random-intervals"},
    Fact.CROSS_VALIDATED: {"one-class-verdict", "sampled", "random-folds"},
    Fact.ONE_METHOD: {"remaining-error", "other-methods", "comparison", "apply"},
    Fact.CHANGES: {"remaining-error", "remaining-error-of-best", "apply"},
    Fact.HARMLESS: {"apply"},
}
"""What is not said of a result of which a fact does not hold."""


@pytest.mark.parametrize("fact", Fact)
def test_what_a_fact_allows_is_as_listed(fact):
    assert statements_by(LAYOUT.places, fact)[0] == NEEDS[fact]
    without = frozenset(Fact) - {fact}
    assert {name for name, place in LAYOUT.places.items() if not place.is_open(without)} == NEEDS[fact]


def test_every_place_is_taken_by_a_part():
    folder = Path(uqcli.calibrate.__path__[0])
    names = [(folder / name).read_text(encoding="utf-8") for name in ("parts.py", "run.py", "run_classes.py")]
    assert set(LAYOUT.places) <= set(re.findall(r'"([a-z-]+)"', "".join(names)))


def scores(rows, **more):
    random = np.random.default_rng(3)
    score, uncertainty = random.random(rows), random.random(rows)
    return labelled_rows(score, (random.random(rows) < score**2).astype(int), uncertainty=uncertainty, **more)


def classes(rows):
    random = np.random.default_rng(4)
    probability = random.dirichlet([0.5] * 3, rows)
    return labelled_rows(probability, random.integers(0, 3, rows))


def clustered(rows):
    customer = [f"{index % 40}" for index in range(rows)]
    return scores(rows, more={"customer": customer}).clustered_by("customer")


REQUESTS = {
    "chosen": (run, scores(400), None),
    "of one row": (run, scores(1), None),
    "by uncertainty": (run, scores(400), CalibrationMethod.MIST),
    "of all methods": (run_all_methods, scores(400), None),
    "of all methods, on one row": (run_all_methods, scores(1), None),
    "of clusters": (run, clustered(400), CalibrationMethod.PLATT),
    "of classes": (run, classes(300), None),
    "of classes, by all methods": (run_all_methods, classes(300), None),
}


def report_of(name):
    runs, data, method = REQUESTS[name]
    assert isinstance(data, DataRequest)
    options = CalibrationOptions(method=method, cluster=data.roles.cluster)
    resampling = OptionalResampling(bootstrap=0)
    return runs(CalibrateRequest(data=data, calibration=options, resampling=resampling)).report


@pytest.mark.covering("thorough", every=2)
@pytest.mark.parametrize("name", REQUESTS)
def test_any_part_can_be_taken_out(name):
    """Whatever else is in a report, it is complete without any of its parts."""
    report = report_of(name)
    for part in report.parts:
        without = replace(report, parts=[other for other in report.parts if other is not part])
        document, payload = without.document(), without.payload()
        assert document.title
        assert payload["calibration"] == report.payload()["calibration"]
        assert set(payload) <= set(report.payload())


@pytest.mark.covering("thorough", every=2)
@pytest.mark.parametrize("name", REQUESTS)
def test_the_order_of_parts_changes_nothing_but_what_they_share(name):
    report = report_of(name)
    turned = replace(report, parts=sorted(report.parts, key=lambda part: type(part).__name__))
    assert turned.payload() == report.payload()
    assert turned.document().title == report.document().title
    assert set(report.metrics) <= set(LAYOUT.metrics)
