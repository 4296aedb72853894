"""New rows as batches of a watch: one for all rows, or one for each day, beside those counted before."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace

import msgspec
import numpy as np

from uqcli.base.counts import Ints
from uqcli.base.errors import Opt, UsageError, words
from uqcli.base.records import dataclass
from uqcli.boundary.dependent_columns import dependent_columns
from uqcli.boundary.promise import Promise
from uqcli.boundary.rule import BoundaryArtifact
from uqcli.conformal.rule import ConformalArtifact
from uqcli.engines.columns import key_named_by
from uqcli.engines.open import open_engine
from uqcli.engines.request import DataRequest
from uqcli.rules.labelled import labelled_request
from uqcli.rules.saved import Saved, Source, given
from uqcli.watch.counts import (
    ALL,
    AllRows,
    ByDay,
    ClusterTrials,
    CountedInputs,
    Counts,
    RowDigest,
    count_promises,
    new_trials,
)
from uqcli.watch.days import names_of_days
from uqcli.watch.measure import Units, with_alarms
from uqcli.watch.options import WatchRequest
from uqcli.watch.parts import NewRows
from uqcli.watch.state import UNNAMED, BatchCounts, SavedBatch, WatchArtifact, WatchParameters, short_name


@dataclass(frozen=True, kw_only=True)
class Counted:
    """A state, what new rows brought to it, and the units of rows that depend on each other, if any."""

    state: WatchArtifact
    new: NewRows
    units: Units = ()


def kind_of(parameters: WatchParameters, request: WatchRequest) -> type[OneLook]:
    """Choose how new rows become batches."""
    if parameters.day is not None:
        return EachDay
    return ByDigest if request.is_kept else OneLook


@dataclass(frozen=True, kw_only=True)
class _NewBatches:
    """Batches that were counted, by name, beside those of the state: new, to be replaced, or seen before."""

    counts: Mapping[str, Counts]
    clusters: Mapping[str, list[str]]
    added: tuple[str, ...]
    replaced: tuple[str, ...]
    seen: tuple[str, ...]


class OneLook(AllRows):
    """New rows are one batch, which no file keeps."""

    unit = "batch"

    def __init__(
        self, state: WatchArtifact, request: WatchRequest, rule: Saved, promises: Sequence[Promise]
    ) -> None:
        self.state, self.request, self.rule, self.promises = state, request, rule, promises
        self.old = {batch.name: batch for batch in state.batches}

    @staticmethod
    def units_of(parameters: WatchParameters) -> str | None:
        """Return the column within whose values rows depend on each other; None if unknown."""
        return given(parameters.cluster)

    def add(self) -> Counted:
        """Count new rows; a batch that is known is left out."""
        data = self._labelled()
        counted = self._count(data)
        if known := self._same_batch(data, counted):
            self._refuse_known(known)
            return Counted(state=self.state, new=NewRows(unit=self.unit, known=(known,)))
        names = self._names(counted)
        new = self._compared(counted, names)
        if new.seen and len(new.seen) == len(new.counts):
            self._refuse_known(new.seen[-1])
        units = self._units(counted)
        new_rows = NewRows(
            unit="customer" if units else self.unit,
            added=new.added,
            known=new.seen,
            replaced=new.replaced,
            dates=self._dates(data),
            young=counted.young,
            stray=counted.stray,
            missing=counted.missing,
            unwatched=counted.unwatched,
        )
        saved = self._with_batches(counted, names, new)
        # after a replaced batch all alarms are sought again, since it changed what came before them
        looked_at = 0 if new.replaced else len(self.old)
        final = with_alarms(saved, self.promises, known=looked_at, units=units)
        return Counted(state=final, new=new_rows, units=units)

    def _labelled(self) -> DataRequest:
        """Return the labelled rows, keyed by what they depend on."""
        data = labelled(self.rule, self.request)
        return data.clustered_by(given(self.state.parameters.cluster))

    def _count(self, data: DataRequest) -> CountedInputs:
        known = set(self.state.released or ()).union(*(batch.clusters or () for batch in self.state.batches))
        with key_named_by(self.column, Opt("day")):
            return count_promises(data, self.rule, self.promises, separated=self, known=known)

    def _same_batch(self, data: DataRequest, counted: CountedInputs) -> str:  # noqa: ARG002
        """Return the batch that has the same rows and labels; empty if none has."""
        return ""

    def _names(self, counted: CountedInputs) -> Mapping[str, str]:  # noqa: ARG002
        """Name each batch."""
        return {ALL: UNNAMED}

    def _units(self, counted: CountedInputs) -> Units:
        """Return the successes and trials of each cluster, in the order of their digests.

        A state keeps no parts of a batch that a later run could count by.
        """
        of_promises = counted.clusters.get(ALL, [])
        return [_pairs([trials for _, trials in sorted(clusters.items())]) for clusters in of_promises]

    def _dates(self, data: DataRequest) -> str:
        """Return a column of dates that could be the days of rows; empty if there is none."""
        dates = dependent_columns(data).dates
        own = self.rule.first.per if isinstance(self.rule, BoundaryArtifact) else None
        return next((name for name in dates if own in (None, name)), "")  # a day has whole groups

    def _compared(self, counted: CountedInputs, names: Mapping[str, str]) -> _NewBatches:
        """Compare what was counted with the state."""
        counts = {names[day]: of_day for day, of_day in counted.by_day.items()}
        clusters: dict[str, list[str]] = {}
        if counted.clusters:
            counts, clusters = self._of_clusters(
                {names[day]: counted.clusters[day] for day in counted.by_day}
            )
        known = tuple(name for name in counts if name in self.old)
        replaced = tuple(self._replaced({name: _saved_counts(counts[name]) for name in known}))
        return _NewBatches(
            counts=counts,
            clusters=clusters,
            added=tuple(name for name in counts if name not in self.old),
            replaced=replaced,
            seen=tuple(name for name in known if name not in replaced),
        )

    def _replaced(self, known: Mapping[str, list[BatchCounts]]) -> Sequence[str]:
        """Return the batches to be replaced, of those that are counted already."""
        return [*known]

    def _of_clusters(
        self, new: Mapping[str, ClusterTrials]
    ) -> tuple[dict[str, Counts], dict[str, list[str]]]:
        """Count the rows of clusters that no other batch counts; also return these clusters by batch.

        Clusters of forgotten batches are released. Batches that are counted already left them out, and still
        do unless all are counted again.
        """
        owner = {cluster: batch.name for batch in self.state.batches for cluster in batch.clusters or ()}
        counts, clusters = {}, {}
        for name in sorted(new, key=lambda name: name in self.old):  # new batches may take what is released
            elsewhere = {cluster for cluster, batch in owner.items() if batch != name}
            if name in self.old and not self.request.counting.replace:
                elsewhere |= set(self.state.released or ())
            counts[name], clusters[name] = new_trials(new[name], elsewhere)
            owner |= dict.fromkeys(clusters[name], name)
        return {name: counts[name] for name in new}, clusters

    def _with_batches(
        self, counted: CountedInputs, names: Mapping[str, str], new: _NewBatches
    ) -> WatchArtifact:
        """Return the state with the batches that were counted; their clusters are released no more."""
        saved = {
            name: msgspec.structs.replace(
                self._saved(day, counted),
                counts=_saved_counts(new.counts[name]),
                clusters=new.clusters.get(name, msgspec.UNSET),
            )
            for day, name in names.items()
        }
        batches = [saved[batch.name] if batch.name in new.replaced else batch for batch in self.state.batches]
        batches += [saved[name] for name in new.added]
        released = set(self.state.released or ()).difference(*(batch.clusters or () for batch in batches))
        return msgspec.structs.replace(
            self.state,
            batches=batches,
            source=source_of(self.state, batches, dropped=self._dropped(counted, new.added)),
            released=sorted(released) or msgspec.UNSET,
        )

    def _saved(self, day: str, counted: CountedInputs) -> SavedBatch:
        """Return what is saved of a batch, without its counts."""
        return SavedBatch(
            digest=next(iter(counted.labelled), UNNAMED),
            unlabelled=next(iter(counted.unlabelled), msgspec.UNSET),
            rows=counted.rows[day],
            dropped=counted.summary.dropped,
            counts=[],
        )

    def _dropped(self, counted: CountedInputs, added: Sequence[str]) -> int:  # noqa: ARG002
        """Return the dropped rows that no batch states."""
        return 0

    def _refuse_known(self, name: str) -> None:
        if self.request.counting.strict:
            raise UsageError(
                f"{short_name(name)} is counted already", expected=words("new rows with --strict")
            )


class ByDigest(OneLook):
    """New rows are one batch, which a file keeps, and knows by its digest."""

    @staticmethod
    def units_of(parameters: WatchParameters) -> str | None:  # noqa: ARG004
        """See OneLook."""
        return None

    def digest(self) -> RowDigest:
        """See AllRows."""
        return RowDigest()

    def _same_batch(self, data: DataRequest, counted: CountedInputs) -> str:
        if known := next((digest for digest in counted.labelled if digest in self.old), ""):
            return known
        # the digest of a batch that does not state its rows is that of the bytes
        has_bytes = any(batch.rows is msgspec.UNSET for batch in self.state.batches)
        of_bytes = open_engine(data.engine).digest(data) if has_bytes else ""
        return of_bytes if of_bytes in self.old else ""

    def _names(self, counted: CountedInputs) -> Mapping[str, str]:
        """Name the batch, as that which has the same rows with fewer labels, if there is one.

        Other labels, which are not more of them, are a UsageError unless the request replaces the batch.
        """
        for batch in self.state.batches:
            if batch.unlabelled in counted.unlabelled:
                has_more = isinstance(batch.rows, int) and counted.rows[ALL] > batch.rows
                if not has_more and not self.request.counting.replace:
                    raise UsageError(
                        f"the rows of {short_name(batch.name)} have other labels now, and no more of them",
                        expected="new rows, or more labels of rows that are counted",
                        remedy=words("count the batch again with --replace"),
                    )
                return {ALL: batch.name}
        return {ALL: counted.labelled[0]}

    def _units(self, counted: CountedInputs) -> Units:  # noqa: ARG002
        return ()

    def _dates(self, data: DataRequest) -> str:  # noqa: ARG002
        return ""


class EachDay(ByDay, OneLook):
    """Each day is a batch, counted once."""

    unit = "day"

    @staticmethod
    def units_of(parameters: WatchParameters) -> str | None:
        """See OneLook."""
        return parameters.day

    def __init__(
        self, state: WatchArtifact, request: WatchRequest, rule: Saved, promises: Sequence[Promise]
    ) -> None:
        self.key = self.column = str(state.parameters.day)
        super().__init__(_with_days_named(state, self.key), request, rule, promises)
        self.matured, self.counted = state.parameters.matured, [*self.old] if request.is_kept else []

    def _labelled(self) -> DataRequest:
        """See OneLook: rows of a day are not taken as independent, whatever column the rule has."""
        data = super()._labelled()
        return replace(data, roles=replace(data.roles, fitted=()))

    def _units(self, counted: CountedInputs) -> Units:  # noqa: ARG002
        return ()

    def _dates(self, data: DataRequest) -> str:  # noqa: ARG002
        return ""

    def _names(self, counted: CountedInputs) -> Mapping[str, str]:
        return {day: day or UNNAMED for day in counted.by_day}

    def _replaced(self, known: Mapping[str, list[BatchCounts]]) -> Sequence[str]:
        """See OneLook: days are replaced only if that was asked for."""
        days = [day for day, counts in known.items() if self.old[day].counts != counts]
        if days and not self.request.counting.replace:
            raise UsageError(
                f"{days[0]} is counted already, and its counts differ now",
                expected="days whose labels are complete",
                remedy=words("raise --matured, or count the day again with --replace"),
            )
        return days

    def _saved(self, day: str, counted: CountedInputs) -> SavedBatch:
        return SavedBatch(day=day, rows=counted.rows[day], counts=[])

    def _dropped(self, counted: CountedInputs, added: Sequence[str]) -> int:
        return counted.summary.dropped if added else 0


def _pairs(counts: Sequence[tuple[int, int]]) -> tuple[Ints, Ints]:
    successes, trials = np.array(counts, dtype=np.int64).reshape(-1, 2).T
    return successes, trials


def _with_days_named(state: WatchArtifact, column: str) -> WatchArtifact:
    """Name the days of a state as new ones are; versions up to 0.4 took dates such as 29-Mar-24 for texts."""
    names = names_of_days([batch.name for batch in state.batches], column)
    batches = [msgspec.structs.replace(batch, day=names[batch.name]) for batch in state.batches]
    return msgspec.structs.replace(state, batches=batches)


def _saved_counts(counts: Counts) -> list[BatchCounts]:
    return [BatchCounts(successes=successes, trials=trials) for successes, trials in counts]


def source_of(state: WatchArtifact, batches: Sequence[SavedBatch], dropped: int) -> Source:
    """Return the rows that are counted, and those dropped so far.

    Batches of versions before 0.4 do not state their rows; their sum stays as it was.
    """
    rows, of_digests = (
        sum(int(getattr(batch, field) or 0) for batch in batches)
        - sum(int(getattr(batch, field) or 0) for batch in state.batches)
        for field in ("rows", "dropped")
    )
    return Source(
        rows=state.source.rows + rows,
        positives=None,
        dropped=state.source.dropped + of_digests + dropped,
        columns=state.source.columns,
    )


def labelled(rule: Saved, request: WatchRequest) -> DataRequest:
    """Return the request for the columns of the rule and the label."""
    data = labelled_request(request.data, request.columns, [rule])
    if isinstance(rule, ConformalArtifact):
        return data
    assert isinstance(rule, BoundaryArtifact)  # no other kind promises anything
    data = rule.as_decided(data)
    return replace(data, roles=replace(data.roles, keys=()))
