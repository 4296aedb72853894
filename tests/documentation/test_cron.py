"""Tests that the crontab lines of the docs detect wrong rows that are readable."""

import re
import shlex
import sys
from pathlib import Path

import numpy as np
import polars as pl
import pytest

from uqcli.cli.app import run

PAGE = (Path(__file__).parents[2] / "docs" / "how-to" / "cron-and-make.md").read_text()
LINES = dict(re.findall(r"^[\d *]+ cd /srv/fraud && (uqcli (apply|evaluate) .*)$", PAGE, flags=re.MULTILINE))
COMMANDS = {name: line.replace("100000", "1500") for line, name in LINES.items()}
ROWS = 2000


def draw_night(seed):
    """Draw scores that are true probabilities, few of them high."""
    random = np.random.default_rng(seed)
    score = random.beta(0.5, 9, ROWS)
    return pl.DataFrame(
        {
            "score": score,
            "uncertainty": random.random(ROWS),
            "label": (random.random(ROWS) < score).astype(int),
        }
    )


def csv_bytes(frame):
    return frame.write_csv().encode()


NIGHTS = {
    "as usual": (csv_bytes, 0, 0, ""),
    "every score is 0.01": (
        lambda frame: csv_bytes(frame.with_columns(score=pl.lit(0.01))),
        6,
        6,
        "undefined",
    ),
    "scores times 100": (
        lambda frame: csv_bytes(frame.with_columns(pl.col("score") * 100)),
        6,
        6,
        "check failed: promise_broken == 1",
    ),
    "half a file": (lambda frame: csv_bytes(frame[: ROWS // 2]), 6, 6, "check failed: rows < 1500"),
    "cut within a row": (lambda frame: csv_bytes(frame)[:-12], 3, 3, "written completely"),
    "no rows": (lambda frame: csv_bytes(frame[:0]), 6, 3, "no rows"),
    "no file": (lambda frame: None, 3, 3, ""),
}  # fmt: skip


@pytest.fixture
def folder(tmp_path):
    """Fit a boundary on a calibration set in the working directory."""
    draw_night(1).vstack(draw_night(2)).write_csv(tmp_path / "holdout.csv")
    line = "boundary holdout.csv --precision 0.3 --algorithm st -q -o boundary.json"
    assert run(shlex.split(line)) == 0
    return tmp_path


@pytest.mark.parametrize("case", NIGHTS)
def test_each_night_has_its_exit_codes(folder, case, capfd):
    content_of, apply_code, evaluate_code, message = NIGHTS[case]
    content = content_of(draw_night(3))
    (folder / "labelled").mkdir(exist_ok=True)
    for name in ("today.csv", "labelled/week.csv"):
        (folder / name).unlink(missing_ok=True)
        if content is not None:
            (folder / name).write_bytes(content)
    (folder / "decisions.csv").write_text("of yesterday")
    (folder / "gates.xml").write_text("green")
    assert run(shlex.split(COMMANDS["apply"])[1:]) == apply_code
    assert ((folder / "decisions.csv").read_text() == "of yesterday") == (apply_code != 0)
    capfd.readouterr()
    assert run(shlex.split(COMMANDS["evaluate"])[1:]) == evaluate_code
    sys.stderr.flush()
    assert message in capfd.readouterr().err
    junit = (folder / "gates.xml").read_text()
    assert ("<failure" in junit, "<error" in junit) == (evaluate_code == 6, evaluate_code == 3)
    if case != "as usual":
        assert f"| {case}" in PAGE
