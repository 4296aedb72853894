"""Reproduces the results of the papers with uqcli: ``python -m reproduction``."""

import os

import uqcli  # noqa: F401  before numpy, so that it rounds as in the commands

for _name in ("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS"):  # numpy reads them when it is loaded
    # one thread keeps the order of sums in training; studies run in parallel
    os.environ.setdefault(_name, "1")
