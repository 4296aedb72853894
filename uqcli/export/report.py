"""Report of ``uqcli export``."""

from __future__ import annotations

from typing import Any, Final

from uqcli.base.choices import SqlDialect
from uqcli.base.defaults import VERSION
from uqcli.base.notices import Notice
from uqcli.base.records import dataclass
from uqcli.base.wording import MOST_NAMED, count, listed, rows_of
from uqcli.reports.document import Document, HeadCard, Metrics, OneResult, Table, Verdict, plain
from uqcli.rules.saved import Saved

_LANGUAGES: Final = {"python": "Python", "onnx": "ONNX"}


@dataclass(frozen=True, kw_only=True)
class Differences:
    """Comparison of a program with its rule: the rows in which they differ, and the first of them in words.

    Rows were compared, and among them those that were made: beside every number that the rule compares.
    Columns are missing that the rule adds and the program does not compute. ``run_by`` is the dialect of SQL
    that was run, None for other programs; ``not_run`` is that of the program if the other was run in its
    place.
    """

    rows: int
    compared: int
    made: int
    example: str | None = None
    missing: tuple[str, ...] = ()
    run_by: str | None = None
    not_run: str | None = None

    @property
    def agree(self) -> bool:
        """Whether the program and the rule agree in all rows, and no column is missing."""
        return not self.rows and not self.missing

    def sentence(self) -> str:
        """State the outcome."""
        of_rows = f"{rows_of(self.compared)} ({count(self.made)} at and beside every threshold)"
        program = "program" if self.not_run is None else f"same rule as {_DATABASES[self.run_by or '']} SQL"
        if self.missing:
            return f"the {program} lacks the columns {', '.join(self.missing)}"
        if self.rows:
            return (
                f"the {program} differs from the rule in {count(self.rows)} of {of_rows}, "
                f"first at {self.example}"
            )
        if self.not_run is not None:
            return (
                f"The {program} agrees with the rule in {of_rows}. uqcli cannot run the SQL of "
                f"{_DATABASES[self.not_run]}: compare it there."
            )
        place = "" if self.run_by is None else f" in {_DATABASES[self.run_by]}"
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

    The dialect is None for other targets than SQL, and the table if the program is no query. Inputs and
    outputs are the columns that the program reads and computes, and its size is in bytes. Differences from
    the rule are None if they were not looked for.
    """

    rule: Saved
    target: str
    dialect: str | None
    table: str | None
    inputs: list[str]
    outputs: list[str]
    size: int
    differences: Differences | None

    @property
    def metrics(self) -> Metrics:
        """Size of the program, and the comparison with the rule if there is one."""
        if self.differences is None:
            return {"bytes": self.size}
        check = self.differences
        return {"bytes": self.size, "compared": check.compared, "made": check.made, "differences": check.rows}

    def payload(self) -> dict[str, Any]:
        """Return the JSON form."""
        return {
            "command": "export",
            "uqcli_version": VERSION,
            "parameters": {
                "kind": str(self.rule.kind),
                "target": str(self.target),
                "dialect": None if self.dialect is None else str(self.dialect),
                "inputs": self.inputs,
                "outputs": self.outputs,
            },
            "metrics": plain(self.metrics),
            "notes": [] if self.differences is None else [self.differences.sentence()],
        }

    def _cautions(self) -> list[Notice]:
        """Say what becomes of columns of the table with the names of outputs, where a query cannot tell."""
        if self.table is None or self.dialect == SqlDialect.DUCKDB:
            return []
        has = "a column" if len(self.outputs) == 1 else "columns"
        names = listed(self.outputs[:MOST_NAMED])
        text = f"if {self.table} has {has} {names} already, the result has two of a name, or the query fails."
        return [Notice("outputs-in-table", text)]

    def document(self) -> Document:
        """Return the readable form."""
        language = f"SQL ({self.dialect})" if self.dialect else _LANGUAGES.get(self.target, str(self.target))
        rows = [("reads", ", ".join(self.inputs)), ("computes", ", ".join(self.outputs))]
        title, verdict, lead = f"Wrote the rule as {language}: {count(self.size)} bytes.", None, []
        notes = [self.rule.in_a_sentence().rstrip(".") + "."]
        if self.differences is None:
            notes.append("The program was not compared with the rule: --check INPUT does that.")
        else:
            lead = [self.differences.sentence()]
            verdict = Verdict(text="differs from the rule", tone="bad")
            if self.differences.agree:
                verdict = Verdict(text="agrees with the rule", tone="good")
        return Document(
            title=title,
            lead=lead,
            tables=[Table(title="", header=("", "columns"), rows=rows, left=2)],
            notes=notes,
            cautions=self._cautions(),
            card=HeadCard(title=title, verdict=verdict),
        )
