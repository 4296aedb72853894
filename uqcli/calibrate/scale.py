"""Score scales: probabilities or real numbers, corrected for undersampled negatives."""

from __future__ import annotations

import math
import sys

import numpy as np

from uqcli.base.blockwise import elementwise
from uqcli.base.counts import Floats
from uqcli.base.records import dataclass
from uqcli.base.single_precision import highest_alike, lowest_alike
from uqcli.estimates.linear_scaling import CLIP, log_odds
from uqcli.kernels.logistic import sigmoid
from uqcli.rules.expressions import Arithmetic, Constant, Expression, Function, clipped, let, minus
from uqcli.rules.expressions import sigmoid as sigmoid_expression

_LARGEST_PRODUCT = 1e300
"""Log-odds that are still far from an overflow; their probability is 0 or 1."""


@dataclass(frozen=True, kw_only=True)
class Scale:
    """Scale of scores.

    Attributes
    ----------
    real
        Whether scores are real numbers such as logits instead of probabilities.
    undersampled
        Each negative was kept in training with probability 1/undersampled; 1 if all were kept.
    """

    real: bool = False
    undersampled: float = 1.0

    def corrected(self, score: Floats) -> Floats:
        """Correct scores to the class priors before undersampling: the odds are divided by the factor.

        Closed form of the prior correction; 0 and 1 are fixed points.
        """
        if self.undersampled == 1:
            return score
        if self.real:
            return score - math.log(self.undersampled)
        return score / (score + self.undersampled * (1 - score))

    def ends_alike(self, corrected: Floats) -> tuple[Floats, Floats]:
        """Return the lowest and the highest corrected scores whose scores are the same 32-bit numbers."""
        score = corrected
        if self.undersampled != 1 and self.real:
            score = corrected + math.log(self.undersampled)
        elif self.undersampled != 1:
            odds = self.undersampled * corrected
            score = odds / (odds + 1 - corrected)
        low, high = self.corrected(lowest_alike(score)), self.corrected(highest_alike(score))
        return np.minimum(low, corrected), np.maximum(high, corrected)

    @staticmethod
    def in_target(probability: Floats, weights: tuple[float, float]) -> Floats:
        """Compute probabilities if negatives and positives are ``weights`` times as frequent [LS Prop. 1]."""
        negative, positive = weights
        hits = positive * probability
        return hits / (hits + negative * (1 - probability))

    def log_odds(self, corrected: Floats) -> Floats:
        """Compute the log-odds of corrected scores; probabilities are clipped."""
        return corrected if self.real else elementwise(log_odds, corrected)

    def exported_corrected(self, score: Expression) -> Expression:
        """Return the corrected score as an expression (see ``corrected``)."""
        if self.undersampled == 1:
            return score
        if self.real:
            return minus(score, Constant(math.log(self.undersampled)))
        failure = Arithmetic("*", Constant(self.undersampled), minus(Constant(1.0), score))
        return Arithmetic("/", score, Arithmetic("+", score, failure))

    def exported_log_odds(self, corrected: Expression) -> Expression:
        """Return the log-odds as an expression (see ``log_odds``)."""
        if self.real:
            return corrected
        return let(
            clipped(corrected, CLIP, 1 - CLIP),
            lambda score: minus(Function("ln", score), Function("ln", minus(Constant(1.0), score))),
            "clipped",
        )

    def exported_within(self, corrected: Expression, slopes: tuple[float, float]) -> Expression:
        """Return a score whose log-odds do not overflow, which some databases refuse.

        Beyond, the probability is 0 or 1 all the same.

        Parameters
        ----------
        slopes
            Slopes of its log-odds in real scores, far below 0 and far above.
        """
        below, above = (
            _LARGEST_PRODUCT / abs(slope) if abs(slope) > 1 else sys.float_info.max for slope in slopes
        )
        if not self.real or min(below, above) == sys.float_info.max:
            return corrected
        return clipped(corrected, -below, above)

    def exported_probability(self, corrected: Expression) -> Expression:
        """Return the probability as an expression (see ``probability``)."""
        return sigmoid_expression(corrected) if self.real else corrected

    @staticmethod
    def exported_in_target(probability: Expression, weights: tuple[float, float]) -> Expression:
        """Return the probability in the target data as an expression (see ``in_target``)."""
        negative, positive = weights

        def share(name: Expression) -> Expression:
            hits = Arithmetic("*", Constant(positive), name)
            failures = Arithmetic("*", Constant(negative), minus(Constant(1.0), name))
            return Arithmetic("/", hits, Arithmetic("+", hits, failures))

        return let(probability, share, "in_source")

    def probability(self, corrected: Floats) -> Floats:
        """Convert corrected scores to probabilities."""
        return sigmoid(corrected) if self.real else corrected
