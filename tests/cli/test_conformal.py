"""Tests of ``uqcli conformal`` and ``uqcli shift``, and of their rule files in apply, evaluate and show."""

import json

import numpy as np
import polars as pl
import pytest

CLASSES = ("ash", "elm", "oak", "yew")


def frame(rows=800, seed=1, prior=(0.4, 0.3, 0.2, 0.1)):
    random = np.random.default_rng(seed)
    label = random.choice(4, rows, p=prior)
    x = random.normal(np.eye(4)[label] * 2, 1.0)
    joint = np.exp(2 * x - 2) * (0.4, 0.3, 0.2, 0.1)  # calibrated under the default prior
    probability = (joint / joint.sum(axis=1, keepdims=True)).round(6)
    probability[:, 0] = (1 - probability[:, 1:].sum(axis=1)).clip(0, 1)
    return pl.DataFrame(
        {
            "id": [f"{number:04d}" for number in range(rows)],
            **{f"p_{name}": probability[:, index] for index, name in enumerate(CLASSES)},
            "label": [CLASSES[class_number] for class_number in label],
            "site": random.choice(["north", "south"], rows),
        }
    )


@pytest.fixture
def folder(tmp_path):
    frame().write_parquet(tmp_path / "cal.parquet")
    frame(seed=2).write_csv(tmp_path / "new.csv")
    frame(seed=2).write_parquet(tmp_path / "new.parquet")
    shifted = frame(seed=3, prior=(0.1, 0.2, 0.3, 0.4))
    shifted.drop("label").write_csv(tmp_path / "target.csv")
    shifted.write_csv(tmp_path / "target_labelled.csv")
    return tmp_path


PROBA = ("--proba", "p_*")


def fit_sets(uqcli, *arguments, name="c.json"):
    outcome = uqcli("conformal", "cal.parquet", *PROBA, *arguments, "-q", "-o", name)
    assert (outcome.code, outcome.err) == (0, "")


@pytest.mark.parametrize("method", ["aps", "lac"])
def test_prediction_sets_are_equal_for_every_format_and_split(uqcli, folder, method):
    fit_sets(uqcli, "--method", method)
    frame(seed=2)[:333].write_csv(folder / "1.csv")
    frame(seed=2)[333:].write_csv(folder / "2.csv")
    inputs_by_name = {"csv": ("new.csv",), "parquet": ("new.parquet",), "split": ("1.csv", "2.csv")}
    for name, inputs in inputs_by_name.items():
        assert uqcli("apply", "c.json", *inputs, "-o", f"{name}_out.csv", "-q").code == 0
        assert uqcli("apply", "c.json", *inputs, "-o", f"{name}_out.parquet", "-q").code == 0
    expected_rows = pl.read_csv(folder / "csv_out.csv")
    flags = [f"in_{name}" for name in CLASSES]
    for name in inputs_by_name:
        assert pl.read_csv(folder / f"{name}_out.csv")[[*flags, "set_size"]].equals(
            expected_rows[[*flags, "set_size"]]
        )
        listed = pl.read_parquet(folder / f"{name}_out.parquet")
        for row in range(0, 800, 37):
            expected = [class_name for class_name in CLASSES if expected_rows[f"in_{class_name}"][row]]
            assert listed["set"][row].to_list() == expected
            assert listed["set_size"][row] == len(expected)


