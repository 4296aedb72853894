"""Labelled rows, weighted within cells of decision and score so that they stand for all rows.

Which rows have a label depends on the score: a team may review all rows above a score, and a few below. A
regression tree finds the scores at which the labelled share jumps, and equal bins follow a share that
changes smoothly.

With probabilities of all rows, few labelled ones show more (``AssistedRows``).
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import replace
from itertools import pairwise
from typing import Final

import numpy as np

from uqcli.base.counts import Floats, Ints, Matrix, PooledScores, ValueCounts, bin_of, distinct_numbers
from uqcli.base.errors import DataError, words
from uqcli.base.records import dataclass
from uqcli.base.rows import Rows
from uqcli.base.sampling_weights import UNITS, WeightSums
from uqcli.base.whole_numbers import fitting
from uqcli.boundary.rule import BoundaryArtifact
from uqcli.calibrate.rule import CalibratorArtifact
from uqcli.engines.open import open_engine
from uqcli.engines.probabilities import require_probabilities
from uqcli.engines.request import DataRequest, Inputs
from uqcli.estimates.design import Chooses, Decisions, Design, Key, WeightedClusters, WeightedRows
from uqcli.estimates.model_assisted import Clusters, ModelAssisted
from uqcli.estimates.proportion import holm
from uqcli.estimates.survey import SAMPLING_WEIGHT
from uqcli.evaluate.decisions import OrderedUnits, Units, code_of, decisions_of
from uqcli.kernels.units import UnitTable, dense_ranks
from uqcli.rules.columns import NewColumns


class LabelledPart:
    """Rows of which some have a label, in cells by the decisions of rules, summed up by units.

    The rows of ``data`` without a label are left out. Those with one must be among all rows, else a DataError
    says so.
    """

    def __init__(
        self, data: DataRequest, rules: Sequence[BoundaryArtifact], units: Units, every: DataRequest
    ) -> None:
        self._rules, self._units = len(rules), units
        self._cells, uneven = _cells(every, data, rules)
        self._uneven = self._decisions_of(uneven)
        cells = [(number, cell) for number, of_code in self._cells.items() for cell in of_code]
        adjusted = holm({place: cell.change_p for place, (_, cell) in enumerate(cells)})
        varying = [cells[place] for place, p_value in adjusted.items() if p_value < CHANGE_LEVEL]
        self._varying = self._decisions_of(number for number, _ in varying)
        self._halving = self._decisions_of(number for number, cell in varying if cell.halves_differ)
        self._tallies = {number: UnitTable() for number in self._cells}
        for rows in open_engine(data.engine).batches(data):
            code, unit = code_of([rule.zones(rows) for rule in rules]), units.of(rows)
            for number in sorted({*distinct_numbers(code).tolist()} & {*self._cells}):
                inside = np.flatnonzero(code == number)
                column = 2 * self._cell(number, rows.score[inside]) + rows.labels[inside]
                own = None if unit is None else unit[inside]
                self._tallies[number].add(own, column, rows.weight_of(inside))

    @property
    def missing(self) -> tuple[Decisions, ...]:
        """Decisions of which no row has a label."""
        return self._decisions_of(
            number for number, of_code in self._cells.items() if not any(map(_unit, of_code))
        )

    def weights(self, code: Ints, rows: Rows) -> Floats:
        """Return the weights of labelled rows, by the numbers of their decisions; shape (n,)."""
        weight = np.zeros(len(code), dtype=np.int64)
        for number, of_code in self._cells.items():
            inside = code == number
            cell = self._cell(number, rows.score[inside])
            weight[inside] = np.array([_unit(cell) for cell in of_code])[cell]
        return weight / UNITS

    def _cell(self, number: int, score: Floats) -> Ints:
        """Return the cell of each score among those of a number of decisions."""
        return bin_of(score, np.array([cell.first for cell in self._cells[number][1:]]))

    def of_all(self, confidence: float, unlabelled: int, name: str) -> Design:
        """Return the design of all rows, some without a label; ``name`` is what clusters are called."""
        ordered = self._ordered()
        return self._design((ordered.places, ordered.cluster), confidence, unlabelled, name)

    def by_group(
        self, levels: Mapping[str, int], confidence: float, unlabelled: int, name: str
    ) -> dict[str, Design]:
        """Return the designs of groups, by their names."""
        ordered = self._ordered()
        return {
            group: self._design(ordered.of_group(index), confidence, unlabelled, name)
            for group, index in levels.items()
        }

    def _ordered(self) -> OrderedUnits:
        size = max((len(table.sums) for table in self._tallies.values()), default=1)
        return OrderedUnits.of(self._units, np.ones(size, dtype=np.bool_))

    def _design(self, units: tuple[Ints, Ints], confidence: float, unlabelled: int, name: str) -> Design:
        sums: dict[Key, WeightSums] = {}
        counts: dict[Key, Ints] = {}
        weights: dict[Key, Ints] = {}
        places, cluster = units
        present, place = dense_ranks(cluster)
        for number, of_code in self._cells.items():
            table = self._tallies[number].of(places, 2 * len(of_code))
            unit_weights = [_unit(cell) for cell in of_code]
            kind = fitting(max(unit_weights) * int(table.sum()))
            for label in (False, True):
                key = decisions_of(number, self._rules), label
                mine = table[:, int(label) :: 2]
                sums[key] = sum(map(WeightSums.alike, mine.sum(axis=0).tolist(), unit_weights), WeightSums())
                if self._units.has_clusters:
                    counts[key] = np.zeros(len(present), dtype=np.int64)
                    weights[key] = np.zeros(len(present), dtype=kind)
                    np.add.at(counts[key], place, mine.sum(axis=1))
                    np.add.at(weights[key], place, mine.astype(kind) @ np.array(unit_weights, dtype=kind))
        design: Design = WeightedRows(confidence=confidence, sums=sums)
        if self._units.has_clusters:
            design = WeightedClusters(
                confidence=confidence, counts=counts, weights=weights, sums=sums, units=name
            )
        return replace(
            design,
            unlabelled=unlabelled,
            missing=self.missing,
            uneven=self._uneven,
            varying=self._varying,
            halving=self._halving,
            by_score=True,
        )

    def _decisions_of(self, numbers: Iterable[int]) -> tuple[Decisions, ...]:
        return tuple(decisions_of(number, self._rules) for number in sorted(set(numbers)))


def labelled_parts(
    data: DataRequest, rules: Sequence[BoundaryArtifact], units: Units, every: DataRequest | None = None
) -> list[LabelledPart]:
    """Weight the labelled rows of cells of decision and score, so that they stand for all rows.

    All rows are those of ``data``, with and without a label, unless they are given; a labelled row that is
    not among them is a DataError. Return one part for all rules together if each of their decisions has a
    label, else one for each rule.
    """
    every = every or all_rows(data)
    together = LabelledPart(data, rules, units, every)
    if len(rules) == 1 or not together.missing:
        return [together]
    return [LabelledPart(data, [rule], units, every) for rule in rules]


def all_rows(data: DataRequest, inputs: Inputs | None = None) -> DataRequest:
    """Return the request for all rows, whether they have a label or not, from that for those with a label.

    They are in the same place unless ``inputs`` say where.
    """
    roles, labelled_only = data.roles, {*data.roles.amounts, SAMPLING_WEIGHT}
    numbers = {role: column for role, column in roles.numbers.items() if role not in labelled_only}
    every = replace(data, roles=replace(roles, label=None, numbers=numbers, amounts=()), positive_value=None)
    return every if inputs is None else every.on(inputs)


def _cells(
    every: DataRequest, data: DataRequest, rules: Sequence[BoundaryArtifact]
) -> tuple[dict[int, list[ScoreCell]], list[int]]:
    """Find the cells of all rows, with and without a label, by the number of their decisions.

    Also return the numbers of the decisions whose labelled share changes with the score.
    """
    of_all, labelled = (scores_by_decision(part, rules) for part in (every, data))
    refuse_others(of_all, labelled)
    cells, uneven = {}, []
    for number, counts in sorted(of_all.items()):
        with_label = np.zeros(len(counts.value), dtype=np.int64)
        if number in labelled:
            places = np.searchsorted(counts.value, labelled[number].value)
            with_label[places] = labelled[number].count
        if len(counts.value):  # else all have weight 0
            cells[number] = score_cells(counts.value, counts.count, with_label)
            uneven += [number] if changes(counts.count, with_label) else []
    return cells, uneven


_NO_SCORES: Final = ValueCounts(
    value=np.empty(0), count=np.empty(0, dtype=np.int64), positives=np.empty(0, dtype=np.int64)
)


def refuse_others(every: Mapping[int, ValueCounts], labelled: Mapping[int, ValueCounts]) -> None:
    """Refuse labelled rows that are not among all rows, as far as decisions and scores show."""
    for number, counts in labelled.items():
        known = every.get(number, _NO_SCORES)
        places = np.searchsorted(known.value, counts.value)
        if len(counts.value) and (
            places[-1] == len(known.value)
            or (known.value[places] != counts.value).any()
            or (known.count[places] < counts.count).any()
        ):
            raise no_such_row()


def no_such_row() -> DataError:
    """Return the error of a labelled row that is not among all rows."""
    return DataError(
        words("a row with a label is not among the rows of --unlabelled"),
        expected="all rows, those with a label among them",
        remedy="give the file from which the labelled rows were taken",
    )


def scores_by_decision(data: DataRequest, rules: Sequence[BoundaryArtifact]) -> dict[int, ValueCounts]:
    """Pool the scores of rows by the number of their decisions."""
    scores: dict[int, PooledScores] = {}
    for rows in open_engine(data.engine).batches(data):
        code = code_of([rule.zones(rows) for rule in rules])
        for number in distinct_numbers(code).tolist():
            inside = code == number
            scores.setdefault(number, PooledScores()).add(rows.score[inside], rows.weight_of(inside))
    return {number: pooled.counts() for number, pooled in scores.items()}


def _unit(cell: ScoreCell) -> int:
    """Return the weight of a labelled row, in units; 0 if there is none."""
    return (2 * UNITS * cell.rows + cell.labelled) // (2 * cell.labelled) if cell.labelled else 0


_ATOMS: Final = 200
"""Equi-weight parts of the scores at whose ends the share may jump, before the exact score is found."""

_LEAF: Final = 3
"""Least labels on either side of a jump. With more, a jump near the rule's own cut stays inside a bin."""

