"""The one place where kernels meet the compiler.

A kernel is written once and runs as Python or compiled, with the same result. The rule: its callers say how
many steps a call will take, where a step is what Python does in about 0.2 microseconds, such as a turn of an
inner loop over lists (an element of a matrix, which stays an array, costs several). The first ``SMALL_WORK``
steps of a kernel in a process, 0.4 seconds, are Python: loading the compiler and a cached kernel takes half
a second. From the call that passes them on, the kernel is compiled, from a cache on disk where there is one.
"""

from __future__ import annotations

import os
import pickle
import stat
from collections.abc import Callable
from functools import cached_property
from pathlib import Path
from typing import Any, Final, Generic, TypeVar, TypeVarTuple

import numpy as np

from uqcli.defaults import SMALL_WORK

Ts = TypeVarTuple("Ts")
R = TypeVar("R")

CACHE_TROUBLE: Final = (
    OSError,  # a file that cannot be read or replaced, a full disk
    EOFError,  # an empty file
    pickle.UnpicklingError,  # a file cut short, or no cache at all
    AttributeError,  # damaged pickles name what is not there ...
    ImportError,
    TypeError,  # ... or call it with something else
    ValueError,
    RuntimeError,  # compiled code that is none; no place for a cache, on disk or at home
)
"""What numba was seen to raise over a cache; its own errors about a kernel are none of these."""


class Kernel(Generic[*Ts, R]):
    """A function over arrays that runs as Python or compiled, with the same result.

    Parameters
    ----------
    function
        Arrays and integers in, arrays out; no validation, no exceptions.
    """

    def __init__(self, function: Callable[[*Ts], R]) -> None:
        self.python = function
        self.__doc__ = function.__doc__
        self._work = 0

    def run(self, work: int, *args: *Ts) -> R:
        """Run the kernel; ``work`` is about how many steps it will take."""
        self._work += work
        if self._work <= SMALL_WORK:
            return self._on_lists(*args)
        return self.loaded(args)(*args)

    def _on_lists(self, *args: *Ts) -> R:
        """Run as Python; lines of numbers become lists, which Python reads several times faster."""
        given: tuple[Any, ...] = args
        lists: list[Any] = [
            value.tolist() if isinstance(value, np.ndarray) and value.ndim == 1 else value for value in given
        ]
        result = self.python(*lists)
        for value, numbers in zip(given, lists, strict=True):
            if value is not numbers and isinstance(value, np.ndarray) and value.flags.writeable:
                value[:] = numbers
        return result

    def loaded(self, args: tuple[Any, ...]) -> Callable[[*Ts], R]:
        """The compiled function, from the cache unless that is in trouble.

        The cache is read and written here, before the kernel runs: what a kernel raises is never mistaken
        for trouble with the cache. A real error of the compiler comes again without the cache.
        """
        try:
            self.cached.compile(tuple(map(self.cached.typeof_pyval, args)))
        except CACHE_TROUBLE:
            self.__dict__["cached"] = self.compiled  # for good: the next call would meet the same
        function: Callable[[*Ts], R] = self.cached
        return function

    @cached_property
    def compiled(self) -> Any:
        """The compiled function, without a cache on disk."""
        return self._compile(cache=False)

    @cached_property
    def cached(self) -> Any:
        """The compiled function, with a cache on disk."""
        return self._compile(cache=True)

    def _compile(self, *, cache: bool) -> Any:
        import numba

        if cache:
            directory = cache_directory(Path(self.python.__code__.co_filename).parent / "__pycache__")
            if directory is None:
                return self.compiled
            numba.core.config.CACHE_DIR = directory  # type: ignore[attr-defined]  # read for each function
        return numba.njit(self.python, cache=cache, nogil=True)


def cache_directory(beside: Path) -> str | None:
    """Where compiled kernels are kept: '' for beside their sources, None where no place can be trusted.

    A cache is pickled code. It is read from an absolute directory only that is ours and that nobody else may
    write: the one that NUMBA_CACHE_DIR names, else the one beside the sources, else one of our own.

    Parameters
    ----------
    beside
        The directory that Python keeps its own compiled code in.
    """
    named = os.environ.get("NUMBA_CACHE_DIR")
    if named:
        return named if _is_ours(Path(named)) else None
    if _is_ours(beside) and os.access(beside, os.W_OK):
        return ""
    home = os.environ.get("XDG_CACHE_HOME") or os.path.join(os.environ.get("HOME", ""), ".cache")  # noqa: PTH118
    own = Path(home) / "uqcli" / "kernels"
    return str(own) if _is_ours(own) else None


def _is_ours(directory: Path) -> bool:
    """Whether a directory is absolute, there or made here, and nobody else may write or replace it."""
    if not directory.is_absolute():
        return False
    user, others = os.geteuid(), stat.S_IWGRP | stat.S_IWOTH
    try:
        directory.mkdir(mode=0o700, parents=True, exist_ok=True)
        facts = directory.stat()
        above = [each.stat() for each in directory.resolve().parents]
    except OSError:
        return False
    ours = facts.st_uid == user and not facts.st_mode & others
    return ours and all(
        each.st_uid in (0, user) and (not each.st_mode & others or each.st_mode & stat.S_ISVTX)
        for each in above
    )


def kernel(function: Callable[[*Ts], R]) -> Kernel[*Ts, R]:
    """Declare a kernel."""
    return Kernel(function)
