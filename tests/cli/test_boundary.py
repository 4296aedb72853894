"""``uqcli boundary``: same rows, same bytes; the command equals the library."""

import json
import re

import numpy as np
import polars as pl
import pytest

from tests.cli.conftest import sample_frame
from uqcli import find_boundary
from uqcli.choices import Algorithm, GridBinning
from uqcli.errors import InfeasibleError


def fit(uqcli, path, *options):
    outcome = uqcli("boundary", path, "--precision", "0.7", "--score-bins", "20", "-q", "-o", "-", *options)
    assert outcome.code == 0, outcome.err
    return outcome.out


def works(algorithm, score_bins):
    return not (algorithm is Algorithm.EW_DPMT and score_bins == "all")


@pytest.mark.parametrize("binning", GridBinning)
@pytest.mark.parametrize(
    ("algorithm", "score_bins"),
    [(algorithm, bins) for algorithm in Algorithm for bins in (20, "all") if works(algorithm, bins)],
)
def test_the_command_equals_the_library(uqcli, data, frame, algorithm, binning, score_bins):
    options = ["--algorithm", algorithm, "--binning", binning, "--score-bins", score_bins]
    artifact = json.loads(fit(uqcli, data, *options))
    found = find_boundary(
        frame["score"],
        frame["label"],
        uncertainty=None if algorithm is Algorithm.ST else frame["uncertainty"],
        precision=0.7,
        algorithm=algorithm,
        binning=binning,
        score_bins=score_bins,
    )
    assert artifact["thresholds"] == list(found.thresholds)
    assert artifact["uncertainty_edges"] == found.uncertainty_edges.tolist()
    assert artifact["fit"]["true_positives"] == found.fit.true_positives
    assert artifact["fit"]["selected"] == found.fit.selected
    assert artifact["fit"]["recall"] == found.fit.recall


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


def test_weights_are_repeated_rows(uqcli, frame, tmp_path):
    weight = pl.Series("w", [number % 3 for number in range(len(frame))])
    frame.with_columns(weight).write_parquet(tmp_path / "weighted.parquet")
    repeated = pl.concat([frame.filter(weight >= 1), frame.filter(weight == 2)])
    repeated.write_parquet(tmp_path / "repeated.parquet")
    one = json.loads(fit(uqcli, tmp_path / "weighted.parquet", "--weight", "w"))
    other = json.loads(fit(uqcli, tmp_path / "repeated.parquet"))
    assert (one["thresholds"], one["fit"]) == (other["thresholds"], other["fit"])
    assert one["source"]["rows"] == 400


SPELLINGS = {
    "integers": ["1", "0"],
    "floats": ["1.0", "0.0"],
    "words": ["true", "false"],
    "other case": ["TRUE", "False"],
    "spaced": [" 1 ", "0 "],
}


@pytest.mark.parametrize("spelling", SPELLINGS)
def test_labels_in_their_spellings(uqcli, frame, data, tmp_path, spelling):
    positive, negative = SPELLINGS[spelling]
    text = frame["label"].cast(pl.String).replace({"1": positive, "0": negative})
    frame.with_columns(text.alias("label")).write_csv(tmp_path / "d.csv")
    assert fit(uqcli, tmp_path / "d.csv") == fit(uqcli, data)


@pytest.mark.parametrize("dtype", [pl.Boolean, pl.Int64, pl.Float32, pl.UInt8])
def test_labels_in_their_types(uqcli, frame, data, tmp_path, dtype):
    frame.with_columns(pl.col("label").cast(dtype)).write_parquet(tmp_path / "d.parquet")
    assert fit(uqcli, tmp_path / "d.parquet") == fit(uqcli, data)


