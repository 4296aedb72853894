"""Tests of the walk from an unlabelled file to a certified rule by ``sample`` (twice) and ``boundary``."""

import json
from pathlib import Path

import numpy as np
import polars as pl
import pytest

from tests.oracles import single_precision
from tests.oracles.sampling import first_by_draw
from uqcli.base.draws import Purpose, uniforms
from uqcli.cli.app import run

ROWS = 4000
SAMPLE = ("--for", "certificate", "--precision", "0.7")
CERTIFY = ("--precision", "0.7", "--certify", "0.1")


def truth(seed=1, size=ROWS):
    """Draw rows with an id whose rate rises with the score."""
    random = np.random.default_rng(seed)
    score = random.random(size)
    label = (random.random(size) < score**3).astype(int)
    return pl.DataFrame({"id": np.arange(size) + size * seed, "score": score, "label": label})


def labelled(tmp_path, name, rows=None):
    """Fill in the labels of a file that was drawn."""
    frame = pl.read_csv(tmp_path / name)
    filled = frame.join(truth() if rows is None else rows, on="id", how="left", suffix="_known")
    filled.drop("score_known").write_csv(tmp_path / name)
    return filled


@pytest.fixture
def pool(tmp_path):
    """Write rows without labels."""
    truth().drop("label").write_csv(tmp_path / "pool.csv")
    return truth()


def draw_both():
    """Draw and label a pilot and the rest."""
    truth().drop("label").write_csv("pool.csv")
    line = ("sample", "pool.csv", *SAMPLE, "--budget", "300", "-q", "-o")
    assert run([*line, "pilot.csv"]) == 0
    pilot = labelled(Path(), "pilot.csv")
    assert run([*line, "rest.csv", "--pilot", "pilot.csv"]) == 0
    return pilot, labelled(Path(), "rest.csv")


@pytest.fixture
def drawn(prepared):
    return prepared(draw_both)


def top_share(frame, share):
    """Return the lowest of the highest scores that make up a share of all rows."""
    return frame["score"].sort(descending=True)[int(np.ceil(share * len(frame))) - 1]


def test_the_pilot_is_drawn_alike_from_the_highest_scores_and_the_rest_near_the_bound(drawn, pool):
    pilot, rest = drawn
    draws = uniforms(np.arange(ROWS), 0, Purpose.SAMPLE)
    top = top_share(pool, 0.3)
    eligible = (pool["score"] >= top).to_numpy()
    chosen = first_by_draw(draws, eligible, 100)
    assert set(pilot["id"] - ROWS) == chosen
    assert pilot["sampled_above"].unique().to_list() == [single_precision.lowest(top)]
    assert pilot["sampled_for"].unique().to_list() == ["pilot"]
    assert pilot["sampling_weight"].to_numpy() == pytest.approx(eligible.sum() / 100, abs=1e-5)
    ordered = pilot.sort("score", descending=True)["label"].to_numpy()
    ranks = np.arange(1, 101)
    crossing = 0.3 * ranks[(np.cumsum(ordered) + 1) * 10 >= 7 * (ranks + 2)].max() / 100
    lowest = top_share(pool, 1.15 * crossing)
    assert rest["sampled_above"].unique().to_list() == [single_precision.lowest(lowest)]
    assert rest["sampled_for"].unique().to_list() == ["test"]
    eligible = (pool["score"] >= lowest).to_numpy() & ~pool["id"].is_in(pilot["id"].to_list()).to_numpy()
    assert set(rest["id"] - ROWS) == first_by_draw(draws, eligible, 200)
    assert rest["sampling_weight"].to_numpy() == pytest.approx(eligible.sum() / 200, abs=1e-5)


