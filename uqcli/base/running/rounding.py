"""Let numpy round alike on all x86-64 CPUs, so that a rule has the same bytes on each."""

from __future__ import annotations

import os
import sys
import warnings
from typing import Final

_VARIABLE: Final = "NPY_DISABLE_CPU_FEATURES"

_AVX512: Final = "X86_V4 AVX512F AVX512CD AVX512_SKX AVX512_CLX AVX512_CNL AVX512_ICL AVX512_SPR"
"""Names in old and new numpy of the CPU instructions that round exponentials differently."""


def round_alike() -> None:
    """Make numpy, if loaded later, round alike on all x86-64 CPUs."""
    disabled = os.environ.get(_VARIABLE, "")
    if not disabled.endswith(_AVX512):
        os.environ[_VARIABLE] = f"{disabled} {_AVX512}".strip()
    # numpy warns of unknown names
    warnings.filterwarnings("ignore", "During parsing environment variable", ImportWarning)


def caution_rounding() -> None:
    """Caution that numpy was loaded before it could be told to round alike, if this CPU rounds otherwise."""
    loaded = sys.modules.get("numpy._core._multiarray_umath")
    features = getattr(loaded, "__cpu_features__", {})
    # of these numpy has code, and only these it turns off; other features stay those of the CPU
    dispatched = getattr(loaded, "__cpu_dispatch__", [])
    if any(features.get(name) for name in _AVX512.split() if name in dispatched):
        from uqcli.base.running.messages import caution

        caution(
            "rounding",
            "numpy was loaded before uqcli and rounds exponentials as only CPUs with AVX-512 do, so that the "
            "last digits of a rule may differ from those of other machines: import uqcli first.",
        )
