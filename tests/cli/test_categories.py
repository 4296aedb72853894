"""Tests of features and groups: numbers or categories, what names them, and the size of trees."""

import json
from pathlib import Path

import numpy as np
import polars as pl
import pytest

import uqcli as api


@pytest.fixture(autouse=True)
def rows(tmp_path, monkeypatch):
    """Write rows whose overconfidence depends on a code that numbers its categories."""
    monkeypatch.chdir(tmp_path)
    random = np.random.default_rng(4)
    code = random.permutation(np.repeat(np.arange(6), 700))
    score = random.random(len(code))
    power = np.where(code % 2 == 0, 1.0, 3.0)
    frame = pl.DataFrame(
        {
            "score": score,
            "label": (random.random(len(code)) < score**power).astype(int),
            "code": code,
            "age": random.integers(18, 90, len(code)),
        }
    )
    frame.write_csv("rows.csv")
    frame.write_parquet("rows.parquet")
    return frame


HETEROGENEOUS = ("--method", "heterogeneous", "--bootstrap", "0")


@pytest.mark.thorough
def test_numbers_name_categories_if_asked(uqcli):
    for name in ("rows.csv", "rows.parquet"):
        line = ("calibrate", name, *HETEROGENEOUS, "--features", "code,age", "--categorical", "code")
        assert uqcli(*line, "-q", "-o", f"{name}.json").code == 0
    content = json.loads(Path("rows.csv.json").read_text())
    assert content == json.loads(Path("rows.parquet.json").read_text())
    features = {feature["name"]: feature.get("levels") for feature in content["calibration"]["features"]}
    assert set(features["code"]) == set("012345")
    assert features["age"] is None
    (leaves,) = (tree["leaves"] for tree in content["calibration"]["trees"])
    assert len(leaves) == 2


def test_categories_are_among_the_features(uqcli):
    outcome = uqcli("calibrate", "rows.csv", *HETEROGENEOUS, "--features", "age", "--categorical", "code")
    assert (outcome.code, "--categorical code; expected columns of --features" in outcome.err) == (2, True)
    outcome = uqcli("calibrate", "rows.csv", *HETEROGENEOUS, "--partition", "code", "--categorical", "code")
    assert (outcome.code, "--categorical without --features" in outcome.err) == (2, True)


@pytest.mark.covering("thorough", every=100, also=["options0"])
@pytest.mark.parametrize(
    "options", [("--features", "code,age", "--categorical", "code"), ("--partition", "code")]
)
def test_a_new_category_is_calibrated_and_counted(uqcli, rows, options):
    assert uqcli("calibrate", "rows.csv", *HETEROGENEOUS, *options, "-q", "-o", "c.json").code == 0
    new = rows.head(5).with_columns(code=pl.Series(["7", "eight", "", "0", "1"]))
    new.write_csv("new.csv")
    outcome = uqcli("apply", "c.json", "new.csv", "-o", "out.parquet", "--json")
    assert (outcome.code, outcome.json["metrics"]["new_categories"]) == (0, 2)
    assert pl.read_parquet("out.parquet")["calibrated"].null_count() == 0
    shown = uqcli("apply", "c.json", "new.csv", "-o", "out.parquet").out.decode()
    assert "2 rows have new categories, which the rule does not know." in shown
    outcome = uqcli("apply", "c.json", "new.csv", "-o", "out.csv", "--fail-if", "new_categories > 1")
    assert outcome.code == 6
    assert uqcli("evaluate", "c.json", "new.csv").code == 0


@pytest.mark.thorough
def test_a_text_in_a_numeric_feature_is_missing_and_counted(uqcli, rows):
    line = ("calibrate", "rows.csv", *HETEROGENEOUS, "--features", "age", "--min-leaf", "200")
    assert uqcli(*line, "-q", "-o", "c.json").code == 0
    ages = {"text": ["old", "n/a", "30"], "missing": [None, None, "30"]}
    for name, age in ages.items():
        rows.head(3).with_columns(age=pl.Series(age, dtype=pl.String)).write_csv(f"{name}.csv")
        outcome = uqcli("apply", "c.json", f"{name}.csv", "-o", f"{name}.parquet", "--json")
        assert (outcome.code, outcome.json["metrics"]["new_categories"]) == (0, 2 if name == "text" else 0)
    calibrated = [pl.read_parquet(f"{name}.parquet")["calibrated"].to_list() for name in ages]
    assert calibrated[0] == calibrated[1]


def test_infinite_features_are_refused(uqcli, rows):
    line = ("calibrate", "rows.csv", *HETEROGENEOUS, "--features", "age", "--min-leaf", "200")
    assert uqcli(*line, "-q", "-o", "c.json").code == 0
    rows.head(3).with_columns(age=pl.Series(["inf", "1", "2"])).write_csv("new.csv")
    outcome = uqcli("apply", "c.json", "new.csv", "-o", "out.csv")
    assert (outcome.code, "feature 'age' holds 'inf'" in outcome.err) == (3, True)


