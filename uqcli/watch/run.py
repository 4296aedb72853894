"""``uqcli watch``: test what a rule promises, batch by batch, as labels arrive."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

import msgspec

from uqcli.base import defaults
from uqcli.base.errors import ArtifactError, GateError, Opt, UsageError, words
from uqcli.base.options import ClusterColumn, caution_confidence, check_confidence
from uqcli.boundary.promise import Promise
from uqcli.boundary.rule import BoundaryArtifact
from uqcli.engines.columns import MissingColumnError
from uqcli.engines.open import open_engine, reusable_streams
from uqcli.rules.codec import content_of, decode, load_unedited
from uqcli.rules.labelled import refuse_keep
from uqcli.rules.result import Result
from uqcli.rules.saved import Saved, absent_if_none, given
from uqcli.watch.batches import Counted, kind_of, labelled, source_of
from uqcli.watch.days import are_dates
from uqcli.watch.measure import measured_promises, new_state, with_alarms
from uqcli.watch.options import CountingOptions, WatchRequest
from uqcli.watch.parts import NewRows, report_of
from uqcli.watch.promises import promises_of, require_promises
from uqcli.watch.report import WatchReport
from uqcli.watch.state import SHORT, WatchArtifact, WatchParameters
from uqcli.watch.unlabelled import UnlabelledReport, compare_unlabelled


def run(request: WatchRequest) -> Result[WatchReport | UnlabelledReport, WatchArtifact | None]:
    """Count new batches, and test each promise and whether it changed.

    Rows without the label column are compared with the calibration rows instead; they change no state.
    """
    check_confidence(request.alarms.confidence)
    refuse_keep(request.data.on_invalid)
    rule = load_unedited(request.artifact)
    require_promises(rule)
    with reusable_streams():
        try:
            result = _watched(request, rule)
        except MissingColumnError as error:
            is_meant = "label" in request.columns.typed or "label" in error.misspelt
            is_meant |= request.counts_labels or not isinstance(rule, BoundaryArtifact)
            if "label" not in error.roles or is_meant:
                raise
        else:
            if request.expectation.is_asked:
                raise UsageError(
                    words("--calibrator with labelled rows"),
                    expected="rows without labels",
                    remedy="drop the option",
                )
            return result
        return Result(report=compare_unlabelled(request, rule), artifact=None)


def _watched(
    request: WatchRequest, rule: Saved
) -> Result[WatchReport | UnlabelledReport, WatchArtifact | None]:
    begun = _begun(request, rule)
    request = begun.by_day(request, rule)
    parameters = begun.parameters(request)
    delta = parameters.risk()
    caution_confidence("--delta", float(delta))
    kind = kind_of(parameters, request)
    promises = promises_of(rule, parameters.bound, delta, kind.units_of(parameters))
    state = begun.state(rule, parameters, promises)
    if [saved_promise.name for saved_promise in state.promises] != [promise.name for promise in promises]:
        raise ArtifactError(
            f"'{request.state.state}' watches other promises",
            expected="the state of this rule",
            remedy=_OTHER,
        )
    state = _changed(state, request.counting, promises)
    counted = Counted(state=state, new=NewRows(unit=kind.unit))
    if request.has_rows:
        counted = kind(state, request, rule, promises).add()
        state = counted.state
    report = report_of(
        state,
        measured_promises(state, promises, request.alarms.confidence, counted.units),
        counted.new,
        request.alarms.confidence,
        kept=request.is_kept,
        is_continued=begun.has_batches and not request.counting.acknowledge,
    )
    failure = GateError([f"alarm: {sentence}" for sentence in report.alarms()]) if report.alarms() else None
    artifact = state if request.is_kept and (request.has_rows or request.counting.change_state) else None
    return Result(report=report, artifact=artifact, failure=failure, saved_though_failed=True)


_OTHER = words("name another --state FILE")
_RESTORED = words("restore it, or {}", _OTHER)


def _begun(request: WatchRequest, rule: Saved) -> _New:
    """Load the state, if it is not new."""
    if not request.content:
        if not request.has_rows:
            raise UsageError(
                f"'{request.state.state}' has no batches",
                expected="the state of a watch",
                remedy="check its name",
            )
        return _New()
    try:
        saved = decode(request.content, str(request.state.state))
    except ArtifactError as error:
        problem = error.found.replace("rule file", "state")
        raise ArtifactError(problem, expected="the state of a watch", remedy=_RESTORED) from error
    if not isinstance(saved, WatchArtifact):
        raise ArtifactError(f"'{request.state.state}' is a rule file of kind {saved.kind}", remedy=_OTHER)
    if saved.unsealed:
        problem = saved.unsealed.replace("rule file", "state")
        raise ArtifactError(
            f"'{request.state.state}': {problem}", expected="the state of a watch", remedy=_RESTORED
        )
    if saved.artifact != _digest_of(rule):
        raise UsageError(
            f"'{request.state.state}' is the state of another rule",
            expected="the state of this one",
            remedy=_OTHER,
        )
    return _Continued(saved)


def _digest_of(rule: Saved) -> str:
    return str(content_of(rule)["digest"])


class _New:
    """A watch without a state, or with a new one."""

    has_batches = False

    def by_day(self, request: WatchRequest, rule: Saved) -> WatchRequest:
        """Take clusters that are days for days: rows of a day are counted together, not one of them."""
        column = request.clusters.cluster
        if column is None:
            return request
        as_day = replace(request, clusters=ClusterColumn(), days=replace(request.days, day=column))
        return as_day if self._are_days(column, request, rule) else request

    def _are_days(self, column: str, request: WatchRequest, rule: Saved) -> bool:
        if request.days.day is not None or not request.has_rows:
            return request.days.day == column
        batches = open_engine(request.data.engine).batches(labelled(rule, request).clustered_by(column))
        for _ in batches:
            pass
        return are_dates(batches.levels[column])

    def parameters(self, request: WatchRequest) -> WatchParameters:
        """Return the options of the watch."""
        return WatchParameters(
            delta=request.alarms.delta or defaults.WATCH_DELTA,
            run_length=request.alarms.run_length or defaults.RUN_LENGTH,
            bound=request.alarms.bound,
            day=request.days.day,
            matured=request.days.matured or 0,
            cluster=absent_if_none(request.clusters.cluster),
        )

    def state(self, rule: Saved, parameters: WatchParameters, promises: Sequence[Promise]) -> WatchArtifact:
        """Return the state before new rows are counted."""
        return new_state(parameters, promises, columns=rule.columns, artifact=_digest_of(rule))


class _Continued(_New):
    """A watch with the state of earlier runs, whose options cannot change."""

    def __init__(self, saved: WatchArtifact) -> None:
        self._saved, self.has_batches = saved, bool(saved.counted)

    def _are_days(self, column: str, request: WatchRequest, rule: Saved) -> bool:  # noqa: ARG002
        return self._saved.parameters.day == column and request.days.day in (None, column)

    def parameters(self, request: WatchRequest) -> WatchParameters:
        saved = self._saved.parameters
        options = {**vars(request.alarms), **vars(request.days), **vars(request.clusters)}
        for name in ("delta", "run_length", "bound", "day", "matured", "cluster"):
            asked, old = options[name], given(getattr(saved, name))
            if asked not in (None, old):
                option = Opt(name)
                of = words("without {}", option) if old is None else words("of {} {}", option, old)
                raise UsageError(
                    words("{} {} with a state {}", option, asked, of), expected="the same", remedy=_OTHER
                )
        return saved

    def state(
        self,
        rule: Saved,  # noqa: ARG002
        parameters: WatchParameters,  # noqa: ARG002
        promises: Sequence[Promise],  # noqa: ARG002
    ) -> WatchArtifact:
        return self._saved


def _changed(state: WatchArtifact, counting: CountingOptions, promises: Sequence[Promise]) -> WatchArtifact:
    """Take back a batch, or acknowledge the alarms so far."""
    if counting.forget is not None:
        name = _named(state, counting.forget)
        kept = [batch for batch in state.batches if batch.name != name]
        (forgotten,) = (batch for batch in state.batches if batch.name == name)
        before = sum(batch.name != name for batch in state.batches[: state.acknowledged])
        released = sorted({*(state.released or ()), *(forgotten.clusters or ())})
        changed = msgspec.structs.replace(
            state,
            batches=kept,
            acknowledged=before,
            source=source_of(state, kept, dropped=0),
            released=released or msgspec.UNSET,
        )
        state = with_alarms(changed, promises, known=0)
    if counting.acknowledge:
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
