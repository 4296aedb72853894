"""Tests of ``overview`` and ``uqcli FILE``: its numbers are those of the commands that it names."""

import gzip
import re
import shlex
from pathlib import Path

import numpy as np
import polars as pl
import pytest

from uqcli.estimates.estimate import FEWEST_FLAGGED
from uqcli.estimates.score_metrics import auc, average_precision


def write_files():
    rng = np.random.default_rng(5)
    n = 2_500
    score, spread = rng.beta(1, 3, n).round(4), rng.random(n).round(2)
    rows = pl.DataFrame(
        {
            "score": score,
            "label": (rng.random(n) < score**1.3).astype(int),
            "weight": rng.integers(0, 4, n),
            "customer_id": rng.integers(0, 400, n),
            "spread": spread,
            "region": rng.choice(["a", "b"], n),
        }
    )
    rows.select("score", "label").write_csv("two.csv")
    rows.write_csv("rows.csv")
    rows.write_parquet("rows.parquet")
    rows.with_columns(uncertainty=pl.col("spread")).write_csv("with.csv")
    other = rows.select(pl.col("score").alias("Y_Prob"), pl.col("label").alias("target"), "spread")
    other.write_csv("it's other.tsv", separator="\t")
    rows.with_columns(p=pl.col("score"), prob=pl.col("score")).drop("score").write_csv("twice.csv")
    rows.with_columns(pl.col("score") * 100).write_csv("percent.csv")
    rows.with_columns(pl.col("score").log1p() - 1).write_csv("log.csv")
    rows.with_columns(score=pl.lit(0.5)).write_csv("constant.csv")
    rows.with_columns(label=pl.lit(0)).write_csv("none.csv")
    rows.with_columns(label=pl.lit(1)).write_csv("all.csv")
    rows.with_columns(score=pl.when(pl.col("score") < 0.01).then(None).otherwise("score")).write_csv(
        "null.csv"
    )
    named = pl.Series(["no", "yes", "unknown"]).gather(rng.integers(0, 3, n))
    rows.select(risk="score", bad=named).write_csv("tabs.csv", separator="\t")
    rows.select("score", label=named).write_csv("three.csv")
    Path("two.csv.gz").write_bytes(gzip.compress(Path("two.csv").read_bytes()))
    Path("folder").mkdir()
    rows[:1000].write_parquet("folder/a.parquet")
    rows[1000:].write_parquet("folder/b.parquet")
    Path("tce").write_bytes(Path("two.csv").read_bytes())


