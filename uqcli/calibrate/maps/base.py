"""Interface of calibration maps, checks of the numbers that are saved, and the parts of rows.

Parts are the leaves of a tree of questions about features, or groups of their levels.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import replace
from itertools import pairwise
from typing import TYPE_CHECKING, Annotated, Any, ClassVar, NamedTuple, Self, TypeAlias

import msgspec
import numpy as np
from msgspec import Meta

from uqcli.base.choices import CalibrationMethod
from uqcli.base.counts import Bools, Floats, Ints, Matrix, ValueCounts, indices_by_bin
from uqcli.base.records import dataclass
from uqcli.base.wording import number
from uqcli.calibrate.scale import Scale
from uqcli.kernels.units import dense_ranks
from uqcli.reports.document import Table
from uqcli.rules.expressions import Expression, NamedValues

if TYPE_CHECKING:
    from uqcli.calibrate.fit_options import CalibrationOptions


class FeatureColumn(msgspec.Struct, frozen=True, kw_only=True):
    """A feature column: numeric, or categorical with its known levels; other texts are "other"."""

    name: str
    levels: list[str] | None = None

    @property
    def is_text(self) -> bool:
        """Whether it is categorical."""
        return self.levels is not None


class Node(msgspec.Struct, frozen=True, kw_only=True, omit_defaults=True):
    """A node of a tree: a leaf, or a question by which rows go left or right.

    Attributes
    ----------
    leaf
        Index of the leaf, or None for a question.
    feature
        Name of the column.
    threshold
        Numbers up to it go left.
    levels
        Texts that go left.
    other_left, missing_left
        Whether unknown texts, and missing values, go left.
    left, right
        Positions of the children.
    """

    leaf: int | None = None
    feature: str | None = None
    threshold: float | None = None
    levels: list[str] | None = None
    other_left: bool = False
    missing_left: bool = False
    left: int | None = None
    right: int | None = None

    @property
    def is_leaf(self) -> bool:
        """Whether it is no question."""
        return self.leaf is not None

    @property
    def children(self) -> list[int]:
        """Positions of the nodes to its left and to its right; none of a leaf."""
        return [child for child in (self.left, self.right) if child is not None]


_MAX_SHOWN_LEVELS = 4


def leaf_of(nodes: Sequence[Node], columns: Sequence[FeatureColumn], features: Mapping[str, Floats]) -> Ints:
    """Find the leaf of each row, from the root down.

    Features have values as in ``Feature``, by column name; categorical ones are positions in their levels.
    """
    levels_of = {column.name: column.levels for column in columns}
    size = len(next(iter(features.values())))
    leaf = np.zeros(size, dtype=np.int64)
    pending = [(0, np.arange(size))]
    while pending:
        index, rows = pending.pop()
        node = nodes[index]
        if len(rows) == 0:
            continue
        if node.is_leaf:
            leaf[rows] = node.leaf or 0
        else:
            feature = str(node.feature)
            left = goes_left(node, levels_of[feature], features[feature][rows])
            pending += zip(node.children, (rows[left], rows[~left]), strict=True)
    return leaf


def goes_left(node: Node, levels: Sequence[str] | None, value: Floats) -> Bools:
    """Whether rows go left at a question."""
    if levels is None:
        with np.errstate(invalid="ignore"):
            below: Bools = value <= (node.threshold if node.threshold is not None else np.inf)
        return np.where(np.isnan(value), node.missing_left, below)
    chosen = set(node.levels or ())
    table = np.array([*(level in chosen for level in levels), node.other_left, node.missing_left])
    return table[value.astype(np.int64)]  # index -1, missing, is the last entry


def group_of(
    groups: Sequence[Sequence[str | None]], columns: Sequence[FeatureColumn], features: Mapping[str, Floats]
) -> Ints:
    """Return the leaf of each row: its combination of levels, or the last leaf for unknown combinations.

    Every group has one level per column; columns and features are as in ``leaf_of``.
    """
    code_of_group = np.zeros(len(groups), dtype=np.int64)
    code_of_row = np.zeros(len(next(iter(features.values()))), dtype=np.int64)
    for position, column in enumerate(columns):
        levels = column.levels or []
        index: dict[str | None, int] = {None: 0} | {text: n + 1 for n, text in enumerate(levels)}
        codes = np.array([index[group[position]] for group in groups], dtype=np.int64)
        size = len(levels) + 2  # plus missing and unknown
        known_codes, code_of_group = dense_ranks(code_of_group * size + codes)
        row_codes = np.where(
            code_of_row < 0, -1, code_of_row * size + features[column.name].astype(np.int64) + 1
        )
        known = np.minimum(np.searchsorted(known_codes, row_codes), len(known_codes) - 1)
        code_of_row = np.where(known_codes[known] == row_codes, known, -1)
    leaf_of_code = np.zeros(len(groups), dtype=np.int64)
    leaf_of_code[code_of_group] = np.arange(len(groups))
    return np.where(code_of_row < 0, len(groups), leaf_of_code[code_of_row])


def rule_of(path: Sequence[tuple[Node, bool]], columns: Sequence[FeatureColumn]) -> str:
    """Describe a leaf by the questions and answers that lead to it.

    Examples
    --------
    >>> node = Node(feature="age", threshold=35.5, missing_left=True)
    >>> rule_of([(node, True)], [FeatureColumn(name="age")])
    'age <= 35.5 or missing'
    """
    if not path:
        return "all rows"
    levels_of = {column.name: column.levels for column in columns}
    return " and ".join(_answer(node, went_left, levels_of[str(node.feature)]) for node, went_left in path)


def _answer(node: Node, went_left: bool, levels: Sequence[str] | None) -> str:
    missing = " or missing" if node.missing_left == went_left else ""
    if levels is None:
        sign = "<=" if went_left else ">"
        return f"{node.feature} {sign} {node.threshold:.6g}{missing}"
    chosen = set(node.levels or ())
    matching = [level for level in levels if (level in chosen) == went_left]
    matching += ["(other)"] if node.other_left == went_left else []
    more = f" and {len(matching) - _MAX_SHOWN_LEVELS} more" if len(matching) > _MAX_SHOWN_LEVELS else ""
    return f"{node.feature} in {{{', '.join(matching[:_MAX_SHOWN_LEVELS])}{more}}}{missing}"


Count = Annotated[int, Meta(ge=0)]

Features = Mapping[str, Floats] | None
"""Values as in ``Feature``, with the levels of a map, by column name; None if it has no features."""

Parts = tuple[tuple[str, ...], Ints]
"""Names of the parts of rows that a map treats separately, and the part of each row, shape (n,)."""


Interval: TypeAlias = tuple[Floats, Floats]
"""Lower and upper probability of each row; each of shape (n,), or (n, C) for class probabilities."""


@dataclass(frozen=True, kw_only=True)
class Calibrated:
    """Calibrated probabilities, with leaf indices if the map has them; each of shape (n,)."""

    probability: Floats
    leaf: Ints | None = None

    def mapped(self, function: Callable[[Floats], Floats]) -> Self:
        """Map its probabilities."""
        return replace(self, probability=function(self.probability))

    def columns(self) -> dict[str, Ints | Floats]:
        """Return what is added to rows, by name."""
        leaf: dict[str, Ints | Floats] = {} if self.leaf is None else {"leaf": self.leaf}
        return {"calibrated": self.probability, **leaf}


@dataclass(frozen=True, kw_only=True)
class CalibratedWithin(Calibrated):
    """Calibrated probabilities with intervals."""

    interval: Interval

    def mapped(self, function: Callable[[Floats], Floats]) -> Self:
        """See Calibrated."""
        low, high = self.interval
        return replace(super().mapped(function), interval=(function(low), function(high)))

    def columns(self) -> dict[str, Ints | Floats]:
        """See Calibrated."""
        low, high = self.interval
        return {**super().columns(), "calibrated_low": low, "calibrated_high": high}


class FittedMap(NamedTuple):
    """A fitted map of the score, and notes on the fit."""

    map: Any
    notes: tuple[str, ...] = ()


class BaseMap(msgspec.Struct, frozen=True, kw_only=True, tag_field="map"):
    """Base of all maps; each adds its own fields and the tag under which it is saved.

    Class variables are the methods that fit this map, and whether it uses the uncertainty.
    """

    methods: ClassVar[frozenset[CalibrationMethod]]
    needs_uncertainty: ClassVar[bool] = False

    @property
    def features(self) -> Sequence[FeatureColumn]:
        """Feature columns that it uses."""
        return ()

    @property
    def has_leaves(self) -> bool:
        """Whether there is a single partition, with numbered leaves."""
        return False

    @property
    def has_interval(self) -> bool:
        """Whether each probability has an interval."""
        return False

    @property
    def largest_error(self) -> float:
        """Simultaneous bound on its error over all bins; infinite without one."""
        return math.inf

    def steps(self) -> Sequence[float]:
        """List values that it predicts, with the smallest and the largest; empty if these are not known."""
        return ()

    def contradiction(self) -> str:
        """Find the first contradiction between its fields; empty if there is none."""
        raise NotImplementedError


class BaseRowMap(BaseMap, frozen=True, kw_only=True, tag_field="map"):
    """Map from a row's score, and possibly other columns, to the probability of the positive label."""

    def tables(self, undersampled: float) -> list[Table]:
        """Tabulate the map; the odds are divided by ``undersampled`` before it is applied (see ``Scale``)."""
        raise NotImplementedError

    def predict(
        self, corrected: Floats, scale: Scale, uncertainty: Floats | None = None, features: Features = None
    ) -> Calibrated:
        """Calibrate rows, from scores corrected for undersampling.

        Some maps require an uncertainty, and others features.
        """
        raise NotImplementedError

    def exported(
        self, corrected: Expression, scale: Scale, uncertainty: Expression | None = None
    ) -> Expression:
        """Return the probability as an expression of the corrected score and the map's other columns.

        A map that is no short expression is refused.
        """
        raise NotImplementedError

    def exported_leaf(self) -> Expression:
        """Return the leaf as an expression, for maps that have leaves."""
        raise NotImplementedError

    @property
    def terms(self) -> tuple[float, float]:
        """Constant and factor of the largest log-odds: a bound on the sum of the terms of its log-odds."""
        return 0.0, 0.0

    def parts(self, uncertainty: Floats | None, leaf: Ints | None) -> Parts | None:
        """Return the parts of the rows, with leaves from ``predict``; None if it treats all alike."""
        del uncertainty, leaf
        return None

    def rows_by_part(self, uncertainty: Floats | None, leaf: Ints | None) -> list[tuple[str, Ints]]:
        """Return the name and the row indices of each part; empty if the map treats all rows alike."""
        parts = self.parts(uncertainty, leaf)
        if parts is None:
            return []
        names, part = parts
        return list(zip(names, indices_by_bin(part, len(names)), strict=True))


