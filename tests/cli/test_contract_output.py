"""Contract tests of the output of every command."""

import json

import polars as pl
import pytest

from tests.cli.cases import CASES, READ_ARTIFACTS, READ_DATA, WRITE

JSON_CASES = [case for case in CASES if case.json]
CHECKED_ROWS = [case for case in WRITE if case.writes_rows]


def name_of(case):
    return case.name


@pytest.mark.parametrize("case", CASES, ids=name_of)
def test_help_names_every_option_and_exits_zero(uqcli, case):
    outcome = uqcli(case.name, "--help")
    assert outcome.code == 0
    assert outcome.err == ""
    assert b"Usage:" in outcome.out


@pytest.mark.parametrize("case", JSON_CASES, ids=name_of)
def test_json_is_one_strict_object_on_stdout(uqcli, case, data, artifact):
    outcome = uqcli(*case.arguments(data, artifact), "--json")
    assert outcome.code == 0, outcome.err
    assert outcome.err == ""
    report = outcome.json
    if case.name != "show":
        assert report["command"] == case.name
        assert report["uqcli_version"]
        assert isinstance(report["source"], dict)
        assert isinstance(report["parameters"], dict)
        assert isinstance(report["metrics"], dict)


@pytest.mark.parametrize("case", JSON_CASES, ids=name_of)
def test_quiet_silences_the_table_but_not_json(uqcli, case, data, artifact):
    assert uqcli(*case.arguments(data, artifact), "-q").out == b""
    assert uqcli(*case.arguments(data, artifact), "-q", "--json").json


@pytest.mark.parametrize("case", JSON_CASES, ids=name_of)
def test_tables_have_no_colour_codes_without_a_terminal(uqcli, case, data, artifact):
    outcome = uqcli(*case.arguments(data, artifact))
    assert outcome.code == 0
    assert outcome.err == ""
    assert b"\x1b[" not in outcome.out
    assert len(outcome.out.splitlines()) > 3


@pytest.mark.covering("thorough", every=6)
@pytest.mark.parametrize("case", JSON_CASES, ids=name_of)
def test_report_files_have_their_formats(uqcli, case, data, artifact, tmp_path):
    report_paths = [tmp_path / f"report.{ending}" for ending in ("json", "md", "html")]
    for report_path in report_paths:
        assert uqcli(*case.arguments(data, artifact), "-q", "--report", report_path).code == 0
    stdout = uqcli(*case.arguments(data, artifact), "--json").out
    assert report_paths[0].read_bytes() == stdout
    assert report_paths[1].read_text().startswith("# ")
    assert report_paths[2].read_text().startswith("<!doctype html>")


@pytest.mark.parametrize("case", JSON_CASES, ids=name_of)
def test_a_failed_check_exits_six_with_its_reports_and_the_old_output(uqcli, case, data, artifact, tmp_path):
    arguments = case.arguments(data, artifact)
    output, report = tmp_path / "out.json", tmp_path / "report.json"
    checks = ["--fail-if", f"{case.metric} >= 0.1", "--fail-if", f"{case.metric} < 0"]
    for old_content in ("old", None) if case.writes else (None,):
        if old_content is not None:
            output.write_text(old_content)
        outcome = uqcli(
            *arguments, *(("-o", output) if case.writes else ()), "--json", "--report", report, *checks
        )
        assert outcome.code == 6
        assert outcome.err.startswith(f"gate: check failed: {case.metric} >= 0.1")
        assert len(outcome.err.splitlines()) == 1
        assert outcome.json
        assert report.read_bytes() == outcome.out
        assert (output.read_text() if output.exists() else None) == old_content
        output.unlink(missing_ok=True)
        report.unlink()
    assert not [path for path in tmp_path.iterdir() if path.name.startswith(".")]


@pytest.mark.parametrize("case", JSON_CASES, ids=name_of)
def test_a_passed_check_changes_nothing(uqcli, case, data, artifact):
    plain = uqcli(*case.arguments(data, artifact), "--json")
    checked = uqcli(*case.arguments(data, artifact), "--json", "--fail-if", f"{case.metric} < 0.01")
    assert (checked.code, checked.err) == (0, "")
    (gate,) = checked.json["gates"]
    assert (gate["text"], gate["result"]) == (f"{case.metric} < 0.01", "passed")
    assert gate["value"] >= 0.1
    assert {**checked.json, "gates": []} == plain.json


