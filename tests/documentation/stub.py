"""Makes the types of ``uqcli.commands`` from the declarations; ``make reference`` writes them."""

import subprocess
import sys
from enum import StrEnum
from pathlib import Path

from uqcli.calls import OF_COMMAND_LINE, function, positional
from uqcli.jobs.declared import COMMANDS, REQUIRED, declaration_of

ROOT = Path(__file__).parents[2]

HEAD = '''"""Types of the functions of commands, from their declarations; ``make reference`` writes them."""

from collections.abc import Mapping, Sequence
from os import PathLike
from typing import Any, Literal, SupportsFloat, TypeAlias

from uqcli.calls import Result as Result
from uqcli.calls import Rule as Rule
from uqcli.calls import load as load

Rows: TypeAlias = Any
"""A data frame of any library, a mapping of arrays, a path, or several of these."""

Value: TypeAlias = str | SupportsFloat
"""A text or a number: of an option, or a column's name."""

Values: TypeAlias = Value | Sequence[Value] | Mapping[str, Value]
"""Values where the command takes some, separated by commas."""

Path: TypeAlias = str | PathLike[str]
'''

OUTPUTS = {"output", "report", "plot", "frontier", "state"}
FILES = {"FILE", "INPUT", "GRID.json", "SHIFT.json"}


def stub():
    """Return the stub file."""
    text = "\n\n".join([HEAD.rstrip("\n"), *map(_function, COMMANDS)]) + "\n"
    formatter = [sys.executable, "-m", "ruff", "format", "--stdin-filename", "uqcli/commands.pyi", "-"]
    run = subprocess.run(formatter, input=text, cwd=ROOT, capture_output=True, text=True, check=True)
    return run.stdout


def _function(command):
    declaration = declaration_of(command)
    given = [f"    {each.name}: {_type_of(each.name)} = None," for each in positional(declaration)]
    options = [
        f"    {option.name}: {_type(option)}{'' if option.default is REQUIRED else _default(option)},"
        for option in declaration.options.values()
        if option.name not in OF_COMMAND_LINE
    ]
    required = [line for line in options if " = " not in line]
    optional = [line for line in options if " = " in line]
    text = "\n".join(f"    {line}".rstrip() for line in function(command).__doc__.splitlines())
    head = "\n".join([f"def {command}(", *given, "    *,", *required, *optional, ") -> Result:"])
    return f'{head}\n    """{text.strip()}\n    """\n    ...'


def _type_of(name):
    return "Rows" if name == "rows" else "Rule | Result | Path | Sequence[Rule | Result | Path] | None"


def _type(option):
    kind, metavar = option.kind, option.field.metadata["metavar"]
    if kind is bool:
        return "bool"
    if issubclass(kind, StrEnum):
        return f"Literal[{', '.join(repr(str(each)) for each in kind)}, None]"
    if kind in (int, float):
        return f"{kind.__name__} | str | None"
    if metavar in FILES:
        if option.name not in OUTPUTS:
            return "Rows"
        return "Path | Sequence[Path] | None" if option.takes_several else "Path | None"
    if option.takes_several:
        return "Value | Sequence[Value] | None"
    return "Values | None"


def _default(option):
    default = option.default
    return f" = {str(default)!r}" if isinstance(default, StrEnum) else f" = {default!r}"
