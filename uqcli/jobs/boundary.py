"""``uqcli boundary``: from labelled hold-out rows to a decision boundary."""

from __future__ import annotations

from dataclasses import dataclass, replace
from fractions import Fraction
from typing import Literal

import numpy as np
from numpy.typing import ArrayLike

from uqcli import defaults
from uqcli.artifacts.models import BoundaryArtifact, BoundaryParameters, Constraint, Fit, Source
from uqcli.choices import Algorithm, ArtifactKind, Binning, ConstraintKind, EngineName, OnInvalid
from uqcli.engines.open import open_engine
from uqcli.engines.protocol import DataRequest, LabelledRows
from uqcli.errors import DataError, InfeasibleError, UsageError
from uqcli.jobs.arrays import checked_labels, checked_numbers, checked_weights
from uqcli.methods.binning.grid import GridSpec, HoldOut, build_cells
from uqcli.methods.boundary.fit import Search, search
from uqcli.methods.boundary.precision import parse_precision
from uqcli.methods.boundary.registry import ALGORITHMS
from uqcli.methods.boundary.result import FittedBoundary
from uqcli.reports.boundary import BoundaryReport


@dataclass(frozen=True, kw_only=True)
class BoundaryOptions:
    """What boundary to look for.

    Attributes
    ----------
    precision
        The bound as typed, a decimal in (0, 1].
    score_bins
        Cells in each uncertainty bin, or "all" for one at each distinct score.
    """

    precision: str
    algorithm: Algorithm = Algorithm.VW_DPMT
    binning: Binning = Binning.EQUI_WEIGHT
    uncertainty_bins: int = defaults.UNCERTAINTY_BINS
    score_bins: int | Literal["all"] = defaults.SCORE_BINS


@dataclass(frozen=True, kw_only=True)
class BoundaryRequest:
    """A run of the command."""

    data: DataRequest
    options: BoundaryOptions
    engine: EngineName = EngineName.POLARS


@dataclass(frozen=True, kw_only=True)
class BoundaryOutcome:
    """The report, and the artifact unless nothing meets the bound."""

    report: BoundaryReport
    artifact: BoundaryArtifact | None
    failure: InfeasibleError | None


def run(request: BoundaryRequest) -> BoundaryOutcome:
    """Read the rows, find the boundary, describe it.

    Raises
    ------
    UsageError, DataError
        See the parts.
    """
    options = request.options
    precision = parse_precision(options.precision)
    grid = _grid_spec(options)
    if request.data.on_invalid is OnInvalid.KEEP:
        raise UsageError("--on-invalid keep is for apply", expected="error or drop")
    rows = open_engine(request.engine).labelled_rows(_needed(request.data, grid))
    hold_out = _hold_out(rows)
    _refuse_weightless(hold_out)
    cells = build_cells(hold_out, grid)
    result = search(cells, options.algorithm, precision)
    report = BoundaryReport(
        source=_source(rows),
        parameters=_parameters(request, grid),
        found=result.found,
        best=result.best,
        score_only=_score_only(hold_out, result, options.algorithm, precision),
        empty_bins=tuple(number for number, row in enumerate(cells.rows) if not row.count.any()),
        rows=cells.total,
        positives=cells.positives,
    )
    if result.found is None:
        failure = InfeasibleError(report.shortfall().removeprefix("Infeasible: ").rstrip("."))
        return BoundaryOutcome(report=report, artifact=None, failure=failure)
    return BoundaryOutcome(report=report, artifact=_artifact(report, result.found), failure=None)


