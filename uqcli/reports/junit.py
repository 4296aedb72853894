"""Reports as JUnit XML.

Each check, target and guarantee is a test case. The run itself is one if it failed, or if there is no other,
since readers reject empty files. There are no times, so that equal results have equal bytes.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from types import MappingProxyType
from typing import Literal

from uqcli.document import Claim, Document
from uqcli.reports.failure import Failure, error_case, escaped, junit_suite
from uqcli.reports.gates import JudgedGate


@dataclass(frozen=True, kw_only=True)
class _Case:
    """A test case: its kind and name, its result, and its message."""

    kind: Literal["gate", "promise", "run"]
    name: str
    result: Literal["passed", "failure", "skipped"]
    said: str


def to_junit(
    command: str,
    document: Document,
    gates: Sequence[JudgedGate],
    failure: Failure | None,
    made_from: Mapping[str, str] = MappingProxyType({}),
) -> str:
    """Build a file with one test suite.

    Parameters
    ----------
    failure
        Error of the run; None if there is a result.
    made_from
        Digests of rule files and inputs, by description.
    """
    cases = [*map(_of_gate, gates), *_of_claims(document)]
    if not cases and failure is None:
        cases = [_Case(kind="run", name="result", result="passed", said="")]
    failures = sum(case.result == "failure" for case in cases)
    skipped = sum(case.result == "skipped" for case in cases)
    errors = int(failure is not None)
    counts = f'tests="{len(cases) + errors}" failures="{failures}" errors="{errors}" skipped="{skipped}"'
    inside = "".join(_xml(command, case) for case in cases)
    if failure is not None:
        inside += error_case(command, failure)
    return junit_suite(command, counts, f"{_properties(made_from)}{inside}")


def _properties(made_from: Mapping[str, str]) -> str:
    """Build the properties: digests of what the run read."""
    if not made_from:
        return ""
    lines = "".join(
        f'<property name="{escaped(name)}" value="{digest}"/>\n' for name, digest in made_from.items()
    )
    return f"<properties>\n{lines}</properties>\n"


def _of_gate(gate: JudgedGate) -> _Case:
    where = f" ({gate.artifact})" if gate.artifact else ""
    name = f"--fail-if {gate.gate.text}{where}"
    if gate.fails:
        return _Case(kind="gate", name=name, result="failure", said=gate.message)
    return _Case(kind="gate", name=name, result="passed", said="")


def _of_claims(document: Document) -> list[_Case]:
    return [
        _Case(kind="promise", name=claim.name, result=_result_of(claim), said=claim.said)
        for claim in document.claims
    ]


def _result_of(claim: Claim) -> Literal["passed", "failure", "skipped"]:
    """Return the result; a claim that the rows cannot decide fails, or is skipped if not about new data."""
    if claim.kept is None and not claim.of_new_rows:
        return "skipped"
    return "passed" if claim.kept else "failure"


def _xml(command: str, case: _Case) -> str:
    head = f'<testcase classname="uqcli.{escaped(command)}.{case.kind}" name="{escaped(case.name)}"'
    match case.result:
        case "passed":
            content = f">\n<system-out>{escaped(case.said)}</system-out>\n</testcase>" if case.said else "/>"
            return f"{head}{content}\n"
        case "failure":
            return (
                f'{head}>\n<failure type="{case.kind}" message="{escaped(case.said)}">'
                f"{escaped(case.said)}</failure>\n</testcase>\n"
            )
        case "skipped":
            return f'{head}>\n<skipped message="{escaped(case.said)}"/>\n</testcase>\n'
