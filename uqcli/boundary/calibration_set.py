"""Calibration sets of boundaries, as rows or as a saved grid: applicable algorithms and their cells."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from functools import cached_property
from itertools import islice
from typing import Final

import numpy as np

from uqcli.base.amounts import units
from uqcli.base.blockwise import total
from uqcli.base.choices import Algorithm, AlgorithmChoice, Binning
from uqcli.base.counts import Bools, Cells, Floats, RangeCounts
from uqcli.base.defaults import SCORE_BINS, SHARED_UNCERTAINTY_BINS
from uqcli.base.records import dataclass
from uqcli.bin.grid import GridSpec, cells_of_each, grid_parts, turned_axis, uncertainty_ends
from uqcli.bin.rule import GridArtifact
from uqcli.boundary.clusters import RowsByCluster, clusters_of
from uqcli.boundary.counted_grids import CountedGrid, CountedRows, Known, single_row
from uqcli.boundary.expected import BootstrapSamples, Expected, expected, is_large
from uqcli.boundary.options import BoundaryRequest
from uqcli.boundary.reference import MAX_ROWS_BETWEEN, SavedReference, reference_of, with_between
from uqcli.boundary.search.algorithms import ALGORITHMS, Optimum, WorksOn, optimise, optimise_recalibrated
from uqcli.boundary.search.constraint import Constraint
from uqcli.boundary.search.cross_validation import BINS, BinsTried, fewest_of, has_few_alerts, tried_bins
from uqcli.engines.protocol import ALL_ROWS, CountTable
from uqcli.engines.request import DataRequest
from uqcli.rules.labelled import open_table, source_of
from uqcli.rules.saved import Source

_GROUPS_TOGETHER: Final = 64
"""Groups of which cells are counted together, since the steps of a small one take longer than its numbers."""

_CLUSTERED_BINS: Final = 4
"""Uncertainty bins of the comparison with a single threshold if rows depend on each other."""


@dataclass(frozen=True, kw_only=True)
class CalibrationRows(CountedRows):
    """Labelled rows of a calibration set.

    ``uncertain`` says that they have an uncertainty, of which there are at least ``min_bins`` bins if their
    number is chosen.
    """

    data: DataRequest
    uncertain: bool
    min_bins: int = 1

    @classmethod
    def from_request(
        cls,
        request: BoundaryRequest,
        constraint: Constraint,
        *,
        uncertain: bool = False,
        table: CountTable | None = None,
    ) -> CalibrationRows:
        """Return the calibration set of a request, from a table of the rows if one is open already.

        ``uncertain`` reads the uncertainty for any algorithm.
        """
        algorithms = algorithms_of(request.searched)
        specs = [request.bins.spec(algorithm) for algorithm in algorithms]
        for spec in specs:
            spec.check()
        tries_all = request.searched is AlgorithmChoice.ALL
        # among all algorithms, hr alone is no reason to read the uncertainty
        raised = not tries_all and ALGORITHMS[algorithms[0]].works_on is WorksOn.RAISED_SCORES
        uncertain = uncertain or raised or any(spec.uncertainty_bins > 1 for spec in specs)
        table = table or open_table(request.data, uses_uncertainty=uncertain)
        if uncertain:
            request = request.for_columns(table.summary.columns)
            uncertain = not request.data.roles.lacks_uncertainty
        return cls(
            target=request.target.at(constraint),
            table=table,
            data=request.data,
            options=request.bins,
            seed=request.seed,
            uncertain=uncertain,
            clusters=clusters_of(table, request.data.roles.cluster),
            smoothed_only=algorithms == (Algorithm.SMOOTH,)
            and not (request.curve or request.target.limit or request.groups.are_asked),
        )

    @cached_property
    def source(self) -> Source:
        """The source of the rows, as rule files save it."""
        return source_of(self.table.summary)

    @property
    def lacks_uncertainty(self) -> bool:
        """Whether the rows have no uncertainty, which was optional."""
        return self.data.roles.lacks_uncertainty

    def under(self, constraint: Constraint) -> CalibrationRows:
        """Return the same rows, read once, under another constraint among the bounds of the request."""
        return replace(self, target=self.target.at(constraint))

    def only(self, by: str, name: str) -> CalibrationRows:
        """Return the rows of one group of a key column."""
        table = self.table.only(by, name)
        clusters = clusters_of(table, self.data.roles.cluster)
        return replace(self, table=table, clusters=clusters, _known=Known())

    def cells_of_groups(
        self, by: str, scores: Mapping[str, RangeCounts], algorithm: Algorithm
    ) -> Iterator[Cells]:
        """Return the cells that an algorithm works on in each group, of which the scores are known."""
        names = iter(scores)
        while some := list(islice(names, _GROUPS_TOGETHER)):
            known = [name for name in some if self._is_one_row(scores[name], algorithm)]
            counts = [scores[name].counts for name in known]
            cells = dict(zip(known, cells_of_each(counts, self.options.spec(algorithm)), strict=True))
            for name in some:
                yield cells[name] if name in cells else self.only(by, name).cells(algorithm)

    def _is_one_row(self, scores: RangeCounts, algorithm: Algorithm) -> bool:
        """Whether the cells of a group are a row of these scores, which are exact.

        So they are in a grid of one uncertainty bin, and where they cannot have enough alerts to choose a
        number of bins.
        """
        if ALGORITHMS[algorithm].works_on is not WorksOn.GRID or not scores.exact.all():
            return False
        is_few = has_few_alerts(self.constraint, scores.rows, total(scores.positives))
        one_bin = self.options.spec(algorithm).uncertainty_bins == 1
        return one_bin or (self.is_auto(algorithm) and is_few)

    def spec(self, algorithm: Algorithm, bins: int) -> GridSpec:
        """Return the grid to save with a boundary of ``bins`` uncertainty bins."""
        return replace(self.options.spec(algorithm), uncertainty_bins=bins)

    def shape(self, algorithm: Algorithm) -> tuple[int, int]:
        """Return the numbers of uncertainty bins and score bins; 0 score bins means every distinct score."""
        spec = self.options.spec(algorithm)
        return spec.uncertainty_bins, spec.score_bins or 0

    def obstacle(self, algorithm: Algorithm) -> str:
        """Return the reason why an algorithm does not apply; empty if it does."""
        entry = ALGORITHMS[algorithm]
        if not entry.supports(self.constraint):
            return entry.refusal
        if entry.equal_rows and self.options.cells_per_bin is None:
            return "needs a number of score bins, not all"
        if entry.works_on is WorksOn.RAISED_SCORES and not self.uncertain:
            return "needs the uncertainty"
        return ""

    def optimum(self, algorithm: Algorithm) -> Optimum:
        """Find the best boundary of an applicable algorithm."""
        if ALGORITHMS[algorithm].works_on is WorksOn.RAISED_SCORES:
            return optimise_recalibrated(self.table.rows(), self.constraint)
        optimum = optimise(self.cells(algorithm), algorithm, self.constraint)
        if optimum.boundary is None and ALGORITHMS[algorithm].works_on is WorksOn.SCORES:
            # the nearest result may be at any score
            return optimise(self.every_score, algorithm, self.constraint)
        return optimum

    def expected(self, algorithm: Algorithm) -> Expected | None:
        """Compute the expected results on new data; None if not estimated, and of dependent rows."""
        entry = ALGORITHMS[algorithm]
        if entry.works_on is WorksOn.RAISED_SCORES or self.clusters is not None:
            return None
        cells = self.cells(algorithm) if entry.works_on is WorksOn.GRID else self.one_row
        return expected(cells, algorithm, self.constraint, self.seed, self._samples_of(cells))

    def expected_of_rule(self, algorithm: Algorithm, bins: int) -> Expected | None:
        """Compute the expected results of a rule with some uncertainty bins, as of independent rows."""
        is_on_grid = ALGORITHMS[algorithm].works_on is WorksOn.GRID
        cells = self.cells_of_rule(algorithm, bins) if is_on_grid else self.one_row
        return expected(cells, algorithm, self.constraint, self.seed, self._samples_of(cells))

    def is_auto(self, algorithm: Algorithm) -> bool:
        """Whether the number of uncertainty bins is chosen by performance."""
        return ALGORITHMS[algorithm].works_on is WorksOn.GRID and self.options.is_auto(algorithm)

    def cells(self, algorithm: Algorithm) -> Cells:
        """Return the cells that an algorithm works on."""
        if ALGORITHMS[algorithm].works_on is not WorksOn.GRID:
            return self._scores
        spec = self.options.spec(algorithm)
        if self.options.is_auto(algorithm):
            bins = self.bins
            if spec.binning is Binning.SHARED:
                return self._count(spec).cells(bins, spec.score_bins)
            spec = replace(spec, uncertainty_bins=bins)
        return self._count(spec).cells(spec.uncertainty_bins, spec.score_bins)

    def cells_of_rule(self, algorithm: Algorithm, bins: int) -> Cells:
        """Return the cells on which a rule with a number of uncertainty bins was found."""
        if ALGORITHMS[algorithm].works_on is not WorksOn.GRID:
            return self.every_score
        cells = self.cells(algorithm)
        return self.one_row if bins < len(cells.rows) else cells

    @property
    def clustered_rows(self) -> RowsByCluster | None:
        """Single rows by cluster, read once for all bounds; None if rows are independent."""
        if self.clusters is None:
            return None
        roles = tuple(self.constraint.amounts)
        if roles not in self._known.clusters:
            rows = self.table.rows()
            key = self.clusters.key[rows.groups[self.clusters.column]]
            uncertainty = np.zeros(len(rows)) if rows.uncertainty is None else rows.uncertainty
            self._known.clusters[roles] = RowsByCluster.from_rows(
                key,
                rows.score,
                uncertainty,
                rows.labels,
                rows.weights(),
                amounts=[units(rows.numbers[role]) for role in roles],
            )
        return self._known.clusters[roles]

    def _samples_of(self, cells: Cells) -> BootstrapSamples | None:
        """Return the bootstrap samples of a grid, kept for other bounds; None for one bound, or too large."""
        if len(self._bounds) == 1 or is_large(cells):
            return None
        if id(cells) not in self._known.samples:
            samples = BootstrapSamples.from_cells(cells, self.seed)
            if not samples.is_small:
                return samples
            self._known.samples[id(cells)] = samples  # which keeps the cells, so that no others have this id
        return self._known.samples[id(cells)]

    @property
    def bins(self) -> int:
        """Chosen number of uncertainty bins."""
        return max(fewest_of(self.tried), self.min_bins)

    @cached_property
    def compared_cells(self) -> Cells:
        """Shared grid of at least two uncertainty bins, for the comparison with a single threshold.

        With clusters the number of bins is fixed. If the same clusters chose it, useless uncertainties would
        have p-values below .05 in 8 to 15 % of samples of 40 clusters.
        """
        spec = replace(self.options.spec(Algorithm.SMOOTH), binning=Binning.SHARED)
        auto = self.options.is_auto(Algorithm.SMOOTH)
        chosen = self.bins if self.clusters is None else _CLUSTERED_BINS
        bins = max(chosen if auto else spec.uncertainty_bins, 2)
        counted_grid = self._count(spec if auto else replace(spec, uncertainty_bins=bins))
        return counted_grid.cells(bins, self.options.cells_per_bin or SCORE_BINS)

    def turned_cells(self, bins: int) -> Cells:
        """Return a shared grid of the same rows, whose uncertainties have the other sign.

        They are not read again: a bin of the negatives is one of the uncertainties themselves, closed at its
        other end.
        """
        spec = self._shared(bins)
        axis = turned_axis(self.table, spec)
        edges = np.nextafter(-axis.edges[::-1], np.inf)
        *parts, total = grid_parts(self.table, edges, spec, thresholds=no_ranges)
        counted_grid = CountedGrid(spec=spec, axis=axis, parts=(*reversed(parts), total))
        return counted_grid.cells(bins, self.options.cells_per_bin or SCORE_BINS)

    @property
    def tried(self) -> tuple[BinsTried, ...]:
        """Gain of each number of uncertainty bins; empty if there are too few alerts."""
        return self._tried_on(self._count(self._shared(SHARED_UNCERTAINTY_BINS)), self.constraint)

    @cached_property
    def one_row(self) -> Cells:
        """Default grid with one uncertainty bin, for a single threshold."""
        shared = [grid for grid in self._known.grids.values() if grid.spec.binning is Binning.SHARED]
        counted_grid = shared[0] if shared else self._count(self._shared(1))
        return counted_grid.cells(1, self.options.cells_per_bin or SCORE_BINS)

    def reference(self, edges: Floats, *, uncertain: bool) -> SavedReference:
        """Count the rows to compare new rows with, in the bins of a rule that was found on these rows.

        ``uncertain`` says that the rule uses the uncertainty. If rows depend on each other, the counts vary
        between their clusters, which is added unless rows were left out that the rule can decide about.
        """
        grids = self._counted_grids()
        ends = next((grid.axis.ends for grid in grids if grid.axis.ends), None)
        if uncertain and ends is None:
            ends = uncertainty_ends(self.table)
        first = next(grid for grid in grids if len(edges) == 0 or grid.has_bins(edges))
        reference = reference_of(first.parts, len(edges) + 1, ends if uncertain else None)
        clusters, source = self.clusters, self.source
        if clusters is None or source.dropped or source.rows > MAX_ROWS_BETWEEN:
            return reference
        return with_between(reference, clusters.by_cell(reference.drift_places(edges)))

    @cached_property
    def _scores(self) -> Cells:
        """Scores among which the best single threshold lies."""
        return single_row(self._counted_grids()[0].parts[-1].counts)

    @cached_property
    def every_score(self) -> Cells:
        """All distinct scores."""
        return single_row(self.table.pooled(ALL_ROWS)[0])


def no_ranges(counts: Sequence[RangeCounts]) -> list[Bools]:
    """Mark no range to open."""
    return [np.zeros(len(part.value), dtype=np.bool_) for part in counts]


@dataclass(frozen=True, kw_only=True)
class CalibrationGrid:
    """Saved grid as a calibration set (see CalibrationRows)."""

    constraint: Constraint
    source: Source
    saved: Cells
    artifact: GridArtifact
    auto: bool
    seed: int = 0

    @classmethod
    def from_grid(
        cls, grid: GridArtifact, constraint: Constraint, *, auto: bool = False, seed: int = 0
    ) -> CalibrationGrid:
        """Use a grid as calibration set; if ``auto``, bins of a shared grid are merged to the best number."""
        cells = grid.cells()
        return cls(
            constraint=constraint,
            source=grid.source,
            saved=cells,
            artifact=grid,
            auto=auto and grid.binning is Binning.SHARED and len(cells.rows) in BINS,
            seed=seed,
        )

    def spec(self, algorithm: Algorithm, bins: int) -> GridSpec:
        """Return the grid to save with a boundary of ``bins`` uncertainty bins."""
        del algorithm
        saved = self.artifact.parameters
        return GridSpec(
            binning=self.artifact.binning,
            uncertainty_bins=bins,
            score_bins=len(self.saved.rows[0].count) if saved.score_bins is None else saved.score_bins,
        )

    @property
    def every_score(self) -> Cells | None:
        """All cells, if there is one uncertainty bin."""
        return self.saved if len(self.saved.rows) == 1 else None

    def shape(self, algorithm: Algorithm) -> tuple[int, int]:
        """Return the numbers of uncertainty bins and score bins."""
        del algorithm
        return len(self.saved.rows), len(self.saved.rows[0].count)

    def obstacle(self, algorithm: Algorithm) -> str:
        """Return the reason why an algorithm does not apply; empty if it does."""
        entry = ALGORITHMS[algorithm]
        if not entry.supports(self.constraint):
            return entry.refusal
        if entry.works_on is WorksOn.RAISED_SCORES:
            return "needs the rows, not a grid"
        if entry.works_on is WorksOn.SCORES and len(self.saved.rows) > 1:
            return "needs a grid of one uncertainty bin"
        return ""

    def optimum(self, algorithm: Algorithm) -> Optimum:
        """Find the best boundary of an applicable algorithm."""
        return optimise(self.cells(algorithm), algorithm, self.constraint)

    def expected(self, algorithm: Algorithm) -> Expected | None:
        """Compute the expected results on new data; None if not estimated."""
        return expected(self.cells(algorithm), algorithm, self.constraint, self.seed)

    def is_auto(self, algorithm: Algorithm) -> bool:
        """Whether the number of uncertainty bins is chosen by performance."""
        return self.auto and algorithm is Algorithm.SMOOTH

    def cells(self, algorithm: Algorithm) -> Cells:
        """Return the cells that an algorithm works on."""
        if self.is_auto(algorithm):
            return self.saved.joined(fewest_of(self.tried))
        return self.saved

    @cached_property
    def tried(self) -> tuple[BinsTried, ...]:
        """Gain of each number of uncertainty bins; empty if there are too few alerts."""
        return tried_bins(self.saved, self.constraint, self.seed)

    def cells_of_rule(self, algorithm: Algorithm, bins: int) -> Cells:
        """Return the cells on which a rule with a number of uncertainty bins was found."""
        cells = self.cells(algorithm)
        return self.saved.joined(1) if bins < len(cells.rows) else cells

    @property
    def one_row(self) -> Cells | None:
        """Grid merged to one uncertainty bin; None if its bins cannot be merged."""
        shared = self.artifact.binning is Binning.SHARED or len(self.saved.rows) == 1
        return self.saved.joined(1) if shared else None


CalibrationSet = CalibrationRows | CalibrationGrid


def algorithms_of(choice: AlgorithmChoice) -> tuple[Algorithm, ...]:
    """Return the requested algorithms, in order."""
    return tuple(Algorithm) if choice is AlgorithmChoice.ALL else (Algorithm(choice),)
