"""``make fuzz``: mutated tables, artifacts, configurations and option lines through every command.

Each case is run in this process under a time limit. A case fails if it ends with an exit code outside the
contract, with a traceback, a panic or more than one line of error; if it takes too long; if rows that were
accepted are not those that another reader finds; or if an accepted artifact is not understood as written.
"""

import argparse
import contextlib
import io
import json
import os
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
from tests.fuzz.games import GAMES, Ended, cleaned, judged
from tests.fuzz.oracle import rows_of, same_meaning
from uqcli.cli.app import run
from uqcli.errors import ArtifactError

SECONDS = 20
CODES = {0, 2, 3, 4, 5, 6, 7}
KINDS = ("csv", "columnar", "artifact", "configuration", "options", *GAMES)
WIDE = ("1000000", "10000001", "18446744073709551615")
"""Numbers that ask for work without end of options that may have it."""


class TooLongError(BaseException):
    """A case did not end in time."""


@dataclass
class Tally:
    """What became of the cases."""

    ends: Counter[tuple[str, int | str]] = field(default_factory=Counter)
    failures: list[str] = field(default_factory=list)
    slowest: float = 0.0


Outcome = Ended
Opened = tuple[Path, int] | None
"""A file behind a standard stream, and how it is opened."""


@contextlib.contextmanager
def _limited() -> Iterator[None]:
    def stop(*_: object) -> None:
        raise TooLongError

    before = signal.signal(signal.SIGALRM, stop)
    signal.alarm(SECONDS)
    try:
        yield
    finally:
        signal.alarm(0)
        signal.signal(signal.SIGALRM, before)


@contextlib.contextmanager
def _streams(place: Path, stdin: Opened, stdout: Opened) -> Iterator[tuple[Path, Path]]:
    """Standard output and error of the process, Rust's and C's words included, in files."""
    paths = place / "stdout", place / "stderr"
    saved = [os.dup(number) for number in (0, 1, 2)]
    streams = sys.stdin, sys.stdout, sys.stderr
    for number, path in zip((1, 2), paths, strict=True):
        with path.open("wb") as caught:
            os.dup2(caught.fileno(), number)
    for number, opened in ((0, stdin), (1, stdout)):
        if opened is not None:
            descriptor = os.open(*opened, 0o600)
            os.dup2(descriptor, number)
            os.close(descriptor)
    if stdin is None:
        sys.stdin = io.TextIOWrapper(io.BytesIO(b"score,label\n0.5,1\n"))
    else:
        sys.stdin = open(0, closefd=False)  # noqa: SIM115
    sys.stdout, sys.stderr = (
        open(number, "w", errors="backslashreplace", closefd=False)  # noqa: SIM115
        for number in (1, 2)
    )
    try:
        yield paths
    finally:
        for stream in (sys.stdout, sys.stderr):
            with contextlib.suppress(OSError):
                stream.flush()
        sys.stdin, sys.stdout, sys.stderr = streams
        for number, copy in zip((0, 1, 2), saved, strict=True):
            os.dup2(copy, number)
            os.close(copy)


def ended(line: list[str], place: Path, stdin: Opened = None, stdout: Opened = None) -> Outcome:
    """Run one command line."""
    code: int | str
    with _streams(place, stdin, stdout) as (out, err):
        try:
            with _limited():
                code = run(line)
        except BaseException as error:  # a fuzzer looks at whatever ends a run
            code = type(error).__name__
    return Outcome(code, out.read_text(errors="replace"), err.read_text(errors="replace"))


def complaint(outcome: Outcome) -> str | None:
    """What is wrong with how a run ended."""
    if outcome.code not in CODES:
        return f"exit {outcome.code}"
    for word in ("Traceback", "panicked", "Warning:", "internal error"):
        if word in outcome.err:
            return word
    lines = outcome.err.splitlines()
    if outcome.code == 0 and any(line.startswith("error:") for line in lines):
        return "an error with exit 0"
    if outcome.code not in (0, 6) and sum(line.startswith("error: ") for line in lines) != 1:
        return "not one line of error"
    return None


