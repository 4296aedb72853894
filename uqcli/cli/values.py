"""Values of options: what was typed or configured becomes a value of the option's type.

typer would convert too, recent versions by pydantic. Its adapters, one for every option of a command, take
half as long as loading polars, and messages would depend on typer's version. Accepted is what pydantic
accepts.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping
from enum import StrEnum
from types import MappingProxyType
from typing import Any, Final

import typer

from uqcli.base.errors import UsageError
from uqcli.cli.config import truth


def convert(parameter: Any, value: Any, context: typer.Context) -> Any:
    """Return the value of a typer parameter from what was typed or configured; None is no value."""
    kind, is_list = _kind(parameter, context)
    if is_list:
        value = tuple(map(str, value or ()))
    elif value is not None:
        value = _CONVERSIONS.get(kind, _choice)(parameter, value, context)
    if parameter.required and value in (None, ()):
        listed = f". Choose from: {', '.join(choices)}" if (choices := choices_of(parameter, context)) else ""
        missing = f"Missing {parameter.param_type_name} {_named(parameter)}{listed}"
        raise UsageError(missing, remedy=see_help(context))
    return value


def choices_of(parameter: Any, context: typer.Context) -> tuple[str, ...]:
    """Return the values of a parameter that has a choice of them."""
    kind, _ = _kind(parameter, context)
    return tuple(map(str, kind)) if issubclass(kind, StrEnum) else ()


def see_help(context: typer.Context) -> str:
    """Say where the options of a command are explained."""
    return f"see {context.command_path} --help"


def _kind(parameter: Any, context: typer.Context) -> tuple[type, bool]:
    """Return the type of one value of a parameter, and whether it takes several; typer's own are flags."""
    kinds: Mapping[str, tuple[type, bool]] = getattr(context.command.callback, "kinds", {})
    return kinds.get(parameter.name, (bool, False))


def _named(parameter: Any) -> str:
    if parameter.param_type_name == "argument":
        return f"'{parameter.metavar}'"
    return " / ".join(f"'{name}'" for name in parameter.opts)


def _text(_: Any, value: Any, __: typer.Context) -> str:
    return str(value)


def _choice(parameter: Any, value: Any, context: typer.Context) -> Any:
    kind, _ = _kind(parameter, context)
    choices = choices_of(parameter, context)
    if value not in choices:
        listed = ", ".join(map(repr, choices))
        raise _invalid(parameter, f"{value!r} is not one of {listed}.", context)
    return kind(value)


def _flag(parameter: Any, value: Any, context: typer.Context) -> bool:
    is_set = truth(value)
    if is_set is None:
        shown = value.strip() if isinstance(value, str) else value
        raise _refused(parameter, shown, "true or false", context)
    return is_set


_WHOLE: Final = re.compile(r"([+-]?[0-9]+(?:_[0-9]+)*)(?:[.]0+)?")
_MOST_DIGITS: Final = 4300
"""Python reads no longer text as a whole number, since the time grows by the square."""


def _whole_number(parameter: Any, value: Any, context: typer.Context) -> int:
    text = str(value).strip()
    if len(text) > _MOST_DIGITS:
        message = "Unable to parse input string as an integer, exceeded maximum size"
        raise _invalid(parameter, message, context)
    match = _WHOLE.fullmatch(text)
    if match is None:
        raise _refused(parameter, value, "a whole number", context)
    number = int(match[1])
    least, most = _ranges(context).get(parameter.name, (number, number))
    if number < least:
        raise _refused(parameter, value, f"a number of at least {least}", context)
    if number > most:
        raise _refused(parameter, value, f"a number of at most {most}", context)
    return number


def _ranges(context: typer.Context) -> Mapping[str, tuple[int, float]]:
    return getattr(context.command.callback, "ranges", {})


def _number(parameter: Any, value: Any, context: typer.Context) -> float:
    text = str(value)
    if text.isascii():  # Python also reads the digits of other scripts
        try:
            return float(text)
        except ValueError:
            pass
    raise _refused(parameter, value, "a number", context)


_CONVERSIONS: Final[Mapping[type, Callable[[Any, Any, typer.Context], Any]]] = MappingProxyType(
    {str: _text, bool: _flag, int: _whole_number, float: _number}
)


def _refused(parameter: Any, value: Any, expected: str, context: typer.Context) -> UsageError:
    return UsageError(f"{parameter.opts[0]} is '{value}'", expected=expected, remedy=see_help(context))


def _invalid(parameter: Any, message: str, context: typer.Context) -> typer.BadParameter:
    return typer.BadParameter(message, ctx=context, param_hint=_named(parameter))
