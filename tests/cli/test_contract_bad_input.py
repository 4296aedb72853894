"""Contract tests of bad input: the exit code, an error in one line, and no files left."""

import gzip
import json

import polars as pl
import pytest

from tests.cli.cases import CASES, READ_ARTIFACTS, READ_DATA, READ_LABELS, WRITE
from uqcli.cli.app import program

HEADER = "score,uncertainty,label\n"


def name_of(value):
    return getattr(value, "name", None)


def registered_commands():
    return {command.name for command in program().registered_commands}


def test_every_command_has_contract_tests():
    assert {case.name for case in CASES} == registered_commands()


def refuse(uqcli, case, data, artifact, tmp_path, code, *options):
    """Run a command that must fail, and check how it fails."""
    arguments = case.arguments(data, artifact) + list(options)
    output = tmp_path / "kept.out"
    if case.writes and "-o" not in arguments:
        output.write_text("old")
        arguments += ["-o", output]
    before = sorted(path.name for path in tmp_path.iterdir())
    outcome = uqcli(*arguments)
    assert outcome.code == code, outcome.err
    lines = outcome.err.splitlines()
    assert len(lines) == 1, outcome.err
    assert lines[0].startswith("error: ")
    assert "Traceback" not in outcome.err
    assert "internal" not in outcome.err
    assert outcome.out == b""
    assert sorted(path.name for path in tmp_path.iterdir()) == before
    if output.exists():
        assert output.read_text() == "old"
    return lines[0]


def text_file(name, content):
    def make_file(folder, valid_file):
        (folder / name).write_bytes(content)
        return folder / name

    return make_file


def truncated(suffix, share):
    def make_file(folder, valid_file):
        path = folder / f"cut{suffix}"
        content = valid_file.read_bytes() if suffix == ".parquet" else gzip.compress(HEADER.encode() * 5000)
        path.write_bytes(content[: int(len(content) * share)])
        return path

    return make_file


def damaged_arrow(folder, valid_file):
    """Write an Arrow file with text labels whose offsets are outside the data."""
    frame = pl.read_parquet(valid_file).with_columns(pl.col("label").cast(pl.String))
    path = folder / "damaged.arrow"
    frame.write_ipc(path, compat_level=pl.CompatLevel.oldest())
    content = bytearray(path.read_bytes())
    position = content.index(frame["label"].str.join("").item().encode()[:40])
    content[position - 3000 : position - 2000] = b"\xff" * 1000
    path.write_bytes(content)
    return path


