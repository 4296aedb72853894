"""Tests of the parts of an overview: which facts each statement needs, and that a part can go."""

import re
from dataclasses import replace
from pathlib import Path

import numpy as np
import polars as pl
import pytest

import uqcli.overview.parts
from tests.facts import statements_by
from uqcli.engines.request import DataRequest, Roles, in_memory
from uqcli.overview.options import OverviewRequest
from uqcli.overview.parts import Scores, Targets
from uqcli.overview.report import LAYOUT, Fact
from uqcli.overview.run import run

SAID = {
    Fact.RANKS: ({"why-advised", "rule", "certified-rule", "calibrate", "check", "points"}, {"reversed"}),
    Fact.NOT_PERCENTAGES: ({"to-turn", "no-probabilities", "turn", "calibrate"}, {"percentages-turned"}),
    Fact.UNRELATED: ({"customers", "dates"}, set()),
}
"""What needs a fact, and what is said without it only."""


@pytest.mark.parametrize("fact", Fact)
def test_what_a_fact_allows_is_as_listed(fact):
    assert statements_by(LAYOUT.places, fact) == SAID[fact]


def test_every_place_is_taken_by_a_part():
    text = Path(uqcli.overview.parts.__file__).read_text(encoding="utf-8")
    assert set(LAYOUT.places) <= set(re.findall(r'"([a-z-]+)"', text))


SCORES = {
    "probabilities": lambda score: score,
    "percentages": lambda score: 100 * score,
    "log-odds": np.log,
    "reversed": lambda score: 1 - score,
    "equal": lambda score: np.full(len(score), 0.5),
}


@pytest.mark.covering("thorough")
@pytest.mark.parametrize("with_uncertainty", [False, True])
@pytest.mark.parametrize("kind", SCORES)
def test_any_part_can_be_taken_out_but_the_scores_and_their_targets(kind, with_uncertainty):
    """Whatever else is in a report, it is complete without any of its parts."""
    random = np.random.default_rng(6)
    score = random.uniform(0.01, 1, 1200)
    frame = pl.DataFrame(
        {
            "score": SCORES[kind](score),
            "label": (random.random(1200) < score**2).astype(int),
            "spread": random.random(1200),
            "customer_id": np.repeat(np.arange(300), 4),
        }
    )
    request = OverviewRequest(
        data=DataRequest(inputs=in_memory(frame), roles=Roles(numbers={"score": "score"}, label="label")),
        uncertainties=("spread",) if with_uncertainty else (),
    )
    report = replace(run(request).report, arguments="rows.csv")
    whole = report.payload()
    for part in report.parts:
        without = replace(report, parts=[other for other in report.parts if other is not part])
        document, payload = without.document(), without.payload()
        assert document.title or isinstance(part, Scores | Targets)
        assert set(payload) <= set(whole)
        assert set(payload["metrics"]) <= set(whole["metrics"])
        assert set(payload["odd"]) <= set(whole["odd"]) or kind == "percentages"
