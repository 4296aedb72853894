"""Iterate over the usable rows of a request in checked batches, joined with labels from a second file.

Labels are joined to the rows of the inputs by the text of an id.
"""

from __future__ import annotations

from collections.abc import Callable, Generator, Iterable, Iterator, Mapping, Sequence
from contextlib import ExitStack, closing, contextmanager
from dataclasses import replace
from functools import cached_property, reduce
from typing import Any, Final, TypeVar

import numpy as np
import polars as pl
import pyarrow as pa
from numpy.typing import NDArray

from uqcli.base.choices import OnInvalid
from uqcli.base.counts import Ints, distinct_numbers, row_starts, run_starts
from uqcli.base.defaults import ROWS_PER_BATCH
from uqcli.base.draws import text_keys
from uqcli.base.records import dataclass
from uqcli.base.rows import Rows
from uqcli.base.running.concurrency import Turns, parallel_map
from uqcli.base.running.messages import caution, leave_out, rows_read, suspect
from uqcli.engines import refusals
from uqcli.engines.columns import identifying_columns, require_id, require_no_label, resolved_roles
from uqcli.engines.inputs import Origin, resolve_inputs
from uqcli.engines.local.arrow import common_type, is_readable
from uqcli.engines.local.check.key_numbers import KeyColumn, KeyNumbers
from uqcli.engines.local.check.rows import CheckedRows, RowChecker
from uqcli.engines.local.check.values import key_texts, number_kinds, whole_numbers
from uqcli.engines.local.read.batch import Batch
from uqcli.engines.local.read.columnar import ColumnarSource
from uqcli.engines.local.read.failures import reading
from uqcli.engines.local.read.open import (
    Block,
    Load,
    OpenedInput,
    in_turn,
    loads_of,
    open_sources,
    report_reading,
)
from uqcli.engines.probabilities import levels_of, predictions
from uqcli.engines.protocol import GroupSize, SourceSummary
from uqcli.engines.refusals import no_match, repeated_ids, unused_labels
from uqcli.engines.repeated_rows import MAX_POOLED, RepeatedPairs, SharedRows, WeightSummary
from uqcli.engines.request import PREDICTED, DataRequest, LabelsFile, ReadOptions, Roles
from uqcli.kernels.units import Numbering, UnitTable

_ID, _ROW, _LABEL = "id", "row", "label"


class Labels:
    """Labels of a file by id, with the number of rows that each has met."""

    def __init__(self, labels: LabelsFile, column: str, options: ReadOptions) -> None:
        """Read the file, in which each id must have one label."""
        self.file, self.column = labels, column
        read = replace(options, required_columns=(labels.on, column), text_columns=(labels.on,))
        parts = []
        with open_sources(resolve_inputs((labels.file,), read), read) as sources:
            for source in in_turn(sources):
                require_id(source.columns, source.origin.display_name, labels.on)
                require_id(source.columns, source.origin.display_name, column, option="label")
                for batch in source.batches([labels.on, column]):
                    with reading(source.origin):
                        key = key_texts(batch.column(labels.on), labels.on)
                    parts.append(pl.DataFrame({_ID: key, _LABEL: batch.column(column)}))
        frame = pl.concat(parts, how="vertical_relaxed") if parts else pl.DataFrame({_ID: [""], _LABEL: [""]})
        repeated = frame.filter(frame[_ID].is_duplicated() | frame[_ID].is_null())
        if repeated.height:
            raise repeated_ids(labels, repeated.height, repeated[_ID][0])
        self._frame = frame.with_row_index(_ROW)
        self._rows: Ints = np.zeros(frame.height, dtype=np.int64)

    def of(self, batch: Batch) -> pl.Series:
        """Return the label of each row, null if its id has none."""
        key = key_texts(batch.column(self.file.on), self.file.on)
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


R = TypeVar("R")
S = TypeVar("S")


