"""What asks for a run, a command line or a program in Python, and what it asked for.

A command refuses only options that were typed, or given as keywords, and that it cannot use: a configured
option must not break other runs.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from contextvars import ContextVar
from dataclasses import field, fields, replace
from typing import TYPE_CHECKING, Any, Final, TypeVar, cast

from uqcli.base.errors import Opt, UsageError, Words, words
from uqcli.base.operating_system import join
from uqcli.base.records import dataclass
from uqcli.stores.address import safe_address

if TYPE_CHECKING:
    from uqcli.jobs.delivery import Delivery
    from uqcli.jobs.options import ReportOptions


@dataclass(frozen=True, kw_only=True)
class Setting:
    """Value of an option, and the place that set it: a variable, or a table of a file.

    A shared one is for all commands, and only fills a role for which a rule names no column.
    """

    value: Any
    place: str
    is_shared: bool = False


Settings = Mapping[str, Setting]


@dataclass(frozen=True, kw_only=True)
class Shell:
    """What was asked of a run. As it stands it is that of a program, which is shown nothing on the way.

    Attributes
    ----------
    typed
        Names of the options and arguments that were typed or given.
    settings
        Options that were configured and not typed.
    options
        Names of all options of the command.
    line
        The command, its line as reports show it, and the configured options as if they were typed.
    """

    typed: frozenset[str] = frozenset()
    settings: Settings = field(default_factory=dict)
    options: frozenset[str] = frozenset()
    line: tuple[str, str, str] = ("", "", "")

    def own_files(self) -> tuple[str, ...]:
        """Return the files that the shell reads itself."""
        return ()

    def check_streams(self, results: str | None, options: ReportOptions, *, to_files: bool) -> None:
        """Refuse results for a stream that cannot take them, before the run."""

    def label(self, labels: tuple[tuple[str, str], ...]) -> None:
        """Take the labels of all samples of this run."""

    def begin(self, output: str | None, options: ReportOptions) -> None:
        """Show that the run works, once its outputs are possible."""

    def end(self) -> None:
        """Stop showing that the run works."""

    def deliver(self, delivery: Delivery) -> None:
        """Take what a run has written, to show it."""


_shell: ContextVar[Shell] = ContextVar("shell", default=Shell())  # noqa: B039 - it is frozen


def shell() -> Shell:
    """Return what asked for this run."""
    return _shell.get()


def enter(asking: Shell) -> None:
    """Set what asks for the runs that follow in this context."""
    _shell.set(asking)


def is_typed(name: str) -> bool:
    """Whether an option or argument was typed in this run; the name may have dashes."""
    return name.removeprefix("--").replace("-", "_") in shell().typed


def typed() -> frozenset[str]:
    """Return the names of all typed options and arguments of this run."""
    return shell().typed


def settled() -> frozenset[str]:
    """Return the names of all options that were typed or configured in this run."""
    return shell().typed | frozenset(shell().settings)


def has_option(name: str) -> bool:
    """Whether the command of this run has an option."""
    return name in shell().options


def fills_only_gaps(name: str) -> bool:
    """Whether an option was set for all commands, so that what a rule says comes first."""
    setting = shell().settings.get(name)
    return setting is not None and setting.is_shared


def place_of(name: str) -> str:
    """Return what set an option in this run: its flag, a variable, or a configuration file."""
    setting = shell().settings.get(name)
    return flag_of(name) if setting is None else setting.place


def flag_of(name: str) -> Opt:
    """Return the option of a field; a trailing underscore is that of a Python keyword, as in for_."""
    return Opt(name)


def current_line() -> tuple[str, str, str]:
    """Return the command, its line as reports show it, and the configured options as if they were typed."""
    return shell().line


def refuse_typed(names: Sequence[str], where: Words, expected: Words = "", remedy: Words = "") -> None:
    """Refuse typed options that a run cannot use."""
    for name in names:
        if is_typed(name):
            raise UsageError(words("{} {}", Opt(name), where), expected=expected, remedy=remedy)


RequestT = TypeVar("RequestT")


def without(request: RequestT, *names: str) -> RequestT:
    """Return a request as if some of its options were not given."""
    defaults = {field.name: field.default for field in fields(cast(Any, request)) if field.name in names}
    return cast(RequestT, replace(cast(Any, request), **defaults))


def words_of(options: Mapping[str, Sequence[str]]) -> list[str]:
    """Return options with their values as they are typed, one that is repeated for each value."""
    return [
        word
        for name, values in options.items()
        for value in values
        for word in ([f"{flag_of(name)}={value}"] if value.startswith("-") else [flag_of(name), value])
    ]


_OMITTED: Final = frozenset(
    {
        "output",
        "report",
        "tag",
        "title",
        "plot",
        "json",
        "quiet",
        "verbose",
        "threads",
        "memory",
        "engine",
        "spark",
        "debug",
        "show_settings",
    }
)
"""Options for outputs and for running the program."""


def line_of(
    command: str,
    arguments: Sequence[Any],
    typed_options: Mapping[str, tuple[str, Any]],
    configured: Mapping[str, tuple[str, Any]],
) -> tuple[str, str, str]:
    """Return the command line of a run; options are by name, with their flag and value.

    A value of true is that of an option without a value. ``configured`` has only options that were not typed.
    """
    names = [text for value in arguments for text in texts_of(value)]
    options = _words(typed_options)
    if any(name.startswith("-") and name != "-" for name in names):
        options, names = [], [*options, "--", *names]  # names that look like options
    return command, join(["uqcli", command, *names, *options]), join(_words(configured))


def _words(options: Mapping[str, tuple[str, Any]]) -> list[str]:
    return [
        word
        for name, (flag, value) in options.items()
        if name not in _OMITTED
        for text in ([None] if value is True else texts_of(value))
        for word in ([flag] if text is None else [flag, text])
    ]


def texts_of(value: Any) -> list[str]:
    """Return the value of an option, or the values of a repeated one, as texts without what is secret."""
    values = value if isinstance(value, list | tuple) else [value]
    return [safe_address(str(item)) for item in values]
