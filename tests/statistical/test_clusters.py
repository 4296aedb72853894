"""Simulations of rows that depend on each other within clusters: with ``--cluster`` the levels hold."""

from fractions import Fraction

import numpy as np
import polars as pl
import pytest
from scipy.special import ndtr

from tests.statistical.clustered import cluster_of_rows, labels, normals, sums, uniforms
from tests.statistical.levels import highest, keep, lowest, repetitions
from uqcli.base.choices import CalibrationMethod
from uqcli.base.counts import pool
from uqcli.base.draws import text_keys
from uqcli.base.options import ResamplingOptions
from uqcli.base.rows import Rows
from uqcli.boundary.calibration_set import CalibrationRows
from uqcli.boundary.candidates import compare_uncertainties
from uqcli.boundary.certify import certified
from uqcli.boundary.options import BinOptions, BoundaryRequest, CertificateOptions, GridOptions, Target
from uqcli.boundary.outcome import Found
from uqcli.boundary.search.typed_constraints import constraint_from
from uqcli.calibrate.fit import cross_validated
from uqcli.calibrate.fit_options import CalibrationOptions
from uqcli.comparison.run import compare
from uqcli.conformal.coverage import clustered_p_value, coverage_p_value, independent_share, rank_of
from uqcli.engines.request import DataRequest, Roles, in_memory
from uqcli.estimates.dependence import dependence_path
from uqcli.estimates.paired import ClusteredPairs, PairedCounts
from uqcli.estimates.proportion import clopper_pearson
from uqcli.estimates.survey import proportion_interval, ratio_difference
from uqcli.tce.chance import chance_of_scores
from uqcli.tce.clusters import ClusteredScores, errors_of_clusters
from uqcli.tce.measure import measure
from uqcli.tce.options import MeasureOptions
from uqcli.watch.evidence import log_e_values

REPETITIONS = repetitions(100)
SIZES = [10, "1-30"]
CORRELATIONS = [0, 0.2, 0.5]


def successes(random, size_of, rate, correlation):
    """Draw the successes of clusters whose rates have a beta distribution."""
    rates = np.full(len(size_of), rate)
    if correlation:
        spread = (1 - correlation) / correlation
        rates = random.beta(rate * spread, (1 - rate) * spread, len(size_of))
    return random.binomial(size_of, rates)


@pytest.mark.parametrize("correlation", CORRELATIONS)
@pytest.mark.parametrize("sizes", SIZES)
@pytest.mark.parametrize("clusters", [20, 40, 100, 300])
def test_intervals_of_proportions_cover(clusters, sizes, correlation):
    for rate in (0.5, 0.9, 0.97, 0.99):
        random = np.random.default_rng([clusters, int(10 * correlation), int(100 * rate)])
        covered, independent = 0, 0
        for _ in range(REPETITIONS):
            size_of = np.bincount(cluster_of_rows(random, clusters, sizes))
            hits = successes(random, size_of, rate, correlation)
            interval = proportion_interval(hits, size_of, 0.95)
            covered += interval.low <= rate <= interval.high
            low, high = clopper_pearson(int(hits.sum()), int(size_of.sum()), 0.95)
            independent += low <= rate <= high
        assert covered / REPETITIONS >= lowest(0.95, REPETITIONS), (rate, covered)
        case = f"correlation {correlation}/{sizes} rows/{clusters} clusters/rate {rate}"
        keep(f"clusters/intervals cover/with/{case}", covered / REPETITIONS, REPETITIONS)
        if correlation == 0.5:
            assert clusters < 40 or independent / REPETITIONS < 0.75, independent
            keep(f"clusters/intervals cover/without/{case}", independent / REPETITIONS, REPETITIONS)


@pytest.mark.parametrize("rate", [0.5, 0.95])
@pytest.mark.parametrize(
    ("clusters", "large_share", "large"),
    [(300, 0.02, 50), (2000, 0.02, 50), (2000, 0.01, 20), (10_000, 0.002, 50)],
)
def test_rates_of_clusters_with_a_label_and_a_few_large_ones_are_covered(clusters, large_share, large, rate):
    """If one more failure weighed as clusters do by size, .85 to .92 would be covered at a rate of .95."""
    random = np.random.default_rng([clusters, round(1000 * large_share), round(100 * rate)])
    covered = 0
    for _ in range(REPETITIONS):
        size_of = np.where(random.random(clusters) < large_share, large, 1)
        hits = np.where(random.random(clusters) < rate, size_of, 0)
        interval = proportion_interval(hits, size_of, 0.95)
        covered += interval.low is None or interval.low <= rate <= interval.high
    assert covered / REPETITIONS >= lowest(0.95, REPETITIONS), covered


