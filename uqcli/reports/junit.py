"""Reports as JUnit XML.

Each gate and each target is a test case. The run itself is one where it failed or nothing was asked for,
as readers reject empty files. Times are left out, so that the same results are the same bytes.
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
    """One thing that was demanded, how it went, and what is said of it."""

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
    """One test suite.

    Parameters
    ----------
    failure
        Why there is no result; None where there is one.
    made_from
        Digests of models and inputs, by what they are of.
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
    """What the run looked at, in the form that readers of such files know."""
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
    """What these rows cannot judge has not passed; what is not about new rows is left out."""
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
