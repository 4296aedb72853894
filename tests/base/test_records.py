"""Tests that data classes of the project behave as those of the standard library."""

import copy
import dataclasses
import inspect
import pickle
import re
from functools import cached_property
from pathlib import Path

import pytest

from uqcli.base import records


def make(decorator):
    @decorator(frozen=True, kw_only=True)
    class Base:
        first: int
        second: str = "b"
        third: list = dataclasses.field(default_factory=list, compare=False, repr=False)
        later: int = dataclasses.field(init=False, compare=False, repr=False)
        known: int = dataclasses.field(init=False, compare=False, repr=False, default=3)

        @cached_property
        def doubled(self):
            return 2 * self.first

    @decorator(frozen=True, kw_only=True)
    class Derived(Base):
        fourth: float = 0.5

        def __post_init__(self):
            if self.fourth < 0:
                raise ValueError("negative")

    @decorator
    class Changing:
        number: int = 1
        other: int = 2

    @decorator(frozen=True, kw_only=True, eq=False)
    class Own:
        number: int = 1

        def __eq__(self, other):
            return True

        def __hash__(self):
            return 7

    return Base, Derived, Changing, Own


@pytest.fixture(params=[dataclasses.dataclass, records.dataclass], ids=["standard", "ours"])
def classes(request):
    return make(request.param)


def test_instances_compare_hash_and_print(classes):
    base, derived, changing, own = classes
    one, same = base(first=1, third=[1]), base(first=1, third=[2])
    assert (one == same, hash(one) == hash(same), one != base(first=2)) == (True, True, True)
    assert one != derived(first=1)
    assert one.__eq__(1) is NotImplemented
    assert repr(one).endswith("Base(first=1, second='b')")
    assert repr(derived(first=1)).endswith("Derived(first=1, second='b', fourth=0.5)")
    assert (changing() == changing(), own() == 3, hash(own())) == (True, True, 7)
    with pytest.raises(TypeError, match="unhashable"):
        hash(changing())


def test_frozen_instances_do_not_change(classes):
    base, derived, changing, _ = classes
    for instance in (base(first=1), derived(first=1)):
        for name in ("first", "second", "new"):
            with pytest.raises(dataclasses.FrozenInstanceError, match=f"cannot assign to field '{name}'"):
                setattr(instance, name, 3)
        with pytest.raises(dataclasses.FrozenInstanceError, match="cannot delete field 'first'"):
            del instance.first
        assert (instance.doubled, instance.doubled) == (2, 2)
    one = changing()
    one.number = 5
    assert one == changing(5)


def test_they_are_replaced_copied_and_checked(classes):
    base, derived, _, _ = classes
    one = base(first=1)
    assert dataclasses.replace(one, first=3) == base(first=3)
    assert copy.deepcopy(one) == copy.copy(one) == one
    assert [field.name for field in dataclasses.fields(derived)] == [
        *("first", "second", "third", "later", "known"),
        "fourth",
    ]
    assert (list(vars(one))[:3], one.known) == (["first", "second", "third"], 3)
    with pytest.raises(ValueError, match="negative"):
        derived(first=1, fourth=-1)
    with pytest.raises(TypeError, match="positional"):
        base(1)
    with pytest.raises(TypeError, match="first"):
        base()
    for named in ({"new": 1}, {"later": 1}, {"known": 1}):
        with pytest.raises(TypeError, match=next(iter(named))):
            base(first=1, **named)


def test_they_take_positional_values(classes):
    changing = classes[2]
    assert (changing(5), changing(5, other=3), changing(5, 3)) == (
        *(changing(number=5), changing(number=5, other=3)),
        changing(number=5, other=3),
    )
    with pytest.raises(TypeError, match="positional"):
        changing(1, 2, 3)
    with pytest.raises(TypeError, match="number"):
        changing(1, number=2)


def test_they_show_their_signature(classes):
    base, _, changing, _ = classes
    assert str(inspect.signature(changing)).removesuffix(" -> None") == "(number: int = 1, other: int = 2)"
    parameters = inspect.signature(base).parameters
    assert list(parameters) == ["first", "second", "third"]
    assert {parameter.kind for parameter in parameters.values()} == {inspect.Parameter.KEYWORD_ONLY}
    assert (parameters["first"].default, parameters["second"].default) == (inspect.Parameter.empty, "b")


def test_they_travel_to_other_processes():
    from uqcli.base.counts import Feature
    from uqcli.estimates.estimate import Estimate

    estimate = Estimate(value=0.5, low=0.25, high=None)
    assert pickle.loads(pickle.dumps(estimate)) == estimate
    assert Feature.__hash__ is not None


def test_no_module_takes_the_slower_decorator():
    package = Path(records.__file__).parents[1]
    modules = [path for path in package.rglob("*.py") if path.name != "records.py"]
    slower = re.compile(r"^from dataclasses import .*\bdataclass\b|dataclasses\.dataclass\(", re.MULTILINE)
    assert [path.name for path in modules if slower.search(path.read_text())] == []
