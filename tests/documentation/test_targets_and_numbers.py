"""Tests that pages name existing targets of the Makefile and current numbers of the sample data."""

import json
import math
import re
import shlex
import subprocess
import tempfile
from pathlib import Path

import polars as pl
import pytest

import uqcli
from sample_data import figure
from tests.documentation import flights_figure
from tests.documentation.pages import PAGES
from tests.documentation.reference import DOCS, README, ROOT
from uqcli.cli.app import run

CONTRIBUTING = ROOT / "CONTRIBUTING.md"


def targets():
    """List the targets of ``make help``."""
    output = subprocess.run(["make", "help"], cwd=ROOT, capture_output=True, text=True, check=True).stdout
    return re.findall(r"^  ([a-z-]+) ", output, flags=re.MULTILINE)


def test_make_help_lists_every_target():
    phony = re.search(r"^\.PHONY: (.*)$", (ROOT / "Makefile").read_text(), flags=re.MULTILINE)[1].split()
    assert sorted(targets()) == sorted(phony)


def test_contributing_names_the_targets():
    (section,) = re.findall(
        r"^Targets of the Makefile.*?\n\n", CONTRIBUTING.read_text(), flags=re.MULTILINE | re.DOTALL
    )
    assert set(re.findall(r"`([a-z-]+)`", section)) == set(targets())


def test_pages_name_existing_targets():
    for path in [*PAGES, ROOT / ".ci" / "run"]:
        target_lists = re.findall(r"(?:`|^)make((?: [a-z][a-z-]*)+)", path.read_text(), flags=re.MULTILINE)
        names = {word for words in target_lists for word in words.split()}
        assert names <= set(targets()), path


def boundary_report(*options):
    """Return the JSON report of the boundary that the first pages show."""
    calibration = str(ROOT / "sample_data" / "census_calibration.parquet")
    with tempfile.TemporaryDirectory() as folder:
        report = Path(folder) / "report.json"
        assert (
            run(["boundary", calibration, "--precision", "0.7", *options, "-q", "--report", str(report)]) == 0
        )
        return json.loads(report.read_text())


@pytest.mark.thorough
def test_the_gain_on_the_sample_data_is_current():
    report = boundary_report("--compare")
    metrics = report["metrics"]
    gain = metrics["gain"]["equal_alerts"]
    value, low, high = (f"{100 * gain[name]:+.2f}" for name in ("value", "low", "high"))
    page = " ".join((DOCS / "explanation" / "does-it-pay.md").read_text().split())
    assert f"a recall of {metrics['recall']:.3f} against {metrics['score_only_recall']:.3f}" in page
    assert f'"{report["verdict"]}" (as here: {value} points, {low} to {high})' in page
    assert report["verdict"] == "helps"


def test_the_first_figure_and_its_numbers_are_current():
    """Both compare the rule on the test set with single thresholds that were chosen there."""
    score, uncertainty, label = figure.read("calibration")
    rule = uqcli.find_boundary(score, label, uncertainty=uncertainty, precision="0.7")
    comparison = figure.compare(rule)
    test = dict(zip(("score", "uncertainty", "label"), figure.read("test"), strict=True))
    measured = rule.evaluate(test["score"], test["label"], uncertainty=test["uncertainty"]).metrics
    assert (comparison.rule, comparison.precision) == (measured["recall"].value, measured["precision"].value)
    with_equal_precision = uqcli.find_boundary(
        test["score"],
        test["label"],
        precision=f"{math.floor(comparison.precision * 1e12) / 1e12:.12f}",
        algorithm="st",
    )
    assert comparison.same_precision == with_equal_precision.fit.recall
    with_equal_alerts = uqcli.find_boundary(
        test["score"], test["label"], max_selected=comparison.alerts, algorithm="st"
    )
    assert comparison.same_alerts == with_equal_alerts.fit.recall
    percents = [
        f"{100 * recall:.0f} %"
        for recall in (comparison.rule, comparison.same_precision, comparison.same_alerts)
    ]
    text = " ".join(README.read_text().split())
    assert f"precision of {100 * comparison.precision:.0f} %" in text
    assert f"{percents[0]} of the positives" in text
    assert f"{percents[1]} at the same precision, and {percents[2]} with as many alerts" in text
    picture = (DOCS / "images" / "boundary.svg").read_text()
    assert figure.sentence(comparison) in picture


