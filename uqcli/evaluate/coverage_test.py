"""Count covered rows, and test whether they contradict the guarantee of prediction sets."""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace
from fractions import Fraction

import numpy as np

from uqcli.base.choices import ConformalMode
from uqcli.base.counts import Bools, Floats, Ints
from uqcli.base.draws import Purpose, generator
from uqcli.base.exact_numbers import decimal
from uqcli.conformal.coverage_test import clustered_p_value, coverage_p_value, effective_rows, shifted_p_value
from uqcli.conformal.covered_clusters import CoveredClusters
from uqcli.conformal.rule import ConformalArtifact
from uqcli.estimates.estimate import Estimate
from uqcli.estimates.proportion import holm, proportion_estimate
from uqcli.estimates.survey import MIN_CLUSTERS, proportion_interval
from uqcli.evaluate.conformal_sets_report import CoverageTest


class CoveredRows:
    """Rows and covered rows, by weight, of each class, set size or group; of clusters also if there are any.

    Attributes
    ----------
    rows, covered : int64, shape (parts,)
    clusters
        None if rows are independent.
    """

    def __init__(self, parts: int, *, has_clusters: bool) -> None:
        self.rows = np.zeros(parts, dtype=np.int64)
        self.covered = np.zeros(parts, dtype=np.int64)
        self.clusters = CoveredClusters() if has_clusters else None

    def add(self, part: Ints, weight: Ints, covered: Bools, cluster: Ints | None) -> None:
        """Count rows; arrays of shape (n,)."""
        np.add.at(self.rows, part, weight)
        np.add.at(self.covered, part[covered], weight[covered])
        if self.clusters is not None and cluster is not None:
            self.clusters.add(part, cluster, weight, covered)

    def estimate(self, part: int | None, confidence: float) -> Estimate:
        """Return the coverage of a part, or of all rows; undefined for zero rows."""
        if self.clusters is not None:
            return proportion_interval(*self._clusters_of(self.clusters, part), confidence)
        return proportion_estimate(*self._counts_of(part), confidence)

    def estimates(self, names: Iterable[str], confidence: float) -> dict[str, Estimate]:
        """Return the coverage of each part, by its name."""
        return {name: self.estimate(part, confidence) for part, name in enumerate(names)}

    def p_value(self, part: int | None, calibration_rows: int, alpha: Fraction) -> float | None:
        """Test the guarantee of a part, or of all rows; None for zero rows or too few clusters."""
        if self.clusters is not None:
            return clustered_p_value(*self._clusters_of(self.clusters, part), calibration_rows, alpha)
        covered, rows = self._counts_of(part)
        return coverage_p_value(covered, rows, calibration_rows, alpha) if rows else None

    def _counts_of(self, part: int | None) -> tuple[int, int]:
        chosen = slice(None) if part is None else slice(part, part + 1)
        return int(self.covered[chosen].sum()), int(self.rows[chosen].sum())

    @staticmethod
    def _clusters_of(clusters: CoveredClusters, part: int | None) -> tuple[Ints, Ints]:
        return clusters.of_all() if part is None else clusters.of(part)


