"""Tests of gains and costs by row: rules, reports, checks, evaluation, and what is refused."""

import json
from fractions import Fraction

import numpy as np
import polars as pl
import pytest

from tests.oracles import value_range
from tests.statistical.clustered import cluster_of_rows, labels, normals, uniforms
from uqcli.base.wording import percent


def rows(seed, size=3000):
    """Draw rows with heavy-tailed amounts, whose positive rate falls with the uncertainty."""
    random = np.random.default_rng(seed)
    score, uncertainty = random.random(size).round(2), random.random(size).round(2)
    return pl.DataFrame(
        {
            "score": score,
            "uncertainty": uncertainty,
            "label": (random.random(size) < score * (1.2 - uncertainty)).astype(int),
            "amount": np.exp(random.normal(3, 1, size)).round(2),
            "work": random.uniform(5, 30, size).round(4),
        }
    )


@pytest.fixture
def files(tmp_path):
    """Write a calibration set and a test set."""
    rows(1).write_csv(tmp_path / "fit.csv")
    rows(2).write_csv(tmp_path / "test.csv")


WORTH = ("--gain", "amount", "--cost", "work")


def value_of(frame, flagged):
    """Compute the value of flagged rows, and their share of the gain, from the table."""
    gain, cost = (
        frame[name].map_elements(lambda x: Fraction(str(x)), pl.Object) for name in ("amount", "work")
    )
    labels = frame["label"].to_list()
    listed = list(zip(labels, gain, cost, flagged, strict=True))
    value = sum(g if y else -c for y, g, c, f in listed if f)
    caught, total = (sum(g for y, g, _, f in listed if y and (f or every)) for every in (False, True))
    return float(value), float(caught / total)


@pytest.mark.covering("thorough", every=3)
@pytest.mark.parametrize("algorithm", ["smooth", "vw-dpmt", "st", "mist", "all"])
def test_rules_state_the_value_that_their_decisions_have(uqcli, files, tmp_path, algorithm):
    outcome = uqcli("boundary", "fit.csv", *WORTH, "--algorithm", algorithm, "--json", "-o", "r.json")
    metrics, saved = outcome.json["metrics"], json.loads((tmp_path / "r.json").read_text())
    assert uqcli("apply", "r.json", "fit.csv", "-q", "-o", "out.csv").code == 0
    decided = pl.read_csv(tmp_path / "out.csv", schema_overrides={"decision": pl.Boolean})
    value, caught = value_of(decided, decided["decision"].to_list())
    assert (metrics["value"], metrics["value_caught"]) == (value, caught)
    assert (saved["fit"]["value"], saved["fit"]["value_caught"]) == (value, caught)
    assert saved["format_version"] == 2
    assert saved["source"]["columns"] | {"gain": "amount", "cost": "work"} == saved["source"]["columns"]
    measured = uqcli("evaluate", "r.json", "fit.csv", "--json").json["metrics"]
    assert (measured["value"]["value"], measured["value_caught"]["value"]) == (value, caught)
    first = uqcli("evaluate", "r.json", "fit.csv").out.decode().splitlines()[0]
    assert first.startswith("The flagged rows are worth ")
    assert first.endswith(f"; they hold {percent(caught)} of the gain from all positives.")


def test_applying_needs_no_amounts(uqcli, files, tmp_path):
    assert uqcli("boundary", "fit.csv", *WORTH, "-q", "-o", "r.json").code == 0
    rows(4).drop("amount", "work", "label").write_csv(tmp_path / "new.csv")
    assert uqcli("apply", "r.json", "new.csv", "-q", "-o", "out.csv").code == 0
    assert uqcli("show", "r.json").code == 0


def test_two_rules_differ_by_the_rows_that_one_of_them_flags(uqcli, files, tmp_path):
    assert uqcli("boundary", "fit.csv", *WORTH, "-q", "-o", "money.json").code == 0
    assert uqcli("boundary", "fit.csv", "--max-selected", "20", "-q", "-o", "precise.json").code == 0
    report = uqcli("evaluate", "precise.json", "money.json", "test.csv", "--json").json
    flagged = []
    for name in ("precise", "money"):
        assert uqcli("apply", f"{name}.json", "test.csv", "-q", "-o", f"{name}.csv").code == 0
        frame = pl.read_csv(tmp_path / f"{name}.csv", schema_overrides={"decision": pl.Boolean})
        flagged.append(frame["decision"].to_numpy())
    test = pl.read_csv(tmp_path / "test.csv")
    values = [value_of(test, mask.tolist())[0] for mask in flagged]
    difference = report["metrics"]["difference"]["value"]
    assert difference["value"] == pytest.approx(values[1] - values[0], abs=1e-9)
    units = np.where(test["label"] == 1, test["amount"], -test["work"]).tolist()
    rows = list(zip(*(mask.tolist() for mask in flagged), units, range(len(units)), strict=True))
    ranges = value_range.of_rows(rows, 0.95, by_cluster=False)
    found = [*(result["metrics"]["value"] for result in report["results"]), difference]
    for (low, high), estimate in zip(ranges, found, strict=True):
        assert (estimate["low"], estimate["high"]) == pytest.approx((low, high), rel=1e-9)
    better = "money.json" if values[1] > values[0] else "precise.json"
    assert any(note.startswith(f"{better} is worth ") for note in report["notes"])


