"""Precision and recall to expect of new rows before their labels arrive.

Labels of the calibration rows say how often rows of a score are positive. New rows of the same law have this
rate. The rate is an isotonic refit on the calibration counts, whatever map the calibrator has: a formula of
the wrong law covers too seldom. A change of P(positive | score) is invisible here; only labels show it.
"""

from __future__ import annotations

from typing import Final

import numpy as np
from numpy.typing import NDArray

from uqcli.base.counts import Floats, Ints, Matrix, ValueCounts
from uqcli.base.draws import Purpose, digest, generator
from uqcli.base.records import dataclass
from uqcli.estimates.estimate import Estimate
from uqcli.kernels.interpolation import interpolate
from uqcli.kernels.pava import isotonic_sums

REFITS: Final = 200
"""Refits on reweighted calibration rows."""

SPREAD: Final = 1.3
"""Factor on the spread of refits; without it, intervals at 95 % cover 92 % with 500 calibration rows."""

MIN_FLAGGED: Final = 50
"""Flagged calibration rows below which nothing is stated."""

MAX_OUTSIDE: Final = 0.01
"""Largest share of flagged rows outside the scores of the calibration rows."""

_NO_DRAWS: Final = np.empty((0, 2))


@dataclass(frozen=True, kw_only=True)
class BeforeLabels:
    """Precision and recall to expect of new rows; None, with the reason, if they cannot be stated.

    An end is None if the rates of the rows are all 0 or all 1.
    """

    precision: Estimate | None
    recall: Estimate | None
    reason: str


def expected_before_labels(
    calibration: ValueCounts,
    flagged: ValueCounts,
    everything: ValueCounts,
    seed: int,
    confidence: float,
    *,
    weights: tuple[float, float] | None = None,
    weight_draws: Matrix = _NO_DRAWS,
) -> BeforeLabels:
    """Estimate precision and recall of new rows from their scores.

    The intervals are of the rates that the labels of these rows will show. They include the error of the
    refit, by refits on Poisson(1)-weighted calibration rows, and the chance in the labels. There is at least
    one calibration row by score. Flagged rows are among all new rows, whose positives are not used.

    With label shift, the weights are those of the negative and the positive class in the new rows; without
    them both have the same law. Their draws have shape (D, 2), where negative values count as 0; None if the
    weights are known exactly. The weights may be estimated from the calibration rows. Their error then
    depends on that of the refit. The draws do not show how: the interval is wide enough for any dependence.
    Each refit takes one of the drawn weights. The draws do not depend on the refits, so intervals are
    somewhat narrow with few labelled rows.

    Calibration rows count as flagged from the lowest score of a flagged new row on. A rule with several
    thresholds flags fewer of them.
    """
    if reason := _reason(calibration, flagged):
        return BeforeLabels(precision=None, recall=None, reason=reason)
    refits = _Refits.of(calibration, seed)
    if weights is not None:
        refits = refits.in_target(weights, weight_draws)
    sums = refits.sums(flagged)
    return BeforeLabels(
        precision=_precision(sums, confidence),
        recall=_recall(sums, refits.sums(_without(everything, flagged)), confidence),
        reason="",
    )


def _reason(calibration: ValueCounts, flagged: ValueCounts) -> str:
    """Return why nothing can be stated; empty if it can."""
    if not flagged.rows:
        return "no row is flagged"
    rows = int(calibration.count[calibration.value >= flagged.value[0]].sum())
    if rows < MIN_FLAGGED:
        return f"fewer than {MIN_FLAGGED} calibration rows are flagged ({rows})"
    is_outside = (flagged.value < calibration.value[0]) | (flagged.value > calibration.value[-1])
    share = int(flagged.count[is_outside].sum()) / flagged.rows
    if share > MAX_OUTSIDE:
        return f"{share:.1%} of flagged rows are outside the scores of the calibration rows"
    return ""


def _columns(counts: ValueCounts) -> tuple[Floats, Ints, Ints]:
    return counts.value, counts.count, counts.positives


def _without(everything: ValueCounts, part: ValueCounts) -> ValueCounts:
    count = everything.count.copy()
    count[np.searchsorted(everything.value, part.value)] -= part.count
    present = count > 0
    return ValueCounts(
        value=everything.value[present],
        count=count[present],
        positives=np.zeros(int(present.sum()), dtype=np.int64),
    )


def isotonic_rates(score: Floats, count: Ints, positives: Ints) -> Floats:
    """Fit positive rates that do not fall with the score, one at each score; linear where ``count`` is 0."""
    present = np.flatnonzero(count)
    first, block_count, block_positives = isotonic_sums(positives[present], count[present])
    sizes = np.diff(first, append=len(present))
    rate = np.repeat(block_positives / block_count, sizes)
    return interpolate(score, score[present], rate)


@dataclass(frozen=True, kw_only=True)
class _Sums:
    """Sums over some new rows of the rate c: of the fit, and of each refit, shape (B,).

    The variance is the sum of c (1 - c), that of the number of positive rows. ``reweighted``, shape (D,), are
    sums of the fit under each draw of the class weights; one number if there are none.
    """

    rows: int
    expected: float
    variance: float
    refitted: Floats
    reweighted: Floats

    @property
    def complement(self) -> _Sums:
        """The same sums of 1 - c."""
        return _Sums(
            rows=self.rows,
            expected=self.rows - self.expected,
            variance=self.variance,
            refitted=self.rows - self.refitted,
            reweighted=self.rows - self.reweighted,
        )


