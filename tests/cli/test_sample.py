"""Tests of ``sample``: which rows to label, with their weights, and how many."""

import json
from pathlib import Path

import numpy as np
import polars as pl
import pytest

from tests.cli.conftest import fit
from tests.oracles.sampling import first_by_draw, probabilities
from uqcli.base.draws import Purpose, uniforms

ROWS = 3000


def rows(seed, size=ROWS):
    """Draw rows whose scores are the rates of positives."""
    random = np.random.default_rng(seed)
    score = random.beta(0.7, 4, size)
    label = random.random(size) < score
    return pl.DataFrame({"id": np.arange(size), "score": score, "label": label.astype(int)})


def write_files():
    """Fit a single threshold, and write new rows in one file and in two."""
    rows(1).write_csv("fit.csv")
    fit("boundary fit.csv --recall 0.4 --algorithm st -o rule.json")
    fit("calibrate fit.csv --bootstrap 0 -o map.json")
    frame = rows(2)
    frame.write_parquet("all.parquet")
    frame[:1000].write_csv("a.csv")
    frame[1000:].write_csv("b.csv")
    (threshold,) = json.loads(Path("rule.json").read_text())["thresholds"]
    return frame, frame["score"].to_numpy() >= threshold


@pytest.fixture
def files(prepared):
    return prepared(write_files)


@pytest.mark.thorough
def test_flagged_rows_are_drawn_alike_for_precision(uqcli, files, tmp_path):
    _, flagged = files
    draws = uniforms(np.arange(ROWS), 3, Purpose.SAMPLE)
    options = ("--for", "precision", "--budget", "50", "--seed", "3", "-q", "-o")
    assert uqcli("sample", "rule.json", "all.parquet", *options, "one.parquet").code == 0
    assert uqcli("sample", "rule.json", "a.csv", "b.csv", *options, "two.csv").code == 0
    one, two = pl.read_parquet(tmp_path / "one.parquet"), pl.read_csv(tmp_path / "two.csv")
    assert set(one["id"].to_list()) == first_by_draw(draws, flagged, 50)
    assert one["id"].to_list() == two["id"].to_list()
    assert one["sampling_weight"].to_list() == two["sampling_weight"].to_list()
    assert one["sampling_weight"].to_numpy() == pytest.approx(flagged.sum() / 50, abs=1e-6)


@pytest.mark.thorough
def test_rows_are_drawn_for_recall_by_rate_and_decision(uqcli, files, tmp_path):
    frame, flagged = files
    wanted = np.array(probabilities(frame["score"].to_list(), flagged.tolist(), 300))
    options = ("--for", "recall", "--budget", "300", "-o")
    metrics = uqcli("sample", "rule.json", "all.parquet", *options, "q.csv", "--json").json["metrics"]
    drawn = pl.read_csv(tmp_path / "q.csv")
    kept = drawn["id"].to_numpy()
    np.testing.assert_allclose(drawn["sampling_weight"], 1 / wanted[kept], rtol=1e-3)
    draws = uniforms(np.arange(ROWS), 0, Purpose.SAMPLE)
    assert (set(np.flatnonzero(draws < wanted)) ^ set(kept)) <= set(
        np.flatnonzero(abs(draws / wanted - 1) < 1e-3)
    )
    assert (metrics["rows"], metrics["selected"], metrics["labels"]) == (ROWS, flagged.sum(), drawn.height)
    assert metrics["expected"] == pytest.approx(
        frame["score"].to_numpy()[flagged].sum() / frame["score"].sum(), abs=1e-4
    )
    assert metrics["labels_uniform"] > 300


@pytest.mark.thorough
def test_a_larger_budget_draws_the_rows_of_a_smaller_one_also(uqcli, files, tmp_path):
    for goal in ("precision", "recall"):
        drawn = []
        for budget in (100, 200):
            options = ("--for", goal, "--budget", budget, "-q", "-o", f"{budget}.csv")
            assert uqcli("sample", "rule.json", "all.parquet", *options).code == 0
            drawn.append(set(pl.read_csv(tmp_path / f"{budget}.csv")["id"].to_list()))
        assert drawn[0] < drawn[1]


def test_a_budget_above_all_rows_takes_all(uqcli, files, tmp_path):
    _, flagged = files
    for goal, expected in (("precision", int(flagged.sum())), ("recall", ROWS)):
        options = ("--for", goal, "--budget", "9999", "-o", "out.csv", "--json")
        assert uqcli("sample", "rule.json", "all.parquet", *options).json["metrics"]["labels"] == expected
        weight = pl.read_csv(tmp_path / "out.csv")["sampling_weight"]
        assert weight.to_list() == [1.0] * expected


