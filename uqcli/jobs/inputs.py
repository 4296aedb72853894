"""Inputs of a command: requests of jobs from its options, and checks that no file is read and written too."""

from __future__ import annotations

import os
import stat
from collections.abc import Hashable, Iterable, Mapping, Sequence
from contextlib import suppress
from dataclasses import replace
from typing import TYPE_CHECKING

from uqcli.base.choices import EngineName, FileFormat
from uqcli.base.errors import UqcliError, UsageError, words
from uqcli.base.files import STDIO, InMemory, OutputQueue, is_stdin
from uqcli.base.operating_system import IGNORES_CASE, join
from uqcli.base.options import RowOutput
from uqcli.base.records import dataclass
from uqcli.jobs.options import (
    RULE_ENDING,
    ClassProbabilities,
    FitColumns,
    InputOptions,
    LabelColumns,
    LabelsOptions,
    ModelColumns,
    RunOptions,
)
from uqcli.jobs.shell import fills_only_gaps, is_typed, place_of, refuse_typed, shell, typed
from uqcli.stores.address import is_address

if TYPE_CHECKING:
    from uqcli.engines.request import ClassColumns, DataRequest, LabelsFile, ReadOptions
    from uqcli.rules.columns import ColumnOverrides


def read_options(options: InputOptions) -> ReadOptions:
    """Build the options for reading files."""
    from uqcli.engines.request import ReadOptions

    if options.decimal not in (".", ","):
        raise UsageError(words("--decimal is '{}'", options.decimal), expected="'.' or ','")

    return ReadOptions(
        format=options.format or FileFormat.CSV,
        format_given=options.format is not None,
        format_wins=is_typed("format"),
        delimiter="" if options.delimiter is None else _delimiter(options.delimiter),
        decimal=options.decimal,
        null_values=options.null_value,
    )


def labelled_data(
    inputs: list[str] | None,
    columns: FitColumns,
    reading: InputOptions,
    running: RunOptions,
    *,
    probabilities: ClassProbabilities | None = None,
) -> DataRequest:
    """Build the request for labelled rows of a fit or a test."""
    from uqcli.engines.request import Roles

    classes = None if probabilities is None else class_columns(probabilities)
    if classes is not None:
        refuse_typed(("score",), words("and --proba cannot be combined"), remedy="leave one of them out")
        refuse_typed(("positive",), words("with --proba"), "labels that name the classes")
    weight = None if columns.no_weight else columns.weight
    if columns.no_weight:
        refuse_typed(("weight",), words("and --no-weight cannot be combined"), remedy="leave one of them out")
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
    """Return the file of the labels; None if they are in the inputs."""
    from uqcli.engines.request import LabelsFile

    if options.labels is None:
        refuse_typed(("on",), words("is given without --labels"), remedy=words("add --labels"))
        return None
    if options.on is None:
        raise UsageError(words("--labels is given without --on"), remedy=words("add --on"))
    if is_stdin(options.labels):
        raise UsageError(words("--labels is standard input"), expected="a file", remedy="save it first")
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


def class_columns(options: ClassProbabilities | ModelColumns) -> ClassColumns | None:
    """Return the columns of class probabilities, None without ``--proba``."""
    from uqcli.engines.request import ClassColumns

    if options.proba is None:
        refuse_typed(("classes",), words("is given without --proba"), remedy=words("add --proba"))
        return None
    return ClassColumns(columns=options.proba, names=options.classes)


def rows_output(rows: RowOutput, queue: OutputQueue, running: RunOptions) -> RowOutput:
    """Complete the output of rows; a cluster writes Parquet unless the name has another format."""
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


def column_overrides(columns: ModelColumns, labels: LabelColumns | None = None) -> ColumnOverrides:
    """Build the columns that replace those of saved rules."""
    from uqcli.rules.columns import ColumnOverrides

    if labels is not None and labels.no_weight:
        refuse_typed(("weight",), words("and --no-weight cannot be combined"), remedy="leave one of them out")
    roles = ("score", "uncertainty", "label", "weight", "positive", "proba")
    named = {"score": columns.score, "uncertainty": columns.uncertainty}
    if labels is not None:
        named |= {"label": labels.label, "weight": None if labels.no_weight else labels.weight}
    return ColumnOverrides(
        named={role: column for role, column in named.items() if column is not None},
        weighted=labels is None or not labels.no_weight,
        # rules of classes always name their columns
        proba=class_columns(replace(columns, proba=None) if fills_only_gaps("proba") else columns),
        typed=typed(),
        places={role: place_of(role) for role in roles},
        gaps=frozenset(filter(fills_only_gaps, roles)),
    )


def _delimiter(text: str) -> str:
    character = {"tab": "\t", "\\t": "\t"}.get(text, text)
    if len(character) != 1 or not character.isascii() or character in '"\r\n':
        raise UsageError(words("--delimiter is '{}'", text), expected="one character, or 'tab'")
    return character


