"""Scores that the uncertainty raises before they are compared with a threshold (hr)."""

from __future__ import annotations

import math
from dataclasses import replace

from uqcli.base.counts import Floats
from uqcli.base.errors import DataError
from uqcli.base.rows import Rows
from uqcli.boundary.rule_part import Decider, Description, reached
from uqcli.boundary.rule_words import recalibration_in_words
from uqcli.boundary.search.algorithms import SavedRecalibration, recalibrated
from uqcli.rules.expressions import Arithmetic, Constant, Expression, clipped, let, minus
from uqcli.rules.saved import present


class RaisedScores(Decider):
    """How far the uncertainty raises the scores."""

    @property
    def _by(self) -> SavedRecalibration:
        return present(self.rule.recalibration)

    @property
    def needs_uncertainty(self) -> bool:
        return True

    def contradiction(self) -> str:
        numbers = (self._by.coefficient, self._by.low, self._by.high, self._by.high - self._by.low)
        return "" if all(map(math.isfinite, numbers)) else "its recalibration is not finite"

    def compared(self, rows: Rows) -> Floats:
        if rows.uncertainty is None:
            raise DataError("no uncertainty read", expected="a column that recalibrates the score")
        return recalibrated(rows.score, rows.uncertainty, self._by)

    def decision(self, score: Expression, uncertainty: Expression | None) -> Expression:
        raised, by, span = score, self._by, self._by.high - self._by.low
        if uncertainty and span != 0 and by.coefficient != 0:
            share = clipped(Arithmetic("/", minus(uncertainty, Constant(by.low)), Constant(span)), 0.0, 1.0)
            raised = Arithmetic("+", score, Arithmetic("*", Constant(by.coefficient), share))
        return let(raised, lambda raised: reached(raised, None, (), self.rule.thresholds), "raised")

    def describe(self, description: Description) -> Description:
        by = self._by
        return replace(description, on_scores=(recalibration_in_words(by.coefficient, by.low, by.high),))
