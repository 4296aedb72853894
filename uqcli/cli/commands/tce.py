"""``uqcli tce``."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

from uqcli import defaults
from uqcli.choices import BinSizing, CalibrationTest, ScoreBinning
from uqcli.cli.deliver import check_outputs, deliver
from uqcli.cli.groups import choice, option
from uqcli.cli.inputs import labelled_data
from uqcli.cli.options import (
    BlockBounds,
    ClassProbabilities,
    FitColumns,
    InputOptions,
    LabelledInputs,
    PlotOutput,
    ReportOptions,
    ResamplingOptions,
    RunOptions,
)
from uqcli.cli.places import Reads
from uqcli.cli.priority import refuse_typed
from uqcli.exact import size


@dataclass(frozen=True, kw_only=True)
class TestOptions:
    """What is measured, and how."""

    panel: ClassVar = "Measure"

    binning: ScoreBinning = choice(
        "Bins of tce and of the two errors.", defaults.SCORE_BINNING, also="--bins"
    )
    n_bins: str = option("B", "Quantile and equispaced bins.", str(defaults.SINGLE_SCORE_BINS))
    alpha: float = option("A", "Level of the tests.", defaults.ALPHA)
    test: CalibrationTest = choice("Exact binomial test, or t-test.", defaults.CALIBRATION_TEST)
    bin_sizes: BinSizing = choice(
        "pava-bc: bins that grow slowly enough for true probabilities to pass in files of any size, "
        "or the paper's twentieth of the rows.",
        defaults.BIN_SIZES,
    )
    by: str | None = option("COL", "Measure the groups of a column, too.")


def tce(
    *,
    inputs: LabelledInputs = None,
    testing: TestOptions,
    sizes: BlockBounds,
    resampling: ResamplingOptions,
    probabilities: ClassProbabilities,
    columns: FitColumns,
    reading: InputOptions,
    plotting: PlotOutput,
    reporting: ReportOptions,
    running: RunOptions,
) -> None:
    """Measure how far probabilities can be trusted: test-based calibration error, ECE and relatives."""
    reads = Reads.of(inputs, reading=reading)
    origin = check_outputs(
        reporting, None, reads=reads, running=running, plot=plotting.plot, has_figures=True
    )
    refuse_typed(("uncertainty",), "of calibration errors", "none: they look at the score alone")
    from uqcli.jobs.tce.measure import MeasureOptions
    from uqcli.jobs.tce.run import TceRequest, run

    measure = MeasureOptions(
        binning=testing.binning,
        n_min=None if sizes.n_min is None else size("--n-min", sizes.n_min),
        n_max=None if sizes.n_max is None else size("--n-max", sizes.n_max),
        bin_sizes=testing.bin_sizes,
        n_bins=size("--n-bins", testing.n_bins),
        alpha=testing.alpha,
        test=testing.test,
    )
    request = TceRequest(
        data=labelled_data(inputs, columns, reading, running, probabilities=probabilities),
        measure=measure,
        by=testing.by,
        bootstrap=resampling.bootstrap,
        seed=resampling.seed,
        confidence=resampling.confidence,
    )
    deliver(run(request), reporting, origin=origin, plot=plotting.plot)
