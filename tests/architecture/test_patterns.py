"""Tests that no pattern needs more than linear time, whatever the text: steps are counted, not seconds."""

import ast
import importlib
import math
import re
from pathlib import Path

import pytest

import uqcli
from tests.oracles.backtracking import Matcher, TooManySteps

ROOT = Path(uqcli.__file__).parent
FUNCTIONS = {"compile", "sub", "search", "match", "fullmatch", "split", "findall", "finditer"}
FLAGS = {"IGNORECASE", "ASCII", "MULTILINE", "DOTALL", "VERBOSE"}

OURS = {
    "export/python.py": "names of rules, one character at a time",
    "reports/figures.py": "pictures that matplotlib drew",
    "kernels/machine_code.py": "code that the compiler wrote",
}
"""Modules whose patterns read no text from outside."""

PUMPS = (
    "a", "A", "0", " ", "-", ".", ",", ":", "/", "@", "'", '"', "#", "?", "=", ";", "_", "\\", "(", "[", "%",
    "\n", "a:", "a@", "://", "a://", ":a@", "http://", "sc://", "a=", "?a", "0,",
    "0.", "1,000", "--a", "; if ", "a b", "'a'", "A_", "] (",
)  # fmt: skip
"""Texts that are repeated: one character, or a beginning that many matches may share."""

SIZE, MOST = 24, 20_000


def uses_of(tree):
    """Return the functions that each compiled pattern of a module is used by, by the name of the constant."""
    uses = {}
    for node in ast.walk(tree):
        if isinstance(node, ast.Attribute) and node.attr in FUNCTIONS:
            owner = node.value.value if isinstance(node.value, ast.Subscript) else node.value
            if isinstance(owner, ast.Name):
                uses.setdefault(owner.id, set()).add(node.attr)
    return uses


def patterns_of(path):
    """Yield the patterns of a module that are constants: line, pattern with flags, functions that use it."""
    text = path.read_text()
    if "import re\n" not in text:  # four modules of five, 20 ms each in every run
        return
    tree = ast.parse(text)
    uses, names = uses_of(tree), {}
    for node in ast.walk(tree):
        targets = getattr(node, "targets", [getattr(node, "target", None)])
        if isinstance(node, ast.Assign | ast.AnnAssign) and isinstance(targets[0], ast.Name):
            names |= {id(below): targets[0].id for below in ast.walk(node)}
    for node in ast.walk(tree):
        if not (isinstance(node, ast.Call) and isinstance(node.func, ast.Attribute) and node.args):
            continue
        owner, argument = node.func.value, node.args[0]
        is_pattern = isinstance(owner, ast.Name) and owner.id == "re" and node.func.attr in FUNCTIONS
        if is_pattern and isinstance(argument, ast.Constant):
            named = {below.attr for below in ast.walk(node) if isinstance(below, ast.Attribute)} & FLAGS
            functions = {node.func.attr}
            if node.func.attr == "compile":
                functions = uses.get(names.get(id(node), ""), {"search"})
            yield node.lineno, re.compile(argument.value, sum(getattr(re, flag) for flag in named)), functions


def constants():
    """Collect all patterns that read texts from outside, with whether they are tried at each place."""
    collected = {}
    for path in sorted(ROOT.rglob("*.py")):
        name = path.relative_to(ROOT).as_posix()
        for line, pattern, functions in [] if name in OURS else patterns_of(path):
            collected[f"{name}:{line}"] = pattern, not functions <= {"match", "fullmatch"}
    for module, name, is_search in (("wording", "_LONG_RUN", True), ("exact_numbers", "_DECIMAL", False)):
        pattern = getattr(importlib.import_module(f"uqcli.base.{module}"), name)  # built from a limit
        collected[f"{module}.{name}"] = pattern, is_search
    return collected


PATTERNS = constants()


def steps(pattern, text, *, is_search):
    matcher = Matcher(pattern, text, MOST)
    try:
        matcher.search() if is_search else matcher.all_ends()
    except TooManySteps:
        return MOST
    return matcher.steps


def growth(pattern, pump, *, is_search=True):
    """Return how many times the steps grow if a text doubles, at whose end most matches fail."""
    once, twice = (steps(pattern, f"{pump * size}\u2028", is_search=is_search) for size in (SIZE, 2 * SIZE))
    return math.inf if twice == MOST else (twice + 20) / (once + 20)


@pytest.mark.parametrize("place", PATTERNS)
def test_a_pattern_takes_steps_in_proportion_to_the_text(place):
    pattern, is_search = PATTERNS[place]
    slow = {pump: round(growth(pattern, pump, is_search=is_search), 1) for pump in PUMPS}
    assert {pump: ratio for pump, ratio in slow.items() if ratio > 2.3} == {}


@pytest.mark.parametrize(
    "pattern", [r"\s*[\r\n]\s*", r"([a-z][a-z0-9+.-]*:/+)[^/\s'\"]*@", r"(a|aa)*b", r"(.*\S)\s*="]
)
def test_the_count_sees_what_is_not_linear(pattern):
    assert max(growth(re.compile(pattern), pump) for pump in ("a", " ")) > 3


@pytest.mark.parametrize(
    ("pattern", "text"),
    [
        (r"(?<![\w-])--([a-z][a-z0-9-]*)", "a --b-c --d-- e--f"),
        (r"[+-]?(\d+\.?\d*|\.\d+)([eE][+-]?\d+)?", "1.5e-3 .2 x-7e"),
        (r"'([^']*)' is not (?:one of )?(.*)", "'a' is not one of b\n'c' is not d"),
        (r"(?<=[a-z0-9+.-])(:/+)[^/]*@", "http://u:p@h/x a:/b@c"),
        (r"(?i)HELLO|w+\b", "hello wwx www"),
    ],
)
def test_the_counting_matcher_finds_what_python_finds(pattern, text):
    ends = Matcher(pattern, text, MOST).search()
    assert ends == [match.end() for match in re.finditer(pattern, text)]
