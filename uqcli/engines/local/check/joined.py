"""Labels from a second file, joined to the rows of the inputs by the text of an id."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import replace

import numpy as np
import polars as pl

from uqcli.base.counts import Ints
from uqcli.base.defaults import ROWS_PER_BATCH
from uqcli.engines.columns import require_id, require_no_label
from uqcli.engines.inputs import Origin, resolve_inputs
from uqcli.engines.local.check.values import texts_of
from uqcli.engines.local.read.batch import Batch
from uqcli.engines.local.read.failures import reading
from uqcli.engines.local.read.open import Block, OpenedInput, open_sources
from uqcli.engines.refusals import no_match, repeated_ids, unused_labels
from uqcli.engines.request import LabelsFile, ReadOptions

_ID, _ROW, _LABEL = "id", "row", "label"


class Labels:
    """Labels of a file by id, with the number of rows that each has met."""

    def __init__(self, labels: LabelsFile, column: str, options: ReadOptions) -> None:
        """Read the file, in which each id must have one label."""
        self.file, self.column = labels, column
        read = replace(options, required_columns=(labels.on, column))
        parts = []
        with open_sources(resolve_inputs((labels.file,), read), read) as sources:
            for source in sources:
                require_id(source.columns, source.origin.display_name, labels.on)
                require_id(source.columns, source.origin.display_name, column, option="label")
                for batch in source.batches([labels.on, column]):
                    with reading(source.origin):
                        key = texts_of(batch.column(labels.on), labels.on)
                    parts.append(pl.DataFrame({_ID: key, _LABEL: batch.column(column)}))
        frame = pl.concat(parts, how="vertical_relaxed") if parts else pl.DataFrame({_ID: [""], _LABEL: [""]})
        repeated = frame.filter(frame[_ID].is_duplicated() | frame[_ID].is_null())
        if repeated.height:
            raise repeated_ids(labels, repeated.height, repeated[_ID][0])
        self._frame = frame.with_row_index(_ROW)
        self._rows: Ints = np.zeros(frame.height, dtype=np.int64)

    def of(self, batch: Batch) -> pl.Series:
        """Return the label of each row, null if its id has none."""
        key = texts_of(batch.column(self.file.on), self.file.on)
        joined = pl.DataFrame({_ID: key}).join(self._frame, on=_ID, how="left", maintain_order="left")
        rows = joined[_ROW].drop_nulls().to_numpy()
        self._rows += np.bincount(rows, minlength=len(self._rows))
        return joined[_LABEL]

    def cautions(self) -> list[str]:
        """Caution that labels met no row, or several, after all rows were read; refuse if none met one."""
        if not self._rows.any():
            raise no_match(self.file)
        return unused_labels(self.file, int((self._rows == 0).sum()), int((self._rows > 1).sum()))


class LabelledInput:
    """An opened input that has the labels of another file as a column."""

    def __init__(self, source: OpenedInput, labels: Labels) -> None:
        require_id(source.columns, source.origin.display_name, labels.file.on)
        require_no_label(source.columns, source.origin.display_name, labels.column)
        self._source, self.labels = source, labels

    @property
    def origin(self) -> Origin:
        """The input."""
        return self._source.origin

    @property
    def columns(self) -> tuple[str, ...]:
        """Column names, in order."""
        return (*self._source.columns, self.labels.column)

    @property
    def share(self) -> float:
        """Approximate fraction that the last pass has read, from 0 to 1."""
        return self._source.share

    def rows_expected(self) -> int | None:
        """Estimate the number of rows; None if unknown before reading."""
        return self._source.rows_expected()

    def batches(
        self, columns: Sequence[str], start: int = 0, max_rows: int = ROWS_PER_BATCH
    ) -> Iterator[Batch]:
        """Iterate over selected columns and labels, from row ``start`` on."""
        needed = dict.fromkeys([*columns, self.labels.file.on])
        needed.pop(self.labels.column, None)
        for batch in self._source.batches(list(needed), start, max_rows):
            with reading(self.origin):
                label = self.labels.of(batch).alias(self.labels.column)
            yield replace(batch, frame=batch.frame.with_columns(label))

    def blocks(self) -> Iterator[Block]:
        """Iterate over all columns of the input, without labels."""
        return self._source.blocks()
