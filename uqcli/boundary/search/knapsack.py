"""Exact solver of the multiple-choice knapsack of VW-DPMT.

Each class (uncertainty bin) has options with a value (true positives) and a surplus. One option per class is
chosen such that the total value is maximal among those whose total surplus is non-negative or, with several
bounds, among those that are within all of them. A bound is linear in total value and surplus, and higher
values of either are at least as good. The problem is NP-hard in general, but the linear relaxation is nearly
tight here. It leaves few options per class, which are combined as Pareto lists.

1. Within a class, options dominated in value and surplus are dropped.
2. A multiplier on the surplus bounds the optimum from above (Lagrangian relaxation). The bound is an
integer computation, exact for any multiplier; rounding only affects its tightness. Of several bounds, the one
with the lowest relaxation is used: where the most surplus at a value is concave in it, that is the relaxation
of all of them.
3. For a target value just below the bound, an option survives only if the bound with this option
forced reaches the target. Survivors are combined class by class, from the last one. A partial choice survives
only if its own bound reaches the target and it is not dominated in value and surplus. If nothing reaches the
target, it is lowered, with doubling steps. A result at or above the target is optimal, because no better
choice was ever dropped.
4. Every part of a best choice is itself undominated. The lowest options are therefore found from the first
class on: each is the lowest after which the later classes still attain what remains.

If values and options are few, a table of the highest surplus at each value takes less time.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from itertools import pairwise
from typing import Final

import numpy as np

from uqcli.base.counts import Floats, Ints
from uqcli.base.records import dataclass
from uqcli.kernels.compile import kernel_beside
from uqcli.kernels.knapsack import choose_by_table

_SAFE_BITS = 61
_BLOCK_SIZE = 1 << 20
_TABLE_STEPS = 1 << 18
"""Steps of the table, at most; they take a fifth of a millisecond."""

_STEPS = 2_000
"""Steps of a loop that take as long as array functions for a table of any of these sizes."""

Bound = tuple[int, int, int]
"""A choice is within the bound (a, b, c) iff ``a * value + b * surplus + c`` is non-negative."""

OWN: Final[Bound] = (0, 1, 0)
"""The surplus is non-negative."""


@dataclass(frozen=True, kw_only=True)
class _Options:
    """Undominated options of one class, or choices for several classes; int64, shape (m,)."""

    value: Ints
    surplus: Ints


@dataclass(frozen=True, kw_only=True)
class _Relaxation:
    """Lagrangian relaxation: the surplus of the bound with index ``priced`` has a price.

    The weight of an option is ``scale*value + price*surplus``, an exact integer; ``weight`` and ``best`` are
    those of the options in each class, and the maximum of each class. ``bound`` is an upper bound on
    ``scale*value`` of feasible choices.
    """

    scale: int
    price: int
    bound: int
    weight: tuple[Ints, ...]
    best: tuple[int, ...]
    priced: int


def solve(
    value: Ints, surplus: Ints, sizes: Sequence[int], bounds: Sequence[Sequence[Bound]] | None = None
) -> list[tuple[int, ...]]:
    """Choose one option per class, in each of several problems of the same values.

    Return the option index in each class: highest total value, then highest total surplus, then
    lexicographically lowest indices; (0, ..., 0) if nothing of value is feasible. Total value and surplus
    must be below 2**61.

    Parameters
    ----------
    value : int64, shape (options,)
        Values of all classes, class by class; non-decreasing in a class, and 0 for its first option.
    surplus : int64, shape (problems, options)
        Surplus in each problem; non-increasing among options of equal value in a class.
    sizes
        Number of options of each class.
    bounds
        Bounds of each problem; None if the surplus must be non-negative in all.
    """
    size_of_class = np.array(sizes)
    chosen = np.zeros((len(surplus), len(sizes)), dtype=np.int64)
    given = [[OWN]] * len(surplus) if bounds is None else bounds
    bounds_of = np.zeros((len(surplus), max(map(len, given)), 3), dtype=np.int64)
    for problem, own in enumerate(given):
        bounds_of[problem, : len(own)] = own
    highest = int(value[np.cumsum(size_of_class) - 1].sum())
    if (highest + 1) * len(value) <= _TABLE_STEPS:
        table = np.empty((len(sizes) + 1) * (highest + 1), dtype=np.int64)
        _choose.run(len(surplus) * _STEPS, value, surplus, size_of_class, bounds_of, table, chosen)
    else:
        _choose_by_bounds(value, surplus, size_of_class, bounds_of, size_of_class, chosen)
    return [tuple(tops) for tops in chosen.tolist()]


def _choose_by_bounds(  # noqa: PLR0917  the arguments of the kernel
    value: Ints, surplus: Ints, sizes: Ints, bounds: Ints, table: Ints, chosen: Ints
) -> None:
    """Do the same as ``choose_by_table``, without a table."""
    del table
    slices = [slice(*ends) for ends in pairwise([0, *np.cumsum(sizes).tolist()])]
    for surplus_of_options, own, chosen_options in zip(surplus, bounds.tolist(), chosen, strict=True):
        classes = [(value[part], surplus_of_options[part]) for part in slices]
        chosen_options[:] = _best(classes, [(a, b, c) for a, b, c in own if b])


def _best(classes: Sequence[tuple[Ints, Ints]], bounds: Sequence[Bound]) -> list[int]:
    """Choose one option per class, given their values and surpluses."""
    undominated = [_undominated(*options) for options in classes]
    reduced = [
        _Options(value=value[keep], surplus=surplus[keep])
        for (value, surplus), keep in zip(classes, undominated, strict=True)
    ]
    within = [_under(bound, reduced) for bound in bounds]
    relaxations = [
        _relax(options, priced, is_reduced=bound == OWN)
        for priced, (bound, options) in enumerate(zip(bounds, within, strict=True))
    ]
    relaxation = min(relaxations, key=lambda relaxed: relaxed.bound // relaxed.scale)
    ceiling = relaxation.bound // relaxation.scale
    gap = ceiling >> 14  # typical difference between bound and optimum on grids
    while not (reached := _reaching(reduced, bounds, within, relaxation, max(ceiling - gap, 0))):
        gap = 2 * gap + 1
    total, left, chosen = int(reached[0].value[0]), int(reached[0].surplus[0]), []
    for options, later, keep in zip(reduced, reached[1:], undominated, strict=True):
        values, surpluses = total - options.value, left - options.surplus
        place = np.minimum(np.searchsorted(-later.value, -values), len(later.value) - 1)
        option = int(np.argmax((later.value[place] == values) & (later.surplus[place] == surpluses)))
        total, left = int(values[option]), int(surpluses[option])
        chosen.append(int(keep[option]))
    return chosen


_choose = kernel_beside(_choose_by_bounds)(choose_by_table)


def _undominated(value: Ints, surplus: Ints) -> Ints:
    leads = np.ones(len(value), dtype=np.bool_)
    leads[1:] = value[1:] > value[:-1]
    index = np.flatnonzero(leads)
    surplus = surplus[index]
    later = np.full(len(index), np.iinfo(np.int64).min)
    later[:-1] = np.maximum.accumulate(surplus[::-1])[::-1][1:]
    return index[surplus > later]


def _reduced(options: _Options) -> _Options:
    keep = _undominated(options.value, options.surplus)
    return _Options(value=options.value[keep], surplus=options.surplus[keep])


def _under(bound: Bound, classes: Sequence[_Options]) -> list[_Options]:
    """Return options with what each adds to the surplus of a bound; the first class adds its allowance."""
    if bound == OWN:
        return list(classes)
    allowances = [bound[2], *[0] * (len(classes) - 1)]
    return [
        replace(options, surplus=_surplus(bound, options.value, options.surplus) + allowance)
        for options, allowance in zip(classes, allowances, strict=True)
    ]


def _surplus(bound: Bound, value: Ints, surplus: Ints) -> Ints:
    """Return the surplus of a bound, without its allowance."""
    return surplus if bound == OWN else bound[0] * value + bound[1] * surplus


def _relax(classes: Sequence[_Options], priced: int, *, is_reduced: bool) -> _Relaxation:
    """Price the surplus near the multiplier of the tightest bound."""
    multiplier = _tightest_multiplier(classes if is_reduced else list(map(_reduced, classes)))
    values = sum(int(options.value[-1]) for options in classes)
    surpluses = sum(int(np.abs(options.surplus).max()) for options in classes)
    bits = _SAFE_BITS - max(values.bit_length(), 1)
    if multiplier > 0 and surpluses > 0:
        price_bits = _SAFE_BITS - surpluses.bit_length()
        bits = min(bits, int(np.floor(price_bits - np.log2(multiplier))))
    scale = 1 << min(max(bits, 0), 52)
    price = round(multiplier * scale)
    weight = tuple(scale * options.value + price * options.surplus for options in classes)
    best = tuple(int(weights.max()) for weights in weight)
    return _Relaxation(scale=scale, price=price, bound=sum(best), weight=weight, best=best, priced=priced)


def _tightest_multiplier(classes: Sequence[_Options]) -> float:
    """Minimise the Lagrangian bound over the price of surplus.

    The bound is convex and piecewise linear in the price. The next price is where the lines of an infeasible
    and a feasible price intersect. If that point lies on the bound it is the minimum. A class's best option
    can only lie between its best options at the two prices.
    """
    value = [options.value.astype(np.float64) for options in classes]
    surplus = [options.surplus.astype(np.float64) for options in classes]
    low_indices = [len(options.value) - 1 for options in classes]  # price 0: maximum value, minimum surplus
    high_indices = [0] * len(classes)  # infinite price: only surplus counts
    price = 0.0
    for _ in range(200):
        low_value, low_surplus = _total(value, surplus, low_indices)
        if low_surplus >= 0:
            break
        high_value, high_surplus = _total(value, surplus, high_indices)
        price = (low_value - high_value) / (high_surplus - low_surplus)
        indices = [
            high + int(np.argmax(v[high : low + 1] + price * w[high : low + 1]))
            for v, w, high, low in zip(value, surplus, high_indices, low_indices, strict=True)
        ]
        here_value, here_surplus = _total(value, surplus, indices)
        chord = low_value + price * low_surplus
        if here_value + price * here_surplus <= chord + 1e-12 * abs(chord) or indices in (
            low_indices,
            high_indices,
        ):
            break
        if here_surplus >= 0:
            high_indices = indices
        else:
            low_indices = indices
    return price


def _total(value: list[Floats], surplus: list[Floats], indices: list[int]) -> tuple[float, float]:
    return (
        sum(float(v[i]) for v, i in zip(value, indices, strict=True)),
        sum(float(w[i]) for w, i in zip(surplus, indices, strict=True)),
    )


def _reaching(
    classes: Sequence[_Options],
    bounds: Sequence[Bound],
    within: Sequence[Sequence[_Options]],
    relaxation: _Relaxation,
    target: int,
) -> list[_Options]:
    """Find the undominated choices of the classes from each one on that may reach a total value.

    ``within`` are the classes with the surplus of each bound. Return the choices for each class, then without
    any; empty if no choice reaches the target.
    """
    target_weight = target * relaxation.scale
    none = np.zeros(1, dtype=np.int64)
    lists = [_Options(value=none, surplus=none)]
    to_come = relaxation.bound
    highest = [[int(options.surplus.max()) for options in by_class] for by_class in within]
    items = list(zip(classes, relaxation.weight, relaxation.best, strict=True))
    for index, (options, weight, best) in reversed(list(enumerate(items))):
        alive = np.flatnonzero(weight + (relaxation.bound - best) >= target_weight)
        to_come -= best
        least = [
            -sum(surplus[:index]) - (0 if index else allowance)
            for surplus, (*_, allowance) in zip(highest, bounds, strict=True)
        ]
        few = _Options(value=options.value[alive], surplus=options.surplus[alive])
        least_weight = target_weight - to_come
        if not index:  # the allowance is no part of the sums that are compared
            least_weight -= relaxation.price * bounds[relaxation.priced][2]
        extended = _extend(
            lists[-1], few, relaxation, bounds=bounds, least_weight=least_weight, least_surplus=least
        )
        if len(extended.value) == 0:
            return []
        lists.append(extended)
    return lists[::-1] if int(lists[-1].value[0]) >= target else []


def _extend(
    later: _Options,
    options: _Options,
    relaxation: _Relaxation,
    *,
    bounds: Sequence[Bound],
    least_weight: int,
    least_surplus: Sequence[int],
) -> _Options:
    """Extend every choice by each option of a class; keep those that can reach the target, undominated."""
    value = surplus = np.empty(0, dtype=np.int64)
    block = max(1, _BLOCK_SIZE // max(len(options.value), 1))
    for start in range(0, len(later.value), block):
        block_value = np.add.outer(later.value[start : start + block], options.value).ravel()
        block_surplus = np.add.outer(later.surplus[start : start + block], options.surplus).ravel()
        of_bounds = [_surplus(bound, block_value, block_surplus) for bound in bounds]
        weight = relaxation.scale * block_value + relaxation.price * of_bounds[relaxation.priced]
        keep = weight >= least_weight
        for of_bound, least in zip(of_bounds, least_surplus, strict=True):
            keep &= of_bound >= least
        value, surplus = np.append(value, block_value[keep]), np.append(surplus, block_surplus[keep])
        order = np.lexsort((-surplus, -value))
        value, surplus = value[order], surplus[order]
        best_before = np.full(len(order), np.iinfo(np.int64).min)
        best_before[1:] = np.maximum.accumulate(surplus)[:-1]
        value, surplus = value[surplus > best_before], surplus[surplus > best_before]
    return _Options(value=value, surplus=surplus)
