"""What a report of ``uqcli boundary`` consists of: its facts, its slots, and the place of each statement."""

from __future__ import annotations

from collections.abc import Mapping
from enum import StrEnum, auto
from typing import Final

from uqcli.base.records import dataclass
from uqcli.boundary.rule_words import Holes
from uqcli.boundary.search.thresholds import Thresholds
from uqcli.reports.parts import Layout, Part, Place, Remarks, place


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

    SEARCHED = auto()
    """The rule is the best one for a goal."""

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
class ExpectationHoles(Holes):
    """Holes of what to expect.

    ``where`` is where precision and recall are expected, ``between`` what their ranges allow for, and
    ``expected_also`` has sentences after them. ``within`` follows the number of calibration rows.
    ``limit_also`` says what a limit for a file does not.
    """

    where: str = "new data"
    between: str = ""
    expected_also: tuple[str, ...] = ()
    within: str = ""
    limit_also: str = ""


@dataclass(frozen=True, kw_only=True)
class Phrases(ExpectationHoles):
    """Holes of the core sentences.

    ``since`` says why a bound is out of reach. ``one_threshold`` says why the rule is a single threshold,
    ``advice`` which rule to use after a comparison; where it is empty, ``instead`` is the advice if the
    uncertainty does not help. ``curves`` are the named thresholds of the figure, with a sentence about them.
    """

    raised: bool = False
    this_rule: str = "this rule"
    certified: str = ""
    no_boundary: str = "no boundary"
    since: str = ""
    one_threshold: str = ""
    advice: str = ""
    instead: str = ""
    next_option: str = ""
    curves: tuple[tuple[str, Thresholds], ...] = ()
    about_curves: str = ""


class BoundaryPart(Part[Phrases]):
    """One feature of a boundary, or of the search that found none."""


MARGIN: Final = "--margin 1"
CERTIFY: Final = "--certify 0.1"
"""Options that let a precision be missed less often."""


class Remark(Remarks[Phrases], BoundaryPart):
    """A feature that says the same beside whatever others."""


UNTESTED: Final = "--compare tests whether the uncertainty finds more than a single threshold."
"""What every part says that shows a single threshold beside other rules."""


