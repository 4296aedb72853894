"""Alarms by promise: their limits, what is looked at after an acknowledgement, and what a range rests on."""

import math
import time
from fractions import Fraction

import msgspec
import numpy as np
import pytest
from matplotlib.figure import Figure as Canvas

from tests.oracles import alike_days as oracle
from uqcli.base.choices import ArtifactKind
from uqcli.boundary.promise import Promise
from uqcli.estimates.dependence import unit_sums
from uqcli.rules.saved import Source
from uqcli.watch import parts
from uqcli.watch.evidence import log_e_value
from uqcli.watch.measure import measured_promises, with_alarms
from uqcli.watch.state import BatchCounts, SavedBatch, SavedPromise, WatchArtifact, WatchParameters

HALF = Promise(rate="precision", bound=Fraction(1, 2), origin="given")


def state_of(promises, days, *, acknowledged=0, run_length=1000, version="0.5.0", **alarms):
    """Build the state of a watch; each day has the successes and trials of each promise."""
    batches = [
        SavedBatch(
            day=f"{2026 + day // 336}-{1 + day % 336 // 28:02}-{1 + day % 28:02}",
            rows=0,
            counts=[BatchCounts(successes=k, trials=n) for k, n in counts],
        )
        for day, counts in enumerate(days)
    ]
    totals = np.array(days[acknowledged:]).reshape(-1, len(promises), 2).sum(axis=0)
    return WatchArtifact(
        kind=ArtifactKind.WATCH,
        uqcli_version=version,
        source=Source(rows=0, positives=None, dropped=0, columns={}),
        parameters=WatchParameters(delta="0.01", run_length=run_length, bound=None, day="day", matured=0),
        artifact="0" * 64,
        promises=[
            SavedPromise(
                name=promise.name,
                bound=float(promise.bound),
                origin=promise.origin,
                successes=int(k),
                trials=int(n),
                **alarms,
            )
            for promise, (k, n) in zip(promises, totals, strict=True)
        ],
        batches=batches,
        acknowledged=acknowledged,
    )


def measured(state, promises):
    return measured_promises(state, promises, 0.95)


def draw(rate, days, alerts=20, seed=1):
    return np.random.default_rng(seed).binomial(alerts, rate, days).tolist()


def report_of(state, promises, **more):
    return parts.report_of(
        state,
        measured(state, promises),
        parts.NewRows(unit="day"),
        0.95,
        kept=True,
        **{"is_continued": True, **more},
    )


@pytest.mark.parametrize(
    ("rates", "sides", "limit"),
    [
        (["precision"], 1, 100),
        (["coverage"], 2, 200),
        (["precision", "recall"], 1, 200),
        (["precision", "recall", "miss"], 1, 300),
        (["coverage", "miss"], 2, 400),
    ],
)
def test_the_risk_and_the_run_length_are_divided_over_promises_and_sides(rates, sides, limit):
    promises = [Promise(rate=rate, bound=Fraction(1, 2), origin="given", sides=sides) for rate in rates]
    found = measured(state_of(promises, [[(4, 10)] * len(rates)], run_length=700), promises)
    assert [(promise.evidence.limit, promise.change.limit) for promise in found] == [
        (limit, 700 * len(rates)) for _ in rates
    ]


def test_the_range_of_days_without_a_success_ends_at_a_hundredth_after_a_year():
    """The evidence of days that may be alike decides; it must reach 40."""
    (promise,) = measured(state_of([HALF], [[(0, 1000)]] * 365), [HALF])
    assert promise.rate.low == 0
    assert promise.rate.high == pytest.approx(0.0102, abs=5e-5)


def test_alarms_ring_at_these_limits_and_not_before():
    """Of two promises, or two sides, the evidence must be twice as large, which takes some days more."""
    days = [[(k, 20)] for k in [7, 8, 6, 8] * 6]
    one, two = [HALF], [HALF, Promise(rate="recall", bound=Fraction(1, 2), origin="given")]
    first, later = 16, 17
    evidence = [
        measured(state_of(one, days[:look]), one)[0].evidence.log10 for look in (first, later, later + 1)
    ]
    assert evidence[0] < 2 <= evidence[1] < math.log10(200) <= evidence[2]
    rung = with_alarms(state_of(one, days), one, known=0)
    assert rung.promises[0].alarmed_at == rung.batches[first].day
    both = with_alarms(state_of(two, [[counts[0]] * 2 for counts in days]), two, known=0)
    assert [promise.alarmed_at for promise in both.promises] == [both.batches[later].day] * 2
    sides = [Promise(rate="coverage", bound=Fraction(1, 2), origin="given", sides=2)]
    assert (
        with_alarms(state_of(sides, days), sides, known=0).promises[0].alarmed_at == rung.batches[later].day
    )


