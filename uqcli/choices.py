"""The closed sets of choices; each is parsed by its value and listed in help as it stands here."""

from __future__ import annotations

from collections.abc import Iterable
from enum import StrEnum
from typing import TYPE_CHECKING, Self


class Algorithm(StrEnum):
    """How a boundary is found."""

    # each has a module of its name in methods/boundary/algorithms

    VW_DPMT = "vw-dpmt"
    EW_DPMT = "ew-dpmt"
    MIST = "mist"
    GMT = "gmt"
    HR = "hr"
    ST = "st"
    SMOOTH = "smooth"


class Binning(StrEnum):
    """How score and uncertainty are cut into bins."""

    # each has a module of its name in methods/bin/rules

    cuts_uncertainty: bool
    """Whether it cuts both; if not, it cuts the score alone."""

    def __new__(cls, value: str, cuts_uncertainty: bool = False) -> Self:
        """Make a member of its text and of what it cuts."""
        member = str.__new__(cls, value)
        member._value_ = value
        member.cuts_uncertainty = cuts_uncertainty
        return member

    SHARED = "shared", True
    EQUI_WEIGHT = "equi-weight", True
    EQUI_SPAN = "equi-span", True
    PAVA_BC = "pava-bc"
    PAVA = "pava"
    QUANTILE = "quantile"
    EQUISPACED = "equispaced"


class CalibrationMethod(StrEnum):
    """How scores become probabilities."""

    # each has a line in jobs/calibrate/fit.py

    PLATT = "platt"
    TEMPERATURE = "temperature"
    BETA = "beta"
    ISOTONIC = "isotonic"
    HISTOGRAM = "histogram"
    MIST = "mist"
    HETEROGENEOUS = "heterogeneous"
    PRIOR = "prior"


# typer needs enums; made of others when the program starts, they need no lines of their own to keep in step,
# but a checker of types cannot follow: to it they are these
if TYPE_CHECKING:

    class AlgorithmChoice(StrEnum):
        """The members that code names."""

        SMOOTH = "smooth"
        ALL = "all"

    class CalibrationChoice(StrEnum):
        """The members that code names."""

        ALL = "all"

    ScoreBinning = Binning
    GridBinning = Binning
else:

    def _choices(name: str, words: str, members: Iterable[StrEnum], **more: str) -> type[StrEnum]:
        """Make choices of others, for the command line to offer."""
        made = StrEnum(name, {each.name: each.value for each in members} | more, module=__name__)
        made.__doc__ = words
        return made

    AlgorithmChoice = _choices(
        "AlgorithmChoice", "An algorithm, or all of them side by side.", Algorithm, ALL="all"
    )
    CalibrationChoice = _choices(
        "CalibrationChoice",
        "A calibration method, or all of them in one ranked table.",
        CalibrationMethod,
        ALL="all",
    )
    ScoreBinning = _choices(
        "ScoreBinning",
        "The binnings that cut the score alone.",
        (each for each in Binning if not each.cuts_uncertainty),
    )
    GridBinning = _choices(
        "GridBinning",
        "The binnings that cut both score and uncertainty.",
        (each for each in Binning if each.cuts_uncertainty),
    )


class BinSizing(StrEnum):
    """How large the bins of pava-bc are where nobody says."""

    # see methods/bin/block_sizes.py

    AUTO = "auto"
    PAPER = "paper"


class ConstraintKind(StrEnum):
    """What a boundary has to keep."""

    PRECISION = "precision"
    RECALL = "recall"
    MAX_SELECTED = "max-selected"
    MAX_FPR = "max-fpr"
    UTILITY = "utility"


class OnInvalid(StrEnum):
    """What to do with a row whose needed value is null, NaN or infinite."""

    ERROR = "error"
    DROP = "drop"
    KEEP = "keep"


class FileFormat(StrEnum):
    """File formats that are read and written."""

    CSV = "csv"
    PARQUET = "parquet"
    ARROW = "arrow"
    JSONL = "jsonl"

    @property
    def is_text(self) -> bool:
        """Whether it holds one record on a line, and may be compressed as a whole."""
        return self in (FileFormat.CSV, FileFormat.JSONL)


class ConformalMethod(StrEnum):
    """Non-conformity scores."""

    # each has a line in methods/conformal/scores.py

    APS = "aps"
    LAC = "lac"


class ConformalMode(StrEnum):
    """For whom coverage is promised."""

    MARGINAL = "marginal"
    LABEL_CONDITIONAL = "label-conditional"
    LABEL_SHIFT = "label-shift"


class ShiftEstimator(StrEnum):
    """How class weights q/p are found."""

    BBSE = "bbse"
    EM = "em"
    KNOWN = "known"


class Confusion(StrEnum):
    """What BBSE counts: predicted classes, or their probabilities."""

    HARD = "hard"
    SOFT = "soft"


class CalibrationTest(StrEnum):
    """How a bin's labels speak against a prediction."""

    BINOMIAL = "binomial"
    T = "t"


class LeafMethod(StrEnum):
    """How the leaves of a partition are calibrated."""

    PLATT = "platt"
    BETA = "beta"
    ISOTONIC = "isotonic"


class Partitioner(StrEnum):
    """What partitions the rows by their features."""

    TREE = "tree"
    FOREST = "forest"
    BOOSTED = "boosted"


class SplitCriterion(StrEnum):
    """What a split of a tree is chosen for."""

    GINI = "gini"
    AUC = "auc"


class Simulation(StrEnum):
    """What ``simulate`` can draw."""

    POSTERIOR = "posterior"
    GAUSSIAN = "gaussian"


class EngineName(StrEnum):
    """What reads the files and counts."""

    POLARS = "polars"
    SPARK = "spark"


class ArtifactKind(StrEnum):
    """Kinds of saved models."""

    # each has a module of its name in artifacts

    GRID = "grid"
    BOUNDARY = "boundary"
    CALIBRATOR = "calibrator"
    CONFORMAL = "conformal"
    SHIFT = "shift"
