"""Rows of clusters whose labels depend on each other, with known positive rates."""

import numpy as np
from scipy.special import ndtr


def cluster_of_rows(random, clusters, sizes):
    """Return the cluster of each row; sizes are a number, or "1-30" for uniform ones."""
    rows = random.integers(1, 31, clusters) if sizes == "1-30" else np.full(clusters, sizes)
    return np.repeat(np.arange(clusters), rows)


def normals(random, cluster, correlation):
    """Return standard normal numbers with an intraclass correlation."""
    common = random.normal(size=cluster[-1] + 1)[cluster]
    return np.sqrt(correlation) * common + np.sqrt(1 - correlation) * random.normal(size=len(cluster))


def uniforms(random, cluster, correlation):
    """Return uniform numbers with an intraclass correlation of their normal scores."""
    return ndtr(normals(random, cluster, correlation))


def labels(random, cluster, rate, correlation):
    """Draw labels with these rates, dependent within clusters."""
    return uniforms(random, cluster, correlation) < rate


def sums(cluster, *columns):
    """Add up columns by cluster."""
    return [np.bincount(cluster, weights=column).astype(np.int64) for column in columns]