def test_a_named_positive_label(uqcli, frame, tmp_path):
    text = frame["label"].cast(pl.String).replace({"1": "fraud", "0": "fine"})
    frame.with_columns(text.alias("label")).write_csv(tmp_path / "d.csv")
    artifact = json.loads(fit(uqcli, tmp_path / "d.csv", "--positive", "fraud"))
    assert artifact["parameters"]["positive"] == "fraud"
    assert artifact["source"]["positives"] == frame["label"].sum()
    absent = uqcli("boundary", tmp_path / "d.csv", "--precision", "0.7", "--positive", "Fraud")
    assert absent.code == 3
    assert "'Fraud' never appears" in absent.err


def test_null_values_and_drop(uqcli, tmp_path):
    (tmp_path / "d.csv").write_text("score,uncertainty,label\n0.9,1,1\nNA,1,1\n0.8,nan,1\n0.1,1,0\n0.2,1\n")
    outcome = uqcli("boundary", "d.csv", "--precision", "0.7", "--null-value", "NA", "--json")
    assert outcome.code == 3
    for said in ("'score' has 1 null", "'uncertainty' has 1 NaN", "'label' has 1 null", "data row 2"):
        assert said in outcome.err
    dropped = uqcli(
        "boundary", "d.csv", "--precision", "0.7", "--null-value", "NA", "--on-invalid", "drop", "--json"
    )
    assert dropped.json["source"] == {
        "rows": 2,
        "positives": 1,
        "dropped": 3,
        "columns": {"score": "score", "uncertainty": "uncertainty", "label": "label"},
    }


