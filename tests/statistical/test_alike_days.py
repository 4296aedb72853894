"""Simulations of alarms by day at low and high limits, and where days differ: level, delay and range."""

from fractions import Fraction

import numpy as np
import pytest
from scipy.optimize import brentq
from scipy.special import expit
from scipy.stats import norm

from tests.statistical.levels import highest, keep, repetitions
from tests.statistical.test_watch_days import days_of
from uqcli.estimates.dependence import dependence_path, unit_sums
from uqcli.watch.bayes_factor import log_factors
from uqcli.watch.change import ChangeEvidence
from uqcli.watch.evidence import log_e_values

REPETITIONS = repetitions(60)
YEARS = 5 * REPETITIONS
YEAR = 365
NEVER = 9999
ALARM, RUN_LENGTH = np.log(100), np.log(1000)  # limits of the evidence, as logarithms
END = np.log(40)


def beta_days(random, shape, rate, correlation, alerts=100):
    """Draw right alerts and alerts of days whose rates have a beta law; shape (years, days)."""
    rates = np.full(shape, rate)
    if correlation:
        size = 1 / correlation - 1
        rates = random.beta(rate * size, (1 - rate) * size, shape)
    trials = np.full(shape, alerts)
    return random.binomial(trials, rates), trials


def days_of_two_kinds(random, shape, share, rates, alerts=(100, 100)):
    """Draw days of which a share has the first of two rates, and of two numbers of alerts."""
    is_first = random.random(shape) < share
    trials = np.where(is_first, *alerts)
    return random.binomial(trials, np.where(is_first, *rates)), trials


def calibration_sums(draw, number):
    return None if not number else unit_sums(*(row[0] for row in draw((1, number))))


def first_rings(successes, trials, bound, limits, sums=None):
    """Return the first day of evidence of at least each limit in each year, and where effective counts ring.

    The Bayes factor is computed only where the evidence of effective counts reaches the least limit, as it is
    the smaller of both.
    """
    used = dependence_path(successes, trials, sums).used
    totals = [np.cumsum(counts, axis=1) / used for counts in (successes, trials)]
    log_e = log_e_values(totals[0].ravel(), totals[1].ravel(), bound).reshape(used.shape)
    alone = (log_e >= limits[0]).any(axis=1)
    for year in np.flatnonzero((log_e >= min(limits)).any(axis=1)):
        factors = log_factors(successes[year], trials[year], bound)
        log_e[year] = np.minimum(log_e[year], factors - np.log(2))
    firsts = [first_days(log_e >= limit) for limit in limits]
    return firsts, alone


def first_days(rings):
    return np.where(rings.any(axis=1), rings.argmax(axis=1) + 1, NEVER)


def first_changes(successes, trials, bound, from_day=1):
    """Return the first day of a change alarm in each year, counted from a day on."""
    return np.array(
        [
            next(
                ChangeEvidence(np.stack(days, axis=1), bound, RUN_LENGTH).alarms(
                    range(from_day, len(days[0]) + 1)
                ),
                NEVER,
            )
            for days in zip(successes, trials, strict=True)
        ]
    )


LEVELS = {
    # limit, correlation, alerts, days
    "low limit": ("0.02", 0.2, 100, YEAR),
    "low limit, days that differ": ("0.02", 0.5, 100, YEAR),
    ".05": ("0.05", 0.5, 100, YEAR),
    ".1": ("0.1", 0.5, 100, YEAR),
    "half, independent": ("0.5", 0, 20, YEAR),
    "half": ("0.5", 0.2, 50, YEAR),
    ".9, few alerts": ("0.9", 0.1, 3, YEAR),
    ".9": ("0.9", 0.5, 100, YEAR),
    ".999": ("0.999", 0.05, 100, YEAR),
    "three years": ("0.02", 0.2, 100, 3 * YEAR),
    "three years, .1": ("0.1", 0.5, 100, 3 * YEAR),
}


def level_of(limit, correlation, alerts, days, years, calibration_days=0, seed=1):
    """Return the share of years with an alarm, that with effective counts alone, and those an end misses."""
    random, bound = np.random.default_rng([seed, round(1000 * correlation), alerts, days]), Fraction(limit)

    def draw(shape):
        return beta_days(random, shape, float(bound), correlation, alerts)

    shares = []
    for start in range(0, years, 100):
        sums = calibration_sums(draw, calibration_days)
        successes, trials = draw((min(100, years - start), days))
        (rings, upper), alone = first_rings(successes, trials, bound, (ALARM, END), sums)
        (lower,), _ = first_rings(trials - successes, trials, 1 - bound, (END,), sums)
        shares.append(np.stack([rings < NEVER, alone, upper < NEVER, lower < NEVER]))
    return np.concatenate(shares, axis=1).mean(axis=1)


