"""A part of a boundary's rule: it contradicts, decides rows, or fills the description of the rule.

A part is made from the file, and reads its keys there. Parts do not know each other.
"""

from __future__ import annotations

from collections.abc import Sequence
from fractions import Fraction

import msgspec
import numpy as np

from uqcli.base.counts import Bools, Floats, Ints
from uqcli.base.defaults import FORMAT_VERSION
from uqcli.base.errors import UsageError, words
from uqcli.base.records import dataclass
from uqcli.base.rows import Rows
from uqcli.base.wording import listed
from uqcli.boundary.promise import Promise
from uqcli.boundary.rule_file import (
    NEW_FORMAT,
    ZONES,
    SavedBoundary,
    SavedConstraint,
    contradictory_thresholds,
)
from uqcli.boundary.rule_words import Holes, threshold_table
from uqcli.boundary.search.constraint_kinds import PROMISED
from uqcli.boundary.search.thresholds import as_numbers, decide
from uqcli.engines.protocol import AddedColumns
from uqcli.engines.request import DataRequest, FeatureRequest, Roles
from uqcli.estimates.confusion import Rate
from uqcli.reports.document import Metrics, Table
from uqcli.rules.expressions import Column, Comparison, Constant, Expression, Formula, Output, Steps


@dataclass(frozen=True, kw_only=True)
class Description(Holes):
    """Metrics of a rule, and holes of the sentences on it; parts fill them in turn.

    ``where`` names the rows of its results, and ``expected_where`` those to which the expected recall and
    precision apply. ``policy`` takes the place of its bounds if it has no thresholds. ``data`` and ``margin``
    follow its bounds, then ``limit``, which is certified with them, and ``limit_beside``, which is not.
    ``risk`` is that of a certificate; 0 without one.
    """

    title: str
    metrics: Metrics
    where: str = "calibration set"
    expected_cells: tuple[str, str] | tuple[()] = ()
    expected_where: str = "expected on new data"
    policy: str = ""
    data: str = ""
    margin: str = ""
    limit: str = ""
    limit_beside: str = ""
    on_scores: tuple[str, ...] = ()
    risk: float = 0.0
    certificate: tuple[str, ...] = ()


@dataclass(frozen=True, kw_only=True, eq=False)
class RulePart:
    """A feature of a rule, which owns keys of its file. By default it changes nothing."""

    rule: SavedBoundary

    def contradiction(self) -> str:
        """Find the first contradiction of its keys; empty if there is none."""
        return ""

    def describe(self, description: Description) -> Description:
        """Return the description, filled by it."""
        return description

    def promised(self, promises: Sequence[Promise]) -> Sequence[Promise]:
        """Return what the rule promises, changed by it."""
        return promises


