"""Tests of ``evaluate`` with the probabilities of rows without a label."""

import json
from pathlib import Path

import numpy as np
import polars as pl
import pytest

import uqcli
from uqcli.cli.app import run

RATES = ["recall", "fpr", "prevalence"]


def rows(random, size):
    logit = 1.8 * random.normal(size=size) - 2.5
    score = 1 / (1 + np.exp(-logit))
    label = (random.random(size) < score).astype(int)
    team = np.where(random.random(size) < 0.5, "a", "b")
    return pl.DataFrame({"id": np.arange(size), "score": score, "label": label, "team": team})


def write_files():
    random = np.random.default_rng(1)
    rows(random, 4000).write_csv("fit.csv")
    every = rows(random, 10_000)
    every.drop("label").write_csv("all.csv")
    labelled = every.sample(600, seed=1)
    labelled.write_csv("labelled.csv")
    known = pl.col("id").is_in(labelled["id"].to_list())
    every.with_columns(label=pl.when(known).then("label")).write_csv("part.csv")
    every.write_csv("truth.csv")
    assert run(["boundary", "fit.csv", "--precision", "0.6", "-q", "-o", "rule.json"]) == 0
    assert run(["calibrate", "fit.csv", "-q", "-o", "calibrator.json"]) == 0


@pytest.fixture(autouse=True)
def files(prepared):
    prepared(write_files)


def evaluated(*arguments):
    assert run(["evaluate", "rule.json", *arguments, "-q", "--report", "report.json"]) == 0
    return json.loads(Path("report.json").read_text(encoding="utf-8"))


def width(metric):
    return metric["high"] - metric["low"]


def test_probabilities_of_all_rows_narrow_the_intervals_around_the_truth():
    truth = evaluated("truth.csv")["metrics"]
    plain = evaluated("part.csv", "--on-invalid", "drop")["metrics"]
    report = evaluated("labelled.csv", "--unlabelled", "all.csv", "--calibrator", "calibrator.json")
    assert report["parameters"]["assisted"] == {"rates": RATES, "probabilities": "calibrator"}
    metrics = report["metrics"]
    assert metrics["unlabelled"] == 9400
    assert metrics["precision"] == plain["precision"]
    for rate in ("recall", "fpr"):
        assert metrics[rate]["low"] <= truth[rate]["value"] <= metrics[rate]["high"]
        assert width(metrics[rate]) < 0.9 * width(plain[rate])
    assert any("9,400 rows without a label; without them" in note for note in report["notes"])


def test_rows_without_a_label_in_the_file_give_the_same_estimates():
    given = evaluated("labelled.csv", "--unlabelled", "all.csv", "--calibrator", "calibrator.json")
    found = evaluated("part.csv", "--on-invalid", "drop", "--calibrator", "calibrator.json")
    assert {rate: found["metrics"][rate] for rate in RATES} == {
        rate: given["metrics"][rate] for rate in RATES
    }
    assert "assisted" not in evaluated("part.csv", "--on-invalid", "drop")["parameters"]


def test_scores_are_the_probabilities_without_a_calibrator():
    report = evaluated("labelled.csv", "--unlabelled", "all.csv")
    assert report["parameters"]["assisted"] == {"rates": RATES, "probabilities": "score"}


def test_groups_use_their_own_rows():
    report = evaluated("labelled.csv", "--unlabelled", "all.csv", "--by", "team")
    pl.read_csv("labelled.csv").sort("team", descending=True).write_csv("labelled.csv")
    assert evaluated("labelled.csv", "--unlabelled", "all.csv", "--by", "team")["groups"] == report["groups"]
    whole = evaluated("labelled.csv", "--unlabelled", "all.csv")["metrics"]
    assert width(whole["recall"]) < min(width(group["metrics"]["recall"]) for group in report["groups"])
    truth = evaluated("truth.csv", "--by", "team")["groups"]
    true = {group["name"]: group["metrics"]["recall"]["value"] for group in truth}
    for group in report["groups"]:
        recall = group["metrics"]["recall"]
        assert recall["low"] <= true[group["name"]] <= recall["high"]


