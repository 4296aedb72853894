"""Requests of jobs, from the options of a command."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import replace
from typing import TYPE_CHECKING

from uqcli.base.choices import EngineName, FileFormat
from uqcli.base.errors import UsageError
from uqcli.base.files import OutputQueue, is_stdin
from uqcli.base.operating_system import join
from uqcli.base.options import RowOutput
from uqcli.cli.options import (
    RULE_ENDING,
    ClassProbabilities,
    FitColumns,
    InputOptions,
    LabelColumns,
    LabelsOptions,
    ModelClasses,
    ModelColumns,
    RunOptions,
)
from uqcli.cli.priority import is_typed, refuse_typed, typed

if TYPE_CHECKING:
    from uqcli.engines.request import ClassColumns, DataRequest, LabelsFile, ReadOptions
    from uqcli.rules.columns import ColumnOverrides


def read_options(options: InputOptions) -> ReadOptions:
    """Build the options for reading files.

    Raises
    ------
    UsageError
        The delimiter is not one character, or the decimal mark is neither a point nor a comma.
    """
    from uqcli.engines.request import ReadOptions

    if options.decimal not in (".", ","):
        raise UsageError(f"--decimal is '{options.decimal}'", expected="'.' or ','")

    return ReadOptions(
        format=options.format or FileFormat.CSV,
        format_given=options.format is not None,
        format_wins=is_typed("format"),
        delimiter=None if options.delimiter is None else _delimiter(options.delimiter),
        decimal=options.decimal,
        null_values=tuple(options.null_value or ()),
    )


def labelled_data(
    inputs: list[str] | None,
    columns: FitColumns,
    reading: InputOptions,
    running: RunOptions,
    *,
    probabilities: ClassProbabilities | None = None,
) -> DataRequest:
    """Build the request for labelled rows of a fit or a test.

    Raises
    ------
    UsageError
        Options exclude each other, for example class probabilities and a positive label.
    """
    from uqcli.engines.request import Roles

    classes = None if probabilities is None else class_columns(probabilities)
    if classes is not None:
        refuse_typed(("score",), "and --proba cannot be combined", remedy="leave one of them out")
        refuse_typed(("positive",), "with --proba", "labels that name the classes")
    weight = None if columns.no_weight else columns.weight
    if columns.no_weight:
        refuse_typed(("weight",), "and --no-weight cannot be combined", remedy="leave one of them out")
    numbers = {"score": columns.score, "uncertainty": columns.uncertainty}
    return replace(
        data_without_columns(inputs, reading, running),
        roles=Roles(
            numbers=numbers if classes is None else {},
            label=columns.label,
            weight=weight,
            class_columns=classes,
        ),
        positive_value=columns.positive if classes is None else None,
        labels=labels_file(columns),
    )


def labels_file(options: LabelsOptions) -> LabelsFile | None:
    """Return the file of the labels; None if they are in the inputs.

    Raises
    ------
    UsageError
        One of its two options is missing, or it is standard input.
    """
    from uqcli.engines.request import LabelsFile

    if options.labels is None:
        refuse_typed(("on",), "is given without --labels", remedy="add --labels")
        return None
    if options.on is None:
        raise UsageError("--labels is given without --on", remedy="add --on")
    if is_stdin(options.labels):
        raise UsageError("--labels is standard input", expected="a file", remedy="save it first")
    return LabelsFile(file=options.labels, on=options.on)


def data_without_columns(
    inputs: Iterable[str] | None,
    reading: InputOptions,
    running: RunOptions,
    labels: LabelColumns | None = None,
) -> DataRequest:
    """Build the request for rows; a saved rule or the caller names the columns."""
    from uqcli.engines.request import DataRequest

    return DataRequest(
        inputs=tuple(inputs or ()),
        read=read_options(reading),
        on_invalid=reading.on_invalid,
        engine=running.engine,
        spark=running.spark,
        positive_value=None if labels is None else labels.positive,
        labels=None if labels is None else labels_file(labels),
    )


def class_columns(options: ClassProbabilities) -> ClassColumns | None:
    """Return the columns of class probabilities, None without ``--proba``.

    Raises
    ------
    UsageError
        ``--classes`` is given without ``--proba``.
    """
    from uqcli.engines.request import ClassColumns

    if options.proba is None:
        refuse_typed(("classes",), "is given without --proba", remedy="add --proba")
        return None
    names = None if options.classes is None else tuple(name.strip() for name in options.classes.split(","))
    return ClassColumns(columns=options.proba, names=names)


def rows_output(rows: RowOutput, queue: OutputQueue, running: RunOptions) -> RowOutput:
    """Complete the output of rows; a cluster writes Parquet unless the name has another format.

    Raises
    ------
    UsageError
        The output's name has a compression that its format does not support.
    """
    from uqcli.engines.inputs import format_of, inferred_format

    file_format = rows.output_format
    if running.engine is EngineName.SPARK and inferred_format(rows.target).format is None:
        file_format = file_format or FileFormat.PARQUET
    format_of(rows.target, file_format)
    return replace(rows, output_format=file_format, queue=queue)


def refuse_swapped(artifact: str, inputs: Sequence[str] | None) -> None:
    """Refuse rows in place of the rule if a rule is among the rows: the two are in the wrong order."""
    from uqcli.engines.inputs import inferred_format

    rules = [name for name in inputs or () if name.lower().endswith(RULE_ENDING)]
    if rules and inferred_format(artifact).format is not None:
        raise UsageError(
            f"'{artifact}' holds rows, and the rule file '{rules[0]}' comes after it",
            expected="the rule file first",
            remedy=f"give {join([rules[0], artifact])}",
        )


def column_overrides(
    columns: ModelColumns, classes: ModelClasses, labels: LabelColumns | None = None
) -> ColumnOverrides:
    """Build the columns that replace those of saved rules."""
    from uqcli.rules.columns import ColumnOverrides

    if labels is not None and labels.no_weight:
        refuse_typed(("weight",), "and --no-weight cannot be combined", remedy="leave one of them out")
    proba = class_columns(classes)
    overrides = ColumnOverrides(
        score=columns.score, uncertainty=columns.uncertainty, proba=proba, typed=typed()
    )
    if labels is None:
        return overrides
    return replace(
        overrides,
        label=labels.label,
        weight=None if labels.no_weight else labels.weight,
        weighted=not labels.no_weight,
    )


def _delimiter(text: str) -> str:
    character = {"tab": "\t", "\\t": "\t"}.get(text, text)
    if len(character) != 1 or not character.isascii() or character in '"\r\n':
        raise UsageError(f"--delimiter is '{text}'", expected="one character, or 'tab'")
    return character
