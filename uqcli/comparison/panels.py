"""Reliability before and after calibration, of all rows and by leaf or uncertainty level."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from uqcli.base import defaults
from uqcli.base.class_counts import ClassCounts
from uqcli.base.counts import Floats, Ints, ValueCounts, merge
from uqcli.base.rows import Rows
from uqcli.comparison.figure import ReliabilityPanel
from uqcli.estimates.binning import even_edges
from uqcli.estimates.calibration_error import in_bins
from uqcli.estimates.diagram import Reliability, reliability
from uqcli.estimates.paired_classes import PairedClassCounts

_MAX_PANELS = 9


def panels(
    rows: Rows, before: Floats, after: Floats, parts: Sequence[tuple[str, Ints]]
) -> tuple[ReliabilityPanel, ...]:
    """Build one panel for all rows, and one for each of the first non-empty parts, by name and rows."""
    parts = [("All rows", np.arange(len(rows))), *parts]
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


def _reliability(counts: ValueCounts) -> Reliability:
    return reliability(in_bins(counts, even_edges(defaults.SINGLE_SCORE_BINS)))
