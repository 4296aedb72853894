"""Option groups: frozen dataclasses whose options (see ``uqcli.base.options``) become options of a command.

typer reads a function's signature. ``with_groups`` replaces each parameter that is an option group by the
options of the group. It calls the function with the groups of the values given. A group's ``panel`` is the
heading of its options in the help, or names the headings by the first option of each. A group whose options
exclude each other has ``alternatives``, of which a run can use one.
"""

from __future__ import annotations

import inspect
import math
import sys
from collections.abc import Callable, Mapping, Sequence
from dataclasses import MISSING, Field, fields, is_dataclass
from types import UnionType
from typing import Annotated, Any, Final, get_args, get_origin, get_type_hints

import typer

from uqcli.base.choices import ArtifactKind
from uqcli.base.files import STDIO, check_results_stream
from uqcli.cli.process import limit_memory, limit_threads
from uqcli.jobs.shell import flag_of


def _print_schema(kind: ArtifactKind | None) -> None:
    """Print a schema and end, before a rule file is missed."""
    if kind is None:
        return
    from uqcli.rules.schemas import schema_text

    check_results_stream(STDIO, "redirect it to a file")
    sys.stdout.write(schema_text(kind))
    raise typer.Exit


_OF_PROCESS: Final = {"threads": limit_threads, "memory": limit_memory, "schema": _print_schema}
"""What options do that are about the process or end it, by name."""


def with_groups(command: Callable[..., None]) -> Callable[..., None]:
    """Convert a function whose parameters may be option groups to a typer command."""
    hints = get_type_hints(command, include_extras=True)
    groups: dict[str, Any] = {name: hint for name, hint in hints.items() if is_dataclass(hint)}
    options_of = {
        name: [field for field in fields(group) if field.metadata] for name, group in groups.items()
    }
    parameters = []
    for name, parameter in inspect.signature(command).parameters.items():
        if name in groups:
            parameters += _parameters_of(groups[name], options_of[name], command.__name__)
        else:
            kind, declared = get_args(hints[name])
            given = typer.Argument(
                metavar=declared.metavar, help=declared.help, show_default=declared.show_default
            )
            parameters.append(
                parameter.replace(annotation=Annotated[kind, given], kind=inspect.Parameter.KEYWORD_ONLY)
            )

    def wrapper(**values: Any) -> None:
        arguments = {
            name: group(
                **{option.name: _parsed(option, values.pop(option.name)) for option in options_of[name]}
            )
            for name, group in groups.items()
        }
        command(**arguments, **values)

    wrapper.__name__ = command.__name__
    wrapper.__doc__ = command.__doc__
    wrapper.__annotations__ = {parameter.name: parameter.annotation for parameter in parameters}
    wrapper.exclusions = tuple(  # type: ignore[attr-defined]  # as priority reads it
        group.alternatives() for group in groups.values() if hasattr(group, "alternatives")
    )
    _describe(wrapper, [declared for options in options_of.values() for declared in options], command)
    wrapper.kinds = {  # type: ignore[attr-defined]  # as the conversion of values reads it
        parameter.name: _kind(parameter.annotation) for parameter in parameters
    }
    wrapper.__signature__ = inspect.Signature(parameters)  # type: ignore[attr-defined]
    return wrapper


def _describe(wrapper: Any, options: Sequence[Field[Any]], command: Callable[..., None]) -> None:
    """Say on the function of a command what others read of its options, beside what typer knows."""
    wrapper.of_papers = {
        option.name: option.metadata["papers"] for option in options if option.metadata["papers"]
    }
    # what no group declares is a file's name
    wrapper.unguarded = frozenset(option.name for option in options if not option.metadata["guarded"])
    wrapper.ranges = {option.name: _range(option) for option in options if "min" in option.metadata}
    wrapper.common = frozenset(option.name for option in options if _is_common(option, command))


def _range(declared: Field[Any]) -> tuple[int, float]:
    most = declared.metadata["max"]
    return declared.metadata["min"], math.inf if most is None else most


def _parameters_of(group: Any, options: list[Field[Any]], command: str) -> list[inspect.Parameter]:
    """Build the parameters of a group; a help text may depend on the command."""
    hints = _hints(group, options)
    panels = group.panel if isinstance(group.panel, Mapping) else {options[0].name: group.panel}
    panel, parameters = None, []
    for declared in options:
        panel = panels.get(declared.name, panel)
        given = _typer_option(declared, panel, command)
        parameters.append(
            inspect.Parameter(
                declared.name,
                inspect.Parameter.KEYWORD_ONLY,
                default=_default(declared),
                annotation=Annotated[hints[declared.name], given],
            )
        )
    return parameters


def _kind(annotation: Any) -> tuple[type, bool]:
    """Return the type of one value of an option, and whether it takes several.

    >>> _kind(Annotated[list[str] | None, "an option"])
    (<class 'str'>, True)
    """
    if get_origin(annotation) is Annotated:
        annotation = get_args(annotation)[0]
    if isinstance(annotation, UnionType):  # with None, which is no value
        annotation = get_args(annotation)[0]
    return (get_args(annotation)[0], True) if get_origin(annotation) is list else (annotation, False)


def _hints(group: Any, options: list[Field[Any]]) -> dict[str, Any]:
    """Return the types of the options on the command line; other fields may name types not yet imported."""
    declared = {option.name: option.metadata for option in options}
    hints: dict[str, Any] = {}
    for owner in reversed(group.__mro__):
        own = {
            name: declared[name]["typed"] or (str | None if declared[name]["parse"] else hint)
            for name, hint in vars(owner).get("__annotations__", {}).items()
            if name in declared
        }
        stand_in = type(owner.__name__, (), {"__annotations__": own, "__module__": owner.__module__})
        hints |= get_type_hints(stand_in, include_extras=True)
    return hints


def _default(declared: Field[Any]) -> Any:
    """Return the default on the command line: none if its help text states it, a text if it is parsed."""
    default = declared.default
    if default is MISSING:
        return inspect.Parameter.empty
    if declared.metadata["stated"]:
        return None
    if declared.metadata["parse"]:
        return str(default) if isinstance(default, int) else None
    return default


def _parsed(declared: Field[Any], value: Any) -> Any:
    """Return the value of the field from that on the command line or in a configuration."""
    parse = declared.metadata["parse"]
    if value is None or (parse and value == []):
        return declared.default
    return value if parse is None else parse(flag_of(declared.name), value)


def _typer_option(declared: Field[Any], panel: str | None, command: str) -> Any:
    more = {**declared.metadata}
    for name in ("papers", "typed", "parse", "stated", "guarded", "common", "check"):
        del more[name]
    text, also, panel = more.pop("help"), more.pop("also"), more.pop("panel") or panel
    if declared.name in _OF_PROCESS:
        more["callback"] = _OF_PROCESS[declared.name]
    return typer.Option(
        flag_of(declared.name),
        *([also] if also else []),
        help=text if isinstance(text, str) else text[command.rstrip("_")],
        rich_help_panel=panel,
        **more,
    )


def _is_common(declared: Field[Any], command: Callable[..., None]) -> bool:
    """Whether the short help of a command has an option."""
    common = declared.metadata["common"]
    return bool(common) and (common is True or command.__name__.rstrip("_") in common)
