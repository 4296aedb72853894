"""Simulations of alarms by day: they keep their level where rows of a day go together, and come in time."""

from fractions import Fraction
from functools import cache

import numpy as np
import pytest
from scipy.special import ndtr
from scipy.stats import beta

from tests.statistical.levels import highest, keep, repetitions
from uqcli.estimates.dependence import dependence_path, divisors_since, unit_sums
from uqcli.watch.evidence import log_e_values

REPETITIONS = repetitions(60)
STREAMS = 5 * REPETITIONS
YEAR = 365
ALARM, CHANGE = np.log(100), np.log(1000)
ALERTS = 50
SIZES = ("equal", "log-normal", "more alerts on good days", "more alerts on bad days")


def sizes_of(random, sizes, effect):
    """Draw the alerts of days with effects of standard normal law."""
    if sizes == "equal":
        return np.full(effect.shape, ALERTS)
    noise = random.normal(size=effect.shape)
    spread = {"log-normal": noise, SIZES[2]: (effect + noise) / 2**0.5, SIZES[3]: (noise - effect) / 2**0.5}
    return np.maximum(1, np.rint(ALERTS * np.exp(spread[sizes] - 0.5))).astype(np.int64)


def rates_of(effect, rate, correlation):
    """Return rates of a beta law with this mean and correlation of rows within a day."""
    if correlation == 0:
        return np.full(effect.shape, rate)
    return beta.ppf(ndtr(effect), *(part * (1 / correlation - 1) for part in (rate, 1 - rate)))


@cache
def mean_rate(sizes, rate, correlation):
    """Find the mean rate of days for which this is the rate of all alerts."""
    random = np.random.default_rng(99)
    effect = random.normal(size=100_000)
    alerts = sizes_of(random, sizes, effect)
    low, high = 0.001, 0.999
    for _ in range(30):
        middle = (low + high) / 2
        above = np.average(rates_of(effect, middle, correlation), weights=alerts) > rate
        low, high = (low, middle) if above else (middle, high)
    return low


def days_of(random, shape, rate, correlation, sizes="equal", spell=0.0, fall=0.0, falls_on=0):
    """Draw alerts and right alerts by day; shape (streams, days)."""
    effect = random.normal(size=shape)
    for day in range(1, shape[1]):
        effect[:, day] = spell * effect[:, day - 1] + np.sqrt(1 - spell**2) * effect[:, day]
    trials = sizes_of(random, sizes, effect)
    mean = mean_rate(sizes, rate, correlation) if "days" in sizes else rate
    rates = rates_of(effect, mean, correlation)
    rates[:, falls_on:] = rates_of(effect[:, falls_on:], mean - fall, correlation)
    return random.binomial(trials, rates), trials


