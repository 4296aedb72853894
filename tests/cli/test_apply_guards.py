"""Tests that ``apply`` compares its rows with the calibration rows, and says so where people look."""

import json
import os
import pty
import subprocess
import sys
from pathlib import Path

import numpy as np
import polars as pl
import pytest

from tests.hang import HANGS_AFTER
from uqcli.estimates.proportion import flagged_interval

RATE = "For rows like the calibration set, its 99.9 % range is"
OUTSIDE = "outside the range of the calibration set"


def rows(size, seed, *, shift=0.0, uncertain=0.0):
    """Draw rows whose score and uncertainty may be shifted."""
    random = np.random.default_rng(seed)
    score, uncertainty = random.random(size), random.random(size)
    label = random.random(size) < score ** (1 + uncertainty)
    return pl.DataFrame(
        {"score": score + shift, "uncertainty": uncertainty + uncertain, "label": label.astype(int)}
    )


@pytest.fixture
def rule(uqcli):
    """Fit a rule on 3,000 rows."""
    rows(3000, 1).write_parquet("fit.parquet")
    line = "boundary fit.parquet --precision 0.8 --uncertainty-bins 2 -q -o rule.json"
    assert uqcli(*line.split()).code == 0
    return json.loads(Path("rule.json").read_text())


def applied(uqcli, frame, *options):
    """Apply the rule to rows; return the metrics and the cautions of the JSON report."""
    frame.write_parquet("new.parquet")
    outcome = uqcli("apply", "rule.json", "new.parquet", "-o", "out.parquet", "--json", *options)
    assert outcome.code == 0, outcome.err
    return outcome.json["metrics"], outcome.json["notes"]


@pytest.mark.parametrize("size", [1, 20, 2000])
def test_rows_like_those_of_the_fit_give_no_caution(uqcli, rule, size):
    metrics, notes = applied(uqcli, rows(size, 5))
    assert notes == []
    assert metrics["outside_range"] <= 1
    metrics, notes = applied(uqcli, rows(3000, 1))
    assert (metrics["outside_range"], notes) == (0.0, [])


def test_the_share_is_judged_by_its_interval(uqcli, rule):
    fit, ordered = rule["fit"], rows(3000, 1).sort("score")
    low, high = flagged_interval(fit["selected"], fit["rows"], 1000, 0.999)
    for flagged, warned in ((low - 1, True), (low, False), (high, False), (high + 1, True)):
        frame = pl.concat([ordered[: 1000 - flagged], ordered[3000 - flagged :]])
        metrics, notes = applied(uqcli, frame)
        assert metrics["selected"] == flagged
        assert any(RATE in note for note in notes) == warned
    assert f"{low / 10:.4g} % to {high / 10:.4g} %" in notes[0]


def test_rows_outside_the_range_are_counted_and_pointed_out(uqcli, rule):
    metrics, notes = applied(uqcli, rows(1000, 2, uncertain=0.3))
    (low, high) = (rule["reference"][end] for end in ("lowest", "highest"))
    new = pl.read_parquet("new.parquet")
    outside = pl.any_horizontal(
        (pl.col(name) < low[name]) | (pl.col(name) > high[name]) for name in ("score", "uncertainty")
    )
    assert metrics["outside_range"] == new.select(outside).to_series().mean() > 0.25
    assert any(OUTSIDE in note for note in notes)
    few, notes = applied(uqcli, pl.concat([rows(2980, 1), rows(3000, 1, shift=2)[:20]]))
    assert few["outside_range"] == 20 / 3000
    assert notes == []


def test_a_rule_without_uncertainty_has_a_range_of_scores(uqcli):
    rows(3000, 1).write_parquet("fit.parquet")
    line = "boundary fit.parquet --precision 0.8 --algorithm st -q -o rule.json"
    assert uqcli(*line.split()).code == 0
    metrics, notes = applied(uqcli, rows(500, 2, uncertain=5.0))
    assert metrics["outside_range"] < 0.02
    assert notes == []
    metrics, notes = applied(uqcli, rows(500, 2, shift=-0.5))
    assert next(note for note in notes if OUTSIDE in note).count("a score outside") == 1


@pytest.mark.thorough
def test_a_small_calibration_set_gives_no_false_alarm(uqcli):
    """More than 1 % of new rows are usually outside the range of a few rows."""
    warned = outside = 0
    for seed in range(20):
        rows(150, seed).write_parquet("fit.parquet")
        line = "boundary fit.parquet --precision 0.7 --uncertainty-bins 2 -q -o rule.json"
        assert uqcli(*line.split()).code == 0
        metrics, notes = applied(uqcli, rows(2000, 100 + seed))
        outside += metrics["outside_range"] > 0.01
        warned += bool(notes)
    assert outside > 10
    assert warned == 0


def test_a_capacity_is_not_judged(uqcli, rule):
    metrics, notes = applied(uqcli, rows(1000, 2), "--top", "5")
    assert (metrics["selected"], notes) == (5, [])
    _, notes = applied(uqcli, rows(1000, 2, shift=1), "--top", "5")
    assert len(notes) == 1
    assert OUTSIDE in notes[0]


