"""Fields of the rule file of a boundary, in the order of the file, and what they say by themselves.

What a feature makes of its keys is in its part (``rule_parts``).
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from functools import lru_cache
from typing import Annotated, ClassVar, Final, Literal, Self

import msgspec
from msgspec import Meta

from uqcli.base.choices import Algorithm, AlgorithmChoice, Binning, GroupBound, OnInvalid, ReviewKind
from uqcli.base.defaults import MAX_ROWS
from uqcli.base.options import FirstRowsOptions
from uqcli.boundary.certificate_rule import Region, SavedCertificate
from uqcli.boundary.reference import SavedReference
from uqcli.boundary.search.algorithms import SavedRecalibration
from uqcli.boundary.search.constraint import Constraint
from uqcli.boundary.search.constraint_kinds import RULES, ConstraintKind
from uqcli.boundary.search.typed_constraints import bounds_together
from uqcli.boundary.search.utility import typed_worth
from uqcli.boundary.search.zones import ReviewLimit, review_limit
from uqcli.engines.request import PREDICTED
from uqcli.estimates.dependence import UnitSums
from uqcli.estimates.estimate import Estimate
from uqcli.rules.saved import Bins, Count, Saved, SavedDependence, given

REVIEWED: Final = "review"
ZONES: Final = ("flag", REVIEWED, "clear")
"""Zones of a rule with a review, in descending order of the score."""

NEW_FORMAT: Final = 2
"""Format version of rules that an earlier version would apply differently."""

CAPACITY_FORMAT: Final = 3
"""Format version of rules of the first rows of each group, of which earlier versions would flag none."""

OTHER_GROUPS: Final = "(any other)"
"""Name of the rows whose group has no rule of its own."""


class SavedConstraint(msgspec.Struct, frozen=True, kw_only=True):
    """Constraint of the boundary, and the recall that a precision must also leave; values as typed.

    Of several bounds other than these two, ``kind`` is the first of precision, max-fpr, min-specificity,
    max-selected and recall, and ``also`` has the others by kind.
    """

    kind: ConstraintKind
    value: str
    recall: str | msgspec.UnsetType = msgspec.UNSET
    also: Annotated[dict[ConstraintKind, str], Meta(min_length=1)] | msgspec.UnsetType = msgspec.UNSET

    @classmethod
    def of(cls, constraint: Constraint) -> Self:
        """Return a constraint as it is saved."""
        kind = ConstraintKind(constraint.kind)
        also = {ConstraintKind(bound.kind): bound.value for bound in constraint.also}
        if kind is ConstraintKind.PRECISION and set(also) == {ConstraintKind.RECALL}:
            return cls(kind=kind, value=constraint.value, recall=also[ConstraintKind.RECALL])
        return cls(kind=kind, value=constraint.value, also=also or msgspec.UNSET)

    @property
    def has_several(self) -> bool:
        """Whether it has more bounds than the one of its kind."""
        return (self.recall, self.also) != (msgspec.UNSET, msgspec.UNSET)

    def parsed(self) -> Constraint:
        """Parse the values, once."""
        also = dict(given(self.also) or {})
        if recall := given(self.recall):
            also = {ConstraintKind.RECALL: recall, **also}
        return _parsed(tuple({self.kind: self.value, **also}.items()))

    @property
    def worth(self) -> dict[str, str]:
        """Gain and cost as typed, without columns; empty for other constraints."""
        if RULES[self.kind].is_bound:
            return {}
        constraint = self.parsed()
        typed = dict(zip(("gain", "cost"), typed_worth(self.value), strict=True))
        return {role: text for role, text in typed.items() if role not in constraint.amounts}

    @property
    def amounts(self) -> Mapping[str, str]:
        """Columns of amounts by role (``gain``, ``cost``)."""
        return {} if RULES[self.kind].is_bound else self.parsed().amounts


@lru_cache
def _parsed(typed: tuple[tuple[ConstraintKind, str], ...]) -> Constraint:
    return bounds_together(dict(typed))


class SavedReview(msgspec.Struct, frozen=True, kw_only=True):
    """Limit of the review: on reviewed rows, missed positives, or positives among cleared rows; as typed."""

    kind: ReviewKind
    value: str

    @property
    def limit(self) -> ReviewLimit:
        """The limit as numbers."""
        limit = review_limit(**{self.kind.replace("-", "_"): self.value})
        assert limit is not None
        return limit


class BoundaryParameters(msgspec.Struct, frozen=True, kw_only=True):
    """Options of the boundary; null if the algorithm does not use one."""

    algorithm: AlgorithmChoice
    binning: Binning | None
    uncertainty_bins: Bins
    score_bins: Bins | Literal["all"]
    constraint: SavedConstraint
    on_invalid: OnInvalid
    positive: str | None
    review: SavedReview | msgspec.UnsetType = msgspec.UNSET
    by: str | msgspec.UnsetType = msgspec.UNSET
    bound: GroupBound | msgspec.UnsetType = msgspec.UNSET
    min_group: Count | msgspec.UnsetType = msgspec.UNSET
    cluster: str | msgspec.UnsetType = msgspec.UNSET
    day: str | msgspec.UnsetType = msgspec.UNSET


class Fit(msgspec.Struct, frozen=True, kw_only=True):
    """Counts and rates of the boundary on its calibration set, by weight.

    With a review: ``reviewed`` rows, and ``caught`` positives that are flagged or reviewed. With gain and
    cost: the ``value`` of the flagged rows, and the share of all positives' gain that they have. If some rows
    have no label, ``all_rows`` and ``all_selected`` also count them, as the reference does.
    """

    selected: Count
    true_positives: Count
    rows: Count
    positives: Count
    precision: float
    recall: float
    reviewed: Count | msgspec.UnsetType = msgspec.UNSET
    caught: Count | msgspec.UnsetType = msgspec.UNSET
    value: float | msgspec.UnsetType = msgspec.UNSET
    value_caught: float | msgspec.UnsetType | None = msgspec.UNSET
    all_rows: Count | msgspec.UnsetType = msgspec.UNSET
    all_selected: Count | msgspec.UnsetType = msgspec.UNSET

    @property
    def flagged(self) -> tuple[int, int]:
        """Flagged rows, and rows, with and without a label."""
        if self.all_selected is msgspec.UNSET or self.all_rows is msgspec.UNSET:
            return self.selected, self.rows
        return self.all_selected, self.all_rows

    @property
    def zones(self) -> tuple[int, int] | None:
        """Reviewed rows, and positives that are flagged or reviewed; None without a review."""
        if self.reviewed is msgspec.UNSET or self.caught is msgspec.UNSET:
            return None
        return self.reviewed, self.caught

    @property
    def adds_up(self) -> bool:
        """Whether the counts are possible, and the rates agree with them up to rounding."""
        smaller, larger = sorted((self.selected, self.positives))
        if not self.true_positives <= smaller <= larger <= self.rows:
            return False
        reviewed, caught = self.zones or (0, self.true_positives)
        if self.selected + reviewed > self.rows or not self.true_positives <= caught <= self.positives:
            return False
        all_selected, all_rows = self.flagged
        if not (self.selected <= all_selected <= all_rows and self.rows <= all_rows):
            return False
        rates_with_rows = ((self.precision, self.selected), (self.recall, self.positives))
        return all(abs(rate * rows - self.true_positives) <= 1e-9 * rows for rate, rows in rates_with_rows)


class GroupFit(msgspec.Struct, frozen=True, kw_only=True):
    """Counts and rates of a group's boundary on its calibration rows, by weight; null if undefined."""

    selected: Count
    true_positives: Count
    rows: Count
    positives: Count
    precision: float | None
    recall: float | None


