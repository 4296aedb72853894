"""Tests of figures: files of every format, reproducible bytes, and runs without matplotlib."""

import importlib.util
import re

import numpy as np
import polars as pl
import pytest

from tests.cli.cases import CASES
from tests.cli.conftest import in_one_process

pytestmark = pytest.mark.usefixtures("real_figures", "all_draws")

PLOTTING_CASES = [case for case in CASES if case.plots]
SIGNATURES = {"png": b"\x89PNG", "svg": b"<?xml", "pdf": b"%PDF"}


def name_of(case):
    return case.name


@pytest.mark.thorough
@pytest.mark.parametrize("ending", SIGNATURES)
def test_figures_have_their_format_and_are_reproducible(uqcli, data, artifact, tmp_path, ending):
    paths = [tmp_path / f"{number}.{ending}" for number in (1, 2)]
    for path in paths:
        outcome = uqcli(*PLOTTING_CASES[0].arguments(data, artifact), "-q", "--plot", path)
        assert (outcome.code, outcome.out, outcome.err) == (0, b"", "")
    assert paths[0].read_bytes().startswith(SIGNATURES[ending])
    assert paths[0].read_bytes() == paths[1].read_bytes()


@pytest.mark.parametrize("case", PLOTTING_CASES, ids=name_of)
def test_unusable_paths_of_figures_are_errors(uqcli, case, data, artifact, tmp_path):
    arguments = case.arguments(data, artifact)
    assert uqcli(*arguments, "--plot", "figure.bmp").code == 2
    assert uqcli(*arguments, "--plot", "nowhere/figure.png").code == 3
    assert uqcli(*arguments, "--plot", "a.svg", "--report", "a.svg").code == 2
    assert not (tmp_path / "a.svg").exists()


@pytest.mark.thorough
@pytest.mark.parametrize("case", PLOTTING_CASES, ids=name_of)
def test_pages_contain_the_figure(uqcli, case, data, artifact, tmp_path):
    (tmp_path / "pages").mkdir()
    reports = ("--report", "r.html", "--report", "pages/r.md", "--plot", "a figure.svg")
    assert uqcli(*case.arguments(data, artifact), "-q", *reports).code == 0
    page = (tmp_path / "r.html").read_text()
    assert re.search(r'<figure>\n<div class="picture wide" role="img" aria-label="[^"]+"[^>]*>\n<svg', page)
    beside = (tmp_path / "pages" / "r.md").read_text()
    assert "](../a%20figure.svg)\n" in beside
    assert "data:image" not in beside  # code hosts take it out


@pytest.mark.covering("thorough", every=4)
@pytest.mark.parametrize("case", PLOTTING_CASES, ids=name_of)
def test_without_matplotlib_the_extra_is_named_before_any_work(
    uqcli, case, data, artifact, tmp_path, monkeypatch
):
    find = importlib.util.find_spec
    monkeypatch.setattr(
        importlib.util, "find_spec", lambda name: None if name == "matplotlib" else find(name)
    )
    arguments = case.arguments(data, artifact)
    pages = (("--report", "a.html"), ("--report", "a.md"))
    for options in (("--plot", "a.png"), *(pages if case.needs_drawing else ())):
        outcome = uqcli(*arguments, *options)
        assert outcome.code == 7
        assert "uqcli[report]" in outcome.err
        assert not (tmp_path / "a.png").exists()
        assert options[0] == "--plot" or "(exit code 7)" in (tmp_path / options[1]).read_text()
    assert uqcli(*arguments, "-q", "--report", "a.json").code == 0
    if not case.needs_drawing:
        assert uqcli(*arguments, "-q", "--report", "a.html").code == 0
        assert "<figure" not in (tmp_path / "a.html").read_text()


DEGENERATE_ROWS = {
    "one row": ([0.3], [1]),
    "one score": ([0.2] * 300, [1, 0, 0] * 100),
    "all negative": ([0.0, 0.1, 0.2, 0.3], [0, 0, 0, 0]),
    "exact ends": ([0.0, 0.0, 1.0, 1.0], [0, 1, 0, 1]),
    "rare": (np.linspace(0, 1e-7, 500), [0] * 499 + [1]),
}
EXTREME_SCORES = {
    "huge": np.linspace(-1, 1, 300) * 1e308,
    "tiny": np.linspace(-1, 1, 300) * 1e-308,
    "beyond": np.linspace(1, 39, 300) * 1e300,  # all drawn at one place
    "largest": np.array([-1.7976931348623157e308, 0, 1.7976931348623157e308] * 100),
}


