"""Tests of the memory check: jobs that keep rows are refused before they start if memory is short."""

import math
import re
import sys
from pathlib import Path

import numpy as np
import polars as pl
import psutil
import pytest
from hypothesis import given
from hypothesis import strategies as st

from uqcli.base.errors import DataError
from uqcli.base.running import memory
from uqcli.engines import open as engines
from uqcli.engines import refusals
from uqcli.engines.local import engine as local

ROWS = 3000
LIMITS = {"memory.current": "memory.max", "memory.usage_in_bytes": "memory.limit_in_bytes"}
VERSIONS = (LIMITS, ("inactive_file", "total_inactive_file"))
JOBS_THAT_KEEP_ROWS = {
    "boundary every score": (
        ("boundary", "{}", "--precision", "0.7", "--score-bins", "all"),
        "--score-bins 500",
    ),
    "boundary by customer": (("boundary", "{}", "--precision", "0.6", "--cluster", "c"), "--cluster"),
    "boundary certify": (("boundary", "{}", "--precision", "0.6", "--certify", "0.1"), "--certify"),
    "calibrate mist": (("calibrate", "{}", "--method", "mist"), "--method isotonic"),
    "calibrate tree": (
        ("calibrate", "{}", "--method", "heterogeneous", "--features", "f", "--partitioner", "tree"),
        "--partition",
    ),
    "boundary hr": (("boundary", "{}", "--precision", "0.6", "--algorithm", "hr"), "another --algorithm"),
    "conformal by customer": (("conformal", "{}", "--cluster", "c"), "--cluster"),
    "overview": (("overview", "{}"), "draw some millions of rows"),
    "tce": (("tce", "{}"), "round the scores"),
    "tce by group": (("tce", "{}", "--by", "c"), "round the scores"),
    "tce by customer": (("tce", "{}", "--cluster", "c"), "--cluster"),
    "calibrate isotonic": (("calibrate", "{}", "--method", "isotonic"), "round the scores"),
    "shift em": (("shift", "{}", "--target", "{}", "--estimator", "em"), "--estimator bbse"),
}
JOBS_OF_CONSTANT_MEMORY = {
    "boundary": ("boundary", "{}", "--precision", "0.7"),
    "bin": ("bin", "{}"),
    "evaluate": ("evaluate", "rule.json", "{}"),
    "apply": ("apply", "rule.json", "{}", "-o", "out.parquet"),
}


@pytest.fixture
def rows(tmp_path):
    random = np.random.default_rng(0)
    score = random.random(ROWS)
    frame = pl.DataFrame(
        {
            "score": score,
            "uncertainty": random.random(ROWS),
            "label": random.random(ROWS) < score,
            "f": random.random(ROWS),
            "c": np.arange(ROWS) // 10,
        }
    )
    frame.write_parquet(tmp_path / "d.parquet")
    frame.write_csv(tmp_path / "d.csv")
    frame.write_ndjson(tmp_path / "d.jsonl")
    return frame


def set_limits(monkeypatch, *, available=math.inf, group=math.inf, shell=math.inf):
    """Set what the machine has available, the limit of the control group, and that of addresses."""
    monkeypatch.setattr(memory, "available_bytes", lambda: available)
    monkeypatch.setattr(memory, "_group_limit", lambda: group)
    monkeypatch.setattr(memory, "_shell_limit", lambda: shell)


def set_large_files(monkeypatch, rows):
    """Pretend that files have this many rows, on a machine with 8 GiB of memory."""
    set_limits(monkeypatch, available=8 << 30)
    monkeypatch.setattr(local.LocalEngine, "expected", lambda *_: (rows, 2))


def arguments_for(arguments, name):
    return [argument.replace("{}", name) for argument in arguments]


