"""Read rows of class probabilities in batches, from columns per class or from one score."""

from __future__ import annotations

from collections.abc import Iterator, Mapping

from uqcli.base.class_counts import Matrix
from uqcli.base.rows import Rows
from uqcli.engines import refusals
from uqcli.engines.open import open_engine
from uqcli.engines.probabilities import classes_of, probabilities
from uqcli.engines.request import DataRequest
from uqcli.rules.labelled import refuse_keep
from uqcli.rules.saved import Source


class ClassReader:
    """Iterator over rows with class probabilities; attributes are known after the iteration.

    Attributes
    ----------
    classes
        Known after the first batch.
    source
        Summary of the rows read.
    levels
        Group index by text, for each key column.
    unnormalised
        max |sum p - 1| over rows.
    """

    def __init__(self, data: DataRequest) -> None:
        refuse_keep(data.on_invalid)
        self._batches = open_engine(data.engine).batches(data)
        self.classes: tuple[str, ...] = ()
        self.source = Source(rows=0, positives=None, dropped=0, columns={})
        self.levels: Mapping[str, Mapping[str, int]] = {}
        self.unnormalised = 0.0

    def __iter__(self) -> Iterator[Rows]:
        """Iterate over batches.

        Raises
        ------
        DataError
            The rows are unusable, or every weight is 0.
        """
        size = 0
        for rows in self._batches:
            self.classes = classes_of(self._batches.roles)
            size += rows.size
            yield rows
        if size == 0:
            raise refusals.no_weight()
        self.source = Source(
            rows=self._batches.summary.rows,
            positives=None,
            dropped=self._batches.dropped,
            columns=self._batches.roles.column_by_role(),
        )
        self.levels, self.unnormalised = self._batches.levels, self._batches.unnormalised

    def probabilities(self, rows: Rows) -> Matrix:
        """Return the class probabilities of a batch, shape (n, C).

        Raises
        ------
        DataError
            The single score is not a probability.
        """
        return probabilities(rows, self._batches.roles)
