"""Tests of ``uqcli boundary``: equal rows give equal bytes, and the command equals the Python API."""

import json
import re

import numpy as np
import polars as pl
import pytest

from tests.cli.conftest import sample_frame
from tests.oracles.single_precision import lowest
from uqcli import find_boundary
from uqcli.base.choices import Algorithm, GridBinning
from uqcli.base.errors import InfeasibleError
from uqcli.base.wording import percent


def fit(uqcli, path, *options):
    outcome = uqcli("boundary", path, "--precision", "0.7", "--score-bins", "20", "-q", "-o", "-", *options)
    assert outcome.code == 0, outcome.err
    return outcome.out


def is_supported(algorithm, score_bins):
    return not (algorithm is Algorithm.EW_DPMT and score_bins == "all")


@pytest.mark.covering("thorough", every=5)
@pytest.mark.parametrize("binning", GridBinning)
@pytest.mark.parametrize(
    ("algorithm", "score_bins"),
    [(algorithm, bins) for algorithm in Algorithm for bins in (20, "all") if is_supported(algorithm, bins)],
)
def test_the_command_equals_the_api(uqcli, data, frame, algorithm, binning, score_bins):
    options = ["--algorithm", algorithm, "--binning", binning, "--score-bins", score_bins]
    artifact = json.loads(fit(uqcli, data, *options))
    boundary = find_boundary(
        frame["score"],
        frame["label"],
        uncertainty=None if algorithm is Algorithm.ST else frame["uncertainty"],
        precision=0.7,
        algorithm=algorithm,
        binning=binning,
        score_bins=score_bins,
    )
    assert artifact["thresholds"] == list(boundary.thresholds)
    assert artifact["uncertainty_edges"] == boundary.uncertainty_edges.tolist()
    assert artifact["fit"]["true_positives"] == boundary.fit.true_positives
    assert artifact["fit"]["selected"] == boundary.fit.selected
    assert artifact["fit"]["recall"] == boundary.fit.recall


@pytest.mark.thorough
def test_format_order_split_and_threads_change_no_byte(uqcli, data, data_csv, frame, tmp_path):
    expected = fit(uqcli, data)
    frame.sample(fraction=1, shuffle=True, seed=1).write_parquet(tmp_path / "shuffled.parquet")
    frame.write_ipc(tmp_path / "d.arrow", compression="zstd")
    frame[:150].write_csv(tmp_path / "part1.csv")
    frame[150:].write_parquet(tmp_path / "part2.parquet")
    assert fit(uqcli, data_csv) == expected
    assert fit(uqcli, tmp_path / "shuffled.parquet") == expected
    assert fit(uqcli, tmp_path / "d.arrow") == expected
    assert fit(uqcli, tmp_path / "part2.parquet", tmp_path / "part1.csv") == expected
    assert fit(uqcli, data, "--threads", "1") == expected


def test_weights_count_as_repeated_rows(uqcli, frame, tmp_path):
    weight = pl.Series("w", [number % 3 for number in range(len(frame))])
    frame.with_columns(weight).write_parquet(tmp_path / "weighted.parquet")
    repeated = pl.concat([frame.filter(weight >= 1), frame.filter(weight == 2)])
    repeated.write_parquet(tmp_path / "repeated.parquet")
    weighted_fit = json.loads(fit(uqcli, tmp_path / "weighted.parquet", "--weight", "w"))
    repeated_fit = json.loads(fit(uqcli, tmp_path / "repeated.parquet"))
    assert (weighted_fit["thresholds"], weighted_fit["fit"]) == (
        repeated_fit["thresholds"],
        repeated_fit["fit"],
    )
    assert weighted_fit["source"]["rows"] == 400


SPELLINGS = {
    "integers": ["1", "0"],
    "floats": ["1.0", "0.0"],
    "words": ["true", "false"],
    "other case": ["TRUE", "False"],
    "spaced": [" 1 ", "0 "],
}


@pytest.mark.thorough
@pytest.mark.parametrize("spelling", SPELLINGS)
def test_labels_are_read_in_every_spelling(uqcli, frame, data, tmp_path, spelling):
    positive, negative = SPELLINGS[spelling]
    text = frame["label"].cast(pl.String).replace({"1": positive, "0": negative})
    frame.with_columns(text.alias("label")).write_csv(tmp_path / "d.csv")
    assert fit(uqcli, tmp_path / "d.csv") == fit(uqcli, data)


@pytest.mark.covering("thorough", every=2)
@pytest.mark.parametrize("dtype", [pl.Boolean, pl.Int64, pl.Float32, pl.UInt8])
def test_labels_are_read_in_every_type(uqcli, frame, data, tmp_path, dtype):
    frame.with_columns(pl.col("label").cast(dtype)).write_parquet(tmp_path / "d.parquet")
    assert fit(uqcli, tmp_path / "d.parquet") == fit(uqcli, data)


