"""Counts that tell whether features add or multiply: they may fall, and the limits with them."""

import ast
import io
import tokenize
from pathlib import Path

import uqcli

ROOT = Path(uqcli.__file__).parent
TREES = {path: ast.parse(path.read_text(encoding="utf-8")) for path in ROOT.rglob("*.py")}
NODES = [node for tree in TREES.values() for node in ast.walk(tree)]
MOST_NONE = 19.4
"""Comparisons with None in 1,000 lines of code."""

MOST_OPTIONAL = 242
"""Fields of data classes that may be None."""

MOST_COMPLEX, MOST_LINES = 25, 300
LONG: set[str] = set()
"""Classes that are longer; none may be added."""

_NO_CODE = {
    tokenize.COMMENT, tokenize.NL, tokenize.NEWLINE, tokenize.INDENT, tokenize.DEDENT, tokenize.ENDMARKER
}  # fmt: skip


def code_lines(text):
    """Count the lines with code: without blank ones, comments and texts that stand alone."""
    alone = set()
    for node in ast.walk(ast.parse(text)):
        if (
            isinstance(node, ast.Expr)
            and isinstance(node.value, ast.Constant)
            and isinstance(node.value.value, str)
        ):
            alone |= set(range(node.lineno, node.end_lineno + 1))
    lines = set()
    for token in tokenize.generate_tokens(io.StringIO(text).readline):
        if token.type not in _NO_CODE:
            lines |= set(range(token.start[0], token.end[0] + 1))
    return len(lines - alone)


def is_with_none(node):
    """Whether a node compares something with None."""
    sides = [node.left, *node.comparators] if isinstance(node, ast.Compare) else []
    return any(isinstance(side, ast.Constant) and side.value is None for side in sides)


def branches(function):
    """Count the paths through a function: conditions, loops, handlers, and the terms of and and or."""
    paths = 1
    for node in ast.walk(function):
        kinds = (ast.If, ast.For, ast.While, ast.ExceptHandler, ast.IfExp, ast.Assert, ast.match_case)
        paths += isinstance(node, kinds)
        paths += 1 + len(node.ifs) if isinstance(node, ast.comprehension) else 0
        paths += len(node.values) - 1 if isinstance(node, ast.BoolOp) else 0
    return paths


def optional_fields(node):
    """Count the fields of a data class that may be None."""
    if not isinstance(node, ast.ClassDef) or "dataclass" not in "".join(
        map(ast.unparse, node.decorator_list)
    ):
        return 0
    return sum(
        "None" in ast.unparse(field.annotation) for field in node.body if isinstance(field, ast.AnnAssign)
    )


def test_none_is_asked_for_less_often():
    lines = sum(code_lines(path.read_text(encoding="utf-8")) for path in TREES)
    asked = sum(map(is_with_none, NODES))
    assert 1000 * asked / lines <= MOST_NONE
    assert sum(map(optional_fields, NODES)) <= MOST_OPTIONAL


def test_no_function_or_class_grows_beyond_those_that_did():
    functions = [node for node in NODES if isinstance(node, ast.FunctionDef)]
    assert not [function.name for function in functions if branches(function) > MOST_COMPLEX]
    classes = [node for node in NODES if isinstance(node, ast.ClassDef)]
    long = {each.name for each in classes if each.end_lineno - each.lineno >= MOST_LINES}
    assert long == LONG


def test_counts_are_those_of_a_small_module():
    body = '    """Say."""\n    return None if x is None or not x else [y for y in x if y]\n'
    text = f'"""Title."""\n\n# why\ndef f(x):\n{body}'
    assert code_lines(text) == 2
    tree = ast.parse(text)
    assert sum(map(is_with_none, ast.walk(tree))) == 1
    assert branches(tree.body[1]) == 5
    fields = ast.parse(
        "@dataclass\nclass A:\n    a: int\n    b: int | None\n    c: int | None = None\n"
    ).body[0]
    assert optional_fields(fields) == 2
