"""Tests of ``uqcli evaluate`` on two rules: the differences of the second from the first."""

import re

import numpy as np
import polars as pl
import pytest

from tests.properties.class_rows import SOURCE, gaussian_mixture, posterior


@pytest.fixture
def pair(uqcli, data):
    """Fit a boundary of high precision, and one that flags more rows."""
    for name, precision in (("old", "0.9"), ("new", "0.6")):
        options = ("--precision", precision, "--algorithm", "st", "-q", "-o", f"{name}.json")
        assert uqcli("boundary", data, *options).code == 0
    return "old.json", "new.json"


def test_differences_are_metrics_for_checks(uqcli, pair, data):
    report = uqcli("evaluate", *pair, data, "--json").json
    assert list(report["metrics"]) == ["difference"]
    difference, (old, new) = (
        report["metrics"]["difference"],
        [result["metrics"] for result in report["results"]],
    )
    assert difference["selected"]["value"] == new["selected"] - old["selected"] > 0
    for name in ("recall", "precision"):
        assert difference[name]["value"] == pytest.approx(new[name]["value"] - old[name]["value"])
        assert difference[name]["low"] < difference[name]["value"] < difference[name]["high"]
    narrow = uqcli("evaluate", *pair, data, "--json", "--confidence", "0.5").json["metrics"]["difference"]
    assert narrow["recall"]["low"] > difference["recall"]["low"]
    assert narrow["recall_p"] == difference["recall_p"] < 0.001
    check = ("-q", "--fail-if")
    assert uqcli("evaluate", *pair, data, *check, "difference.recall < -0.01").code == 0
    failed = uqcli("evaluate", *reversed(pair), data, *check, "difference.recall < -0.01")
    assert failed.code == 6
    assert failed.err.count("gate:") == 1
    assert uqcli("evaluate", *reversed(pair), data, *check, "difference.recall.high < 0").code == 6
    assert uqcli("evaluate", *pair, data, *check, "difference.recall_p < 0.05").code == 6


def test_checks_can_use_each_rule_and_the_difference(uqcli, pair, data):
    checks = ("--fail-if", "recall < 2", "--fail-if", "difference.selected > 0")
    failed = uqcli("evaluate", *pair, data, "-q", *checks)
    assert failed.code == 6
    assert [" in " in line for line in failed.err.splitlines()] == [True, True, False]
    for unknown in ("difference.f1 > 0", "f1 > 0"):
        refused = uqcli("evaluate", *pair, data, "-q", "--fail-if", unknown)
        assert refused.code == 2
        assert "difference.recall" in refused.err
        assert "true_positives" in refused.err
    group = uqcli("evaluate", *pair, data, "-q", "--fail-if", "difference > 0")
    assert (group.code, "group of metrics" in group.err) == (2, True)
    single = uqcli("evaluate", pair[0], data, "-q", "--fail-if", "difference.recall > 0")
    assert (single.code, "no metric" in single.err) == (2, True)


def test_significant_differences_are_marked(uqcli, pair, data):
    shown = " ".join(uqcli("evaluate", *pair, data, "--verbose").out.decode().split())
    assert "(p<0.0001)" in shown
    assert "(sig.)" in shown
    assert re.search(r"recall .* \+\d+ points \[\+\d+, \+\d+\] \(p<0.0001\)", shown)
    assert "n.s." not in shown


def test_additional_alerts_are_a_difference_and_no_set_of_rows(uqcli, data):
    for name, algorithm, rows in (("many", "vw-dpmt", "30%"), ("few", "st", "15%")):
        line = (
            "boundary",
            data,
            "--max-selected",
            rows,
            "--algorithm",
            algorithm,
            "-q",
            "-o",
            f"{name}.json",
        )
        assert uqcli(*line).code == 0
    line = ("evaluate", "many.json", "few.json", data)
    many, few = (result["metrics"] for result in uqcli(*line, "--json").json["results"])
    alerts, hits = (many[name] - few[name] for name in ("selected", "true_positives"))
    shown = " ".join(uqcli(*line).out.decode().split())
    assert f"many.json flags {alerts:,} more rows on balance, and finds {hits:,} more positives." in shown


def test_differences_that_are_not_significant_favour_no_rule(uqcli, pair, data, tmp_path):
    shown = " ".join(uqcli("evaluate", pair[0], pair[0], data, "--verbose").out.decode().split())
    assert shown.count("(n.s.)") + shown.count("(p=1)") >= 1
    assert "The two rules do not differ significantly: either will do, so keep" in shown
    for word in ("higher", "lower", " more ", " fewer "):
        assert word not in shown
    (tmp_path / "d.csv").write_text("score,uncertainty,label\n0.0,1,0\n")
    empty = uqcli("evaluate", *pair, "d.csv", "--json").json
    undefined = {"value": None, "low": -1.0, "high": 1.0}
    assert empty["metrics"]["difference"]["recall"] == undefined
    assert empty["metrics"]["difference"]["precision"] == undefined
    assert empty["metrics"]["difference"]["recall_p"] is None
    assert uqcli("evaluate", *pair, "d.csv", "-q", "--fail-if", "difference.recall < -2").code == 6


