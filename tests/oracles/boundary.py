"""Oracle of boundaries: brute force, and the paper's dense table."""

from fractions import Fraction
from itertools import product


def run_counts(rows):
    """Return (true positives, flagged) of the j highest cells of each row of ascending (n, p) cells."""
    result = []
    for row in rows:
        counts = [(0, 0)]
        for n, p in reversed(row):
            counts.append((counts[-1][0] + p, counts[-1][1] + n))
        result.append(counts)
    return result


def is_feasible(true_positives, selected, precision):
    return true_positives > 0 and Fraction(true_positives, selected) >= precision


def brute_force(rows, precision):
    """Return the tops with most true positives, then fewest flagged, then fewest cells in early rows."""
    runs = run_counts(rows)
    best = None
    for tops in product(*(range(len(row)) for row in runs)):
        tp = sum(row[j][0] for row, j in zip(runs, tops, strict=True))
        selected = sum(row[j][1] for row, j in zip(runs, tops, strict=True))
        if is_feasible(tp, selected, precision):
            key = (-tp, selected, tops)
            best = key if best is None else min(best, key)
    return None if best is None else best[2]


def brute_force_specificity(rows, specificity):
    """Return the tops with most true positives, then fewest flagged, at a share of negatives not flagged."""
    runs = run_counts(rows)
    negatives = sum(n - p for row in rows for n, p in row)
    best = None
    for tops in product(*(range(len(row)) for row in runs)):
        tp = sum(row[j][0] for row, j in zip(runs, tops, strict=True))
        selected = sum(row[j][1] for row, j in zip(runs, tops, strict=True))
        true_negatives = negatives - (selected - tp)
        if tp > 0 and (negatives == 0 or Fraction(true_negatives, negatives) >= specificity):
            key = (-tp, selected, tops)
            best = key if best is None else min(best, key)
    return None if best is None else best[2]


def dense_table(rows, precision):
    """Run the paper's Algorithm 4: most true positives for every number of flagged rows."""
    total = sum(n for row in rows for n, _ in row)
    best_hits = [0] + [None] * total
    for row in run_counts(rows):
        new = [None] * (total + 1)
        for m, hits_before in enumerate(best_hits):
            if hits_before is None:
                continue
            for tp, selected in row:
                if new[m + selected] is None or new[m + selected] < hits_before + tp:
                    new[m + selected] = hits_before + tp
        best_hits = new
    feasible = [tp for m, tp in enumerate(best_hits) if tp and is_feasible(tp, m, precision)]
    return max(feasible, default=0)


def isotonic_values(row):
    """Fit p/n isotonically by pooling violators; the value of a cell without rows is None."""
    blocks = [[[index], n, p] for index, (n, p) in enumerate(row) if n]
    changed = True
    while changed:
        changed = False
        for i in range(len(blocks) - 1):
            (left, n1, p1), (right, n2, p2) = blocks[i], blocks[i + 1]
            if Fraction(p1, n1) >= Fraction(p2, n2):
                blocks[i : i + 2] = [[left + right, n1 + n2, p1 + p2]]
                changed = True
                break
    values = [None] * len(row)
    for cells, n, p in blocks:
        for cell in cells:
            values[cell] = Fraction(p, n)
    return values


def mist(rows, precision):
    """Lower one threshold on the isotonic value while the precision meets the bound."""
    values = [isotonic_values(row) for row in rows]
    best = 0
    for threshold in sorted({v for row in values for v in row if v is not None}, reverse=True):
        taken = [
            (n, p)
            for row, row_values in zip(rows, values, strict=True)
            for (n, p), value in zip(row, row_values, strict=True)
            if value is not None and value >= threshold
        ]
        tp, selected = sum(p for _, p in taken), sum(n for n, _ in taken)
        if threshold == 0 or not is_feasible(tp, selected, precision):
            break
        best = tp
    return best


def single_threshold(data, precision):
    """Try every distinct score of the (score, positive, weight) rows as threshold."""
    best = 0
    for threshold in {score for score, _, _ in data}:
        taken = [(positive, weight) for score, positive, weight in data if score >= threshold]
        tp = sum(weight for positive, weight in taken if positive)
        selected = sum(weight for _, weight in taken)
        if is_feasible(tp, selected, precision):
            best = max(best, tp)
    return best


def best_precision(rows):
    """Return the highest precision of any boundary and its most true positives, by brute force."""
    runs = run_counts(rows)
    best = (Fraction(0), 0)
    for tops in product(*(range(len(row)) for row in runs)):
        tp = sum(row[j][0] for row, j in zip(runs, tops, strict=True))
        selected = sum(row[j][1] for row, j in zip(runs, tops, strict=True))
        if tp:
            best = max(best, (Fraction(tp, selected), tp))
    return best