@pytest.mark.thorough
@pytest.mark.parametrize("scores", EXTREME_SCORES)
def test_finite_scores_of_any_size_can_be_drawn(uqcli, tmp_path, scores):
    score, rows = EXTREME_SCORES[scores], np.arange(300)
    frame = pl.DataFrame({"score": score, "uncertainty": rows % 3, "label": (rows % 7 > 2).astype(int)})
    frame.write_csv(tmp_path / "d.csv")
    for line in (
        ("bin", "d.csv"),
        ("bin", "d.csv", "--binning", "quantile"),
        ("boundary", "d.csv", "--precision", "0.5", "-o", "b.json"),
        ("evaluate", "b.json", "d.csv"),
    ):
        outcome = uqcli(*line, "-q", "--report", "d.html")  # draws the wide and the narrow figure
        assert (outcome.code, outcome.err) == (0, ""), line


@pytest.mark.covering("thorough", every=5, also=["equispaced-rare"])
@pytest.mark.parametrize("rows", DEGENERATE_ROWS)
@pytest.mark.parametrize("binning", ["pava-bc", "equispaced"])
def test_small_and_degenerate_files_can_be_drawn(uqcli, tmp_path, rows, binning):
    score, label = DEGENERATE_ROWS[rows]
    pl.DataFrame({"score": score, "label": label}).write_csv(tmp_path / "d.csv")
    outcome = uqcli("tce", "d.csv", "--binning", binning, "-q", "--plot", "d.svg")
    assert (outcome.code, outcome.err) == (0, "")


@pytest.mark.thorough
@pytest.mark.parametrize("case", PLOTTING_CASES, ids=name_of)
def test_noise_of_the_layout_changes_no_byte(uqcli, case, data, artifact, tmp_path, monkeypatch):
    """The layout solver adds up in the order of memory addresses; this test adds more rounding noise."""
    from matplotlib.layout_engine import ConstrainedLayoutEngine
    from matplotlib.transforms import Bbox

    outcome = uqcli(*case.arguments(data, artifact), "-q", "--plot", "a.svg")
    assert (outcome.code, outcome.out, outcome.err) == (0, b"", "")
    assert (tmp_path / "a.svg").read_bytes().startswith(SIGNATURES["svg"])
    execute, random = ConstrainedLayoutEngine.execute, np.random.default_rng(3)

    def noisy(self, figure):
        execute(self, figure)
        for subfigure in figure.subfigs:
            subfigure.bbox_relative.p0 = subfigure.bbox_relative.p0 + 1e-13 * random.normal(size=2)
        for axes in figure.axes:
            bounds = axes.get_position(original=True).bounds + 1e-13 * random.normal(size=4)
            axes.set_position(Bbox.from_bounds(*bounds))

    monkeypatch.setattr(ConstrainedLayoutEngine, "execute", noisy)
    assert uqcli(*case.arguments(data, artifact), "-q", "--plot", "b.svg").code == 0
    assert (tmp_path / "a.svg").read_bytes() == (tmp_path / "b.svg").read_bytes()


@pytest.mark.thorough
def test_pages_are_byte_identical_in_every_process_and_order(uqcli, data, artifact, tmp_path):
    def lines(order, number):
        options = ("-q", "--threads", number, "--report")
        return [[*PLOTTING_CASES[k].arguments(data, artifact), *options, f"{k}-{number}.html"] for k in order]

    cases = range(len(PLOTTING_CASES))
    for line in lines(cases, 1):
        assert uqcli(*line).code == 0, line
    outcomes = in_one_process(lines(reversed(cases), 2), environment={"PYTHONHASHSEED": "2"})
    assert [outcome.code for outcome in outcomes] == [0] * len(PLOTTING_CASES)
    for k, case in enumerate(PLOTTING_CASES):
        first, second = ((tmp_path / f"{k}-{number}.html").read_bytes() for number in (1, 2))
        assert first == second, case


