"""Simulations of alarms that people look at after every batch: they keep their level and come in time."""

from fractions import Fraction

import numpy as np
import pytest

from tests.statistical.levels import highest, keep, repetitions
from uqcli.conformal.coverage import rank_of
from uqcli.estimates.proportion import clopper_pearson
from uqcli.watch.evidence import is_alarm, log_change_evidence, log_e_values, rate_intervals
from uqcli.watch.promises import coverage_bound

REPETITIONS = repetitions(60)
STREAMS = 10 * REPETITIONS
LOOKS = 200
DELTA, SMALL = Fraction(1, 20), Fraction(1, 100)
PRECISIONS = [Fraction(7, 10), Fraction(9, 10), Fraction(99, 100)]


def log_e_paths(successes, trials, bound):
    """Return the log of the e-value at every look: counts are those of batches, shape (streams, looks)."""
    totals = [np.cumsum(counts, axis=1) for counts in (successes, trials)]
    return log_e_values(totals[0].ravel(), totals[1].ravel(), bound).reshape(successes.shape)


def alarm_share(log_e, delta):
    return np.mean([is_alarm(highest, delta) for highest in log_e.max(axis=1)])


def batches_of(random, rate, streams=STREAMS, looks=LOOKS):
    """Draw successes and trials of batches of 0 to 40 trials."""
    trials = random.integers(0, 41, (streams, looks))
    return random.binomial(trials, rate), trials


@pytest.mark.parametrize("bound", PRECISIONS)
def test_a_target_met_exactly_seldom_raises_the_lifetime_alarm(bound):
    batches = batches_of(np.random.default_rng(1), float(bound))
    assert alarm_share(log_e_paths(*batches, bound), DELTA) <= highest(DELTA, STREAMS)


@pytest.mark.parametrize("bound", PRECISIONS)
def test_a_test_of_one_look_would_raise_it_often(bound):
    from scipy.stats import binom

    batches = batches_of(np.random.default_rng(1), float(bound))
    successes, trials = (np.cumsum(counts, axis=1) for counts in batches)
    p_values = binom.cdf(successes, trials, float(bound))
    assert np.mean(p_values.min(axis=1) <= float(DELTA)) > 3 * float(DELTA)
    successes = np.cumsum(np.random.default_rng(9).binomial(10, float(bound), (STREAMS, LOOKS)), axis=1)
    p_values = binom.cdf(successes, 10 * np.arange(1, LOOKS + 1), float(bound))
    rings = np.mean(p_values.min(axis=1) <= float(DELTA))
    assert rings > 3 * float(DELTA)
    keep(f"watch/a test of one look/bound {float(bound)}", rings, STREAMS)


def test_a_rate_that_stays_above_the_bound_may_change_as_it_likes():
    """After a run of failures the rate falls to the bound, and after successes it rises."""
    bound, random = Fraction(9, 10), np.random.default_rng(2)
    successes = np.zeros((STREAMS, LOOKS), dtype=int)
    for look in range(LOOKS):
        behind = successes[:, :look].sum(axis=1) < 0.9 * 10 * look
        successes[:, look] = random.binomial(10, np.where(behind, 0.9, 0.95))
    assert alarm_share(log_e_paths(successes, np.full_like(successes, 10), bound), DELTA) <= float(DELTA)


@pytest.mark.parametrize("rows", [100, 1000])
def test_prediction_sets_seldom_raise_the_alarm_given_their_calibration_set(rows):
    random, alpha = np.random.default_rng(3), Fraction(1, 10)
    kept = rank_of(rows, alpha)
    coverage = random.beta(kept, rows + 1 - kept, STREAMS)
    batches = batches_of(random, coverage[:, np.newaxis])
    bound = coverage_bound(kept, rows, DELTA)
    assert alarm_share(log_e_paths(*batches, bound), DELTA / 2) <= highest(DELTA, STREAMS)
    of_the_average = log_e_paths(*batches, 1 - alpha)
    assert alarm_share(of_the_average, DELTA) > 2 * float(DELTA)
    if rows == 100:
        keep("watch/sets/average coverage at 0.01", alarm_share(of_the_average, SMALL), STREAMS)


