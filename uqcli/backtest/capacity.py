"""The first rows of each group, which need no rule: flagged as ``apply --top --per`` flags them."""

from __future__ import annotations

import numpy as np

from uqcli.backtest.history import DatedRows, History
from uqcli.backtest.windows import Flags
from uqcli.base.counts import Floats, Ints
from uqcli.boundary.search.thresholds import Cuts, FirstRows
from uqcli.kernels.units import dense_ranks


def flags_first(history: History, top: int, per: str | None) -> tuple[Flags, Cuts]:
    """Return which rows are the first of each day, or there of each value of a column, and the cuts.

    Rows with a label or not are ranked by their scores; equal ones in the order of the inputs.
    """
    names = () if per is None else history.every.names[per]
    number = {name: index for index, name in enumerate(names)}
    first = FirstRows(top)
    every = history.every

    def pairs(dated: DatedRows) -> Ints:
        """Return a number of the day and value of each row."""
        if per is None:
            return dated.day
        own = np.array([number[name] for name in dated.names[per]], dtype=np.int64)
        return dated.day * len(names) + own[dated.rows.groups[per]]

    present, _ = dense_ranks(pairs(every))  # few of the pairs, where the values are many

    def ranked(dated: DatedRows) -> tuple[Ints, Ints, Floats, Ints | None]:
        rows = dated.rows
        group = np.searchsorted(present, pairs(dated))
        return group, np.zeros(len(rows), dtype=np.int64), rows.score, rows.position

    first.add(*ranked(every), every.rows.weights())
    cuts = first.cuts(len(present))

    return (lambda dated: cuts.takes(*ranked(dated))), cuts
