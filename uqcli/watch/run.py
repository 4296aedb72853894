"""``uqcli watch``: test what a rule promises, batch by batch, as labels arrive."""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from dataclasses import replace

import msgspec
import numpy as np

from uqcli.base import defaults
from uqcli.base.choices import ArtifactKind
from uqcli.base.counts import Ints
from uqcli.base.errors import ArtifactError, GateError, UsageError
from uqcli.base.options import caution_confidence, check_confidence
from uqcli.base.records import dataclass
from uqcli.boundary.dependent_columns import dependent_columns
from uqcli.boundary.rule import BoundaryArtifact
from uqcli.conformal.rule import ConformalArtifact
from uqcli.engines.columns import MissingColumnError, key_named_by
from uqcli.engines.open import open_engine, reusable_streams
from uqcli.engines.request import DataRequest
from uqcli.rules.codec import content_of, decode, load_unedited
from uqcli.rules.labelled import labelled_request, refuse_keep
from uqcli.rules.result import Result
from uqcli.rules.saved import Saved, Source, absent_if_none, given
from uqcli.watch.counts import ClusterTrials, CountedRows, Counts, count_promises, new_trials
from uqcli.watch.days import are_dates, names_of_days
from uqcli.watch.measure import Units, measured_promises, with_alarms
from uqcli.watch.options import WatchRequest
from uqcli.watch.parts import NewRows, report_of
from uqcli.watch.promises import Promise, promises_of
from uqcli.watch.report import WatchReport
from uqcli.watch.state import (
    SHORT,
    UNNAMED,
    BatchCounts,
    SavedBatch,
    SavedPromise,
    WatchArtifact,
    WatchParameters,
    short_name,
)
from uqcli.watch.unlabelled import UnlabelledReport, compare_unlabelled


def run(request: WatchRequest) -> Result[WatchReport | UnlabelledReport, WatchArtifact | None]:
    """Count new batches, and test each promise and whether it changed.

    Rows without the label column are compared with the calibration rows instead; they change no state.
    """
    check_confidence(request.confidence)
    refuse_keep(request.data.on_invalid)
    rule = request.rule or load_unedited(request.artifact)
    with reusable_streams():
        try:
            result = _watched(request, rule)
        except MissingColumnError as error:
            is_meant = "label" in request.columns.typed or "label" in error.misspelt
            counts = request.content is not None or request.matured is not None
            if request.cluster is not None:
                counts = True
            if "label" not in error.roles or is_meant or counts or not isinstance(rule, BoundaryArtifact):
                raise
        else:
            if request.calibrator is not None:
                raise UsageError(
                    "--calibrator with labelled rows",
                    expected="rows without labels",
                    remedy="drop the option",
                )
            return result
        return Result(report=compare_unlabelled(request, rule), artifact=None)


def _watched(
    request: WatchRequest, rule: Saved
) -> Result[WatchReport | UnlabelledReport, WatchArtifact | None]:
    saved = _saved_state(request, rule)
    request = _by_day(request, rule, saved)
    parameters = _parameters(request, saved)
    delta = parameters.risk()
    caution_confidence("--delta", float(delta))
    cluster = given(parameters.cluster)
    unit = parameters.day if parameters.day is not None or request.content is not None else cluster
    promises = promises_of(rule, parameters.bound, delta, unit)
    state = saved or _new_state(rule, parameters, promises)
    if [saved_promise.name for saved_promise in state.promises] != [promise.name for promise in promises]:
        raise ArtifactError(
            f"'{request.state}' watches other promises", expected="the state of this rule", remedy=_OTHER
        )
    state = _changed(state, request, promises)
    new, units = NewRows(unit="batch" if parameters.day is None else "day"), ()
    if request.has_rows:
        state, new, units = _with_rows(state, request, rule, promises)
    report = report_of(
        state,
        measured_promises(state, promises, request.confidence, units),
        new,
        request.confidence,
        kept=request.content is not None,
        is_continued=saved is not None and bool(saved.counted) and not request.acknowledge,
    )
    failure = GateError([f"alarm: {sentence}" for sentence in report.alarms()]) if report.alarms() else None
    is_read_alone = not (request.has_rows or request.acknowledge or request.forget is not None)
    artifact = None if request.content is None or is_read_alone else state
    return Result(report=report, artifact=artifact, failure=failure, saved_though_failed=True)


