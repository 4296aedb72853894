"""``uqcli apply``: stream files through a saved model."""

from __future__ import annotations

from dataclasses import dataclass

from uqcli.artifacts.codec import load
from uqcli.choices import ArtifactKind, EngineName, FileFormat, OnInvalid
from uqcli.engines.inputs import ReadOptions
from uqcli.engines.open import open_engine
from uqcli.engines.protocol import ApplyRequest, DataRequest
from uqcli.errors import UsageError
from uqcli.files import STDIO
from uqcli.jobs.models import ColumnOverrides, added_by, roles_of
from uqcli.reports.apply import ApplyParameters, ApplyReport, ApplySource


@dataclass(frozen=True, kw_only=True)
class ApplyOptions:
    """A run of the command.

    Attributes
    ----------
    artifact
        Path, or ``-`` for standard input.
    prefix
        Put before the added columns' names.
    """

    artifact: str
    inputs: tuple[str, ...]
    output: str
    output_format: FileFormat | None = None
    columns: ColumnOverrides = ColumnOverrides()
    read: ReadOptions = ReadOptions()
    on_invalid: OnInvalid = OnInvalid.ERROR
    prefix: str = ""
    overwrite: bool = False
    union: bool = False
    engine: EngineName = EngineName.POLARS


def run(options: ApplyOptions) -> ApplyReport:
    """Add decisions to every row of the inputs.

    Raises
    ------
    UsageError, DataError, ArtifactError
        See the parts.
    """
    if options.artifact == STDIO and STDIO in options.inputs:
        raise UsageError("both the artifact and an input are standard input", expected="at most one -")
    artifact = load(options.artifact)
    added = added_by(artifact, options.prefix)
    data = DataRequest(
        inputs=options.inputs,
        roles=roles_of([artifact], options.columns, labelled=False),
        read=options.read,
        on_invalid=options.on_invalid,
    )
    facts = open_engine(options.engine).apply(
        ApplyRequest(
            data=data,
            added=added,
            output=options.output,
            output_format=options.output_format,
            overwrite=options.overwrite,
            union=options.union,
        )
    )
    return ApplyReport(
        source=ApplySource(rows=facts.rows, dropped=facts.dropped, columns=data.roles.named()),
        parameters=ApplyParameters(
            kind=artifact.kind, columns=list(added.types), on_invalid=options.on_invalid
        ),
        selected=facts.selected if artifact.kind is ArtifactKind.BOUNDARY else None,
        undecided=facts.undecided,
    )
