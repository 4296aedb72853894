"""Tests of ``--cluster``: intervals and splits of whole clusters, whatever the order of the rows."""

import json

import msgspec
import numpy as np
import polars as pl
import pytest

from tests.cli.conftest import fit
from tests.statistical.clustered import cluster_of_rows, labels, normals, sums, uniforms
from uqcli.estimates.dependence import unit_sums
from uqcli.estimates.survey import proportion_interval, ratio_difference


def draw_customers():
    """Draw rows of 150 customers, with scores that are true probabilities and useless uncertainties."""
    random = np.random.default_rng(5)
    cluster = cluster_of_rows(random, 150, "1-30")
    score = uniforms(random, cluster, 0.4)
    return pl.DataFrame(
        {
            "score": score,
            "uncertainty": normals(random, cluster, 0.4),
            "label": labels(random, cluster, score, 0.4).astype(int),
            "customer": [f"k{index}" for index in cluster],
            "p_0": 1 - score,
            "p_1": score,
        }
    )


@pytest.fixture(scope="module")
def customers():
    return draw_customers()


@pytest.fixture
def inputs(customers, tmp_path):
    """Write the rows in order, and shuffled as CSV."""
    customers.write_parquet(tmp_path / "rows.parquet")
    customers.sample(fraction=1, shuffle=True, seed=1).write_csv(tmp_path / "shuffled.csv")
    return "rows.parquet", "shuffled.csv"


def fit_boundaries():
    draw_customers().write_parquet("rows.parquet")
    for bound, name in (("0.6", "one.json"), ("0.8", "two.json")):
        fit(f"boundary rows.parquet --precision {bound} --algorithm st -o {name}")
    return "one.json", "two.json"


@pytest.fixture
def rules(prepared, inputs):
    """Fit two boundaries."""
    return prepared(fit_boundaries)


def counts(customers, threshold):
    """Return flagged rows, true positives and positives by customer."""
    cluster = customers["customer"].rank("dense").to_numpy() - 1
    flagged = (customers["score"] >= threshold).to_numpy()
    label = customers["label"].to_numpy()
    return sums(cluster.astype(np.int64), np.ones(len(label)), label, flagged, flagged * label)


def test_intervals_of_a_boundary_are_of_clusters(uqcli, customers, inputs, rules):
    report = uqcli("evaluate", rules[0], inputs[0], "--cluster", "customer", "--json").json
    metrics = report["metrics"]
    threshold = uqcli("show", rules[0], "--json").json["thresholds"][0]
    rows, positives, flagged, hits = counts(customers, threshold)
    rates = {"precision": (hits, flagged), "recall": (hits, positives)}
    rates["fpr"] = flagged - hits, rows - positives
    for name, (successes, trials) in rates.items():
        interval = proportion_interval(successes, trials, 0.95)
        assert metrics[name] == {"value": interval.value, "low": interval.low, "high": interval.high}
    numbers = [len(rows), np.count_nonzero(flagged), np.count_nonzero(positives)]
    assert [metrics[name] for name in ("clusters", "clusters_flagged", "clusters_positive")] == numbers
    assert report["source"]["columns"]["cluster"] == report["parameters"]["cluster"] == "customer"


def test_difference_of_two_boundaries_is_of_clusters(uqcli, customers, inputs, rules):
    report = uqcli("evaluate", *rules, inputs[0], "--cluster", "customer", "--json").json
    difference = report["metrics"]["difference"]
    thresholds = [uqcli("show", rule, "--json").json["thresholds"][0] for rule in rules]
    (rows, positives, *first), (_, _, *second) = (counts(customers, at) for at in thresholds)
    precision = ratio_difference(first[::-1], second[::-1], 0.95)
    recall = ratio_difference((first[1], positives), (second[1], positives), 0.95)
    for name, expected in (("precision", precision), ("recall", recall)):
        assert difference[name] == {"value": expected.value, "low": expected.low, "high": expected.high}
    assert difference["recall_p"] == recall.p_value
    assert difference["selected"]["value"] == second[0].sum() - first[0].sum()
    assert difference["disagreements"] == abs(difference["selected"]["value"])
    assert (rows > 0).all()


