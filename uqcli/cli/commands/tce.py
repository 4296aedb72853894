"""``uqcli tce``."""

from __future__ import annotations

from typing import ClassVar

from uqcli import defaults
from uqcli.choices import Binning, BinSizing, CalibrationTest, ScoreBinning
from uqcli.cli.conflicts import Reads
from uqcli.cli.deliver import check_outputs, deliver
from uqcli.cli.groups import PAPERS, choice, option
from uqcli.cli.inputs import labelled_data, parse_names
from uqcli.cli.options import (
    BlockBounds,
    ClassProbabilities,
    ClusterColumn,
    FitColumns,
    InputOptions,
    LabelledInputs,
    PlotOutput,
    ReportOptions,
    ResamplingOptions,
    RunOptions,
    SamplingWeights,
)
from uqcli.cli.priority import refuse_typed
from uqcli.exact import size
from uqcli.records import dataclass


@dataclass(frozen=True, kw_only=True)
class TestOptions:
    """Bins and tests of the calibration errors."""

    panel: ClassVar = "Measure"

    binning: ScoreBinning = choice(
        "Bins for the errors: pava-bc, pava, quantile or equispaced.",
        defaults.SCORE_BINNING,
        also="--bins",
        metavar="NAME",
    )
    n_bins: str = option("B", "Number of quantile or equispaced bins.", str(defaults.SINGLE_SCORE_BINS))
    alpha: float = option("A", "Level of the tests.", defaults.ALPHA)
    test: CalibrationTest = choice(
        "Exact binomial test or t-test of each bin.", defaults.CALIBRATION_TEST, panel=PAPERS
    )
    bin_sizes: BinSizing = choice(
        "pava-bc: sizes that suit files of any size, or the paper's N/20.",
        defaults.BIN_SIZES,
        panel=PAPERS,
    )
    by: str | None = option("COL", "Also measure each group of this column.")
    audit: str | None = option("COL,...", "Test each value of these columns, and each pair of values.")


def tce(
    *,
    inputs: LabelledInputs = None,
    columns: FitColumns,
    clusters: ClusterColumn,
    weights: SamplingWeights,
    probabilities: ClassProbabilities,
    testing: TestOptions,
    plotting: PlotOutput,
    reporting: ReportOptions,
    sizes: BlockBounds,
    resampling: ResamplingOptions,
    reading: InputOptions,
    running: RunOptions,
) -> None:
    """Test whether probabilities are calibrated (TCE, ECE, others)."""
    reads = Reads.from_options(inputs, reading=reading, labels=columns.labels)
    provenance = check_outputs(
        reporting, None, reads=reads, running=running, plot=plotting.plot, has_figures=True
    )
    refuse_typed(("uncertainty",), "with tce", "a score or class probabilities only")
    if weights.sampling_weight is not None:
        sized = ("binning",) if testing.binning == Binning.PAVA_BC else ()
        tests = ("alpha", "test", "bin_sizes", "n_min", "n_max", *sized)
        refuse_typed(tests, "with --sampling-weight", "rows that count alike, which tests need")
    if testing.binning != Binning.PAVA_BC:
        unused = ("n_min", "n_max", "bin_sizes")
        refuse_typed(unused, f"with --binning {testing.binning}", "--binning pava-bc")
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
        data=labelled_data(inputs, columns, reading, running, probabilities=probabilities).clustered_by(
            clusters.cluster
        ),
        measure=measure,
        by=testing.by,
        audit=parse_names("--audit", testing.audit),
        bootstrap=resampling.bootstrap,
        seed=resampling.seed,
        confidence=resampling.confidence,
        sampling_weight=weights.sampling_weight,
    )
    deliver(run(request), reporting, provenance=provenance, plot=plotting.plot)