@pytest.mark.parametrize("bad_days", [0, 0.05])
@pytest.mark.parametrize(("days", "widest"), [(20, 0.18), (28, 0.15), (100, 0.06)])
def test_rates_of_days_with_many_alerts_are_covered_by_intervals_of_use(days, widest, bad_days):
    """A rate of .3 on a few days is not excluded by days that are alike, so that intervals stay wide."""
    for rate in (0.9, 0.957):
        random = np.random.default_rng([days, round(100 * bad_days), round(1000 * rate)])
        covered, widths = 0, []
        for _ in range(REPETITIONS):
            is_bad = random.random(days) < bad_days
            usual = (rate - 0.3 * bad_days) / (1 - bad_days)
            hits = random.binomial(50, np.where(is_bad, 0.3, usual))
            interval = proportion_interval(hits, np.full(days, 50), 0.95)
            covered += interval.low <= rate <= interval.high
            widths.append(interval.high - interval.low)
        assert covered / REPETITIONS >= lowest(0.95, REPETITIONS), (rate, covered)
        assert bad_days or np.median(widths) < widest, np.median(widths)


def unequal_sizes(random, law, clusters):
    """Draw the sizes of clusters; those of a Pareto law have no variance, or not even a mean."""
    if law == "log-normal":
        return np.maximum(1, np.exp(random.normal(1, 1.5, clusters))).astype(np.int64)
    return np.minimum(1 + 2 * random.pareto(law, clusters), 3000).astype(np.int64)


@pytest.mark.parametrize("correlation", [0, 0.1, 0.5, 0.9])
@pytest.mark.parametrize("law", [1.0, 1.5, "log-normal"])
@pytest.mark.parametrize("clusters", [20, 50, 200])
def test_intervals_of_proportions_cover_clusters_of_unequal_size(clusters, law, correlation):
    for rate in (0.5, 0.8, 0.95, 0.99):
        random = np.random.default_rng([4, clusters, int(10 * correlation), int(100 * rate)])
        covered, made = 0, 0
        for _ in range(2 * REPETITIONS):
            size_of = unequal_sizes(random, law, clusters)
            interval = proportion_interval(successes(random, size_of, rate, correlation), size_of, 0.95)
            if interval.low is not None:
                made += 1
                covered += interval.low <= rate <= interval.high
        assert covered >= made * lowest(0.95, made, drawn=2 * REPETITIONS), (rate, covered, made)
        assert made >= 0.6 * 2 * REPETITIONS, (rate, made)


NOISE = 0.6


def scores_of_two_models(random, cluster, correlation):
    """Return true probabilities, and those of a noisy model."""
    truth, noise = (normals(random, cluster, correlation) for _ in range(2))
    return ndtr(truth), ndtr(NOISE * truth + np.sqrt(1 - NOISE**2) * noise)


@pytest.fixture(scope="module")
def true_differences():
    """Compute the true differences in precision and recall of two rules on a large sample."""
    first, second = scores_of_two_models(np.random.default_rng(0), np.arange(2_000_000), 0)
    flagged = [first >= 0.8, second >= 0.8]
    precision, recall = ([f(first[flags]) for flags in flagged] for f in (np.mean, np.sum))
    return precision[1] - precision[0], (recall[1] - recall[0]) / first.sum()


