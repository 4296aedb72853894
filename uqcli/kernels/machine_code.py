"""Object code of kernels: numba compiles it once, LLVM's JIT loads it in a tenth of the time numba takes.

numba's own cache needs numba, whose import and set-up take 0.4 seconds. The object code of a kernel needs
nothing but the loader of llvmlite, as long as it has no external symbols. ``Compiled`` then has to follow
numba's calling convention by itself. This is the prototype in C of a kernel ``f(a, n)``, where a is an array
of two dimensions and n an integer::

    int32_t f(                returns a status, 0 or an error
        int64_t *retval,      where to store the integer that the kernel returns
        void   **excinfo,     where to store which exception was raised
                              +-- a, flattened by numba's data model of an array
        void    *meminfo,     |   NULL: no memory of numba's runtime, no reference count
        void    *parent,      |   NULL: no Python object to keep alive
        int64_t  nitems,      |   number of elements
        int64_t  itemsize,    |   bytes of an element
        double  *data,        |   first element
        int64_t  shape0,      |   number of elements by dimension
        int64_t  shape1,      |
        int64_t  strides0,    |   bytes from an element to the next by dimension
        int64_t  strides1,    |
                              +--
        int64_t  n)

``object_code`` compares the prototype in LLVM's IR with the one that ``Compiled`` calls. If they differ, or a
symbol is external, it raises ``UnexpectedCodeError``, and the caller runs the kernel in numba.
"""

from __future__ import annotations

import ctypes
import hashlib
import re
from collections.abc import Callable
from functools import cache
from typing import Any, Final, TypeAlias

import numpy as np

from uqcli.base.records import dataclass

ArgumentType: TypeAlias = tuple[str, int] | None
"""Type of the elements and number of dimensions of a C-contiguous array; None for a 64-bit integer."""

Signature: TypeAlias = tuple[ArgumentType, ...]

_C_TYPES: Final = {"ptr": ctypes.c_void_p, "i64": ctypes.c_int64}

_ABI_VERSION: Final = 1
"""Version of cached code; to be raised when the calling convention or the compiler's options change."""


class UnexpectedCodeError(Exception):
    """The compiler makes other code than this module knows."""


@dataclass(frozen=True)
class Compiled:
    """A loaded kernel; ``engine`` owns its code."""

    function: Any
    engine: Any
    returns_integer: bool

    def __call__(self, *args: Any) -> Any:
        """Run the kernel, without Python's global lock."""
        retval, excinfo = ctypes.c_int64(), ctypes.c_void_p()
        flattened: list[int | None] = []
        copies = []
        for value in args:
            buffer = value
            if isinstance(value, np.ndarray) and not value.flags.c_contiguous:
                buffer = np.ascontiguousarray(value)
                copies.append((value, buffer))
            flattened += _flatten(buffer)
        status = self.function(ctypes.byref(retval), ctypes.byref(excinfo), *flattened)
        if status:
            raise RuntimeError("a kernel raised an error")
        for value, buffer in copies:
            if value.flags.writeable:
                value[...] = buffer
        return retval.value if self.returns_integer else None


def signature_of(args: tuple[Any, ...]) -> Signature:
    """Return the types of arguments."""
    return tuple((value.dtype.str, value.ndim) if isinstance(value, np.ndarray) else None for value in args)


def cache_name(function: Callable[..., Any], signature: Signature) -> str:
    """Name the file of a kernel's object code for a signature, on this target."""
    code = function.__code__
    source = code.co_code, code.co_consts, code.co_names, code.co_varnames
    key = repr((_ABI_VERSION, _target(), source, signature))
    return f"{function.__name__}-{hashlib.sha256(key.encode()).hexdigest()[:24]}.kernel"


@cache
def _target() -> tuple[str, ...]:
    """Return the versions of the compiler, the system, and name and features of the processor."""
    from importlib.metadata import version  # faster than numba's own

    import llvmlite.binding as llvm

    features = llvm.get_host_cpu_features().flatten()
    system = llvm.get_process_triple()  # with architecture and operating system
    return version("numba"), version("llvmlite"), system, llvm.get_host_cpu_name(), features


