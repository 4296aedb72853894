"""Rules of the first rows of each group: the rows of a batch are ranked before their labels are counted."""

from __future__ import annotations

from dataclasses import replace

from uqcli.base.errors import UsageError, words
from uqcli.base.wording import printable
from uqcli.boundary.capacity import FirstRowsRule, find_capacity, refuse_unranked
from uqcli.boundary.rule import BoundaryArtifact
from uqcli.engines.columns import MissingColumnError
from uqcli.engines.request import DataRequest
from uqcli.rules.saved import Saved


def ranked(data: DataRequest, rule: Saved, day: str | None) -> tuple[DataRequest, Saved]:
    """Find the first rows in a first pass, with a label or not, and return the request and rule for a second.

    Rules of thresholds need none. ``day`` is the column of the batches, if they are days: each must have all
    rows of its groups.
    """
    if not isinstance(rule, BoundaryArtifact) or not (rule.first.top and rule.first.per):
        return data, rule
    per, roles = rule.first.per, data.roles
    if day not in (None, per):
        raise UsageError(
            words("--day {} with a rule of the first rows of each value of '{}'", day, printable(per, 30)),
            expected=words("--day {}, since a day must have all rows of its groups", per),
        )
    refuse_unranked(data, per)
    every = replace(data, roles=replace(roles, label=None, cluster=None, days=False), positive_value=None)
    try:
        found = find_capacity(every, rule, rule.first.top, per)
    except MissingColumnError as error:
        error.reword(error.words[0], "the rule flags the first rows of each value of this column")
        raise
    found = found.in_order_of(sorted(found.levels))  # the digest of a batch has these numbers
    return found.second_pass(data), FirstRowsRule.of(rule, found)
