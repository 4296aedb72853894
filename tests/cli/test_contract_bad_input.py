"""Every command meets bad input with its exit code, one line, and nothing left behind."""

import gzip
import json

import polars as pl
import pytest

from tests.cli.cases import CASES, READ_ARTIFACTS, READ_DATA, READ_LABELS, WRITE
from uqcli.cli.app import program

HEADER = "score,uncertainty,label\n"


def name_of(value):
    return getattr(value, "name", None)


def registered():
    return {command.name for command in program().registered_commands}


def test_every_command_has_contract_tests():
    assert {case.name for case in CASES} == registered()


def refuse(uqcli, case, data, artifact, tmp_path, code, *more):
    """Run a command that must fail, and check how it fails."""
    arguments = case.arguments(data, artifact) + list(more)
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
    def make(place, good):
        (place / name).write_bytes(content)
        return place / name

    return make


def truncated(suffix, keep):
    def make(place, good):
        path = place / f"cut{suffix}"
        content = good.read_bytes() if suffix == ".parquet" else gzip.compress(HEADER.encode() * 5000)
        path.write_bytes(content[: int(len(content) * keep)])
        return path

    return make


def damaged_arrow(place, good):
    """An Arrow file whose labels are texts with offsets that point outside the data."""
    frame = pl.read_parquet(good).with_columns(pl.col("label").cast(pl.String))
    path = place / "damaged.arrow"
    frame.write_ipc(path, compat_level=pl.CompatLevel.oldest())
    content = bytearray(path.read_bytes())
    at = content.index(frame["label"].str.join("").item().encode()[:40])
    content[at - 3000 : at - 2000] = b"\xff" * 1000
    path.write_bytes(content)
    return path


