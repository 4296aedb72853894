"""The columns that saved models read, and how those that they add are named."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Protocol

from uqcli.choices import ArtifactKind
from uqcli.engines.request import PROBA, ClassColumns, FeatureRequest, Roles
from uqcli.errors import UsageError


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


@dataclass(frozen=True, kw_only=True)
class NewColumns:
    """How added columns are named and formed.

    Attributes
    ----------
    prefix
        Put before their names.
    lists
        Whether a column may hold lists, as in Parquet.
    no_empty
        Whether empty sets get the likeliest class.
    """

    prefix: str = ""
    lists: bool = True
    no_empty: bool = False


class Reading(Protocol):
    """What is asked of a saved model here (see Saved)."""

    @property
    def kind(self) -> ArtifactKind:
        """Its kind."""

    @property
    def columns(self) -> Mapping[str, str]:
        """Role to column name."""

    @property
    def needs_uncertainty(self) -> bool:
        """Whether it looks at the uncertainty."""

    @property
    def of_classes(self) -> Sequence[str]:
        """The classes whose probabilities it reads."""

    def features(self) -> tuple[FeatureRequest, ...]:
        """Columns beside score and uncertainty."""


def roles_of(artifacts: Sequence[Reading], named: ColumnOverrides, *, labelled: bool) -> Roles:
    """The columns to read for all artifacts together.

    Raises
    ------
    UsageError
        The artifacts name different columns for one role, or have no use for one.
    """
    if artifacts[0].of_classes:
        return _roles_of_classes(artifacts[0], named, labelled=labelled)
    named.refuse(("proba", "classes"), f"with a {artifacts[0].kind} artifact")
    numbers = {"score": _column(artifacts, "score", named.score) or ""}
    uncertain = [artifact for artifact in artifacts if artifact.needs_uncertainty]
    if not uncertain:
        named.refuse(("uncertainty",), "with artifacts that do not look at it")
    uncertainty = _column(uncertain, "uncertainty", named.uncertainty) if uncertain else None
    if uncertainty is not None:
        numbers["uncertainty"] = uncertainty
    return Roles(
        numbers=numbers,
        label=_column(artifacts, "label", named.label) if labelled else None,
        weight=_column(artifacts, "weight", named.weight) if labelled and named.weighted else None,
        features=tuple(each for artifact in artifacts for each in artifact.features()),
    )


def _roles_of_classes(artifact: Reading, named: ColumnOverrides, *, labelled: bool) -> Roles:
    """Of one artifact: two may have their classes in different orders."""
    named.refuse(("score", "uncertainty"), f"with a {artifact.kind} artifact of class probabilities")
    classes = {name: artifact.columns[f"{PROBA}{name}"] for name in artifact.of_classes}
    return Roles(
        numbers={},
        classes=classes if named.proba is None else named.proba.renaming(artifact.of_classes),
        label=_column([artifact], "label", named.label) if labelled else None,
        weight=_column([artifact], "weight", named.weight) if labelled and named.weighted else None,
        features=artifact.features(),
    )


def _column(artifacts: Sequence[Reading], role: str, override: str | None) -> str | None:
    if override is not None:
        return override
    names = {artifact.columns[role] for artifact in artifacts if role in artifact.columns}
    if len(names) > 1:
        raise UsageError(
            f"the artifacts read different {role} columns: {', '.join(sorted(names))}",
            expected="one",
            remedy=f"give --{role} or take them one by one",
        )
    return next(iter(names), None)
