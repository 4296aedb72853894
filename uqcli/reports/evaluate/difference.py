"""Two models on the same rows: what the second does otherwise than the first."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from types import MappingProxyType
from typing import Final

from uqcli.document import Estimate, ExactEstimate, Metrics, Table, count, ends_of, p_text
from uqcli.reports.comparison import Comparison, comparison_table

HEADER = "difference (second less first)"
_UNPAIRED: Final = (
    "The two look at different columns, so rows are not held against each other one by one: the difference "
    "has no interval."
)


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
        precision, recall = (cell(each, "+.4f") for each in (self.precision, self.recall))
        return precision, recall, "", cell(self.selected, "+,.0f"), ""

    def sentences(self, names: Sequence[str]) -> list[str]:
        """What chance does not explain, in words, and where it may explain all."""
        first, second = names
        return [
            self._on_recall(first, second),
            self._on_precision(first, second),
            self._on_selected(first, second),
        ]

    def _on_recall(self, first: str, second: str) -> str:
        if self.recall_p is None:
            why = "no row is positive" if self.recall.low is not None else "too few cleared rows have a label"
            return f"Recalls cannot be compared: {why}."
        test = (
            f"exact McNemar {p_text(self.recall_p)} on {count(self.disagreements_positive)} positives where "
            "they disagree"
        )
        if not direction(self.recall):
            return f"Chance may explain the difference in recall: {_in_points(self.recall)}; {test}."
        more = "more" if direction(self.recall) == "higher" else "fewer"
        return (
            f"{second} finds {_size(self.recall, 100)} points {more} of the positives than {first} "
            f"({_range(self.recall, 100)}; {test})."
        )

    def _on_precision(self, first: str, second: str) -> str:
        if self.precision.value is None:
            return "Precisions cannot be compared: one of the two selects nothing."
        towards, size = direction(self.precision), _size(self.precision, 100)
        if not towards:
            return f"Chance may explain the difference in precision: {_in_points(self.precision)}."
        return (
            f"The precision of {second} is {size} points {towards} than that of {first} "
            f"({_range(self.precision, 100)})."
        )

    def _on_selected(self, first: str, second: str) -> str:
        test = (
            f"exact McNemar {p_text(self.selected_p)} on {count(self.disagreements)} rows where they disagree"
        )
        if not direction(self.selected):
            return f"Chance may explain the difference in rows selected: {test}."
        more = "more" if direction(self.selected) == "higher" else "fewer"
        return (
            f"{second} selects {_size(self.selected, 1)} rows {more} than {first} "
            f"({_range(self.selected, 1)} among as many new rows; {test})."
        )


@dataclass(frozen=True, kw_only=True)
class CalibratorDifference:
    """What a second calibrator makes of the scores against what a first makes of them.

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
        """What chance does not explain, in words."""
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
            return ["Nothing here tells the two apart: use the one that is simpler to run."]
        if len(better) == 2:
            first, second = (f"{name} by the {lower[name][0]}" for name in names)
            return [
                f"{first}, {second}, each by more than chance explains: the log loss weighs what was said "
                "with certainty and is wrong; use the one whose mistakes cost you less."
            ]
        (name,) = better
        told = " and ".join(lower[name])
        open_ = [said for said in estimates if said not in lower[name]]
        rest = f"; the {open_[0]} does not tell the two apart" if open_ else ""
        verb = "is" if open_ else "are"
        return [f"Use {name}: its {told} {verb} lower by more than chance explains{rest}."]

    def _on(self, metric: str, said: str, names: Sequence[str]) -> str:
        estimate, (first, second) = self.compared.difference[metric], names
        if not isinstance(estimate, Estimate) or estimate.value is None:
            return f"The {said} cannot be compared: it is undefined."
        found = f"The {said} of {second} less that of {first} is {estimate.value:+.4f}"
        if not self.resampled:
            return f"{found}; --bootstrap tells whether chance explains it."
        if estimate.low is None:
            why = "single rows decide it, or too few tell them apart"
            return f"{found}; no interval would hold its level: {why}."
        if not direction(estimate):
            shown = f"{estimate.value:+.4f}{ends_of(estimate, '+.4f')}"
            return f"Chance may explain the difference in {said}: {shown}."
        return (
            f"The {said} of {second} is {_size(estimate, 1)} {direction(estimate)} than that of {first} "
            f"({_range(estimate, 1)})."
        )


@dataclass(frozen=True, kw_only=True)
class SetDifference:
    """What a second artifact's sets hold against a first's.

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
        return cell(self.coverage, "+.4f"), cell(self.mean_set_size, "+.3f")

    def sentences(self, names: Sequence[str]) -> list[str]:
        """What chance does not explain, in words, and where it may explain all."""
        first, second = names
        if self.coverage_p is None:
            return [_UNPAIRED]
        test = (
            f"exact McNemar {p_text(self.coverage_p)} on {count(self.disagreements)} rows where they disagree"
        )
        if not direction(self.coverage):
            shown = _in_points(self.coverage)
            return [f"Chance may explain the difference in coverage: {shown}; {test}."]
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


def cell(estimate: Estimate, form: str) -> str:
    """A difference with its interval, and in a word where chance does not explain it."""
    if estimate.value is None:
        return "-"
    return f"{estimate.value:{form}}{ends_of(estimate, form)} {direction(estimate)}".rstrip()


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
