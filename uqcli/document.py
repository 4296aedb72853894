"""Content of a report, independent of the output format (terminal, page or JSON).

A job fills the report of its command. The report provides a JSON form (``payload``) and a readable form
(``document``), the only ones that renderers use.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import field, replace
from itertools import pairwise
from pathlib import PurePath
from typing import TYPE_CHECKING, Any, Literal, Protocol

from uqcli.defaults import VERSION
from uqcli.escaping import visible
from uqcli.records import dataclass

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure as Canvas


@dataclass(frozen=True, kw_only=True)
class Estimate:
    """A metric with its confidence interval.

    The value is None if undefined (0/0); the ends are None if no valid interval exists. ``reason`` says why
    there is none, if that is more than 0/0, or why the interval is unreliable. A difference may have the
    p-value of its two-sided test, and what is resampled its standard error.
    """

    value: float | None
    low: float | None = None
    high: float | None = None
    reason: str = field(default="", compare=False)
    p_value: float | None = field(default=None, repr=False)
    error: float | None = field(default=None, repr=False)

    def times(self, scale: float) -> Estimate:
        """Multiply the value and its interval.

        Examples
        --------
        >>> Estimate(value=0.5, low=0.25).times(4)
        Estimate(value=2.0, low=1.0, high=None, reason='')
        """
        value, low, high = (
            None if number is None else scale * number for number in (self.value, self.low, self.high)
        )
        return replace(self, value=value, low=low, high=high)

    def complement(self) -> Estimate:
        """Subtract a rate and its interval from 1.

        Examples
        --------
        >>> Estimate(value=0.25, low=0.125).complement()
        Estimate(value=0.75, low=None, high=0.875, reason='')
        """
        value, low, high = (
            None if number is None else 1 - number for number in (self.value, self.high, self.low)
        )
        return replace(self, value=value, low=low, high=high)


MetricValue = int | float | None | Estimate | Mapping[str, Any]
Metrics = Mapping[str, MetricValue]


@dataclass(frozen=True)
class Metric:
    """A metric of a report, stated once for JSON, checks, machine-readable files, tables and pages.

    Attributes
    ----------
    key
        Name in JSON, for ``--fail-if``, and in ``.csv`` and ``.prom`` files.
    label
        Name in tables and at the head of a page; empty if neither shows it.
    form
        Function that formats it.
    """

    key: str
    label: str
    estimate: MetricValue
    form: Callable[[Any], str] = str

    def cell(self) -> str:
        """Format it for a table."""
        return self.form(self.estimate)

    def number(self, interval: str = "", form: Callable[[Any], str] | None = None) -> KeyNumber:
        """Return it as a number at the head of a page, in another form than in tables if one is given."""
        return KeyNumber(label=self.label, value=(form or self.form)(self.estimate), interval=interval)


def metric_rows(columns: Iterable[Sequence[Metric]]) -> list[tuple[str, ...]]:
    """Return the rows of a table of the same metrics of several rules, with a column for each rule.

    Examples
    --------
    >>> metric_rows([[Metric("rows", "rows", 1400, count)], [Metric("rows", "rows", 9, count)]])
    [('rows', '1,400', '9')]
    """
    return [
        (metrics[0].label, *(metric.cell() for metric in metrics)) for metrics in zip(*columns, strict=True)
    ]


def by_key(listed: Iterable[Metric]) -> Metrics:
    """Return the values of metrics by key."""
    return {metric.key: metric.estimate for metric in listed}


@dataclass(frozen=True, kw_only=True)
class Table:
    """A titled table of text.

    Attributes
    ----------
    left
        Number of text columns, on the left; the others are numbers, right-aligned.
    text_last
        Whether the last column is also text.
    detail
        Whether a terminal shows it with ``--verbose`` only.
    brief
        What a terminal shows in its place without ``--verbose``; None for the table itself.
    """

    title: str
    header: Sequence[str]
    rows: Sequence[Sequence[str]]
    left: int = 1
    text_last: bool = False
    detail: bool = False
    brief: Table | None = None

    def is_text(self, column: int) -> bool:
        """Whether a column is text, hence left-aligned."""
        return column < self.left or (self.text_last and column == len(self.header) - 1)


def in_order(names: Iterable[str]) -> list[str]:
    """Sort names as numbers if all are numbers, else as texts; dates are in order as texts.

    Examples
    --------
    >>> in_order(["10", "9"]), in_order(["10", "9", "x"])
    (['9', '10'], ['10', '9', 'x'])
    """
    listed = sorted(names)
    try:
        return sorted(listed, key=float)
    except ValueError:
        return listed


def meaning_rows(meanings: Mapping[str, Mapping[str, str]]) -> Iterator[tuple[str, str, str]]:
    """Return the metrics by kind as table rows: kind (on its first metric only), metric, meaning.

    Examples
    --------
    >>> list(meaning_rows({"proper": {"brier": "mean squared error", "log_loss": "nats"}}))
    [('proper', 'brier', 'mean squared error'), ('', 'log_loss', 'nats')]
    """
    for kind, metrics in meanings.items():
        for number, (name, meaning) in enumerate(metrics.items()):
            yield "" if number else kind, name, meaning


@dataclass(frozen=True, kw_only=True)
class HoverText:
    """Text that a page shows while the pointer is on a rectangle of a figure.

    Attributes
    ----------
    x, y
        Ends of the rectangle, in coordinates of the axes.
    """

    axes: Axes
    x: tuple[float, float]
    y: tuple[float, float]
    text: str


@dataclass(frozen=True, kw_only=True)
class Figure:
    """A figure to draw.

    Attributes
    ----------
    title
        What it shows; also the alternative text.
    caption
        What to look for in it.
    width, height
        In inches.
    narrow_height
        Height on a narrow screen, where the panels are stacked.
    draw
        Draws into an empty matplotlib figure, wide or narrow, and returns its texts on hover.
    required
        Whether a page is useless without it; other figures are skipped if nothing can be drawn.
    """

    title: str
    caption: str
    width: float
    height: float
    narrow_height: float
    draw: Callable[[Canvas], Sequence[HoverText]]
    required: bool = False


@dataclass(frozen=True, kw_only=True)
class Claim:
    """A target or guarantee, and whether the rows contradict it.

    Attributes
    ----------
    met
        None if it is undecided.
    sentence
        Sentence that states it.
    about_new_data
        Whether it is about new data; a number of alerts is a target on the calibration set only.
    """

    name: str
    met: bool | None
    sentence: str
    about_new_data: bool = True

    @property
    def broken(self) -> int | None:
        """1 if the rows contradict it, 0 if not, None if it is undecided."""
        return None if self.met is None else int(not self.met)


Tone = Literal["good", "bad", "neutral"]


@dataclass(frozen=True, kw_only=True)
class Verdict:
    """Verdict on a result in a few words.

    Attributes
    ----------
    tone
        Whether it is good news, bad news, or neither.
    """

    text: str
    tone: Tone = "neutral"


@dataclass(frozen=True, kw_only=True)
class KeyNumber:
    """A number at the head of a page.

    Attributes
    ----------
    interval
        Its interval or its unit, in small print below it; empty if there is none.
    """

    label: str
    value: str
    interval: str = ""


@dataclass(frozen=True, kw_only=True)
class HeadCard:
    """Head of a page: what was done, whether it is good, and the numbers that matter most.

    Attributes
    ----------
    title
        The result in the reader's words.
    subject
        What was done with which files; {inputs}, {rules} and {output} stand for their names.
    action
        What to do, if it is not the report's next command: in words, or as a command line.
    states_lead
        Whether the title says what the lead of the report does.
    """

    title: str
    verdict: Verdict | None = None
    numbers: Sequence[KeyNumber] = ()
    subject: str = ""
    action: str = ""
    states_lead: bool = False


@dataclass(frozen=True, kw_only=True)
class OperatingPoint:
    """A rule that a reader of a page can choose.

    Attributes
    ----------
    option
        Option of the command line that makes it, with its value.
    alerts
        Flagged rows, before thresholds are raised.
    precision, recall
        Expected on new rows.
    utility
        Expected on as many new rows; None without a gain and a cost.
    thresholds
        Of each uncertainty bin; None if it is never flagged.
    """

    option: tuple[str, str]
    alerts: int
    precision: Estimate
    recall: Estimate
    utility: float | None
    thresholds: tuple[float | None, ...]


@dataclass(frozen=True, kw_only=True)
class PointPair:
    """Operating point of a rule and that of a single threshold at the same option; None if infeasible."""

    rule: OperatingPoint
    single: OperatingPoint | None


@dataclass(frozen=True, kw_only=True)
class OperatingPoints:
    """Operating points from which a reader of a page can choose.

    Attributes
    ----------
    families
        Points by the name of what is chosen, such as precision.
    chosen
        Family and position of the run's rule, or of the one with the nearest number of alerts.
    rows
        Rows of the calibration set, by weight.
    settings
        Options that the command line of another point needs, with their values.
    dropped_options, dropped_flags
        Options with and without a value that it must not have.
    caption
        What the numbers are.
    """

    families: Mapping[str, Sequence[PointPair]]
    chosen: tuple[str, int]
    rows: int
    settings: Mapping[str, str]
    dropped_options: frozenset[str]
    dropped_flags: frozenset[str]
    caption: str


@dataclass(frozen=True, kw_only=True)
class Document:
    """Title, tables and sentences of a readable report.

    A terminal shows the title, the lead, the tables, one caution and the next command, and with ``--verbose``
    everything. Pages always show everything.

    Attributes
    ----------
    lead
        The answer, if the title does not give it.
    cautions
        Cautions of this result, the most important first.
    notes
        Details.
    next
        The next command to run; {rule} stands for the rule file.
    figures
        Figures, for HTML, Markdown and ``--plot``.
    claims
        Targets and guarantees that are tested here, for readers of test results.
    card
        Head of a page; None for the title alone.
    operating_points
        Function that computes the operating points for a page; None if there is no choice.
    live
        Facts that vary from run to run, such as times: shown on the terminal, never written to a file.
    """

    title: str
    tables: Sequence[Table]
    lead: Sequence[str] = ()
    cautions: Sequence[str] = ()
    notes: Sequence[str] = ()
    next: str = ""
    figures: Sequence[Figure] = ()
    claims: Sequence[Claim] = ()
    card: HeadCard | None = None
    operating_points: Callable[[], OperatingPoints | None] | None = None
    live: Sequence[str] = ()

    def sentences(self) -> list[str]:
        """Return all sentences of the document."""
        return [*self.lead, *self.cautions, *self.notes]


class Report(Protocol):
    """The outcome of a command."""

    @property
    def checked_metrics(self) -> Mapping[str, Metrics]:
        """Metrics that ``--fail-if`` checks, by rule file name if there are several, else under ''."""

    def payload(self) -> dict[str, Any]:
        """Return the JSON form."""

    def document(self) -> Document:
        """Return the readable form."""


class OneResult:
    """A report with one set of metrics."""

    @property
    def listed(self) -> Sequence[Metric]:
        """All metrics, in the order of JSON."""
        raise NotImplementedError

    @property
    def metrics(self) -> Metrics:
        """Values of the metrics by key."""
        return by_key(self.listed)

    @property
    def checked_metrics(self) -> Mapping[str, Metrics]:
        """See Report."""
        return {"": self.metrics}


def head_of(command: str, source: Any, parameters: Any) -> dict[str, Any]:
    """Build the first keys of the JSON form of a report; takes structs or dicts."""
    import msgspec

    head = {"command": command, "uqcli_version": VERSION}
    return {**head, "source": msgspec.to_builtins(source), "parameters": msgspec.to_builtins(parameters)}


def plain(metrics: Metrics) -> dict[str, Any]:
    """Return the metrics as JSON values: an estimate becomes ``{value, low, high}``."""
    result: dict[str, Any] = {}
    for name, metric in metrics.items():
        if isinstance(metric, Estimate):
            result[name] = {"value": metric.value, "low": metric.low, "high": metric.high}
        elif isinstance(metric, Mapping):
            result[name] = plain(metric)
        else:
            result[name] = metric
    return result


def printable(text: str, max_length: int = 60) -> str:
    r"""Escape and shorten a name from the data, so that it breaks no line or figure.

    Examples
    --------
    >>> printable("two\nlines"), printable("x" * 9, max_length=6)
    ('two\\nlines', 'xxx...')
    """
    escaped = visible(text)
    return escaped if len(escaped) <= max_length else f"{escaped[: max_length - 3]}..."


def short_names(names: Sequence[str]) -> list[str]:
    """Return file names without their folders, unless two would be equal.

    Examples
    --------
    >>> short_names(["new/b.json", "c.json"]), short_names(["new/b.json", "old/b.json"])
    (['b.json', 'c.json'], ['new/b.json', 'old/b.json'])
    """
    short = [PurePath(name).name or name for name in names]
    return short if len(set(short)) == len(names) else list(names)


def share_in_range(value: float | None, low: float | None, high: float | None) -> str:
    """Format a proportion with its range in three decimals, more near 0; without a range if it has none.

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
    """Format a proportion with four decimals, "-" if undefined.

    Examples
    --------
    >>> share(0.5), share(None)
    ('0.5000', '-')
    """
    return "-" if value is None else f"{value:.4f}"


