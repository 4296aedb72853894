"""Blocks of the docs that need programs beside Python's own packages (``make blocks-elsewhere``)."""

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

from tests.documentation.pages import needing
from tests.documentation.reference import ROOT

OURS = Path(sys.executable).parent
OTHER = Path(os.environ["UQCLI_BLOCKS_PYTHON"]).absolute()
"""A Python with Debian's PyTorch, beside it DVC."""


@pytest.fixture
def surroundings(tmp_path):
    return {"PATH": f"{OURS}:{OTHER.parent}:/usr/bin:/bin", "HOME": str(tmp_path), "TERM": "dumb"}


def run(command, folder, surroundings):
    done = subprocess.run(command, cwd=folder, capture_output=True, text=True, check=False, env=surroundings)
    assert done.returncode == 0, done.stdout + done.stderr
    return done.stdout


NETWORK = """
import torch

torch.manual_seed(0)
features, label = torch.randn(50, 3), torch.randint(2, (50,))
model = torch.nn.Sequential(torch.nn.Linear(3, 8), torch.nn.ReLU(), torch.nn.Dropout(), torch.nn.Linear(8, 1))
"""


def test_dropout_that_stays_on(tmp_path, surroundings):
    (block,) = needing("torch")
    run([OTHER, "-c", NETWORK + block.code], tmp_path, surroundings)
    written = pl.read_parquet(tmp_path / "members.parquet")
    assert written.columns == [*(f"m_{number}" for number in range(20)), "label"]
    assert written["m_0"].to_list() != written["m_1"].to_list()
    run(
        ["uqcli", "uncertainty", "members.parquet", "--members", "m_*", "-o", "h.csv"], tmp_path, surroundings
    )
    assert pl.read_csv(tmp_path / "h.csv")["uncertainty"].n_unique() > 1


def test_dvc_keeps_the_metrics(tmp_path, surroundings):
    stages, commands = needing("dvc")
    (tmp_path / "dvc.yaml").write_text(stages.code)
    for name, sample in (("holdout", "census_calibration.parquet"), ("labelled", "census_test.parquet")):
        (tmp_path / f"{name}.parquet").write_bytes((ROOT / "sample_data" / sample).read_bytes())
    prepare = """
        git init -q && git config user.name t && git config user.email t@example.org
        dvc init -q && dvc config core.analytics false && dvc add -q holdout.parquet labelled.parquet
        dvc repro && git add . && git commit -q -m first
    """
    run(["bash", "-euc", prepare], tmp_path, surroundings)
    stages = (tmp_path / "dvc.yaml").read_text()
    (tmp_path / "dvc.yaml").write_text(stages.replace("--precision 0.9", "--precision 0.8"))
    told = run(["bash", "-euo", "pipefail", "-c", commands.code], tmp_path, surroundings)
    now = json.loads((tmp_path / "evaluation.json").read_text())["metrics"]["precision"]
    (line,) = [each for each in told.splitlines() if re.search(r"\bmetrics\.precision\.value\b", each)]
    assert float(line.split()[-2]) == pytest.approx(now["value"], abs=1e-4)


def test_duckdb_by_a_pipe(tmp_path, surroundings):
    (block,) = needing("duckdb")
    for name, sample in (("rows", "calibration"), ("new", "test")):
        (tmp_path / f"{name}.parquet").write_bytes(
            (ROOT / "sample_data" / f"census_{sample}.parquet").read_bytes()
        )
    printed = run(["bash", "-euo", "pipefail", "-c", block.code], tmp_path, surroundings)
    decided = pl.read_parquet(tmp_path / "decisions.parquet")
    assert str(decided["decision"].sum()) in printed


@pytest.fixture
def postgres(tmp_path):
    """The socket of a database server of the test's own, with two tables."""
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
    end = time.monotonic() + 30
    while not list(socket.glob(".s.PGSQL.*[0-9]")):
        assert server.poll() is None
        assert time.monotonic() < end
        time.sleep(0.1)
    time.sleep(0.5)
    yield socket
    server.terminate()
    server.wait()


def test_postgres_by_a_pipe(tmp_path, surroundings, postgres):
    (block,) = needing("postgres")
    rows = pl.read_parquet(ROOT / "sample_data" / "census_calibration.parquet").with_row_index("id")
    rows.select("id", "score", "uncertainty", "label").write_csv(tmp_path / "rows.csv")
    there = {**surroundings, "PGHOST": str(postgres), "PGUSER": "postgres", "PGDATABASE": "postgres"}
    prepare = """
        psql -qc "CREATE TABLE scored (id int, score float8, uncertainty float8, label int)"
        psql -qc "CREATE TABLE decisions (id int, score float8, uncertainty float8, decision bool)"
        psql -qc "\\copy scored FROM rows.csv WITH (FORMAT csv, HEADER)"
    """
    run(["bash", "-euo", "pipefail", "-c", prepare], tmp_path, there)
    run(["bash", "-euo", "pipefail", "-c", block.code], tmp_path, there)
    counted = run(["psql", "-Atc", "SELECT count(*), sum(decision::int) FROM decisions"], tmp_path, there)
    count, flagged = map(int, counted.split("|"))
    fit = json.loads((tmp_path / "rule.json").read_text())["fit"]
    assert (count, flagged) == (len(rows), fit["selected"])


class Terminal:
    """A shell that believes that somebody types."""

    def __init__(self, command, folder, surroundings):
        child, self._near = pty.fork()
        if child == 0:
            os.chdir(folder)
            os.execve(command[0], command, surroundings)

    def typed(self, keys, until):
        """Type, and read until a text comes."""
        os.write(self._near, keys.encode())
        seen, end = "", time.monotonic() + 30
        while until not in seen:
            assert select.select([self._near], [], [], end - time.monotonic())[0], seen
            seen += os.read(self._near, 4096).decode(errors="replace")
        return seen


def test_zsh_completes(tmp_path, surroundings):
    (block,) = needing("zsh")
    (tmp_path / ".zshrc").write_text(f"autoload -U compinit; compinit -u\n{block.code}\nPS1='ready> '\n")
    shell = Terminal(["/usr/bin/zsh", "-i"], tmp_path, surroundings)
    shell.typed("", "ready> ")
    shell.typed("uqcli bou\t", "boundary")


def test_fish_completes(tmp_path, surroundings):
    (block,) = needing("fish")
    (tmp_path / ".config/fish/completions").mkdir(parents=True)
    run(["bash", "-euc", block.code], tmp_path, surroundings)
    told = run(["/usr/bin/fish", "-c", "complete -C 'uqcli bou'"], tmp_path, surroundings)
    assert told.split()[0] == "boundary"
