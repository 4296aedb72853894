"""A review of the rows below a boundary: a second row of thresholds separates it from cleared rows."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import replace

import numpy as np

from uqcli.base.counts import Bools, Floats, Ints
from uqcli.base.errors import UsageError, words
from uqcli.base.rows import Rows
from uqcli.boundary.promise import Promise
from uqcli.boundary.rule_file import NEW_FORMAT, ZONES
from uqcli.boundary.rule_part import Decider, Description, reached
from uqcli.boundary.rule_words import threshold_table, zone_rates, zones_table
from uqcli.boundary.search.thresholds import as_numbers, decide
from uqcli.engines.protocol import AddedColumns
from uqcli.engines.request import Roles
from uqcli.reports.document import Table
from uqcli.rules.expressions import Case, Constant, Expression, Output
from uqcli.rules.saved import present


class Review(Decider):
    """Thresholds of the review, its limit, and its rows."""

    @property
    def _lowest(self) -> list[float | None]:
        return present(self.rule.review_thresholds)

    def contradiction(self) -> str:
        rule, constraint = self.rule, self.rule.constraint
        is_new = rule.format_version == NEW_FORMAT and not rule.group_rules and not constraint.amounts
        if not (rule.review and rule.has_zones and rule.fit.zones and is_new):
            return "its review is incomplete, or its format version is not that of its fields"
        try:
            rule.review.limit  # noqa: B018  it is parsed
        except UsageError as error:
            return str(error)
        if len(self._lowest) != len(rule.thresholds):
            return f"{len(self._lowest)} review thresholds for {len(rule.thresholds)} thresholds"
        if rule.is_raised or not all(math.isfinite(low) for low in self._lowest if low is not None):
            return "its review thresholds are not finite, or on raised scores"
        pairs = zip(as_numbers(self._lowest), as_numbers(rule.thresholds), strict=True)
        above = any(high < low < math.inf for low, high in pairs)
        return "a review threshold is above its threshold" if above else ""

    def zones(self, rows: Rows) -> Ints:
        caught = decide(rows.score, rows.uncertainty, self.rule.uncertainty_edges, self._lowest)
        return np.where(self.flags(rows), 0, np.where(caught, 1, len(ZONES) - 1))

    def place_of(self, rows: Rows) -> tuple[Ints, Floats]:
        raise UsageError(words("--top with a rule of a review"), expected="a rule without a review")

    def columns(self, roles: Roles, prefix: str) -> AddedColumns:
        decision, zone = f"{prefix}decision", f"{prefix}zone"

        def decided(rows: Rows) -> dict[str, Bools | Ints]:
            zones = self.zones(rows)
            return {decision: zones == ZONES.index("flag"), zone: zones}

        return AddedColumns(types={decision: "bool", zone: "text"}, texts={zone: ZONES}, compute=decided)

    def outputs(self, score: Expression, uncertainty: Expression | None) -> tuple[Output, ...]:
        (decision,) = super().outputs(score, uncertainty)
        caught = reached(score, uncertainty, self.rule.uncertainty_edges, self._lowest)
        flag, review, clear = map(Constant, ZONES)
        zone = Case(((decision.value, flag), (caught, review)), clear)
        return decision, Output(name="zone", kind="text", value=zone)

    def promised(self, promises: Sequence[Promise]) -> Sequence[Promise]:
        limit = present(self.rule.parameters.review).limit
        if not limit.is_promise:
            return promises
        return [*promises, Promise(rate=str(limit.rate), bound=limit.number, origin="target")]

    def describe(self, description: Description) -> Description:
        review = present(self.rule.parameters.review)
        description = replace(description, metrics={**description.metrics, **zone_rates(self.rule.fit)})
        text = f", {review.limit.text()}"
        if review.limit.is_promise:
            return replace(description, limit=text)  # certified as well
        return replace(description, limit_beside=text)

    def tables(self, results: Table) -> list[Table]:
        rule = self.rule
        thresholds = threshold_table(rule.uncertainty_edges, rule.thresholds, self._lowest)
        return [results, zones_table(rule.fit), thresholds]
