"""After a run that failed, its reports say so: no old one survives, and nothing else is written over."""

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
from tests.cli.test_reports import FORMS, cases_of, samples

JSON = [case for case in CASES if case.json]
ASKED = [word for form in FORMS for word in ("--report", f"r.{form}")]


def old(folder):
    """Green reports of a run before."""
    for form in FORMS:
        (folder / f"r.{form}").write_text("old and green")


def require_failures(folder, command, code, found):
    """Each form tells of the error."""
    error = json.loads((folder / "r.json").read_text())
    assert (error["command"], error["error"]["exit"]) == (command, code)
    assert set(error["error"]) == {"exit", "found", "expected", "remedy"}
    assert found in error["error"]["found"]
    name, kinds, (said,) = cases_of(folder / "r.xml")["result"]
    assert (name, kinds, found in said) == (f"uqcli.{command}.run", ["Error"], True)
    assert samples((folder / "r.prom").read_text()) == {("uqcli_up", (("command", command),)): 0}
    for form in ("md", "html"):
        assert f"Error (exit code {code}): " in (folder / f"r.{form}").read_text()


@pytest.mark.parametrize("case", JSON, ids=lambda case: case.name)
@pytest.mark.parametrize(
    ("more", "code", "found"),
    [
        (("--seed", "-1", "--threads", "0"), 2, "nvalid value"),
        (("--no-such-option",), 2, "No such option"),
        (("--fail-if", "nothing > 1"), 2, "no metric 'nothing'"),
    ],
    ids=["value", "option", "gate"],
)
def test_wrong_usage(uqcli, case, data, artifact, tmp_path, more, code, found):
    old(tmp_path)
    outcome = uqcli(*case.arguments(data, artifact), *ASKED, *more, "--json")
    assert outcome.code == code
    assert outcome.json == json.loads((tmp_path / "r.json").read_text())
    if "No such option" in outcome.err:
        found = "No such option"
    require_failures(tmp_path, case.name, code, found)


@pytest.mark.parametrize("case", [each for each in JSON if each.reads_data], ids=lambda case: case.name)
def test_rows_that_cannot_be_used(uqcli, case, artifact, tmp_path):
    for content in (None, "score\nhalf"):
        old(tmp_path)
        if content is not None:
            (tmp_path / "d.csv").write_text(content)
        outcome = uqcli(*case.arguments("d.csv", artifact), *ASKED, "-q")
        assert (outcome.code, outcome.out) == (3, b"")
        require_failures(tmp_path, case.name, 3, "d.csv")


def test_what_is_infeasible_keeps_its_report_and_adds_the_error(uqcli, tmp_path):
    (tmp_path / "d.csv").write_text("score,label\n0.9,1\n0.9,0\n0.5,0\n")
    old(tmp_path)
    line = ("boundary", "d.csv", "--precision", "0.75", "--uncertainty-bins", "1")
    outcome = uqcli(*line, *ASKED, "--json")
    assert outcome.code == 4
    assert outcome.json == json.loads((tmp_path / "r.json").read_text())
    assert outcome.json["error"]["exit"] == 4
    assert outcome.json["error"]["found"].startswith("no boundary reaches precision 0.75")
    assert outcome.json["metrics"]["best_precision"] == 0.5
    assert cases_of(tmp_path / "r.xml")["result"][1] == ["Error"]
    found = samples((tmp_path / "r.prom").read_text())
    assert found["uqcli_up", (("command", "boundary"),)] == 0
    assert found["uqcli_boundary_best_precision", ()] == 0.5


@pytest.mark.usefixtures("undrawn")
def test_a_failed_gate_is_a_finished_run(uqcli, data, artifact, tmp_path):
    assert uqcli("evaluate", artifact, data, "-q", *ASKED, "--fail-if", "rows > 1").code == 6
    assert "error" not in json.loads((tmp_path / "r.json").read_text())
    assert samples((tmp_path / "r.prom").read_text())["uqcli_up", (("command", "evaluate"),)] == 1


@pytest.mark.parametrize("source", ["environment", "file"])
def test_reports_that_are_configured(uqcli, data, artifact, tmp_path, monkeypatch, source):
    old(tmp_path)
    if source == "environment":
        monkeypatch.setenv("UQCLI_EVALUATE_REPORT", "r.xml")
    else:
        (tmp_path / "c.toml").write_text('[evaluate]\nreport = ["r.xml"]\n')
    config = ("--config", "c.toml") if source == "file" else ()
    assert uqcli("evaluate", artifact, "nowhere.csv", *config).code == 3
    assert cases_of(tmp_path / "r.xml")["result"][1] == ["Error"]
    assert (tmp_path / "r.md").read_text() == "old and green"