class _Sign:
    """A sign that rows depend on each other, are counted twice, or were not drawn alike."""

    key = ""
    says = staticmethod(caution)
    """Adds its caution to the report."""

    def of(self, batch: Batch, usable: CheckedRows, rows: Rows) -> Any:
        """Return what ``add`` needs of a batch, in any thread; ``rows`` are the usable ones, as requested."""
        raise NotImplementedError

    def add(self, origin: Origin, found: Any) -> None:
        """Add what was found in the next batch."""
        raise NotImplementedError

    def caution(self, request: DataRequest) -> str:
        """Say what it means; empty if there is none."""
        raise NotImplementedError


class _UnlikelyWeights(_Sign):
    key = "unclear-weights"

    def __init__(self) -> None:
        self._weights = WeightSummary()

    def of(self, batch: Batch, usable: CheckedRows, rows: Rows) -> Rows:  # noqa: ARG002
        return rows

    def add(self, origin: Origin, found: Rows) -> None:  # noqa: ARG002
        self._weights.add_rows(found)

    def caution(self, request: DataRequest) -> str:  # noqa: ARG002
        return self._weights.caution()


class _RepeatedRows(_Sign):
    key, says = "repeated-rows", staticmethod(suspect)

    def __init__(self) -> None:
        self._pairs = RepeatedPairs()

    def of(self, batch: Batch, usable: CheckedRows, rows: Rows) -> Any:  # noqa: ARG002
        return self._pairs.sample(rows.score, rows.numbers["uncertainty"])

    def add(self, origin: Origin, found: Any) -> None:  # noqa: ARG002
        self._pairs.add(found)

    def caution(self, request: DataRequest) -> str:  # noqa: ARG002
        return self._pairs.caution()


class _RowsOfSeveralInputs(_Sign):
    key = "shared-rows"

    def __init__(self, shared: SharedRows) -> None:
        self._shared = shared

    def of(self, batch: Batch, usable: CheckedRows, rows: Rows) -> Any:  # noqa: ARG002
        columns = self._shared.columns
        return usable.rows, usable.kept(_hashes_of(batch, columns)) if columns else None

    def add(self, origin: Origin, found: Any) -> None:
        self._shared.add(origin.argument, *found)

    def caution(self, request: DataRequest) -> str:  # noqa: ARG002
        return self._shared.caution()


class _UnequalSampling(_Sign):
    """Sampling weights that are not read for their counts, in the columns ``unread``."""

    key = "unequal-sampling"

    def __init__(self, unread: Sequence[str]) -> None:
        self._unread = unread
        self._ends: set[str] = set()

    def of(self, batch: Batch, usable: CheckedRows, rows: Rows) -> set[str]:  # noqa: ARG002
        """Return the lowest and the highest weight."""
        ends = set[str]()
        for name in self._unread:
            column = batch.column(name)
            kept = usable.kept(column if column.dtype.is_numeric() else _text_of(column))
            ends |= {str(end) for end in (kept.min(), kept.max()) if end is not None}
        return ends

    def add(self, origin: Origin, found: set[str]) -> None:  # noqa: ARG002
        self._ends |= found

    def caution(self, request: DataRequest) -> str:
        return request.unequal_weights() if len(self._ends) > 1 else ""


