"""One exact number of each interval, test and range of rates, from formulas that know no code.

Inputs have what single cases miss: both signs, unequal weights and clusters, several parts of a level.
"""

import math
from fractions import Fraction

import numpy as np
import pytest

from tests.designs import independent, weighted
from tests.oracles.formulas import rates as formulas
from uqcli.base.sampling_weights import WeightSums, units
from uqcli.estimates import paired, proportion, survey, value
from uqcli.estimates.confusion import Rate
from uqcli.estimates.design import CLEARED, FLAGGED, ClusteredRows, flags
from uqcli.estimates.model_assisted import Clusters, ModelAssisted

ODDS = Fraction(1, 3)
SELECTIONS = [((5, 9), (30, 11), (12, 4)), ((3, 2), (30, 11), (12, 9)), ((12, 4), (20, 20), (2, 7))]
"""Positive and negative rows that only the first rule selects, both, and only the second."""

SUCCESSES = [3, 0, 0, 5, 1, 1, 2, 0, 4, 1, 0, 6, 2, 0, 1, 2, 3, 0, 1, 7, 0, 1]
FAILURES = [0, 1, 4, 3, 0, 2, 1, 1, 9, 0, 2, 1, 1, 3, 0, 2, 0, 5, 1, 2, 1, 0]
OTHERS = [1, 1, 1, 6, 0, 3, 1, 0, 9, 1, 0, 4, 3, 1, 0, 1, 2, 2, 1, 4, 1, 1]
"""Successes and failures of clusters, and the successes of another rule among the same rows."""

WEIGHTED = [(i % 2, i % 5 < 3, i % 3 == 0, 1 + i * 7 % 5 + 20 * (i % 11 == 0)) for i in range(300)]
"""Whether each of two rules flags a row, its label and its weight."""


def close(numbers):
    return pytest.approx(numbers, rel=1e-9, abs=1e-12)


def ends(estimate):
    return estimate.low, estimate.high


@pytest.mark.parametrize("confidence", [0.9, 0.99])
def test_exact_and_score_intervals_of_a_proportion(confidence):
    for k, n in ((7, 23), (0, 5), (5, 5)):
        assert proportion.clopper_pearson(k, n, confidence) == close(
            formulas.clopper_pearson(k, n, confidence)
        )
    low, _ = proportion.clopper_pearson(7, 23, confidence)
    assert 1 - formulas.binomial_tail_at_most(6, 23, low) == close((1 - confidence) / 2)
    assert proportion.wilson(0.3, 50.5, 1.645) == close(formulas.wilson(0.3, 50.5, 1.645))


@pytest.mark.parametrize(("gained", "lost"), [(7, 3), (3, 7), (9, 0), (20, 20)])
def test_difference_of_paired_shares(gained, lost):
    found = proportion.shares_interval(gained, lost, 40, 0.9)
    assert found == close(formulas.difference_of_shares(gained, lost, 40, 0.9))
    assert proportion.mcnemar(gained, lost) == close(formulas.mcnemar(gained, lost))


@pytest.mark.parametrize("selections", SELECTIONS)
@pytest.mark.parametrize("confidence", [0.9, 0.99])
def test_difference_of_precisions(selections, confidence):
    chosen = [proportion.Chosen(positives=k, negatives=m) for k, m in selections]
    found = proportion.precisions_interval(*chosen, confidence)
    assert found == close(formulas.difference_of_precisions(*selections, confidence))


@pytest.mark.parametrize("confidence", [0.9, 0.95, 0.99])
def test_net_benefit(confidence):
    for lost, kept, gained in SELECTIONS:
        design = independent(lost, kept, gained, (20, 60), confidence)
        rows = 80 + sum(lost + kept + gained)
        first = [lost[0] + kept[0], lost[1] + kept[1]]
        expected = formulas.net_benefit(first, [1, -ODDS], rows, confidence)
        assert ends(design.net_benefit(flags(0), ODDS)) == close(expected)
        parts, weights = [*gained, *lost], [1, -ODDS, -1, ODDS]
        expected = formulas.net_benefit(parts, weights, rows, confidence)
        assert ends(design.net_benefit_difference(flags(0), flags(1), ODDS)) == close(expected)


