"""Detect whether equal rows and weights are independent rows or copies.

Independent rows with equal numbers have both labels about as often as their neighbours suggest; copies share
one label. A weight of n always means n independent rows. If weights are amounts, sampling weights or copies,
no test, interval or certificate is valid.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from typing import Final

import numpy as np
from numpy.typing import NDArray

from uqcli.base.counts import Floats, Ints, distinct_numbers, distinct_rows, row_starts, run_starts
from uqcli.base.draws import hashes
from uqcli.base.rows import Rows
from uqcli.engines.probabilities import label_indices
from uqcli.kernels.hashing import low_hashes
from uqcli.kernels.units import dense_ranks

MAX_SAMPLED: Final = 1 << 16
"""Maximum distinct values in the sample that weights are tested on."""

_NEIGHBOURS: Final = 50
"""Neighbouring values on each side, whose labels estimate the positive rate at a value."""

_MIN_EXPECTED: Final = 10
_MAX_MIXED_RATIO: Final = 0.25
"""Ratio of observed to expected values with both labels, below which equal rows are copies."""

_PAIRS: Final = 4096
"""Distinct pairs of score and uncertainty in the sample that repeated rows are estimated from."""

_FEW: Final = 2
"""Rows for each pair of the sample that are sorted first."""

MIN_PAIRS: Final = 200
MIN_REPEATED: Final = 0.5
"""Distinct pairs, and share of rows that repeat a pair, above which rows may depend on each other."""

MAX_POOLED: Final = 16
"""Maximum number of inputs that may be several models' scores of the same rows."""

MIN_SHARED: Final = 10
"""Rows that are in several inputs, above which the inputs are taken to overlap."""

MAX_VALUES: Final = 10
"""Maximum number of distinct weights that counts as few."""

_MIN_LABEL_RATIO: Final = 1.5
_MIN_LABEL_ROWS: Final = 30
_MAX_MEAN_WEIGHT: Final = 5
_MIN_SHARED: Final = 0.01
_MAX_OVERLAP: Final = 0.05

_NO_HASHES: Final[NDArray[np.uint64]] = np.empty(0, dtype=np.uint64)
_NO_ROWS: Final[Ints] = np.empty(0, dtype=np.int64)


def are_copies(rows: Rows) -> bool:
    """Whether repeated rows are copies, which splits and folds must keep together.

    Rows are pooled and have labels; with many classes, every second class counts as positive. Weights count
    as repeated rows.
    """
    count, positive = rows.weights(), rows.labels if rows.label_class is None else rows.label_class % 2 == 1
    values = list(rows.numbers.values())
    order, starts = distinct_rows(values)
    size, positives = (
        np.add.reduceat(values[order], starts) for values in (count, np.where(positive, count, 0))
    )
    return labels_suggest_copies(size, positives) is True


def labels_suggest_copies(size: Ints, positives: Ints) -> bool | None:
    """Whether rows with equal numbers are copies; None if too few values are expected to have both labels.

    ``size`` and ``positives`` are the rows and positive rows of each distinct value, ascending; shape (m,).
    """
    share = positives / size
    cumulative = np.concatenate([[0.0], np.cumsum(share)])
    index = np.flatnonzero(size > 1)
    rows, own = size[index], share[index]
    low, high = np.maximum(index - _NEIGHBOURS, 0), np.minimum(index + _NEIGHBOURS + 1, len(size))
    rate = np.clip((cumulative[high] - cumulative[low] - own) / np.maximum(high - low - 1, 1), 0, 1)
    expected = (1 - rate**rows - (1 - rate) ** rows).sum()
    if expected < _MIN_EXPECTED:
        return None
    return bool(np.count_nonzero((positives > 0) & (positives < size)) <= _MAX_MIXED_RATIO * expected)


