"""Certified boundaries: ranked on a pilot sample, tested on the other rows."""

from __future__ import annotations

from dataclasses import dataclass, replace

from uqcli.artifacts.boundary import BoundaryParameters, SavedCertificate, TestedOn
from uqcli.artifacts.saved import Source
from uqcli.choices import Algorithm, AlgorithmChoice, Binning, ConstraintKind
from uqcli.counts import Cells
from uqcli.defaults import SCORE_BINS
from uqcli.draws import check_seed
from uqcli.errors import UsageError
from uqcli.exact import decimal
from uqcli.jobs.boundary.keyed import split_by_hash
from uqcli.jobs.boundary.request import BoundaryRequest
from uqcli.jobs.labelled import open_table, source_of
from uqcli.methods.bin.grid import GridSpec, cells_from, cells_under, pool_by, uncertainty_edges_of
from uqcli.methods.boundary.bins import BinsTried, fewest_of, tried_bins
from uqcli.methods.boundary.decide import decide
from uqcli.methods.boundary.optimum import Optimum, optimise
from uqcli.methods.boundary.ranking.certificate import PILOT_PARTS, Certified, NotCertified, certify
from uqcli.methods.boundary.result import FitCounts, FittedBoundary
from uqcli.rows import Rows


@dataclass(frozen=True, kw_only=True)
class CertifiedBoundary:
    """A certified boundary, or why nothing was certified.

    Attributes
    ----------
    found
        The boundary, with its counts on all rows.
    uncertified
        Result of the same algorithm without a certificate, on all rows.
    cells
        Cells of all rows, with the edges of the pilot if anything was certified.
    """

    source: Source
    parameters: BoundaryParameters
    found: FittedBoundary | None
    certificate: SavedCertificate | None
    failed: NotCertified | None
    uncertified: Optimum
    cells: Cells
    tried: tuple[BinsTried, ...] | None = None


def certified(request: BoundaryRequest) -> CertifiedBoundary:
    """Find a boundary and certify it.

    Raises
    ------
    UsageError, DataError
        An option conflicts with a certificate, or the rows cannot be read.
    """
    delta = checked_delta(request)
    constraint, spec = request.constraint, request.grid.spec(Algorithm.SMOOTH)
    auto = request.grid.is_auto(Algorithm.SMOOTH)
    table = open_table(request.data, uses_uncertainty=spec.uncertainty_bins > 1)
    rows = table.rows().pooled()
    pilot, test = _split(rows, request.seed)
    tried: tuple[BinsTried, ...] | None = None
    if auto and pilot.size:  # chosen on the pilot, so that there is a single test
        tried = tried_bins(_cells(pilot, _for_bins(spec)), constraint, request.seed)
        spec = replace(spec, uncertainty_bins=fewest_of(tried))
    (bound,) = constraint.numbers
    outcome: Certified | NotCertified = NotCertified(p_value=None, rows_needed=None)
    if pilot.size:
        ranked = _cells(pilot, spec)
        tested = cells_under(pool_by(test, ranked.uncertainty_edges), ranked)
        outcome = certify(ranked, tested, bound, delta)
    cells = shown_cells = _cells(rows, spec)
    if isinstance(outcome, Certified):  # a certified boundary has the pilot's edges
        shown_cells = cells_under(pool_by(rows, ranked.uncertainty_edges), ranked)
    certified_rule = outcome if isinstance(outcome, Certified) else None
    return CertifiedBoundary(
        source=source_of(table.summary),
        parameters=request.parameters(spec),
        found=None if certified_rule is None else _on_all(rows, certified_rule),
        certificate=None
        if certified_rule is None
        else _saved(certified_rule, float(bound), delta, request.seed),
        failed=outcome if isinstance(outcome, NotCertified) else None,
        uncertified=optimise(cells, Algorithm.SMOOTH, constraint),
        cells=shown_cells,
        tried=tried,
    )


def checked_delta(request: BoundaryRequest) -> float:
    """Return the risk of the certificate, after a check of all other options.

    Raises
    ------
    UsageError
        An option conflicts with a certificate.
    """
    delta = decimal("certify", request.certify or "", above=0, below=1)
    check_seed(request.seed)
    request.grid.spec(Algorithm.SMOOTH).check()
    if request.searched is not AlgorithmChoice(Algorithm.SMOOTH):
        raise UsageError(f"--certify with --algorithm {request.searched}", expected="--algorithm smooth")
    if request.constraint.margin:
        raise UsageError("--margin beside --certify", expected="one of them")
    if len(request.compare) > 1:  # choosing the best column uses all rows, including those of the test
        raise UsageError(
            f"--certify with {len(request.compare)} columns in --uncertainty",
            expected="one",
            remedy="choose it on other rows first",
        )
    if request.frontier is not None:
        raise UsageError("--frontier beside --certify", expected="one of them")
    if request.saved_grid is not None or request.shift is not None:
        raise UsageError("--certify beside --grid or --shift", expected="the rows themselves")
    if request.constraint.kind is not ConstraintKind.PRECISION:
        raise UsageError(f"--certify with --{request.constraint.kind}", expected="--precision")
    return float(delta)


def _split(rows: Rows, seed: int) -> tuple[Rows, Rows]:
    """Split the rows into a pilot of a fifth, and the rest."""
    pilot, rest = split_by_hash(rows, seed, [rows.size // PILOT_PARTS])
    return rows.reweighted(pilot), rows.reweighted(rest)


def _for_bins(spec: GridSpec) -> GridSpec:
    """Return the shared grid, from which the number of bins is chosen."""
    return replace(spec, binning=Binning.SHARED, score_bins=spec.score_bins or SCORE_BINS)


def _cells(rows: Rows, spec: GridSpec) -> Cells:
    edges = uncertainty_edges_of(rows, spec)
    return cells_from(edges, pool_by(rows, edges), spec)


def _on_all(rows: Rows, certified_rule: Certified) -> FittedBoundary:
    """Return the certified thresholds with their counts on all rows."""
    flagged = decide(
        rows.score,
        rows.uncertainty,
        uncertainty_edges=certified_rule.uncertainty_edges,
        thresholds=certified_rule.thresholds,
    )
    count, positive = rows.weights(), rows.labels
    fit = FitCounts(
        selected=int(count[flagged].sum()),
        true_positives=int(count[flagged & positive].sum()),
        rows=rows.size,
        positives=int(count[positive].sum()),
    )
    return FittedBoundary(
        uncertainty_edges=certified_rule.uncertainty_edges, thresholds=certified_rule.thresholds, fit=fit
    )


def _saved(certified_rule: Certified, bound: float, delta: float, seed: int) -> SavedCertificate:
    tested = TestedOn(
        rows=certified_rule.tested,
        selected=certified_rule.selected,
        true_positives=certified_rule.true_positives,
    )
    return SavedCertificate(
        delta=delta, precision=bound, p_value=certified_rule.p_value, seed=seed, tested_on=tested
    )
