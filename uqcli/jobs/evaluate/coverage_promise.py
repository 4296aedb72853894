"""Whether labelled rows break what conformal sets promised, once chance has had its share."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from fractions import Fraction

import numpy as np

from uqcli.artifacts.conformal import ConformalArtifact
from uqcli.choices import ConformalMode
from uqcli.counts import Floats, Ints
from uqcli.draws import Purpose, generator
from uqcli.exact import decimal
from uqcli.methods.conformal.promise import coverage_p_value, effective_rows, shifted_p_value
from uqcli.methods.multiple import holm
from uqcli.reports.evaluate.conformal_sets import CoveragePromise


@dataclass(frozen=True, kw_only=True)
class Covered:
    """Rows by weight, and those of them whose set holds their label; int64 of shape (C,) and (groups+1,)."""

    rows_of_class: Ints
    covered_of_class: Ints
    rows_of_group: Ints
    covered_of_group: Ints


def judge(
    artifact: ConformalArtifact, counts: Covered, coverage: Floats | None, *, level: float, seed: int
) -> CoveragePromise:
    """Hold the rows against the promise.

    Parameters
    ----------
    coverage : float64, shape (B,), or None
        Draws of the coverage in a target.
    level
        Share of kept promises that may be called broken.
    """
    alpha = decimal("alpha", artifact.parameters.alpha)
    calibration = calibration_rows(artifact, counts.rows_of_class)
    if artifact.mode is ConformalMode.LABEL_SHIFT:
        p_values = {}
        if coverage is not None and len(coverage):
            rows = effective_rows(calibration, artifact.weights or [])
            random = generator(seed, Purpose.TARGET, 1)
            p_values = {"": shifted_p_value(coverage, rows, alpha, random)}
        return _promise("target", p_values, level)
    if artifact.mode is ConformalMode.LABEL_CONDITIONAL:
        by_class = artifact.parameters.alpha_by_class or {}
        alphas = [
            decimal("alpha", by_class[name]) if name in by_class else alpha for name in artifact.classes
        ]
        lines = zip(counts.covered_of_class, counts.rows_of_class, calibration, alphas, strict=True)
        return _promise("class", _p_values(artifact.classes, list(lines)), level)
    if artifact.groups is not None:
        of_group = artifact.groups.calibration_rows or _shared(artifact, counts.rows_of_group[:-1])
        alphas = [alpha] * len(of_group)
        lines = zip(counts.covered_of_group[:-1], counts.rows_of_group[:-1], of_group, alphas, strict=True)
        return _promise("group", _p_values(artifact.groups.names, list(lines)), level)
    line = (counts.covered_of_class.sum(), counts.rows_of_class.sum(), sum(calibration), alpha)
    unpromised = _below_anyway(artifact, counts, level)
    return _promise("", _p_values([""], [line]), level, unpromised)


def calibration_rows(artifact: ConformalArtifact, rows_of_class: Ints) -> Sequence[int]:
    """Calibration rows of each class; of old artifacts, which do not say, as new rows are shared out."""
    return artifact.calibration_rows or _shared(artifact, rows_of_class)


def _shared(artifact: ConformalArtifact, rows: Ints) -> list[int]:
    return [int(each) * artifact.source.rows // max(1, int(rows.sum())) for each in rows]


def _p_values(names: Sequence[str], lines: Sequence[tuple[Ints, Ints, int, Fraction]]) -> Mapping[str, float]:
    """By name, of those with rows."""
    return {
        name: coverage_p_value(int(covered), int(rows), calibration, alpha)
        for name, (covered, rows, calibration, alpha) in zip(names, lines, strict=True)
        if rows
    }


def _promise(
    unit: str, p_values: Mapping[str, float], level: float, unpromised: Sequence[str] = ()
) -> CoveragePromise:
    adjusted = holm(p_values)
    return CoveragePromise(
        unit=unit,
        p_values=adjusted,
        below=tuple(
            sorted((name for name, p in adjusted.items() if p <= level), key=lambda name: p_values[name])
        ),
        worst=min(p_values, key=lambda name: (p_values[name], name), default=None),
        classes_below=tuple(unpromised),
    )


def _below_anyway(artifact: ConformalArtifact, counts: Covered, level: float) -> list[str]:
    """Classes that these thresholds surely cover less often than all rows are promised (binomial, Holm)."""
    from scipy.special import bdtr

    filled = np.flatnonzero(counts.rows_of_class)
    p_values = {
        artifact.classes[each]: float(
            bdtr(float(counts.covered_of_class[each]), int(counts.rows_of_class[each]), 1 - artifact.alpha)
        )
        for each in filled.tolist()
    }
    adjusted = holm(p_values)
    return sorted((name for name, p in adjusted.items() if p <= level), key=lambda name: adjusted[name])
