"""Fast conversion of option values, without typer's pydantic adapters.

Recent versions of typer build an adapter for every option of a command, set or not. This takes half as long
as loading polars. Texts, choices and plain numbers need no adapter. All else and all errors go to
typer, so that its messages stay.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from enum import StrEnum
from typing import Any, Final, get_args, get_origin

_NUMBERS: Final[Mapping[Any, re.Pattern[str]]] = {
    int: re.compile("[0-9]{1,18}"),
    float: re.compile("[0-9]{1,15}([.][0-9]{1,15})?"),
}
"""Plain numbers by type; typer parses other notations."""


def with_fast_conversion(parameters: list[Any]) -> list[Any]:
    """Set the fast conversion on typer's parameters; versions of typer without adapters need none."""
    for parameter in parameters:
        conversion = getattr(parameter, "get_runtime_param", None)
        if conversion is not None and not isinstance(conversion, _FastConversion):
            parameter.get_runtime_param = _FastConversion(parameter)
    return parameters


class _FastConversion:
    """Fast conversion of one parameter; calls typer's conversion only if needed."""

    def __init__(self, parameter: Any) -> None:
        self._typer_conversion = parameter.get_runtime_param
        self._annotation = parameter.type_descriptor.annotation
        self._range = parameter.type_descriptor.parameter_info

    def __call__(self) -> _FastConversion:
        return self

    def coerce(self, value: Any, param: Any, ctx: Any) -> Any:
        """Convert a parameter's text or its default."""
        several = param.multiple or param.nargs == -1
        if value is None:
            return () if several else None
        if several and get_args(self._annotation) == (str,) and isinstance(value, list | tuple):
            if get_origin(self._annotation) is list and all(isinstance(item, str) for item in value):
                return list(value)
        elif not several:
            converted = _simple_value(value, self._annotation)
            if converted is not None and self._in_range(converted):
                return converted
        return self._typer_conversion().coerce(value, param=param, ctx=ctx)

    def _in_range(self, value: Any) -> bool:
        """Whether a value is in the parameter's range, if it has one."""
        low, high = self._range.min, self._range.max
        return (low is None or value >= low) and (high is None or value <= high)


def _simple_value(value: Any, annotation: Any) -> Any:
    """Convert a value to a simple type; None if typer must convert it."""
    if not isinstance(annotation, type):
        return None
    if type(value) is annotation:
        return value
    if not isinstance(value, str):
        return None
    if issubclass(annotation, StrEnum):
        return next((choice for choice in annotation if choice == value), None)
    pattern = _NUMBERS.get(annotation)
    if pattern is None or not pattern.fullmatch(value):
        return None
    return int(value) if annotation is int else float(value)
