"""Values of options: what was typed, configured or given becomes a value of the option's type.

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

from uqcli.jobs.declared import Parameter

_TRUE: Final = frozenset({"1", "true", "t", "yes", "y", "on"})
_FALSE: Final = frozenset({"", "0", "false", "f", "no", "n", "off"})


class UnusableValueError(ValueError):
    """A text is no value of an option; ``expected`` says what is, or is empty if the option has choices."""

    def __init__(self, text: str, expected: str = "") -> None:
        super().__init__(text)
        self.text, self.expected = text, expected


def value_of(parameter: Parameter, value: Any) -> Any:
    """Return one value of an option or argument, of its type.

    Raises UnusableValueError.
    """
    return _CONVERSIONS.get(parameter.kind, _choice)(parameter, value)


def choices_of(parameter: Parameter) -> tuple[str, ...]:
    """Return the values of a parameter that has a choice of them."""
    return tuple(map(str, parameter.kind)) if issubclass(parameter.kind, StrEnum) else ()


def truth(value: Any) -> bool | None:
    """Read a word for true or false; None if it is neither."""
    text = str(value).strip().lower()
    return text in _TRUE if text in _TRUE | _FALSE else None


def _text(_: Parameter, value: Any) -> str:
    return value if isinstance(value, str) else str(value)  # what is in memory stays what it is


def _choice(parameter: Parameter, value: Any) -> Any:
    if value not in choices_of(parameter):
        raise UnusableValueError(value)
    return parameter.kind(value)


def _flag(_: Parameter, value: Any) -> bool:
    is_set = truth(value)
    if is_set is None:
        raise UnusableValueError(value.strip() if isinstance(value, str) else value, "true or false")
    return is_set


_WHOLE: Final = re.compile(r"([+-]?[0-9]+(?:_[0-9]+)*)(?:[.]0+)?")
MOST_DIGITS: Final = 4300
"""Python reads no longer text as a whole number, since the time grows by the square."""


def _whole_number(parameter: Parameter, value: Any) -> int:
    text = str(value).strip()
    match = None if len(text) > MOST_DIGITS else _WHOLE.fullmatch(text)
    if match is None:
        raise UnusableValueError(value, "a whole number")
    number, (least, most) = int(match[1]), parameter.range
    if number < least:
        raise UnusableValueError(value, f"a number of at least {least}")
    if number > most:
        raise UnusableValueError(value, f"a number of at most {most}")
    return number


def _number(_: Parameter, value: Any) -> float:
    text = str(value)
    if text.isascii():  # Python also reads the digits of other scripts
        try:
            return float(text)
        except ValueError:
            pass
    raise UnusableValueError(value, "a number")


_CONVERSIONS: Final[Mapping[type, Callable[[Parameter, Any], Any]]] = MappingProxyType(
    {str: _text, bool: _flag, int: _whole_number, float: _number}
)
