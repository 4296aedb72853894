"""What a run says while it works: remarks, cautions and doubts on its inputs, and its progress.

Remarks concern the file format. Only the readable report has them, not JSON or rule files: results have
the same bytes for every format. Cautions concern the rows; JSON has them as well. A caution on the rows that
a rule is fitted on is a doubt about the rule: the rule file keeps it, and whatever uses the rule repeats it.
Progress is shown only on a terminal.

All of it belongs to the context of the run (``contextvars``), which the threads that work for it share
(``uqcli.base.running.concurrency``): rules that are fitted in several threads at once keep their own doubts.
"""

from __future__ import annotations

from collections.abc import Callable, Hashable, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from contextvars import ContextVar
from dataclasses import field
from typing import Any, Final, TypeVar

from uqcli.base.notices import Notice, weightiest_first
from uqcli.base.records import dataclass
from uqcli.base.running.left_out import LeftOut
from uqcli.base.wording import in_one_line

Receiver = Callable[[str, int, str, float | None], None]
"""Receives progress events; called often."""


@dataclass(frozen=True, kw_only=True)
class _Said:
    """What a run has said: sentences in order, doubts by rule file, and the rows of inputs.

    Rows that were left out are by all inputs that were read together.
    """

    remarks: dict[str, None] = field(default_factory=dict)
    cautions: dict[Notice, None] = field(default_factory=dict)
    suspicions: dict[Notice, None] = field(default_factory=dict)
    doubts: dict[str, Sequence[str]] = field(default_factory=dict)
    rows: dict[str, int] = field(default_factory=dict)
    left_out: dict[Hashable, LeftOut] = field(default_factory=dict)
    receivers: list[Receiver] = field(default_factory=list)


_run: Final[ContextVar[_Said]] = ContextVar("run")
_collecting: Final[ContextVar[dict[str, None] | None]] = ContextVar("collecting", default=None)


def _said() -> _Said:
    """Return what this run has said; a thread without a run begins one."""
    try:
        return _run.get()
    except LookupError:
        clear()
        return _run.get()


def remark(sentence: str) -> None:
    """Add a remark, once."""
    _said().remarks[in_one_line(sentence)] = None


def remarks() -> list[str]:
    """Return the remarks of this run, in order."""
    return list(_said().remarks)


def caution(key: str, sentence: str) -> None:
    """Add a caution on something that can make results wrong, once; ``key`` is its kind."""
    _said().cautions[Notice(key, in_one_line(sentence))] = None
    doubt(sentence)


def cautions() -> list[Notice]:
    """Return the cautions of this run, in order."""
    return list(_said().cautions)


def suspect(key: str, sentence: str) -> None:
    """Add a caution on what the rows may be, once; cautions on what they are come before it."""
    _said().suspicions[Notice(key, in_one_line(sentence))] = None
    doubt(sentence)


def doubt(sentence: str) -> None:
    """Add a doubt about the rule that is being fitted, if one is, once."""
    collected = _collecting.get()
    if collected is not None:
        collected[in_one_line(sentence)] = None


@contextmanager
def collected_doubts() -> Iterator[dict[str, None]]:
    """Collect the doubts about a rule until the block, which fits it, ends.

    Those of a block inside, such as one that reads a test set, are not among them.
    """
    doubts_of_fit: dict[str, None] = {}
    token = _collecting.set(doubts_of_fit)
    try:
        yield doubts_of_fit
    finally:
        _collecting.reset(token)


def repeat_doubts(name: str, sentences: Sequence[str]) -> None:
    """Let the report repeat the doubts about a rule that is used; ``name`` is that of its file."""
    if sentences:
        _said().doubts[in_one_line(name)] = tuple(map(in_one_line, sentences))


@dataclass(frozen=True, kw_only=True)
class Said:
    """What a run has said that reports and JSON repeat: cautions, suspicions, and doubts by rule file."""

    cautions: tuple[Notice, ...] = ()
    suspicions: tuple[Notice, ...] = ()
    doubts: Mapping[str, Sequence[str]] = field(default_factory=dict)

    def notices(self, of_report: Sequence[Notice]) -> list[Notice]:
        """Return all, with those of the report of the run, the weightiest first."""
        repeated = [
            Notice("doubt", f"{name} was made with a doubt: {sentence}")
            for name, sentences in self.doubts.items()
            for sentence in sentences
        ]
        return weightiest_first([*self.cautions, *of_report, *self.suspicions, *repeated])

    def payload(self, of_report: Sequence[Notice]) -> dict[str, Any]:
        """Return the JSON form; without doubts it has no such key."""
        repeated = [
            sentence if len(self.doubts) == 1 else f"{name}: {sentence}"
            for name, sentences in self.doubts.items()
            for sentence in sentences
        ]
        return {
            "cautions": [*map(str, self.cautions), *map(str, self.suspicions)],
            **({"doubts": repeated} if repeated else {}),
            "notices": [notice.payload() for notice in self.notices(of_report)],
        }


def said() -> Said:
    """Return what this run has said so far."""
    run = _said()
    return Said(cautions=tuple(run.cautions), suspicions=tuple(run.suspicions), doubts=dict(run.doubts))


def clear() -> None:
    """Begin a new run, which has said nothing and read no rows; its progress goes where it went before."""
    before = _run.get(None)
    _run.set(_Said(receivers=[] if before is None else before.receivers))


@contextmanager
def without_messages() -> Iterator[None]:
    """Forget what is said until the block ends, which looks at inputs again."""
    token = _run.set(_Said())
    try:
        yield
    finally:
        _run.reset(token)


@contextmanager
def unsaid(error: type[Exception]) -> Iterator[None]:
    """Forget what a block says that ends with an error of a kind, after which it is run again."""
    before = _said()
    copies = {name: type(value)(value) for name, value in vars(before).items() if name != "receivers"}
    try:
        yield
    except error:
        _run.set(_Said(**copies, receivers=before.receivers))
        raise


T = TypeVar("T")


def set_receiver(receiver: Receiver | None) -> None:
    """Register the receiver of progress events; None for none."""
    _said().receivers[:] = [] if receiver is None else [receiver]


def report_progress(task: str, done: int, unit: str, share: float | None) -> None:
    """Report the progress of a task: what is done, and its share from 0 to 1, or None if unknown."""
    for receiver in _said().receivers:
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


def rows_read(name: str, rows: int) -> None:
    """Record the rows of a completely read input."""
    _said().rows[name] = rows


def leave_out(inputs: Hashable, left_out: LeftOut) -> None:
    """Record the rows that were left out of inputs; of several readings, that which left out most counts."""
    known = _said().left_out.get(inputs)
    if known is None or left_out.dropped > known.dropped:
        _said().left_out[inputs] = left_out


def rows_left_out() -> LeftOut | None:
    """Return the rows that this run has read and left out, of all inputs; None if it has read none."""
    listed = list(_said().left_out.values())
    return sum(listed[1:], start=listed[0]) if listed else None


def rows_by_input() -> dict[str, int]:
    """Return the rows of each input read so far, unusable ones included."""
    return dict(_said().rows)
