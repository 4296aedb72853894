"""Certificates by definition: one nested boundary after another, with binomial tails as exact fractions."""

from fractions import Fraction
from math import comb, inf, sqrt


def binomial_tail(trials, successes, share):
    """Return P(Bin(trials, share) >= successes) as a fraction."""
    return sum(comb(trials, k) * share**k * (1 - share) ** (trials - k) for k in range(successes, trials + 1))


def outcome_of(bound, hits, taken, rows, positives):
    """Return successes and trials of a bound (its name and value), and the minimum of the rate."""
    name, value = bound
    if name == "precision":
        return hits, taken, value
    if name == "recall":
        return hits, positives, value
    if name == "max_omission":
        return (rows - taken) - (positives - hits), rows - taken, 1 - value
    return (rows - positives) - (taken - hits), rows - positives, 1 - value


def last_certified(bounds, delta, expected, tested):
    """Return the index of the last certified boundary and its p-value; None if there is none.

    ``expected`` and ``tested`` list (hits, taken) of every nested boundary, from the tightest, on the pilot
    and on the test rows; the last one takes all rows.
    """

    def margin(index):
        margins = []
        for bound in bounds:
            successes, trials, share = outcome_of(bound, *expected[index], expected[-1][1], expected[-1][0])
            rate = float(share)
            spread = sqrt(max(rate * (1 - rate), 1e-9) * trials) if trials > 0 else None
            margins.append(-inf if spread is None else (successes - rate * trials) / spread)
        return min(margins)

    def p_value(index):
        tails = []
        for bound in bounds:
            successes, trials, share = outcome_of(bound, *tested[index], tested[-1][1], tested[-1][0])
            tails.append(binomial_tail(trials, successes, Fraction(share)) if successes > 0 else Fraction(1))
        return max(tails)

    margins = [margin(index) for index in range(len(expected))]
    index, last = margins.index(max(margins)), None
    if margins[index] == -inf:
        return None
    step = -1 if [name for name, _ in bounds] in (["recall"], ["max_omission"]) else 1
    while 0 <= index < len(expected) and p_value(index) <= delta:
        if tested[index][0] > 0:  # of no use otherwise
            last = index, p_value(index)
        index += step
    return last


def drawn_rows(rows, boundaries):
    """Return the positives and clusters of each boundary, from (first boundary, cluster, key, positive) rows.

    Each cluster with a selected row counts by that with the lowest key.
    """
    counts = []
    for boundary in range(boundaries):
        drawn = {}
        for first, cluster, key, positive in rows:
            if first <= boundary and (cluster not in drawn or key < drawn[cluster][0]):
                drawn[cluster] = key, positive
        counts.append((sum(positive for _, positive in drawn.values()), len(drawn)))
    return counts


def loosest_threshold(rows, above, precision, delta, first):
    """Return the loosest certified threshold of (score, positive) rows drawn above a score, or None.

    Thresholds are the scores of the rows at given ranks from the top: ``first``, then every further 3 %,
    rounded up; and at last the score above which the rows were drawn.
    """
    scores = sorted((score for score, _ in rows), reverse=True)
    step = max(1, -(-3 * len(rows) // 100))
    thresholds = [scores[rank - 1] for rank in range(first, len(rows), step)]
    last = None
    for threshold in [*(value for value in thresholds if value > above), above]:
        labels = [positive for score, positive in rows if score >= threshold]
        hits = sum(labels)
        if hits == 0 or binomial_tail(len(labels), hits, precision) > delta:
            return last
        last = threshold
    return last


def share_reaching(rows, precision):
    """Return the share of (score, positive) rows down to the lowest score with (k+1)/(n+2) >= precision."""
    best = Fraction(0)
    for threshold in {score for score, _ in rows}:
        labels = [positive for score, positive in rows if score >= threshold]
        if Fraction(sum(labels) + 1, len(labels) + 2) >= precision:
            best = max(best, Fraction(len(labels), len(rows)))
    return best


def highest_dropped(rows, below, omission, delta, first):
    """Return the highest score that may be dropped of (score, positive) rows drawn below a score, or None.

    Scores are tried at given ranks from the bottom: ``first``, then every further 3 %, rounded up; and at
    last the score below which the rows were drawn.
    """
    scores = sorted(score for score, _ in rows)
    step = max(1, -(-3 * len(rows) // 100))
    highest = [scores[rank - 1] for rank in range(first, len(rows), step)]
    last = None
    for score in [*(value for value in highest if value < below), below]:
        labels = [positive for own, positive in rows if own <= score]
        negatives = len(labels) - sum(labels)
        if negatives == 0 or binomial_tail(len(labels), negatives, 1 - omission) > delta:
            return last
        last = score
    return last