_BIN: Final = (50, 10)
"""Least rows and labels of a bin of a leaf."""

_SPLIT_LEVEL: Final = 0.001
"""Level of the test of a split, for all splits of a node together."""

CHANGE_LEVEL: Final = 0.01
"""Level of the tests that the labelled share does not change inside a cell, for all cells together."""

_BINS: Final = 20
"""Most bins of a leaf; with 5, rates with a share that changes smoothly are covered as little as 57 %."""


@dataclass(frozen=True, kw_only=True)
class ScoreCell:
    """Rows with scores in an interval from ``first`` on: all of them, and those with a label.

    ``change_p`` is the p-value of the hypothesis that the labelled share does not change with the score
    inside. ``halves_differ`` says that the labelled shares of the lower and the upper half of the rows differ
    by more than a factor of two.
    """

    first: float
    rows: int
    labelled: int
    change_p: float
    halves_differ: bool


def score_cells(score: Floats, rows: Ints, labelled: Ints) -> list[ScoreCell]:
    """Divide rows into cells of the score.

    The scores, shape (n,), are distinct and ascending. ``rows`` has those with each score, at least one, and
    ``labelled`` those of them with a label.
    """
    totals = [np.concatenate([[0], np.cumsum(counts)]) for counts in (rows, labelled)]
    ranks = np.arange(1, _ATOMS) * int(totals[0][-1]) // _ATOMS
    ends = distinct_numbers(np.searchsorted(totals[0], ranks, side="left"))
    bounds = [0, *ends[(ends > 0) & (ends < len(score))].tolist(), len(score)]
    leaves = [0, *_splits(bounds, *totals), len(score)]
    cells = []
    for start, stop in pairwise(leaves):
        for low, high in pairwise([start, *_bin_ends(start, stop, *totals), stop]):
            inside = slice(low, high)
            cells.append(
                ScoreCell(
                    first=float(score[low]),
                    rows=int(rows[inside].sum()),
                    labelled=int(labelled[inside].sum()),
                    change_p=_change_p(low, high, *totals),
                    halves_differ=_halves_differ(rows[inside], labelled[inside]),
                )
            )
    return cells