def test_the_positive_label_can_be_named(uqcli, frame, tmp_path):
    text = frame["label"].cast(pl.String).replace({"1": "fraud", "0": "fine"})
    frame.with_columns(text.alias("label")).write_csv(tmp_path / "d.csv")
    artifact = json.loads(fit(uqcli, tmp_path / "d.csv", "--positive", "fraud"))
    assert artifact["parameters"]["positive"] == "fraud"
    assert artifact["source"]["positives"] == frame["label"].sum()
    absent = uqcli("boundary", tmp_path / "d.csv", "--precision", "0.7", "--positive", "Fraud")
    assert absent.code == 3
    assert "'Fraud' never appears" in absent.err


@pytest.mark.covering("thorough", every=4)
@pytest.mark.parametrize(
    ("positive", "spellings"),
    [("2", ("2", "2.0")), ("2.0", ("2", "2.0")), ("True", ("True", "true")), ("true", ("True", "TRUE"))],
)
def test_the_positive_label_is_the_same_in_every_format(uqcli, frame, tmp_path, positive, spellings):
    typed = pl.col("label") == 1 if positive.lower() == "true" else pl.col("label") + 1
    files = {"typed.parquet": frame.with_columns(typed)}
    if positive.lower() != "true":
        files["floating.parquet"] = frame.with_columns(typed.cast(pl.Float32))
    for spelling in spellings:
        other = pl.when(pl.col("score") < 0.5).then(pl.lit("low")).otherwise(pl.lit("other"))
        text = pl.when(pl.col("label") == 1).then(pl.lit(spelling)).otherwise(other)
        files[f"{spelling}.csv"] = frame.with_columns(text.alias("label"))
    rules = set()
    for name, rows in files.items():
        (rows.write_csv if name.endswith("csv") else rows.write_parquet)(tmp_path / name)
        rules.add(fit(uqcli, tmp_path / name, "--positive", positive))
        if name.endswith("csv"):
            answer = uqcli("overview", tmp_path / name, "--positive", positive, "--verbose").out.decode()
            assert "negative: 'low', 'other'" in " ".join(answer.split())
    assert len(rules) == 1


def test_null_values_are_reported_or_dropped(uqcli, tmp_path):
    (tmp_path / "d.csv").write_text("score,uncertainty,label\n0.9,1,1\nNA,1,1\n0.8,nan,1\n0.1,1,0\n0.2,1\n")
    outcome = uqcli("boundary", "d.csv", "--precision", "0.7", "--null-value", "NA", "--json")
    assert outcome.code == 3
    for message in ("'score' has 1 null", "'uncertainty' has 1 NaN", "'label' has 1 null", "data row 2"):
        assert message in outcome.err
    dropped = uqcli(
        "boundary", "d.csv", "--precision", "0.7", "--null-value", "NA", "--on-invalid", "drop", "--json"
    )
    reasons = [("label", "null"), ("score", "null"), ("uncertainty", "NaN")]
    source = dropped.json["source"]
    assert source.pop("read") == {
        "rows": 5,
        "dropped": 3,
        "reasons": [{"column": column, "value": value, "rows": 1} for column, value in reasons],
    }
    assert source == {
        "rows": 2,
        "positives": 1,
        "dropped": 3,
        "columns": {"score": "score", "uncertainty": "uncertainty", "label": "label"},
    }


EDGE_CASES = {
    "one distinct score": {
        "score": [0.5] * 6,
        "uncertainty": [1.0, 2, 3, 4, 5, 6],
        "label": [1, 1, 1, 1, 0, 0],
    },
    "constant uncertainty": {"score": [0.1, 0.2, 0.3, 0.9], "uncertainty": [1.0] * 4, "label": [0, 0, 1, 1]},
    "fewer rows than bins": {"score": [0.2, 0.9], "uncertainty": [1.0, 2.0], "label": [0, 1]},
    "one row": {"score": [0.2], "uncertainty": [1.0], "label": [1]},
    "all positive": {"score": [0.2, 0.9], "uncertainty": [1.0, 2.0], "label": [1, 1]},
    "huge values": {"score": [-1e300, 1e300], "uncertainty": [-5e-324, 0.0], "label": [0, 1]},
}


@pytest.mark.covering("thorough", strength=2, every=2)
@pytest.mark.parametrize("edge_case", EDGE_CASES)
@pytest.mark.parametrize("binning", GridBinning)
@pytest.mark.parametrize(
    ("algorithm", "score_bins"),
    [
        (algorithm, bins)
        for algorithm in Algorithm
        for bins in (500, "all", 1)
        if is_supported(algorithm, bins)
    ],
)
def test_edge_cases_are_decided_as_fitted(edge_case, algorithm, binning, score_bins):
    """This uses the Python API, which returns the same results as the command."""
    score, uncertainty, label = (
        np.array(EDGE_CASES[edge_case][name]) for name in ("score", "uncertainty", "label")
    )
    boundary = find_boundary(
        score,
        label,
        uncertainty=None if algorithm is Algorithm.ST else uncertainty,
        precision=0.5,
        algorithm=algorithm,
        binning=binning,
        score_bins=score_bins,
    )
    flagged = boundary.decide(score, None if algorithm is Algorithm.ST else uncertainty)
    assert flagged.sum() == boundary.fit.selected
    assert label[flagged].sum() == boundary.fit.true_positives


