"""Option groups: frozen dataclasses whose fields become options of a command.

typer reads a function's signature. ``with_groups`` replaces each parameter that is an option group by the
fields of the group. It calls the function with the filled groups. A group's ``panel`` is the heading of its
options in the help. Each field is an ``option``, a ``choice`` or a ``flag``. A group whose options exclude
each other has ``alternatives``, of which a run can use one.
"""

from __future__ import annotations

import inspect
from collections.abc import Callable, Mapping
from copy import copy
from dataclasses import MISSING, Field, field, fields, is_dataclass
from typing import Annotated, Any, Final, get_type_hints

import typer

RUN: Final = "Reading and running"
PAPERS: Final = "From the papers"
"""Last panel of a help: options, and further values of options, that reproduce papers."""


def option(
    metavar: str | None,
    text: str | Mapping[str, str],
    default: Any = None,
    *,
    also: str = "",
    panel: str | None = None,
    papers: str = "",
    **more: Any,
) -> Any:
    """Declare a field of a group: an option with a value.

    Parameters
    ----------
    metavar
        Placeholder of its value in the help; None to list the choices.
    text
        Help text, or texts by command.
    also
        Another name, such as ``-o``.
    panel
        Heading in the help, in place of the group's.
    papers
        Help text of its values under ``PAPERS``.
    **more
        Further arguments of ``typer.Option``.
    """
    metadata = {"metavar": metavar, "help": text, "also": also, "panel": panel, "papers": papers, **more}
    return field(default=default, metadata=metadata)


def choice(text: str, default: Any = None, *, metavar: str | None = None, **more: Any) -> Any:
    """Declare an option whose value is a member of an enum; with a metavar, the texts must name them all.

    With the default ``MISSING``, the option is required. ``more`` are arguments of ``option``.
    """
    return option(metavar, text, default, **more)


def flag(text: str, *, also: str = "") -> Any:
    """Declare an option without a value."""
    return option(None, text, False, also=also)


def simplify_help(parameters: list[Any]) -> list[Any]:
    """Remove Python types and ranges from the help of typer's parameters; error messages name the ranges."""
    for parameter in parameters:
        parameter.min = parameter.max = None  # only the help reads these
        if getattr(parameter, "is_flag", False):
            parameter.metavar = ""
        if parameter.param_type_name == "argument" and not parameter.type_descriptor.is_choice:
            parameter.display_type_rich = _no_type
    return parameters


def tighten_help() -> None:
    """Set no padding for the empty columns of typer's help, so that texts have more width."""
    from typer import rich_utils

    rich_utils.STYLE_OPTIONS_TABLE_PADDING = (0, 1, 0, 0)  # type: ignore[assignment]  # as rich reads it


def in_order_of_help(parameters: list[Any], of_papers: Mapping[str, str]) -> list[Any]:
    """Move what is of papers to the end, with another row for each option that has such values.

    Parameters
    ----------
    of_papers
        Help texts of such values, by option.
    """
    rows = [copy(parameter) for parameter in parameters if parameter.name in of_papers]
    for row in rows:
        row.help, row.rich_help_panel, row.show_default = of_papers[row.name], PAPERS, False
    return sorted([*parameters, *rows], key=lambda parameter: parameter.rich_help_panel == PAPERS)


def _no_type(ctx: Any) -> str:  # noqa: ARG001  as typer calls it
    return ""


def with_groups(command: Callable[..., None]) -> Callable[..., None]:
    """Convert a function whose parameters may be option groups to a typer command."""
    hints = get_type_hints(command, include_extras=True)
    groups: dict[str, Any] = {name: hint for name, hint in hints.items() if is_dataclass(hint)}
    parameters = []
    for name, parameter in inspect.signature(command).parameters.items():
        if name in groups:
            parameters += _parameters_of(groups[name], command.__name__)
        else:
            parameters.append(parameter.replace(annotation=hints[name], kind=inspect.Parameter.KEYWORD_ONLY))

    def wrapper(**values: Any) -> None:
        arguments = {
            name: group(**{field.name: values.pop(field.name) for field in fields(group)})
            for name, group in groups.items()
        }
        command(**arguments, **values)

    wrapper.__name__ = command.__name__
    wrapper.__doc__ = command.__doc__
    wrapper.__annotations__ = {parameter.name: parameter.annotation for parameter in parameters}
    wrapper.exclusions = tuple(  # type: ignore[attr-defined]  # as priority reads it
        group.alternatives() for group in groups.values() if hasattr(group, "alternatives")
    )
    wrapper.of_papers = {  # type: ignore[attr-defined]  # as priority reads it
        declared.name: declared.metadata["papers"]
        for group in groups.values()
        for declared in fields(group)
        if declared.metadata["papers"]
    }
    wrapper.__signature__ = inspect.Signature(parameters)  # type: ignore[attr-defined]
    return wrapper


def _parameters_of(group: Any, command: str) -> list[inspect.Parameter]:
    """Build the parameters of a group; a help text may depend on the command."""
    hints = get_type_hints(group, include_extras=True)
    return [
        inspect.Parameter(
            declared.name,
            inspect.Parameter.KEYWORD_ONLY,
            default=inspect.Parameter.empty if declared.default is MISSING else declared.default,
            annotation=Annotated[
                hints[declared.name],
                _typer_option(declared.name, **_metadata(declared, group.panel, command)),
            ],
        )
        for declared in fields(group)
    ]


def _metadata(declared: Field[Any], panel: str | None, command: str) -> dict[str, Any]:
    more = dict(declared.metadata)
    text, own_panel, _ = more.pop("help"), more.pop("panel"), more.pop("papers")
    help_text = text if isinstance(text, str) else text[command.rstrip("_")]
    return {**more, "help": help_text, "panel": own_panel or panel}


def _typer_option(name: str, *, panel: str | None, also: str, **more: Any) -> Any:
    # a trailing underscore is that of a Python keyword, as in for_
    names = [f"--{name.rstrip('_').replace('_', '-')}", *([also] if also else [])]
    return typer.Option(*names, rich_help_panel=panel, **more)