@pytest.mark.covering("thorough", every=6)
@pytest.mark.parametrize("case", READ_DATA, ids=name_of)
def test_standard_input_gives_the_output_of_the_file(uqcli, case, data, data_csv, artifact, tmp_path, frame):
    frame.write_ipc(tmp_path / "data.arrow")
    inputs = {
        "csv": data_csv.read_bytes(),
        "parquet": data.read_bytes(),
        "arrow": (tmp_path / "data.arrow").read_bytes(),
    }
    outputs = set()
    for kind, content in inputs.items():
        options = [] if kind == "csv" else ["--format", kind]
        json_option = ["--json"] if case.json else ["-q"]
        outcome = uqcli(*case.arguments("-", artifact), *options, *json_option, stdin=content)
        assert outcome.code == 0, outcome.err
        outputs.add(outcome.out)
    assert len(outputs) == 1


@pytest.mark.covering("thorough", every=3)
@pytest.mark.parametrize("case", READ_DATA, ids=name_of)
def test_a_split_input_gives_the_output_of_one_file(uqcli, case, data, artifact, tmp_path, frame):
    json_option = ["--json"] if case.json else ["-q"]
    expected = uqcli(*case.arguments(data, artifact), *json_option)
    parts = tmp_path / "parts"
    parts.mkdir()
    frame[:100].write_parquet(parts / "a.parquet")
    frame[100:101].write_parquet(parts / "b.parquet")
    frame[101:].write_parquet(parts / "c.parquet")
    (parts / "_SUCCESS").write_text("")
    (parts / ".hidden.parquet").write_text("no Parquet")
    (parts / "notes.txt").write_text("no data")
    for inputs in (parts, parts / "*.parquet"):
        split = uqcli(*case.arguments(inputs, artifact), *json_option)
        assert (split.code, split.out) == (0, expected.out)


@pytest.mark.parametrize("case", READ_DATA, ids=name_of)
def test_standard_input_can_be_read_only_once(uqcli, case, artifact):
    assert uqcli(*case.arguments("-", artifact), "-").code == 2


@pytest.mark.parametrize("case", READ_ARTIFACTS, ids=name_of)
def test_debug_shows_the_traceback(uqcli, case, data):
    outcome = uqcli(*case.arguments(data, "nowhere.json"), "--debug")
    assert outcome.code == 3
    assert "Traceback" in outcome.err


@pytest.mark.parametrize("case", WRITE, ids=name_of)
def test_output_to_stdout_and_json_exclude_each_other(uqcli, case, data, artifact):
    outcome = uqcli(*case.arguments(data, artifact), "-o", "-", "--json")
    assert outcome.code == 2
    assert outcome.out == b""


@pytest.mark.parametrize("case", WRITE, ids=name_of)
def test_a_replaced_output_keeps_its_mode_and_its_link(uqcli, case, data, artifact, tmp_path):
    target = tmp_path / "target.out"
    target.write_text("old")
    target.chmod(0o640)
    link = tmp_path / "link.out"
    link.symlink_to(target)
    assert uqcli(*case.arguments(data, artifact), "-q", "-o", link).code == 0
    assert link.is_symlink()
    assert target.stat().st_mode & 0o777 == 0o640
    assert target.read_bytes() != b"old"


@pytest.mark.parametrize("case", WRITE, ids=name_of)
def test_a_new_output_has_the_usual_mode(uqcli, case, data, artifact, tmp_path):
    assert uqcli(*case.arguments(data, artifact), "-q", "-o", tmp_path / "new.out").code == 0
    (tmp_path / "touched").touch()
    assert (tmp_path / "new.out").stat().st_mode == (tmp_path / "touched").stat().st_mode


def test_a_rule_file_on_stdout_moves_the_report_to_stderr(uqcli, data):
    outcome = uqcli("boundary", data, "--precision", "0.7", "-o", "-")
    assert outcome.code == 0
    assert outcome.json["kind"] == "boundary"
    assert outcome.err.startswith("Flags ")


