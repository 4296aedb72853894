"""What cannot be measured of rows that depend on each other, or do not count alike: said in one place.

The page on designs lists these reasons beside what is measured (tests/documentation/designs_page.py).
"""

from __future__ import annotations

from collections.abc import Mapping
from types import MappingProxyType
from typing import Final

from uqcli.base.errors import Opt

CLUSTERS: Final = "--cluster or --day"
WEIGHTS: Final = Opt("sampling-weight")
SHIFT: Final = Opt("shift")

AUDIT: Final = "segments (--audit)"
CALIBRATORS: Final = "calibrators"
SETS: Final = "prediction sets"
ERRORS: Final = "`tce`"

_ALIKE: Final = "tests of many segments at once need rows that count alike"
_OWN_DATA: Final = "segments are those of the rule's own data"
NO_RESAMPLES: Final = "resamples draw rows that count alike"
"""Why metrics with sampling weights have no intervals."""

REFUSED: Final[Mapping[tuple[str, str], str]] = MappingProxyType(
    {
        (WEIGHTS, AUDIT): _ALIKE,
        (WEIGHTS, SETS): "the guarantee of a set is about rows drawn alike",
        (WEIGHTS, SHIFT): "both would weigh the same rows",
        (CLUSTERS, SHIFT): "the draws of the class weights take rows as independent",
        (f"{CLUSTERS} and {WEIGHTS}", CALIBRATORS): "resamples of clusters do not carry weights",
        (f"{CLUSTERS} and {WEIGHTS}", ERRORS): "tests over clusters need rows that count alike",
        (SHIFT, AUDIT): _OWN_DATA,
        (SHIFT, CALIBRATORS): "their errors are those of the rows at hand",
        (SHIFT, ERRORS): "`tce` measures the rows at hand",
    }
)
"""Why a design cannot be combined with a subject, or with another design."""
