"""Tests of ``evaluate`` on rows that depend on each other, or do not count alike."""

import json

import numpy as np
import polars as pl
import pytest

from tests.cli.conftest import fit
from tests.documentation import designs_page
from tests.statistical.clustered import cluster_of_rows, labels, normals, uniforms
from uqcli.estimates import allowed
from uqcli.estimates.survey import tail_of_clusters

RATES = ("precision", "recall", "fpr", "net_benefit")
CLUSTERS = ("--cluster", "customer")
WEIGHTS = ("--sampling-weight", "w")
GAIN = ("--gain", "amount", "--cost", "5")


def draw_customers():
    """Draw rows of 300 customers with amounts, segments and sampling weights."""
    random = np.random.default_rng(8)
    cluster = cluster_of_rows(random, 300, "1-30")
    score = uniforms(random, cluster, 0.3)
    return pl.DataFrame(
        {
            "score": score,
            "uncertainty": normals(random, cluster, 0.3),
            "label": labels(random, cluster, score, 0.3).astype(int),
            "customer": [f"k{index}" for index in cluster],
            "country": random.choice(["at", "ch", "de"], len(cluster)),
            "amount": np.exp(random.normal(3, 1, len(cluster))).round(2),
            "w": random.choice([1.0, 2.0, 5.0], len(cluster)),
        }
    )


@pytest.fixture(scope="module")
def customers():
    return draw_customers()


def fit_rules():
    draw_customers().write_parquet("rows.parquet")
    fit("boundary rows.parquet --precision 0.8 --algorithm st -o rule.json")
    fit("boundary rows.parquet --recall 0.4 --algorithm st -o other.json")
    fit("boundary rows.parquet --precision 0.6 --review 5% --algorithm st -o zones.json")


@pytest.fixture
def rules(prepared, customers, tmp_path):
    """Fit three rules, and write the rows in order, and shuffled as CSV."""
    customers.write_parquet(tmp_path / "rows.parquet")
    customers.sample(fraction=1, shuffle=True, seed=1).write_csv(tmp_path / "shuffled.csv")
    return prepared(fit_rules)


@pytest.fixture
def evaluate(uqcli, rules):
    def run(*arguments, rule="rule.json", rows="rows.parquet"):
        outcome = uqcli("evaluate", rule, rows, "--json", *arguments)
        assert outcome.code == 0, outcome.err
        return outcome.json

    return run


def near(estimate):
    return {end: pytest.approx(value, rel=1e-9) for end, value in estimate.items()}


DESIGNS = pytest.mark.parametrize("design", [CLUSTERS, WEIGHTS, (*CLUSTERS, *WEIGHTS)], ids=" ".join)


@pytest.mark.covering("thorough", every=2)
@DESIGNS
@pytest.mark.parametrize("rule", ["rule.json", "zones.json"])
def test_a_group_is_measured_as_if_it_were_the_file(evaluate, customers, tmp_path, design, rule):
    groups = evaluate(*design, *GAIN, "--by", "country", rule=rule)["metrics"]["by_group"]
    for country, metrics in groups.items():
        customers.filter(country=country).write_parquet(tmp_path / "one.parquet")
        alone = evaluate(*design, *GAIN, rows="one.parquet", rule=rule)["metrics"]
        assert {**metrics, "dropped_share": 0.0} == {**alone, "promise_broken": None}


def test_the_value_of_a_group_is_in_its_row(uqcli, rules):
    outcome = uqcli("evaluate", "rule.json", "rows.parquet", *CLUSTERS, *GAIN, "--by", "country").out.decode()
    header = next(line.split() for line in outcome.splitlines() if line.startswith("country"))
    assert header == ["country", "rows", "flagged", "precision", "recall", "value", "p"]
    assert all(
        line.count("[") == 3 for line in outcome.splitlines() if line.startswith(("at ", "ch ", "de "))
    )


@DESIGNS
def test_no_order_format_or_engine_changes_a_byte(evaluate, design):
    command = (*design, *GAIN, "--by", "country")
    first = evaluate(*command)
    shuffled = evaluate(*command, rows="shuffled.csv")
    assert shuffled["metrics"] == first["metrics"]
    assert evaluate(*command, "--engine", "spark")["metrics"] == first["metrics"]


def test_weights_of_one_are_no_weights(evaluate, customers, tmp_path):
    customers.with_columns(w=1.0).write_parquet(tmp_path / "ones.parquet")
    for design in ((), CLUSTERS):
        plain = evaluate(*design, *GAIN, rows="ones.parquet")["metrics"]
        weighted = evaluate(*design, *WEIGHTS, *GAIN, rows="ones.parquet")["metrics"]
        for name in (*RATES, "value", "value_caught"):
            assert weighted[name] == {
                end: pytest.approx(value, rel=1e-9) for end, value in plain[name].items()
            }