def test_infeasible_targets_exit_four_with_a_report_and_the_old_output(uqcli, tmp_path):
    path, output = tmp_path / "d.csv", tmp_path / "kept.json"
    path.write_text("score,uncertainty,label\n0.9,1,0\n0.9,1,1\n0.5,1,0\n")
    output.write_text("old")
    outcome = uqcli("boundary", path, "--precision", "0.75", "-o", output, "--json")
    assert outcome.code == 4
    assert outcome.err.startswith(
        "error: no boundary reaches precision 75 %; the best is 50 % at recall 100 %"
    )
    report = outcome.json
    assert report["feasible"] is False
    assert report["metrics"]["recall"] is None
    assert report["metrics"]["best_precision"] == 0.5
    assert report["metrics"]["recall_at_best_precision"] == 1.0
    assert output.read_text() == "old"


def test_the_version_and_the_usage_are_printed(uqcli):
    assert uqcli("--version").out.startswith(b"uqcli ")
    bare = uqcli()
    assert (bare.code, bare.err) == (2, "")
    assert b"Usage:" in bare.out


def test_the_rule_file_validates_against_the_shipped_schema(uqcli, artifact):
    import jsonschema

    schema = uqcli("show", "--schema", "boundary").json
    jsonschema.Draft202012Validator.check_schema(schema)
    jsonschema.validate(json.loads(artifact.read_text()), schema)


def test_show_names_thresholds_of_always_and_never(uqcli, tmp_path):
    path = tmp_path / "d.csv"
    pl.DataFrame(
        {"score": [0.1, 0.2, 0.3, 0.4], "uncertainty": [0.0, 0.0, 1.0, 1.0], "label": [1, 1, 0, 0]}
    ).write_csv(path)
    grid = ["--uncertainty-bins", 2, "--score-bins", 1, "-q", "-o", tmp_path / "g.json"]
    assert uqcli("bin", path, *grid).code == 0
    arguments = ["--grid", tmp_path / "g.json", "--precision", "1", "-q"]
    assert uqcli("boundary", *arguments, "-o", tmp_path / "b.json").code == 0
    text = uqcli("show", tmp_path / "b.json").out.decode()
    assert "always" in text
    assert "never" in text


@pytest.mark.parametrize("case", CHECKED_ROWS, ids=name_of)
def test_a_failed_check_keeps_rows_from_being_written(uqcli, case, data, artifact, tmp_path):
    output, report = tmp_path / "rows.csv", tmp_path / "report.json"
    arguments = [*case.arguments(data, artifact), "--report", report, "-q"]
    checks = ["--fail-if", "rows > 0"]
    outcome = uqcli(*arguments, "-o", output, *checks)
    assert (outcome.code, outcome.err.splitlines()[0][:28]) == (6, "gate: check failed: rows > 0")
    assert json.loads(report.read_text())["metrics"]["rows"] > 0
    assert not output.exists()
    output.write_text("old")
    assert uqcli(*arguments, "-o", output, *checks).code == 6
    assert output.read_text() == "old"
    assert not [path for path in tmp_path.iterdir() if path.name.startswith(".")]
    for destination in (output, "-"):
        outcome = uqcli(*arguments, "-o", destination, "--fail-if", "happiness < 1")
        assert (outcome.code, outcome.out) == (2, b"")
        assert "happiness" in outcome.err
        assert json.loads(report.read_text())["error"]["exit"] == 2
    assert output.read_text() == "old"


def test_unknown_metrics_of_a_rule_are_refused_before_rows_are_written(uqcli, data, tmp_path):
    assert uqcli("calibrate", data, "--bootstrap", 0, "-q", "-o", "c.json").code == 0
    outcome = uqcli("apply", "c.json", data, "--fail-if", "selected > 3")
    assert (outcome.code, outcome.out) == (2, b"")
    assert "no metric 'selected'" in outcome.err


def test_a_failed_check_writes_no_rule_file_to_standard_output(uqcli, data):
    outcome = uqcli("bin", data, "-o", "-", "-q", "--fail-if", "rows > 0")
    assert (outcome.code, outcome.out) == (6, b"")
