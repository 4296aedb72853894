"""Shares that simulations find, held against what is promised, and kept for the pages that quote them.

Every coverage and every rate of errors of the suite is compared here. A whole run draws a thousand times; a
coverage of 0.90 then fails as 0.95 with a probability of 0.9 and more, or ``lowest`` refuses the few runs.
"""

import json
import os
from pathlib import Path

import numpy as np
from scipy import stats

FOUND = Path(__file__).parents[2] / "build" / "levels"
"""Folder of the numbers that are kept, a file each, which ``make levels`` records in docs/levels.json."""
_REPETITIONS = int(os.environ.get("STATISTICAL_REPETITIONS", "0"))
_WHOLE = 1000
_POWER = 0.9


def repetitions(few: int) -> int:
    """Return how often a test draws: a few times, unless the whole suite is asked for."""
    return _REPETITIONS or few


def lowest(level, runs, *, drawn=None, nominal=0.95):
    """Return the least share of runs that is consistent with a coverage: three standard errors below it.

    Parameters
    ----------
    level
        What is held: the nominal level, or less where a page says how much less is reached.
    runs
        A number or an array.
    drawn
        The repetitions, if only those that gave an interval count; default: as many.
    nominal
        The level that is printed. Five percentage points less must be noticed by a whole run.
    """
    limit = _three_errors_below(level, runs)
    if _REPETITIONS >= _WHOLE and level > nominal - 0.05:
        assert power(level, drawn or runs, nominal - 0.05) >= _POWER, f"{runs} are too few"
    return limit


def power(level, runs, truth):
    """Return how probably a true coverage fails ``lowest(level, runs)``."""
    failing = np.ceil(_three_errors_below(level, runs) * runs - 1e-9) - 1  # the largest number that fails
    return float(stats.binom.cdf(failing, runs, truth))


def highest(level, runs):
    """Return the largest share of errors that is consistent with a level."""
    return 1 - _three_errors_below(1 - float(level), runs)


def keep(name, value, runs):
    """Keep a number that a page may quote by this name, if the whole suite is asked for.

    Parameters
    ----------
    name
        Parts between slashes, such as ``watch/level/limit 0.02/correlation 0.2``.
    value
        A share, a median, or another number.
    runs
        Repetitions behind it; 1 for what is computed.
    """
    if _REPETITIONS:
        path = FOUND / f"{name}.json"
        path.parent.mkdir(parents=True, exist_ok=True)
        found = {"value": float(f"{float(value):.5g}"), "runs": int(runs)}
        path.write_text(json.dumps(found) + "\n")


def _three_errors_below(level, runs):
    level = float(level)
    return level - 3 * np.sqrt(level * (1 - level) / np.maximum(1, runs))
