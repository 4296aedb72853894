"""The help of each command begins with two examples, and they run."""

import re
import shlex
import subprocess
import sys
from pathlib import Path

import polars as pl
import pytest

from uqcli.cli.config import COMMANDS
from uqcli.cli.examples import EXAMPLES, QUESTIONS

SAMPLE = Path(__file__).parents[2] / "sample_data"
MAKES = (
    "uqcli boundary holdout.csv --precision 0.9 -o boundary.json -q",
    "uqcli boundary holdout.csv --precision 0.9 --algorithm st -o old.json -q",
)


def run(line, folder):
    path = f"{Path(sys.executable).parent}:/usr/bin:/bin"
    return subprocess.run(
        ["bash", "-euo", "pipefail", "-c", line],
        cwd=folder,
        env={"PATH": path, "COLUMNS": "200"},
        capture_output=True,
        text=True,
        check=False,
    )


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    """What the examples read."""
    made = tmp_path_factory.mktemp("examples")
    names = {"holdout": "holdout", "new": "new", "proba_holdout": "classes", "proba_new": "today"}
    for sample, name in names.items():
        (made / f"{name}.csv").write_bytes((SAMPLE / f"digits_{sample}.csv").read_bytes())
    pl.DataFrame({"m_1": [0.1, 0.9], "m_2": [0.2, 0.7], "m_3": [0.3, 0.8]}).write_csv(made / "ensemble.csv")
    pl.DataFrame({"a": [1.5, 9.0], "b": [2.0, 3.0]}).write_csv(made / "beta.csv")
    for line in MAKES:
        assert run(line, made).returncode == 0
    return made


def test_every_command_has_two():
    assert set(EXAMPLES) == set(COMMANDS)
    assert all(len(each) == 2 for each in EXAMPLES.values())


@pytest.mark.parametrize("command", COMMANDS)
def test_help_begins_with_its_examples(command, uqcli):
    lines = [line.strip() for line in uqcli(command, "--help").out.decode().splitlines()]
    at = lines.index("Examples:")  # a screen of 80 columns breaks none
    assert lines[at + 1 : at + 3] == list(EXAMPLES[command])
    assert not any(line.startswith("╭") for line in lines[:at])


@pytest.mark.parametrize("command", COMMANDS)
def test_options_stand_in_panels(command, uqcli):
    text = uqcli(command, "--help").out.decode()
    assert "─ Run ─" in text
    assert len(re.findall(r"^╭─ ", text, flags=re.MULTILINE)) >= 2


LINES = [each for pair in EXAMPLES.values() for each in pair]
OF_A_SHELL = [line for line in LINES if set(line) & set("|<>&;$")]


@pytest.mark.parametrize("line", OF_A_SHELL)
def test_examples_run_in_a_shell(line, folder):
    done = run(line, folder)
    assert (done.returncode, done.stderr) == (0, ""), done.stdout


@pytest.mark.usefixtures("undrawn", "few_draws")
@pytest.mark.parametrize("line", [line for line in LINES if line not in OF_A_SHELL])
def test_examples_run(line, folder, uqcli, monkeypatch):
    """In this process: a shell would find the same words."""
    monkeypatch.chdir(folder)
    program, *words = shlex.split(line)
    outcome = uqcli(*words)
    assert (program, outcome.code, outcome.err) == ("uqcli", 0, ""), outcome.out


@pytest.mark.parametrize(("words", "most"), [(["--help"], 40), (["boundary", "--help"], 80)])
def test_help_fits_screens_and_shows_no_types_of_python(words, most, monkeypatch, uqcli):
    monkeypatch.setenv("COLUMNS", "80")
    text = uqcli(*words).out.decode()
    assert len(text.splitlines()) <= most
    assert not re.search("<bool>|<str>|list\\[|<=x<=", text)


def test_every_command_answers_a_question():
    assert set(QUESTIONS) == set(COMMANDS)
