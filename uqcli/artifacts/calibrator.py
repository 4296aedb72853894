"""Kind ``calibrator``: a map from scores to probabilities."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Annotated

import msgspec
import numpy as np
from msgspec import Meta

from uqcli.artifacts.columns import NewColumns
from uqcli.artifacts.saved import Bins, Count, Saved
from uqcli.choices import (
    CalibrationMethod,
    LeafMethod,
    OnInvalid,
    Partitioner,
    SplitCriterion,
)
from uqcli.counts import Floats, Ints
from uqcli.document import Document, Metrics, Table, count, number, printable, share
from uqcli.engines.probabilities import require_probabilities
from uqcli.engines.protocol import AddedColumns, CheckedRows, ColumnType
from uqcli.engines.request import FeatureRequest, Roles
from uqcli.methods.calibrate.consistency import contradiction_in_map
from uqcli.methods.calibrate.maps import (
    BetaMap,
    CalibrationMap,
    GroupsMap,
    HistogramMap,
    IdentityMap,
    IsotonicMap,
    Leaf,
    LogisticMap,
    ScoreMap,
    TreesMap,
    UncertaintyMap,
)
from uqcli.methods.calibrate.predict import Calibrated, predict
from uqcli.methods.calibrate.scale import Scale


class CalibratorParameters(msgspec.Struct, frozen=True, kw_only=True):
    """The options that shaped a calibrator; null where the method does not use one."""

    method: CalibrationMethod
    n_bins: Bins | None
    uncertainty_bins: Bins | None
    features: list[str] | None
    partition: list[str] | None
    partitioner: Partitioner | None
    max_depth: Bins | None
    min_leaf: Count | None
    split: SplitCriterion | None
    leaf_method: LeafMethod | None
    seed: Count
    on_invalid: OnInvalid
    positive: str | None


class CalibratorArtifact(Saved, frozen=True, kw_only=True):
    """A map from scores to probabilities.

    ``logit``: scores are real numbers such as logits. ``undersampled``: negatives were kept with probability
    1/undersampled where the model learned; the odds are divided by it before the map. ``weights``: of the
    negative and of the positive class in the target; the odds are multiplied by their ratio after the map.
    """

    parameters: CalibratorParameters
    method: CalibrationMethod
    logit: bool
    undersampled: Annotated[float, Meta(ge=1)]
    calibration: CalibrationMap
    weights: Annotated[list[Annotated[float, Meta(ge=0)]], Meta(min_length=2, max_length=2)] | None

    @property
    def needs_uncertainty(self) -> bool:
        """Whether the map looks at the uncertainty."""
        return isinstance(self.calibration, UncertaintyMap)

    @property
    def scale(self) -> Scale:
        """How scores are read."""
        return Scale(real=self.logit, undersampled=self.undersampled)

    def contradiction(self) -> str | None:
        """See Saved."""
        if self.weights is not None and not all(0 < each < math.inf for each in self.weights):
            return "a class weight is not finite and above 0"
        if not isinstance(self.calibration, _MAPS_OF[self.method]):
            return f"its map is none of method {self.method}"
        return contradiction_in_map(self.calibration) or self.missing_columns()

    def features(self) -> tuple[FeatureRequest, ...]:
        """See Saved: what the map's questions are about, with the levels that it knows."""
        return tuple(
            FeatureRequest(
                name=column.name,
                text=column.levels is not None,
                levels=None if column.levels is None else tuple(column.levels),
            )
            for column in getattr(self.calibration, "features", ())
        )

    def calibrated(
        self, score: Floats, uncertainty: Floats | None, features: Mapping[str, Floats]
    ) -> Calibrated:
        """Probabilities, for the target's class mix where there is one.

        Parameters
        ----------
        score, uncertainty : float64, shape (n,)
        features
            Values under the map's own levels, by column name; each of shape (n,).
        """
        found = predict(self.calibration, score, self.scale, uncertainty, features)
        if self.weights is None:
            return found
        negative, positive = self.weights
        return replace(found, probability=Scale.in_target(found.probability, (negative, positive)))

    def adds(self, roles: Roles, form: NewColumns) -> AddedColumns:
        """See Saved: the calibrated probability, and the leaf where one partition gives it."""
        calibrated, leaf = f"{form.prefix}calibrated", f"{form.prefix}leaf"
        column = roles.numbers["score"]
        types: dict[str, ColumnType] = {calibrated: "float64"}
        if _has_leaves(self.calibration):
            types[leaf] = "int64"

        def compute(rows: CheckedRows) -> dict[str, Ints | Floats]:
            score = np.where(rows.valid, rows.score, 0.5)
            if not self.logit:
                require_probabilities(score, column, remedy="calibrate with --logit to read such scores")
            found = self.calibrated(score, rows.uncertainty, rows.features)
            added: dict[str, Ints | Floats] = {calibrated: found.probability}
            if found.leaf is not None:
                added[leaf] = found.leaf
            return added

        return AddedColumns(types=types, compute=compute)

    def facts(self) -> Metrics:
        """See Saved: counts of the rows it was fitted on."""
        source = self.source
        return {"rows": source.rows, "positives": source.positives, "dropped": source.dropped}

    def document(self) -> Document:
        """See Saved."""
        source = self.source
        columns = ", ".join(f"{role} '{name}'" for role, name in source.columns.items())
        reads = "real scores such as logits" if self.logit else "probabilities"
        notes = [
            f"Reads {reads}; columns: {columns}.",
            f"{self.made_from()}, {count(source.positives)} positive, {count(source.dropped)} dropped.",
        ]
        if self.undersampled > 1:
            notes.insert(0, f"Odds are first divided by {self.undersampled:g}, for undersampled negatives.")
        if self.weights is not None:
            negative, positive = self.weights
            notes.append(
                f"Then corrected for a target in which negatives are {negative:.4g} and positives "
                f"{positive:.4g} times as frequent: the odds are multiplied by {positive / negative:.4g}."
            )
        return Document(title=f"Calibrator ({self.method})", tables=self.tables(), notes=notes)

    def tables(self) -> list[Table]:
        """What the map does."""
        return map_tables(self)