@pytest.mark.covering("thorough")
@pytest.mark.parametrize("edge_case", EDGE_CASES)
@pytest.mark.parametrize("algorithm", Algorithm)
def test_edge_cases_are_applied_as_fitted(uqcli, tmp_path, edge_case, algorithm):
    pl.DataFrame(EDGE_CASES[edge_case]).write_parquet(tmp_path / "d.parquet")
    line = ("boundary", "d.parquet", "--precision", "0.5", "--algorithm", algorithm, "-q", "-o", "b.json")
    assert uqcli(*line).code == 0
    fit = json.loads((tmp_path / "b.json").read_text())["fit"]
    applied = uqcli("apply", "b.json", "d.parquet", "-o", "o.csv", "--json").json
    evaluated = uqcli("evaluate", "b.json", "d.parquet", "--json").json
    assert applied["metrics"]["selected"] == fit["selected"]
    assert evaluated["metrics"]["true_positives"] == fit["true_positives"]


def test_rows_without_positives_are_infeasible(uqcli, tmp_path):
    (tmp_path / "d.csv").write_text("score,uncertainty,label\n0.9,1,0\n0.8,1,0\n")
    outcome = uqcli("boundary", "d.csv", "--precision", "0.1")
    assert outcome.code == 4
    assert "no row is positive" in outcome.err
    with pytest.raises(InfeasibleError, match="no row is positive"):
        find_boundary([0.9, 0.8], [0, 0], precision="0.1")


def test_an_empty_uncertainty_bin_is_reported(uqcli, tmp_path):
    pl.DataFrame(EDGE_CASES["constant uncertainty"]).write_csv(tmp_path / "d.csv")
    report = uqcli("boundary", "d.csv", "--precision", "0.5", "--uncertainty-bins", "3", "--json").json
    assert report["thresholds"][:2] == [None, None]
    assert any("has no row in uncertainty bin" in note for note in report["notes"])


def test_the_sample_has_both_classes():
    assert 0.2 < sample_frame()["label"].mean() < 0.8


def test_a_threshold_is_the_lowest_score_of_a_positive_row(uqcli, tmp_path):
    """The boundary takes the whole cell, and its lowest positive row has score 0.9."""
    score = [0.05, 0.2, 0.4, 0.9, 0.95, 0.97]
    pl.DataFrame({"score": score, "label": [0, 0, 0, 1, 1, 1]}).write_csv(tmp_path / "d.csv")
    grid = ("--precision", "0.5", "--uncertainty-bins", "1", "--score-bins", "1")
    report = uqcli("boundary", "d.csv", *grid, "-o", "b.json", "--json").json
    assert report["thresholds"] == [lowest(0.9)]
    assert (report["metrics"]["selected"], report["metrics"]["true_positives"]) == (3, 3)
    evaluated = uqcli("evaluate", "b.json", "d.csv", "--json").json["metrics"]
    assert evaluated["selected"] == 3


@pytest.fixture
def coarse_arguments(tmp_path):
    """Write rows that three score bins separate worse than a single threshold; return the arguments."""
    random = np.random.default_rng(1)
    score = np.linspace(0, 1, 400)
    frame = pl.DataFrame(
        {"score": score, "uncertainty": random.random(400), "label": (score > 0.9).astype(int)}
    )
    frame.write_csv(tmp_path / "d.csv")
    return "d.csv", "--score-bins", "3", "--max-selected"


@pytest.mark.parametrize("max_selected", ["40", "60"])
def test_the_better_of_boundary_and_single_threshold_is_saved(
    uqcli, coarse_arguments, max_selected, tmp_path
):
    """The grid has no boundary that flags 40 or 60 rows."""
    line = ("boundary", *coarse_arguments, max_selected)
    report = uqcli(*line, "-o", "b.json", "--json")
    assert report.code == 0
    assert (report.json["algorithm"], report.json["metrics"]["recall"]) == ("st", 1.0)
    st_report = uqcli(*line, "--algorithm", "st", "-o", "st.json", "--json").json
    content, single = (json.loads((tmp_path / name).read_bytes()) for name in ("b.json", "st.json"))
    for key in ("algorithm", "thresholds", "uncertainty_edges", "fit", "parameters"):
        assert content[key] == single[key]
    for name in ("recall", "precision", "selected"):
        assert report.json["metrics"][name] == st_report["metrics"][name]
    assert any("it is the rule" in note for note in report.json["notes"])
    shown = uqcli(*line).out.decode()
    assert "with uncertainty (smooth)" in shown
    assert uqcli(*line, "--algorithm", "smooth", "--json").code == 4