@pytest.mark.covering("thorough", every=2)
@pytest.mark.parametrize("job", JOBS_THAT_KEEP_ROWS)
def test_too_many_kept_rows_are_refused_with_advice(uqcli, rows, monkeypatch, job):
    arguments, advice = JOBS_THAT_KEEP_ROWS[job]
    assert uqcli(*arguments_for(arguments, "d.parquet"), "-q").code in (0, 4)
    set_large_files(monkeypatch, 10**9)
    outcome = uqcli(*arguments_for(arguments, "d.parquet"), "-q")
    assert outcome.code == 3
    assert re.search(
        r"takes about \S+ GB of memory, and \S+ GB are allowed; expected .*--memory \S+GB ", outcome.err
    )
    assert advice in outcome.err


@pytest.mark.parametrize("job", JOBS_OF_CONSTANT_MEMORY)
def test_jobs_of_constant_memory_are_never_refused(uqcli, rows, monkeypatch, job):
    assert uqcli("boundary", "d.parquet", "--precision", "0.7", "-q", "-o", "rule.json").code == 0
    set_large_files(monkeypatch, 10**12)
    assert uqcli(*arguments_for(JOBS_OF_CONSTANT_MEMORY[job], "d.parquet"), "-q").code == 0


def test_few_distinct_scores_are_not_refused(uqcli, rows, tmp_path, monkeypatch):
    rows.with_columns(pl.col("score").round(3)).write_parquet(tmp_path / "d.parquet")
    set_large_files(monkeypatch, 10**9)
    arguments, _ = JOBS_THAT_KEEP_ROWS["boundary every score"]
    assert uqcli(*arguments_for(arguments, "d.parquet"), "-q").code == 0


@pytest.mark.parametrize("ending", ["parquet", "csv", "jsonl"])
def test_rows_are_estimated_beforehand(uqcli, rows, monkeypatch, ending):
    expected = []
    monkeypatch.setattr(engines, "needed_bytes", lambda _, rows, __: expected.append(rows) or 0)
    assert uqcli("calibrate", f"d.{ending}", "--method", "mist", "-q").code == 0
    assert expected[0] == pytest.approx(ROWS, rel=0.02)


@pytest.mark.skipif(sys.platform != "linux", reason="reads the memory files of Linux")
def test_available_memory_is_the_smallest_limit(tmp_path, monkeypatch):
    assert memory.available_bytes() > 0
    folders = [tmp_path / "own", tmp_path]
    folders[0].mkdir()
    monkeypatch.setattr(memory, "group_folders", lambda controller: folders)
    unlimited = memory.available_bytes()
    for folder, limit, use, cache in zip(folders, (2_000_000, 1_000_000), *VERSIONS, strict=True):
        (folder / LIMITS[use]).write_text(f"{limit}\n")
        (folder / use).write_text("400000\n")
        (folder / "memory.stat").write_text(f"anon 5\n{cache} 100000\n")
    assert memory.available_bytes() == 700_000
    for use in LIMITS.values():
        for folder in folders:
            (folder / use).write_text("max\n")
    assert memory.available_bytes() == pytest.approx(unlimited, rel=0.5)
    monkeypatch.setattr(memory, "_MEMINFO", tmp_path / "none")
    assert memory.available_bytes() == pytest.approx(psutil.virtual_memory().available, rel=0.5)


@pytest.mark.parametrize(
    ("size", "expected"),
    [("832MB", 832_000_000), ("1.5 GiB", 3 << 29), ("2g", 2 * 10**9), ("7", 7), ("20 X", None), ("-1", None)],
)
def test_memory_is_a_size(uqcli, rows, size, expected):
    outcome = uqcli("tce", "d.parquet", "-q", f"--memory={size}")
    assert outcome.code == (2 if expected is None else 0)
    assert expected is None or memory.kept_bytes() == expected


