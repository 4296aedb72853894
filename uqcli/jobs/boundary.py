"""``uqcli boundary``."""

from __future__ import annotations

from dataclasses import asdict, fields, replace
from typing import TYPE_CHECKING, Annotated, Any, ClassVar, Final

from uqcli.base.choices import AlgorithmChoice
from uqcli.base.defaults import UNCERTAINTY
from uqcli.base.errors import Opt, UsageError, words
from uqcli.base.files import OutputQueue, is_stdout
from uqcli.base.options import Argument, DependenceColumns, names, option
from uqcli.base.records import dataclass
from uqcli.boundary.options import (
    TARGETS,
    AlgorithmOptions,
    BinOptions,
    BoundaryRequest,
    CapacityOptions,
    CertificateOptions,
    GridOptions,
    GroupOptions,
    PriorOptions,
    Target,
)
from uqcli.jobs import options
from uqcli.jobs.deliver import PLACEHOLDER, check_outputs, deliver
from uqcli.jobs.inputs import Reads, labelled_data
from uqcli.jobs.shell import current_line, is_typed, refuse_typed

if TYPE_CHECKING:
    from uqcli.boundary.search.constraint import Constraint
    from uqcli.engines.request import DataRequest
    from uqcli.rules.result import Result


@dataclass(frozen=True, kw_only=True)
class ConstraintOptions:
    """Constraint of the boundary, and its objective."""

    panel: ClassVar = TARGETS

    precision: str | None = option("S,...", "Maximize recall at precision S or more; or a list.", common=True)
    recall: str | None = option("R", "Maximize precision at recall R or more.", common=True)
    max_selected: str | None = option("M|P%", "Maximize recall; flag at most M rows or P%.", common=True)
    max_fpr: str | None = option("F", "Maximize recall at false-positive rate F or less.")
    min_specificity: str | None = option("S", "Maximize recall at specificity S or more.")
    max_omission: str | None = option("F", "Drop rows, at most F positive; needs --certify.")
    gain: str | None = option("G|COL", "Maximize the net value: a true positive gains G.")
    cost: str | None = option("C|COL", "Maximize the net value: a false positive costs C.")

    @classmethod
    def alternatives(cls) -> tuple[tuple[str, ...], ...]:
        """Constraints by their options; an option of one excludes those of the others."""
        utility = ("gain", "cost")
        bounds = ((option.name,) for option in fields(cls) if option.name not in utility)
        return (*bounds, utility, ("top", "per"))


@dataclass(frozen=True, kw_only=True)
class LimitOptions:
    """How far to exceed the constraint, and the limits of a review of the rows below the boundary."""

    panel: ClassVar = "Boundary"

    margin: str | None = option(
        "Z", "Exceed --precision by Z standard errors, so that new data miss it less often."
    )
    review: str | None = option("M|P%", "Send M rows, or P% of all, just below the thresholds to review.")
    miss: str | None = option(
        "F", "Send the fewest rows to review so that at most F of positives are cleared."
    )


def boundary(
    *,
    inputs: Annotated[
        list[str] | None, Argument("INPUT...", "Labelled files (calibration set), globs, directories, or -.")
    ] = None,
    constraint: ConstraintOptions,
    first: CapacityOptions,
    columns: options.FitColumns,
    clusters: DependenceColumns,
    probabilities: options.ClassProbabilities,
    saving: options.RuleOutput,
    figure: options.PlotOutput,
    reporting: options.ReportOptions,
    algorithms: AlgorithmOptions,
    certificate: CertificateOptions,
    limits: LimitOptions,
    groups: GroupOptions,
    priors: PriorOptions,
    bins: BinOptions,
    grids: GridOptions,
    reading: options.InputOptions,
    running: options.RunOptions,
) -> None:
    """Find thresholds that flag the most positives at a precision."""
    from uqcli.boundary.search.typed_constraints import constraints_from, with_margin
    from uqcli.boundary.search.zones import omission_below, review_limit

    if first.are_asked:
        _first_rows(
            inputs,
            first=first,
            columns=columns,
            clusters=clusters,
            saving=saving,
            reporting=reporting,
            reading=reading,
            running=running,
        )
        return
    refuse_typed(("per",), words("is given without --top"), remedy=words("add --top"))
    if not certificate.is_asked:
        refuse_typed(("pilot",), words("is given without --certify"), remedy=words("add --certify DELTA"))
        certificate = CertificateOptions()
    constraints: tuple[Constraint, ...] = ()
    typed = asdict(constraint)
    max_omission = omission_below(typed)
    # to save or check a rule, or for options that are about one
    several = algorithms.algorithm is AlgorithmChoice.ALL or algorithms.compare or bool(reporting.fail_if)
    about_one = (certificate.certify, *asdict(limits).values(), groups.by, priors.shift)
    others = (grids.grid, grids.frontier, probabilities.proba, saving.output)
    if several or any(typed.values()) or any(each is not None for each in (*about_one, *others)):
        bounds = constraints_from(**typed)
        constraints = tuple(with_margin(bound, limits.margin) for bound in bounds)
    reads = Reads.from_options(
        inputs, certificate.pilot, rules=[grids.grid, priors.shift], reading=reading, labels=columns.labels
    )
    outputs = _outputs(saving.output, constraints)
    table = _frontier_file(grids.frontier)
    context = check_outputs(reporting, outputs, reads=reads, running=running, plot=figure.plot, table=table)
    from uqcli.base.options import RowOutput
    from uqcli.boundary.run import run, run_several

    if grids.is_grid:
        _refuse_row_options(inputs, bins)
    data = labelled_data(inputs, columns, reading, running, probabilities=probabilities)
    by = _key(groups, data)
    if data.roles.class_columns is not None:
        data = data.as_predictions(columns.uncertainty if is_typed("uncertainty") else None)
    if "uncertainty" not in data.roles.numbers:
        refuse_typed(("uncertainty_bins",), words("with --proba but without --uncertainty"), "both")
        bins = bins.one_bin()
    column, days = clusters.chosen
    # a certificate has its own algorithm
    if certificate.is_asked and not is_typed("algorithm"):
        algorithms = replace(algorithms, algorithm=None)
    limit = review_limit(review=limits.review, miss=limits.miss, max_omission=max_omission)
    request = BoundaryRequest(
        data=data.grouped_by(by).clustered_by(column, days=days),
        target=Target(constraint=constraints[0], limit=limit) if constraints else Target(limit=limit),
        search=algorithms,
        bins=bins,
        certificate=certificate,
        groups=replace(groups, by=by),
        priors=priors,
        source=grids,
        compared=names(Opt("uncertainty"), columns.uncertainty) if algorithms.compare else (),
    )
    if columns.uncertainty == UNCERTAINTY and not is_typed("uncertainty"):
        request = request.with_optional_uncertainty()
    with OutputQueue() as queue:
        if table is not None:
            request = replace(request, curve=RowOutput(output=table, queue=queue))
        result: Result[Any, Any]
        if constraints:
            result = run(request) if len(constraints) == 1 else run_several(request, constraints)
        else:
            result = _targets(request)
        deliver(
            result,
            reporting,
            context=context,
            output=saving.output,
            queue=queue,
            plot=figure.plot,
            table=table,
        )


