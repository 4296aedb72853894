"""Tests of ``uqcli calibrate``, and of its rule file in apply, evaluate and show."""

import importlib.util
import json

import numpy as np
import polars as pl
import pytest

from uqcli.calibrate.scale import Scale

METHODS = ("platt", "temperature", "beta", "isotonic", "histogram", "mist", "surface")
HETEROGENEOUS = {
    "tree": ("--features", "kind,age", "--min-leaf", "50"),
    "forest": ("--features", "kind,age", "--min-leaf", "50", "--partitioner", "forest"),
    "boosted": ("--features", "kind,age", "--min-leaf", "50", "--partitioner", "boosted"),
    "auc": ("--features", "kind,age", "--min-leaf", "50", "--split", "auc"),
    "groups": ("--partition", "kind", "--min-leaf", "50"),
}


def frame(rows=900, seed=1):
    random = np.random.default_rng(seed)
    score = random.random(rows).round(4)
    kind = random.choice(["x", "y", "z"], rows)
    power = np.where(kind == "x", 1, np.where(kind == "y", 2, 4))
    age = [None if share < 0.1 else round(20 + 60 * share, 1) for share in random.random(rows)]
    return pl.DataFrame(
        {
            "id": [f"{number:04d}" for number in range(rows)],
            "score": score,
            "uncertainty": random.random(rows).round(3),
            "label": (random.random(rows) < score**power).astype(int),
            "kind": [None if number % 50 == 0 else level for number, level in enumerate(kind)],
            "age": age,
        }
    )


@pytest.fixture
def rows(tmp_path):
    frame().write_parquet(tmp_path / "rows.parquet")
    frame().write_csv(tmp_path / "rows.csv")
    frame(seed=2).write_csv(tmp_path / "new.csv")
    return tmp_path


def fit_map(uqcli, *arguments):
    outcome = uqcli("calibrate", "rows.parquet", *arguments, "--bootstrap", "0", "-q", "-o", "c.json")
    assert (outcome.code, outcome.err) == (0, "")


@pytest.mark.covering("thorough", every=3)
@pytest.mark.parametrize("method", METHODS)
def test_saved_maps_give_equal_rows_for_every_format(uqcli, rows, method):
    fit_map(uqcli, "--method", method)
    outcome = uqcli("calibrate", "rows.csv", "--method", method, "--bootstrap", "0", "-q", "-o", "d.json")
    assert outcome.code == 0
    assert (rows / "c.json").read_bytes() == (rows / "d.json").read_bytes()
    assert uqcli("apply", "c.json", "rows.csv", "-o", "a.csv", "-q").code == 0
    assert uqcli("apply", "c.json", "rows.parquet", "-o", "a.parquet", "-q").code == 0
    written, exact = pl.read_csv(rows / "a.csv"), pl.read_parquet(rows / "a.parquet")
    assert written.columns == [*frame().columns, "calibrated"]
    assert written["calibrated"].to_list() == exact["calibrated"].to_list()
    assert exact["calibrated"].is_between(0, 1).all()
    text = (rows / "a.csv").read_text().splitlines()
    assert text[1].startswith((rows / "rows.csv").read_text().splitlines()[1])


@pytest.mark.covering("thorough", every=3)
@pytest.mark.parametrize("variant", HETEROGENEOUS)
def test_heterogeneous_maps_are_json_and_need_no_scikit_learn(uqcli, rows, variant, monkeypatch):
    fit_map(uqcli, "--method", "heterogeneous", *HETEROGENEOUS[variant])
    content = json.loads((rows / "c.json").read_text())
    assert content["calibration"]["map"] == ("groups" if variant == "groups" else "trees")
    monkeypatch.setattr(importlib.util, "find_spec", lambda name: None)
    assert uqcli("apply", "c.json", "new.csv", "-o", "a.csv", "-q").code == 0
    calibrated_rows = pl.read_csv(rows / "a.csv")
    assert calibrated_rows["calibrated"].is_between(0, 1).all()
    assert ("leaf" in calibrated_rows.columns) == (variant in ("tree", "auc", "groups"))
    assert uqcli("show", "c.json").code == 0
    report = uqcli("evaluate", "c.json", "new.csv", "--json").json
    assert report["metrics"]["after"]["log_loss"] < report["metrics"]["before"]["log_loss"]


