"""Write the trade-off curve that a boundary lies on as a table."""

from __future__ import annotations

import polars as pl

from uqcli.choices import Algorithm
from uqcli.engines.open import write_frames
from uqcli.engines.protocol import Destination
from uqcli.errors import UsageError
from uqcli.jobs.boundary.calibration_set import CalibrationSet
from uqcli.methods.boundary.registry import WorksOn, entry_of
from uqcli.methods.boundary.trade_off import trade_off
from uqcli.reports.boundary.trade_off import TradeOff, trade_off_columns


def written_frontier(calibration_set: CalibrationSet, algorithm: Algorithm, output: Destination) -> TradeOff:
    """Compute the trade-off curve and write it.

    Raises
    ------
    UsageError
        The boundary's algorithm uses no grid.
    DataError
        The output cannot be written.
    """
    if entry_of(algorithm).works_on is not WorksOn.GRID:
        raise UsageError(
            "--frontier without a grid", expected="--algorithm vw-dpmt, smooth or another that works on one"
        )
    cells = calibration_set.cells(algorithm)
    frontier = trade_off(cells, calibration_set.every_score)
    bins = len(cells.rows)
    kinds = {"algorithm": pl.String, "selected": pl.Int64, "true_positives": pl.Int64}
    table = trade_off_columns(frontier, bins)
    frame = pl.DataFrame(table, schema={name: kinds.get(name, pl.Float64) for name in table})
    write_frames([frame], frame.clear(), output)
    return frontier