def test_an_unknown_command(uqcli, tmp_path):
    old(tmp_path)
    assert uqcli("evalute", "b.json", "d.csv", *ASKED).code == 2
    require_failures(tmp_path, "evalute", 2, "evalute")


def test_nothing_is_written_over_inputs_and_artifacts(uqcli, data, artifact, tmp_path):
    """Whatever else the line names, and whatever is a saved model, stays."""
    kept = artifact.read_bytes()
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
    assert artifact.read_bytes() == kept
    assert (tmp_path / "kept.md").read_text() == "rows"
    assert uqcli("tce", data, "--report", "r.txt").code == 2
    assert uqcli("tce", "nowhere.csv", "--report", "missing/r.xml").code == 3
    assert sorted(each.name for each in tmp_path.iterdir()) == [
        "boundary.json",
        "data.parquet",
        "hard.json",
        "kept.md",
        "link.json",
    ]


def test_links_and_modes_stay(uqcli, tmp_path):
    (tmp_path / "far.xml").write_text("old")
    (tmp_path / "far.xml").chmod(0o640)
    (tmp_path / "r.xml").symlink_to("far.xml")
    assert uqcli("tce", "nowhere.csv", "--report", "r.xml").code == 3
    assert (tmp_path / "r.xml").is_symlink()
    assert (tmp_path / "far.xml").stat().st_mode & 0o777 == 0o640
    assert cases_of(tmp_path / "far.xml")["result"][1] == ["Error"]


@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM, signal.SIGHUP, signal.SIGXCPU])
def test_signals(single, large, tmp_path, number):
    old(tmp_path)
    code = 128 + number
    process = subprocess.Popen(
        [*PROGRAM, "apply", single, large, "-o", "out.csv", "--json", *ASKED],
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        cwd=tmp_path,
    )
    while not [each for each in tmp_path.iterdir() if each.name.startswith(".out.csv")]:
        time.sleep(0.01)
        assert process.poll() is None
    process.send_signal(number)
    out, _ = process.communicate()
    assert process.returncode == code
    assert json.loads(out)["error"]["exit"] == code
    require_failures(tmp_path, "apply", code, "the run was ")
    assert not (tmp_path / "out.csv").exists()
    assert not [each for each in tmp_path.iterdir() if each.name.startswith(".")]


@pytest.mark.parametrize(("room", "left"), [(2000, True), (10, False)])
def test_where_little_fits_no_report_claims_what_was_not_written(data, tmp_path, room, left):
    """The page does not fit: then neither does the artifact take its place, and no report speaks of it."""
    old(tmp_path)
    (tmp_path / "b.json").write_text("old")
    line = ["boundary", data, "--precision", "0.7", "--algorithm", "st", "-o", "b.json", *ASKED, "-q"]
    done = subprocess.run(
        [*PROGRAM, *map(str, line)],
        cwd=tmp_path,
        capture_output=True,
        preexec_fn=lambda: resource.setrlimit(resource.RLIMIT_FSIZE, (room, room)),
        env={**os.environ, **NO_BYTECODE},
        check=False,
    )
    assert done.returncode == 3
    assert re.fullmatch(rb"error: cannot write '[\w.]+': File too large[^\n]*\n", done.stderr)
    assert (tmp_path / "b.json").read_text() == "old"
    if left:
        require_failures(tmp_path, "boundary", 3, "File too large")
    else:
        assert not [form for form in FORMS if (tmp_path / f"r.{form}").exists()]


def test_where_nobody_can_read_the_report_its_files_tell(single, tmp_path):
    with open("/dev/full", "wb") as full:  # noqa: PTH123
        line = [*PROGRAM, "boundary", "fit.csv", "--precision", "1", "--algorithm", "st", *ASKED]
        done = subprocess.run(line, cwd=tmp_path, stdout=full, stderr=subprocess.PIPE, check=False)
    assert done.returncode == 3
    require_failures(tmp_path, "boundary", 3, "standard output")


@pytest.mark.usefixtures("undrawn")
def test_reports_come_last(uqcli, data, tmp_path, monkeypatch):
    """A report takes its place when all files that it names are there."""
    seen = []
    real = os.replace

    def replace(source, target):
        real(source, target)
        seen.append(os.path.basename(target))  # noqa: PTH119

    monkeypatch.setattr(os, "replace", replace)
    line = ("boundary", data, "--precision", "0.7", "--frontier", "f.csv", "-o", "b.json", "--plot", "p.png")
    assert uqcli(*line, *ASKED, "-q").code == 0
    assert seen == ["f.csv", "b.json", *(f"r.{form}" for form in FORMS), "p.png"]