def test_evaluate_counts_what_apply_writes(uqcli, folder):
    fit_sets(uqcli, "--alpha", "0.2")
    uqcli("apply", "c.json", "new.parquet", "-o", "sets.parquet", "-q")
    sets = pl.read_parquet(folder / "sets.parquet")
    covered = sets.select(pl.col("set").list.contains(pl.col("label"))).to_series()
    report = uqcli("evaluate", "c.json", "new.csv", "--json").json["metrics"]
    assert report["coverage"]["value"] == pytest.approx(covered.mean())
    assert report["mean_set_size"] == pytest.approx(sets["set_size"].mean())
    for name in CLASSES:
        has_class = (sets["label"] == name).to_numpy()
        assert report["coverage_by_class"][name]["value"] == pytest.approx(
            covered.to_numpy()[has_class].mean()
        )
    assert sum(report["set_sizes"].values()) == 800
    assert uqcli("evaluate", "c.json", "new.csv", "-q", "--fail-if", "coverage.high < 0.8").code == 0
    for ending in ("png", "svg"):
        assert uqcli("evaluate", "c.json", "new.csv", "-q", "--plot", f"f.{ending}").code == 0


def test_no_empty_adds_the_likeliest_class(uqcli, folder):
    fit_sets(uqcli, "--method", "lac", "--alpha", "0.5")
    uqcli("apply", "c.json", "new.parquet", "-o", "a.parquet", "-q")
    uqcli("apply", "c.json", "new.parquet", "-o", "b.parquet", "-q", "--no-empty")
    with_empty, without_empty = pl.read_parquet(folder / "a.parquet"), pl.read_parquet(folder / "b.parquet")
    empty = with_empty["set_size"] == 0
    assert empty.any()
    assert without_empty.filter(~empty)["set"].to_list() == with_empty.filter(~empty)["set"].to_list()
    probability = without_empty.filter(empty).select([f"p_{name}" for name in CLASSES]).to_numpy()
    likeliest = [[CLASSES[class_number]] for class_number in probability.argmax(axis=1)]
    assert without_empty.filter(empty)["set"].to_list() == likeliest


def test_each_group_has_its_thresholds(uqcli, folder):
    fit_sets(uqcli, "--by", "site")
    content = json.loads((folder / "c.json").read_text())
    assert content["groups"]["names"] == ["north", "south"]
    for index, name in enumerate(("north", "south")):
        # random draws depend on the row number, so the test uses none
        frame().filter(pl.col("site") == name).write_parquet(folder / "part.parquet")
        uqcli("conformal", "part.parquet", *PROBA, "--no-randomize", "-q", "-o", "part.json")
        uqcli("conformal", "cal.parquet", *PROBA, "--no-randomize", "--by", "site", "-q", "-o", "all.json")
        group_rule, grouped_rule = (
            json.loads((folder / file).read_text()) for file in ("part.json", "all.json")
        )
        assert grouped_rule["groups"]["thresholds"][index] == group_rule["thresholds"]
    (folder / "odd.csv").write_text(
        "p_ash,p_elm,p_oak,p_yew,site\n0.7,0.1,0.1,0.1,west\n0.7,0.1,0.1,0.1,\n0.7,0.1,0.1,0.1,north\n"
    )
    assert uqcli("apply", "c.json", "odd.csv").code == 0
    report = uqcli("evaluate", "c.json", "new.csv", "--json").json
    assert set(report["metrics"]["coverage_by_group"]) == {"north", "south", "(other)"}
    assert report["metrics"]["coverage_by_group"]["(other)"] == {"value": None, "low": 0.0, "high": 1.0}


def test_alpha_can_differ_by_class(uqcli, folder):
    fit_sets(uqcli, "--mode", "label-conditional", "--alpha-by-class", "oak=0.5,yew=0.001")
    content = json.loads((folder / "c.json").read_text())
    fit_sets(uqcli, "--mode", "label-conditional", name="d.json")
    default = json.loads((folder / "d.json").read_text())
    assert content["thresholds"][:2] == default["thresholds"][:2]
    assert content["thresholds"][2] < default["thresholds"][2]
    assert content["thresholds"][3] == 2.0  # every label


