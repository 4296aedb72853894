"""The README says what is so: its reference is the program's, its code runs."""

import re
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

from tests.documentation.reference import README, reference, rewritten
from uqcli import errors

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
    assert [language for language, _ in BLOCKS] == ["sh"] * 10 + ["python"]


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


def test_the_figures_of_the_table_are_those_of_the_sample(tmp_path):
    from uqcli.cli.app import run

    holdout, new = (str(README.parent / "sample_data" / f"digits_{part}.csv") for part in ("holdout", "new"))
    for algorithm, words in (("st", "one score threshold"), ("vw-dpmt", "score x uncertainty")):
        artifact = str(tmp_path / f"{algorithm}.json")
        assert (
            run(["boundary", holdout, "--precision", "0.9", "--algorithm", algorithm, "-q", "-o", artifact])
            == 0
        )
        report = tmp_path / "report.json"
        assert run(["evaluate", artifact, new, "-q", "--report", str(report)]) == 0
        import json

        metrics = json.loads(report.read_text())["metrics"]
        recall, precision = (f"{metrics[name]['value']:.3f}" for name in ("recall", "precision"))
        row = next(line for line in TEXT.splitlines() if line.startswith(f"| {words} |"))
        assert row.replace("*", "") == f"| {words} | {recall} | {precision} | {metrics['selected']} |"