def test_net_benefit_stays_within_what_is_possible():
    design = independent((1, 0), (0, 1), (0, 1), (0, 0), 0.99)
    odds = Fraction(3)
    low, high = formulas.net_benefit([0, 1, 1, 0], [1, -3, -1, 3], 3, 0.99)
    assert low < -3
    assert high > 3
    assert ends(design.net_benefit_difference(flags(0), flags(1), odds)) == (-3, 3)


def clustered_rows(confidence):
    """Return 24 clusters by what two rules flag: lost, kept, gained rows of both labels, and the rest."""
    random = np.random.default_rng(1)
    sizes = random.gamma(0.6, 2, (24, 1)) * random.gamma(2, 0.5, (24, 8))
    table = random.poisson(sizes)
    keys = [(f, s) for f in (FLAGGED, CLEARED) for s in (FLAGGED, CLEARED)]
    counts = {(key, label): table[:, 2 * i + label] for i, key in enumerate(keys) for label in (0, 1)}
    counts = {(key, bool(label)): column for (key, label), column in counts.items()}
    return ClusteredRows(confidence=confidence, counts=counts, units="clusters")


def test_net_benefit_over_clusters():
    design = clustered_rows(0.9)
    rows = sum(design.counts.values()).tolist()
    of = {
        (first, second, label): design.counts[
            (FLAGGED if first else CLEARED, FLAGGED if second else CLEARED), label
        ]
        for first in (True, False)
        for second in (True, False)
        for label in (True, False)
    }
    parts = [(of[True, True, label] + of[True, False, label]).tolist() for label in (True, False)]
    expected = formulas.net_benefit_of_clusters(parts, [1, -1 / 3], rows, 0.9)
    assert ends(design.net_benefit(flags(0), ODDS)) == close(expected)
    parts = [of[k, not k, label].tolist() for k in (False, True) for label in (True, False)]
    assert all(map(sum, parts))
    expected = formulas.net_benefit_of_clusters(parts, [1, -1 / 3, -1, 1 / 3], rows, 0.9)
    assert ends(design.net_benefit_difference(flags(0), flags(1), ODDS)) == close(expected)


@pytest.mark.parametrize(
    ("hits", "misses", "alike"),
    [
        (SUCCESSES, FAILURES, 2.02),
        ([9, 1, 0, 8] * 5 + [12], [0, 8, 12, 1] * 5 + [0], 1.09),
        ([1, 2, 0, 1] * 5 + [12], [2, 1, 3, 2] * 5 + [8], 3.26),
    ],
)
def test_proportion_of_clusters(hits, misses, alike):
    law = formulas.clusters(hits, misses)
    assert law.alike == pytest.approx(alike, abs=0.005)
    successes, trials = np.array(hits), np.add(hits, misses)
    assert ends(survey.proportion_interval(successes, trials, 0.9)) == close(law.interval(0.9))
    assert survey.tail_of_clusters(successes, trials, 0.35) == close(law.tail_at(0.35))


def test_proportion_of_clusters_of_one_outcome_each():
    hits = [0 if i % 3 else 1 + i % 7 for i in range(30)]
    misses = [1 + i % 5 if i % 3 else 0 for i in range(30)]
    sizes = np.add(hits, misses)
    further = [formulas.mean_weight(sizes.tolist(), 2)] * 2
    law = formulas.clusters(hits, misses, further=further)
    assert ends(survey.proportion_interval(np.array(hits), sizes, 0.9)) == close(law.interval(0.9))


