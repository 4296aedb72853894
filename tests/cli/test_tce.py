"""Tests of ``uqcli tce``: metrics, bins, classes, groups and notes."""

import re
from pathlib import Path

import numpy as np
import polars as pl
import pytest

from tests.oracles import calibrated_parts
from uqcli.base.counts import pool
from uqcli.base.operating_system import join
from uqcli.base.wording import percent
from uqcli.estimates.binning import BinSizes
from uqcli.tce.band import calibration_band
from uqcli.tce.chance import key_of
from uqcli.tce.measure import measure
from uqcli.tce.options import MeasureOptions
from uqcli.tce.part_tests import calibration_p_values


def test_the_command_equals_the_computation(uqcli, data, frame):
    report = uqcli("tce", data, "--alpha", "0.1", "--bins", "quantile", "--n-bins", "7", "--json").json
    options = MeasureOptions(alpha=0.1, binning="quantile", n_bins=7)
    counts = pool(frame["score"].to_numpy(), frame["label"].to_numpy() == 1)
    expected = measure(counts, options)
    band = calibration_band(counts, 0.95)
    test = calibration_p_values({0: counts}, {0: key_of(None)}, 0)[0]
    p_values = dict.fromkeys(("calibration_p", "calibration_p_adjusted"), test.p_value)
    others = {**band.metrics(), **p_values, "dropped_share": 0.0}
    assert report["metrics"] == {**expected.metrics, **others}
    assert (report["within"], report["within_low"]) == (band.within, band.within_low)
    assert [row["rejected"] for row in report["bins"]] == expected.rejected.rows.tolist()
    assert sum(row["count"] for row in report["bins"]) == 400


def test_bins_range_from_0_to_1_and_can_be_empty(uqcli, tmp_path):
    (tmp_path / "d.csv").write_text("score,label\n0.05,0\n0.06,1\n0.95,1\n")
    report = uqcli("tce", "d.csv", "--binning", "equispaced", "--json").json
    first, second = report["bins"][:2]
    assert (first["low"], report["bins"][-1]["high"]) == (0.0, 1.0)
    assert (second["count"], second["rate"], second["mean_score"]) == (0, None, None)


def test_scores_must_be_probabilities(uqcli, tmp_path):
    (tmp_path / "d.csv").write_text("score,label\n1.05,0\n0.06,1\n")
    outcome = uqcli("tce", "d.csv")
    assert outcome.code == 3
    assert "probabilities" in outcome.err


@pytest.mark.covering("thorough", every=3)
@pytest.mark.parametrize(
    ("truth", "pattern", "absent"),
    [
        (lambda score: score, r"^The scores are not shown to be miscalibrated \(p = ", "too "),
        (
            lambda score: score**2,
            r"^Not calibrated \(p < 0\.0001\)\. Many scores are too high, especially those ",
            "too low",
        ),
        (
            np.sqrt,
            r"^Not calibrated \(p < 0\.0001\)\. Many scores are too low, especially those ",
            "too high",
        ),
        (
            lambda score: np.where(score < 0.5, score, score**3),
            r"^Not calibrated \(p < 0\.0001\)\. Scores (above|from) 0.[45].* too high",
            "too low",
        ),
        (
            lambda score: score + 0.9 * score * (1 - score),
            r"^Not calibrated \(p < 0\.0001\)\. Many scores are too low, especially those from 0.[45]",
            "too high",
        ),
    ],
    ids=["good", "high", "low", "high above a half", "all low, the most in the middle"],
)
def test_the_first_note_states_where_scores_are_rejected(uqcli, tmp_path, truth, pattern, absent):
    random = np.random.default_rng(3)
    score = random.uniform(0.1, 0.9, 20_000)
    label = random.random(20_000) < truth(score)
    pl.DataFrame({"score": score, "label": label}).write_parquet(tmp_path / "rows.parquet")
    note = uqcli("tce", "rows.parquet", "--alpha", "1e-6", "--json").json["notes"][0]
    assert re.search(pattern, note), note
    assert not re.search(absent, note), note
    line = ("tce", "rows.parquet", "-q", "--alpha", "1e-6")
    code = 0 if pattern.startswith("^The scores") else 6
    assert uqcli(*line, "--fail-if", "tce > 20").code == code
    assert uqcli(*line, "--fail-if", "calibration_p_adjusted <= 0.05").code == code