@pytest.mark.parametrize("acknowledged", [0, 12])
def test_batches_one_by_one_ring_as_all_at_once_also_after_an_acknowledgement(acknowledged):
    good = [[(k, 20)] for k in draw(0.6, 12 + 25)]
    days = [*good, *([(k, 20)] for k in draw(0.25, 8, seed=2))]
    once = with_alarms(state_of([HALF], days, acknowledged=acknowledged), [HALF], known=acknowledged).promises
    state = state_of([HALF], days[:acknowledged], acknowledged=acknowledged)
    for number in range(acknowledged, len(days)):
        more = msgspec.structs.replace(
            state_of([HALF], days[: number + 1], acknowledged=acknowledged), promises=state.promises
        )
        state = with_alarms(more, [HALF], known=number)
    assert state.promises == once
    assert state.promises[0].changed_at is not None
    assert state.promises[0].changed_at > f"2026-02-{10:02}"


def test_a_bound_of_1_rings_at_the_first_failure_whatever_the_days_are_like():
    promise = Promise(rate="precision", bound=Fraction(1), origin="given")
    days = [[(5, 5)], [(5, 5)], [(4, 5)], [(5, 5)]]
    state = with_alarms(state_of([promise], days), [promise], known=0)
    assert (state.promises[0].alarmed_at, state.promises[0].changed_at) == ("2026-01-03", "2026-01-03")
    state = with_alarms(state_of([promise], days[:1] + days[2:3]), [promise], known=0)
    assert state.promises[0].alarmed_at == "2026-01-02"
    (first,) = measured(state_of([promise], [[(4, 5)]]), [promise])
    assert first.evidence.log10 == 300


@pytest.mark.parametrize(
    ("days", "calibration"),
    [
        ([(8, 10), (3, 10), (9, 10), (2, 10), (7, 10)], None),
        ([(3, 10), (4, 10), (2, 10), (3, 10), (4, 10), (1, 10)], [(5, 10), (4, 10), (6, 10)] * 3),
        ([(0, 10), (0, 0), (1, 10), (0, 10), (0, 0)], None),
        ([(0, 0)], None),
    ],
)
def test_the_evidence_is_the_smaller_of_both_and_so_is_that_of_a_drop(days, calibration):
    sums = None if calibration is None else unit_sums(*np.array(calibration).T)
    promise = Promise(rate="precision", bound=Fraction(1, 2), origin="given", calibration=sums)
    (found,) = measured(state_of([promise], [[counts] for counts in days], run_length=3), [promise])
    with_trials = [counts for counts in days if counts[1]]
    expected = oracle.log_evidence(with_trials, Fraction(1, 2), calibration)
    assert found.evidence.log10 * math.log(10) == pytest.approx(expected, rel=1e-6, abs=1e-9)
    if len(with_trials) == len(days):
        assert math.log(found.change.value) == pytest.approx(
            oracle.log_change(days, Fraction(1, 2), 3, calibration), rel=1e-6, abs=1e-9
        )


def test_three_years_of_days_cost_little_more_than_one():
    """A second of processor time is allowed; the screen of change alarms alone saves five."""
    random = np.random.default_rng(5)
    days = [[(k, 50)] for k in random.binomial(50, random.beta(8.1, 0.9, 1095)).tolist()]
    state = state_of([HALF], days[:1])
    measured(with_alarms(state, [HALF], known=0), [HALF])
    promise = Promise(rate="precision", bound=Fraction(9, 10), origin="given")
    state, start = state_of([promise], days), time.process_time()
    measured(with_alarms(state, [promise], known=0), [promise])
    assert time.process_time() - start < 2


def test_independent_rows_have_no_factor_and_customers_have():
    state = state_of([HALF], [[(20, 60)]])
    one_look = msgspec.structs.replace(
        state, batches=[SavedBatch(digest="0" * 64, rows=0, counts=state.batches[0].counts)]
    )
    (rows,) = measured(one_look, [HALF])
    assert rows.evidence.log10 == pytest.approx(log_e_value(20, 60, Fraction(1, 2)) / math.log(10))
    customers = [(k, 4) for k in (1, 2, 0, 1, 2, 2, 1, 1, 2, 0, 1, 2, 1, 1, 3)]
    units = [tuple(np.array(customers).T)]
    (by_customer,) = measured_promises(one_look, [HALF], 0.95, units)
    # 20 of 60, of whom none is in order
    expected = oracle.log_evidence(customers, Fraction(1, 2)) / math.log(10)
    assert by_customer.evidence.log10 <= expected + 1e-9 < rows.evidence.log10
    assert by_customer.change.value == pytest.approx(10**by_customer.evidence.log10)


