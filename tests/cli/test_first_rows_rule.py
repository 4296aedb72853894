"""Tests of rules of the first rows of each day: what they save, decide, measure, promise and refuse."""

import json
from pathlib import Path

import numpy as np
import pandas as pd
import polars as pl
import pytest

from uqcli import commands as uq
from uqcli.base.choices import ArtifactKind
from uqcli.base.errors import ArtifactError, UsageError
from uqcli.boundary.rule_file import NEW_FORMAT, SavedBoundary
from uqcli.rules.codec import decode, model_of

TOP = ("--top", "8", "--per", "day")
COUNTS = ("selected", "true_positives", "rows", "positives")


def history(seed, days=40, times=False):
    """Make rows with equal scores, days of different sizes, and more positive rows at high scores."""
    random = np.random.default_rng(seed)
    day = np.repeat(np.arange(days), random.integers(3, 40, days))
    random.shuffle(day)
    score = random.integers(0, 25, len(day)) / 25
    start = pd.Timestamp("2026-02-20")
    stamps = start + pd.to_timedelta(day, "D")
    if times:
        stamps = stamps + pd.to_timedelta(random.integers(0, 86_400, len(day)), "s")
    text = stamps.strftime("%Y-%m-%d %H:%M:%S" if times else "%Y-%m-%d")
    label = (random.random(len(day)) < 0.1 + 0.6 * score).astype(int)
    return pd.DataFrame({"score": score, "label": label, "day": text, "team": day % 7})


def first_rows(frame, top):
    """Mark the first rows of each date by the ranks of pandas, equal scores in their order."""
    rank = frame.groupby(frame["day"].str[:10])["score"].rank(method="first", ascending=False)
    return rank <= top


@pytest.fixture
def files(prepared):
    prepared(write_files)


def write_files():
    """Write two histories, and the rule of the first one."""
    from tests.cli.conftest import fit

    history(1).to_csv("fit.csv", index=False)
    history(2).to_csv("new.csv", index=False)
    fit("boundary fit.csv --top 8 --per day -o rule.json")


def counts_of(metrics):
    return {name: metrics[name] for name in COUNTS}


@pytest.mark.parametrize("times", [False, True])
@pytest.mark.parametrize(("seed", "top", "missing"), [(3, 1, 0), (4, 8, 0), (5, 8, 0.3), (6, 35, 0.1)])
def test_counts_and_decisions_are_those_of_the_ranks_of_pandas(uqcli, tmp_path, seed, top, missing, times):
    frame = history(seed, times=times)
    lacks = np.random.default_rng(seed).random(len(frame)) < missing
    frame["label"] = frame["label"].astype("Int64").mask(lacks)
    frame.to_csv("rows.csv", index=False)
    options = ["--on-invalid", "drop"] if missing else []
    outcome = uqcli("boundary", "rows.csv", "--top", top, "--per", "day", *options, "--json", "-o", "r.json")
    outcome = outcome if outcome.code == 0 else pytest.fail(outcome.err)
    rule, flagged = json.loads(Path("r.json").read_text()), first_rows(frame, top)
    labelled = frame[~lacks]
    of_flagged = labelled["label"][flagged]
    metrics = json.loads(uqcli("boundary", "rows.csv", "--top", top, "--per", "day", *options, "--json").out)
    expected = {
        "selected": len(of_flagged),
        "true_positives": int(of_flagged.sum()),
        "rows": len(labelled),
        "positives": int(labelled["label"].sum()),
    }
    assert counts_of(metrics["metrics"]) == counts_of(rule["fit"]) == expected
    taken = flagged.groupby(frame["day"].str[:10]).sum()
    capacity = metrics["metrics"]["capacity"]
    assert (capacity["groups"], capacity["min"], capacity["max"]) == (40, taken.min(), taken.max())
    if missing:
        assert (rule["fit"]["all_rows"], rule["fit"]["all_selected"]) == (len(frame), int(flagged.sum()))
    assert uqcli("apply", "r.json", "rows.csv", "-q", "-o", "out.parquet").code == 0
    assert pl.read_parquet("out.parquet")["decision"].to_list() == flagged.to_list()


