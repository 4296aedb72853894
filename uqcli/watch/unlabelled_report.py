"""Report of ``uqcli watch`` on rows without labels."""

from __future__ import annotations

from collections.abc import Mapping
from functools import cached_property
from typing import Any, Final

from uqcli.base.records import dataclass
from uqcli.base.wording import p_text, percent, rows_of
from uqcli.estimates.estimate import Estimate, interval
from uqcli.reports.document import (
    Document,
    HeadCard,
    KeyNumber,
    Metric,
    OneResult,
    Table,
    Verdict,
    head_of,
    plain,
)
from uqcli.rules.saved import Source
from uqcli.watch.before_labels import BeforeLabels

UNSEEN: Final = "This says what changed, not whether the rule is still right: only labels show the precision."


@dataclass(frozen=True, kw_only=True)
class UnlabelledReport(OneResult):
    """Rows without labels beside the calibration rows of their rule.

    ``explained`` are the fewest and most flagged rows that the rate on the calibration rows explains, if rows
    are independent; None by days. ``usual`` is the flagged share of the calibration rows, and ``outside`` the
    rows with a number outside their range. ``psi`` is the population stability index, and
    ``psi_without_drift`` its mean at this size without drift. ``drift_p`` is the p-value of the test that
    both have the same distribution, for one look; if it has no answer, ``drift_untested`` says why. ``day``
    is the column of days, whose rows may depend on each other; None if rows are taken as independent.
    ``expected`` is None without a calibrator.
    """

    source: Source
    rows: int
    selected: int
    explained: tuple[int, int] | None
    usual: float
    outside: int
    psi: float
    psi_without_drift: float
    drift_p: float | None
    drift_untested: str
    day: str | None
    expected: BeforeLabels | None
    confidence: float
    on_invalid: str

    @property
    def listed(self) -> list[Metric]:
        """The index, the test, the flagged share, and what to expect with a calibrator."""
        low, high = [end / self.rows for end in self.explained] if self.explained else (None, None)
        flagged = Estimate(value=self.selected / self.rows, low=low, high=high)
        rates = self.expected
        expected = {} if rates is None else {"precision": rates.precision, "recall": rates.recall}
        return [
            Metric("rows", "", self.rows),
            Metric("psi", "stability index", self.psi, "{:.4f}".format),
            Metric("psi_without_drift", "", self.psi_without_drift),
            Metric("drift_p", "test of drift", self.drift_p, p_text),
            Metric("flagged", "flagged", flagged, lambda share: percent(share.value)),
            Metric("outside_range", "outside the range", self.outside / self.rows, percent),
            *(
                Metric(f"expected_{name}", f"{name} to expect" if rate else "", rate, interval)
                for name, rate in expected.items()
            ),
        ]

    @cached_property
    def _by_key(self) -> Mapping[str, Metric]:
        return {metric.key: metric for metric in self.listed}

    def payload(self) -> dict[str, Any]:
        """Return the JSON form."""
        parameters = {"confidence": self.confidence, "on_invalid": self.on_invalid}
        return {
            **head_of("watch", self.source, parameters | ({} if self.day is None else {"day": self.day})),
            "metrics": plain(self.metrics),
            "notes": [*self._cautions(), *self._notes()],
        }

    def document(self) -> Document:
        """Return the readable form."""
        return Document(
            title=self._title(),
            lead=[self._verdict(), UNSEEN],
            tables=[self._table()],
            cautions=self._cautions(),
            notes=self._notes(),
            card=HeadCard(
                title=self._title(),
                subject="{rules} and {inputs}: " + f"{rows_of(self.rows)}.",
                verdict=Verdict(text=self._verdict().rstrip(".").lower(), tone="neutral"),
                numbers=[
                    self._by_key["flagged"].number(f"{percent(self.usual)} on the calibration set"),
                    self._by_key["outside_range"].number(),
                    self._last_number(),
                ],
                action="Watch the rule with --state FILE when labels arrive.",
            ),
        )

    def _title(self) -> str:
        flagged = f"{percent(self.selected / self.rows)} of {rows_of(self.rows)} are flagged"
        usual = f"{percent(self.usual)} of the calibration set"
        if self.explained is None:
            return f"Without labels: {flagged}, beside {usual}."
        if self._is_usual:
            return f"Without labels: {flagged}, which is usual beside {usual}."
        return f"Without labels: {flagged}, which is unusual beside {usual}."

    def _last_number(self) -> KeyNumber:
        """Return the precision to expect, or else the stability index."""
        expected = None if self.expected is None else self.expected.precision
        if expected is None or expected.low is None:
            return self._by_key["psi"].number(form="{:.3g}".format)
        ends = f"{expected.low:.3f} to {expected.high:.3f}"
        return self._by_key["expected_precision"].number(ends, lambda rate: f"{rate.value:.3f}")

    @property
    def _is_usual(self) -> bool:
        return self.explained is None or self.explained[0] <= self.selected <= self.explained[1]

    def _verdict(self) -> str:
        if self.drift_untested:
            return "Drift of the scores is not tested."
        drifts = self.drift_p is not None and self.drift_p <= 1 - self.confidence
        return "The scores are distributed differently (significant)." if drifts else "No significant drift."

    def _table(self) -> Table:
        usual = f"{percent(self.usual)}, without a range"
        if self.explained is not None:
            usual = " to ".join(percent(end / self.rows) for end in self.explained)
        beside = {"flagged": usual, "psi": f"about {self.psi_without_drift:.4f}"}
        others = (metric for key, metric in self._by_key.items() if metric.label and key != "flagged")
        shown = [self._by_key["flagged"], *others]
        rows = [(metric.label, metric.cell(), beside.get(metric.key, "")) for metric in shown]
        header = ("", "new rows", "if like the calibration set")
        return Table(title="", header=header, rows=rows)

    def _cautions(self) -> list[str]:
        cautions = []
        if self.drift_untested:
            cautions.append(f"no test of drift: {self.drift_untested}.")
        if self.outside > 0.01 * self.rows:
            cautions.append(
                f"{percent(self.outside / self.rows)} of rows are outside the range of the calibration set."
            )
        if not self._is_usual:
            cautions.append("the calibration set does not explain the share of flagged rows.")
        if self.expected is not None and self.expected.reason:
            cautions.append(f"no precision can be expected: {self.expected.reason}.")
        return cautions

    def _notes(self) -> list[str]:
        return [
            f"{percent(self.usual)} of the calibration set are flagged.",
            "The test of drift is for one look: repeated every night, it is significant by chance.",
            *self._about_rows(),
        ]

    def _about_rows(self) -> list[str]:
        if self.day is None:
            return [
                "The test of drift and the range of flagged rows take rows as independent. Rows of one day "
                "seldom are: name the days with --day."
            ]
        tested = [] if self.drift_untested else ["The test of drift takes the rows of a day as dependent."]
        return [
            *tested,
            "The share of flagged rows has no range, which would take rows as independent, as the index "
            "without drift does.",
        ]
