"""Simulations of figures over clusters and by weight, and of tests of groups and segments."""

from fractions import Fraction
from types import SimpleNamespace

import numpy as np
import polars as pl
import pytest
from scipy.special import ndtr

from tests.statistical.clustered import cluster_of_rows, labels, normals
from tests.statistical.levels import highest, lowest, repetitions
from tests.statistical.test_clusters import successes
from uqcli.audit.run import ClusteredOutcomes, audit_rate
from uqcli.base.choices import OnInvalid
from uqcli.base.counts import Feature
from uqcli.base.rows import Rows
from uqcli.base.sampling_weights import WeightSums, units
from uqcli.boundary.search.typed_constraints import constraint_from
from uqcli.engines.request import DataRequest, Roles, in_memory
from uqcli.estimates.confusion import Rate
from uqcli.estimates.design import CLEARED, FLAGGED, WeightedRows, flags
from uqcli.evaluate.decisions import DecisionTally, units_of
from uqcli.evaluate.groups import BoundedGroup, group_evaluation
from uqcli.evaluate.labelled_part import labelled_parts

REPETITIONS = repetitions(60) * 3 // 2
COVERED = 0.93
NOISE = 0.6
COST = 15
MONEY = constraint_from(gain="gain", cost=str(COST))


def two_models(random, cluster, correlation):
    """Return true probabilities, and those of a noisy model."""
    truth, noise = (normals(random, cluster, correlation) for _ in range(2))
    return ndtr(truth), ndtr(NOISE * truth + np.sqrt(1 - NOISE**2) * noise)


@pytest.fixture(scope="module")
def population():
    return two_models(np.random.default_rng(0), np.arange(1_000_000), 0)


def tally_of(cluster, scores, cut, label, numbers, **options):
    """Count the decisions of two rules with one threshold."""
    tally = DecisionTally(2, units_of(None, "cluster"), **options)
    rows = Rows(numbers={"score": scores[0], **numbers}, positive=label, groups={"cluster": cluster})
    tally.add(rows, [np.where(score >= cut, FLAGGED, CLEARED) for score in scores])
    return tally


class Coverage:
    """How often the intervals of named figures cover their true values.

    An interval that is printed for fewer than a quarter of the draws is not judged: too few show its level.
    """

    def __init__(self, truth):
        self.truth, self.made, self.covered = truth, dict.fromkeys(truth, 0), dict.fromkeys(truth, 0)

    def add(self, estimates):
        for (name, true_value), estimate in zip(self.truth.items(), estimates, strict=True):
            if estimate.low is not None:
                self.made[name] += 1
                self.covered[name] += estimate.low - 1e-9 <= true_value <= estimate.high + 1e-9

    def check(self):
        for name, made in self.made.items():
            if made < REPETITIONS / 4:
                continue
            assert self.covered[name] >= made * lowest(COVERED, made, drawn=REPETITIONS), (
                name,
                self.covered,
                self.made,
            )


@pytest.mark.parametrize("odds", [Fraction(1, 4), Fraction(7, 3), Fraction(19)], ids=str)
@pytest.mark.parametrize("correlation", [0, 0.1, 0.5])
@pytest.mark.parametrize("clusters", [20, 50, 300])
def test_net_benefits_of_clusters_are_covered(clusters, correlation, odds, population):
    cut = 0.8 if odds < 10 else 0.95
    benefits = [
        (population[0][flagged].sum() - float(odds) * (1 - population[0][flagged]).sum()) / len(population[0])
        for flagged in (population[0] >= cut, population[1] >= cut)
    ]
    for sizes in (5, "1-30"):
        coverage = Coverage({"one": benefits[0], "difference": benefits[1] - benefits[0]})
        for seed in range(REPETITIONS):
            random = np.random.default_rng([clusters, int(10 * correlation), seed])
            cluster = cluster_of_rows(random, clusters, sizes)
            scores = two_models(random, cluster, correlation)
            label = labels(random, cluster, scores[0], correlation)
            design = tally_of(cluster, scores, cut, label, {}).of_all(0.95, "clusters")
            coverage.add(
                [design.net_benefit(flags(0), odds), design.net_benefit_difference(flags(0), flags(1), odds)]
            )
        coverage.check()


AMOUNTS = {
    "log-normal": lambda random, size: np.exp(random.normal(3, 1, size)),
    "heavy log-normal": lambda random, size: np.exp(random.normal(3, 1.5, size)),
    "Pareto": lambda random, size: 20 * (1 + random.pareto(2.2, size)),
    "uniform": lambda random, size: random.uniform(0, 100, size),
}


