"""Command line of a run as shown in its reports, without options that do not change results."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from contextvars import ContextVar
from typing import Any, Final

from uqcli.base.operating_system import join
from uqcli.base.records import dataclass
from uqcli.stores.address import safe_address

_OMITTED: Final = frozenset(
    {
        "output",
        "report",
        "title",
        "plot",
        "json",
        "quiet",
        "verbose",
        "threads",
        "memory",
        "engine",
        "spark",
        "debug",
    }
)
"""Options for outputs and for running the program."""


@dataclass(frozen=True, kw_only=True)
class CommandLine:
    """A command line: the command, its typed part and the configured options."""

    command: str
    typed: str
    configured: str


_line: ContextVar[CommandLine] = ContextVar("line")


def record_line(
    command: str, parameters: Iterable[Any], typed: Mapping[str, Any], configured: Mapping[str, Any]
) -> None:
    """Record the command line of this run, with the values of options and arguments by name.

    ``configured`` has only options that were not typed.
    """
    by_name = {str(parameter.name): parameter for parameter in parameters}
    arguments = [
        text
        for name, value in typed.items()
        if by_name[name].param_type_name == "argument"
        for text in _texts(value)
    ]
    options = _options(by_name, typed)
    if any(argument.startswith("-") and argument != "-" for argument in arguments):
        options, arguments = [], [*options, "--", *arguments]  # names that look like options
    shell_words = ["uqcli", command, *arguments, *options]
    _line.set(
        CommandLine(command=command, typed=join(shell_words), configured=join(_options(by_name, configured)))
    )


def current_line() -> CommandLine:
    """Return the command line recorded last."""
    return _line.get()


def _options(by_name: Mapping[str, Any], values: Mapping[str, Any]) -> list[str]:
    shell_words = []
    for name, value in values.items():
        option = by_name[name]
        if option.param_type_name == "option" and name not in _OMITTED:
            flag = next(name for name in option.opts if name.startswith("--"))
            shell_words += [flag] if option.is_flag else [w for text in _texts(value) for w in (flag, text)]
    return shell_words


def _texts(value: Any) -> list[str]:
    texts = [str(item) for item in value] if isinstance(value, list | tuple) else [str(value)]
    return [safe_address(text) for text in texts]
