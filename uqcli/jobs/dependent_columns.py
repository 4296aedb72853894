"""Columns whose equal values may mark dependent rows: days, and customers by their usual names."""

from __future__ import annotations

import re
from typing import Final

from uqcli.engines.open import open_engine
from uqcli.engines.request import DataRequest

FIRST_ROWS: Final = 200_000
"""First rows by which the dependence within a column's values is measured."""

_CUSTOMERS: Final = frozenset(
    {
        *("customer", "client", "user", "account", "card", "cardholder", "merchant", "patient", "member"),
        *("subscriber", "household", "borrower", "applicant", "employee", "person", "session", "device"),
        *("visitor", "shop", "store", "seller", "driver", "student", "subject", "company"),
    }
)
"""Words of the usual names of columns whose rows of equal value depend on each other."""

_WORD: Final = re.compile(r"[A-Z]+(?![a-z])|[A-Z]?[a-z]+|[^\W\d_]+")


def dates_and_customers(data: DataRequest) -> tuple[str, ...]:
    """Return columns whose equal values may mark dependent rows: those of dates, then those of customers.

    Columns that the request reads as numbers, label or weight are none. There are none in inputs that can be
    read only once, or on a cluster.

    Parameters
    ----------
    data
        Request with the roles of the columns.
    """
    keys = open_engine(data.engine).keys(data)
    customers = [name for name in keys.others if _CUSTOMERS.intersection(_words(name))]
    return _unused((*keys.dates, *customers), data)


def column_of_dates(data: DataRequest) -> str | None:
    """Return the first column of dates that the request does not read (see ``dates_and_customers``)."""
    return next(iter(_unused(open_engine(data.engine).keys(data).dates, data)), None)


def _unused(columns: tuple[str, ...], data: DataRequest) -> tuple[str, ...]:
    roles = data.roles
    used = {*roles.all_numbers().values(), roles.label, roles.weight}
    if data.joined is not None:
        used.add(data.joined.on)
    return tuple(name for name in columns if name not in used)


def _words(name: str) -> set[str]:
    """Return the words of a name in lower case, without the ending of their plural.

    Examples
    --------
    >>> sorted(_words("customerID_2")), sorted(_words("discard"))
    (['customer', 'id'], ['discard'])
    """
    words = {word.casefold() for word in _WORD.findall(name)}
    return words | {word.removesuffix("s") for word in words}
