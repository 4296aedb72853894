"""Tests of signals, kills and closed streams: no file is lost or left over, and errors are one line."""

import errno
import fcntl
import json
import os
import re
import signal
import subprocess
import sys
import textwrap
import threading
import time
from pathlib import Path

import numpy as np
import polars as pl
import pytest

from tests.cli.conftest import PROGRAM
from tests.hang import HANGS_AFTER
from uqcli.base import files
from uqcli.base.errors import DataError
from uqcli.base.files import OutputQueue, open_output
from uqcli.base.running.interruption import changing, remove_temporaries
from uqcli.stores.output import write_bytes

EXIT_CODES = {signal.SIGINT: 130, signal.SIGTERM: 143, signal.SIGHUP: 129, signal.SIGXCPU: 152}


def start(*arguments, **options):
    return subprocess.Popen([*PROGRAM, *map(str, arguments)], stderr=subprocess.PIPE, **options)


def wait_for_the_program(process):
    """Wait until the interpreter runs uqcli; uqcli cannot handle signals before that."""
    caught_signals = 0
    while not caught_signals >> (signal.SIGTERM - 1) & 1:
        assert process.poll() is None
        status = Path(f"/proc/{process.pid}/status").read_text()
        caught_signals = int(re.search(r"SigCgt:\s*(\w+)", status)[1], 16)


def hidden_files(folder):
    return [path.name for path in folder.iterdir() if path.name.startswith(".")]


@pytest.fixture
def folder(tmp_path):
    folder = tmp_path / "out"
    folder.mkdir()
    return folder


def test_the_next_run_removes_the_temporaries_of_a_killed_run(single, large_file, folder, uqcli):
    output = folder / ("ж" * 100)
    output.write_text("old")
    process = start("apply", single, large_file, "-q", "-o", output)
    while not hidden_files(folder):
        time.sleep(0.01)
        assert process.poll() is None, "the run ended before it was killed"
    process.kill()
    process.communicate()
    assert len(hidden_files(folder)) == 1
    assert output.read_text() == "old"
    write_bytes(str(folder / "another"), b"x")
    assert len(hidden_files(folder)) == 1, "it may belong to a run on another file"
    assert uqcli("apply", single, "fit.csv", "-q", "-o", output).code == 0
    assert hidden_files(folder) == []
    assert output.read_text() == "score,label,decision\n0.9,1,true\n0.1,0,false\n"


def test_a_run_in_progress_keeps_its_temporary(folder):
    output = folder / "o.csv"
    with open_output(str(output)) as first:
        first.write(b"first")
        write_bytes(str(output), b"second")
        assert len(hidden_files(folder)) == 1
        assert output.read_bytes() == b"second"
    assert output.read_bytes() == b"first"
    assert hidden_files(folder) == []


def test_without_file_locks_no_temporary_is_removed(folder, monkeypatch):
    def unsupported(*_):
        raise OSError(95, "Operation not supported")

    monkeypatch.setattr(fcntl, "flock", unsupported)
    with open_output(str(folder / "o.csv")) as stream:
        write_bytes(str(folder / "o.csv"), b"second")
        stream.write(b"first")
    assert (folder / "o.csv").read_bytes() == b"first"


def test_queued_files_are_moved_only_at_commit(folder):
    output = folder / "o.csv"
    output.write_text("old")
    with OutputQueue() as queue, open_output(str(output), queue) as stream:
        stream.write(b"new")
    assert output.read_text() == "old"
    assert hidden_files(folder) == []
    with OutputQueue() as queue:
        with open_output(str(output), queue) as stream:
            stream.write(b"new")
        write_bytes(str(output), b"another")  # a queued file is not taken for a leftover
        queue.commit()
    assert output.read_text() == "new"
    assert hidden_files(folder) == []


def test_temporaries_are_registered_before_they_are_created(folder, monkeypatch):
    create = os.open
    exists = []

    def interrupted(path, flags, *mode):
        descriptor = create(path, flags, *mode)
        if flags & os.O_EXCL:
            remove_temporaries()  # as a signal would do right after the creation
            exists.append(os.path.exists(path))  # noqa: PTH110
            raise KeyboardInterrupt
        return descriptor

    monkeypatch.setattr(os, "open", interrupted)
    with pytest.raises(KeyboardInterrupt):
        write_bytes(str(folder / "o.csv"), b"x")
    assert exists == [False]


