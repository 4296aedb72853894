"""Options from configuration files and the environment.

Flags override ``UQCLI_<COMMAND>_<OPTION>``. These override ``[tool.uqcli.<command>]`` of the nearest
``uqcli.toml`` or ``pyproject.toml`` upwards. What stands directly in ``[tool.uqcli]`` comes last, even after
the columns of a rule, and is for every command with such an option. A ``uqcli.toml`` may omit ``tool.uqcli``.
Options that exclude each other override each other in the same order (uqcli.cli.command_line).

A file that was found, rather than named with ``--config``, may have been put there by somebody else. It is
parsed only if it belongs to who may be trusted, and may not set ``guarded`` options (uqcli.base.options).

A variable ``UQCLI_...`` that names no option gives a caution: it may be meant for another version.

``UQCLI_<COMMAND>_DEBUG``, ``_CONFIG`` and ``_NO_CONFIG`` work like their flags. A configuration file can set
``debug``, but not which file is read.
"""

from __future__ import annotations

import os
import re
import stat
import tomllib
from collections.abc import Iterable, Iterator, Mapping
from contextlib import suppress
from keyword import iskeyword
from pathlib import Path
from typing import Any, Final

import typer

from uqcli.base.choices import OnInvalid
from uqcli.base.errors import DataError, UsageError, words
from uqcli.base.operating_system import NO_WAIT, user_id
from uqcli.base.running.messages import caution
from uqcli.base.wording import printable, similar_names
from uqcli.cli.help import QUESTIONS
from uqcli.jobs.declared import Declaration
from uqcli.jobs.shell import Setting, Settings
from uqcli.jobs.values import truth

COMMANDS: Final = tuple(QUESTIONS)
"""Command names in the order of the help; each is a function in a module of its name."""

_FILE_OPTIONS: Final = frozenset({"config", "no_config"})
_NOT_CONFIGURED: Final = _FILE_OPTIONS | {"help", "show_settings"}

MAX_BYTES: Final = 1 << 20
"""Largest configuration file."""

_MOST_PARTS: Final = 50
_TOML_TEXT: Final = re.compile(r'"(?:[^"\\\n]|\\.)*"|\'[^\'\n]*\'')
_LONG_KEY: Final = re.compile(rf"(?<![\w-])(?:[\w-]+[ \t]*[.][ \t]*){{{_MOST_PARTS}}}")
"""Key of many dotted parts, for which the parser needs memory and time by the square of their number."""


def read_layers(context: typer.Context, typed: Mapping[str, Any]) -> list[Settings]:
    """Read the options of the environment and of files, highest priority first; ``typed`` choose the file."""
    environment = _from_environment(context)
    chosen = _file_options(typed) or _file_options({name: each.value for name, each in environment.items()})
    layers: list[Settings] = [
        {name: setting for name, setting in environment.items() if name not in _FILE_OPTIONS}
    ]
    if chosen.get("no_config"):
        return layers
    return layers + _from_file(context, chosen.get("config"))


def parse_flag(name: str, value: Any) -> bool:
    """Parse a flag's value from a file or the environment."""
    is_set = truth(value)
    if is_set is None:
        raise UsageError(f"{name} is '{value}'", expected="true or false")
    return is_set


def _file_options(values: Mapping[str, Any]) -> dict[str, Any]:
    """Return the options of one layer that choose the configuration file."""
    chosen: dict[str, Any] = {}
    if values.get("config") is not None:
        chosen["config"] = values["config"]
    if values.get("no_config") is not None and parse_flag("no-config", values["no_config"]):
        chosen["no_config"] = True
    if len(chosen) == 2:
        raise UsageError(words("--config and --no-config cannot be combined"), remedy="leave one of them out")
    return chosen


def _from_file(context: typer.Context, config: str | None) -> list[Settings]:
    if config is None:
        for path in configuration_files():
            section = _section_found(path)
            if section is not None:
                return _layers(context, section, path, is_found=True)
        return []
    if "://" in config:
        raise UsageError(words("--config '{}' is an address", config), expected="a local file")
    path = Path(config)
    try:
        with path.open("rb") as stream:
            content = stream.read(MAX_BYTES + 1)
    except OSError as error:
        raise DataError(f"cannot read configuration '{path}': {error.strerror}") from error
    section = _section(path, content)
    if section is None:
        raise UsageError(f"configuration '{path}' has no [tool.uqcli.<command>]")
    return _layers(context, section, path, is_found=False)