class Decider(RulePart):
    """A part that decides rows: those whose score reaches the threshold of its uncertainty bin are flagged.

    Every rule has this one; of several deciders, the last one decides.
    """

    def contradiction(self) -> str:
        rule, newer = self.rule, "its format version is not that of its fields"
        try:
            constraint = rule.constraint.parsed()
        except UsageError as error:
            return str(error)
        if rule.constraint.has_several and SavedConstraint.of(constraint) != rule.constraint:
            return "its bounds are not in order"
        if constraint.amounts and (rule.format_version != NEW_FORMAT or rule.fit.value is msgspec.UNSET):
            return f"its value is missing, or {newer}"
        if rule.format_version != FORMAT_VERSION and not rule.newer_fields:
            return f"its review is incomplete, or {newer}"
        contradiction = contradictory_thresholds(rule.uncertainty_edges, rule.thresholds)
        return contradiction or ("" if rule.fit.adds_up else "its fit counts contradict each other")

    def plain_description(self) -> Description:
        """Describe the thresholds, before other parts do."""
        fit, title = self.rule.fit, f"Boundary ({self.rule.algorithm})"
        metrics = {"precision": fit.precision, "recall": fit.recall, "selected": fit.selected}
        return Description(title=title, metrics=metrics, flagged=fit.flagged)

    def plain_promises(self) -> list[Promise]:
        """Return the bounds that it was fitted for, before other parts change them; else a precision."""
        bounds = self.rule.constraint.parsed().promised_bounds or {str(Rate.PRECISION): Fraction(0)}
        return [Promise(rate=rate, bound=bound, origin="target") for rate, bound in bounds.items()]

    def unpromised(self) -> UsageError | None:
        """Return the error of watching a rule that promises no rate; None if it does."""
        constraint = self.rule.constraint.parsed()
        if constraint.promised_bounds:
            return None
        return UsageError(
            f"a rule for {constraint.text()} has no rate as its target",
            expected=f"a rule for a {listed((rule.name for rule in PROMISED.values()), 'or')}",
            remedy=words("give --bound S to watch its precision"),
        )

    def tables(self, results: Table) -> list[Table]:
        """Return its tables, with that of the results."""
        rule = self.rule
        thresholds = threshold_table(rule.uncertainty_edges, rule.thresholds, raised=rule.is_raised)
        return [thresholds, results]

    @property
    def needs_uncertainty(self) -> bool:
        """Whether decisions use the uncertainty."""
        return len(self.rule.thresholds) > 1

    def features(self) -> tuple[FeatureRequest, ...]:
        """Return the columns that it reads besides score and uncertainty."""
        return ()

    def request(self, data: DataRequest) -> DataRequest:
        """Return the request for the rows that it decides."""
        return data

    def compared(self, rows: Rows) -> Floats:
        """Return the scores that are compared with thresholds."""
        return rows.score

    def flags(self, rows: Rows) -> Bools:
        """Decide which rows are flagged."""
        rule = self.rule
        return decide(self.compared(rows), rows.uncertainty, rule.uncertainty_edges, rule.thresholds)

    def zones(self, rows: Rows) -> Ints:
        """Return the zone of every row, as an index into ZONES."""
        return np.where(self.flags(rows), 0, len(ZONES) - 1)

    def place_of(self, rows: Rows) -> tuple[Ints, Floats]:
        """Return the place of each row, and its score, which orders rows of one place; or refuse."""
        if len(self.rule.thresholds) > 1:
            raise UsageError(
                words("--top with a rule that has several thresholds and no order of rows"),
                expected=words("a rule of --algorithm smooth"),
                remedy="fit the rule again",
            )
        return np.zeros(len(rows), dtype=np.int64), self.compared(rows)

    def columns(self, roles: Roles, prefix: str) -> AddedColumns:
        """Return the columns that it adds to every row."""
        decision = f"{prefix}decision"
        return AddedColumns(types={decision: "bool"}, compute=lambda rows: {decision: self.flags(rows)})

    def decision(self, score: Expression, uncertainty: Expression | None) -> Expression:
        """Return whether a row is flagged, as an expression."""
        return reached(score, uncertainty, self.rule.uncertainty_edges, self.rule.thresholds)

    def outputs(self, score: Expression, uncertainty: Expression | None) -> tuple[Output, ...]:
        """Return what it adds to a row, as expressions."""
        return (Output(name="decision", kind="bool", value=self.decision(score, uncertainty)),)

    def formula(self) -> Formula:
        """Return what it adds to a row, and the columns that it reads for this."""
        rule = self.rule
        uncertain = [rule.source.uncertainty or ""] if self.needs_uncertainty else []
        required = tuple(dict.fromkeys([rule.columns["score"], *uncertain]))
        texts = (Column(name=feature.name, kind="text") for feature in self.features())
        return Formula(
            inputs=(*(Column(name=name) for name in required), *texts),
            required=required,
            outputs=self.outputs(Column(name=required[0]), rule.exported_uncertainty()),
            roles=rule.arguments(),
            unused="" if uncertain else "uncertainty",
        )


def reached(
    score: Expression,
    uncertainty: Expression | None,
    edges: Sequence[float],
    thresholds: Sequence[float | None],
) -> Expression:
    """Return whether a score reaches the threshold of its uncertainty bin, as an expression."""
    values = tuple(map(Constant, as_numbers(thresholds)))
    if len(values) == 1 or uncertainty is None:
        return Comparison(">=", score, values[0])
    return Comparison(">=", score, Steps(uncertainty, tuple(edges), values))