@pytest.mark.parametrize("cell", LEVELS)
def test_a_target_met_exactly_seldom_rings_and_is_seldom_outside_the_range(cell):
    """The level is .01, and that of each end .025, over all looks together."""
    limit, correlation, alerts, days = LEVELS[cell]
    rings, alone, *ends = level_of(*LEVELS[cell], YEARS)
    assert rings <= highest(0.01, YEARS)
    assert max(ends) <= highest(0.025, YEARS)
    name = f"limit {limit}/correlation {correlation}/{alerts} alerts/{days // YEAR} years"
    keep(f"watch/level/{name}", rings, YEARS)
    keep(f"watch/effective counts alone/{name}", alone, YEARS)
    keep(f"watch/end of the range/{name}", max(ends), YEARS)
    if cell.startswith("low limit"):
        assert alone > 0.1


@pytest.mark.parametrize("calibration_days", [0, 30])
def test_calibration_days_do_not_raise_the_level(calibration_days):
    assert level_of("0.05", 0.3, 100, YEAR, YEARS, calibration_days, seed=2)[0] <= highest(0.01, YEARS)


@pytest.mark.parametrize(
    ("known", "correlation", "calibration_days", "level"), [(0.025, 0.2, 60, 0.05), (0.03, 0.25, 180, 0.08)]
)
def test_calibration_days_that_understate_the_correlation_are_left_out(
    known, correlation, calibration_days, level
):
    """Rows of days that the model was trained on go together less than rows of other days.

    Until there are 20 days to contradict them, they raise false alarms, which were .10 and .18 if the days
    watched could not do so alone.
    """
    random, rings = np.random.default_rng(6), []
    for _ in range(YEARS // 10):
        sums = calibration_sums(lambda shape: beta_days(random, shape, 0.5, known, 50), calibration_days)
        days = beta_days(random, (10, YEAR), 0.5, correlation, 50)
        assert dependence_path(*days, sums).left_out[:, 60].mean() > 0.5
        (first,), _ = first_rings(*days, Fraction(1, 2), (ALARM,), sums)
        rings += (first < NEVER).tolist()
    assert np.mean(rings) <= highest(level, len(rings))
    keep(f"watch/calibration days that understate/{calibration_days} days", np.mean(rings), len(rings))


@pytest.mark.parametrize("calibration_days", [0, 30])
@pytest.mark.parametrize(("share", "bad"), [(0.02, 0.0), (0.1, 0.4), (0.2, 0.4)])
def test_rare_days_that_differ_wholly_ring_at_most_a_few_times_as_often(share, bad, calibration_days):
    """Other days have a rate of .9."""
    first = level_of_two_kinds(share, 50, calibration_days, YEARS, good=bad, bad=0.9, seed=3)
    rings = (first < NEVER).mean()
    assert rings <= highest(0.05, YEARS)
    keep(f"watch/days that differ wholly/{share} at {bad}/{calibration_days} calibration days", rings, YEARS)


@pytest.mark.parametrize(("spell", "level"), [(0.3, 0.02), (0.5, 0.025), (0.7, 0.09), (0.9, 0.3)])
def test_days_in_spells_ring_more_often_but_not_much(spell, level):
    days = days_of(np.random.default_rng(2), (YEARS, YEAR), 0.5, 0.1, spell=spell)
    (first,), _ = first_rings(*days, Fraction(1, 2), (ALARM,))
    rings = (first < NEVER).mean()
    assert rings <= highest(level, YEARS)
    keep(f"watch/spells/{spell}", rings, YEARS)


@pytest.mark.parametrize(("spread", "level"), [(0.5, 0.01), (1, 0.02), (1.5, 0.05), (2, 0.09), (2.5, 0.11)])
def test_rates_with_normal_log_odds_ring_as_often_as_the_page_says(spread, level):
    random, normals = np.random.default_rng([9, round(10 * spread)]), norm.ppf((np.arange(2000) + 0.5) / 2000)
    centre = brentq(lambda log_odds: expit(log_odds + spread * normals).mean() - 0.03, -30, 0)
    rates = expit(centre + spread * random.normal(size=(YEARS, YEAR)))
    (first,), _ = first_rings(
        random.binomial(1000, rates), np.full(rates.shape, 1000), Fraction("0.03"), (ALARM,)
    )
    rings = (first < NEVER).mean()
    assert rings <= highest(level, YEARS)
    keep(f"watch/normal log-odds/deviation {spread}", rings, YEARS)


@pytest.mark.parametrize("share", [0.02, 0.05])
def test_large_days_that_are_better_ring_as_often_as_the_page_says(share):
    """The limit is met by rows, of which large days have ten times as many as others."""
    random, size = np.random.default_rng([10, round(100 * share)]), 10 * share / (10 * share + 1 - share)
    bound = Fraction(round(10_000 * (0.73 * size + 0.55 * (1 - size))), 10_000)
    days = days_of_two_kinds(random, (YEARS, YEAR), share, (0.73, 0.55), (500, 50))
    (first,), _ = first_rings(*days, bound, (ALARM,))
    rings = (first < NEVER).mean()
    assert rings <= highest(0.26, YEARS)
    keep(f"watch/large days/{share}", rings, YEARS)


NOT_KEPT = {
    # share of the better days, their rate over that of the others, alerts of a day, calibration days
    "better half": (0.5, 100, 0, 0.06),
    "better fifth": (0.2, 100, 0, 0.17),
    "better fifth, 1,000 alerts": (0.2, 1000, 0, 0.38),
    "one in ten, 1,000 alerts": (0.1, 1000, 0, 0.58),
    "one in ten, 30 calibration days": (0.1, 1000, 30, 0.05),
}


def level_of_two_kinds(share, alerts, calibration_days, years, bad=0.4, good=0.9, seed=4):
    """Return the first alarm of each year whose days are of two kinds, of which the first is better."""
    random = np.random.default_rng([seed, round(100 * share), alerts])
    bound = Fraction(round(10_000 * (good * share + bad * (1 - share))), 10_000)

    def draw(shape):
        return days_of_two_kinds(random, shape, share, (good, bad), (alerts, alerts))

    rings = []
    for _ in range(0, years, 10):
        sums = calibration_sums(draw, calibration_days)
        (first,), _ = first_rings(*draw((10, YEAR)), bound, (ALARM,), sums)
        rings.append(first)
    return np.concatenate(rings)


@pytest.mark.parametrize("cell", NOT_KEPT)
def test_days_of_two_kinds_ring_as_often_as_the_page_says(cell):
    *law, level = NOT_KEPT[cell]
    first = level_of_two_kinds(*law, YEARS)
    rings = (first < NEVER).mean()
    assert rings <= highest(level, YEARS)
    share, alerts, calibration_days = law
    name = f"{share} better/{alerts} alerts/{calibration_days} calibration days"
    keep(f"watch/two kinds/{name}", rings, YEARS)
    if rings and not calibration_days:
        keep(
            f"watch/two kinds, alarms within 20 days/{name}",
            (first <= 20).sum() / (first < NEVER).sum(),
            YEARS,
        )


DELAYS = {
    # limit, rate, correlation, alerts: median days
    ("0.5", 0.4, 0, 50): 16,
    ("0.5", 0.4, 0.05, 50): 32,
    ("0.5", 0.4, 0.2, 50): 78,
    ("0.9", 0.8, 0, 50): 10,
    ("0.9", 0.8, 0.1, 50): 27,
    ("0.2", 0.1, 0, 50): 12,
    ("0.2", 0.1, 0.1, 50): 36,
    ("0.1", 0.05, 0, 50): 17,
    ("0.1", 0.05, 0.1, 50): 76,
}


def delay_of(limit, rate, correlation, alerts, years):
    random, days = (
        np.random.default_rng([5, round(1000 * rate), round(1000 * correlation)]),
        3 * DELAYS[limit, rate, correlation, alerts],
    )
    counts = beta_days(random, (years, days), rate, correlation, alerts)
    (first,), _ = first_rings(*counts, Fraction(limit), (ALARM,))
    return np.median(first)


@pytest.mark.parametrize("cell", DELAYS)
def test_a_miss_from_the_start_is_found_in_days(cell):
    """A tenth later at most, or a day; medians of few years vary."""
    found, expected = delay_of(*cell, YEARS), DELAYS[cell]
    assert found <= max(1.1 * expected, expected + 1) + 3 * expected / YEARS**0.5
    limit, rate, correlation, _ = cell
    keep(f"watch/days/limit {limit}, rate {rate}/correlation {correlation}", found, YEARS)


def test_calibration_days_find_a_miss_sooner():
    random = np.random.default_rng(11)

    def draw(shape, rate=0.5):
        return beta_days(random, shape, rate, 0, 50)

    firsts = []
    for _ in range(0, YEARS, 10):
        (first,), _ = first_rings(*draw((10, 60), 0.4), Fraction(1, 2), (ALARM,), calibration_sums(draw, 30))
        firsts.append(first)
    found = np.median(firsts)
    assert found <= 11
    keep("watch/days/limit 0.5, rate 0.4/30 calibration days", found, YEARS)


def test_three_times_a_tiny_limit_is_found_within_days():
    random = np.random.default_rng(6)
    wrong, trials = beta_days(random, (YEARS // 5, 30), 0.0006, 0, 100_000)
    (first,), _ = first_rings(trials - wrong, trials, 1 - Fraction(2, 10_000), (ALARM,))
    assert np.median(first) <= 6
    keep("watch/days/limit 0.0002, rate 0.0006", np.median(first), len(first))


CHANGES = {
    # a law of days: limit, highest share of years with a false alarm
    "low limit": (lambda random, shape: beta_days(random, shape, 0.02, 0.2), "0.02", 0.2),
    ".1": (lambda random, shape: beta_days(random, shape, 0.1, 0.4), "0.1", 0.2),
    ".9": (lambda random, shape: beta_days(random, shape, 0.9, 0.1), "0.9", 0.2),
    "rare days, five times as large": (
        lambda random, shape: days_of_two_kinds(random, shape, 0.02, (0.0, 0.9), (500, 100)),
        "0.8167",
        0.2,
    ),
}


def change_level(cell, years):
    draw, limit, _ = CHANGES[cell]
    return (first_changes(*draw(np.random.default_rng(7), (years, YEAR)), Fraction(limit)) < NEVER).mean()


@pytest.mark.parametrize("cell", CHANGES)
def test_false_alarms_of_a_change_are_rarer_than_the_run_length_says(cell):
    """A run length of 1,000 days allows .365 of the years."""
    runs = max(20, REPETITIONS // 4)
    assert change_level(cell, runs) <= highest(CHANGES[cell][2], runs)


CHANGE_DELAYS = {
    # limit, rates before and after day 150, correlation, days
    ("0.5", 0.55, 0.4, 0): 10,
    ("0.5", 0.55, 0.3, 0): 5,
    ("0.5", 0.5, 0.3, 0): 3,
    ("0.5", 0.5, 0.3, 0.05): 6,
    ("0.5", 0.5, 0.3, 0.2): 16,
    ("0.1", 0.12, 0.05, 0.1): 41,
}


def change_delay(limit, before, after, correlation, years, alerts=50):
    random = np.random.default_rng([8, round(1000 * after)])
    parts = [
        beta_days(random, (years, days), rate, correlation, alerts)
        for days, rate in ((150, before), (200, after))
    ]
    first = first_changes(
        *(np.concatenate(both, axis=1) for both in zip(*parts, strict=True)), Fraction(limit)
    )
    return np.median(first[first > 150]) - 150


@pytest.mark.parametrize("cell", CHANGE_DELAYS)
def test_a_fall_after_five_months_is_found_in_days(cell):
    runs = max(20, REPETITIONS // 4)
    found, expected = change_delay(*cell, runs), CHANGE_DELAYS[cell]
    assert found <= max(1.1 * expected, expected + 1) + 3 * expected / runs**0.5
    limit, before, after, correlation = cell
    if before == 0.5:
        keep(
            f"watch/days/limit {limit}, fall from {before} to {after}/correlation {correlation}", found, runs
        )


def test_a_large_fall_in_a_short_history_is_found_in_days():
    """With one divisor for all first days it would take four weeks."""
    random, runs = np.random.default_rng(12), max(20, REPETITIONS // 4)
    days = [beta_days(random, (runs, 40), rate, 0.05, 50) for rate in (0.6, 0.3)]
    first = first_changes(
        *(np.concatenate(both, axis=1) for both in zip(*days, strict=True)), Fraction(58, 100)
    )
    found = np.median(first[first > 40]) - 40
    assert found <= 9
    keep("watch/days/fall from 0.6 to 0.3 after 40 days", found, runs)
