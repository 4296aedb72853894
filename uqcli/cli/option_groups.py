"""The parameters of a command as typer reads them from a function's signature."""

from __future__ import annotations

import inspect
import sys
from collections.abc import Callable
from typing import Annotated, Any, Final

import typer

from uqcli.base.choices import ArtifactKind
from uqcli.base.files import STDIO, check_results_stream
from uqcli.cli.process import limit_memory, limit_threads
from uqcli.jobs.declared import Option, Parameter, Positional, declared
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
    """Convert the function of a command, whose parameters may be option groups, to one that typer reads."""
    declaration = declared(command)
    parameters = [_parameter(each) for each in declaration.parameters]

    def wrapper(**values: Any) -> None:
        declaration.run(values)

    wrapper.__name__ = command.__name__
    wrapper.__doc__ = command.__doc__
    wrapper.__annotations__ = {parameter.name: parameter.annotation for parameter in parameters}
    wrapper.__signature__ = inspect.Signature(parameters)  # type: ignore[attr-defined]
    wrapper.exclusions = tuple(  # type: ignore[attr-defined]  # as priority reads it
        group.alternatives() for group in declaration.groups.values() if hasattr(group, "alternatives")
    )
    wrapper.declaration = declaration  # type: ignore[attr-defined]  # what others read that typer does not know
    return wrapper


def _parameter(parameter: Parameter) -> inspect.Parameter:
    given = _option(parameter) if isinstance(parameter, Option) else _argument(parameter)
    return inspect.Parameter(
        parameter.name,
        inspect.Parameter.KEYWORD_ONLY,
        default=parameter.default,
        annotation=Annotated[parameter.type, given],
    )


def _argument(argument: Parameter) -> Any:
    assert isinstance(argument, Positional)
    declared_as = argument.declared
    return typer.Argument(
        metavar=declared_as.metavar, help=declared_as.help, show_default=declared_as.show_default
    )


def _option(option: Option) -> Any:
    more = {**option.field.metadata}
    for name in ("help", "panel", "papers", "typed", "parse", "stated", "guarded", "common", "check"):
        del more[name]
    also = more.pop("also")
    if option.name in _OF_PROCESS:
        more["callback"] = _OF_PROCESS[option.name]
    names = [flag_of(option.name), *([also] if also else [])]
    return typer.Option(*names, help=option.help, rich_help_panel=option.panel or None, **more)
