"""Calibration errors of all rows, groups and classes, and how the report of ``uqcli tce`` words them."""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace
from functools import cached_property
from typing import Final

import numpy as np

from uqcli.base.counts import Ints, ValueCounts
from uqcli.base.notices import Notice
from uqcli.base.records import dataclass
from uqcli.base.wording import in_points, percent, percents, probability
from uqcli.estimates.calibration_error import MANY_REJECTED, Diagram, Rejected, ScoreBins, diagram
from uqcli.reports.document import Metrics, MetricValue
from uqcli.tce.band import Band
from uqcli.tce.chance import NullDistribution
from uqcli.tce.part_tests import PartTest, adjusted_p_values


@dataclass(frozen=True, kw_only=True)
class ClassResult:
    """Calibration of one class against the others; without name, of the positive class.

    Attributes
    ----------
    rejected
        None if rows have sampling weights: tests need rows that count alike.
    band
        Simultaneous band of the calibration curve; None for groups, and with sampling weights.
    """

    name: str | None
    positives: int
    metrics: Metrics
    counts: ValueCounts
    bins: ScoreBins
    equispaced: ScoreBins
    rejected: Rejected | None
    band: Band | None = None

    @property
    def p_adjusted(self) -> float:
        """Adjusted p-value of its calibration; infinite if it is not tested."""
        value = self.metrics["calibration_p_adjusted"]
        return value if isinstance(value, float) else math.inf

    @property
    def is_tested(self) -> bool:
        """Whether its calibration is tested."""
        return self.p_adjusted < math.inf

    @property
    def by_weight(self) -> bool:
        """Whether its rows have sampling weights, so that nothing is tested."""
        return self.rejected is None

    @property
    def tested(self) -> Rejected:
        """The rejected scores of a class that is tested."""
        assert self.rejected is not None
        return self.rejected

    @cached_property
    def diagram(self) -> Diagram:
        """What a figure of the calibration draws."""
        return diagram(self.counts, self.bins, self.equispaced)


@dataclass(frozen=True, kw_only=True)
class GroupResult:
    """Calibration of all rows (no name) or one group, by weight; metrics are means over the classes.

    Attributes
    ----------
    tested
        Whether it has enough rows for the tests.
    if_calibrated
        Null distributions of errors, for calibrated probabilities; empty without draws.
    """

    name: str | None
    tested: bool
    rows: int
    metrics: Metrics
    if_calibrated: Mapping[str, NullDistribution]
    classes: tuple[ClassResult, ...]


_NEARLY_ALL = 0.75
"""Share of all rows above which a range of scores is too wide to be useful."""

_DETECTION_LIMIT = 0.25
"""Relative error of a rate above which the report cautions that the tests miss smaller ones."""


_LEAST_OF_OTHER_SIDE = 0.05
"""Share of the rejected rows of one side from which the report names the other one as well."""

_LEAST = 0.0005
"""Least proved deviation that the report states: a tiny score may be a thousand times too low."""


def with_tests(
    results: Sequence[GroupResult], tests: Mapping[int, PartTest]
) -> tuple[list[GroupResult], bool]:
    """Add the p-values of the tests of all parts to their metrics.

    Parameters
    ----------
    results
        All rows, then each group.
    tests
        By the position of the part: the classes of all rows, of the first group, and so on.

    Returns
    -------
    The results, and whether a p-value is from draws.
    """
    adjusted, position, completed = adjusted_p_values(tests), 0, list[GroupResult]()
    for result in results:
        parts = []
        for part in result.classes:
            own = {"calibration_p": None, "calibration_p_adjusted": adjusted.get(position)}
            if position in tests:
                own["calibration_p"] = tests[position].p_value
            parts.append(replace(part, metrics={**part.metrics, **own}))
            position += 1
        least = {name: _least(part.metrics[name] for part in parts) for name in P_VALUES}
        completed.append(replace(result, classes=tuple(parts), metrics={**result.metrics, **least}))
    first = completed[0]
    least_of_all = {"calibration_p_adjusted": min(adjusted.values(), default=None)}
    completed[0] = replace(first, metrics={**first.metrics, **least_of_all})
    return completed, any(test.is_drawn for test in tests.values())