@pytest.mark.parametrize("correlation", CORRELATIONS)
@pytest.mark.parametrize("sizes", SIZES)
@pytest.mark.parametrize("clusters", [40, 100])
def test_intervals_of_differences_cover(clusters, sizes, correlation, true_differences):
    covered, made = np.zeros(2), np.zeros(2)
    for seed in range(REPETITIONS):
        random = np.random.default_rng([1, clusters, int(10 * correlation), seed])
        cluster = cluster_of_rows(random, clusters, sizes)
        first, second = scores_of_two_models(random, cluster, correlation)
        label = labels(random, cluster, first, correlation)
        one, two = first >= 0.8, second >= 0.8
        positive, a, hit_a, b, hit_b = sums(cluster, label, one, one & label, two, two & label)
        pairs = [((hit_a, a), (hit_b, b)), ((hit_a, positive), (hit_b, positive))]
        for index, (pair, truth) in enumerate(zip(pairs, true_differences, strict=True)):
            difference = ratio_difference(*pair, 0.95)
            if difference.low is not None:
                made[index] += 1
                covered[index] += difference.low <= truth <= difference.high
    assert (covered >= made * lowest(0.94, made, drawn=REPETITIONS)).all(), (covered, made)
    assert (made > 0.9 * REPETITIONS).all()


@pytest.mark.parametrize("correlation", [0.5, 0.9])
@pytest.mark.parametrize(("clusters", "law"), [(25, 1.0), (40, 1.5), (40, "log-normal"), (100, 1.0)])
def test_equal_precisions_over_clusters_of_unequal_size_seldom_differ(clusters, law, correlation):
    """Most clusters are flagged by one rule or by the other; without a limit, up to 9 % differ."""
    differing, made = 0, 0
    for seed in range(3 * REPETITIONS):
        random = np.random.default_rng([8, clusters, int(10 * correlation), seed])
        cluster = np.repeat(np.arange(clusters), unequal_sizes(random, law, clusters))
        spread = (1 - correlation) / correlation
        label = random.random(len(cluster)) < random.beta(spread / 2, spread / 2, clusters)[cluster]
        trials = []
        for _ in range(2):
            whole, single = random.random(clusters)[cluster] < 0.3, random.random(len(cluster)) < 0.3
            flagged = np.where(random.random(len(cluster)) < 0.8, whole, single)
            trials.append(
                tuple(
                    np.bincount(cluster[chosen], minlength=clusters) for chosen in (flagged & label, flagged)
                )
            )
        difference = ratio_difference(*trials, 0.95)
        if difference.low is not None:
            made += 1
            differing += not difference.low <= 0 <= difference.high
    assert differing <= made * highest(0.05, made), (differing, made)


@pytest.mark.parametrize(("clusters", "rate"), [(30, 0.3), (150, 0.1)])
def test_intervals_of_losses_cover_clusters_of_unequal_size(clusters, rate):
    grid = np.clip(rate + 0.15 * normals(np.random.default_rng(0), np.arange(400_000), 0), 0.01, 0.9)
    mapped = np.clip(grid**1.2, 0.01, 0.99)
    truth = -(grid * np.log(mapped) + (1 - grid) * np.log1p(-mapped)).mean()
    covered, made = 0, 0
    for seed in range(REPETITIONS):
        random = np.random.default_rng([9, clusters, seed])
        cluster = np.repeat(np.arange(clusters), unequal_sizes(random, 1.5, clusters))
        score = np.clip(rate + 0.15 * normals(random, cluster, 0.5), 0.01, 0.9)
        label, weight = labels(random, cluster, score, 0.5), np.ones(len(cluster), dtype=np.int64)
        mapped = np.clip(score**1.2, 0.01, 0.99)
        pairs = ClusteredPairs.from_scores(score, mapped, label, weight, cluster)
        counts = PairedCounts.from_predictions(score, mapped, label, None)
        loss = compare(counts, ResamplingOptions(bootstrap=60, seed=seed), pairs).after["log_loss"]
        if loss.low is not None:
            made += 1
            covered += loss.low <= truth <= loss.high
    assert made > 0.8 * REPETITIONS
    assert covered >= made * lowest(0.94, made, drawn=REPETITIONS), (covered, made)


