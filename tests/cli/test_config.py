"""Tests of options from configuration files and the environment, and of their priority."""

import os
import re
from pathlib import Path

import polars as pl
import pytest
import typer.main

from tests.cli.cases import CASES
from tests.cli.conftest import fit, sample_frame
from uqcli.cli.app import program
from uqcli.cli.config import COMMANDS, MAX_BYTES

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
    assert uqcli(*line).json["cautions"] == []


GUARDED = frozenset(
    {
        *("output", "report", "plot", "frontier", "grid", "edges", "labels", "unlabelled", "target", "pilot"),
        *("test", "tree_data", "calibrator", "shift", "state", "check", "on_of_show", "schema"),
        *(
            "engine",
            "spark",
            "fail_if",
            "acknowledge",
            "forget",
            "replace",
            "bound",
            "delta",
            "run_length",
            "matured",
        ),
    }
)
"""Options that a found file may not set: files, addresses, and what decides whether a run fails or rings."""

NOT_CONFIGURED = {"help", "config", "no_config", "show_settings"}


def options_of(command):
    click = typer.main.get_command(program()).commands[command]
    return {
        parameter.name: parameter
        for parameter in click.params
        if parameter.param_type_name == "option" and parameter.name not in NOT_CONFIGURED
    }


def is_guarded(command, name):
    return ("on_of_show" if (command, name) == ("show", "on") else name) in GUARDED and (
        (command, name) != ("tce", "test")
    )


def test_every_option_that_names_a_file_or_an_address_is_guarded():
    """Also one that is added later, as its placeholder shows."""
    for command in COMMANDS:
        for name, option in options_of(command).items():
            if re.search("FILE|URL|INPUT|json", str(option.metavar)):
                assert is_guarded(command, name), (command, name)
    assert {name for command in COMMANDS for name in options_of(command)} >= GUARDED - {"on_of_show"}


@pytest.mark.parametrize("command", COMMANDS)
def test_a_found_file_sets_no_guarded_option_and_a_named_one_every_option(uqcli, tmp_path, command):
    file = tmp_path / "uqcli.toml"
    (tmp_path / "private.txt").write_text("top secret")
    for name, option in options_of(command).items():
        key = name.rstrip("_").replace("_", "-")
        value = "true" if option.is_flag else "'private.txt'"
        file.write_text(f"[{command}]\n{key} = {value}\n")
        run = uqcli(command, "--show-settings")
        if not is_guarded(command, name):
            assert run.code == 0, (name, run.err)
            assert re.search(rf"^{key} .*\[{command}\] of '.*uqcli.toml'$", run.out.decode(), re.MULTILINE)
            continue
        assert run.code == 2, name
        assert f"found configuration '{file}', which sets {key};" in run.err
        assert f"--config {file}" in run.err
        refused = uqcli(command, "nowhere.csv")
        assert (refused.code, "secret" in refused.err) == (2, False)
        assert uqcli(command, "--show-settings", "--config", file).code == 0
    assert sorted(path.name for path in tmp_path.iterdir()) == ["private.txt", "uqcli.toml"]


@pytest.mark.usefixtures("data")
@pytest.mark.parametrize(
    ("content", "reason"),
    [
        ('output = "b.json"', "output"),
        ('spark = "sc://elsewhere"', "spark"),
        ('fail-if = "recall < 1"', "fail-if"),
    ],
)
def test_a_found_file_writes_connects_and_fails_nothing(uqcli, tmp_path, monkeypatch, content, reason):
    for name, value in UNREACHABLE_STORE.items():
        monkeypatch.setenv(name, value)
    (tmp_path / "uqcli.toml").write_text(f'[boundary]\nprecision = "0.6"\n{content}\n')
    refused = uqcli(*COMMAND)
    assert refused.code == 2
    assert f"which sets {reason}" in refused.err
    assert uqcli(*COMMAND, "--precision", "0.6", "--no-config").code == 0
    outcome = uqcli(*COMMAND, "--config", "uqcli.toml")
    assert "found configuration" not in outcome.err


