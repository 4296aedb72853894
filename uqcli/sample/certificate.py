"""Which rows to label for a certificate: a pilot first, then the rows that a threshold may flag by the pilot.

For rows that are dropped unseen it is the mirror (see ``boundary.certificate_rows``), with other shares:
the pilot is drawn from all rows, since dropped rows may be most of them, and the others from up to 95 %.

A third of the labels, drawn alike among the 30 % of rows with the highest scores, shows how many rows from
the top a threshold can flag at the precision. The others are drawn alike among 1.15 times as many rows from
the top, between 2 and 30 % of all. The labels of the pilot are not used again: on a plateau just below the
bound they would make a certificate wrong more often than its risk.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import replace
from fractions import Fraction
from functools import partial
from typing import Final, TypeAlias

import numpy as np

from uqcli.base.choices import EngineName
from uqcli.base.counts import Bools, Floats
from uqcli.base.defaults import LABEL, SCORE
from uqcli.base.draws import Purpose, uniforms
from uqcli.base.errors import DataError, UsageError, words
from uqcli.base.records import dataclass
from uqcli.base.rows import Rows
from uqcli.base.sampling_weights import inverse
from uqcli.base.single_precision import highest_alike, lowest_alike, unless_between
from uqcli.boundary.certificate_rows import (
    PILOT,
    TEST,
    labels_at_start,
    marked_rows,
    mirrored,
    refuse_overlap,
    was_sampled,
)
from uqcli.boundary.search.thresholds import Cuts, FirstRows
from uqcli.engines.open import open_engine
from uqcli.engines.probabilities import positions_of
from uqcli.engines.protocol import AddedColumns, CountTable
from uqcli.engines.request import SAMPLED_FOR, SAMPLING_WEIGHT, DataRequest, FeatureRequest, Inputs, Roles
from uqcli.rules.labelled import open_table, refuse_keep, source_of
from uqcli.sample.options import SampleRequest
from uqcli.sample.report import (
    RISK,
    AfterPilot,
    BoundOnOmission,
    BoundOnPrecision,
    CertificateSampleReport,
    FirstCall,
)

LABEL_OPTION: Final = "label"
"""Option that names the column of labels, of which only whether there is one is read."""

TOP: Final = Fraction(3, 10)
"""Share of the rows, from the highest score, from which the pilot is drawn; no other row is drawn at all."""

BOTTOM: Final = Fraction(19, 20)
"""Share of the rows, from the lowest score, from which rows to test what is dropped are drawn at most."""

_LEAST: Final = Fraction(1, 50)
_WIDER: Final = Fraction(115, 100)
_PILOT_PARTS: Final = 3
"""Inverse of the share of the labels in the pilot."""

_SAME: Final = 1e-6
"""Relative difference of scores that a spreadsheet may have rounded."""


def least_budget(precision: Fraction) -> int:
    """Return the smallest number of labels, the pilot's among them, that can be expected to certify.

    >>> least_budget(Fraction(95, 100))
    80
    """
    needed = labels_at_start(float(precision), RISK)
    return next(n for n in range(needed, 2 * needed + 2) if n - n // _PILOT_PARTS >= needed)


def share_above(rows: Rows, precision: Fraction) -> Fraction:
    """Return the share of rows that the loosest threshold flags whose rate, (k+1)/(n+2), reaches a precision.

    Equal scores of the labelled rows are flagged together. The share is 0 if there is no such threshold.
    """
    _, index = np.unique(-rows.score, return_inverse=True)
    weight = rows.weights()
    selected, hits = (
        np.cumsum(np.bincount(index, weights=column).astype(np.int64))
        for column in (weight, weight * rows.labels)
    )
    a, b = precision.as_integer_ratio()
    reaching = np.flatnonzero((hits + 1) * b >= a * (selected + 2))
    return Fraction(int(selected[reaching[-1]]), rows.size) if len(reaching) else Fraction(0)


def region_share(crossing: Fraction, most: Fraction = TOP) -> Fraction:
    """Return the share of all rows, from the top score and at most ``most``, to draw from for the test.

    ``crossing`` is the share that a threshold can flag at the precision, by the pilot.
    """
    return min(most, max(_LEAST, _WIDER * crossing))


def label_feature(name: str) -> FeatureRequest:
    """Return the request for a column of labels of which only nulls are known from others."""
    return FeatureRequest(name=name, text=True, levels=(), option=LABEL_OPTION)


def refuse_cluster(engine: EngineName) -> None:
    """Refuse an engine without row order."""
    if engine is EngineName.SPARK:
        raise UsageError(
            "a cluster has no row order, which the random draws of sample need",
            expected=words("--engine polars"),
        )


def prepare_certificate(request: SampleRequest) -> tuple[CertificateSampleReport, DataRequest, AddedColumns]:
    """Choose the rows of the pilot, or with a pilot the rest.

    Returns the plan, the request for a last pass, and the columns to add there; the weight is 0 for rows that
    are not drawn.
    """
    bound, precision, budget = _checked(request)
    below, population = bound.below, request.population
    widest, most = (Fraction(1), BOTTOM) if below else (TOP, TOP)
    roles = Roles(numbers={"score": population.columns.named.get("score", SCORE)})
    pool = replace(population.data, roles=roles, positive_value=None)
    table = open_engine(pool.engine).table(pool)
    edge, share = _end(table, widest, below=below)
    label = request.labels
    if request.pilot:  # it alone may have labels
        label = tuple(name for name in label if name in open_engine(pool.engine).columns(pool).names)
    data = replace(pool, roles=replace(pool.roles, features=tuple(map(label_feature, label))))
    draw = _Draw(seed=population.intervals.seed, label=label, data=data, below=below)
    before: Drawn = _nothing_drawn
    stage = FirstCall()
    size, mark = budget // _PILOT_PARTS, PILOT
    if request.pilot:
        pilot = _read_pilot(request.pilot, pool, request.label or LABEL, request.positive)
        was_drawn = SAMPLING_WEIGHT in pilot.numbers  # by a first call
        before = draw.pilot(pilot, edge) if was_drawn else before
        by_rank = mirrored(pilot) if below else pilot
        crossing = share_above(by_rank, precision) * (share if was_drawn else 1)
        edge, share = _end(table, region_share(crossing, most), below=below)
        mark, size = TEST, budget - pilot.size
        stage = AfterPilot(
            rows=pilot.size, positives=int(pilot.weights()[pilot.labels].sum()), crossing=float(crossing)
        )
        if size < 1:
            raise UsageError(
                words("--budget {} with a pilot of {} labels", budget, pilot.size),
                expected="the same number as in the first call, which counts the pilot",
            )
    first, eligible = draw.first(size, edge, before)
    if eligible == 0:
        raise DataError(
            "no row is left to label",
            expected=f"rows with {'low' if below else 'high'} scores that have no label and are no pilot",
        )
    cuts = first.cuts(1)
    report = CertificateSampleReport(
        source=source_of(table.summary),
        request=request,
        bound=bound,
        budget=budget,
        rows=table.summary.rows,
        drawn_from=eligible,
        labels=int(cuts.taken.sum()),
        edge=edge,
        share=float(share),
        least=least_budget(precision),
        stage=stage,
    )
    weight = inverse(cuts.taken / eligible)

    def added(rows: Rows) -> dict[str, Floats]:
        drawn = draw.takes(cuts, rows, edge, before)
        return {
            SAMPLING_WEIGHT: np.where(drawn, weight, 0.0),
            bound.column: np.full(len(rows), edge),
            SAMPLED_FOR: np.zeros(len(rows)),
        }

    columns = AddedColumns(
        types={SAMPLING_WEIGHT: "float64", bound.column: "float64", SAMPLED_FOR: "text"},
        texts={SAMPLED_FOR: (mark,)},
        compute=added,
    )
    return report, data, columns


def _checked(request: SampleRequest) -> tuple[BoundOnPrecision, Fraction, int]:
    """Return the bound, the precision, of dropped rows in the mirror, and the budget; check all options."""
    refuse_keep(request.population.data.on_invalid)
    refuse_cluster(request.population.data.engine)
    typed = ((BoundOnPrecision, request.precision), (BoundOnOmission, request.max_omission))
    bounds = [kind(text=text) for kind, text in typed if text is not None]
    if not bounds:
        raise UsageError(
            words("--for certificate is given without --precision"),
            remedy=words("add --precision S, or --max-omission F for rows to drop"),
        )
    if len(bounds) > 1:
        raise UsageError(
            words("--precision and --max-omission cannot be combined"),
            remedy="draw the labels of each by itself",
        )
    (bound,) = bounds
    precision = bound.precision()
    if request.budget is None:
        raise UsageError(words("--for certificate is given without --budget"), remedy=words("add --budget N"))
    if request.budget < _PILOT_PARTS:
        raise UsageError(words("--budget {}", request.budget), expected=f"at least {_PILOT_PARTS} labels")
    return bound, precision, request.budget


def _end(table: CountTable, share: Fraction, *, below: bool) -> tuple[float, Fraction]:
    """Return the highest score that at least a share of the rows reach, and the share that does.

    With ``below`` it is the lowest score that at least a share of the rows do not exceed. It is moved, so
    that the rows drawn are on its side as 32-bit numbers and as texts.
    """

    def rank(rows: int) -> int:
        size = max(1, math.ceil(share * rows))
        return size - 1 if below else rows - size

    (counts,) = table.edges("score", lambda rows: np.array([rank(rows)]))
    before, rows = np.cumsum(counts.count) - counts.count, int(counts.count.sum())
    place = int(np.searchsorted(before, rank(rows), side="right")) - 1
    inside = int(before[place] + counts.count[place]) if below else rows - int(before[place])
    edge = counts.value[place]
    alike = highest_alike(edge) if below else lowest_alike(edge)
    return float(unless_between(edge, alike, counts.value)), Fraction(inside, rows)


def _read_pilot(inputs: Inputs, pool: DataRequest, label: str, positive: str | None) -> Rows:
    """Read the labelled pilot, with the weights of its rows if they were drawn for one.

    Raises DataError if rows lack labels, or if older rows are also in the inputs.
    """
    pilot = replace(pool.on(inputs), roles=replace(pool.roles, label=label), positive_value=positive)
    if was_sampled(pilot):
        rows, _ = marked_rows(pilot, PILOT, (SAMPLING_WEIGHT,))
        return rows
    refuse_overlap(pool, replace(pilot, roles=pool.roles, positive_value=None), label)
    return open_table(pilot, uses_uncertainty=False).rows().pooled()


Drawn: TypeAlias = Callable[[Rows], Bools]
"""Whether rows were drawn."""


def _nothing_drawn(rows: Rows) -> Bools:
    return np.zeros(len(rows), dtype=np.bool_)


@dataclass(frozen=True, kw_only=True)
class _Draw:
    """Random draws of the rows, by position, so that a second call finds the rows of the first.

    ``label`` has the column of labels, if there is one. What was drawn ``before`` is a function of the rows.
    """

    seed: int
    label: tuple[str, ...]
    data: DataRequest
    below: bool

    def numbers(self, rows: Rows) -> Floats:
        """Draw a uniform number for each row; the rows with the lowest are drawn."""
        return uniforms(positions_of(rows), self.seed, Purpose.SAMPLE)

    def eligible(self, rows: Rows, edge: float, before: Drawn) -> Bools:
        """Whether rows are on the side of a score, have no label, and are not in the pilot."""
        allowed: Bools = rows.score <= edge if self.below else rows.score >= edge
        for label in self.label:
            allowed &= rows.features[label].value < 0
        return allowed & ~before(rows)

    def takes(self, cuts: Cuts, rows: Rows, edge: float, before: Drawn) -> Bools:
        """Whether rows are drawn."""
        group = np.where(self.eligible(rows, edge, before), 0, -1)
        return cuts.takes(group, np.zeros_like(group), -self.numbers(rows), rows.position)

    def first(self, size: int, edge: float, before: Drawn) -> tuple[FirstRows, int]:
        """Read the rows, and return those to draw and the number of rows that they are drawn from."""
        first, count = FirstRows(size), 0
        for rows in open_engine(self.data.engine).batches(self.data):
            chosen = self.eligible(rows, edge, before)
            count += int(chosen.sum())
            alone = np.zeros(int(chosen.sum()), dtype=np.int64)
            first.add(alone, alone, -self.numbers(rows)[chosen], positions_of(rows)[chosen], alone + 1)
        return first, count

    def pilot(self, pilot: Rows, top: float) -> Drawn:
        """Find the rows of a pilot that a first call drew among the inputs.

        Raises DataError if they are not the rows that it draws from these inputs.
        """
        _, eligible = self.first(1, top, _nothing_drawn)
        size = max(1, round(eligible / float(pilot.numbers[SAMPLING_WEIGHT][0])))
        first, _ = self.first(size, top, _nothing_drawn)
        drawn_before = partial(self.takes, first.cuts(1), edge=top, before=_nothing_drawn)
        batches = open_engine(self.data.engine).batches(self.data)
        own = [rows.score[drawn_before(rows)] for rows in batches]
        drawn = np.sort(np.concatenate(own))
        right = np.searchsorted(drawn, pilot.score).clip(1, max(1, len(drawn) - 1))
        nearest = [drawn[np.minimum(place, len(drawn) - 1)] for place in (right - 1, right)]
        distance = np.min([np.abs(pilot.score - score) for score in nearest], axis=0)
        if (distance > _SAME * np.abs(pilot.score)).any() or pilot.size > len(drawn):
            raise DataError(
                words("--pilot has other rows than the pilot of these inputs"),
                expected="the labelled rows of the first call",
                remedy=words("give the same inputs in the same order, and the same --seed"),
            )
        return drawn_before
