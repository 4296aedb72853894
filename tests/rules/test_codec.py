"""Tests that every rule file that is written can be read again, and that others are not written."""

import json
from pathlib import Path

import msgspec
import numpy as np
import polars as pl
import pytest

from uqcli.base.errors import ArtifactError, DataError
from uqcli.cli.app import run
from uqcli.rules.codec import decode, encode


def test_soft_confusion_accepts_probabilities_that_nearly_add_up(tmp_path):
    random = np.random.default_rng(1)
    share = random.dirichlet([1, 1, 1], 400)
    label = np.array([random.choice(3, p=row) for row in share])
    inexact = share * (1 + random.uniform(-9.5e-4, 9.5e-4, 400))[:, None]
    columns = {f"p_{class_number}": inexact[:, class_number] for class_number in range(3)}
    pl.DataFrame({**columns, "label": label}).write_csv("s.csv")
    pl.DataFrame(columns)[100:].write_csv("t.csv")
    line = [
        "shift",
        "s.csv",
        "--target",
        "t.csv",
        "--proba",
        "p_*",
        "--confusion",
        "soft",
        "--bootstrap",
        "0",
    ]
    assert run([*line, "-q", "-o", "w.json"]) == 0
    assert run(["show", "w.json", "-q"]) == 0
    shift = decode((tmp_path / "w.json").read_bytes(), "w.json")
    assert sum(shift.target_prior) == pytest.approx(1, abs=1e-12)


@pytest.mark.parametrize(
    "method", ["platt", "temperature", "beta", "isotonic", "histogram", "mist", "surface"]
)
def test_scores_of_any_size_give_a_readable_rule_file_or_none(tmp_path, capfd, method):
    random = np.random.default_rng(1)
    rows = {"score": random.normal(size=200) * 1e120, "label": (random.random(200) < 0.5).astype(int)}
    pl.DataFrame(rows).write_csv("d.csv")
    line = ["calibrate", "d.csv", "--logit", "--method", method, "--bootstrap", "0"]
    line += ["--uncertainty", "score"] if method in ("mist", "surface") else []
    code = run([*line, "-q", "-o", "c.json"])
    if code == 0:
        assert run(["show", "c.json", "-q"]) == 0
        return
    assert code == 3
    message = capfd.readouterr().err
    assert message.startswith("error: these rows do not give a calibrator that could be used")
    assert message.count("\n") == 1
    assert list(tmp_path.iterdir()) == [tmp_path / "d.csv"]


def test_contradictory_rules_are_not_written(tmp_path):
    (tmp_path / "d.csv").write_text("score,label\n0.9,1\n0.1,0\n")
    assert run(["boundary", "d.csv", "--precision", "1", "--algorithm", "st", "-q", "-o", "b.json"]) == 0
    valid = decode((tmp_path / "b.json").read_bytes(), "b.json")
    assert encode(valid) == (tmp_path / "b.json").read_bytes()
    for broken in (
        {"thresholds": [0.5, 0.6]},
        {"thresholds": [float("nan")]},
        {"fit": msgspec.structs.replace(valid.fit, selected=-1)},
    ):
        with pytest.raises(DataError, match="do not give a boundary that could be used"):
            encode(msgspec.structs.replace(valid, **broken))


@pytest.mark.parametrize("end", [-0.1, 1.65])
def test_expected_rates_outside_0_and_1_are_damage(end):
    saved = json.loads((Path(__file__).parents[1] / "saved/0.3.0/boundary_default.json").read_text())
    saved["expected"]["recall"]["high"] = end
    with pytest.raises(ArtifactError, match=r"expected\.recall\.high"):
        decode(json.dumps(saved).encode(), "b.json")
