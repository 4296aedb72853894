"""Base struct of all rule files."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping, Sequence
from enum import StrEnum
from typing import Annotated, ClassVar, TypeVar

import msgspec
from msgspec import Meta

from uqcli.base.choices import ArtifactKind
from uqcli.base.defaults import FORMAT_VERSION, MAX_NAME, MAX_RULE_BYTES, VERSION
from uqcli.base.errors import DataError, UsageError
from uqcli.base.wording import MOST_NAMED, first_of, printable, rows_of
from uqcli.engines.probabilities import BINARY
from uqcli.engines.protocol import AddedColumns
from uqcli.engines.request import PROBA, TURNED, FeatureRequest, FittedClusters, Roles
from uqcli.estimates.dependence import UnitSums
from uqcli.reports.document import Document, Metrics
from uqcli.rules.columns import ColumnOverrides, NewColumns
from uqcli.rules.expressions import Arithmetic, Column, Constant, Expression, Formula

Count = Annotated[int, Meta(ge=0)]
Bins = Annotated[int, Meta(ge=1)]

_LARGEST_WEIGHT = 1e100

T = TypeVar("T")


def given(field: T | msgspec.UnsetType) -> T | None:
    """Return an optional field of a rule file; None if it is absent."""
    return None if isinstance(field, msgspec.UnsetType) else field


def present(field: T | msgspec.UnsetType) -> T:
    """Return an optional field of a rule file that has it."""
    assert not isinstance(field, msgspec.UnsetType)
    return field


def absent_if_none(value: T | None) -> T | msgspec.UnsetType:
    """Return what is saved of an optional field."""
    return msgspec.UNSET if value is None else value


def are_weights(weights: Sequence[float]) -> bool:
    """Whether the values can be class weights: finite, non-negative and not all 0."""
    return all(0 <= weight < _LARGEST_WEIGHT for weight in weights) and any(weights)


def columns_of_classes(columns: Mapping[str, str], classes: Sequence[str]) -> str:
    """Describe a contradiction in the columns, by role, of class probabilities; empty if there is none."""
    if "score" in columns:
        return "" if tuple(classes) == BINARY else "its classes are not those of one score"
    missing = [name for name in classes if f"{PROBA}{name}" not in columns]
    return f"it does not name the column of class '{missing[0]}'" if missing else ""


def version_of(text: object) -> tuple[int, int] | None:
    """Return the first two numbers of the version that wrote a file; None if it states none.

    Examples
    --------
    >>> version_of("0.4.0"), version_of(None)
    ((0, 4), None)
    """
    version = re.match(r"(\d+)\.(\d+)", str(text))
    return None if version is None else (int(version[1]), int(version[2]))


def promise_name(rate: str, group: str | None = None) -> str:
    """Return the name of a promise in metrics, reports and rule files; of all rows without a group."""
    return rate if group is None else f"{rate}[{group}]"


class SavedDependence(msgspec.Struct, frozen=True, kw_only=True):
    """How calibration rows of one day or cluster depend on each other, by the name of a promise."""

    column: str
    promises: dict[str, UnitSums]


class Source(msgspec.Struct, frozen=True, kw_only=True):
    """Rows of the calibration set, unweighted.

    The number of positives is unset if labels are class names.
    """

    rows: Count
    positives: Count | None
    dropped: Count
    columns: dict[str, str]

    @property
    def uncertainty(self) -> str | None:
        """Column of the uncertainty, or None; the uncertainty may be its negative."""
        return self.columns.get(TURNED, self.columns.get("uncertainty"))

    @property
    def dependence(self) -> str | None:
        """Role of the column of dependent rows, which are of clusters or days; None without one."""
        return next((role for role in ("cluster", "day") if role in self.columns), None)

    @property
    def signed_uncertainty(self) -> str | None:
        """Column of the uncertainty as for ``--uncertainty``, with a minus if it is turned; or None."""
        return f"-{self.columns[TURNED]}" if TURNED in self.columns else self.columns.get("uncertainty")

    def columns_in_words(self) -> str:
        """List the columns by role."""
        signed = {**self.columns, **({TURNED: self.signed_uncertainty} if TURNED in self.columns else {})}
        return ", ".join(f"{role.removeprefix('-')} '{name}'" for role, name in signed.items())


class Seal(StrEnum):
    """Result of verifying the digest."""

    EDITED = "edited"
    MISSING = "missing"


class Saved(msgspec.Struct, frozen=True, kw_only=True):
    """Fields and methods of every rule file.

    ``doubts`` are the cautions on how it was made. ``digest``, the SHA-256 of the rest, exists in files only.
    ``seal`` is set on reading if the digest is missing or does not match.
    """

    kind: ArtifactKind
    format_version: Annotated[int, Meta(ge=1)] = FORMAT_VERSION
    uqcli_version: str = VERSION
    source: Source
    doubts: Annotated[list[str], Meta(min_length=1)] | msgspec.UnsetType = msgspec.UNSET
    digest: Annotated[str, Meta(pattern="^[0-9a-f]{64}$")] | msgspec.UnsetType = msgspec.UNSET
    seal: Seal | msgspec.UnsetType = msgspec.UNSET

    newest_format: ClassVar[int] = FORMAT_VERSION
    """Newest format version of its kind."""

    decides: ClassVar[bool] = False
    """Whether it flags rows."""

    has_sets: ClassVar[bool] = False
    """Whether it gives prediction sets, which may be empty."""

    @property
    def unsealed(self) -> str:
        """Why its guarantee is not repeated; empty if the digest matches."""
        match self.seal:
            case Seal.EDITED:
                return "the rule file was edited after it was written"
            case Seal.MISSING:
                return "the rule file has no digest"
            case _:
                return ""

    @property
    def known_doubts(self) -> Sequence[str]:
        """Cautions on how it was made."""
        return given(self.doubts) or ()

    @property
    def columns(self) -> Mapping[str, str]:
        """Column name by role."""
        return self.source.columns

    @property
    def alert_rate(self) -> float | None:
        """Share of the calibration set that it flags; None if it flags nothing by design."""
        return None

    @property
    def needs_uncertainty(self) -> bool:
        """Whether it uses the uncertainty."""
        return False

    @property
    def positive_label(self) -> str | None:
        """Text of the positive label; None for 0/1, and for labels that name classes."""
        return None

    @property
    def class_names(self) -> Sequence[str]:
        """Classes whose probabilities it reads, in order; empty if it reads a score."""
        return ()

    def unread_keys(self) -> Sequence[str]:
        """Return the keys that it has of features which this program lacks."""
        return ()

    def contradiction(self) -> str:
        """Find the first contradiction that a schema cannot express; empty if there is none."""
        raise NotImplementedError

    def features(self) -> tuple[FeatureRequest, ...]:
        """Return the columns that it uses besides score and uncertainty."""
        return ()

    def reads(self, overrides: ColumnOverrides) -> Roles:
        """Return the columns that it reads, without labels and weights; others may not be named."""
        return roles_of([self], overrides, labelled=False)

    def adds(self, roles: Roles, new_columns: NewColumns) -> AddedColumns:
        """Return the columns that it adds to every row; refuse if there are none, or two of one name."""
        raise NotImplementedError

    def arguments(self) -> dict[str, str]:
        """Return the role of the columns of score and uncertainty, by column."""
        columns = {"uncertainty": self.source.uncertainty, "score": self.columns.get("score")}
        return {name: role for role, name in columns.items() if name is not None}  # one may be both

    def exported_uncertainty(self) -> Expression | None:
        """Return the uncertainty as an expression of its column; None if the rule does not use it."""
        if not self.needs_uncertainty:
            return None
        column = Column(name=self.source.uncertainty or "")
        return Arithmetic("-", Constant(0.0), column) if TURNED in self.columns else column

    def formula(self) -> Formula:
        """Return what it adds to a row as expressions, for rules that need nothing but the row.

        Other rules are refused, and those that are too long to be written down.
        """
        raise UsageError(
            f"a rule file of kind {self.kind} computes nothing from a row",
            expected="kind boundary, calibrator, conformal or grid",
        )

    def document(self) -> Document:
        """Describe the rule in words and tables."""
        raise NotImplementedError

    def in_a_sentence(self) -> str:
        """Describe the rule and its calibration set in one sentence."""
        return f"{self.document().title}, from {rows_of(self.source.rows)}"

    def metrics(self) -> Metrics:
        """Return the metrics that ``--fail-if`` can check."""
        raise NotImplementedError

    def missing_columns(self) -> str:
        """Return the role of a column that it reads but does not name, in words; None if there is none."""
        if self.class_names and (missing := columns_of_classes(self.columns, self.class_names)):
            return missing
        if not self.class_names and "score" not in self.source.columns:
            return "it does not name its score column"
        if self.needs_uncertainty and self.source.uncertainty is None:
            return "it does not name its uncertainty column"
        return ""

    def made_from(self) -> str:
        """State the version and the size of the calibration set."""
        return f"Calibration set: {rows_of(self.source.rows)} (uqcli {self.uqcli_version})"


def refuse_unsavable(names: Iterable[str], least_bytes: int = 0) -> None:
    """Refuse groups or levels that a rule file cannot hold, before the work is done.

    ``least_bytes`` are those that each takes at least, beside its name.
    """
    size = 0
    for name in names:
        if len(name) > MAX_NAME:
            raise DataError(
                f"the group '{printable(name)}' has a name of {len(name):,} characters",
                expected=f"at most {MAX_NAME:,}",
                remedy="shorten the names of the column",
            )
        size += len(name) + least_bytes
    if size > MAX_RULE_BYTES:
        raise DataError(
            f"the rule would be larger than {MAX_RULE_BYTES >> 20} MB",
            expected="fewer groups, or shorter names",
            remedy="join small groups, or write a short code for each",
        )


def roles_of(artifacts: Sequence[Saved], overrides: ColumnOverrides, *, labelled: bool) -> Roles:
    """Return the columns to read for several rules together, which must agree on the column of a role."""
    if len({tuple(artifact.class_names) for artifact in artifacts}) > 1:
        raise UsageError(
            "the rules have different classes", expected="the same", remedy="use one rule at a time"
        )
    if artifacts[0].class_names:
        return _roles_of_classes(artifacts, overrides, labelled=labelled)
    overrides.refuse(("proba", "classes"), f"with a rule file of kind {artifacts[0].kind}")
    numbers = {"score": _column(artifacts, "score", overrides) or ""}
    using_uncertainty = [artifact for artifact in artifacts if artifact.needs_uncertainty]
    if not using_uncertainty:
        overrides.refuse(("uncertainty",), "with rules that do not read it")
    turned = None
    if using_uncertainty:
        numbers["uncertainty"], turned = _uncertainty_column(using_uncertainty, overrides)
    return Roles(
        numbers=numbers,
        turned=turned,
        label=_column(artifacts, "label", overrides) if labelled else None,
        weight=_column(artifacts, "weight", overrides) if labelled and overrides.weighted else None,
        fitted=_fitted_clusters(artifacts) if labelled else (),
        features=tuple(feature for artifact in artifacts for feature in artifact.features()),
    )


def _roles_of_classes(artifacts: Sequence[Saved], overrides: ColumnOverrides, *, labelled: bool) -> Roles:
    """Return the columns to read for rules of the same classes, which agree on the column of each."""
    first = artifacts[0]
    using_uncertainty = [artifact for artifact in artifacts if artifact.needs_uncertainty]
    unused = ("score",) if using_uncertainty else ("score", "uncertainty")
    overrides.refuse(unused, f"with a rule file of kind {first.kind} for class probabilities")
    numbers, turned = {}, None
    if using_uncertainty:
        numbers["uncertainty"], turned = _uncertainty_column(using_uncertainty, overrides)
    classes = {name: first.columns[f"{PROBA}{name}"] for name in first.class_names}
    if overrides.proba is None:
        for name in classes:
            role = f"{PROBA}{name}"
            _only("probability", {artifact.columns[role] for artifact in artifacts}, is_replaced=False)
    return Roles(
        numbers=numbers,
        turned=turned,
        classes=_renamed(classes, overrides),
        label=_column(artifacts, "label", overrides) if labelled else None,
        weight=_column(artifacts, "weight", overrides) if labelled and overrides.weighted else None,
        fitted=_fitted_clusters(artifacts) if labelled else (),
        features=tuple(feature for artifact in artifacts for feature in artifact.features()),
    )


def _fitted_clusters(artifacts: Sequence[Saved]) -> tuple[FittedClusters, ...]:
    """Return the clusters, or days, of the first rule fitted with some."""
    for rule in artifacts:
        if (role := rule.source.dependence) is not None:
            return (FittedClusters(column=rule.columns[role], days=role == "day"),)
    return ()


def _renamed(classes: dict[str, str], overrides: ColumnOverrides) -> dict[str, str]:
    """Return the probability column of each class; the rows may use other names than the rule."""
    if overrides.proba is None:
        return classes
    renamed = overrides.proba.renaming(classes)
    own, new = (first_of(list(columns.values()), MOST_NAMED) for columns in (classes, renamed))
    overrides.warn_of("proba", new, own)
    return renamed


def _column(artifacts: Sequence[Saved], role: str, overrides: ColumnOverrides) -> str | None:
    own = {artifact.columns[role] for artifact in artifacts if role in artifact.columns}
    return overrides.column(role, _only(role, own, is_replaced=overrides.replaces(role)))


def _uncertainty_column(artifacts: Sequence[Saved], overrides: ColumnOverrides) -> tuple[str, bool | None]:
    """Return the column of the uncertainty, and ``Roles.turned``."""
    sources = [artifact.source for artifact in artifacts if artifact.source.uncertainty is not None]
    signed = {source.signed_uncertainty or "" for source in sources}
    is_replaced = overrides.replaces("uncertainty")
    column = overrides.column("uncertainty", _only("uncertainty", signed, is_replaced=is_replaced))
    if sources and not is_replaced:
        return sources[0].uncertainty or "", TURNED in sources[0].columns
    return column or "", None


def _only(role: str, names: set[str], *, is_replaced: bool) -> str | None:
    """Return the only column of a role, or None; several are refused unless another one replaces them."""
    if len(names) > 1 and is_replaced:
        return ", ".join(sorted(names))
    if len(names) > 1:
        raise UsageError(
            f"the rules read different {role} columns: {', '.join(sorted(names))}",
            expected="one",
            remedy="use one rule at a time",
        )
    return next(iter(names), None)
