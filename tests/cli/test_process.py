"""Tests of uqcli as a process: pipes, signals, imports and terminals."""

import json
import os
import signal
import subprocess
import sys
import time

import numpy as np
import polars as pl
import pytest

from tests.cli.conftest import PROGRAM
from tests.hang import HANGS_AFTER


def start(*arguments, **options):
    return subprocess.Popen([*PROGRAM, *map(str, arguments)], stderr=subprocess.PIPE, **options)


def test_a_closed_pipe_is_silent(single, large_file):
    process = start("apply", single, large_file, stdout=subprocess.PIPE)
    assert process.stdout.readline() == b"score,pad,decision\n"
    process.stdout.close()
    assert process.stderr.read() == b""
    process.stderr.close()
    assert process.wait(30) == 0


@pytest.mark.parametrize(
    "form", ["jsonl", *(pytest.param(form, marks=pytest.mark.thorough) for form in ("parquet", "arrow"))]
)
def test_a_closed_pipe_is_silent_in_every_format(single, large_file, form):
    process = start("apply", single, large_file, "--output-format", form, stdout=subprocess.PIPE)
    assert process.stdout.read(1)
    process.stdout.close()
    assert process.stderr.read() == b""
    process.stderr.close()
    assert process.wait(60) == 0


def test_a_pipe_closed_before_the_first_byte_is_silent(single):
    read_end, write_end = os.pipe()
    os.close(read_end)
    process = start("show", single, stdout=write_end)
    os.close(write_end)
    _, errors = process.communicate(timeout=HANGS_AFTER)
    assert (process.returncode, errors) == (0, b"")


@pytest.mark.covering("faults", every=4)
@pytest.mark.parametrize(
    ("arguments", "stream_kind"),
    [
        (["apply", "{}", "-", "-o", "o.csv"], "pipe"),
        (["apply", "{}", "-", "-o", "o.csv"], "FIFO"),
        (["boundary", "-", "--precision", "0.5"], "pipe"),
        (["tce", "-"], "FIFO"),
    ],
)
def test_bad_rows_are_reported_while_the_stream_is_open(single, tmp_path, arguments, stream_kind):
    fifo = tmp_path / "given.csv"
    os.mkfifo(fifo)
    words = [argument.format(single) for argument in arguments]
    if stream_kind == "FIFO":
        words = [str(fifo) if word == "-" else word for word in words]
    process = start(*words, stdin=subprocess.PIPE, cwd=tmp_path)
    stream = fifo.open("wb") if stream_kind == "FIFO" else process.stdin
    stream.write(b"score,uncertainty,label\n" + b"x,1,1\n" * 20)
    stream.flush()
    assert process.wait(20) == 3  # the stream is still open
    assert b"'x' in data row 1" in process.stderr.read()
    process.stderr.close()
    for open_stream in {stream, process.stdin}:
        open_stream.close()


def test_slowly_arriving_rows_are_all_written(single, tmp_path):
    process = start("apply", single, "-", stdin=subprocess.PIPE, stdout=subprocess.PIPE, cwd=tmp_path)
    text = b"".join(b'0.%d,"a,\n%d"\n' % (row, row) for row in range(1, 40))
    process.stdin.write(b"score,pad\n")
    for position in range(0, len(text), 7):
        process.stdin.write(text[position : position + 7])
        process.stdin.flush()
        time.sleep(0.3 if position in (70, 140) else 0.005)
    process.stdin.close()
    stdout = process.stdout.read()
    assert process.wait(20) == 0
    assert stdout.replace(b",false", b"").replace(b",true", b"") == b"score,pad,decision\n" + text
    for stream in (process.stdout, process.stderr):
        stream.close()


@pytest.mark.covering("faults", every=7)
@pytest.mark.parametrize(
    ("signal_number", "code"),
    [
        (signal.SIGHUP, 129),
        (signal.SIGINT, 130),
        (signal.SIGUSR1, 138),
        (signal.SIGUSR2, 140),
        (signal.SIGALRM, 142),
        (signal.SIGTERM, 143),
        (signal.SIGXCPU, 152),
    ],
)
def test_a_signal_ends_the_run_and_leaves_no_temporary_file(
    single, large_file, tmp_path, signal_number, code
):
    output = tmp_path / "out" / "o.parquet"
    output.parent.mkdir()
    output.write_text("old")
    process = start("apply", single, large_file, "-o", output)
    while len(list(output.parent.iterdir())) < 2:
        time.sleep(0.01)
        assert process.poll() is None, "the run ended before the signal"
    process.send_signal(signal_number)
    _, errors = process.communicate(timeout=HANGS_AFTER)
    assert process.returncode == code
    assert len(errors.splitlines()) == 1
    assert [path.name for path in output.parent.iterdir()] == ["o.parquet"]
    assert output.read_text() == "old"


