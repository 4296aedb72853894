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
from uqcli.export.report import ExportReport
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
    if request.table is not None and request.to is not ExportTarget.SQL:
        raise UsageError(words("--table with --to {}", request.to), expected=words("--to sql"))
    rule = request.rule or load_unedited(request.artifact)
    formula = rule.formula()
    _refuse_two_kinds(formula)
    _require(_NEEDS.get(request.to))
    facts = _facts(rule)
    program = _program(request, formula, facts)
    differences = failure = None
    if request.rows is not None:
        from uqcli.export.check import RUN_DIALECTS, TABLE, compare

        dialect = request.dialect if request.dialect in RUN_DIALECTS else SqlDialect.DUCKDB
        if request.to is not ExportTarget.SQL or dialect is SqlDialect.DUCKDB:
            _require(_RUNS.get(request.to))
        runs = program
        if request.to is ExportTarget.SQL and (request.dialect, request.table) != (dialect, None):
            table = None if request.table is None else TABLE
            runs = _program(replace(request, dialect=dialect, table=table), formula, facts)
        leaves_out = request.table is None or request.dialect is SqlDialect.DUCKDB
        differences = compare(
            rule, formula, runs, request.to, request.rows, dialect=dialect,
            table_of=None if leaves_out else request.dialect,
        )  # fmt: skip
        if request.to is ExportTarget.SQL:
            not_run = None if dialect is request.dialect else request.dialect
            differences = replace(differences, run_by=dialect, not_run=not_run)
        if not differences.agree:
            failure = GateError([f"check failed: {differences.sentence()}"])
    report = ExportReport(
        rule=rule,
        target=request.to,
        dialect=request.dialect if request.to is ExportTarget.SQL else None,
        table=request.table,
        inputs=[column.name for column in formula.inputs],
        outputs=[output.name for output in formula.outputs],
        size=len(program),
        differences=differences,
    )
    return Exported(report=report, artifact=None, failure=failure, program=program)


def _refuse_two_kinds(formula: Formula) -> None:
    """Refuse a column that is read as a number and as a text."""
    names = [column.name for column in formula.inputs]
    if len(set(names)) < len(names):
        twice = next(name for name in names if names.count(name) > 1)
        raise UsageError(f"column '{twice}' is both a number and a text", expected="a column for each")


def _require(package: str | None) -> None:
    if package is not None and importlib.util.find_spec(package) is None:
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


def _program(request: ExportRequest, formula: Formula, facts: Mapping[str, str]) -> bytes:
    match request.to:
        case ExportTarget.SQL:
            from uqcli.export.sql import to_sql

            missing = "Null for rows whose numbers are null, NaN, infinite or out of their range."
            # the file says its version, and a comment ends with its line
            version = facts["version"] if _VERSION.fullmatch(facts["version"]) else "unknown"
            comment = f"uqcli export. kind: {facts['kind']}, version: {version}, digest: {facts['digest']}"
            return to_sql(formula, request.dialect, [comment, missing], request.table).encode()
        case ExportTarget.PYTHON:
            from uqcli.export.python import to_python

            return to_python(formula, facts).encode()
        case ExportTarget.ONNX:
            from uqcli.export.onnx import to_onnx

            return to_onnx(formula, facts)