def test_one_score_counts_as_two_classes(uqcli, data, tmp_path):
    assert uqcli("conformal", data, "-q", "-o", "c.json").code == 0
    content = json.loads((tmp_path / "c.json").read_text())
    assert content["classes"] == ["0", "1"]
    assert uqcli("apply", "c.json", data, "-o", "a.csv", "-q").code == 0
    report = uqcli("evaluate", "c.json", data, "--json").json
    assert report["metrics"]["coverage"]["value"] > 0.85
    (tmp_path / "bad.csv").write_text("score,label\n1.5,1\n")
    assert uqcli("conformal", "bad.csv").code == 3


def test_shift_estimates_the_target_priors_and_corrects_the_sets(uqcli, folder):
    for estimator in ("bbse", "em"):
        outcome = uqcli(
            "shift",
            "cal.parquet",
            "--target",
            "target.csv",
            *PROBA,
            "--estimator",
            estimator,
            "-o",
            "s.json",
            "-q",
        )
        assert outcome.code == 0, outcome.err
        content = json.loads((folder / "s.json").read_text())
        np.testing.assert_allclose(content["target_prior"], [0.1, 0.2, 0.3, 0.4], atol=0.08)
        assert all(
            low <= w <= high for w, (low, high) in zip(content["weights"], content["interval"], strict=True)
        )
        assert content["shift_p"] < 1e-6
    fit_sets(uqcli, "--mode", "label-shift", "--shift", "s.json", name="ls.json")
    fit_sets(uqcli, "--mode", "label-shift", "--target", "target.csv", name="lt.json")
    fit_sets(uqcli, name="plain.json")
    report = uqcli("evaluate", "plain.json", "ls.json", "lt.json", "target_labelled.csv", "--json").json
    coverage = [result["metrics"]["coverage"]["value"] for result in report["results"]]
    assert coverage[0] < min(coverage[1:])
    corrected = uqcli("evaluate", "ls.json", "new.csv", "--shift", "s.json", "--json").json["metrics"]
    target_coverage = corrected["target"]["coverage"]
    assert target_coverage["value"] == pytest.approx(coverage[1], abs=0.06)
    assert target_coverage["low"] < target_coverage["value"] < target_coverage["high"]
    assert uqcli("show", "ls.json").code == uqcli("show", "s.json").code == 0
    check = ("--fail-if", "shift_p < 0.01")
    assert uqcli("shift", "cal.parquet", "--target", "target.csv", *PROBA, "-q", *check).code == 6
    assert uqcli("shift", "cal.parquet", "--target", "new.csv", *PROBA, "-q", *check).code == 0


@pytest.mark.thorough
def test_shift_is_equal_for_every_order_and_split(uqcli, folder):
    options = (*PROBA, "--bootstrap", "0", "--json")
    for estimator_options in (("--confusion", "soft"), ("--estimator", "em"), ()):
        expected = uqcli("shift", "cal.parquet", "--target", "target.csv", *options, *estimator_options)
        order = np.random.default_rng(0).permutation(800)
        frame()[order].write_csv(folder / "mixed.csv")
        shuffled = pl.read_csv(folder / "target.csv")[order]
        shuffled[:100].write_parquet(folder / "t1.parquet")
        shuffled[100:].write_csv(folder / "t2.csv")
        reordered = uqcli(
            "shift", "mixed.csv", "--target", "t1.parquet", "--target", "t2.csv", *options, *estimator_options
        )
        assert expected.out == reordered.out
        assert expected.code == 0


def test_an_infeasible_estimate_writes_no_rule_file(uqcli, folder):
    frame().filter(pl.col("label") != "yew").write_csv(folder / "three.csv")
    (folder / "s.json").write_text("old")
    outcome = uqcli("shift", "three.csv", "--target", "target.csv", *PROBA, "-o", "s.json")
    assert outcome.code == 4
    assert "class 'yew'" in outcome.err
    assert (folder / "s.json").read_text() == "old"
    assert (
        uqcli("conformal", "three.csv", *PROBA, "--mode", "label-shift", "--target", "target.csv").code == 4
    )


