"""Report of ``uqcli shift``: what the parts of the result say of class weights, or why there are none."""

from __future__ import annotations

from collections.abc import Sequence
from enum import StrEnum, auto
from functools import cached_property
from typing import Any, Final

from uqcli.base.notices import Notice
from uqcli.base.records import dataclass
from uqcli.reports.document import Document, HeadCard, Metrics, OneResult, head_of, plain
from uqcli.reports.parts import Composition, Layout, Remarks, place
from uqcli.rules.saved import Source
from uqcli.shift.rule import ShiftParameters


class Fact(StrEnum):
    """What may be taken for granted of class weights, unless a part voids it."""

    TARGET_ROWS = auto()
    """There are new rows."""

    MIXTURE = auto()
    """The new rows may be a mixture of the labelled classes."""

    WEIGHTED = auto()
    """There are class weights."""

    TEST_IN_TITLE = auto()
    """The title tells of the test of equal frequencies."""


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
    SUBJECT = auto()
    VERDICT = auto()
    """Exclusive."""

    ACTION = auto()
    """Exclusive."""

    NEXT = auto()


class Remark(Remarks[None]):
    """A part of the result; none of them changes what another says."""


_ROWS, _MIXTURE, _WEIGHTED = Fact.TARGET_ROWS, Fact.MIXTURE, Fact.WEIGHTED
LAYOUT: Final = Layout(
    facts=frozenset(Fact),
    places={
        "no-mixture": place(Slot.TITLE),
        "failure": place(Slot.TITLE),
        "given-prior": place(Slot.TITLE, unless=_ROWS),
        "changed-class": place(Slot.TITLE),
        "frequencies": place(Slot.TITLE),
        "predicted-classes": place(Slot.LEAD, _ROWS, _MIXTURE, unless=Fact.TEST_IN_TITLE),
        "mixture-untested": place(Slot.LEAD, _ROWS, _MIXTURE),
        "not-a-mixture": place(Slot.CAUTION),
        "few-target-rows": place(Slot.CAUTION),
        "ill-conditioned": place(Slot.CAUTION),
        "uncalibrated": place(Slot.CAUTION),
        "clipped-weights": place(Slot.CAUTION),
        "failed-draws": place(Slot.CAUTION),
        "no-weights": place(Slot.NOTE),
        "estimator": place(Slot.NOTE),
        "meaning": place(Slot.NOTE),
        "about-mixture": place(Slot.NOTE),
        "no-mixture-test": place(Slot.NOTE, unless=_ROWS),
        "changed-classes": place(Slot.NOTE),
        "intervals": place(Slot.NOTE),
        "condition": place(Slot.NOTE),
        "weights": place(Slot.TABLE),
        "priors": place(Slot.FIGURE),
        "frequency": place(Slot.NUMBER, _MIXTURE),
        "files": place(Slot.SUBJECT, _WEIGHTED),
        "files-apart": place(Slot.SUBJECT, unless=_MIXTURE),
        "no-label-shift": place(Slot.VERDICT),
        "failed": place(Slot.VERDICT),
        "difference": place(Slot.VERDICT),
        "label-rows": place(Slot.ACTION),
        "no-change": place(Slot.ACTION, _WEIGHTED, _MIXTURE),
        "evaluate": place(Slot.NEXT),
    },
    metrics=(
        *("shift_p", "mixture_p", "smallest_singular", "condition", "calibration_error", "weights"),
        *("weights_p", "target_prior", "class_shares"),
    ),
    keys=("target", "metrics", "changed", "notes"),
)
"""Layout of the report."""


@dataclass(frozen=True, kw_only=True)
class ShiftReport(OneResult):
    """Class weights, or why there are none."""

    source: Source
    parameters: ShiftParameters
    parts: Sequence[Remark]

    @cached_property
    def _story(self) -> Composition[None]:
        return Composition(layout=LAYOUT, parts=self.parts, plain_phrases=None)

    @property
    def metrics(self) -> Metrics:
        """P-values, condition, calibration error, and the weight and priors of each class."""
        return self._story.metrics()

    def payload(self) -> dict[str, Any]:
        """Return the JSON form."""
        said = self._story.said
        notes = [*said(Slot.LEAD), *self.cautions(), *said(Slot.NOTE)]
        keys = self._story.payload(metrics=plain(self.metrics), notes=notes)
        return {**head_of("shift", self.source, self.parameters), **keys}

    def document(self) -> Document:
        """Return the readable form."""
        said, card = self._story.said, self._card()
        return Document(
            title=self._title(),
            lead=said(Slot.LEAD),
            tables=self._story.shown(Slot.TABLE),
            cautions=self.cautions(),
            notes=said(Slot.NOTE),
            next="" if card.action else "".join(said(Slot.NEXT)),
            figures=self._story.shown(Slot.FIGURE),
            card=card,
        )

    def cautions(self) -> list[Notice]:
        """Collect the cautions of this result."""
        return self._story.said(Slot.CAUTION)

    def _title(self) -> str:
        return str(self._story.first(Slot.TITLE))

    def _card(self) -> HeadCard:
        """Build the head of the page, with the classes whose weights are farthest from 1."""
        first = self._story.first
        return HeadCard(
            title=self._title(),
            subject=first(Slot.SUBJECT),
            action=first(Slot.ACTION),
            verdict=first(Slot.VERDICT, None),
            numbers=self._story.said(Slot.NUMBER),
        )
