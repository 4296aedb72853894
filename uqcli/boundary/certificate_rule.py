"""Certificate of a boundary as it is saved and reported: the guarantee on new data, its risk and its test."""

from __future__ import annotations

import math
from collections.abc import Sequence
from fractions import Fraction
from typing import TYPE_CHECKING, Annotated, Final, NamedTuple

import msgspec
from msgspec import Meta

from uqcli.base.choices import ReviewKind
from uqcli.base.records import dataclass
from uqcli.base.wording import count, exact_number, listed, p_text, percent
from uqcli.boundary.certificate import NotCertified
from uqcli.boundary.search.constraint import Constraint
from uqcli.boundary.search.constraint_kinds import PROMISED
from uqcli.boundary.search.thresholds import FittedBoundary
from uqcli.boundary.search.zones import ReviewLimit
from uqcli.engines.request import dependence
from uqcli.estimates.confusion import Confusion, Rate
from uqcli.reports.document import Verdict
from uqcli.rules.saved import Count, given

Share = Annotated[float, Meta(ge=0, le=1)]


class TestedOn(msgspec.Struct, frozen=True, kw_only=True):
    """Rows of the certificate's test, and those that the boundary flags among them, by weight.

    With a cluster column they are clusters, each counted by one of its flagged rows.
    """

    rows: Count
    positives: Count | msgspec.UnsetType = msgspec.UNSET
    selected: Count
    true_positives: Count

    def trials_of(self, rate: str) -> tuple[int, int]:
        """Return the successes and trials of a guaranteed rate."""
        counts = Confusion(
            rows=self.rows,
            positives=given(self.positives) or 0,
            selected=self.selected,
            true_positives=self.true_positives,
        )
        return counts.trials(Rate(rate))


class SavedClearance(msgspec.Struct, frozen=True, kw_only=True):
    """Guarantee on cleared rows: ``miss`` of all positives are there, or ``omission`` of them are positive.

    Both are upper bounds, and one of them is given. ``caught``: tested positives that are flagged or
    reviewed. ``handled``: tested rows that are, with an omission.
    """

    miss: Share | msgspec.UnsetType = msgspec.UNSET
    omission: Share | msgspec.UnsetType = msgspec.UNSET
    p_value: Share
    caught: Count
    handled: Count | msgspec.UnsetType = msgspec.UNSET

    @property
    def limit(self) -> ReviewLimit | None:
        """The bound as a limit of the review; None if not just one is given."""
        shares = {ReviewKind.MISS: given(self.miss), ReviewKind.OMISSION: given(self.omission)}
        limits = [
            ReviewLimit(kind=kind, value=str(share), number=Fraction(str(share)))
            for kind, share in shares.items()
            if share is not None
        ]
        return limits[0] if len(limits) == 1 else None

    def text(self) -> str:
        """Describe the guarantee."""
        return self.limit.text() if self.limit else ""

    def result_of(self, tested: TestedOn) -> tuple[int, int, str]:
        """Return the successes and trials of the test, and what the successes are."""
        _, positives = tested.trials_of("recall")
        handled = given(self.handled)
        if handled is None:
            return self.caught, positives, "positive rows were caught"
        return positives - self.caught, tested.rows - handled, "cleared rows were positive"


class Region(NamedTuple):
    """Scores from which the rows that test a certificate were drawn: up to the edge, or from it on."""

    edge: float
    is_below: bool

    def __str__(self) -> str:
        """Describe it, such as >= 0.5."""
        return f"{'<=' if self.is_below else '>='} {exact_number(self.edge)}"

    def is_left_by(self, thresholds: Sequence[float | None]) -> bool:
        """Whether thresholds flag rows below it, or drop rows above it."""
        if self.is_below:
            return any(t is None or t > math.nextafter(self.edge, math.inf) for t in thresholds)
        return any(t is not None and t < self.edge for t in thresholds)


class SavedPilot(msgspec.Struct, frozen=True, kw_only=True):
    """Other rows, by weight, that chose the boundaries to test, which all calibration rows then tested."""

    rows: Count
    positives: Count


