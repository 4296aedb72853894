"""Columns whose equal values may mark dependent rows: days, and customers by their usual names."""

from __future__ import annotations

import math
import re
from collections.abc import Callable
from typing import Final

import numpy as np

from uqcli.base.counts import Ints
from uqcli.base.errors import DataError
from uqcli.base.notices import Notice
from uqcli.base.operating_system import quote
from uqcli.base.records import dataclass
from uqcli.boundary.rule import BoundaryArtifact
from uqcli.boundary.rule_file import ZONES
from uqcli.engines.open import open_engine
from uqcli.engines.protocol import Keys
from uqcli.engines.request import DataRequest, dependence
from uqcli.estimates.dependence import UnitSums, unit_sums
from uqcli.estimates.survey import MIN_CLUSTERS

_FIRST_ROWS: Final = 200_000
"""First rows by which the dependence within a column's values is measured."""

_MAX_COLUMNS: Final = 12

_LARGE: Final = 2.0
"""Design effect from which ranges of independent rows are too narrow by 40 %."""

_ERRORS: Final = 4.0
"""Standard errors by which a design effect exceeds 1 by chance once in a thousand columns, or less."""

_CUSTOMERS: Final = frozenset(
    {
        *("customer", "client", "user", "account", "card", "cardholder", "merchant", "patient", "member"),
        *("subscriber", "household", "borrower", "applicant", "employee", "person", "session", "device"),
        *("visitor", "shop", "store", "seller", "driver", "student", "subject", "company"),
    }
)
"""Words of the usual names of columns whose rows of equal value depend on each other."""

_WORD: Final = re.compile(r"[A-Z]+(?![a-z])|[A-Z]?[a-z]+|[^\W\d_]+")


def dependent_columns(data: DataRequest) -> Keys:
    """Return columns whose equal values may mark dependent rows: those of dates, and those of customers.

    Columns that the request reads as numbers, label, weight or key are left out. Inputs that can be read only
    once, or are on a cluster, have none.
    """
    roles, keys = data.roles, open_engine(data.engine).keys(data)
    used = {*roles.all_numbers().values(), roles.label, roles.weight, *roles.keys}
    used |= {feature.name for feature in roles.features}
    if data.joined is not None:
        used.add(data.joined.on)
    return Keys(
        dates=tuple(name for name in keys.dates if name not in used),
        others=tuple(
            name for name in keys.others if name not in used and _CUSTOMERS.intersection(_words(name))
        ),
    )


@dataclass(frozen=True, kw_only=True)
class AlikeRows:
    """Flagged rows that are taken as independent, though those of one day or customer are alike.

    ``effect`` is the design effect within equal values of ``column``, which are days or customers.
    ``takes_option`` says whether the run could take them together.
    """

    column: str
    days: bool
    effect: float
    takes_option: bool

    @property
    def option(self) -> str:
        """The option that takes them together; empty if it cannot be added."""
        return f"--{dependence(days=self.days)} {quote(self.column)}" if self.takes_option else ""

    @property
    def caution(self) -> Notice:
        """State how far ranges of independent rows are from right, and what to add."""
        remedy = f" Add {self.option}." if self.option else ""
        narrow = f"so the ranges are {math.sqrt(self.effect):.2g} times too narrow"
        return Notice("dependent-rows", f"{self.finding}, {narrow}.{remedy}")

    @property
    def unit(self) -> str:
        """What equal values of the column are."""
        return "day" if self.days else self.column

    @property
    def finding(self) -> str:
        """State which rows are alike."""
        return f"flagged rows from the same {self.unit} are alike"


def alike_rows(
    data: DataRequest, rule: BoundaryArtifact, takes_option: Callable[[str], bool]
) -> AlikeRows | None:
    """Find, by the first rows, whether flagged rows of one day or customer are alike; None if they are not.

    The request has the columns of the rule and the label. ``takes_option`` says whether the option that names
    a column can be added to those of the run.
    """
    keys = dependent_columns(data)
    columns = (*keys.dates, *keys.others)[:_MAX_COLUMNS]
    if not columns:
        return None
    chosen = Keys(
        dates=tuple(name for name in columns if name in keys.dates),
        others=tuple(name for name in columns if name in keys.others),
    )
    try:
        rows = open_engine(data.engine).first_rows(data, _FIRST_ROWS, chosen)
    except DataError:  # in a column that nobody named, since the others have been read
        return None
    flagged, weight = rule.zones(rows) == ZONES.index("flag"), rows.weights()
    trials = weight * flagged
    effects = {
        name: _excessive_effect(_sums(rows.groups[name], trials * rows.labels, trials)) for name in columns
    }
    column = max(columns, key=lambda name: effects[name])  # the first of equal ones
    if not effects[column]:
        return None
    return AlikeRows(
        column=column, days=column in keys.dates, effect=effects[column], takes_option=takes_option(column)
    )


def _words(name: str) -> set[str]:
    """Return the words of a name in lower case, also without the ending of their plural.

    Examples
    --------
    >>> sorted(_words("customerID_2")), sorted(_words("discard"))
    (['customer', 'id'], ['discard'])
    """
    words = {word.casefold() for word in _WORD.findall(name)}
    return words | {word.removesuffix("s") for word in words}


def _sums(group: Ints, successes: Ints, trials: Ints) -> UnitSums:
    """Add up the groups that have trials; group -1 is left out."""
    known = group >= 0
    k, n = (
        np.bincount(group[known], weights=column[known]).astype(np.int64) for column in (successes, trials)
    )
    return unit_sums(k, n)


def _excessive_effect(sums: UnitSums) -> float:
    """Return the design effect if it is large, and not by chance; else 0."""
    if sums.units < MIN_CLUSTERS:
        return 0.0
    effect = min(sums.q / sums.n, sums.n2 / sums.n)
    error = math.sqrt(2 * sums.n2) / sums.n
    return effect if effect > max(_LARGE, 1 + _ERRORS * error) else 0.0
