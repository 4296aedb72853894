"""``uqcli show`` with two rule files: what differs, and which rows change sides."""

import json

import numpy as np
import polars as pl
import pytest

from tests.cli.conftest import sample_frame


@pytest.fixture(scope="module")
def rules(tmp_path_factory):
    """A folder with rows."""
    folder = tmp_path_factory.mktemp("show")
    sample_frame(rows=2000).write_csv(folder / "rows.csv")
    return folder


def saved(uqcli, folder, name, *options):
    place = folder / f"{name}.json"
    assert uqcli("boundary", folder / "rows.csv", *options, "-q", "-o", place).code == 0
    return place


def decisions(uqcli, rule, rows):
    return pl.read_csv(uqcli("apply", rule, rows, "-o", "-", "-q").out)["decision"].to_numpy()


@pytest.mark.parametrize(
    ("first", "second"),
    [
        (("--algorithm", "st"), ("--algorithm", "vw-dpmt", "--uncertainty-bins", "4")),
        (("--uncertainty-bins", "3"), ("--uncertainty-bins", "5")),
        (("--algorithm", "hr"), ("--algorithm", "st")),
    ],
)
def test_counted_rows_are_those_that_apply_decides_differently(uqcli, rules, first, second):
    one = saved(uqcli, rules, "one", "--precision", "0.7", *first)
    two = saved(uqcli, rules, "two", "--precision", "0.8", *second)
    metrics = uqcli("show", one, two, "--on", rules / "rows.csv", "--json").json["metrics"]
    before, after = (decisions(uqcli, rule, rules / "rows.csv") for rule in (one, two))
    assert metrics["rows"] == len(before)
    assert metrics["only_first"] == np.count_nonzero(before & ~after)
    assert metrics["only_second"] == np.count_nonzero(after & ~before)
    assert metrics["both"] == np.count_nonzero(before & after)
    assert metrics["neither"] == np.count_nonzero(~before & ~after)
    assert metrics["changed"] == np.count_nonzero(before != after) > 0


def test_labels_are_not_needed(uqcli, rules):
    one = saved(uqcli, rules, "one", "--precision", "0.7")
    two = saved(uqcli, rules, "two", "--precision", "0.8")
    frame = pl.read_csv(rules / "rows.csv")
    frame.drop("label").write_csv(rules / "unlabelled.csv")
    with_labels, without = (
        uqcli("show", one, two, "--on", rules / name, "--json").out for name in ("rows.csv", "unlabelled.csv")
    )
    assert with_labels == without


def test_thresholds_stand_side_by_side_over_the_ranges_of_both(uqcli, rules):
    one = saved(
        uqcli, rules, "one", "--precision", "0.7", "--uncertainty-bins", "2", "--algorithm", "vw-dpmt"
    )
    two = saved(
        uqcli, rules, "two", "--precision", "0.7", "--uncertainty-bins", "3", "--algorithm", "vw-dpmt"
    )
    edges = {edge for rule in (one, two) for edge in json.loads(rule.read_text())["uncertainty_edges"]}
    shown = uqcli("show", one, two).out.decode()
    assert shown.count("score >= ") + shown.count("never") >= len(edges) + 1
    assert shown.count(" to below ") == len(edges) - 1


def test_equal_rules_have_no_difference(uqcli, rules):
    one = saved(uqcli, rules, "one", "--precision", "0.7")
    two = saved(uqcli, rules, "two", "--precision", "0.7")
    report = uqcli("show", one, two, "--on", rules / "rows.csv", "--json").json
    assert (report["metrics"]["differences"], report["metrics"]["changed"], report["differences"]) == (
        0,
        0,
        [],
    )
    assert uqcli("show", one, two).out.decode().splitlines()[0] == "one.json and two.json are equal"


def test_calibrators_are_compared_by_field(uqcli, rules):
    for method in ("platt", "beta"):
        uqcli("calibrate", rules / "rows.csv", "--method", method, "-q", "-o", rules / f"{method}.json")
    report = uqcli("show", rules / "platt.json", rules / "beta.json", "--json").json
    fields = {difference["field"]: difference for difference in report["differences"]}
    assert (fields["method"]["first"], fields["method"]["second"]) == ("platt", "beta")
    assert "digest" not in fields
    refused = uqcli("show", rules / "platt.json", rules / "beta.json", "--on", rules / "rows.csv")
    assert refused.code == 2
    assert "two boundaries" in refused.err


def test_rules_of_two_kinds_are_refused(uqcli, rules):
    one = saved(uqcli, rules, "one", "--precision", "0.7")
    uqcli("calibrate", rules / "rows.csv", "--method", "platt", "-q", "-o", rules / "platt.json")
    refused = uqcli("show", one, rules / "platt.json")
    assert refused.code == 2
    assert "two rule files of one kind" in refused.err


def test_rows_need_two_rules(uqcli, rules):
    one = saved(uqcli, rules, "one", "--precision", "0.7")
    assert "expected two rule files" in uqcli("show", one, "--on", rules / "rows.csv").err


def test_an_edited_rule_is_named(uqcli, rules):
    one = saved(uqcli, rules, "one", "--precision", "0.7")
    two = saved(uqcli, rules, "two", "--precision", "0.8")
    content = json.loads(two.read_text())
    content["thresholds"][0] = 0.5
    two.write_text(json.dumps(content))
    assert "Caution: two.json: the rule file was edited" in uqcli("show", one, two).out.decode()


def test_a_gate_on_changed_rows_stops_a_pipeline(uqcli, rules):
    one = saved(uqcli, rules, "one", "--precision", "0.7")
    two = saved(uqcli, rules, "two", "--precision", "0.8")
    assert uqcli("show", one, two, "--on", rules / "rows.csv", "-q", "--fail-if", "changed > 0").code == 6
