"""Oracles of the comparison of new rows with a reference: exact fractions, and loops over cells."""

import math
from fractions import Fraction

import numpy as np
from scipy.stats import binom


def hypergeometric(new_selected, selected, fit_rows, new_rows):
    """Return the probability of a number of new rows among the selected of all rows."""
    ways = math.comb(new_rows, new_selected) * math.comb(fit_rows, selected - new_selected)
    return Fraction(ways, math.comb(fit_rows + new_rows, selected))


def flagged_interval(fit_selected, fit_rows, new_rows, level):
    """Return the smallest and largest number that neither tail rejects."""
    tail, kept = Fraction(1 - level) / 2, []
    for number in range(new_rows + 1):
        selected = fit_selected + number
        possible = range(max(0, selected - fit_rows), min(new_rows, selected) + 1)
        chance = {k: hypergeometric(k, selected, fit_rows, new_rows) for k in possible}
        below = sum(chance[k] for k in possible if k <= number)
        above = sum(chance[k] for k in possible if k >= number)
        if below > tail and above > tail:
            kept.append(number)
    return min(kept), max(kept)


def coverage(share, fit_rows, new_rows, interval):
    """Return the exact probability that an interval of the fit's count contains the number of new rows."""
    fit, new = ([binomial(k, rows, share) for k in range(rows + 1)] for rows in (fit_rows, new_rows))
    covered = 0.0
    for fit_selected, chance in enumerate(fit):
        low, high = interval(fit_selected)
        covered += chance * sum(new[low : high + 1])
    return covered


def binomial(k, rows, share):
    return math.comb(rows, k) * share**k * (1 - share) ** (rows - k)


def population_stability(reference, new):
    """Return the index, cell by cell."""
    cells = [(a, b) for a, b in zip(reference, new, strict=True) if a + b]
    total = 0.0
    for a, b in cells:
        p = (a + 0.5) / (sum(reference) + len(cells) / 2)
        q = (b + 0.5) / (sum(new) + len(cells) / 2)
        total += (p - q) * math.log(p / q)
    return total


def stability_without_drift(reference, new):
    """Return the mean index of two samples of the pooled shares, over all pairs of counts of each cell."""
    cells = [(a, b) for a, b in zip(reference, new, strict=True) if a + b]
    total = 0.0
    for a, b in cells:
        shares, chances = [], []
        for size in (sum(reference), sum(new)):
            counts = np.arange(size + 1)
            shares.append((counts + 0.5) / (size + len(cells) / 2))
            chances.append(binom.pmf(counts, size, (a + b) / (sum(reference) + sum(new))))
        p, q = shares[0][:, None], shares[1][None, :]
        total += chances[0] @ ((p - q) * np.log(p / q)) @ chances[1]
    return total


def pearson(reference, new):
    """Return Pearson's statistic of the table of two rows, and its degrees of freedom."""
    rows = (sum(reference), sum(new))
    statistic, cells = Fraction(0), 0
    for column in zip(reference, new, strict=True):
        if sum(column):
            cells += 1
            for count, size in zip(column, rows, strict=True):
                expected = Fraction(size * sum(column), sum(rows))
                statistic += (count - expected) ** 2 / expected
    return float(statistic), cells - 1


def drift_between_days(old, new):
    """Return Hotelling's p-value of equal cell shares of two samples, both by day; shape (days, cells).

    Its degrees of freedom are the days of equal size that the days of a sample count as, less 1.
    """
    import numpy as np
    from scipy import stats

    shares, total, alike = [], 0, []
    for table in (np.array(old), np.array(new)):
        share = table.sum(axis=0) / table.sum()
        residuals = [(day - day.sum() * share) / table.sum() for day in table]
        total = total + len(table) / (len(table) - 1) * sum(np.outer(g, g) for g in residuals)
        shares.append(share)
        alike.append(table.sum() ** 2 / (table.sum(axis=1) ** 2).sum())
    change = (shares[1] - shares[0])[:-1]
    statistic = change @ np.linalg.solve(total[:-1, :-1], change)
    m, nu = len(change), min(alike) - 1
    return stats.f.sf(statistic * (nu - m + 1) / (nu * m), m, nu - m + 1)
