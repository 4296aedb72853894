"""Content of a report, independent of the output format (terminal, page or JSON).

A job fills the report of its command. The report provides a JSON form (``payload``) and a readable form
(``document``), the only ones that renderers use.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import replace
from typing import TYPE_CHECKING, Any, Literal, Protocol, TypeAlias

from uqcli.base.defaults import VERSION
from uqcli.base.notices import Notice
from uqcli.base.records import dataclass
from uqcli.base.wording import percent, percents, shortened
from uqcli.estimates.estimate import Estimate

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure as Canvas


MetricValue = int | float | None | Estimate | Mapping[str, Any]
Metrics = Mapping[str, MetricValue]


@dataclass(frozen=True)
class Metric:
    """A metric of a report, stated once for JSON, checks, machine-readable files, tables and pages.

    ``key`` is its name in JSON, for ``--fail-if``, and in ``.csv`` and ``.prom`` files; ``label`` that in
    tables and at the head of a page, empty if neither shows it.
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

    >>> metric_rows([[Metric("rows", "rows", 1400)], [Metric("rows", "rows", 9)]])
    [('rows', '1400', '9')]
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

    The first ``left`` columns are text, and also the last with ``text_last``; the others are numbers,
    right-aligned. A terminal shows a ``detail`` with ``--verbose`` only, and without it ``brief`` in place of
    the whole table, if there is one.
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

    def shortened(self) -> Table:
        """Return the table with texts in a length that can be read."""
        return replace(
            self,
            title=shortened(self.title),
            header=[*map(shortened, self.header)],
            rows=[[*map(shortened, row)] for row in self.rows],
            brief=self.brief and self.brief.shortened(),
        )


def in_order(names: Iterable[str]) -> list[str]:
    """Sort names as numbers if all are numbers, else as texts; dates are in order as texts.

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

    >>> list(meaning_rows({"proper": {"brier": "mean squared error", "log_loss": "nats"}}))
    [('proper', 'brier', 'mean squared error'), ('', 'log_loss', 'nats')]
    """
    for kind, metrics in meanings.items():
        for number, (name, meaning) in enumerate(metrics.items()):
            yield "" if number else kind, name, meaning


@dataclass(frozen=True, kw_only=True)
class HoverText:
    """Text that a page shows while the pointer is on a rectangle, whose ends are values on the axes."""

    axes: Axes
    x: tuple[float, float]
    y: tuple[float, float]
    text: str


@dataclass(frozen=True, kw_only=True)
class Figure:
    """A figure to draw.

    The title is also the alternative text; the caption says what to look for. Sizes are in inches; on a
    narrow screen the panels are stacked, to ``narrow_height``. ``draw`` draws into an empty matplotlib
    figure, wide or narrow, and returns its texts on hover. A page is useless without a ``required`` figure;
    others are skipped if nothing can be drawn. A figure of a single number is not ``on_page``: ``--plot``
    alone draws it.
    """

    title: str
    caption: str
    width: float
    height: float
    narrow_height: float
    draw: Callable[[Canvas], Sequence[HoverText]]
    required: bool = False
    on_page: bool = True


@dataclass(frozen=True, kw_only=True)
class Claim:
    """A target or guarantee, and whether the rows contradict it.

    ``met`` is None if that is undecided. A number of alerts is not ``about_new_data``: it is a target on the
    calibration set only.
    """

    name: str
    met: bool | None
    sentence: str
    about_new_data: bool = True

    @property
    def broken(self) -> int | None:
        """1 if the rows contradict it, 0 if not, None if it is undecided."""
        return None if self.met is None else int(not self.met)


Tone = Literal["good", "fair", "bad", "neutral"]


@dataclass(frozen=True, kw_only=True)
class Verdict:
    """Verdict on a result in a few words."""

    text: str
    tone: Tone = "neutral"


@dataclass(frozen=True, kw_only=True)
class KeyNumber:
    """A number at the head of a page, with its interval or its unit in small print below, if there is one."""

    label: str
    value: str
    interval: str = ""


