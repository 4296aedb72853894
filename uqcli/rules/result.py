"""Result of a run: its report with the rule, or rows with added columns."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import field, replace
from functools import wraps
from types import MappingProxyType
from typing import Any, Generic, ParamSpec, TypeVar

import msgspec

from uqcli.base.errors import UqcliError
from uqcli.base.options import RowOutput
from uqcli.base.records import dataclass
from uqcli.base.running.messages import caution, collected_doubts, doubt, leave_out
from uqcli.engines.open import open_engine
from uqcli.engines.protocol import AddedColumns, StreamRequest, StreamSummary
from uqcli.engines.request import DataRequest
from uqcli.reports.document import Report
from uqcli.rules.saved import Saved

ReportT_co = TypeVar("ReportT_co", bound=Report, covariant=True)
ArtifactT_co = TypeVar("ArtifactT_co", bound=Saved | None, covariant=True)


@dataclass(frozen=True, kw_only=True)
class Result(Generic[ReportT_co, ArtifactT_co]):
    """Report and rule of a run; there may be no rule to save, or none was found.

    The command ends with the ``failure`` after writing its report. The rule is not saved then, unless
    ``saved_though_failed``, as for an alarm; a failed check still prevents it. ``several`` are the rules to
    save if several results were requested, by the text that replaces ``{}`` in the output's name.
    """

    report: ReportT_co
    artifact: ArtifactT_co
    failure: UqcliError | None = None
    saved_though_failed: bool = False
    several: Mapping[str, Saved] = field(default_factory=dict)


Parameters = ParamSpec("Parameters")
ResultT = TypeVar("ResultT", bound=Result[Any, Any])


def keeps_doubts(fit: Callable[Parameters, ResultT]) -> Callable[Parameters, ResultT]:
    """Let the rule of a run keep the doubts that arise while it is fitted."""

    @wraps(fit)
    def fit_with_doubts(*args: Parameters.args, **options: Parameters.kwargs) -> ResultT:
        with collected_doubts() as doubts:
            result = fit(*args, **options)
        if not doubts or result.artifact is None:
            return result
        return replace(result, artifact=msgspec.structs.replace(result.artifact, doubts=list(doubts)))

    return fit_with_doubts


def inherit_doubts(rule: Saved) -> None:
    """Let the rule that is being fitted have the doubts about a rule that it is made of."""
    for sentence in rule.known_doubts:
        doubt(sentence)


def stream(
    data: DataRequest,
    added: AddedColumns,
    output: RowOutput,
    only: str | None = None,
    ranges: Mapping[str, tuple[float, float]] = MappingProxyType({}),
) -> StreamSummary:
    """Add columns to the rows of the inputs.

    ``only`` is the added column that selects the rows to write; None for all. Rows outside the ranges of
    numbers, by role, are counted.
    """
    summary = open_engine(data.engine).stream(
        StreamRequest(data=data, added=added, output=output, only=only, ranges=ranges)
    )
    leave_out(data.inputs, summary.left_out)
    if summary.left_out.is_doubtful:
        caution("rows-left-out", summary.left_out.caution())
    return summary


class WrittenRows(msgspec.Struct, frozen=True, kw_only=True):
    """Inputs: rows written, rows dropped, column names by role."""

    rows: int
    dropped: int
    columns: dict[str, str]