def object_code(function: Callable[..., Any], signature: Signature) -> bytes:
    """Compile a function for a signature: a line with its symbol and its return type, then object code.

    Code with external symbols, or another prototype than the one that ``Compiled`` calls, is an
    UnexpectedCodeError.
    """
    import llvmlite.binding as llvm
    import numba

    argument_types = tuple(
        numba.int64 if kind is None else numba.types.Array(numba.from_dtype(np.dtype(kind[0])), kind[1], "C")
        for kind in signature
    )
    options: Any = {"no_cpython_wrapper": True, "no_cfunc_wrapper": True, "_nrt": False}
    dispatcher = numba.njit(error_model="numpy", **options)(function)
    dispatcher.compile(argument_types)
    (ir,) = dispatcher.inspect_llvm().values()
    (return_type,) = (overload.signature.return_type for overload in dispatcher.overloads.values())
    external = [line for line in ir.splitlines() if line.startswith("declare") and "@llvm." not in line]
    definitions = re.findall(r"^define .*?\bi32 @(\w+)\((.*)\)", ir, flags=re.MULTILINE)
    symbol, parameters = definitions[0] if len(definitions) == 1 else ("", "")
    is_known = _llvm_types_in(parameters) == prototype(signature)
    if external or not symbol or return_type not in (numba.int64, numba.none) or not is_known:
        raise UnexpectedCodeError
    module = llvm.parse_assembly(ir)
    *_, cpu, features = _target()
    target_machine = llvm.Target.from_default_triple().create_target_machine(
        cpu=cpu, features=features, opt=3, jit=True
    )
    content: bytes = target_machine.emit_object(module)
    return f"{symbol} {return_type}\n".encode() + content


def load(code: bytes, signature: Signature) -> Any:
    """Load the result of ``object_code`` for a signature into this process.

    LLVM may raise any exception if it cannot load it, or finds no function in it.
    """
    import llvmlite.binding as llvm

    llvm.initialize_native_target()
    llvm.initialize_native_asmprinter()
    line, _, content = code.partition(b"\n")
    symbol, return_type = line.decode().split()
    target_machine = llvm.Target.from_default_triple().create_target_machine(jit=True)
    engine = llvm.create_mcjit_compiler(llvm.parse_assembly(""), target_machine)
    engine.add_object_file(llvm.ObjectFileRef.from_data(content))
    engine.finalize_object()
    address = engine.get_function_address(symbol)
    if not address:
        raise UnexpectedCodeError(f"no symbol {symbol}")
    function = ctypes.CFUNCTYPE(ctypes.c_int32, *map(_C_TYPES.__getitem__, prototype(signature)))(address)
    return Compiled(function, engine, return_type == "int64")


def prototype(signature: Signature) -> list[str]:
    """Return LLVM's types of the parameters: retval, excinfo, and the flattened arguments."""
    return ["ptr", "ptr", *(member for kind in signature for member in _flattened_types(kind))]


def _flattened_types(kind: ArgumentType) -> tuple[str, ...]:
    """Return LLVM's types of ``_flatten``."""
    return ("i64",) if kind is None else ("ptr", "ptr", "i64", "i64", "ptr", *(2 * kind[1] * ("i64",)))


def _flatten(value: Any) -> tuple[int | None, ...]:
    """Return the members of a C-contiguous array by numba's data model, or an integer."""
    if not isinstance(value, np.ndarray):
        return (value,)
    meminfo = parent = None
    return (meminfo, parent, value.size, value.itemsize, value.ctypes.data, *value.shape, *value.strides)


def _llvm_types_in(parameters: str) -> list[str]:
    """Return the types of the parameters of a definition in LLVM's IR, without their attributes."""
    without_attributes = re.sub(r"\([^)]*\)|[{}]", "", re.sub(r"{[^}]*}", "struct", parameters))
    opaque = re.sub(r"\w+\*+", "ptr", without_attributes)  # LLVM before 16 writes i64* for ptr
    return [parameter.partition(" ")[0] for parameter in opaque.split(", ")]