def judge(
    artifact: ConformalArtifact,
    by_class: CoveredRows,
    by_group: CoveredRows,
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
        return _untested("", artifact.unsealed)
    alpha = decimal("alpha", artifact.parameters.alpha)
    calibration = artifact.calibration_rows or _in_proportion(artifact, by_class.rows)
    if artifact.mode is not ConformalMode.LABEL_SHIFT:
        return _on_rows(artifact, by_class, by_group, calibration, alpha, level=level)
    if refuted or by_class.clusters is not None:
        return _untested(
            "target", refuted if by_class.clusters is None else "its test assumes independent rows"
        )
    missed = (by_class.rows - by_class.covered, by_class.rows)
    rows = effective_rows(calibration, artifact.weights or [], *missed, alpha)
    if not shifted:  # these are taken as target data unless their classes contradict it
        if _is_like_source(by_class.rows, artifact.weights or []):
            return _untested("target", "these rows have the class priors of the source data")
        return _tested("target", {"": by_class.p_value(None, rows, alpha)}, level)
    p_values: dict[str, float | None] = {}
    if coverage is not None and len(coverage):
        random = generator(seed, Purpose.TARGET, 1)
        p_values = {"": shifted_p_value(coverage, rows, alpha, random)}
    return _tested("target", p_values, level)


def _on_rows(
    artifact: ConformalArtifact,
    by_class: CoveredRows,
    by_group: CoveredRows,
    calibration: Sequence[int],
    alpha: Fraction,
    *,
    level: float,
) -> CoverageTest:
    """Test the guarantee of each class or group, or of all rows, by name."""
    if artifact.mode is ConformalMode.LABEL_CONDITIONAL:
        unit, own = "class", artifact.parameters.alpha_by_class or {}
        alphas = [decimal("alpha", own[name]) if name in own else alpha for name in artifact.classes]
        classes = enumerate(zip(artifact.classes, calibration, alphas, strict=True))
        p_values = {
            name: by_class.p_value(part, rows, own_alpha) for part, (name, rows, own_alpha) in classes
        }
    elif artifact.groups is not None:
        unit, names = "group", artifact.groups.names
        of_group = artifact.groups.calibration_rows or _in_proportion(artifact, by_group.rows[:-1])
        groups = enumerate(zip(names, of_group, strict=True))
        p_values = {name: by_group.p_value(part, rows, alpha) for part, (name, rows) in groups}
    else:
        unit, p_values = "", {"": by_class.p_value(None, sum(calibration), alpha)}
    test = _tested(unit, p_values, level)
    if by_class.clusters is not None:
        return test if test.p_values else _untested(unit, f"fewer than {MIN_CLUSTERS} clusters")
    return test if unit else replace(test, classes_below=_classes_below(artifact, by_class, level))


def _is_like_source(rows_of_class: Ints, weights: Sequence[float]) -> bool:
    """Whether the class counts are a hundred times as likely in the source as in the target data."""
    present = [(int(rows), weight) for rows, weight in zip(rows_of_class, weights, strict=True) if rows]
    if any(weight == 0 for _, weight in present):
        return True
    return math.fsum(rows * math.log(weight) for rows, weight in present) < -math.log(100)


def _in_proportion(artifact: ConformalArtifact, rows: Ints) -> list[int]:
    """Divide the calibration rows in proportion to new rows, since old files have their total only."""
    return [int(row) * artifact.source.rows // max(1, int(rows.sum())) for row in rows]


def _tested(unit: str, p_values: Mapping[str, float | None], level: float) -> CoverageTest:
    known = {name: p_value for name, p_value in p_values.items() if p_value is not None}
    adjusted = holm(known)
    below = (name for name, p_value in adjusted.items() if p_value <= level)
    return CoverageTest(
        unit=unit,
        p_values=adjusted,
        below=tuple(sorted(below, key=lambda name: known[name])),
        worst=min(known, key=lambda name: (known[name], name), default=None),
    )


def _untested(unit: str, reason: str) -> CoverageTest:
    return CoverageTest(unit=unit, p_values={}, untested_reason=reason)


def _classes_below(artifact: ConformalArtifact, by_class: CoveredRows, level: float) -> tuple[str, ...]:
    """Return classes whose coverage is significantly below the overall guarantee (binomial tests, Holm)."""
    from scipy.special import bdtr

    counts = zip(artifact.classes, by_class.covered.tolist(), by_class.rows.tolist(), strict=True)
    p_values = {
        name: float(bdtr(float(covered), rows, 1 - artifact.alpha)) for name, covered, rows in counts if rows
    }
    adjusted = holm(p_values)
    return tuple(
        sorted((name for name, p in adjusted.items() if p <= level), key=lambda name: adjusted[name])
    )
