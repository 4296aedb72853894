"""Tests of ``uqcli uncertainty``, which streams columns."""

import numpy as np
import polars as pl

from uqcli.uncertainty.beta import from_beta, from_members


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
