"""Exact solver of the multiple-choice knapsack of VW-DPMT.

Each class (uncertainty bin) has options with a value (true positives) and a surplus. One option per class is
chosen such that the total surplus is non-negative and the total value is maximal. The problem is NP-hard in
general, but the linear relaxation is nearly tight here. It leaves few options per class, which are combined
as Pareto lists.

1. Within a class, options dominated in value and surplus are dropped.
2. A multiplier on the surplus bounds the optimum from above (Lagrangian relaxation). The bound is an
integer computation, exact for any multiplier; rounding only affects its tightness.
3. For a target value just below the bound, an option survives only if the bound with this option
forced reaches the target. Survivors are combined class by class. A partial choice survives only if its
own bound reaches the target and it is not dominated in value and surplus. If nothing reaches the
target, it is lowered, with doubling steps. A result at or above the target is optimal, because no better
choice was ever dropped.
4. If classes share a step (one more true positive for one more row, say), many choices have equal
totals. If an earlier class can take the step down and a later one up, doing both gives a
lexicographically lower choice. The best choice therefore never allows it: once a class stands above a
step, no later class may stand below one.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from uqcli.base.counts import Bools, Floats, Ints
from uqcli.base.records import dataclass

_SAFE_BITS = 61
_BLOCK_SIZE = 1 << 20
_SAMPLE_SIZE = 20_000
_HASH_MULTIPLIER = 0x9E3779B97F4A7C15 - (1 << 64)
"""An odd number, for hashing with wrap-around."""


@dataclass(frozen=True, kw_only=True)
class Options:
    """Options of one class.

    Attributes
    ----------
    value, surplus : int64, shape (m,)
        Value is non-decreasing; among options of equal value the surplus is non-increasing. The first option
        has value 0 and surplus 0 (take nothing).
    """

    value: Ints
    surplus: Ints


@dataclass(frozen=True, kw_only=True)
class _Partial:
    """Undominated choices for the first classes, in descending order of value.

    Attributes
    ----------
    value, surplus : int64, shape (s,)
    rank : int64, shape (s,)
        Lexicographic rank of the choice.
    lowerable : bool, shape (s,)
        Whether some class could take the shared step down.
    parent, option : int64, shape (s,)
        The choice that this one extends, and the option that it adds.
    """

    value: Ints
    surplus: Ints
    rank: Ints
    lowerable: Bools
    parent: Ints
    option: Ints


@dataclass(frozen=True, kw_only=True)
class _Relaxation:
    """Lagrangian relaxation: the surplus has a price.

    Attributes
    ----------
    scale, price
        Weight of an option is ``scale*value + price*surplus``, an exact integer.
    bound
        Upper bound on ``scale*value`` of feasible choices.
    weight, best
        Weights of the options in each class, and the maximum of each class.
    """

    scale: int
    price: int
    bound: int
    weight: tuple[Ints, ...]
    best: tuple[int, ...]


def solve(classes: Sequence[Options]) -> tuple[int, ...]:
    """Choose one option per class.

    Returns
    -------
    tuple of int
        Option index in each class: highest total value, then highest total surplus, then lexicographically
        lowest indices. (0, ..., 0) if nothing of value is feasible.

    Notes
    -----
    Total value and surplus must be below 2**61.
    """
    undominated = [_undominated(options) for options in classes]
    reduced = [
        Options(value=options.value[keep], surplus=options.surplus[keep])
        for options, keep in zip(classes, undominated, strict=True)
    ]
    relaxation = _relax(reduced)
    ceiling = relaxation.bound // relaxation.scale
    gap, step = ceiling >> 14, _shared_step(reduced)  # typical difference between bound and optimum on grids
    while True:
        target = max(ceiling - gap, 0)
        chosen = _best_reaching(reduced, relaxation, target, step)
        if chosen is not None:
            return tuple(int(keep[option]) for keep, option in zip(undominated, chosen, strict=True))
        gap = 2 * gap + 1


def _undominated(options: Options) -> Ints:
    leads = np.ones(len(options.value), dtype=np.bool_)
    leads[1:] = options.value[1:] > options.value[:-1]
    index = np.flatnonzero(leads)
    surplus = options.surplus[index]
    later = np.full(len(index), np.iinfo(np.int64).min)
    later[:-1] = np.maximum.accumulate(surplus[::-1])[::-1][1:]
    return index[surplus > later]


def _relax(classes: Sequence[Options]) -> _Relaxation:
    """Price the surplus near the multiplier of the tightest bound."""
    multiplier = _tightest_multiplier(classes)
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
    return _Relaxation(scale=scale, price=price, bound=sum(best), weight=weight, best=best)


def _tightest_multiplier(classes: Sequence[Options]) -> float:
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


def _best_reaching(
    classes: Sequence[Options], relaxation: _Relaxation, target: int, step: tuple[int, int]
) -> tuple[int, ...] | None:
    """Find the best choice with at least the target value, or None if there is none."""
    target_weight = target * relaxation.scale
    zero = np.zeros(1, dtype=np.int64)
    partial = _Partial(
        value=zero, surplus=zero, rank=zero, lowerable=zero.astype(np.bool_), parent=zero, option=zero
    )
    levels: list[_Partial] = []
    to_come = relaxation.bound
    surplus_to_come = sum(int(options.surplus[0]) for options in classes)
    for options, weight, best in zip(classes, relaxation.weight, relaxation.best, strict=True):
        alive = np.flatnonzero(weight + (relaxation.bound - best) >= target_weight)
        to_come -= best
        surplus_to_come -= int(options.surplus[0])
        needs = _Needs(
            scale=relaxation.scale,
            price=relaxation.price,
            weight=target_weight - to_come,
            surplus=-surplus_to_come,
        )
        partial = _extend(partial, options, alive, needs, step)
        if len(partial.value) == 0:
            return None
        levels.append(partial)
    best = int(np.lexsort((partial.rank, -partial.surplus, -partial.value))[0])
    return _trace(levels, best) if int(partial.value[best]) >= target else None


def _shared_step(classes: Sequence[Options]) -> tuple[int, int]:
    """Find the most common step between adjacent options, as value and surplus."""
    value = np.concatenate([np.diff(options.value[:_SAMPLE_SIZE]) for options in classes])
    surplus = np.concatenate([np.diff(options.surplus[:_SAMPLE_SIZE]) for options in classes])
    if len(value) == 0:
        return 0, 0
    mixed = value * _HASH_MULTIPLIER + surplus  # hash collisions are harmless, since any step is valid
    _, first, counts = np.unique(mixed, return_index=True, return_counts=True)
    index = int(first[np.argmax(counts)])
    return int(value[index]), int(surplus[index])


@dataclass(frozen=True, kw_only=True)
class _Needs:
    """What a partial choice needs for the target to remain reachable."""

    scale: int
    price: int
    weight: int
    surplus: int


def _extend(
    partial: _Partial, options: Options, alive: Ints, needs: _Needs, step: tuple[int, int]
) -> _Partial:
    """Extend every partial choice by one class; keep those that can reach the target and are undominated."""
    is_step = (np.diff(options.value) == step[0]) & (np.diff(options.surplus) == step[1])
    lowerable, raisable = np.append(False, is_step), np.append(is_step, False)
    parent, option = np.empty(0, dtype=np.int64), np.empty(0, dtype=np.int64)
    for states, allowed in (
        (np.flatnonzero(~partial.lowerable), alive),
        (np.flatnonzero(partial.lowerable), alive[~raisable[alive]]),
    ):
        block = max(1, _BLOCK_SIZE // max(len(allowed), 1))
        for start in range(0, len(states), block):
            block_states = states[start : start + block]
            value = partial.value[block_states, None] + options.value[None, allowed]
            surplus = partial.surplus[block_states, None] + options.surplus[None, allowed]
            weight = needs.scale * value + needs.price * surplus
            row, column = np.nonzero((weight >= needs.weight) & (surplus >= needs.surplus))
            parent, option = np.append(parent, block_states[row]), np.append(option, allowed[column])
            if len(parent) > _BLOCK_SIZE:
                parent, option = _undominated_pairs(partial, options, lowerable, parent, option)
    parent, option = _undominated_pairs(partial, options, lowerable, parent, option)
    rank = np.empty(len(parent), dtype=np.int64)
    rank[np.lexsort((option, partial.rank[parent]))] = np.arange(len(parent))
    return _Partial(
        value=partial.value[parent] + options.value[option],
        surplus=partial.surplus[parent] + options.surplus[option],
        rank=rank,
        lowerable=partial.lowerable[parent] | lowerable[option],
        parent=parent,
        option=option,
    )


def _undominated_pairs(
    partial: _Partial, options: Options, lowerable: Bools, parent: Ints, option: Ints
) -> tuple[Ints, Ints]:
    """Find the undominated extensions, among those that leave later classes equally free."""
    value = partial.value[parent] + options.value[option]
    surplus = partial.surplus[parent] + options.surplus[option]
    is_lowerable = partial.lowerable[parent] | lowerable[option]
    kept = []
    for group in (np.flatnonzero(~is_lowerable), np.flatnonzero(is_lowerable)):
        keep = _pareto(value[group], surplus[group], partial.rank[parent[group]], option[group])
        kept.append(group[keep])
    kept_indices = np.concatenate(kept)
    return parent[kept_indices], option[kept_indices]


def _pareto(value: Ints, surplus: Ints, parent_rank: Ints, option: Ints) -> Ints:
    """Find undominated positions, highest value first; ties go to the lexicographically lowest choice."""
    order = np.lexsort((option, parent_rank, -surplus, -value))
    ordered = surplus[order]
    best_before = np.full(len(order), np.iinfo(np.int64).min)
    best_before[1:] = np.maximum.accumulate(ordered)[:-1]
    return order[ordered > best_before]


def _trace(levels: list[_Partial], index: int) -> tuple[int, ...]:
    """Trace a final choice back to its option in each class."""
    options: list[int] = []
    for level in reversed(levels):
        options.append(int(level.option[index]))
        index = int(level.parent[index])
    return tuple(reversed(options))