@pytest.mark.parametrize(
    ("typed", "limits", "kept", "limit"),
    [
        (None, {"available": 40 << 30}, 10 << 30, math.inf),
        (None, {"available": 1 << 30}, 1 << 28, math.inf),  # the quarter only steers
        (None, {"available": 40 << 30, "group": 600_000_000}, 350_000_000, 350_000_000),
        (None, {"available": 1 << 30, "group": 1 << 30}, 1 << 28, (1 << 30) - memory.PROGRAM_BYTES),
        ("2GB", {"available": 1 << 30}, 2 * 10**9, 2 * 10**9),
        ("2GB", {"available": 1 << 30, "group": 600_000_000}, 350_000_000, 350_000_000),
        (None, {"group": 1000}, 0, 0),
        (None, {}, 832_000_000, math.inf),
    ],
)
def test_the_budget_is_the_limit_or_a_quarter_of_what_is_available(monkeypatch, typed, limits, kept, limit):
    set_limits(monkeypatch, **limits)
    memory.limit_kept(typed)
    assert (memory.kept_bytes(), memory.limit_bytes()) == (kept, limit)


def test_of_addresses_those_of_the_start_the_threads_and_the_libraries_are_taken_off(monkeypatch):
    monkeypatch.setattr(memory, "threads", lambda: 3)
    set_limits(monkeypatch, available=40 << 30, shell=memory.least_addresses() + 1234)
    assert memory.least_addresses() == memory.mapped_at_start + 3 * 64_000_000 + 700_000_000
    assert memory.limit_bytes() == memory.kept_bytes() == 1234


def test_what_fits_into_the_available_memory_is_never_refused(monkeypatch):
    set_limits(monkeypatch, available=10**9)
    monkeypatch.setattr(memory, "resident_bytes", lambda: memory.PROGRAM_BYTES)
    memory.require_allowed(10**9, "", "")
    with pytest.raises(
        DataError, match=r"about 1.1 GB of memory, and 1 GB are allowed; expected .*memory 1.1GB"
    ):
        memory.require_allowed(10**9 + 1, "the rows take", "")
    memory.limit_kept("500MB")
    with pytest.raises(DataError, match=r"0\.5 GB are allowed"):
        memory.require_allowed(10**9, "the rows take", "")


@pytest.mark.skipif(sys.platform != "linux", reason="reads the memory files of Linux")
@pytest.mark.parametrize("name", LIMITS.values())
def test_the_limit_of_a_control_group_is_the_least_of_its_parents(tmp_path, monkeypatch, name):
    folders = [tmp_path / "own", tmp_path]
    folders[0].mkdir()
    monkeypatch.setattr(memory, "group_folders", lambda controller: folders)
    assert memory._group_limit() == math.inf
    for folder, limit in zip(folders, (9223372036854771712, 700_000_000), strict=True):
        (folder / name).write_text(f"{limit}\n")
    assert memory._group_limit() == 700_000_000
    (tmp_path / name).write_text("max\n")
    assert memory._group_limit() == math.inf


@pytest.mark.parametrize(
    "line", [("boundary", "d.csv", "--precision", "0.5"), ("calibrate", "d.csv", "--method", "platt")]
)
def test_no_limit_of_memory_changes_a_byte(uqcli, rows, line):
    expected, small = uqcli(*line, "--json"), uqcli(*line, "--json", "--memory", "9kB")
    assert (small.out, small.code) == (expected.out, expected.code)
    if line[0] == "calibrate":  # one pass is enough
        return
    note = b"3,000 of them are read again in each pass"
    assert note in uqcli(*line, "--verbose", "--memory", "9kB").out.replace(b"\n", b" ")
    assert note not in uqcli(*line, "--verbose").out.replace(b"\n", b" ")


