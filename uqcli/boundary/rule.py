"""Kind ``boundary``: thresholds on the score per uncertainty bin."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from functools import lru_cache
from itertools import pairwise
from typing import Annotated, ClassVar, Final, Literal, Self

import msgspec
import numpy as np
from msgspec import Meta

from uqcli.base.choices import Algorithm, AlgorithmChoice, Binning, GroupBound, OnInvalid, ReviewKind
from uqcli.base.counts import Bools, Floats, Ints, texts_by_level
from uqcli.base.defaults import LOWEST
from uqcli.base.errors import DataError, UsageError
from uqcli.base.records import dataclass
from uqcli.base.rows import Rows
from uqcli.base.wording import count, exact_number, percent, percent_in_range, printable, ranges, rows_of
from uqcli.boundary.certificate_rule import (
    Region,
    SavedCertificate,
    certificate_in_words,
    certificates_in_words,
    certified_verdict,
    group_certificates_in_words,
)
from uqcli.boundary.reference import SavedReference
from uqcli.boundary.search.algorithms import SavedRecalibration, recalibrated
from uqcli.boundary.search.constraint import Constraint
from uqcli.boundary.search.constraint_kinds import RULES, ConstraintKind
from uqcli.boundary.search.thresholds import FittedBoundary, decide, places
from uqcli.boundary.search.typed_constraints import bounds_together
from uqcli.boundary.search.utility import typed_worth
from uqcli.boundary.search.zones import ReviewLimit, review_limit
from uqcli.engines.probabilities import predictions
from uqcli.engines.protocol import AddedColumns
from uqcli.engines.request import PREDICTED, PROBA, DataRequest, FeatureRequest, Roles
from uqcli.estimates.confusion import Confusion
from uqcli.estimates.dependence import UnitSums
from uqcli.estimates.estimate import FEWEST_FLAGGED, Estimate
from uqcli.estimates.proportion import right_of
from uqcli.reports.document import Document, HeadCard, KeyNumber, Metrics, Table, Verdict, in_order, key_rate
from uqcli.rules.columns import NewColumns
from uqcli.rules.expressions import (
    Arithmetic,
    Case,
    Column,
    Comparison,
    Constant,
    Expression,
    Formula,
    Maximum,
    Name,
    Output,
    Steps,
    clipped,
    let,
    lookup,
    minus,
)
from uqcli.rules.saved import Bins, Count, Saved, SavedDependence, Source, given

LABELLED_ROWS: Final = "labelled calibration rows"
EXPECTED_RANGE: Final = 0.9
"""Level of the ranges of expected results."""

REVIEWED: Final = "review"
ZONES: Final = ("flag", REVIEWED, "clear")
"""Zones of a rule with a review, in descending order of the score."""

NEW_FORMAT: Final = 2
"""Format version of rules that an earlier version would apply differently."""

ROWS_ARE_PREDICTIONS: Final = "Rows are predictions: a flagged one is accepted, a positive one is right."
OTHER_GROUPS: Final = "(any other)"
"""Name of the rows whose group has no rule of its own."""

PREDICTED_CLASS: Final = "predicted class"
"""Name of the groups of rules of classes."""


def ranges_by(source: Source) -> str:
    """Return the corner cell of the table of expected results, whose ranges may be by day or cluster."""
    unit = source.dependence
    return "90 % ranges" if unit is None else f"90 % ranges by {unit}"


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
        recall = given(self.recall)
        also = {**({} if recall is None else {ConstraintKind.RECALL: recall}), **(given(self.also) or {})}
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
        selected, rows = given(self.all_selected), given(self.all_rows)
        return (self.selected, self.rows) if selected is None or rows is None else (selected, rows)

    @property
    def zones(self) -> tuple[int, int] | None:
        """Reviewed rows, and positives that are flagged or reviewed; None without a review."""
        reviewed, caught = given(self.reviewed), given(self.caught)
        return None if reviewed is None or caught is None else (reviewed, caught)

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

    def contradiction(self) -> str:
        """Find the first contradiction between its fields; empty if there is none."""
        certificate = given(self.certificate)
        if certificate is not None and not certificate.is_of(self.fit.rows):
            return "a group's certificate is not about its rows"
        return contradictory_thresholds(self.uncertainty_edges, self.thresholds)


class SavedTarget(msgspec.Struct, frozen=True, kw_only=True):
    """Class weights (negative, positive) of the target data, and the precision there; null if refuted."""

    weights: Annotated[list[Annotated[float, Meta(gt=0)]], Meta(min_length=2, max_length=2)]
    precision: float | None


class SavedRange(msgspec.Struct, frozen=True, kw_only=True):
    """A share with its 90 % range; null if no valid range exists."""

    value: Annotated[float, Meta(ge=0, le=1)]
    low: Annotated[float, Meta(ge=0, le=1)] | None
    high: Annotated[float, Meta(ge=0, le=1)] | None

    @property
    def estimate(self) -> Estimate:
        """The share as an estimate."""
        return Estimate(value=self.value, low=self.low, high=self.high)


class SavedExpected(msgspec.Struct, frozen=True, kw_only=True):
    """Expected results on new data."""

    precision: SavedRange
    recall: SavedRange


class BoundaryArtifact(Saved, frozen=True, kw_only=True):
    """A decision boundary: a row is flagged iff its score reaches the threshold of its uncertainty bin."""

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

    newest_format: ClassVar[int] = NEW_FORMAT
    decides: ClassVar[bool] = True

    @property
    def ranges(self) -> Mapping[str, tuple[float, float]]:
        """Smallest and largest calibration number by role; empty without a reference."""
        reference = given(self.reference)
        return {} if reference is None else reference.ranges

    def sums_by(self, column: str | None, promise: str) -> UnitSums | None:
        """Return how the calibration rows of a promise depend within a column's values; None if unknown."""
        dependence = given(self.dependence)
        if dependence is None or dependence.column != column:
            return None
        return dependence.promises.get(promise)

    @property
    def has_target(self) -> bool:
        """Whether it was fitted for other class priors than those of its calibration rows."""
        return self.target is not msgspec.UNSET

    @property
    def review(self) -> SavedReview | None:
        """Limit of the review; None without one."""
        return given(self.parameters.review)

    @property
    def has_zones(self) -> bool:
        """Whether rows are flagged, reviewed or cleared."""
        return self.review_thresholds is not msgspec.UNSET

    @property
    def newer_fields(self) -> bool:
        """Whether it has a review, groups or columns of amounts."""
        return self.has_zones or bool(self.group_rules) or bool(self.constraint.amounts)

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
    def needs_uncertainty(self) -> bool:
        """Whether decisions use the uncertainty."""
        thresholds = [self.thresholds, *(group.thresholds for group in self.group_rules.values())]
        return max(map(len, thresholds)) > 1 or self.is_raised

    def as_decided(self, data: DataRequest) -> DataRequest:
        """Let rows be predictions if it decides on predicted classes."""
        return data.as_predictions(data.roles.numbers.get("uncertainty")) if self.class_names else data

    def features(self) -> tuple[FeatureRequest, ...]:
        """See Saved: the column of the groups."""
        if self.by is None:
            return ()
        return (FeatureRequest(name=self.by, text=True, levels=tuple(self.group_rules)),)

    def contradiction(self) -> str:
        """See Saved."""
        if (hr := given(self.recalibration)) is not None:
            numbers = [hr.coefficient, hr.low, hr.high, hr.high - hr.low]
            if not all(map(math.isfinite, numbers)):
                return "its recalibration is not finite"
        contradiction = contradictory_thresholds(self.uncertainty_edges, self.thresholds)
        if contradiction:
            return contradiction
        if not self.fit.adds_up:
            return "its fit counts contradict each other"
        if self.certified is not None and not self.certified.is_of(self.fit.rows):
            return "its certificate is not about its rows"
        if self.region is not None and self.region.is_left_by(self.thresholds):
            decides = "drops rows with higher" if self.is_below else "flags rows with lower"
            return f"it {decides} scores than its certificate was tested on"
        return (
            self._contradictory_bounds()
            or self._contradictory_amounts()
            or self._contradictory_review()
            or self._contradictory_groups()
            or self._contradictory_nested()
            or self._contradictory_reference()
            or self.missing_columns()
        )

    def _contradictory_bounds(self) -> str:
        """Find an invalid bound, or a certificate of other bounds."""
        try:
            constraint = self.constraint.parsed()
            review = None if self.review is None else self.review.limit
        except UsageError as error:
            return str(error)
        if self.constraint.has_several and SavedConstraint.of(constraint) != self.constraint:
            return "its bounds are not in order"
        certificates = [self.certificate, *(group.certificate for group in self.group_rules.values())]
        about = all(saved.is_about(constraint, review) for saved in map(given, certificates) if saved)
        return "" if about else "its certificate is not about its bounds"

    def _contradictory_nested(self) -> str:
        nested = given(self.nested) or []
        if any(len(thresholds) != len(self.thresholds) for thresholds in nested):
            return "its nested rules do not have its uncertainty bins"
        strictest = [[math.inf if value is None else value for value in rule] for rule in nested]
        pairs = ((high, low) for rules in pairwise(strictest) for high, low in zip(*rules, strict=True))
        if any(math.isnan(low) or low > high for high, low in pairs):
            return "its nested rules are not nested"
        return ""

    def _contradictory_reference(self) -> str:
        reference, (_, rows) = given(self.reference), self.fit.flagged
        if reference is not None and reference.contradicts(
            len(self.thresholds), rows, uncertain=self.needs_uncertainty
        ):
            return "its reference is not about its calibration rows"
        return ""

    def _contradictory_groups(self) -> str:
        has_groups, has_bound = given(self.groups) is not None, given(self.parameters.bound) is not None
        if not has_groups == has_bound == (bool(self.class_names) or self.by is not None):
            return "its groups are not those of its parameters"
        if self.class_names and (self.by is not None or not set(self.group_rules) <= set(self.class_names)):
            return "its groups are not its classes"
        if has_groups and (self.format_version != NEW_FORMAT or self.has_zones or self.is_raised):
            return "its groups contradict its other fields"
        contradictions = [group.contradiction() for group in self.group_rules.values()]
        return next(filter(None, contradictions), "")

    def _contradictory_amounts(self) -> str:
        if not self.constraint.amounts:
            return ""
        if self.format_version != NEW_FORMAT or self.fit.value is msgspec.UNSET or self.group_rules:
            return "its value is missing, or its format version is not that of its fields"
        return ""

    def _contradictory_review(self) -> str:
        review = given(self.review_thresholds)
        is_new = self.format_version == NEW_FORMAT and not self.group_rules and not self.constraint.amounts
        if len({self.review is not None, review is not None, self.fit.zones is not None, is_new}) > 1:
            return "its review is incomplete, or its format version is not that of its fields"
        if review is None:
            return ""
        if len(review) != len(self.thresholds):
            return f"{len(review)} review thresholds for {len(self.thresholds)} thresholds"
        numbers = [threshold for threshold in review if threshold is not None]
        if not all(map(math.isfinite, numbers)) or self.is_raised:
            return "its review thresholds are not finite, or on raised scores"
        pairs = zip(review, self.thresholds, strict=True)
        if any(low is not None and high is not None and low > high for low, high in pairs):
            return "a review threshold is above its threshold"
        return ""

    @property
    def certified(self) -> SavedCertificate | None:
        """The certificate, unless the file has none or its digest does not match."""
        return None if self.unsealed else given(self.certificate)

    @property
    def certified_groups(self) -> list[SavedCertificate]:
        """Certificates of groups; empty without any, or if the digest does not match."""
        if self.unsealed:
            return []
        certificates = [given(group.certificate) for group in self.group_rules.values()]
        return [saved for saved in certificates if saved is not None]

    @property
    def promising_groups(self) -> Sequence[str]:
        """Groups in which the bound is promised: with certificates, only those that have one."""
        if not self.certified_groups:
            return list(self.group_rules)
        return [name for name, saved in self.group_rules.items() if saved.certificate is not msgspec.UNSET]

    @property
    def risk(self) -> float:
        """Risk of the certificate, or of all groups together; 0 without a certificate."""
        if self.certified is not None:
            return self.certified.delta
        return len(self.group_rules) * max((saved.delta for saved in self.certified_groups), default=0.0)

    @property
    def is_raised(self) -> bool:
        """Whether the uncertainty raises the scores before they are compared (hr)."""
        return self.recalibration is not msgspec.UNSET

    def decide(self, rows: Rows) -> Bools:
        """Decide which rows are flagged, or which predictions are accepted."""
        if self.group_rules:
            return self._decide_by_group(rows)
        score = self._compared_score(rows)
        return decide(score, rows.uncertainty, self.uncertainty_edges, self.thresholds)

    def _decide_by_group(self, rows: Rows) -> Bools:
        """Decide by the rule of each row's group, or of all rows together for other groups."""
        score = rows.score
        if self.class_names:
            index_of = {name: index for index, name in enumerate(self.group_rules)}
            group = np.array([index_of.get(name, -1) for name in self.class_names])[rows.groups[PREDICTED]]
        else:
            level = rows.features[self.by or ""].value
            group = np.where(level < len(self.group_rules), level, -1).astype(np.int64)
        flagged = np.zeros(len(score), dtype=np.bool_)
        rules = [(saved.uncertainty_edges, saved.thresholds) for saved in self.group_rules.values()]
        for index, (edges, thresholds) in enumerate([*rules, (self.uncertainty_edges, self.thresholds)]):
            inside = np.flatnonzero(group == (index if index < len(rules) else -1))
            if len(inside):
                uncertainty = None if rows.uncertainty is None else rows.uncertainty[inside]
                flagged[inside] = decide(score[inside], uncertainty, edges, thresholds)
        return flagged

    def place_of(self, rows: Rows) -> tuple[Ints, Floats]:
        """Return the place of each row among the nested rules, and its score, which orders rows of one place.

        A rule that does not order rows is a UsageError.
        """
        if self.group_rules or self.has_zones:
            kind = "groups" if self.group_rules else "a review"
            raise UsageError(f"--top with a rule of {kind}", expected=f"a rule without {kind}")
        if len(self.thresholds) == 1:
            return np.zeros(len(rows), dtype=np.int64), self._compared_score(rows)
        nested = given(self.nested)
        if nested is None:
            raise UsageError(
                "--top with a rule that has several thresholds and no order of rows",
                expected="a rule of --algorithm smooth",
                remedy="fit the rule again",
            )
        return places(rows.score, rows.uncertainty, self.uncertainty_edges, nested), rows.score

    def _compared_score(self, rows: Rows) -> Floats:
        """Return the scores that are compared with thresholds, raised by the uncertainty with hr."""
        hr = given(self.recalibration)
        if hr is None:
            return rows.score
        if rows.uncertainty is None:
            raise DataError("no uncertainty read", expected="a column that recalibrates the score")
        return recalibrated(rows.score, rows.uncertainty, hr)

    def adds(self, roles: Roles, new_columns: NewColumns) -> AddedColumns:
        """See Saved: the decision, and the zone or the predicted class."""
        prefix = new_columns.prefix
        decision, zone, predicted = f"{prefix}decision", f"{prefix}zone", f"{prefix}class"
        if self.class_names:

            def accepted(rows: Rows) -> dict[str, Bools | Ints]:
                made = predictions(rows, roles)
                decided = self.decide(made)
                return {decision: decided, predicted: np.where(decided, made.groups[PREDICTED], -1)}

            return AddedColumns(
                types={decision: "bool", predicted: "text"},
                texts={predicted: tuple(self.class_names)},
                compute=accepted,
            )
        if not self.has_zones:
            return AddedColumns(types={decision: "bool"}, compute=lambda rows: {decision: self.decide(rows)})

        def decided(rows: Rows) -> dict[str, Bools | Ints]:
            zones = self.zones(rows)
            return {decision: zones == ZONES.index("flag"), zone: zones}

        return AddedColumns(types={decision: "bool", zone: "text"}, texts={zone: ZONES}, compute=decided)

    def zones(self, rows: Rows) -> Ints:
        """Return the zone of every row, as an index into ZONES; there are two without a review."""
        flagged = self.decide(rows)
        review = given(self.review_thresholds)
        if review is None:
            return np.where(flagged, 0, len(ZONES) - 1)
        caught = decide(rows.score, rows.uncertainty, self.uncertainty_edges, review)
        return np.where(flagged, 0, np.where(caught, 1, len(ZONES) - 1))

    def formula(self) -> Formula:
        """See Saved."""
        uncertainty = self.exported_uncertainty()
        if self.class_names:
            return self._formula_of_classes(uncertainty)
        score = Column(name=self.columns["score"])
        names = [score.name, *([] if uncertainty is None else [self.source.uncertainty or ""])]
        columns = [Column(name=name) for name in dict.fromkeys(names)]
        inputs = tuple(columns)
        decision = _exported(score, uncertainty, self.uncertainty_edges, self.thresholds)
        if self.by is not None:
            group = Column(name=self.by, kind="text")
            inputs = (*inputs, group)
            texts = texts_by_level(tuple(self.group_rules))
            decisions = [
                _exported(score, uncertainty, saved.uncertainty_edges, saved.thresholds)
                for saved in self.group_rules.values()
            ]
            groups = [(texts[name],) for name in self.group_rules]
            decision = lookup((group,), groups, decisions, decision)
        hr = given(self.recalibration)
        if hr is not None and uncertainty is not None:
            decision = let(
                _exported_raise(score, uncertainty, hr),
                lambda raised: _exported(raised, None, (), self.thresholds),
                "raised",
            )
        outputs = [Output(name="decision", kind="bool", value=decision)]
        if (review_thresholds := given(self.review_thresholds)) is not None:
            caught = _exported(score, uncertainty, self.uncertainty_edges, review_thresholds)
            flag, review, clear = map(Constant, ZONES)
            outputs.append(
                Output(name="zone", kind="text", value=Case(((decision, flag), (caught, review)), clear))
            )
        return Formula(
            inputs=inputs,
            required=tuple(column.name for column in columns),
            outputs=tuple(outputs),
            roles=self.arguments(),
            unused="uncertainty" if uncertainty is None else "",
        )

    def _formula_of_classes(self, uncertainty: Expression | None) -> Formula:
        """Return the decision on the most probable class, the first of equal ones."""
        columns = tuple(Column(name=self.columns[f"{PROBA}{name}"]) for name in self.class_names)
        largest, decision = Name("largest"), Name("decision")
        pooled = _exported(largest, uncertainty, self.uncertainty_edges, self.thresholds)

        def accepted(name: str) -> Expression:
            saved = self.group_rules.get(name)
            if saved is None:
                return pooled
            return _exported(largest, uncertainty, saved.uncertainty_edges, saved.thresholds)

        def by_class(values: Sequence[Expression]) -> Expression:
            *others, last = values
            if all(value is last for value in others):
                return last
            reached = [Comparison(">=", column, largest) for column in columns[:-1]]
            return Case(tuple(zip(reached, others, strict=True)), last)

        predicted = by_class([Constant(name) for name in self.class_names])
        own = () if uncertainty is None else (Column(name=self.source.uncertainty or ""),)
        numbers = (*columns, *own)
        return Formula(
            inputs=numbers,
            required=tuple(column.name for column in numbers),
            shares=tuple(column.name for column in columns),
            roles=self.arguments(),
            named=(
                (largest.name, Maximum(columns)),
                (decision.name, by_class([accepted(name) for name in self.class_names])),
            ),
            outputs=(
                Output(name="decision", kind="bool", value=decision),
                Output(name="class", kind="text", value=Case(((decision, predicted),), Constant(None))),
            ),
        )

    @property
    def region(self) -> Region | None:
        """Scores from which the calibration rows were drawn; None if they are like new rows."""
        certificate = given(self.certificate)
        return None if certificate is None else certificate.region

    @property
    def is_below(self) -> bool:
        """Whether the calibration rows were drawn below a score, so that they show no precision."""
        return self.region is not None and self.region.is_below

    @property
    def limits_omission(self) -> bool:
        """Whether it promises that few of the rows that nobody looks at are positive."""
        return RULES[self.constraint.kind].is_of_cleared or (
            self.review is not None and self.review.kind is ReviewKind.OMISSION
        )

    def metrics(self) -> Metrics:
        """See Saved: its results on the calibration set."""
        fit, recall = self.fit, self.fit.recall if self.region is None else None
        precision = None if self.is_below else fit.precision
        metrics: Metrics = {"precision": precision, "recall": recall, "selected": fit.selected}
        if fit.value is not msgspec.UNSET and fit.value_caught is not msgspec.UNSET:
            metrics = {**metrics, "value": fit.value, "value_caught": fit.value_caught}
        return {**metrics, **zone_rates(fit)} if fit.zones else metrics

    def document(self) -> Document:
        """See Saved."""
        fit, source = self.fit, self.source
        columns = source.columns_in_words()
        certified = ""
        where = "calibration set" if self.fit.flagged[1] == self.fit.rows else LABELLED_ROWS
        if self.risk:
            certified = f", certified at a risk of {100 * self.risk:g} %"
        if self.certified is not None:
            tested = self.certified.tested_on.rows
            chose = f"{count(fit.rows - tested)} chose"
            if (pilot := given(self.certified.pilot)) is not None:
                chose = f"{count(pilot.rows)} others chose"
            where = f"calibration set ({chose}, {count(tested)} tested)"
            if self.certified.is_of_clusters:
                where = f"calibration set ({count(tested)} {self.certified.units} tested)"
        if self.region is not None:
            where = f"{count(fit.rows)} rows drawn from scores {self.region}"
        recall = percent(fit.recall if self.region is None else None)
        expected = self._expected_rows()
        thresholds = threshold_table(
            self.uncertainty_edges, self.thresholds, given(self.review_thresholds), raised=self.is_raised
        )
        results = Table(
            title="",
            header=(ranges_by(self.source) if expected else "", "recall", "precision", "flagged"),
            rows=[
                (where, recall, "-" if self.is_below else precision_cell(fit), count(fit.selected)),
                *expected,
            ],
        )
        tables = [results, zones_table(fit), thresholds] if fit.zones else [thresholds, results]
        name = f"Boundary ({self.algorithm})"
        if self.group_rules:
            by = PREDICTED_CLASS if self.class_names else printable(self.by or "", 30)
            name = f"Boundaries ({self.algorithm}) of {len(self.group_rules)} groups of {by}"
            tables = [results, self._groups_table(by), *group_thresholds(by, self.group_rules)]
        return Document(
            title=f"{name} for {self._target_text(certified)}",
            lead=self._scores_in_words() if self.is_raised else (),
            tables=tables,
            notes=[
                *(() if self.is_raised else self._scores_in_words()),
                *self._certificate_in_words(),
                f"Columns: {columns}.",
                f"{self.made_from()}, {count(source.positives)} positive, {count(source.dropped)} dropped.",
            ],
            card=self._card(),
        )

    def _certificate_in_words(self) -> tuple[str, ...]:
        """State what is guaranteed; empty without a certificate."""
        if self.certified is not None:
            return certificate_in_words(self.certified)
        if not self.certified_groups:
            return ()
        groups = len(self.group_rules)
        return (
            certificates_in_words(self.certified_groups, self.risk, groups),
            *group_certificates_in_words(self.certified_groups, groups),
        )

    def _groups_table(self, by: str) -> Table:
        """Build the table of the groups; ``by`` is the name of their column."""
        rows = [
            group_line(name, saved.fit, saved.thresholds)
            for name, saved in ((name, self.group_rules[name]) for name in in_order(self.group_rules))
        ]
        others = (OTHER_GROUPS, "", "", "", "", rule_in_short(self.thresholds))
        return Table(title="", header=(by, *GROUP_HEADER), rows=[*rows, others], text_last=True)

    def _card(self) -> HeadCard:
        verdict = verdict_on_calibration_set()
        certificates = self.certified_groups if self.certified is None else [self.certified]
        if certificates:
            verdict = certified_verdict(certificates, self.risk, len(self.group_rules) or None)
        if self.unsealed:
            verdict = Verdict(text=self.unsealed, tone="bad")
        expected = given(self.expected)
        rates = (None, None) if expected is None else (expected.precision.estimate, expected.recall.estimate)
        words = ACCEPTED_PREDICTIONS if self.class_names else FLAGGED_ROWS
        return boundary_card(self.fit, rates, verdict, words, flagged=self.fit.flagged, region=self.region)

    def _expected_rows(self) -> list[tuple[str, ...]]:
        expected = given(self.expected)
        if expected is None or self.fit.selected < FEWEST_FLAGGED:
            return []
        name = "expected on target data" if self.has_target else "expected on new data"
        if self.fit.flagged[1] > self.fit.rows:  # new rows are not like those that have a label
            name = "expected on rows like these"
        if self.group_rules and sum(group.fit.rows for group in self.group_rules.values()) < self.fit.rows:
            name = "expected in these groups"
        recall, precision = (
            percent_in_range(rate.value, rate.low, rate.high)
            for rate in (expected.recall, expected.precision)
        )
        return [(name, recall, precision, "")]

    @property
    def alert_rate(self) -> float | None:
        """See Saved; None if the calibration rows were drawn above or below a score."""
        selected, rows = self.fit.flagged
        return selected / rows if self.region is None else None

    def in_a_sentence(self) -> str:
        """See Saved: with its result on the calibration set."""
        target = self._target_text(", certified" if self.risk else "")
        selected, rows = self.fit.flagged
        share_flagged = f"{percent(selected / rows)} of its calibration set"
        if self.region is not None:
            share_flagged = f"{share_flagged}, drawn from scores {self.region}"
        return f"The rule was fitted for {target} (algorithm {self.algorithm}); it flagged {share_flagged}"

    def _target_text(self, certified: str = "") -> str:
        constraint = self.constraint.parsed()
        data = " on target data" if self.has_target else ""
        margin = "" if self.margin is msgspec.UNSET else f" with margin {self.margin:g}"
        if self.parameters.bound is GroupBound.EACH:
            data = f"{data} in each"
        review = "" if self.review is None else f", {self.review.limit.text()}"
        target = constraint.text() if certified else constraint.target()
        if self.review is not None and self.review.kind is not ReviewKind.REVIEW:  # certified as well
            return f"{target}{data}{margin}{review}{certified}"
        return f"{target}{data}{margin}{certified}{review}"

    def _scores_in_words(self) -> list[str]:
        """Describe how scores are transformed, and for which class priors."""
        sentences, hr, target = [], given(self.recalibration), given(self.target)
        if hr is not None:
            sentences.append(recalibration_in_words(hr.coefficient, hr.low, hr.high))
        if target is not None:
            negative, positive = target.weights
            sentences.append(
                f"Negatives are {negative:.4g} and positives {positive:.4g} times as frequent in the target "
                f"data; precision there is {percent(target.precision)}."
            )
        return sentences


