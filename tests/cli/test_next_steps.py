"""Tests that next steps run, advise nothing that was found to hurt, and that headlines say what is known."""

import re
import shlex
from pathlib import Path

import numpy as np
import polars as pl
import pytest

REVERSED = "low scores are more often positive than high ones"


@pytest.fixture
def rows(tmp_path, monkeypatch):
    """Write calibrated scores, overconfident ones for a test, and scores that rank the wrong way."""
    monkeypatch.chdir(tmp_path)
    random = np.random.default_rng(3)
    score = random.beta(1, 3, 4000).round(4)
    label = (random.random(4000) < score).astype(int)
    pl.DataFrame({"score": score, "label": label}).write_csv("calibrated.csv")
    bent = (random.random(4000) < np.clip(score**0.3, 0, 1)).astype(int)
    pl.DataFrame({"score": score, "label": bent}).write_csv("bent.csv")
    pl.DataFrame({"score": (1 - score).round(4), "label": label}).write_csv("reversed.csv")


def test_scores_that_need_no_map_stay_as_they_are(uqcli, rows, tmp_path):
    found = uqcli("calibrate", "calibrated.csv", "-o", "map.json")
    first, *_, last = found.out.decode().splitlines()
    assert first.startswith("The scores stay as they are (method identity): ")
    assert last == "Wrote map.json."  # and no next step
    assert "Next:" not in uqcli("calibrate", "calibrated.csv").out.decode()
    assert uqcli("apply", "map.json", "calibrated.csv", "-o", "out.csv").code == 0
    added = pl.read_csv(tmp_path / "out.csv")
    assert added["calibrated"].to_list() == added["score"].to_list()
    assert uqcli("calibrate", "bent.csv", "-o", "bent.json").out.decode().count("method identity") == 0
    assert uqcli("calibrate", "calibrated.csv", "--method", "identity", "--logit").code == 2
    everything = uqcli("calibrate", "calibrated.csv", "--method", "all").out.decode()
    assert "No map lowers the log loss" in everything.splitlines()[0]


def test_a_map_that_hurts_is_not_advised(uqcli, rows, tmp_path):
    """A map of bent scores hurts calibrated ones."""
    line = ("calibrate", "bent.csv", "--method", "platt", "--test", "calibrated.csv", "-o", "bad.json")
    shown = uqcli(*line, "--report", "page.html").out.decode()
    assert shown.startswith("Calibration hurt")
    assert "Next:" not in shown
    assert "uqcli apply" not in (tmp_path / "page.html").read_text()
    again = uqcli("evaluate", "bad.json", "calibrated.csv").out.decode()
    assert "harm" in again.splitlines()[0]
    assert "uqcli apply" not in again


@pytest.mark.covering("thorough", every=3)
@pytest.mark.parametrize(
    "line",
    [
        "overview {}",
        "boundary {}",
        "boundary {} --max-selected 20% --uncertainty-bins 1",
        "boundary {} --precision 0.8 --uncertainty-bins 1",
        "tce {}",
        "calibrate {} -o map.json",
    ],
)
def test_a_reversed_score_is_said_and_no_other(uqcli, rows, line):
    for name, is_reversed in (("reversed.csv", True), ("calibrated.csv", False)):
        outcome = uqcli(*line.format(name).split())
        shown = " ".join((outcome.out.decode() + outcome.err).lower().split())
        assert (REVERSED in shown) == is_reversed, shown


def proposed(outcome):
    """Return the words of each command line that a report ends with, after the program's name."""
    lines = [re.search(r"^(?:Wrote .*\. )?[A-Z][^:]*: uqcli (.*)", line) for line in shown_lines(outcome)]
    return [shlex.split(line[1]) for line in lines if line]


def shown_lines(outcome):
    return outcome.out.decode().splitlines()


@pytest.fixture
def kinds(rows):
    """Write a score of which only shares of rows are targets, one with few positives, and percentages."""
    random = np.random.default_rng(5)
    weak = random.random(3000)
    pl.DataFrame({"score": weak, "label": (random.random(3000) < 0.5 + 0.02 * weak).astype(int)}).write_csv(
        "shares.csv"
    )
    label = (np.arange(900) < 6).astype(int)
    few = np.where(label == 1, random.beta(4, 3, 900), random.beta(1, 12, 900))
    pl.DataFrame({"score": few, "label": label}).write_parquet("few.parquet")
    turned = pl.read_csv("reversed.csv")
    turned.with_columns(pl.col("score") * 100).write_csv("turned_percentages.csv")


