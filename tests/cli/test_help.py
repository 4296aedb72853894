"""Tests of the help of each command: it starts with two examples, and they run."""

import os
import re
import shlex
import subprocess
import sys
from pathlib import Path

import polars as pl
import pytest
from typer.main import get_command

from uqcli.base.options import MOST_COMMON
from uqcli.cli.app import program
from uqcli.cli.config import COMMANDS
from uqcli.cli.help import EXAMPLES, QUESTIONS

SAMPLE = Path(__file__).parents[2] / "sample_data"
SETUP_LINES = (
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
    """Write the files that the examples read."""
    folder = tmp_path_factory.mktemp("examples")
    names = {"holdout": "holdout", "new": "new", "proba_holdout": "classes", "proba_new": "today"}
    for sample, name in names.items():
        (folder / f"{name}.csv").write_bytes((SAMPLE / f"digits_{sample}.csv").read_bytes())
    rows = pl.read_csv(folder / "holdout.csv")
    score = pl.col("score")
    rows.with_columns(old_model=score.round(1), new_model=score).write_csv(folder / "holdout.csv")
    day = pl.date(2025, 1, 1) + pl.duration(days=pl.int_range(pl.len()) % 365)
    rows.sample(20 * 365, with_replacement=True, seed=1).with_columns(day=day).write_csv(
        folder / "scored.csv"
    )
    pl.DataFrame({"m_1": [0.1, 0.9], "m_2": [0.2, 0.7], "m_3": [0.3, 0.8]}).write_csv(folder / "ensemble.csv")
    pl.DataFrame({"a": [1.5, 9.0], "b": [2.0, 3.0]}).write_csv(folder / "beta.csv")
    for line in SETUP_LINES:
        assert run(line, folder).returncode == 0
    return folder


def test_every_command_has_two_examples():
    assert set(EXAMPLES) == set(COMMANDS)
    assert all(len(examples) == 2 for examples in EXAMPLES.values())


@pytest.mark.parametrize("command", COMMANDS)
def test_help_begins_with_its_examples(command, uqcli):
    lines = [line.strip() for line in uqcli(command, "--help").out.decode().splitlines()]
    position = lines.index("Examples:")  # no example is longer than 80 columns
    assert lines[position + 1 : position + 3] == list(EXAMPLES[command])
    assert not any(line.startswith("╭") for line in lines[:position])


LAST_ROWS = {
    "bin": {"--binning": {"equi-span"}},
    "boundary": {"--algorithm": {"ew-dpmt", "mist", "gmt", "hr"}, "--binning": {"equi-span"}},
    "calibrate": {"--partitioner": {"forest"}, "--split": {"auc"}},
    "tce": {"--test": {"t"}, "--bin-sizes": {"paper"}},
}
"""Options of the last panel by command, with values that stand nowhere before it."""


@pytest.mark.parametrize("command", COMMANDS)
def test_what_is_from_the_papers_is_in_the_last_panel(command, uqcli, monkeypatch):
    monkeypatch.setenv("COLUMNS", "300")
    text = uqcli(command, "--help").out.decode()
    before, _, last = text.partition("─ From the papers ─")
    options = LAST_ROWS.get(command, {})
    assert re.findall(r"^│ (--[\w-]+)", last, flags=re.MULTILINE) == list(options)
    assert "╭" not in last
    for option, values in options.items():
        (row,) = re.findall(rf"^│ {option} .*$", last, flags=re.MULTILINE)
        assert values <= set(re.findall(r"[\w-]+", row))
        rows = re.findall(rf"^│ {option}\b(?!-).*$", before, flags=re.MULTILINE)
        assert not any(values & set(re.findall(r"[\w-]+", row)) for row in rows)


@pytest.mark.parametrize("command", COMMANDS)
def test_options_are_grouped_in_panels(command, uqcli):
    text = uqcli(command, "--help").out.decode()
    assert "─ Reading and running ─" in text
    assert len(re.findall(r"^╭─ ", text, flags=re.MULTILINE)) >= 2


LINES = [line for pair in EXAMPLES.values() for line in pair]
SHELL_LINES = [line for line in LINES if set(line) & set("|<>&;$")]


@pytest.mark.covering("thorough", every=4)
@pytest.mark.parametrize("line", SHELL_LINES)
def test_examples_run_in_a_shell(line, folder):
    process = run(line, folder)
    assert (process.returncode, process.stderr) == (0, ""), process.stdout


@pytest.mark.covering("thorough", every=9)
@pytest.mark.parametrize("line", [line for line in LINES if line not in SHELL_LINES])
def test_examples_run(line, folder, uqcli, monkeypatch):
    """The example runs in this process; a shell would split it into the same words."""
    monkeypatch.chdir(folder)
    program, *words = shlex.split(line)
    outcome = uqcli(*words)
    assert (program, outcome.code, outcome.err) == ("uqcli", 0, ""), outcome.out


@pytest.mark.parametrize(("words", "max_lines"), [(["--help"], 45), (["boundary", "--help"], 110)])
def test_help_fits_the_screen_and_shows_no_python_types(words, max_lines, monkeypatch, uqcli):
    monkeypatch.setenv("COLUMNS", "80")
    text = uqcli(*words).out.decode()
    assert len(text.splitlines()) <= max_lines
    assert not re.search("<bool>|<str>|list\\[|<=x<=", text)


@pytest.mark.covering("thorough", every=3)
@pytest.mark.parametrize("command", COMMANDS)
def test_the_short_help_fits_a_screen_and_says_where_the_rest_is(command, uqcli, monkeypatch):
    monkeypatch.setenv("COLUMNS", "80")
    short, whole = (uqcli(command, word).out.decode() for word in ("-h", "--help"))
    assert len(short.splitlines()) <= 40
    assert all(f" {example} " in short for example in EXAMPLES[command])
    parameters = get_command(program((command,))).commands[command].params
    options = [parameter for parameter in parameters if parameter.param_type_name == "option"]
    assert f"uqcli {command} --help shows all {len(options)} options." in short
    listed = re.findall(r"^│ (?:[ *] )?(--[\w-]+)", short, flags=re.MULTILINE)
    assert len(listed) <= MOST_COMMON
    declaration = get_command(program((command,))).commands[command].callback.declaration
    common = {option.name for option in declaration.options.values() if option.is_common}
    assert set(listed) == {option.opts[0] for option in options if option.name in common}
    assert all(option.opts[0] in whole for option in options)
    assert uqcli("help", command).out.decode() == uqcli(command, "-h", "--help").out.decode() == whole


def test_the_short_help_of_the_program_lists_its_commands(uqcli, monkeypatch):
    monkeypatch.setenv("COLUMNS", "80")
    short = uqcli("-h").out.decode()
    assert len(short.splitlines()) <= 40
    assert all(f"│ {command} " in short for command in COMMANDS)
    assert "uqcli --help shows the options." in short
    assert "--install-completion" in uqcli("--help").out.decode()


@pytest.mark.parametrize("width", ["20", "60", "80", "200"])
def test_the_short_help_without_the_commands_is_that_of_the_program(uqcli, monkeypatch, width):
    monkeypatch.setenv("COLUMNS", width)
    line = [sys.executable, "-m", "uqcli", "-h"]
    alone = subprocess.run(line, capture_output=True, check=True, env={**os.environ, "PYTHONUTF8": "1"})
    assert alone.stdout == uqcli("-h").out


def completions(shell, *words):
    """Return what a shell would offer for the last of the words, and the modules that were loaded."""
    code = (
        "import sys, atexit\nfrom uqcli.cli.app import run\n"
        "atexit.register(lambda: sys.stderr.write(' '.join(sys.modules)))\n"
        "run([])"
    )
    line = " ".join(["uqcli", *words])
    words_of_shell = {"COMP_WORDS": line, "COMP_CWORD": str(len(words)), "_TYPER_COMPLETE_ARGS": line}
    environment = {**os.environ, **words_of_shell, "_UQCLI_COMPLETE": f"complete_{shell}"}
    process = subprocess.run(
        [sys.executable, "-c", code], capture_output=True, text=True, check=False, env=environment
    )
    return process.stdout, process.stderr


@pytest.mark.parametrize("shell", ["bash", "zsh"])
def test_a_shell_completes_commands_and_options_and_loads_the_one_command(shell):
    commands, _ = completions(shell, "ca")
    assert "calibrate" in commands
    assert "boundary" not in commands
    options, modules = completions(shell, "calibrate", "--boot")
    assert "--bootstrap" in options
    assert "uqcli.jobs.calibrate" in modules
    assert "uqcli.jobs.watch" not in modules


@pytest.mark.parametrize("word", ["-h", "--version"])
def test_an_answer_that_cannot_be_written_is_an_error(word):
    with Path("/dev/full").open("wb") as full:
        process = subprocess.run(
            [sys.executable, "-m", "uqcli", word], stdout=full, stderr=subprocess.PIPE, check=False
        )
    assert process.returncode == 3
    assert b"error: " in process.stderr


def test_a_value_that_looks_like_an_option_asks_for_no_help(uqcli):
    assert uqcli("tce", "--title", "-h", "nowhere.csv").code in (2, 3)
    assert uqcli("tce", "--", "-h").code == 3


def test_every_command_answers_a_question():
    assert set(QUESTIONS) == set(COMMANDS)


def test_the_earlier_name_of_show_schema_goes_on_working_and_is_no_command(uqcli):
    schema = uqcli("show", "--schema", "grid")
    assert schema.code == 0
    for words in (("schema", "grid"), ("schema", "--threads", "2", "grid")):
        assert uqcli(*words) == schema
    refused = uqcli("schema", "nothing")
    assert refused.code == 2
    assert "'nothing' is not one of 'grid', 'boundary'" in refused.err
    assert uqcli("schema", "--help").out == uqcli("help", "schema").out == uqcli("show", "--help").out
    assert "schema" not in uqcli("--help").out.decode()
