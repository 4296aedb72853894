"""The first word of a command line: a command, ``help``, or a file to look at."""

from __future__ import annotations

import glob
import os
from collections.abc import Sequence

from uqcli.base.files import is_stdin
from uqcli.cli.config import COMMANDS


def with_command(arguments: Sequence[str]) -> list[str]:
    """Put a command before names of data, and turn ``help COMMAND`` into ``COMMAND --help``.

    A word that is a command is never taken for a file.

    Examples
    --------
    >>> with_command(["help", "tce"]), with_command(["s3://bucket/scores.csv"])
    (['tce', '--help'], ['overview', 's3://bucket/scores.csv'])
    """
    words = list(arguments)
    if not words or words[0] in COMMANDS:
        return words
    if words[0] == "help":
        return [*words[1:], "--help"]
    return ["overview", *words] if _names_data(words[0]) else words


def _names_data(word: str) -> bool:
    """Whether a word is standard input, an address, a file, a folder or a pattern of files."""
    if is_stdin(word) or "://" in word:
        return True
    if word.startswith("-"):
        return False
    return os.path.exists(word) or bool(glob.glob(word))  # noqa: PTH110, PTH207 - of any text
