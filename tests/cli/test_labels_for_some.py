"""Tests of ``evaluate`` with labels for some rows, and with sampling weights."""

import json
from pathlib import Path

import numpy as np
import polars as pl
import pytest

from tests.cli.conftest import fit
from tests.oracles import labelled_share
from tests.oracles import survey as oracle

ROWS = 4000
UNDEFINED = {"value": None, "low": None, "high": None}


def rows(seed, size=ROWS):
    """Draw rows whose scores are the rates of positives."""
    random = np.random.default_rng(seed)
    score = random.beta(0.7, 4, size)
    label = random.random(size) < score
    return pl.DataFrame({"id": np.arange(size), "score": score, "label": label.astype(int)})


def write_files():
    """Fit two single thresholds, and write new rows with a column that says which are flagged."""
    rows(1).write_csv("fit.csv")
    for name, recall in (("rule", "0.4"), ("wide", "0.7")):
        fit(f"boundary fit.csv --recall {recall} --algorithm st -o {name}.json")
    (threshold,) = json.loads(Path("rule.json").read_text())["thresholds"]
    frame = rows(2).with_columns(flagged=pl.col("score") >= threshold)
    frame.write_parquet("all.parquet")
    return frame


@pytest.fixture
def files(prepared):
    return prepared(write_files)


def some(frame, flagged_share, cleared_share, seed=0):
    """Delete labels at random."""
    share = pl.when("flagged").then(flagged_share).otherwise(cleared_share)
    kept = pl.Series(np.random.default_rng(seed).random(frame.height))
    return frame.with_columns(label=pl.when(kept < share).then("label"))


def cells_of(frame):
    """Return each labelled row's weight in cells of decision and score, by definition."""
    weights = np.zeros(frame.height)
    for decision in (True, False):
        inside = np.flatnonzero(frame["flagged"].to_numpy() == decision)
        score = frame["score"].to_numpy()[inside]
        has_label = frame["label"].is_not_null().to_numpy()[inside]
        starts = labelled_share.cells(list(zip(score.tolist(), has_label.tolist(), strict=True)))
        cell = np.searchsorted(starts, score, side="right")
        for number in range(1, len(starts) + 1):
            rows_of_cell, labelled = (cell == number).sum(), ((cell == number) & has_label).sum()
            weights[inside[(cell == number) & has_label]] = rows_of_cell / labelled
    return weights


def test_labelled_rows_stand_for_their_cell(uqcli, files, tmp_path):
    frame = some(files, 0.7, 0.2)
    frame.write_csv(tmp_path / "some.csv")
    report = uqcli("evaluate", "rule.json", "some.csv", "--on-invalid", "drop", "--json").json
    weight = cells_of(frame)
    flagged, positive = frame["flagged"].to_numpy(), frame["label"].fill_null(0).to_numpy() == 1
    metrics = report["metrics"]
    like = [[w for w in weight[inside] if w] for inside in (flagged, ~flagged)]
    for name, inside, hit, further in (
        ("precision", flagged, positive, (like[0], like[0])),
        ("recall", positive, flagged, like),
        ("fpr", ~positive, flagged, like),
    ):
        pairs = [(w * h, w) for w, h in zip(weight[inside], hit[inside], strict=True) if w]
        expected = oracle.proportion_interval(pairs, 0.95, clustered=False, further=further)
        value = sum(hit for hit, _ in pairs) / sum(w for _, w in pairs)
        found = metrics[name]
        assert (found["value"], found["low"], found["high"]) == pytest.approx((value, *expected), abs=1e-5)
    assert metrics["selected_share"] == pytest.approx(flagged.mean(), abs=1e-5)
    assert metrics["unlabelled"] == frame["label"].null_count()
    assert any("as if labels were given at random" in note for note in report["notes"])
    pl.concat([frame[1500:], frame[:1500]]).write_parquet(tmp_path / "again.parquet")
    again = uqcli("evaluate", "rule.json", "again.parquet", "--on-invalid", "drop", "--json").json
    assert again["metrics"] == metrics