def _splits(bounds: Sequence[int], rows: Ints, labelled: Ints) -> Iterator[int]:
    """Yield the places, ascending, where a tree splits the scores.

    The bounds are ascending places at which the part may be split, with its ends. ``rows`` and ``labelled``
    are the numbers before each place.
    """
    start, stop = bounds[0], bounds[-1]
    inner = np.array(bounds[1:-1], dtype=np.int64)
    gains = _gains((start, stop), inner, rows, labelled, _LEAF)
    if _jump_p(gains) >= _SPLIT_LEVEL:
        return
    best = int(gains.argmax())
    near = np.arange(bounds[best] + 1, bounds[best + 2])
    place = int(near[_gains((start, stop), near, rows, labelled, _LEAF).argmax()])
    yield from _splits([bound for bound in bounds if bound < place] + [place], rows, labelled)
    yield place
    yield from _splits([place] + [bound for bound in bounds if bound > place], rows, labelled)


def _jump_p(gains: Floats) -> float:
    """Return the p-value of the largest fall of the deviance (Bonferroni)."""
    from scipy.special import chdtrc

    largest = gains.max(initial=0.0)
    return float(min(1.0, len(gains) * chdtrc(1, largest))) if largest > 0 else 1.0


def _gains(part: tuple[int, int], places: Ints, rows: Ints, labelled: Ints, least: int) -> Floats:
    """Return the fall of the binomial deviance by a split at each place, -1 with too few labels on a side."""
    sides = [
        [total[end] - total[start] for total in (rows, labelled)]
        for start, end in ((part[0], places), (places, part[1]))
    ]
    whole = _log_likelihood(rows[part[1]] - rows[part[0]], labelled[part[1]] - labelled[part[0]])
    gains: Floats = 2 * (_log_likelihood(*sides[0]) + _log_likelihood(*sides[1]) - whole)
    return np.where(np.minimum(sides[0][1], sides[1][1]) >= least, gains, -1.0)


