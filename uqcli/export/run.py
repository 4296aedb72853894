"""``uqcli export``: write a rule as a program, and check that it decides as the rule does."""

from __future__ import annotations

import importlib.util
import re
from collections.abc import Mapping
from dataclasses import replace
from types import MappingProxyType
from typing import Final

from uqcli.base.choices import ExportTarget, SqlDialect
from uqcli.base.errors import GateError, MissingExtraError, UsageError, words
from uqcli.base.records import dataclass
from uqcli.boundary.rule import BoundaryArtifact
from uqcli.export.options import ExportRequest
from uqcli.export.report import ExportReport, NotCompared
from uqcli.rules.codec import content_of, load_unedited
from uqcli.rules.expressions import Formula
from uqcli.rules.result import Result
from uqcli.rules.saved import Saved

_VERSION: Final = re.compile(r"[0-9][0-9A-Za-z.+-]{0,40}")
_NEEDS: Final[Mapping[ExportTarget, str]] = MappingProxyType(
    {ExportTarget.SQL: "sqlglot", ExportTarget.ONNX: "onnx"}
)
_RUNS: Final[Mapping[ExportTarget, str]] = MappingProxyType(
    {ExportTarget.SQL: "duckdb", ExportTarget.ONNX: "onnxruntime"}
)


@dataclass(frozen=True, kw_only=True)
class Exported(Result[ExportReport, None]):
    """Result with the program; UTF-8, or an ONNX model."""

    program: bytes


def run(request: ExportRequest) -> Exported:
    """Export a rule that is a computation on a single row."""
    to, dialect, table = request.to, request.dialect, request.table
    is_sql = to is ExportTarget.SQL
    if table is not None and not is_sql:
        raise UsageError(words("--table with --to {}", to), expected=words("--to sql"))
    rule = load_unedited(request.artifact)
    formula = rule.formula()
    _refuse_two_kinds(formula)
    _require(_NEEDS.get(to, ""))
    facts = _facts(rule)
    program = _program(to, formula, facts, dialect, table)
    compared, failure = NotCompared(), None
    if request.check:
        from uqcli.export.check import RUN_DIALECTS, TABLE, compare

        run_by = dialect if dialect in RUN_DIALECTS else SqlDialect.DUCKDB
        if not is_sql or run_by is SqlDialect.DUCKDB:
            _require(_RUNS.get(to, ""))
        runs = program
        if is_sql and (dialect, table) != (run_by, None):
            runs = _program(to, formula, facts, run_by, None if table is None else TABLE)
        leaves_out = table is None or dialect is SqlDialect.DUCKDB
        compared = differences = compare(
            rule, formula, runs, to, request.rows, dialect=run_by, table_of=None if leaves_out else dialect
        )
        if is_sql:
            not_run = "" if run_by is dialect else dialect
            compared = differences = replace(differences, run_by=run_by, not_run=not_run)
        if not differences.agree:
            failure = GateError([f"check failed: {differences.sentence()}"])
    report = ExportReport(
        rule=rule,
        target=to,
        dialect=dialect if is_sql else "",
        table=table or "",
        inputs=[column.name for column in formula.inputs],
        outputs=[output.name for output in formula.outputs],
        size=len(program),
        differences=compared,
    )
    return Exported(report=report, artifact=None, failure=failure, program=program)


def _refuse_two_kinds(formula: Formula) -> None:
    """Refuse a column that is read as a number and as a text."""
    names = [column.name for column in formula.inputs]
    if len(set(names)) < len(names):
        twice = next(name for name in names if names.count(name) > 1)
        raise UsageError(f"column '{twice}' is both a number and a text", expected="a column for each")


def _require(package: str) -> None:
    if package and importlib.util.find_spec(package) is None:
        raise MissingExtraError(
            f"this export needs {package}",
            expected="the extra 'export'",
            remedy='pip install "uqcli[export]"',
        )


def _facts(rule: Saved) -> dict[str, str]:
    """Return what a reader of the program must know about the rule."""
    facts = {
        "rule": rule.document().title,
        "kind": str(rule.kind),
        "digest": content_of(rule)["digest"],
        "version": rule.uqcli_version,
    }
    if isinstance(rule, BoundaryArtifact):
        facts["bound"] = rule.constraint.parsed().text()
    return facts


def _program(
    to: ExportTarget, formula: Formula, facts: Mapping[str, str], dialect: SqlDialect, table: str | None
) -> bytes:
    match to:
        case ExportTarget.SQL:
            from uqcli.export.sql import to_sql

            missing = "Null for rows whose numbers are null, NaN, infinite or out of their range."
            # the file says its version, and a comment ends with its line
            version = facts["version"] if _VERSION.fullmatch(facts["version"]) else "unknown"
            comment = f"uqcli export. kind: {facts['kind']}, version: {version}, digest: {facts['digest']}"
            return to_sql(formula, dialect, [comment, missing], table).encode()
        case ExportTarget.PYTHON:
            from uqcli.export.python import to_python

            return to_python(formula, facts).encode()
        case ExportTarget.ONNX:
            from uqcli.export.onnx import to_onnx

            return to_onnx(formula, facts)
