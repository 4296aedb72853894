"""``uqcli tce``: what the report says of a file."""

import numpy as np
import polars as pl
import pytest

from uqcli.counts import pool
from uqcli.jobs.measure import MeasureOptions, measure


def test_the_command_equals_the_library(uqcli, data, frame):
    report = uqcli("tce", data, "--alpha", "0.1", "--bins", "quantile", "--n-bins", "7", "--json").json
    options = MeasureOptions(alpha=0.1, binning="quantile", n_bins=7)
    found = measure(pool(frame["score"].to_numpy(), frame["label"].to_numpy() == 1), options)
    assert report["metrics"] == found.metrics
    assert [each["rejected"] for each in report["bins"]] == found.rejected.rows.tolist()
    assert sum(each["count"] for each in report["bins"]) == 400


def test_bins_begin_at_zero_end_at_one_and_may_be_empty(uqcli, tmp_path):
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


def test_plain_words(uqcli, tmp_path):
    random = np.random.default_rng(3)
    score = random.random(20_000)
    for name, truth, said in (
        ("good", score, "deviate significantly"),
        ("high", score**2, "too high"),
        ("low", np.sqrt(score), "too low"),
    ):
        label = random.random(20_000) < truth
        pl.DataFrame({"score": score, "label": label}).write_parquet(tmp_path / f"{name}.parquet")
        report = uqcli("tce", f"{name}.parquet", "--alpha", "1e-6", "--json").json
        assert said in report["notes"][0]
    assert uqcli("tce", "high.parquet", "-q", "--fail-if", "tce > 20").code == 6
    assert uqcli("tce", "good.parquet", "-q", "--alpha", "1e-6", "--fail-if", "tce > 20").code == 0


def test_weights_are_repeated_rows(uqcli, tmp_path):
    (tmp_path / "w.csv").write_text("score,label,w\n0.2,0,3\n0.7,1,2\n0.9,0,0\n")
    (tmp_path / "r.csv").write_text("score,label\n0.2,0\n0.2,0\n0.2,0\n0.7,1\n0.7,1\n")
    weighted = uqcli("tce", "w.csv", "--weight", "w", "--json").json
    assert weighted["metrics"] == uqcli("tce", "r.csv", "--json").json["metrics"]


@pytest.fixture
def flowers(tmp_path):
    """Three classes, probabilities and labels as text."""
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
    path = tmp_path / "flowers.parquet"
    frame.write_parquet(path)
    return path, frame


def classwise(frame, classes):
    options = MeasureOptions()
    return [
        measure(pool(frame[f"p_{name}"].to_numpy(), frame["label"].to_numpy() == name), options)
        for name in classes
    ]


def test_classes_are_measured_one_against_the_rest(uqcli, flowers):
    path, frame = flowers
    report = uqcli("tce", path, "--proba", "p_*", "--json").json
    names = ["ash", "elm", "oak"]  # what * matched, sorted
    assert report["parameters"]["classes"] == names
    expected = classwise(frame, names)
    for name, found in zip(names, expected, strict=True):
        assert report["metrics"]["by_class"][name] == found.metrics
    for metric in ("tce", "ece", "log_loss"):
        mean = np.mean([found.metrics[metric] for found in expected])
        assert report["metrics"][metric] == pytest.approx(mean)
    assert {each["class"] for each in report["bins"]} == set(names)
    assert report["source"]["positives"] is None


def test_the_text_lists_the_worst_class_first(uqcli, flowers):
    path, frame = flowers
    names = ["ash", "elm", "oak"]
    errors = {name: found.metrics["tce"] for name, found in zip(names, classwise(frame, names), strict=True)}
    shown = uqcli("tce", path, "--proba", "p_*").out.decode()
    table = shown[shown.index("Classes") :]
    at = [table.index(f" {name} ") for name in sorted(names, key=lambda name: -errors[name])]
    assert at == sorted(at)


def test_listed_columns_keep_their_order_and_take_names(uqcli, flowers):
    path, frame = flowers
    listed = ("--proba", "p_oak,p_ash,p_elm", "--classes", "oak,ash,elm")
    report = uqcli("tce", path, *listed, "--json").json
    assert list(report["metrics"]["by_class"]) == ["oak", "ash", "elm"]
    assert report["metrics"]["by_class"]["oak"] == classwise(frame, ["oak"])[0].metrics


