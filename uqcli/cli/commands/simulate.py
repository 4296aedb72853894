"""``uqcli simulate``."""

from __future__ import annotations

from dataclasses import asdict, dataclass
from typing import TYPE_CHECKING, Annotated, Any

import typer

from uqcli import defaults
from uqcli.choices import Simulation
from uqcli.cli.deliver import check_outputs, deliver_rows, report_of_filter
from uqcli.cli.options import ReportOptions, RowsFile, RunOptions
from uqcli.cli.places import Reads
from uqcli.cli.priority import refuse_typed
from uqcli.cli.process.resources import limit_threads
from uqcli.errors import UsageError
from uqcli.files import STDIO, Held

if TYPE_CHECKING:
    from uqcli.methods.stream.gaussian import GaussianModel
    from uqcli.methods.stream.posterior import PosteriorModel

_POSTERIOR, _GAUSSIAN = "Posterior network", "Gaussian classes"


@dataclass(frozen=True, kw_only=True)
class PosteriorOptions:
    """A posterior network's beliefs."""

    tau: Annotated[
        float | None,
        typer.Option(
            metavar="X",
            help="How many times rarer negatives are in training; 1 is no undersampling. "
            f"(default: {defaults.TAU:g})",
            rich_help_panel=_POSTERIOR,
        ),
    ] = None
    omega: Annotated[
        float | None,
        typer.Option(
            metavar="X",
            help=f"Positive share of the model's prior. (default: {defaults.OMEGA:g})",
            rich_help_panel=_POSTERIOR,
        ),
    ] = None
    xi: Annotated[
        float | None,
        typer.Option(
            metavar="X",
            help=f"Positive share of the true prior. (default: {defaults.XI:g})",
            rich_help_panel=_POSTERIOR,
        ),
    ] = None
    prior: Annotated[
        float | None,
        typer.Option(
            metavar="X",
            help=f"Strength of the model's prior. (default: {defaults.PRIOR:g})",
            rich_help_panel=_POSTERIOR,
        ),
    ] = None
    nu: Annotated[
        float | None,
        typer.Option(
            metavar="X",
            help=f"Strength of the true prior relative to it. (default: {defaults.NU:g})",
            rich_help_panel=_POSTERIOR,
        ),
    ] = None
    gamma: Annotated[
        str | None,
        typer.Option(
            metavar="G,...",
            help="Levels of prior to evidence; a region has prior/gamma training rows. "
            f"(default: {','.join(map(str, defaults.GAMMAS))})",
            rich_help_panel=_POSTERIOR,
        ),
    ] = None


@dataclass(frozen=True, kw_only=True)
class GaussianOptions:
    """Two Gaussian classes, scored by a logistic model."""

    prevalence: Annotated[
        float | None,
        typer.Option(
            metavar="P",
            help=f"Share of positives among the rows. (default: {defaults.PREVALENCE:g})",
            rich_help_panel=_GAUSSIAN,
        ),
    ] = None
    train_prevalence: Annotated[
        float | None,
        typer.Option(
            metavar="P",
            help=f"Share of positives where the model learned. (default: {defaults.PREVALENCE:g})",
            rich_help_panel=_GAUSSIAN,
        ),
    ] = None
    train_rows: Annotated[
        int | None,
        typer.Option(
            metavar="N",
            help=f"Rows the model learned from. (default: {defaults.TRAIN_ROWS})",
            rich_help_panel=_GAUSSIAN,
        ),
    ] = None
    noise: Annotated[
        float | None,
        typer.Option(
            metavar="SD",
            help="Standard deviation of normal noise on the log-odds of the scores. "
            f"(default: {defaults.NOISE:g})",
            rich_help_panel=_GAUSSIAN,
        ),
    ] = None


def simulate(
    *,
    kind: Annotated[
        Simulation, typer.Argument(metavar="KIND", help="What to simulate: posterior or gaussian.")
    ],
    rows: Annotated[
        int, typer.Option(metavar="N", min=0, max=defaults.MOST_ROWS, help="Rows to draw.")
    ] = defaults.SIMULATED_ROWS,
    seed: Annotated[
        int, typer.Option(metavar="S", min=0, max=defaults.MOST_SEED, help="Seed of the draws.")
    ] = defaults.SEED,
    posterior: PosteriorOptions,
    gaussian: GaussianOptions,
    written: RowsFile,
    reporting: ReportOptions,
    running: RunOptions,
) -> None:
    """Draw data with known truth: scores (and uncertainties), labels, positivity."""
    limit_threads(running.threads)
    from uqcli.engines.inputs import format_of
    from uqcli.reports.stream.simulate import metrics_of

    output = written.output or STDIO
    format_of(output, written.output_format)
    origin = check_outputs(
        reporting, output, reads=Reads(), running=running, metrics=metrics_of(rows=rows, positives=0)
    )
    from uqcli.jobs.stream.output import RowsOutput
    from uqcli.jobs.stream.simulate import SimulateRequest, run

    with Held() as held:
        result = run(
            SimulateRequest(
                rows=rows,
                seed=seed,
                output=RowsOutput(place=output, file_format=written.output_format, held=held),
                model=_model(kind, _given(posterior), _given(gaussian)),
            )
        )
        spoken = report_of_filter(reporting, written.output)
        deliver_rows(result, spoken, origin=origin, output=written.output, held=held)


def _given(options: PosteriorOptions | GaussianOptions) -> dict[str, Any]:
    return {name: value for name, value in asdict(options).items() if value is not None}


def _model(
    kind: Simulation, posterior: dict[str, Any], gaussian: dict[str, Any]
) -> PosteriorModel | GaussianModel:
    from uqcli.methods.stream.gaussian import GaussianModel
    from uqcli.methods.stream.posterior import PosteriorModel

    stray = gaussian if kind is Simulation.POSTERIOR else posterior
    refuse_typed(tuple(stray), f"with {kind}", "an option of that simulation")
    if kind is Simulation.GAUSSIAN:
        return GaussianModel(**gaussian)
    if "gamma" in posterior:
        gammas = _gammas(posterior["gamma"])
        posterior = {name: value for name, value in posterior.items() if name != "gamma"} | {"gammas": gammas}
    return PosteriorModel(**posterior)


def _gammas(text: str) -> tuple[float, ...]:
    try:
        return tuple(float(part) for part in text.split(","))
    except ValueError:
        raise UsageError(f"--gamma '{text}'", expected="numbers separated by commas") from None
