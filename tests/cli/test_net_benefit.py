"""Tests of the net benefit: a metric of ``evaluate``, and columns of the trade-off table of ``boundary``."""

import polars as pl
import pytest

UNKNOWN = {"value": None, "low": None, "high": None}


@pytest.fixture
def fit(uqcli, data):
    """Fit a boundary with options and return its file."""

    def call(name, *options):
        line = ("boundary", data, "--algorithm", "st", "-q", "-o", name)
        assert uqcli(*line, *options).code == 0
        return name

    return call


def net_benefit_of(metrics, odds):
    false_positives = metrics["selected"] - metrics["true_positives"]
    return (metrics["true_positives"] - odds * false_positives) / metrics["rows"]


@pytest.mark.parametrize(
    ("options", "odds"),
    [
        (("--precision", "0.7"), 7 / 3),
        (("--precision", "0.5", "--recall", "0.1"), 1),
        (("--gain", "4", "--cost", "1"), 1 / 4),
    ],
)
def test_the_constraint_sets_the_odds(uqcli, data, fit, options, odds):
    rule = fit("rule.json", *options)
    metrics = uqcli("evaluate", rule, data, "--json").json["metrics"]
    estimate = metrics["net_benefit"]
    assert estimate["value"] == pytest.approx(net_benefit_of(metrics, odds), abs=1e-12)
    assert estimate["low"] < estimate["value"] < estimate["high"]
    wide = uqcli("evaluate", rule, data, "--json", "--confidence", "0.99").json["metrics"]["net_benefit"]
    assert wide["low"] < estimate["low"] < estimate["high"] < wide["high"]
    failed = uqcli("evaluate", rule, data, "-q", "--fail-if", f"net_benefit.low < {estimate['high']}")
    assert failed.code == 6
    assert uqcli("evaluate", rule, data, "-q", "--fail-if", "net_benefit.low < -1").code == 0


@pytest.mark.parametrize("options", [("--recall", "0.5"), ("--max-selected", "10%"), ("--max-fpr", "0.1")])
def test_other_constraints_set_no_odds(uqcli, data, fit, options):
    rule = fit("rule.json", *options)
    assert "net_benefit" not in uqcli("evaluate", rule, data, "--json").json["metrics"]
    assert "net benefit" not in uqcli("evaluate", rule, data, "--verbose").out.decode()
    refused = uqcli("evaluate", rule, data, "-q", "--fail-if", "net_benefit.low < 0")
    assert (refused.code, "no metric" in refused.err) == (2, True)


def test_two_rules_at_the_same_odds_are_compared(uqcli, data, fit):
    old = fit("old.json", "--precision", "0.7")
    new = fit("new.json", "--precision", "0.7", "--margin", "2", "--algorithm", "smooth")
    report = uqcli("evaluate", old, new, data, "--json").json
    first, second = (result["metrics"] for result in report["results"])
    difference = report["metrics"]["difference"]["net_benefit"]
    expected = second["net_benefit"]["value"] - first["net_benefit"]["value"]
    assert difference["value"] == pytest.approx(expected, abs=1e-12)
    assert difference["low"] < difference["value"] < difference["high"]
    assert uqcli("evaluate", old, new, data, "-q", "--fail-if", "difference.net_benefit.low > -9").code == 6
    other = fit("other.json", "--precision", "0.6")
    without = uqcli("evaluate", old, other, data, "--json").json["metrics"]["difference"]
    assert "net_benefit" not in without


def test_pages_and_verbose_terminals_show_it(uqcli, data, fit, tmp_path):
    old, new = fit("old.json", "--precision", "0.7"), fit("new.json", "--recall", "0.7")
    assert "net benefit" not in uqcli("evaluate", old, data).out.decode()
    assert "net benefit" in uqcli("evaluate", old, data, "--verbose").out.decode()
    assert uqcli("evaluate", old, old, data, "-q", "--report", "two.md").code == 0
    (row,) = [line for line in (tmp_path / "two.md").read_text().splitlines() if "net benefit" in line]
    assert row.endswith("(n.s.) |")
    assert row.count("[") == 3
    assert uqcli("evaluate", old, new, data, "-q", "--report", "one.md").code == 0
    (row,) = [line for line in (tmp_path / "one.md").read_text().splitlines() if "net benefit" in line]
    assert row.count("[") == 1