@pytest.mark.parametrize("amounts", AMOUNTS)
@pytest.mark.parametrize("correlation", [0, 0.5])
@pytest.mark.parametrize("clusters", [20, 100, 300])
def test_values_of_clusters_are_covered(clusters, correlation, amounts, population):
    draw, cut = AMOUNTS[amounts], 0.8
    mean, chance = draw(np.random.default_rng(0), 5_000_000).mean(), population[0]
    flagged = [score >= cut for score in population]
    per_row = [
        (chance[mask].sum() * mean - COST * (1 - chance[mask]).sum()) / len(chance) for mask in flagged
    ]
    shares = [chance[mask].sum() / chance.sum() for mask in flagged]
    for alike in (False, True):
        rows = 5 * clusters
        truth = {
            "value": rows * per_row[0],
            "share": shares[0],
            "difference": rows * (per_row[1] - per_row[0]),
            "difference of shares": shares[1] - shares[0],
        }
        coverage = Coverage(truth)
        for seed in range(REPETITIONS):
            random = np.random.default_rng([clusters, int(10 * correlation), seed, alike])
            cluster = cluster_of_rows(random, clusters, 5)
            scores = two_models(random, cluster, correlation)
            label = labels(random, cluster, scores[0], correlation)
            amount = (draw(random, clusters)[cluster] if alike else draw(random, rows)).round(4)
            tally = tally_of(cluster, scores, cut, label, {"gain": amount}, utility=[MONEY])
            (worth,) = tally.amounts(0.95)
            coverage.add([*worth.worth(flags(0))[:2], *worth.difference(flags(0), flags(1))[:2]])
        coverage.check()


PROBABILITIES = {
    "flagged rows ten times as often": lambda random, score: np.where(score >= 0.8, 1.0, 0.1),
    "log-normal weights": lambda random, score: np.exp(-np.abs(random.normal(0, 1.5, len(score)))),
    "a few heavy rows": lambda random, score: np.where(random.random(len(score)) < 0.03, 0.01, 1.0),
    "by score": lambda random, score: np.clip(0.05 + score, 0, 1),
}


@pytest.mark.parametrize("drawn", PROBABILITIES)
@pytest.mark.parametrize("correlation", [0, 0.1, 0.5])
@pytest.mark.parametrize("clusters", [60, 150, 300])
def test_rates_of_clusters_by_weight_are_covered(clusters, correlation, drawn, population):
    cut, chance, odds = 0.8, population[0], Fraction(7, 3)
    rates = [
        (
            chance[mask].mean(),
            chance[mask].sum() / chance.sum(),
            (1 - chance[mask]).sum() / (1 - chance).sum(),
            (chance[mask].sum() - float(odds) * (1 - chance[mask]).sum()) / len(chance),
        )
        for mask in (population[0] >= cut, population[1] >= cut)
    ]
    names = ("precision", "recall", "fpr", "net benefit")
    truth = dict(zip(names, rates[0], strict=True))
    truth |= {
        f"difference of {name}": second - first
        for name, first, second in zip(names, *rates, strict=True)
        if name != "fpr"
    }
    coverage = Coverage(truth)
    for seed in range(REPETITIONS):
        random = np.random.default_rng([clusters, int(10 * correlation), seed])
        cluster = cluster_of_rows(random, clusters, 5)
        scores = two_models(random, cluster, correlation)
        label = labels(random, cluster, scores[0], correlation)
        probability = PROBABILITIES[drawn](random, scores[0])
        taken = random.random(len(cluster)) < probability
        design = tally_of(
            np.unique(cluster[taken], return_inverse=True)[1],
            [score[taken] for score in scores],
            cut,
            label[taken],
            {"sampling_weight": 1 / probability[taken]},
            is_weighted=True,
        ).of_all(0.95, "clusters")
        first, second = flags(0), flags(1)
        coverage.add(
            [
                design.precision(first),
                design.share(first, positive=True),
                design.share(first, positive=False),
                design.net_benefit(first, odds),
                design.precision_difference(first, second),
                design.difference(first, second, positive=True),
                design.net_benefit_difference(first, second, odds),
            ]
        )
    coverage.check()


KNOWN = {
    "by score": lambda score: np.where(score >= 0.5, 0.8, 0.3),
    "all flagged rows": lambda score: np.where(score >= 0.8, 1, 0.3),
}


@pytest.mark.parametrize("known", KNOWN)
@pytest.mark.parametrize("correlation", [0, 0.1, 0.5])
def test_rates_of_clusters_with_some_labels_are_covered(correlation, known, population):
    chance, cut = population[0], 0.8
    flagged = chance >= cut
    truth = {
        "precision": chance[flagged].mean(),
        "recall": chance[flagged].sum() / chance.sum(),
        "fpr": (1 - chance[flagged]).sum() / (1 - chance).sum(),
    }
    rule = SimpleNamespace(zones=lambda rows: np.where(rows.score >= cut, FLAGGED, CLEARED))
    roles = Roles(numbers={"score": "score"}, label="label", keys=("customer",), cluster="customer")
    coverage = Coverage(truth)
    for seed in range(REPETITIONS):
        random = np.random.default_rng([int(10 * correlation), seed])
        cluster = cluster_of_rows(random, 150, "1-30")
        score, _ = two_models(random, cluster, correlation)
        label = labels(random, cluster, score, correlation)
        has_label = random.random(len(score)) < KNOWN[known](score)
        columns = {"score": score, "label": pl.Series(label).cast(pl.Int8), "customer": cluster}
        frame = pl.DataFrame(columns).with_columns(label=pl.when(pl.Series(has_label)).then("label"))
        data = DataRequest(inputs=in_memory(frame), roles=roles, on_invalid=OnInvalid.DROP)
        (part,) = labelled_parts(data, [rule], units_of(None, "customer"))
        design = part.of_all(0.95, int((~has_label).sum()), "clusters")
        if not design.reason(flags(0)):
            shares = [design.known_share(flags(0), positive=positive) for positive in (True, False)]
            coverage.add([design.known_precision(flags(0)), *shares])
    coverage.check()


