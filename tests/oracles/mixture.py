"""Oracle of the test of label shift: loops over days, classes and cells, and a search over all mixtures."""

import itertools

import numpy as np
from scipy import optimize, stats


def merged(columns):
    """Return the cells that are merged, from the lowest up; each must hold five rows of every column."""
    groups, current = [], []
    for cell in range(len(columns[0])):
        current.append(cell)
        if all(sum(column[each] for each in current) >= 5 for column in columns):
            groups.append(current)
            current = []
    if groups:
        groups[-1] += current
    return groups or [current]


def distance(source, target, mixture, by_day):
    """Return the distance of the target from a mixture.

    Parameters
    ----------
    source : shape (days, classes, cells)
    target : shape (days, cells)
    """
    cells = source.shape[2]
    shares = [row / row.sum() for row in source.sum(axis=0)]
    new = target.sum(axis=0) / target.sum()
    residual = new - sum(q * f for q, f in zip(mixture, shares, strict=True))
    covariance = np.zeros((cells, cells))
    if by_day:
        used = [day for day in target if day.sum()]
        for day in used:
            g = (day - day.sum() * new) / target.sum()
            covariance += len(used) / (len(used) - 1) * np.outer(g, g)
        used = [day for day in source if day.sum()]
        for day in used:
            g = sum(
                q * (row - row.sum() * f) / source[:, c].sum()
                for c, (q, f, row) in enumerate(zip(mixture, shares, day, strict=True))
            )
            covariance += len(used) / (len(used) - 1) * np.outer(g, g)
    else:
        smooth = [(row + 0.5) / (row.sum() + 0.5 * cells) for row in source.sum(axis=0)]
        mix = sum(q * f for q, f in zip(mixture, smooth, strict=True))
        covariance += (np.diag(mix) - np.outer(mix, mix)) / target.sum()
        for q, f, rows in zip(mixture, smooth, source.sum(axis=(0, 2)), strict=True):
            covariance += q**2 * (np.diag(f) - np.outer(f, f)) / rows
    return float(residual[:-1] @ np.linalg.solve(covariance[:-1, :-1], residual[:-1]))


def least_distance(source, target, by_day):
    """Return the least distance: a grid of mixtures, then a search from its best points."""
    classes = source.shape[1]
    steps = 40 if classes == 2 else 14
    grid = [
        np.array(shares) / steps
        for shares in itertools.product(range(steps + 1), repeat=classes)
        if sum(shares) == steps
    ]
    values = [distance(source, target, mixture, by_day) for mixture in grid]
    best = min(values)
    for index in np.argsort(values)[:4]:
        found = optimize.minimize(
            lambda q: distance(source, target, np.abs(q) / np.abs(q).sum(), by_day),
            grid[index] + 1e-9,
            method="Nelder-Mead",
            options={"xatol": 1e-10, "fatol": 1e-12, "maxiter": 4000},
        )
        best = min(best, float(found.fun))
    return best


def alike(table):
    """Return as how many days of equal size the days of a table count."""
    sizes = [int(day.sum()) for day in table]
    return sum(sizes) ** 2 / sum(size**2 for size in sizes)


def p_value(source, target, by_day):
    """Return the p-value; None if the test has no answer."""
    source, target = np.array(source), np.array(target)
    classes = source.shape[1]
    by_class, rows = source.sum(axis=0), target.sum(axis=0)
    if by_class.sum(axis=1).min() < (20 if classes > 2 else 1):
        return None
    groups = merged([*by_class, rows] if classes == 2 else [by_class.sum(axis=0), rows])
    if len(groups) <= classes:
        return None
    source = np.stack([source[..., group].sum(axis=-1) for group in groups], axis=-1)
    target = np.stack([target[..., group].sum(axis=-1) for group in groups], axis=-1)
    m = len(groups) - classes
    days = min(alike(source), alike(target))
    nu = (days if by_day else min(*by_class.sum(axis=1), rows.sum())) - 1
    if nu < m + 4:
        return None
    return stats.f.sf(least_distance(source, target, by_day) * (nu - m + 1) / (nu * m), m, nu - m + 1)
