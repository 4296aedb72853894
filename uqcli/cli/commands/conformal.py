"""``uqcli conformal``."""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated

import typer

from uqcli import defaults
from uqcli.choices import ConformalMethod, ConformalMode, EngineName
from uqcli.cli.deliver import check_outputs, deliver
from uqcli.cli.inputs import labelled_data, prepare
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
from uqcli.errors import UsageError

if TYPE_CHECKING:
    from uqcli.engines.request import DataRequest
    from uqcli.jobs.shift.run import ShiftOutcome

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
    ] = "0.1",
    method: Annotated[
        ConformalMethod,
        typer.Option(
            help="aps: classes by cumulated probability; lac: classes above a probability.",
            rich_help_panel=_SETS,
        ),
    ] = ConformalMethod.APS,
    mode: Annotated[
        ConformalMode,
        typer.Option(
            help="Coverage over all rows, in each class, or in a target with another class mix.",
            rich_help_panel=_SETS,
        ),
    ] = ConformalMode.MARGINAL,
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
    ] = 0,
    written: ArtifactOutput,
    probabilities: ClassProbabilities,
    columns: FitColumns,
    reading: InputOptions,
    reporting: ReportOptions,
    running: RunOptions,
) -> None:
    """Find thresholds of sets of classes that hold the true one as often as promised."""
    prepare(running)
    reads = Reads.of(inputs, target, models=[shift], reading=reading)
    files = check_outputs(reporting, written.output, reads=reads, running=running)
    from contextlib import nullcontext
    from dataclasses import replace

    from uqcli.artifacts.codec import encode, load_kind
    from uqcli.artifacts.models import ShiftArtifact
    from uqcli.engines.open import streams_kept
    from uqcli.jobs.conformal.run import ConformalOptions, parse_alpha, run

    parse_alpha(alpha)
    refuse_typed(("uncertainty",), "of conformal sets", "none: they look at probabilities alone")
    if mode is not ConformalMode.LABEL_CONDITIONAL and not is_typed("alpha_by_class"):
        alpha_by_class = None
    if mode is not ConformalMode.MARGINAL and not is_typed("by"):
        by = None
    if mode is not ConformalMode.LABEL_SHIFT:
        shift = shift if is_typed("shift") else None
        target = target if is_typed("target") else None
    if shift is not None and target is not None:
        raise UsageError("--shift and --target together", expected="one of them")
    data = labelled_data(inputs, columns, reading, probabilities)
    options = ConformalOptions(
        method=method,
        mode=mode,
        alpha=alpha,
        alpha_by_class=_pairs(alpha_by_class),
        randomize=not no_randomize,
        seed=seed,
        by=by,
    )
    weights = None if shift is None else load_kind(shift, ShiftArtifact)
    with streams_kept() if target else nullcontext():  # the rows are read for the weights, too
        if target is not None:
            estimated = _estimated(data, mode, target, running.engine)
            if estimated.failure is not None:
                deliver(estimated.report, reporting, files=files, failure=estimated.failure)
            weights = estimated.artifact
        keyed = replace(data, roles=replace(data.roles, keys=() if by is None else (by,)))
        outcome = run(keyed, options, running.engine, weights)
    artifact = encode(outcome.artifact)
    deliver(outcome.report, reporting, files=files, output=written.output, artifact=artifact)


def _pairs(text: str | None) -> dict[str, str]:
    """``CLASS=A,...`` as a mapping."""
    pairs: dict[str, str] = {}
    for part in () if text is None else text.split(","):
        name, equals, value = part.rpartition("=")
        if not equals or name.strip() in pairs:
            raise UsageError(f"--alpha-by-class '{text}'", expected="CLASS=A,... with each class once")
        pairs[name.strip()] = value.strip()
    return pairs


def _estimated(data: DataRequest, mode: ConformalMode, target: list[str], engine: EngineName) -> ShiftOutcome:
    """Class weights from unlabelled rows."""
    from uqcli.jobs.shift.run import ShiftOptions, run, target_request

    if mode is not ConformalMode.LABEL_SHIFT:
        raise UsageError(f"--target with mode {mode}", expected="--mode label-shift")
    return run(data, target_request(data, target), ShiftOptions(bootstrap=0), engine)
