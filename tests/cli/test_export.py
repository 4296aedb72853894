"""Tests of ``uqcli export``: the program computes what ``apply`` does, on all targets."""

import ast
import importlib.util
import json
import re
from dataclasses import replace
from pathlib import Path

import duckdb
import numpy as np
import polars as pl
import pytest
import sqlglot

import uqcli as library
from uqcli.base.choices import ExportTarget, SqlDialect
from uqcli.engines.request import DataRequest
from uqcli.export import check
from uqcli.export import run as job
from uqcli.export.check import compare
from uqcli.export.options import ExportRequest
from uqcli.export.python import to_python
from uqcli.export.sql import to_sql
from uqcli.rules.codec import load
from uqcli.rules.expressions import compared_texts

RULES = {
    "smooth": ("boundary", "rows.csv", "--precision", "0.6"),
    "st": ("boundary", "rows.csv", "--precision", "0.6", "--algorithm", "st"),
    "hr": ("boundary", "rows.csv", "--precision", "0.6", "--algorithm", "hr"),
    "vw-dpmt": ("boundary", "rows.csv", "--precision", "0.6", "--algorithm", "vw-dpmt"),
    "zones": ("boundary", "rows.csv", "--precision", "0.6", "--review", "20%"),
    "groups": ("boundary", "rows.csv", "--precision", "0.6", "--by", "site", "--bound", "each"),
    "classes": ("boundary", "classes.csv", "--proba", "p_*", "--precision", "0.6"),
    "classes each": ("boundary", "classes.csv", "--proba", "p_*", "--precision", "0.5", "--bound", "each"),
    "platt": ("calibrate", "rows.csv", "--method", "platt"),
    "temperature": ("calibrate", "rows.csv", "--method", "temperature"),
    "beta": ("calibrate", "rows.csv", "--method", "beta"),
    "isotonic": ("calibrate", "rows.csv", "--method", "isotonic"),
    "histogram": ("calibrate", "rows.csv", "--method", "histogram"),
    "mist": ("calibrate", "rows.csv", "--method", "mist"),
    "surface": ("calibrate", "rows.csv", "--method", "surface"),
    "curved surface": ("calibrate", "rows.csv", "--method", "surface", "--label", "middle"),
    "prior": ("calibrate", "rows.csv", "--undersampled", "7"),
    "logits": ("calibrate", "rows.csv", "--score", "logit", "--logit", "--method", "platt"),
    "partition": ("calibrate", "rows.csv", "--method", "heterogeneous", "--partition", "site"),
    "tree": (
        *("calibrate", "rows.csv", "--method", "heterogeneous", "--features", "site,number"),
        *("--partitioner", "tree", "--min-leaf", "300"),
    ),
    "forest": (
        *("calibrate", "rows.csv", "--method", "heterogeneous", "--features", "site,number"),
        *("--partitioner", "forest", "--max-depth", "1", "--min-leaf", "300", "--leaf-method", "isotonic"),
    ),
    "class venn-abers": ("calibrate", "classes.csv", "--proba", "p_*", "--method", "venn-abers"),
    "class temperature": ("calibrate", "classes.csv", "--proba", "p_*", "--method", "temperature"),
    "grid": ("bin", "rows.csv", "--score-bins", "20"),
    "one-dimensional grid": ("bin", "rows.csv", "--binning", "pava-bc"),
    "lac": ("conformal", "classes.csv", "--proba", "p_*", "--method", "lac"),
    "lac by group": ("conformal", "rows.csv", "--method", "lac", "--by", "site"),
}
REFUSED = {
    "aps": (("conformal", "classes.csv", "--proba", "p_*"), "method aps order the classes"),
    "boosted": (
        (
            *("calibrate", "rows.csv", "--method", "heterogeneous", "--features", "site"),
            *("--partitioner", "boosted"),
        ),
        "boosted trees",
    ),
    "shift": (
        ("shift", "classes.csv", "--target", "classes.csv", "--proba", "p_*"),
        "a rule file of kind shift computes nothing from a row",
    ),
}


