"""Rules of groups, which are those of a column, or the predicted classes."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

import numpy as np

from uqcli.base.choices import GroupBound
from uqcli.base.counts import Bools, Floats, Ints, texts_by_level
from uqcli.base.errors import UsageError, words
from uqcli.base.rows import Rows
from uqcli.base.wording import printable
from uqcli.boundary.promise import Promise
from uqcli.boundary.rule_file import NEW_FORMAT, OTHER_GROUPS, contradictory_thresholds
from uqcli.boundary.rule_part import Decider, Description, reached
from uqcli.boundary.rule_words import (
    ACCEPTED_PREDICTIONS,
    GROUP_HEADER,
    PREDICTED_CLASS,
    group_line,
    group_thresholds,
    rule_in_short,
)
from uqcli.boundary.search.thresholds import decide
from uqcli.engines.probabilities import predictions
from uqcli.engines.protocol import AddedColumns
from uqcli.engines.request import PREDICTED, PROBA, DataRequest, FeatureRequest, Roles
from uqcli.reports.document import Table, in_order
from uqcli.rules.expressions import (
    Case,
    Column,
    Comparison,
    Constant,
    Expression,
    Formula,
    Maximum,
    Name,
    Output,
    lookup,
)


class GroupRules(Decider):
    """A rule for each group of a column; the rule of all rows decides in other groups."""

    @property
    def needs_uncertainty(self) -> bool:
        groups = self.rule.group_rules.values()
        return super().needs_uncertainty or any(len(saved.thresholds) > 1 for saved in groups)

    @property
    def name(self) -> str:
        """Name of the groups in tables."""
        return printable(self.rule.by or "", 30)

    @property
    def title(self) -> str:
        """What the rules are, and of which groups."""
        rule = self.rule
        return f"Boundaries ({rule.algorithm}) of {len(rule.group_rules)} groups of {self.name}"

    def contradiction(self) -> str:
        rule = self.rule
        has_bound, has_key = rule.parameters.bound in list(GroupBound), rule.by or rule.class_names
        if not (rule.group_rules and has_bound and has_key):
            return "its groups are not those of its parameters"
        if rule.format_version != NEW_FORMAT or rule.has_zones or rule.is_raised:
            return "its groups contradict its other fields"
        rules = rule.group_rules.values()
        texts = (contradictory_thresholds(saved.uncertainty_edges, saved.thresholds) for saved in rules)
        return next(filter(None, texts), "")

    def features(self) -> tuple[FeatureRequest, ...]:
        return (FeatureRequest(name=self.rule.by or "", text=True, levels=tuple(self.rule.group_rules)),)

    def group_of(self, rows: Rows) -> Ints:
        """Return the index of the group of each row, -1 for other groups; int64, shape (n,)."""
        level = rows.features[self.rule.by or ""].value
        return np.where(level < len(self.rule.group_rules), level, -1).astype(np.int64)

    def flags(self, rows: Rows) -> Bools:
        group, rule = self.group_of(rows), self.rule
        flagged = np.zeros(len(rows.score), dtype=np.bool_)
        rules = [(saved.uncertainty_edges, saved.thresholds) for saved in rule.group_rules.values()]
        for index, by in enumerate([(rule.uncertainty_edges, rule.thresholds), *rules], -1):
            inside = np.flatnonzero(group == index)
            if len(inside):
                uncertainty = None if rows.uncertainty is None else rows.uncertainty[inside]
                flagged[inside] = decide(rows.score[inside], uncertainty, *by)
        return flagged

    def place_of(self, rows: Rows) -> tuple[Ints, Floats]:
        raise UsageError(words("--top with a rule of groups"), expected="a rule without groups")

    def decision(self, score: Expression, uncertainty: Expression | None) -> Expression:
        rules, texts = self.rule.group_rules, texts_by_level(tuple(self.rule.group_rules))
        decisions = [
            reached(score, uncertainty, saved.uncertainty_edges, saved.thresholds) for saved in rules.values()
        ]
        column, groups = Column(name=self.rule.by or "", kind="text"), [(texts[name],) for name in rules]
        return lookup((column,), groups, decisions, super().decision(score, uncertainty))

    def promised(self, promises: Sequence[Promise]) -> Sequence[Promise]:
        """Promise the bound in each group, of which nothing was expected, if it holds in each."""
        if self.rule.own_key is None:
            return promises
        bound = self.rule.constraint.parsed().numbers[0]
        return [
            replace(promise, bound=bound, origin="target", group=group)
            for group in self.rule.group_rules
            for promise in promises
        ]

    def describe(self, description: Description) -> Description:
        rule, groups = self.rule, self.rule.group_rules
        each = " in each" if rule.parameters.bound is GroupBound.EACH else ""
        are_all = sum(saved.fit.rows for saved in groups.values()) >= rule.fit.rows
        where = description.expected_where if are_all else "expected in these groups"
        return replace(description, title=self.title, data=f"{description.data}{each}", expected_where=where)

    def tables(self, results: Table) -> list[Table]:
        groups, header = self.rule.group_rules, (self.name, *GROUP_HEADER)
        rows = [group_line(name, groups[name].fit, groups[name].thresholds) for name in in_order(groups)]
        others = (OTHER_GROUPS, "", "", "", "", rule_in_short(self.rule.thresholds))
        table = Table(title="", header=header, rows=[*rows, others], text_last=True)
        return [results, table, *group_thresholds(self.name, groups)]


class ClassRules(GroupRules):
    """A rule for each predicted class, which decides whether the prediction is accepted."""

    @property
    def name(self) -> str:
        return PREDICTED_CLASS

    def contradiction(self) -> str:
        if self.rule.by or not set(self.rule.group_rules) <= set(self.rule.class_names):
            return "its groups are not its classes"
        return super().contradiction()

    def features(self) -> tuple[FeatureRequest, ...]:
        return ()

    def request(self, data: DataRequest) -> DataRequest:
        return data.as_predictions(data.roles.numbers.get("uncertainty"))

    def group_of(self, rows: Rows) -> Ints:
        index_of = {name: index for index, name in enumerate(self.rule.group_rules)}
        return np.array([index_of.get(name, -1) for name in self.rule.class_names])[rows.groups[PREDICTED]]

    def columns(self, roles: Roles, prefix: str) -> AddedColumns:
        decision, predicted = f"{prefix}decision", f"{prefix}class"

        def accepted(rows: Rows) -> dict[str, Bools | Ints]:
            made = predictions(rows, roles)
            decided = self.flags(made)
            return {decision: decided, predicted: np.where(decided, made.groups[PREDICTED], -1)}

        return AddedColumns(
            types={decision: "bool", predicted: "text"},
            texts={predicted: tuple(self.rule.class_names)},
            compute=accepted,
        )

    def formula(self) -> Formula:
        """Return the decision on the most probable class, the first of equal ones."""
        rule, uncertainty = self.rule, self.rule.exported_uncertainty()
        columns = tuple(Column(name=rule.columns[f"{PROBA}{name}"]) for name in rule.class_names)
        largest, decision = Name("largest"), Name("decision")
        pooled = reached(largest, uncertainty, rule.uncertainty_edges, rule.thresholds)
        own = {
            name: reached(largest, uncertainty, saved.uncertainty_edges, saved.thresholds)
            for name, saved in rule.group_rules.items()
        }

        def by_class(values: Sequence[Expression]) -> Expression:
            *others, last = values
            if all(value is last for value in others):
                return last
            likely = [Comparison(">=", column, largest) for column in columns[:-1]]
            return Case(tuple(zip(likely, others, strict=True)), last)

        accepted = by_class([own.get(name, pooled) for name in rule.class_names])
        predicted = by_class([Constant(name) for name in rule.class_names])
        numbers = (*columns, *([Column(name=rule.source.uncertainty or "")] if uncertainty else []))
        return Formula(
            inputs=numbers,
            required=tuple(column.name for column in numbers),
            shares=tuple(column.name for column in columns),
            roles=rule.arguments(),
            named=((largest.name, Maximum(columns)), (decision.name, accepted)),
            outputs=(
                Output(name="decision", kind="bool", value=decision),
                Output(name="class", kind="text", value=Case(((decision, predicted),), Constant(None))),
            ),
        )

    def promised(self, promises: Sequence[Promise]) -> Sequence[Promise]:
        return promises  # the part of the groups has said them

    def describe(self, description: Description) -> Description:
        return replace(description, title=self.title, rows=ACCEPTED_PREDICTIONS)
