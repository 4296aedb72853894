"""Write a formula as SQL."""

from __future__ import annotations

import re
import sys
from collections.abc import Mapping, Sequence
from typing import Any, Final

from sqlglot import exp
from sqlglot.dialects.dialect import Dialect

from uqcli.choices import SqlDialect
from uqcli.errors import UsageError
from uqcli.expressions import (
    AllOf,
    Arithmetic,
    Case,
    Column,
    Comparison,
    Constant,
    Expression,
    Formula,
    Function,
    IsMissing,
    Let,
    Line,
    Maximum,
    Name,
    Output,
    Steps,
    TextIn,
)

MAX_CHARACTERS: Final = 1_000_000
"""Longest statement that SQLite and BigQuery read."""

Sql = Any
"""A part of a statement; sqlglot's functions declare several classes for it."""

_SIMPLE: Final = re.compile(r"[a-z_][a-z0-9_]*")
_EXACT_DIGITS: Final = 15
"""Digits of a decimal number that SQLite reads without an error."""

_LARGEST_SHIFT: Final = 980
"""Largest power of two by which a fraction is divided at once."""

_OPERATORS: Final[Mapping[str, Any]] = {
    "+": exp.Add,
    "-": exp.Sub,
    "*": exp.Mul,
    "/": exp.Div,
    "<": exp.LT,
    "<=": exp.LTE,
    ">": exp.GT,
    ">=": exp.GTE,
}
_TYPES: Final = {"double": "double", "integer": "bigint", "bool": "boolean", "text": "text"}


def to_sql(formula: Formula, dialect: SqlDialect, comments: Sequence[str], table: str | None = None) -> str:
    """Write a formula as an expression, as several with their names, or as a query of a table.

    Parameters
    ----------
    comments
        Lines before it.
    table
        Name of the table; None for the expressions alone.

    Raises
    ------
    UsageError
        It would be longer than ``MAX_CHARACTERS``, or the name of the table is none.
    """
    writer = _Writer(dialect, formula)
    values = [writer.output(output) for output in formula.outputs]
    named = [
        exp.alias_(value, writer.identifier(output.name))
        for value, output in zip(values, formula.outputs, strict=True)
    ]
    if table is not None:
        query = exp.select(exp.Star(), *named).from_(writer.table(table))
        text = query.sql(dialect=dialect, pretty=True)
    elif len(values) == 1:
        text = values[0].sql(dialect=dialect, pretty=True)
    else:
        text = ",\n".join(value.sql(dialect=dialect, pretty=True) for value in named)
    if len(text) > MAX_CHARACTERS:
        raise UsageError(
            f"the rule takes {len(text):,} characters of SQL",
            expected=f"at most {MAX_CHARACTERS:,}",
            remedy="export it --to python or onnx, or fit fewer bins or trees",
        )
    lines = [f"-- {line}" for comment in comments for line in comment.splitlines()]
    return "\n".join([*lines, text]) + "\n"