def _layers(
    context: typer.Context, section: Mapping[str, Any], path: Path, *, is_found: bool
) -> list[Settings]:
    """Return the table of the command, and what a file sets for all commands."""
    tables = {name: value for name, value in section.items() if isinstance(value, dict)}
    for name in tables:
        if name not in {*COMMANDS, "schema"}:  # which is an option of show now
            raise UsageError(
                f"unknown command '{name}' in '{path}'", expected=f"one of {', '.join(sorted(COMMANDS))}"
            )
    command = context.info_name or ""
    own = _settings(context, tables.get(command, {}), f"'{path}'", place=f"[{command}] of {_relative(path)}")
    if is_found:
        _refuse_guarded(context, own, path)
    return [own, _shared(context, section, path)]


def _relative(path: Path) -> str:
    """Quote the path from the working directory, so that a report has the same bytes wherever it is made."""
    return f"'{os.path.relpath(path)}'"


def _declaration(context: typer.Context) -> Declaration:
    declaration: Declaration = context.command.callback.declaration  # type: ignore[union-attr]
    return declaration


def _refuse_guarded(context: typer.Context, settings: Settings, path: Path) -> None:
    """Refuse options that a file may not set that nobody named."""
    for name in settings:
        if _declaration(context).options[name].field.metadata["guarded"]:
            raise UsageError(
                f"found configuration '{path}', which sets {_option(name)}",
                expected="columns, methods and targets",
                remedy=words("use it with --config {}, or ignore it with --no-config", path),
            )


def _shared(context: typer.Context, section: Mapping[str, Any], path: Path) -> Settings:
    """Return what stands outside the tables of commands, as far as the command has such an option."""
    outside = {name: value for name, value in section.items() if not isinstance(value, dict)}
    stray = sorted(name for name in outside if _parameter(name.replace("-", "_")) not in _SHARED)
    if stray:
        raise UsageError(
            f"configuration '{path}' has '{stray[0]}' outside a table",
            expected=f"[<command>] tables, and outside them only {', '.join(map(_option, sorted(_SHARED)))}",
        )
    known = {name: value for name, value in outside.items() if name.replace("-", "_") in _options_of(context)}
    settings = _settings(context, known, f"'{path}'", place=_relative(path), is_shared=True)
    invalid = settings.get("on_invalid")
    if invalid is not None and str(invalid.value) == OnInvalid.KEEP:
        raise UsageError(
            f"configuration '{path}' has on-invalid = '{OnInvalid.KEEP}' for all commands",
            expected=f"{OnInvalid.ERROR} or {OnInvalid.DROP}",
            remedy="set it in [apply]",
        )
    return settings


_SHARED: Final = frozenset(
    {
        *("score", "uncertainty", "label", "weight", "positive", "proba", "classes", "day", "cluster"),
        *("format", "delimiter", "decimal", "null_value", "on_invalid"),
    }
)
"""Options that a configuration may set once for all commands that have them: columns, and how to read."""


def configuration_files() -> Iterator[Path]:
    """Yield names of configuration files from the working directory upwards, nearest first."""
    try:
        folder = Path.cwd()
    except OSError:  # the working directory was deleted
        return
    for directory in (folder, *folder.parents):
        for name in ("uqcli.toml", "pyproject.toml"):
            path = directory / name
            if os.path.lexists(path):
                yield path


def _section_found(path: Path) -> dict[str, Any] | None:
    """Return the section of uqcli in a file that was found; None if it has none, or is not to be used.

    A broken file stops the run where the user works or means uqcli. A broken ``pyproject.toml`` above may be
    anybody's.
    """
    must_be_read = path.name == "uqcli.toml" or path.parent == Path.cwd()
    try:
        content, reason = _trusted_content(path)
    except OSError as error:
        with suppress(OSError):
            if must_be_read and not _distrust(path.stat()):
                raise DataError(f"cannot read configuration '{path}': {error.strerror}") from error
        content, reason = b"", "which cannot be read"
    if not reason:
        try:
            return _section(path, content)
        except UsageError as error:
            if must_be_read:
                raise
            reason = f"which is broken ({printable(error.found)})"
    caution("unused-configuration", f"The configuration '{path}', {reason}, is not used.")
    return None


