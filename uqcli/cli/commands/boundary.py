"""``uqcli boundary``."""

from __future__ import annotations

from dataclasses import asdict, fields, replace
from typing import TYPE_CHECKING, Annotated, ClassVar

import typer

from uqcli import defaults
from uqcli.choices import AlgorithmChoice, Binning, GridBinning, GroupBound
from uqcli.cli.conflicts import Reads
from uqcli.cli.deliver import PLACEHOLDER, check_outputs, deliver
from uqcli.cli.groups import PAPERS, choice, flag, option
from uqcli.cli.inputs import labelled_data, parse_names
from uqcli.cli.options import (
    ROW_OPTIONS,
    ArtifactOutput,
    ClassProbabilities,
    DependenceColumns,
    FitColumns,
    InputOptions,
    PlotOutput,
    ReportOptions,
    RunOptions,
)
from uqcli.cli.priority import is_typed, refuse_typed
from uqcli.errors import UsageError
from uqcli.exact import size
from uqcli.files import OutputQueue, is_stdout
from uqcli.records import dataclass

if TYPE_CHECKING:
    from uqcli.engines.request import DataRequest
    from uqcli.jobs.boundary.request import GridRequest
    from uqcli.methods.boundary.constraint import Constraint

AUTO = "auto"


@dataclass(frozen=True, kw_only=True)
class ConstraintOptions:
    """Constraint of the boundary, and its objective."""

    panel: ClassVar = "Constraint: one, or precision and recall"

    precision: str | None = option("S,...", "Highest recall at precision S or more; or a list.")
    recall: str | None = option("R", "Highest precision at recall R or more.")
    max_selected: str | None = option("M|P%", "Highest recall with at most M rows or P% flagged.")
    max_fpr: str | None = option("F", "Highest recall at false-positive rate F or less.")
    min_specificity: str | None = option("S", "Highest recall at specificity S or more.")
    gain: str | None = option("G|COL", "Highest value: a true positive gains G.")
    cost: str | None = option("C|COL", "Highest value: a false positive costs C.")

    @classmethod
    def alternatives(cls) -> tuple[tuple[str, ...], ...]:
        """Constraints by their options; an option of one excludes those of the others."""
        utility = ("gain", "cost")
        return (*((option.name,) for option in fields(cls) if option.name not in utility), utility)


@dataclass(frozen=True, kw_only=True)
class MethodOptions:
    """Algorithm of the boundary, its grid and its tests."""

    panel: ClassVar = "Boundary"

    algorithm: AlgorithmChoice | None = choice(
        f"smooth, vw-dpmt (exact), st (one threshold) or all; more: {PAPERS}. "
        f"(default: {defaults.ALGORITHM})",
        metavar="NAME",
        papers="ew-dpmt (for cells of equal size), mist, gmt or hr.",
    )
    compare: bool = flag("Test if uncertainty helps; keep the best.")
    certify: str | None = option("DELTA", "Certify the bound, at risk DELTA.")
    margin: str | None = option("Z", "Exceed --precision by Z standard errors.")
    review: str | None = option("M|P%", "Leave M rows or P% for review.")
    miss: str | None = option("F", "Review few; miss at most F of positives.")
    by: str | None = option("COL", "Thresholds for each group of this column.")
    bound: GroupBound | None = choice(
        f"Bound overall or each. (default: {defaults.GROUP_BOUND})", metavar="NAME"
    )
    min_group: int = option("N", "Minimum rows of a group.", defaults.MIN_GROUP_ROWS, min=1)
    shift: str | None = option("FILE", "Meet the bound under these class weights.")
    uncertainty_bins: str | None = option(
        "K|auto",
        f"K ({defaults.UNCERTAINTY_BINS}), or auto: 1, 2, 4 or 8 (for smooth).",
    )
    score_bins: str | None = option("L|all", f"Score bins, or all scores. (default: {defaults.SCORE_BINS})")
    binning: GridBinning | None = choice(
        "shared (for smooth) or equi-weight.",
        metavar="NAME",
        papers="equi-span (equal widths).",
    )
    grid: str | None = option("FILE", "Use a saved grid instead of rows.")
    frontier: str | None = option("FILE", "Save recall by alerts (.csv, .parquet).")
    seed: int = option("S", "Seed of the splits.", defaults.SEED, min=0, max=defaults.MAX_SEED)