class _Writer:
    """Writer of expressions in a dialect."""

    def __init__(self, dialect: SqlDialect, formula: Formula) -> None:
        self._dialect = dialect
        self._formula = formula
        generator = Dialect.get_or_raise(dialect)
        self._reserved = {word.lower() for word in generator.tokenizer_class.KEYWORDS} | {
            word.lower() for word in generator.generator_class.RESERVED_KEYWORDS
        }

    def identifier(self, name: str) -> exp.Identifier:
        """Write a name, quoted only if it must be.

        SQLite takes an unknown name in double quotes for a text, and Snowflake folds other names.
        """
        simple = name.lower() if self._dialect is SqlDialect.SNOWFLAKE else name
        quoted = not _SIMPLE.fullmatch(simple) or name.lower() in self._reserved
        return exp.to_identifier(name, quoted=quoted)

    def table(self, name: str) -> Sql:
        """Parse the name of a table."""
        if not name.strip():
            raise UsageError(f"--table '{name}'", expected="the name of a table")
        return exp.to_table(name, dialect=self._dialect)  # what is no name becomes a quoted one

    def output(self, output: Output) -> Sql:
        """Write an output: null unless all required numbers are usable."""
        value = self._written(output.value, {})
        value = exp.cast(value, "double") if output.kind == "double" else value
        conditions = [self._is_usable(column) for column in self._formula.inputs if column.kind == "number"]
        return exp.Case(ifs=[exp.If(this=exp.and_(*conditions), true=value)])

    def _is_usable(self, column: Column) -> Sql:
        """Write whether a number is finite and in its range; one that may be missing must not be infinite."""
        number = self._number(column)
        if column.name not in self._formula.required:
            infinite = [exp.EQ(this=number.copy(), expression=self._infinity(sign)) for sign in ("", "-")]
            return exp.or_(self._is_missing(column), exp.not_(exp.or_(*infinite)))
        usable = self._is_finite(number)
        if column.name in self._formula.ranges:
            low, high = self._formula.ranges[column.name]
            bounds = [
                exp.GTE(this=number.copy(), expression=self._literal(low)),
                exp.LTE(this=number.copy(), expression=self._literal(high)),
            ]
            usable = exp.and_(usable, *bounds)
        return usable

    def _is_finite(self, number: Sql) -> Sql:
        """Write whether a number is neither NaN nor infinite, by the dialect's own means; null for null."""
        match self._dialect:
            case SqlDialect.DUCKDB:
                return exp.Anonymous(this="ISFINITE", expressions=[number])
            case SqlDialect.SQLITE:  # which has no NaN
                return exp.LT(this=exp.Abs(this=number), expression=self._infinity(""))
            case SqlDialect.BIGQUERY:
                tests = [
                    exp.Anonymous(this=name, expressions=[number.copy()]) for name in ("IS_NAN", "IS_INF")
                ]
                return exp.not_(exp.or_(*tests))
            case SqlDialect.SPARK:
                is_nan = exp.Anonymous(this="ISNAN", expressions=[number.copy()])
                is_infinite = exp.EQ(this=exp.Abs(this=number), expression=self._infinity(""))
                return exp.and_(
                    exp.Is(this=number.copy(), expression=exp.Not(this=exp.Null())),
                    exp.not_(is_nan),
                    exp.not_(is_infinite),
                )
            case SqlDialect.POSTGRES | SqlDialect.SNOWFLAKE:  # where NaN equals itself
                special = [self._special("NaN"), self._infinity(""), self._infinity("-")]
                return exp.not_(exp.In(this=number, expressions=special))

    def _special(self, text: str) -> Sql:
        return exp.cast(exp.Literal.string(text), "double")

    def _infinity(self, sign: str) -> Sql:
        match self._dialect:
            case SqlDialect.SQLITE:
                number: Sql = exp.Literal.number("9e999")
                return exp.Neg(this=number) if sign else number
            case SqlDialect.POSTGRES | SqlDialect.SPARK:
                return self._special(f"{sign}Infinity")
            case _:
                return self._special(f"{sign}inf")

    def _is_missing(self, column: Column) -> Sql:
        if column.kind == "text":
            text = self._text(column)
            return exp.or_(
                exp.Is(this=text, expression=exp.Null()),
                exp.EQ(this=text.copy(), expression=exp.Literal.string("")),
            )
        number = self._number(column)
        is_null = exp.Is(this=number, expression=exp.Null())
        match self._dialect:
            case SqlDialect.SQLITE:
                return is_null
            case SqlDialect.POSTGRES | SqlDialect.SNOWFLAKE:
                return exp.or_(is_null, exp.EQ(this=number.copy(), expression=self._special("NaN")))
            case SqlDialect.BIGQUERY:
                return exp.or_(is_null, exp.Anonymous(this="IS_NAN", expressions=[number.copy()]))
            case _:
                return exp.or_(is_null, exp.Anonymous(this="ISNAN", expressions=[number.copy()]))

    def _number(self, column: Column) -> Sql:
        return exp.cast(exp.Column(this=self.identifier(column.name)), "double")

    def _text(self, column: Column) -> Sql:
        return exp.Trim(this=exp.cast(exp.Column(this=self.identifier(column.name)), "text"))

    def _literal(self, value: float | bool | int | str | None) -> Sql:
        """Write a constant; doubles by their shortest decimal form, read as doubles without an error."""
        if value is None:
            return exp.Null()
        if isinstance(value, bool):
            return exp.Boolean(this=value)
        if isinstance(value, str):
            return exp.Literal.string(value)
        if isinstance(value, int):
            return exp.Literal.number(value)
        literal = self._double(abs(value))
        return exp.Neg(this=literal) if str(value).startswith("-") and value != 0 else literal

    def _double(self, value: float) -> Sql:
        text = repr(value)
        if self._dialect is SqlDialect.SNOWFLAKE:
            return self._special(text)
        digits = text.partition("e")[0].replace(".", "").strip("0")
        if self._dialect is SqlDialect.SQLITE and len(digits) > _EXACT_DIGITS:
            return _fraction(value)
        return exp.Literal.number(text if "e" in text else f"{text}e0")

    def _written(self, expression: Expression, names: Mapping[str, Sql]) -> Sql:  # noqa: PLR0911, PLR0912
        """Write an expression; named values are written out wherever they are used."""

        def written(part: Expression) -> Sql:
            return self._written(part, names)

        match expression:
            case Column():
                return self._number(expression)
            case Constant(value):
                return self._literal(value)
            case Name(name):
                return names[name].copy()
            case Let(name, value, body):
                return self._written(body, {**names, name: written(value)})
            case Arithmetic(operator, left, right):
                return _OPERATORS[operator](this=_operand(written(left)), expression=_operand(written(right)))
            case Comparison(operator, left, right):
                return _OPERATORS[operator](this=_operand(written(left)), expression=_operand(written(right)))
            case Function(name, argument):
                return (exp.Ln if name == "ln" else exp.Exp)(this=written(argument))
            case Maximum(arguments):
                first, *others = map(written, arguments)
                return exp.Greatest(this=first, expressions=others, ignore_nulls=False)
            case AllOf(conditions):
                return exp.and_(*map(written, conditions))
            case IsMissing(column):
                return exp.paren(self._is_missing(column))
            case TextIn(column, texts):
                return self._is_in(column, texts)
            case Case(branches, default):
                ifs = [exp.If(this=written(condition), true=written(value)) for condition, value in branches]
                return exp.Case(ifs=ifs, default=written(default)) if ifs else written(default)
            case Line(argument, start, slope, value):
                difference = exp.Sub(
                    this=_operand(written(argument)), expression=_operand(self._literal(start))
                )
                product = exp.Mul(this=self._literal(slope), expression=exp.paren(difference))
                return exp.Add(this=product, expression=_operand(self._literal(value)))
            case Steps(argument):
                return self._steps(written(argument), expression, names)

    def _steps(self, argument: Sql, steps: Steps, names: Mapping[str, Sql]) -> Sql:
        """Write steps as nested comparisons of logarithmic depth."""
        if not steps.edges:
            return self._written(steps.leaves[0], names)
        low, edge, high = steps.halves()
        below = exp.LT(this=argument.copy(), expression=self._literal(edge))
        return exp.Case(
            ifs=[exp.If(this=below, true=self._steps(argument, low, names))],
            default=self._steps(argument, high, names),
        )

    def _is_in(self, column: Column, texts: Sequence[str]) -> Sql:
        """Write whether a text is one of some; truth values are compared in lower case."""
        if not texts:
            return exp.false()
        text = self._text(column)
        is_truth = {"true", "false"}.issuperset(texts)
        compared = exp.Lower(this=text) if is_truth else text
        inside = exp.In(this=compared, expressions=[exp.Literal.string(text) for text in texts])
        return exp.Coalesce(this=inside, expressions=[exp.false()])


