"""Tests of ``uqcli calibrate --proba``: class probabilities before and after calibration."""

import json

import numpy as np
import polars as pl
import pytest

from tests.calibrate.test_classes import draw_rows

NAMES = ("cat", "dog", "emu")


@pytest.fixture
def rows(tmp_path):
    probability, label, weight = draw_rows(11, 3000, 3, power=2.0)
    frame = pl.DataFrame(
        {
            **{f"p_{name}": probability[:, index] for index, name in enumerate(NAMES)},
            "label": np.array(NAMES)[label],
            "weight": weight,
        }
    )
    frame.write_csv(tmp_path / "rows.csv")
    frame.write_parquet(tmp_path / "rows.parquet")
    frame[::-1].write_parquet(tmp_path / "turned.parquet")
    return tmp_path


def calibrate(uqcli, rows, name, *options):
    return uqcli("calibrate", rows / name, "--proba", "p_*", *options)


@pytest.mark.thorough
def test_underconfident_class_probabilities_are_sharpened(uqcli, rows):
    outcome = calibrate(uqcli, rows, "rows.csv", "--json", "-o", rows / "c.json")
    metrics, content = outcome.json["metrics"], json.loads((rows / "c.json").read_text())
    assert (outcome.code, content["method"], content["classes"]) == (0, "temperature", list(NAMES))
    assert content["calibration"]["slope"] == pytest.approx(2, rel=0.1)
    assert metrics["difference"]["brier"]["high"] < 0
    assert set(metrics["after"]) == {"log_loss", "brier", "ece", "ace", "tce"}
    assert any("helped" in note for note in outcome.json["notes"])


@pytest.mark.thorough
def test_format_and_order_of_rows_change_no_byte(uqcli, rows):
    contents = []
    for name in ("rows.csv", "rows.parquet", "turned.parquet"):
        assert calibrate(uqcli, rows, name, "--weight", "weight", "-q", "-o", rows / "c.json").code == 0
        contents.append((rows / "c.json").read_bytes())
    assert contents[0] == contents[1] == contents[2]


@pytest.mark.thorough
def test_apply_adds_a_column_per_class_and_evaluate_measures_it(uqcli, rows):
    assert calibrate(uqcli, rows, "rows.csv", "-q", "-o", rows / "c.json").code == 0
    assert uqcli("apply", rows / "c.json", rows / "rows.csv", "-q", "-o", rows / "out.parquet").code == 0
    out = pl.read_parquet(rows / "out.parquet")
    added = out.select(f"calibrated_{name}" for name in NAMES).to_numpy()
    assert added.sum(axis=1) == pytest.approx(1)
    outcome = uqcli("evaluate", rows / "c.json", rows / "rows.csv", "--json")
    label_probability = added[np.arange(len(out)), [NAMES.index(name) for name in out["label"]]]
    assert outcome.json["metrics"]["after"]["log_loss"] == pytest.approx(-np.log(label_probability).mean())
    renamed = out.rename({f"p_{name}": f"q_{name}" for name in NAMES})
    renamed.write_parquet(rows / "renamed.parquet")
    line = ("--proba", "q_*", "--json")
    assert uqcli("evaluate", rows / "c.json", rows / "renamed.parquet", *line).code == 0


@pytest.mark.thorough
def test_two_calibrators_of_classes_are_compared_on_the_same_rows(uqcli, rows):
    for name, options in (("a", ()), ("b", ("--weight", "weight"))):
        assert calibrate(uqcli, rows, "rows.csv", *options, "-q", "-o", rows / f"{name}.json").code == 0
    outcome = uqcli("evaluate", rows / "a.json", rows / "b.json", rows / "rows.csv", "--json", "--no-weight")
    assert outcome.code == 0
    assert set(outcome.json["metrics"]["difference"]) >= {"log_loss", "brier"}