def data(size=1500):
    random = np.random.default_rng(0)
    score, uncertainty = np.round(random.beta(2, 2, size), 3), random.normal(size=size)
    frame = pl.DataFrame(
        {
            "score": score,
            "logit": random.normal(0, 3, size),
            "uncertainty": uncertainty,
            "label": (random.random(size) < np.where(uncertainty > 0, score**3, score)).astype(int),
            "middle": (random.random(size) < 0.1 + 3 * score * (1 - score)).astype(int),
            "site": random.choice(["Oslo", "O'Hare", "true", "naïve"], size),
            "number": random.integers(0, 5, size),
        }
    )
    probability = random.dirichlet([1, 1, 2], size)
    label = [("a", "b", "c d")[random.choice(3, p=row)] for row in probability]
    classes = {f"p_{name}": probability[:, index] for index, name in enumerate(("a", "b", "c d"))}
    return frame, pl.DataFrame({**classes, "label": label})


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    """Write rows, and rows of class probabilities."""
    folder = tmp_path_factory.mktemp("export")
    rows, classes = data()
    rows.write_csv(folder / "rows.csv")
    classes.write_csv(folder / "classes.csv")
    return folder


@pytest.fixture
def made(uqcli, folder, monkeypatch):
    """Return a function that makes a rule, once, and names its rows; few rows are made, to be quick."""
    monkeypatch.chdir(folder)
    monkeypatch.setattr(check, "_MADE_ROWS", 2000)

    def make(name):
        command = RULES[name] if name in RULES else REFUSED[name][0]
        path = f"{name.replace(' ', '-')}.json"
        if not Path(path).exists():
            outcome = uqcli(*command, "-q", "-o", path)
            assert outcome.code == 0, outcome.err
        return path, command[1]

    return make


@pytest.mark.covering("thorough", every=6, also=["mist-onnx", "partition-onnx"])
@pytest.mark.parametrize("target", ExportTarget)
@pytest.mark.parametrize("name", RULES)
def test_the_program_computes_what_apply_does(uqcli, made, target, name):
    rule, rows = made(name)
    outcome = uqcli("export", rule, "--to", target, "--check", rows, "--json", "-o", "program")
    assert outcome.code == 0, outcome.err
    metrics = outcome.json["metrics"]
    assert (metrics["differences"], metrics["compared"] - metrics["made"]) == (0, 1500)
    assert metrics["made"] >= 2000
    assert metrics["bytes"] == Path("program").stat().st_size


@pytest.mark.parametrize("name", REFUSED)
def test_what_is_no_rule_of_a_row_is_refused_in_one_line(uqcli, made, name):
    rule, _ = made(name)
    outcome = uqcli("export", rule, "--to", "sql")
    assert (outcome.code, outcome.out) == (2, b"")
    assert REFUSED[name][1] in outcome.err
    assert len(outcome.err.strip().splitlines()) == 1


@pytest.mark.covering("thorough", every=5)
@pytest.mark.parametrize(
    "name",
    [
        pytest.param(name, marks=pytest.mark.thorough) if name == "surface" else name  # as long as all others
        for name in sorted(set(RULES) - {"forest", "class venn-abers"})  # long, of known parts
    ],
)
def test_every_dialect_can_be_parsed(uqcli, made, name):
    for dialect in SqlDialect:
        parse(uqcli, made(name)[0], dialect)


def parse(uqcli, rule, dialect):
    outputs = [output.name for output in load(rule).formula().outputs]
    outcome = uqcli("export", rule, "--to", "sql", "--dialect", dialect, "--table", "db.scored")
    assert outcome.code == 0, outcome.err
    text = outcome.out.decode()
    assert text.startswith("-- uqcli export. kind: ")
    assert f"digest: {json.loads(Path(rule).read_bytes())['digest']}" in text
    (statement,) = sqlglot.parse(text, dialect=dialect)
    every, *added = statement.selects
    aliases = [column.alias for column in added]
    if dialect is SqlDialect.SNOWFLAKE:  # which folds names without quotes
        aliases = [alias.lower() for alias in aliases]
    is_every = isinstance(every, sqlglot.exp.Columns) if dialect is SqlDialect.DUCKDB else every.is_star
    assert (is_every, aliases) == (True, outputs)


