"""Strategies of rows of several classes: with ties and edge cases, or from a known mixture."""

import numpy as np
from hypothesis import strategies as st
from scipy import stats


@st.composite
def problems(draw):
    """Draw labels, uniforms, and class probabilities with ties."""
    classes = draw(st.integers(2, 5))
    rows = draw(st.integers(1, 12))
    masses = draw(
        st.lists(
            st.lists(st.integers(0, 4), min_size=classes, max_size=classes).filter(any),
            min_size=rows,
            max_size=rows,
        )
    )
    probability = np.array([[mass / sum(row) for mass in row] for row in masses])
    label = np.array(draw(st.lists(st.integers(0, classes - 1), min_size=rows, max_size=rows)))
    uniform = np.array(draw(st.lists(st.floats(0, 1), min_size=rows, max_size=rows)))
    return probability, label, uniform


def gaussian_mixture(random, rows, prior, classes=3):
    """Draw labels and features of a Gaussian mixture with these class priors."""
    label = random.choice(classes, rows, p=prior)
    x = random.normal(1.5 * label, 1.0)
    return label, x


def posterior(x, prior):
    joint = np.stack([q * stats.norm.pdf(x, 1.5 * k, 1.0) for k, q in enumerate(prior)], axis=1)
    return joint / joint.sum(axis=1, keepdims=True)


SOURCE, TARGET = np.array([0.6, 0.3, 0.1]), np.array([0.1, 0.3, 0.6])
