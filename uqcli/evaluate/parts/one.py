"""One boundary on a test set: its rate against its target, what it decides, and what to do with it."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import replace

from uqcli.base.records import dataclass
from uqcli.base.wording import capitalised, count, percent, percent_and_range, printable, range_of, rows_of
from uqcli.boundary.search.constraint import Constraint
from uqcli.estimates.estimate import FEWEST_FLAGGED, Estimate
from uqcli.estimates.score_metrics import REVERSED
from uqcli.evaluate.measured_boundary import TestedRule
from uqcli.evaluate.report import apply_command, said_of
from uqcli.evaluate.statements import Fact, MeasuredPart, Phrases
from uqcli.reports.document import KeyNumber, Verdict, key_rate
from uqcli.reports.parts import Statement


@dataclass(frozen=True, kw_only=True)
class OneRule(MeasuredPart):
    """A single rule."""

    rank = -1  # what others say replaces its words

    tested: TestedRule
    dropped: int
    confidence: float

    @property
    def _constraint(self) -> Constraint:
        return self.tested.rule.constraint.parsed()

    def voids(self) -> Iterable[Fact]:
        return [
            *([Fact.UNBOUND] if self._constraint.is_bound else []),
            *([Fact.ALL_KEPT] if self.tested.missed else []),
        ]

    def reworded(self, phrases: Phrases) -> Phrases:
        return replace(phrases, positives=f"{count(self.tested.measured.confusion.positives)} positives")

    def statements(self, phrases: Phrases) -> Iterator[Statement]:
        tested, confusion = self.tested, self.tested.measured.confusion
        yield "title", self._title()
        yield "decisions", self._decisions(phrases)
        for verdict in tested.verdicts(tested.review_claims):
            yield "review", capitalised(f"{phrases.finding}{said_of('the rule', verdict)}")
        yield "which-rule", "Fit the rule again on current data before you rely on it."
        size = f"{rows_of(confusion.rows)}, {count(confusion.positives)} positive."
        yield "subject", f"{self._subject()} tested on {{inputs}}: {size}"
        yield "verdict", self._verdict()
        if confusion.selected and REVERSED not in tested.rule.known_doubts:  # else it is of no use
            yield "apply", self._apply_command()
        for number in self._numbers(phrases):
            yield "number", number

    def _subject(self) -> str:
        return "{rules}"

    def _apply_command(self) -> str:
        return apply_command(self.tested.file)

    def _aimed_at(self, target: str) -> str:
        """Return what follows the name of a rate that the rule bounds."""
        return f" (target {target})"

    def _title(self) -> str:
        """State the rate that the rule bounds, and whether its target holds."""
        claim, constraint = self.tested.claim, self._constraint
        (sentence,) = self.tested.verdicts([claim])
        if constraint.also or (claim.met is None and not constraint.is_promise):
            return f"{sentence[:1].upper()}{sentence[1:]}"
        rated = self._rated()
        if claim.met is None:
            return f"{rated}; {sentence}"
        bound = f"{'at most' if constraint.is_upper else 'at least'} {constraint.bound}"
        target = f"the {'guarantee' if self.tested.rule.risk else 'target'} of {bound}"
        significant = " (significant)" if "(significant)" in sentence else ""
        verdict = "is consistent with" if claim.met else "misses"
        if claim.met and significant:
            verdict = "meets"
        return f"{rated}, which {verdict} {target}{significant}."

    def _rated(self) -> str:
        """State the rate that the rule bounds, with its interval; of few flagged rows how many are right."""
        constraint, measured = self._constraint, self.tested.measured
        if not constraint.is_promise:
            return f"{percent(measured.selected_share)} of rows are flagged"
        if constraint.is_proportion_of_flagged:
            return self._rated_by_flagged()
        return self._found(measured.evidence.rate(*constraint.rates))

    def _rated_by_flagged(self) -> str:
        measured, level = self.tested.measured, f"{100 * self.confidence:g} % interval "
        flagged = measured.confusion.selected
        if not flagged:
            return "No row is flagged"
        if flagged >= FEWEST_FLAGGED:
            return self._found(measured.precision)
        right = f"{count(measured.confusion.true_positives)} of {count(flagged)} flagged rows are right"
        range_ = range_of(measured.precision.low, measured.precision.high)
        return f"{right} ({level}{range_})" if range_ else right

    def _found(self, estimate: Estimate, where: str = "") -> str:
        level, constraint = f"{100 * self.confidence:g} % interval ", self._constraint
        ends = estimate.value, estimate.low, estimate.high
        found = percent_and_range(*ends, level, beside=[float(constraint.numbers[0])])
        rated = f"{constraint.name}{where} is {found}"
        return f"{rated[:1].upper()}{rated[1:]}"

    def _decisions(self, phrases: Phrases) -> str:
        """State what the rule does with the rows."""
        measured, confusion = self.tested.measured, self.tested.measured.confusion
        were = "was" if self.dropped == 1 else "were"
        dropped = f"; {rows_of(self.dropped)} {were} dropped" if self.dropped else ""
        flags, of = "Flags", "positives"
        if self.tested.rule.class_names:
            flags, of = "Accepts", "right predictions"
        share = percent(confusion.selected / confusion.rows)
        rows = f"{rows_of(confusion.rows)} ({share}){phrases.within}{phrases.share}"
        recall, finds = measured.recall.value, phrases.also
        if recall is not None and not finds:
            numbers = {"count": count(confusion.positives), "what": of}
            finds = phrases.found.format(recall=percent(recall), **numbers)
        return f"{flags} {count(confusion.selected)} of {rows}{finds}{dropped}."

    def _verdict(self) -> Verdict:
        if self.tested.missed:
            return Verdict(text="target missed", tone="bad")
        if self.tested.claim.met is None:
            return Verdict(text="no target tested")
        if all("(significant)" in claim.sentence for claim in self.tested.claims):
            return Verdict(text="target met", tone="good")
        return Verdict(text="consistent with the target, not proven")

    def _numbers(self, phrases: Phrases) -> Iterator[KeyNumber]:
        constraint, measured, confidence = self._constraint, self.tested.measured, self.confidence
        confusion = measured.confusion
        for bound in reversed(constraint.bounds):
            if bound.own_column:
                target = bound.text().removeprefix(f"{bound.name} ")
                rate = measured.evidence.rate(*bound.rates)
                yield key_rate(f"{bound.name}{self._aimed_at(target)}", rate, confidence)
        target = self._aimed_at(str(constraint.bound)) if constraint.is_proportion_of_flagged else ""
        precision = key_rate(f"precision{target}", measured.precision, confidence)
        if 0 < confusion.selected < FEWEST_FLAGGED and phrases.counts_alike:
            right = f"{count(confusion.true_positives)} of {count(confusion.selected)}"
            precision = replace(precision, value=right)
        yield precision
        found, flagged = "positives found", phrases.flagged
        if self.tested.rule.class_names:
            found, flagged = "right predictions accepted", "accepted"
        yield key_rate(found, measured.recall, confidence)
        in_file = f"{count(confusion.selected)} of {rows_of(confusion.rows)}{phrases.here}"
        yield KeyNumber(label=flagged, value=percent(measured.selected_share), interval=in_file)


@dataclass(frozen=True, kw_only=True)
class OneRuleOnTarget(OneRule):
    """A single rule, with its precision under the class priors of target data."""

    precision: Estimate

    def _rated_by_flagged(self) -> str:
        if not self.tested.measured.confusion.selected:
            return "No row is flagged"
        return self._found(self.precision, " on the target data")


@dataclass(frozen=True, kw_only=True)
class OneRuleByCapacity(OneRule):
    """A single rule, of which the ``first`` rows of each group are flagged by ``options`` of apply."""

    first: str
    options: str

    def voids(self) -> Iterable[Fact]:
        return [Fact.UNBOUND]

    def _apply_command(self) -> str:
        return f"{super()._apply_command()}{self.options}"

    def _subject(self) -> str:
        return (
            super()._subject() if self.tested.rule.is_fitted else f"Score {printable(self.tested.name, 40)}"
        )

    def _aimed_at(self, target: str) -> str:
        return ""  # no target is about these rows

    def _title(self) -> str:
        """State the precision, which every capacity has, whatever the rule was fitted for."""
        measured = self.tested.measured
        if not measured.confusion.selected:
            return f"{self._rated_by_flagged()}."
        if measured.confusion.selected < FEWEST_FLAGGED:
            return f"{self._rated_by_flagged()}: {self.first}."
        level = f"{100 * self.confidence:g} % interval "
        estimate = measured.precision
        found = percent_and_range(estimate.value, estimate.low, estimate.high, level)
        return f"Precision is {found} among {self.first}."