@pytest.mark.parametrize("names", [("Decision", "x"), ("x", "Y")])
def test_a_column_of_the_table_with_the_name_of_an_output_is_left_out(uqcli, made, names):
    text = uqcli("export", made("st")[0], "--to", "sql", "--table", "scored").out.decode()
    with duckdb.connect() as connection:
        columns = ", ".join(f'{number} AS "{name}"' for number, name in enumerate(names))
        connection.execute(f"CREATE TABLE scored AS SELECT 0.9 AS score, 0.1 AS uncertainty, {columns}")
        connection.execute(text)
        found = [column[0] for column in connection.description]
    assert found == ["score", "uncertainty", *(name for name in names if name != "Decision"), "decision"]


@pytest.mark.thorough
def test_python_runs_in_old_versions_without_imports(uqcli, made):
    for name in RULES:
        text = uqcli("export", made(name)[0], "--to", "python").out.decode()
        tree = ast.parse(text, feature_version=(3, 8))
        imports = [node for node in ast.walk(tree) if isinstance(node, ast.Import | ast.ImportFrom)]
        assert [alias.name for node in imports for alias in node.names] == ["math"]
        functions = [node for node in tree.body if isinstance(node, ast.FunctionDef)]
        public = [node for node in functions if not node.name.startswith("_")]
        assert all(ast.get_docstring(node) and node.returns for node in public)


def test_a_function_decides_on_any_number(uqcli, made):
    module = {}
    exec(uqcli("export", made("smooth")[0], "--to", "python").out, module)
    decide = module["decide"]
    assert decide(0.999, -1) in (True, False)
    assert decide(score=0.999, uncertainty=-1) == decide(0.999, -1)
    assert decide(np.float32(0.25), np.float32(1)) == decide(0.25, 1)
    for missing in (None, float("nan"), float("inf"), -float("inf")):
        assert decide(missing, 0.0) is None
        assert decide(0.5, missing) is None


def test_a_function_accepts_an_uncertainty_that_it_does_not_need(uqcli, made):
    module = {}
    exec(uqcli("export", made("st")[0], "--to", "python").out, module)
    assert module["decide"](0.9) == module["decide"](0.9, None) == module["decide"](0.9, 0.3)


MUTATION = (rb'(score|"score" AS DOUBLE\)) >= ', rb"\1 > ")


@pytest.mark.covering("thorough", every=3)
@pytest.mark.parametrize("target", ["sql", "python"])
@pytest.mark.parametrize("name", ["smooth", "st", "groups", "zones"])
def test_a_mutation_is_detected(uqcli, made, target, name):
    """Rows between two scores decide alike under both; the made rows do not."""
    path, rows = made(name)
    program = job.run(ExportRequest(artifact=path, to=ExportTarget(target))).program
    rule = load(path)
    same = compare(rule, rule.formula(), program, ExportTarget(target), DataRequest(inputs=(rows,)))
    assert (same.rows, same.example) == (0, "")
    mutated = re.sub(*MUTATION, program, count=1)
    assert mutated != program
    different = compare(rule, rule.formula(), mutated, ExportTarget(target), DataRequest(inputs=(rows,)))
    assert different.rows > 0
    assert different.example


def test_a_difference_ends_with_exit_6_and_writes_nothing(uqcli, made, monkeypatch):
    path, rows = made("st")
    original = job._program
    monkeypatch.setattr(job, "_program", lambda *given: re.sub(*MUTATION, original(*given)))
    outcome = uqcli("export", path, "--to", "python", "--check", rows, "-o", "never.py")
    assert outcome.code == 6
    assert "the program differs from the rule in" in outcome.err
    assert not Path("never.py").exists()


def test_a_missing_package_is_named(uqcli, made, monkeypatch):
    path, _ = made("st")
    find = importlib.util.find_spec
    monkeypatch.setattr(importlib.util, "find_spec", lambda name: None if name == "onnx" else find(name))
    outcome = uqcli("export", path, "--to", "onnx")
    assert (outcome.code, outcome.out) == (7, b"")
    assert "uqcli[export]" in outcome.err


@pytest.mark.parametrize(
    ("arguments", "code", "message"),
    [
        (("--to", "java"), 2, "java"),
        (("--to", "python", "--table", "t"), 2, "--table with --to python"),
        (("--to", "sql", "--table", " "), 2, "--table ' '"),
        (("--to", "sql", "--check", "nowhere.csv"), 3, "nowhere.csv"),
        ((), 2, "--to"),
    ],
)
def test_wrong_options_are_errors(uqcli, made, arguments, code, message):
    outcome = uqcli("export", made("st")[0], *arguments)
    assert (outcome.code, outcome.out) == (code, b"")
    assert message in outcome.err


