"""Tests of rules by group and by predicted class whose rows depend on each other within customers or days."""

import json

import numpy as np
import polars as pl
import pytest

from tests.cli.conftest import fit
from tests.statistical.clustered import cluster_of_rows, labels, normals, uniforms
from uqcli.boundary.expected import moved
from uqcli.estimates.dependence import unit_sums
from uqcli.estimates.estimate import Estimate
from uqcli.estimates.survey import proportion_interval

FITTED = ["north", "south"]


def draw_rows():
    """Draw rows of 120 customers in two regions and a small one, and their classes."""
    random = np.random.default_rng(7)
    cluster = cluster_of_rows(random, 120, "1-30")
    score = uniforms(random, cluster, 0.4)
    region = np.where(random.random(len(cluster)) < 0.05, 2, random.integers(0, 2, len(cluster)))
    shares = np.exp(
        random.normal(size=(len(cluster), 3)) + normals(random, cluster, 0.4)[:, None] * [1, 0, 0]
    )
    shares /= shares.sum(axis=1, keepdims=True)
    named = (shares.cumsum(axis=1) < uniforms(random, cluster, 0.8)[:, None]).sum(axis=1).clip(0, 2)
    return pl.DataFrame(
        {
            "score": score,
            "uncertainty": normals(random, cluster, 0.4),
            "label": labels(random, cluster, score, 0.4).astype(int),
            "customer": [f"k{index}" for index in cluster],
            "day": [f"2026-01-{1 + index % 28:02d}" for index in cluster],
            "region": np.array([*FITTED, "tiny"])[region],
            **{f"p_{name}": shares[:, index] for index, name in enumerate("abc")},
            "kind": np.array(list("abc"))[named],
        }
    )


@pytest.fixture(scope="module")
def rows():
    return draw_rows()


@pytest.fixture
def inputs(rows, tmp_path):
    """Write the rows in order, and shuffled as CSV."""
    rows.write_parquet(tmp_path / "rows.parquet")
    rows.sample(fraction=1, shuffle=True, seed=1).write_csv(tmp_path / "shuffled.csv")
    return "rows.parquet", "shuffled.csv"


REGIONS = ("--precision", "0.7", "--by", "region")
CLASSES = ("--precision", "0.7", "--proba", "p_*", "--label", "kind")
EACH = ("--bound", "each")


def fit_rules():
    draw_rows().write_parquet("rows.parquet")
    each = "boundary rows.parquet --precision 0.7 --bound each"
    fit(f"{each} --by region --cluster customer -o each.json")
    fit("boundary rows.parquet --precision 0.7 --by region --cluster customer -o overall.json")
    fit(f"{each} --by region --day day -o day.json")
    fit(f"{each} --proba p_* --label kind --cluster customer -o classes.json")


@pytest.fixture
def rules(prepared, inputs):
    prepared(fit_rules)


def saved(tmp_path, name):
    return json.loads((tmp_path / name).read_text())


def decided(uqcli, tmp_path, rule):
    """Return the rows with their decisions."""
    assert uqcli("apply", rule, "rows.parquet", "-q", "-o", "applied.parquet").code == 0
    return pl.read_parquet(tmp_path / "applied.parquet")


def by_cluster(frame, column):
    """Return the flagged rows of each cluster, those of them that are positive, and all positive rows."""
    positive = pl.col("label") == 1
    sums = [pl.col("decision"), pl.col("decision") & positive, positive]
    counts = frame.group_by(column).agg(*(mask.sum().alias(str(index)) for index, mask in enumerate(sums)))
    return [counts[name].to_numpy().astype(np.int64) for name in "012"]


@pytest.mark.usefixtures("rules")
@pytest.mark.parametrize(
    ("rule", "column"), [("overall.json", "customer"), ("each.json", "customer"), ("day.json", "day")]
)
def test_expected_precision_of_groups_has_the_range_of_their_clusters(uqcli, tmp_path, rule, column):
    artifact = saved(tmp_path, rule)
    expected = artifact["expected"]
    frame = decided(uqcli, tmp_path, rule).filter(pl.col("region").is_in(FITTED))
    flagged, hits, _ = by_cluster(frame, column)
    interval = proportion_interval(hits, flagged, 0.9, f"{column}s")
    around = moved(interval, expected["precision"]["value"], int(flagged.sum()))
    assert Estimate(**expected["precision"]) == Estimate(value=around.value, low=around.low, high=around.high)
    assert (expected["recall"]["low"], expected["recall"]["high"]) == (None, None)
    role = "day" if column == "day" else "cluster"
    assert artifact["source"]["columns"][role] == artifact["parameters"][role] == column


