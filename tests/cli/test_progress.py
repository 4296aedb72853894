"""Tests of the progress bar: only a terminal shows it, and it is removed at the end."""

import os
import pty
import re
import subprocess
import sys

import numpy as np
import polars as pl
import pytest

from tests.hang import HANGS_AFTER
from uqcli.base.running.messages import set_receiver, with_progress

RUN = "from uqcli.cli import process as p; p._DELAY_SECONDS = 0; from uqcli.__main__ import main; main()"


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
    """Run a command on a terminal; return its standard error and the exit code."""
    primary, secondary = pty.openpty()
    process = subprocess.Popen(
        [sys.executable, "-c", RUN, *arguments],
        cwd=folder,
        stdin=subprocess.DEVNULL,
        stdout=secondary if stdout is None else stdout,
        stderr=secondary,
        env={**os.environ, "TERM": "xterm"},
    )
    os.close(secondary)
    terminal_text = b""
    try:
        while chunk := os.read(primary, 1 << 16):
            terminal_text += chunk
    except OSError:  # the other end of the terminal is closed
        pass
    os.close(primary)
    return terminal_text.decode(), process.wait(timeout=HANGS_AFTER)


@pytest.mark.faults
@pytest.mark.parametrize("ending", ["csv", "parquet", "jsonl"])
def test_reading_is_shown_and_the_cursor_is_restored(rows, ending):
    terminal_text, code = on_terminal(rows, "tce", f"d.{ending}")
    assert code == 0
    assert "reading: 5,000 rows" in terminal_text
    assert terminal_text.rindex("\x1b[?25h") > terminal_text.rindex("\x1b[?25l")
    terminal_text, code = on_terminal(rows, "apply", "b.json", f"d.{ending}", "-o", "o.csv")
    assert code == 0
    assert "reading: 5,000 rows" in terminal_text


@pytest.mark.faults
def test_draws_are_shown(rows):
    terminal_text, code = on_terminal(rows, "tce", "d.csv", "--bootstrap", "50")
    assert code == 0
    assert "drawing labels: 50 draws" in terminal_text


@pytest.mark.faults
def test_nothing_is_shown_without_a_terminal(rows):
    assert on_terminal(rows, "tce", "d.csv", "-q") == ("", 0)
    arguments = [sys.executable, "-c", RUN, "tce", "d.csv"]
    process = subprocess.run(arguments, cwd=rows, capture_output=True, timeout=HANGS_AFTER, check=True)
    assert process.stderr == b""
    terminal_text, code = on_terminal(
        rows, "apply", "b.json", "d.csv", stdout=None
    )  # the terminal shows the rows
    assert code == 0
    assert "reading" not in terminal_text


def test_an_error_removes_the_bar(rows):
    with (rows / "d.csv").open("a") as file:
        file.write("none,0,true\n")
    terminal_text, code = on_terminal(rows, "tce", "d.csv")
    assert code == 3
    last_line = re.sub(
        r"\x1b\[[\d?]*[A-Za-z]", "", terminal_text.rstrip().splitlines()[-1]
    )  # without the codes that remove the bar
    assert last_line.startswith("error: column 'score' has an unreadable value")


def test_progress_is_reported_after_each_step():
    events = []

    set_receiver(lambda *step: events.append(step))
    try:
        for item in with_progress("ab", "drawing", 2):
            events.append(item)
    finally:
        set_receiver(None)
    assert events == ["a", ("drawing", 1, "draws", 0.5), "b", ("drawing", 2, "draws", 1.0)]