class WeightSummary:
    """Streaming summary of weights, in bounded memory and independent of row order.

    Attributes
    ----------
    values
        Distinct weights, capped at one more than ``MAX_VALUES``.
    totals_by_label
        Rows and total weight of each label.
    rows_by_weight
        Rows of each label and weight, while there are few distinct weights.
    key, value, size, odd, rows, odd_rows
        Sample of the distinct values with the lowest hashes: hash, first number, weight, weight of rows with
        odd labels, number of rows, number of those with odd labels.
    """

    def __init__(self) -> None:
        self.values: set[int] = set()
        self.totals_by_label: dict[int, tuple[int, int]] = {}
        self.rows_by_weight: Counter[tuple[int, int]] = Counter()
        self.key, self.value = _NO_HASHES, np.empty(0)
        self.size = self.odd = self.rows = self.odd_rows = _NO_ROWS

    def add_rows(self, rows: Rows) -> None:
        """Add usable rows."""
        weight = rows.weights()
        positive = rows if weight.all() else rows.select(weight > 0)
        label = positive.positive if positive.label_class is None else positive.label_class
        class_index = np.zeros(len(positive), dtype=np.int64) if label is None else label.astype(np.int64)
        if len(positive):
            self.add(list(positive.numbers.values()), class_index, positive.weights())

    def add(self, columns: Sequence[Floats], label: Ints, weight: Ints) -> None:
        """Add rows of positive weight; arrays of shape (n,)."""
        if len(self.values) <= MAX_VALUES:
            self.values.update(distinct_numbers(weight)[: MAX_VALUES + 1].tolist())
        for class_index in distinct_numbers(label).tolist():
            has_label = label == class_index
            rows, total = self.totals_by_label.get(class_index, (0, 0))
            self.totals_by_label[class_index] = (
                rows + int(has_label.sum()),
                total + int(weight[has_label].sum()),
            )
            if self._has_few_values():
                weights, rank = dense_ranks(weight[has_label])
                of_weight = zip(weights.tolist(), np.bincount(rank).tolist(), strict=True)
                self.rows_by_weight.update({(class_index, w): n for w, n in of_weight})
        key = hashes(columns)
        if len(self.key) == MAX_SAMPLED:
            sampled = key <= self.key[-1]
            key, label, weight, columns = key[sampled], label[sampled], weight[sampled], [columns[0][sampled]]
        is_odd = label % 2
        new = (key, columns[0], weight, weight * is_odd, np.ones_like(weight), is_odd)
        stored = (self.key, self.value, self.size, self.odd, self.rows, self.odd_rows)
        keys, values, *counts = (np.concatenate(pair) for pair in zip(stored, new, strict=True))
        self.key, first, inverse = np.unique(keys, return_index=True, return_inverse=True)
        sums = np.zeros((len(counts), len(self.key)), dtype=np.int64)
        for index, count in enumerate(counts):
            np.add.at(sums[index], inverse, count)
        sample = slice(MAX_SAMPLED)
        self.key, self.value = self.key[sample], values[first][sample]
        self.size, self.odd, self.rows, self.odd_rows = sums[:, sample]

    def caution(self) -> str:
        """Return the caution if the weights do not count independent rows; empty if nothing suggests so."""
        if self._follows_label() and self._repeats_rows():
            return self._worded(f"weights take {len(self.values)} values and follow the label")
        reason = self._suspicion()
        order = np.argsort(self.value, kind="stable")
        copies = labels_suggest_copies(self.size[order], self.odd[order]) if reason else False
        if copies is None:  # grouped counts have rows of the other label at the same values
            copies = self.rows[self.rows > 1].sum() < _MIN_SHARED * self.rows.sum()
        return self._worded(reason) if copies else ""

    @staticmethod
    def _worded(reason: str) -> str:
        return (
            f"{reason}: a weight of n must stand for n independent rows. Otherwise no interval, test or "
            "certificate is valid."
        )

    def _has_few_values(self) -> bool:
        return len(self.values) <= MAX_VALUES

    def _follows_label(self) -> bool:
        """Whether few weights are used, and nearly all rows of one label weigh more than those of another.

        In at most 5 % of pairs of a row of each label, the heavier label's row does not weigh more. If
        weights have nothing to do with the label, all orders of the labels are equally likely. With at least
        30 rows of each, the probability for two labels is then below 1e-10, however heavy single rows are.
        Counts of rows are this far apart only if few cells have one row, and then they take more values.
        """
        labels = [label for label, (rows, _) in self.totals_by_label.items() if rows >= _MIN_LABEL_ROWS]
        if len(labels) < 2 or len(self.values) < 2 or not self._has_few_values():
            return False
        weights = sorted(self.values)
        rows = np.array([[float(self.rows_by_weight[label, w]) for w in weights] for label in labels])
        share = rows / rows.sum(axis=1, keepdims=True)
        as_heavy = np.cumsum(share[:, ::-1], axis=1)[:, ::-1]  # of rows that weigh as much or more
        return bool((share @ as_heavy.T <= _MAX_OVERLAP).any())

    def _repeats_rows(self) -> bool:
        """Whether rows have the numbers and the label of another, which counts of equal rows do not."""
        odd = sum(label % 2 for label in self.totals_by_label)
        even_rows = self.rows - self.odd_rows
        repeated = np.maximum(self.odd_rows - odd, 0) + np.maximum(
            even_rows - (len(self.totals_by_label) - odd), 0
        )
        return bool(repeated.sum() >= _MIN_SHARED * self.rows.sum())

    def _suspicion(self) -> str:
        """Return the reason why the weights look unlike counts; empty if they do not."""
        rows, total = (sum(totals[index] for totals in self.totals_by_label.values()) for index in (0, 1))
        if total > _MAX_MEAN_WEIGHT * rows:
            return f"weights are {total / rows:.3g} on average"
        means = [total / rows for rows, total in self.totals_by_label.values() if rows >= _MIN_LABEL_ROWS]
        follows = len(means) > 1 and max(means) >= _MIN_LABEL_RATIO * min(means)
        if 1 < len(self.values) <= MAX_VALUES and follows:
            return f"weights take {len(self.values)} values and follow the label"
        return ""