def test_known_priors_can_be_zero(uqcli, folder):
    prior = ("--estimator", "known", "--prior", "0.5,0.5,0,0")
    assert uqcli("shift", "cal.parquet", *PROBA, *prior, "-q", "-o", "s.json").code == 0
    content = json.loads((folder / "s.json").read_text())
    assert content["weights"][2:] == [0.0, 0.0]
    assert content["target_prior"] == pytest.approx([0.5, 0.5, 0, 0])
    fit_sets(uqcli, "--mode", "label-shift", "--shift", "s.json")
    assert uqcli("apply", "c.json", "new.csv", "-q").code == 0


@pytest.mark.thorough
def test_float32_probabilities_with_ties_and_many_classes_are_accepted(uqcli, tmp_path):
    random = np.random.default_rng(6)
    joint = random.integers(0, 3, (200, 400)) + (np.arange(400) == 0)
    probability = (joint / joint.sum(axis=1, keepdims=True)).astype(np.float32)
    label = [random.choice(400, p=row.astype(float) / row.astype(float).sum()) for row in probability]
    columns = {f"p_{class_number}": probability[:, class_number] for class_number in range(400)}
    pl.DataFrame({**columns, "label": label}).write_parquet(tmp_path / "many.parquet")
    for method in ("aps", "lac"):
        assert uqcli("conformal", "many.parquet", *PROBA, "--method", method, "-q", "-o", "c.json").code == 0
        report = uqcli("evaluate", "c.json", "many.parquet", "--json")
        assert report.code == 0
        assert report.json["metrics"]["coverage"]["value"] > 0.85


def test_weights_of_other_classes_are_refused(uqcli, folder, data):
    prior = ("--estimator", "known", "--prior", "0.5,0.5", "-q", "-o", "s.json")
    assert uqcli("shift", data, *prior).code == 0
    outcome = uqcli("conformal", "cal.parquet", *PROBA, "--mode", "label-shift", "--shift", "s.json")
    assert outcome.code == 2
    assert "0, 1" in outcome.err
    assert uqcli("apply", "s.json", data).code == 5
    assert (
        uqcli("conformal", "cal.parquet", *PROBA, "--mode", "label-shift", "--shift", "nowhere.json").code
        == 3
    )


BROKEN = {
    "lengths": {"thresholds": [0.5, 0.5]},
    "range": {"thresholds": [0.5, 0.5, 0.5, 1.5]},
    "classes": {"classes": ["ash", "ash", "oak", "yew"]},
    "columns": {"classes": ["ash", "elm", "oak", "fir"]},
    "groups": {"groups": {"column": "site", "names": ["north"], "thresholds": [[0.5]]}},
    "alpha": {"alpha": 1.5},
    "calibration rows": {"calibration_rows": [10, 10, 10]},
}


@pytest.mark.parametrize("broken", BROKEN)
def test_contradictory_rule_files_are_refused(uqcli, folder, broken):
    fit_sets(uqcli)
    content = json.loads((folder / "c.json").read_text())
    (folder / "c.json").write_text(json.dumps({**content, **BROKEN[broken]}))
    assert uqcli("apply", "c.json", "new.csv").code == 5


