"""Request of ``uqcli evaluate``."""

from __future__ import annotations

from types import MappingProxyType
from typing import TYPE_CHECKING, Any, ClassVar

from uqcli.base import defaults
from uqcli.base.options import ResamplingOptions, files, filled, names, option
from uqcli.base.records import dataclass
from uqcli.engines.request import DataRequest, dependence
from uqcli.rules.columns import ColumnOverrides

if TYPE_CHECKING:
    from uqcli.boundary.search.constraint import Constraint
    from uqcli.calibrate.rule import CalibratorArtifact
    from uqcli.engines.request import Inputs
    from uqcli.rules.saved import Saved
    from uqcli.shift.rule import SavedShift


@dataclass(frozen=True, kw_only=True)
class EvaluateRequest:
    """Rules of one kind to evaluate, by their paths or, given as objects, their names, and the labelled rows.

    Columns and positive label of the rows are those of the rules, unless given in ``columns`` or in ``data``.
    ``rules`` are None to load them. Groups and an audit are for a single rule. The cluster is the column
    whose equal values mark dependent rows, None if they are independent, and may be one of days. The utility
    is the gain and cost by which boundaries are measured; None for their own, if they have them. ``grouped``
    is what clusters are called that are the values of ``per``; empty for others.
    """

    panel: ClassVar = MappingProxyType({"shift": "Output", "sampling_weight": "Columns", "audit": "Output"})

    shift: SavedShift | None = option(
        "SHIFT.json",
        "Also measure precision or coverage with these class weights.",
        typed=str | None,
        guarded=True,
    )
    top: int | None = option(
        "N",
        "Measure the N highest-ranked rows instead of those that thresholds flag, as apply --top does.",
        min=1,
        max=defaults.MAX_ROWS,
    )
    per: str | None = option(
        "COL", "With --top: the N rows of each value of this column, or of each date of times."
    )
    by: str | None = option("COL", "Also measure each group of this column.", common=True)
    sampling_weight: str | None = option("COL", "Column of 1 / the probability that a row is in the file.")
    unlabelled: Inputs | None = option(
        "FILE",
        "All rows, from which the labelled ones were taken: their probabilities narrow the intervals "
        "(repeatable).",
        typed=list[str] | None,
        parse=files,
        guarded=True,
    )
    calibrator: str | CalibratorArtifact | None = option(
        "FILE",
        "Calibrator of the probabilities of rows without a label. (default: the scores)",
        typed=str | None,
        guarded=True,
    )
    audit: tuple[str, ...] = option(
        "COL,...",
        "Test the rule in each segment: each value of these columns and each pair of values.",
        (),
        parse=names,
    )
    data: DataRequest = filled()
    artifacts: tuple[str, ...] = filled()
    rules: tuple[Saved, ...] | None = None
    columns: ColumnOverrides = ColumnOverrides()
    resampling: ResamplingOptions = ResamplingOptions()
    cluster: str | None = None
    days: bool = False
    utility: Constraint | None = None
    grouped: str = ""

    @property
    def assisted(self) -> bool:
        """Whether the probabilities of rows without a label are used."""
        return self.unlabelled is not None or self.calibrator is not None

    @property
    def has_shift(self) -> bool:
        """Whether precision or coverage is also measured with class weights."""
        return self.shift is not None

    @property
    def is_sampled(self) -> bool:
        """Whether rows have sampling weights."""
        return self.sampling_weight is not None

    @property
    def option(self) -> str:
        """Option that names the column of dependent rows."""
        return f"--{dependence(days=self.days)}"

    @property
    def units(self) -> str:
        """What dependent rows are within."""
        return self.grouped or f"{dependence(days=self.days)}s"

    @property
    def takes_option(self) -> bool:
        """Whether a column of dependent rows may be given: no other option needs independent rows."""
        return not self.has_shift

    @property
    def saved_dependence(self) -> dict[str, Any]:
        """Parameter of the column of dependent rows; empty if they are independent."""
        return {} if self.cluster is None else {dependence(days=self.days): self.cluster}
