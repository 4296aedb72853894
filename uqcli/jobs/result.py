"""What a command came to, whatever it does."""

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
    """A report, and what is to be saved.

    Attributes
    ----------
    artifact
        None where nothing is saved, or nothing was found.
    failure
        What the command ends with once its report is written.
    saved_though_failed
        Whether it is saved even where it failed, as an alarm is; a gate that fails forbids it all the same.
    several
        What is saved where several answers were asked for, by what takes the place of ``{}`` in the
        output's name.
    """

    report: ReportT_co
    artifact: ArtifactT_co
    failure: UqcliError | None = None
    saved_though_failed: bool = False
    several: Mapping[str, Saved] = field(default_factory=dict)