def test_the_value_by_weight_is_that_of_the_rows_written_out(evaluate, customers, tmp_path):
    written_out = customers.select(pl.all().repeat_by(pl.col("w").cast(pl.Int64))).explode(pl.all())
    written_out.write_parquet(tmp_path / "many.parquet")
    for design in ((), CLUSTERS):
        many = evaluate(*design, *GAIN, rows="many.parquet")["metrics"]
        weighted = evaluate(*design, *WEIGHTS, *GAIN)["metrics"]
        for name in (*RATES, "value", "value_caught"):
            assert weighted[name]["value"] == pytest.approx(many[name]["value"]), name
        if design:  # the interval needs only the sum of each cluster, which is the same
            assert weighted["value"] == near(many["value"])


def test_the_value_of_clusters_is_that_of_their_sums(evaluate, customers, tmp_path):
    """With one row a cluster whose amount is the cluster's sum, the intervals are those of rows."""
    (threshold,) = json.loads((tmp_path / "rule.json").read_text())["thresholds"]
    flagged = customers.filter((pl.col("score") >= threshold) & (pl.col("label") == 1))
    sums = flagged.group_by("customer").agg(pl.col("amount").sum().round(2))
    sums = sums.with_columns(score=1.0, label=pl.lit(1, pl.Int64), uncertainty=0.0)
    rest = customers.filter((pl.col("score") < threshold) & (pl.col("label") == 0))
    rest = (
        rest.select("customer")
        .unique()
        .with_columns(amount=0.0, score=0.0, label=pl.lit(0, pl.Int64), uncertainty=0.0)
    )
    both = pl.concat([flagged.select(rest.columns), rest])
    both.write_parquet(tmp_path / "rows_of.parquet")
    pl.concat([sums.select(rest.columns), rest]).write_parquet(tmp_path / "sums.parquet")
    gain = ("--gain", "amount", "--cost", "1")
    clustered = evaluate(*CLUSTERS, *gain, rows="rows_of.parquet")["metrics"]["value"]
    pooled = evaluate(*CLUSTERS, *gain, rows="sums.parquet")["metrics"]["value"]
    assert clustered == near(pooled)
    assert clustered["low"] < clustered["value"] < clustered["high"]


@DESIGNS
def test_two_rules_differ_by_what_one_is_more(uqcli, rules, design):
    command = ("evaluate", "rule.json", "other.json", "rows.parquet", "--json", *design, *GAIN)
    report = uqcli(*command).json
    first, second = (result["metrics"] for result in report["results"])
    difference = report["metrics"]["difference"]
    for name in ("precision", "recall", "value", "value_caught"):
        expected = second[name]["value"] - first[name]["value"]
        assert difference[name]["value"] == pytest.approx(expected), name
        assert difference[name]["low"] <= expected <= difference[name]["high"], name


@pytest.mark.parametrize("options", [WEIGHTS, GAIN, (*CLUSTERS, *WEIGHTS)], ids=" ".join)
def test_a_file_without_a_usable_row_adds_nothing(evaluate, uqcli, customers, tmp_path, options):
    unusable = customers.with_columns(
        pl.lit(None, pl.Float64).alias("w"), pl.lit(None, pl.Int64).alias("label")
    )
    unusable.write_parquet(tmp_path / "unusable.parquet")
    both = evaluate("unusable.parquet", *options, "--on-invalid", "drop")
    assert both["source"]["dropped"] == len(customers)
    assert both["metrics"]["rows"] == len(customers)
    for action, found in (("drop", "no rows to work on"), ("error", f"has {len(customers)} null")):
        outcome = uqcli("evaluate", "rule.json", "unusable.parquet", *options, "--on-invalid", action)
        assert outcome.code == 3
        assert found in outcome.err


def test_flagged_rows_by_weight_differ_by_a_share(uqcli, rules):
    """A number of rows that others stand for would not be the difference of the numbers beside it."""
    command = ("evaluate", "rule.json", "other.json", "rows.parquet", *WEIGHTS)
    first, second = (
        result["metrics"]["selected_share"] for result in uqcli(*command, "--json").json["results"]
    )
    (line,) = (line for line in uqcli(*command).out.decode().splitlines() if line.startswith("flagged"))
    assert f"{100 * (second - first):+.2f} % (p" in line


def test_few_clusters_have_one_reason_for_no_interval(uqcli, rules, customers):
    """That they are also of unequal size is none, since equal ones would not suffice."""
    outcome = uqcli("evaluate", "rule.json", "rows.parquet", "--cluster", "country", "--verbose")
    cautions = [
        line for line in outcome.out.decode().replace("\n", " ").split("Caution: ") if "no interval" in line
    ]
    assert len(cautions) == 2
    assert all("3 clusters have" in line and "10 needed" in line for line in cautions)


