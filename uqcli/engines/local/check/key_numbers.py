"""Number the groups, days or customers of a key column, by the first occurrence of their texts.

Whole numbers, dates and categories are told apart as such, and only new ones become text. Texts are told
apart by a hash, and compared with the text whose number they get.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from typing import Final, TypeAlias

import numpy as np
import polars as pl
import pyarrow as pa

from uqcli.base.counts import Ints
from uqcli.base.records import dataclass
from uqcli.engines.local.check.values import distinct_of, key_texts
from uqcli.kernels.units import Numbering, Numbers, first_rows

Convert: TypeAlias = Callable[[pl.Series], pl.Series]

MISSING: Final = -1
"""Number of a row without a text."""

_MOST_IN_TABLE: Final = 1 << 24
"""Most whole numbers from the lowest to the highest one that are looked up in a table."""

_WIDE: Final = (pl.Int128, pl.UInt128)
"""Types of whole numbers of more than 64 bits, which are told apart by their texts."""

_EVERY_ROW: Final[Ints] = np.zeros(0, dtype=np.int64)

_CHUNK_GROWTH: Final = 8
"""A chunk of texts is at least so many times as long as the next one."""


@dataclass(frozen=True, kw_only=True, eq=False)
class KeyColumn:
    """A key column of some rows, prepared in any thread for the numbers that are given in row order.

    Attributes
    ----------
    values : shape (m,)
        Texts, or whole numbers and dates that are not yet converted, without nulls.
    place : int64, shape (n,)
        Value of each row, ``MISSING`` for none; empty if there is a value for each row.
    text_of
        Conversion of such numbers and dates to texts.
    """

    values: pl.Series
    place: Ints
    text_of: Convert

    @classmethod
    def of(
        cls, series: pl.Series, name: str, kind: pa.DataType | None = None, convert: Convert | None = None
    ) -> KeyColumn:
        """Prepare a column (see ``key_texts``); of each text only what it is converted to counts."""

        def text_of(column: pl.Series) -> pl.Series:
            text = key_texts(column, name, kind)
            return text if convert is None else convert(text)

        whole = series.dtype == pl.Date or (series.dtype.is_integer() and series.dtype not in _WIDE)
        if whole and kind is None:
            return cls._with_values(series, _EVERY_ROW, text_of)
        if not isinstance(series.dtype, pl.Categorical | pl.Enum):
            return cls._with_values(text_of(series), _EVERY_ROW, text_of)
        distinct, place = distinct_of(series)  # whose texts may be long, and are converted once each
        return cls._with_values(text_of(distinct.cast(pl.String)), place, text_of)

    @classmethod
    def of_texts(cls, texts: pl.Series) -> KeyColumn:
        """Return a column of texts as they are, none of them null."""
        return cls(values=texts, place=_EVERY_ROW, text_of=lambda column: column)

    @classmethod
    def repeated(cls, text: str, rows: int) -> KeyColumn:
        """Return a column that has the same text, as it is, in all rows."""
        place = np.zeros(rows, dtype=np.int64)
        return cls(values=pl.Series([text])[:rows], place=place, text_of=lambda column: column)

    @classmethod
    def _with_values(cls, values: pl.Series, place: Ints, text_of: Convert) -> KeyColumn:
        """Leave out nulls; ``place`` is the value of each row, empty for one each."""
        if not values.null_count():
            return cls(values=values, place=place, text_of=text_of)
        present = values.is_not_null().to_numpy()
        rank = np.where(present, np.cumsum(present) - 1, MISSING)
        return cls(values=values.drop_nulls(), place=rank[place] if len(place) else rank, text_of=text_of)

    def of_rows(self, numbers: Numbers) -> Numbers:
        """Return the number of each row, given those of the values."""
        return np.append(numbers, np.int32(MISSING))[self.place] if len(self.place) else numbers


class KeyNumbers(Mapping[str, int]):
    """Numbers of the texts of a key column; Python's texts are made when they are asked for."""

    def __init__(self) -> None:
        self._hashes, self._seed = Numbering(), 0
        self._chunks: list[pl.Series] = []
        self._whole: dict[pl.DataType, _WholeNumbers] = {}
        self._by_text: dict[str, int] = {}
        self._rank: Ints = np.zeros(0, dtype=np.int64)

    def numbers(self, column: KeyColumn) -> Numbers:
        """Return the number of each row, ``MISSING`` without a text; new texts have the next numbers."""
        values = column.values
        if values.dtype == pl.String:
            return column.of_rows(self._of_texts(values))
        whole = self._whole.setdefault(values.dtype, _WholeNumbers())
        value = values.to_physical().to_numpy().astype(np.int64, copy=False)
        return column.of_rows(
            whole.numbers(value, lambda rows: self._of_texts(column.text_of(values.gather(rows))))
        )

    def _of_texts(self, texts: pl.Series) -> Numbers:
        """Number texts, none of them null."""
        while True:
            numbers, rows = self._hashes.of(_hashed(texts, self._seed))
            chunks = [*self._chunks, texts.gather(rows)] if len(rows) else self._chunks
            if not len(texts) or pl.concat(chunks).gather(numbers).equals(texts):
                break
            self._change_hash()
        self._chunks = chunks
        while len(self._chunks) > 1 and len(self._chunks[-2]) < _CHUNK_GROWTH * len(self._chunks[-1]):
            self._chunks[-2:] = [pl.concat(self._chunks[-2:], rechunk=True)]
        return numbers

    def _change_hash(self) -> None:
        """Take a hash that tells all known texts apart, after two texts had the same."""
        known = self.texts
        while True:
            self._hashes, self._seed = Numbering(), self._seed + 1
            _, rows = self._hashes.of(_hashed(known, self._seed))
            if len(rows) == len(known):
                return

    @property
    def texts(self) -> pl.Series:
        """The texts by number."""
        return pl.concat(self._chunks) if self._chunks else pl.Series([], dtype=pl.String)

    def in_order(self, numbers: Ints) -> tuple[pl.Series, Ints]:
        """Sort the texts of some numbers; return them and their numbers."""
        if len(self._rank) != len(self):
            self._rank = np.empty(len(self), dtype=np.int64)
            self._rank[self.texts.arg_sort().to_numpy()] = np.arange(len(self))
        ordered = numbers[np.argsort(self._rank[numbers])]
        return self.texts.gather(ordered), ordered

    def __len__(self) -> int:
        """Return how many texts there are."""
        return len(self._hashes)

    def __iter__(self) -> Iterator[str]:
        """Iterate over the texts by number."""
        return iter(self._numbers_by_text())

    def __getitem__(self, text: str) -> int:
        """Return the number of a text."""
        return self._numbers_by_text()[text]

    def _numbers_by_text(self) -> dict[str, int]:
        if len(self._by_text) != len(self):
            self._by_text = {text: number for number, text in enumerate(self.texts.to_list())}
        return self._by_text


