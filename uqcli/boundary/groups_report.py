"""Boundaries of groups on the calibration set: metrics, a table, and groups without a rule of their own."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import field
from typing import Any, Final

import msgspec

from uqcli.base.choices import GroupBound
from uqcli.base.notices import Notice
from uqcli.base.records import dataclass
from uqcli.base.wording import count, first_of, printable, rows_of
from uqcli.boundary.certificate_rule import SavedCertificate
from uqcli.boundary.rule import GROUP_HEADER, PREDICTED_CLASS, group_line
from uqcli.boundary.search.constraint import Constraint
from uqcli.boundary.search.thresholds import FittedBoundary
from uqcli.engines.request import PREDICTED
from uqcli.estimates.confusion import Confusion
from uqcli.reports.document import Metrics, Table, in_order

_MAX_NAMED: Final = 12


@dataclass(frozen=True, kw_only=True)
class GroupRules:
    """Boundaries by group; none if the constraint cannot be met.

    ``by`` is the key column of the groups, PREDICTED for predicted classes. Groups with fewer than
    ``min_group`` rows, by weight, have no boundary of their own: ``small`` has their rows, and ``rest`` their
    counts, which the boundary of all rows decides. Certificates are those of the certified groups.
    """

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

    def metrics(self) -> Metrics:
        """Return the results by group, and the number of groups that flag nothing."""
        keys = ("precision", "recall", "selected", "true_positives", "rows", "positives")
        by_group = {
            name: {key: getattr(boundary.fit, key) for key in keys}
            for name, boundary in self.boundaries.items()
        }
        return {"by_group": by_group, "groups_without_rule": len(self.without_rule)}

    def payload(self) -> dict[str, Any]:
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
        return payload

    def table(self) -> Table:
        """Build the table of the groups."""
        rows = []
        for name in in_order(self.boundaries):
            boundary = self.boundaries[name]
            rows.append(group_line(name, boundary.fit, boundary.printed))
        if self.rest.rows:
            smaller = group_line(f"smaller ({len(self.small)})", self.rest, (None,))
            rows.append((*smaller[:-1], "rule of all rows"))
        return Table(title="", header=(self.name, *GROUP_HEADER), rows=rows, text_last=True)

    def cautions(self) -> list[Notice]:
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

    def notes(self) -> list[str]:
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
