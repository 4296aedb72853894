"""The rules of the house that a machine can check."""

import ast
import inspect
import re
import subprocess
import sys
from pathlib import Path

import pytest

import uqcli
from uqcli import errors
from uqcli.choices import Algorithm, ArtifactKind, Binning, EngineName
from uqcli.engines.open import ENGINES
from uqcli.methods.bin.registry import BinningRule, rule_of
from uqcli.methods.boundary.registry import AlgorithmEntry, entry_of

ROOT = Path(__file__).parents[2]
PACKAGE = Path(uqcli.__file__).parent
FILES = sorted(PACKAGE.rglob("*.py"))


def test_every_error_has_its_own_exit_code():
    classes = [
        item for _, item in inspect.getmembers(errors, inspect.isclass) if issubclass(item, errors.UqcliError)
    ]
    codes = [item.exit_code for item in classes]
    assert len(codes) == len(set(codes))
    tree = errors.__doc__ or ""
    for item in classes:
        assert re.search(rf"{item.__name__}\s+{item.exit_code}\b", tree), item.__name__


@pytest.mark.parametrize(("registry", "choices"), [(ENGINES, EngineName)])
def test_registry_and_choices_are_the_same_set(registry, choices):
    assert set(registry) == set(choices)


@pytest.mark.parametrize("binning", Binning)
def test_every_binning_has_its_module(binning):
    assert isinstance(rule_of(binning), BinningRule)


@pytest.mark.parametrize("algorithm", Algorithm)
def test_every_algorithm_has_its_module(algorithm):
    assert isinstance(entry_of(algorithm), AlgorithmEntry)


def test_only_the_program_exits():
    for path in FILES:
        if path.name in ("__main__.py", "signals.py"):
            continue
        text = path.read_text()
        assert "sys.exit" not in text, path
        assert "os._exit" not in text, path


def test_nobody_imports_click():
    for path in FILES:
        for node in ast.walk(ast.parse(path.read_text())):
            names = [alias.name for alias in node.names] if isinstance(node, ast.Import) else []
            names += [node.module or ""] if isinstance(node, ast.ImportFrom) else []
            assert not any(name.split(".")[0] == "click" for name in names), path


def test_files_and_functions_stay_small():
    for path in FILES:
        text = path.read_text()
        assert len(text.splitlines()) <= 400, path
        for node in ast.walk(ast.parse(text)):
            if isinstance(node, ast.FunctionDef) and path.parent.name != "commands":
                first = node.body[1 if ast.get_docstring(node) and len(node.body) > 1 else 0]
                body = node.end_lineno - first.lineno + 1
                assert body <= 50, f"{path}:{node.name} has {body} lines"


def test_no_room_is_a_drawer():
    assert not [path for path in FILES if path.stem in ("utils", "helpers", "misc", "common")]


def test_schemas_in_the_package_are_those_of_the_structs():
    import json

    from uqcli.artifacts.schemas import derived_schema, schema_text

    for kind in ArtifactKind:
        assert json.loads(schema_text(kind)) == derived_schema(kind), "run make schemas"


def test_top_level_holds_what_it_should():
    listed = subprocess.run(["git", "ls-files"], cwd=ROOT, capture_output=True, text=True, check=False)
    if listed.returncode:
        pytest.fail("the tests need the git checkout")
    top = {line.split("/")[0] for line in listed.stdout.splitlines()}
    assert top == {
        ".ci", ".gitignore", "CHANGELOG.md", "LICENSE", "Makefile", "README.md",
        "pyproject.toml", "sample_data", "tests", "uqcli",
    }  # fmt: skip


def test_doctests():
    done = subprocess.run(
        [sys.executable, "-m", "pytest", "-q", "-p", "no:cacheprovider", "--doctest-modules", str(PACKAGE)],
        capture_output=True,
        text=True,
        check=False,
        cwd=ROOT,
    )
    assert done.returncode == 0, done.stdout