@pytest.mark.thorough
@pytest.mark.parametrize("rows", DEGENERATE_ROWS)
def test_positive_rates_of_small_and_degenerate_files_can_be_drawn(uqcli, tmp_path, rows):
    score, label = DEGENERATE_ROWS[rows]
    frame = pl.DataFrame({"score": score, "uncertainty": np.arange(len(score)) % 3, "label": label})
    frame.with_columns(pl.col("score") * 4 - 1).write_csv(tmp_path / "d.csv")
    one_bin = ("--uncertainty-bins", "1", "--binning", "quantile")
    for options in (("--score-bins", "1"), ("--uncertainty-bins", "30"), one_bin):
        outcome = uqcli("bin", "d.csv", *options, "-q", "--plot", "d.svg")
        assert (outcome.code, outcome.err) == (0, "")


@pytest.mark.thorough
def test_figures_of_boundaries_have_their_titles(uqcli, data, tmp_path):
    line = ("boundary", data, "--precision", "0.5", "-q", "--report", "r.html")
    titles = {
        ("--uncertainty-bins", "3"): "with boundary, with single threshold",
        (): "with boundary, with single threshold",
        (
            "--certify",
            "0.4",
        ): 'with certified boundary"',  # other boundaries are not drawn, because its edges define the bands
    }
    for options, title in titles.items():
        assert uqcli(*line, *options).code == 0
        assert f"Positive rate by score and uncertainty, {title}" in (tmp_path / "r.html").read_text()
    assert uqcli(*line, "--algorithm", "st").code == 0
    assert 'uncertainty, with boundary"' in (tmp_path / "r.html").read_text()
    assert uqcli(*line, "--algorithm", "hr").code == 0
    assert "<figure" not in (tmp_path / "r.html").read_text()
    assert uqcli("boundary", data, "--precision", "0.5", "--algorithm", "hr", "--plot", "a.png").code == 2


@pytest.mark.thorough
def test_rates_are_drawn_with_their_targets(uqcli, data, tmp_path):
    assert uqcli("boundary", data, "--recall", "0.5", "-q", "-o", "r.json").code == 0
    assert uqcli("boundary", data, "--precision", "0.5", "-q", "-o", "p.json").code == 0
    pl.DataFrame({"score": [-1e9], "uncertainty": [0.0], "label": [0]}).write_csv(tmp_path / "none.csv")
    for rows in (data, "none.csv"):  # for the latter no row is flagged and no rate is defined
        outcome = uqcli(
            "evaluate", "r.json", "p.json", rows, "-q", "--report", "e.html", "--confidence", "0.9"
        )
        assert (outcome.code, outcome.err) == (0, "")
        assert "Precision and Recall with 90 % intervals: r.json, p.json" in (tmp_path / "e.html").read_text()


def test_the_page_draws_no_rate_that_is_unknown_and_no_interval_that_is_not_there(uqcli, tmp_path):
    random = np.random.default_rng(7)
    score, day = random.random(3000), np.arange(3000) % 6
    rows = pl.DataFrame({"score": score, "label": (random.random(3000) < score).astype(int), "day": day})
    rows.with_columns(uncertainty=0.5).write_csv(tmp_path / "days.csv")
    labelled = (pl.col("score") > 0.5) & (pl.int_range(pl.len()) % 3 == 0)
    part = rows.with_columns(uncertainty=0.5, label=pl.when(labelled).then(pl.col("label")))
    part.write_csv(tmp_path / "part.csv")
    assert uqcli("boundary", "days.csv", "--precision", "0.8", "-q", "-o", "r.json").code == 0
    line = ("evaluate", "r.json", "part.csv", "--on-invalid", "drop", "-q", "--report", "part.html")
    assert uqcli(*line).code == 0
    assert '"Precision with 95 % intervals: r.json"' in (tmp_path / "part.html").read_text()
    assert (
        uqcli("evaluate", "r.json", "days.csv", "--cluster", "day", "-q", "--report", "days.html").code == 0
    )
    page = (tmp_path / "days.html").read_text()
    assert '"Precision and Recall: r.json"' in page
    assert "A target (red) outside its" not in page


@pytest.mark.thorough
def test_every_target_is_marked_however_it_is_typed(uqcli, data, tmp_path):
    for number, typed in enumerate(("0.5,0.6,0.7", "0.5,.60,70%")):
        line = ("boundary", data, "--precision", typed, "-q", "--plot", tmp_path / f"{number}.svg")
        assert uqcli(*line).code == 0
    assert (tmp_path / "0.svg").read_bytes() == (tmp_path / "1.svg").read_bytes()
