"""Penalised fits of log-odds, for labels that have no maximum likelihood."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

if TYPE_CHECKING:
    from uqcli.base.counts import Floats, ValueCounts

PENALTY: Final = 1.0
"""Weak penalty, of half the sum of squared coefficients of the standardised log-odds.

The likelihood has no maximum with a single class, or if a threshold separates the classes; then the penalty
keeps the coefficients finite.
"""


def fit_coefficients(features: Floats, counts: ValueCounts, *, penalised: bool) -> Floats:
    """Fit the coefficients, with the weak penalty if there is no maximum."""
    from uqcli.kernels.logistic import fit_in_parts, logistic_fit

    if penalised:
        return logistic_fit(features, counts.count, counts.positives, ridge=PENALTY)
    return fit_in_parts(features, counts.count, counts.positives)


def penalty_note(counts: ValueCounts) -> tuple[str, ...]:
    """Note that a penalty keeps the coefficients finite, and why."""
    total = int(counts.positives.sum())
    why = "all labels are equal" if total in (0, counts.rows) else "a threshold separates the classes"
    return (f"No likelihood is highest ({why}): a weak penalty keeps the coefficients finite.",)
