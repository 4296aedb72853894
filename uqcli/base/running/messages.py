"""What a run says while it works: remarks, cautions and doubts on its inputs, and its progress.

Remarks concern the file format. Only the readable report has them, not JSON or rule files: results have
the same bytes for every format. Cautions concern the rows; JSON has them as well. A caution on the rows that
a rule is fitted on is a doubt about the rule: the rule file keeps it, and whatever uses the rule repeats it.
Progress is shown only on a terminal.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import contextmanager
from typing import Final, TypeVar

from uqcli.base.wording import in_one_line

_remarks: Final[dict[str, None]] = {}
_cautions: Final[dict[str, None]] = {}
_suspicions: Final[dict[str, None]] = {}
_doubts: Final[dict[str, Sequence[str]]] = {}
_collecting: Final[list[dict[str, None]]] = []


def remark(sentence: str) -> None:
    """Add a remark, once."""
    _remarks[in_one_line(sentence)] = None


def remarks() -> list[str]:
    """Return the remarks of this run, in order."""
    return list(_remarks)


def caution(sentence: str) -> None:
    """Add a caution on something that can make results wrong, once."""
    _cautions[in_one_line(sentence)] = None
    doubt(sentence)


def cautions() -> list[str]:
    """Return the cautions of this run, in order."""
    return list(_cautions)


def suspect(sentence: str) -> None:
    """Add a caution on what the rows may be, once; cautions on what they are come before it."""
    _suspicions[in_one_line(sentence)] = None
    doubt(sentence)


def suspicions() -> list[str]:
    """Return the suspicions of this run, in order."""
    return list(_suspicions)


def doubt(sentence: str) -> None:
    """Add a doubt about the rule that is being fitted, if one is, once."""
    if _collecting:
        _collecting[-1][in_one_line(sentence)] = None


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
        _doubts[in_one_line(name)] = tuple(map(in_one_line, sentences))


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
    """Forget what was said, and the rows that were read, for a new run."""
    for forgotten in (_remarks, _cautions, _suspicions, _doubts, _rows):
        forgotten.clear()


T = TypeVar("T")

Receiver = Callable[[str, int, str, float | None], None]
"""Receives progress events; called often."""

_receivers: list[Receiver] = []


def set_receiver(receiver: Receiver | None) -> None:
    """Register the receiver of progress events; None for none."""
    _receivers[:] = [] if receiver is None else [receiver]


def report_progress(task: str, done: int, unit: str, share: float | None) -> None:
    """Report the progress of a task: what is done, and its share from 0 to 1, or None if unknown."""
    for receiver in _receivers:
        receiver(task, done, unit, share)


def with_progress(items: Iterable[T], task: str, total: int) -> Iterator[T]:
    """Yield the results of draws, reporting progress after each.

    Examples
    --------
    >>> list(with_progress("ab", "drawing", 2))
    ['a', 'b']
    """
    for done, item in enumerate(items, start=1):
        yield item
        report_progress(task, done, "draws", done / max(total, 1))


_rows: Final[dict[str, int]] = {}


def rows_read(name: str, rows: int) -> None:
    """Record the rows of a completely read input."""
    _rows[name] = rows


def rows_by_input() -> dict[str, int]:
    """Return the rows of each input read so far, unusable ones included."""
    return dict(_rows)