def test_the_file_says_what_is_flagged_and_what_to_expect(uqcli, files):
    rule = json.loads(Path("rule.json").read_text())
    assert rule["capacity"] == {"top": 8, "per": "day"}
    assert (rule["format_version"], rule["thresholds"]) == (3, [None])
    assert rule["source"]["columns"] == {"score": "score", "label": "label", "day": "day"}
    evaluated = uqcli("evaluate", "fit.csv", *TOP, "--confidence", "0.9", "--json").json["metrics"]
    assert rule["expected"] == {name: evaluated[name] for name in ("precision", "recall")}
    lines = uqcli("boundary", "fit.csv", *TOP).out.decode().splitlines()
    assert lines[0].startswith("Flags the 8 highest-ranked rows of each of 40 days: ")
    assert lines[0].endswith(" % of all positives are found.")
    assert lines[1].startswith("On new data expect precision ")
    assert "allowing for differences between days" in lines[1]
    shown = uqcli("show", "rule.json").out.decode()
    assert shown.startswith("Rule for the 8 highest-ranked rows of each value of 'day'\n90 % ranges by day")
    assert "flag when" not in shown


def test_the_rule_beside_another_one_shows_what_it_flags(uqcli, files):
    fit = ["boundary", "fit.csv", "--precision", "0.5", "--algorithm", "st", "-q", "-o", "st.json"]
    assert uqcli(*fit).code == 0
    said = uqcli("show", "rule.json", "st.json").out.decode()
    assert "the 8 highest-ranked rows" in said
    assert "never" not in said
    assert uqcli("evaluate", "rule.json", "new.csv").out.decode().endswith("NEW.csv -o applied.csv\n")


def test_a_few_days_show_no_range(uqcli):
    history(7, days=4).to_csv("few.csv", index=False)
    outcome = uqcli("boundary", "few.csv", *TOP, "--json", "-o", "few.json")
    precision = outcome.json["metrics"]["expected"]["precision"]
    assert (precision["low"], precision["high"]) == (None, None)
    refused = uqcli("watch", "few.json", "few.csv", "--day", "day")
    assert (refused.code, "give --bound S" in refused.err) == (2, True)


def test_apply_and_evaluate_do_what_the_options_of_the_rule_ask_for(uqcli, files):
    fit = "boundary", "fit.csv", "--precision", "0.5", "--algorithm", "st", "-q", "-o", "st.json"
    assert uqcli(*fit).code == 0
    for options in ((), ("--top", "3"), ("--top", "3", "--per", "team"), ("--per", "team")):
        typed = dict(zip(options[::2], options[1::2], strict=True))
        whole = [word for pair in ({"--top": "8", "--per": "day"} | typed).items() for word in pair]
        rows = [
            uqcli("apply", rule, "new.csv", *words).out
            for rule, words in (("rule.json", options), ("st.json", whole))
        ]
        assert rows[0] == rows[1]
        metrics = [
            uqcli("evaluate", *line, "new.csv", *words, "--json").json["metrics"]
            for line, words in ((("rule.json",), options), ((), whole))
        ]
        assert metrics[0] == metrics[1]


def test_the_rows_of_the_fit_are_cautioned_and_no_target_is_tested(uqcli, files):
    notes = uqcli("evaluate", "rule.json", "fit.csv", "--json").json["notes"]
    assert any("has the same counts here" in note for note in notes)
    outcome = uqcli("evaluate", "rule.json", "new.csv", "--json")
    assert outcome.json["metrics"]["promise_broken"] is None
    assert not any("not tested" in note for note in outcome.json["notes"])


def test_rules_of_other_first_rows_are_measured_by_options_alone(uqcli, files):
    assert uqcli("boundary", "fit.csv", "--top", "3", "--per", "day", "-q", "-o", "three.json").code == 0
    refused = uqcli("evaluate", "rule.json", "three.json", "new.csv")
    assert (refused.code, "flag different first rows" in refused.err) == (2, True)
    assert uqcli("evaluate", "rule.json", "three.json", "new.csv", *TOP).code == 0


def test_python_gives_what_the_command_line_gives(uqcli, files):
    frame, new = (pl.read_csv(name) for name in ("fit.csv", "new.csv"))
    found = uq.boundary(frame, top=8, per="day")
    assert json.loads(found.rule.content)["capacity"] == {"top": 8, "per": "day"}
    assert found.rule.content == Path("rule.json").read_bytes()
    flagged = first_rows(pd.read_csv("new.csv"), 8).to_list()
    assert found.rule.decide(new).tolist() == flagged
    assert found.rule.apply(new)["decision"].to_list() == flagged
    measured = uqcli("evaluate", "rule.json", "new.csv", "--json").json["metrics"]
    assert found.rule.evaluate(new).metrics == measured
    with pytest.raises(UsageError, match="no row is decided by itself"):
        found.rule.export("python")


def test_watch_guards_the_low_end_of_the_expected_precision(uqcli, files):
    rule = json.loads(Path("rule.json").read_text())
    promise = uqcli("watch", "rule.json", "new.csv", "--day", "day", "--json").json["metrics"]
    assert promise["bound"] == pytest.approx(rule["expected"]["precision"]["low"])
    measured = uqcli("evaluate", "rule.json", "new.csv", "--json").json["metrics"]
    assert (promise["successes"], promise["trials"]) == (measured["true_positives"], measured["selected"])
    whole = uqcli("watch", "rule.json", "new.csv", "--json").json["metrics"]
    assert (whole["successes"], whole["trials"]) == (promise["successes"], promise["trials"])


