"""Report of ``uqcli tce``: calibration errors of all rows, and what the parts of the result say of them."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from enum import StrEnum, auto
from functools import cached_property
from typing import Any, Final

import msgspec

from uqcli.audit.report import Audit, with_audit
from uqcli.base.records import dataclass
from uqcli.base.wording import count
from uqcli.reports.document import Document, HeadCard, Metrics, OneResult, head_of, plain
from uqcli.reports.parts import Composition, Layout, Part, Remarks, place
from uqcli.rules.saved import Source
from uqcli.tce.reliability import reliability_figure
from uqcli.tce.results import GroupResult
from uqcli.tce.tables import bins_as_json


class TceParameters(msgspec.Struct, frozen=True, kw_only=True):
    """Options that change the result."""

    binning: str
    bin_sizes: str | None
    n_min: int | None
    n_max: int | None
    group_n_min: int | None
    group_n_max: int | None
    n_bins: int
    alpha: float | None
    test: str | None
    classes: list[str] | None
    by: str | None
    audit: list[str] | None
    bootstrap: int
    seed: int | None
    confidence: float
    on_invalid: str
    positive: str | None
    cluster: str | msgspec.UnsetType = msgspec.UNSET
    sampling_weight: bool | msgspec.UnsetType = msgspec.UNSET


class Fact(StrEnum):
    """What may be taken for granted of calibration errors, unless a part voids it."""

    TESTED = auto()
    """Scores are tested, since all rows count alike."""

    ONE_SCORE = auto()
    """Rows have one score, and not a probability of each class."""

    ONE_GROUP = auto()
    """All rows are measured together only."""

    ONE_PART = auto()
    """Both: one score, and one group."""


class Slot(StrEnum):
    """Where statements stand. The first of an exclusive slot alone is shown."""

    TITLE = auto()
    """Exclusive."""

    LEAD = auto()
    CAUTION = auto()
    NOTE = auto()

    RANDOM = auto()
    """What the random seed affects; each noun is a note."""

    TABLE = auto()

    PANEL = auto()
    """Reliability diagrams of one figure, and their titles."""

    CARD = auto()
    """Exclusive: the head of the page, without title and action."""

    ACTION = auto()
    """Exclusive: what to do if no command comes next."""

    NEXT = auto()
    AUDIT = auto()


@dataclass(frozen=True, kw_only=True)
class Phrases:
    """Holes of the core sentences.

    ``counted`` follows the number of rows. ``part`` is what several parts are, and ``together`` all of them
    with a verb; ``panel`` is the title of the panel of all rows.
    """

    counted: str = ""
    part: str = ""
    together: str = ""
    panel: str = ""


class TcePart(Part[Phrases]):
    """One feature of calibration errors, or of how they were tested."""


class Remark(Remarks[Phrases], TcePart):
    """A feature that says the same beside whatever others."""


LAYOUT: Final = Layout(
    facts=frozenset(Fact),
    places={
        "title": place(Slot.TITLE),
        "affected": place(Slot.LEAD),
        "within": place(Slot.LEAD, Fact.ONE_PART),
        "no-need": place(Slot.LEAD),
        "alike-labels": place(Slot.CAUTION),
        "groups-untested": place(Slot.CAUTION, Fact.TESTED),
        "few-positives": place(Slot.CAUTION, Fact.ONE_SCORE),
        "reading": place(Slot.CAUTION),
        "by-weight": place(Slot.NOTE, Fact.ONE_GROUP),
        "groups-by-weight": place(Slot.NOTE, unless=Fact.ONE_GROUP),
        "other-findings": place(Slot.NOTE),
        "other-parts": place(Slot.NOTE),
        "within-of-parts": place(Slot.NOTE, unless=Fact.ONE_PART),
        "mean-over-classes": place(Slot.NOTE, Fact.TESTED),
        "clusters": place(Slot.NOTE),
        "advice": place(Slot.NOTE),
        "group-sizes": place(Slot.NOTE, Fact.TESTED),
        "if-calibrated": place(Slot.NOTE),
        "random-labels": place(Slot.RANDOM),
        "random-tests": place(Slot.RANDOM),
        "random-rows": place(Slot.RANDOM),
        "groups": place(Slot.TABLE),
        "classes": place(Slot.TABLE, Fact.ONE_GROUP),
        "classes-in-detail": place(Slot.TABLE, unless=Fact.ONE_GROUP),
        "metrics": place(Slot.TABLE, Fact.ONE_PART),
        "metrics-in-detail": place(Slot.TABLE, unless=Fact.ONE_PART),
        "bins": place(Slot.TABLE, Fact.ONE_SCORE),
        "panel": place(Slot.PANEL, Fact.ONE_SCORE),
        "class-panel": place(Slot.PANEL),
        "card": place(Slot.CARD),
        "more-rows": place(Slot.ACTION),
        "group-as-feature": place(Slot.ACTION),
        "calibrate-classes": place(Slot.ACTION, unless=Fact.ONE_SCORE),
        "calibrate": place(Slot.NEXT, Fact.ONE_SCORE),
        "audit": place(Slot.AUDIT),
    },
    metrics=("clusters", "by_class", "by_group", "worst_group", "tce_at_group_sizes", "segments"),
    keys=("not_calibrated", "notes", "if_calibrated", "worst_group", "groups", "audit"),
)
"""Layout of the report."""


@dataclass(frozen=True, kw_only=True)
class TceReport(OneResult):
    """Calibration errors of a score or of class probabilities, for all rows and for groups.

    ``calibration_set`` is an example of a file to calibrate on, with the typed options of reading, as the
    next command takes them.
    """

    source: Source
    parameters: TceParameters
    overall: GroupResult
    groups: Sequence[GroupResult]
    parts: Sequence[TcePart]
    calibration_set: str = "CALIBRATION.parquet"

    @cached_property
    def _story(self) -> Composition[Phrases]:
        return Composition(layout=LAYOUT, parts=self.parts, plain_phrases=Phrases())

    @property
    def audit(self) -> Audit | None:
        """Tests of all segments; None without ``--audit``."""
        audit: Audit | None = self._story.first(Slot.AUDIT, None)
        return audit

    @property
    def metrics(self) -> Metrics:
        """Errors of all rows, by class, by group and of the worst group."""
        return {**self.overall.metrics, **self._story.metrics()}

    def payload(self) -> dict[str, Any]:
        """Return the JSON form."""
        said, overall = self._story.said, plain(self.overall.metrics)
        audits = [audit.lead() for audit in said(Slot.AUDIT)]
        notes = [*audits, *self._title(), *said(Slot.LEAD), *said(Slot.CAUTION), *self._notes()]
        return {
            **head_of("tce", self.source, self.parameters),
            "metrics": plain(self.metrics),
            "within": overall["within"],
            "within_low": overall["within_low"],
            "bins": bins_as_json(self.overall),
            **self._story.payload(notes=notes),
        }

    def document(self) -> Document:
        """Return the readable form."""
        said, shown = self._story.said, self._story.shown
        rows, overall, panels = self.source.rows, self.overall.rows, shown(Slot.PANEL)
        by_weight = "" if overall == rows else f" ({count(overall)} by weight)"
        document = Document(
            title="".join(self._title()),
            lead=said(Slot.LEAD),
            tables=shown(Slot.TABLE),
            cautions=said(Slot.CAUTION),
            notes=[f"Rows: {count(rows)}{by_weight}{self._story.phrases.counted}.", *self._notes()],
            next=f"calibrate {self.calibration_set} -o calibrator.json" if said(Slot.NEXT) else "",
            figures=[reliability_figure(panels)] if panels else [],
            card=next(iter(self._cards()), None),
        )
        return with_audit(document, self.audit)

    def _title(self) -> list[str]:
        return self._story.said(Slot.TITLE)[:1]

    def _notes(self) -> list[str]:
        seed = f"The random seed ({self.parameters.seed}) affects"
        return [*self._story.said(Slot.NOTE), *(f"{seed} {what}." for what in self._story.said(Slot.RANDOM))]

    def _cards(self) -> list[HeadCard]:
        title, action = "".join(self._title()), self._story.first(Slot.ACTION)
        return [replace(card, title=title, action=action) for card in self._story.said(Slot.CARD)]