@pytest.mark.thorough
def test_leaves_accept_unseen_and_missing_values(uqcli, rows):
    fit_map(uqcli, "--method", "heterogeneous", *HETEROGENEOUS["tree"])
    (rows / "odd.csv").write_text("score,kind,age\n0.5,never seen,30\n0.5,,\n0.5,x,\n0.5, y ,1e3\n")
    outcome = uqcli("apply", "c.json", "odd.csv")
    assert outcome.code == 0
    assert len(outcome.out.splitlines()) == 5
    (rows / "less.csv").write_text("score,kind\n0.5,x\n")
    refused = uqcli("apply", "c.json", "less.csv")
    assert refused.code == 3
    assert "no column 'age'" in refused.err


@pytest.mark.thorough
def test_numeric_features_are_equal_in_csv_and_parquet(uqcli, rows):
    for name in ("rows.csv", "rows.parquet"):
        arguments = ("--method", "heterogeneous", *HETEROGENEOUS["tree"], "-q", "--bootstrap", "0")
        assert uqcli("calibrate", name, *arguments, "-o", f"{name}.json").code == 0
    assert (rows / "rows.csv.json").read_bytes() == (rows / "rows.parquet.json").read_bytes()
    mixed = uqcli("calibrate", "rows.csv", *arguments, "--test", "rows.parquet")
    assert mixed.code == 0


def test_trees_without_scikit_learn_name_the_extra(uqcli, rows, monkeypatch):
    monkeypatch.setattr(importlib.util, "find_spec", lambda name: None)
    outcome = uqcli("calibrate", "rows.csv", "--method", "heterogeneous", "--features", "age")
    assert outcome.code == 7
    assert "uqcli[trees]" in outcome.err
    assert uqcli("calibrate", "rows.csv", "--method", "heterogeneous", "--partition", "kind", "-q").code == 0


def test_undersampling_is_corrected_in_closed_form_before_any_method(uqcli, rows):
    fit_map(uqcli, "--undersampled", "3")
    content = json.loads((rows / "c.json").read_text())
    assert (content["method"], content["undersampled"], content["calibration"]) == (
        "prior",
        3.0,
        {"map": "identity"},
    )
    uqcli("apply", "c.json", "rows.parquet", "-o", "a.parquet", "-q")
    score = frame()["score"].to_numpy()
    expected = Scale(undersampled=3.0).corrected(score)
    assert pl.read_parquet(rows / "a.parquet")["calibrated"].to_numpy().tolist() == expected.tolist()
    fit_map(uqcli, "--undersampled", "3", "--method", "platt")
    first = json.loads((rows / "c.json").read_text())["calibration"]
    fit_map(uqcli, "--method", "platt")
    second = json.loads((rows / "c.json").read_text())["calibration"]
    assert first["slope"] == pytest.approx(second["slope"])
    assert first["intercept"] - first["slope"] * np.log(3) == pytest.approx(second["intercept"])


@pytest.mark.thorough
def test_real_scores_need_logit(uqcli, rows):
    score = np.log(frame()["score"].clip(1e-4, 1 - 1e-4).to_numpy())
    frame().with_columns(pl.Series("score", 10 * score)).write_csv(rows / "real.csv")
    refused = uqcli("calibrate", "real.csv")
    assert refused.code == 3
    assert "--logit" in refused.err
    for method in METHODS:
        arguments = ("--logit", "--method", method, "--bootstrap", "0", "-q", "-o", "r.json")
        assert uqcli("calibrate", "real.csv", *arguments).code == 0
        assert uqcli("apply", "r.json", "real.csv", "-q").code == 0
    fit_map(uqcli, "--method", "platt")
    assert uqcli("apply", "c.json", "real.csv").code == 3