def test_a_boundary_worse_than_the_single_threshold_says_so_in_its_first_note(uqcli, coarse_arguments):
    arguments = ("boundary", *coarse_arguments, "40", "--algorithm", "vw-dpmt")
    report = uqcli(*arguments, "--json")
    assert report.code == 4
    assert "--algorithm st" in report.json["notes"][1]
    worse = ("boundary", *coarse_arguments, "60", "--algorithm", "vw-dpmt")
    notes = uqcli(*worse, "--json").json["notes"]
    (caution,) = [note for note in notes if "a single threshold reaches recall 100 %" in note]
    assert "add --algorithm st to use it" in caution
    assert caution[1:] in " ".join(uqcli(*worse, "--verbose").out.decode().split())
    better = uqcli("boundary", "d.csv", "--precision", "0.9", "--score-bins", "all", "--json").json
    assert not any("--algorithm st" in note for note in better["notes"])


@pytest.mark.parametrize(
    ("goal", "name"),
    [(("--recall", "0.2"), "precision"), (("--gain", "10", "--cost", "8"), "a net value of")],
)
def test_a_worse_boundary_is_compared_by_what_the_goal_maximises(uqcli, tmp_path, goal, name):
    random, score = np.random.default_rng(0), np.linspace(0, 1, 400)
    columns = {"label": (random.random(400) < score**2).astype(int), "uncertainty": random.random(400)}
    pl.DataFrame({"score": score, **columns}).write_csv(tmp_path / "d.csv")
    line = ("boundary", "d.csv", *goal, "--score-bins", "3", "--algorithm", "vw-dpmt")
    notes = " ".join(uqcli(*line, "--json").json["notes"])
    pattern = rf"a single threshold reaches {name} ([\d.]+)(?: %)?, and the boundary only ([\d.]+)(?: %)?: "
    found = re.search(pattern, notes)
    assert found is not None
    assert float(found[1]) > float(found[2])


def test_one_flagged_row_is_counted_in_the_singular(uqcli, tmp_path):
    frame = pl.DataFrame({"score": [0.1, 0.2, 0.9], "label": [0, 0, 1]})
    frame.write_csv(tmp_path / "d.csv")
    notes = uqcli("boundary", "d.csv", "--precision", "0.6", "--json").json["notes"]
    assert any("only 1 calibration row is flagged" in note for note in notes)


@pytest.mark.thorough
def test_several_bounds_give_a_table_and_one_file_each(uqcli, data, tmp_path):
    outcome = uqcli("boundary", data, "--precision", "0.6,0.7", "-o", tmp_path / "b-{}.json", "--json")
    assert outcome.code == 0, outcome.err
    report = outcome.json
    for bound, result in zip(("0.6", "0.7"), report["results"], strict=True):
        single = uqcli("boundary", data, "--precision", bound, "-o", tmp_path / "alone.json", "--json")
        alone = single.json
        assert alone["source"] == {**alone["source"], **result.pop("source")}
        assert result == {key: alone[key] for key in result}
        assert (tmp_path / f"b-{bound}.json").read_bytes() == (tmp_path / "alone.json").read_bytes()
    shown = uqcli("boundary", data, "--precision", "0.6,0.7").out.decode()
    assert "precision >= 60 %" in shown and "precision >= 70 %" in shown  # noqa: PT018
    assert "Next: add -o boundary-{}.json to save them." in shown
    failed = uqcli("boundary", data, "--precision", "0.6,0.7", "--fail-if", "recall < 2", "-q")
    assert failed.code == 6
    assert len(failed.err.splitlines()) == 2


def test_several_bounds_are_all_saved_or_none(uqcli, data, tmp_path):
    mixed = tmp_path / "mixed.csv"
    mixed.write_text("score,label\n0.9,0\n0.8,1\n0.1,0\n")
    line = ("--uncertainty-bins", 1, "--precision", "0.5,1")
    outcome = uqcli("boundary", mixed, *line, "-o", tmp_path / "b-{}.json", "-q")
    assert outcome.code == 4
    assert not list(tmp_path.glob("b-*"))
    for arguments in (
        ("--precision", "0.6,0.7", "-o", tmp_path / "b.json"),
        ("--precision", "0.6,0.6"),
        ("--precision", "0.6,"),
        ("--precision", "0.6,0.7", "--recall", "0.5"),
    ):
        assert uqcli("boundary", data, *arguments).code == 2


def test_certificates_for_several_bounds_warn_of_selecting_the_best(uqcli, data):
    report = uqcli(
        "boundary", data, "--precision", "0.4,0.5", "--certify", "0.4", "--score-bins", "20", "--json"
    )
    assert report.code in (0, 4)
    assert "that of the best one picked afterwards is higher" in report.json["notes"][0]


