"""The papers' results, made again by the program itself: ``python -m reproduction``."""

import os

for _name in ("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS"):  # read when numpy is loaded
    os.environ.setdefault(
        _name, "1"
    )  # sums of models that are trained run in one order; studies run side by side