@pytest.mark.usefixtures("rules")
def test_the_recall_of_several_groups_is_not_without_a_range_silently(uqcli):
    report = uqcli("boundary", "rows.parquet", *REGIONS, "--cluster", "customer", "--json").json
    assert "Recall has no range: the thresholds of several groups vary too much." in report["notes"]
    assert any("rows in 120 clusters" in note for note in report["notes"])
    share = ("--max-selected", "10%", "--by", "region", "--cluster", "customer", "--json")
    notes = " ".join(uqcli("boundary", "rows.parquet", *share).json["notes"])
    assert "The share of new clusters has no range." in notes


@pytest.mark.usefixtures("rules")
def test_rules_keep_how_alike_rows_of_a_cluster_are_in_each_group_with_a_promise(uqcli, tmp_path):
    def sums(frame, column):
        flagged, hits, _ = by_cluster(frame, column)
        order = np.argsort(flagged, kind="stable")
        return unit_sums(hits[order], flagged[order])

    for rule, column in (("each.json", "customer"), ("day.json", "day")):
        frame, kept = decided(uqcli, tmp_path, rule), saved(tmp_path, rule)["dependence"]
        assert kept["column"] == column
        assert list(kept["promises"]) == [f"precision[{name}]" for name in FITTED]
        for name in FITTED:
            own = sums(frame.filter(pl.col("region") == name), column)
            for key, value in kept["promises"][f"precision[{name}]"].items():
                assert value == pytest.approx(getattr(own, key), rel=1e-12)
    kept = saved(tmp_path, "overall.json")["dependence"]["promises"]
    own = sums(decided(uqcli, tmp_path, "overall.json"), "customer")
    assert list(kept) == ["precision"]
    assert (kept["precision"]["units"], kept["precision"]["n2"]) == (own.units, own.n2)


OPTIONS = {
    "overall": (*REGIONS, "--cluster", "customer"),
    "each": (*REGIONS, *EACH, "--cluster", "customer"),
    "exact": (*REGIONS, "--algorithm", "vw-dpmt", "--day", "day"),
    "certified": (*REGIONS, *EACH, "--cluster", "customer", "--certify", "0.2"),
    "classes": (*CLASSES, *EACH, "--cluster", "customer"),
}


@pytest.mark.covering("thorough", every=100)
@pytest.mark.parametrize("options", OPTIONS)
def test_order_format_and_engine_change_nothing(uqcli, inputs, tmp_path, options):
    command = ("boundary", *OPTIONS[options], "-q", "-o")
    assert uqcli(*command, "a.json", inputs[0]).code == 0
    assert uqcli(*command, "b.json", inputs[1]).code == 0
    first, second = saved(tmp_path, "a.json"), saved(tmp_path, "b.json")
    assert first == second
    assert uqcli(*command, "c.json", inputs[0], "--engine", "spark").code == 0
    assert (tmp_path / "c.json").read_bytes() == (tmp_path / "a.json").read_bytes()


def test_the_clusters_of_each_group_are_certified_at_its_part_of_the_risk(uqcli, rows, inputs, tmp_path):
    command = ("boundary", inputs[0], *OPTIONS["certified"])
    report = uqcli(*command, "--json", "-o", "rule.json").json
    for name, group in report["groups"].items():
        certificate = group["certificate"]
        customers = rows.filter(pl.col("region") == name)["customer"].n_unique()
        assert certificate["cluster"] == "customer"
        assert certificate["delta"] == 0.1
        assert certificate["tested_on"]["rows"] == customers - customers // 5
        assert certificate["tested_on"]["selected"] <= certificate["tested_on"]["rows"]
    notes = " ".join(report["notes"])
    assert "positive by one of their alerts drawn at random in each of 2 groups" in notes
    assert "This is not the precision of all alerts" in notes
    assert "The guarantee requires independent clusters" in notes
    assert list(saved(tmp_path, "rule.json")["dependence"]["promises"]) == [
        f"precision[{name}]" for name in FITTED
    ]
    out_of_reach = uqcli(*command[:-1], "0.0001")
    assert (out_of_reach.code, "kept aside for the test" in out_of_reach.err) == (4, True)
    assert "labelled clusters in a group" in out_of_reach.err
    assert uqcli(*command[:5], "--cluster", "customer", "--certify", "0.2").code == 2  # one bound overall


