"""Tests of ``uqcli evaluate``: metrics, exact intervals and verdicts."""

import json
from pathlib import Path

import numpy as np
import polars as pl
import pytest
from scipy import stats

from uqcli.base.operating_system import quote


def test_metrics_equal_the_fit_and_intervals_are_exact(uqcli, artifact, data, frame):
    report = uqcli("evaluate", artifact, data, "--json", "--confidence", "0.9").json
    metrics, fit = report["metrics"], json.loads(artifact.read_text())["fit"]
    for key in ("selected", "true_positives", "rows", "positives"):
        assert metrics[key] == fit[key]
    negatives = metrics["rows"] - metrics["positives"]
    false_positives = metrics["selected"] - metrics["true_positives"]
    for name, successes, trials in (
        ("precision", metrics["true_positives"], metrics["selected"]),
        ("recall", metrics["true_positives"], metrics["positives"]),
        ("fpr", false_positives, negatives),
    ):
        expected = stats.binomtest(successes, trials).proportion_ci(0.9, method="exact")
        assert metrics[name]["value"] == successes / trials
        assert metrics[name]["low"] == pytest.approx(expected.low, abs=1e-9)
        assert metrics[name]["high"] == pytest.approx(expected.high, abs=1e-9)


def test_undefined_rates_are_null_with_the_interval_from_0_to_1(uqcli, artifact, tmp_path):
    (tmp_path / "d.csv").write_text("score,uncertainty,label\n0.0,1,0\n")
    metrics = uqcli("evaluate", artifact, "d.csv", "--json").json["metrics"]
    undefined = {"value": None, "low": 0.0, "high": 1.0}
    assert metrics["precision"] == undefined
    assert metrics["recall"] == undefined
    assert metrics["fpr"]["value"] == 0
    for check in ("precision < -1", "precision.low > 2", "precision.high < 0", "promise_broken == 1"):
        failed = uqcli("evaluate", artifact, "d.csv", "--fail-if", check)
        name = check.split()[0]
        assert (
            failed.code,
            f"gate: check failed: {check} cannot be tested, since {name} is undefined" in failed.err,
        ) == (6, True)


def test_the_ends_of_a_narrow_interval_differ_in_the_first_line(uqcli, tmp_path):
    lines = "0.9,1,28100\n0.9,0,71900\n0.1,0,100000\n"
    (tmp_path / "d.csv").write_text(f"score,label,weight\n{lines}")
    fit = ("boundary", "d.csv", "--precision", "0.25", "--weight", "weight", "-q", "-o", "rule.json")
    assert uqcli(*fit).code == 0
    first = uqcli("evaluate", "rule.json", "d.csv").out.decode().splitlines()[0]
    assert "Precision is 28.1 % (95 % interval 27.8 to 28.4 %)" in first


@pytest.mark.thorough
def test_many_rules_have_the_results_of_each_alone(uqcli, tmp_path):
    random = np.random.default_rng(3)
    score = random.random(400)
    label = (random.random(400) < score).astype(int)
    weight, group = random.integers(1, 4, 400) / 2, random.integers(0, 12, 400)
    columns = {"score": score, "label": label, "weight": weight, "group": group}
    pl.DataFrame(columns).write_parquet(tmp_path / "rows.parquet")
    names = [f"{number}.json" for number in range(42)]  # more decisions than 64-bit numbers
    for number, name in enumerate(names):
        recall = ("--recall", str(0.1 + 0.02 * number))
        assert uqcli("boundary", "rows.parquet", *recall, "--algorithm", "st", "-q", "-o", name).code == 0
    for options in ((), ("--cluster", "group"), ("--sampling-weight", "weight")):
        report = uqcli("evaluate", *names, "rows.parquet", *options, "--json").json
        metrics = {result["artifact"]: result["metrics"] for result in report["results"]}
        for name in names[::20]:
            alone = uqcli("evaluate", name, "rows.parquet", *options, "--json").json
            assert metrics[name] == alone["metrics"]


@pytest.fixture
def labelled_for_some(uqcli, data, tmp_path):
    """Write rows with labels for flagged rows, and for a number of unflagged rows."""

    def write(unflagged_labels):
        assert uqcli("apply", "b.json", data, "-q", "-o", "decided.parquet").code == 0
        frame = pl.read_parquet(tmp_path / "decided.parquet")
        has_label = pl.col("decision") | ((~pl.col("decision")).cum_sum() <= unflagged_labels)
        label = pl.when(has_label).then(pl.col("label"))
        frame.with_columns(label=label).drop("decision").write_parquet(tmp_path / "some.parquet")
        return "some.parquet", "--on-invalid", "drop"

    return write


