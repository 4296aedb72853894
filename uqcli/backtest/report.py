"""Report of ``uqcli backtest``: in how many periods the target was met, and what that can tell."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from enum import StrEnum, auto
from functools import cached_property
from typing import Any, Final

from uqcli.base.records import dataclass
from uqcli.reports.document import Document, HeadCard, Metrics, OneResult, OnTerminal, head_of, plain
from uqcli.reports.parts import Composition, Layout, Remarks, Statement, place
from uqcli.rules.saved import Source


class Fact(StrEnum):
    """What may be taken for granted of a history, unless a part voids it."""

    TARGET = auto()
    """There is a bound to meet."""


class Slot(StrEnum):
    """Where statements stand. The first of an exclusive slot alone is shown."""

    TITLE = auto()
    """Exclusive."""

    LEAD = auto()
    CAUTION = auto()
    NOTE = auto()
    TABLE = auto()
    FIGURE = auto()
    NUMBER = auto()
    VERDICT = auto()
    """Exclusive."""


@dataclass(frozen=True, kw_only=True)
class Remark(Remarks[None]):
    """A part of the result, with its tables and figures; none of them changes what another says."""

    shown: Sequence[Statement] = ()

    def exhibits(self, phrases: None) -> Iterator[Statement]:  # noqa: ARG002
        """See Part."""
        yield from self.shown


LAYOUT: Final = Layout(
    facts=frozenset(Fact),
    places={
        "nothing-counted": place(Slot.TITLE),
        "met": place(Slot.TITLE, Fact.TARGET),
        "measured": place(Slot.TITLE),
        "others": place(Slot.LEAD, Fact.TARGET),
        "beyond-chance": place(Slot.LEAD, Fact.TARGET),
        "left-out": place(Slot.LEAD),
        "alarms": place(Slot.LEAD),
        "compared": place(Slot.LEAD),
        "ageing": place(Slot.LEAD),
        "trend": place(Slot.LEAD),
        "next": place(Slot.LEAD),
        "scores-at-the-time": place(Slot.CAUTION),
        "no-rule": place(Slot.CAUTION),
        "seen": place(Slot.NOTE),
        "not-counted": place(Slot.NOTE),
        "undecided": place(Slot.NOTE),
        "about-met": place(Slot.NOTE, Fact.TARGET),
        "about-verdicts": place(Slot.NOTE, Fact.TARGET),
        "about-policies": place(Slot.NOTE),
        "about-next": place(Slot.NOTE),
        "no-watch": place(Slot.NOTE),
        "policies": place(Slot.TABLE),
        "periods": place(Slot.TABLE),
        "comparisons": place(Slot.TABLE),
        "rules": place(Slot.TABLE),
        "by-period": place(Slot.FIGURE),
        "by-age": place(Slot.FIGURE),
        "numbers": place(Slot.NUMBER),
        "verdict": place(Slot.VERDICT),
    },
    metrics=("periods", "alerts", "first", "after_alarm", "each_period", "capacity", "next"),
    keys=(
        *("metrics", "periods", "policies", "rules", "triangle", "comparisons", "ageing", "trend", "next"),
        "notes",
    ),
)
"""Layout of the report. With several margins, each policy has its metrics under a name with its margin."""

_LINES: Final = 44


@dataclass(frozen=True, kw_only=True)
class BacktestReport(OneResult):
    """What rules did in the periods after they were fitted."""

    source: Source
    parameters: Mapping[str, Any]
    parts: Sequence[Remark]

    @cached_property
    def _story(self) -> Composition[None]:
        return Composition(layout=LAYOUT, parts=self.parts, plain_phrases=None)

    @property
    def metrics(self) -> Metrics:
        """Counts of each policy, and the range of the next period."""
        return self._story.metrics()

    def payload(self) -> dict[str, Any]:
        """Return the JSON form."""
        said = self._story.said
        notes = [*said(Slot.LEAD), *said(Slot.CAUTION), *said(Slot.NOTE)]
        keys = self._story.payload(metrics=plain(self.metrics), notes=notes)
        return {**head_of("backtest", self.source, self.parameters), **keys}

    def document(self) -> Document:
        """Return the readable form."""
        said, shown, title = self._story.said, self._story.shown, str(self._story.first(Slot.TITLE))
        return Document(
            title=title,
            lead=said(Slot.LEAD),
            tables=shown(Slot.TABLE),
            cautions=said(Slot.CAUTION),
            notes=said(Slot.NOTE),
            figures=shown(Slot.FIGURE),
            card=HeadCard(
                title=title.removesuffix("."),
                verdict=self._story.first(Slot.VERDICT, None),
                numbers=said(Slot.NUMBER),
                subject="A walk through {inputs}: rules are fitted at the start of each period, and "
                "measured on it and later ones.",
            ),
            terminal=OnTerminal(lines=_LINES),
        )
