"""Every option that more than one command has, declared once."""

from __future__ import annotations

from dataclasses import dataclass, fields
from typing import Annotated, Final

import typer

from uqcli import defaults
from uqcli.choices import EngineName, FileFormat, OnInvalid
from uqcli.files import STDIO, is_stdout

_INPUT, _COLUMNS, _OUTPUT, _RUN = "Input", "Columns", "Output", "Run"
_BINS, _RESAMPLING = "Bins", "Resampling"


def stdout_by_its_names(output: str | None) -> str | None:
    """Standard output under whatever name is ``-`` (a callback of ``--output``)."""
    return STDIO if output is not None and is_stdout(output) else output


@dataclass(frozen=True, kw_only=True)
class InputOptions:
    """How the inputs are read."""

    format: Annotated[
        FileFormat | None,
        typer.Option(
            help="Format of inputs whose name does not tell it, such as standard input. (default: csv)",
            rich_help_panel=_INPUT,
        ),
    ] = None
    delimiter: Annotated[
        str | None,
        typer.Option(
            metavar="CHAR",
            help="Field separator of CSV inputs: one character, or 'tab'. (default: by name)",
            rich_help_panel=_INPUT,
        ),
    ] = None
    null_value: Annotated[
        list[str] | None,
        typer.Option(
            metavar="TEXT",
            help="Text in CSV that means null, beside the empty field (repeatable).",
            rich_help_panel=_INPUT,
        ),
    ] = None
    on_invalid: Annotated[
        OnInvalid,
        typer.Option(
            help="Rows with a null, NaN or infinity in a needed column: error (exit 3), drop, "
            "or keep (apply only: the added column is null).",
            rich_help_panel=_INPUT,
        ),
    ] = defaults.ON_INVALID


@dataclass(frozen=True, kw_only=True)
class FitColumns:
    """Which columns to learn from."""

    score: Annotated[str, typer.Option(metavar="COL", help="Score column.", rich_help_panel=_COLUMNS)] = (
        defaults.SCORE
    )
    uncertainty: Annotated[
        str, typer.Option(metavar="COL", help="Uncertainty column.", rich_help_panel=_COLUMNS)
    ] = defaults.UNCERTAINTY
    label: Annotated[
        str,
        typer.Option(metavar="COL", help="Label column: 0/1 or true/false.", rich_help_panel=_COLUMNS),
    ] = defaults.LABEL
    weight: Annotated[
        str | None,
        typer.Option(
            metavar="COL",
            help="Weight column: how many independent rows each stands for, a whole number; "
            "no amounts, no sampling weights. (default: none)",
            rich_help_panel=_COLUMNS,
        ),
    ] = None
    no_weight: Annotated[
        bool,
        typer.Option(
            "--no-weight", help="Count every row once, whatever is configured.", rich_help_panel=_COLUMNS
        ),
    ] = False
    positive: Annotated[
        str | None,
        typer.Option(
            metavar="VALUE", help="Text of the positive label, for other labels.", rich_help_panel=_COLUMNS
        ),
    ] = None


OF_ROWS: Final = tuple(field.name for group in (FitColumns, InputOptions) for field in fields(group))
"""Names of the options that say how rows are read: of no use where none are."""


@dataclass(frozen=True, kw_only=True)
class ClassProbabilities:
    """Columns of class probabilities, instead of one score."""

    proba: Annotated[
        str | None,
        typer.Option(
            metavar="PATTERN",
            help="Columns of class probabilities: 'p_*', where * is the class, or a,b,c.",
            rich_help_panel=_COLUMNS,
        ),
    ] = None
    classes: Annotated[
        str | None,
        typer.Option(
            metavar="NAME,...",
            help="Names of the classes, in the order of the columns.",
            rich_help_panel=_COLUMNS,
        ),
    ] = None


