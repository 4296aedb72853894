"""Two models on the same rows: what the second does otherwise than the first."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from types import MappingProxyType
from typing import Final

from uqcli.document import Estimate, ExactEstimate, Metrics, Table, ends_of, p_text
from uqcli.reports.comparison import Comparison, comparison_table

HEADER = "difference"
UNPAIRED: Final = "The two read different columns: their difference is not tested."


@dataclass(frozen=True, kw_only=True)
class BoundaryDifference:
    """A second boundary less a first, by weight.

    Attributes
    ----------
    recall, precision
        Differences of proportions; where one is undefined, None between -1 and 1.
    selected
        In rows; the interval is of what is expected among as many rows drawn anew.
    recall_p, selected_p
        Exact McNemar tests: among positive rows (None without any), and among all rows.
    disagreements, disagreements_positive
        Rows that one of them selects and the other does not, and the positive ones among them.
    """

    recall: Estimate
    precision: ExactEstimate
    selected: Estimate
    recall_p: float | None
    selected_p: float
    disagreements: int
    disagreements_positive: int

    def metrics(self) -> Metrics:
        """By their contract names."""
        return dict(vars(self))

    def column(self, *, brief: bool) -> tuple[str, str, str]:
        """Beside the cells of the two: precision, recall, selected."""
        return (
            _tested(self.precision, "+.3f", brief=brief),
            _tested(self.recall, "+.3f", self.recall_p, brief=brief),
            _tested(self.selected, "+,.0f", self.selected_p, brief=brief),
        )


@dataclass(frozen=True, kw_only=True)
class CalibratorDifference:
    """A second calibrator compared with a first.

    Attributes
    ----------
    compared
        The first's probabilities as before, the second's as after.
    paired
        Whether both read the same rows; if not there is no interval.
    resampled
        Whether intervals were asked for.
    """

    compared: Comparison
    paired: bool
    resampled: bool

    def metrics(self) -> Metrics:
        """By their contract names."""
        return self.compared.difference

    def table(self, names: Sequence[str]) -> Table:
        """The two side by side."""
        return comparison_table("After calibration", self.compared, (*names, HEADER))

    def notes(self) -> list[str]:
        """Why a difference is not tested."""
        if not self.paired:
            return [UNPAIRED]
        return [] if self.resampled else ["--bootstrap tests the difference."]

    def advice(self, names: Sequence[str]) -> list[str]:
        """Which to use, where an interval tells the two apart."""
        estimates = {loss: self.compared.difference[metric] for metric, loss in LOSSES_COMPARED.items()}
        lower: dict[str, list[str]] = {name: [] for name in names}
        for loss, estimate in estimates.items():
            if isinstance(estimate, Estimate) and (towards := direction(estimate)):
                lower[names[1] if towards == "lower" else names[0]].append(loss)
        better = [name for name in names if lower[name]]
        if not self.paired or not self.resampled:
            return []
        if not better:
            return ["No significant difference: use the simpler map."]
        if len(better) == 2:
            first, second = (f"{name} has the lower {lower[name][0]}" for name in names)
            return [f"{first}, {second}; the log loss punishes confident errors more."]
        (name,) = better
        return [f"Use {name}: lower {' and '.join(lower[name])} (significant)."]


@dataclass(frozen=True, kw_only=True)
class SetDifference:
    """A second rule's prediction sets compared with a first's.

    Attributes
    ----------
    coverage
        Without an interval where the two do not read the same rows.
    coverage_p
        Exact McNemar test.
    disagreements
        Rows whose label is in one of the two sets only.
    mean_set_size
        In classes. It has no interval: sets may differ by any number of classes, on rows too rare to be seen.
    """

    coverage: Estimate
    mean_set_size: Estimate
    coverage_p: float | None
    disagreements: int | None

    def metrics(self) -> Metrics:
        """By their contract names."""
        return dict(vars(self))

    def column(self, *, brief: bool) -> tuple[str, str]:
        """Beside the cells of the two: coverage, mean set size."""
        coverage = _tested(self.coverage, "+.3f", self.coverage_p, brief=brief)
        return coverage, f"{self.mean_set_size.value:+.3f}"

    def notes(self) -> list[str]:
        """Why the difference is not tested."""
        return [UNPAIRED] if self.coverage_p is None else []


LOSSES_COMPARED: Final[Mapping[str, str]] = MappingProxyType({"log_loss": "log loss", "brier": "Brier score"})
"""Metrics of which a difference has an interval, and what they are called."""


def direction(estimate: Estimate) -> str:
    """Higher or lower where the interval leaves 0 out, else nothing."""
    if estimate.low is None or estimate.high is None or estimate.low <= 0 <= estimate.high:
        return ""
    return "higher" if estimate.low > 0 else "lower"


def _tested(estimate: Estimate, form: str, p_value: float | None = None, *, brief: bool) -> str:
    """A difference, with its interval unless brief, and whether it is significant."""
    if estimate.value is None:
        return "-"
    ends = "" if brief else ends_of(estimate, form)
    if estimate.low is None:
        return f"{estimate.value:{form}}"
    significance = "n.s." if not direction(estimate) else "sig." if p_value is None else p_text(p_value)
    return f"{estimate.value:{form}}{ends} ({significance.replace(' ', '')})"
