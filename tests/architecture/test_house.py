"""Tests of the architecture: registries, choices, exit codes, imports and folders."""

import ast
import functools
import inspect
import os
import re
import subprocess
import sys
import tomllib
from pathlib import Path
from typing import get_args

import pytest

import uqcli
from tests.cli.conftest import in_one_process
from uqcli.base import choices, errors
from uqcli.base.choices import Algorithm, ArtifactKind, Binning
from uqcli.boundary.search.algorithms import ALGORITHMS
from uqcli.boundary.search.constraint_kinds import RULES, ConstraintKind
from uqcli.calibrate.fit import LEAF_FITS, ROW_FITS, SCORE_FITS
from uqcli.calibrate.maps import CalibrationMap, ClassMap
from uqcli.calibrate.run_classes import CLASS_FITS
from uqcli.calibrate.tree import LEARNERS
from uqcli.cli.config import COMMANDS
from uqcli.conformal.coverage import SCORES, THRESHOLDS
from uqcli.conformal.run import METHODS
from uqcli.engines.open import ENGINES
from uqcli.estimates.binning import BINNING_RULES, BINNINGS
from uqcli.estimates.calibration_error import TESTS
from uqcli.rules.codec import model_of
from uqcli.rules.saved import Saved
from uqcli.shift.parts import ESTIMATORS

ROOT = Path(__file__).parents[2]
PACKAGE = Path(uqcli.__file__).parent
FILES = sorted(PACKAGE.rglob("*.py"))


def test_every_error_has_its_own_exit_code():
    classes = [
        item for _, item in inspect.getmembers(errors, inspect.isclass) if issubclass(item, errors.UqcliError)
    ]
    codes = [item.exit_code for item in classes]
    assert len(codes) == len(set(codes))
    documentation = errors.__doc__ or ""
    for item in classes:
        assert re.search(rf"{item.__name__}\s+{item.exit_code}\b", documentation), item.__name__


def test_every_kind_of_rule_has_a_module_of_its_name():
    for kind in ArtifactKind:
        model = model_of(kind)
        assert issubclass(model, Saved)
        for method in ("contradiction", "adds", "document", "metrics"):
            assert getattr(model, method) is not getattr(Saved, method), f"{kind} does not say {method}"


@pytest.mark.parametrize(
    ("registry", "choices"),
    [
        (ENGINES, choices.EngineName),
        (RULES, ConstraintKind),
        (BINNING_RULES, Binning),
        (ALGORITHMS, Algorithm),
        ({**SCORE_FITS, **ROW_FITS, **CLASS_FITS}, choices.CalibrationMethod),
        (LEAF_FITS, choices.LeafMethod),
        (LEARNERS, choices.Partitioner),
        (BINNINGS, Binning),
        (METHODS, choices.ConformalMethod),
        (ESTIMATORS, choices.ShiftEstimator),
        (SCORES, choices.ConformalMethod),
        (THRESHOLDS, choices.ConformalMode),
        (TESTS, choices.CalibrationTest),
    ],
    ids=lambda value: getattr(value, "__name__", ""),
)
def test_registry_and_choices_are_the_same_set(registry, choices):
    assert set(registry) == set(choices)


def test_every_calibration_method_has_a_map_and_every_map_a_method():
    maps = (*get_args(CalibrationMap), *get_args(ClassMap))
    assert set().union(*(map_class.methods for map_class in maps)) == set(choices.CalibrationMethod)
    assert all(map_class.methods for map_class in maps)
    assert len({map_class.__struct_config__.tag for map_class in maps}) == len(maps)