@pytest.mark.parametrize(("base", "clusters"), [(0.9, 20), (0.9, 100), (0.05, 100)])
@pytest.mark.parametrize("sizes", SIZES)
def test_intervals_of_losses_cover(base, clusters, sizes):
    grid = (np.arange(100_000) + 0.5) / 100_000 * base
    truth = {"brier": lambda s, q: s * (1 - q) ** 2 + (1 - s) * q**2}
    truth["log_loss"] = lambda s, q: -s * np.log(q) - (1 - s) * np.log1p(-q)
    runs = REPETITIONS if REPETITIONS > 999 else REPETITIONS // 2
    names = [(name, side) for name in truth for side in ("after", "difference")]
    covered, alone = (dict.fromkeys(names, 0) for _ in range(2))
    made = 0
    for seed in range(runs):
        random = np.random.default_rng([2, clusters, seed])
        cluster = cluster_of_rows(random, clusters, sizes)
        score = uniforms(random, cluster, 0.5) * base
        label, weight = labels(random, cluster, score, 0.5), np.ones(len(cluster), dtype=np.int64)
        mapped = np.clip(score**1.3, 0.01, 0.99)
        counts = PairedCounts.from_predictions(score, mapped, label, None)
        pairs = ClusteredPairs.from_scores(score, mapped, label, weight, cluster)
        plan = ResamplingOptions(bootstrap=60, seed=seed)
        results = compare(counts, plan, pairs), compare(counts, plan)
        if results[0].after["brier"].low is None:
            continue
        made += 1
        for name, side in names:
            after = truth[name](grid, np.clip(grid**1.3, 0.01, 0.99)).mean()
            value = after - (truth[name](grid, grid).mean() if side == "difference" else 0)
            for result, total in zip(results, (covered, alone), strict=True):
                estimate = getattr(result, side)[name]
                total[name, side] += estimate.low <= value <= estimate.high
    assert made > 0.85 * runs
    assert min(covered.values()) >= made * lowest(0.94, made, drawn=runs), (covered, made)
    if base == 0.9:
        assert alone["brier", "difference"] < 0.88 * made, alone


@pytest.mark.parametrize("correlation", CORRELATIONS)
@pytest.mark.parametrize(
    ("calibration", "tested", "sizes"),
    [(50, 50, "1-30"), (200, 50, "1-30"), (200, 1000, "1-30"), (200, 200, 10)],
)
def test_guaranteed_coverage_is_rejected_at_its_level(calibration, tested, sizes, correlation):
    alpha, rejected, independent = Fraction(1, 10), 0, 0
    for seed in range(REPETITIONS):
        random = np.random.default_rng([3, calibration, tested, int(10 * correlation), seed])
        fitted, new = (cluster_of_rows(random, clusters, sizes) for clusters in (calibration, tested))
        ordered = np.sort(uniforms(random, fitted, correlation))
        threshold = ordered[rank_of(len(ordered), alpha) - 1]
        rows, covered = sums(new, np.ones(len(new)), uniforms(random, new, correlation) <= threshold)
        alike = int(len(fitted) * independent_share(covered, rows))
        rejected += clustered_p_value(covered, rows, alike, alpha) <= 0.05
        p_value = coverage_p_value(int(covered.sum()), int(rows.sum()), len(fitted), alpha)
        independent += p_value <= 0.05
    assert rejected / REPETITIONS <= highest(0.055, REPETITIONS), rejected
    case = f"correlation {correlation}/{calibration} and {tested} clusters of {sizes} rows"
    keep(f"clusters/coverage rejected/with/{case}", rejected / REPETITIONS, REPETITIONS)
    if correlation == 0.5:
        assert independent / REPETITIONS > 0.12, independent
        keep(f"clusters/coverage rejected/without/{case}", independent / REPETITIONS, REPETITIONS)


