"""What a boundary does on a test set, and the difference of two: counts, rates, and the parts beside them."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace

from uqcli.base.records import dataclass
from uqcli.base.sampling_weights import UNITS
from uqcli.base.wording import count, percent, points
from uqcli.boundary.rule import BoundaryArtifact
from uqcli.estimates.confusion import Confusion, Rate
from uqcli.estimates.estimate import Estimate, interval
from uqcli.evaluate.promises import Evidence
from uqcli.evaluate.report import EvaluatedPart, difference_cell, points_cell
from uqcli.evaluate.statements import LAYOUT, MeasuredPart, Phrases
from uqcli.reports.document import Claim, Metrics
from uqcli.reports.parts import joined


@dataclass(frozen=True, kw_only=True)
class MeasuredBoundary:
    """Counts and rates of a boundary on a test set, with what its features and those of the set add.

    Rows without a label, ``unlabelled``, are left out.
    """

    evidence: Evidence
    unlabelled: int
    parts: Sequence[MeasuredPart] = ()

    @property
    def confusion(self) -> Confusion[int]:
        """Rows of the file."""
        return self.evidence.confusion

    @property
    def precision(self) -> Estimate:
        """Share of positives among the flagged rows."""
        return self.evidence.rate(Rate.PRECISION)

    @property
    def recall(self) -> Estimate:
        """Share of flagged rows among the positives."""
        return self.evidence.rate(Rate.RECALL)

    @property
    def fpr(self) -> Estimate:
        """Share of flagged rows among the negatives."""
        return self.evidence.rate(Rate.FPR)

    @property
    def selected_share(self) -> float:
        """Share of the flagged rows among all rows."""
        return self.evidence.selected_share

    def having(self, *parts: MeasuredPart) -> MeasuredBoundary:
        """Return it with further parts."""
        return replace(self, parts=(*self.parts, *parts))

    def metrics(self) -> Metrics:
        """By their contract names."""
        counts = self.confusion
        core: Metrics = {
            "precision": self.precision,
            "recall": self.recall,
            "fpr": self.fpr,
            "selected": counts.selected,
            "true_positives": counts.true_positives,
            "rows": counts.rows,
            "positives": counts.positives,
            "unlabelled": self.unlabelled,
            "promise_broken": None,
            "selected_share": self.selected_share,
        }
        merged = joined([core, *(part.metrics(Phrases()) for part in self.parts)])
        return {name: merged[name] for name in LAYOUT.metrics if name in merged}

    def cells(self, *, brief: bool) -> Mapping[str, str]:
        """Format the cells of the table of rates, by row."""
        core = {
            "precision": interval(self.precision),
            "recall": interval(self.recall),
            "FPR": interval(self.fpr),
            "flagged": f"{count(self.confusion.selected)} ({percent(self.selected_share)})",
            "true positives": count(self.confusion.true_positives),
        }
        return joined([core, *(part.cells(brief=brief) for part in self.parts)])


@dataclass(frozen=True, kw_only=True)
class BoundaryDifference(EvaluatedPart):
    """A second boundary less a first, by weight.

    Recall and precision are differences of proportions; if one is undefined, the value is None and the ends
    are -1 and 1. The p-value of recall is that of McNemar's exact test on positive rows; with clusters or
    sampling weights, of a t-test. It is None without positives, or if the rules differ on too few of them.
    ``selected`` is in rows; the interval is for the expected difference in a new sample of as many rows.
    Disagreements are rows that only one of the two flags.
    """

    first: MeasuredBoundary
    second: MeasuredBoundary
    recall: Estimate
    precision: Estimate
    selected: Estimate
    disagreements: int
    disagreements_positive: int
    parts: Sequence[MeasuredPart] = ()

    def metrics(self) -> Metrics:
        """By their contract names."""
        core: Metrics = {
            "recall": self.recall,
            "precision": self.precision,
            "selected": self.selected,
            "recall_p": self.recall.p_value,
            "selected_p": self.selected.p_value,
            "disagreements": self.disagreements,
            "disagreements_positive": self.disagreements_positive,
        }
        return {"difference": joined([core, *(part.metrics(Phrases()) for part in self.parts)])}

    def cells(self, *, brief: bool) -> Mapping[str, str]:
        """Format the cells of the table of rates, by row; without intervals if brief."""
        first, second = self.first, self.second
        rates = second.fpr.value, first.fpr.value
        hits = second.confusion.true_positives - first.confusion.true_positives
        core = {
            "precision": points_cell(self.precision, brief=brief),
            "recall": points_cell(self.recall, self.recall.p_value, brief=brief),
            "FPR": "" if rates[0] is None or rates[1] is None else points(rates[0] - rates[1]),
            "flagged": self._flagged(brief=brief),
            "true positives": f"{hits:+,}",
        }
        return joined([core, *(part.cells(brief=brief) for part in self.parts)])

    def _flagged(self, *, brief: bool) -> str:
        return difference_cell(self.selected, "+,.0f", self.selected.p_value, brief=brief)


@dataclass(frozen=True, kw_only=True)
class WeightedDifference(BoundaryDifference):
    """The same of rows with sampling weights, whose flagged rows differ by a share of all rows."""

    def _flagged(self, *, brief: bool) -> str:
        relative = self.selected.times(100 / (self.first.evidence.totals.rows / UNITS))
        return difference_cell(relative, "+.2f", self.selected.p_value, brief=brief, unit=" %")


@dataclass(frozen=True, kw_only=True)
class TestedRule:
    """A rule on a test set: its file, a short name of that, and the claims of its target and its review."""

    file: str
    name: str
    rule: BoundaryArtifact
    measured: MeasuredBoundary
    claim: Claim
    review_claims: Sequence[Claim]

    @property
    def claims(self) -> Iterable[Claim]:
        """All claims."""
        return [self.claim, *self.review_claims]

    @property
    def missed(self) -> bool:
        """Whether a target is missed."""
        return any(claim.met is False for claim in self.claims)

    def verdicts(self, claims: Sequence[Claim]) -> list[str]:
        """Return the sentences of claims without the name of the file."""
        return [claim.sentence.removeprefix(f"{self.file}: ") for claim in claims]