class _Risk(msgspec.Struct, frozen=True, kw_only=True):
    """Risk of a guarantee."""

    delta: Annotated[float, Meta(gt=0, lt=1)]


if TYPE_CHECKING:
    _Promised = _Risk
else:
    _Promised = msgspec.defstruct(
        "_Promised",
        [(name, Share | msgspec.UnsetType, msgspec.UNSET) for name in PROMISED],
        bases=(_Risk,),
        frozen=True,
        kw_only=True,
    )
    """A field for each rate that can be promised, in the order of their kinds, after the risk."""


class SavedCertificate(_Promised, frozen=True, kw_only=True):
    """Guarantee on new data, at risk ``delta`` over calibration sets, half of it for cleared rows if any.

    The false-positive rate and the omission have at most, other rates have at least the given value.
    ``omission``: share of positives among the rows that are not flagged. ``p_value``: probability of a test
    result as good at just that value, the largest one of several rates. ``cluster``: column of dependent
    rows; the precision is then that of one flagged row of each cluster, drawn at random. ``days``: whether
    that column is one of days. ``pilot``: absent if a part of the calibration set chose the boundaries.
    ``sampled_above``: lowest score of the calibration set, if ``uqcli sample`` drew it from the rows with
    that score or a higher one. ``sampled_below``: highest score, if it drew it from the rows with that score
    or a lower one.
    """

    p_value: Share
    seed: Count
    tested_on: TestedOn
    cluster: str | msgspec.UnsetType = msgspec.UNSET
    days: bool | msgspec.UnsetType = msgspec.UNSET
    cleared: SavedClearance | msgspec.UnsetType = msgspec.UNSET
    pilot: SavedPilot | msgspec.UnsetType = msgspec.UNSET
    sampled_above: float | msgspec.UnsetType = msgspec.UNSET
    sampled_below: float | msgspec.UnsetType = msgspec.UNSET

    @property
    def region(self) -> Region | None:
        """Scores from which the rows that tested it were drawn; None if they are like new rows."""
        for edge, is_below in ((given(self.sampled_below), True), (given(self.sampled_above), False)):
            if edge is not None:
                return Region(edge=edge, is_below=is_below)
        return None

    @property
    def is_of_clusters(self) -> bool:
        """Whether it is about clusters with a flagged row, each by one of these rows."""
        return self.cluster is not msgspec.UNSET

    @property
    def unit(self) -> str:
        """What its test counted."""
        return dependence(days=given(self.days) is True) if self.is_of_clusters else "row"

    @property
    def units(self) -> str:
        """Several of them."""
        return f"{self.unit}s"

    @property
    def bounds(self) -> dict[str, float]:
        """Guaranteed rates of flagged rows, by name."""
        rates = {name: getattr(self, name) for name in PROMISED}
        return {name: rate for name, rate in rates.items() if rate is not msgspec.UNSET}

    @property
    def rates(self) -> set[str]:
        """Names of the guaranteed rates, of flagged and of cleared rows."""
        limit = self.cleared.limit if isinstance(self.cleared, SavedClearance) else None
        return {*self.bounds, *([str(limit.rate)] if limit else ())}

    @property
    def promises(self) -> int:
        """Number of guarantees, on flagged and on cleared rows."""
        return len(self.bounds) + (self.cleared is not msgspec.UNSET)

    @property
    def is_consistent(self) -> bool:
        """Whether it has a bound, its counts are possible, and its tests passed."""
        tested, cleared = self.tested_on, given(self.cleared)
        risk, positives = self.delta, given(tested.positives)
        if positives is None:  # written by 0.2 or before, for a precision
            if list(self.bounds) != ["precision"]:
                return False
            positives = tested.true_positives
        if cleared:
            risk /= 2
            if not tested.true_positives <= cleared.caught <= positives or cleared.p_value > risk:
                return False
            successes, trials, _ = cleared.result_of(tested)
            handled = tested.rows - trials if cleared.omission is not msgspec.UNSET else tested.selected
            if not tested.selected <= handled or not successes <= trials > 0:
                return False
        ordered = tested.true_positives <= tested.selected <= tested.rows
        possible = ordered and tested.true_positives <= positives <= tested.rows
        was_tested = all(tested.trials_of(name)[1] for name in self.bounds)
        return bool(self.bounds) and possible and was_tested and self.p_value <= risk

    def is_of(self, rows: int) -> bool:
        """Whether it is consistent, and its test is of some of these rows."""
        return self.is_consistent and self.tested_on.rows <= rows

    def is_about(self, constraint: Constraint, review: ReviewLimit | None) -> bool:
        """Whether its bounds are those of the boundary."""
        bounds = bounds_by_rate(constraint)
        limit = review if review and review.is_promise else None
        cleared = given(self.cleared)
        limits = (limit, cleared.limit if cleared else None)
        own, other = ((part.kind, float(part.number)) if part else () for part in limits)
        return self.bounds == bounds and own == other

    def text(self) -> str:
        """Describe the guaranteed rates."""
        texts = [PROMISED[name].wording.format(f"{bound:g}") for name, bound in self.bounds.items()]
        if cleared := given(self.cleared):
            texts.append(cleared.text())
        return f"{', '.join(texts)}{f' of one alert per {self.unit}' if self.is_of_clusters else ''}"