@pytest.mark.parametrize("job", ["boundary", "evaluate", "tce"])
@pytest.mark.parametrize("ending", ["parquet", "csv"])
def test_clusters_that_do_not_fit_are_refused_with_the_memory_they_need(
    uqcli, rows, tmp_path, monkeypatch, job, ending
):
    monkeypatch.setattr(refusals, "_FEW_CLUSTERS", 100)
    frame = rows.with_columns(customer=pl.int_range(ROWS) // 2)
    getattr(frame, f"write_{ending}")(tmp_path / f"c.{ending}")
    assert uqcli("boundary", "d.parquet", "--precision", "0.5", "-o", "rule.json", "-q").code == 0
    rule = ["rule.json"] if job == "evaluate" else []
    target = ["--precision", "0.5"] if job == "boundary" else []
    line = [job, *rule, f"c.{ending}", *target, "--cluster", "customer", "-q"]
    needed = ROWS // 2 * refusals._BYTES_PER_CLUSTER
    assert uqcli(*line, "--memory", str(needed)).code == 0
    outcome = uqcli(*line, "--memory", str(needed - 1))
    assert outcome.code == 3
    assert "column 'customer'" in outcome.err
    stated = float(re.search(r"take about (\S+) GB of memory", outcome.err)[1])
    assert stated * 1e9 == pytest.approx(needed, rel=0.1)


def test_clusters_are_refused_as_soon_as_too_many_are_met(uqcli, rows, tmp_path, monkeypatch):
    monkeypatch.setattr(refusals, "_FEW_CLUSTERS", 100)
    frame = rows.with_columns(customer=pl.int_range(ROWS))
    for part in range(3):
        frame.with_columns(pl.col("customer") + part * ROWS).write_parquet(tmp_path / f"c{part}.parquet")
    outcome = uqcli(
        "tce", *(f"c{part}.parquet" for part in range(3)), "--cluster", "customer", "--memory=1MB"
    )
    assert outcome.code == 3
    first, met = re.search(r"has (\S+) values in the first (\S+) rows", outcome.err).groups()
    assert first == met
    assert int(met.replace(",", "")) == ROWS


def test_clusters_may_take_the_memory_that_is_free(uqcli, rows, tmp_path, monkeypatch):
    monkeypatch.setattr(refusals, "_FEW_CLUSTERS", 100)
    rows.with_columns(customer=pl.int_range(ROWS)).write_parquet(tmp_path / "c.parquet")
    line = ["tce", "c.parquet", "--cluster", "customer", "-q"]
    still_to_come = ROWS * (refusals._BYTES_PER_CLUSTER - refusals._BYTES_MET)
    for free, code in ((still_to_come, 0), (still_to_come - 1, 3), (math.inf, 0)):
        set_limits(monkeypatch, available=free)
        monkeypatch.setattr(memory, "resident_bytes", lambda: memory.PROGRAM_BYTES)
        assert uqcli(*line).code == code


@given(values=st.integers(1, 50), rows=st.integers(1, 200), more=st.integers(0, 500))
def test_distinct_values_of_all_rows_are_those_of_equally_frequent_ones(values, rows, more):
    met = values * (1 - (1 - 1 / values) ** rows)
    distinct = min(rows, max(1, round(met)))
    estimate = refusals.distinct_expected(distinct, rows, rows + more)
    assert distinct - 1e-6 <= estimate <= distinct + more + 1e-6
    assert refusals.distinct_expected(distinct, rows, rows) == pytest.approx(distinct)


def bytes_read():
    counters = Path("/proc/self/io").read_text().splitlines()
    return int(next(line for line in counters if line.startswith("rchar")).split()[1])


@pytest.mark.parametrize("command", ["boundary", "evaluate"])
def test_texts_of_a_column_that_nobody_needs_are_not_read(uqcli, tmp_path, command):
    """A look at the first rows reads the first page of a column, not its whole row group."""
    random = np.random.default_rng(0)
    score = random.random(20_000).round(3)
    note = [f"{number:032x}" * 15 for number in random.integers(1 << 62, size=len(score)).tolist()]
    rows = pl.DataFrame(
        {"score": score, "label": (random.random(len(score)) < score).astype(int), "note": note}
    )
    rows.write_parquet(tmp_path / "rows.parquet", compression="uncompressed", row_group_size=len(rows))
    uqcli("boundary", "rows.parquet", "--precision", "0.6", "-o", "rule.json", "-q")
    words = ("rows.parquet", "--precision", "0.6") if command == "boundary" else ("rule.json", "rows.parquet")
    before = bytes_read()
    assert uqcli(command, *words, "-q").code == 0
    assert bytes_read() - before < (tmp_path / "rows.parquet").stat().st_size // 2