@pytest.mark.parametrize("unflagged_labels", [0, 99, 100])
def test_it_is_unknown_if_unflagged_rows_have_no_labels(uqcli, data, fit, tmp_path, unflagged_labels):
    rule = fit("rule.json", "--precision", "0.7")
    assert uqcli("apply", rule, data, "-q", "-o", "decided.parquet").code == 0
    decided = pl.read_parquet(tmp_path / "decided.parquet")
    has_label = pl.col("decision") | ((~pl.col("decision")).cum_sum() <= unflagged_labels)
    some = decided.with_columns(label=pl.when(has_label).then(pl.col("label"))).drop("decision")
    some.write_parquet(tmp_path / "some.parquet")
    rows = ("some.parquet", "--on-invalid", "drop")
    is_unknown = unflagged_labels < 100
    metrics = uqcli("evaluate", rule, *rows, "--json").json["metrics"]
    assert (metrics["net_benefit"] == UNKNOWN) == is_unknown
    failed = uqcli("evaluate", rule, *rows, "-q", "--fail-if", "net_benefit.low < -9")
    assert failed.code == (6 if is_unknown else 0)
    two = uqcli("evaluate", rule, rule, *rows, "--json").json["metrics"]
    assert (two["difference"]["net_benefit"] == UNKNOWN) == is_unknown


@pytest.fixture
def shift(uqcli, data):
    """Save class weights of new data."""
    options = ("--estimator", "known", "--prior", "0.6,0.4", "-q", "-o", "shift.json")
    assert uqcli("shift", data, *options).code == 0
    return "shift.json"


def test_class_weights_leave_it_out(uqcli, data, shift, fit, tmp_path):
    rule = fit("rule.json", "--precision", "0.7")
    assert "net_benefit" not in uqcli("evaluate", rule, data, "--shift", shift, "--json").json["metrics"]
    line = ("boundary", data, "--precision", "0.7", "--shift", shift, "-q", "--frontier", "f.csv")
    assert uqcli(*line).code == 0
    assert "net_benefit" not in pl.read_csv(tmp_path / "f.csv").columns


@pytest.mark.thorough
def test_the_trade_off_table_has_it_at_each_bound(uqcli, data, tmp_path):
    def table(*options):
        line = ("boundary", data, *options, "--uncertainty-bins", "2", "-q", "--frontier", "f.parquet")
        assert uqcli(*line).code == 0
        return pl.read_parquet(tmp_path / "f.parquet")

    def expected(table, odds):
        counts = pl.col("true_positives") - odds * (pl.col("selected") - pl.col("true_positives"))
        return table.select(counts / rows).to_series().to_list()

    rows = uqcli("boundary", data, "--precision", "0.5", "--json").json["source"]["rows"]
    one = table("--precision", "0.7")
    assert one.schema["net_benefit"] == pl.Float64
    assert one["net_benefit"].to_list() == pytest.approx(expected(one, 7 / 3), abs=1e-12)
    two = table("--precision", "0.5,0.60")
    assert [name for name in two.columns if "net" in name] == ["net_benefit_0.5", "net_benefit_0.60"]
    for name, odds in (("net_benefit_0.5", 1), ("net_benefit_0.60", 1.5)):
        assert two[name].to_list() == pytest.approx(expected(two, odds), abs=1e-12)
    useful = table("--gain", "4", "--cost", "1")
    assert useful["net_benefit"].to_list() == pytest.approx(expected(useful, 1 / 4), abs=1e-12)
    for options in (("--recall", "0.5,0.6"), ("--max-selected", "50")):
        assert not [name for name in table(*options).columns if "net" in name]


def test_a_precision_of_1_has_no_finite_odds(uqcli, data, tmp_path):
    line = ("boundary", data, "--precision", "1,0.5", "-q", "--frontier", "f.parquet")
    assert uqcli(*line).code in (0, 4)
    table = pl.read_parquet(tmp_path / "f.parquet")
    assert table.schema["net_benefit_1"] == pl.Float64
    assert table["net_benefit_1"].null_count() == table.height > 0
    assert table["net_benefit_0.5"].null_count() == 0