@pytest.mark.usefixtures("data")
def test_a_found_file_that_others_can_write_is_left_unread(uqcli, tmp_path, monkeypatch):
    file = tmp_path / "uqcli.toml"
    file.write_text('[boundary]\nprecision = "0.6"\n')
    (tmp_path / "pyproject.toml").write_text('[tool.uqcli.boundary]\nprecision = "0.55"\n')
    assert precision(uqcli(*COMMAND)) == "0.6"
    file.chmod(0o646)
    (caution,) = uqcli(*COMMAND).json["cautions"]
    assert caution == f"The configuration '{file}', which anyone can write, is not used."
    assert precision(uqcli(*COMMAND)) == "0.55", "the search goes on"
    file.write_text("not TOML [")
    assert precision(uqcli(*COMMAND)) == "0.55", "it is not parsed"
    assert precision(uqcli(*COMMAND, "--no-config", "--precision", "0.5")) == "0.5"
    file.write_text('[boundary]\nprecision = "0.6"\n')
    assert precision(uqcli(*COMMAND, "--config", file)) == "0.6"
    file.chmod(0o664)
    assert precision(uqcli(*COMMAND)) == "0.6"
    monkeypatch.setattr("os.geteuid", lambda: file.stat().st_uid + 1000)
    assert file.stat().st_uid == tmp_path.stat().st_uid
    assert precision(uqcli(*COMMAND)) == "0.6", "the owner of the working directory may have written it"


@pytest.mark.usefixtures("data")
def test_a_found_file_of_another_user_is_left_unread(uqcli, tmp_path, monkeypatch):
    file = tmp_path / "uqcli.toml"
    file.write_text('[boundary]\nprecision = "0.6"\n')
    real_fstat = os.fstat

    def fstat_of_another_user(descriptor):
        status = real_fstat(descriptor)
        if not file.exists() or status.st_ino != file.stat().st_ino:
            return status
        return os.stat_result([*status[:4], 4242, *status[5:]])

    monkeypatch.setattr(os, "fstat", fstat_of_another_user)
    (caution,) = uqcli(*COMMAND, "--precision", "0.5").json["cautions"]
    assert caution == f"The configuration '{file}', which belongs to another user (uid 4242), is not used."


@pytest.mark.usefixtures("data")
def test_what_is_no_file_in_place_of_a_configuration_stops_nothing(uqcli, tmp_path):
    file = tmp_path / "uqcli.toml"
    others = {
        os.mkfifo: "which is no regular file",
        Path.mkdir: "which is no regular file",
        lambda path: path.symlink_to("uqcli.toml"): "which cannot be read",
        lambda path: path.symlink_to("x" * 300): "which cannot be read",
        lambda path: path.symlink_to("nothing"): "which cannot be read",
        lambda path: path.symlink_to("/dev/zero"): "which is no regular file",
    }
    for make, reason in others.items():
        make(file)
        (caution,) = uqcli(*COMMAND, "--precision", "0.5").json["cautions"]
        assert f"{reason}, is not used" in caution
        file.rmdir() if os.path.isdir(file) else file.unlink()  # noqa: PTH112 - of any link


@pytest.mark.thorough
@pytest.mark.usefixtures("data")
def test_what_is_set_for_all_commands_breaks_none(uqcli, tmp_path, artifact):
    rows = pl.read_parquet("data.parquet").with_columns(day=pl.lit("2026-01-01"), region=pl.lit("x"))
    rows.write_parquet("data.parquet")
    assert uqcli("bin", "data.parquet", "-o", "grid.json", "-q").code == 0
    lines = [case.arguments("data.parquet", str(artifact)) for case in CASES]
    lines += [
        ["boundary", "--grid", "grid.json", "--precision", "0.5"],
        ["bin", "--merge", "grid.json", "grid.json"],
    ]
    common = ("decimal = '.'", "delimiter = ','", "null-value = 'x'", "on-invalid = 'drop'", "format = 'csv'")
    columns = ("score = 'score'", "label = 'label'", "uncertainty = 'uncertainty'")
    for line in lines:
        plain = uqcli(*line, "-q", "--no-config")
        for alike in ("day = 'day'", "cluster = 'region'"):  # which exclude each other
            (tmp_path / "uqcli.toml").write_text("\n".join((*common, *columns, alike)))
            configured = uqcli(*line, "-q")
            assert configured.code == plain.code, (line, alike, configured.err)
        (tmp_path / "uqcli.toml").unlink()


