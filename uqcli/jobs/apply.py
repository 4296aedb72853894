"""``uqcli apply``: stream files through a saved model."""

from __future__ import annotations

from dataclasses import dataclass

from uqcli.artifacts.codec import load
from uqcli.choices import ArtifactKind
from uqcli.errors import UsageError
from uqcli.files import STDIO
from uqcli.jobs.models import ColumnOverrides, added_by, roles_of
from uqcli.jobs.streaming import Streaming
from uqcli.reports.apply import ApplyParameters, ApplyReport, ApplySource


@dataclass(frozen=True, kw_only=True)
class ApplyOptions:
    """A run of the command.

    Attributes
    ----------
    artifact
        Path, or ``-`` for standard input.
    """

    artifact: str
    rows: Streaming
    columns: ColumnOverrides = ColumnOverrides()


def run(options: ApplyOptions) -> ApplyReport:
    """Add the model's columns to every row of the inputs.

    Raises
    ------
    UsageError, DataError, ArtifactError
        See the parts.
    """
    if options.artifact == STDIO and STDIO in options.rows.inputs:
        raise UsageError("both the artifact and an input are standard input", expected="at most one -")
    artifact = load(options.artifact)
    added = added_by(artifact, options.rows.prefix)
    roles = roles_of([artifact], options.columns, labelled=False)
    facts = options.rows.through(roles, added)
    return ApplyReport(
        source=ApplySource(rows=facts.rows, dropped=facts.dropped, columns=roles.named()),
        parameters=ApplyParameters(
            kind=artifact.kind, columns=list(added.types), on_invalid=options.rows.on_invalid
        ),
        selected=facts.selected if artifact.kind is ArtifactKind.BOUNDARY else None,
        undecided=facts.undecided,
    )
