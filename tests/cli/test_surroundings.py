"""Tests of limits, environments and settings: they change no result, or an error names them."""

import importlib.util
import os
import pty
import resource
import subprocess

import numpy as np
import polars as pl
import pytest

from tests.cli.conftest import PROGRAM, in_one_process
from tests.hang import HANGS_AFTER
from uqcli.base.running import machine, memory
from uqcli.cli import process as process_of_run


def run(*words, environment=None, limits=(), **options):
    def limit():
        for kind, value in limits:
            resource.setrlimit(kind, (value, value))

    return subprocess.run(
        [*PROGRAM, *map(str, words)],
        capture_output=True,
        check=False,
        timeout=HANGS_AFTER,
        preexec_fn=limit,
        env={**os.environ, **(environment or {})},
        **options,
    )


@pytest.mark.faults
def test_python_without_docstrings_gives_equal_results(data, artifact):
    lines = [
        ("boundary", data, "--precision", "0.5", "--json"),
        ("calibrate", data, "--json"),
        ("apply", artifact, data),
        ("show", "--schema", "boundary"),
    ]
    help_lines = [(line[0], "--help") for line in lines]
    expected_outcomes = in_one_process(lines)
    outcomes = in_one_process([*lines, *help_lines], environment={"PYTHONOPTIMIZE": "2"})
    for line, expected, outcome in zip(lines, expected_outcomes, outcomes[: len(lines)], strict=True):
        assert (outcome.code, outcome.err) == (0, ""), line
        assert outcome.out == expected.out, line
    for line, shown in zip(help_lines, outcomes[len(lines) :], strict=True):
        assert b"Examples:" in shown.out, line


@pytest.mark.faults
@pytest.mark.usefixtures("real_figures")
@pytest.mark.skipif(importlib.util.find_spec("matplotlib") is None, reason="figures need matplotlib")
@pytest.mark.parametrize(
    "settings",
    [
        {"MPLBACKEND": "module://matplotlib_inline.backend_inline"},
        {"MPLCONFIGDIR": "/proc/none"},
        "font.size: 30\naxes.facecolor: red\nsvg.hashsalt: other\nsavefig.dpi: 10\nbackend: none\nno line\n",
    ],
    ids=str,
)
def test_settings_of_matplotlib_change_no_figure(uqcli, data, tmp_path, settings):
    assert uqcli("bin", data, "-q", "--plot", tmp_path / "plain.png").code == 0  # by this process
    folder = tmp_path / "folder"
    folder.mkdir()
    if isinstance(settings, str):
        (folder / "matplotlibrc").write_text(settings)
    environment = settings if isinstance(settings, dict) else {}
    process = run("bin", data, "-q", "--plot", "same.png", environment=environment, cwd=folder)
    assert (process.returncode, process.stdout, process.stderr) == (0, b"", b"")
    assert (tmp_path / "plain.png").read_bytes() == (folder / "same.png").read_bytes()


@pytest.mark.skipif(importlib.util.find_spec("matplotlib") is None, reason="figures need matplotlib")
def test_a_matplotlibrc_that_is_no_text_is_named(data, tmp_path):
    (tmp_path / "settings").mkdir()
    (tmp_path / "settings" / "matplotlibrc").write_bytes(b"\xff\xfe\x00")
    settings = {"MPLCONFIGDIR": str(tmp_path / "settings")}
    process = run("bin", data, "-q", "--plot", "p.png", cwd=tmp_path, environment=settings)
    assert process.returncode == 2
    assert b"matplotlibrc" in process.stderr
    assert len(process.stderr.splitlines()) == 1


@pytest.mark.covering("faults", every=2)
@pytest.mark.parametrize("words", [("tce", "{data}"), ("tce", "--help")], ids=str)
def test_no_color_overrides_other_variables(data, words):
    line = [word.format(data=data) for word in words]
    color_variables = dict.fromkeys(("FORCE_COLOR", "PY_COLORS", "TTY_COMPATIBLE"), "1")
    process = run(*line, environment={"NO_COLOR": "1", **color_variables})
    assert process.returncode == 0
    assert b"\x1b" not in process.stdout


