"""What a run of ``uqcli evaluate`` is asked for."""

from __future__ import annotations

from dataclasses import dataclass

from uqcli import defaults
from uqcli.artifacts.columns import ColumnOverrides
from uqcli.artifacts.saved import Saved
from uqcli.defaults import CONFIDENCE
from uqcli.engines.request import DataRequest
from uqcli.jobs.class_mix import SavedShift


@dataclass(frozen=True, kw_only=True)
class EvaluateRequest:
    """Models that are to be measured.

    Attributes
    ----------
    data
        Labelled rows; the models say which columns are read, unless ``columns`` does, and what the positive
        label is, unless it is given here.
    artifacts
        Paths of models of one kind, or their names where they are at hand.
    models
        The models themselves; None reads them.
    confidence
        Of the intervals, in (0, 1).
    bootstrap, seed
        Replicates of the intervals of calibrators' metrics, and the seed of the draws.
    shift
        Class weights of a target: coverage and precision there are measured, too.
    """

    data: DataRequest
    artifacts: tuple[str, ...]
    models: tuple[Saved, ...] | None = None
    columns: ColumnOverrides = ColumnOverrides()
    confidence: float = CONFIDENCE
    bootstrap: int = 0
    seed: int = defaults.SEED
    shift: SavedShift | None = None