def groups_of(rows: Rows, by: str) -> Ints:
    """Return the group of each row: of a key column, or of a rule's own column."""
    if by in rows.groups:
        return rows.groups[by]
    feature = rows.features[by]
    others = len(feature.levels or ())
    return np.where(feature.value < 0, others, feature.value).astype(np.int64)


def contradictory_thresholds(edges: list[float], thresholds: Sequence[float | None]) -> str:
    """Find the first contradiction between uncertainty edges and thresholds; empty if there is none."""
    if len(thresholds) != len(edges) + 1:
        return f"{len(thresholds)} thresholds for {len(edges)} uncertainty edges"
    numbers = edges + [threshold for threshold in thresholds if threshold is not None]
    if not all(map(math.isfinite, numbers)) or edges != sorted(edges):
        return "its edges and thresholds are not finite and ascending"
    return ""


def verdict_on_calibration_set() -> Verdict:
    """Return the verdict on a boundary that has not been tested on other rows."""
    return Verdict(text="not tested on new rows yet")


@dataclass(frozen=True, kw_only=True)
class RowWords:
    """Words for the rows of a boundary, which may be predictions of classes."""

    flags: str
    rows: str
    flagged: str
    positive: str
    positives: str
    found: str


FLAGGED_ROWS: Final = RowWords(
    flags="Flags", rows="rows", flagged="flagged", positive="positive", positives="positives", found="found"
)
ACCEPTED_PREDICTIONS: Final = RowWords(
    flags="Accepts",
    rows="predictions",
    flagged="accepted",
    positive="right",
    positives="right predictions",
    found="accepted",
)


