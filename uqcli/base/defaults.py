"""All default values; command-line help, library and documentation read them here."""

from __future__ import annotations

import sys
from typing import Final

from uqcli.base.choices import (
    AlgorithmChoice,
    Binning,
    BinSizing,
    CalibrationChoice,
    CalibrationTest,
    ConformalMethod,
    ConformalMode,
    ConfusionForm,
    EngineName,
    FileFormat,
    GroupBound,
    LeafMethod,
    OnInvalid,
    Partitioner,
    ScoreBinning,
    ShiftEstimator,
    SplitCriterion,
)

VERSION: Final = "0.5.0"
FORMAT_VERSION: Final = 1

SCORE: Final = "score"
UNCERTAINTY: Final = "uncertainty"
LABEL: Final = "label"

ENGINE: Final = EngineName.POLARS
FILE_FORMAT: Final = FileFormat.CSV
DECIMAL: Final = "."
ON_INVALID: Final = OnInvalid.ERROR
ALGORITHM: Final = AlgorithmChoice.SMOOTH
GRID_BINNING: Final = Binning.EQUI_WEIGHT
SCORE_BINNING: Final = ScoreBinning.PAVA_BC
BIN_SIZES: Final = BinSizing.AUTO
CALIBRATION_TEST: Final = CalibrationTest.BINOMIAL
CALIBRATION_METHOD: Final = CalibrationChoice.AUTO
LEAF_METHOD: Final = LeafMethod.PLATT
PARTITIONER: Final = Partitioner.TREE
SPLIT: Final = SplitCriterion.GINI
CONFORMAL_METHOD: Final = ConformalMethod.APS
CONFORMAL_MODE: Final = ConformalMode.MARGINAL
MISCOVERAGE: Final = "0.1"
"""Alpha of prediction sets: the miscoverage rate."""

SHIFT_ESTIMATOR: Final = ShiftEstimator.BBSE
CONFUSION: Final = ConfusionForm.HARD
SEED: Final = 0

UNCERTAINTY_BINS: Final = 3
SHARED_UNCERTAINTY_BINS: Final = 8
"""Uncertainty bins of a shared grid, merged to the number that performs best."""

SCORE_BINS: Final = 500
SINGLE_SCORE_BINS: Final = 10
MAX_ROWS: Final = 3_000_000_000
"""Maximum total weight: every 64-bit product of two counts is exact."""

MAX_SEED: Final = 2**64 - 1
MAX_BINS: Final = 1_000_000
MAX_UNCERTAINTY_BINS: Final = 10_000
"""Maximum number of uncertainty bins; each has its own table, while a score bin is one entry."""

MAX_CELLS: Final = 10_000_000
"""Maximum number of grid cells; their counts fit into the memory of a small machine."""

MAX_GROUPS: Final = 100_000
"""Maximum number of groups of ``--by``, ``--partition`` and ``--audit``, each with results of its own."""

MAX_CLASSES: Final = 1_000
"""Maximum number of classes of ``--proba``, each a column of every row and a line of every table."""

MAX_LOOKED_AT: Final = 1_000
"""Columns that are looked at to find out what they are, beside those that are named."""

MAX_TABLE_BYTES: Final = 2 << 30
"""Maximum size in bytes of an algorithm's table."""

MAX_RULE_BYTES: Final = 64 << 20
"""Largest rule file. States of watch have no limit, since they name the customers that they count."""

MAX_NAME: Final = 4096
"""Most characters of a name in a rule file: of a column, a class or a group."""

ALPHA: Final = 0.05
MAX_DEPTH: Final = 3
MIN_LEAF: Final = 500
BOOTSTRAP: Final = 200
"""Bootstrap resamples where intervals are part of the result: percentile ends cover 95 % to a tenth."""

MAX_REPLICATES: Final = 1_000_000
BOOTSTRAP_ROWS: Final = 50_000
"""Rows up to which the bootstrap runs by default."""

MEASURED_ROWS: Final = 1_000_000
"""Maximum rows on which a map is cross-validated: beyond, sampling noise is below 0.001."""

FEW_SCORES: Final = 500
"""Distinct scores up to which calibration counts are kept as they are; more are merged into bins."""

CONFIDENCE: Final = 0.95

WATCH_DELTA: Final = "0.01"
"""Risk of a false alarm over the lifetime of a watched rule."""

RUN_LENGTH: Final = 1000
"""Mean number of batches until a false change alarm."""

FOLDS: Final = 5
"""Folds of cross-validation."""

GROUP_BOUND: Final = GroupBound.OVERALL

MIN_GROUP_ROWS: Final = 200
"""Weight below which a group is neither tested nor has thresholds of its own."""

LOWEST: Final = -sys.float_info.max
"""Threshold that flags every row: the lowest finite double."""

CSV_BLOCK_BYTES: Final = 8 << 20
"""Bytes per block of a CSV stream; two or three blocks are in memory at once."""

ROWS_PER_BATCH: Final = 1 << 17
"""Rows per batch of a columnar file."""

ROWS_PER_PART: Final = 1 << 19
"""Rows counted per part."""

SORTED_ROWS: Final = 14_000_000
"""Maximum rows sorted at once where a fit can proceed slice by slice."""

COLLECTED_ROWS: Final = 3 << 22
"""Maximum rows collected at once to resolve ranges into values."""

KEPT_BYTES: Final = 832_000_000
"""Maximum bytes of counted columns kept in memory between two passes."""

SMALL_WORK: Final = 150_000
"""Loop steps of a kernel before its machine code is loaded: below, Python is faster."""

UNCOMPILED_WORK: Final = 2_000_000
"""Loop steps of a kernel before it is compiled if the cache lacks its machine code."""

ROWS_PER_STEP: Final = 4
"""Rows that array functions count in the time of a loop step."""
