"""Resolve INPUT arguments to files, and recognise formats by names and by first bytes.

A data frame is a single input.
"""

from __future__ import annotations

import glob
from collections.abc import Hashable, Iterable, Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import field, replace
from pathlib import Path
from typing import TYPE_CHECKING, Final, TypeAlias
from urllib.parse import unquote

from uqcli.base.choices import FileFormat, ReportFormat
from uqcli.base.errors import DataError, InShell, UsageError, Words, words
from uqcli.base.files import InMemory, is_stdin
from uqcli.base.records import dataclass
from uqcli.base.running.messages import caution
from uqcli.engines.request import ReadOptions
from uqcli.stores.content import Content, LocalFile, StandardInput, inode_of
from uqcli.stores.folders import Descent, Tree
from uqcli.stores.trees import LocalTree, look_up, tree_of
from uqcli.stores.view import Entry

if TYPE_CHECKING:
    import polars as pl

STREAM: Final = "standard input"
"""Name of standard input in messages."""

_FORMATS: Final = {
    ".csv": FileFormat.CSV,
    ".tsv": FileFormat.CSV,
    ".parquet": FileFormat.PARQUET,
    ".parq": FileFormat.PARQUET,
    ".pq": FileFormat.PARQUET,
    ".arrow": FileFormat.ARROW,
    ".feather": FileFormat.ARROW,
    ".jsonl": FileFormat.JSONL,
    ".ndjson": FileFormat.JSONL,
}
FILE_ENDINGS: Final = frozenset(_FORMATS)
"""Endings of names, of uncompressed files, that imply a format."""
_COMPRESSIONS: Final = {".gz": "gzip", ".zst": "zstd"}
KNOWN_SUFFIXES: Final = (
    ".parquet (.parq, .pq), .csv, .tsv, .jsonl, .ndjson (text also .gz, .zst), .arrow or .feather"
)


@dataclass(frozen=True, kw_only=True)
class InputFile:
    """An input file or stream.

    Text may have a compression, ``gzip`` or ``zstd``; else it is empty. A regular file can be opened more
    than once. The format is ``stated`` if the name or an option implies it. Keys are the partition columns
    from ``key=value`` folder names, with their values; None for null. ``argument`` is the index of the INPUT
    argument that the file belongs to.
    """

    name: str
    content: Content
    format: FileFormat
    compression: str
    delimiter: str
    regular: bool
    stated: bool
    keys: Mapping[str, str | None] = field(default_factory=dict)
    argument: int = 0

    @property
    def display_name(self) -> str:
        """Quoted name for messages."""
        return f"'{self.name}'"

    @property
    def is_remote(self) -> bool:
        """Whether it is an object of a store, or on the web."""
        return not isinstance(self.content, LocalFile | StandardInput)

    def location(self, position: int) -> str:
        """Describe the location of a row for messages; positions are 0-based."""
        return f"data row {position + 1} of {self.display_name}"


@dataclass(frozen=True, kw_only=True)
class InputFrame:
    """A data frame in memory, with the interface of an input file."""

    frame: pl.DataFrame
    regular: bool = True
    name: str = "the data frame"
    argument: int = 0

    @property
    def display_name(self) -> str:
        """Name for messages: quoted if the program gave one, as to each of several."""
        return str(self.name) if self.name.startswith("the ") else f"'{self.name}'"

    def location(self, position: int) -> str:
        """Describe the location of a row for messages; 0-based, as in data frames."""
        return f"row index {position} of {self.display_name}"


Origin: TypeAlias = InputFile | InputFrame
"""Source of rows."""


@dataclass(frozen=True, kw_only=True)
class InferredFormat:
    """Format, compression and delimiter implied by a file name."""

    format: FileFormat | None
    compression: str
    delimiter: str


def inferred_format(name: str) -> InferredFormat:
    """Infer format, compression and delimiter from a file name.

    Examples
    --------
    >>> inferred_format("a.tsv.gz").compression
    'gzip'
    """
    path = Path(name.lower())
    compression = _COMPRESSIONS.get(path.suffix, "")
    suffix = Path(path.stem).suffix if compression else path.suffix
    file_format = _FORMATS.get(suffix)
    if compression and (file_format is None or not file_format.is_text):
        file_format = None
    return InferredFormat(
        format=file_format, compression=compression, delimiter="\t" if suffix == ".tsv" else ","
    )


