"""Tests of compiled kernels: they work without a usable cache, and report every other error."""

import importlib.util
import pickle
import resource
from pathlib import Path

import numba
import numpy as np
import pytest

from uqcli.defaults import SMALL_WORK
from uqcli.kernels.compile import CACHE_ERRORS, Kernel, cache_directory

SOURCE = """
def sums(values, running):
    total = 0
    for i in range(len(values)):
        total += values[i]
        running[i] = total
    return total
"""


class CallOnUnpickling:
    """An object whose unpickling calls a function."""

    def __init__(self, *call):
        self.call = call

    def __reduce__(self):
        return self.call[0], self.call[1:]


def function_of(folder, source=SOURCE, name="sums"):
    path = folder / "summing.py"
    path.write_text(source)
    spec = importlib.util.spec_from_file_location("summing", path)
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return getattr(module, name)


def use_cache(monkeypatch, folder):
    """Let the compiler use another cache, also when it reads its environment anew."""
    monkeypatch.setenv("NUMBA_CACHE_DIR", folder)
    monkeypatch.setattr(numba.core.config, "CACHE_DIR", folder)


@pytest.fixture
def cached(tmp_path, monkeypatch):
    """Return a function whose compiled form is in a cache, and the files of the cache."""
    use_cache(monkeypatch, str(tmp_path / "cache"))
    function = function_of(tmp_path)
    assert checked_total(Kernel(function)) == 45
    files = {path.suffix: path for path in (tmp_path / "cache").rglob("*") if path.is_file()}
    assert set(files) == {".nbi", ".nbc"}
    return function, files


def checked_total(kernel):
    values = np.arange(10)
    running = np.zeros_like(values)
    total = kernel.run(SMALL_WORK + 1, values, running)
    assert running.tolist() == np.cumsum(values).tolist()
    return total


def load(kernel):
    kernel.cached.compile((numba.typeof(np.arange(10)),) * 2)


def write(content):
    return lambda path: path.write_bytes(content)


def make_folder(path):
    path.unlink()
    path.mkdir()


def break_code(path):
    """Replace the compiled code, and nothing else, by bytes that are no code."""
    content = list(pickle.loads(path.read_bytes()))
    name, kind, _ = content[0]
    assert kind == "object"
    content[0] = (name, "bitcode", b"no code")
    path.write_bytes(pickle.dumps(tuple(content)))


TROUBLES = {
    "an empty index": (".nbi", write(b""), EOFError),
    "an index of noise": (".nbi", write(b"\xff" * 64), pickle.UnpicklingError),
    "an index of text that is none": (".nbi", write(b"X\x02\x00\x00\x00\xff\xff."), UnicodeDecodeError),
    "an index of something else": (".nbi", write(pickle.dumps(7) + pickle.dumps(7)), None),
    "an index of a module that is gone": (".nbi", write(b"cnowhere\nthing\n."), ImportError),
    "an index of a name that is gone": (".nbi", write(b"cos\nno_such_thing\n."), AttributeError),
    "an index that calls wrongly": (".nbi", write(pickle.dumps(CallOnUnpickling(len, 1, 2))), TypeError),
    "a folder for an index": (".nbi", make_folder, IsADirectoryError),
    "empty code": (".nbc", write(b""), EOFError),
    "code of noise": (".nbc", write(b"\xff" * 64), pickle.UnpicklingError),
    "code that is none": (".nbc", break_code, RuntimeError),
}


@pytest.mark.parametrize("trouble", TROUBLES)
def test_a_damaged_cache_is_ignored(cached, trouble):
    function, files = cached
    suffix, damage, expected = TROUBLES[trouble]
    damage(files[suffix])
    if expected is not None:
        assert issubclass(expected, CACHE_ERRORS)
        with pytest.raises(expected):
            load(Kernel(function))
    kernel = Kernel(function)
    assert [checked_total(kernel), checked_total(kernel)] == [45, 45]


def test_a_truncated_cache_is_ignored(cached):
    function, files = cached
    content = files[".nbi"].read_bytes()
    for length in (*range(0, len(content), 61), len(content) - 1):
        files[".nbi"].write_bytes(content[:length])
        assert checked_total(Kernel(function)) == 45


def test_kernels_run_on_a_full_disk(tmp_path, monkeypatch):
    use_cache(monkeypatch, str(tmp_path / "cache"))
    function = function_of(tmp_path)
    limits = resource.getrlimit(resource.RLIMIT_FSIZE)
    resource.setrlimit(resource.RLIMIT_FSIZE, (512, limits[1]))
    try:
        with pytest.raises(OSError, match="too large"):
            load(Kernel(function))
        assert checked_total(Kernel(function)) == 45
    finally:
        resource.setrlimit(resource.RLIMIT_FSIZE, limits)


def test_kernels_run_where_no_cache_can_be():
    names = {}
    exec(compile(SOURCE, "<nowhere>", "exec"), names)
    with pytest.raises(RuntimeError, match="no locator"):
        load(Kernel(names["sums"]))
    assert checked_total(Kernel(names["sums"])) == 45


RAISING = """
def raising(values):
    if values[0] > 0:
        raise {error}("from the kernel")
    return 0
"""


@pytest.mark.parametrize("error", ["ValueError", "RuntimeError", "ZeroDivisionError"])
def test_errors_of_a_kernel_are_raised_once(tmp_path, monkeypatch, error):
    use_cache(monkeypatch, str(tmp_path / "cache"))
    kernel = Kernel(function_of(tmp_path, RAISING.format(error=error), "raising"))
    with pytest.raises(Exception, match="from the kernel") as raised:
        kernel.run(SMALL_WORK + 1, np.ones(3))
    assert type(raised.value).__name__ == error
    assert "compiled" not in kernel.__dict__  # the cache was not taken for the cause


def test_compile_errors_are_raised(tmp_path, monkeypatch):
    use_cache(monkeypatch, str(tmp_path / "cache"))
    kernel = Kernel(function_of(tmp_path, "def wrong(values):\n    return values.nonsense\n", "wrong"))
    with pytest.raises(numba.core.errors.TypingError):
        kernel.run(SMALL_WORK + 1, np.ones(3))


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
    own = str(tmp_path / "home" / ".cache" / "uqcli" / "kernels")
    shared_folder = tmp_path / "beside"
    shared_folder.mkdir(mode=0o755)
    assert cache_directory(shared_folder) == ""
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
    assert cache_directory(shared_folder) == str(shared_folder / "made")
    monkeypatch.setattr("os.geteuid", lambda: 4242)
    assert cache_directory(shared_folder) is None


def test_kernels_run_without_a_cache(tmp_path, monkeypatch):
    use_cache(monkeypatch, "relative")
    monkeypatch.chdir(tmp_path)
    assert checked_total(Kernel(function_of(tmp_path))) == 45
    assert not (tmp_path / "relative").exists()
