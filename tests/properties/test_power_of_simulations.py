"""Tests that a whole run of the simulations would notice a coverage that is five points too low."""

import os
import subprocess
import sys

import pytest

from tests.statistical import levels


@pytest.mark.parametrize(("held", "runs"), [(0.95, 450), (0.94, 1000), (0.93, 1500)])
def test_a_coverage_of_nine_tenths_fails_in_a_whole_run(held, runs):
    assert levels.power(held, runs, 0.9) >= 0.9
    assert levels.power(held, runs, held) < 0.003  # and a true one passes


def test_limits_are_three_standard_errors_away():
    assert levels.lowest(0.95, 475) == pytest.approx(0.92)
    assert levels.highest(0.05, 475) == pytest.approx(0.08)


@pytest.mark.thorough
def test_a_whole_run_refuses_too_few_repetitions():
    asked = "from tests.statistical.levels import lowest; lowest(0.95, 1000); lowest(0.95, 250)"
    environment = {**os.environ, "STATISTICAL_REPETITIONS": "1000"}
    done = subprocess.run(
        [sys.executable, "-c", asked], env=environment, capture_output=True, text=True, check=False
    )
    assert "AssertionError: 250 are too few" in done.stderr