OFFERED = [
    ("bin", "--binning", Binning),
    ("tce", "--binning", [binning for binning in Binning if not binning.cuts_uncertainty]),
    ("boundary", "--binning", [binning for binning in Binning if binning.cuts_uncertainty]),
    ("boundary", "--algorithm", [*Algorithm, "all"]),
    ("calibrate", "--method", [*choices.CalibrationMethod, "auto", "all"]),
    ("calibrate", "--leaf-method", choices.LeafMethod),
    ("calibrate", "--partitioner", choices.Partitioner),
    ("calibrate", "--split", choices.SplitCriterion),
    ("conformal", "--method", choices.ConformalMethod),
    ("conformal", "--mode", choices.ConformalMode),
    ("shift", "--estimator", choices.ShiftEstimator),
    ("shift", "--confusion", choices.ConfusionForm),
    ("tce", "--test", choices.CalibrationTest),
    ("tce", "--bin-sizes", choices.BinSizing),
    ("show", "--schema", choices.ArtifactKind),
    ("boundary", "--engine", choices.EngineName),
]
"""Options of the command line by their choices."""


@functools.cache
def help_texts():
    """Return the output of ``uqcli <command> --help`` for each command, without broken lines."""
    outcomes = in_one_process([(command, "--help") for command in COMMANDS], environment={"COLUMNS": "1000"})
    assert [(outcome.code, outcome.err) for outcome in outcomes] == [(0, "")] * len(COMMANDS)
    return {command: outcome.out.decode() for command, outcome in zip(COMMANDS, outcomes, strict=True)}


@functools.cache
def reference_of(command):
    """Return the command's part of the reference, and the shared options."""
    page = (ROOT / "docs" / "reference" / "commands.md").read_text()
    _, section = page.split(f"## `uqcli {command} ")
    _, shared = page.split("\n## Shared options\n")
    return section.split("\n## ")[0] + shared


@pytest.mark.parametrize(("command", "option", "offered"), OFFERED)
def test_help_and_reference_list_every_choice(command, option, offered):
    lines = re.findall(rf"^\W*{option}(?![\w-]).*$", help_texts()[command], flags=re.MULTILINE)
    assert len(lines) <= 2  # more values are in the last panel
    line = "".join(lines)
    listed = re.search("<([^>]+)>", line)
    if listed:
        assert listed[1].split("|") == [str(choice) for choice in offered]
    else:  # listed in words
        assert {str(choice) for choice in offered} <= set(re.findall(r"[\w-]+", line))
    if option.startswith("--"):
        row = rf"^\| `{option}`(?:, `--[\w-]+`)* ((?:[\w-]+ \\\| )*[\w-]+) \|"
        (listed,) = re.findall(row, reference_of(command), flags=re.MULTILINE)
        assert listed.split(" \\| ") == [str(choice) for choice in offered]


def test_help_and_readme_name_every_constraint():
    for kind in ConstraintKind:
        option = "--gain" if kind is ConstraintKind.UTILITY else f"--{kind}"
        assert option in help_texts()["boundary"]
        assert f"`{option}`" in reference_of("boundary")


def test_only_the_program_exits():
    for path in FILES:
        if path.name in ("__main__.py", "process.py", "leave.py"):
            continue
        text = path.read_text()
        assert "sys.exit" not in text, path
        assert "os._exit" not in text, path


def test_only_one_module_asks_on_which_system_it_runs():
    asking = re.compile(
        r"\b(sys\.platform|os\.name)\b|import (platform|fcntl|msvcrt|resource|shlex|_winapi)\b"
        r"|tattr\((os|signal|select),"
    )
    found = {path.relative_to(PACKAGE).as_posix() for path in FILES if asking.search(path.read_text("utf-8"))}
    assert found == {"base/operating_system.py"}


def test_no_module_imports_click():
    for path in FILES:
        for node in ast.walk(ast.parse(path.read_text())):
            names = [alias.name for alias in node.names] if isinstance(node, ast.Import) else []
            names += [node.module or ""] if isinstance(node, ast.ImportFrom) else []
            assert not any(name.split(".")[0] == "click" for name in names), path


