"""Oracle of non-conformity scores, thresholds and prediction sets: row by row, with exact fractions."""

from fractions import Fraction


def score(probability, label, uniform, method):
    if method == "lac":
        return 1 - probability[label]
    if probability[label] <= 0:
        return 2.0  # above every class of positive probability
    mass = 0.0
    for value in sorted((p for p in probability if p > probability[label]), reverse=True):
        mass += value
    return min(1.0, mass + uniform * probability[label])


def marginal(scores, alpha):
    """Return the k-th smallest of the scores and 2, k = ceil((1-alpha)(n+1))."""
    exact_rank = (1 - alpha) * (len(scores) + 1)
    rank = int(exact_rank) + (exact_rank != int(exact_rank))
    return sorted([*scores, 2.0])[rank - 1]


def label_shift(scores, labels, weights, alpha, label):
    """Return the smallest score with enough weight up to it."""
    exact = [Fraction(weight) for weight in weights]
    total = sum(exact[label_of_row] for label_of_row in labels) + exact[label]
    for threshold in sorted(set(scores)):
        mass = sum(
            exact[label_of_row] for s, label_of_row in zip(scores, labels, strict=True) if s <= threshold
        )
        if mass >= (1 - alpha) * total:
            return threshold
    return 2.0


def members(probability, thresholds, uniform, method):
    return [
        score(probability, label, uniform, method) <= threshold for label, threshold in enumerate(thresholds)
    ]


def clustered_threshold(rows, alpha):
    """Return the threshold of (score, cluster) rows: at it, the clusters' mean shares reach the coverage."""
    clusters = {}
    for score, cluster in rows:
        clusters.setdefault(cluster, []).append(score)
    for candidate in sorted({score for score, _ in rows}):
        shares = [
            Fraction(sum(score <= candidate for score in scores), len(scores)) for scores in clusters.values()
        ]
        if sum(shares) >= (1 - alpha) * (len(clusters) + 1):
            return candidate
    return 2.0
