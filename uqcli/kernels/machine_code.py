"""Machine code of kernels: numba makes it once, LLVM loads it in a tenth of the time that numba takes.

numba's own cache needs numba, whose import and set-up take 0.4 seconds. The object code of a kernel needs
nothing but the loader of llvmlite, as long as it calls nothing. ``object_code`` makes sure of that.
"""

from __future__ import annotations

import ctypes
import hashlib
import re
from collections.abc import Callable, Iterator
from functools import cache
from typing import Any, Final, TypeAlias

import numpy as np

from uqcli.records import dataclass

Types: TypeAlias = tuple[tuple[str, int] | None, ...]

_FORM: Final = 1
"""Form of the cached code; to be raised when ``_words`` or the options of the compiler change."""


class UnexpectedCodeError(Exception):
    """The compiler makes other code than this module knows."""


@dataclass(frozen=True)
class Compiled:
    """A loaded kernel; ``engine`` owns its code."""

    function: Any
    engine: Any
    returns_integer: bool

    def __call__(self, *args: Any) -> Any:
        """Run the kernel, without Python's global lock.

        Raises
        ------
        RuntimeError
            The kernel raised an error.
        """
        returned, error = ctypes.c_int64(), ctypes.c_void_p()
        whole = [
            np.require(value, requirements="C") if isinstance(value, np.ndarray) else value for value in args
        ]
        words = [word for value in whole for word in _words(value)]
        if self.function(ctypes.byref(returned), ctypes.byref(error), *words):
            raise RuntimeError("a kernel raised an error")
        for value, copy in zip(args, whole, strict=True):
            if copy is not value and value.flags.writeable:
                value[...] = copy
        return returned.value if self.returns_integer else None


def types_of(args: tuple[Any, ...]) -> Types:
    """Return the type and dimensions of each array, None for an integer."""
    return tuple((value.dtype.str, value.ndim) if isinstance(value, np.ndarray) else None for value in args)


def name_of(function: Callable[..., Any], types: Types) -> str:
    """Name the file of a kernel's code for arguments of these types, on this kind of processor."""
    code = function.__code__
    source = code.co_code, code.co_consts, code.co_names, code.co_varnames
    about = repr((_FORM, _machine(), source, types))
    return f"{function.__name__}-{hashlib.sha256(about.encode()).hexdigest()[:24]}.kernel"


@cache
def _machine() -> tuple[str, ...]:
    from importlib.metadata import version  # faster than numba's own

    import llvmlite.binding as llvm

    features = llvm.get_host_cpu_features().flatten()
    return version("numba"), version("llvmlite"), llvm.get_host_cpu_name(), features


def object_code(function: Callable[..., Any], types: Types) -> bytes:
    """Compile a function for arguments of these types.

    Returns
    -------
    bytes
        A line with the name of the function and the type of what it returns, then object code.

    Raises
    ------
    UnexpectedCodeError
        The code would need more than itself, or be called in another way than ``Compiled`` does.
    """
    import llvmlite.binding as llvm
    import numba

    signature = tuple(
        numba.int64 if kind is None else numba.types.Array(numba.from_dtype(np.dtype(kind[0])), kind[1], "C")
        for kind in types
    )
    options: Any = {"no_cpython_wrapper": True, "no_cfunc_wrapper": True, "_nrt": False}
    dispatcher = numba.njit(error_model="numpy", **options)(function)
    dispatcher.compile(signature)
    (text,) = dispatcher.inspect_llvm().values()
    (returned,) = (overload.signature.return_type for overload in dispatcher.overloads.values())
    external = [line for line in text.splitlines() if line.startswith("declare") and "@llvm." not in line]
    defined = re.findall(r"^define .*?@(\w+)\((.*)\)", text, flags=re.MULTILINE)
    name, parameters = defined[0] if len(defined) == 1 else ("", "")
    plain = re.sub(r"\([^)]*\)|[{}]", "", re.sub(r"{[^}]*}", "struct", parameters))
    plain = re.sub(r"\w+\*+", "ptr", plain)  # LLVM before 16 writes i64* for ptr
    passed = [parameter.partition(" ")[0] for parameter in plain.split(", ")]
    expected = ["ptr", "ptr", *(word for kind in types for word in _words_of(kind))]
    if external or not name or returned not in (numba.int64, numba.none) or passed != expected:
        raise UnexpectedCodeError
    module = llvm.parse_assembly(text)
    *_, cpu, features = _machine()
    machine = llvm.Target.from_default_triple().create_target_machine(
        cpu=cpu, features=features, opt=3, jit=True
    )
    content: bytes = machine.emit_object(module)
    return f"{name} {returned}\n".encode() + content


def loaded(code: bytes) -> Any:
    """Load the result of ``object_code`` into this process."""
    import llvmlite.binding as llvm

    llvm.initialize_native_target()
    llvm.initialize_native_asmprinter()
    line, _, content = code.partition(b"\n")
    name, returned = line.decode().split()
    machine = llvm.Target.from_default_triple().create_target_machine(jit=True)
    engine = llvm.create_mcjit_compiler(llvm.parse_assembly(""), machine)
    engine.add_object_file(llvm.ObjectFileRef.from_data(content))
    engine.finalize_object()
    function = ctypes.CFUNCTYPE(ctypes.c_int32)(engine.get_function_address(name))
    return Compiled(function, engine, returned == "int64")


def _words(value: Any) -> Iterator[Any]:
    """Convert an argument as numba passes it: a contiguous array without owner, or an integer."""
    if not isinstance(value, np.ndarray):
        yield ctypes.c_int64(value)
        return
    yield from (ctypes.c_void_p(), ctypes.c_void_p())
    yield from (ctypes.c_int64(value.size), ctypes.c_int64(value.itemsize))
    yield ctypes.c_void_p(value.ctypes.data)
    yield from map(ctypes.c_int64, (*value.shape, *value.strides))


def _words_of(kind: tuple[str, int] | None) -> tuple[str, ...]:
    """Return LLVM's types of ``_words``."""
    return ("i64",) if kind is None else ("ptr", "ptr", "i64", "i64", "ptr", *(2 * kind[1] * ("i64",)))
