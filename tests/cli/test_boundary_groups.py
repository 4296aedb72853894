"""Tests of rules by group and of predicted classes: each group as if it were a file of its own."""

import json

import numpy as np
import polars as pl
import pytest

SIZES = {"10": 1200, "9": 700, "north, east": 500, "tiny": 60}


def rows(seed, sizes=SIZES):
    """Draw rows whose positive rate by score differs between groups."""
    random = np.random.default_rng(seed)
    frames = []
    for power, (name, size) in enumerate(sizes.items(), 1):
        score, uncertainty = random.random(size).round(3), random.random(size).round(2)
        label = random.random(size) < score ** (power / 2 + uncertainty)
        frames.append(
            pl.DataFrame(
                {
                    "score": score,
                    "uncertainty": uncertainty,
                    "label": label.astype(int),
                    "region": [name] * size,
                }
            )
        )
    return pl.concat(frames).sample(fraction=1, shuffle=True, seed=seed)


@pytest.fixture
def files(tmp_path):
    """Write a calibration set and a test set."""
    rows(1).write_csv(tmp_path / "fit.csv")
    rows(2, {**SIZES, "new": 300}).write_csv(tmp_path / "test.csv")


def saved(tmp_path, name="rule.json"):
    return json.loads((tmp_path / name).read_text())


ALGORITHMS = {
    "smooth": ("--algorithm", "smooth"),
    "smooth, 4 bins": ("--algorithm", "smooth", "--uncertainty-bins", "4"),
    "exact": ("--algorithm", "vw-dpmt"),
    "exact, all scores": ("--algorithm", "vw-dpmt", "--score-bins", "all"),
}


@pytest.mark.thorough
@pytest.mark.parametrize("algorithm", ALGORITHMS)
def test_a_bound_in_each_group_gives_the_rule_of_its_rows_alone(uqcli, files, tmp_path, algorithm):
    options = ("--precision", "0.7", *ALGORITHMS[algorithm], "-q")
    assert (
        uqcli("boundary", "fit.csv", *options, "--by", "region", "--bound", "each", "-o", "rule.json").code
        == 0
    )
    rule = saved(tmp_path)
    assert list(rule["groups"]) == ["10", "9", "north, east"]
    for name, group in rule["groups"].items():
        rows(1).filter(pl.col("region") == name).write_csv(tmp_path / "part.csv")
        assert uqcli("boundary", "part.csv", *options, "-o", "alone.json").code == 0
        alone = saved(tmp_path, "alone.json")
        for key in ("uncertainty_edges", "thresholds", "fit"):
            assert group[key] == alone[key]
    assert uqcli("boundary", "fit.csv", *options, "-o", "pooled.json").code == 0
    pooled = saved(tmp_path, "pooled.json")
    assert (rule["uncertainty_edges"], rule["thresholds"]) == (
        pooled["uncertainty_edges"],
        pooled["thresholds"],
    )


@pytest.mark.covering("thorough", every=4)
@pytest.mark.parametrize("bound", ["overall", "each"])
@pytest.mark.parametrize("algorithm", ["smooth", "vw-dpmt"])
def test_fit_counts_the_rows_as_apply_decides_them(uqcli, files, tmp_path, algorithm, bound):
    options = ("--precision", "0.7", "--algorithm", algorithm, "--by", "region", "--bound", bound)
    assert uqcli("boundary", "fit.csv", *options, "-q", "-o", "rule.json").code == 0
    rule = saved(tmp_path)
    assert uqcli("apply", "rule.json", "fit.csv", "-q", "-o", "applied.csv").code == 0
    applied = pl.read_csv(tmp_path / "applied.csv")
    assert counts(applied) == tuple(
        rule["fit"][key] for key in ("selected", "true_positives", "rows", "positives")
    )
    fitted = applied.filter(pl.col("region").is_in(list(rule["groups"])))
    for name, group in rule["groups"].items():
        expected = tuple(group["fit"][key] for key in ("selected", "true_positives", "rows", "positives"))
        assert counts(applied.filter(pl.col("region") == name)) == expected
    selected, true_positives, *_ = counts(fitted)
    assert true_positives >= 0.7 * selected
    metrics = uqcli("evaluate", "rule.json", "fit.csv", "--json").json["metrics"]
    assert (metrics["selected"], metrics["true_positives"]) == counts(applied)[:2]


def counts(frame):
    """Return flagged rows, true positives, rows and positives."""
    flagged = frame.filter(pl.col("decision"))
    return flagged.height, flagged["label"].sum(), frame.height, frame["label"].sum()


