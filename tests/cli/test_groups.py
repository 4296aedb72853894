"""Tests of requests whose declared options become those of a command."""

import inspect
from types import MappingProxyType
from typing import ClassVar

import pytest

from uqcli.base.errors import UsageError
from uqcli.base.exact_numbers import size
from uqcli.base.options import REQUIRED, filled, flag, names, option
from uqcli.base.records import dataclass
from uqcli.cli.option_groups import with_groups


@dataclass(frozen=True, kw_only=True)
class Request:
    """Options of each kind, and what the command fills."""

    panel: ClassVar = MappingProxyType({"for_": "First", "bins": "Second"})

    for_: str = option("GOAL", "What for.", REQUIRED)
    by: tuple[str, ...] = option("COL,...", "Columns.", (), parse=names)
    bins: int = option("B", "Bins.", 10, parse=size)
    split: int = option("S", "Split. (default: 2)", 2, parse=size, stated=True)
    merge: bool = flag("Merge.")
    rows: "NotImported" = filled()  # noqa: F821 - the help does not need it


def command(*, request: Request) -> None:
    """Collect the requests."""
    RECEIVED.append(request)


RECEIVED = []
GIVEN = {"for_": "x", "by": None, "bins": "10", "split": None, "merge": False}


def test_options_are_parameters_with_their_names_panels_and_defaults():
    parameters = inspect.signature(with_groups(command)).parameters.values()
    infos = [parameter.annotation.__metadata__[0] for parameter in parameters]
    assert [info.default for info in infos] == ["--for", "--by", "--bins", "--split", "--merge"]
    assert [info.rich_help_panel for info in infos] == ["First"] * 2 + ["Second"] * 3
    empty = inspect.Parameter.empty
    assert [parameter.default for parameter in parameters] == [empty, None, "10", None, False]
    types = [parameter.annotation.__origin__ for parameter in parameters]
    assert types == [str, str | None, str | None, str | None, bool]


def test_values_are_parsed_and_others_have_the_declared_default():
    with_groups(command)(**GIVEN)
    with_groups(command)(**{**GIVEN, "by": "a, b", "bins": "3", "split": "4"})
    assert [Request(for_="x"), Request(for_="x", by=("a", "b"), bins=3, split=4)] == RECEIVED


def test_an_error_names_the_option():
    with pytest.raises(UsageError, match="bins is 'three'"):
        with_groups(command)(**{**GIVEN, "bins": "three"})
