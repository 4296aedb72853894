"""Whether each of some uncertainty columns pays, on the rows of a request."""

from __future__ import annotations

import numpy as np

from uqcli.choices import Binning
from uqcli.counts import run_starts
from uqcli.defaults import FOLDS
from uqcli.draws import check_seed, hashes
from uqcli.errors import UsageError
from uqcli.jobs.boundary.keyed import copies
from uqcli.jobs.boundary.request import BoundaryRequest
from uqcli.jobs.labelled import open_table
from uqcli.methods.bin.grid import GridSpec, uncertainty_edges_of
from uqcli.methods.boundary.constraint import Constraint
from uqcli.methods.boundary.ranking.placebo import LEVELS, PLACEBOS, Gain, OrderedRows, gain_of
from uqcli.methods.multiple import holm
from uqcli.reports.boundary.compared import Compared
from uqcli.rows import Rows

_LEVELS = GridSpec(binning=Binning.EQUI_WEIGHT, uncertainty_bins=LEVELS, score_bins=None)


def compared(request: BoundaryRequest, constraint: Constraint) -> tuple[Compared, ...]:
    """What each uncertainty of a request gains, the best first.

    Raises
    ------
    UsageError, DataError
        There are no rows, or they cannot be read.
    """
    if request.saved_grid is not None:
        raise UsageError("--compare beside --grid", expected="the rows themselves")
    check_seed(request.seed)
    names = request.compare
    gains = {name: _gain(request.looking_at(name), constraint, len(names)) for name in names}
    return ranked(gains)


def ranked(gains: dict[str, Gain | None]) -> tuple[Compared, ...]:
    """With p-values that hold for all columns together; first what gains most beyond its placebos."""
    tested = {name: found for name, found in gains.items() if found is not None}
    higher = holm({name: found.p_value for name, found in tested.items()})
    lower = holm({name: found.p_hurts for name, found in tested.items()})
    every = [
        Compared(uncertainty=name, gain=found, p_value=higher.get(name), p_hurts=lower.get(name))
        for name, found in gains.items()
    ]
    return tuple(sorted(every, key=lambda each: -each.beyond))


def _gain(request: BoundaryRequest, constraint: Constraint, columns: int) -> Gain | None:
    rows = open_table(request.data, looks_at_uncertainty=True).rows().pooled()
    ordered, table = ordered_rows(rows, request.seed)
    return gain_of(ordered, constraint, (request.seed, table), PLACEBOS * columns - 1)


def ordered_rows(rows: Rows, seed: int) -> tuple[OrderedRows, int]:
    """Single rows of pooled ones as the test wants them, and a number that depends on all of them."""
    assert rows.uncertainty is not None  # it was asked for
    single = copies(rows, seed)
    fold = single.parts([number * len(single.of) // FOLDS for number in range(1, FOLDS)])
    order = np.lexsort((hashes([single.drawn], 1), rows.score[single.of]))
    score = rows.score[single.of][order]
    starts = run_starts(score)
    level = np.searchsorted(uncertainty_edges_of(rows, _LEVELS), rows.uncertainty, side="right")
    return OrderedRows(
        first=np.repeat(starts, np.diff(starts, append=len(score))),
        positive=rows.labels[single.of][order],
        fold=fold[order],
        level=np.unique(level, return_inverse=True)[1][single.of][order],
    ), single.table
