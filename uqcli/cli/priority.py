"""Priority of option values from flags, environment and files, and of options that exclude each other.

For each option, flags override the environment, and the environment overrides files. If a higher layer sets
one of several options that exclude each other, lower layers cannot set the others. A command refuses only
typed options that it cannot use: a configured option must not break other runs.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from contextvars import ContextVar
from typing import Any, Final

import typer
from typer.core import TyperCommand

from uqcli.cli.config import Settings, layers_of, truth
from uqcli.cli.failing import ask
from uqcli.cli.groups import plainly_shown, set_closely
from uqcli.cli.line import remember
from uqcli.cli.values import converting_plainly
from uqcli.errors import UsageError

_CONSTRAINTS: Final = (
    ("precision",),
    ("recall",),
    ("max_selected",),
    ("max_fpr",),
    ("gain", "cost"),
)
_TREES: Final = ("features", "partitioner", "max_depth", "split", "tree_data")

EXCLUDING: Final[Mapping[str, Sequence[Sequence[Sequence[str]]]]] = {
    "*": ((("weight",), ("no_weight",)), (("proba", "classes"), ("positive",))),
    "bin": ((("edges",), ("merge",), ("binning", "uncertainty_bins", "score_bins", "n_min", "n_max")),),
    "boundary": (_CONSTRAINTS, (("grid",), ("inputs", "binning", "uncertainty_bins", "score_bins"))),
    "calibrate": ((_TREES, ("partition",)),),
    "conformal": ((("shift",), ("target",)),),
    "uncertainty": ((("alpha1", "alpha0"), ("members",)),),
}
"""By command, or ``*`` for all: groups of alternatives; a run can use one alternative of each group."""

_typed: ContextVar[frozenset[str]] = ContextVar("typed", default=frozenset())
_debug: ContextVar[bool] = ContextVar("debug", default=False)


class Command(TyperCommand):
    """A command whose options may come from files and the environment."""

    def get_params(self, ctx: Any) -> list[Any]:
        """Return all parameters, including --help."""
        parameters = plainly_shown(converting_plainly(super().get_params(ctx)))
        parameters[-1].rich_help_panel = "Run"  # --help, otherwise in its own panel
        return parameters

    def format_help(self, ctx: Any, formatter: Any) -> None:
        """Write the help with little padding."""
        set_closely()
        super().format_help(ctx, formatter)

    def parse_args(self, ctx: Any, args: list[str]) -> list[str]:
        """Parse the command line, with configured values as defaults."""
        given, _, _ = self.make_parser(ctx).parse_args(args=list(args))
        there = {name: value for name, value in given.items() if value not in (None, [], ())}
        _typed.set(frozenset(there))
        _debug.set(bool(there.get("debug")))
        if not ctx.resilient_parsing and "help" not in there:
            ctx.default_map = configured(ctx, there)
            remember(str(ctx.info_name), self.params, there, ctx.default_map)
            ask(str(ctx.info_name), there, ctx.default_map)
        return super().parse_args(ctx, args)


def configured(context: typer.Context, there: Mapping[str, Any]) -> Settings:
    """Return the configured values of options that were not typed, each from its highest layer.

    Parameters
    ----------
    there
        Typed values by name.

    Raises
    ------
    UsageError, DataError
        See ``layers_of``.
    """
    layers = layers_of(context, there)
    for layer in layers:
        if "debug" in layer:
            _debug.set(_debug.get() or truth("debug", layer["debug"]))
            break
    result: Settings = {}
    asked = set(there)
    for layer in layers:
        lost = _excluded(context.info_name or "", asked)
        kept = {name: value for name, value in layer.items() if name not in asked | lost}
        result |= {name: value for name, value in kept.items() if name not in result}
        asked |= set(kept)
    return result


def _excluded(command: str, asked: set[str]) -> set[str]:
    """Return the options that the set options exclude."""
    lost: set[str] = set()
    for sides in (*EXCLUDING["*"], *EXCLUDING.get(command, ())):
        taken = [side for side in sides if asked & set(side)]
        if taken:
            lost |= {name for side in sides if side not in taken for name in side}
    return lost


def is_typed(name: str) -> bool:
    """Whether an option or argument was typed in this run; the name may have dashes."""
    return name.removeprefix("--").replace("-", "_") in _typed.get()


def typed() -> frozenset[str]:
    """Return the names of all typed options and arguments of this run."""
    return _typed.get()


def wants_debug() -> bool:
    """Whether ``debug`` is set, on the command line or in a configuration."""
    return _debug.get()


def forget() -> None:
    """Clear the typed options for a new run."""
    _typed.set(frozenset())
    _debug.set(False)


def refuse_typed(names: Sequence[str], where: str, expected: str) -> None:
    """Refuse typed options that a run cannot use.

    Raises
    ------
    UsageError
        Names the first.
    """
    for name in names:
        if is_typed(name):
            raise UsageError(f"--{name.replace('_', '-')} {where}", expected=expected)
