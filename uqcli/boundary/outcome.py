"""Outcome of a search, of which its report and its rule file are made: what was asked, and parts."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from enum import StrEnum
from functools import cached_property
from typing import Any, Self

from uqcli.base.records import dataclass
from uqcli.boundary.calibration import Calibration
from uqcli.boundary.expected import Expected
from uqcli.boundary.search.thresholds import FittedBoundary
from uqcli.boundary.statements import LAYOUT, BoundaryPart, Phrases
from uqcli.reports.parts import Composition


@dataclass(frozen=True, kw_only=True, eq=False)
class Outcome:
    """What a search for one bound came to."""

    calibration: Calibration
    parts: Sequence[BoundaryPart]

    @cached_property
    def story(self) -> Composition[Phrases]:
        """The parts together."""
        return Composition(layout=LAYOUT, parts=[self.calibration, *self.parts], plain_phrases=Phrases())

    def said(self, slot: StrEnum) -> list[Any]:
        """Return what the parts say in a slot."""
        return self.story.said(slot)

    def says(self, name: str) -> list[Any]:
        """Return the bodies of one statement; empty where it is not said."""
        return self.story.says(name)

    def beside(self, *parts: BoundaryPart) -> Self:
        """Return the outcome with more parts."""
        return replace(self, parts=(*self.parts, *parts))


@dataclass(frozen=True, kw_only=True, eq=False)
class Found(Outcome):
    """A rule was found; what to expect of it is None if not estimated, or if it is certified."""

    boundary: FittedBoundary
    expected: Expected | None


@dataclass(frozen=True, kw_only=True, eq=False)
class NotFound(Outcome):
    """No rule was found."""