def answer(
    fit: Confusion[int] | Fit,
    words: RowWords = FLAGGED_ROWS,
    flagged: tuple[int, int] | None = None,
    region: Region | None = None,
    *,
    independent: bool = True,
) -> str:
    """State what a boundary does with the calibration rows, in one sentence.

    Of fewer than ``FEWEST_FLAGGED`` flagged rows it tells how many are right, with the range if rows are
    independent.

    ``flagged`` are the flagged rows, and the rows, with those that have no label; None if all have one. The
    region has the scores from which the rows were drawn; None if they are like new rows.
    """
    selected, rows = flagged or (fit.selected, fit.rows)
    if region is not None:
        does, positives, taken = "Flags", fit.true_positives, selected
        side, unknown = "more", ""
        if region.is_below:
            does, positives, taken = "Drops", fit.positives - positives, rows - selected
            side, unknown = "less", "what the rule flags, nor "
        return (
            f"{does} {count(taken)} of {count(rows)} rows that were drawn from those "
            f"with a score of {exact_number(region.edge)} or {side}; {percent(positives / taken)} of them "
            f"are positive. Such rows do not show {unknown}which share of all positives is found."
        )
    of_rows = f"{count(rows)} {words.rows.removesuffix('s') if rows == 1 else words.rows}"
    flags = f"{words.flags} {count(selected)} of {of_rows} ({percent(selected / rows)})"
    precision, recall = percent(fit.precision), percent(fit.recall)
    if 0 < fit.selected < FEWEST_FLAGGED and fit.recall is not None:
        right = right_of(fit.true_positives, fit.selected, independent=independent)
        return f"{flags}: {right}; {recall} of all {words.positives} are {words.found}{_reviewed(fit)}."
    if fit.zones:
        reviewed, caught = fit.zones
        return (
            f"{flags} and sends {count(reviewed)} ({percent(reviewed / rows)}) to review; {precision} "
            "of the flagged "
            f"rows are positive, and {percent(caught / fit.positives)} of all positives are flagged or "
            "reviewed."
        )
    if fit.precision is None or fit.recall is None:
        return f"{flags}."
    if rows > fit.rows:
        return (
            f"{flags}; among labelled rows, {precision} of the {words.flagged} ones are "
            f"{words.positive}, and "
            f"{recall} of the {words.positives} are {words.found}."
        )
    return (
        f"{flags}; {precision} of them are {words.positive}, and {recall} of all {words.positives} "
        f"are {words.found}."
    )


