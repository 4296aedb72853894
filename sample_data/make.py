"""Writes the sample files: cross-validated predictions of tree ensembles on scikit-learn's digits.

The models are weak on purpose (shallow trees on 4 x 4 thumbnails), so that precision costs recall.
Equal library versions write files with equal bytes.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from pathlib import Path

import numpy as np
from numpy.typing import NDArray
from scipy.special import betaln, digamma
from sklearn.datasets import load_digits
from sklearn.model_selection import StratifiedKFold
from sklearn.tree import DecisionTreeClassifier

Floats = NDArray[np.float64]
Ints = NDArray[np.int64]

HERE = Path(__file__).resolve().parent
SEED = 0
FOLDS = 5
MEMBERS = 20
UNDERSAMPLING = 3
MILLION = 1_000_000


def thumbnails(images: Floats) -> Floats:
    """Sum 2 x 2 blocks of pixels: shape (n, 8, 8) to (n, 16)."""
    blocks: Floats = images.reshape(-1, 4, 2, 4, 2).sum(axis=(2, 4))
    return blocks.reshape(-1, 16)


def undersample(rows: Ints, label: Ints, rng: np.random.Generator) -> Ints:
    """Keep all positives among the rows and one negative in ``UNDERSAMPLING``."""
    negatives = rows[label[rows] == 0]
    sampled_negatives = rng.choice(negatives, len(negatives) // UNDERSAMPLING, replace=False)
    return np.concatenate([rows[label[rows] == 1], sampled_negatives])


def cross_validated(
    pixels: Floats, target: Ints, digit: Ints, *, depth: int, leaf: int, undersampled: bool
) -> Floats:
    """Return the class probabilities of each member for rows it was not trained on.

    Returns
    -------
    float64, shape (MEMBERS, n, classes)
        Each member is a tree on a bootstrap sample, drawn after undersampling if ``undersampled``.
    """
    rng = np.random.default_rng(SEED)
    probability = np.empty((MEMBERS, len(target), len(np.unique(target))))
    # Folds are stratified by digit, so that every digit is in every training set.
    for train, held_out in StratifiedKFold(FOLDS, shuffle=True, random_state=SEED).split(pixels, digit):
        for member in range(MEMBERS):
            rows = undersample(train, target, rng) if undersampled else train
            sample = rng.choice(rows, len(rows))
            tree = DecisionTreeClassifier(max_depth=depth, min_samples_leaf=leaf, random_state=member)
            tree.fit(pixels[sample], target[sample])
            probability[member, held_out] = tree.predict_proba(pixels[held_out])
    return probability


def beta_entropy(probability: Floats) -> Floats:
    """Return the differential entropy, in nats, of the beta distribution with the members' mean and variance.

    Parameters
    ----------
    probability : float64, shape (MEMBERS, n)
    """
    # No beta distribution fits members that agree exactly, or are all 0 or 1: its entropy would be
    # minus infinity. So the mean is at least 0.001 away from 0 and 1, and the standard deviation is
    # at least 0.001. The variance stays below that of a Bernoulli variable with the same mean.
    mean = np.clip(probability.mean(axis=0), 1e-3, 1 - 1e-3)
    bernoulli_variance = mean * (1 - mean)
    variance = np.clip(probability.var(axis=0), 1e-6, 0.99 * bernoulli_variance)
    strength = bernoulli_variance / variance - 1
    a, b = mean * strength, (1 - mean) * strength
    entropy: Floats = (
        betaln(a, b) - (a - 1) * digamma(a) - (b - 1) * digamma(b) + (a + b - 2) * digamma(a + b)
    )
    return entropy


def millionths(probability: Floats) -> Ints:
    """Round probabilities to integer millionths; each row sums to exactly one million."""
    parts = np.rint(probability * MILLION).astype(np.int64)
    # The largest class takes the rounding error, where its relative size is smallest.
    parts[np.arange(len(parts)), parts.argmax(axis=1)] += MILLION - parts.sum(axis=1)
    return parts


def write(name: str, header: Sequence[str], table: Iterable[Sequence[str]], rows: Ints) -> None:
    """Write the header and the chosen rows as a CSV file beside this script."""
    lines = [",".join(line) for line in table]
    text = "\n".join([",".join(header), *(lines[row] for row in rows), ""])
    (HERE / name).write_text(text, encoding="utf-8", newline="\n")
    print(f"{name}: {len(rows)} rows")


def binary_table(pixels: Floats, digit: Ints) -> list[list[str]]:
    """Return rows of id, score, uncertainty, label and digit for "is this digit even"."""
    label = (digit % 2 == 0).astype(np.int64)
    members = cross_validated(pixels, label, digit, depth=4, leaf=5, undersampled=True)[:, :, 1]
    columns = zip(members.mean(axis=0), beta_entropy(members), label, digit, strict=True)
    # Six decimals hide differences in the last bits of floating-point sums.
    return [
        [f"{row:05d}", f"{s:.6f}", f"{u:.6f}", str(y), str(d)] for row, (s, u, y, d) in enumerate(columns)
    ]


def ten_class_table(pixels: Floats, digit: Ints) -> list[list[str]]:
    """Return rows of id, ten class probabilities and label for "which digit is this"."""
    parts = millionths(
        cross_validated(pixels, digit, digit, depth=6, leaf=3, undersampled=False).mean(axis=0)
    )
    return [
        [f"{row:05d}", *(f"{part / MILLION:.6f}" for part in row_of_parts), str(d)]
        for row, (row_of_parts, d) in enumerate(zip(parts, digit, strict=True))
    ]


def main() -> None:
    """Write the four files."""
    digits = load_digits()
    pixels, digit = thumbnails(digits.images), digits.target.astype(np.int64)
    shuffled = np.random.default_rng([SEED, 1]).permutation(len(digit))
    halves = {"holdout": np.sort(shuffled[::2]), "new": np.sort(shuffled[1::2])}
    binary, ten_class = binary_table(pixels, digit), ten_class_table(pixels, digit)
    classes = [f"p_{d}" for d in range(10)]
    for half, rows in halves.items():
        write(f"digits_{half}.csv", ["id", "score", "uncertainty", "label", "digit"], binary, rows)
        write(f"digits_proba_{half}.csv", ["id", *classes, "label"], ten_class, rows)


if __name__ == "__main__":
    main()