@pytest.fixture
def calibrators(uqcli, data):
    for method in ("platt", "histogram"):
        assert uqcli("calibrate", data, "--method", method, "-q", "-o", f"{method}.json").code == 0
    return "platt.json", "histogram.json"


@pytest.mark.thorough
def test_two_calibrators_are_compared(uqcli, calibrators, data):
    report = uqcli("evaluate", *calibrators, data, "--json", "--bootstrap", "99").json
    difference, sides = (
        report["metrics"]["difference"],
        [result["metrics"]["after"] for result in report["results"]],
    )
    swapped = uqcli("evaluate", *reversed(calibrators), data, "--json", "--bootstrap", "99").json
    for name in ("log_loss", "brier"):
        value = sides[1][name]["value"] - sides[0][name]["value"]
        assert difference[name]["value"] == pytest.approx(value, abs=1e-12)
        assert difference[name]["low"] < difference[name]["value"] < difference[name]["high"]
        mirror = swapped["metrics"]["difference"][name]
        assert mirror["value"] == pytest.approx(-difference[name]["value"])
    assert difference["auc"] == pytest.approx(sides[1]["auc"]["value"] - sides[0]["auc"]["value"])
    checks = ("--fail-if", "difference.brier < 2", "--fail-if", "after.brier < 2")
    failed = uqcli("evaluate", *calibrators, data, "-q", *checks)
    assert [" in " in line for line in failed.err.splitlines()] == [False, True, True]


def test_equal_calibrators_and_calibrators_of_other_columns_have_no_intervals(
    uqcli, calibrators, data, frame, tmp_path
):
    shown = uqcli("evaluate", *calibrators, data, "--json").json
    assert shown["metrics"]["difference"]["log_loss"]["low"] is None
    assert "Add --bootstrap 1000 to test the difference." in shown["notes"]
    same = uqcli("evaluate", "platt.json", "platt.json", data, "--json", "--bootstrap", "99").json
    assert same["metrics"]["difference"]["brier"] == {"value": 0.0, "low": None, "high": None}
    assert same["notes"][-1] == "The two do not differ significantly: use the simpler map."
    frame.rename({"score": "p"}).with_columns(score=frame["score"]).write_parquet(tmp_path / "both.parquet")
    options = ("--score", "p", "--method", "platt", "-q", "-o", "p.json")
    assert uqcli("calibrate", "both.parquet", *options).code == 0
    other_columns = uqcli(
        "evaluate", "histogram.json", "p.json", "both.parquet", "--json", "--bootstrap", "99"
    ).json
    assert other_columns["metrics"]["difference"]["log_loss"]["low"] is None
    assert "so their difference is not tested" in str(other_columns["notes"])


@pytest.fixture
def sets(uqcli, data):
    for alpha in ("0.3", "0.05"):
        assert uqcli("conformal", data, "--alpha", alpha, "-q", "-o", f"at_{alpha}.json").code == 0
    return "at_0.3.json", "at_0.05.json"


def test_two_rules_of_prediction_sets_are_compared(uqcli, sets, data, tmp_path):
    report = uqcli("evaluate", *sets, data, "--json").json
    difference, sides = report["metrics"]["difference"], [result["metrics"] for result in report["results"]]
    for index, name in enumerate(sets):
        assert sides[index] == uqcli("evaluate", name, data, "--json").json["metrics"]
        assert uqcli("apply", name, data, "-q", "-o", f"{index}.parquet").code == 0
    label = pl.col("label").cast(pl.String)
    first, second = (
        pl.read_parquet(tmp_path / f"{index}.parquet").select(pl.col("set").list.contains(label)).to_series()
        for index in (0, 1)
    )
    assert difference["disagreements"] == (first != second).sum() > 0
    assert difference["coverage"]["value"] == pytest.approx(second.mean() - first.mean())
    assert (
        0 < difference["coverage"]["low"] < difference["coverage"]["value"] < difference["coverage"]["high"]
    )
    size = sides[1]["mean_set_size"] - sides[0]["mean_set_size"]
    assert difference["mean_set_size"] == {"value": pytest.approx(size), "low": None, "high": None}
    shown = uqcli("evaluate", *sets, data).out.decode()
    assert "(p<0.0001)" in shown
    assert "Next: uqcli apply" not in shown  # of one of two rules, whatever the comparison says
    assert uqcli("evaluate", *sets, data, "-q", "--fail-if", "difference.mean_set_size > 0").code == 6


