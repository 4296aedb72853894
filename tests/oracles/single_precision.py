"""Oracle of thresholds that decide alike for 32-bit numbers: bisection, and one value after the other."""

import math
from decimal import ROUND_FLOOR, Context, Decimal

import numpy as np


def nearest(number):
    with np.errstate(over="ignore"):
        return np.float32(number)


def lowest(number):
    """Return the lowest double of a number's sign that rounds to the same 32-bit number."""
    own = nearest(number)
    if not np.isfinite(own):
        return number
    with np.errstate(over="ignore"):
        below, above = max(float(np.nextafter(own, np.float32(-np.inf))), -(2.0**128)), number
    if number >= 0:
        below = max(below, -math.ulp(0.0))
    while math.nextafter(below, math.inf) < above:
        middle = below / 2 + above / 2
        if not below < middle < above:
            middle = math.nextafter(below, math.inf)
        below, above = (below, middle) if nearest(middle) == own else (middle, above)
    return above


def edge(number, values):
    """Return the edge that stands for a number, given all values."""
    low = lowest(number)
    return number if any(low <= value < number for value in values) else low


def fixed_edge(number, values):
    """Return the edge that stands for a number that is no value, given all values."""
    low, own = lowest(number), float(nearest(number))
    return number if any(low <= value < number and value != own for value in values) else low


def shown(threshold, values):
    """Return a threshold of few digits with the same values at or above it."""
    own = [value for value in values if lowest(value) == threshold]
    exact = min(own, default=threshold)
    for digits in range(6, 16):
        few = float(Context(prec=digits, rounding=ROUND_FLOOR).create_decimal(Decimal(repr(exact))))
        if not any(few <= value < exact for value in values):
            return few
    return exact
