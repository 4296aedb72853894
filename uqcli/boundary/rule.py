"""Kind ``boundary``: thresholds on the score per uncertainty bin."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from functools import cached_property
from typing import ClassVar

import numpy as np

from uqcli.base.counts import Bools, Floats, Ints
from uqcli.base.errors import UsageError
from uqcli.base.rows import Rows
from uqcli.base.wording import count, percent
from uqcli.boundary.promise import Promise
from uqcli.boundary.rule_file import SavedBoundary
from uqcli.boundary.rule_part import Decider, Description, RulePart
from uqcli.boundary.rule_parts.registry import parts_of, unowned_keys
from uqcli.boundary.rule_words import boundary_card, precision_cell, ranges_by
from uqcli.engines.protocol import AddedColumns
from uqcli.engines.request import DataRequest, FeatureRequest, Roles
from uqcli.reports.document import Document, Metrics, Table, Verdict
from uqcli.rules.columns import NewColumns
from uqcli.rules.expressions import Formula


class BoundaryArtifact(SavedBoundary, frozen=True, kw_only=True, dict=True):
    """A decision boundary: a row is flagged iff its score reaches the threshold of its uncertainty bin."""

    by_thresholds: ClassVar[bool] = True
    """Whether its thresholds decide, which its target is about."""

    @cached_property
    def _parts(self) -> Sequence[RulePart]:
        return parts_of(self)

    @cached_property
    def _decider(self) -> Decider:
        return [part for part in self._parts if isinstance(part, Decider)][-1]

    @cached_property
    def _description(self) -> Description:
        description = self._decider.plain_description()
        for part in self._parts:
            description = part.describe(description)
        return description

    def unread_keys(self) -> Sequence[str]:
        """See Saved."""
        return sorted(unowned_keys(self))

    def contradiction(self) -> str:
        """See Saved."""
        contradictions = (part.contradiction() for part in self._parts)
        return next(filter(None, contradictions), "") or self.missing_columns()

    def promises(self) -> Sequence[Promise]:
        """Return the rates that it promises on new rows: those of its bounds, as its parts change them."""
        promises: Sequence[Promise] = self._decider.plain_promises()
        for part in self._parts:
            promises = part.promised(promises)
        return promises

    def unpromised(self) -> UsageError | None:
        """Return why it cannot be watched without a bound; None if it promises a rate."""
        return self._decider.unpromised()

    @property
    def needs_uncertainty(self) -> bool:
        """See Saved."""
        return self._decider.needs_uncertainty

    def features(self) -> tuple[FeatureRequest, ...]:
        """See Saved."""
        return self._decider.features()

    def as_decided(self, data: DataRequest) -> DataRequest:
        """Let rows be predictions if it decides on predicted classes."""
        return self._decider.request(data)

    def decide(self, rows: Rows) -> Bools:
        """Decide which rows are flagged, or which predictions are accepted."""
        return self._decider.flags(rows)

    def zones(self, rows: Rows) -> Ints:
        """Return the zone of every row, as an index into ZONES; there are two without a review."""
        return self._decider.zones(rows)

    def place_of(self, rows: Rows) -> tuple[Ints, Floats]:
        """Return the place of each row among the nested rules, and its score, which orders rows of one place.

        A rule that does not order rows is a UsageError.
        """
        return self._decider.place_of(rows)

    def adds(self, roles: Roles, new_columns: NewColumns) -> AddedColumns:
        """See Saved: the decision, and the zone or the predicted class."""
        return self._decider.columns(roles, new_columns.prefix)

    def formula(self) -> Formula:
        """See Saved."""
        return self._decider.formula()

    def metrics(self) -> Metrics:
        """See Saved: its results on the calibration set."""
        return self._description.metrics

    @property
    def alert_rate(self) -> float | None:
        """See Saved; None if the calibration rows were drawn above or below a score."""
        selected, rows = self.fit.flagged
        return None if self.region else selected / rows

    def document(self) -> Document:
        """See Saved."""
        source, description = self.source, self._description
        certified = f", certified at a risk of {100 * description.risk:g} %" if description.risk else ""
        made = f"{self.made_from()}, {count(source.positives)} positive, {count(source.dropped)} dropped."
        lead = description.on_scores if self.is_raised else ()
        if self.unsealed:
            description = replace(description, verdict=Verdict(text=self.unsealed, tone="bad"))
        return Document(
            title=f"{description.title} for {self._target(certified)}",
            lead=lead,
            tables=self._decider.tables(self._results()),
            notes=[
                *(() if lead else description.on_scores),
                *description.certificate,
                f"Columns: {source.columns_in_words()}.",
                made,
            ],
            card=boundary_card(self.fit, description),
        )

    def _results(self) -> Table:
        """Tabulate the results on the calibration set, and those to expect."""
        fit, description, region = self.fit, self._description, self.region
        precision, recall = precision_cell(fit), percent(fit.recall)
        if region:
            precision, recall = "-" if region.is_below else precision, "-"
        lines = [(description.where, recall, precision, count(fit.selected))]
        if cells := description.expected_cells:
            lines.append((description.expected_where, *cells, ""))
        header = (ranges_by(self.source) if cells else "", "recall", "precision", "flagged")
        return Table(title="", header=header, rows=lines)

    def in_a_sentence(self) -> str:
        """See Saved: with its result on the calibration set."""
        selected, rows = self.fit.flagged
        drawn = f", drawn from scores {self.region}" if self.region else ""
        target = self._target(", certified" if self._description.risk else "")
        flagged = f"{percent(selected / rows)} of its calibration set{drawn}"
        return f"The rule was fitted for {target} (algorithm {self.algorithm}); it flagged {flagged}"

    def _target(self, certified: str) -> str:
        """State what it is for."""
        text, constraint = self._description, self.constraint.parsed()
        bounds = text.policy or (constraint.text() if certified else constraint.target())
        return f"{bounds}{text.data}{text.margin}{text.limit}{certified}{text.limit_beside}"


def groups_of(rows: Rows, by: str) -> Ints:
    """Return the group of each row: of a key column, or of a rule's own column."""
    if by in rows.groups:
        return rows.groups[by]
    feature = rows.features[by]
    others = len(feature.levels or ())
    return np.where(feature.value < 0, others, feature.value).astype(np.int64)
