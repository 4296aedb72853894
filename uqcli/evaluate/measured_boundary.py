"""What a boundary does on a test set: counts, rates, the value in money, and whether its target is missed.

Two boundaries are measured by their difference.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import field
from fractions import Fraction
from typing import Final

from uqcli.base.choices import ReviewKind
from uqcli.base.notices import Notice
from uqcli.base.records import dataclass
from uqcli.base.sampling_weights import UNITS
from uqcli.base.wording import count, p_text, percent, rounded_money
from uqcli.boundary.rule import BoundaryArtifact
from uqcli.boundary.search.constraint import Constraint
from uqcli.estimates.confusion import Confusion, Rate
from uqcli.estimates.design import Design
from uqcli.estimates.estimate import UNKNOWN, Estimate, direction, ends_of, interval, money_change
from uqcli.estimates.proportion import BoundedRate
from uqcli.evaluate.report import EvaluatedPart, difference_cell, points_cell
from uqcli.reports.document import Claim, KeyNumber, Metrics

VALUE_ROWS: Final = ("value", "gain caught")
"""Names of the rows of the table."""


@dataclass(frozen=True, kw_only=True)
class MeasuredValue:
    """Value of a boundary on a test set, or the difference of two; with intervals if rows suffice.

    The interval of a value is that of the value to be expected of as many new rows.
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
        """State what the flagged rows are worth, what to expect, and the share of the possible gain."""
        value, caught = self.value, self.value_caught.value
        worth = f"The flagged rows are worth {_rounded(value.value)}"
        if value.low is not None and value.high is not None:
            ends = f"{_like(value.low, value.value)} to {_like(value.high, value.value)}"
            worth = f"{worth} (expected on as many new rows: {ends}, {100 * confidence:g} % range)"
        held = "" if caught is None else f"; they hold {percent(caught)} of the gain from all positives"
        return f"{worth}{held}."  # costs are in the value alone, so that the share is not one of it

    def key_number(self, confidence: float) -> KeyNumber:
        """Return the value as a number at the head of a page."""
        value, ends = self.value, ""
        if value.low is not None and value.high is not None:
            low, high = _like(value.low, value.value), _like(value.high, value.value)
            ends = f"{low} to {high} ({100 * confidence:g} % range)"
        return KeyNumber(label="net value of the flagged rows", value=_rounded(value.value), interval=ends)

    def cautions(self, name: str) -> list[Notice]:
        """Caution that the interval of the value rests on a few large amounts; empty if it does not."""
        if not self.heavy_tailed or self.value.low is None:
            return []
        few = "a few large amounts decide it, so its interval may be too short"
        return [Notice("heavy-tails", f"{name}: {few}: use more rows.")]

    def cells(self) -> tuple[str, str]:
        """Format the cells of one rule, in the order of VALUE_ROWS."""
        caught = self.value_caught
        share = interval(caught)
        form = f",.{_decimals(self.value.value or 0.0)}f"
        return f"{_rounded(self.value.value)}{ends_of(self.value, form)}", share

    def difference_cells(self, *, brief: bool) -> tuple[str, str]:
        """Format the cells of a difference; without intervals if brief."""
        value, caught = self.value, self.value_caught
        return (
            f"{_rounded(value.value, '+')}{'' if brief else ends_of(value, '+,.0f')}{_significance(value)}",
            points_cell(caught, brief=brief),
        )


def _like(end: float, value: float | None) -> str:
    """Format an end of a range with the decimals of its value."""
    return f"{end:,.{_decimals(value or 0.0)}f}"


def _rounded(value: float | None, sign: str = "") -> str:
    """Format an amount in a table, without decimals if it is large."""
    return "-" if value is None else f"{value:{sign},.{_decimals(value)}f}"


