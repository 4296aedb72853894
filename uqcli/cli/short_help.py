"""The short help of the program, without loading the commands."""

from __future__ import annotations

from typing import NamedTuple

from uqcli.cli.help import HELP, QUESTIONS
from uqcli.cli.help_page import console_of_help, print_summary
from uqcli.cli.summaries import SUMMARIES

_USAGE = "Usage: uqcli [OPTIONS] COMMAND [ARGS]..."
_NEXT = "uqcli --help shows the options."


class _Listed(NamedTuple):
    """A command as the help lists it."""

    name: str
    rich_help_panel: str
    help: str


def short_help() -> str:
    """Return what ``uqcli -h`` prints; nothing where only the program itself knows how to print it."""
    console = console_of_help()
    if console.encoding != "utf-8" or console.legacy_windows or console.width < len(_USAGE) + 2:
        return ""
    commands = [_Listed(name, QUESTIONS[name], summary) for name, summary in SUMMARIES.items()]
    with console.capture() as capture:
        print_summary(console, _USAGE, HELP, commands, _NEXT)
    return capture.get() + "\n"  # as typer ends a help
