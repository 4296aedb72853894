"""What a run of ``uqcli evaluate`` is asked for."""

from __future__ import annotations

from dataclasses import dataclass

from uqcli.choices import EngineName, OnInvalid
from uqcli.defaults import CONFIDENCE
from uqcli.engines.request import ReadOptions
from uqcli.jobs.models import ColumnOverrides


@dataclass(frozen=True, kw_only=True)
class EvaluateOptions:
    """A run of the command.

    Attributes
    ----------
    confidence
        Of the intervals, in (0, 1).
    bootstrap, seed
        Replicates of the intervals of calibrators' metrics, and the seed of their draws.
    shift
        Class weights of a target: coverage and precision there are measured, too.
    positive_value
        Text of the positive label; None means the artifact's own.
    """

    artifacts: tuple[str, ...]
    inputs: tuple[str, ...]
    columns: ColumnOverrides = ColumnOverrides()
    read: ReadOptions = ReadOptions()
    on_invalid: OnInvalid = OnInvalid.ERROR
    positive_value: str | None = None
    confidence: float = CONFIDENCE
    engine: EngineName = EngineName.POLARS
    shift: str | None = None
    bootstrap: int = 0
    seed: int = 0
