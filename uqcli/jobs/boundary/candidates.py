"""What each algorithm finds on a hold-out set, and which of them did best."""

from __future__ import annotations

from collections.abc import Sequence
from fractions import Fraction
from time import perf_counter

from uqcli import defaults
from uqcli.choices import Algorithm, AlgorithmChoice
from uqcli.errors import DataError, UsageError
from uqcli.jobs.boundary.hold_out import HoldOut, algorithms_of
from uqcli.methods.boundary.constraint import Constraint
from uqcli.methods.boundary.optimum import Optimum, optimise
from uqcli.methods.boundary.registry import entry_of
from uqcli.reports.boundary.compared import Compared
from uqcli.reports.boundary.report import Candidate


def candidates_of(hold_out: HoldOut, asked: AlgorithmChoice) -> tuple[Candidate, ...]:
    """What the algorithms find that are asked for.

    Raises
    ------
    UsageError, DataError
        A single algorithm does not apply, or would need too much memory.
    """
    if asked is not AlgorithmChoice.ALL:
        _require_applicable(hold_out, Algorithm(asked))
    return tuple(_try(hold_out, algorithm) for algorithm in algorithms_of(asked))


def best_of(candidates: Sequence[Candidate], hold_out: HoldOut) -> Candidate:
    """By the goal, then recall, then fewest selected; the first named wins ties."""

    def rank(candidate: Candidate) -> tuple[Fraction | int, ...]:
        if candidate.found is None:
            return (1,)
        fit = candidate.found.fit
        objective = hold_out.constraint.objective(fit.true_positives, fit.selected)
        return (0, -objective, -fit.true_positives, fit.selected)

    return min((each for each in candidates if each.optimum is not None), key=rank)


def is_set_aside(
    boundary: Optimum | None, alone: Optimum | None, constraint: Constraint, compared: Sequence[Compared]
) -> bool:
    """Whether one score threshold is to be used in the place of a boundary.

    A test on rows held out decides, where there was one; else what each reaches on these rows.
    """
    if alone is None or alone.found is None:
        return False
    if boundary is None or boundary.found is None:
        return True
    if compared:
        return compared[0].verdict != "helps"
    ours, other = (
        constraint.objective(each.fit.true_positives, each.fit.selected)
        for each in (boundary.found, alone.found)
    )
    return other > ours


def single_threshold_beside(best: Candidate, hold_out: HoldOut) -> Optimum | None:
    """What one score threshold reaches on the same rows; None if that is the best, or cannot be told."""
    if best.algorithm is Algorithm.ST or hold_out.obstacle(Algorithm.ST) is not None:
        return None
    return optimise(hold_out.cells(Algorithm.ST), Algorithm.ST, hold_out.constraint)


def _try(hold_out: HoldOut, algorithm: Algorithm) -> Candidate:
    obstacle = hold_out.obstacle(algorithm) or _oversize(hold_out, algorithm)
    if obstacle is not None:
        return Candidate(algorithm=algorithm, optimum=None, obstacle=obstacle, seconds=0.0)
    hold_out.cells(algorithm)  # counted once, for all algorithms
    start = perf_counter()
    optimum = hold_out.optimum(algorithm)
    return Candidate(algorithm=algorithm, optimum=optimum, obstacle=None, seconds=perf_counter() - start)


def _require_applicable(hold_out: HoldOut, algorithm: Algorithm) -> None:
    """Refuse an algorithm that does not apply.

    Raises
    ------
    UsageError
        It says why.
    DataError
        Its table would not fit into memory.
    """
    obstacle = hold_out.obstacle(algorithm)
    if obstacle is not None:
        raise UsageError(f"--algorithm {algorithm} does not apply: it {obstacle}", remedy="use vw-dpmt")
    oversize = _oversize(hold_out, algorithm)
    if oversize is not None:
        raise DataError(
            f"--algorithm {algorithm} {oversize}",
            expected=f"at most {defaults.MOST_TABLE_BYTES / 1e9:.1f} GB",
            remedy="use --algorithm vw-dpmt, or fewer bins (--uncertainty-bins, --score-bins)",
        )


def _oversize(hold_out: HoldOut, algorithm: Algorithm) -> str | None:
    """What an algorithm would need beyond all reason; None where it fits."""
    needs = entry_of(algorithm).table_bytes
    size = 0 if needs is None else needs(*hold_out.shape)
    if size <= defaults.MOST_TABLE_BYTES:
        return None
    bins = " x ".join(map(str, hold_out.shape))
    return f"needs a table of {size / 1e9:,.1f} GB for {bins} bins"