@dataclass(frozen=True, kw_only=True)
class Reads:
    """Inputs of a command: tables of rows, rule files, and a file of labels that are not in the tables."""

    tables: tuple[str, ...]
    rules: tuple[str, ...]
    reading: InputOptions
    labels: tuple[str, ...]

    @classmethod
    def from_options(
        cls, *tables: object, rules: Iterable[object] = (), reading: InputOptions, labels: str | None = None
    ) -> Reads:
        """Collect the names among the values of options and arguments; None for those not set."""
        return cls(
            tables=tuple(name for names in tables if isinstance(names, list | tuple) for name in names),
            rules=tuple(name for name in rules if isinstance(name, str)),
            reading=reading,
            labels=() if labels is None else (labels,),
        )

    def files(self) -> tuple[str, ...]:
        """Resolve the files of all tables; a name that cannot be resolved stays, and fails when it is read.

        An address that cannot be read raises at once, since reading it again would wait again.
        """
        from uqcli.engines.inputs import resolve_inputs

        options = read_options(self.reading)
        files: list[str] = []
        for name in self.tables:
            try:
                files += [file.name for file in resolve_inputs([name], options)]
            except UqcliError:
                if is_address(name):  # reading it again would wait again
                    raise
                files.append(name)
        return tuple(files)


def check_conflicts(reads: Reads, files: Iterable[str], outputs: Iterable[str], running: RunOptions) -> None:
    """Refuse to read standard input twice, to overwrite an input, and to write one file twice.

    Redirected standard input and output count as their files.
    """
    if sum(map(is_stdin, (*reads.tables, *reads.rules))) > 1:
        raise UsageError(
            "standard input is named twice", expected="at most one -", remedy="save it to a file first"
        )
    streams = filter(is_stdin, reads.tables)
    configuration = [running.config] if running.config else shell().own_files()
    others = (*reads.rules, *filter(None, reads.labels), *configuration, *streams)
    read = {_identity(name): name for name in (*files, *others)}
    read.pop(None, None)
    _refuse_output_as_input(read)
    written: dict[Hashable, str] = {}
    for name in outputs:
        if not name:
            raise UsageError(
                "an output is an empty string", expected="a file name", remedy="check the shell variable"
            )
        if name != STDIO and is_stdin(name):
            raise UsageError(f"'{name}' is standard input", expected="a file to write")
        identity = _identity_of_stream(1) if name == STDIO else _identity(name)
        if identity in read:
            raise UsageError(
                f"'{name}' would overwrite the input '{read[identity]}'", expected="another file"
            )
        if identity in written:
            raise UsageError(
                f"'{written[identity]}' and '{name}' are the same file", expected="different files"
            )
        if identity is not None:
            written[identity] = name


def refuse_shared_files(
    inputs: Iterable[str] | None, others: object, option: str, reading: InputOptions
) -> None:
    """Refuse files among the inputs that an option names too: measured there, all would look too good."""
    if not others:
        return
    read = {_identity(name) for name in Reads.from_options(inputs, reading=reading).files()} - {None}
    for name in Reads.from_options(others, reading=reading).files():
        if _identity(name) in read:
            raise UsageError(
                words("'{}' is INPUT and {}", name, option),
                expected="other rows there",
                remedy=words("name another file, or leave out {}", option),
            )


def _refuse_output_as_input(read: Mapping[Hashable, str]) -> None:
    """Refuse a standard output that the shell redirects to an input."""
    stdout = _identity_of_stream(1)
    if stdout is not None and stdout in read:
        raise UsageError(
            f"standard output goes to '{read[stdout]}', which is also an input", expected="another file"
        )


def _identity(name: str) -> Hashable | None:
    """Return a file's inode, path or address, equal for all its names; None for character devices."""
    if isinstance(name, InMemory):
        return id(name.content)
    if is_stdin(name):
        return _identity_of_stream(0)
    if is_address(name):
        return name.removesuffix("/")
    try:
        status = os.stat(name)  # noqa: PTH116  a name may be no valid path
    except (OSError, ValueError):
        return _path(name)
    return None if stat.S_ISCHR(status.st_mode) else (status.st_dev, status.st_ino)


def _path(name: str) -> str:
    """Return the path of a file that does not exist yet; names that differ in case only may be one file."""
    with suppress(ValueError):
        name = os.path.realpath(name)
    return name.casefold() if IGNORES_CASE else name


def _identity_of_stream(descriptor: int) -> Hashable | None:
    """Return the inode of the regular file behind a standard stream; None for other streams."""
    try:
        status = os.fstat(descriptor)
    except OSError:
        return None
    return (status.st_dev, status.st_ino) if stat.S_ISREG(status.st_mode) else None
