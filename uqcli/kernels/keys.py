"""Order-preserving integer keys of floating-point numbers, int32 for 32 bits and int64 for 64 bits."""

from __future__ import annotations

from typing import Any

import numpy as np

from uqcli.base.counts import Floats
from uqcli.kernels.pooling import Keys


def keys_of(value: np.ndarray[Any, np.dtype[np.floating[Any]]]) -> Keys:
    """Return the keys of finite numbers without negative zeros; a view if none is negative.

    Examples
    --------
    >>> keys = keys_of(np.array([-2.5, -0.5, 0.0, 3.0]))
    >>> bool((np.diff(keys) > 0).all()), values_of(keys).tolist()
    (True, [-2.5, -0.5, 0.0, 3.0])
    """
    return _mirrored(value.view(np.int32 if value.dtype == np.float32 else np.int64))


def values_of(keys: Keys) -> Floats:
    """Return the float64 values of keys; a view for non-negative 64-bit keys."""
    bits = _mirrored(keys)
    return bits.view(np.float32 if bits.dtype == np.int32 else np.float64).astype(np.float64, copy=False)


def _mirrored(bits: Keys) -> Keys:
    """Mirror the bits of negative numbers, whose order is reversed."""
    if len(bits) == 0 or bits.min() >= 0:
        return bits
    return np.where(bits < 0, bits ^ np.iinfo(bits.dtype).max, bits)


def widened(keys: Keys) -> Keys:
    """Convert keys to those of the same values as 64-bit numbers."""
    return keys if keys.dtype == np.int64 else keys_of(values_of(keys))
