"""Build the rule file of a boundary, and read the rows again where the search does not tell enough.

If the labels are those of reviewed rows, the rule flags another share of all rows than of labelled ones. If
rows depend on each other, their days or clusters show how much new ones will differ.
"""

from __future__ import annotations

from dataclasses import replace

import msgspec
import numpy as np

from uqcli.base.choices import ArtifactKind
from uqcli.base.counts import Ints
from uqcli.base.defaults import FORMAT_VERSION
from uqcli.boundary.clusters import expected_over_clusters, saved_dependence
from uqcli.boundary.expected import Expected
from uqcli.boundary.options import Target
from uqcli.boundary.outcome import Found
from uqcli.boundary.reference import MAX_ROWS_BETWEEN, SavedEnds, between_rows, widest
from uqcli.boundary.rule import BoundaryArtifact
from uqcli.boundary.rule_file import ZONES, Fit, SavedExpected, SavedRange
from uqcli.engines.open import open_engine
from uqcli.engines.request import PROBA, DataRequest
from uqcli.estimates.confusion import Confusion
from uqcli.rules.columns import ColumnOverrides
from uqcli.rules.saved import given


def artifact_of(outcome: Found) -> BoundaryArtifact:
    """Build the rule file of a boundary from the parts of the search that found it."""
    fields = {"format_version": FORMAT_VERSION, **outcome.story.saved()}
    fit = Fit(**fields.pop("fit"))
    columns = outcome.calibration.source.columns
    classes = [role.removeprefix(PROBA) for role in columns if role.startswith(PROBA)]
    return BoundaryArtifact(kind=ArtifactKind.BOUNDARY, fit=fit, classes=classes or msgspec.UNSET, **fields)


def _without_labels(rule: BoundaryArtifact, data: DataRequest) -> DataRequest:
    """Return the request for the columns of the rule, and the weight."""
    roles = replace(rule.reads(ColumnOverrides()), weight=data.roles.weight)
    return rule.as_decided(replace(data, roles=roles, positive_value=None))


def with_all_rows(rule: BoundaryArtifact, data: DataRequest) -> BoundaryArtifact:
    """Count all rows of the calibration set, with which new rows are compared, if some have no label."""
    if not data.may_lack_labels or not rule.source.dropped:
        return rule
    request, reference = _without_labels(rule, data), given(rule.reference)
    edges = np.array(rule.uncertainty_edges, dtype=np.float64)
    counts = np.zeros_like(reference.count if reference else [], dtype=np.int64)
    ends = dict(rule.ranges)
    total = selected = 0
    for rows in open_engine(request.engine).batches(request):
        weight = rows.weights()
        total += int(weight.sum())
        selected += int(weight[rule.zones(rows) == ZONES.index("flag")].sum())
        if reference:
            np.add.at(counts, reference.places(edges, rows.score, rows.uncertainty), weight)
        for role, (low, high) in ends.items():
            numbers = rows.numbers[role][weight > 0]
            ends[role] = float(numbers.min(initial=low)), float(numbers.max(initial=high))
    if total == rule.fit.rows:  # rows were dropped for other reasons
        return rule
    rule = msgspec.structs.replace(
        rule, fit=msgspec.structs.replace(rule.fit, all_rows=total, all_selected=selected)
    )
    if not reference:
        return rule
    ends = {role: widest(*pair) for role, pair in ends.items()}
    lowest, highest = (SavedEnds(**{role: pair[side] for role, pair in ends.items()}) for side in (0, 1))
    reference = msgspec.structs.replace(reference, count=counts.tolist(), lowest=lowest, highest=highest)
    return msgspec.structs.replace(rule, reference=reference)


def with_days(rule: BoundaryArtifact, column: str, counts: Confusion[Ints]) -> BoundaryArtifact:
    """Let the rule of a score alone, that was found on independent rows, allow for rows alike within days.

    Dependence changes neither such a threshold nor its expected rates, but their ranges. The counts of the
    calibration rows are by day of the column; int64, shape (days,).
    """
    target = Target(constraint=rule.constraint.parsed())
    rule = msgspec.structs.replace(rule, dependence=saved_dependence(target, column, counts))
    saved = rule.expected
    if not isinstance(saved, SavedExpected):
        return rule
    independent = Expected(precision=saved.precision.estimate, recall=saved.recall.estimate)
    expected = expected_over_clusters(independent, counts, "days")
    precision, recall = SavedRange.of(expected.precision), SavedRange.of(expected.recall)
    return msgspec.structs.replace(rule, expected=SavedExpected(precision=precision, recall=recall))


def between_clusters(rule: BoundaryArtifact, data: DataRequest) -> BoundaryArtifact:
    """Add the covariance between clusters to the reference of a rule, if it lacks rows of the inputs.

    Otherwise the reference has it already, from the calibration rows.
    """
    key, reference = data.roles.cluster, given(rule.reference)
    if key is None or not (reference and rule.source.dropped) or rule.source.rows > MAX_ROWS_BETWEEN:
        return rule
    request = _without_labels(rule, data).clustered_by(key, days=data.roles.days)
    edges = np.array(rule.uncertainty_edges, dtype=np.float64)
    batches = open_engine(request.engine).batches(request)
    parts = ((rows.groups[key], rows) for rows in batches)
    return msgspec.structs.replace(rule, reference=between_rows(reference, edges, parts))
