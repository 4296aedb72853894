"""Probabilities of all rows, by which few labelled ones show more."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Final, TypeAlias

import numpy as np

from uqcli.base.counts import Floats, Ints, Matrix
from uqcli.base.rows import Rows
from uqcli.base.sampling_weights import UNITS
from uqcli.boundary.rule import BoundaryArtifact, groups_of
from uqcli.calibrate.rule import CalibratorArtifact
from uqcli.engines.open import open_engine
from uqcli.engines.probabilities import require_probabilities
from uqcli.engines.request import DataRequest
from uqcli.estimates.design import Chooses
from uqcli.estimates.model_assisted import Clusters, ModelAssisted
from uqcli.estimates.survey import SAMPLING_WEIGHT
from uqcli.evaluate.decisions import Table, Units, decisions_of
from uqcli.evaluate.labelled_part import LabelledPart, no_such_row
from uqcli.rules.columns import NewColumns

Levels: TypeAlias = Mapping[str, Mapping[str, int]]
"""Number of each text, for each key column."""

_STEPS: Final = 1 << 30
"""Steps of probabilities, so that their sums are exact in any order."""


class AssistedRows:
    """Labelled rows and all rows, with their probabilities.

    They are those of a calibrator, or the scores without one. The decisions of a rule are counted, by groups,
    and by clusters of rows that depend on each other. Every labelled row must be of a cluster that is among
    all rows, else a DataError says so. ``part`` has the labelled rows in cells; None if they have sampling
    weights.
    """

    def __init__(
        self,
        data: DataRequest,
        every: DataRequest,
        rule: BoundaryArtifact,
        calibrator: CalibratorArtifact | None,
        *,
        units: Units,
        part: LabelledPart | None,
    ) -> None:
        self._rule, self._by, self._cluster = rule, units.by, units.cluster
        rates, units = _rates(every, calibrator), Units(units.by, units.cluster)  # numbered by all rows
        self._sums, self._counts = Table(object), Table()
        batches = open_engine(every.engine).batches(every)
        for rows in batches:
            unit, zone = units.of(rows), rule.zones(rows)
            steps = np.rint(rates(rows) * _STEPS).astype(np.int64).astype(object)
            self._sums.add(unit, zone, steps if rows.weight is None else steps * rows.weight)
            self._counts.add(unit, zone, rows.weight)
        self._levels = self._levels_of(batches.levels)
        self._units = units.group_and_cluster(len(self._counts.sums))
        parts = []
        labelled = open_engine(data.engine).batches(data)
        for rows in labelled:
            zone = rule.zones(rows)
            weight = rows.numbers[SAMPLING_WEIGHT] if part is None else part.weights(zone, rows.score) / UNITS
            steps = np.rint(rates(rows) * _STEPS) / _STEPS
            parts.append(
                (self._group(rows), self._cluster_of(rows), zone, rows.labels, steps, weight, rows.weights())
            )
        self._labelled_levels = self._levels_of(labelled.levels)
        self._columns = [np.concatenate(column) for column in zip(*parts, strict=True)]
        if self._cluster is not None:
            self._columns[1] = self._numbered(self._columns[1], labelled.levels, batches.levels)

    @property
    def rows(self) -> int:
        """Number of all rows, by weight."""
        return int(self._counts.sums.sum())

    def chosen(self, chooses: Chooses, confidence: float, group: str | None = None) -> ModelAssisted:
        """Return the rows of a group, or all, divided by whether the rule chooses them."""
        zones = range(self._counts.sums.shape[1])
        takes = np.array([chooses(decisions_of(zone, 1)) for zone in zones], dtype=np.bool_)
        of_group, of_cluster, zone, *columns = self._columns
        inside, (groups, cluster) = of_group >= 0, self._units
        counts, sums = (table.sums[: len(groups)] for table in (self._counts, self._sums))
        if group is not None:
            mine = groups == self._levels.get(group, -1)
            counts, sums, cluster = counts[mine], sums[mine], cluster[mine]
            inside = of_group == self._labelled_levels[group]
        label, probability, weight, count = (column[inside] for column in columns)
        known = np.append(takes, [False] * (1 + int(zone.max(initial=0))))
        return ModelAssisted(
            chosen=known[zone[inside]],
            label=label,
            probability=probability,
            weight=weight,
            count=count,
            expected=(_total(sums, takes) / _STEPS, _total(sums, ~takes) / _STEPS),
            rows=(_total(counts, takes), _total(counts, ~takes)),
            confidence=confidence,
            clusters=None
            if self._cluster is None
            else _clusters(cluster, of_cluster[inside], sums, counts, takes),
        )

    def _cluster_of(self, rows: Rows) -> Ints:
        return np.zeros(len(rows), dtype=np.int64) if self._cluster is None else rows.groups[self._cluster]

    def _numbered(self, cluster: Ints, own: Levels, every: Levels) -> Ints:
        """Return the numbers that clusters have among all rows, -1 for others; shape (n,)."""
        assert self._cluster is not None
        numbers, names = every[self._cluster], own[self._cluster]
        known = np.full(len(names), -1, dtype=np.int64)
        for name, number in names.items():
            known[number] = numbers.get(name, -1)
        result: Ints = known[cluster]
        return result

    def _group(self, rows: Rows) -> np.ndarray:
        return np.zeros(len(rows), dtype=np.int64) if self._by is None else groups_of(rows, self._by)

    def _levels_of(self, levels: object) -> dict[str, int]:
        if self._by is None:
            return {}
        assert isinstance(levels, dict)
        return dict(levels.get(self._by) or self._rule.own_levels)


def _total(sums: np.ndarray, zones: np.ndarray) -> int:
    columns = np.flatnonzero(zones[: sums.shape[1]])
    return int(sums[:, columns].sum()) if columns.size and len(sums) else 0


def _clusters(
    cluster: Ints, labelled: Ints, steps: np.ndarray, counts: np.ndarray, zones: np.ndarray
) -> Clusters:
    """Return the clusters of rows, from sums over the rows of each unit of all rows and zone; (U, zones).

    ``cluster`` is that of each unit, int64 of shape (U,), and ``labelled`` that of each labelled row, shape
    (n,); a labelled row of another cluster is a DataError. ``zones``, bool of shape (zones,), says which are
    chosen.
    """
    present, place = np.unique(cluster, return_inverse=True)
    of = np.minimum(np.searchsorted(present, labelled), len(present) - 1)
    if len(labelled) and (not len(present) or (present[of] != labelled).any()):
        raise no_such_row()

    def sums(table: np.ndarray) -> Matrix:
        added = np.zeros((2, len(present)), dtype=table.dtype)
        for index, part in enumerate((zones, ~zones)):
            np.add.at(added[index], place, table[:, part[: table.shape[1]]].sum(axis=1))
        return added.astype(np.float64)

    return Clusters(of=of, expected=sums(steps) / _STEPS, rows=sums(counts))


def _rates(data: DataRequest, calibrator: CalibratorArtifact | None) -> Callable[[Rows], Floats]:
    """Return the function from rows to probabilities, float64, shape (n,)."""
    if calibrator is None:
        column = data.roles.numbers["score"]

        def scores(rows: Rows) -> Floats:
            require_probabilities(rows.score, column, remedy="give --calibrator FILE")
            return rows.score

        return scores
    added = calibrator.adds(data.roles, NewColumns())
    return lambda rows: np.clip(added.compute(rows)["calibrated"], 0.0, 1.0)
