"""A capacity: the first rows of each group are flagged in the order of their scores, whatever these are."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from fractions import Fraction

from uqcli.base.counts import Bools
from uqcli.base.errors import UsageError, words
from uqcli.base.rows import Rows
from uqcli.base.wording import printable
from uqcli.boundary.promise import Promise
from uqcli.boundary.rule_file import CAPACITY_FORMAT
from uqcli.boundary.rule_part import Decider, Description
from uqcli.boundary.rule_words import FLAGGED_ROWS, highest_ranked
from uqcli.estimates.confusion import Rate
from uqcli.reports.document import Table
from uqcli.rules.expressions import Formula
from uqcli.rules.saved import given, present


class FirstRows(Decider):
    """The first rows of each value of a column. A row alone is not decided: the others of its group count."""

    def contradiction(self) -> str:
        rule = self.rule
        if rule.format_version != CAPACITY_FORMAT:
            return "its capacity is not of its format version"
        has_others = rule.has_zones or rule.group_rules or rule.class_names or rule.is_raised
        if has_others or rule.thresholds != [None]:
            return "its capacity contradicts its thresholds"
        return ""

    @property
    def _policy(self) -> str:
        capacity = present(self.rule.capacity)
        return f"{highest_ranked(capacity.top)} of each value of '{printable(capacity.per, 30)}'"

    def describe(self, description: Description) -> Description:
        words_for_rows = replace(FLAGGED_ROWS, flags=f"Flags {self._policy}:")
        return replace(description, title="Rule", policy=self._policy, rows=words_for_rows)

    def tables(self, results: Table) -> list[Table]:
        return [results]

    def promised(self, promises: Sequence[Promise]) -> Sequence[Promise]:
        del promises
        bound = Fraction(str(self._expected_low or 0))
        return [Promise(rate=str(Rate.PRECISION), bound=bound, origin="lower end of what was expected")]

    @property
    def _expected_low(self) -> float | None:
        """Lower end of the expected precision, if it has a range."""
        expected = given(self.rule.expected)
        ends = expected.precision.estimate.ends if expected else ()
        return ends[0] if ends else None

    def unpromised(self) -> UsageError | None:
        if self._expected_low:
            return None
        return UsageError(
            "the rule has no expected precision with a range",
            expected="a rule of enough days or groups",
            remedy=words("give --bound S to watch its precision"),
        )

    def flags(self, rows: Rows) -> Bools:
        raise self._refusal()

    def formula(self) -> Formula:
        raise self._refusal()

    def _refusal(self) -> UsageError:
        return UsageError(
            f"the rule flags {self._policy}, so that no row is decided by itself",
            expected="a rule of thresholds",
            remedy=words("use apply, evaluate or watch, which rank all rows of a group"),
        )