def _log_likelihood(rows: Ints, labelled: Ints) -> Floats:
    from scipy.special import xlogy

    share = labelled / np.maximum(rows, 1)
    likelihood: Floats = xlogy(labelled, share) + xlogy(rows - labelled, 1 - share)
    return likelihood


def _bin_ends(start: int, stop: int, rows: Ints, labelled: Ints) -> list[int]:
    """Return the places that divide a leaf into bins of about equal weight with enough rows and labels."""
    size = int(rows[stop] - rows[start])
    ranks = int(rows[start]) + np.arange(1, _BINS) * size // _BINS
    ends, last = [], start
    for place in np.searchsorted(rows, ranks, side="left").tolist():
        sides = [(last, place), (place, stop)]
        if place < stop and all(
            rows[high] - rows[low] >= _BIN[0] and labelled[high] - labelled[low] >= _BIN[1]
            for low, high in sides
        ):
            ends.append(place)
            last = place
    return ends


def changes(rows: Ints, labelled: Ints) -> bool:
    """Whether the labelled share of rows changes with the score, at level .01 (see ``score_cells``)."""
    totals = [np.concatenate([[0], np.cumsum(counts)]) for counts in (rows, labelled)]
    return _change_p(0, len(rows), *totals) < CHANGE_LEVEL


