"""Tests of ``--labels FILE --on ID``: labels that arrive in a second file."""

import numpy as np
import polars as pl
import pytest

COMMANDS = (
    ("boundary", "--precision", "0.6"),
    ("bin", "--score-bins", "5"),
    ("calibrate", "--bootstrap", "0"),
    ("tce",),
)


@pytest.fixture
def files(frame, tmp_path):
    """Write rows without labels in several formats, and the labels of half of them in another order."""
    half = frame.sample(fraction=0.5, shuffle=True, seed=1)
    half.select("label", "id").write_csv(tmp_path / "labels.csv")
    rows = frame.drop("label")
    rows.write_csv(tmp_path / "rows.csv")
    rows.write_parquet(tmp_path / "rows.parquet")
    rows.write_ndjson(tmp_path / "rows.jsonl")
    joined = frame.with_columns(label=pl.when(pl.col("id").is_in(half["id"].implode())).then("label"))
    joined.write_parquet(tmp_path / "joined.parquet")
    return half


def without_input(report):
    """Return a report without what says how missing labels were allowed."""
    report["parameters"].pop("on_invalid", None)
    return report


@pytest.mark.thorough
@pytest.mark.parametrize("command", COMMANDS, ids=lambda command: command[0])
@pytest.mark.parametrize("name", ["rows.csv", "rows.parquet", "rows.jsonl", "-"])
def test_commands_read_labels_of_a_second_file(uqcli, files, tmp_path, command, name):
    content = (tmp_path / "rows.csv").read_bytes() if name == "-" else b""
    second = ("--labels", "labels.csv", "--on", "id")
    joined = uqcli(*command, name, *second, "--json", stdin=content)
    assert joined.code == 0, joined.err
    expected = uqcli(*command, "joined.parquet", "--on-invalid", "drop", "--json")
    assert without_input(joined.json) == without_input(expected.json)
    assert "200 rows have no label" in str(joined.json["cautions"])


def test_rules_are_tested_with_labels_of_a_second_file(uqcli, files, artifact, tmp_path):
    second = ("--labels", "labels.csv", "--on", "id")
    joined = uqcli("evaluate", artifact, "rows.csv", *second, "--json").json
    expected = uqcli("evaluate", artifact, "joined.parquet", "--on-invalid", "drop", "--json").json
    assert without_input(joined) == without_input(expected)
    assert joined["metrics"]["unlabelled"] == 200
    watched = uqcli("watch", artifact, "rows.csv", *second, "--json").json
    assert watched["metrics"]["trials"] == joined["metrics"]["selected"]
    page = uqcli("evaluate", artifact, "rows.csv", *second, "-q", "--report", "page.md")
    assert page.code == 0
    assert "labels.csv" in (tmp_path / "page.md").read_text()


def test_ids_are_compared_as_text_and_missing_ones_have_no_label(uqcli, artifact, frame, tmp_path):
    numbered = frame.with_columns(id=pl.int_range(pl.len()))
    numbered.select("id", "label").with_columns(pl.col("id").cast(pl.String)).write_parquet(
        tmp_path / "labels.parquet"
    )
    rows = numbered.drop("label").with_columns(id=pl.when(pl.col("id") > 9).then("id"))
    rows.write_parquet(tmp_path / "rows.parquet")
    line = ("evaluate", artifact, "rows.parquet", "--labels", "labels.parquet", "--on", "id")
    report = uqcli(*line, "--json").json
    assert report["metrics"]["unlabelled"] == 10
    assert "10 labels of 'labels.parquet' belong to no row." in report["cautions"]


def test_a_label_may_belong_to_several_rows(uqcli, artifact, frame, tmp_path):
    shared = frame.with_columns(id=pl.col("id").str.slice(0, 4))
    shared.drop("label").write_csv(tmp_path / "rows.csv")
    shared.unique("id").select("id", "label").write_csv(tmp_path / "labels.csv")
    report = uqcli("evaluate", artifact, "rows.csv", "--labels", "labels.csv", "--on", "id", "--json").json
    assert report["metrics"]["unlabelled"] == 0
    assert "40 labels of 'labels.csv' belong to several rows each." in report["cautions"]


@pytest.mark.parametrize(
    ("labels", "code", "message"),
    [
        ("id,label\n00001,1\n00001,0\n", 3, "2 rows with an id that repeats, such as '00001'"),
        ("id,label\n,1\n00002,0\n", 3, "1 row without an id"),
        ("key,label\n00001,1\n", 3, "name one of them with --on"),
        ("id,y\n00001,1\n", 3, "give --label y"),
        ("id,label\n1,1\n", 3, "no 'id' of the inputs is in"),
        ("id,label\n", 3, "no 'id' of the inputs is in"),
        ("id,label\n00001,maybe\n", 3, "maybe"),
    ],
)
def test_unusable_labels_are_refused(uqcli, files, artifact, tmp_path, labels, code, message):
    (tmp_path / "bad.csv").write_text(labels)
    outcome = uqcli("evaluate", artifact, "rows.csv", "--labels", "bad.csv", "--on", "id")
    assert outcome.code == code
    assert message in outcome.err


@pytest.mark.parametrize(
    ("options", "code", "message"),
    [
        (("--labels", "labels.csv"), 2, "--labels is given without --on"),
        (("--on", "id"), 2, "without --labels"),
        (("--labels", "-", "--on", "id"), 2, "standard input"),
        (("--labels", "missing.csv", "--on", "id"), 3, "missing.csv"),
        (("--labels", "labels.csv", "--on", "id", "--report", "labels.csv"), 2, "labels.csv"),
    ],
)
def test_options_that_do_not_fit_are_refused(uqcli, files, artifact, options, code, message):
    outcome = uqcli("evaluate", artifact, "rows.csv", *options)
    assert outcome.code == code
    assert message in outcome.err


def test_labels_in_both_places_are_refused(uqcli, files, artifact):
    line = ("evaluate", artifact, "joined.parquet", "--labels", "labels.csv", "--on", "id")
    outcome = uqcli(*line)
    assert outcome.code == 3
    assert "has a column 'label', and --labels gives another" in outcome.err


def test_missing_scores_are_still_an_error(uqcli, files, artifact, tmp_path):
    rows = pl.read_parquet(tmp_path / "rows.parquet")
    score = pl.when(pl.Series(np.arange(rows.height)) != 3).then("score")
    rows.with_columns(score=score).write_parquet(tmp_path / "holes.parquet")
    line = ("evaluate", artifact, "holes.parquet", "--labels", "labels.csv", "--on", "id")
    outcome = uqcli(*line)
    assert outcome.code == 3
    assert "column 'score' has 1 null" in outcome.err
    assert "'label'" not in outcome.err
