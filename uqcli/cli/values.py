"""Values of options as the command line words what it cannot use."""

from __future__ import annotations

from typing import Any

import typer

from uqcli.base.errors import UsageError
from uqcli.jobs.declared import Parameter
from uqcli.jobs.values import MOST_DIGITS, UnusableValueError, value_of
from uqcli.jobs.values import choices_of as choices_of_declared


def convert(parameter: Any, value: Any, context: typer.Context) -> Any:
    """Return the value of a typer parameter from what was typed or configured; None is no value."""
    declared = _declared(parameter, context)
    if declared.takes_several:
        value = tuple(map(str, value or ()))
    elif value is not None:
        value = _converted(parameter, declared, value, context)
    if parameter.required and value in (None, ()):
        choices = choices_of_declared(declared)
        listed = f". Choose from: {', '.join(choices)}" if choices else ""
        missing = f"Missing {parameter.param_type_name} {_named(parameter)}{listed}"
        raise UsageError(missing, remedy=see_help(context))
    return value


def choices_of(parameter: Any, context: typer.Context) -> tuple[str, ...]:
    """Return the values of a parameter that has a choice of them."""
    return choices_of_declared(_declared(parameter, context))


def see_help(context: typer.Context) -> str:
    """Say where the options of a command are explained."""
    return f"see {context.command_path} --help"


def _declared(parameter: Any, context: typer.Context) -> Parameter:
    """Return what the command declares; typer's own options are flags."""
    declaration = getattr(context.command.callback, "declaration", None)
    known: dict[str, Parameter] = {} if declaration is None else declaration.by_name
    return known.get(parameter.name) or Parameter(name=parameter.name, type=bool, default=False)


def _named(parameter: Any) -> str:
    if parameter.param_type_name == "argument":
        return f"'{parameter.metavar}'"
    return " / ".join(f"'{name}'" for name in parameter.opts)


def _converted(parameter: Any, declared: Parameter, value: Any, context: typer.Context) -> Any:
    try:
        return value_of(declared, value)
    except UnusableValueError as error:
        if error.expected and len(str(value)) <= MOST_DIGITS:  # longer texts are not repeated
            raise UsageError(
                f"{parameter.opts[0]} is '{error.text}'", expected=error.expected, remedy=see_help(context)
            ) from None
        message = "Unable to parse input string as an integer, exceeded maximum size"
        if not error.expected:
            message = f"{value!r} is not one of {', '.join(map(repr, choices_of_declared(declared)))}."
        raise typer.BadParameter(message, ctx=context, param_hint=_named(parameter)) from None
