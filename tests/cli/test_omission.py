"""Tests of ``--max-omission``: alone, below a precision, and from labels that ``sample`` chose."""

import json

import numpy as np
import polars as pl
import pytest
from scipy.stats import binom

import uqcli as api
from tests.oracles.sampling import first_by_draw
from tests.oracles.single_precision import lowest
from uqcli.base.draws import Purpose, uniforms
from uqcli.cli.app import run

ROWS = 4000
SAMPLE = ("sample", "pool.csv", "--for", "certificate", "--max-omission", "0.05", "--budget", "300", "-q")
CERTIFY = ("--max-omission", "0.05", "--certify", "0.1")
REST = ("boundary", "rest.csv", "--pilot", "pilot.csv")


def truth(seed=1, size=ROWS, power=3):
    """Draw rows with an id whose rate rises with the score."""
    random = np.random.default_rng(seed)
    score = random.random(size)
    label = (random.random(size) < score**power).astype(int)
    return pl.DataFrame({"id": np.arange(size) + size * seed, "score": score, "label": label})


def fill_in(path, rows):
    """Fill in the labels of a file that was drawn."""
    frame = pl.read_csv(path).join(rows.select("id", "label"), on="id", how="left")
    frame.write_csv(path)
    return frame


@pytest.fixture
def files(tmp_path):
    """Write a calibration set, a test set, one with more positives of low scores, and rows without labels."""
    truth().write_csv(tmp_path / "fit.csv")
    truth(2).write_csv(tmp_path / "test.csv")
    worse = pl.when((pl.col("score") < 0.5) & (pl.col("id") % 8 == 0)).then(1).otherwise("label")
    truth(3).with_columns(label=worse).write_csv(tmp_path / "worse.csv")
    truth().drop("label").write_csv(tmp_path / "pool.csv")


def draw_both():
    """Draw and label a pilot and the rest."""
    truth().drop("label").write_csv("pool.csv")
    assert run([*SAMPLE, "-o", "pilot.csv"]) == 0
    pilot = fill_in("pilot.csv", truth())
    assert run([*SAMPLE, "--pilot", "pilot.csv", "-o", "rest.csv"]) == 0
    return pilot, fill_in("rest.csv", truth())


@pytest.fixture
def drawn(files, prepared):
    return prepared(draw_both)


def dropped_by(saved, frame):
    """Return the number of rows below the lowest threshold of a rule, and of the positive ones."""
    (threshold,) = saved.get("review_thresholds", saved["thresholds"])
    rows = frame.filter(pl.col("score") < threshold)
    return len(rows), int(rows["label"].sum())


def saved_rule(tmp_path):
    return json.loads((tmp_path / "rule.json").read_text())


def test_a_rule_drops_rows_of_which_few_are_positive(uqcli, files, tmp_path):
    report = uqcli("boundary", "fit.csv", *CERTIFY, "-o", "rule.json", "--json").json
    saved = saved_rule(tmp_path)
    certificate, tested = saved["certificate"], saved["certificate"]["tested_on"]
    dropped, omitted = (tested["rows"] - tested["selected"], tested["positives"] - tested["true_positives"])
    assert certificate["omission"] == 0.05
    assert certificate["p_value"] == pytest.approx(binom.cdf(omitted, dropped, 0.05))
    assert certificate["p_value"] <= 0.1
    assert 0.5 < dropped_by(saved, truth())[0] / ROWS < 0.7
    rows, positives = dropped_by(saved, truth())
    guarantee = "Certified: at most 5 % of the rows that are not flagged are positive on new data"
    assert report["notes"][0].startswith(guarantee)
    assert f"Of the {rows:,} rows that it does not flag" in report["notes"][1]
    assert f"{100 * positives / rows:.1f} % are positive" in report["notes"][1]
    shown = " ".join(uqcli("show", "rule.json", "--verbose").out.decode().split())
    assert guarantee in shown
    assert f"{omitted} of {dropped:,} rows that were not flagged were positive" in shown


