"""What the rows of a test set do to all rates: they have weights, depend on each other, or lack labels."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import replace
from typing import Final

from uqcli.base.notices import Notice
from uqcli.base.operating_system import quote
from uqcli.base.records import dataclass
from uqcli.base.wording import count, listed, percent, rows_of
from uqcli.boundary.rule import BoundaryArtifact
from uqcli.boundary.search.constraint import Constraint
from uqcli.boundary.search.constraint_kinds import PROMISED
from uqcli.estimates.confusion import Confusion
from uqcli.estimates.estimate import UNKNOWN, Estimate, unreliable
from uqcli.estimates.survey import MIN_CLUSTERS, few_clusters
from uqcli.evaluate.statements import Fact, MeasuredPart, Phrases, Remark
from uqcli.reports.document import Metrics
from uqcli.reports.parts import Statement

ASSUMPTION: Final = (
    "Labelled rows with the same decision and a similar score stand for those without a label, as if labels "
    "were given at random there. A choice that depends on the label cannot be seen."
)
"""Assumption under which rates of rows without a label are stated."""

LABELS_OF_SAMPLE: Final = "Rows without a label are left out, as if labels were missing at random."
"""The same for rows with sampling weights."""

Rates = Mapping[str, Estimate]
"""Precision and recall, by name."""


@dataclass(frozen=True, kw_only=True)
class Weights(MeasuredPart):
    """Sampling weights: counts are those of the file, and shares those of all rows."""

    selected: int
    share: float

    def voids(self) -> Iterable[Fact]:
        return [Fact.COUNTS_ALIKE]

    def reworded(self, phrases: Phrases) -> Phrases:
        return replace(
            phrases,
            share=f", by weight {percent(self.share)} of all rows",
            found=", and finds {recall} of all {what}",
            positives="positives among all rows",
            flagged="flagged, by weight",
            here=" here",
            counts_alike=False,
        )

    def cells(self, *, brief: bool) -> Mapping[str, str]:
        return {"flagged": f"{count(self.selected)} (by weight {percent(self.share)})"}


@dataclass(frozen=True, kw_only=True)
class Clusters(MeasuredPart):
    """Rows that depend on each other within clusters or days, whose numbers decide how good intervals are."""

    file: str
    numbers: Mapping[str, int]
    units: str
    rates: Rates

    def voids(self) -> Iterable[Fact]:
        return [Fact.INDEPENDENT]

    def reworded(self, phrases: Phrases) -> Phrases:
        return replace(phrases, within=f" in {count(self.numbers['clusters'])} {self.units}")

    def metrics(self, phrases: Phrases) -> Metrics:
        return self.numbers

    def statements(self, phrases: Phrases) -> Iterator[Statement]:
        """Caution that intervals rest on few clusters."""
        having = {
            "precision": ("clusters_flagged", "flagged rows"),
            "recall": ("clusters_positive", "positive rows"),
        }
        for rate, estimate in self.rates.items():
            key, whose = having[rate]
            number, subject = self.numbers[key], f"{self.file}: {rate}"
            few = few_clusters(subject, number, whose, self.units)
            cautions = unreliable(subject, estimate) if number >= MIN_CLUSTERS else []
            for caution in (*cautions, *few):
                yield "intervals", caution


def unreliable_rates(file: str, rates: Rates) -> Remark:
    """Return the part of intervals of independent rows that rest on few rows of large weight."""
    cautions = [unreliable(f"{file}: {rate}", estimate) for rate, estimate in rates.items()]
    return Remark(said=[("intervals", caution) for found in cautions for caution in found])


def unknown_rates(file: str, rates: Rates) -> Remark:
    """Return the part of rates that too few labels show."""
    said = [
        ("unknown-rate", Notice("unknown-rate", f"{file}: the {rate} is unknown, since {estimate.reason}."))
        for rate, estimate in sorted(rates.items(), reverse=True)
        if estimate == UNKNOWN
    ]
    return Remark(said=said)


def own_rows(file: str, rule: BoundaryArtifact, confusion: Confusion[int]) -> list[Remark]:
    """Return the part of a test set with the counts of the calibration set; none of another."""
    names = ["rows", "positives"]
    if rule.by_thresholds:
        names += ["selected", "true_positives"]
    if any(getattr(confusion, name) != getattr(rule.fit, name) for name in names):
        return []
    same = (
        f"{quote(file)} has the same counts here as on its calibration set, so these may be the same "
        "rows: test it on rows that it was not fitted on."
    )
    return [Remark(said=[("same-rows", Notice("same-rows", same))], voided=[Fact.NEW_ROWS])]


def unlabelled_rows(*, sampled: bool) -> Remark:
    """Return the part of rows without a label, for which others stand."""
    return Remark(said=[("assumption", LABELS_OF_SAMPLE if sampled else ASSUMPTION)])


def assistance(unlabelled: int, gains: Mapping[str, float | None]) -> Remark:
    """Return the part of the probabilities of rows without a label: which rates use them, what they save.

    ``gains`` are the ratios of the labels that would be needed without them, by rate; None where these show
    no interval.
    """
    rows = rows_of(unlabelled)
    if not gains:
        return Remark(
            said=[
                (
                    "assistance",
                    f"The probabilities of {rows} without a label are not used: there are too few "
                    "labels, or the intervals would not be shorter.",
                )
            ]
        )
    names = {rate: rule.name for rate, rule in PROMISED.items()} | {"prevalence": "positive rate"}
    saved = {names[rate]: ratio or 0.0 for rate, ratio in gains.items()}
    rate = max(saved, key=lambda name: saved[name])
    saving = ""
    if saved[rate] > 1.05:
        saving = (
            f"; without them, an interval of the {rate} as short as this would need "
            f"about {saved[rate]:.1f} times as many labels"
        )
    used = f"The estimates of {listed([*saved])} use the probabilities of {rows} without a label{saving}."
    return Remark(said=[("assistance", used)])


def refuted_target(reason: str) -> Remark:
    """Return the part of class weights that say nothing about the target data."""
    unknown = f"the precision on the target data is unknown: {reason}."
    return Remark(said=[("unknown-on-target", Notice("unknown-rate", unknown))])


def tested_elsewhere(constraint: Constraint, tested: Sequence[str]) -> list[Remark]:
    """Return the part of bounds that are not tested in groups and segments; none if there is one bound."""
    first, *others = constraint.bounds
    if not tested or not others:
        return []
    untested = listed(bound.text() for bound in others)
    are = "is" if len(others) == 1 else "are"
    only = f"only {first.text()} is tested in {listed(tested)}"
    caution = f"{only}; {untested} {are} tested on all rows together."
    return [Remark(said=[("tested-elsewhere", Notice("tested-elsewhere", caution))])]
