"""The columns that are named in the place of saved models' own, and how those that they add are named."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass

from uqcli.engines.request import ClassColumns
from uqcli.errors import UsageError


@dataclass(frozen=True, kw_only=True)
class ColumnOverrides:
    """Columns named on the command line; None means the artifact's.

    Attributes
    ----------
    weighted
        Whether a weight column is read at all.
    proba
        Columns of class probabilities.
    insisted
        Names of the options that must find use: a column that the artifacts do not read is then refused.
    """

    score: str | None = None
    uncertainty: str | None = None
    label: str | None = None
    weight: str | None = None
    weighted: bool = True
    proba: ClassColumns | None = None
    insisted: frozenset[str] = frozenset()

    def refuse(self, names: Iterable[str], why: str) -> None:
        """Refuse what must find use and finds none.

        Raises
        ------
        UsageError
            One of the names is insisted on.
        """
        for name in names:
            if name in self.insisted:
                raise UsageError(f"--{name.replace('_', '-')} {why}", expected="options that it can use")


@dataclass(frozen=True, kw_only=True)
class NewColumns:
    """How added columns are named and formed.

    Attributes
    ----------
    prefix
        Put before their names.
    lists
        Whether a column may hold lists, as in Parquet.
    no_empty
        Whether empty sets get the likeliest class.
    """

    prefix: str = ""
    lists: bool = True
    no_empty: bool = False
