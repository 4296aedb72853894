"""Hive partitioning: the folder ``day=2026-11-01/`` holds the rows of that day."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final
from urllib.parse import unquote

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
