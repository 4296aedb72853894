"""Cases whose answer is known: descriptors, addresses, found configurations, weights, orders of columns."""

import json
import os
import shutil
from collections.abc import Callable
from dataclasses import dataclass, field
from pathlib import Path

import numpy as np
import polars as pl

from tests.fuzz import mutate
from tests.fuzz.cases import FEW, Seeds

SECRET = "hunter2"
OURS = ("score", "uncertainty", "label")


@dataclass(frozen=True)
class Ended:
    """How a command line ended."""

    code: int | str
    out: str
    err: str


@dataclass(frozen=True)
class Game:
    """A command line and what must be true of its end.

    Attributes
    ----------
    stdin, stdout
        A file behind standard input or output, with the flags it is opened with; None for the usual ones.
    again
        Another line that must end with the same code and standard output.
    """

    line: list[str]
    judge: Callable[[Ended], str | None]
    stdin: tuple[Path, int] | None = None
    stdout: tuple[Path, int] | None = None
    again: list[str] | None = None
    clean: list[Path] = field(default_factory=list)


def descriptors(random: mutate.Random, place: Path, seeds: Seeds) -> Game:
    """An input under other names, as a redirection, and as the place of a result."""
    rows = place / "rows.csv"
    content = seeds.tables["a.csv"]
    rows.write_bytes(content)
    symlink, hard, fifo = place / "sym.csv", place / "hard.csv", place / "new.csv"
    for each in (symlink, hard, fifo):
        each.unlink(missing_ok=True)
    symlink.symlink_to(rows)
    os.link(rows, hard)
    names = [
        "-",
        "/dev/stdin",
        "/dev/fd/0",
        "/proc/self/fd/0",
        *map(str, (rows, symlink, hard, place / "." / "rows.csv")),
    ]
    targets = [*names, "/dev/stdout", "/dev/fd/1", "/proc/self/fd/1", str(fifo), "/dev/null", str(fifo)]
    flags = (os.O_RDONLY, os.O_RDWR, os.O_RDWR | os.O_APPEND)
    model = place / "boundary.json"
    line = mutate.pick(
        random,
        [
            ["apply", str(model), mutate.pick(random, names), "-o", mutate.pick(random, targets)],
            ["apply", str(model), mutate.pick(random, names)],
            ["bin", mutate.pick(random, names), "-q", "-o", mutate.pick(random, targets)],
            [
                "boundary",
                mutate.pick(random, names),
                "--precision",
                "0.5",
                "--frontier",
                mutate.pick(random, targets),
            ],
            ["tce", mutate.pick(random, names), "--report", f"{mutate.pick(random, targets)}"],
            [
                "uncertainty",
                mutate.pick(random, names),
                "--members",
                "p_*",
                "--overwrite",
                "-o",
                mutate.pick(random, targets),
            ],
        ],
    )
    if random.random() < 0.3:
        line += ["--report", mutate.pick(random, [str(place / "r.json"), str(rows), str(model)])]
    stdin = (rows, mutate.pick(random, flags)) if random.random() < 0.7 else None
    stdout = None
    if random.random() < 0.3:
        stdout = (mutate.pick(random, [rows, place / "o.csv"]), os.O_WRONLY | os.O_CREAT | os.O_APPEND)
    saved = model.read_bytes()

    def judge(ended: Ended) -> str | None:
        if rows.read_bytes() != content:
            return "an input was written"
        if model.read_bytes() != saved:
            model.write_bytes(saved)
            if (
                ended.code != 0 or line[0] == "apply"
            ):  # a report may take the place of a model that is not read
                return "an artifact was written"
        if line[0] == "apply" and ended.code == 0 and line[-1] == str(fifo) and stdin is not None:
            written = pl.read_csv(fifo, infer_schema=False).height
            return None if written == 120 else f"{written} of 120 rows written"
        return None

    return Game(
        line=line, judge=judge, stdin=stdin, stdout=stdout, clean=[place / "o.csv", place / "r.json", fifo]
    )


