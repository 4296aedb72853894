"""Reports as JUnit XML.

Each check, target and guarantee is a test case. The run itself is one if it failed, or if there is no other,
since readers reject empty files. There are no times, so that equal results have equal bytes.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from types import MappingProxyType
from typing import TYPE_CHECKING, Final, Literal

from uqcli.reports.format import Failure, Format, RunContext, escaped

if TYPE_CHECKING:
    from uqcli.reports.checks import Check
    from uqcli.reports.document import Claim, Document, Report


_Result = Literal["passed", "failure", "skipped"]
_Case = tuple[Literal["gate", "promise", "run"], str, _Result, str]
"""Kind, name, result and message of a test case."""


def to_junit(
    command: str,
    document: Document,
    checks: Sequence[Check],
    failures: Sequence[Failure],
    digests: Mapping[str, str] = MappingProxyType({}),
) -> str:
    """Build a file with one test suite; the digests are those of rule files and inputs, by description."""
    cases = [*map(_check_case, checks), *map(_claim_case, document.claims)]
    if not cases and not failures:
        cases = [("run", "result", "passed", "")]
    failed = sum(result == "failure" for _, _, result, _ in cases)
    skipped = sum(result == "skipped" for _, _, result, _ in cases)
    errors = len(failures)
    counts = f'tests="{len(cases) + errors}" failures="{failed}" errors="{errors}" skipped="{skipped}"'
    content = "".join(_xml(command, *case) for case in cases)
    content += "".join(_error_case(command, failure) for failure in failures)
    return _suite(command, counts, f"{_properties(digests)}{content}")


def _properties(digests: Mapping[str, str]) -> str:
    if not digests:
        return ""
    lines = "".join(
        f'<property name="{escaped(name)}" value="{digest}"/>\n' for name, digest in digests.items()
    )
    return f"<properties>\n{lines}</properties>\n"


def _check_case(check: Check) -> _Case:
    where = f" ({check.artifact})" if check.artifact else ""
    name = f"--fail-if {check.text}{where}"
    if check.fails:
        return "gate", name, "failure", check.message
    return "gate", name, "passed", ""


def _claim_case(claim: Claim) -> _Case:
    """Return the case of a claim; an undecided one fails, or is skipped if it is not about new data."""
    result: _Result = "passed" if claim.met else "failure"
    if claim.met is None and not claim.about_new_data:
        result = "skipped"
    return "promise", claim.name, result, claim.sentence


def _xml(command: str, kind: str, name: str, result: _Result, message: str) -> str:
    head = f'<testcase classname="uqcli.{escaped(command)}.{kind}" name="{escaped(name)}"'
    text = escaped(message)
    match result:
        case "passed":
            content = f">\n<system-out>{text}</system-out>\n</testcase>" if text else "/>"
        case "failure":
            content = f'>\n<failure type="{kind}" message="{text}">{text}</failure>\n</testcase>'
        case "skipped":
            content = f'>\n<skipped message="{text}"/>\n</testcase>'
    return f"{head}{content}\n"


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
    made_from = {f"digest that {name} states": digest for name, digest in context.files.rules.items()}
    made_from |= {f"SHA-256 of {name}": digest for name, digest in context.files.hashed.items()}
    return to_junit(context.command, report.document(), context.checks, context.failures, made_from)


def _failed(failure: Failure) -> str:
    counts = 'tests="1" failures="0" errors="1" skipped="0"'
    return _suite(failure.command, counts, _error_case(failure.command, failure))


FORMAT: Final = Format(render=_render, failed=_failed, needs_digests=True, needs_rules=True)
