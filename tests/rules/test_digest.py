"""Tests of the digest of rule files: edited ones are not applied, and guarantee nothing."""

import json
import re

import polars as pl
import pyarrow.ipc
import pyarrow.parquet
import pytest

from tests.cli.conftest import sample_frame
from uqcli.cli.app import run
from uqcli.rules.codec import digest_of

KINDS = {
    "boundary": (
        "boundary",
        "d.parquet",
        "--precision",
        "0.6",
        "--certify",
        "0.3",
        "--uncertainty-bins",
        "1",
    ),
    "calibrator": ("calibrate", "d.parquet", "--method", "histogram", "--n-bins", "3"),
    "conformal": ("conformal", "d.parquet"),
    "grid": ("bin", "d.parquet", "--score-bins", "5"),
}


@pytest.fixture(params=KINDS)
def saved(request, tmp_path):
    """Fit a rule file of each kind, beside its rows."""
    sample_frame().write_parquet(tmp_path / "d.parquet")
    assert run([*KINDS[request.param], "-q", "-o", "a.json"]) == 0
    return tmp_path / "a.json"


def content_of(path):
    return json.loads(path.read_bytes())


def apply(output="o.csv"):
    return run(["apply", "a.json", "d.parquet", "-q", "-o", output])


def evaluate(capfd):
    capfd.readouterr()
    code = run(["evaluate", "a.json", "d.parquet", "--json"])
    return code, json.loads(capfd.readouterr().out) if code == 0 else None


def missed_target(report):
    return report["metrics"]["promise_broken"]


def test_the_digest_is_of_the_content_in_any_format(saved, capfd):
    content = content_of(saved)
    assert list(content)[-1] == "digest"
    assert content["digest"] == digest_of(content) != digest_of({**content, "uqcli_version": "x"})
    reversed_content = dict(reversed(content.items()))
    for text in (
        json.dumps(content),
        json.dumps(reversed_content, indent=7),
        saved.read_text().replace(".0,", ".00,"),
    ):
        saved.write_text(text)
        assert apply() == 0
        assert run(["show", "a.json", "--json"]) == 0
        assert json.loads(capfd.readouterr().out)["digest"] == content["digest"]


def test_an_edited_rule_file_is_shown_but_not_applied(saved, capfd, tmp_path):
    content = content_of(saved)
    content["source"]["rows"] += 1
    if content["kind"] == "boundary":
        content["source"]["rows"] -= 1
        content["thresholds"] = [0.123]
    if content["kind"] == "calibrator":
        content["source"]["rows"] -= 1
        content["source"]["dropped"] += 1
    saved.write_text(json.dumps(content))
    (tmp_path / "o.csv").write_text("old")
    assert apply() == 5
    assert re.search("error: 'a.json' was edited after it was written; [^\\n]*\\n", capfd.readouterr().err)
    assert (tmp_path / "o.csv").read_text() == "old"
    assert run(["show", "a.json"]) == 0
    shown = capfd.readouterr().out
    assert "Caution: The rule file was edited after it was written." in shown
    assert "ertified" not in shown
    assert "guaranteed coverage is" not in shown
    assert run(["show", "a.json", "--json"]) == 0
    report = json.loads(capfd.readouterr().out)
    assert (report["digest"], report["seal"]) == (None, "edited")
    if content["kind"] != "grid":
        code, report = evaluate(capfd)
        assert (code, missed_target(report)) == (0, None)
        assert "not tested: the rule file was edited after it was written" in str(report["notes"])


@pytest.mark.covering("thorough", every=3)
@pytest.mark.parametrize(
    ("version", "guarantees"), [("0.1.0", True), ("0.2.7", True), ("0.3.0", False), ("1.0", False)]
)
def test_without_a_digest_only_old_rule_files_keep_their_guarantees(saved, capfd, version, guarantees):
    content = content_of(saved)
    del content["digest"]
    content["uqcli_version"] = version
    saved.write_text(json.dumps(content))
    assert apply() == 0
    assert run(["show", "a.json"]) == 0
    assert ("Caution: The rule file has no digest." in capfd.readouterr().out) == (not guarantees)
    if content["kind"] != "grid":
        code, report = evaluate(capfd)
        assert (code, missed_target(report) is not None) == (0, guarantees)


def test_a_repeated_key_is_refused(saved, capfd):
    text = saved.read_text()
    for repeated in ('{"kind": "grid",' + text[1:], text.replace('"rows": ', '"rows": 1, "rows": ', 1)):
        saved.write_text(repeated)
        for line in (
            ["show", "a.json"],
            ["apply", "a.json", "d.parquet"],
            ["evaluate", "a.json", "d.parquet"],
        ):
            assert run(line) == 5
            assert "stands in it twice" in capfd.readouterr().err


def test_decisions_and_reports_carry_the_digest(saved, tmp_path):
    digest = content_of(saved)["digest"].encode()
    added = {
        "boundary": "decision",
        "calibrator": "calibrated",
        "conformal": "set",
        "grid": "uncertainty_bin",
    }
    key = f"uqcli.{added[content_of(saved)['kind']]}".encode()
    assert apply("o.parquet") == apply("o.arrow") == 0
    assert pyarrow.parquet.read_schema("o.parquet").metadata[key] == digest
    assert pyarrow.ipc.open_file("o.arrow").schema.metadata[key] == digest
    assert pl.read_parquet("o.parquet").equals(pl.read_ipc("o.arrow"))
    reports = [word for ending in ("prom", "xml", "md") for word in ("--report", f"r.{ending}")]
    assert run(["apply", "a.json", "d.parquet", "-q", "-o", "o.csv", *reports]) == 0
    label = f'uqcli_apply_artifact_info{{run="r",artifact="a.json",digest="{digest.decode()}"}} 1.0'
    assert label in (tmp_path / "r.prom").read_text()
    assert f'name="digest that a.json states" value="{digest.decode()}"' in (tmp_path / "r.xml").read_text()
    assert 'name="SHA-256 of d.parquet"' in (tmp_path / "r.xml").read_text()
    assert f", which states digest {digest.decode()} |" in (tmp_path / "r.md").read_text()


@pytest.mark.parametrize(
    "line",
    [
        ("boundary", "--grid", "g.json", "--precision", "0.6"),
        ("bin", "--edges", "g.json", "d.parquet"),
        ("bin", "--merge", "g.json", "g.json"),
        ("boundary", "d.parquet", "--precision", "0.6", "--shift", "s.json"),
    ],
)
def test_edited_rule_files_are_refused_as_inputs(tmp_path, line):
    sample_frame().write_parquet(tmp_path / "d.parquet")
    assert run([*KINDS["grid"], "-q", "-o", "g.json"]) == 0
    assert (
        run(["shift", "d.parquet", "--estimator", "known", "--prior", "0.4,0.6", "-q", "-o", "s.json"]) == 0
    )
    assert run([*line, "-q"]) in (0, 4)
    for name in ("g.json", "s.json"):
        content = content_of(tmp_path / name)
        content["source"]["rows"] += 1
        (tmp_path / name).write_text(json.dumps(content))
    assert run([*line, "-q"]) == 5
