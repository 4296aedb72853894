"""Tests of compiled kernels: they work without a usable cache, and report every other error."""

import ast
import importlib.util
import resource
import subprocess
import sys
import threading
from pathlib import Path

import numba
import numpy as np
import pytest

import uqcli
from uqcli.base.defaults import SMALL_WORK, UNCOMPILED_WORK
from uqcli.base.running import messages
from uqcli.kernels import compile as compile_module
from uqcli.kernels import machine_code
from uqcli.kernels.compile import Kernel, cache_directory, kept_code
from uqcli.kernels.machine_code import (
    UnexpectedCodeError,
    cache_name,
    load,
    object_code,
    prototype,
    signature_of,
)

SOURCE = """
def sums(values, running):
    total = 0
    for i in range(len(values)):
        total += values[i]
        running[i] = total
    return total
"""


def function_of(folder, source=SOURCE, name="sums"):
    path = folder / "summing.py"
    path.write_text(source)
    spec = importlib.util.spec_from_file_location("summing", path)
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return getattr(module, name)


@pytest.fixture
def cached(tmp_path, monkeypatch):
    """Return a function whose machine code is in a cache, and the file of the cache."""
    monkeypatch.setenv("NUMBA_CACHE_DIR", str(tmp_path / "cache"))
    function = function_of(tmp_path)
    assert checked_total(Kernel(function)) == 45
    (path,) = (tmp_path / "cache").iterdir()
    assert path.suffix == ".kernel"
    return function, path


def checked_total(kernel, work=UNCOMPILED_WORK + 1, dtype=np.int64):
    values = np.arange(10, dtype=dtype)
    running = np.zeros_like(values)
    total = kernel.run(work, values, running)
    assert running.tolist() == np.cumsum(values).tolist()
    return total


def must_not_compile(*_):
    raise AssertionError("compiled")


def test_code_in_the_cache_is_loaded_without_compiling(cached, monkeypatch):
    function, _ = cached
    monkeypatch.setattr(compile_module, "object_code", must_not_compile)
    kernel = Kernel(function)
    assert [checked_total(kernel, SMALL_WORK + 1), checked_total(kernel)] == [45, 45]
    assert list(kernel._loaded.values()) != [None]


def test_code_that_is_not_in_the_cache_is_compiled_for_much_work_only(tmp_path, monkeypatch):
    monkeypatch.setenv("NUMBA_CACHE_DIR", str(tmp_path / "cache"))
    kernel = Kernel(function_of(tmp_path))
    assert checked_total(kernel, SMALL_WORK + 1) == 45
    assert list((tmp_path / "cache").iterdir()) == []
    assert checked_total(kernel) == 45
    assert len(list((tmp_path / "cache").iterdir())) == 1


def test_array_functions_run_in_place_of_python(cached, monkeypatch):
    function, _ = cached
    calls = []

    def arrays(values, running):
        calls.append(len(values))
        running[:] = np.cumsum(values)
        return int(values.sum())

    kernel = Kernel(function, arrays=arrays)
    assert [checked_total(kernel, work) for work in (0, SMALL_WORK, 1)] == [45, 45, 45]
    assert calls == [10, 10]


def test_each_type_and_source_has_its_own_code(cached):
    function, path = cached
    assert checked_total(Kernel(function), dtype=np.int32) == 45
    other = function_of(path.parent.parent, SOURCE.replace("total += values", "total = total + values"))
    assert checked_total(Kernel(other)) == 45
    assert len(list(path.parent.iterdir())) == 3


DAMAGES = {
    "empty": lambda content: b"",
    "noise": lambda content: b"\xff" * 64,
    "one changed byte": lambda content: content[:-9] + bytes([content[-9] ^ 1]) + content[-8:],
    "code of nothing": lambda content: content[:32],
}


@pytest.mark.parametrize("damage", DAMAGES)
def test_a_damaged_cache_is_replaced(cached, damage):
    function, path = cached
    path.write_bytes(DAMAGES[damage](path.read_bytes()))
    assert not kept_code(path.parent, path.name)
    kernel = Kernel(function)
    assert [checked_total(kernel), checked_total(kernel)] == [45, 45]
    assert kept_code(path.parent, path.name)