@pytest.fixture
def compared_rows(tmp_path, monkeypatch):
    """Write rows with one informative and one uninformative uncertainty."""
    random = np.random.default_rng(2)
    score, informative, noise = random.random((3, 2000))
    label = random.random(2000) < np.clip(score * (1.3 - informative), 0, 1)
    label[np.argmax(score)] = False  # no single threshold has a precision of 1
    monkeypatch.setattr("uqcli.boundary.candidates.PERMUTATIONS", 20)  # the fewest for a level of 5 %
    monkeypatch.setattr("uqcli.boundary.permutation.RESAMPLES", 50)
    path = tmp_path / "compared.parquet"
    pl.DataFrame({"score": score, "useful": informative, "noise": noise, "label": label}).write_parquet(path)
    return path


@pytest.mark.thorough
def test_compare_ranks_columns_and_uses_the_best(compared_rows, tmp_path, uqcli):
    options = ("--precision", "0.6", "--compare", "--uncertainty", "noise,useful", "-o", tmp_path / "b.json")
    outcome = uqcli("boundary", compared_rows, *options, "--json", "--fail-if", "gain.equal_alerts.low < 0")
    assert outcome.code == 0
    report = json.loads(outcome.out)
    assert report["verdict"] == "helps"
    assert [column["uncertainty"] for column in report["compared"]] == ["useful", "noise"]
    assert [column["verdict"] for column in report["compared"]] == ["helps", "no evidence"]
    assert report["compared"][0]["metrics"] == {"gain": report["metrics"]["gain"]}
    assert report["metrics"]["gain"]["p"] == 0.05
    assert report["source"]["columns"]["uncertainty"] == "useful"
    assert json.loads((tmp_path / "b.json").read_bytes())["source"]["columns"]["uncertainty"] == "useful"


@pytest.mark.thorough
def test_compare_gives_its_advice_first(compared_rows, uqcli):
    line = ("boundary", compared_rows, "--precision", "0.6", "--uncertainty", "noise")
    tested = uqcli(*line, "--compare").out.decode()
    assert "Does the uncertainty 'noise' help? No evidence of it" in tested
    assert "--compare tests whether" not in uqcli(*line, "--compare", "--verbose").out.decode()
    assert "--compare tests whether" in uqcli(*line, "--algorithm", "vw-dpmt", "--verbose").out.decode()
    assert uqcli(*line, "--compare", "--fail-if", "gain.equal_alerts < 0.5").code == 6


@pytest.mark.thorough
def test_the_decision_follows_the_advice_of_compare(compared_rows, tmp_path, uqcli):
    line = ("boundary", compared_rows, "--precision", "0.6", "--compare", "--report", "r.md")
    notes = uqcli(*line, "--uncertainty", "noise", "--json").json["notes"]
    assert any(note.endswith(" The rule is one threshold.") for note in notes)
    decision = next(note for note in notes if note.startswith("Flag when "))
    (threshold,) = re.findall(r"^Flag when (score >= [\d.]+)\.$", decision)
    assert decision in (tmp_path / "r.md").read_text()
    single = uqcli("boundary", compared_rows, "--precision", "0.6", "--uncertainty-bins", "1", "--json").json
    assert float(threshold.split()[-1]) == pytest.approx(single["thresholds"][0], rel=1e-5)
    assert float(threshold.split()[-1]) <= single["thresholds"][0]
    report = uqcli(*line, "--uncertainty", "useful", "--json").json
    gain = report["metrics"]["gain"]["recall"]
    shown_gain = f"{100 * gain['value']:+.2f} [{100 * gain['low']:+.2f}, "
    assert shown_gain in (tmp_path / "r.md").read_text()
    assert any(note.endswith(" The rule uses it.") for note in report["notes"])
    assert "The random seed (0) affects the gains and the number of uncertainty bins." in report["notes"]
    assert "The thresholds meet the target together" in str(report["notes"])


def test_the_saved_rule_is_the_advised_rule(compared_rows, tmp_path, uqcli):
    line = ("boundary", compared_rows, "--precision", "0.6", "--compare", "-q", "-o", "b.json")
    for column, options in (("noise", ()), ("useful", ()), ("noise", ("--uncertainty-bins", "2"))):
        assert uqcli(*line, "--uncertainty", column, *options).code == 0
        content = json.loads((tmp_path / "b.json").read_bytes())
        assert content["algorithm"] == "smooth"
        assert (len(content["thresholds"]) > 1) == (column == "useful" or bool(options))
        assert content["parameters"]["uncertainty_bins"] == len(content["thresholds"])
    assert uqcli(*line, "--uncertainty", "noise", "--algorithm", "vw-dpmt").code == 0
    content = json.loads((tmp_path / "b.json").read_bytes())
    assert (content["algorithm"], len(content["thresholds"])) == ("vw-dpmt", 3)