def _trusted_content(path: Path) -> tuple[bytes, str]:
    """Return the content of a file, and why it is not to be trusted; then it is not read."""
    descriptor = os.open(path, os.O_RDONLY | NO_WAIT)  # a FIFO would wait for a writer
    try:
        status = os.fstat(descriptor)  # of the open file: the name may be another file's by now
        reason = _distrust(status) if stat.S_ISREG(status.st_mode) else "which is no regular file"
        if reason:
            return b"", reason
        with open(os.dup(descriptor), "rb") as stream:  # noqa: PTH123
            return stream.read(MAX_BYTES + 1), ""
    finally:
        os.close(descriptor)


def _distrust(status: os.stat_result) -> str:
    """Say why a file may have been put there by another user; empty if it has not."""
    user = user_id()
    if user is None:  # Windows says neither who owns a file nor who may write it
        return ""
    if status.st_mode & stat.S_IWOTH:
        return "which anyone can write"
    if status.st_uid not in {user, 0, Path.cwd().stat().st_uid}:
        return f"which belongs to another user (uid {status.st_uid})"
    return ""


def _section(path: Path, content: bytes) -> dict[str, Any] | None:
    """Return the section of uqcli in a file, or None if there is none."""
    if len(content) > MAX_BYTES:
        raise UsageError(f"configuration '{path}' is larger than {MAX_BYTES >> 20} MB", expected="options")
    try:
        text = content.decode("utf-8-sig")
        if _LONG_KEY.search(_TOML_TEXT.sub("q", text)):
            raise UsageError(
                f"configuration '{path}' has a key of more than {_MOST_PARTS} parts", expected="options"
            )
        parsed: dict[str, Any] = tomllib.loads(text, parse_float=str)
    except (ValueError, RecursionError) as error:  # ValueError: also integers of thousands of digits
        raise UsageError(f"configuration '{path}' is not TOML: {error}") from error
    tool = parsed.get("tool")
    section = tool.get("uqcli") if isinstance(tool, dict) else None
    if section is None and path.name != "pyproject.toml" and tool is None:
        return parsed
    if section is None:
        return None
    if not isinstance(section, dict):
        raise UsageError(f"configuration '{path}' has no table [tool.uqcli]", expected="[<command>] tables")
    return section


def _from_environment(context: typer.Context) -> Settings:
    start, options = _prefix(str(context.info_name)), _options_of(context)
    values, file_options = {}, {}
    for name, value in sorted(os.environ.items()):
        option = _parameter(name.removeprefix(start).lower())
        if name.startswith(start) and option in _FILE_OPTIONS:
            file_options[option] = Setting(value=value, place=name)
        elif name.startswith(start) and option in options:
            values[option] = value
        elif name.startswith(_VARIABLE_PREFIX) and (name.startswith(start) or not name.startswith(_PREFIXES)):
            _caution(name, [*(f"{start}{_variable(option)}" for option in options), *_PREFIXES])
    settings = _settings(context, values, f"the environment ({start}...)", place="")
    named = {
        name: Setting(value=setting.value, place=f"{start}{_variable(name)}")
        for name, setting in settings.items()
    }
    return named | file_options


_VARIABLE_PREFIX: Final = "UQCLI_"


def _prefix(command: str) -> str:
    return f"{_VARIABLE_PREFIX}{command}_".upper().replace("-", "_")


_PREFIXES: Final = tuple(map(_prefix, COMMANDS))


def _variable(parameter: str) -> str:
    return parameter.rstrip("_").upper()


def _caution(name: str, known: Iterable[str]) -> None:
    """Caution that a variable has no effect, with a similar name if there is one."""
    matches = similar_names(name, known, most=1, cutoff=0.8)
    hint = next(
        (f": did you mean {candidate}{'...' if candidate in _PREFIXES else ''}?" for candidate in matches),
        ".",
    )
    caution("unused-configuration", f"The environment variable {name} has no effect{hint}")


def _settings(
    context: typer.Context, table: Mapping[str, Any], where: str, *, place: str, is_shared: bool = False
) -> Settings:
    options = _options_of(context)
    settings = {}
    for key, value in table.items():
        name = _parameter(key.replace("-", "_"))
        if name not in options:
            known = ", ".join(sorted(map(_option, options)))
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
        listed = [value] if is_repeatable and not isinstance(value, list) else value
        settings[name] = Setting(value=listed, place=place, is_shared=is_shared)
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


def _option(parameter: str) -> str:
    """Return an option as files write it."""
    return parameter.rstrip("_").replace("_", "-")


def _options_of(context: typer.Context) -> dict[str, Any]:
    return {
        str(parameter.name): parameter
        for parameter in context.command.params
        if parameter.param_type_name == "option" and parameter.name not in _NOT_CONFIGURED
    }
