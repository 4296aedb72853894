"""The papers' results, made again by the program itself: ``python -m reproduction``."""

import os

from uqcli.cli.process.environment import round_alike

round_alike()  # as the commands that it runs do
for _name in ("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS"):  # read when numpy is loaded
    # sums of models that are trained run in one order; studies run side by side
    os.environ.setdefault(_name, "1")
