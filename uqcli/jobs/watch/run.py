"""``uqcli watch``: test what a rule promises, batch by batch, as labels arrive."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace

import msgspec

from uqcli import defaults
from uqcli.artifacts.boundary import BoundaryArtifact
from uqcli.artifacts.codec import content_of, decode, load_unedited
from uqcli.artifacts.conformal import ConformalArtifact
from uqcli.artifacts.saved import Saved, Source
from uqcli.artifacts.watch import (
    SHORT,
    UNNAMED,
    BatchCounts,
    SavedBatch,
    SavedPromise,
    WatchArtifact,
    WatchParameters,
    short_name,
)
from uqcli.choices import ArtifactKind
from uqcli.engines.columns import MissingColumnError, key_named_by
from uqcli.engines.open import open_engine, reusable_streams
from uqcli.engines.request import DataRequest
from uqcli.errors import ArtifactError, GateError, UsageError
from uqcli.exact import decimal
from uqcli.jobs.evaluate.columns import labelled_request
from uqcli.jobs.evaluate.conformal_sets import labelled_sets_request
from uqcli.jobs.evaluate.request import EvaluateRequest
from uqcli.jobs.intervals import check_confidence
from uqcli.jobs.labelled import refuse_keep
from uqcli.jobs.result import Result
from uqcli.jobs.rule_groups import as_decided
from uqcli.jobs.watch.counts import ClusterTrials, CountedRows, Counts, count_promises, drawn_trials
from uqcli.jobs.watch.evidence import measured_promises, with_alarms
from uqcli.jobs.watch.promises import Promise, promises_of
from uqcli.jobs.watch.request import WatchRequest
from uqcli.jobs.watch.unlabelled import compare_unlabelled
from uqcli.reports.watch.report import WatchReport
from uqcli.reports.watch.unlabelled import UnlabelledReport


def run(request: WatchRequest) -> Result[WatchReport | UnlabelledReport, WatchArtifact | None]:
    """Count new batches, and test each promise and whether it changed.

    Rows without the label column are compared with the calibration rows instead; they change no state.

    Raises
    ------
    UsageError, DataError, ArtifactError
        An option does not apply, the state is of another rule, or the rows cannot be read.
    """
    check_confidence(request.confidence)
    refuse_keep(request.data.on_invalid)
    rule = request.rule or load_unedited(request.artifact)
    with reusable_streams():
        try:
            result = _watched(request, rule)
        except MissingColumnError as error:
            is_meant = "label" in request.columns.typed or error.is_misspelt
            counts = request.state is not None or request.day is not None
            if request.cluster is not None:
                counts = True
            if error.role != "label" or is_meant or counts or not isinstance(rule, BoundaryArtifact):
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
    parameters = _parameters(request, saved)
    delta = decimal("delta", parameters.delta, above=0, below=1)
    promises = promises_of(rule, parameters.bound, delta)
    state = saved or _new_state(rule, parameters, promises)
    if [saved_promise.name for saved_promise in state.promises] != [promise.name for promise in promises]:
        raise ArtifactError(
            f"'{request.state_name}' watches other promises", expected="the state of this rule", remedy=_OTHER
        )
    state = _changed(state, request, promises)
    added = _Added(state=state)
    if request.data.inputs or request.data.frame is not None:
        added = _with_rows(state, request, rule, promises)
    final = added.state
    measured = measured_promises(final, promises, request.confidence)
    report = WatchReport(
        rule_name=request.artifact,
        state=final,
        promises=measured,
        added=added.names,
        known=added.known,
        young=added.young,
        unwatched=added.unwatched,
        confidence=request.confidence,
        kept=request.state is not None,
    )
    failure = GateError([f"alarm: {sentence}" for sentence in report.alarms()]) if report.alarms() else None
    artifact = None if request.state is None else final
    return Result(report=report, artifact=artifact, failure=failure, saved_though_failed=True)


_OTHER = "name another --state FILE"


def _saved_state(request: WatchRequest, rule: Saved) -> WatchArtifact | None:
    """Load the state; None if it is new, or if there is none."""
    if not request.state:
        if request.acknowledge or request.forget is not None:
            raise UsageError(
                f"'{request.state_name}' has no batches",
                expected="the state of a watch",
                remedy="check its name",
            )
        return None
    try:
        saved = decode(request.state, request.state_name)
    except ArtifactError as error:
        found = error.found.replace("rule file", "state")
        raise ArtifactError(found, expected="the state of a watch", remedy=_OTHER) from error
    if not isinstance(saved, WatchArtifact):
        raise ArtifactError(f"'{request.state_name}' is a rule file of kind {saved.kind}", remedy=_OTHER)
    if saved.unsealed:
        raise ArtifactError(f"'{request.state_name}': {saved.unsealed.replace('rule file', 'state')}")
    if saved.artifact != _digest_of(rule):
        raise UsageError(
            f"'{request.state_name}' is the state of another rule",
            expected="that of this rule",
            remedy=_OTHER,
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
            cluster=msgspec.UNSET if request.cluster is None else request.cluster,
        )
    for name in ("delta", "run_length", "bound", "day", "matured", "cluster"):
        given, old = getattr(request, name), getattr(saved.parameters, name)
        old = None if isinstance(old, msgspec.UnsetType) else old
        if given is not None and given != old:
            option = name.replace("_", "-")
            of = f"of --{option} {old}" if old is not None else f"without --{option}"
            raise UsageError(f"--{option} {given} with a state {of}", expected="the same", remedy=_OTHER)
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
        before = sum(batch.name != name for batch in state.batches[: state.acknowledged])
        state = with_alarms(
            msgspec.structs.replace(state, batches=kept, acknowledged=before), promises, known=0
        )
    if request.acknowledge:
        state = msgspec.structs.replace(state, acknowledged=len(state.batches))
        state = with_alarms(state, promises, known=0)
    return state


def _named(state: WatchArtifact, text: str) -> str:
    """Return the name of a batch, of which a digest may be shortened as reports do."""
    names = [batch.name for batch in state.batches]
    found = [name for name in names if name == text or (len(text) >= SHORT and name.startswith(text))]
    if len(found) != 1:
        raise UsageError(f"no counted batch is '{text}'", expected="its digest or day, as in the state")
    return found[0]


@dataclass(frozen=True, kw_only=True)
class _Added:
    """A state with new batches: their names, those that were known, and rows that are not counted."""

    state: WatchArtifact
    names: tuple[str, ...] = ()
    known: tuple[str, ...] = ()
    young: int = 0
    unwatched: int = 0


def _with_rows(
    state: WatchArtifact, request: WatchRequest, rule: Saved, promises: Sequence[Promise]
) -> _Added:
    """Count new rows; a batch that is known is left out."""
    data, parameters = _labelled(rule, request), state.parameters
    name = ""
    if parameters.day is None:  # without a state no batch is ever compared with it
        name = UNNAMED if request.state is None else open_engine(data.engine).digest(data)
    if name and name in {batch.name for batch in state.batches}:
        _refuse_known(name, request)
        return _Added(state=state, known=(name,))
    if not isinstance(parameters.cluster, msgspec.UnsetType):
        data = data.clustered_by(parameters.cluster)
    with key_named_by(parameters.day, "--day"):
        counted = count_promises(data, rule, promises, parameters.day, parameters.matured)
    new = {day or name: counts for day, counts in counted.by_day.items()}
    old = {batch.name: batch for batch in state.batches}
    clusters: dict[str, list[str]] = {}
    if data.roles.cluster is not None:
        by_name = {day or name: counted.clusters[day] for day in counted.by_day}
        new, clusters = _of_clusters(by_name, old)
    known = tuple(day for day in new if day in old)
    differ = [day for day in known if old[day].counts != _saved_counts(new[day])]
    if differ and not request.replace:
        raise UsageError(
            f"{differ[0]} is counted already, and its counts differ now",
            expected="days whose labels are complete",
            remedy="raise --matured, or count the day again with --replace",
        )
    if known and len(known) == len(new) and not differ:
        _refuse_known(known[-1], request)
    batches = [
        _batch(batch.name, new, clusters, is_day=True) if batch.name in differ else batch
        for batch in state.batches
    ]
    added = tuple(batch for batch in new if batch not in old)
    batches += [_batch(batch, new, clusters, is_day=parameters.day is not None) for batch in added]
    rows = sum(size for day, size in counted.rows.items() if (day or name) in added)
    changed = msgspec.structs.replace(state, batches=batches, source=_source(state, rows, counted))
    final = with_alarms(changed, promises, known=0 if differ else len(state.batches))
    return _Added(state=final, names=added, young=counted.young, unwatched=counted.unwatched)


def _refuse_known(name: str, request: WatchRequest) -> None:
    if request.strict:
        raise UsageError(f"{short_name(name)} is counted already", expected="new rows with --strict")


def _of_clusters(
    new: Mapping[str, ClusterTrials], old: Mapping[str, SavedBatch]
) -> tuple[dict[str, Counts], dict[str, list[str]]]:
    """Count one trial of each cluster that no other batch counts; also return these clusters by batch."""
    seen = {cluster: batch.name for batch in old.values() for cluster in batch.clusters or ()}
    counts, clusters = {}, {}
    for name, trials in new.items():
        elsewhere = {cluster for cluster, batch in seen.items() if batch != name}
        counts[name], clusters[name] = drawn_trials(trials, elsewhere)
        seen |= dict.fromkeys(clusters[name], name)
    return counts, clusters


def _batch(
    name: str, counts: Mapping[str, Counts], clusters: Mapping[str, list[str]], *, is_day: bool
) -> SavedBatch:
    batch = SavedBatch(counts=_saved_counts(counts[name]), clusters=clusters.get(name, msgspec.UNSET))
    return msgspec.structs.replace(batch, **{"day" if is_day else "digest": name})


def _saved_counts(counts: Counts) -> list[BatchCounts]:
    return [BatchCounts(successes=successes, trials=trials) for successes, trials in counts]


def _source(state: WatchArtifact, rows: int, counted: CountedRows) -> Source:
    """Add the rows that are counted now, and those dropped, to those so far."""
    return Source(
        rows=state.source.rows + rows,
        positives=None,
        dropped=state.source.dropped + (counted.summary.dropped if rows else 0),
        columns=state.source.columns,
    )


def _labelled(rule: Saved, request: WatchRequest) -> DataRequest:
    """Return the request for the columns of the rule and the label."""
    evaluated = EvaluateRequest(data=request.data, artifacts=(request.artifact,), columns=request.columns)
    if isinstance(rule, ConformalArtifact):
        return labelled_sets_request(rule, evaluated)
    assert isinstance(rule, BoundaryArtifact)  # no other kind promises anything
    data = as_decided(labelled_request(evaluated, [rule]), rule)
    return replace(data, roles=replace(data.roles, keys=()))