@dataclass(frozen=True, kw_only=True)
class BlockBounds:
    """Sizes of the bins of pava-bc."""

    n_min: Annotated[
        str | None,
        typer.Option(
            metavar="N",
            help="pava-bc: rows in a bin at least. (default: N/20, fewer in large files)",
            rich_help_panel=_BINS,
        ),
    ] = None
    n_max: Annotated[
        str | None,
        typer.Option(
            metavar="N",
            help="pava-bc: rows in a bin at most. (default: four times that)",
            rich_help_panel=_BINS,
        ),
    ] = None


@dataclass(frozen=True, kw_only=True)
class Intervals:
    """Confidence of intervals, and the seed of the draws they are made from."""

    confidence: Annotated[
        float, typer.Option(metavar="C", help="Confidence of the intervals.", rich_help_panel=_RESAMPLING)
    ] = defaults.CONFIDENCE
    seed: Annotated[
        int,
        typer.Option(
            metavar="S",
            min=0,
            max=defaults.MOST_SEED,
            help="Seed of the draws.",
            rich_help_panel=_RESAMPLING,
        ),
    ] = defaults.SEED


@dataclass(frozen=True, kw_only=True)
class ResamplingOptions(Intervals):
    """Intervals by resampling the rows, if asked for."""

    bootstrap: Annotated[
        int,
        typer.Option(
            metavar="B",
            min=0,
            max=defaults.MOST_REPLICATES,
            help="Draws that tell what chance does: intervals where they hold, p-values of errors in tce.",
            rich_help_panel=_RESAMPLING,
        ),
    ] = 0


@dataclass(frozen=True, kw_only=True)
class OptionalResampling(Intervals):
    """Intervals by resampling the rows, made without asking where the rows are not many."""

    bootstrap: Annotated[
        int | None,
        typer.Option(
            metavar="B",
            min=0,
            max=defaults.MOST_REPLICATES,
            help=f"Replicates of the bootstrap; 0 for no intervals. (default: {defaults.BOOTSTRAP} up to "
            f"{defaults.BOOTSTRAP_ROWS:,} rows, which takes a third of a second for 10,000)",
            rich_help_panel=_RESAMPLING,
        ),
    ] = None


@dataclass(frozen=True, kw_only=True)
class PlotOutput:
    """Where a figure goes."""

    plot: Annotated[
        str | None,
        typer.Option(metavar="FILE", help="Draw the figure: .png, .svg or .pdf.", rich_help_panel=_OUTPUT),
    ] = None


@dataclass(frozen=True, kw_only=True)
class ModelColumns:
    """Columns that replace the artifact's own."""

    score: Annotated[
        str | None,
        typer.Option(metavar="COL", help="Score column. (default: the artifact's)", rich_help_panel=_COLUMNS),
    ] = None
    uncertainty: Annotated[
        str | None,
        typer.Option(
            metavar="COL", help="Uncertainty column. (default: the artifact's)", rich_help_panel=_COLUMNS
        ),
    ] = None


@dataclass(frozen=True, kw_only=True)
class ModelClasses:
    """Columns of class probabilities that replace a conformal artifact's own."""

    proba: Annotated[
        str | None,
        typer.Option(
            metavar="PATTERN",
            help="Columns of class probabilities: 'q_*', where * is the class, or a,b,c in the order of the "
            "artifact's classes. (default: the artifact's)",
            rich_help_panel=_COLUMNS,
        ),
    ] = None
    classes: Annotated[
        str | None,
        typer.Option(
            metavar="NAME,...",
            help="The artifact's classes in the order of the listed columns.",
            rich_help_panel=_COLUMNS,
        ),
    ] = None


@dataclass(frozen=True, kw_only=True)
class LabelColumns:
    """Label and weight columns that replace the artifact's own."""

    label: Annotated[
        str | None,
        typer.Option(metavar="COL", help="Label column. (default: the artifact's)", rich_help_panel=_COLUMNS),
    ] = None
    weight: Annotated[
        str | None,
        typer.Option(
            metavar="COL",
            help="Weight column: how many independent rows each stands for, a whole number; no amounts, no "
            "sampling weights. (default: the artifact's)",
            rich_help_panel=_COLUMNS,
        ),
    ] = None
    no_weight: Annotated[
        bool,
        typer.Option(
            "--no-weight",
            help="Count every row once, whatever the artifact or a configuration says.",
            rich_help_panel=_COLUMNS,
        ),
    ] = False
    positive: Annotated[
        str | None,
        typer.Option(
            metavar="VALUE",
            help="Text of the positive label. (default: the artifact's)",
            rich_help_panel=_COLUMNS,
        ),
    ] = None


