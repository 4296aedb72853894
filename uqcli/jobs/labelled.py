"""Labelled rows as the commands that learn or measure read them."""

from __future__ import annotations

from uqcli.artifacts.saved import Source
from uqcli.choices import OnInvalid
from uqcli.counts import Ints
from uqcli.engines import refusals
from uqcli.engines.open import open_engine
from uqcli.engines.protocol import ReadRows, SourceFacts, Table
from uqcli.engines.request import DataRequest
from uqcli.errors import UsageError

_NORMALISED = 1e-5
"""Class probabilities that add up to 1 within this need no word."""


def open_table(data: DataRequest, *, looks_at_uncertainty: bool) -> Table:
    """Rows to be counted; the uncertainty column only where it is looked at.

    Raises
    ------
    UsageError
        Rows are to be kept that cannot be used.
    """
    refuse_keep(data.on_invalid)
    return open_engine(data.engine).table(data if looks_at_uncertainty else data.without("uncertainty"))


def source_of(facts: SourceFacts) -> Source:
    """What was read, as artifacts keep it."""
    return Source(rows=facts.rows, positives=facts.positives, dropped=facts.dropped, columns=facts.columns)


def read_labelled(data: DataRequest) -> tuple[ReadRows, Source]:
    """Read every row.

    Raises
    ------
    UsageError, DataError
        Rows are to be kept that cannot be used, or see the engine, or every weight is 0.
    """
    refuse_keep(data.on_invalid)
    read = open_engine(data.engine).rows(data)
    refuse_weightless(read.rows.weight)
    return read, source_of(read.facts)


def refuse_keep(on_invalid: OnInvalid) -> None:
    """Refuse to learn from or measure on rows that cannot be used.

    Raises
    ------
    UsageError
        They are to be kept.
    """
    if on_invalid is OnInvalid.KEEP:
        raise UsageError("--on-invalid keep is for apply", expected="error or drop")


def sum_notes(unnormalised: float) -> list[str]:
    """What to know of class probabilities that do not add up to 1.

    Parameters
    ----------
    unnormalised
        The farthest from 1 that those of a row add up to.
    """
    if unnormalised <= _NORMALISED:
        return []
    return [
        f"class probabilities of a row differ from 1 by up to {unnormalised:.1g}; they are used as given."
    ]


def refuse_weightless(weight: Ints | None) -> None:
    """Refuse rows that all weigh nothing.

    Raises
    ------
    DataError
        Every weight is 0.
    """
    if weight is not None and not weight.any():
        raise refusals.no_weight()
