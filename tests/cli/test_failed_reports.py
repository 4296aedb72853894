"""Tests of reports after failed runs: they state the error, and other files stay unchanged."""

import json
import os
import re
import resource
import signal
import subprocess
import time

import pytest

from tests.cli.cases import CASES
from tests.cli.conftest import NO_BYTECODE, PROGRAM
from tests.cli.test_reports import FORMATS, cases_of, csv_metrics, samples

JSON_CASES = [case for case in CASES if case.json]
REPORT_OPTIONS = [word for ending in FORMATS for word in ("--report", f"r.{ending}")]


def write_old_reports(folder):
    """Write the reports of an earlier successful run."""
    for ending in FORMATS:
        (folder / f"r.{ending}").write_text("old and green")
    (folder / "r.csv").write_text("command,key,value,low,high\ntce,up,1,,\n")


def require_failures(folder, command, code, message):
    """Require the error in each report format."""
    error = json.loads((folder / "r.json").read_text())
    assert (error["command"], error["error"]["exit"]) == (command, code)
    assert set(error["error"]) == {"exit", "found", "expected", "remedy"}
    assert message in error["error"]["found"]
    name, kinds, (failure_message,) = cases_of(folder / "r.xml")["result"]
    assert (name, kinds, message in failure_message) == (f"uqcli.{command}.run", ["Error"], True)
    assert samples((folder / "r.prom").read_text()) == {("uqcli_up", (("command", command),)): 0}
    assert csv_metrics(folder / "r.csv") == {"up": (0, None, None)}
    for ending in ("md", "html"):
        assert f"Error (exit code {code}): " in (folder / f"r.{ending}").read_text()


@pytest.mark.covering("thorough")
@pytest.mark.parametrize("case", JSON_CASES, ids=lambda case: case.name)
@pytest.mark.parametrize(
    ("options", "code", "message"),
    [
        (("--seed", "-1", "--threads", "0"), 2, "--seed"),
        (("--no-such-option",), 2, "No such option"),
        (("--fail-if", "nothing > 1"), 2, "no metric 'nothing'"),
    ],
    ids=["value", "option", "check"],
)
def test_usage_errors_are_reported(uqcli, case, data, artifact, tmp_path, options, code, message):
    write_old_reports(tmp_path)
    outcome = uqcli(*case.arguments(data, artifact), *REPORT_OPTIONS, *options, "--json")
    assert outcome.code == code
    assert outcome.json == json.loads((tmp_path / "r.json").read_text())
    if "No such option" in outcome.err:
        message = "No such option"
    require_failures(tmp_path, case.name, code, message)


@pytest.mark.parametrize(
    "case", [json_case for json_case in JSON_CASES if json_case.reads_data], ids=lambda case: case.name
)
def test_unusable_rows_are_reported(uqcli, case, artifact, tmp_path):
    for content in (None, "score\nhalf"):
        write_old_reports(tmp_path)
        if content is not None:
            (tmp_path / "d.csv").write_text(content)
        outcome = uqcli(*case.arguments("d.csv", artifact), *REPORT_OPTIONS, "-q")
        assert (outcome.code, outcome.out) == (3, b"")
        require_failures(tmp_path, case.name, 3, "d.csv")


def test_infeasible_targets_keep_their_report_with_the_error(uqcli, tmp_path):
    (tmp_path / "d.csv").write_text("score,label\n0.9,1\n0.9,0\n0.5,0\n")
    write_old_reports(tmp_path)
    line = ("boundary", "d.csv", "--precision", "0.75", "--uncertainty-bins", "1")
    outcome = uqcli(*line, *REPORT_OPTIONS, "--json")
    assert outcome.code == 4
    assert outcome.json == json.loads((tmp_path / "r.json").read_text())
    assert outcome.json["error"]["exit"] == 4
    assert outcome.json["error"]["found"].startswith("no boundary reaches precision 75 %")
    assert outcome.json["metrics"]["best_precision"] == 0.5
    assert cases_of(tmp_path / "r.xml")["result"][1] == ["Error"]
    metrics = samples((tmp_path / "r.prom").read_text())
    assert metrics["uqcli_up", (("command", "boundary"),)] == 0
    assert metrics["uqcli_boundary_best_precision", ()] == 0.5
    assert csv_metrics(tmp_path / "r.csv")["up"] == (0, None, None)
    assert csv_metrics(tmp_path / "r.csv")["best_precision"] == (0.5, None, None)


def test_a_failed_check_is_a_finished_run(uqcli, data, artifact, tmp_path):
    assert uqcli("evaluate", artifact, data, "-q", *REPORT_OPTIONS, "--fail-if", "rows > 1").code == 6
    assert "error" not in json.loads((tmp_path / "r.json").read_text())
    assert samples((tmp_path / "r.prom").read_text())["uqcli_up", (("command", "evaluate"),)] == 1


@pytest.mark.parametrize("source", ["environment", "file"])
def test_configured_reports_state_the_error(uqcli, data, artifact, tmp_path, monkeypatch, source):
    write_old_reports(tmp_path)
    if source == "environment":
        monkeypatch.setenv("UQCLI_EVALUATE_REPORT", "r.xml")
    else:
        (tmp_path / "c.toml").write_text('[evaluate]\nreport = ["r.xml"]\n')
    config = ("--config", "c.toml") if source == "file" else ()
    assert uqcli("evaluate", artifact, "nowhere.csv", *config).code == 3
    assert cases_of(tmp_path / "r.xml")["result"][1] == ["Error"]
    assert (tmp_path / "r.md").read_text() == "old and green"


def test_an_unknown_command_is_reported(uqcli, tmp_path):
    write_old_reports(tmp_path)
    assert uqcli("evalute", "b.json", "d.csv", *REPORT_OPTIONS).code == 2
    require_failures(tmp_path, "evalute", 2, "evalute")


