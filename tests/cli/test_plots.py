"""Figures: files of every format, the same bytes each time, and what happens without matplotlib."""

import importlib.util
import re

import numpy as np
import polars as pl
import pytest

from tests.cli.cases import CASES

PLOT = [case for case in CASES if case.plots]
SIGNATURES = {"png": b"\x89PNG", "svg": b"<?xml", "pdf": b"%PDF"}


def name_of(case):
    return case.name


@pytest.mark.parametrize("case", PLOT, ids=name_of)
@pytest.mark.parametrize("ending", SIGNATURES)
def test_figures_are_files_of_their_format_and_the_same_bytes(uqcli, case, data, artifact, tmp_path, ending):
    names = [tmp_path / f"{number}.{ending}" for number in (1, 2)]
    for name in names:
        outcome = uqcli(*case.arguments(data, artifact), "-q", "--plot", name)
        assert (outcome.code, outcome.out, outcome.err) == (0, b"", "")
    assert names[0].read_bytes().startswith(SIGNATURES[ending])
    assert names[0].read_bytes() == names[1].read_bytes()


@pytest.mark.parametrize("case", PLOT, ids=name_of)
def test_unusable_places(uqcli, case, data, artifact, tmp_path):
    arguments = case.arguments(data, artifact)
    assert uqcli(*arguments, "--plot", "figure.bmp").code == 2
    assert uqcli(*arguments, "--plot", "nowhere/figure.png").code == 3
    assert uqcli(*arguments, "--plot", "a.svg", "--report", "a.svg").code == 2
    assert not (tmp_path / "a.svg").exists()


@pytest.mark.parametrize("case", PLOT, ids=name_of)
def test_pages_hold_the_figure(uqcli, case, data, artifact, tmp_path):
    for ending in ("html", "md"):
        assert uqcli(*case.arguments(data, artifact), "-q", "--report", f"r.{ending}").code == 0
    page = (tmp_path / "r.html").read_text()
    assert re.search(r'<figure role="img" aria-label="[^"]+">\n<svg', page)
    assert "](data:image/svg+xml;base64," in (tmp_path / "r.md").read_text()


@pytest.mark.parametrize("case", PLOT, ids=name_of)
def test_without_matplotlib_the_extra_is_named_before_any_work(
    uqcli, case, data, artifact, tmp_path, monkeypatch
):
    find = importlib.util.find_spec
    monkeypatch.setattr(
        importlib.util, "find_spec", lambda name: None if name == "matplotlib" else find(name)
    )
    arguments = case.arguments(data, artifact)
    for wanted in (("--plot", "a.png"), ("--report", "a.html"), ("--report", "a.md")):
        outcome = uqcli(*arguments, *wanted)
        assert outcome.code == 7
        assert "uqcli[report]" in outcome.err
        assert not (tmp_path / wanted[1]).exists()
    assert uqcli(*arguments, "-q", "--report", "a.json").code == 0


ROWS = {
    "one row": ([0.3], [1]),
    "one score": ([0.2] * 300, [1, 0, 0] * 100),
    "all negative": ([0.0, 0.1, 0.2, 0.3], [0, 0, 0, 0]),
    "exact ends": ([0.0, 0.0, 1.0, 1.0], [0, 1, 0, 1]),
    "rare": (np.linspace(0, 1e-7, 500), [0] * 499 + [1]),
}


@pytest.mark.parametrize("rows", ROWS)
@pytest.mark.parametrize("binning", ["pava-bc", "equispaced"])
def test_small_and_strange_files_can_be_drawn(uqcli, tmp_path, rows, binning):
    score, label = ROWS[rows]
    pl.DataFrame({"score": score, "label": label}).write_csv(tmp_path / "d.csv")
    outcome = uqcli("tce", "d.csv", "--binning", binning, "-q", "--plot", "d.svg")
    assert (outcome.code, outcome.err) == (0, "")
