"""What to expect of a rule on new data."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from typing import Any, Final

from uqcli.base.notices import Notice
from uqcli.base.records import dataclass
from uqcli.base.wording import percent
from uqcli.boundary.expected import expectation
from uqcli.boundary.rule_file import SavedExpected, SavedRange
from uqcli.boundary.search.constraint import Constraint
from uqcli.boundary.search.thresholds import FittedBoundary
from uqcli.boundary.statements import CERTIFY, MARGIN, BoundaryPart, Fact, Phrases, Remark
from uqcli.estimates.confusion import Confusion
from uqcli.estimates.estimate import FEWEST_FLAGGED, Estimate
from uqcli.reports.document import Metrics
from uqcli.reports.parts import Statement


@dataclass(frozen=True, kw_only=True)
class Expectation(BoundaryPart):
    """Expected precision and recall, of the data that the rule is for, and sentences that belong to them."""

    precision: Estimate
    recall: Estimate
    also: tuple[str, ...] = ()

    def reworded(self, phrases: Phrases) -> Phrases:
        return replace(phrases, expected=(self.precision, self.recall), expected_also=self.also)

    def statements(self, phrases: Phrases) -> Iterator[Statement]:
        rates = {"precision": self.precision, "recall": self.recall}
        sentence = expectation(rates, phrases.where, phrases.between)
        yield "expectation", " ".join((sentence, *phrases.expected_also))

    def metrics(self, phrases: Phrases) -> Metrics:
        return {"expected": {"precision": self.precision, "recall": self.recall}}

    def saved(self) -> Mapping[str, Any]:
        precision, recall = SavedRange.of(self.precision), SavedRange.of(self.recall)
        return {"expected": SavedExpected(precision=precision, recall=recall)}


def unestimated() -> BoundaryPart:
    """Nothing but the calibration set tells what to expect."""
    sentence = "These are the results on the calibration set; expect somewhat less on new data."
    return Remark(said=[("unestimated", sentence)])


def few_alerts(fit: Confusion[int], constraint: Constraint) -> list[BoundaryPart]:
    """Return the part of a rule that flags too few rows to know a precision; none of others."""
    if fit.selected >= FEWEST_FLAGGED:
        return []
    rows = "row is" if fit.selected == 1 else "rows are"
    caution = (
        f"only {fit.selected} calibration {rows} flagged, too few to know the precision on new data: use "
        f"more labelled rows{f', or {constraint.easier}' if constraint.is_bound else ''}."
    )
    return [Remark(said=[("few-alerts", Notice("few-alerts", caution))], voided=[Fact.ENOUGH_ALERTS])]


def just_met(
    constraint: Constraint, with_margin: Sequence[FittedBoundary], options: Sequence[str]
) -> BoundaryPart:
    """Return the part of a target that is met by less than a standard error.

    ``with_margin`` has the rule with such a margin, if there is one. ``options`` are those that let the
    target be missed less often, and that this command takes.
    """
    often = "that happens to some such rules" if constraint.margin else "as likely as not"
    below = f"the true precision may be below {constraint.bound} ({often})"
    caution = Notice("often-missed", f"{below}: {_remedy(options, 'to make that about 1 in 6')}")
    notes = "; ".join(_EFFECTS[option](with_margin) for option in options)
    with_options = [("with-margin", f"{notes[0].upper()}{notes[1:]}.")] if notes else []
    return Remark(said=[("just-met", caution), *with_options])


def likely_missed(constraint: Constraint, options: Sequence[str]) -> BoundaryPart:
    """Return the part of a target that new rows are expected to miss (see ``just_met``)."""
    often = f"on new data precision will more likely be below {constraint.bound} than above it"
    caution = Notice("often-missed", f"{often}: {_remedy(options, 'to make that less likely')}")
    return Remark(said=[("likely-missed", caution)])


def _effect_of_margin(found: Sequence[FittedBoundary]) -> str:
    for boundary in found:
        recall = percent(boundary.fit.recall)
        return f"with --margin 1, about 5 of 6 rules meet the target, and recall here is {recall}"
    return "--margin 1 finds no boundary"


def _effect_of_certificate(_: Sequence[FittedBoundary]) -> str:
    return "--certify 0.1 guarantees the target at a risk of 10 %"


_EFFECTS: Final = {MARGIN: _effect_of_margin, CERTIFY: _effect_of_certificate}


def _remedy(options: Sequence[str], effect_of_margin: str) -> str:
    """Say what to add so that the precision is missed less often: only what this command takes."""
    effects = {MARGIN: effect_of_margin, CERTIFY: "for a guarantee (10 % risk)"}
    added = [f"{option} {effects[option]}" for option in options]
    return f"add {', or '.join(added)}." if added else "ask for a higher precision to make that less likely."