def bounds_by_rate(constraint: Constraint) -> dict[str, float]:
    """Return the bounds of a constraint by the names of their rates."""
    return {str(rate): float(bound.numbers[0]) for bound in constraint.bounds for rate in bound.rates}


def certified_verdict(certificates: Sequence[SavedCertificate], risk: float, groups: int = 0) -> Verdict:
    """Return the verdict on a certified boundary, or on those of several groups with their total risk."""
    promise = certificates[0].text()
    where = f" in {len(certificates)} of {groups} groups" if groups else ""
    return Verdict(text=f"certified: {promise} on new rows{where} (risk {100 * risk:g} %)", tone="good")


FROM_POOL: Final = "independent rows from the same source as the file that the sample was drawn from"


def certificates_in_words(certificates: Sequence[SavedCertificate], risk: float, groups: int = 0) -> str:
    """State the guarantee on new data and its risk, of a boundary or of those of several groups."""
    certificate, total = certificates[0], f"{100 * risk:g} %"
    if certificate.is_of_clusters:
        (bound,) = certificate.bounds.values()
        promise = (
            f"of new {certificate.units} with an alert, at least {100 * bound:g} % are positive by one of "
            "their alerts drawn at random"
        )
    else:
        promises = [
            PROMISED[name].guarantee.format(100 * bound) for name, bound in certificate.bounds.items()
        ]
        if cleared := given(certificate.cleared):
            *words, outcome = cleared.text().split()
            promises.append(f"{' '.join(words)} are {outcome}")
        promise = f"{listed(promises)} on new data"
    if groups:
        promise = f"{promise} in {in_how_many(len(certificates), groups)}"
    return f"Certified: {promise} ({total} risk that this rule is an exception)."


def in_how_many(certified: int, groups: int) -> str:
    """State in how many groups a rule is certified.

    Examples
    --------
    >>> in_how_many(2, 5), in_how_many(5, 5)
    ('2 of 5 groups', 'each of 5 groups')
    """
    return f"each of {groups} groups" if certified == groups > 1 else f"{certified} of {groups} groups"


def certificate_in_words(certificate: SavedCertificate) -> tuple[str, ...]:
    """State the guarantee on new data, its test and its conditions."""
    words = certificates_in_words([certificate], certificate.delta)
    return words, test_in_words(certificate), *conditions_of(certificate)


def _p_and_level(p_value: float, certificate: SavedCertificate) -> str:
    """State a p-value and the largest one that certifies."""
    risk = certificate.delta if certificate.cleared is msgspec.UNSET else certificate.delta / 2
    return f"{p_text(p_value)}; {risk:.3g} or less was required"


