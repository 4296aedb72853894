"""What a format of report files is; ``uqcli.reports.formats`` has a module for each."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING

from uqcli.base.records import dataclass

if TYPE_CHECKING:
    from uqcli.reports.checks import CheckResult
    from uqcli.reports.document import Report
    from uqcli.reports.failure import Failure
    from uqcli.reports.provenance import Provenance


@dataclass(frozen=True, kw_only=True)
class RunContext:
    """Provenance, checks and failure of a run, for the files of a report.

    Attributes
    ----------
    failure
        Error of the run; None if there is a result.
    heading
        Title of pages that the user chose; empty for the report's own.
    step
        Next step, as on a terminal; empty if there is none.
    """

    provenance: Provenance
    checks: Sequence[CheckResult] = ()
    failure: Failure | None = None
    heading: str = ""
    step: str = ""


@dataclass(frozen=True, kw_only=True)
class Format:
    """A format of report files.

    Attributes
    ----------
    failed
        Function that renders the error of a run without a report. A signal may call it at any time, so it
        imports nothing.
    is_page
        Whether it is a page for people, with a title, figures and provenance.
    needs_digests
        Whether it states the digests of the inputs and rule files that the run reads.
    needs_rules
        Whether it states the digests that rule files state.
    begins
        First bytes of every report, if the ending is also that of rows. A failed run replaces no other file.
    """

    render: Callable[[Report, RunContext], str]
    failed: Callable[[Failure], str]
    is_page: bool = False
    needs_digests: bool = False
    needs_rules: bool = False
    begins: bytes = b""

    def begins_as(self, head: bytes) -> bool:
        """Whether a file that begins with some bytes is empty or can be a report of this format."""
        return not head or head.startswith(self.begins)
