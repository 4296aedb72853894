"""Tests that files of earlier versions still load, apply and evaluate, with the same results as then.

Each folder has the name of the version that wrote it. ``tests/saved/make.py`` writes the folder of a release.
"""

import inspect
import io
import json
import shutil
from contextlib import redirect_stdout
from pathlib import Path

import numpy as np
import polars as pl
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from uqcli.base.defaults import VERSION
from uqcli.cli.app import run

HERE = Path(__file__).parent
STATES = sorted(HERE.glob("*/state_*.json"))
SAVED = sorted({*HERE.glob("*/*_*.json")} - {*STATES})
LATEST = HERE / "0.4.0"
PYTHON, SQL = (sorted(HERE.glob(f"*/*.{ending}")) for ending in ("py.txt", "sql"))
PINNED = {
    "boundary": [
        *("precision", "recall", "fpr", "selected", "true_positives", "rows", "positives"),
        *("caught", "review_share", "miss", "value", "value_caught"),
    ],
    "calibrator": ["before", "after"],
    "conformal": ["coverage", "mean_set_size", "coverage_by_class"],
}
MAX_ULP = 4
"""Number of neighbouring doubles by which calibrated values may differ, since libraries round exp and log."""


def name_of(path):
    return f"{path.parent.name} {path.stem}"


def rows_of(path, artifact):
    """Choose the rows for a rule: those saved with it, with one score or a probability per class."""
    by_class = _has_classes(artifact)
    saved = path.parent / ("new_classes.csv" if by_class else "rows.csv")
    return saved if saved.exists() else HERE / ("class_rows.csv" if by_class else "rows.csv")


def _has_classes(artifact):
    return any(role.startswith("proba.") for role in artifact["source"]["columns"])


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
        proba = ["--proba", "p_*"] if _has_classes(artifact) else []
        sets = output.with_suffix(".json")
        report("conformal", rows, "--mode", "label-shift", "--shift", path, *proba, "-o", sets)
        weights = json.loads(sets.read_text())["weights"]
        sets.unlink()
        return weights
    whole = report("evaluate", path, rows)
    metrics = whole["metrics"]
    return {name: point_value(metrics[name]) for name in PINNED[kind] if name in metrics}


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
    rows = rows_of(path, artifact)
    added = None if artifact["kind"] == "shift" else added_columns(path, rows, output)
    return {"apply": added, "measured": evaluation(path, artifact, rows, output)}


def nearly_equal(actual, expected):
    """Compare texts and counts exactly, and measured floats to 12 digits."""
    if isinstance(expected, dict):
        return set(actual) >= set(expected) and all(
            nearly_equal(actual[name], expected[name]) for name in expected
        )
    if isinstance(expected, list):
        return len(actual) == len(expected) and all(map(nearly_equal, actual, expected))
    if isinstance(expected, float):
        return actual == pytest.approx(expected, rel=1e-12)
    return actual == expected


def assert_same_columns(actual, expected):
    """Compare added columns: texts exactly, and numbers within a few neighbouring doubles."""
    assert list(actual or ()) == list(expected or ())
    for name, values in (expected or {}).items():
        if any("." in str(value) and value is not None for value in values):
            assert_same_numbers([float(value or "nan") for value in actual[name]], map(float, values))
        else:
            assert actual[name] == values, name


def assert_same_numbers(actual, expected):
    actual, expected = (np.array([*values], float) for values in (actual, expected))
    np.testing.assert_array_max_ulp(actual, expected, MAX_ULP)


@pytest.mark.covering("thorough", every=3)
@pytest.mark.parametrize("path", SAVED, ids=name_of)
def test_a_saved_rule_is_exported_or_refused_in_one_line(path, capsys, tmp_path):
    code = run(["export", str(path), "--to", "python", "-q", "--no-config", "-o", str(tmp_path / "rule.py")])
    if code:
        assert code == 2
        assert len(capsys.readouterr().err.strip().splitlines()) == 1
    is_refused = path.stem.endswith(("boosted", "first_rows")) or any(
        json.loads(path.read_text()).get(key) in names
        for key, names in (("kind", ("shift",)), ("method", ("aps",)))
    )
    assert bool(code) == is_refused


