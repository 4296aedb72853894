"""Oracle of cross-validated gains of score x uncertainty over the score alone, on lists of cells.

Nothing here uses uqcli. A fold is a table: a list of rows of (n, p) cells. Shares and gains are fractions.
Rates are those of `tests.oracles.smoothing`.
"""

from fractions import Fraction

from tests.oracles.smoothing import smoothed

FACTORS = ("0.5", "0.7", "0.85", "1", "1.2", "1.4")
TIE_TOLERANCE = 1e-9
"""Rates of two bins that differ by less can be ranked either way, by rounding."""


def summed(tables):
    """Add up tables of (n, p) cells."""
    return [
        [(sum(n for n, _ in cell), sum(p for _, p in cell)) for cell in zip(*rows, strict=True)]
        for rows in zip(*tables, strict=True)
    ]


def cross_validated_shares(folds, lower):
    """Return for each fold's cells the least and largest share of the other folds' rows ranked no lower."""
    shares = []
    for test_fold in range(len(folds)):
        train = summed([fold for fold_index, fold in enumerate(folds) if fold_index != test_fold])
        total = sum(n for row in train for n, _ in row)
        if not total:
            shares.append([[(Fraction(1), Fraction(1))] * len(row) for row in train])
            continue
        descending = [[(edge, n, p) for edge, (n, p) in zip(lower, row, strict=True)][::-1] for row in train]
        rate = [row_rates[::-1] for row_rates in smoothed(descending)]
        shares.append(
            [
                [shares_of(train, rate, total, row_index, column_index) for column_index in range(len(row))]
                for row_index, row in enumerate(train)
            ]
        )
    return shares


def shares_of(train, rate, total, row_index, column_index):
    """Return the share of rows in cells ranked no lower than this one, without and with near ties."""
    above = tied = 0
    for other_row_index, row in enumerate(train):
        for column, (n, _) in enumerate(row):
            if other_row_index == row_index:
                above += n * (column >= column_index)
            elif rate[other_row_index][column] > rate[row_index][column_index] + TIE_TOLERANCE:
                above += n
            elif rate[other_row_index][column] >= rate[row_index][column_index] - TIE_TOLERANCE:
                tied += n
    return Fraction(above, total), Fraction(above + tied, total)


def hits(groups, alerts):
    """Count true positives of alerts among (key, n, p) groups, lowest keys first; ties count by share."""
    true_positives, alerts_left = Fraction(0), Fraction(alerts)
    for key in sorted({key for key, _, _ in groups}):
        n = sum(n for key_of_group, n, _ in groups if key_of_group == key)
        p = sum(p for key_of_group, _, p in groups if key_of_group == key)
        if n:
            flagged = min(alerts_left, n)
            true_positives += p * flagged / n
            alerts_left -= flagged
    return true_positives


def gain(shares, folds, alerts):
    """Return the gain in recall, averaged over numbers of alerts."""
    ranked = [
        (share, n, p)
        for fold_shares, fold in zip(shares, folds, strict=True)
        for row_shares, row in zip(fold_shares, fold, strict=True)
        for share, (n, p) in zip(row_shares, row, strict=True)
    ]
    score = [
        (-column_index, n, p) for fold in folds for row in fold for column_index, (n, p) in enumerate(row)
    ]
    rows, positives = sum(n for _, n, _ in ranked), sum(p for _, _, p in ranked)
    alert_counts = [min(rows, Fraction(factor) * alerts) for factor in FACTORS]
    gains = [hits(ranked, alert_count) - hits(score, alert_count) for alert_count in alert_counts]
    return sum(gains) / len(gains) / positives
