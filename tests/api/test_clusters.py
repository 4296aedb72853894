"""Tests that clusters of rows give the API the results of the commands."""

import json

import numpy as np
import polars as pl
import pytest

import uqcli
from tests.api.conftest import without_rows_read
from tests.statistical.clustered import cluster_of_rows, labels, uniforms
from uqcli.cli.app import run


@pytest.fixture
def rows(tmp_path):
    """Write rows of 120 customers, and return their columns."""
    random = np.random.default_rng(2)
    cluster = cluster_of_rows(random, 120, "1-30")
    score = uniforms(random, cluster, 0.4)
    label = labels(random, cluster, score, 0.4).astype(int)
    columns = {"score": score, "uncertainty": random.random(len(score)), "label": label, "cluster": cluster}
    pl.DataFrame(columns).with_columns(p_0=1 - score, p_1=score).write_parquet(tmp_path / "rows.parquet")
    return columns


def report_of(capfd, *command):
    """Return the JSON report of a command."""
    assert run([*command, "--cluster", "cluster", "--json"]) == 0
    return json.loads(without_rows_read(capfd.readouterr().out))


@pytest.mark.covering("thorough", every=3)
@pytest.mark.parametrize("more", [(), ("--compare",), ("--certify", "0.2")])
def test_boundaries_are_those_of_the_command(rows, tmp_path, more):
    options = {option.removeprefix("--"): "0.2" if option == "--certify" else True for option in more[:1]}
    found = uqcli.find_boundary(
        rows["score"],
        rows["label"],
        uncertainty=rows["uncertainty"],
        cluster=rows["cluster"],
        precision="0.6",
        **options,
    )
    found.save(tmp_path / "api.json")
    command = ["boundary", "rows.parquet", "--precision", "0.6", *more, "-q", "-o", "command.json"]
    assert run([*command, "--cluster", "cluster"]) == 0
    assert (tmp_path / "api.json").read_bytes() == (tmp_path / "command.json").read_bytes()


def test_evaluations_are_those_of_the_commands(rows, capfd, tmp_path):
    score, label, cluster = rows["score"], rows["label"], rows["cluster"]
    boundary = uqcli.find_boundary(score, label, precision="0.6", algorithm="st", cluster=cluster)
    calibrator = uqcli.Calibrator.fit(score, label, method="platt", cluster=cluster)
    sets = uqcli.conformal_sets(score, label, method="lac", cluster=cluster)
    options = {"platt.json": {"bootstrap": 40}, "sets.json": {}, "st.json": {}}
    for name, rule in (("st.json", boundary), ("platt.json", calibrator), ("sets.json", sets)):
        rule.save(tmp_path / name)
        evaluated = rule.evaluate(score, label, cluster=cluster, **options[name])
        more = ("--bootstrap", "40") if options[name] else ()
        metrics = report_of(capfd, "evaluate", name, "rows.parquet", *more)["metrics"]
        assert json.loads(json.dumps(evaluated.report.payload()["metrics"])) == metrics
        assert metrics["clusters"] == 120
    errors = uqcli.calibration_error(score, label, cluster=cluster, bootstrap=40)
    metrics = report_of(capfd, "tce", "rows.parquet", "--bootstrap", "40")["metrics"]
    assert errors.report.payload()["metrics"] == metrics
    watched = boundary.watch(score, label, cluster=cluster)
    metrics = report_of(capfd, "watch", "st.json", "rows.parquet")["metrics"]
    assert watched.metrics["trials"] == metrics["trials"]
    assert watched.metrics["design_effect"] == metrics["design_effect"]
    assert metrics["design_effect"]["used"] > 1