CORNERS = {
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


@pytest.mark.parametrize("corner", CORNERS)
@pytest.mark.parametrize("binning", GridBinning)
@pytest.mark.parametrize(
    ("algorithm", "score_bins"),
    [(algorithm, bins) for algorithm in Algorithm for bins in (500, "all", 1) if works(algorithm, bins)],
)
def test_corners_decide_as_they_were_fitted(corner, algorithm, binning, score_bins):
    """In the library, which gives what the command gives."""
    score, uncertainty, label = (
        np.array(CORNERS[corner][name]) for name in ("score", "uncertainty", "label")
    )
    found = find_boundary(
        score,
        label,
        uncertainty=None if algorithm is Algorithm.ST else uncertainty,
        precision=0.5,
        algorithm=algorithm,
        binning=binning,
        score_bins=score_bins,
    )
    decided = found.decide(score, None if algorithm is Algorithm.ST else uncertainty)
    assert decided.sum() == found.fit.selected
    assert label[decided].sum() == found.fit.true_positives


@pytest.mark.parametrize("corner", CORNERS)
@pytest.mark.parametrize("algorithm", Algorithm)
def test_corners_apply_as_they_were_fitted(uqcli, tmp_path, corner, algorithm):
    pl.DataFrame(CORNERS[corner]).write_parquet(tmp_path / "d.parquet")
    line = ("boundary", "d.parquet", "--precision", "0.5", "--algorithm", algorithm, "-q", "-o", "b.json")
    assert uqcli(*line).code == 0
    fit = json.loads((tmp_path / "b.json").read_text())["fit"]
    applied = uqcli("apply", "b.json", "d.parquet", "-o", "o.csv", "--json").json
    evaluated = uqcli("evaluate", "b.json", "d.parquet", "--json").json
    assert applied["metrics"]["selected"] == fit["selected"]
    assert evaluated["metrics"]["true_positives"] == fit["true_positives"]


def test_all_negative_is_infeasible(uqcli, tmp_path):
    (tmp_path / "d.csv").write_text("score,uncertainty,label\n0.9,1,0\n0.8,1,0\n")
    outcome = uqcli("boundary", "d.csv", "--precision", "0.1")
    assert outcome.code == 4
    assert "no row is positive" in outcome.err
    with pytest.raises(InfeasibleError, match="no row is positive"):
        find_boundary([0.9, 0.8], [0, 0], precision="0.1")


def test_an_empty_uncertainty_bin_is_reported(uqcli, tmp_path):
    pl.DataFrame(CORNERS["constant uncertainty"]).write_csv(tmp_path / "d.csv")
    report = uqcli("boundary", "d.csv", "--precision", "0.5", "--uncertainty-bins", "3", "--json").json
    assert report["thresholds"][:2] == [None, None]
    assert any("has no row in uncertainty bin" in note for note in report["notes"])


def test_sample_frame_is_not_trivial():
    assert 0.2 < sample_frame()["label"].mean() < 0.8


def test_a_threshold_does_not_reach_into_scores_without_positives(uqcli, tmp_path):
    """The whole of the lower cell is taken; its next positive stands at 0.9."""
    score = [0.05, 0.2, 0.4, 0.9, 0.95, 0.97]
    pl.DataFrame({"score": score, "label": [0, 0, 0, 1, 1, 1]}).write_csv(tmp_path / "d.csv")
    grid = ("--precision", "0.5", "--uncertainty-bins", "1", "--score-bins", "1")
    report = uqcli("boundary", "d.csv", *grid, "-o", "b.json", "--json").json
    assert report["thresholds"] == [0.9]
    assert (report["metrics"]["selected"], report["metrics"]["true_positives"]) == (3, 3)
    evaluated = uqcli("evaluate", "b.json", "d.csv", "--json").json["metrics"]
    assert evaluated["selected"] == 3


@pytest.fixture
def coarse(tmp_path):
    """Rows that a grid of three score bins cannot tell apart as one score threshold can."""
    random = np.random.default_rng(1)
    score = np.linspace(0, 1, 400)
    frame = pl.DataFrame(
        {"score": score, "uncertainty": random.random(400), "label": (score > 0.9).astype(int)}
    )
    frame.write_csv(tmp_path / "d.csv")
    return "d.csv", "--score-bins", "3", "--max-selected"


@pytest.mark.parametrize("most", ["40", "60"])
def test_of_a_boundary_and_one_threshold_the_worse_is_never_saved(uqcli, coarse, most, tmp_path):
    """The grid has no boundary of 40 or of 60 rows."""
    asked = ("boundary", *coarse, most)
    report = uqcli(*asked, "-o", "b.json", "--json")
    assert report.code == 0
    assert (report.json["algorithm"], report.json["metrics"]["recall"]) == ("st", 1.0)
    alone = uqcli(*asked, "--algorithm", "st", "-o", "st.json", "--json").json
    saved, single = (json.loads((tmp_path / name).read_bytes()) for name in ("b.json", "st.json"))
    for key in ("algorithm", "thresholds", "uncertainty_edges", "fit", "parameters"):
        assert saved[key] == single[key]
    for name in ("recall", "precision", "selected"):
        assert report.json["metrics"][name] == alone["metrics"][name]
    assert "it is saved" in report.json["notes"][1]
    shown = uqcli(*asked).out.decode()
    assert "smooth, not saved" in shown
    assert uqcli(*asked, "--algorithm", "smooth", "--json").code == 4


def test_a_boundary_worse_than_one_threshold_says_so_first(uqcli, coarse):
    arguments = ("boundary", *coarse, "40", "--algorithm", "vw-dpmt")
    report = uqcli(*arguments, "--json")
    assert report.code == 4
    assert "--algorithm st" in report.json["notes"][0]
    worse = ("boundary", *coarse, "60", "--algorithm", "vw-dpmt")
    notes = uqcli(*worse, "--json").json["notes"]
    assert "a single threshold reaches recall 1.0000" in notes[0]
    assert "--algorithm st saves it" in notes[0]
    assert f"Caution: {notes[0]}" in uqcli(*worse).out.decode().splitlines()
    better = uqcli("boundary", "d.csv", "--precision", "0.9", "--score-bins", "all", "--json").json
    assert "--algorithm st" not in better["notes"][0]


def test_several_bounds_give_a_table_and_a_file_each(uqcli, data, tmp_path):
    outcome = uqcli("boundary", data, "--precision", "0.6,0.7", "-o", tmp_path / "b-{}.json", "--json")
    assert outcome.code == 0, outcome.err
    report = outcome.json
    for bound, result in zip(("0.6", "0.7"), report["results"], strict=True):
        alone = uqcli("boundary", data, "--precision", bound, "-o", tmp_path / "alone.json", "--json")
        assert alone.json == result
        assert (tmp_path / f"b-{bound}.json").read_bytes() == (tmp_path / "alone.json").read_bytes()
    shown = uqcli("boundary", data, "--precision", "0.6,0.7").out.decode()
    assert "precision >= 0.6" in shown and "precision >= 0.7" in shown  # noqa: PT018
    gate = uqcli("boundary", data, "--precision", "0.6,0.7", "--fail-if", "recall < 2", "-q")
    assert gate.code == 6
    assert len(gate.err.splitlines()) == 2


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


def test_certificates_for_several_bounds_warn_of_taking_the_best(uqcli, data):
    report = uqcli(
        "boundary", data, "--precision", "0.4,0.5", "--certify", "0.4", "--score-bins", "20", "--json"
    )
    assert report.code in (0, 4)
    assert "picking the best afterwards runs a higher one" in report.json["notes"][0]


@pytest.fixture
def compared_rows(tmp_path, monkeypatch):
    """One column that tells something, one that tells nothing."""
    random = np.random.default_rng(2)
    score, useful, noise = random.random((3, 2000))
    label = random.random(2000) < np.clip(score * (1.3 - useful), 0, 1)
    label[np.argmax(score)] = False  # no threshold on the score gives a precision of 1
    monkeypatch.setattr("uqcli.jobs.boundary.compared.PERMUTATIONS", 20)  # as few as tell anything at 5 %
    monkeypatch.setattr("uqcli.methods.boundary.ranking.permutation.RESAMPLINGS", 50)
    place = tmp_path / "compared.parquet"
    pl.DataFrame({"score": score, "useful": useful, "noise": noise, "label": label}).write_parquet(place)
    return place


def test_compare_ranks_columns_and_uses_the_best(compared_rows, tmp_path, uqcli):
    asked = ("--precision", "0.6", "--compare", "--uncertainty", "noise,useful", "-o", tmp_path / "b.json")
    outcome = uqcli("boundary", compared_rows, *asked, "--json", "--fail-if", "gain.equal_alerts.low < 0")
    assert outcome.code == 0
    found = json.loads(outcome.out)
    assert found["verdict"] == "helps"
    assert [each["uncertainty"] for each in found["compared"]] == ["useful", "noise"]
    assert [each["verdict"] for each in found["compared"]] == ["helps", "no evidence"]
    assert found["compared"][0]["metrics"] == {"gain": found["metrics"]["gain"]}
    assert found["metrics"]["gain"]["p"] == 0.05
    assert found["source"]["columns"]["uncertainty"] == "useful"
    assert json.loads((tmp_path / "b.json").read_bytes())["source"]["columns"]["uncertainty"] == "useful"


def test_compare_says_first_what_to_do(compared_rows, uqcli):
    asked = ("boundary", compared_rows, "--precision", "0.6", "--uncertainty", "noise")
    tested = uqcli(*asked, "--compare").out.decode()
    assert "No evidence that 'noise' helps" in tested
    assert "--compare tests whether" not in uqcli(*asked, "--compare", "--verbose").out.decode()
    assert "--compare tests whether" in uqcli(*asked, "--algorithm", "vw-dpmt", "--verbose").out.decode()
    assert uqcli(*asked, "--compare", "--fail-if", "gain.equal_alerts < 0.5").code == 6


@pytest.mark.usefixtures("undrawn")
def test_what_compare_says_to_use_stands_in_the_decision(compared_rows, tmp_path, uqcli):
    asked = ("boundary", compared_rows, "--precision", "0.6", "--compare", "--report", "r.md")
    advice, said = uqcli(*asked, "--uncertainty", "noise", "--json").json["notes"][:2]
    assert "The single threshold is saved." in advice
    (threshold,) = re.findall(r"^Flag when (score >= [\d.]+)\.$", said)
    assert said in (tmp_path / "r.md").read_text()
    alone = uqcli("boundary", compared_rows, "--precision", "0.6", "--uncertainty-bins", "1", "--json").json
    assert threshold == f"score >= {alone['thresholds'][0]:.6g}"
    report = uqcli(*asked, "--uncertainty", "useful", "--json").json
    gained = report["metrics"]["gain"]["recall"]
    own = f"{100 * gained['value']:+.2f} [{100 * gained['low']:+.2f}, "
    assert own in (tmp_path / "r.md").read_text()
    assert report["notes"][0].endswith("Use the boundary.")
    assert "Seed 0 affects: the gains, the number of uncertainty bins." in report["notes"]
    assert "The thresholds meet the target together" in str(report["notes"])


def test_the_rule_saved_is_the_rule_advised(compared_rows, tmp_path, uqcli):
    asked = ("boundary", compared_rows, "--precision", "0.6", "--compare", "-q", "-o", "b.json")
    for column, more in (("noise", ()), ("useful", ()), ("noise", ("--uncertainty-bins", "2"))):
        assert uqcli(*asked, "--uncertainty", column, *more).code == 0
        saved = json.loads((tmp_path / "b.json").read_bytes())
        assert saved["algorithm"] == "smooth"
        assert (len(saved["thresholds"]) > 1) == (column == "useful" or bool(more))
        assert saved["parameters"]["uncertainty_bins"] == len(saved["thresholds"])
    assert uqcli(*asked, "--uncertainty", "noise", "--algorithm", "vw-dpmt").code == 0
    saved = json.loads((tmp_path / "b.json").read_bytes())
    assert (saved["algorithm"], len(saved["thresholds"])) == ("vw-dpmt", 3)


@pytest.mark.usefixtures("undrawn")
def test_the_default_takes_as_many_bins_as_pay_and_says_what_to_expect(compared_rows, tmp_path, uqcli):
    asked = ("boundary", compared_rows, "--precision", "0.6", "-o", "b.json", "--uncertainty")
    for column, bins in (("noise", {1}), ("useful", {2, 4, 8})):
        shown = uqcli(*asked, column, "--report", "r.md").out.decode()
        report = uqcli(*asked, column, "--json").json
        assert report["algorithm"] == "smooth"
        assert report["parameters"]["binning"] == "shared"
        assert len(report["thresholds"]) == report["parameters"]["uncertainty_bins"]
        assert len(report["thresholds"]) in bins
        assert ("One threshold: no clear gain from uncertainty bins." in shown) == (bins == {1})
        expected = report["metrics"]["expected"]
        saved = json.loads((tmp_path / "b.json").read_bytes())
        assert saved["expected"] == expected
        assert expected["precision"]["value"] <= report["metrics"]["precision"]
        line = re.compile(f"{expected['recall']['value']:.3f} .?\\[{expected['recall']['low']:.3f}, ")
        for text in (shown, (tmp_path / "r.md").read_text(), uqcli("show", "b.json").out.decode()):
            assert "90 % ranges" in text
            assert "expected on new data" in text
            assert line.search(text)
    assert uqcli(*asked, "useful", "-q", "--fail-if", "expected.precision.low < 0.99").code == 6


def test_one_threshold_says_that_alerts_are_too_few(compared_rows, uqcli):
    asked = ("boundary", compared_rows, "--max-selected", "50", "--uncertainty", "useful", "--json")
    report = uqcli(*asked).json
    assert report["notes"][0].endswith(". One threshold: too few alerts to choose bins.")
    assert report["bins_tried"] == []


def test_a_margin_is_kept_and_said(compared_rows, tmp_path, uqcli):
    asked = ("boundary", compared_rows, "--precision", "0.6", "--uncertainty", "useful", "-o", "b.json")
    plain, wide = uqcli(*asked, "--json").json, uqcli(*asked, "--margin", "1", "--json").json
    found = wide["metrics"]
    surplus = found["true_positives"] - 0.6 * found["selected"]
    assert surplus >= (0.24 * found["selected"]) ** 0.5
    assert found["recall"] < plain["metrics"]["recall"]
    said = f"With --margin 1, recall on the calibration set is {found['recall']:.4f}"
    assert said in " ".join(plain["notes"])
    assert "--margin" not in " ".join(wide["notes"])
    assert json.loads((tmp_path / "b.json").read_bytes())["margin"] == 1.0
    refused = uqcli(*asked, "--margin", "1", "--algorithm", "vw-dpmt")
    assert (refused.code, "--margin with --algorithm vw-dpmt" in refused.err) == (2, True)
    other = uqcli("boundary", compared_rows, "--recall", "0.6", "--uncertainty", "useful", "--margin", "1")
    assert (other.code, "--margin with --recall" in other.err) == (2, True)
    too_wide = uqcli(*asked, "--margin", "40")
    assert too_wide.code == 4
    assert f"without one recall is {plain['metrics']['recall']:.4f}" in too_wide.err


def test_bins_of_a_shared_grid_are_chosen_as_those_of_its_rows(compared_rows, tmp_path, uqcli):
    rows = ("--uncertainty", "useful", "-q")
    assert uqcli("bin", compared_rows, *rows, "--binning", "shared", "-o", "g.json").code == 0
    grid = json.loads((tmp_path / "g.json").read_bytes())
    assert len(grid["count"]) == 8
    bound = ("--precision", "0.6", "--json")
    found = [uqcli("boundary", *each, *bound).json for each in (("--grid", "g.json"), (compared_rows, *rows))]
    assert found[0]["bins_tried"] == found[1]["bins_tried"]
    assert found[0]["uncertainty_edges"] == found[1]["uncertainty_edges"]
    for name in ("true_positives", "expected"):
        assert found[0]["metrics"][name] == found[1]["metrics"][name]


def test_a_certificate_is_of_the_rule_whose_precision_is_shown(compared_rows, uqcli):
    asked = ("--precision", "0.6", "--certify", "0.2", "--uncertainty", "noise", "--compare", "--json")
    found = uqcli("boundary", compared_rows, *asked).json
    metrics = found["metrics"]
    assert metrics["best_precision"] == metrics["precision"]
    assert metrics["recall_at_best_precision"] == metrics["recall"]
    assert "The certified boundary is saved." in found["notes"][0]


def test_under_a_utility_gains_are_in_its_unit(compared_rows, uqcli):
    asked = ("boundary", compared_rows, "--gain", "3", "--cost", "2", "--compare", "--uncertainty")
    found = uqcli(*asked, "useful", "--json").json
    gain = found["metrics"]["gain"]
    positives = found["metrics"]["positives"]
    assert gain["value_equal_alerts"]["low"] == pytest.approx(5 * positives * gain["equal_alerts"]["low"])
    assert gain["value"]["low"] <= gain["value"]["value"] <= gain["value"]["high"]
    assert "utility +" in found["notes"][0]
    assert uqcli(*asked, "useful", "-q", "--fail-if", "gain.value.low > 0").code == 6
    alone = uqcli(
        "boundary", compared_rows, "--precision", "0.6", "--compare", "--uncertainty", "useful", "--json"
    )
    assert "value" not in alone.json["metrics"]["gain"]


def test_compare_speaks_of_every_bound(compared_rows, uqcli):
    asked = ("boundary", compared_rows, "--precision", "0.5,0.6", "--compare", "--uncertainty", "useful")
    shown = " ".join(uqcli(*asked).out.decode().split())
    notes = " ".join(uqcli(*asked, "--json").json["notes"])
    for bound in ("0.5", "0.6"):
        assert re.search(rf"precision >= {bound} \+\d\S+ \[\S+ \S+\] 0\.\d+ helps", shown)
        assert f"precision >= {bound}: Uncertainty 'useful' helps" in notes


@pytest.mark.parametrize("columns", ["a,a", "a,", ","])
def test_compare_refuses_columns_that_are_no_list(compared_rows, columns, uqcli):
    outcome = uqcli("boundary", compared_rows, "--precision", "0.6", "--compare", "--uncertainty", columns)
    assert outcome.code == 2
    assert "different column names" in outcome.err


def test_compare_needs_rows(compared_rows, tmp_path, uqcli):
    grid = tmp_path / "grid.json"
    assert uqcli("bin", compared_rows, "--uncertainty", "noise", "-q", "-o", grid).code == 0
    outcome = uqcli("boundary", "--grid", grid, "--precision", "0.6", "--compare")
    assert outcome.code == 2
    assert "--compare beside --grid" in outcome.err


def test_compare_has_no_answer_where_the_score_alone_will_not_do(compared_rows, uqcli):
    outcome = uqcli(
        "boundary", compared_rows, "--precision", "1", "--compare", "--uncertainty", "useful", "--json"
    )
    found = json.loads(outcome.out)
    assert (found["verdict"], found["metrics"]["gain"]["p"]) == ("no evidence", None)


def test_the_frontier_holds_the_optimum_of_every_number_of_alerts(compared_rows, tmp_path, uqcli):
    asked = ("boundary", compared_rows, "--uncertainty", "useful", "-q", "--uncertainty-bins", "3")
    for name in ("f.csv", "f.parquet"):
        assert uqcli(*asked, "--precision", "0.6", "--frontier", name, "--report", "f.html").code == 0
    found, table = pl.read_csv(tmp_path / "f.csv"), pl.read_parquet(tmp_path / "f.parquet")
    assert found.equals(table)
    assert set(found["algorithm"]) == {"vw-dpmt", "smooth", "st"}
    assert found.columns[-3:] == ["threshold_1", "threshold_2", "threshold_3"]
    for algorithm in ("vw-dpmt", "smooth", "st"):
        line = found.filter(pl.col("algorithm") == algorithm).row(-20, named=True)
        limit = ("--max-selected", str(line["selected"]), "--algorithm", algorithm, "--json")
        limit = (*limit, "--binning", "shared", "--uncertainty-bins", "3")
        again = uqcli("boundary", compared_rows, "--uncertainty", "useful", *limit).json
        assert again["metrics"]["true_positives"] <= line["true_positives"]  # before thresholds are raised
        assert again["metrics"]["true_positives"] >= line["true_positives"] - 2
    assert (tmp_path / "f.html").read_text().count("<figure") == 2


def test_a_frontier_is_one_for_several_bounds_and_waits_for_gates(compared_rows, tmp_path, uqcli):
    asked = ("boundary", compared_rows, "--uncertainty", "useful", "-q", "--frontier", "f.csv")
    assert uqcli(*asked, "--precision", "0.6", "--fail-if", "recall < 2").code == 6
    assert not (tmp_path / "f.csv").exists()
    assert uqcli(*asked, "--precision", "0.5,0.6").code == 0
    assert (tmp_path / "f.csv").exists()
    grid = tmp_path / "grid.json"
    assert uqcli("bin", compared_rows, "--uncertainty", "useful", "-q", "-o", grid).code == 0
    assert uqcli("boundary", "--grid", grid, "--precision", "0.6", "-q", "--frontier", "g.csv").code == 0
    assert "st" not in set(pl.read_csv(tmp_path / "g.csv")["algorithm"])


@pytest.mark.parametrize(
    ("options", "said"),
    [
        (("--frontier", "f"), "known ending"),
        (("--frontier", "-"), "known ending"),
        (("--frontier", "f.csv", "--algorithm", "st"), "without a grid"),
        (("--frontier", "f.csv", "--certify", "0.1"), "beside --certify"),
        (("--frontier", "f.csv", "-o", "f.csv"), "f.csv"),
    ],
)
def test_a_frontier_that_cannot_be_is_refused(compared_rows, tmp_path, uqcli, options, said):
    outcome = uqcli("boundary", compared_rows, "--uncertainty", "useful", "--precision", "0.6", *options)
    assert outcome.code == 2
    assert said in outcome.err
    assert not (tmp_path / "f.csv").exists()