def test_no_temporary_is_created_while_the_process_ends(folder):
    writer = threading.Thread(target=write_bytes, args=(str(folder / "o.csv"), b"x"))
    with changing:  # held by the thread that handles a signal, after it removed the temporaries
        writer.start()
        writer.join(0.3)
        assert hidden_files(folder) == []
    writer.join()
    assert (folder / "o.csv").read_bytes() == b"x"


@pytest.mark.parametrize("signal_number", EXIT_CODES)
def test_signals_at_the_start_of_the_program_end_it(signal_number, tmp_path):
    """This holds from the first statement of uqcli on."""
    code = textwrap.dedent(
        f"""
        import os, signal, sys
        import uqcli.__main__ as program
        os.kill(os.getpid(), {int(signal_number)})
        program.main()
        """
    )
    process = subprocess.run([sys.executable, "-c", code], capture_output=True, check=False)
    assert process.returncode == EXIT_CODES[signal_number]
    assert re.fullmatch(rb"error: [\w ]+; no output file was changed\n", process.stderr)


UNCERTAINTY, MEMBERS = ["uncertainty", "members.csv", "--members", "a,b"], "a,b\n" + "0.5,0.25\n" * 9


@pytest.mark.covering("faults", every=6)
@pytest.mark.parametrize(
    ("signal_number", "moment"),
    [
        (signal.SIGINT, "before"),
        (signal.SIGINT, "after"),
        (signal.SIGINT, "report"),
        (signal.SIGTERM, "report"),
        (signal.SIGHUP, "before"),
        (signal.SIGXCPU, "after"),
    ],
)
def test_signals_around_the_rename_report_the_written_files(signal_number, moment, folder):
    """An interrupted run reports the files that it wrote, at any moment."""
    code = textwrap.dedent(
        f"""
        import os, signal, sys, time
        from uqcli.base import files
        from uqcli.__main__ import main

        place = files.Temporary.move_into_place
        def interrupted(self, path, target):
            if target.endswith({'"r.json"' if moment == "report" else '"o.csv"'}):
                if {moment == "before"}:
                    os.kill(os.getpid(), {int(signal_number)}); time.sleep(30)
                place(self, path, target)
                os.kill(os.getpid(), {int(signal_number)}); time.sleep(30)
            place(self, path, target)

        files.Temporary.move_into_place = interrupted
        sys.argv = ["uqcli", *{UNCERTAINTY}, "-o", "o.csv", "--report", "r.json"]
        main()
        """
    )
    (folder / "members.csv").write_text(MEMBERS)
    (folder / "o.csv").write_text("old")
    process = subprocess.run([sys.executable, "-c", code], cwd=folder, capture_output=True, check=False)
    assert process.returncode == EXIT_CODES[signal_number]
    written = {
        "before": "no output file was changed",
        "after": "written before: 'o.csv'",
        "report": "written before: 'o.csv', 'r.json'",
    }[moment]
    assert re.fullmatch(rf"error: [\w ]+; {written}\n", process.stderr.decode())
    assert ((folder / "o.csv").read_text() == "old") == (moment == "before")
    assert json.loads((folder / "r.json").read_text())["error"]["exit"] == EXIT_CODES[signal_number]
    assert hidden_files(folder) == []


@pytest.mark.thorough
def test_signals_after_the_end_of_the_run_change_nothing(tmp_path):
    code = textwrap.dedent(
        f"""
        import atexit, os, signal, sys
        from uqcli.__main__ import main

        for number in (signal.SIGINT, signal.SIGTERM, signal.SIGHUP, signal.SIGUSR1, signal.SIGXCPU):
            atexit.register(os.kill, os.getpid(), number)
        sys.argv = ["uqcli", *{UNCERTAINTY}, "-q", "-o", "o.csv"]
        main()
        """
    )
    (tmp_path / "members.csv").write_text(MEMBERS)
    process = subprocess.run([sys.executable, "-c", code], cwd=tmp_path, capture_output=True, check=False)
    assert (process.returncode, process.stderr) == (0, b"")
    assert (tmp_path / "o.csv").read_text().count("\n") == 10


