"""Tests of ``uqcli show`` with two rule files: differences, and rows whose decision changes."""

import json

import numpy as np
import polars as pl
import pytest

from tests.cli.conftest import sample_frame


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    """Write rows to a folder."""
    folder = tmp_path_factory.mktemp("show")
    sample_frame(rows=2000).write_csv(folder / "rows.csv")
    return folder


def fit_rule(uqcli, folder, name, *options):
    path = folder / f"{name}.json"
    assert uqcli("boundary", folder / "rows.csv", *options, "-q", "-o", path).code == 0
    return path


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
def test_counted_rows_are_those_that_apply_decides_differently(uqcli, folder, first, second):
    first_rule = fit_rule(uqcli, folder, "one", "--precision", "0.7", *first)
    second_rule = fit_rule(uqcli, folder, "two", "--precision", "0.8", *second)
    metrics = uqcli("show", first_rule, second_rule, "--on", folder / "rows.csv", "--json").json["metrics"]
    before, after = (decisions(uqcli, rule, folder / "rows.csv") for rule in (first_rule, second_rule))
    assert metrics["rows"] == len(before)
    assert metrics["only_first"] == np.count_nonzero(before & ~after)
    assert metrics["only_second"] == np.count_nonzero(after & ~before)
    assert metrics["both"] == np.count_nonzero(before & after)
    assert metrics["neither"] == np.count_nonzero(~before & ~after)
    assert metrics["changed"] == np.count_nonzero(before != after) > 0


def test_labels_are_not_needed(uqcli, folder):
    first_rule = fit_rule(uqcli, folder, "one", "--precision", "0.7")
    second_rule = fit_rule(uqcli, folder, "two", "--precision", "0.8")
    frame = pl.read_csv(folder / "rows.csv")
    frame.drop("label").write_csv(folder / "unlabelled.csv")
    with_labels, without = (
        uqcli("show", first_rule, second_rule, "--on", folder / name, "--json").out
        for name in ("rows.csv", "unlabelled.csv")
    )
    assert with_labels == without


def test_thresholds_of_both_rules_are_shown_by_range(uqcli, folder):
    first_rule = fit_rule(
        uqcli, folder, "one", "--precision", "0.7", "--uncertainty-bins", "2", "--algorithm", "vw-dpmt"
    )
    second_rule = fit_rule(
        uqcli, folder, "two", "--precision", "0.7", "--uncertainty-bins", "3", "--algorithm", "vw-dpmt"
    )
    edges = {
        edge
        for rule in (first_rule, second_rule)
        for edge in json.loads(rule.read_text())["uncertainty_edges"]
    }
    shown = uqcli("show", first_rule, second_rule).out.decode()
    assert shown.count("score >= ") + shown.count("never") >= len(edges) + 1
    assert shown.count(" to below ") == len(edges) - 1


def test_groups_of_different_columns_are_shown_apart(uqcli, folder):
    random = np.random.default_rng(2)
    groups = {"city": random.choice(["Bern", "Rome"], 2000), "kind": random.choice(["x", "y"], 2000)}
    rows = pl.read_csv(folder / "rows.csv").with_columns(
        **{key: pl.Series(text) for key, text in groups.items()}
    )
    rows.write_csv(folder / "groups.csv")
    for key in groups:
        options = ("--precision", "0.6", "--by", key, "--bound", "each", "-q", "-o", folder / f"{key}.json")
        assert uqcli("boundary", folder / "groups.csv", *options).code == 0
    shown = uqcli("show", folder / "city.json", folder / "kind.json", "--verbose").out.decode()
    assert "as all rows" not in shown
    lines = [line.split()[:2] for line in shown.splitlines() if line]
    assert ["city", "city.json"] in lines
    assert ["kind", "kind.json"] in lines


def test_equal_rules_have_no_difference(uqcli, folder):
    first_rule = fit_rule(uqcli, folder, "one", "--precision", "0.7")
    second_rule = fit_rule(uqcli, folder, "two", "--precision", "0.7")
    report = uqcli("show", first_rule, second_rule, "--on", folder / "rows.csv", "--json").json
    assert (report["metrics"]["differences"], report["metrics"]["changed"], report["differences"]) == (
        0,
        0,
        [],
    )
    assert (
        uqcli("show", first_rule, second_rule).out.decode().splitlines()[0]
        == "one.json and two.json are equal."
    )


def test_calibrators_are_compared_by_field(uqcli, folder):
    for method in ("platt", "beta"):
        uqcli("calibrate", folder / "rows.csv", "--method", method, "-q", "-o", folder / f"{method}.json")
    report = uqcli("show", folder / "platt.json", folder / "beta.json", "--json").json
    fields = {difference["field"]: difference for difference in report["differences"]}
    assert (fields["method"]["first"], fields["method"]["second"]) == ("platt", "beta")
    assert "digest" not in fields
    refused = uqcli("show", folder / "platt.json", folder / "beta.json", "--on", folder / "rows.csv")
    assert refused.code == 2
    assert "two boundaries" in refused.err


def test_rules_of_two_kinds_are_refused(uqcli, folder):
    first_rule = fit_rule(uqcli, folder, "one", "--precision", "0.7")
    uqcli("calibrate", folder / "rows.csv", "--method", "platt", "-q", "-o", folder / "platt.json")
    refused = uqcli("show", first_rule, folder / "platt.json")
    assert refused.code == 2
    assert "two rule files of one kind" in refused.err