def test_a_rule_is_certified_for_rows_like_the_pool(uqcli, drawn, tmp_path):
    pilot, rest = drawn
    line = ("boundary", "rest.csv", "--pilot", "pilot.csv", *CERTIFY)
    report = uqcli(*line, "-o", "rule.json", "--json").json
    saved = json.loads((tmp_path / "rule.json").read_text())
    certificate, (threshold,) = saved["certificate"], saved["thresholds"]
    above = rest["sampled_above"][0]
    assert threshold >= above
    flagged = rest.filter(pl.col("score") >= threshold)
    assert certificate["sampled_above"] == above
    assert certificate["pilot"] == {"rows": 100, "positives": pilot["label"].sum()}
    assert certificate["tested_on"] == {
        "rows": 200,
        "positives": rest["label"].sum(),
        "selected": len(flagged),
        "true_positives": flagged["label"].sum(),
    }
    assert report["metrics"]["recall"] is None  # the region says nothing about the positives below
    assert report["metrics"]["precision"] == pytest.approx(flagged["label"].mean())
    source = "independent rows from the same source as the file that the sample was drawn from"
    assert any(source in note for note in report["notes"])
    assert any("do not show which share of all positives is found" in note for note in report["notes"])
    shown = " ".join(uqcli("show", "rule.json", "--verbose").out.decode().split())
    assert source in shown
    assert "200 rows drawn from scores >=" in shown


def test_only_positive_rows_are_no_caution_if_they_were_chosen_by_their_scores(uqcli, drawn, tmp_path):
    _, rest = drawn
    rest.with_columns(label=pl.lit(1)).drop("score_known").write_csv(tmp_path / "rest.csv")
    chosen = uqcli("boundary", "rest.csv", "--pilot", "pilot.csv", *CERTIFY)
    rest.select("score", label=pl.lit(1)).write_csv(tmp_path / "alike.csv")
    alike = uqcli("boundary", "alike.csv", "--pilot", "pilot.csv", *CERTIFY)
    assert chosen.code == alike.code == 0
    assert b"very row is positive" not in chosen.out
    assert b"very row is positive" in alike.out


def test_the_first_line_says_how_many_rows_were_drawn(uqcli, pool):
    line = ("sample", "pool.csv", *SAMPLE, "--budget", "300", "-o", "pilot.csv")
    assert uqcli(*line).out.startswith(b"Drew 100 of 4,000 rows to be labelled: a pilot, at random")


def test_the_rule_is_used_like_any_other_but_knows_no_share_of_alerts(uqcli, drawn, tmp_path):
    line = ("boundary", "rest.csv", "--pilot", "pilot.csv", *CERTIFY)
    assert uqcli(*line, "-q", "-o", "rule.json", "--report", "rule.md").code == 0
    truth(2).write_csv(tmp_path / "new.csv")
    tested = uqcli("evaluate", "rule.json", "new.csv", "--json").json
    assert tested["metrics"]["promise_broken"] == 0
    applied = uqcli("apply", "rule.json", "new.csv", "-o", "applied.csv")
    assert applied.code == 0
    assert "alert rate" not in " ".join((applied.out.decode() + applied.err).split())
    assert uqcli("watch", "rule.json", "new.csv", "--json").json["metrics"]["alarm"] == 0
    truth(2).drop("label").write_csv(tmp_path / "unlabelled.csv")
    outcome = uqcli("watch", "rule.json", "unlabelled.csv")
    assert outcome.code == 2
    assert "a rule without counts of its calibration rows" in outcome.err


def test_a_saved_threshold_below_the_drawn_scores_is_refused(uqcli, drawn, tmp_path):
    uqcli("boundary", "rest.csv", "--pilot", "pilot.csv", *CERTIFY, "-q", "-o", "rule.json")
    saved = json.loads((tmp_path / "rule.json").read_text())
    saved["thresholds"] = [saved["certificate"]["sampled_above"] - 0.1]
    del saved["digest"]  # otherwise the edit itself is found
    saved["uqcli_version"] = "0.2.0"
    (tmp_path / "edited.json").write_text(json.dumps(saved))
    outcome = uqcli("show", "edited.json")
    assert outcome.code == 5
    assert "lower scores than its certificate was tested on" in outcome.err


