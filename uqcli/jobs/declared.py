"""What a command declares: its arguments, and the options of the groups that its function takes.

An option group is a frozen data class whose options (see ``uqcli.base.options``) become those of the command.
A group's ``panel`` is the heading of its options in the help, or names the headings by the first option of
each. A group whose options exclude each other has ``alternatives``, of which a run can use one.
"""

from __future__ import annotations

import inspect
import math
from collections.abc import Callable, Mapping
from dataclasses import MISSING, Field, fields, is_dataclass
from functools import cache, cached_property
from importlib import import_module
from types import UnionType
from typing import Any, Final, get_args, get_origin, get_type_hints

from uqcli.base.options import Argument
from uqcli.base.records import dataclass
from uqcli.jobs.shell import flag_of

COMMANDS: Final = (
    *("overview", "boundary", "bin", "tce", "calibrate", "conformal", "shift", "apply", "evaluate"),
    *("backtest", "sample", "watch", "show", "export", "uncertainty"),
)
"""Names of all commands."""

REQUIRED: Final[Any] = inspect.Parameter.empty
"""Default of what must be given."""


@dataclass(frozen=True, kw_only=True)
class Parameter:
    """An argument of a command, or an option of one of its groups.

    Attributes
    ----------
    name
        Name of the field or the parameter.
    type
        Type on the command line, with None if it may be left out.
    default
        Default on the command line; ``REQUIRED`` for none.
    """

    name: str
    type: Any
    default: Any

    @cached_property
    def kind(self) -> type:
        """Type of one value."""
        return self._kind[0]

    @cached_property
    def takes_several(self) -> bool:
        """Whether it may have several values."""
        return self._kind[1]

    @property
    def range(self) -> tuple[float, float]:
        """Least and most value of a whole number."""
        return -math.inf, math.inf

    @cached_property
    def _kind(self) -> tuple[type, bool]:
        kind = get_args(self.type)[0] if isinstance(self.type, UnionType) else self.type
        return (get_args(kind)[0], True) if get_origin(kind) is list else (kind, False)


@dataclass(frozen=True, kw_only=True)
class Positional(Parameter):
    """An argument, which has no name on the command line."""

    declared: Argument


@dataclass(frozen=True, kw_only=True)
class Option(Parameter):
    """An option; ``group`` is the function's parameter whose field it is."""

    field: Field[Any]
    group: str
    command: str
    panel: str

    @property
    def help(self) -> str:
        """Help text, which may depend on the command."""
        text = self.field.metadata["help"]
        return text if isinstance(text, str) else str(text[self.command])

    @property
    def is_common(self) -> bool:
        """Whether the short help of the command has it."""
        common = self.field.metadata["common"]
        return bool(common) and (common is True or self.command in common)

    @property
    def range(self) -> tuple[float, float]:
        """Least and most value of a whole number."""
        least, most = (self.field.metadata.get(name) for name in ("min", "max"))
        return -math.inf if least is None else least, math.inf if most is None else most

    def parsed(self, value: Any) -> Any:
        """Return the value of the field from that on the command line or in a configuration."""
        parse = self.field.metadata["parse"]
        if value is None or (parse and value == []):
            return self.field.default
        return value if parse is None else parse(flag_of(self.name), value)


@dataclass(frozen=True, kw_only=True)
class Declaration:
    """A command: its function, and what it declares, in the order of the help."""

    name: str
    function: Callable[..., None]
    parameters: tuple[Parameter, ...]
    groups: Mapping[str, Any]

    @cached_property
    def arguments(self) -> tuple[Positional, ...]:
        """What has no name on the command line."""
        return tuple(each for each in self.parameters if isinstance(each, Positional))

    @cached_property
    def by_name(self) -> dict[str, Parameter]:
        """Arguments and options by name."""
        return {each.name: each for each in self.parameters}

    @cached_property
    def options(self) -> dict[str, Option]:
        """Options by name."""
        return {each.name: each for each in self.parameters if isinstance(each, Option)}

    def run(self, values: Mapping[str, Any]) -> None:
        """Call the function with the groups of the values by name."""
        groups = {
            name: group(**{each.name: each.parsed(values[each.name]) for each in self._options_of(name)})
            for name, group in self.groups.items()
        }
        self.function(**groups, **{each.name: values[each.name] for each in self.arguments})

    def _options_of(self, group: str) -> list[Option]:
        return [option for option in self.options.values() if option.group == group]


def function_of(command: str) -> Callable[..., None]:
    """Load the function of a command."""
    module = import_module(f"uqcli.jobs.{command}")
    function: Callable[..., None] = getattr(module, command, None) or getattr(module, f"{command}_")
    return function  # bin_ hides no builtin


@cache
def declaration_of(command: str) -> Declaration:
    """Load what a command declares, once."""
    return declared(function_of(command))


def declared(function: Callable[..., None]) -> Declaration:
    """Read what the function of a command declares."""
    hints = get_type_hints(function, include_extras=True)
    command = function.__name__.rstrip("_")
    groups = {name: hint for name, hint in hints.items() if is_dataclass(hint)}
    parameters: list[Parameter] = []
    for name, parameter in inspect.signature(function).parameters.items():
        if name in groups:
            parameters += _options(groups[name], name, command)
        else:
            kind, argument = get_args(hints[name])
            parameters.append(Positional(name=name, type=kind, default=parameter.default, declared=argument))
    return Declaration(name=command, function=function, parameters=tuple(parameters), groups=groups)


def _options(group: Any, name: str, command: str) -> list[Option]:
    """Return the options of a group; other fields are filled by the command."""
    declared_fields = [field for field in fields(group) if field.metadata]
    hints = _hints(group, declared_fields)
    panels = group.panel if isinstance(group.panel, Mapping) else {declared_fields[0].name: group.panel}
    panel, options = "", []
    for field in declared_fields:
        panel = panels.get(field.name, panel)
        options.append(
            Option(
                name=field.name,
                type=hints[field.name],
                default=_default(field),
                field=field,
                group=name,
                command=command,
                panel=field.metadata["panel"] or panel,
            )
        )
    return options


def _hints(group: Any, options: list[Field[Any]]) -> dict[str, Any]:
    """Return the types of the options on the command line; other fields may name types not yet imported."""
    metadata = {option.name: option.metadata for option in options}
    hints: dict[str, Any] = {}
    for owner in reversed(group.__mro__):
        own = {
            name: metadata[name]["typed"] or (str | None if metadata[name]["parse"] else hint)
            for name, hint in vars(owner).get("__annotations__", {}).items()
            if name in metadata
        }
        stand_in = type(owner.__name__, (), {"__annotations__": own, "__module__": owner.__module__})
        hints |= get_type_hints(stand_in, include_extras=True)
    return hints


def _default(field: Field[Any]) -> Any:
    """Return the default on the command line: none if its help text states it, a text if it is parsed."""
    default = field.default
    if default is MISSING:
        return REQUIRED
    if field.metadata["stated"]:
        return None
    if field.metadata["parse"]:
        return str(default) if isinstance(default, int) else None
    return default