def find_boundary(
    score: ArrayLike,
    label: ArrayLike,
    *,
    uncertainty: ArrayLike | None = None,
    precision: str | float,
    weight: ArrayLike | None = None,
    algorithm: str = Algorithm.VW_DPMT,
    binning: str = Binning.EQUI_WEIGHT,
    uncertainty_bins: int = defaults.UNCERTAINTY_BINS,
    score_bins: int | Literal["all"] = defaults.SCORE_BINS,
) -> FittedBoundary:
    """Find the boundary of highest recall on score x uncertainty that keeps a precision.

    The same work as ``uqcli boundary`` on arrays [UB sec. 5].

    Parameters
    ----------
    score, uncertainty : array-like of finite numbers, shape (n,)
        Without uncertainty there is a single uncertainty bin.
    label : array-like of 0/1 or bool, shape (n,)
    precision
        Bound in (0, 1], best as the text of a decimal; a float is read as it prints.
    weight : array-like of non-negative integers, shape (n,), optional

    Returns
    -------
    FittedBoundary
        Thresholds, counts on these rows, and ``decide`` for new rows.

    Raises
    ------
    UsageError, DataError
        An option or a value is out of range.
    InfeasibleError
        No boundary meets the bound.

    Examples
    --------
    >>> found = find_boundary([0.1, 0.4, 0.6, 0.9], [0, 1, 0, 1], precision="0.6", score_bins="all")
    >>> found.thresholds, found.fit.recall
    ((0.4,), 1.0)
    """
    options = BoundaryOptions(
        precision=str(precision),
        algorithm=Algorithm(algorithm),
        binning=Binning(binning),
        uncertainty_bins=1 if uncertainty is None else uncertainty_bins,
        score_bins=score_bins,
    )
    target = parse_precision(options.precision)
    grid = _grid_spec(options)
    scores = checked_numbers("score", score)
    hold_out = HoldOut(
        score=scores,
        uncertainty=None if uncertainty is None else checked_numbers("uncertainty", uncertainty, len(scores)),
        positive=checked_labels("label", label, len(scores)),
        weight=None if weight is None else checked_weights("weight", weight, len(scores)),
    )
    _refuse_weightless(hold_out)
    cells = build_cells(hold_out, grid)
    result = search(cells, options.algorithm, target)
    if result.found is None:
        reached = f"the best is {result.best.fit.precision:.4f}" if result.best else "no row is positive"
        raise InfeasibleError(f"no boundary reaches precision {options.precision}: {reached}")
    return result.found


def _grid_spec(options: BoundaryOptions) -> GridSpec:
    for name, bins in (("uncertainty", options.uncertainty_bins), ("score", options.score_bins)):
        if isinstance(bins, int) and not 1 <= bins <= defaults.MOST_BINS:
            raise UsageError(f"{bins} {name} bins", expected=f"1 to {defaults.MOST_BINS}")
    if not ALGORITHMS[options.algorithm].uses_uncertainty:
        return GridSpec(binning=options.binning, uncertainty_bins=1, score_bins=None)
    score_bins = None if options.score_bins == "all" else options.score_bins
    return GridSpec(binning=options.binning, uncertainty_bins=options.uncertainty_bins, score_bins=score_bins)


def _needed(data: DataRequest, grid: GridSpec) -> DataRequest:
    """With a single uncertainty bin the uncertainty column is not looked at."""
    return data if grid.uncertainty_bins > 1 else replace(data, roles=replace(data.roles, uncertainty=None))


def _hold_out(rows: LabelledRows) -> HoldOut:
    return HoldOut(score=rows.score, uncertainty=rows.uncertainty, positive=rows.positive, weight=rows.weight)


def _refuse_weightless(rows: HoldOut) -> None:
    if rows.weight is not None and not rows.weight.any():
        raise DataError("every row has weight 0", expected="a positive weight in some row")


def _score_only(
    hold_out: HoldOut, result: Search, algorithm: Algorithm, precision: Fraction
) -> FittedBoundary | None:
    """What a single score threshold reaches, for comparison."""
    if algorithm is Algorithm.ST or result.found is None:
        return None
    spec = GridSpec(binning=Binning.EQUI_WEIGHT, uncertainty_bins=1, score_bins=None)
    return search(build_cells(hold_out, spec), Algorithm.ST, precision).found


def _source(rows: LabelledRows) -> Source:
    facts = rows.facts
    return Source(
        rows=facts.rows,
        positives=int(np.count_nonzero(rows.positive)),
        dropped=facts.dropped,
        columns=facts.columns,
    )


def _parameters(request: BoundaryRequest, grid: GridSpec) -> BoundaryParameters:
    options = request.options
    binned = ALGORITHMS[options.algorithm].uses_uncertainty
    return BoundaryParameters(
        algorithm=options.algorithm,
        binning=options.binning if binned else None,
        uncertainty_bins=grid.uncertainty_bins,
        score_bins="all" if grid.score_bins is None else grid.score_bins,
        precision=options.precision,
        on_invalid=request.data.on_invalid,
        positive=request.data.positive_value,
    )


def _artifact(report: BoundaryReport, found: FittedBoundary) -> BoundaryArtifact:
    fit = found.fit
    return BoundaryArtifact(
        kind=ArtifactKind.BOUNDARY,
        source=report.source,
        parameters=report.parameters,
        algorithm=report.parameters.algorithm,
        constraint=Constraint(kind=ConstraintKind.PRECISION, value=report.parameters.precision),
        uncertainty_edges=found.uncertainty_edges.tolist(),
        thresholds=list(found.thresholds),
        fit=Fit(
            selected=fit.selected,
            true_positives=fit.true_positives,
            rows=fit.rows,
            positives=fit.positives,
            precision=fit.true_positives / fit.selected,
            recall=fit.true_positives / fit.positives,
        ),
    )