def test_weights_count_as_repeated_rows(uqcli, tmp_path):
    (tmp_path / "w.csv").write_text("score,label,w\n0.2,0,3\n0.7,1,2\n0.9,0,0\n")
    (tmp_path / "r.csv").write_text("score,label\n0.2,0\n0.2,0\n0.2,0\n0.7,1\n0.7,1\n")
    weighted = uqcli("tce", "w.csv", "--weight", "w", "--json").json
    assert weighted["metrics"] == uqcli("tce", "r.csv", "--json").json["metrics"]


@pytest.fixture
def class_rows(tmp_path):
    """Write probabilities of three classes, with labels as text."""
    random = np.random.default_rng(5)
    probability = random.dirichlet([1, 1, 1], 600)
    label = [("ash", "elm", "oak")[random.choice(3, p=row)] for row in probability]
    frame = pl.DataFrame(
        {
            **{f"p_{name}": probability[:, i] for i, name in enumerate(("oak", "ash", "elm"))},
            "label": label,
            "wood": random.choice(["north", "south"], 600),
        }
    )
    path = tmp_path / "trees.parquet"
    frame.write_parquet(path)
    return path, frame


def untested(metrics):
    """Leave out the p-values of the tests of all parts."""
    return {name: value for name, value in metrics.items() if not name.startswith("calibration_p")}


def classwise(frame, classes):
    """Measure each class; the bands of all classes hold together."""
    counts = [pool(frame[f"p_{name}"].to_numpy(), frame["label"].to_numpy() == name) for name in classes]
    confidence = 1 - 0.05 / 3
    return [
        {**measure(each, MeasureOptions()).metrics, **calibration_band(each, confidence).metrics()}
        for each in counts
    ]


def test_classes_are_measured_one_versus_rest(uqcli, class_rows):
    path, frame = class_rows
    report = uqcli("tce", path, "--proba", "p_*", "--json").json
    names = ["ash", "elm", "oak"]  # the columns that match, sorted
    assert report["parameters"]["classes"] == names
    expected = classwise(frame, names)
    for name, measured in zip(names, expected, strict=True):
        assert untested(report["metrics"]["by_class"][name]) == measured
    for metric in ("tce", "ece", "log_loss"):
        mean = np.mean([measured[metric] for measured in expected])
        assert report["metrics"][metric] == pytest.approx(mean)
    assert report["metrics"]["within"] == max(measured["within"] for measured in expected)
    assert {row["class"] for row in report["bins"]} == set(names)
    assert report["source"]["positives"] is None


def test_the_text_lists_the_worst_class_first(uqcli, class_rows):
    path, frame = class_rows
    names = ["ash", "elm", "oak"]
    errors = {name: measured["tce"] for name, measured in zip(names, classwise(frame, names), strict=True)}
    shown = uqcli("tce", path, "--proba", "p_*").out.decode()
    table = shown[shown.index("(mean)") :]
    positions = [table.index(f"\n{name} ") for name in sorted(names, key=lambda name: -errors[name])]
    assert positions == sorted(positions)


def test_listed_columns_keep_their_order_and_take_names(uqcli, class_rows):
    path, frame = class_rows
    listed = ("--proba", "p_oak,p_ash,p_elm", "--classes", "oak,ash,elm")
    report = uqcli("tce", path, *listed, "--json").json
    assert list(report["metrics"]["by_class"]) == ["oak", "ash", "elm"]
    assert untested(report["metrics"]["by_class"]["oak"]) == classwise(frame, ["oak"])[0]


@pytest.mark.parametrize(
    ("arguments", "code", "message"),
    [
        (("--proba", "q_*"), 3, "at least two classes"),
        (("--proba", "p_oak"), 3, "at least two classes"),
        (("--proba", "p_oak,p_bush"), 3, "no column 'p_bush'"),
        (("--proba", "p_*", "--classes", "a,b"), 2, "one name for each column"),
        (("--proba", "p_*", "--classes", "a,b,c"), 3, "one of the classes a, b, c"),
        (("--proba", "p_*", "--positive", "oak"), 2, "--positive"),
        (("--classes", "a,b"), 2, "--proba"),
        (("--proba", "p_oak,p_ash", "--classes", "oak,ash"), 3, ""),
    ],
)
def test_unusable_classes_are_errors(uqcli, class_rows, arguments, code, message):
    outcome = uqcli("tce", class_rows[0], *arguments)
    assert outcome.code == code
    assert message in outcome.err


