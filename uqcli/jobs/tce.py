"""``uqcli tce``."""

from __future__ import annotations

from dataclasses import replace
from itertools import pairwise

from uqcli.base.choices import Binning
from uqcli.base.errors import words
from uqcli.base.operating_system import join, split
from uqcli.base.options import ClusterColumn, ResamplingOptions, SamplingWeights
from uqcli.jobs import options
from uqcli.jobs.deliver import check_outputs, deliver
from uqcli.jobs.inputs import Reads, labelled_data
from uqcli.jobs.shell import current_line, refuse_typed
from uqcli.tce.options import MeasureOptions, TceRequest


def tce(
    *,
    inputs: options.LabelledInputs = None,
    columns: options.FitColumns,
    clusters: ClusterColumn,
    weights: SamplingWeights,
    probabilities: options.ClassProbabilities,
    measure: MeasureOptions,
    request: TceRequest,
    figure: options.PlotOutput,
    reporting: options.ReportOptions,
    sizes: options.BlockBounds,
    resampling: ResamplingOptions,
    reading: options.InputOptions,
    running: options.RunOptions,
) -> None:
    """Test whether probabilities are calibrated (TCE, ECE, others)."""
    reads = Reads.from_options(inputs, reading=reading, labels=columns.labels)
    context = check_outputs(reporting, None, reads=reads, running=running, plot=figure.plot, has_figures=True)
    refuse_typed(("uncertainty",), "with tce", "a score or class probabilities only")
    if weights.sampling_weight is not None:
        sized = ("binning",) if measure.binning == Binning.PAVA_BC else ()
        tests = ("alpha", "test", "bin_sizes", "n_min", "n_max", *sized)
        refuse_typed(tests, words("with --sampling-weight"), "rows that count alike, which tests need")
    if measure.binning != Binning.PAVA_BC:
        unused = ("n_min", "n_max", "bin_sizes")
        refuse_typed(unused, words("with --binning {}", measure.binning), words("--binning pava-bc"))
    from uqcli.tce.run import run

    data = labelled_data(inputs, columns, reading, running, probabilities=probabilities)
    takes_weights = not (clusters.cluster or request.audit or resampling.bootstrap)
    request = replace(
        request,
        data=replace(data.clustered_by(clusters.cluster), takes_weights=takes_weights),
        measure=replace(measure, n_min=sizes.n_min or None, n_max=sizes.n_max or None),
        resampling=resampling,
        sampling=weights,
    )
    result = run(request)
    report = replace(result.report, calibration_set=_calibration_set())
    deliver(replace(result, report=report), reporting, context=context, plot=figure.plot)


_READING = frozenset(
    {
        "--score",
        "--label",
        "--weight",
        "--positive",
        "--on-invalid",
        "--format",
        "--delimiter",
        "--decimal",
        "--null-value",
    }
)
"""Options with a value that calibrate takes for rows of the same form."""


def _calibration_set() -> str:
    """Return the words by which calibrate reads a file of the same form, with the typed options."""
    _, line, _ = current_line()
    typed = [word for pair in pairwise(split(line)) if pair[0] in _READING for word in pair]
    return join(["CALIBRATION.parquet", *typed])
