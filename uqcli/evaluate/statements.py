"""What a report of ``uqcli evaluate`` on boundaries consists of: facts, slots, and places of statements."""

from __future__ import annotations

from collections.abc import Mapping
from enum import StrEnum, auto
from typing import Final

from uqcli.base.records import dataclass
from uqcli.boundary.search.constraint_kinds import PROMISED
from uqcli.estimates.estimate import Estimate, interval
from uqcli.reports.document import Metrics
from uqcli.reports.parts import Layout, Part, Remarks, place


class Fact(StrEnum):
    """What may be taken for granted of rules on a test set, unless a part voids it."""

    COUNTS_ALIKE = auto()
    """Rows count alike, so that the counts of the file show the rates."""

    INDEPENDENT = auto()
    """Rows do not depend on each other."""

    NEW_ROWS = auto()
    """The rows are not those of a rule's own calibration set."""

    ONE_RULE = auto()
    """There is a single rule."""

    FEW_RULES = auto()
    """There are at most two."""

    UNBOUND = auto()
    """It has a gain and a cost in place of a bound."""

    ALL_KEPT = auto()
    """No target is missed."""

    BY_RATES = auto()
    """Two rules are compared by their rates, not by a value."""

    BY_RECALL = auto()
    """Two rules are compared by the flagged positives, not by those that are flagged or reviewed."""

    COMPARABLE = auto()
    """The difference of two rules has an interval."""

    TWO_ZONES = auto()
    """Rows are flagged or not, and none is sent to review."""


class Slot(StrEnum):
    """Where statements stand. The first of an exclusive slot alone is shown."""

    TITLE = auto()
    """Exclusive."""

    LEAD = auto()
    LABELS = auto()
    """What is assumed of rows without a label."""

    ADVICE = auto()
    CAUTION = auto()
    CLAIM = auto()
    VERDICTS = auto()
    """Verdicts on many rules, which JSON has as claims."""

    NOTE = auto()
    FIRST_NUMBER = auto()
    """Numbers at the head of a page, of which a review leaves the first alone."""

    REVIEW_NUMBER = auto()
    SUBJECT = auto()
    VERDICT = auto()
    """Exclusive."""

    APPLY = auto()
    """What to do if there is no advice."""

    ROW = auto()
    """Rows of the table of rates, whose cells the rules and their difference have."""

    LONG_ROW = auto()
    """The same, in the long form of the table only."""

    ROW_OF_RULES = auto()
    """The same, without a cell for a difference."""


@dataclass(frozen=True, kw_only=True)
class Phrases:
    """Holes of the core sentences.

    ``share`` follows the share of the flagged rows in the file, and ``within`` the rows. ``found`` has the
    share of positives found; where it is not empty, ``also`` replaces it, about a share of ``positives``.
    ``finding`` precedes the verdict on a review. ``flagged`` and ``here`` describe the number of flagged
    rows, and ``counts_alike`` says whether counts show the rates.
    """

    share: str = ""
    within: str = ""
    found: str = " and finds {recall} of the {count} {what}"
    positives: str = ""
    also: str = ""
    finding: str = ""
    flagged: str = "flagged"
    here: str = ""
    counts_alike: bool = True


class MeasuredPart(Part[Phrases]):
    """One feature of a rule on a test set, of the test set, or of the difference of two rules."""

    def cells(self, *, brief: bool) -> Mapping[str, str]:  # noqa: ARG002
        """Return cells of the table of rates by row; differences have no intervals if brief."""
        return {}


class Remark(Remarks[Phrases], MeasuredPart):
    """A feature that says the same beside whatever others."""


@dataclass(frozen=True, kw_only=True)
class MoreRate(MeasuredPart):
    """A further rate, with its key and its row of the table."""

    key: str
    row: str
    estimate: Estimate

    def metrics(self, phrases: Phrases) -> Metrics:  # noqa: ARG002
        """See Part."""
        return {self.key: self.estimate}

    def cells(self, *, brief: bool) -> Mapping[str, str]:  # noqa: ARG002
        """See MeasuredPart."""
        return {self.row: interval(self.estimate)}


