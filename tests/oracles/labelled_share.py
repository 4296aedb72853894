"""Oracle of the cells within which labelled rows stand for all: row by row."""

import math
from bisect import bisect_left

from scipy import stats


def cells(rows):
    """Return the lowest scores of the cells of (score, has a label) rows, ascending."""
    scores = sorted({score for score, _ in rows})
    size = len(rows)
    # the end of an atom is the first score at or above which at most that share of the rows is left
    ends = {before: one for one, before in rows_below(rows).items()}
    marks = []
    for k in range(1, 200):
        place = next((one for before, one in sorted(ends.items()) if before >= k * size // 200), None)
        if place is not None and place not in marks and place != scores[0]:
            marks.append(place)
    found = []
    for part in leaves(rows, sorted(marks)):
        found += bins(part)
    return found


def leaves(rows, marks):
    """Split rows where the labelled share jumps."""
    gains = {mark: gain(rows, mark) for mark in marks}
    best = max(gains, key=gains.get, default=None)
    if best is None or gains[best] <= 0 or len(marks) * stats.chi2.sf(gains[best], 1) >= 0.001:
        return [rows]
    index, scores = marks.index(best), sorted({score for score, _ in rows})
    lower = marks[index - 1] if index else scores[0]
    upper = marks[index + 1] if index + 1 < len(marks) else math.inf
    place = max((score for score in scores if lower < score < upper), key=lambda score: gain(rows, score))
    sides = [row for row in rows if row[0] < place], [row for row in rows if row[0] >= place]
    return [
        *leaves(sides[0], [mark for mark in marks if mark < place]),
        *leaves(sides[1], [mark for mark in marks if mark > place]),
    ]


def gain(rows, place):
    sides = [row for row in rows if row[0] < place], [row for row in rows if row[0] >= place]
    if any(sum(label for _, label in side) < 3 for side in sides):
        return -1.0
    return 2 * (likelihood(sides[0]) + likelihood(sides[1]) - likelihood(rows))


def likelihood(rows):
    labelled = sum(label for _, label in rows)
    parts = [labelled, len(rows) - labelled]
    return sum(number * math.log(number / len(rows)) for number in parts if number)


def bins(rows):
    """Return the lowest scores of the bins of a leaf."""
    scores = sorted({score for score, _ in rows})
    before = rows_below(rows)
    starts = [scores[0]]

    def large(part):
        return len(part) >= 50 and sum(label for _, label in part) >= 10

    for k in range(1, 20):
        rank = k * len(rows) // 20
        place = next((one for one in scores if before[one] >= rank), None)
        if place is None:
            continue
        below = [row for row in rows if starts[-1] <= row[0] < place]
        if large(below) and large([row for row in rows if row[0] >= place]):
            starts.append(place)
    return starts


def rows_below(rows):
    """Count the rows with a lower score than each score."""
    ascending = sorted(score for score, _ in rows)
    return {score: bisect_left(ascending, score) for score in ascending}
