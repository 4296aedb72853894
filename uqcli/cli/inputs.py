"""From options to the requests that jobs take."""

from __future__ import annotations

import os
from typing import TYPE_CHECKING

from uqcli.choices import FileFormat
from uqcli.cli.options import ClassProbabilities, FitColumns, InputOptions, RowOutput, RunOptions
from uqcli.cli.priority import refuse_typed
from uqcli.errors import UsageError
from uqcli.files import STDIO, Held

if TYPE_CHECKING:
    from uqcli.engines.request import ClassColumns, DataRequest, ReadOptions
    from uqcli.jobs.stream.streaming import Streaming


def prepare(run: RunOptions) -> None:
    """Set the number of threads before a library that uses threads is loaded.

    Matrices are factored by one thread: with more, sums run in another order.
    """
    os.environ["OPENBLAS_NUM_THREADS"] = "1"
    if run.threads is not None:
        for name in ("POLARS_MAX_THREADS", "NUMBA_NUM_THREADS", "OMP_NUM_THREADS", "RAYON_NUM_THREADS"):
            os.environ[name] = str(run.threads)


def read_options(options: InputOptions) -> ReadOptions:
    """How files are read.

    Raises
    ------
    UsageError
        The delimiter is not one character.
    """
    from uqcli.engines.request import ReadOptions

    return ReadOptions(
        format=options.format or FileFormat.CSV,
        format_given=options.format is not None,
        delimiter=None if options.delimiter is None else _delimiter(options.delimiter),
        null_values=tuple(options.null_value or ()),
    )


def labelled_data(
    inputs: list[str] | None,
    columns: FitColumns,
    reading: InputOptions,
    probabilities: ClassProbabilities | None = None,
) -> DataRequest:
    """Labelled rows to learn from.

    Raises
    ------
    UsageError
        Class probabilities and a positive label together.
    """
    from uqcli.engines.request import DataRequest, Roles

    classes = None if probabilities is None else class_columns(probabilities)
    if classes is not None:
        refuse_typed(("score",), "beside --proba", "one of them")
        refuse_typed(("positive",), "beside --proba", "labels that name the classes")
    weight = None if columns.no_weight else columns.weight
    if columns.no_weight:
        refuse_typed(("weight",), "beside --no-weight", "one of them")
    numbers = {"score": columns.score, "uncertainty": columns.uncertainty}
    return DataRequest(
        inputs=tuple(inputs or ()),
        roles=Roles(
            numbers=numbers if classes is None else {},
            label=columns.label,
            weight=weight,
            class_columns=classes,
        ),
        read=read_options(reading),
        on_invalid=reading.on_invalid,
        positive_value=columns.positive if classes is None else None,
    )


def class_columns(options: ClassProbabilities) -> ClassColumns | None:
    """Columns of class probabilities, if asked for.

    Raises
    ------
    UsageError
        Names of classes without columns.
    """
    from uqcli.engines.request import ClassColumns

    if options.proba is None:
        refuse_typed(("classes",), "without --proba", "both")
        return None
    names = None if options.classes is None else tuple(name.strip() for name in options.classes.split(","))
    return ClassColumns(columns=options.proba, names=names)


def streaming(
    inputs: list[str] | None, rows: RowOutput, reading: InputOptions, running: RunOptions, held: Held
) -> Streaming:
    """Where rows come from and go to.

    Raises
    ------
    UsageError
        The output's name asks for a compressed file of a format that has none.
    """
    from uqcli.engines.inputs import format_of
    from uqcli.jobs.stream.streaming import Streaming

    format_of(rows.output or STDIO, rows.output_format)
    return Streaming(
        inputs=tuple(inputs or ()),
        output=rows.output or STDIO,
        output_format=rows.output_format,
        read=read_options(reading),
        on_invalid=reading.on_invalid,
        prefix=rows.prefix,
        overwrite=rows.overwrite,
        union=rows.union,
        engine=running.engine,
        held=held,
    )


def _delimiter(text: str) -> str:
    character = {"tab": "\t", "\\t": "\t"}.get(text, text)
    if len(character) != 1 or not character.isascii() or character in '"\r\n':
        raise UsageError(f"--delimiter '{text}'", expected="one character, or 'tab'")
    return character
