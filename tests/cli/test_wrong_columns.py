"""Tests of columns named for the wrong role: they are refused, not used."""

import json
from pathlib import Path

import pandas as pd
import polars as pl
import pytest

from tests.cli.conftest import fit

ROWS = pl.DataFrame(
    {
        "id": range(60),
        "score": [0.9, 0.8, 0.1, 0.3, 0.6, 0.4] * 10,
        "uncertainty": [1.5, 2.0, 0.5] * 20,
        "label": [1, 1, 0, 0, 1, 0] * 10,
        "day": ["2026-03-01", "2026-03-02"] * 30,
    }
)


def write_files():
    ROWS.write_csv("rows.csv")
    ROWS.write_parquet("rows.parquet")
    ROWS.drop("label").write_csv("new.csv")
    ROWS.select("id", "label").write_csv("labels.csv")
    fit("boundary rows.csv --algorithm st --precision 0.9 -o rule.json")


@pytest.fixture(autouse=True)
def files(prepared, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    prepared(write_files)


LABEL_TWICE = {
    "boundary rows.csv --precision 0.9 --score label": "--score",
    "boundary rows.parquet --precision 0.9 --uncertainty=-label": "--uncertainty",
    "boundary rows.csv --precision 0.9 --by label": "--by",
    "boundary rows.csv --precision 0.9 --cluster label": "--cluster",
    "boundary rows.csv --precision 0.9 --weight label": "--weight",
    "boundary rows.csv --gain label --cost 1": "--gain",
    "boundary new.csv --labels labels.csv --on id --precision 0.9 --score label": "--score",
    "tce rows.csv --by label": "--by",
    "tce rows.csv --proba score,label": "--proba",
    "conformal rows.csv --by label": "--by",
    "evaluate rule.json rows.csv --label score": "--score",
    "evaluate rule.json rows.csv --sampling-weight label": "--sampling-weight",
    "tce rows.csv --sampling-weight label": "--sampling-weight",
    "watch rule.json rows.csv --day label": "--day",
}


@pytest.mark.parametrize("line", LABEL_TWICE)
def test_the_label_has_no_other_role(uqcli, line):
    outcome = uqcli(*line.split())
    assert outcome.code == 2
    option = LABEL_TWICE[line]
    assert f"--label and {option} both name the column" in outcome.err
    assert f"give {option} or --label another COLUMN" in outcome.err


def test_the_error_of_a_missing_column_names_the_option_as_it_is_typed(uqcli):
    outcome = uqcli("evaluate", "rule.json", "rows.csv", "--sampling-weight", "design")
    assert outcome.code == 3
    assert "name one of them with --sampling-weight" in outcome.err


def test_the_error_of_a_repeated_name_says_what_to_do(uqcli, tmp_path):
    (tmp_path / "twice.csv").write_text("score,label,score\n0.5,1,0.5\n")
    outcome = uqcli("tce", "twice.csv")
    assert outcome.code == 3
    assert "rename one of these columns" in outcome.err


CLASSES = pl.DataFrame(
    {
        "p_ash": [0.7, 0.2, 0.1, 0.5] * 10,
        "p_elm": [0.2, 0.7, 0.1, 0.25] * 10,
        "p_oak": [0.1, 0.1, 0.8, 0.25] * 10,
        "label": ["ash", "elm", "oak", "ash"] * 10,
    }
)


def test_columns_of_classes_are_not_exchanged(uqcli):
    CLASSES.write_parquet("classes.parquet")
    fit("conformal classes.parquet --proba p_* -o sets.json")
    right = ("apply", "sets.json", "classes.parquet")
    for options in ("--proba p_elm,p_ash,p_oak", "--proba p_oak,p_elm,p_ash"):
        outcome = uqcli(*right, *options.split())
        assert outcome.code == 2
        assert "lists the rule's columns in another order" in outcome.err
        assert "p_ash,p_elm,p_oak" in outcome.err
    named = ("--proba", "p_elm,p_ash,p_oak", "--classes", "elm,ash,oak")
    assert uqcli(*right, *named).out == uqcli(*right).out == uqcli(*right, "--proba", "p_ash,p_elm,p_oak").out
    CLASSES.rename({"p_ash": "q0", "p_elm": "q1", "p_oak": "q2"}).write_parquet("classes.parquet")
    assert uqcli(*right, "--proba", "q1,q0,q2").code == 0


def test_names_of_classes_do_not_contradict_those_of_the_columns(uqcli):
    CLASSES.write_csv("classes.csv")
    for command in ("tce", "conformal", "calibrate"):
        wrong = uqcli(command, "classes.csv", "--proba", "p_*", "--classes", "elm,ash,oak")
        assert wrong.code == 2
        assert "gives the columns p_ash, p_elm, p_oak each other's names" in wrong.err
        assert "leave out --classes" in wrong.err
    assert uqcli("tce", "classes.csv", "--proba", "p_*", "--classes", "ash,elm,oak").code == 0


def test_the_error_of_an_option_without_use_says_to_leave_it_out(uqcli):
    outcome = uqcli("apply", "rule.json", "new.csv", "--uncertainty", "day")
    assert outcome.code == 2
    assert outcome.err.endswith("; leave out --uncertainty\n")


def test_sampling_weights_that_no_probability_gives_are_cautioned_of(uqcli):
    command = ("evaluate", "rule.json", "rows.csv", "--json", "--sampling-weight")
    assert any("sampling weights are below 1" in text for text in uqcli(*command, "score").json["cautions"])
    ROWS.with_columns(design=pl.col("uncertainty") + 1).write_csv("rows.csv")
    assert "sampling weights are below 1" not in uqcli(*command, "design").out.decode()


def test_rows_of_one_class_are_cautioned_of(uqcli, tmp_path):
    ROWS.with_columns(label=1).write_csv("positive.csv")
    ROWS.with_columns(label=0).write_csv("negative.csv")
    for options in ((), ("--certify", "0.3"), ("--by", "day", "--min-group", "5"), ("--algorithm", "st")):
        command = ("boundary", "positive.csv", "--precision", "0.7", *options)
        shown = " ".join(uqcli(*command, "-o", "one.json").out.decode().split())
        assert "Caution: Every row is positive" in shown
        assert any(
            "every row is positive" in text for text in json.loads(Path("one.json").read_text())["doubts"]
        )
    assert b"Every row is positive" in uqcli("boundary", "positive.csv", "--precision", "0.7,0.8").out
    assert b"Every row is positive" not in uqcli("boundary", "rows.csv", "--precision", "0.7").out
    assert "no row is positive: check --label" in uqcli("boundary", "negative.csv", "--precision", "0.7").err


@pytest.mark.parametrize("engine", ["polars", "spark"])
@pytest.mark.parametrize(("placeholder", "cautioned"), [("N/A", True), ("?", True), ("legal", False)])
def test_labels_that_may_be_missing_are_cautioned_of_if_they_count_as_negative(
    uqcli, engine, placeholder, cautioned
):
    label = pl.when(pl.int_range(pl.len()) == 7).then(pl.lit(placeholder)).otherwise("text")
    texts = ROWS.with_columns(text=pl.col("label").replace_strict({1: "fraud", 0: "legal"}))
    texts.with_columns(text=label).write_parquet("texts.parquet")
    command = ("tce", "texts.parquet", "--label", "text", "--positive", "fraud", "--json", "--engine", engine)
    outcome = uqcli(*command)
    assert outcome.code == 0, outcome.err
    words = f"the label '{placeholder}' in column 'text' counts as negative, as all but 'fraud' do"
    assert any(words in text for text in outcome.json.get("cautions", ())) == cautioned


def test_a_text_that_means_a_missing_label_is_null_if_it_is_named(uqcli):
    lines = ["score,text", *(f"0.{number},{text}" for number, text in enumerate(("yes", "no", "NA") * 3))]
    Path("texts.csv").write_text("\n".join([*lines, ""]))
    command = ("tce", "texts.csv", "--label", "text", "--positive", "yes", "--json")
    assert "'NA'" in str(uqcli(*command).json["cautions"])
    named = uqcli(*command, "--null-value", "NA", "--on-invalid", "drop").json
    assert named["source"]["dropped"] == 3
    assert "counts as negative" not in str(named["cautions"])


OTHER_TYPES = {
    "score": (
        [[0.5], [0.25]],
        "holds List(Float64); expected numbers; convert the column, or name another one",
    ),
    "label": ([b"0", b"1"], "holds Binary; expected 0/1 or true/false; convert the column, or name another"),
    "day": ([[1], [2]], "holds List(Int64); expected texts or numbers; convert the column, or name another"),
}


@pytest.mark.parametrize("column", OTHER_TYPES)
def test_the_error_of_a_column_of_another_type_says_what_to_do(uqcli, column):
    values, words = OTHER_TYPES[column]
    ROWS.head(2).with_columns(pl.Series(column, values)).write_parquet("types.parquet")
    outcome = uqcli("tce", "types.parquet", "--by", "day")
    assert outcome.code == 3
    assert words in outcome.err


def test_a_day_of_periods_is_refused_as_of_another_type(uqcli):
    periods = pd.period_range("2026-03-01", periods=2)
    pd.DataFrame({"score": [0.5, 0.25], "label": [1, 0], "day": periods}).to_parquet("periods.parquet")
    outcome = uqcli("boundary", "periods.parquet", "--precision", "0.5", "--day", "day")
    assert outcome.code == 3
    assert "holds Extension('pandas.period'" in outcome.err
    assert "convert the column" in outcome.err


def test_sums_of_rounded_probabilities_have_their_own_remedy(uqcli):
    for value, words in ((0.72, "write more digits"), (0.4, "give the columns of all classes")):
        CLASSES.with_columns(p_ash=pl.lit(value)).head(1).write_csv("classes.csv")
        outcome = uqcli("tce", "classes.csv", "--proba", "p_*")
        assert outcome.code == 3
        assert words in outcome.err


def test_errors_of_places_say_what_to_do(uqcli, tmp_path):
    (tmp_path / "folder" / "below").mkdir(parents=True)
    assert "give a pattern such as" in uqcli("tce", "folder").err
    for option in ("-o", "--report", "--plot"):
        outcome = uqcli("boundary", "rows.csv", "--precision", "0.9", option, "")
        assert outcome.code == 2
        assert "check the shell variable" in outcome.err or "ending" in outcome.err
    assert "expected an existing file; check the path" in uqcli("show", "").err


def test_all_missing_columns_are_named_at_once(uqcli):
    line = "boundary rows.csv --precision 0.9 --score a --by b --cluster c --weight day"
    outcome = uqcli(*line.split())
    assert outcome.code == 3
    assert "no columns 'a', 'b' and 'c' in 'rows.csv'" in outcome.err
    assert all(f"--{option}" in outcome.err for option in ("score", "by", "cluster"))
    assert "read it with" not in outcome.err  # nobody knows what was meant


@pytest.mark.parametrize("engine", ["polars", "spark"])
def test_all_columns_with_unreadable_values_are_named_at_once(uqcli, engine):
    texts = ROWS.with_columns(score=pl.lit("high"), label=pl.lit("bad"), weight=pl.lit("two"))
    texts.write_csv("texts.csv")
    outcome = uqcli("tce", "texts.csv", "--weight", "weight", "--engine", engine)
    assert outcome.code == 3
    assert all(f"column '{name}' has " in outcome.err for name in ("score", "label", "weight"))
    assert all(f"'{text}'" in outcome.err for text in ("high", "bad", "two"))
