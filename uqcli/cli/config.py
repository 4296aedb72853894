"""Options from configuration files and the environment.

Flags override ``UQCLI_<COMMAND>_<OPTION>``. These override ``[tool.uqcli.<command>]`` of the nearest
``uqcli.toml`` or ``pyproject.toml`` upwards. Column names directly in ``[tool.uqcli]`` come last, and are for
every command with such an option. A ``uqcli.toml`` may omit ``tool.uqcli``. Options that exclude each other
override each other in the same order (uqcli.cli.command_line).

A variable ``UQCLI_...`` that names no option gives a caution: it may be meant for another version.

``UQCLI_<COMMAND>_DEBUG``, ``_CONFIG`` and ``_NO_CONFIG`` work like their flags. A configuration file can set
``debug``, but not which file is read.
"""

from __future__ import annotations

import os
import stat
import tomllib
from collections.abc import Iterable, Iterator, Mapping
from keyword import iskeyword
from pathlib import Path
from typing import Any, Final

import typer

from uqcli.base.errors import DataError, UsageError
from uqcli.base.operating_system import user_id
from uqcli.base.running.messages import caution
from uqcli.cli.help import QUESTIONS

Settings = dict[str, Any]

COMMANDS: Final = tuple(QUESTIONS)
"""Command names in the order of the help; each is a function in a module of its name."""

_FILE_OPTIONS: Final = frozenset({"config", "no_config"})
_COLUMN_OPTIONS: Final = frozenset(
    {"score", "uncertainty", "label", "weight", "positive", "proba", "classes"}
)
"""Options allowed outside a command's table."""

_TRUE: Final = frozenset({"1", "true", "t", "yes", "y", "on"})
_FALSE: Final = frozenset({"", "0", "false", "f", "no", "n", "off"})


def read_layers(context: typer.Context, typed: Mapping[str, Any]) -> list[Settings]:
    """Read the options of the environment and of files, highest priority first; ``typed`` choose the file."""
    environment = _from_environment(context)
    chosen = _file_options(typed) or _file_options(environment)
    settings = [{name: value for name, value in environment.items() if name not in _FILE_OPTIONS}]
    if chosen.get("no_config"):
        return settings
    return settings + _from_file(context, chosen.get("config"))


def parse_flag(name: str, value: Any) -> bool:
    """Parse a flag's value from a file or the environment."""
    text = str(value).strip().lower()
    if text not in _TRUE | _FALSE:
        raise UsageError(f"{name} is '{value}'", expected="true or false")
    return text in _TRUE


def _file_options(layer: Mapping[str, Any]) -> Settings:
    """Return the options of one layer that choose the configuration file."""
    settings: Settings = {}
    if layer.get("config") is not None:
        settings["config"] = layer["config"]
    if layer.get("no_config") is not None and parse_flag("no-config", layer["no_config"]):
        settings["no_config"] = True
    if len(settings) == 2:
        raise UsageError("--config and --no-config cannot be combined", remedy="leave one of them out")
    return settings


def _from_file(context: typer.Context, config: str | None) -> list[Settings]:
    if config is not None and "://" in config:
        raise UsageError(f"--config '{config}' is an address", expected="a local file")
    for path in [Path(config)] if config is not None else configuration_files():
        content = _section(path, required=config is not None)
        if content is None:
            continue
        if config is None:
            _require_trust(path, content)
        tables = {name: value for name, value in content.items() if isinstance(value, dict)}
        for name in tables:
            if name not in COMMANDS:
                raise UsageError(
                    f"unknown command '{name}' in '{path}'", expected=f"one of {', '.join(sorted(COMMANDS))}"
                )
        command_options = _settings(context, tables.get(context.info_name or "", {}), f"'{path}'")
        return [command_options, _shared_columns(context, content, path)]
    return []


def _require_trust(path: Path, content: Settings) -> None:
    """Refuse a file that another user may have put there, or that sets where results go."""
    status = path.stat()
    user = user_id()
    if user is not None and status.st_mode & stat.S_IWOTH:
        reason = "which anyone can write"
    elif user is not None and status.st_uid not in {user, 0, Path.cwd().stat().st_uid}:
        reason = f"which belongs to another user (uid {status.st_uid})"
    else:
        reason = next((f"which sets {option}" for option in _unsafe_options(content)), "")
    if reason:
        raise UsageError(
            f"found configuration '{path}', {reason}",
            expected="a file of your own that sets only columns and methods",
            remedy=f"use it with --config {path}, or ignore it with --no-config",
        )


_OUTPUT_OPTIONS: Final = frozenset({"output", "report", "plot", "frontier", "spark"})


def _unsafe_options(content: Settings) -> Iterator[str]:
    """Yield options that set where results go, or that contain an address."""
    for table in (
        content,
        *(table_of_command for table_of_command in content.values() if isinstance(table_of_command, dict)),
    ):
        for name, value in table.items():
            if name in _OUTPUT_OPTIONS:
                yield name
            for item in value if isinstance(value, list) else [value]:
                if isinstance(item, str) and "://" in item:
                    yield f"an address ({name})"