BAD_DATA = {
    "missing file": (lambda folder, valid_file: folder / "nowhere.csv", "nowhere.csv"),
    "glob without match": (lambda folder, valid_file: folder / "none*.csv", "none"),
    "directory without data": (
        lambda folder, valid_file: (folder / "folder").mkdir() or folder / "folder",
        "folder",
    ),
    "unknown ending": (text_file("data.txt", b"score,label\n"), "--format"),
    "ending of another format": (text_file("data.xlsx", b"PK"), "export the sheet as CSV"),
    "truncated Parquet": (truncated(".parquet", 0.6), "cut.parquet"),
    "Parquet cut to its magic": (truncated(".parquet", 0.001), "cut.parquet"),
    "truncated gzip": (truncated(".csv.gz", 0.5), "cut.csv.gz"),
    "text named Parquet": (text_file("bad.parquet", b"score,label\n1,2\n"), "bad.parquet"),
    "text named Arrow": (text_file("bad.arrow", b"score,label\n1,2\n"), "bad.arrow"),
    "Parquet named CSV": (lambda folder, valid_file: valid_file.rename(folder / "bad.csv"), "bad.csv"),
    "empty CSV": (text_file("empty.csv", b""), "empty"),
    "empty Parquet": (text_file("empty.parquet", b""), "empty"),
    "blank lines only": (text_file("blank.csv", b"\n\n"), "header"),
    "short row": (text_file("d.csv", (HEADER + "0.5,1,1\n0.7\n0.1,1,0\n").encode()), "data row 2"),
    "long row": (text_file("d.csv", (HEADER + "0.5,1,1\n0.7,1,1,9\n").encode()), "data row 2"),
    "open quote": (text_file("d.csv", (HEADER + '0.5,1,"1\n0.5,1,1\n').encode()), "quote"),
    "stray quotes": (
        text_file("d.csv", (HEADER.strip() + ',note\n0.9,1,1,5" pipe\n0.2,1,0,6" y\n0.3,1,0,z\n').encode()),
        "data row 1",
    ),
    "carriage returns behind a newline": (
        text_file("d.csv", b"score,uncertainty,label\n0.5,1,1\r0,1,0\r"),
        "fields",
    ),
    "header without end": (text_file("d.csv", b"x" * (5 << 20)), "end of line"),
    "huge field in the header": (text_file("d.csv", b"x" * 200_000 + b",score\n1,1\n"), "header"),
    "name too long": (lambda folder, valid_file: folder / ("n" * 300 + ".csv"), "cannot read"),
    "damaged Arrow": (damaged_arrow, "damaged.arrow"),
    "text among scores": (text_file("d.csv", (HEADER + "0.5,1,1\nhigh,1,0\n").encode()), "'high'"),
    "Latin-1": (text_file("d.csv", ("name," + HEADER + "caf\xe9,0.5,1,1\n").encode("latin-1")), "UTF-8"),
    "UTF-16": (text_file("d.csv", (HEADER + "0.5,1,1\n").encode("utf-16")), "UTF-8"),
    "null": (text_file("d.csv", (HEADER + "0.5,1,1\n,1,0\n").encode()), "column 'score' has 1 null"),
    "NaN": (text_file("d.csv", (HEADER + "NaN,1,1\n0.5,1,0\n").encode()), "column 'score' has 1 NaN"),
    "infinity": (
        text_file("d.csv", (HEADER + "0.5,1,1\n-inf,1,0\n").encode()),
        "column 'score' has 1 infinite",
    ),
    "number too large": (text_file("d.csv", (HEADER + "1e999,1,1\n").encode()), "infinite"),
    "missing column": (text_file("d.csv", b"scroe,uncertainty,label\n0.5,1,1\n"), "did you mean 'scroe'"),
    "score twice": (text_file("d.csv", b"score,score,uncertainty,label\n1,1,1,1\n"), "2 times"),
    "score of booleans": (
        lambda folder, valid_file: frame_file(folder, {"score": [True], "uncertainty": [0.1], "label": [1]}),
        "Boolean",
    ),
}

BAD_LABELS = {
    "label 2": (text_file("d.csv", (HEADER + "0.5,1,2\n0.5,1,0\n").encode()), "'2'"),
    "label of words": (text_file("d.csv", (HEADER + "0.5,1,yes\n0.5,1,no\n").encode()), "--positive"),
    "label null": (text_file("d.csv", (HEADER + "0.5,1,\n0.5,1,0\n").encode()), "column 'label' has 1 null"),
    "header only": (text_file("d.csv", HEADER.encode()), "no rows"),
    "no label column": (text_file("d.csv", b"score,uncertainty,lable\n0.5,1,1\n"), "did you mean 'lable'"),
}