@pytest.mark.parametrize("form", ["unlabelled rows", "no other rows"])
def test_labels_of_flagged_rows_show_no_recall_and_a_gate_says_why(uqcli, files, tmp_path, form):
    frame = some(files, 0.9, 0.0) if form == "unlabelled rows" else files.filter("flagged")
    frame.write_csv(tmp_path / "some.csv")
    line = ("evaluate", "rule.json", "some.csv", "--on-invalid", "drop")
    metrics = uqcli(*line, "--json").json["metrics"]
    assert (metrics["recall"], metrics["fpr"]) == (UNDEFINED, UNDEFINED)
    assert metrics["promise_broken"] is None
    assert metrics["precision"]["low"] < metrics["precision"]["value"] < metrics["precision"]["high"]
    text = uqcli(*line, "--verbose").out.decode()
    assert "the recall is unknown" in text
    for check in ("recall < 0.1", "recall.low < 0.1"):
        failed = uqcli(*line, "-q", "--fail-if", check)
        assert failed.code == 6
        reason = "only 0 of the unflagged rows have one" if form == "unlabelled rows" else "flagged rows only"
        assert reason in failed.err


def test_all_rows_above_a_score_and_some_below_show_recall(uqcli, files, tmp_path):
    """The review starts below the rule's threshold, so that weights within equal bins would be wrong."""
    reviewed = files["score"] > 0.12
    frame = some(files, 1.0, 0.15).with_columns(
        label=pl.when(reviewed).then(files["label"]).otherwise("label")
    )
    frame.write_csv(tmp_path / "some.csv")
    metrics = uqcli("evaluate", "rule.json", "some.csv", "--on-invalid", "drop", "--json").json["metrics"]
    truth = files.filter(pl.col("label") == 1)["flagged"].mean()
    assert metrics["recall"]["low"] < truth < metrics["recall"]["high"]
    assert metrics["recall"]["value"] == pytest.approx(truth, abs=0.06)
    assert metrics["selected_share"] == pytest.approx(frame["flagged"].mean(), abs=1e-5)


def test_scores_without_labels_show_no_recall(uqcli, files, tmp_path):
    frame = some(files, 1.0, 0.5)
    low = frame.filter(~pl.col("flagged"))["score"].quantile(0.5)
    gap = pl.when(pl.col("score") >= low).then("label")
    frame.with_columns(label=gap).write_csv(tmp_path / "some.csv")
    found = uqcli("evaluate", "rule.json", "some.csv", "--on-invalid", "drop", "--json").json
    assert found["metrics"]["recall"] == UNDEFINED
    assert found["metrics"]["precision"]["low"] is not None
    assert any("the labelled share still changes with the score" in note for note in found["notes"])


def test_two_rules_are_compared_on_weighted_rows(uqcli, files, tmp_path):
    frame = some(files, 0.8, 0.3)
    frame.write_csv(tmp_path / "some.csv")
    line = ("evaluate", "rule.json", "wide.json", "some.csv", "--on-invalid", "drop")
    report = uqcli(*line, "--json").json
    one, two = (result["metrics"]["recall"]["value"] for result in report["results"])
    difference = report["metrics"]["difference"]["recall"]
    assert difference["value"] == pytest.approx(two - one)
    assert 0 < difference["low"] < difference["value"] < difference["high"]
    assert report["metrics"]["difference"]["recall_p"] < 0.01
    # no row that only the second rule flags has a label: the difference is unknown, each rule is not
    some(files, 0.8, 0.0).write_csv(tmp_path / "few.csv")
    few = uqcli("evaluate", "rule.json", "wide.json", "few.csv", "--on-invalid", "drop", "--json").json
    assert few["metrics"]["difference"]["precision"]["value"] is None
    assert few["results"][0]["metrics"]["precision"]["value"] is not None
    assert uqcli(*line, "-q", "--report", "two.md").code == 0


