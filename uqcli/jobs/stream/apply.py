"""``uqcli apply``: stream files through a saved model."""

from __future__ import annotations

from dataclasses import dataclass

from uqcli.artifacts.codec import load
from uqcli.artifacts.models import Artifact, ConformalArtifact, ShiftArtifact
from uqcli.choices import ArtifactKind
from uqcli.engines.inputs import format_of
from uqcli.engines.protocol import AddedColumns
from uqcli.engines.request import Roles
from uqcli.errors import ArtifactError
from uqcli.jobs.conformal.label_sets import added_sets, conformal_roles
from uqcli.jobs.models import ColumnOverrides, added_by, roles_of
from uqcli.jobs.stream.streaming import Streaming
from uqcli.reports.gates import Gate, failed_gates
from uqcli.reports.stream.apply import ApplyParameters, ApplyReport, ApplySource, metrics_of


@dataclass(frozen=True, kw_only=True)
class ApplyOptions:
    """A run of the command.

    Attributes
    ----------
    artifact
        Path, or ``-`` for standard input.
    no_empty
        Whether empty conformal sets get the likeliest class.
    gates
        Conditions on the metrics, whose names are looked up before any row is written.
    """

    artifact: str
    rows: Streaming
    columns: ColumnOverrides = ColumnOverrides()
    no_empty: bool = False
    gates: tuple[Gate, ...] = ()


def run(options: ApplyOptions) -> ApplyReport:
    """Add the model's columns to every row of the inputs.

    Raises
    ------
    UsageError, DataError, ArtifactError
        See the parts.
    """
    artifact = load(options.artifact)
    decides = artifact.kind is ArtifactKind.BOUNDARY
    failed_gates(options.gates, {"": metrics_of(rows=0, selected=0 if decides else None, undecided=0)})
    added, roles = _model(artifact, options)
    facts = options.rows.through(roles, added)
    return ApplyReport(
        source=ApplySource(rows=facts.rows, dropped=facts.dropped, columns=roles.named()),
        parameters=ApplyParameters(
            kind=artifact.kind, columns=list(added.types), on_invalid=options.rows.on_invalid
        ),
        selected=facts.selected if decides else None,
        undecided=facts.undecided,
    )


def _model(artifact: Artifact, options: ApplyOptions) -> tuple[AddedColumns, Roles]:
    """What the artifact adds, and the columns it reads."""
    if isinstance(artifact, ConformalArtifact):
        roles = conformal_roles(artifact, options.columns)
        output_format = format_of(options.rows.output, options.rows.output_format)
        added = added_sets(artifact, roles, options.rows.prefix, output_format, no_empty=options.no_empty)
        return added, roles
    options.columns.refuse(("no_empty",), f"with a {artifact.kind} artifact")
    if isinstance(artifact, ShiftArtifact):
        raise ArtifactError(
            "class weights are not applied to rows",
            expected="a boundary, calibrator, conformal or grid artifact",
            remedy="give them to conformal with --shift",
        )
    roles = roles_of([artifact], options.columns, labelled=False)
    return added_by(artifact, options.rows.prefix, roles.numbers["score"]), roles