@pytest.mark.covering("thorough", every=3)
@pytest.mark.parametrize("path", SAVED, ids=name_of)
def test_a_saved_rule_file_gives_its_results(path, tmp_path):
    expected = json.loads((path.parent / "expected.json").read_text())[path.stem]
    actual = results(path, tmp_path / "applied.csv")
    assert_same_columns(actual["apply"], expected["apply"])
    assert nearly_equal(actual["measured"], expected["measured"])


@pytest.mark.covering("thorough", every=3)
@pytest.mark.parametrize("path", [*SAVED, *STATES], ids=name_of)
def test_a_saved_file_can_be_shown(path, capsys):
    assert run(["show", str(path), "--no-config", "--verbose"]) == 0
    assert path.parent.name in capsys.readouterr().out or path.stem.startswith("grid")


@pytest.mark.covering("thorough", every=2)
@pytest.mark.parametrize("path", STATES, ids=name_of)
def test_a_saved_state_knows_its_batches_and_counts_new_ones(path, tmp_path):
    saved = json.loads(path.read_text())
    (rule,) = (rule for rule in SAVED if json.loads(rule.read_text()).get("digest") == saved["artifact"])
    rows, copy = rows_of(rule, json.loads(rule.read_text())), shutil.copy(path, tmp_path)
    parameters = saved["parameters"]
    options = ["--bound", parameters["bound"]] if parameters["bound"] else []
    options += ["--cluster", parameters["cluster"]] if "cluster" in parameters else []
    if parameters["day"]:
        options += ["--day", parameters["day"]]
        options += ["--matured", str(parameters["matured"])] if parameters["matured"] else []
    line = ["watch", str(rule), "--state", str(copy), "-q", "--no-config", *options]
    is_alarmed = any(promise.get("alarmed_at") for promise in saved["promises"])
    assert run([*line, str(rows)]) == (6 if is_alarmed else 0)
    again = json.loads(Path(copy).read_text())
    assert (again["promises"], again["batches"]) == (saved["promises"], saved["batches"])
    if parameters["day"] is None:
        part = tmp_path / "part.csv"
        part.write_text("".join(rows.read_text().splitlines(keepends=True)[:40]))
        assert run([*line, str(part)]) == (6 if is_alarmed else 0)
        more = json.loads(Path(copy).read_text())
        assert len(more["batches"]) == 2
        assert more["batches"][:1] == saved["batches"]


@pytest.mark.parametrize(("version", "would"), [("0.3.0", "would not"), ("0.4.0", "would")])
def test_an_alarm_of_an_earlier_version_stays_until_it_is_acknowledged(version, would, tmp_path, capsys):
    path = HERE / version / "state_alarm.json"
    rule, copy = path.parent / "boundary_default.json", shutil.copy(path, tmp_path)
    line = ["watch", str(rule), str(rows_of(rule, json.loads(rule.read_text()))), "--state", str(copy)]
    assert run([*line, "--json", "--no-config"]) == 6
    notes = json.loads(capsys.readouterr().out)["notes"]
    (caution,) = (note for note in notes if f"uqcli {version} began this state" in note)
    assert "The alarm of precision >= 99 % stays until --acknowledge" in caution
    assert f"as it is computed now {would} have raised it." in caution
    assert json.loads(Path(copy).read_text())["promises"] == json.loads(path.read_text())["promises"]
    assert run([*line[:2], *line[3:], "--acknowledge", "--json", "--no-config"]) == 0
    assert not any("began this state" in note for note in json.loads(capsys.readouterr().out)["notes"])
    assert json.loads(Path(copy).read_text())["uqcli_version"] == VERSION


def program_of(text, row_frame):
    """Run the functions of an exported Python program on rows: their answers by name."""
    names = {}
    exec(text, names)
    functions = {name: value for name, value in names.items() if inspect.isfunction(value) and name[0] != "_"}
    assert functions
    return {
        name: [
            function(**{argument: row[argument] for argument in inspect.signature(function).parameters})
            for row in row_frame.iter_rows(named=True)
        ]
        for name, function in functions.items()
    }


@pytest.mark.parametrize("path", PYTHON, ids=name_of)
def test_an_exported_program_agrees_with_that_of_this_version(path, tmp_path):
    rule = path.parent / path.name.replace(".py.txt", ".json")
    rows = pl.read_csv(rows_of(rule, json.loads(rule.read_text())))
    now = tmp_path / "rule.py"
    assert run(["export", str(rule), "--to", "python", "-q", "--no-config", "-o", str(now)]) == 0
    new, old = (program_of(program.read_text(), rows) for program in (now, path))
    assert {*old} <= {*new}, "functions of earlier versions stay"
    for name, answers in old.items():
        assert_same_answers(new[name], answers)


