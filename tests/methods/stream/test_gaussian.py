"""Tests of simulated Gaussian classes: one class only, and scores with noise."""

import json

import numpy as np
import pytest

import uqcli
from uqcli.errors import UsageError


@pytest.mark.parametrize("prevalence", [0, 1])
def test_all_rows_can_have_one_class(prevalence):
    rows = uqcli.simulate("gaussian", 500, prevalence=prevalence, train_prevalence=0.01)
    assert (rows["label"] == prevalence).all()
    assert (rows["true_positivity"] == prevalence).all()
    assert ((rows["score"] > 0) & (rows["score"] < 1)).all()


def test_noise_shifts_scores_by_its_standard_deviation_and_changes_nothing_else():
    plain, noisy = (uqcli.simulate("gaussian", 20_000, noise=noise) for noise in (0.0, 0.5))
    for name in ("label", "x", "true_positivity"):
        np.testing.assert_array_equal(plain[name], noisy[name])
    shift = np.log(noisy["score"] / (1 - noisy["score"])) - np.log(plain["score"] / (1 - plain["score"]))
    assert shift.std() == pytest.approx(0.5, abs=0.01)
    assert abs(shift.mean()) < 0.02


@pytest.mark.parametrize(
    "options", [{"noise": -0.1}, {"noise": float("nan")}, {"prevalence": 1.1}, {"train_prevalence": 0}]
)
def test_options_out_of_range_are_refused(options):
    with pytest.raises(UsageError):
        uqcli.simulate("gaussian", 5, **options)


def test_the_command_has_both_options(tmp_path, monkeypatch, capsys):
    from uqcli.cli.app import run

    monkeypatch.chdir(tmp_path)
    arguments = ["simulate", "gaussian", "--rows", "300", "--train-prevalence", "0.1", "--prevalence", "0"]
    assert run([*arguments, "--noise", "0.1", "-o", "a.csv", "--json"]) == 0
    assert json.loads(capsys.readouterr().out)["parameters"]["noise"] == 0.1
    assert run(["tce", "a.csv", "--json"]) == 0
    assert json.loads(capsys.readouterr().out)["source"]["positives"] == 0
