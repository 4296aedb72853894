"""Tests that the usual output of each command fits one screen: few lines, 80 columns, few words."""

import io
import sys

import numpy as np
import polars as pl
import pytest

from tests.cli.conftest import in_one_process, sample_frame
from uqcli.cli.app import run

MAX_LINES, MAX_LINES_COMPARED, COLUMNS = 16, 24, 80

SETUP = (
    "boundary rows.csv --precision 0.7 -o one.json -q",
    "boundary rows.csv --precision 0.7 --algorithm vw-dpmt -o two.json -q",
    "calibrate rows.csv --method isotonic -o cal.json -q",
    "conformal classes.csv --proba p_* -o sets.json -q",
    "calibrate rows.csv --method heterogeneous --features group -o tree.json -q",
)
USUAL_COMMANDS = (
    "boundary rows.csv --precision 0.7 -o b.json",
    "boundary rows.csv --precision 0.7 --algorithm vw-dpmt --uncertainty-bins 8 -o b.json",
    "boundary rows.csv --precision 0.7 --compare -o b.json",
    "boundary rows.csv --precision 0.7 --algorithm all -o b.json",
    "boundary rows.csv --precision 0.6,0.7,0.8 -o b{}.json",
    "boundary rows.csv --precision 0.6,0.7,0.8 --compare -o b{}.json",
    "boundary rows.csv --precision 0.7 --algorithm vw-dpmt --uncertainty-bins 8 --weight weight -o b.json",
    "boundary rows.csv --precision 0.6 --certify 0.1 -o b.json",
    "boundary rows.csv --max-selected 5% -o b.json",
    "boundary rows.csv --gain 5 --cost 1 -o b.json",
    "bin rows.csv -o grid.json",
    "calibrate rows.csv -o c.json --method platt",
    "calibrate rows.csv -o c.json --method all",
    "tce rows.csv",
    "tce rows.csv --by group",
    "tce rows.csv --bootstrap 50",
    "tce classes.csv --proba p_*",
    "conformal classes.csv --proba p_* -o s.json",
    "conformal classes.csv --proba p_* --mode label-conditional -o s.json",
    "shift classes.csv --proba p_* --target classes.csv -o w.json",
    "apply one.json rows.csv -o out.csv",
    "apply sets.json classes.csv -o sets.parquet",
    "evaluate one.json rows.csv",
    "evaluate one.json two.json rows.csv",
    "evaluate cal.json rows.csv",
    "evaluate cal.json cal.json rows.csv --bootstrap 20",
    "evaluate sets.json sets.json classes.csv",
    "evaluate sets.json classes.csv",
    "uncertainty rows.csv --members m_* -o u.csv --overwrite",
    "show one.json",
    "show one.json two.json --on rows.csv",
    "show two.json",
    "show sets.json",
    "show tree.json",
)


class Terminal(io.StringIO):
    """A stream that reports to be a terminal."""

    def isatty(self):
        return True


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    """Write rows, classes and rule files."""
    folder = tmp_path_factory.mktemp("screens")
    random = np.random.default_rng(0)
    rows = sample_frame(rows=3000).drop("note")
    members = {f"m_{number}": np.clip(random.random(3000), 0.01, 0.99) for number in range(3)}
    groups = pl.Series("group", random.choice([f"group {number}" for number in range(12)], 3000))
    weight = pl.Series("weight", random.integers(1, 40, 3000))
    rows.with_columns(
        groups, weight, **{name: pl.Series(values) for name, values in members.items()}
    ).write_csv(folder / "rows.csv")
    probability = random.dirichlet(np.ones(10), 3000)
    label = (probability.cumsum(axis=1) > random.random((3000, 1))).argmax(axis=1)
    columns = {f"p_class{number}": probability[:, number] for number in range(10)}
    pl.DataFrame(columns).with_columns(
        label=pl.Series([f"class{class_number}" for class_number in label])
    ).write_csv(folder / "classes.csv")
    outcomes = in_one_process([line.split() for line in SETUP], cwd=folder)
    assert [outcome.code for outcome in outcomes] == [0] * len(SETUP), outcomes
    return folder


@pytest.mark.covering("thorough", every=36)
@pytest.mark.parametrize("line", USUAL_COMMANDS)
def test_usual_output_fits_one_screen(line, folder, monkeypatch):
    monkeypatch.chdir(folder)
    monkeypatch.setenv("COLUMNS", str(COLUMNS))
    monkeypatch.setenv("TERM", "dumb")
    terminal = Terminal()
    monkeypatch.setattr(sys, "stdin", io.TextIOWrapper(io.BytesIO(), encoding="utf-8"))
    monkeypatch.setattr(sys, "stdout", terminal)
    assert run(line.split()) in (0, 6)
    shown = terminal.getvalue().splitlines()
    most = MAX_LINES_COMPARED if "--compare" in line else MAX_LINES
    assert len(shown) <= most, terminal.getvalue()
    assert max(map(len, shown)) <= COLUMNS, terminal.getvalue()
    assert sum(line_shown.startswith("Caution:") for line_shown in shown) <= 1
