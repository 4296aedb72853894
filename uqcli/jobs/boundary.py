"""``uqcli boundary``."""

from __future__ import annotations

from dataclasses import asdict, fields, replace
from typing import TYPE_CHECKING, Annotated, Any, ClassVar

from uqcli.base.choices import AlgorithmChoice
from uqcli.base.defaults import UNCERTAINTY
from uqcli.base.errors import Opt, UsageError, words
from uqcli.base.files import OutputQueue, is_stdout
from uqcli.base.options import Argument, names, option
from uqcli.base.records import dataclass
from uqcli.boundary.options import BoundaryRequest
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

    panel: ClassVar = "Constraint: one, or several bounds together; none lists what each would bring"

    precision: str | None = option("S,...", "Maximize recall at precision S or more; or a list.", common=True)
    recall: str | None = option("R", "Maximize precision at recall R or more.", common=True)
    max_selected: str | None = option(
        "M|P%", "Maximize recall with M rows or P% flagged at most.", common=True
    )
    max_fpr: str | None = option("F", "Maximize recall at false-positive rate F or less.")
    min_specificity: str | None = option("S", "Maximize recall at specificity S or more.")
    max_omission: str | None = option("F", "Drop the most rows, at most F of them positive; needs --certify.")
    gain: str | None = option("G|COL", "Maximize the net value: a true positive gains G.")
    cost: str | None = option("C|COL", "Maximize the net value: a false positive costs C.")

    @classmethod
    def alternatives(cls) -> tuple[tuple[str, ...], ...]:
        """Constraints by their options; an option of one excludes those of the others."""
        utility = ("gain", "cost")
        return (*((option.name,) for option in fields(cls) if option.name not in utility), utility)


def boundary(
    *,
    inputs: Annotated[
        list[str] | None, Argument("INPUT...", "Labelled files (calibration set), globs, directories, or -.")
    ] = None,
    constraint: ConstraintOptions,
    columns: options.FitColumns,
    clusters: options.DependenceColumns,
    probabilities: options.ClassProbabilities,
    saving: options.RuleOutput,
    figure: options.PlotOutput,
    reporting: options.ReportOptions,
    request: BoundaryRequest,
    reading: options.InputOptions,
    running: options.RunOptions,
) -> None:
    """Find thresholds that flag the most positives at a precision."""
    from uqcli.boundary.search.typed_constraints import constraints_from, with_margin
    from uqcli.boundary.search.zones import omission_below, review_limit

    if request.certify is None:
        refuse_typed(("pilot",), words("is given without --certify"), remedy=words("add --certify DELTA"))
        request = replace(request, pilot=None)
    constraints: tuple[Constraint, ...] = ()
    typed = asdict(constraint)
    max_omission = omission_below(typed)
    if any(typed.values()) or _needs_constraint(request, saving.output, reporting, probabilities):
        bounds = constraints_from(**typed)
        constraints = tuple(with_margin(bound, request.margin) for bound in bounds)
    reads = Reads.from_options(
        inputs, request.pilot, rules=[request.grid, request.shift], reading=reading, labels=columns.labels
    )
    outputs = _outputs(saving.output, constraints)
    table = _frontier_file(request.frontier)
    context = check_outputs(reporting, outputs, reads=reads, running=running, plot=figure.plot, table=table)
    from uqcli.base.options import RowOutput
    from uqcli.boundary.run import run, run_several

    _refuse_row_options(inputs, request)
    data = labelled_data(inputs, columns, reading, running, probabilities=probabilities)
    by = _key(request, data)
    if data.roles.class_columns is not None:
        data = data.as_predictions(columns.uncertainty if is_typed("uncertainty") else None)
    if "uncertainty" not in data.roles.numbers:
        refuse_typed(("uncertainty_bins",), words("with --proba but without --uncertainty"), "both")
        request = replace(request, uncertainty_bins=1)
    column, days = clusters.chosen
    request = replace(
        request,
        data=data.grouped_by(by).clustered_by(column, days=days),
        constraint=constraints[0] if constraints else request.constraint,
        limit=review_limit(review=request.review, miss=request.miss, max_omission=max_omission),
        by=by,
        # a certificate has its own algorithm
        algorithm=request.algorithm if request.certify is None or is_typed("algorithm") else None,
        compared=names(Opt("uncertainty"), columns.uncertainty) if request.compare else (),
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


def _needs_constraint(
    request: BoundaryRequest,
    output: str | None,
    reporting: options.ReportOptions,
    probabilities: options.ClassProbabilities,
) -> bool:
    """Whether a constraint must be given: to save or check a rule, or for options that are about one."""
    about_one = (request.certify, request.margin, request.review, request.miss, request.by, request.shift)
    others = (request.grid, request.frontier, probabilities.proba, output)
    several = request.algorithm is AlgorithmChoice.ALL or request.compare or bool(reporting.fail_if)
    return several or any(each is not None for each in (*about_one, *others))


def _targets(request: BoundaryRequest) -> Result[Any, Any]:
    """Find what each of several targets would bring, since none is given."""
    from uqcli.boundary.run import run_targets

    result, (_, line, _) = run_targets(request), current_line()
    return replace(result, report=replace(result.report, line=line))


def _key(request: BoundaryRequest, data: DataRequest) -> str | None:
    """Return the key of the groups: a column, the predicted class, or None."""
    from uqcli.engines.request import PREDICTED

    if data.roles.class_columns is not None:
        refuse_typed(
            ("by",), words("and --proba cannot be combined"), remedy="predicted classes are the groups"
        )
        return PREDICTED
    if request.by is None:
        refuse_typed(
            ("bound", "min_group"), words("is given without --by or --proba"), remedy="add one of them"
        )
    return request.by


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


def _refuse_row_options(inputs: list[str] | None, request: BoundaryRequest) -> None:
    """Refuse inputs and binning options with a saved grid, which replaces rows and bins."""
    if request.grid is None:
        return
    unused = {
        "INPUT": inputs or None,
        Opt("binning"): request.binning,
        Opt("uncertainty-bins"): request.uncertainty_bins,
        Opt("score-bins"): request.score_bins,
    }
    for name, value in unused.items():
        if value is not None:
            raise UsageError(
                words("{} and --grid cannot be combined", name), remedy="the saved grid sets rows and bins"
            )
    refuse_typed(
        options.ROW_OPTIONS, words("with --grid"), "no options for rows: the saved grid already holds counts"
    )
