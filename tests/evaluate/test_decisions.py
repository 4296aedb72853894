"""Tests of the numbers of decisions."""

import numpy as np
import pytest

from uqcli.evaluate.decisions import code_of, decisions_of


@pytest.mark.parametrize("rules", [1, 2, 38, 39, 40, 79, 200])
def test_every_combination_of_decisions_has_its_own_number(rules):
    random = np.random.default_rng(rules)
    zones = random.integers(0, 3, (rules, 60))
    zones[:, -2:] = [[0, 2]] * rules
    code = code_of(list(zones))
    decisions = [tuple(row) for row in zones.T.tolist()]
    assert [decisions_of(number, rules) for number in code.tolist()] == decisions
    assert ((2 * code + 1).tolist()) == [2 * number + 1 for number in code.tolist()]
    assert len(np.unique(code)) == len(set(decisions))