@pytest.mark.thorough
def test_the_report_compares_cross_validated_scores(uqcli, rows):
    report = uqcli("calibrate", "rows.csv", "--bootstrap", "40", "--json").json
    assert report["parameters"]["measured"] == "cross-fitting"
    metrics = report["metrics"]
    assert set(metrics) == {"before", "after", "difference", "dropped_share"}
    for name in ("auc", "log_loss", "brier"):
        difference = metrics["difference"][name]
        assert difference["value"] == pytest.approx(
            metrics["after"][name]["value"] - metrics["before"][name]["value"]
        )
        assert difference["low"] <= difference["value"] <= difference["high"]
    for name in (
        "average_precision",
        "ece",
        "ace",
        "tce",
    ):  # noise raises these metrics, so they have no valid interval
        difference = metrics["difference"][name]
        assert difference == pytest.approx(metrics["after"][name] - metrics["before"][name])
    assert "Calibration helped" in report["notes"][0]
    tested = uqcli("calibrate", "rows.csv", "--test", "new.csv", "--bootstrap", "0", "--json").json
    assert tested["parameters"]["measured"] == "test"
    assert uqcli("calibrate", "rows.csv", "-q", "--bootstrap", "0", "-o", "c.json").code == 0
    evaluated = uqcli("evaluate", "c.json", "new.csv", "--json").json
    assert evaluated["metrics"] == {**tested["metrics"], "rows": evaluated["source"]["rows"]}


@pytest.mark.thorough
def test_calibration_that_does_not_help_is_reported(uqcli, rows):
    random = np.random.default_rng(3)
    score = random.random(3000)
    calibrated_rows = pl.DataFrame({"score": score, "label": (random.random(3000) < score).astype(int)})
    calibrated_rows.write_csv(rows / "good.csv")
    notes = uqcli("calibrate", "good.csv", "--json").json["notes"]
    assert "The scores stay as they are" in notes[0]
    notes = uqcli("calibrate", "good.csv", "--method", "platt", "--json").json["notes"]
    assert "No significant change" in notes[0]
    worse = uqcli("calibrate", "good.csv", "--undersampled", "5", "--json").json["notes"]
    assert "rises from" in worse[0]


def test_mist_reports_errors_by_score_bin(uqcli, rows):
    report = uqcli("calibrate", "rows.csv", "--method", "mist", "--bootstrap", "0", "--json").json
    for name in ("ist", "mist"):
        table = report["ece_by_score_bin"][name]
        assert len(table["ece"]) == len(table["cumulative"]) == 10
        assert table["cumulative"][0] == pytest.approx(np.mean(table["ece"]))


@pytest.mark.parametrize(
    "content", ["score,label\n0.5,1\n", "score,label\n0.5,1\n0.7,1\n0.2,1\n", "score,label\n0.5,0\n0.5,1\n"]
)
def test_files_of_a_few_rows_can_be_calibrated(uqcli, tmp_path, content):
    (tmp_path / "d.csv").write_text(content)
    for method in METHODS:
        uncertainty = ("--uncertainty", "score") if method in ("mist", "surface") else ()
        line = ("calibrate", "d.csv", "--method", method, *uncertainty)
        outcome = uqcli(*line, "--json", "--bootstrap", "2")
        assert (outcome.code, outcome.err) == (0, ""), method
        assert outcome.json["notes"]


def test_a_row_of_weight_zero_counts_as_absent(uqcli, tmp_path):
    (tmp_path / "w.csv").write_text("score,label,w\n0.1,0,2\n0.9,1,1\n0.2,1,1\n0.99,0,0\n")
    (tmp_path / "r.csv").write_text("score,label\n0.1,0\n0.1,0\n0.9,1\n0.2,1\n")
    maps = []
    for arguments in (("w.csv", "--weight", "w"), ("r.csv",)):
        maps.append(uqcli("calibrate", *arguments, "--bootstrap", "0", "--json").json["calibration"])
    assert maps[0] == maps[1]


def test_calibrators_are_compared_with_each_other_but_not_with_boundaries(uqcli, rows, data, artifact):
    for method in ("platt", "isotonic"):
        uqcli("calibrate", "rows.csv", "--method", method, "--bootstrap", "0", "-q", "-o", f"{method}.json")
    report = uqcli("evaluate", "platt.json", "isotonic.json", "new.csv", "--json").json
    assert [result["artifact"] for result in report["results"]] == ["platt.json", "isotonic.json"]
    assert uqcli("evaluate", "platt.json", "isotonic.json", "new.csv", "-q", "--plot", "e.svg").code == 0
    assert uqcli("evaluate", "platt.json", artifact, "new.csv").code == 2