class BaseScoreMap(BaseRowMap, frozen=True, kw_only=True, tag_field="map"):
    """Map of the score only."""

    @classmethod
    def fit(cls, counts: ValueCounts, options: CalibrationOptions) -> FittedMap:
        """Fit it to counts of corrected scores, by the method of the options.

        Functions import what only they need, since most runs apply a map.
        """
        raise NotImplementedError

    def probability(self, corrected: Floats, scale: Scale) -> Floats:
        """Compute the probabilities of corrected scores, shape (n,)."""
        raise NotImplementedError

    def expression(self, corrected: Expression, scale: Scale) -> Expression:
        """Return the probability as an expression of the corrected score."""
        raise NotImplementedError

    def exported(
        self, corrected: Expression, scale: Scale, uncertainty: Expression | None = None
    ) -> Expression:
        """See BaseRowMap."""
        del uncertainty
        return self.expression(corrected, scale)

    def interval(self, corrected: Floats) -> Interval:
        """Compute the intervals of corrected scores, for maps that have them."""
        raise NotImplementedError

    def exported_interval(self, corrected: Expression) -> tuple[Expression, Expression]:
        """Return the lower and the upper probability as expressions."""
        raise NotImplementedError

    def formula(self) -> str:
        """Return the formula in one line."""
        raise NotImplementedError

    def predict(
        self, corrected: Floats, scale: Scale, uncertainty: Floats | None = None, features: Features = None
    ) -> Calibrated:
        """See BaseRowMap."""
        del uncertainty, features
        probability = self.probability(corrected, scale)
        if self.has_interval:
            return CalibratedWithin(probability=probability, interval=self.interval(corrected))
        return Calibrated(probability=probability)

    def tables(self, undersampled: float) -> list[Table]:
        """Tabulate its formula."""
        del undersampled
        return [formula_table(self.formula())]


