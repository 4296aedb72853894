"""Rules fitted on windows of a history, and what each flags day by day.

A rule equals that of ``boundary`` on the labelled rows of its window.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import replace
from typing import TypeAlias

import numpy as np

from uqcli.backtest.history import DatedRows, History
from uqcli.backtest.options import BacktestRequest
from uqcli.backtest.periods import Window
from uqcli.base.amounts import units
from uqcli.base.choices import GroupBound
from uqcli.base.counts import Bools, Feature, Ints
from uqcli.base.defaults import GROUP_BOUND
from uqcli.base.errors import DataError, InfeasibleError
from uqcli.base.records import dataclass
from uqcli.base.rows import Rows
from uqcli.base.running.messages import without_messages
from uqcli.boundary.artifact import with_days
from uqcli.boundary.options import (
    BinOptions,
    BoundaryRequest,
    CertificateOptions,
    GridOptions,
    GroupOptions,
    Target,
)
from uqcli.boundary.rule import BoundaryArtifact
from uqcli.boundary.rule_file import SavedExpected
from uqcli.boundary.run import fitted
from uqcli.boundary.search.constraint import Constraint
from uqcli.engines.request import FeatureRequest
from uqcli.estimates.confusion import Confusion

Flags: TypeAlias = Callable[[DatedRows], Bools]
"""Which rows of a history are flagged; shape (n,)."""


@dataclass(frozen=True, kw_only=True, eq=False)
class DayCounts:
    """Rows by calendar day of a history: int64, shape (days,).

    ``every`` are the rows with a label or not, and ``alerts`` the flagged ones among them. The other counts
    are of labelled rows, ``flagged`` those of them that are flagged, and ``value`` the sum of what flagging
    them is worth, in units.
    """

    every: Ints
    alerts: Ints
    rows: Ints
    positives: Ints
    flagged: Ints
    true_positives: Ints
    value: Ints

    def total(self, days: slice) -> Confusion[int]:
        """Add up some days."""
        rows, positives, flagged, hits = (
            int(counts[days].sum())
            for counts in (self.rows, self.positives, self.flagged, self.true_positives)
        )
        return Confusion(rows=rows, positives=positives, selected=flagged, true_positives=hits)

    def by_day(self, days: slice | Ints) -> Confusion[Ints]:
        """Return some days."""
        return Confusion(
            rows=self.rows[days],
            positives=self.positives[days],
            selected=self.flagged[days],
            true_positives=self.true_positives[days],
        )

    def by_period(self, starts: Sequence[int]) -> DayCounts:
        """Add up the days from each of some ascending days to the next one; shape (periods,)."""
        return DayCounts(**{name: np.add.reduceat(counts, starts) for name, counts in vars(self).items()})

    def until(self, day: int, later: DayCounts) -> DayCounts:
        """Return the counts before a day, and others from that day on."""
        others = vars(later)
        return DayCounts(
            **{name: np.append(counts[:day], others[name][day:]) for name, counts in vars(self).items()}
        )


@dataclass(frozen=True, kw_only=True, eq=False)
class WindowRule:
    """What was fitted on the days of a window, for the period that begins after it and all later ones.

    ``rule`` is None if none was found, for a ``reason``. ``counts`` are those of all days, by what it flags.
    """

    period: int
    window: Window
    rule: BoundaryArtifact | None
    counts: DayCounts
    reason: str = ""

    @property
    def expected_precision(self) -> float | None:
        """Precision that was expected on new rows; None if nothing was."""
        if self.rule is None or not isinstance(self.rule.expected, SavedExpected):
            return None
        return self.rule.expected.precision.value


def fit_window(
    history: History, request: BacktestRequest, constraint: Constraint, window: Window, period: int
) -> WindowRule:
    """Fit a rule on the days of a window; if their rows allow none, the reason is kept.

    A margin counts standard errors of independent rows, which ``boundary`` does not combine with days.
    """
    data, column = history.window(window).grouped_by(request.by), str(history.roles.cluster)
    is_of_score = "uncertainty" not in history.roles.numbers
    certifies_groups = request.by is not None and request.certify is not None
    boundary = BoundaryRequest(
        data=data,
        target=Target(constraint=constraint),
        bins=BinOptions(uncertainty_bins=1 if is_of_score else None),
        certificate=CertificateOptions(certify=request.certify),
        groups=GroupOptions(by=request.by, bound=GroupBound.EACH if certifies_groups else GROUP_BOUND),
        source=GridOptions(seed=request.seed),
    )
    is_alone = boundary.groups.by is None and not boundary.certificate.is_asked and not constraint.amounts
    has_counts = is_of_score and is_alone  # then the days need not be read again
    if not constraint.margin and not has_counts:
        boundary = boundary.on(data.clustered_by(column, days=True))
    rule, reason = None, "no thresholds meet the target"
    try:
        with without_messages():
            rule = fitted(boundary)
    except (DataError, InfeasibleError) as error:
        reason = error.found
    counts = counts_of(history, no_flags if rule is None else flags_of(rule), constraint)
    if rule and has_counts and not constraint.margin:
        with_rows = np.flatnonzero(history.labelled.number)
        inside = with_rows[(with_rows >= window.first) & (with_rows < window.end)]
        rule = with_days(rule, column, counts.by_day(inside))
    return WindowRule(period=period, window=window, rule=rule, counts=counts, reason="" if rule else reason)


def counts_of(history: History, flags: Flags, constraint: Constraint | None) -> DayCounts:
    """Count all days by what is flagged, and what that is worth under the constraint."""
    labelled, every = history.labelled, history.every
    at, rows, flagged = labelled.all, labelled.rows, flags(labelled)
    hits = flagged & rows.labels
    value = np.zeros(len(labelled.start) - 1, dtype=np.int64)
    if constraint is not None and not constraint.is_bound:
        amounts = [units(rows.numbers[role]) for role in constraint.amounts]
        worth = constraint.values(
            rows.labels, np.array(amounts, dtype=np.int64).reshape(len(amounts), len(rows))
        )
        value = labelled.by_day(at, rows.times(flagged * worth))
    alerts = taken = labelled.by_day(at, _weighted(rows, flagged))
    if every is not labelled:
        alerts = every.by_day(every.all, _weighted(every.rows, flags(every)))
    return DayCounts(
        every=every.number,
        alerts=alerts,
        rows=labelled.number,
        positives=labelled.positives,
        flagged=taken,
        true_positives=labelled.by_day(at, _weighted(rows, hits)),
        value=value,
    )


def _weighted(rows: Rows, chosen: Bools) -> Ints | Bools:
    """Return the weights of the chosen rows, and 0 for others; without weights, whether they are chosen."""
    return chosen if rows.weight is None else chosen * rows.weight


def flags_of(rule: BoundaryArtifact) -> Flags:
    """Return which rows a rule flags."""
    return lambda dated: rule.decide(featured(rule, dated, dated.all))


def featured(rule: BoundaryArtifact, dated: DatedRows, at: slice) -> Rows:
    """Return some rows with the groups that a rule knows."""
    features = {feature.name: _feature(dated, at, feature) for feature in rule.features()}
    return replace(dated.rows.select(at), features=features)


def no_flags(dated: DatedRows) -> Bools:
    """Flag no row."""
    return np.zeros(len(dated.rows), dtype=np.bool_)


def _feature(dated: DatedRows, at: slice, feature: FeatureRequest) -> Feature:
    """Return the groups of rows by the levels that a rule knows, and those of other groups behind them."""
    levels = feature.levels or ()
    known = {name: number for number, name in enumerate(levels)}
    number = np.array([known.get(name, len(levels)) for name in dated.names[feature.name]], dtype=np.float64)
    return Feature(levels=levels, value=number[dated.rows.groups[feature.name][at]])