def boundary(
    *,
    inputs: Annotated[
        list[str] | None,
        typer.Argument(
            metavar="INPUT...", help="Labelled files (calibration set), globs, directories, or -."
        ),
    ] = None,
    constraint: ConstraintOptions,
    columns: FitColumns,
    clusters: DependenceColumns,
    probabilities: ClassProbabilities,
    written: ArtifactOutput,
    plotting: PlotOutput,
    reporting: ReportOptions,
    method: MethodOptions,
    reading: InputOptions,
    running: RunOptions,
) -> None:
    """Find thresholds that flag the most positives at a precision."""
    from uqcli.methods.boundary.constraint import constraints_from, with_margin
    from uqcli.methods.boundary.zones import review_limit

    constraints = tuple(with_margin(bound, method.margin) for bound in constraints_from(**asdict(constraint)))
    reads = Reads.from_options(
        inputs, rules=[method.grid, method.shift], reading=reading, labels=columns.labels
    )
    outputs = _outputs(written.output, constraints)
    table = _frontier_file(method.frontier)
    provenance = check_outputs(
        reporting, outputs, reads=reads, running=running, plot=plotting.plot, table=table
    )
    from uqcli.engines.protocol import Destination
    from uqcli.jobs.boundary.request import BoundaryRequest
    from uqcli.jobs.boundary.run import run, run_several

    _refuse_row_options(inputs, method)
    data = labelled_data(inputs, columns, reading, running, probabilities=probabilities)
    by = _key(method, data)
    if data.roles.class_columns is not None:
        data = data.as_predictions(columns.uncertainty if is_typed("uncertainty") else None)
    grid = _grid(method)
    if "uncertainty" not in data.roles.numbers:
        refuse_typed(("uncertainty_bins",), "with --proba but without --uncertainty", "both")
        grid = replace(grid, uncertainty_bins=1, auto=False)
    column, days = clusters.chosen
    request = BoundaryRequest(
        data=data.grouped_by(by).clustered_by(column, days=days),
        constraint=constraints[0],
        review=review_limit(review=method.review, miss=method.miss),
        by=by,
        bound=method.bound or defaults.GROUP_BOUND,
        min_group=method.min_group,
        algorithm=_algorithm(method),
        grid=grid,
        saved_grid=method.grid,
        shift=method.shift,
        certify=method.certify,
        compare=parse_names("--uncertainty", columns.uncertainty) if method.compare else (),
        seed=method.seed,
    )
    with OutputQueue() as queue:
        if table is not None:
            request = replace(request, frontier=Destination(target=table, queue=queue))
        result = run(request) if len(constraints) == 1 else run_several(request, constraints)
        deliver(
            result,
            reporting,
            provenance=provenance,
            output=written.output,
            queue=queue,
            plot=plotting.plot,
            table=table,
        )


def _key(method: MethodOptions, data: DataRequest) -> str | None:
    """Return the key of the groups: a column, the predicted class, or None.

    Raises
    ------
    UsageError
        An option of groups is given without groups, or groups are given with class probabilities.
    """
    from uqcli.engines.request import PREDICTED

    if data.roles.class_columns is not None:
        refuse_typed(("by",), "with --proba", "one of them: predicted classes are the groups")
        return PREDICTED
    if method.by is None:
        refuse_typed(("bound", "min_group"), "without --by or --proba", "one of them")
    return method.by


def _frontier_file(name: str | None) -> str | None:
    """Check the file name of the frontier, whose ending sets the format.

    Raises
    ------
    UsageError
        The ending is unknown, or the name is standard output.
    """
    from uqcli.engines.inputs import inferred_format

    if name is not None and (is_stdout(name) or inferred_format(name).format is None):
        raise UsageError(
            f"--frontier '{name}' has no known ending", expected="an ending such as .csv or .parquet"
        )
    return name


def _algorithm(method: MethodOptions) -> AlgorithmChoice | None:
    """Return the algorithm; None with ``--certify`` unless one was typed, since a certificate has its own."""
    return method.algorithm if method.certify is None or is_typed("algorithm") else None


def _outputs(output: str | None, constraints: tuple[Constraint, ...]) -> str | tuple[str, ...] | None:
    """Return the output name; for several bounds, one name per bound."""
    if output is None or len(constraints) == 1:
        return output
    if PLACEHOLDER not in output:
        raise UsageError(
            f"-o {output} for {len(constraints)} bounds",
            expected=f"a name with {PLACEHOLDER}, such as boundary-{PLACEHOLDER}.json",
        )
    return tuple(output.replace(PLACEHOLDER, constraint.value) for constraint in constraints)


def _refuse_row_options(inputs: list[str] | None, method: MethodOptions) -> None:
    """Refuse inputs and binning options with a saved grid, which replaces rows and bins."""
    if method.grid is None:
        return
    options = {
        "INPUT": inputs,
        "--binning": method.binning,
        "--uncertainty-bins": method.uncertainty_bins,
        "--score-bins": method.score_bins,
    }
    for name, value in options.items():
        if value:
            raise UsageError(f"{name} with --grid", expected="one of them: the saved grid sets rows and bins")
    refuse_typed(ROW_OPTIONS, "with --grid", "no options for rows: the saved grid already holds counts")


def _grid(method: MethodOptions) -> GridRequest:
    from uqcli.jobs.boundary.request import GridRequest

    score_bins: int | None = defaults.SCORE_BINS
    if method.score_bins is not None:
        score_bins = None if method.score_bins == "all" else size("--score-bins", method.score_bins)
    auto = method.uncertainty_bins == AUTO
    bins = None if auto else method.uncertainty_bins
    return GridRequest(
        binning=None if method.binning is None else Binning(method.binning),
        uncertainty_bins=None if bins is None else size("--uncertainty-bins", bins),
        auto=auto,
        score_bins=score_bins,
    )
