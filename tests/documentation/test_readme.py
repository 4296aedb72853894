"""The README says what is so: its reference is the program's, its code runs."""

import json
import re
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

from tests.documentation.reference import README, reference, rewritten
from uqcli import errors
from uqcli.cli.app import run

TEXT = README.read_text()
BLOCKS = re.findall(r"<!-- run -->\n```(sh|python)\n(.*?)```", TEXT, flags=re.DOTALL)


def test_reference_is_fresh():
    assert rewritten(TEXT) == TEXT, "run make readme"


def test_every_command_has_an_entry_with_every_option():
    text = reference()
    for command in (
        "bin",
        "boundary",
        "calibrate",
        "conformal",
        "shift",
        "apply",
        "evaluate",
        "tce",
        "uncertainty",
        "simulate",
        "show",
        "schema",
    ):
        assert f"### `uqcli {command} " in text
    for option in ("--precision", "--on-invalid", "--fail-if", "--no-config", "--union", "--confidence"):
        assert f"`{option}`" in text


def test_exit_codes_are_listed():
    for item in vars(errors).values():
        if isinstance(item, type) and issubclass(item, errors.UqcliError):
            assert re.search(rf"^\|.*\b{item.exit_code}\b", TEXT, flags=re.MULTILINE), item


def test_there_are_blocks_to_run():
    assert [language for language, _ in BLOCKS] == ["sh"] * 11 + ["python"]


@pytest.mark.parametrize("number", range(len(BLOCKS)))
def test_blocks_run(tmp_path, number):
    language, code = BLOCKS[number]
    shutil.copytree(README.parent / "sample_data", tmp_path / "sample_data")
    command = ["bash", "-euo", "pipefail", "-c", code] if language == "sh" else [sys.executable, "-c", code]
    path = f"{Path(sys.executable).parent}:/usr/bin:/bin"
    done = subprocess.run(
        command, cwd=tmp_path, capture_output=True, text=True, check=False, env={"PATH": path}
    )
    assert (done.returncode, done.stderr) == (0, ""), done.stdout


def test_what_is_said_of_the_sample_is_what_its_comparison_says(tmp_path):
    report = tmp_path / "report.json"
    holdout = str(README.parent / "sample_data" / "digits_holdout.csv")
    assert run(["boundary", holdout, "--precision", "0.9", "--compare", "-q", "--report", str(report)]) == 0
    found = json.loads(report.read_text())
    metrics = found["metrics"]
    said = " ".join(TEXT.split())
    assert f"a recall of {metrics['recall']:.3f} against {metrics['score_only_recall']:.3f}" in said
    gained = metrics["gain"]["equal_alerts"]
    value, low, high = (f"{100 * gained[name]:+.1f}" for name in ("value", "low", "high"))
    assert f'"{found["verdict"]}" (as here: {value} points, {low} to {high})' in said
