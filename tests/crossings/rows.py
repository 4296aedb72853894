"""Rows with ties, weights, groups, days and 32-bit scores; whole, with holes, shuffled and repeated."""

from functools import cache

import numpy as np
import polars as pl

CLASSES = ("a", "b", "c")


@cache
def rows(size=420, seed=1):
    """Draw rows; scores and probabilities are 32-bit numbers with ties, of few digits as text."""
    random = np.random.default_rng(seed)
    score = (random.integers(1, 40, size) / 40).astype(np.float32)
    uncertainty = (random.integers(0, 12, size) / 12).astype(np.float32)
    label = random.random(size) < np.clip(score * (1.15 - 0.4 * uncertainty), 0, 1)
    p = random.dirichlet([0.7] * 3, size)
    named = [CLASSES[index] for index in (p.cumsum(axis=1) < random.random((size, 1))).sum(axis=1).clip(0, 2)]
    numbers = np.arange(size)
    return pl.DataFrame(
        {
            "score": score,
            "uncertainty": uncertainty,
            "label": label.astype(int),
            "outcome": np.where(label, "fraud", "fine"),
            "second": np.clip(score + (numbers % 5 - 2) / 50, 0, 1).astype(np.float32),
            "w": random.integers(0, 4, size),
            "sw": random.choice([1.0, 1.5, 2.25, 4.0], size),
            "g": random.choice(["x", "y", "z"], size, p=[0.5, 0.3, 0.2]),
            "h": random.choice(["k", "l"], size),
            "c": random.integers(0, 90, size),
            "d": [f"2026-03-{1 + number % 25:02}" for number in random.integers(0, 25, size)],
            "gain": (random.integers(1, 900, size) / 4).round(2),
            "cost": (random.integers(1, 200, size) / 8).round(3),
            "age": random.integers(18, 80, size),
            "p_a": p[:, 0].astype(np.float32),
            "p_b": p[:, 1].astype(np.float32),
            "p_c": (1 - p[:, 0].astype(np.float32) - p[:, 1].astype(np.float32)).clip(0, 1),
            "class": named,
            "alpha1": 1 + random.integers(0, 50, size) / 5,
            "alpha0": 1 + random.integers(0, 50, size) / 5,
            "id": numbers,
        }
    )


_OF_HOLES = {"g": "v", "h": "m", "c": 99, "d": "2026-03-27"}
"""Values of groups, customers and days that only rows with a hole have."""


def with_holes(frame, columns):
    """Return the rows with missing values in each of some columns, some of them in groups of their own."""
    holes = {}
    for column in columns:
        random = np.random.default_rng(sum(map(ord, column)))
        holes[column] = random.random(len(frame)) < 0.03
    unusable = [hole for column, hole in holes.items() if column not in _OF_HOLES]
    alone = pl.Series(
        np.any([np.zeros(len(frame), bool), *unusable], axis=0) & (np.arange(len(frame)) % 2 == 0)
    )
    frame = frame.with_columns(
        pl.when(alone).then(pl.lit(value)).otherwise(pl.col(column)).alias(column)
        for column, value in _OF_HOLES.items()
    )
    return frame.with_columns(
        pl.when(pl.Series(hole)).then(None).otherwise(pl.col(column)).alias(column)
        for column, hole in holes.items()
    )


def shuffled(frame):
    """Return the rows in another order."""
    return (
        frame.select(pl.all().shuffle(3))
        if frame.is_empty()
        else frame.sample(fraction=1, shuffle=True, seed=3)
    )


def repeated(frame, weight):
    """Return each row as often as its weight says."""
    return frame.select(pl.all().repeat_by(weight)).explode(pl.all()).drop_nulls("id")
