"""``uqcli simulate``."""

from __future__ import annotations

from typing import Annotated

import typer

from uqcli.choices import FileFormat, Simulation
from uqcli.cli.deliver import check_outputs, deliver, report_of_filter
from uqcli.cli.options import ReportOptions, RunOptions, stdout_by_its_names
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
    output: Annotated[
        str | None,
        typer.Option(
            "--output",
            "-o",
            metavar="FILE",
            callback=stdout_by_its_names,
            help="Where the rows go; the name tells the format. (default: CSV on standard output)",
            rich_help_panel="Output",
        ),
    ] = None,
    output_format: Annotated[
        FileFormat | None,
        typer.Option(help="Format of the rows, whatever the name says.", rich_help_panel="Output"),
    ] = None,
    reporting: ReportOptions,
    running: RunOptions,
) -> None:
    """Draw data with known truth: a posterior network's scores and uncertainties, labels, positivity."""
    del kind  # there is one
    prepare(running)
    check_outputs(reporting, output or STDIO)
    from uqcli.jobs.simulate import SimulateOptions, run
    from uqcli.methods.simulation.posterior import PosteriorModel

    model = PosteriorModel(tau=tau, omega=omega, xi=xi, prior=prior, nu=nu, gammas=_gammas(gamma))
    report = run(
        SimulateOptions(
            rows=rows, seed=seed, output=output or STDIO, output_format=output_format, model=model
        )
    )
    deliver(report, report_of_filter(reporting, output), output=output)


def _gammas(text: str) -> tuple[float, ...]:
    try:
        return tuple(float(part) for part in text.split(","))
    except ValueError:
        raise UsageError(f"--gamma '{text}'", expected="numbers separated by commas") from None