_NOT_OF_FIRST_ROWS: Final = (
    *(bound.name for bound in fields(ConstraintOptions)),
    *("certify", "pilot", "margin", "review", "miss", "by", "bound", "min_group", "proba", "classes"),
    *("grid", "frontier", "shift", "compare", "algorithm", "uncertainty_bins", "score_bins", "binning"),
    *("seed", "plot"),
)
"""Options of a search, which the first rows of each group do without."""


def _first_rows(
    inputs: list[str] | None,
    *,
    first: CapacityOptions,
    columns: options.FitColumns,
    clusters: DependenceColumns,
    saving: options.RuleOutput,
    reporting: options.ReportOptions,
    reading: options.InputOptions,
    running: options.RunOptions,
) -> None:
    """Save that the first rows of each group are flagged."""
    refuse_typed(_NOT_OF_FIRST_ROWS, words("and --top cannot be combined"), remedy="leave one of them out")
    refuse_typed(("uncertainty",), words("with --top"), "the score alone, which orders the rows")
    if first.per is None:
        raise UsageError(
            words("--top is given without --per"),
            expected=words("--per COLUMN, such as a column of days"),
            remedy=words("for the first rows of one file, use apply --top"),
        )
    reads = Reads.from_options(inputs, reading=reading, labels=columns.labels)
    context = check_outputs(reporting, saving.output, reads=reads, running=running)
    from uqcli.boundary.first_rows import run

    column, days = clusters.chosen
    data = labelled_data(inputs, columns, reading, running).clustered_by(column, days=days)
    result: Result[Any, Any] = run(BoundaryRequest(data=data, first=first))
    deliver(result, reporting, context=context, output=saving.output)


def _targets(request: BoundaryRequest) -> Result[Any, Any]:
    """Find what each of several targets would bring, since none is given."""
    from uqcli.boundary.run import run_targets

    result, (_, line, _) = run_targets(request), current_line()
    return replace(result, report=replace(result.report, line=line))


def _key(groups: GroupOptions, data: DataRequest) -> str | None:
    """Return the key of the groups: a column, the predicted class, or None."""
    from uqcli.engines.request import PREDICTED

    if data.roles.class_columns is not None:
        refuse_typed(
            ("by",), words("and --proba cannot be combined"), remedy="predicted classes are the groups"
        )
        return PREDICTED
    if not groups.are_asked:
        refuse_typed(
            ("bound", "min_group"), words("is given without --by or --proba"), remedy="add one of them"
        )
    return groups.by


def _frontier_file(name: str | None) -> str | None:
    """Check the file name of the frontier, whose ending sets the format."""
    from uqcli.engines.inputs import inferred_format

    if name is not None and (is_stdout(name) or inferred_format(name).format is None):
        raise UsageError(
            words("--frontier '{}' has no known ending", name), expected="an ending such as .csv or .parquet"
        )
    return name


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


def _refuse_row_options(inputs: list[str] | None, bins: BinOptions) -> None:
    """Refuse inputs and binning options with a saved grid, which replaces rows and bins."""
    unused = {
        "INPUT": inputs or None,
        Opt("binning"): bins.binning,
        Opt("uncertainty-bins"): bins.uncertainty_bins,
        Opt("score-bins"): bins.score_bins,
    }
    for name, value in unused.items():
        if value is not None:
            raise UsageError(
                words("{} and --grid cannot be combined", name), remedy="the saved grid sets rows and bins"
            )
    refuse_typed(
        options.ROW_OPTIONS, words("with --grid"), "no options for rows: the saved grid already holds counts"
    )