_OTHER = "name another --state FILE"
_RESTORED = f"restore it, or {_OTHER}"


def _by_day(request: WatchRequest, rule: Saved, saved: WatchArtifact | None) -> WatchRequest:
    """Take clusters that are days for days: rows of a day are counted together, not one of them."""
    column = request.cluster
    if column is None:
        return request
    as_day = replace(request, cluster=None, day=column)
    if saved is not None:
        return as_day if saved.parameters.day == column and request.day in (None, column) else request
    if request.day == column:
        return as_day
    if request.day is not None or not request.has_rows:
        return request
    batches = open_engine(request.data.engine).batches(_labelled(rule, request).clustered_by(column))
    for _ in batches:
        pass
    return as_day if are_dates(batches.levels[column]) else request


def _saved_state(request: WatchRequest, rule: Saved) -> WatchArtifact | None:
    """Load the state; None if it is new, or if there is none."""
    if not request.content:
        if not request.has_rows:
            raise UsageError(
                f"'{request.state}' has no batches", expected="the state of a watch", remedy="check its name"
            )
        return None
    try:
        saved = decode(request.content, str(request.state))
    except ArtifactError as error:
        problem = error.found.replace("rule file", "state")
        raise ArtifactError(problem, expected="the state of a watch", remedy=_RESTORED) from error
    if not isinstance(saved, WatchArtifact):
        raise ArtifactError(f"'{request.state}' is a rule file of kind {saved.kind}", remedy=_OTHER)
    if saved.unsealed:
        problem = saved.unsealed.replace("rule file", "state")
        raise ArtifactError(
            f"'{request.state}': {problem}", expected="the state of a watch", remedy=_RESTORED
        )
    if saved.artifact != _digest_of(rule):
        raise UsageError(
            f"'{request.state}' is the state of another rule", expected="the state of this one", remedy=_OTHER
        )
    return saved


def _digest_of(rule: Saved) -> str:
    return str(content_of(rule)["digest"])


def _parameters(request: WatchRequest, saved: WatchArtifact | None) -> WatchParameters:
    """Return the options of the watch: those of its state, which cannot change, or the given ones."""
    if saved is None:
        return WatchParameters(
            delta=request.delta or defaults.WATCH_DELTA,
            run_length=request.run_length or defaults.RUN_LENGTH,
            bound=request.bound,
            day=request.day,
            matured=request.matured or 0,
            cluster=absent_if_none(request.cluster),
        )
    for name in ("delta", "run_length", "bound", "day", "matured", "cluster"):
        asked, old = getattr(request, name), given(getattr(saved.parameters, name))
        if asked is not None and asked != old:
            option = name.replace("_", "-")
            of = f"of --{option} {old}" if old is not None else f"without --{option}"
            raise UsageError(f"--{option} {asked} with a state {of}", expected="the same", remedy=_OTHER)
    return saved.parameters


def _new_state(rule: Saved, parameters: WatchParameters, promises: Sequence[Promise]) -> WatchArtifact:
    return WatchArtifact(
        kind=ArtifactKind.WATCH,
        source=Source(rows=0, positives=None, dropped=0, columns=dict(rule.columns)),
        parameters=parameters,
        artifact=_digest_of(rule),
        promises=[
            SavedPromise(
                name=promise.name, bound=float(promise.bound), origin=promise.origin, successes=0, trials=0
            )
            for promise in promises
        ],
        batches=[],
        acknowledged=0,
    )


