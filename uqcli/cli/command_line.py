"""The command line of a run: where each option's value comes from, what was typed, and the line in reports.

For each option, flags override the environment, and the environment overrides files. If a higher layer sets
one of several options that exclude each other, lower layers cannot set the others. A command refuses only
typed options that it cannot use: a configured option must not break other runs.
"""

from __future__ import annotations

import json
import sys
from collections.abc import Iterable, Mapping, Sequence
from contextvars import ContextVar
from typing import Any, Final

import typer
from typer.core import TyperCommand

from uqcli.base.defaults import VERSION
from uqcli.base.errors import UsageError
from uqcli.base.options import RUN
from uqcli.base.wording import visible
from uqcli.cli.config import parse_flag, read_layers
from uqcli.cli.failed_run import record_options
from uqcli.cli.help import in_order_of_help, short_help
from uqcli.cli.printing import CommandLine
from uqcli.cli.values import convert, see_help
from uqcli.jobs.declared import Option
from uqcli.jobs.shell import Setting, Settings, enter, line_of, place_of, shell, texts_of

_TREES: Final = ("features", "partitioner", "max_depth", "split", "tree_data")

EXCLUSIONS: Final[Mapping[str, Sequence[Sequence[Sequence[str]]]]] = {
    "*": ((("weight",), ("no_weight",)), (("proba", "classes"), ("positive",))),
    "bin": ((("edges",), ("merge",), ("binning", "uncertainty_bins", "score_bins", "n_min", "n_max")),),
    "boundary": ((("grid",), ("inputs", "binning", "uncertainty_bins", "score_bins", "day", "cluster")),),
    "calibrate": ((_TREES, ("partition",)),),
    "conformal": ((("shift",), ("target",)),),
    "shift": ((("day",), ("cluster",)),),
    "uncertainty": ((("alpha1", "alpha0"), ("members",)),),
}
"""By command, or ``*`` for all: groups of alternatives; a run can use one alternative of each group."""

_debug: ContextVar[bool] = ContextVar("debug", default=False)

IS_SHORT: Final = "uqcli.is_short"
"""Key of a context in which the short help is asked for."""

HELP_OF_HELP: Final = "Show this message; -h shows a short one."


def asks_for_short_help(words: Sequence[str]) -> bool:
    """Whether words of a command line ask for help by ``-h`` alone."""
    options = words[: words.index("--")] if "--" in words else words
    return "-h" in options and "--help" not in options


class Command(TyperCommand):
    """A command whose options may come from files and the environment."""

    def get_params(self, ctx: Any) -> list[Any]:
        """Return all parameters, including --help."""
        parameters: list[Any] = super().get_params(ctx)
        parameters[-1].rich_help_panel = RUN  # --help, otherwise in its own panel
        parameters[-1].help = HELP_OF_HELP
        return parameters

    def collect_usage_pieces(self, ctx: Any) -> list[str]:  # noqa: ARG002 - as typer calls it
        """Return what the usage has after the command; typer's versions write arguments differently."""
        arguments = [parameter for parameter in self.params if parameter.param_type_name == "argument"]
        return ["[OPTIONS]", *map(_in_usage, arguments)]

    def format_help(self, ctx: Any, formatter: Any) -> None:  # noqa: ARG002 - the page is printed at once
        """Print the help; the short one says where the rest is."""
        from uqcli.cli.help_page import print_page

        parameters = self.get_params(ctx)
        if ctx.meta.get(IS_SHORT):
            options = sum(parameter.param_type_name == "option" for parameter in self.params)
            common = short_help(parameters, {option.name for option in options_of(self) if option.is_common})
            print_page(ctx, common, epilog=f"{ctx.command_path} --help shows all {options} options.")
        else:
            print_page(ctx, in_order_of_help(parameters, _of_papers(self)))

    def parse_args(self, ctx: Any, args: list[str]) -> list[str]:
        """Parse the command line, with configured values as defaults."""
        ctx.meta[IS_SHORT] = asks_for_short_help(args)
        parsed, rest, order = self.make_parser(ctx).parse_args(args=list(args))
        typed_values = {name: value for name, value in parsed.items() if value not in (None, [], ())}
        _debug.set(bool(typed_values.get("debug")))
        if ctx.resilient_parsing or "help" in typed_values:  # completion and help need no values
            return super().parse_args(ctx, args)
        enter(CommandLine(typed=frozenset(typed_values)))
        settings = configured(ctx, typed_values)
        ctx.default_map = {name: setting.value for name, setting in settings.items()}
        enter(
            CommandLine(
                typed=frozenset(typed_values),
                settings=settings,
                options=frozenset(str(parameter.name) for parameter in self.params),
                line=_line(str(ctx.info_name), self.params, typed_values, ctx.default_map),
            )
        )
        record_options(str(ctx.info_name), typed_values, ctx.default_map)
        if typed_values.get("show_settings"):
            _show_settings(ctx, typed_values, settings)
            raise typer.Exit
        values = ctx.default_map | typed_values
        for parameter in _in_order_typed(self.params, order):
            value = convert(parameter, values.get(parameter.name, parameter.default), ctx)
            ctx.params[parameter.name] = (
                value if parameter.callback is None else parameter.callback(ctx, parameter, value)
            )
        if rest:
            raise UsageError(f"Got unexpected extra argument(s) ({' '.join(rest)})", remedy=see_help(ctx))
        return []


