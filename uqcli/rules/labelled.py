"""Read labelled rows for fitting or evaluation: scores, or class probabilities in batches."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace

import numpy as np

from uqcli.base.choices import OnInvalid
from uqcli.base.counts import Ints, Matrix
from uqcli.base.defaults import LABEL
from uqcli.base.errors import UsageError, words
from uqcli.base.notices import Notice
from uqcli.base.rows import Rows
from uqcli.engines import refusals
from uqcli.engines.open import open_engine
from uqcli.engines.probabilities import classes_of, positive_spellings, probabilities
from uqcli.engines.protocol import CountTable, ReadRows, SourceSummary
from uqcli.engines.request import DataRequest
from uqcli.rules.columns import ColumnOverrides
from uqcli.rules.saved import Saved, Source, roles_of

_SUM_TOLERANCE = 1e-5
"""Deviation from sum 1 below which class probabilities need no note."""


def open_table(data: DataRequest, *, uses_uncertainty: bool) -> CountTable:
    """Open the table of a request; the uncertainty column is read only if used.

    Labelled rows are never kept if they are unusable: ``--on-invalid keep`` is refused.
    """
    refuse_keep(data.on_invalid)
    return open_engine(data.engine).table(data if uses_uncertainty else data.without("uncertainty"))


def source_of(summary: SourceSummary) -> Source:
    """Convert the summary of the rows to the form that rule files save."""
    return Source(
        rows=summary.rows, positives=summary.positives, dropped=summary.dropped, columns=summary.columns
    )


def read_labelled(data: DataRequest) -> tuple[ReadRows, Source]:
    """Read every row, as ``open_table`` does; there must be one of positive weight."""
    refuse_keep(data.on_invalid)
    read = open_engine(data.engine).rows(data)
    refuse_weightless(read.rows.weight)
    return read, source_of(read.summary)


def group_indices(read: ReadRows, by: str | None) -> Iterator[tuple[str, Ints]]:
    """Return the groups with positive weight, and the indices of their rows."""
    if by is None:
        return
    group_index, names, weight = read.rows.groups[by], read.group_names[by], read.rows.weight
    order = np.argsort(group_index, kind="stable")
    cuts = np.searchsorted(group_index[order], np.arange(len(names) + 1))
    for group, name in enumerate(names):
        indices = order[cuts[group] : cuts[group + 1]]
        if weight is None or weight[indices].any():
            yield name, indices


def refuse_keep(on_invalid: OnInvalid) -> None:
    """Refuse ``--on-invalid keep``, since fits and evaluations need usable rows."""
    if on_invalid is OnInvalid.KEEP:
        raise UsageError(words("--on-invalid keep is for apply"), expected="error or drop")


def sum_notes(unnormalised: float) -> list[Notice]:
    """Note on class probabilities that do not sum to 1, by the largest ``|sum p - 1|`` of a row."""
    if unnormalised <= _SUM_TOLERANCE:
        return []
    sums = f"class probabilities of a row sum to 1 only within {unnormalised:.1g}"
    return [Notice("inexact-sums", f"{sums}; they are used as given.")]


def refuse_weightless(weight: Ints | None) -> None:
    """Refuse rows whose weights are all 0."""
    if weight is not None and not weight.any():
        raise refusals.no_weight()


def labelled_request(
    data: DataRequest, columns: ColumnOverrides, rules: Sequence[Saved], names: Sequence[str] = ()
) -> DataRequest:
    """Return the data request with the columns of all given rules, which must agree.

    ``names`` are those of the rule files, if cautions should say which rule they concern.
    """
    roles = roles_of(rules, columns, labelled=True)
    clustered = (name for name, rule in zip(names, rules, strict=False) if rule.source.dependence is not None)
    name = next(clustered, "")
    fitted = tuple(replace(clusters, rule=name) for clusters in roles.fitted)
    roles = replace(roles, label=roles.label or LABEL, fitted=fitted)
    value = _positive_value(data, columns, rules)
    # 0/1 and true/false have no text, and the positive one is 1
    is_fitted = any(
        positive_spellings(rule.positive_label or "1") == positive_spellings(value or "1") for rule in rules
    )
    return replace(data, roles=roles, positive_value=value, fitted_positive=is_fitted)


def _positive_value(data: DataRequest, columns: ColumnOverrides, rules: Sequence[Saved]) -> str | None:
    is_replaced = data.positive_value is not None and "positive" not in columns.gaps
    if rules[0].class_names and is_replaced:
        raise UsageError(words("--positive with labels that name classes"), expected="none")
    # a rule that names its label says by its positive value how that is read, even if it has none
    fills_gap = not any(rule.class_names or "label" in rule.columns for rule in rules)
    if is_replaced or (fills_gap and data.positive_value is not None):
        return data.positive_value
    values = {rule.positive_label for rule in rules}
    if len(values) > 1:
        raise UsageError("the rules name different positive labels", remedy=words("give --positive VALUE"))
    return next(iter(values))


class ClassReader:
    """Iterator over rows with class probabilities; attributes are known after the iteration.

    The classes are known after the first batch already. Levels are the group index by text, for each key
    column, and ``unnormalised`` is max |sum p - 1| over rows.
    """

    def __init__(self, data: DataRequest) -> None:
        refuse_keep(data.on_invalid)
        self._batches = open_engine(data.engine).batches(data)
        self.classes: tuple[str, ...] = ()
        self.source = Source(rows=0, positives=None, dropped=0, columns={})
        self.levels: Mapping[str, Mapping[str, int]] = {}
        self.unnormalised = 0.0

    def __iter__(self) -> Iterator[Rows]:
        """Iterate over batches; there must be a row of positive weight."""
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
        """Return the class probabilities of a batch, shape (n, C); a single score must be a probability."""
        return probabilities(rows, self._batches.roles)
