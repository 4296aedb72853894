"""``uqcli calibrate``."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, Final

from uqcli.base import defaults
from uqcli.base.choices import OF_UNCERTAINTY, CalibrationChoice, CalibrationMethod, EngineName
from uqcli.base.errors import Opt, UsageError, words
from uqcli.base.options import ClusterColumn, OptionalResampling
from uqcli.calibrate.options import CalibrateRequest, PartOptions
from uqcli.jobs import options
from uqcli.jobs.deliver import check_outputs, deliver
from uqcli.jobs.inputs import Reads, labelled_data, refuse_shared_files
from uqcli.jobs.shell import refuse_typed

if TYPE_CHECKING:
    from uqcli.calibrate.fit_options import CalibrationOptions


def calibrate(
    *,
    inputs: options.LabelledInputs = None,
    columns: options.FitColumns,
    clusters: ClusterColumn,
    request: CalibrateRequest,
    saving: options.RuleOutput,
    figure: options.PlotOutput,
    reporting: options.ReportOptions,
    probabilities: options.ClassProbabilities,
    parts: PartOptions,
    resampling: OptionalResampling,
    reading: options.InputOptions,
    running: options.RunOptions,
) -> None:
    """Fit and test a map from scores to calibrated probabilities."""
    context = check_outputs(
        reporting,
        saving.output,
        reads=Reads.from_options(
            inputs, parts.test, parts.tree_data, rules=[request.shift], reading=reading, labels=columns.labels
        ),
        running=running,
        plot=figure.plot,
        has_figures=True,
    )
    if running.engine is EngineName.POLARS:
        refuse_shared_files(inputs, parts.test, Opt("test"), reading)
        refuse_shared_files(inputs, parts.tree_data, Opt("tree-data"), reading)
    method = _method(request)
    _refuse_unused(method, request, parts)
    if method not in (CalibrationChoice.ALL, CalibrationMethod.HETEROGENEOUS):
        parts = PartOptions(test=parts.test)  # drop configured values for heterogeneous
    data = labelled_data(inputs, columns, reading, running, probabilities=probabilities)
    request = replace(
        request,
        data=data.clustered_by(clusters.cluster),
        calibration=_calibration(method, request, parts, resampling, clusters.cluster),
        parts=parts,
        resampling=resampling,
    )
    from uqcli.calibrate.run import run, run_all_methods

    result = run_all_methods(request) if method is CalibrationChoice.ALL else run(request)
    deliver(result, reporting, context=context, output=saving.output, plot=figure.plot)


def _method(request: CalibrateRequest) -> CalibrationChoice:
    if request.method is not None:
        return request.method
    is_undersampled = request.undersampled is not None
    return CalibrationChoice.PRIOR if is_undersampled else defaults.CALIBRATION_METHOD


def _calibration(
    method: CalibrationChoice,
    request: CalibrateRequest,
    parts: PartOptions,
    resampling: OptionalResampling,
    cluster: str | None,
) -> CalibrationOptions:
    from uqcli.calibrate.fit_options import CalibrationOptions
    from uqcli.calibrate.scale import Scale

    one_of_several = method in (CalibrationChoice.AUTO, CalibrationChoice.ALL)
    undersampled = 1.0 if request.undersampled is None else request.undersampled
    return CalibrationOptions(
        method=None if one_of_several else CalibrationMethod(method),
        scale=Scale(real=request.logit, undersampled=undersampled),
        n_bins=request.n_bins,
        uncertainty_bins=request.uncertainty_bins,
        leaf_method=parts.leaf_method,
        min_leaf=parts.min_leaf,
        partitioner=parts.partitioner,
        max_depth=parts.max_depth,
        split=parts.split,
        trees=not parts.partition,
        confidence=resampling.confidence,
        seed=resampling.seed,
        cluster=cluster,
    )


_OF_TREES: Final = ("partitioner", "max_depth", "split", "tree_data", "categorical")
_OF_METHOD: Final = {
    ("n_bins",): (CalibrationMethod.HISTOGRAM,),
    ("uncertainty_bins",): (CalibrationMethod.MIST,),
    ("uncertainty",): OF_UNCERTAINTY,
    ("features", "partition", "leaf_method", "min_leaf", *_OF_TREES): (CalibrationMethod.HETEROGENEOUS,),
}
"""Methods that use some options, for those which not every method uses."""


def _refuse_unused(method: CalibrationChoice, request: CalibrateRequest, parts: PartOptions) -> None:
    """Refuse options that the method does not use; ``all`` uses every option."""
    for names, owners in _OF_METHOD.items():
        if method not in (CalibrationChoice.ALL, *owners):
            refuse_typed(names, words("with --method {}", method), words("--method {}", " or ".join(owners)))
    if not parts.features:
        refuse_typed(_OF_TREES, words("without --features"), "the columns that trees split by")
    if method is CalibrationChoice.IDENTITY and request.logit:
        raise UsageError(words("--method identity with --logit"), expected="scores that are probabilities")
    if method is CalibrationChoice.PRIOR and request.undersampled is None:
        raise UsageError(words("--method prior without --undersampled"), expected=words("--undersampled TAU"))