P_VALUES: Final = ("calibration_p", "calibration_p_adjusted")


def _least(values: Iterable[MetricValue]) -> float | None:
    return min((value for value in values if isinstance(value, float)), default=None)


def findings(part: ClassResult) -> list[str]:
    """State which scores are too high or too low and by how much, the more frequent side first.

    A direction is stated only of scores whose sum of labels differs from that of the scores in it, by a score
    test with one degree of freedom: scores that are rejected one by one may err to the other side together.

    Empty if the test rejects no score of the part.
    """
    sides = sorted(
        [("too high", part.tested.too_high), ("too low", part.tested.too_low)],
        key=lambda side: -int(side[1].sum()),
    )
    most = int(sides[0][1].sum())
    found = [
        _finding(part.bins, of_side, name)
        for name, of_side in sides
        if of_side.sum() >= _LEAST_OF_OTHER_SIDE * most > 0
    ]
    return [sentence for sentence in found if sentence]


def mean_error(part: ClassResult) -> tuple[float, str]:
    """Return the mean error of the scores, and in points."""
    error = part.metrics["ece"]
    assert isinstance(error, float)  # always known
    return error, in_points(error)


def affected(part: ClassResult, alpha: float, rows: str, *, shown: bool) -> str:
    """State how many scores are significantly wrong by themselves, and by how much all are on average.

    Parameters
    ----------
    rows
        What the rows are called: "its rows" are those of a group that a sentence before names.
    shown
        Whether the scores are shown not to be calibrated. If they are not, single tests that reject some
        contradict nothing: of true probabilities they reject a few as well.
    """
    total, rejected = int(part.bins.count.sum()), int(part.tested.rows.sum())
    error, points = mean_error(part)
    wrong = f"he scores of {_percent(rejected, total)} of {rows} are significantly wrong (level {alpha:g})"
    wrong = f"T{wrong}" if shown or not rejected else f"Tested one by one, t{wrong}, but all together are not"
    return f"{wrong}; on average, scores are off by {points} (ECE {probability(error)})."


def advice(part: ClassResult) -> list[str]:
    """Note that small errors are significant if many predictions are rejected; empty otherwise."""
    total, rejected = int(part.bins.count.sum()), int(part.tested.rows.sum())
    return ["With many rows, small errors are significant."] if rejected > MANY_REJECTED * total else []


def calibrated_within(metrics: Metrics) -> str:
    """State within what the scores are calibrated, and the deviation that is proved; empty without either."""
    within, proved = metrics["within"], metrics["within_low"]
    assert isinstance(proved, float)  # always known
    least = f"by at least {in_points(proved)} somewhere" if proved >= _LEAST else ""
    most = f"by at most {in_points(within)} on 95 % of rows" if isinstance(within, float) else ""
    if not least and not most:
        return ""
    falls = " The rate of positives does not rise everywhere with the score." if within is None else ""
    known = " and ".join(filter(None, (least, most)))
    return f"With 95 % confidence the score is off {known}.{falls}"


def _percent(rows: int, total: int) -> str:
    return percent(rows / total)


def _finding(bins: ScoreBins, rejected: Ints, side: str) -> str:
    """State where scores err to one side: the shortest run of bins with most of the rejected rows."""
    filled = np.flatnonzero(bins.count)
    first, last = _shortest_run(rejected[filled].tolist())
    run = filled[first : last + 1]
    mostly = 2 * rejected[filled] >= bins.count[filled]
    while first > 0 and mostly[first - 1]:
        first -= 1
    while last + 1 < len(filled) and mostly[last + 1]:
        last += 1
    widest = _NEARLY_ALL * bins.count.sum()
    if bins.count[filled[first : last + 1]].sum() <= widest:
        run = filled[first : last + 1]
    if bins.count[run].sum() > widest:  # too wide a range to be useful
        errors = np.where(rejected > 0, np.abs(bins.positives - bins.mean_score * bins.count), 0)
        farthest = np.array([errors.argmax()])
        where = _score_range(bins, farthest)
        return _with_rates(f"Many scores are {side}, especially those {where}", bins, farthest, side)
    return _with_rates(f"Scores {_score_range(bins, run)} are {side}", bins, run, side)