@pytest.mark.covering("thorough", every=2)
@pytest.mark.parametrize("path", SQL, ids=name_of)
def test_an_exported_statement_agrees_with_that_of_this_version(path, tmp_path):
    import duckdb

    rule = path.with_suffix(".json")
    now, answers = tmp_path / "rule.sql", []
    assert run(["export", str(rule), "--to", "sql", "-q", "--no-config", "-o", str(now)]) == 0
    rows = rows_of(rule, json.loads(rule.read_text()))
    with duckdb.connect() as connection:
        for expression in (now, path):
            query = f"SELECT {expression.read_text()} FROM read_csv('{rows}')"
            answers.append(connection.execute(query).fetchall())
    assert_same_answers(*answers)


def assert_same_answers(actual, expected):
    def flat(answers):
        for answer in answers:
            values = answer.values() if isinstance(answer, dict) else answer
            yield from values if isinstance(answer, dict | tuple | list | set) else [answer]

    actual, expected = list(flat(actual)), list(flat(expected))
    if any(isinstance(value, float) for value in expected):
        assert_same_numbers(actual, expected)
    else:
        assert actual == expected


@pytest.mark.skipif(
    int(pa.__version__.split(".")[0]) < 26,
    reason="pyarrow reads missing lists of fixed size from version 26 on",
)
def test_a_file_of_all_types_is_written_as_then(tmp_path):
    now, then = tmp_path / "now.parquet", LATEST / "types_applied.parquet"
    rule, rows = (str(LATEST / name) for name in ("boundary_default.json", "types.parquet"))
    assert run(["apply", rule, rows, "-o", str(now), "-q", "--no-config"]) == 0
    tables = [pq.read_table(path) for path in (now, then)]
    assert tables[0].schema.equals(tables[1].schema, check_metadata=True)
    assert tables[0].equals(tables[1])
    footers = [pq.read_metadata(path) for path in (now, then)]
    assert footers[0].schema.equals(footers[1].schema)
    added = set(tables[1].column_names) - set(pq.read_schema(LATEST / "types.parquet").names)
    assert added == {"decision"}


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


def test_every_kind_method_and_algorithm_of_the_latest_version_is_saved():
    artifacts = [json.loads(path.read_text()) for path in LATEST.glob("*_*.json")]
    assert {artifact["kind"] for artifact in artifacts} == {
        *("grid", "boundary", "calibrator", "conformal", "shift", "watch")
    }
    algorithms = {artifact["algorithm"] for artifact in artifacts if artifact["kind"] == "boundary"}
    assert algorithms == {"smooth", "vw-dpmt", "ew-dpmt", "mist", "gmt", "hr", "st"}
    constraints = {artifact["constraint"]["kind"] for artifact in artifacts if artifact["kind"] == "boundary"}
    assert constraints == {
        *("precision", "recall", "max-selected", "max-fpr", "min-specificity", "max-omission", "utility")
    }
    assert any("also" in artifact["constraint"] for artifact in artifacts if artifact["kind"] == "boundary")
    methods = {artifact["method"] for artifact in artifacts if artifact["kind"] == "calibrator"}
    assert methods == {
        *("platt", "temperature", "beta", "isotonic", "histogram", "mist", "heterogeneous", "spline"),
        *("venn-abers", "prior", "vector", "matrix", "surface"),
    }
    modes = {
        (artifact["method"], artifact["mode"]) for artifact in artifacts if artifact["kind"] == "conformal"
    }
    assert {mode for _, mode in modes} == {"marginal", "label-conditional", "label-shift"}


def write_expected_results(folder):
    """Write the results of the current version beside its rule files."""
    output = folder / "applied.csv"
    rules = sorted({*folder.glob("*_*.json")} - {*folder.glob("state_*.json")})
    results_by_rule = {path.stem: results(path, output) for path in rules}
    output.unlink()
    lines = (f"  {json.dumps(name)}: {json.dumps(result)}" for name, result in results_by_rule.items())
    (folder / "expected.json").write_text("{\n" + ",\n".join(lines) + "\n}\n")