def resolve_inputs(arguments: Sequence[str], options: ReadOptions) -> tuple[Origin, ...]:
    """Expand INPUT arguments to files, in order.

    No input, and standard input named twice, are usage errors. A missing file, a glob or directory without
    data files, and an unknown format are data errors.
    """
    if not arguments:
        raise UsageError(
            InShell("no INPUT given", "no rows given"),
            expected=InShell(
                "files such as TEST.csv, folders, globs, or - for standard input",
                "a data frame, a mapping of arrays, a path, or a list of these",
            ),
            remedy=InShell("add a file, or see --help", ""),
        )
    if "" in arguments:
        raise UsageError(
            "an INPUT is an empty string", expected="a file name", remedy="check the shell variable"
        )
    if sum(map(is_stdin, arguments)) > 1:
        raise UsageError("standard input is named twice", expected="at most one -")
    names = [argument for argument in arguments if not isinstance(argument, InMemory)]
    look_up(name for name in names if not glob.has_magic(name))
    files: list[Origin] = []
    for index, argument in enumerate(arguments):
        if isinstance(argument, InMemory):
            if isinstance(argument.content, bytes):
                raise DataError(
                    f"'{argument}' is a rule, not rows", expected="a data frame, a mapping or a path"
                )
            files.append(InputFrame(frame=argument.content, name=argument, argument=index))
            continue
        try:
            files += (replace(file, argument=index) for file in _expand(argument, options))
        except (OSError, ValueError) as error:
            reason = getattr(error, "strerror", None) or str(error)
            raise DataError(f"cannot read '{argument}': {reason}", remedy="check the path") from error
    return _distinct(files)


def _distinct(files: Sequence[Origin]) -> tuple[Origin, ...]:
    """Return the files without further paths to one of them, unless its folders give its rows other keys."""
    first: dict[Hashable, InputFile] = {}
    repeated = list[tuple[InputFile, InputFile]]()
    for file in files:
        if isinstance(file, InputFrame):
            continue
        identity = file.content.identity()
        key = file.name if identity is None else identity
        known = first.setdefault((key, frozenset(file.keys.items())), file)
        if known is not file and identity is not None:
            repeated.append((file, known))
    if repeated:
        file, known = repeated[0]
        others = f", and so are {len(repeated) - 1:,} other paths" if len(repeated) > 1 else ""
        caution(
            "same-file",
            f"{file.display_name} is the same file as {known.display_name}{others}: it is read once.",
        )
    again = {id(file) for file, _ in repeated}
    return tuple(file for file in files if id(file) not in again)


def distinct_names(names: Sequence[str]) -> tuple[str, ...]:
    """Return INPUT arguments without those that lead to one again, for engines that read by name."""
    first: dict[Hashable, str] = {}
    for name in names:
        key: Hashable = name
        with suppress(OSError, ValueError):
            key = inode_of(Path(name))
        if first.setdefault(key, name) is not name:
            caution("same-file", f"'{name}' is the same as '{first[key]}': it is read once.")
    return tuple(first.values())


def _expand(argument: str, options: ReadOptions) -> Iterator[InputFile]:
    if is_stdin(argument):
        yield InputFile(
            name=STREAM,
            content=StandardInput(name=STREAM),
            format=options.format,
            compression="",
            delimiter=options.delimiter or ",",
            regular=False,
            stated=options.format_given,
        )
        return
    tree = tree_of(argument)
    entry = tree.entry(argument)
    if entry is not None and entry.is_folder:
        yield from _directory(tree, entry, options)
    elif entry is not None or not glob.has_magic(argument):
        yield _file(tree, argument, options)
    else:
        matches = tree.matches(argument)
        files = [match for match in matches if match.is_file]
        folders = [match for match in matches if match.is_folder and not match.is_hidden]
        if not files and not folders:
            raise DataError(f"no file matches '{argument}'", remedy="check the pattern and its quoting")
        _refuse_tables(tree, files)
        for match in files:
            yield _file(tree, match.name, options)
        if not files:
            tree.prefetch(folders)
            for match in folders:
                yield from _directory(tree, match, options)