def _changed(state: WatchArtifact, request: WatchRequest, promises: Sequence[Promise]) -> WatchArtifact:
    """Take back a batch, or acknowledge the alarms so far."""
    if request.forget is not None:
        name = _named(state, request.forget)
        kept = [batch for batch in state.batches if batch.name != name]
        (forgotten,) = (batch for batch in state.batches if batch.name == name)
        before = sum(batch.name != name for batch in state.batches[: state.acknowledged])
        released = sorted({*(state.released or ()), *(forgotten.clusters or ())})
        changed = msgspec.structs.replace(
            state,
            batches=kept,
            acknowledged=before,
            source=_source(state, kept, dropped=0),
            released=released or msgspec.UNSET,
        )
        state = with_alarms(changed, promises, known=0)
    if request.acknowledge:
        state = msgspec.structs.replace(
            state, acknowledged=len(state.batches), uqcli_version=defaults.VERSION
        )
        state = with_alarms(state, promises, known=0)
    return state


def _named(state: WatchArtifact, text: str) -> str:
    """Return the name of a batch, of which a digest may be shortened as reports do."""
    names = [batch.name for batch in state.batches]
    matches = [name for name in names if name == text or (len(text) >= SHORT and name.startswith(text))]
    if len(matches) != 1:
        raise UsageError(f"no counted batch is '{text}'", expected="its digest or day, as in the state")
    return matches[0]


def _with_rows(
    state: WatchArtifact, request: WatchRequest, rule: Saved, promises: Sequence[Promise]
) -> tuple[WatchArtifact, NewRows, Units]:
    """Count new rows; a batch that is known is left out.

    The units, if any, are those of rows that are counted at once.
    """
    parameters = state.parameters
    data = _data_to_count(rule, request, parameters)
    if parameters.day is not None:
        state = _with_days_named(state, parameters.day)
    counted = _count(data, rule, promises, state, is_kept=request.content is not None)
    names, known = _named_batches(state, data, request, counted)
    if known:
        _refuse_known(known, request)
        return state, NewRows(unit="batch", known=(known,)), ()
    new = _new_batches(state, request, counted, names, has_clusters=data.roles.cluster is not None)
    if new.seen and len(new.seen) == len(new.counts):
        _refuse_known(new.seen[-1], request)
    is_single = parameters.day is None and request.content is None
    units, dates = _dependence(data, counted) if is_single else ((), "")
    new_rows = NewRows(
        unit="day" if parameters.day is not None else "customer" if units else "batch",
        added=new.added,
        known=new.seen,
        replaced=new.replaced,
        dates=dates,
        young=counted.young,
        stray=counted.stray,
        missing=counted.missing,
        unwatched=counted.unwatched,
    )
    saved = _with_batches(state, counted, names, new)
    # after a replaced batch all alarms are sought again, since it changed what came before them
    final = with_alarms(saved, promises, known=0 if new.replaced else len(state.batches), units=units)
    return final, new_rows, units


def _data_to_count(rule: Saved, request: WatchRequest, parameters: WatchParameters) -> DataRequest:
    """Return the labelled rows, keyed by what they depend on."""
    data = _labelled(rule, request)
    if parameters.day is not None:  # its rows are not taken as independent, whatever column the rule has
        data = replace(data, roles=replace(data.roles, fitted_clusters=None))
    cluster = given(parameters.cluster)
    return data if cluster is None else data.clustered_by(cluster)


def _count(
    data: DataRequest, rule: Saved, promises: Sequence[Promise], state: WatchArtifact, *, is_kept: bool
) -> CountedRows:
    """Count the rows, of days those whose labels are complete; a state that is kept knows earlier ones."""
    parameters = state.parameters
    with key_named_by(parameters.day, "--day"):
        return count_promises(
            data,
            rule,
            promises,
            day=parameters.day,
            matured=parameters.matured,
            counted=tuple(batch.name for batch in state.batches) if is_kept else None,
            clusters=set(state.released or ()).union(*(batch.clusters or () for batch in state.batches)),
        )