def _decimals(value: float) -> int:
    return 0 if abs(value) >= 1000 else 2


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
    ``added`` are rates of the constraint that are no metrics of other rules. If probabilities of all rows are
    used, ``prevalence`` is the share of positive rows, and ``assisted`` has the rates for which they are
    used, with the ratio of the labels that would be needed without them; None where these show no interval.
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
    added: tuple[Rate, ...] = ()
    prevalence: Estimate | None = None
    assisted: Mapping[str, float | None] = field(default_factory=dict)

    def rate(self, rate: Rate) -> Estimate:
        """Return the estimate of a rate of flagged rows."""
        estimate: Estimate = getattr(self, rate.event)
        return estimate if rate is rate.event else estimate.complement()

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
            **{str(rate): self.rate(rate) for rate in self.added},
            **({} if self.prevalence is None else {"prevalence": self.prevalence}),
            **({} if self.omission is None else {"omission": self.omission}),
            **(self.clusters or {}),
            **({} if self.zones is None else vars(self.zones)),
            **({} if self.value is None else self.value.metrics()),
        }


@dataclass(frozen=True, kw_only=True)
class BoundaryDifference(EvaluatedPart):
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
        metrics = {
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
        return {"difference": metrics}

    def caught_cell(self, *, brief: bool) -> str:
        """Format the difference of the positives caught."""
        return "" if self.caught is None else points_cell(self.caught, self.caught.p_value, brief=brief)

    def net_benefit_cell(self) -> str:
        """Format the difference of the net benefits, with its interval."""
        return "" if self.net_benefit is None else points_cell(self.net_benefit, brief=False)

    def column(self, *, brief: bool, rows: float | None = None) -> tuple[str, str, str]:
        """Format the differences of precision, recall and flagged rows.

        ``rows`` are those that the rows of the file stand for, of which the difference of the flagged ones is
        given in percent; None if each stands for itself.
        """
        selected = difference_cell(self.selected, "+,.0f", self.selected.p_value, brief=brief)
        if rows is not None:
            relative = self.selected.times(100 / rows)
            selected = difference_cell(relative, "+.2f", self.selected.p_value, brief=brief, unit=" %")
        return (
            points_cell(self.precision, brief=brief),
            points_cell(self.recall, self.recall.p_value, brief=brief),
            selected,
        )


def bounded_rates(
    constraint: Constraint, measured: MeasuredBoundary, design: Design | None = None
) -> list[tuple[BoundedRate, Estimate]]:
    """Return the rate that a constraint bounds, if any.

    The design has the rows of a group whose bound is tested; None for the exact numbers of all rows.
    """
    return [_bounded(rate, constraint, measured, design) for rate in constraint.rates]


def _bounded(
    rate: Rate, constraint: Constraint, measured: MeasuredBoundary, design: Design | None
) -> tuple[BoundedRate, Estimate]:
    bound, upper = constraint.numbers[0], constraint.is_upper
    estimate = measured.rate(rate)
    if design is not None:
        return design.bounded(rate, 0, bound, upper=upper), estimate
    successes, trials = measured.totals.trials(rate)
    if estimate.value is not None and rate.event in measured.assisted:
        successes, trials = estimate.value.as_integer_ratio()
    return BoundedRate(successes=successes, trials=trials, bound=bound, upper=upper), estimate


def target_claims(
    results: Sequence[tuple[str, BoundaryArtifact, MeasuredBoundary]],
    measure: Callable[[float], Sequence[MeasuredBoundary]],
    confidence: float,
) -> tuple[Claim, ...]:
    """State of each rule whether the test rows contradict its target.

    An interval has half of its error on each side, so that two bounds have the level of one interval. Each of
    more bounds is tested by an interval of higher confidence, which ``measure`` takes.
    """
    claims = []
    for index, (name, rule, measured) in enumerate(results):
        bounds = sum(len(bound.rates) for bound in rule.constraint.parsed().bounds)
        tested = measured if bounds <= 2 else measure(1 - 2 * (1 - confidence) / bounds)[index]
        claims.append(_claim(name, rule, tested, 1 - confidence))
    return tuple(claims)


def _claim(name: str, artifact: BoundaryArtifact, measured: MeasuredBoundary, level: float) -> Claim:
    constraint = artifact.constraint.parsed()
    is_kept, sentence = _all([_outcome(artifact, bound, measured, level) for bound in constraint.bounds])
    if artifact.unsealed:
        is_kept, sentence = None, f"its target is not tested: {artifact.unsealed}."
    elif untested := _untested(artifact, measured):
        is_kept, sentence = None, f"{constraint.text()} is not tested: {untested}."
    target, about_new_data = f"{name}: {constraint.text()}", any(bound.rates for bound in constraint.bounds)
    return Claim(name=target, met=is_kept, sentence=f"{name}: {sentence}", about_new_data=about_new_data)


def _untested(artifact: BoundaryArtifact, measured: MeasuredBoundary) -> str:
    """Return why a certificate is not tested; empty if it is, or if there is none."""
    if artifact.certified is None or measured.weighted is None:
        return ""
    return "the exact test of a certificate needs rows that count alike"


def review_claim(
    name: str, artifact: BoundaryArtifact, measured: MeasuredBoundary, level: float
) -> Claim | None:
    """State whether the test rows contradict the limit of the review, at a level; None without a review."""
    review, zones, is_clustered = artifact.review, measured.zones, measured.clusters is not None
    if review is None or zones is None:
        return None
    limit = review.limit
    text = limit.text()
    fixed = limit.kind is ReviewKind.REVIEW and not limit.relative
    if untested := artifact.unsealed or _untested(artifact, measured):
        outcome: _Outcome = None, f"{text} is not tested: {untested}."
    elif fixed:
        outcome = (
            None,
            f"sends {count(zones.reviewed)} rows to review; its limit was {text} when it was fitted.",
        )
    elif limit.kind is ReviewKind.REVIEW:
        total = measured.totals.rows
        reviewed, _ = measured.totals.trials(Rate.REVIEWED)
        tested = BoundedRate(successes=reviewed, trials=total, bound=limit.number, upper=True)
        outcome = _share_outcome(text, tested, zones.review_share)
    elif limit.kind is ReviewKind.OMISSION:
        omitted, cleared = measured.totals.trials(Rate.OMISSION)
        tested = BoundedRate(successes=omitted, trials=cleared, bound=limit.number, upper=True)
        rate = text if artifact.certified is None else f"false omission rate <= {float(limit.number):g}"
        estimate = measured.rate(Rate.OMISSION)
        outcome = _rate_outcome(artifact, rate, tested, estimate, level, clustered=is_clustered)
    else:
        total = measured.totals.positives
        missed = total - measured.totals.handled[1]
        tested = BoundedRate(successes=missed, trials=total, bound=limit.number, upper=True)
        rate = text if artifact.certified is None else f"miss rate <= {float(limit.number):g}"
        outcome = _rate_outcome(artifact, rate, tested, zones.miss, level, clustered=is_clustered)
    met, sentence = outcome
    return Claim(name=f"{name}: {text}", met=met, sentence=f"{name}: {sentence}", about_new_data=not fixed)


def broken(claim: Claim, review: Claim | None) -> int | None:
    """Return 1 if a promise is broken, 0 if none is, and None if none is tested.

    Each of at most two promises is tested at half the level.
    """
    tested = [promise.broken for promise in (claim, review) if promise and promise.broken is not None]
    return max(tested, default=None)


_Outcome = tuple[bool | None, str]
"""Whether the rows are consistent with a target (None if it is not tested), and a sentence on it."""


def _outcome(
    artifact: BoundaryArtifact, constraint: Constraint, measured: MeasuredBoundary, level: float
) -> _Outcome:
    text, of_flagged = constraint.text(), constraint.is_proportion_of_flagged
    if of_flagged and measured.target_precision is not None:
        return _target_outcome(constraint, measured.target_precision, constraint.numbers[0])
    bounded = bounded_rates(constraint, measured)
    if not bounded:
        value = None if measured.value is None else measured.value.value.value
        flagged = f"{count(measured.confusion.selected)} rows ({percent(measured.selected_share)})"
        return None, constraint.finding(flagged, "-" if value is None else rounded_money(value))
    ((rate, estimate),) = bounded
    if not constraint.is_promise:  # which is never certified
        return _share_outcome(text, rate, estimate)
    clustered = measured.clusters is not None
    is_kept, sentence = _rate_outcome(artifact, text, rate, estimate, level, clustered=clustered)
    if of_flagged and artifact.has_target:
        sentence = f"{sentence.rstrip('.')}, if these rows are target data (if not, give --shift)."
    return is_kept, sentence


def _all(outcomes: Sequence[_Outcome]) -> _Outcome:
    """Join the tests of promises, each at its part of the level."""
    tested = [is_kept for is_kept, _ in outcomes if is_kept is not None]
    *others, last = (sentence for _, sentence in outcomes)
    return all(tested) if tested else None, "; ".join([*(text.rstrip(".") for text in others), last])


def _rate_outcome(
    artifact: BoundaryArtifact,
    text: str,
    rate: BoundedRate,
    estimate: Estimate,
    level: float,
    *,
    clustered: bool,
) -> _Outcome:
    """Test a target, or what a certificate guarantees by the exact one-sided test of independent rows."""
    certificate = artifact.certified
    p_value = None if certificate is None else rate.p_value()
    clustered = clustered or (certificate is not None and certificate.is_of_clusters)
    tested = _meets_bound(rate, estimate)
    if certificate is None or p_value is None or clustered or tested is None:
        return _share_outcome(text, rate, estimate)
    certified, promises = f"certified {text}", max(certificate.promises, 1 + (artifact.review is not None))
    if p_value > level / promises:
        met, significant = tested
        return True, _sentence(certified, met=met, significant=significant)
    return False, (
        f"misses {certified} ({p_text(p_value)}, exact one-sided test). The data have changed, or the "
        f"certificate is one of the {100 * certificate.delta:g} % that fail."
    )


def _share_outcome(text: str, rate: BoundedRate, estimate: Estimate) -> _Outcome:
    tested = _meets_bound(rate, estimate)
    if tested is None:
        reason = "no row counts for it"
        if rate.trials:
            reason = estimate.reason or "too few unflagged rows have a label"
            if estimate != UNKNOWN:  # but there is no interval
                reason = estimate.reason or "too few clusters"
        return None, f"{text} is not tested: {reason}."
    met, significant = tested
    return met or not significant, _sentence(text, met=met, significant=significant)


def _meets_bound(rate: BoundedRate, estimate: Estimate) -> tuple[bool, bool] | None:
    """Whether a rate meets its bound, and whether significantly; None without trials or an interval."""
    if rate.trials == 0 or estimate.low is None or estimate.high is None:
        return None
    value = Fraction(rate.successes, rate.trials)
    low, high = Fraction(estimate.low), Fraction(estimate.high)
    if rate.upper:
        return value <= rate.bound, high <= rate.bound or low > rate.bound
    return value >= rate.bound, low >= rate.bound or high < rate.bound


def _target_outcome(constraint: Constraint, estimate: Estimate, bound: Fraction) -> _Outcome:
    """Test the bound under the class priors of the target data, which are estimates themselves."""
    subject = f"{constraint.text()} on target data"
    if estimate.value is None:
        return None, f"{subject} is not tested: {estimate.reason or 'no row is flagged'}."
    met = Fraction(estimate.value) >= bound
    if estimate.low is None or estimate.high is None:
        return (
            None,
            f"{subject} is {'met' if met else 'missed'}, but not tested: the class weights have no draws.",
        )
    significant = estimate.low >= bound or estimate.high < bound
    return met or not significant, _sentence(subject, met=met, significant=significant)


def _sentence(target: str, *, met: bool, significant: bool) -> str:
    if not significant:
        return f"consistent with {target}."
    return f"{'meets' if met else 'misses'} {target} (significant)."
