"""The program: registers commands, prints errors and returns exit codes."""

from __future__ import annotations

import errno
import glob
import math
import os
import re
import sys
import traceback
from collections.abc import Sequence
from contextlib import suppress
from functools import cache
from typing import Annotated, Any, Final

import typer
from typer.core import TyperGroup

from uqcli.base.choices import ArtifactKind
from uqcli.base.defaults import VERSION
from uqcli.base.errors import ClosedPipeError, DataError, GateError, UqcliError, UsageError, words
from uqcli.base.files import STDIO, check_results_stream, is_stdin
from uqcli.base.operating_system import limits
from uqcli.base.running.interruption import changing
from uqcli.base.running.messages import cautions
from uqcli.base.running.messages import clear as clear_messages
from uqcli.cli.command_line import (
    HELP_OF_HELP,
    IS_SHORT,
    Command,
    asks_for_short_help,
    clear_typed,
    places_of_columns,
    wants_debug,
)
from uqcli.cli.config import COMMANDS
from uqcli.cli.failed_run import find_reports, write_failure
from uqcli.cli.first_look import explain_inputs
from uqcli.cli.help import HELP, QUESTIONS, meant_choice, meant_command, meant_option, with_examples
from uqcli.cli.option_groups import with_groups
from uqcli.cli.process import check_limits, hide_progress, mark_ended
from uqcli.jobs.declared import function_of
from uqcli.stores.view import one_view

_HELP_OPTIONS: Final = frozenset({"--help", "-h", "--version", "--show-completion", "--install-completion"})
_NO_MEMORY: Final = re.compile(
    "cannot allocate memory|failed to map segment|can't start new thread|spawn.* thread", re.IGNORECASE
)


class _Program(TyperGroup):
    """The group of all commands; a closed pipe becomes a ClosedPipeError before typer handles it."""

    def get_params(self, ctx: Any) -> list[Any]:
        parameters: list[Any] = super().get_params(ctx)
        for parameter in parameters:  # typer would load pydantic to convert None
            parameter.default = parameter.default or False
        parameters[-1].help = HELP_OF_HELP
        return parameters

    def format_help(self, ctx: Any, formatter: Any) -> None:  # noqa: ARG002 - the page is printed at once
        from uqcli.cli.help_page import print_page

        commands = [self.commands[name] for name in self.list_commands(ctx)]
        if ctx.meta.get(IS_SHORT):
            print_page(ctx, [], commands, epilog=f"{ctx.command_path} --help shows the options.")
        else:
            print_page(ctx, self.get_params(ctx), commands)

    def parse_args(self, ctx: Any, args: list[str]) -> list[str]:
        ctx.meta[IS_SHORT] = asks_for_short_help(args)
        return super().parse_args(ctx, args)

    def invoke(self, ctx: Any) -> Any:
        try:
            return super().invoke(ctx)
        except BrokenPipeError as error:
            raise ClosedPipeError("closed pipe") from error


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
        help=HELP,
    )
    app.callback(invoke_without_command=True)(_root)
    for name in names:
        function = function_of(name)
        help_text = with_examples(name, function.__doc__)
        app.command(name, cls=Command, help=help_text, rich_help_panel=QUESTIONS[name])(with_groups(function))
    return app


def with_command(arguments: Sequence[str]) -> list[str]:
    """Put a command before names of data, and turn ``help COMMAND`` into ``COMMAND --help``.

    A word that is a command is never taken for a file.

    >>> with_command(["help", "tce"]), with_command(["s3://bucket/scores.csv"])
    (['tce', '--help'], ['overview', 's3://bucket/scores.csv'])
    >>> with_command(["schema", "boundary"])
    ['show', '--schema', 'boundary']
    """
    words = list(arguments)
    if words[:1] == ["help"]:
        words = [*words[1:], "--help"]
    if not words or words[0] in COMMANDS:
        return words
    if words[0] == "schema":
        return _with_schema(words[1:])
    return ["overview", *words] if _names_data(words[0]) else words


def _with_schema(words: list[str]) -> list[str]:
    """Turn what follows ``schema``, a command of earlier versions, into ``show --schema KIND``."""
    kinds = [place for place, word in enumerate(words) if word in set(ArtifactKind)]
    others = [place for place, word in enumerate(words) if not word.startswith("-")]
    for place in (*kinds, *others)[:1]:
        words.insert(place, "--schema")
    return ["show", *(words or ["--schema"])]


def _names_data(word: str) -> bool:
    """Whether a word is standard input, an address, a file, a folder or a pattern of files."""
    if is_stdin(word) or "://" in word:
        return True
    if word.startswith("-"):
        return False
    return os.path.exists(word) or bool(glob.glob(word))  # noqa: PTH110, PTH207 - of any text


def _completed_words() -> list[str]:
    """Return the words after the program that a shell asks to complete, as typer's scripts hand them over."""
    if "_UQCLI_COMPLETE" not in os.environ:
        return []
    line = os.environ.get("COMP_WORDS") or os.environ.get("_TYPER_COMPLETE_ARGS") or ""
    return line.split()[1:]