def _change_p(start: int, stop: int, rows: Ints, labelled: Ints) -> float:
    """Return the p-value of a change of the labelled share, as a trend or as a jump, at half of it each.

    A trend is found by the score test over the ranks of rows. It misses a few labels at one end of many rows.
    """
    jump = _jump_p(_gains((start, stop), np.arange(start + 1, stop), rows, labelled, 0))
    trend = _trend_p(np.diff(rows[start : stop + 1]), np.diff(labelled[start : stop + 1]))
    return min(1.0, 2 * min(jump, trend))


def _trend_p(rows: Ints, labelled: Ints) -> float:
    """Return the p-value of the score test of a trend of the labelled share over the ranks of rows."""
    from scipy.special import ndtr

    size, labels = int(rows.sum()), int(labelled.sum())
    if labels in (0, size):
        return 1.0
    rank = np.cumsum(rows) - (rows - 1) / 2 - (size + 1) / 2
    spread = float((rows * rank * rank).sum())
    if spread == 0:
        return 1.0
    share = labels / size
    error = np.sqrt(share * (1 - share) * spread * size / (size - 1))
    return float(2 * ndtr(-abs(float((labelled * rank).sum())) / error))


def _halves_differ(rows: Ints, labelled: Ints) -> bool:
    if len(rows) < 2:
        return False
    middle = max(1, min(len(rows) - 1, int(np.searchsorted(np.cumsum(rows), rows.sum() / 2)) + 1))
    low, high = (
        (int(labelled[half].sum()), int(rows[half].sum())) for half in (slice(middle), slice(middle, None))
    )
    shares = low[0] * high[1], high[0] * low[1]
    return max(shares) > 2 * min(shares)


_STEPS: Final = 1 << 30
"""Steps of probabilities, so that their sums are exact in any order."""