def addresses(random: mutate.Random, place: Path, _seeds: Seeds) -> Game:
    """Addresses that nobody answers, with secrets in them."""
    scheme = mutate.pick(
        random, ["http", "https", "HTTP", "ftp", "file", "s3", "gs", "az", "sc", "xyz", "http+x"]
    )
    user = mutate.pick(random, ["", f"me:{SECRET}@", f"{SECRET}@", f":{SECRET}@", f"a@b:{SECRET}@"])
    host = mutate.pick(
        random, ["127.0.0.1:9", "[::1]:9", "127.0.0.1:x", "", "a b", "127.0.0.1:99999", "\u202e"]
    )
    if scheme in ("s3", "gs", "az"):  # a store of that name would be asked for over the net
        user, host = f"me:{SECRET}@", ""
    path = mutate.pick(
        random, ["/a.csv", "", "/", "/é.parquet", "/a b.csv", "/%zz.csv", "/*.csv", "/../a.csv"]
    )
    query = mutate.pick(
        random, ["", f"?sig={SECRET}", f"?a=b&token={SECRET}#x", f"#token={SECRET}", f";token={SECRET}"]
    )
    if scheme != "sc" and query.startswith(";"):  # no secret's place but in sc://
        query = ""
    address = f"{scheme}://{user}{host}{path}{query}"
    good = str(place / "good.parquet")
    line = mutate.pick(
        random,
        [
            ["tce", address],
            ["apply", str(place / "boundary.json"), address],
            ["apply", address, good],
            ["bin", good, "-o", address],
            ["tce", good, "--report", address],
            ["tce", good, "--report", address + ".html"],
            ["boundary", good, "--precision", "0.5", "--shift", address],
            ["tce", good, "--config", address],
            ["tce", good, "--spark", address],
            ["show", address],
        ],
    )

    def judge(ended: Ended) -> str | None:
        if SECRET in ended.out or SECRET in ended.err:
            return "a secret is told"
        return "it worked" if ended.code == 0 and "--spark" not in line else None  # no engine asks for it

    return Game(line=line, judge=judge)


def found(random: mutate.Random, place: Path, seeds: Seeds) -> Game:
    """Configurations found upwards, some of which others may have put there."""
    command = mutate.pick(random, ["tce", "bin", "boundary"])
    path = place / mutate.pick(random, ["uqcli.toml", "pyproject.toml"])
    prefix = "tool.uqcli." if path.name == "pyproject.toml" else ""
    steering = mutate.pick(random, ["output", "report", "plot", "spark"])
    texts = {
        "plain": f"[{prefix}{command}]\nscore-bins = 7\n"
        if command != "tce"
        else f"[{prefix}tce]\nn-bins = 7\n",
        "steering": f'[{prefix}{command}]\n{steering} = "x.html"\n',
        "address": f'[{prefix}{command}]\nuncertainty = "https://127.0.0.1:9/x"\n',
        "another's": f'[{prefix}calibrate]\n{steering} = "x.html"\n',
        "unknown": f"[{prefix}{command}]\nfoo = 1\n",
    }
    kind = mutate.pick(random, list(texts))
    content = texts[kind].encode()
    broken = random.random() < 0.2
    path.write_bytes(mutate.mutated_bytes(random, content) if broken else content)
    mode = mutate.pick(random, [0o600, 0o644, 0o664, 0o666, 0o777, 0o602])
    path.chmod(mode)
    bound = ["--precision", "0.5"] if command == "boundary" else []
    line = [command, str(place / "good.parquet"), *bound, "-q"]
    way = mutate.pick(random, ["found", "named", "left"])
    if way != "found":
        line += ["--config", str(path)] if way == "named" else ["--no-config"]

    def judge(ended: Ended) -> str | None:
        if way == "left":
            return None if ended.code == 0 else "it was read"
        if broken or way == "named":
            return None
        refused = mode & 0o002 or kind != "plain"
        return None if ended.code == (2 if refused else 0) else f"{kind}, mode {mode:o}: exit {ended.code}"

    del seeds
    return Game(line=line, judge=judge, clean=[path, place / "x.html"])


