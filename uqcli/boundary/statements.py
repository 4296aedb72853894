"""What a report of ``uqcli boundary`` consists of: its facts, its slots, and the place of each statement."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import field
from enum import StrEnum, auto
from typing import Final

from uqcli.base.records import dataclass
from uqcli.boundary.certificate_rule import Region
from uqcli.boundary.rule import FLAGGED_ROWS, RowWords, verdict_on_calibration_set
from uqcli.boundary.search.thresholds import Thresholds
from uqcli.estimates.estimate import Estimate
from uqcli.reports.document import Verdict
from uqcli.reports.parts import Layout, Part, Place, Remarks


class Fact(StrEnum):
    """What may be taken for granted of a result, unless a part voids it."""

    FOUND = auto()
    """A rule was found."""

    UNCERTIFIED = auto()
    """Nothing was certified, so that the calibration set tells what to expect."""

    UNTESTED = auto()
    """Neither a comparison nor a choice of bins has tested what the uncertainty gains."""

    ONE_ALGORITHM = auto()
    """One algorithm was run."""

    ONE_RULE = auto()
    """All rows have one rule."""

    ONE_THRESHOLD = auto()
    """This rule is one threshold."""

    TWO_ZONES = auto()
    """Rows are flagged or not, and none is sent to review."""

    LIKE_NEW_ROWS = auto()
    """The calibration rows are like new rows, so that their share of positives found is known."""

    PRECISION_KNOWN = auto()
    """The calibration rows show the precision of the flagged rows."""

    INDEPENDENT = auto()
    """Rows do not depend on each other."""

    SOURCE_PRIORS = auto()
    """The rule is for the class priors of the calibration set."""

    PRIORS_KNOWN = auto()
    """The class priors of the data that the rule is for are known."""

    ENOUGH_ALERTS = auto()
    """Enough calibration rows are flagged to know a precision."""

    ORDERED = auto()
    """High scores are more often positive than low ones."""


class Slot(StrEnum):
    """Where statements stand. The first of an exclusive slot alone is shown."""

    SHORTFALL = auto()
    """Exclusive: why there is no rule, without a full stop."""

    TITLE = auto()
    """Exclusive: the answer, where it is not what the rule does with the calibration rows."""

    ANSWER = auto()
    """What the rule does with the calibration rows; sentences of one paragraph."""

    LEAD = auto()
    CAUTION = auto()
    NOTE = auto()

    RANDOM = auto()
    """What the random seed affects; nouns."""

    RESULTS = auto()
    """Lines of the table of results."""

    TABLE = auto()
    FIGURE = auto()
    CLAIM = auto()

    NUMBER = auto()
    """Numbers before the usual ones at the head of a page."""

    NEXT = auto()
    LIVE = auto()

    GRID = auto()
    """The grid on which a rule was found."""

    POINTS = auto()
    """A grid with operating points from which a reader of a page can choose."""

    COMPARISON = auto()
    """Comparisons of uncertainty columns, the best first, for reports beside this one."""

    BY_BOUND = auto()
    """What the report of several bounds says of each of them."""

    ABOUT_BOUNDS = auto()
    """What the report of several bounds cautions of all of them."""

    GROUPS = auto()
    """Rules by group, for the report of several bounds."""

    ALIKE = auto()
    """Rows that are alike, for reports beside this one."""


@dataclass(frozen=True, kw_only=True)
class Phrases:
    """Holes of the core sentences.

    ``flagged`` are the flagged rows, and the rows of which they are a share; ``region`` the scores from which
    the calibration rows were drawn, None if they are like new rows. ``expected`` are precision and recall on
    new rows for the head of a page, ``where`` is where they are expected, ``between`` what their ranges allow
    for, and ``expected_also`` has sentences after them. ``within`` follows the number of calibration rows.
    ``since`` says why a bound is out of reach. ``one_threshold`` says why the rule is a single threshold,
    ``advice`` which rule to use after a comparison; where it is empty, ``instead`` is the advice if the
    uncertainty does not help. ``limit_also`` says what a limit for a file does not. ``curves`` are the named
    thresholds of the figure, with a sentence about them.
    """

    rows: RowWords = FLAGGED_ROWS
    flagged: tuple[int, int] = (0, 0)
    region: Region | None = None
    raised: bool = False
    this_rule: str = "this rule"
    expected: tuple[Estimate | None, Estimate | None] = (None, None)
    where: str = "new data"
    between: str = ""
    expected_also: tuple[str, ...] = ()
    within: str = ""
    certified: str = ""
    no_boundary: str = "no boundary"
    since: str = ""
    one_threshold: str = ""
    advice: str = ""
    instead: str = ""
    limit_also: str = ""
    next_option: str = ""
    curves: tuple[tuple[str, Thresholds], ...] = ()
    about_curves: str = ""
    verdict: Verdict = field(default_factory=verdict_on_calibration_set)


class BoundaryPart(Part[Phrases]):
    """One feature of a boundary, or of the search that found none."""


MARGIN: Final = "--margin 1"
CERTIFY: Final = "--certify 0.1"
"""Options that let a precision be missed less often."""


class Remark(Remarks[Phrases], BoundaryPart):
    """A feature that says the same beside whatever others."""


UNTESTED: Final = "--compare tests whether the uncertainty finds more than a single threshold."
"""What every part says that shows a single threshold beside other rules."""


def _place(slot: Slot, *needs: Fact, unless: Fact | None = None) -> Place:
    return Place(slot, frozenset(needs), frozenset() if unless is None else frozenset({unless}))


_FOUND, _UNCERTIFIED, _ENOUGH = Fact.FOUND, Fact.UNCERTIFIED, Fact.ENOUGH_ALERTS
PLACES: Final[Mapping[str, Place]] = {
    "no-positive": _place(Slot.SHORTFALL, unless=_FOUND),
    "uncertifiable": _place(Slot.SHORTFALL, unless=_FOUND),
    "out-of-reach": _place(Slot.SHORTFALL, unless=_FOUND),
    "guarantee": _place(Slot.TITLE, _FOUND),
    "answer": _place(Slot.ANSWER, _FOUND),
    "beside-answer": _place(Slot.ANSWER, _FOUND, Fact.LIKE_NEW_ROWS),
    "cost-of-guarantee": _place(Slot.ANSWER, _FOUND),
    "test-of-guarantee": _place(Slot.LEAD, _FOUND),
    "unestimated": _place(Slot.LEAD, _FOUND, _UNCERTIFIED, Fact.ONE_ALGORITHM, _ENOUGH),
    "expectation": _place(Slot.LEAD, _FOUND, Fact.PRIORS_KNOWN, _ENOUGH),
    "comparison": _place(Slot.LEAD, _FOUND),
    "predictions": _place(Slot.LEAD, _FOUND),
    "no-uncertainty": _place(Slot.LEAD, _FOUND, unless=Fact.ONE_THRESHOLD),
    "flag-when": _place(Slot.LEAD, _FOUND, Fact.ONE_THRESHOLD),
    "raised-score": _place(Slot.LEAD, _FOUND, Fact.ONE_THRESHOLD),
    "without-label": _place(Slot.LEAD, _FOUND),
    "value": _place(Slot.LEAD, _FOUND, Fact.ONE_ALGORITHM),
    "one-class": _place(Slot.CAUTION, _FOUND, Fact.LIKE_NEW_ROWS),
    "reversed-score": _place(Slot.CAUTION, _UNCERTIFIED),
    "few-alerts": _place(Slot.CAUTION, _FOUND, _UNCERTIFIED),
    "unknown-rate": _place(Slot.CAUTION),
    "dependent-rows": _place(Slot.CAUTION),
    "groups-without-rule": _place(Slot.CAUTION),
    "bound": _place(Slot.CAUTION, _FOUND),
    "other-direction": _place(Slot.CAUTION),
    "single-threshold": _place(Slot.CAUTION),
    "empty-bins": _place(Slot.CAUTION),
    "few-clusters": _place(Slot.CAUTION, _FOUND),
    "just-met": _place(Slot.CAUTION, _FOUND, _UNCERTIFIED, _ENOUGH),
    "likely-missed": _place(Slot.CAUTION, _FOUND, _UNCERTIFIED, _ENOUGH, Fact.SOURCE_PRIORS),
    "calibration-set": _place(Slot.NOTE),
    "goal": _place(Slot.NOTE),
    "obstacle": _place(Slot.NOTE),
    "raised-scores": _place(Slot.NOTE, unless=Fact.ONE_THRESHOLD),
    "limit": _place(Slot.NOTE, _FOUND),
    "hits": _place(Slot.NOTE, _FOUND),
    "threshold-beside": _place(Slot.NOTE, _FOUND),
    "bound-by-group": _place(Slot.NOTE, _FOUND),
    "conditions-of-guarantee": _place(Slot.NOTE, _FOUND),
    "untested": _place(Slot.NOTE, _FOUND, Fact.UNTESTED),
    "untested-beside": _place(Slot.NOTE, _FOUND, Fact.UNTESTED, Fact.ONE_ALGORITHM),
    "no-threshold-beside": _place(Slot.NOTE, _FOUND),
    "class-weights": _place(Slot.NOTE, _FOUND, Fact.PRIORS_KNOWN),
    "joint-target": _place(Slot.NOTE, _FOUND, _UNCERTIFIED, Fact.ONE_RULE),
    "no-range": _place(Slot.NOTE, _FOUND),
    "cross-validated": _place(Slot.NOTE, _FOUND),
    "with-margin": _place(Slot.NOTE, _FOUND, Fact.INDEPENDENT),
    "random-gains": _place(Slot.RANDOM, _FOUND, _UNCERTIFIED),
    "random-column": _place(Slot.RANDOM, _FOUND, _UNCERTIFIED),
    "random-bins": _place(Slot.RANDOM, _FOUND, _UNCERTIFIED),
    **dict.fromkeys(
        ("result", "result-unsaved", "result-beside", "result-equal-alerts", "result-uncertified"),
        _place(Slot.RESULTS, _FOUND, Fact.ONE_ALGORITHM, Fact.LIKE_NEW_ROWS),
    ),
    "algorithms": _place(Slot.TABLE, Fact.LIKE_NEW_ROWS),
    "gains": _place(Slot.TABLE),
    "bins-tried": _place(Slot.TABLE),
    "groups": _place(Slot.TABLE, _FOUND),
    "thresholds-of-groups": _place(Slot.TABLE, _FOUND),
    "zones": _place(Slot.TABLE, _FOUND),
    "thresholds": _place(Slot.TABLE, _FOUND, Fact.ONE_RULE, Fact.TWO_ZONES),
    "thresholds-of-zones": _place(Slot.TABLE, _FOUND, Fact.ONE_RULE),
    "positive-rates": _place(Slot.FIGURE),
    "frontier": _place(Slot.FIGURE, _UNCERTIFIED, Fact.INDEPENDENT),
    "missed-at-most": _place(Slot.CLAIM, _FOUND, unless=_UNCERTIFIED),
    "net-value": _place(Slot.NUMBER, _FOUND),
    "next": _place(Slot.NEXT, _FOUND, Fact.ORDERED),
    "seconds": _place(Slot.LIVE),
    "grid": _place(Slot.GRID),
    "points": _place(Slot.POINTS, _UNCERTIFIED, Fact.INDEPENDENT),
    "compared": _place(Slot.COMPARISON),
    "score-alone": _place(Slot.BY_BOUND),
    "verdict-of-bound": _place(Slot.BY_BOUND),
    "untested-bound": _place(Slot.BY_BOUND, _UNCERTIFIED, Fact.UNTESTED),
    "joint-target-bound": _place(Slot.BY_BOUND, _FOUND, _UNCERTIFIED, Fact.ONE_RULE),
    "several-certificates": _place(Slot.ABOUT_BOUNDS, unless=_UNCERTIFIED),
    "rules-of-groups": _place(Slot.GROUPS),
    "alike": _place(Slot.ALIKE),
}
"""Place of each statement, in the order of the report."""

LAYOUT: Final = Layout(
    facts=frozenset(Fact),
    places=PLACES,
    metrics=(
        *("target_precision", "recall", "precision", "selected", "true_positives", "rows", "positives"),
        *("reviewed", "caught", "review_share", "miss", "value", "value_caught", "expected"),
        *("score_only_recall", "score_only_equal_alerts", "best_precision", "recall_at_best_precision"),
        *("gain", "by_group", "groups_without_rule"),
    ),
    keys=(
        *("feasible", "algorithm", "uncertainty_edges", "thresholds", "notes", "review_thresholds", "groups"),
        *("certificate", "verdict", "compared", "bins_tried", "algorithms"),
    ),
    known_if={
        "recall": Fact.LIKE_NEW_ROWS,
        "precision": Fact.PRECISION_KNOWN,
        "recall_at_best_precision": Fact.LIKE_NEW_ROWS,
    },
)
"""Layout of the report."""