@pytest.mark.parametrize("mode", ["marginal", "label-conditional"])
def test_verdicts_name_the_guarantee_and_the_worst_class(uqcli, folder, mode):
    fit_sets(uqcli, "--mode", mode)
    report = uqcli("evaluate", "c.json", "new.csv", "--json").json
    assert report["verdict"] == report["results"][0]["verdict"] == "kept"
    assert report["metrics"] == report["results"][0]["metrics"]
    assert report["metrics"]["below"] == 0
    assert report["metrics"]["worst_p"] > 0.05
    assert "consistent with 90 % coverage" in report["notes"][0]
    # labels of one class are moved to another
    broken = frame(seed=2).with_columns(
        pl.when(pl.col("label") == "oak").then(pl.lit("ash")).otherwise(pl.col("label")).alias("label")
    )
    broken.write_csv(folder / "broken.csv")
    broken_report = uqcli("evaluate", "c.json", "broken.csv", "--json").json
    assert broken_report["verdict"] == "broken"
    assert broken_report["metrics"]["worst_p"] < 0.001
    if mode == "label-conditional":
        assert broken_report["metrics"]["below"] == 1
        assert "1 of 3 are significantly below; the worst is class ash, " in broken_report["notes"][0]
    for check in ("below > 0", "promise_broken == 1"):
        assert uqcli("evaluate", "c.json", "new.csv", "-q", "--fail-if", check).code == 0
        assert uqcli("evaluate", "c.json", "broken.csv", "-q", "--fail-if", check).code == 6


def test_verdicts_are_given_by_group_and_on_target_data(uqcli, folder):
    fit_sets(uqcli, "--by", "site")
    report = uqcli("evaluate", "c.json", "new.csv", "--json").json
    assert (report["verdict"], report["metrics"]["below"]) == ("kept", 0)
    assert uqcli("shift", "cal.parquet", "--target", "target.csv", *PROBA, "-q", "-o", "s.json").code == 0
    fit_sets(uqcli, "--mode", "label-shift", "--shift", "s.json", name="ls.json")
    source_report = uqcli("evaluate", "ls.json", "new.csv", "--json").json
    assert (
        source_report["verdict"],
        source_report["metrics"]["below"],
        source_report["metrics"]["worst_p"],
    ) == (None, None, None)
    target_report = uqcli("evaluate", "ls.json", "new.csv", "--shift", "s.json", "--json").json
    assert target_report["verdict"] == "kept"
    both = uqcli("evaluate", "ls.json", "c.json", "new.csv", "--shift", "s.json", "--json").json
    assert [result["verdict"] for result in both["results"]] == ["kept", "kept"]


def test_corrected_sets_are_tested_on_labelled_target_data(uqcli, folder):
    assert uqcli("shift", "cal.parquet", "--target", "target.csv", *PROBA, "-q", "-o", "s.json").code == 0
    fit_sets(uqcli, "--mode", "label-shift", "--shift", "s.json", name="ls.json")
    report = uqcli("evaluate", "ls.json", "target_labelled.csv", "--json").json
    assert (report["verdict"], report["metrics"]["promise_broken"], report["metrics"]["below"]) == (
        "kept",
        0,
        0,
    )
    assert "consistent with 90 % coverage of target data: " in report["notes"][0]
    labels = pl.read_csv(folder / "target_labelled.csv")["label"]
    mixed = pl.read_csv(folder / "target_labelled.csv").with_columns(label=labels.shuffle(seed=1))
    mixed.write_csv(folder / "mixed.csv")
    broken_report = uqcli("evaluate", "ls.json", "mixed.csv", "--json").json
    assert (broken_report["verdict"], broken_report["metrics"]["promise_broken"]) == ("broken", 1)
    source_report = uqcli("evaluate", "ls.json", "new.csv", "--json").json
    assert (source_report["verdict"], source_report["metrics"]["promise_broken"]) == (None, None)
    assert "these rows have the class priors of the source" in source_report["notes"][0]
    assert uqcli("evaluate", "ls.json", "new.csv", "-q", "--fail-if", "promise_broken == 1").code == 6


