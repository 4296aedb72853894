"""Every default value in one place; command-line help, library and documentation read them here."""

from __future__ import annotations

import sys
from typing import Final

from uqcli.choices import (
    AlgorithmChoice,
    Binning,
    BinSizing,
    CalibrationMethod,
    CalibrationTest,
    ConformalMethod,
    ConformalMode,
    Confusion,
    EngineName,
    FileFormat,
    LeafMethod,
    OnInvalid,
    Partitioner,
    ScoreBinning,
    ShiftEstimator,
    SplitCriterion,
)

VERSION: Final = "0.2.0.dev0"
FORMAT_VERSION: Final = 1

SCORE: Final = "score"
UNCERTAINTY: Final = "uncertainty"
LABEL: Final = "label"

ENGINE: Final = EngineName.POLARS
FILE_FORMAT: Final = FileFormat.CSV
ON_INVALID: Final = OnInvalid.ERROR
ALGORITHM: Final = AlgorithmChoice.SMOOTH
GRID_BINNING: Final = Binning.EQUI_WEIGHT
SCORE_BINNING: Final = ScoreBinning.PAVA_BC
BIN_SIZES: Final = BinSizing.AUTO
CALIBRATION_TEST: Final = CalibrationTest.BINOMIAL
CALIBRATION_METHOD: Final = CalibrationMethod.PLATT
LEAF_METHOD: Final = LeafMethod.PLATT
PARTITIONER: Final = Partitioner.TREE
SPLIT: Final = SplitCriterion.GINI
CONFORMAL_METHOD: Final = ConformalMethod.APS
CONFORMAL_MODE: Final = ConformalMode.MARGINAL
MISS: Final = "0.1"
"""Alpha of conformal sets: the share of rows whose set may miss the true class."""

SHIFT_ESTIMATOR: Final = ShiftEstimator.BBSE
CONFUSION: Final = Confusion.HARD
SEED: Final = 0

UNCERTAINTY_BINS: Final = 3
SHARED_UNCERTAINTY_BINS: Final = 8
"""Of a shared grid, whose bins are added up to as many as pay."""

SCORE_BINS: Final = 500
SINGLE_SCORE_BINS: Final = 10
MOST_ROWS: Final = 3_000_000_000
"""Rows by weight up to which every 64-bit product of two counts is exact."""

MOST_SEED: Final = 2**64 - 1
MOST_BINS: Final = 1_000_000
MOST_UNCERTAINTY_BINS: Final = 10_000
"""Each is a table of its own, where a score bin is a number in one."""

MOST_CELLS: Final = 10_000_000
"""Cells of a grid up to which its counts fit into a small machine's memory."""

MOST_TABLE_BYTES: Final = 2 << 30
"""Size up to which the table of an algorithm is made at all."""

ALPHA: Final = 0.05
MAX_DEPTH: Final = 3
MIN_LEAF: Final = 500
BOOTSTRAP: Final = 200
"""Resamplings where intervals are part of the answer: their order statistics hold 95 % to a tenth."""

MOST_REPLICATES: Final = 1_000_000
BOOTSTRAP_ROWS: Final = 50_000
"""Rows up to which they are made without being asked for."""

MEASURED_ROWS: Final = 1_000_000
"""Rows on which a map is measured under cross-fitting at most: their own noise is below a thousandth."""

CONFIDENCE: Final = 0.95
FOLDS: Final = 5
"""Of cross-fitting."""

SIMULATED_ROWS: Final = 100_000
TAU, OMEGA, XI, PRIOR, NU = 3.0, 0.5, 0.25, 2.0, 4.0
GAMMAS: Final = (0.01, 0.05, 0.25)
"""Of simulated posterior networks, in the symbols of their paper."""

PREVALENCE: Final = 0.5
TRAIN_ROWS: Final = 14_000
NOISE: Final = 0.0
"""Of simulated Gaussian classes."""

LEAST_GROUP: Final = 200
"""Rows by weight below which a group's calibration is not tested: nothing but a gross error would show."""

LOWEST: Final = -sys.float_info.max
"""The threshold of a row that is always positive: the lowest finite double."""

CSV_BLOCK_BYTES: Final = 8 << 20
"""Text read at a time from a CSV stream; two or three blocks are in memory at once."""

ROWS_PER_BATCH: Final = 1 << 17
"""Rows read at a time from a columnar file."""

ROWS_PER_PART: Final = 1 << 19
"""Rows counted at a time."""

SORTED_ROWS: Final = 14_000_000
"""Rows sorted at once where a fit can take them slice by slice."""

COLLECTED_ROWS: Final = 3 << 19
"""Rows collected at once where ranges of values are opened."""

KEPT_BYTES: Final = 832_000_000
"""Memory up to which the columns that are counted are kept between two passes."""

SMALL_WORK: Final = 2_000_000
"""Loop steps of a kernel in a process before it is compiled: below, Python beats loading the compiler."""