@pytest.mark.thorough
def test_the_default_chooses_bins_and_reports_expected_metrics(compared_rows, tmp_path, uqcli):
    line = ("boundary", compared_rows, "--precision", "0.6", "-o", "b.json", "--uncertainty")
    for column, bins in (("noise", {1}), ("useful", {2, 4, 8})):
        shown = uqcli(*line, column, "--report", "r.md").out.decode()
        report = uqcli(*line, column, "--json").json
        assert report["algorithm"] == "smooth"
        assert report["parameters"]["binning"] == "shared"
        assert len(report["thresholds"]) == report["parameters"]["uncertainty_bins"]
        assert len(report["thresholds"]) in bins
        assert ("Uncertainty bins bring no clear gain, so the rule is one threshold." in shown) == (
            bins == {1}
        )
        expected = report["metrics"]["expected"]
        content = json.loads((tmp_path / "b.json").read_bytes())
        assert content["expected"] == expected
        assert expected["precision"]["value"] <= report["metrics"]["precision"]
        value, low, high = (round(100 * expected["recall"][end]) for end in ("value", "low", "high"))
        pattern = re.compile(rf"{value} % \[{low}, {high}\]")
        for text in (shown, (tmp_path / "r.md").read_text()):
            assert "On new data expect precision " in text
            assert "90 % range" in text
        assert pattern.search(uqcli("show", "b.json").out.decode())
    assert uqcli(*line, "useful", "-q", "--fail-if", "expected.precision.low < 0.99").code == 6


def test_too_few_alerts_give_a_single_threshold_with_a_note(compared_rows, uqcli):
    line = ("boundary", compared_rows, "--max-selected", "50", "--uncertainty", "useful", "--json")
    report = uqcli(*line).json
    assert any(note.endswith("so the rule is one threshold.") for note in report["notes"])
    assert report["bins_tried"] == []


def test_a_margin_is_met_and_reported(compared_rows, tmp_path, uqcli):
    line = ("boundary", compared_rows, "--precision", "0.6", "--uncertainty", "useful", "-o", "b.json")
    without_margin, with_margin = uqcli(*line, "--json").json, uqcli(*line, "--margin", "1", "--json").json
    metrics = with_margin["metrics"]
    surplus = metrics["true_positives"] - 0.6 * metrics["selected"]
    assert surplus >= (0.24 * metrics["selected"]) ** 0.5
    assert metrics["recall"] < without_margin["metrics"]["recall"]
    recall = percent(metrics["recall"])
    note = f"With --margin 1, about 5 of 6 rules meet the target, and recall here is {recall}"
    assert note in " ".join(without_margin["notes"])
    assert "--margin" not in " ".join(with_margin["notes"])
    assert (
        json.loads((tmp_path / "b.json").read_bytes())["margin"] == with_margin["parameters"]["margin"] == 1.0
    )
    assert "margin" not in without_margin["parameters"]
    refused = uqcli(*line, "--margin", "1", "--algorithm", "vw-dpmt")
    assert (refused.code, "--margin with --algorithm vw-dpmt" in refused.err) == (2, True)
    refused = uqcli("boundary", compared_rows, "--recall", "0.6", "--uncertainty", "useful", "--margin", "1")
    assert (refused.code, "--margin with --recall" in refused.err) == (2, True)
    refused = uqcli("boundary", compared_rows, "--gain", "5", "--cost", "1", "--margin", "1")
    assert (refused.code, "--margin with --gain and --cost" in refused.err) == (2, True)
    too_wide = uqcli(*line, "--margin", "40")
    assert too_wide.code == 4
    assert f"without one recall is {percent(without_margin['metrics']['recall'])}" in too_wide.err


def test_bins_are_chosen_alike_from_a_shared_grid_and_its_rows(compared_rows, tmp_path, uqcli):
    rows = ("--uncertainty", "useful", "-q")
    assert uqcli("bin", compared_rows, *rows, "--binning", "shared", "-o", "g.json").code == 0
    grid = json.loads((tmp_path / "g.json").read_bytes())
    assert len(grid["count"]) == 8
    bound = ("--precision", "0.6", "--json")
    reports = [
        uqcli("boundary", *inputs, *bound).json for inputs in (("--grid", "g.json"), (compared_rows, *rows))
    ]
    assert reports[0]["bins_tried"] == reports[1]["bins_tried"]
    assert reports[0]["uncertainty_edges"] == reports[1]["uncertainty_edges"]
    for name in ("true_positives", "expected"):
        assert reports[0]["metrics"][name] == reports[1]["metrics"][name]


def test_the_certificate_belongs_to_the_reported_rule(compared_rows, uqcli):
    options = ("--precision", "0.6", "--certify", "0.2", "--uncertainty", "noise", "--compare", "--json")
    report = uqcli("boundary", compared_rows, *options).json
    metrics = report["metrics"]
    assert metrics["best_precision"] == metrics["precision"]
    assert metrics["recall_at_best_precision"] == metrics["recall"]
    assert "The rule is the certified boundary." in " ".join(report["notes"])


