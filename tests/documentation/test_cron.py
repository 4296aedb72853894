"""The crontab lines of the docs catch what reads well and is wrong."""

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


def night(seed):
    """Scores that are true probabilities, few of them high."""
    random = np.random.default_rng(seed)
    score = random.beta(0.5, 9, ROWS)
    return pl.DataFrame(
        {
            "score": score,
            "uncertainty": random.random(ROWS),
            "label": (random.random(ROWS) < score).astype(int),
        }
    )


def whole(frame):
    return frame.write_csv().encode()


NIGHTS = {
    "as usual": (whole, 0, 0, ""),
    "every score is 0.01": (lambda frame: whole(frame.with_columns(score=pl.lit(0.01))), 6, 6, "undefined"),
    "scores times 100": (
        lambda frame: whole(frame.with_columns(pl.col("score") * 100)),
        6,
        6,
        "check failed: promise_broken == 1",
    ),
    "half a file": (lambda frame: whole(frame[: ROWS // 2]), 6, 6, "check failed: rows < 1500"),
    "cut within a row": (lambda frame: whole(frame)[:-12], 3, 3, "written to its end"),
    "no rows": (lambda frame: whole(frame[:0]), 6, 3, "no rows"),
    "no file": (lambda frame: None, 3, 3, ""),
}  # fmt: skip


@pytest.fixture
def desk(tmp_path):
    """The boundary of a hold-out, in the working directory."""
    night(1).vstack(night(2)).write_csv(tmp_path / "holdout.csv")
    line = "boundary holdout.csv --precision 0.3 --algorithm st -q -o boundary.json"
    assert run(shlex.split(line)) == 0
    return tmp_path


@pytest.mark.parametrize("case", NIGHTS)
def test_each_night_ends_with_its_code(desk, case, capfd):
    make, applied, evaluated, said = NIGHTS[case]
    content = make(night(3))
    (desk / "labelled").mkdir(exist_ok=True)
    for place in ("today.csv", "labelled/week.csv"):
        (desk / place).unlink(missing_ok=True)
        if content is not None:
            (desk / place).write_bytes(content)
    (desk / "decisions.csv").write_text("of yesterday")
    (desk / "gates.xml").write_text("green")
    assert run(shlex.split(COMMANDS["apply"])[1:]) == applied
    assert ((desk / "decisions.csv").read_text() == "of yesterday") == (applied != 0)
    capfd.readouterr()
    assert run(shlex.split(COMMANDS["evaluate"])[1:]) == evaluated
    sys.stderr.flush()
    assert said in capfd.readouterr().err
    gates = (desk / "gates.xml").read_text()
    assert ("<failure" in gates, "<error" in gates) == (evaluated == 6, evaluated == 3)
    if case != "as usual":
        assert f"| {case}" in PAGE
