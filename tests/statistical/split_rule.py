"""Prints what one threshold would certify without a split: ``python -m tests.statistical.split_rule``.

A threshold on the score alone needs no pilot: the order of the scores is known without labels, so that all
rows can test a sequence of numbers of alerts that was fixed beforehand. The table shows it beside the
certificate.
"""
# ruff: noqa: T201 - a table for people

import argparse
import math

import numpy as np
from scipy.stats import binom

import uqcli
from tests.statistical.populations import POPULATIONS

RISK = 0.1
_FIRST = 30
_STEP = 1.05


def threshold_of_all_rows(score, label, bound):
    """Return the lowest threshold that is certified on all rows; None if none is.

    The first one flags 30 rows, or as many as can show the bound, and each next one a twentieth more.
    """
    order = np.argsort(-score, kind="stable")
    score, hits = score[order], np.cumsum(label[order])
    ends = np.flatnonzero(np.append(score[1:] != score[:-1], True)) + 1
    wanted = max(_FIRST, math.ceil(math.log(RISK) / math.log(bound)))
    tested = np.unique(wanted * _STEP ** np.arange(300)).round()
    flagged = np.unique(ends[np.searchsorted(ends, tested[tested <= len(score)])])
    p_values = binom.sf(hits[flagged - 1] - 1, flagged, bound)
    failed = np.flatnonzero(p_values > RISK)
    passed = failed[0] if len(failed) else len(flagged)
    return None if passed == 0 else score[flagged[passed - 1] - 1]


def certified(population, score, uncertainty, label, seed):
    """Return whether the certified rule misses the bound, and its recall; None without a rule."""
    try:
        model = uqcli.find_boundary(
            score, label, uncertainty=uncertainty, precision=population.bound, certify=str(RISK), seed=seed
        )
    except uqcli.InfeasibleError:
        return None
    precision, recall, _ = population.truth(model)
    return precision < float(population.bound), recall


def without_split(population, score, label):
    """Return the same of one threshold, tested on all rows."""
    threshold = threshold_of_all_rows(score, label, float(population.bound))
    if threshold is None:
        return None
    scores, _, rates = population.large_sample
    flagged = scores >= threshold
    return rates[flagged].mean() < float(population.bound), rates[flagged].sum() / rates.sum()


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--hold-outs", type=int, default=40)
    parser.add_argument("--sizes", type=int, nargs="*", default=[1000, 5000, 20_000])
    options = parser.parse_args()
    print(f"{'population':24}{'rows':>7}  {'by':10} certified  misses  recall")
    for name, population in POPULATIONS.items():
        for size in options.sizes:
            found = {"a split": [], "all rows": []}
            for seed in range(options.hold_outs):
                score, uncertainty, label = population.sample(size, seed)
                found["a split"].append(certified(population, score, uncertainty, label, seed))
                found["all rows"].append(without_split(population, score, label))
            for how, results in found.items():
                rules = [result for result in results if result is not None]
                shares = (len(rules), sum(missed for missed, _ in rules), sum(recall for _, recall in rules))
                cells = "".join(f"{100 * share / len(results):8.1f} %" for share in shares)
                print(f"{name:24}{size:7}  {how:10}{cells}", flush=True)


if __name__ == "__main__":
    main()
