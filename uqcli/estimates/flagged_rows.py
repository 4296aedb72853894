"""How many new rows a rule flags if they are like the rows that it was fitted on (Thatcher 1964)."""

from __future__ import annotations

from math import exp, lgamma

import numpy as np

_TERMS = 4096
"""Terms of a tail that are summed at a time."""

_NEGLIGIBLE = 1e-12
"""Share of a tail below which its other terms are not summed."""


def flagged_interval(fit_selected: int, fit_rows: int, new_rows: int, level: float) -> tuple[int, int]:
    """Return the smallest and the largest number of flagged new rows that the fit's share explains.

    For exchangeable rows, the new ones among all that are flagged have a hypergeometric distribution. The
    interval has the numbers that neither of its tails rejects. Its coverage is at least ``level`` for every
    share and any sizes.

    Parameters
    ----------
    fit_selected, fit_rows
        Flagged rows and all rows of the fit, with ``0 <= fit_selected <= fit_rows``.
    level
        In (0, 1).

    Examples
    --------
    >>> flagged_interval(50, 1000, 1000, 0.95)
    (32, 71)
    >>> flagged_interval(0, 1000, 1000, 0.95)
    (0, 5)
    """
    tail = (1 - level) / 2
    low = _fewest(fit_selected, fit_rows, new_rows, tail)
    return low, new_rows - _fewest(fit_rows - fit_selected, fit_rows, new_rows, tail)


def _fewest(fit_selected: int, fit_rows: int, new_rows: int, tail: float) -> int:
    """Return the smallest number of new rows that the lower tail does not reject."""
    rejected, kept = -1, new_rows
    while kept - rejected > 1:
        middle = (rejected + kept) // 2
        if _lower_tail(middle, fit_selected + middle, fit_rows, new_rows) > tail:
            kept = middle
        else:
            rejected = middle
    return kept


def _lower_tail(new_selected: int, selected: int, fit_rows: int, new_rows: int) -> float:
    """Return the probability of at most ``new_selected`` new rows among the selected of all rows.

    The sum starts at its largest term. The answer is 1/2 where that is a lower bound.
    """
    rows = fit_rows + new_rows
    if new_selected * rows >= selected * new_rows + rows:  # beyond the mean, so beyond the median
        return 0.5
    first = max(0, selected - fit_rows)
    total, term, start = 0.0, _probability(new_selected, selected, fit_rows, new_rows), new_selected
    while start >= first:
        stop = max(first, start - _TERMS + 1)
        total += term
        k = np.arange(start, stop, -1, dtype=np.float64)
        ratios = k * (fit_rows - selected + k) / ((new_rows - k + 1) * (selected - k + 1))
        terms = term * np.cumprod(ratios)
        total += float(terms.sum())
        last = float(terms[-1]) if len(terms) else term
        if last <= _NEGLIGIBLE * total or stop == first:
            break
        term = last * stop * (fit_rows - selected + stop) / ((new_rows - stop + 1) * (selected - stop + 1))
        start = stop - 1
    return total


def _probability(new_selected: int, selected: int, fit_rows: int, new_rows: int) -> float:
    """Return the hypergeometric probability of a number of new rows among the selected ones."""
    chosen_of = (
        (new_rows, new_selected, 1),
        (fit_rows, selected - new_selected, 1),
        (fit_rows + new_rows, selected, -1),
    )
    logarithm = sum(
        sign * (lgamma(n + 1.0) - lgamma(k + 1.0) - lgamma(n - k + 1.0)) for n, k, sign in chosen_of
    )
    return exp(logarithm)
