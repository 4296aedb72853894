"""Request of ``uqcli overview``."""

from __future__ import annotations

from typing import TYPE_CHECKING, ClassVar

from uqcli.base.options import filled, names, option
from uqcli.base.records import dataclass

if TYPE_CHECKING:
    from uqcli.engines.request import DataRequest


@dataclass(frozen=True, kw_only=True)
class OverviewRequest:
    """Rows to look at.

    Attributes
    ----------
    data
        With the named columns, and the default names of the others.
    named
        Options of columns and of reading that the user has set; the others may be found in the inputs.
    uncertainties
        Columns of which each is tested as an uncertainty.
    """

    panel: ClassVar = "Overview"

    audit: tuple[str, ...] = option(
        "COL,...", "Also test each value of these columns, and each pair.", (), parse=names
    )
    data: DataRequest = filled()
    named: frozenset[str] = frozenset()
    uncertainties: tuple[str, ...] = ()