def evidence_table(size, looks, bound):
    """Return the e-value of m batches with k successes, shape (looks + 1, size * looks + 1)."""
    batches, successes = np.meshgrid(np.arange(looks + 1), np.arange(size * looks + 1), indexing="ij")
    surplus = successes - float(bound) * size * batches
    spread = np.sqrt(float(bound * (1 - bound)) * size * batches)
    possible = (successes <= size * batches) & (np.abs(surplus) <= 15 * spread + 20)
    table = np.full(batches.shape, np.nan)  # a count that far off would fail the tests
    table[possible] = np.exp(log_e_values(successes[possible], size * batches[possible], bound))
    return table


def change_paths(successes, size, bound):
    """Return the evidence of a change at every look, for batches of one size, by looking up e-values."""
    streams, looks = successes.shape
    table = evidence_table(size, looks, bound)
    before = np.zeros((streams, looks + 1), dtype=int)
    before[:, 1:] = np.cumsum(successes, axis=1)
    paths = np.empty((streams, looks))
    for look in range(1, looks + 1):
        ages = np.arange(look, 0, -1)
        paths[:, look - 1] = table[ages, before[:, [look]] - before[:, :look]].sum(axis=1)
    batches = [(int(k), size) for k in successes[0]]
    path = [np.exp(log_change_evidence(batches[:look], bound)) for look in range(1, looks + 1)]
    assert paths[0] == pytest.approx(path, rel=1e-9)
    return paths


def first_look(is_alarmed):
    """Return the first look with an alarm in each stream, or one more than there are looks."""
    return np.where(is_alarmed.any(axis=1), is_alarmed.argmax(axis=1) + 1, is_alarmed.shape[1] + 1)