@pytest.mark.parametrize(
    ("name", "stops"),
    [("uqcli.toml", True), ("../uqcli.toml", True), ("pyproject.toml", True), ("../pyproject.toml", False)],
)
@pytest.mark.parametrize(
    "content", ["[tool.uqcli\n", "x = [" * 2000, "\ud800", f"# {'x' * MAX_BYTES}", "a." * 20_000 + "b = 1"]
)
def test_a_broken_file_stops_the_run_where_it_is_meant(
    uqcli, tmp_path, monkeypatch, data, name, stops, content
):
    (tmp_path / "below").mkdir()
    monkeypatch.chdir(tmp_path / "below")
    Path(name).write_bytes(content.encode("utf-8", "surrogatepass"))
    outcome = uqcli("boundary", data, "--precision", "0.5", "--json")
    assert outcome.code == (2 if stops else 0)
    if stops:
        assert "configuration" in outcome.err
        assert len(outcome.err) < 1000
    else:
        (caution,) = outcome.json["cautions"]
        assert "which is broken" in caution


@pytest.mark.usefixtures("data")
def test_reading_options_and_dependent_rows_are_set_once(uqcli, tmp_path):
    frame = (
        pl.read_parquet("data.parquet")
        .with_row_index("row")
        .with_columns(day=pl.date(2026, 1, 1) + pl.duration(days=pl.col("row") % 30))
    )
    frame = frame.drop("row").with_columns(
        pl.col("score", "uncertainty").cast(str).str.replace(".", ",", literal=True)
    )
    frame.write_csv("rows.csv", separator=";")
    rest = "decimal = ','\ndelimiter = ';'\nnull-value = 'n/a'\non-invalid = 'drop'\n"
    (tmp_path / "uqcli.toml").write_text(f"{rest}day = 'day'\n")
    options = ("--decimal", ",", "--delimiter", ";", "--null-value", "n/a", "--on-invalid", "drop")
    for words in (["boundary", "rows.csv", "--precision", "0.5"], ["tce", "rows.csv"], ["bin", "rows.csv"]):
        typed = [
            *words,
            "--json",
            "--no-config",
            *options,
            *(["--day", "day"] if words[0] == "boundary" else []),
        ]
        configured = uqcli(*words, "--json")
        assert configured.code == 0, configured.err
        assert configured.out == uqcli(*typed).out
    other = uqcli("boundary", "rows.csv", "--precision", "0.5", "--cluster", "label", "--json")
    assert "cannot be combined" not in other.err, "a typed --cluster replaces the day"
    (tmp_path / "uqcli.toml").write_text("on-invalid = 'keep'\n")
    assert "expected error or drop" in uqcli("tce", "rows.csv").err


ROLES = {"score": "score_b", "uncertainty": "uncertainty_b", "label": "label_b", "weight": "weight_b"}
"""A second column for each role."""


def two_models():
    """Write rows with two columns for each role, and a rule by the first ones."""
    frame = sample_frame().with_columns(weight=pl.lit(1))
    other = {f"{name}_b": pl.col(name).reverse() for name in ("score", "uncertainty", "label")}
    frame.with_columns(**other, weight_b=pl.lit(2)).write_parquet("rows.parquet")
    fit("boundary rows.parquet --precision 0.5 --weight weight --algorithm vw-dpmt -o rule.json")
    fit("boundary rows.parquet --precision 0.5 --algorithm vw-dpmt -o unweighted.json")


READERS = {
    "apply": ("score", "uncertainty"),
    "evaluate": ("score", "uncertainty", "label", "weight"),
    "watch": ("score", "uncertainty", "label", "weight"),
    "sample": ("score", "uncertainty"),
}
"""Commands that read rows by a rule, with the roles that they take from it."""


