"""Tests of what a command saves at its start: the same data classes and functions, with less work."""

import dataclasses
import subprocess
import sys
from dataclasses import FrozenInstanceError, asdict, dataclass, fields, replace

import pytest

from uqcli.cli.process import imports


def classes():
    """Define data classes of all kinds that the program has."""

    @dataclass(frozen=True, kw_only=True)
    class Point:
        x: int
        y: float = dataclasses.field(default=2.0, repr=True)

    @dataclass(frozen=True, kw_only=True)
    class Named(Point):
        name: str = "a"

        def __post_init__(self):
            object.__setattr__(self, "length", len(self.name))

    @dataclass
    class Counter:
        count: int = 0
        seen: list = dataclasses.field(default_factory=list, compare=False)

    @dataclass(order=True, frozen=True)
    class Ranked:
        rank: int

    @dataclass(frozen=True)
    class Empty:
        pass

    return Point, Named, Counter, Ranked, Empty


@pytest.fixture(params=["usual", "less"])
def kinds(request, monkeypatch):
    """Return the classes, made by Python and made by the program."""
    if request.param == "less":
        for name in ("_repr_fn", "_frozen_get_del_attr", "_cmp_fn", "_hash_fn"):
            monkeypatch.setattr(dataclasses, name, getattr(dataclasses, name))  # restored afterwards
        imports.compile_less()
    return classes()


def test_data_classes_work_as_usual(kinds):
    point, named, counter, ranked, empty = kinds
    first = point(x=1)
    assert (first, first == point(x=1), first == point(x=2)) == (point(x=1), True, False)
    assert first != named(x=1)
    assert first.__eq__(3) is NotImplemented
    assert hash(first) == hash(point(x=1)) == hash((1, 2.0))
    assert repr(first).endswith("Point(x=1, y=2.0)")
    assert repr(named(x=1, name="b")).endswith("Named(x=1, y=2.0, name='b')")
    assert named(x=1, name="bcd").length == 3
    assert replace(named(x=1), x=3) == named(x=3)
    assert asdict(first) == {"x": 1, "y": 2.0}
    assert [field.name for field in fields(named)] == ["x", "y", "name"]
    assert repr(empty()).endswith("Empty()")
    assert empty() == empty()
    assert (hash(empty()), ranked(1) < ranked(2), ranked(2) <= ranked(1)) == (hash(()), True, False)
    assert counter(1, [1]) == counter(1, [2])
    with pytest.raises(TypeError, match="unhashable"):
        hash(counter())
    with pytest.raises(TypeError, match="not supported"):
        assert ranked(1) < 2


def test_frozen_data_classes_refuse_changes(kinds):
    point, named, counter, *_ = kinds
    for instance in (point(x=1), named(x=1)):
        with pytest.raises(FrozenInstanceError, match="cannot assign to field 'x'"):
            instance.x = 2
        with pytest.raises(FrozenInstanceError, match="cannot delete field 'x'"):
            del instance.x
        with pytest.raises(FrozenInstanceError, match="cannot assign to field 'z'"):
            instance.z = 2
    changed = counter()
    changed.count = 2
    assert changed == counter(2)


SCRIPT = """
import sys
from uqcli.cli.process.imports import import_less
import_less()
from scipy.special import betaincinv
assert "scipy.linalg" not in sys.modules
import scipy.special
from scipy import stats
assert scipy.special.betaincinv is betaincinv
assert "scipy.special" in sys.modules and not hasattr(scipy.special, "no_such_function")
assert "betaincinv" in scipy.special.__all__
nodes, weights = scipy.special.roots_legendre(2)
print(round(betaincinv(2, 3, 0.5), 6), weights.tolist(), round(stats.binom.cdf(1, 2, 0.5), 6))
"""


def test_special_functions_are_whole_when_more_is_used():
    process = subprocess.run([sys.executable, "-c", SCRIPT], capture_output=True, text=True, check=True)
    assert process.stdout == "0.385728 [1.0, 1.0] 0.75\n"
