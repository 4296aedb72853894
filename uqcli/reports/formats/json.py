"""Reports as JSON."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any, Final

from uqcli.base.defaults import VERSION
from uqcli.base.running.messages import said
from uqcli.base.wording import RUNNER_COMMAND, is_acting
from uqcli.reports.format import Failure, Format, RunContext

if TYPE_CHECKING:
    from uqcli.reports.checks import Check
    from uqcli.reports.document import Report


def to_json(report: Report, failures: Sequence[Failure] = (), checks: Sequence[Check] = ()) -> str:
    """Format a report as one indented JSON object; escape characters that act on a terminal."""
    more: dict[str, Any] = said().payload(report.document().cautions)
    more["gates"] = [check.payload() for check in checks]
    for failure in failures:
        more["error"] = failure.payload()
    return _harmless(_indented({**report.payload(), **more}))


def _harmless(text: str) -> str:
    """End an object; strings keep their values, but nothing in them acts on a terminal or a CI runner."""
    text += "\n"
    if "##" in text:
        text = RUNNER_COMMAND.sub(r"\\u0023#", text)
    if text.replace("\n", "").isprintable():
        return text
    return "".join(
        json.dumps(character)[1:-1] if character != "\n" and is_acting(character) else character
        for character in text
    )


def _indented(content: Mapping[str, Any]) -> str:
    """Indent JSON as Python does, whose encoder is not compiled if it indents; names may hold surrogates."""
    import msgspec

    text = json.dumps(content, allow_nan=False, ensure_ascii=False)
    laid_out = msgspec.json.format(text.encode("utf-8", "surrogatepass"), indent=2)
    return laid_out.decode("utf-8", "surrogatepass")


def _render(report: Report, context: RunContext) -> str:
    return to_json(report, context.failures, context.checks)


def _failed(failure: Failure) -> str:
    content = {"command": failure.command, "uqcli_version": VERSION, "error": failure.payload()}
    return _harmless(json.dumps(content, indent=2, ensure_ascii=False))


FORMAT: Final = Format(render=_render, failed=_failed)