@pytest.mark.parametrize("is_upper", [False, True])
def test_the_printed_range_holds_what_neither_side_rejects_and_ends_the_band(is_upper):
    days = [(k, 30) for k in (2, 0, 3, 1, 0, 9, 2, 1, 0, 4, 1, 2)]
    promise = Promise(rate="miss" if is_upper else "precision", bound=Fraction(1, 2), origin="given")
    (found,) = measured(state_of([promise], [[counts] for counts in days]), [promise])
    low, high = found.rate.low, found.rate.high
    if is_upper:
        low, high = 1 - high, 1 - low
    limit = math.log(40)

    def evidence(side_days, bound):
        return min(
            oracle.log_effective(side_days, bound, None, 0), oracle.log_factor(side_days, bound) - math.log(2)
        )

    others = [(n - k, n) for k, n in days]
    for side, end in ((days, high), (others, 1 - low)):
        assert evidence(side, Fraction(end) + Fraction(1, 10**6)) >= limit
        assert evidence(side, Fraction(end) - Fraction(1, 10**4)) < limit
    *before, (_, last, _) = found.over_time()
    assert last == found.rate
    assert len(before) == len(days) - 1


@pytest.mark.parametrize("right", [0, 20])
def test_a_range_without_any_success_or_failure_says_what_it_rests_on(right):
    state = state_of([HALF], [[(right, 20)]] * 30)
    lead = " ".join(report_of(state, [HALF]).document().lead)
    assert f"All 600 alerts are {'right' if right else 'wrong'}" in lead
    assert "The range therefore rests on 30 days" in lead
    assert any("rests on 30 days" in note for note in report_of(state, [HALF]).payload()["notes"])
    (found,) = measured(state, [HALF])
    (*_, (_, before, _)), (*_, (_, last, _)) = found.over_time()[:-1], found.over_time()
    rate = found.rate
    assert last == rate
    assert rate.high - rate.low > before.high - before.low + 0.05  # the band is that of effective counts
    assert (1 - rate.low if right else rate.high) == pytest.approx(3.7 / 30, rel=0.2)
    usual = report_of(state_of([HALF], [[(9, 20)], [(right, 20)]] * 15), [HALF]).document().lead
    assert "rests on" not in " ".join(usual)


@pytest.mark.parametrize(
    ("days", "calibration_days", "is_early"), [(19, 0, True), (20, 19, True), (20, 20, False), (21, 0, False)]
)
def test_an_alarm_within_twenty_days_says_so_unless_the_calibration_rows_had_as_many(
    days, calibration_days, is_early
):
    sums = unit_sums(np.full(calibration_days, 10), np.full(calibration_days, 20))
    promise = Promise(rate="precision", bound=Fraction(1, 2), origin="given", calibration=sums)
    counted = [[(0, 0)], *([(10, 20)] for _ in range(days - 1)), [(2, 20)], [(11, 20)]]
    at = {"alarmed_at": f"2026-{1 + days // 28:02}-{1 + days % 28:02}"}
    report = report_of(state_of([promise], counted, **at), [promise])
    assert (f"only {days} batches with alerts had been seen by then" in report.alarms()[0]) == is_early
    lead = report.document().lead[0]
    assert lead.startswith("Stop relying on the rule")
    assert ("if a rarer kind of day is better, the rule may still meet its target" in lead) == is_early


@pytest.mark.parametrize("kind", ["alarmed_at", "changed_at"])
@pytest.mark.parametrize(("rate", "would"), [(0.5, "would not have raised"), (0.2, "would have raised")])
def test_an_alarm_of_an_earlier_version_stands_and_says_whether_it_would_be_raised_now(kind, rate, would):
    days = [[(k, 20)] for k in draw(rate, 15)]
    state = state_of([HALF], days, version="0.4.0", **{kind: "2026-01-05"})
    report = report_of(state, [HALF])
    assert report.alarms()
    (caution,) = (note for note in report.payload()["notes"] if "uqcli 0.4.0 began this state" in note)
    assert "The alarm of precision >= 50 % stays until --acknowledge" in caution
    assert f"the evidence as it is computed now {would} it." in caution
    for other in (
        report_of(state_of([HALF], days, version="0.4.0"), [HALF]),
        report_of(msgspec.structs.replace(state, uqcli_version="0.5.1"), [HALF]),
        report_of(state, [HALF], is_continued=False),
    ):
        assert not any("stays until" in note for note in other.payload()["notes"])
    silent = report_of(state_of([HALF], days, version="0.4.0"), [HALF]).payload()["notes"]
    assert any("evidence is computed in another way since 0.5." in note for note in silent)


@pytest.mark.parametrize("rate", [0.02, 0.5, 0.97])
def test_the_axis_of_rates_holds_the_limit_and_all_points_within_0_and_1(rate):
    days = [[(k, 20)] for k in draw(rate, 30)]
    (figure,) = report_of(state_of([HALF], days), [HALF]).document().figures
    canvas = Canvas()
    texts = figure.draw(canvas)
    (axes,) = canvas.axes
    low, high = axes.get_ylim()
    points = [k / n for ((k, n),) in days] + [0.5]
    assert 0 <= low <= min(points) < max(points) <= high <= 1
    assert high - low < 1.2 * (max(points) - min(points)) + 0.3
    assert axes.get_xlim() == (0.5, 30.5)
    assert len(texts) == 30
