"""What is not flagged: rows sent to review, the positives caught with them, and those among dropped rows."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import replace

from uqcli.base.records import dataclass
from uqcli.base.wording import count, percent
from uqcli.estimates.estimate import Estimate, direction, interval
from uqcli.evaluate.report import points_cell
from uqcli.evaluate.statements import Fact, MeasuredPart, MoreRate, Phrases
from uqcli.reports.document import Metrics, key_rate
from uqcli.reports.parts import Statement


@dataclass(frozen=True, kw_only=True)
class Review(MeasuredPart):
    """Rates of a rule with a review on a test set, by weight, with intervals.

    ``caught`` is the share of positives that are flagged or reviewed, ``miss`` that of cleared ones, which
    the rule may limit (``limits_misses``), and ``share`` that of reviewed rows. ``work`` are the rows
    that are flagged or reviewed.
    """

    rank = 1  # its positives are those of the weights

    caught: Estimate
    share: Estimate
    miss: Estimate
    reviewed: int
    work: int
    limits_misses: bool
    confidence: float

    def voids(self) -> Iterable[Fact]:
        return [Fact.TWO_ZONES]

    def reworded(self, phrases: Phrases) -> Phrases:
        also = f", and sends {percent(self.share.value)} to review"
        if self.caught.value is not None:
            also = f"{also}; together they hold {percent(self.caught.value)} of the {phrases.positives}"
        finding = phrases.finding
        if self.limits_misses and self.miss.value is not None:
            finding = f"{percent(self.miss.value)} of positives are missed: "
        return replace(phrases, also=also, finding=finding)

    def metrics(self, phrases: Phrases) -> Metrics:
        return {
            "caught": self.caught,
            "review_share": self.share,
            "miss": self.miss,
            "reviewed": self.reviewed,
        }

    def cells(self, *, brief: bool) -> Mapping[str, str]:
        reviewed = f"{count(self.reviewed)} ({percent(self.share.value or 0)})"
        return {"caught": interval(self.caught), "missed": interval(self.miss), "reviewed": reviewed}

    def statements(self, phrases: Phrases) -> Iterator[Statement]:
        yield "review-number", key_rate("positives caught", self.caught, self.confidence)
        yield "review-number", key_rate("reviewed", self.share, self.confidence)


@dataclass(frozen=True, kw_only=True)
class CatchesMore(MeasuredPart):
    """Positives caught by a second rule with a review less those of a first."""

    names: Sequence[str]
    reviews: Sequence[Review]
    caught: Estimate

    def voids(self) -> Iterable[Fact]:
        return [Fact.BY_RECALL]

    def metrics(self, phrases: Phrases) -> Metrics:
        return {"caught": self.caught, "caught_p": self.caught.p_value}

    def cells(self, *, brief: bool) -> Mapping[str, str]:
        return {"caught": points_cell(self.caught, self.caught.p_value, brief=brief)}

    def statements(self, phrases: Phrases) -> Iterator[Statement]:
        """State what the additional work of one of the two finds."""
        if not direction(self.caught):
            yield (
                "catches-more",
                "The positives caught do not differ significantly: use the rule with less work.",
            )
            return
        pairs = sorted(zip(self.names, self.reviews, strict=True), key=lambda pair: pair[1].work)
        (less, first), (more, second) = pairs
        gain = 100 * ((second.caught.value or 0) - (first.caught.value or 0))
        points = f"{abs(gain):.3g} points {'more' if gain > 0 else 'less'}"
        rows = count(second.work - first.work)
        catches = f"{more} flags or reviews {rows} more rows and catches {points} of the positives."
        yield "catches-more", catches
        yield "catches-more", f"Use {more} if that is worth the work, and otherwise {less}."


@dataclass(frozen=True, kw_only=True)
class Omission(MoreRate):
    """Share of positives among the rows that nobody looks at."""

    def reworded(self, phrases: Phrases) -> Phrases:
        if self.estimate.value is None:
            return phrases
        return replace(phrases, finding=f"{percent(self.estimate.value)} of cleared rows are positive: ")

    def cells(self, *, brief: bool) -> Mapping[str, str]:
        names = ("false omission", "false omission beside a review")
        return dict.fromkeys(names, interval(self.estimate))
