"""Request of ``uqcli watch``."""

from __future__ import annotations

from uqcli import defaults
from uqcli.artifacts.columns import ColumnOverrides
from uqcli.artifacts.saved import Saved
from uqcli.engines.request import DataRequest
from uqcli.jobs.target_weights import SavedShift
from uqcli.records import dataclass


@dataclass(frozen=True, kw_only=True)
class WatchRequest:
    """A rule, new rows, and the state of the watch so far.

    Attributes
    ----------
    data
        Labelled rows; no inputs to change the state only.
    artifact
        Path of the rule, or its name if it is given as an object.
    rule
        The rule; None to load it.
    state
        Content of the state file, empty for a new one; None to watch without a state.
    state_name
        Its name, for messages.
    delta
        Risk of a false alarm over the lifetime, as typed; None for that of the state.
    run_length
        Mean number of batches until a false change alarm; None for that of the state.
    bound
        Bound to watch in place of the rule's own; None for its own.
    cluster
        Column of dependent rows, of which one is a trial; None for that of the state, if any.
    day, matured
        Column of days, and the days until their labels are complete.
    replace
        Whether days that are counted already may differ now.
    strict
        Whether a batch that is counted already is an error.
    forget
        Digest or day of a batch to take back.
    acknowledge
        Whether to count from now on only, without the alarms so far.
    calibrator, shift
        For rows without labels: a calibrator of the same score, and class weights of these rows.
    """

    data: DataRequest
    artifact: str = ""
    rule: Saved | None = None
    columns: ColumnOverrides = ColumnOverrides()
    state: bytes | None = None
    state_name: str = ""
    delta: str | None = None
    run_length: int | None = None
    bound: str | None = None
    cluster: str | None = None
    day: str | None = None
    matured: int | None = None
    replace: bool = False
    strict: bool = False
    forget: str | None = None
    acknowledge: bool = False
    calibrator: str | None = None
    shift: SavedShift | None = None
    confidence: float = defaults.CONFIDENCE