def test_difference_of_ratios_over_clusters():
    first, second = np.array(SUCCESSES), np.array(OTHERS)
    trials = first + FAILURES
    ratios = [float(k.sum() / trials.sum()) for k in (first, second)]
    residuals = [
        float((t - ratios[1] * n) - (s - ratios[0] * n)) / float(trials.sum())
        for s, t, n in zip(first, second, trials, strict=True)
    ]
    freedom = min(
        sum(s != t for s, t in zip(SUCCESSES, OTHERS, strict=True)) - 1,
        formulas.equal_units([r * r for r in residuals]),
    )
    *interval, p_value = formulas.linearised_difference(residuals, freedom, 0.9, ratios[1] - ratios[0])
    found = survey.ratio_difference((first, trials), (second, trials), 0.9)
    assert ends(found) == close(interval)
    assert found.p_value == close(p_value)


def weights_of(*, flagged=None, label=None):
    return [
        w
        for first, _, y, w in WEIGHTED
        if (flagged is None or first == flagged) and (label is None or y == label)
    ]


def test_rates_and_their_p_values_by_weight():
    design = weighted(WEIGHTED, 0.9)
    hits, misses = weights_of(flagged=True, label=True), weights_of(flagged=True, label=False)
    of_flagged = formulas.mean_weight(hits + misses, 2)
    of_cleared = formulas.mean_weight(weights_of(flagged=False), 2)
    precision = formulas.Unequal(hits, misses, of_flagged, of_flagged)
    assert ends(design.precision(flags(0))) == close(precision.interval(0.9))
    missed = weights_of(flagged=False, label=True)
    recall = formulas.Unequal(hits, missed, of_flagged, of_cleared)
    assert ends(design.share(flags(0), positive=True)) == close(recall.interval(0.9))
    # twice the tail: unequal weights reject too often by a single one
    wrong = formulas.Unequal(misses, hits, of_flagged, of_flagged)
    found = design.bounded(Rate.PRECISION, 0, Fraction(2, 5), upper=False).p_value()
    assert found == close(2 * wrong.tail_at(3 / 5))
    caught = formulas.Unequal(hits, missed, of_flagged, of_cleared)
    found = design.bounded(Rate.RECALL, 0, Fraction(2, 5), upper=True).p_value()
    assert found == close(2 * caught.tail_at(2 / 5))


def test_differences_by_weight():
    design = weighted(WEIGHTED, 0.9)
    positive = [(f, s, w) for f, s, y, w in WEIGHTED if y]
    total = sum(w for *_, w in positive)
    shares = [sum(w for *both, w in positive if both[side]) / total for side in (0, 1)]
    residuals = [w * ((s - shares[1]) - (f - shares[0])) / total for f, s, w in positive]
    expected = compared(residuals, sum(f != s for f, s, _ in positive), shares)
    found = design.difference(flags(0), flags(1), positive=True)
    assert (*ends(found), found.p_value) == close(expected)
    totals = [sum(w for *both, _, w in WEIGHTED if both[side]) for side in (0, 1)]
    rates = [sum(w for *both, y, w in WEIGHTED if both[side] and y) / totals[side] for side in (0, 1)]
    residuals = [
        w * (s * (y - rates[1]) / totals[1] - f * (y - rates[0]) / totals[0])
        for f, s, y, w in WEIGHTED
        if f or s
    ]
    expected = compared(residuals, sum(f != s for f, s, *_ in WEIGHTED), rates)
    assert ends(design.precision_difference(flags(0), flags(1))) == close(expected[:2])


def compared(residuals, differing, rates):
    """Join the formula with the degrees of freedom of single rows: the variance over its largest part."""
    squares = [r * r for r in residuals]
    freedom = min(differing - 1, sum(squares) / max(squares))
    return formulas.linearised_difference(residuals, freedom, 0.9, rates[1] - rates[0])


