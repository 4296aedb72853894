"""What methods do, in a few words for tables and sentences."""

from __future__ import annotations

from collections.abc import Mapping
from types import MappingProxyType
from typing import Final

from uqcli.choices import Algorithm, Binning, CalibrationMethod, ConformalMethod, ShiftEstimator

ALGORITHMS: Final[Mapping[str, str]] = MappingProxyType(
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
CALIBRATIONS: Final[Mapping[str, str]] = MappingProxyType(
    {
        CalibrationMethod.PLATT: "a logistic curve of the log-odds",
        CalibrationMethod.TEMPERATURE: "log-odds divided by one number",
        CalibrationMethod.BETA: "a rising curve of three numbers",
        CalibrationMethod.ISOTONIC: "the best rising steps",
        CalibrationMethod.HISTOGRAM: "the rate of each bin, with a bound",
        CalibrationMethod.MIST: "the best rising steps of each uncertainty level",
        CalibrationMethod.HETEROGENEOUS: "one map for each part of the rows",
        CalibrationMethod.PRIOR: "the correction of undersampling alone",
    }
)
BINNINGS: Final[Mapping[str, str]] = MappingProxyType(
    {
        Binning.EQUI_WEIGHT: "bins of equally many rows",
        Binning.SHARED: "score edges that all uncertainty bins share",
        Binning.EQUI_SPAN: "bins of equal width",
        Binning.PAVA_BC: "steps of an isotonic fit, sizes held within limits",
        Binning.PAVA: "steps of an isotonic fit",
        Binning.QUANTILE: "equally many rows",
        Binning.EQUISPACED: "equal width",
    }
)
CONFORMAL: Final[Mapping[str, str]] = MappingProxyType(
    {
        ConformalMethod.APS: "the likeliest classes up to a sum of probabilities",
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
    'st: one score threshold'
    """
    return f"{method}: {words[method]}"
