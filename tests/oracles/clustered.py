"""Oracle of errors over clusters, from row to row and pair to pair."""

import math


def error(residuals_by_cluster):
    """Return the error of a sum over clusters, from the residuals of their rows."""
    sums = [math.fsum(residuals) for residuals in residuals_by_cluster.values()]
    return math.sqrt(len(sums) / (len(sums) - 1) * math.fsum(value**2 for value in sums))


def mean_with_error(rows):
    """Return the mean of (cluster, value) rows and its error."""
    mean = math.fsum(value for _, value in rows) / len(rows)
    residuals = {}
    for cluster, value in rows:
        residuals.setdefault(cluster, []).append((value - mean) / len(rows))
    return mean, error(residuals)


def auc_with_error(rows):
    """Return the AUC of (cluster, score, positive) rows and its error (Obuchowski 1997)."""
    positive, negative = ([row for row in rows if row[2] == side] for side in (True, False))

    def wins(score, other):
        return 1.0 if score > other else 0.5 if score == other else 0.0

    auc = sum(wins(p[1], n[1]) for p in positive for n in negative) / (len(positive) * len(negative))
    residuals = {}
    for cluster, score, _ in positive:
        placement = sum(wins(score, n[1]) for n in negative) / len(negative)
        residuals.setdefault(cluster, []).append((placement - auc) / len(positive))
    for cluster, score, _ in negative:
        placement = sum(wins(p[1], score) for p in positive) / len(positive)
        residuals.setdefault(cluster, []).append((placement - auc) / len(negative))
    return auc, error(residuals)
