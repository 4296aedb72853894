"""Oracle of boundaries of the highest value, on lists of rows.

Nothing here uses uqcli. A row is (bin, score, positive, gain, cost, weight), and a cell is a list of rows.
Amounts are whole numbers. Cells of a row of the table are in descending order of the score.
"""

from itertools import product

from tests.oracles.single_precision import edge


def value(rows):
    """Return what flagging some rows is worth."""
    return sum(w * (gain if positive else -cost) for _, _, positive, gain, cost, w in rows)


def gain_of_positives(rows):
    """Return the gain of the positive rows."""
    return sum(w * gain for _, _, positive, gain, _, w in rows if positive)


def weights(rows):
    """Return true positives and rows, by weight."""
    return sum(row[5] for row in rows if row[2]), sum(row[5] for row in rows)


def best_tops(table):
    """Return the tops of the highest value; ties by most true positives, fewest rows, highest thresholds."""
    best = None
    for tops in product(*(range(len(cells) + 1) for cells in table)):
        flagged = [
            row for cells, top in zip(table, tops, strict=True) for cell in cells[:top] for row in cell
        ]
        positives, rows = weights(flagged)
        if positives and value(flagged) > 0:
            key = (-value(flagged), -positives, rows, tops)
            best = key if best is None else min(best, key)
    return None if best is None else best[3]


def best_thresholds(rows, bins):
    """Return the rows flagged by the best thresholds at scores of positive rows, or None; ties as above."""
    best = None
    scores = [
        [None, *sorted({row[1] for row in rows if row[0] == index and row[2]}, reverse=True)]
        for index in range(bins)
    ]
    for thresholds in product(*scores):
        flagged = [row for row in rows if thresholds[row[0]] is not None and row[1] >= thresholds[row[0]]]
        positives, count = weights(flagged)
        if positives and value(flagged) > 0:
            order = [float("inf") if threshold is None else threshold for threshold in thresholds]
            key = (-value(flagged), -positives, count, [-threshold for threshold in order])
            if best is None or key < best[0]:
                best = key, flagged, thresholds
    if best is None:
        return None
    _, flagged, thresholds = best
    scores = [[row[1] for row in rows if row[0] == index and row[5]] for index in range(bins)]
    return flagged, tuple(
        None if low is None else edge(low, own) for low, own in zip(thresholds, scores, strict=True)
    )
