"""Probabilities of all rows, by which few labelled ones show more."""

from __future__ import annotations

from collections.abc import Callable
from typing import Final

import numpy as np

from uqcli.base.counts import Floats
from uqcli.base.rows import Rows
from uqcli.base.sampling_weights import UNITS
from uqcli.boundary.rule import BoundaryArtifact
from uqcli.boundary.rule_groups import groups_of, own_levels
from uqcli.calibrate.rule import CalibratorArtifact
from uqcli.engines.open import open_engine
from uqcli.engines.probabilities import require_probabilities
from uqcli.engines.request import DataRequest
from uqcli.estimates.design import Chooses
from uqcli.estimates.model_assisted import ModelAssisted
from uqcli.estimates.weighted_rows import SAMPLING_WEIGHT
from uqcli.evaluate.decisions import Table, decisions_of
from uqcli.evaluate.labelled_part import LabelledPart
from uqcli.rules.columns import NewColumns

_STEPS: Final = 1 << 30
"""Steps of probabilities, so that their sums are exact in any order."""


class AssistedRows:
    """Labelled rows and all rows, with their probabilities.

    Parameters
    ----------
    data, every
        Labelled rows, and all rows.
    rule
        Rule whose decisions are counted.
    calibrator
        None if the scores are probabilities.
    by
        Column of groups; None for none.
    part
        Labelled rows in cells; None if they have sampling weights.
    """

    def __init__(
        self,
        data: DataRequest,
        every: DataRequest,
        rule: BoundaryArtifact,
        calibrator: CalibratorArtifact | None,
        *,
        by: str | None,
        part: LabelledPart | None,
    ) -> None:
        self._rule, self._by = rule, by
        rates = _rates(every, calibrator)
        self._sums, self._counts = Table(object), Table()
        batches = open_engine(every.engine).batches(every)
        for rows in batches:
            group, zone = self._group(rows), rule.zones(rows)
            steps = np.rint(rates(rows) * _STEPS).astype(np.int64).astype(object)
            self._sums.add(group, zone, steps if rows.weight is None else steps * rows.weight)
            self._counts.add(group, zone, rows.weight)
        self._levels = self._levels_of(batches.levels)
        parts = []
        labelled = open_engine(data.engine).batches(data)
        for rows in labelled:
            zone = rule.zones(rows)
            weight = rows.numbers[SAMPLING_WEIGHT] if part is None else part.weights(zone, rows.score) / UNITS
            steps = np.rint(rates(rows) * _STEPS) / _STEPS
            parts.append((self._group(rows), zone, rows.labels, steps, weight, rows.weights()))
        self._labelled_levels = self._levels_of(labelled.levels)
        self._columns = [np.concatenate(column) for column in zip(*parts, strict=True)]

    @property
    def rows(self) -> int:
        """Number of all rows, by weight."""
        return int(self._counts.sums.sum())

    def chosen(self, chooses: Chooses, confidence: float, group: str | None = None) -> ModelAssisted:
        """Return the rows of a group, or all, divided by whether the rule chooses them."""
        zones = range(self._counts.sums.shape[1])
        takes = np.array([chooses(decisions_of(zone, 1)) for zone in zones], dtype=np.bool_)
        counts, sums = self._counts.sums, self._sums.sums
        of_group, zone, *columns = self._columns
        inside = of_group >= 0
        if group is not None:
            index = self._levels.get(group, len(counts))
            counts, sums = counts[index : index + 1], sums[index : index + 1]
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
        )

    def _group(self, rows: Rows) -> np.ndarray:
        return np.zeros(len(rows), dtype=np.int64) if self._by is None else groups_of(rows, self._by)

    def _levels_of(self, levels: object) -> dict[str, int]:
        if self._by is None:
            return {}
        assert isinstance(levels, dict)
        return dict(levels.get(self._by) or own_levels(self._rule))


def _total(sums: np.ndarray, zones: np.ndarray) -> int:
    columns = np.flatnonzero(zones[: sums.shape[1]])
    return int(sums[:, columns].sum()) if columns.size and len(sums) else 0


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
