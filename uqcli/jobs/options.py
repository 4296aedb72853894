"""Options that several commands share."""

from __future__ import annotations

from dataclasses import fields
from typing import Annotated, ClassVar, Final

from uqcli.base import defaults
from uqcli.base.choices import EngineName, FileFormat, OnInvalid, ReportFormat
from uqcli.base.errors import UsageError
from uqcli.base.exact_numbers import size
from uqcli.base.options import (
    RUN,
    Argument,
    choice,
    flag,
    listed_names,
    normalize_stdout,
    option,
    several,
    text,
)
from uqcli.base.records import dataclass

_COLUMNS, _OUTPUT = "Columns", "Output"
_BINS = "Bins"

LabelledInputs = Annotated[
    list[str] | None, Argument("INPUT...", "Labelled files, globs, directories, or -.")
]
StreamedInputs = Annotated[
    list[str] | None, Argument("INPUT...", "Files, globs, directories, or - (standard input).")
]


@dataclass(frozen=True, kw_only=True)
class InputOptions:
    """Options for reading the inputs."""

    panel: ClassVar = RUN

    format: FileFormat | None = choice("csv, parquet, arrow or jsonl. (default: by name)", metavar="FORMAT")
    delimiter: str | None = option("CHAR", "CSV delimiter, or 'tab'. (default: by name)")
    decimal: str = option("CHAR", "Decimal mark of CSV: '.' or ','.", defaults.DECIMAL)
    null_value: tuple[str, ...] = several("TEXT", "Another text for null in CSV (repeatable).")
    on_invalid: OnInvalid = option("ACTION", "For null, NaN or inf: error, drop, keep.", defaults.ON_INVALID)


@dataclass(frozen=True, kw_only=True)
class LabelsOptions:
    """Labels that arrive in a second file."""

    panel: ClassVar = _COLUMNS

    labels: str | None = option("FILE", "Read labels from this file, joined by --on.", guarded=True)
    on: str | None = option("ID", "Column of ids that the inputs and --labels share.")


@dataclass(frozen=True, kw_only=True)
class FitColumns(LabelsOptions):
    """Columns of a fit or a test."""

    score: str = option("COL", "Score column.", defaults.SCORE, common=True)
    uncertainty: str = option(
        "COL",
        "Uncertainty; =-COL if low is uncertain.",
        defaults.UNCERTAINTY,
        common=("overview", "boundary", "bin", "calibrate"),
    )
    label: str = option("COL", "Label column: 0/1 or true/false.", defaults.LABEL, common=True)
    weight: str | None = option("COL", "Column of row counts (not sampling weights). (default: none)")
    no_weight: bool = flag("Count each row once, whatever is configured.")
    positive: str | None = option("VALUE", "Label that means positive, such as yes.")


ROW_OPTIONS: Final = tuple(field.name for group in (FitColumns, InputOptions) for field in fields(group))
"""Names of the options for reading rows, useless for saved grids."""


@dataclass(frozen=True, kw_only=True)
class ClassProbabilities:
    """Columns of class probabilities, instead of one score."""

    panel: ClassVar = _COLUMNS

    proba: str | None = option(
        "PATTERN",
        'Columns of class probabilities: "p_*" or a,b,c.',
        common=("tce", "calibrate", "conformal", "shift"),
    )
    classes: tuple[str, ...] = option(
        "NAME,...", "Names of the classes, in column order.", (), parse=listed_names
    )


@dataclass(frozen=True, kw_only=True)
class ValueOptions:
    """Gain and cost that replace those of the rule."""

    panel: ClassVar = _COLUMNS

    gain: str | None = option("G|COL", "Gain of a true positive. (default: as in the rule)")
    cost: str | None = option("C|COL", "Cost of a false positive. (default: as in the rule)")


@dataclass(frozen=True, kw_only=True)
class BlockBounds:
    """Bounds on the bin sizes of pava-bc; 0 for the default."""

    panel: ClassVar = _BINS

    n_min: int = option(
        "N",
        "pava-bc: minimum rows per bin. (default: N/20, fewer in large files)",
        0,
        parse=size,
        stated=True,
    )
    n_max: int = option(
        "N", "pava-bc: maximum rows per bin. (default: four times --n-min)", 0, parse=size, stated=True
    )


@dataclass(frozen=True, kw_only=True)
class ModelColumns:
    """Columns that replace those of the rule: of a score, or of class probabilities."""

    panel: ClassVar = _COLUMNS

    score: str | None = option("COL", "Score column. (default: as in the rule)")
    uncertainty: str | None = option(
        "COL", "Uncertainty column; =-COL if low values are uncertain. (default: as in the rule)"
    )
    proba: str | None = option(
        "PATTERN",
        'Columns of class probabilities: "q_*", where * is the class, or a,b,c in the rule\'s order. '
        "(default: as in the rule)",
    )
    classes: tuple[str, ...] = option(
        "NAME,...", "The rule's classes, in the order of the listed columns.", (), parse=listed_names
    )