def _directory(tree: Tree, folder: Entry, options: ReadOptions) -> Iterator[InputFile]:
    _refuse_table_above(tree, folder)
    files = list(_data_files(Descent(tree), folder))
    if not files:
        raise DataError(
            f"directory '{folder.name}' has no data file",
            expected=KNOWN_SUFFIXES,
            remedy="name the files, or give a pattern such as 'folder/*/*.csv' for those in folders below",
        )
    formats = sorted({str(inferred_format(entry.basename).format) for entry in files})
    if len(formats) > 1:
        raise DataError(
            f"directory '{folder.name}' contains {' and '.join(formats)} files",
            expected="one format: the same rows in two would count twice",
            remedy="name the files, or give a pattern such as '*.parquet'",
        )
    for entry in files:
        yield _file(tree, entry.name, options)


def _data_files(descent: Descent, folder: Entry) -> Iterator[Entry]:
    """Return the data files of a folder, sorted by name, and of its ``key=value`` subfolders."""
    with descent.into(folder) as inside:
        _refuse_table(descent.tree, folder, inside)
        entries = [entry for entry in inside if not entry.is_hidden]
        descent.tree.prefetch(entry for entry in entries if entry.is_folder and is_partition(entry.basename))
        for entry in entries:
            if entry.is_folder:
                if is_partition(entry.basename):
                    yield from _data_files(descent, entry)
            elif entry.is_file and inferred_format(entry.basename).format is not None:
                yield entry


_TABLES: Final = {"_delta_log": "Delta", ".hoodie": "Hudi", ".hoodie_partition_metadata": "Hudi"}
"""Table formats, by the name of what their folders contain."""


def refuse_local_table(name: str) -> None:
    """Refuse a folder or pattern of this machine that belongs to a table, for engines that read by name."""
    tree = LocalTree()
    with suppress(OSError, ValueError):  # the engine says why it cannot read such a name
        entry = tree.entry(name)
        matches = [entry] if entry is not None else tree.matches(name) if glob.has_magic(name) else []
        for folder in (entry for entry in matches if entry.is_folder):
            _refuse_table(tree, folder, tree.inside(folder))
            _refuse_table_above(tree, folder)
        if entry is None:
            _refuse_tables(tree, [match for match in matches if match.is_file])


def _refuse_tables(tree: Tree, files: Sequence[Entry]) -> None:
    """Refuse files that a pattern matches in the folder of a table."""
    for folder in dict.fromkeys(map(tree.above, files)):
        if folder is not None:
            _refuse_table(tree, folder, tree.inside(folder))
            _refuse_table_above(tree, folder)


def _refuse_table(tree: Tree, folder: Entry, inside: Iterable[Entry]) -> None:
    """Refuse the folder of a table: its files also contain rows that a later version deleted or replaced."""
    for entry in inside:
        table = _TABLES.get(entry.basename)
        if entry.is_folder and entry.basename == "metadata":
            names = (file.basename for file in tree.inside(entry))
            table = "Iceberg" if any(name.endswith(".metadata.json") for name in names) else None
        if table is not None:
            raise DataError(
                f"'{folder.name}' is a table in the {table} format, whose files also hold deleted rows",
                expected="files of the current rows",
                remedy=f"write the current rows to a Parquet file with a program that reads {table}",
            )


def _refuse_table_above(tree: Tree, folder: Entry) -> None:
    """Refuse a folder of rows in a table; those are ``data`` and ``key=value`` folders."""
    while folder.basename == "data" or is_partition(folder.basename):
        above = tree.above(folder)
        if above is None:
            return
        try:
            inside = tree.inside(above)
        except (OSError, DataError):  # the user may be allowed to list the folder below only
            return
        _refuse_table(tree, above, inside)
        folder = above


