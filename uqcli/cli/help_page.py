"""The page of a help as rich prints it: usage, text, options in panels, commands in panels.

typer has one as well. This one shows no types and no ranges, has more width for the texts, and is the
same for all versions of typer.
"""

from __future__ import annotations

import inspect
import os
from collections.abc import Iterable, Mapping, Sequence
from enum import Enum
from typing import TYPE_CHECKING, Any, Final

from rich.align import Align
from rich.columns import Columns
from rich.console import Console, Group
from rich.highlighter import RegexHighlighter
from rich.padding import Padding
from rich.panel import Panel
from rich.table import Table
from rich.text import Text
from rich.theme import Theme

if TYPE_CHECKING:
    import typer  # which the short help does not load


class _Options(RegexHighlighter):
    highlights = [  # noqa: RUF012 - as rich declares it
        r"(^|\W)(?P<switch>\-\w+)(?![a-zA-Z0-9])",
        r"(^|\W)(?P<option>\-\-[\w\-]+)(?![a-zA-Z0-9])",
        r"(?P<types>\<[^\>]+\>)",
        r"(?P<usage>Usage: )",
    ]


class _Values(RegexHighlighter):
    highlights = [r"^(?P<types_sep>(\[|<))", r"(?P<types_sep>\|)", r"(?P<types_sep>(\]|>))(\.\.\.)?$"]  # noqa: RUF012


_STYLES: Final = {
    "option": "bold cyan",
    "switch": "bold green",
    "types": "bold yellow",
    "types_sep": "dim",
    "usage": "yellow",
}
_options, _values = _Options(), _Values()


def print_page(
    context: typer.Context, parameters: Sequence[Any], commands: Iterable[Any] = (), epilog: str = ""
) -> None:
    """Print the help of a command, or of the program with its commands."""
    console = console_of_help()
    _print_head(console, context.command.get_usage(context), context.command.help or "")
    for kind, title in (("argument", "Arguments"), ("option", "Options")):
        of_kind = [each for each in parameters if each.param_type_name == kind and not each.hidden]
        for heading, rows in _by_panel(of_kind, title).items():
            console.print(_panel(heading, _options_table(rows, context)))
    _print_commands(console, [command for command in commands if not command.hidden])
    _print_epilog(console, epilog)


def print_summary(console: Console, usage: str, text: str, commands: Sequence[Any], epilog: str) -> None:
    """Print the short help of the program; commands have a name, a heading (``rich_help_panel``) and help."""
    _print_head(console, usage, text)
    _print_commands(console, commands)
    _print_epilog(console, epilog)


def _print_head(console: Console, usage: str, text: str) -> None:
    console.print(Padding(_options(usage), 1), style="bold")
    console.print(Padding(Align(_text(text), pad=False), (0, 1, 1, 1)))


def _print_commands(console: Console, commands: Sequence[Any]) -> None:
    width = max((len(command.name) for command in commands), default=0)
    for heading, rows in _by_panel(commands, "Commands").items():
        console.print(_panel(heading, _commands_table(rows, width)))


def _print_epilog(console: Console, epilog: str) -> None:
    if epilog:
        console.print(Padding(Align(_options(Text.from_markup(epilog)), pad=False), 1))


def console_of_help() -> Console:
    """Open the console; the variables are those of typer."""
    is_colored = any(os.environ.get(name) for name in ("GITHUB_ACTIONS", "FORCE_COLOR", "PY_COLORS"))
    width = os.environ.get("TERMINAL_WIDTH")
    return Console(
        theme=Theme(_STYLES),
        highlighter=_options,
        force_terminal=True if is_colored else None,
        width=int(width) if width else None,
    )


def _text(text: str) -> Group:
    """Show the first paragraph as it is, the others dimmed."""
    first, *others = inspect.cleandoc(text).split("\n\n")
    shown = [_options(Text.from_markup(first.replace("\n", " ").strip()))]
    if others:
        shown += [Text(""), _options(Text.from_markup("\n\n".join(others), style="dim"))]
    return Group(*shown)


def _by_panel(items: Iterable[Any], title: str) -> Mapping[str, list[Any]]:
    """Group options or commands by their headings; those without one come first, under ``title``."""
    panels: dict[str, list[Any]] = {title: []}
    for item in items:
        panels.setdefault(item.rich_help_panel or title, []).append(item)
    return {heading: listed for heading, listed in panels.items() if listed}


def _panel(title: str, table: Table) -> Panel:
    return Panel(table, border_style="dim", title=title, title_align="left")


def _options_table(parameters: Sequence[Any], context: typer.Context) -> Table:
    """List options, or arguments: a star if it is required, its long and its short names, value, help."""
    table = Table(
        highlight=True, show_header=False, expand=True, box=None, pad_edge=False, padding=(0, 1, 0, 0)
    )
    has_required = any(parameter.required for parameter in parameters)
    for parameter in parameters:
        star = [Text("*", style="red") if parameter.required else ""] if has_required else []
        is_argument = parameter.param_type_name == "argument"
        names = [parameter.metavar] if is_argument else parameter.opts
        table.add_row(
            *star,
            _options(",".join(name for name in names if "--" in name)),
            _options(",".join(name for name in names if "--" not in name)),
            *("", ""),  # the space of two more columns keeps names and values apart
            _values(Text(_value(parameter, context), style="bold yellow", overflow="fold")),
            _explanation(parameter),
        )
    return table


def _value(parameter: Any, context: typer.Context) -> str:
    """Say what to type as the value: a placeholder or the choices; nothing for a flag."""
    if parameter.param_type_name == "option" and (parameter.is_flag or parameter.metavar):
        return parameter.metavar or ""
    from uqcli.cli.values import choices_of

    choices = choices_of(parameter, context)
    return f"<{'|'.join(choices)}>" if choices else ""


def _explanation(parameter: Any) -> Columns:
    parts = [_options(Text.from_markup(inspect.cleandoc(parameter.help.replace("\n", " ").strip())))]
    default = _default(parameter)
    if default:
        parts.append(Text(f"[default: {default}]", style="dim"))
    if parameter.required:
        parts.append(Text("[required]", style="dim red"))
    return Columns(parts)


def _default(parameter: Any) -> str:
    """Return the default as text; empty for none, for one that the help states, and for a flag."""
    default = parameter.default
    if default is None or default is False or not parameter.show_default:
        return ""
    if isinstance(default, list | tuple):
        return ", ".join(map(str, default))
    return str(default.value) if isinstance(default, Enum) else str(default)


def _commands_table(commands: Sequence[Any], width: int) -> Table:
    table = Table(show_header=False, expand=True, box=None, pad_edge=False, padding=(0, 1))
    table.add_column(style="bold cyan", no_wrap=True, width=width)
    table.add_column("Description", ratio=10)  # it takes all the width that is left
    for command in commands:
        summary = inspect.cleandoc(command.help).split("\n\n")[0]
        table.add_row(Text(command.name), _options(Text.from_markup(summary.strip())))
    return table
