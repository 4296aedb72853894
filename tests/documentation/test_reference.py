"""Tests that the reference pages are up to date and complete."""

import re

import pytest

from tests.documentation.commands_page import commands_page
from tests.documentation.reference import DOCS, PAGES, STUB, SUMMARIES, path_of
from tests.documentation.reports_page import keys_of, sample_reports
from tests.documentation.stub import stub
from tests.documentation.summaries import summaries
from uqcli.base import errors
from uqcli.cli.config import COMMANDS
from uqcli.jobs.options import GATES


@pytest.mark.parametrize("name", PAGES)
def test_reference_pages_are_up_to_date(name):
    assert PAGES[name]() == path_of(name).read_text(), "run make reference"


def test_types_of_functions_are_those_of_their_options():
    assert stub() == STUB.read_text(), "run make reference"


def test_summaries_are_those_of_the_commands():
    assert summaries() == SUMMARIES.read_text(), "run make reference"


def test_every_command_has_an_entry_with_every_option():
    text = commands_page()
    for command in COMMANDS:
        assert f"## `uqcli {command} " in text
    for option in ("--precision", "--on-invalid", "--fail-if", "--no-config", "--union", "--confidence"):
        assert f"`{option}`" in text


def test_shared_options_are_listed_once():
    rows = re.findall(r"^\| `--.*$", commands_page(), flags=re.MULTILINE)
    repeated = {row for row in rows if rows.count(row) > 3}
    assert not repeated


def test_exit_codes_are_listed():
    text = (DOCS / "reference" / "exit-codes.md").read_text()
    for item in vars(errors).values():
        if isinstance(item, type) and issubclass(item, errors.UqcliError):
            assert re.search(rf"^\|.*\b{item.exit_code}\b", text, flags=re.MULTILINE), item


def test_every_metric_has_a_meaning():
    text = (DOCS / "reference" / "metrics.md").read_text()
    documented = {metric for name in re.findall(r"`\.?([\w*.]+)`", text) for metric in name.split(".")}
    interval_keys = {"value", "low", "high", "*", "source", "target"}
    for report in sample_reports().values():
        for key in keys_of(report):
            if key.startswith("metrics."):
                *_, metric = [part for part in key.split(".") if part not in interval_keys]
                pattern = re.sub(r"^[a-z]+(_p|_excess)$", r"*\1", metric)
                assert metric in documented or pattern in documented, key


def test_the_check_in_the_help_names_a_metric_of_the_command():
    reports = sample_reports()
    for command, gate in GATES.items():
        metric, _, _ = gate.partition(" ")
        of_command = [report for title, report in reports.items() if title.split()[0].strip(",") == command]
        found = any(f"metrics.{metric}" in keys_of(report) for report in of_command)
        assert found or command in NOT_SAMPLED, (command, metric)


NOT_SAMPLED = {"watch", "export", "uncertainty"}
"""Commands whose reports the page does not describe; their tests use the metrics ``trials`` and so on."""
