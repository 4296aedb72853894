"""Oracle of counts: lists and dictionaries."""

from collections import Counter

from tests.oracles.single_precision import edge


def rows_by_bin(rows, edges):
    """Divide (score, uncertainty, positive, weight) rows by uncertainty bin, without weights of 0."""
    bins = [[] for _ in range(len(edges) + 1)]
    for row in rows:
        if row[3]:
            bins[sum(edge <= row[1] for edge in edges)].append(row)
    return bins


def pooled(rows):
    """Return sorted (value, count, positives) of the rows' scores."""
    count, positives = Counter(), Counter()
    for score, _, positive, weight in rows:
        if weight:
            count[score] += weight
            positives[score] += weight * positive
    return [(value, count[value], positives[value]) for value in sorted(count)]


def at_rank(values, rank):
    """Return the value of a 0-based rank among (value, weight) pairs."""
    for value, weight in sorted(values):
        if rank < weight:
            return value
        rank -= weight
    raise AssertionError("beyond the last row")


def cells(rows, edges):
    """Return (count, positives, threshold at the lowest positive score, rows below it) of each cell.

    Cells are between score edges.
    """
    counts, scores = [], [row[0] for row in rows if row[3]]
    for cell_index in range(len(edges) + 1):
        inside = [row for row in rows if sum(edge <= row[0] for edge in edges) == cell_index and row[3]]
        hits = [row[0] for row in inside if row[2]]
        lowest = min(hits, default=None)
        below = sum(row[3] for row in inside if lowest is not None and row[0] < lowest)
        if lowest is not None:
            lowest = max([edge(lowest, scores), *edges[max(0, cell_index - 1) : cell_index]])
        counts.append((sum(row[3] for row in inside), sum(row[3] * row[2] for row in inside), lowest, below))
    return counts