def test_proportion_of_clusters_by_weight():
    random = np.random.default_rng(4)
    cluster, hit = np.repeat(np.arange(24), 6), random.random(144) < 0.6
    weight = np.where(random.random(144) < 0.1, 12.0, 1.0 + random.integers(0, 3, 144))
    sums = [np.bincount(cluster, weight * mask, 24) for mask in (hit, ~hit)]
    rows = [weight[mask].tolist() for mask in (hit, ~hit)]
    sizes = (sums[0] + sums[1]).tolist()
    further = max(formulas.mean_weight(sizes, 1), formulas.mean_weight(rows[0] + rows[1], 2))
    squares = tuple(sum(w * w for w in part) for part in rows)
    law = formulas.clusters(
        sums[0].tolist(), sums[1].tolist(), row_squares=squares, further=[further, further]
    )
    alike = WeightSums.of(units(weight), np.ones(144, dtype=np.bool_))
    parts = [WeightSums.of(units(weight), mask) for mask in (hit, ~hit)]
    outcomes = survey.RowOutcomes(*parts, alike, alike)
    found = survey.proportion_interval(sums[0], sums[0] + sums[1], 0.9, rows=outcomes)
    assert ends(found) == close(law.interval(0.9))
    found = survey.tail_of_clusters(sums[0], sums[0] + sums[1], 0.5, rows=outcomes)
    assert found == close(law.tail_at(0.5))


def test_exact_test_of_a_bound_and_what_it_detects():
    rate = proportion.BoundedRate(successes=30, trials=40, bound=Fraction(9, 10), upper=False)
    assert rate.p_value() == close(formulas.binomial_tail_at_most(30, 40, Fraction(9, 10)))
    assert rate.detectable(0.02) == close(formulas.detectable_rate(40, 0.9, 0.02))
    rate = proportion.BoundedRate(successes=8, trials=40, bound=Fraction(1, 10), upper=True)
    assert rate.p_value() == close(formulas.binomial_tail_at_most(32, 40, Fraction(9, 10)))
    chances = np.array([0.85, 0.9, 0.93])
    rate = proportion.BoundedRate(
        successes=30, trials=40, bound=Fraction(9, 10), upper=False, chances=chances
    )
    tails = [formulas.binomial_tail_at_most(30, 40, chance) for chance in chances.tolist()]
    assert rate.p_value() == close(sum(tails) / 3)


def test_adjusted_p_values():
    p_values = [0.02, 0.01, 0.03, 0.5]
    found = proportion.holm(dict(enumerate(p_values)))
    assert [found[i] for i in range(4)] == close(formulas.holm(p_values))
    assert formulas.holm(p_values) == close([0.06, 0.04, 0.06, 0.5])


def test_flagged_new_rows():
    for selected, rows, new in ((9, 60, 50), (0, 30, 40), (25, 28, 20)):
        expected = formulas.flagged_interval(selected, rows, new, 0.95)
        assert proportion.flagged_interval(selected, rows, new, 0.95) == expected


GAINS = [5, 9, 14, 3, 3, 8, 21, 7, 6, 4, 11]
LOSSES = [2, 6, 3, 9, 4]


@pytest.mark.parametrize(("gains", "losses"), [(GAINS, LOSSES), (LOSSES, GAINS), (GAINS, [])])
def test_range_of_a_value(gains, losses):
    net = value.Net(
        gains=value.Moments.of(np.array(gains)),
        losses=value.Moments.of(np.array(losses, dtype=np.int64)),
        largest_gain=25,
        largest_loss=23,
    )
    assert net.limits(0.9) == close(formulas.value_range(gains, losses, 25, 23, 0.9))


def test_share_of_all_gain():
    part, others = GAINS * 4, LOSSES * 9
    whole = value.Moments.of(np.array(part + others))
    for chosen, rest in ((part, others), (others, part)):
        found = value.share_margin(value.Moments.of(np.array(chosen)), whole, 0.9)
        assert found == close(formulas.share_of_total(chosen, rest, 0.9))


