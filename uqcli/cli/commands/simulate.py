"""``uqcli simulate``."""

from __future__ import annotations

from dataclasses import asdict
from typing import TYPE_CHECKING, Annotated, Any, ClassVar

import typer

from uqcli import defaults
from uqcli.choices import Simulation
from uqcli.cli.conflicts import Reads
from uqcli.cli.deliver import check_outputs, deliver_rows
from uqcli.cli.groups import option
from uqcli.cli.inputs import parse_numbers
from uqcli.cli.options import ReportOptions, RowsFile, RunOptions
from uqcli.cli.priority import refuse_typed
from uqcli.document import by_key
from uqcli.files import STDIO, OutputQueue
from uqcli.records import dataclass

if TYPE_CHECKING:
    from uqcli.methods.stream.gaussian import GaussianModel
    from uqcli.methods.stream.posterior import PosteriorModel


@dataclass(frozen=True, kw_only=True)
class PosteriorOptions:
    """Parameters of the posterior network."""

    panel: ClassVar = "Posterior network"

    tau: float | None = option(
        "X",
        f"Undersampling: training kept one negative in X. (default: {defaults.TAU:g})",
    )
    omega: float | None = option("X", f"Positive rate of the model's prior. (default: {defaults.OMEGA:g})")
    xi: float | None = option("X", f"Positive rate of the true prior. (default: {defaults.XI:g})")
    prior: float | None = option("X", f"Strength of the model's prior. (default: {defaults.PRIOR:g})")
    nu: float | None = option(
        "X", f"Strength of the true prior relative to --prior. (default: {defaults.NU:g})"
    )
    gamma: str | None = option(
        "G,...",
        "Ratios of prior to evidence; a region has prior/gamma training rows. "
        f"(default: {','.join(map(str, defaults.GAMMAS))})",
    )


@dataclass(frozen=True, kw_only=True)
class GaussianOptions:
    """Parameters of two Gaussian classes, scored by a logistic model."""

    panel: ClassVar = "Gaussian classes"

    prevalence: float | None = option("P", f"Positive rate of the rows. (default: {defaults.PREVALENCE:g})")
    train_prevalence: float | None = option(
        "P", f"Positive rate of the training rows. (default: {defaults.PREVALENCE:g})"
    )
    train_rows: int | None = option("N", f"Training rows. (default: {defaults.TRAIN_ROWS})")
    noise: float | None = option(
        "SD",
        f"Standard deviation of noise on the scores' log-odds. (default: {defaults.NOISE:g})",
    )


@dataclass(frozen=True, kw_only=True)
class DrawOptions:
    """Number of rows, and the seed."""

    panel: ClassVar = None

    rows: int = option("N", "Rows to draw.", defaults.SIMULATED_ROWS, min=0, max=defaults.MAX_ROWS)
    seed: int = option("S", "Seed of the random draws.", defaults.SEED, min=0, max=defaults.MAX_SEED)


def simulate(
    *,
    kind: Annotated[Simulation, typer.Argument(metavar="KIND", help="What to simulate.")],
    drawing: DrawOptions,
    written: RowsFile,
    reporting: ReportOptions,
    posterior: PosteriorOptions,
    gaussian: GaussianOptions,
    running: RunOptions,
) -> None:
    """Draw scores, uncertainties and labels with known truth."""
    from uqcli.engines.inputs import format_of
    from uqcli.reports.stream.simulate import listed_metrics

    output = written.output or STDIO
    format_of(output, written.output_format)
    provenance = check_outputs(
        reporting,
        output,
        reads=Reads(),
        running=running,
        metrics=by_key(listed_metrics(rows=drawing.rows, positives=0)),
    )
    from uqcli.jobs.stream.output import RowsOutput
    from uqcli.jobs.stream.simulate import SimulateRequest, run

    with OutputQueue() as queue:
        result = run(
            SimulateRequest(
                rows=drawing.rows,
                seed=drawing.seed,
                output=RowsOutput(target=output, file_format=written.output_format, queue=queue),
                model=_model(kind, _set_options(posterior), _set_options(gaussian)),
            )
        )
        deliver_rows(result, reporting, provenance=provenance, output=written.output, queue=queue)


def _set_options(options: PosteriorOptions | GaussianOptions) -> dict[str, Any]:
    return {name: value for name, value in asdict(options).items() if value is not None}


def _model(
    kind: Simulation, posterior: dict[str, Any], gaussian: dict[str, Any]
) -> PosteriorModel | GaussianModel:
    from uqcli.methods.stream.gaussian import GaussianModel
    from uqcli.methods.stream.posterior import PosteriorModel

    unused = gaussian if kind is Simulation.POSTERIOR else posterior
    refuse_typed(tuple(unused), f"with {kind}", f"options of the {kind} simulation")
    if kind is Simulation.GAUSSIAN:
        return GaussianModel(**gaussian)
    if "gamma" in posterior:
        posterior["gammas"] = parse_numbers("--gamma", posterior.pop("gamma"))
    return PosteriorModel(**posterior)
