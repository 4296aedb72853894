"""Results of commands in Python, which have the command's report and what its run said."""

from __future__ import annotations

from dataclasses import field
from typing import Any

from uqcli.base.records import dataclass
from uqcli.base.running.left_out import LeftOut
from uqcli.base.running.messages import Said, rows_left_out, said
from uqcli.reports.document import Report
from uqcli.reports.figures import save_figure
from uqcli.reports.rows_read import with_rows_read


@dataclass(frozen=True, kw_only=True, repr=False)
class OfRun:
    """What a run has made.

    Attributes
    ----------
    said
        Cautions of the run, and doubts about the rules that it used.
    left_out
        Rows that the run read and left out; None if it read none.
    """

    said: Said = field(default_factory=said, compare=False)
    left_out: LeftOut | None = field(default_factory=rows_left_out, compare=False)

    def __hash__(self) -> int:
        return hash(repr(self))

    def _json(self, report: Report) -> dict[str, Any]:
        """Return the JSON that the command prints with ``--json``."""
        counted = with_rows_read(report, self.left_out)
        return {**counted.payload(), **self.said.payload(counted.document().cautions), "gates": []}


@dataclass(frozen=True, kw_only=True, repr=False, eq=False)
class Reported(OfRun):
    """Result of a command; see ``OfRun``.

    Attributes
    ----------
    report
        Report of the command.
    """

    report: Report

    def __repr__(self) -> str:
        return f"<{self.report.document().title}>"

    def payload(self) -> dict[str, Any]:
        """Return the JSON that the command prints with ``--json``."""
        return self._json(self.report)

    def plot(self, path: str) -> None:
        """Write the figure, as ``--plot``; see ``Fitted.plot``."""
        save_figure(self.report, path)

    @property
    def notes(self) -> tuple[str, ...]:
        """Verdict, notes, cautions and doubts, in words."""
        said = self.said.payload(())
        return (*self.report.payload().get("notes", ()), *said["cautions"], *said.get("doubts", ()))
