"""Compare score columns on the same rows: ranking, losses, recall at usual precisions; and their report.

Differences have intervals from paired resamplings of rows. Those of means and of the AUC are studentised.
Those of the average precision and of the recall are percentiles. In simulations they covered 92 to 100 %
where 95 % are nominal, also without a difference, if each score flags 30 rows. With fewer they have none.
Which score ranks better is tested by the method of DeLong, for all scores together (Holm): the largest of
seven differences of equal scores has an interval without 0 in a tenth of files.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from functools import cached_property
from typing import Any, Final

import numpy as np

from uqcli.base import defaults
from uqcli.base.counts import Bools, Floats, Ints, ValueCounts
from uqcli.base.defaults import CONFIDENCE, SEED
from uqcli.base.draws import Purpose, generator, hashes
from uqcli.base.exact_numbers import percent_text
from uqcli.base.operating_system import quote
from uqcli.base.records import dataclass
from uqcli.base.rows import Rows
from uqcli.base.running.concurrency import parallel_map
from uqcli.base.running.messages import with_progress
from uqcli.base.wording import count, listed, p_text, percent, points, printable, probability, rows_of
from uqcli.boundary.permutation import Curve
from uqcli.boundary.run import MOST_PRECISIONS, usual_precisions
from uqcli.boundary.search.constraint import Constraint
from uqcli.engines.open import reusable_streams
from uqcli.estimates.drawn_pairs import interval_of
from uqcli.estimates.estimate import Estimate, ends_of
from uqcli.estimates.paired import PairedCounts
from uqcli.estimates.proportion import holm
from uqcli.estimates.resampling import MIN_CLASS_ROWS, percentile_interval
from uqcli.estimates.score_metrics import LOSSES, REVERSED, auc, average_precision, is_reversed, mean_loss
from uqcli.overview.columns import with_found_label
from uqcli.overview.options import OverviewRequest
from uqcli.reports.document import (
    Document,
    HeadCard,
    Metrics,
    OneResult,
    OnTerminal,
    Table,
    Verdict,
    head_of,
    plain,
)
from uqcli.rules.labelled import read_labelled, refuse_weightless
from uqcli.rules.result import Result
from uqcli.rules.saved import Source

_LABELS: Final = {
    "auc": "AUC",
    "average_precision": "average precision",
    "brier": "Brier score",
    "log_loss": "log loss",
}


@dataclass(frozen=True, kw_only=True)
class ScoresReport(OneResult):
    """Several scores of the same rows.

    Attributes
    ----------
    rows, positives
        By weight.
    resampled
        Rows that were resampled, by weight.
    scores
        Metrics of each score by its name; None for those that it has not.
    differences
        Those of each other score less those of the first, with paired intervals.
    auc_p
        P-value of equal AUC by the name of the other score; None with few rows of a class.
    turned
        Names of scores whose low values are more often positive than high ones.
    inputs
        Inputs, as a command takes them.
    """

    source: Source
    on_invalid: str
    positive: str | None
    rows: int
    positives: int
    resampled: int
    scores: Mapping[str, Mapping[str, float | None]]
    differences: Mapping[str, Mapping[str, Estimate]]
    auc_p: Mapping[str, float | None]
    turned: tuple[str, ...]
    inputs: str = "FILE"

    @property
    def metrics(self) -> Metrics:
        """Counts, the metrics of each score by its name, and the differences."""
        return {
            "rows": self.rows,
            "positives": self.positives,
            "scores": self.scores,
            "differences": {name: self._tested(name) for name in self.differences},
        }

    def _tested(self, other: str) -> dict[str, Estimate | float | None]:
        """Return the differences of a score, with the p-values of that of the AUC."""
        tests = {"auc_p": self.auc_p[other], "auc_p_adjusted": self._adjusted.get(other)}
        return {**self.differences[other], **tests}

    @cached_property
    def _adjusted(self) -> dict[str, float]:
        return holm({name: p_value for name, p_value in self.auc_p.items() if p_value is not None})

    def payload(self) -> dict[str, Any]:
        """Return the JSON form."""
        parameters = {
            "on_invalid": self.on_invalid,
            "positive": self.positive,
            "confidence": CONFIDENCE,
            "seed": SEED,
            "resampled": self.resampled,
        }
        return {
            **head_of("overview", self.source, parameters),
            "metrics": plain({"rows": self.rows, "positives": self.positives}),
            "scores": [{"name": name, "metrics": plain(metrics)} for name, metrics in self.scores.items()],
            "differences": [
                {"name": name, "against": self._first, "metrics": plain(self._tested(name))}
                for name in self.differences
            ],
            "notes": [self.sentence(), *self._about_turned(), *self._notes()],
        }

    def document(self) -> Document:
        """Return the readable form."""
        first = self.scores[self._first]
        tables: list[Table] = []
        for other, differences in self.differences.items():
            names = (printable(self._first, 20), printable(other, 20))
            for start, of_recall in (("metric", False), ("recall at precision", True)):
                rows = [
                    (
                        _LABELS.get(name) or percent_text(name.removeprefix("recall_at_")),
                        *(
                            (percent if of_recall else probability)(metrics[name])
                            for metrics in (first, self.scores[other])
                        ),
                        _points_text(differences[name]) if of_recall else _change_text(differences[name]),
                    )
                    for name in first
                    if (name not in _LABELS) is of_recall
                ]
                header = (start, *names, f"difference ({100 * CONFIDENCE:g} % interval)")
                tables += [Table(title="", header=header, rows=rows)] if rows else []
        title = self.sentence()
        return Document(
            title=title,
            lead=[
                f"Of {rows_of(self.rows)}, {count(self.positives)} are positive.",
                "Recall is that of one threshold on each score.",
                *self._about_turned(),
            ],
            tables=tables,
            notes=self._notes(),
            card=HeadCard(title=title.removesuffix("."), verdict=Verdict(text="compared on the same rows")),
            next=self._next(),
            terminal=OnTerminal(lines=24),
        )

    @property
    def _first(self) -> str:
        return next(iter(self.scores))

    @property
    def _named(self) -> tuple[str, str]:
        """Name the score to be spoken of, and whether it ranks "better" or "worse"; "" if neither is shown.

        It is the one with the largest gain of AUC, of those that rank better if any does.
        """
        gains = {name: metrics["auc"].value or 0.0 for name, metrics in self.differences.items()}
        shown = {name for name, p_value in self._adjusted.items() if p_value <= _LEVEL}
        better = [name for name in shown if gains[name] > 0]
        name = max(gains, key=lambda name: (name in better, gains[name]))
        return name, "" if name not in shown else "better" if name in better else "worse"

    def _about_turned(self) -> list[str]:
        """Note which scores rank the wrong way."""
        if not self.turned:
            return []
        names = listed([f"'{printable(name, 30)}'" for name in self.turned])
        return [f"Note: of {names}, {REVERSED}"]

    def _next(self) -> str:
        """Return the command that looks at the score that ranks better; empty if neither does."""
        name, how = self._named
        chosen = {"better": name, "worse": self._first}.get(how)
        return f"{self.inputs} --score {quote(chosen)}" if chosen else ""

    def sentence(self) -> str:
        """State which score ranks better, by the AUC."""
        name, how = self._named
        gain, tests = self.differences[name]["auc"], len(self._adjusted)
        p_value, shown = self._adjusted.get(name), printable(name, 30)
        against, change = printable(self._first, 30), _change_text(gain)
        if gain.value is None:
            return f"The rows of one class do not tell whether '{shown}' ranks better than '{against}'."
        if p_value is None:
            return (
                f"There are too few rows of a class to tell whether '{shown}' ranks better than '{against}' "
                f"(difference in AUC {change})."
            )
        tested = f"{p_text(p_value)}, adjusted for {tests} scores" if tests > 1 else p_text(p_value)
        if how:
            return f"'{shown}' ranks the rows {how} than '{against}' (difference in AUC {change}; {tested})."
        return (
            f"'{shown}' does not rank the rows significantly better or worse than '{against}' "
            f"(difference in AUC {change}; {tested})."
        )

    def _notes(self) -> list[str]:
        drawn = "" if self.resampled >= self.rows else f" of {count(self.resampled)} rows drawn at random"
        notes = [
            f"Intervals are from 200 paired resamplings{drawn}; seed {SEED}. Where none would hold, none is "
            "given.",
            "The recall is that of boundary --algorithm st, chosen on these rows.",
        ]
        if len(self.differences) > 1:
            notes.append(
                "The p-values are those of DeLong's test, adjusted for all scores (Holm). Each interval "
                "holds by itself; the best of several scores looks better than it is."
            )
        return notes


_LEVEL: Final = 0.05
"""Level at which a score is said to rank better or worse, for all scores together."""


def _change_text(estimate: Estimate) -> str:
    return "-" if estimate.value is None else f"{estimate.value:+.4f}{ends_of(estimate, '+.4f')}"


def _points_text(estimate: Estimate) -> str:
    return "-" if estimate.value is None else points(estimate.value, estimate.low, estimate.high)


RESAMPLINGS: Final = 200
MAX_RESAMPLED: Final = 200_000
"""Rows beyond which a random part of them is resampled, whose intervals are wider."""

_REACHED: Final = 0.95
"""Share of samples that reach a precision from which on it is not reached by luck."""

_MIN_ALERTS: Final = 30
"""Flagged rows of the best score below which a precision is not shown."""


def run_scores(request: OverviewRequest, scores: Sequence[str]) -> Result[ScoresReport, None]:
    """Put score columns side by side; the others are compared with the first.

    Raises
    ------
    UsageError, DataError
        The rows cannot be read.
    """
    roles = {"score": scores[0], **{f"score.{index}": name for index, name in enumerate(scores[1:], 2)}}
    with reusable_streams():
        data = with_found_label(request).data
        data = replace(data, roles=replace(data.roles, numbers=roles))
        read, source = read_labelled(data)
    rows = read.rows.pooled()
    refuse_weightless(rows.weight)
    counts = {role: rows.counts(rows.numbers[role]) for role in roles}
    total, positives = rows.size, int(counts["score"].positives.sum())
    curves = list(map(curve_of, counts.values()))
    reached = reached_bounds(usual_precisions(positives, total), curves)[-MOST_PRECISIONS:]
    metrics = {role: _metrics(of_score, reached) for role, of_score in counts.items()}
    resampled = _part(rows)
    others = list(roles.items())[1:]
    return Result(
        report=ScoresReport(
            source=source,
            on_invalid=data.on_invalid,
            positive=data.positive_value,
            rows=total,
            positives=positives,
            resampled=resampled.size,
            scores={name: metrics[role] for role, name in roles.items()},
            differences={
                name: _differences(metrics["score"], metrics[role], resampled, role, reached)
                for role, name in others
            },
            turned=tuple(name for role, name in roles.items() if is_reversed(counts[role])),
            auc_p={name: _paired(rows, role).delong_p_value() for role, name in others},
        ),
        artifact=None,
    )


def curve_of(counts: ValueCounts) -> Curve:
    """Return the curve of the alerts of each threshold, the highest first.

    The best point of it under a bound is that of ``boundary --algorithm st``.
    """
    return Curve.summed(counts.count[::-1], counts.positives[::-1], counts.amounts[..., ::-1])


def _metrics(counts: ValueCounts, bounds: Sequence[Constraint]) -> dict[str, float | None]:
    """Return the metrics of a score; losses only if it is a probability."""
    is_probability = counts.value[0] >= 0 and counts.value[-1] <= 1
    curve = curve_of(counts)
    recalls = {_name(bound): curve.recall(bound) or None for bound in bounds}  # a rule finds a positive
    return {
        "auc": auc(counts),
        "average_precision": average_precision(counts),
        **{name: mean_loss(counts, name).value if is_probability else None for name in LOSSES},
        **recalls,
    }


def _name(bound: Constraint) -> str:
    return f"recall_at_{bound.value}"


def _part(rows: Rows) -> Rows:
    """Return all rows, or a random part of too many, which depends on their content only."""
    if len(rows) <= MAX_RESAMPLED:
        return rows
    keys = hashes([*rows.numbers.values(), rows.labels], defaults.SEED, int(Purpose.SAMPLE))
    chosen = np.sort(np.argpartition(keys, MAX_RESAMPLED)[:MAX_RESAMPLED])
    return rows.select(chosen)


def _differences(
    first: Mapping[str, float | None],
    second: Mapping[str, float | None],
    rows: Rows,
    role: str,
    bounds: Sequence[Constraint],
) -> dict[str, Estimate]:
    """Return the differences of the metrics, second minus first, with their intervals."""
    paired = _paired(rows, role)
    intervals = paired_intervals(paired, bounds)
    of_part = [_metrics(counts, bounds) for counts in paired.sides]
    result = {}
    for name in second:
        value, in_part = _change(first[name], second[name]), _change(of_part[0][name], of_part[1][name])
        interval = intervals.get(name)
        if value is None or in_part is None or interval is None:
            result[name] = Estimate(value=value)
            continue
        moved = value - in_part  # the interval of a part of the rows is wide enough for the value of all
        result[name] = Estimate(value=value, low=interval[0] + moved, high=interval[1] + moved)
    return result


def _paired(rows: Rows, role: str) -> PairedCounts:
    return PairedCounts.from_predictions(rows.score, rows.numbers[role], rows.labels, rows.weight)


def _change(first: float | None, second: float | None) -> float | None:
    return None if first is None or second is None else second - first


def paired_intervals(
    paired: PairedCounts, bounds: Sequence[Constraint], *, seed: int = defaults.SEED
) -> dict[str, tuple[float, float] | None]:
    """Compute the 95 % intervals of the differences of two scores; those that would not hold are left out.

    A precision that few rows reach by luck has a recall by luck. Intervals of its difference contained the
    true one in 60 % of files, so a bound that samples do not reach either has none.
    """
    if paired.min_class_rows < MIN_CLASS_ROWS:
        return {}

    def draw(index: int) -> tuple[Mapping[str, Mapping[str, Estimate]], Floats, Bools]:
        sample = paired.resampled(generator(seed, Purpose.BOOTSTRAP, index))
        rates, alerts = zip(*(_rates(counts, bounds) for counts in sample.sides), strict=True)
        return sample.with_errors(), rates[1] - rates[0], np.maximum(*alerts) >= _MIN_ALERTS

    draws = with_progress(parallel_map(draw, range(RESAMPLINGS)), "resampling", RESAMPLINGS)
    metrics, rates, reached = zip(*draws, strict=True)
    by_chance = np.mean(reached, axis=0) < _REACHED
    estimates = paired.with_errors()
    intervals = {
        name: interval_of(
            name, "difference", estimates, metrics, (defaults.CONFIDENCE, paired.min_class_rows)
        )
        for name in estimates
    }
    names = ["average_precision", *map(_name, bounds)]
    for index, name in enumerate(names):
        intervals[name] = percentile_interval([of_draw[index] for of_draw in rates], defaults.CONFIDENCE)
    return intervals | {
        _name(bound): None for bound, is_chance in zip(bounds, by_chance, strict=True) if is_chance
    }


def reached_bounds(bounds: Sequence[Constraint], curves: Sequence[Curve]) -> list[Constraint]:
    """Return the bounds under which the best threshold of some score flags enough rows."""
    return [
        bound
        for bound in bounds
        if any(curve.alerts[curve.alerts_at(bound) or 0] >= _MIN_ALERTS for curve in curves)
    ]


def _rates(counts: ValueCounts, bounds: Sequence[Constraint]) -> tuple[Floats, Ints]:
    """Return the average precision, then the recall at each precision, and the rows that are flagged there.

    Where no threshold reaches a precision, it is 0, and none are flagged.
    """
    curve = curve_of(counts)
    at = np.array([curve.alerts_at(bound) or 0 for bound in bounds], dtype=np.int64)
    recalls = curve.hits[at] / int(curve.hits[-1])
    return np.append(average_precision(counts) or 0.0, recalls), curve.alerts[at]