@pytest.mark.parametrize("run_length", [50, 200])
@pytest.mark.parametrize("bound", PRECISIONS)
def test_false_alarms_of_a_change_are_a_run_length_apart(run_length, bound):
    """A mean of times cut off at four run lengths is lower than the mean of the times."""
    streams = min(STREAMS, 2000)
    successes = np.random.default_rng(4).binomial(5, float(bound), (streams, 4 * run_length))
    paths = change_paths(successes, 5, bound)
    assert np.isfinite(paths).all()
    time = first_look(paths >= run_length)
    assert time.mean() + 3 * time.std() / np.sqrt(streams) >= run_length
    for look in (run_length // 10, run_length // 4, run_length // 2):
        assert np.mean(time <= look) <= highest(look / run_length, streams)
    if run_length == 200:
        keep(f"watch/change alarm/a run length at the bound/{float(bound)}", np.mean(time <= 200), streams)


@pytest.mark.parametrize("rate", [0.02, 0.5, 0.9, 0.99])
def test_confidence_sequences_cover_at_all_looks_together(rate):
    successes, trials = (
        np.cumsum(counts, axis=1)
        for counts in batches_of(np.random.default_rng(5), rate, min(REPETITIONS, 300), 60)
    )
    low, high = rate_intervals(successes.ravel(), trials.ravel(), 0.9)
    is_outside = ((low > rate) | (high < rate)).reshape(successes.shape)
    assert is_outside.any(axis=1).mean() <= highest(0.1, len(successes))


@pytest.mark.parametrize("rate", [0.02, 0.5, 0.9, 0.999])
def test_ranges_of_all_looks_are_less_than_twice_as_wide_as_those_of_one(rate):
    hits = round(1000 * rate)
    low, high = (float(end[0]) for end in rate_intervals(np.array([hits]), np.array([1000]), 0.95))
    one_look = clopper_pearson(hits, 1000, 0.95)
    ratio = (high - low) / (one_look[1] - one_look[0])
    assert 1.3 < ratio < 2
    keep(f"watch/width of the range/rate {rate}", ratio, 1)


def test_whole_matured_days_keep_the_level_and_early_positives_break_it():
    """At most 10 % of the cleared rows are positive. Labels of negatives take 20 days."""
    days, rows, wait, bound = 100, 40, 20, Fraction(9, 10)
    negatives = np.random.default_rng(6).binomial(rows, 0.9, (STREAMS, days))
    late_negatives = np.zeros_like(negatives)
    late_negatives[:, wait:] = negatives[:, :-wait]
    as_they_come = log_e_paths(late_negatives, late_negatives + rows - negatives, bound)
    assert alarm_share(as_they_come, DELTA) > 0.9
    counted = negatives[:, :-wait]
    matured = log_e_paths(counted, np.full_like(counted, rows), bound)
    assert alarm_share(matured, DELTA) <= highest(DELTA, STREAMS)
    keep("watch/late labels/as they come", alarm_share(as_they_come, SMALL), STREAMS)
    keep("watch/late labels/matured", alarm_share(matured, SMALL), STREAMS)


@pytest.mark.parametrize(
    ("precision", "delta", "most"),
    [(0.85, 0.05, 300), (0.85, 0.01, 400), (0.80, 0.05, 90), (0.80, 0.01, 120)],
)
def test_a_missed_target_raises_the_lifetime_alarm_in_time(precision, delta, most):
    """A test that knew this precision would need about log(1 / delta) / KL alerts, hardly fewer."""
    hits = np.random.default_rng(7).binomial(1, precision, (500, 2000))
    log_e = log_e_paths(hits, np.ones_like(hits), Fraction(9, 10))
    alerts = np.median(first_look(log_e >= np.log(1 / delta)))
    gain = precision * np.log(precision / 0.9) + (1 - precision) * np.log((1 - precision) / 0.1)
    assert alerts <= min(most, 1.15 * np.log(1 / delta) / gain)
    keep(f"watch/alerts/precision {precision}/at {delta}", alerts, 500)
    if (precision, delta) == (0.85, 0.01):
        keep("watch/alerts/if the precision were known", np.log(1 / delta) / gain, 1)


@pytest.mark.parametrize("delta", [0.05, 0.01])
def test_a_target_met_exactly_seldom_rings_within_2000_alerts(delta):
    streams = max(500, 10 * REPETITIONS)
    hits = np.random.default_rng(10).binomial(1, 0.9, (streams, 2000))
    rings = alarm_share(log_e_paths(hits, np.ones_like(hits), Fraction(9, 10)), Fraction(str(delta)))
    assert rings <= highest(delta, streams)
    keep(f"watch/alerts/false alarms/at {delta}", rings, streams)


@pytest.mark.parametrize("delta", [0.05, 0.01])
def test_a_fall_after_a_good_past_raises_the_lifetime_alarm_in_the_end(delta):
    past, later = 2000, 3000
    rate = np.where(np.arange(past + later) < past, 0.93, 0.80)
    hits = np.random.default_rng(11).binomial(1, rate, (500, past + later))
    log_e = log_e_paths(hits, np.ones_like(hits), Fraction(9, 10))[:, past:]
    alerts = np.median(first_look(log_e >= np.log(1 / delta)))
    assert alerts <= 1400
    keep(f"watch/alerts/fall/at {delta}", alerts, 500)


def test_a_change_after_a_good_past_raises_the_change_alarm_in_time():
    size, past, looks = 10, 200, 260
    rate = np.where(np.arange(looks) < past, 0.93, 0.80)
    successes = np.random.default_rng(8).binomial(size, rate, (500, looks))
    paths = change_paths(successes, size, Fraction(9, 10))
    assert np.isfinite(paths).all()
    is_alarmed = paths >= 1000
    assert is_alarmed[:, :past].any(axis=1).mean() <= highest(past / 1000, len(paths))
    alerts = size * np.median(first_look(is_alarmed[:, past:]))
    assert alerts <= 200
    keep("watch/alerts/fall/change alarm", alerts, 500)