def fit_other_rules():
    """Fit two calibrators and a rule of prediction sets."""
    draw_customers().write_parquet("rows.parquet")
    fit("calibrate rows.parquet --method platt -o platt.json")
    fit("calibrate rows.parquet --method beta -o beta.json")
    fit("conformal rows.parquet --proba p_* --method lac -o sets.json")
    fit("conformal rows.parquet --proba p_* --method lac --mode label-conditional -o each.json")


@pytest.fixture
def other_rules(prepared, inputs):
    prepared(fit_other_rules)


@pytest.mark.covering("thorough", every=100, also=["arguments3"])
@pytest.mark.usefixtures("other_rules", "rules")
@pytest.mark.parametrize(
    "arguments",
    [
        ("one.json",),
        ("one.json", "two.json"),
        ("platt.json", "beta.json", "--bootstrap", "50"),
        ("sets.json", "each.json"),
    ],
)
def test_order_format_and_engine_change_nothing(uqcli, inputs, arguments):
    command = ("evaluate", *arguments, "--cluster", "customer", "--json")
    first = uqcli(*command, inputs[0])
    assert first.code == 0
    assert uqcli(*command, inputs[1]).json["metrics"] == first.json["metrics"]
    assert uqcli(*command, inputs[0], "--engine", "spark").out == first.out


@pytest.mark.usefixtures("other_rules")
def test_intervals_of_losses_are_wider_for_clusters(uqcli, inputs):
    command = ("evaluate", "platt.json", inputs[0], "--bootstrap", "50", "--json")
    alone, together = (uqcli(*command, *option).json["metrics"] for option in ((), ("--cluster", "customer")))
    widths = [
        metrics["after"]["brier"]["high"] - metrics["after"]["brier"]["low"] for metrics in (alone, together)
    ]
    assert widths[1] > 1.3 * widths[0]
    assert together["after"]["tce"] is None
    assert together["clusters"] == 150


@pytest.mark.usefixtures("other_rules")
def test_coverage_is_tested_on_clusters(uqcli, customers, inputs):
    report = uqcli("evaluate", "sets.json", inputs[0], "--cluster", "customer", "--json").json
    alone = uqcli("evaluate", "sets.json", inputs[0], "--json").json
    widths = [
        found["metrics"]["coverage"]["high"] - found["metrics"]["coverage"]["low"]
        for found in (alone, report)
    ]
    assert widths[1] > 1.2 * widths[0]
    assert report["verdict"] == "kept"
    assert report["metrics"]["clusters"] == customers["customer"].n_unique()
    by_class = report["metrics"]["coverage_by_class"]
    assert all(by_class[name]["low"] < by_class[name]["value"] < by_class[name]["high"] for name in "01")


@pytest.mark.usefixtures("rules")
def test_few_clusters_have_no_interval_or_a_caution(uqcli, customers, tmp_path):
    for most, text in ((8, "precision has no interval"), (15, "precision has an unreliable interval")):
        few = customers.filter(pl.col("customer").rank("dense") <= most)
        few.write_parquet(tmp_path / "few.parquet")
        report = uqcli("evaluate", "one.json", "few.parquet", "--cluster", "customer", "--json").json
        precision = report["metrics"]["precision"]
        assert precision["value"] is not None
        assert (precision["low"] is None, report["metrics"]["promise_broken"] is None) == (most == 8,) * 2
        assert any(text in note for note in report["notes"])
        two = uqcli("evaluate", "one.json", "two.json", "few.parquet", "--cluster", "customer", "--json").json
        assert two["metrics"]["difference"]["selected"]["low"] is None


@pytest.mark.covering("thorough", every=4)
@pytest.mark.parametrize("method", ["isotonic", "platt", "mist", "all"])
def test_calibrate_is_measured_on_whole_clusters(uqcli, inputs, method):
    command = ("calibrate", "--method", method, "--cluster", "customer", "--json")
    first = uqcli(*command, inputs[0])
    report = first.json
    assert report["metrics"]["clusters"] == 150
    assert report["source"]["columns"]["cluster"] == "customer"
    assert uqcli(*command, inputs[1]).json["metrics"] == report["metrics"]
    assert uqcli(*command, inputs[0], "--engine", "spark").out == first.out
    if method in ("isotonic", "platt"):
        alone = uqcli("calibrate", "--method", method, "--json", inputs[0]).json
        assert alone["calibration"] == report["calibration"]
        assert alone["metrics"]["after"] != report["metrics"]["after"]