def test_class_probabilities_must_add_up_to_one(uqcli, tmp_path):
    (tmp_path / "d.csv").write_text("p_0,p_1,label\n0.5,0.5,1\n0.25,0.7,0\n")
    outcome = uqcli("tce", "d.csv", "--proba", "p_*")
    assert outcome.code == 3
    assert "0.95" in outcome.err
    assert "data row 2" in outcome.err
    (tmp_path / "e.csv").write_text("p_0,p_1,label\n0.5,0.5,1\n0.25,0.7504,0\n")
    assert "sum to 1 only within 0.0004" in uqcli("tce", "e.csv", "--proba", "p_*").out.decode()


def test_integer_classes_sort_as_numbers(uqcli, tmp_path):
    (tmp_path / "d.csv").write_text("p_10,p_9,p_2,label\n0.5,0.25,0.25,10\n0.25,0.5,0.25,9.0\n")
    report = uqcli("tce", "d.csv", "--proba", "p_*", "--json").json
    assert report["parameters"]["classes"] == ["2", "9", "10"]


@pytest.fixture
def regions(tmp_path):
    """Write two calibrated regions, an overconfident one, and one of a few rows."""
    random = np.random.default_rng(12)
    region = np.repeat(["large", "small", "off", "tiny"], [40_000, 2_000, 2_500, 30])
    score = random.beta(1, 5, len(region))
    truth = np.where(region == "off", score / 2, score)
    frame = pl.DataFrame({"score": score, "label": random.random(len(region)) < truth, "region": region})
    frame.write_parquet(tmp_path / "regions.parquet")
    return frame


@pytest.mark.thorough
def test_groups_are_tested_in_bins_of_one_size(uqcli, regions):
    """Otherwise the largest group would be the worst, because its bins detect the smallest errors."""
    report = uqcli("tce", "regions.parquet", "--by", "region", "--json").json
    groups = {group["name"]: group for group in report["groups"]}
    assert report["worst_group"] == "off"
    parameters = report["parameters"]
    smallest = groups["small"]
    sizes = BinSizes().bounds_for(smallest["rows"], smallest["positives"])
    assert (parameters["group_n_min"], parameters["group_n_max"]) == sizes
    for name in ("large", "small", "off"):
        region_rows = regions.filter(pl.col("region") == name)
        counts = pool(region_rows["score"].to_numpy(), region_rows["label"].to_numpy())
        single = measure(counts, MeasureOptions(n_min=sizes[0], n_max=sizes[1]))
        tested = {"calibration_p", "calibration_p_adjusted"}
        own = {key: value for key, value in groups[name]["metrics"].items() if key not in tested}
        assert groups[name]["metrics"] == report["metrics"]["by_group"][name]
        assert own == single.metrics
        assert [row["count"] for row in groups[name]["bins"]] == single.bins.count.tolist()
    all_rows = pool(regions["score"].to_numpy(), regions["label"].to_numpy())
    tce_of_all = measure(all_rows, MeasureOptions(n_min=sizes[0], n_max=sizes[1])).metrics["tce"]
    assert report["metrics"]["tce_at_group_sizes"] == tce_of_all
    assert report["metrics"]["tce"] == measure(all_rows, MeasureOptions()).metrics["tce"]


@pytest.mark.thorough
def test_small_groups_are_named_and_not_tested(uqcli, regions):
    outcome = uqcli("tce", "regions.parquet", "--by", "region", "--json")
    tiny = next(group for group in outcome.json["groups"] if group["name"] == "tiny")
    assert not tiny["tested"]
    assert tiny["metrics"]["tce"] is None
    assert tiny["metrics"]["ece"] > 0
    assert tiny["bins"] == []
    assert any("too small for a TCE: tiny (30 rows)" in note for note in outcome.json["notes"])
    text = uqcli("tce", "regions.parquet", "--by", "region").out.decode()
    line = next(line for line in text.splitlines() if line.split()[:1] == ["tiny"])
    assert line.split()[2] == "-"
    explicit = uqcli("tce", "regions.parquet", "--by", "region", "--n-min", "2200", "--json").json
    assert [group["name"] for group in explicit["groups"] if group["tested"]] == ["large", "off"]


