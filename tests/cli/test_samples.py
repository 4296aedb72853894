"""Tests of the samples of .prom reports: labels that tell runs apart, and a run that has not ended."""

import errno
import math
import os
import re
import subprocess
import time

import pytest
from prometheus_client.parser import text_string_to_metric_families

from tests.cli.cases import CASES
from tests.cli.conftest import PROGRAM
from tests.cli.test_reports import JSON_CASES, name_of
from tests.cli.test_watch import rows, write_files
from tests.documentation.reference import DOCS
from tests.hang import HANGS_AFTER
from uqcli.cli import failed_run

REPORT = ("-q", "--report", "night.prom")


@pytest.fixture
def files(prepared):
    prepared(write_files)


def parsed(path):
    """Return name, labels and value of each sample of a file."""
    families = text_string_to_metric_families(path.read_text())
    return [(sample.name, sample.labels, sample.value) for family in families for sample in family.samples]


@pytest.mark.parametrize("case", JSON_CASES, ids=name_of)
def test_every_sample_names_its_run_its_rule_and_the_tags(uqcli, case, data, artifact, tmp_path):
    tags = ("--tag", "team=fraud", "--tag", "Region=a,b=c")
    line = case.arguments(data, artifact)
    assert uqcli(*line, "-q", *tags, "--report", "of.the.night.prom").code == 0
    samples = parsed(tmp_path / "of.the.night.prom")
    rule = {str(artifact)} if artifact in line and case.name not in ("boundary", "sample", "bin") else {None}
    for name, labels, _ in samples:
        assert (labels["run"], labels["team"], labels["Region"]) == ("of.the.night", "fraud", "a,b=c")
        assert name.endswith("_artifact_info") or {labels.get("artifact")} == rule, name


def test_two_rules_watched_into_one_folder_share_no_series(uqcli, files, tmp_path):
    assert uqcli("boundary", "fit.csv", "--precision", "0.6", "-q", "-o", "other.json").code == 0
    series = []
    for name in ("rule", "other"):
        line = ("watch", f"{name}.json", "kept0.csv", "--state", f"{name}.state.json")
        assert uqcli(*line, "-q", "--report", f"{name}.prom").code == 0
        series += [
            (sample, tuple(sorted(labels.items()))) for sample, labels, _ in parsed(tmp_path / f"{name}.prom")
        ]
    assert len(set(series)) == len(series)


def test_no_label_changes_with_each_batch(uqcli, files, tmp_path):
    line = ("watch", "rule.json", "--state", "state.json", *REPORT)
    series = []
    for number in range(2):
        assert uqcli(*line[:2], f"kept{number}.csv", *line[2:]).code == 0
        series.append([sample[:2] for sample in parsed(tmp_path / "night.prom")])
    assert series[0] == series[1]


def test_ends_of_the_interval_of_an_undefined_rate_are_undefined(uqcli, files, tmp_path):
    (tmp_path / "low.csv").write_text("score,uncertainty,label\n" + "0.01,0.5,0\n" * 50)
    assert uqcli("evaluate", "rule.json", "low.csv", *REPORT).code == 0
    ends = [
        value
        for name, _, value in parsed(tmp_path / "night.prom")
        if name.startswith("uqcli_evaluate_precision")
    ]
    assert len(ends) == 3
    assert all(map(math.isnan, ends))


@pytest.mark.parametrize("is_first", [True, False], ids=["first", "later"])
def test_a_killed_run_is_seen(uqcli, files, tmp_path, is_first):
    path = tmp_path / "night.prom"
    line = ["evaluate", "rule.json", "-", "--format", "csv", *REPORT, "--tag", "team=fraud"]
    if not is_first:
        assert uqcli(*line, stdin=(tmp_path / "kept0.csv").read_bytes()).code == 0
        old = parsed(path)
    with subprocess.Popen([*PROGRAM, *line], cwd=tmp_path, stdin=subprocess.PIPE) as process:
        while not path.exists() or parsed(path)[0][2] == 1:
            assert process.poll() is None
            time.sleep(0.01)
        process.kill()
    labels = {"command": "evaluate", "run": "night", "artifact": "rule.json", "team": "fraud"}
    (up, *others) = parsed(path)
    assert up == ("uqcli_up", labels, 0)
    assert others == ([] if is_first else old[1:])


def test_a_run_marks_only_what_its_report_will_replace(uqcli, files, tmp_path):
    rows(5).write_csv("night.prom")  # an input of this name
    before = (tmp_path / "night.prom").read_bytes()
    assert uqcli("tce", "night.prom", "--format", "csv", *REPORT).code == 2
    assert (tmp_path / "night.prom").read_bytes() == before