def test_an_ignored_signal_stays_ignored(single, tmp_path):
    def ignore():
        signal.signal(signal.SIGINT, signal.SIG_IGN)

    rows = tmp_path / "rows.csv"  # uqcli reads them to their end
    pl.DataFrame({"score": np.random.default_rng(1).random(400_000)}).write_csv(rows)
    process = start("apply", single, rows, "-q", "-o", tmp_path / "o.parquet", preexec_fn=ignore)
    while process.poll() is None:  # so that signals arrive at any stage
        process.send_signal(signal.SIGINT)
        time.sleep(0.02)
    process.communicate(timeout=HANGS_AFTER)
    assert process.returncode == 0


def test_input_and_output_can_be_fifos(single, tmp_path):
    os.mkfifo(tmp_path / "in")
    os.mkfifo(tmp_path / "out")
    process = start("apply", single, tmp_path / "in", "-q", "-o", tmp_path / "out")
    (tmp_path / "in").write_text("score\n0.95\n")
    assert (tmp_path / "out").read_text() == "score,decision\n0.95,true\n"
    assert process.communicate(timeout=HANGS_AFTER)[1] == b""
    assert process.returncode == 0


def test_parquet_can_pass_through_pipes(single, tmp_path):
    pl.DataFrame({"score": [0.95, 0.05]}).write_parquet(tmp_path / "d.parquet")
    options = ["--format", "parquet", "--output-format", "parquet"]
    process = subprocess.run(
        [*PROGRAM, "apply", str(single), "-", *options],
        input=(tmp_path / "d.parquet").read_bytes(),
        capture_output=True,
        check=True,
    )
    (tmp_path / "o.parquet").write_bytes(process.stdout)
    assert pl.read_parquet(tmp_path / "o.parquet")["decision"].to_list() == [True, False]


def test_a_full_device_is_an_error_in_one_line(single, large_file):
    with open("/dev/full", "wb") as full:  # noqa: PTH123
        for arguments in (["apply", single, large_file], ["show", single]):
            process = start(*arguments, stdout=full)
            _, errors = process.communicate(timeout=HANGS_AFTER)
            assert process.returncode == 3
            assert errors.startswith(b"error: cannot write")
            assert len(errors.splitlines()) == 1


def test_a_terminal_shows_a_coloured_table(single):
    import pty

    primary, secondary = pty.openpty()
    process = subprocess.Popen(
        [*PROGRAM, "show", str(single)], stdout=secondary, env={**os.environ, "COLUMNS": "80"}
    )
    process.wait(30)
    os.close(secondary)
    text = os.read(primary, 1 << 16).decode()
    os.close(primary)
    assert "score >=" in text
    assert "\x1b[" in text


@pytest.mark.covering("thorough", every=3)
@pytest.mark.parametrize("arguments", [["--help"], ["boundary", "--help"], ["--version"]])
def test_help_loads_no_heavy_library(arguments):
    code = (
        "import sys, json\nfrom uqcli.cli.app import run\n"
        f"run({arguments!r})\n"
        "heavy = {'polars', 'numba', 'scipy', 'numpy', 'pyarrow', 'msgspec'} & set(sys.modules)\n"
        "print(json.dumps(sorted(heavy)))"
    )
    process = subprocess.run([sys.executable, "-c", code], capture_output=True, check=True)
    assert json.loads(process.stdout.splitlines()[-1]) == []


def test_json_is_utf_8_whatever_the_console_has(tmp_path):
    rows = pl.DataFrame({"score": [0.9, 0.1] * 60, "label": [1, 0] * 60, "town": ["Zürich", "Łódź"] * 60})
    rows.write_csv(tmp_path / "towns.csv")
    line = [*PROGRAM, "tce", "towns.csv", "--by", "town", "--json"]
    environment = {**os.environ, "PYTHONIOENCODING": "cp1252"}
    process = subprocess.run(line, cwd=tmp_path, capture_output=True, check=True, env=environment)
    groups = json.loads(process.stdout.decode("utf-8"))["groups"]
    assert {group["name"] for group in groups} == {"Zürich", "Łódź"}
