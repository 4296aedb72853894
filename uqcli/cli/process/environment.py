"""Environment variables of a run, set before libraries read them."""

from __future__ import annotations

import os
import warnings
from typing import Final

_NARROWEST, _WIDEST = 20, 10_000
"""Columns of a terminal; other numbers are ignored."""

_AVX512: Final = "X86_V4 AVX512F AVX512CD AVX512_SKX AVX512_CLX AVX512_CNL AVX512_ICL AVX512_SPR"
"""Names in old and new numpy of the CPU instructions that round exponentials differently."""

_COLOUR_VARIABLES: Final = ("FORCE_COLOR", "PY_COLORS", "TTY_COMPATIBLE")


def round_alike() -> None:
    """Make numpy, if loaded later, round alike on all x86-64 CPUs."""
    disabled = os.environ.get("NPY_DISABLE_CPU_FEATURES", "")
    if not disabled.endswith(_AVX512):
        os.environ["NPY_DISABLE_CPU_FEATURES"] = f"{disabled} {_AVX512}".strip()
    # numpy warns of unknown names
    warnings.filterwarnings("ignore", "During parsing environment variable", ImportWarning)


def set_environment() -> None:
    """Make results equal on all x86-64 CPUs, let ``NO_COLOR`` win, and draw figures only to files."""
    round_alike()
    if os.environ.get("NO_COLOR"):
        for name in _COLOUR_VARIABLES:
            os.environ.pop(name, None)
    columns = os.environ.get("COLUMNS", "")
    if not (columns.isdecimal() and _NARROWEST <= int(columns[:9]) <= _WIDEST):
        os.environ.pop("COLUMNS", None)
    if not os.environ.get("POLARS_MAX_THREADS", "1").strip(" 0"):
        del os.environ["POLARS_MAX_THREADS"]  # polars cannot use 0 threads
    os.environ["MPLBACKEND"] = "agg"  # a notebook's backend may not be installed
