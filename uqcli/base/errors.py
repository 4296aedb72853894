"""The exception hierarchy: one class and one exit code for each way a run can fail.

::

    UqcliError                1   internal error; not raised itself.
    ├── UsageError            2   invalid usage or configuration.
    ├── DataError             3   unusable file or data.
    ├── InfeasibleError       4   no result meets the constraint.
    ├── ArtifactError         5   unusable rule file.
    ├── GateError             6   a check of --fail-if failed.
    ├── MissingExtraError     7   an optional part is not installed.
    └── ClosedPipeError       0   the reader closed our output: no error.

A signal of ``TERMINATION_SIGNALS`` ends the run with 128 plus its number. Code below the command line
raises; only ``uqcli.__main__`` and ``uqcli.cli.process`` exit.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Sequence
from keyword import iskeyword
from string import Formatter
from types import MappingProxyType
from typing import Any, Final, Self, TypeAlias

from uqcli.base.operating_system import existing_signals
from uqcli.base.wording import in_one_line, listed


class Opt(str):
    """An option in a message, made of its name; each shell words it.

    It is an object of its own beside the texts of a message, since what stands in a text may come from data.
    As a text it is what the command line has.

    >>> Opt("min-group"), Opt("min-group").keyword, Opt("for").keyword
    ('--min-group', 'min_group', 'for_')
    """

    def __new__(cls, name: str) -> Self:
        """Make the option of a name, with dashes or as a field has it."""
        return super().__new__(cls, f"--{name.rstrip('_').replace('_', '-')}")

    @property
    def keyword(self) -> str:
        """How Python names it."""
        name = self.removeprefix("--").replace("-", "_")
        return f"{name}_" if iskeyword(name) else name


class InShell(Opt):
    """A text of a message for which Python has other words.

    >>> text = InShell("no INPUT given", "no rows given")
    >>> text, text.keyword
    ('no INPUT given', 'no rows given')
    """

    _in_python: str

    def __new__(cls, typed: str, in_python: str) -> Self:
        """Make a text of its words on the command line, and in Python."""
        text = str.__new__(cls, typed)
        text._in_python = in_python
        return text

    @property
    def keyword(self) -> str:
        """The words of Python."""
        return self._in_python


Words: TypeAlias = str | tuple[str, ...]
"""A text, or texts and options."""

_OPTION: Final = re.compile(r"(?<![\w-])--([a-z][a-z0-9-]*)")


def words(text: str, *values: object) -> tuple[str, ...]:
    """Return a message with its options told apart: those of the text, which is our own, never of values.

    Parameters
    ----------
    text
        With options as the command line has them, and fields as in ``str.format``.
    values
        What stands in the fields: it may come from data, or be an option, or words.

    Examples
    --------
    >>> words("--positive {} is no label", "--odd")
    ('--positive', ' ', '--odd', ' is no label')
    >>> [isinstance(part, Opt) for part in _]
    [True, False, False, False]
    """
    parts, remaining = list[str](), iter(values)
    for literal, field, form, conversion in Formatter().parse(text):
        ours = _OPTION.split(literal)  # texts and names of options in turn
        parts += [Opt(part) if index % 2 else part for index, part in enumerate(ours) if part]
        if field is not None:
            value = next(remaining)
            if isinstance(value, tuple):  # words
                parts += value
            elif isinstance(value, Opt):
                parts.append(value)
            else:
                parts.append(format(repr(value) if conversion == "r" else value, form or ""))
    return tuple(parts)


def listed_words(texts: Iterable[Words], last_by: str = "and") -> Words:
    """List texts and options as a sentence does.

    >>> "".join(listed_words([Opt("gain"), "a column"], "or"))
    '--gain or a column'
    """
    each = [*texts]
    return words(listed(["{}"] * len(each), last_by), *each)


def _parts(words: Words) -> tuple[str, ...]:
    return (words,) if isinstance(words, str) else words


def _typed(words: Words) -> str:
    """Word a message for the command line, in one line."""
    return in_one_line("".join(_parts(words)))


def keywords(words: Words) -> str:
    """Word a message for Python, in one line."""
    return in_one_line("".join(part.keyword if isinstance(part, Opt) else part for part in _parts(words)))


class UqcliError(Exception):
    """A run that cannot continue; as a text it names keywords, and its ``message`` names options.

    Parameters
    ----------
    found
        What was found, with the name of the file, column or option: a text, or ``words``.
    expected
        What was expected instead.
    remedy
        What the user can do.

    Examples
    --------
    >>> str(DataError("file a.csv is empty", expected="a header and rows", remedy="check the export"))
    'file a.csv is empty; expected a header and rows; check the export'
    >>> error = UsageError(words("--on is given without --labels"))
    >>> error.message, str(error)
    ('--on is given without --labels', 'on is given without labels')
    """

    exit_code = 1
    report: Any = None
    """What was found nevertheless, as Python's functions return it; None if nothing was."""

    def __init__(self, found: Words, *, expected: Words = "", remedy: Words = "") -> None:
        self.words: tuple[Words, Words, Words] = (found, expected, remedy)
        super().__init__(self.message)

    @property
    def found(self) -> str:
        """What was found, in words of the command line."""
        return _typed(self.words[0])

    @property
    def expected(self) -> str:
        """What was expected, in words of the command line."""
        return _typed(self.words[1])

    @property
    def remedy(self) -> str:
        """What the user can do, in words of the command line."""
        return _typed(self.words[2])

    def reword(self, found: Words, remedy: Words) -> None:
        """Say in other words what was found and what the user can do."""
        self.words = (found, self.words[1], remedy)
        self.args = (self.message,)

    def add_remedy(self, words: Words) -> None:
        """Say more about what the user can do."""
        older, more = _parts(self.words[2]), _parts(words)
        self.reword(self.words[0], (*older, "; ", *more) if self.remedy else more)

    def rename(self, old: Opt, new: Opt) -> None:
        """Name another option than the one that is named."""
        found, _, remedy = (
            tuple(new if part == old and isinstance(part, Opt) else part for part in _parts(words))
            for words in self.words
        )
        self.reword(found, remedy)

    @property
    def message(self) -> str:
        """The message of the command line, in one line."""
        return self._line(_typed)

    def _line(self, word: Callable[[Words], str]) -> str:
        found, expected, remedy = map(word, self.words)
        parts = (found, f"expected {expected}" if expected else "", remedy)
        return "; ".join(part for part in parts if part)

    def __str__(self) -> str:
        return self._line(keywords)


