"""Report of ``uqcli calibrate``: a calibrator, and what the parts of its result say of it."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import field, replace
from enum import StrEnum, auto
from functools import cached_property
from typing import Any, Final

import msgspec

from uqcli.base.options import ResamplingOptions
from uqcli.base.records import dataclass
from uqcli.base.wording import rows_of
from uqcli.calibrate.rule import CalibratorArtifact
from uqcli.comparison.figure import before_and_after_figure
from uqcli.reports.document import Document, HeadCard, Metrics, OneResult, head_of, plain
from uqcli.reports.parts import Composition, Layout, Part, Remarks, place


class Fact(StrEnum):
    """What may be taken for granted of a calibrator, unless a part voids it."""

    MEASURED = auto()
    """There are enough rows to measure it."""

    CROSS_VALIDATED = auto()
    """It is measured on rows left out of its fit, not on a test set."""

    ONE_METHOD = auto()
    """One method was requested or chosen, and not the best of all kept."""

    CHANGES = auto()
    """It changes the scores."""

    HARMLESS = auto()
    """It does not hurt, and does not seem to."""


class Slot(StrEnum):
    """Where statements stand. The first of an exclusive slot alone is shown."""

    VERDICT = auto()
    """Exclusive: whether calibration helped."""

    LEAD = auto()
    CAUTION = auto()
    NOTE = auto()

    RANDOM = auto()
    """What the random seed affects; nouns."""

    TABLE = auto()

    PANEL = auto()
    """Reliability diagrams of one figure."""

    CARD = auto()
    """Exclusive: the head of the page, without its title."""

    NEXT = auto()
    """Exclusive."""

    RESULT = auto()
    """What became of each method, for the JSON form."""


@dataclass(frozen=True, kw_only=True)
class Phrases:
    """Holes of the core sentences: ``on`` which rows a map was measured, and ``where`` in a longer sentence.

    ``of_clusters`` follows the number of calibration rows, and ``counted`` are the metrics that count units.
    """

    on: str = "cross-validated"
    where: str = "(cross-validated)"
    measured: str = "cross-fitting"
    of_clusters: str = ""
    counted: Mapping[str, int] = field(default_factory=dict)


class CalibratePart(Part[Phrases]):
    """One feature of a calibrator, or of how it was measured."""


class Remark(Remarks[Phrases], CalibratePart):
    """A feature that says the same beside whatever others."""


LAYOUT: Final = Layout(
    facts=frozenset(Fact),
    places={
        "one-class-verdict": place(Slot.VERDICT, Fact.MEASURED, Fact.CROSS_VALIDATED),
        "best": place(Slot.VERDICT),
        "kept": place(Slot.VERDICT, Fact.MEASURED),
        "verdict": place(Slot.VERDICT),
        "choice": place(Slot.LEAD),
        "one-class": place(Slot.CAUTION),
        "reversed-score": place(Slot.CAUTION),
        "remaining-error": place(Slot.CAUTION, Fact.CHANGES, Fact.ONE_METHOD),
        "remaining-error-of-best": place(Slot.CAUTION, Fact.CHANGES),
        "few-clusters": place(Slot.CAUTION),
        "certain-probabilities": place(Slot.CAUTION),
        "rows": place(Slot.NOTE),
        "measured-on": place(Slot.NOTE),
        "ranking": place(Slot.NOTE),
        "inapplicable": place(Slot.NOTE),
        "fit": place(Slot.NOTE),
        "sampled": place(Slot.NOTE, Fact.CROSS_VALIDATED),
        "unmeasured": place(Slot.NOTE),
        "no-intervals": place(Slot.NOTE, Fact.MEASURED),
        "target": place(Slot.NOTE),
        "sums": place(Slot.NOTE),
        "other-methods": place(Slot.NOTE, Fact.ONE_METHOD),
        "random-folds": place(Slot.RANDOM, Fact.CROSS_VALIDATED),
        "random-intervals": place(Slot.RANDOM, Fact.MEASURED),
        "random-trees": place(Slot.RANDOM),
        "ranked": place(Slot.TABLE),
        "comparison": place(Slot.TABLE, Fact.ONE_METHOD),
        "comparison-of-best": place(Slot.TABLE),
        "by-class": place(Slot.TABLE),
        "map": place(Slot.TABLE),
        "meanings": place(Slot.TABLE),
        "losses": place(Slot.TABLE),
        "errors": place(Slot.TABLE),
        "panel": place(Slot.PANEL),
        "card-of-best": place(Slot.CARD),
        "card": place(Slot.CARD),
        "evaluate": place(Slot.NEXT),
        "apply": place(Slot.NEXT, Fact.ONE_METHOD, Fact.CHANGES, Fact.HARMLESS),
        "result": place(Slot.RESULT),
        "obstacle": place(Slot.RESULT),
    },
    metrics=("before", "after", "difference", "clusters"),
    keys=("by_class", "choice", "ece_by_score_bin"),
)
"""Layout of the report."""


@dataclass(frozen=True, kw_only=True)
class CalibrateReport(OneResult):
    """A calibrator, and its metrics on rows that its fit did not use."""

    artifact: CalibratorArtifact
    resampling: ResamplingOptions
    parts: Sequence[CalibratePart]

    @cached_property
    def _story(self) -> Composition[Phrases]:
        return Composition(layout=LAYOUT, parts=self.parts, plain_phrases=Phrases())

    @property
    def metrics(self) -> Metrics:
        """Metrics before, after, and after minus before; empty if it was not measured."""
        return self._story.metrics()

    def payload(self) -> dict[str, Any]:
        """Return the JSON form."""
        said, replicates = self._story.said, self.resampling.bootstrap
        parameters = {
            **msgspec.to_builtins(self.artifact.parameters),
            "logit": self.artifact.logit,
            "undersampled": self.artifact.undersampled,
            "measured": self._story.phrases.measured,
            "bootstrap": replicates,
            "confidence": self.resampling.confidence if replicates else None,
        }
        results = {"results": methods} if (methods := said(Slot.RESULT)) else {}
        return {
            **head_of("calibrate", self.artifact.source, parameters),
            "metrics": plain(self.metrics),
            "calibration": msgspec.to_builtins(self.artifact.calibration),
            "notes": [*said(Slot.VERDICT)[:1], *self._lead(), *said(Slot.CAUTION), *self._notes()],
            **self._story.payload(),
            **results,
        }

    def document(self) -> Document:
        """Return the readable form."""
        said, shown = self._story.said, self._story.shown
        panels = shown(Slot.PANEL)
        return Document(
            title=self._title(),
            lead=self._lead(),
            tables=shown(Slot.TABLE),
            cautions=said(Slot.CAUTION),
            notes=self._notes(),
            next=self._story.first(Slot.NEXT),
            figures=[before_and_after_figure(panels)] if panels else [],
            card=next(iter(self._cards()), None),
        )

    def _title(self) -> str:
        rows = f"{rows_of(self.artifact.source.rows)}{self._story.phrases.of_clusters}"
        unmeasured = f"Fitted {self.artifact.method} to {rows}; its effect was not measured."
        return str(self._story.first(Slot.VERDICT, unmeasured))

    def _lead(self) -> list[str]:
        """State what the title does not."""
        title = self._title()
        return [sentence for sentence in self._story.said(Slot.LEAD) if sentence != title]

    def _notes(self) -> list[str]:
        notes, affected = self._story.said(Slot.NOTE), self._story.said(Slot.RANDOM)
        seed = f"The random seed ({self.artifact.parameters.seed}) affects {' and '.join(affected)}."
        return [*notes, seed] if affected else notes

    def _cards(self) -> list[HeadCard]:
        rows = rows_of(self.artifact.source.rows)
        subject = f"Fitted on {{inputs}}: {rows}; errors are of rows left out of the fit."
        return [replace(card, title=self._title(), subject=subject) for card in self._story.said(Slot.CARD)]


def notes_of(parts: Sequence[CalibratePart]) -> list[str]:
    """Return the notes on a fit with these parts, whether it was measured or not."""
    story = Composition(layout=LAYOUT, parts=parts, plain_phrases=Phrases())
    return [note for name in ("choice", "fit", "target") for note in story.says(name)]
