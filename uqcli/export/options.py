"""Request of ``uqcli export``."""

from __future__ import annotations

from typing import TYPE_CHECKING, ClassVar

from uqcli.base.choices import ExportTarget, SqlDialect
from uqcli.base.options import REQUIRED, choice, filled, option, several
from uqcli.base.records import dataclass

if TYPE_CHECKING:
    from uqcli.engines.request import DataRequest


@dataclass(frozen=True, kw_only=True)
class ExportRequest:
    """The program to write.

    ``artifact`` is the name of the rule. The program is compared with it on rows, if ``check`` names some.
    """

    panel: ClassVar = "Program"

    to: ExportTarget = choice("Language: sql, python or onnx.", REQUIRED, metavar="TARGET", common=True)
    dialect: SqlDialect = choice(
        "Dialect of SQL: duckdb, sqlite, postgres, bigquery, snowflake, spark or mysql.",
        SqlDialect.DUCKDB,
        metavar="NAME",
        common=True,
    )
    table: str | None = option("NAME", "Write a query of this table, not the expression alone.", common=True)
    output: str | None = option(
        "FILE", "Write the program here. (default: standard output)", also="-o", guarded=True, common=True
    )
    check: tuple[str, ...] = several(
        "INPUT",
        "Compare with the rule on these rows and at every threshold (repeatable).",
        guarded=True,
        common=True,
    )
    artifact: str = filled()
    rows: DataRequest = filled()
