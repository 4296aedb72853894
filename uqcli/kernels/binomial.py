"""The rate under which so many successes of few trials, or more, have a given probability."""

from __future__ import annotations

from functools import lru_cache
from typing import Final

import numpy as np

from uqcli.base.counts import Floats
from uqcli.kernels.compile import kernel

FEW_TRIALS: Final = 500
"""Trials up to which the outcomes are added up one by one, in less time than it takes to load scipy."""

_KEPT: Final = 1 << 16
"""Limits that are kept: those of thousands of small groups are mostly equal."""

_STEPS: Final = 8
"""Newton steps of most limits."""


@lru_cache(maxsize=_KEPT)
def rate_of_tail(successes: int, trials: int, tail: float) -> float:
    """Return the rate at which so many successes or more have the probability ``tail``.

    There is at least one success, of ``FEW_TRIALS`` trials or fewer, and ``tail`` is in (0, 1). The result is
    the quantile of a beta distribution, and agrees with scipy's up to rounding.

    Examples
    --------
    >>> rate_of_tail(1, 1, 0.25), round(rate_of_tail(2, 2, 0.25), 15)
    (0.25, 0.5)
    """
    rate = np.array([tail])
    solve_tail.run(_STEPS * trials, successes, trials, rate)
    return float(rate[0])


@kernel
def solve_tail(successes: int, trials: int, rate: Floats) -> None:
    """Replace a probability by the rate at which so many successes or more have it.

    The probability is a convex function of the rate up to its inflection, at (k - 1) / (n - 1) for k of n,
    and concave beyond. From there, Newton's steps go to the solution without passing it.
    """
    tail = rate[0]
    p = tail / trials if successes == 1 else (successes - 1.0) / (trials - 1.0)
    for _ in range(1000):  # a step divides it by e at most, which takes 745 for the least double
        q = 1.0 - p
        term, left = 1.0, trials - successes
        for i in range(1, successes + 1):
            term *= p * (trials - successes + i) / i
            while left > 0 and term > 1.0:  # else the term overflows before it becomes small
                term *= q
                left -= 1
        for _ in range(left):
            term *= q
        total, outcome = 1.0, 1.0
        for i in range(successes, trials):
            outcome *= (trials - i) / (i + 1.0) * (p / q)
            total += outcome
            if outcome < total * 1e-17:
                break
        step = (term * total - tail) / (term * successes) * p
        p -= step
        if abs(step) <= 1e-9 * p:  # steps square the error, and the next one would be rounding
            break
    rate[0] = p
