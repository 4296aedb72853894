"""Tests of the parts of a boundary's rule: who owns which key, what contradicts, and that a part can go."""

import json
import sys
from pathlib import Path

import pytest

from uqcli.base.errors import ArtifactError
from uqcli.boundary import rule_parts
from uqcli.boundary.rule_file import BoundaryParameters, Fit, SavedBoundary, SavedGroup, optional_names
from uqcli.boundary.rule_parts import registry
from uqcli.boundary.rule_parts.registry import PARTS
from uqcli.cli.app import run
from uqcli.rules.codec import decode

SAVED = Path(__file__).parents[1] / "saved"
RULES = {path: decode(path.read_bytes(), path.name) for path in sorted(SAVED.glob("*/boundary_*.json"))}
LATEST = {path.stem: path for path in RULES}  # of each name the one of the newest version
MODULES = {path.stem for path in Path(rule_parts.__path__[0]).glob("*.py")} - {"__init__", "registry"}


def test_each_key_that_a_file_may_lack_has_one_owner():
    keys = [
        *optional_names(SavedBoundary),
        *(f"parameters.{name}" for name in optional_names(BoundaryParameters)),
        *(f"fit.{name}" for name in optional_names(Fit)),
        *(f"groups.{name}" for name in optional_names(SavedGroup)),
    ]
    assert sorted(key for owned in PARTS.values() for key in owned) == sorted(keys)


def test_each_module_has_a_part_that_some_saved_rule_has():
    assert {part.split(".")[0] for part in PARTS} == MODULES
    for keys in PARTS.values():
        assert any(rule.optional_keys() & set(keys) for rule in RULES.values())


@pytest.fixture(params=PARTS)
def removed(request, monkeypatch):
    """Take a part out of the registry, and its module out of the program if it has no other part."""
    others = {part: keys for part, keys in PARTS.items() if part != request.param}
    monkeypatch.setattr(registry, "PARTS", others)
    module = request.param.split(".")[0]
    if all(part.split(".")[0] != module for part in others):
        monkeypatch.setitem(sys.modules, f"uqcli.boundary.rule_parts.{module}", None)
    return set(PARTS[request.param])


def test_rules_with_a_key_of_a_part_that_was_taken_out_are_refused(removed):
    for path, rule in RULES.items():
        if not rule.optional_keys() & removed:
            assert decode(path.read_bytes(), path.name) == rule
            continue
        with pytest.raises(ArtifactError, match="of a feature that this uqcli lacks") as error:
            decode(path.read_bytes(), path.name)
        assert any(f"'{key}'" in str(error.value) for key in removed)


@pytest.mark.usefixtures("few_draws")
def test_commands_run_with_rules_that_lack_a_part_that_was_taken_out(removed, capfd):
    refused = next(path for path, rule in RULES.items() if rule.optional_keys() & removed)
    assert run(["show", str(refused)]) == 5
    assert "use a uqcli with all features" in capfd.readouterr().err
    rows = str(SAVED / "0.4.0/rows.csv")
    usual = [SAVED / "0.4.0/boundary_default.json", SAVED / "0.2.0/boundary_smooth.json"]
    rule = str(next(path for path in usual if not RULES[path].optional_keys() & removed))
    for line in (
        ["show", rule],
        ["export", rule, "--to", "python"],
        ["apply", rule, rows, "-o", "decided.csv"],
        ["evaluate", rule, rows],
        ["watch", rule, rows],
        ["sample", rule, rows, "--for", "recall", "--budget", "20", "-o", "sample.csv"],
    ):
        assert run([*line, "-q"]) == 0, line
    writes_key = bool(RULES[usual[0]].optional_keys() & removed)  # of a rule by default
    fit = ["boundary", rows, "--precision", "0.3", "--uncertainty", "uncertainty", "-q", "-o", "new.json"]
    assert run(fit) == (5 if writes_key else 0)
    capfd.readouterr()


CONTRADICTIONS = [
    ("default", "thresholds", [0.5], "1 thresholds for 1 uncertainty edges"),
    ("default", "fit.selected", 10**9, "its fit counts contradict each other"),
    ("default", "format_version", 2, "its format version is not that of its fields"),
    ("shift", "target.precision", -1e308, "its precision on the target data is no share"),
    ("default", "nested", [[0.5]], "its nested rules do not have its uncertainty bins"),
    ("default", "reference.lowest.score", 2.0, "its reference is not about its calibration rows"),
    (
        "hr",
        "recalibration",
        {"coefficient": 1, "low": -1e308, "high": 1e308},
        "its recalibration is not finite",
    ),
    ("amounts", "format_version", 1, "its value is missing"),
    ("amounts", "fit.value", None, "its value is missing"),
    ("review", "format_version", 1, "its review is incomplete"),
    ("review", "parameters.review", None, "its review is incomplete"),
    ("review", "review_thresholds", [0.1], "1 review thresholds for"),
    ("review", "recalibration", {"coefficient": 1, "low": 0, "high": 1}, "or on raised scores"),
    ("groups", "format_version", 1, "its groups contradict its other fields"),
    ("groups", "parameters.bound", None, "its groups are not those of its parameters"),
    ("groups", "recalibration", {"coefficient": 1, "low": 0, "high": 1}, "its groups contradict"),
    ("accepted_classes", "parameters.bound", None, "its groups are not those of its parameters"),
    ("accepted_classes", "parameters.by", "region", "its groups are not its classes"),
    ("certified", "certificate.tested_on.rows", 10**9, "its certificate is not about its rows"),
    ("certified", "certificate.precision", 0.5, "its certificate is not about its bounds"),
    ("certified_groups", "fit.rows", 10**9, "its reference is not about its calibration rows"),
    ("first_rows", "format_version", 2, "its capacity is not of its format version"),
    ("first_rows", "thresholds", [0.5], "its capacity contradicts its thresholds"),
    ("first_rows", "capacity", None, "its format version is not that of its fields"),
    ("default", "capacity", {"top": 3, "per": "day"}, "its capacity is not of its format version"),
]
"""Saved rules in which one key has another value (none for None), and what is then wrong."""


@pytest.mark.parametrize(("name", "key", "value", "message"), CONTRADICTIONS)
def test_contradictions_between_keys_are_named(name, key, value, message):
    content = json.loads(LATEST[f"boundary_{name}"].read_text())
    *places, last = key.split(".")
    struct = content
    for place in places:
        struct = struct[place]
    struct[last] = value
    if value is None:
        del struct[last]
    with pytest.raises(ArtifactError, match="is inconsistent") as error:
        decode(json.dumps(content).encode(), "rule.json")
    assert message in str(error.value)