LEVEL = 0.05


def rejected_at_most(rejections, number):
    """Whether tests at a level reject as often as they may, but for chance."""
    return rejections / number <= highest(LEVEL, number)


@pytest.mark.parametrize("bound", [Fraction(7, 10), Fraction(95, 100)], ids=str)
@pytest.mark.parametrize("correlation", [0, 0.1, 0.5])
@pytest.mark.parametrize("groups", [3, 20])
def test_groups_of_clusters_at_their_bound_are_seldom_rejected(groups, correlation, bound):
    repetitions, rejected = 5 * REPETITIONS, 0
    for seed in range(repetitions):
        random = np.random.default_rng([groups, int(10 * correlation), seed])
        tally = DecisionTally(1, units_of("group", "cluster"))
        sizes = random.integers(1, 20, 30 * groups)
        hits = successes(random, sizes, float(bound), correlation)
        cluster = np.repeat(np.arange(len(sizes)), sizes)
        label = np.concatenate([np.arange(size) < hit for size, hit in zip(sizes, hits, strict=True)])
        rows = Rows(
            numbers={"score": np.zeros(len(cluster))},
            positive=label,
            groups={"group": cluster % groups, "cluster": cluster},
        )
        tally.add(rows, [np.full(len(cluster), FLAGGED)])
        designs = tally.by_group({str(group): group for group in range(groups)}, 0.95, "clusters")
        results = [
            BoundedGroup(
                name=name,
                rows=1000,
                metrics={},
                cells=(),
                rate=design.precision(flags(0)),
                bounded=design.bounded(Rate.PRECISION, 0, bound, upper=False),
            )
            for name, design in designs.items()
        ]
        rejected += bool(group_evaluation("group", results, (), "rate", LEVEL).broken)
    assert rejected_at_most(rejected, repetitions)


@pytest.mark.parametrize("correlation", [0, 0.1, 0.5])
def test_segments_of_clusters_at_their_bound_are_seldom_rejected(correlation):
    repetitions, rejected = 5 * REPETITIONS, 0
    for seed in range(repetitions):
        random = np.random.default_rng([int(10 * correlation), seed])
        sizes = random.integers(1, 20, 100)
        hits = successes(random, sizes, 0.8, correlation)
        cluster = np.repeat(np.arange(len(sizes)), sizes)
        success = np.concatenate([np.arange(size) < hit for size, hit in zip(sizes, hits, strict=True)])
        columns = {
            name: Feature(
                value=random.integers(0, 4, len(sizes))[cluster].astype(float), levels=tuple("abcd")
            )
            for name in ("first", "second")
        }
        outcomes = ClusteredOutcomes(
            columns=columns, weight=np.ones(len(cluster), dtype=np.int64), success=success, cluster=cluster
        )
        report = audit_rate(outcomes, Fraction(8, 10), LEVEL, "true positive", upper=False)
        rejected += bool(report.deviating)
    assert rejected_at_most(rejected, repetitions)


@pytest.mark.parametrize("weights", ["log-normal", "a few heavy rows", "by decision"])
@pytest.mark.parametrize("bound", [0.2, 0.5, 0.95])
def test_groups_by_weight_at_their_bound_are_seldom_rejected(bound, weights):
    repetitions, groups, rejected = 5 * REPETITIONS, 10, 0
    exact = Fraction(str(bound))
    for seed in range(repetitions):
        random = np.random.default_rng([int(100 * bound), seed])
        results = []
        for group in range(groups):
            flagged = random.random(1000) < 0.5
            label = random.random(1000) < np.where(flagged, bound, 0.3)
            weight = {
                "log-normal": np.exp(np.abs(random.normal(0, 1.5, 1000))),
                "a few heavy rows": np.where(random.random(1000) < 0.04, 100.0, 1.0),
                "by decision": np.where(flagged, 1.0, 10.0),
            }[weights]
            sums = {
                ((FLAGGED if zone else CLEARED,), positive): WeightSums.of(
                    units(weight), (flagged == zone) & (label == positive)
                )
                for zone in (True, False)
                for positive in (True, False)
            }
            design = WeightedRows(confidence=0.95, sums=sums)
            rate = design.bounded(Rate.PRECISION, 0, exact, upper=False)
            results.append(
                BoundedGroup(
                    name=str(group),
                    rows=1000,
                    metrics={},
                    cells=(),
                    rate=design.precision(flags(0)),
                    bounded=rate,
                )
            )
        rejected += bool(group_evaluation("group", results, (), "rate", LEVEL).broken)
    assert rejected_at_most(rejected, repetitions)
