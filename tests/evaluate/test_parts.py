"""Tests of the parts of boundaries on a test set: which facts statements need, and that a part can go."""

import re
from dataclasses import replace
from pathlib import Path

import numpy as np
import polars as pl
import pytest

import uqcli
import uqcli.evaluate
from tests.facts import statements_by
from uqcli.base.choices import OnInvalid
from uqcli.base.options import FirstRowsOptions, GroupColumn
from uqcli.boundary.search.typed_constraints import constraint_from
from uqcli.engines.request import DataRequest, in_memory
from uqcli.evaluate.options import Dependence, EvaluateRequest, LabelledRows
from uqcli.evaluate.parts.one import OneRule
from uqcli.evaluate.parts.several import SeveralRules
from uqcli.evaluate.run import run
from uqcli.evaluate.statements import LAYOUT, Fact, Slot
from uqcli.rules.columns import ColumnOverrides

SAID = {
    Fact.COUNTS_ALIKE: (set(), {"assumption"}),
    Fact.INDEPENDENT: (set(), set()),
    Fact.NEW_ROWS: ({"own-data", "apply"}, set()),
    Fact.ONE_RULE: ({"worth", "worth-number", "review-number"}, {"capacity"}),
    Fact.FEW_RULES: (set(), set()),
    Fact.UNBOUND: ({"worth"}, set()),
    Fact.ALL_KEPT: ({"worth-more", "catches-more", "finds-more"}, {"which-rule"}),
    Fact.BY_RATES: ({"catches-more", "finds-more"}, set()),
    Fact.BY_RECALL: ({"finds-more"}, set()),
    Fact.COMPARABLE: ({"catches-more", "finds-more", "comparison"}, set()),
    Fact.TWO_ZONES: ({"false omission"}, {"false omission beside a review"}),
}
"""What needs a fact, and what is said without it only."""


@pytest.mark.parametrize("fact", Fact)
def test_what_a_fact_allows_is_as_listed(fact):
    assert statements_by(LAYOUT.places, fact) == SAID[fact]


def test_every_place_is_taken():
    text = "".join(
        path.read_text(encoding="utf-8") for path in Path(uqcli.evaluate.__file__).parent.rglob("*.py")
    )
    without_the_table = text.replace(Path(uqcli.evaluate.statements.__file__).read_text(encoding="utf-8"), "")
    assert set(LAYOUT.places) <= set(re.findall(r'"([A-Za-z, -]+)"', without_the_table))


@pytest.fixture(scope="module")
def data():
    random = np.random.default_rng(4)
    score, uncertainty = random.random(3000), random.random(3000)
    label = (random.random(3000) < score ** (1 + uncertainty)).astype(int).tolist()
    return {
        "score": score,
        "uncertainty": uncertainty,
        "label": label,
        "day": [f"2026-01-{1 + index % 30:02}" for index in range(3000)],
        "weight": random.integers(1, 4, 3000).astype(float),
        "amount": random.integers(1, 100, 3000).astype(float),
    }


OPTIONS = {
    "plain": {},
    "by day": {"dependent": Dependence(column="day", days=True)},
    "with sampling weights": {"labelled": LabelledRows(sampling_weight="weight")},
    "with a gain and a cost": {"utility": constraint_from(gain="amount", cost="20")},
    "by group": {"groups": GroupColumn(by="day")},
    "with segments": {"audit": ("day",)},
    "without some labels": {"lacks": True},
    "by probabilities": {"lacks": True, "calibrator": True},
    "the first rows of each day": {"first": FirstRowsOptions(top=7, per="day")},
}
RULES = {
    "one": [{"precision": 0.7}],
    "one with a review": [{"precision": 0.7, "miss": 0.1}],
    "two": [{"precision": 0.7}, {"precision": 0.8}],
    "two with a review": [{"precision": 0.7, "miss": 0.1}, {"precision": 0.8, "miss": 0.1}],
    "three": [{"precision": 0.6}, {"precision": 0.7}, {"max_fpr": 0.2}],
}
OF_ONE = {"by group", "with segments", "by probabilities"}


def report_of(data, rules, *, lacks=False, calibrator=None, **options):
    """Evaluate rules that were fitted on the first rows, on the others."""
    columns = {name: column[:1500] for name, column in data.items()}
    fitted = [
        uqcli.find_boundary(columns["score"], columns["label"], uncertainty=columns["uncertainty"], **rule)
        for rule in rules
    ]
    frame = pl.DataFrame({name: column[1500:] for name, column in data.items()})
    if lacks:
        frame = frame.with_columns(pl.when(pl.int_range(1500) % 3 > 0).then("label").alias("label"))
    if calibrator:
        fitted_map = uqcli.Calibrator.fit(columns["score"], columns["label"])
        options["labelled"] = LabelledRows(calibrator=fitted_map.artifact)
    request = EvaluateRequest(
        data=DataRequest(inputs=in_memory(frame), on_invalid=OnInvalid.DROP if lacks else OnInvalid.ERROR),
        artifacts=tuple("ABC"[: len(rules)]),
        rules=tuple(rule.artifact for rule in fitted),
        columns=ColumnOverrides(named={"score": "score", "uncertainty": "uncertainty", "label": "label"}),
        **options,
    )
    return run(request).report


@pytest.mark.covering("thorough", every=2)
@pytest.mark.parametrize("options", OPTIONS)
@pytest.mark.parametrize("rules", RULES)
def test_any_part_can_be_taken_out(data, rules, options):
    """Whatever else is in a report, it is complete without any of its parts."""
    if len(RULES[rules]) > 1 and options in OF_ONE:
        options = "plain"
    if options == "the first rows of each day" and "review" in rules:  # such rules order no rows
        rules = "one"
    report = report_of(data, RULES[rules], **OPTIONS[options])
    whole = report.payload()
    for part in report.of_test_set:
        if not isinstance(part, OneRule | SeveralRules):  # how many rules there are is no feature
            others = [other for other in report.of_test_set if other is not part]
            assert_complete(replace(report, of_test_set=others), whole)
    for part in report.parts:
        assert_complete(replace(report, parts=[other for other in report.parts if other is not part]), whole)
    for index, (name, rule, measured) in enumerate(report.results):
        for part in measured.parts:
            without = replace(measured, parts=[other for other in measured.parts if other is not part])
            results = [*report.results]
            results[index] = (name, rule, without)
            assert_complete(replace(report, results=results), whole)


def assert_complete(report, whole):
    document, payload = report.document(), report.payload()
    assert document.title
    assert document.card.numbers
    assert [result["artifact"] for result in payload["results"]] == [
        result["artifact"] for result in whole["results"]
    ]
    for before, after in zip(whole["results"], payload["results"], strict=True):
        assert set(after["metrics"]) <= set(before["metrics"])
        assert {"precision", "recall", "rows"} <= set(after["metrics"])
    assert report.story.said(Slot.TITLE)
