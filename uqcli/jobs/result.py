"""Result of a job."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Generic, TypeVar

from uqcli.artifacts.saved import Saved
from uqcli.document import Report
from uqcli.errors import UqcliError

ReportT_co = TypeVar("ReportT_co", bound=Report, covariant=True)
ArtifactT_co = TypeVar("ArtifactT_co", bound=Saved | None, covariant=True)


@dataclass(frozen=True, kw_only=True)
class Result(Generic[ReportT_co, ArtifactT_co]):
    """Report and rule of a job.

    Attributes
    ----------
    artifact
        None if there is no rule to save, or none was found.
    failure
        Error with which the command ends after writing its report.
    saved_though_failed
        Whether the rule is saved despite ``failure``, as for an alarm; a failed check still prevents it.
    several
        Rules to save if several results were requested, by the text that replaces ``{}`` in the output's
        name.
    """

    report: ReportT_co
    artifact: ArtifactT_co
    failure: UqcliError | None = None
    saved_though_failed: bool = False
    several: Mapping[str, Saved] = field(default_factory=dict)