class LocalBatches:
    """Usable rows of a request, in order.

    32-bit columns stay 32-bit if ``narrow``. A batch has about ``max_rows`` rows, if the format leaves a
    choice. Whether all inputs are ``repeatable``, that is, can be read more than once, is known after the
    first batch.
    """

    def __init__(self, request: DataRequest, *, narrow: bool = False, max_rows: int = ROWS_PER_BATCH) -> None:
        self._request = request
        self._narrow = narrow
        self._max_rows = max_rows
        self._rows_by_input: list[int] = []
        self._used = self._positives = 0
        self._tally = GroupTally()
        self._ranked: dict[tuple[str, tuple[tuple[str, str], ...]], tuple[pl.Series, Ints]] = {}
        self._clusters_met = 0
        self._keys: dict[str, Ints] = {}
        self._clusters: dict[tuple[str, tuple[tuple[str, str], ...]], tuple[Ints, Ints]] = {}
        self.roles = request.roles
        self.dropped = self._unlabelled = 0
        self.repeatable = True
        self.levels: Mapping[str, KeyNumbers] = {}
        self.unnormalised = 0.0
        self._key_types: Mapping[str, pa.DataType] = {}

    @property
    def summary(self) -> SourceSummary:
        """Summary of the rows read."""
        return SourceSummary(
            rows=self._used,
            positives=self._positives if self.roles.is_binary else None,
            dropped=self.dropped,
            columns=self.roles.column_by_role(),
            unlabelled=self._unlabelled,
        )

    def summary_of(self, only: Mapping[str, str]) -> SourceSummary:
        """Return the summary of the rows of some groups, given by key column; of all rows for none."""
        if not only:
            return self.summary
        return self.summary.of_groups(self.size_of(only))

    def size_of(self, only: Mapping[str, str]) -> GroupSize:
        """Return the numbers of rows of some groups, given by key column."""
        return self._tally.of(self._codes(only))

    def groups(self, column: str, only: Mapping[str, str]) -> tuple[str, ...]:
        """Return the sorted texts of a key column among the rows of positive weight of some groups."""
        return tuple(self.ranked(column, only)[0].to_list())

    def ranked(self, column: str, only: Mapping[str, str]) -> tuple[pl.Series, Ints]:
        """Return the texts that ``groups`` has, and their numbers; the last ones are kept."""
        key = column, tuple(only.items())
        if key not in self._ranked:
            codes = self._tally.counted_codes(column, self._codes(only))
            self._ranked = {key: self.levels[column].in_order(codes)}
        return self._ranked[key]

    def clusters(self, column: str, only: Mapping[str, str]) -> tuple[Ints, Ints]:
        """Return the keys of the texts that ``groups`` has, ascending, and their numbers; the last are kept.

        Millions of texts are not sorted, and are not in memory as objects of Python.
        """
        key = column, tuple(only.items())
        if key not in self._clusters:
            if column not in self._keys:
                self._keys = {column: text_keys(self.levels[column].texts)}
            codes = self._tally.counted_codes(column, self._codes(only))
            codes = codes[np.argsort(self._keys[column][codes])]
            self._clusters = {key: (self._keys[column][codes], codes)}
        return self._clusters[key]

    def _look_at_clusters(self, groups: GroupsOfRows, rows: int, sources: Sequence[OpenedInput]) -> None:
        """Refuse too many clusters among the first rows, the last of which have these groups."""
        column = self.roles.cluster
        if column is None or not len(groups.kind):
            return
        self._clusters_met = max(self._clusters_met, int(groups.codes[column].max()) + 1)  # in row order
        refusals.require_memory_of_clusters(column, self._clusters_met, rows, lambda: _rows_expected(sources))

    def _codes(self, only: Mapping[str, str]) -> dict[str, int]:
        return {column: self.levels[column][name] for column, name in only.items()}

    def __iter__(self) -> Iterator[Rows]:
        """Iterate over batches (see each)."""
        first_row = 0
        for checked, end in self.each(lambda checked: checked):
            yield replace(checked, first_row=first_row).with_positions()
            first_row = end

    def mapped(self, work: Callable[[Rows], R]) -> Iterator[R]:
        """Map a function over batches, in several threads; they have no positions."""
        return (result for result, _ in self.each(lambda checked: work(checked.rows)))

    def each(self, work: Callable[[CheckedRows], R]) -> Iterator[tuple[R, int]]:
        """Map a function over batches, each with its end position over all inputs, in several threads.

        Each batch is read, checked and mapped in one thread, and its problems are added up in order. Unusable
        rows, and none, are refused at the end.
        """
        with opened(self._request) as (sources, roles):
            self.roles = roles
            self.repeatable = all(source.origin.regular for source in sources)
            self._key_types = key_types(sources, roles)
            checker = self._checker(self._request.on_invalid)
            shared, unread = self._shared_rows(sources), roles.ignored_weights([s.columns for s in sources])
            signs: list[_Sign] = [] if roles.weight is None else [_UnlikelyWeights()]
            signs += [_RepeatedRows()] if roles.may_depend else []
            signs += [_RowsOfSeveralInputs(shared)] if shared.inputs else []
            signs += [_UnequalSampling(unread)] if unread else []
            forgotten = roles.forgotten_cluster(sources[0].columns)
            columns = list(dict.fromkeys([*roles.columns(), *shared.columns, *unread]))

            def begin(batch: Batch) -> RowChecker:
                return self._checker(self._request.on_invalid, checker.levels, batch.first_row)

            def check(
                source: OpenedInput, batch: Batch, own: RowChecker
            ) -> tuple[RowChecker, tuple[int, int], GroupsOfRows, list[Any], R]:
                with reading(source.origin):
                    usable = own.check(batch).usable()
                    checked = self._requested(usable)
                    rows = checked.rows
                    found = [sign.of(batch, usable, rows) for sign in signs]
                positives = 0 if rows.positive is None else int(np.count_nonzero(rows.positive))
                return own, (len(rows), positives), groups_of_rows(rows), found, work(checked)

            rows_before = 0
            for input_index, batches, ends in self._in_threads(
                begin, check, sources, columns, shared=shared.columns
            ):
                origin = sources[input_index].origin
                for own, (used, positives), groups, found, result in batches:
                    checker.add(own)
                    self._used += used
                    self._positives += positives
                    self._tally.add(groups)
                    self._look_at_clusters(groups, checker.rows, sources)
                    for sign, found_by_it in zip(signs, found, strict=True):
                        sign.add(origin, found_by_it)
                    report_reading(sources, input_index, checker.rows)
                    yield result, checker.rows
                if ends:
                    self._rows_by_input.append(checker.rows - rows_before)
                    rows_read(origin.name, checker.rows - rows_before)
                    rows_before = checker.rows
        with _marked(self._request):
            checker.finish()
        self.dropped, self._unlabelled = checker.invalid, checker.unlabelled
        self.levels, self.unnormalised = checker.levels, checker.unnormalised
        if self.roles.predicted:
            predicted = KeyNumbers()
            predicted.numbers(KeyColumn.of_texts(pl.Series(list(levels_of(self.roles)), dtype=pl.String)))
            self.levels = {**checker.levels, PREDICTED: predicted}
        if isinstance(sources[0], LabelledInput):
            for sentence in sources[0].labels.cautions():
                caution("unused-labels", sentence)
        if checker.rows == checker.invalid:
            raise refusals.no_rows(checker.invalid)
        self._caution_of(checker)
        for sign in signs:
            self._warn(sign.key, sign.caution(self._request), sign.says)
        self._warn("forgotten-cluster", forgotten)

    def _caution_of(self, checker: RowChecker) -> None:
        """Count the rows that were left out, and caution of these and of what the labels show."""
        left_out = checker.left_out
        leave_out(self._request.inputs, left_out)
        if left_out.is_doubtful:
            self._warn("rows-left-out", left_out.caution())
        if self._unlabelled:
            caution("unlabelled-rows", refusals.unlabelled(self._unlabelled))
        column, positive_value = self.roles.label or "", self._request.positive_value or ""
        if checker.lacks_positive:
            self._warn("no-positive", refusals.without_positive(positive_value, column, checker.texts.first))
        for text in checker.texts.placeholders:
            self._warn("label-placeholder", refusals.placeholder(column, text, positive_value))

    def _warn(self, key: str, sentence: str, add: Callable[[str, str], None] = caution) -> None:
        """Add a caution to the report, if there is one."""
        if sentence:
            add(key, sentence)

    def remaining(self, start: int, work: Callable[[CheckedRows], R]) -> Iterator[R]:
        """Map a function over the rows from a position on, after all rows have been read and checked."""

        def begin(batch: Batch) -> RowChecker:
            return self._checker(OnInvalid.DROP, dict(self.levels), batch.first_row)

        def check(source: OpenedInput, batch: Batch, checker: RowChecker) -> tuple[R, int]:
            with reading(source.origin):
                checked = self._requested(checker.check(batch).usable())
            return work(checked), checker.rows

        with opened(self._request) as (sources, _):
            done = start
            for input_index, batches, _ in self._in_threads(
                begin, check, sources, self.roles.columns(), start=start
            ):
                for result, rows in batches:
                    done += rows
                    report_reading(sources, input_index, done)
                    yield result

    def _in_threads(
        self,
        begin: Callable[[Batch], RowChecker],
        check: Callable[[OpenedInput, Batch, RowChecker], S],
        sources: Sequence[OpenedInput],
        columns: Sequence[str],
        *,
        start: int = 0,
        shared: Sequence[str] = (),
    ) -> Iterator[tuple[int, list[S], bool]]:
        """Yield the index of an input with some of its batches, checked, in order, and whether it ends.

        Group texts are numbered in the order of the rows, whichever thread reads them first. Shared columns
        are compared as text.
        """
        kinds = number_kinds(self.roles, self._request.positive_value)
        kinds = {name: kinds[name] for name in columns if name in kinds and name not in shared}

        turns = Turns()

        def loads() -> Generator[tuple[int, Load, bool]]:
            first = start
            for index, source in enumerate(in_turn(sources)):
                rows = self._rows_by_input[index] if start else 1
                if first < rows:
                    for load in loads_of(source, columns, first, self._max_rows, kinds):
                        yield index, load, False
                yield index, lambda: iter(()), True
                first = max(0, first - rows) if start else 0

        def checked(numbered: tuple[int, tuple[int, Load, bool]]) -> tuple[int, list[S], bool]:
            turn, (index, load, ends) = numbered
            pairs: Iterable[tuple[Batch, RowChecker]] = ((batch, begin(batch)) for batch in load())
            if self.roles.keys:
                pairs = turns.take(turn, lambda: read(load), number)
            return index, [check(sources[index], *pair) for pair in pairs], ends

        def read(load: Load) -> Iterable[tuple[Batch, RowChecker]]:
            pairs = [(batch, begin(batch)) for batch in load()]
            for batch, checker in pairs:
                checker.read_keys(batch)
            return pairs

        def number(pairs: Iterable[tuple[Batch, RowChecker]]) -> None:
            for _, checker in pairs:
                checker.number_keys()

        with closing(loads()) as items:
            yield from parallel_map(checked, enumerate(items))

    def first(self, limit: int, more: Sequence[str]) -> Iterator[tuple[Rows, pl.DataFrame]]:
        """Iterate over the usable ones among the first rows, and more of their columns, without cautions."""
        with opened(self._request, more) as (sources, roles):
            self.roles = roles
            self._key_types = key_types(sources, roles)
            checker, columns = self._checker(OnInvalid.DROP), list(dict.fromkeys([*roles.columns(), *more]))
            for source in sources:
                begin = checker.rows
                for batch in source.batches(columns, max_rows=limit):
                    first = batch.before(limit - begin)
                    with reading(source.origin):
                        usable = checker.check(first).usable()
                    yield self._requested(usable).rows, usable.kept(first.frame[list(more)])
                    if checker.rows >= limit:
                        return

    def _requested(self, checked: CheckedRows) -> CheckedRows:
        """Turn rows into predictions if they are requested."""
        if not self.roles.predicted:
            return checked
        return replace(checked, rows=predictions(checked.rows, self.roles))

    def _shared_rows(self, sources: Sequence[OpenedInput]) -> SharedRows:
        """Prepare to find rows that several INPUT arguments share, unless there are many."""
        inputs = len(self._request.inputs)
        if self.roles.label is None or not 1 < inputs <= MAX_POOLED:
            return SharedRows()
        columns = identifying_columns([source.columns for source in sources], self.roles)
        columns = tuple(name for name in columns if all(_is_readable(source, name) for source in sources))
        return SharedRows(columns=columns, inputs=inputs)

    def _checker(
        self, on_invalid: OnInvalid, levels: dict[str, KeyNumbers] | None = None, first_row: int = 0
    ) -> RowChecker:
        return RowChecker(
            first_row=first_row,
            levels=levels,
            roles=self.roles,
            positive_value=self._request.positive_value,
            on_invalid=on_invalid,
            narrow=self._narrow,
            is_joined=self._request.joined is not None,
            may_lack_positive=self._request.fitted_positive,
            key_types=self._key_types,
        )