def test_without_a_large_enough_group_there_is_no_worst(uqcli, tmp_path):
    rows = "".join(f"0.{i % 10},{i % 2},{'rare' if i < 3 else 'common'}\n" for i in range(60))
    (tmp_path / "d.csv").write_text("score,label,g\n" + rows)
    report = uqcli("tce", "d.csv", "--by", "g", "--json").json
    assert report["worst_group"] is None
    assert report["metrics"]["worst_group"]["tce"] is None
    assert report["metrics"]["tce_at_group_sizes"] is None
    assert uqcli("tce", "d.csv", "--by", "g", "-q", "--fail-if", "worst_group.tce > 0").code == 6


@pytest.mark.thorough
def test_true_probabilities_are_not_rejected_in_a_large_file(uqcli, tmp_path):
    """With the paper's bins of at least 5 % of the rows, the tests reject even true probabilities."""
    random = np.random.default_rng(1)
    score = random.random(300_000)
    label = random.random(300_000) < score
    pl.DataFrame({"score": score, "label": label}).write_parquet(tmp_path / "true.parquet")
    report = uqcli("tce", "true.parquet", "--json").json
    assert report["metrics"]["tce"] < 15
    assert report["parameters"]["bin_sizes"] == "auto"
    paper = uqcli("tce", "true.parquet", "--bin-sizes", "paper", "--json").json
    assert (paper["parameters"]["n_min"], paper["parameters"]["n_max"]) == (15_000, 60_000)
    assert paper["metrics"]["tce"] > 60


@pytest.mark.parametrize("positive", [61, 70])
def test_a_direction_is_stated_only_if_the_rows_together_err_to_it(uqcli, tmp_path, positive):
    """Both scores of the only bin are wrong; together they err to one side at most."""
    score = np.array([0.1] * 100 + [0.44] * 100)
    label = np.zeros(200, dtype=int)
    label[:positive] = 1
    pl.DataFrame({"score": score, "label": label}).write_parquet(tmp_path / "d.parquet")
    note = " ".join(uqcli("tce", "d.parquet", "--n-min", "200", "--json").json["notes"])
    assert ("too low, especially those from 0 to 1: on average 27 %, but 35 % of these rows" in note) == (
        positive == 70
    )
    assert "are too high" not in note


def test_scores_wrong_on_both_sides_of_their_bin_are_not_called_wrong_on_average(uqcli, tmp_path):
    """Of one bin, most scores are below the positive rate and a few far above it."""
    rows = [*[(0.4, 1)] * 400, *[(0.4, 0)] * 400, *[(0.95, 1)] * 150, *[(0.95, 0)] * 150]
    (tmp_path / "d.csv").write_text("score,label\n" + "".join(f"{p},{y}\n" for p, y in rows))
    line = ("tce", "d.csv", "--binning", "equispaced", "--n-bins", "1", "--json")
    first = uqcli(*line).json["notes"][0]
    assert "are too high, especially those from 0 to 1: on average 55 %, but only 50 % of these" in first
    assert "too low" not in first


@pytest.mark.thorough
def test_draws_depend_on_the_seed_only(uqcli, data, frame, tmp_path):
    options = ("--bootstrap", "40", "--json")
    outcome = uqcli("tce", data, *options)
    metrics = outcome.json["metrics"]
    for name in ("brier", "log_loss", "intercept", "slope"):
        assert metrics[name]["low"] <= metrics[name]["value"] <= metrics[name]["high"]
    for name in ("ece", "ace", "mce", "tce", "mcb", "ecce"):
        assert isinstance(metrics[name], float)
        assert 1 / 41 <= metrics[f"{name}_p"] <= 1
    if_calibrated = outcome.json["if_calibrated"]
    for name in ("ece", "ace", "mcb"):
        assert metrics[f"{name}_excess"] == metrics[name] - if_calibrated[name]["mean"]
    frame[:150].write_csv(tmp_path / "1.csv")
    frame[150:].write_parquet(tmp_path / "2.parquet")
    assert uqcli("tce", "1.csv", "2.parquet", *options).out == outcome.out
    frame.sample(fraction=1, shuffle=True, seed=3).write_parquet(tmp_path / "shuffled.parquet")
    assert uqcli("tce", "shuffled.parquet", *options).out == outcome.out
    assert uqcli("tce", data, *options, "--seed", "1").json["metrics"] != metrics
    wide, narrow = (
        uqcli("tce", data, *options, "--confidence", level).json["metrics"]["log_loss"]
        for level in ("0.99", "0.5")
    )
    assert wide["low"] < narrow["low"] < narrow["high"] < wide["high"]
    assert uqcli("tce", data, "-q", "--bootstrap", "40", "--fail-if", "brier.low > 0").code == 6
    assert "if calibrated" in uqcli("tce", data, "--bootstrap", "40").out.decode()