BROKEN = {
    "x": {"map": "isotonic", "x": [0.5, 0.1], "y": [0.1, 0.2]},
    "y": {"map": "isotonic", "x": [0.1, 0.5], "y": [0.1, 1.2]},
    "bins": {
        "map": "histogram",
        "edges": [0.5],
        "rate": [0.1],
        "count": [1],
        "error": [0.1],
        "confidence": 0.9,
    },
    "slope": {"map": "logistic", "intercept": 1e999, "slope": 1.0},
    "beta": {"map": "beta", "a": -1.0, "b": 1.0, "c": 0.0},
    "levels": {"map": "by-uncertainty", "uncertainty_edges": [0.1], "maps": [], "count": []},
    "loop": {
        "map": "trees",
        "combine": "mean",
        "features": [{"name": "age"}],
        "trees": [
            {
                "nodes": [{"feature": "age", "threshold": 1.0, "left": 0, "right": 0}],
                "leaves": [
                    {"rule": "", "rows": 1, "positives": 0, "own": True, "calibration": {"map": "identity"}}
                ],
            }
        ],
    },
    "unknown": {"map": "wizardry"},
}


@pytest.mark.parametrize("broken", BROKEN)
def test_contradictory_rule_files_are_refused(uqcli, rows, broken):
    fit_map(uqcli, "--method", "platt")
    content = json.loads((rows / "c.json").read_text())
    (rows / "c.json").write_text(json.dumps({**content, "calibration": BROKEN[broken]}))
    assert uqcli("apply", "c.json", "new.csv").code == 5


@pytest.mark.covering("thorough", every=4)
@pytest.mark.parametrize("options", [("--method", method) for method in METHODS] + [HETEROGENEOUS["groups"]])
def test_rule_files_keep_the_calibration_counts_by_score(uqcli, rows, options):
    if "--partition" in options:
        options = ("--method", "heterogeneous", *options)
    fit_map(uqcli, *options)
    saved = json.loads((rows / "c.json").read_text())["calibration_counts"]
    by_score = frame()["score"].to_numpy()
    assert len(saved["score"]) <= 500
    assert (saved["score"][0], saved["score"][-1]) == (by_score.min(), by_score.max())
    assert (sum(saved["count"]), sum(saved["positives"])) == (900, int(frame()["label"].sum()))


@pytest.mark.thorough
def test_calibration_counts_do_not_depend_on_the_order_of_rows(uqcli, rows):
    frame().sample(fraction=1.0, shuffle=True, seed=4).write_csv(rows / "shuffled.csv")
    for source, output in (("rows.csv", "c.json"), ("shuffled.csv", "d.json")):
        assert uqcli("calibrate", source, "--bootstrap", "0", "-q", "-o", output).code == 0
    assert (rows / "c.json").read_bytes() == (rows / "d.json").read_bytes()


@pytest.mark.thorough
def test_a_weight_of_two_counts_two_calibration_rows(uqcli, rows):
    frame().with_columns(weight=2).write_csv(rows / "twice.csv")
    assert (
        uqcli("calibrate", "twice.csv", "--weight", "weight", "--bootstrap", "0", "-q", "-o", "c.json").code
        == 0
    )
    saved = json.loads((rows / "c.json").read_text())
    assert (saved["source"]["rows"], sum(saved["calibration_counts"]["count"])) == (900, 1800)


@pytest.mark.thorough
def test_rule_files_without_calibration_counts_still_load(uqcli, rows):
    fit_map(uqcli)
    content = json.loads((rows / "c.json").read_text())
    del content["calibration_counts"], content["digest"]
    (rows / "old.json").write_text(json.dumps(content))
    for rule in ("c", "old"):
        assert uqcli("apply", f"{rule}.json", "new.csv", "-o", f"{rule}.csv", "-q").code == 0
    assert (rows / "c.csv").read_bytes() == (rows / "old.csv").read_bytes()