@pytest.mark.thorough
def test_class_weights_correct_the_probabilities(uqcli, rows):
    prior = ("--estimator", "known", "--prior", "0.2,0.3,0.5")
    shift = ("shift", rows / "rows.csv", "--proba", "p_*", *prior, "-q", "-o", rows / "shift.json")
    assert uqcli(*shift).code == 0
    assert calibrate(uqcli, rows, "rows.csv", "-q", "-o", rows / "c.json").code == 0
    options = ("--shift", rows / "shift.json", "-q", "-o", rows / "s.json")
    assert calibrate(uqcli, rows, "rows.csv", *options).code == 0
    weights = json.loads((rows / "shift.json").read_text())["weights"]
    probabilities = []
    for name in ("c", "s"):
        output = rows / f"{name}.parquet"
        assert uqcli("apply", rows / f"{name}.json", rows / "rows.csv", "-q", "-o", output).code == 0
        probabilities.append(
            pl.read_parquet(output).select(f"calibrated_{class_name}" for class_name in NAMES).to_numpy()
        )
    expected = probabilities[0] * weights
    assert probabilities[1] == pytest.approx(expected / expected.sum(axis=1, keepdims=True))


@pytest.mark.parametrize(
    ("options", "message"),
    [
        (("--method", "platt"), "class probabilities with method platt"),
        (("--method", "mist"), "class probabilities with method mist"),
        (("--logit",), "--logit or --undersampled beside --proba"),
        (("--undersampled", "3"), "--logit or --undersampled beside --proba"),
        (("--positive", "cat"), "--positive"),
        (("--score", "p_cat"), "--score"),
    ],
)
def test_options_of_binary_scores_are_refused(uqcli, rows, options, message):
    outcome = calibrate(uqcli, rows, "rows.csv", *options)
    assert outcome.code == 2
    assert message in outcome.err


@pytest.mark.thorough
def test_contradictory_rule_files_are_refused(uqcli, rows):
    assert calibrate(uqcli, rows, "rows.csv", "-q", "-o", rows / "c.json").code == 0
    content = json.loads((rows / "c.json").read_text())
    for change in (
        {"classes": ["cat", "dog"], "weights": [1, 1, 1]},
        {"classes": ["cat", "cat", "emu"]},
        {"calibration": {"map": "logistic", "intercept": 0.0, "slope": 1.0}},
        {"calibration": {"map": "class-temperature", "slope": -1.0}},
    ):
        broken = {name: value for name, value in (content | change).items() if name != "digest"}
        (rows / "broken.json").write_text(json.dumps(broken))
        assert uqcli("apply", rows / "broken.json", rows / "rows.csv", "-o", rows / "o.csv").code == 5


@pytest.mark.thorough
def test_the_test_set_is_read_by_the_same_columns(uqcli, rows):
    frame = pl.read_parquet(rows / "rows.parquet")
    frame.select(*reversed(frame.columns), p_fox=pl.lit(0.0)).write_parquet(rows / "more.parquet")
    first = calibrate(uqcli, rows, "rows.csv", "--test", rows / "rows.parquet", "--json")
    second = calibrate(uqcli, rows, "rows.csv", "--test", rows / "more.parquet", "--json")
    assert (first.code, second.json["metrics"]) == (0, first.json["metrics"])
    frame.drop("p_emu").write_parquet(rows / "fewer.parquet")
    missing = calibrate(uqcli, rows, "rows.csv", "--test", rows / "fewer.parquet")
    assert missing.code == 3
    assert "no column 'p_emu'" in missing.err


METHODS = ["temperature", "vector", "matrix", "isotonic", "venn-abers", "histogram"]


def fitted(uqcli, rows, *options, name="rows.csv"):
    outcome = calibrate(uqcli, rows, name, *options, "-q", "-o", rows / "c.json")
    assert outcome.code == 0, outcome.err
    return json.loads((rows / "c.json").read_text())


def applied(uqcli, rows, name="out.parquet"):
    assert uqcli("apply", rows / "c.json", rows / "rows.csv", "-q", "-o", rows / name).code == 0
    return pl.read_parquet(rows / name)


