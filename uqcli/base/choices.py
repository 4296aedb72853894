"""Enumerations of all option values, in the order in which help lists them."""

from __future__ import annotations

from collections.abc import Iterable
from enum import StrEnum
from typing import TYPE_CHECKING, Final, Self


class Algorithm(StrEnum):
    """Algorithm that finds a boundary."""

    VW_DPMT = "vw-dpmt"
    EW_DPMT = "ew-dpmt"
    MIST = "mist"
    GMT = "gmt"
    HR = "hr"
    ST = "st"
    SMOOTH = "smooth"


class Binning(StrEnum):
    """Binning of score and uncertainty."""

    # see estimates/binning.py

    cuts_uncertainty: bool
    """Whether it bins score and uncertainty; if not, the score only."""

    def __new__(cls, value: str, cuts_uncertainty: bool = False) -> Self:
        """Create a member with its value and ``cuts_uncertainty``."""
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
    """Calibration map from scores to probabilities."""

    # each has a line in calibrate/fit.py, or in calibrate/run_classes.py for class probabilities

    PLATT = "platt"
    TEMPERATURE = "temperature"
    BETA = "beta"
    SPLINE = "spline"
    VECTOR = "vector"
    MATRIX = "matrix"
    ISOTONIC = "isotonic"
    VENN_ABERS = "venn-abers"
    HISTOGRAM = "histogram"
    MIST = "mist"
    SURFACE = "surface"
    HETEROGENEOUS = "heterogeneous"
    PRIOR = "prior"
    IDENTITY = "identity"


OF_UNCERTAINTY: Final = (CalibrationMethod.MIST, CalibrationMethod.SURFACE)
"""Methods of calibration that use the uncertainty."""


# typer needs enums; these are derived at start-up so that they cannot diverge
# a type checker cannot follow this, so it sees the classes below
if TYPE_CHECKING:

    class AlgorithmChoice(StrEnum):
        """The members that code refers to."""

        SMOOTH = "smooth"
        ALL = "all"

    class CalibrationChoice(StrEnum):
        """The members that code refers to."""

        AUTO = "auto"
        ALL = "all"
        PRIOR = "prior"
        IDENTITY = "identity"

    ScoreBinning = Binning
    GridBinning = Binning
else:

    def _choices(name: str, description: str, members: Iterable[StrEnum], **more: str) -> type[StrEnum]:
        """Create an enumeration of some members and more values, as choices of an option."""
        enumeration = StrEnum(name, {member.name: member.value for member in members} | more, module=__name__)
        enumeration.__doc__ = description
        return enumeration

    AlgorithmChoice = _choices(
        "AlgorithmChoice", "An algorithm, or all of them side by side.", Algorithm, ALL="all"
    )
    CalibrationChoice = _choices(
        "CalibrationChoice",
        "A calibration method, the simplest that fits (auto), or all of them in one ranked table.",
        CalibrationMethod,
        AUTO="auto",
        ALL="all",
    )
    ScoreBinning = _choices(
        "ScoreBinning",
        "The binnings that cut the score alone.",
        (binning for binning in Binning if not binning.cuts_uncertainty),
    )
    GridBinning = _choices(
        "GridBinning",
        "The binnings that cut both score and uncertainty.",
        (binning for binning in Binning if binning.cuts_uncertainty),
    )


class BinSizing(StrEnum):
    """Default bin size of pava-bc."""

    # see estimates/binning.py

    AUTO = "auto"
    PAPER = "paper"


class ReviewKind(StrEnum):
    """Limit of the review between flagged and cleared rows."""

    # each is an option of boundary

    REVIEW = "review"
    MISS = "miss"
    OMISSION = "max-omission"


class GroupBound(StrEnum):
    """Rows in which the constraint of a boundary of groups holds: all together, or each group by itself."""

    OVERALL = "overall"
    EACH = "each"


class OnInvalid(StrEnum):
    """Action on a row with a null, NaN or infinite value in a needed column."""

    ERROR = "error"
    DROP = "drop"
    KEEP = "keep"


class FileFormat(StrEnum):
    """Input and output file formats."""

    CSV = "csv"
    PARQUET = "parquet"
    ARROW = "arrow"
    JSONL = "jsonl"

    @property
    def is_text(self) -> bool:
        """Whether the format is line-based, and may be compressed as a whole file."""
        return self in (FileFormat.CSV, FileFormat.JSONL)


class ReportFormat(StrEnum):
    """Formats of report files, by the ending of the name."""

    # each has a module of the same name in reports/formats

    HTML = ".html"
    MARKDOWN = ".md"
    JSON = ".json"
    CSV = ".csv"
    JUNIT = ".xml"
    PROMETHEUS = ".prom"


class ConformalMethod(StrEnum):
    """Non-conformity scores."""

    # each has a line in conformal/coverage.py

    APS = "aps"
    LAC = "lac"


class ConformalMode(StrEnum):
    """Groups within which coverage is guaranteed."""

    MARGINAL = "marginal"
    LABEL_CONDITIONAL = "label-conditional"
    LABEL_SHIFT = "label-shift"


class ShiftEstimator(StrEnum):
    """Estimator of the class weights q/p."""

    BBSE = "bbse"
    EM = "em"
    KNOWN = "known"


class ConfusionForm(StrEnum):
    """Confusion matrix of BBSE: of predicted classes (hard) or of probabilities (soft)."""

    HARD = "hard"
    SOFT = "soft"


class CalibrationTest(StrEnum):
    """Calibration test of a prediction, given the labels of its bin."""

    BINOMIAL = "binomial"
    T = "t"


class LeafMethod(StrEnum):
    """Calibration method within the leaves of a partition."""

    PLATT = "platt"
    BETA = "beta"
    ISOTONIC = "isotonic"


class Partitioner(StrEnum):
    """Partition of the feature space."""

    TREE = "tree"
    FOREST = "forest"
    BOOSTED = "boosted"


class SplitCriterion(StrEnum):
    """Split criterion of a tree."""

    GINI = "gini"
    AUC = "auc"


class SampleGoal(StrEnum):
    """What the labels of a sample are for."""

    PRECISION = "precision"
    RECALL = "recall"
    CERTIFICATE = "certificate"


class ExportTarget(StrEnum):
    """Language of an exported rule."""

    # each has a module in export

    SQL = "sql"
    PYTHON = "python"
    ONNX = "onnx"


class SqlDialect(StrEnum):
    """Dialect of exported SQL."""

    DUCKDB = "duckdb"
    SQLITE = "sqlite"
    POSTGRES = "postgres"
    BIGQUERY = "bigquery"
    SNOWFLAKE = "snowflake"
    SPARK = "spark"
    MYSQL = "mysql"


class EngineName(StrEnum):
    """Engine that reads and counts."""

    POLARS = "polars"
    SPARK = "spark"


class ArtifactKind(StrEnum):
    """Kinds of rule files."""

    # each has a rule file, or a state, declared in rules/codec.py

    GRID = "grid"
    BOUNDARY = "boundary"
    CALIBRATOR = "calibrator"
    CONFORMAL = "conformal"
    SHIFT = "shift"
    WATCH = "watch"