_METRICS: Final = (
    *("target_precision", "precision", "recall", "fpr", "selected", "true_positives", "rows", "positives"),
    *("unlabelled", "promise_broken", "net_benefit", "selected_share", "specificity", "prevalence"),
    *("omission", "clusters", "clusters_flagged", "clusters_positive", "caught", "review_share", "miss"),
    *("reviewed", "value", "value_caught", "capacity"),
)
"""Metrics of a rule in their order; other rates that can be promised follow."""

LAYOUT: Final = Layout(
    facts=frozenset(Fact),
    places={
        "worth": place(Slot.TITLE, Fact.ONE_RULE, Fact.UNBOUND),
        "title": place(Slot.TITLE),
        "decisions": place(Slot.LEAD),
        "capacity": place(Slot.LEAD, unless=Fact.ONE_RULE),
        "fewer-rows": place(Slot.LEAD),
        "predictions": place(Slot.LEAD),
        "review": place(Slot.LEAD),
        "assistance": place(Slot.LABELS),
        "assumption": place(Slot.LABELS, unless=Fact.COUNTS_ALIKE),
        "which-rule": place(Slot.ADVICE, unless=Fact.ALL_KEPT),
        "worth-more": place(Slot.ADVICE, Fact.ALL_KEPT),
        "catches-more": place(Slot.ADVICE, Fact.ALL_KEPT, Fact.BY_RATES, Fact.COMPARABLE),
        "finds-more": place(Slot.ADVICE, Fact.ALL_KEPT, Fact.BY_RATES, Fact.COMPARABLE, Fact.BY_RECALL),
        "dependent-rows": place(Slot.CAUTION),
        "same-rows": place(Slot.CAUTION),
        "unknown-rate": place(Slot.CAUTION),
        "tested-elsewhere": place(Slot.CAUTION),
        "unknown-on-target": place(Slot.CAUTION),
        "intervals": place(Slot.CAUTION),
        "heavy-tails": place(Slot.CAUTION),
        "best-of-several": place(Slot.CAUTION),
        "claim": place(Slot.CLAIM),
        "review-claim": place(Slot.CLAIM),
        "each-verdict": place(Slot.VERDICTS),
        "own-data": place(Slot.NOTE, Fact.NEW_ROWS),
        "worth-number": place(Slot.FIRST_NUMBER, Fact.ONE_RULE),
        "number": place(Slot.FIRST_NUMBER),
        "review-number": place(Slot.REVIEW_NUMBER, Fact.ONE_RULE),
        "subject": place(Slot.SUBJECT),
        "target-missed": place(Slot.VERDICT),
        "verdict": place(Slot.VERDICT),
        "comparison": place(Slot.VERDICT, Fact.COMPARABLE),
        "apply": place(Slot.APPLY, Fact.NEW_ROWS),
        **dict.fromkeys(("precision", "recall", "FPR", "flagged", "true positives"), place(Slot.ROW)),
        "precision, target data": place(Slot.ROW_OF_RULES),
        "positive rate": place(Slot.LONG_ROW),
        "false omission": place(Slot.ROW, Fact.TWO_ZONES),
        "false omission beside a review": place(Slot.LONG_ROW, unless=Fact.TWO_ZONES),
        **dict.fromkeys(("caught", "missed", "reviewed", "value", "gain caught"), place(Slot.ROW)),
        "flagged per group": place(Slot.ROW_OF_RULES),
        "net benefit": place(Slot.LONG_ROW),
    },
    metrics=tuple(dict.fromkeys((*_METRICS, *PROMISED))),
    keys=(),
)
"""Layout of the report, and the order of the metrics of each rule."""