def _is_readable(source: OpenedInput, name: str) -> bool:
    """Whether a column that nobody named has a type that can be read."""
    return not isinstance(source, ColumnarSource) or is_readable(source.arrow_schema.field(name).type)


def key_types(sources: Sequence[OpenedInput], roles: Roles) -> dict[str, pa.DataType]:
    """Return the types in which key columns of several inputs are compared: equal values are one group.

    Columns of one type, and those that are text or numbers in an input, are compared by their texts.
    """
    typed = [source.arrow_schema for source in sources if isinstance(source, ColumnarSource)]
    types: dict[str, pa.DataType] = {}
    for column in roles.keys:
        kinds = {
            str(kind): kind
            for kind in (schema.field(column).type for schema in typed if column in schema.names)
        }
        if len(kinds) > 1 and not any(map(_is_number, kinds.values())):
            joined = reduce(lambda left, right: left and common_type(left, right), kinds.values())
            if joined is not None and not pa.types.is_null(joined):
                types[column] = joined
    return types


def _is_number(kind: pa.DataType) -> bool:
    return bool(pa.types.is_integer(kind) or pa.types.is_floating(kind))


def _hashes_of(batch: Batch, columns: Sequence[str]) -> NDArray[np.uint64]:
    """Hash the texts of columns."""
    texts = pl.DataFrame({str(index): _text_of(batch.column(name)) for index, name in enumerate(columns)})
    return texts.hash_rows().to_numpy()