@pytest.mark.parametrize("method", ["platt", "isotonic"])
@pytest.mark.parametrize(("clusters", "sizes"), [(20, 10), (100, 10), (100, "1-30")])
@pytest.mark.parametrize("correlation", CORRELATIONS)
def test_maps_of_true_scores_do_not_help(method, clusters, sizes, correlation):
    runs, helped = max(30, REPETITIONS // 4), dict.fromkeys(("customer", None), 0)
    for seed in range(runs):
        random = np.random.default_rng([4, clusters, int(10 * correlation), seed])
        cluster = cluster_of_rows(random, clusters, sizes)
        score = np.clip(uniforms(random, cluster, float(correlation > 0)), 0.01, 0.99)
        label = labels(random, cluster, score, correlation)
        keys = text_keys([str(index) for index in range(clusters)])
        rows = Rows(numbers={"score": score}, positive=label, groups={"customer": keys[cluster]}).pooled()
        for column in helped:
            options = CalibrationOptions(method=CalibrationMethod(method), seed=seed, cluster=column)
            held_out = next(cross_validated(rows, [options], None))
            change = held_out.compared(ResamplingOptions(bootstrap=60, seed=seed)).difference
            loss = change["brier" if change["log_loss"].low is None else "log_loss"]
            helped[column] += loss.high is not None and loss.high < 0
    assert helped["customer"] / runs <= highest(0.03, runs), helped
    if correlation == 0.5 and clusters == 100 and method == "isotonic":
        assert helped[None] / runs > 0.5, helped
    for column, number in helped.items() if method == "isotonic" else ():
        case = f"correlation {correlation}/{clusters} clusters of {sizes} rows"
        keep(f"clusters/a map helps/{'without' if column is None else 'with'}/{case}", number / runs, runs)


def frame_of(random, cluster, score, label, uncertainty):
    """Return rows as a data frame, and the request to read them."""
    frame = pl.DataFrame(
        {
            "score": score,
            "uncertainty": uncertainty,
            "label": label.astype(int),
            "customer": [f"k{index}" for index in cluster],
        }
    )
    roles = Roles(numbers={"score": "score", "uncertainty": "uncertainty"}, label="label")
    return DataRequest(inputs=in_memory(frame.sample(fraction=1, shuffle=True, seed=1)), roles=roles)


def customers_alerting():
    """Return the clusters, scores and true rates of many customers, to measure rules on."""
    random = np.random.default_rng(9)
    cluster = cluster_of_rows(random, 20_000, "1-30")
    score = uniforms(random, cluster, 0.95)
    return cluster, score, score**2


@pytest.mark.parametrize(("correlation", "sizes"), [(0, "1-30"), (0.5, "1-30"), (0.5, 10)])
def test_certificates_of_clusters_break_as_rarely_as_stated(correlation, sizes):
    runs, delta = max(40, REPETITIONS // 4), 0.1
    constraint = constraint_from(precision="0.7")
    cluster, score, rate = customers_alerting()
    broken, certified_runs = dict.fromkeys(("customer", None), 0), dict.fromkeys(("customer", None), 0)
    for seed in range(runs):
        random = np.random.default_rng([5, int(10 * correlation), seed])
        of_row = cluster_of_rows(random, 240, sizes)
        scores = uniforms(random, of_row, 0.95)
        label = labels(random, of_row, scores**2, correlation)
        data = frame_of(random, of_row, scores, label, random.random(len(scores)))
        for column in broken:
            request = BoundaryRequest(
                data=data.clustered_by(column),
                target=Target(constraint=constraint),
                certificate=CertificateOptions(certify=str(delta)),
                bins=BinOptions(uncertainty_bins=1, score_bins=100),
                source=GridOptions(seed=seed),
            )
            outcome = certified(request)
            if not isinstance(outcome, Found):
                continue
            certified_runs[column] += 1
            flagged = score >= outcome.boundary.thresholds[0]
            if column is None:
                broken[column] += rate[flagged].mean() < 0.7
            else:  # of customers with an alert, each by one of its alerts
                size, hits = (
                    np.bincount(cluster[flagged], weights=weights) for weights in (None, rate[flagged])
                )
                broken[column] += (hits[size > 0] / size[size > 0]).mean() < 0.7
    assert broken["customer"] / runs <= highest(delta, runs), (broken, certified_runs)
    assert certified_runs["customer"] > 0
    if correlation:
        assert broken[None] / runs > delta, (broken, certified_runs)
    for column, number in broken.items():
        name = f"{'without' if column is None else 'with'}/correlation {correlation}/{sizes} rows"
        keep(f"clusters/certificates break/{name}", number / runs, runs)


@pytest.mark.parametrize(("clusters", "sizes"), [(40, 10), (150, 10), (150, "1-30")])
@pytest.mark.parametrize("correlation", CORRELATIONS)
def test_calibrated_scores_of_clusters_are_rejected_at_the_level(clusters, sizes, correlation):
    runs, options = 12 if REPETITIONS <= 100 else REPETITIONS // 4, MeasureOptions()
    names = ("ece", "ace", "ecce", "tce", "mcb")
    rejected, independent = dict.fromkeys(names, 0), 0
    for seed in range(runs):
        random = np.random.default_rng([7, clusters, int(10 * correlation), seed])
        cluster = cluster_of_rows(random, clusters, sizes)
        score = uniforms(random, cluster, 0.5 * (correlation > 0))
        label = labels(random, cluster, score, correlation)
        keys = text_keys([str(index) for index in range(clusters)])
        order = np.lexsort((label, score, keys[cluster]))
        rows = ClusteredScores(
            cluster=keys[cluster][order], score=score[order], positive=label[order], source=None
        )
        plan = ResamplingOptions(bootstrap=59, seed=seed)
        drawn = rows.drawn(seed)
        _, chance, _ = errors_of_clusters(rows, drawn, measure(drawn, options), options, plan)
        nulls = chance.if_calibrated
        for name in names:
            rejected[name] += nulls[name].p_value <= 0.05
        counts = pool(score, label)
        null = chance_of_scores(counts, measure(counts, options).metrics, options, plan, (0,)).if_calibrated
        independent += null["ecce"].p_value <= 0.05
    assert max(rejected.values()) / runs <= highest(0.06, runs), rejected
    if correlation == 0.5:
        assert runs <= 12 or independent / runs > 0.2, independent
        name = f"clusters/true probabilities rejected/without/{clusters} clusters of {sizes} rows"
        keep(name, independent / runs, runs)


def test_a_watch_of_clusters_rarely_raises_a_false_alarm():
    """Twenty new customers a day, with 20 alerts each that are right or wrong nearly together."""
    bound, days, customers = Fraction(7, 10), 60, 20
    alarms, independent = 0, 0
    for seed in range(REPETITIONS):
        random = np.random.default_rng([8, seed])
        counts = []
        for _ in range(days):
            trials = np.full(customers, 20)
            hits = random.binomial(trials, random.beta(0.7, 0.3, customers))
            counts.append((int(hits.sum()), int(trials.sum())))
        successes, trials = np.array(counts).T
        used = dependence_path(successes, trials).used
        for divisor, single in ((used, False), (1, True)):
            totals = [np.cumsum(column) / divisor for column in (successes, trials)]
            alarm = bool((log_e_values(*totals, bound) >= np.log(100)).any())
            alarms, independent = alarms + (alarm and not single), independent + (alarm and single)
    assert alarms / REPETITIONS <= highest(0.01, REPETITIONS), alarms
    assert independent / REPETITIONS > 0.12, (alarms, independent)
    keep("clusters/a watch rings/with", alarms / REPETITIONS, REPETITIONS)
    keep("clusters/a watch rings/without", independent / REPETITIONS, REPETITIONS)


@pytest.mark.parametrize("sizes", SIZES)
def test_useless_uncertainties_do_not_help(sizes):
    runs, constraint = max(12, REPETITIONS // 8), constraint_from(precision="0.7")
    helped, rejected = dict.fromkeys(("customer", None), 0), 0
    for seed in range(runs):
        random = np.random.default_rng([9, seed])
        cluster = cluster_of_rows(random, 60, sizes)
        score = uniforms(random, cluster, 1)
        label = labels(random, cluster, score, 0.5)
        data = frame_of(random, cluster, score, label, normals(random, cluster, 1))
        for column in helped:
            request = BoundaryRequest(data=data.clustered_by(column), source=GridOptions(seed=seed))
            rows = CalibrationRows.from_request(request, constraint, uncertain=True)
            (gain,) = compare_uncertainties({"uncertainty": rows})
            helped[column] += gain.verdict == "helps"
            rejected += column is not None and gain.p_value is not None and gain.p_value <= 0.05
    assert rejected / runs <= highest(0.05, runs), rejected
    assert helped["customer"] / runs <= highest(0.02, runs), helped
    assert helped[None] / runs > 0.1, helped
    keep(f"clusters/useless uncertainties help/with/{sizes} rows", helped["customer"] / runs, runs)
    keep(f"clusters/useless uncertainties help/without/{sizes} rows", helped[None] / runs, runs)
