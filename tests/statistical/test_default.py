"""The default keeps its bound on average, and what it says of new rows holds, where the truth is known."""

import os

import numpy as np
import pytest

from tests.statistical.laws import LAWS, measured

REPETITIONS = int(os.environ.get("STATISTICAL_REPETITIONS", "8"))
SIZES = (500, 2000)


def lines_of(name, rule):
    """Of hold-outs of each size; those without a boundary are left out."""
    found = [measured(LAWS[name], size, seed, **rule) for size in SIZES for seed in range(REPETITIONS)]
    return [line for line in found if line]


@pytest.mark.parametrize("algorithm", [None, "vw-dpmt"])
@pytest.mark.parametrize("name", LAWS)
def test_what_is_expected_holds_on_new_rows(name, algorithm):
    lines = [line for line in lines_of(name, {"algorithm": algorithm}) if "precision_bias" in line]
    ranged = [line for line in lines if line["alerts"] >= 30]
    for rate in ("precision", "recall"):
        held = [line[f"{rate}_covered"] for line in ranged if f"{rate}_covered" in line]
        assert bool(held) == (rate == "precision" or algorithm is None)
        if held:
            assert np.mean(held) >= 0.85 - 3 * np.sqrt(0.85 * 0.15 / len(held)), np.mean(held)
        bias = np.array([line[f"{rate}_bias"] for line in ranged])
        assert abs(bias.mean()) <= 0.02 + 3 * bias.std() / np.sqrt(len(bias)), bias.mean()


@pytest.mark.parametrize("name", LAWS)
def test_the_default_is_at_its_bound_and_never_much_below_the_score_alone(name):
    lines = lines_of(name, {})
    excess = np.array([line["excess"] for line in lines])
    assert excess.mean() >= -0.01 - 3 * excess.std() / np.sqrt(len(excess)), excess.mean()
    gaps = np.array([line["gap"] for line in lines])
    assert gaps.mean() >= -0.0015 - 3 * gaps.std() / np.sqrt(len(gaps)), gaps.mean()
