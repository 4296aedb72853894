"""``uqcli simulate``."""

from __future__ import annotations

from typing import Annotated

import typer

from uqcli.choices import Simulation
from uqcli.cli.deliver import check_outputs, deliver, report_of_filter
from uqcli.cli.options import ReportOptions, RowsFile, RunOptions
from uqcli.cli.requests import prepare
from uqcli.errors import UsageError
from uqcli.files import STDIO

_MODEL = "Posterior network"


def simulate(
    *,
    kind: Annotated[Simulation, typer.Argument(metavar="KIND", help="What to simulate: posterior.")],
    rows: Annotated[int, typer.Option(metavar="N", min=0, help="Rows to draw.")] = 100_000,
    seed: Annotated[int, typer.Option(metavar="S", min=0, help="Seed of the draws.")] = 0,
    tau: Annotated[
        float,
        typer.Option(
            metavar="X",
            help="How many times rarer negatives are in training; 1 is no undersampling.",
            rich_help_panel=_MODEL,
        ),
    ] = 3.0,
    omega: Annotated[
        float, typer.Option(metavar="X", help="Positive share of the model's prior.", rich_help_panel=_MODEL)
    ] = 0.5,
    xi: Annotated[
        float, typer.Option(metavar="X", help="Positive share of the true prior.", rich_help_panel=_MODEL)
    ] = 0.25,
    prior: Annotated[
        float, typer.Option(metavar="X", help="Strength of the model's prior.", rich_help_panel=_MODEL)
    ] = 2.0,
    nu: Annotated[
        float,
        typer.Option(metavar="X", help="Strength of the true prior relative to it.", rich_help_panel=_MODEL),
    ] = 4.0,
    gamma: Annotated[
        str,
        typer.Option(
            metavar="G,...",
            help="Levels of prior to evidence; a region has prior/gamma training rows.",
            rich_help_panel=_MODEL,
        ),
    ] = "0.01,0.05,0.25",
    written: RowsFile,
    reporting: ReportOptions,
    running: RunOptions,
) -> None:
    """Draw data with known truth: a posterior network's scores and uncertainties, labels, positivity."""
    del kind  # there is one
    prepare(running)
    check_outputs(reporting, written.output or STDIO)
    from uqcli.jobs.simulate import SimulateOptions, run
    from uqcli.methods.simulation.posterior import PosteriorModel

    model = PosteriorModel(tau=tau, omega=omega, xi=xi, prior=prior, nu=nu, gammas=_gammas(gamma))
    report = run(
        SimulateOptions(
            rows=rows,
            seed=seed,
            output=written.output or STDIO,
            output_format=written.output_format,
            model=model,
        )
    )
    deliver(report, report_of_filter(reporting, written.output), output=written.output)


def _gammas(text: str) -> tuple[float, ...]:
    try:
        return tuple(float(part) for part in text.split(","))
    except ValueError:
        raise UsageError(f"--gamma '{text}'", expected="numbers separated by commas") from None
