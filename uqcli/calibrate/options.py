"""Request of ``uqcli calibrate``."""

from __future__ import annotations

from types import MappingProxyType
from typing import TYPE_CHECKING, ClassVar

from uqcli.base import defaults
from uqcli.base.choices import CalibrationChoice, LeafMethod, Partitioner, SplitCriterion
from uqcli.base.exact_numbers import size
from uqcli.base.options import (
    PAPERS,
    OptionalResampling,
    ResamplingOptions,
    choice,
    files,
    filled,
    flag,
    names,
    option,
)
from uqcli.base.records import dataclass

if TYPE_CHECKING:
    from uqcli.calibrate.fit_options import CalibrationOptions
    from uqcli.engines.request import DataRequest, Inputs


@dataclass(frozen=True, kw_only=True)
class PartOptions:
    """Partition of the rows for heterogeneous calibration, and the test set."""

    panel: ClassVar = MappingProxyType({"features": "Heterogeneous calibration", "test": "Test set"})

    features: tuple[str, ...] = option("COL,...", "Columns that trees split by.", (), parse=names)
    categorical: tuple[str, ...] = option(
        "COL,...", "Features whose numbers name categories.", (), parse=names
    )
    partition: tuple[str, ...] = option("COL,...", "Columns whose values name the parts.", (), parse=names)
    partitioner: Partitioner = choice(
        f"heterogeneous: one tree, a forest (mean), or boosted trees. (default: {defaults.PARTITIONER})",
        defaults.PARTITIONER,
        stated=True,
        panel=PAPERS,
    )
    max_depth: int | None = option(
        "D", f"Depth of the trees. (default: chosen for one tree, else {defaults.MAX_DEPTH})", parse=size
    )
    min_leaf: int | None = option(
        "N",
        "Minimum rows per part; smaller ones use a larger part's map. "
        f"(default: chosen for one tree, else {defaults.MIN_LEAF})",
        parse=size,
    )
    split: SplitCriterion = choice(
        f"heterogeneous: split trees by purity (gini) or by calibrated AUC. (default: {defaults.SPLIT})",
        defaults.SPLIT,
        stated=True,
        panel=PAPERS,
    )
    leaf_method: LeafMethod = choice(
        f"Map of each part. (default: {defaults.LEAF_METHOD})", defaults.LEAF_METHOD, stated=True
    )
    tree_data: Inputs = option(
        "FILE",
        "Labelled rows for the trees (repeatable). (default: half of the rows)",
        (),
        typed=list[str] | None,
        parse=files,
        guarded=True,
    )
    test: Inputs = option(
        "FILE",
        "Measure on this labelled test set (repeatable). (default: cross-validation)",
        (),
        typed=list[str] | None,
        parse=files,
        guarded=True,
    )


@dataclass(frozen=True, kw_only=True)
class CalibrateRequest:
    """Calibration map, its scale, and the rows.

    Attributes
    ----------
    calibration
        Method and its options, as far as they are given.
    """

    panel: ClassVar = "Calibration"

    method: CalibrationChoice | None = choice(
        "auto takes the simplest that fits. Formulas: temperature, platt, beta, spline. Steps: isotonic, "
        "histogram (with an error bound), mist (isotonic per uncertainty bin), venn-abers (with "
        "intervals). Others: surface (logistic in score and uncertainty), heterogeneous (one map per "
        "part of the rows), prior (only --undersampled), identity (none). With --proba: temperature, "
        "vector, matrix, isotonic, venn-abers, histogram. all ranks them by log loss and saves the best. "
        f"(default: {defaults.CALIBRATION_METHOD}, or prior with --undersampled)",
        metavar="NAME",
        common=True,
    )
    logit: bool = flag("Read scores as logits or other real numbers.")
    undersampled: float | None = option("TAU", "Correct the odds first: training kept one negative in TAU.")
    shift: str | None = option(
        "SHIFT.json", "Then correct the probabilities for these class weights.", guarded=True
    )
    n_bins: int = option(
        "B",
        f"histogram: score bins (quantiles). (default: {defaults.SINGLE_SCORE_BINS})",
        defaults.SINGLE_SCORE_BINS,
        parse=size,
        stated=True,
    )
    uncertainty_bins: int = option(
        "K",
        f"mist: uncertainty bins. (default: {defaults.UNCERTAINTY_BINS})",
        defaults.UNCERTAINTY_BINS,
        parse=size,
        stated=True,
    )
    data: DataRequest = filled()
    calibration: CalibrationOptions = filled()
    parts: PartOptions = PartOptions()
    resampling: OptionalResampling = OptionalResampling()

    def plan(self, measured_rows: int) -> ResamplingOptions:
        """Plan intervals if requested, or by default if there are rows to measure on, and not many."""
        replicates = self.resampling.bootstrap
        if replicates is None:
            replicates = defaults.BOOTSTRAP if 0 < measured_rows <= defaults.BOOTSTRAP_ROWS else 0
        return ResamplingOptions(
            bootstrap=replicates, seed=self.calibration.seed, confidence=self.resampling.confidence
        )
