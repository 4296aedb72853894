"""Runs mutated tables, rule files, configurations and command lines through every command: ``make fuzz``.

Each case runs in this process under a time limit. A case fails if one of these is true:

- The exit code is outside the contract, or the output has a traceback, a panic or several error lines.
- It takes too long, or the process more memory than a small machine has.
- A run that fails changes the state of a watch.
- The number of rows read differs from that of another reader.
- An accepted rule file does not survive a round trip of decoding and encoding.
"""

import argparse
import contextlib
import io
import json
import os
import resource
import shutil
import signal
import sys
import tempfile
import time
import warnings
from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path

import numpy as np

from tests.fuzz import mutate
from tests.fuzz.cases import Seeds, lines_reading, lines_with_artifact, make_seeds
from tests.fuzz.oracle import rows_of, survives_round_trip
from tests.fuzz.scenarios import SCENARIOS, Outcome, clean_up, judge_scenario
from uqcli.base.errors import ArtifactError
from uqcli.cli.app import run
from uqcli.rules.codec import digest_of

TIMEOUT_SECONDS = 20
MOST_BYTES = 1_500_000_000
EXIT_CODES = {0, 2, 3, 4, 5, 6, 7}
KINDS = ("csv", "columnar", "artifact", "state", "configuration", "found", "options", *SCENARIOS)
HUGE_NUMBERS = ("1000000", "10000001", "18446744073709551615")
"""Numbers for which some options would run for hours."""


class TooLongError(BaseException):
    """A case did not end in time."""


@dataclass
class Tally:
    """Counts of outcomes, failures, and the seconds of the slowest case."""

    outcomes: Counter[tuple[str, int | str]] = field(default_factory=Counter)
    failures: list[str] = field(default_factory=list)
    slowest: float = 0.0

    @property
    def peak_bytes(self) -> int:
        """Most memory that the process had so far."""
        return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss << 10


Redirection = tuple[Path, int] | None
"""A file for a standard stream, and the flags to open it; None for a small table or a captured file."""


@contextlib.contextmanager
def _time_limit() -> Iterator[None]:
    def stop(*_: object) -> None:
        raise TooLongError

    previous_handler = signal.signal(signal.SIGALRM, stop)
    signal.alarm(TIMEOUT_SECONDS)
    try:
        yield
    finally:
        signal.alarm(0)
        signal.signal(signal.SIGALRM, previous_handler)


@contextlib.contextmanager
def _streams(folder: Path, stdin: Redirection, stdout: Redirection) -> Iterator[tuple[Path, Path]]:
    """Redirect standard output and error of the process to files, including output of Rust and C."""
    paths = folder / "stdout", folder / "stderr"
    descriptors = [os.dup(descriptor_number) for descriptor_number in (0, 1, 2)]
    streams = sys.stdin, sys.stdout, sys.stderr
    for descriptor_number, path in zip((1, 2), paths, strict=True):
        with path.open("wb") as stream_file:
            os.dup2(stream_file.fileno(), descriptor_number)
    for descriptor_number, redirection in ((0, stdin), (1, stdout)):
        if redirection is not None:
            descriptor = os.open(*redirection, 0o600)
            os.dup2(descriptor, descriptor_number)
            os.close(descriptor)
    if stdin is None:
        sys.stdin = io.TextIOWrapper(io.BytesIO(b"score,label\n0.5,1\n"))
    else:
        sys.stdin = open(0, closefd=False)  # noqa: SIM115
    sys.stdout, sys.stderr = (
        open(descriptor_number, "w", errors="backslashreplace", closefd=False)  # noqa: SIM115
        for descriptor_number in (1, 2)
    )
    try:
        yield paths
    finally:
        for stream in (sys.stdout, sys.stderr):
            with contextlib.suppress(OSError):
                stream.flush()
        sys.stdin, sys.stdout, sys.stderr = streams
        for descriptor_number, copy in zip((0, 1, 2), descriptors, strict=True):
            os.dup2(copy, descriptor_number)
            os.close(copy)


def run_line(line: list[str], folder: Path, stdin: Redirection = None, stdout: Redirection = None) -> Outcome:
    """Run one command line."""
    code: int | str
    with _streams(folder, stdin, stdout) as (stdout_path, stderr_path):
        try:
            with _time_limit():
                code = run(line)
        except BaseException as error:  # a fuzzer inspects every way in which a run can end
            code = type(error).__name__
    return Outcome(code, stdout_path.read_text(errors="replace"), stderr_path.read_text(errors="replace"))