@pytest.mark.thorough
def test_the_size_of_a_tree_is_chosen_unless_given(uqcli):
    features = ("--features", "code,age", "--categorical", "code")
    outcome = uqcli("calibrate", "rows.csv", *HETEROGENEOUS, *features, "--json")
    assert outcome.json["parameters"]["max_depth"] == 1
    assert outcome.json["parameters"]["min_leaf"] == 500
    assert any(note.startswith("Tree of depth 1 with at least 500 rows") for note in outcome.json["notes"])
    given = ("--max-depth", "2", "--min-leaf", "300")
    outcome = uqcli("calibrate", "rows.csv", *HETEROGENEOUS, *features, *given, "--json")
    parameters = outcome.json["parameters"]
    assert (parameters["max_depth"], parameters["min_leaf"]) == (2, 300)
    assert not any("by cross-validation" in note for note in outcome.json["notes"])
    forest = ("--partitioner", "forest")
    parameters = uqcli("calibrate", "rows.csv", *HETEROGENEOUS, *features, *forest, "--json").json[
        "parameters"
    ]
    assert (parameters["max_depth"], parameters["min_leaf"]) == (3, 500)


def test_python_names_categories_likewise(rows):
    features = {name: rows[name] for name in ("code", "age")}
    fitted = api.Calibrator.fit(
        rows["score"], rows["label"], method="heterogeneous", features=features, categorical=["code"]
    )
    assert set(fitted.map.features[0].levels) == set("012345")
    probability = fitted.predict([0.5, 0.5], features={"code": ["x", "1"], "age": [20, 20]})
    assert np.isfinite(probability).all()


RULES = {
    "boundary": ("boundary", "rows.parquet", "--precision", "0.6", "--by", "code", "--uncertainty", "age"),
    "partition": ("calibrate", "rows.parquet", *HETEROGENEOUS, "--partition", "code"),
    "tree": (
        *("calibrate", "rows.parquet", *HETEROGENEOUS, "--features", "code,age"),
        *("--categorical", "code", "--min-leaf", "200"),
    ),
}


@pytest.mark.thorough
@pytest.mark.parametrize("rule", RULES)
def test_whole_numbers_name_the_same_group_whatever_their_type(uqcli, rows, rule):
    floats = rows.with_columns(pl.col("code").cast(pl.Float64))
    floats.write_parquet("floats.parquet")
    floats.write_csv("floats.csv")
    integers = ("rows.parquet", "rows.csv")
    assert uqcli(*RULES[rule], "-q", "-o", "integers.json").code == 0
    line = [word.replace("rows.parquet", "floats.parquet") for word in RULES[rule]]
    assert uqcli(*line, "-q", "-o", "floats.json").code == 0
    name = "decision" if rule == "boundary" else "calibrated"
    added = []
    for saved in ("integers.json", "floats.json"):
        for source in (*integers, "floats.parquet", "floats.csv"):
            outcome = uqcli("apply", saved, source, "-o", "out.parquet", "--json")
            assert (outcome.code, outcome.json["metrics"]["new_categories"]) == (0, 0)
            added.append(pl.read_parquet("out.parquet")[name].to_list())
            for form in (("sql",), ("sql", "--dialect", "sqlite"), ("python",)):
                assert uqcli("export", saved, "--to", *form, "--check", source, "-q").code == 0
    assert all(values == added[0] for values in added)


def test_both_texts_of_a_whole_number_may_be_groups_of_an_older_rule(uqcli, rows):
    names = {"low": "1", "high": "1.0"}
    texts = rows.with_columns(code=pl.when(pl.col("code") < 3).then(pl.lit("low")).otherwise(pl.lit("high")))
    texts.write_csv("named.csv")
    texts.with_columns(pl.col("code").replace(names)).write_csv("texts.csv")
    line = ("boundary", "named.csv", "--precision", "0.6", "--by", "code", "--uncertainty", "age")
    assert uqcli(*line, "-q", "-o", "rule.json").code == 0
    saved = json.loads(Path("rule.json").read_text())
    saved["groups"] = {names[name]: group for name, group in saved["groups"].items()}
    del saved["digest"]
    Path("older.json").write_text(json.dumps(saved))
    outcome = uqcli("apply", "older.json", "texts.csv", "-o", "out.parquet", "--json")
    assert outcome.json["metrics"]["selected"] == saved["fit"]["selected"]
    outcome = uqcli("export", "older.json", "--to", "sql", "--dialect", "postgres")
    assert (outcome.code, "1.0, a number that databases write in different ways" in outcome.err) == (2, True)
