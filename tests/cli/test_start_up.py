"""Test of what a command saves at its start: the same special functions, with less work."""

import subprocess
import sys

SCRIPT = """
import sys
from uqcli.cli.process.imports import import_less
import_less()
from scipy.special import betaincinv
assert "scipy.linalg" not in sys.modules
import scipy.special
from scipy import stats
assert scipy.special.betaincinv is betaincinv
assert "scipy.special" in sys.modules and not hasattr(scipy.special, "no_such_function")
assert "betaincinv" in scipy.special.__all__
nodes, weights = scipy.special.roots_legendre(2)
print(round(betaincinv(2, 3, 0.5), 6), weights.tolist(), round(stats.binom.cdf(1, 2, 0.5), 6))
"""


def test_special_functions_are_whole_when_more_is_used():
    process = subprocess.run([sys.executable, "-c", SCRIPT], capture_output=True, text=True, check=True)
    assert process.stdout == "0.385728 [1.0, 1.0] 0.75\n"