@pytest.mark.covering("thorough", every=3)
@pytest.mark.parametrize("method", METHODS)
def test_every_method_is_fitted_alike_from_any_file_applied_and_measured(uqcli, rows, method):
    contents = [
        fitted(uqcli, rows, "--method", method, "--weight", "weight", name=name)
        for name in ("rows.csv", "turned.parquet")
    ]
    assert contents[0] == contents[1]
    assert contents[0]["method"] == method
    out = applied(uqcli, rows)
    added = out.select(f"calibrated_{name}" for name in NAMES).to_numpy()
    assert added.sum(axis=1) == pytest.approx(1)
    has_intervals = method == "venn-abers"
    assert ("low_cat" in out.columns, "high_emu" in out.columns) == (has_intervals, has_intervals)
    if has_intervals:
        low, high = (out.select(f"{end}_{name}" for name in NAMES).to_numpy() for end in ("low", "high"))
        assert (low < high).all()
    outcome = uqcli("evaluate", rows / "c.json", rows / "rows.csv", "--json", "--no-weight")
    probability = added[np.arange(len(out)), [NAMES.index(name) for name in out["label"]]]
    expected = -np.log(np.maximum(probability, 1e-15)).mean()
    assert outcome.json["metrics"]["after"]["log_loss"] == pytest.approx(expected)
    shown = uqcli("show", rows / "c.json")
    assert shown.code == 0
    assert method == "temperature" or "cat" in shown.out.decode()


@pytest.mark.covering("thorough", every=6)
@pytest.mark.parametrize("method", METHODS)
@pytest.mark.parametrize("shifted", [False, True])
def test_every_method_is_exported_and_gives_the_same_numbers(uqcli, rows, method, shifted):
    options = ()
    if shifted:
        prior = ("--estimator", "known", "--prior", "0.2,0.3,0.5")
        shift = ("shift", rows / "rows.csv", "--proba", "p_*", *prior, "-q", "-o", rows / "s.json")
        assert uqcli(*shift).code == 0
        options = ("--shift", rows / "s.json")
    fitted(uqcli, rows, "--method", method, *options)
    for target in ("sql", "python") if method != "venn-abers" else ("python",):  # too long for SQL
        line = ("export", rows / "c.json", "--to", target, "--check", rows / "rows.parquet")
        assert uqcli(*line, "-o", rows / "program").code == 0


def test_class_weights_move_the_intervals_with_the_probabilities(uqcli, rows):
    prior = ("--estimator", "known", "--prior", "0.2,0.3,0.5")
    shift = ("shift", rows / "rows.csv", "--proba", "p_*", *prior, "-q", "-o", rows / "s.json")
    assert uqcli(*shift).code == 0
    fitted(uqcli, rows, "--method", "venn-abers")
    before = applied(uqcli, rows)
    fitted(uqcli, rows, "--method", "venn-abers", "--shift", rows / "s.json")
    after = applied(uqcli, rows)
    weights = dict(zip(NAMES, json.loads((rows / "s.json").read_text())["weights"], strict=True))
    for name in NAMES:
        others = [other for other in NAMES if other != name]
        rest = sum(weights[other] * before[f"calibrated_{other}"] for other in others)
        rest /= sum(before[f"calibrated_{other}"] for other in others)
        for end in ("low", "high"):
            share = before[f"{end}_{name}"]
            expected = weights[name] * share / (weights[name] * share + rest * (1 - share))
            assert after[f"{end}_{name}"].to_list() == pytest.approx(expected.to_list())


@pytest.mark.thorough
def test_all_methods_are_ranked_and_the_best_is_saved(uqcli, rows):
    outcome = calibrate(uqcli, rows, "rows.csv", "--method", "all", "--json", "-o", rows / "all.json")
    losses = [result["metrics"]["after"]["log_loss"] for result in outcome.json["results"]]
    values = [loss["value"] if isinstance(loss, dict) else loss for loss in losses]
    assert values == sorted(values)
    assert {result["method"] for result in outcome.json["results"]} == set(METHODS)
    best = outcome.json["results"][0]["method"]
    fitted(uqcli, rows, "--method", best)
    assert (rows / "all.json").read_bytes() == (rows / "c.json").read_bytes()


def test_auto_takes_the_simplest_map_that_fits(uqcli, rows):
    outcome = calibrate(uqcli, rows, "rows.csv", "--json")
    choice = {tried["method"]: tried for tried in outcome.json["choice"]}
    assert list(choice) == ["temperature", "vector", "matrix", "isotonic"]
    assert outcome.json["parameters"]["method"] == "temperature"
    assert choice["temperature"]["excess"] <= choice["temperature"]["error"]
    assert any(note.startswith("Chose temperature") for note in outcome.json["notes"])