class BaseClassMap(BaseMap, frozen=True, kw_only=True, tag_field="map"):
    """Map from class probabilities to calibrated class probabilities."""

    def exported(
        self, probability: Sequence[Expression], weights: Sequence[float], named: NamedValues
    ) -> Sequence[Expression]:
        """Return the probability of each class as an expression, times its weight, divided by their sum.

        What several of them use is added to the named values.
        """
        raise NotImplementedError

    @property
    def terms(self) -> tuple[float, float]:
        """See BaseRowMap."""
        return 0.0, 0.0

    def contradicts(self, classes: int, method: CalibrationMethod) -> bool:
        """Whether the map is for another number of classes, or of another method."""
        del classes, method
        return False

    def tables_of(self, classes: Sequence[str]) -> list[Table]:
        """Tabulate the map by class name."""
        raise NotImplementedError

    def intervals(self, probability: Matrix) -> Interval:
        """Compute the interval of each class, for maps that have them."""
        raise NotImplementedError

    def exported_intervals(
        self, probability: Sequence[Expression], weights: Sequence[float] | None, named: NamedValues
    ) -> Sequence[tuple[Expression, Expression]]:
        """Return the ends of the interval of each class as expressions, for maps that have them.

        The classes may have weights in target data. What several of them use is added to the named values.
        """
        raise NotImplementedError

    def probabilities(self, probability: Matrix) -> Matrix:
        """Compute the calibrated probabilities of shape (n, C), each row summing to 1."""
        raise NotImplementedError


