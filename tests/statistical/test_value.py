"""Simulations of intervals of values with heavy-tailed amounts: they cover, also without any difference."""

import numpy as np
import pytest

from tests.statistical.levels import keep, lowest, repetitions
from uqcli.base.amounts import units
from uqcli.base.rows import Rows
from uqcli.boundary.search.typed_constraints import constraint_from
from uqcli.estimates.design import CLEARED, FLAGGED, flags
from uqcli.estimates.value import Moments, Net, has_heavy_tail
from uqcli.evaluate.decisions import DecisionTally, units_of

REPETITIONS = repetitions(200)
MONEY = constraint_from(gain="gain", cost="15")
AMOUNTS = {
    "log-normal": lambda random, size: np.exp(random.normal(3, 1, size)),
    "heavy log-normal": lambda random, size: np.exp(random.normal(3, 1.5, size)),
    "Pareto": lambda random, size: 20 * (1 + random.pareto(2.2, size)),
    "uniform": lambda random, size: random.uniform(0, 100, size),
}
RULES = {
    "no difference": ((0.5, 0.05), (0.5, 0.05), 0.5),
    "one finds more": ((0.3, 0.02), (0.6, 0.1), 0.5),
    "nested": ((0.3, 0.02), (0.6, 0.1), 1.0),
    "nearly all found": ((0.95, 0.3), (0.98, 0.4), 1.0),
    "hardly any found": ((0.02, 0.001), (0.05, 0.01), 0.0),
}
"""Shares of positive and of negative rows that each of two rules flags, and of the first's that both flag."""


def flagged_by(random, positive, rules):
    """Draw which rows two rules flag."""
    (first, second, common) = rules
    share = np.where(positive, *first), np.where(positive, *second)
    by_first = random.random(len(positive)) < share[0]
    independent = random.random(len(positive)) < share[1]
    # a row of the first is also one of the second with probability ``common`` beyond what is independent
    nested = by_first | (random.random(len(positive)) < (share[1] - share[0]) / (1 - share[0]))
    return by_first, np.where(random.random(len(positive)) < common, nested, independent)


def covers(estimate, truth):
    """Whether an interval covers; None without one."""
    return None if estimate.low is None else estimate.low <= truth <= estimate.high


@pytest.mark.parametrize("rules", RULES)
@pytest.mark.parametrize("amounts", AMOUNTS)
@pytest.mark.parametrize("size", [500, 5000])
def test_intervals_cover_the_expected_value(size, amounts, rules):
    draw, positive_rate = AMOUNTS[amounts], 0.2
    mean = draw(np.random.default_rng(0), 20_000_000).mean()
    (first, second, _) = RULES[rules]
    true_value = [
        size * (positive_rate * found * mean - (1 - positive_rate) * wrong * 15)
        for found, wrong in (first, second)
    ]
    truth = {
        "value": true_value[0],
        "value_caught": first[0],
        "difference": true_value[1] - true_value[0],
        "difference of value_caught": second[0] - first[0],
    }
    outcomes = {name: [] for name in truth}
    for repetition in range(REPETITIONS):
        random = np.random.default_rng([size, repetition])
        positive = random.random(size) < positive_rate
        amount = draw(random, size).round(4)
        assert (units(amount) / 10_000 == amount).all()
        tally = DecisionTally(2, units_of(None, None), [MONEY])
        rows = Rows(numbers={"score": amount, "gain": amount}, positive=positive)
        masks = flagged_by(random, positive, RULES[rules])
        tally.add(rows, [np.where(mask, FLAGGED, CLEARED) for mask in masks])
        (amounts,) = tally.amounts(0.95)
        estimates = (*amounts.worth(flags(0))[:2], *amounts.difference(flags(0), flags(1))[:2])
        for name, estimate in zip(truth, estimates, strict=True):
            outcomes[name].append(covers(estimate, truth[name]))
    for name, covered in outcomes.items():
        shown = [outcome for outcome in covered if outcome is not None]
        if shown:
            assert np.mean(shown) >= lowest(0.95, len(shown), drawn=REPETITIONS), (
                name,
                np.mean(shown),
                len(shown),
            )