def test_reports_never_overwrite_inputs_and_rule_files(uqcli, data, artifact, tmp_path):
    """Other files of the command line, and all rule files, stay unchanged."""
    content = artifact.read_bytes()
    (tmp_path / "link.json").symlink_to(artifact)
    os.link(artifact, tmp_path / "hard.json")
    (tmp_path / "kept.md").write_text("rows")
    for name in (artifact, "link.json", "hard.json", "./boundary.json"):
        assert uqcli("evaluate", artifact, data, "--report", name).code == 2
        assert uqcli("evaluate", artifact, "nowhere.csv", "--report", name).code in (2, 3)
        assert uqcli("tce", data, "--report", name, "--no-such-option").code == 2  # the line does not name it
    for words in (("kept.md",), ("kept.*",), (data, "-o", "kept.md"), (data, "--plot=kept.md")):
        assert uqcli("tce", *words, "--report", "kept.md").code in (2, 3)
        assert uqcli("bin", *words, "--report", "kept.md").code in (2, 3)
    assert artifact.read_bytes() == content
    assert (tmp_path / "kept.md").read_text() == "rows"
    assert uqcli("tce", data, "--report", "r.txt").code == 2
    assert uqcli("tce", "nowhere.csv", "--report", "missing/r.xml").code == 3
    assert sorted(path.name for path in tmp_path.iterdir()) == [
        "boundary.json",
        "data.parquet",
        "hard.json",
        "kept.md",
        "link.json",
    ]


def test_reports_keep_links_and_modes(uqcli, tmp_path):
    (tmp_path / "far.xml").write_text("old")
    (tmp_path / "far.xml").chmod(0o640)
    (tmp_path / "r.xml").symlink_to("far.xml")
    assert uqcli("tce", "nowhere.csv", "--report", "r.xml").code == 3
    assert (tmp_path / "r.xml").is_symlink()
    assert (tmp_path / "far.xml").stat().st_mode & 0o777 == 0o640
    assert cases_of(tmp_path / "far.xml")["result"][1] == ["Error"]


@pytest.mark.covering("faults", every=4)
@pytest.mark.parametrize("signal_number", [signal.SIGINT, signal.SIGTERM, signal.SIGHUP, signal.SIGXCPU])
def test_signals_are_reported(single, large_file, tmp_path, signal_number):
    write_old_reports(tmp_path)
    code = 128 + signal_number
    process = subprocess.Popen(
        [*PROGRAM, "apply", single, large_file, "-o", "out.csv", "--json", *REPORT_OPTIONS],
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        cwd=tmp_path,
    )
    while not [path for path in tmp_path.iterdir() if path.name.startswith(".out.csv")]:
        time.sleep(0.01)
        assert process.poll() is None
    process.send_signal(signal_number)
    stdout, _ = process.communicate()
    assert process.returncode == code
    assert json.loads(stdout)["error"]["exit"] == code
    require_failures(tmp_path, "apply", code, "the run was ")
    assert not (tmp_path / "out.csv").exists()
    assert not [path for path in tmp_path.iterdir() if path.name.startswith(".")]


@pytest.mark.faults
@pytest.mark.parametrize(("file_size", "reports_fit"), [(2000, True), (10, False)])
def test_reports_never_claim_files_that_were_not_written(data, tmp_path, file_size, reports_fit):
    """If the page does not fit, uqcli writes no rule file, and no report names it."""
    write_old_reports(tmp_path)
    (tmp_path / "b.json").write_text("old")
    line = [
        "boundary",
        data,
        "--precision",
        "0.7",
        "--algorithm",
        "st",
        "-o",
        "b.json",
        *REPORT_OPTIONS,
        "-q",
    ]
    process = subprocess.run(
        [*PROGRAM, *map(str, line)],
        cwd=tmp_path,
        capture_output=True,
        preexec_fn=lambda: resource.setrlimit(resource.RLIMIT_FSIZE, (file_size, file_size)),
        env={**os.environ, **NO_BYTECODE},
        check=False,
    )
    assert process.returncode == 3
    assert re.fullmatch(rb"error: cannot write '[\w.]+': File too large[^\n]*\n", process.stderr)
    assert (tmp_path / "b.json").read_text() == "old"
    if reports_fit:
        require_failures(tmp_path, "boundary", 3, "File too large")
    else:
        assert not [ending for ending in FORMATS if (tmp_path / f"r.{ending}").exists()]


@pytest.mark.faults
def test_report_files_state_that_standard_output_failed(single, tmp_path):
    with open("/dev/full", "wb") as full:  # noqa: PTH123
        line = [*PROGRAM, "boundary", "fit.csv", "--precision", "1", "--algorithm", "st", *REPORT_OPTIONS]
        process = subprocess.run(line, cwd=tmp_path, stdout=full, stderr=subprocess.PIPE, check=False)
    assert process.returncode == 3
    require_failures(tmp_path, "boundary", 3, "standard output")


@pytest.mark.faults
def test_reports_are_written_last(uqcli, data, tmp_path, monkeypatch):
    """A report is written after all files that it names; a .prom file says first that a run has begun."""
    replaced = []
    real_replace = os.replace

    def replace(source, target):
        real_replace(source, target)
        replaced.append(os.path.basename(target))  # noqa: PTH119

    monkeypatch.setattr(os, "replace", replace)
    line = ("boundary", data, "--precision", "0.7", "--frontier", "f.csv", "-o", "b.json", "--plot", "p.png")
    assert uqcli(*line, *REPORT_OPTIONS, "-q").code == 0
    assert replaced == ["r.prom", "f.csv", "b.json", *(f"r.{ending}" for ending in FORMATS), "p.png"]