def test_small_new_and_missing_groups_use_the_rule_of_all_rows(uqcli, files, tmp_path):
    common = ("boundary", "fit.csv", "--precision", "0.7", "--algorithm", "vw-dpmt", "-q")
    assert uqcli(*common, "--by", "region", "-o", "rule.json").code == 0
    assert uqcli(*common, "-o", "pooled.json").code == 0
    other = rows(2, {"tiny": 200, "new": 200})
    other = other.with_columns(pl.when(pl.int_range(pl.len()) % 5 > 0).then("region").alias("region"))
    other.write_csv(tmp_path / "other.csv")
    for name in ("rule", "pooled"):
        assert uqcli("apply", f"{name}.json", "other.csv", "-q", "-o", f"{name}.csv").code == 0
    assert (tmp_path / "rule.csv").read_bytes() == (tmp_path / "pooled.csv").read_bytes()


def test_a_common_bound_finds_at_least_as_much_as_a_bound_in_each(uqcli, files, tmp_path):
    found = {}
    for bound in ("overall", "each"):
        options = ("--precision", "0.7", "--algorithm", "vw-dpmt", "--by", "region", "--bound", bound)
        report = uqcli("boundary", "fit.csv", *options, "--json", "-o", "rule.json").json
        found[bound] = sum(group["true_positives"] for group in report["metrics"]["by_group"].values())
    assert found["overall"] >= found["each"]


def test_a_group_that_cannot_keep_the_bound_flags_nothing(uqcli, files, tmp_path):
    frame = rows(1).with_columns(pl.when(pl.col("region") == "9").then(0.5).otherwise("score").alias("score"))
    frame.write_csv(tmp_path / "hard.csv")
    options = ("--precision", "0.9", "--by", "region", "--bound", "each", "--uncertainty-bins", "1")
    outcome = uqcli("boundary", "hard.csv", *options, "-o", "rule.json")
    assert outcome.code == 0
    assert "The rule flags nothing in 9, since no rule reaches the target there:" in " ".join(
        outcome.out.decode().split()
    )
    assert saved(tmp_path)["groups"]["9"]["thresholds"] == [None]
    limit = ("--max-fpr", "0.1", *options[2:])
    shown = " ".join(uqcli("boundary", "hard.csv", *limit).out.decode().split())
    assert "since no rule that flags a row keeps within the limit there: allow a higher rate, or" in shown
    impossible = frame.with_columns(score=0.5)
    impossible.write_csv(tmp_path / "hard.csv")
    assert uqcli("boundary", "hard.csv", *options, "-o", "none.json").code == 4
    assert not (tmp_path / "none.json").exists()


@pytest.mark.thorough
def test_each_group_is_tested_without_being_asked(uqcli, files, tmp_path):
    common = ("boundary", "fit.csv", "--precision", "0.7", "--by", "region", "-q")
    assert uqcli(*common, "--bound", "each", "-o", "each.json").code == 0
    assert uqcli(*common, "-o", "overall.json").code == 0
    report = uqcli("evaluate", "each.json", "test.csv", "--json").json
    tested = {group["name"]: group["tested"] for group in report["groups"]}
    assert tested == {"10": True, "9": True, "north, east": True, "(any other)": False}
    assert sum(group["rows"] for group in report["groups"]) == report["metrics"]["rows"]
    assert (
        "these groups are without a rule of their own and not tested: (any other) (360)." in report["notes"]
    )
    assert report["metrics"]["promise_broken"] == int(report["metrics"]["groups_below"] > 0)
    assert "groups" not in uqcli("evaluate", "overall.json", "test.csv", "--json").json
    by_other = uqcli("evaluate", "overall.json", "test.csv", "--by", "region", "--json").json
    assert {group["name"] for group in by_other["groups"] if group["tested"]} == {
        "10",
        "9",
        "north, east",
        "new",
    }


@pytest.mark.parametrize(
    ("options", "code", "found"),
    [
        (("--by", "region", "--algorithm", "mist"), 2, "--by with --algorithm mist"),
        (("--by", "region", "--certify", "0.1"), 2, "--certify and --bound overall cannot be combined"),
        (("--by", "region", "--compare"), 2, "--by and --compare cannot be combined"),
        (("--by", "region", "--review", "5%"), 2, "--by and --review cannot be combined"),
        (("--bound", "each"), 2, "--bound is given without --by or --proba"),
        (("--by", "region", "--min-group", "5000"), 3, "no group has 5000 rows"),
        (("--by", "regoin"), 3, "regoin"),
    ],
)
def test_impossible_options_are_refused(uqcli, files, options, code, found):
    outcome = uqcli("boundary", "fit.csv", "--precision", "0.7", *options, "-o", "rule.json")
    assert outcome.code == code
    assert found in outcome.err


CLASSES = ("a", "b", "10", "c d")


def class_rows(seed, size=2500):
    """Draw class probabilities of one decimal, with ties, and labels."""
    random = np.random.default_rng(seed)
    counts = random.multinomial(10, random.dirichlet(np.ones(len(CLASSES)), size))
    label = [random.choice(CLASSES, p=row / 10) for row in counts]
    columns = {f"q{index}": counts[:, index] / 10 for index in range(len(CLASSES))}
    return pl.DataFrame({**columns, "u": random.random(size).round(2), "label": label})