@pytest.fixture(autouse=True)
def files(prepared, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    prepared(write_files)


@pytest.mark.covering("thorough", every=3)
@pytest.mark.parametrize(
    "line",
    [
        "two.csv",
        "rows.csv --weight weight",
        "rows.csv --audit region",
        "with.csv",
        "log.csv",
        "null.csv --on-invalid drop",
    ],
)
def test_every_number_is_that_of_the_command(uqcli, line):
    words = shlex.split(line)
    found = uqcli("overview", *words, "--json").json
    if found["is_probability"]:
        tce = uqcli("tce", *words, "--json").json
        assert {**found["metrics"]["tce"], "dropped_share": found["metrics"]["dropped_share"]} == tce[
            "metrics"
        ]
        assert found["calibration"]["bins"] == tce["bins"]
        assert found["calibration"].get("audit") == tce.get("audit")
    else:
        assert found["metrics"]["tce"] is None
    alone = [word for word in words if word not in ("--audit", "region")]
    column = found["parameters"].get("cluster")
    dependence = [] if column is None else ["--cluster", column]  # rows of several copies are alike
    assert bool(column) == ("--weight" in words)
    one_threshold = uqcli("boundary", *alone, *dependence, "--uncertainty-bins", "1", "--json").json
    assert found["targets"] == one_threshold["targets"]
    assert len(found["targets"]) >= 5
    rate = found["metrics"]["prevalence"]
    if not dependence:
        assert rate["low"] < found["metrics"]["positives"] / found["metrics"]["rows"] < rate["high"]


def test_ranking_is_that_of_the_rows(uqcli):
    from uqcli.base.counts import pool

    rows = pl.read_csv("two.csv")
    counts = pool(rows["score"].to_numpy(), rows["label"].to_numpy() == 1, None)
    metrics = uqcli("two.csv", "--json").json["metrics"]
    assert (metrics["auc"], metrics["average_precision"]) == (auc(counts), average_precision(counts))
    assert metrics["distinct"] == rows["score"].n_unique()
    assert (metrics["lowest"], metrics["highest"]) == (rows["score"].min(), rows["score"].max())


@pytest.mark.thorough
def test_named_uncertainties_are_compared_as_boundary_does(uqcli):
    found = uqcli("overview", "rows.csv", "--uncertainty", "spread,region_code", "--json")
    assert found.code == 3
    found = uqcli("overview", "rows.csv", "--uncertainty", "spread,weight", "--json").json["uncertainty"]
    precision = found["target"].removeprefix("precision >= ")
    line = ("rows.csv", "--uncertainty", "spread,weight", "--precision", precision, "--compare", "--json")
    compared = uqcli("boundary", *line).json
    assert found["compared"] == compared["compared"]
    assert found["verdict"] == compared["verdict"]


def test_columns_are_proposed_but_never_tested_unasked(uqcli, tmp_path):
    found = uqcli("overview", "rows.csv", "--json").json
    assert found["uncertainty"] is None
    assert found["could_be_uncertainty"] == ["weight", "spread"]
    assert "weight, spread" in uqcli("rows.csv").out.decode()
    sampled = pl.read_csv(tmp_path / "rows.csv").with_columns(sampling_weight=pl.col("weight") + 1.5)
    sampled.write_csv(tmp_path / "sampled.csv")
    assert uqcli("overview", "sampled.csv", "--json").json["could_be_uncertainty"] == ["weight", "spread"]
    assert uqcli("with.csv", "--json").json["uncertainty"]["compared"][0]["uncertainty"] == "uncertainty"


@pytest.mark.covering("thorough", every=3)
@pytest.mark.parametrize(
    "word",
    ["two.csv", "./two.csv", "two.csv.gz", "rows.parquet", "folder", "folder/", "fold*/*.parquet", "r*.csv"],
)
def test_a_name_of_data_is_a_command(uqcli, word):
    found = uqcli(word, "--json")
    assert found.code == 0
    assert found.json["command"] == "overview"
    assert found.out == uqcli("overview", word, "--json").out


def test_formats_splits_and_pipes_give_the_same_bytes(uqcli):
    one = uqcli("rows.parquet", "--json").out
    assert uqcli("rows.csv", "--json").out == one
    assert uqcli("folder", "--json").out == one
    assert uqcli("-", "--json", stdin=Path("rows.csv").read_bytes()).out == one


def test_a_command_wins_over_a_file_of_its_name(uqcli):
    assert uqcli("tce").code == 2
    assert uqcli("./tce", "--format", "csv", "--json").json["command"] == "overview"


@pytest.mark.parametrize("word", ["nowhere.csv", "tec", "nothing*.csv"])
def test_a_word_that_names_nothing_is_no_command(uqcli, word):
    found = uqcli(word)
    assert found.code == 2
    assert f"No such command '{word}'" in found.err


@pytest.mark.thorough
def test_usual_names_are_taken_if_one_fits(uqcli):
    found = uqcli("it's other.tsv")
    text = found.out.decode()
    assert found.code == 0
    assert "taken by their usual names: --score Y_Prob and --label target" in text
    commands = [line[line.index("uqcli ") :] for line in text.splitlines() if ": uqcli " in line]
    assert len(commands) == 3
    for command in commands:
        words = shlex.split(command)
        assert words[0] == "uqcli"
        assert words[2:7] == ["it's other.tsv", "--score", "Y_Prob", "--label", "target"]
        assert uqcli(*words[1:], "-q").code in (0, 4)
    assert Path("boundary.json").exists()


def test_two_usual_names_are_asked_about(uqcli):
    found = uqcli("twice.csv")
    assert found.code == 3
    assert "--score" in found.err
    assert uqcli("twice.csv", "--score", "p").code == 0


def test_the_first_command_saves_a_rule_by_pasting(uqcli):
    for line in ("two.csv", "with.csv", "rows.csv --weight weight --positive 1"):
        text = uqcli(*shlex.split(line)).out.decode()
        first = next(row for row in text.splitlines() if row.startswith("Next: "))
        assert uqcli(*shlex.split(first)[2:]).code == 0
        assert Path("boundary.json").exists()
        Path("boundary.json").unlink()


def test_a_refused_rule_leaves_an_older_file_and_says_so(uqcli):
    Path("rule.json").write_text("{}")
    command = ("boundary", "two.csv", "--precision", "0.99", "--certify", "0.05", "-o", "rule.json")
    refused = uqcli(*command)
    assert refused.code == 4
    assert "rule.json was left as it was" in " ".join(refused.out.decode().split())
    assert Path("rule.json").read_text() == "{}"
    Path("rule.json").unlink()
    assert "was left as it was" not in uqcli(*command).out.decode()


def test_a_delimiter_that_one_command_recognises_all_do(uqcli):
    command = ("tabs.csv", "--score", "risk", "--label", "bad", "--positive", "yes")
    assert uqcli(*command).code == 0
    assert uqcli("boundary", *command, "--max-selected", "10%").code == 0


@pytest.mark.covering("thorough", every=2)
@pytest.mark.parametrize(
    ("line", "part"),
    [
        ("percent.csv", "if the scores are percentages"),
        ("log.csv", "are not probabilities"),
        ("constant.csv", "all scores are equal"),
        ("rows.csv", "--cluster customer_id"),
        ("null.csv --on-invalid drop", "were left out"),
        ("three.csv --positive yes", "every label but 'yes' is negative: 'no', 'unknown'"),
    ],
)
def test_what_is_odd_is_said(uqcli, line, part):
    found = uqcli(*line.split(), "--json").json
    assert any(part in sentence for sentence in found["odd"])
    assert part in " ".join(uqcli(*line.split()).out.decode().split())


@pytest.mark.parametrize("name", ["none.csv", "all.csv"])
def test_rows_of_one_class_are_an_answer(uqcli, name):
    found = uqcli(name, "--json")
    assert found.code == 0
    assert found.json["metrics"]["auc"] is None
    assert uqcli(name).out.decode().startswith("No row is ")


def test_an_audit_needs_probabilities(uqcli):
    assert uqcli("log.csv", "--audit", "region").code == 2


@pytest.mark.thorough
def test_a_page_has_all_parts(uqcli):
    line = ("rows.csv", "--audit", "region", "-q", "--report", "page.html", "--report", "page.md")
    assert uqcli(*line).code == 0
    page, text = Path("page.html").read_text(), Path("page.md").read_text()
    assert '"uqcli boundary rows.csv"' in page
    assert "operating-points" in page
    assert "region" in text
    assert "--max-selected" in text


def test_a_check_may_name_what_is_measured(uqcli):
    assert uqcli("two.csv", "--fail-if", "auc < 0.99", "-q").code == 6
    assert uqcli("two.csv", "--fail-if", "tce.ece > 0.9", "-q").code == 0


def test_the_screen_has_at_most_24_lines(uqcli):
    for name in ("two.csv", "rows.csv", "with.csv", "it's other.tsv"):
        lines = uqcli(name).out.decode().splitlines()
        assert len(lines) <= 24
        assert len(lines[0]) <= 80


@pytest.mark.covering("thorough", every=3)
@pytest.mark.parametrize("separator", [";", "\t", "|"])
def test_columns_are_found_whatever_separates_them(uqcli, tmp_path, separator):
    rows = pl.read_csv(tmp_path / "rows.csv")
    rows.write_csv(tmp_path / "other.csv", separator=separator)
    told = [uqcli("overview", name, "--json").json for name in ("rows.csv", "other.csv")]
    assert told[1]["could_be_uncertainty"] == told[0]["could_be_uncertainty"] == ["weight", "spread"]
    assert told[1]["metrics"] == told[0]["metrics"]


def test_decimal_commas_are_read_where_semicolons_separate(uqcli, tmp_path):
    rows = pl.read_csv(tmp_path / "two.csv")
    texts = [f"{score:.6f};{label}".replace(".", ",") for score, label in rows.iter_rows()]
    (tmp_path / "comma.csv").write_text("\n".join(["Y_Prob;target", *texts, ""]))
    outcome = uqcli("comma.csv", "--decimal", ",", "--json")
    assert outcome.code == 0, outcome.err
    assert outcome.json["metrics"]["rows"] == len(rows)


def test_the_first_look_advises_a_target_with_enough_alerts_and_says_why(uqcli, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    random = np.random.default_rng(3)
    score = random.beta(1, 20, 4000).round(4)
    label = (random.random(4000) < score).astype(int)
    pl.DataFrame({"score": score, "label": label}).write_csv("rows.csv")
    lines = uqcli("overview", "rows.csv").out.decode().splitlines()
    assert lines[0].endswith("at precision 20 %.")
    assert lines[1] == "Target: the highest usual precision that flags 100 rows or more here."
    assert any("boundary rows.csv --precision 0.2" in line for line in lines)
    table = [line for line in lines if re.match(r"\d+%\s", line)]
    for line in table:
        flagged = int(line.split()[1].replace(",", ""))
        assert (" right" in line) == (flagged < FEWEST_FLAGGED)
