"""Expected results of a boundary on new data, by a bootstrap of its grid.

The precision on the calibration set is optimistic. For smoothed rates and single thresholds, the bootstrap
estimates the optimism: a resampled boundary does better on its own sample than on all rows (Harrell). For the
exact optimum, rows outside the sample are used: for the precision by the .632 estimate (Efron 1983), for the
recall alone. The results are then put in words.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Hashable, Iterable, Iterator, Mapping, Sequence
from dataclasses import replace
from functools import cached_property, partial
from statistics import NormalDist
from typing import Final

import numpy as np

from uqcli.base.choices import Algorithm
from uqcli.base.counts import Cells, Floats, Ints
from uqcli.base.records import dataclass
from uqcli.base.wording import percent, percent_and_range
from uqcli.boundary.search.algorithms import ALGORITHMS
from uqcli.boundary.search.constraint import Constraint
from uqcli.boundary.search.cross_validation import resampled
from uqcli.boundary.search.goals import Tops
from uqcli.boundary.search.smoothing import Layout, NestedBoundaries, nested_of_draws
from uqcli.estimates.confusion import Confusion, Rate
from uqcli.estimates.estimate import Estimate
from uqcli.estimates.proportion import wilson
from uqcli.shift.rule import BinaryWeights

DRAWS: Final = 50
_MAX_INFEASIBLE: Final = 10
MAX_CELLS: Final = 100_000
"""Cells beyond which samples take too long."""

_MAX_KEPT: Final = 20_000
_AGREEMENT: Final = 0.2
"""Part of half a range by which expectations of one rule may differ from target to target."""

_Z: Final = 1.645
"""Normal quantile of 90 % ranges."""

_CHOICES_PER_OCTAVE: Final = 2
"""Boundaries whose rates hardly depend on each other, from one number of alerts to twice as many."""

_NOISE_OF_VARIANCE: Final = 1.3
"""A variance over 50 samples exceeds the true one by this factor in about one of ten cases."""

_OUT_OF_BAG_WEIGHTS: Final = np.array([0.632, 1.0])
"""Weights of the rows outside the samples, for precision and recall.