def predictions(frame):
    """Turn class probabilities into rows of a score, a label and the predicted class, one by one."""
    predicted = []
    for *probabilities, uncertainty, label in frame.iter_rows():
        best = max(probabilities)
        name = CLASSES[probabilities.index(best)]
        predicted.append(
            {"score": best, "uncertainty": uncertainty, "label": int(label == name), "class": name}
        )
    return pl.DataFrame(predicted)


PROBA = ("--proba", "q0,q1,q2,q3", "--classes")


@pytest.mark.thorough
@pytest.mark.parametrize("uncertain", [False, True])
@pytest.mark.parametrize("bound", ["overall", "each"])
def test_classes_are_groups_of_predictions(uqcli, tmp_path, bound, uncertain):
    class_rows(1).write_parquet(tmp_path / "fit.parquet")
    predictions(class_rows(1)).write_parquet(tmp_path / "made.parquet")
    common = ("--precision", "0.6", "--bound", bound, "-q")
    of_classes = (*PROBA, ",".join(CLASSES), *(("--uncertainty", "u") if uncertain else ()))
    of_made = ("--by", "class", *(() if uncertain else ("--uncertainty-bins", "1")))
    assert uqcli("boundary", "fit.parquet", *of_classes, *common, "-o", "rule.json").code == 0
    assert uqcli("boundary", "made.parquet", *of_made, *common, "-o", "same.json").code == 0
    rule, same = saved(tmp_path), saved(tmp_path, "same.json")
    for key in ("groups", "thresholds", "uncertainty_edges", "fit", "expected"):
        assert rule[key] == same[key], key
    assert rule["classes"] == list(CLASSES)
    class_rows(2).write_parquet(tmp_path / "test.parquet")
    predictions(class_rows(2)).write_parquet(tmp_path / "made.parquet")
    assert uqcli("apply", "rule.json", "test.parquet", "-q", "-o", "applied.parquet").code == 0
    assert uqcli("apply", "same.json", "made.parquet", "-q", "-o", "expected.parquet").code == 0
    applied, expected = (pl.read_parquet(tmp_path / f"{name}.parquet") for name in ("applied", "expected"))
    assert applied["decision"].to_list() == expected["decision"].to_list()
    accepted = pl.when("decision").then("class")
    assert applied["class"].to_list() == expected.select(accepted)["class"].to_list()
    measured, wanted = (
        uqcli("evaluate", name, data, "--json").json
        for name, data in (("rule.json", "test.parquet"), ("same.json", "made.parquet"))
    )
    assert measured["metrics"] == wanted["metrics"]
    assert measured.get("groups") == wanted.get("groups")


def test_predictions_refuse_what_they_cannot_use(uqcli, tmp_path):
    class_rows(1).write_csv(tmp_path / "fit.csv")
    common = ("boundary", "fit.csv", "--proba", "q0,q1", "--precision", "0.6")
    for options in (("--by", "u"), ("--score", "u"), ("--uncertainty-bins", "4"), ("--positive", "a")):
        assert uqcli(*common, *options).code == 2


@pytest.mark.thorough
def test_rows_without_a_group_are_measured_under_the_rule_of_all_rows(uqcli, files, tmp_path):
    options = ("--precision", "0.7", "--by", "region", "--bound", "each", "-q", "-o", "rule.json")
    assert uqcli("boundary", "fit.csv", *options).code == 0
    test = rows(2).with_columns(pl.when(pl.int_range(pl.len()) % 4 > 0).then("region").alias("region"))
    test.write_csv(tmp_path / "missing.csv")
    report = uqcli("evaluate", "rule.json", "missing.csv", "--json").json
    assert uqcli("apply", "rule.json", "missing.csv", "-q", "-o", "applied.csv").code == 0
    applied = pl.read_csv(tmp_path / "applied.csv")
    others = applied.filter(~pl.col("region").is_in(["10", "9", "north, east"]) | pl.col("region").is_null())
    (other,) = (group for group in report["groups"] if group["name"] == "(any other)")
    assert (other["metrics"]["selected"], other["metrics"]["true_positives"]) == counts(others)[:2]
    assert other["rows"] == others.height


def test_the_worst_of_groups_that_all_keep_the_bound_has_the_lowest_rate(uqcli, files, tmp_path):
    fixed = ("--uncertainty-bins", "8", "-q", "-o", "rule.json")
    assert uqcli("boundary", "fit.csv", "--precision", "0.3", *fixed).code == 0
    report = uqcli("evaluate", "rule.json", "test.csv", "--by", "region", "--json").json
    tested = [group for group in report["groups"] if group["tested"]]
    assert {group["p"] for group in tested} == {1.0}
    lowest = min(tested, key=lambda group: group["metrics"]["precision"]["value"])
    assert report["worst_group"] == lowest["name"] != tested[0]["name"]
