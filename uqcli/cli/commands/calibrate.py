"""``uqcli calibrate``."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, Annotated, Any, ClassVar

import typer

from uqcli import defaults
from uqcli.choices import (
    CalibrationChoice,
    CalibrationMethod,
    EngineName,
    LeafMethod,
    Partitioner,
    SplitCriterion,
)
from uqcli.cli.conflicts import Reads, refuse_shared_files
from uqcli.cli.deliver import check_outputs, deliver
from uqcli.cli.groups import PAPERS, choice, flag, option
from uqcli.cli.inputs import labelled_data, parse_names
from uqcli.cli.options import (
    ArtifactOutput,
    ClassProbabilities,
    ClusterColumn,
    FitColumns,
    InputOptions,
    LabelledInputs,
    OptionalResampling,
    PlotOutput,
    ReportOptions,
    RunOptions,
)
from uqcli.cli.priority import is_typed, refuse_typed
from uqcli.errors import UsageError
from uqcli.exact import size
from uqcli.records import dataclass

if TYPE_CHECKING:
    from uqcli.artifacts.calibrator import CalibratorArtifact
    from uqcli.jobs.calibrate.fit import CalibrationOptions
    from uqcli.jobs.calibrate.fitted import CalibrateRequest
    from uqcli.jobs.result import Result
    from uqcli.reports.calibrate.report import CalibrateReport


@dataclass(frozen=True, kw_only=True)
class MapOptions:
    """Calibration map, and its scale."""

    panel: ClassVar = "Calibration"

    method: CalibrationChoice | None = choice(
        "auto takes the simplest that fits. Formulas: temperature, platt, beta, spline. Steps: isotonic, "
        "histogram (with an error bound), mist (isotonic per uncertainty bin), venn-abers (with intervals). "
        "Others: heterogeneous (one map per part of the rows), prior (only --undersampled). With --proba: "
        "temperature, vector, matrix, isotonic, venn-abers, histogram. all ranks them by log loss and saves "
        "the best. "
        f"(default: {defaults.CALIBRATION_METHOD}, or prior with --undersampled)",
        metavar="NAME",
    )
    logit: bool = flag("Read scores as logits or other real numbers.")
    undersampled: float | None = option("TAU", "Correct the odds first: training kept one negative in TAU.")
    shift: str | None = option("SHIFT.json", "Then correct the probabilities for these class weights.")
    n_bins: str | None = option(
        "B", f"histogram: score bins (quantiles). (default: {defaults.SINGLE_SCORE_BINS})"
    )
    uncertainty_bins: str | None = option(
        "K", f"mist: uncertainty bins. (default: {defaults.UNCERTAINTY_BINS})"
    )


@dataclass(frozen=True, kw_only=True)
class PartOptions:
    """Partition of the rows for heterogeneous calibration."""

    panel: ClassVar = "Heterogeneous calibration"

    features: str | None = option("COL,...", "Columns that trees split by.")
    categorical: str | None = option("COL,...", "Features whose numbers name categories.")
    partition: str | None = option("COL,...", "Columns whose values name the parts.")
    partitioner: Partitioner | None = choice(
        f"heterogeneous: one tree, a forest (mean), or boosted trees. (default: {defaults.PARTITIONER})",
        panel=PAPERS,
    )
    max_depth: str | None = option(
        "D", f"Depth of the trees. (default: chosen for one tree, else {defaults.MAX_DEPTH})"
    )
    min_leaf: str | None = option(
        "N",
        "Minimum rows per part; smaller ones use a larger part's map. "
        f"(default: chosen for one tree, else {defaults.MIN_LEAF})",
    )
    split: SplitCriterion | None = choice(
        f"heterogeneous: split trees by purity (gini) or by calibrated AUC. (default: {defaults.SPLIT})",
        panel=PAPERS,
    )
    leaf_method: LeafMethod | None = choice(f"Map of each part. (default: {defaults.LEAF_METHOD})")
    tree_data: list[str] | None = option(
        "FILE", "Labelled rows for the trees (repeatable). (default: half of the rows)"
    )


def calibrate(
    *,
    inputs: LabelledInputs = None,
    columns: FitColumns,
    clusters: ClusterColumn,
    map_options: MapOptions,
    written: ArtifactOutput,
    plotting: PlotOutput,
    reporting: ReportOptions,
    probabilities: ClassProbabilities,
    part_options: PartOptions,
    test: Annotated[
        list[str] | None,
        typer.Option(
            metavar="FILE",
            help="Measure on this labelled test set (repeatable). (default: cross-validation)",
            rich_help_panel="Test set",
        ),
    ] = None,
    resampling: OptionalResampling,
    reading: InputOptions,
    running: RunOptions,
) -> None:
    """Fit and test a map from scores to calibrated probabilities."""
    provenance = check_outputs(
        reporting,
        written.output,
        reads=Reads.from_options(
            inputs,
            test,
            part_options.tree_data,
            rules=[map_options.shift],
            reading=reading,
            labels=columns.labels,
        ),
        running=running,
        plot=plotting.plot,
        has_figures=True,
    )
    from uqcli.jobs.calibrate.fitted import CalibrateRequest

    if running.engine is EngineName.POLARS:
        refuse_shared_files(inputs, test, "--test", reading)
        refuse_shared_files(inputs, part_options.tree_data, "--tree-data", reading)
    method = _method(map_options)
    _refuse_unused(method, map_options, part_options)
    if method not in (CalibrationChoice.ALL, CalibrationMethod.HETEROGENEOUS):
        part_options = PartOptions()  # drop configured values for heterogeneous
    request = CalibrateRequest(
        data=labelled_data(inputs, columns, reading, running, probabilities=probabilities).clustered_by(
            clusters.cluster
        ),
        calibration=replace(
            _calibration(method, map_options, part_options, resampling),
            cluster=clusters.cluster,
        ),
        features=parse_names("--features", part_options.features),
        partition=parse_names("--partition", part_options.partition),
        categorical=parse_names("--categorical", part_options.categorical),
        test=tuple(test) if test else None,
        tree_data=tuple(part_options.tree_data) if part_options.tree_data else None,
        shift=map_options.shift,
        bootstrap=resampling.bootstrap,
        confidence=resampling.confidence,
    )
    deliver(
        _run(method, request), reporting, provenance=provenance, output=written.output, plot=plotting.plot
    )


def _run(method: CalibrationChoice, request: CalibrateRequest) -> Result[CalibrateReport, CalibratorArtifact]:
    if method is CalibrationChoice.ALL:
        from uqcli.jobs.calibrate.all_methods import run_all_methods

        return run_all_methods(request)
    from uqcli.jobs.calibrate.run import run

    return run(request)


def _method(map_options: MapOptions) -> CalibrationChoice:
    """Return the calibration method."""
    if map_options.method is not None:
        return map_options.method
    is_undersampled = map_options.undersampled is not None
    return CalibrationChoice.PRIOR if is_undersampled else defaults.CALIBRATION_METHOD


def _calibration(
    method: CalibrationChoice,
    map_options: MapOptions,
    part_options: PartOptions,
    resampling: OptionalResampling,
) -> CalibrationOptions:
    from uqcli.jobs.calibrate.fit import CalibrationOptions
    from uqcli.methods.calibrate.scale import Scale

    one_of_several = method in (CalibrationChoice.AUTO, CalibrationChoice.ALL)
    return CalibrationOptions(
        method=None if one_of_several else CalibrationMethod(method),
        scale=Scale(
            real=map_options.logit,
            undersampled=1.0 if map_options.undersampled is None else map_options.undersampled,
        ),
        n_bins=size("--n-bins", map_options.n_bins or str(defaults.SINGLE_SCORE_BINS)),
        uncertainty_bins=size(
            "--uncertainty-bins", map_options.uncertainty_bins or str(defaults.UNCERTAINTY_BINS)
        ),
        leaf_method=part_options.leaf_method or defaults.LEAF_METHOD,
        min_leaf=_size_given("--min-leaf", part_options.min_leaf),
        partitioner=part_options.partitioner or defaults.PARTITIONER,
        max_depth=_size_given("--max-depth", part_options.max_depth),
        split=part_options.split or defaults.SPLIT,
        trees=part_options.partition is None,
        confidence=resampling.confidence,
        seed=resampling.seed,
    )


def _size_given(name: str, text: str | None) -> int | None:
    return None if text is None else size(name, text)


def _refuse_unused(method: CalibrationChoice, map_options: MapOptions, part_options: PartOptions) -> None:
    """Refuse options that the method does not use; ``all`` uses every option."""
    tree_options = {
        "--partitioner": part_options.partitioner,
        "--max-depth": part_options.max_depth,
        "--split": part_options.split,
        "--tree-data": part_options.tree_data,
        "--categorical": part_options.categorical,
    }
    partition_options = {"--features": part_options.features, "--partition": part_options.partition}
    partition_options |= {"--leaf-method": part_options.leaf_method, "--min-leaf": part_options.min_leaf}
    options_by_method: dict[CalibrationMethod, dict[str, Any]] = {
        CalibrationMethod.HISTOGRAM: {"--n-bins": map_options.n_bins},
        CalibrationMethod.MIST: {"--uncertainty-bins": map_options.uncertainty_bins},
        CalibrationMethod.HETEROGENEOUS: {**partition_options, **tree_options},
    }
    for owner, options in options_by_method.items():
        for name, value in options.items():
            if value and method not in (CalibrationChoice.ALL, owner) and is_typed(name):
                raise UsageError(f"{name} with --method {method}", expected=f"--method {owner}")
    for name, value in tree_options.items():
        if value and part_options.features is None and is_typed(name):
            raise UsageError(f"{name} without --features", expected="the columns that trees split by")
    if method not in (CalibrationChoice.ALL, CalibrationMethod.MIST):
        refuse_typed(("uncertainty",), f"with --method {method}", f"--method {CalibrationMethod.MIST}")
    if method is CalibrationChoice.PRIOR and map_options.undersampled is None:
        raise UsageError("--method prior without --undersampled", expected="--undersampled TAU")
