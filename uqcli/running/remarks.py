"""What a run noticed about the way its inputs are written: for the reader of its report, not in its results.

Results are the same bytes whatever form the rows come in, so nothing of this stands in JSON or in artifacts.
"""

from __future__ import annotations

from typing import Final

_said: Final[dict[str, None]] = {}


def remark(sentence: str) -> None:
    """Say something once."""
    _said[sentence] = None


def remarks() -> list[str]:
    """What was said in this run, in order."""
    return list(_said)


def forget() -> None:
    """Begin a new run."""
    _said.clear()
