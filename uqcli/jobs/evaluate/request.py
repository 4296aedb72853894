"""Request of ``uqcli evaluate``."""

from __future__ import annotations

from typing import Any

from uqcli import defaults
from uqcli.artifacts.columns import ColumnOverrides
from uqcli.artifacts.saved import Saved
from uqcli.defaults import CONFIDENCE
from uqcli.engines.request import DataRequest, dependence
from uqcli.jobs.target_weights import SavedShift
from uqcli.methods.boundary.constraint import Constraint
from uqcli.records import dataclass


@dataclass(frozen=True, kw_only=True)
class EvaluateRequest:
    """Rules to evaluate, and the rows.

    Attributes
    ----------
    data
        Labelled rows. Columns and positive label are those of the rules, unless given in ``columns`` or here.
    artifacts
        Paths of rules of one kind, or their names if given as objects.
    rules
        The rules; None to load them.
    confidence
        Confidence level of the intervals, in (0, 1).
    bootstrap, seed
        Bootstrap resamples for the intervals of calibrators' metrics, and the seed.
    shift
        Class weights of target data, to measure coverage and precision there also.
    by
        Column of groups to evaluate as well; for a single rule.
    cluster
        Column whose equal values mark dependent rows; None if rows are independent.
    days
        Whether that column is one of days.
    audit
        Columns whose values, and pairs of values, are tested as segments; for a single rule.
    utility
        Gain and cost by which boundaries are measured; None for their own, if they have them.
    sampling_weight
        Column of 1 / the probability of each row to be in the file; None if rows count alike.
    """

    data: DataRequest
    artifacts: tuple[str, ...]
    rules: tuple[Saved, ...] | None = None
    columns: ColumnOverrides = ColumnOverrides()
    confidence: float = CONFIDENCE
    bootstrap: int = 0
    seed: int = defaults.SEED
    shift: SavedShift | None = None
    by: str | None = None
    cluster: str | None = None
    days: bool = False
    audit: tuple[str, ...] = ()
    utility: Constraint | None = None
    sampling_weight: str | None = None

    @property
    def option(self) -> str:
        """Option that names the column of dependent rows."""
        return f"--{dependence(days=self.days)}"

    @property
    def units(self) -> str:
        """What dependent rows are within."""
        return f"{dependence(days=self.days)}s"

    @property
    def takes_option(self) -> bool:
        """Whether a column of dependent rows may be given: no other option needs independent rows."""
        return self.shift is None

    @property
    def saved_dependence(self) -> dict[str, Any]:
        """Parameter of the column of dependent rows; empty if they are independent."""
        return {} if self.cluster is None else {dependence(days=self.days): self.cluster}