def test_a_failed_run_has_the_labels_of_the_run(uqcli, files, tmp_path):
    assert uqcli("evaluate", "rule.json", "nothing.csv", *REPORT, "--tag", "team=fraud").code == 3
    labels = {"command": "evaluate", "run": "night", "artifact": "rule.json", "team": "fraud"}
    assert parsed(tmp_path / "night.prom") == [("uqcli_up", labels, 0)]


USED = [
    "job",
    "instance",
    "run",
    "artifact",
    "class",
    "group",
    "bound",
    "method",
    "command",
    "size",
    "digest",
]


@pytest.mark.parametrize(
    "tag", ["team", "=x", "1a=x", "a-b=x", "__name__=x", "ä=x", *(f"{key}=x" for key in USED)]
)
def test_labels_that_something_uses_are_refused(uqcli, files, tag):
    outcome = uqcli("evaluate", "rule.json", "kept0.csv", *REPORT, "--tag", tag)
    assert outcome.code == 2
    assert f"--tag '{tag}'" in outcome.err


def test_a_label_is_given_once_and_needs_samples(uqcli, files):
    line = ("evaluate", "rule.json", "kept0.csv", "-q", "--tag", "team=a")
    assert "given twice" in uqcli(*line, "--tag", "team=b", "--report", "night.prom").err
    assert "--report FILE.prom" in uqcli(*line).err


def test_every_command_with_reports_takes_tags(uqcli):
    for case in CASES:
        if case.json:
            assert "--tag" in uqcli(case.name, "--help").out.decode(), case.name


def test_the_alerting_rules_name_metrics_that_there_are(uqcli, files, tmp_path):
    text = (DOCS / "how-to" / "alerts.yml").read_text()
    named = set(re.findall(r"\buqcli_\w+", text))
    written = set()
    for command, more in (("evaluate", ()), ("watch", ("--state", "state.json"))):
        assert uqcli(command, "rule.json", "kept0.csv", *more, *REPORT).code == 0
        written |= {name for name, _, _ in parsed(tmp_path / "night.prom")}
    assert named <= written
    assert {"uqcli_up", "uqcli_watch_alarm", "uqcli_watch_change_alarm"} <= named


def test_a_fifo_is_neither_read_nor_changed_when_a_run_starts(files, tmp_path):
    os.mkfifo(tmp_path / "night.prom")
    for name, code in (("kept0.csv", 0), ("nothing.csv", 3)):
        process = subprocess.Popen([*PROGRAM, "evaluate", "rule.json", name, *REPORT], cwd=tmp_path)
        if not code:
            assert (tmp_path / "night.prom").read_text().startswith("# HELP uqcli_up ")
        assert process.wait(30) == code


def test_standard_output_by_a_link_gets_the_samples(files, tmp_path):
    (tmp_path / "night.prom").symlink_to("/dev/stdout")
    line = [*PROGRAM, "evaluate", "rule.json", "kept0.csv", *REPORT]
    process = subprocess.run(
        line, cwd=tmp_path, capture_output=True, text=True, timeout=HANGS_AFTER, check=False
    )
    assert process.returncode == 0
    assert process.stdout.count("# HELP uqcli_up ") == 1


def test_a_full_disk_keeps_the_samples_of_the_last_run(uqcli, files, tmp_path, monkeypatch):
    def open_(path, flags, *arguments, **options):
        if flags & os.O_CREAT and ".night.prom." in os.fspath(path):
            raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))
        return before(path, flags, *arguments, **options)

    before = os.open
    assert uqcli("evaluate", "rule.json", "kept0.csv", *REPORT).code == 0
    old = parsed(tmp_path / "night.prom")
    monkeypatch.setattr("os.open", open_)
    failed_run.find_reports(["evaluate", *REPORT])
    failed_run.mark_started()
    assert parsed(tmp_path / "night.prom") == [(*old[0][:2], 0), *old[1:]]


@pytest.mark.parametrize(
    "more", [("--fail-if", "recall <"), ("--plot", "nowhere/x.svg"), ("--report", "nowhere/x.html")]
)
def test_what_is_refused_before_the_run_has_the_labels_of_the_run(uqcli, files, tmp_path, more):
    outcome = uqcli("evaluate", "rule.json", "kept0.csv", *REPORT, "--tag", "team=fraud", *more)
    assert outcome.code in (2, 3)
    labels = {"command": "evaluate", "run": "night", "artifact": "rule.json", "team": "fraud"}
    assert parsed(tmp_path / "night.prom") == [("uqcli_up", labels, 0)]