def options_of(command: Any) -> tuple[Option, ...]:
    """Return what a command declares as options."""
    declared = getattr(command.callback, "declaration", None)
    return () if declared is None else tuple(declared.options.values())


def _of_papers(command: Any) -> dict[str, str]:
    """Return the help texts of values that reproduce papers, by option."""
    texts = {option.name: option.field.metadata["papers"] for option in options_of(command)}
    return {name: text for name, text in texts.items() if text}


def _in_usage(argument: Any) -> str:
    named = f"{{{argument.metavar}}}" if argument.required else f"[{argument.metavar}]"
    return named if argument.nargs == 1 else f"{named}..."


def _in_order_typed(parameters: Iterable[Any], typed_ones: Sequence[Any]) -> list[Any]:
    """Return what was typed first, in its order, which is that of the messages about unusable values."""
    return sorted(
        parameters,
        key=lambda parameter: typed_ones.index(parameter) if parameter in typed_ones else len(typed_ones),
    )


def configured(context: typer.Context, typed_values: Mapping[str, Any]) -> Settings:
    """Return the settings of options that were not typed, each from its highest layer."""
    layers = read_layers(context, typed_values)
    for layer in layers:
        if "debug" in layer:
            _debug.set(_debug.get() or parse_flag("debug", layer["debug"].value))
            break
    result: dict[str, Setting] = {}
    used = set(typed_values)
    for layer in layers:
        excluded = _excluded(context, used)
        settings = {name: setting for name, setting in layer.items() if name not in used | excluded}
        result |= settings
        used |= set(settings)
    return result


def _show_settings(context: typer.Context, typed_values: Mapping[str, Any], settings: Settings) -> None:
    """Print each option that has a value, the value, and where it comes from."""
    lines = []
    for parameter in context.command.params:
        name = str(parameter.name)
        if parameter.param_type_name != "option" or name in {"help", "show_settings"}:
            continue
        if name in typed_values:
            value, place = typed_values[name], "command line"
        elif name in settings:
            value, place = settings[name].value, _place_in_words(context, name, settings[name])
        elif parameter.default in (None, False, (), []):
            continue
        else:
            value, place = parameter.default, "default"
        words = "true" if value is True else ", ".join(map(visible, texts_of(value)))
        lines.append((parameter.opts[0].removeprefix("--"), words, place))
    if typed_values.get("json"):
        content = {"command": context.info_name, "uqcli_version": VERSION, "settings": [
            {"option": option, "value": value, "source": place} for option, value, place in lines
        ]}  # fmt: skip
        sys.stdout.write(f"{json.dumps(content, indent=2)}\n")
        return
    widths = [max((len(line[column]) for line in lines), default=0) for column in (0, 1)]
    for option, value, place in lines:
        sys.stdout.write(f"{option:{widths[0]}}  {value:{widths[1]}}  {place}\n")


def _place_in_words(context: typer.Context, name: str, setting: Setting) -> str:
    """Say which place set an option, and whether a rule comes before it."""
    reads_rules = any(parameter.name in {"artifact", "arguments"} for parameter in context.command.params)
    if setting.is_shared and reads_rules and name in _ROLES:
        return f"{setting.place}, if the rule names no column"
    return setting.place


_ROLES: Final = frozenset({"score", "uncertainty", "label", "weight", "positive", "proba", "classes"})
"""Options for what a rule says itself."""


def places_of_columns(text: str) -> list[str]:
    """Say which places configured the columns that a message quotes."""
    return [
        f"{place_of(name)} sets {name.replace('_', '-')}"
        for name, setting in shell().settings.items()
        if any(f"'{visible(column.strip())}'" in text for column in str(setting.value).split(","))
    ]


def _excluded(context: typer.Context, used: set[str]) -> set[str]:
    """Return the options that the options already set exclude."""
    command = EXCLUSIONS.get(context.info_name or "", ())
    of_groups = getattr(context.command.callback, "exclusions", ())
    excluded: set[str] = set()
    for alternatives in (*EXCLUSIONS["*"], *command, *of_groups):
        chosen = [alternative for alternative in alternatives if used & set(alternative)]
        if chosen:
            excluded |= {
                name for alternative in alternatives if alternative not in chosen for name in alternative
            }
    return excluded


def wants_debug() -> bool:
    """Whether ``debug`` is set, on the command line or in a configuration."""
    return _debug.get()


def clear_typed() -> None:
    """Clear the typed options for a new run."""
    enter(CommandLine())
    _debug.set(False)


def _line(
    command: str,
    parameters: Iterable[Any],
    typed_values: Mapping[str, Any],
    configured_values: Mapping[str, Any],
) -> tuple[str, str, str]:
    """Return the command line of this run as reports show it, from the values by name."""
    by_name = {str(parameter.name): parameter for parameter in parameters}
    is_argument = {name: each.param_type_name == "argument" for name, each in by_name.items()}
    arguments = [value for name, value in typed_values.items() if is_argument[name]]
    typed_options, configured_options = (
        {
            name: (_flag_of(by_name[name]), by_name[name].is_flag or value)
            for name, value in values.items()
            if not is_argument[name]
        }
        for values in (typed_values, configured_values)
    )
    return line_of(command, arguments, typed_options, configured_options)


def _flag_of(option: Any) -> str:
    return str(next(name for name in option.opts if name.startswith("--")))
