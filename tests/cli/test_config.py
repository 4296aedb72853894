"""Tests of options from configuration files and the environment, and of their priority."""

import os
from pathlib import Path

import pytest

COMMAND = ("boundary", "data.parquet", "--json")
UNREACHABLE_STORE = {
    "AWS_ACCESS_KEY_ID": "test",
    "AWS_SECRET_ACCESS_KEY": "test",
    "AWS_REGION": "us-east-1",
    "AWS_ENDPOINT_URL": "http://127.0.0.1:9",
}
"""Settings of an object store at an address without a server."""


def precision(outcome):
    assert outcome.code == 0, outcome.err
    return outcome.json["parameters"]["constraint"]["value"]


@pytest.mark.usefixtures("data")
def test_options_override_the_environment_which_overrides_the_file(uqcli, tmp_path, monkeypatch):
    (tmp_path / "pyproject.toml").write_text("[tool.uqcli.boundary]\nprecision = 0.60\nscore-bins = 20\n")
    assert precision(uqcli(*COMMAND)) == "0.60"
    monkeypatch.setenv("UQCLI_BOUNDARY_PRECISION", "0.65")
    assert precision(uqcli(*COMMAND)) == "0.65"
    assert precision(uqcli(*COMMAND, "--precision", "0.7")) == "0.7"
    monkeypatch.delenv("UQCLI_BOUNDARY_PRECISION")
    assert "targets" in uqcli(*COMMAND, "--no-config").json


@pytest.mark.usefixtures("data")
def test_the_nearest_file_upwards_is_used(uqcli, tmp_path, monkeypatch):
    inner = tmp_path / "a" / "b"
    inner.mkdir(parents=True)
    (tmp_path / "uqcli.toml").write_text("[boundary]\nprecision = 0.6\n")
    (inner / "pyproject.toml").write_text("[tool.other]\nx = 1\n")
    monkeypatch.chdir(inner)
    assert precision(uqcli("boundary", tmp_path / "data.parquet", "--json")) == "0.6"
    (inner.parent / "uqcli.toml").write_text("[tool.uqcli.boundary]\nprecision = 0.55\n")
    assert precision(uqcli("boundary", tmp_path / "data.parquet", "--json")) == "0.55"


@pytest.mark.usefixtures("data")
def test_a_named_file_can_contain_lists(uqcli, tmp_path):
    (tmp_path / "other.toml").write_text(
        '[boundary]\nprecision = "0.5"\nfail_if = ["precision > 0.1"]\nquiet = true\n'
    )
    outcome = uqcli("boundary", "data.parquet", "--config", "other.toml")
    assert (outcome.code, outcome.out) == (6, b"")


@pytest.mark.usefixtures("data")
def test_the_environment_can_set_a_check(uqcli, monkeypatch):
    monkeypatch.setenv("UQCLI_BOUNDARY_FAIL_IF", "precision > 0.1")
    assert uqcli("boundary", "data.parquet", "--precision", "0.5").code == 6


BROKEN = {
    "unknown option": ("[boundary]\nprecison = 0.6\n", "unknown option 'precison'", 2),
    "unknown command": ("[bondary]\nprecision = 0.6\n", "unknown command 'bondary'", 2),
    "no table": ("precision = 0.6\n", "table", 2),
    "not TOML": ("[boundary\n", "not TOML", 2),
    "bad value": ("[boundary]\nprecision = 2\n", "precision is '2'", 2),
    "bad choice": ('[boundary]\nprecision = 0.5\nalgorithm = "best"\n', "best", 2),
}


@pytest.mark.usefixtures("data")
@pytest.mark.parametrize("problem", BROKEN)
def test_broken_configuration_is_an_error_in_one_line(uqcli, tmp_path, problem):
    content, message, code = BROKEN[problem]
    (tmp_path / "uqcli.toml").write_text(content)
    outcome = uqcli(*COMMAND)
    assert outcome.code == code
    assert message in outcome.err
    assert len(outcome.err.splitlines()) == 1


@pytest.mark.usefixtures("data")
def test_unknown_variables_missing_files_and_contradictory_options_are_reported(uqcli, monkeypatch, tmp_path):
    assert uqcli(*COMMAND, "--config", "nowhere.toml").code == 3
    (tmp_path / "c.toml").write_text("[boundary]\nprecision = 0.5\n")
    assert uqcli(*COMMAND, "--config", "c.toml", "--no-config").code == 2
    assert uqcli(*COMMAND, "--no-config", "--config", "c.toml").code == 2
    monkeypatch.setenv("UQCLI_BOUNDARY_PRECISON", "0.5")
    outcome = uqcli(*COMMAND, "-o", "rule.json")
    assert outcome.code == 2
    caution, error = outcome.err.splitlines()
    assert caution == (
        "caution: The environment variable UQCLI_BOUNDARY_PRECISON has no effect: "
        "did you mean UQCLI_BOUNDARY_PRECISION?"
    )
    assert error.startswith("error: no constraint given")


