"""What every saved model says of itself: the part that all kinds have, and what each kind answers."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from enum import StrEnum
from typing import Annotated, ClassVar

import msgspec
from msgspec import Meta

from uqcli.artifacts.classes import columns_of_classes
from uqcli.artifacts.columns import ColumnOverrides, NewColumns
from uqcli.choices import ArtifactKind
from uqcli.defaults import FORMAT_VERSION, VERSION
from uqcli.document import Document, Metrics
from uqcli.engines.protocol import AddedColumns
from uqcli.engines.request import PROBA, FeatureRequest, Roles
from uqcli.errors import UsageError

Count = Annotated[int, Meta(ge=0)]
Bins = Annotated[int, Meta(ge=1)]


class Source(msgspec.Struct, frozen=True, kw_only=True):
    """The rows an artifact was made from: physical rows, whatever their weight.

    Without number of positives where labels name classes.
    """

    rows: Count
    positives: Count | None
    dropped: Count
    columns: dict[str, str]


class Seal(StrEnum):
    """What is wrong with the digest of an artifact that was read."""

    EDITED = "edited"
    MISSING = "missing"


class Saved(msgspec.Struct, frozen=True, kw_only=True):
    """What every artifact says of itself.

    ``digest``, the SHA-256 of the rest, stands in files only. ``seal`` is set on reading where the digest is
    not that of the rest, or is missing.
    """

    kind: ArtifactKind
    format_version: Annotated[int, Meta(ge=1)] = FORMAT_VERSION
    uqcli_version: str = VERSION
    source: Source
    digest: Annotated[str, Meta(pattern="^[0-9a-f]{64}$")] | msgspec.UnsetType = msgspec.UNSET
    seal: Seal | msgspec.UnsetType = msgspec.UNSET

    decides: ClassVar[bool] = False
    """Whether its column says which rows are positive."""

    has_sets: ClassVar[bool] = False
    """Whether it gives sets of classes, which may be empty."""

    @property
    def unsealed(self) -> str:
        """Why nothing that it promises is repeated; empty where it is as it was written."""
        match self.seal:
            case Seal.EDITED:
                return "it was edited after it was written"
            case Seal.MISSING:
                return "it has no digest"
            case _:
                return ""

    @property
    def columns(self) -> Mapping[str, str]:
        """Role to column name."""
        return self.source.columns

    @property
    def needs_uncertainty(self) -> bool:
        """Whether it looks at the uncertainty."""
        return False

    @property
    def of_classes(self) -> Sequence[str]:
        """The classes whose probabilities it reads, in order; none where it reads a score."""
        return ()

    def contradiction(self) -> str | None:
        """What a schema cannot say: the first thing that does not fit together, or None."""
        raise NotImplementedError

    def features(self) -> tuple[FeatureRequest, ...]:
        """Columns beside score and uncertainty that it looks at."""
        return ()

    def reads(self, named: ColumnOverrides) -> Roles:
        """The columns it reads, without labels and weights.

        Raises
        ------
        UsageError
            Columns are named that it does not read.
        """
        return roles_of([self], named, labelled=False)

    def adds(self, roles: Roles, form: NewColumns) -> AddedColumns:
        """What it adds to every row.

        Raises
        ------
        ArtifactError, DataError
            It adds nothing to rows, or two of its columns would have one name.
        """
        raise NotImplementedError

    def document(self) -> Document:
        """The model in words and tables."""
        raise NotImplementedError

    def in_a_sentence(self) -> str:
        """What it is and rests on, for those who use it."""
        return f"{self.document().title}, from {self.source.rows:,} rows"

    def facts(self) -> Metrics:
        """Its numbers that gates may ask for."""
        raise NotImplementedError

    def missing_columns(self) -> str | None:
        """The role of a column that it reads and does not name, in words; None if there is none."""
        if self.of_classes:
            return columns_of_classes(self.columns, self.of_classes)
        if "score" not in self.source.columns:
            return "it does not name its score column"
        if self.needs_uncertainty and "uncertainty" not in self.source.columns:
            return "it does not name its uncertainty column"
        return None

    def made_from(self) -> str:
        """Which version made it, and from how many rows."""
        rows = f"{self.source.rows:,} rows"
        return f"Calibration set: {rows} (uqcli {self.uqcli_version})"


def roles_of(artifacts: Sequence[Saved], named: ColumnOverrides, *, labelled: bool) -> Roles:
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


def _roles_of_classes(artifact: Saved, named: ColumnOverrides, *, labelled: bool) -> Roles:
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


def _column(artifacts: Sequence[Saved], role: str, override: str | None) -> str | None:
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
