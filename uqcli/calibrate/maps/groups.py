"""Heterogeneous calibration by given groups [HC]."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Annotated, ClassVar

from msgspec import Meta

from uqcli.base.choices import CalibrationMethod
from uqcli.base.counts import texts_by_level
from uqcli.calibrate.maps.base import BaseRowMap, Calibrated, Parts
from uqcli.calibrate.maps.leaves import (
    Leaf,
    calibrated_in_leaves,
    contradiction_in_features,
    contradiction_in_leaves,
    leaves_table,
    names_of_leaves,
    terms_of_leaves,
    text_column,
)
from uqcli.calibrate.questions import FeatureColumn
from uqcli.reports.document import Table
from uqcli.rules.expressions import AllOf, Case, Constant, Expression, IsMissing, TextIn

if TYPE_CHECKING:
    from uqcli.base.counts import Floats, Ints
    from uqcli.calibrate.scale import Scale


class GroupsMap(BaseRowMap, frozen=True, kw_only=True, tag_field="map", tag="groups"):
    """One calibration per combination of levels; unknown ones use the last leaf, fitted to all rows."""

    methods: ClassVar[frozenset[CalibrationMethod]] = frozenset({CalibrationMethod.HETEROGENEOUS})

    features: Annotated[list[FeatureColumn], Meta(min_length=1)]
    groups: Annotated[list[list[str | None]], Meta(min_length=1)]
    leaves: Annotated[list[Leaf], Meta(min_length=1)]

    @property
    def has_leaves(self) -> bool:
        """See BaseMap."""
        return True

    def contradiction(self) -> str | None:
        """See BaseMap."""
        return (
            contradiction_in_features(self.features)
            or self._contradiction_in_groups()
            or contradiction_in_leaves(self.leaves)
        )

    def _contradiction_in_groups(self) -> str | None:
        if len(self.leaves) != len(self.groups) + 1:
            return "its groups do not have a leaf each, with one for all others"
        if any(feature.levels is None for feature in self.features):
            return "a feature of groups has no levels"
        if len(set(map(tuple, self.groups))) < len(self.groups):
            return "a group is named twice"
        for group in self.groups:
            if len(group) != len(self.features):
                return "a group does not name a level of each feature"
            for text, column in zip(group, self.features, strict=True):
                if text is not None and text not in (column.levels or ()):
                    return f"'{text}' is no level of '{column.name}'"
        return None

    def predict(
        self,
        corrected: Floats,
        scale: Scale,
        uncertainty: Floats | None = None,
        features: Mapping[str, Floats] | None = None,
    ) -> Calibrated:
        """See BaseMap."""
        from uqcli.calibrate.partition import group_of

        del uncertainty
        leaf = group_of(self.groups, self.features, features or {})
        return Calibrated(probability=calibrated_in_leaves(self.leaves, leaf, corrected, scale), leaf=leaf)

    def exported(
        self, corrected: Expression, scale: Scale, uncertainty: Expression | None = None
    ) -> Expression:
        """See BaseRowMap."""
        del uncertainty
        return self._by_group([leaf.calibration.exported(corrected, scale) for leaf in self.leaves])

    def exported_leaf(self) -> Expression:
        """See BaseRowMap."""
        return self._by_group([Constant(leaf) for leaf in range(len(self.leaves))])

    def _by_group(self, values: Sequence[Expression]) -> Expression:
        """Return the value of a row's group; the last one if it is in none."""
        branches = []
        texts_of_features = [texts_by_level(feature.levels or ()) for feature in self.features]
        for group, value in zip(self.groups, values, strict=False):
            conditions = [
                IsMissing(text_column(feature))
                if level is None
                else TextIn(text_column(feature), texts[level])
                for feature, texts, level in zip(self.features, texts_of_features, group, strict=True)
            ]
            branches.append((AllOf(tuple(conditions)), value))
        return Case(tuple(branches), values[-1])

    @property
    def terms(self) -> tuple[float, float]:
        """See BaseRowMap."""
        return terms_of_leaves(self.leaves)

    def parts(self, uncertainty: Floats | None, leaf: Ints | None) -> Parts | None:
        """Return the parts by group."""
        del uncertainty
        return None if leaf is None else Parts(names=names_of_leaves(self.leaves), index=leaf)

    def steps(self) -> Sequence[float]:
        """See BaseMap."""
        return [step for leaf in self.leaves for step in leaf.calibration.steps()]

    def tables(self, undersampled: float) -> list[Table]:
        """Tabulate its groups."""
        del undersampled
        return [leaves_table("Groups", self.leaves)]