@pytest.mark.thorough
def test_under_a_utility_gains_are_in_its_unit(compared_rows, uqcli):
    line = ("boundary", compared_rows, "--gain", "3", "--cost", "2", "--compare", "--uncertainty")
    report = uqcli(*line, "useful", "--json").json
    gain = report["metrics"]["gain"]
    positives = report["metrics"]["positives"]
    assert gain["value_equal_alerts"]["low"] == pytest.approx(5 * positives * gain["equal_alerts"]["low"])
    assert gain["value"]["low"] <= gain["value"]["value"] <= gain["value"]["high"]
    assert "net value +" in " ".join(report["notes"])
    assert uqcli(*line, "useful", "-q", "--fail-if", "gain.value.low > 0").code == 6
    precision_report = uqcli(
        "boundary", compared_rows, "--precision", "0.6", "--compare", "--uncertainty", "useful", "--json"
    )
    assert "value" not in precision_report.json["metrics"]["gain"]


@pytest.mark.thorough
def test_compare_reports_every_bound(compared_rows, uqcli):
    command = ("boundary", compared_rows, "--precision", "0.5,0.6", "--compare", "--uncertainty", "useful")
    shown = " ".join(uqcli(*command).out.decode().split())
    notes = " ".join(uqcli(*command, "--json").json["notes"])
    for bound in ("0.5", "0.6"):
        target = f"precision >= {percent(float(bound))}"
        assert re.search(rf"{target} \+\d\S+ \[\S+ \S+\] (<= )?0\.\d+ helps", shown)
        assert f"{target}: Does the uncertainty 'useful' help? Yes: " in notes


@pytest.mark.parametrize("columns", ["a,a", "a,", ","])
def test_compare_refuses_invalid_lists_of_columns(compared_rows, columns, uqcli):
    outcome = uqcli("boundary", compared_rows, "--precision", "0.6", "--compare", "--uncertainty", columns)
    assert outcome.code == 2
    assert "different column names" in outcome.err


def test_compare_needs_rows(compared_rows, tmp_path, uqcli):
    grid = tmp_path / "grid.json"
    assert uqcli("bin", compared_rows, "--uncertainty", "noise", "-q", "-o", grid).code == 0
    outcome = uqcli("boundary", "--grid", grid, "--precision", "0.6", "--compare")
    assert outcome.code == 2
    assert "--compare beside --grid" in outcome.err


def test_compare_has_no_verdict_if_the_single_threshold_misses_the_bound(compared_rows, uqcli):
    outcome = uqcli(
        "boundary", compared_rows, "--precision", "1", "--compare", "--uncertainty", "useful", "--json"
    )
    report = json.loads(outcome.out)
    assert (report["verdict"], report["metrics"]["gain"]["p"]) == ("no evidence", None)


@pytest.mark.thorough
def test_the_frontier_contains_the_optimum_of_every_number_of_alerts(compared_rows, tmp_path, uqcli):
    line = ("boundary", compared_rows, "--uncertainty", "useful", "-q", "--uncertainty-bins", "3")
    for name in ("f.csv", "f.parquet"):
        assert uqcli(*line, "--precision", "0.6", "--frontier", name, "--report", "f.html").code == 0
    frontier, table = pl.read_csv(tmp_path / "f.csv"), pl.read_parquet(tmp_path / "f.parquet")
    assert frontier.equals(table)
    assert set(frontier["algorithm"]) == {"vw-dpmt", "smooth", "st"}
    assert frontier.columns[-3:] == ["threshold_1", "threshold_2", "threshold_3"]
    for algorithm in ("vw-dpmt", "smooth", "st"):
        frontier_row = frontier.filter(pl.col("algorithm") == algorithm).row(-20, named=True)
        limit = ("--max-selected", str(frontier_row["selected"]), "--algorithm", algorithm, "--json")
        limit = (*limit, "--binning", "shared", "--uncertainty-bins", "3")
        report = uqcli("boundary", compared_rows, "--uncertainty", "useful", *limit).json
        assert (
            report["metrics"]["true_positives"] <= frontier_row["true_positives"]
        )  # the frontier's thresholds are not raised
        assert report["metrics"]["true_positives"] >= frontier_row["true_positives"] - 2
    assert (tmp_path / "f.html").read_text().count("<figure") == 2


@pytest.mark.thorough
def test_one_frontier_serves_several_bounds_and_needs_passed_checks(compared_rows, tmp_path, uqcli):
    line = ("boundary", compared_rows, "--uncertainty", "useful", "-q", "--frontier", "f.csv")
    assert uqcli(*line, "--precision", "0.6", "--fail-if", "recall < 2").code == 6
    assert not (tmp_path / "f.csv").exists()
    assert uqcli(*line, "--precision", "0.5,0.6").code == 0
    assert (tmp_path / "f.csv").exists()
    grid = tmp_path / "grid.json"
    assert uqcli("bin", compared_rows, "--uncertainty", "useful", "-q", "-o", grid).code == 0
    assert uqcli("boundary", "--grid", grid, "--precision", "0.6", "-q", "--frontier", "g.csv").code == 0
    assert "st" not in set(pl.read_csv(tmp_path / "g.csv")["algorithm"])


