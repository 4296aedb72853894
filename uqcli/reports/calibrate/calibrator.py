"""A saved calibrator in words and tables."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import msgspec

from uqcli.artifacts.models import CalibratorArtifact
from uqcli.document import Document, Metrics, Table, count, number, printable, share
from uqcli.methods.calibrate.maps import (
    BetaMap,
    GroupsMap,
    HistogramMap,
    IdentityMap,
    IsotonicMap,
    Leaf,
    LogisticMap,
    ScoreMap,
    TreesMap,
    UncertaintyMap,
)

_MOST_ROWS = 40


def map_tables(artifact: CalibratorArtifact) -> list[Table]:
    """What the map does, as tables."""
    map_ = artifact.calibration
    if isinstance(map_, UncertaintyMap):
        return [_uncertainty_table(map_)]
    if isinstance(map_, GroupsMap):
        return [_leaves_table("Groups", map_.leaves)]
    if isinstance(map_, TreesMap):
        several = len(map_.trees) > 1
        return [
            _leaves_table(f"Leaves of tree {at} of {len(map_.trees)}" if several else "Leaves", tree.leaves)
            for at, tree in enumerate(map_.trees[:3], start=1)
        ]
    if isinstance(map_, HistogramMap):
        return [_histogram_table(map_)]
    corrected = isinstance(map_, IdentityMap) and artifact.undersampled > 1
    said = f"the odds divided by {artifact.undersampled:g}" if corrected else formula(map_)
    return [Table(title="Map", header=("formula",), rows=[(said,)])]


def formula(map_: ScoreMap) -> str:
    """A map of the score alone, in one line."""
    match map_:
        case LogisticMap():
            return f"sigmoid({map_.slope:.6g} * log-odds {map_.intercept:+.6g})"
        case BetaMap():
            return f"sigmoid({map_.a:.6g} ln s - {map_.b:.6g} ln(1-s) {map_.c:+.6g})"
        case IsotonicMap():
            steps = len(set(map_.y))
            return f"isotonic, {steps} levels from {map_.y[0]:.4f} to {map_.y[-1]:.4f}"
        case HistogramMap():
            return f"histogram, {len(map_.rate)} bins"
        case IdentityMap():
            return "the score itself"


def _leaves_table(title: str, leaves: Sequence[Leaf]) -> Table:
    rows = [
        (
            str(at),
            printable(leaf.rule, 160),
            formula(leaf.calibration),
            count(leaf.rows),
            share(leaf.positives / leaf.rows if leaf.rows else None),
            "own" if leaf.own else "larger part",
        )
        for at, leaf in enumerate(leaves[:_MOST_ROWS])
    ]
    if len(leaves) > _MOST_ROWS:
        rows.append(("...", f"and {len(leaves) - _MOST_ROWS} more", "", "", "", ""))
    header = ("leaf", "rows where", "calibration", "rows", "positivity", "fitted on")
    return Table(title=title, header=header, rows=rows, left=3)


def _uncertainty_table(map_: UncertaintyMap) -> Table:
    edges = [None, *map_.uncertainty_edges, None]
    rows = [
        (
            "-" if low is None else number(low),
            "-" if high is None else number(high),
            count(rows),
            formula(each),
        )
        for low, high, each, rows in zip(edges[:-1], edges[1:], map_.maps, map_.count, strict=True)
    ]
    header = ("uncertainty from", "to", "rows", "calibration")
    return Table(title="Uncertainty levels", header=header, rows=rows, left=0)


def _histogram_table(map_: HistogramMap) -> Table:
    edges = [None, *map_.edges, None]
    rows = [
        (
            "-" if low is None else number(low),
            "-" if high is None else number(high),
            count(rows),
            share(rate),
            "-" if error is None else f"{error:.4f}",
        )
        for low, high, rows, rate, error in zip(
            edges[:-1], edges[1:], map_.count, map_.rate, map_.error, strict=True
        )
    ]
    header = ("from", "to", "rows", "calibrated", f"error, {100 * map_.confidence:g} %")
    return Table(title="Bins", header=header, rows=rows, left=0)


@dataclass(frozen=True, kw_only=True)
class ShowCalibratorReport:
    """A saved calibrator."""

    artifact: CalibratorArtifact

    @property
    def gated(self) -> Mapping[str, Metrics]:
        """Counts of the rows it was fitted on."""
        source = self.artifact.source
        return {"": {"rows": source.rows, "positives": source.positives, "dropped": source.dropped}}

    def payload(self) -> dict[str, Any]:
        """The artifact itself."""
        content: dict[str, Any] = msgspec.to_builtins(self.artifact)
        return content

    def document(self) -> Document:
        """The readable form."""
        artifact, source = self.artifact, self.artifact.source
        columns = ", ".join(f"{role} '{name}'" for role, name in source.columns.items())
        reads = "real scores such as logits" if artifact.logit else "probabilities"
        notes = [
            f"Reads {reads}; columns: {columns}.",
            f"Made by uqcli {artifact.uqcli_version} from {count(source.rows)} rows, "
            f"{count(source.positives)} positive, {count(source.dropped)} dropped.",
        ]
        if artifact.undersampled > 1:
            notes.insert(
                0, f"Odds are first divided by {artifact.undersampled:g}, for undersampled negatives."
            )
        if artifact.weights is not None:
            negative, positive = artifact.weights
            notes.append(
                f"Then corrected for a target in which negatives are {negative:.4g} and positives "
                f"{positive:.4g} times as frequent: the odds are multiplied by {positive / negative:.4g}."
            )
        return Document(title=f"Calibrator ({artifact.method})", tables=map_tables(artifact), notes=notes)
