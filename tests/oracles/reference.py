"""Oracle of the reference of a boundary: rows one by one, repeated by their weights."""

from tests.oracles import counting
from tests.oracles.single_precision import edge, lowest


def reference(rows, edges, bins=10):
    """Return the score edges and the counts of each uncertainty bin.

    Rows are (score, uncertainty, positive, weight).
    """
    scores = [
        sorted(row[0] for row in part for _ in range(row[3])) for part in counting.rows_by_bin(rows, edges)
    ]
    every_score = sorted(score for part in scores for score in part)
    score_edges, counts = [], []
    for part in scores:
        ranked = part or every_score
        cuts = [edge(ranked[rank * len(ranked) // bins], every_score) for rank in range(1, bins)]
        inside = [sum(cut <= score for cut in cuts) for score in part]
        score_edges.append(cuts)
        counts.append([inside.count(index) for index in range(bins)])
    return score_edges, counts


def ends(rows, column):
    """Return the ends of all numbers alike of a column among rows of positive weight."""
    values = [row[column] for row in rows if row[3]]
    return lowest(min(values)), -lowest(-max(values))
