"""Sums and products of whole numbers that are exact whatever their size.

Amounts, weights and counts are each far below 2**63, and their products and sums over millions of rows are
not. Every product or sum that no check of the input bounds is made here. The largest result is computed from
the operands first; if it does not fit into 64 bits, the work is done in two words or in Python's integers.
"""

from __future__ import annotations

from collections import Counter
from itertools import product as combinations
from typing import Any, Final

import numpy as np

from uqcli.base.counts import Ints

LARGEST: Final = 2**63 - 1
"""Largest absolute value of a 64-bit number whose sign can be turned."""

_WORD: Final = 32
"""Bits of the lower word of a number; words of 2**31 numbers add up in 64 bits."""

_PRODUCT_BITS: Final = 42
"""Bits of a product of parts of numbers, of which ``_BLOCK`` add up in 64 bits."""

_BLOCK: Final = 1 << 20


def fitting(most: int) -> np.dtype[Any]:
    """Return the type of whole numbers up to a size: int64, or Python's integers (``object``)."""
    return np.dtype(np.int64 if most <= LARGEST else object)


def largest(values: Ints) -> int:
    """Return the largest absolute value, 0 of no values."""
    return max(int(values.max()), -int(values.min())) if values.size else 0


def product(one: Ints, other: Ints | int) -> Ints:
    """Multiply whole numbers; int64 if no product can exceed it, else Python's integers (``object``).

    Examples
    --------
    >>> product(np.array([3, 2**40]), 2**20).dtype, product(np.array([3, 2**40]), 2**40).tolist()
    (dtype('int64'), [3298534883328, 1208925819614629174706176])
    """
    size = abs(other) if isinstance(other, int) else largest(other)
    whole: Ints = one.astype(fitting(largest(one) * size), copy=False)
    return whole * other


def total(values: Ints) -> int:
    """Add up whole numbers of any size, at most 2**31 of them.

    Examples
    --------
    >>> total(np.array([2**62, 2**62, 1])) == 2**63 + 1
    True
    """
    if values.dtype == object or largest(values) * values.size <= LARGEST:
        return int(values.sum())
    low = values & ((1 << _WORD) - 1)
    return (int((values >> _WORD).sum()) << _WORD) + int(low.sum())


def sum_of_products(*factors: Ints) -> int:
    """Add up the products of whole numbers of the same place; of shape (n,) each, and at least 0.

    Examples
    --------
    >>> sum_of_products(np.array([1, 2**40]), np.array([1, 2**40]), np.array([5, 2**60])) == 5 + 2**140
    True
    """
    if any(values.dtype == object for values in factors):
        products = factors[0].astype(object)
        for values in factors[1:]:
            products = products * values
        return int(products.sum())
    own = [next(number for number, other in enumerate(factors) if other is values) for values in factors]
    blocks = range(0, len(factors[0]), _BLOCK)
    return sum(_of_block([values[first : first + _BLOCK] for values in factors], own) for first in blocks)


def _of_block(factors: list[Ints], own: list[int]) -> int:
    """Add up the products of a block; ``own`` is the number of the first factor that equals each."""
    bits = _PRODUCT_BITS // len(factors)
    parts: dict[tuple[int, int], Ints] = {}
    for number in {*own}:
        values = factors[number]
        for place, shift in enumerate(range(0, largest(values).bit_length(), bits)):
            part = values >> shift & ((1 << bits) - 1)
            if part.any():
                parts[number, place] = part
    of_factors = [[key for key in parts if key[0] == number] for number in own]
    result = 0
    for keys, times in Counter(tuple(sorted(keys)) for keys in combinations(*of_factors)).items():
        *others, last = (parts[key] for key in keys)
        products = others[0] if others else np.ones(len(last), dtype=np.int64)
        for part in others[1:]:
            products = products * part
        result += times * int(np.dot(products, last)) << bits * sum(place for _, place in keys)
    return result
