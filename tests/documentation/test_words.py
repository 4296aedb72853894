"""README and docs say what is so: targets of the Makefile, figures of the sample data."""

import json
import re
import subprocess

from tests.documentation.pages import PAGES
from tests.documentation.reference import DOCS, README, ROOT
from uqcli.cli.app import run


def targets():
    """What ``make help`` lists."""
    told = subprocess.run(["make", "help"], cwd=ROOT, capture_output=True, text=True, check=True).stdout
    return re.findall(r"^  ([a-z-]+) ", told, flags=re.MULTILINE)


def test_make_help_lists_every_target():
    phony = re.search(r"^\.PHONY: (.*)$", (ROOT / "Makefile").read_text(), flags=re.MULTILINE)[1].split()
    assert sorted(targets()) == sorted(phony)


def test_readme_names_the_targets():
    (said,) = re.findall(
        r"^Targets of the Makefile.*?\n\n", README.read_text(), flags=re.MULTILINE | re.DOTALL
    )
    assert set(re.findall(r"`([a-z-]+)`", said)) == set(targets())


def test_pages_name_targets_that_exist():
    for path in [*PAGES, ROOT / ".ci" / "run"]:
        named = re.findall(r"(?:`|^)make((?: [a-z][a-z-]*)+)", path.read_text(), flags=re.MULTILINE)
        found = {word for words in named for word in words.split()}
        assert found <= set(targets()), path


def test_what_is_said_of_the_sample_is_what_its_comparison_says(tmp_path):
    report = tmp_path / "report.json"
    holdout = str(ROOT / "sample_data" / "digits_holdout.csv")
    line = ["boundary", holdout, "--precision", "0.9", "--compare"]
    assert run([*line, "-q", "--report", str(report)]) == 0
    found = json.loads(report.read_text())
    metrics = found["metrics"]
    gained = metrics["gain"]["equal_alerts"]
    value, low, high = (f"{100 * gained[name]:+.2f}" for name in ("value", "low", "high"))
    for page in (README, DOCS / "explanation" / "does-it-pay.md"):
        said = " ".join(page.read_text().split())
        assert f"a recall of {metrics['recall']:.3f} against {metrics['score_only_recall']:.3f}" in said
        assert f'"{found["verdict"]}" (as here: {value} points, {low} to {high})' in said
