"""Requests of the commands that add columns to rows, with the options of each."""

from __future__ import annotations

from typing import TYPE_CHECKING, ClassVar

from uqcli import defaults
from uqcli.artifacts.columns import ColumnOverrides
from uqcli.choices import SampleGoal
from uqcli.options import REQUIRED, Intervals, choice, filled, flag, option
from uqcli.records import dataclass

if TYPE_CHECKING:
    from uqcli.artifacts.boundary import BoundaryArtifact
    from uqcli.artifacts.calibrator import CalibratorArtifact
    from uqcli.engines.request import DataRequest
    from uqcli.jobs.stream.output import RowsOutput
    from uqcli.reports.checks import Check


@dataclass(frozen=True, kw_only=True)
class ApplyRequest:
    """Request to apply a rule.

    Attributes
    ----------
    data
        Rows; their columns are those of the rule, unless given in ``columns``.
    artifact
        Path, or ``-`` for standard input.
    checks
        Checks on the metrics; their names are validated before any row is written.
    """

    panel: ClassVar = "Output"

    no_empty: bool = flag("Put the likeliest class into empty prediction sets (raises coverage).")
    only_selected: bool = flag("Write only the flagged rows (boundaries).")
    top: int | None = option(
        "N", "Flag the first N rows instead of using thresholds.", min=1, max=defaults.MAX_ROWS
    )
    per: str | None = option("COL", "With --top: N rows of each value of COL.")
    data: DataRequest = filled()
    artifact: str = filled()
    output: RowsOutput = filled()
    columns: ColumnOverrides = ColumnOverrides()
    checks: tuple[Check, ...] = ()


@dataclass(frozen=True, kw_only=True)
class SampleRequest:
    """What to draw, and how much.

    Attributes
    ----------
    data
        Rows; their columns are those of the rule, unless given in ``columns``.
    rule
        Path of a boundary, or the boundary itself.
    label_may_be_missing
        Whether inputs need not have the label column.
    output
        Where the rows are written.
    """

    panel: ClassVar = "Sample"

    for_: SampleGoal = choice("What the labels are for: precision or recall.", REQUIRED, metavar="GOAL")
    budget: int | None = option("N", "Rows to label; for recall, on average.", min=1, max=defaults.MAX_ROWS)
    plan: float | None = option("WIDTH", "State how many labels give an interval of this width.")
    calibrator: str | CalibratorArtifact | None = option(
        "FILE", "Calibrator that gives the rates for recall. (default: the scores)", typed=str | None
    )
    label: str | None = option("COL", "Label column; only rows without a label are drawn.")
    keep_labelled: bool = flag("Write rows that have a label as well, with weight 1, to evaluate both.")
    data: DataRequest = filled()
    rule: str | BoundaryArtifact = filled()
    label_may_be_missing: bool = False
    output: RowsOutput = filled()
    columns: ColumnOverrides = ColumnOverrides()
    intervals: Intervals = Intervals()


@dataclass(frozen=True, kw_only=True)
class UncertaintyRequest:
    """Columns from which scores and uncertainties are computed: Beta parameters, or ensemble members."""

    panel: ClassVar = "Model"

    alpha1: str | None = option("COL", "Beta parameter of the positive class (with --alpha0).")
    alpha0: str | None = option("COL", "Beta parameter of the negative class (with --alpha1).")
    members: str | None = option("PATTERN", "Ensemble members' probabilities: 'm_*', or a,b,c.")
    data: DataRequest = filled()
    output: RowsOutput = filled()
