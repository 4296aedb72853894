"""Makes the page of the commands, with shared options listed once."""

import textwrap
from collections import Counter

import typer

from uqcli.base.options import PAPERS
from uqcli.calls import positional
from uqcli.cli.app import program
from uqcli.cli.help import EXAMPLES

SHARED_BY = 4
"""Number of commands with an identical option from which it counts as shared."""

HEAD = """# Commands

Each command has the options in its table, the shared options that it names, and these: {everywhere}. Shared
options are explained [at the end](#shared-options). A file or the environment can set any of them; see
[configuration](files-and-options.md#configuration). After `from uqcli import commands as uq`, each is a
function of Python, whose keywords are these options without dashes in front and with `_` for others: see
[Python API](python-api.md). `make reference` writes this page.
"""


def commands_page():
    """Describe all commands."""
    group = typer.main.get_command(program())
    rows = {
        name: [_option(option, command) for option in _of_kind(command, "option")]
        for name, command in group.commands.items()
    }
    uses = Counter(row for options in rows.values() for row in options)
    shared = {row for row, commands in uses.items() if commands >= SHARED_BY}
    everywhere = {row for row, commands in uses.items() if commands == len(rows)}
    names = ", ".join(f"`{_name(row)}`" for row in next(iter(rows.values())) if row in everywhere)
    head, *others = HEAD.split("\n\n")
    sections = [
        "\n\n".join([head, *(_filled(text.replace("{everywhere}", names)) for text in others)]) + "\n",
        *(
            _command(name, command, rows[name], shared, shared - everywhere)
            for name, command in group.commands.items()
        ),
    ]
    return "\n".join([*sections, _shared(group, shared)])


def _of_kind(command, kind):
    return [
        parameter
        for parameter in command.params
        if parameter.param_type_name == kind and parameter.name != "help"
    ]


def _filled(text):
    return textwrap.fill(text, 110, break_long_words=False, break_on_hyphens=False)


def _name(row):
    """Return the first name of the option of a row."""
    return row.split("|")[1].split("`")[1]


def _command(name, command, rows, shared, named):
    """Describe a command; of the shared options it names those that some commands lack."""
    arguments = _of_kind(command, "argument")
    usage = " ".join(["uqcli", name, "[OPTIONS]", *(argument.metavar for argument in arguments)])
    summary, _ = command.help.split("\n\nExamples:\n")
    given = ", ".join(each.name for each in positional(command.callback.declaration))
    lines = [f"## `{usage}`", "", summary, "", "```sh", *EXAMPLES[name], "```", ""]
    lines += [f"In Python: `uq.{name}({given}, option=value)`.", ""]
    lines += [f"- `{argument.metavar}`: {argument.help}" for argument in arguments]
    own_rows = [row for row in rows if row not in shared]
    if own_rows:
        lines += ["", "| option | default | |", "|---|---|---|", *own_rows]
    names = [_name(row) for row in rows if row in named]
    of_some = ["", f"Shared: {', '.join(f'`{name}`' for name in names)}."] if names else []
    return "\n".join([*lines, *of_some, ""])


def _shared(group, shared):
    """List the shared options, under the headings of the help."""
    panels = {}
    for command in group.commands.values():
        for option in _of_kind(command, "option"):
            row = _option(option, command)
            if row in shared:
                panels.setdefault(option.rich_help_panel or "Options", {})[row] = None
    lines = ["## Shared options", ""]
    for panel, rows in panels.items():
        lines += [f"### {panel}", "", "| option | default | |", "|---|---|---|", *rows, ""]
    return "\n".join(lines)


def _option(option, command):
    names = ", ".join(f"`{name}`" for name in [*option.opts, *option.secondary_opts])
    value = "" if option.is_flag else f" {_choices(option) or option.metavar}"
    default = option.default
    shown = "" if default in (None, False, "") or option.show_default is False else f"`{default}`"
    declared = command.callback.declaration.options.get(option.name)
    of_papers = declared and declared.field.metadata["papers"]
    text = option.help.replace(f"; more: {PAPERS}", "")
    text += f" {PAPERS}: {of_papers}" if of_papers else ""
    return f"| {names}{_escaped(value)} | {shown} | {text} |"


def _escaped(value):
    return value.replace("\\|", "|").replace("|", "\\|")


def _choices(option):
    return " | ".join(str(choice.value) for choice in option.type_descriptor.choices or ())
