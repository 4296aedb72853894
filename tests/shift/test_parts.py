"""Tests of the parts of class weights: what is said of a result of which a fact does not hold."""

import numpy as np
import polars as pl
import pytest

from tests.facts import statements_by
from uqcli.base.choices import ShiftEstimator
from uqcli.base.options import ResamplingOptions
from uqcli.engines.request import DataRequest, Roles, in_memory
from uqcli.reports.parts import Composition
from uqcli.shift.options import ShiftRequest
from uqcli.shift.report import LAYOUT, Fact
from uqcli.shift.run import run

SAID = {
    Fact.TARGET_ROWS: ({"predicted-classes", "mixture-untested"}, {"given-prior", "no-mixture-test"}),
    Fact.MIXTURE: ({"predicted-classes", "mixture-untested", "frequency", "no-change"}, {"files-apart"}),
    Fact.WEIGHTED: ({"files", "no-change"}, set()),
    Fact.TEST_IN_TITLE: (set(), {"predicted-classes"}),
}
"""What needs a fact, and what is said without it only."""


@pytest.mark.parametrize("fact", Fact)
def test_what_a_fact_allows_is_as_listed(fact):
    assert statements_by(LAYOUT.places, fact) == SAID[fact]


def rows(random, size, prior):
    label = random.random(size) < prior
    score = np.where(label, random.beta(4, 2, size), random.beta(2, 4, size))
    return pl.DataFrame({"score": score, "label": label.astype(int)})


@pytest.mark.parametrize("prior", [0.3, 0.6])
@pytest.mark.parametrize("estimator", [ShiftEstimator.BBSE, ShiftEstimator.EM])
def test_any_part_can_be_taken_out_but_the_files_and_what_became_of_the_weights(estimator, prior):
    random = np.random.default_rng(5)
    data = DataRequest(
        inputs=in_memory(rows(random, 800, 0.3)), roles=Roles(numbers={"score": "score"}, label="label")
    )
    request = ShiftRequest(
        data=data,
        target=in_memory(rows(random, 800, prior)),
        estimator=estimator,
        resampling=ResamplingOptions(bootstrap=60),
    )
    report = run(request).report
    first, *others = report.parts
    for part in others:
        kept = [first, *(other for other in others if other is not part)]
        story = Composition(layout=LAYOUT, parts=kept, plain_phrases=None)
        assert set(story.metrics()) == set(report.metrics)
        assert [
            body for slot in {place.slot for place in LAYOUT.places.values()} for body in story.said(slot)
        ]