def _reviewed(fit: Confusion[int] | Fit) -> str:
    """Tell for few flagged rows how many are reviewed; empty without a review."""
    return "" if not fit.zones else f", and {count(fit.zones[0])} rows are sent to review"


def boundary_card(
    fit: Confusion[int] | Fit,
    expected: tuple[Estimate | None, Estimate | None],
    verdict: Verdict,
    words: RowWords = FLAGGED_ROWS,
    *,
    flagged: tuple[int, int] | None = None,
    title: str = "",
    region: Region | None = None,
) -> HeadCard:
    """Build the head of a page on a boundary.

    Precision and recall expected on new rows are None if not estimated. ``flagged`` are the flagged rows, and
    the rows, with those that have no label; None if all have one. The title is the first sentence of the
    report; empty for what the rule does with the calibration rows.
    """
    selected, of_rows = flagged or (fit.selected, fit.rows)
    in_part = of_rows > fit.rows
    where = "on new rows, expected" if expected[0] else "on the calibration set"
    if in_part:
        where = "on rows like the labelled ones"
    is_few = 0 < fit.selected < FEWEST_FLAGGED
    if is_few:
        where = "on the calibration set"
    precision, recall = (
        (not is_few and estimate) or Estimate(value=rate)
        for estimate, rate in zip(expected, (fit.precision, fit.recall), strict=True)
    )
    alert_rate = selected / of_rows
    numbers = [
        key_rate(f"precision {where}", precision, EXPECTED_RANGE),
        key_rate(f"{words.positives} {words.found} {where}", recall, EXPECTED_RANGE),
        KeyNumber(
            label=words.flagged,
            value=percent(alert_rate),
            interval=f"{count(selected)} of {rows_of(of_rows)}",
        ),
    ]
    if is_few:
        right = f"{count(fit.true_positives)} of {count(fit.selected)}"
        numbers[0] = KeyNumber(label=f"right {where}", value=right, interval="too few to expect a precision")
    if region is not None:  # the recall is that of the region alone, and below a score the precision, too
        del numbers[0 if region.is_below else 1 : 2]
    if fit.zones:
        reviewed, caught = fit.zones
        share_reviewed, share_caught = percent(reviewed / fit.rows), percent(caught / fit.positives)
        numbers[1:] = [
            KeyNumber(
                label="positives caught on the calibration set",
                value=share_caught,
                interval=f"{percent(fit.true_positives / fit.positives)} by flags alone",
            ),
            KeyNumber(
                label="reviewed", value=share_reviewed, interval=f"{count(reviewed)} of {rows_of(fit.rows)}"
            ),
        ]
    return HeadCard(
        title=title or answer(fit, words, flagged, region),
        verdict=verdict,
        numbers=numbers,
        subject=f"Rule fitted on {{inputs}}: {rows_of(fit.rows)}, {count(fit.positives)} positive.",
    )


