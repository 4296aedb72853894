"""``uqcli backtest``."""

from __future__ import annotations

from dataclasses import asdict, replace
from typing import ClassVar

from uqcli.backtest.options import BacktestRequest, PeriodOptions
from uqcli.base.defaults import UNCERTAINTY
from uqcli.base.errors import UsageError, words
from uqcli.base.options import option
from uqcli.base.records import dataclass
from uqcli.jobs import options
from uqcli.jobs.deliver import check_outputs, deliver
from uqcli.jobs.inputs import Reads, labelled_data
from uqcli.jobs.shell import is_typed, refuse_typed


@dataclass(frozen=True, kw_only=True)
class TargetOptions:
    """The target of all rules."""

    panel: ClassVar = "Target: one of these, or --top"

    precision: str | None = option("S", "Maximize recall at precision S or more.", common=True)
    recall: str | None = option("R", "Maximize precision at recall R or more.", common=True)
    max_fpr: str | None = option("F", "Maximize recall at false-positive rate F or less.")
    max_selected: str | None = option("P%", "Maximize recall with P% of rows flagged at most.")
    gain: str | None = option("G|COL", "Maximize the net value: a true positive gains G.")
    cost: str | None = option("C|COL", "Maximize the net value: a false positive costs C.")

    @classmethod
    def alternatives(cls) -> tuple[tuple[str, ...], ...]:
        """Targets by their options; an option of one excludes those of the others."""
        return (("precision",), ("recall",), ("max_fpr",), ("max_selected",), ("gain", "cost"))


def backtest(
    *,
    inputs: options.LabelledInputs = None,
    target: TargetOptions,
    periods: PeriodOptions,
    request: BacktestRequest,
    columns: options.FitColumns,
    figure: options.PlotOutput,
    reporting: options.ReportOptions,
    reading: options.InputOptions,
    running: options.RunOptions,
) -> None:
    """Fit rules through labelled history, and see whether they held."""
    reads = Reads.from_options(inputs, reading=reading, labels=columns.labels)
    context = check_outputs(reporting, None, reads=reads, running=running, plot=figure.plot, has_figures=True)
    if periods.day is None:
        raise UsageError(
            words("no --day"),
            expected="the column of the date of each row",
            remedy=words("name it with --day COLUMN"),
        )
    typed = asdict(target)
    if request.top is None:
        refuse_typed(("per",), words("is given without --top"), remedy=words("add --top"))
    else:
        given = ("precision", "recall", "max_fpr", "max_selected", "gain", "cost", "margin", "certify", "by")
        refuse_typed(given, words("and --top cannot be combined"), remedy="leave one of them out")
        refuse_typed(("uncertainty",), words("with --top"), "the score alone, which orders the rows")
        typed = {}
    from uqcli.backtest.run import run
    from uqcli.backtest.targets import targets_from

    data = labelled_data(inputs, columns, reading, running)
    if columns.uncertainty == UNCERTAINTY and not is_typed("uncertainty"):
        data = replace(data, roles=replace(data.roles, may_lack_uncertainty=True))
    targets = () if request.top is not None else targets_from(typed, request.margin)
    result = run(replace(request, data=data, targets=targets, periods=periods))
    deliver(result, reporting, context=context, plot=figure.plot)
