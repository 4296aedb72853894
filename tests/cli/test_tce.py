"""``uqcli tce``: what the report says of a file."""

import numpy as np
import polars as pl

from uqcli.counts import pool
from uqcli.jobs.tce import TceOptions, measure


def test_the_command_equals_the_library(uqcli, data, frame):
    report = uqcli("tce", data, "--alpha", "0.1", "--bins", "quantile", "--n-bins", "7", "--json").json
    options = TceOptions(alpha=0.1, binning="quantile", n_bins=7)
    tested, metrics = measure(pool(frame["score"].to_numpy(), frame["label"].to_numpy() == 1), options)
    assert report["metrics"] == metrics
    assert [each["rejected"] for each in report["bins"]] == tested.rejected.tolist()
    assert sum(each["count"] for each in report["bins"]) == 400


def test_bins_begin_at_zero_end_at_one_and_may_be_empty(uqcli, tmp_path):
    (tmp_path / "d.csv").write_text("score,label\n0.05,0\n0.06,1\n0.95,1\n")
    report = uqcli("tce", "d.csv", "--binning", "equispaced", "--json").json
    first, second = report["bins"][:2]
    assert (first["low"], report["bins"][-1]["high"]) == (0.0, 1.0)
    assert (second["count"], second["rate"], second["mean_score"]) == (0, None, None)


def test_scores_must_be_probabilities(uqcli, tmp_path):
    (tmp_path / "d.csv").write_text("score,label\n1.05,0\n0.06,1\n")
    outcome = uqcli("tce", "d.csv")
    assert outcome.code == 3
    assert "probabilities" in outcome.err


def test_plain_words(uqcli, tmp_path):
    random = np.random.default_rng(3)
    score = random.random(20_000)
    for name, truth, said in (
        ("good", score, "deviate significantly"),
        ("high", score**2, "too high"),
        ("low", np.sqrt(score), "too low"),
    ):
        label = random.random(20_000) < truth
        pl.DataFrame({"score": score, "label": label}).write_parquet(tmp_path / f"{name}.parquet")
        report = uqcli("tce", f"{name}.parquet", "--alpha", "1e-6", "--json").json
        assert said in report["notes"][0]
    assert uqcli("tce", "high.parquet", "-q", "--fail-if", "tce > 20").code == 6
    assert uqcli("tce", "good.parquet", "-q", "--alpha", "1e-6", "--fail-if", "tce > 20").code == 0


def test_weights_are_repeated_rows(uqcli, tmp_path):
    (tmp_path / "w.csv").write_text("score,label,w\n0.2,0,3\n0.7,1,2\n0.9,0,0\n")
    (tmp_path / "r.csv").write_text("score,label\n0.2,0\n0.2,0\n0.2,0\n0.7,1\n0.7,1\n")
    weighted = uqcli("tce", "w.csv", "--weight", "w", "--json").json
    assert weighted["metrics"] == uqcli("tce", "r.csv", "--json").json["metrics"]
