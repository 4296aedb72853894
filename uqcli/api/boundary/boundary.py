"""Find decision boundaries from arrays."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, ClassVar, Literal

import numpy as np

from uqcli import defaults
from uqcli.api.columns import Column, Labelled
from uqcli.api.decimals import Decimal, decimal_text
from uqcli.api.fitted import Evaluation, Fitted
from uqcli.api.options import choice
from uqcli.api.shift.weights import Shift, shift_artifact
from uqcli.artifacts.boundary import BoundaryArtifact, Fit
from uqcli.choices import Algorithm, AlgorithmChoice, Binning
from uqcli.counts import Bools, Floats
from uqcli.jobs.boundary.request import BoundaryRequest, GridRequest
from uqcli.jobs.boundary.run import run
from uqcli.methods.boundary.constraint import constraint_from, with_margin
from uqcli.reports.boundary.comparison import UncertaintyComparison


@dataclass(frozen=True, kw_only=True, repr=False)
class Boundary(Fitted[BoundaryArtifact]):
    """Decision boundary: a row is flagged iff its score reaches the threshold of its uncertainty bin.

    Attributes
    ----------
    compared
        Whether the uncertainty improves the decisions, if ``compare`` was set.
    """

    compared: UncertaintyComparison | None = None

    _saved_as: ClassVar[type[Any]] = BoundaryArtifact

    @property
    def algorithm(self) -> Algorithm:
        """Algorithm that found it."""
        return self.artifact.algorithm

    @property
    def uncertainty_edges(self) -> Floats:
        """Edges of the uncertainty bins; float64, shape (K-1,)."""
        return np.array(self.artifact.uncertainty_edges, dtype=np.float64)

    @property
    def thresholds(self) -> tuple[float | None, ...]:
        """Threshold per uncertainty bin: None never flags, the lowest finite double always flags."""
        return tuple(self.artifact.thresholds)

    @property
    def fit(self) -> Fit:
        """Counts, precision and recall on the calibration set, by weight."""
        return self.artifact.fit

    def decide(self, score: Column, uncertainty: Column | None = None) -> Bools:
        """Decide which rows of new data are flagged.

        Parameters
        ----------
        score, uncertainty : finite numbers, shape (n,)
            Uncertainty is required if the boundary uses it.

        Returns
        -------
        bool, shape (n,)

        Raises
        ------
        DataError
            A value is not finite, or uncertainty is missing.
        """
        return self._added(self._input_columns(score, uncertainty))["decision"].astype(np.bool_)

    def evaluate(
        self,
        score: Column,
        label: Column,
        *,
        uncertainty: Column | None = None,
        weight: Column | None = None,
        by: Column | None = None,
        shift: Shift | None = None,
        confidence: float = defaults.CONFIDENCE,
        seed: int = defaults.SEED,
    ) -> Evaluation:
        """Measure precision, recall and false-positive rate on a test set, and test the target.

        Same as ``uqcli evaluate``.

        Parameters
        ----------
        score, uncertainty : finite numbers, shape (n,)
        label : 0 and 1, or bool, shape (n,)
        weight : non-negative integers, shape (n,), optional
            Multiplicity of each row.
        by : texts or integers, shape (n,), optional
            Groups to measure and test separately; see ``Evaluation.groups``.
        shift
            Class weights of target data, to measure the precision there also.

        Raises
        ------
        UsageError, DataError
            An option or a value is out of range.
        """
        return self._measured(
            self._input_columns(score, uncertainty),
            label,
            weight,
            by,
            shift=None if shift is None else shift_artifact(shift),
            confidence=confidence,
            seed=seed,
        )


def find_boundary(
    score: Column,
    label: Column,
    *,
    uncertainty: Column | None = None,
    weight: Column | None = None,
    precision: Decimal | None = None,
    recall: Decimal | None = None,
    max_selected: Decimal | None = None,
    max_fpr: Decimal | None = None,
    gain: Decimal | None = None,
    cost: Decimal | None = None,
    algorithm: AlgorithmChoice | str | None = None,
    binning: Binning | str | None = None,
    uncertainty_bins: int | Literal["auto"] | None = None,
    score_bins: int | Literal["all"] = defaults.SCORE_BINS,
    shift: Shift | None = None,
    certify: Decimal | None = None,
    margin: Decimal | None = None,
    compare: bool = False,
    seed: int = defaults.SEED,
) -> Boundary:
    """Find the best decision boundary on score x uncertainty under a constraint [UB sec. 5].

    Same as ``uqcli boundary``. Give exactly one constraint: ``precision``, ``recall``, ``max_selected``
    (rows, or a share such as ``"5%"``), ``max_fpr``, or ``gain`` and ``cost``.

    Parameters
    ----------
    score, uncertainty : finite numbers, shape (n,)
        Without uncertainty there is a single uncertainty bin.
    label : 0 and 1, or bool, shape (n,)
    weight : non-negative integers, shape (n,), optional
        Multiplicity of each row.
    precision, recall, max_selected, max_fpr, gain, cost
        Decimal as text, an int, a Fraction with a finite decimal expansion, or a float, read as it prints.
    shift
        Class weights of target data in which the constraint must hold.
    algorithm
        By default the best by smoothed rates, or a single threshold if a comparison favours it.
    uncertainty_bins
        By default the best number for the smoothed algorithm, else 3.
    margin
        Margin of the precision over its bound, in standard errors.
    certify
        Largest risk, over calibration sets, that the precision on new data is below the bound; smooth only.
    compare
        Whether to test by cross-validation that the uncertainty improves on a single threshold.
    seed
        Seed of the splits of a certificate and a comparison.

    Raises
    ------
    UsageError, DataError
        An option or a value is out of range.
    InfeasibleError
        No boundary meets the constraint.

    Examples
    --------
    >>> found = find_boundary([0.1, 0.4, 0.6, 0.9], [0, 1, 0, 1], precision="0.6", score_bins="all")
    >>> found.thresholds, found.fit.recall
    ((0.4,), 1.0)
    """
    bounds = {
        "precision": precision,
        "recall": recall,
        "max_selected": max_selected,
        "max_fpr": max_fpr,
        "gain": gain,
        "cost": cost,
    }
    bins = None if uncertainty_bins == "auto" else uncertainty_bins
    result = run(
        BoundaryRequest(
            data=Labelled(score=score, label=label, uncertainty=uncertainty, weight=weight).request(),
            constraint=with_margin(
                constraint_from(
                    **{name: decimal_text(name, value) for name, value in bounds.items() if value is not None}
                ),
                None if margin is None else decimal_text("margin", margin),
            ),
            algorithm=None if algorithm is None else choice("algorithm", AlgorithmChoice, algorithm),
            grid=GridRequest(
                binning=None if binning is None else choice("binning", Binning, binning),
                uncertainty_bins=1 if uncertainty is None else bins,
                auto=uncertainty is not None and uncertainty_bins == "auto",
                score_bins=None if score_bins == "all" else score_bins,
            ),
            shift=None if shift is None else shift_artifact(shift),
            certify=None if certify is None else decimal_text("certify", certify),
            compare=("uncertainty",) if compare else (),
            seed=seed,
        )
    )
    if result.artifact is None:
        raise result.failure or AssertionError("no boundary and no reason")
    notes, compared = tuple(result.report.payload()["notes"]), result.report.compared
    return Boundary(artifact=result.artifact, notes=notes, compared=compared[0] if compared else None)