@pytest.mark.thorough
def test_classes_and_groups_have_their_own_draws(uqcli, class_rows):
    path, frame = class_rows
    arguments = ("--proba", "p_*", "--by", "wood", "--bootstrap", "39", "--json")
    report = uqcli("tce", path, *arguments).json
    frame.sample(fraction=1, shuffle=True, seed=2).write_parquet(path)
    assert uqcli("tce", path, *arguments).json == report
    class_metrics = [report["metrics"], *report["metrics"]["by_class"].values()]
    for metrics in (*class_metrics, *report["metrics"]["by_group"].values()):
        assert 0 < metrics["ece_p"] <= 1
        assert metrics["brier"]["low"] < metrics["brier"]["value"] < metrics["brier"]["high"]
    assert report["metrics"]["slope"]["low"] is None  # a mean of slopes has no interval
    assert report["metrics"]["by_class"]["oak"]["slope"]["low"] is not None


def test_intervals_that_would_not_cover_are_not_printed(uqcli, tmp_path):
    rows = "".join(f"0.{i % 9 + 1},{int(i % 12 == 0)}\n" for i in range(60))
    (tmp_path / "few.csv").write_text("score,label\n" + rows)
    outcome = uqcli("tce", "few.csv", "--bootstrap", "50", "--json")
    assert outcome.json["metrics"]["brier"]["low"] is None
    assert outcome.json["metrics"]["ece_p"] > 0
    assert uqcli("tce", "few.csv", "--bootstrap", "50", "-q", "--fail-if", "brier.low > 1").code == 6


def test_rare_positives_give_a_note_on_undetectable_errors(uqcli, tmp_path):
    random = np.random.default_rng(4)
    score = random.beta(0.3, 300, 20_000)
    rare = pl.DataFrame({"score": score, "label": random.random(20_000) < score})
    rare.write_parquet(tmp_path / "r.parquet")
    notes = uqcli("tce", "r.parquet", "--json").json["notes"]
    assert any("few positives, so the tests miss errors" in note for note in notes)


def test_fractional_weights_are_refused_with_advice(uqcli, tmp_path):
    (tmp_path / "w.csv").write_text("score,label,w\n0.2,0,0.5\n0.7,1,2\n")
    outcome = uqcli("tce", "w.csv", "--weight", "w")
    assert outcome.code == 3
    assert "ece, ace, mce, brier and log_loss" in outcome.err


@pytest.mark.thorough
def test_the_head_of_a_page_is_about_the_class_that_it_names(uqcli, tmp_path):
    sample = Path(__file__).parents[2] / "sample_data" / "digits_proba_new.csv"
    report = uqcli("tce", str(sample), "--proba", "p_*", "--json", "--report", "classes.html").json
    by_class = report["metrics"]["by_class"]
    worst = report["not_calibrated"][0]["class"]
    assert by_class[worst]["calibration_p_adjusted"] == report["metrics"]["calibration_p_adjusted"]
    head = (tmp_path / "classes.html").read_text().split("</header>")[0].split("<header")[1]
    assert f"Class {worst} is not calibrated (p" in head
    assert percent(by_class[worst]["tce"] / 100) in head
    assert "not calibrated" in head


@pytest.mark.parametrize(("rows", "remedy"), [(1, True), (10, True), (30, True), (8000, False)])
def test_too_few_rows_do_not_show_that_nothing_needs_calibration(uqcli, tmp_path, rows, remedy):
    random = np.random.default_rng(0)
    score = random.beta(2, 5, rows)
    label = (random.random(rows) < score).astype(int)
    pl.DataFrame({"score": score, "label": label}).write_csv("rows.csv")
    shown = uqcli("tce", "rows.csv").out.decode()
    assert ("Use more labelled rows" in shown.splitlines()[-1]) == remedy
    assert not (remedy and "the rates of these rows agree with the scores" in shown)
    assert ("No need to calibrate." in shown) != remedy