def test_undecided_rows_are_left_out(uqcli, rule):
    frame = pl.concat([rows(1000, 2), rows(3000, 3).with_columns(score=pl.lit(None, dtype=pl.Float64))])
    metrics, notes = applied(uqcli, frame, "--on-invalid", "keep")
    assert (metrics["undecided"], notes) == (3000, [])
    frame = pl.concat([rows(1000, 2, shift=1), frame[1000:]])
    metrics, notes = applied(uqcli, frame, "--on-invalid", "keep")
    assert metrics["outside_range"] > 0.9


def test_a_rule_for_other_class_priors_is_not_judged_by_its_share(uqcli):
    frame = rows(3000, 1).with_columns(p_0=1 - pl.col("score"), p_1=pl.col("score"))
    frame.write_parquet("fit.parquet")
    target = pl.concat([frame.filter(pl.col("label") == 1)] * 3 + [frame.filter(pl.col("label") == 0)])
    target.drop("label").write_parquet("target.parquet")
    line = "shift fit.parquet --target target.parquet --proba p_* --bootstrap 0 -q -o shift.json"
    assert uqcli(*line.split()).code == 0
    options = "--precision 0.8 --shift shift.json --algorithm st -q -o rule.json"
    assert uqcli("boundary", "fit.parquet", *options.split()).code == 0
    metrics, notes = applied(uqcli, target)
    assert metrics["selected_share"] > 0.5
    assert notes == []


def test_an_old_rule_has_no_range(uqcli, rule):
    old = Path(__file__).parents[1] / "saved" / "0.1.0" / "boundary_st.json"
    content = json.loads(old.read_text())
    assert "reference" not in content
    numbers = {name: [0.5, 0.6] for name in content["source"]["columns"].values()}
    pl.DataFrame(numbers).write_parquet("new.parquet")
    outcome = uqcli("apply", old, "new.parquet", "-o", "out.parquet", "--json")
    assert outcome.code == 0
    assert outcome.json["metrics"]["outside_range"] is None
    checked = ("--fail-if", "outside_range > 0.01", "-q")
    assert uqcli("apply", old, "new.parquet", "-o", "out.parquet", *checked).code == 6


def test_a_check_stops_rows_outside_the_range(uqcli, rule):
    rows(500, 2, shift=1).write_parquet("new.parquet")
    line = ["apply", "rule.json", "new.parquet", "-q", "-o", "out.parquet", "--report", "run.prom"]
    outcome = uqcli(*line, "--fail-if", "outside_range > 0.01")
    assert outcome.code == 6
    assert "outside_range > 0.01" in outcome.err
    assert not Path("out.parquet").exists()
    assert 'uqcli_apply_outside_range{run="run",artifact="rule.json"} 1' in Path("run.prom").read_text()
    assert uqcli(*line, "--fail-if", "outside_range > 1").code == 0


def test_reports_say_it(uqcli, rule):
    rows(500, 2, shift=1).write_parquet("new.parquet")
    line = ["apply", "rule.json", "new.parquet", "-o", "out.parquet"]
    shown = uqcli(*line, "--report", "run.html")
    printed = " ".join(shown.out.decode().split())
    assert f"Caution: The alert rate is 100 %. {RATE}" in printed
    assert "(1 more with --verbose)" in printed
    page = Path("run.html").read_text()
    assert "unusual alert rate" in page
    assert OUTSIDE in page


WITHOUT_PROGRESS = """
from uqcli.cli import process
process._DELAY_SECONDS = float("inf")  # on a slow machine the bar would appear
from uqcli.__main__ import main
main()
"""


def on_terminal(*arguments, output=subprocess.DEVNULL):
    """Run a command with standard error on a terminal; return what it shows there."""
    primary, secondary = pty.openpty()
    process = subprocess.Popen(
        [sys.executable, "-c", WITHOUT_PROGRESS, *arguments],
        stdin=subprocess.DEVNULL,
        stdout=output or secondary,
        stderr=secondary,
    )
    os.close(secondary)
    text = b""
    try:
        while chunk := os.read(primary, 1 << 16):
            text += chunk
    except OSError:  # the other end of the terminal is closed
        pass
    os.close(primary)
    assert process.wait(timeout=HANGS_AFTER) == 0
    return " ".join(text.decode().split())


LINE = ("apply", "rule.json", "new.parquet")


@pytest.mark.covering("faults", every=6)
@pytest.mark.parametrize(
    ("options", "output", "part"),
    [
        ((), subprocess.DEVNULL, "caution: the alert rate is 100 %"),
        ((), subprocess.DEVNULL, OUTSIDE),
        (("-o", "out.csv", "--json"), subprocess.DEVNULL, RATE),
        (("-o", "out.csv"), None, RATE),
        (("-o", "-"), subprocess.DEVNULL, RATE),
    ],
)
def test_a_terminal_shows_it_once(rule, options, output, part):
    rows(500, 2, shift=1).write_parquet("new.parquet")
    assert on_terminal(*LINE, *options, output=output).count(part) == 1


@pytest.mark.faults
def test_a_terminal_shows_nothing_without_need(rule):
    rows(500, 2, shift=1).write_parquet("new.parquet")
    assert on_terminal(*LINE, "-q") == ""
    rows(500, 2).write_parquet("new.parquet")
    assert on_terminal(*LINE) == ""


def test_a_file_of_errors_stays_empty(uqcli, rule):
    rows(500, 2, shift=1).write_parquet("new.parquet")
    outcome = uqcli("apply", "rule.json", "new.parquet", "-o", "-", "-q")
    assert (outcome.code, outcome.err) == (0, "")