@pytest.mark.thorough
def test_auto_takes_a_richer_map_where_classes_need_their_own(uqcli, rows):
    frame = pl.read_parquet(rows / "rows.parquet")
    swapped = frame.with_columns(pl.col("label").replace({"emu": "dog"}))
    swapped.with_columns(p_emu=pl.col("p_emu")).write_parquet(rows / "swapped.parquet")
    outcome = calibrate(uqcli, rows, "swapped.parquet", "--json")
    assert outcome.json["parameters"]["method"] in {"vector", "matrix"}


def test_matrix_scaling_needs_more_rows_than_coefficients(uqcli, rows):
    pl.read_parquet(rows / "rows.parquet")[:11].write_parquet(rows / "few.parquet")
    outcome = calibrate(uqcli, rows, "few.parquet", "--method", "matrix")
    assert outcome.code == 2
    assert "needs 12 rows for 3 classes" in outcome.err
    ranked = calibrate(uqcli, rows, "few.parquet", "--method", "all", "--json").json["results"]
    assert {result["method"] for result in ranked if result["metrics"] is None} == {"matrix"}


@pytest.mark.thorough
def test_folds_keep_clusters_together(uqcli, rows):
    frame = pl.read_parquet(rows / "rows.parquet").with_columns(who=pl.int_range(pl.len()) // 10)
    frame.write_parquet(rows / "clusters.parquet")
    outcome = calibrate(uqcli, rows, "clusters.parquet", "--cluster", "who", "--method", "all", "--json")
    assert outcome.json["metrics"]["clusters"] == 300
    results = outcome.json["results"]
    assert {result["method"] for result in results if result["metrics"] is None} == {"histogram"}


@pytest.mark.parametrize("method", ["vector", "matrix"])
def test_linear_scaling_is_for_classes(uqcli, rows, method):
    outcome = uqcli(
        "calibrate", rows / "rows.csv", "--score", "p_cat", "--positive", "cat", "--method", method
    )
    assert outcome.code == 2
    assert f"method {method} without --proba" in outcome.err


@pytest.mark.covering("thorough", every=3)
@pytest.mark.parametrize("method", METHODS)
def test_maps_of_other_classes_or_methods_are_refused(uqcli, rows, method):
    content = fitted(uqcli, rows, "--method", method)
    other = "vector" if method != "vector" else "isotonic"
    for change in ({"method": other}, {"classes": ["cat", "dog"]}):
        if method == "temperature" and "classes" in change:
            continue
        broken = {name: value for name, value in (content | change).items() if name != "digest"}
        (rows / "broken.json").write_text(json.dumps(broken))
        assert uqcli("apply", rows / "broken.json", rows / "rows.csv", "-o", rows / "o.csv").code == 5


@pytest.mark.thorough
def test_each_class_is_measured_before_and_after(uqcli, rows):
    outcome = calibrate(
        uqcli, rows, "rows.csv", "--test", rows / "rows.parquet", "--json", "-o", rows / "c.json"
    )
    by_class = {part["class"]: part for part in outcome.json["by_class"]}
    assert list(by_class) == list(NAMES)
    for side in ("before", "after"):
        mean = np.mean([part[side]["ece"] for part in by_class.values()])
        assert outcome.json["metrics"][side]["ece"] == pytest.approx(mean)
    after = applied(uqcli, rows)
    error = after["calibrated_dog"] - (after["label"] == "dog").cast(float)
    assert by_class["dog"]["after"]["brier"] == pytest.approx((error**2).mean())
    shown = calibrate(uqcli, rows, "rows.csv", "--verbose").out.decode()
    assert "Each class against the rest, before and after" in shown


def test_a_class_without_rows_is_a_caution(uqcli, rows):
    cats_and_dogs = pl.read_csv(rows / "rows.csv").filter(pl.col("label") != "emu")
    cats_and_dogs.write_csv(rows / "two.csv")
    for name, absent in (("two.csv", True), ("rows.csv", False)):
        shown = calibrate(uqcli, rows, name, "--method", "temperature", "-o", rows / "c.json")
        assert shown.code == 0
        for outcome in (shown, uqcli("show", rows / "c.json")):
            assert ("o row has the label 'emu'" in " ".join(outcome.out.decode().split())) == absent
