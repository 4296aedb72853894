"""Gains and costs as numbers, or as one amount per row."""

from __future__ import annotations

from collections.abc import Collection, Mapping

import numpy as np

from uqcli.api.columns import Column, unused
from uqcli.api.decimals import Decimal, decimal_text
from uqcli.records import dataclass


@dataclass(frozen=True, kw_only=True)
class GainAndCost:
    """Gain of a true positive and cost of a false positive.

    Attributes
    ----------
    texts
        Numbers as text, and names of columns, by role (``gain``, ``cost``).
    columns
        Columns of amounts by name.
    """

    texts: Mapping[str, str]
    columns: Mapping[str, Column]

    @classmethod
    def from_values(cls, taken: Collection[str], **values: Decimal | Column | None) -> GainAndCost:
        """Name the columns differently from those that are taken; values that are None are left out."""
        texts: dict[str, str] = {}
        columns: dict[str, Column] = {}
        for role, value in values.items():
            if value is None:
                continue
            number = value.item() if isinstance(value, np.generic) else value
            if isinstance(number, Decimal):
                texts[role] = decimal_text(role, number)
            else:
                texts[role] = unused(role, {*taken, *columns})
                columns[texts[role]] = value
        return cls(texts=texts, columns=columns)