def formula_table(formula: str) -> Table:
    """Tabulate a map that is a single formula."""
    return Table(title="Map", header=("formula",), rows=[(formula,)])


def ends_of_bins(edges: Sequence[float]) -> list[tuple[str, str]]:
    """Format the lower and the upper end of each bin."""
    return list(pairwise(["-", *map(number, edges), "-"]))


_MAX_MAGNITUDE = 1e100
"""Magnitude beyond which computations with coefficients could overflow."""


def first(sentences: Iterable[str]) -> str:
    """Return the first contradiction; empty if there is none."""
    return next(filter(None, sentences), "")


def finite(numbers: Sequence[float]) -> bool:
    """Whether all numbers are finite and cannot overflow."""
    return all(abs(number) < _MAX_MAGNITUDE for number in numbers)


def not_ascending(numbers: Sequence[float], name: str) -> str:
    """Return the contradiction if numbers are not finite and ascending; else empty."""
    fine = all(map(math.isfinite, numbers)) and list(numbers) == sorted(numbers)
    return "" if fine else f"its {name} are not finite and ascending"


def not_probabilities(numbers: Sequence[float]) -> str:
    """Return the contradiction if numbers are not probabilities; else empty."""
    return "" if all(0 <= number <= 1 for number in numbers) else "a rate is no probability"