@pytest.mark.thorough
def test_the_spread_of_an_ensemble_does_not_help_on_the_same_rows():
    columns = ("--score", "ensemble_score", "--uncertainty", "ensemble_uncertainty")
    report = boundary_report("--compare", *columns)
    assert report["verdict"] == "no evidence"
    assert len(report["thresholds"]) == 1


@pytest.mark.parametrize(
    ("page", "title"),
    [
        ("how-to/uncertainty.md", "Candidates for an uncertainty"),
        ("explanation/beside-others.md", "A bound on precision, by other tools"),
    ],
)
def test_tables_of_the_reproduction_are_copied_whole(page, title):
    section = (DOCS / "results" / "reproduction.md").read_text().partition(f"### {title}\n")[2]
    (table, *_) = re.findall(r"(?:^\|.*\n)+", section.partition("\n#")[0], flags=re.MULTILINE)
    assert table in (DOCS / page).read_text()


def test_the_page_of_uncertainties_rounds_its_table():
    page = (DOCS / "how-to" / "uncertainty.md").read_text()
    names, _, *lines = [
        line.strip("| ").split(" | ") for line in page.splitlines() if re.match(r"\| [^|]* \| [a-z+*-]", line)
    ]
    gains = {
        name: max(float(line[column].strip("*").split()[0]) for line in lines[:-1])
        for column, name in enumerate(names)
        if column
    }
    few = gains.pop("adult, 1 negative in 10")
    text = " ".join(page.split())
    assert f"adds more than {max(gains.values()):.1f} points of recall" in text
    assert f"With one negative in ten, the distance adds {few:.1f} points" in text
    assert float(lines[0][names.index("adult, 1 negative in 10")].split()[0]) == few
    results = (DOCS / "results" / "reproduction.md").read_text()
    alone, undersampled = (
        float(re.search(rf"^\| {name} \| [^|]* \| [^|]* \| [^|]* \| (\S*) \|", results, re.MULTILINE)[1])
        for name in ("adult", "adult, 1 negative in 10")
    )
    assert f"training on all rows adds {alone - undersampled:.0f};" in text
    assert round(float(lines[-1][names.index("adult")].strip("*").split()[0])) == 3
    assert "The census sample gains three points" in text


def test_the_readme_states_what_the_flights_show():
    rules, use = flights_figure.rules(), flights_figure.read("flights_use")
    flagged = [
        use.filter(pl.Series(rule.decide(use[score])))["label"].mean()
        for rule, score in zip(rules, ("score_random", "score"), strict=True)
    ]
    by_rows, by_days = (rule.artifact.expected.precision for rule in rules)
    assert (round(by_rows.low, 2), round(by_rows.high, 2)) == (0.44, 0.46)
    assert (round(by_days.low, 2), round(by_days.high, 2)) == (0.35, 0.55)
    text = " ".join(README.read_text().split())
    assert (
        f"precision is {by_rows.value:.0%}, give or take one point; in use it is {flagged[0]:.0%}.".replace(
            "%", " %"
        )
        in text
    )
    assert f"range is 35 to 55 %; in use it is {100 * flagged[1]:.0f} %." in text
    page = (DOCS / "explanation" / "a-year-of-use.md").read_text()
    months = [f"{rate:.2f}" for rate in flights_figure.by_month(rules[1], "score")]
    assert f"{', '.join(months[:-1])} and {months[-1]} from July to December" in " ".join(page.split())


def test_the_readme_shows_the_first_lines_of_its_commands(tmp_path, monkeypatch, capfd):
    commands, shown = re.findall(r"```(?:sh|text)\n(.*?)```", README.read_text(), flags=re.DOTALL)[:2]
    (tmp_path / "sample_data").symlink_to(ROOT / "sample_data")
    monkeypatch.chdir(tmp_path)
    printed = []
    for line in commands.splitlines()[1:]:
        assert run(shlex.split(line)[1:]) == 0
        printed.append("\n".join(capfd.readouterr().out.splitlines()[:2]))
    assert "\n\n".join(printed) + "\n" == shown