def _named_batches(
    state: WatchArtifact, data: DataRequest, request: WatchRequest, counted: CountedRows
) -> tuple[dict[str | None, str], str]:
    """Name each batch, by its day; also return the batch that has the same rows and labels, or no name."""
    if state.parameters.day is not None:
        return {day: day or UNNAMED for day in counted.by_day}, ""
    if request.content is None:
        return {None: UNNAMED}, ""
    known, is_same = _known_rows(state, data, request, counted)
    return {None: known or next(iter(counted.labelled), UNNAMED)}, (known or "") if is_same else ""


@dataclass(frozen=True, kw_only=True)
class _NewBatches:
    """Batches that were counted, by name, beside those of the state: new, to be replaced, or seen before."""

    counts: Mapping[str, Counts]
    clusters: Mapping[str, list[str]]
    added: tuple[str, ...]
    replaced: tuple[str, ...]
    seen: tuple[str, ...]


def _new_batches(
    state: WatchArtifact,
    request: WatchRequest,
    counted: CountedRows,
    names: Mapping[str | None, str],
    *,
    has_clusters: bool,
) -> _NewBatches:
    """Compare what was counted with the state; days are replaced only if that was asked for."""
    old = {batch.name: batch for batch in state.batches}
    counts = {names[day]: of_day for day, of_day in counted.by_day.items()}
    clusters: dict[str, list[str]] = {}
    if has_clusters:
        by_name = {names[day]: counted.clusters[day] for day in counted.by_day}
        counts, clusters = _of_clusters(by_name, old, set(state.released or ()), all_again=request.replace)
    known = tuple(name for name in counts if name in old)
    replaced = known
    if state.parameters.day is not None:
        replaced = tuple(name for name in known if old[name].counts != _saved_counts(counts[name]))
        _refuse_other_counts(replaced, request)
    return _NewBatches(
        counts=counts,
        clusters=clusters,
        added=tuple(name for name in counts if name not in old),
        replaced=replaced,
        seen=tuple(name for name in known if name not in replaced),
    )


def _refuse_other_counts(days: Sequence[str], request: WatchRequest) -> None:
    if days and not request.replace:
        raise UsageError(
            f"{days[0]} is counted already, and its counts differ now",
            expected="days whose labels are complete",
            remedy="raise --matured, or count the day again with --replace",
        )


def _with_batches(
    state: WatchArtifact, counted: CountedRows, names: Mapping[str | None, str], new: _NewBatches
) -> WatchArtifact:
    """Return the state with the batches that were counted; clusters that they count are released no more."""
    saved = {
        name: _batch(
            day,
            counted,
            counts=_saved_counts(new.counts[name]),
            clusters=new.clusters.get(name, msgspec.UNSET),
        )
        for day, name in names.items()
    }
    batches = [saved[batch.name] if batch.name in new.replaced else batch for batch in state.batches]
    batches += [saved[name] for name in new.added]
    released = set(state.released or ()).difference(*(batch.clusters or () for batch in batches))
    has_dropped = state.parameters.day is not None and new.added  # other batches state their own
    return msgspec.structs.replace(
        state,
        batches=batches,
        source=_source(state, batches, dropped=counted.summary.dropped if has_dropped else 0),
        released=sorted(released) or msgspec.UNSET,
    )


def _dependence(data: DataRequest, counted: CountedRows) -> tuple[Units, str]:
    """Return the units of rows that depend on each other, and a column of dates that could be their days.

    A state keeps no parts of a batch that a later run could count by.
    """
    dates = next(iter(dependent_columns(data).dates), "")
    return () if data.roles.cluster is None else _of_units(counted.clusters[None]), dates


