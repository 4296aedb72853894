"""What a report is made of, before anybody chooses a terminal, a page or JSON.

A job fills a report of its command; the report states its JSON form (``payload``) and its readable form
(``document``). Renderers know only these two.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import pairwise
from typing import TYPE_CHECKING, Any, Protocol

from uqcli.defaults import VERSION
from uqcli.visible import visible

if TYPE_CHECKING:
    from matplotlib.figure import Figure as Canvas


@dataclass(frozen=True, kw_only=True)
class Estimate:
    """A metric with its confidence interval.

    The value is None where it is undefined (0/0), the ends where no interval would hold its level.
    """

    value: float | None
    low: float | None
    high: float | None


@dataclass(frozen=True, kw_only=True)
class ExactEstimate(Estimate):
    """A proportion with its exact interval, which is always there."""

    low: float
    high: float


Metric = int | float | None | Estimate | Mapping[str, Any]
Metrics = Mapping[str, Metric]


@dataclass(frozen=True, kw_only=True)
class Table:
    """A titled table of text.

    Attributes
    ----------
    left
        How many columns hold words, on the left; the others hold numbers and are aligned right.
    words_last
        Whether the last column also holds words.
    detail
        Whether a terminal shows it with ``--verbose`` only.
    brief
        What a terminal shows in its place without ``--verbose``; None for the table itself.
    """

    title: str
    header: Sequence[str]
    rows: Sequence[Sequence[str]]
    left: int = 1
    words_last: bool = False
    detail: bool = False
    brief: Table | None = None

    def holds_words(self, column: int) -> bool:
        """Whether a column is aligned left."""
        return column < self.left or (self.words_last and column == len(self.header) - 1)


def meant(meanings: Mapping[str, Mapping[str, str]]) -> Iterator[tuple[str, str, str]]:
    """Metrics by kind, as lines of a table: the kind beside its first metric, the metric, its meaning.

    Examples
    --------
    >>> list(meant({"proper": {"brier": "mean squared error", "log_loss": "nats"}}))
    [('proper', 'brier', 'mean squared error'), ('', 'log_loss', 'nats')]
    """
    for kind, metrics in meanings.items():
        for number, (name, meaning) in enumerate(metrics.items()):
            yield "" if number else kind, name, meaning


@dataclass(frozen=True, kw_only=True)
class Figure:
    """A picture that can be drawn.

    Attributes
    ----------
    title
        What it shows, for those who cannot see it.
    caption
        What to look for, for those who can.
    width, height
        In inches.
    narrow_height
        Of the same on a narrow screen, where its parts are one above the other.
    draw
        Fills an empty matplotlib figure, wide or narrow.
    needed
        Whether a page is nothing without it; others do without where nothing can be drawn.
    """

    title: str
    caption: str
    width: float
    height: float
    narrow_height: float
    draw: Callable[[Canvas], None]
    needed: bool = False


@dataclass(frozen=True, kw_only=True)
class Promise:
    """What was promised, and whether it is kept.

    Attributes
    ----------
    kept
        None where nothing here can tell.
    said
        A sentence on it.
    of_new_rows
        Whether it is about rows such as these; a number of alerts, say, was promised where it was chosen.
    """

    name: str
    kept: bool | None
    said: str
    of_new_rows: bool = True

    @property
    def broken(self) -> int | None:
        """1 where rows contradict it, 0 where they do not, None where they cannot tell."""
        return None if self.kept is None else int(not self.kept)


@dataclass(frozen=True, kw_only=True)
class Document:
    """A title, tables, and sentences for people.

    A terminal shows the title, the lead, the tables, one caution and the next command; with ``--verbose``
    all of it. Pages always show all of it.

    Attributes
    ----------
    lead
        The answer, where the title is not enough.
    cautions
        What this result triggered, the most important first.
    notes
        Details.
    next
        The command to run next; {rule} stands for the rule file, {input} for the inputs.
    figures
        Pictures that belong to it: in HTML and Markdown, and for ``--plot``.
    promises
        What was promised and is judged here, for those who read test results.
    live
        What changes from run to run, such as times: shown on the terminal, never written to a file.
    """

    title: str
    tables: Sequence[Table]
    lead: Sequence[str] = ()
    cautions: Sequence[str] = ()
    notes: Sequence[str] = ()
    next: str = ""
    figures: Sequence[Figure] = ()
    promises: Sequence[Promise] = ()
    live: Sequence[str] = ()

    def sentences(self) -> list[str]:
        """All that is said beside tables and figures."""
        return [*self.lead, *self.cautions, *self.notes]


class Report(Protocol):
    """The outcome of a command."""

    @property
    def gated(self) -> Mapping[str, Metrics]:
        """The metrics that gates ask for; by artifact name where there are several, else under ''."""

    def payload(self) -> dict[str, Any]:
        """The JSON form."""

    def document(self) -> Document:
        """The readable form."""


class OneResult:
    """A report with a single set of metrics."""

    @property
    def metrics(self) -> Metrics:
        """By their contract names."""
        raise NotImplementedError

    @property
    def gated(self) -> Mapping[str, Metrics]:
        """See Report."""
        return {"": self.metrics}


def head_of(command: str, source: Any, parameters: Any) -> dict[str, Any]:
    """What the JSON form of a report begins with; of structs or dicts."""
    import msgspec

    head = {"command": command, "uqcli_version": VERSION}
    return {**head, "source": msgspec.to_builtins(source), "parameters": msgspec.to_builtins(parameters)}


def plain(metrics: Metrics) -> dict[str, Any]:
    """Metrics as JSON values: an estimate becomes ``{value, low, high}``."""
    result: dict[str, Any] = {}
    for name, metric in metrics.items():
        if isinstance(metric, Estimate):
            result[name] = {"value": metric.value, "low": metric.low, "high": metric.high}
        elif isinstance(metric, Mapping):
            result[name] = plain(metric)
        else:
            result[name] = metric
    return result


def printable(text: str, most: int = 60) -> str:
    r"""A name from the data, short and without characters that would break a line or a picture.

    Examples
    --------
    >>> printable("two\nlines"), printable("x" * 9, most=6)
    ('two\\nlines', 'xxx...')
    """
    shown = visible(text)
    return shown if len(shown) <= most else f"{shown[: most - 3]}..."


def share_in_range(value: float | None, low: float | None, high: float | None) -> str:
    """A share with its range in three decimals, more near 0; without one where there is none.

    Examples
    --------
    >>> share_in_range(0.5, 0.4, 0.6), share_in_range(0.5, None, None), share_in_range(0.0004, 0.0001, 0.001)
    ('0.500 [0.400, 0.600]', '0.5000', '0.000400 [0.000100, 0.001000]')
    """
    if value is None or low is None or high is None:
        return share(value)
    digits = 3 if value == 0 or value >= 0.001 else 6
    return f"{value:.{digits}f} [{low:.{digits}f}, {high:.{digits}f}]"


def share(value: float | None) -> str:
    """Format a proportion with four decimals; an undefined one is a dash.

    Examples
    --------
    >>> share(0.5), share(None)
    ('0.5000', '-')
    """
    return "-" if value is None else f"{value:.4f}"


def count(value: int | None) -> str:
    """Format a count with thousands separators; a dash where there is none."""
    return "-" if value is None else f"{value:,}"


def rows_of(value: int) -> str:
    """Format a count of rows with the word.

    Examples
    --------
    >>> rows_of(1), rows_of(14653)
    ('1 row', '14,653 rows')
    """
    return f"{count(value)} row{'' if value == 1 else 's'}"


def number(value: float) -> str:
    """Format a score or an edge so that it stays recognisable, not exact."""
    return f"{value:.6g}"


def ranges(edges: Sequence[float]) -> list[str]:
    """The ranges between sorted edges, in words.

    Examples
    --------
    >>> ranges([0.5, 2]), ranges([])
    (['below 0.5', '0.5 to below 2', '2 and above'], ['all'])
    """
    if not edges:
        return ["all"]
    shown = [number(edge) for edge in edges]
    between = [f"{low} to below {high}" for low, high in pairwise(shown)]
    return [f"below {shown[0]}", *between, f"{shown[-1]} and above"]


def p_text(value: float | None) -> str:
    """Format a p-value after its name; the digits of very small ones mean nothing.

    Examples
    --------
    >>> p_text(0.0123), p_text(8.76e-43), p_text(None)
    ('p = 0.0123', 'p < 0.0001', 'p undefined')
    """
    if value is None:
        return "p undefined"
    return "p < 0.0001" if value < 0.0001 else f"p = {value:.3g}"


def interval(estimate: Estimate) -> str:
    """Format a proportion with its interval.

    Examples
    --------
    >>> interval(Estimate(value=0.5, low=0.25, high=0.75))
    '0.500 [0.250, 0.750]'
    """
    return share_in_range(estimate.value, estimate.low, estimate.high)


def ends_of(estimate: Estimate, form: str) -> str:
    """The ends of an interval in a form, after a blank; nothing where there is none."""
    if estimate.low is None or estimate.high is None:
        return ""
    return f" [{estimate.low:{form}}, {estimate.high:{form}}]"
