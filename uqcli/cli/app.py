"""The program: registers commands, prints errors and returns exit codes."""

from __future__ import annotations

import errno
import re
import sys
import traceback
from collections.abc import Sequence
from contextlib import suppress
from functools import cache
from importlib import import_module
from typing import Annotated, Any, Final

import typer
from typer.core import TyperGroup

from uqcli.cli.config import COMMANDS
from uqcli.cli.examples import QUESTIONS, with_examples
from uqcli.cli.failing import begin, tell
from uqcli.cli.groups import plainly_shown, set_closely, with_groups
from uqcli.cli.priority import Command, forget, wants_debug
from uqcli.cli.process.progress import hide_progress
from uqcli.cli.process.resources import require_room
from uqcli.cli.process.signals import conclude
from uqcli.cli.values import converting_plainly
from uqcli.defaults import VERSION
from uqcli.errors import ClosedPipeError, DataError, GateError, UqcliError, UsageError
from uqcli.running.interruption import changing
from uqcli.running.remarks import cautions
from uqcli.running.remarks import forget as forget_remarks
from uqcli.running.rows_read import forget as forget_rows
from uqcli.stores.view import one_view

_HELPING: Final = frozenset({"--help", "-h", "--version", "--show-completion", "--install-completion"})
_NO_MEMORY: Final = re.compile(
    "cannot allocate memory|failed to map segment|can't start new thread|spawn.* thread", re.IGNORECASE
)


class _Program(TyperGroup):
    """The group of all commands; a closed pipe becomes a ClosedPipeError before typer handles it."""

    def get_params(self, ctx: Any) -> list[Any]:
        return plainly_shown(converting_plainly(super().get_params(ctx)))

    def format_help(self, ctx: Any, formatter: Any) -> None:
        set_closely()
        super().format_help(ctx, formatter)

    def invoke(self, ctx: Any) -> Any:
        try:
            return super().invoke(ctx)
        except BrokenPipeError as error:
            raise ClosedPipeError("closed pipe") from error


_HELP: Final = (
    "Decision thresholds, calibration and prediction sets from saved predictions.\n\n"
    "uqcli COMMAND --help shows examples and options."
)


def _print_version(value: bool) -> None:
    if value:
        sys.stdout.write(f"uqcli {VERSION}\n")
        raise typer.Exit


def _root(
    context: typer.Context,
    version: Annotated[  # noqa: ARG001  its callback does the work
        bool, typer.Option("--version", is_eager=True, callback=_print_version, help="Print the version.")
    ] = False,
) -> None:
    if context.invoked_subcommand is None:
        context.get_help()  # typer prints it
        raise typer.Exit(UsageError.exit_code)


@cache
def program(names: tuple[str, ...] = COMMANDS) -> typer.Typer:
    """Build the program with some of its commands; a single command loads faster."""
    app = typer.Typer(
        name="uqcli",
        cls=_Program,
        add_completion=True,
        pretty_exceptions_enable=False,
        context_settings={"help_option_names": ["-h", "--help"]},
        help=_HELP,
    )
    app.callback(invoke_without_command=True)(_root)
    for name in names:
        module = import_module(f"uqcli.cli.commands.{name}")
        function = getattr(module, name, None) or getattr(module, f"{name}_")  # bin_ hides no builtin
        help_text = with_examples(name, function.__doc__)
        app.command(name, cls=Command, help=help_text, rich_help_panel=QUESTIONS[name])(with_groups(function))
    return app


def run(arguments: Sequence[str]) -> int:
    """Run a command line and return its exit code; an error is one line on standard error."""
    forget()
    forget_remarks()
    forget_rows()
    begin(arguments)
    first = tuple(arguments[:1])
    try:
        if not _HELPING.intersection(arguments):
            require_room()
        app = program(first) if first and first[0] in COMMANDS else program()
        with one_view():
            code = app(args=list(arguments), prog_name="uqcli", standalone_mode=False)
        sys.stdout.flush()
    except BaseException as raised:
        if isinstance(raised, KeyboardInterrupt | SystemExit | GeneratorExit):
            raise
        hide_progress()
        error = _as_ours(raised)
        _report(error, debug="--debug" in arguments or wants_debug())
        return error.exit_code
    return code if isinstance(code, int) else 0


def _as_ours(error: BaseException) -> UqcliError:
    """Convert any exception to a UqcliError."""
    if isinstance(error, UqcliError):
        return error
    if isinstance(error, BrokenPipeError):
        return ClosedPipeError("closed pipe")
    if isinstance(error, typer.TyperException):
        message = error.format_message().replace("Value error, ", "").rstrip(".")  # pydantic's prefix
        return UsageError(message, remedy=_where_help_is(error))
    if _lacks_memory(error):
        return DataError(
            "not enough memory",
            expected="more than the limit allows",
            remedy="raise the limit (ulimit -v), or use fewer bins",
        )
    if isinstance(error, OSError):
        place = f"cannot use '{error.filename}'" if error.filename else "cannot write to standard output"
        return DataError(f"{place}: {error.strerror}")
    return UqcliError(
        f"internal error: {type(error).__name__}: {error}", remedy="please report it (--debug shows where)"
    )


def _lacks_memory(error: BaseException) -> bool:
    """Whether an error or a cause of it is a lack of memory, for example while a library is loaded."""
    cause: BaseException | None = error
    while cause is not None:
        if isinstance(cause, MemoryError) or getattr(cause, "errno", None) == errno.ENOMEM:
            return True
        of_library = isinstance(cause, ImportError | RuntimeError) or not isinstance(
            cause, Exception
        )  # a panic
        if of_library and _NO_MEMORY.search(str(cause)):
            return True
        cause = cause.__cause__ or cause.__context__
    return False


def _report(error: UqcliError, *, debug: bool) -> None:
    if isinstance(error, ClosedPipeError):
        return
    with changing, suppress(OSError):  # either this error or a signal's is printed, never both
        if debug:
            traceback.print_exc()
        if tell(error):
            sys.stderr.write("".join(f"caution: {caution}\n" for caution in cautions()))
        sys.stderr.write(f"{error}\n" if isinstance(error, GateError) else f"error: {error}\n")
        sys.stderr.flush()
        conclude()


def _where_help_is(error: typer.TyperException) -> str:
    context = getattr(error, "ctx", None)
    return f"see {context.command_path} --help" if context else "see uqcli --help"
