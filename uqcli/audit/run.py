"""Audit of segments: test every value of some columns, and every pair of values of two columns."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from fractions import Fraction
from functools import partial

import numpy as np

from uqcli.audit.report import Audit, Segment
from uqcli.audit.segments import (
    MIN_ROWS,
    Division,
    Segmented,
    detectable_gaps,
    divisions,
    two_sided_p,
    values_of,
)
from uqcli.base.choices import EngineName
from uqcli.base.counts import Bools, Feature, Floats, Ints
from uqcli.base.errors import UsageError, words
from uqcli.base.records import dataclass
from uqcli.base.rows import Rows
from uqcli.engines.open import Need, require_memory
from uqcli.engines.refusals import require_few_groups
from uqcli.engines.request import DataRequest, FeatureRequest
from uqcli.estimates.proportion import BoundedRate, clopper_pearson, holm
from uqcli.estimates.survey import MIN_CLUSTERS, proportion_interval, tail_of_clusters
from uqcli.estimates.unit_trials import UnitTrials

AUDITED = Need(
    description="the audited columns of every row",
    bytes_per_row=240,
    instead=words("draw some millions of rows, or leave out --audit"),
)


@dataclass(frozen=True, kw_only=True)
class Outcomes:
    """Outcomes to audit, of n rows in an order that depends on their content only.

    Columns are the audited ones, by name; weights, int64, are positive. A success is a positive label, a true
    positive or a covered label. Rows are independent.
    """

    columns: Mapping[str, Feature]
    weight: Ints
    success: Bools


@dataclass(frozen=True, kw_only=True)
class ClusteredOutcomes(Outcomes):
    """Outcomes of rows that depend on each other within clusters, int64."""

    cluster: Ints


@dataclass(frozen=True, kw_only=True)
class _Tested:
    """Segments of one division, with their outcomes and tests before the correction for all.

    Both functions take the level of each test: ``detectable`` returns the deviations that it would show,
    ``ends`` the interval of each observed rate.
    """

    division: Division
    observed: Ints
    expected: Floats
    p_value: Floats
    detectable: Callable[[float], Sequence[float | None]]
    ends: Callable[[float], Sequence[tuple[float, float]]]


def with_audited(data: DataRequest, columns: Sequence[str]) -> DataRequest:
    """Return the request with the audited columns as features.

    Raises UsageError or DataError if a column has another role, or if the rows need more memory than is free.
    """
    roles = data.roles
    reserved = {roles.label, roles.weight, roles.numbers.get("score")} & set(columns)
    if reserved:
        raise UsageError(
            words("--audit column '{}' is the score, the label or the weight", reserved.pop()),
            expected="columns that describe the rows",
        )
    if data.engine is EngineName.SPARK:
        raise UsageError(words("--audit with --engine spark"), expected=words("--engine polars"))
    own = {feature.name for feature in roles.features}  # columns of the rule keep its levels
    features = (
        *roles.features,
        *(
            FeatureRequest(name=name, option="audit", makes_groups=True)
            for name in columns
            if name not in own
        ),
    )
    audited = replace(data, roles=replace(roles, features=features))
    require_memory(audited, AUDITED)
    return audited


def audit_scores(outcomes: Outcomes, score: Floats, level: float) -> Audit:
    """Test whether the positives of each segment agree with their scores, in [0, 1], shape (n,)."""

    def tested(division: Division) -> _Tested:
        inside = division.segment >= 0
        rows = Segmented(
            score=score[inside],
            weight=outcomes.weight[inside],
            segment=division.segment[inside],
            observed=_observed(outcomes, division),
        )
        error = np.sqrt(rows.sums(rows.score * (1 - rows.score))) / division.rows
        return _Tested(
            division=division,
            observed=rows.observed,
            expected=rows.sums(rows.score),
            p_value=two_sided_p(rows),
            detectable=lambda level: detectable_gaps(error, level).tolist(),
            ends=partial(_exact_ends, rows.observed, division.rows),
        )

    return _audit(outcomes, tested, level, ("positive", "expected"))


def audit_rate(
    outcomes: Outcomes,
    bound: Fraction,
    level: float,
    what: str,
    *,
    upper: bool,
    chances: Floats | None = None,
) -> Audit:
    """Test by the exact one-sided test whether the rate of each segment keeps a bound.

    The rate must be at most the bound if ``upper``, else at least. ``chances`` are those of ``BoundedRate``.
    """
    if isinstance(outcomes, ClusteredOutcomes):
        of_clusters = partial(_tested_over_clusters, outcomes, bound=bound, upper=upper, chances=chances)
        return _audit(outcomes, of_clusters, level, (what, "target"))

    def tested(division: Division) -> _Tested:
        observed = _observed(outcomes, division)
        rates = [
            BoundedRate(successes=successes, trials=rows, bound=bound, upper=upper, chances=chances)
            for successes, rows in zip(observed.tolist(), division.rows.tolist(), strict=True)
        ]

        return _Tested(
            division=division,
            observed=observed,
            expected=(division.rows * float(bound)).astype(np.float64),
            p_value=np.array([rate.p_value() for rate in rates], dtype=np.float64),
            detectable=partial(_detectable, rates),
            ends=partial(_exact_ends, observed, division.rows),
        )

    return _audit(outcomes, tested, level, (what, "target"))


def _detectable(rates: Sequence[BoundedRate], level: float) -> list[float | None]:
    """Return the deviation from the bound that a test of each rate would show."""
    reached = [(rate.detectable(level), rate.bound) for rate in rates]
    return [None if rate is None else abs(rate - float(bound)) for rate, bound in reached]


def _exact_ends(observed: Ints, rows: Ints, level: float) -> list[tuple[float, float]]:
    pairs = zip(observed.tolist(), rows.tolist(), strict=True)
    return [clopper_pearson(successes, trials, 1 - level) for successes, trials in pairs]


def _tested_over_clusters(
    outcomes: ClusteredOutcomes, division: Division, *, bound: Fraction, upper: bool, chances: Floats | None
) -> _Tested:
    """Test the rate of each segment over clusters; segments of too few clusters are left out."""
    inside = division.segment >= 0
    counted = UnitTrials()
    counted.add(
        division.segment[inside], outcomes.cluster[inside], outcomes.weight[inside], outcomes.success[inside]
    )
    segments = [counted.of(segment) for segment in range(len(division.rows))]
    rate, rates = float(bound if upper else 1 - bound) if chances is None else 1 - chances, []
    for hits, trials in segments:
        outcome = hits if upper else trials - hits
        tail = (tail_of_clusters(outcome, trials, rate),)
        counts = int(hits.sum()), int(trials.sum())
        rates.append(BoundedRate(successes=counts[0], trials=counts[1], bound=bound, upper=upper, tail=tail))
    kept = np.array([one.p_value() is not None for one in rates], dtype=np.bool_)
    tested = [one for one in rates if one.p_value() is not None]
    shown = [segment for segment, is_kept in zip(segments, kept.tolist(), strict=True) if is_kept]

    def ends(level: float) -> list[tuple[float, float]]:
        intervals = [proportion_interval(hits, trials, 1 - level) for hits, trials in shown]
        return [
            (interval.low or 0.0, 1.0 if interval.high is None else interval.high) for interval in intervals
        ]

    rows = division.rows[kept]
    return _Tested(
        division=replace(division, values=division.values[kept], rows=rows),
        observed=np.array([one.successes for one in tested], dtype=np.int64),
        expected=(rows * float(bound)).astype(np.float64),
        p_value=np.array([one.p_value() for one in tested], dtype=np.float64),
        detectable=partial(_detectable, tested),
        ends=ends,
    )


def _observed(outcomes: Outcomes, division: Division) -> Ints:
    observed = np.zeros(len(division.rows), dtype=np.int64)
    successes = outcomes.success & (division.segment >= 0)
    np.add.at(observed, division.segment[successes], outcomes.weight[successes])
    return observed


def _audit(
    outcomes: Outcomes, tested: Callable[[Division], _Tested], level: float, words: tuple[str, str]
) -> Audit:
    """Test all segments, corrected for their number."""
    names, indices = {}, []
    for column, feature in outcomes.columns.items():
        names[column], index = values_of(feature, outcomes.weight)
        indices.append(index)
    parts, size = list[_Tested](), 0
    for division in divisions(indices, outcomes.weight):
        size += len(division.rows)
        require_few_groups(size, *names)
        if len(division.rows):
            parts.append(tested(division))
    number = sum(len(part.p_value) for part in parts)
    level_of_one = level / max(number, 1)
    segments = []
    for part in parts:
        of_columns = [list(names)[column] for column in part.division.columns]
        lines = zip(
            part.division.values.tolist(),
            part.division.rows.tolist(),
            part.observed.tolist(),
            part.expected.tolist(),
            part.p_value.tolist(),
            part.detectable(level_of_one),
            part.ends(level_of_one),
            strict=True,
        )
        for values, rows, observed, expected, p_value, detectable, (low, high) in lines:
            segments.append(
                Segment(
                    values={
                        column: names[column][value] for column, value in zip(of_columns, values, strict=True)
                    },
                    rows=rows,
                    observed=observed,
                    expected=expected,
                    low=low - expected / rows,
                    high=high - expected / rows,
                    p_value=p_value,
                    detectable=detectable,
                )
            )
    adjusted = holm({index: segment.p_value for index, segment in enumerate(segments)})
    corrected = [replace(segment, p_holm=adjusted[index]) for index, segment in enumerate(segments)]
    return Audit(
        columns=tuple(names),
        segments=tuple(sorted(corrected, key=lambda segment: segment.order)),
        level=level,
        what=words[0],
        against=words[1],
        min_rows=MIN_ROWS,
        min_clusters=MIN_CLUSTERS if isinstance(outcomes, ClusteredOutcomes) else 0,
    )


def pooled_outcomes(
    rows: Rows, columns: Sequence[str], success: Bools, cluster: str | None = None
) -> tuple[Outcomes, Floats]:
    """Pool equal rows, so that their order has no effect; also return the scores.

    The rows have a score and the audited features. ``cluster`` is the key of dependent rows; None if rows are
    independent.
    """
    listed = replace(
        rows,
        positive=success,
        label_class=None,
        numbers={"score": rows.score},
        features={name: rows.features[name] for name in columns},
        groups={} if cluster is None else {cluster: rows.groups[cluster]},
    ).pooled()
    outcomes = Outcomes(columns=listed.features, weight=listed.weights(), success=listed.labels)
    for key in listed.groups.values():
        outcomes = ClusteredOutcomes(**vars(outcomes), cluster=key)
    return outcomes, listed.score