@pytest.mark.faults
def test_signals_at_random_moments_leave_the_old_or_the_new_file(single, tmp_path, folder):
    """At any moment, the exit code is as documented, errors are one line, and one file is complete."""
    rows = tmp_path / "rows.csv"
    pl.DataFrame({"score": np.random.default_rng(1).random(200_000)}).write_csv(rows)
    output = folder / "o.csv"
    subprocess.run([*PROGRAM, "apply", single, rows, "-q", "-o", output], check=True)
    expected = output.read_bytes()
    random = np.random.default_rng(5)
    codes = []
    for signal_number in [*EXIT_CODES] * 2:  # make faults tests thousands of moments
        output.write_text("old")
        process = start("apply", single, rows, "-q", "-o", output)
        wait_for_the_program(process)
        time.sleep(random.uniform(0, 0.5))
        process.send_signal(signal_number)
        _, errors = process.communicate(timeout=HANGS_AFTER)
        codes.append(process.returncode)
        assert process.returncode in (0, EXIT_CODES[signal_number])
        assert len(errors.splitlines()) == (1 if process.returncode else 0), errors
        content = output.read_bytes()
        assert content in (b"old", expected)
        assert process.returncode or content == expected
        assert b"no output file was changed" not in errors or content == b"old"
        assert hidden_files(folder) == []
    assert any(code in EXIT_CODES.values() for code in codes)


def closing(*descriptors):
    def close():
        for descriptor in descriptors:
            os.close(descriptor)

    return close


RESULT_COMMANDS = {
    "apply": (["apply", "b.json", "fit.csv"], "give -o FILE"),
    "uncertainty": (["uncertainty", "fit.csv", "--members", "[sl]*", "--overwrite"], "give -o FILE"),
    "an artifact": (["bin", "fit.csv", "-o", "-"], "give -o FILE"),
    "JSON": (["bin", "fit.csv", "--json"], "give -o FILE"),
    "a table": (["evaluate", "b.json", "fit.csv"], "redirect it to a file, or give --report FILE"),
    "a schema": (["show", "--schema", "boundary"], "redirect it to a file"),
    "help": (["boundary", "--help"], "redirect it to a file"),
}


@pytest.mark.covering("faults", every=7, also=["a table-descriptors4", "a schema-descriptors5"])
@pytest.mark.parametrize(
    ("command", "descriptors"),
    [*((command, (1,)) for command in RESULT_COMMANDS), ("apply", (0, 1)), ("JSON", (0, 1))],
)
def test_results_to_a_closed_standard_output_are_an_error(single, command, descriptors):
    arguments, remedy = RESULT_COMMANDS[command]
    process = start(*arguments, preexec_fn=closing(*descriptors))
    _, errors = process.communicate(timeout=HANGS_AFTER)
    assert process.returncode == 3
    expected = f"error: standard output is closed; expected a place for the results; {remedy}\n"
    assert errors.decode() == expected


@pytest.mark.covering("faults", every=2)
@pytest.mark.parametrize("options", [["-q"], ["--report", "r.md"]], ids=["nothing", "a report"])
def test_a_closed_standard_output_is_no_error_if_nothing_has_to_go_there(single, options):
    process = start("evaluate", single, "fit.csv", *options, preexec_fn=closing(1))
    _, errors = process.communicate(timeout=HANGS_AFTER)
    assert (process.returncode, errors) == (0, b"")


@pytest.mark.covering("faults", every=4)
@pytest.mark.parametrize("descriptors", [(0,), (1,), (2,), (0, 1, 2)], ids=str)
def test_closed_streams_do_not_end_up_in_files(single, tmp_path, descriptors):
    output = tmp_path / "o.parquet"
    process = start("apply", single, "fit.csv", "-o", output, preexec_fn=closing(*descriptors))
    process.communicate(timeout=HANGS_AFTER)
    assert process.returncode == 0
    assert pl.read_parquet(output)["decision"].to_list() == [True, False]
    if 2 in descriptors:  # the error message is lost
        process = start("apply", single, "nowhere.csv", "-o", output, preexec_fn=closing(*descriptors))
        process.communicate(timeout=HANGS_AFTER)
        assert process.returncode == 3
        assert pl.read_parquet(output)["decision"].to_list() == [True, False]
    if 1 in descriptors:
        shown = start("show", single, preexec_fn=closing(*descriptors))
        shown.communicate(timeout=HANGS_AFTER)
        assert shown.returncode == 3


