"""Outcome of a certification, in words."""

from __future__ import annotations

from dataclasses import dataclass

from uqcli.artifacts.boundary import SavedCertificate, certificate_in_words
from uqcli.document import count, share
from uqcli.methods.boundary.ranking.certificate import NotCertified
from uqcli.methods.boundary.result import FittedBoundary


@dataclass(frozen=True, kw_only=True)
class Certification:
    """Outcome of a certification.

    Attributes
    ----------
    uncertified
        Boundary of the same algorithm without a certificate.
    """

    delta: float
    certificate: SavedCertificate | None
    failed: NotCertified | None
    uncertified: FittedBoundary | None

    def notes(self, boundary: FittedBoundary) -> list[str]:
        """State the guarantee, the rows of the fit and of the test, and the cost in recall."""
        assert self.certificate is not None  # called only if a boundary was found
        tested = self.certificate.tested_on.rows
        notes = [
            f"{count(boundary.fit.rows - tested)} rows chose the boundary, {count(tested)} tested it.",
            *certificate_in_words(self.certificate),
        ]
        if self.uncertified is not None:
            own, other = boundary.fit.recall or 0.0, self.uncertified.fit.recall or 0.0
            notes.append(
                f"Without a certificate recall is {share(other)} on the calibration set: the guarantee costs "
                f"at most about {100 * (other - own):.1f} points."
            )
        return notes

    def shortfall(self, bound: str) -> str:
        """State why no boundary is certified, and how many rows would be needed."""
        failed = self.failed
        sentence = f"no boundary can be certified for precision {bound} at a risk of {100 * self.delta:g} %"
        if failed is None or failed.p_value is None:
            return f"{sentence}; too few rows to rank boundaries"
        tested = f"{sentence}; the safest has p = {failed.p_value:.3g} on the rows kept for the test"
        if failed.rows_needed is None:
            return f"{tested}; more rows may not help"
        return f"{tested}; about {count(failed.rows_needed)} labelled rows are needed"
