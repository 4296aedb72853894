"""Remarks and cautions on the inputs of a run.

Remarks concern the file format. Only the readable report has them, not JSON or rule files: results have
the same bytes for every format. Cautions concern the rows; JSON has them as well.
"""

from __future__ import annotations

from typing import Final

_remarks: Final[dict[str, None]] = {}
_cautions: Final[dict[str, None]] = {}
_suspicions: Final[dict[str, None]] = {}


def remark(sentence: str) -> None:
    """Add a remark, once."""
    _remarks[sentence] = None


def remarks() -> list[str]:
    """Return the remarks of this run, in order."""
    return list(_remarks)


def caution(sentence: str) -> None:
    """Add a caution on something that can make results wrong, once."""
    _cautions[sentence] = None


def cautions() -> list[str]:
    """Return the cautions of this run, in order."""
    return list(_cautions)


def suspect(sentence: str) -> None:
    """Add a caution on what the rows may be, once; cautions on what they are come before it."""
    _suspicions[sentence] = None


def suspicions() -> list[str]:
    """Return the suspicions of this run, in order."""
    return list(_suspicions)


def clear() -> None:
    """Clear remarks, cautions and suspicions for a new run."""
    _remarks.clear()
    _cautions.clear()
    _suspicions.clear()
