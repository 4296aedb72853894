"""The environment of a run, settled before libraries look at it."""

from __future__ import annotations

import os
import warnings
from typing import Final

_NARROWEST, _WIDEST = 20, 10_000
"""Columns of a terminal; any other number is of none."""

_WIDER: Final = "X86_V4 AVX512F AVX512CD AVX512_SKX AVX512_CLX AVX512_CNL AVX512_ICL AVX512_SPR"
"""What numpy, new and old, calls the instructions of some CPUs that round exponentials in another way."""

_FORCED: Final = ("FORCE_COLOR", "PY_COLORS", "TTY_COMPATIBLE")


def compute_alike() -> None:
    """Let numpy, where it is loaded afterwards, round as on every other CPU of the family."""
    disabled = os.environ.get("NPY_DISABLE_CPU_FEATURES", "")
    if not disabled.endswith(_WIDER):
        os.environ["NPY_DISABLE_CPU_FEATURES"] = f"{disabled} {_WIDER}".strip()
    # numpy remarks on names that it or the machine does not know
    warnings.filterwarnings("ignore", "During parsing environment variable", ImportWarning)


def settle_surroundings() -> None:
    """Let results not depend on the CPU, ``NO_COLOR`` win, and pictures go to files only."""
    compute_alike()
    if os.environ.get("NO_COLOR"):
        for name in _FORCED:
            os.environ.pop(name, None)
    columns = os.environ.get("COLUMNS", "")
    if not (columns.isdecimal() and _NARROWEST <= int(columns[:9]) <= _WIDEST):
        os.environ.pop("COLUMNS", None)
    if not os.environ.get("POLARS_MAX_THREADS", "1").strip(" 0"):
        del os.environ["POLARS_MAX_THREADS"]  # no thread at all is none that polars could use
    os.environ["MPLBACKEND"] = "agg"  # a notebook's own may not be installed here