def _text_of(column: pl.Series) -> pl.Series:
    """Return a column as text; nested values, which have none, are null."""
    if column.dtype.is_nested() or column.dtype == pl.Binary:
        return pl.Series([None], dtype=pl.String).new_from_index(0, len(column))
    return whole_numbers(column.cast(pl.String))


@contextmanager
def opened(request: DataRequest, more: Sequence[str] = ()) -> Iterator[tuple[tuple[OpenedInput, ...], Roles]]:
    """Open the inputs, and check that each has every required column; more of them may be keys.

    Errors that other options may mend, also those of the rows read, are marked with the request.
    """
    with _marked(request), ExitStack() as stack:
        read = replace(
            request.read,
            required_columns=request.roles.requested_columns(),
            text_columns=(*request.roles.text_columns(), *more),
        )
        sources = stack.enter_context(open_sources(origins_of(request), read))
        if request.joined is not None and request.roles.label is not None:
            labels = Labels(request.joined, request.roles.label, request.read)
            sources = tuple(LabelledInput(source, labels) for source in sources)
        roles = request.roles.expanded(sources[0].columns, sources[0].origin.display_name)
        named = [(source.origin.display_name, source.columns) for source in sources]
        yield sources, resolved_roles(roles, named)


@contextmanager
def _marked(request: DataRequest) -> Iterator[None]:
    try:
        yield
    except refusals.FormError as error:
        error.requests.append(request)
        raise