@pytest.mark.usefixtures("rules")
@pytest.mark.parametrize("rule", ["each.json", "classes.json"])
def test_a_rule_of_groups_is_watched_by_the_first_batch_of_each_customer(uqcli, rows, tmp_path, rule):
    own = "region" if rule == "each.json" else "class"
    label = pl.col("label") if rule == "each.json" else (pl.col("kind") == pl.col("class")).cast(int)
    groups = FITTED if rule == "each.json" else list("abc")
    part = np.random.default_rng(3).integers(0, 2, len(rows))
    applied = ("apply", rule, "rows.parquet", "-q", "-o", "applied.parquet", "--overwrite")
    assert uqcli(*applied).code == 0
    frame = pl.read_parquet(tmp_path / "applied.parquet").with_columns(part=pl.Series(part), right=label)
    state = (
        "--state",
        "state.json",
        "--cluster",
        "customer",
        *(() if own == "region" else ("--label", "kind")),
    )
    for index in (0, 1):
        rows.filter(pl.Series(part == index)).write_parquet(tmp_path / f"{index}.parquet")
        report = uqcli("watch", rule, f"{index}.parquet", *state, "--json").json
    for name in groups:
        alerts = frame.filter(pl.col("decision") & (pl.col(own) == name))
        first = alerts.filter(pl.col("part") == pl.col("part").min().over("customer"))
        watched = report["metrics"]["promises"][f"precision[{name}]"]
        assert (watched["trials"], watched["successes"]) == (len(first), first["right"].sum())
        assert watched["bound"] == 0.7
    repeated = uqcli("watch", rule, "1.parquet", *state, "--json")
    assert (repeated.code, repeated.json["metrics"]["added"]) == (0, 0)


@pytest.mark.usefixtures("rules")
def test_the_days_of_a_rule_of_groups_inform_the_watch_of_each_group(uqcli, tmp_path):
    known = uqcli("watch", "day.json", "rows.parquet", "--day", "day", "--json").json["metrics"]["promises"]
    unknown = uqcli("watch", "each.json", "rows.parquet", "--day", "day", "--json").json["metrics"][
        "promises"
    ]
    for name in FITTED:
        assert (
            known[f"precision[{name}]"]["design_effect"]["used"]
            < unknown[f"precision[{name}]"]["design_effect"]["used"]
        )


@pytest.mark.usefixtures("rules")
@pytest.mark.parametrize("rule", ["each.json", "classes.json"])
def test_rules_of_groups_are_evaluated_by_their_own_clusters(uqcli, inputs, rule):
    command = ("evaluate", rule, inputs[1], "--json", *(() if rule == "each.json" else ("--label", "kind")))
    report = uqcli(*command)
    assert report.json["metrics"]["clusters"] == 120
    assert uqcli(*command, "--cluster", "customer").out == report.out


def test_a_column_of_customers_beside_predicted_classes_is_advised(uqcli, rows, tmp_path):
    rows.drop("day").write_parquet(tmp_path / "rows.parquet")
    for options in (CLASSES, REGIONS):
        report = uqcli("boundary", "rows.parquet", *options, *EACH, "--json")
        assert report.code == 0
        assert any("Add --cluster customer." in note for note in report.json["notes"])


@pytest.mark.covering("thorough", every=2)
@pytest.mark.parametrize("options", [REGIONS, ("--precision", "0.7", "--compare")])
def test_a_pipe_is_read_again_for_its_clusters(uqcli, inputs, tmp_path, options):
    command = ("--cluster", "customer", *options, "--json")
    from_file = uqcli("boundary", inputs[1], *command).json
    piped = uqcli("boundary", "-", *command, stdin=(tmp_path / inputs[1]).read_bytes()).json
    assert piped["metrics"] == from_file["metrics"]


def test_groups_are_not_their_own_clusters(uqcli, inputs):
    outcome = uqcli("boundary", inputs[0], "--precision", "0.7", "--by", "region", "--cluster", "region")
    assert (outcome.code, "--cluster and --by region; expected different columns" in outcome.err) == (2, True)