class RepeatedPairs:
    """Streaming estimate of how many rows repeat the score and the uncertainty of another row.

    The sample is of the distinct pairs with the lowest hashes, with all their rows, whatever the row order.
    It has their ascending hashes, and the rows of each.
    """

    def __init__(self) -> None:
        self.key, self.rows = _NO_HASHES, _NO_ROWS
        self._waiting: list[tuple[NDArray[np.uint64], Ints]] = []
        self._waiting_keys = 0

    def sample(self, score: Floats, uncertainty: Floats) -> tuple[NDArray[np.uint64], Ints]:
        """Return the keys and rows that rows, of shape (n,), add to the sample, or more; in any thread."""
        lowest = self.key
        highest = lowest[-1:] if len(lowest) == _PAIRS else np.array([np.iinfo(np.uint64).max])
        key = low_hashes(score, uncertainty, highest)
        if len(key) > 4 * _FEW * _PAIRS:  # sorting a few takes less time, if they suffice
            few, rows = np.unique(np.partition(key, _FEW * _PAIRS)[: _FEW * _PAIRS], return_counts=True)
            if len(few) > _PAIRS:
                return few[:_PAIRS], rows[:_PAIRS]
        keys, rows = np.unique(key, return_counts=True)
        return keys[:_PAIRS], rows[:_PAIRS]

    def add(self, sample: tuple[NDArray[np.uint64], Ints]) -> None:
        """Add a sample of further rows."""
        self._waiting.append(sample)
        self._waiting_keys += len(sample[0])
        if self._waiting_keys >= _PAIRS:
            self.settle()

    def settle(self) -> None:
        """Merge the samples that wait for others, since merging each would take longer."""
        if not self._waiting:
            return
        samples = [(self.key, self.rows), *self._waiting]
        keys, rows = (np.concatenate(pieces) for pieces in zip(*samples, strict=True))
        order = np.argsort(keys, kind="stable")
        starts = run_starts(keys[order])
        self.key, self.rows = keys[order][starts][:_PAIRS], np.add.reduceat(rows[order], starts)[:_PAIRS]
        self._waiting, self._waiting_keys = [], 0

    def caution(self) -> str:
        """Return the caution if most rows repeat a pair; empty if not."""
        self.settle()
        repeated = int(self.rows[self.rows > 1].sum())
        return repeated_caution(len(self.key), repeated, int(self.rows.sum()))


def repeated_caution(pairs: int, repeated: int, rows: int) -> str:
    """Return the caution on dependent rows, if most of the rows repeat one of many pairs; empty if not."""
    if pairs <= MIN_PAIRS or repeated <= MIN_REPEATED * rows:
        return ""
    return (
        "most rows repeat the score and the uncertainty of another row. If they are of one customer or "
        "session, intervals and tests are too optimistic: give its column as --cluster."
    )


