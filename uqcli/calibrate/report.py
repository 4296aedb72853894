"""Report of ``uqcli calibrate``."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import field, replace
from typing import Any

import msgspec
import numpy as np

from uqcli.base.choices import CalibrationMethod
from uqcli.base.counts import Floats, ValueCounts
from uqcli.base.notices import Notice
from uqcli.base.options import ResamplingOptions
from uqcli.base.records import dataclass
from uqcli.base.wording import ADD_NEGATIVES, ADD_POSITIVES, capitalised, count, probability, rows_of
from uqcli.bin.isotonic_error import cumulative
from uqcli.calibrate.fit import Choice
from uqcli.calibrate.maps import CalibrationMap
from uqcli.calibrate.maps.histogram import target_bound
from uqcli.calibrate.rule import CalibratorArtifact
from uqcli.comparison.figure import ReliabilityPanel, before_and_after_figure
from uqcli.comparison.report import (
    Comparison,
    class_table,
    comparison_card,
    comparison_table,
    is_worse,
    losses_without_interval,
    lowest_brier,
    meanings_table,
    ranked_table,
    remaining_error,
    too_few_clusters,
    value_of,
    verdict,
)
from uqcli.estimates.score_metrics import REVERSED, is_reversed
from uqcli.reports.document import Document, HeadCard, Metrics, OneResult, Table, Verdict, head_of, plain
from uqcli.rules.saved import Source, given
from uqcli.shift.rule import BinaryWeights


@dataclass(frozen=True, kw_only=True)
class CalibrateReport(OneResult):
    """A calibrator, and its metrics on rows that its fit did not use.

    Metrics are from a test set if ``tested``, else cross-validated; there are none with too few rows. Errors
    are ECE@j of one isotonic fit (IST) and of one fit per uncertainty bin (MIST), if there are such bins. If
    all methods were tried, ``methods`` has those that apply, by name, the best first, and ``obstacles`` why
    others do not. ``clusters`` counts those of the measured rows, if they depend on each other. ``choice`` is
    why the method was chosen, unless it was given or all were tried.
    """

    artifact: CalibratorArtifact
    resampling: ResamplingOptions
    tested: bool
    compared: Comparison | None
    panels: tuple[ReliabilityPanel, ...]
    notes: tuple[str, ...]
    errors: tuple[Floats, Floats] | None = None
    methods: tuple[tuple[str, Comparison], ...] = ()
    obstacles: Mapping[CalibrationMethod, str] = field(default_factory=dict)
    clusters: int | None = None
    choice: Choice | None = None

    @property
    def metrics(self) -> Metrics:
        """Metrics before, after, and after minus before."""
        clusters = {} if self.clusters is None else {"clusters": self.clusters}
        return {} if self.compared is None else {**self.compared.metrics(), **clusters}

    def payload(self) -> dict[str, Any]:
        """Return the JSON form."""
        replicates = self.resampling.bootstrap
        parameters = {
            **msgspec.to_builtins(self.artifact.parameters),
            "logit": self.artifact.logit,
            "undersampled": self.artifact.undersampled,
            "measured": "test" if self.tested else "cross-fitting",
            "bootstrap": replicates,
            "confidence": self.resampling.confidence if replicates else None,
        }
        payload: dict[str, Any] = {
            **head_of("calibrate", self.artifact.source, parameters),
            "metrics": plain(self.metrics),
            "calibration": msgspec.to_builtins(self.artifact.calibration),
            "notes": [*self._lead(), *self._cautions(), *self._notes()],
        }
        if self.compared is not None and self.compared.by_class:
            by_class = zip(self.artifact.class_names, self.compared.by_class, strict=True)
            payload["by_class"] = [
                {"class": name, "before": plain(before), "after": plain(after)}
                for name, (before, after) in by_class
            ]
        if self.choice is not None:
            payload["choice"] = [{**vars(tried), "method": str(tried.method)} for tried in self.choice.tried]
        if self.methods or self.obstacles:
            payload["results"] = [
                *({"method": method, "metrics": plain(tried.metrics())} for method, tried in self.methods),
                *({"method": str(m), "metrics": None, "obstacle": why} for m, why in self.obstacles.items()),
            ]
        if self.errors is not None:
            payload["ece_by_score_bin"] = {
                name: {"ece": _numbers(error), "cumulative": _numbers(cumulative(error))}
                for name, error in zip(("ist", "mist"), self.errors, strict=True)
            }
        return payload

    def document(self) -> Document:
        """Return the readable form."""
        method = self.artifact.method
        tables = [replace(table, detail=True) for table in self.artifact.tables()]
        if self.compared is not None:
            table = comparison_table(str(method) if self.methods else "", self.compared)
            by_class = (
                [class_table(self.artifact.class_names, self.compared)] if self.compared.by_class else []
            )
            tables = [replace(table, detail=bool(self.methods)), *by_class, *tables, meanings_table()]
        if self.methods:
            maps = [tried for tried in self.methods if tried[0] != CalibrationMethod.IDENTITY]
            tables.insert(0, ranked_table("", "method", maps))  # of which a row has the scores themselves
        if self.choice is not None and self.choice.tried:
            tables.append(_choice_table(self.choice))
        if self.errors is not None:
            tables.append(_errors_table(self.errors, self._where))
        return Document(
            title=self._title(),
            lead=self._lead() if self.compared is None else self._lead()[1:],
            tables=tables,
            cautions=self._cautions(),
            notes=self._notes(),
            next=self._next(),
            figures=[before_and_after_figure(self.panels)] if self.panels else [],
            card=None if self.compared is None else self._card(self.compared),
        )

    def _next(self) -> str:
        """Return the next command; none for a map that changes nothing, or that was found to hurt."""
        if self.methods:
            return "evaluate {rule} TEST.csv"
        hurts = self.compared is not None and is_worse(self.compared)
        is_needless = self.artifact.method is CalibrationMethod.IDENTITY
        return "" if hurts or is_needless else "apply {rule} NEW.csv -o calibrated.csv"

    @property
    def _where(self) -> str:
        return "on the test set" if self.tested else "(cross-validated)"

    def _title(self) -> str:
        if self.compared is not None:
            return self._verdict(self.compared)
        source = self.artifact.source
        return (
            f"Fitted {self.artifact.method} to {rows_of(source.rows)}{self._of_clusters()}; its "
            "effect was not measured."
        )

    def _of_clusters(self) -> str:
        return "" if self.clusters is None else f", in {count(self.clusters)} clusters"

    def _card(self, compared: Comparison) -> HeadCard:
        """Build the head of the page; the best of several methods is not tested."""
        rows = rows_of(self.artifact.source.rows)
        card = replace(
            comparison_card(self._title(), compared),
            subject=f"Fitted on {{inputs}}: {rows}; errors are of rows left out of the fit.",
        )
        return replace(card, verdict=Verdict(text="its lead is not tested")) if self.methods else card

    def _lead(self) -> list[str]:
        """State whether calibration helped; empty if not measured."""
        chosen = [] if self.choice is None else [self.choice.reason()]
        if self.compared is None:
            return chosen
        return list(dict.fromkeys([self._verdict(self.compared), *chosen]))

    def _cautions(self) -> list[Notice]:
        whose = f"{self.artifact.method}'s" if self.methods else "calibrated"
        is_mapped = self.artifact.method is not CalibrationMethod.IDENTITY  # else no map was found to help
        remaining = remaining_error(self.compared, whose) if self.compared and is_mapped else []
        one_class = of_one_class(self.artifact.source)
        remaining = [*self._reversed(), *remaining]
        cautions = [*remaining, *too_few_clusters(self.clusters), *self._certainty_cautions()]
        return [Notice("one-class", f"{': '.join(one_class)}."), *cautions] if one_class else cautions

    def _reversed(self) -> list[Notice]:
        """Caution that the score ranks the wrong way, by the counts that are saved."""
        saved = given(self.artifact.calibration_counts)
        if saved is None:
            return []
        counts = (np.array(numbers) for numbers in (saved.score, saved.count, saved.positives))
        value, count_, positives = counts
        reversed_ = is_reversed(ValueCounts(value=value, count=count_, positives=positives))
        return [Notice("reversed-score", REVERSED)] if reversed_ else []

    def _notes(self) -> list[str]:
        measured_on = "on the test set" if self.tested else "cross-validated"
        source = self.artifact.source
        positives = "" if source.positives is None else f", {count(source.positives)} positive"
        measured = [f"Calibration rows: {count(source.rows)}{positives}{self._of_clusters()}."]
        measured += [] if self.compared is None else [f"Metrics are {measured_on}."]
        not_applicable = [f"{method} does not apply: it {why}." for method, why in self.obstacles.items()]
        random_parts = self._random_parts()
        seed = (
            [f"The random seed ({self.artifact.parameters.seed}) affects {' and '.join(random_parts)}."]
            if random_parts
            else []
        )
        lowest = lowest_brier(self.methods, "evaluate both on a test set")
        tried = [*lowest, *losses_without_interval(self.methods)]
        others = [] if self.methods or self.artifact.class_names else ["--method all compares other methods."]
        return [*measured, *tried, *not_applicable, *self.notes, *others, *seed]

    def _random_parts(self) -> list[str]:
        measured = self.compared is not None
        return [
            *(["the folds"] if measured and not self.tested else []),
            *(["the intervals"] if measured and self.resampling.bootstrap else []),
            *(["the trees and their rows"] if self.artifact.parameters.features else []),
        ]

    def _verdict(self, compared: Comparison) -> str:
        """State whether calibration helped; the lead of the best of several methods is not tested."""
        if not self.tested and (one_class := of_one_class(self.artifact.source)):
            return f"{capitalised(one_class[0])}, so these rows do not show whether a map helps."
        if not self.methods:
            is_kept = self.artifact.method is CalibrationMethod.IDENTITY and self.choice is not None
            return self.choice.reason() if is_kept and self.choice else verdict(compared, self._where)
        return self._best(compared)

    def _best(self, compared: Comparison) -> str:
        """State which of several methods has the lowest log loss."""
        after, before = value_of(compared.after["log_loss"]), value_of(compared.before["log_loss"])
        if after is None or before is None:
            return "The methods cannot be ranked: the log loss is undefined."
        first = self.artifact.method
        if first is CalibrationMethod.IDENTITY:
            best = f", and the best map, {self.methods[1][0]}, no less" if len(self.methods) > 1 else ""
            return (
                f"No map lowers the log loss: the scores themselves have {before:.4f}{best}, so they stay as "
                "they are (method identity)."
            )
        if after >= before:
            return (
                f"No method lowers the log loss: the best, {first}, has {after:.4f}, and the scores "
                f"themselves have {before:.4f}."
            )
        return (
            f"{first} has the lowest log loss, {after:.4f} ({before:.4f} before), so it was chosen. Its "
            f"lead over {self.methods[1][0] if len(self.methods) > 1 else 'the scores'} was not tested."
        )

    def _certainty_cautions(self) -> list[Notice]:
        ends = [f"{end:g}" for end in (0, 1) if end in self.artifact.calibration.steps()]
        if not ends:
            return []
        methods = f"{'' if self.artifact.class_names else 'spline or '}venn-abers"
        exact = f"some probabilities are exactly {' or '.join(ends)}, which new data can contradict"
        return [Notice("certain-probabilities", f"{exact}: use --method {methods} to avoid them.")]


def of_one_class(source: Source) -> tuple[str, str] | None:
    """State that no row is positive, or that every row is, and what to do; None if rows have both labels."""
    if source.positives == 0:
        return "no row is positive", ADD_POSITIVES
    if source.positives == source.rows:
        return "every row is positive", ADD_NEGATIVES
    return None


def shift_notes(target: BinaryWeights | None, map_: CalibrationMap) -> list[str]:
    """Return the notes on the class prior correction, with the bound of [LS Theorem 4] for histograms."""
    if target is None:
        return []
    ratio = f"{target.positive / target.negative:.4g}"
    notes = [
        f"The odds are then multiplied by {ratio} for the target's class priors; metrics are of the source."
    ]
    norm = None if map_.largest_error is None else 2 * map_.largest_error
    return [*notes, *target_bound_notes([target.negative, target.positive], target.error, norm)]


def target_bound_notes(weights: Sequence[float], weight_error: float | None, norm: float | None) -> list[str]:
    """Return the note on the error bound of a histogram in the target data [LS Theorem 4]; empty without one.

    The norm is bounded in the source; other maps have none. The weights have an error if they have intervals.
    """
    if norm is None or weight_error is None:
        return []
    bound = target_bound(weights, norm, weight_error)
    if len(weights) == 2:
        within = f"each bin's probability is within {min(1.0, bound / 2):.3g} of the truth"
    else:
        within = f"the class probabilities of each bin are within {min(2.0, bound):.3g} of the truth (1-norm)"
    return [f"In the target, {within} if the weights are within their intervals (Theorem 4)."]


def log_loss_of(compared: Comparison | None) -> float:
    """Return the log loss after calibration, by which methods are ranked; infinite if unknown."""
    value = None if compared is None else value_of(compared.after["log_loss"])
    return np.inf if value is None else value


def _numbers(values: Floats) -> list[float | None]:
    return [None if np.isnan(value) else float(value) for value in values]


def _choice_table(choice: Choice) -> Table:
    rows = [
        (str(tried.method), f"{tried.log_loss:.4f}", f"{tried.excess:.2g}", f"{tried.error:.2g}")
        for tried in choice.tried
    ]
    header = ("method", "log loss", "above the lowest", "standard error")
    return Table(
        title="Cross-validated log loss, from the simplest method",
        header=header,
        rows=rows,
        left=1,
        detail=True,
    )


def _errors_table(errors: tuple[Floats, Floats], where: str) -> Table:
    columns = (*errors, *(cumulative(error) for error in errors))
    rows = [
        (str(number), *(probability(value) for value in line))
        for number, line in enumerate(zip(*map(_numbers, columns), strict=True), start=1)
    ]
    header = ("score bin", "IST", "MIST", "IST, from here up", "MIST, from here up")
    title = (
        f"Error by score bin, mean over uncertainty bins (ECE@j), {where}: one isotonic fit (IST) or one "
        "for each bin (MIST)"
    )
    return Table(title=title, header=header, rows=rows, left=0, detail=True)