class UsageError(UqcliError):
    """Invalid usage or configuration."""

    exit_code = 2


class DataError(UqcliError):
    """Unusable file or data."""

    exit_code = 3


class InfeasibleError(UqcliError):
    """No result meets the constraint; the report gives the nearest one."""

    exit_code = 4


class ArtifactError(UqcliError):
    """A rule file is invalid, of the wrong kind, or of a newer format."""

    exit_code = 5


class GateError(UqcliError):
    """Checks of ``--fail-if`` failed or have an undefined metric; one line each."""

    exit_code = 6

    def __init__(self, messages: Sequence[Words]) -> None:
        self._messages = tuple(messages)
        super().__init__(tuple(part for text in messages for part in ("; ", *_parts(text)))[1:])

    @property
    def message(self) -> str:
        """The messages, each on its line."""
        return "\n".join(map(_typed, self._messages))

    def __str__(self) -> str:
        return "\n".join(map(keywords, self._messages))


class MissingExtraError(UqcliError):
    """An optional part is not installed."""

    exit_code = 7


class ClosedPipeError(UqcliError):
    """The reader closed our output (``| head``)."""

    exit_code = 0


TERMINATION_SIGNALS: Final = MappingProxyType(
    existing_signals(
        {
            "SIGHUP": "hung up",
            "SIGINT": "interrupted",
            "SIGBREAK": "interrupted",
            "SIGUSR1": "ended by a user signal",
            "SIGUSR2": "ended by a user signal",
            "SIGALRM": "ended by an alarm",
            "SIGTERM": "terminated",
            "SIGXCPU": "out of CPU time",
        }
    )
)
"""Signals that end a run after cleanup, with the last line it prints."""