@pytest.mark.faults
@pytest.mark.parametrize("columns", ["0", "99999999999999999999"])
def test_impossible_numbers_of_columns_are_ignored(uqcli, data, columns, monkeypatch):
    monkeypatch.delenv("COLUMNS", raising=False)
    lines = [("tce", "--help"), ("tce", data)]
    plain = [uqcli(*line).out for line in lines]
    assert [outcome.out for outcome in in_one_process(lines, environment={"COLUMNS": columns})] == plain
    primary, secondary = pty.openpty()
    process = subprocess.Popen(
        [*PROGRAM, "bin", str(data)],
        stdout=secondary,
        stderr=secondary,
        env={**os.environ, "COLUMNS": columns},
    )
    os.close(secondary)
    shown = b""
    try:
        while chunk := os.read(primary, 1 << 16):
            shown += chunk
    except OSError:  # the terminal's other end is closed
        pass
    os.close(primary)
    assert process.wait(30) == 0
    assert b"uncertainty" in shown


@pytest.mark.covering("faults", every=4)
@pytest.mark.parametrize(
    ("kind", "value", "message"),
    [
        (resource.RLIMIT_NOFILE, 8, b"the limit of open files is 8"),
        (resource.RLIMIT_AS, 100_000 << 10, b"the memory limit is 97 MiB"),
        (resource.RLIMIT_AS, 300_000 << 10, b"raise it with ulimit -v "),
        (resource.RLIMIT_AS, 900_000 << 10, b"memory"),
    ],
)
def test_limits_that_crash_libraries_are_named(data, artifact, tmp_path, kind, value, message):
    for words in (
        ("boundary", data, "--precision", "0.5", "-q", "-o", "o.json", "--report", "r.json"),
        ("apply", artifact, data, "-q", "-o", "o.csv", "--report", "r.json"),
    ):
        process = run(*words, limits=[(kind, value)], cwd=tmp_path)
        assert process.returncode == 3
        assert message in process.stderr
        assert len(process.stderr.splitlines()) == 1
        assert b'"exit": 3' in (tmp_path / "r.json").read_bytes()
        assert not list(tmp_path.glob("o.*"))


@pytest.mark.faults
def test_the_smallest_documented_limits_suffice(data, artifact, tmp_path):
    limits = [(resource.RLIMIT_NOFILE, 32), (resource.RLIMIT_AS, memory.least_addresses() + 300_000_000)]
    for words in (
        ("boundary", data, "--precision", "0.5", "-q", "-o", "o.json"),
        ("apply", artifact, data, "-q", "-o", "o.csv"),
    ):
        process = run(*words, limits=limits, cwd=tmp_path)
        assert (process.returncode, process.stderr) == (0, b"")
    assert run("--version", limits=[(resource.RLIMIT_NOFILE, 8)]).returncode == 0


CPU_KINDS = [{"OPENBLAS_CORETYPE": "Prescott"}, {"NPY_DISABLE_CPU_FEATURES": "X86_V3"}]


@pytest.fixture(scope="module")
def classes(tmp_path_factory):
    folder = tmp_path_factory.mktemp("classes")
    random = np.random.default_rng(3)
    for name, prior in (("source", (0.5, 0.3, 0.2)), ("target", (0.2, 0.3, 0.5))):
        label = random.choice(3, 1000, p=prior)
        log_odds = random.normal(size=(1000, 3)) + 1.5 * (np.arange(3) == label[:, None])
        share = np.exp(log_odds) / np.exp(log_odds).sum(axis=1, keepdims=True)
        frame = pl.DataFrame(
            {**{f"p_{class_number}": share[:, class_number] for class_number in range(3)}, "label": label}
        )
        frame.write_csv(folder / f"{name}.csv")
    return folder


@pytest.mark.faults
def test_results_are_byte_identical_on_every_kind_of_cpu(data, classes):
    lines = [
        [*line.format(data=data).split(), "--json"]
        for line in (
            "calibrate {data} --method all --bootstrap 20",
            "calibrate source.csv --proba p_* --method all --bootstrap 20",
            "tce {data} --bootstrap 20",
            "shift source.csv --target target.csv --proba p_* --bootstrap 20",
            "shift source.csv --target target.csv --proba p_* --estimator em --bootstrap 20",
        )
    ]
    plain = in_one_process(lines, cwd=classes)
    assert [(outcome.code, outcome.err) for outcome in plain] == [(0, "")] * len(lines)
    for kind in CPU_KINDS:
        for line, expected, outcome in zip(
            lines, plain, in_one_process(lines, environment=kind, cwd=classes), strict=True
        ):
            assert outcome.out == expected.out, (kind, line)


