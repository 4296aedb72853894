"""Write a formula as SQL."""

from __future__ import annotations

import re
import sys
from collections.abc import Mapping, Sequence
from dataclasses import fields
from functools import partial
from typing import Any, ClassVar, Final

from sqlglot import exp
from sqlglot.dialects.dialect import Dialect
from sqlglot.dialects.sqlite import SQLite

from uqcli.base.choices import SqlDialect
from uqcli.base.counts import WHOLE_NUMBER
from uqcli.base.errors import UsageError
from uqcli.rules.expressions import (
    TRUTHS,
    WHITE_SPACE,
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
    direct_parts,
    parts_of,
)

MAX_CHARACTERS: Final = 1_000_000
"""Longest statement that SQLite and BigQuery read."""

Sql = Any
"""A part of a statement; sqlglot's functions declare several classes for it."""

_SIMPLE: Final = re.compile(r"[a-z_][a-z0-9_]*")
_FLOATING: Final = re.compile(r"[+-]?(?:\d+\.\d*|\.\d+|\d+(?=[eE]))(?:[eE][+-]?\d+)?")
"""Text of a floating-point number, which may come from a column of such numbers."""

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
# a part has one place in the statement, so that sqlglot need not copy it
_and: Final = partial(exp.and_, copy=False)
_or: Final = partial(exp.or_, copy=False)
_not: Final = partial(exp.not_, copy=False)
_paren: Final = partial(exp.paren, copy=False)
_cast: Final = partial(exp.cast, copy=False)
_DOUBLE, _TEXT = exp.DataType.Type.DOUBLE, exp.DataType.Type.TEXT


def to_sql(formula: Formula, dialect: SqlDialect, comments: Sequence[str], table: str | None = None) -> str:
    """Write a formula as an expression, as several with their names, or as a query of a table.

    Comments are lines before it. Refused are a program longer than ``MAX_CHARACTERS``, a name that no table
    has, and the comparison of a text that is a floating-point number of another text in the database.
    """
    least = sum(_least_characters(output.value, {}) for output in formula.outputs)
    if least > MAX_CHARACTERS:
        raise _too_long(f"more than {least:,}")
    _refuse_floating_texts(formula, dialect)
    writer = _Writer(dialect, formula)
    values = [writer.output(output) for output in formula.outputs]
    generator = writer.generator
    named = [
        exp.alias_(value, writer.identifier(output.name), copy=False)
        for value, output in zip(values, formula.outputs, strict=True)
    ]
    if table is not None:
        query = exp.select(exp.Star(), *named, copy=False).from_(writer.table(table))
        text = query.sql(dialect=generator, pretty=True, copy=False)
    elif len(values) == 1:
        text = values[0].sql(dialect=generator, pretty=True, copy=False)
    else:
        text = ",\n".join(value.sql(dialect=generator, pretty=True, copy=False) for value in named)
    if len(text) > MAX_CHARACTERS:
        raise _too_long(f"{len(text):,}")
    lines = [f"-- {line}" for comment in comments for line in comment.splitlines()]
    return "\n".join([*lines, text]) + "\n"


def _too_long(characters: str) -> UsageError:
    return UsageError(
        f"the rule takes {characters} characters of SQL",
        expected=f"at most {MAX_CHARACTERS:,}",
        remedy="export it --to python or onnx, or fit fewer bins or trees",
    )


def _least_characters(expression: Expression, names: Mapping[str, int]) -> int:  # noqa: PLR0911
    """Return fewer characters than an expression takes, named values written out wherever they are used."""

    def least(part: Expression) -> int:
        return _least_characters(part, names)

    match expression:
        case Name(name):
            return names[name]
        case Let(name, value, body):
            return _least_characters(body, {**names, name: least(value)})
        case Column(name=name):
            return len(name) + len('CAST("" AS REAL)')
        case Constant(value):
            return len(repr(value))
        case Line(argument):
            return least(argument) + len(repr((expression.start, expression.slope, expression.value)))
        case Steps(argument, edges, leaves):
            tests = len(edges) * (least(argument) + len("CASE WHEN  <  THEN  ELSE  END"))
            return tests + sum(len(repr(edge)) for edge in edges) + sum(map(least, leaves))
        case _:
            parts = (getattr(expression, part.name) for part in fields(expression))
            return 1 + sum(least(part) for value in parts for part in direct_parts(value))


def _refuse_floating_texts(formula: Formula, dialect: SqlDialect) -> None:
    """Refuse texts of floating-point numbers that databases write in different ways."""
    comparisons = (
        part for output in formula.outputs for part in parts_of(output.value) if isinstance(part, TextIn)
    )
    for comparison in comparisons:
        for text in comparison.texts:
            is_exact = text.removesuffix(".0") in comparison.texts if WHOLE_NUMBER.fullmatch(text) else False
            if _FLOATING.fullmatch(text) and not is_exact and not _is_common(text, dialect):
                raise UsageError(
                    f"'{comparison.column.name}' is compared with {text}, "
                    "a number that databases write in different ways",
                    expected="texts or integers",
                    remedy="make groups of texts or integers, or export it --to python",
                )


