"""The guarantee on new rows: a certificate of the rule, or those of the rules of groups."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from uqcli.base.wording import count
from uqcli.boundary.certificate_rule import (
    SavedCertificate,
    certificate_in_words,
    certificates_in_words,
    certified_verdict,
    group_certificates_in_words,
)
from uqcli.boundary.promise import Promise
from uqcli.boundary.rule_part import Description, RulePart
from uqcli.rules.saved import given


class Certificate(RulePart):
    """Certificates, which are not repeated if the file was edited."""

    def contradiction(self) -> str:
        rule, region = self.rule, self.rule.region
        own, of_groups = given(rule.certificate), rule.group_rules.values()
        saved = [(own, rule.fit.rows), *((given(group.certificate), group.fit.rows) for group in of_groups)]
        certified = [(certificate, rows) for certificate, rows in saved if certificate]
        if not all(certificate.is_of(rows) for certificate, rows in certified):
            whose = "its" if own else "a group's"
            return f"{whose} certificate is not about its rows"
        if region and region.is_left_by(rule.thresholds):
            decides = "drops rows with higher" if region.is_below else "flags rows with lower"
            return f"it {decides} scores than its certificate was tested on"
        bounds, limit = rule.constraint.parsed(), rule.review.limit if rule.review else None
        about = all(certificate.is_about(bounds, limit) for certificate, _ in certified)
        return "" if about else "its certificate is not about its bounds"

    def promised(self, promises: Sequence[Promise]) -> Sequence[Promise]:
        """Promise what is certified, whatever was expected; of groups, only in those with a certificate."""
        rule = self.rule
        certificates = [rule.certified] if rule.certified else rule.certified_groups
        if not certificates:
            return promises
        bounds, rates = rule.constraint.parsed().promised_bounds, certificates[0].rates

        def as_certified(promise: Promise) -> Promise:
            if promise.rate not in rates:
                return promise
            return replace(promise, bound=bounds.get(promise.rate, promise.bound), origin="certified")

        groups = (None, *rule.promising_groups)
        return [as_certified(promise) for promise in promises if promise.group in groups]

    def describe(self, description: Description) -> Description:
        rule, groups, certificates = self.rule, len(self.rule.group_rules), self.rule.certified_groups
        if rule.certified:
            certificates, words = [rule.certified], certificate_in_words(rule.certified)
            description = replace(description, where=self._tested(rule.certified), certificate=words)
        elif certificates:
            words = group_certificates_in_words(certificates, groups)
            promise = certificates_in_words(certificates, rule.risk, groups)
            description = replace(description, certificate=(promise, *words))
        if certificates:
            verdict = certified_verdict(certificates, rule.risk, groups)
            description = replace(description, risk=rule.risk, verdict=verdict)
        if rule.region:
            unknown = ("precision", "recall") if rule.region.is_below else ("recall",)
            where = f"{count(rule.fit.rows)} rows drawn from scores {rule.region}"
            metrics = {**description.metrics, **dict.fromkeys(unknown)}
            description = replace(description, region=rule.region, where=where, metrics=metrics)
        return description

    def _tested(self, certificate: SavedCertificate) -> str:
        """Name the rows, and tell how many of them were tested."""
        tested, pilot = certificate.tested_on.rows, given(certificate.pilot)
        if certificate.is_of_clusters:
            return f"calibration set ({count(tested)} {certificate.units} tested)"
        chose = f"{count(pilot.rows)} others" if pilot else count(self.rule.fit.rows - tested)
        return f"calibration set ({chose} chose, {count(tested)} tested)"
