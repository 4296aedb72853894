"""Progress is shown on a terminal's standard error only, and leaves it as it was."""

import os
import pty
import re
import subprocess
import sys

import numpy as np
import polars as pl
import pytest

from uqcli.running.progress import set_receiver, with_progress

RUN = "from uqcli.cli.process import progress as p; p._PATIENCE = 0; from uqcli.__main__ import main; main()"


@pytest.fixture
def rows(uqcli, tmp_path):
    random = np.random.default_rng(0)
    score = random.random(5000)
    frame = pl.DataFrame(
        {"score": score, "uncertainty": random.random(5000), "label": random.random(5000) < score}
    )
    for ending, write in (
        ("csv", frame.write_csv),
        ("parquet", frame.write_parquet),
        ("jsonl", frame.write_ndjson),
    ):
        write(tmp_path / f"d.{ending}")
    assert uqcli("boundary", "d.csv", "--precision", "0.7", "-q", "-o", "b.json").code == 0
    return tmp_path


def on_terminal(folder, *arguments, stdout=subprocess.DEVNULL):
    """What a terminal is sent on standard error, and the exit code."""
    ours, theirs = pty.openpty()
    process = subprocess.Popen(
        [sys.executable, "-c", RUN, *arguments],
        cwd=folder,
        stdin=subprocess.DEVNULL,
        stdout=theirs if stdout is None else stdout,
        stderr=theirs,
        env={**os.environ, "TERM": "xterm"},
    )
    os.close(theirs)
    sent = b""
    try:
        while more := os.read(ours, 1 << 16):
            sent += more
    except OSError:  # the other end is closed
        pass
    os.close(ours)
    return sent.decode(), process.wait(timeout=60)


@pytest.mark.parametrize("ending", ["csv", "parquet", "jsonl"])
def test_reading_is_shown_and_the_cursor_comes_back(rows, ending):
    sent, code = on_terminal(rows, "tce", f"d.{ending}")
    assert code == 0
    assert "reading: 5,000 rows" in sent
    assert sent.rindex("\x1b[?25h") > sent.rindex("\x1b[?25l")
    sent, code = on_terminal(rows, "apply", "b.json", f"d.{ending}", "-o", "o.csv")
    assert code == 0
    assert "reading: 5,000 rows" in sent


def test_draws_are_shown(rows):
    sent, code = on_terminal(rows, "tce", "d.csv", "--bootstrap", "50")
    assert code == 0
    assert "drawing labels: 50 draws" in sent


def test_nothing_is_shown_where_nobody_looks(rows):
    assert on_terminal(rows, "tce", "d.csv", "-q") == ("", 0)
    arguments = [sys.executable, "-c", RUN, "tce", "d.csv"]
    done = subprocess.run(arguments, cwd=rows, capture_output=True, timeout=60, check=True)
    assert done.stderr == b""
    sent, code = on_terminal(rows, "apply", "b.json", "d.csv", stdout=None)  # rows are the terminal's
    assert code == 0
    assert "reading" not in sent


def test_an_error_takes_the_bar_away(rows):
    with (rows / "d.csv").open("a") as file:
        file.write("none,0,true\n")
    sent, code = on_terminal(rows, "tce", "d.csv")
    assert code == 3
    last = re.sub(r"\x1b\[[\d?]*[A-Za-z]", "", sent.rstrip().splitlines()[-1])  # what takes the bar away
    assert last.startswith("error: column 'score' has 1 unreadable value")


def test_what_is_followed_is_told_after_its_work():
    heard = []

    set_receiver(lambda *step: heard.append(step))
    try:
        for item in with_progress("ab", "drawing", 2):
            heard.append(item)
    finally:
        set_receiver(None)
    assert heard == ["a", ("drawing", 1, "draws", 0.5), "b", ("drawing", 2, "draws", 1.0)]
