"""Report of ``uqcli evaluate`` on calibrators."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import Any, Final

from uqcli.base.records import dataclass
from uqcli.base.wording import count, rows_of
from uqcli.calibrate.rule import CalibratorArtifact
from uqcli.comparison.figure import ReliabilityPanel, before_and_after_figure
from uqcli.comparison.report import (
    Comparison,
    after_numbers,
    comparison_card,
    comparison_table,
    losses_without_interval,
    lowest_brier,
    meanings_table,
    ranked_table,
    remaining_error,
    sort_by_log_loss,
    too_few_clusters,
    value_of,
    verdict,
)
from uqcli.evaluate.boundaries_report import OWN_DATA_CAUTION, Evaluated, apply_command
from uqcli.evaluate.difference_report import CalibratorDifference
from uqcli.reports.document import Claim, Document, HeadCard, Metrics, Verdict

WEIGHTED: Final = "Rows count by their sampling weights; there are no tests and no intervals."
"""Note on metrics of rows with sampling weights."""


@dataclass(frozen=True, kw_only=True)
class MeasuredCalibrator:
    """Metrics of a calibrator on a test set, whose rows are counted by weight.

    The claim is that of the stated error bounds; None if the rule file states none. There is a number of
    clusters if rows depend on each other.
    """

    compared: Comparison
    rows: int
    claim: Claim | None
    clusters: int | None = None

    def metrics(self) -> Metrics:
        """Return the metrics by key."""
        broken = {} if self.claim is None else {"promise_broken": self.claim.broken}
        clusters = {} if self.clusters is None else {"clusters": self.clusters}
        return {**self.compared.metrics(), "rows": self.rows, **clusters, **broken}


@dataclass(frozen=True, kw_only=True)
class EvaluateCalibratorReport(Evaluated):
    """Metrics of saved calibrators on a test set, with the number of bootstrap replicates and the seed.

    The panels show the reliability before and after: for one calibrator by part, for several by calibrator
    over all rows. There is a claim of the stated error bounds for each rule file that states some.
    """

    resampling: tuple[int, int]
    panels: tuple[ReliabilityPanel, ...]
    results: tuple[tuple[str, CalibratorArtifact, MeasuredCalibrator], ...]
    claims: tuple[Claim, ...] = ()
    difference: CalibratorDifference | None = None

    def payload(self) -> dict[str, Any]:
        """Return the JSON form (see Evaluated)."""
        replicates, seed = self.resampling
        parameters = {"bootstrap": replicates, "seed": seed if replicates else None}
        sentences = [f"{name}: {self._verdict(measured.compared)}" for name, _, measured in self.results[:1]]
        single = sentences if len(self.results) == 1 else []
        return self.build_payload([*self._cautions(), *single, *self._notes(), *self._advice()], parameters)

    def document(self) -> Document:
        """Return the readable form."""
        named = self._compared
        tables = [comparison_table("", named[0][1])]
        if len(named) > 1:
            tables = [ranked_table("", "calibrator", named)]
        if self.difference is not None:
            tables = [self.difference.table(self.names), replace(tables[0], detail=True)]
        positives = "" if self.source.positives is None else f" ({count(self.source.positives)} positive)"
        size = f"{rows_of(self.source.rows)}{positives}"
        if (clusters := self.results[0][2].clusters) is not None:
            size = f"{size} in {count(clusters)} {self.parameters.units}"
        headline = self._verdict(named[0][1])
        if len(named) > 1:
            headline = self._best(named)
        document = Document(
            title=headline,
            tables=[*tables, meanings_table()],
            lead=[*self._advice(), f"The test set has {size}."],
            cautions=self._cautions(),
            notes=self._notes(),
            figures=[before_and_after_figure(self.panels)] if self.panels else [],
            claims=self.claims,
            card=self._card(),
        )
        return self.with_parts(document)

    def _best(self, named: Sequence[tuple[str, Comparison]]) -> str:
        (best, after), *_ = sort_by_log_loss([(name, compared.after) for name, compared in named])
        loss = value_of(after["log_loss"])
        if loss is None:
            return f"The log loss of the {len(named)} calibrators is undefined, so they cannot be compared."
        return f"{best} has the lowest log loss of {len(named)} calibrators, {loss:.4f}."

    def _card(self) -> HeadCard:
        if len(self.results) == 1:
            name, _, measured = self.results[0]
            card = comparison_card(self._verdict(measured.compared), measured.compared)
            tone = "neutral" if card.verdict is None else card.verdict.tone
            actions = {"good": apply_command(name), "bad": "Do not use it."}
            size = rows_of(measured.rows)
            subject = "{rules} tested on {inputs}: " + f"{size}, before and after calibration."
            return replace(card, subject=subject, action=actions.get(tone, ""))
        advice = self._advice()
        best, *_ = sort_by_log_loss([(name, compared.after) for name, compared in self._compared])
        return HeadCard(
            title=advice[0]
            if advice
            else f"{best[0]} has the lowest log loss of {len(self.results)} calibrators",
            verdict=None
            if advice
            else Verdict(
                text="its lead is not tested" if len(self.results) > 2 else "no significant difference"
            ),
            numbers=after_numbers(best[1]),
            subject="{rules} compared on {inputs}: " + f"{rows_of(self.source.rows)}.",
        )

    def _cautions(self) -> list[str]:
        remaining = [
            f"{name}: {sentence}"
            for name, compared in self._compared
            for sentence in remaining_error(compared)
        ]
        broken = [claim.sentence for claim in self.claims if claim.met is False]
        few = too_few_clusters(self.results[0][2].clusters)
        return [*broken, *remaining, *few, *self.uncorrected_tests()]

    def _advice(self) -> list[str]:
        """State which of two rules to use, if the difference is significant."""
        return [] if self.difference is None else self.difference.advice(self.names)

    def _notes(self) -> list[str]:
        named = self._compared
        sentences = (
            [f"{name}: {self._verdict(compared)}" for name, compared in named] if len(named) > 1 else []
        )
        lowest = [] if len(named) == 2 else lowest_brier(named, "evaluate two at a time to test it")
        untested = [] if self.difference is None or self._is_weighted else self.difference.notes()
        consistent = [claim.sentence for claim in self.claims if claim.met is not False]
        weighted = [WEIGHTED] if self._is_weighted else []
        return [
            *sentences,
            *weighted,
            *consistent,
            *untested,
            *lowest,
            *losses_without_interval(named),
            OWN_DATA_CAUTION,
        ]

    @property
    def _compared(self) -> list[tuple[str, Comparison]]:
        return [(name, measured.compared) for name, measured in self.named]

    @property
    def _is_weighted(self) -> bool:
        return self.parameters.sampling_weight is True

    def _verdict(self, compared: Comparison) -> str:
        """State how the log loss changes, and whether significantly."""
        if not self._is_weighted:
            return verdict(compared)
        change = value_of(compared.difference["log_loss"])
        changed = "is undefined" if change is None else f"changes by {change:+.4f}"
        return f"The log loss {changed}; with sampling weights, this is not tested."
