"""Tests that Python chooses rows to label and certifies a rule from them as the commands do."""

import json
from pathlib import Path

import numpy as np
import polars as pl
import pytest

import uqcli
from uqcli.cli.app import run

SAMPLE = ("sample", "pool.csv", "--for", "certificate", "--precision", "0.7", "--budget", "300", "-q")


@pytest.fixture
def pool(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    random = np.random.default_rng(4)
    score = random.random(4000)
    frame = pl.DataFrame({"score": score, "label": (random.random(4000) < score**3).astype(int)})
    frame.write_csv("pool.csv")
    return frame["score"].to_numpy(), frame["label"].to_numpy()


def test_the_walk_in_python_gives_the_rule_of_the_commands(pool):
    score, label = pool
    assert run([*SAMPLE, "-o", "pilot.csv"]) == 0
    assert run([*SAMPLE, "--pilot", "pilot.csv", "-o", "rest.csv"]) == 0
    certify = ("--precision", "0.7", "--certify", "0.1", "-q", "-o", "rule.json")
    assert run(["boundary", "rest.csv", "--pilot", "pilot.csv", *certify]) == 0
    first = uqcli.sample_for_certificate(score, precision="0.7", budget=300)
    assert first.is_pilot
    assert score[first.drawn].tolist() == pl.read_csv("pilot.csv")["score"].to_list()
    pilot = first.labelled(score, label[first.drawn])
    rest = uqcli.sample_for_certificate(score, precision="0.7", budget=300, pilot=pilot)
    drawn = pl.read_csv("rest.csv")
    assert score[rest.drawn].tolist() == drawn["score"].to_list()
    assert rest.weight[rest.drawn].tolist() == drawn["sampling_weight"].to_list()
    assert not (first.drawn & rest.drawn).any()
    assert rest.above == drawn["sampled_above"][0]
    found = uqcli.find_boundary(
        score[rest.drawn],
        label[rest.drawn],
        precision="0.7",
        certify="0.1",
        pilot=pilot,
        sampled_above=rest.above,
    )
    found.save("python.json")
    saved, own = (json.loads(Path(name).read_text()) for name in ("rule.json", "python.json"))
    assert own["certificate"] == saved["certificate"]
    assert own["thresholds"] == saved["thresholds"]
    assert own["fit"] == saved["fit"]


def test_what_does_not_fit_the_drawn_rows_is_refused(pool):
    score, label = pool
    first = uqcli.sample_for_certificate(score, precision="0.7", budget=300)
    assert any("label at least 11 rows" in note for note in first.notes)
    with pytest.raises(uqcli.DataError, match="one for each"):
        first.labelled(score, label)
    pilot = first.labelled(score, label[first.drawn])
    with pytest.raises(uqcli.DataError, match="other rows than the pilot of these inputs"):
        uqcli.sample_for_certificate(score[::-1], precision="0.7", budget=300, pilot=pilot)
    above = {"sampled_above": 0.99, "certify": "0.1", "precision": "0.7", "pilot": pilot}
    with pytest.raises(uqcli.DataError, match="below its sampled_above"):
        uqcli.find_boundary(score, label, **above)
    with pytest.raises(uqcli.UsageError, match="sampled_above is given without certify"):
        uqcli.find_boundary(score, label, precision="0.7", sampled_above=0.5)
