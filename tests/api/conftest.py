"""Fixtures of rows in memory, and of the same rows in files."""

import json

import numpy as np
import polars as pl
import pytest


@pytest.fixture(autouse=True)
def _few_draws(few_draws):
    """Draw less often in this folder."""


@pytest.fixture(scope="session")
def rows():
    """Draw scores whose positive rate depends on the uncertainty, with labels, weights and features."""
    random = np.random.default_rng(3)
    size = 900
    score, uncertainty = random.random(size).round(3), random.normal(size=size).round(3)
    label = random.random(size) < np.clip(score - 0.25 * (uncertainty > 0), 0, 1)
    return {
        "score": score,
        "uncertainty": uncertainty,
        "label": label.astype(np.int64),
        "weight": random.integers(0, 4, size),
        "age": random.integers(18, 80, size).astype(np.float64),
        "city": random.choice(["A", "B", "é"], size),
        "group": random.choice(["x", "y"], size),
        "alpha1": 1 + 9 * score,
        "alpha0": 10 - 9 * score,
        "by": random.choice(["10", "9", "é"], size, p=[0.6, 0.3, 0.1]),
    }


@pytest.fixture(scope="session")
def classes():
    """Draw probabilities of four classes in columns ``p_a`` to ``p_d``, with labels and groups."""
    random = np.random.default_rng(4)
    probability = random.dirichlet(np.ones(4), 800)
    label_number = (probability.cumsum(axis=1) < random.random((800, 1))).sum(axis=1).clip(0, 3)
    columns = {f"p_{name}": probability[:, index] for index, name in enumerate("abcd")}
    return {
        **columns,
        "label": np.array(list("abcd"))[label_number],
        "group": random.choice(["x", "y"], 800),
        "by": random.integers(8, 11, 800),
    }


@pytest.fixture(scope="session")
def folder(tmp_path_factory, rows, classes):
    """Write rows.parquet and classes.parquet, and the last rows of the classes as target.parquet."""
    folder = tmp_path_factory.mktemp("api")
    pl.DataFrame(rows).write_parquet(folder / "rows.parquet")
    pl.DataFrame(classes).write_parquet(folder / "classes.parquet")
    pl.DataFrame(classes).tail(300).write_parquet(folder / "target.parquet")
    return folder


@pytest.fixture(scope="session")
def probability(classes):
    """Stack the probabilities alone, shape (n, 4)."""
    return np.stack([classes[f"p_{name}"] for name in "abcd"], axis=1)


def without_rows_read(text):
    """Return the JSON report of a command without the rows that it read, which functions do not count."""
    report = json.loads(text)
    report["source"].pop("read", None)
    for part in (report, *report.get("results", ())):
        part.get("metrics", {}).pop("dropped_share", None)
    return json.dumps(report, indent=2, ensure_ascii=False) + "\n"
