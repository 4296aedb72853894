"""Oracle of the test of equal AUC (DeLong, DeLong and Clarke-Pearson 1988), by all pairs of rows."""

from statistics import covariance, variance

from scipy import stats


def wins(positive, negative):
    """Return 1 if a positive row scores above a negative one, and half for a tie."""
    return 1.0 if positive > negative else 0.5 if positive == negative else 0.0


def mean(values):
    return sum(values) / len(values)


def difference_and_variances(rows):
    """Return the difference of the AUC, second less first, and the parts of its variance with their rows.

    Rows are (first score, second score, positive).
    """
    positives, negatives = ([row for row in rows if bool(row[2]) is wanted] for wanted in (True, False))
    first, second = (
        [
            [mean([wins(row[score], other[score]) for other in negatives]) for row in positives],
            [mean([wins(other[score], row[score]) for other in positives]) for row in negatives],
        ]
        for score in (0, 1)
    )
    difference = mean(second[0]) - mean(first[0])
    parts = []
    for before, after in zip(first, second, strict=True):
        together = variance(before) + variance(after) - 2 * covariance(before, after)
        parts.append((together / len(before), len(before)))
    return difference, parts


def p_value(rows):
    """Return the two-sided p-value of equal AUC, by Student's t with Satterthwaite's degrees of freedom."""
    difference, parts = difference_and_variances(rows)
    spread = sum(part for part, _ in parts)
    if abs(difference) < 1e-12:
        return 1.0
    if spread < 1e-30:
        return 0.0
    freedom = spread**2 / sum(part**2 / (number - 1) for part, number in parts)
    return 2 * stats.t.sf(abs(difference) / spread**0.5, freedom)