def watched(random, bound, calibration_days, *, streams=STREAMS, days=YEAR, **law):
    """Return successes, trials and divisors of streams, ten for each calibration set."""
    parts = []
    for _ in range(-(-streams // 10)):
        sums = None
        if calibration_days:
            kept = {key: law[key] for key in ("correlation", "sizes", "spell") if key in law}
            sums = unit_sums(
                *(row[0] for row in days_of(random, (1, calibration_days), float(bound), **kept))
            )
        successes, trials = days_of(random, (10, days), float(bound), **law)
        parts.append((successes, trials, dependence_path(successes, trials, sums).used))
    return [np.concatenate(columns) for columns in zip(*parts, strict=True)]


def log_e_paths(successes, trials, used, bound):
    totals = [np.cumsum(counts, axis=1) / used for counts in (successes, trials)]
    return log_e_values(totals[0].ravel(), totals[1].ravel(), bound).reshape(used.shape)


def first_change(successes, trials, sums, bound):
    """Return the first day of a change alarm in each stream."""
    firsts = []
    for k, n in zip(successes, trials, strict=True):
        before = [np.append(0, np.cumsum(counts)) for counts in (k, n)]
        first = 9999
        for day in range(1, len(k) + 1):
            divisors = divisors_since(k[:day], n[:day], sums)
            own = [(total[day] - total[:day]) / divisors for total in before]
            if np.logaddexp.reduce(log_e_values(*own, bound)) >= CHANGE:
                first = day
                break
        firsts.append(first)
    return np.array(firsts)


def days_until(path, limit):
    """Return the median day of the first alarm."""
    rings = path >= limit
    return np.median(np.where(rings.any(axis=1), rings.argmax(axis=1) + 1, 9999))


@pytest.mark.parametrize("calibration_days", [0, 30])
@pytest.mark.parametrize("correlation", [0, 0.05, 0.2])
@pytest.mark.parametrize("bound", [Fraction(3, 10), Fraction(1, 2), Fraction(9, 10)])
@pytest.mark.parametrize("sizes", SIZES)
def test_a_target_met_exactly_seldom_rings_in_a_year(sizes, bound, correlation, calibration_days):
    random = np.random.default_rng([1, SIZES.index(sizes), bound.numerator, int(100 * correlation)])
    law = {"correlation": correlation, "sizes": sizes}
    streams = watched(random, bound, calibration_days, **law)
    assert (log_e_paths(*streams, bound).max(axis=1) >= ALARM).mean() <= highest(0.02, STREAMS)
    if correlation == 0.2:
        independent = log_e_paths(*streams[:2], np.ones(streams[0].shape), bound)
        assert (independent.max(axis=1) >= ALARM).mean() > 0.1


def test_rows_of_a_day_taken_as_independent_ring_in_many_years():
    bound = Fraction(1, 2)
    successes, trials = days_of(np.random.default_rng(9), (STREAMS, YEAR), 0.5, 0.05)
    rings = (log_e_paths(successes, trials, np.ones(trials.shape), bound).max(axis=1) >= ALARM).mean()
    assert rings > 0.15
    keep("watch/days/taken as independent", rings, STREAMS)


LIFETIME_DAYS = {
    # correlation, sizes: days at 30 calibration days for falls of .1 and .25, then without calibration days
    (0, "equal"): ((9, 2), (15, 7)),
    (0.05, "equal"): ((27, 6), (31, 12)),
    (0.2, "equal"): ((75, 18), (80, 22)),
    (0.05, "log-normal"): ((66, 16), (84, 31)),
}


@pytest.mark.parametrize("law", LIFETIME_DAYS)
def test_a_miss_from_the_start_is_found_in_days(law):
    correlation, sizes = law
    bound, random, runs = Fraction(1, 2), np.random.default_rng(4), max(100, 10 * REPETITIONS)
    for calibration_days, expected in zip((30, 0), LIFETIME_DAYS[law], strict=True):
        for fall, days in zip((0.1, 0.25), expected, strict=True):
            streams = watched(
                random,
                bound,
                calibration_days,
                streams=runs,
                days=200,
                correlation=correlation,
                sizes=sizes,
                fall=fall,
            )
            found = days_until(log_e_paths(*streams, bound), ALARM)
            # a tenth, or one day; medians of few streams vary
            assert found <= max(1.1 * days, days + 1) + 20 * days / runs**0.5 / 10, (found, days)


@pytest.mark.parametrize(
    ("sizes", "bound", "correlation", "spell"),
    [
        ("equal", Fraction(1, 2), 0, 0),
        ("equal", Fraction(9, 10), 0.05, 0),
        ("log-normal", Fraction(3, 10), 0.2, 0),
        ("more alerts on bad days", Fraction(9, 10), 0.2, 0),
        ("equal", Fraction(1, 2), 0.1, 0.5),
    ],
)
def test_false_alarms_of_a_change_are_rarer_than_the_run_length_says(sizes, bound, correlation, spell):
    """A run length of 1,000 days is 31 % of years at most."""
    random, runs = np.random.default_rng(7), max(30, REPETITIONS // 2)
    law = {"correlation": correlation, "sizes": sizes, "spell": spell}
    streams = days_of(random, (runs, YEAR), float(bound), **law)
    assert (first_change(*streams, None, bound) <= YEAR).mean() <= highest(0.31, runs)