COUNTS = {"score": [0.1, 0.2], "count": [450, 450], "positives": [200, 200]}


@pytest.mark.thorough
@pytest.mark.parametrize(
    ("broken", "message"),
    [
        ({"score": [0.1]}, "no count and positives for each score"),
        ({"score": [0.2, 0.2]}, "not finite and ascending"),
        ({"positives": [451, 0]}, "more positives than rows"),
        ({"count": [450, 451]}, "not those of its calibration set"),
    ],
)
def test_contradictory_calibration_counts_are_refused(uqcli, rows, broken, message):
    fit_map(uqcli)
    content = json.loads((rows / "c.json").read_text())
    (rows / "c.json").write_text(json.dumps({**content, "calibration_counts": {**COUNTS, **broken}}))
    outcome = uqcli("apply", "c.json", "new.csv")
    assert outcome.code == 5
    assert message in outcome.err


@pytest.mark.thorough
def test_the_effect_of_the_seed_is_reported(uqcli, rows):
    test = ("--test", "new.csv", "--bootstrap", "0")
    features = ("--method", "heterogeneous", "--features", "kind", "--min-leaf", "50")
    for options, note in (
        ((), "The random seed (3) affects the folds and the intervals."),
        (("--bootstrap", "0"), "The random seed (3) affects the folds."),
        ((*test, *features), "The random seed (3) affects the trees and their rows."),
    ):
        assert uqcli("calibrate", "rows.parquet", "--seed", "3", *options, "--json").json["notes"][-1] == note
    assert "Seed" not in str(uqcli("calibrate", "rows.parquet", *test, "--json").json["notes"])


@pytest.mark.parametrize(
    ("method", "has_note"), [("isotonic", True), ("mist", True), ("groups", False), ("beta", False)]
)
def test_probabilities_of_exactly_0_or_1_give_a_note(uqcli, rows, method, has_note):
    options = HETEROGENEOUS.get(method, ())
    report = uqcli(
        "calibrate", "rows.csv", "--method", "heterogeneous" if options else method, *options, "--json"
    ).json
    matching_notes = [note for note in report["notes"] if "which new data can contradict" in note]
    assert bool(matching_notes) is has_note
    if method == "isotonic":
        probabilities = report["calibration"]["y"]
        extremes = " or ".join(str(extreme) for extreme in (0, 1) if extreme in probabilities)
        assert matching_notes[0].startswith(f"some probabilities are exactly {extremes}")


@pytest.mark.parametrize(("label", "which"), [(0, "no row is positive"), (1, "every row is positive")])
def test_a_map_of_rows_of_one_class_is_not_praised(uqcli, tmp_path, label, which):
    frame = pl.DataFrame({"score": np.random.default_rng(0).beta(0.5, 5, 300)})
    frame.with_columns(label=pl.lit(label)).write_csv(tmp_path / "one.csv")
    for options in ((), ("--method", "platt"), ("--method", "all", "--bootstrap", "9")):
        report = uqcli("calibrate", "one.csv", *options, "-o", "map.json", "--json").json
        assert report["notes"][0] == f"{which.capitalize()}, so these rows do not show whether a map helps."
        assert any(note.startswith(f"{which}: ") and "check --label" in note for note in report["notes"])
        assert json.loads((tmp_path / "map.json").read_text())["doubts"][0].startswith(which)


@pytest.mark.parametrize("options", [("--score", "p_1"), ("--proba", "p_*")])
def test_a_temperature_at_its_bound_is_a_caution(uqcli, tmp_path, options):
    score = np.r_[np.linspace(0.1, 0.3, 99), np.linspace(0.7, 0.9, 99)]
    frame = pl.DataFrame({"p_0": 1 - score, "p_1": score, "label": (score > 0.5).astype(int)})
    frame.write_csv(tmp_path / "separate.csv")
    shown = uqcli("calibrate", "separate.csv", *options, "--method", "temperature").out.decode()
    assert "Caution: Some probabilities are exactly 0 or 1, which new data can contradict" in shown
