"""``uqcli bin``."""

from __future__ import annotations

from dataclasses import replace
from typing import Annotated

from uqcli.base import defaults
from uqcli.base.choices import Binning
from uqcli.base.errors import Opt, UsageError, words
from uqcli.base.options import Argument
from uqcli.bin.options import BinRequest
from uqcli.jobs import options
from uqcli.jobs.deliver import check_outputs, deliver
from uqcli.jobs.inputs import Reads, labelled_data
from uqcli.jobs.shell import refuse_typed


def bin_(
    *,
    inputs: Annotated[
        list[str] | None,
        Argument("INPUT...", "Labelled files, globs, directories, or -; with --merge, saved grids."),
    ] = None,
    columns: options.FitColumns,
    request: BinRequest,
    sizes: options.BlockBounds,
    saving: options.RuleOutput,
    figure: options.PlotOutput,
    reporting: options.ReportOptions,
    reading: options.InputOptions,
    running: options.RunOptions,
) -> None:
    """Count rows in a grid of score and uncertainty bins."""
    tables, models = (None, [*(inputs or ()), request.edges]) if request.merge else (inputs, [request.edges])
    reads = Reads.from_options(tables, rules=models, reading=reading, labels=columns.labels)
    context = check_outputs(reporting, saving.output, reads=reads, running=running, plot=figure.plot)
    from uqcli.bin.run import run

    if request.merge and request.edges is not None:
        raise UsageError(words("--merge and --edges cannot be combined"), remedy="leave one of them out")
    request = replace(request, n_min=sizes.n_min, n_max=sizes.n_max)
    if request.merge or request.edges is not None:
        _refuse_shape(request)
    elif request.binning is not Binning.PAVA_BC and (sizes.n_min or sizes.n_max):
        binning = request.binning or defaults.GRID_BINNING
        raise UsageError(words("--n-min and --n-max with {}", binning), expected=words("--binning pava-bc"))
    data = labelled_data(inputs, columns, reading, running)
    if request.merge:
        refuse_typed(
            options.ROW_OPTIONS, words("with --merge"), "no options for rows: saved grids already hold counts"
        )
    result = run(replace(request, data=data))
    deliver(result, reporting, context=context, output=saving.output, plot=figure.plot)


def _refuse_shape(request: BinRequest) -> None:
    for name in ("binning", "uncertainty_bins", "score_bins", "n_min", "n_max"):
        if getattr(request, name):
            raise UsageError(
                words("{} with --edges or --merge", Opt(name)),
                expected="no options for bins: the saved grid sets them",
            )
