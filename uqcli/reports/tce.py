"""The report of ``uqcli tce``."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import msgspec
import numpy as np

from uqcli.artifacts.models import Source
from uqcli.counts import Ints
from uqcli.defaults import VERSION
from uqcli.methods.metrics.calibration_error import ScoreBins
from uqcli.reports.document import Document, Metrics, Table, count, share

_MEANINGS = {
    "tce": "predictions that their bin's labels speak against, %",
    "tce_q": "the same on quantile bins, %",
    "tce_v": "the same on isotonic (PAVA) bins, %",
    "ece": "mean |rate - mean score|, equispaced bins",
    "ace": "the same on quantile bins",
    "mce": "largest |rate - mean score|, equispaced bins",
    "mce_q": "the same on quantile bins",
    "brier": "mean squared error",
    "log_loss": "mean negative log likelihood, nats",
    "estimation_error": "variance of labels within the bins, by rows",
    "within_bin_error": "the same, mean over bins",
}


class TceParameters(msgspec.Struct, frozen=True, kw_only=True):
    """The options that shape the result."""

    binning: str
    n_min: int | None
    n_max: int | None
    n_bins: int
    alpha: float
    test: str
    on_invalid: str
    positive: str | None


@dataclass(frozen=True, kw_only=True)
class TestedBins:
    """Score bins and the rows rejected in each: int64 of shape (B,)."""

    bins: ScoreBins
    rejected: Ints


@dataclass(frozen=True, kw_only=True)
class TceReport:
    """Calibration errors of one column of scores."""

    source: Source
    parameters: TceParameters
    metrics: Mapping[str, float | None]
    bins: TestedBins
    warnings: tuple[str, ...]

    @property
    def gated(self) -> Mapping[str, Metrics]:
        """One set of metrics."""
        return {"": self.metrics}

    def payload(self) -> dict[str, Any]:
        """The JSON form."""
        return {
            "command": "tce",
            "uqcli_version": VERSION,
            "source": msgspec.to_builtins(self.source),
            "parameters": msgspec.to_builtins(self.parameters),
            "metrics": dict(self.metrics),
            "bins": self._bins_as_json(),
            "notes": [self.summary(), *self.warnings],
        }

    def document(self) -> Document:
        """The readable form."""
        rows = [(name, _MEANINGS[name], _value(name, value)) for name, value in self.metrics.items()]
        metrics = Table(title="", header=("metric", "meaning", "value"), rows=rows, left=2)
        header = ("from", "to", "rows", "positive", "rate", "mean score", "rejected")
        bins = Table(title=f"Bins ({self.parameters.binning})", header=header, rows=self._bin_rows(), left=0)
        title = f"Calibration of {count(self.source.rows)} rows, {count(self.source.positives)} positive"
        return Document(title=title, tables=[metrics, bins], notes=[self.summary(), *self.warnings])

    def summary(self) -> str:
        """Say in plain words what the numbers mean for this file."""
        bins, rejected = self.bins.bins, self.bins.rejected
        total, against = int(bins.count.sum()), int(rejected.sum())
        percent = (
            f"{100 * against / total:.1f} % of predictions deviate significantly from their bin's labels"
        )
        if against == 0:
            return f"{percent}: nothing here speaks against these probabilities."
        over = rejected * (bins.mean_score > bins.rate)
        high, low = int(over.sum()), against - int(over.sum())
        if high and low:
            mostly = "too high" if high >= low else "too low"
            which = f"{percent}, mostly because they are {mostly}"
        else:
            which = f"{percent} because they are {'too high' if high else 'too low'}"
        worst = int(np.argmax(rejected))
        return (
            f"{which}; most of them between {bins.low[worst]:.3g} and {bins.high[worst]:.3g}, where the mean "
            f"score is {bins.mean_score[worst]:.3g} and {100 * bins.rate[worst]:.3g} % are positive."
        )

    def _bins_as_json(self) -> list[dict[str, Any]]:
        bins = self.bins.bins
        columns = zip(
            bins.low.tolist(),
            bins.high.tolist(),
            bins.count.tolist(),
            bins.positives.tolist(),
            bins.rate.tolist(),
            bins.mean_score.tolist(),
            self.bins.rejected.tolist(),
            strict=True,
        )
        return [
            {
                "low": low,
                "high": high,
                "count": rows,
                "positives": positives,
                "rate": rate if rows else None,
                "mean_score": mean if rows else None,
                "rejected": rejected,
            }
            for low, high, rows, positives, rate, mean, rejected in columns
        ]

    def _bin_rows(self) -> list[tuple[str, ...]]:
        return [
            (
                f"{each['low']:.4f}",
                f"{each['high']:.4f}",
                count(each["count"]),
                count(each["positives"]),
                share(each["rate"]),
                share(each["mean_score"]),
                f"{100 * each['rejected'] / each['count']:.1f} %" if each["count"] else "-",
            )
            for each in self._bins_as_json()
        ]


def _value(name: str, value: float | None) -> str:
    return f"{value:.2f} %" if name.startswith("tce") and value is not None else share(value)