@dataclass(frozen=True, kw_only=True)
class LabelColumns(LabelsOptions):
    """Label and weight columns that replace those of the rule."""

    label: str | None = option("COL", "Label column. (default: as in the rule)", common=True)
    weight: str | None = option(
        "COL", "Column of row counts (not sampling weights). (default: as in the rule)"
    )
    no_weight: bool = flag("Count each row once, whatever the rule or a configuration says.")
    positive: str | None = option(
        "VALUE", "Label that means positive, such as yes. (default: as in the rule)"
    )


RULE_ENDING: Final = ".json"
"""Ending of rule files, by which ``evaluate`` knows them."""


def is_rule(name: str) -> bool:
    """Whether a name is that of a rule: by its ending, or its content if a program has it."""
    return isinstance(getattr(name, "content", None), bytes) or name.lower().endswith(RULE_ENDING)


def rule_name(output: str | None) -> str | None:
    """Refuse the ending of rows, pages or figures for a rule (a callback of ``--output``)."""
    from uqcli.engines.inputs import ending_of_another_format

    output = normalize_stdout(output)
    if output is not None and ending_of_another_format(output, RULE_ENDING):
        raise UsageError(
            f"cannot write a rule to '{output}'",
            expected="JSON",
            remedy=f"choose a name that ends in {RULE_ENDING}",
        )
    return output


@dataclass(frozen=True, kw_only=True)
class RuleOutput:
    """File of the rule."""

    panel: ClassVar = _OUTPUT

    output: str | None = option(
        "FILE",
        "Save the rule here; - is standard output.",
        also="-o",
        callback=rule_name,
        guarded=True,
        common=True,
    )


@dataclass(frozen=True, kw_only=True)
class PlotOutput:
    """File of the figure."""

    panel: ClassVar = _OUTPUT

    plot: str | None = option("FILE", "Save the figure: .png, .svg or .pdf.", guarded=True)


GATES: Final = {
    "overview": "auc < 0.7",
    "boundary": "recall < 0.3",
    "bin": "positives < 100",
    "tce": "ece > 0.05",
    "calibrate": "after.ece > 0.05",
    "conformal": "always_in > 0",
    "shift": "shift_p < 0.001",
    "apply": "selected_share > 0.1",
    "evaluate": "promise_broken == 1",
    "backtest": "first.below_usual == 1",
    "watch": "trials < 100",
    "sample": "width > 0.1",
    "uncertainty": "rows < 1000",
    "export": "differences > 0",
    "show": "differences > 0",
}
"""A check that separates good from bad results of each command."""


@dataclass(frozen=True, kw_only=True)
class ReportOptions:
    """Forms of the report, and checks on its metrics."""

    panel: ClassVar = _OUTPUT

    json: bool = flag("Print the report as one JSON object.", common=True)
    quiet: bool = flag("Print nothing but errors.", also="-q")
    verbose: bool = flag("Print details, every caution and whole tables.")
    report: tuple[str, ...] = several(
        "FILE",
        f"Also write the report to FILE; its ending sets the format: {', '.join(ReportFormat)} (repeatable).",
        guarded=True,
        common=True,
    )
    tag: tuple[str, ...] = several("KEY=VALUE", "Label of all samples of .prom (repeatable).")
    title: str = text("TEXT", "Title of .html and .md. (default: the answer)")
    fail_if: tuple[str, ...] = several(
        "GATE",
        {
            name: f"End with exit code 6 if this holds, such as '{gate}' (repeatable)."
            for name, gate in GATES.items()
        },
        guarded=True,
        common=("tce", "evaluate", "watch", "apply", "overview"),
    )


@dataclass(frozen=True, kw_only=True)
class RunOptions:
    """Options for running the program; none changes a result."""

    panel: ClassVar = RUN

    threads: int | None = option("N", "Threads of each pool. (default: one per core)", min=1, max=1024)
    memory: str = text("SIZE", "Memory beside 250 MB. (default: 1/4 of free)")
    engine: EngineName = choice("Engine: polars or spark.", defaults.ENGINE, metavar="NAME", guarded=True)
    spark: str = text("URL", "Spark cluster sc://host:port, or SPARK_REMOTE.", guarded=True)
    debug: bool = flag("Show a traceback on errors.")
    show_settings: bool = flag("Print the options in force and their sources.")
    no_config: bool = flag("Read no configuration file.")
    config: str = text(
        "FILE",
        "Configuration file. (default: uqcli.toml or pyproject.toml in this folder or above)",
        guarded=True,
    )