def _hashed(texts: pl.Series, seed: int) -> Ints:
    return texts.hash(seed).to_numpy().view(np.int64)


class _WholeNumbers:
    """Numbers of whole numbers of one type, in a table from the lowest to the highest, or hashed."""

    def __init__(self) -> None:
        self._low, self._table = 0, np.zeros(0, dtype=np.int32)
        self._hashed = Numbering()
        self._is_hashed = False

    def numbers(self, value: Ints, number_new: Callable[[Ints], Numbers]) -> Numbers:
        """Return the number of each value; the function numbers the values of rows that are new."""
        if not len(value):
            return np.zeros(0, dtype=np.int32)
        place = self._places(value)
        numbers: Numbers = self._table[place]
        unknown = np.flatnonzero(numbers < 0)
        if len(unknown):
            rows = unknown[first_rows(place[unknown], self._table)]
            self._table[place[rows]] = number_new(rows)
            numbers = self._table[place]
        return numbers

    def _places(self, value: Ints) -> Ints:
        """Return the place of each value in the table, with room for all."""
        if not self._is_hashed:
            low, high = int(value.min()), int(value.max())
            if not len(self._table):
                self._low = low
            before, after = self._low - low, high + 1 - self._low - len(self._table)
            if max(0, before) + len(self._table) + max(0, after) <= _MOST_IN_TABLE:
                self._low -= self._reach(before, after)
                return value - self._low
            known = np.flatnonzero(self._table >= 0)
            self._is_hashed, self._table = True, self._table[known]
            self._hashed.of(known + self._low)
        place, _ = self._hashed.of(value)
        self._reach(0, len(self._hashed) - len(self._table))
        return place.astype(np.int64)

    def _reach(self, before: int, after: int) -> int:
        """Make room before and after the table, half as much again where there is too little.

        Return by how much the table begins earlier.
        """
        size = len(self._table)
        room = [max(more, size // 2) if more > 0 else 0 for more in (before, after)]
        if any(room):
            self._table = np.pad(self._table, room, constant_values=MISSING)
        return room[0]
