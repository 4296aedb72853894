"""What algorithms do, in a few words for tables."""

from __future__ import annotations

from collections.abc import Mapping
from types import MappingProxyType
from typing import Final

from uqcli.choices import Algorithm

IN_WORDS: Final[Mapping[Algorithm, str]] = MappingProxyType(
    {
        Algorithm.VW_DPMT: "the optimum on the grid",
        Algorithm.EW_DPMT: "the optimum for cells of equal size",
        Algorithm.MIST: "an isotonic fit in each uncertainty bin",
        Algorithm.GMT: "each uncertainty bin by itself",
        Algorithm.HR: "one threshold on a score that the uncertainty raises",
        Algorithm.ST: "one score threshold",
        Algorithm.SMOOTH: "the best by smoothed rates",
    }
)
