"""What methods do, in a few words for tables and sentences."""

from __future__ import annotations

from collections.abc import Mapping
from types import MappingProxyType
from typing import Final

from uqcli.choices import Algorithm, Binning, CalibrationMethod, ConformalMethod, ShiftEstimator

ALGORITHMS: Final[Mapping[str, str]] = MappingProxyType(
    {
        Algorithm.VW_DPMT: "the exact optimum on the grid",
        Algorithm.EW_DPMT: "the exact optimum for cells of equal weight",
        Algorithm.MIST: "an isotonic fit in each uncertainty bin",
        Algorithm.GMT: "each uncertainty bin by itself",
        Algorithm.HR: "one threshold on a score raised with the uncertainty",
        Algorithm.ST: "a single threshold",
        Algorithm.SMOOTH: "the best by smoothed rates",
    }
)
CALIBRATIONS: Final[Mapping[str, str]] = MappingProxyType(
    {
        CalibrationMethod.PLATT: "a logistic curve of the log-odds",
        CalibrationMethod.TEMPERATURE: "log-odds divided by a temperature",
        CalibrationMethod.BETA: "a curve of three parameters",
        CalibrationMethod.ISOTONIC: "an isotonic fit",
        CalibrationMethod.HISTOGRAM: "the positive rate of each bin, with a bound",
        CalibrationMethod.MIST: "an isotonic fit in each uncertainty bin",
        CalibrationMethod.HETEROGENEOUS: "one map for each part of the rows",
        CalibrationMethod.PRIOR: "the correction for undersampling",
    }
)
BINNINGS: Final[Mapping[str, str]] = MappingProxyType(
    {
        Binning.EQUI_WEIGHT: "bins of equally many rows",
        Binning.SHARED: "score edges shared by all uncertainty bins",
        Binning.EQUI_SPAN: "bins of equal width",
        Binning.PAVA_BC: "steps of an isotonic fit, with bounded sizes",
        Binning.PAVA: "steps of an isotonic fit",
        Binning.QUANTILE: "equally many rows",
        Binning.EQUISPACED: "equal width",
    }
)
CONFORMAL: Final[Mapping[str, str]] = MappingProxyType(
    {
        ConformalMethod.APS: "the likeliest classes up to a total probability",
        ConformalMethod.LAC: "every class above a probability",
    }
)
ESTIMATORS: Final[Mapping[str, str]] = MappingProxyType(
    {
        ShiftEstimator.BBSE: "from how predicted classes are confused on the labelled rows",
        ShiftEstimator.EM: "by maximum likelihood, from calibrated probabilities",
        ShiftEstimator.KNOWN: "as given",
    }
)


def named(method: str, words: Mapping[str, str]) -> str:
    """A method with what it does.

    Examples
    --------
    >>> named(Algorithm.ST, ALGORITHMS)
    'st: a single threshold'
    """
    return f"{method}: {words[method]}"