def test_segments_are_tested_over_their_clusters(evaluate, customers, tmp_path):
    (threshold,) = json.loads((tmp_path / "rule.json").read_text())["thresholds"]
    report = evaluate(*CLUSTERS, "--audit", "country")
    flagged = customers.filter(pl.col("score") >= threshold)
    for segment in report["audit"]:
        inside = flagged.filter(country=segment["segment"]["country"])
        sums = inside.group_by("customer").agg(pl.len(), pl.col("label").sum()).sort("customer")
        trials, hits = sums["len"].to_numpy().astype(np.int64), sums["label"].to_numpy().astype(np.int64)
        assert segment["p"] == pytest.approx(tail_of_clusters(trials - hits, trials, 1 - 0.8))
        assert (segment["rows"], segment["detectable"]) == (inside.height, None)
    by_group = evaluate(*CLUSTERS, "--by", "country")
    assert by_group["metrics"]["worst_group"]["p"] == min(segment["p_holm"] for segment in report["audit"])


def test_labels_of_some_rows_stand_for_all_within_clusters(evaluate, customers, tmp_path):
    random = np.random.default_rng(2)
    known = random.random(customers.height) < np.where(customers["score"] >= 0.5, 0.8, 0.4)
    part = customers.with_columns(label=pl.when(pl.Series(known)).then("label"))
    part.write_parquet(tmp_path / "part.parquet")
    drop = ("--on-invalid", "drop")
    clustered = evaluate(*CLUSTERS, *drop, rows="part.parquet")["metrics"]
    rows = evaluate(*drop, rows="part.parquet")["metrics"]
    for name in RATES:
        assert clustered[name]["value"] == pytest.approx(rows[name]["value"]), name
        assert clustered[name]["low"] < clustered[name]["value"] < clustered[name]["high"]
    assert clustered["recall"]["low"] < rows["recall"]["low"]  # rows of a customer are alike


def test_groups_of_few_clusters_are_not_tested(uqcli, rules, customers, tmp_path):
    few = customers.filter(pl.col("customer").rank("dense") <= 8)
    few = pl.concat([few] * 9)  # enough rows, but of eight customers
    few.write_parquet(tmp_path / "few.parquet")
    report = uqcli("evaluate", "rule.json", "few.parquet", "--by", "country", *CLUSTERS, "--json").json
    assert report["metrics"]["worst_group"]["p"] is None
    assert any("too few clusters" in note for note in report["notes"])


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ((*CLUSTERS, "--shift", "shift.json"), "--cluster and --shift cannot be combined"),
        ((*WEIGHTS, "--audit", "country"), "--sampling-weight and --audit cannot be combined"),
    ],
)
def test_what_cannot_hold_is_refused_with_its_reason(uqcli, rules, options, message):
    outcome = uqcli("evaluate", "rule.json", "rows.parquet", *options)
    assert (outcome.code, message in outcome.err) == (2, True), outcome.err


OPTIONS = {
    allowed.CLUSTERS: ("--cluster", "customer"),
    allowed.WEIGHTS: ("--sampling-weight", "w"),
    allowed.SHIFT: ("--shift", "shift.json"),
    allowed.AUDIT: ("--audit", "country"),
}
RULES = {allowed.CALIBRATORS: "calibrator.json", allowed.SETS: "sets.json"}


def fit_other_rules():
    draw_customers().write_parquet("rows.parquet")
    fit("calibrate rows.parquet --method platt -o calibrator.json")
    fit("conformal rows.parquet --alpha 0.1 -o sets.json")


@pytest.mark.parametrize(
    "pair", [pair for pair in allowed.REFUSED if pair[1] != allowed.ERRORS], ids=" with ".join
)
def test_what_the_docs_say_is_refused_is_refused(uqcli, customers, prepared, tmp_path, pair):
    customers.write_parquet(tmp_path / "rows.parquet")
    prepared(fit_rules)
    prepared(fit_other_rules)
    design, subject = pair
    options = [option for name in design.split(" and ") for option in OPTIONS[name]]
    options += OPTIONS.get(subject, ())
    outcome = uqcli("evaluate", RULES.get(subject, "rule.json"), "rows.parquet", *options)
    assert (outcome.code, allowed.REFUSED[pair] in outcome.err) == (2, True), outcome.err


def test_every_design_and_subject_has_an_answer():
    for design in designs_page.DESIGNS:
        for subject in designs_page.SUBJECTS:
            has_note = (design, subject) in designs_page.NOTES
            assert bool(designs_page.reason(design, subject)) != has_note
