"""Rates from few labels and the probabilities of all rows."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.oracles.model_assisted import assisted
from uqcli.estimates.estimate import Estimate
from uqcli.estimates.model_assisted import Clusters, ModelAssisted, ratio_of_labels, shorter


def population(seed, rows=400, shift=0.0, clusters=0):
    """Return the labelled rows of a population, and what the oracle reads."""
    random = np.random.default_rng(seed)
    logit = random.normal(size=rows)
    label = random.random(rows) < 1 / (1 + np.exp(-logit))
    probability, flagged = 1 / (1 + np.exp(-logit - shift)), logit > random.normal(size=rows)
    inclusion = random.uniform(0.2, 1, rows)
    known = np.flatnonzero(random.random(rows) < inclusion)
    cluster = random.integers(0, max(1, clusters), rows)

    def by_cluster(value):
        return np.array(
            [
                [value[(cluster == index) & part].sum() for index in range(clusters)]
                for part in (flagged, ~flagged)
            ]
        )

    sample = ModelAssisted(
        chosen=flagged[known],
        label=label[known],
        probability=probability[known],
        weight=1 / inclusion[known],
        count=np.ones(len(known), dtype=np.int64),
        expected=(probability[flagged].sum(), probability[~flagged].sum()),
        rows=(int(flagged.sum()), int((~flagged).sum())),
        confidence=0.9,
        clusters=Clusters(of=cluster[known], expected=by_cluster(probability), rows=by_cluster(np.ones(rows)))
        if clusters
        else None,
    )
    columns = probability, flagged, label, inclusion
    every = list(zip(probability, flagged, strict=True))
    labelled = list(zip(*(column[known] for column in columns), strict=True))
    return sample, every, labelled, (cluster.tolist(), cluster[known].tolist())


RATES = {
    "recall": (lambda flagged, label: flagged * label, lambda _, label: label),
    "fpr": (lambda flagged, label: flagged * (1 - label), lambda _, label: 1 - label),
}


@given(seed=st.integers(0, 10**6), shift=st.floats(-2, 2), rate=st.sampled_from(sorted(RATES)))
def test_rates_equal_those_added_up_row_by_row(seed, shift, rate):
    sample, every, labelled, _ = population(seed, shift=shift)
    result = sample.share(positive=rate == "recall")
    if result is not None:
        expected = assisted(every, labelled, *RATES[rate], 0.9)
        assert (result.value, result.low, result.high) == pytest.approx(expected, rel=1e-9)


@given(seed=st.integers(0, 10**6), shift=st.floats(-2, 2), rate=st.sampled_from(sorted(RATES)))
def test_clusters_vary_by_the_sums_of_their_rows(seed, shift, rate):
    sample, every, labelled, clusters = population(seed, shift=shift, clusters=150)
    result = sample.share(positive=rate == "recall")
    if result is not None:
        expected = assisted(every, labelled, *RATES[rate], 0.9, clusters)
        assert (result.value, result.low, result.high) == pytest.approx(expected, rel=1e-9)


def test_few_clusters_have_no_assisted_interval():
    shown = [population(0, clusters=clusters)[0].share(positive=True) for clusters in (15, 150)]
    assert shown[0] is None
    assert shown[1] is not None


def test_most_of_these_populations_have_enough_labels():
    shown = [population(seed)[0].share(positive=True) is not None for seed in range(40)]
    assert sum(shown) > 20


@given(seed=st.integers(0, 10**6))
def test_the_share_of_positives_is_corrected_by_the_weighted_errors(seed):
    sample, every, labelled, _ = population(seed)
    errors = sum((label - probability) / inclusion for probability, _, label, inclusion in labelled)
    expected = (sum(probability for probability, _ in every) + errors) / len(every)
    assert sample.prevalence().value == pytest.approx(expected, rel=1e-9)


def test_nine_labelled_positives_of_a_kind_are_too_few():
    random = np.random.default_rng(0)
    label, chosen = np.arange(100) < 40, np.arange(100) < 10

    def share(chosen):
        return ModelAssisted(
            chosen=chosen,
            label=label,
            probability=random.random(100),
            weight=np.full(100, 10.0),
            count=np.ones(100, dtype=np.int64),
            expected=(60.0, 400.0),
            rows=(100, 900),
            confidence=0.95,
        ).share(positive=True)

    assert share(chosen) is not None
    assert share(np.arange(100) < 9) is None


@pytest.mark.parametrize(("width", "is_shorter"), [(0.2, True), (0.209, True), (0.211, False)])
def test_the_plain_estimate_stays_where_the_other_is_five_percent_wider(width, is_shorter):
    plain, other = (Estimate(value=0.5, low=0.4, high=0.4 + size) for size in (0.2, width))
    assert shorter(plain, other) is is_shorter
    assert ratio_of_labels(plain, other) == pytest.approx((0.2 / width) ** 2)
