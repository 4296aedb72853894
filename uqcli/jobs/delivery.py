"""What a run delivers, and how it ended."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import replace
from typing import TYPE_CHECKING, TextIO

from uqcli.base.records import dataclass
from uqcli.jobs.options import ReportOptions
from uqcli.reports.document import Report
from uqcli.reports.format import Failure, RunContext

if TYPE_CHECKING:
    from uqcli.reports.checks import Check
    from uqcli.reports.document import Document
    from uqcli.rules.result import Result
    from uqcli.rules.saved import Saved


@dataclass(frozen=True, kw_only=True)
class Ending:
    """How a run ended: its report, with the checks on it."""

    report: Report
    checks: Sequence[Check]

    @property
    def errors(self) -> tuple[Failure, ...]:
        """The error of the run, if it failed."""
        return ()

    @property
    def failed(self) -> list[str]:
        """Messages of the checks that failed."""
        return [check.message for check in self.checks if check.fails]

    @property
    def is_stopped(self) -> bool:
        """Whether no rule and no rows are written."""
        return bool(self.failed)

    def shown(self, document: Document) -> tuple[Document, bool]:
        """Return what is printed of the report, and whether its title is."""
        return document, True

    def as_json(self) -> str:
        """Return the report as one JSON object."""
        from uqcli.reports.formats.json import to_json

        return to_json(self.report, self.errors, self.checks)


@dataclass(frozen=True, kw_only=True)
class FailedEnding(Ending):
    """How a failed run ended: the error on standard error says why, and nothing repeats it."""

    failure: Failure

    @property
    def errors(self) -> tuple[Failure, ...]:
        """The error of the run."""
        return (self.failure,)

    @property
    def is_stopped(self) -> bool:
        """Whether no rule and no rows are written."""
        return True

    def shown(self, document: Document) -> tuple[Document, bool]:
        """Return the report without what the error says."""
        return _without(document, self.failure), not _repeats(document.title, self.failure)


@dataclass(frozen=True, kw_only=True)
class Delivery:
    """What a run delivers: its reports and rules are written, and it is to be shown.

    ``compose`` returns the document, and what to do next. ``wrote`` and ``older`` say which files were
    written, and which one was left. ``warnings`` are cautions for a terminal that does not show the document.
    """

    result: Result[Report, Saved | None]
    ending: Ending
    options: ReportOptions
    context: RunContext
    output: str | None
    warnings: Sequence[str]
    compose: Callable[[], tuple[Document, str]]
    wrote: str = ""
    older: str = ""

    def write(self, stream: TextIO) -> None:
        """Print the document."""
        from uqcli.reports.terminal import to_terminal

        document, step = self.compose()
        shown, titled = self.ending.shown(document)
        last = f"{self.wrote} {self.older or step}".strip()
        to_terminal(shown, stream, end=last, verbose=self.options.verbose, titled=titled)


def _without(document: Document, error: Failure) -> Document:
    """Leave out the sentences that the error on standard error says."""
    lead, notes = (
        [sentence for sentence in sentences if not _repeats(sentence, error)]
        for sentences in (document.lead, document.notes)
    )
    return replace(document, lead=lead, notes=notes)


def _repeats(sentence: str, error: Failure) -> bool:
    return str(error).casefold() in sentence.casefold()
