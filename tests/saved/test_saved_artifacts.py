"""Artifacts that earlier versions wrote still load, apply and evaluate, with the results of their day.

The folders are named after the version that wrote them. ``python -m tests.saved.test_saved_artifacts
VERSION`` pins what the program at hand makes of a new folder; an old one is never pinned again.
"""

import io
import json
import sys
from contextlib import redirect_stdout
from pathlib import Path

import polars as pl
import pytest

from uqcli.cli.app import run

HERE = Path(__file__).parent
SAVED = sorted(HERE.glob("*/*_*.json"))
PINNED = {
    "boundary": ["precision", "recall", "selected", "true_positives", "rows", "positives"],
    "calibrator": ["after"],
    "conformal": ["coverage", "mean_set_size"],
}


def rows_of(artifact):
    """The rows an artifact is tried on: one score, or a probability of each class."""
    by_class = any(role.startswith("proba.") for role in artifact["source"]["columns"])
    return HERE / ("class_rows.csv" if by_class else "rows.csv")


def report(*arguments):
    """The JSON report of a command line that must end well."""
    out = io.StringIO()
    with redirect_stdout(out):
        code = run([*map(str, arguments), "--json", "--no-config"])
    assert code == 0, arguments
    return json.loads(out.getvalue())


def added_columns(path, rows, place):
    """What ``apply`` adds to the rows, as text; sets in one column."""
    assert run(["apply", str(path), str(rows), "-q", "--no-config", "-o", str(place)]) == 0
    old = pl.read_csv(rows, infer_schema=False).columns
    frame = pl.read_csv(place, infer_schema=False).drop(old)
    sets = [name for name in frame.columns if name.startswith("in_")]
    result = {name: frame[name].to_list() for name in frame.columns if name not in sets}
    if sets:
        result["set"] = [
            " ".join(name.removeprefix("in_") for name in sets if row[name] == "true")
            for row in frame.iter_rows(named=True)
        ]
    return result


def measured(path, artifact, rows, place):
    """Point values of ``evaluate``, or what else reads such an artifact."""
    kind = artifact["kind"]
    if kind == "grid":
        return report("bin", rows, "--edges", path)["metrics"]["rows"]
    if kind == "shift":
        proba = ["--proba", "p_*"] if rows.name == "class_rows.csv" else []
        report("conformal", rows, "--mode", "label-shift", "--shift", path, *proba, "-o", place)
        return json.loads(place.read_text())["weights"]
    metrics = report("evaluate", path, rows)["metrics"]
    return {name: plain(metrics[name]) for name in PINNED[kind]}


def plain(metric):
    """A metric without its interval."""
    if not isinstance(metric, dict):
        return metric
    return metric["value"] if "value" in metric else {name: plain(each) for name, each in metric.items()}


def results(path, place):
    """Everything that is pinned of one artifact."""
    artifact = json.loads(path.read_text())
    rows = rows_of(artifact)
    added = None if artifact["kind"] == "shift" else added_columns(path, rows, place)
    return {"apply": added, "measured": measured(path, artifact, rows, place)}


def same(actual, expected):
    """Equal texts and counts; floating numbers to the last digits but two."""
    if isinstance(expected, dict):
        return set(actual) >= set(expected) and all(same(actual[name], expected[name]) for name in expected)
    if isinstance(expected, list):
        return len(actual) == len(expected) and all(map(same, actual, expected))
    if isinstance(expected, float):
        return actual == pytest.approx(expected, rel=1e-12)
    if isinstance(expected, str) and "." in expected:
        return float(actual) == pytest.approx(float(expected), rel=1e-12)
    return actual == expected


@pytest.mark.parametrize("path", SAVED, ids=lambda path: f"{path.parent.name} {path.stem}")
def test_a_saved_artifact_gives_its_results(path, tmp_path):
    expected = json.loads((path.parent / "expected.json").read_text())[path.stem]
    actual = results(path, tmp_path / "applied.csv")
    assert same(actual["apply"], expected["apply"])
    assert same(actual["measured"], expected["measured"])


@pytest.mark.parametrize("path", SAVED, ids=lambda path: f"{path.parent.name} {path.stem}")
def test_a_saved_artifact_can_be_shown(path, capsys):
    assert run(["show", str(path), "--no-config", "--verbose"]) == 0
    assert path.parent.name in capsys.readouterr().out or path.stem.startswith("grid")


def test_every_kind_map_and_algorithm_of_the_first_version_is_saved():
    artifacts = [json.loads(path.read_text()) for path in HERE.glob("0.1.0/*_*.json")]
    assert {each["kind"] for each in artifacts} == {"grid", "boundary", "calibrator", "conformal", "shift"}
    maps = {each["calibration"]["map"] for each in artifacts if each["kind"] == "calibrator"}
    assert maps == {
        "logistic", "beta", "isotonic", "histogram", "identity", "by-uncertainty", "trees", "groups"
    }  # fmt: skip
    algorithms = {each["algorithm"] for each in artifacts if each["kind"] == "boundary"}
    assert algorithms == {"vw-dpmt", "ew-dpmt", "mist", "gmt", "hr", "st"}


def pin(folder):
    """Write the results of the program at hand beside the artifacts of its version."""
    place = folder / "applied.csv"
    found = {path.stem: results(path, place) for path in sorted(folder.glob("*_*.json"))}
    place.unlink()
    lines = (f"  {json.dumps(name)}: {json.dumps(each)}" for name, each in found.items())
    (folder / "expected.json").write_text("{\n" + ",\n".join(lines) + "\n}\n")


if __name__ == "__main__":
    pin(HERE / sys.argv[1])