def _known_rows(
    state: WatchArtifact, data: DataRequest, request: WatchRequest, counted: CountedRows
) -> tuple[str | None, bool]:
    """Find the batch that has these rows, and whether it has the same labels; None if they are new.

    Other labels, which are not more of them, are a UsageError unless the request replaces the batch.
    """
    digests = {batch.name for batch in state.batches}
    if known := next((digest for digest in counted.labelled if digest in digests), None):
        return known, True
    if any(batch.rows is msgspec.UNSET for batch in state.batches):  # whose digest is that of the bytes
        of_bytes = open_engine(data.engine).digest(data)
        if of_bytes in digests:
            return of_bytes, True
    for batch in state.batches:
        if batch.unlabelled in counted.unlabelled:
            has_more = isinstance(batch.rows, int) and counted.rows[None] > batch.rows
            if not has_more and not request.replace:
                raise UsageError(
                    f"the rows of {short_name(batch.name)} have other labels now, and no more of them",
                    expected="new rows, or more labels of rows that are counted",
                    remedy="count the batch again with --replace",
                )
            return batch.name, False
    return None, False


def _of_units(clusters: ClusterTrials) -> Units:
    """Return the successes and trials of each cluster, in the order of their digests."""
    return [_pairs([counts for _, counts in sorted(of_promise.items())]) for of_promise in clusters]


def _pairs(counts: Sequence[tuple[int, int]]) -> tuple[Ints, Ints]:
    successes, trials = np.array(counts, dtype=np.int64).reshape(-1, 2).T
    return successes, trials


def _refuse_known(name: str, request: WatchRequest) -> None:
    if request.strict:
        raise UsageError(f"{short_name(name)} is counted already", expected="new rows with --strict")


def _with_days_named(state: WatchArtifact, column: str) -> WatchArtifact:
    """Name the days of a state as new ones are; versions up to 0.4 took dates such as 29-Mar-24 for texts."""
    names = names_of_days([batch.name for batch in state.batches], column)
    batches = [msgspec.structs.replace(batch, day=names[batch.name]) for batch in state.batches]
    return msgspec.structs.replace(state, batches=batches)


def _of_clusters(
    new: Mapping[str, ClusterTrials],
    old: Mapping[str, SavedBatch],
    released: Collection[str],
    *,
    all_again: bool,
) -> tuple[dict[str, Counts], dict[str, list[str]]]:
    """Count the rows of clusters that no other batch counts; also return these clusters by batch.

    Clusters of forgotten batches are released. Batches that are counted already left them out, and still do
    unless all are counted again.
    """
    owner = {cluster: batch.name for batch in old.values() for cluster in batch.clusters or ()}
    counts, clusters = {}, {}
    for name in sorted(new, key=lambda name: name in old):  # new batches may take what is released
        elsewhere = {cluster for cluster, batch in owner.items() if batch != name}
        if name in old and not all_again:
            elsewhere |= set(released)
        counts[name], clusters[name] = new_trials(new[name], elsewhere)
        owner |= dict.fromkeys(clusters[name], name)
    return {name: counts[name] for name in new}, clusters


def _batch(
    day: str | None,
    counted: CountedRows,
    *,
    counts: list[BatchCounts],
    clusters: list[str] | msgspec.UnsetType,
) -> SavedBatch:
    if day is not None:
        return SavedBatch(day=day, rows=counted.rows[day], counts=counts, clusters=clusters)
    return SavedBatch(
        digest=next(iter(counted.labelled), UNNAMED),
        unlabelled=next(iter(counted.unlabelled), msgspec.UNSET),
        rows=counted.rows[None],
        dropped=counted.summary.dropped,
        counts=counts,
        clusters=clusters,
    )


def _saved_counts(counts: Counts) -> list[BatchCounts]:
    return [BatchCounts(successes=successes, trials=trials) for successes, trials in counts]


def _source(state: WatchArtifact, batches: Sequence[SavedBatch], dropped: int) -> Source:
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


def _labelled(rule: Saved, request: WatchRequest) -> DataRequest:
    """Return the request for the columns of the rule and the label."""
    data = labelled_request(request.data, request.columns, [rule])
    if isinstance(rule, ConformalArtifact):
        return data
    assert isinstance(rule, BoundaryArtifact)  # no other kind promises anything
    data = rule.as_decided(data)
    return replace(data, roles=replace(data.roles, keys=()))
