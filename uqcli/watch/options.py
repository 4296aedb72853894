"""Request of ``uqcli watch``."""

from __future__ import annotations

from typing import TYPE_CHECKING, ClassVar

from uqcli.base import defaults
from uqcli.base.options import ClusterColumn, filled, flag, option
from uqcli.base.records import dataclass
from uqcli.rules.columns import ColumnOverrides

if TYPE_CHECKING:
    from uqcli.engines.request import DataRequest


@dataclass(frozen=True, kw_only=True)
class StateOptions:
    """File of the state of the watch."""

    panel: ClassVar = "State"

    state: str | None = option(
        "FILE", "Keep the counts of all batches in this file, from run to run.", guarded=True, common=True
    )


@dataclass(frozen=True, kw_only=True)
class DayOptions:
    """Column of days, of which each is a batch, and how old they are counted; None as in the state."""

    panel: ClassVar = "State"

    day: str | None = option("COL", "Count each day, week or number of this column once.", common=True)
    matured: int | None = option(
        "N", "Count a day only N days later, when its labels are complete.", min=0, guarded=True
    )


@dataclass(frozen=True, kw_only=True)
class CountingOptions:
    """What happens to batches that were counted before."""

    panel: ClassVar = "State"

    replace: bool = flag("Count a day or batch again if its labels have changed.", guarded=True)
    strict: bool = flag("End with exit code 2 if a batch was counted before.")
    forget: str | None = option("BATCH", "Take a batch out of the counts: its digest or day.", guarded=True)
    acknowledge: bool = flag("Clear the alarms and start counting anew.", guarded=True, common=True)

    @property
    def change_state(self) -> bool:
        """Whether the state changes without new rows."""
        return self.acknowledge or self.forget is not None


@dataclass(frozen=True, kw_only=True)
class AlarmOptions:
    """What raises an alarm; None as in the state, and the bound the rule's own."""

    panel: ClassVar = "Alarms"

    bound: str | None = option(
        "S",
        "Limit to watch. (default: what is certified, else the lower end of what was expected, "
        "else the target)",
        guarded=True,
    )
    delta: str | None = option(
        "D",
        f"Chance that a rule that meets its target ever rings the alarm. (default: {defaults.WATCH_DELTA})",
        guarded=True,
    )
    run_length: int | None = option(
        "A",
        f"Mean number of batches until a false alarm of a change. (default: {defaults.RUN_LENGTH})",
        min=1,
        guarded=True,
    )
    confidence: float = option("C", "Confidence of the intervals.", defaults.CONFIDENCE)


@dataclass(frozen=True, kw_only=True)
class ExpectationOptions:
    """What to expect of rows without labels."""

    panel: ClassVar = "Before labels"

    calibrator: str | None = option(
        "FILE", "Calibrator from which to expect precision and recall before labels arrive.", guarded=True
    )
    shift: str | None = option(
        "FILE", "Class weights of the new rows: a file written by uqcli shift.", guarded=True
    )

    @property
    def is_asked(self) -> bool:
        """Whether a calibrator was given."""
        return self.calibrator is not None


@dataclass(frozen=True, kw_only=True)
class WatchRequest:
    """A rule, new rows, the state of the watch so far, what raises an alarm, and what to expect.

    The rows have labels; without inputs the state alone is shown, or changed. ``artifact`` is the name of the
    rule. If the state ``is_kept`` in a file, that of this name, ``content`` is what the file had, empty for a
    new one. The cluster is the column of dependent rows, of which one is a trial.
    """

    data: DataRequest = filled()
    artifact: str = ""
    columns: ColumnOverrides = ColumnOverrides()
    state: StateOptions = StateOptions()
    is_kept: bool = False
    content: bytes = b""
    days: DayOptions = DayOptions()
    clusters: ClusterColumn = ClusterColumn()
    counting: CountingOptions = CountingOptions()
    alarms: AlarmOptions = AlarmOptions()
    expectation: ExpectationOptions = ExpectationOptions()

    @property
    def counts_labels(self) -> bool:
        """Whether an option is of no use for rows without labels."""
        return self.is_kept or not (self.days.matured is None and self.clusters.cluster is None)

    @property
    def has_rows(self) -> bool:
        """Whether there are new rows; else the state alone is read, or changed."""
        return bool(self.data.inputs)
