"""Report of ``uqcli apply``: rows written, and what the parts of the result say of them."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from enum import StrEnum, auto
from functools import cached_property
from typing import Any, ClassVar, Final

from uqcli.base.notices import Notice
from uqcli.base.records import dataclass
from uqcli.reports.document import Document, HeadCard, Metrics, OneResult, head_of
from uqcli.reports.parts import Composition, Layout, Part, Remarks, place
from uqcli.rules.result import WrittenRows


class Fact(StrEnum):
    """What may be taken for granted of written rows, unless a part voids it."""

    BY_THRESHOLD = auto()
    """Thresholds alone decide, as they did on the calibration rows."""

    ONE_DECISION = auto()
    """Rows are flagged or not, and none is sent to review."""


class Slot(StrEnum):
    """Where statements stand. The first of an exclusive slot alone is shown."""

    WARNING = auto()
    """How the rows differ from the calibration rows; also in JSON."""

    CAUTION = auto()
    ADDED = auto()
    """Sentences after the names of the added columns."""

    NUMBER = auto()
    VERDICT = auto()
    """Exclusive."""


@dataclass(frozen=True, kw_only=True)
class Phrases:
    """Holes of the core sentences: the title, the number of rows written, and what to do next."""

    title: str = ""
    written: int = 0
    action: str = "When labels arrive, check the rule with uqcli evaluate."


class ApplyPart(Part[Phrases]):
    """One feature of written rows."""


class Remark(Remarks[Phrases], ApplyPart):
    """A feature that says the same beside whatever others."""


LAYOUT: Final = Layout(
    facts=frozenset(Fact),
    places={
        "unusual-alerts": place(Slot.WARNING),
        "outside-range": place(Slot.WARNING),
        "undecided-rows": place(Slot.CAUTION),
        "unknown-groups": place(Slot.CAUTION),
        "only-flagged": place(Slot.ADDED),
        "capacity": place(Slot.ADDED),
        "written": place(Slot.NUMBER),
        "flagged-as-usual": place(Slot.NUMBER, Fact.BY_THRESHOLD),
        "flagged": place(Slot.NUMBER),
        "reviewed": place(Slot.NUMBER),
        "undecided": place(Slot.NUMBER, Fact.ONE_DECISION),
        "unusual-rate": place(Slot.VERDICT),
        "unusual-rows": place(Slot.VERDICT),
        "usual-rate": place(Slot.VERDICT),
        "unknown-hits": place(Slot.VERDICT),
    },
    metrics=(
        *("reviewed", "review_share", "rows", "selected", "undecided", "selected_share", "outside_range"),
        "new_categories",
    ),
    keys=(),
)
"""Layout of the report."""


@dataclass(frozen=True, kw_only=True)
class ApplyReport(OneResult):
    """Rows written with what a rule adds to them, and how they compare with the calibration rows."""

    command: ClassVar = "apply"

    source: WrittenRows
    parameters: Mapping[str, Any]
    columns: Sequence[str]
    about_rule: str
    parts: Sequence[ApplyPart]

    @cached_property
    def _story(self) -> Composition[Phrases]:
        return Composition(layout=LAYOUT, parts=self.parts, plain_phrases=Phrases())

    @property
    def metrics(self) -> Metrics:
        """Counts of the output."""
        return self._story.metrics()

    @property
    def warnings(self) -> list[Notice]:
        """How the rows differ from the calibration rows; empty if they do not."""
        return self._story.said(Slot.WARNING)

    def payload(self) -> dict[str, Any]:
        """Return the JSON form."""
        head = head_of(self.command, self.source, self.parameters)
        return {**head, "metrics": dict(self.metrics), "notes": self.warnings}

    def document(self) -> Document:
        """Return the readable form."""
        said = self._story.said
        added = f"Columns added: {', '.join(self.columns)}."
        return Document(
            title=f"{self._story.phrases.title}.",
            tables=[],
            lead=[self.about_rule, " ".join([added, *said(Slot.ADDED)])],
            cautions=[*self.warnings, *said(Slot.CAUTION)],
            card=self._card(),
        )

    def _card(self) -> HeadCard:
        return HeadCard(
            title=f"{self._story.phrases.title}.",
            subject="{rules} applied to {inputs}; rows written to {output}.",
            verdict=self._story.first(Slot.VERDICT, None),
            numbers=self._story.said(Slot.NUMBER),
            action=self._story.phrases.action,
        )


def metrics_of(parts: Sequence[ApplyPart]) -> Metrics:
    """Return the metrics of a report with these parts."""
    return Composition(layout=LAYOUT, parts=parts, plain_phrases=Phrases()).metrics()
