"""Kind ``calibrator``: a map from scores to probabilities."""

from __future__ import annotations

import math
from collections.abc import Sequence
from itertools import pairwise
from typing import TYPE_CHECKING, Annotated, Self

import msgspec
import numpy as np
from msgspec import Meta

from uqcli.base.choices import CalibrationMethod, LeafMethod, OnInvalid, Partitioner, SplitCriterion
from uqcli.base.counts import Floats, Ints, Matrix, ValueCounts
from uqcli.base.defaults import FEW_SCORES
from uqcli.base.errors import words
from uqcli.base.rows import Rows
from uqcli.base.wording import count
from uqcli.calibrate.maps import CalibrationMap, ClassMap
from uqcli.calibrate.maps.base import BaseClassMap, BaseScoreMap, Calibrated, Interval
from uqcli.calibrate.priors import SourcePriors, TargetPriors
from uqcli.calibrate.scale import Scale
from uqcli.engines.probabilities import probabilities, require_probabilities
from uqcli.engines.protocol import AddedColumns, ColumnType
from uqcli.engines.request import PROBA, FeatureRequest, Roles
from uqcli.reports.document import Document, Metrics, Table
from uqcli.rules.columns import NewColumns
from uqcli.rules.expressions import Column, Formula, NamedValues, Output, let
from uqcli.rules.saved import Bins, Count, Saved, given

if TYPE_CHECKING:
    from uqcli.calibrate.fit_options import CalibrationOptions


class CalibratorParameters(msgspec.Struct, frozen=True, kw_only=True):
    """Options of a calibrator; null if the method does not use one."""

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

    @classmethod
    def of(
        cls,
        options: CalibrationOptions,
        columns: tuple[str, ...],
        *,
        on_invalid: OnInvalid,
        positive: str | None,
    ) -> Self:
        """Return the options of a map; an option that its method does not use is None.

        Columns are features, or columns of the partition.
        """
        method = options.chosen_method
        is_heterogeneous = method is CalibrationMethod.HETEROGENEOUS
        learns_trees = is_heterogeneous and options.trees
        return cls(
            method=method,
            n_bins=options.n_bins if method is CalibrationMethod.HISTOGRAM else None,
            uncertainty_bins=options.uncertainty_bins if method is CalibrationMethod.MIST else None,
            features=list(columns) if learns_trees else None,
            partition=list(columns) if is_heterogeneous and not learns_trees else None,
            partitioner=options.partitioner if learns_trees else None,
            max_depth=options.depth if learns_trees else None,
            min_leaf=options.rows_of_leaf if is_heterogeneous else None,
            split=options.split if learns_trees else None,
            leaf_method=options.leaf_method if is_heterogeneous else None,
            seed=options.seed,
            on_invalid=on_invalid,
            positive=positive,
        )


class CalibrationCounts(msgspec.Struct, frozen=True, kw_only=True):
    """Calibration rows and positives at each score, by weight; scores as read, before any correction.

    More than 500 scores are merged into bins of equal weight; the score of a bin is that of its middle row.
    The lowest and the highest score are exact.
    """

    score: Annotated[list[float], Meta(min_length=1, max_length=FEW_SCORES)]
    count: Annotated[list[Bins], Meta(min_length=1, max_length=FEW_SCORES)]
    positives: Annotated[list[Count], Meta(min_length=1, max_length=FEW_SCORES)]

    @property
    def counts(self) -> ValueCounts:
        """The counts as arrays."""
        return ValueCounts(
            value=np.array(self.score, dtype=np.float64),
            count=np.array(self.count, dtype=np.int64),
            positives=np.array(self.positives, dtype=np.int64),
        )

    def contradiction(self) -> str:
        """Find the first contradiction between the lists; empty if there is none."""
        if not len(self.score) == len(self.count) == len(self.positives):
            return "its calibration counts have no count and positives for each score"
        ascending = all(low < high for low, high in pairwise(self.score))
        if not ascending or not all(map(math.isfinite, self.score)):
            return "the scores of its calibration counts are not finite and ascending"
        if any(positives > count for positives, count in zip(self.positives, self.count, strict=True)):
            return "its calibration counts have more positives than rows at a score"
        return ""