@pytest.mark.parametrize(
    ("arguments", "code", "said"),
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
def test_unusable_classes(uqcli, flowers, arguments, code, said):
    outcome = uqcli("tce", flowers[0], *arguments)
    assert outcome.code == code
    assert said in outcome.err


def test_class_probabilities_add_up_to_one(uqcli, tmp_path):
    (tmp_path / "d.csv").write_text("p_0,p_1,label\n0.5,0.5,1\n0.25,0.7,0\n")
    outcome = uqcli("tce", "d.csv", "--proba", "p_*")
    assert outcome.code == 3
    assert "0.95" in outcome.err
    assert "data row 2" in outcome.err
    (tmp_path / "e.csv").write_text("p_0,p_1,label\n0.5,0.5,1\n0.25,0.7504,0\n")
    assert "within 0.0004" in uqcli("tce", "e.csv", "--proba", "p_*").out.decode()


def test_integer_classes_sort_as_numbers(uqcli, tmp_path):
    (tmp_path / "d.csv").write_text("p_10,p_9,p_2,label\n0.5,0.25,0.25,10\n0.25,0.5,0.25,9.0\n")
    report = uqcli("tce", "d.csv", "--proba", "p_*", "--json").json
    assert report["parameters"]["classes"] == ["2", "9", "10"]


def test_groups_equal_their_own_files(uqcli, flowers, tmp_path, frame):
    two = frame.with_columns(
        pl.when(pl.col("uncertainty") > 0).then(pl.lit("b")).otherwise(pl.lit("a")).alias("g")
    )
    two.write_csv(tmp_path / "all.csv")
    report = uqcli("tce", "all.csv", "--by", "g", "--json").json
    for name in ("a", "b"):
        two.filter(pl.col("g") == name).write_csv(tmp_path / "one.csv")
        alone = uqcli("tce", "one.csv", "--json").json
        assert report["metrics"]["by_group"][name] == alone["metrics"]
        group = next(each for each in report["groups"] if each["group"] == name)
        assert group["bins"] == alone["bins"]
        assert group["rows"] == alone["source"]["rows"]
    worst = max(report["metrics"]["by_group"].items(), key=lambda item: item[1]["tce"])
    assert (report["worst_group"], report["metrics"]["worst_group"]) == worst
    assert report["metrics"]["tce"] == uqcli("tce", "all.csv", "--json").json["metrics"]["tce"]
    assert uqcli("tce", "all.csv", "--by", "g", "-q", "--fail-if", "worst_group.tce >= 0").code == 6
    assert uqcli("tce", flowers[0], "--proba", "p_*", "--by", "wood").code == 0


def test_a_group_smaller_than_n_min_is_one_bin(uqcli, tmp_path):
    rows = "".join(f"0.{i % 10},{i % 2},{'rare' if i < 3 else 'common'}\n" for i in range(60))
    (tmp_path / "d.csv").write_text("score,label,g\n" + rows)
    report = uqcli("tce", "d.csv", "--by", "g", "--n-min", "20", "--n-max", "40", "--json").json
    rare = next(each for each in report["groups"] if each["group"] == "rare")
    assert [each["count"] for each in rare["bins"]] == [3]


def test_intervals_hold_the_value_and_depend_on_seed_and_row_alone(uqcli, data, frame, tmp_path):
    asked = ("--bootstrap", "30", "--json")
    outcome = uqcli("tce", data, *asked)
    for metric in outcome.json["metrics"].values():
        assert metric["low"] <= metric["value"] <= metric["high"]
    assert outcome.json["metrics"]["brier"]["low"] < outcome.json["metrics"]["brier"]["high"]
    frame[:150].write_csv(tmp_path / "1.csv")
    frame[150:].write_parquet(tmp_path / "2.parquet")
    assert uqcli("tce", "1.csv", "2.parquet", *asked).out == outcome.out
    assert uqcli("tce", data, *asked, "--seed", "1").json["metrics"] != outcome.json["metrics"]
    wide, narrow = (
        uqcli("tce", data, *asked, "--confidence", level).json["metrics"]["log_loss"]
        for level in ("0.99", "0.5")
    )
    assert wide["low"] < narrow["low"] < narrow["high"] < wide["high"]
    assert uqcli("tce", data, "-q", "--bootstrap", "30", "--fail-if", "brier.low > 0").code == 6


def test_fractional_weights_are_refused_with_what_still_works(uqcli, tmp_path):
    (tmp_path / "w.csv").write_text("score,label,w\n0.2,0,0.5\n0.7,1,2\n")
    outcome = uqcli("tce", "w.csv", "--weight", "w")
    assert outcome.code == 3
    assert "ece, ace, mce, brier and log_loss" in outcome.err
