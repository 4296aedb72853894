"""Remarks, cautions and doubts on the inputs of a run.

Remarks concern the file format. Only the readable report has them, not JSON or rule files: results have
the same bytes for every format. Cautions concern the rows; JSON has them as well. A caution on the rows that
a rule is fitted on is a doubt about the rule: the rule file keeps it, and whatever uses the rule repeats it.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from typing import Final

_remarks: Final[dict[str, None]] = {}
_cautions: Final[dict[str, None]] = {}
_suspicions: Final[dict[str, None]] = {}
_doubts: Final[dict[str, Sequence[str]]] = {}
_collecting: Final[list[dict[str, None]]] = []


def remark(sentence: str) -> None:
    """Add a remark, once."""
    _remarks[sentence] = None


def remarks() -> list[str]:
    """Return the remarks of this run, in order."""
    return list(_remarks)


def caution(sentence: str) -> None:
    """Add a caution on something that can make results wrong, once."""
    _cautions[sentence] = None
    doubt(sentence)


def cautions() -> list[str]:
    """Return the cautions of this run, in order."""
    return list(_cautions)


def suspect(sentence: str) -> None:
    """Add a caution on what the rows may be, once; cautions on what they are come before it."""
    _suspicions[sentence] = None
    doubt(sentence)


def suspicions() -> list[str]:
    """Return the suspicions of this run, in order."""
    return list(_suspicions)


def doubt(sentence: str) -> None:
    """Add a doubt about the rule that is being fitted, if one is, once."""
    if _collecting:
        _collecting[-1][sentence] = None


@contextmanager
def collected_doubts() -> Iterator[dict[str, None]]:
    """Collect the doubts about a rule until the block, which fits it, ends.

    Those of a block inside, such as one that reads a test set, are not among them.
    """
    doubts_of_fit: dict[str, None] = {}
    _collecting.append(doubts_of_fit)
    try:
        yield doubts_of_fit
    finally:
        _collecting.pop()


def repeat_doubts(name: str, sentences: Sequence[str]) -> None:
    """Let the report repeat the doubts about a rule that is used; ``name`` is that of its file."""
    if sentences:
        _doubts[name] = tuple(sentences)


def doubts() -> dict[str, Sequence[str]]:
    """Return the doubts about the rules that this run uses, by the name of the rule file."""
    return dict(_doubts)


def repeated_doubts() -> list[str]:
    """State the doubts about the rules that the run uses."""
    return [
        f"{name} was made with a doubt: {sentence}"
        for name, sentences in doubts().items()
        for sentence in sentences
    ]


def clear() -> None:
    """Clear remarks, cautions, suspicions and doubts for a new run."""
    _remarks.clear()
    _cautions.clear()
    _suspicions.clear()
    _doubts.clear()
