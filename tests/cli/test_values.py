"""Tests of the values of options: which words are whole numbers, numbers and flags, and what is refused."""

import math
from types import SimpleNamespace

import pytest

from uqcli.base.errors import UsageError
from uqcli.cli.values import convert
from uqcli.jobs.declared import Parameter


class Declared(Parameter):
    """An option with a range."""

    range = -5, 2000


def parameter(kind):
    """Return a parameter of a type, as typer has them, and the context of its command."""
    declared = Declared(name="it", type=kind, default=None)
    callback = SimpleNamespace(declaration=SimpleNamespace(by_name={"it": declared}))
    context = SimpleNamespace(command=SimpleNamespace(callback=callback), command_path="uqcli x")
    one = SimpleNamespace(name="it", opts=["--it"], required=False, param_type_name="option")
    return one, context


ACCEPTED = {
    int: {"7": 7, " 7 ": 7, "+3": 3, "-3": -3, "1_000": 1000, "007": 7, "1.0": 1, "1.00": 1, 5: 5},
    float: {"1": 1, "1.5": 1.5, " 7 ": 7, "1e3": 1000, "1_0.5": 10.5, ".5": 0.5, "1e400": math.inf, 2: 2},
    bool: {"": False, " on ": True, "T": True, "oFF": False, "0": False, True: True},
    str: {"": "", " a ": " a ", 5: "5"},
}
REFUSED = {
    int: ("", "1.5", "1.", "1e3", "1__0", "_1", "1_", "0x10", "inf", "nan", "\u0663", "-6", "2001", "yes"),
    float: ("", "1,5", "--5", "1__0", "1_", "0x10", "\u0663", "yes", "1_000_"),
    bool: ("7", "1.0", "maybe", 2, -1),
}


@pytest.mark.parametrize("kind", ACCEPTED)
def test_words_are_values_of_the_type(kind):
    one, context = parameter(kind)
    for word, value in ACCEPTED[kind].items():
        converted = convert(one, word, context)
        assert (converted, type(converted)) == (value, kind), word
    assert convert(one, None, context) is None


@pytest.mark.parametrize("kind", REFUSED)
def test_other_words_are_refused_with_what_is_expected(kind):
    one, context = parameter(kind)
    for word in REFUSED[kind]:
        with pytest.raises(UsageError) as refusal:
            convert(one, word, context)
        assert refusal.value.found == f"--it is '{word}'"
        assert (bool(refusal.value.expected), refusal.value.remedy) == (True, "see uqcli x --help")
