"""The columns a saved model reads, and what it decides."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass

from uqcli.artifacts.models import BoundaryArtifact
from uqcli.counts import Bools
from uqcli.engines.checks import CheckedRows
from uqcli.engines.columns import Roles
from uqcli.errors import UsageError
from uqcli.methods.boundary.decide import decide


@dataclass(frozen=True, kw_only=True)
class ColumnOverrides:
    """Columns named on the command line; None means the artifact's."""

    score: str | None = None
    uncertainty: str | None = None
    label: str | None = None
    weight: str | None = None


def roles_of(artifacts: Sequence[BoundaryArtifact], overrides: ColumnOverrides, *, labelled: bool) -> Roles:
    """The columns to read for all artifacts together.

    Raises
    ------
    UsageError
        The artifacts name different columns for one role.
    """
    needs_uncertainty = any(len(artifact.thresholds) > 1 for artifact in artifacts)
    return Roles(
        score=_column(artifacts, "score", overrides.score) or "",
        uncertainty=_column(artifacts, "uncertainty", overrides.uncertainty) if needs_uncertainty else None,
        label=_column(artifacts, "label", overrides.label) if labelled else None,
        weight=_column(artifacts, "weight", overrides.weight) if labelled else None,
    )


def _column(artifacts: Sequence[BoundaryArtifact], role: str, override: str | None) -> str | None:
    if override is not None:
        return override
    names = {artifact.source.columns[role] for artifact in artifacts if role in artifact.source.columns}
    if len(names) > 1:
        raise UsageError(
            f"the artifacts read different {role} columns: {', '.join(sorted(names))}",
            expected="one",
            remedy=f"give --{role} or evaluate them one by one",
        )
    return next(iter(names), None)


def decision_of(artifact: BoundaryArtifact) -> Callable[[CheckedRows], Bools]:
    """The artifact as a function of checked rows."""

    def decided(rows: CheckedRows) -> Bools:
        return decide(
            rows.score,
            rows.uncertainty,
            uncertainty_edges=artifact.uncertainty_edges,
            thresholds=artifact.thresholds,
        )

    return decided
