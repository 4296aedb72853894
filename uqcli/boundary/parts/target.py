"""What the rule is for beside its bound: gain and cost, a review, the class priors of other data."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import replace
from typing import Any, ClassVar

from uqcli.base.notices import Notice
from uqcli.base.records import dataclass
from uqcli.base.wording import percent, rounded_money
from uqcli.boundary.rule_file import NEW_FORMAT, SavedTarget
from uqcli.boundary.rule_words import threshold_table, zone_rates, zones_table
from uqcli.boundary.search.thresholds import FittedBoundary, Thresholds
from uqcli.boundary.search.zones import ReviewLimit
from uqcli.boundary.statements import BoundaryPart, Fact, Phrases, Remark
from uqcli.reports.document import Claim, KeyNumber, Metrics
from uqcli.reports.parts import Statement
from uqcli.reports.positivity import REVIEW
from uqcli.shift.rule import BinaryWeights


def value_of(worth: dict[str, float | None], beside: str) -> BoundaryPart:
    """Return the part of a gain and a cost, with what a rule is worth by metric.

    ``beside`` says what a single threshold brings; empty without one.
    """
    text, caught, held = rounded_money(worth["value"] or 0.0), worth["value_caught"], ""
    if caught is not None:
        held = f"; the flagged rows hold {percent(caught)} of the gain from all positives"
    return Remark(
        said=[
            ("value", f"Net value on the calibration set: {text}{beside}{held}."),
            ("net-value", KeyNumber(label="net value on the calibration set", value=text)),
        ],
        measured=worth,
        fields={"fit": worth},
    )


def no_review() -> BoundaryPart:
    """Return the part of a review below a rule that was not found."""
    unknown = dict.fromkeys(("reviewed", "caught", "review_share", "miss"))
    return Remark(voided=[Fact.TWO_ZONES], measured=unknown, keys={"review_thresholds": None})


@dataclass(frozen=True, kw_only=True)
class Review(BoundaryPart):
    """A review of the rows below a boundary, whose thresholds are ``lowest``."""

    rank: ClassVar = 3

    limit: ReviewLimit
    boundary: FittedBoundary
    lowest: Thresholds

    def voids(self) -> Iterable[Fact]:
        return (Fact.TWO_ZONES,)

    def reworded(self, phrases: Phrases) -> Phrases:
        curves = (*phrases.curves[:1], (REVIEW, self.lowest))
        return replace(phrases, where=f"{phrases.where}, by the flagged rows alone,", curves=curves)

    def statements(self, phrases: Phrases) -> Iterator[Statement]:
        if self.limit.is_promise:
            claim = Claim(name=f"{self.limit.text()}{phrases.certified}", met=True, sentence="")
            yield "missed-at-most", claim

    def exhibits(self, phrases: Phrases) -> Iterator[Statement]:
        boundary = self.boundary
        yield "zones", zones_table(boundary.fit)
        edges, below = boundary.uncertainty_edges.tolist(), boundary.printed_review
        yield "thresholds-of-zones", threshold_table(edges, boundary.printed, below, raised=phrases.raised)

    def metrics(self, phrases: Phrases) -> Metrics:
        return zone_rates(self.boundary.fit)

    def payload(self, phrases: Phrases) -> Mapping[str, Any]:
        return {"review_thresholds": list(self.lowest)}

    def saved(self) -> Mapping[str, Any]:
        reviewed, caught = self.boundary.fit.zones or (0, 0)
        zones = {"reviewed": reviewed, "caught": caught}
        return {"format_version": NEW_FORMAT, "review_thresholds": list(self.lowest), "fit": zones}


@dataclass(frozen=True, kw_only=True)
class TargetPriors(BoundaryPart):
    """Class weights of other data, and the precision that the rule has there; None if it is unknown."""

    weights: BinaryWeights
    precision: float | None

    def voids(self) -> Iterable[Fact]:
        return (Fact.SOURCE_PRIORS, *([Fact.PRIORS_KNOWN] if self.weights.refuted else []))

    def reworded(self, phrases: Phrases) -> Phrases:
        return replace(phrases, where="the target data")

    def statements(self, phrases: Phrases) -> Iterator[Statement]:
        weights = self.weights
        if weights.refuted:
            unknown = f"the precision on the target data is unknown: {weights.refuted}."
            yield "unknown-rate", Notice("unknown-rate", unknown)
        yield (
            "class-weights",
            f"With the class priors of the target data, precision is {percent(self.precision)} (class "
            f"weights {weights.negative:.4g} and {weights.positive:.4g}).",
        )

    def metrics(self, phrases: Phrases) -> Metrics:
        return {"target_precision": self.precision}

    def saved(self) -> Mapping[str, Any]:
        weights = [self.weights.negative, self.weights.positive]
        return {"target": SavedTarget(weights=weights, precision=self.precision)}