def test_given_amounts_measure_any_boundary(uqcli, files):
    assert uqcli("boundary", "fit.csv", "--precision", "0.7", "-q", "-o", "r.json").code == 0
    assert "value" not in uqcli("evaluate", "r.json", "test.csv", "--json").json["metrics"]
    metrics = uqcli("evaluate", "r.json", "test.csv", *WORTH, "--json").json["metrics"]
    assert metrics["value"]["low"] < metrics["value"]["value"] < metrics["value"]["high"]
    assert uqcli("evaluate", "r.json", "test.csv", *WORTH, "--fail-if", "value.low < 1e9").code == 6
    assert uqcli("evaluate", "r.json", "test.csv", *WORTH, "--fail-if", "value_caught < 0").code == 0
    metrics = uqcli("evaluate", "r.json", "test.csv", "--gain", "3", "--cost", "2", "--json").json["metrics"]
    false_positives = metrics["selected"] - metrics["true_positives"]
    assert metrics["value"]["value"] == 3 * metrics["true_positives"] - 2 * false_positives
    assert metrics["value_caught"]["value"] == metrics["recall"]["value"]


def test_comparisons_answer_in_money(uqcli, files):
    outcome = uqcli("boundary", "fit.csv", *WORTH, "--compare", "--json")
    gain = outcome.json["metrics"]["gain"]
    assert gain["value"]["low"] < gain["value"]["value"] < gain["value"]["high"]
    assert gain["recall"]["low"] is None
    assert outcome.json["verdict"] == "helps"
    assert f"value {gain['value']['value']:+,.2f}" in " ".join(outcome.json["notes"])


def test_checks_on_the_value_of_the_calibration_set(uqcli, files, tmp_path):
    line = ("boundary", "fit.csv", *WORTH, "-q", "-o", "r.json")
    assert uqcli(*line, "--fail-if", "value < 1e9").code == 6
    assert not (tmp_path / "r.json").exists()
    assert uqcli(*line, "--fail-if", "value_caught < 0.01").code == 0


@pytest.mark.parametrize("amount", ["-1", "0.12345", "1e13", "", "x"])
def test_unusable_amounts_are_refused(uqcli, tmp_path, amount):
    (tmp_path / "rows.csv").write_text(f"score,label,amount\n0.9,1,2\n0.8,1,{amount}\n0.1,0,3\n")
    outcome = uqcli("boundary", "rows.csv", "--gain", "amount", "--cost", "1", "--algorithm", "st")
    assert outcome.code == 3
    assert "amount" in outcome.err
    assert "error: " in outcome.err


@pytest.mark.parametrize(
    ("more", "code"),
    [
        (("--gain", "amount"), 2),
        (("--gain", "amount", "--cost", "0"), 2),
        (("--gain", "amount", "--cost", "0.00001"), 2),
        (("--gain", "nowhere", "--cost", "1"), 3),
        ((*WORTH, "--certify", "0.1"), 2),
        ((*WORTH, "--by", "label"), 2),
        ((*WORTH, "--precision", "0.7"), 2),
        ((*WORTH, "--review", "5%"), 2),
        ((*WORTH, "--algorithm", "gmt"), 2),
    ],
)
def test_options_that_do_not_fit_are_refused(uqcli, files, more, code):
    outcome = uqcli("boundary", "fit.csv", *more)
    assert outcome.code == code
    assert outcome.err.startswith("error: ")


def test_rules_without_any_gain_are_infeasible(uqcli, tmp_path):
    rows(1).with_columns(work=pl.lit(1e6)).write_csv(tmp_path / "dear.csv")
    outcome = uqcli("boundary", "dear.csv", *WORTH, "--json")
    assert outcome.code == 4
    assert outcome.json["metrics"]["value"] is None


def test_rules_with_different_amounts_need_common_ones(uqcli, files):
    assert uqcli("boundary", "fit.csv", *WORTH, "-q", "-o", "a.json").code == 0
    assert uqcli("boundary", "fit.csv", "--gain", "amount", "--cost", "7", "-q", "-o", "b.json").code == 0
    outcome = uqcli("evaluate", "a.json", "b.json", "test.csv")
    assert outcome.code == 2
    assert "give --gain and --cost" in outcome.err
    assert uqcli("evaluate", "a.json", "b.json", "test.csv", *WORTH).code == 0