@pytest.mark.thorough
@pytest.mark.parametrize("options", [("--max-omission", "0.05"), ("--precision", "0.6", *CERTIFY[:2])])
@pytest.mark.parametrize(("file", "broken"), [("test", 0), ("worse", 1)])
def test_evaluate_and_watch_test_the_bound(uqcli, files, tmp_path, options, file, broken):
    assert uqcli("boundary", "fit.csv", *options, "--certify", "0.1", "-q", "-o", "rule.json").code == 0
    rows, positives = dropped_by(saved_rule(tmp_path), pl.read_csv(tmp_path / f"{file}.csv"))
    metrics = uqcli("evaluate", "rule.json", f"{file}.csv", "--json").json["metrics"]
    assert metrics["omission"]["value"] == pytest.approx(positives / rows)
    assert metrics["omission"]["low"] < positives / rows < metrics["omission"]["high"]
    assert metrics["promise_broken"] == broken
    gate = ("--fail-if", f"omission > {positives / rows - 0.001}")
    assert uqcli("evaluate", "rule.json", f"{file}.csv", "-q", *gate).code == 6
    watched = uqcli("watch", "rule.json", f"{file}.csv", "--json")
    promise = watched.json["metrics"]["promises"]["omission"]
    assert promise["trials"] == rows
    assert promise["successes"] == rows - positives
    assert (watched.code, promise["alarm"]) == ((6, 1) if broken else (0, 0))
    text = uqcli("evaluate", "rule.json", f"{file}.csv").out.decode()
    assert "false omission rate" in text.lower()
    assert uqcli("evaluate", "rule.json", f"{file}.csv", "-q", "--report", "page.html").code == 0


def test_below_a_precision_the_promise_is_about_cleared_rows(uqcli, files, tmp_path):
    options = ("--precision", "0.6", *CERTIFY)
    report = uqcli("boundary", "fit.csv", *options, "-o", "rule.json", "--json").json
    saved = saved_rule(tmp_path)
    certificate, tested = saved["certificate"], saved["certificate"]["tested_on"]
    cleared = certificate["cleared"]
    rows, positives = tested["rows"] - cleared["handled"], tested["positives"] - cleared["caught"]
    assert (certificate["precision"], cleared["omission"], "miss" in cleared) == (0.6, 0.05, False)
    assert cleared["p_value"] == pytest.approx(binom.cdf(positives, rows, 0.05))
    tail = binom.sf(tested["true_positives"] - 1, tested["selected"], 0.6)
    assert certificate["p_value"] == pytest.approx(tail)
    assert max(certificate["p_value"], cleared["p_value"]) <= 0.05
    (flag,), (review,) = saved["thresholds"], saved["review_thresholds"]
    assert review < flag
    assert "at most 5 % of cleared rows are positive on new data" in report["notes"][0]
    shown = " ".join(uqcli("show", "rule.json", "--verbose").out.decode().split())
    assert f"{positives} of {rows:,} cleared rows were positive" in shown
    assert "5 % for each part" in shown
    assert shown.count("0.05 or less was required") == 2
    applied = uqcli("apply", "rule.json", "test.csv", "-q", "-o", "out.csv")
    assert applied.code == 0
    zones = pl.read_csv(tmp_path / "out.csv")["zone"].value_counts()
    assert set(zones["zone"]) == {"flag", "review", "clear"}


def test_zones_that_would_overlap_meet_where_dropped_rows_were_tested(uqcli, tmp_path):
    random = np.random.default_rng(1)
    score = random.random(2500)
    rows = pl.DataFrame({"score": score, "label": random.random(2500) < np.where(score > 0.5, 0.9, 0.02)})
    rows.cast({"label": int}).write_csv(tmp_path / "steep.csv")
    options = ("--precision", "0.5", *CERTIFY, "-q", "-o", "rule.json")
    assert uqcli("boundary", "steep.csv", *options).code == 0
    saved = saved_rule(tmp_path)
    assert saved["review_thresholds"] == saved["thresholds"]
    assert dropped_by(saved, rows)[0] > 500  # the precision alone would leave fewer


def test_the_pilot_is_drawn_from_all_rows_and_the_rest_from_the_lowest(drawn):
    pilot, rest = drawn
    draws = uniforms(np.arange(ROWS), 0, Purpose.SAMPLE)
    pool = truth()
    assert set(pilot["id"] - ROWS) == first_by_draw(draws, np.ones(ROWS, dtype=bool), 100)
    assert pilot["sampled_below"].unique().to_list() == [-lowest(-pool["score"].max())]
    ordered = 1 - pilot.sort("score")["label"].to_numpy()
    ranks = np.arange(1, 101)
    crossing = ranks[(np.cumsum(ordered) + 1) * 20 >= 19 * (ranks + 2)].max() / 100
    highest = pool["score"].sort()[int(np.ceil(round(min(0.95, 1.15 * crossing) * ROWS, 6))) - 1]
    assert rest["sampled_below"].unique().to_list() == [-lowest(-highest)]
    assert rest["sampled_for"].unique().to_list() == ["test"]
    eligible = (pool["score"] <= highest).to_numpy() & ~pool["id"].is_in(pilot["id"].to_list()).to_numpy()
    assert set(rest["id"] - ROWS) == first_by_draw(draws, eligible, 200)
    assert rest["sampling_weight"].to_numpy() == pytest.approx(eligible.sum() / 200, abs=1e-5)


