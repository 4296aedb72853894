"""Oracle of linear interpolation: exact fractions."""

from fractions import Fraction


def interpolated(value, x, y):
    """Return the exact value between the last point at or below and the next, constant outside."""
    below = [index for index, knot in enumerate(x) if knot <= value]
    if not below:
        return Fraction(y[0])
    index = below[-1]
    if index == len(x) - 1:
        return Fraction(y[-1])
    share = (Fraction(value) - Fraction(x[index])) / (Fraction(x[index + 1]) - Fraction(x[index]))
    return Fraction(y[index]) + (Fraction(y[index + 1]) - Fraction(y[index])) * share
