"""Outcome of a certification, in words."""

from __future__ import annotations

from collections.abc import Sequence

from uqcli.base.records import dataclass
from uqcli.base.wording import count
from uqcli.boundary.certificate import NotCertified
from uqcli.boundary.certificate_rule import (
    FROM_POOL,
    SavedCertificate,
    certificates_in_words,
    certified_verdict,
    conditions_of,
    group_certificates_in_words,
    test_in_words,
)
from uqcli.boundary.search.result import FittedBoundary
from uqcli.reports.document import Verdict
from uqcli.rules.saved import given


@dataclass(frozen=True, kw_only=True)
class Certification:
    """Outcome of a certification, of a boundary or of those of several groups.

    Attributes
    ----------
    delta
        Risk of all certificates together.
    certificates
        One for a boundary, or one for each certified group; empty if nothing was certified.
    failed
        Why nothing was certified; of groups, why the one with the lowest p-value was not.
    tested_target
        Promise that was tested last, and its risk.
    uncertified
        Boundary of the same algorithm without a certificate, on all of the rows; None for groups.
    groups
        Number of groups; None without groups.
    clustered
        Whether clusters of dependent rows were tested.
    has_pilot
        Whether other rows chose the boundaries.
    """

    delta: float
    certificates: Sequence[SavedCertificate]
    failed: NotCertified | None
    tested_target: str
    uncertified: FittedBoundary | None = None
    groups: int | None = None
    clustered: bool = False
    has_pilot: bool = False

    @property
    def certificate(self) -> SavedCertificate | None:
        """Certificate of a boundary; None if there is none, or for groups."""
        return None if self.groups is not None else next(iter(self.certificates), None)

    def verdict(self) -> Verdict:
        """Return the verdict on a certified boundary."""
        return certified_verdict(self.certificates, self.delta, self.groups)

    def sentence(self) -> str:
        """State the guarantee and its risk."""
        return certificates_in_words(self.certificates, self.delta, self.groups)

    def test(self) -> list[str]:
        """State the outcome of the test, and for what the guarantee holds."""
        if self.groups is not None:
            return []
        (certificate,) = self.certificates
        units = "clusters" if certificate.is_of_clusters else "rows"
        source = FROM_POOL if certificate.region is not None else f"independent {units} from the same source"
        valid = f"The guarantee holds for {source}, and only for the first attempt on these data."
        return [test_in_words(certificate), valid]

    def cost(self, boundary: FittedBoundary) -> str:
        """State what the guarantee costs in recall, or in precision; empty if it costs nothing."""
        if self.uncertified is None:
            return ""
        (certificate,) = self.certificates
        name, rates = "recall", [boundary.fit.recall, self.uncertified.fit.recall]
        if list(certificate.bounds) == ["recall"]:
            name, rates = "precision", [boundary.fit.precision, self.uncertified.fit.precision]
        own, other = (rate or 0.0 for rate in rates)
        if own >= other:
            return ""
        points = f"{100 * (other - own):.1f} points"
        return f"Without the guarantee, a rule of this kind has about {points} more {name}."

    def notes(self, boundary: FittedBoundary) -> list[str]:
        """State the rows of the fit and of the test, and the conditions of the guarantee."""
        if self.groups is not None:
            return list(group_certificates_in_words(self.certificates, self.groups))
        (certificate,) = self.certificates
        return [self._split(certificate, boundary), *conditions_of(certificate)]

    @staticmethod
    def _split(certificate: SavedCertificate, boundary: FittedBoundary) -> str:
        """State which rows chose the boundary, and which tested it."""
        tested, pilot = certificate.tested_on.rows, given(certificate.pilot)
        if pilot is not None:
            units = "clusters" if certificate.is_of_clusters else "rows"
            if certificate.region is not None:
                return (
                    f"The {count(pilot.rows)} rows of the pilot showed which scores to label, and "
                    f"{count(tested)} other rows tested the thresholds among them."
                )
            return (
                f"The {count(pilot.rows)} rows of --pilot were used to choose the boundary, and all "
                f"{count(tested)} {units} of the calibration set to test it."
            )
        if certificate.is_of_clusters:
            return f"{count(tested)} clusters were used to test the boundary, and the others to choose it."
        chosen = count(boundary.fit.rows - tested)
        return f"{chosen} rows were used to choose the boundary, and {count(tested)} to test it."

    def shortfall(self) -> str:
        """State why no boundary is certified, and how many rows would be needed."""
        failed = self.failed
        subject = "no boundary" if self.groups is None else "no boundary of a group"
        sentence = f"{subject} can be certified for {self.tested_target}"
        if failed is None or failed.p_value is None:
            provable = failed is None or failed.provable
            few = f"there are too few {'clusters' if self.clustered else 'rows'} to rank boundaries"
            reason = few if provable else "no number of rows can show such a rate"
            return f"{sentence}: {reason}"
        safest = "the safest one" if self.groups is None else "the safest one of any group"
        units = "clusters" if self.clustered else "rows"
        where = f"{units} of the calibration set" if self.has_pilot else f"{units} kept aside for the test"
        tested = f"{sentence}: {safest} has p = {failed.p_value:.3g} on the {where}"
        if failed.rows_needed is None:
            return f"{tested}, and more {units} may not help; try a lower target"
        in_group = "" if self.groups is None else " in a group"
        needed = f"about {count(failed.rows_needed)} labelled {units}{in_group}"
        return f"{tested}; use {needed}, or try a lower target"