COUNTING = (
    ["bin", "{}", "--score-bins", "5"],
    ["tce", "{}"],
    ["boundary", "{}", "--precision", "0.5", "--score-bins", "10"],
    ["calibrate", "{}", "--method", "isotonic", *FEW],
    ["evaluate", "{model}", "{}"],
)


def _rows(random: mutate.Random) -> pl.DataFrame:
    size = int(random.integers(1, 60))
    values = random.integers(2, 30)
    return pl.DataFrame(
        {
            "score": (random.integers(0, values, size) / values).tolist(),
            "uncertainty": (random.integers(0, 5, size) / 4).tolist(),
            "label": random.integers(0, 2, size).tolist(),
        }
    )


def _asked(line: list[str], place: Path, name: str, *more: str) -> list[str]:
    filled = [each.format(str(place / name), model=place / "boundary.json") for each in line]
    return [*filled, *more, "--json"]


def _same(ended: Ended, again: Ended) -> str | None:
    if ended.code != again.code:
        return f"exit {ended.code} and {again.code}: {again.err[-200:]}"
    if ended.code != 0:
        return None
    first, second = (json.loads(each.out) for each in (ended, again))
    for each in (first, second):  # rows as they stand, and what may be said of weights
        for key in ("source", "parameters", "cautions", "notes"):
            each.pop(key, None)
    return None if first == second else "another result"


def weights(random: mutate.Random, place: Path, _seeds: Seeds) -> Game:
    """A row of weight w is w rows; weights in the forms that files have."""
    rows = _rows(random)
    weight = random.integers(0, 4, rows.height)
    repeated = rows[np.repeat(np.arange(rows.height), weight).tolist()]
    form = mutate.pick(random, [pl.Int8, pl.UInt64, pl.Float32, pl.Float64, pl.String])
    rows.with_columns(w=pl.Series(weight.tolist()).cast(form)).write_parquet(place / "weighted.parquet")
    repeated.write_parquet(place / "repeated.parquet")
    line = mutate.pick(random, COUNTING)
    again = _asked(line, place, "repeated.parquet")
    return Game(
        line=_asked(line, place, "weighted.parquet", "--weight", "w"), judge=lambda _: None, again=again
    )


def columns(random: mutate.Random, place: Path, _seeds: Seeds) -> Game:
    """Columns in another order, beside others of any name, in another format: the same result."""
    rows = _rows(random)
    rows.write_parquet(place / "plain.parquet")
    odd = mutate.pick(random, ["", "Score", "a,b", 'q"', "decision", "\ufeff", "é", "x" * 200, "label ", "1"])
    mixed = rows.with_columns(pl.lit("x").alias(odd))
    mixed = mixed.select(random.permutation(mixed.columns).tolist())
    if mutate.pick(random, ["csv", "parquet"]) == "csv":
        mixed.write_csv(place / "mixed.csv")
        name = "mixed.csv"
    else:
        mixed.write_parquet(place / "mixed.parquet")
        name = "mixed.parquet"
    line = mutate.pick(random, COUNTING)
    return Game(
        line=_asked(line, place, name), judge=lambda _: None, again=_asked(line, place, "plain.parquet")
    )


def judged(game: Game, ended: Ended, again: Ended | None) -> str | None:
    """What is wrong with how a game ended."""
    return game.judge(ended) or (None if again is None else _same(ended, again))


def cleaned(game: Game) -> None:
    """Remove what a game left."""
    for each in game.clean:
        if each.is_dir():
            shutil.rmtree(each)
        each.unlink(missing_ok=True)


GAMES = {
    "descriptors": descriptors,
    "addresses": addresses,
    "found": found,
    "weights": weights,
    "columns": columns,
}
