"""Memory that a job needs in proportion to its rows, said before it is taken."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Final

import numpy as np

from uqcli.engines.open import open_engine
from uqcli.engines.protocol import Expected
from uqcli.engines.request import DataRequest
from uqcli.errors import DataError
from uqcli.running.memory import available_bytes

_PROGRAM: Final = 300 << 20
"""Bytes that any job takes: the program, its libraries, the rows that are being read."""

_GIB: Final = 1 << 30


@dataclass(frozen=True, kw_only=True)
class Need:
    """What a job keeps of its rows.

    Attributes
    ----------
    what
        As messages call it.
    bytes_per_row
        As measured on rows that all differ.
    instead
        What would work on any number of rows.
    bytes_per_class
        The same for each class of a row.
    pooled
        Whether rows of equal scores are kept as one.
    """

    what: str
    bytes_per_row: int
    instead: str
    bytes_per_class: int = 0
    pooled: bool = False


EVERY_SCORE: Final = Need(
    what="a bin for every score",
    bytes_per_row=120,
    instead="take --score-bins 500 (the default)",
    pooled=True,
)
RANKED: Final = Need(
    what="every row with its rank",
    bytes_per_row=200,
    instead="draw some millions of rows, or leave out --certify",
)
ISOTONIC_PAIRS: Final = Need(
    what="every row of the isotonic maps",
    bytes_per_row=230,
    instead="take --method isotonic or histogram, or draw some millions of rows",
)
TREES: Final = Need(
    what="the features of every row",
    bytes_per_row=500,
    instead="name the groups with --partition, or draw some millions of rows",
)
CLASS_ROWS: Final = Need(
    what="the class probabilities of every row",
    bytes_per_row=30,
    bytes_per_class=30,
    instead="draw some millions of rows",
)
LIKELIHOOD: Final = Need(
    what="the likelihood of every row",
    bytes_per_row=60,
    bytes_per_class=60,
    instead="take --estimator bbse, or draw some millions of rows",
)


def require_memory(data: DataRequest, need: Need) -> None:
    """Refuse a job that the machine cannot hold, instead of being killed in the middle.

    Raises
    ------
    DataError
        The rows that the inputs seem to hold need more memory than there is.
    """
    rows = data.without("uncertainty")  # which is not looked at here, and may be several or none
    free, expected = available_bytes(), open_engine(data.engine).expected(rows)
    if free is None or expected is None or needed_bytes(expected, need) <= free:
        return
    if need.pooled:
        expected = replace(expected, rows=min(expected.rows, _distinct_expected(rows)))
    needed = needed_bytes(expected, need)
    if needed <= free:
        return
    raise DataError(
        f"about {expected.rows:,} rows: {need.what} takes about {needed / _GIB:.2g} GiB, and "
        f"{max(free, 0) / _GIB:.2g} GiB of memory are free",
        expected="fewer rows, or more memory",
        remedy=need.instead,
    )


def needed_bytes(expected: Expected, need: Need) -> int:
    """The estimate: within half as much again of what was measured."""
    of_row = need.bytes_per_row + need.bytes_per_class * expected.classes
    return _PROGRAM + expected.rows * of_row


def _distinct_expected(data: DataRequest) -> int:
    """How many different scores there may be, told by how often those of the first rows meet.

    Of n draws from d equally frequent values, n * n / (2 d) meet another one; where some are more frequent
    there are more meetings, and more values than this tells.
    """
    first = next(iter(open_engine(data.engine).batches(data)), None)
    if first is None:
        return 0
    scores = first.numbers["score"]
    meetings = len(scores) - len(np.unique(scores))
    return len(scores) ** 2 // (2 * meetings) if meetings else (2**53)