@pytest.mark.parametrize(
    ("columns", "column", "hint"),
    [
        (["score", "uncertainty_epistemic", "label"], "uncertainty", None),
        (["score", "Uncertainty", "label"], "uncertainty", "'Uncertainty'"),
        (["score", "uncertanty", "label"], "uncertainty", "'uncertanty'"),
        (["score", " uncertainty", "label"], "uncertainty", "' uncertainty'"),
        (["score", "certainty", "label"], "uncertainty", None),
        (["score_2", "uncertainty", "label"], "score_1", None),
        (["score_raw", "uncertainty", "label"], "score", None),
        (["scores", "uncertainty", "label"], "score", "'scores'"),
    ],
)
def test_hints_never_change_meaning(uqcli, tmp_path, artifact, columns, column, hint):
    (tmp_path / "d.csv").write_text(",".join(columns) + "\n0.5,1,1\n")
    role = column.partition("_")[0]
    for line in (("boundary", "d.csv", "--precision", "0.5"), ("apply", artifact, "d.csv")):
        outcome = uqcli(*line, f"--{role}", column)
        assert outcome.code == 3
        assert ("did you mean" in outcome.err) == (hint is not None)
        assert f"did you mean {hint or ''}" in outcome.err or hint is None
        suggests_st = line[0] == "boundary" and role == "uncertainty"
        assert ("--algorithm st" in outcome.err) == suggests_st


@pytest.mark.parametrize(
    ("content", "is_truncated"),
    [
        ("0.5,1,1\n0.6,1", True),
        ("0.5,1,1\n0.6,1,", True),
        ("0.5,1,1\n0.6,,", True),
        ("0.5,1,true\n0.6,1,fal", True),
        ("0.5,1,1\n0.6,1,0\n-", True),
        ("0.5,1,\n0.6,1,1\n", False),
        ("0.5,1,\n0.6,1,\n", False),
    ],
)
def test_a_truncated_last_row_is_not_offered_to_be_dropped(uqcli, tmp_path, content, is_truncated):
    (tmp_path / "d.csv").write_text(HEADER + content)
    stderr = uqcli("tce", "d.csv").err
    assert ("check that the file was written completely" in stderr) == is_truncated
    assert ("--on-invalid drop" in stderr) == (not is_truncated)


def frame_file(folder, columns):
    path = folder / "frame.parquet"
    pl.DataFrame(columns).write_parquet(path)
    return path


@pytest.mark.covering("thorough")
@pytest.mark.parametrize("problem", BAD_DATA)
@pytest.mark.parametrize("case", [case for case in READ_DATA if not case.dated], ids=name_of)
def test_bad_data_is_an_error(uqcli, case, problem, data, artifact, tmp_path):
    make_file, message_part = BAD_DATA[problem]
    message = refuse(uqcli, case, make_file(tmp_path, data), artifact, tmp_path, 3)
    assert message_part in message


@pytest.mark.covering("thorough")
@pytest.mark.parametrize("problem", BAD_LABELS)
@pytest.mark.parametrize("case", [case for case in READ_LABELS if not case.dated], ids=name_of)
def test_bad_labels_are_an_error(uqcli, case, problem, data, artifact, tmp_path):
    make_file, message_part = BAD_LABELS[problem]
    if (case.name, problem) == ("overview", "label of words"):  # a first look finds the positive one
        assert uqcli("overview", make_file(tmp_path, data)).code == 0
        return
    message = refuse(uqcli, case, make_file(tmp_path, data), artifact, tmp_path, 3)
    assert message_part in message


def rule_file_with(artifact, **keys):
    content = json.loads(artifact.read_text())
    content.update(keys)
    return json.dumps({key: value for key, value in content.items() if value is not ...})


BAD_ARTIFACTS = {
    "not JSON": (lambda valid_file: "thresholds: 0.5", "not JSON"),
    "empty": (lambda valid_file: "", "not JSON"),
    "binary": (lambda valid_file: "\x00\x01", "not JSON"),
    "no object": (lambda valid_file: "[1, 2]", "not a uqcli rule file"),
    "not ours": (lambda valid_file: '{"a": 1}', "not a uqcli rule file"),
    "newer format": (lambda valid_file: rule_file_with(valid_file, format_version=9), "format version 9"),
    "wrong kind": (lambda valid_file: rule_file_with(valid_file, kind="forest"), "'forest'"),
    "kind of another type": (lambda valid_file: rule_file_with(valid_file, kind=[1]), "kind"),
    "missing key": (lambda valid_file: rule_file_with(valid_file, thresholds=...), "thresholds"),
    "wrong type": (lambda valid_file: rule_file_with(valid_file, thresholds=["a"]), "thresholds"),
    "too few thresholds": (lambda valid_file: rule_file_with(valid_file, thresholds=[0.5]), "inconsistent"),
    "falling edges": (
        lambda valid_file: rule_file_with(valid_file, uncertainty_edges=[2.0, 1.0], thresholds=[0.5] * 3),
        "ascending",
    ),
    "number out of range": (
        lambda valid_file: valid_file.read_text().replace('"thresholds": [', '"thresholds": [1e999, '),
        "out of range",
    ),
}


