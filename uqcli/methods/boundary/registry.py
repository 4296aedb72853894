"""Boundary algorithms by name."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from types import MappingProxyType
from typing import Final

from uqcli.choices import Algorithm
from uqcli.methods.boundary.mist import isotonic_single_threshold
from uqcli.methods.boundary.result import Method
from uqcli.methods.boundary.st import single_threshold
from uqcli.methods.boundary.vw_dpmt import variable_weight_optimum


@dataclass(frozen=True, kw_only=True)
class AlgorithmEntry:
    """One algorithm and the cells it works on.

    Attributes
    ----------
    method
        From cells and a precision bound to top cells.
    uses_uncertainty
        Whether it works on the grid; if not, on all distinct scores of all rows.
    """

    method: Method
    uses_uncertainty: bool


ALGORITHMS: Final[Mapping[Algorithm, AlgorithmEntry]] = MappingProxyType(
    {
        Algorithm.VW_DPMT: AlgorithmEntry(method=variable_weight_optimum, uses_uncertainty=True),
        Algorithm.MIST: AlgorithmEntry(method=isotonic_single_threshold, uses_uncertainty=True),
        Algorithm.ST: AlgorithmEntry(method=single_threshold, uses_uncertainty=False),
    }
)