def test_watch_knows_its_days_and_its_batches_in_any_order_of_rows(uqcli, files, tmp_path):
    days, batches = ("--day", "day", "--state", "days.json"), ("--state", "batches.json")
    frame = pd.read_csv("new.csv")
    frame["score"] += np.arange(len(frame)) / 1e6  # no ties, which the order of rows decides
    early = frame["day"] < "2026-03-10"
    for part, name in ((early, "early.csv"), (~early, "late.csv"), (frame["score"] > -1, "all.csv")):
        frame[part].to_csv(name, index=False)
    frame[early].sample(frac=1, random_state=1).to_csv("again.csv", index=False)
    for options in (days, batches):
        assert uqcli("watch", "rule.json", "early.csv", *options, "-q").code == 0
        assert "counted before" in uqcli("watch", "rule.json", "again.csv", *options).out.decode()
        last = uqcli("watch", "rule.json", "late.csv", *options, "--json").json["metrics"]
        once = uqcli("watch", "rule.json", "all.csv", "--day", "day", "--json").json["metrics"]
        assert (last["successes"], last["trials"]) == (once["successes"], once["trials"])


def test_days_whose_labels_are_not_complete_are_ranked_and_left_out(uqcli, files):
    frame = pd.read_csv("new.csv")
    lacks = np.random.default_rng(3).random(len(frame)) < 0.4
    frame["label"] = frame["label"].astype("Int64").mask(lacks)
    frame.to_csv("gaps.csv", index=False)
    line = ("watch", "rule.json", "gaps.csv", "--on-invalid", "drop", "--day", "day", "--json")
    promise = uqcli(*line).json["metrics"]
    labels = frame["label"][first_rows(frame, 8)].dropna()
    assert (promise["successes"], promise["trials"]) == (labels.sum(), len(labels))


@pytest.mark.parametrize(
    ("line", "code", "found"),
    [
        ("boundary fit.csv --top 8", 2, "--top is given without --per"),
        ("boundary fit.csv --per day --precision 0.5", 2, "--per is given without --top"),
        ("boundary fit.csv --top 8 --per day --recall 0.5", 2, "--recall and --top cannot be combined"),
        ("boundary fit.csv --top 8 --per day --plot p.svg", 2, "--plot and --top cannot be combined"),
        ("boundary fit.csv --top 8 --per day --engine spark", 2, "--top with --engine spark"),
        ("boundary fit.csv --top 8 --per day --weight team", 2, "a column of row counts ('team')"),
        ("boundary fit.csv --top 8 --per dey", 3, "no column 'dey'"),
        ("apply st.json new.csv --per day", 2, "--per is given without --top"),
        ("export rule.json --to python", 2, "use apply, evaluate or watch"),
        ("export rule.json --to sql", 2, "no row is decided by itself"),
        ("sample rule.json new.csv --for recall --budget 9 -o s.csv", 2, "no row is decided by itself"),
        ("show rule.json st.json --on new.csv", 2, "no row is decided by itself"),
        ("evaluate rule.json st.json new.csv", 2, "the rules flag different first rows"),
        ("evaluate rule.json new.csv --audit team", 2, "--top and --audit cannot be combined"),
        ("evaluate rule.json no_day.csv", 3, "no column 'day'"),
        ("apply rule.json no_day.csv", 3, "no column 'day'"),
        ("watch rule.json no_day.csv", 3, "flags the first rows of each value of this column"),
        ("watch rule.json new.csv --day team", 2, "expected --day day"),
        ("watch rule.json no_label.csv", 2, "expected a label column"),
    ],
)
def test_what_cannot_be_done_is_refused_in_one_line(uqcli, files, line, code, found):
    frame = pd.read_csv("new.csv")
    frame.drop(columns="day").to_csv("no_day.csv", index=False)
    frame.drop(columns="label").to_csv("no_label.csv", index=False)
    assert (
        uqcli(*["boundary", "fit.csv", "--precision", "0.5", "--algorithm", "st", "-q", "-o", "st.json"]).code
        == 0
    )
    outcome = uqcli(*line.split())
    assert (outcome.code, found in outcome.err, len(outcome.err.splitlines())) == (code, True, 1), outcome.err


def test_rows_without_a_positive_one_are_infeasible(uqcli, files):
    pd.read_csv("fit.csv").assign(label=0).to_csv("none.csv", index=False)
    outcome = uqcli("boundary", "none.csv", *TOP, "-o", "none.json")
    assert (outcome.code, Path("none.json").exists()) == (4, False)


