"""Options that are saved with a calibrator."""

from __future__ import annotations

from uqcli.artifacts.calibrator import CalibratorParameters
from uqcli.choices import CalibrationMethod, OnInvalid
from uqcli.jobs.calibrate.fit import CalibrationOptions


def parameters_of(
    options: CalibrationOptions, columns: tuple[str, ...], *, on_invalid: OnInvalid, positive: str | None
) -> CalibratorParameters:
    """Return the options of a map; None if its method does not use one.

    Parameters
    ----------
    columns
        Features, or columns of the partition.
    """
    parted = options.method is CalibrationMethod.HETEROGENEOUS
    learned = parted and options.trees
    return CalibratorParameters(
        method=options.method,
        n_bins=options.n_bins if options.method is CalibrationMethod.HISTOGRAM else None,
        uncertainty_bins=options.uncertainty_bins if options.method is CalibrationMethod.MIST else None,
        features=list(columns) if learned else None,
        partition=list(columns) if parted and not learned else None,
        partitioner=options.partitioner if learned else None,
        max_depth=options.max_depth if learned else None,
        min_leaf=options.min_leaf if parted else None,
        split=options.split if learned else None,
        leaf_method=options.leaf_method if parted else None,
        seed=options.seed,
        on_invalid=on_invalid,
        positive=positive,
    )