def test_groups_of_which_none_is_tested_are_no_feature_to_calibrate_with(uqcli, tmp_path):
    rows = "".join(f"0.{5 + i % 5},{int(i % 7 == 0)},{'ab'[i % 2]}\n" for i in range(120))
    (tmp_path / "d.csv").write_text("score,label,g\n" + rows)
    assert uqcli("tce", "d.csv", "--by", "g", "--json").json["worst_group"] is None
    shown = uqcli("tce", "d.csv", "--by", "g").out.decode()
    assert "All rows together are not calibrated" in shown
    assert "Next: uqcli calibrate CALIBRATION.csv -o calibrator.json" in shown
    assert "--features" not in shown


def test_a_size_of_bins_that_nobody_typed_is_said_to_be_chosen(uqcli, tmp_path):
    (tmp_path / "d.csv").write_text("score,label\n" + "".join(f"0.{i},{i % 2}\n" for i in range(1, 10)))
    sizes = {
        (): "n_max 1 is below twice n_min 1 (both were chosen for 9 rows), so",
        ("--n-min", "3"): "n_max 3 is below twice n_min 3 (n_max was chosen for 9 rows), so",
        ("--n-min", "3", "--n-max", "5"): "n_max 5 is below twice n_min 3, so",
    }
    for options, caution in sizes.items():
        assert any(caution in note for note in uqcli("tce", "d.csv", *options, "--json").json["notes"])


def test_the_t_test_of_bins_with_labels_of_one_kind_is_a_caution(uqcli, tmp_path):
    """The variance of such labels is 0, so that the test rejects right scores, too."""
    random = np.random.default_rng(0)
    score = random.beta(0.5, 100, 20_000)
    rare = pl.DataFrame({"score": score, "label": random.random(20_000) < score})
    rare.write_parquet(tmp_path / "r.parquet")
    report = uqcli("tce", "r.parquet", "--test", "t", "--json").json
    bins = [row for row in report["bins"] if row["positives"] == 0]
    share = sum(row["rejected"] for row in bins) / 20_000
    assert share > 0.1
    caution = f"{percent(share)} of scores are in bins whose labels are all alike, where --test t rejects"
    assert any(note.startswith(caution) for note in report["notes"])
    assert "labels are all alike" not in str(uqcli("tce", "r.parquet", "--json").json["notes"])


def test_the_next_command_reads_files_as_this_one_did(uqcli, tmp_path):
    random = np.random.default_rng(1)
    score = random.random(2000)
    label = np.where(random.random(2000) < score**3, "yes", "no")
    pl.DataFrame({"p": score, "y": label}).write_csv(tmp_path / "d.csv", separator=";")
    reading = ("--score", "p", "--label", "y", "--positive", "yes", "--delimiter", ";")
    shown = " ".join(uqcli("tce", "d.csv", *reading).out.decode().split())
    assert f"Next: uqcli calibrate CALIBRATION.csv {join(reading)} -o calibrator.json" in shown


def write_groups(bad=(), rows=400, groups=10, seed=5):
    """Write groups of calibrated scores, but for bad ones whose labels have half a log-odds more."""
    random = np.random.default_rng(seed)
    group = np.repeat(np.arange(groups), rows)
    score = random.beta(1, 5, len(group))
    odds = score / (1 - score) * np.exp(np.where(np.isin(group, bad), 0.7, 0.0))
    label = random.random(len(group)) < odds / (1 + odds)
    frame = pl.DataFrame({"score": score, "label": label, "g": [f"g{index}" for index in group]})
    frame.write_parquet("groups.parquet")
    return frame