def test_a_truncated_cache_is_replaced(cached, monkeypatch):
    function, path = cached
    content = path.read_bytes()
    compiled = []
    monkeypatch.setattr(compile_module, "object_code", lambda *_: compiled.append(1) or content[32:])
    for length in (*range(0, len(content), 61), len(content) - 1):
        path.write_bytes(content[:length])
        assert checked_total(Kernel(function)) == 45
        assert path.read_bytes() == content
    assert len(compiled) > 20


def test_a_folder_in_place_of_the_cache_is_ignored(cached):
    function, path = cached
    path.unlink()
    path.mkdir()
    assert checked_total(Kernel(function)) == 45
    assert [entry.name for entry in path.parent.iterdir()] == [path.name]


def test_kernels_run_on_a_full_disk(tmp_path, monkeypatch):
    monkeypatch.setenv("NUMBA_CACHE_DIR", str(tmp_path / "cache"))
    function = function_of(tmp_path)
    limits = resource.getrlimit(resource.RLIMIT_FSIZE)
    resource.setrlimit(resource.RLIMIT_FSIZE, (512, limits[1]))
    try:
        assert checked_total(Kernel(function)) == 45
    finally:
        resource.setrlimit(resource.RLIMIT_FSIZE, limits)
    assert list((tmp_path / "cache").iterdir()) == []


def test_kernels_run_where_no_source_file_is(tmp_path, monkeypatch):
    monkeypatch.setenv("HOME", str(tmp_path))
    names = {}
    exec(compile(SOURCE, "<nowhere>", "exec"), names)
    assert checked_total(Kernel(names["sums"])) == 45