@pytest.mark.covering("thorough")
@pytest.mark.parametrize("problem", BAD_ARTIFACTS)
@pytest.mark.parametrize("case", READ_ARTIFACTS, ids=name_of)
def test_a_bad_rule_file_is_an_error(uqcli, case, problem, data, artifact, tmp_path):
    make_file, message_part = BAD_ARTIFACTS[problem]
    bad = tmp_path / "bad.json"
    bad.write_text(make_file(artifact))
    assert message_part in refuse(uqcli, case, data, bad, tmp_path, 5)


@pytest.mark.parametrize("case", READ_ARTIFACTS, ids=name_of)
def test_a_missing_rule_file_is_an_error(uqcli, case, data, tmp_path):
    assert "nowhere.json" in refuse(uqcli, case, data, tmp_path / "nowhere.json", tmp_path, 3)


@pytest.mark.covering(
    "thorough", every=3, also=["shift---estimator bbse", "calibrate---method heterogeneous"]
)
@pytest.mark.parametrize(
    ("case", "option"),
    [(case, option) for case in CASES for option in case.out_of_range],
    ids=lambda value: name_of(value) or " ".join(value),
)
def test_options_out_of_range_are_errors(uqcli, case, option, data, artifact, tmp_path):
    refuse(uqcli, case, data, artifact, tmp_path, 2, *option)


@pytest.mark.parametrize("case", CASES, ids=name_of)
def test_unknown_options_are_errors(uqcli, case, data, artifact, tmp_path):
    assert "--no-such-option" in refuse(uqcli, case, data, artifact, tmp_path, 2, "--no-such-option")


@pytest.mark.covering("thorough")
@pytest.mark.parametrize("check", ["precision", "precision < high", "precision < nan", "< 0.5"])
@pytest.mark.parametrize("case", [case for case in CASES if case.json], ids=name_of)
def test_unreadable_checks_are_errors(uqcli, case, check, data, artifact, tmp_path):
    refuse(uqcli, case, data, artifact, tmp_path, 2, "--fail-if", check)


@pytest.mark.parametrize("case", [case for case in CASES if case.json], ids=name_of)
def test_an_unknown_metric_of_a_check_is_an_error(uqcli, case, data, artifact, tmp_path):
    message = refuse(uqcli, case, data, artifact, tmp_path, 2, "--fail-if", "happiness < 1")
    assert "happiness" in message
    assert case.metric in message


@pytest.mark.parametrize("case", READ_DATA, ids=name_of)
def test_a_missing_input_is_an_error(uqcli, case, data, artifact, tmp_path):
    arguments_without_input = [argument for argument in case.arguments(data, artifact) if argument != data]
    outcome = uqcli(*arguments_without_input)
    assert outcome.code == 2
    assert outcome.err.startswith("error: no INPUT")


@pytest.mark.covering("thorough")
@pytest.mark.parametrize("output", ["missing/out", "folder", "/dev/full"])
@pytest.mark.parametrize("case", WRITE, ids=name_of)
def test_an_unwritable_output_is_an_error(uqcli, case, output, data, artifact, tmp_path):
    (tmp_path / "folder").mkdir()
    message = refuse(uqcli, case, data, artifact, tmp_path, 3, "-o", output)
    assert output in message


