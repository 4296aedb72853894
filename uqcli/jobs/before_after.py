"""Reliability before and after calibration, of all rows and by leaf or uncertainty level."""

from __future__ import annotations

import numpy as np

from uqcli import defaults
from uqcli.class_counts import ClassCounts
from uqcli.counts import Floats, Ints, ValueCounts, merge
from uqcli.methods.bin.edges import even_edges
from uqcli.methods.calibrate.maps import CalibrationMap
from uqcli.methods.evaluate.paired_classes import PairedClassCounts
from uqcli.methods.tce.calibration_error import in_bins
from uqcli.methods.tce.diagram import Reliability, reliability
from uqcli.reports.before_after import ReliabilityPanel
from uqcli.rows import Rows

_MAX_PANELS = 9


def panels(
    rows: Rows, before: Floats, after: Floats, map_: CalibrationMap, leaf: Ints | None
) -> tuple[ReliabilityPanel, ...]:
    """Build one panel for all rows, and one for each of the first non-empty parts of the map.

    Parameters
    ----------
    before, after : float64, shape (n,)
        Probabilities.
    leaf : int64, shape (n,), or None
        Leaf of each row, if the map has one partition.
    """
    parts = [("All rows", np.arange(len(rows))), *_parts(map_, rows.uncertainty, leaf)]
    nonempty = [
        (name, indices)
        for name, indices in parts
        if (len(indices) if rows.weight is None else rows.weight[indices].any())
    ]
    return tuple(
        ReliabilityPanel(
            title=name,
            before=_reliability(rows.counts(before, indices)),
            after=_reliability(rows.counts(after, indices)),
        )
        for name, indices in nonempty[:_MAX_PANELS]
    )


def panel_of_classes(paired_counts: PairedClassCounts) -> ReliabilityPanel:
    """Build one panel for all classes, each one-vs-rest."""
    before, after = (_reliability(_of_all_classes(side)) for side in paired_counts.sides)
    return ReliabilityPanel(title="Each class against the rest", before=before, after=after)


def _of_all_classes(counts: ClassCounts) -> ValueCounts:
    labels = counts.observed_labels()
    return merge([counts.one_vs_rest(class_index, labels) for class_index in range(labels.shape[1])])


def _parts(map_: CalibrationMap, uncertainty: Floats | None, leaf: Ints | None) -> list[tuple[str, Ints]]:
    """Return the parts of the map with their row indices."""
    parts = map_.parts(uncertainty, leaf)
    if parts is None:
        return []
    return [(name, np.flatnonzero(parts.index == index)) for index, name in enumerate(parts.names)]


def _reliability(counts: ValueCounts) -> Reliability:
    return reliability(in_bins(counts, even_edges(defaults.SINGLE_SCORE_BINS)))