@pytest.mark.covering("faults", every=3)
@pytest.mark.parametrize("threads", ["0", " 0", "00"])
def test_zero_threads_count_as_unset(data, threads):
    process = run("tce", data, "-q", environment={"POLARS_MAX_THREADS": threads})
    assert (process.returncode, process.stderr) == (0, b"")


@pytest.mark.covering("faults", every=4)
@pytest.mark.parametrize(
    "words",
    [
        ("tce", "g.parquet", "--report", "ü.html", "--report", "猫.md"),
        ("tce", "größe.parquet", "--json"),
        ("boundary", "g.parquet", "--precision", "0.5", "-o", "ü.json"),
        ("apply", "rule.json", "g.parquet", "-o", "ü.parquet"),
        ("watch", "rule.json", "g.parquet", "--state", "ü.state"),
        ("tce", "g.parquet", "--score", "größe"),
    ],
    ids=" ".join,
)
def test_names_survive_a_locale_of_ascii(data, artifact, tmp_path, words):
    frame = pl.read_parquet(data).with_columns(größe="score")
    for name in ("g", "größe"):
        frame.write_parquet(tmp_path / f"{name}.parquet")
    (tmp_path / "rule.json").write_bytes(artifact.read_bytes())
    usual, ascii_only = [], []
    for results, environment in ((usual, {}), (ascii_only, {"LC_ALL": "C", "PYTHONUTF8": "0"})):
        process = run(*words, environment=environment, cwd=tmp_path)
        assert process.returncode == 0, process.stderr
        written = {path.name: path.read_bytes() for path in tmp_path.iterdir() if path.name[0] in "ü猫"}
        results += [process.stdout, written]
        for name in written:
            (tmp_path / name).unlink()
    assert usual == ascii_only


@pytest.mark.faults
@pytest.mark.skipif(importlib.util.find_spec("matplotlib") is None, reason="figures need matplotlib")
def test_libraries_read_no_configuration_in_the_working_directory(data, tmp_path):
    words = ("tce", data, "--plot", "plot.svg", "--json")
    assert run(*words, cwd=tmp_path).returncode == 0
    plot = (tmp_path / "plot.svg").read_bytes()
    (tmp_path / ".numba_config.yaml").write_text("DISABLE_JIT: 1\nNUM_THREADS: none\n")
    os.mkfifo(tmp_path / "matplotlibrc")
    process = run(*words, cwd=tmp_path)
    assert (process.returncode, process.stderr) == (0, b"")
    assert (tmp_path / "plot.svg").read_bytes() == plot


def test_a_limit_of_processes_is_named_before_libraries_panic(uqcli, data, monkeypatch, tmp_path):
    words = ("tce", data)
    for current, code in ((990, 3), (10, 0)):
        (tmp_path / "pids.max").write_text("1000\n")
        (tmp_path / "pids.current").write_text(f"{current}\n")
        monkeypatch.setattr(machine, "group_folders", lambda _: [tmp_path])
        outcome = uqcli(*words)
        assert outcome.code == code
        assert ("the control group allows 1000 processes and threads, of which 990 run" in outcome.err) is (
            code == 3
        )
    monkeypatch.setattr(machine, "group_folders", lambda _: [])
    monkeypatch.setattr(
        process_of_run, "limits", lambda name: (100, 100) if name == "NPROC" else (2.0**60, 2.0**60)
    )
    assert uqcli(*words).code == 0

    def refuse(_):
        raise RuntimeError("can't start new thread")

    monkeypatch.setattr(process_of_run.threading.Thread, "start", refuse)
    outcome = uqcli(*words)
    assert outcome.code == 3
    assert "the limit of processes is 100" in outcome.err
    assert "ulimit -u" in outcome.err