@pytest.mark.covering("thorough", every=3)
@pytest.mark.parametrize(
    ("command", "role"), [(name, role) for name, roles in READERS.items() for role in roles]
)
def test_the_columns_of_a_rule_come_after_a_command_s_and_before_those_of_all(
    uqcli, prepared, tmp_path, monkeypatch, command, role
):
    prepared(two_models)
    column = ROLES[role]
    words = [
        command,
        "rule.json",
        "rows.parquet",
        *{"sample": ["--for", "precision", "--budget", "5"]}.get(command, []),
    ]
    results = ["--output-format", "csv"] if command in {"apply", "sample"} else ["--json"]

    def run(*options):
        outcome = uqcli(*words, *results, *options)
        assert outcome.code == 0, outcome.err
        return outcome

    def said(outcome):
        if results == ["--json"]:
            return " ".join(outcome.json.get("cautions", []))
        return " ".join(uqcli(*words, "-o", "out.csv", "--json").json.get("cautions", []))

    plain = run("--no-config")
    other = uqcli(*words, *results, "--no-config", f"--{role}", column)
    file = tmp_path / "uqcli.toml"
    file.write_text(f"{role} = '{column}'\n")
    shared = run()
    assert shared.out == plain.out, "the rule's own column is read"
    assert "sets" not in said(shared)
    file.write_text(f"{role} = '{role}'\n[{command}]\n{role} = '{column}'\n")
    own = run()
    assert (
        f"[{command}] of 'uqcli.toml' sets {role} to '{column}', but the rule was made with '{role}'."
        in said(own)
    )
    file.unlink()
    monkeypatch.setenv(f"UQCLI_{command}_{role}".upper(), column)
    from_variable = run()
    assert f"UQCLI_{command}_{role}".upper() + f" sets {role} to '{column}'" in said(from_variable)
    monkeypatch.delenv(f"UQCLI_{command}_{role}".upper())
    if results != ["--json"]:
        assert other.out == own.out == from_variable.out != plain.out
    else:
        metrics = [outcome.json["metrics"] for outcome in (other, own, from_variable, plain)]
        assert metrics[0] == metrics[1] == metrics[2] != metrics[3]
        assert f"--{role} sets {role} to '{column}'" in " ".join(other.json["cautions"])


def test_a_role_that_a_rule_lacks_comes_from_the_columns_of_all(uqcli, prepared, tmp_path):
    prepared(two_models)
    words = ["evaluate", "unweighted.json", "rows.parquet", "--json"]
    typed = uqcli(*words, "--weight", "weight_b").json
    (tmp_path / "uqcli.toml").write_text("weight = 'weight_b'\n")
    assert uqcli(*words).json == typed
    assert typed["metrics"] != uqcli(*words, "--no-config").json["metrics"]


@pytest.mark.usefixtures("data")
def test_an_error_about_a_configured_column_says_which_place_set_it(uqcli, tmp_path, monkeypatch):
    file = tmp_path / "uqcli.toml"
    words = ("boundary", "data.parquet", "--precision", "0.5")
    file.write_text("score = 'p'\n")
    assert "'uqcli.toml' sets score" in uqcli(*words).err
    file.write_text("[boundary]\nlabel = 'y'\n")
    run = uqcli(*words, "--json")
    assert "[boundary] of 'uqcli.toml' sets label" in run.err
    assert "[boundary] of 'uqcli.toml' sets label" in run.json["error"]["remedy"]
    monkeypatch.setenv("UQCLI_BOUNDARY_SCORE", "q")
    assert "UQCLI_BOUNDARY_SCORE sets score" in uqcli(*words, "--label", "label").err
    assert "sets" not in uqcli(*words, "--label", "y", "--score", "score").err


def test_settings_are_shown_with_their_places(uqcli, tmp_path, monkeypatch):
    (tmp_path / "uqcli.toml").write_text("score = 'p'\nlabel = 'y'\n[evaluate]\nlabel = 'z'\n")
    monkeypatch.setenv("UQCLI_EVALUATE_SEED", "7")
    words = ("evaluate", "--show-settings", "--by", "region")
    lines = uqcli(*words).out.decode().splitlines()
    settings = [re.split("  +", line) for line in lines]
    assert ["score", "p", "'uqcli.toml', if the rule names no column"] in settings
    assert ["label", "z", "[evaluate] of 'uqcli.toml'"] in settings
    assert ["seed", "7", "UQCLI_EVALUATE_SEED"] in settings
    assert ["by", "region", "command line"] in settings
    assert ["confidence", "0.95", "default"] in settings
    listed = uqcli(*words, "--json").json["settings"]
    rows = [[setting["option"], setting["value"], setting["source"]] for setting in listed]
    assert [row for row in rows if row[0] != "json"] == settings


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