@pytest.fixture
def customers():
    """Write all rows and the labelled ones with a customer and a day each."""
    every = pl.read_csv("truth.csv").with_columns(
        customer=(pl.col("id") // 25).cast(pl.String), day=pl.lit("2026-01-01").str.to_date()
    )
    every = every.with_columns(day=pl.col("day") + pl.duration(days=pl.col("id") // 100))
    every.write_csv("truth.csv")
    every.drop("label").write_csv("all.csv")
    labelled = every.sample(600, seed=1)
    labelled.write_csv("labelled.csv")
    known = pl.col("id").is_in(labelled["id"].to_list())
    every.with_columns(label=pl.when(known).then("label")).write_csv("part.csv")
    return labelled


@pytest.mark.covering("thorough", every=2)
@pytest.mark.parametrize("option", ["cluster customer", "day day"])
def test_clusters_have_intervals_of_their_own(customers, option):
    option = ["--" + option.split()[0], option.split()[1]]
    truth = evaluated("truth.csv")["metrics"]
    independent = evaluated("labelled.csv", "--unlabelled", "all.csv")["metrics"]
    plain = evaluated("part.csv", "--on-invalid", "drop", *option)["metrics"]
    report = evaluated("labelled.csv", "--unlabelled", "all.csv", *option)
    used = report["parameters"]["assisted"]["rates"]
    assert "recall" in used
    for rate in used[: -("prevalence" in used) or None]:
        found = report["metrics"][rate]
        assert found["value"] == pytest.approx(independent[rate]["value"])
        assert found["low"] != independent[rate]["low"]
        assert found["low"] <= truth[rate]["value"] <= found["high"]
        assert width(found) < width(plain[rate])
    customers.sample(fraction=1, shuffle=True, seed=2).write_csv("labelled.csv")
    every = pl.read_csv("all.csv").sample(fraction=1, shuffle=True, seed=3)
    every.write_csv("all.csv")
    assert evaluated("labelled.csv", "--unlabelled", "all.csv", *option)["metrics"] == report["metrics"]
    in_file = evaluated("part.csv", "--on-invalid", "drop", "--calibrator", "calibrator.json", *option)
    given = evaluated("labelled.csv", "--unlabelled", "all.csv", "--calibrator", "calibrator.json", *option)
    assert [in_file["metrics"][rate] for rate in RATES] == [given["metrics"][rate] for rate in RATES]


def test_groups_use_the_clusters_of_their_own_rows(customers):
    cluster = ("--cluster", "customer")
    report = evaluated("labelled.csv", "--unlabelled", "all.csv", *cluster, "--by", "team")
    whole = evaluated("labelled.csv", "--unlabelled", "all.csv", *cluster)
    assert [report["metrics"][rate] for rate in RATES] == [whole["metrics"][rate] for rate in RATES]
    for name in ("all.csv", "labelled.csv"):
        rows_of_team = pl.read_csv(name).filter(pl.col("team") == "a")
        rows_of_team.write_csv(f"a_{name}")
    alone = evaluated("a_labelled.csv", "--unlabelled", "a_all.csv", *cluster)["metrics"]
    (group,) = (group for group in report["groups"] if group["name"] == "a")
    assert group["metrics"]["recall"]["value"] == pytest.approx(alone["recall"]["value"], rel=0.1)


def test_few_clusters_leave_the_plain_estimate(customers):
    for name in ("all.csv", "labelled.csv"):
        pl.read_csv(name).with_columns(few=pl.col("id") % 15).write_csv(name)
    report = evaluated("labelled.csv", "--unlabelled", "all.csv", "--cluster", "few")
    assert report["parameters"]["assisted"]["rates"] == []


def test_a_label_of_a_cluster_that_is_not_among_all_rows_is_refused(customers, capsys):
    customers.with_columns(customer=pl.lit("none")).write_csv("labelled.csv")
    arguments = ["evaluate", "rule.json", "labelled.csv", "--unlabelled", "all.csv", "--cluster", "customer"]
    assert run(arguments) == 3
    assert "not among the rows of --unlabelled" in capsys.readouterr().err


def test_drawn_rows_have_their_sampling_weights():
    command = [
        "sample",
        "rule.json",
        "all.csv",
        "--for",
        "recall",
        "--budget",
        "600",
        "-q",
        "-o",
        "drawn.csv",
    ]
    assert run(command) == 0
    labels = pl.read_csv("truth.csv").select("id", "label")
    pl.read_csv("drawn.csv").join(labels, on="id").write_csv("drawn.csv")
    weighted = ("drawn.csv", "--sampling-weight", "sampling_weight")
    plain = evaluated(*weighted)["metrics"]["recall"]
    assisted = evaluated(*weighted, "--unlabelled", "all.csv")["metrics"]["recall"]
    truth = evaluated("truth.csv")["metrics"]["recall"]["value"]
    assert assisted["low"] <= truth <= assisted["high"]
    assert width(assisted) < width(plain)


def test_counts_of_weighted_rows_stand_beside_their_own_share_and_that_of_all_rows(capsys):
    metrics = evaluated("part.csv", "--on-invalid", "drop")["metrics"]
    assert run(["evaluate", "rule.json", "part.csv", "--on-invalid", "drop"]) == 0
    shown = " ".join(capsys.readouterr().out.split())
    flagged, rows = metrics["selected"], metrics["rows"]
    assert f"Flags {flagged} of {rows} rows ({100 * flagged / rows:.2g} %), by weight" in shown
    assert f"and finds {100 * metrics['recall']['value']:.2g} % of all positives; 9,400 rows" in shown


def test_too_few_labels_leave_the_plain_estimate():
    pl.read_csv("labelled.csv").head(110).write_csv("few.csv")
    report = evaluated("few.csv", "--unlabelled", "all.csv")
    assert report["parameters"]["assisted"]["rates"] == []
    assert any("are not used: there are too few labels" in note for note in report["notes"])


def test_python_gives_the_same():
    command = evaluated("labelled.csv", "--unlabelled", "all.csv", "--calibrator", "calibrator.json")
    labelled, every = pl.read_csv("labelled.csv"), pl.read_csv("all.csv")
    rule, calibrator = uqcli.load("rule.json"), uqcli.load("calibrator.json")
    given = {"unlabelled": {"score": every["score"]}, "calibrator": calibrator}
    result = rule.evaluate(labelled["score"], labelled["label"], **given)
    assert result.metrics["recall"].value == command["metrics"]["recall"]["value"]
    with pytest.raises(uqcli.UsageError, match="unlabelled and by cannot be combined"):
        rule.evaluate(labelled["score"], labelled["label"], by=labelled["team"], **given)
    with pytest.raises(uqcli.UsageError, match="unlabelled has score; expected score and day"):
        rule.evaluate(labelled["score"], labelled["label"], day=labelled["team"], **given)
    with pytest.raises(uqcli.UsageError, match="calibrator without unlabelled"):
        rule.evaluate(labelled["score"], labelled["label"], calibrator=calibrator)


def test_python_gives_the_same_over_clusters(customers):
    line = ("labelled.csv", "--unlabelled", "all.csv", "--cluster", "customer")
    command, every = evaluated(*line)["metrics"], pl.read_csv("all.csv")
    result = uqcli.load("rule.json").evaluate(
        customers["score"],
        customers["label"],
        cluster=customers["customer"],
        unlabelled={"score": every["score"], "cluster": every["customer"].cast(pl.String)},
    )
    assert result.metrics["recall"].low == command["recall"]["low"]


@pytest.mark.parametrize(
    ("arguments", "code", "message"),
    [
        ("rule.json rule.json labelled.csv --unlabelled all.csv", 2, "2 rule files"),
        ("calibrator.json labelled.csv --unlabelled all.csv", 2, "kind calibrator"),
        ("rule.json labelled.csv --unlabelled all.csv --audit team", 2, "--audit cannot"),
        ("rule.json labelled.csv --calibrator calibrator.json", 2, "a label in every row"),
        (
            "rule.json part.csv --calibrator calibrator.json --on-invalid drop --sampling-weight id",
            2,
            "without --unlabelled",
        ),
        ("rule.json part.csv --unlabelled all.csv --on-invalid drop", 2, "9400 rows without a label"),
        ("rule.json fit.csv --unlabelled all.csv", 3, "not among the rows of --unlabelled"),
        ("rule.json fit.csv --unlabelled all.csv --sampling-weight id", 3, "not among the rows"),
    ],
)
def test_what_is_not_supported_is_refused(arguments, code, message, capsys):
    assert run(["evaluate", *arguments.split(), "-q"]) == code
    assert message in capsys.readouterr().err
