"""Request of ``uqcli evaluate``."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, ClassVar

from uqcli.base.errors import Opt
from uqcli.base.options import (
    FirstRowsOptions,
    GroupColumn,
    ResamplingOptions,
    SamplingWeights,
    files,
    filled,
    names,
    option,
)
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
class TargetOptions:
    """Class weights of other data."""

    panel: ClassVar = "Output"

    shift: SavedShift | None = option(
        "SHIFT.json",
        "Also measure precision or coverage with these class weights.",
        typed=str | None,
        guarded=True,
    )


@dataclass(frozen=True, kw_only=True)
class LabelledRows(SamplingWeights):
    """How the rows with a label were taken from all rows, whose probabilities may be used as well."""

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

    @property
    def are_sampled(self) -> bool:
        """Whether rows have sampling weights."""
        return self.sampling_weight is not None

    def weighting(self, data: DataRequest) -> DataRequest:
        """Return the request for rows with their sampling weights, if they have any."""
        from uqcli.estimates.survey import with_sampling_weights

        return data if self.sampling_weight is None else with_sampling_weights(data, self.sampling_weight)

    @property
    def have_file_of_all(self) -> bool:
        """Whether other files have all rows."""
        return self.unlabelled is not None

    @property
    def have_calibrator(self) -> bool:
        """Whether the probabilities of rows without a label are calibrated."""
        return self.calibrator is not None

    @property
    def are_assisted(self) -> bool:
        """Whether the probabilities of rows without a label are used."""
        return self.have_file_of_all or self.have_calibrator


@dataclass(frozen=True, kw_only=True)
class SegmentOptions:
    """Segments of the rows in which a rule is tested."""

    panel: ClassVar = "Output"

    audit: tuple[str, ...] = option(
        "COL,...",
        "Test the rule in each segment: each value of these columns and each pair of values.",
        (),
        parse=names,
    )


@dataclass(frozen=True, kw_only=True)
class Dependence:
    """Column whose equal values mark dependent rows, None if they are independent; it may be one of days.

    ``grouped`` is what clusters are called whose rows are ranked together; empty for others.
    """

    column: str | None = None
    days: bool = False
    grouped: str = ""

    @property
    def option(self) -> Opt:
        """Option that names the column."""
        return Opt(dependence(days=self.days))

    @property
    def units(self) -> str:
        """What dependent rows are within."""
        return self.grouped or f"{dependence(days=self.days)}s"

    @property
    def is_known(self) -> bool:
        """Whether a column marks dependent rows."""
        return self.column is not None

    @property
    def saved(self) -> dict[str, Any]:
        """Parameter of the column; empty if rows are independent."""
        return {dependence(days=self.days): self.column} if self.is_known else {}

    def of(self, data: DataRequest) -> DataRequest:
        """Return the request for rows with this column."""
        return data.clustered_by(self.column, days=self.days)


@dataclass(frozen=True, kw_only=True)
class EvaluateRequest:
    """Rules of one kind to evaluate, by their paths or, given as objects, their names, and the labelled rows.

    Columns and positive label of the rows are those of the rules, unless given in ``columns`` or in ``data``.
    ``rules`` are empty to load them. Groups and an audit are for a single rule. The utility is the gain and
    cost by which boundaries are measured; None for their own, if they have them.
    """

    data: DataRequest = filled()
    artifacts: tuple[str, ...] = filled()
    rules: tuple[Saved, ...] = ()
    columns: ColumnOverrides = ColumnOverrides()
    resampling: ResamplingOptions = ResamplingOptions()
    target: TargetOptions = TargetOptions()
    first: FirstRowsOptions = FirstRowsOptions()
    groups: GroupColumn = GroupColumn()
    labelled: LabelledRows = LabelledRows()
    audit: tuple[str, ...] = ()
    dependent: Dependence = Dependence()
    utility: Constraint | None = None

    @property
    def confidence(self) -> float:
        """Confidence of the intervals."""
        return self.resampling.confidence

    @property
    def has_shift(self) -> bool:
        """Whether precision or coverage is also measured with class weights."""
        return self.target.shift is not None

    @property
    def takes_option(self) -> bool:
        """Whether a column of dependent rows may be given: no other option needs independent rows."""
        return not self.has_shift