@pytest.mark.covering("thorough", every=2)
@pytest.mark.parametrize(
    "name", ["calibrated.csv", "reversed.csv", "shares.csv", "few.parquet", "turned_percentages.csv"]
)
def test_each_command_that_a_first_look_proposes_runs(uqcli, kinds, name):
    lines = proposed(uqcli(name))
    for words in lines:
        outcome = uqcli(*words, "-q")
        assert outcome.code == 0 or ("--certify" in words and outcome.code == 4), (words, outcome.err)
    certified = [words for words in lines if "--certify" in words]
    assert bool(certified) == (name == "calibrated.csv")


def test_a_score_that_ranks_the_wrong_way_is_not_put_to_use(uqcli, kinds):
    """No rule is proposed, tested or applied; the map that is proposed turns the score around."""
    ((command, *words),) = proposed(uqcli("reversed.csv"))
    assert command == "calibrate"
    assert uqcli(command, *words, "-q").code == 0
    assert uqcli("apply", "calibrator.json", "reversed.csv", "-q", "-o", "turned.csv").code == 0
    turned = uqcli("overview", "turned.csv", "--score", "calibrated", "--json").json
    assert turned["metrics"]["auc"] > 0.6
    assert not proposed(uqcli("boundary", "reversed.csv"))
    assert "Next:" not in uqcli("boundary", "reversed.csv", "--max-selected", "20%").out.decode()
    rule = uqcli("boundary", "reversed.csv", "--max-selected", "20%", "-o", "rule.json")
    assert not proposed(rule)
    assert not proposed(uqcli("evaluate", "rule.json", "reversed.csv"))
    several = uqcli("overview", "reversed.csv", "--score", "score,score")
    assert several.code == 2 or REVERSED in several.out.decode()


READING = ("--score", "p", "--label", "y", "--positive", "ja", "--decimal", ",")
READING_OF_ROWS = ("--null-value", "k. A.", "--on-invalid", "drop")


def test_next_commands_read_other_rows_as_these_were_read(uqcli, rows):
    """The example has the ending of the input, and the options that no rule file keeps."""
    calibrated = pl.read_csv("calibrated.csv")
    lines = [
        f"{'k. A.' if i % 50 == 7 else f'{score:.4f}'.replace('.', ',')};{'ja' if label else 'nein'}"
        for i, (score, label) in enumerate(zip(calibrated["score"] ** 3, calibrated["label"], strict=True))
    ]
    for name in ("TEST.csv", "NEW.csv", "CALIBRATION.csv", "bank.csv"):
        Path(name).write_text("\n".join(["p;y", *lines[name == "TEST.csv" :], ""]))
    steps = []
    for line in (
        "boundary bank.csv --precision 0.6 -o rule.json",
        "tce bank.csv",
        "calibrate bank.csv -o c.json",
    ):
        command, *words = line.split()
        steps += proposed(uqcli(command, *words, *READING, *READING_OF_ROWS))
    steps += proposed(uqcli("evaluate", "rule.json", "TEST.csv", "--decimal", ",", *READING_OF_ROWS))
    assert [words[0] for words in steps] == ["evaluate", "calibrate", "apply", "apply"]
    for words in steps:
        outcome = uqcli(*words, "-q")
        assert outcome.code == 0, (words, outcome.err)
    calibrated.write_ndjson("rows.jsonl")
    assert proposed(uqcli("boundary", "rows.jsonl", "--precision", "0.6", "-o", "r.json"))[0] == [
        "evaluate",
        "r.json",
        "TEST.jsonl",
    ]