def test_few_rows_have_a_value_without_an_interval(uqcli, files, tmp_path):
    assert uqcli("boundary", "fit.csv", *WORTH, "-q", "-o", "r.json").code == 0
    rows(5, size=12).write_csv(tmp_path / "few.csv")
    value = uqcli("evaluate", "r.json", "few.csv", "--json").json["metrics"]["value"]
    assert (value["low"], value["high"]) == (None, None)
    outcome = uqcli("evaluate", "r.json", "few.csv", "--fail-if", "value.low < 0")
    assert outcome.code == 6


def test_weights_are_repeated_rows(uqcli, tmp_path):
    frame = rows(6, size=600).with_columns(w=pl.int_range(600) % 4)
    frame.write_csv(tmp_path / "weighted.csv")
    repeated = frame.select(pl.exclude("w").repeat_by("w")).explode(pl.all())
    repeated.sample(fraction=1, shuffle=True, seed=3).write_parquet(tmp_path / "repeated.parquet")
    files = []
    for name, weight in (("weighted.csv", ("--weight", "w")), ("repeated.parquet", ())):
        assert uqcli("boundary", name, *WORTH, *weight, "-q", "-o", "r.json").code == 0
        saved = json.loads((tmp_path / "r.json").read_text())
        metrics = uqcli("evaluate", "r.json", name, *weight, "--json").json["metrics"]
        files.append((saved["thresholds"], saved["fit"], metrics["value"], metrics["value_caught"]))
    assert files[0] == files[1]


@pytest.mark.parametrize(("deviation", "cautioned"), [(1, False), (2.5, True)])
def test_a_value_that_a_few_large_amounts_decide_is_cautioned_of(
    uqcli, files, tmp_path, deviation, cautioned
):
    assert uqcli("boundary", "fit.csv", *WORTH, "-q", "-o", "a.json").code == 0
    assert uqcli("boundary", "fit.csv", "--precision", "0.5", "-q", "-o", "b.json").code == 0
    amount = np.exp(np.random.default_rng(4).normal(3, deviation, 3000)).round(2)
    rows(2).with_columns(amount=pl.Series(amount)).write_csv(tmp_path / "tail.csv")
    report = uqcli("evaluate", "a.json", "b.json", "tail.csv", *WORTH, "--json").json
    notes = " ".join(report["notes"])
    for name in ("a.json: value", "b.json: value"):
        caution = f"{name}: a few large amounts decide it, so its interval may be too short"
        assert (caution in notes) == cautioned
    assert "heavy_tailed" not in report["results"][0]["metrics"]


def customers(seed):
    """Draw rows of 120 customers with amounts, who are alike."""
    random = np.random.default_rng(seed)
    customer = cluster_of_rows(random, 120, "1-30")
    score = uniforms(random, customer, 0.4)
    return pl.DataFrame(
        {
            "score": score,
            "uncertainty": normals(random, customer, 0.4),
            "label": labels(random, customer, score, 0.4).astype(int),
            "amount": np.exp(3 + normals(random, customer, 0.3)).round(2),
            "work": random.uniform(5, 30, len(customer)).round(4),
            "customer": [f"k{index}" for index in customer],
            "day": [f"2026-03-{1 + index % 28:02d}" for index in customer],
        }
    )


@pytest.fixture
def alike(tmp_path):
    """Write rows of customers in order, and shuffled as CSV."""
    frame = customers(1)
    frame.write_parquet(tmp_path / "alike.parquet")
    frame.sample(fraction=1, shuffle=True, seed=1).write_csv(tmp_path / "shuffled.csv")
    return frame


def test_a_desk_with_several_rows_a_customer_has_its_day(uqcli, alike, tmp_path):
    command = ("boundary", "alike.parquet", *WORTH, "--algorithm", "st")
    report = uqcli(*command, "--cluster", "customer", "--json", "-o", "rule.json").json
    alone = uqcli(*command, "--json").json
    assert report["thresholds"] == alone["thresholds"]
    for name in ("value", "value_caught", "selected", "true_positives"):
        assert report["metrics"][name] == alone["metrics"][name]
    expected, independent = (each["metrics"]["expected"]["precision"] for each in (report, alone))
    assert expected["value"] == independent["value"]
    assert expected["low"] < independent["low"] < independent["high"] < expected["high"]
    measured = uqcli("evaluate", "rule.json", "alike.parquet", "--json").json["metrics"]
    assert measured["clusters"] == 120
    assert measured["value"]["value"] == report["metrics"]["value"]
    watched = ("watch", "rule.json", "alike.parquet", "--bound", "0.4", "--state", "state.json")
    assert uqcli(*watched, "--cluster", "customer", "--day", "day", "-q").code == 0
    assert uqcli("apply", "rule.json", "alike.parquet", "-q", "-o", "out.csv").code == 0