def _operand(part: Sql) -> Sql:
    """Put an operand in parentheses if it needs them."""
    return exp.paren(part) if isinstance(part, exp.Binary | exp.Neg) else part


def _fraction(value: float) -> Sql:
    """Write a double as an integer times or divided by a power of two, which is exact."""
    numerator, denominator = value.as_integer_ratio()
    scaled: Sql = exp.Literal.number(f"{numerator}e0")
    if numerator.bit_length() > sys.float_info.mant_dig:  # trailing zeros of a large number
        shift = numerator.bit_length() - sys.float_info.mant_dig
        scaled = exp.Literal.number(f"{numerator >> shift}e0")
        for power in _powers(shift):
            scaled = exp.Mul(this=scaled, expression=exp.Literal.number(power))
    shift = denominator.bit_length() - 1
    for part in (min(shift, _LARGEST_SHIFT), shift - _LARGEST_SHIFT):
        if part > 0:  # one division each: sqlglot nests casts in a chain of them, too deep for SQLite
            first, *others = map(exp.Literal.number, _powers(part))
            product: Sql = first
            for factor in others:
                product = exp.Mul(this=product, expression=factor)
            scaled = exp.Div(this=scaled, expression=_operand(product))
    return exp.paren(scaled)


def _powers(exponent: int) -> list[str]:
    """Split a power of two into factors of at most 2^49, of at most 15 digits."""
    return [f"{2 ** min(49, exponent - start)}e0" for start in range(0, exponent, 49)]