def test_threads_share_a_kernel(cached):
    function, _ = cached
    kernel, totals = Kernel(function), []
    threads = [threading.Thread(target=lambda: totals.append(checked_total(kernel))) for _ in range(8)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert totals == [45] * 8


def test_loading_code_imports_no_compiler(cached):
    function, path = cached
    script = (
        "import sys, numpy as np; from summing import sums; from uqcli.kernels.compile import Kernel; "
        f"print(Kernel(sums).run({SMALL_WORK + 1}, np.arange(10), np.zeros(10, dtype=np.int64)), "
        "'numba' in sys.modules)"
    )
    process = subprocess.run(
        [sys.executable, "-c", script], cwd=path.parent.parent, capture_output=True, text=True, check=True
    )
    assert process.stdout == "45 False\n"
    assert function.__name__ == "sums"


RAISING = """
def raising(values):
    if values[0] > 0:
        raise ValueError("from the kernel")
    return 0
"""


def test_errors_of_a_kernel_are_raised(tmp_path, monkeypatch):
    monkeypatch.setenv("NUMBA_CACHE_DIR", str(tmp_path / "cache"))
    kernel = Kernel(function_of(tmp_path, RAISING, "raising"))
    with pytest.raises(ValueError, match="from the kernel"):
        kernel.compiled(np.ones(3))


def test_arrays_that_are_not_contiguous_are_read_and_filled(cached):
    function, _ = cached
    running = np.zeros(10, dtype=np.int64)
    assert Kernel(function).compiled(np.arange(10)[::2], running[::2]) == 20
    assert running.tolist() == [0, 0, 2, 0, 6, 0, 12, 0, 20, 0]


def test_code_that_needs_more_than_itself_runs_in_numba(tmp_path, monkeypatch):
    monkeypatch.setenv("NUMBA_CACHE_DIR", str(tmp_path / "cache"))
    function = function_of(tmp_path, "def product(a, b):\n    return a[0] ** b[0]\n", "product")
    args = np.array([2.0]), np.array([10.0])
    with pytest.raises(UnexpectedCodeError):
        object_code(function, signature_of(args))
    assert Kernel(function).compiled(*args) == 1024
    assert list((tmp_path / "cache").iterdir()) == []


MEMBERS = """
def members(a, n, b, seen):
    seen[0], seen[1], seen[2], seen[3] = a.size, a.itemsize, n, b.size
    seen[4], seen[5], seen[6], seen[7] = a.shape[0], a.shape[1], a.strides[0], a.strides[1]
    seen[8], seen[9], seen[10] = a[1, 2], b[1], seen.size
"""


def test_the_calling_convention_is_that_of_the_installed_numba():
    """An array is flattened into the members of numba's data model, after retval and excinfo."""
    from numba.core.datamodel import default_manager
    from numba.core.registry import cpu_target

    args = np.zeros((2, 3), np.float32), 7, np.zeros(2, np.int64), np.zeros(2, np.bool_)
    types = tuple(numba.typeof(value) for value in args)
    context = cpu_target.target_context
    members = ("meminfo", "parent", "nitems", "itemsize", "data", "shape", "strides")
    assert {default_manager[types[index]]._fields for index in (0, 2, 3)} == {members}
    function = context.call_conv.get_function_type(numba.int64, types)
    parameters = ["ptr" if argument.is_pointer else str(argument) for argument in function.args]
    assert (str(function.return_type), parameters) == ("i32", prototype(signature_of(args)))


def test_every_member_of_an_array_arrives(tmp_path):
    function = function_of(tmp_path, MEMBERS, "members")
    a, b = np.arange(6, dtype=np.int32).reshape(2, 3), np.arange(5, 7)
    seen = [np.zeros(11, dtype=np.int64) for _ in range(2)]
    args = [(a, 2**40, b, array) for array in seen]
    load(object_code(function, signature_of(args[0])), signature_of(args[0]))(*args[0])
    numba.njit(function)(*args[1])
    assert seen[0].tolist() == seen[1].tolist() == [6, 4, 2**40, 2, 2, 3, 12, 4, 5, 6, 11]


def test_another_calling_convention_runs_in_numba(tmp_path, monkeypatch):
    """Such as one with another member for each array."""
    monkeypatch.setenv("NUMBA_CACHE_DIR", str(tmp_path / "cache"))
    members_of = machine_code._flattened_types
    monkeypatch.setattr(machine_code, "_flattened_types", lambda kind: ("ptr", *members_of(kind)))
    function = function_of(tmp_path)
    with pytest.raises(UnexpectedCodeError):
        object_code(function, signature_of((np.arange(10), np.arange(10))))
    assert checked_total(Kernel(function)) == 45
    assert list((tmp_path / "cache").iterdir()) == []


def no_executable_memory(*_):
    raise OSError("no executable memory")


@pytest.mark.parametrize("is_cached", [True, False])
def test_code_that_cannot_be_loaded_runs_in_numba(cached, monkeypatch, is_cached):
    function, path = cached
    if not is_cached:
        path.unlink()
    messages.clear()
    monkeypatch.setattr(compile_module, "load", no_executable_memory)
    kernel = Kernel(function)
    assert [checked_total(kernel), checked_total(kernel)] == [45, 45]
    (remark,) = messages.remarks()
    assert "no executable memory" in remark
    assert "numba" in remark


def test_code_without_its_function_cannot_be_loaded(tmp_path):
    function = function_of(tmp_path)
    code = object_code(function, signature_of((np.arange(10), np.arange(10))))
    _, _, content = code.partition(b"\n")
    with pytest.raises(UnexpectedCodeError, match="no symbol another"):
        load(b"another int64\n" + content, ())


@pytest.mark.parametrize("system", ["arm64-apple-darwin23.6.0", "x86_64-pc-windows-msvc"])
def test_each_system_has_its_own_code(tmp_path, monkeypatch, system):
    """An object of another system would end the process when it is loaded."""
    function, signature = function_of(tmp_path), signature_of((np.arange(3),))
    here = cache_name(function, signature)
    machine_code._target.cache_clear()
    monkeypatch.setattr("llvmlite.binding.get_process_triple", lambda: system)
    elsewhere = cache_name(function, signature)
    machine_code._target.cache_clear()
    assert here != elsewhere


def test_compile_errors_are_raised(tmp_path, monkeypatch):
    monkeypatch.setenv("NUMBA_CACHE_DIR", str(tmp_path / "cache"))
    kernel = Kernel(function_of(tmp_path, "def wrong(values):\n    return values.nonsense\n", "wrong"))
    with pytest.raises(numba.core.errors.TypingError):
        kernel.compiled(np.ones(3))


@pytest.mark.parametrize("home", [None, "", "relative", "~"])
def test_no_cache_is_read_from_the_working_directory(tmp_path, monkeypatch, home):
    monkeypatch.chdir(tmp_path)
    monkeypatch.delenv("XDG_CACHE_HOME", raising=False)
    monkeypatch.delenv("NUMBA_CACHE_DIR", raising=False)
    if home is None:
        monkeypatch.delenv("HOME")
    else:
        monkeypatch.setenv("HOME", home)
    assert cache_directory(Path("/proc/nowhere")) is None
    assert list(tmp_path.iterdir()) == []
    for path in ("cache", "./cache", "~/cache"):
        monkeypatch.setenv("NUMBA_CACHE_DIR", path)
        assert cache_directory(tmp_path) is None


def test_a_cache_that_others_can_write_is_not_used(tmp_path, monkeypatch):
    monkeypatch.delenv("XDG_CACHE_HOME", raising=False)
    monkeypatch.delenv("NUMBA_CACHE_DIR", raising=False)
    monkeypatch.setenv("HOME", str(tmp_path / "home"))
    own = tmp_path / "home" / ".cache" / "uqcli" / "kernels"
    shared_folder = tmp_path / "beside"
    shared_folder.mkdir(mode=0o755)
    assert cache_directory(shared_folder) == shared_folder
    for mode in (0o777, 0o775, 0o757):
        shared_folder.chmod(mode)
        assert cache_directory(shared_folder) == own
        monkeypatch.setenv("NUMBA_CACHE_DIR", str(shared_folder))
        assert cache_directory(shared_folder) is None
        monkeypatch.setenv("NUMBA_CACHE_DIR", str(shared_folder / "within"))
        assert cache_directory(shared_folder) is None
        monkeypatch.delenv("NUMBA_CACHE_DIR")
    shared_folder.chmod(0o1777)
    monkeypatch.setenv("NUMBA_CACHE_DIR", str(shared_folder / "made"))
    assert cache_directory(shared_folder) == shared_folder / "made"
    monkeypatch.setattr("os.geteuid", lambda: 4242)
    assert cache_directory(shared_folder) is None


def test_kernels_run_without_a_cache(tmp_path, monkeypatch):
    monkeypatch.setenv("NUMBA_CACHE_DIR", "relative")
    monkeypatch.chdir(tmp_path)
    assert checked_total(Kernel(function_of(tmp_path))) == 45
    assert not (tmp_path / "relative").exists()


def test_kernels_run_as_python_if_numba_may_not_compile(tmp_path, monkeypatch):
    monkeypatch.setenv("NUMBA_CACHE_DIR", str(tmp_path / "cache"))
    monkeypatch.setattr(numba.config, "DISABLE_JIT", True)
    kernel = Kernel(function_of(tmp_path))
    assert [checked_total(kernel), checked_total(kernel)] == [45, 45]
    values = np.arange(10)
    assert kernel.compiled(values, np.zeros_like(values)) == 45
    assert not list((tmp_path / "cache").glob("*.kernel"))


def kernels_of(tree):
    """Yield the functions of a module that are declared as kernels."""
    for node in ast.walk(tree):
        lines = node.decorator_list if isinstance(node, ast.FunctionDef) else ()
        names = {name.id for line in lines for name in ast.walk(line) if isinstance(name, ast.Name)}
        if names & {"kernel", "kernel_beside"}:
            yield node


def returns_a_literal_only(function):
    """Whether numba types the result as one value, so that its machine code cannot be kept."""
    found = [node.value for node in ast.walk(function) if isinstance(node, ast.Return) and node.value]
    return bool(found) and all(isinstance(value, ast.Constant) for value in found)


def test_no_kernel_is_compiled_again_in_each_run():
    folder = Path(uqcli.__file__).parent
    trees = [ast.parse(path.read_text(encoding="utf-8")) for path in folder.rglob("*.py")]
    kernels = [function for tree in trees for function in kernels_of(tree)]
    assert len(kernels) > 20
    assert not [function.name for function in kernels if returns_a_literal_only(function)]
    text = "@kernel\ndef a(x):\n  return 0\n@kernel_beside(a)\ndef b(x):\n  return x or 0"
    literal, mixed = kernels_of(ast.parse(text))
    assert (returns_a_literal_only(literal), returns_a_literal_only(mixed)) == (True, False)
