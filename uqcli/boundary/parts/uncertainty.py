"""What the uncertainty is worth: comparisons with a single threshold, and the number of bins."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import asdict, replace
from typing import Any, ClassVar

from uqcli.base.notices import Notice
from uqcli.base.records import dataclass
from uqcli.boundary.comparison import VERDICTS, UncertaintyComparison, gains_table
from uqcli.boundary.search.constraint import Constraint
from uqcli.boundary.search.cross_validation import BinsTried, fewest_of
from uqcli.boundary.statements import BoundaryPart, Fact, Phrases, Remark
from uqcli.reports.document import Metrics, Table, Verdict
from uqcli.reports.parts import Statement

TOO_FEW_ALERTS = "Too few rows are flagged to choose uncertainty bins, so the rule is one threshold."
NO_UNCERTAINTY = "The rows have no uncertainty column, so only the score decides."
NO_GAIN = "Uncertainty bins bring no clear gain, so the rule is one threshold."
_CROSS_VALIDATED = (
    "Gains are cross-validated: they are measured on rows that were not used to choose the rule. At the "
    "same number of alerts, a gain shows that rows are ranked better; at the same bound, it also includes "
    "what the additional alerts find."
)
_NO_SIGNIFICANT_GAIN = " Cross-validation shows no significant gain over a single threshold."


@dataclass(frozen=True, kw_only=True)
class TriedBins(BoundaryPart):
    """Numbers of uncertainty bins that were tried; none with too few alerts."""

    tried: tuple[BinsTried, ...]
    constraint: Constraint

    def voids(self) -> Iterable[Fact]:
        return (Fact.UNTESTED,)

    def reworded(self, phrases: Phrases) -> Phrases:
        return replace(phrases, one_threshold=NO_GAIN if self.tried else TOO_FEW_ALERTS)

    def statements(self, phrases: Phrases) -> Iterator[Statement]:
        if self.tried:
            yield "random-bins", "the number of uncertainty bins"

    def exhibits(self, phrases: Phrases) -> Iterator[Statement]:
        in_money = ("value gained, % of all gain",) if self.constraint.amounts else ()
        if self.tried:
            yield "bins-tried", bins_tried_table(self.tried, *in_money)

    def payload(self, phrases: Phrases) -> Mapping[str, Any]:
        return {"bins_tried": [asdict(candidate) for candidate in self.tried]}


def bins_tried_table(tried: Sequence[BinsTried], gained: str = "recall gained, points") -> Table:
    """Build the table of the gain for each number of bins; ``gained`` says of what."""
    chosen = fewest_of(tried)
    rows = [
        (
            str(candidate.bins),
            f"{100 * candidate.gain:+.2f}",
            f"{100 * candidate.behind:.2f} ({100 * candidate.error:.2f})",
            "chosen" if candidate.bins == chosen else "",
        )
        for candidate in tried
    ]
    header = ("uncertainty bins", gained, "behind the best (SE)", "")
    title = "Gain at equal alerts, cross-validated; chosen: fewest bins within a standard error of the best"
    return Table(title=title, header=header, rows=rows, detail=True)


@dataclass(frozen=True, kw_only=True)
class Comparisons(BoundaryPart):
    """Gains of uncertainty columns over a single threshold, the best first."""

    rank: ClassVar = 1

    compared: tuple[UncertaintyComparison, ...]

    @property
    def _best(self) -> UncertaintyComparison:
        return self.compared[0]

    def voids(self) -> Iterable[Fact]:
        return (Fact.UNTESTED,)

    def reworded(self, phrases: Phrases) -> Phrases:
        verdict = {"no evidence": "no evidence that uncertainty helps"}.get(
            self._best.verdict, f"uncertainty {self._best.verdict}"
        )
        return replace(
            phrases,
            one_threshold="",
            about_curves="" if self._best.verdict == "helps" else _NO_SIGNIFICANT_GAIN,
            verdict=Verdict(text=f"{verdict}; rule not tested on new rows yet"),
        )

    def statements(self, phrases: Phrases) -> Iterator[Statement]:
        instead = "" if self._best.verdict == "helps" else phrases.instead
        sentence = f"{self._best.sentence()} {phrases.advice or instead or 'The rule uses it.'}"
        yield "comparison", sentence
        yield "verdict-of-bound", sentence
        yield "cross-validated", _CROSS_VALIDATED
        yield "cross-validated", VERDICTS
        yield "random-gains", "the gains"
        if len(self.compared) > 1:
            yield "random-column", "the uncertainty column"
        for comparison in self.compared:
            yield "compared", comparison

    def exhibits(self, phrases: Phrases) -> Iterator[Statement]:
        yield "gains", gains_table(self.compared)

    def metrics(self, phrases: Phrases) -> Metrics:
        return self._best.metrics

    def payload(self, phrases: Phrases) -> Mapping[str, Any]:
        compared = [comparison.payload() for comparison in self.compared]
        return {"verdict": self._best.verdict, "compared": compared}


@dataclass(frozen=True, kw_only=True)
class NoUncertainty(BoundaryPart):
    """The rows have no uncertainty, though none was ruled out."""

    rank: ClassVar = 2

    def reworded(self, phrases: Phrases) -> Phrases:
        return replace(phrases, one_threshold=NO_UNCERTAINTY)

    def statements(self, phrases: Phrases) -> Iterator[Statement]:
        yield "no-uncertainty", NO_UNCERTAINTY
        yield "score-alone", NO_UNCERTAINTY


def other_direction(sentence: str) -> BoundaryPart:
    """Return the part of what the uncertainty would gain with the other sign."""
    return Remark(said=[("other-direction", Notice("other-direction", sentence))])
