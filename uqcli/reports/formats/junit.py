"""Reports as JUnit XML.

Each check, target and guarantee is a test case. The run itself is one if it failed, or if there is no other,
since readers reject empty files. There are no times, so that equal results have equal bytes.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from types import MappingProxyType
from typing import TYPE_CHECKING, Final, Literal

from uqcli.base.records import dataclass
from uqcli.reports.format import Failure, Format, RunContext, escaped

if TYPE_CHECKING:
    from uqcli.reports.checks import CheckResult
    from uqcli.reports.document import Claim, Document, Report


@dataclass(frozen=True, kw_only=True)
class _Case:
    kind: Literal["gate", "promise", "run"]
    name: str
    result: Literal["passed", "failure", "skipped"]
    message: str


def to_junit(
    command: str,
    document: Document,
    checks: Sequence[CheckResult],
    failure: Failure | None,
    digests: Mapping[str, str] = MappingProxyType({}),
) -> str:
    """Build a file with one test suite; the digests are those of rule files and inputs, by description."""
    cases = [*map(_check_case, checks), *_claim_cases(document)]
    if not cases and failure is None:
        cases = [_Case(kind="run", name="result", result="passed", message="")]
    failures = sum(case.result == "failure" for case in cases)
    skipped = sum(case.result == "skipped" for case in cases)
    errors = int(failure is not None)
    counts = f'tests="{len(cases) + errors}" failures="{failures}" errors="{errors}" skipped="{skipped}"'
    content = "".join(_xml(command, case) for case in cases)
    if failure is not None:
        content += _error_case(command, failure)
    return _suite(command, counts, f"{_properties(digests)}{content}")


def _properties(digests: Mapping[str, str]) -> str:
    """Build the properties: digests of what the run read."""
    if not digests:
        return ""
    lines = "".join(
        f'<property name="{escaped(name)}" value="{digest}"/>\n' for name, digest in digests.items()
    )
    return f"<properties>\n{lines}</properties>\n"


def _check_case(result: CheckResult) -> _Case:
    where = f" ({result.artifact})" if result.artifact else ""
    name = f"--fail-if {result.check.text}{where}"
    if result.fails:
        return _Case(kind="gate", name=name, result="failure", message=result.message)
    return _Case(kind="gate", name=name, result="passed", message="")


def _claim_cases(document: Document) -> list[_Case]:
    return [
        _Case(kind="promise", name=claim.name, result=_result_of(claim), message=claim.sentence)
        for claim in document.claims
    ]


def _result_of(claim: Claim) -> Literal["passed", "failure", "skipped"]:
    """Return the result; a claim that the rows cannot decide fails, or is skipped if not about new data."""
    if claim.met is None and not claim.about_new_data:
        return "skipped"
    return "passed" if claim.met else "failure"


def _xml(command: str, case: _Case) -> str:
    head = f'<testcase classname="uqcli.{escaped(command)}.{case.kind}" name="{escaped(case.name)}"'
    match case.result:
        case "passed":
            content = (
                f">\n<system-out>{escaped(case.message)}</system-out>\n</testcase>" if case.message else "/>"
            )
            return f"{head}{content}\n"
        case "failure":
            return (
                f'{head}>\n<failure type="{case.kind}" message="{escaped(case.message)}">'
                f"{escaped(case.message)}</failure>\n</testcase>\n"
            )
        case "skipped":
            return f'{head}>\n<skipped message="{escaped(case.message)}"/>\n</testcase>\n'


def _error_case(command: str, failure: Failure) -> str:
    message = escaped(str(failure))
    return (
        f'<testcase classname="uqcli.{escaped(command)}.run" name="result">\n'
        f'<error type="exit {failure.exit_code}" message="{message}">{message}</error>\n</testcase>\n'
    )


def _suite(command: str, counts: str, content: str) -> str:
    return (
        '<?xml version="1.0" encoding="UTF-8"?>\n'
        f'<testsuites name="uqcli" {counts}>\n<testsuite name="uqcli {escaped(command)}" {counts}>\n'
        f"{content}</testsuite>\n</testsuites>\n"
    )


def _render(report: Report, context: RunContext) -> str:
    provenance = context.provenance
    made_from = {f"digest that {name} states": digest for name, digest in provenance.rules.items()}
    made_from |= {f"SHA-256 of {name}": digest for name, digest in provenance.inputs.items()}
    return to_junit(provenance.command, report.document(), context.checks, context.failure, made_from)


def _failed(failure: Failure) -> str:
    counts = 'tests="1" failures="0" errors="1" skipped="0"'
    return _suite(failure.command, counts, _error_case(failure.command, failure))


FORMAT: Final = Format(render=_render, failed=_failed, needs_digests=True, needs_rules=True)