def _score_range(bins: ScoreBins, run: Ints) -> str:
    low, high = float(bins.low[run[0]]), float(bins.high[run[-1]])
    return {
        (True, True): "from 0 to 1",
        (True, False): f"below {high:.2g}",
        (False, True): f"above {low:.2g}",
        (False, False): f"from {low:.2g} to {high:.2g}"
        if f"{low:.2g}" != f"{high:.2g}"
        else f"near {low:.3g}",
    }[low == 0, high == 1]


def _with_rates(finding: str, bins: ScoreBins, run: Ints, side: str) -> str:
    """Compare the mean score of bins with their positive rate; empty if together they do not err so."""
    rows = int(bins.count[run].sum())
    mean = float((bins.mean_score[run] * bins.count[run]).sum()) / rows
    rate = int(bins.positives[run].sum()) / rows
    if not _errs(bins, run, side):
        return ""
    score, positive = percents(mean, rate)
    only = "only " if side == "too high" else ""
    return f"{finding}: on average {score} %, but {only}{positive} % of these rows are positive."


def _errs(bins: ScoreBins, run: Ints, side: str) -> bool:
    """Whether the labels of bins have another sum than the scores, significantly and to a side.

    The variance of a label is that at the mean score of its bin, which is at least the mean one.
    """
    count, score = bins.count[run], bins.mean_score[run]
    error = float((bins.positives[run] - count * score).sum())
    variance = float((count * score * (1 - score)).sum())
    return (error < 0) == (side == "too high") and error * error >= _ONE_DEGREE * variance > 0


_ONE_DEGREE = 3.841458820694124
"""The 95 % quantile of chi-squared with one degree of freedom."""


def detection_limit(part: ClassResult) -> tuple[str, float] | None:
    """Return the rare label and the least relative error of its rate that the tests detect; None if small."""
    bins = part.bins
    filled = bins.count > 0
    rows, positives = bins.count[filled], bins.positives[filled]
    rate = int(positives.sum()) / int(rows.sum())
    if not 0 < rate < 1:
        return None
    name, rare = ("positives", rate) if rate <= 0.5 else ("negatives", 1 - rate)
    least = 2 * math.sqrt((1 - rare) / (rare * float(np.median(rows))))
    return (name, least) if least >= _DETECTION_LIMIT else None


def misses_errors(part: ClassResult) -> bool:
    """Whether the tests miss considerable errors: labels are few, or of one kind."""
    positives, rows = int(part.bins.positives.sum()), int(part.bins.count.sum())
    return positives in (0, rows) or detection_limit(part) is not None


def rejected_alike(parts: Sequence[ClassResult]) -> list[Notice]:
    """Caution that the t-test rejects scores since the labels of their bin do not vary; empty if none."""
    rows = rejected = 0
    for part in parts:
        alike = (part.bins.positives == 0) | (part.bins.positives == part.bins.count)
        rows, rejected = rows + int(part.bins.count.sum()), rejected + int(part.tested.rows[alike].sum())
    if not rejected:
        return []
    return [
        Notice(
            "alike-labels",
            f"{_percent(rejected, rows)} of scores are in bins whose labels are all alike, where --test t "
            "rejects every score, right or wrong: leave it out, since the default test does not.",
        )
    ]


def _shortest_run(rows: list[int]) -> tuple[int, int]:
    """Return first and last index of the shortest run with four fifths of all rows; ties: the fullest."""
    best, first, rows_in_run = (len(rows) + 1, 0, 0), 0, 0
    for last, more in enumerate(rows):
        rows_in_run += more
        while 5 * (rows_in_run - rows[first]) >= 4 * sum(rows):
            rows_in_run -= rows[first]
            first += 1
        if 5 * rows_in_run >= 4 * sum(rows):
            best = min(best, (last - first + 1, -rows_in_run, first))
    length, _, start = best
    return start, start + length - 1
