"""Calibration errors of a score whose rows depend on each other within clusters.

Null distributions are from random signs of clusters. If scores are calibrated, the residuals ``label -
score`` of a cluster have mean 0, however they depend on each other. To change the signs of a whole cluster
then changes neither their mean nor their covariance. Bins stay as they are.
"""

from __future__ import annotations

from dataclasses import replace
from functools import cached_property
from typing import Final

import numpy as np

from uqcli.base.choices import Binning
from uqcli.base.counts import Bools, Floats, Ints, ValueCounts, bin_of, pool, run_starts
from uqcli.base.draws import Purpose, generator, hashes
from uqcli.base.errors import UsageError, words
from uqcli.base.options import ResamplingOptions
from uqcli.base.records import dataclass
from uqcli.base.running.messages import with_progress
from uqcli.engines.open import CLUSTERED_SCORES, require_memory
from uqcli.engines.probabilities import require_probabilities
from uqcli.engines.request import DataRequest
from uqcli.estimates.binning import BINNING_RULES
from uqcli.estimates.paired import ClusteredPairs
from uqcli.estimates.resampling import MIN_CLASS_ROWS, studentised_interval
from uqcli.estimates.survey import effective_units
from uqcli.kernels.units import Numbers, dense_ranks, signed_ranges, sorted_in_units
from uqcli.rules.labelled import read_labelled
from uqcli.rules.saved import Source
from uqcli.tce.chance import (
    METRICS_WITH_INTERVALS,
    Interval,
    NullDistribution,
    SamplingDistribution,
    Undrawn,
    Values,
    key_of,
    null_distributions,
    nulls_of_scores,
    resamples,
)
from uqcli.tce.measure import Measured, measure
from uqcli.tce.options import MeasureOptions
from uqcli.tce.part_tests import (
    PartTest,
    Statistics,
    calibration_p_values,
    centred_log_odds,
    drawn_p_values,
    most_draws,
)

_MIN_CLUSTERS: Final = 100
_MIN_CLASS_CLUSTERS: Final = 50
"""Clusters below which signs have no valid level, and the number of equal ones that those with a positive and
with a negative row must count as: sums of few large clusters are too skewed."""

_MIN_TESTED: Final = 200
"""Clusters with a positive row, and with a negative one, below which random signs have no valid level.

With 60 to 300 clusters that hold a positive row they reject 6 to 13 % of calibrated scores at a level of 5 %.
"""

_DRAWN_TOGETHER: Final = 8
"""Draws of signs in one pass over the rows: those of a cluster are next to each other in memory."""

_OF_DRAWN_ROWS: Final = (
    "tce",
    "tce_q",
    "tce_v",
    "mce",
    "mce_q",
    "mcb",
    "dsc",
    "unc",
    "estimation_error",
    "within_bin_error",
)
"""Metrics of one row of each cluster."""

_SIGNED: Final = ("ece", "ace", "ecce")
"""Metrics of all rows whose null distribution is that of signs of clusters."""


@dataclass(frozen=True, kw_only=True)
class ClusteredScores:
    """Single rows by cluster, in an order that does not depend on the files.

    Attributes
    ----------
    cluster : int64, shape (n,)
        Key of each row's cluster, ascending.
    """

    cluster: Ints
    score: Floats
    positive: Bools
    source: Source

    @classmethod
    def read(cls, data: DataRequest) -> ClusteredScores:
        """Read the rows; a row of weight w is w rows.

        Raises
        ------
        UsageError, DataError
            Options of independent rows are given, a score is not a probability, or rows cannot be read.
        """
        if data.roles.class_columns is not None:
            raise UsageError(words("--cluster with --proba"), expected="one score")
        require_memory(data, CLUSTERED_SCORES)
        read, source = read_labelled(data)
        require_probabilities(read.rows.score, source.columns["score"])
        column = data.roles.cluster or ""
        keys, unit = dense_ranks(read.cluster_keys)
        unit, rows = unit[read.rows.groups[column]], read.rows
        # scores are not negative, so that their bits have their order; the last bit is the label
        row_key = (rows.score.view(np.int64) << 1) | rows.labels
        if rows.weight is not None:
            unit, row_key = (np.repeat(values, rows.weight) for values in (unit, row_key))
        ordered, starts = sorted_in_units(unit, len(keys), row_key)
        return cls(
            cluster=np.repeat(keys, np.diff(starts)),
            score=(ordered >> 1).view(np.float64),
            positive=(ordered & 1).astype(np.bool_),
            source=source,
        )

    @cached_property
    def counts(self) -> ValueCounts:
        """Counts of all rows."""
        return pool(self.score, self.positive, None)

    @cached_property
    def starts(self) -> Ints:
        """First row of each cluster."""
        return run_starts(self.cluster)

    def rows_with(self, *, positive: bool) -> Ints:
        """Return the number of positive, or negative, rows of each cluster that has some."""
        cluster = self.cluster[self.positive == positive]
        return np.diff(run_starts(cluster), append=len(cluster))

    def drawn(self, seed: int) -> ValueCounts:
        """Draw one row of each cluster, keyed by the text of the cluster."""
        key, start, size = (
            self.cluster[self.starts],
            self.starts,
            np.diff(self.starts, append=len(self.score)),
        )
        share = hashes([key], seed, Purpose.LABELS) >> np.uint64(11)
        place = (share.astype(np.float64) * 2.0**-53 * size).astype(np.int64)
        row = start + np.minimum(place, size - 1)
        return pool(self.score[row], self.positive[row], None)