def _file(tree: Tree, name: str, options: ReadOptions) -> InputFile:
    content = tree.content(name)
    inferred = inferred_format(content.basename)
    file_format = options.format_of(inferred.format)
    if file_format is None and content.regular:
        raise _unknown_format(content)
    return InputFile(
        name=content.name,
        content=content,
        format=file_format or options.format,
        compression=inferred.compression,
        delimiter=options.delimiter or inferred.delimiter,
        regular=content.regular,
        stated=file_format is not None,
        keys=partition_keys(content.folders),
    )


def _unknown_format(content: Content) -> DataError:
    """Create the error for a name that shows no format, or one that uqcli does not read."""
    name = Path(content.basename.lower())
    suffix = Path(name.stem).suffix if name.suffix in _COMPRESSIONS else name.suffix
    if suffix == ".json" and _is_rule(content):
        return DataError(
            f"'{content.name}' is a rule file, not a file of rows",
            expected=KNOWN_SUFFIXES,
            remedy="name a file of rows in its place",
        )
    remedy: Words | None = next((text for suffixes, text in _FOREIGN.items() if suffix in suffixes), None)
    if remedy is None:
        problem, remedy = (
            f"the name '{content.name}' does not show a format",
            words("rename it or give --format"),
        )
    else:
        problem = f"uqcli does not read {suffix} ('{content.name}')"
    return DataError(problem, expected=KNOWN_SUFFIXES, remedy=remedy)


def _is_rule(content: Content) -> bool:
    """Whether JSON begins as rule files do."""
    head = b""
    with suppress(OSError, DataError), content.opened() as stream:
        head = stream.read(_RULE_BYTES)
    return b'"kind"' in head and b'"format_version"' in head


_RULE_BYTES: Final = 200
"""Bytes in which a rule file states its kind."""

_FOREIGN: Final[dict[tuple[str, ...], Words]] = {
    (".json",): words(
        "give --format jsonl if it has one object per line, or convert an array with jq -c '.[]'"
    ),
    (".xlsx", ".xls", ".xlsb", ".xlsm", ".ods"): "export the sheet as CSV",
    (".zip", ".bz2", ".xz", ".7z", ".rar", ".tar", ".tgz", ".tbz2", ".txz", ".lz4"): "unpack it",
    (
        *(".sas7bdat", ".xpt", ".sav", ".dta", ".rds", ".rda", ".rdata", ".pkl", ".pickle", ".npy", ".npz"),
        *(".h5", ".hdf5", ".orc", ".avro", ".db", ".sqlite", ".sqlite3", ".duckdb", ".mdb", ".accdb"),
        *(".html", ".htm", ".xml", ".pdf"),
    ): "export the rows as CSV or Parquet",
}
"""What to do with files of other formats, by ending."""

_NON_CSV_SUFFIXES: Final = frozenset(
    {
        *(".json", ".xlsx", ".xls", ".ods", ".orc", ".avro", ".zip", ".bz2", ".xz"),
        *(set(ReportFormat) - set(_FORMATS)),
    }
)
"""File name extensions that are not taken for CSV."""


_FIGURE_SUFFIXES: Final = (".png", ".svg", ".pdf")


def ending_of_another_format(name: str, own: str) -> str:
    """Return the ending of a name if it is one of rows, reports, figures or archives but ``own``, else empty.

    Examples
    --------
    >>> ending_of_another_format("rule.csv", ".json"), ending_of_another_format("rule.v2", ".json")
    ('.csv', '')
    """
    suffix = Path(name.lower()).suffix
    others = {*_FORMATS, *_COMPRESSIONS, *_NON_CSV_SUFFIXES, *_FIGURE_SUFFIXES} - {own}
    return suffix if suffix in others else ""


def format_of(name: str, requested: FileFormat | None) -> FileFormat:
    """Return the output format: as requested, else by name, else CSV.

    Only text may be compressed, and a name may not end like a format that is not written.
    """
    compressed = bool(inferred_format(name).compression)
    plain = Path(name).with_suffix("") if compressed else Path(name)
    inferred = inferred_format(str(plain)).format
    if requested is None and plain.suffix.lower() in _NON_CSV_SUFFIXES:
        remedy = "name it .jsonl" if plain.suffix.lower() == ".json" else "choose another name"
        raise UsageError(
            f"cannot write rows as {plain.suffix}: '{name}'",
            expected=KNOWN_SUFFIXES,
            remedy=words("{}, or give --output-format", remedy),
        )
    file_format = requested or inferred or FileFormat.CSV
    if compressed and not file_format.is_text:
        raise UsageError(
            f"'{name}' asks for compressed {file_format}",
            expected=f"a name without {Path(name).suffix}: {file_format} compresses its own data"
            if file_format is FileFormat.PARQUET
            else f"a name without {Path(name).suffix}",
        )
    return file_format