@pytest.mark.parametrize(
    ("options", "message"),
    [
        (("--frontier", "f"), "known ending"),
        (("--frontier", "-"), "known ending"),
        (("--frontier", "f.csv", "--algorithm", "st"), "without a grid"),
        (("--frontier", "f.csv", "--certify", "0.1"), "and --certify cannot be combined"),
        (("--frontier", "f.csv", "-o", "f.csv"), "f.csv"),
    ],
)
def test_impossible_frontiers_are_refused(compared_rows, tmp_path, uqcli, options, message):
    outcome = uqcli("boundary", compared_rows, "--uncertainty", "useful", "--precision", "0.6", *options)
    assert outcome.code == 2
    assert message in outcome.err
    assert not (tmp_path / "f.csv").exists()


def test_a_limit_on_the_alert_rate_has_a_caution_about_new_data(compared_rows, uqcli):
    shown = uqcli("boundary", compared_rows, "--uncertainty", "useful", "--max-selected", "5 %").out.decode()
    assert "New data may have more than" in shown


@pytest.mark.thorough
@pytest.mark.parametrize(
    ("options", "orders_rows"),
    [((), True), (("--algorithm", "vw-dpmt"), False), (("--by", "day", "--algorithm", "vw-dpmt"), False)],
)
def test_a_share_of_alerts_says_what_to_expect_in_new_files(
    compared_rows, tmp_path, uqcli, options, orders_rows
):
    days = pl.read_parquet(compared_rows).with_columns(day=pl.int_range(pl.len()) % 3)
    days.write_csv(tmp_path / "days.csv")
    line = ("boundary", "days.csv", "--uncertainty", "useful", *options, "--json", "--max-selected")
    share = uqcli(*line, "5 %").json
    assert share["metrics"]["expected"]["share"]["low"] < 0.05 < share["metrics"]["expected"]["share"]["high"]
    assert any("in new files expect" in note for note in share["notes"])
    count = uqcli(*line, "50").json
    assert "share" not in count["metrics"]["expected"]
    assert any("The limit is for a file of" in note for note in count["notes"])
    for report in (share, count):
        assert any("apply --top N --per DAY" in note for note in report["notes"]) == orders_rows


def test_a_small_share_of_alerts_is_not_rounded_to_0(tmp_path, uqcli):
    sample_frame(rows=10000).write_csv(tmp_path / "rows.csv")
    report = uqcli("boundary", "rows.csv", "--max-selected", "0.05%", "--json").json
    assert not any("0.0 to" in note or "to 0.0 %" in note for note in report["notes"])


def test_a_count_that_may_be_meant_as_a_share_is_pointed_out(tmp_path, uqcli):
    sample_frame(rows=10000).write_csv(tmp_path / "rows.csv")
    report = uqcli(
        "boundary", tmp_path / "rows.csv", "--max-selected", "9", "--algorithm", "st", "--json"
    ).json
    assert any("write 9% if you meant a share" in note for note in report["notes"])


def test_a_rule_on_few_alerts_is_pointed_out(tmp_path, uqcli):
    sample_frame(rows=200).write_csv(tmp_path / "rows.csv")
    report = uqcli("boundary", tmp_path / "rows.csv", "--precision", "0.8", "--json").json
    assert report["metrics"]["selected"] < 30
    assert any(
        f"only {report['metrics']['selected']} calibration rows are flagged" in note
        for note in report["notes"]
    )


def test_notes_say_that_an_algorithm_misses_its_target_more_often_than_not(compared_rows, uqcli):
    arguments = (
        "boundary",
        compared_rows,
        "--uncertainty",
        "useful",
        "--precision",
        "0.6",
        "--uncertainty-bins",
        "8",
    )
    report = uqcli(*arguments, "--algorithm", "vw-dpmt", "--json").json
    assert report["metrics"]["expected"]["precision"]["value"] < 0.6
    assert any("more likely be below 60 % than above it" in note for note in report["notes"])


def test_a_threshold_beside_the_rule_is_said_to_have_the_same_recall_only_if_it_has(uqcli, tmp_path):
    random = np.random.default_rng(1)
    score, uncertainty = random.integers(0, 8, 3000) / 8, random.random(3000)
    label = (random.random(3000) < score * (1 - 0.8 * uncertainty)).astype(int)
    pl.DataFrame({"score": score, "uncertainty": uncertainty, "label": label}).write_csv(
        tmp_path / "ties.csv"
    )
    shown = uqcli("boundary", "ties.csv", "--recall", "0.5").out.decode()
    assert "one threshold, same target" in shown
    assert "same recall" not in shown