_MAPS_OF = {
    CalibrationMethod.PLATT: LogisticMap,
    CalibrationMethod.TEMPERATURE: LogisticMap,
    CalibrationMethod.BETA: BetaMap,
    CalibrationMethod.ISOTONIC: IsotonicMap,
    CalibrationMethod.HISTOGRAM: HistogramMap,
    CalibrationMethod.MIST: UncertaintyMap,
    CalibrationMethod.HETEROGENEOUS: TreesMap | GroupsMap,
    CalibrationMethod.PRIOR: IdentityMap,
}
_MOST_ROWS = 40


def _has_leaves(map_: CalibrationMap) -> bool:
    return isinstance(map_, GroupsMap) or (
        isinstance(map_, TreesMap) and map_.combine == "mean" and len(map_.trees) == 1
    )


def map_tables(artifact: CalibratorArtifact) -> list[Table]:
    """What the map does, as tables."""
    map_ = artifact.calibration
    if isinstance(map_, UncertaintyMap):
        return [_uncertainty_table(map_)]
    if isinstance(map_, GroupsMap):
        return [_leaves_table("Groups", map_.leaves)]
    if isinstance(map_, TreesMap):
        several = len(map_.trees) > 1
        return [
            _leaves_table(f"Leaves of tree {at} of {len(map_.trees)}" if several else "Leaves", tree.leaves)
            for at, tree in enumerate(map_.trees[:3], start=1)
        ]
    if isinstance(map_, HistogramMap):
        return [_histogram_table(map_)]
    corrected = isinstance(map_, IdentityMap) and artifact.undersampled > 1
    said = f"the odds divided by {artifact.undersampled:g}" if corrected else formula(map_)
    return [Table(title="Map", header=("formula",), rows=[(said,)])]


def formula(map_: ScoreMap) -> str:
    """A map of the score alone, in one line."""
    match map_:
        case LogisticMap():
            return f"sigmoid({map_.slope:.6g} * log-odds {map_.intercept:+.6g})"
        case BetaMap():
            return f"sigmoid({map_.a:.6g} ln s - {map_.b:.6g} ln(1-s) {map_.c:+.6g})"
        case IsotonicMap():
            steps = len(set(map_.y))
            return f"isotonic, {steps} levels from {map_.y[0]:.4f} to {map_.y[-1]:.4f}"
        case HistogramMap():
            return f"histogram, {len(map_.rate)} bins"
        case IdentityMap():
            return "the score itself"


def _leaves_table(title: str, leaves: Sequence[Leaf]) -> Table:
    rows = [
        (
            str(at),
            printable(leaf.rule, 160),
            formula(leaf.calibration),
            count(leaf.rows),
            share(leaf.positives / leaf.rows if leaf.rows else None),
            "own" if leaf.own else "larger part",
        )
        for at, leaf in enumerate(leaves[:_MOST_ROWS])
    ]
    if len(leaves) > _MOST_ROWS:
        rows.append(("...", f"and {len(leaves) - _MOST_ROWS} more", "", "", "", ""))
    header = ("leaf", "rows where", "calibration", "rows", "positivity", "fitted on")
    return Table(title=title, header=header, rows=rows, left=3)


def _uncertainty_table(map_: UncertaintyMap) -> Table:
    edges = [None, *map_.uncertainty_edges, None]
    rows = [
        (
            "-" if low is None else number(low),
            "-" if high is None else number(high),
            count(rows),
            formula(each),
        )
        for low, high, each, rows in zip(edges[:-1], edges[1:], map_.maps, map_.count, strict=True)
    ]
    header = ("uncertainty from", "to", "rows", "calibration")
    return Table(title="Uncertainty levels", header=header, rows=rows, left=0)


def _histogram_table(map_: HistogramMap) -> Table:
    edges = [None, *map_.edges, None]
    rows = [
        (
            "-" if low is None else number(low),
            "-" if high is None else number(high),
            count(rows),
            share(rate),
            "-" if error is None else f"{error:.4f}",
        )
        for low, high, rows, rate, error in zip(
            edges[:-1], edges[1:], map_.count, map_.rate, map_.error, strict=True
        )
    ]
    header = ("from", "to", "rows", "calibrated", f"error, {100 * map_.confidence:g} %")
    return Table(title="Bins", header=header, rows=rows, left=0)