def test_rows_marked_pilot_never_test(uqcli, drawn, tmp_path):
    uqcli("boundary", "rest.csv", "--pilot", "pilot.csv", *CERTIFY, "-q", "-o", "rule.json")
    both = pl.concat([part.select(sorted(part.columns)) for part in drawn])
    both.sample(fraction=1, shuffle=True, seed=3).write_csv(tmp_path / "both.csv")
    uqcli("boundary", "both.csv", "--pilot", "both.csv", *CERTIFY, "-q", "-o", "other.json")
    saved, other = (json.loads((tmp_path / name).read_text()) for name in ("rule.json", "other.json"))
    assert saved["certificate"] == other["certificate"]
    assert saved["source"]["rows"] == other["source"]["rows"] == 200
    outcome = uqcli("boundary", "pilot.csv", "--pilot", "pilot.csv", *CERTIFY)
    assert outcome.code == 3
    assert "no row was drawn for the test" in outcome.err


@pytest.mark.parametrize(
    "options",
    [
        ("--recall", "0.5"),
        ("--max-fpr", "0.1"),
        ("--precision", "0.7,0.8"),
        ("--precision", "0.7", "--recall", "0.3"),
        ("--precision", "0.7", "--miss", "0.5"),
        ("--precision", "0.7", "--review", "5%"),
        ("--precision", "0.7", "--by", "sampled_for", "--bound", "each"),
        ("--precision", "0.7", "--cluster", "id"),
        ("--precision", "0.7", "--uncertainty-bins", "2", "--uncertainty", "id"),
    ],
)
def test_what_would_reach_below_the_drawn_scores_is_refused(uqcli, drawn, options):
    outcome = uqcli("boundary", "rest.csv", "--pilot", "pilot.csv", "--certify", "0.1", *options)
    assert outcome.code == 2
    assert "with rows that sample --for certificate drew" in outcome.err
    assert "could reach below the scores that were drawn" in outcome.err


def test_drawn_rows_need_their_pilot_and_their_scores(uqcli, drawn, tmp_path):
    outcome = uqcli("boundary", "rest.csv", *CERTIFY)
    assert outcome.code == 2
    assert "add --pilot FILE" in outcome.err
    _, rest = drawn
    first = pl.int_range(pl.len()) == 0
    rest.with_columns(score=pl.when(first).then(0.1).otherwise("score")).write_csv(tmp_path / "low.csv")
    rest.with_columns(sampled_above=pl.when(first).then(0.1).otherwise("sampled_above")).write_csv(
        tmp_path / "two.csv"
    )
    for name, message in (("low.csv", "below its sampled_above"), ("two.csv", "sampled_above' has 2 values")):
        outcome = uqcli("boundary", name, "--pilot", "pilot.csv", *CERTIFY)
        assert outcome.code == 3
        assert message in outcome.err


def test_the_rest_is_drawn_beside_the_pilot_of_the_same_rows(uqcli, drawn, pool, tmp_path):
    line = ("sample", "pool.csv", *SAMPLE, "--budget", "300", "-q", "-o", "again.csv", "--pilot")
    pilot, _ = drawn
    pilot.with_columns(pl.col("score").round(9)).write_csv(tmp_path / "rounded.csv")  # as spreadsheets do
    assert uqcli(*line, "rounded.csv").code == 0
    before, again = (pl.read_csv(tmp_path / name) for name in ("rest.csv", "again.csv"))
    assert before["id"].to_list() == again["id"].to_list()
    outcome = uqcli(*line, "pilot.csv", "--seed", "1")
    assert outcome.code == 3
    assert "other rows than the pilot of these inputs" in outcome.err
    pilot.drop("label").write_csv(tmp_path / "unlabelled.csv")
    assert uqcli(*line, "unlabelled.csv").code == 3
    outcome = uqcli(*line, "pilot.csv", "--budget", "100")
    assert outcome.code == 2
    assert "the same number as in the first call" in outcome.err