def test_probabilities_with_rounding_errors_are_clipped(uqcli, tmp_path):
    """32-bit arithmetic gives -5e-7 and 1.0000005: no error, and no threshold that ``show`` refuses."""
    lines = ["p_a,p_b,label"] + ["1.0000005,-5e-7,b", "-5e-7,1.0000005,a", "0.5,0.5,a"] * 7
    (tmp_path / "d.csv").write_text("\n".join(lines) + "\n")
    for method, every_label in (("lac", 1), ("aps", 2)):
        assert uqcli("conformal", "--method", method, "d.csv", *PROBA, "-q", "-o", "c.json").code == 0
        assert max(json.loads((tmp_path / "c.json").read_text())["thresholds"]) <= every_label
        assert uqcli("show", "c.json").code == 0
    assert uqcli("tce", "d.csv", *PROBA, "-q").code == 0
    (tmp_path / "far.csv").write_text("p_a,p_b,label\n1.001,-0.001,a\n")
    assert uqcli("tce", "far.csv", *PROBA, "-q").code == 3


@pytest.mark.parametrize("mode", ["marginal", "label-shift"])
def test_a_row_of_weight_zero_changes_no_threshold(uqcli, folder, mode):
    calibration_set = frame(60).with_columns(w=pl.lit(1))
    rows_of_weight_zero = frame(200, seed=9).with_columns(w=pl.lit(0))
    shift = ()
    if mode == "label-shift":
        prior = ("--estimator", "known", "--prior", "0.1,0.2,0.3,0.4", "-q", "-o", "s.json")
        assert uqcli("shift", "cal.parquet", *PROBA, *prior).code == 0
        shift = ("--shift", "s.json")
    thresholds = []
    for name, rows in (("a", calibration_set), ("b", pl.concat([calibration_set, rows_of_weight_zero]))):
        rows.write_parquet(folder / f"{name}.parquet")
        arguments = ("--weight", "w", "--mode", mode, *shift, "--method", "lac", "--alpha", "0.03")
        report = uqcli("conformal", f"{name}.parquet", *PROBA, *arguments, "--json")
        thresholds.append(report.json["thresholds"])
    assert thresholds[0] == thresholds[1]


@pytest.mark.parametrize("rows", ["0.3", "0.3000000001,0.3", "0.5"])
def test_em_refuses_constant_target_scores(uqcli, data, tmp_path, rows):
    values = rows.split(",") * 40
    (tmp_path / "constant.csv").write_text("score\n" + "\n".join(values) + "\n")
    arguments = ("--target", "constant.csv", "--estimator", "em", "-q", "-o", "s.json")
    outcome = uqcli("shift", data, *arguments)
    assert outcome.code == 4
    assert "cannot estimate the class priors" in outcome.err
    assert not (tmp_path / "s.json").exists()


def undersampled_scores(random, rows, prevalence):
    """Draw labels, and scores of a model that saw one in ten of the negatives."""
    label = random.random(rows) < prevalence
    log_odds = np.log(0.1 / 0.9) + 2 * random.normal(2 * label, 1) - 2 + np.log(10)
    return pl.DataFrame({"score": 1 / (1 + np.exp(-log_odds)), "label": label.astype(int)})


def test_em_calibrates_scores_of_an_undersampled_model(uqcli, tmp_path):
    random = np.random.default_rng(1)
    undersampled_scores(random, 1000, 0.1).write_csv(tmp_path / "source.csv")
    undersampled_scores(random, 5000, 0.1).drop("label").write_csv(tmp_path / "target.csv")
    arguments = ("--target", "target.csv", "--estimator", "em")
    report = uqcli("shift", "source.csv", *arguments, "--json", "-q").json
    assert report["metrics"]["target_prior"]["1"] == pytest.approx(0.1, abs=0.03)
    low, high = (report["metrics"]["class_shares"]["1"]["target"][end] for end in ("low", "high"))
    assert 0.03 < low < 0.1 < high < 0.2
    assert report["metrics"]["calibration_error"] < 0.03
    assert "EM calibrated the probabilities on the labelled rows first (Platt scaling)." in report["notes"]


