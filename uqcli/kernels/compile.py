"""The one place where kernels meet the compiler.

A kernel is written once. Little work runs it as plain Python, so that a small job does not pay for
loading the compiler; more work runs it compiled, from a cache on disk where there is one.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import cached_property
from typing import Any, Generic, ParamSpec, TypeVar

import numpy as np

from uqcli.defaults import SMALL_WORK

P = ParamSpec("P")
R = TypeVar("R")


class Kernel(Generic[P, R]):
    """A function over arrays that runs as Python or compiled, with the same result.

    Parameters
    ----------
    function
        Arrays and integers in, arrays out; no validation, no exceptions.
    """

    def __init__(self, function: Callable[P, R]) -> None:
        self.python = function
        self.__doc__ = function.__doc__
        self._work = 0

    def run(self, work: int, *args: P.args, **kwargs: P.kwargs) -> R:
        """Run the kernel; ``work`` is about how many loop steps it will take.

        The first steps are plain Python; once a process has taken so many that the compiler would have
        paid off, it is used for the rest.
        """
        self._work += work
        if self._work <= SMALL_WORK:
            return self._on_lists(*args, **kwargs)
        try:
            return self._cached(*args, **kwargs)
        except Exception:
            return self.compiled(*args, **kwargs)

    def _on_lists(self, *args: P.args, **kwargs: P.kwargs) -> R:
        """Run as Python; lines of numbers become lists, which Python reads several times faster."""
        lists: list[Any] = [
            value.tolist() if isinstance(value, np.ndarray) and value.ndim == 1 else value for value in args
        ]
        result = self.python(*lists, **kwargs)
        for value, numbers in zip(args, lists, strict=True):
            if value is not numbers and isinstance(value, np.ndarray) and value.flags.writeable:
                value[:] = numbers
        return result

    @cached_property
    def compiled(self) -> Callable[P, R]:
        """The compiled function, without a cache on disk."""
        return self._compile(cache=False)

    @cached_property
    def _cached(self) -> Callable[P, R]:
        try:
            return self._compile(cache=True)
        except RuntimeError:  # no place for the cache: read-only installation and home
            return self.compiled

    def _compile(self, *, cache: bool) -> Callable[P, R]:
        import numba

        compiled: Any = numba.njit(self.python, cache=cache, nogil=True)
        return compiled  # type: ignore[no-any-return]


def kernel(function: Callable[P, R]) -> Kernel[P, R]:
    """Declare a kernel."""
    return Kernel(function)
