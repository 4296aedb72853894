"""Report of ``uqcli export``."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, ClassVar, Final

from uqcli.base.choices import SqlDialect
from uqcli.base.defaults import VERSION
from uqcli.base.notices import Notice
from uqcli.base.records import dataclass
from uqcli.base.wording import MOST_NAMED, count, listed, rows_of
from uqcli.reports.document import Document, HeadCard, Metrics, OneResult, Table, Verdict, plain
from uqcli.rules.saved import Saved

_LANGUAGES: Final = {"python": "Python", "onnx": "ONNX"}


class NotCompared:
    """A program is written, and not compared with its rule."""

    notes: ClassVar[Sequence[str]] = ("The program was not compared with the rule: --check INPUT does that.",)

    @property
    def metrics(self) -> Metrics:
        """Counts of rows."""
        return {}

    @property
    def verdict(self) -> Verdict | None:
        """What the head of pages says."""
        return None

    @property
    def lead(self) -> Sequence[str]:
        """The outcome."""
        return ()


@dataclass(frozen=True, kw_only=True)
class Differences(NotCompared):
    """Comparison of a program with its rule: the rows in which they differ, and the first of them in words.

    Rows were compared, and among them those that were made: beside every number that the rule compares.
    Columns are missing that the rule adds and the program does not compute. ``run_by`` is the dialect of SQL
    that was run, empty for other programs; ``not_run`` is that of the program if the other was run in its
    place.
    """

    rows: int
    compared: int
    made: int
    example: str = ""
    missing: tuple[str, ...] = ()
    run_by: str = ""
    not_run: str = ""

    notes: ClassVar[Sequence[str]] = ()

    @property
    def agree(self) -> bool:
        """Whether the program and the rule agree in all rows, and no column is missing."""
        return not self.rows and not self.missing

    @property
    def metrics(self) -> Metrics:
        """Counts of rows."""
        return {"compared": self.compared, "made": self.made, "differences": self.rows}

    @property
    def verdict(self) -> Verdict:
        """What the head of pages says."""
        if self.agree:
            return Verdict(text="agrees with the rule", tone="good")
        return Verdict(text="differs from the rule", tone="bad")

    @property
    def lead(self) -> list[str]:
        """The outcome."""
        return [self.sentence()]

    def sentence(self) -> str:
        """State the outcome."""
        of_rows = f"{rows_of(self.compared)} ({count(self.made)} at and beside every threshold)"
        program = f"same rule as {_DATABASES[self.run_by]} SQL" if self.not_run else "program"
        if self.missing:
            return f"the {program} lacks the columns {', '.join(self.missing)}"
        if self.rows:
            return (
                f"the {program} differs from the rule in {count(self.rows)} of {of_rows}, "
                f"first at {self.example}"
            )
        if self.not_run:
            return (
                f"The {program} agrees with the rule in {of_rows}. uqcli cannot run the SQL of "
                f"{_DATABASES[self.not_run]}: compare it there."
            )
        place = f" in {_DATABASES[self.run_by]}" if self.run_by else ""
        return f"The program agrees{place} with the rule in {of_rows}."


_DATABASES: Final = {
    "duckdb": "DuckDB",
    "sqlite": "SQLite",
    "postgres": "PostgreSQL",
    "bigquery": "BigQuery",
    "snowflake": "Snowflake",
    "spark": "Spark",
    "mysql": "MySQL",
}


@dataclass(frozen=True, kw_only=True)
class ExportReport(OneResult):
    """An exported rule.

    The dialect is empty for other targets than SQL, and the table if the program is no query. Inputs and
    outputs are the columns that the program reads and computes, and its size is in bytes.
    """

    rule: Saved
    target: str
    dialect: str
    table: str
    inputs: list[str]
    outputs: list[str]
    size: int
    differences: NotCompared

    @property
    def metrics(self) -> Metrics:
        """Size of the program, and the comparison with the rule if there is one."""
        return {"bytes": self.size, **self.differences.metrics}

    def payload(self) -> dict[str, Any]:
        """Return the JSON form."""
        return {
            "command": "export",
            "uqcli_version": VERSION,
            "parameters": {
                "kind": str(self.rule.kind),
                "target": str(self.target),
                "dialect": str(self.dialect) or None,
                "inputs": self.inputs,
                "outputs": self.outputs,
            },
            "metrics": plain(self.metrics),
            "notes": list(self.differences.lead),
        }

    def _cautions(self) -> list[Notice]:
        """Say what becomes of columns of the table with the names of outputs, where a query cannot tell."""
        if not self.table or self.dialect == SqlDialect.DUCKDB:
            return []
        has = "a column" if len(self.outputs) == 1 else "columns"
        names = listed(self.outputs[:MOST_NAMED])
        text = f"if {self.table} has {has} {names} already, the result has two of a name, or the query fails."
        return [Notice("outputs-in-table", text)]

    def document(self) -> Document:
        """Return the readable form."""
        language = f"SQL ({self.dialect})" if self.dialect else _LANGUAGES.get(self.target, str(self.target))
        rows = [("reads", ", ".join(self.inputs)), ("computes", ", ".join(self.outputs))]
        title = f"Wrote the rule as {language}: {count(self.size)} bytes."
        return Document(
            title=title,
            lead=self.differences.lead,
            tables=[Table(title="", header=("", "columns"), rows=rows, left=2)],
            notes=[self.rule.in_a_sentence().rstrip(".") + ".", *self.differences.notes],
            cautions=self._cautions(),
            card=HeadCard(title=title, verdict=self.differences.verdict),
        )