def errors_of_clusters(
    scores: ClusteredScores,
    drawn: ValueCounts,
    of_drawn: Measured,
    options: MeasureOptions,
    plan: ResamplingOptions,
) -> tuple[Values, Undrawn, tuple[str, ...]]:
    """Measure calibration errors, and test them on clusters.

    Parameters
    ----------
    drawn, of_drawn
        One row of each cluster, and their errors.

    Returns
    -------
    The errors, their sampling distribution, and notes on what they are of.
    """
    counts = scores.counts
    of_all = measure(counts, replace(options, n_min=None, n_max=None))
    values = {**of_all.metrics, **{name: of_drawn.metrics[name] for name in _OF_DRAWN_ROWS}}
    clusters = drawn.rows
    classes = [effective_units(scores.rows_with(positive=label)) for label in (True, False)]
    signed = clusters >= _MIN_CLUSTERS and min(classes) >= _MIN_CLASS_CLUSTERS
    notes = [f"tce, mce, mcb, dsc, unc, the bins and within are of one row of each of {clusters:,} clusters."]
    chance = Undrawn()
    if plan.bootstrap:
        nulls = nulls_of_scores(drawn, of_drawn.metrics, options, plan, key_of(None))
        if signed:
            nulls |= _of_signs(scores, counts, options, plan)
        else:  # the errors are those of the rows that the p-values are of
            values |= {name: of_drawn.metrics[name] for name in _SIGNED}
            notes.append(
                f"The p-values of ece, ace and ecce are of one row of each cluster. Those of all rows need "
                f"{_MIN_CLUSTERS} clusters; those with a positive row must count as {_MIN_CLASS_CLUSTERS} of "
                "equal size, and so must those with a negative row."
            )
        chance = SamplingDistribution(intervals=_intervals(scores, plan), if_calibrated=nulls)
    return values, chance, tuple(notes)


def tested_clusters(
    scores: ClusteredScores, drawn: ValueCounts, key: tuple[int, ...], seed: int
) -> PartTest | None:
    """Test whether the scores are true probabilities, by random signs or by one row of each cluster.

    None with too few rows.
    """
    with_label = [len(scores.rows_with(positive=label)) for label in (True, False)]
    if min(with_label) < _MIN_TESTED:
        return calibration_p_values({0: drawn}, {0: key}, seed).get(0)
    found = Statistics.of(scores.counts)
    signs = _Signs.of(scores, found, key, seed)
    least = min(drawn_p_values(found, signs, most_draws(1)))
    if found.is_impossible:
        least = min(least, 1 / (most_draws(1) + 1))
    return PartTest(p_value=min(1.0, 2 * least), is_drawn=True)


@dataclass(frozen=True, kw_only=True, eq=False)
class _Signs:
    """Draws of the statistics of a part by random signs of its clusters; see ``Draws``.

    ``total`` and ``sloped`` are the residuals of each cluster, and those times log-odds less their mean,
    summed; shape (C,).
    """

    signed: SignedErrors
    total: Floats
    sloped: Floats
    found: Statistics
    key: tuple[int, ...]
    seed: int

    @classmethod
    def of(cls, scores: ClusteredScores, found: Statistics, key: tuple[int, ...], seed: int) -> _Signs:
        """Sum the residuals by cluster."""
        signed = SignedErrors.from_rows(scores.score, scores.positive, scores.cluster, {})
        position = centred_log_odds(scores.counts, np.sort(scores.score))
        total, sloped = np.zeros(signed.clusters), np.zeros(signed.clusters)
        np.add.at(total, signed.cluster, signed.residual)
        np.add.at(sloped, signed.cluster, signed.residual * position)
        return cls(signed=signed, total=total, sloped=sloped, found=found, key=key, seed=seed)

    def scores(self, block: int, size: int) -> Floats:
        """See Draws."""
        random = generator(self.seed, Purpose.CALIBRATED, *self.key, block)
        signs = (self.signed.signs(random) for _ in range(size))
        sums = [(float((sign * self.total).sum()), float((sign * self.sloped).sum())) for sign in signs]
        return np.array([self.found.score_of(*pair) for pair in sums])

    def ranges(self, block: int, size: int) -> Floats:
        """See Draws."""
        random = generator(self.seed, Purpose.CALIBRATED, *self.key, block)
        return self.signed.ranges(random, size)


