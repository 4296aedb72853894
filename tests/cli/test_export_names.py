"""Names of columns, groups and classes are data in every program, which decides as ``apply`` does."""

import ast
import io
import itertools
import tokenize

import numpy as np
import polars as pl
import pytest
import sqlglot

from uqcli.base.choices import SqlDialect
from uqcli.export import check
from uqcli.export.names import Names
from uqcli.export.python import python_names, to_python
from uqcli.export.sql import to_sql
from uqcli.rules.codec import load
from uqcli.rules.expressions import Column, Comparison, Constant, Formula, Output, compared_texts

NAMES = [
    'a"""b',
    "'); import os #",
    "back\\slash\\",
    "line\nfeed\r\n::error::x",
    "%s {} {0} $1 ?",
    "-- x */ /* y",
    "::warning::z",
    "'''",
    "\u212a",
    "`tick`",
    "[bracket]",
    "max",
    "_",
    "decide",
    "math",
    "class",
    "match",
    "None",
    "select",
    "COLUMNS",
    "uqcli_score",
    "uqcli_step",
    "a b",
    "a_b",
    "a.b",
    "猫",
    "犬",
    "魚",
    "\ufb01",
    "fi",
    "K",
    "1",
    "7up",
    "1e5x",
    "\u202eltr",
    "n" * 50,
    "__name__",
    "\x1b[31m",
]
VALUES = [*NAMES, "A", "a", "true", "2", "x\0y", "z" * 4000]
CLASSES = [*NAMES[:4], "max", "_", "a b", "a_b", "猫", "犬", "魚", "\ufb01", "fi", "1"]
ROWS = 1400
TARGETS = (("python",), ("onnx",), ("sql",), ("sql", "--table", "t"), ("sql", "--dialect", "sqlite"))

SCORES = ("--score", "{score}", "--label", "label")
RULES = {
    "boundary": ("boundary", *SCORES, "--uncertainty", "{uncertainty}", "--precision", "0.6"),
    "zones": ("boundary", *SCORES, "--uncertainty", "{uncertainty}", "--precision", "0.6", "--review", "20%"),
    "groups": (
        *("boundary", *SCORES, "--uncertainty", "{uncertainty}", "--precision", "0.6"),
        *("--by", "{group}", "--bound", "each", "--min-group", "3"),
    ),
    "grid": ("bin", *SCORES, "--uncertainty", "{uncertainty}", "--score-bins", "12"),
    "lac": ("conformal", *SCORES, "--method", "lac", "--by", "{group}"),
    **{
        method: ("calibrate", *SCORES, "--method", method)
        for method in ("platt", "temperature", "beta", "isotonic", "histogram", "venn-abers")
    },
    "surface": ("calibrate", *SCORES, "--uncertainty", "{uncertainty}", "--method", "surface"),
    "partition": (
        *("calibrate", *SCORES, "--method", "heterogeneous"),
        *("--partition", "{group},{other}", "--min-leaf", "3"),
    ),
    "tree": (
        *("calibrate", *SCORES, "--method", "heterogeneous", "--features", "{group},{uncertainty}"),
        *("--partitioner", "tree", "--min-leaf", "100"),
    ),
    "classes": ("boundary", "--proba", "p_*", "--label", "label", "--precision", "0.1", "--min-group", "3"),
    "class sets": ("conformal", "--proba", "p_*", "--label", "label", "--method", "lac"),
    **{
        f"class {method}": ("calibrate", "--proba", "p_*", "--label", "label", "--method", method)
        for method in ("temperature", "isotonic", "venn-abers")
    },
}


def columns_from(offset):
    """Return the names of score, uncertainty and two groups."""
    usable = [name for name in NAMES if "," not in name]
    return [usable[(offset + index) % len(usable)] for index in range(4)]


def write_rows(path, offset, *, classes):
    random = np.random.default_rng(offset)
    if classes:
        probability = random.dirichlet(np.full(len(CLASSES), 0.2), 400)
        label = [CLASSES[random.choice(len(CLASSES), p=row)] for row in probability]
        columns = {f"p_{name}": probability[:, index] for index, name in enumerate(CLASSES)}
        pl.DataFrame({**columns, "label": label}).write_parquet(path)
        return
    score, uncertainty, group, other = columns_from(offset)
    values = np.round(random.beta(2, 2, ROWS), 3)
    groups = [VALUES[index % len(VALUES)] for index in range(ROWS)]
    pl.DataFrame(
        {
            score: values,
            uncertainty: random.normal(size=ROWS),
            group: random.permutation(np.array(groups, dtype=object)).tolist(),
            other: random.choice(["A", "a", "2", None], ROWS).tolist(),
            "label": (random.random(ROWS) < values).astype(int),
        }
    ).write_parquet(path)


@pytest.fixture
def made(uqcli, tmp_path, monkeypatch):
    """Return a function that makes a rule of a kind, whose columns are names from one on, and its rows."""
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr(check, "_MADE_ROWS", 500)

    def make(kind, offset):
        command, *options = RULES[kind]
        write_rows("rows.parquet", offset, classes="p_*" in options)
        names = dict(zip(("score", "uncertainty", "group", "other"), columns_from(offset), strict=True))
        options = [option.format(**names) if option.startswith("{") else option for option in options]
        outcome = uqcli(command, "rows.parquet", *options, "-q", "-o", "rule.json")
        assert outcome.code == 0, outcome.err
        return load("rule.json")

    return make


CASES = [
    pytest.param(
        kind, (offset + 2 * index) % len(NAMES), marks=[pytest.mark.thorough] if offset or index % 4 else []
    )
    for index, kind in enumerate(RULES)
    for offset in range(0, len(NAMES), 3)
    if not offset or "p_*" not in RULES[kind]
]