def test_calibrate_classes_on_whole_clusters(uqcli, inputs):
    command = ("calibrate", "--proba", "p_*", "--cluster", "customer", "--json")
    report = uqcli(*command, inputs[0]).json
    assert report["metrics"]["clusters"] == 150
    assert uqcli(*command, inputs[1]).json["metrics"] == report["metrics"]
    tested = uqcli(*command, inputs[0], "--test", inputs[1]).json
    assert tested["metrics"]["clusters"] == 150


def test_histogram_bins_state_no_error_of_clusters(uqcli, inputs):
    outcome = uqcli("calibrate", "--method", "histogram", "--cluster", "customer", inputs[0])
    assert (outcome.code, "--cluster with --method histogram" in outcome.err) == (2, True)


@pytest.mark.thorough
def test_uncertainties_are_compared_on_whole_clusters(uqcli, inputs):
    command = ("boundary", "--precision", "0.8", "--compare", "--cluster", "customer")
    first = uqcli(*command, "--json", inputs[0])
    report = first.json
    assert report["verdict"] == "no evidence"
    assert report["source"]["columns"]["cluster"] == "customer"
    assert report["metrics"]["expected"]["precision"]["low"] is not None
    assert uqcli(*command, "--json", inputs[1]).json["metrics"] == report["metrics"]
    assert uqcli(*command, "--json", inputs[0], "--engine", "spark").out == first.out
    alone = uqcli("boundary", "--precision", "0.8", "--compare", "--json", inputs[0]).json
    assert alone["metrics"]["gain"] != report["metrics"]["gain"]


def test_an_informative_uncertainty_helps_on_whole_clusters(uqcli, customers, tmp_path):
    noisy = pl.when(pl.col("uncertainty") > 0).then(0.5).otherwise(pl.col("score"))
    informed = customers.with_columns(
        label=(pl.Series(np.random.default_rng(1).random(len(customers))) < noisy).cast(pl.Int64)
    )
    informed.write_parquet(tmp_path / "informed.parquet")
    command = ("boundary", "--precision", "0.7", "--compare", "--cluster", "customer", "--json")
    assert uqcli(*command, "informed.parquet").json["verdict"] == "helps"


def test_clusters_are_certified(uqcli, inputs, tmp_path):
    command = ("boundary", "--precision", "0.6", "--certify", "0.2", "--cluster", "customer")
    outcome = uqcli(*command, "-q", "-o", "certified.json", inputs[0])
    assert outcome.code == 0
    rule = json.loads((tmp_path / "certified.json").read_text())
    certificate = rule["certificate"]
    assert certificate["cluster"] == "customer"
    assert certificate["tested_on"]["rows"] == 120
    assert certificate["tested_on"]["selected"] <= 120
    assert uqcli(*command, "-q", "-o", "again.json", inputs[1]).code == 0
    again = json.loads((tmp_path / "again.json").read_text())
    assert (again["certificate"], again["thresholds"]) == (certificate, rule["thresholds"])
    assert uqcli(*command, "-q", "-o", "spark.json", inputs[0], "--engine", "spark").code == 0
    assert (tmp_path / "spark.json").read_bytes() == (tmp_path / "certified.json").read_bytes()
    shown = uqcli("show", "certified.json", "--verbose").out.decode()
    assert "of new clusters with an alert" in " ".join(shown.split())
    evaluated = uqcli("evaluate", "certified.json", inputs[0], "--cluster", "customer", "--json").json
    assert "certified precision" not in " ".join(evaluated["notes"])


@pytest.mark.parametrize(
    "more",
    [
        ("--margin", "1"),
        ("--algorithm", "all"),
        ("--algorithm", "hr"),
        ("--by", "customer"),
        ("--grid", "grid.json"),
        ("--certify", "0.1", "--miss", "0.2"),
    ],
)
def test_boundary_options_of_independent_rows_are_refused(uqcli, inputs, more):
    rows = () if "--grid" in more else (inputs[0],)
    outcome = uqcli("boundary", *rows, "--precision", "0.6", "--cluster", "customer", *more)
    assert outcome.code == 2


def test_few_clusters_are_neither_compared_nor_certified(uqcli, customers, tmp_path):
    customers.filter(pl.col("customer").rank("dense") <= 15).write_parquet(tmp_path / "few.parquet")
    command = ("boundary", "--precision", "0.6", "--cluster", "customer", "few.parquet")
    compared = uqcli(*command, "--compare")
    assert (compared.code, "15 clusters; expected at least 20" in compared.err) == (3, True)
    assert uqcli(*command, "--certify", "0.01").code == 4


