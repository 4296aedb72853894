"""Interrupts uqcli: signals at random moments, kills, and eight writers of one output."""

import random
import shutil
import signal
import tempfile
import time
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

from tests.faults.findings import EXIT_CODES, leftovers, must_run, reached_the_program, run, start
from tests.hang import HANGS_AFTER


def signals(findings, lines, min_signals, seed, workers=2):
    """Interrupt runs until this many signals arrived during the work."""
    with ThreadPoolExecutor(workers) as pool:
        expected = list(pool.map(_expected_contents, lines))
        jobs = list(zip(lines, expected, strict=True))
        source = random.Random(seed)
        while findings.counts["signals that arrived at work"] < min_signals:
            cases = [
                (source.choice(jobs), source.choice([*EXIT_CODES]), source.random())
                for _ in range(min(8 * workers, 2 * min_signals))
            ]
            list(pool.map(lambda case: _interrupt(findings, *case), cases))


def _expected_contents(line):
    """Return the contents that a line writes, and its seconds from the start of uqcli."""
    with tempfile.TemporaryDirectory() as folder:
        process = start(line.writing(folder), folder)
        while not reached_the_program(process):
            time.sleep(0.001)
        started = time.monotonic()
        _, errors = process.communicate(timeout=HANGS_AFTER)
        if process.returncode:
            raise RuntimeError(f"{line.name} ended with {process.returncode}: {errors.decode()}")
        return line.contents(folder), time.monotonic() - started


def _interrupt(findings, job, signal_number, moment):
    line, (contents, seconds) = job
    detail = f"{line.name} met {signal.Signals(signal_number).name} after {moment:.2f} of its time"
    folder = Path(tempfile.mkdtemp())
    for name in line.written():
        (folder / name).write_bytes(b"old")
    process = start(line.writing(folder), folder)
    if moment > 0.05:
        while not reached_the_program(process):
            time.sleep(0.001)
    time.sleep(moment * seconds)
    ready = reached_the_program(process)
    at_work = process.poll() is None
    process.send_signal(signal_number)
    _, errors = process.communicate(timeout=HANGS_AFTER)
    code = process.returncode
    findings.count("signals sent to a process" if at_work else "signals that came too late")
    if not ready:
        findings.count("signals while the interpreter starts")
    if ready and code == EXIT_CODES[signal_number]:
        findings.count("signals that arrived at work")
    remaining = line.contents(folder)
    if ready:
        findings.require("exit code", f"{detail}: {code}", code in (0, EXIT_CODES[signal_number]))
        findings.require_one_line(code, errors, detail)
    findings.require("nothing left", f"{detail}: {leftovers(folder)}", not leftovers(folder))
    for name, content in remaining.items():
        if name == line.report and code != 0 and ready:
            findings.require("a report of a failure", f"{detail}: {name}", line.states_failure(content, code))
            continue
        findings.require("old or new", f"{detail}: {name}", content in (b"old", contents[name]))
        is_reported = f"'{folder / name}'".encode() in errors
        findings.require("truth", f"{detail}: {errors!r}", code == 0 or is_reported == (content != b"old"))
    findings.require("whole", detail, code != 0 or remaining == contents)
    shutil.rmtree(folder)


def kills(findings, lines, runs, seed):
    """Kill runs, and require that the next run on the same output removes their temporaries."""
    source = random.Random(seed)
    for _ in range(runs):
        line = source.choice(lines)
        with tempfile.TemporaryDirectory() as folder:
            output = Path(folder) / line.output
            output.write_bytes(b"old")
            process = start(line.writing(folder), folder)
            deadline = time.monotonic() + 20
            while not leftovers(folder) and process.poll() is None and time.monotonic() < deadline:
                time.sleep(0.0005)
            process.kill()
            process.communicate()
            findings.count("kills")
            findings.count("kills that left a temporary", bool(leftovers(folder)))
            must_run(line.writing(folder), folder)
            findings.require("leftovers go", f"{line.name}: {leftovers(folder)}", not leftovers(folder))


def killed_watches(findings, folder, runs, seed):
    """Kill watches at any moment: the state is the old one or the new one, and the next run counts once."""
    source = random.Random(seed)
    watch = ("watch", folder / "b.json", "--bound", "0.3", "-q", "--state", "state.json")
    with tempfile.TemporaryDirectory() as name:
        state = Path(name) / "state.json"
        must_run((*watch, folder / "small.csv"), name)
        old = state.read_bytes()
        started = time.monotonic()
        must_run((*watch, folder / "medium.csv"), name)
        seconds, new = time.monotonic() - started, state.read_bytes()
        for _ in range(runs):
            is_new = source.random() < 0.3
            if is_new:
                state.unlink()
            else:
                state.write_bytes(old)
            process = start((*watch, folder / "medium.csv"), name)
            time.sleep(source.random() * 1.1 * seconds)
            process.kill()
            process.communicate()
            findings.count("kills of a watch")
            content = state.read_bytes() if state.exists() else b""
            allowed = not content or content.count(b'"digest"') == 2 if is_new else content in (old, new)
            findings.require("old state or new", f"{len(content)} bytes", allowed)
            must_run((*watch, folder / "medium.csv"), name)
            counted = state.read_bytes()
            findings.require("counted once", f"{len(counted)} bytes", is_new or counted == new)
            findings.require("leftovers go", str(leftovers(name)), not leftovers(name))


def eight_writers(findings, folder, rounds, seed):
    """Start eight writers of one output and kill some; one whole output must remain, and nothing else."""
    source = random.Random(seed)
    inputs = []
    for digit in range(8):
        path = folder / f"writer{digit}.csv"
        path.write_text("score,uncertainty\n" + f"0.{digit + 1},0.5\n" * 40_000)
        inputs.append(path)
    for _ in range(rounds):
        with tempfile.TemporaryDirectory() as writer_folder:
            output = Path(writer_folder) / "o.csv"
            processes = [
                start(("apply", folder / "b.json", path, "-q", "-o", output), writer_folder)
                for path in inputs
            ]
            to_kill = source.sample(processes, source.randrange(4))
            time.sleep(source.uniform(0.2, 1.2))
            for process in to_kill:
                process.kill()
            for process in processes:
                _, errors = process.communicate(timeout=HANGS_AFTER)
                ended_well = process.returncode == 0 or (process in to_kill and process.returncode == -9)
                findings.require("eight writers", f"{process.returncode} {errors!r}", ended_well)
            findings.count("writers of one output", len(processes))
            code, errors = run(("apply", folder / "b.json", inputs[0], "-q", "-o", output), writer_folder)
            findings.require("writer after the others", f"{code} {errors!r}", code == 0)
            findings.require(
                "writers leave nothing", str(leftovers(writer_folder)), not leftovers(writer_folder)
            )
            rows = output.read_text().splitlines()
            findings.require("one writer's rows", rows[1], len(rows) == 40_001 and len(set(rows[1:])) == 1)