@pytest.mark.thorough
@pytest.mark.parametrize("options", [(), ("--algorithm", "vw-dpmt"), ("--compare",)])
def test_amounts_of_customers_give_one_rule_whatever_the_order_and_engine(uqcli, alike, tmp_path, options):
    command = ("boundary", *WORTH, "--cluster", "customer", *options)
    first = uqcli(*command, "alike.parquet", "--json", "-o", "a.json")
    again = uqcli(*command, "shuffled.csv", "--json", "-o", "b.json")
    assert again.json["metrics"] == first.json["metrics"]
    assert json.loads((tmp_path / "b.json").read_text()) == json.loads((tmp_path / "a.json").read_text())
    on_spark = uqcli(*command, "alike.parquet", "--json", "-o", "c.json", "--engine", "spark")
    assert on_spark.out == first.out.replace(b"a.json", b"c.json")
    assert (tmp_path / "c.json").read_bytes() == (tmp_path / "a.json").read_bytes()


def test_the_value_gained_by_an_uncertainty_has_the_interval_of_customers(uqcli, alike):
    command = ("boundary", "alike.parquet", *WORTH, "--compare", "--json")
    clustered = uqcli(*command, "--cluster", "customer").json["metrics"]["gain"]["value"]
    independent = uqcli(*command).json["metrics"]["gain"]["value"]
    for gained in (clustered, independent):
        assert gained["low"] < gained["value"] < gained["high"]
    assert clustered != independent


def test_the_range_is_by_customer_where_rows_of_one_are_alike(uqcli, files, tmp_path):
    customers = pl.Series("customer", np.arange(pl.read_csv("test.csv").height) // 3)
    test = pl.read_csv("test.csv").with_columns(customers)
    test.write_csv("customers.csv")
    for name, options in (("one", WORTH), ("two", ("--max-selected", "300"))):
        assert uqcli("boundary", "fit.csv", *options, "-q", "-o", f"{name}.json").code == 0
        assert uqcli("apply", f"{name}.json", "test.csv", "-q", "-o", f"{name}.csv").code == 0
    flagged = [
        pl.read_csv(f"{name}.csv", schema_overrides={"decision": pl.Boolean})["decision"].to_list()
        for name in ("one", "two")
    ]
    amounts = np.where(test["label"] == 1, test["amount"], -test["work"]).tolist()
    rows = list(zip(*flagged, amounts, test["customer"].to_list(), strict=True))
    line = ("evaluate", "one.json", "two.json", "customers.csv", *WORTH, "--cluster", "customer", "--json")
    report = uqcli(*line).json
    found = [*(result["metrics"]["value"] for result in report["results"])]
    found.append(report["metrics"]["difference"]["value"])
    for limits, estimate in zip(value_range.of_rows(rows, 0.95, by_cluster=True), found, strict=True):
        assert (estimate["low"], estimate["high"]) == pytest.approx(limits, rel=1e-9)
    few = test.with_columns(customer=pl.col("customer") % 19)
    few.write_csv("customers.csv")
    assert uqcli(*line).json["results"][0]["metrics"]["value"]["low"] is None


def test_nothing_is_expected_where_no_row_has_a_gain(uqcli, files, tmp_path):
    assert uqcli("boundary", "fit.csv", "--precision", "0.7", "-q", "-o", "r.json").code == 0
    pl.read_csv("test.csv").with_columns(label=pl.lit(0)).write_csv("negatives.csv")
    value = uqcli("evaluate", "r.json", "negatives.csv", *WORTH, "--json").json["metrics"]["value"]
    assert value["value"] < 0
    assert (value["low"], value["high"]) == (None, None)


def test_the_comparison_by_value_takes_a_weight_for_repeated_rows(uqcli, tmp_path):
    random = np.random.default_rng(6)
    size = 300
    score = random.random(size).round(2)
    rows = pl.DataFrame(
        {
            "score": score,
            "uncertainty": random.integers(0, 3, size) / 2,
            "label": (random.random(size) < score).astype(int),
            "gain": random.integers(1, 90, size) / 4,
            "w": random.integers(1, 5, size),
        }
    )
    rows.write_csv("weighted.csv")
    rows.select(pl.all().repeat_by("w")).explode(pl.all()).write_csv("repeated.csv")
    line = ("--gain", "gain", "--cost", "3", "--compare", "--seed", "1", "--json")
    weighted = uqcli("boundary", "weighted.csv", "--weight", "w", *line).json
    repeated = uqcli("boundary", "repeated.csv", *line).json
    assert weighted["compared"] == repeated["compared"]
