"""Kind ``shift``: class weights, the ratio of target to source priors, and metrics in target data by them."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import field
from functools import partial
from typing import Annotated

import msgspec
import numpy as np
from msgspec import Meta

from uqcli.base.choices import ConfusionForm, OnInvalid, ShiftEstimator
from uqcli.base.counts import Floats, Ints, Matrix
from uqcli.base.errors import ArtifactError, UsageError, words
from uqcli.base.records import dataclass
from uqcli.base.wording import p_text, printable
from uqcli.engines.probabilities import BINARY
from uqcli.engines.protocol import AddedColumns
from uqcli.engines.request import Roles
from uqcli.estimates.estimate import Estimate, ends_of, interval
from uqcli.estimates.proportion import holm
from uqcli.reports.document import Document, Metrics, MetricValue, Table
from uqcli.rules.codec import load_kind
from uqcli.rules.columns import NewColumns
from uqcli.rules.result import inherit_doubts
from uqcli.rules.saved import Count, Saved, are_weights, columns_of_classes, given
from uqcli.shift.mixture import MIXTURE_LEVEL

_MAX_ROWS = 60


class ShiftParameters(msgspec.Struct, frozen=True, kw_only=True):
    """Options of class weights."""

    estimator: ShiftEstimator
    confusion: ConfusionForm | None
    prior: list[float] | None
    bootstrap: Count
    confidence: float | None
    seed: Count | None
    on_invalid: OnInvalid
    positive: str | None
    day: str | msgspec.UnsetType = msgspec.UNSET
    cluster: str | msgspec.UnsetType = msgspec.UNSET


class ShiftArtifact(Saved, frozen=True, kw_only=True):
    """Class weights under label shift: w = q/p, target prior over source prior.

    Each row of ``draws`` has the weights of one draw of source and target, neither clipped nor normalised.
    Intervals on the target data use these draws. ``mixture_p`` is of the test whether the target is a mixture
    of the classes at all; null if it has no answer, and absent from older files.
    """

    parameters: ShiftParameters
    estimator: ShiftEstimator
    classes: Annotated[list[str], Meta(min_length=2)]
    weights: Annotated[list[Annotated[float, Meta(ge=0)]], Meta(min_length=2)]
    source_prior: list[float]
    target_prior: list[float]
    interval: list[list[float]] | None
    shift_p: Annotated[float, Meta(ge=0, le=1)] | None
    mixture_p: Annotated[float, Meta(ge=0, le=1)] | msgspec.UnsetType | None = msgspec.UNSET
    draws: list[list[float]] | None = None
    target_interval: list[list[float]] | None = None

    @property
    def refuted(self) -> str:
        """Why nothing about the target data is promised with these weights; empty if it is."""
        p_value = given(self.mixture_p)
        if p_value is None or p_value >= MIXTURE_LEVEL:
            return ""
        tested = f"the new rows are not a mixture of the labelled classes ({p_text(p_value)})"
        return f"{tested}, so more than class priors changed"

    @property
    def weight_error(self) -> float | None:
        """Largest distance of a weight from the ends of its interval; None without intervals."""
        if self.interval is None:
            return None
        weights = zip(self.weights, self.interval, strict=True)
        return max(max(weight - low, high - weight) for weight, (low, high) in weights)

    def contradiction(self) -> str:
        """See Saved."""
        priors, classes = (self.source_prior, self.target_prior), self.classes
        sizes = {len(classes), len(self.weights), *map(len, priors)}
        if len(sizes) > 1 or len(set(classes)) < len(classes):
            return "it does not have a weight and priors for each class"
        numbers = [*self.weights, *self.source_prior, *self.target_prior]
        if not all(map(math.isfinite, numbers)) or min(numbers) < 0 or not are_weights(self.weights):
            return "its weights and priors are not finite, or all 0"
        if any(abs(sum(prior) - 1) > 1e-6 for prior in priors):
            return "its priors do not add up to 1"
        products = zip(self.weights, self.source_prior, self.target_prior, strict=True)
        if any(abs(weight * source - target) > 1e-9 for weight, source, target in products):
            return "its weights are not the ratios of its priors"
        for intervals in (self.interval, self.target_interval):
            if intervals is not None and (
                len(intervals) != len(classes) or any(len(bounds) != 2 for bounds in intervals)
            ):
                return "it does not have an interval for each class"
        return self._in_draws() or columns_of_classes(self.columns, classes)

    def _in_draws(self) -> str:
        classes = len(self.classes)
        fine = all(len(draw) == classes and all(map(math.isfinite, draw)) for draw in self.draws or ())
        return "" if fine else "a draw is not a finite weight for each class"

    def weights_for(self, classes: Sequence[str]) -> list[float]:
        """Return the class weights in a given class order; refuse other classes."""
        by_class = dict(zip(self.classes, self.weights, strict=True))
        if set(by_class) != set(classes):
            raise UsageError(
                f"class weights are of classes {', '.join(self.classes[:12])}",
                expected=f"weights of {', '.join(list(classes)[:12])}",
            )
        return [by_class[name] for name in classes]

    def draws_for(self, classes: Sequence[str]) -> Matrix:
        """Return the drawn class weights in a given class order, shape (B, C); B may be 0."""
        columns = [self.classes.index(name) for name in classes]
        return np.array(self.draws or np.empty((0, len(self.classes))))[:, columns]

    def adds(self, roles: Roles, new_columns: NewColumns) -> AddedColumns:
        """See Saved: nothing."""
        del roles, new_columns
        raise ArtifactError(
            "class weights are not applied to rows",
            expected="a rule file of kind boundary, calibrator, conformal or grid",
            remedy=words("give them to conformal with --shift"),
        )

    def target_shares(self) -> list[Estimate]:
        """Return the prior of each class in the target data, with its interval if known."""
        intervals: Sequence[Sequence[float | None]] = self.target_interval or [(None, None)] * len(
            self.classes
        )
        priors_with_intervals = zip(self.target_prior, intervals, strict=True)
        return [Estimate(value=share, low=low, high=high) for share, (low, high) in priors_with_intervals]

    def estimates(self) -> dict[str, MetricValue]:
        """Return the weight of each class, with its interval if known."""
        classes_with_weights = zip(self.classes, self.weights, strict=True)
        if self.interval is None:
            return dict(classes_with_weights)
        return {
            name: Estimate(value=weight, low=low, high=high)
            for (name, weight), (low, high) in zip(classes_with_weights, self.interval, strict=True)
        }

    def p_values(self) -> dict[str, float]:
        """Compute the p-value of each weight being 1, adjusted for all classes (Holm).

        Empty without intervals.
        The distance from 1 is measured by the end of the interval towards 1, whose distance from the weight
        is that of the confidence. A weight outside its own interval has 1.
        """
        from scipy.special import ndtr, ndtri

        confidence = self.parameters.confidence
        if self.interval is None or confidence is None:
            return {}
        quantile, p_values = float(ndtri((1 + confidence) / 2)), {}
        for name, weight, (low, high) in zip(self.classes, self.weights, self.interval, strict=True):
            distance, reach = abs(weight - 1), weight - low if weight > 1 else high - weight
            if not low <= weight <= high or distance == 0:
                p_values[name] = 1.0
            else:
                p_values[name] = 2 * float(ndtr(-quantile * distance / reach)) if reach else 0.0
        return holm(p_values)

    def metrics(self) -> Metrics:
        """See Saved: the weights."""
        tested = {} if isinstance(self.mixture_p, msgspec.UnsetType) else {"mixture_p": self.mixture_p}
        return {"shift_p": self.shift_p, **tested, "weights": self.estimates()}

    def document(self) -> Document:
        """See Saved."""
        title = f"Class weights ({self.estimator})"
        return Document(title=title, tables=[self.table()], notes=[f"{self.made_from()}."])

    def table(self, source_shares: Sequence[Estimate] | None = None) -> Table:
        """Tabulate the weights, one line per class, with intervals of source priors if known."""
        rows = []
        priors = [f"{share:.4f}" for share in self.source_prior]
        shares = priors if source_shares is None else [interval(share) for share in source_shares]
        columns = zip(shares, self.target_shares(), self.estimates().items(), strict=True)
        for source, target, (name, weight) in columns:
            assert not isinstance(weight, Mapping)  # no group of metrics
            known = weight if isinstance(weight, Estimate) else Estimate(value=weight)
            text = f"{known.value:.4f}{ends_of(known, '.4f')}"
            rows.append((printable(name), source, interval(target), text))
        header = ("class", "source prior", "target prior", "weight")
        return Table(title="", header=header, rows=rows[:_MAX_ROWS])


SavedShift = str
"""Name of class weights."""


def load_shift(name: str) -> ShiftArtifact:
    """Load class weights by their name."""
    loaded = load_kind(name, ShiftArtifact)
    inherit_doubts(loaded)
    return loaded


def target_weights_of(shift: ShiftArtifact, positive: str | None) -> BinaryWeights:
    """Return the weights of the positive and the other class.

    ``positive`` is the text of the positive label, or None for 0/1. Raises UsageError if the weights are for
    other classes.
    """
    positive_class = BINARY[1] if tuple(shift.classes) == BINARY else positive
    if len(shift.classes) != 2 or positive_class not in shift.classes:
        raise UsageError(
            f"class weights are of {', '.join(shift.classes[:12])}",
            expected="weights of two classes, 0 and 1 or with the positive label among them",
        )
    positive_index = shift.classes.index(positive_class)
    return BinaryWeights(
        positive=shift.weights[positive_index],
        negative=shift.weights[1 - positive_index],
        refuted=shift.refuted,
        error=shift.weight_error,
        draws=shift.draws_for([shift.classes[1 - positive_index], positive_class]),
    )


DRAWS = 2000
"""Minimum number of pairs of drawn weights and drawn rates for an interval."""


@dataclass(frozen=True, kw_only=True)
class BinaryWeights:
    """Class weights of target data for two classes: w = q/p.

    ``refuted`` says why nothing about the target data can be stated with them; empty if nothing is against
    it. ``error`` is the largest distance of a weight from the ends of its interval; None without intervals.
    ``draws``, shape (B, 2), are bootstrap draws of the weights of negatives and positives, if any.
    """

    positive: float
    negative: float
    refuted: str = ""
    error: float | None = None
    draws: Matrix = field(default_factory=partial(np.empty, (0, 2)))

    def precision(self, source_precision: float | None) -> float | None:
        """Convert the precision of a selection in the source data to that in the target data.

        None if there is none, or if the weights are refuted.
        """
        if source_precision is None or self.refuted:
            return None
        hits, misses = self.positive * source_precision, self.negative * (1 - source_precision)
        return hits / (hits + misses) if hits + misses else None


def precision_interval(
    weights: Matrix, true_positives: int, false_positives: int, confidence: float, random: np.random.Generator
) -> tuple[float, float]:
    """Compute the interval of the precision if negatives and positives are w times as frequent.

    The ends of the exact interval of the precision among the selected rows are percentiles of two Beta
    distributions. Draws from these are transformed to the target by drawn weights, shape (B, 2), of which
    negative values count as 0; the interval is exact if the weights are.
    """
    if true_positives + false_positives == 0:
        return 0.0, 1.0
    repeats = -(-DRAWS // len(weights))
    negative, positive = np.repeat(np.maximum(weights, 0.0), repeats, axis=0).T
    low = np.zeros(len(positive))
    if true_positives:
        low = _in_target(random.beta(true_positives, false_positives + 1, len(low)), negative, positive)
    high = np.ones(len(positive))
    if false_positives:
        high = _in_target(random.beta(true_positives + 1, false_positives, len(high)), negative, positive)
    tail = (1 - confidence) / 2
    return float(np.quantile(low, tail, method="lower")), float(np.quantile(high, 1 - tail, method="higher"))


def _in_target(share: Floats, negative: Floats, positive: Floats) -> Floats:
    hits, misses = positive * share, negative * (1 - share)
    rows = hits + misses
    result: Floats = np.divide(hits, rows, out=np.zeros(len(share)), where=rows > 0)
    return result


def coverage_draws(weights: Matrix, rows: Ints, covered: Ints, random: np.random.Generator) -> Floats:
    """Draw the coverage if classes are w times as frequent as among the rows.

    Draws of the class weights have shape (B, C), and negative values count as 0; the rows of each class, and
    those covered by their prediction sets, have shape (C,). Class priors are drawn by resampling rows,
    coverages from Beta(c + 1/2, n - c + 1/2). There is one for each of at least 2000 draws with a positive
    total weight.
    """
    repeats = -(-DRAWS // len(weights))
    draws = np.repeat(np.maximum(weights, 0.0), repeats, axis=0)
    mass = draws * random.multinomial(int(rows.sum()), rows / rows.sum(), len(draws))
    rates = random.beta(covered + 0.5, rows - covered + 0.5, mass.shape)
    total = mass.sum(axis=1)
    present = total > 0
    coverage: Floats = (mass * rates).sum(axis=1)[present] / total[present]
    return coverage


def percentiles(values: Floats, confidence: float) -> tuple[float, float] | None:
    """Compute the central percentile interval of values; None without values."""
    if len(values) == 0:
        return None
    tail = (1 - confidence) / 2
    low = float(np.quantile(values, tail, method="lower"))
    return low, float(np.quantile(values, 1 - tail, method="higher"))
