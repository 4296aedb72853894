"""Figures of evaluations at every pair of options are those of the rows, as ``apply`` decides each."""

import itertools
import math
from fractions import Fraction
from pathlib import Path

import pytest

from tests.crossings.lines import LINES, Option
from tests.crossings.rows import rows as drawn
from tests.crossings.rows import with_holes
from tests.crossings.test_pairs import folder, rules, said, usable

__all__ = ["folder", "rules"]

EVALUATED = {
    name.removeprefix("evaluate "): line
    for name, line in LINES.items()
    if name.startswith("evaluate ") and "two" not in name and "classes" not in name
}


def pairs():
    """Yield each rule with each pair of options."""
    for name, line in EVALUATED.items():
        options = [option for option in line.options if option.words[0] not in {"--gain", "--bootstrap"}]
        for pair in itertools.combinations([Option(""), *options], 2):
            if pair[0].words[:1] != pair[1].words[:1]:
                yield pytest.param(name, pair, id=" ".join([name, *(option.text for option in pair)]))


def decided(uqcli, name, frame):
    """Return each row with what ``apply`` adds, as texts."""
    frame.write_csv("decided.csv")
    outcome = uqcli("apply", f"{name}.json", "decided.csv", "-o", "out.csv", "--no-config", "-q")
    assert outcome.code == 0, outcome.err
    names, *lines = Path("out.csv").read_text(encoding="utf-8").splitlines()
    return [dict(zip(names.split(","), line.split(","), strict=True)) for line in lines]


def weight(row, options):
    """Return how many rows a row stands for."""
    words = [word for option in options for word in option.words]
    columns = [name for text, name in (("--weight", "w"), ("--sampling-weight", "sw")) if text in words]
    return math.prod(Fraction(row[name]) for name in columns)


def ratio(weighted, success, trial):
    """Return the share of the trials that are successes; None without trials."""
    trials = [(row, times) for row, times in weighted if trial(row)]
    total = sum(times for _, times in trials)
    return None if total == 0 else float(sum(times for row, times in trials if success(row)) / total)


def positive(row):
    return row["label"] == "1"


def flagged(row):
    return row["decision"] == "true"


def figures(name, weighted):
    """Return metrics of rows with weights, by key."""
    if name.startswith("sets"):
        size = sum(times * int(row["set_size"]) for row, times in weighted)
        return {
            "coverage": ratio(weighted, lambda row: row[f"in_{row['class']}"] == "true", lambda _: True),
            "mean_set_size": float(size / sum(times for _, times in weighted)),
        }
    if name in {"map", "surface", "leaves"}:
        errors = {}
        for side, column in (("before", "score"), ("after", "calibrated")):
            losses = [(float(row[column]) - positive(row)) ** 2 * float(times) for row, times in weighted]
            errors[f"{side}.brier"] = math.fsum(losses) / float(sum(times for _, times in weighted))
        return errors
    return {
        "precision": ratio(weighted, positive, flagged),
        "recall": ratio(weighted, flagged, positive),
        "fpr": ratio(weighted, flagged, lambda row: not positive(row)),
    }


def value_of(metrics, key):
    """Return a metric by its dotted key."""
    for part in key.split("."):
        metrics = metrics[part]
    return metrics["value"] if isinstance(metrics, dict) else metrics


def check(name, weighted, metrics):
    for key, expected in figures(name, weighted).items():
        found = value_of(metrics, key)
        if found is None:  # not stated: there are too few rows, or rows of some kind have no weight
            assert key in {"recall", "fpr"} or expected is None
            continue
        assert found == pytest.approx(expected, rel=1e-6, abs=1e-9), key


@pytest.mark.parametrize(("name", "options"), list(pairs()))
@pytest.mark.covering("thorough", every=20)
def test_figures_are_those_of_the_rows(uqcli, folder, name, options):
    line = EVALUATED[name]
    columns = {*line.drops, *(column for option in options for column in (*option.drops, *option.keeps))}
    holes = with_holes(drawn(), sorted(columns))
    holes.write_csv("rows.csv")
    pair = (line, *options)
    found = said(uqcli, line, options, ["rows.csv"])
    content = found[1]
    if content is None:
        return
    kept = decided(uqcli, name, usable(holes, found, pair))
    weighted = [(row, weight(row, options)) for row in kept]
    check(name, weighted, content["metrics"])
    by = next((option.words[1] for option in options if option.words[:1] == ("--by",)), None)
    if by is not None:
        groups = {group["name"]: group["metrics"] for group in content["groups"]}
        present = {row[by] for row, times in weighted if times}
        assert {*groups} == present
        for group in present:
            check(name, [(row, times) for row, times in weighted if row[by] == group], groups[group])