def private_names(text):
    """Return what a module that imports typer uses of its names without a promise."""
    nodes = list(ast.walk(ast.parse(text)))
    imports = [
        set(re.findall(r"\w+", ast.unparse(node)))
        for node in nodes
        if isinstance(node, ast.Import | ast.ImportFrom)
    ]
    of_typer = [names for names in imports if "typer" in names]
    attributes = {
        node.attr
        for node in nodes
        if of_typer and isinstance(node, ast.Attribute) and ast.unparse(node.value) not in ("self", "cls")
    }
    inner = {"rich_utils", "type_descriptor", "get_runtime_param", "display_type_rich"}
    return {
        name
        for name in attributes.union(*of_typer)
        if name in inner or (name.startswith("_") and not name.startswith("__"))
    }


@pytest.mark.parametrize(
    ("text", "names"),
    [
        ("import typer\ntyper.main._get()\nself._own", {"_get"}),
        ("from typer._click import core", {"_click"}),
        ("from typer import rich_utils", {"rich_utils"}),
        ("import typer\ndef f(ctx: typer.Context): ctx._opt_prefixes", {"_opt_prefixes"}),
        ("import typer\nparameter.type_descriptor", {"type_descriptor"}),
        ("import other\nother._private", set()),
    ],
)
def test_private_names_of_typer_are_found(text, names):
    assert private_names(text) == names


def test_no_module_uses_a_private_name_of_typer():
    for path in FILES:
        assert not private_names(path.read_text()), path


def test_every_command_is_a_subject():
    subjects = {path.parent.name for path in PACKAGE.glob("*/options.py")} - {"api", "base", "jobs"}
    assert subjects == set(COMMANDS) - {"show"}  # which reads a single rule, without options


def test_no_module_is_a_collection_of_helpers():
    assert not [path for path in FILES if path.stem in ("utils", "helpers", "misc", "common")]


def test_schemas_in_the_package_are_those_of_the_structs():
    import json

    from uqcli.rules.schemas import derived_schema, schema_text

    for kind in ArtifactKind:
        assert json.loads(schema_text(kind)) == derived_schema(kind), "run make schemas"


def test_top_level_contains_the_expected_files():
    expected = {
        ".ci", ".dockerignore", ".gitattributes", ".github", ".gitignore", "CHANGELOG.md", "CITATION.cff",
        "CONTRIBUTING.md", "Dockerfile", "LICENSE", "Makefile", "README.md", "SECURITY.md", "action.yml",
        "docs", "findings", "pyproject.toml", "reproduction", "sample_data", "tests", "uqcli",
    }  # fmt: skip
    if (ROOT / "PKG-INFO").exists():  # a source distribution, which may also contain environments and caches
        of_repository = {".dockerignore", ".gitattributes", ".github", "Dockerfile", "action.yml"}
        assert expected - of_repository <= {path.name for path in ROOT.iterdir()}
        return
    listed = subprocess.run(["git", "ls-files"], cwd=ROOT, capture_output=True, text=True, check=True)
    assert {line.split("/")[0] for line in listed.stdout.splitlines()} == expected


def test_contributing_says_what_each_dependency_gives():
    project = tomllib.loads((ROOT / "pyproject.toml").read_text())["project"]
    extras = [name for names in project["optional-dependencies"].values() for name in names]
    packages = {re.match(r"[\w-]+", name)[0] for name in [*project["dependencies"], *extras]} - {"uqcli"}
    table = re.findall(r"^\| ([^|]+) \| [^|]+\|$", (ROOT / "CONTRIBUTING.md").read_text(), flags=re.MULTILINE)
    named = {name for row in table for name in re.findall(r"[\w-]+", row)}
    assert packages <= named


def test_doctests_pass():
    process = subprocess.run(
        [sys.executable, "-m", "pytest", "-q", "-p", "no:cacheprovider", "--doctest-modules", str(PACKAGE)],
        capture_output=True,
        text=True,
        check=False,
        cwd=ROOT,
        # numpy warns about this variable, and warnings are errors there
        env={name: value for name, value in os.environ.items() if name != "NPY_DISABLE_CPU_FEATURES"},
    )
    assert process.returncode == 0, process.stdout