def threshold_table(
    uncertainty_edges: Sequence[float],
    thresholds: Sequence[float | None],
    review_thresholds: Sequence[float | None] | None = None,
    *,
    raised: bool = False,
) -> Table:
    """Tabulate the thresholds of each uncertainty bin; with ``hr``, thresholds on raised scores."""
    columns = [("flag when", thresholds)]
    if review_thresholds is not None:
        columns.append(("else review when", review_thresholds))
    header = tuple(name for name, _ in columns)
    rules = list(
        zip(*([rule(value, raised=raised) for value in values] for _, values in columns), strict=True)
    )
    if len(thresholds) == 1:
        return Table(title="", header=header, rows=rules, left=len(header))
    rows = [(name, *cells) for name, cells in zip(ranges(uncertainty_edges), rules, strict=True)]
    return Table(title="", header=("uncertainty", *header), rows=rows, left=1 + len(header))


GROUP_HEADER: Final = ("rows", "recall", "precision", "flagged", "flag when")
"""Names of the cells of a group after its name."""


def group_line(
    name: str, fit: Confusion[int] | GroupFit, thresholds: Sequence[float | None]
) -> tuple[str, ...]:
    """Format the results and the rule of a group."""
    counts = count(fit.rows), percent(fit.recall), precision_cell(fit), count(fit.selected)
    return printable(name, 30), *counts, rule_in_short(thresholds)


