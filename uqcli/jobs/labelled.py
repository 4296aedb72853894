"""Labelled rows as the commands that learn or measure read them."""

from __future__ import annotations

from dataclasses import replace

from uqcli.artifacts.models import Source
from uqcli.choices import EngineName, OnInvalid
from uqcli.engines.open import open_engine
from uqcli.engines.protocol import DataRequest, SourceFacts
from uqcli.errors import DataError, UsageError
from uqcli.methods.binning.grid import HoldOut


def read_hold_out(
    data: DataRequest, engine: EngineName, *, looks_at_uncertainty: bool
) -> tuple[HoldOut, Source]:
    """Read every row; the uncertainty column only where it is looked at.

    Raises
    ------
    UsageError, DataError
        Rows are to be kept that cannot be used, or see the engine, or every weight is 0.
    """
    refuse_keep(data.on_invalid)
    needed = data if looks_at_uncertainty else replace(data, roles=data.roles.without("uncertainty"))
    rows = open_engine(engine).labelled_rows(needed)
    hold_out = HoldOut(
        score=rows.score, uncertainty=rows.uncertainty, positive=rows.positive, weight=rows.weight
    )
    refuse_weightless(hold_out)
    return hold_out, _source(rows.facts)


def refuse_keep(on_invalid: OnInvalid) -> None:
    """Refuse to learn from or measure on rows that cannot be used.

    Raises
    ------
    UsageError
        They are to be kept.
    """
    if on_invalid is OnInvalid.KEEP:
        raise UsageError("--on-invalid keep is for apply", expected="error or drop")


def refuse_weightless(rows: HoldOut) -> None:
    """Refuse rows that all weigh nothing.

    Raises
    ------
    DataError
        Every weight is 0.
    """
    if rows.weight is not None and not rows.weight.any():
        raise DataError("every row has weight 0", expected="a positive weight in some row")


def _source(facts: SourceFacts) -> Source:
    return Source(rows=facts.rows, positives=facts.positives, dropped=facts.dropped, columns=facts.columns)