@pytest.mark.parametrize("case", [case for case in CASES if case.json], ids=name_of)
def test_unwritable_reports_and_unknown_endings_are_errors(uqcli, case, data, artifact, tmp_path):
    refuse(uqcli, case, data, artifact, tmp_path, 3, "--report", tmp_path / "missing" / "r.md")
    refuse(uqcli, case, data, artifact, tmp_path, 2, "--report", tmp_path / "r.docx")


@pytest.mark.parametrize("case", READ_DATA, ids=name_of)
def test_a_closed_standard_input_is_an_error(uqcli, case, artifact, monkeypatch):
    import sys

    from uqcli.cli.app import run

    monkeypatch.setattr(sys, "stdin", None)
    assert run([str(argument) for argument in case.arguments("-", artifact)]) == 3


@pytest.mark.parametrize("case", WRITE, ids=name_of)
def test_output_and_report_must_differ(uqcli, case, data, artifact, tmp_path):
    output = tmp_path / "same.json"
    refuse(uqcli, case, data, artifact, tmp_path, 2, "-o", output, "--report", tmp_path / "." / "same.json")


@pytest.mark.parametrize("case", [case for case in WRITE if case.reads_artifact], ids=name_of)
def test_the_rule_file_must_not_be_the_output(uqcli, case, data, artifact, tmp_path):
    refuse(uqcli, case, data, artifact, tmp_path, 2, "-o", artifact)


@pytest.mark.parametrize(
    "case", [case for case in READ_LABELS if case.reads_data and case.counts_rows], ids=name_of
)
def test_weights_without_a_valid_sum_are_errors(uqcli, case, artifact, tmp_path):
    weights = {"score": [0.9] * 2048, "uncertainty": [0.0] * 2048, "label": [1] * 2048}
    weights["when"] = ["2026-01-01"] * 2048
    path = frame_file(tmp_path, weights | {"w": [2**53] * 2048})
    assert "by weight" in refuse(uqcli, case, path, artifact, tmp_path, 3, "--weight", "w")
    path = frame_file(tmp_path, weights | {"w": [0] * 2048})
    assert "weight 0" in refuse(uqcli, case, path, artifact, tmp_path, 3, "--weight", "w")
    path = frame_file(tmp_path, weights | {"w": [1.5] * 2048})
    assert "non-negative integers" in refuse(uqcli, case, path, artifact, tmp_path, 3, "--weight", "w")


@pytest.mark.covering("thorough")
@pytest.mark.parametrize("value", [float("nan"), float("inf"), None])
@pytest.mark.parametrize("case", [case for case in READ_LABELS if not case.dated], ids=name_of)
def test_unusable_labels_beside_a_named_positive_are_errors(uqcli, case, value, artifact, tmp_path):
    path = frame_file(tmp_path, {"score": [0.9, 0.8], "uncertainty": [0.0, 1.0], "label": [1.0, value]})
    assert "'label' has 1 null" in refuse(uqcli, case, path, artifact, tmp_path, 3, "--positive", "1")


@pytest.mark.covering("thorough")
@pytest.mark.parametrize("positive", [(), ("--positive", "1")], ids=["by value", "by text"])
@pytest.mark.parametrize("case", [case for case in READ_LABELS if not case.dated], ids=name_of)
def test_nan_labels_are_null_labels_in_every_format(uqcli, case, positive, artifact, tmp_path):
    rows = {"score": [0.9, 0.8], "uncertainty": [0.0, 1.0], "label": [1.0, float("nan")]}
    messages = set()
    for ending, write in (("csv", "write_csv"), ("parquet", "write_parquet"), ("arrow", "write_ipc")):
        path = tmp_path / f"d.{ending}"
        getattr(pl.DataFrame(rows), write)(path)
        message = refuse(uqcli, case, path, artifact, tmp_path, 3, *positive)
        messages.add(message.replace(f"d.{ending}", ""))
    assert "column 'label' has 1 null" in messages.pop()
    assert not messages
