"""Units that a certificate tests, and that are split into a pilot and the rest: rows, or whole clusters."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from types import MappingProxyType
from typing import Any

import numpy as np

from uqcli.base.counts import Bools, Cells, Floats, Ints, distinct_numbers
from uqcli.base.draws import Purpose, hashes
from uqcli.base.rows import Rows
from uqcli.bin.grid import cell_of
from uqcli.boundary.certificate import PILOT_PARTS, Certifier
from uqcli.boundary.certificate_rows import refuse_common_clusters
from uqcli.boundary.clusters import RowsByCluster, counts_by_cluster, saved_dependence
from uqcli.boundary.drawn_rows import copies, drawn_rows, split_by_hash
from uqcli.boundary.options import Target
from uqcli.boundary.reference import MAX_ROWS_BETWEEN, SavedReference, between_rows
from uqcli.boundary.search.thresholds import FittedBoundary
from uqcli.engines.protocol import CountTable
from uqcli.engines.request import Roles
from uqcli.kernels.units import dense_ranks
from uqcli.rules.saved import SavedDependence, Source


class SingleRows:
    """Rows are independent.

    ``has_pilot`` says that older rows choose the boundaries, so that all of these test them.
    """

    name = "rows"
    columns: Mapping[str, Any] = MappingProxyType({})
    """Fields of the certificate that name the column of the units."""

    def __init__(self, target: Target, seed: int, *, has_pilot: bool) -> None:
        self.target, self.seed, self.has_pilot = target, seed, has_pilot

    def read(self, table: CountTable) -> Rows:
        """Return the pooled rows of a table."""
        return table.rows().pooled()

    def refuse_common(self, pilot: Rows, test: Rows) -> None:
        """Refuse units that have rows in the pilot and among the rows that test."""

    def split(self, rows: Rows) -> tuple[Rows, Rows]:
        """Split the rows into a pilot of a fifth, and the rest."""
        pilot, rest = split_by_hash(rows, self.seed, [rows.size // PILOT_PARTS])
        return rows.reweighted(pilot), rows.reweighted(rest)

    def folds(self, pilot: Rows, cells: Cells) -> tuple[Ints, Ints] | None:  # noqa: ARG002
        """Count the rows of each fold of whole units; None if single rows are drawn into folds."""
        return None

    def drawn(self, certifier: Certifier, pilot: Rows, test: Rows) -> Certifier:  # noqa: ARG002
        """Let units test."""
        return certifier

    def dependence(self, boundary: FittedBoundary, rows: Rows) -> SavedDependence | None:  # noqa: ARG002
        """Sum up how the rates of a boundary depend on the units."""
        return None

    def between(
        self,
        reference: SavedReference,
        edges: Floats,  # noqa: ARG002
        rows: Rows,  # noqa: ARG002
        source: Source,  # noqa: ARG002
    ) -> SavedReference:
        """Add how much the units differ to what is counted of the rows in bins of uncertainty edges."""
        return reference


class WholeClusters(SingleRows):
    """Rows depend on each other within clusters, of each of which one flagged row is drawn."""

    def __init__(self, target: Target, seed: int, roles: Roles, cluster: str, *, has_pilot: bool) -> None:
        super().__init__(target, seed, has_pilot=has_pilot)
        self.name = f"{roles.dependence}s"
        self.columns = {"cluster": cluster, **({"days": True} if roles.days else {})}
        self._cluster = cluster

    def read(self, table: CountTable) -> Rows:
        """Return the pooled rows of a table, with the key of each cluster's text."""
        rows = table.rows()
        key = table.clusters(self._cluster)[rows.groups[self._cluster]]
        return replace(rows, groups={self._cluster: key}).pooled()

    def refuse_common(self, pilot: Rows, test: Rows) -> None:
        """Refuse clusters that have rows in the pilot and among the rows that test."""
        refuse_common_clusters(pilot, test, self._cluster)

    def split(self, rows: Rows) -> tuple[Rows, Rows]:
        """Split the clusters into a pilot of a fifth, and the rest."""
        keys, index = dense_ranks(rows.groups[self._cluster])
        order = np.lexsort((keys, hashes([keys], self.seed, Purpose.SPLIT)))
        in_pilot: Bools = np.zeros(len(keys), dtype=np.bool_)
        in_pilot[order[: len(keys) // PILOT_PARTS]] = True
        pilot, rest = (np.where(mask[index], rows.weights(), 0) for mask in (in_pilot, ~in_pilot))
        return rows.reweighted(pilot), rows.reweighted(rest)

    def folds(self, pilot: Rows, cells: Cells) -> tuple[Ints, Ints]:
        """Count the rows of each fold of whole clusters."""
        uncertainty = np.zeros(len(pilot)) if pilot.uncertainty is None else pilot.uncertainty
        clusters = RowsByCluster.from_rows(
            pilot.groups[self._cluster], pilot.score, uncertainty, pilot.labels, pilot.weights()
        )
        return clusters.counts(cells, self.seed, Purpose.SPLIT)

    def drawn(self, certifier: Certifier, pilot: Rows, test: Rows) -> Certifier:
        """Draw one flagged row of each cluster of the test, at each boundary of the pilot."""
        cells, order = certifier.pilot, certifier.nested.order
        position = np.empty(len(order), dtype=np.int64)
        position[order] = np.arange(len(order))
        index, keys = copies(test, self.seed)
        tested = drawn_rows(
            position[cell_of(test, cells)][index],
            test.groups[self._cluster][index],
            keys,
            test.labels[index],
            boundaries=len(order),
        )
        of_pilot = 0 if self.has_pilot else len(distinct_numbers(pilot.groups[self._cluster]))
        return replace(certifier, tested=tested, size=int(tested.rows[0]) + of_pilot)

    def dependence(self, boundary: FittedBoundary, rows: Rows) -> SavedDependence | None:
        """Sum up how the rates of a boundary depend on the clusters."""
        counts = counts_by_cluster(boundary, rows, self._index(rows))
        return saved_dependence(self.target, self._cluster, counts)

    def between(self, reference: SavedReference, edges: Floats, rows: Rows, source: Source) -> SavedReference:
        """Add to what is counted of the rows how much the clusters differ, unless there are many rows."""
        if source.dropped or source.rows > MAX_ROWS_BETWEEN:
            return reference
        return between_rows(reference, edges, [(self._index(rows), rows)])

    def _index(self, rows: Rows) -> Ints:
        _, index = dense_ranks(rows.groups[self._cluster])
        return index


def units_of(target: Target, roles: Roles, seed: int, *, has_pilot: bool) -> SingleRows:
    """Return what a certificate tests, of rows with these columns."""
    if roles.cluster is None:
        return SingleRows(target, seed, has_pilot=has_pilot)
    return WholeClusters(target, seed, roles, roles.cluster, has_pilot=has_pilot)