def _of_signs(
    scores: ClusteredScores, counts: ValueCounts, options: MeasureOptions, plan: ResamplingOptions
) -> dict[str, NullDistribution]:
    sizes = replace(options, n_min=None, n_max=None).sizes
    edges = {
        "ece": BINNING_RULES[Binning.EQUISPACED].edges(counts, sizes),
        "ace": BINNING_RULES[Binning.QUANTILE].edges(counts, sizes),
    }
    signed = SignedErrors.from_rows(scores.score, scores.positive, scores.cluster, edges)
    draws = [
        signed.errors(generator(plan.seed, Purpose.LABELS, 1, replicate))
        for replicate in with_progress(range(plan.bootstrap), "drawing signs", plan.bootstrap)
    ]
    return null_distributions(signed.errors(), draws)


def _intervals(scores: ClusteredScores, plan: ResamplingOptions) -> dict[str, Interval]:
    """Compute intervals of the losses from resampled clusters; the line has none."""
    intervals: dict[str, Interval] = dict.fromkeys(METRICS_WITH_INTERVALS)
    weight = np.ones(len(scores.score), dtype=np.int64)
    ranked = ClusteredPairs.from_scores(scores.score, scores.score, scores.positive, weight, scores.cluster)
    pairs = ranked.unranked()  # without the AUC
    if pairs.min_class_rows < MIN_CLASS_ROWS:
        return intervals
    estimates = pairs.with_errors()
    draws = [
        pairs.resampled(generator(plan.seed, Purpose.BOOTSTRAP, 0, index)).with_errors()
        for index in range(resamples(plan))
    ]
    for name in ("brier", "log_loss"):
        resampled = [draw[name]["after"] for draw in draws]
        intervals[name] = studentised_interval(estimates[name]["after"], resampled, plan.confidence)
    return intervals


@dataclass(frozen=True, kw_only=True)
class SignedErrors:
    """Residuals of single rows, in ascending order of score.

    Attributes
    ----------
    residual : float64, shape (n,)
        ``label - score``.
    cluster : int32, shape (n,)
        Index of each row's cluster.
    bins : int64, shape (n,), by metric
        Bin of each row for the mean absolute error of bins.
    ends : int64, shape (v,)
        Last row of each distinct score.
    clusters
        Number of clusters.
    """

    residual: Floats
    cluster: Numbers
    bins: dict[str, Ints]
    ends: Ints
    clusters: int

    @classmethod
    def from_rows(
        cls, score: Floats, positive: Bools, cluster: Ints, edges: dict[str, Floats]
    ) -> SignedErrors:
        """Sort rows in the order of ``ClusteredScores``, of shape (n,), with edges of bins by metric."""
        starts = run_starts(cluster)
        index = np.repeat(np.arange(len(starts), dtype=np.int32), np.diff(starts, append=len(cluster)))
        order = np.argsort(score, kind="stable")  # equal scores stay in the order of clusters and labels
        ordered = score[order]
        return cls(
            residual=positive[order] - ordered,
            cluster=index[order],
            bins={name: bin_of(ordered, edge) for name, edge in edges.items()},
            ends=np.append(run_starts(ordered)[1:], len(ordered)) - 1,
            clusters=len(starts),
        )

    def signs(self, random: np.random.Generator) -> Floats:
        """Draw a sign of each cluster; shape (C,)."""
        return 2.0 * random.integers(0, 2, self.clusters).astype(np.float64) - 1.0

    def errors(self, random: np.random.Generator | None = None) -> dict[str, float]:
        """Compute the errors with a random sign of each cluster, or as they are; ``ecce`` needs no bins."""
        signs = np.ones(self.clusters) if random is None else self.signs(random)
        rows = len(self.residual)
        errors = {}
        if self.bins:
            residual = self.residual * signs[self.cluster]
            errors = {
                name: float(np.abs(np.bincount(index, weights=residual)).sum()) / rows
                for name, index in self.bins.items()
            }
        ranges = signed_ranges(self.residual, self.cluster, signs.astype(np.int8)[:, None], self.ends)
        return {**errors, "ecce": float(ranges[0]) / rows}

    def ranges(self, random: np.random.Generator, draws: int) -> Floats:
        """Draw the range of the running sum with random signs, as ``errors`` times the rows; (draws,)."""
        ranges, rows = np.empty(draws), len(self.residual)
        for first in range(0, draws, _DRAWN_TOGETHER):
            together = range(first, min(first + _DRAWN_TOGETHER, draws))
            signs = np.stack([self.signs(random).astype(np.int8) for _ in together], axis=1)
            ranges[first : together.stop] = signed_ranges(self.residual, self.cluster, signs, self.ends)
        return ranges / rows * rows
