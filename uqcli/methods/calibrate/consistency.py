"""Whether the parts of a saved calibration map fit together."""

from __future__ import annotations

from uqcli.methods.calibrate.maps import CalibrationMap


def contradiction_in_map(map_: CalibrationMap) -> str | None:
    """The first contradiction, or None."""
    return map_.contradiction()