@pytest.mark.thorough
def test_calibration_errors_are_tested_on_clusters(uqcli, customers, inputs):
    command = ("tce", "--cluster", "customer", "--bootstrap", "60", "--json")
    first = uqcli(*command, inputs[0])
    report, alone = first.json, uqcli("tce", "--bootstrap", "60", "--json", inputs[0]).json
    metrics = report["metrics"]
    assert metrics["clusters"] == 150
    assert sum(part["count"] for part in report["bins"]) == 150
    for name in ("ece", "ace", "ecce", "log_loss"):
        value = metrics[name]["value"] if name == "log_loss" else metrics[name]
        other = alone["metrics"][name]["value"] if name == "log_loss" else alone["metrics"][name]
        assert value == pytest.approx(other)
    assert metrics["ecce_p"] != alone["metrics"]["ecce_p"]
    assert metrics["slope"]["low"] is None
    assert uqcli(*command, inputs[1]).json["metrics"] == metrics
    assert uqcli(*command, inputs[0], "--engine", "spark").out == first.out


def test_few_clusters_are_tested_by_one_row_of_each(uqcli, customers, tmp_path):
    customers.filter(pl.col("customer").rank("dense") <= 60).write_parquet(tmp_path / "few.parquet")
    report = uqcli("tce", "few.parquet", "--cluster", "customer", "--bootstrap", "60", "--json").json
    assert any("need 100 clusters" in note for note in report["notes"])
    assert report["metrics"]["clusters"] == 60
    large = pl.when(pl.col("customer").rank("dense") <= 30).then(pl.lit("large")).otherwise("customer")
    customers.with_columns(customer=large).write_parquet(tmp_path / "unequal.parquet")
    report = uqcli("tce", "unequal.parquet", "--cluster", "customer", "--bootstrap", "60", "--json").json
    assert report["metrics"]["clusters"] == 121
    assert any("must count as 50 of equal size" in note for note in report["notes"])


@pytest.mark.parametrize(
    "command",
    [
        ("tce", "--by", "customer"),
        ("tce", "--audit", "uncertainty"),
        ("tce", "--proba", "p_*"),
        ("conformal", "--proba", "p_*", "--mode", "label-shift", "--target", "rows.parquet"),
    ],
)
def test_tests_of_independent_rows_are_refused(uqcli, inputs, command):
    assert uqcli(*command, inputs[0], "--cluster", "customer").code == 2


@pytest.mark.parametrize("mode", ["marginal", "label-conditional"])
def test_prediction_sets_are_guaranteed_for_clusters(uqcli, inputs, mode):
    command = ("conformal", "--proba", "p_*", "--method", "lac", "--mode", mode, "--cluster", "customer")
    first = uqcli(*command, "--json", inputs[0])
    assert first.json["source"]["columns"]["cluster"] == "customer"
    assert uqcli(*command, "--json", inputs[1]).json["thresholds"] == first.json["thresholds"]
    assert uqcli(*command, "--json", inputs[0], "--engine", "spark").out == first.out
    alone = uqcli("conformal", "--proba", "p_*", "--method", "lac", "--mode", mode, "--json", inputs[0]).json
    assert alone["thresholds"] != first.json["thresholds"]
    assert b"from a new cluster" in uqcli(*command, inputs[0]).out.replace(b"\n", b" ")


@pytest.mark.parametrize("options", [(), ("--mode", "label-conditional"), ("--by", "group")])
def test_prediction_sets_keep_how_alike_their_calibration_rows_are(uqcli, customers, tmp_path, options):
    rows = customers.with_columns(
        group=pl.when(pl.col("uncertainty") > 0).then(pl.lit("a")).otherwise(pl.lit("b"))
    )
    rows.write_parquet(tmp_path / "rows.parquet")
    command = (
        "conformal",
        "rows.parquet",
        "--proba",
        "p_*",
        "--method",
        "lac",
        "--cluster",
        "customer",
        *options,
    )
    saved = uqcli(*command, "-o", "-").json
    assert uqcli(*command, "--engine", "spark", "-o", "-").json == saved
    p = np.where(rows["label"] == 1, rows["p_1"], rows["p_0"])
    parts = {"coverage": (np.ones(len(rows), dtype=bool), saved["thresholds"][0])}
    if "group" in options:
        of_groups = zip(saved["groups"]["names"], saved["groups"]["thresholds"], strict=True)
        parts = {f"coverage[{name}]": (rows["group"] == name, threshold[0]) for name, threshold in of_groups}
    elif options:
        parts = {
            f"coverage[{label}]": (rows["label"] == label, saved["thresholds"][label]) for label in (0, 1)
        }
    index = np.unique(rows["customer"], return_inverse=True)[1]
    expected = {
        name: unit_sums(*sums(index, np.asarray(inside) & (1 - p <= threshold), inside))
        for name, (inside, threshold) in parts.items()
    }
    assert saved["dependence"] == {
        "column": "customer",
        "promises": {name: msgspec.to_builtins(total) for name, total in expected.items()},
    }


