"""Maps of class probabilities: temperature, vector and matrix scaling, and one map for each class.

Sums over rows are over distinct rows in sorted order, so the result does not depend on row order.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import replace
from typing import Annotated, ClassVar, Final

import numpy as np
from msgspec import Meta

from uqcli.base.blockwise import each_part
from uqcli.base.choices import CalibrationMethod
from uqcli.base.counts import Floats, Matrix
from uqcli.base.rows import ClassCounts
from uqcli.base.wording import number, printable
from uqcli.calibrate.maps.base import BaseClassMap, Interval, finite, first, formula_table
from uqcli.calibrate.maps.formulas import STEEPEST, at_bound, best_slope, slope_near
from uqcli.calibrate.maps.isotonic import IsotonicMap, VennAbersMap, fit_isotonic, fit_venn_abers
from uqcli.calibrate.scale import Scale
from uqcli.estimates.linear_scaling import (
    CLIP,
    FEW_COEFFICIENTS,
    MIDDLE,
    RIDGES,
    VALUES_PER_BLOCK,
    Penalty,
    class_logits,
    fit_coefficients,
    fit_few_coefficients,
    scaled,
    softmax,
)
from uqcli.estimates.score_metrics import CLIP as LEAST_PROBABILITY
from uqcli.reports.document import Table
from uqcli.rules.expressions import (
    LARGEST_EXPONENT,
    Arithmetic,
    Case,
    Comparison,
    Constant,
    Expression,
    Function,
    Maximum,
    NamedValues,
    clipped,
    let,
    minus,
    total,
)


class ClassTemperatureMap(BaseClassMap, frozen=True, kw_only=True, tag_field="map", tag="class-temperature"):
    """``softmax(slope * ln p)``, where slope is 1/T."""

    methods: ClassVar[frozenset[CalibrationMethod]] = frozenset({CalibrationMethod.TEMPERATURE})

    slope: float

    def contradiction(self) -> str:
        """See BaseMap."""
        return "" if finite([self.slope]) and self.slope > 0 else "its slope is not finite and above 0"

    def probabilities(self, probability: Matrix) -> Matrix:
        """See BaseClassMap."""
        return softmax(self.slope * class_logits(probability))

    def exported(
        self, probability: Sequence[Expression], weights: Sequence[float], named: NamedValues
    ) -> Sequence[Expression]:
        """See BaseClassMap."""
        return shares_of_logits(_logarithms(probability, named), weights, named, self.slope)

    @property
    def terms(self) -> tuple[float, float]:
        """See BaseRowMap."""
        return 0.0, 2 * self.slope

    def steps(self) -> Sequence[float]:
        """See BaseMap; with the steepest slope nearly all values are 0 and 1."""
        return (0.0, 1.0) if self.slope == STEEPEST else ()

    def tables_of(self, classes: Sequence[str]) -> list[Table]:
        """See BaseClassMap."""
        del classes
        return [formula_table(f"softmax({self.slope:.6g} * ln p)")]


def _logarithms(probability: Sequence[Expression], named: NamedValues) -> list[Expression]:
    return [named.name(Function("ln", clipped(value, CLIP, 1.0)), "logarithm") for value in probability]


def shares_of_logits(
    logits: Sequence[Expression], weights: Sequence[float], named: NamedValues, slope: float = 1.0
) -> Sequence[Expression]:
    """Return the softmax of ``slope * logits``, times the weights, divided by the sum."""
    largest = named.name(Maximum(tuple(logits)), "largest")
    growths: list[Expression] = []
    for logit, weight in zip(logits, weights, strict=True):
        difference = minus(logit, largest)
        if slope != 1:
            difference = Arithmetic("*", Constant(slope), difference)
        growth: Expression = Function("exp", clipped(difference, -LARGEST_EXPONENT, 0.0))
        if weight != 1:
            growth = Arithmetic("*", Constant(weight), growth)
        growths.append(named.name(growth, "growth"))
    sums = named.name(total(growths), "sum")
    return [Arithmetic("/", growth, sums) for growth in growths]


class ClassLinearMap(BaseClassMap, frozen=True, kw_only=True, tag_field="map", tag="class-linear"):
    """``softmax(A z + b)``, where z are the logarithms of the probabilities less their mean.

    ``coefficients`` has a row for each class: its own slope (a diagonal A) or the slopes of all classes, then
    its intercept.
    """

    methods: ClassVar[frozenset[CalibrationMethod]] = frozenset(
        {CalibrationMethod.VECTOR, CalibrationMethod.MATRIX}
    )

    coefficients: Annotated[list[list[float]], Meta(min_length=2)]

    def contradiction(self) -> str:
        """See BaseMap."""
        classes = len(self.coefficients)
        if {len(row) for row in self.coefficients} not in ({2}, {classes + 1}):
            return "its coefficients are not one or all slopes and an intercept of each class"
        return "" if all(map(finite, self.coefficients)) else "its coefficients are not finite"

    def contradicts(self, classes: int, method: CalibrationMethod) -> bool:
        """See BaseClassMap."""
        width = 2 if method is CalibrationMethod.VECTOR else classes + 1
        return len(self.coefficients) != classes or len(self.coefficients[0]) != width

    def probabilities(self, probability: Matrix) -> Matrix:
        """See BaseClassMap."""
        return scaled(np.array(self.coefficients), probability)

    def exported(
        self, probability: Sequence[Expression], weights: Sequence[float], named: NamedValues
    ) -> Sequence[Expression]:
        """See BaseClassMap."""
        logarithms = _logarithms(probability, named)
        parts = [Arithmetic("*", Constant(1 / len(logarithms)), value) for value in logarithms]
        mean = named.name(total(parts), "mean")
        logits = []
        for index, (*slopes, intercept) in enumerate(self.coefficients):
            used = [logarithms[index]] if len(slopes) == 1 else logarithms
            terms = [
                Arithmetic("*", Constant(slope), value) for slope, value in zip(slopes, used, strict=True)
            ]
            shift = Arithmetic("*", Constant(sum(slopes)), mean)
            logit = Arithmetic("+", minus(total(terms), shift), Constant(intercept))
            logits.append(named.name(logit, "logit"))
        return shares_of_logits(logits, weights, named)

    @property
    def terms(self) -> tuple[float, float]:
        """See BaseRowMap."""
        constant = max(abs(row[-1]) for row in self.coefficients)
        return 2 * constant, 4 * max(sum(map(abs, row[:-1])) for row in self.coefficients)

    def tables_of(self, classes: Sequence[str]) -> list[Table]:
        """Tabulate the coefficients of at most 40 classes."""
        shown = list(zip(classes, self.coefficients, strict=True))[:40]
        rows: list[tuple[str, ...]] = []
        for index, (name, (*slopes, intercept)) in enumerate(shown):
            if len(slopes) == 1:
                rows.append((printable(name), number(slopes[0]), number(intercept)))
            else:
                other = max(slopes[:index] + slopes[index + 1 :], key=abs)
                rows.append((printable(name), number(slopes[index]), number(other), number(intercept)))
        slopes_header = ("slope",) if len(rows[0]) == 3 else ("own slope", "largest other slope")
        header = ("class", *slopes_header, "intercept")
        return [
            Table(
                title="Slope and intercept of each class, on ln p less its mean",
                header=header,
                rows=rows,
                left=1,
            )
        ]


def _sums_of_others(values: Sequence[Expression], named: NamedValues) -> list[Expression]:
    """Add up, for each value, those before and those after, from the ends, as the calibrator does."""

    def running(ordered: Sequence[Expression]) -> list[Expression]:
        sums = [ordered[0]]
        for value in ordered[1:]:
            sums.append(named.name(Arithmetic("+", sums[-1], value), "sum"))
        return sums

    before, after = running(values[:-1]), running(values[:0:-1])[::-1]
    middle = [Arithmetic("+", *pair) for pair in zip(before, after[1:], strict=False)]
    return [after[0], *middle, before[-1]]


def _in_target(share: Expression, weight: float, rest: Expression) -> Expression:
    """Move a probability of one class against the rest to the target data."""

    def moved(name: Expression) -> Expression:
        own = Arithmetic("*", Constant(weight), name)
        other = Arithmetic("*", rest, minus(Constant(1.0), name))
        return Arithmetic("/", own, Arithmetic("+", own, other))

    return let(share, moved, "share")


class OneVsRestMap(BaseClassMap, frozen=True, kw_only=True, tag_field="map", tag="one-vs-rest"):
    """The map of each class, applied to its probability; the results are divided by their sum.

    A row in which all are 0 keeps its probabilities. Intervals are those of the maps, not divided.
    """

    methods: ClassVar[frozenset[CalibrationMethod]] = frozenset(
        {CalibrationMethod.ISOTONIC, CalibrationMethod.VENN_ABERS}
    )

    maps: Annotated[list[IsotonicMap | VennAbersMap], Meta(min_length=2)]

    @property
    def has_interval(self) -> bool:
        """See BaseMap."""
        return self.maps[0].has_interval

    def contradiction(self) -> str:
        """See BaseMap."""
        return first(part.contradiction() for part in self.maps)

    def contradicts(self, classes: int, method: CalibrationMethod) -> bool:
        """See BaseClassMap."""
        return len(self.maps) != classes or any(method not in part.methods for part in self.maps)

    def probabilities(self, probability: Matrix) -> Matrix:
        """See BaseClassMap."""
        columns = zip(self.maps, probability.T, strict=True)
        mapped = np.stack([part.probability(column, Scale()) for part, column in columns], axis=1)
        sums = mapped.sum(axis=1, keepdims=True)
        shares: Matrix = np.where(sums > 0, mapped / np.where(sums > 0, sums, 1.0), probability)
        return shares

    def intervals(self, probability: Matrix) -> Interval:
        """See BaseClassMap."""
        intervals = [part.interval(column) for part, column in zip(self.maps, probability.T, strict=True)]
        low, high = (np.stack(ends, axis=1) for ends in zip(*intervals, strict=True))
        return low, high

    def exported(
        self, probability: Sequence[Expression], weights: Sequence[float], named: NamedValues
    ) -> Sequence[Expression]:
        """See BaseClassMap."""
        mapped = [
            named.name(Arithmetic("*", Constant(weight), part.exported(column, Scale())), "mapped")
            for part, column, weight in zip(self.maps, probability, weights, strict=True)
        ]
        sums = named.name(total(mapped), "sum")
        shares: list[Expression] = [Arithmetic("/", value, sums) for value in mapped]
        if not all(self._may_be_zero(part) for part in self.maps):
            return shares
        kept = [
            Arithmetic("*", Constant(weight), column)
            for column, weight in zip(probability, weights, strict=True)
        ]
        is_positive, sum_of_kept = Comparison(">", sums, Constant(0.0)), named.name(total(kept), "sum")
        return [
            Case(((is_positive, share),), Arithmetic("/", value, sum_of_kept))
            for share, value in zip(shares, kept, strict=True)
        ]

    def exported_intervals(
        self, probability: Sequence[Expression], weights: Sequence[float] | None, named: NamedValues
    ) -> Sequence[tuple[Expression, Expression]]:
        """See BaseClassMap."""
        parts = list(zip(self.maps, probability, strict=True))
        ends = [part.exported_interval(column) for part, column in parts if isinstance(part, VennAbersMap)]
        if weights is None:
            return ends
        mapped = [named.name(part.exported(column, Scale()), "mapped") for part, column in parts]
        sums = named.name(total(mapped), "sum")
        shares = [named.name(Arithmetic("/", value, sums), "share") for value in mapped]
        weighted = [
            named.name(Arithmetic("*", share, Constant(weight)), "weighted")
            for share, weight in zip(shares, weights, strict=True)
        ]
        rests = [
            named.name(Arithmetic("/", own, all_), "rest")
            for own, all_ in zip(
                _sums_of_others(weighted, named), _sums_of_others(shares, named), strict=True
            )
        ]
        return [
            (_in_target(low, weight, rest), _in_target(high, weight, rest))
            for (low, high), weight, rest in zip(ends, weights, rests, strict=True)
        ]

    @staticmethod
    def _may_be_zero(part: IsotonicMap | VennAbersMap) -> bool:
        """Whether a map predicts 0 somewhere; the mixture of a Venn-Abers interval never does."""
        return isinstance(part, IsotonicMap) and part.y[0] == 0

    def tables_of(self, classes: Sequence[str]) -> list[Table]:
        """Tabulate the maps of at most 40 classes."""
        shown = list(zip(classes, self.maps, strict=True))[:40]
        rows = [(printable(name), part.formula()) for name, part in shown]
        return [Table(title="Each class against the rest", header=("class", "map"), rows=rows, left=2)]


ClassFold = tuple[ClassCounts, ClassCounts]
"""Rows for fitting, and rows held out."""

_TUNING_TOLERANCE: Final = 1e-4

_MANY_ROWS: Final = 1 << 16
_SAMPLE: Final = slice(None, None, 16)
"""Every 16th distinct row: a fit to them takes less time than a step of a fit to all."""


def label_losses(map_: BaseClassMap, counts: ClassCounts) -> Floats:
    """Compute the log loss of each distinct row, clipped to at most ``-ln 1e-15``."""
    probability = map_.probabilities(counts.probability)[np.arange(len(counts.label)), counts.label]
    losses: Floats = -np.log(np.maximum(probability, LEAST_PROBABILITY))
    return losses


def fit_class_temperature(
    counts: ClassCounts, start: BaseClassMap | None = None
) -> tuple[ClassTemperatureMap, tuple[str, ...]]:
    """Fit ``softmax(ln p / T)`` by maximum likelihood, with 1/T between 1e-3 and 1e3; with notes.

    A map that was fitted to nearly the same rows is a good start, as is that of a sample of many rows.
    """
    if start is None and len(counts.label) > _MANY_ROWS:
        start, _ = fit_class_temperature(counts.select(_SAMPLE))
    derivative = log_loss_derivatives(counts)
    if isinstance(start, ClassTemperatureMap):
        slope = slope_near(start.slope, derivative)
    else:
        slope = best_slope(derivative)
    return ClassTemperatureMap(slope=slope), at_bound(slope)


def log_loss_derivatives(counts: ClassCounts) -> Callable[[float], tuple[float, float]]:
    """Return the function from a slope to the first and second derivative of the log loss.

    Blocks of rows stay in the cache, with one class after the other, since sums over few classes are slow by
    row. The logits are less the largest of the row, so that no power of e overflows.
    """
    rows, classes = counts.probability.shape
    logits, label_logit = np.empty((classes, rows)), np.empty(rows)
    block = max(1, VALUES_PER_BLOCK // classes)

    def fill(part: slice) -> None:
        logarithm = np.log(np.clip(counts.probability[part].T, CLIP, 1), out=logits[:, part])
        logarithm -= logarithm.max(axis=0)
        label_logit[part] = logarithm[counts.label[part], np.arange(logarithm.shape[1])]

    each_part(fill, rows, block)

    def derivative(slope: float) -> tuple[float, float]:
        def sums(part: slice) -> tuple[float, float]:
            values, count = logits[:, part], counts.count[part]
            terms = slope * values
            np.exp(terms, out=terms)
            total = terms.sum(axis=0)
            np.multiply(terms, values, out=terms)
            mean = terms.sum(axis=0) / total
            np.multiply(terms, values, out=terms)
            variance = terms.sum(axis=0) / total - mean**2
            return float((count * (mean - label_logit[part])).sum()), float((count * variance).sum())

        first, second = zip(*each_part(sums, rows, block), strict=True)
        return math.fsum(first), math.fsum(second)

    return derivative


_WITH_RIDGE: Final[Sequence[Callable[[Penalty, float], Penalty]]] = (
    lambda penalty, ridge: replace(penalty, other=ridge),
    lambda penalty, ridge: replace(penalty, intercept=ridge),
    lambda penalty, ridge: replace(penalty, diagonal=ridge),
)
"""Replacements of one ridge, in the order in which they are chosen."""


def fit_linear(counts: ClassCounts, penalty: Penalty, start: BaseClassMap | None = None) -> ClassLinearMap:
    """Fit vector or structured matrix scaling; starts are as in ``fit_class_temperature``.

    With many coefficients the search ends before its start has no effect, so that it begins at the identity.
    """
    classes = counts.probability.shape[1]
    if classes * (2 if penalty.other is None else classes + 1) <= FEW_COEFFICIENTS:
        if start is None and len(counts.label) > _MANY_ROWS:
            start = fit_linear(counts.select(_SAMPLE), penalty)
        near = np.array(start.coefficients) if isinstance(start, ClassLinearMap) else None
        return _linear_map(fit_few_coefficients(counts, penalty, near))
    return _linear_map(fit_coefficients(counts, penalty))


def _linear_map(coefficients: Matrix) -> ClassLinearMap:
    return ClassLinearMap(coefficients=[row.tolist() for row in coefficients])


def tuned_penalty(folds: Sequence[ClassFold], *, is_full: bool) -> Penalty:
    """Choose the penalties one after the other by the cross-fitted log loss, each from ``RIDGES``.

    The search starts at .01 and goes on while the loss falls. Each fit starts from the last one of its fold.
    """
    if not folds:
        return Penalty(other=RIDGES[MIDDLE] if is_full else None)
    rows = int(folds[0][0].count.sum())
    penalty = Penalty(other=RIDGES[MIDDLE] if is_full else None, rows=rows)
    starts: list[Matrix | None] = [None] * len(folds)

    def loss(candidate: Penalty) -> float:
        total, count = 0.0, 0
        for index, (training, held_out) in enumerate(folds):
            fitted = fit_coefficients(training, candidate, starts[index], _TUNING_TOLERANCE)
            starts[index] = fitted
            total += float((label_losses(_linear_map(fitted), held_out) * held_out.count).sum())
            count += int(held_out.count.sum())
        return total / count

    lowest = loss(penalty)
    for with_ridge in _WITH_RIDGE[0 if is_full else 1 :]:
        for direction in (RIDGES[MIDDLE + 1 :], RIDGES[MIDDLE - 1 :: -1]):
            for ridge in direction:
                candidate = with_ridge(penalty, ridge)
                candidate_loss = loss(candidate)
                if candidate_loss >= lowest:
                    break
                penalty, lowest = candidate, candidate_loss
    return penalty


def fit_one_vs_rest(counts: ClassCounts, *, with_intervals: bool) -> OneVsRestMap:
    """Fit a map of each class against the rest: isotonic regression, or Venn-Abers with intervals.

    A probability of 0 or 1 would let one row of another class outweigh all others. So an isotonic block at
    an end has the rate (k+1)/(n+2) instead, unless its neighbour's rate is closer.
    """
    parts = [counts.against_rest(index) for index in range(counts.probability.shape[1])]
    if with_intervals:
        return OneVsRestMap(maps=[fit_venn_abers(part) for part in parts])
    return OneVsRestMap(maps=[fit_isotonic(part, certain=False) for part in parts])
