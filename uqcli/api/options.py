"""Options as people write them in Python: texts for choices, and names that may be mistyped."""

from __future__ import annotations

from collections.abc import Mapping
from difflib import get_close_matches
from enum import StrEnum
from typing import Any, TypeVar, get_type_hints

from uqcli.errors import UsageError

ChoiceT = TypeVar("ChoiceT", bound=StrEnum)
OptionsT = TypeVar("OptionsT")


def choice(name: str, kind: type[ChoiceT], value: str) -> ChoiceT:
    """A choice by its text.

    Raises
    ------
    UsageError
        There is none of that text.
    """
    try:
        return kind(value)
    except ValueError:
        raise UsageError(f"{name} '{value}'", expected=f"one of {', '.join(kind)}") from None


def options_of(kind: type[OptionsT], given: Mapping[str, Any]) -> OptionsT:
    """Options from keywords: texts become choices where choices are meant.

    Raises
    ------
    UsageError
        An option does not exist, or a choice does not.
    """
    hints = get_type_hints(kind)
    for name in given:
        if name not in hints:
            near = get_close_matches(name, hints, n=3) or list(hints)
            raise UsageError(f"unknown option '{name}'", expected=f"one of {', '.join(near)}")
    return kind(
        **{
            name: choice(name, hints[name], value)
            if isinstance(hints[name], type) and issubclass(hints[name], StrEnum)
            else value
            for name, value in given.items()
        }
    )