_NULL_PARTITION: Final = "__HIVE_DEFAULT_PARTITION__"


def is_partition(folder: str) -> bool:
    """Whether a folder name is ``key=value``.

    Examples
    --------
    >>> is_partition("day=2026-11-01"), is_partition("=x"), is_partition("models")
    (True, False, False)
    """
    return folder.find("=") > 0


def partition_keys(folders: Sequence[str]) -> dict[str, str | None]:
    """Parse the partition keys and values in a path; of a repeated key, the innermost.

    Examples
    --------
    >>> partition_keys(["scores", "day=2026-11-01", "shop=a%20b"])
    {'day': '2026-11-01', 'shop': 'a b'}
    """
    keys_with_values = (folder.split("=", 1) for folder in folders if is_partition(folder))
    return {
        unquote(key): None if value == _NULL_PARTITION else unquote(value) for key, value in keys_with_values
    }


SIGNATURE_BYTES: Final = 512
"""Number of first bytes that are enough."""

_SIGNATURES: Final = {
    b"\x1f\x8b": ("gzip", "unpack it, or add .gz to its name"),
    b"\x28\xb5\x2f\xfd": ("zstd", "unpack it, or add .zst to its name"),
    b"PAR1\x15": ("Parquet", "name it .parquet"),
    b"ARROW1\0\0": ("Arrow", "name it .arrow"),
    b"\xff\xff\xff\xff": ("Arrow", "name it .arrow"),
    b"FEA1": ("Feather 1", "write it with version 2 (pyarrow.feather.write_feather)"),
    b"PK\x03\x04": ("zip or Excel", "unpack it, or export it as CSV"),
    b"\xd0\xcf\x11\xe0\xa1\xb1\x1a\xe1": ("Excel", "export it as CSV"),
    b"\xfd7zXZ\0": ("xz", "unpack it"),
    b"BZh91AY&SY": ("bzip2", "unpack it"),
    b"SQLite format 3\0": ("SQLite", "export the table as CSV"),
    b"\xc2\xea\x81\x60": ("SAS", "export it as CSV"),
    b"$FL2": ("SPSS", "export it as CSV"),
    b"7z\xbc\xaf\x27\x1c": ("7z", "unpack it"),
    b"version https://git-lfs.github.com/": ("a pointer of Git LFS", "fetch the file with git lfs pull"),
}
"""Name of the content and remedy, by first bytes; a CSV header might begin with any text."""

_TAR: Final = slice(257, 262)
"""Where an archive of tar says so."""


def binary_content_of(head: bytes) -> tuple[str, str] | None:
    """Return the name of binary content and a remedy; None for text and unknown content.

    Examples
    --------
    >>> binary_content_of(b"PAR1,score"), binary_content_of(bytes([31, 139, 8]))
    (None, ('gzip', 'unpack it, or add .gz to its name'))
    """
    if head[_TAR] == b"ustar":
        return "a tar archive", "unpack it"
    return next((content for start, content in _SIGNATURES.items() if head.startswith(start)), None)


def require_text(head: bytes, name: str) -> None:
    """Refuse the first bytes of a binary format where text is expected."""
    content = binary_content_of(head)
    if content is not None:
        kind, advice = content
        remedy: Words = advice
        is_named_so = name.lower().endswith(advice.rpartition(" ")[2])
        if is_named_so:
            remedy = words("leave out --format")
        elif name == STREAM:
            named = "name it" in advice
            remedy = words("give --format {}", kind.lower()) if named else advice.partition(",")[0]
        raise DataError(f"the content of '{name}' is {kind}", expected="text", remedy=remedy)