def precision_cell(fit: Confusion[int] | GroupFit | Fit) -> str:
    """Format the precision for a table: of few flagged rows the number of right ones."""
    if 0 < fit.selected < FEWEST_FLAGGED:
        return f"{fit.true_positives} of {fit.selected}"
    return percent(fit.precision)


def group_thresholds(by: str, groups: Mapping[str, SavedGroup | FittedBoundary]) -> list[Table]:
    """Tabulate the thresholds of groups with several uncertainty bins; empty if there are none."""
    rows = [
        (printable(group, 30), uncertainty, rule(threshold))
        for group in in_order(groups)
        if len(set(groups[group].printed)) > 1
        for uncertainty, threshold in zip(
            ranges(list(groups[group].uncertainty_edges)), groups[group].printed, strict=True
        )
    ]
    header = (by, "uncertainty", "flag when")
    return [Table(title="", header=header, rows=rows, left=3, detail=True)] if rows else []


def rule_in_short(thresholds: Sequence[float | None]) -> str:
    """State a single threshold, or the number of thresholds."""
    if len(set(thresholds)) == 1:
        return rule(thresholds[0])
    return f"{len(thresholds)} thresholds"


def zone_rates(fit: Fit | Confusion[int] | None) -> dict[str, float | int | None]:
    """Return the metrics of the zones on a calibration set by key; None without counts of zones."""
    if fit is None or fit.zones is None:
        return dict.fromkeys(("reviewed", "caught", "review_share", "miss"))
    reviewed, caught = fit.zones
    return {
        "reviewed": reviewed,
        "caught": caught / fit.positives,
        "review_share": reviewed / fit.rows,
        "miss": (fit.positives - caught) / fit.positives,
    }


