"""Recognise binary content by its first bytes, whatever the name of the file says."""

from __future__ import annotations

from typing import Final

from uqcli.base.errors import DataError

STREAM: Final = "standard input"
"""Name of standard input in messages."""

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


def content_of(head: bytes) -> tuple[str, str] | None:
    """Return the name of binary content and a remedy; None for text and unknown content.

    Examples
    --------
    >>> content_of(b"PAR1,score"), content_of(bytes([31, 139, 8]))
    (None, ('gzip', 'unpack it, or add .gz to its name'))
    """
    if head[_TAR] == b"ustar":
        return "a tar archive", "unpack it"
    return next((content for start, content in _SIGNATURES.items() if head.startswith(start)), None)


def require_text(head: bytes, name: str) -> None:
    """Refuse binary content where text is expected.

    Raises
    ------
    DataError
        The first bytes are those of a binary format.
    """
    content = content_of(head)
    if content is not None:
        kind, remedy = content
        is_named_so = name.lower().endswith(remedy.rpartition(" ")[2])
        if is_named_so:
            remedy = "leave out --format"
        elif name == STREAM:
            remedy = f"give --format {kind.lower()}" if "name it" in remedy else remedy.partition(",")[0]
        raise DataError(f"the content of '{name}' is {kind}", expected="text", remedy=remedy)
