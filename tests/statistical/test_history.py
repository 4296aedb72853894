"""Simulations of histories in which nothing changes, or something does: what backtest says holds."""

import math
from datetime import timedelta

import numpy as np
import polars as pl
import pytest

from tests.statistical.levels import lowest, repetitions
from tests.statistical.test_days import draw
from uqcli.backtest.chance import mann_kendall_p, next_range, sign_flip_p
from uqcli.backtest.history import read_history
from uqcli.backtest.options import BacktestRequest, PeriodOptions
from uqcli.backtest.periods import Calendar, periods_of
from uqcli.backtest.run import run
from uqcli.backtest.windows import fit_window
from uqcli.boundary.search.typed_constraints import constraint_from
from uqcli.engines.request import DataRequest, Roles, in_memory

REPETITIONS = repetitions(30)
DRAWS = 2000
ROLES = Roles(numbers={"score": "score"}, label="label")
CASES = [(8, 30, 60, 0.0, 0), (8, 30, 60, 1.0, 0), (20, 12, 100, 0.6, 60), (60, 10, 60, 0.6, 100)]
"""Periods, days of each, rows of a day, spread of the days' log-odds, and days of fit; 0 for all before."""


def walk(periods, length, rows, spread, fit, seed):
    """Walk through a history and one period more; return the report, and the next precision if known."""
    random = np.random.default_rng([periods, rows, int(10 * spread), seed])
    days = (periods + 2) * length
    day = np.repeat(np.arange(days), np.maximum(1, random.poisson(rows, days)))
    score, label = draw(random, day, spread, 0.0)
    frame = pl.DataFrame(
        {"score": score, "label": label.astype(np.int8), "day": pl.Series(day + 20_000, dtype=pl.Int32)}
    ).with_columns(pl.col("day").cast(pl.Date))
    known = day < (periods + 1) * length
    request = BacktestRequest(
        periods=PeriodOptions(day="day", every=f"{length}d", fit=fit),
        seed=seed,
        data=DataRequest(inputs=in_memory(frame.filter(known)), roles=ROLES),
        targets=(constraint_from(precision="0.6"),),
    )
    report = run(request).report
    data = request.data.clustered_by("day", days=True)
    history = read_history(data)
    calendar = Calendar(
        every=request.periods.every,
        first=history.first,
        last=history.last,
        periods=periods_of(request.periods.every, history.first, history.last),
        fit=fit,
    )
    window = calendar.window_before(history.last + timedelta(days=1))
    rule = fit_window(history, request, request.targets[0], window, 0).rule
    flagged = ~known & (score >= rule.thresholds[0])
    return report, label[flagged].mean()


@pytest.mark.parametrize("case", CASES)
def test_what_is_usual_and_what_is_next_hold_in_an_unchanged_world(case):
    runs = max(20, REPETITIONS // (1 if case[0] < 20 else 2))  # half a whole run still has the power
    usual, covered, differ, coverage = np.zeros((runs, 3)), [], np.zeros((runs, 3)), 0.0
    for seed in range(runs):
        report, following = walk(*case, seed)
        metrics, payload = report.metrics, report.payload()
        policies = [metrics[name] for name in ("first", "after_alarm", "each_period")]
        usual[seed] = [each["usual_low"] <= each["met"] <= each["usual_high"] for each in policies]
        differ[seed] = [each["p"] < 0.05 for each in payload["comparisons"]]
        if payload["next"]["reason"] is None:
            covered.append(payload["next"]["low"] <= following <= payload["next"]["high"])
            coverage = payload["next"]["coverage"]
    assert (usual.mean(axis=0) >= lowest(0.95, runs)).all()
    assert (1 - differ.mean(axis=0) >= lowest(0.95, runs)).all()
    assert np.mean(covered) >= coverage - 3 * math.sqrt(coverage * (1 - coverage) / len(covered))


@pytest.mark.parametrize("number", [5, 8, 20, 60])
def test_signs_and_ranks_keep_their_level(number):
    random = np.random.default_rng(number)
    values = random.standard_normal((DRAWS if number <= 8 else max(100, REPETITIONS), number))
    for test in (lambda row: sign_flip_p(row, 0), lambda row: mann_kendall_p(row)[1]):
        rejected = np.mean([test(row) <= 0.05 for row in values])
        assert 1 - rejected >= lowest(0.95, len(values))


def unchanged(random, size):
    return random.standard_normal(size)


def in_spells(random, size):
    """Draw differences of which those of bad spells, a third of all periods, are 1.5 deviations lower."""
    bad, state = np.zeros(size + 50), 0
    for period in range(size + 50):
        state = state if random.random() < 2 / 3 else int(random.random() < 1 / 3)
        bad[period] = state
    return random.standard_normal(size) - 1.5 * bad[50:]


def trending(random, size):
    """Draw differences that fall by a tenth of a deviation a period."""
    return random.standard_normal(size) - 0.1 * np.arange(size)


def stepping(random, size):
    """Draw differences of which the last is two deviations lower."""
    return random.standard_normal(size) - 2.0 * (np.arange(size) == size - 1)


@pytest.mark.parametrize("periods", [8, 12, 24])
@pytest.mark.parametrize(
    ("draw_differences", "lost"),
    [(unchanged, 0.0), (in_spells, 0.09), (trending, 0.12), (stepping, 0.6)],
    ids=lambda value: getattr(value, "__name__", None),
)
def test_the_next_range_covers_what_is_exchangeable_and_less_of_what_is_not(periods, draw_differences, lost):
    random, inside = np.random.default_rng(periods), np.zeros(DRAWS)
    for draw_number in range(DRAWS):
        *past, following = 0.2 + draw_differences(random, periods + 1) / 100
        low, high, coverage = next_range(0.3, past)
        inside[draw_number] = low <= 0.3 + following <= high
    error = math.sqrt(coverage * (1 - coverage) / DRAWS)
    assert coverage - lost - 3 * error <= inside.mean() <= coverage + 3 * error
