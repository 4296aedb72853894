"""Report of ``uqcli overview`` for several score columns."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Final

from uqcli.base.defaults import CONFIDENCE, SEED
from uqcli.base.escaping import printable
from uqcli.base.operating_system import quote
from uqcli.base.records import dataclass
from uqcli.base.wording import count, rows_of, share
from uqcli.estimates.estimate import Estimate, direction, ends_of
from uqcli.reports.document import (
    Document,
    HeadCard,
    Metrics,
    OneResult,
    Table,
    Verdict,
    head_of,
    plain,
)
from uqcli.rules.saved import Source

_LABELS: Final = {
    "auc": "AUC",
    "average_precision": "average precision",
    "brier": "Brier score",
    "log_loss": "log loss",
}


@dataclass(frozen=True, kw_only=True)
class ScoreMetrics:
    """Metrics of a score column; None for those that it has not."""

    name: str
    metrics: Mapping[str, float | None]


@dataclass(frozen=True, kw_only=True)
class ScoreDifference:
    """Differences between a score and the first one, with paired intervals."""

    name: str
    against: str
    metrics: Mapping[str, Estimate]


@dataclass(frozen=True, kw_only=True)
class ScoresReport(OneResult):
    """Several scores of the same rows.

    Attributes
    ----------
    rows, positives
        By weight.
    resampled
        Rows that were resampled, by weight.
    precisions
        Precisions at which recalls are compared.
    inputs
        Inputs, as a command takes them.
    """

    source: Source
    on_invalid: str
    positive: str | None
    rows: int
    positives: int
    resampled: int
    precisions: tuple[str, ...]
    scores: tuple[ScoreMetrics, ...]
    differences: tuple[ScoreDifference, ...]
    inputs: str = "FILE"

    @property
    def metrics(self) -> Metrics:
        """Counts, the metrics of each score by its name, and the differences."""
        return {
            "rows": self.rows,
            "positives": self.positives,
            "scores": {score.name: dict(score.metrics) for score in self.scores},
            "differences": {difference.name: dict(difference.metrics) for difference in self.differences},
        }

    def payload(self) -> dict[str, Any]:
        """Return the JSON form."""
        parameters = {
            "on_invalid": self.on_invalid,
            "positive": self.positive,
            "confidence": CONFIDENCE,
            "seed": SEED,
            "resampled": self.resampled,
        }
        return {
            **head_of("overview", self.source, parameters),
            "metrics": plain({"rows": self.rows, "positives": self.positives}),
            "scores": [{"name": score.name, "metrics": plain(score.metrics)} for score in self.scores],
            "differences": [
                {"name": each.name, "against": each.against, "metrics": plain(each.metrics)}
                for each in self.differences
            ],
            "notes": [self.sentence(), *self._notes()],
        }

    def document(self) -> Document:
        """Return the readable form."""
        first = self.scores[0]
        tables: list[Table] = []
        for difference, score in zip(self.differences, self.scores[1:], strict=True):
            names = (printable(first.name, 20), printable(score.name, 20))
            for start, of_recall in (("metric", False), ("recall at precision", True)):
                rows = [
                    (
                        _LABELS.get(name) or name.removeprefix("recall_at_"),
                        share(first.metrics[name]),
                        share(score.metrics[name]),
                        _change(difference.metrics[name]),
                    )
                    for name in first.metrics
                    if (name not in _LABELS) is of_recall
                ]
                header = (start, *names, f"difference ({100 * CONFIDENCE:g} % interval)")
                tables += [Table(title="", header=header, rows=rows)] if rows else []
        title = self.sentence()
        return Document(
            title=title,
            lead=[
                f"Of {rows_of(self.rows)}, {count(self.positives)} are positive.",
                "Recall is that of one threshold on each score.",
            ],
            tables=tables,
            notes=self._notes(),
            card=HeadCard(title=title.removesuffix("."), verdict=Verdict(text="compared on the same rows")),
            next=self._next(),
            lines=24,
        )

    @property
    def _largest(self) -> ScoreDifference:
        """The difference from the first score with the largest gain of AUC."""
        return max(self.differences, key=lambda each: each.metrics["auc"].value or 0.0)

    def _next(self) -> str:
        """Return the command that looks at the score that ranks better; empty if neither does."""
        difference = self._largest
        better = {"higher": difference.name, "lower": difference.against}.get(
            direction(difference.metrics["auc"])
        )
        return f"{self.inputs} --score {quote(better)}" if better else ""

    def sentence(self) -> str:
        """State which score ranks better, by the AUC."""
        difference = self._largest
        estimate, against = difference.metrics["auc"], printable(difference.against, 30)
        name = printable(difference.name, 30)
        change = _change(estimate)
        if estimate.value is None:
            return f"The rows of one class do not tell whether '{name}' ranks better than '{against}'."
        if not direction(estimate):
            return (
                f"'{name}' does not rank the rows significantly better or worse than '{against}' "
                f"(difference in AUC {change})."
            )
        better = "better" if direction(estimate) == "higher" else "worse"
        return f"'{name}' ranks the rows {better} than '{against}' (difference in AUC {change})."

    def _notes(self) -> list[str]:
        drawn = "" if self.resampled >= self.rows else f" of {count(self.resampled)} rows drawn at random"
        notes = [
            f"Intervals are from 200 paired resamplings{drawn}; seed {SEED}. Where none would hold, none is "
            "given.",
            "The recall is that of boundary --algorithm st, chosen on these rows.",
        ]
        if len(self.differences) > 1:
            notes.append("Each interval holds by itself; the best of several scores looks better than it is.")
        return notes


def _change(estimate: Estimate) -> str:
    """Format a difference with its interval."""
    return "-" if estimate.value is None else f"{estimate.value:+.4f}{ends_of(estimate, '+.4f')}"
