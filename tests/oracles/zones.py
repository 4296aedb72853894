"""Oracle of the review zone: brute force over cells, and over thresholds of rows."""

import math
from fractions import Fraction
from itertools import product

from tests.oracles.boundary import run_counts


def limits(limit, total, positives):
    """Return the most reviewed rows and the most missed positives."""
    kind, value = limit
    if kind == "review":
        return budget(value, total), positives
    return total, math.floor(Fraction(value) * positives)


def budget(review, total):
    if review.endswith("%"):
        return math.floor(Fraction(review[:-1]) * total / 100)
    return min(int(review), total)


def below(rows, tops):
    """Return the cells that are left below the top cells of each row."""
    return [row[: len(row) - top] for row, top in zip(rows, tops, strict=True)]


def choices(rows):
    """Yield (tops, positives, reviewed rows) of every choice of runs."""
    runs = run_counts(rows)
    for tops in product(*(range(len(run)) for run in runs)):
        pairs = [run[top] for run, top in zip(runs, tops, strict=True)]
        yield tops, sum(p for p, _ in pairs), sum(n for _, n in pairs)


def most_caught(rows, most):
    """Return the runs with most positives within a budget, then fewest rows, then highest thresholds."""
    return min((-p, n, tops) for tops, p, n in choices(rows) if n <= most)[2]


def fewest_reviewed(rows, positives, flagged, miss):
    """Return the runs with fewest rows that miss few enough, then most positives, then highest thresholds."""
    most = math.floor(Fraction(miss) * positives)
    return min((n, -p, tops) for tops, p, n in choices(rows) if positives - flagged - p <= most)[2]


def binned(data, edges):
    """Return the (score, positive, weight) rows of each uncertainty bin."""
    bins = [[] for _ in range(len(edges) + 1)]
    for score, uncertainty, positive, weight in data:
        bins[sum(edge <= uncertainty for edge in edges)].append((score, positive, weight))
    return bins


def best_review(bins, thresholds, kind, value):
    """Try every review threshold at the score of a positive row below the boundary, and none."""
    rows = [row for rows in bins for row in rows]
    total, positives = sum(w for _, _, w in rows), sum(w for _, p, w in rows if p)
    most_reviewed, most_missed = limits((kind, value), total, positives)
    highest = [math.inf if threshold is None else threshold for threshold in thresholds]
    options = [
        [None, *sorted({score for score, p, w in rows if p and w and score < high}, reverse=True)]
        for rows, high in zip(bins, highest, strict=True)
    ]
    flagged = sum(
        w for rows, high in zip(bins, highest, strict=True) for score, p, w in rows if p and score >= high
    )
    best = None
    for chosen in product(*options):
        reviewed = caught = 0
        for rows, low, high in zip(bins, chosen, highest, strict=True):
            inside = [(p, w) for score, p, w in rows if low is not None and low <= score < high]
            reviewed += sum(w for _, w in inside)
            caught += sum(w for p, w in inside if p)
        if reviewed > most_reviewed or positives - flagged - caught > most_missed:
            continue
        order = tuple(-math.inf if low is None else -low for low in chosen)
        key = (-caught, reviewed, order) if kind == "review" else (reviewed, -caught, order)
        if best is None or key < best[0]:
            best = (key, chosen, reviewed, caught)
    return best[1:]


def next_in_order(cells, cells_left, order, positives_left, kind, limit):
    """Take the cells below the boundary one by one, in the order of all cells; return the best run's tops."""
    most_reviewed, most_missed = limit
    places = [(row, index) for row, (count, _) in enumerate(cells) for index in range(len(count))]
    tops, reviewed, caught = [0] * len(cells), 0, 0
    tried = [(0, 0, 0, tuple(tops))]
    for step, (row, index) in enumerate(places[cell] for cell in order):
        count, positives = cells_left[row]
        if index < len(count):
            tops[row] += 1
            reviewed += count[index]
            caught += positives[index]
            tried.append((reviewed, caught, step, tuple(tops)))
    feasible = [run for run in tried if run[0] <= most_reviewed and positives_left - run[1] <= most_missed]
    if kind == "review":
        return min((-caught, reviewed, step, tops) for reviewed, caught, step, tops in feasible)[3]
    return min((reviewed, -caught, step, tops) for reviewed, caught, step, tops in feasible)[3]