@pytest.mark.parametrize("rows", [10, 50, 200, 1000, 10_000])
def test_the_caution_of_heavy_tails_is_rare_for_ordinary_amounts_and_usual_for_heavy_ones(rows):
    def share_of(draw):
        random = np.random.default_rng([3, rows])
        found = [has_heavy_tail(Moments.of(units(draw(random, rows).round(4)))) for _ in range(REPETITIONS)]
        return np.mean(found)

    error = 3 * np.sqrt(0.05 / REPETITIONS)
    for deviation in (1, 2, 2.5) if 50 <= rows <= 1000 else (1,):
        share = share_of(lambda random, size, spread=deviation: np.exp(random.normal(3, spread, size)))
        keep(f"value/caution of heavy tails/log deviation {deviation}/{rows} rows", share, REPETITIONS)
    assert share_of(AMOUNTS["uniform"]) == 0
    assert share_of(AMOUNTS["log-normal"]) <= 0.05 + error
    assert share_of(AMOUNTS["Pareto"]) <= 0.05 + error
    if 50 <= rows <= 1000:
        assert share_of(lambda random, size: np.exp(random.normal(2, 2, size))) >= 0.7 - error
        assert share_of(lambda random, size: np.exp(random.normal(1, 2.5, size))) >= 0.95 - error


MEANS = {  # how amounts are drawn, and their mean
    "constant": (lambda random, size: np.full(size, 20.0), 20.0),
    "uniform": (lambda random, size: random.uniform(0, 100, size), 50.0),
    "log-normal": (lambda random, size: np.exp(random.normal(3, 1, size)), np.exp(3.5)),
    "heavy log-normal": (lambda random, size: np.exp(random.normal(3, 2, size)), np.exp(5)),
    "Pareto": (lambda random, size: 20 * (1 + random.pareto(2.1, size)), 20 * 2.1 / 1.1),
    "gamma": (lambda random, size: random.gamma(0.3, 60, size), 18.0),
}


@pytest.mark.parametrize("amounts", MEANS)
@pytest.mark.parametrize(("gaining", "costing"), [(12, 60), (30, 30), (100, 300), (1000, 500)])
def test_ranges_cover_the_value_to_be_expected_from_few_gains_on(gaining, costing, amounts):
    """Two of three gaining rows are flagged; a false alarm costs 15."""
    (draw, mean), runs = MEANS[amounts], 5 * REPETITIONS
    random, covered, known = np.random.default_rng([5, gaining, costing]), 0, 0
    truth = gaining * mean - costing * 15
    for _ in range(runs):
        amount = draw(random, random.poisson(1.5 * gaining)).round(4)
        flagged = random.random(len(amount)) < 2 / 3
        everything = np.concatenate([units(amount), np.full(random.poisson(costing), -150_000)])
        net = np.where(np.append(flagged, np.ones(len(everything) - len(amount), bool)), everything, 0)
        limits = Net.of(net, everything).limits(0.95)
        if limits is not None:
            known += 1
            covered += limits[0] <= truth * 10_000 <= limits[1]
    assert known > 0.95 * runs
    assert covered / known >= lowest(0.94, known, drawn=runs), covered / known
    keep(f"value/covered/{amounts}/{gaining} and {costing} rows", covered / known, known)


def files_of_gains(amounts, gaining, costing, runs, rare=None):
    """Yield the amounts of flagged rows that gain, and the number of false alarms that cost 15 each."""
    (draw, _), random = MEANS[amounts], np.random.default_rng([6, gaining, costing])
    for _ in range(runs):
        gains = draw(random, random.poisson(gaining))
        if rare:
            share, amount = rare
            gains = np.where(random.random(len(gains)) < share, amount, gains)
        yield random, gains.round(4), random.poisson(costing)


@pytest.mark.parametrize("amounts", ["uniform", "log-normal", "heavy log-normal"])
def test_ranges_from_resampled_rows_would_be_too_short(amounts):
    """Why the ranges are not those of a bootstrap."""
    gaining, costing, runs, covered = 30, 30, max(100, REPETITIONS), 0
    truth = gaining * MEANS[amounts][1] - costing * 15
    for random, gains, false_alarms in files_of_gains(amounts, gaining, costing, runs):
        net = np.append(gains, np.full(false_alarms, -15.0))
        sums = net[random.integers(0, len(net), (400, len(net)))].sum(axis=1)
        covered += np.quantile(sums, 0.025) <= truth <= np.quantile(sums, 0.975)
    assert covered / runs < 0.97
    keep(f"value/covered by resampled rows/{amounts}", covered / runs, runs)


@pytest.mark.parametrize(("share", "amount"), [(0.02, 2000), (0.01, 5000), (0.02, 5000)])
def test_a_rare_kind_of_large_amounts_is_known_to_no_range(share, amount):
    gaining, costing, runs, covered = 50, 50, max(100, REPETITIONS), 0
    truth = gaining * ((1 - share) * MEANS["uniform"][1] + share * amount) - costing * 15
    for _, gains, false_alarms in files_of_gains("uniform", gaining, costing, runs, (share, amount)):
        net = np.append(units(gains), np.full(false_alarms, -150_000))
        low, high = Net.of(net, net).limits(0.95)
        covered += low <= truth * 10_000 <= high
    assert 0.3 < covered / runs < 0.95
    keep(f"value/covered with a rare kind/{share} of {amount}", covered / runs, runs)
