"""Reports of a failed run, built without heavy imports, since a signal may end the run at once."""

from __future__ import annotations

import html
import json
from dataclasses import dataclass
from typing import Any

from uqcli.defaults import VERSION
from uqcli.errors import UqcliError
from uqcli.visible import visible

_NO_SCRIPTS = "default-src 'none'; style-src 'unsafe-inline'"


@dataclass(frozen=True, kw_only=True)
class Failure:
    """Error of a run.

    Attributes
    ----------
    command
        Name as typed.
    exit_code
        Exit code of the process.
    found, expected, remedy
        Parts of the error line; empty if missing.
    """

    command: str
    exit_code: int
    found: str
    expected: str = ""
    remedy: str = ""

    @classmethod
    def from_error(cls, command: str, error: UqcliError) -> Failure:
        """Describe an error of a command."""
        return cls(
            command=command,
            exit_code=error.exit_code,
            found=error.found,
            expected=error.expected,
            remedy=error.remedy,
        )

    def __str__(self) -> str:
        """Format the error line."""
        parts = (self.found, f"expected {self.expected}" if self.expected else "", self.remedy)
        return "; ".join(filter(None, parts))

    def payload(self) -> dict[str, Any]:
        """Return the error as a JSON report has it."""
        return {
            "exit": self.exit_code,
            "found": self.found,
            "expected": self.expected or None,
            "remedy": self.remedy or None,
        }


def failed_report(failure: Failure, suffix: str) -> str:
    """Build a report that contains only the error.

    Parameters
    ----------
    suffix
        Ending of the report's name, in lower case.
    """
    return {".json": _json, ".xml": _junit, ".prom": _prometheus, ".md": _markdown, ".html": _html}[suffix](
        failure
    )


def _json(failure: Failure) -> str:
    content = {"command": failure.command, "uqcli_version": VERSION, "error": failure.payload()}
    return json.dumps(content, indent=2, ensure_ascii=not str(failure).isprintable()) + "\n"


def escaped(text: str) -> str:
    """Escape markup, and characters that XML does not allow, such as control characters."""
    return html.escape(visible(text))


def error_case(command: str, failure: Failure) -> str:
    """Build the JUnit test case of a run that ended with an error."""
    message = escaped(str(failure))
    return (
        f'<testcase classname="uqcli.{escaped(command)}.run" name="result">\n'
        f'<error type="exit {failure.exit_code}" message="{message}">{message}</error>\n</testcase>\n'
    )


def junit_suite(command: str, counts: str, content: str) -> str:
    """Build a JUnit file with one test suite, from its counts and its test cases."""
    return (
        '<?xml version="1.0" encoding="UTF-8"?>\n'
        f'<testsuites name="uqcli" {counts}>\n<testsuite name="uqcli {escaped(command)}" {counts}>\n'
        f"{content}</testsuite>\n</testsuites>\n"
    )


def _junit(failure: Failure) -> str:
    counts = 'tests="1" failures="0" errors="1" skipped="0"'
    return junit_suite(failure.command, counts, error_case(failure.command, failure))


def html_page(title: str, style: str, content: str, *, script: str = "", policy: str = _NO_SCRIPTS) -> str:
    """Build an HTML page that loads nothing.

    Parameters
    ----------
    policy
        Content security policy, which must allow the script.
    """
    scripts = f"<script>{script}</script>\n" if script else ""
    return (
        '<!doctype html>\n<html lang="en">\n<head>\n<meta charset="utf-8">\n'
        f'<meta http-equiv="Content-Security-Policy" content="{policy}">\n'
        '<meta name="viewport" content="width=device-width, initial-scale=1">\n'
        f"<title>{escaped(title)}</title>\n<style>{style}</style>\n</head>\n"
        f"<body>\n{content}{scripts}</body>\n</html>\n"
    )


def up_metric(command: str, *, is_up: bool) -> str:
    """Build the Prometheus metric for whether the last run had a result."""
    label = visible(command).replace("\\", "\\\\").replace('"', '\\"')
    return (
        "# HELP uqcli_up whether the last run came to a result\n# TYPE uqcli_up gauge\n"
        f'uqcli_up{{command="{label}"}} {int(is_up)}\n'
    )


def _prometheus(failure: Failure) -> str:
    return up_metric(failure.command, is_up=False)


def _title(failure: Failure) -> str:
    return visible(f"uqcli {failure.command} failed")


def _markdown(failure: Failure) -> str:
    return f"# {_plain(_title(failure))}\n\nError (exit code {failure.exit_code}): {_plain(str(failure))}\n"


def _plain(text: str) -> str:
    """Escape Markdown."""
    return "".join(
        f"\\{character}" if character in "\\`*_|<>[]#&~$" else character for character in visible(text)
    )


def _html(failure: Failure) -> str:
    style = (
        ":root{color-scheme:light dark}"
        "body{font:16px/1.5 system-ui,sans-serif;max-width:60rem;margin:2rem auto;padding:0 1rem;"
        "overflow-wrap:anywhere}"
    )
    paragraph = f"<p>Error (exit code {failure.exit_code}): {escaped(str(failure))}</p>\n"
    return html_page(_title(failure), style, f"<h1>{escaped(_title(failure))}</h1>\n{paragraph}")
