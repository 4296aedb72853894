"""Tests that run blocks of the docs which need other programs (``make blocks-elsewhere``)."""

import json
import os
import pty
import re
import select
import shutil
import subprocess
import sys
import time
from pathlib import Path

import polars as pl
import pytest

from tests.documentation.pages import blocks_needing
from tests.documentation.reference import ROOT

PROGRAMS = Path(sys.executable).parent
OTHER_PYTHON = Path(os.environ["UQCLI_BLOCKS_PYTHON"]).absolute()
"""A Python with Debian's PyTorch, and with DVC beside it."""


@pytest.fixture
def environment(tmp_path):
    return {"PATH": f"{PROGRAMS}:{OTHER_PYTHON.parent}:/usr/bin:/bin", "HOME": str(tmp_path), "TERM": "dumb"}


def run(command, folder, environment):
    process = subprocess.run(
        command, cwd=folder, capture_output=True, text=True, check=False, env=environment
    )
    assert process.returncode == 0, process.stdout + process.stderr
    return process.stdout


NETWORK = """
import torch

torch.manual_seed(0)
features, label = torch.randn(50, 3), torch.randint(2, (50,))
model = torch.nn.Sequential(torch.nn.Linear(3, 8), torch.nn.ReLU(), torch.nn.Dropout(), torch.nn.Linear(8, 1))
"""


def test_dropout_stays_active(tmp_path, environment):
    (block,) = blocks_needing("torch")
    run([OTHER_PYTHON, "-c", NETWORK + block.code], tmp_path, environment)
    members = pl.read_parquet(tmp_path / "members.parquet")
    assert members.columns == [*(f"m_{number}" for number in range(20)), "label"]
    assert members["m_0"].to_list() != members["m_1"].to_list()
    run(["uqcli", "uncertainty", "members.parquet", "--members", "m_*", "-o", "h.csv"], tmp_path, environment)
    assert pl.read_csv(tmp_path / "h.csv")["uncertainty"].n_unique() > 1


def test_dvc_keeps_the_metrics(tmp_path, environment):
    stages, commands = blocks_needing("dvc")
    (tmp_path / "dvc.yaml").write_text(stages.code)
    for name, sample in (("holdout", "census_calibration.parquet"), ("labelled", "census_test.parquet")):
        (tmp_path / f"{name}.parquet").write_bytes((ROOT / "sample_data" / sample).read_bytes())
    prepare = """
        git init -q && git config user.name t && git config user.email t@example.org
        dvc init -q && dvc config core.analytics false && dvc add -q holdout.parquet labelled.parquet
        dvc repro && git add . && git commit -q -m first
    """
    run(["bash", "-euc", prepare], tmp_path, environment)
    stages = (tmp_path / "dvc.yaml").read_text()
    (tmp_path / "dvc.yaml").write_text(stages.replace("--precision 0.9", "--precision 0.8"))
    output = run(["bash", "-euo", "pipefail", "-c", commands.code], tmp_path, environment)
    precision = json.loads((tmp_path / "evaluation.json").read_text())["metrics"]["precision"]
    (line,) = [
        output_line
        for output_line in output.splitlines()
        if re.search(r"\bmetrics\.precision\.value\b", output_line)
    ]
    assert float(line.split()[-2]) == pytest.approx(precision["value"], abs=1e-4)


def test_rows_of_duckdb_go_through_a_pipe(tmp_path, environment):
    (block,) = blocks_needing("duckdb")
    for name, sample in (("rows", "calibration"), ("new", "test")):
        (tmp_path / f"{name}.parquet").write_bytes(
            (ROOT / "sample_data" / f"census_{sample}.parquet").read_bytes()
        )
    printed = run(["bash", "-euo", "pipefail", "-c", block.code], tmp_path, environment)
    decided = pl.read_parquet(tmp_path / "decisions.parquet")
    assert str(decided["decision"].sum()) in printed


