"""Compare new rows without labels with the calibration rows of a boundary."""

from __future__ import annotations

from dataclasses import replace

import msgspec
import numpy as np

from uqcli.artifacts.boundary import ZONES, BoundaryArtifact
from uqcli.artifacts.saved import Saved
from uqcli.engines.open import open_engine
from uqcli.engines.predictions import outside as outside_of
from uqcli.errors import UsageError
from uqcli.jobs.labelled import source_of
from uqcli.jobs.rule_groups import as_decided
from uqcli.jobs.watch.expectation import Expectation
from uqcli.jobs.watch.request import WatchRequest
from uqcli.methods.drift.homogeneity import homogeneity
from uqcli.methods.drift.prediction import flagged_interval
from uqcli.methods.drift.stability import population_stability
from uqcli.reports.watch.unlabelled import UnlabelledParameters, UnlabelledReport
from uqcli.rows import Rows


def compare_unlabelled(request: WatchRequest, rule: Saved) -> UnlabelledReport:
    """Compare the counts, the flagged share and the ranges of new rows with those of the calibration rows.

    Raises
    ------
    UsageError, DataError
        The rule has no reference, or the rows cannot be read.
    """
    if not isinstance(rule, BoundaryArtifact) or isinstance(rule.reference, msgspec.UnsetType):
        raise UsageError(
            "rows without labels, and a rule without counts of its calibration rows",
            expected="a label column, or a boundary that was fitted on rows by this version",
            remedy="name the label with --label, or fit the rule again",
        )
    data = as_decided(replace(request.data, roles=rule.reads(request.columns)), rule)
    expectation = Expectation.of(request, rule)
    batches = open_engine(data.engine).batches(data)
    count = np.zeros_like(np.array(rule.reference.count, dtype=np.int64))
    edges = np.array(rule.uncertainty_edges, dtype=np.float64)
    selected = outside = 0
    for rows in batches:
        scored = _as_scores(rows)
        np.add.at(count, rule.reference.places(edges, scored.score, scored.uncertainty), 1)
        flagged = rule.zones(scored) == ZONES.index("flag")
        selected += int(flagged.sum())
        if expectation is not None:
            expectation.add(scored.score, flagged)
        outside += int(outside_of(scored, batches.roles, rule.ranges).sum())
    total = int(count.sum())
    old = np.array(rule.reference.count, dtype=np.int64)
    test = homogeneity(old.ravel(), count.ravel())
    stability = population_stability(old.ravel(), count.ravel())
    low, high = flagged_interval(*rule.fit.flagged, total, request.confidence)
    return UnlabelledReport(
        source=source_of(batches.summary),
        parameters=UnlabelledParameters(confidence=request.confidence, on_invalid=data.on_invalid),
        rows=total,
        selected=selected,
        explained=(low, high),
        usual=rule.alert_rate,
        outside=outside,
        psi=stability.value,
        psi_without_drift=stability.without_drift,
        drift_p=test.p_value,
        expected=None if expectation is None else expectation.result(request.confidence),
        confidence=request.confidence,
    )


def _as_scores(rows: Rows) -> Rows:
    """Return rows as they are; labels and weights play no part."""
    return replace(rows.usable(), weight=None)
