"""Rows of class probabilities, batch by batch, from columns for each class or from one score."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass

import numpy as np

from uqcli.artifacts.saved import Source
from uqcli.counts import Ints
from uqcli.engines.open import open_engine
from uqcli.engines.probabilities import classes_of, label_numbers, probabilities
from uqcli.engines.protocol import CheckedRows
from uqcli.engines.request import DataRequest
from uqcli.errors import DataError
from uqcli.jobs.labelled import refuse_keep
from uqcli.kernels.nonconformity import Matrix


@dataclass(frozen=True, kw_only=True)
class ClassBatch:
    """Some rows.

    Attributes
    ----------
    probability : float64, shape (n, C)
    label : int64, shape (n,), or None where labels were not asked for
    weight : int64, shape (n,), or None for 1 each
    position : int64, shape (n,)
        Over all inputs.
    """

    probability: Matrix
    label: Ints | None
    weight: Ints | None
    position: Ints
    rows: CheckedRows

    def counted(self) -> Ints:
        """Weights, 1 where there are none."""
        return np.ones(len(self.position), dtype=np.int64) if self.weight is None else self.weight


class ClassReader:
    """Reads class probabilities; the attributes are known once the iteration is over.

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

    def __iter__(self) -> Iterator[ClassBatch]:
        """Read batch by batch.

        Raises
        ------
        DataError
            The rows cannot be used, or every weight is 0.
        """
        rows, weight = 0, 0
        for checked in self._batches:
            roles = self._batches.roles
            self.classes = classes_of(roles)
            batch = ClassBatch(
                probability=probabilities(checked, roles),
                label=label_numbers(checked),
                weight=checked.weight,
                position=checked.position,
                rows=checked,
            )
            rows += len(batch.position)
            weight += int(batch.counted().sum())
            yield batch
        if weight == 0:
            raise DataError("every row has weight 0", expected="a positive weight in some row")
        self.source = Source(
            rows=rows, positives=None, dropped=self._batches.dropped, columns=self._batches.roles.named()
        )
        self.levels, self.unnormalised = self._batches.levels, self._batches.unnormalised