def fault_of(outcome: Outcome) -> str | None:
    """Return the fault of an outcome, or None."""
    if outcome.code not in EXIT_CODES:
        return f"exit {outcome.code}"
    for sign in ("Traceback", "panicked", "Warning:", "internal error"):
        if sign in outcome.err:
            return sign
    lines = outcome.err.splitlines()
    if outcome.code == 0 and any(line.startswith("error:") for line in lines):
        return "an error with exit 0"
    if outcome.code not in (0, 6) and sum(line.startswith("error: ") for line in lines) != 1:
        return "not one line of error"
    return None


class Fuzzer:
    """A sequence of cases from one seed."""

    def __init__(self, seed: int, folder: Path) -> None:
        self.random = np.random.default_rng(seed)
        self.folder = folder
        self.seeds: Seeds = make_seeds(folder)
        self.tally = Tally()
        self.most_bytes = max(MOST_BYTES, self.tally.peak_bytes)  # other tests may have run in this process

    def case(self, number: int) -> None:
        """Make a case, run it, and judge it."""
        kind = KINDS[number % len(KINDS)]
        for name in ("uqcli.toml", "pyproject.toml"):
            (self.folder / name).unlink(missing_ok=True)
        if kind in SCENARIOS:
            self._scenario(number, kind)
            return
        line, path = getattr(self, f"_{kind}")()
        before = path.read_bytes() if path is not None else b""
        start = time.perf_counter()
        outcome = run_line(line, self.folder)
        self.tally.slowest = max(self.tally.slowest, time.perf_counter() - start)
        fault = fault_of(outcome) or self._fault_of_accepted(kind, line, path, outcome)
        if (
            kind == "state"
            and outcome.code not in (0, 6)
            and path is not None
            and path.read_bytes() != before
        ):
            fault = "a failed run changed the state"
        if self.tally.peak_bytes > self.most_bytes:
            fault = f"{self.tally.peak_bytes:,} bytes of memory"
        self.tally.outcomes[kind, outcome.code] += 1
        if fault is not None:
            self.tally.failures.append(
                f"case {number} ({kind}): {fault}: {line}: {outcome.err[-300:].strip()}"
            )
            failed_path = Path.cwd() if path is None else path
            if path is not None and path.exists():
                shutil.copy(path, self.folder / f"failed-{number}{failed_path.suffix}")

    def _scenario(self, number: int, kind: str) -> None:
        scenario = SCENARIOS[kind](self.random, self.folder, self.seeds)
        start = time.perf_counter()
        outcome = run_line(scenario.line, self.folder, scenario.stdin, scenario.stdout)
        self.tally.slowest = max(self.tally.slowest, time.perf_counter() - start)
        second_outcome = (
            None if scenario.equivalent_line is None else run_line(scenario.equivalent_line, self.folder)
        )
        fault = fault_of(outcome) or judge_scenario(scenario, outcome, second_outcome)
        clean_up(scenario)
        self.tally.outcomes[kind, outcome.code] += 1
        if fault is not None:
            redirections = f"< {scenario.stdin} > {scenario.stdout}"
            detail = f"{fault}: {scenario.line} {redirections}: {outcome.err[-300:].strip()}"
            self.tally.failures.append(f"case {number} ({kind}): {detail}")

    def _table(self, endings: tuple[str, ...]) -> tuple[list[str], Path]:
        name = mutate.pick(self.random, [table for table in self.seeds.tables if table.endswith(endings)])
        path = self.folder / f"mutated{Path(name).suffix}"
        path.write_bytes(mutate.mutated_bytes(self.random, self.seeds.tables[name]))
        line = mutate.pick(self.random, lines_reading(str(path), self.folder))
        drop_option = ["--on-invalid", "drop"] if self.random.random() < 0.5 else []
        return [*line, *drop_option], path

    def _csv(self) -> tuple[list[str], Path]:
        return self._table((".csv", ".tsv"))

    def _columnar(self) -> tuple[list[str], Path]:
        return self._table((".parquet", ".arrow"))

    def _artifact(self) -> tuple[list[str], Path]:
        name = mutate.pick(self.random, list(self.seeds.artifacts))
        path = self.folder / "mutated.json"
        path.write_bytes(self._mutated_rule(self.seeds.artifacts[name]))
        return mutate.pick(self.random, lines_with_artifact(str(path), self.folder)), path

    def _mutated_rule(self, content: bytes) -> bytes:
        """Mutate bytes, or values; half of the latter get the digest that they need to be used."""
        if self.random.random() < 0.2:
            return mutate.mutated_bytes(self.random, content)
        mutated = mutate.mutated_json(self.random, content)
        value = json.loads(mutated)
        if self.random.random() < 0.5 and isinstance(value, dict):
            with contextlib.suppress(ValueError):  # a number beyond all
                mutated = json.dumps({**value, "digest": digest_of(value)}).encode()
        return mutated

    def _state(self) -> tuple[list[str], Path]:
        path = self.folder / "state.json"
        path.write_bytes(self._mutated_rule(self.seeds.state))
        rule, rows = (str(self.folder / name) for name in ("boundary.json", "good.parquet"))
        more = mutate.pick(self.random, ([rows], [rows], ["--acknowledge"], ["--forget", "0123456789ab"]))
        return ["watch", rule, *more, "--state", str(path)], path

    def _found(self) -> tuple[list[str], Path]:
        line, path = self._configuration()
        found = self.folder / mutate.pick(self.random, ("uqcli.toml", "pyproject.toml"))
        content = path.read_bytes()
        found.write_bytes(content.replace(b"[", b"[tool.uqcli.", 1) if found.stem == "pyproject" else content)
        return line[:-2], found

    def _configuration(self) -> tuple[list[str], Path]:
        line, command = self._valid_line()
        options = [
            name for name in self.seeds.options[command] if name not in ("--output", "--report", "--plot")
        ]
        path = self.folder / "fuzz.toml"
        path.write_bytes(self._without_huge_numbers(mutate.mutated_toml(self.random, command, options)))
        return [*line, "--config", str(path)], path

    def _options(self) -> tuple[list[str], None]:
        line, command = self._valid_line()
        options = [
            name for name in self.seeds.options[command] if name not in ("--output", "--report", "--plot")
        ]
        changed = mutate.mutated_line(self.random, line, options)
        return [text for text in changed if text not in (*HUGE_NUMBERS, "--debug", "-")], None

    def _valid_line(self) -> tuple[list[str], str]:
        valid_table = str(self.folder / "good.parquet")
        rule_files = [str(self.folder / f"{name}.json") for name in self.seeds.artifacts]
        lines = lines_reading(valid_table, self.folder) + lines_with_artifact(
            mutate.pick(self.random, rule_files), self.folder
        )
        line = mutate.pick(self.random, [*lines, ["show", "--schema", "grid"]])
        return line, line[0]

    def _without_huge_numbers(self, content: bytes) -> bytes:
        for text in (*HUGE_NUMBERS, "debug"):
            content = content.replace(text.encode(), b"7")
        return content

    def _fault_of_accepted(
        self, kind: str, line: list[str], path: Path | None, outcome: Outcome
    ) -> str | None:
        """Return the fault of an accepted input, or None: its row count, or its rule file, is not as read."""
        if outcome.code != 0 or path is None or kind in {"configuration", "found"}:
            return None
        if kind in {"artifact", "state"}:
            return self._artifact_fault(path)
        expected = rows_of(path)
        # None: the other reader rejects a column that uqcli does not read; a scenario counts rows of apply
        if expected is None or line[0] == "apply":
            return None
        json_outcome = run_line([*line, "--json"], self.folder)
        source = (
            json.loads(json_outcome.out)["source"] if json_outcome.code == 0 and json_outcome.out else None
        )
        if source is None:
            return None
        rows_read = source["rows"] + source["dropped"]
        return None if rows_read == expected else f"{rows_read} rows, another reader finds {expected}"

    def _artifact_fault(self, path: Path) -> str | None:
        try:
            return (
                None
                if survives_round_trip(path.read_bytes())
                else "an accepted artifact does not survive a round trip"
            )
        except ArtifactError:
            return "an artifact was accepted that cannot be loaded"