@pytest.mark.thorough
@pytest.mark.parametrize("bound", [("--precision", "0.7"), ("--recall", "0.5"), ("--max-fpr", "0.2")])
@pytest.mark.parametrize("unflagged_labels", [0, 99, 100])
def test_recall_is_unknown_if_unflagged_rows_have_no_labels(
    uqcli, data, labelled_for_some, bound, unflagged_labels
):
    assert uqcli("boundary", data, *bound, "--algorithm", "st", "-q", "-o", "b.json").code == 0
    rows = labelled_for_some(unflagged_labels)
    report = uqcli("evaluate", "b.json", *rows, "--json").json
    metrics, unknown = report["metrics"], {"value": None, "low": None, "high": None}
    assert metrics["unlabelled"] == report["source"]["dropped"] > 50
    assert metrics["precision"]["value"] is not None
    for name in ("recall", "fpr"):
        assert (metrics[name] == unknown) == (unflagged_labels < 100)
    reason = f"only {unflagged_labels} of the unflagged rows have one (100 needed)"
    assert (reason in report["notes"][0]) == (unflagged_labels < 100)
    is_tested = bound[0] == "--precision" or unflagged_labels == 100
    assert (metrics["promise_broken"] is not None) == is_tested
    failed = uqcli("evaluate", "b.json", *rows, "-q", "--fail-if", "recall.low < 0")
    assert failed.code == (6 if unflagged_labels < 100 else 0)
    difference = uqcli("evaluate", "b.json", "b.json", *rows, "--json").json["metrics"]["difference"]
    assert (difference["recall"] == unknown, difference["recall_p"] is None) == (unflagged_labels < 100,) * 2
    reports = [word for ending in ("html", "xml", "prom", "md") for word in ("--report", f"r.{ending}")]
    assert uqcli("evaluate", "b.json", *rows, "-q", *reports).code == 0


@pytest.mark.thorough
def test_unknown_rates_can_be_drawn(uqcli, data, labelled_for_some, tmp_path):
    assert uqcli("boundary", data, "--precision", "0.7", "--algorithm", "st", "-q", "-o", "b.json").code == 0
    rows = labelled_for_some(0)
    assert uqcli("evaluate", "b.json", "b.json", *rows, "-q", "--report", "r.html").code == 0
    assert "<figure" in (tmp_path / "r.html").read_text()


def test_an_alert_rate_is_tested_on_new_data(uqcli, frame, data, tmp_path):
    assert uqcli("boundary", data, "--max-selected", "10%", "-q", "-o", "b.json").code == 0
    assert uqcli("evaluate", "b.json", data, "--json").json["metrics"]["promise_broken"] == 0
    frame.with_columns(score=pl.lit(1.0)).write_parquet(tmp_path / "all.parquet")
    assert uqcli("evaluate", "b.json", "all.parquet", "--json").json["metrics"]["promise_broken"] == 1
    assert uqcli("boundary", data, "--max-selected", "40", "-q", "-o", "b.json").code == 0
    assert uqcli("evaluate", "b.json", data, "--json").json["metrics"]["promise_broken"] is None


@pytest.mark.parametrize("kind", ["boundary", "calibrate", "conformal"])
def test_three_rules_are_each_tested_at_their_own_level(uqcli, data, kind):
    options = {"boundary": ("--precision", "0.7"), "calibrate": ("--method", "platt"), "conformal": ()}[kind]
    assert uqcli(kind, data, *options, "-q", "-o", "m.json").code == 0
    for number in (1, 2, 3):
        notes = str(uqcli("evaluate", *["m.json"] * number, data, "--json").json["notes"])
        assert ("you compared 3 rules on one file" in notes) == (number == 3)


def test_error_bounds_of_a_histogram_are_tested(uqcli, data, frame, tmp_path):
    assert uqcli("calibrate", data, "--method", "histogram", "--n-bins", "3", "-q", "-o", "h.json").code == 0
    report = uqcli("evaluate", "h.json", data, "--json").json
    assert (report["metrics"]["promise_broken"], report["metrics"]["rows"]) == (0, 400)
    assert "every bin's rate within its error: consistent." in str(report["notes"])
    frame.with_columns(label=pl.lit(1)).write_parquet(tmp_path / "ones.parquet")
    check = ("-q", "--fail-if", "promise_broken == 1", "--report", "r.xml")
    assert uqcli("evaluate", "h.json", "ones.parquet", *check).code == 6
    assert (tmp_path / "r.xml").read_text().count("<failure") == 2
    assert uqcli("calibrate", data, "--method", "platt", "-q", "-o", "p.json").code == 0
    assert "promise_broken" not in uqcli("evaluate", "p.json", data, "--json").json["metrics"]


