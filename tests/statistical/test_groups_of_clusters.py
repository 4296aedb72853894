"""Simulations of rules by group whose rows depend on each other within clusters: their levels hold."""

from fractions import Fraction

import numpy as np
import polars as pl
import pytest

from tests.statistical.clustered import cluster_of_rows, labels, uniforms
from tests.statistical.levels import highest, keep, lowest, repetitions
from uqcli.base.choices import GroupBound
from uqcli.boundary.groups import find_by_group
from uqcli.boundary.options import (
    BinOptions,
    BoundaryRequest,
    CertificateOptions,
    GridOptions,
    GroupOptions,
    Target,
)
from uqcli.boundary.search.typed_constraints import constraint_from
from uqcli.boundary.statements import Slot
from uqcli.engines.request import DataRequest, Roles, in_memory
from uqcli.estimates.dependence import dependence_path
from uqcli.watch.evidence import log_e_values

REPETITIONS = repetitions(100)
POWERS = np.array([1.0, 1.5, 2.0])
GROUPS = len(POWERS)
"""Positive rates are powers of the score, which differ between the groups."""


def drawn(random, clusters, sizes, spread, correlation):
    """Draw the cluster, score, group and label of rows; clusters have rows of all groups."""
    cluster = cluster_of_rows(random, clusters, sizes)
    score = uniforms(random, cluster, spread)
    group = random.integers(0, GROUPS, len(cluster))
    return cluster, score, group, labels(random, cluster, score ** POWERS[group], correlation)


def rules(cluster, score, group, label, column, **options):
    """Find the rules of the groups, by a single threshold each."""
    frame = pl.DataFrame(
        {
            "score": score,
            "label": label.astype(int),
            "customer": [f"k{index}" for index in cluster],
            "region": [f"{index}" for index in group],
        }
    )
    roles = Roles(numbers={"score": "score"}, label="label")
    data = DataRequest(inputs=in_memory(frame), roles=roles).grouped_by("region").clustered_by(column)
    seed, constraint = options.pop("seed"), options.pop("constraint")
    certificate = CertificateOptions(certify=options.pop("certify", None))
    return find_by_group(
        BoundaryRequest(
            data=data,
            target=Target(constraint=constraint),
            bins=BinOptions(uncertainty_bins=1, score_bins=100),
            certificate=certificate,
            groups=GroupOptions(by="region", **options),
            source=GridOptions(seed=seed),
        )
    )


def groups_of(found):
    """Return the rules of the groups."""
    (groups,) = found.said(Slot.GROUPS)
    return groups


def thresholds(found):
    """Return the threshold of each group, infinite where nothing is flagged."""
    own = {int(name): rule.thresholds[0] for name, rule in groups_of(found).boundaries.items()}
    return np.array([np.inf if own.get(index) is None else own[index] for index in range(GROUPS)])


def test_certificates_of_all_groups_together_break_as_rarely_as_stated():
    runs, delta, target = max(40, REPETITIONS // 2), 0.1, 0.7
    random = np.random.default_rng(9)
    cluster, score, group, _ = drawn(random, 12_000, "1-30", 0.95, 0)
    rate = score ** POWERS[group]
    broken, certified_groups = dict.fromkeys(("customer", None), 0), 0
    for seed in range(runs):
        rows = drawn(np.random.default_rng([5, seed]), 300, "1-30", 0.95, 0.5)
        options = {"constraint": constraint_from(precision=str(target)), "bound": GroupBound.EACH}
        for column in broken:
            found = rules(*rows, column, certify=str(delta), seed=seed, **options)
            flagged, wrong = score >= thresholds(found)[group], False
            for name in map(int, groups_of(found).certificates):
                own = flagged & (group == name)
                size, hits = (np.bincount(cluster[own], weights=weights) for weights in (None, rate[own]))
                of_alerts = hits.sum() / size.sum()
                of_customers = (hits[size > 0] / size[size > 0]).mean()
                wrong |= (of_alerts if column is None else of_customers) < target
            broken[column] += wrong
            certified_groups += column is not None and len(groups_of(found).certificates)
    assert broken["customer"] / runs <= highest(delta, runs), broken
    assert certified_groups / runs > 1
    assert broken[None] > broken["customer"], broken
    keep("clusters/certificates of three groups break/with", broken["customer"] / runs, runs)
    keep("clusters/certificates of three groups break/without", broken[None] / runs, runs)


@pytest.mark.parametrize("bound", GroupBound)
@pytest.mark.parametrize(("clusters", "sizes", "correlation"), [(30, 60, 0.2), (100, "1-30", 0.5)])
def test_expected_precision_of_groups_covers_new_clusters(clusters, sizes, correlation, bound):
    runs = 12 if REPETITIONS <= 100 else REPETITIONS // 4
    random = np.random.default_rng(3)
    score, group = random.random(50_000), random.integers(0, GROUPS, 50_000)
    rate, inside = score ** POWERS[group], dict.fromkeys(("customer", None), 0)
    for seed in range(runs):
        rows = drawn(np.random.default_rng([6, clusters, seed]), clusters, sizes, 0.3, correlation)
        for column in inside:
            found = rules(*rows, column, constraint=constraint_from(precision="0.7"), bound=bound, seed=seed)
            precision = rate[score >= thresholds(found)[group]].mean()
            expected = found.expected.precision
            inside[column] += expected.low <= precision <= expected.high
    assert inside["customer"] / runs >= lowest(0.87, runs), inside
    assert inside[None] < inside["customer"]
    for column, number in inside.items():
        case = f"{'without' if column is None else 'with'}/{bound.value}/{clusters} clusters"
        keep(f"clusters/ranges of groups cover/{case}", number / runs, runs)


@pytest.mark.parametrize("correlation", [0.2, 0.5])
def test_a_watch_of_groups_rarely_raises_a_false_alarm(correlation):
    """Customers with alerts in all groups; a day has new ones, and all targets are met exactly."""
    bound, delta, days, customers = Fraction(7, 10), 0.01, 60, 20
    spread = (1 - correlation) / correlation
    alarms = dict.fromkeys(("days", "customers", "independent"), 0)
    for seed in range(REPETITIONS):
        random = np.random.default_rng([8, int(10 * correlation), seed])
        rates = random.beta(0.7 * spread, 0.3 * spread, (days, customers))
        trials = random.integers(1, 15, (GROUPS, days, customers))
        hits = random.binomial(trials, rates)
        raised = set()
        for group in range(GROUPS):
            by_day = hits[group].sum(axis=1), trials[group].sum(axis=1)
            of_customers = hits[group].ravel(), trials[group].ravel()
            for name, (k, n), used in (
                ("days", map(np.cumsum, by_day), dependence_path(*by_day).used),
                ("independent", map(np.cumsum, by_day), 1),
                (
                    "customers",
                    (column.sum(keepdims=True) for column in of_customers),
                    dependence_path(*of_customers, in_order=False).used[-1:],
                ),
            ):
                if (log_e_values(k / used, n / used, bound) >= np.log(GROUPS / delta)).any():
                    raised.add(name)
        for name in raised:
            alarms[name] += 1
    assert max(alarms["days"], alarms["customers"]) / REPETITIONS <= highest(delta, REPETITIONS), alarms
    assert alarms["independent"] / REPETITIONS > 0.1, alarms
    for name, number in alarms.items():
        share = number / REPETITIONS
        keep(f"clusters/a watch of groups rings/{name}/correlation {correlation}", share, REPETITIONS)