def test_python_and_the_command_write_the_same(uqcli, made):
    path, _ = made("smooth")
    rule = library.Boundary.load(path)
    text = rule.export("sql", dialect="postgres", table="t")
    assert uqcli("export", path, "--to", "sql", "--dialect", "postgres", "--table", "t").out == text.encode()
    assert uqcli("export", path, "--to", "python").out == rule.export("python").encode()
    assert isinstance(rule.export("onnx"), bytes)
    with pytest.raises(library.UsageError, match="one of sql, python, onnx"):
        rule.export("java")


def write_rows_by_truth(path):
    random = np.random.default_rng(3)
    score, group = random.random(1500), random.random(1500) < 0.5
    label = (random.random(1500) < np.where(group, score, score**2)).astype(int)
    pl.DataFrame(
        {"score": score, "uncertainty": random.random(1500), "group": group, "label": label}
    ).write_parquet(path)


@pytest.mark.covering("thorough", every=3)
@pytest.mark.parametrize("dialect", SqlDialect)
def test_the_check_runs_the_dialect_if_it_can_and_says_so(uqcli, tmp_path, monkeypatch, dialect):
    monkeypatch.chdir(tmp_path)
    write_rows_by_truth("rows.parquet")
    assert (
        uqcli("boundary", "rows.parquet", "--precision", "0.6", "--by", "group", "-q", "-o", "rule.json").code
        == 0
    )
    outcome = uqcli(
        *("export", "rule.json", "--to", "sql", "--dialect", dialect, "--table", "order"),
        *("--check", "rows.parquet", "--json", "-o", "x.sql"),
    )
    assert outcome.code == 0, outcome.err
    (note,) = outcome.json["notes"]
    if dialect in ("duckdb", "sqlite"):
        assert note.startswith(f"The program agrees in {DATABASES[dialect]} with the rule in ")
    else:
        assert note.startswith("The same rule as DuckDB SQL agrees with the rule in ")
        assert f"uqcli cannot run the SQL of {DATABASES[dialect]}" in note


DATABASES = {
    "duckdb": "DuckDB",
    "sqlite": "SQLite",
    "postgres": "PostgreSQL",
    "bigquery": "BigQuery",
    "snowflake": "Snowflake",
    "spark": "Spark",
    "mysql": "MySQL",
}


@pytest.mark.parametrize("dialect", SqlDialect)
def test_the_check_refuses_rows_with_a_column_that_the_query_adds(uqcli, made, tmp_path, dialect):
    """Only in DuckDB a query can leave out a column that may be absent."""
    rule, rows = made("st")
    line = ("export", rule, "--to", "sql", "--dialect", dialect, "-o", tmp_path / "x.sql", "--check")
    for name in ("decision", "Decision"):
        clashing = tmp_path / f"{name}.csv"
        pl.read_csv(rows).with_columns(pl.lit(0).alias(name)).write_csv(clashing)
        assert uqcli(*line, clashing, "--table", "t").code == (0 if is_apart(dialect, name) else 6)
        assert uqcli(*line, clashing).code == 0  # an expression adds no column
    (tmp_path / "x.sql").unlink()
    outcome = uqcli(*line, tmp_path / "decision.csv", "--table", "t")
    if dialect is not SqlDialect.DUCKDB:
        assert "check failed: the rows have a column 'decision', and the query adds one" in outcome.err
        assert len(outcome.err.splitlines()) == 1
        assert not (tmp_path / "x.sql").exists()


def is_apart(dialect, name):
    """Whether a column and the output ``decision`` are two in a dialect, or the first is left out."""
    tells_cases_apart = dialect in (SqlDialect.POSTGRES, SqlDialect.SNOWFLAKE)
    return dialect is SqlDialect.DUCKDB or (name == "Decision" and tells_cases_apart)