BAD_DATA = {
    "missing file": (lambda place, good: place / "nowhere.csv", "nowhere.csv"),
    "glob without match": (lambda place, good: place / "none*.csv", "none"),
    "directory without data": (lambda place, good: (place / "folder").mkdir() or place / "folder", "folder"),
    "unknown ending": (text_file("data.xlsx", b"PK"), "--format"),
    "truncated Parquet": (truncated(".parquet", 0.6), "cut.parquet"),
    "Parquet cut to its magic": (truncated(".parquet", 0.001), "cut.parquet"),
    "truncated gzip": (truncated(".csv.gz", 0.5), "cut.csv.gz"),
    "text named Parquet": (text_file("bad.parquet", b"score,label\n1,2\n"), "bad.parquet"),
    "text named Arrow": (text_file("bad.arrow", b"score,label\n1,2\n"), "bad.arrow"),
    "Parquet named CSV": (lambda place, good: good.rename(place / "bad.csv"), "bad.csv"),
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
    "bare carriage returns": (text_file("d.csv", b"score,uncertainty,label\r0.5,1,1\r"), "carriage"),
    "header without end": (text_file("d.csv", b"x" * (5 << 20)), "end of line"),
    "huge field in the header": (text_file("d.csv", b"x" * 200_000 + b",score\n1,1\n"), "header"),
    "name too long": (lambda place, good: place / ("n" * 300 + ".csv"), "cannot read"),
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
    "missing column": (text_file("d.csv", b"scores,uncertainty,label\n0.5,1,1\n"), "did you mean 'scores'"),
    "score twice": (text_file("d.csv", b"score,score,uncertainty,label\n1,1,1,1\n"), "2 times"),
    "score of booleans": (
        lambda place, good: frame_file(place, {"score": [True], "uncertainty": [0.1], "label": [1]}),
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
    ("columns", "wanted", "hint"),
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
def test_hints_never_change_meaning(uqcli, tmp_path, artifact, columns, wanted, hint):
    (tmp_path / "d.csv").write_text(",".join(columns) + "\n0.5,1,1\n")
    role = wanted.partition("_")[0]
    for line in (("boundary", "d.csv", "--precision", "0.5"), ("apply", artifact, "d.csv")):
        outcome = uqcli(*line, f"--{role}", wanted)
        assert outcome.code == 3
        assert ("did you mean" in outcome.err) == (hint is not None)
        assert f"did you mean {hint or ''}" in outcome.err or hint is None
        alone = line[0] == "boundary" and role == "uncertainty"
        assert ("--algorithm st" in outcome.err) == alone


@pytest.mark.parametrize(
    ("content", "cut"),
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
def test_no_row_of_a_cut_file_is_to_be_left_out(uqcli, tmp_path, content, cut):
    (tmp_path / "d.csv").write_text(HEADER + content)
    said = uqcli("tce", "d.csv").err
    assert ("check that the file was written to its end" in said) == cut
    assert ("--on-invalid drop" in said) == (not cut)


def frame_file(place, columns):
    path = place / "frame.parquet"
    pl.DataFrame(columns).write_parquet(path)
    return path


@pytest.mark.parametrize("problem", BAD_DATA)
@pytest.mark.parametrize("case", READ_DATA, ids=name_of)
def test_bad_data(uqcli, case, problem, data, artifact, tmp_path):
    make, said = BAD_DATA[problem]
    message = refuse(uqcli, case, make(tmp_path, data), artifact, tmp_path, 3)
    assert said in message


@pytest.mark.parametrize("problem", BAD_LABELS)
@pytest.mark.parametrize("case", READ_LABELS, ids=name_of)
def test_bad_labels(uqcli, case, problem, data, artifact, tmp_path):
    make, said = BAD_LABELS[problem]
    message = refuse(uqcli, case, make(tmp_path, data), artifact, tmp_path, 3)
    assert said in message


def changed(artifact, **keys):
    content = json.loads(artifact.read_text())
    content.update(keys)
    return json.dumps({key: value for key, value in content.items() if value is not ...})


BAD_ARTIFACTS = {
    "not JSON": (lambda good: "thresholds: 0.5", "not JSON"),
    "empty": (lambda good: "", "not JSON"),
    "binary": (lambda good: "\x00\x01", "not JSON"),
    "no object": (lambda good: "[1, 2]", "not a uqcli rule file"),
    "not ours": (lambda good: '{"a": 1}', "not a uqcli rule file"),
    "newer format": (lambda good: changed(good, format_version=2), "format version 2"),
    "wrong kind": (lambda good: changed(good, kind="forest"), "'forest'"),
    "kind of another type": (lambda good: changed(good, kind=[1]), "kind"),
    "missing key": (lambda good: changed(good, thresholds=...), "thresholds"),
    "wrong type": (lambda good: changed(good, thresholds=["a"]), "thresholds"),
    "too few thresholds": (lambda good: changed(good, thresholds=[0.5]), "inconsistent"),
    "falling edges": (
        lambda good: changed(good, uncertainty_edges=[2.0, 1.0], thresholds=[0.5] * 3),
        "ascending",
    ),
    "number out of range": (
        lambda good: good.read_text().replace('"thresholds": [', '"thresholds": [1e999, '),
        "out of range",
    ),
}


@pytest.mark.parametrize("problem", BAD_ARTIFACTS)
@pytest.mark.parametrize("case", READ_ARTIFACTS, ids=name_of)
def test_bad_artifact(uqcli, case, problem, data, artifact, tmp_path):
    make, said = BAD_ARTIFACTS[problem]
    bad = tmp_path / "bad.json"
    bad.write_text(make(artifact))
    assert said in refuse(uqcli, case, data, bad, tmp_path, 5)


@pytest.mark.parametrize("case", READ_ARTIFACTS, ids=name_of)
def test_missing_artifact(uqcli, case, data, tmp_path):
    assert "nowhere.json" in refuse(uqcli, case, data, tmp_path / "nowhere.json", tmp_path, 3)


@pytest.mark.parametrize(
    ("case", "option"),
    [(case, option) for case in CASES for option in case.out_of_range],
    ids=lambda value: name_of(value) or " ".join(value),
)
def test_option_out_of_range(uqcli, case, option, data, artifact, tmp_path):
    refuse(uqcli, case, data, artifact, tmp_path, 2, *option)


@pytest.mark.parametrize("case", CASES, ids=name_of)
def test_unknown_option(uqcli, case, data, artifact, tmp_path):
    assert "--no-such-option" in refuse(uqcli, case, data, artifact, tmp_path, 2, "--no-such-option")


@pytest.mark.parametrize("gate", ["precision", "precision < high", "precision < nan", "< 0.5"])
@pytest.mark.parametrize("case", [case for case in CASES if case.json], ids=name_of)
def test_unreadable_gate(uqcli, case, gate, data, artifact, tmp_path):
    refuse(uqcli, case, data, artifact, tmp_path, 2, "--fail-if", gate)


@pytest.mark.parametrize("case", [case for case in CASES if case.json], ids=name_of)
def test_unknown_metric_of_a_gate(uqcli, case, data, artifact, tmp_path):
    message = refuse(uqcli, case, data, artifact, tmp_path, 2, "--fail-if", "happiness < 1")
    assert "happiness" in message
    assert case.gate in message


@pytest.mark.parametrize("case", READ_DATA, ids=name_of)
def test_no_input(uqcli, case, data, artifact, tmp_path):
    without = [each for each in case.arguments(data, artifact) if each != data]
    outcome = uqcli(*without)
    assert outcome.code == 2
    assert outcome.err.startswith("error: no INPUT")


@pytest.mark.parametrize("place", ["missing/out", "folder", "/dev/full"])
@pytest.mark.parametrize("case", WRITE, ids=name_of)
def test_unwritable_output(uqcli, case, place, data, artifact, tmp_path):
    (tmp_path / "folder").mkdir()
    message = refuse(uqcli, case, data, artifact, tmp_path, 3, "-o", place)
    assert place in message


@pytest.mark.parametrize("case", [case for case in CASES if case.json], ids=name_of)
def test_unwritable_report_and_its_unknown_ending(uqcli, case, data, artifact, tmp_path):
    refuse(uqcli, case, data, artifact, tmp_path, 3, "--report", tmp_path / "missing" / "r.md")
    refuse(uqcli, case, data, artifact, tmp_path, 2, "--report", tmp_path / "r.docx")


@pytest.mark.parametrize("case", READ_DATA, ids=name_of)
def test_a_closed_standard_input(uqcli, case, artifact, monkeypatch):
    import sys

    from uqcli.cli.app import run

    monkeypatch.setattr(sys, "stdin", None)
    assert run([str(argument) for argument in case.arguments("-", artifact)]) == 3


@pytest.mark.parametrize("case", WRITE, ids=name_of)
def test_output_and_report_in_one_place(uqcli, case, data, artifact, tmp_path):
    place = tmp_path / "same.json"
    refuse(uqcli, case, data, artifact, tmp_path, 2, "-o", place, "--report", tmp_path / "." / "same.json")


@pytest.mark.parametrize("case", [case for case in WRITE if case.reads_artifact], ids=name_of)
def test_the_artifact_is_not_an_output(uqcli, case, data, artifact, tmp_path):
    refuse(uqcli, case, data, artifact, tmp_path, 2, "-o", artifact)


@pytest.mark.parametrize("case", [case for case in READ_LABELS if case.reads_data], ids=name_of)
def test_weights_that_cannot_be_added_up(uqcli, case, artifact, tmp_path):
    weights = {"score": [0.9] * 2048, "uncertainty": [0.0] * 2048, "label": [1] * 2048}
    path = frame_file(tmp_path, weights | {"w": [2**53] * 2048})
    assert "by weight" in refuse(uqcli, case, path, artifact, tmp_path, 3, "--weight", "w")
    path = frame_file(tmp_path, weights | {"w": [0] * 2048})
    assert "weight 0" in refuse(uqcli, case, path, artifact, tmp_path, 3, "--weight", "w")
    path = frame_file(tmp_path, weights | {"w": [1.5] * 2048})
    assert "non-negative integers" in refuse(uqcli, case, path, artifact, tmp_path, 3, "--weight", "w")


@pytest.mark.parametrize("value", [float("nan"), float("inf"), None])
@pytest.mark.parametrize("case", READ_LABELS, ids=name_of)
def test_an_unusable_label_beside_a_named_positive(uqcli, case, value, artifact, tmp_path):
    path = frame_file(tmp_path, {"score": [0.9, 0.8], "uncertainty": [0.0, 1.0], "label": [1.0, value]})
    assert "'label' has 1 null" in refuse(uqcli, case, path, artifact, tmp_path, 3, "--positive", "1")


@pytest.mark.parametrize("positive", [(), ("--positive", "1")], ids=["by value", "by text"])
@pytest.mark.parametrize("case", READ_LABELS, ids=name_of)
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