class SharedRows:
    """Streaming estimate of whether several inputs contain the same rows, as scored by several models.

    The sample is of the distinct keys with the lowest hashes, whatever the row order: the ascending hash of
    each, and for each input that has it the label and the number of rows; shape (m,). ``columns`` identify a
    row; there are none if the inputs have no others than those read. ``sizes``, of shape (inputs, 3), are the
    rows, the sum of label codes, and an order-free digest of the numbers of each input. Without inputs,
    nothing is looked for.
    """

    def __init__(self, columns: tuple[str, ...] = (), inputs: int = 0) -> None:
        self.columns, self.inputs = columns, inputs
        self.key = _NO_HASHES
        self.source = self.label = self.rows = _NO_ROWS
        self.sizes = np.zeros((inputs, 3), dtype=np.uint64)

    def add(self, source: int, rows: Rows, key: NDArray[np.uint64] | None) -> None:
        """Add rows of an input, with uint64 hashes of their identifying columns, shape (n,), if any."""
        if not self.inputs:
            return
        label = label_indices(rows)
        numbers = hashes(list(rows.numbers.values()))
        sizes = (np.uint64(len(rows)), label.astype(np.uint64).sum(), numbers.sum())
        self.sizes[source] += np.array(sizes, dtype=np.uint64)
        if key is None:
            return
        distinct = np.unique(np.concatenate([self.key, key]))[:_PAIRS]
        if not len(distinct):
            return
        kept, sampled = self.key <= distinct[-1], key <= distinct[-1]
        added = np.count_nonzero(sampled)
        keys = np.concatenate([self.key[kept], key[sampled]])
        sources = np.concatenate([self.source[kept], np.full(added, source)])
        order = np.lexsort((sources, keys))
        labels = np.concatenate([self.label[kept], label[sampled]])[order]
        count = np.concatenate([self.rows[kept], np.ones(added, dtype=np.int64)])[order]
        keys, sources = keys[order], sources[order]
        starts = row_starts((keys, sources), len(keys))
        self.key, self.source = keys[starts], sources[starts]
        self.label, self.rows = np.minimum.reduceat(labels, starts), np.add.reduceat(count, starts)

    def caution(self) -> str:
        """Return the caution if the inputs seem to be scores of the same rows; empty if they do not."""
        if not self.columns:
            return self._caution_of_sizes()
        _, starts, inputs = np.unique(self.key, return_index=True, return_counts=True)
        if not len(starts):
            return ""
        low, high = np.minimum.reduceat(self.label, starts), np.maximum.reduceat(self.label, starts)
        is_shared = (inputs > 1) & (np.maximum.reduceat(self.rows, starts) == 1)
        return shared_caution(
            self.columns,
            keys=len(starts),
            shared=int(is_shared.sum()),
            same_label=int((is_shared & (low == high)).sum()),
            labels=len(distinct_numbers(low[is_shared])),
        )

    def _caution_of_sizes(self) -> str:
        """Return the caution for inputs that have the same numbers of rows and labels, but other scores."""
        if not self.inputs:
            return ""
        rows, labels, numbers = (np.unique(column) for column in self.sizes.T)
        if len(rows) > 1 or len(labels) > 1 or len(numbers) == 1 or rows[0] < MIN_SHARED or not labels[0]:
            return ""
        return (
            "the inputs have the same numbers of rows and of labels, but other scores. If several models "
            "scored the same rows, compare them: run the command on each input alone."
        )


def shared_caution(columns: Sequence[str], *, keys: int, shared: int, same_label: int, labels: int) -> str:
    """Return the caution on rows that are in several inputs; empty if there are hardly any.

    ``keys`` counts the distinct values of the identifying columns, ``shared`` those among them that several
    inputs have, once each, ``same_label`` those with the same label in all inputs, and ``labels`` the labels
    among them. The later rows of one customer would have another label now and then.
    """
    if shared < MIN_SHARED or 2 * shared < keys or same_label < shared or labels < 2:
        return ""
    return (
        f"rows with the same {' and '.join(columns)} and label are in several inputs, and each is counted as "
        "another row. To compare models, run the command on each input alone."
    )