def test_the_next_step_is_one_that_the_kind_of_file_takes(uqcli, folder):
    rule = fit_rule(uqcli, folder, "one", "--precision", "0.7")
    uqcli("bin", folder / "rows.csv", "-q", "-o", folder / "grid.json")
    uqcli("watch", rule, folder / "rows.csv", "-q", "--state", folder / "state.json")
    for file, step in {
        rule: "Test it with uqcli evaluate",
        folder / "grid.json": "uqcli boundary --grid",
        folder / "state.json": "uqcli watch --state",
    }.items():
        assert step in uqcli("show", file).out.decode().splitlines()[-1]
    shown = uqcli("show", folder / "state.json").out.decode().splitlines()[0]
    assert shown == "State of a watch: 1 batch"
    uqcli("watch", rule, "-q", "--state", folder / "state.json", "--acknowledge")
    shown = uqcli("show", folder / "state.json").out.decode().splitlines()[0]
    assert shown == "State of a watch: 1 batch, 0 since an acknowledgement"


def test_rows_need_two_rules(uqcli, folder):
    first_rule = fit_rule(uqcli, folder, "one", "--precision", "0.7")
    assert "expected two rule files" in uqcli("show", first_rule, "--on", folder / "rows.csv").err


def test_edited_rule_files_are_reported(uqcli, folder):
    first_rule = fit_rule(uqcli, folder, "one", "--precision", "0.7")
    second_rule = fit_rule(uqcli, folder, "two", "--precision", "0.8")
    content = json.loads(second_rule.read_text())
    content["thresholds"][0] = 0.5
    second_rule.write_text(json.dumps(content))
    assert (
        "Caution: two.json: the rule file was edited" in uqcli("show", first_rule, second_rule).out.decode()
    )


@pytest.mark.thorough
def test_a_check_of_changed_rows_fails_with_exit_code_6(uqcli, folder):
    first_rule = fit_rule(uqcli, folder, "one", "--precision", "0.7")
    second_rule = fit_rule(uqcli, folder, "two", "--precision", "0.8")
    assert (
        uqcli(
            "show", first_rule, second_rule, "--on", folder / "rows.csv", "-q", "--fail-if", "changed > 0"
        ).code
        == 6
    )


def test_rules_of_predicted_classes_are_compared_on_rows(uqcli, folder):
    random = np.random.default_rng(4)
    p = random.dirichlet([1, 1, 1], 900)
    label = [random.choice(["a", "b", "c"], p=row) for row in p]
    rows = pl.DataFrame({**{f"p_{name}": p[:, i] for i, name in enumerate("abc")}, "label": label})
    rows.write_csv(folder / "classes.csv")
    rules = []
    for bound in ("0.6", "0.7"):
        rule = folder / f"classes{bound}.json"
        line = ("boundary", folder / "classes.csv", "--proba", "p_*", "--min-group", "50")
        assert uqcli(*line, "--precision", bound, "-q", "-o", rule).code == 0
        rules.append(rule)
    metrics = uqcli("show", *rules, "--on", folder / "classes.csv", "--json").json["metrics"]
    before, after = (decisions(uqcli, rule, folder / "classes.csv") for rule in rules)
    assert metrics["both"] == np.count_nonzero(before & after)
    assert metrics["changed"] == np.count_nonzero(before != after) > 0


def test_rules_of_other_classes_or_columns_are_not_decided_together(uqcli, folder):
    random = np.random.default_rng(5)
    p = random.dirichlet([1, 1], 400).round(4)
    p[:, 1] = 1 - p[:, 0]
    label = np.where(random.random(400) < p[:, 0], "a", "b")
    columns = {"p_a": p[:, 0], "p_b": p[:, 1], "q_a": p[:, 0], "q_b": p[:, 1], "label": label}
    pl.DataFrame(columns).write_csv(folder / "two.csv")
    for name, proba in (("p", "p_*"), ("q", "q_*"), ("turned", "p_b,p_a")):
        line = ("boundary", folder / "two.csv", "--proba", proba, "--precision", "0.6", "--min-group", "20")
        more = ("--classes", "b,a") if name == "turned" else ()
        assert uqcli(*line, *more, "-q", "-o", folder / f"two_{name}.json").code == 0
    rules = [folder / f"two_{name}.json" for name in ("p", "q", "turned")]
    plain = fit_rule(uqcli, folder, "plain", "--precision", "0.7")
    for other in (*rules[1:], plain):
        for line in (("show", rules[0], other, "--on"), ("evaluate", rules[0], other)):
            refused = uqcli(*line, folder / "two.csv")
            assert (refused.code, "one" in refused.err) == (2, True), refused.err


def test_thresholds_over_different_columns_are_not_joined(uqcli, folder):
    frame = pl.read_csv(folder / "rows.csv").with_columns(
        other=1 - pl.col("uncertainty"), other_score=pl.col("score")
    )
    frame.write_csv(folder / "two_columns.csv")
    rules = []
    for name, options in {"u": (), "v": ("--uncertainty=-other",), "s": ("--score", "other_score")}.items():
        rules.append(folder / f"columns_{name}.json")
        line = ("boundary", folder / "two_columns.csv", "--precision", "0.7", "--uncertainty-bins", "2")
        assert uqcli(*line, *options, "-q", "-o", rules[-1]).code == 0
    shown = uqcli("show", rules[0], rules[1])
    assert "from 'uncertainty' and columns_v.json from '-other'" in shown.out.decode()
    assert shown.out.decode().count("below ") == 2, "each rule has a table of its own"
    assert "reads the score from 'score' and columns_s.json" in uqcli("show", rules[0], rules[2]).out.decode()
    assert "reads the" not in uqcli("show", rules[0], rules[0]).out.decode()