class AssistedRows:
    """Labelled rows and all rows, with their probabilities.

    They are those of a calibrator, or the scores without one. The decisions of a rule are counted, by groups,
    and by clusters of rows that depend on each other. Every labelled row must be of a cluster that is among
    all rows, else a DataError says so. ``weights`` returns those of labelled rows, by their decisions.
    """

    def __init__(
        self,
        data: DataRequest,
        every: DataRequest,
        rule: BoundaryArtifact,
        calibrator: CalibratorArtifact | None,
        *,
        units: Units,
        weights: Callable[[Ints, Rows], Floats],
    ) -> None:
        rates, of_all = _rates(every, calibrator), units.again()  # numbered by all rows
        self._sums, self._counts, self._has_clusters = UnitTable(), UnitTable(), units.has_clusters
        batches = open_engine(every.engine).batches(every)
        for rows in batches:
            unit, zone = of_all.of(rows), rule.zones(rows)
            steps: Ints = np.rint(rates(rows) * _STEPS).astype(np.int64)
            self._sums.add(unit, zone, rows.times(steps))
            self._counts.add(unit, zone, rows.weight)
        self._units = of_all.group_and_cluster(len(self._counts.sums))
        parts = []
        labelled = open_engine(data.engine).batches(data)
        for rows in labelled:
            zone = rule.zones(rows)
            rate = np.rint(rates(rows) * _STEPS) / _STEPS
            group, cluster = units.groups_of(rows), units.clusters_of(rows)
            parts.append((group, cluster, zone, rows.labels, rate, weights(zone, rows), rows.weights()))
        self._levels, self._labelled_levels = (
            units.group_levels(levels) or rule.own_levels for levels in (batches.levels, labelled.levels)
        )
        self._columns = [np.concatenate(column) for column in zip(*parts, strict=True)]
        self._columns[1] = units.renumbered(self._columns[1], labelled.levels, batches.levels)

    @property
    def rows(self) -> int:
        """Number of all rows, by weight."""
        return int(self._counts.sums.sum())

    def chosen(self, chooses: Chooses, confidence: float, group: str | None = None) -> ModelAssisted:
        """Return the rows of a group, or all, divided by whether the rule chooses them."""
        zones = range(self._counts.sums.shape[1])
        takes = np.array([chooses(decisions_of(zone, 1)) for zone in zones], dtype=np.bool_)
        of_group, of_cluster, zone, *columns = self._columns
        inside, (groups, cluster) = of_group >= 0, self._units
        counts, sums = (table.sums[: len(groups)] for table in (self._counts, self._sums))
        if group is not None:
            mine = groups == self._levels.get(group, -1)
            counts, sums, cluster = counts[mine], sums[mine], cluster[mine]
            inside = of_group == self._labelled_levels[group]
        label, probability, weight, count = (column[inside] for column in columns)
        known = np.append(takes, [False] * (1 + int(zone.max(initial=0))))
        return ModelAssisted(
            chosen=known[zone[inside]],
            label=label,
            probability=probability,
            weight=weight,
            count=count,
            expected=(_total(sums, takes) / _STEPS, _total(sums, ~takes) / _STEPS),
            rows=(_total(counts, takes), _total(counts, ~takes)),
            confidence=confidence,
            clusters=_clusters(cluster, of_cluster[inside], sums, counts, takes)
            if self._has_clusters
            else None,
        )


def sampling_weights(code: Ints, rows: Rows) -> Floats:  # noqa: ARG001
    """Return the sampling weights of labelled rows; shape (n,)."""
    return rows.numbers[SAMPLING_WEIGHT]


def _total(sums: np.ndarray, zones: np.ndarray) -> int:
    columns = np.flatnonzero(zones[: sums.shape[1]])
    return int(sums[:, columns].sum()) if columns.size and len(sums) else 0


def _clusters(
    cluster: Ints, labelled: Ints, steps: np.ndarray, counts: np.ndarray, zones: np.ndarray
) -> Clusters:
    """Return the clusters of rows, from sums over the rows of each unit of all rows and zone; (U, zones).

    ``cluster`` is that of each unit, int64 of shape (U,), and ``labelled`` that of each labelled row, shape
    (n,); a labelled row of another cluster is a DataError. ``zones``, bool of shape (zones,), says which are
    chosen.
    """
    present, place = dense_ranks(cluster)
    of = np.minimum(np.searchsorted(present, labelled), len(present) - 1)
    if len(labelled) and (not len(present) or (present[of] != labelled).any()):
        raise no_such_row()

    def sums(table: np.ndarray) -> Matrix:
        added = np.zeros((2, len(present)), dtype=table.dtype)
        for index, part in enumerate((zones, ~zones)):
            np.add.at(added[index], place, table[:, part[: table.shape[1]]].sum(axis=1))
        return added.astype(np.float64)

    return Clusters(of=of, expected=sums(steps) / _STEPS, rows=sums(counts))


def _rates(data: DataRequest, calibrator: CalibratorArtifact | None) -> Callable[[Rows], Floats]:
    """Return the function from rows to probabilities, float64, shape (n,)."""
    if calibrator is None:
        column = data.roles.numbers["score"]

        def scores(rows: Rows) -> Floats:
            require_probabilities(rows.score, column, remedy=words("give --calibrator FILE"))
            return rows.score

        return scores
    added = calibrator.adds(data.roles, NewColumns())
    return lambda rows: np.clip(added.compute(rows)["calibrated"], 0.0, 1.0)