def percent(value: float | None, digits: int | None = None) -> str:
    """Format a proportion as a percentage for a headline, "-" if undefined.

    Parameters
    ----------
    digits
        Decimals; by default as many as the value needs, more near 0 and 1.

    Examples
    --------
    >>> percent(0.1725), percent(0.0456), percent(0.99943), percent(0.000123), percent(None)
    ('17 %', '4.6 %', '99.94 %', '0.012 %', '-')
    """
    if value is None:
        return "-"
    return f"{100 * value:.{_decimals(value) if digits is None else digits}f} %"


def _decimals(value: float) -> int:
    """Return the decimals of a percentage: two significant digits near 0, one of the rest near 1."""
    if min(abs(value), abs(1 - value)) < 1e-9 or 0.1 <= value <= 0.985:
        return 0
    return (
        -math.floor(math.log10(100 * (1 - value)))
        if value > 0.985
        else 1 - math.floor(math.log10(100 * value))
    )


def key_rate(label: str, rate: Estimate, confidence: float) -> KeyNumber:
    """Build a key number of a proportion and its interval, if it has one."""
    if rate.low is None or rate.high is None or rate.value is None:
        return KeyNumber(label=label, value=percent(rate.value))
    digits = max(1, *map(_decimals, (rate.low, rate.value, rate.high)))
    digits = min(digits, 1) if rate.high - rate.low > 0.005 else digits
    low, value, high = (percent(end, digits) for end in (rate.low, rate.value, rate.high))
    return KeyNumber(
        label=label, value=value, interval=f"{100 * confidence:g} %: {low.removesuffix(' %')} to {high}"
    )


