"""Report of ``uqcli watch`` on rows without labels."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, Final

import msgspec

from uqcli.artifacts.saved import Source
from uqcli.document import (
    Document,
    Estimate,
    HeadCard,
    KeyNumber,
    Metrics,
    OneResult,
    Table,
    Verdict,
    head_of,
    interval,
    p_text,
    percent,
    plain,
    rows_of,
)
from uqcli.methods.watch.before_labels import BeforeLabels

EXPECTED: Final = {"precision": "expected_precision", "recall": "expected_recall"}
"""Names of the metrics to expect."""

UNSEEN: Final = "This says what changed, not whether the rule is still right: only labels show the precision."


class UnlabelledParameters(msgspec.Struct, frozen=True, kw_only=True):
    """Options that change the result."""

    confidence: float
    on_invalid: str
    day: str | msgspec.UnsetType = msgspec.UNSET


@dataclass(frozen=True, kw_only=True)
class UnlabelledReport(OneResult):
    """Rows without labels beside the calibration rows of their rule.

    Attributes
    ----------
    explained
        Fewest and most flagged rows that the rate on the calibration rows explains, if rows are independent;
        None by days.
    usual
        Flagged share of the calibration rows.
    outside
        Rows with a number outside the range of the calibration rows.
    psi, psi_without_drift
        Population stability index, and its mean at this size without drift.
    drift_p
        P-value of the test that both have the same distribution; for one look. None if it has no answer.
    drift_untested
        Why it has none; empty if it has one.
    day
        Column of days, whose rows may depend on each other; None if rows are taken as independent.
    expected
        Precision and recall to expect, or why they cannot be stated; None without a calibrator.
    """

    source: Source
    parameters: UnlabelledParameters
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

    @property
    def metrics(self) -> Metrics:
        """By their contract names."""
        low, high = [end / self.rows for end in self.explained] if self.explained else (None, None)
        found = self.expected
        expected = {} if found is None else {EXPECTED[name]: getattr(found, name) for name in EXPECTED}
        return {
            "rows": self.rows,
            "psi": self.psi,
            "psi_without_drift": self.psi_without_drift,
            "drift_p": self.drift_p,
            "flagged": Estimate(value=self.selected / self.rows, low=low, high=high),
            "outside_range": self.outside / self.rows,
            **expected,
        }

    def payload(self) -> dict[str, Any]:
        """Return the JSON form."""
        return {
            **head_of("watch", self.source, self.parameters),
            "metrics": plain(self.metrics),
            "notes": [*self._cautions(), *self._notes()],
        }

    def document(self) -> Document:
        """Return the readable form."""
        return Document(
            title=f"No labels: {rows_of(self.rows)} beside the calibration set. {self._verdict()}",
            lead=[UNSEEN],
            tables=[self._table()],
            cautions=self._cautions(),
            notes=self._notes(),
            card=HeadCard(
                title=f"{percent(self.selected / self.rows)} of new rows flagged, without labels",
                subject="{rules} and {inputs}: " + f"{rows_of(self.rows)}.",
                verdict=Verdict(text=self._verdict().rstrip(".").lower(), tone="neutral"),
                numbers=[
                    KeyNumber(
                        label="flagged",
                        value=percent(self.selected / self.rows),
                        interval=f"{percent(self.usual)} on the calibration set",
                    ),
                    KeyNumber(label="outside the range", value=percent(self.outside / self.rows)),
                    self._last_number(),
                ],
                action="Watch the rule with --state FILE when labels arrive.",
                states_lead=True,
            ),
        )

    def _last_number(self) -> KeyNumber:
        """Return the precision to expect, or else the stability index."""
        expected = None if self.expected is None else self.expected.precision
        if expected is None or expected.low is None:
            return KeyNumber(label="stability index", value=f"{self.psi:.3g}")
        ends = f"{expected.low:.3f} to {expected.high:.3f}"
        return KeyNumber(label="precision to expect", value=f"{expected.value:.3f}", interval=ends)

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
        rows = [
            ("flagged", percent(self.selected / self.rows), usual),
            ("stability index", f"{self.psi:.4f}", f"about {self.psi_without_drift:.4f}"),
            ("test of drift", p_text(self.drift_p), ""),
            ("outside the range", percent(self.outside / self.rows), ""),
        ]
        for name in EXPECTED:
            estimate = getattr(self.expected, name, None)
            if estimate is not None:
                rows.append((f"{name} to expect", interval(estimate), ""))
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
        """State whether rows are taken as independent."""
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
