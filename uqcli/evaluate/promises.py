"""Whether the rows of a test set contradict what a boundary promises: target, certificate, and review."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import field
from fractions import Fraction
from typing import ClassVar, Final

from uqcli.base.records import dataclass
from uqcli.base.wording import p_text, percent, rows_of
from uqcli.boundary.rule import BoundaryArtifact
from uqcli.boundary.rule_file import SavedReview
from uqcli.boundary.search.constraint import Constraint
from uqcli.estimates.confusion import Confusion, Rate
from uqcli.estimates.estimate import UNKNOWN, Estimate
from uqcli.estimates.proportion import BoundedRate
from uqcli.reports.document import Claim

Outcome = tuple[bool | None, str]
"""Whether the rows are consistent with a target (None if it is not tested), and a sentence on it."""


@dataclass(frozen=True, kw_only=True)
class Evidence:
    """What rows show of the rates that a rule may bound, by weight, and how bounds are tested on them.

    Rates are UNKNOWN if labels are missing and too few unflagged rows have one. The confusion has the rows of
    the file, and ``totals`` whole numbers whose ratios are the rates, to be compared with bounds exactly, but
    for rates estimated with probabilities: ``gains`` has these, with the ratio of the labels that would be
    needed without them, None where these show no interval. ``worth`` is the value of the flagged rows in
    words. Rows do not ``count_alike`` with sampling weights, and may depend on each other within clusters.
    """

    confusion: Confusion[int]
    totals: Confusion[int]
    rates: Mapping[Rate, Estimate]
    gains: Mapping[str, float | None] = field(default_factory=dict)
    worth: str = "-"
    count_alike: bool = True
    independent: bool = True

    shows_targets: ClassVar[bool] = True
    """Whether targets are about its rows, so that one that is not tested is a lack."""

    def rate(self, rate: Rate) -> Estimate:
        """Return the estimate of a rate, or the complement of that of the opposite event."""
        own = self._estimated(rate)
        return self.rates[own] if own is rate else self.rates[own].complement()

    def _estimated(self, rate: Rate) -> Rate:
        """Return the rate that is estimated for one: itself, or that of the opposite event."""
        return rate if rate in self.rates else rate.complement

    @property
    def reviewed(self) -> int:
        """Rows of the file that are sent to review."""
        return self.confusion.handled[0] - self.confusion.selected

    @property
    def selected_share(self) -> float:
        """Share of the flagged rows among all rows."""
        return self.totals.selected / self.totals.rows

    def bounded(self, rate: Rate, constraint: Constraint) -> BoundedRate:
        """Return a rate that a constraint bounds, to be tested."""
        successes, trials = self.totals.trials(rate)
        value = self.rate(rate).value
        if self._estimated(rate) in self.gains and value is not None:
            successes, trials = value.as_integer_ratio()
        bound, upper = constraint.numbers[0], constraint.is_upper
        return BoundedRate(successes=successes, trials=trials, bound=bound, upper=upper)

    def outcome(self, artifact: BoundaryArtifact, constraint: Constraint, level: float) -> Outcome:
        """Test a bound of a rule."""
        if not constraint.rates:
            flagged = f"{rows_of(self.confusion.selected)} ({percent(self.selected_share)})"
            return None, constraint.finding(flagged, self.worth)
        (rate,) = constraint.rates
        bounded, estimate, text = self.bounded(rate, constraint), self.rate(rate), constraint.text()
        if not constraint.is_promise:  # which is never certified
            return _share_outcome(text, bounded, estimate)
        is_kept, sentence = self.promised(artifact, text, bounded, estimate, level)
        if constraint.is_proportion_of_flagged and artifact.has_target:
            sentence = f"{sentence.rstrip('.')}, if these rows are target data (if not, give --shift)."
        return is_kept, sentence

    def promised(
        self, artifact: BoundaryArtifact, text: str, rate: BoundedRate, estimate: Estimate, level: float
    ) -> Outcome:
        """Test a target, or what a certificate guarantees by the exact one-sided test of independent rows."""
        certificate, tested = artifact.certified, _meets_bound(rate, estimate)
        if certificate is None or certificate.is_of_clusters or not self.independent or not tested:
            return _share_outcome(text, rate, estimate)
        p_value = rate.p_value()
        if p_value is None:
            return _share_outcome(text, rate, estimate)
        certified, promises = f"certified {text}", max(certificate.promises, 1 + artifact.has_zones)
        if p_value > level / promises:
            met, significant = tested[0]
            return True, _sentence(certified, met=met, significant=significant)
        return False, (
            f"misses {certified} ({p_text(p_value)}, exact one-sided test). The data have changed, or the "
            f"certificate is one of the {100 * certificate.delta:g} % that fail."
        )

    def why_untested(self, artifact: BoundaryArtifact) -> str:
        """Return why a certificate is not tested; empty if it is, or if there is none."""
        if artifact.certified is None or self.count_alike:
            return ""
        return "the exact test of a certificate needs rows that count alike"


@dataclass(frozen=True, kw_only=True)
class EvidenceOnTarget(Evidence):
    """The same, with the precision under the class priors of target data."""

    precision: Estimate

    def outcome(self, artifact: BoundaryArtifact, constraint: Constraint, level: float) -> Outcome:
        """See Evidence."""
        if constraint.is_proportion_of_flagged:
            return _target_outcome(constraint, self.precision, constraint.numbers[0])
        return super().outcome(artifact, constraint, level)


BY_CAPACITY: Final = "--top flags the first rows, whatever the thresholds"
"""Why no target is tested of rows that a capacity flags."""


@dataclass(frozen=True, kw_only=True)
class EvidenceByCapacity(Evidence):
    """The same of the first rows of each group, which no target is about."""

    shows_targets: ClassVar[bool] = False

    def why_untested(self, artifact: BoundaryArtifact) -> str:  # noqa: ARG002
        """See Evidence."""
        return BY_CAPACITY


def target_claims(
    names: Sequence[str],
    rules: Sequence[BoundaryArtifact],
    shown: Sequence[Evidence],
    measure: Callable[[float], Sequence[Evidence]],
    confidence: float,
) -> list[Claim]:
    """State of each rule whether the test rows contradict its target.

    An interval has half of its error on each side, so that two bounds have the level of one interval. Each of
    more bounds is tested by an interval of higher confidence, which ``measure`` takes.
    """
    claims = []
    for index, (name, rule) in enumerate(zip(names, rules, strict=True)):
        bounds = sum(len(bound.rates) for bound in rule.constraint.parsed().bounds)
        tested = shown if bounds <= 2 else measure(1 - 2 * (1 - confidence) / bounds)
        claims.append(_claim(name, rule, tested[index], 1 - confidence))
    return claims


def _claim(name: str, artifact: BoundaryArtifact, evidence: Evidence, level: float) -> Claim:
    constraint = artifact.constraint.parsed()
    is_kept, sentence = _all([evidence.outcome(artifact, bound, level) for bound in constraint.bounds])
    if artifact.unsealed:
        is_kept, sentence = None, f"its target is not tested: {artifact.unsealed}."
    elif untested := evidence.why_untested(artifact):
        is_kept, sentence = None, f"{constraint.text()} is not tested: {untested}."
    target = f"{name}: {constraint.text()}"
    about_new_data = evidence.shows_targets and any(bound.rates for bound in constraint.bounds)
    return Claim(name=target, met=is_kept, sentence=f"{name}: {sentence}", about_new_data=about_new_data)


def review_claims(name: str, artifact: BoundaryArtifact, evidence: Evidence, level: float) -> list[Claim]:
    """State whether the test rows contradict the limit of the review, at a level, if there is a review."""
    if artifact.review is None:
        return []
    limit = artifact.review.limit
    text = limit.text()
    fixed = not limit.is_promise and not limit.relative
    if untested := artifact.unsealed or evidence.why_untested(artifact):
        outcome: Outcome = None, f"{text} is not tested: {untested}."
    elif fixed:
        outcome = (
            None,
            f"sends {rows_of(evidence.reviewed)} to review; its limit was {text} when it was fitted.",
        )
    else:
        outcome = _review_outcome(artifact, artifact.review, evidence, level)
    met, sentence = outcome
    return [Claim(name=f"{name}: {text}", met=met, sentence=f"{name}: {sentence}", about_new_data=not fixed)]


def _review_outcome(
    artifact: BoundaryArtifact, review: SavedReview, evidence: Evidence, level: float
) -> Outcome:
    """Test the share of rows to review, or of positives that are cleared."""
    limit = review.limit
    text, estimate = limit.text(), evidence.rate(limit.rate)
    successes, trials = evidence.totals.trials(limit.rate)
    tested = BoundedRate(successes=successes, trials=trials, bound=limit.number, upper=True)
    if not limit.is_promise:
        return _share_outcome(text, tested, estimate)
    certified = text if artifact.certified is None else f"{limit.name} <= {float(limit.number):g}"
    return evidence.promised(artifact, certified, tested, estimate, level)


def broken(claims: Sequence[Claim]) -> int | None:
    """Return 1 if a promise is broken, 0 if none is, and None if none is tested.

    Each of at most two promises is tested at half the level.
    """
    return max((claim.broken for claim in claims if claim.broken is not None), default=None)


def _all(outcomes: Sequence[Outcome]) -> Outcome:
    """Join the tests of promises, each at its part of the level."""
    tested = [is_kept for is_kept, _ in outcomes if is_kept is not None]
    *others, last = (sentence for _, sentence in outcomes)
    return all(tested) if tested else None, "; ".join([*(text.rstrip(".") for text in others), last])


def _share_outcome(text: str, rate: BoundedRate, estimate: Estimate) -> Outcome:
    for met, significant in _meets_bound(rate, estimate):
        return met or not significant, _sentence(text, met=met, significant=significant)
    reason = "no row counts for it"
    if rate.trials:
        unknown = estimate == UNKNOWN  # else there is no interval
        reason = estimate.reason or ("too few unflagged rows have a label" if unknown else "too few clusters")
    return None, f"{text} is not tested: {reason}."


def _meets_bound(rate: BoundedRate, estimate: Estimate) -> Sequence[tuple[bool, bool]]:
    """Whether a rate meets its bound, and whether significantly; empty without trials or an interval."""
    if not (rate.trials and estimate.ends):
        return ()
    value, bound = Fraction(rate.successes, rate.trials), rate.bound
    low, high = map(Fraction, estimate.ends)
    if rate.upper:
        return [(value <= bound, high <= bound or low > bound)]
    return [(value >= bound, low >= bound or high < bound)]


def _target_outcome(constraint: Constraint, estimate: Estimate, bound: Fraction) -> Outcome:
    """Test the bound under the class priors of the target data, which are estimates themselves."""
    subject = f"{constraint.text()} on target data"
    if estimate.value is None:
        return None, f"{subject} is not tested: {estimate.reason or 'no row is flagged'}."
    met = Fraction(estimate.value) >= bound
    if estimate.ends:
        low, high = estimate.ends
        significant = low >= bound or high < bound
        return met or not significant, _sentence(subject, met=met, significant=significant)
    found = f"{subject} is {'met' if met else 'missed'}"
    return None, f"{found}, but not tested: the class weights have no draws."


def _sentence(target: str, *, met: bool, significant: bool) -> str:
    if not significant:
        return f"consistent with {target}."
    return f"{'meets' if met else 'misses'} {target} (significant)."
