"""Checks of confidence levels and of numbers of resamples."""

from __future__ import annotations

from uqcli.base.errors import UsageError
from uqcli.base.running.cautions import caution


def check_bootstrap(replicates: int | None) -> None:
    """Refuse a number of resamples that gives no interval.

    Raises
    ------
    UsageError
        It is 1 or negative.
    """
    if replicates is not None and (replicates < 0 or replicates == 1):
        raise UsageError(f"{replicates} bootstrap replicates", expected="2 or more, or 0 for none")


def check_confidence(confidence: float) -> None:
    """Refuse an invalid confidence level.

    Raises
    ------
    UsageError
        It is not strictly between 0 and 1.
    """
    if not 0 < confidence < 1:
        meant = f"did you mean {confidence / 100:g}?" if 2 <= confidence < 100 else ""
        raise UsageError(f"confidence {confidence:g}", expected="a number between 0 and 1", remedy=meant)


def caution_confidence(option: str, risk: float) -> None:
    """Caution that a typed risk of more than one half may have been meant as a confidence."""
    if risk > 0.5:
        caution(
            f"{option} {risk:g} is the probability of an error, not a confidence: "
            f"for a confidence of {risk:g}, give {option} {1 - risk:.4g}."
        )