def _exported(
    score: Expression,
    uncertainty: Expression | None,
    edges: Sequence[float],
    thresholds: Sequence[float | None],
) -> Expression:
    """Return whether a score reaches the threshold of its uncertainty bin, as an expression.

    No score reaches a missing threshold, which is infinity.
    """
    reached = tuple(Constant(math.inf if threshold is None else threshold) for threshold in thresholds)
    if len(reached) == 1 or uncertainty is None:
        return Comparison(">=", score, reached[0])
    return Comparison(">=", score, Steps(uncertainty, tuple(edges), reached))


def _exported_raise(score: Expression, uncertainty: Expression, hr: SavedRecalibration) -> Expression:
    """Return the score raised by its uncertainty (hr), as an expression."""
    span = hr.high - hr.low
    if span == 0 or hr.coefficient == 0:
        return score
    share_of_span = Arithmetic("/", minus(uncertainty, Constant(hr.low)), Constant(span))
    return Arithmetic("+", score, Arithmetic("*", Constant(hr.coefficient), clipped(share_of_span, 0.0, 1.0)))


def zones_table(fit: Fit | Confusion[int]) -> Table:
    """Tabulate the rows and positives of each zone."""
    reviewed, caught = fit.zones or (0, fit.true_positives)
    rows = (fit.selected, reviewed, fit.rows - fit.selected - reviewed)
    hits = (fit.true_positives, caught - fit.true_positives, fit.positives - caught)
    lines = [
        (
            zone,
            f"{count(n)} ({percent(n / fit.rows)})",
            f"{count(p)} ({percent(p / fit.positives)})",
            percent(p / n if n else None),
        )
        for zone, n, p in zip(ZONES, rows, hits, strict=True)
    ]
    return Table(title="", header=("zone", "rows", "positives", "positive rate"), rows=lines)


def recalibration_in_words(coefficient: float, low: float, high: float) -> str:
    """State how scores are raised before they are compared with a threshold (hr)."""
    return (
        f"The raised score is score + {coefficient:g} x the uncertainty, rescaled and clipped so that "
        f"{low:.6g} is 0 and {high:.6g} is 1."
    )


def rule(threshold: float | None, *, raised: bool = False) -> str:
    """State which scores are flagged; ``raised`` means scores that the uncertainty raises (hr)."""
    if threshold is None:
        return "never"
    return (
        "always"
        if threshold == LOWEST
        else f"{'raised ' if raised else ''}score >= {exact_number(threshold)}"
    )
