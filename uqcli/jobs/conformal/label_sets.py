"""Conformal sets of rows under a saved artifact."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from uqcli.artifacts.models import ConformalArtifact
from uqcli.choices import ConformalMethod, FileFormat
from uqcli.counts import Bools, Floats, Ints
from uqcli.draws import Purpose, uniforms
from uqcli.engines.protocol import AddedColumns, CheckedRows, ColumnType
from uqcli.engines.request import FeatureRequest, Roles
from uqcli.errors import DataError
from uqcli.jobs.class_rows import probabilities
from uqcli.jobs.models import ColumnOverrides
from uqcli.kernels.nonconformity import Matrix
from uqcli.methods.conformal.scores import SCORES


def conformal_roles(artifact: ConformalArtifact, overrides: ColumnOverrides) -> Roles:
    """The columns that sets look at.

    Raises
    ------
    UsageError
        Columns are named that they do not look at, or that are not those of the artifact's classes.
    """
    overrides.refuse(("uncertainty",), "with a conformal artifact")
    columns = artifact.source.columns
    features: tuple[FeatureRequest, ...] = ()
    if artifact.groups is not None:
        group = FeatureRequest(name=artifact.groups.column, text=True, levels=tuple(artifact.groups.names))
        features = (group,)
    if "score" in columns:
        overrides.refuse(("proba", "classes"), "with an artifact of one score")
        return Roles(numbers={"score": overrides.score or columns["score"]}, features=features)
    overrides.refuse(("score",), f"'{overrides.score}' with class probabilities")
    classes = {name: columns[f"proba.{name}"] for name in artifact.classes}
    if overrides.proba is not None:
        classes = overrides.proba.renaming(artifact.classes)
    return Roles(numbers={}, classes=classes, features=features)


def label_sets(
    artifact: ConformalArtifact, roles: Roles, *, no_empty: bool = False
) -> Callable[[CheckedRows], np.ndarray]:
    """Sets of checked rows as masks of shape (rows, C).

    Parameters
    ----------
    no_empty
        Whether the likeliest class (the first of equals) is put into empty sets; coverage can only rise.
    """
    lines = np.array(
        [*(artifact.groups.thresholds if artifact.groups is not None else ()), artifact.thresholds]
    )
    randomised = artifact.parameters.randomize and artifact.method is ConformalMethod.APS

    def sets(rows: CheckedRows) -> np.ndarray:
        probability = _probabilities(rows, roles)
        uniform: Floats = np.ones(len(rows.valid))
        if randomised:
            uniform = uniforms(rows.position, artifact.parameters.seed, Purpose.APPLY)
        group = group_of_rows(artifact, rows)
        inside = SCORES[artifact.method].sets(probability, lines if group is None else lines[group], uniform)
        if no_empty:
            empty = ~inside.any(axis=1)
            inside[empty, probability[empty].argmax(axis=1)] = True
        return inside

    return sets


def _probabilities(rows: CheckedRows, roles: Roles) -> Matrix:
    """Class probabilities, with 0 in rows that are not valid."""
    probability = probabilities(rows, roles)
    return probability if rows.valid.all() else np.where(rows.valid[:, None], probability, 0.0)


def group_of_rows(artifact: ConformalArtifact, rows: CheckedRows) -> Ints | None:
    """Number of each row's group, the last one for groups never seen; None where there are no groups."""
    if artifact.groups is None:
        return None
    number = rows.features[artifact.groups.column].astype(np.int64)
    return np.where(number < 0, len(artifact.groups.names), number)


def added_sets(
    artifact: ConformalArtifact, roles: Roles, prefix: str, output_format: FileFormat, *, no_empty: bool
) -> AddedColumns:
    """A list of classes, or in CSV a column for each class, and the size of the set.

    Raises
    ------
    DataError
        Two classes would give one column.
    """
    sets = label_sets(artifact, roles, no_empty=no_empty)
    size = f"{prefix}set_size"
    if output_format is not FileFormat.CSV:
        name = f"{prefix}set"

        def listed(rows: CheckedRows) -> dict[str, Bools | Ints]:
            inside = sets(rows)
            return {name: inside, size: inside.sum(axis=1)}

        types: dict[str, ColumnType] = {name: "labels", size: "int64"}
        return AddedColumns(types=types, labels=tuple(artifact.classes), compute=listed)
    names = [f"{prefix}in_{each}" for each in artifact.classes]
    if len({*names, size}) < len(names) + 1:
        raise DataError("two classes give one column", expected="other names of the classes")

    def flagged(rows: CheckedRows) -> dict[str, Bools | Ints]:
        inside = sets(rows)
        return {**dict(zip(names, inside.T, strict=True)), size: inside.sum(axis=1)}

    flags: dict[str, ColumnType] = {**dict.fromkeys(names, "bool"), size: "int64"}
    return AddedColumns(types=flags, compute=flagged)
