"""Some rows as narrow columns, grouped by label and uncertainty bin: counts do not look at their order."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from itertools import pairwise

import numpy as np

from uqcli.counts import Ints, narrow_bins, places_by_bin
from uqcli.engines.local.count.keys import Keys, keys_of, widened
from uqcli.rows import Rows


@dataclass(frozen=True, kw_only=True)
class Part:
    """Some rows: the negative ones bin by bin, then the positive ones bin by bin.

    Attributes
    ----------
    keys
        By role, each of shape (n,).
    cuts : int64, shape (2K+1,)
        Where the groups begin, and n.
    weight : int64, shape (n,), or None for 1 each
        Above 0.
    """

    keys: Mapping[str, Keys]
    cuts: Ints
    weight: Ints | None

    @cached_property
    def bins(self) -> int:
        """How many bins there are."""
        return len(self.cuts) // 2

    @property
    def rows(self) -> int:
        """How many there are."""
        return int(self.cuts[-1])

    @property
    def negatives(self) -> int:
        """How many of them are negative."""
        return int(self.cuts[self.bins])

    @property
    def bytes(self) -> int:
        """Memory that the columns take."""
        weight = 0 if self.weight is None else self.weight.nbytes
        return weight + sum(each.nbytes for each in self.keys.values())

    def groups(self) -> Iterator[tuple[slice, slice]]:
        """The negative and the positive rows of each bin."""
        slices = [slice(*each) for each in pairwise(self.cuts.tolist())]
        return zip(slices[: self.bins], slices[self.bins :], strict=True)

    def only(self, places: Ints) -> Part:
        """Some of the rows, by ascending places."""
        return Part(
            keys={role: each[places] for role, each in self.keys.items()},
            cuts=np.searchsorted(places, self.cuts),
            weight=None if self.weight is None else self.weight[places],
        )

    def undivided(self) -> Part:
        """The same in one bin."""
        return Part(keys=self.keys, cuts=self.cuts[[0, self.bins, -1]], weight=self.weight)


def part_of(rows: Rows, roles: Sequence[str]) -> Part:
    """The rows that weigh something."""
    positive = np.zeros(len(rows), dtype=np.bool_) if rows.positive is None else rows.positive
    negative, weight = ~positive, rows.weight
    if weight is not None:
        there = weight > 0
        negative &= there
        positive = positive & there
    sides = np.flatnonzero(negative), np.flatnonzero(positive)
    order = np.concatenate(sides)
    return Part(
        keys={role: keys_of(rows.numbers[role][order]) for role in roles},
        cuts=np.array([0, len(sides[0]), len(order)]),
        weight=None if weight is None else weight[order],
    )


def joined(parts: Sequence[Part]) -> Part:
    """One undivided part of several, however wide their keys."""
    if len(parts) == 1:
        return parts[0]
    sides = [[(part, group[side]) for part in parts for group in part.groups()] for side in (0, 1)]
    order = [*sides[0], *sides[1]]
    keys = {}
    for role in parts[0].keys:
        same = len({each.keys[role].dtype for each in parts}) == 1
        keys[role] = np.concatenate(
            [part.keys[role][cut] if same else widened(part.keys[role][cut]) for part, cut in order]
        )
    weights = [part.weight[cut] for part, cut in order if part.weight is not None]
    negatives = sum(each.negatives for each in parts)
    return Part(
        keys=keys,
        cuts=np.array([0, negatives, sum(each.rows for each in parts)]),
        weight=np.concatenate(weights) if weights else None,
    )


def divided(part: Part, edges: Keys, *, keep: bool) -> Part:
    """The rows of an undivided part by uncertainty bin, in the memory they are in.

    Parameters
    ----------
    edges
        Least keys of the bins but the first.
    keep
        Whether the uncertainty is still needed afterwards.
    """
    bins, uncertainty = len(edges) + 1, part.keys["uncertainty"]
    number = narrow_bins(uncertainty, edges)
    places, cuts = [], [0]
    for start, stop in pairwise(part.cuts.tolist()):
        for each in places_by_bin(number[start:stop], bins):
            places.append(start + each)
            cuts.append(cuts[-1] + len(each))
    order = np.concatenate(places)
    keys = {role: each for role, each in part.keys.items() if keep or role != "uncertainty"}
    for column in (*keys.values(), *([] if part.weight is None else [part.weight])):
        column[:] = column[order]
    return Part(keys=keys, cuts=np.array(cuts), weight=part.weight)
