"""Tests that rule files of earlier versions still load, apply and evaluate, with the same results as then.

Each folder has the name of the version that wrote it. ``python -m tests.saved.test_saved_artifacts
VERSION`` writes the expected results of a new folder with the current version; never do so again later.
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
    """Choose the rows for a rule: one score, or a probability per class."""
    by_class = any(role.startswith("proba.") for role in artifact["source"]["columns"])
    return HERE / ("class_rows.csv" if by_class else "rows.csv")


def report(*arguments):
    """Run a command line that must succeed, and return its JSON report."""
    out = io.StringIO()
    with redirect_stdout(out):
        code = run([*map(str, arguments), "--json", "--no-config"])
    assert code == 0, arguments
    return json.loads(out.getvalue())


def added_columns(path, rows, output):
    """Return the columns that ``apply`` adds, as text, with prediction sets in one column."""
    assert run(["apply", str(path), str(rows), "-q", "--no-config", "-o", str(output)]) == 0
    input_columns = pl.read_csv(rows, infer_schema=False).columns
    frame = pl.read_csv(output, infer_schema=False).drop(input_columns)
    sets = [name for name in frame.columns if name.startswith("in_")]
    result = {name: frame[name].to_list() for name in frame.columns if name not in sets}
    if sets:
        result["set"] = [
            " ".join(name.removeprefix("in_") for name in sets if row[name] == "true")
            for row in frame.iter_rows(named=True)
        ]
    return result


def evaluation(path, artifact, rows, output):
    """Return the point values of ``evaluate``, or of the command that reads this kind of rule."""
    kind = artifact["kind"]
    if kind == "grid":
        return report("bin", rows, "--edges", path)["metrics"]["rows"]
    if kind == "shift":
        proba = ["--proba", "p_*"] if rows.name == "class_rows.csv" else []
        report("conformal", rows, "--mode", "label-shift", "--shift", path, *proba, "-o", output)
        return json.loads(output.read_text())["weights"]
    metrics = report("evaluate", path, rows)["metrics"]
    return {name: point_value(metrics[name]) for name in PINNED[kind]}


def point_value(metric):
    """Return a metric without its interval."""
    if not isinstance(metric, dict):
        return metric
    return (
        metric["value"] if "value" in metric else {name: point_value(value) for name, value in metric.items()}
    )


def results(path, output):
    """Return the expected results of one rule file."""
    artifact = json.loads(path.read_text())
    rows = rows_of(artifact)
    added = None if artifact["kind"] == "shift" else added_columns(path, rows, output)
    return {"apply": added, "measured": evaluation(path, artifact, rows, output)}


def nearly_equal(actual, expected):
    """Compare texts and counts exactly, and floats to 12 digits."""
    if isinstance(expected, dict):
        return set(actual) >= set(expected) and all(
            nearly_equal(actual[name], expected[name]) for name in expected
        )
    if isinstance(expected, list):
        return len(actual) == len(expected) and all(map(nearly_equal, actual, expected))
    if isinstance(expected, float):
        return actual == pytest.approx(expected, rel=1e-12)
    if isinstance(expected, str) and "." in expected:
        return float(actual) == pytest.approx(float(expected), rel=1e-12)
    return actual == expected


@pytest.mark.parametrize("path", SAVED, ids=lambda path: f"{path.parent.name}-{path.stem}")
def test_a_saved_rule_is_exported_or_refused_in_one_line(path, capsys, tmp_path):
    code = run(["export", str(path), "--to", "python", "-q", "--no-config", "-o", str(tmp_path / "rule.py")])
    if code:
        assert code == 2
        assert len(capsys.readouterr().err.strip().splitlines()) == 1
    is_refused = any(
        word in path.stem for word in ("shift_", "aps", "boosted", "conformal_binary", "conformal_shift")
    )
    assert bool(code) == is_refused


@pytest.mark.parametrize("path", SAVED, ids=lambda path: f"{path.parent.name} {path.stem}")
def test_a_saved_rule_file_gives_its_results(path, tmp_path):
    expected = json.loads((path.parent / "expected.json").read_text())[path.stem]
    actual = results(path, tmp_path / "applied.csv")
    assert nearly_equal(actual["apply"], expected["apply"])
    assert nearly_equal(actual["measured"], expected["measured"])


@pytest.mark.parametrize("path", SAVED, ids=lambda path: f"{path.parent.name} {path.stem}")
def test_a_saved_rule_file_can_be_shown(path, capsys):
    assert run(["show", str(path), "--no-config", "--verbose"]) == 0
    assert path.parent.name in capsys.readouterr().out or path.stem.startswith("grid")


def test_every_kind_map_and_algorithm_of_the_first_version_is_saved():
    artifacts = [json.loads(path.read_text()) for path in HERE.glob("0.1.0/*_*.json")]
    assert {artifact["kind"] for artifact in artifacts} == {
        "grid",
        "boundary",
        "calibrator",
        "conformal",
        "shift",
    }
    maps = {artifact["calibration"]["map"] for artifact in artifacts if artifact["kind"] == "calibrator"}
    assert maps == {
        "logistic", "beta", "isotonic", "histogram", "identity", "by-uncertainty", "trees", "groups"
    }  # fmt: skip
    algorithms = {artifact["algorithm"] for artifact in artifacts if artifact["kind"] == "boundary"}
    assert algorithms == {"vw-dpmt", "ew-dpmt", "mist", "gmt", "hr", "st"}


def write_expected_results(folder):
    """Write the results of the current version beside its rule files."""
    output = folder / "applied.csv"
    results_by_rule = {path.stem: results(path, output) for path in sorted(folder.glob("*_*.json"))}
    output.unlink()
    lines = (f"  {json.dumps(name)}: {json.dumps(result)}" for name, result in results_by_rule.items())
    (folder / "expected.json").write_text("{\n" + ",\n".join(lines) + "\n}\n")


if __name__ == "__main__":
    write_expected_results(HERE / sys.argv[1])