def test_em_calibrates_undersampled_probabilities_of_many_classes(uqcli, folder):
    factor = {"p_ash": 0.05, "p_elm": 0.3, "p_oak": 1.0, "p_yew": 4.0}
    for name in ("cal.parquet", "target_labelled.csv"):
        rows = pl.read_parquet(folder / name) if name == "cal.parquet" else pl.read_csv(folder / name)
        total = sum(pl.col(column) * times for column, times in factor.items())
        changed = rows.with_columns(pl.col(column) * times / total for column, times in factor.items())
        changed.write_csv(folder / f"changed_{name.partition('.')[0]}.csv")
    arguments = ("--target", "changed_target_labelled.csv", *PROBA, "--estimator", "em", "--json", "-q")
    report = uqcli("shift", "changed_cal.csv", *arguments).json
    assert list(report["metrics"]["target_prior"].values()) == pytest.approx([0.1, 0.2, 0.3, 0.4], abs=0.05)
    assert any("(vector scaling)" in note for note in report["notes"])


def test_em_refuses_a_target_whose_predicted_classes_contradict_it(uqcli, tmp_path):
    random = np.random.default_rng(1)
    undersampled_scores(random, 1000, 0.3).write_csv(tmp_path / "source.csv")
    pl.DataFrame({"score": random.uniform(0.51, 0.9, 2000)}).write_csv(tmp_path / "target.csv")
    (tmp_path / "s.json").write_text("old")
    arguments = ("--target", "target.csv", "--estimator", "em", "-q", "-o", "s.json")
    outcome = uqcli("shift", "source.csv", *arguments, "--report", "r.json")
    assert outcome.code == 4
    assert "predicted classes of the new data contradict EM's class priors" in outcome.err
    assert (tmp_path / "s.json").read_text() == "old"
    assert json.loads((tmp_path / "r.json").read_text())["metrics"]["target_prior"] == {"0": None, "1": None}


def test_em_accepts_a_target_of_one_class(uqcli, folder):
    target_rows = frame(300, seed=5, prior=(0, 0, 1, 0)).drop("label")
    target_rows.write_csv(folder / "one.csv")
    arguments = ("--target", "one.csv", "--estimator", "em", "--json")
    target_prior = uqcli("shift", "cal.parquet", *PROBA, *arguments).json["metrics"]["target_prior"]
    assert target_prior["oak"] > 0.97


@pytest.mark.parametrize("draws", [[[1.0, 1.0]], [[1.0, 1.0, 1.0, "x"]]])
def test_draws_of_class_weights_need_one_value_per_class(uqcli, folder, draws):
    assert uqcli("shift", "cal.parquet", "--target", "target.csv", *PROBA, "-q", "-o", "s.json").code == 0
    content = json.loads((folder / "s.json").read_text())
    assert len(content["draws"][0]) == 4
    (folder / "s.json").write_text(json.dumps({**content, "draws": draws}))
    assert uqcli("show", "s.json").code == 5


@pytest.mark.parametrize(("mode", "shown_thresholds"), [("marginal", 1), ("label-conditional", 4)])
def test_a_common_threshold_is_shown_once(uqcli, folder, mode, shown_thresholds):
    fit_sets(uqcli, "--mode", mode, "--report", "r.md")
    thresholds = json.loads((folder / "c.json").read_text())["thresholds"]
    for text in ((folder / "r.md").read_text(), uqcli("show", "c.json").out.decode()):
        assert sum(text.count(f"{threshold!r}") for threshold in set(thresholds)) == shown_thresholds


@pytest.mark.thorough
def test_the_figure_names_the_guarantee(uqcli, folder):
    captions = {
        "marginal": "Dashed: guaranteed coverage of all rows together. No single class has a guarantee.",
        "label-conditional": "Dashed: guaranteed coverage of each class.",
    }
    for mode, caption in captions.items():
        fit_sets(uqcli, "--mode", mode)
        assert uqcli("evaluate", "c.json", "new.csv", "-q", "--report", f"{mode}.html").code == 0
        page = (folder / f"{mode}.html").read_text()
        assert caption in page
        assert "<!-- all -->" in page
