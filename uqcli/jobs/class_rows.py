"""Rows of class probabilities, batch by batch, from columns for each class or from one score."""

from __future__ import annotations

from collections.abc import Iterator, Mapping

from uqcli.artifacts.saved import Source
from uqcli.engines import refusals
from uqcli.engines.open import open_engine
from uqcli.engines.probabilities import classes_of, probabilities
from uqcli.engines.request import DataRequest
from uqcli.jobs.labelled import refuse_keep
from uqcli.kernels.nonconformity import Matrix
from uqcli.rows import Rows


class ClassReader:
    """Reads rows with class probabilities; the attributes are known once the iteration is over.

    Attributes
    ----------
    classes
        Known from the first batch on.
    source
        What was read.
    levels
        Column to the numbers of its groups' texts.
    unnormalised
        The farthest from 1 that the class probabilities of a row add up to.
    """

    def __init__(self, data: DataRequest) -> None:
        refuse_keep(data.on_invalid)
        self._batches = open_engine(data.engine).batches(data)
        self.classes: tuple[str, ...] = ()
        self.source = Source(rows=0, positives=None, dropped=0, columns={})
        self.levels: Mapping[str, Mapping[str, int]] = {}
        self.unnormalised = 0.0

    def __iter__(self) -> Iterator[Rows]:
        """Read batch by batch.

        Raises
        ------
        DataError
            The rows cannot be used, or every weight is 0.
        """
        size = 0
        for rows in self._batches:
            self.classes = classes_of(self._batches.roles)
            size += rows.size
            yield rows
        if size == 0:
            raise refusals.no_weight()
        self.source = Source(
            rows=self._batches.facts.rows,
            positives=None,
            dropped=self._batches.dropped,
            columns=self._batches.roles.named(),
        )
        self.levels, self.unnormalised = self._batches.levels, self._batches.unnormalised

    def probabilities(self, rows: Rows) -> Matrix:
        """Class probabilities of a batch, shape (n, C).

        Raises
        ------
        DataError
            The one score is no probability.
        """
        return probabilities(rows, self._batches.roles)
