"""A limit of alerts: what it is relative to, and what to expect of it in new files."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from typing import ClassVar

from uqcli.base.records import dataclass
from uqcli.base.wording import count, percent, rows_of
from uqcli.boundary.rule_words import EXPECTED_RANGE
from uqcli.boundary.statements import BoundaryPart, Phrases, Remark
from uqcli.estimates.estimate import Estimate
from uqcli.estimates.proportion import proportion_estimate
from uqcli.reports.document import Metrics
from uqcli.reports.parts import Statement

_MIN_ROUNDED_SHARE = 0.001
"""Share of rows from which one decimal of a percentage is enough."""


_DAILY = " For N alerts a day: apply --top N --per DAY."


def file_limit(rows: int, *, orders_rows: bool) -> BoundaryPart:
    """Return the part of a number of alerts, which is for a file like this one.

    ``orders_rows`` says whether the rule orders rows, as a daily capacity needs.
    """
    return Remark(said=[("limit", f"{_like_this_one(rows)}{_DAILY if orders_rows else ''}")])


def _like_this_one(rows: int) -> str:
    return f"The limit is for a file of {rows_of(rows)}, like this one."


@dataclass(frozen=True, kw_only=True)
class ShareLimit(BoundaryPart):
    """A limit of a share of rows, of a rule that flags ``selected`` of the calibration rows."""

    rank: ClassVar = 2

    rows: int
    selected: int
    orders_rows: bool

    def statements(self, phrases: Phrases) -> Iterator[Statement]:
        yield "limit", f"{self._limit(phrases)}{_DAILY if self.orders_rows else ''}"

    def _limit(self, phrases: Phrases) -> str:
        return f"{_like_this_one(self.rows)}{phrases.limit_also}"


@dataclass(frozen=True, kw_only=True)
class ExpectedShare(ShareLimit):
    """A limit of a share of independent rows, so that the share of new rows has a range."""

    def reworded(self, phrases: Phrases) -> Phrases:
        expected = f"Of new rows, expect {_in_words(_share(phrases))} to be flagged (90 % range)."
        return replace(phrases, expected_also=(*phrases.expected_also, expected))

    def _limit(self, phrases: Phrases) -> str:
        here = f"{count(self.selected)} of {rows_of(self.rows)} are flagged here"
        return f"{here}; in new files expect {_in_words(_share(phrases))} (90 % range)."

    def metrics(self, phrases: Phrases) -> Metrics:
        return {"expected": {"share": _share(phrases)}}


def _share(phrases: Phrases) -> Estimate:
    """Return the share of new rows that is flagged."""
    return proportion_estimate(*phrases.flagged, EXPECTED_RANGE)


def _in_words(share: Estimate) -> str:
    ends = (share.low, share.high)
    digits = 1 if min(end or 0 for end in ends) >= _MIN_ROUNDED_SHARE else 3
    low, high = (percent(end, digits) for end in ends)
    return f"{low.removesuffix(' %')} to {high}"