class Fuzzer:
    """Cases one after the other, from one seed."""

    def __init__(self, seed: int, place: Path) -> None:
        self.random = np.random.default_rng(seed)
        self.place = place
        self.seeds: Seeds = make_seeds(place)
        self.tally = Tally()

    def case(self, number: int) -> None:
        """Make a case, run it and judge it."""
        kind = KINDS[number % len(KINDS)]
        config = self.place / "uqcli.toml"
        config.unlink(missing_ok=True)
        if kind in GAMES:
            self._game(number, kind)
            return
        line, path = getattr(self, f"_{kind}")()
        start = time.perf_counter()
        outcome = ended(line, self.place)
        self.tally.slowest = max(self.tally.slowest, time.perf_counter() - start)
        wrong = complaint(outcome) or self._judged(kind, line, path, outcome)
        self.tally.ends[kind, outcome.code] += 1
        if wrong is not None:
            self.tally.failures.append(
                f"case {number} ({kind}): {wrong}: {line}: {outcome.err[-300:].strip()}"
            )
            kept = Path.cwd() if path is None else path
            if path is not None and path.exists():
                shutil.copy(path, self.place / f"failed-{number}{kept.suffix}")

    def _game(self, number: int, kind: str) -> None:
        game = GAMES[kind](self.random, self.place, self.seeds)
        start = time.perf_counter()
        outcome = ended(game.line, self.place, game.stdin, game.stdout)
        self.tally.slowest = max(self.tally.slowest, time.perf_counter() - start)
        again = None if game.again is None else ended(game.again, self.place)
        wrong = complaint(outcome) or judged(game, outcome, again)
        cleaned(game)
        self.tally.ends[kind, outcome.code] += 1
        if wrong is not None:
            said = f"{wrong}: {game.line} < {game.stdin} > {game.stdout}: {outcome.err[-300:].strip()}"
            self.tally.failures.append(f"case {number} ({kind}): {said}")

    def _table(self, endings: tuple[str, ...]) -> tuple[list[str], Path]:
        name = mutate.pick(self.random, [each for each in self.seeds.tables if each.endswith(endings)])
        path = self.place / f"mutated{Path(name).suffix}"
        path.write_bytes(mutate.mutated_bytes(self.random, self.seeds.tables[name]))
        line = mutate.pick(self.random, lines_reading(str(path), self.place))
        dropping = ["--on-invalid", "drop"] if self.random.random() < 0.5 else []
        return [*line, *dropping], path

    def _csv(self) -> tuple[list[str], Path]:
        return self._table((".csv", ".tsv"))

    def _columnar(self) -> tuple[list[str], Path]:
        return self._table((".parquet", ".arrow"))

    def _artifact(self) -> tuple[list[str], Path]:
        name = mutate.pick(self.random, list(self.seeds.artifacts))
        path = self.place / "mutated.json"
        how = mutate.mutated_json if self.random.random() < 0.8 else mutate.mutated_bytes
        path.write_bytes(how(self.random, self.seeds.artifacts[name]))
        return mutate.pick(self.random, lines_with_artifact(str(path), self.place)), path

    def _configuration(self) -> tuple[list[str], Path]:
        line, command = self._good_line()
        options = [
            name for name in self.seeds.options[command] if name not in ("--output", "--report", "--plot")
        ]
        path = self.place / "fuzz.toml"
        path.write_bytes(self._narrow(mutate.mutated_toml(self.random, command, options)))
        return [*line, "--config", str(path)], path

    def _options(self) -> tuple[list[str], None]:
        line, command = self._good_line()
        options = [
            name for name in self.seeds.options[command] if name not in ("--output", "--report", "--plot")
        ]
        changed = mutate.mutated_line(self.random, line, options)
        return [text for text in changed if text not in (*WIDE, "--debug", "-")], None

    def _good_line(self) -> tuple[list[str], str]:
        good = str(self.place / "good.parquet")
        models = [str(self.place / f"{name}.json") for name in self.seeds.artifacts]
        lines = lines_reading(good, self.place) + lines_with_artifact(
            mutate.pick(self.random, models), self.place
        )
        line = mutate.pick(self.random, [*lines, ["simulate", "gaussian", "--rows", "5"], ["schema", "grid"]])
        return line, line[0]

    def _narrow(self, content: bytes) -> bytes:
        for text in (*WIDE, "debug"):
            content = content.replace(text.encode(), b"7")
        return content

    def _judged(self, kind: str, line: list[str], path: Path | None, outcome: Outcome) -> str | None:
        """What another reading says of an accepted input."""
        if outcome.code != 0 or path is None or kind == "configuration":
            return None
        if kind == "artifact":
            return self._artifact_judged(path)
        expected = rows_of(path)
        if expected is None or line[0] == "apply":  # other readers look at every column
            return None
        again = ended([*line, "--json"], self.place)
        source = json.loads(again.out)["source"] if again.code == 0 and again.out else None
        if source is None:
            return None
        found = source["rows"] + source["dropped"]
        return None if found == expected else f"{found} rows, another reader finds {expected}"

    def _artifact_judged(self, path: Path) -> str | None:
        try:
            return None if same_meaning(path.read_bytes()) else "an accepted artifact means another thing"
        except ArtifactError:
            return "an artifact was accepted that cannot be loaded"


def fuzz(runs: int, seed: int, place: Path, every: int = 0) -> Tally:
    """Run some cases in a folder; say how far it is each so many cases."""
    with warnings.catch_warnings(), contextlib.chdir(place):
        warnings.simplefilter("error")
        fuzzer = Fuzzer(seed, place)
        for number in range(runs):
            fuzzer.case(number)
            if every and (number + 1) % every == 0:
                found = len(fuzzer.tally.failures)
                print(
                    f"{number + 1} cases, {found} failures", *fuzzer.tally.failures[:9], sep="\n", flush=True
                )
    return fuzzer.tally


def main() -> int:
    """Run from the command line; 0 if nothing was found."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--runs", type=int, default=2000)
    parser.add_argument("--seed", type=int, default=0)
    given = parser.parse_args()
    place = Path(tempfile.mkdtemp(prefix="uqcli-fuzz-"))
    tally = fuzz(given.runs, given.seed, place, every=500)
    for (kind, code), times in sorted(tally.ends.items(), key=str):
        print(f"{kind:14} exit {code}: {times}")
    print(f"{sum(tally.ends.values())} cases, {len(tally.failures)} failures, slowest {tally.slowest:.1f} s")
    print("\n".join(tally.failures[:50]))
    if tally.failures:
        print(f"failing inputs are in {place}")
    else:
        shutil.rmtree(place)
    return bool(tally.failures)


if __name__ == "__main__":
    sys.exit(main())
