"""Kind ``boundary``: thresholds on the score per uncertainty bin."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from functools import cached_property

import numpy as np

from uqcli.base.counts import Bools, Floats, Ints
from uqcli.base.rows import Rows
from uqcli.base.wording import count, percent
from uqcli.boundary.rule_file import ZONES, Fit, SavedBoundary, SavedGroup
from uqcli.boundary.rule_part import Decider, Description, RulePart
from uqcli.boundary.rule_parts.registry import parts_of, unowned_keys
from uqcli.boundary.rule_words import boundary_card, precision_cell, ranges_by
from uqcli.engines.protocol import AddedColumns
from uqcli.engines.request import DataRequest, FeatureRequest, Roles
from uqcli.reports.document import Document, Metrics, Table, Verdict
from uqcli.rules.columns import NewColumns
from uqcli.rules.expressions import Formula

__all__ = ["ZONES", "BoundaryArtifact", "Fit", "SavedGroup", "groups_of"]


class BoundaryArtifact(SavedBoundary, frozen=True, kw_only=True, dict=True):
    """A decision boundary: a row is flagged iff its score reaches the threshold of its uncertainty bin."""

    @cached_property
    def _parts(self) -> Sequence[RulePart]:
        return parts_of(self)

    @cached_property
    def _decider(self) -> Decider:
        return [part for part in self._parts if isinstance(part, Decider)][-1]

    @cached_property
    def _said(self) -> Description:
        said = self._decider.description()
        for part in self._parts:
            said = part.describe(said)
        return said

    def unread_keys(self) -> Sequence[str]:
        """See Saved."""
        return sorted(unowned_keys(self))

    def contradiction(self) -> str:
        """See Saved."""
        contradictions = (part.contradiction() for part in self._parts)
        return next(filter(None, contradictions), "") or self.missing_columns()

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
        return self._said.metrics

    @property
    def alert_rate(self) -> float | None:
        """See Saved; None if the calibration rows were drawn above or below a score."""
        selected, rows = self.fit.flagged
        return None if self.region else selected / rows

    def document(self) -> Document:
        """See Saved."""
        fit, source, said, region = self.fit, self.source, self._said, self.region
        certified = f", certified at a risk of {100 * said.risk:g} %" if said.risk else ""
        precision, recall = precision_cell(fit), percent(fit.recall)
        if region:
            precision, recall = "-" if region.is_below else precision, "-"
        line = (said.where, recall, precision, count(fit.selected))
        expected = [(said.expected_where, *said.expected_cells)] if said.expected_cells else []
        header = (ranges_by(source) if expected else "", "recall", "precision", "flagged")
        results = Table(title="", header=header, rows=[line, *expected])
        made = f"{self.made_from()}, {count(source.positives)} positive, {count(source.dropped)} dropped."
        lead, note = (said.on_scores, ()) if self.is_raised else ((), said.on_scores)
        if self.unsealed:
            said = replace(said, verdict=Verdict(text=self.unsealed, tone="bad"))
        return Document(
            title=f"{said.title} for {self._target(certified)}",
            lead=lead,
            tables=self._decider.tables(results),
            notes=[*note, *said.certificate, f"Columns: {source.columns_in_words()}.", made],
            card=boundary_card(fit, said),
        )

    def in_a_sentence(self) -> str:
        """See Saved: with its result on the calibration set."""
        selected, rows = self.fit.flagged
        drawn = f", drawn from scores {self.region}" if self.region else ""
        target = self._target(", certified" if self._said.risk else "")
        flagged = f"{percent(selected / rows)} of its calibration set{drawn}"
        return f"The rule was fitted for {target} (algorithm {self.algorithm}); it flagged {flagged}"

    def _target(self, certified: str) -> str:
        """State what it is for."""
        said, constraint = self._said, self.constraint.parsed()
        bounds = constraint.text() if certified else constraint.target()
        return f"{bounds}{said.data}{said.margin}{said.limit}{certified}{said.limit_beside}"


def groups_of(rows: Rows, by: str) -> Ints:
    """Return the group of each row: of a key column, or of a rule's own column."""
    if by in rows.groups:
        return rows.groups[by]
    feature = rows.features[by]
    others = len(feature.levels or ())
    return np.where(feature.value < 0, others, feature.value).astype(np.int64)