@pytest.fixture
def batches(customers, tmp_path):
    """Write the rows of the customers as three batches, each with some rows of many of them."""
    part = np.random.default_rng(3).integers(0, 3, len(customers))
    dated = customers.with_columns(day=pl.Series([f"2026-03-0{1 + index}" for index in part]))
    dated.write_parquet(tmp_path / "days.parquet")
    names = []
    for index in range(3):
        names.append(f"batch{index}.parquet")
        dated.filter(pl.Series(part == index)).write_parquet(tmp_path / names[-1])
    return names


def state_of(path):
    """Return a state's batches."""
    return json.loads(path.read_text())["batches"]


@pytest.mark.usefixtures("rules")
def test_rows_of_a_clusters_first_batch_count_for_the_lifetime_of_a_watch(
    uqcli, customers, batches, tmp_path
):
    threshold = uqcli("show", "one.json", "--json").json["thresholds"][0]
    for number, name in enumerate(batches):
        command = ("watch", "one.json", name, "--state", "state.json", "--cluster", "customer", "--json")
        report = uqcli(*command).json
        assert report["metrics"]["batches"] == number + 1
    alerts, seen, flagged = customers.filter(pl.col("score") >= threshold), set(), 0
    for name in batches:
        of_batch = pl.read_parquet(name).filter(pl.col("score") >= threshold)["customer"].to_list()
        flagged += sum(customer not in seen for customer in of_batch)
        seen.update(of_batch)
    assert report["metrics"]["trials"] == flagged
    saved = state_of(tmp_path / "state.json")
    digests = [digest for batch in saved for digest in batch["clusters"]]
    assert len(digests) == len(set(digests)) == alerts["customer"].n_unique()
    first = saved[1]
    uqcli("watch", "one.json", "--state", "state.json", "--forget", first["digest"], "-q")
    forgotten = state_of(tmp_path / "state.json")
    assert sum(batch["counts"][0]["trials"] for batch in forgotten) == flagged - first["counts"][0]["trials"]
    again = uqcli("watch", "one.json", batches[1], "--state", "state.json", "--json").json
    assert again["metrics"]["trials"] == flagged
    assert state_of(tmp_path / "state.json")[-1]["clusters"] == first["clusters"]
    other = uqcli("watch", "one.json", batches[1], "--state", "state.json", "--cluster", "score")
    assert (other.code, "--cluster score with a state of --cluster customer" in other.err) == (2, True)


@pytest.mark.usefixtures("rules")
@pytest.mark.parametrize("engine", [(), ("--engine", "spark")])
def test_days_of_clusters_are_counted_once_whatever_the_order(uqcli, batches, tmp_path, engine):
    days = pl.read_parquet(tmp_path / "days.parquet")
    days.sample(fraction=1, shuffle=True, seed=2).write_csv(tmp_path / "days.csv")
    options = ("--cluster", "customer", "--day", "day", "-q")
    assert uqcli("watch", "one.json", "days.parquet", "--state", "a.json", *options).code == 0
    assert uqcli("watch", "one.json", "days.csv", "--state", "b.json", *options, *engine).code == 0
    assert state_of(tmp_path / "a.json") == state_of(tmp_path / "b.json")
    for name in batches:  # day by day
        assert uqcli("watch", "one.json", name, "--state", "c.json", *options).code == 0
    assert state_of(tmp_path / "c.json") == state_of(tmp_path / "a.json")
    same = uqcli("watch", "one.json", "days.parquet", "--state", "a.json", *options[:-1], "--json")
    assert (same.code, same.json["metrics"]["added"]) == (0, 0)


