"""Two models on the same rows: what the second does otherwise than the first."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from types import MappingProxyType
from typing import Final

from uqcli.document import Estimate, ExactEstimate, Metrics, Table, count, ends_of, p_text
from uqcli.reports.comparison import Comparison, comparison_table

HEADER = "difference"
_UNPAIRED: Final = "The two read different columns: their difference is not tested."


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

    def column(self) -> tuple[str, ...]:
        """Beside the cells of the two: precision, recall, fpr, selected, true positives."""
        return (
            _tested(self.precision, "+.3f"),
            _tested(self.recall, "+.3f", self.recall_p),
            "",
            _tested(self.selected, "+,.0f", self.selected_p),
            "",
        )

    def sentences(self, names: Sequence[str]) -> list[str]:
        """Each difference with its interval and test."""
        return [self._on_recall(*names), self._on_precision(*names), self._on_selected(*names)]

    def _on_recall(self, first: str, second: str) -> str:
        if self.recall_p is None:
            why = "no row is positive" if self.recall.low is not None else "too few cleared rows have a label"
            return f"Recall cannot be compared: {why}."
        where = f"the {count(self.disagreements_positive)} positives on which they differ"
        if not direction(self.recall):
            return (
                f"Recall does not differ significantly: {_in_points(self.recall)} "
                f"({_mcnemar(self.recall_p, where)})."
            )
        more = "more" if direction(self.recall) == "higher" else "less"
        return (
            f"{second} finds {_size(self.recall, 100)} points {more} of the positives than {first} "
            f"({_range(self.recall, 100)}; {_mcnemar(self.recall_p, where)})."
        )

    def _on_precision(self, first: str, second: str) -> str:
        if self.precision.value is None:
            return "Precision cannot be compared: one of the two flags no row."
        towards, size = direction(self.precision), _size(self.precision, 100)
        if not towards:
            return f"Precision does not differ significantly: {_in_points(self.precision)}."
        return (
            f"The precision of {second} is {size} points {towards} than that of {first} "
            f"({_range(self.precision, 100)})."
        )

    def _on_selected(self, first: str, second: str) -> str:
        where = f"the {count(self.disagreements)} rows on which they differ"
        if not direction(self.selected):
            return f"Alerts do not differ significantly in number ({_mcnemar(self.selected_p, where)})."
        more = "more" if direction(self.selected) == "higher" else "fewer"
        return (
            f"{second} flags {_size(self.selected, 1)} rows {more} than {first} "
            f"({_range(self.selected, 1)}; {_mcnemar(self.selected_p, where)})."
        )


def _mcnemar(p_value: float | None, where: str) -> str:
    return f"exact McNemar {p_text(p_value)} on {where}"


def _tested(estimate: Estimate, form: str, p_value: float | None = None) -> str:
    """A difference, and whether it is significant."""
    if estimate.value is None:
        return "-"
    said = "n.s." if not direction(estimate) else "sig." if p_value is None else p_text(p_value)
    return f"{estimate.value:{form}} ({said.replace(' ', '')})"


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

    def sentences(self, names: Sequence[str]) -> list[str]:
        """Each difference with its interval."""
        if not self.paired:
            return [_UNPAIRED]
        return [self._on(metric, said, names) for metric, said in LOSSES_COMPARED.items()]

    def advice(self, names: Sequence[str]) -> list[str]:
        """Which to use, where an interval tells the two apart."""
        estimates = {said: self.compared.difference[metric] for metric, said in LOSSES_COMPARED.items()}
        lower: dict[str, list[str]] = {name: [] for name in names}
        for said, each in estimates.items():
            if isinstance(each, Estimate) and (towards := direction(each)):
                lower[names[1] if towards == "lower" else names[0]].append(said)
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

    def _on(self, metric: str, said: str, names: Sequence[str]) -> str:
        estimate, (first, second) = self.compared.difference[metric], names
        if not isinstance(estimate, Estimate) or estimate.value is None:
            return f"The {said} cannot be compared: it is undefined."
        found = f"The {said} of {second} less that of {first} is {estimate.value:+.4f}"
        if not self.resampled:
            return f"{found}; --bootstrap tests it."
        if estimate.low is None:
            return f"{found}; no interval holds its level, as single rows decide it."
        if not direction(estimate):
            shown = f"{estimate.value:+.4f}{ends_of(estimate, '+.4f')}"
            return f"The {said} does not differ significantly: {shown}."
        return (
            f"The {said} of {second} is {_size(estimate, 1)} {direction(estimate)} than that of {first} "
            f"({_range(estimate, 1)})."
        )


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

    def column(self) -> tuple[str, ...]:
        """Beside the cells of the two: coverage, mean set size."""
        return _tested(self.coverage, "+.3f", self.coverage_p), f"{self.mean_set_size.value:+.3f}"

    def sentences(self, names: Sequence[str]) -> list[str]:
        """Each difference with its interval and test."""
        first, second = names
        if self.coverage_p is None:
            return [_UNPAIRED]
        test = _mcnemar(self.coverage_p, f"the {count(self.disagreements)} rows on which they differ")
        if not direction(self.coverage):
            return [f"Coverage does not differ significantly: {_in_points(self.coverage)} ({test})."]
        more = "more" if direction(self.coverage) == "higher" else "fewer"
        return [
            f"{second} covers {_size(self.coverage, 100)} points {more} of the rows than {first} "
            f"({_range(self.coverage, 100)}; {test})."
        ]


LOSSES_COMPARED: Final[Mapping[str, str]] = MappingProxyType({"log_loss": "log loss", "brier": "Brier score"})
"""Metrics of which a difference has an interval, and what they are called."""


def direction(estimate: Estimate) -> str:
    """Higher or lower where the interval leaves 0 out, else nothing."""
    if estimate.low is None or estimate.high is None or estimate.low <= 0 <= estimate.high:
        return ""
    return "higher" if estimate.low > 0 else "lower"


def _size(estimate: Estimate, unit: int) -> str:
    return _number(abs(unit * (estimate.value or 0.0)))


def _range(estimate: Estimate, unit: int) -> str:
    low, high = sorted(abs(unit * (end or 0.0)) for end in (estimate.low, estimate.high))
    return f"{_number(low)} to {_number(high)}"


def _in_points(estimate: Estimate) -> str:
    value, low, high = (100 * (each or 0.0) for each in (estimate.value, estimate.low, estimate.high))
    return f"{value:+.3g} points ({low:+.3g} to {high:+.3g})"


def _number(value: float) -> str:
    """Three digits; of numbers in the thousands, whole."""
    return f"{value:,.0f}" if value >= 1000 else f"{value:.3g}"