class SavedGroup(msgspec.Struct, frozen=True, kw_only=True):
    """Boundary of one group; null thresholds never flag."""

    uncertainty_edges: list[float]
    thresholds: Annotated[list[float | None], Meta(min_length=1)]
    fit: GroupFit
    certificate: SavedCertificate | msgspec.UnsetType = msgspec.UNSET

    @property
    def printed(self) -> Sequence[float | None]:
        """The thresholds as texts print them: the calibration rows, by which to round them, are unknown."""
        return self.thresholds


class SavedTarget(msgspec.Struct, frozen=True, kw_only=True):
    """Class weights (negative, positive) of the target data, and the precision there; null if refuted."""

    weights: Annotated[list[Annotated[float, Meta(gt=0)]], Meta(min_length=2, max_length=2)]
    precision: float | None


class SavedRange(msgspec.Struct, frozen=True, kw_only=True):
    """A share with its 90 % range; null if no valid range exists."""

    value: Annotated[float, Meta(ge=0, le=1)]
    low: Annotated[float, Meta(ge=0, le=1)] | None
    high: Annotated[float, Meta(ge=0, le=1)] | None

    @classmethod
    def of(cls, estimate: Estimate) -> SavedRange:
        """Save an estimate."""
        return cls(value=estimate.value or 0.0, low=estimate.low, high=estimate.high)

    @property
    def estimate(self) -> Estimate:
        """The share as an estimate."""
        return Estimate(value=self.value, low=self.low, high=self.high)


