"""Differences of two rules on the same test set."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from types import MappingProxyType
from typing import Final

from uqcli.base.records import dataclass
from uqcli.base.wording import p_text
from uqcli.comparison.report import Comparison, comparison_table
from uqcli.estimates.estimate import Estimate, direction, ends_of
from uqcli.evaluate.value_report import MeasuredValue
from uqcli.reports.document import Metrics, Table

HEADER = "difference"
UNPAIRED: Final = "The two rules read different columns, so their difference is not tested."


@dataclass(frozen=True, kw_only=True)
class BoundaryDifference:
    """A second boundary less a first, by weight.

    Recall and precision are differences of proportions; if one is undefined, the value is None and the ends
    are -1 and 1. The p-value of recall is that of McNemar's exact test on positive rows; with clusters or
    sampling weights, of a t-test. It is None without positives, or if the rules differ on too few of them.
    ``selected`` is in rows; the interval is for the expected difference in a new sample of as many rows.
    Disagreements are rows that only one of the two flags.

    ``caught`` is the difference of the shares of positives that are flagged or reviewed; None unless both
    rules have a review. The value is that of gain and cost, if there are any; the net benefit is None unless
    both rules have one at the same odds.
    """

    recall: Estimate
    precision: Estimate
    selected: Estimate
    disagreements: int
    disagreements_positive: int
    caught: Estimate | None = None
    value: MeasuredValue | None = None
    net_benefit: Estimate | None = None

    def metrics(self) -> Metrics:
        """By their contract names."""
        caught, benefit = self.caught, self.net_benefit
        return {
            "recall": self.recall,
            "precision": self.precision,
            "selected": self.selected,
            "recall_p": self.recall.p_value,
            "selected_p": self.selected.p_value,
            "disagreements": self.disagreements,
            "disagreements_positive": self.disagreements_positive,
            **({} if caught is None else {"caught": caught, "caught_p": caught.p_value}),
            **({} if benefit is None else {"net_benefit": benefit}),
            **({} if self.value is None else self.value.metrics()),
        }

    def caught_cell(self, *, brief: bool) -> str:
        """Format the difference of the positives caught."""
        return "" if self.caught is None else _format(self.caught, "+.3f", self.caught.p_value, brief=brief)

    def net_benefit_cell(self) -> str:
        """Format the difference of the net benefits, with its interval."""
        return "" if self.net_benefit is None else _format(self.net_benefit, "+.3f", brief=False)

    def column(self, *, brief: bool, rows: float | None = None) -> tuple[str, str, str]:
        """Format the differences of precision, recall and flagged rows.

        ``rows`` are those that the rows of the file stand for, of which the difference of the flagged ones is
        given in percent; None if each stands for itself.
        """
        selected = _format(self.selected, "+,.0f", self.selected.p_value, brief=brief)
        if rows is not None:
            percent = self.selected.times(100 / rows)
            selected = _format(percent, "+.2f", self.selected.p_value, brief=brief, unit=" %")
        return (
            _format(self.precision, "+.3f", brief=brief),
            _format(self.recall, "+.3f", self.recall.p_value, brief=brief),
            selected,
        )


@dataclass(frozen=True, kw_only=True)
class CalibratorDifference:
    """A second calibrator compared with a first: metrics of the first as before, of the second as after.

    They are paired if both read the same columns; if not, there is no interval. ``resampled`` says that
    intervals were requested.
    """

    compared: Comparison
    paired: bool
    resampled: bool

    def metrics(self) -> Metrics:
        """By their contract names."""
        return self.compared.difference

    def table(self, names: Sequence[str]) -> Table:
        """Build the table of the two side by side."""
        return comparison_table("After calibration", self.compared, (*names, HEADER))

    def notes(self) -> list[str]:
        """State why a difference is not tested."""
        if not self.paired:
            return [UNPAIRED]
        return [] if self.resampled else ["Add --bootstrap 1000 to test the difference."]

    def advice(self, names: Sequence[str]) -> list[str]:
        """State which of the two to use, by the intervals of the losses."""
        estimates = {loss: self.compared.difference[metric] for metric, loss in LOSSES_COMPARED.items()}
        lower: dict[str, list[str]] = {name: [] for name in names}
        for loss, estimate in estimates.items():
            if isinstance(estimate, Estimate) and (towards := direction(estimate)):
                lower[names[1] if towards == "lower" else names[0]].append(loss)
        better = [name for name in names if lower[name]]
        if not self.paired or not self.resampled:
            return []
        if not better:
            return ["The two do not differ significantly: use the simpler map."]
        if len(better) == 2:
            first, second = (f"{name} has the lower {lower[name][0]}" for name in names)
            return [f"{first}, {second}; the log loss punishes confident errors more."]
        (name,) = better
        return [f"Use {name}: it has the lower {' and '.join(lower[name])} (significant)."]


@dataclass(frozen=True, kw_only=True)
class SetDifference:
    """A second rule's prediction sets compared with a first's.

    The coverage has no interval if the two read different columns, else the p-value of the exact McNemar
    test. The mean set size, in classes, has no interval, since rare unseen rows may have sets of very
    different size. Disagreements are rows whose true class is in only one of the two sets.
    """

    coverage: Estimate
    mean_set_size: Estimate
    disagreements: int | None

    def metrics(self) -> Metrics:
        """By their contract names."""
        return {
            "coverage": self.coverage,
            "mean_set_size": self.mean_set_size,
            "coverage_p": self.coverage.p_value,
            "disagreements": self.disagreements,
        }

    def column(self, *, brief: bool) -> tuple[str, str]:
        """Format the differences of coverage and mean set size."""
        coverage = _format(self.coverage, "+.3f", self.coverage.p_value, brief=brief)
        return coverage, f"{self.mean_set_size.value:+.3f}"

    def notes(self) -> list[str]:
        """State why the difference is not tested."""
        return [UNPAIRED] if self.disagreements is None else []


LOSSES_COMPARED: Final[Mapping[str, str]] = MappingProxyType({"log_loss": "log loss", "brier": "Brier score"})
"""Names of the metrics whose difference has an interval."""


def _format(
    estimate: Estimate, form: str, p_value: float | None = None, *, brief: bool, unit: str = ""
) -> str:
    """Format a difference, with its interval unless brief, and its significance."""
    if estimate.value is None:
        return "-"
    ends = "" if brief else ends_of(estimate, form)
    if estimate.low is None:
        return f"{estimate.value:{form}}{unit}"
    significance = "n.s." if not direction(estimate) else "sig." if p_value is None else p_text(p_value)
    return f"{estimate.value:{form}}{unit}{ends} ({significance.replace(' ', '')})"