@pytest.mark.thorough
def test_groups_are_weighted_in_the_cells_of_all_rows(uqcli, files, tmp_path):
    frame = some(files.with_columns(city=pl.Series(["Bonn", "Ulm"] * (ROWS // 2))), 0.7, 0.3)
    frame.write_csv(tmp_path / "some.csv")
    line = ("evaluate", "rule.json", "some.csv", "--on-invalid", "drop", "--by", "city")
    report = uqcli(*line, "--json").json
    weight, flagged = cells_of(frame), frame["flagged"].to_numpy()
    positive = frame["label"].fill_null(0).to_numpy() == 1
    for group in report["groups"]:
        inside = positive & (frame["city"] == group["name"]).to_numpy()
        expected = weight[inside & flagged].sum() / weight[inside].sum()
        assert group["metrics"]["recall"]["value"] == pytest.approx(expected, abs=1e-5)
        assert group["p"] is None
    assert [group["name"] for group in report["groups"]] == ["Bonn", "Ulm"]


def test_sampling_weights_are_undone(uqcli, files, tmp_path):
    label = files["label"].to_numpy()
    kept = (label == 1) | (np.arange(ROWS) % 5 == 0)
    frame = files.with_columns(w=np.where(label == 1, 1.0, 5.0)).filter(kept)
    frame.write_parquet(tmp_path / "kept.parquet")
    line = ("evaluate", "rule.json", "kept.parquet", "--sampling-weight", "w")
    report = uqcli(*line, "--json").json
    metrics = report["metrics"]
    flagged, positive, weight = (frame[name].to_numpy() for name in ("flagged", "label", "w"))
    hits, alerts = weight[flagged & (positive == 1)].sum(), weight[flagged].sum()
    assert metrics["precision"]["value"] == pytest.approx(hits / alerts)
    assert metrics["selected_share"] == pytest.approx(alerts / weight.sum())
    assert metrics["recall"]["value"] == files.filter(pl.col("label") == 1)["flagged"].mean()
    assert report["source"]["columns"]["sampling_weight"] == "w"
    assert metrics["rows"] == frame.height
    assert uqcli(*line, "-q", "--report", "r.md", "--report", "r.xml").code == 0
    both = uqcli(
        "evaluate", "rule.json", "wide.json", "kept.parquet", "--sampling-weight", "w", "--json"
    ).json
    assert both["results"][0]["metrics"] == metrics
    assert both["metrics"]["difference"]["recall"]["low"] > 0


def test_rows_drawn_for_recall_show_it(uqcli, files, tmp_path):
    options = ("--for", "recall", "--budget", "1500", "-q", "-o", "label.csv")
    assert uqcli("sample", "rule.json", "all.parquet", *options).code == 0
    line = ("evaluate", "rule.json", "label.csv", "--sampling-weight", "sampling_weight", "--json")
    recall = uqcli(*line).json["metrics"]["recall"]
    truth = files.filter(pl.col("label") == 1)["flagged"].mean()
    assert recall["low"] < truth < recall["high"]
    assert recall["high"] - recall["low"] < 0.12


def test_missing_labels_of_a_sample_are_stated(uqcli, files, tmp_path):
    frame = some(files.with_columns(w=pl.lit(3.0)), 0.8, 0.8)
    frame.write_csv(tmp_path / "some.csv")
    line = ("evaluate", "rule.json", "some.csv", "--sampling-weight", "w", "--on-invalid", "drop")
    report = uqcli(*line, "--json").json
    assert any("as if labels were missing at random" in note for note in report["notes"])
    labelled = frame.filter(pl.col("label") == 1)["flagged"].mean()
    assert report["metrics"]["recall"]["value"] == pytest.approx(labelled)


def test_a_certificate_is_not_tested_on_weighted_rows(uqcli, files, tmp_path):
    fit = ("boundary", "fit.csv", "--recall", "0.3", "--certify", "0.2", "--uncertainty", "id")
    assert uqcli(*fit, "-q", "-o", "sure.json").code == 0
    files.with_columns(w=2.0).write_csv(tmp_path / "weighted.csv")
    report = uqcli("evaluate", "sure.json", "weighted.csv", "--sampling-weight", "w", "--json").json
    assert report["metrics"]["promise_broken"] is None
    assert any("needs rows that count alike" in note for note in report["notes"])


@pytest.mark.parametrize("value", [-1.0, 1e7])
def test_impossible_weights_are_refused(uqcli, files, tmp_path, value):
    files.with_columns(w=pl.lit(value)).write_csv(tmp_path / "bad.csv")
    outcome = uqcli("evaluate", "rule.json", "bad.csv", "--sampling-weight", "w")
    assert outcome.code == 3
    assert "1 / the probability" in outcome.err


def test_weights_of_zero_only_are_refused(uqcli, files, tmp_path):
    files.with_columns(w=pl.lit(0.0)).write_csv(tmp_path / "none.csv")
    assert uqcli("evaluate", "rule.json", "none.csv", "--sampling-weight", "w").code == 3


def test_calibrators_are_measured_by_sampling_weights_without_tests(uqcli, files, tmp_path):
    assert uqcli("calibrate", "fit.csv", "--bootstrap", "0", "-q", "-o", "map.json").code == 0
    copies = np.arange(ROWS) % 4
    files.with_columns(w=pl.Series(copies * 2.5)).write_parquet(tmp_path / "weighted.parquet")
    files[np.repeat(np.arange(ROWS), copies)].write_parquet(tmp_path / "repeated.parquet")
    line = ("evaluate", "map.json", "weighted.parquet", "--sampling-weight", "w")
    report, repeated = (
        uqcli(*line, "--json").json,
        uqcli("evaluate", "map.json", "repeated.parquet", "--json").json,
    )
    for side in ("before", "after", "difference"):
        metrics = report["metrics"][side]
        assert metrics.pop("tce") is None
        expected = {name: value for name, value in repeated["metrics"][side].items() if name != "tce"}
        assert metrics == pytest.approx(expected, abs=1e-9)
    assert report["metrics"]["rows"] == ROWS
    assert "with sampling weights, this is not tested" in uqcli(*line).out.decode()
    two = ("evaluate", "map.json", "map.json", "weighted.parquet", "--sampling-weight", "w")
    assert uqcli(*two, "-q", "--report", "two.md").code == 0
    refused = uqcli(*line, "--bootstrap", "20")
    assert (refused.code, "--sampling-weight and --bootstrap cannot be combined" in refused.err) == (2, True)


def test_prediction_sets_have_no_sampling_weights(uqcli, files):
    fit = ("conformal", "fit.csv", "--alpha", "0.1", "-q", "-o", "sets.json")
    assert uqcli(*fit).code == 0
    outcome = uqcli("evaluate", "sets.json", "all.parquet", "--sampling-weight", "score")
    assert outcome.code == 2
    assert "kind conformal" in outcome.err


@pytest.mark.parametrize("algorithm", ["st", "smooth"])
def test_new_rows_are_compared_with_all_calibration_rows(uqcli, tmp_path, algorithm):
    """Rows above a score are reviewed, and a tenth of the others: alerts are rarer among all rows."""
    frame = rows(3).with_columns(uncertainty=pl.col("score") * (1 - pl.col("score")))
    reviewed = (frame["score"] > 0.2) | pl.Series(np.random.default_rng(0).random(ROWS) < 0.1)
    frame.with_columns(label=pl.when(reviewed).then("label")).write_csv(tmp_path / "fit.csv")
    fit = ("boundary", "fit.csv", "--recall", "0.4", "--algorithm", algorithm, "--on-invalid", "drop")
    report = uqcli(*fit, "--verbose", "-o", "rule.json")
    assert report.code == 0, report.err
    saved = json.loads((tmp_path / "rule.json").read_text())["fit"]
    assert (saved["rows"], saved["all_rows"]) == (reviewed.sum(), ROWS)
    frame.drop("label").write_csv(tmp_path / "night.csv")
    decisions = uqcli("apply", "rule.json", "night.csv", "-q", "-o", "decided.parquet")
    assert decisions.code == 0
    flagged = (pl.read_parquet(tmp_path / "decided.parquet")["decision"].cast(pl.String) == "true").sum()
    assert saved["all_selected"] == flagged
    text = report.out.decode()
    assert f"the rule flags {100 * flagged / ROWS:.2g} %" in text.replace("\n", " ")
    assert "labelled calibration rows" in text
    rows(4).with_columns(uncertainty=pl.col("score") * (1 - pl.col("score"))).drop("label").write_csv(
        tmp_path / "new.csv"
    )
    quiet = uqcli("apply", "rule.json", "new.csv", "-o", "other.parquet")
    assert "flagged on the calibration set" not in quiet.err
    cautions = [line for line in quiet.out.decode().splitlines() if line.startswith("Caution")]
    assert len(cautions) == 1
    assert "made with a doubt" in cautions[0]
    watched = uqcli("watch", "rule.json", "night.csv", "--json").json["metrics"]
    assert watched["psi"] == pytest.approx(0, abs=1e-9)
    assert watched["outside_range"] == 0
    low, high = watched["flagged"]["low"], watched["flagged"]["high"]
    assert low < flagged / ROWS < high


def test_rows_dropped_for_other_reasons_change_nothing(uqcli, tmp_path):
    frame = rows(3)
    frame.write_csv(tmp_path / "fit.csv")
    broken = pl.DataFrame({"id": [-1], "score": [None], "label": [1]}, schema=frame.schema)
    pl.concat([frame, broken]).write_csv(tmp_path / "broken.csv")
    for name in ("fit", "broken"):
        fit = ("boundary", f"{name}.csv", "--recall", "0.4", "--algorithm", "st", "--on-invalid", "drop")
        assert uqcli(*fit, "-q", "-o", f"{name}.json").code == 0
    saved = [json.loads((tmp_path / f"{name}.json").read_text()) for name in ("fit", "broken")]
    assert saved[0]["fit"] == saved[1]["fit"]
    assert "all_rows" not in saved[0]["fit"]


@pytest.mark.parametrize("even", [True, False])
def test_groups_are_tested_where_labels_of_flagged_rows_are_given_alike(uqcli, files, tmp_path, even):
    """A third of the flagged rows has a label; or all of their upper half, which is more often positive."""
    fit = ("boundary", "fit.csv", "--precision", "0.3", "--algorithm", "st", "-q", "-o", "precise.json")
    assert uqcli(*fit).code == 0
    (threshold,) = json.loads((tmp_path / "precise.json").read_text())["thresholds"]
    frame = files.with_columns(
        city=pl.Series(["Bonn", "Ulm"] * (ROWS // 2)), flagged=pl.col("score") >= threshold
    )
    if even:
        frame = some(frame, 0.33, 0.2)
    else:
        middle = frame.filter("flagged")["score"].median()
        frame = some(frame, 0.1, 0.2).with_columns(
            label=pl.when(pl.col("score") >= middle).then(files["label"]).otherwise("label")
        )
    frame.write_csv(tmp_path / "some.csv")
    line = ("evaluate", "precise.json", "some.csv", "--on-invalid", "drop", "--by", "city")
    found = uqcli(*line, "--json", "--fail-if", "groups_below > 0")
    assert found.code == (0 if even else 6)
    assert (found.json["metrics"]["groups_below"] is None) == (not even)
    if not even:
        assert "changes with the score" in found.err + "".join(found.json["notes"])
