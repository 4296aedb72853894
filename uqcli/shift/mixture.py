"""Test whether new rows are a mixture of the classes of labelled rows, which label shift says.

Cells of the score hold the labelled rows by class, and the new rows; their edges are those of all rows. Under
label shift the cell shares of the new rows are a mixture of those of the classes. The distance from the
nearest mixture has Hotelling's distribution (1931), since its covariance is estimated. If rows are
independent, its degrees of freedom are those of the smallest class or file: a chi-squared distribution
rejects 3 % at a level of 1 % with a few hundred rows. If the rows of a day or a customer depend on each
other, the covariance is that between these units, and its degrees of freedom are the units of equal size that
they count as, less 1: with the number of units, few large ones reject up to 34 % at a level of 5 %.

The same distance tests whether both files have the same cell shares.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import cached_property
from typing import Final

import numpy as np
from numpy.typing import NDArray

from uqcli.base.counts import Floats, Ints, Matrix, bin_of, distinct_numbers, run_starts
from uqcli.base.records import dataclass
from uqcli.engines.probabilities import most_probable
from uqcli.estimates.binning import equal_ranks
from uqcli.estimates.survey import effective_units
from uqcli.kernels.linear import inverse, solved
from uqcli.kernels.units import dense_ranks

Tensor = NDArray[np.float64]

MIXTURE_LEVEL: Final = 0.01
"""P-value below which the new rows contradict label shift."""

MIN_CELL: Final = 5
"""Rows in each cell, of the new rows and of each class; of all labelled rows for three or more classes."""

MIN_CLASS: Final = 20
"""Labelled rows of each class, for three or more classes."""

MAX_CLASSES: Final = 30
"""Classes up to which mixtures are tested."""

MIN_FREEDOM: Final = 4
"""Degrees of freedom of the covariance between units, beyond those of the distance."""

_EXACT: Final = 2**53
"""Products of counts are exact in float64 below this."""

_UNITS_PER_BLOCK: Final = 1 << 12
_FEW_CLASSES: Final = 6
_MAX_STEPS: Final = 200
_STEP_SIZES: Final[Floats] = 0.5 ** np.arange(12, dtype=np.float64)
_RIDGE: Final = 1e-12
_NEGLIGIBLE: Final = 1e-12


@dataclass(frozen=True, kw_only=True)
class MixtureTest:
    """Test of label shift, or of equal cell shares.

    The p-value is of the hypothesis that the new rows are a mixture of the classes, or have the old shares;
    None, for a reason, if the test has no answer. The statistic is the distance from the nearest mixture, or
    from the old shares. ``units`` is the smaller number of days or clusters of both files; 0 if rows are
    taken as independent.
    """

    p_value: float | None
    reason: str = ""
    statistic: float = 0.0
    units: int = 0

    @property
    def has_answer(self) -> bool:
        """Whether it has a p-value."""
        return self.p_value is not None

    def rejects_at(self, level: float) -> bool:
        """Whether its p-value is below a level."""
        return self.p_value is not None and self.p_value < level

    @property
    def rejects(self) -> bool:
        """Whether the new rows contradict label shift."""
        return self.rejects_at(MIXTURE_LEVEL)


@dataclass(frozen=True, kw_only=True, eq=False)
class UnitCounts:
    """Rows by unit (a day or a cluster), class and cell; integers, shape (k,) each, and entries may repeat.

    There is a single unit 0 if rows are independent. ``shape`` is the number of units, classes and cells.
    """

    unit: Ints
    class_index: Ints
    cell: Ints
    count: Ints
    shape: tuple[int, int, int]

    def by_class(self) -> Ints:
        """Return the rows by class and cell; int64, shape (classes, cells)."""
        _, classes, cells = self.shape
        total = np.zeros((classes, cells), dtype=np.int64)
        np.add.at(total, (self.class_index, self.cell), self.count)
        return total

    def merged(self, cell_of: Ints) -> UnitCounts:
        """Merge cells; ``cell_of`` has the new cell of each."""
        units, classes, _ = self.shape
        return UnitCounts(
            unit=self.unit,
            class_index=self.class_index,
            cell=cell_of[self.cell],
            count=self.count,
            shape=(units, classes, int(cell_of.max()) + 1),
        )

    @cached_property
    def _by_unit(self) -> tuple[Ints | slice, Ints]:
        """Entries in the order of their units, and the first entry of each unit."""
        if (self.unit[1:] >= self.unit[:-1]).all():  # as they are counted
            return slice(None), run_starts(self.unit)
        order = np.argsort(self.unit, kind="stable")
        return order, run_starts(self.unit[order])

    @cached_property
    def _sizes(self) -> Ints:
        """Rows of each unit."""
        order, starts = self._by_unit
        sizes: Ints = np.add.reduceat(self.count[order], starts, dtype=np.int64)
        return sizes

    @property
    def present(self) -> int:
        """Number of units that have rows."""
        return int(np.count_nonzero(self._sizes))

    @property
    def effective(self) -> float:
        """Number of units of equal size that these count as: ``n**2 / sum of n_d**2`` over their sizes."""
        return effective_units(self._sizes)

    def covariance(self) -> Tensor:
        """Compute the covariance between units of the cell shares of the classes; shape (C, C, M, M).

        Element (c, k) is the covariance of the shares of class c with those of class k. Sums over units are
        of integers, so that their order has no effect.
        """
        (_, classes, cells), by_class = self.shape, self.by_class()
        rows = by_class.sum(axis=1)
        shares = by_class / rows[:, None]
        products = self._products().reshape(classes, cells, classes, cells).transpose(0, 2, 1, 3)
        with_rows = products.sum(axis=3)  # class c in cell j with all of class k
        of_rows = with_rows.sum(axis=2)
        residuals = products - with_rows[..., None] * shares[None, :, None, :]
        residuals -= shares[:, None, :, None] * with_rows.transpose(1, 0, 2)[:, :, None, :]
        residuals += of_rows[..., None, None] * shares[:, None, :, None] * shares[None, :, None, :]
        scale = self.present / (self.present - 1)
        covariance: Tensor = scale * residuals / (rows[:, None] * rows)[..., None, None]
        return covariance

    def _products(self) -> Matrix:
        """Sum over units the products of the counts of two classes and cells; shape (C M, C M)."""
        _, classes, cells = self.shape
        order, starts = self._by_unit
        unit = np.repeat(np.arange(len(starts), dtype=np.int32), np.diff(starts, append=len(self.unit)))
        of_class, cell, count = self.class_index[order], self.cell[order], self.count[order]
        total = np.zeros((classes * cells, classes * cells), dtype=np.int64)
        for first in range(0, int(unit[-1]) + 1, _UNITS_PER_BLOCK):
            ends = np.array([first, first + _UNITS_PER_BLOCK], dtype=unit.dtype)  # else units are converted
            start, stop = np.searchsorted(unit, ends)
            block = np.zeros((_UNITS_PER_BLOCK, classes * cells), dtype=np.int64)
            place = of_class[start:stop].astype(np.int64) * cells + cell[start:stop]
            np.add.at(block, (unit[start:stop] - first, place), count[start:stop].astype(np.int64))
            if int(block.max()) * int(block.sum()) < _EXACT:
                wide = block.astype(np.float64)
                total += np.rint(wide.T @ wide).astype(np.int64)
            else:
                total += np.einsum("di,dj->ij", block, block)
        return total.astype(np.float64)


@dataclass(frozen=True, kw_only=True, eq=False)
class _Distance:
    """Distance of the target's cell shares from a mixture of the classes, and its covariance.

    The covariance of a mixture q is ``constant + sum_c q_c linear_c + sum_ck q_c q_k square_ck``. Cell shares
    are without the last of m + 1 cells: those of the classes have shape (C, m), those of the target (m,). The
    terms have shapes (m, m), (C, m, m) and (C, C, m, m), the last symmetric under the exchange of both pairs
    of axes.
    """

    classes: Matrix
    target: Floats
    constant: Matrix
    linear: Tensor
    square: Tensor

    def line(self, start: Floats, direction: Floats, steps: Floats) -> Floats:
        """Return the distances at points on a line; shape (steps,)."""
        covariance = self.constant + np.einsum("c,cij->ij", start, self.linear)
        slope = np.einsum("c,cij->ij", direction, self.linear)
        from_start, along = (np.einsum("c,ckij->kij", q, self.square) for q in (start, direction))
        covariance += np.einsum("k,kij->ij", start, from_start)
        slope += np.einsum("k,kij->ij", start, along) + np.einsum("k,kij->ij", direction, from_start)
        curve = np.einsum("k,kij->ij", direction, along)
        steps_of = steps[:, None, None]
        residual = self.target - np.einsum("c,ci->i", start, self.classes)
        change = np.einsum("c,ci->i", direction, self.classes)
        return quadratic_forms(
            covariance + steps_of * slope + steps_of**2 * curve, residual - steps[:, None] * change
        )

    def model(self, mixture: Floats) -> tuple[Floats, Matrix]:
        """Return the gradient at a mixture and the Gauss-Newton Hessian; shapes (C,) and (C, C)."""
        by_class = np.einsum("k,ckij->cij", mixture, self.square)
        covariance = self.constant + np.einsum("c,cij->ij", mixture, self.linear + by_class)
        residual = self.target - np.einsum("c,ci->i", mixture, self.classes)
        precision = inverse(covariance)
        scaled = np.einsum("ij,j->i", precision, residual)
        slopes = self.linear + by_class + by_class.transpose(0, 2, 1)
        gradient = -2 * np.einsum("ci,i->c", self.classes, scaled)
        gradient -= np.einsum("ci,i->c", np.einsum("cij,j->ci", slopes, scaled), scaled)
        return gradient, 2 * np.einsum(
            "ci,ki->ck", self.classes, np.einsum("ij,cj->ci", precision, self.classes)
        )

    def least(self) -> float:
        """Return the least distance over all mixtures.

        Gauss-Newton steps on the simplex, from equal shares and, for few classes, from near each class: the
        covariance depends on the mixture, so that there may be several minima. Infinite if the covariance is
        singular.
        """
        size = len(self.classes)
        starts = [np.full(size, 1 / size)]
        if size <= _FEW_CLASSES:
            starts += [*(0.9 * np.eye(size) + 0.1 / size)]
        return min(self._least_from(start) for start in starts)

    def _least_from(self, mixture: Floats) -> float:
        value = float(self.line(mixture, np.zeros(len(mixture)), np.zeros(1))[0])
        if value == np.inf:
            return value
        for _ in range(_MAX_STEPS):
            gradient, hessian = self.model(mixture)
            hessian = hessian + np.eye(len(mixture)) * (_RIDGE * max(float(np.trace(hessian)), _RIDGE))
            step = simplex_minimum(hessian, gradient - (hessian * mixture).sum(axis=1), mixture) - mixture
            values = self.line(mixture, step, _STEP_SIZES)
            best = int(values.argmin())
            if not values[best] < value - _NEGLIGIBLE * (1 + value):
                break
            value, mixture = float(values[best]), mixture + _STEP_SIZES[best] * step
        return value


def mixture_test(source: UnitCounts, target: UnitCounts, *, by_unit: bool) -> MixtureTest:
    """Test whether the target, whose rows are of a single class, is a mixture of the classes of the source.

    ``by_unit`` if the rows of a unit depend on each other; otherwise all rows are taken as independent.
    """
    classes, rows = source.by_class(), target.by_class()[0]
    size, fewest = len(classes), int(classes.sum(axis=1).min())
    if size > MAX_CLASSES:
        return MixtureTest(p_value=None, reason=f"there are more than {MAX_CLASSES} classes")
    if fewest < (MIN_CLASS if size > 2 else 1):
        labelled = f"{fewest or 'no'} labelled row{'' if fewest == 1 else 's'}"
        return MixtureTest(p_value=None, reason=f"a class has {labelled}")
    cell_of = merged_cells([*classes, rows] if size == 2 else [classes.sum(axis=0), rows])
    cells = int(cell_of.max()) + 1
    if cells <= size:
        return MixtureTest(p_value=None, reason=_few_rows(cells, size))
    source, target = source.merged(cell_of), target.merged(cell_of)
    degrees, freedom = cells - size, min(fewest, int(rows.sum())) - 1
    if by_unit:
        return _test_between_units(
            Units.of(source).and_those_of(target), degrees, lambda: _between_units(source, target).least()
        )
    if freedom < degrees + MIN_FREEDOM:
        few = f"{freedom + 1} rows of a class or of the target, {degrees + MIN_FREEDOM + 1} are needed"
        return MixtureTest(p_value=None, reason=few)
    statistic = _independent(source.by_class(), target.by_class()[0]).least()
    p_value = hotelling_p_value(statistic, degrees, freedom)
    return MixtureTest(p_value=p_value, statistic=statistic)


@dataclass(frozen=True, kw_only=True)
class Units:
    """Days or clusters of a file: how many have rows, and as how many of equal size they count."""

    number: int
    effective: float

    @classmethod
    def of(cls, counts: UnitCounts) -> Units:
        """Count the units of a file."""
        return cls(number=counts.present, effective=counts.effective)

    def and_those_of(self, counts: UnitCounts) -> Units:
        """Return the smaller numbers of two files."""
        return Units(number=min(self.number, counts.present), effective=min(self.effective, counts.effective))


def _test_between_units(units: Units, degrees: int, distance: Callable[[], float]) -> MixtureTest:
    """Test a distance by the covariance between days or clusters, if they count as enough."""
    freedom, needed = units.effective - 1, degrees + MIN_FREEDOM
    if freedom < needed:
        reason = f"{units.number} days or clusters count as {units.effective:.3g} of {needed + 1} needed"
        if units.number <= needed:
            number = "1 day or cluster" if units.number == 1 else f"{units.number} days or clusters"
            reason = f"{number} of {needed + 1} needed"
        return MixtureTest(p_value=None, reason=reason, units=units.number)
    statistic = distance()
    if statistic == np.inf:
        return MixtureTest(p_value=None, reason="the days or clusters are too much alike", units=units.number)
    p_value = hotelling_p_value(statistic, degrees, freedom)
    return MixtureTest(p_value=p_value, statistic=statistic, units=units.number)


def same_shares(old: Ints, covariance: Matrix, units: Units, new: UnitCounts) -> MixtureTest:
    """Test whether new rows have the cell shares of old rows, by the covariance between units.

    ``old``, shape (M,), are old rows by cell; ``covariance``, shape (M, M), is that of their shares between
    their units. New rows are of a single class. Neighbouring cells of few rows are merged.
    """
    cell_of = merged_cells([old, new.by_class()[0]])
    cells = int(cell_of.max()) + 1
    if cells == 1:
        reason = f"no two cells of the score hold {MIN_CELL} rows each"
        return MixtureTest(p_value=None, reason=reason, units=min(units.number, new.present))
    old_counts, joined = np.zeros(cells, dtype=np.int64), np.zeros((cells, cells))
    np.add.at(old_counts, cell_of, old)
    np.add.at(joined, (cell_of[:, None], cell_of), covariance)
    return _equal_shares(old_counts, lambda: joined, units, new.merged(cell_of))


def same_shares_between_units(source: UnitCounts, target: UnitCounts) -> MixtureTest:
    """Test whether two files, of a single class and with the same cells, have the same cell shares."""
    if source.shape[2] == 1:
        units = Units.of(source).and_those_of(target).number
        return MixtureTest(p_value=1.0, units=units)
    return _equal_shares(source.by_class()[0], lambda: source.covariance()[0, 0], Units.of(source), target)


def _equal_shares(old: Ints, covariance: Callable[[], Matrix], units: Units, new: UnitCounts) -> MixtureTest:
    """Test rows by cell, shape (M,), with the covariance of their shares, shape (M, M), against new ones."""

    def distance() -> float:
        rows = new.by_class()[0]
        change = rows / rows.sum() - old / old.sum()
        total = (covariance() + new.covariance()[0, 0])[:-1, :-1]
        return float(quadratic_forms(total[None], change[None, :-1])[0])

    return _test_between_units(units.and_those_of(new), len(old) - 1, distance)


def _few_rows(cells: int, size: int) -> str:
    kind = "each class" if size == 2 else "the labelled ones"
    return (
        f"{cells} cells of the score hold {MIN_CELL} new rows and {MIN_CELL} of {kind}, {size + 1} are needed"
    )


def hotelling_p_value(statistic: float, degrees: int, freedom: float) -> float:
    """Return the upper tail of Hotelling's distribution of a distance whose covariance is estimated.

    ``degrees`` is the dimension of the distance, ``freedom`` the degrees of freedom of the covariance, at
    least as many.
    """
    from scipy.special import fdtrc

    rest = freedom - degrees + 1
    return float(fdtrc(degrees, rest, statistic * rest / (freedom * degrees)))


def merged_cells(needed: Sequence[Ints]) -> Ints:
    """Merge neighbouring cells, from the lowest up, until each holds enough rows of each kind.

    The rest joins the last. Rows of each kind are by cell; the merged cell of each cell is returned.

    >>> merged_cells([np.array([9, 2, 3, 7, 1])]).tolist()
    [0, 1, 1, 2, 2]
    """
    columns = np.stack(needed)
    cell_of, current, held = np.zeros(columns.shape[1], dtype=np.int64), 0, np.zeros(len(columns))
    for cell in range(columns.shape[1]):
        cell_of[cell] = current
        held = held + columns[:, cell]
        if held.min() >= MIN_CELL:
            current, held = current + 1, np.zeros(len(columns))
    return np.minimum(cell_of, max(current - 1, 0))


def _independent(classes: Ints, rows: Ints) -> _Distance:
    """Return the distance of independent rows; covariances have half a row added to each cell."""
    cells = classes.shape[1]
    totals, total = classes.sum(axis=1), int(rows.sum())
    smoothed = ((classes + 0.5) / (totals + 0.5 * cells)[:, None])[:, :-1]
    square = -smoothed[:, None, :, None] * smoothed[None, :, None, :] / total
    for index, (shares, number) in enumerate(zip(smoothed, totals, strict=True)):
        square[index, index] += (np.diag(shares) - np.outer(shares, shares)) / number
    return _Distance(
        classes=(classes / totals[:, None])[:, :-1],
        target=(rows / total)[:-1],
        constant=np.zeros((cells - 1, cells - 1)),
        linear=np.stack([np.diag(shares) for shares in smoothed]) / total,
        square=square,
    )


def _between_units(source: UnitCounts, target: UnitCounts) -> _Distance:
    classes, rows = source.by_class(), target.by_class()[0]
    constant = target.covariance()[0, 0, :-1, :-1]
    return _Distance(
        classes=(classes / classes.sum(axis=1, keepdims=True))[:, :-1],
        target=(rows / rows.sum())[:-1],
        constant=constant,
        linear=np.zeros((len(classes), *constant.shape)),
        square=source.covariance()[..., :-1, :-1],
    )


def quadratic_forms(matrices: Tensor, vectors: Matrix) -> Floats:
    """Compute ``v' A^-1 v`` for n symmetric positive definite matrices; infinite for others.

    Matrices have shape (n, m, m), vectors (n, m).

    >>> quadratic_forms(np.array([[[2.0, 0.0], [0.0, 4.0]]]), np.array([[2.0, 2.0]])).tolist()
    [3.0]
    """
    rows = np.concatenate([matrices, vectors[..., None]], axis=2)
    total, scale = np.zeros(len(rows)), np.einsum("nii->ni", matrices).copy()
    for step in range(matrices.shape[1]):
        pivot = rows[:, step, step]
        is_positive = pivot > _NEGLIGIBLE * scale[:, step]
        pivot = np.where(is_positive, pivot, 1.0)
        total += np.where(is_positive, rows[:, step, -1] ** 2 / pivot, np.inf)
        factor = rows[:, step + 1 :, step] / pivot[:, None]
        rows[:, step + 1 :] -= factor[..., None] * rows[:, step, None, :]
    return total


def simplex_minimum(hessian: Matrix, linear: Floats, start: Floats) -> Floats:
    """Minimise ``p' H p / 2 + linear' p`` over shares p that add up to 1, by an active set.

    H, shape (C, C), is positive definite. The start, shape (C,), adds up to 1.
    """
    shares, size = start.copy(), len(start)
    free = shares > 0
    for _ in range(10 * size):
        index = np.flatnonzero(free)
        border = np.ones((len(index) + 1, len(index) + 1))
        border[:-1, :-1], border[-1, -1] = hessian[np.ix_(index, index)], 0.0
        wanted, level = np.zeros(size), solved(border, np.append(-linear[index], 1.0))
        wanted[index] = level[:-1]
        if (wanted >= 0).all():
            shares = wanted
            slopes = (hessian * shares).sum(axis=1) + linear + level[-1]
            worst = int(np.where(free, 0.0, slopes).argmin())
            if free[worst] or slopes[worst] >= -_NEGLIGIBLE * float(np.abs(linear).max()):
                break
            free[worst] = True
            continue
        falling = np.flatnonzero(wanted < 0)
        reach = shares[falling] / (shares[falling] - wanted[falling])
        blocked = int(falling[reach.argmin()])
        shares = np.maximum(shares + float(reach.min()) * (wanted - shares), 0.0)
        shares[blocked], free[blocked] = 0.0, False
    shares /= shares.sum()
    return shares


ROW_BINS: Final = 10
UNIT_BINS: Final = 5
"""Bins of the score for two classes: of independent rows, and of rows that depend on each other by unit."""


def weighted_ranks(value: Floats, weight: Ints, bins: int) -> Floats:
    """Return the edges of bins of equal weight: the values at ranks ``r*rows//bins``; none without rows.

    >>> weighted_ranks(np.array([0.3, 0.1, 0.2]), np.array([1, 2, 1]), 2).tolist()
    [0.2]
    """
    order = np.argsort(value, kind="stable")
    below = np.cumsum(weight[order])
    if not len(below) or not below[-1]:
        return np.empty(0)
    edges: Floats = value[order][np.searchsorted(below, equal_ranks(int(below[-1]), bins), side="right")]
    return edges


def cells_of(probability: Matrix, weight: Ints, bins: int) -> tuple[Ints, int]:
    """Return the cell of each row, and the number of cells.

    Two classes: bins of equal weight of the second one's probability. More classes: the most probable one,
    each in two halves by its probability. Probabilities, shape (n, C), are of source and target together,
    since edges are those of all rows.
    """
    classes = probability.shape[1]
    if classes == 2:
        score = probability[:, 1]
        return bin_of(score, weighted_ranks(score, weight, bins)), bins
    largest, predicted = most_probable(list(probability.T))
    cell = 2 * predicted
    for class_index in range(classes):
        rows = np.flatnonzero(predicted == class_index)
        cell[rows] += bin_of(largest[rows], weighted_ranks(largest[rows], weight[rows], 2))
    return cell, 2 * classes


@dataclass(frozen=True, kw_only=True)
class UnitRows:
    """Rows of source or target: probabilities of shape (n, C), the others of int64, shape (n,).

    Labels are 0 for the target. ``unit`` is the day or cluster of each row, 0 if rows are independent.
    """

    probability: Matrix
    label: Ints
    unit: Ints
    weight: Ints

    def counts(self, cell: Ints, cells: int, classes: int) -> UnitCounts:
        """Count the rows by unit, label and cell, equal ones together."""
        present = np.flatnonzero(self.weight)
        key = (self.unit[present] * classes + self.label[present]) * cells + cell[present]
        distinct, place = dense_ranks(key)
        count = np.zeros(len(distinct), dtype=np.int64)
        np.add.at(count, place, self.weight[present])
        return UnitCounts(
            unit=distinct // (classes * cells),
            class_index=distinct // cells % classes,
            cell=distinct % cells,
            count=count,
            shape=(len(distinct_numbers(self.unit[present])), classes, cells),
        )


def mixture_of(source: UnitRows, target: UnitRows, *, by_unit: bool) -> MixtureTest:
    """Test whether the target rows are a mixture of the classes of the source rows; see ``mixture_test``."""
    classes = source.probability.shape[1]
    probability = np.concatenate([source.probability, target.probability])
    weight = np.concatenate([source.weight, target.weight])
    cell, cells = cells_of(probability, weight, UNIT_BINS if by_unit else ROW_BINS)
    first = len(source.label)
    return mixture_test(
        source.counts(cell[:first], cells, classes), target.counts(cell[first:], cells, 1), by_unit=by_unit
    )