def test_mean_loss_over_clusters():
    random = np.random.default_rng(2)
    cluster = np.repeat(np.arange(25), 2 + np.arange(25) % 9)
    positive = random.random(len(cluster)) < 0.4
    before = random.beta(1 + positive, 2 - positive).round(2).clip(0.01, 0.99)
    after = ((before + random.random(len(cluster))) / 2).round(3)
    pairs = paired.ClusteredPairs.from_scores(before, after, positive, np.ones_like(cluster), cluster)
    found = pairs.with_errors()["brier"]["difference"]
    losses = ((after - positive) ** 2 - (before - positive) ** 2).tolist()
    expected = formulas.mean_over_clusters(losses, cluster.tolist())
    assert (found.value, found.error, found.freedom) == close(expected)


def test_equal_areas_under_the_curve():
    random = np.random.default_rng(3)
    positive = np.arange(60) % 4 == 0
    before = random.normal(positive, 1.0).round(1)
    after = (before + random.normal(0.6 * positive, 1)).round(1)
    found = paired.PairedCounts.from_predictions(before, after, positive, None).delong_p_value()
    assert found == close(formulas.delong(before.tolist(), after.tolist(), positive.tolist()))


def test_model_assisted_rates():
    random = np.random.default_rng(5)
    probability = random.beta(1, 2, 900).round(3)
    chosen, label = probability > 0.5, random.random(900) < 0.9 * probability
    inclusion = np.where(chosen, 0.8, 0.5)
    known = random.random(900) < inclusion
    assisted = ModelAssisted(
        chosen=chosen[known],
        label=label[known],
        probability=probability[known],
        weight=1 / inclusion[known],
        count=np.ones(int(known.sum()), dtype=np.int64),
        expected=tuple(math.fsum(probability[part].tolist()) for part in (chosen, ~chosen)),
        rows=(int(chosen.sum()), int((~chosen).sum())),
        confidence=0.9,
    )
    rows = list(zip(chosen.tolist(), probability.tolist(), strict=True))
    columns = (column[known].tolist() for column in (chosen, probability, label, inclusion))
    labelled = list(zip(*columns, strict=True))
    for positive in (True, False):
        if not positive:
            rows = [(z, 1 - p) for z, p in rows]
            labelled = [(z, 1 - p, 1 - y, pi) for z, p, y, pi in labelled]
        found = assisted.share(positive=positive)
        expected = formulas.model_assisted_share(rows, labelled, 0.9)
        assert (found.value, *ends(found)) == close(expected)
    found = assisted.prevalence().complement()
    expected = formulas.model_assisted_prevalence(rows, labelled, 0.9)
    assert (found.value, *ends(found)) == close(expected)


def test_model_assisted_share_over_clusters():
    random = np.random.default_rng(6)
    cluster = np.repeat(np.arange(60), 5 + np.arange(60) % 21)
    size, raised = len(cluster), random.normal(0, 0.2, 60)[cluster]
    probability = random.beta(1, 2, size).round(3)
    chosen, label = probability > 0.5, random.random(size) < probability + raised
    known = random.random(size) < 0.5

    def by_cluster(amount):
        return np.array([np.bincount(cluster, amount * part, 60) for part in (chosen, ~chosen)])

    assisted = ModelAssisted(
        chosen=chosen[known],
        label=label[known],
        probability=probability[known],
        weight=np.full(int(known.sum()), 2.0),
        count=np.ones(int(known.sum()), dtype=np.int64),
        expected=tuple(math.fsum(probability[part].tolist()) for part in (chosen, ~chosen)),
        rows=(int(chosen.sum()), int((~chosen).sum())),
        confidence=0.9,
        clusters=Clusters(of=cluster[known], expected=by_cluster(probability), rows=by_cluster(1.0)),
    )
    rows = list(zip(chosen.tolist(), probability.tolist(), cluster.tolist(), strict=True))
    columns = (column[known].tolist() for column in (chosen, probability, label))
    labelled = [(*row, 0.5, c) for *row, c in zip(*columns, cluster[known].tolist(), strict=True)]
    found = assisted.share(positive=True)
    expected = formulas.model_assisted_share_of_clusters(rows, labelled, 0.9)
    assert (found.value, *ends(found)) == close(expected)