_FOUND, _UNCERTIFIED, _ENOUGH = Fact.FOUND, Fact.UNCERTIFIED, Fact.ENOUGH_ALERTS
PLACES: Final[Mapping[str, Place]] = {
    "no-positive": place(Slot.SHORTFALL, unless=_FOUND),
    "uncertifiable": place(Slot.SHORTFALL, unless=_FOUND),
    "out-of-reach": place(Slot.SHORTFALL, unless=_FOUND),
    "guarantee": place(Slot.TITLE, _FOUND),
    "answer": place(Slot.ANSWER, _FOUND),
    "beside-answer": place(Slot.ANSWER, _FOUND, Fact.LIKE_NEW_ROWS),
    "cost-of-guarantee": place(Slot.ANSWER, _FOUND),
    "test-of-guarantee": place(Slot.LEAD, _FOUND),
    "unestimated": place(Slot.LEAD, _FOUND, _UNCERTIFIED, Fact.ONE_ALGORITHM, _ENOUGH),
    "expectation": place(Slot.LEAD, _FOUND, Fact.PRIORS_KNOWN, _ENOUGH),
    "comparison": place(Slot.LEAD, _FOUND),
    "predictions": place(Slot.LEAD, _FOUND),
    "no-uncertainty": place(Slot.LEAD, _FOUND, unless=Fact.ONE_THRESHOLD),
    "flag-when": place(Slot.LEAD, _FOUND, Fact.ONE_THRESHOLD),
    "raised-score": place(Slot.LEAD, _FOUND, Fact.ONE_THRESHOLD),
    "without-label": place(Slot.LEAD, _FOUND),
    "value": place(Slot.LEAD, _FOUND, Fact.ONE_ALGORITHM),
    "one-class": place(Slot.CAUTION, _FOUND, Fact.LIKE_NEW_ROWS),
    "reversed-score": place(Slot.CAUTION, _UNCERTIFIED),
    "few-alerts": place(Slot.CAUTION, _FOUND, _UNCERTIFIED),
    "unknown-rate": place(Slot.CAUTION),
    "dependent-rows": place(Slot.CAUTION),
    "groups-without-rule": place(Slot.CAUTION),
    "bound": place(Slot.CAUTION, _FOUND),
    "ties": place(Slot.CAUTION, _FOUND),
    "other-direction": place(Slot.CAUTION),
    "single-threshold": place(Slot.CAUTION),
    "empty-bins": place(Slot.CAUTION),
    "few-clusters": place(Slot.CAUTION, _FOUND),
    "just-met": place(Slot.CAUTION, _FOUND, _UNCERTIFIED, _ENOUGH),
    "likely-missed": place(Slot.CAUTION, _FOUND, _UNCERTIFIED, _ENOUGH, Fact.SOURCE_PRIORS),
    "calibration-set": place(Slot.NOTE),
    "goal": place(Slot.NOTE, Fact.SEARCHED),
    "obstacle": place(Slot.NOTE),
    "raised-scores": place(Slot.NOTE, unless=Fact.ONE_THRESHOLD),
    "limit": place(Slot.NOTE, _FOUND),
    "first-rows": place(Slot.NOTE, _FOUND),
    "fewer-rows": place(Slot.NOTE, _FOUND),
    "hits": place(Slot.NOTE, _FOUND),
    "threshold-beside": place(Slot.NOTE, _FOUND),
    "bound-by-group": place(Slot.NOTE, _FOUND),
    "conditions-of-guarantee": place(Slot.NOTE, _FOUND),
    "untested": place(Slot.NOTE, _FOUND, Fact.UNTESTED),
    "untested-beside": place(Slot.NOTE, _FOUND, Fact.UNTESTED, Fact.ONE_ALGORITHM),
    "no-threshold-beside": place(Slot.NOTE, _FOUND),
    "class-weights": place(Slot.NOTE, _FOUND, Fact.PRIORS_KNOWN),
    "joint-target": place(Slot.NOTE, _FOUND, _UNCERTIFIED, Fact.ONE_RULE),
    "no-range": place(Slot.NOTE, _FOUND),
    "cross-validated": place(Slot.NOTE, _FOUND),
    "with-margin": place(Slot.NOTE, _FOUND, Fact.INDEPENDENT),
    "random-gains": place(Slot.RANDOM, _FOUND, _UNCERTIFIED),
    "random-column": place(Slot.RANDOM, _FOUND, _UNCERTIFIED),
    "random-bins": place(Slot.RANDOM, _FOUND, _UNCERTIFIED),
    **dict.fromkeys(
        ("result", "result-unsaved", "result-beside", "result-equal-alerts", "result-uncertified"),
        place(Slot.RESULTS, _FOUND, Fact.ONE_ALGORITHM, Fact.LIKE_NEW_ROWS),
    ),
    "algorithms": place(Slot.TABLE, Fact.LIKE_NEW_ROWS),
    "gains": place(Slot.TABLE),
    "bins-tried": place(Slot.TABLE),
    "groups": place(Slot.TABLE, _FOUND),
    "thresholds-of-groups": place(Slot.TABLE, _FOUND),
    "zones": place(Slot.TABLE, _FOUND),
    "thresholds": place(Slot.TABLE, _FOUND, Fact.ONE_RULE, Fact.TWO_ZONES),
    "thresholds-of-zones": place(Slot.TABLE, _FOUND, Fact.ONE_RULE),
    "positive-rates": place(Slot.FIGURE),
    "frontier": place(Slot.FIGURE, _UNCERTIFIED, Fact.INDEPENDENT),
    "missed-at-most": place(Slot.CLAIM, _FOUND, unless=_UNCERTIFIED),
    "net-value": place(Slot.NUMBER, _FOUND),
    "next": place(Slot.NEXT, _FOUND, Fact.ORDERED),
    "seconds": place(Slot.LIVE),
    "grid": place(Slot.GRID),
    "points": place(Slot.POINTS, _UNCERTIFIED, Fact.INDEPENDENT),
    "compared": place(Slot.COMPARISON),
    "score-alone": place(Slot.BY_BOUND),
    "verdict-of-bound": place(Slot.BY_BOUND),
    "untested-bound": place(Slot.BY_BOUND, _UNCERTIFIED, Fact.UNTESTED),
    "joint-target-bound": place(Slot.BY_BOUND, _FOUND, _UNCERTIFIED, Fact.ONE_RULE),
    "several-certificates": place(Slot.ABOUT_BOUNDS, unless=_UNCERTIFIED),
    "rules-of-groups": place(Slot.GROUPS),
    "alike": place(Slot.ALIKE),
}
"""Place of each statement, in the order of the report."""

LAYOUT: Final = Layout(
    facts=frozenset(Fact),
    places=PLACES,
    metrics=(
        *("target_precision", "recall", "precision", "selected", "true_positives", "rows", "positives"),
        *("reviewed", "caught", "review_share", "miss", "value", "value_caught", "expected"),
        *("score_only_recall", "score_only_equal_alerts", "best_precision", "recall_at_best_precision"),
        *("gain", "by_group", "groups_without_rule", "capacity"),
    ),
    keys=(
        *("feasible", "algorithm", "uncertainty_edges", "thresholds", "notes", "review_thresholds", "groups"),
        *("certificate", "verdict", "compared", "bins_tried", "algorithms", "capacity"),
    ),
    known_if={
        "recall": Fact.LIKE_NEW_ROWS,
        "precision": Fact.PRECISION_KNOWN,
        "recall_at_best_precision": Fact.LIKE_NEW_ROWS,
    },
)
"""Layout of the report."""
