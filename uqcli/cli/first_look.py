"""What to type where inputs are written in another way than a run takes them to be: the whole command line.

A command whose columns are missing, or hold values that it cannot read, has met only the first of what is
unusual in the inputs. Their first rows show the rest, so that the error names all of it at once.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from contextlib import suppress
from typing import TYPE_CHECKING, Final

from uqcli.base.errors import UqcliError
from uqcli.base.operating_system import join
from uqcli.base.wording import listed
from uqcli.jobs.shell import has_option, settled, words_of

if TYPE_CHECKING:
    from uqcli.engines.refusals import FormError

_ROWS: Final = 200_000
"""Rows that are looked at, since a missing value may be rare."""

_TYPED_OTHERWISE: Final = frozenset({"score", "label", "decimal", "positive", "on_invalid"})
"""Options of one value, which a new one replaces."""


def explain_inputs(error: UqcliError, arguments: Sequence[str]) -> None:
    """Add to an error about columns or values how the inputs are written, and the command that reads them."""
    from uqcli.engines.refusals import FormError

    if isinstance(error, FormError) and error.requests:
        with suppress(UqcliError):  # the first error is the one to report
            _explain(error, arguments)


def _explain(error: FormError, arguments: Sequence[str]) -> None:
    from uqcli.base.running.messages import without_messages
    from uqcli.engines.inputs import resolve_inputs
    from uqcli.engines.open import open_engine
    from uqcli.engines.proposals import proposal

    data = error.requests[-1]
    with without_messages():
        if not all(file.regular for file in resolve_inputs(data.inputs, data.read)):
            return  # a stream has been read, and may have no end
        columns = open_engine(data.engine).columns(data, _ROWS)
    found = proposal(columns, data, settled())
    if found.findings:
        error.add_remedy(f"the file has {listed(found.findings)}")
    for role, names in found.others.items():
        error.add_remedy(f"--{role} may also be {' or '.join(map(repr, names))}")
    options = {name: values for name, values in found.options.items() if has_option(name)}
    if options and not _lacks(error, options):
        error.add_remedy(f"read it with: {_line(arguments, options)}")


def _lacks(error: FormError, options: Mapping[str, Sequence[str]]) -> bool:
    """Whether a column is missing for which no option is proposed."""
    from uqcli.engines.columns import MissingColumnError

    return isinstance(error, MissingColumnError) and not error.roles <= set(options)


def _line(arguments: Sequence[str], options: Mapping[str, Sequence[str]]) -> str:
    """Return the command line with options added, or replaced."""
    flags = {f"--{name.replace('_', '-')}" for name in _TYPED_OTHERWISE.intersection(options)}
    kept, words = list[str](), list(arguments)
    while words and words[0] != "--":
        word = words.pop(0)
        if word in flags:
            del words[:1]
        elif word.partition("=")[0] not in flags:
            kept.append(word)
    return join(["uqcli", *kept, *words_of(options), *words])
