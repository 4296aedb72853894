"""Kind ``calibrator``: a map from scores to probabilities."""

from __future__ import annotations

import math
from dataclasses import replace
from typing import Annotated

import msgspec
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
from uqcli.document import Document, Metrics, Table, count
from uqcli.engines.probabilities import require_probabilities
from uqcli.engines.protocol import AddedColumns, ColumnType
from uqcli.engines.request import FeatureRequest, Roles
from uqcli.methods.calibrate.maps import CalibrationMap
from uqcli.methods.calibrate.maps.base import Calibrated
from uqcli.methods.calibrate.scale import Scale
from uqcli.rows import Rows


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
        return self.calibration.needs_uncertainty

    @property
    def scale(self) -> Scale:
        """How scores are read."""
        return Scale(real=self.logit, undersampled=self.undersampled)

    def contradiction(self) -> str | None:
        """See Saved."""
        if self.weights is not None and not all(0 < each < math.inf for each in self.weights):
            return "a class weight is not finite and above 0"
        if self.method not in self.calibration.methods:
            return f"its map is none of method {self.method}"
        return self.calibration.contradiction() or self.missing_columns()

    def features(self) -> tuple[FeatureRequest, ...]:
        """See Saved: what the map's questions are about, with the levels that it knows."""
        return tuple(
            FeatureRequest(
                name=column.name,
                text=column.levels is not None,
                levels=None if column.levels is None else tuple(column.levels),
            )
            for column in self.calibration.features
        )

    def calibrated(self, rows: Rows) -> Calibrated:
        """Probabilities of rows whose features have the map's levels; in the target, where there is one."""
        features = {name: each.value for name, each in rows.features.items()}
        corrected = self.scale.corrected(rows.score)
        found = self.calibration.predict(corrected, self.scale, rows.uncertainty, features)
        if self.weights is None:
            return found
        negative, positive = self.weights
        return replace(found, probability=Scale.in_target(found.probability, (negative, positive)))

    def adds(self, roles: Roles, form: NewColumns) -> AddedColumns:
        """See Saved: the calibrated probability, and the leaf where one partition gives it."""
        calibrated, leaf = f"{form.prefix}calibrated", f"{form.prefix}leaf"
        column = roles.numbers["score"]
        types: dict[str, ColumnType] = {calibrated: "float64"}
        if self.calibration.has_leaves:
            types[leaf] = "int64"

        def compute(rows: Rows) -> dict[str, Ints | Floats]:
            score = rows.filled(rows.score, 0.5)
            if not self.logit:
                require_probabilities(score, column, remedy="calibrate with --logit to read such scores")
            found = self.calibrated(rows.scored(score))
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
        return self.calibration.tables(self.undersampled)