def _is_common(text: str, dialect: SqlDialect) -> bool:
    """Whether a database writes a floating-point number with this text, as ``apply`` does."""
    size = abs(float(text))
    is_plain = size == 0 or _LEAST_COMMON <= size < _LARGEST_COMMON
    is_shortest = len(text) <= _EXACT_DIGITS and text == repr(float(text))
    return is_plain and is_shortest and (not text.endswith(".0") or dialect in _WITH_ZERO_FRACTION)


_LEAST_COMMON, _LARGEST_COMMON = 1e-3, 1e7
"""Spark writes other numbers with an exponent."""

_WITH_ZERO_FRACTION: Final = (SqlDialect.DUCKDB, SqlDialect.SQLITE, SqlDialect.SPARK)
"""Dialects that write 1.0 for the number 1; others write 1."""


class _SqliteInBackticks(SQLite):
    """SQLite, whose double quotes may also enclose a text: it takes an unknown name in them for one."""

    class Tokenizer(SQLite.Tokenizer):
        """Backticks are the quotes to write."""

        IDENTIFIERS: ClassVar = ["`", '"', ("[", "]")]


class _Writer:
    """Writer of expressions in a dialect."""

    def __init__(self, dialect: SqlDialect, formula: Formula) -> None:
        self._dialect = dialect
        self._formula = formula
        self.generator: Any = _SqliteInBackticks if dialect is SqlDialect.SQLITE else dialect
        generator = Dialect.get_or_raise(dialect)
        self._reserved = {word.lower() for word in generator.tokenizer_class.KEYWORDS} | {
            word.lower() for word in generator.generator_class.RESERVED_KEYWORDS
        }

    def identifier(self, name: str) -> exp.Identifier:
        """Write a name in quotes, since every database reserves other words.

        Snowflake folds names without quotes to upper case, so a name that needs none is that name.
        """
        if self._dialect is SqlDialect.SNOWFLAKE and _SIMPLE.fullmatch(name.lower()):
            name = name if name.lower() in self._reserved else name.upper()
        return exp.to_identifier(name, quoted=True)

    def table(self, name: str) -> Sql:
        """Parse the name of a table; what is no name becomes a quoted one."""
        if not name.strip():
            raise UsageError(f"--table '{name}'", expected="the name of a table")
        table = exp.to_table(name, dialect=self._dialect)
        for part in table.parts:
            if isinstance(part, exp.Identifier) and not part.quoted:
                fold = {SqlDialect.POSTGRES: str.lower, SqlDialect.SNOWFLAKE: str.upper}.get(
                    self._dialect, str
                )
                part.replace(exp.to_identifier(fold(part.name), quoted=True))
        return table

    def output(self, output: Output) -> Sql:
        """Write an output: null unless all required numbers are usable."""
        value = self._written(output.value, {})
        value = _cast(value, _DOUBLE) if output.kind == "double" else value
        conditions = [self._is_usable(column) for column in self._formula.inputs if column.kind == "number"]
        return exp.Case(ifs=[exp.If(this=_and(*conditions), true=value)])

    def _is_usable(self, column: Column) -> Sql:
        """Write whether a number is finite and in its range; one that may be missing must not be infinite."""
        number = self._number(column)
        if column.name not in self._formula.required:
            infinite = [exp.EQ(this=number.copy(), expression=self._infinity(sign)) for sign in ("", "-")]
            return _or(self._is_missing(column), _not(_or(*infinite)))
        usable = self._is_finite(number)
        if column.name in self._formula.ranges:
            low, high = self._formula.ranges[column.name]
            bounds = [
                exp.GTE(this=number.copy(), expression=self._literal(low)),
                exp.LTE(this=number.copy(), expression=self._literal(high)),
            ]
            usable = _and(usable, *bounds)
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
                return _not(_or(*tests))
            case SqlDialect.SPARK:
                is_nan = exp.Anonymous(this="ISNAN", expressions=[number.copy()])
                is_infinite = exp.EQ(this=exp.Abs(this=number), expression=self._infinity(""))
                return _and(
                    exp.Is(this=number.copy(), expression=exp.Not(this=exp.Null())),
                    _not(is_nan),
                    _not(is_infinite),
                )
            case SqlDialect.POSTGRES | SqlDialect.SNOWFLAKE:  # where NaN equals itself
                special = [self._special("NaN"), self._infinity(""), self._infinity("-")]
                return _not(exp.In(this=number, expressions=special))

    def _special(self, text: str) -> Sql:
        return _cast(exp.Literal.string(text), _DOUBLE)

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
            return _or(
                exp.Is(this=text, expression=exp.Null()),
                exp.EQ(this=text.copy(), expression=exp.Literal.string("")),
            )
        number = self._number(column)
        is_null = exp.Is(this=number, expression=exp.Null())
        match self._dialect:
            case SqlDialect.SQLITE:
                return is_null
            case SqlDialect.POSTGRES | SqlDialect.SNOWFLAKE:
                return _or(is_null, exp.EQ(this=number.copy(), expression=self._special("NaN")))
            case SqlDialect.BIGQUERY:
                return _or(is_null, exp.Anonymous(this="IS_NAN", expressions=[number.copy()]))
            case _:
                return _or(is_null, exp.Anonymous(this="ISNAN", expressions=[number.copy()]))

    def _number(self, column: Column) -> Sql:
        return _cast(exp.Column(this=self.identifier(column.name)), _DOUBLE)

    def _text(self, column: Column) -> Sql:
        """Write a text without white space at its ends; by default most databases strip blanks only."""
        text = _cast(exp.Column(this=self.identifier(column.name)), _TEXT)
        if self._dialect is SqlDialect.BIGQUERY:
            return exp.Anonymous(this="TRIM", expressions=[text])
        function = "BTRIM" if self._dialect in (SqlDialect.POSTGRES, SqlDialect.SPARK) else "TRIM"
        return exp.Anonymous(this=function, expressions=[text, exp.var(_white_space(self._dialect))])

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
                return _and(*map(written, conditions))
            case IsMissing(column):
                return _paren(self._is_missing(column))
            case TextIn(column, texts):
                return self._is_in(column, texts)
            case Case(branches, default):
                ifs = [exp.If(this=written(condition), true=written(value)) for condition, value in branches]
                return exp.Case(ifs=ifs, default=written(default)) if ifs else written(default)
            case Line(argument, start, slope, value):
                difference = exp.Sub(
                    this=_operand(written(argument)), expression=_operand(self._literal(start))
                )
                product = exp.Mul(this=self._literal(slope), expression=_paren(difference))
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
        truths = [text for text in texts if text in TRUTHS]
        others = [text for text in texts if text not in TRUTHS]
        if self._dialect is SqlDialect.SPARK:
            others += [_with_exponent(text) for text in others if _is_large_whole_number(text)]
        tests: list[Sql] = []
        if others:
            tests.append(exp.In(this=self._text(column), expressions=list(map(exp.Literal.string, others))))
        if truths:
            lower = exp.Lower(this=self._text(column))
            tests.append(exp.In(this=lower, expressions=list(map(exp.Literal.string, truths))))
        if truths and self._dialect is SqlDialect.SQLITE:  # whose truth values are 0 and 1
            value = exp.Column(this=self.identifier(column.name))
            is_integer = exp.EQ(
                this=exp.Anonymous(this="TYPEOF", expressions=[value]),
                expression=exp.Literal.string("integer"),
            )
            numbers = [exp.Literal.number(int(text == "true")) for text in truths]
            tests.append(_and(is_integer, exp.In(this=value.copy(), expressions=numbers)))
        if not tests:
            return exp.false()
        return exp.Coalesce(this=_or(*tests), expressions=[exp.false()])