def test_in_words(certificate: SavedCertificate) -> str:
    """State the outcome of the test."""
    tested, cleared = certificate.tested_on, given(certificate.cleared)
    if certificate.is_of_clusters:
        hits, trials = tested.trials_of("precision")
        return (
            f"The test: {count(hits)} of {count(trials)} {certificate.units} were positive "
            f"({percent(hits / trials, 1)}, "
            f"{_p_and_level(certificate.p_value, certificate)}), among {_tested(certificate)}."
        )
    results = []
    for name in certificate.bounds:
        successes, trials = tested.trials_of(name)
        result = f"{count(successes)} of {count(trials)} {PROMISED[name].result.replace(' are ', ' were ')}"
        results.append(f"{result} ({percent(successes / trials, 1)})")
    larger = ("", "larger ", "largest ")[min(len(results), 3) - 1]
    results[-1] = f"{results[-1][:-1]}, {larger}{_p_and_level(certificate.p_value, certificate)})"
    if cleared:
        hits, trials, what = cleared.result_of(tested)
        result = f"{percent(hits / trials, 1)}, {_p_and_level(cleared.p_value, certificate)}"
        results.append(f"{count(hits)} of {count(trials)} {what} ({result})")
    return f"The test: {'; '.join(results)}, among {_tested(certificate)}."


def _tested(certificate: SavedCertificate) -> str:
    units = f"{count(certificate.tested_on.rows)} {certificate.units}"
    return f"{units} set aside" if certificate.pilot is msgspec.UNSET else f"all {units}"


def conditions_of(certificate: SavedCertificate) -> tuple[str, ...]:
    """State the conditions of the guarantee."""
    risk, source, first = _conditions(certificate)
    if certificate.region:
        source = f"The guarantee is for {FROM_POOL}. It requires that all rows drawn have their labels."
        first = "Fix bound and risk before you look at the labels; a second try voids the certificate."
    division = []
    if certificate.cleared is not msgspec.UNSET:
        share = f"{100 * certificate.delta / 2:g} % for each part"
        division = [f"The risk of {100 * certificate.delta:g} % is divided: {share}."]
    return (*_of_one_alert_each(certificate), *division, risk, source, first)


def group_certificates_in_words(certificates: Sequence[SavedCertificate], groups: int) -> tuple[str, ...]:
    """State how the guarantee in each certified group was tested, and its conditions."""
    first = certificates[0]
    return (
        *_of_one_alert_each(first),
        f"Each of {groups} groups has its own test, at a risk of {100 * first.delta:.3g} %.",
        *_conditions(first),
    )


def _of_one_alert_each(certificate: SavedCertificate) -> list[str]:
    if not certificate.is_of_clusters:
        return []
    return [
        f"This is not the precision of all alerts, since a {certificate.unit} with many alerts counts once."
    ]


def _conditions(certificate: SavedCertificate) -> tuple[str, str, str]:
    return (
        "The risk is the share of calibration sets that would yield a wrong certificate. If most of them "
        "would yield no certificate, a larger share of the certificates may be wrong.",
        f"The guarantee requires independent {certificate.units} from the same source.",
        f"Decide on bound, risk, seed ({certificate.seed}) and bins before you certify: a second try on "
        "these data voids the certificate.",
    )


@dataclass(frozen=True, kw_only=True)
class Certification:
    """Outcome of a certification, of a boundary or of those of several groups.

    ``delta`` is the risk of all certificates together: one of a boundary, or one of each certified group;
    none if nothing was certified. ``failed`` then says why; of groups, why the one with the lowest p-value
    was not certified. ``tested_target`` states the promise that was tested last, and its risk,
    and ``easier`` says how to ask for less.

    ``uncertified`` is a boundary of the same algorithm without a certificate, on all of the rows; None for
    groups. ``groups`` is their number, 0 for a boundary of all rows. ``units`` names what was tested: rows,
    clusters or days. With a pilot, other rows chose the boundaries.
    """

    delta: float
    certificates: Sequence[SavedCertificate]
    failed: NotCertified | None
    tested_target: str
    easier: str
    uncertified: FittedBoundary | None = None
    groups: int = 0
    units: str = "rows"
    has_pilot: bool = False