def test_four_commands_certify_what_may_be_dropped_unseen(uqcli, drawn, tmp_path):
    pilot, rest = drawn
    report = uqcli(*REST, *CERTIFY, "-o", "rule.json", "--json").json
    saved = saved_rule(tmp_path)
    certificate, (threshold,) = saved["certificate"], saved["thresholds"]
    dropped, omitted = dropped_by(saved, rest)
    assert threshold <= np.nextafter(rest["sampled_below"][0], np.inf)
    assert certificate["sampled_below"] == rest["sampled_below"][0]
    assert certificate["pilot"] == {"rows": 100, "positives": pilot["label"].sum()}
    assert certificate["tested_on"] == {
        "rows": 200,
        "positives": rest["label"].sum(),
        "selected": 200 - dropped,
        "true_positives": rest["label"].sum() - omitted,
    }
    assert certificate["p_value"] == pytest.approx(binom.cdf(omitted, dropped, 0.05))
    assert certificate["p_value"] <= 0.1
    assert report["metrics"]["recall"] is report["metrics"]["precision"] is None
    assert f"Drops {dropped} of 200 rows that were drawn from those with a score of" in report["notes"][1]
    shown = " ".join(uqcli("show", "rule.json", "--verbose").out.decode().split())
    assert "200 rows drawn from scores <=" in shown
    assert "same source as the file that the sample was drawn from" in shown
    assert uqcli("evaluate", "rule.json", "test.csv", "--json").json["metrics"]["promise_broken"] == 0
    assert uqcli("watch", "rule.json", "test.csv", "--json").json["metrics"]["alarm"] == 0
    assert uqcli("apply", "rule.json", "test.csv", "-q", "-o", "out.csv").code == 0
    saved["thresholds"] = [certificate["sampled_below"] + 0.01]
    del saved["digest"]  # otherwise the edit itself is found
    saved["uqcli_version"] = "0.2.0"
    (tmp_path / "edited.json").write_text(json.dumps(saved))
    outcome = uqcli("show", "edited.json")
    assert outcome.code == 5
    assert "drops rows with higher scores than its certificate was tested on" in outcome.err


def test_all_rows_of_a_region_without_positives_may_be_dropped(uqcli, tmp_path):
    pool = truth().with_columns(label=(pl.col("score") > 0.999).cast(int))
    pool.drop("label").write_csv(tmp_path / "pool.csv")
    assert uqcli(*SAMPLE, "-o", "pilot.csv").code == 0
    fill_in(tmp_path / "pilot.csv", pool)
    assert uqcli(*SAMPLE, "--pilot", "pilot.csv", "-o", "rest.csv").code == 0
    rest = fill_in(tmp_path / "rest.csv", pool)
    assert uqcli(*REST, *CERTIFY, "-o", "rule.json", "--report", "page.html").code == 0
    assert dropped_by(saved_rule(tmp_path), rest) == (200, 0)
    assert uqcli("show", "rule.json").code == 0
    assert uqcli("evaluate", "rule.json", "pilot.csv", "-q").code in (0, 3)
    assert (
        uqcli("boundary", "rest.csv", "--pilot", "pilot.csv", *CERTIFY, "--json").json["metrics"]["recall"]
        is None
    )


@pytest.mark.parametrize(
    "options",
    [
        ("--precision", "0.7"),
        ("--recall", "0.5"),
        ("--precision", "0.7", "--max-omission", "0.05"),
        ("--max-omission", "0.05,0.1"),
        ("--max-omission", "0.05", "--cluster", "id"),
    ],
)
def test_what_would_reach_above_the_drawn_scores_is_refused(uqcli, drawn, options):
    outcome = uqcli(*REST, "--certify", "0.1", *options)
    assert outcome.code == 2


