"""The report of ``uqcli evaluate`` on calibrators."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from uqcli.artifacts.calibrator import CalibratorArtifact
from uqcli.document import Document, Metrics, Promise, count
from uqcli.reports.before_after import ReliabilityPanel, before_and_after_figure
from uqcli.reports.comparison import (
    Comparison,
    comparison_table,
    decided_by_single_rows,
    first_by_brier,
    ranked_table,
    still_off,
    verdict,
)
from uqcli.reports.evaluate.boundaries import (
    UNSEEN,
    Evaluated,
    each_alone,
    number_of,
)
from uqcli.reports.evaluate.difference import CalibratorDifference


@dataclass(frozen=True, kw_only=True)
class MeasuredCalibrator:
    """What a calibrator makes of labelled rows.

    Attributes
    ----------
    rows
        By weight.
    promise
        Whether its errors hold, where it states some; None where it promises nothing.
    """

    compared: Comparison
    rows: int
    promise: Promise | None

    def metrics(self) -> Metrics:
        """By their contract names."""
        broken = {} if self.promise is None else {"promise_broken": self.promise.broken}
        return {**self.compared.metrics(), "rows": self.rows, **broken}


@dataclass(frozen=True, kw_only=True)
class EvaluateCalibratorReport(Evaluated):
    """How saved calibrators do on labelled rows.

    Attributes
    ----------
    resampling
        Replicates of the intervals, and the seed.
    panels
        Reliability before and after: of each part of a single calibrator, or of all rows for each of several.
    promises
        Of those that promise something, whether it holds here.
    """

    resampling: tuple[int, int]
    panels: tuple[ReliabilityPanel, ...]
    results: tuple[tuple[str, CalibratorArtifact, MeasuredCalibrator], ...]
    promises: tuple[Promise, ...] = ()
    difference: CalibratorDifference | None = None

    def payload(self) -> dict[str, Any]:
        """See Evaluated."""
        replicates, seed = self.resampling
        parameters = {"bootstrap": replicates, "seed": seed if replicates else None}
        return self.in_json([*self._notes(), *self._which()], parameters)

    def document(self) -> Document:
        """The readable form."""
        named = [(f"{name} ({artifact.method})", found.compared) for name, artifact, found in self.results]
        tables = [comparison_table(*named[0])]
        if len(named) > 1:
            tables = [ranked_table("By log loss: the lowest first", "calibrator", named)]
        if self.difference is not None:
            tables.append(self.difference.table(self._names()))
        positives = "" if self.source.positives is None else f", {count(self.source.positives)} positive"
        of = number_of(self.results, "a calibrator", "calibrators")
        title = f"Evaluation of {of} on {count(self.source.rows)} rows{positives}"
        figure = before_and_after_figure(self.panels)
        return Document(
            title=title,
            tables=tables,
            lead=self._which(),
            notes=self._notes(),
            figures=[figure],
            promises=self.promises,
        )

    def _which(self) -> list[str]:
        """Which of two to use, as far as these rows tell."""
        return [] if self.difference is None else self.difference.advice(self._names())

    def _notes(self) -> list[str]:
        apart = [] if self.difference is None else self.difference.sentences(self._names())
        named = [(name, found.compared) for name, _, found in self.results]
        said = [
            f"{name}: {' '.join([verdict(compared, 'here'), *still_off(compared)])}"
            for name, compared in named
        ]
        several = [] if len(named) == 2 else first_by_brier(named, "evaluate two alone to tell them apart")
        promised = [each.said for each in self.promises]
        alone = each_alone(self.results)
        return [*said, *promised, *alone, *apart, *several, *decided_by_single_rows(named), UNSEEN]

    def _names(self) -> list[str]:
        return [name for name, _, _ in self.results]
