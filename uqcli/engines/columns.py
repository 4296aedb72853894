"""Which columns a command needs, and finding them by name."""

from __future__ import annotations

import difflib
from collections.abc import Sequence

from uqcli.engines.request import Roles, listing
from uqcli.errors import DataError


def require_columns(columns: Sequence[str], shown: str, roles: Roles) -> None:
    """Check that every needed column is there, once.

    Parameters
    ----------
    shown
        What messages call the input.

    Raises
    ------
    DataError
        A column is missing (with the nearest names) or appears twice.
    """
    for role, name in roles.named().items():
        times = columns.count(name)
        if times == 0:
            raise _missing(columns, shown, role, name)
        if times > 1:
            raise DataError(f"column '{name}' appears {times} times in {shown}", expected="unique names")


def _missing(columns: Sequence[str], shown: str, role: str, name: str) -> DataError:
    folded = {column.casefold(): column for column in columns}
    near = difflib.get_close_matches(name.casefold(), folded, n=3)
    names = [folded[each] for each in near]
    guess = f"did you mean {' or '.join(map(repr, names))}? " if names else ""
    return DataError(
        f"no column '{name}' in {shown}",
        expected=f"one of {listing(columns)}",
        remedy=f"{guess}give --{role.partition('.')[0]} COLUMN",
    )
