"""Convert Python keywords to options: texts to choices, with suggestions for mistyped names."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import fields
from difflib import get_close_matches
from enum import StrEnum
from typing import Any, TypeVar, get_type_hints

from uqcli.base.errors import UsageError

ChoiceT = TypeVar("ChoiceT", bound=StrEnum)
OptionsT = TypeVar("OptionsT")


def choice(name: str, kind: type[ChoiceT], value: str) -> ChoiceT:
    """Convert a text to a choice.

    Raises
    ------
    UsageError
        It is not a valid choice.
    """
    try:
        return kind(value)
    except ValueError:
        raise UsageError(f"{name} '{value}'", expected=f"one of {', '.join(kind)}") from None


def options_of(kind: type[OptionsT], options: Mapping[str, Any]) -> OptionsT:
    """Build options from keywords, converting texts to choices.

    Raises
    ------
    UsageError
        An option or a choice does not exist.
    """
    types = get_type_hints(kind)
    hints = {field.name: types[field.name] for field in fields(kind)}  # type: ignore[arg-type]  # a data class
    for name in options:
        if name not in hints:
            similar_names = get_close_matches(name, hints, n=3) or list(hints)
            raise UsageError(f"unknown option '{name}'", expected=f"one of {', '.join(similar_names)}")
    return kind(
        **{
            name: choice(name, hints[name], value)
            if isinstance(hints[name], type) and issubclass(hints[name], StrEnum)
            else value
            for name, value in options.items()
        }
    )