def run(arguments: Sequence[str]) -> int:
    """Run a command line and return its exit code; an error is one line on standard error."""
    clear_typed()
    clear_messages()
    arguments = with_command(arguments)
    find_reports(arguments)
    first = tuple(arguments[:1] or _completed_words()[:1])
    try:
        if _HELP_OPTIONS.intersection(arguments):
            check_results_stream(STDIO, "redirect it to a file")
        else:
            check_limits()
        app = program(first) if first and first[0] in COMMANDS else program()
        with one_view():
            code = app(args=list(arguments), prog_name="uqcli", standalone_mode=False)
        sys.stdout.flush()
    except BaseException as raised:
        if isinstance(raised, KeyboardInterrupt | SystemExit | GeneratorExit):
            raise
        hide_progress()
        error = _to_uqcli_error(raised, command=first[0] if first and first[0] in COMMANDS else "")
        if places := places_of_columns(error.found):
            error.add_remedy(", ".join(places))
        explain_inputs(error, arguments)
        _report(error, debug="--debug" in arguments or wants_debug())
        return error.exit_code
    return code if isinstance(code, int) else 0


def _to_uqcli_error(error: BaseException, *, command: str = "") -> UqcliError:
    """Convert any exception to a UqcliError; ``command`` raised it, if there is one."""
    if isinstance(error, UqcliError):
        return error
    if isinstance(error, BrokenPipeError):
        return ClosedPipeError("closed pipe")
    if hasattr(error, "format_message"):  # one of typer's, whose class earlier versions do not name
        return _usage_error(error, command)
    if _is_out_of_memory(error):
        return _out_of_memory(error)
    if isinstance(error, OSError):
        problem = f"cannot use '{error.filename}'" if error.filename else "cannot write to standard output"
        return DataError(f"{problem}: {error.strerror}")
    return UqcliError(
        f"internal error: {type(error).__name__}: {error}",
        remedy=words("please report it (--debug shows where)"),
    )


def _usage_error(error: Any, command: str) -> UsageError:
    """Convert an error of the command line, and say what may have been meant."""
    message = error.format_message().rstrip(".")
    context, meant = getattr(error, "ctx", None), ""
    hint = f"see {context.command_path if context else f'uqcli {command}'.rstrip()} --help"
    if hasattr(error, "possibilities") and context is not None:
        name, message = getattr(error, "option_name", ""), getattr(error, "message", message)
        whole = getattr(error.__context__, "option_name", "")
        if len(name) == 2 and whole.startswith(name[0]) and len(whole) > 2:  # one dash, but a whole word
            name, message = whole, message.replace(name, whole)
        options = [option for parameter in context.command.params for option in parameter.opts]
        meant = meant_option(name, options)
    elif match := _NO_COMMAND.match(message):
        message, meant = match[0], meant_command(match[1], COMMANDS)
    elif match := _NO_CHOICE.search(message):
        choices = re.findall(r"'([^']*)'", match[2])
        meant = meant_choice(match[1], choices)
    join = " " if meant.endswith("?") else "; "
    return UsageError(message, remedy=f"{meant}{join if meant else ''}{hint}")


_NO_COMMAND: Final = re.compile(r"No such command '([^']*)'")
_NO_CHOICE: Final = re.compile(r"'([^']*)' is not (?:one of )?(.*)")


def _is_out_of_memory(error: BaseException) -> bool:
    """Whether an error or a cause of it is a lack of memory, for example while a library is loaded."""
    cause: BaseException | None = error
    while cause is not None:
        if isinstance(cause, MemoryError) or getattr(cause, "errno", None) == errno.ENOMEM:
            return True
        from_library = isinstance(cause, ImportError | RuntimeError) or not isinstance(
            cause, Exception
        )  # a panic
        if from_library and _NO_MEMORY.search(str(cause)):
            return True
        cause = cause.__cause__ or cause.__context__
    return False


def _out_of_memory(error: BaseException) -> DataError:
    """Name the limit that an error met: of memory, or of processes if memory has none."""
    if re.search("start new thread|spawn.* thread", str(error)) and math.isinf(limits("AS")[0]):
        return DataError(
            "no further thread can be started",
            expected="more than the limit of processes allows",
            remedy=words("raise the limit (ulimit -u, or pids.max of a container), or give --threads 1"),
        )
    return DataError(
        "not enough memory",
        expected="more than the limit allows",
        remedy="raise the limit (ulimit -v), or use fewer bins",
    )


def _report(error: UqcliError, *, debug: bool) -> None:
    if isinstance(error, ClosedPipeError):
        return
    with changing, suppress(OSError):  # either this error or a signal's is printed, never both
        if debug:
            traceback.print_exc()
        if write_failure(error):
            sys.stderr.write("".join(f"caution: {caution}\n" for caution in cautions()))
        start = "" if isinstance(error, GateError) else "error: "
        sys.stderr.write(f"{start}{error.message}\n")
        sys.stderr.flush()
        mark_ended()
