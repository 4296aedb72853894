"""What a run of ``uqcli evaluate`` is asked for."""

from __future__ import annotations

from dataclasses import dataclass

from uqcli.artifacts.columns import ColumnOverrides
from uqcli.defaults import CONFIDENCE
from uqcli.engines.request import DataRequest


@dataclass(frozen=True, kw_only=True)
class EvaluateRequest:
    """Models that are to be measured.

    Attributes
    ----------
    data
        Labelled rows; the models say which columns are read, unless ``columns`` does, and what the positive
        label is, unless it is given here.
    artifacts
        Paths of models of one kind.
    confidence
        Of the intervals, in (0, 1).
    bootstrap, seed
        Replicates of the intervals of calibrators' metrics, and the seed of the draws.
    shift
        Path of class weights of a target: coverage and precision there are measured, too.
    """

    data: DataRequest
    artifacts: tuple[str, ...]
    columns: ColumnOverrides = ColumnOverrides()
    confidence: float = CONFIDENCE
    bootstrap: int = 0
    seed: int = 0
    shift: str | None = None
