"""Options from configuration files and the environment.

Flags win, then ``UQCLI_<COMMAND>_<OPTION>``, then ``[tool.uqcli.<command>]`` of the nearest
``uqcli.toml`` or ``pyproject.toml`` upwards (a ``uqcli.toml`` may leave out ``tool.uqcli``).
"""

from __future__ import annotations

import os
import tomllib
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import typer

from uqcli.errors import DataError, UsageError

_NOT_FOR_CONFIG = frozenset({"help", "config", "no_config"})


def load_settings(context: typer.Context, value: str | None) -> str | None:
    """Fill the defaults of a command before its other options are read (an eager callback).

    Raises
    ------
    UsageError
        An unknown command or option in a file or the environment, or ``--config`` with ``--no-config``.
    DataError
        A configuration file cannot be read.
    """
    if context.resilient_parsing:
        return value
    if value is not None and context.params.get("no_config"):
        raise _both()
    settings: dict[str, Any] = {}
    if not context.params.get("no_config"):
        settings |= _from_file(context, value)
    settings |= _from_environment(context)
    context.default_map = settings
    return value


def check_no_config(context: typer.Context, value: bool) -> bool:
    """Refuse ``--no-config`` after ``--config`` (eager callbacks run in the order typed).

    Raises
    ------
    UsageError
        Both are given.
    """
    if value and context.params.get("config") is not None:
        raise _both()
    return value


def _both() -> UsageError:
    return UsageError("--config and --no-config together", expected="one of them")


def _from_file(context: typer.Context, given: str | None) -> dict[str, Any]:
    for path in [Path(given)] if given is not None else _candidates():
        tables = _tables(path, required=given is not None)
        if tables is None:
            continue
        commands = _command_names(context)
        for name in tables:
            if name not in commands:
                raise UsageError(
                    f"unknown command '{name}' in '{path}'", expected=f"one of {', '.join(sorted(commands))}"
                )
        return _settings(context, tables.get(context.info_name or "", {}), f"'{path}'")
    return {}


def _candidates() -> Iterator[Path]:
    try:
        here = Path.cwd()
    except OSError:  # the working directory is gone
        return
    for directory in (here, *here.parents):
        for name in ("uqcli.toml", "pyproject.toml"):
            path = directory / name
            if path.is_file():
                yield path


def _tables(path: Path, *, required: bool) -> dict[str, Any] | None:
    """Settings by command, or None if the file has none for us."""
    try:
        content: dict[str, Any] = tomllib.loads(path.read_text("utf-8"), parse_float=str)
    except OSError as error:
        raise DataError(f"cannot read configuration '{path}': {error.strerror}") from error
    except (ValueError, RecursionError) as error:  # ValueError: also integers of thousands of digits
        raise UsageError(f"configuration '{path}' is not TOML: {error}") from error
    tool = content.get("tool")
    tables = tool.get("uqcli") if isinstance(tool, dict) else None
    if tables is None and path.name != "pyproject.toml" and tool is None:
        tables = content
    if tables is None:
        if required:
            raise UsageError(f"configuration '{path}' has no [tool.uqcli.<command>]")
        return None
    if not isinstance(tables, dict) or not all(isinstance(table, dict) for table in tables.values()):
        raise UsageError(
            f"configuration '{path}' has settings outside a table", expected="[<command>] tables"
        )
    return tables


def _from_environment(context: typer.Context) -> dict[str, Any]:
    start = f"UQCLI_{context.info_name}_".upper().replace("-", "_")
    found = {
        name.removeprefix(start).lower(): value
        for name, value in os.environ.items()
        if name.startswith(start)
    }
    return _settings(context, found, f"the environment ({start}...)")


def _settings(context: typer.Context, table: dict[str, Any], where: str) -> dict[str, Any]:
    options = {
        parameter.name: parameter
        for parameter in context.command.params
        if parameter.param_type_name == "option" and parameter.name not in _NOT_FOR_CONFIG
    }
    settings = {}
    for key, value in table.items():
        name = key.replace("-", "_")
        if name not in options:
            known = ", ".join(sorted(str(option).replace("_", "-") for option in options))
            raise UsageError(f"unknown option '{key}' in {where}", expected=f"one of {known}")
        many = bool(getattr(options[name], "multiple", False))
        settings[name] = [value] if many and not isinstance(value, list) else value
    return settings


def _command_names(context: typer.Context) -> set[str]:
    group: Any = context.parent.command if context.parent else None
    return set(getattr(group, "commands", {}))
