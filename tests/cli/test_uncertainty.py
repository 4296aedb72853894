"""Tests of ``uqcli uncertainty`` and ``uqcli simulate``, which stream columns."""

import json

import numpy as np
import polars as pl
import pytest

from uqcli.methods.stream.beta import from_beta
from uqcli.methods.stream.members import from_members


def test_beta_parameters_give_score_and_uncertainties(uqcli, tmp_path):
    (tmp_path / "d.csv").write_text("id,a1,a0\n007,2,3\n008,0.5,9.25\n")
    outcome = uqcli("uncertainty", "d.csv", "--alpha1", "a1", "--alpha0", "a0", "-o", "o.parquet")
    assert outcome.code == 0, outcome.err
    result = pl.read_parquet("o.parquet")
    expected = from_beta(np.array([2, 0.5]), np.array([3, 9.25]))
    assert result["id"].to_list() == ["007", "008"]
    assert result["score"].to_list() == expected.score.tolist()
    assert result["uncertainty"].to_list() == expected.beta_entropy.tolist()
    assert result.columns[3:] == [
        "score",
        "uncertainty",
        "uncertainty_std",
        "uncertainty_entropy",
        "uncertainty_mutual_information",
    ]


def test_ensemble_members_give_columns_for_a_boundary(uqcli, tmp_path):
    random = np.random.default_rng(2)
    truth = random.random(500)
    members = {f"m_{i}": np.clip(truth + random.normal(0, 0.1, 500), 0, 1) for i in (10, 2, 1)}
    pl.DataFrame({"label": random.random(500) < truth, **members}).write_parquet("d.parquet")
    assert uqcli("uncertainty", "d.parquet", "--members", "m_*", "-o", "o.csv").code == 0
    expected = from_members([members["m_1"], members["m_10"], members["m_2"]])
    assert pl.read_csv("o.csv")["uncertainty"].to_list() == expected.beta_entropy.tolist()
    assert uqcli("boundary", "o.csv", "--precision", "0.7").code == 0


def test_bad_parameters_are_errors(uqcli, tmp_path):
    (tmp_path / "d.csv").write_text("a1,a0,m_1,m_2\n2,0,0.5,1.5\n")
    assert uqcli("uncertainty", "d.csv", "--alpha1", "a1").code == 2
    assert uqcli("uncertainty", "d.csv").code == 2
    assert uqcli("uncertainty", "d.csv", "--alpha1", "a1", "--alpha0", "a0", "--members", "m_*").code == 2
    assert "positive Beta" in uqcli("uncertainty", "d.csv", "--alpha1", "a1", "--alpha0", "a0").err
    assert "between 0 and 1" in uqcli("uncertainty", "d.csv", "--members", "m_*").err
    assert "at least two" in uqcli("uncertainty", "d.csv", "--members", "m_1").err
    assert uqcli("uncertainty", "d.csv", "--members", "x_*").code == 3
    assert "at least two" in uqcli("uncertainty", "d.csv", "--members", "m_1").err
    (tmp_path / "e.csv").write_text("a1,a0,alpha1\n1e-300,1e300,0.5\n")
    assert "1e-100" in uqcli("uncertainty", "e.csv", "--alpha1", "a1", "--alpha0", "a0").err
    assert "at least two" in uqcli("uncertainty", "e.csv", "--members", "alpha1").err


def test_unusable_rows_are_kept_or_dropped(uqcli, tmp_path):
    (tmp_path / "d.csv").write_text("a1,a0\n1,1\n,1\n")
    options = ["--alpha1", "a1", "--alpha0", "a0"]
    assert uqcli("uncertainty", "d.csv", *options).code == 3
    assert uqcli("uncertainty", "d.csv", *options, "--on-invalid", "keep").out.splitlines()[2] == b",1,,,,,"
    assert len(uqcli("uncertainty", "d.csv", *options, "--on-invalid", "drop").out.splitlines()) == 2


@pytest.mark.thorough
def test_simulated_rows_depend_on_the_seed_only(uqcli, tmp_path):
    options = ["simulate", "posterior", "--rows", "70000", "--gamma", "0.1,0.5"]
    assert uqcli(*options, "-o", "a.parquet", "-q").code == 0
    assert uqcli(*options, "-o", "b.csv", "-q", "--threads", "1").code == 0
    assert uqcli(*options, "--seed", "1", "-o", "c.parquet", "-q").code == 0
    a, b, c = pl.read_parquet("a.parquet"), pl.read_csv("b.csv"), pl.read_parquet("c.parquet")
    assert a.columns[:2] == ["score", "uncertainty"]
    assert a.equals(b)
    assert not a.equals(c)
    recomputed = from_beta(a["alpha1"].to_numpy(), a["alpha0"].to_numpy())
    np.testing.assert_array_equal(a["uncertainty"], recomputed.beta_entropy)
    assert uqcli("boundary", "a.parquet", "--precision", "0.6", "-q").code == 0
    assert uqcli("simulate", "posterior", "--rows", "0").out.startswith(b"score,uncertainty")


def test_the_report_of_a_posterior_network_has_the_expected_positive_rate(uqcli, tmp_path):
    """Without undersampling the bias has a closed form [UB Theorem 3.1(b)]."""
    options = ["--rows", "50", "--tau", "1", "--omega", "0.4", "--nu", "3", "--gamma", "0.25,0.01"]
    assert uqcli("simulate", "posterior", *options, "-q", "-o", "a.csv", "--report", "a.json").code == 0
    curves = json.loads((tmp_path / "a.json").read_text())["curves"]
    assert [curve["gamma"] for curve in curves] == [0.01, 0.25]
    for curve in curves:
        score, gamma = np.array(curve["score"]), curve["gamma"]
        bias = (score * (3 - 1) + 0.4 - 0.25 * 3) * gamma / (1 + 3 * gamma)
        np.testing.assert_allclose(curve["expected_positivity"], score - bias, atol=1e-9)
    assert uqcli("simulate", "posterior", *options, "-q", "-o", "a.csv", "--report", "a.html").code == 0
    page = (tmp_path / "a.html").read_text()
    assert "gamma 0.01 (200 training rows)" in page
    assert "gamma 0.25 (8 training rows)" in page
    assert uqcli("simulate", "gaussian", "-q", "-o", "a.csv", "--report", "b.json").code == 0
    assert "curves" not in json.loads((tmp_path / "b.json").read_text())
