"""Report of ``uqcli watch``: what was promised, what was seen, since when, and what to do."""

from __future__ import annotations

from collections.abc import Sequence
from enum import StrEnum, auto
from functools import cached_property
from typing import Any, Final

from uqcli.base.records import dataclass
from uqcli.reports.document import Document, HeadCard, Metrics, OneResult, Table, head_of, plain
from uqcli.reports.parts import Composition, Layout, Part, Remarks, place
from uqcli.rules.saved import Source
from uqcli.watch.state import WatchParameters


class Fact(StrEnum):
    """What may be taken for granted of a watch, unless a part voids it."""

    NO_ALARM = auto()
    ONE_TARGET = auto()


class Slot(StrEnum):
    """Where statements stand. The first of an exclusive slot alone is shown."""

    NOTHING_NEW = auto()
    """Exclusive: it begins the title."""

    TITLE = auto()
    """Exclusive."""

    AFTER_ALARM = auto()
    """Exclusive: what to do after an alarm."""

    LEAD = auto()
    ALARM = auto()
    CAUTION = auto()
    NOTE = auto()
    CLAIM = auto()
    ROW = auto()
    FIGURE = auto()
    VERDICT = auto()
    """Exclusive."""

    NUMBER = auto()
    SECOND_NUMBER = auto()
    """Exclusive."""

    LAST_NUMBER = auto()
    """Exclusive."""

    ACTION = auto()
    """Exclusive: what to do without an alarm."""


@dataclass(frozen=True, kw_only=True)
class Phrases:
    """Holes of the core sentences.

    Rows of a ``unit`` go together, and ``batch`` is what a batch is. ``named`` says how rows that are taken
    as independent are not, and ``since`` follows the number of batches. ``below`` follows a rate that is
    written ``beside`` other numbers, and ``each`` a limit. ``alarms`` are so many, and ``files`` follow those
    of the rule.
    """

    unit: str = "batch"
    batch: str = "batch"
    named: str = ""
    since: str = ""
    below: str = ""
    beside: tuple[float, ...] = ()
    each: str = ""
    alarms: int = 0
    files: str = ""


class WatchPart(Part[Phrases]):
    """One feature of a watch: of the rule's targets, of the new rows, or of what is kept."""


class Remark(Remarks[Phrases], WatchPart):
    """A feature that says the same beside whatever others."""


LAYOUT: Final = Layout(
    facts=frozenset(Fact),
    places={
        "counted-before": place(Slot.NOTHING_NEW),
        "nothing-counts": place(Slot.NOTHING_NEW),
        "alarm-title": place(Slot.TITLE),
        "no-alarm": place(Slot.TITLE),
        "stop": place(Slot.AFTER_ALARM),
        "find": place(Slot.AFTER_ALARM),
        "expected-of-the-target": place(Slot.LEAD, Fact.ONE_TARGET),
        "expected-of-a-target": place(Slot.LEAD, unless=Fact.ONE_TARGET),
        "newest": place(Slot.LEAD),
        "evidence": place(Slot.LEAD),
        "together": place(Slot.LEAD),
        "not-kept": place(Slot.LEAD),
        "alarm": place(Slot.ALARM),
        "stray-days": place(Slot.CAUTION),
        "missing-days": place(Slot.CAUTION),
        "left-out": place(Slot.CAUTION),
        "replaced-batch": place(Slot.CAUTION),
        "alike-days": place(Slot.CAUTION, Fact.NO_ALARM),  # a change looks like a spell, too
        "young-rows": place(Slot.CAUTION),
        "unwatched-rows": place(Slot.CAUTION),
        "no-trials": place(Slot.CAUTION),
        "alarm-of-earlier-version": place(Slot.CAUTION, unless=Fact.NO_ALARM),
        "evidence-of-earlier-version": place(Slot.CAUTION, Fact.NO_ALARM),
        "origin": place(Slot.NOTE),
        "limit": place(Slot.NOTE),
        "change-limit": place(Slot.NOTE),
        "complete-labels": place(Slot.NOTE),
        "rests-on": place(Slot.NOTE),
        "customers": place(Slot.NOTE),
        "calibration-days": place(Slot.NOTE),
        "claim": place(Slot.CLAIM),
        "row": place(Slot.ROW),
        "rates": place(Slot.FIGURE),
        "target-missed": place(Slot.VERDICT),
        "no-longer-met": place(Slot.VERDICT),
        "below-target": place(Slot.VERDICT, Fact.ONE_TARGET),
        "in-order": place(Slot.VERDICT),
        "rate": place(Slot.NUMBER),
        "rate-since": place(Slot.SECOND_NUMBER),
        "trials": place(Slot.SECOND_NUMBER),
        "last-number": place(Slot.LAST_NUMBER),
        "misses-target": place(Slot.ACTION, Fact.ONE_TARGET),
        "next-batch": place(Slot.ACTION),
        "keep": place(Slot.ACTION),
    },
    metrics=(
        *("e_value", "log10_e", "alarm", "change", "change_alarm", "design_effect", "lag_correlation"),
        *("successes", "trials", "rate", "bound", "batches", "added", "young_rows", "promises"),
    ),
    keys=("promises", "added", "known", "replaced", "notes"),
)
"""Layout of the report."""


@dataclass(frozen=True, kw_only=True)
class WatchReport(OneResult):
    """A watch of a rule after new batches."""

    source: Source
    parameters: WatchParameters
    confidence: float
    parts: Sequence[WatchPart]

    @cached_property
    def _story(self) -> Composition[Phrases]:
        return Composition(layout=LAYOUT, parts=self.parts, plain_phrases=Phrases())

    def alarms(self) -> list[str]:
        """State the alarms, the worst first."""
        return self._story.said(Slot.ALARM)

    @property
    def metrics(self) -> Metrics:
        """Evidence by promise, and that of a single promise also at the top."""
        return self._story.metrics()

    def payload(self) -> dict[str, Any]:
        """Return the JSON form."""
        said = self._story.said
        return {
            **head_of("watch", self.source, self.parameters),
            "metrics": plain(self.metrics),
            **self._story.payload(notes=[*self.alarms(), *said(Slot.CAUTION), *said(Slot.NOTE)]),
        }

    def document(self) -> Document:
        """Return the readable form."""
        said, first, shown = self._story.said, self._story.first, self._story.shown
        after = said(Slot.AFTER_ALARM)[:1]
        header = ("limit", f"seen ({100 * self.confidence:g} % range)", "trials", "evidence", "of a change")
        title = " ".join(filter(None, (first(Slot.NOTHING_NEW), first(Slot.TITLE))))
        numbers = [*said(Slot.NUMBER), *said(Slot.SECOND_NUMBER)[:1], *said(Slot.LAST_NUMBER)[:1]]
        return Document(
            title=title,
            lead=[*after, *said(Slot.LEAD)],
            tables=[Table(title="", header=header, rows=shown(Slot.ROW))],
            cautions=said(Slot.CAUTION),
            notes=said(Slot.NOTE),
            figures=shown(Slot.FIGURE),
            claims=said(Slot.CLAIM),
            card=HeadCard(
                title=title,
                verdict=first(Slot.VERDICT),
                numbers=numbers,
                subject=f"{{rules}}{self._story.phrases.files} watched on {{inputs}}.",
                action=[*after, first(Slot.ACTION)][0],
            ),
        )
