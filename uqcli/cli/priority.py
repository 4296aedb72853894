"""Which of several values of an option counts, and which of several options that exclude each other.

Flags win over the environment and the environment over files, option by option. Options that exclude each
other are declared once, below: where a stronger layer asks for one side, weaker layers lose the others.
Only a typed option can be refused as out of place. A configured value must not
break a run that has no use for it.
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
"""By command, or ``*`` for all: sets of sides, of which one can be asked for."""

_typed: ContextVar[frozenset[str]] = ContextVar("typed", default=frozenset())
_debug: ContextVar[bool] = ContextVar("debug", default=False)


class Command(TyperCommand):
    """A command whose options may come from files and the environment."""

    def get_params(self, ctx: Any) -> list[Any]:
        """All parameters, with the option that asks for help."""
        parameters = plainly_shown(converting_plainly(super().get_params(ctx)))
        parameters[-1].rich_help_panel = "Run"  # --help, which would have a panel of its own
        return parameters

    def format_help(self, ctx: Any, formatter: Any) -> None:
        """Write the help, closely set."""
        set_closely()
        super().format_help(ctx, formatter)

    def parse_args(self, ctx: Any, args: list[str]) -> list[str]:
        """Parse the command line, with what is configured as defaults."""
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
    """Values of options that were not typed, of the strongest layer that has each.

    Parameters
    ----------
    there
        What was typed, by name.

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
    """Options that those asked for exclude."""
    lost: set[str] = set()
    for sides in (*EXCLUDING["*"], *EXCLUDING.get(command, ())):
        taken = [side for side in sides if asked & set(side)]
        if taken:
            lost |= {name for side in sides if side not in taken for name in side}
    return lost


def is_typed(name: str) -> bool:
    """Whether an option or argument stands on the command line of this run; with or without dashes."""
    return name.removeprefix("--").replace("-", "_") in _typed.get()


def typed() -> frozenset[str]:
    """Names of all options and arguments on the command line of this run."""
    return _typed.get()


def wants_debug() -> bool:
    """Whether tracebacks are asked for, in whatever way."""
    return _debug.get()


def forget() -> None:
    """Begin a run of its own."""
    _typed.set(frozenset())
    _debug.set(False)


def refuse_typed(names: Sequence[str], where: str, expected: str) -> None:
    """Refuse options that a run cannot use, if they were typed.

    Raises
    ------
    UsageError
        It names the first.
    """
    for name in names:
        if is_typed(name):
            raise UsageError(f"--{name.replace('_', '-')} {where}", expected=expected)
