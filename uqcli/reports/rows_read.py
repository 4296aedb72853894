"""The rows that were read and left out, in every report of a run."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from typing import Any, Final

from uqcli.base.records import dataclass
from uqcli.base.running.left_out import LeftOut
from uqcli.reports.document import Document, Metrics, Report

SHARE: Final = "dropped_share"
"""Metric that every run has which reads rows; checks may name it before the run."""


def with_rows_read(report: Report, left_out: LeftOut | None) -> Report:
    """Add the rows that a run has read to its report; the report itself if it has read none."""
    return report if left_out is None else _Counted(report=report, left_out=left_out)


@dataclass(frozen=True, kw_only=True)
class _Counted:
    """A report with the rows that were read, and the share of them that was left out as a metric."""

    report: Report
    left_out: LeftOut

    @property
    def checked_metrics(self) -> Mapping[str, Metrics]:
        """See Report; of several results each has the share, as it has alone."""
        by_artifact = self.report.checked_metrics
        return {
            name: {**metrics, SHARE: self.left_out.share} if name or len(by_artifact) == 1 else metrics
            for name, metrics in by_artifact.items()
        }

    def payload(self) -> dict[str, Any]:
        """See Report."""
        content = self.report.payload()
        results = content.get("results", ())
        of_results = [part.get("metrics") for part in results]
        is_own = not results or content.get("metrics") in of_results  # else what compares the results
        for part in (content, *results) if is_own else results:
            if part.get("metrics") is not None:
                part["metrics"] = {**part["metrics"], SHARE: self.left_out.share}
        content["source"] = {**content.get("source", {}), "read": self.left_out.payload()}
        return content

    def document(self) -> Document:
        """See Report."""
        document, sentence = self.report.document(), self.left_out.sentence()
        if self.left_out.dropped:
            return replace(document, lead=(*document.lead, sentence))
        return replace(document, notes=(*document.notes, sentence))
