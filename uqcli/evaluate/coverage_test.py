"""Test whether labelled rows contradict the guarantee of prediction sets."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import replace
from fractions import Fraction

import numpy as np

from uqcli.base.choices import ConformalMode
from uqcli.base.counts import Floats, Ints
from uqcli.base.draws import Purpose, generator
from uqcli.base.exact_numbers import decimal
from uqcli.base.records import dataclass
from uqcli.conformal.coverage_test import (
    clustered_p_value,
    coverage_p_value,
    effective_rows,
    shifted_p_value,
)
from uqcli.conformal.covered_clusters import CoveredClusters
from uqcli.conformal.rule import ConformalArtifact
from uqcli.estimates.multiple import holm
from uqcli.estimates.survey import MIN_CLUSTERS
from uqcli.evaluate.conformal_sets_report import CoverageTest


@dataclass(frozen=True, kw_only=True)
class CoverageCounts:
    """Rows and covered rows, by weight, by class and by group; int64, shapes (C,) and (groups+1,).

    The last two count them by cluster of dependent rows also; None if rows are independent.
    """

    rows_of_class: Ints
    covered_of_class: Ints
    rows_of_group: Ints
    covered_of_group: Ints
    clusters_of_class: CoveredClusters | None = None
    clusters_of_group: CoveredClusters | None = None


def judge(
    artifact: ConformalArtifact,
    counts: CoverageCounts,
    coverage: Floats | None,
    *,
    shifted: bool,
    level: float,
    seed: int,
    refuted: str = "",
) -> CoverageTest:
    """Test the guarantee on these rows.

    Parameters
    ----------
    coverage : float64, shape (B,), or None
        Draws of the coverage in target data.
    shifted
        Whether rows are weighted to target data; if not, sets for target data are tested as if these were its
        rows.
    level
        Level of the test: the probability of rejecting a valid guarantee.
    refuted
        Why the class weights say nothing about target data; empty if nothing is against them.
    """
    if artifact.unsealed:
        return replace(_tested("", {}, level), untested_reason=artifact.unsealed)
    alpha = decimal("alpha", artifact.parameters.alpha)
    calibration = calibration_rows(artifact, counts.rows_of_class)
    if counts.clusters_of_class is not None:
        return _over_clusters(artifact, counts, calibration, alpha, level)
    if artifact.mode is not ConformalMode.LABEL_SHIFT:
        return _over_rows(artifact, counts, calibration, alpha, level)
    missed = (counts.rows_of_class - counts.covered_of_class, counts.rows_of_class)
    rows = effective_rows(calibration, artifact.weights or [], *missed, alpha)
    if refuted:
        return replace(_tested("target", {}, level), untested_reason=refuted)
    if not shifted:
        return _on_rows_of_target(artifact, counts, rows, alpha, level)
    p_values = {}
    if coverage is not None and len(coverage):
        random = generator(seed, Purpose.TARGET, 1)
        p_values = {"": shifted_p_value(coverage, rows, alpha, random)}
    return _tested("target", p_values, level)


def _over_rows(
    artifact: ConformalArtifact,
    counts: CoverageCounts,
    calibration: Sequence[int],
    alpha: Fraction,
    level: float,
) -> CoverageTest:
    """Test the guarantee on independent rows."""
    if artifact.mode is ConformalMode.LABEL_CONDITIONAL:
        by_class = artifact.parameters.alpha_by_class or {}
        alphas = [
            decimal("alpha", by_class[name]) if name in by_class else alpha for name in artifact.classes
        ]
        samples = zip(counts.covered_of_class, counts.rows_of_class, calibration, alphas, strict=True)
        return _tested("class", _p_values(artifact.classes, list(samples)), level)
    if artifact.groups is not None:
        group_calibration = artifact.groups.calibration_rows or _in_proportion(
            artifact, counts.rows_of_group[:-1]
        )
        alphas = [alpha] * len(group_calibration)
        samples = zip(
            counts.covered_of_group[:-1], counts.rows_of_group[:-1], group_calibration, alphas, strict=True
        )
        return _tested("group", _p_values(artifact.groups.names, list(samples)), level)
    all_rows = (counts.covered_of_class.sum(), counts.rows_of_class.sum(), sum(calibration), alpha)
    not_guaranteed = _classes_below(artifact, counts, level)
    return _tested("", _p_values([""], [all_rows]), level, not_guaranteed)


def _over_clusters(
    artifact: ConformalArtifact,
    counts: CoverageCounts,
    calibration: Sequence[int],
    alpha: Fraction,
    level: float,
) -> CoverageTest:
    """Test the guarantee on clusters of dependent rows."""
    by_class, by_group = counts.clusters_of_class, counts.clusters_of_group
    assert by_class is not None
    samples: list[tuple[str, tuple[Ints, Ints], int, Fraction]]
    if artifact.mode is ConformalMode.LABEL_SHIFT:
        reason = "its test assumes independent rows"
        return replace(_tested("target", {}, level), untested_reason=reason)
    if artifact.mode is ConformalMode.LABEL_CONDITIONAL:
        unit, own = "class", artifact.parameters.alpha_by_class or {}
        samples = [
            (
                name,
                by_class.of(index),
                calibration[index],
                decimal("alpha", own[name]) if name in own else alpha,
            )
            for index, name in enumerate(artifact.classes)
        ]
    elif artifact.groups is not None and by_group is not None:
        unit = "group"
        of_group = artifact.groups.calibration_rows or _in_proportion(artifact, counts.rows_of_group[:-1])
        samples = [
            (name, by_group.of(index), of_group[index], alpha)
            for index, name in enumerate(artifact.groups.names)
        ]
    else:
        unit, samples = "", [("", by_class.of_all(), sum(calibration), alpha)]
    p_values = {name: clustered_p_value(*sums, rows, own_alpha) for name, sums, rows, own_alpha in samples}
    tested = {name: p_value for name, p_value in p_values.items() if p_value is not None}
    test = _tested(unit, tested, level)
    return test if tested else replace(test, untested_reason=f"fewer than {MIN_CLUSTERS} clusters")


def _on_rows_of_target(
    artifact: ConformalArtifact, counts: CoverageCounts, effective: int, alpha: Fraction, level: float
) -> CoverageTest:
    """Test sets for target data on labelled rows, taken as target data unless their classes contradict it."""
    covered, rows = int(counts.covered_of_class.sum()), int(counts.rows_of_class.sum())
    if _is_like_source(counts.rows_of_class, artifact.weights or []):
        test = _tested("target", {}, level)
        return replace(test, untested_reason="these rows have the class priors of the source data")
    return _tested("target", {"": coverage_p_value(covered, rows, effective, alpha)}, level)


def _is_like_source(rows_of_class: Ints, weights: Sequence[float]) -> bool:
    """Whether the class counts are a hundred times as likely in the source as in the target data."""
    present = [(int(rows), weight) for rows, weight in zip(rows_of_class, weights, strict=True) if rows]
    if any(weight == 0 for _, weight in present):
        return True
    return math.fsum(rows * math.log(weight) for rows, weight in present) < -math.log(100)


def calibration_rows(artifact: ConformalArtifact, rows_of_class: Ints) -> Sequence[int]:
    """Return calibration rows by class; for old files, their total in proportion to the new rows."""
    return artifact.calibration_rows or _in_proportion(artifact, rows_of_class)


def _in_proportion(artifact: ConformalArtifact, rows: Ints) -> list[int]:
    return [int(row) * artifact.source.rows // max(1, int(rows.sum())) for row in rows]


def _p_values(
    names: Sequence[str], samples: Sequence[tuple[Ints, Ints, int, Fraction]]
) -> Mapping[str, float]:
    """Compute the p-values by name, for names with rows."""
    return {
        name: coverage_p_value(int(covered), int(rows), calibration, alpha)
        for name, (covered, rows, calibration, alpha) in zip(names, samples, strict=True)
        if rows
    }


def _tested(
    unit: str, p_values: Mapping[str, float], level: float, not_guaranteed: Sequence[str] = ()
) -> CoverageTest:
    adjusted = holm(p_values)
    return CoverageTest(
        unit=unit,
        p_values=adjusted,
        below=tuple(
            sorted((name for name, p in adjusted.items() if p <= level), key=lambda name: p_values[name])
        ),
        worst=min(p_values, key=lambda name: (p_values[name], name), default=None),
        classes_below=tuple(not_guaranteed),
    )


def _classes_below(artifact: ConformalArtifact, counts: CoverageCounts, level: float) -> list[str]:
    """Return classes whose coverage is significantly below the overall guarantee (binomial tests, Holm)."""
    from scipy.special import bdtr

    filled = np.flatnonzero(counts.rows_of_class)
    p_values = {
        artifact.classes[class_index]: float(
            bdtr(
                float(counts.covered_of_class[class_index]),
                int(counts.rows_of_class[class_index]),
                1 - artifact.alpha,
            )
        )
        for class_index in filled.tolist()
    }
    adjusted = holm(p_values)
    return sorted((name for name, p in adjusted.items() if p <= level), key=lambda name: adjusted[name])