class CalibratorArtifact(Saved, frozen=True, kw_only=True):
    """A map from scores to probabilities.

    ``logit``: scores are real numbers such as logits. ``undersampled``: the model was trained with negatives
    kept with probability 1/undersampled; the odds are divided by it before the map. ``classes``: class names,
    if the map reads class probabilities instead of a score. ``weights``: class weights of the target data,
    for two classes the negative first; they multiply the probabilities after the map. ``calibration_counts``:
    the calibration rows by score, if the map reads a score; decisions do not depend on them.
    """

    parameters: CalibratorParameters
    method: CalibrationMethod
    logit: bool
    undersampled: Annotated[float, Meta(ge=1)]
    calibration: CalibrationMap | ClassMap
    weights: Annotated[list[Annotated[float, Meta(ge=0)]], Meta(min_length=2)] | None
    classes: Annotated[list[str], Meta(min_length=2)] | msgspec.UnsetType = msgspec.UNSET
    calibration_counts: CalibrationCounts | msgspec.UnsetType = msgspec.UNSET

    @property
    def positive_label(self) -> str | None:
        """See Saved."""
        return self.parameters.positive

    @property
    def class_names(self) -> Sequence[str]:
        """See Saved."""
        return given(self.classes) or []

    @property
    def needs_uncertainty(self) -> bool:
        """Whether the map uses the uncertainty."""
        return self.calibration.needs_uncertainty

    @property
    def priors(self) -> SourcePriors:
        """Class priors that it is for."""
        return SourcePriors() if self.weights is None else TargetPriors(weights=self.weights)

    @property
    def scale(self) -> Scale:
        """Scale on which scores are read."""
        return Scale(real=self.logit, undersampled=self.undersampled)

    def contradiction(self) -> str:
        """See Saved."""
        if contradiction := self.priors.contradiction(len(self.class_names) or 2):
            return contradiction
        if len(set(self.class_names)) < len(self.class_names):
            return "a class is named twice"
        if isinstance(self.calibration, BaseClassMap) != bool(self.class_names):
            return "its map is not for the columns it reads"
        if self.method not in self.calibration.methods:
            return f"its map is none of method {self.method}"
        return self._in_calibration() or self.missing_columns() or self._in_counts()

    def _in_calibration(self) -> str:
        map_, classes = self.calibration, len(self.class_names)
        contradiction = map_.contradiction()
        if not contradiction and isinstance(map_, BaseClassMap) and map_.contradicts(classes, self.method):
            return "its map is for other classes, or of another method"
        return contradiction

    def _in_counts(self) -> str:
        counts = given(self.calibration_counts)
        if counts is None:
            return ""
        if self.class_names:
            return "it has calibration counts by score but reads class probabilities"
        if contradiction := counts.contradiction():
            return contradiction
        counted, source = (sum(counts.count), sum(counts.positives)), self.source
        if "weight" not in source.columns and counted != (source.rows, source.positives):
            return "its calibration counts are not those of its calibration set"
        return ""

    def features(self) -> tuple[FeatureRequest, ...]:
        """See Saved: the features of the map, with their known levels."""
        return tuple(
            FeatureRequest(
                name=column.name,
                text=column.is_text,
                levels=tuple(column.levels or ()) if column.is_text else None,
            )
            for column in self.calibration.features
        )

    @property
    def calibration_of_rows(self) -> CalibrationMap:
        """The map of a calibrator that reads a score."""
        assert not isinstance(self.calibration, BaseClassMap)
        return self.calibration

    def calibrated(self, rows: Rows) -> Calibrated:
        """Compute probabilities, in the target data if there are weights; features have the map's levels."""
        features = {name: feature.value for name, feature in rows.features.items()}
        corrected = self.scale.corrected(rows.score)
        calibrated = self.calibration_of_rows.predict(corrected, self.scale, rows.uncertainty, features)
        return calibrated.mapped(self.priors.of_score)

    @property
    def calibration_of_classes(self) -> ClassMap:
        """The map of a calibrator that reads class probabilities."""
        assert isinstance(self.calibration, BaseClassMap)
        return self.calibration

    def calibrated_classes(self, probability: Matrix) -> Matrix:
        """Compute probabilities of shape (n, C), in the target data if there are weights."""
        return self.priors.of_classes(self.calibration_of_classes.probabilities(probability))

    def intervals_of_classes(self, probability: Matrix) -> Interval:
        """Compute the intervals of all classes, shape (n, C) each; each class is one against the rest."""
        return self.priors.intervals(self.calibration_of_classes, probability)

    def adds(self, roles: Roles, new_columns: NewColumns) -> AddedColumns:
        """See Saved: the calibrated probabilities, and the leaf if the map has one partition."""
        if self.class_names:
            return self._adds_classes(roles, new_columns)
        column, prefix = roles.numbers["score"], new_columns.prefix
        types: dict[str, ColumnType] = {f"{prefix}calibrated": "float64"}
        if self.calibration.has_interval:
            types |= {f"{prefix}calibrated_low": "float64", f"{prefix}calibrated_high": "float64"}
        if self.calibration.has_leaves:
            types[f"{prefix}leaf"] = "int64"

        def compute(rows: Rows) -> dict[str, Ints | Floats]:
            score = rows.filled(rows.score, 0.5)
            if not self.logit:
                require_probabilities(
                    score, column, remedy=words("calibrate with --logit to read such scores")
                )
            columns = self.calibrated(rows.scored(score)).columns()
            return {f"{prefix}{name}": values for name, values in columns.items()}

        return AddedColumns(types=types, compute=compute)

    def _adds_classes(self, roles: Roles, new_columns: NewColumns) -> AddedColumns:
        """Add one column per class, then the ends of its interval if there are intervals."""
        kinds = ("calibrated", "low", "high") if self.calibration.has_interval else ("calibrated",)
        names = [f"{new_columns.prefix}{kind}_{name}" for kind in kinds for name in self.class_names]

        def compute(rows: Rows) -> dict[str, Floats]:
            uniform = 1 / len(self.class_names)
            probability = rows.filled(probabilities(rows, roles), uniform)
            columns = [self.calibrated_classes(probability)]
            if self.calibration.has_interval:
                columns += self.intervals_of_classes(probability)
            return dict(zip(names, np.concatenate(columns, axis=1).T, strict=True))

        return AddedColumns(types=dict.fromkeys(names, "float64"), compute=compute)

    def formula(self) -> Formula:
        """See Saved."""
        if self.class_names:
            return self._formula_of_classes()
        score, scale, calibration = Column(name=self.columns["score"]), self.scale, self.calibration_of_rows
        features = tuple(
            Column(name=feature.name, kind="text" if feature.is_text else "number")
            for feature in calibration.features
        )
        uncertainty = self.exported_uncertainty()
        numbers = (score,) if uncertainty is None else (score, Column(name=self.source.uncertainty or ""))
        probability = let(
            scale.exported_corrected(score),
            lambda corrected: calibration.exported(corrected, scale, uncertainty),
            "corrected",
        )
        outputs = [Output(name="calibrated", kind="double", value=self.priors.exported(probability))]
        if calibration.has_interval:
            outputs += self._exported_interval(score)
        if calibration.has_leaves:
            outputs.append(Output(name="leaf", kind="integer", value=calibration.exported_leaf()))
        return Formula(
            inputs=(*numbers, *(feature for feature in features if feature not in numbers)),
            required=tuple(column.name for column in numbers),
            ranges={} if self.logit else {score.name: (0.0, 1.0)},
            roles=self.arguments(),
            outputs=tuple(outputs),
            terms=calibration.terms,
        )

    def _exported_interval(self, score: Column) -> list[Output]:
        calibration = self.calibration_of_rows
        assert isinstance(calibration, BaseScoreMap)
        ends = calibration.exported_interval(self.scale.exported_corrected(score))
        return [
            Output(name=name, kind="double", value=self.priors.exported(end))
            for name, end in zip(("calibrated_low", "calibrated_high"), ends, strict=True)
        ]

    def _formula_of_classes(self) -> Formula:
        """Return one output for each class, then the ends of its interval if there are intervals."""
        columns = tuple(Column(name=self.columns[f"{PROBA}{name}"]) for name in self.class_names)
        weights = self.weights or [1.0] * len(columns)
        named = NamedValues()
        values = {"calibrated": self.calibration_of_classes.exported(columns, weights, named)}
        if self.calibration.has_interval:
            ends = self.calibration_of_classes.exported_intervals(columns, self.weights, named)
            values |= dict(zip(("low", "high"), zip(*ends, strict=True), strict=True))
        return Formula(
            inputs=columns,
            required=tuple(column.name for column in columns),
            named=tuple(named.values),
            outputs=tuple(
                Output(name=f"{kind}_{name}", kind="double", value=value)
                for kind, of_classes in values.items()
                for name, value in zip(self.class_names, of_classes, strict=True)
            ),
            terms=self.calibration.terms,
            shares=tuple(column.name for column in columns),
        )

    def metrics(self) -> Metrics:
        """See Saved: counts of the calibration set."""
        source = self.source
        classes = {"classes": len(self.class_names)} if self.class_names else {"positives": source.positives}
        return {"rows": source.rows, **classes, "dropped": source.dropped}

    def document(self) -> Document:
        """See Saved."""
        source = self.source
        columns = source.columns_in_words()
        reads = "real scores such as logits" if self.logit else "probabilities"
        positives = "" if source.positives is None else f" {count(source.positives)} positive,"
        notes = [
            f"Reads {reads}; columns: {columns}.",
            f"{self.made_from()},{positives} {count(source.dropped)} dropped.",
        ]
        if self.undersampled > 1:
            notes.insert(0, f"Odds are first divided by {self.undersampled:g}, for undersampled negatives.")
        notes += self.priors.about(by_class=bool(self.class_names))
        return Document(title=f"Calibrator ({self.method})", tables=self.tables(), notes=notes)

    def tables(self) -> list[Table]:
        """Tabulate the map."""
        if self.class_names:
            return self.calibration_of_classes.tables_of(self.class_names)
        return self.calibration_of_rows.tables(self.undersampled)