@pytest.mark.usefixtures("rules")
def test_clusters_without_labels_are_refused(uqcli, customers, tmp_path):
    customers.drop("label").write_parquet(tmp_path / "unlabelled.parquet")
    assert uqcli("watch", "one.json", "unlabelled.parquet", "--cluster", "customer").code == 3


def test_a_rule_is_evaluated_by_its_own_clusters_if_the_rows_have_them(uqcli, customers, inputs, tmp_path):
    options = ("--precision", "0.6", "--cluster", "customer", "-q", "-o", "clustered.json")
    assert uqcli("boundary", inputs[0], *options).code == 0
    command = ("evaluate", "clustered.json", inputs[0], "--json")
    given = uqcli(*command, "--cluster", "customer")
    assert uqcli(*command).out == given.out
    assert uqcli(*command, "--engine", "spark").out == given.out
    caution = "the rule was fitted with --cluster customer"
    assert caution not in given.out.decode()
    customers.drop("customer").write_parquet(tmp_path / "without.parquet")
    for engine in ((), ("--engine", "spark")):
        without = uqcli("evaluate", "clustered.json", "without.parquet", "--json", *engine).json
        assert any(f"{caution}, a column that these rows lack" in note for note in without["cautions"])
        assert "clusters" not in without["metrics"]
    assert uqcli("boundary", "without.parquet", "--precision", "0.6", "-q", "-o", "plain.json").code == 0
    two = uqcli("evaluate", "plain.json", "clustered.json", "without.parquet", "--json").json["cautions"]
    assert any(note.startswith("clustered.json was fitted with --cluster customer") for note in two)
    some = uqcli("evaluate", "clustered.json", inputs[0], "without.parquet", "--json").json
    assert "clusters" not in some["metrics"]
    for more in (("--audit", "uncertainty"), ("--by", "label")):
        assert uqcli(*command, *more).out == uqcli(*command, *more, "--cluster", "customer").out
    assert uqcli("apply", "clustered.json", "without.parquet", "-q", "-o", "out.csv").code == 0


@pytest.mark.thorough
@pytest.mark.parametrize("engine", [(), ("--engine", "spark")])
def test_repeated_rows_need_a_caution(uqcli, customers, tmp_path, engine):
    caution = "most rows repeat the score and the uncertainty"
    several = customers.with_columns(pl.col("score", "uncertainty").first().over("customer"))
    cases = {
        "single": (customers, False),
        "repeated": (pl.concat([customers, customers]), True),
        "few": (customers.with_columns(pl.col("score", "uncertainty").round(0)), False),
        "clusters": (several, False),
    }
    for name, (rows, expected) in cases.items():
        rows.write_parquet(tmp_path / f"{name}.parquet")
        command = ("boundary", f"{name}.parquet", "--precision", "0.6", "--json", *engine)
        report = uqcli(*command).json
        assert any(caution in note for note in report.get("cautions", [])) == expected, name
        given = uqcli(*command, "--cluster", "customer").json
        assert not any(caution in note for note in given.get("cautions", []))


@pytest.mark.covering("thorough", every=9)
@pytest.mark.usefixtures("rules", "other_rules")
@pytest.mark.parametrize(
    "command",
    [
        ("evaluate", "one.json", "two.json"),
        ("evaluate", "sets.json"),
        ("evaluate", "platt.json", "--bootstrap", "40"),
        ("tce", "--bootstrap", "40"),
        ("calibrate", "--method", "isotonic"),
        ("boundary", "--precision", "0.8", "--compare"),
        ("boundary", "--precision", "0.6", "--certify", "0.2"),
        ("conformal", "--proba", "p_*", "--method", "lac"),
        ("watch", "one.json"),
    ],
)
def test_a_row_of_weight_2_is_two_rows(uqcli, customers, tmp_path, command):
    weight = np.random.default_rng(4).integers(0, 3, len(customers))
    customers.with_columns(n=weight).write_parquet(tmp_path / "weighted.parquet")
    customers[np.repeat(np.arange(len(customers)), weight)].write_parquet(tmp_path / "repeated.parquet")
    options = ("--cluster", "customer", "--json")
    weighted = uqcli(*command, "weighted.parquet", "--weight", "n", *options)
    repeated = uqcli(*command, "repeated.parquet", *options)
    assert weighted.code == repeated.code == 0
    assert weighted.json["metrics"] == repeated.json["metrics"]
