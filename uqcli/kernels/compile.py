"""Compile kernels with numba, on demand, and keep their machine code in a cache.

A kernel is written once and runs as Python or compiled, with the same result. Callers pass the number of
steps of a call. A step takes Python about 0.2 microseconds, such as an iteration of an inner loop over lists.
An element of a matrix, which stays an array, costs several steps. The first ``SMALL_WORK`` steps of a kernel
in a process run in Python, which takes as long as loading machine code (0.03 seconds). Importing numba and
compiling takes a second, so code that is not in the cache is compiled after ``UNCOMPILED_WORK`` steps.

Where array functions do the same, they run in place of Python. They take about as long for
``ROWS_PER_STEP`` rows as Python for a step.
"""

from __future__ import annotations

import hashlib
import os
import stat
from collections.abc import Callable
from contextlib import suppress
from functools import partial
from pathlib import Path
from threading import Lock
from typing import Any, Final, Generic, TypeVar, TypeVarTuple

import numpy as np

from uqcli.base.defaults import SMALL_WORK, UNCOMPILED_WORK
from uqcli.base.operating_system import user_caches, user_id
from uqcli.base.running.interruption import Temporary
from uqcli.base.running.messages import remark
from uqcli.kernels.machine_code import Signature, cache_name, load, object_code, signature_of

_DIGEST_BYTES: Final = 32


def kept_code(directory: Path | None, name: str) -> bytes | None:
    """Read machine code; None if there is none, or a damaged one."""
    if directory is None:
        return None
    try:
        content = (directory / name).read_bytes()
    except OSError:
        return None
    digest, code = content[:_DIGEST_BYTES], content[_DIGEST_BYTES:]
    return code if digest == hashlib.sha256(code).digest() else None


def keep_code(directory: Path | None, name: str, code: bytes) -> None:
    """Write machine code for later processes, or leave it: a full disk is no error."""
    if directory is None:
        return
    with suppress(OSError):
        temporary = Temporary(directory, name)
        try:
            with temporary.open() as file:
                file.write(hashlib.sha256(code).digest() + code)
            temporary.rename(directory / name)
        finally:
            temporary.remove()


def cache_directory(folder: Path) -> Path | None:
    """Choose the directory of machine code, and make it; None if none is trusted.

    It is only read from an absolute directory that we own and nobody else may write. Candidates:
    NUMBA_CACHE_DIR if set, else the folder of Python's own bytecode cache, else one in the home directory.
    """
    directory = os.environ.get("NUMBA_CACHE_DIR")
    if directory:
        return Path(directory) if _is_ours(Path(directory)) else None
    if user_id() is not None and _is_ours(folder) and os.access(folder, os.W_OK):
        return folder
    user_cache = user_caches() / "uqcli" / "kernels"
    return user_cache if _is_ours(user_cache) else None


def _is_ours(directory: Path) -> bool:
    """Whether a directory is absolute, exists (or was created here), and only we may write or replace it."""
    if not directory.is_absolute():
        return False
    user, others_may_write = user_id(), stat.S_IWGRP | stat.S_IWOTH
    try:
        directory.mkdir(mode=0o700, parents=True, exist_ok=True)
        owner_and_mode = directory.stat()
        above = [parent.stat() for parent in directory.resolve().parents]
    except OSError:
        return False
    if user is None:
        return True
    is_private = owner_and_mode.st_uid == user and not owner_and_mode.st_mode & others_may_write
    return is_private and all(
        status.st_uid in (0, user)
        and (not status.st_mode & others_may_write or status.st_mode & stat.S_ISVTX)
        for status in above
    )


Ts = TypeVarTuple("Ts")
R = TypeVar("R")


class Kernel(Generic[*Ts, R]):
    """Array function that runs as Python or compiled, with the same result.

    The function has arrays and integers in, arrays filled in, and an integer or nothing out. It allocates
    nothing, raises nothing and calls nothing but built-ins and numpy's integer types. ``arrays`` does the
    same with array functions; None to run the function on lists.
    """

    def __init__(self, function: Callable[[*Ts], R], *, arrays: Callable[[*Ts], R] | None = None) -> None:
        self.python = function
        self.arrays = arrays
        self.__doc__ = function.__doc__
        self._loading = Lock()
        self._work = 0
        self._loaded: dict[Signature, Callable[[*Ts], R] | None] = {}

    def run(self, work: int, *args: *Ts) -> R:
        """Run the kernel; ``work`` is its approximate number of steps."""
        self._work += work
        if self._work > SMALL_WORK:
            code = self._code(args, may_compile=self._work > UNCOMPILED_WORK)
            if code is not None:
                return code(*args)
        return self._on_lists(*args) if self.arrays is None else self.arrays(*args)

    def compiled(self, *args: *Ts) -> R:
        """Run the machine code; as Python if numba may not compile."""
        code = self._code(args, may_compile=True)
        return self._on_lists(*args) if code is None else code(*args)

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

    def _code(self, args: tuple[Any, ...], *, may_compile: bool) -> Callable[[*Ts], R] | None:
        """Return machine code for arguments of these types; None if it has to be compiled and may not be."""
        signature = signature_of(args)
        if self._loaded.get(signature) is None and (may_compile or signature not in self._loaded):
            with self._loading:  # so that only one of several threads compiles
                if self._loaded.get(signature) is None:
                    self._loaded[signature] = self._load(signature, may_compile=may_compile)
        return self._loaded[signature]

    def _load(self, signature: Signature, *, may_compile: bool) -> Callable[[*Ts], R] | None:
        directory = cache_directory(Path(self.python.__code__.co_filename).parent / "__pycache__")
        name = cache_name(self.python, signature)
        code = kept_code(directory, name)
        if code is None and (not may_compile or _compiling_is_disabled()):
            return None
        try:
            if code is None:
                code = object_code(self.python, signature)
                keep_code(directory, name, code)
            function: Callable[[*Ts], R] = load(code, signature)
        except Exception as error:  # no executable memory, another LLVM; an error of the kernel comes again
            import numba

            remark(f"Machine code cannot be loaded ({error!r}), so numba compiles it in each run.")
            return numba.njit(nogil=True)(self.python)
        return function


def _compiling_is_disabled() -> bool:
    """Whether ``NUMBA_DISABLE_JIT``, or numba's own configuration file, disables compilation."""
    import numba

    return bool(numba.config.DISABLE_JIT)  # type: ignore[attr-defined]  # read from the environment


def kernel(function: Callable[[*Ts], R]) -> Kernel[*Ts, R]:
    """Declare a kernel."""
    return Kernel(function)


def kernel_beside(arrays: Callable[[*Ts], R]) -> Callable[[Callable[[*Ts], R]], Kernel[*Ts, R]]:
    """Declare a kernel that does the same as some array functions."""
    return partial(Kernel, arrays=arrays)