def test_prediction_sets_that_are_equal_or_of_other_columns_are_compared(uqcli, sets, data, frame, tmp_path):
    same = uqcli("evaluate", sets[0], sets[0], data, "--json").json
    assert same["metrics"]["difference"]["coverage_p"] == 1
    assert "(n.s.)" in uqcli("evaluate", sets[0], sets[0], data).out.decode()
    frame.with_columns(p=1 - frame["score"]).write_parquet(tmp_path / "both.parquet")
    options = ("--score", "p", "--alpha", "0.1", "-q", "-o", "p.json")
    assert uqcli("conformal", "both.parquet", *options).code == 0
    other_columns = uqcli("evaluate", sets[0], "p.json", "both.parquet", "--json").json
    assert other_columns["metrics"]["difference"]["coverage"]["low"] is None
    assert other_columns["metrics"]["difference"]["coverage_p"] is None
    assert "so their difference is not tested" in str(other_columns["notes"])


def test_weights_count_as_repeated_rows(uqcli, pair, calibrators, sets, frame, tmp_path):
    weighted = frame.with_row_index("w").with_columns(pl.col("w") % 4)
    weighted.write_parquet(tmp_path / "w.parquet")
    copied = weighted.select(pl.all().repeat_by("w")).explode(pl.all()).drop_nulls("w").drop("w")
    copied.sample(fraction=1, shuffle=True, seed=1).write_parquet(tmp_path / "copied.parquet")
    for rule_files in (pair, calibrators):
        weighted_report = uqcli("evaluate", *rule_files, "w.parquet", "--weight", "w", "--json").json
        repeated_report = uqcli("evaluate", *rule_files, "copied.parquet", "--json").json
        assert weighted_report["metrics"] == repeated_report["metrics"]


def test_calibrators_of_different_columns_are_compared_row_by_row(uqcli, data, calibrators):
    assert (
        uqcli("calibrate", data, "--method", "mist", "--uncertainty-bins", "2", "-q", "-o", "m.json").code
        == 0
    )
    report = uqcli("evaluate", "platt.json", "m.json", data, "--json", "--bootstrap", "99").json
    difference = report["metrics"]["difference"]["brier"]
    assert difference["low"] < difference["value"] < difference["high"]
    for name, result in zip(("platt.json", "m.json"), report["results"], strict=True):
        single = uqcli("evaluate", name, data, "--json", "--bootstrap", "99").json
        assert result["metrics"] == single["metrics"]


@pytest.fixture
def in_two_orders(uqcli, tmp_path):
    """Fit prediction sets of three classes, with columns in two orders."""
    random = np.random.default_rng(5)
    label, x = gaussian_mixture(random, 900, SOURCE)
    columns = {
        f"p_{name}": class_probability
        for name, class_probability in zip("abc", posterior(x, SOURCE).T, strict=True)
    }
    columns["label"] = np.array(list("abc"))[label]
    pl.DataFrame(columns).write_parquet(tmp_path / "classes.parquet")
    for name, order in (("abc", "abc"), ("cba", "cba")):
        listed = ",".join(f"p_{class_name}" for class_name in order)
        options = ("--mode", "label-conditional", "--proba", listed, "--classes", ",".join(order), "-q")
        assert uqcli("conformal", "classes.parquet", *options, "-o", f"{name}.json").code == 0
    return "abc.json", "cba.json"


def test_prediction_sets_in_another_order_of_classes_keep_their_thresholds(uqcli, in_two_orders):
    both = uqcli("evaluate", *in_two_orders, "classes.parquet", "--json").json
    for name, result in zip(in_two_orders, both["results"], strict=True):
        single = uqcli("evaluate", name, "classes.parquet", "--json").json
        assert (result["metrics"], result["verdict"]) == (single["metrics"], "kept")
    assert both["metrics"]["difference"]["coverage_p"] > 0.05


def test_listed_columns_for_two_orders_of_classes_need_class_names(uqcli, in_two_orders):
    listed = ("--proba", "p_a,p_b,p_c")
    refused = uqcli("evaluate", *in_two_orders, "classes.parquet", *listed)
    assert (refused.code, "add --classes" in refused.err) == (2, True)
    named = uqcli("evaluate", *in_two_orders, "classes.parquet", *listed, "--classes", "a,b,c", "--json").json
    assert named == uqcli("evaluate", *in_two_orders, "classes.parquet", "--json").json