@pytest.mark.faults
def test_concurrent_writers_of_one_output_leave_a_complete_file(single, tmp_path, folder):
    """``make faults`` tests eight writers, some of them killed."""
    output = folder / "o.csv"
    rows = tmp_path / "rows.csv"
    pl.DataFrame({"score": np.random.default_rng(1).random(50_000)}).write_csv(rows)
    processes = [start("apply", single, rows, "-q", "-o", output) for _ in range(4)]
    for process in processes:
        _, errors = process.communicate(timeout=HANGS_AFTER)
        assert (process.returncode, errors) == (0, b"")
    assert hidden_files(folder) == []
    assert len(output.read_bytes().splitlines()) == 50_001


@pytest.mark.skipif(not hasattr(os, "fdatasync"), reason="only Linux writes back early")
def test_a_growing_file_is_written_back_and_a_failure_of_that_fails_the_output(tmp_path, monkeypatch):
    written, output = threading.Event(), tmp_path / "o.csv"
    monkeypatch.setattr(files, "_WRITE_BACK_SECONDS", 0.001)
    monkeypatch.setattr(os, "fdatasync", lambda descriptor: written.set())
    with open_output(str(output)) as stream:
        assert written.wait(60)
        stream.write(b"new")
    assert output.read_bytes() == b"new"

    def fail(descriptor):
        written.set()
        raise OSError(errno.EIO, os.strerror(errno.EIO))

    written.clear()
    monkeypatch.setattr(os, "fdatasync", fail)
    failing = pytest.raises(DataError, match=r"cannot write .*: Input/output error")
    with failing, open_output(str(output)) as stream:
        assert written.wait(60)
        stream.write(b"newer")
    assert (output.read_bytes(), [path.name for path in tmp_path.iterdir()]) == (b"new", ["o.csv"])


WAIT = """
import sys, time
from pathlib import Path
from types import SimpleNamespace
from uqcli.cli import process
process.install_handlers()
folder = Path(sys.argv[1])

def wait(*_):
    print("made", flush=True)
    time.sleep(60)
"""
"""Beginning of programs that make a temporary file or folder, say so, and wait."""

MAKING = {
    "rows of export --check": """
from uqcli.base.choices import ExportTarget
from uqcli.export import check
check._RUNNERS = {target: lambda *_: None for target in ExportTarget}
check._missing = lambda *_: ()

def made_rows(formula):
    return SimpleNamespace(write_parquet=lambda path: (Path(path).write_bytes(b"rows"), wait()))

check.made_rows = made_rows
check.compare(None, None, b"", ExportTarget.PYTHON, None)
""",
    "machine code": """
from uqcli.kernels import compile

def code(content):
    return SimpleNamespace(digest=wait)

compile.hashlib = SimpleNamespace(sha256=code)
compile.keep_code(folder, "kernel", b"code")
""",
    "report of a failed run": """
import os
from uqcli.cli import failed_run

def replace(*_):
    wait()

os.replace = replace
failed_run._replace(str(folder / "report.json"), b"{}")
""",
    "output": """
from uqcli.base.files import open_output
with open_output(str(folder / "out.csv")) as stream:
    stream.write(b"rows")
    wait()
""",
    "copy of a stream": """
import io
from contextlib import ExitStack
from uqcli.engines.local.read.streams import copied
with ExitStack() as stack:
    copied(SimpleNamespace(read=wait), stack)
""",
}


@pytest.mark.parametrize("kind", MAKING)
def test_a_signal_leaves_no_temporary_of_any_kind(tmp_path, kind):
    process = subprocess.Popen(
        [sys.executable, "-c", WAIT + MAKING[kind], str(tmp_path)],
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        env={**os.environ, "TMPDIR": str(tmp_path)},
    )
    assert process.stdout.readline() == b"made\n", process.communicate()
    assert list(tmp_path.iterdir())
    process.terminate()
    _, err = process.communicate()
    assert (process.returncode, b"terminated" in err) == (143, True), err
    assert list(tmp_path.iterdir()) == []