@dataclass(frozen=True, kw_only=True)
class ArtifactOutput:
    """Where an artifact goes."""

    output: Annotated[
        str | None,
        typer.Option(
            "--output",
            "-o",
            metavar="FILE",
            callback=stdout_by_its_names,
            help="Write the artifact here; - is standard output.",
            rich_help_panel=_OUTPUT,
        ),
    ] = None


@dataclass(frozen=True, kw_only=True)
class RowsFile:
    """Where rows go."""

    output: Annotated[
        str | None,
        typer.Option(
            "--output",
            "-o",
            metavar="FILE",
            callback=stdout_by_its_names,
            help="Where the rows go; the name tells the format. (default: CSV on standard output)",
            rich_help_panel=_OUTPUT,
        ),
    ] = None
    output_format: Annotated[
        FileFormat | None,
        typer.Option(help="Format of the rows, whatever the name says.", rich_help_panel=_OUTPUT),
    ] = None


@dataclass(frozen=True, kw_only=True)
class RowOutput(RowsFile):
    """Where rows go, and what becomes of their columns."""

    prefix: Annotated[
        str, typer.Option(metavar="P", help="Put before the added columns' names.", rich_help_panel=_OUTPUT)
    ] = ""
    overwrite: Annotated[
        bool,
        typer.Option("--overwrite", help="Replace columns of those names.", rich_help_panel=_OUTPUT),
    ] = False
    union: Annotated[
        bool,
        typer.Option(
            "--union", help="Let inputs differ in columns; missing ones are null.", rich_help_panel=_OUTPUT
        ),
    ] = False


@dataclass(frozen=True, kw_only=True)
class ReportOptions:
    """What becomes of the report."""

    json: Annotated[
        bool, typer.Option("--json", help="Print the report as one JSON object.", rich_help_panel=_OUTPUT)
    ] = False
    quiet: Annotated[
        bool,
        typer.Option(
            "--quiet", "-q", help="Print no table and no message; errors stay.", rich_help_panel=_OUTPUT
        ),
    ] = False
    report: Annotated[
        list[str] | None,
        typer.Option(
            metavar="FILE",
            help="Also write the report: .html, .md, .json, .xml (JUnit) or .prom (Prometheus) (repeatable).",
            rich_help_panel=_OUTPUT,
        ),
    ] = None
    fail_if: Annotated[
        list[str] | None,
        typer.Option(
            metavar="GATE",
            help="Exit 6 if 'METRIC OP VALUE' holds, such as 'precision.low < 0.7' (repeatable).",
            rich_help_panel=_OUTPUT,
        ),
    ] = None


@dataclass(frozen=True, kw_only=True)
class RunOptions:
    """How the program runs; nothing here changes a result."""

    threads: Annotated[
        int | None,
        typer.Option(
            metavar="N", min=1, max=1024, help="Threads to use. (default: one a core)", rich_help_panel=_RUN
        ),
    ] = None
    engine: Annotated[EngineName, typer.Option(help="What reads and counts.", rich_help_panel=_RUN)] = (
        defaults.ENGINE
    )
    spark: Annotated[
        str | None,
        typer.Option(metavar="URL", help="Cluster, sc://host:port. (default: local)", rich_help_panel=_RUN),
    ] = None
    debug: Annotated[
        bool, typer.Option("--debug", help="Show a traceback on errors.", rich_help_panel=_RUN)
    ] = False
    no_config: Annotated[
        bool, typer.Option("--no-config", help="Read no configuration file.", rich_help_panel=_RUN)
    ] = False
    config: Annotated[
        str | None,
        typer.Option(
            metavar="FILE",
            help="Configuration file. (default: the nearest uqcli.toml or pyproject.toml upwards)",
            rich_help_panel=_RUN,
        ),
    ] = None