def key_cell(label: str, cell: str) -> KeyNumber:
    """Build a key number from a table cell such as ``+0.1 [-0.2, +0.3] (sig.)``."""
    value, _, rest = cell.partition(" [")
    return KeyNumber(label=label, value=value, interval=rest.partition("]")[0].replace(", ", " to "))


def first_of(texts: Sequence[str], most: int) -> str:
    """List the first texts, and the number of the others.

    Examples
    --------
    >>> first_of(["a", "b", "c"], 2), first_of(["a"], 2)
    ('a, b and 1 more', 'a')
    """
    more = f" and {len(texts) - most} more" if len(texts) > most else ""
    return f"{', '.join(texts[:most])}{more}"


def count(value: int | None) -> str:
    """Format a count with thousands separators, "-" if there is none."""
    return "-" if value is None else f"{value:,}"


def rows_of(value: int) -> str:
    """Format a count followed by "row" or "rows".

    Examples
    --------
    >>> rows_of(1), rows_of(14653)
    ('1 row', '14,653 rows')
    """
    return f"{count(value)} row{'' if value == 1 else 's'}"


def money(value: float | None) -> str:
    """Format an amount with two decimals.

    Examples
    --------
    >>> money(1234.5), money(None)
    ('1,234.50', '-')
    """
    return "-" if value is None else f"{value:,.2f}"


