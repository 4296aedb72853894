"""Several boundaries on one test set: what each finds, whose targets hold, and of two which to use."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence

from uqcli.base.records import dataclass
from uqcli.base.wording import MOST_NAMED, count, first_of, percent, rows_of
from uqcli.estimates.estimate import FEWEST_FLAGGED, Estimate, direction
from uqcli.evaluate.measured_boundary import BoundaryDifference, MeasuredBoundary, TestedRule
from uqcli.evaluate.report import best_of_several, said_of, verdicts
from uqcli.evaluate.statements import Fact, MeasuredPart, Phrases
from uqcli.reports.document import Verdict, key_cell, key_rate
from uqcli.reports.parts import Statement


@dataclass(frozen=True, kw_only=True)
class SeveralRules(MeasuredPart):
    """Rules beside each other."""

    tested: Sequence[TestedRule]
    confidence: float

    @property
    def _names(self) -> list[str]:
        return [tested.name for tested in self.tested]

    def voids(self) -> Iterable[Fact]:
        missed = any(tested.missed for tested in self.tested)
        return [Fact.ONE_RULE, Fact.FEW_RULES, *([Fact.ALL_KEPT] if missed else [])]

    def statements(self, phrases: Phrases) -> Iterator[Statement]:
        yield "title", self._title(phrases)
        sentences = [verdict for each in self.tested for verdict in each.verdicts([each.claim])]
        if self.tested[0].rule.by_thresholds:  # else no target is tested
            yield "decisions", verdicts(self._names, sentences)
        for tested in self.tested:
            for verdict in tested.verdicts(tested.review_claims):
                yield "review", said_of(tested.name, verdict)
            if len(self.tested) > MOST_NAMED:
                yield "each-verdict", tested.claim.sentence
        yield "which-rule", self._which()
        if any(tested.missed for tested in self.tested):
            yield "target-missed", Verdict(text="a target is missed", tone="bad")
        yield from self._compared()

    def _title(self, phrases: Phrases) -> str:
        """State what the rules find."""
        sentences = [f"{tested.name} {_finds(tested.measured, phrases)}" for tested in self.tested]
        if len(sentences) > MOST_NAMED:
            sentences[MOST_NAMED:] = [f"the table has {len(sentences) - MOST_NAMED} more rules"]
        return f"{'; '.join(sentences)}."

    def _which(self) -> str:
        """State which rules may be used."""
        kept = [tested.name for tested in self.tested if not tested.missed]
        if not kept:
            return "Fit the rule again on current data before you rely on it."
        if len(kept) > MOST_NAMED:
            return f"Use one of {first_of(kept, MOST_NAMED)}."
        return f"Use {' or '.join(kept)}."

    def _compared(self) -> Iterator[Statement]:
        for tested in self.tested[:3]:
            yield "number", key_rate(f"recall of {tested.name}", tested.measured.recall, self.confidence)
        for caution in best_of_several(len(self.tested)):
            yield "best-of-several", caution


@dataclass(frozen=True, kw_only=True)
class TwoRules(SeveralRules):
    """Two rules; ``otherwise`` says which of them to use if neither does better."""

    difference: BoundaryDifference
    otherwise: str

    def voids(self) -> Iterable[Fact]:
        own = (fact for fact in super().voids() if fact is not Fact.FEW_RULES)
        return [*own, *([] if self._work.ends else [Fact.COMPARABLE])]

    @property
    def _work(self) -> Estimate:
        """The difference that must be known to compare the rules."""
        return self.difference.selected

    def _compared(self) -> Iterator[Statement]:
        difference = self.difference
        same = not direction(difference.selected) and not direction(difference.recall)
        verdict = "no significant difference" if same else self._trade_off()
        yield "comparison", Verdict(text=verdict)
        rows = rows_of(self.tested[0].measured.confusion.rows)
        yield "subject", "{rules} compared on {inputs}: " + f"{rows}."
        cells = difference.cells(brief=False)
        for name, row in (("precision", "precision"), ("recall", "recall"), ("flagged rows", "flagged")):
            yield "number", key_cell(f"{name}, difference", cells[row])
        if same:
            yield "finds-more", f"The two rules do not differ significantly: {self.otherwise}."
            return
        for sentence in self._advice():
            yield "finds-more", sentence

    def _trade_off(self) -> str:
        (first, one), (second, two) = ((each.name, each.measured) for each in self.tested)
        more = first if (one.recall.value or 0) >= (two.recall.value or 0) else second
        precise = first if (one.precision.value or 0) >= (two.precision.value or 0) else second
        return f"{more} finds more" + ("" if more == precise else f", {precise} is more precise")

    def _advice(self) -> list[str]:
        """State how many more rows one rule flags, how many more positives it finds, and when to use it."""
        many, few = sorted(self.tested, key=lambda each: each.measured.confusion.selected, reverse=True)
        more_rows, fewer = many.measured.confusion, few.measured.confusion
        alerts, hits = more_rows.selected - fewer.selected, more_rows.true_positives - fewer.true_positives
        advice = [f"Use {many.name} if its additional alerts are worth the work, and otherwise {few.name}."]
        if hits < 0 or alerts == 0:
            return advice
        # either rule may flag rows that the other does not, so the difference is no set of rows
        net = f"{many.name} flags {count(alerts)} more {'row' if alerts == 1 else 'rows'} on balance"
        return [f"{net}, and finds {count(hits)} more {'positive' if hits == 1 else 'positives'}.", *advice]


@dataclass(frozen=True, kw_only=True)
class TwoRulesByCapacity(TwoRules):
    """Two rules that flag as many rows, so that one of them finds more for the same work."""

    @property
    def _work(self) -> Estimate:
        return self.difference.recall

    def _trade_off(self) -> str:
        return f"{self._better.name} finds more"

    def _advice(self) -> list[str]:
        better, (first, second) = self._better, (each.measured.confusion for each in self.tested)
        hits = abs(second.true_positives - first.true_positives)
        more = f"{count(hits)} more {'positive' if hits == 1 else 'positives'}"
        return [f"Use {better.name}: it finds {more} in as many alerts."]

    @property
    def _better(self) -> TestedRule:
        return max(self.tested, key=lambda each: each.measured.confusion.true_positives)


def _finds(measured: MeasuredBoundary, phrases: Phrases) -> str:
    """State what a rule finds, and its precision: of few flagged rows how many are right."""
    recall, confusion = percent(measured.recall.value), measured.confusion
    if 0 < confusion.selected < FEWEST_FLAGGED and phrases.counts_alike:
        right = f"{count(confusion.true_positives)} of {count(confusion.selected)} flagged rows are right"
        return f"finds {recall} of positives, and {right}"
    return f"finds {recall} of positives at precision {percent(measured.precision.value)}"
