"""Amounts, weights and counts near the ends of 32, 53 and 64 bits, in columns and as numbers of an option.

What ``boundary``, ``evaluate``, ``watch``, ``sample`` and an audit say of them is compared with fractions
from the rows of the file, or refused.
"""

import json
import math
from fractions import Fraction
from pathlib import Path

import numpy as np
import polars as pl
import pytest

SIZES = (2**31, 2**53 // 10_000)
"""Amounts near 2**31, and near 2**53 of their units, which are more than a file may sum by weight."""


def table(random, rows=60):
    """Draw rows with ties, of which a few weigh nearly as much as a file may."""
    score = random.integers(1, 12, rows) / 16
    amount = random.choice(SIZES, rows) * random.choice([1.0, 0.5, 1e-3], rows)
    weight = random.choice([0, 1, 2, 3, 1000], rows)
    if random.random() < 0.5:
        weight[random.integers(rows, size=3)] = 2**29
        amount = np.minimum(amount, 2.0**17)
    return pl.DataFrame(
        {
            "score": score,
            "label": (random.random(rows) < score).astype(int),
            "gain": np.floor(amount * 10) / 10,
            "cost": np.floor(random.choice(SIZES, rows) / random.choice([2**16, 2**20], rows)),
            "w": weight,
            "sw": random.choice([1.0, 1.5, 2.0**22, 2.0**21 + 0.5], rows),
            "c": random.integers(0, 25, rows),
            "g": random.choice(["a", "b"], rows),
        }
    )


def worth_of(row, gain, cost):
    """Return the value of flagging a row, exactly."""
    amount = gain if row["label"] else cost
    number = Fraction(str(row[amount])) if amount in row else Fraction(amount)
    return number if row["label"] else -number


def sums(rows, amounts, *weights):
    """Return the value of rows and the gain of the positive ones, each times its weights."""
    products = [(row, math.prod(Fraction(str(row[name])) for name in weights)) for row in rows]
    value = sum((worth_of(row, *amounts) * times for row, times in products), Fraction(0))
    caught = sum((worth_of(row, *amounts) * times for row, times in products if row["label"]), Fraction(0))
    return value, caught


@pytest.mark.parametrize("seed", range(8))
@pytest.mark.parametrize("gain", ["gain", "2147483647", "0.0001"])
@pytest.mark.parametrize("cost", ["cost", "2147483647"])
@pytest.mark.parametrize("weights", [(), ("w",)])
@pytest.mark.covering("thorough", every=4)
def test_rules_and_their_value_are_those_of_fractions(uqcli, seed, gain, cost, weights):
    frame = table(np.random.default_rng(seed))
    frame.write_csv("rows.csv")
    rows, more = frame.to_dicts(), [text for name in weights for text in ("--weight", name)]
    line = ("boundary", "rows.csv", "--gain", gain, "--cost", cost, "--algorithm", "st", *more)
    outcome = uqcli(*line, "--json", "-o", "r.json")
    if outcome.code == 3:
        assert "add up to more than" in outcome.err
        return
    if (gain, cost) == ("0.0001", "2147483647"):
        assert outcome.code == 2, "so far apart, two numbers are refused"
        return
    values = {}
    for threshold in sorted({row["score"] for row in rows if row["label"]}):
        flagged = [row for row in rows if row["score"] >= threshold]
        values[threshold] = sums(flagged, (gain, cost), *weights)[0]
    best = max(values.values())
    assert outcome.code == (0 if best > 0 else 4), outcome.err
    if best <= 0:
        return
    threshold = json.loads(Path("r.json").read_text(encoding="utf-8"))["thresholds"][0]
    flagged = [row for row in rows if row["score"] >= threshold]
    value, caught = sums(flagged, (gain, cost), *weights)
    everything = sums(rows, (gain, cost), *weights)[1]
    assert value == best
    said = outcome.json["metrics"]
    assert (said["value"], said["value_caught"]) == (float(value), float(caught / everything))


@pytest.mark.parametrize("seed", range(6))
@pytest.mark.parametrize("amounts", [("gain", "cost"), ("gain", "100000000"), ("2147483647", "cost")])
@pytest.mark.parametrize("weights", [(), ("w",), ("sw",), ("w", "sw")])
@pytest.mark.parametrize("cluster", [(), ("--cluster", "c")])
@pytest.mark.covering("thorough", every=4)
def test_values_and_rates_of_a_rule_are_those_of_fractions(uqcli, seed, amounts, weights, cluster):
    frame = table(np.random.default_rng(seed), rows=300)
    frame.write_csv("rows.csv")
    rule = uqcli("boundary", "rows.csv", "--max-selected", "60", "--algorithm", "st", "-q", "-o", "r.json")
    assert rule.code == 0, rule.err
    more = {"w": ("--weight", "w"), "sw": ("--sampling-weight", "sw")}
    extra = [text for name in weights for text in more[name]]
    worth = ("--gain", amounts[0], "--cost", amounts[1])
    outcome = uqcli("evaluate", "r.json", "rows.csv", *worth, *extra, *cluster, "--by", "g", "--json")
    if outcome.code == 3:
        assert "add up to more than" in outcome.err
        return
    assert outcome.code == 0, outcome.err
    threshold = json.loads(Path("r.json").read_text(encoding="utf-8"))["thresholds"][0]
    parts = [(frame.to_dicts(), outcome.json["metrics"])]
    parts += [(frame.filter(g=part["name"]).to_dicts(), part["metrics"]) for part in outcome.json["groups"]]
    for rows, said in parts:
        flagged = [row for row in rows if row["score"] >= threshold]
        value, caught = sums(flagged, amounts, *weights)
        everything = sums(rows, amounts, *weights)[1]
        of = [
            sum(math.prod(Fraction(str(row[name])) for name in weights) for row in part)
            for part in (
                [row for row in flagged if row["label"]],
                flagged,
                [row for row in rows if row["label"]],
            )
        ]
        assert said["value"]["value"] == float(value)
        if "sw" in weights and len(rows) - len(flagged) < 100:
            continue  # recall is not stated
        assert said["value_caught"]["value"] == float(caught / everything)
        assert said["precision"]["value"] == pytest.approx(float(of[0] / of[1]), rel=1e-12)
        assert said["recall"]["value"] == pytest.approx(float(of[0] / of[2]), rel=1e-12)
        for metric in said.values():
            if isinstance(metric, dict) and metric.get("low") is not None:
                assert metric["low"] <= metric["high"]


@pytest.mark.parametrize("seed", range(6))
def test_watch_and_audits_count_all_rows_by_weight(uqcli, seed):
    random = np.random.default_rng(seed)
    frame = table(random, rows=200).with_columns(w=pl.Series(random.choice([0, 1, 2**21, 2**22 - 1], 200)))
    frame.write_csv("rows.csv")
    rule = uqcli("boundary", "rows.csv", "--precision", "0.5", "--algorithm", "st", "-q", "-o", "r.json")
    assert rule.code == 0, rule.err
    threshold = json.loads(Path("r.json").read_text(encoding="utf-8"))["thresholds"][0]
    flagged = [row for row in frame.to_dicts() if row["score"] >= threshold]
    counts = [sum(row["w"] for row in part) for part in ([row for row in flagged if row["label"]], flagged)]
    watched = uqcli("watch", "r.json", "rows.csv", "--weight", "w", "--bound", "0.01", "--json")
    assert watched.code == 0, watched.err
    assert [watched.json["metrics"][name] for name in ("successes", "trials")] == counts
    audited = uqcli("evaluate", "r.json", "rows.csv", "--weight", "w", "--audit", "g", "--json")
    assert audited.code == 0, audited.err
    for part in audited.json["audit"]:
        inside = [row for row in flagged if row["g"] == part["segment"]["g"]]
        assert part["rows"] == sum(row["w"] for row in inside)
        assert part["observed"] == sum(row["w"] for row in inside if row["label"])


@pytest.mark.parametrize("size", [2**31, 2**53, 2**63 - 1, 3 * 10**9 + 1])
@pytest.mark.parametrize("command", ["boundary", "evaluate", "watch", "tce", "calibrate", "conformal"])
@pytest.mark.covering("thorough")
def test_weights_beyond_the_maximum_are_refused(uqcli, size, command):
    frame = table(np.random.default_rng(1)).with_columns(
        w=pl.Series([size // 2, size - size // 2, *[1] * 58]), p_0=1 - pl.col("score"), p_1=pl.col("score")
    )
    frame.write_csv("rows.csv")
    assert uqcli("boundary", "rows.csv", "--recall", "0.5", "-q", "-o", "r.json").code == 0
    words = {
        "boundary": ("rows.csv", "--recall", "0.5"),
        "evaluate": ("r.json", "rows.csv"),
        "watch": ("r.json", "rows.csv", "--bound", "0.01"),
        "tce": ("rows.csv",),
        "calibrate": ("rows.csv", "--method", "platt"),
        "conformal": ("rows.csv", "--proba", "p_*"),
    }[command]
    outcome = uqcli(command, *words, "--weight", "w", "--json")
    if outcome.code == 3:
        assert size > 10**9
        assert "column 'w' adds up to more than 3000000000" in outcome.err or "has weight" in outcome.err
    else:
        assert (outcome.code, size < 3 * 10**9) == (0, True), outcome.err