def test_rows_of_the_other_end_and_rows_in_both_files_are_refused(uqcli, drawn, tmp_path):
    _, rest = drawn
    rest.rename({"sampled_below": "sampled_above"}).write_csv(tmp_path / "other.csv")
    outcome = uqcli("boundary", "other.csv", "--pilot", "pilot.csv", *CERTIFY)
    assert outcome.code == 2
    assert "expected --precision alone" in outcome.err
    high = pl.when(pl.int_range(pl.len()) == 0).then(0.99).otherwise("score")
    rest.with_columns(score=high).write_csv(tmp_path / "high.csv")
    outcome = uqcli("boundary", "high.csv", "--pilot", "pilot.csv", *CERTIFY)
    assert outcome.code == 3
    assert "above its sampled_below" in outcome.err
    outcome = uqcli("boundary", "fit.csv", "--pilot", "fit.csv", *CERTIFY)
    assert outcome.code == 3
    assert "also in --pilot" in outcome.err
    truth(5).write_csv(tmp_path / "older.csv")
    outcome = uqcli("boundary", "fit.csv", "--pilot", "older.csv", *CERTIFY, "--json")
    assert outcome.code == 0
    assert outcome.json["certificate"]["tested_on"]["rows"] == ROWS


@pytest.mark.parametrize(
    ("options", "found"),
    [
        (("--max-omission", "0.05"), "--max-omission is given without --certify; add --certify DELTA"),
        (("--precision", "0.7", "--max-omission", "0.05"), "--max-omission is given without --certify"),
        (("--max-omission", "2", "--certify", "0.1"), "max-omission is '2'"),
        (("--max-omission", "0.1", "--recall", "0.5", "--certify", "0.1"), "cannot be combined"),
        (("--precision", "0.7", *CERTIFY, "--miss", "0.1"), "--miss and --max-omission cannot be combined"),
        ((*CERTIFY, "--by", "id", "--bound", "each"), "--max-omission and --by cannot be combined"),
        ((*CERTIFY, "--review", "5%"), "--review with --max-omission"),
        ((*CERTIFY, "--cluster", "id"), "--certify with --cluster"),
        (("--precision", "0.7", *CERTIFY, "--cluster", "id"), "--certify with --cluster"),
    ],
)
def test_conflicts_and_bad_values_are_refused(uqcli, files, options, found):
    outcome = uqcli("boundary", "fit.csv", *options)
    assert (outcome.code, outcome.out) == (2, b"")
    assert found in outcome.err


def test_no_number_of_rows_shows_that_no_dropped_row_is_positive(uqcli, files):
    outcome = uqcli("boundary", "fit.csv", "--max-omission", "0", "--certify", "0.1")
    assert outcome.code == 4
    assert "no number of rows can show such a rate" in outcome.err


def test_an_upper_bound_that_cannot_be_certified_is_to_be_raised(uqcli, files):
    outcome = uqcli("boundary", "fit.csv", "--max-omission", "0.0001", "--certify", "0.1")
    assert outcome.code == 4
    assert outcome.err.rstrip().endswith("allow a higher rate")


def test_sample_takes_one_target(uqcli, files):
    outcome = uqcli(*SAMPLE, "--precision", "0.7", "-o", "pilot.csv")
    assert outcome.code == 2
    assert "--precision and --max-omission cannot be combined" in outcome.err
    outcome = uqcli(
        "sample", "rule.json", "pool.csv", "--for", "recall", "--max-omission", "0.1", "--budget", "9"
    )
    assert outcome.code == 2
    assert "--max-omission with --for recall" in outcome.err


def test_python_does_the_same(uqcli, drawn, tmp_path):
    pool, (_, rest) = truth(), drawn
    uqcli(*REST, *CERTIFY, "-q", "-o", "rule.json")
    first = api.sample_for_certificate(pool["score"], max_omission="0.05", budget=300)
    pilot = first.labelled(pool["score"], pool["label"].to_numpy()[first.drawn])
    second = api.sample_for_certificate(pool["score"], max_omission="0.05", budget=300, pilot=pilot)
    assert (second.above, second.below) == (None, rest["sampled_below"][0])
    drawn_rows = pool.filter(second.drawn)
    found = api.find_boundary(
        drawn_rows["score"],
        drawn_rows["label"],
        max_omission=0.05,
        certify=0.1,
        pilot=pilot,
        sampled_below=second.below,
    )
    assert list(found.thresholds) == saved_rule(tmp_path)["thresholds"]
    zones = api.find_boundary(pool["score"], pool["label"], precision=0.6, max_omission=0.05, certify=0.1)
    assert zones.review_thresholds[0] < zones.thresholds[0]
    with pytest.raises(api.UsageError, match="max_omission is given without certify"):
        api.find_boundary(pool["score"], pool["label"], max_omission=0.05)