def test_several_rules_are_evaluated_together(uqcli, artifact, data, tmp_path):
    assert uqcli("boundary", data, "--precision", "0.7", "--algorithm", "st", "-q", "-o", "st.json").code == 0
    report = uqcli("evaluate", artifact, "st.json", data, "--json").json
    assert [result["artifact"] for result in report["results"]] == [str(artifact), "st.json"]
    single = uqcli("evaluate", "st.json", data, "--json").json
    assert report["results"][1]["metrics"] == single["metrics"]
    failed = uqcli("evaluate", artifact, "st.json", data, "-q", "--fail-if", "recall < 2")
    assert failed.code == 6
    assert len(failed.err.splitlines()) == 2
    assert "in st.json" in failed.err


def test_rules_of_different_columns_need_an_option(uqcli, artifact, data, frame, tmp_path):
    frame.rename({"score": "p"}).write_parquet(tmp_path / "p.parquet")
    options = ["--score", "p", "--precision", "0.7", "-q", "-o", "p.json"]
    assert uqcli("boundary", "p.parquet", *options).code == 0
    assert uqcli("evaluate", artifact, "p.json", data).code == 2
    assert uqcli("evaluate", artifact, "p.json", data, "--score", "score", "-q").code == 0


def test_verdicts_follow_from_the_counts(uqcli, artifact, tmp_path):
    def notes(positives, negatives):
        rows = ["0.99,-1,1"] * positives + ["0.99,-1,0"] * negatives
        (tmp_path / "d.csv").write_text("\n".join(["score,uncertainty,label", "0.01,1,0", *rows, ""]))
        return uqcli("evaluate", artifact, "d.csv", "--json").json["notes"][0]

    assert "meets precision >= 70 % (significant)" in notes(95, 5)
    assert "consistent with precision >= 70 %" in notes(7, 3)
    assert "consistent with precision >= 70 %" in notes(6, 4)
    assert "misses precision >= 70 % (significant)" in notes(10, 90)


def test_weights_are_counted_and_unusable_rows_dropped(uqcli, artifact, tmp_path):
    (tmp_path / "d.csv").write_text(
        "score,uncertainty,label,w\n0.99,-1,1,3\n0.99,-1,0,1\n0.01,1,1,0\n0.01,1,0,1\n,1,1,1\n"
    )
    report = uqcli("evaluate", artifact, "d.csv", "--weight", "w", "--on-invalid", "drop", "--json").json
    assert report["metrics"]["precision"]["value"] == 0.75
    assert report["metrics"]["recall"]["value"] == 1
    assert report["source"]["rows"] == 4
    assert report["source"]["dropped"] == 1


def test_a_rule_file_is_required(uqcli, data):
    assert uqcli("evaluate", data).code == 2


@pytest.mark.thorough
def test_rows_count_once_whatever_their_weight_and_dropped_rows_are_counted_apart(uqcli, tmp_path):
    """In every command, ``rows`` counts each used row once, whatever its weight."""
    lines = [f"0.{i % 9 + 1},0.{i % 7},{i % 2},{i % 4}" for i in range(40)] + ["nan,0.5,1,1", "0.5,,1,1"]
    (tmp_path / "d.csv").write_text("score,uncertainty,label,w\n" + "\n".join(lines) + "\n")
    input_options = ("--weight", "w", "--on-invalid", "drop", "--json")
    expected = {"rows": 40, "positives": 20, "dropped": 2}
    boundary = ("boundary", "--uncertainty-bins", "3")
    for command in ((*boundary, "--precision", "0.3"), ("bin",), (*boundary, "--recall", "0.5")):
        source = uqcli(*command, "d.csv", *input_options).json["source"]
        assert {name: source[name] for name in expected} == expected, command
    without_uncertainty = {"rows": 41, "dropped": 1}  # these commands do not drop rows without uncertainty
    for command in (("tce",), ("calibrate",), ("conformal",)):
        source = uqcli(*command, "d.csv", *input_options).json["source"]
        assert {name: source[name] for name in without_uncertainty} == without_uncertainty, command
    assert (
        uqcli(*boundary, "d.csv", "--precision", "0.3", *input_options[:-1], "-q", "-o", "b.json").code == 0
    )
    evaluated = uqcli("evaluate", "b.json", "d.csv", *input_options).json["source"]
    assert {name: evaluated[name] for name in expected} == expected
    applied = uqcli("apply", "b.json", "d.csv", "--on-invalid", "drop", "-o", "out.csv", "--json").json
    assert (applied["source"]["rows"], applied["source"]["dropped"]) == (40, 2)