The recall by the first weight was up to five points too high where positives are rare.
"""

OPTIMISM_CORRECTED: Final = frozenset({Algorithm.SMOOTH, Algorithm.ST})
"""Algorithms whose expected recall has a range."""


@dataclass(frozen=True, kw_only=True)
class Expected:
    """Expected precision and recall on new data, with 90 % ranges."""

    precision: Estimate
    recall: Estimate

    @property
    def by_rate(self) -> dict[Rate, Estimate]:
        """By the rates that a constraint may bound."""
        return {Rate.PRECISION: self.precision, Rate.RECALL: self.recall}


@dataclass(frozen=True, kw_only=True, eq=False)
class BootstrapSamples:
    """Bootstrap samples of a grid, with what does not depend on a constraint.

    ``drawn`` has the rows and positive rows of each sample, and ``left_out`` those outside it; int64, shape
    (2, DRAWS, cells).
    """

    cells: Cells
    drawn: Ints
    left_out: Ints

    @classmethod
    def from_cells(cls, cells: Cells, seed: int) -> BootstrapSamples:
        """Draw the samples."""
        drawn, left_out = resampled(cells, seed, DRAWS)
        return cls(cells=cells, drawn=drawn, left_out=left_out)

    @cached_property
    def is_small(self) -> bool:
        """Whether the samples may be kept for other constraints."""
        return len(self.cells.flat[0]) <= _MAX_KEPT

    @property
    def nested(self) -> Iterable[NestedBoundaries]:
        """Nested boundaries of each sample."""
        return self._nested if self.is_small else nested_of_draws(Layout.from_cells(self.cells), *self.drawn)

    @cached_property
    def _nested(self) -> tuple[NestedBoundaries, ...]:
        return tuple(nested_of_draws(Layout.from_cells(self.cells), *self.drawn))


def expected(
    cells: Cells,
    algorithm: Algorithm,
    constraint: Constraint,
    seed: int,
    samples: BootstrapSamples | None = None,
) -> Expected | None:
    """Estimate the results of an algorithm's boundary on new data, from samples if they have been drawn.

    None if there is no boundary, too many samples have none, or the grid has over 100,000 cells.
    """
    tops = None if is_large(cells) else ALGORITHMS[algorithm].method(cells, constraint.goal(cells))
    if tops is None:
        return None
    samples = samples or BootstrapSamples.from_cells(cells, seed)
    draws = partial(_tops_of_draws, samples, algorithm, constraint)
    return expected_of(samples, tops, draws, algorithm)


def expected_of(
    drawn: BootstrapSamples,
    tops: Tops,
    tops_of_draws: Callable[[Ints], Iterator[Tops | None]],
    algorithm: Algorithm,
) -> Expected | None:
    """Estimate the results of a boundary, its top cells, on new data (see ``expected``).

    ``tops_of_draws`` is a function from bootstrap samples, int64 of shape (2, draws, cells), to the boundary
    of each.
    """
    cells, samples, rests = drawn.cells, drawn.drawn, drawn.left_out
    count, positives = cells.flat
    feasible = [
        (draw, _selected_cells(cells, boundary))
        for draw, boundary in enumerate(tops_of_draws(samples))
        if boundary is not None
    ]
    if not enough_draws(len(feasible)):
        return None
    selected_cells = _selected_cells(cells, tops)
    apparent = _selection_counts([selected_cells], count[None], positives[None])
    draws = [draw for draw, _ in feasible]
    indices = [sample_cells for _, sample_cells in feasible]
    in_draws = _selection_counts(indices, *samples[:, draws])
    if algorithm in OPTIMISM_CORRECTED:
        on_all = _selection_counts(
            indices, *(np.broadcast_to(counts, (len(draws), len(counts))) for counts in (count, positives))
        )
        return by_optimism(apparent, in_draws, on_all)
    outside = _selection_counts(indices, *rests[:, draws])
    pooled = [int(counts.sum()) for counts in (outside.true_positives, outside.selected, outside.positives)]
    if not pooled[1] or not pooled[2]:
        return None
    out_of_bag = np.array([pooled[0] / pooled[1], pooled[0] / pooled[2]])
    on_set = _rates(apparent)[:, 0]
    rates = np.minimum(on_set, (1 - _OUT_OF_BAG_WEIGHTS) * on_set + _OUT_OF_BAG_WEIGHTS * out_of_bag)
    precision, recall = np.clip(rates, 0.0, 1.0).tolist()
    # ranges of the recall of an exact optimum covered 67 to 95 % at any size
    selected = int(apparent.selected[0])
    return Expected(
        precision=_with_range(precision, selected, _z_of_choices(in_draws)), recall=Estimate(value=recall)
    )


def moved(estimate: Estimate, centre: float, trials: int) -> Estimate:
    """Move the range of a rate of ``trials`` rows to another centre, on the logit scale."""
    nearest = 0.5 / max(trials, 1)
    rate = estimate.value
    if rate is None or not estimate.ends:
        return replace(estimate, value=centre)
    shift = _logit(centre, nearest) - _logit(rate, nearest)
    low, high = (
        end if end in (0.0, 1.0) else 1 / (1 + math.exp(-_logit(end, 0.0) - shift)) for end in estimate.ends
    )
    return replace(estimate, value=centre, low=min(low, centre), high=max(high, centre))


def _logit(rate: float, nearest: float) -> float:
    """Compute the logit of a rate that is at least ``nearest`` from 0 and 1."""
    inside = min(max(rate, nearest), 1 - nearest)
    return math.log(inside / (1 - inside))


def is_large(cells: Cells) -> bool:
    """Whether a grid has too many cells to estimate anything."""
    return cells.size > MAX_CELLS


def enough_draws(feasible: int) -> bool:
    """Whether enough samples have a boundary for an estimate."""
    return feasible >= DRAWS - _MAX_INFEASIBLE


def by_optimism(apparent: Confusion[Ints], in_draws: Confusion[Ints], on_all: Confusion[Ints]) -> Expected:
    """Subtract the mean optimism of the samples' boundaries from the rates of the boundary, shape (1,).

    ``in_draws`` and ``on_all`` count the boundary of each sample on the sample and on the calibration set;
    shape (m,). The ranges are given for any number of alerts, since calibration sets with more alerts than
    usual are the lucky ones. The lower ends allow for the best of several boundaries (see
    ``_z_of_choices``), the upper end of the recall for no optimism at all: where scores have few values, a
    boundary that flags one value more than the samples' has none.
    """
    optimism = _rates(in_draws) - _rates(on_all)
    subtracted = np.maximum(0.0, optimism.mean(axis=1))
    # with few rows the optimism may exceed the rate
    on_set = _rates(apparent)[:, 0]
    precision, recall = np.clip(on_set - subtracted, 0.0, 1.0).tolist()
    selected, positives, z = int(apparent.selected[0]), int(apparent.positives[0]), _z_of_choices(in_draws)
    trials = _trials_as_variable(recall, positives, float(optimism[1].var(ddof=1)), float(subtracted[1]))
    highest = max(wilson(recall, trials, _Z)[1], wilson(float(on_set[1]), positives, _Z)[1])
    return Expected(
        precision=_with_range(precision, selected, z),
        recall=Estimate(value=recall, low=wilson(recall, trials, z)[0], high=highest),
    )


def _rates(selections: Confusion[Ints]) -> Floats:
    """Return the precision and the recall of m selections; shape (2, m)."""
    hits = selections.true_positives
    return np.stack([hits / selections.selected, hits / selections.positives])


def _trials_as_variable(share: float, trials: int, variance: float, subtracted: float) -> float:
    """Return the number of trials whose rate varies as an optimism does, at most those of a fixed boundary.

    Where many boundaries nearly meet the constraint, the samples choose quite different ones. Their rates
    then vary more than that of a fixed boundary. ``variance`` is that of the optimism over the samples, and
    ``subtracted`` how much of it was subtracted.
    """
    smoothed = (share * trials + 1) / (trials + 2)  # a rate of 0 or 1 varies, too
    fixed = smoothed * (1 - smoothed) / trials
    return trials * fixed / (max(fixed, variance / _NOISE_OF_VARIANCE) + subtracted**2)


def _z_of_choices(in_draws: Confusion[Ints]) -> float:
    """Return the normal quantile of a lower end that allows for the choice of the samples' boundaries.

    Where precision hardly falls from a few alerts to many, a calibration set flags as many rows as its luck
    allows, and the numbers of its samples differ widely. The middle 80 % of them tell among how many
    boundaries one was chosen; the level is divided by it (Bonferroni).
    """
    fewest, most = np.quantile(np.log2(in_draws.selected), (0.1, 0.9))
    choices = 1 + _CHOICES_PER_OCTAVE * float(most - fewest)
    return -NormalDist().inv_cdf(NormalDist().cdf(-_Z) / choices)


def _tops_of_draws(
    drawn: BootstrapSamples, algorithm: Algorithm, constraint: Constraint, samples: Ints
) -> Iterator[Tops | None]:
    cells = drawn.cells
    grids = (cells.with_counts(*counts) for counts in samples.swapaxes(0, 1))
    if algorithm is Algorithm.SMOOTH:
        for nested, sample in zip(drawn.nested, grids, strict=True):
            yield nested.best_for(constraint.goal(sample), sample)
        return
    method: Callable[..., Tops | None] = ALGORITHMS[algorithm].method
    for sample in grids:
        yield method(sample, constraint.goal(sample)) if sample.positives else None


def _selected_cells(cells: Cells, tops: Tops) -> Ints:
    """Return the indices of the selected cells, by uncertainty bin."""
    row_ends = np.cumsum([len(row.count) for row in cells.rows])
    return np.concatenate(
        [np.arange(row_end - top, row_end) for row_end, top in zip(row_ends, tops, strict=True)]
    )


def _selection_counts(indices: list[Ints], count: Ints, positives: Ints) -> Confusion[Ints]:
    """Return the counts of each selection in its own table."""
    tables = list(zip(indices, positives, count, strict=True))
    return Confusion(
        rows=count.sum(axis=1),
        positives=positives.sum(axis=1),
        selected=np.array([n[inside].sum() for inside, _, n in tables]),
        true_positives=np.array([p[inside].sum() for inside, p, _ in tables]),
    )


def _with_range(share: float, trials: float, z_below: float = _Z) -> Estimate:
    return Estimate(value=share, low=wilson(share, trials, z_below)[0], high=wilson(share, trials, _Z)[1])


def expected_metrics(
    expected: Expected | None, class_weights: BinaryWeights | None = None
) -> Mapping[str, Estimate | None]:
    """Return the expected precision and recall, under class weights if given.

    None if not estimated, or if the class weights are refuted.
    """
    if not expected or (class_weights and class_weights.refuted):
        return {"precision": None, "recall": None}
    precision = expected.precision
    if class_weights:
        ends = (precision.value, precision.low, precision.high)
        value, low, high = (class_weights.precision(end) for end in ends)
        precision = Estimate(value=value, low=low, high=high)
    return {"precision": precision, "recall": expected.recall}


def agreed(expected: Sequence[Expected | None], rules: Sequence[Hashable]) -> list[Expected | None]:
    """Let equal rules of several targets expect the same, if they differ by more than their ranges allow.

    The optimism is that of the search for a target, so that one rule, found for several targets, has an
    expectation for each. If they differ by more than a fifth of half the widest range, this one stands for
    all.
    """
    shown = list(expected)
    for rule in dict.fromkeys(rules):
        pairs = enumerate(zip(rules, expected, strict=True))
        alike = {place: own for place, (other, own) in pairs if other == rule and own}
        for place, own in alike.items():
            shown[place] = Expected(
                precision=_widest(own.precision, [other.precision for other in alike.values()]),
                recall=_widest(own.recall, [other.recall for other in alike.values()]),
            )
    return shown


def _widest(own: Estimate, estimates: Sequence[Estimate]) -> Estimate:
    """Return the estimate with the widest range in place of its own, if values differ too much."""
    values = [estimate.value for estimate in estimates if estimate.value is not None]
    widest = max(estimates, key=_width)
    if len(values) < 2 or max(values) - min(values) <= _AGREEMENT * _width(widest) / 2:
        return own
    return widest


def _width(estimate: Estimate) -> float:
    low, high = estimate.ends or (0.0, 0.0)
    return high - low


def expectation(expected: Mapping[str, Estimate | None], where: str = "new data", between: str = "") -> str:
    """State what to expect of precision and recall, each with its range if it has one.

    ``between`` names the clusters or days whose differences the ranges allow for; empty if rows are
    independent.

    Examples
    --------
    >>> precision = Estimate(value=0.699, low=0.684, high=0.713)
    >>> expectation({"precision": precision, "recall": Estimate(value=0.5)})
    'On new data expect precision 70 % (90 % range 68 to 71 %) and recall 50 %.'
    """
    parts: list[str] = []
    for name, estimate in expected.items():
        if not estimate or estimate.value is None:
            continue
        stated = "" if parts else "90 % range "
        text = percent_and_range(estimate.value, estimate.low, estimate.high, stated)
        if between and not parts and text.endswith(")"):
            text = f"{text[:-1]}, allowing for differences between {between})"
        parts.append(f"{name} {text}")
    return f"On {where} expect {' and '.join(parts)}." if parts else ""


def expected_cells(expected: Expected | None) -> tuple[str, str]:
    """Format the expected recall and precision for a table."""
    if not expected:
        return "", ""
    return percent(expected.recall.value), percent(expected.precision.value)