def test_older_labelled_rows_are_a_pilot_as_well(uqcli, pool, tmp_path):
    truth(3, 500).write_csv(tmp_path / "older.csv")
    line = ("sample", "pool.csv", *SAMPLE, "--budget", "800", "--pilot", "older.csv", "-q", "-o", "rest.csv")
    assert uqcli(*line).code == 0
    rest = labelled(tmp_path, "rest.csv")
    assert len(rest) == 300
    assert rest["sampled_for"].unique().to_list() == ["test"]
    outcome = uqcli("boundary", "rest.csv", "--pilot", "older.csv", *CERTIFY, "--json")
    assert outcome.code == 0
    assert outcome.json["certificate"]["pilot"]["rows"] == 500
    pl.concat([truth(3, 500), truth().head(50)]).write_csv(tmp_path / "older.csv")
    outcome = uqcli(*line)
    assert outcome.code == 3
    assert "are also in --pilot" in outcome.err


def test_labels_can_have_another_name_and_other_values(uqcli, drawn, tmp_path):
    pilot, _ = drawn
    words = pl.when(pl.col("label") == 1).then(pl.lit("yes")).otherwise(pl.lit("no"))
    pilot.with_columns(fraud=words).drop("label").write_csv(tmp_path / "words.csv")
    line = ("sample", "pool.csv", *SAMPLE, "--budget", "300", "--pilot", "words.csv", "-q", "-o", "again.csv")
    assert uqcli(*line, "--label", "fraud").code == 3
    assert uqcli(*line, "--label", "fraud", "--positive", "yes").code == 0
    before, again = (pl.read_csv(tmp_path / name) for name in ("rest.csv", "again.csv"))
    assert before["id"].to_list() == again["id"].to_list()


def test_scores_can_be_a_few_grades(uqcli, tmp_path):
    random = np.random.default_rng(7)
    grade = random.choice([1, 2, 3, 4, 5], ROWS, p=[0.3, 0.3, 0.2, 0.1, 0.1])
    label = random.random(ROWS) < np.array([0.02, 0.05, 0.1, 0.85, 0.95])[grade - 1]
    graded = pl.DataFrame({"id": np.arange(ROWS), "score": grade, "label": label.astype(int)})
    graded.drop("label").write_csv(tmp_path / "pool.csv")
    line = ("sample", "pool.csv", *SAMPLE, "--budget", "300", "-q")
    assert uqcli(*line, "-o", "pilot.csv").code == 0
    pilot = labelled(tmp_path, "pilot.csv", graded)
    assert uqcli(*line, "--pilot", "pilot.csv", "-o", "rest.csv").code == 0
    rest = labelled(tmp_path, "rest.csv", graded)
    high = graded.filter(pl.col("score") >= pilot["sampled_above"][0])
    assert len(high) >= 0.3 * ROWS
    assert pilot["sampling_weight"].to_numpy() == pytest.approx(len(high) / 100, abs=1e-5)
    assert set(pilot["id"]).isdisjoint(rest["id"])
    report = uqcli("boundary", "rest.csv", "--pilot", "pilot.csv", *CERTIFY, "--json").json
    assert report["thresholds"] == [single_precision.lowest(4.0)]


def test_rows_with_a_label_are_not_drawn(uqcli, pool, tmp_path):
    known = pl.when(pl.col("id") % 2 == 0).then("label").otherwise(None)
    pool.with_columns(label=known).write_csv(tmp_path / "partly.csv")
    line = (
        "sample",
        "partly.csv",
        *SAMPLE,
        "--budget",
        "300",
        "--label",
        "label",
        "--json",
        "-o",
        "pilot.csv",
    )
    report = uqcli(*line).json
    drawn = pl.read_csv(tmp_path / "pilot.csv")
    assert (drawn["id"] % 2 == 1).all()
    high = pool.filter((pl.col("score") >= drawn["sampled_above"][0]) & (pl.col("id") % 2 == 1))
    assert report["metrics"]["drawn_from"] == len(high)


@pytest.mark.parametrize(
    ("precision", "budget", "message"),
    [
        ("0.99", "90", "give --budget 412 or more"),
        ("0.9", "58", "give --budget 40"),
        ("0.9", "39", "40 or more"),
    ],
)
def test_the_labels_that_could_certify_are_named_before_any_is_bought(
    uqcli, pool, precision, budget, message
):
    line = ("sample", "pool.csv", "--for", "certificate", "--precision", precision, "--budget", budget)
    report = uqcli(*line, "-o", "pilot.csv", "--json").json
    least = report["metrics"]["least_labels"]
    assert f"label at least {least} rows in all" in report["notes"][0]
    cautious = any("too few to certify" in note for note in report["notes"])
    assert cautious == (int(budget) < least)
    if cautious:
        assert any(message in note for note in report["notes"])


