"""What a boundary does on a test set, its value in money, and the difference of two boundaries."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import field
from typing import Final

from uqcli.base.records import dataclass
from uqcli.base.sampling_weights import UNITS
from uqcli.base.wording import percent
from uqcli.estimates.confusion import Confusion, Rate
from uqcli.estimates.estimate import Estimate, direction, ends_of, money_change
from uqcli.evaluate.report import difference_cell
from uqcli.reports.document import Metrics

VALUE_ROWS: Final = ("value", "gain caught")
"""Names of the rows of the table."""


@dataclass(frozen=True, kw_only=True)
class MeasuredValue:
    """Value of a boundary on a test set, or the difference of two; with intervals if rows suffice.

    The value is the gains of the flagged positive rows less the costs of the other flagged rows.
    ``value_caught`` is the share of the gain of all positive rows that the flagged ones have; its value is
    None without gain. ``heavy_tailed`` says that a few large amounts decide the value.
    """

    value: Estimate
    value_caught: Estimate
    heavy_tailed: bool = False

    def metrics(self) -> Metrics:
        """By their contract names."""
        return {"value": self.value, "value_caught": self.value_caught}

    def sentence(self, confidence: float) -> str:
        """State what the flagged rows are worth, with its interval, and the share of the possible gain."""
        value, caught = self.value, self.value_caught.value
        worth = f"The flagged rows are worth {_rounded(value.value)}"
        if value.low is not None and value.high is not None:
            ends = f"{_rounded(value.low)} to {_rounded(value.high)}"
            worth = f"{worth} ({100 * confidence:g} % interval {ends})"
        of_all = "" if caught is None else f", which is {percent(caught)} of the gain from all positives"
        return f"{worth}{of_all}."

    def cautions(self, name: str) -> list[str]:
        """Caution that the interval of the value rests on a few large amounts; empty if it does not."""
        if not self.heavy_tailed or self.value.low is None:
            return []
        return [f"{name}: a few large amounts decide it, so its interval may be too short: use more rows."]

    def cells(self) -> tuple[str, str]:
        """Format the cells of one rule, in the order of VALUE_ROWS."""
        caught = self.value_caught
        share = "-" if caught.value is None else f"{caught.value:.3f}{ends_of(caught, '.3f')}"
        high, value = self.value.high, self.value.value
        margin = "" if high is None or value is None else f" ± {_rounded(high - value)}"
        return f"{_rounded(value)}{margin}", share

    def difference_cells(self, *, brief: bool) -> tuple[str, str]:
        """Format the cells of a difference; without intervals if brief."""
        value, caught = self.value, self.value_caught
        share = "-" if caught.value is None else f"{caught.value:+.3f}"
        return (
            f"{_rounded(value.value, '+')}{'' if brief else ends_of(value, '+,.0f')}{_significance(value)}",
            f"{share}{'' if brief else ends_of(caught, '+.3f')}{_significance(caught)}",
        )


def _rounded(value: float | None, sign: str = "") -> str:
    """Format an amount in a table, without decimals if it is large."""
    return "-" if value is None else f"{value:{sign},.{0 if abs(value) >= 1000 else 2}f}"


def _significance(estimate: Estimate) -> str:
    if estimate.low is None or estimate.value is None:
        return ""
    return " (sig.)" if direction(estimate) else " (n.s.)"


def worth_more(names: Sequence[str], difference: MeasuredValue, otherwise: str) -> list[str]:
    """State which of two rules is worth more on the test set, or what to do if neither is significantly."""
    estimate = difference.value
    if not estimate.value or not direction(estimate):
        why = ", too few rows differ" if estimate.low is None else ""
        return [f"The values do not differ significantly ({money_change(estimate)}{why}): {otherwise}."]
    better = names[1] if estimate.value > 0 else names[0]
    size = Estimate(
        value=abs(estimate.value),
        low=min(abs(estimate.low or 0.0), abs(estimate.high or 0.0)),
        high=max(abs(estimate.low or 0.0), abs(estimate.high or 0.0)),
    )
    worth = f"{_rounded(size.value)} ({_rounded(size.low)} to {_rounded(size.high)})"
    return [f"{better} is worth {worth} more on these rows: use it."]


@dataclass(frozen=True, kw_only=True)
class MeasuredZones:
    """Rates of a rule with a review on a test set, by weight, with intervals.

    ``caught`` is the share of positives that are flagged or reviewed, ``miss`` that of cleared ones, and
    ``review_share`` the share of rows that are reviewed.
    """

    caught: Estimate
    review_share: Estimate
    miss: Estimate
    reviewed: int


@dataclass(frozen=True, kw_only=True)
class MeasuredBoundary:
    """Counts and rates of a boundary on a test set, by weight, with intervals.

    Recall and false-positive rate are UNKNOWN if labels are missing and too few unflagged rows have one.
    ``alert_rate`` is the share of the rows that are flagged. Rows without a label, ``unlabelled``, are left
    out. ``promise_broken`` is 1 if the target is missed significantly, 0 if not, None if not tested. Zones
    are those of a review, and the value that of a gain and a cost. The net benefit is at the odds of the
    constraint, UNKNOWN as for recall or if they are infinite; None if the constraint sets no odds, or with
    class weights. There are clusters if rows depend on each other, and ``weighted`` has the sums of sampling
    weights, in units, if there are any.

    ``omission`` is the share of positives among the cleared rows; None if the rule does not limit it.
    ``promised`` are the rates that the constraint bounds, metrics even if they are none of other rules. If
    probabilities of all rows are used, ``prevalence`` is the share of positive rows, and ``assisted`` has the
    rates for which they are used, with the ratio of the labels that would be needed without them; None where
    these show no interval.
    """

    confusion: Confusion[int]
    precision: Estimate
    recall: Estimate
    fpr: Estimate
    alert_rate: Estimate
    unlabelled: int = 0
    target_precision: Estimate | None = None
    promise_broken: int | None = None
    zones: MeasuredZones | None = None
    value: MeasuredValue | None = None
    net_benefit: Estimate | None = None
    clusters: Mapping[str, int] | None = None
    weighted: Confusion[int] | None = None
    omission: Estimate | None = None
    promised: tuple[Rate | None, ...] = ()
    prevalence: Estimate | None = None
    assisted: Mapping[str, float | None] = field(default_factory=dict)

    def rate(self, rate: Rate) -> Estimate:
        """Return the estimate of a rate of flagged rows."""
        if rate is Rate.SPECIFICITY:
            return self.fpr.complement()
        estimate: Estimate = getattr(self, rate)
        return estimate

    @property
    def totals(self) -> Confusion[int]:
        """Whole numbers whose ratios are the rates, to be compared with bounds exactly."""
        return self.weighted or self.confusion

    @property
    def stands_for(self) -> float | None:
        """Rows that those of the file stand for, by weight; None if each stands for itself."""
        return None if self.weighted is None else self.weighted.rows / UNITS

    @property
    def selected_share(self) -> float:
        """Share of the flagged rows among all rows."""
        return self.totals.selected / self.totals.rows

    @property
    def by_weight(self) -> str:
        """What stands before a share beside a count of rows, if the share is by weight."""
        return "" if self.weighted is None else "by weight "

    def metrics(self) -> Metrics:
        """By their contract names."""
        counts = self.confusion
        optional = {"target_precision": self.target_precision}, {"net_benefit": self.net_benefit}
        target, benefit = ({k: v for k, v in part.items() if v is not None} for part in optional)
        specificity = Rate.SPECIFICITY in self.promised
        return {
            **target,
            "precision": self.precision,
            "recall": self.recall,
            "fpr": self.fpr,
            "selected": counts.selected,
            "true_positives": counts.true_positives,
            "rows": counts.rows,
            "positives": counts.positives,
            "unlabelled": self.unlabelled,
            "promise_broken": self.promise_broken,
            **benefit,
            "selected_share": self.selected_share,
            **({"specificity": self.rate(Rate.SPECIFICITY)} if specificity else {}),
            **({} if self.prevalence is None else {"prevalence": self.prevalence}),
            **({} if self.omission is None else {"omission": self.omission}),
            **(self.clusters or {}),
            **({} if self.zones is None else vars(self.zones)),
            **({} if self.value is None else self.value.metrics()),
        }


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
        return (
            ""
            if self.caught is None
            else difference_cell(self.caught, "+.3f", self.caught.p_value, brief=brief)
        )

    def net_benefit_cell(self) -> str:
        """Format the difference of the net benefits, with its interval."""
        return "" if self.net_benefit is None else difference_cell(self.net_benefit, "+.3f", brief=False)

    def column(self, *, brief: bool, rows: float | None = None) -> tuple[str, str, str]:
        """Format the differences of precision, recall and flagged rows.

        ``rows`` are those that the rows of the file stand for, of which the difference of the flagged ones is
        given in percent; None if each stands for itself.
        """
        selected = difference_cell(self.selected, "+,.0f", self.selected.p_value, brief=brief)
        if rows is not None:
            percent = self.selected.times(100 / rows)
            selected = difference_cell(percent, "+.2f", self.selected.p_value, brief=brief, unit=" %")
        return (
            difference_cell(self.precision, "+.3f", brief=brief),
            difference_cell(self.recall, "+.3f", self.recall.p_value, brief=brief),
            selected,
        )