def test_a_plan_writes_nothing_and_its_budget_has_the_width(uqcli, files, tmp_path):
    before = sorted(tmp_path.iterdir())
    for goal in ("precision", "recall"):
        plan = ("sample", "rule.json", "all.parquet", "--for", goal, "--plan", "0.2")
        metrics = uqcli(*plan, "--json").json["metrics"]
        assert sorted(tmp_path.iterdir()) == before
        assert metrics["width"] <= 0.2 < metrics["width"] + 0.01
        assert (
            f"Label {metrics['labels']} rows to get an interval for the {goal}" in uqcli(*plan).out.decode()
        )
        drawing = ("--for", goal, "--budget", metrics["labels"], "-q", "-o", "-")
        sampled = ("sample", "rule.json", "all.parquet", *drawing, "--report", "r.json")
        assert uqcli(*sampled).code == 0
        assert json.loads((tmp_path / "r.json").read_text())["metrics"]["width"] == metrics["width"]
        (tmp_path / "r.json").unlink()
    narrow = uqcli(
        "sample", "rule.json", "all.parquet", "--for", "precision", "--plan", "0.001", "--json"
    ).json
    assert narrow["metrics"]["labels"] is None


def test_precision_needs_as_many_labels_fewer_as_rows_are_cleared(uqcli, files):
    _, flagged = files
    assert flagged.mean() < 0.2
    line = ("sample", "rule.json", "all.parquet", "--for", "precision", "--plan", "0.3", "--json")
    metrics = uqcli(*line).json["metrics"]
    assert metrics["labels_uniform"] >= 5 * metrics["labels"]
    assert metrics["labels_uniform"] == pytest.approx(metrics["labels"] / flagged.mean(), rel=0.05)


def test_a_calibrator_gives_the_rates(uqcli, files):
    options = ("--for", "recall", "--plan", "0.2")
    plain = uqcli("sample", "rule.json", "all.parquet", *options)
    assert "add --calibrator" in plain.out.decode()
    calibrated = uqcli("sample", "rule.json", "all.parquet", *options, "--calibrator", "map.json")
    assert "add --calibrator" not in calibrated.out.decode()
    assert "Labels of all rows" not in calibrated.out.decode()


@pytest.mark.covering("thorough", every=4)
@pytest.mark.parametrize(
    ("options", "message"),
    [
        (("--for", "recall"), "give --budget N or --plan WIDTH"),
        (("--for", "recall", "--budget", "9", "--plan", "0.1"), "--plan"),
        (("--for", "recall", "--plan", "1"), "a width between 0 and 1"),
        (("--for", "recall", "--plan", "0.1", "-o", "x.csv"), "writes no rows"),
        (("--for", "precision", "--plan", "0.1", "--calibrator", "map.json"), "--for recall"),
        (("--for", "recall", "--budget", "9", "--engine", "spark"), "no row order"),
        (("--for", "recall", "--budget", "9", "--on-invalid", "keep"), "for apply"),
    ],
)
def test_options_that_contradict_each_other_are_refused(uqcli, files, options, message):
    outcome = uqcli("sample", "rule.json", "all.parquet", *options)
    assert outcome.code == 2
    assert message in outcome.err


def test_rows_without_flags_or_rates_are_refused(uqcli, files, tmp_path):
    frame, _ = files
    frame.with_columns(score=pl.lit(0.0)).write_csv(tmp_path / "none.csv")
    frame.with_columns(score=pl.col("score") * 9).write_csv(tmp_path / "large.csv")
    for name, goal, message in (
        ("none.csv", "precision", "no row is flagged"),
        ("large.csv", "recall", "give --calibrator"),
    ):
        outcome = uqcli("sample", "rule.json", name, "--for", goal, "--budget", "9", "-o", "x.csv")
        assert outcome.code == 3
        assert message in outcome.err


def test_unusable_rows_are_not_drawn(uqcli, files, tmp_path):
    frame, _ = files
    holes = frame.with_columns(score=pl.when(pl.col("id") % 10 > 0).then("score"))
    holes.write_csv(tmp_path / "holes.csv")
    options = ("--budget", "9999", "--on-invalid", "drop", "-q", "-o", "x.csv")
    assert uqcli("sample", "rule.json", "holes.csv", "--for", "recall", *options).code == 0
    assert pl.read_csv(tmp_path / "x.csv")["id"].to_list() == [i for i in range(ROWS) if i % 10]


def write_partly_labelled():
    """Let a desk have labelled flagged positives above all: its labels alone show a high precision."""
    frame, flagged = write_files()
    label, random = frame["label"].to_numpy(), np.random.default_rng(5)
    seen = (flagged & (label == 1) & (random.random(ROWS) < 0.8)) | (random.random(ROWS) < 0.02)
    known = frame.with_columns(label=pl.when(pl.Series(seen)).then("label"))
    known.write_csv("partly.csv")
    return frame, flagged, seen


@pytest.fixture
def partly(prepared):
    return prepared(write_partly_labelled)