def _is_large_whole_number(text: str) -> bool:
    """Whether a text is a whole floating-point number that Spark writes with an exponent."""
    match = WHOLE_NUMBER.fullmatch(text)
    return match is not None and match[2] is not None and abs(float(text)) >= _LARGEST_COMMON


def _with_exponent(text: str) -> str:
    """Write a whole number as Spark writes large floating-point numbers, 12000000.0 as 1.2E7."""
    digits = text.removesuffix(".0").removeprefix("-")
    sign = "-" if text.startswith("-") else ""
    return f"{sign}{digits[0]}.{digits[1:].rstrip('0') or '0'}E{len(digits) - 1}"


def _white_space(dialect: SqlDialect) -> str:
    """Write the characters of white space as a text."""
    if dialect is SqlDialect.SQLITE:
        return f"CHAR({', '.join(str(ord(character)) for character in WHITE_SPACE)})"
    if dialect is SqlDialect.DUCKDB:
        return " || ".join(f"CHR({ord(character)})" for character in WHITE_SPACE)
    escaped = "".join(f"\\u{ord(character):04x}" for character in WHITE_SPACE)
    return f"E'{escaped}'" if dialect is SqlDialect.POSTGRES else f"'{escaped}'"


def _operand(part: Sql) -> Sql:
    """Put an operand in parentheses if it needs them."""
    return _paren(part) if isinstance(part, exp.Binary | exp.Neg) else part


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
    return _paren(scaled)


def _powers(exponent: int) -> list[str]:
    """Split a power of two into factors of at most 2^49, of at most 15 digits."""
    return [f"{2 ** min(49, exponent - start)}e0" for start in range(0, exponent, 49)]
