"""Boundaries of groups on the calibration set: metrics, a table, and groups without a rule of their own."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import field, replace
from typing import Any, ClassVar, Final

import msgspec

from uqcli.base.choices import GroupBound
from uqcli.base.notices import Notice
from uqcli.base.records import dataclass
from uqcli.base.wording import count, first_of, printable, rows_of
from uqcli.boundary.certificate_rule import SavedCertificate
from uqcli.boundary.rule_file import NEW_FORMAT, GroupFit, SavedGroup
from uqcli.boundary.rule_words import (
    ACCEPTED_PREDICTIONS,
    GROUP_HEADER,
    PREDICTED_CLASS,
    ROWS_ARE_PREDICTIONS,
    group_line,
    group_thresholds,
)
from uqcli.boundary.search.constraint import Constraint
from uqcli.boundary.search.thresholds import FittedBoundary
from uqcli.boundary.statements import BoundaryPart, Fact, Phrases
from uqcli.engines.request import PREDICTED
from uqcli.estimates.confusion import Confusion
from uqcli.reports.document import Metrics, Table, in_order
from uqcli.reports.parts import Statement
from uqcli.rules.saved import absent_if_none

_MAX_NAMED: Final = 12


@dataclass(frozen=True, kw_only=True)
class GroupRules(BoundaryPart):
    """Boundaries by group; none if the constraint cannot be met.

    ``by`` is the key column of the groups, PREDICTED for predicted classes. Groups with fewer than
    ``min_group`` rows, by weight, have no boundary of their own: ``small`` has their rows, and ``rest`` their
    counts, which the boundary of all rows decides. Certificates are those of the certified groups.
    """

    rank: ClassVar = 2

    by: str
    bound: GroupBound
    min_group: int
    boundaries: Mapping[str, FittedBoundary]
    small: Mapping[str, int]
    rest: Confusion[int]
    constraint: Constraint
    certificates: Mapping[str, SavedCertificate] = field(default_factory=dict)

    @property
    def name(self) -> str:
        """Name of the column in tables."""
        return PREDICTED_CLASS if self.by == PREDICTED else self.by

    @property
    def without_rule(self) -> list[str]:
        """Groups whose boundary flags nothing."""
        return [name for name, boundary in self.boundaries.items() if not boundary.fit.selected]

    def voids(self) -> Iterable[Fact]:
        return Fact.ONE_RULE, Fact.ONE_THRESHOLD

    def reworded(self, phrases: Phrases) -> Phrases:
        phrases = replace(phrases, no_boundary="no boundary of a group", advice="")
        if self.by == PREDICTED:
            phrases = replace(phrases, rows=ACCEPTED_PREDICTIONS)
        if self.rest.rows:  # what is expected of the groups is not that of all rows
            where = "new rows of the groups with a rule of their own"
            phrases = replace(phrases, where=where, expected=())
        return phrases

    def statements(self, phrases: Phrases) -> Iterator[Statement]:
        if self.by == PREDICTED:
            yield "predictions", ROWS_ARE_PREDICTIONS
        for caution in self._cautions():
            yield "groups-without-rule", caution
        for sentence in self._notes():
            yield "bound-by-group", sentence
        yield "rules-of-groups", self

    def exhibits(self, phrases: Phrases) -> Iterator[Statement]:
        yield "groups", self._table()
        for table in group_thresholds(self.name, self.boundaries):
            yield "thresholds-of-groups", table

    def metrics(self, phrases: Phrases) -> Metrics:
        """Return the results by group, and the number of groups that flag nothing."""
        keys = ("precision", "recall", "selected", "true_positives", "rows", "positives")
        by_group = {
            name: {key: getattr(boundary.fit, key) for key in keys}
            for name, boundary in self.boundaries.items()
        }
        return {"by_group": by_group, "groups_without_rule": len(self.without_rule)}

    def payload(self, phrases: Phrases) -> Mapping[str, Any]:
        """Return the thresholds by group."""
        payload: dict[str, dict[str, Any]] = {
            name: {
                "uncertainty_edges": boundary.uncertainty_edges.tolist(),
                "thresholds": list(boundary.thresholds),
            }
            for name, boundary in self.boundaries.items()
        }
        for name, certificate in self.certificates.items():
            payload[name]["certificate"] = msgspec.to_builtins(certificate)
        return {"groups": payload}

    def saved(self) -> Mapping[str, Any]:
        return {
            "format_version": NEW_FORMAT,
            "groups": {
                name: SavedGroup(
                    uncertainty_edges=boundary.uncertainty_edges.tolist(),
                    thresholds=list(boundary.thresholds),
                    fit=msgspec.convert(boundary.fit, GroupFit, from_attributes=True),
                    certificate=absent_if_none(self.certificates.get(name)),
                )
                for name, boundary in self.boundaries.items()
            },
        }

    def _table(self) -> Table:
        """Build the table of the groups."""
        rows = []
        for name in in_order(self.boundaries):
            boundary = self.boundaries[name]
            rows.append(group_line(name, boundary.fit, boundary.printed))
        if self.rest.rows:
            smaller = group_line(f"smaller ({len(self.small)})", self.rest, (None,))
            rows.append((*smaller[:-1], "rule of all rows"))
        return Table(title="", header=(self.name, *GROUP_HEADER), rows=rows, text_last=True)

    def _cautions(self) -> list[Notice]:
        """Name the groups that flag nothing."""
        if not self.without_rule:
            return []
        names = first_of([printable(name, 40) for name in in_order(self.without_rule)], _MAX_NAMED)
        is_limit = self.constraint.is_upper and not self.constraint.also
        missed = "that flags a row keeps within the limit" if is_limit else "reaches the target"
        reason = (
            f"since no rule {'is certified' if self.certificates else missed} there: "
            f"{self.constraint.easier}, or use more labelled rows of them"
        )
        if self.bound is GroupBound.OVERALL:
            reason = "since alerts in other groups find more: add --bound each to search each group by itself"
        return [Notice("groups-without-rule", f"the rule flags nothing in {names}, {reason}.")]

    def _notes(self) -> list[str]:
        """State in which rows the bound holds, and which groups have no boundary of their own."""
        where = {
            GroupBound.OVERALL: "The target applies to these groups together; a single group may miss it.",
            GroupBound.EACH: "The target holds in each of these groups.",
        }
        if self.certificates and self.without_rule:
            where[GroupBound.EACH] = "The target holds in each of these groups that has a rule."
        if not self.small:
            return [where[self.bound]]
        listed = [f"{printable(name, 40)} ({count(self.small[name])})" for name in in_order(self.small)]
        names = first_of(listed, _MAX_NAMED)
        uncertified = ", which is not certified" if self.certificates else ""
        return [
            where[self.bound],
            f"Groups below {rows_of(self.min_group)} use the rule of all rows{uncertified}: {names}.",
        ]
