"""Boundaries of groups, and the boundary of all rows for other groups.

Each group has its own thresholds, for a common bound or one in each group. The classes of the knapsack are
the uncertainty bins of all groups, in the order of the groups. Smoothed rates rank the cells of each group by
itself; for a common bound the rankings are merged.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import replace
from functools import cached_property, partial, reduce
from itertools import pairwise
from operator import add

import numpy as np

from uqcli.base.choices import Algorithm, GroupBound
from uqcli.base.counts import Bools, Cells, Ints, RangeCounts
from uqcli.base.errors import DataError, words
from uqcli.base.records import dataclass
from uqcli.boundary.calibration import Calibration
from uqcli.boundary.calibration_set import CalibrationRows, no_ranges
from uqcli.boundary.candidate import Candidate
from uqcli.boundary.certificate import Failed
from uqcli.boundary.certificate_rows import open_pilot, refuse_same_files
from uqcli.boundary.certificate_rule import Certification, SavedCertificate
from uqcli.boundary.certify import certified_rule
from uqcli.boundary.clusters import add_at, expected_over_clusters, no_counts, saved_dependence
from uqcli.boundary.conflicts import checked_delta, safer_options
from uqcli.boundary.expected import MAX_CELLS, BootstrapSamples, Expected, expected_of
from uqcli.boundary.options import BoundaryRequest
from uqcli.boundary.outcome import Found, NotFound, Outcome
from uqcli.boundary.parts.registry import (
    Parts,
    file_fields,
    parts_of_expectation,
    parts_of_failure,
    parts_of_found,
    parts_of_group_certificates,
    parts_of_groups,
    parts_of_limit,
    parts_of_margin,
    parts_of_nothing,
    parts_of_rows,
    parts_of_search,
    parts_of_units,
    parts_of_value,
)
from uqcli.boundary.search.algorithms import ALGORITHMS
from uqcli.boundary.search.constraint import Constraint
from uqcli.boundary.search.goals import Tops
from uqcli.boundary.search.smoothing import Layout, NestedBoundaries, nested_of_draws, nested_of_each
from uqcli.boundary.search.thresholds import FittedBoundary, as_numbers, boundary_at
from uqcli.boundary.tested_units import units_of
from uqcli.engines.protocol import CountTable, Partition
from uqcli.estimates.confusion import Confusion, cluster_numbers
from uqcli.rules.saved import refuse_unsavable


@dataclass(frozen=True, kw_only=True)
class GroupSearch:
    """Search for the boundaries of several groups, from the cells of each.

    ``rankings`` are those of the cells if rates are smoothed, otherwise none. ``is_large`` says that the
    groups have more cells than samples are drawn of; those without rows may be left out of them.
    """

    parts: tuple[Cells, ...]
    algorithm: Algorithm
    constraint: Constraint
    bound: GroupBound
    rankings: tuple[NestedBoundaries, ...] = ()
    is_large: bool = False

    @classmethod
    def over(
        cls, parts: Iterable[Cells], algorithm: Algorithm, constraint: Constraint, bound: GroupBound
    ) -> GroupSearch:
        """Rank the cells of one group after the other; of many, only those with rows are kept."""
        is_smooth = algorithm is Algorithm.SMOOTH
        ranked = nested_of_each(parts) if is_smooth else ((part, None) for part in parts)
        kept, rankings, size = list[Cells](), list[NestedBoundaries](), 0
        for part, ranking in ranked:
            size += part.size
            is_reduced = is_smooth and size > MAX_CELLS
            kept.append(part.filled() if is_reduced else part)
            if ranking:
                rankings.append(ranking.filled(part) if is_reduced else ranking)
        return cls(
            parts=tuple(kept),
            algorithm=algorithm,
            constraint=constraint,
            bound=bound,
            rankings=tuple(rankings),
            is_large=size > MAX_CELLS,
        )

    @cached_property
    def cells(self) -> Cells:
        """The cells of all groups as one table; its uncertainty edges only identify it."""
        edges = np.concatenate([part.uncertainty_edges for part in self.parts])
        return Cells(uncertainty_edges=edges, rows=tuple(row for part in self.parts for row in part.rows))

    @cached_property
    def _optimum(self) -> Tops | None:
        return self._tops(self.parts, self.rankings)

    def boundaries(self) -> tuple[FittedBoundary, ...] | None:
        """Find the boundary of each group; None if no group has one.

        Where the bound is out of reach, a boundary has no thresholds.
        """
        if self._optimum is None:
            return None
        ends = np.cumsum([0, *(len(part.rows) for part in self.parts)]).tolist()
        split = [self._optimum[first:last] for first, last in pairwise(ends)]
        return tuple(boundary_at(part, tops) for part, tops in zip(self.parts, split, strict=True))

    def expected(self, seed: int) -> Expected | None:
        """Estimate the results on new data, over all groups (see ``expected``).

        The recall has no range: the thresholds of several groups vary more than one, and ranges covered 79 %.
        """
        if self._optimum is None or self.is_large:
            return None
        samples = BootstrapSamples.from_cells(self.cells, seed)
        results = expected_of(samples, self._optimum, self._of_draws, self.algorithm)
        if not results or len(self.parts) == 1:
            return results
        return replace(results, recall=replace(results.recall, low=None, high=None))

    def _of_draws(self, samples: Ints) -> Iterator[Tops | None]:
        """Find the top cells in each bootstrap sample; int64, shape (2, draws, cells)."""
        sizes = [sum(len(row.count) for row in part.rows) for part in self.parts]
        by_part = np.split(samples, np.cumsum(sizes)[:-1], axis=2)
        rankings = []
        if self.algorithm is Algorithm.SMOOTH:
            layouts = [Layout.from_cells(part) for part in self.parts]
            rankings = [
                nested_of_draws(layout, *counts) for layout, counts in zip(layouts, by_part, strict=True)
            ]
        for draw in range(samples.shape[1]):
            parts = [
                part.with_counts(*counts[:, draw]) for part, counts in zip(self.parts, by_part, strict=True)
            ]
            yield self._tops(parts, [next(ranking) for ranking in rankings])

    def _tops(self, parts: Sequence[Cells], rankings: Sequence[NestedBoundaries]) -> Tops | None:
        """Find the top cells of all rows; rankings are those of smoothed rates."""
        if self.bound is GroupBound.EACH:
            return self._in_each(parts, rankings)
        rows = tuple(row for part in parts for row in part.rows)
        together = Cells(uncertainty_edges=self.cells.uncertainty_edges, rows=rows)
        goal = self.constraint.goal(together)
        if not rankings:
            return ALGORITHMS[self.algorithm].method(together, goal)
        return merged(parts, rankings).best_for(goal, together)

    def _in_each(self, parts: Sequence[Cells], rankings: Sequence[NestedBoundaries]) -> Tops | None:
        chosen, method = [], ALGORITHMS[self.algorithm].method
        for index, part in enumerate(parts):
            goal = self.constraint.goal(part)
            chosen.append(rankings[index].best_for(goal, part) if rankings else method(part, goal))
        if not any(chosen):
            return None
        return tuple(
            top for tops, part in zip(chosen, parts, strict=True) for top in tops or (0,) * len(part.rows)
        )


def merged(parts: Sequence[Cells], rankings: Sequence[NestedBoundaries]) -> NestedBoundaries:
    """Merge the rankings of several groups by rate; ties by position from the top, then by row."""
    first_row = np.cumsum([0, *(len(part.rows) for part in parts)]).tolist()
    first_cell = np.cumsum([0, *(part.size for part in parts)]).tolist()
    rate = np.concatenate([ranking.rate for ranking in rankings])
    from_top = np.concatenate([ranking.from_top for ranking in rankings])
    # as narrow as the indices of the rankings
    row = np.concatenate([ranking.row + first_row[index] for index, ranking in enumerate(rankings)])
    cell = np.concatenate([ranking.order + first_cell[index] for index, ranking in enumerate(rankings)])
    order = np.lexsort((row, from_top, -rate))
    cell = cell[order]
    true_positives, selected = (
        np.cumsum(np.concatenate([getattr(cells, name) for part in parts for cells in part.rows])[cell])
        for name in ("positives", "count")
    )
    return NestedBoundaries(
        order=cell,
        row=row[order],
        from_top=from_top[order],
        true_positives=true_positives,
        selected=selected,
        rate=rate[order],
    )


_GROUP_BYTES = 150
"""Bytes of the shortest entry of a group in a rule file."""


def find_by_group(request: BoundaryRequest) -> Outcome:
    """Find the boundary of each group that is large enough, and of all rows."""
    groups, constraint, algorithm = request.groups, request.target.constraint, Algorithm(request.searched)
    by, least = groups.by or "", groups.min_group
    refuse_same_files(request.data.inputs, request.certificate.pilot)
    calibration_set = CalibrationRows.from_request(request, constraint)
    # for one threshold, if there is no uncertainty
    request = replace(request, data=calibration_set.data, bins=calibration_set.options)
    # first, since it needs most memory beside the rows, which the groups then use again
    pooled = calibration_set.optimum(algorithm).boundary or _never(calibration_set.one_row)
    *counted, _ = calibration_set.table.range_counts(Partition(groups=(by,)), no_ranges)
    scores = dict(zip(calibration_set.table.groups(by), counted, strict=True))
    names = _large_groups({name: counts.rows for name, counts in scores.items()}, least)
    boundaries: Mapping[str, FittedBoundary] = {}
    expected: Expected | None = None
    certificates: Mapping[str, SavedCertificate] = {}
    certification: Certification | None = None
    if request.certificate.is_asked:
        rows_of = {name: calibration_set.only(by, name) for name in names}
        boundaries, certificates, certification = _certify(rows_of, request)
    else:
        counts_of = {name: scores[name] for name in names}
        of_groups = calibration_set.cells_of_groups(by, counts_of, algorithm)
        search = GroupSearch.over(of_groups, algorithm, constraint, groups.bound)
        if found := search.boundaries():
            boundaries, expected = dict(zip(names, found, strict=True)), search.expected(request.seed)
    small = {name: counts.rows for name, counts in scores.items() if counts.rows < least}
    rest = _counts_under(calibration_set.table, by, small, pooled)
    fit = reduce(add, (own.fit for own in boundaries.values()), rest)
    boundary = replace(pooled, fit=fit) if boundaries else None
    chosen = Candidate(algorithm=algorithm, boundary=boundary, expected=expected)
    cells = calibration_set.one_row
    calibration = Calibration(
        source=calibration_set.source,
        parameters=request.parameters(calibration_set.spec(algorithm, len(pooled.thresholds))),
        constraint=constraint,
        rows=cells.total,
        positives=cells.positives,
        seed=request.seed,
    )
    parts = [
        *parts_of_rows(calibration, lacks_uncertainty=calibration_set.lacks_uncertainty),
        *parts_of_search(calibration, chosen, [chosen]),
        *parts_of_groups(
            groups, constraint, boundaries=boundaries, certificates=certificates, small=small, rest=rest
        ),
    ]
    if not boundary:
        parts += parts_of_nothing(calibration, chosen)
        parts += parts_of_failure(certification) if certification else []
        return NotFound(calibration=calibration, parts=parts)
    units = Parts()
    if calibration_set.clusters:
        counts, promising, in_groups = _by_cluster(calibration_set, by, boundaries, pooled)
        saved = saved_dependence(
            request.target,
            calibration_set.clusters.column,
            counts,
            promising if groups.bound is GroupBound.EACH else {},
        )
        parts += file_fields(dependence=saved)
        if expected:
            expected = expected_over_clusters(expected, in_groups, f"{request.data.roles.dependence}s")
            chosen = replace(chosen, expected=expected)
        units = parts_of_units(calibration, chosen, cluster_numbers(in_groups), len(boundaries))
    reference = calibration_set.reference(
        boundary.uncertainty_edges,
        uncertain=any(len(own.thresholds) > 1 for own in (boundary, *boundaries.values())),
    )
    parts += [*parts_of_found(calibration, boundary, algorithm, None), *file_fields(reference=reference)]
    if certification:
        parts += parts_of_group_certificates(certification)
    else:
        parts += [
            *units,
            *parts_of_expectation(calibration, boundary, chosen.expected),
            *parts_of_margin(calibration, chosen, None, safer_options(request)),
            *parts_of_value(calibration, boundary),
            *parts_of_limit(calibration, boundary, orders_rows=False, dependent=bool(units)),
        ]
    return Found(calibration=calibration, parts=parts, boundary=boundary, expected=chosen.expected)


def _large_groups(sizes: Mapping[str, int], least: int) -> list[str]:
    """Return the groups that are large enough for a rule of their own; none is a DataError."""
    names = [name for name, rows in sizes.items() if rows >= least]
    if not names:
        raise DataError(
            f"no group has {least} rows; the largest has {max(sizes.values(), default=0)}",
            expected="at least one large enough",
            remedy=words("lower --min-group, or fit one boundary without groups"),
        )
    refuse_unsavable(names, _GROUP_BYTES)
    return names


def _by_cluster(
    calibration_set: CalibrationRows,
    by: str,
    boundaries: Mapping[str, FittedBoundary],
    pooled: FittedBoundary,
) -> tuple[Confusion[Ints], dict[str, Confusion[Ints]], Confusion[Ints]]:
    """Count the rows of each cluster that the boundaries flag.

    Also return the counts of each group, and the sums over all groups.
    """
    clusters = calibration_set.clusters
    assert clusters  # as rows depend on each other
    size = len(clusters.key)
    in_groups, replaced = no_counts(size), no_counts(size)
    of_groups = {}
    for name, boundary in boundaries.items():
        own = calibration_set.only(by, name).clusters
        assert own  # as all rows have clusters
        place = np.searchsorted(clusters.key, own.key)
        counts = own.flagged(boundary)
        add_at(in_groups, place, counts)
        add_at(replaced, place, own.flagged(pooled))
        of_groups[name] = counts
    return in_groups + (clusters.flagged(pooled) - replaced), of_groups, in_groups


def _certify(
    parts: Mapping[str, CalibrationRows], request: BoundaryRequest
) -> tuple[dict[str, FittedBoundary], dict[str, SavedCertificate], Certification]:
    """Certify a boundary of each group, at an equal share of the risk; others flag nothing.

    There are no boundaries if none is certified.
    """
    by, pilot_files, older = request.groups.by or "", request.certificate.pilot, None
    delta = checked_delta(request)
    units = units_of(request.target, request.data.roles, request.seed, has_pilot=pilot_files is not None)
    if pilot_files is not None:
        uncertain = "uncertainty" in request.data.roles.numbers
        older = open_pilot(request.data, pilot_files, uses_uncertainty=uncertain)
    rules = {}
    for name, part in parts.items():
        rows = units.read(part.table)
        pilot = None
        if older is not None:
            pilot = rows.select(np.empty(0, dtype=np.int64))
            if name in older.groups(by):
                pilot = units.read(older.only(by, name))
        rules[name] = certified_rule(rows, units, request.bins, delta / len(parts), pilot)
    outcomes = {name: rule.certification for name, rule in rules.items()}
    certificates = {name: saved for name, outcome in outcomes.items() for saved in outcome.certificates}
    failures = [outcome.failed for outcome in outcomes.values() if outcome.failed]
    tested = [failure for failure in failures if isinstance(failure, Failed)]
    failed = min(
        failures, key=lambda failure: failure.p_value if isinstance(failure, Failed) else 1.0, default=None
    )
    if isinstance(failed, Failed):
        sizes = [failure.rows_needed for failure in tested if failure.rows_needed is not None]
        promising = any(failure.promising for failure in tested)
        failed = replace(failed, rows_needed=min(sizes, default=None), promising=promising)
    boundaries = {name: rule.boundary or _never(rule.cells) for name, rule in rules.items()}
    risk = f"{100 * float(delta) / len(parts):.3g} %"
    certification = Certification(
        delta=float(delta),
        certificates=list(certificates.values()),
        failed=failed,
        tested_target=f"{request.target.constraint.text()} at a risk of {risk}",
        easier=request.target.constraint.easier,
        groups=len(parts),
        units=units.name,
        has_pilot=units.has_pilot,
    )
    return boundaries if certificates else {}, certificates, certification


def _never(cells: Cells) -> FittedBoundary:
    """Return a boundary that flags no row."""
    fit = Confusion(selected=0, true_positives=0, rows=cells.total, positives=cells.positives)
    return FittedBoundary(uncertainty_edges=np.empty(0), thresholds=(None,), fit=fit)


def _counts_under(
    table: CountTable, by: str, groups: Collection[str], boundary: FittedBoundary
) -> Confusion[int]:
    """Count the rows of some groups that a boundary flags, in one pass over all groups; 0 of no group."""
    counts = Confusion(rows=0, positives=0, selected=0, true_positives=0)
    if not groups:
        return counts
    thresholds = boundary.thresholds * len(table.groups(by))
    *parts, _ = table.range_counts(
        Partition(groups=(by,), edges=boundary.uncertainty_edges), partial(_at_thresholds, thresholds)
    )
    for index, name in enumerate(table.groups(by)):
        if name in groups:
            bins = slice(index * len(boundary.thresholds), (index + 1) * len(boundary.thresholds))
            for part, threshold in zip(parts[bins], as_numbers(boundary.thresholds), strict=True):
                flagged = part.value >= threshold
                counts += Confusion(
                    rows=part.rows,
                    positives=int(part.positives.sum()),
                    selected=int(part.count[flagged].sum()),
                    true_positives=int(part.positives[flagged].sum()),
                )
    return counts


def _at_thresholds(thresholds: Sequence[float | None], counts: Sequence[RangeCounts]) -> list[Bools]:
    """Return the ranges that contain the threshold of their part."""
    *parts, total = counts
    masks = [
        np.zeros(len(part.value), dtype=np.bool_)
        if threshold is None
        else part.around(np.array([threshold])) & ~part.exact
        for part, threshold in zip(parts, thresholds, strict=True)
    ]
    return [*masks, np.zeros(len(total.value), dtype=np.bool_)]