class SavedExpected(msgspec.Struct, frozen=True, kw_only=True):
    """Expected results on new data."""

    precision: SavedRange
    recall: SavedRange


class SavedCapacity(msgspec.Struct, frozen=True, kw_only=True):
    """The first ``top`` rows of each value of a column are flagged; of times, the date is the value."""

    top: Annotated[int, Meta(ge=1, le=MAX_ROWS)]
    per: Annotated[str, Meta(min_length=1)]


class SavedBoundary(Saved, frozen=True, kw_only=True):
    """Fields of a boundary; those without a value are not in the file."""

    parameters: BoundaryParameters
    algorithm: Algorithm
    constraint: SavedConstraint
    uncertainty_edges: list[float]
    thresholds: Annotated[list[float | None], Meta(min_length=1)]
    recalibration: SavedRecalibration | msgspec.UnsetType = msgspec.UNSET
    fit: Fit
    reference: SavedReference | msgspec.UnsetType = msgspec.UNSET
    expected: SavedExpected | msgspec.UnsetType | None = msgspec.UNSET
    dependence: SavedDependence | msgspec.UnsetType = msgspec.UNSET
    margin: Annotated[float, Meta(ge=0)] | msgspec.UnsetType = msgspec.UNSET
    target: SavedTarget | msgspec.UnsetType = msgspec.UNSET
    certificate: SavedCertificate | msgspec.UnsetType = msgspec.UNSET
    review_thresholds: list[float | None] | msgspec.UnsetType = msgspec.UNSET
    groups: Annotated[dict[str, SavedGroup], Meta(min_length=1)] | msgspec.UnsetType = msgspec.UNSET
    classes: Annotated[list[str], Meta(min_length=2)] | msgspec.UnsetType = msgspec.UNSET
    nested: Annotated[list[list[float | None]], Meta(min_length=1)] | msgspec.UnsetType = msgspec.UNSET
    capacity: SavedCapacity | msgspec.UnsetType = msgspec.UNSET

    newest_format: ClassVar[int] = CAPACITY_FORMAT
    decides: ClassVar[bool] = True

    def optional_keys(self) -> set[str]:
        """Return the keys that not every file has, such as ``fit.value``, and that this one has."""
        places = {"": self, "parameters.": self.parameters, "fit.": self.fit}
        keys = {
            f"{place}{name}"
            for place, struct in places.items()
            for name in optional_names(type(struct))
            if getattr(struct, name) is not msgspec.UNSET
        }
        certified = any(group.certificate is not msgspec.UNSET for group in self.group_rules.values())
        return keys | {"groups.certificate"} if certified else keys

    @property
    def is_fitted(self) -> bool:
        """Whether it was fitted on rows, as every rule of a file is."""
        return self.source.rows > 0

    @property
    def ranges(self) -> Mapping[str, tuple[float, float]]:
        """Smallest and largest calibration number by role; empty without a reference."""
        reference = given(self.reference)
        return reference.ranges if reference else {}

    def sums_by(self, column: str | None, promise: str) -> UnitSums | None:
        """Return how the calibration rows of a promise depend within a column's values; None if unknown."""
        dependence = given(self.dependence)
        return dependence.promises.get(promise) if dependence and dependence.column == column else None

    @property
    def has_target(self) -> bool:
        """Whether it was fitted for other class priors than those of its calibration rows."""
        return self.target is not msgspec.UNSET

    @property
    def review(self) -> SavedReview | None:
        """Limit of the review; None without one."""
        return given(self.parameters.review)

    @property
    def limits_omission(self) -> bool:
        """Whether it promises that few of the rows that nobody looks at are positive."""
        of_review = self.review and self.review.kind is ReviewKind.OMISSION
        return RULES[self.constraint.kind].is_of_cleared or bool(of_review)

    @property
    def has_zones(self) -> bool:
        """Whether rows are flagged, reviewed or cleared."""
        return self.review_thresholds is not msgspec.UNSET

    @property
    def newer_fields(self) -> bool:
        """Whether it has a review, groups, columns of amounts or a capacity."""
        older = self.has_zones or bool(self.group_rules) or bool(self.constraint.amounts)
        return older or self.first.are_asked

    @property
    def first(self) -> FirstRowsOptions:
        """The first rows that it flags in place of thresholds, as options of other rules ask for them."""
        if isinstance(self.capacity, SavedCapacity):
            return FirstRowsOptions(top=self.capacity.top, per=self.capacity.per)
        return FirstRowsOptions()

    @property
    def is_raised(self) -> bool:
        """Whether the uncertainty raises the scores before they are compared (hr)."""
        return self.recalibration is not msgspec.UNSET

    @property
    def group_rules(self) -> Mapping[str, SavedGroup]:
        """Boundaries by group; empty without groups."""
        return given(self.groups) or {}

    @property
    def by(self) -> str | None:
        """Column of the groups; None without groups, and if they are the predicted classes."""
        return given(self.parameters.by)

    @property
    def own_key(self) -> str | None:
        """Key of the groups in each of which its bound is promised; None if there is none."""
        if self.parameters.bound is not GroupBound.EACH:
            return None
        return PREDICTED if self.class_names else self.by

    @property
    def own_levels(self) -> dict[str, int]:
        """Index of each group, and of other rows."""
        return {name: index for index, name in enumerate((*self.group_rules, OTHER_GROUPS))}

    @property
    def positive_label(self) -> str | None:
        """See Saved."""
        return self.parameters.positive

    @property
    def class_names(self) -> Sequence[str]:
        """See Saved."""
        return given(self.classes) or ()

    @property
    def certified(self) -> SavedCertificate | None:
        """The certificate, unless the file has none or its digest does not match."""
        return None if self.unsealed else given(self.certificate)

    @property
    def certified_groups(self) -> list[SavedCertificate]:
        """Certificates of groups; empty without any, or if the digest does not match."""
        certificates = [given(saved.certificate) for saved in self.group_rules.values()]
        return [] if self.unsealed else list(filter(None, certificates))

    @property
    def promising_groups(self) -> Sequence[str]:
        """Groups in which the bound is promised: with certificates, only those that have one."""
        if not self.certified_groups:
            return list(self.group_rules)
        return [name for name, saved in self.group_rules.items() if saved.certificate is not msgspec.UNSET]

    @property
    def risk(self) -> float:
        """Risk of the certificate, or of all groups together; 0 without a certificate."""
        if self.certified:
            return self.certified.delta
        return len(self.group_rules) * max((saved.delta for saved in self.certified_groups), default=0.0)

    @property
    def region(self) -> Region | None:
        """Scores from which the calibration rows were drawn; None if they are like new rows."""
        certificate = given(self.certificate)
        return certificate.region if certificate else None


@lru_cache
def optional_names(struct: type[msgspec.Struct]) -> tuple[str, ...]:
    """Return the fields of a struct that may be absent from a file, except those of every kind of rule."""
    fields, defaults = struct.__struct_fields__, struct.__struct_defaults__
    optional = zip(fields[len(fields) - len(defaults) :], defaults, strict=True)
    return tuple(
        name for name, value in optional if value is msgspec.UNSET and name not in Saved.__struct_fields__
    )


def contradictory_thresholds(edges: list[float], thresholds: Sequence[float | None]) -> str:
    """Find the first contradiction between uncertainty edges and thresholds; empty if there is none."""
    if len(thresholds) != len(edges) + 1:
        return f"{len(thresholds)} thresholds for {len(edges)} uncertainty edges"
    numbers = edges + [threshold for threshold in thresholds if threshold is not None]
    if not all(map(math.isfinite, numbers)) or edges != sorted(edges):
        return "its edges and thresholds are not finite and ascending"
    return ""
