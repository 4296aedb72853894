"""Tests of the reference of a boundary: its counts are those of the calibration rows, one by one."""

import json
from pathlib import Path

import msgspec
import numpy as np
import polars as pl
import pytest

from tests.oracles import reference as oracle
from uqcli.base.errors import DataError
from uqcli.rules.codec import decode, encode


@pytest.fixture
def rows():
    """Write rows with tied scores and weights, some of them 0, and return them."""
    random = np.random.default_rng(3)
    score = np.where(random.random(2400) < 0.5, random.random(2400).round(1), random.random(2400))
    probability = random.dirichlet([1, 1, 1], 2400)
    frame = pl.DataFrame(
        {
            "score": score,
            "uncertainty": random.integers(0, 9, 2400) / 8,
            "label": (random.random(2400) < score).astype(int),
            "w": random.integers(0, 4, 2400),
            "region": np.array(["east", "north", "west"])[random.integers(0, 3, 2400)],
            "class": np.array(list("abc"))[probability.argmax(axis=1)],
            **{f"p_{name}": probability[:, index] for index, name in enumerate("abc")},
        }
    )
    frame.write_parquet("rows.parquet")
    return frame


LINES = (
    "--precision 0.7",
    "--precision 0.7 --weight w",
    "--precision 0.7 --uncertainty-bins 4 --weight w",
    "--precision 0.7 --compare",
    "--precision 0.7 --score-bins all",
    "--precision 0.7 --algorithm vw-dpmt --weight w",
    "--precision 0.7 --algorithm mist --binning equi-span --uncertainty-bins 5 --score-bins 20",
    "--precision 0.7 --algorithm st --weight w",
    "--precision 0.7 --algorithm hr --weight w",
    "--precision 0.7 --algorithm all --score-bins 20",
    "--max-selected 5%",
    "--precision 0.6 --certify 0.1 --weight w",
    "--precision 0.6 --certify 0.1 --uncertainty-bins 4",
    "--precision 0.7 --by region --weight w",
    "--precision 0.7 --by region --bound each --algorithm vw-dpmt",
    "--precision 0.6 --by region --bound each --certify 0.2",
    "--precision 0.7 --review 5%",
    "--proba p_* --label class --precision 0.9 --weight w",
    "--proba p_* --label class --precision 0.9 --uncertainty uncertainty --uncertainty-bins 2",
)


@pytest.mark.covering("thorough", every=5)
@pytest.mark.parametrize("line", LINES)
def test_the_reference_counts_the_calibration_rows(uqcli, rows, line):
    assert uqcli("boundary", "rows.parquet", *line.split(), "-q", "-o", "rule.json").code == 0
    rule = json.loads(Path("rule.json").read_text())
    score = rows["score"]
    if "--proba" in line:
        score = rows.select(pl.max_horizontal("p_a", "p_b", "p_c")).to_series()
    weight = rows["w"] if "--weight" in line else pl.Series(np.ones(2400, dtype=int))
    data = list(zip(score, rows["uncertainty"], rows["label"], weight, strict=True))
    edges, counts = oracle.reference(data, rule["uncertainty_edges"])
    reference = rule["reference"]
    assert (reference["score_edges"], reference["count"]) == (edges, counts)
    groups = rule.get("groups", {}).values()
    uncertain = "recalibration" in rule or any(len(each["thresholds"]) > 1 for each in (rule, *groups))
    columns = {"score": 0, "uncertainty": 1} if uncertain else {"score": 0}
    for index, end in enumerate(("lowest", "highest")):
        assert reference[end] == {name: oracle.ends(data, column)[index] for name, column in columns.items()}
    assert sum(map(sum, reference["count"])) == rule["fit"]["rows"]


@pytest.mark.covering("thorough", every=5)
@pytest.mark.parametrize("line", [LINES[0], LINES[2], LINES[5], LINES[11], LINES[13]])
def test_the_order_of_rows_and_files_does_not_matter(uqcli, rows, line):
    assert uqcli("boundary", "rows.parquet", *line.split(), "-q", "-o", "rule.json").code == 0
    shuffled = rows.sample(fraction=1, shuffle=True, seed=5)
    shuffled[:900].write_parquet("first.parquet")
    shuffled[900:].write_parquet("second.parquet")
    files = ("second.parquet", "first.parquet")
    assert uqcli("boundary", *files, *line.split(), "-q", "-o", "again.json").code == 0
    assert Path("rule.json").read_bytes() == Path("again.json").read_bytes()


@pytest.mark.usefixtures("rows")
def test_a_rule_of_a_saved_grid_has_no_reference(uqcli):
    assert uqcli("bin", "rows.parquet", "-q", "-o", "grid.json").code == 0
    assert uqcli("boundary", "--grid", "grid.json", "--precision", "0.7", "-q", "-o", "rule.json").code == 0
    assert "reference" not in json.loads(Path("rule.json").read_text())


@pytest.mark.usefixtures("rows")
def test_a_reference_of_other_rows_is_refused(uqcli):
    line = "boundary rows.parquet --precision 0.7 --uncertainty-bins 4 -q -o rule.json"
    assert uqcli(*line.split()).code == 0
    rule = decode(Path("rule.json").read_bytes(), "rule.json")
    reference = rule.reference
    assert len(reference.count) == 4

    def changed(**fields):
        return msgspec.structs.replace(rule, reference=msgspec.structs.replace(reference, **fields))

    more = [[reference.count[0][0] + 1, *reference.count[0][1:]], *reference.count[1:]]
    ends = [
        msgspec.structs.replace(reference.lowest, **end) for end in ({"score": 2.0}, {"uncertainty": 7.0})
    ]
    for broken in (
        {"count": reference.count[1:]},
        {"count": more},
        {"score_edges": reference.score_edges[1:]},
        {"score_edges": [edges[::-1] for edges in reference.score_edges]},
        {"lowest": ends[0]},
        {"lowest": ends[1]},
        {"lowest": msgspec.structs.replace(reference.lowest, uncertainty=msgspec.UNSET)},
        {"highest": msgspec.structs.replace(reference.highest, score=float("inf"))},
    ):
        with pytest.raises(DataError, match="do not give a boundary that could be used"):
            encode(changed(**broken))
    without = encode(msgspec.structs.replace(rule, reference=msgspec.UNSET))
    assert decode(without, "rule.json").reference is msgspec.UNSET
