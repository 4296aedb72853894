"""The level of a verdict is that of ``--confidence``, whatever is tested."""

import numpy as np
import polars as pl
import pytest


def rows(share, size, seed):
    """Draw rows of which half have the score .9 and a share of these is positive; others are mostly not."""
    random = np.random.default_rng(seed)
    score = np.repeat([0.9, 0.1], size // 2)
    label = np.concatenate([np.arange(size // 2) < round(share * size / 2), random.random(size // 2) < 0.1])
    return pl.DataFrame({"score": score, "label": label.astype(int), "g": random.choice(["a", "b"], size)})


def fit(uqcli, *line):
    outcome = uqcli(*line, "-q", "-o", "rule.json")
    assert outcome.code == 0, outcome.err


PRECISION = ("boundary", "fit.csv", "--algorithm", "st", "--precision", "0.8")
RULES = {
    "plain": (*PRECISION,),
    "certified": (*PRECISION, "--certify", "0.1"),
    "two bounds": (*PRECISION, "--recall", "0.5"),
    "by group": ("boundary", "fit.csv", "--precision", "0.8", "--by", "g", "--min-group", "100"),
    "specificity": ("boundary", "fit.csv", "--algorithm", "st", "--min-specificity", "0.8"),
    "certified omission": ("boundary", "fit.csv", "--max-omission", "0.15", "--certify", "0.1"),
}


@pytest.mark.parametrize("kind", RULES)
def test_a_verdict_of_a_rule_has_the_level_of_the_confidence(uqcli, kind):
    rows(0.9, 4000, 1).write_csv("fit.csv")
    fit(uqcli, *RULES[kind])
    worse = rows(0.78, 1000, 2)  # the precision is 1.1 standard errors below its bound
    if kind.endswith("omission") or kind == "specificity":
        worse = rows(0.76, 1000, 2).with_columns(
            label=pl.when((pl.col("score") < 0.5) & (pl.int_range(pl.len()) < 585))
            .then(1)
            .otherwise(pl.when(pl.col("score") < 0.5).then(0).otherwise(pl.col("label")))
        )
    worse.write_csv("worse.csv")
    verdicts = {}
    for confidence in ("0.999", "0.5"):
        outcome = uqcli("evaluate", "rule.json", "worse.csv", "--confidence", confidence, "--json")
        verdicts[confidence] = outcome.json["metrics"]["promise_broken"]
    assert verdicts == {"0.999": 0, "0.5": 1}


@pytest.mark.parametrize("mode", ["marginal", "label-conditional"])
def test_a_verdict_of_prediction_sets_has_the_level_of_the_confidence(uqcli, mode):
    random = np.random.default_rng(3)

    def table(size, flatter):
        p = random.dirichlet([0.6] * 3, size)
        label = [random.choice(["a", "b", "c"], p=row) for row in p * (1 - flatter) + flatter / 3]
        return pl.DataFrame({**{f"p_{name}": p[:, i] for i, name in enumerate("abc")}, "label": label})

    table(2000, 0).write_csv("fit.csv")
    fit(uqcli, "conformal", "fit.csv", "--proba", "p_*", "--mode", mode)
    table(600, 0.06).write_csv("worse.csv")
    p = uqcli("evaluate", "rule.json", "worse.csv", "--json").json["metrics"]["worst_p"]
    for confidence, broken in ((1 - p / 2, 0), (1 - min(0.99, 2 * p), 1)):
        line = ("evaluate", "rule.json", "worse.csv", "--confidence", f"{confidence:.9f}", "--json")
        outcome = uqcli(*line)
        assert (outcome.json["metrics"]["promise_broken"], outcome.json["verdict"]) == (
            broken,
            "broken" if broken else "kept",
        )
