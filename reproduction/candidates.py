"""Uncertainties of new rows that anybody can compute beside a model of boosted trees."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

import uqcli
from reproduction.learned import Floats, Ints, convergence_warnings_ignored
from reproduction.tables import Table

NEIGHBOUR, REFERENCE_ROWS, QUERIES = 20, 20_000, 10_000
MEMBERS, TREES = 10, 100
FOREST_LEAF, EVIDENCE_LEAF = 5, 20
NAMES = {
    "distance": f"distance to the {NEIGHBOUR}th training row",
    "leaf_rows": "training rows in the same leaves",
    "seen": "training rows with the rarest category",
    "evidence": "counts of evidence in the leaf of a tree",
    "forest_spread": "spread of a forest",
    "boosted_spread": f"spread of {MEMBERS} boosted models",
}
"""What the columns are, by name."""


@dataclass(frozen=True, kw_only=True)
class Amount:
    """Number of models that are trained.

    Attributes
    ----------
    members
        Boosted models whose spread is a candidate.
    trees
        Trees of the forest.
    """

    members: int = MEMBERS
    trees: int = TREES


def scored(table: Table, amount: Amount, seed: int) -> dict[str, Floats]:
    """Return the score of a boosted model and the candidates beside it, by name.

    Returns
    -------
    float64, shape (m,)
        Of the m rows that did not train, in their order.
    """
    features = table.features()
    draws = np.random.default_rng(seed)
    rows = np.flatnonzero(table.trained)
    members = [
        _boosted(features, table, draws.choice(rows, len(rows)), seed + number)
        for number in range(amount.members)
    ]
    filled = np.nan_to_num(features, nan=-1.0)
    return {
        "score": _boosted(features, table, rows, seed),
        "boosted_spread": np.std(members, axis=0),
        "distance": _distance(table, draws),
        "seen": _seen(table),
        **_forest(filled, table, amount.trees, seed),
        "evidence": _evidence(filled, table, seed),
    }


def _boosted(features: Floats, table: Table, sample: Ints, seed: int) -> Floats:
    """Return the probabilities of new rows by a model that is trained on a sample of the others."""
    from sklearn.ensemble import HistGradientBoostingClassifier

    categories = [*range(table.categories.shape[1])]
    trees = HistGradientBoostingClassifier(categorical_features=categories, random_state=seed)
    with convergence_warnings_ignored():
        trees.fit(features[sample], table.label[sample])
    probability: Floats = trees.predict_proba(features[~table.trained])[:, 1]
    return probability


def _distance(table: Table, draws: np.random.Generator) -> Floats:
    """Return the distance to a neighbour among training rows, in standardised numbers and categories."""
    from sklearn.neighbors import NearestNeighbors

    trained = table.trained
    numbers = table.features()[:, table.categories.shape[1] :]
    mean, scale = np.nanmean(numbers[trained], axis=0), np.nanstd(numbers[trained], axis=0)
    standardised = np.nan_to_num((numbers - mean) / np.where(scale > 0, scale, 1))
    categories = [np.eye(codes.max() + 1, dtype=np.float32)[codes] for codes in table.categories.T]
    places = np.column_stack([standardised, *categories]).astype(np.float32)
    rows = np.flatnonzero(trained)
    reference = draws.permutation(rows)[:REFERENCE_ROWS]
    search = NearestNeighbors(n_neighbors=NEIGHBOUR, algorithm="brute").fit(places[reference])
    new = places[~trained]
    parts = [search.kneighbors(new[first : first + QUERIES])[0] for first in range(0, len(new), QUERIES)]
    distances: Floats = np.concatenate(parts)[:, -1].astype(np.float64)
    return distances


def _seen(table: Table) -> Floats:
    """Return the number of training rows with the row's rarest category."""
    counts = [
        np.bincount(codes[table.trained], minlength=codes.max() + 1)[codes[~table.trained]]
        for codes in np.hstack([table.categories, table.many_valued]).T
    ]
    fewest: Floats = np.min(counts, axis=0).astype(np.float64)
    return fewest


def _forest(features: Floats, table: Table, trees: int, seed: int) -> dict[str, Floats]:
    """Return the mean size of the row's leaves, and the deviation of their positive rates."""
    from sklearn.ensemble import RandomForestClassifier

    forest = RandomForestClassifier(trees, min_samples_leaf=FOREST_LEAF, random_state=seed)
    forest.fit(features[table.trained], table.label[table.trained])
    leaves = zip(
        forest.apply(features[table.trained]).T, forest.apply(features[~table.trained]).T, strict=True
    )
    counts = [_leaf_counts(of_trained, of_new, table) for of_trained, of_new in leaves]
    rows, positives = (np.array(values) for values in zip(*counts, strict=True))
    return {"leaf_rows": rows.mean(axis=0), "forest_spread": (positives / rows).std(axis=0)}


def _evidence(features: Floats, table: Table, seed: int) -> Floats:
    """Return the entropy of the Beta distribution that a leaf's training rows give, as uqcli computes it."""
    from sklearn.tree import DecisionTreeClassifier

    tree = DecisionTreeClassifier(min_samples_leaf=EVIDENCE_LEAF, random_state=seed)
    tree.fit(features[table.trained], table.label[table.trained])
    rows, positives = _leaf_counts(
        tree.apply(features[table.trained]), tree.apply(features[~table.trained]), table
    )
    entropy: Floats = uqcli.uncertainty_of(alpha1=positives + 1, alpha0=rows - positives + 1).beta_entropy
    return entropy


def _leaf_counts(of_trained: Ints, of_new: Ints, table: Table) -> tuple[Floats, Floats]:
    """Count the training rows, and the positive ones, in the leaves of new rows."""
    size = int(max(of_trained.max(), of_new.max())) + 1
    rows = np.bincount(of_trained, minlength=size)[of_new]
    positives = np.bincount(of_trained, table.label[table.trained], minlength=size)[of_new]
    return rows.astype(np.float64), positives.astype(np.float64)
