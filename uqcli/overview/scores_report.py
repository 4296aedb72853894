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
from uqcli.reports.document import Document, HeadCard, Metrics, OneResult, Table, Verdict, head_of, plain
from uqcli.rules.saved import Source

_LABELS: Final = {
    "auc": "AUC",
    "average_precision": "average precision",
    "brier": "Brier score",
    "log_loss": "log loss",
}


@dataclass(frozen=True, kw_only=True)
class ScoresReport(OneResult):
    """Several scores of the same rows.

    Attributes
    ----------
    rows, positives
        By weight.
    resampled
        Rows that were resampled, by weight.
    scores
        Metrics of each score by its name; None for those that it has not.
    differences
        Those of each other score less those of the first, with paired intervals.
    inputs
        Inputs, as a command takes them.
    """

    source: Source
    on_invalid: str
    positive: str | None
    rows: int
    positives: int
    resampled: int
    scores: Mapping[str, Mapping[str, float | None]]
    differences: Mapping[str, Mapping[str, Estimate]]
    inputs: str = "FILE"

    @property
    def metrics(self) -> Metrics:
        """Counts, the metrics of each score by its name, and the differences."""
        return {
            "rows": self.rows,
            "positives": self.positives,
            "scores": self.scores,
            "differences": self.differences,
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
            "scores": [{"name": name, "metrics": plain(metrics)} for name, metrics in self.scores.items()],
            "differences": [
                {"name": name, "against": self._first, "metrics": plain(metrics)}
                for name, metrics in self.differences.items()
            ],
            "notes": [self.sentence(), *self._notes()],
        }

    def document(self) -> Document:
        """Return the readable form."""
        first = self.scores[self._first]
        tables: list[Table] = []
        for other, differences in self.differences.items():
            names = (printable(self._first, 20), printable(other, 20))
            for start, of_recall in (("metric", False), ("recall at precision", True)):
                rows = [
                    (
                        _LABELS.get(name) or name.removeprefix("recall_at_"),
                        share(first[name]),
                        share(self.scores[other][name]),
                        _change(differences[name]),
                    )
                    for name in first
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
    def _first(self) -> str:
        return next(iter(self.scores))

    @property
    def _largest(self) -> tuple[str, Estimate]:
        """The score with the largest gain of AUC over the first one, and this gain."""
        gains = {name: metrics["auc"] for name, metrics in self.differences.items()}
        return max(gains.items(), key=lambda gain: gain[1].value or 0.0)

    def _next(self) -> str:
        """Return the command that looks at the score that ranks better; empty if neither does."""
        name, gain = self._largest
        better = {"higher": name, "lower": self._first}.get(direction(gain))
        return f"{self.inputs} --score {quote(better)}" if better else ""

    def sentence(self) -> str:
        """State which score ranks better, by the AUC."""
        name, gain = self._largest
        name, against, change = printable(name, 30), printable(self._first, 30), _change(gain)
        if gain.value is None:
            return f"The rows of one class do not tell whether '{name}' ranks better than '{against}'."
        if not direction(gain):
            return (
                f"'{name}' does not rank the rows significantly better or worse than '{against}' "
                f"(difference in AUC {change})."
            )
        better = "better" if direction(gain) == "higher" else "worse"
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
    return "-" if estimate.value is None else f"{estimate.value:+.4f}{ends_of(estimate, '+.4f')}"