@dataclass(frozen=True, kw_only=True)
class HeadCard:
    """Head of a page: what was done, whether it is good, and the numbers that matter most.

    The title is the result in the reader's words; ``states_lead`` if it says what the lead of the report
    does. In ``subject``, what was done with which files, {inputs}, {rules} and {output} stand for their
    names. ``action`` is what to do, if it is not the report's next command: in words, or as a command line.
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

    ``option`` has the words of the command line that make it. Alerts are flagged rows before
    thresholds are raised. Precision, recall and utility are those to expect on new rows, as many as these;
    there is no utility without a gain and a cost. A threshold is None where an uncertainty bin is never
    flagged.
    """

    option: tuple[str, ...]
    alerts: int
    precision: Estimate
    recall: Estimate
    utility: float | None
    thresholds: tuple[float | None, ...]


@dataclass(frozen=True, kw_only=True)
class OperatingPoints:
    """Operating points from which a reader of a page can choose.

    ``families`` has the points by the name of what is chosen, such as precision, each beside that of a single
    threshold at the same option, None if infeasible. ``chosen`` is the family and position of the run's rule,
    or of the one with the nearest number of alerts. ``rows`` are those of the calibration set, by weight. The
    command line of another point needs ``settings``, options with their values, and must not have the dropped
    options, with a value, and flags, without.
    """

    families: Mapping[str, Sequence[tuple[OperatingPoint, OperatingPoint | None]]]
    chosen: tuple[str, int]
    rows: int
    settings: Mapping[str, str]
    dropped_options: frozenset[str]
    dropped_flags: frozenset[str]
    caption: str


PointsToChoose: TypeAlias = "Callable[[], OperatingPoints | None]"


def no_points() -> None:
    """Return that there are none to choose from."""


@dataclass(frozen=True, kw_only=True)
class OnTerminal:
    """What only a terminal shows.

    ``live`` facts vary from run to run, such as times, so they are never written to a file. ``others`` are
    further commands, each with its purpose, and ``lines`` the most that is shown.
    """

    live: Sequence[str] = ()
    others: Sequence[tuple[str, str]] = ()
    lines: int = 16


@dataclass(frozen=True, kw_only=True)
class Document:
    """Title, tables and sentences of a readable report.

    A terminal shows the title, the lead, the tables, one caution and the next command, and with ``--verbose``
    everything. Pages always show everything, the weightiest caution first.

    The lead is the answer, if the title does not give it. ``next`` is the command to run
    next, where {rule} stands for the rule file. Claims are for readers of test results. Without a card the
    title alone heads a page. ``operating_points`` computes the choice for a page, if there is one.
    """

    title: str
    tables: Sequence[Table]
    lead: Sequence[str] = ()
    cautions: Sequence[Notice] = ()
    notes: Sequence[str] = ()
    next: str = ""
    figures: Sequence[Figure] = ()
    claims: Sequence[Claim] = ()
    card: HeadCard | None = None
    operating_points: PointsToChoose = no_points
    terminal: OnTerminal = OnTerminal()

    @property
    def head(self) -> HeadCard:
        """Head of a page."""
        return self.card or HeadCard(title=self.title)

    def sentences(self) -> list[str]:
        """Return all sentences of the document."""
        return [*self.lead, *self.cautions, *self.notes]

    def shortened(self) -> Document:
        """Return the document with names and values from outside in a length that can be read."""
        return replace(
            self,
            title=shortened(self.title),
            tables=[table.shortened() for table in self.tables],
            lead=[*map(shortened, self.lead)],
            cautions=[notice.changed(shortened) for notice in self.cautions],
            notes=[*map(shortened, self.notes)],
            terminal=replace(self.terminal, live=[*map(shortened, self.terminal.live)]),
        )


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


def key_rate(label: str, rate: Estimate, confidence: float) -> KeyNumber:
    """Build a key number of a proportion and its interval, if it has one."""
    if rate.value is None or not rate.ends:
        return KeyNumber(label=label, value=percent(rate.value))
    value, low, high = percents(rate.value, *rate.ends)  # as sentences and tables have them
    return KeyNumber(label=label, value=f"{value} %", interval=f"{100 * confidence:g} %: {low} to {high} %")


def key_cell(label: str, cell: str) -> KeyNumber:
    """Build a key number from a table cell such as ``+0.1 [-0.2, +0.3] (sig.)``."""
    value, _, rest = cell.partition(" [")
    return KeyNumber(label=label, value=value, interval=rest.partition("]")[0].replace(", ", " to "))
