"""Thresholds of prediction sets by group, or of all rows alike."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Annotated

import msgspec
import numpy as np
from msgspec import Meta

from uqcli.base.counts import Floats, Ints, texts_by_level
from uqcli.base.rows import Rows
from uqcli.engines.request import FeatureRequest
from uqcli.rules.expressions import Column, Constant, Expression, lookup
from uqcli.rules.saved import Count

_OTHER_GROUPS = "its groups are not those of its parameters"


class NoGroups:
    """All rows have the thresholds of their classes."""

    names: Sequence[str] = ()
    thresholds: Sequence[Sequence[float]] = ()

    def contradiction(self, by: str | None) -> str:
        """Describe why they are not those of a column; empty if they are."""
        return "" if by is None else _OTHER_GROUPS

    def features(self) -> tuple[FeatureRequest, ...]:
        """Return the column of groups, if there is one."""
        return ()

    def of_rows(self, thresholds: Floats, rows: Rows) -> Floats:
        """Return the thresholds of each row, given those of each group and then of all others."""
        del rows
        return thresholds

    def columns(self) -> tuple[Column, ...]:
        """Return the columns that its thresholds depend on."""
        return ()

    def exported(self, class_index: int, others: float) -> Expression:
        """Return the threshold of a class as an expression, given that of rows of no group."""
        del class_index
        return Constant(others)

    def where_covered(self, by_mode: str) -> str:
        """Say for which rows the coverage is guaranteed, given what the mode says of it."""
        return by_mode


class SavedGroups(msgspec.Struct, frozen=True, kw_only=True):
    """Thresholds by group: one row per group, one column per class.

    ``calibration_rows``: weight of each group's calibration rows; None in files of version 0.1.0.
    """

    column: str
    names: Annotated[list[str], Meta(min_length=1)]
    thresholds: Annotated[list[list[float]], Meta(min_length=1)]
    calibration_rows: list[Count] | None = None

    def contradiction(self, by: str | None) -> str:
        """See NoGroups; first what contradicts itself."""
        if by is None:
            return _OTHER_GROUPS
        if len(set(self.names)) != len(self.thresholds) or len(self.names) != len(self.thresholds):
            return "its groups do not have thresholds each"
        if self.calibration_rows is not None and len(self.calibration_rows) != len(self.names):
            return "its groups do not have calibration rows each"
        return "" if self.column == by else _OTHER_GROUPS

    def features(self) -> tuple[FeatureRequest, ...]:
        """See NoGroups."""
        return (FeatureRequest(name=self.column, text=True, levels=tuple(self.names)),)

    def of_row(self, rows: Rows) -> Ints:
        """Return the group index of each row, the last one for unknown groups."""
        level_index = rows.features[self.column].value.astype(np.int64)
        return np.where(level_index < 0, len(self.names), level_index)

    def of_rows(self, thresholds: Floats, rows: Rows) -> Floats:
        """See NoGroups."""
        chosen: Floats = thresholds[self.of_row(rows)]
        return chosen

    def columns(self) -> tuple[Column, ...]:
        """See NoGroups."""
        return (Column(name=self.column, kind="text"),)

    def exported(self, class_index: int, others: float) -> Expression:
        """See NoGroups."""
        texts_of_groups = [(texts,) for texts in texts_by_level(self.names).values()]
        thresholds = [Constant(of_group[class_index]) for of_group in self.thresholds]
        return lookup(self.columns(), texts_of_groups, thresholds, Constant(others))

    def where_covered(self, by_mode: str) -> str:
        """See NoGroups."""
        del by_mode
        return "in each group"
