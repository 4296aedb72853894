"""Compile kernels with numba, on demand and cached.

A kernel is written once and runs as Python or compiled, with the same result. Callers pass the number of
steps of a call. A step takes Python about 0.2 microseconds, such as an iteration of an inner loop over lists.
An element of a matrix, which stays an array, costs several steps. The first ``SMALL_WORK`` steps of a kernel
in a process (0.4 seconds) run in Python. Loading the compiler and a cached kernel takes half a second. The
call that exceeds ``SMALL_WORK`` compiles the kernel, or loads it from the disk cache.
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

CACHE_ERRORS: Final = (
    OSError,  # unreadable or read-only file, full disk
    EOFError,  # empty file
    pickle.UnpicklingError,  # truncated file, or not a cache
    AttributeError,  # damaged pickle: unknown name ...
    ImportError,
    TypeError,  # ... or a call with wrong arguments
    ValueError,
    RuntimeError,  # invalid compiled code; no cache directory, on disk or at home
)
"""Exceptions that numba raises on cache problems; none of them is an error in a kernel."""


class Kernel(Generic[*Ts, R]):
    """Array function that runs as Python or compiled, with the same result.

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
        """Run the kernel; ``work`` is its approximate number of steps."""
        self._work += work
        if self._work <= SMALL_WORK:
            return self._on_lists(*args)
        return self.loaded(args)(*args)

    def _on_lists(self, *args: *Ts) -> R:
        """Run as Python; 1-d arrays become lists, which Python indexes several times faster."""
        arguments: tuple[Any, ...] = args
        lists: list[Any] = [
            value.tolist() if isinstance(value, np.ndarray) and value.ndim == 1 else value
            for value in arguments
        ]
        result = self.python(*lists)
        for value, values in zip(arguments, lists, strict=True):
            if value is not values and isinstance(value, np.ndarray) and value.flags.writeable:
                value[:] = values
        return result

    def loaded(self, args: tuple[Any, ...]) -> Callable[[*Ts], R]:
        """Return the compiled function, from the cache unless that fails.

        The cache is accessed here, before the kernel runs. Errors of the kernel are therefore never mistaken
        for cache problems. A real compiler error recurs without the cache.
        """
        try:
            self.cached.compile(tuple(map(self.cached.typeof_pyval, args)))
        except CACHE_ERRORS:
            self.__dict__["cached"] = self.compiled  # permanently: the next call would fail likewise
        function: Callable[[*Ts], R] = self.cached
        return function

    @cached_property
    def compiled(self) -> Any:
        """Compiled function, without disk cache."""
        return self._compile(cache=False)

    @cached_property
    def cached(self) -> Any:
        """Compiled function, with disk cache."""
        return self._compile(cache=True)

    def _compile(self, *, cache: bool) -> Any:
        import numba

        if cache:
            directory = cache_directory(Path(self.python.__code__.co_filename).parent / "__pycache__")
            if directory is None:
                return self.compiled
            numba.core.config.CACHE_DIR = directory  # type: ignore[attr-defined]  # read for each function
        return numba.njit(self.python, cache=cache, nogil=True)


def cache_directory(folder: Path) -> str | None:
    """Choose the directory of compiled kernels: '' if it is next to their sources, None if none is trusted.

    A cache is pickled code. It is therefore only read from an absolute directory that we own and nobody else
    may write. Candidates: NUMBA_CACHE_DIR if set, else the directory beside the sources, else one in the home
    directory.

    Parameters
    ----------
    folder
        Directory of Python's own bytecode cache.
    """
    directory = os.environ.get("NUMBA_CACHE_DIR")
    if directory:
        return directory if _is_ours(Path(directory)) else None
    if _is_ours(folder) and os.access(folder, os.W_OK):
        return ""
    home = os.environ.get("XDG_CACHE_HOME") or os.path.join(os.environ.get("HOME", ""), ".cache")  # noqa: PTH118
    user_cache = Path(home) / "uqcli" / "kernels"
    return str(user_cache) if _is_ours(user_cache) else None


def _is_ours(directory: Path) -> bool:
    """Whether a directory is absolute, exists (or was created here), and only we may write or replace it."""
    if not directory.is_absolute():
        return False
    user, others_may_write = os.geteuid(), stat.S_IWGRP | stat.S_IWOTH
    try:
        directory.mkdir(mode=0o700, parents=True, exist_ok=True)
        owner_and_mode = directory.stat()
        above = [parent.stat() for parent in directory.resolve().parents]
    except OSError:
        return False
    is_private = owner_and_mode.st_uid == user and not owner_and_mode.st_mode & others_may_write
    return is_private and all(
        status.st_uid in (0, user)
        and (not status.st_mode & others_may_write or status.st_mode & stat.S_ISVTX)
        for status in above
    )


def kernel(function: Callable[[*Ts], R]) -> Kernel[*Ts, R]:
    """Declare a kernel."""
    return Kernel(function)
