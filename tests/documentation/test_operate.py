"""Tests that what the docs run every night detects wrong rows, and tells somebody."""

import json
import re
import shlex
import subprocess
import sys
from pathlib import Path

import numpy as np
import polars as pl
import pytest

from tests.operate.evening import page_with_table
from uqcli.cli.app import run

PAGE = (Path(__file__).parents[2] / "docs" / "how-to" / "operate.md").read_text()
LINES = dict(
    re.findall(
        r"^[\d *]+ cd /srv/fraud && (?:find .* && )?(uqcli (apply|evaluate) .*)$", PAGE, flags=re.MULTILINE
    )
)
COMMANDS = {name: line.replace("100000", "1500") for line, name in LINES.items()}
SCRIPT = re.search(r"^#!/bin/sh\n# watch.sh\n.*?^exit \$code\n", PAGE, flags=re.MULTILINE | re.DOTALL)[0]
(PATH,) = re.findall(r"^PATH=(.*)$", PAGE, flags=re.MULTILINE)
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
    (folder / "prom").mkdir(exist_ok=True)
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


def mail_of(line, folder, programs):
    """Run a line as cron does, and return what it would mail, which is all output, and the exit code."""
    environment = {"HOME": str(folder), "LOGNAME": "uqcli", "SHELL": "/bin/sh", "PATH": f"{programs}:{PATH}"}
    process = subprocess.run(
        ["/bin/sh", "-c", line], cwd=folder, env=environment, capture_output=True, text=True, check=False
    )
    return process.stdout + process.stderr, process.returncode


def write_script(folder):
    (folder / "watch.sh").write_text(SCRIPT.replace("/srv/fraud", shlex.quote(str(folder))))
    return f"sh {shlex.quote(str(folder / 'watch.sh'))}"


def test_each_alarm_is_mailed_once_and_every_error_each_time(tmp_path):
    programs = tmp_path / "bin"
    programs.mkdir()
    program = programs / "uqcli"
    line = write_script(tmp_path)
    mails = []
    first, second = "2026-05-04", "2026-09-07"
    nights = [
        *((0, None), (6, first), (6, first), (3, first), (2, first), (5, first), (6, first), (137, first)),
        *(
            (6, second),
            (6, second),
            (0, None),
            (6, second),
        ),  # --acknowledge, and a new alarm in the same week
    ]
    for code, alarm in nights:
        report = shlex.quote(f'{{"promises": [{{"alarmed_at": {json.dumps(alarm)}}}]}}')
        printed = f"echo {report}\n" if code in (0, 6) else ""
        program.write_text(f"#!/bin/sh\n{printed}test {code} = 0 || echo error {code} >&2\nexit {code}\n")
        program.chmod(0o755)
        mail, ended = mail_of(line, tmp_path, programs)
        assert ended == code  # for systemd
        mails.append(mail)
    told = [int(mail.split()[1]) if mail else 0 for mail in mails]
    assert told == [0, 6, 0, 3, 2, 5, 0, 137, 6, 0, 0, 6]


@pytest.mark.thorough
def test_the_script_watches_until_somebody_acknowledges(folder):
    (folder / "prom").mkdir()
    line, programs = write_script(folder), Path(sys.executable).parent
    labelled = folder / "labelled"
    mail, code = mail_of(line, folder, programs)
    assert ("labelled" in mail, code) == (True, 3)  # nothing there yet
    labelled.mkdir()
    first = np.datetime64("2026-01-01")
    for day in range(130):
        rows = draw_night(10 + day).with_columns(day=pl.lit(str(first + day)))
        if day >= 20:
            rows = rows.with_columns(label=pl.lit(0))
        rows.write_parquet(labelled / f"{day:03}.parquet")
    mail, code = mail_of(line, folder, programs)
    assert ("precision" in mail, code) == (True, 6)
    assert (folder / "alarm").exists()
    assert mail_of(line, folder, programs) == ("", 6)
    samples = (folder / "prom/watch.prom").read_text()
    assert re.search(r"^uqcli_watch_(change_)?alarm\{.*\} 1$", samples, flags=re.MULTILINE)
    assert run(["watch", "boundary.json", "--state", "watch.json", "--acknowledge", "-q"]) == 0
    assert mail_of(line, folder, programs) == ("", 0)
    assert not (folder / "alarm").exists()


def test_the_page_has_the_faults_of_make_operate():
    assert page_with_table() == PAGE, "run python -m tests.operate.evening"


def test_every_exit_code_is_in_the_table():
    rows = re.findall(
        r"^\| ([\d, ]+)(?: and more)? \|", PAGE.partition("## Is it worth a retry?")[2], flags=re.MULTILINE
    )
    assert sorted(int(code) for row in rows for code in row.split(",")) == [*range(8), 128]