def test_programs_that_do_not_know_the_format_refuse_it(files, monkeypatch):
    monkeypatch.setattr(model_of(ArtifactKind.BOUNDARY), "newest_format", NEW_FORMAT)
    with pytest.raises(ArtifactError) as error:
        decode(Path("rule.json").read_bytes(), "rule.json")
    assert error.value.exit_code == 5
    assert SavedBoundary.newest_format == 3


def test_a_configured_capacity_gives_way_to_a_typed_target(uqcli, files):
    Path("uqcli.toml").write_text('[tool.uqcli.boundary]\ntop = 8\nper = "day"\n')
    configured = uqcli("boundary", "fit.csv", "--json").json
    assert configured["capacity"] == {"top": 8, "per": "day"}
    typed = uqcli("boundary", "fit.csv", "--precision", "0.5", "--json").json
    assert "capacity" not in typed
    Path("uqcli.toml").write_text('[tool.uqcli.boundary]\nprecision = "0.5"\nmargin = "1"\n')
    assert uqcli("boundary", "fit.csv", *TOP, "--json").json["metrics"] == configured["metrics"]


def test_ties_at_the_cut_are_a_caution_of_the_run_and_no_doubt_of_the_rule(uqcli, files):
    cautions = uqcli("boundary", "fit.csv", *TOP, "--json").json["notices"]
    assert any(caution["key"] == "ties-at-the-cut" for caution in cautions)
    assert "doubts" not in json.loads(Path("rule.json").read_text())


@pytest.mark.parametrize("size", [20, 60, 200])
def test_an_overview_has_numbers_a_day_below_the_rows_of_a_day(uqcli, size):
    random = np.random.default_rng(size)
    day = np.repeat(np.arange(12), size)
    score = random.random(len(day))
    frame = pl.DataFrame(
        {
            "score": score,
            "label": (random.random(len(day)) < score).astype(int),
            "day": (np.datetime64("2026-01-01") + day).astype(str),
        }
    )
    frame.write_csv("rows.csv")
    found = uqcli("overview", "rows.csv", "--json").json["first_rows"]
    assert found["per"] == "day"
    assert [each["top"] for each in found["numbers"]] == [top for top in (10, 30, 100, 300) if top < size]
    for each in found["numbers"]:
        line = ("evaluate", "rows.csv", "--top", each["top"], "--per", "day", "--json")
        metrics = uqcli(*line).json["metrics"]
        assert {name: metrics[name] for name in ("selected", "precision", "recall")} == {
            name: each[name] for name in ("selected", "precision", "recall")
        }
    assert " a day" in uqcli("overview", "rows.csv").out.decode()
    frame.drop("day").write_csv("rows.csv")
    assert "first_rows" not in uqcli("overview", "rows.csv", "--json").json


@pytest.mark.parametrize("lacking", ["label", "day"])
def test_the_numbers_a_day_are_of_rows_that_have_a_day_and_count_those_with_a_label(uqcli, lacking):
    random = np.random.default_rng(5)
    day, is_given = np.repeat(np.arange(12), 40), pl.Series(random.random(480) < 0.9)
    score = random.integers(60, size=480) / 60  # some are equal, and ranked in their order
    frame = pl.DataFrame({"score": score, "label": (random.random(480) < score).astype(int), "day": day})
    frame = frame.with_columns(day=pl.date(2026, 1, 1) + pl.duration(days="day"))
    frame = frame.with_columns(pl.when(is_given).then(lacking).alias(lacking)).sample(
        fraction=1, shuffle=True, seed=1
    )
    frame.write_csv("rows.csv")
    found = uqcli("overview", "rows.csv", "--on-invalid", "drop", "--json").json["first_rows"]["numbers"]
    assert [each["top"] for each in found] == [10, 30]
    dated = frame.drop_nulls("day").sort(-pl.col("score"), maintain_order=True)
    for each in found:
        first = dated.filter(pl.int_range(pl.len()).over("day") < each["top"])["label"].drop_nulls()
        assert each["selected"] == len(first)
        assert each["precision"]["value"] == first.mean()
        assert each["recall"]["value"] == first.sum() / dated["label"].sum()


def test_no_usable_row_is_told_whatever_the_groups_are_called(uqcli, tmp_path):
    rows = tmp_path / "rows.csv"
    rows.write_text("score,label,year\nnan,1,2025\n,0,2024\n")
    outcome = uqcli("boundary", rows, "--top", "3", "--per", "year", "--on-invalid", "drop")
    assert outcome.code == 3
    assert "no rows to work on (2 were dropped)" in outcome.err
