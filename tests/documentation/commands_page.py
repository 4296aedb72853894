"""The commands as Markdown, options that several share once."""

from collections import Counter

import typer

from uqcli.cli.app import program
from uqcli.cli.examples import EXAMPLES

SHARED_BY = 4
"""Commands that have an option in the same words before it counts as shared."""

HEAD = """# Commands

Each command has the options in its table and the shared options that it names, which are
[at the end](#shared-options). A file or the environment can set any of them; see
[configuration](files-and-options.md#configuration). `make reference` writes this page.
"""


def commands_page():
    """All commands."""
    group = typer.main.get_command(program())
    rows = {
        name: [_option(each) for each in _of_kind(command, "option")]
        for name, command in group.commands.items()
    }
    often = Counter(row for several in rows.values() for row in several)
    shared = {row for row, commands in often.items() if commands >= SHARED_BY}
    parts = [HEAD, *(_command(name, command, rows[name], shared) for name, command in group.commands.items())]
    return "\n".join([*parts, _shared(group, shared)])


def _of_kind(command, kind):
    return [each for each in command.params if each.param_type_name == kind and each.name != "help"]


def _command(name, command, rows, shared):
    arguments = _of_kind(command, "argument")
    usage = " ".join(["uqcli", name, "[OPTIONS]", *(argument.metavar for argument in arguments)])
    summary, _ = command.help.split("\n\n\b\n")
    lines = [f"## `{usage}`", "", summary, "", "```sh", *EXAMPLES[name], "```", ""]
    lines += [f"- `{argument.metavar}`: {argument.help}" for argument in arguments]
    own = [row for row in rows if row not in shared]
    if own:
        lines += ["", "| option | default | |", "|---|---|---|", *own]
    names = [row.split("|")[1].split("`")[1] for row in rows if row in shared]
    return "\n".join([*lines, "", f"Shared: {', '.join(f'`{each}`' for each in names)}.", ""])


def _shared(group, shared):
    """Shared options, under the headings of the help."""
    panels = {}
    for command in group.commands.values():
        for option in _of_kind(command, "option"):
            row = _option(option)
            if row in shared:
                panels.setdefault(option.rich_help_panel or "Options", {})[row] = None
    lines = ["## Shared options", ""]
    for panel, rows in panels.items():
        lines += [f"### {panel}", "", "| option | default | |", "|---|---|---|", *rows, ""]
    return "\n".join(lines)


def _option(option):
    names = ", ".join(f"`{name}`" for name in [*option.opts, *option.secondary_opts])
    value = "" if option.is_flag else f" {_choices(option) or option.metavar}"
    default = option.default
    shown = "" if default in (None, False, "") or option.show_default is False else f"`{default}`"
    return f"| {names}{_escaped(value)} | {shown} | {option.help} |"


def _escaped(value):
    return value.replace("\\|", "|").replace("|", "\\|")


def _choices(option):
    return " | ".join(str(choice.value) for choice in option.type_descriptor.choices or ())