@pytest.mark.covering("thorough", every=6, also=["groups", "tree", "lac by group"])
@pytest.mark.parametrize("name", RULES)
def test_programs_are_plain_ascii_unless_a_name_of_data_is_not(uqcli, made, name):
    """Of the groups of the rows, one has an accent."""
    rule = load(made(name)[0])
    formula = rule.formula()
    of_data = set("".join(text for texts in compared_texts(formula).values() for text in texts))
    for dialect in SqlDialect:
        for table in (None, "t"):
            program = to_sql(formula, dialect, ["a test"], table)
            assert {character for character in program if not character.isascii()} <= of_data
            assert program.isascii() or dialect is not SqlDialect.MYSQL
    assert to_python(formula, {"rule": rule.document().title}).isascii()


def test_what_a_database_refuses_fails_the_check(uqcli, made, monkeypatch):
    path, rows = made("st")
    original = job._program
    monkeypatch.setattr(job, "_program", lambda *given: original(*given).replace(b"CASE", b"CASES", 1))
    for dialect, name in (("duckdb", "DuckDB"), ("sqlite", "SQLite")):
        outcome = uqcli(
            "export", path, "--to", "sql", "--dialect", dialect, "--check", rows, "-o", "never.sql"
        )
        assert outcome.code == 6
        assert f"{name} refuses the program" in outcome.err
        assert not Path("never.sql").exists()


def test_a_column_that_the_program_lacks_fails_the_check(uqcli, made, monkeypatch):
    path, rows = made("class venn-abers")
    rule = load(path)
    formula = rule.formula()
    assert [output.name[:4] for output in formula.outputs] == ["cali"] * 3 + ["low_"] * 3 + ["high"] * 3
    few = replace(formula, outputs=formula.outputs[:3])
    monkeypatch.setattr(type(rule), "formula", lambda _: few)
    outcome = uqcli("export", path, "--to", "python", "--check", rows, "-o", "never.py")
    assert outcome.code == 6
    assert "the program lacks the columns high_a, high_b" in outcome.err


def test_intervals_of_classes_in_target_data_are_exported(uqcli, made):
    rows = made("class venn-abers")[1]
    target = pl.read_csv(rows).drop("label")
    target.filter((target["p_a"] > 0.4) | (pl.Series(range(target.height)) % 3 == 0)).write_csv("target.csv")
    columns = ("--proba", "p_*", "-q")
    assert uqcli("shift", rows, "--target", "target.csv", *columns, "-o", "shift.json").code == 0
    method = ("--method", "venn-abers", "--shift", "shift.json")
    assert uqcli("calibrate", rows, *columns, *method, "-o", "weighted.json").code == 0
    for to in ("python", "onnx"):
        outcome = uqcli("export", "weighted.json", "--to", to, "--check", rows, "--json", "-o", "program")
        assert outcome.code == 0, outcome.err


@pytest.mark.parametrize(
    ("dialect", "rows", "wrong"),
    [
        ("duckdb", "rows.parquet", (b"ISFINITE(", b"NOT ISNAN(")),
        ("sqlite", "texts.csv", (b"CASE WHEN `score` <= CAST(9e999 AS REAL) THEN ", b"CASE WHEN TRUE THEN ")),
    ],
)
def test_the_check_reads_the_file_as_it_is(uqcli, made, monkeypatch, dialect, rows, wrong):
    """DuckDB answers ISNAN by the statistics of a file, and SQLite takes an empty text for 0."""
    path, _ = made("isotonic")
    pl.DataFrame({"score": [0.3, float("nan"), 0.7]}).write_parquet("rows.parquet")
    Path("texts.csv").write_text("id,score\n1,0.3\n2,\n3,0.7\n")
    command = ("export", path, "--to", "sql", "--dialect", dialect, "--table", "t", "--check", rows)
    assert uqcli(*command, "-o", "right.sql").code == 0
    original = job._program
    monkeypatch.setattr(job, "_program", lambda *given: original(*given).replace(*wrong))
    assert uqcli(*command, "-o", f"{dialect}.sql").code == 6
    assert not Path(f"{dialect}.sql").exists()


@pytest.mark.parametrize("to", ["sql", "python"])
def test_the_check_reads_numbers_with_a_comma(uqcli, made, to):
    path, _ = made("tree")
    Path("commas.csv").write_text("score;number;site\n0,25;0,0;Oslo\n0,75;4,0;true\n0,5;;true\n")
    reading = ("--decimal", ",", "--delimiter", ";")
    assert uqcli("export", path, "--to", to, "--check", "commas.csv", *reading, "-o", "program").code == 0