@pytest.mark.covering("thorough", every=2)
@pytest.mark.parametrize(("kind", "offset"), CASES)
def test_a_program_decides_as_apply_does_whatever_the_names(uqcli, made, kind, offset):
    rule = made(kind, offset)
    formula = rule.formula()
    has_nul = any("\0" in text for texts in compared_texts(formula).values() for text in texts)
    for target in TARGETS:
        outcome = uqcli("export", "rule.json", "--to", *target, "--check", "rows.parquet", "-o", "program")
        if kind.startswith("class ") and "characters of SQL" in outcome.err and target[-1] != "t":
            continue
        if has_nul and target[0] == "sql":
            assert (outcome.code, "the character NUL" in outcome.err) == (2, True)
            continue
        assert outcome.code == 0, (target, outcome.err)
    assert_names_are_constants_in_python(formula, to_python(formula, {"rule": rule.document().title}))
    if not has_nul:
        tables = ("t",) if kind.startswith("class ") else (None, "t")
        dialects = [SqlDialect.DUCKDB, SqlDialect.POSTGRES, SqlDialect.SPARK, SqlDialect.BIGQUERY]
        for dialect, table in itertools.product(dialects, tables):
            assert_names_are_quoted_in_sql(formula, to_sql(formula, dialect, ["a test"], table), dialect)


def names_in(formula):
    """Return the names of data that no program contains by chance."""
    return [
        name
        for name in (*VALUES, *(column.name for column in formula.inputs))
        if not name.isascii() or not name.replace("_", "").replace(".", "").isalnum()
    ]


def assert_names_are_constants_in_python(formula, text):
    assert text.isascii()
    assert "\0" not in text
    tree = ast.parse(text, feature_version=(3, 8))
    nodes = [tree, *(node for node in ast.walk(tree) if isinstance(node, ast.FunctionDef))]
    documented = {ast.get_docstring(node) for node in nodes}
    tokens = list(tokenize.generate_tokens(io.StringIO(text).readline))
    assert not [token for token in tokens if token.type == tokenize.COMMENT]
    outside = " ".join(token.string for token in tokens if token.type != tokenize.STRING)
    for name in names_in(formula):
        if name != "_":
            assert name not in outside
            assert not any(name in words for words in documented)
    public = python_names(formula)
    defined = [node.name for node in nodes[1:]]
    assert len(set(defined)) == len(defined)
    assert set(public.functions.values()) <= set(defined)
    module = {}
    exec(compile(text, "exported.py", "exec"), module)
    assert module["COLUMNS"] == {public.arguments[column.name]: column.name for column in formula.inputs}
    assert module["OUTPUTS"] == {public.functions[output.name]: output.name for output in formula.outputs}


def assert_names_are_quoted_in_sql(formula, text, dialect):
    tokens = sqlglot.tokenize(text, dialect=dialect)
    kinds = sqlglot.TokenType
    quoted = (kinds.STRING, kinds.IDENTIFIER, kinds.RAW_STRING, kinds.BYTE_STRING)
    comments = [comment for token in tokens for comment in token.comments]
    assert {comment.strip() for comment in comments} <= {"a test"}
    outside = " ".join(token.text for token in tokens if token.token_type not in quoted)
    for name in names_in(formula):
        if name != "_":
            assert name not in outside.replace("(", " ").split(" "), name


@pytest.mark.parametrize("dialect", ["duckdb", "sqlite", "spark", "bigquery"])
def test_columns_that_a_database_takes_for_one_are_refused(dialect):
    columns = (Column(name="A"), Column(name="a"))
    output = Output(name="out", kind="bool", value=Comparison(">=", columns[0], columns[1]))
    formula = Formula(inputs=columns, required=("A", "a"), outputs=(output,))
    with pytest.raises(Exception, match="'A' and 'a', which are one in"):
        to_sql(formula, SqlDialect(dialect), [])
    assert to_sql(formula, SqlDialect.POSTGRES, [])
    module = {}
    exec(to_python(formula, {}), module)
    assert (module["out"](2, 1), module["out"](1, 2)) == (True, False)


def test_names_are_unique_and_ordinary_ones_keep_their_form():
    wanted = [*VALUES, *VALUES, "score", "value", "value_2"]
    allocated = Names(["max", "class"]).new_for_each(wanted)
    assert len(set(allocated)) == len(wanted)
    assert all(name.isascii() and name.isidentifier() for name in allocated)
    assert not {"max", "class"} & set(allocated)
    assert [allocated[wanted.index(name)] for name in ("score", "a_b", "value_2")] == [
        "score",
        "a_b",
        "value_2",
    ]


def test_equal_names_take_no_more_steps_than_different_ones():
    folds = []
    for size in (1000, 2000):
        count = itertools.count()
        Names([], lambda name, count=count: f"{name}{next(count) * 0}").new_for_each(["猫"] * size)
        folds.append(next(count))
    assert folds[1] < 2.1 * folds[0]


def test_ordinary_functions_and_arguments_have_their_names():
    columns = (Column(name="model"), Column(name="spread"), Column(name="site", kind="text"))
    value = Comparison(">=", columns[0], Constant(0.5))
    formula = Formula(
        inputs=columns,
        required=("model", "spread"),
        outputs=(
            Output(name="decision", kind="bool", value=value),
            Output(name="calibrated_cat", kind="bool", value=value),
        ),
        roles={"model": "score", "spread": "uncertainty"},
    )
    public = python_names(formula)
    assert list(public.arguments.values()) == ["score", "uncertainty", "site"]
    assert list(public.functions.values()) == ["decide", "calibrated_cat"]