def money_change(estimate: Estimate) -> str:
    """Format a change of an amount, with its interval if it has one.

    Examples
    --------
    >>> money_change(Estimate(value=12.0, low=-3.0, high=27.5))
    '+12.00 [-3.00, +27.50]'
    """
    if estimate.value is None:
        return "-"
    return f"{estimate.value:+,.2f}{ends_of(estimate, '+,.2f')}"


def number(value: float) -> str:
    """Format a score or an edge with 6 significant digits."""
    return f"{value:.6g}"


def ranges(edges: Sequence[float]) -> list[str]:
    """Describe the ranges between sorted edges.

    Examples
    --------
    >>> ranges([0.5, 2]), ranges([])
    (['below 0.5', '0.5 to below 2', '2 and above'], ['all'])
    """
    if not edges:
        return ["all"]
    texts = [number(edge) for edge in edges]
    between = [f"{low} to below {high}" for low, high in pairwise(texts)]
    return [f"below {texts[0]}", *between, f"{texts[-1]} and above"]


def direction(estimate: Estimate) -> str:
    """Return "higher" or "lower" if the interval excludes 0, else an empty text."""
    if estimate.low is None or estimate.high is None or estimate.low <= 0 <= estimate.high:
        return ""
    return "higher" if estimate.low > 0 else "lower"


def p_text(value: float | None, *, is_least: bool = False) -> str:
    """Format a p-value with its "p"; digits below 0.0001 carry no information.

    Parameters
    ----------
    is_least
        Whether it is the least one that the number of random draws allows.

    Examples
    --------
    >>> p_text(0.0123), p_text(8.76e-43), p_text(None), p_text(0.01, is_least=True)
    ('p = 0.0123', 'p < 0.0001', 'p undefined', 'p <= 0.01')
    """
    if value is None:
        return "p undefined"
    return "p < 0.0001" if value < 0.0001 else f"p {'<=' if is_least else '='} {value:.3g}"


def p_cell(value: float | None, *, is_least: bool) -> str:
    """Format a p-value for a table (see ``p_text``)."""
    return "-" if value is None else f"{'<= ' if is_least else ''}{value:.3g}"


def interval(estimate: Estimate) -> str:
    """Format a proportion with its interval.

    Examples
    --------
    >>> interval(Estimate(value=0.5, low=0.25, high=0.75))
    '0.500 [0.250, 0.750]'
    """
    return share_in_range(estimate.value, estimate.low, estimate.high)


def ends_of(estimate: Estimate, form: str) -> str:
    """Format the ends of an interval after a space; empty if there is none."""
    if estimate.low is None or estimate.high is None:
        return ""
    return f" [{estimate.low:{form}}, {estimate.high:{form}}]"
