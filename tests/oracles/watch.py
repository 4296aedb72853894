"""Oracle of the evidence against a guaranteed rate: the integral itself, exact or at 30 digits.

Nothing here uses uqcli.
"""

from fractions import Fraction
from math import comb, log

import mpmath

PRIOR_TRIALS = 20


def e_value(successes, trials, bound):
    """Return the e-value as a fraction; 20 times the bound must be a whole number from 1 to 19."""
    a = bound * PRIOR_TRIALS
    assert a.denominator == 1

    def integral(k, failures):
        x, y = int(k + a), int(failures + PRIOR_TRIALS - a)
        return sum(Fraction((-1) ** i * comb(y - 1, i), x + i) * bound ** (x + i) for i in range(y))

    failures = trials - successes
    powers = bound**successes * (1 - bound) ** failures
    return integral(successes, failures) / (integral(0, 0) * powers)


def log_of(fraction):
    """Return the natural logarithm of a fraction that may be beyond the doubles."""
    return log(fraction.numerator) - log(fraction.denominator)


def log_e_value(successes, trials, bound):
    """Return the log of the e-value by quadrature; the bound is from .05 to below 1."""
    with mpmath.workdps(30):
        sigma = mpmath.mpf(bound.numerator) / bound.denominator

        def log_integral(k, failures):
            """Return the log of the integral of (q / sigma)^(x-1) ((1-q) / (1-sigma))^(y-1)."""
            x, y = k + PRIOR_TRIALS * sigma, failures + PRIOR_TRIALS * (1 - sigma)

            def log_height(q):
                powers = (x - 1) * mpmath.log(q / sigma) if q else (mpmath.ninf if x > 1 else mpmath.mpf(0))
                return powers + (y - 1) * mpmath.log((1 - q) / (1 - sigma))

            peak = min(sigma, max((x - 1) / (x + y - 2), mpmath.mpf(0))) if y > 1 else sigma
            slope = abs((x - 1) / peak - (y - 1) / (1 - peak)) if peak else y
            width = min(mpmath.sqrt(x * y / (x + y) ** 3), 1 / slope if slope else sigma)
            steps = [side * width * 3**power for side in (-1, 1) for power in range(5)]
            points = sorted({mpmath.mpf(0), sigma, peak, *(peak + step for step in steps)})
            points = [point for point in points if 0 <= point <= sigma]
            top = log_height(peak) if peak else log_height(sigma / 10**9)
            area = mpmath.quad(lambda q: mpmath.exp(log_height(q) - top), points)
            return top + mpmath.log(area)

        return float(log_integral(successes, trials - successes) - log_integral(0, 0))


def change_evidence(batches, bound):
    """Return the evidence of a change after the last batch, as a fraction."""
    return sum(
        e_value(sum(k for k, _ in batches[start:]), sum(n for _, n in batches[start:]), bound)
        for start in range(len(batches))
    )
