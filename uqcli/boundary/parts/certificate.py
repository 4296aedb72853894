"""Certificates of a rule, or of those of several groups, or why there is none."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import replace
from typing import Any, ClassVar

import msgspec

from uqcli.base.notices import Notice
from uqcli.base.records import dataclass
from uqcli.base.wording import count
from uqcli.boundary.certificate import Failed, NotCertified
from uqcli.boundary.certificate_rule import (
    FROM_POOL,
    SavedCertificate,
    certificates_in_words,
    certified_verdict,
    conditions_of,
    group_certificates_in_words,
    test_in_words,
)
from uqcli.boundary.results import fit_cells
from uqcli.boundary.search.thresholds import FittedBoundary
from uqcli.boundary.statements import BoundaryPart, Fact, Phrases, Remark
from uqcli.reports.parts import Statement
from uqcli.rules.saved import given


@dataclass(frozen=True, kw_only=True)
class _Certifying(BoundaryPart):
    """A certification at a risk ``delta`` of all certificates together."""

    rank: ClassVar = 2

    delta: float

    def voids(self) -> Iterable[Fact]:
        return (Fact.UNCERTIFIED,)

    def reworded(self, phrases: Phrases) -> Phrases:
        return replace(phrases, certified=", certified")

    def statements(self, phrases: Phrases) -> Iterator[Statement]:
        yield (
            "several-certificates",
            Notice(
                "several-certificates",
                f"each rule is certified at a risk of {100 * self.delta:g} % by itself, and that of the best "
                "one picked afterwards is higher: choose the target beforehand.",
            ),
        )


@dataclass(frozen=True, kw_only=True)
class Certificate(_Certifying):
    """Certificate of a rule, with its counts on all calibration rows."""

    certificate: SavedCertificate
    boundary: FittedBoundary

    def voids(self) -> Iterable[Fact]:
        region = self.certificate.region
        if not region:
            return super().voids()
        below = [Fact.PRECISION_KNOWN] if region.is_below else []
        return (*super().voids(), Fact.LIKE_NEW_ROWS, *below)

    def reworded(self, phrases: Phrases) -> Phrases:
        (_, thresholds), *others = phrases.curves
        return replace(
            super().reworded(phrases),
            region=self.certificate.region,
            advice="The rule is the certified boundary.",
            verdict=certified_verdict([self.certificate], self.delta),
            curves=(("certified boundary", thresholds), *others),
        )

    def statements(self, phrases: Phrases) -> Iterator[Statement]:
        yield from super().statements(phrases)
        certificate = self.certificate
        yield "guarantee", certificates_in_words([certificate], self.delta)
        yield "test-of-guarantee", test_in_words(certificate)
        source = f"independent {certificate.units} from the same source"
        if certificate.region:
            source = FROM_POOL
        valid = f"The guarantee holds for {source}, and only for the first attempt on these data."
        yield "test-of-guarantee", valid
        for sentence in (self._split(), *conditions_of(certificate)):
            yield "conditions-of-guarantee", sentence

    def _split(self) -> str:
        """State which rows chose the boundary, and which tested it."""
        certificate = self.certificate
        tested, pilot = certificate.tested_on.rows, given(certificate.pilot)
        if pilot:
            if certificate.region:
                return (
                    f"The {count(pilot.rows)} rows of the pilot showed which scores to label, and "
                    f"{count(tested)} other rows tested the thresholds among them."
                )
            return (
                f"The {count(pilot.rows)} rows of --pilot were used to choose the boundary, and all "
                f"{count(tested)} {certificate.units} of the calibration set to test it."
            )
        if certificate.is_of_clusters:
            units = certificate.units
            return f"{count(tested)} {units} were used to test the boundary, and the others to choose it."
        chosen = count(self.boundary.fit.rows - tested)
        return f"{chosen} rows were used to choose the boundary, and {count(tested)} to test it."

    def payload(self, phrases: Phrases) -> Mapping[str, Any]:
        return {"certificate": msgspec.to_builtins(self.certificate)}

    def saved(self) -> Mapping[str, Any]:
        return {"certificate": self.certificate, "expected": msgspec.UNSET}


def cost_of_guarantee(
    certificate: SavedCertificate, boundary: FittedBoundary, uncertified: FittedBoundary
) -> BoundaryPart:
    """Return the part of a boundary of the same algorithm without a certificate, beside the certified one."""
    own, other = boundary.fit, uncertified.fit
    said: list[Statement] = [("result-uncertified", ("this kind, without a guarantee", *fit_cells(other)))]
    name, certified, more = "recall", own.recall or 0.0, other.recall or 0.0
    if list(certificate.bounds) == ["recall"]:
        name, certified, more = "precision", own.precision or 0.0, other.precision or 0.0
    if certified < more:
        points = f"{100 * (more - certified):.1f} points"
        cost = f"Without the guarantee, a rule of this kind has about {points} more {name}."
        said.append(("cost-of-guarantee", cost))
    return Remark(said=said)


@dataclass(frozen=True, kw_only=True)
class GroupCertificates(_Certifying):
    """Certificates of some of the groups, whose number is ``groups``."""

    certificates: Sequence[SavedCertificate]
    groups: int

    def reworded(self, phrases: Phrases) -> Phrases:
        verdict = certified_verdict(self.certificates, self.delta, self.groups)
        return replace(super().reworded(phrases), verdict=verdict)

    def statements(self, phrases: Phrases) -> Iterator[Statement]:
        yield from super().statements(phrases)
        yield "guarantee", certificates_in_words(self.certificates, self.delta, self.groups)
        for sentence in group_certificates_in_words(self.certificates, self.groups):
            yield "conditions-of-guarantee", sentence

    def saved(self) -> Mapping[str, Any]:
        return {"expected": msgspec.UNSET}


@dataclass(frozen=True, kw_only=True)
class NoCertificate(_Certifying):
    """Why no boundary was certified, and how many rows would be needed (see ``Certification``)."""

    safest: ClassVar[str] = "the safest one"
    where_needed: ClassVar[str] = ""

    failed: NotCertified
    tested_target: str
    easier: str
    units: str
    has_pilot: bool

    def statements(self, phrases: Phrases) -> Iterator[Statement]:
        yield from super().statements(phrases)
        sentence = f"{phrases.no_boundary} can be certified for {self.tested_target}"
        yield "uncertifiable", f"{sentence}{self._reason()}"

    def _reason(self) -> str:
        failed, units = self.failed, self.units
        if not isinstance(failed, Failed):
            few = f": there are too few {units} to rank boundaries"
            return few if failed.provable else ": no number of rows can show such a rate"
        where = f"{units} of the calibration set" if self.has_pilot else f"{units} kept aside for the test"
        tested = f": {self.safest} has p = {failed.p_value:.3g} on the {where}"
        if failed.rows_needed is not None:
            needed = f"about {count(failed.rows_needed)} labelled {units}{self.where_needed}"
            return f"{tested}; use {needed}, or {self.easier}"
        if failed.promising:
            return f"{tested}, of which it flags too few; use more labelled {units}, or {self.easier}"
        return f"{tested}, and more {units} may not help; {self.easier}"


@dataclass(frozen=True, kw_only=True)
class NoGroupCertificate(NoCertificate):
    """Why no boundary of any group was certified."""

    safest: ClassVar[str] = "the safest one of any group"
    where_needed: ClassVar[str] = " in a group"
