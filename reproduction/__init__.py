"""Reproduces the results of the papers with uqcli: ``python -m reproduction``."""

import os

from uqcli.cli.process import round_alike

round_alike()  # as the commands do
for _name in ("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS"):  # numpy reads them when it is loaded
    # one thread keeps the order of sums in training; studies run in parallel
    os.environ.setdefault(_name, "1")
