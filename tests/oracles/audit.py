"""Oracle of the audit: segments as sets of row numbers, exact tails by convolution."""

from itertools import combinations

LEAST_ROWS = 50


def cut(values):
    """Name the value of each row; more than ten distinct numbers are cut at their quartiles."""
    numbers = sorted(value for value in values if value is not None and not isinstance(value, str))
    if len(set(numbers)) <= 10:
        return list(values)
    edges = sorted({numbers[i * len(numbers) // 4] for i in (1, 2, 3)} - {numbers[0]})
    return [None if value is None else sum(edge <= value for edge in edges) for value in values]


def segments(columns):
    """Map the definition of each segment to its rows; sets of rows count once, at their first."""
    named = {name: cut(values) for name, values in columns.items()}
    rows = range(len(next(iter(columns.values()))))
    divisions = [(name,) for name in named] + list(combinations(named, 2))
    found, seen = {}, set()
    for names in divisions:
        by_values = {}
        for row in rows:
            by_values.setdefault(tuple((name, named[name][row]) for name in names), set()).add(row)
        for definition, members in by_values.items():
            if len(members) >= LEAST_ROWS and frozenset(members) not in seen:
                seen.add(frozenset(members))
                found[frozenset(definition)] = members
    return found


def two_sided(scores, positives):
    """Return twice the smaller tail of a sum of indicators."""
    mass = [1.0]
    for score in scores:
        mass = [
            (mass[j] if j < len(mass) else 0.0) * (1 - score) + (mass[j - 1] * score if j else 0.0)
            for j in range(len(mass) + 1)
        ]
    return min(1.0, 2 * min(sum(mass[: positives + 1]), sum(mass[positives:])))