def origins_of(request: DataRequest) -> tuple[Origin, ...]:
    """Resolve the inputs of a request."""
    return resolve_inputs(request.inputs, request.read)


@dataclass(frozen=True, kw_only=True, eq=False)
class GroupsOfRows:
    """Groups of usable rows, and what of them is counted.

    Attributes
    ----------
    codes : int64, by key column, each of shape (n,)
        Group of each row.
    kind : int64, shape (n,)
        1 for a positive row, and 2 more for a row of weight 0.
    """

    codes: Mapping[str, Ints]
    kind: Ints


def _rows_expected(sources: Sequence[OpenedInput]) -> int | None:
    """Estimate the rows of all inputs; None if one is a stream or compressed text."""
    if not all(source.origin.regular for source in sources):
        return None  # to look for them would consume a stream
    rows = [source.rows_expected() for source in sources]
    return None if None in rows else sum(size or 0 for size in rows)


_KINDS: Final = 4
"""Kinds of rows that ``GroupsOfRows`` tells apart."""


def groups_of_rows(rows: Rows) -> GroupsOfRows:
    """Return the groups of usable rows by key column; no kinds without such."""
    kind = np.zeros(len(rows) if rows.groups else 0, dtype=np.int64)
    if rows.groups and rows.positive is not None:
        kind += rows.positive
    if rows.groups and rows.weight is not None:
        kind += 2 * (rows.weight == 0)
    return GroupsOfRows(codes=rows.groups, kind=kind)