def test_the_group_with_the_least_p_value_is_named(uqcli, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    frame = write_groups(bad=[3])
    report = uqcli("tce", "groups.parquet", "--by", "g", "--json").json
    by_group = report["metrics"]["by_group"]
    alone = {name: metrics["calibration_p"] for name, metrics in by_group.items()}
    counts = pool(frame["score"].to_numpy(), frame["label"].to_numpy())
    whole = calibration_p_values({0: counts}, {0: key_of(None)}, 0)[0].p_value  # has much information
    assert report["metrics"]["calibration_p"] == whole
    adjusted = calibrated_parts.holm({**alone, "": whole})
    for name, metrics in by_group.items():
        assert metrics["calibration_p_adjusted"] == pytest.approx(adjusted[name])
    assert report["metrics"]["calibration_p_adjusted"] == pytest.approx(min(adjusted.values()))
    assert report["not_calibrated"] == [{"group": "g3", "class": None}]
    assert report["notes"][0].startswith("Group g3 is not calibrated (p")
    assert "adjusted for 10 groups). " in report["notes"][0]
    assert report["parameters"]["seed"] == 0  # groups are tested by draws
    shown = uqcli("tce", "groups.parquet", "--by", "g").out.decode()
    assert "Calibrate with the group as a feature: --method heterogeneous --features g." in shown


def test_the_largest_share_of_rejected_scores_decides_nothing(uqcli, tmp_path, monkeypatch):
    """Twenty calibrated groups: a fifth of the scores of one are rejected by chance."""
    monkeypatch.chdir(tmp_path)
    write_groups(groups=20, seed=9)
    report = uqcli("tce", "groups.parquet", "--by", "g", "--json").json
    assert report["metrics"]["worst_group"]["tce"] > 20
    assert report["not_calibrated"] == []
    least = report["metrics"]["calibration_p_adjusted"]
    assert least > 0.05
    expected = f"No group is shown to be miscalibrated (least p = {least:.3g}, adjusted for 20 groups)."
    assert report["notes"][0] == expected
    assert uqcli("tce", "groups.parquet", "--by", "g", "-q", "--alpha", "0.5").code == 0
    other = uqcli("tce", "groups.parquet", "--by", "g", "--alpha", "0.5", "--json").json
    assert other["metrics"]["calibration_p_adjusted"] == least  # whatever the level of single scores


def test_classes_of_groups_are_one_family(uqcli, class_rows):
    path, _ = class_rows
    report = uqcli("tce", path, "--proba", "p_*", "--by", "wood", "--json").json
    groups, classes = sorted(report["metrics"]["by_group"]), ["ash", "elm", "oak"]
    named = {(part["group"], part["class"]) for part in report["not_calibrated"]}
    assert named <= {(group, name) for group in (None, *groups) for name in classes}
    assert any(group is None for group, _ in named)
    whole = [report["metrics"]["by_class"][name]["calibration_p"] for name in classes]
    assert report["metrics"]["calibration_p"] == min(whole)
    first = report["not_calibrated"][0]
    assert f"class {first['class']} is not calibrated (p" in report["notes"][0].lower()
    assert "adjusted for 9 classes of groups" in report["notes"][0]


def test_few_rows_are_not_tested(uqcli, tmp_path):
    rows = "".join(f"0.{1 + i % 9},1,{'ab'[i % 2]}\n" for i in range(98))
    (tmp_path / "d.csv").write_text("score,label,g\n" + rows)
    found = uqcli("tce", "d.csv", "--by", "g", "--json").json
    assert [metrics["calibration_p"] for metrics in found["metrics"]["by_group"].values()] == [None, None]
    assert found["not_calibrated"] == [{"group": None, "class": None}]
    (tmp_path / "few.csv").write_text("score,label,g\n" + "".join(rows.splitlines(keepends=True)[:49]))
    few = uqcli("tce", "few.csv", "--json").json
    assert (few["metrics"]["calibration_p"], few["not_calibrated"]) == (None, [])
    assert few["notes"][0] == "Too few rows to test whether the scores are calibrated: 50 are needed."
    assert uqcli("tce", "few.csv", "-q", "--fail-if", "calibration_p < 0.05").code == 6


def test_an_upper_limit_that_the_mean_error_exceeds_is_null(uqcli, tmp_path):
    """Fifteen rows whose scores rank the wrong way."""
    scores = [0.9, 0.92, 0.94, 0.95, 0.97, 0.98, 0.99] + [0.01 * index for index in range(1, 9)]
    labels = [0] * 7 + [1] * 8
    rows = "".join(f"{score},{label}\n" for score, label in zip(scores, labels, strict=True))
    (tmp_path / "d.csv").write_text("score,label\n" + rows)
    found = uqcli("tce", "d.csv", "--json").json
    band = calibration_band(pool(np.array(scores), np.array(labels) == 1), 0.95)
    assert band.within is None or band.within < found["metrics"]["ece"]
    assert (found["within"], found["metrics"]["within"]) == (None, None)


@pytest.mark.thorough
def test_the_page_shows_all_rows_and_the_three_groups_that_deviate_most(uqcli, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    write_groups(bad=[3], groups=6)
    assert uqcli("tce", "groups.parquet", "--by", "g", "-q", "--report", "page.html").code == 0
    panels = re.findall(r"(All rows|g = g\d): [\d.]+ % of scores", (tmp_path / "page.html").read_text())
    assert len(set(panels)) == 4
    assert {"All rows", "g = g3"} <= set(panels)
