"""Sentences on the results of calibration tests."""

from __future__ import annotations

import math

import numpy as np

from uqcli.base.counts import Ints
from uqcli.estimates.calibration_error import MANY_REJECTED, ScoreBins
from uqcli.reports.document import Metrics
from uqcli.tce.results import ClassResult

_NEARLY_ALL = 0.75
"""Share of all rows above which a range of scores is too wide to be useful."""

_DETECTION_LIMIT = 0.25
"""Relative error of a rate above which the report cautions that the tests miss smaller ones."""


_LEAST = 0.0005
"""Least proved deviation that the report states: a tiny score may be a thousand times too low."""


def in_words(part: ClassResult, alpha: float | None) -> list[str]:
    """State how many predictions are rejected, where most of them are, and where the others are.

    If rows have sampling weights, none is tested, and the mean error is stated.
    """
    if part.rejected is None or alpha is None:
        error = part.metrics["ece"]
        assert isinstance(error, float)  # always known
        points = f"{100 * error:.2g} points mean error (ECE)"
        return [f"{points} by sampling weight; tests need rows that count alike."]
    total, rejected = int(part.bins.count.sum()), int(part.rejected.rows.sum())
    percent = f"{_percent(rejected, total)} of predictions are rejected (level {alpha:g})"
    sides = sorted(
        [("too high", part.rejected.too_high), ("too low", part.rejected.too_low)],
        key=lambda side: -int(side[1].sum()),
    )
    where = [(name, rows, _location(part.bins, rows, name)) for name, rows in sides if rows.any()]
    if not where:
        return [f"{percent}."]
    if len(where) == 1:
        return [f"{percent}, {where[0][0]} {where[0][2]}."]
    first, second = (
        f"{_percent(int(rows.sum()), total)} {name} {location}" for name, rows, location in where
    )
    return [f"{percent}: {first}.", f"The others: {second}."]


def advice(part: ClassResult) -> list[str]:
    """State the mean error if many predictions are rejected."""
    if part.rejected is None:
        return []
    total, rejected = int(part.bins.count.sum()), int(part.rejected.rows.sum())
    if rejected <= MANY_REJECTED * total:
        return []
    bins = part.bins
    errors = np.abs(bins.mean_score * bins.count - bins.positives)[bins.count > 0]
    return [
        f"Mean error over all rows: {100 * float(errors.sum()) / total:.2g} points.",
        "With many rows, small errors are significant.",
    ]


def calibrated_within(metrics: Metrics) -> str:
    """State within what the scores are calibrated, and the deviation that is proved or would be."""
    within, proved, detectable = (metrics[name] for name in ("within", "within_low", "within_detectable"))
    assert isinstance(proved, float)  # always known
    if within is None:
        sentence = "Rates do not rise with the score"
    else:
        sentence = f"Calibrated within {within:.2g} on 95 % of rows"
    if proved >= _LEAST:
        return f"{sentence}; off by {proved:.2g} somewhere (proved)."
    above = f" above {_LEAST:g}" if proved else ""
    would = "" if detectable is None else f" ({detectable:.2g} would be)"
    return f"{sentence}; no error{above} proved{would}."


def _percent(rows: int, total: int) -> str:
    share_of_all = 100 * rows / total
    return "less than 0.1 %" if 0 < share_of_all < 0.05 else f"{share_of_all:.1f} %"


def _location(bins: ScoreBins, rejected: Ints, side: str) -> str:
    """Describe the shortest run of bins with most of the rejected rows, with its mean score and rate."""
    filled = np.flatnonzero(bins.count)
    first, last = _shortest_run(rejected[filled].tolist())
    run = filled[first : last + 1]
    if bins.count[run].sum() > _NEARLY_ALL * bins.count.sum():  # too wide a range to be useful
        errors = np.where(rejected > 0, np.abs(bins.positives - bins.mean_score * bins.count), 0)
        farthest = np.array([errors.argmax()])
        return f"throughout, most {_score_range(bins, farthest)}{_rates(bins, farthest, side)}"
    return f"{_score_range(bins, run)}{_rates(bins, run, side)}"


def _score_range(bins: ScoreBins, run: Ints) -> str:
    """Format the score range of neighbouring bins."""
    low, high = float(bins.low[run[0]]), float(bins.high[run[-1]])
    return {
        (True, True): "over the whole range",
        (True, False): f"below {high:.3g}",
        (False, True): f"above {low:.3g}",
        (False, False): f"between {low:.3g} and {high:.3g}",
    }[low == 0, high == 1]


def _rates(bins: ScoreBins, run: Ints, side: str) -> str:
    """Format the mean score and positive rate of bins; note if all rows together err to the other side."""
    rows = int(bins.count[run].sum())
    mean = float((bins.mean_score[run] * bins.count[run]).sum()) / rows
    rate = int(bins.positives[run].sum()) / rows
    others = "" if (mean > rate) == (side == "too high") else "all rows there: "
    return f" ({others}mean score {100 * mean:.3g} %, positive {100 * rate:.3g} %)"


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