def _shared_columns(context: typer.Context, content: Settings, path: Path) -> Settings:
    """Return column names outside the tables, only those that are options of the command."""
    outside = {name: value for name, value in content.items() if not isinstance(value, dict)}
    stray = sorted(set(outside) - _COLUMN_OPTIONS)
    if stray:
        raise UsageError(
            f"configuration '{path}' has '{stray[0]}' outside a table",
            expected=f"[<command>] tables, and outside them only {', '.join(sorted(_COLUMN_OPTIONS))}",
        )
    known = {name: value for name, value in outside.items() if name in _options_of(context)}
    return _settings(context, known, f"'{path}'")


def configuration_files() -> Iterator[Path]:
    """Yield configuration files from the working directory upwards, nearest first."""
    try:
        folder = Path.cwd()
    except OSError:  # the working directory was deleted
        return
    for directory in (folder, *folder.parents):
        for name in ("uqcli.toml", "pyproject.toml"):
            path = directory / name
            if path.is_file():
                yield path


def _section(path: Path, *, required: bool) -> Settings | None:
    """Return the section of uqcli in a file, or None if there is none."""
    try:
        content: Settings = tomllib.loads(path.read_text("utf-8-sig"), parse_float=str)
    except OSError as error:
        raise DataError(f"cannot read configuration '{path}': {error.strerror}") from error
    except (ValueError, RecursionError) as error:  # ValueError: also integers of thousands of digits
        raise UsageError(f"configuration '{path}' is not TOML: {error}") from error
    tool = content.get("tool")
    section = tool.get("uqcli") if isinstance(tool, dict) else None
    if section is None and path.name != "pyproject.toml" and tool is None:
        section = content
    if section is None:
        if required:
            raise UsageError(f"configuration '{path}' has no [tool.uqcli.<command>]")
        return None
    if not isinstance(section, dict):
        raise UsageError(f"configuration '{path}' has no table [tool.uqcli]", expected="[<command>] tables")
    return section


def _from_environment(context: typer.Context) -> Settings:
    start, options = _prefix(str(context.info_name)), _options_of(context)
    settings = {}
    for name, value in sorted(os.environ.items()):
        option = _parameter(name.removeprefix(start).lower())
        if name.startswith(start) and option in {*options, *_FILE_OPTIONS}:
            settings[option] = value
        elif name.startswith(_VARIABLE_PREFIX) and (name.startswith(start) or not name.startswith(_PREFIXES)):
            _caution(name, [*(f"{start}{option.rstrip('_').upper()}" for option in options), *_PREFIXES])
    file_options = {name: settings.pop(name) for name in _FILE_OPTIONS & set(settings)}
    return _settings(context, settings, f"the environment ({start}...)") | file_options


_VARIABLE_PREFIX: Final = "UQCLI_"


def _prefix(command: str) -> str:
    return f"{_VARIABLE_PREFIX}{command}_".upper().replace("-", "_")


_PREFIXES: Final = tuple(map(_prefix, COMMANDS))


def _caution(name: str, known: Iterable[str]) -> None:
    """Caution that a variable has no effect, with a similar name if there is one."""
    import difflib

    matches = difflib.get_close_matches(name, known, n=1, cutoff=0.8)
    hint = next(
        (f": did you mean {candidate}{'...' if candidate in _PREFIXES else ''}?" for candidate in matches),
        ".",
    )
    caution(f"The environment variable {name} has no effect{hint}")


def _settings(context: typer.Context, table: Settings, where: str) -> Settings:
    options = _options_of(context)
    settings = {}
    for key, value in table.items():
        name = _parameter(key.replace("-", "_"))
        if name not in options:
            known = ", ".join(sorted(option.rstrip("_").replace("_", "-") for option in options))
            raise UsageError(f"unknown option '{key}' in {where}", expected=f"one of {known}")
        is_repeatable = bool(getattr(options[name], "multiple", False))
        if not is_repeatable and isinstance(value, list | dict):
            raise UsageError(
                f"option '{key}' in {where} is a {'list' if isinstance(value, list) else 'table'}",
                expected="one value",
                remedy="write several columns as one string, 'a,b'",
            )
        if not getattr(options[name], "is_flag", False):
            _require_no_truth(key, value, where)
        settings[name] = [value] if is_repeatable and not isinstance(value, list) else value
    return settings


def _require_no_truth(option: str, value: Any, where: str) -> None:
    """Refuse true and false where a number or a text is expected: Python takes true for 1."""
    for item in value if isinstance(value, list) else [value]:
        if isinstance(item, bool):
            raise UsageError(
                f"option '{option}' in {where} is {str(item).lower()}",
                expected="a number or a text in quotes",
            )


def _parameter(option: str) -> str:
    """Return the parameter of an option, which has an underscore more if it is a Python keyword."""
    return f"{option}_" if iskeyword(option) else option


def _options_of(context: typer.Context) -> dict[str, Any]:
    return {
        str(parameter.name): parameter
        for parameter in context.command.params
        if parameter.param_type_name == "option" and parameter.name not in _FILE_OPTIONS | {"help"}
    }
