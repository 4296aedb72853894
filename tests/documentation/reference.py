"""The README's command reference, made from the program itself; ``make readme`` writes it."""

import sys
from pathlib import Path

import typer

from uqcli.cli.app import program
from uqcli.cli.examples import EXAMPLES

README = Path(__file__).parents[2] / "README.md"
START, END = "<!-- reference: made by make readme -->", "<!-- end of reference -->"


def reference():
    """All commands as Markdown."""
    group = typer.main.get_command(program())
    return "\n".join(_command(name, command) for name, command in group.commands.items())


def _command(name, command):
    parameters = [parameter for parameter in command.params if parameter.name != "help"]
    arguments = [parameter for parameter in parameters if parameter.param_type_name == "argument"]
    options = [parameter for parameter in parameters if parameter.param_type_name == "option"]
    usage = " ".join(["uqcli", name, "[OPTIONS]", *(argument.metavar for argument in arguments)])
    summary, _ = command.help.split("\n\n\b\n")
    lines = [f"### `{usage}`", "", summary, "", "```sh", *EXAMPLES[name], "```", ""]
    lines += [f"- `{argument.metavar}`: {argument.help}" for argument in arguments]
    lines += ["", "| option | default | |", "|---|---|---|"]
    lines += [_option(option) for option in options]
    return "\n".join([*lines, ""])


def _option(option):
    names = ", ".join(f"`{name}`" for name in [*option.opts, *option.secondary_opts])
    value = "" if option.is_flag else f" {option.metavar or _choices(option)}"
    default = option.default
    shown = "" if default in (None, False, "") or option.show_default is False else f"`{default}`"
    return f"| {names}{value} | {shown} | {option.help} |".replace("L|all", "L\\|all")


def _choices(option):
    choices = option.type_descriptor.choices
    return " \\| ".join(str(choice.value) for choice in choices)


def rewritten(text):
    """The README with a fresh reference."""
    before, rest = text.split(START)
    _, after = rest.split(END)
    return f"{before}{START}\n\n{reference()}\n{END}{after}"


if __name__ == "__main__":
    README.write_text(rewritten(README.read_text()))
    sys.stdout.write(f"{README.name} is up to date\n")
