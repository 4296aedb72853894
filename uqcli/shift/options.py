"""Request of ``uqcli shift``."""

from __future__ import annotations

from typing import TYPE_CHECKING, ClassVar

from uqcli.base import defaults
from uqcli.base.choices import ConfusionForm, ShiftEstimator
from uqcli.base.options import ClusterColumn, OptionalResampling, choice, files, filled, numbers, option
from uqcli.base.records import dataclass

if TYPE_CHECKING:
    from uqcli.engines.request import DataRequest, Inputs


@dataclass(frozen=True, kw_only=True)
class ShiftRequest:
    """Labelled source rows, unlabelled target rows, and the estimator of the class weights.

    The target is optional only for estimator known. At most one of ``day`` and ``cluster``, of source and
    target, is given.
    """

    panel: ClassVar = "Class weights"

    target: Inputs = option(
        "FILE",
        "Unlabelled new data (repeatable); --weight is for the labelled rows.",
        (),
        common=True,
        typed=list[str] | None,
        parse=files,
        guarded=True,
    )
    estimator: ShiftEstimator = choice(
        "bbse: from predicted classes; em: maximum likelihood, after calibration on the labelled rows; "
        "known: from --prior.",
        defaults.SHIFT_ESTIMATOR,
    )
    confusion: ConfusionForm = choice(
        "bbse: count predicted classes (hard) or add up probabilities (soft).", defaults.CONFUSION
    )
    prior: tuple[float, ...] | None = option(
        "Q,...", "known: class priors of the new data, in class order.", parse=numbers
    )
    day: str | None = option("COL", "Column of days in both files, if rows of a day are dependent.")
    data: DataRequest = filled()
    clusters: ClusterColumn = ClusterColumn()
    resampling: OptionalResampling = OptionalResampling()
