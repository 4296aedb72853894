"""Audit of segments: the verdict, a table, a figure, and checks on it."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from statistics import median
from typing import TYPE_CHECKING, Any, Final

from uqcli.base.operating_system import quote
from uqcli.base.records import dataclass
from uqcli.base.wording import count, in_points, p_text, printable
from uqcli.reports.document import Claim, Document, Figure, HoverText, Metrics, Table, Verdict
from uqcli.reports.figures import GREY, INK, RED, is_narrow, label_lines

if TYPE_CHECKING:
    from matplotlib.figure import Figure as Canvas

_MAX_LISTED: Final = 10
_MAX_DRAWN: Final = 20
MISSING: Final = "(missing)"


@dataclass(frozen=True, kw_only=True)
class Segment:
    """Rows with given values of one column or of two.

    Attributes
    ----------
    values
        Value by column; None for missing values.
    rows, observed, expected
        By weight: rows, those with the outcome, and as many as the scores or the bound let expect.
    low, high
        Ends of the interval of observed less expected rate; all segments' intervals hold together.
    p_value, p_holm
        Unadjusted, and adjusted for all segments (Holm).
    detectable
        Deviation of the rate that would be shown with a probability of 80 %; None if none would.
    """

    values: Mapping[str, str | None]
    rows: int
    observed: int
    expected: float
    low: float
    high: float
    p_value: float
    detectable: float | None
    p_holm: float = 1.0

    @property
    def gap(self) -> float:
        """Observed less expected rate."""
        return (self.observed - self.expected) / self.rows

    @property
    def order(self) -> tuple[float, float, float, int, list[str]]:
        """Sort key: the most significant first, then the largest deviation, then the simplest."""
        texts = [f"{column}={value}" for column, value in self.values.items()]
        return self.p_holm, self.p_value, -abs(self.gap), len(texts), texts

    @property
    def label(self) -> str:
        """Name in tables and sentences."""
        return ", ".join(
            f"{printable(column, 30)} = {MISSING if value is None else printable(value, 30)}"
            for column, value in self.values.items()
        )

    def payload(self) -> dict[str, Any]:
        """Return the JSON form."""
        return {
            "segment": dict(self.values),
            "rows": self.rows,
            "expected": self.expected,
            "observed": self.observed,
            "gap": {"value": self.gap, "low": self.low, "high": self.high},
            "p": self.p_value,
            "p_holm": self.p_holm,
            "detectable": self.detectable,
        }


@dataclass(frozen=True, kw_only=True)
class Audit:
    """Tests of all segments, the most significant first.

    ``level`` is that of the tests over all segments. ``what`` occurs in a row, for sentences: "positive",
    "covered". The rate is compared with the one "expected" by the scores, or the "target". A segment is
    tested from ``min_rows`` rows, and ``min_clusters`` clusters of dependent rows. ``units`` names the rows
    that count: of a recall, for instance, the positives.
    """

    columns: tuple[str, ...]
    segments: tuple[Segment, ...]
    level: float
    what: str
    against: str
    min_rows: int
    min_clusters: int = 0
    units: str = "rows"

    @property
    def _outcome(self) -> str:
        """What a row that counts may be: a flagged row, which is a true positive, is just positive."""
        return "positive" if self.what == "true positive" else self.what

    @property
    def deviating(self) -> list[Segment]:
        """Segments whose outcomes differ from the expected ones."""
        return [segment for segment in self.segments if segment.p_holm <= self.level]

    def action(self) -> str:
        """Say what to do about segments that deviate."""
        own = (
            f"--by {quote(self.columns[0])}"
            if len(self.columns) == 1
            else "--by and the column of that segment"
        )
        return (
            f"Do not rely on the overall result in a segment that deviates; fit again with {own}, and a rule "
            "with --bound each as well."
        )

    def payload(self) -> list[dict[str, Any]]:
        """Return the JSON form."""
        return [segment.payload() for segment in self.segments]

    def metrics(self) -> Metrics:
        """Return the metrics: numbers of segments, and those of the most significant one."""
        worst = self.segments[0] if self.segments else None
        return {
            "segments": {
                "tested": len(self.segments),
                "deviating": len(self.deviating) if self.segments else None,
                "p": None if worst is None else worst.p_holm,
                "gap": None if worst is None else worst.gap,
                "detectable": self._median_detectable(),
            }
        }

    def _median_detectable(self) -> float | None:
        known = [segment.detectable for segment in self.segments if segment.detectable is not None]
        return median(known) if known else None

    def lead(self) -> str:
        """State which segment deviates, or what would have been shown."""
        number = len(self.segments)
        if not self.segments:
            clusters = f" of {self.min_clusters} clusters" if self.min_clusters else ""
            return f"No segment has {self.min_rows} {self.units}{clusters}, so none was tested."
        if self.deviating:
            worst = self.segments[0]
            deviate = f"{count(len(self.deviating))} of {_segments(number)}"
            verb, named = ("deviates", "") if len(self.deviating) == 1 else ("deviate", "the worst is ")
            return (
                f"{deviate} {verb}: {named}{worst.label}. {_percent(worst.observed / worst.rows)} of its "
                f"{count(worst.rows)} {self.units} are {self._outcome} ({self.against} "
                f"{_percent(worst.expected / worst.rows)}; {p_text(worst.p_holm)}, corrected)."
            )
        limit = self._median_detectable()
        power = " They have too few rows for any deviation to be found."
        if limit is not None:
            power = f" In half of them, a deviation of {in_points(limit)} would have been found (80 % power)."
        elif self.min_clusters:  # over clusters, what would be shown is not known
            power = ""
        return f"None of {_segments(number)} deviates significantly.{power}"

    def _rates(self, segment: Segment) -> str:
        observed, expected = (
            _percent(number / segment.rows) for number in (segment.observed, segment.expected)
        )
        return f"{observed} {self.what}, {self.against} {expected}"

    def claims(self) -> list[Claim]:
        """Return the claim that no segment deviates; none if no segment is tested."""
        if not self.segments:
            return []
        name = f"no segment of {', '.join(printable(column, 30) for column in self.columns)} deviates"
        return [Claim(name=name, met=not self.deviating, sentence=self.lead())]

    def table(self) -> Table:
        """Build the table of the segments that deviate, or of the most significant ones."""
        table = self._table(self.segments[: 10 * _MAX_LISTED])
        return replace(table, brief=self._table((self.deviating or self.segments[:1])[:_MAX_LISTED]))

    def _table(self, segments: Sequence[Segment]) -> Table:
        rows = [
            (
                segment.label,
                count(segment.rows),
                _percent(segment.observed / segment.rows),
                _percent(segment.expected / segment.rows),
                "< 0.0001" if segment.p_holm < 0.0001 else f"{segment.p_holm:.3g}",
                "-" if segment.detectable is None else in_points(segment.detectable),
            )
            for segment in segments
        ]
        header = (
            "segment",
            self.units.removesuffix(" rows"),
            self._outcome,
            self.against,
            "p, corrected",
            "detectable",
        )
        return Table(title="", header=header, rows=rows)

    def figures(self) -> list[Figure]:
        """Build the figure: segments by deviation, with their intervals."""
        drawn = sorted(self.segments[:_MAX_DRAWN], key=lambda segment: (segment.gap, segment.order))
        if not drawn:
            return []

        def draw(canvas: Canvas) -> list[HoverText]:
            axes = canvas.subplots()
            texts = []
            axes.axvline(0, color=INK, linewidth=0.8)
            for position, segment in enumerate(drawn):
                colour = RED if segment.p_holm <= self.level else GREY
                axes.plot([segment.low, segment.high], [position] * 2, color=colour, linewidth=1.6)
                axes.plot([segment.gap], [position], color=colour, marker="o", markersize=6)
                text = (
                    f"{segment.label}: {self._rates(segment)}, {count(segment.rows)} {self.units}, "
                    f"{p_text(segment.p_holm)}"
                )
                ends = (segment.low, segment.high)
                texts.append(HoverText(axes=axes, x=ends, y=(position, position), text=text))
            axes.set_xlabel(f"{self.what}: observed less {self.against} rate")
            label_lines(axes, [segment.label for segment in drawn], 28 if is_narrow(canvas) else 60)
            axes.margins(x=0.08)
            return texts

        height = 1.3 + 0.3 * len(drawn)
        return [
            Figure(
                title=f"Segments by deviation: {', '.join(printable(name, 30) for name in self.columns)}",
                caption="A red segment deviates; the risk that any is red by mistake is at most "
                f"{100 * self.level:g} %. The intervals hold for all segments at once. "
                "The figure shows the most significant ones.",
                width=10.5,
                height=height,
                narrow_height=height,
                draw=draw,
            )
        ]


def _percent(rate: float) -> str:
    """Format a rate with three digits, since a deviation of large segments is small."""
    return f"{100 * rate:.3g} %"


def _segments(number: int) -> str:
    return "1 segment" if number == 1 else f"{count(number)} segments"


def with_audit(document: Document, audit: Audit | None) -> Document:
    """Add an audit to the readable form of a report: its verdict, table and figure."""
    if audit is None:
        return document
    card = document.card
    if card is not None and audit.deviating:
        card = replace(card, verdict=Verdict(text="a segment deviates", tone="bad"), action=audit.action())
    return replace(
        document,
        lead=[*document.lead, audit.lead()],
        tables=[audit.table(), *document.tables] if audit.segments else document.tables,
        figures=[*document.figures, *audit.figures()],
        claims=[*document.claims, *audit.claims()],
        card=None if card is None else replace(card, states_lead=False),
    )
