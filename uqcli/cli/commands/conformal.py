"""``uqcli conformal``."""

from __future__ import annotations

from typing import Annotated

import typer

from uqcli import defaults
from uqcli.choices import ConformalMethod, ConformalMode
from uqcli.cli.deliver import check_outputs, deliver
from uqcli.cli.inputs import labelled_data
from uqcli.cli.options import (
    ArtifactOutput,
    ClassProbabilities,
    FitColumns,
    InputOptions,
    ReportOptions,
    RunOptions,
)
from uqcli.cli.places import Reads
from uqcli.cli.priority import is_typed, refuse_typed
from uqcli.cli.process.resources import limit_threads
from uqcli.errors import UsageError

_SETS = "Sets"


def conformal(
    *,
    inputs: Annotated[
        list[str] | None,
        typer.Argument(metavar="INPUT...", help="Labelled files, globs, directories, or -."),
    ] = None,
    alpha: Annotated[
        str,
        typer.Option(
            metavar="A", help="Sets miss the true class in at most this share of rows.", rich_help_panel=_SETS
        ),
    ] = defaults.MISS,
    method: Annotated[
        ConformalMethod,
        typer.Option(
            help="aps: classes by cumulated probability; lac: classes above a probability.",
            rich_help_panel=_SETS,
        ),
    ] = defaults.CONFORMAL_METHOD,
    mode: Annotated[
        ConformalMode,
        typer.Option(
            help="Coverage over all rows, in each class, or in a target with another class mix.",
            rich_help_panel=_SETS,
        ),
    ] = defaults.CONFORMAL_MODE,
    alpha_by_class: Annotated[
        str | None,
        typer.Option(
            metavar="CLASS=A,...",
            help="Other alphas for some classes, with --mode label-conditional.",
            rich_help_panel=_SETS,
        ),
    ] = None,
    by: Annotated[
        str | None,
        typer.Option(
            metavar="COL",
            help="Coverage in each group of a column by itself; groups never seen use all rows.",
            rich_help_panel=_SETS,
        ),
    ] = None,
    shift: Annotated[
        str | None,
        typer.Option(
            metavar="SHIFT.json", help="Class weights for --mode label-shift.", rich_help_panel=_SETS
        ),
    ] = None,
    target: Annotated[
        list[str] | None,
        typer.Option(
            metavar="FILE",
            help="Or unlabelled rows of the target, to estimate them (BBSE; repeatable).",
            rich_help_panel=_SETS,
        ),
    ] = None,
    no_randomize: Annotated[
        bool,
        typer.Option("--no-randomize", help="aps: larger sets without draws.", rich_help_panel=_SETS),
    ] = False,
    seed: Annotated[
        int,
        typer.Option(
            metavar="S", min=0, max=defaults.MOST_SEED, help="Seed of the draws.", rich_help_panel=_SETS
        ),
    ] = defaults.SEED,
    written: ArtifactOutput,
    probabilities: ClassProbabilities,
    columns: FitColumns,
    reading: InputOptions,
    reporting: ReportOptions,
    running: RunOptions,
) -> None:
    """Find thresholds of sets of classes that hold the true one as often as promised."""
    limit_threads(running.threads)
    reads = Reads.of(inputs, target, models=[shift], reading=reading)
    origin = check_outputs(reporting, written.output, reads=reads, running=running)
    from uqcli.jobs.conformal.run import ConformalRequest, parse_alpha, run

    parse_alpha(alpha)
    refuse_typed(("uncertainty",), "of conformal sets", "none: they look at probabilities alone")
    if mode is not ConformalMode.LABEL_CONDITIONAL and not is_typed("alpha_by_class"):
        alpha_by_class = None
    if mode is not ConformalMode.MARGINAL and not is_typed("by"):
        by = None
    if mode is not ConformalMode.LABEL_SHIFT:
        shift = shift if is_typed("shift") else None
        target = target if is_typed("target") else None
    request = ConformalRequest(
        data=labelled_data(inputs, columns, reading, running, probabilities=probabilities),
        method=method,
        mode=mode,
        alpha=alpha,
        alpha_by_class=_pairs(alpha_by_class),
        randomize=not no_randomize,
        seed=seed,
        by=by,
        shift=shift,
        target=tuple(target) if target else None,
    )
    deliver(run(request), reporting, origin=origin, output=written.output)


def _pairs(text: str | None) -> dict[str, str]:
    """``CLASS=A,...`` as a mapping."""
    pairs: dict[str, str] = {}
    for part in () if text is None else text.split(","):
        name, equals, value = part.rpartition("=")
        if not equals or name.strip() in pairs:
            raise UsageError(f"--alpha-by-class '{text}'", expected="CLASS=A,... with each class once")
        pairs[name.strip()] = value.strip()
    return pairs
