"""Options that are saved with a calibrator."""

from __future__ import annotations

from uqcli.artifacts.calibrator import CalibratorParameters
from uqcli.choices import CalibrationMethod, OnInvalid
from uqcli.jobs.calibrate.fit import CalibrationOptions


def parameters_of(
    how: CalibrationOptions, columns: tuple[str, ...], *, on_invalid: OnInvalid, positive: str | None
) -> CalibratorParameters:
    """Return the options of a map; None if its method does not use one.

    Parameters
    ----------
    columns
        Features, or columns of the partition.
    """
    parted = how.method is CalibrationMethod.HETEROGENEOUS
    learned = parted and how.trees
    return CalibratorParameters(
        method=how.method,
        n_bins=how.n_bins if how.method is CalibrationMethod.HISTOGRAM else None,
        uncertainty_bins=how.uncertainty_bins if how.method is CalibrationMethod.MIST else None,
        features=list(columns) if learned else None,
        partition=list(columns) if parted and not learned else None,
        partitioner=how.partitioner if learned else None,
        max_depth=how.max_depth if learned else None,
        min_leaf=how.min_leaf if parted else None,
        split=how.split if learned else None,
        leaf_method=how.leaf_method if parted else None,
        seed=how.seed,
        on_invalid=on_invalid,
        positive=positive,
    )
