"""Options that are saved with a calibrator."""

from __future__ import annotations

from uqcli.base.choices import CalibrationMethod, OnInvalid
from uqcli.calibrate.fit_options import CalibrationOptions
from uqcli.calibrate.rule import CalibratorParameters


def parameters_of(
    options: CalibrationOptions, columns: tuple[str, ...], *, on_invalid: OnInvalid, positive: str | None
) -> CalibratorParameters:
    """Return the options of a map; an option that its method does not use is None.

    Parameters
    ----------
    columns
        Features, or columns of the partition.
    """
    assert options.method is not None
    is_heterogeneous = options.method is CalibrationMethod.HETEROGENEOUS
    learns_trees = is_heterogeneous and options.trees
    return CalibratorParameters(
        method=options.method,
        n_bins=options.n_bins if options.method is CalibrationMethod.HISTOGRAM else None,
        uncertainty_bins=options.uncertainty_bins if options.method is CalibrationMethod.MIST else None,
        features=list(columns) if learns_trees else None,
        partition=list(columns) if is_heterogeneous and not learns_trees else None,
        partitioner=options.partitioner if learns_trees else None,
        max_depth=options.depth if learns_trees else None,
        min_leaf=options.rows_of_leaf if is_heterogeneous else None,
        split=options.split if learns_trees else None,
        leaf_method=options.leaf_method if is_heterogeneous else None,
        seed=options.seed,
        on_invalid=on_invalid,
        positive=positive,
    )
