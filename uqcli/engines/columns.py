"""Which columns a command needs, and finding them by name."""

from __future__ import annotations

import difflib
from collections.abc import Sequence
from typing import Final

from uqcli.engines.request import Roles, listing
from uqcli.errors import DataError


class MissingColumnError(DataError):
    """A column that a command needs is not there; ``role`` says what for."""

    def __init__(self, role: str, found: str, *, expected: str, remedy: str) -> None:
        super().__init__(found, expected=expected, remedy=remedy)
        self.role = role


_WITHOUT: Final = {"uncertainty": ", or what needs none, such as boundary --algorithm st"}


def require_columns(columns: Sequence[str], shown: str, roles: Roles) -> None:
    """Check that every needed column is there, once.

    Parameters
    ----------
    shown
        What messages call the input.

    Raises
    ------
    MissingColumnError, DataError
        A column is missing (with the nearest names), or appears twice.
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
    return MissingColumnError(
        role,
        f"no column '{name}' in {shown}",
        expected=f"one of {listing(columns)}",
        remedy=f"{guess}give --{role.partition('.')[0]} COLUMN{_WITHOUT.get(role, '')}",
    )
