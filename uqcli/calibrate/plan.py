"""Number of bootstrap resamples for a calibrator, and notes on missing intervals."""

from __future__ import annotations

from uqcli.base import defaults
from uqcli.base.options import ResamplingOptions
from uqcli.calibrate.options import CalibrateRequest


def plan_of(request: CalibrateRequest, measured_rows: int | None) -> ResamplingOptions:
    """Plan intervals if requested, or by default for few rows; ``measured_rows`` None means no rows."""
    replicates = request.resampling.bootstrap
    if replicates is None:
        is_small = measured_rows is not None and measured_rows <= defaults.BOOTSTRAP_ROWS
        replicates = defaults.BOOTSTRAP if is_small else 0
    return ResamplingOptions(
        bootstrap=replicates, seed=request.calibration.seed, confidence=request.resampling.confidence
    )


def plan_note(request: CalibrateRequest, plan: ResamplingOptions, *, measured: bool) -> list[str]:
    """Return the reason why there is no before and after, or no interval."""
    if not measured:
        return ["One row is too few to measure on: no before and after."]
    if request.resampling.bootstrap is None and not plan.bootstrap:
        return [f"No intervals above {defaults.BOOTSTRAP_ROWS:,} rows; ask for them with --bootstrap."]
    return []
