"""What a run noticed about its inputs.

Remarks are about the way these are written: for the reader of a report, not in JSON or artifacts, since
results are the same bytes whatever form the rows come in. Cautions are about the rows: JSON has them, too.
"""

from __future__ import annotations

from typing import Final

_said: Final[dict[str, None]] = {}
_cautions: Final[dict[str, None]] = {}


def remark(sentence: str) -> None:
    """Say something once."""
    _said[sentence] = None


def remarks() -> list[str]:
    """What was said in this run, in order."""
    return list(_said)


def caution(sentence: str) -> None:
    """Warn of what makes results wrong, once."""
    _cautions[sentence] = None


def cautions() -> list[str]:
    """What was warned of in this run, in order."""
    return list(_cautions)


def forget() -> None:
    """Begin a new run."""
    _said.clear()
    _cautions.clear()