class GroupTally:
    """Numbers of usable rows by the groups of all key columns together."""

    def __init__(self) -> None:
        self._columns: tuple[str, ...] = ()
        self._combined: list[Numbering] = []
        self._table = UnitTable()
        self._sizes: dict[tuple[str, ...], dict[tuple[int, ...], GroupSize]] = {}
        self._counted: dict[tuple[str, ...], list[Ints]] = {}

    def add(self, groups: GroupsOfRows) -> None:
        """Add the groups of further rows."""
        if not len(groups.kind):
            return
        self._sizes, self._counted = {}, {}
        self.__dict__.pop("_combinations", None)
        self._columns = tuple(groups.codes)
        self._combined = self._combined or [Numbering() for _ in self._columns[1:]]
        unit, *others = groups.codes.values()
        for numbering, codes in zip(self._combined, others, strict=True):
            unit = numbering.of((unit << _BITS) | codes)[0].astype(np.int64)
        self._table.add(unit, groups.kind, None)

    def of(self, codes: Mapping[str, int]) -> GroupSize:
        """Return the numbers of the rows with given group codes by key column."""
        columns = tuple(codes)
        if columns not in self._sizes:  # of all groups, since many ask one by one
            self._sizes[columns] = self._sizes_by(columns)
        return self._sizes[columns].get(tuple(codes.values()), GroupSize(rows=0, positives=0, counted=0))

    def counted_codes(self, column: str, codes: Mapping[str, int]) -> Ints:
        """Return the group codes of a key column among rows of positive weight with given codes of others.

        They are in order.
        """
        if not self._combined:  # the codes of a single key are the units
            return np.flatnonzero(self._table.sums[:, :2].any(axis=1))
        columns = *codes, column
        if columns not in self._counted:  # sorted once, since many groups ask one by one
            code_of, counts = self._combinations
            is_counted = counts[:, :2].sum(axis=1) > 0
            keys = [code_of[name][is_counted] for name in columns]
            if not codes:
                return distinct_numbers(*keys)
            order = np.lexsort(keys[::-1])
            self._counted = {columns: [key[order] for key in keys]}
        *others, own = self._counted[columns]
        first, last = 0, len(own)
        for key, code in zip(others, codes.values(), strict=True):
            first, last = (first + np.searchsorted(key[first:last], [code, code + 1])).tolist()
        return own[first:last][run_starts(own[first:last])]

    def _sizes_by(self, columns: tuple[str, ...]) -> dict[tuple[int, ...], GroupSize]:
        code_of, counts = self._combinations
        order = np.lexsort([code_of[column] for column in reversed(columns)])
        keys = [code_of[column][order] for column in columns]
        starts = row_starts(keys, len(order))
        sums = np.add.reduceat(counts[order], starts, axis=0)
        groups = zip(*(key[starts].tolist() for key in keys), strict=True)
        return {
            group: GroupSize(
                rows=sum(by_kind), positives=by_kind[1] + by_kind[3], counted=by_kind[0] + by_kind[1]
            )
            for group, by_kind in zip(groups, sums.tolist(), strict=True)
        }

    @cached_property
    def _combinations(self) -> tuple[dict[str, Ints], Ints]:
        """Codes by key column of each combination, and its rows by kind, of shape (combinations, 4)."""
        present = np.flatnonzero(self._table.sums.any(axis=1))
        counts = self._table.of(present, _KINDS)
        codes, unit = dict[str, Ints](), present
        for column, numbering in zip(reversed(self._columns[1:]), reversed(self._combined), strict=True):
            pair = numbering.values[unit]
            unit, codes[column] = pair >> _BITS, pair & ((1 << _BITS) - 1)
        codes[self._columns[0]] = unit
        return codes, counts


_BITS: Final = 32
"""Bits of a group code, of which two make a number of 64."""