@pytest.mark.thorough
def test_show_states_the_constraint_and_the_changes_of_scores(uqcli, data, tmp_path):
    for options, shown_constraint in (
        (("--max-selected", "5%"), "at most 5 % flagged"),
        (("--max-fpr", "0.2"), "target false-positive rate <= 20 %"),
        (("--gain", "2", "--cost", "1"), "highest utility (gain=2,cost=1)"),
    ):
        assert uqcli("boundary", data, *options, "-q", "-o", "b.json").code == 0
        assert f"for {shown_constraint}" in uqcli("show", "b.json").out.decode()
    hr_options = ("--precision", "0.7", "--algorithm", "hr", "-q", "-o", "b.json")
    assert uqcli("boundary", data, *hr_options).code == 0
    assert "The raised score is" in uqcli("show", "b.json", "--verbose").out.decode()
    prior = ("--estimator", "known", "--prior", "0.8,0.2", "-q", "-o", "s.json")
    assert uqcli("shift", data, *prior).code == 0
    assert uqcli("calibrate", data, "--shift", "s.json", "-q", "-o", "c.json").code == 0
    assert "odds are then multiplied by" in uqcli("show", "c.json", "--verbose").out.decode()
    assert uqcli("calibrate", data, "--undersampled", "3", "-q", "-o", "c.json").code == 0
    shown = uqcli("show", "c.json").out.decode()
    assert "the odds divided by 3" in shown
    assert "the score itself" not in shown


@pytest.mark.thorough
def test_a_figure_of_several_calibrators_names_each(uqcli, data, tmp_path):
    for method in ("platt", "isotonic"):
        assert uqcli("calibrate", data, "--method", method, "-q", "-o", f"{method}.json").code == 0
    plot = ("--plot", "both.svg", "--report", "both.html", "-q")
    assert uqcli("evaluate", "platt.json", "isotonic.json", data, *plot).code == 0
    page = (tmp_path / "both.html").read_text()
    label = page[page.index("aria-label") :].split('"')[1]
    assert label == "Reliability before and after calibration: platt.json; isotonic.json"


def test_a_check_fails_exactly_if_the_target_is_missed(uqcli, artifact, tmp_path):
    check = ("--fail-if", "promise_broken == 1", "--json")
    for positives, negatives, missed in ((95, 5, 0), (6, 4, 0), (10, 90, 1)):
        rows = ["0.99,-1,1"] * positives + ["0.99,-1,0"] * negatives
        (tmp_path / "d.csv").write_text("\n".join(["score,uncertainty,label", *rows, ""]))
        outcome = uqcli("evaluate", artifact, "d.csv", *check)
        assert outcome.code == (6 if missed else 0)
        assert outcome.json["metrics"]["promise_broken"] == missed


def test_evaluation_on_the_calibration_set_gives_a_caution(uqcli, artifact, data, frame):
    caution = "has the same counts here as on its calibration set"
    assert caution in uqcli("evaluate", artifact, data, "--json").json["notes"][0]
    frame[:-1].write_parquet("new.parquet")
    assert not any(
        caution in note for note in uqcli("evaluate", artifact, "new.parquet", "--json").json["notes"]
    )
    Path("my rule.json").write_bytes(Path(artifact).read_bytes())
    assert f"Caution: {quote('my rule.json')} {caution}" in " ".join(
        uqcli("evaluate", "my rule.json", data).out.decode().split()
    )


def test_of_many_rules_a_few_are_named_with_the_number_of_the_others(uqcli, frame, data, tmp_path):
    targets = ("0.5", "0.55", "0.6", "0.65", "0.7", "0.75")
    shown = uqcli("boundary", data, "--precision", ",".join(targets), "-o", "m.{}.json").out.decode()
    assert shown.splitlines()[0].count("precision >=") == 4
    assert shown.splitlines()[0].endswith("; the table has 2 more targets.")
    frame.with_columns(label=(pl.col("score") > 0.2).cast(int)).write_csv("easy.csv")
    assert uqcli("boundary", "easy.csv", "--precision", "0.95", "-q", "-o", "z.json").code == 0
    names = [*(f"m.{target}.json" for target in targets), "z.json"]
    results = uqcli("evaluate", *names, data, "--json").json["results"]
    assert [result["metrics"]["promise_broken"] for result in results] == [0] * 6 + [1]
    first, second, third, *_ = uqcli("evaluate", *names, data).out.decode().splitlines()
    assert (first.count(" finds "), second.count("; m.0.")) == (4, 3)
    assert first.endswith("; the table has 3 more rules.")
    assert second.startswith("z.json misses ")
    assert second.endswith("; the other 3 are among the notes (--verbose).")
    assert third == "Use one of m.0.5.json, m.0.55.json, m.0.6.json, m.0.65.json and 2 more."
    everything = uqcli("evaluate", *names, data, "--verbose").out.decode()
    assert all(f"\n{name}: " in everything for name in names)