def fuzz(runs: int, seed: int, folder: Path, report_every: int = 0) -> Tally:
    """Run some cases in a folder, and report the progress."""
    with warnings.catch_warnings(), contextlib.chdir(folder):
        warnings.simplefilter("error")
        fuzzer = Fuzzer(seed, folder)
        for number in range(runs):
            fuzzer.case(number)
            if report_every and (number + 1) % report_every == 0:
                failures = len(fuzzer.tally.failures)
                print(
                    f"{number + 1} cases, {failures} failures",
                    *fuzzer.tally.failures[:9],
                    sep="\n",
                    flush=True,
                )
    return fuzzer.tally


def main() -> int:
    """Run from the command line; return 0 without failures."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--runs", type=int, default=2000)
    parser.add_argument("--seed", type=int, default=0)
    options = parser.parse_args()
    folder = Path(tempfile.mkdtemp(prefix="uqcli-fuzz-"))
    tally = fuzz(options.runs, options.seed, folder, report_every=500)
    for (kind, code), count in sorted(tally.outcomes.items(), key=str):
        print(f"{kind:14} exit {code}: {count}")
    print(
        f"{sum(tally.outcomes.values())} cases, {len(tally.failures)} failures, "
        f"slowest {tally.slowest:.1f} s, {tally.peak_bytes >> 20} MB"
    )
    print("\n".join(tally.failures[:50]))
    if tally.failures:
        print(f"failing inputs are in {folder}")
    else:
        shutil.rmtree(folder)
    return bool(tally.failures)


if __name__ == "__main__":
    sys.exit(main())
