"""Report of ``uqcli overview``: what its parts say of a file, and which commands may be next."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from enum import StrEnum, auto
from functools import cached_property
from typing import Any, Final

from uqcli.audit.report import with_audit
from uqcli.base.operating_system import split
from uqcli.base.records import dataclass
from uqcli.base.wording import capitalised
from uqcli.overview.columns import FoundColumns
from uqcli.reports.document import (
    Document,
    HeadCard,
    Metrics,
    OneResult,
    OnTerminal,
    Verdict,
    head_of,
    no_points,
    plain,
)
from uqcli.reports.parts import Composition, Layout, Part, Remarks, place
from uqcli.rules.saved import Source

_LINES: Final = 24
_MOST_ODD: Final = 3


class Fact(StrEnum):
    """What may be taken for granted of scores, unless a part voids it."""

    RANKS = auto()
    """High scores are more often positive than low ones."""

    NOT_PERCENTAGES = auto()
    UNRELATED = auto()
    """No rows of a day or customer are known to be alike."""


class Slot(StrEnum):
    """Where statements stand. The first of an exclusive slot alone is shown."""

    TITLE = auto()
    """Exclusive."""

    LEAD = auto()
    SUITED = auto()
    """Exclusive: how rows that are alike are allowed for, which is also a note of the JSON form."""

    HELP = auto()
    """What may help the score, after that."""

    ODD = auto()
    CAUTION = auto()
    NOTE = auto()
    COMMAND = auto()
    TABLE = auto()
    FIGURE = auto()
    NUMBER = auto()
    POINTS = auto()
    """Operating points to choose from."""

    AUDIT = auto()


@dataclass(frozen=True, kw_only=True)
class Phrases:
    """Holes of the core sentences.

    ``arguments`` are the inputs and options of columns and reading, as typed after a command; empty if
    unknown. ``range`` follows the share of positives, and ``whose`` begins the title of tables. ``options``
    are those that a rule needs, and ``tests`` says what does not allow for rows that are alike. ``lines`` are
    the most on a terminal.
    """

    arguments: str = ""
    range: str = ""
    whose: str = "O"
    options: str = ""
    tests: str = ""
    lines: int = _LINES

    def command(self, purpose: str, name: str, options: str) -> list[tuple[str, str]]:
        """Return a command line with its purpose, if the inputs are known; after two dashes is no option."""
        if not self.arguments:
            return []
        words = (options, self.arguments) if "--" in split(self.arguments) else (self.arguments, options)
        return [(purpose, " ".join((name, *words)))]


class OverviewPart(Part[Phrases]):
    """One feature of a file of predictions, or of what can be done with it."""


class Remark(Remarks[Phrases], OverviewPart):
    """A feature that says the same beside whatever others."""


LAYOUT: Final = Layout(
    facts=frozenset(Fact),
    places={
        "one-class": place(Slot.TITLE),
        "no-rule": place(Slot.TITLE),
        "reversed": place(Slot.TITLE, unless=Fact.RANKS),
        "advised": place(Slot.TITLE),
        "percentages-turned": place(Slot.LEAD, unless=Fact.NOT_PERCENTAGES),
        "to-turn": place(Slot.LEAD, Fact.NOT_PERCENTAGES),
        "why-advised": place(Slot.LEAD, Fact.RANKS),
        "rows": place(Slot.LEAD),
        "scores": place(Slot.LEAD),
        "calibration": place(Slot.LEAD),
        "columns": place(Slot.LEAD),
        "form": place(Slot.LEAD),
        "alike": place(Slot.SUITED),
        "uncertainty": place(Slot.HELP),
        "many-columns": place(Slot.ODD),
        "equal-scores": place(Slot.ODD),
        "separated": place(Slot.ODD),
        "odd-reversed": place(Slot.ODD),
        "percentages": place(Slot.ODD),
        "no-probabilities": place(Slot.ODD, Fact.NOT_PERCENTAGES),
        "negative-labels": place(Slot.ODD),
        "few-labels": place(Slot.ODD),
        "few-scores": place(Slot.ODD),
        "customers": place(Slot.ODD, Fact.UNRELATED),
        "dates": place(Slot.ODD, Fact.UNRELATED),
        "dropped": place(Slot.ODD),
        "dependent-rows": place(Slot.CAUTION),
        "about-calibration": place(Slot.NOTE),
        "score-alone": place(Slot.NOTE),
        "of-targets": place(Slot.NOTE),
        "turn": place(Slot.COMMAND, Fact.NOT_PERCENTAGES),
        "rule": place(Slot.COMMAND, Fact.RANKS),
        "certified-rule": place(Slot.COMMAND, Fact.RANKS),
        "calibrate": place(Slot.COMMAND, Fact.RANKS, Fact.NOT_PERCENTAGES),
        "check": place(Slot.COMMAND, Fact.RANKS),
        "targets": place(Slot.TABLE),
        "first-rows": place(Slot.TABLE),
        "gains": place(Slot.TABLE),
        "reliability": place(Slot.FIGURE),
        "of-rules": place(Slot.FIGURE),
        "number": place(Slot.NUMBER),
        "points": place(Slot.POINTS, Fact.RANKS),
        "audit": place(Slot.AUDIT),
    },
    metrics=(
        *("rows", "positives", "prevalence", "lowest", "highest", "distinct", "auc", "average_precision"),
        *("tce", "gain"),
    ),
    keys=(
        *("is_probability", "calibration", "targets", "first_rows", "uncertainty", "could_be_uncertainty"),
        *("taken", "form", "odd", "notes"),
    ),
)
"""Layout of the report."""


@dataclass(frozen=True, kw_only=True)
class OverviewReport(OneResult):
    """What is in a file of predictions, and what can be done with it.

    ``arguments`` are inputs and options of columns and reading, as typed after a command; empty if unknown.
    """

    source: Source
    parameters: Mapping[str, Any]
    content: FoundColumns
    parts: Sequence[OverviewPart]
    arguments: str = ""

    @cached_property
    def _story(self) -> Composition[Phrases]:
        return Composition(layout=LAYOUT, parts=self.parts, plain_phrases=Phrases(arguments=self.arguments))

    @property
    def metrics(self) -> Metrics:
        """Counts, ranking, and the errors of ``tce``."""
        return self._story.metrics()

    def payload(self) -> dict[str, Any]:
        """Return the JSON form: metrics, then what each of the commands reports."""
        said = self._story.said
        notes = [self._story.first(Slot.TITLE), *said(Slot.SUITED), *said(Slot.CAUTION)]
        return {
            **head_of("overview", self.source, self.parameters),
            "metrics": plain(self.metrics),
            **self._story.payload(odd=said(Slot.ODD), notes=notes),
        }

    def document(self) -> Document:
        """Return the readable form."""
        said, shown, title = self._story.said, self._story.shown, self._story.first(Slot.TITLE)
        odd = [sentence for sentence in said(Slot.ODD) if capitalised(sentence) != title]
        commands = said(Slot.COMMAND)
        document = Document(
            title=title,
            lead=[
                *said(Slot.LEAD),
                *said(Slot.SUITED),
                *said(Slot.HELP),
                *(f"Note: {sentence}" for sentence in odd[:_MOST_ODD]),
            ],
            tables=shown(Slot.TABLE),
            cautions=said(Slot.CAUTION),
            notes=said(Slot.NOTE),
            figures=shown(Slot.FIGURE),
            card=HeadCard(
                title=title.removesuffix("."),
                verdict=Verdict(text="no rule made yet"),
                numbers=said(Slot.NUMBER),
                subject="What {inputs} holds, and what can be done with it.",
            ),
            operating_points=self._story.first(Slot.POINTS, no_points),
            next="".join(line for _, line in commands[:1]),
            terminal=OnTerminal(others=commands[1:], lines=self._story.phrases.lines),
        )
        return with_audit(document, self._story.first(Slot.AUDIT, None))