@pytest.mark.thorough
@pytest.mark.parametrize(
    ("name", "hint"),
    [
        ("UQCLI_BOUNDARY_SCOER", ": did you mean UQCLI_BOUNDARY_SCORE?"),
        ("UQCLI_BUONDARY_SCORE", ": did you mean UQCLI_BOUNDARY_SCORE?"),
        ("UQCLI_SCORE", "."),
    ],
)
def test_variables_without_effect_give_a_caution(uqcli, data, monkeypatch, tmp_path, name, hint):
    monkeypatch.setenv(name, "0.5")
    monkeypatch.setenv("UQCLI_TCE_ALPHA", "0.5")
    line = (*COMMAND, "--precision", "0.7", "--json", "--report", "r.md")
    message = f"The environment variable {name} has no effect{hint}"
    outcome = uqcli(*line)
    assert (outcome.code, outcome.err, outcome.json["cautions"]) == (0, "", [message])
    assert message in " ".join(uqcli(*line[:-3]).out.decode().split())
    monkeypatch.delenv(name)
    assert "cautions" not in uqcli(*line).json


@pytest.mark.covering("thorough", every=4, also=['report = ["r.html"]-which sets report'])
@pytest.mark.usefixtures("data")
@pytest.mark.parametrize(
    ("content", "reason"),
    [
        ('output = "b.json"', "which sets output"),
        ('report = ["r.html"]', "which sets report"),
        ('plot = "p.png"', "which sets plot"),
        ('spark = "sc://elsewhere"', "which sets spark"),
        ('shift = "s3://bucket/s.json"', "which sets an address (shift)"),
        ('frontier = "../f.csv"', "which sets frontier"),
        ('shift = "https://host/f.json"', "which sets an address (shift)"),
    ],
)
def test_a_discovered_file_must_not_set_paths(uqcli, tmp_path, monkeypatch, content, reason):
    for name, value in UNREACHABLE_STORE.items():
        monkeypatch.setenv(name, value)
    (tmp_path / "uqcli.toml").write_text(f'[boundary]\nprecision = "0.6"\n{content}\n')
    refused = uqcli(*COMMAND)
    assert refused.code == 2
    assert reason in refused.err
    assert f"--config {tmp_path / 'uqcli.toml'}" in refused.err
    assert uqcli(*COMMAND, "--precision", "0.6", "--no-config").code == 0
    outcome = uqcli(*COMMAND, "--config", "uqcli.toml")
    assert "found configuration" not in outcome.err


@pytest.mark.usefixtures("data")
def test_a_discovered_file_that_others_can_write_is_refused(uqcli, tmp_path, monkeypatch):
    file = tmp_path / "uqcli.toml"
    file.write_text('[boundary]\nprecision = "0.6"\n')
    assert uqcli(*COMMAND).code == 0
    file.chmod(0o646)
    refused = uqcli(*COMMAND)
    assert (refused.code, "which anyone can write" in refused.err, "--config" in refused.err) == (
        2,
        True,
        True,
    )
    assert uqcli(*COMMAND, "--config", file).code == 0
    file.chmod(0o664)
    assert uqcli(*COMMAND).code == 0
    monkeypatch.setattr("os.geteuid", lambda: file.stat().st_uid + 1000)
    owner = tmp_path.stat().st_uid
    assert owner == file.stat().st_uid
    assert uqcli(*COMMAND).code == 0, "the owner of the working directory may have written it"


@pytest.mark.usefixtures("data")
def test_a_discovered_file_of_another_user_is_refused(uqcli, tmp_path, monkeypatch):
    file = tmp_path / "uqcli.toml"
    file.write_text('[boundary]\nprecision = "0.6"\n')
    real_stat = Path.stat

    def stat_of_another_user(path, **options):
        status = real_stat(path, **options)
        if path.name != "uqcli.toml":
            return status
        return os.stat_result([*status[:4], 4242, *status[5:]])

    monkeypatch.setattr(Path, "stat", stat_of_another_user)
    refused = uqcli(*COMMAND)
    assert (refused.code, "belongs to another user (uid 4242)" in refused.err) == (2, True)
    (tmp_path / "pyproject.toml").write_text("[tool.other]\n")
    file.unlink()
    assert uqcli(*COMMAND, "--precision", "0.6").code == 0


def test_a_byte_order_mark_is_no_content(uqcli, tmp_path, data):
    (tmp_path / "uqcli.toml").write_text("\ufeff[tce]\nbinning = 'quantile'\n", encoding="utf-8")
    assert uqcli("tce", "data.parquet", "--json").json["parameters"]["binning"] == "quantile"


@pytest.mark.usefixtures("data")
@pytest.mark.parametrize("value", ["true", "[true]", "false"])
@pytest.mark.parametrize("option", ["alpha", "threads", "score", "fail-if"])
def test_true_is_no_number_and_no_text(uqcli, tmp_path, option, value):
    (tmp_path / "uqcli.toml").write_text(f"[tce]\n{option} = {value}\n")
    outcome = uqcli("tce", "data.parquet")
    assert outcome.code == 2
    assert f"option '{option}'" in outcome.err
