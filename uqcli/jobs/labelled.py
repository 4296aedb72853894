"""Labelled rows as the commands that learn or measure read them."""

from __future__ import annotations

from dataclasses import replace

from uqcli.artifacts.models import Source
from uqcli.choices import EngineName, OnInvalid
from uqcli.counts import Floats, Ints
from uqcli.engines.open import open_engine
from uqcli.engines.protocol import LabelledRows, SourceFacts, Table
from uqcli.engines.request import DataRequest
from uqcli.errors import DataError, UsageError

_NORMALISED = 1e-5
"""Class probabilities that add up to 1 within this need no word."""


def open_table(data: DataRequest, engine: EngineName, *, looks_at_uncertainty: bool) -> Table:
    """Rows to be counted; the uncertainty column only where it is looked at.

    Raises
    ------
    UsageError
        Rows are to be kept that cannot be used.
    """
    refuse_keep(data.on_invalid)
    needed = data if looks_at_uncertainty else replace(data, roles=data.roles.without("uncertainty"))
    return open_engine(engine).table(needed)


def source_of(facts: SourceFacts) -> Source:
    """What was read, as artifacts keep it."""
    return Source(rows=facts.rows, positives=facts.positives, dropped=facts.dropped, columns=facts.columns)


def read_labelled(data: DataRequest, engine: EngineName) -> tuple[LabelledRows, Source]:
    """Read every row.

    Raises
    ------
    UsageError, DataError
        Rows are to be kept that cannot be used, or see the engine, or every weight is 0.
    """
    refuse_keep(data.on_invalid)
    rows = open_engine(engine).rows(data)
    refuse_weightless(rows.weight)
    return rows, source_of(rows.facts)


def refuse_keep(on_invalid: OnInvalid) -> None:
    """Refuse to learn from or measure on rows that cannot be used.

    Raises
    ------
    UsageError
        They are to be kept.
    """
    if on_invalid is OnInvalid.KEEP:
        raise UsageError("--on-invalid keep is for apply", expected="error or drop")


def require_probabilities(score: Floats, column: str, remedy: str = "calibrate the scores first") -> None:
    """Refuse scores that are no probabilities.

    Raises
    ------
    DataError
        A score below 0 or above 1.
    """
    low, high = float(score.min()), float(score.max())
    if low < 0 or high > 1:
        raise DataError(
            f"column '{column}' holds scores from {low:g} to {high:g}",
            expected="probabilities between 0 and 1",
            remedy=remedy,
        )


def sum_notes(unnormalised: float) -> list[str]:
    """What to know of class probabilities that do not add up to 1.

    Parameters
    ----------
    unnormalised
        The farthest from 1 that those of a row add up to.
    """
    if unnormalised <= _NORMALISED:
        return []
    return [f"Class probabilities add up to 1 only within {unnormalised:.1g}; they are used as given."]


def refuse_weightless(weight: Ints | None) -> None:
    """Refuse rows that all weigh nothing.

    Raises
    ------
    DataError
        Every weight is 0.
    """
    if weight is not None and not weight.any():
        raise DataError("every row has weight 0", expected="a positive weight in some row")