@pytest.fixture
def postgres(tmp_path):
    """Start a database server, and return the folder of its socket."""
    socket, data = tmp_path / "socket", tmp_path / "data"
    for folder in (tmp_path, tmp_path.parent, tmp_path.parent.parent):
        folder.chmod(0o755)
    for folder in (socket, data):
        folder.mkdir()
        shutil.chown(folder, "postgres", "postgres")
    programs = max(Path("/usr/lib/postgresql").glob("*/bin"))
    as_owner = {"user": "postgres", "group": "postgres", "extra_groups": [], "cwd": socket}
    subprocess.run(
        [programs / "initdb", "-D", data, "-A", "trust"], check=True, stdout=subprocess.DEVNULL, **as_owner
    )
    server = subprocess.Popen(
        [programs / "postgres", "-D", data, "-k", socket, "-h", ""], stderr=subprocess.DEVNULL, **as_owner
    )
    deadline = time.monotonic() + 30
    while not list(socket.glob(".s.PGSQL.*[0-9]")):
        assert server.poll() is None
        assert time.monotonic() < deadline
        time.sleep(0.1)
    time.sleep(0.5)
    yield socket
    server.terminate()
    server.wait()


def test_rows_of_postgres_go_through_a_pipe(tmp_path, environment, postgres):
    (block,) = blocks_needing("postgres")
    rows = pl.read_parquet(ROOT / "sample_data" / "census_calibration.parquet").with_row_index("id")
    rows.select("id", "score", "uncertainty", "label").write_csv(tmp_path / "rows.csv")
    postgres_environment = {
        **environment,
        "PGHOST": str(postgres),
        "PGUSER": "postgres",
        "PGDATABASE": "postgres",
    }
    prepare = """
        psql -qc "CREATE TABLE scored (id int, score float8, uncertainty float8, label int)"
        psql -qc "CREATE TABLE decisions (id int, score float8, uncertainty float8, decision bool)"
        psql -qc "\\copy scored FROM rows.csv WITH (FORMAT csv, HEADER)"
    """
    run(["bash", "-euo", "pipefail", "-c", prepare], tmp_path, postgres_environment)
    run(["bash", "-euo", "pipefail", "-c", block.code], tmp_path, postgres_environment)
    query_output = run(
        ["psql", "-Atc", "SELECT count(*), sum(decision::int) FROM decisions"], tmp_path, postgres_environment
    )
    count, flagged = map(int, query_output.split("|"))
    fit = json.loads((tmp_path / "rule.json").read_text())["fit"]
    assert (count, flagged) == (len(rows), fit["selected"])


class Terminal:
    """A shell on a pseudo-terminal."""

    def __init__(self, command, folder, environment):
        child, self._controller = pty.fork()
        if child == 0:
            os.chdir(folder)
            os.execve(command[0], command, environment)

    def type_keys(self, keys, until):
        """Type keys, and read until a text appears."""
        os.write(self._controller, keys.encode())
        output, deadline = "", time.monotonic() + 30
        while until not in output:
            assert select.select([self._controller], [], [], deadline - time.monotonic())[0], output
            output += os.read(self._controller, 4096).decode(errors="replace")
        return output


def test_zsh_completes_commands(tmp_path, environment):
    (block,) = blocks_needing("zsh")
    (tmp_path / ".zshrc").write_text(f"autoload -U compinit; compinit -u\n{block.code}\nPS1='ready> '\n")
    shell = Terminal(["/usr/bin/zsh", "-i"], tmp_path, environment)
    shell.type_keys("", "ready> ")
    shell.type_keys("uqcli bou\t", "boundary")


def test_fish_completes_commands(tmp_path, environment):
    (block,) = blocks_needing("fish")
    (tmp_path / ".config/fish/completions").mkdir(parents=True)
    run(["bash", "-euc", block.code], tmp_path, environment)
    output = run(["/usr/bin/fish", "-c", "complete -C 'uqcli bou'"], tmp_path, environment)
    assert output.split()[0] == "boundary"
