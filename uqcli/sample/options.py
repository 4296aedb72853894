"""Request of ``uqcli sample``."""

from __future__ import annotations

from typing import TYPE_CHECKING, ClassVar

from uqcli.base import defaults
from uqcli.base.choices import SampleGoal
from uqcli.base.options import REQUIRED, Intervals, RowOutput, choice, files, filled, flag, option
from uqcli.base.records import dataclass
from uqcli.rules.columns import ColumnOverrides

if TYPE_CHECKING:
    from uqcli.engines.request import DataRequest, Inputs


@dataclass(frozen=True, kw_only=True)
class SampleRequest:
    """What to draw, and how much.

    The columns of the rows are those of the rule, unless given in ``columns``. ``rule`` is the name of a
    boundary; None for a certificate. ``label_may_be_missing`` if inputs need not have
    the label column.
    """

    panel: ClassVar = "Sample"

    for_: SampleGoal = choice(
        "What the labels are for: precision, recall or certificate (no rule needed).",
        REQUIRED,
        metavar="GOAL",
        common=True,
    )
    budget: int | None = option(
        "N",
        "Number of rows to label; for recall, on average; for a certificate, with the pilot.",
        min=1,
        common=True,
        max=defaults.MAX_ROWS,
    )
    precision: str | None = option("S", "certificate: the precision to certify.")
    max_omission: str | None = option(
        "F", "certificate: in place of --precision, the largest share of positives among dropped rows."
    )
    pilot: Inputs | None = option(
        "FILE",
        "certificate: the labelled rows of the first call, to draw the rest (repeatable).",
        typed=list[str] | None,
        parse=files,
        guarded=True,
    )
    plan: float | None = option(
        "WIDTH", "Write no rows; say how many labels give an interval of this width.", common=True
    )
    calibrator: str | None = option(
        "FILE", "Calibrator whose probabilities plan a sample for recall. (default: the scores)", guarded=True
    )
    positive: str | None = option("VALUE", "certificate: label that means positive, such as yes.")
    label: str | None = option(
        "COL", "Label column, also of the pilot; of INPUT only rows without a label are drawn."
    )
    keep_labelled: bool = flag(
        "Also write the rows that have a label, with weight 1, so that evaluate uses all."
    )
    data: DataRequest = filled()
    rule: str | None = filled()
    label_may_be_missing: bool = False
    output: RowOutput = RowOutput()
    columns: ColumnOverrides = ColumnOverrides()
    intervals: Intervals = Intervals()
