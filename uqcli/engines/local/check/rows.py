"""Validate raw columns, counting and explaining every unusable value."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from contextlib import suppress
from dataclasses import replace
from types import MappingProxyType
from typing import TypeVar

import numpy as np
import polars as pl
import pyarrow as pa
from numpy.typing import NDArray

from uqcli.base import amounts
from uqcli.base.choices import OnInvalid
from uqcli.base.counts import Bools, Feature, Floats, Ints
from uqcli.base.defaults import MAX_ROWS
from uqcli.base.errors import DataError
from uqcli.base.records import dataclass
from uqcli.base.rows import Rows
from uqcli.base.running.left_out import SHORT, LeftOut
from uqcli.engines import refusals
from uqcli.engines.local.check.key_numbers import MISSING, KeyColumn, KeyNumbers
from uqcli.engines.local.check.values import (
    class_of_labels,
    dates_of_times,
    days_of,
    encoded,
    infinite_numbers,
    label_texts,
    labels_of,
    number_column,
    numbers_of,
    placeholders_in,
    unreadable,
)
from uqcli.engines.local.read.batch import Batch
from uqcli.engines.probabilities import PROBABILITY_ADVICE, SUM_TOLERANCE, class_advice, is_no_probability
from uqcli.engines.refusals import FormError
from uqcli.engines.request import INPUT, PREDICTED, PROBA, Roles
from uqcli.kernels.units import Numbers

Column = TypeVar("Column", pl.Series, pl.DataFrame, NDArray[np.uint64])

_NULL, _NAN, _INFINITE = "null", "NaN", "infinite"


@dataclass(frozen=True, kw_only=True)
class CheckedRows:
    """Checked rows of one batch, without positions.

    ``rows`` have the features that can be encoded batch by batch, and ``raw`` has the columns of the others.
    ``first_row`` is the position of the batch's first row over all inputs; ``kept_indices``, int64 of shape
    (n,), are the positions in the batch of the rows kept, None for all.
    """

    rows: Rows
    raw: Mapping[str, tuple[pl.Series, pl.Series]]
    first_row: int
    kept_indices: Ints | None = None

    def usable(self) -> CheckedRows:
        """Select the valid rows."""
        valid = self.rows.valid
        if valid is None:
            return self
        mask = pl.Series(valid)
        return CheckedRows(
            rows=self.rows.usable(),
            raw={
                name: (column.filter(mask), numbers.filter(mask))
                for name, (column, numbers) in self.raw.items()
            },
            first_row=self.first_row,
            kept_indices=np.flatnonzero(valid),
        )

    def kept(self, column: Column) -> Column:
        """Select the rows kept from a column, or from columns, of the batch."""
        return column if self.kept_indices is None else column[self.kept_indices]

    def with_positions(self) -> Rows:
        """Return the rows with their positions over all inputs."""
        positions = np.arange(len(self.rows)) if self.kept_indices is None else self.kept_indices
        return replace(self.rows, position=self.first_row + positions)


class NoTexts:
    """Labels are not told by the text of the positive one."""

    placeholders: frozenset[str] = frozenset()
    """First text of a negative label, by order, that may mean a missing one; empty if there is none."""

    first: Sequence[str] = ()
    """First texts of labels, by order, in batches without a positive one."""

    lack_positive = False

    def look_at(self, batch: Batch, column: str, positive: Bools) -> None:
        """Look at the labels of a batch."""

    def add(self, other: NoTexts) -> None:
        """Add what was seen in the rows that follow."""


class LabelTexts(NoTexts):
    """Texts of labels that are compared with that of the positive one."""

    def __init__(self) -> None:
        self.lack_positive = True

    def look_at(self, batch: Batch, column: str, positive: Bools) -> None:
        """Look at the labels of a batch."""
        self._see(placeholders_in(batch, column, positive), ())
        if positive.any():
            self.lack_positive = False
        else:
            self._see((), label_texts(batch, column))

    def add(self, other: NoTexts) -> None:
        """Add what was seen in the rows that follow."""
        self._see(other.placeholders, other.first)
        self.lack_positive &= other.lack_positive

    def _see(self, placeholders: Iterable[str], texts: Iterable[str]) -> None:
        self.placeholders = frozenset(sorted({*self.placeholders, *placeholders})[:1])
        self.first = sorted({*self.first, *texts})[: refusals.LABELS_NAMED]


class RowChecker:
    """Checks consecutive batches and accumulates their problems.

    There are ``first_row`` rows before the first batch. 32-bit columns stay 32-bit if ``narrow``; otherwise
    all become 64-bit. If labels are joined from a second file, rows may have none, and are left out.
    ``key_types`` are the types in which key columns are compared whose type differs between inputs, and
    ``levels`` their texts, numbered by first occurrence.

    ``unnormalised`` is max |sum p - 1| over rows. ``unknown`` counts the usable rows with a text that is no
    level of its feature, or no number.
    """

    def __init__(
        self,
        roles: Roles,
        on_invalid: OnInvalid,
        positive_value: str | None = None,
        *,
        first_row: int = 0,
        narrow: bool = False,
        is_joined: bool = False,
        may_lack_positive: bool = False,
        key_types: Mapping[str, pa.DataType] = MappingProxyType({}),
        levels: dict[str, KeyNumbers] | None = None,
    ) -> None:
        self.roles, self.on_invalid, self.positive_value = roles, on_invalid, positive_value
        self.first_row, self.narrow, self.is_joined, self.key_types = first_row, narrow, is_joined, key_types
        self.may_lack_positive = may_lack_positive
        self.levels = {} if levels is None else levels
        self.rows = self.invalid = self.unknown = 0
        self.unnormalised = 0.0
        self._problems: dict[tuple[str, str], tuple[int, str]] = {}  # count, first location
        self._cut = False
        names_positive = roles.label and not roles.classes
        self.texts = NoTexts() if not names_positive or positive_value is None else LabelTexts()
        self._weight = 0
        self._amount: dict[str, float] = {}
        self._keys: dict[str, KeyColumn] = {}
        self._numbered: dict[str, tuple[Numbers, pl.Series]] = {}

    def read_keys(self, batch: Batch) -> None:
        """Read the key columns of the batch that is checked next, to number them before it is checked."""
        for column in self.roles.keys:
            if column != PREDICTED:
                with suppress(DataError):  # the check raises it, in its place
                    self._keys[column] = _key(batch, column, self.roles, self.key_types)

    def number_keys(self) -> None:
        """Number the key columns read, which must be done in the order of the rows."""
        for column, key in self._keys.items():
            self._number(column, key)
        self._keys = {}

    def check(self, batch: Batch) -> CheckedRows:
        """Check one batch; an unreadable value (text, a label out of range, a bad weight) is refused."""
        if batch.footer and self.on_invalid is OnInvalid.ERROR:
            raise refusals.footer(batch.footer, batch.location(batch.frame.height - 1))
        valid = np.ones(batch.frame.height, dtype=np.bool_)
        roles, rows = self.roles, self._read(batch, valid)
        # a difference, since the negative of zero would be another zero
        numbers = {
            role: 0.0 - values if roles.is_turned(role) else values for role, values in rows.numbers.items()
        }
        for role in roles.amounts:
            self._amounts(batch, roles.numbers[role], numbers[role], rows.weight, valid)
        self._leave_out_infinite(batch, valid)
        self._leave_out_short(batch, valid)
        if roles.classes:
            self._probabilities(batch, numbers, valid)
            # probabilities are clipped here once, so that rounding never gives values outside [0, 1]
            numbers |= {
                role: np.clip(values, 0, 1) for role, values in numbers.items() if role.startswith(PROBA)
            }
        features = self._features(batch, valid)
        first_row = self.first_row + self.rows
        invalid = len(valid) - int(np.count_nonzero(valid))
        self._cut = self._cut or (batch.cut and not valid[-1:].all())
        self.rows += len(valid)
        self.invalid += invalid
        return CheckedRows(
            rows=replace(rows, numbers=numbers, features=features, valid=valid if invalid else None),
            raw={
                feature.name: (batch.column(feature.name), number_column(batch, feature.name))
                for feature in roles.features
                if not feature.known
            },
            first_row=first_row,
        )

    def _read(self, batch: Batch, valid: Bools) -> Rows:
        """Read the columns of all roles; what cannot be read in any of them is refused together."""
        roles, errors = self.roles, list[FormError]()
        numbers, groups = dict[str, Floats](), dict[str, Ints]()
        positive = label_class = weight = None
        for role, column in roles.all_numbers().items():
            with refusals.collected(errors):
                numbers[role] = self._finite(batch, column, valid)
        with refusals.collected(errors):
            if roles.label and roles.classes:
                label_class = self._classes(batch, roles.label, valid)
            elif roles.label:
                positive = self._labels(batch, roles.label, valid)
        for column in roles.keys:
            with refusals.collected(errors):
                if column != PREDICTED:
                    groups[column] = self._groups(batch, column, valid)
        with refusals.collected(errors):
            weight = self._weights(batch, roles.weight, valid) if roles.weight else None
        if errors:
            raise refusals.joined(errors)
        return Rows(numbers=numbers, positive=positive, label_class=label_class, weight=weight, groups=groups)

    def _leave_out_infinite(self, batch: Batch, valid: Bools) -> None:
        """Leave out rows with an infinite number in a feature."""
        for feature in self.roles.features:
            infinite = infinite_numbers(batch.column(feature.name))
            if feature.text is not True and infinite.any():
                self._note(batch, feature.name, _INFINITE, infinite)
                valid &= ~infinite

    def _leave_out_short(self, batch: Batch, valid: Bools) -> None:
        """Leave out rows with fewer fields than the header; those left out already are counted once."""
        if batch.short is not None:
            complete = valid.copy()
            valid &= ~batch.short
            self._note(batch, "", SHORT, complete & batch.short)

    def add(self, other: RowChecker) -> None:
        """Add the problems of the rows that follow, which another checker with the same levels checked.

        Weights and amounts whose sum is too large are refused.
        """
        for (column, kind), (count, location) in other._problems.items():
            self._add_problem(column, kind, count, location)
        self.rows, self.invalid, self.unknown = (
            getattr(self, name) + getattr(other, name) for name in ("rows", "invalid", "unknown")
        )
        self.unnormalised = max(self.unnormalised, other.unnormalised)
        self.texts.add(other.texts)
        self._cut |= other._cut
        self._weigh(self.roles.weight or "", other._weight)
        for column, amount in other._amount.items():
            self._sum(column, amount)

    def _features(self, batch: Batch, valid: Bools) -> dict[str, Feature]:
        """Encode the features of known type or levels, and count the rows with an unknown category."""
        features, is_unknown = {}, np.zeros(len(valid), dtype=np.bool_)
        for feature in self.roles.features:
            if feature.known:
                value, unknown = encoded(batch, feature, valid)
                features[feature.name] = Feature(levels=feature.levels, value=value)
                is_unknown |= unknown
        self.unknown += int(np.count_nonzero(is_unknown & valid))
        return features

    @property
    def left_out(self) -> LeftOut:
        """Rows so far, and those that cannot be used, with the reasons."""
        return LeftOut(
            rows=self.rows,
            dropped=self.invalid,
            unlabelled=self.unlabelled,
            reasons={key: count for key, (count, _) in self._problems.items()},
        )

    @property
    def unlabelled(self) -> int:
        """Number of rows without a label."""
        return self._problems.get((self.roles.label or "", _NULL), (0, ""))[0]

    def finish(self) -> None:
        """Refuse unusable rows, unless they are dropped or kept, and labels that are never positive."""
        problems = {
            key: problem
            for key, problem in self._problems.items()
            if not (self.is_joined and key == (self.roles.label, _NULL))
        }
        if problems and self.on_invalid is OnInvalid.ERROR:
            counts = ", ".join(
                f"column '{column}' has {count} {kind}" if column else f"rows: {count} {kind}"
                for (column, kind), (count, _) in problems.items()
            )
            _, first = next(iter(problems.values()))
            cut = self._cut or any(not column for column, _ in problems)
            raise refusals.unusable_values(f"{counts} (first in {first})", cut=cut)
        if self.lacks_positive and not self.may_lack_positive:
            raise refusals.no_positive(self.positive_value or "", self.roles.label or "")

    @property
    def lacks_positive(self) -> bool:
        """Whether there are rows, and none has the text of the positive label."""
        return self.texts.lack_positive and self.rows > 0

    def _finite(self, batch: Batch, column: str, valid: Bools) -> Floats:
        value, null = numbers_of(batch, column, narrow=self.narrow)
        if null is None:
            return value
        nan = np.isnan(value) & ~null
        infinite = np.isinf(value)
        for kind, mask in ((_NULL, null), (_NAN, nan), (_INFINITE, infinite)):
            if mask.any():
                self._note(batch, column, kind, mask)
                valid &= ~mask
        return value

    def _labels(self, batch: Batch, column: str, valid: Bools) -> Bools:
        positive, null = labels_of(batch, column, self.positive_value)
        if null.any():
            self._note(batch, column, _NULL, null)
            valid &= ~null
        self.texts.look_at(batch, column, positive)
        return positive

    def _classes(self, batch: Batch, column: str, valid: Bools) -> Ints:
        class_index, null, unknown = class_of_labels(batch.column(column), list(self.roles.classes))
        if unknown.any():
            text = batch.column(column).cast(pl.String)
            raise unreadable(batch, column, text, unknown, class_advice(list(self.roles.classes)))
        if null.any():
            self._note(batch, column, _NULL, null)
            valid &= ~null
        return class_index

    def _groups(self, batch: Batch, column: str, valid: Bools) -> Ints:
        if column not in self._numbered:
            self._number(column, _key(batch, column, self.roles, self.key_types))
        numbers, new = self._numbered.pop(column)
        if self.roles.days and column == self.roles.cluster:
            refusals.require_days(new, column)
        null = numbers == MISSING
        if null.any():
            self._note(batch, column, "null, NaN or empty", null)
            valid &= ~null
        return numbers.astype(np.int64)

    def _number(self, column: str, key: KeyColumn) -> None:
        """Number a key column, and keep its new texts."""
        levels = self.levels.setdefault(column, KeyNumbers())
        known = len(levels)
        self._numbered[column] = levels.numbers(key), levels.texts[known:]
        if column == self.roles.by:
            refusals.require_few_groups(len(levels), column)

    def _probabilities(self, batch: Batch, numbers: Mapping[str, Floats], valid: Bools) -> None:
        for role, column in self.roles.all_numbers().items():
            if role.startswith(PROBA):
                value = numbers[role]
                outside = valid & is_no_probability(value)
                if outside.any():
                    text = pl.Series(value).cast(pl.String)
                    raise unreadable(batch, column, text, outside, PROBABILITY_ADVICE)
        deviation = np.where(valid, np.abs(_sum_of_probabilities(numbers) - 1), 0.0)
        self.unnormalised = max(self.unnormalised, float(deviation.max(initial=0.0)))
        if (deviation > SUM_TOLERANCE).any():
            row = int(np.argmax(deviation))
            total = _sum_of_probabilities(numbers)[row]
            problem = f"class probabilities add up to {total:g} in {batch.location(row)}"
            raise refusals.unnormalised(problem, float(deviation[row]))

    def _weights(self, batch: Batch, column: str, valid: Bools) -> Ints:
        value = self._finite(batch, column, valid)
        usable = np.where(np.isfinite(value), value, 0)
        wrong = refusals.is_no_count(usable, np.floor(usable))
        if wrong.any():
            row = int(np.argmax(wrong))
            raise refusals.no_counts_of_rows(
                f"column '{column}' has weight {usable[row]:g} in {batch.location(row)}"
            )
        self._weigh(column, int(usable.sum(where=valid)))
        return usable.astype(np.int64)

    def _amounts(self, batch: Batch, column: str, value: Floats, weight: Ints | None, valid: Bools) -> None:
        filled = np.where(valid, value, 0.0)
        wrong = amounts.is_unusable(filled)
        if wrong.any():
            row = int(np.argmax(wrong))
            amount = float(filled[row])
            raise amounts.refuse_amounts(f"column '{column}' has {amount!r} in {batch.location(row)}", amount)
        size = np.abs(filled) * amounts.UNITS
        self._sum(column, float((size if weight is None else size * weight).sum()))

    def _weigh(self, column: str, weight: int) -> None:
        self._weight += weight
        if self._weight > MAX_ROWS:
            raise refusals.too_heavy(column)

    def _sum(self, column: str, amount: float) -> None:
        self._amount[column] = self._amount.get(column, 0.0) + amount
        if self._amount[column] > amounts.LARGEST_SUM:
            raise amounts.refuse_sum(column)

    def _note(self, batch: Batch, column: str, kind: str, mask: Bools) -> None:
        count = int(mask.sum())
        if count:
            self._add_problem(column, kind, count, batch.location(int(np.argmax(mask))))

    def _add_problem(self, column: str, kind: str, count: int, location: str) -> None:
        before, first = self._problems.get((column, kind), (0, location))
        self._problems[column, kind] = before + count, first


def _key(batch: Batch, column: str, roles: Roles, types: Mapping[str, pa.DataType]) -> KeyColumn:
    """Read a key column; ``INPUT`` is the name of the file."""
    if column == INPUT:
        return KeyColumn.repeated(batch.origin.name, batch.frame.height)
    is_day = roles.days and column == roles.cluster
    convert = days_of if is_day else dates_of_times if column == roles.per else None
    return KeyColumn.of(batch.column(column), column, types.get(column), convert)


def _sum_of_probabilities(values_by_role: Mapping[str, Floats]) -> Floats:
    """Compute the sum of each row's class probabilities; shape (rows,)."""
    probabilities = [value for role, value in values_by_role.items() if role.startswith(PROBA)]
    total = probabilities[0].copy()
    with np.errstate(invalid="ignore"):  # infinities in invalid rows
        for probability in probabilities[1:]:
            total += probability
    return total
