"""Tests of doubts: cautions on how a rule was made, which it keeps and whatever uses it repeats."""

import json

import numpy as np
import polars as pl
import pytest

import uqcli as library

FITS = {
    "boundary": ("--recall", "0.4", "--algorithm", "st"),
    "calibrate": ("--method", "platt"),
    "bin": ("--score-bins", "5", "--uncertainty-bins", "1"),
}
"""Options of commands that fit a rule on scores."""


def rows(seed=0, size=600):
    random = np.random.default_rng(seed)
    score = random.random(size)
    return pl.DataFrame({"score": score, "label": (random.random(size) < score).astype(int)})


@pytest.fixture
def doubted(tmp_path):
    """Write rows without a label among others, rows like them, and class probabilities."""
    frame = rows()
    frame.with_columns(label=pl.when(pl.arange(pl.len()) % 3 > 0).then("label")).write_csv(
        tmp_path / "fit.csv"
    )
    rows(1).write_csv(tmp_path / "new.csv")
    return frame


@pytest.mark.parametrize("command", FITS)
def test_a_rule_keeps_the_cautions_on_its_rows(uqcli, doubted, tmp_path, command):
    line = (command, "fit.csv", *FITS[command], "--on-invalid", "drop", "-q", "-o", "rule.json")
    assert uqcli(*line).code == 0
    (doubt,) = json.loads((tmp_path / "rule.json").read_text())["doubts"]
    assert "no label" in doubt
    assert uqcli("show", "rule.json", "--json").json["doubts"] == [doubt]
    assert f"rule.json was made with a doubt: {doubt}" in uqcli("show", "rule.json").out.decode()
    clean = (command, "new.csv", *FITS[command], "-q", "-o", "clean.json")
    assert uqcli(*clean).code == 0
    assert "doubts" not in json.loads((tmp_path / "clean.json").read_text())


def test_whatever_uses_a_rule_repeats_its_doubts(uqcli, doubted, tmp_path):
    fit = ("boundary", "fit.csv", *FITS["boundary"], "--on-invalid", "drop", "-q", "-o", "rule.json")
    assert uqcli(*fit).code == 0
    (doubt,) = json.loads((tmp_path / "rule.json").read_text())["doubts"]
    for line in (
        ("apply", "rule.json", "new.csv", "-o", "decided.csv"),
        ("evaluate", "rule.json", "new.csv"),
        ("export", "rule.json", "--to", "python", "-o", "rule.py"),
        ("watch", "rule.json", "new.csv"),
    ):
        found = uqcli(*line, "--json")
        assert "doubts" in found.json, line
        assert found.json["doubts"] == [doubt], line
        assert doubt in " ".join(uqcli(*line, "--verbose").out.decode().split()), line
        assert doubt not in uqcli(*line, "-q").out.decode(), line
    other = ("boundary", "new.csv", *FITS["boundary"], "-q", "-o", "other.json")
    assert uqcli(*other).code == 0
    both = uqcli("evaluate", "rule.json", "other.json", "new.csv", "--json")
    assert both.json["doubts"] == [doubt]


def test_few_alerts_are_a_doubt(uqcli, doubted, tmp_path):
    fit = ("boundary", "new.csv", "--precision", "0.99", "--algorithm", "st", "-q", "-o", "rule.json")
    assert uqcli(*fit).code == 0
    doubts = json.loads((tmp_path / "rule.json").read_text())["doubts"]
    assert any("too few to know the precision on new data" in doubt for doubt in doubts)


def test_a_test_set_raises_no_doubt_about_the_map(uqcli, doubted, tmp_path):
    line = ("calibrate", "new.csv", "--method", "platt", "--test", "fit.csv", "--on-invalid", "drop")
    found = uqcli(*line, "--json", "-o", "map.json")
    assert any("no label" in caution for caution in found.json["cautions"])
    assert "doubts" not in json.loads((tmp_path / "map.json").read_text())


def test_a_rule_made_of_another_one_has_its_doubts(uqcli, doubted, tmp_path):
    random = np.random.default_rng(3)
    probability = random.dirichlet(np.ones(3), 300)
    frame = pl.DataFrame({f"p_{k}": probability[:, k] for k in range(3)})
    labels = [str(random.choice(3, p=row)) for row in probability]
    frame.with_columns(label=pl.Series(labels)).write_csv(tmp_path / "source.csv")
    frame.head(20).write_csv(tmp_path / "target.csv")
    shift = ("shift", "source.csv", "--proba", "p_*", "--target", "target.csv", "-q", "-o", "shift.json")
    assert uqcli(*shift).code == 0
    doubts = json.loads((tmp_path / "shift.json").read_text())["doubts"]
    assert any("unlabelled rows for each class" in doubt for doubt in doubts)
    sets = ("conformal", "source.csv", "--proba", "p_*", "--mode", "label-shift", "--shift", "shift.json")
    assert uqcli(*sets, "-q", "-o", "sets.json").code == 0
    assert set(doubts) <= set(json.loads((tmp_path / "sets.json").read_text())["doubts"])


def test_the_library_saves_the_same_doubts(uqcli, doubted, tmp_path):
    fit = ("boundary", "new.csv", "--precision", "0.99", "--algorithm", "st", "-q", "-o", "rule.json")
    assert uqcli(*fit).code == 0
    frame = pl.read_csv(tmp_path / "new.csv")
    saved = library.find_boundary(frame["score"], frame["label"], precision=0.99, algorithm="st")
    doubts = json.loads((tmp_path / "rule.json").read_text())["doubts"]
    assert saved.artifact.doubts == doubts
    again = library.find_boundary(frame["score"], frame["label"], recall=0.5, algorithm="st")
    assert not again.artifact.known_doubts