@pytest.mark.parametrize(("goal", "budget"), [("precision", 60), ("recall", 300)])
def test_rows_that_have_a_label_are_counted_and_not_drawn(uqcli, partly, tmp_path, goal, budget):
    _, flagged, seen = partly
    options = ("partly.csv", "--for", goal, "--budget", budget, "--label", "label")
    report = uqcli("sample", "rule.json", *options, "-o", "drawn.csv", "--json").json
    drawn = pl.read_csv(tmp_path / "drawn.csv", infer_schema_length=None)
    assert drawn["label"].null_count() == drawn.height == report["metrics"]["labels"]
    labelled = int((seen & flagged).sum() if goal == "precision" else seen.sum())
    assert report["metrics"]["labelled"] == labelled
    assert any("--keep-labelled" in note for note in report["notes"])
    rest = int((flagged & ~seen).sum())
    if goal == "precision":
        shown = uqcli("sample", "rule.json", *options, "-o", "drawn.csv", "--overwrite").out.decode()
        assert f"at random from the {rest:,} flagged rows without a label." in " ".join(shown.split())
        assert drawn["sampling_weight"].to_numpy() == pytest.approx(rest / budget, abs=1e-6)
    kept = uqcli("sample", "rule.json", *options, "--keep-labelled", "-o", "both.csv", "--json").json
    assert not any("--keep-labelled" in note for note in kept["notes"])
    assert kept["metrics"] == report["metrics"]
    both = pl.read_csv(tmp_path / "both.csv", infer_schema_length=None)
    before = both.filter(pl.col("label").is_not_null())
    assert both.filter(pl.col("label").is_null()).drop("label").equals(drawn.drop("label"))
    assert (before.height, set(before["sampling_weight"].to_list())) == (labelled, {1.0})


def test_labels_of_before_and_of_drawn_rows_are_evaluated_together(uqcli, partly, tmp_path):
    """Whatever was labelled before: here mostly positives, which alone show a precision far too high."""
    frame, flagged, seen = partly
    label = frame["label"].to_numpy()
    precision = label[flagged].mean()
    recall = label[flagged].sum() / label.sum()
    options = ("partly.csv", "--label", "label", "--keep-labelled", "-q", "-o", "both.csv", "--overwrite")
    values = {"precision": [], "recall": []}
    for goal, budget, truth in (("precision", 80, precision), ("recall", 300, recall)):
        covered = 0
        for seed in range(6):
            line = ("sample", "rule.json", *options, "--for", goal, "--budget", budget, "--seed", seed)
            assert uqcli(*line).code == 0
            both = pl.read_csv(tmp_path / "both.csv", infer_schema_length=None)
            both.with_columns(label=label[both["id"].to_numpy()]).write_csv(tmp_path / "done.csv")
            weighted = ("--sampling-weight", "sampling_weight", "--json")
            estimate = uqcli("evaluate", "rule.json", "done.csv", *weighted).json["metrics"][goal]
            covered += estimate["low"] <= truth <= estimate["high"]
            values[goal].append(estimate["value"])
        assert covered >= 5
        assert np.mean(values[goal]) == pytest.approx(truth, abs=0.05)
    assert label[flagged & seen].mean() > precision + 0.15


def test_a_file_without_rows_to_label_is_refused_and_a_configured_column_may_be_missing(
    uqcli, files, tmp_path
):
    options = ("--for", "precision", "--budget", "9", "-o", "x.csv")
    outcome = uqcli("sample", "rule.json", "all.parquet", *options, "--label", "label")
    assert outcome.code == 3
    assert "every flagged row has a label in 'label'" in outcome.err
    assert uqcli("sample", "rule.json", "all.parquet", *options, "--label", "truth").code == 3
    assert uqcli("sample", "rule.json", "all.parquet", *options, "--keep-labelled").code == 2
    (tmp_path / "uqcli.toml").write_text("label = 'truth'\n")
    assert uqcli("sample", "rule.json", "all.parquet", *options).code == 0


@pytest.mark.thorough
def test_rows_drawn_for_recall_are_not_read_as_a_plain_sample_in_silence(uqcli, files):
    caution = "The rows have a column sampling_weight with different values"
    uqcli("sample", "rule.json", "all.parquet", "--for", "recall", "--budget", "300", "-o", "q.csv")
    uqcli("sample", "rule.json", "all.parquet", "--for", "precision", "--budget", "90", "-o", "p.csv")
    for command in (("evaluate", "rule.json"), ("tce",)):
        assert f"{caution}: add --sampling-weight sampling_weight" in uqcli(*command, "q.csv").out.decode()
        weighted = uqcli(*command, "q.csv", "--sampling-weight", "sampling_weight", "--json").json
        assert weighted["cautions"] == []
        assert caution not in uqcli(*command, "p.csv", "--verbose").out.decode()
    others = [("boundary", "--recall", "0.4"), ("calibrate", "--bootstrap", "0"), ("watch", "rule.json"), ()]
    for command in (*others, ("tce", "--bootstrap", "9")):
        shown = uqcli(*command, "q.csv").out.decode()
        assert f"{caution}, which this run does not use" in shown, command
        (sentence,) = [
            text for text in uqcli(*command, "q.csv", "--json").json["cautions"] if "drawn" in text
        ]
        assert "Use rows that were drawn with equal probabilities." in sentence
