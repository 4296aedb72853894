"""Which columns a command needs, and finding them by name."""

from __future__ import annotations

import difflib

from uqcli.engines.local.read.source import OpenedInput
from uqcli.engines.request import Roles, listing
from uqcli.errors import DataError


def require_columns(source: OpenedInput, roles: Roles) -> None:
    """Check that every needed column is there, once.

    Raises
    ------
    DataError
        A column is missing (with the nearest names) or appears twice.
    """
    for role, name in roles.named().items():
        times = source.columns.count(name)
        if times == 0:
            raise _missing(source, role, name)
        if times > 1:
            raise DataError(
                f"column '{name}' appears {times} times in {source.origin.shown}", expected="unique names"
            )


def _missing(source: OpenedInput, role: str, name: str) -> DataError:
    folded = {column.casefold(): column for column in source.columns}
    near = difflib.get_close_matches(name.casefold(), folded, n=3)
    names = [folded[each] for each in near]
    guess = f"did you mean {' or '.join(map(repr, names))}? " if names else ""
    return DataError(
        f"no column '{name}' in {source.origin.shown}",
        expected=f"one of {listing(source.columns)}",
        remedy=f"{guess}give --{role.partition('.')[0]} COLUMN",
    )