def test_no_headline_states_a_rate_of_few_flagged_rows(uqcli, kinds):
    """Of fewer than 30 flagged rows each command tells how many are right."""
    rows = pl.read_parquet("few.parquet").with_columns(
        day=pl.lit("2026-03-0") + (1 + pl.row_index() % 3).cast(str)
    )
    rows.write_parquet("days.parquet")
    at = ("--precision", "0.5", "-q", "-o", "rule.json")
    assert uqcli("boundary", "days.parquet", *at).code == 0
    for line in (
        "few.parquet",
        "boundary few.parquet",
        "boundary few.parquet --precision 0.5",
        "evaluate rule.json days.parquet",
        "evaluate rule.json rule.json days.parquet",
        "watch rule.json days.parquet --day day",
    ):
        outcome = uqcli(*line.split())
        assert outcome.code == 0, (line, outcome.err)
        title = shown_lines(outcome)[0]
        assert re.search(
            r"of which \d+ (is|are) right|\d+ of \d+ (flagged rows|alerts)? ?(are )?right", title
        ), title
        assert not re.search(r"(precision|positives at precision|is) \d+ %", title.partition("target")[0]), (
            title
        )
    several = shown_lines(uqcli("boundary", "few.parquet", "--precision", "0.5,0.9"))[0]
    assert several.count("flagged rows right)") == 2
    groups = uqcli("evaluate", "rule.json", "days.parquet", "--by", "day").out.decode()
    assert re.search(r"the worst is day = \S+ \(\d+ of \d+, p = ", groups)
    newest = uqcli("watch", "rule.json", "days.parquet", "--day", "day").out.decode()
    assert re.search(r"alone: \d+ alerts?, of which \d+ (is|are) right \(", newest)


def test_single_tests_do_not_contradict_the_verdict_on_all(uqcli, rows):
    calm, bent = (uqcli("tce", name).out.decode() for name in ("calibrated.csv", "bent.csv"))
    assert "No need to calibrate." in calm
    assert "Next:" not in calm
    assert ("but all together are not" in calm) == (
        "significantly wrong" in calm and " 0 % of all" not in calm
    )
    assert "but all together are not" not in bent
    assert re.search(r"off by at least \d+ points somewhere", bent)


def test_the_precisions_that_flag_enough_rows_are_listed(uqcli, kinds):
    """High ones with few flagged rows do not push them out, so that no sentence denies them."""
    random = np.random.default_rng(11)
    score = np.linspace(0, 1, 6000).round(4)
    label = (random.random(6000) < 0.3 * score**4).astype(int)
    label[-8:] = 1  # the highest precisions are reached by a few rows
    pl.DataFrame({"score": score, "label": label}).write_csv("rare.csv")
    report = uqcli("rare.csv", "--json").json
    listed = {
        row["value"]: row["metrics"]["selected"]
        for row in report["targets"]
        if row["option"] == "--precision"
    }
    assert len(listed) <= 6
    assert sum(flagged < 30 for flagged in listed.values()) <= 2
    for precision in ("0.1", "0.2", "0.3", "0.4"):
        fitted = uqcli("boundary", "rare.csv", "--precision", precision, "--json").json
        if fitted["metrics"]["selected"] >= 30 and float(precision) >= min(map(float, listed)):
            assert precision in listed
    assert max(listed.values()) >= 30
    assert "No usual" not in report["notes"][0]


def test_the_next_command_on_the_better_score_reads_the_file_as_well(uqcli, rows):
    table = pl.read_csv("calibrated.csv")
    noise = np.random.default_rng(2).random(len(table))
    lines = [
        f"{other:.4f};{score:.4f};".replace(".", ",") + ("ja" if label else "nein")
        for other, score, label in zip(noise, table["score"], table["label"], strict=True)
    ]
    Path("two.csv").write_text("\n".join(["weak;strong;y", *lines, ""]))
    found = uqcli("overview", "two.csv", "--score", "weak,strong", *READING[2:])
    (words,) = proposed(found)
    assert words[words.index("--score") + 1] == "strong"
    assert uqcli(*words, "-q").code == 0


def test_a_rule_that_flags_no_row_is_not_rated(uqcli, kinds):
    assert uqcli("boundary", "few.parquet", "--precision", "0.9", "-q", "-o", "rule.json").code == 0
    pl.DataFrame({"score": [0.001] * 50, "label": [0, 1] * 25}).write_parquet("low.parquet")
    outcome = uqcli("evaluate", "rule.json", "low.parquet")
    assert shown_lines(outcome)[0].startswith("No row is flagged; precision >= 90 % is not tested")
    assert not proposed(outcome)


def test_a_certificate_that_fails_for_few_alerts_asks_for_more_rows(uqcli, kinds):
    """With a better precision than the target among few tested alerts, more rows may well help."""
    few = uqcli("boundary", "few.parquet", "--precision", "0.3", "--certify", "0.01")
    assert few.code == 4
    assert "of which it flags too few; use more labelled rows" in few.err
    weak = uqcli("boundary", "shares.csv", "--precision", "0.95", "--certify", "0.01")
    assert weak.code == 4
    assert "more rows may not help" in weak.err
