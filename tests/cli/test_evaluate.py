"""``uqcli evaluate``: counts and exact intervals."""

import json

import pytest
from scipy import stats


def test_metrics_and_exact_intervals(uqcli, artifact, data, frame):
    report = uqcli("evaluate", artifact, data, "--json", "--confidence", "0.9").json
    metrics, fit = report["metrics"], json.loads(artifact.read_text())["fit"]
    for key in ("selected", "true_positives", "rows", "positives"):
        assert metrics[key] == fit[key]
    negatives = metrics["rows"] - metrics["positives"]
    false_positives = metrics["selected"] - metrics["true_positives"]
    for name, successes, trials in (
        ("precision", metrics["true_positives"], metrics["selected"]),
        ("recall", metrics["true_positives"], metrics["positives"]),
        ("fpr", false_positives, negatives),
    ):
        expected = stats.binomtest(successes, trials).proportion_ci(0.9, method="exact")
        assert metrics[name]["value"] == successes / trials
        assert metrics[name]["low"] == pytest.approx(expected.low, abs=1e-9)
        assert metrics[name]["high"] == pytest.approx(expected.high, abs=1e-9)


def test_undefined_rates_are_null_between_zero_and_one(uqcli, artifact, tmp_path):
    (tmp_path / "d.csv").write_text("score,uncertainty,label\n0.0,1,0\n")
    metrics = uqcli("evaluate", artifact, "d.csv", "--json").json["metrics"]
    undefined = {"value": None, "low": 0.0, "high": 1.0}
    assert metrics["precision"] == undefined
    assert metrics["recall"] == undefined
    assert metrics["fpr"]["value"] == 0
    assert uqcli("evaluate", artifact, "d.csv", "--fail-if", "precision < 2").code == 0
    assert uqcli("evaluate", artifact, "d.csv", "--fail-if", "precision.low <= 0").code == 6


def test_several_artifacts_side_by_side(uqcli, artifact, data, tmp_path):
    assert uqcli("boundary", data, "--precision", "0.7", "--algorithm", "st", "-q", "-o", "st.json").code == 0
    report = uqcli("evaluate", artifact, "st.json", data, "--json").json
    assert [result["artifact"] for result in report["results"]] == [str(artifact), "st.json"]
    alone = uqcli("evaluate", "st.json", data, "--json").json
    assert report["results"][1]["metrics"] == alone["metrics"]
    gated = uqcli("evaluate", artifact, "st.json", data, "-q", "--fail-if", "recall < 2")
    assert gated.code == 6
    assert len(gated.err.splitlines()) == 2
    assert "in st.json" in gated.err


def test_artifacts_that_read_different_columns(uqcli, artifact, data, frame, tmp_path):
    frame.rename({"score": "p"}).write_parquet(tmp_path / "p.parquet")
    options = ["--score", "p", "--precision", "0.7", "-q", "-o", "p.json"]
    assert uqcli("boundary", "p.parquet", *options).code == 0
    assert uqcli("evaluate", artifact, "p.json", data).code == 2
    assert uqcli("evaluate", artifact, "p.json", data, "--score", "score", "-q").code == 0


def test_verdicts(uqcli, artifact, tmp_path):
    def notes(positives, negatives):
        rows = ["0.99,-1,1"] * positives + ["0.99,-1,0"] * negatives
        (tmp_path / "d.csv").write_text("\n".join(["score,uncertainty,label", *rows, ""]))
        return uqcli("evaluate", artifact, "d.csv", "--json").json["notes"][0]

    assert "is met, by more than chance explains" in notes(95, 5)
    assert "is met, within what chance explains" in notes(7, 3)
    assert "is missed, within what chance explains" in notes(6, 4)
    assert "is missed, by more than chance explains" in notes(10, 90)


def test_weights_and_drop(uqcli, artifact, tmp_path):
    (tmp_path / "d.csv").write_text(
        "score,uncertainty,label,w\n0.99,-1,1,3\n0.99,-1,0,1\n0.01,1,1,0\n,1,1,1\n"
    )
    report = uqcli("evaluate", artifact, "d.csv", "--weight", "w", "--on-invalid", "drop", "--json").json
    assert report["metrics"]["precision"]["value"] == 0.75
    assert report["metrics"]["recall"]["value"] == 1
    assert report["source"]["rows"] == 3
    assert report["source"]["dropped"] == 1


def test_no_artifact(uqcli, data):
    assert uqcli("evaluate", data).code == 2
