"""Short descriptions of methods, for tables and sentences."""

from __future__ import annotations

from collections.abc import Mapping
from types import MappingProxyType
from typing import Final

from uqcli.base.choices import Binning, ConformalMethod, ShiftEstimator

BINNINGS: Final[Mapping[str, str]] = MappingProxyType(
    {
        Binning.EQUI_WEIGHT: "each bin has the same number of rows",
        Binning.SHARED: "score edges shared by all uncertainty bins",
        Binning.EQUI_SPAN: "bins of equal width",
        Binning.PAVA_BC: "steps of an isotonic fit, with bounded sizes",
        Binning.PAVA: "steps of an isotonic fit",
        Binning.QUANTILE: "the same number of rows in each bin",
        Binning.EQUISPACED: "equal width",
    }
)
CONFORMAL: Final[Mapping[str, str]] = MappingProxyType(
    {
        ConformalMethod.APS: "the likeliest classes until their probabilities together reach the threshold",
        ConformalMethod.LAC: "every class above a probability",
    }
)
ESTIMATORS: Final[Mapping[str, str]] = MappingProxyType(
    {
        ShiftEstimator.BBSE: "from predicted classes, corrected for the mistakes seen on the labelled rows",
        ShiftEstimator.EM: "by maximum likelihood, from probabilities that it calibrates",
        ShiftEstimator.KNOWN: "as given",
    }
)


def describe(method: str, words: Mapping[str, str]) -> str:
    """Join a method and its description.

    Examples
    --------
    >>> describe(Binning.PAVA, BINNINGS)
    'pava: steps of an isotonic fit'
    """
    return f"{method}: {words[method]}"
