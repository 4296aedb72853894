"""Request of ``uqcli sample``."""

from __future__ import annotations

from typing import TYPE_CHECKING, ClassVar

from uqcli.base import defaults
from uqcli.base.choices import SampleGoal
from uqcli.base.options import REQUIRED, Intervals, RowOutput, choice, filled, flag, option, several
from uqcli.base.records import dataclass
from uqcli.rules.columns import ColumnOverrides

if TYPE_CHECKING:
    from uqcli.engines.request import DataRequest, Inputs


@dataclass(frozen=True, kw_only=True)
class Population:
    """Rows from which rows are drawn, at random by a seed.

    Their columns are those of the rule, unless given in ``columns``. ``rule`` is the name of a boundary;
    empty for a certificate. ``label_may_be_missing`` if inputs need not have the label column.
    """

    data: DataRequest
    rule: str = ""
    label_may_be_missing: bool = False
    columns: ColumnOverrides = ColumnOverrides()
    intervals: Intervals = Intervals()


@dataclass(frozen=True, kw_only=True)
class SampleRequest:
    """What to draw of which rows, how much, and where to write it."""

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
    pilot: Inputs = several(
        "FILE",
        "certificate: the labelled rows of the first call, to draw the rest (repeatable).",
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
    population: Population = filled()
    output: RowOutput = RowOutput()

    @property
    def labels(self) -> tuple[str, ...]:
        """The column of labels, if there is one."""
        return () if self.label is None else (self.label,)
