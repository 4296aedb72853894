"""The columns a saved model reads, and what it adds to a row."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace

import msgspec
import numpy as np

from uqcli.artifacts.models import Artifact, BoundaryArtifact, CalibratorArtifact, GridArtifact
from uqcli.counts import Bools, Cells, Floats, Ints, bin_of
from uqcli.engines.protocol import AddedColumns, CheckedRows, ColumnType
from uqcli.engines.request import ClassColumns, FeatureRequest, Roles
from uqcli.errors import DataError, UsageError
from uqcli.jobs.grids import cells_of
from uqcli.jobs.labelled import require_probabilities
from uqcli.methods.boundary.algorithms.hr import Recalibration, recalibrated
from uqcli.methods.boundary.decide import decide
from uqcli.methods.calibrate.maps import GroupsMap, TreesMap
from uqcli.methods.calibrate.predict import Calibrated, predict
from uqcli.methods.calibrate.scale import Scale


@dataclass(frozen=True, kw_only=True)
class ColumnOverrides:
    """Columns named on the command line; None means the artifact's.

    Attributes
    ----------
    weighted
        Whether a weight column is read at all.
    proba
        Columns of class probabilities.
    insisted
        Names of the options that must find use: a column that the artifacts do not read is then refused.
    """

    score: str | None = None
    uncertainty: str | None = None
    label: str | None = None
    weight: str | None = None
    weighted: bool = True
    proba: ClassColumns | None = None
    insisted: frozenset[str] = frozenset()

    def refuse(self, names: Iterable[str], why: str) -> None:
        """Refuse what must find use and finds none.

        Raises
        ------
        UsageError
            One of the names is insisted on.
        """
        for name in names:
            if name in self.insisted:
                raise UsageError(f"--{name.replace('_', '-')} {why}", expected="options that it can use")


def roles_of(artifacts: Sequence[Artifact], overrides: ColumnOverrides, *, labelled: bool) -> Roles:
    """The columns to read for all artifacts together.

    Raises
    ------
    UsageError
        The artifacts name different columns for one role, or have no use for one.
    """
    overrides.refuse(("proba", "classes"), f"with a {artifacts[0].kind} artifact")
    numbers = {"score": _column(artifacts, "score", overrides.score) or ""}
    uncertain = [artifact for artifact in artifacts if artifact.needs_uncertainty]
    if not uncertain:
        overrides.refuse(("uncertainty",), "with artifacts that do not look at it")
    uncertainty = _column(uncertain, "uncertainty", overrides.uncertainty) if uncertain else None
    if uncertainty is not None:
        numbers["uncertainty"] = uncertainty
    return Roles(
        numbers=numbers,
        label=_column(artifacts, "label", overrides.label) if labelled else None,
        weight=_column(artifacts, "weight", overrides.weight) if labelled and overrides.weighted else None,
        features=_features(artifacts),
    )


def _features(artifacts: Sequence[Artifact]) -> tuple[FeatureRequest, ...]:
    """Features that maps ask about, with the levels that one map knows.

    Raises
    ------
    UsageError
        Several maps with features: each numbers its own levels.
    """
    maps = [each.calibration for each in artifacts if isinstance(each, CalibratorArtifact)]
    partitions = [each for each in maps if isinstance(each, TreesMap | GroupsMap)]
    if len(partitions) > 1:
        raise UsageError("several heterogeneous calibrators together", remedy="take them one by one")
    return tuple(
        FeatureRequest(
            name=column.name,
            text=column.levels is not None,
            levels=None if column.levels is None else tuple(column.levels),
        )
        for each in partitions
        for column in each.features
    )


def _column(artifacts: Sequence[Artifact], role: str, override: str | None) -> str | None:
    if override is not None:
        return override
    names = {artifact.source.columns[role] for artifact in artifacts if role in artifact.source.columns}
    if len(names) > 1:
        raise UsageError(
            f"the artifacts read different {role} columns: {', '.join(sorted(names))}",
            expected="one",
            remedy=f"give --{role} or take them one by one",
        )
    return next(iter(names), None)


def decision_of(artifact: BoundaryArtifact) -> Callable[[CheckedRows], Bools]:
    """A boundary as a function of checked rows."""
    saved = artifact.recalibration
    raised = None if isinstance(saved, msgspec.UnsetType) else Recalibration(**msgspec.structs.asdict(saved))

    def decided(rows: CheckedRows) -> Bools:
        score = rows.score
        if raised is not None:
            if rows.uncertainty is None:
                raise DataError("no uncertainty read", expected="a column that recalibrates the score")
            score = recalibrated(score, rows.uncertainty, raised)
        return decide(
            score,
            rows.uncertainty,
            uncertainty_edges=artifact.uncertainty_edges,
            thresholds=artifact.thresholds,
        )

    return decided


def added_by(
    artifact: BoundaryArtifact | GridArtifact | CalibratorArtifact, prefix: str, column: str
) -> AddedColumns:
    """The columns an artifact adds: a decision, the bins of a grid, or calibrated probabilities.

    Parameters
    ----------
    column
        The score's name, for messages.
    """
    if isinstance(artifact, GridArtifact):
        return _bins(artifact, prefix)
    if isinstance(artifact, CalibratorArtifact):
        return _calibrated(artifact, prefix, column)
    name, decided = f"{prefix}decision", decision_of(artifact)
    return AddedColumns(types={name: "bool"}, compute=lambda rows: {name: decided(rows)})


def calibrated_by(
    artifact: CalibratorArtifact,
    score: Floats,
    uncertainty: Floats | None,
    features: Mapping[str, Floats],
) -> Calibrated:
    """Probabilities under a saved calibrator, for its target's class mix where it has one.

    Parameters
    ----------
    features
        Values under the map's own levels, by column name.
    """
    scale = Scale(real=artifact.logit, undersampled=artifact.undersampled)
    found = predict(artifact.calibration, score, scale, uncertainty, features)
    if artifact.weights is None:
        return found
    negative, positive = artifact.weights
    return replace(found, probability=Scale.in_target(found.probability, (negative, positive)))


def _calibrated(artifact: CalibratorArtifact, prefix: str, column: str) -> AddedColumns:
    calibrated, leaf = f"{prefix}calibrated", f"{prefix}leaf"
    map_ = artifact.calibration
    partitions = isinstance(map_, GroupsMap) or (
        isinstance(map_, TreesMap) and map_.combine == "mean" and len(map_.trees) == 1
    )
    types: dict[str, ColumnType] = {calibrated: "float64"}
    if partitions:
        types[leaf] = "int64"

    def compute(rows: CheckedRows) -> dict[str, Ints | Floats]:
        score = np.where(rows.valid, rows.score, 0.5)
        if not artifact.logit:
            require_probabilities(score, column, remedy="calibrate with --logit to read such scores")
        found = calibrated_by(artifact, score, rows.uncertainty, rows.features)
        added: dict[str, Ints | Floats] = {calibrated: found.probability}
        if found.leaf is not None:
            added[leaf] = found.leaf
        return added

    return AddedColumns(types=types, compute=compute)


def _bins(grid: GridArtifact, prefix: str) -> AddedColumns:
    uncertainty_bin, score_bin = f"{prefix}uncertainty_bin", f"{prefix}score_bin"
    cells = cells_of(grid)

    def binned(rows: CheckedRows) -> dict[str, Ints]:
        row = _row_of(rows, cells)
        column = np.zeros(len(rows.score), dtype=np.int64)
        for number, each in enumerate(cells.rows):
            inside = row == number
            column[inside] = bin_of(rows.score[inside], each.lower[1:])
        return {uncertainty_bin: row, score_bin: column}

    return AddedColumns(types={uncertainty_bin: "int64", score_bin: "int64"}, compute=binned)


def _row_of(rows: CheckedRows, cells: Cells) -> Ints:
    if rows.uncertainty is None:
        return np.zeros(len(rows.score), dtype=np.int64)
    return bin_of(rows.uncertainty, cells.uncertainty_edges)
