"""Compare new rows without labels with the calibration rows of a boundary, and report it.

Tests and measures of drift say whether both are from one population.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from functools import cached_property
from typing import Any, Final

import numpy as np

from uqcli.base import defaults
from uqcli.base.counts import Bools, Floats, Ints, PooledScores, distinct_numbers
from uqcli.base.errors import Opt, UsageError, words
from uqcli.base.notices import Notice
from uqcli.base.records import dataclass
from uqcli.base.rows import Rows
from uqcli.base.wording import p_text, percent, range_of, rows_of
from uqcli.boundary.reference import SavedReference, counts_of_units, drift_cells, number_of_drift_cells
from uqcli.boundary.rule import BoundaryArtifact
from uqcli.boundary.rule_file import ZONES
from uqcli.calibrate.rule import CalibratorArtifact
from uqcli.engines.columns import key_named_by
from uqcli.engines.open import open_engine
from uqcli.engines.probabilities import outside as outside_of
from uqcli.engines.request import DataRequest
from uqcli.estimates.estimate import UNKNOWN, Estimate, interval
from uqcli.estimates.proportion import flagged_interval
from uqcli.kernels.units import UnitTable
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
from uqcli.rules.codec import load_kind
from uqcli.rules.labelled import source_of
from uqcli.rules.saved import Saved, Source, given
from uqcli.shift.mixture import MixtureTest, UnitCounts, Units, same_shares
from uqcli.shift.rule import load_shift, target_weights_of
from uqcli.watch.before_labels import expected_before_labels
from uqcli.watch.days import names_of_days
from uqcli.watch.options import WatchRequest

UNSEEN: Final = "This says what changed, not whether the rule is still right: only labels show the precision."


@dataclass(frozen=True, kw_only=True)
class UnlabelledReport(OneResult):
    """Rows without labels beside the calibration rows of their rule.

    ``explained`` are the fewest and most flagged rows that the rate on the calibration rows explains, if rows
    are independent; empty by days. ``usual`` is the flagged share of the calibration rows, and ``outside``
    the rows with a number outside their range. ``psi`` is the population stability index, and its mean at
    this size without drift. ``drift`` is the test that both have the same distribution, for one look.
    ``about_rows`` states what is taken as independent. ``expected`` are the rates to expect with a
    calibrator, None for the reason ``unexpected``.
    """

    source: Source
    parameters: Mapping[str, Any]
    rows: int
    selected: int
    explained: Sequence[int]
    usual: float
    outside: int
    psi: tuple[float, float]
    drift: MixtureTest
    about_rows: Sequence[str]
    expected: Mapping[str, Estimate | None]
    unexpected: str

    @property
    def listed(self) -> list[Metric]:
        """The index, the test, the flagged share, and what to expect with a calibrator."""
        low, high = [end / self.rows for end in self.explained] or (None, None)
        flagged = Estimate(value=self.selected / self.rows, low=low, high=high)
        return [
            Metric("rows", "", self.rows),
            Metric("psi", "stability index", self.psi[0], "{:.4f}".format),
            Metric("psi_without_drift", "", self.psi[1]),
            Metric("drift_p", "test of drift", self.drift.p_value, p_text),
            Metric("flagged", "flagged", flagged, lambda share: percent(share.value)),
            Metric("outside_range", "outside the range", self.outside / self.rows, percent),
            *(
                Metric(f"expected_{name}", f"{name} to expect" if rate else "", rate, interval)
                for name, rate in self.expected.items()
            ),
        ]

    @cached_property
    def _by_key(self) -> Mapping[str, Metric]:
        return {metric.key: metric for metric in self.listed}

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
        which_is = f" which is {'usual' if self._is_usual else 'unusual'}" if self.explained else ""
        return f"Without labels: {flagged},{which_is} beside {usual}."

    def _last_number(self) -> KeyNumber:
        """Return the precision to expect, or else the stability index."""
        expected = self.expected.get("precision") or UNKNOWN
        if expected.low is None:
            return self._by_key["psi"].number(form="{:.3g}".format)
        return self._by_key["expected_precision"].number(
            range_of(expected.low, expected.high), lambda rate: percent(rate.value)
        )

    @property
    def _is_usual(self) -> bool:
        return not self.explained or self.explained[0] <= self.selected <= self.explained[1]

    def _verdict(self) -> str:
        if self.drift.reason:
            return "Drift of the scores is not tested."
        drifts = self.drift.p_value is not None and self.drift.p_value <= 1 - self.parameters["confidence"]
        return "The scores are distributed differently (significant)." if drifts else "No significant drift."

    def _table(self) -> Table:
        usual = f"{percent(self.usual)}, without a range"
        if self.explained:
            usual = " to ".join(percent(end / self.rows) for end in self.explained)
        beside = {"flagged": usual, "psi": f"about {self.psi[1]:.4f}"}
        others = (metric for key, metric in self._by_key.items() if metric.label and key != "flagged")
        shown = [self._by_key["flagged"], *others]
        rows = [(metric.label, metric.cell(), beside.get(metric.key, "")) for metric in shown]
        header = ("", "new rows", "if like the calibration set")
        return Table(title="", header=header, rows=rows)

    def _cautions(self) -> list[Notice]:
        cautions = list[Notice]()
        if self.drift.reason:
            cautions.append(Notice("drift-untested", f"no test of drift: {self.drift.reason}."))
        if self.outside > 0.01 * self.rows:
            share = percent(self.outside / self.rows)
            outside = f"{share} of rows are outside the range of the calibration set."
            cautions.append(Notice("outside-range", outside))
        if not self._is_usual:
            unusual = "the calibration set does not explain the share of flagged rows."
            cautions.append(Notice("unusual-alerts", unusual))
        if self.unexpected:
            reason = f"no precision can be expected: {self.unexpected}."
            cautions.append(Notice("nothing-expected", reason))
        return cautions

    def _notes(self) -> list[str]:
        return [
            f"{percent(self.usual)} of the calibration set are flagged.",
            "The test of drift is for one look: repeated every night, it is significant by chance.",
            *self.about_rows,
        ]


class _Rows:
    """New rows beside the calibration rows of a rule, all of which are taken as independent."""

    column: str | None = None

    def __init__(self, rule: BoundaryArtifact, reference: SavedReference) -> None:
        self._rule, self._reference = rule, reference
        self._old = np.array(reference.count, dtype=np.int64)
        self.new = np.zeros_like(self._old)

    def of(self, data: DataRequest) -> DataRequest:
        """Return what is read."""
        return data

    def add(self, scored: Rows, places: tuple[Ints, Ints]) -> None:
        """Count rows by the cells of the reference."""
        np.add.at(self.new, places, scored.weights())  # an engine may pool equal rows

    def test(self, levels: Mapping[str, Mapping[str, int]]) -> MixtureTest:  # noqa: ARG002
        """Test whether new rows have the cell shares of the calibration rows; levels are codes of texts."""
        return MixtureTest(p_value=homogeneity(self._old.ravel(), self.new.ravel())[2])

    @property
    def psi(self) -> tuple[float, float]:
        """The population stability index, and its mean without drift."""
        return population_stability(self._old.ravel(), self.new.ravel())

    def explained(self, confidence: float) -> Sequence[int]:
        """Return the fewest and most flagged rows that the rate on the calibration rows explains."""
        return flagged_interval(*self._rule.fit.flagged, int(self.new.sum()), confidence)

    def notes(self, test: MixtureTest) -> list[str]:  # noqa: ARG002
        """State what is taken as independent."""
        return [
            "The test of drift and the range of flagged rows take rows as independent. Rows of one day "
            "seldom are: name the days with --day."
        ]


class _Days(_Rows):
    """New rows, which may depend on each other within the days of a column."""

    def __init__(self, rule: BoundaryArtifact, reference: SavedReference, day: str) -> None:
        super().__init__(rule, reference)
        self.column, self._day, self._by_day, self._with_rows = day, day, UnitTable(), set[int]()
        self._cells = drift_cells(len(rule.thresholds))

    def of(self, data: DataRequest) -> DataRequest:
        return replace(data, roles=replace(data.roles, keys=(*data.roles.keys, self._day)))

    def add(self, scored: Rows, places: tuple[Ints, Ints]) -> None:
        super().add(scored, places)
        self._by_day.add(scored.groups[self._day], self._cells[places], scored.weight)
        self._with_rows.update(distinct_numbers(scored.groups[self._day]).tolist())

    def test(self, levels: Mapping[str, Mapping[str, int]]) -> MixtureTest:
        """Test by the covariance between days.

        Without the days of the calibration rows nothing is known about the error of their shares.
        """
        texts, new = self._counts(levels[self._day])
        day, columns, between = self._day, self._rule.columns, given(self._reference.between)
        if day not in (columns.get("cluster"), columns.get("day")) or between is None:
            reason = f"how much its calibration rows vary between days is unknown; fit it with --day {day}"
            return MixtureTest(p_value=None, reason=reason)
        if texts != new.present and columns.get("cluster") == day:
            found = f"column '{day}' has {texts:,} texts on {new.present:,} days"
            return MixtureTest(p_value=None, reason=f"{found}, while its clusters are texts")
        old = np.zeros(new.shape[2], dtype=np.int64)
        np.add.at(old, self._cells, self._old)
        effective = given(between.effective)
        units = Units(number=between.units, effective=between.units if effective is None else effective)
        return same_shares(old, np.array(between.covariance), units, new)

    def _counts(self, levels: Mapping[str, int]) -> tuple[int, UnitCounts]:
        """Return the number of distinct texts of days with rows, and the rows by day and cell."""
        present = {text: code for text, code in levels.items() if code in self._with_rows}
        names = names_of_days(list(present), self._day)
        number = {name: index for index, name in enumerate(sorted(set(names.values())))}
        day_of = np.zeros(max(self._with_rows) + 1, dtype=np.int64)
        day_of[list(present.values())] = [number[names[text]] for text in present]
        cells = number_of_drift_cells(len(self._rule.thresholds))
        return len(present), counts_of_units(self._by_day.of(np.arange(len(day_of)), cells), day_of)

    def explained(self, confidence: float) -> Sequence[int]:  # noqa: ARG002
        return ()  # its rows would be independent

    def notes(self, test: MixtureTest) -> list[str]:
        tested = [] if test.reason else ["The test of drift takes the rows of a day as dependent."]
        return [
            *tested,
            "The share of flagged rows has no range, which would take rows as independent, as the index "
            "without drift does.",
        ]


def compare_unlabelled(request: WatchRequest, rule: Saved) -> UnlabelledReport:
    """Compare the counts, the flagged share and the ranges of new rows with those of the calibration rows.

    A rule without a reference is a UsageError.
    """
    if isinstance(rule, BoundaryArtifact) and rule.first.are_asked:
        raise UsageError(
            "rows without labels, and a rule of the first rows of each group, which flags as many of any",
            expected="a label column",
            remedy=words("name the label with --label"),
        )
    if not isinstance(rule, BoundaryArtifact) or (reference := given(rule.reference)) is None:
        raise UsageError(
            "rows without labels, and a rule without counts of its calibration rows",
            expected="a label column, or a boundary that was fitted on rows by this version",
            remedy=words("name the label with --label, or fit the rule again"),
        )
    day = request.days.day
    new = _Rows(rule, reference) if day is None else _Days(rule, reference, day)
    data = new.of(rule.as_decided(replace(request.data, roles=rule.reads(request.columns))))
    expectation = _Unexpected()
    if request.expectation.calibrator is not None:
        expectation = _Expectation(request.expectation.calibrator, rule, request.expectation.shift)
    batches = open_engine(data.engine).batches(data)
    edges = np.array(rule.uncertainty_edges, dtype=np.float64)
    flagged_before, rows_before = rule.fit.flagged
    selected = outside = 0
    with key_named_by(new.column, Opt("day")):
        for rows in batches:
            scored = rows.usable()
            weight = scored.weights()
            new.add(scored, reference.places(edges, scored.score, scored.uncertainty))
            flagged = rule.zones(scored) == ZONES.index("flag")
            selected += int(weight[flagged].sum())
            expectation.add(scored.score, flagged, weight)
            outside += int(weight[outside_of(scored, batches.roles, rule.ranges)].sum())
    drift = new.test(batches.levels)
    expected, unexpected = expectation.result(request.alarms.confidence)
    parameters = {"confidence": request.alarms.confidence, "on_invalid": data.on_invalid, "day": day}
    return UnlabelledReport(
        source=source_of(batches.summary),
        parameters={name: value for name, value in parameters.items() if value is not None},
        rows=int(new.new.sum()),
        selected=selected,
        explained=new.explained(request.alarms.confidence),
        usual=flagged_before / rows_before,
        outside=outside,
        psi=new.psi,
        drift=drift,
        about_rows=new.notes(drift),
        expected=expected,
        unexpected=unexpected,
    )


SEVERAL_THRESHOLDS: Final = "the rule decides by more than the score"


class _Unexpected:
    """Nothing is expected of new rows, since there is no calibrator."""

    def add(self, score: Floats, flagged: Bools, weight: Ints) -> None:
        """Count new rows, each as often as its weight."""

    def result(self, confidence: float) -> tuple[Mapping[str, Estimate | None], str]:  # noqa: ARG002
        """Return the rates to expect of the rows so far, and why they are unknown."""
        return {}, ""


class _Expectation(_Unexpected):
    """New rows by score, counted while they are read, beside the calibration rows of a calibrator.

    The calibrator must have calibration counts, and read the column of the score.
    """

    def __init__(self, path: str, rule: BoundaryArtifact, shift: str | None) -> None:
        calibrator = load_kind(path, CalibratorArtifact)
        counts = given(calibrator.calibration_counts)
        if counts is None:
            raise UsageError(
                f"'{path}' has no calibration counts by score",
                expected="a calibrator of scores that this version fitted",
                remedy="fit it again",
            )
        fitted_on, decided_by = calibrator.columns["score"], rule.columns.get("score")
        if fitted_on != decided_by:
            raise UsageError(
                f"'{path}' was fitted on column '{fitted_on}'",
                expected=f"column '{decided_by}'" if decided_by else "a rule of one score",
                remedy="fit a calibrator for this rule",
            )
        self._calibration = counts.counts
        positive = calibrator.parameters.positive
        self._refuted, self._weights = "", dict[str, Any]()
        if shift is not None:
            target = target_weights_of(load_shift(shift), positive)
            self._refuted = target.refuted
            self._weights = {"weights": (target.negative, target.positive), "weight_draws": target.draws}
        thresholds = set(rule.thresholds).union(*(group.thresholds for group in rule.group_rules.values()))
        self._has_one_threshold = len(thresholds) == 1
        self._flagged, self._everything = PooledScores(), PooledScores()

    def add(self, score: Floats, flagged: Bools, weight: Ints) -> None:
        """Count new rows, each as often as its weight."""
        self._flagged.add(score[flagged], weight[flagged])
        self._everything.add(score, weight)

    def result(self, confidence: float) -> tuple[Mapping[str, Estimate | None], str]:
        # the rate of a score is that of all rows with it; a rule that also looks at the uncertainty picks the
        # better ones of them, and a group has its own
        reason = self._refuted if self._has_one_threshold else SEVERAL_THRESHOLDS
        if reason:
            return {"precision": None, "recall": None}, reason
        found = expected_before_labels(
            self._calibration,
            self._flagged.counts(),
            self._everything.counts(),
            defaults.SEED,
            confidence,
            **self._weights,
        )
        return {"precision": found.precision, "recall": found.recall}, found.reason


def homogeneity(reference: Ints, new: Ints) -> tuple[float, int, float | None]:
    """Test whether two samples have the same shares of rows in each cell (Pearson's X^2).

    Cells without rows are ignored. Return the statistic, its degrees of freedom (cells with rows, less one),
    and the p-value, which is asymptotic, for single looks at one sample; it is None if fewer than two cells
    have rows, or a sample has none.

    Examples
    --------
    >>> statistic, degrees, p_value = homogeneity(np.array([50, 50]), np.array([60, 40]))
    >>> round(statistic, 3), degrees, round(p_value, 3)
    (2.02, 1, 0.155)
    """
    reference, new = np.ravel(reference), np.ravel(new)
    cells = reference + new
    present = cells > 0
    rows, degrees = (int(reference.sum()), int(new.sum())), int(present.sum()) - 1
    if degrees < 1 or 0 in rows:
        return 0.0, max(degrees, 0), None
    from scipy.special import chdtrc

    difference = reference[present] / rows[0] - new[present] / rows[1]
    scale = float(rows[0]) * rows[1] / cells[present]
    statistic = float((scale * difference**2).sum())
    return statistic, degrees, float(chdtrc(degrees, statistic))


_HALF = 0.5
"""Rows added to each cell, since an empty one would make the index infinite."""

_DEVIATIONS = 12
"""Standard deviations around the mean over which a binomial mean is summed."""

_MANY = 10_000
"""Mean number of rows in a cell from which the variance is accurate enough."""


def population_stability(reference: Ints, new: Ints) -> tuple[float, float]:
    """Compute the population stability index, with half a row added to each cell.

    Cells without rows are ignored, and there must be rows in both samples. Return the index, the sum of (p -
    q) ln(p / q) over the cells, and its mean for samples of these sizes from one population.

    Examples
    --------
    >>> index, without_drift = population_stability(np.array([500, 500]), np.array([600, 400]))
    >>> round(index, 4)
    0.0405
    """
    reference, new = np.ravel(reference), np.ravel(new)
    present = reference + new > 0
    reference, new = reference[present], new[present]
    shares = [_shares(counts) for counts in (reference, new)]
    value = float(((shares[0] - shares[1]) * np.log(shares[0] / shares[1])).sum())
    pooled = (reference + new) / (reference + new).sum()
    (p, log_p, p_log_p), (q, log_q, q_log_q) = (
        _binomial_means(int(counts.sum()), pooled) for counts in (reference, new)
    )
    expected = (p - q) * np.log(p / q) + p_log_p + q_log_q
    expected -= p * log_q + q * log_p
    return value, float(expected.sum())


def _shares(counts: Ints) -> Floats:
    shares: Floats = (counts + _HALF) / (counts.sum() + _HALF * len(counts))
    return shares


def _binomial_means(rows: int, probability: Floats) -> tuple[Floats, Floats, Floats]:
    """Compute means over binomial counts, with half a row added: of a cell's share p, of ln p, and of p ln p.

    The last two are less their values at the mean of p. They are exact for few rows in a cell; else they are
    from the variance.
    """
    total = rows + _HALF * len(probability)
    share = (rows * probability + _HALF) / total
    spread = rows * probability * (1 - probability) / total**2 / share**2  # squared relative deviation
    log, share_log = -spread / 2, share * spread / 2
    for cell in np.flatnonzero(rows * probability < _MANY).tolist():
        count, weight = _binomial(rows, float(probability[cell]))
        at = (count + _HALF) / total
        log[cell] = weight @ np.log(at / share[cell])
        share_log[cell] = weight @ (at * np.log(at / share[cell]))
    return share, log, share_log


def _binomial(rows: int, probability: float) -> tuple[Floats, Floats]:
    """Return counts around the mean, and their probabilities."""
    from scipy.special import gammaln

    if probability == 1:  # of a single cell
        return np.array([float(rows)]), np.ones(1)
    mean = rows * probability
    reach = _DEVIATIONS * (np.sqrt(mean) + 1)
    count = np.arange(max(0, int(mean - reach)), min(rows, int(mean + reach) + 1) + 1, dtype=np.float64)
    others = rows - count
    logarithm = count * np.log(probability) - gammaln(count + 1) - gammaln(others + 1)
    logarithm += others * np.log1p(-probability)
    weight = np.exp(logarithm - logarithm.max())
    return count, weight / weight.sum()
