"""Contract tests of a program from which one feature was taken out, each in one process."""

import sys
from pathlib import Path

import pytest

from tests.cli.cases import CASES, READ_ARTIFACTS
from uqcli.boundary.rule_parts import registry
from uqcli.boundary.rule_parts.registry import PARTS
from uqcli.reports.parts import Composition, Remarks
from uqcli.rules.codec import decode

pytestmark = [pytest.mark.thorough, pytest.mark.usefixtures("few_draws")]

SAVED = Path(__file__).parents[1] / "saved"
USUAL = [SAVED / "0.4.0/boundary_default.json", SAVED / "0.2.0/boundary_smooth.json"]
RULES = {
    path: decode(path.read_bytes(), path.name)
    for path in [*USUAL, *SAVED.glob("0.4.0/boundary_*.json"), *SAVED.glob("0.5.0*/boundary_*.json")]
}
COMPOSED = [case for case in CASES if case.arguments("", "")[0] in ("boundary", "evaluate", "watch")]
CORE = {"Calibration", "FoundRule", "FoundFirstRows", "OneRule", "OneRuleByCapacity", "OneTarget"}
"""Parts that are no features: the rows, and the answer of a report."""

_composed = Composition.__init__


@pytest.fixture(params=PARTS)
def lacking(request, monkeypatch, artifact):
    """Take a part of rules out of the program; return its keys, and whether the usual rule has one."""
    keys, usual = set(PARTS[request.param]), decode(artifact.read_bytes(), artifact.name).optional_keys()
    others = {part: owned for part, owned in PARTS.items() if part != request.param}
    monkeypatch.setattr(registry, "PARTS", others)
    module = request.param.split(".")[0]
    if all(part.split(".")[0] != module for part in others):
        monkeypatch.setitem(sys.modules, f"uqcli.boundary.rule_parts.{module}", None)
    return keys, bool(usual & keys)


def test_commands_refuse_only_rules_with_its_keys(uqcli, lacking, data, artifact):
    keys, is_usual = lacking
    for case in CASES:
        outcome = uqcli(*case.arguments(data, artifact), "-q")
        assert outcome.code == (5 if is_usual and case.reads_artifact else 0), (case.name, outcome.err)
    refused = next(path for path, rule in RULES.items() if rule.optional_keys() & keys)
    accepted = next(path for path in USUAL if not RULES[path].optional_keys() & keys)
    for case in READ_ARTIFACTS:
        outcome = uqcli(*case.arguments(data, refused), "-q")
        assert outcome.code == 5, case.name
        assert "use a uqcli with all features" in outcome.err
        line = case.arguments(data, accepted)
        if "--top" not in line or RULES[accepted].nested:  # which rules of earlier versions lack
            assert uqcli(*line, "-q").code == 0, case.name


@pytest.mark.parametrize("case", COMPOSED, ids=lambda case: "_".join(case.arguments("", "")[::3]))
def test_commands_report_without_any_part(uqcli, case, data, artifact, tmp_path, monkeypatch):
    line, page, seen = case.arguments(data, artifact), tmp_path / "report.html", set()
    compose_of(monkeypatch, lambda part: seen.add(name_of(part)) or True)
    assert uqcli(*line, "--report", page).code == 0
    assert len(seen) > 3
    for name in sorted(seen - CORE):
        compose_of(monkeypatch, lambda part, name=name: name_of(part) != name)
        assert uqcli(*line).code == 0, name
        assert uqcli(*line, "--json", "--report", page).json["metrics"], name


def compose_of(monkeypatch, keeps):
    """Let reports consist of some parts alone."""

    def compose(composition, *, parts, **others):
        _composed(composition, parts=[part for part in parts if keeps(part)], **others)

    monkeypatch.setattr(Composition, "__init__", compose)


def name_of(part):
    """Name a part: by its class, or by what it says."""
    if not isinstance(part, Remarks):
        return type(part).__name__
    return " ".join(sorted({*dict(part.said), *part.measured, *part.keys, *part.fields}))