@dataclass(frozen=True, kw_only=True)
class _Refits:
    """Rates at the m calibration scores: of the fit, and of each refit, shape (B, m).

    ``reweighted``, shape (D, m), are those of the fit under each draw of the class weights; one row, that of
    the fit, if there are none.
    """

    score: Floats
    rate: Floats
    refitted: Matrix
    reweighted: Matrix

    @classmethod
    def of(cls, calibration: ValueCounts, seed: int) -> _Refits:
        """Fit and refit; a row of weight w is w rows with a Poisson(1) weight each."""
        score, count, positives = _columns(calibration)
        key, refitted = digest(_columns(calibration)), np.empty((REFITS, len(score)))
        for refit in range(REFITS):
            random = generator(seed, Purpose.BOOTSTRAP, key, refit)
            drawn = random.poisson(np.stack([count - positives, positives]))
            if not drawn.any():
                drawn = np.stack([count - positives, positives])
            refitted[refit] = isotonic_rates(score, drawn.sum(axis=0), drawn[1])
        rate = isotonic_rates(score, count, positives)
        return cls(score=score, rate=rate, refitted=refitted, reweighted=rate[np.newaxis])

    def in_target(self, weights: tuple[float, float], draws: Matrix) -> _Refits:
        """Correct the rates at calibration scores for class weights."""
        drawn = np.maximum(draws, 0.0) if len(draws) else np.array([weights])
        drawn = drawn[drawn.sum(axis=1) > 0]
        return _Refits(
            score=self.score,
            rate=_in_target(self.rate, *weights),
            refitted=_in_target(self.refitted, *weights),
            reweighted=_in_target(self.reweighted, drawn[:, :1], drawn[:, 1:]),
        )

    def sums(self, rows: ValueCounts) -> _Sums:
        """Sum the rates over rows: linear between calibration scores, constant outside.

        Such a sum is one of the rates at the calibration scores, each times the mass of rows near it.
        """
        rate = interpolate(rows.value, self.score, self.rate)
        mass = self._mass(rows)
        return _Sums(
            rows=rows.rows,
            expected=float((rate * rows.count).sum()),
            variance=float((rate * (1 - rate) * rows.count).sum()),
            refitted=(self.refitted * mass).sum(axis=1),
            reweighted=(self.reweighted * mass).sum(axis=1),
        )

    def _mass(self, rows: ValueCounts) -> Floats:
        """Share each row between the calibration scores on its two sides; shape (m,)."""
        last = len(self.score) - 1
        above = np.minimum(np.searchsorted(self.score, rows.value, side="right"), last)
        below = np.maximum(above - 1, 0)
        gap = self.score[above] - self.score[below]
        to_above = np.divide(
            rows.value - self.score[below], gap, out=np.zeros(len(rows.value)), where=gap > 0
        ).clip(0.0, 1.0)
        masses = [
            np.bincount(index, rows.count * share, last + 1).astype(np.float64)
            for index, share in ((above, to_above), (below, 1 - to_above))
        ]
        return masses[0] + masses[1]


def _in_target(rate: NDArray[np.float64], negative: Floats | float, positive: Floats | float) -> Matrix:
    """Correct rates for class weights [LS Prop. 1]; a rate stays if its row has no weight."""
    hits, misses = positive * rate, negative * (1 - rate)
    total = hits + misses
    corrected: Matrix = np.divide(hits, total, out=np.broadcast_to(rate, total.shape).copy(), where=total > 0)
    return corrected


def _precision(flagged: _Sums, confidence: float) -> Estimate:
    """Compare positive with negative rows among the flagged ones."""
    negatives, value = flagged.complement, flagged.expected / flagged.rows
    if min(flagged.expected, negatives.expected) <= 0:
        return Estimate(value=value)
    chance = flagged.variance * (1 / flagged.expected + 1 / negatives.expected) ** 2
    return _interval(value, flagged, negatives, chance, confidence)


def _recall(flagged: _Sums, others: _Sums, confidence: float) -> Estimate:
    """Compare flagged with other positive rows, which are independent."""
    total = flagged.expected + others.expected
    value = flagged.expected / total if total > 0 else None
    if value is None or min(flagged.expected, others.expected) <= 0:
        return Estimate(value=value)
    chance = flagged.variance / flagged.expected**2 + others.variance / others.expected**2
    return _interval(value, flagged, others, chance, confidence)


def _interval(value: float, above: _Sums, below: _Sums, chance: float, confidence: float) -> Estimate:
    """Compute a t interval of ln(above / below), with the bias of the refits taken off; it has the value.

    Its spread is that of the refits and of the weights, whatever their dependence.
    """
    from scipy.special import expit, stdtrit

    fit = float(np.log(above.expected) - np.log(below.expected))
    refitted = _logs(above.refitted) - _logs(below.refitted)
    reweighted = _logs(above.reweighted) - _logs(below.reweighted)
    of_weights = float(reweighted.std(ddof=1)) if len(reweighted) > 1 else 0.0
    spread = SPREAD * (float(refitted.std(ddof=1)) + of_weights)
    centre = 2 * fit - float(refitted.mean())
    quantile = float(stdtrit(len(refitted) - 1, (1 + confidence) / 2))
    width = quantile * float(np.sqrt(spread**2 + chance))
    low, high = float(expit(centre - width)), float(expit(centre + width))
    return Estimate(value=value, low=min(value, low), high=max(value, high))


def _logs(sums: Floats) -> Floats:
    """Return logarithms of sums, kept half a row above 0, where they would be infinite."""
    logs: Floats = np.log(np.maximum(sums, 0.5))
    return logs