def test_a_pilot_far_from_the_bound_is_cautioned(uqcli, pool, tmp_path):
    line = ("sample", "pool.csv", "--for", "certificate", "--budget", "300", "-q")
    assert uqcli(*line, "--precision", "0.7", "-o", "pilot.csv").code == 0
    filled = labelled(tmp_path, "pilot.csv")
    for label, message in ((0, "no threshold has precision 0.7"), (1, "a rule that flags more rows cannot")):
        filled.with_columns(label=pl.lit(label)).write_csv(tmp_path / "all.csv")
        outcome = uqcli(*line, "--precision", "0.7", "--pilot", "all.csv", "-o", "rest.csv", "--json")
        assert any(message in note for note in outcome.json["notes"])


@pytest.mark.parametrize(
    ("options", "message"),
    [
        (("--budget", "300"), "without --precision"),
        (("--precision", "0.7"), "without --budget"),
        (("--precision", "1", "--budget", "300"), "precision is '1'"),
        (("--precision", "0.7", "--budget", "2"), "at least 3 labels"),
        (
            ("--precision", "0.7", "--budget", "300", "--keep-labelled", "--label", "label"),
            "--keep-labelled with --for",
        ),
        (("--precision", "0.7", "--budget", "300", "--prefix", "p_"), "--prefix with --for"),
        (("--precision", "0.7", "--budget", "300", "--calibrator", "map.json"), "--calibrator with --for"),
        (("--precision", "0.7", "--plan", "0.1"), "--plan"),
    ],
)
def test_options_that_do_not_apply_are_refused(uqcli, pool, options, message):
    outcome = uqcli("sample", "pool.csv", "--for", "certificate", *options, "-o", "pilot.csv")
    assert outcome.code == 2
    assert message in outcome.err


def test_options_of_other_goals_may_be_configured(uqcli, drawn, tmp_path):
    unused = 'plan = 0.1\nkeep-labelled = true\nprefix = "p_"\n'
    own = 'precision = "0.7"\npilot = ["pilot.csv"]\n'
    (tmp_path / "own.toml").write_text(f"[tool.uqcli.sample]\n{unused}{own}")
    line = ("sample", "pool.csv", "--for", "certificate", "--budget", "300", "-q", "-o", "again.csv")
    assert uqcli(*line, "--config", "own.toml").code == 0
    rest = pl.read_csv(tmp_path / "rest.csv").drop("label")
    assert pl.read_csv(tmp_path / "again.csv").equals(rest)
    missing = 'pilot = ["nowhere.csv"]\n'
    (tmp_path / "other.toml").write_text(f"[tool.uqcli.boundary]\n{missing}[tool.uqcli.sample]\n{missing}")
    truth(5).write_csv(tmp_path / "fit.csv")
    configured = ("--config", "other.toml", "-q")
    assert uqcli("boundary", "fit.csv", "--precision", "0.7", "-o", "rule.json", *configured).code == 0
    line = ("sample", "rule.json", "pool.csv", "--for", "precision", "--budget", "9", "-o", "label.csv")
    assert uqcli(*line, *configured).code == 0


def test_a_rule_is_neither_needed_nor_taken(uqcli, drawn, tmp_path):
    uqcli("boundary", "rest.csv", "--pilot", "pilot.csv", *CERTIFY, "-q", "-o", "rule.json")
    outcome = uqcli("sample", "rule.json", "pool.csv", *SAMPLE, "--budget", "300")
    assert outcome.code == 2
    assert "leave out the rule file" in outcome.err
    outcome = uqcli(
        "sample", "rule.json", "pool.csv", "--for", "precision", "--precision", "0.7", "--budget", "9"
    )
    assert outcome.code == 2
    assert "--precision with --for precision" in outcome.err
