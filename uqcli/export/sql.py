"""Write a formula as SQL."""

from __future__ import annotations

import math
import re
import sys
from collections.abc import Callable, Collection, Generator, Iterable, Mapping, Sequence
from dataclasses import replace
from itertools import chain
from typing import ClassVar, Final, NamedTuple

from sqlglot import exp
from sqlglot.dialects.dialect import Dialect
from sqlglot.dialects.sqlite import SQLite
from sqlglot.errors import SqlglotError

from uqcli.base.choices import SqlDialect
from uqcli.base.counts import WHOLE_NUMBER
from uqcli.base.errors import UsageError, words
from uqcli.export.names import Names
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
    Lookup,
    Maximum,
    Name,
    Output,
    Steps,
    TextIn,
    compared_texts,
    compared_with_texts,
    direct_parts,
    parts_of,
    write,
)

MAX_CHARACTERS: Final[Mapping[SqlDialect, int]] = {
    SqlDialect.BIGQUERY: 1_000_000,
    SqlDialect.SNOWFLAKE: 1_000_000,
    SqlDialect.DUCKDB: 30_000_000,
    SqlDialect.SQLITE: 30_000_000,
    SqlDialect.POSTGRES: 30_000_000,
    SqlDialect.SPARK: 30_000_000,
    SqlDialect.MYSQL: 1_000_000,
}
"""Longest statement that a database reads; of those without a limit, what is read within a minute."""

_MOST_REPEATED: Final = 1_000_000
"""Longest statement in which each output computes again what several outputs use."""

_MOST_COLUMNS: Final[Mapping[SqlDialect, int]] = {
    SqlDialect.SQLITE: 2000,
    SqlDialect.POSTGRES: 1600,
    SqlDialect.MYSQL: 4096,
}
"""Columns that a query may have, by the databases that have a limit."""

_LONGEST_NAME: Final[Mapping[SqlDialect, int]] = {
    SqlDialect.POSTGRES: 63,
    SqlDialect.SNOWFLAKE: 255,
    SqlDialect.BIGQUERY: 300,
    SqlDialect.MYSQL: 64,
}
"""Bytes of the name of a column, in MySQL characters, by the databases that have a limit."""


def _in_ascii_lower_case(name: str) -> str:
    return "".join(character.lower() if character.isascii() else character for character in name)


_CASES: Final[Mapping[SqlDialect, Callable[[str], str]]] = {
    SqlDialect.DUCKDB: _in_ascii_lower_case,
    SqlDialect.SQLITE: _in_ascii_lower_case,
    SqlDialect.SPARK: str.lower,
    SqlDialect.BIGQUERY: str.lower,
    SqlDialect.MYSQL: str.lower,
}
"""How names are folded, by the dialects in which two that differ only in case are one, though in quotes."""


def folded(name: str, dialect: SqlDialect) -> str:
    """Return what is the same for all names of a column that are one in a dialect."""
    return _CASES.get(dialect, str)(name)


_WITHOUT_STEPS: Final = (SqlDialect.SQLITE, SqlDialect.MYSQL)
"""Dialects whose queries of a table have no named columns beside it, since none can be left out of ``*``.

In SQLite a subquery of the row has them. In MariaDB such a subquery cannot see the row, so that values are
written out.
"""

_WITH_SUBQUERIES: Final = (SqlDialect.SQLITE, SqlDialect.POSTGRES, SqlDialect.SPARK)
"""Dialects whose expressions may name values in a subquery of the row.

DuckDB joins such a subquery, and rows lose their order: there functions of lists name values. In other
dialects they are written out.
"""

_NAMING: Final = (*_WITH_SUBQUERIES, SqlDialect.DUCKDB)

_WITHOUT: Final[Mapping[SqlDialect, str]] = {
    SqlDialect.SNOWFLAKE: "EXCLUDE",
    SqlDialect.BIGQUERY: "EXCEPT",
    SqlDialect.SPARK: "EXCEPT",
}
"""Word that leaves columns out of all of a table, by dialect."""

_MOST_STEPS: Final = 100
"""Common table expressions that build on each other."""

_LONGEST_LINE: Final = 120
_CHAIN: Final = 100
"""Conditions or arguments in a row: SQLite has at most 127 arguments, and 1,000 levels of operators."""

_MANY_PARTS: Final = 300
"""Parts of expressions from which a database computes a step once, not wherever it is used."""

_SIMPLE: Final = re.compile(r"[a-z_][a-z0-9_]*")
_PLAIN: Final = re.compile(r"[A-Za-z0-9 _.-]*")
_FLOATING: Final = re.compile(r"[+-]?(?:\d+\.\d*|\.\d+|\d+(?=[eE]))(?:[eE][+-]?\d+)?")
"""Text of a floating-point number, which may come from a column of such numbers."""

_NUMBER: Final = re.compile(rf"{_FLOATING.pattern}|-?\d+")

_TRY_CAST: Final[Mapping[SqlDialect, str]] = {
    SqlDialect.DUCKDB: "TRY_CAST",
    SqlDialect.SPARK: "TRY_CAST",
    SqlDialect.BIGQUERY: "SAFE_CAST",
}
"""Conversions that are null for a text that is no number, where the others end the statement."""

_TYPED_BY_ROWS: Final = (SqlDialect.DUCKDB, SqlDialect.SPARK, SqlDialect.SQLITE)
"""Dialects in which a file's type, or that of each value, is the type of a column."""

_NO_FLOATS: Final[Mapping[SqlDialect, str]] = {
    SqlDialect.DUCKDB: "TYPEOF({0}) NOT IN ('FLOAT', 'DOUBLE')",
    SqlDialect.SQLITE: "TYPEOF({0}) <> 'real'",
    SqlDialect.SPARK: "TYPEOF({0}) NOT IN ('float', 'double')",
    SqlDialect.POSTGRES: "CAST(PG_TYPEOF({0}) AS TEXT) NOT IN ('real', 'double precision', 'numeric')",
    SqlDialect.SNOWFLAKE: "SYSTEM$TYPEOF({0}) NOT LIKE 'FLOAT%'",
    SqlDialect.BIGQUERY: """TO_JSON_STRING({0}) NOT IN ('"NaN"', '"Infinity"', '"-Infinity"')""",
}
"""Tests that a column does not hold floating-point numbers, or in BigQuery no special one."""

_SPECIAL_TEXTS: Final[Mapping[SqlDialect, str]] = {
    SqlDialect.SQLITE: "'Inf', '-Inf'",
    SqlDialect.SPARK: "'NaN', 'Infinity', '-Infinity'",
    SqlDialect.POSTGRES: "'NaN', 'Infinity', '-Infinity'",
    SqlDialect.SNOWFLAKE: "'NaN', 'inf', '-inf'",
    SqlDialect.BIGQUERY: "'nan', 'inf', '-inf'",
}
"""Texts of NaN and of infinity, in quotes; DuckDB compares texts by the statistics of a file, without NaN."""

_LARGEST_DOUBLE: Final = repr(sys.float_info.max)
"""What MySQL has in place of infinity, also for a text that is a larger number."""

_MYSQL_NUMBER: Final = "^[[:space:]]*[-+]?([0-9]+[.]?[0-9]*|[.][0-9]+)([eE][-+]?[0-9]+)?[[:space:]]*$"
"""Pattern of a text that is a number; without a backslash, which a setting of the server may quote."""

_BEYOND: Final = "\uffff"
"""Last character that a name in MySQL may have."""

_EXACT_DIGITS: Final = 15
"""Digits of a decimal number that SQLite reads without an error."""

_LARGEST_SHIFT: Final = 980
"""Largest power of two by which a fraction is divided at once."""

Lines = list[str]
"""A part of a statement. A line is not split, since a text in quotes may have line breaks."""


_SUM, _PRODUCT, _ATOM = 1, 2, 3
"""How strongly the parts of an expression hold together."""


class _Sql(NamedTuple):
    """A part of a statement."""

    lines: Lines
    strength: int = _ATOM

    def operand(self, strength: int) -> Lines:
        """Return it with parentheses unless it holds together as strongly."""
        return self.lines if self.strength >= strength else _joined("(", self.lines, ")")


_Writing = Generator[Expression, _Sql, _Sql]


def to_sql(formula: Formula, dialect: SqlDialect, comments: Sequence[str], table: str | None = None) -> str:
    """Write a formula as an expression, as several with their names, or as a query of a table.

    What is used twice is a named column: of a common table expression, or of a subquery of the row. Comments
    are lines before it. Refused are programs beyond the limits of the database, names that no table has, and
    the comparison of a text that is a floating-point number of another text in the database.
    """
    _refuse_names(formula, dialect)
    _refuse_floating_texts(formula, dialect)
    quoting = _Quoting(dialect, _maybe_floats(formula, dialect))
    _refuse_size(formula, quoting, is_query=table is not None)
    writer = _Writer(quoting, formula)
    lines = writer.expressions() if table is None else writer.query(table)
    text = "\n".join([*(f"-- {comment}" for comment in comments), *lines]) + "\n"
    if len(text) > MAX_CHARACTERS[dialect]:
        raise _too_long(f"{len(text):,}", MAX_CHARACTERS[dialect], dialect, is_query=table is not None)
    return text


def _refuse_names(formula: Formula, dialect: SqlDialect) -> None:
    """Refuse names of columns and groups that the database cannot have."""
    texts = {text for part in formula.parts() for text in _texts_of(part)}
    columns = [column.name for column in formula.inputs]
    names = [*columns, *(output.name for output in formula.outputs)]
    if any("\0" in text for text in (*names, *texts)):
        raise UsageError(
            "a name of a column, a class or a group has the character NUL",
            expected="names that a database can hold",
            remedy=words("export it --to python"),
        )
    if "" in columns:
        raise UsageError("a column without a name", expected="a name of each column, for SQL")
    if dialect is SqlDialect.SPARK and any("${" in name for name in names):
        raise UsageError(
            "a name of a column with '${', from which Spark reads a variable",
            expected="other names of the columns",
            remedy="rename the column",
        )
    if dialect is SqlDialect.MYSQL and any(name.endswith(" ") or max(name) > _BEYOND for name in names):
        raise UsageError(
            "a name of a column that ends with a blank, or has a character such as an emoji",
            expected="names that MySQL can hold",
            remedy="rename the column",
        )
    unit = "characters" if dialect is SqlDialect.MYSQL else "bytes"
    longest = max(len(name if dialect is SqlDialect.MYSQL else name.encode()) for name in names)
    limit = _LONGEST_NAME.get(dialect)
    if limit is not None and longest > limit:
        raise UsageError(
            f"the name of a column has {longest:,} {unit}",
            expected=f"at most {limit}, as in {dialect}",
            remedy="rename the column",
        )
    known: dict[str, str] = {}
    for column in columns:
        other = known.setdefault(folded(column, dialect), column)
        if other != column:
            raise UsageError(
                f"columns '{other}' and '{column}', which are one in {dialect}",
                expected="names that differ in more than case",
            )
    most = _MOST_COLUMNS.get(dialect)
    if most is not None and len(names) > most:
        raise UsageError(
            f"the rule reads {len(columns):,} columns and adds {len(formula.outputs):,}",
            expected=f"at most {most:,} together, as in {dialect}",
            remedy=words("export it --to python or onnx, or for another dialect"),
        )


def _texts_of(part: Expression) -> Iterable[str]:
    """Return the texts in a part itself."""
    match part:
        case Constant(str(value)):
            return (value,)
        case TextIn(_, texts):
            return texts
        case Lookup(_, groups):
            return [text for group in groups for texts in group for text in texts or ()]
        case _:
            return ()


def _refuse_size(formula: Formula, quoting: _Quoting, *, is_query: bool) -> None:
    """Refuse a program that is too long before it is written."""
    dialect = quoting.dialect
    is_repeated = len(formula.named) > 0 and (not is_query or dialect in _WITHOUT_STEPS)
    most = min(MAX_CHARACTERS[dialect], _MOST_REPEATED if is_repeated else MAX_CHARACTERS[dialect])
    least = _least_characters(formula, quoting, is_query=is_query)
    if least > most:
        raise _too_long(f"more than {least:,}", most, dialect, is_query=is_query)


def _too_long(characters: str, most: int, dialect: SqlDialect, *, is_query: bool) -> UsageError:
    has_shorter = not is_query and dialect not in _WITHOUT_STEPS
    query = words("write a query with --table, ") if has_shorter else ""
    return UsageError(
        f"the rule takes {characters} characters of SQL",
        expected=f"at most {most:,} for {dialect}",
        remedy=words("{}export it --to python or onnx, or fit fewer groups, bins or trees", query),
    )


def _least_characters(formula: Formula, quoting: _Quoting, *, is_query: bool) -> int:
    """Return fewer characters than a program has, and seldom fewer than half of them."""
    has_steps = is_query and quoting.dialect not in _WITHOUT_STEPS
    is_named = has_steps or quoting.dialect in _NAMING
    length = (_NamedLength if is_named else _Length)(formula, quoting)
    shared = length.of_named(formula.named)
    copies = 1 if has_steps else len(formula.outputs)
    outputs = sum(length.of_value(output.value) for output in formula.outputs)
    return outputs + copies * (shared + length.of_tests())


class _Length:
    """Least characters of expressions, in a dialect that writes out a named value wherever it is used."""

    def __init__(self, formula: Formula, quoting: _Quoting) -> None:
        self._quoting = quoting
        self._converted = {
            column: len(quoting.converted(column, formula.required)) for column in formula.inputs
        }
        self._columns: Mapping[Column, int] = self._converted
        self._names: dict[str, int] = {}

    def of_tests(self) -> int:
        """Return the characters of the tests of whether the inputs are usable."""
        return sum(size + len(" >= 0") for size in self._converted.values())

    def of_named(self, named: Sequence[tuple[str, Expression]]) -> int:
        """Return the characters of the named values themselves; none where they are written out."""
        for name, value in named:
            self._names[name] = self.of_value(value)
        return 0

    def of_value(self, value: Expression) -> int:
        """Return the characters of a value."""
        return write(value, self._step)

    def _step(self, part: Expression) -> Generator[Expression, int, int]:  # noqa: PLR0911
        match part:
            case Name(name):
                return self._names[name]
            case Let(name, value, body):
                self._names[name] = yield value
                return (yield body)
            case Column():
                return self._columns[part]
            case IsMissing(column):
                return self._columns[column]
            case Constant(value):
                return len(self._quoting.literal(value))
            case TextIn(column, texts):
                listed = sum(len(self._quoting.text(text)) + len(", ") for text in texts)
                return self._columns[column] + listed
            case Steps(argument, edges, leaves):
                size = len(edges) * ((yield argument) + len("CASE WHEN  <  THEN  ELSE  END"))
                size += sum(len(self._quoting.literal(edge)) for edge in edges)
                for leaf in leaves:
                    size += yield leaf
                return size
            case Lookup():
                return (yield _as_case(part))
            case _:
                size = len("WHEN  THEN ") * len(part.branches) if isinstance(part, Case) else 1
                for inner in direct_parts(part):
                    size += yield inner
                return size


class _NamedLength(_Length):
    """Least characters in a dialect that computes a value once and then writes its name."""

    _REFERENCE = len("uqcli_x")

    def __init__(self, formula: Formula, quoting: _Quoting) -> None:
        super().__init__(formula, quoting)
        self._columns = dict.fromkeys(self._converted, self._REFERENCE)

    def of_named(self, named: Sequence[tuple[str, Expression]]) -> int:
        return sum([self._of_steps(value, name) for name, value in named])

    def of_value(self, value: Expression) -> int:
        return self._of_steps(value, "")

    def _of_steps(self, value: Expression, name: str) -> int:
        """Return the characters of a value and of the named ones in it, each under its name."""
        hoisted, body = _hoisted(value)
        total = 0
        for own_name, own in [*hoisted, (name, body)]:
            total += write(own, self._step) + (len(" AS ") + self._REFERENCE if own_name else 0)
            self._names[own_name] = self._REFERENCE
        return total


def _refuse_floating_texts(formula: Formula, dialect: SqlDialect) -> None:
    """Refuse texts of floating-point numbers that databases write in different ways."""
    for column, texts in compared_with_texts(formula):
        for text in texts:
            is_exact = text.removesuffix(".0") in texts if WHOLE_NUMBER.fullmatch(text) else False
            if _FLOATING.fullmatch(text) and not is_exact and not _is_common(text, dialect):
                raise UsageError(
                    f"'{column.name}' is compared with {text}, "
                    "a number that databases write in different ways",
                    expected="texts or integers",
                    remedy=words("make groups of texts or integers, or export it --to python"),
                )


def _maybe_floats(formula: Formula, dialect: SqlDialect) -> frozenset[Column]:
    """Return the text columns that may hold floating-point numbers, such as NaN for missing texts.

    Where a table declares its types, a column that is compared with other texts than numbers does not.
    """
    texts = compared_texts(formula)
    if dialect is SqlDialect.MYSQL:  # which has no such numbers
        return frozenset()
    return frozenset(
        column
        for column in formula.inputs
        if column.kind == "text"
        and (dialect in _TYPED_BY_ROWS or all(map(_NUMBER.fullmatch, texts[column.name])))
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


class _Quoting:
    """A dialect's own words, quotes and literals; some text columns may hold floating-point numbers."""

    def __init__(self, dialect: SqlDialect, maybe_floats: Collection[Column] = ()) -> None:
        self.dialect = dialect
        self._maybe_floats = maybe_floats
        rules = Dialect.get_or_raise(_SqliteInBackticks if dialect is SqlDialect.SQLITE else dialect)
        self._generator = rules.generator()
        self._reserved = {word.lower() for word in rules.tokenizer_class.KEYWORDS} | {
            word.lower() for word in rules.generator_class.RESERVED_KEYWORDS
        }
        self.double = self._generated(exp.DataType.build("double"))
        is_mysql = dialect is SqlDialect.MYSQL  # whose CAST has other names of types than its tables
        self.text_type = (
            "CHAR CHARACTER SET utf8mb4" if is_mysql else self._generated(exp.DataType.build("text"))
        )

    def _generated(self, part: exp.Expression) -> str:
        written: str = self._generator.generate(part, copy=False)
        return written

    def identifier(self, name: str) -> str:
        """Write a name in quotes, since every database reserves other words.

        Snowflake folds names without quotes to upper case, so a name that needs none is that name.
        """
        if self.dialect is SqlDialect.SNOWFLAKE and _SIMPLE.fullmatch(name.lower()):
            name = name if name.lower() in self._reserved else name.upper()
        return self._generated(exp.to_identifier(name, quoted=True))

    def table(self, name: str) -> tuple[str, list[str]]:
        """Write the name of a table, with its parts; what is no name becomes a quoted one."""
        if not name.strip() or "\0" in name or (self.dialect is SqlDialect.SPARK and "${" in name):
            raise UsageError(words("--table '{}'", name), expected="the name of a table")
        try:
            parsed = exp.to_table(name, dialect=self.dialect).parts
        except SqlglotError:
            parsed = []
        parts = [part for part in parsed if isinstance(part, exp.Identifier)]
        if not parts or len(parts) < len(parsed):  # a function, say
            parts = [exp.to_identifier(name, quoted=True)]
        fold = {SqlDialect.POSTGRES: str.lower, SqlDialect.SNOWFLAKE: str.upper}.get(self.dialect, str)
        names = [part.name if part.quoted else fold(part.name) for part in parts]
        return ".".join(self._generated(exp.to_identifier(part, quoted=True)) for part in names), names

    def text(self, text: str) -> str:
        """Write a text in quotes."""
        if _PLAIN.fullmatch(text):
            return f"'{text}'"
        if self.dialect is SqlDialect.MYSQL:  # whatever quotes mean there, and the connection's encoding
            return f"_utf8mb4 X'{text.encode().hex()}'"
        written = self._generated(exp.Literal.string(text))
        if self.dialect is SqlDialect.POSTGRES and "\\" in text:  # an escape by an old setting of the server
            return "E" + written.replace("\\", "\\\\")
        if self.dialect is SqlDialect.SPARK:  # which replaces variables, ${env:HOME}, before it reads a text
            return written.replace("$", "\\u0024")
        return written

    def cast(self, value: str, kind: str) -> str:
        """Write a conversion."""
        return f"CAST({value} AS {kind})"

    def special(self, text: str) -> str:
        """Write a double by its text."""
        return self.cast(f"'{text}'", self.double)

    def infinity(self, sign: str) -> str:
        """Write positive or negative infinity."""
        match self.dialect:
            case SqlDialect.SQLITE:
                return f"{sign}9e999"
            case SqlDialect.MYSQL:
                return f"{sign}{_LARGEST_DOUBLE}"
            case SqlDialect.POSTGRES | SqlDialect.SPARK:
                return self.special(f"{sign}Infinity")
            case _:
                return self.special(f"{sign}inf")

    def literal(self, value: float | bool | int | str | None) -> str:
        """Write a constant; doubles by their shortest decimal form, read as doubles without an error."""
        if value is None or isinstance(value, bool):
            return {None: "NULL", True: "TRUE", False: "FALSE"}[value]
        if isinstance(value, str):
            return self.text(value)
        if isinstance(value, int):
            return str(value)
        sign = "-" if str(value).startswith("-") and value != 0 else ""
        return self.infinity(sign) if abs(value) == float("inf") else f"{sign}{self._double(abs(value))}"

    def _double(self, value: float) -> str:
        text = repr(value)
        if self.dialect is SqlDialect.SNOWFLAKE:
            return self.special(text)
        digits = text.partition("e")[0].replace(".", "").strip("0")
        if self.dialect is SqlDialect.SQLITE and len(digits) > _EXACT_DIGITS:
            return _fraction(value)
        return text if "e" in text else f"{text}e0"

    def is_finite(self, number: str) -> str:
        """Write whether a number is neither NaN nor infinite, by the dialect's own means; null for null."""
        match self.dialect:
            case SqlDialect.DUCKDB:
                return f"ISFINITE({number})"
            case SqlDialect.SQLITE | SqlDialect.MYSQL:  # which have no NaN
                return f"ABS({number}) < {self.infinity('')}"
            case SqlDialect.BIGQUERY:
                return f"NOT (IS_NAN({number}) OR IS_INF({number}))"
            case SqlDialect.SPARK:
                infinite = f"ABS({number}) = {self.infinity('')}"
                return f"{number} IS NOT NULL AND NOT ISNAN({number}) AND NOT {infinite}"
            case SqlDialect.POSTGRES | SqlDialect.SNOWFLAKE:  # where NaN equals itself
                special = [self.special("NaN"), self.infinity(""), self.infinity("-")]
                return f"NOT {number} IN ({', '.join(special)})"

    def is_missing(self, number: str) -> str:
        """Write whether a number that is not infinite is null or NaN."""
        match self.dialect:
            case SqlDialect.SQLITE | SqlDialect.MYSQL:
                return f"{number} IS NULL"
            case SqlDialect.POSTGRES | SqlDialect.SNOWFLAKE:
                return f"({number} IS NULL OR {number} = {self.special('NaN')})"
            case SqlDialect.BIGQUERY:
                return f"({number} IS NULL OR IS_NAN({number}))"
            case SqlDialect.DUCKDB:  # whose ISNAN is false for the NaN of a file, by its statistics
                return f"({number} IS NULL OR NOT {self.is_finite(number)})"
            case SqlDialect.SPARK:
                return f"({number} IS NULL OR ISNAN({number}))"

    def stripped(self, text: str) -> str:
        """Write a text without white space at its ends; by default most databases strip blanks only."""
        if self.dialect is SqlDialect.BIGQUERY:
            return f"TRIM({text})"
        if self.dialect is SqlDialect.MYSQL:
            pattern = f"^[{WHITE_SPACE}]+|[{WHITE_SPACE}]+$".encode().hex()
            return f"REGEXP_REPLACE({text}, _utf8mb4 X'{pattern}', '') COLLATE utf8mb4_bin"
        function = "BTRIM" if self.dialect in (SqlDialect.POSTGRES, SqlDialect.SPARK) else "TRIM"
        # a column may have another collation, in which texts that differ are equal
        is_collated = self.dialect in (SqlDialect.POSTGRES, SqlDialect.DUCKDB)
        collation = ' COLLATE "C"' if is_collated else ""
        return f"{function}({text}, {_white_space(self.dialect)}){collation}"

    def converted(self, column: Column, required: Collection[str] = ()) -> str:
        """Write a column as a double, or as a text without white space at its ends.

        All outputs are null in a row without a required number.
        """
        name = self.identifier(column.name)
        if column.kind == "number":
            is_tested = self.dialect is SqlDialect.MYSQL and column.name in required
            return self.cast(name, self.double) if is_tested else self._number(name)
        text = self.cast(name, self.text_type)
        if column not in self._maybe_floats:
            return self.stripped(text)
        texts = _SPECIAL_TEXTS.get(self.dialect)
        is_finite = f"{text} NOT IN ({texts})" if texts else self.is_finite(self._number(name))
        is_value = f"{_NO_FLOATS[self.dialect].format(name)} OR {is_finite}"
        return f"CASE WHEN {is_value} THEN {self.stripped(text)} END"

    def is_number(self, name: str) -> str:
        """Write whether a column of MySQL, which takes any other text for 0, is a number."""
        return f"CAST({name} AS CHAR) REGEXP '{_MYSQL_NUMBER}'"

    def _number(self, name: str) -> str:
        """Write a column as a double; a text that is no number is null, or ends the statement."""
        if self.dialect is SqlDialect.MYSQL:
            return f"CASE WHEN {self.is_number(name)} THEN {self.cast(name, self.double)} END"
        if self.dialect is not SqlDialect.SQLITE:
            return f"{_TRY_CAST.get(self.dialect, 'CAST')}({name} AS {self.double})"
        # it reads '' as 0, but as a text it is above infinity
        is_number = f"{name} <= {self.cast('9e999', self.double)}"
        return f"CASE WHEN {is_number} THEN {self.cast(name, self.double)} END"


class _Writer:
    """Writer of the outputs of a formula in a dialect.

    A converted column or a value that is used several times is a named column. A value is computed one step
    after those that it uses, and is null in rows without the required numbers.
    """

    def __init__(self, quoting: _Quoting, formula: Formula) -> None:
        self._formula = formula
        self._quoting = quoting
        self._dialect = quoting.dialect
        self._inputs: dict[Column, str] = {}
        self._usable = ""
        self._values: dict[str, _Sql] = {}
        self._levels: dict[str, int] = {}
        self._step_names: list[str] = []
        self._row = ""

    def query(self, table: str) -> Lines:
        """Write a query of a table: its columns and the outputs."""
        source, parts = self._quoting.table(table)
        if self._dialect in _WITHOUT_STEPS:
            return _selected(["*", *self._each()], source)
        names = self._allocator(parts)
        steps, outputs = self._steps_and_values(self._formula.outputs, names)
        if self._dialect is SqlDialect.POSTGRES:  # which leaves no column out, but has a row as a column
            row = names.new("uqcli_row")
            first, every, source = row, f"({row}).*", f"{source} AS {row}"
        else:
            first, every = "*", self._all_but([name for step in steps for name, _ in step])
        return self._with(steps, first, source, [[every], *self._named(outputs)])

    def _all_but(self, hidden: Sequence[str]) -> str:
        """Write the columns of the table without named values.

        In DuckDB a column of the table that has the name of an output is left out as well: a query would have
        two of that name. Only a condition on names allows that such a column may be absent.
        """
        if self._dialect is not SqlDialect.DUCKDB:
            return f"* {_WITHOUT[self._dialect]} ({', '.join(hidden)})"
        names = [*hidden, *(output.name for output in self._formula.outputs)]
        texts = ", ".join(self._quoting.text(name.lower()) for name in names)
        return f"COLUMNS(LAMBDA uqcli_column: LOWER(uqcli_column) NOT IN ({texts}))"

    def expressions(self) -> Lines:
        """Write the expression of each output; several have their names."""
        if len(self._formula.outputs) == 1:
            return self._expression(self._formula.outputs[0])
        return _listed(self._each())

    def _each(self) -> list[Lines]:
        return self._named([self._expression(output) for output in self._formula.outputs])

    def _named(self, values: Sequence[Lines]) -> list[Lines]:
        return [
            _joined(value, f" AS {self._quoting.identifier(output.name)}")
            for value, output in zip(values, self._formula.outputs, strict=True)
        ]

    def _expression(self, output: Output) -> Lines:
        """Write an output as an expression: what is used several times is named in a subquery of the row."""
        texts = sum(
            len(part.groups) if isinstance(part, Lookup) else isinstance(part, TextIn | IsMissing)
            for part in parts_of(output.value)
        )
        is_short = texts < 2 and not self._has_values(output) and self._dialect is not SqlDialect.SQLITE
        if self._dialect not in _NAMING or is_short:
            self._values = {}
            self._inputs = {column: self._converted(column) for column in self._formula.inputs}
            self._usable = self._all_usable()
            for name, value in self._formula.named:
                self._values[name] = self._written(value)
            return self._guarded(self._output(output, self._written(output.value)))
        names = self._allocator(())
        self._row = names.new("uqcli_row") if self._dialect is SqlDialect.DUCKDB else ""
        steps, values = self._steps_and_values([output], names)
        if self._row:
            return _with_lambdas(steps, values[0], self._row)
        return _joined("(", self._with(steps, "", "", values), ")")

    def _converted(self, column: Column) -> str:
        return self._quoting.converted(column, self._formula.required)

    def _has_values(self, output: Output) -> bool:
        return bool(self._formula.named) or len(_hoisted(output.value)[0]) > 0

    def _allocator(self, others: Iterable[str]) -> Names:
        columns = [column.name for column in self._formula.inputs]
        taken = [*columns, *(output.name for output in self._formula.outputs)]
        return Names([*taken, *others], str.lower)

    def _steps_and_values(
        self, outputs: Sequence[Output], names: Names
    ) -> tuple[list[list[tuple[str, Lines]]], list[Lines]]:
        """Return the named columns of each step, and the outputs, which use them."""
        formula, steps = self._formula, list[list[tuple[str, Lines]]]()
        self._values, self._levels, self._step_names = {}, {}, [names.new("uqcli_step")]
        columns = {
            column: names.new(f"uqcli_{formula.roles.get(column.name, column.kind)}")
            for column in formula.inputs
        }
        steps.append([(name, [self._converted(column)]) for column, name in columns.items()])
        self._inputs = {column: self._reference(name) for column, name in columns.items()}
        order: list[tuple[str, Expression]] = []
        values: list[Expression] = []
        for name, value in formula.named:
            hoisted, body = _hoisted(value)
            order += [*hoisted, (name, body)]
        for output in outputs:
            hoisted, body = _hoisted(output.value)
            order += hoisted
            values.append(body)
        self._usable = self._all_usable()
        if self._usable and (order or len(outputs) > 1):
            name = names.new("uqcli_usable")
            steps.append([(name, [self._usable])])
            self._step_names.append(names.new("uqcli_step"))
            self._usable = self._reference(name)
        first = len(steps)
        for name, value in order:
            used = [part.name for part in parts_of(value) if isinstance(part, Name)]
            level = max((self._levels[other] + 1 for other in used if other in self._levels), default=first)
            column = names.new(f"uqcli_{name.partition(' ')[0]}")
            text = self._written(value).lines
            if any(isinstance(part, Column) for part in parts_of(value)):  # others use guarded values
                text = self._guarded(text)
            if _is_decimal(value, self._dialect):
                text = _joined("CAST(", text, f" AS {self._quoting.double})")
            if level == len(steps):
                steps.append([])
                self._step_names.append(names.new("uqcli_step"))
            self._values[name], self._levels[name] = _Sql([self._reference(column)]), level
            steps[level].append((column, text))
        self._refuse_steps(steps)
        return steps, [
            self._guarded(self._output(output, self._written(value)))
            for output, value in zip(outputs, values, strict=True)
        ]

    def _reference(self, name: str) -> str:
        """Write a named column, which is a field of the argument if functions name it."""
        return f"{self._row}.{name}" if self._row else name

    def _refuse_steps(self, steps: Sequence[Sequence[tuple[str, Lines]]]) -> None:
        """Refuse more steps or named columns than the database has."""
        columns, most = sum(map(len, steps)), _MOST_COLUMNS.get(self._dialect)
        if len(steps) > _MOST_STEPS or (most is not None and columns > most):
            raise UsageError(
                f"the rule computes {columns:,} values in {len(steps):,} steps",
                expected=f"at most {_MOST_STEPS} steps" + (f" and {most:,} values" if most else ""),
                remedy=words("export it --to python or onnx"),
            )

    def _with(
        self, steps: Sequence[Sequence[tuple[str, Lines]]], every: str, source: str, last: Sequence[Lines]
    ) -> Lines:
        """Write common table expressions, one for each step, and a query of the last one."""
        # written out again by these two otherwise: long values would be computed, and read, many times
        is_long = self._formula.named or sum(1 for _ in self._formula.parts()) > _MANY_PARTS
        keeps = is_long and self._dialect in (SqlDialect.SQLITE, SqlDialect.POSTGRES)
        lines: Lines = []
        for step_name, step in zip(self._step_names, steps, strict=True):
            items = [_joined(value, f" AS {name}") for name, value in step]
            lines = _joined(
                lines or ["WITH "],
                ", " if lines else "",
                f"{step_name} AS {'MATERIALIZED ' if keeps else ''}(",
            )
            lines += [*_indented(_selected([*([every] if every else []), *items], source)), ")"]
            every, source = "*", step_name
        return [*lines, *_selected(last, source)]

    def _all_usable(self) -> str:
        """Write whether all numbers are usable; empty if there are none."""
        numbers = [column for column in self._formula.inputs if column.kind == "number"]
        return _chained(" AND ", [test for column in numbers for test in self._usable_tests(column)])

    def _usable_tests(self, column: Column) -> list[str]:
        """Write that a number is finite and in its range; one that may be missing must not be infinite."""
        number, quoting = self._inputs[column], self._quoting
        if column.name not in self._formula.required:
            infinite = " OR ".join(f"{number} = {quoting.infinity(sign)}" for sign in ("", "-"))
            return [f"({number} IS NULL OR NOT ({infinite}))"]
        is_mysql = self._dialect is SqlDialect.MYSQL
        first = [quoting.is_number(quoting.identifier(column.name))] if is_mysql else []
        if column.name not in self._formula.ranges:
            return [*first, quoting.is_finite(number)]
        low, high = map(quoting.literal, self._formula.ranges[column.name])
        # no other dialect takes NaN for a number in a range, as DuckDB does by the statistics of a file
        first += [quoting.is_finite(number)] if self._dialect is SqlDialect.DUCKDB else []
        return [*first, f"{number} >= {low}", f"{number} <= {high}"]

    def _guarded(self, value: Lines) -> Lines:
        """Write a value that is null unless all required numbers are usable."""
        if not self._usable:
            return value
        start = f"CASE WHEN {self._usable}"
        if len(value) == 1 and len(start) + len(value[0]) > _LONGEST_LINE:
            return [start, f"  THEN {value[0]} END"]
        return _joined(f"{start} THEN ", value, " END")

    def _output(self, output: Output, value: _Sql) -> Lines:
        if output.kind != "double":
            return value.lines
        return _joined("CAST(", value.lines, f" AS {self._quoting.double})")

    def _written(self, expression: Expression) -> _Sql:
        return write(expression, self._step)

    def _step(self, expression: Expression) -> _Writing:  # noqa: PLR0911, PLR0912
        """Write an expression; a named value is written out where it is used, unless it is a column."""
        match expression:
            case Column():
                return _Sql([self._inputs[expression]])
            case Constant(value):
                is_negative = isinstance(value, float) and value < 0
                return _Sql([self._quoting.literal(value)], _SUM if is_negative else _ATOM)
            case Name(name):
                return self._values[name]
            case Let(name, value, body):
                self._values[name] = yield value
                return (yield body)
            case Comparison(operator, left, right):
                first = yield left
                return _Sql(_joined(first.lines, f" {operator} ", (yield right).lines), _SUM)
            case Arithmetic(operator, left, right):
                strength = _SUM if operator in "+-" else _PRODUCT
                start = (yield left).operand(strength)
                if _is_decimal(left, self._dialect) and _is_decimal(right, self._dialect):
                    start = _joined("CAST(", start, f" AS {self._quoting.double})")
                return _Sql(_joined(start, f" {operator} ", (yield right).operand(strength + 1)), strength)
            case Function(name, argument):
                return _Sql(_joined(f"{name.upper()}(", (yield argument).lines, ")"))
            case Maximum(arguments):
                return _Sql([_greatest((yield from _texts_of_each(arguments)), self._dialect)])
            case AllOf(conditions):
                return _Sql([_chained(" AND ", (yield from _texts_of_each(conditions))) or "TRUE"], _SUM)
            case IsMissing(column):
                return _Sql([self._is_missing(column)])
            case TextIn(column, texts_in):
                return _Sql([self._is_in(column, texts_in)])
            case Case(branches, default):
                return (yield from _branches(branches, default))
            case Lookup():
                return (yield _as_case(expression))
            case Line(argument, start, slope, value):
                written_out = Arithmetic(
                    "+",
                    Arithmetic("*", Constant(slope), Arithmetic("-", argument, Constant(start))),
                    Constant(value),
                )
                return (yield written_out)
            case Steps(argument):
                return (yield from self._steps((yield argument).operand(_SUM), expression))

    def _steps(self, argument: Lines, steps: Steps) -> _Writing:
        """Write steps as nested comparisons of logarithmic depth."""
        if not steps.edges:
            return (yield steps.leaves[0])
        low, edge, high = steps.halves()
        below = _joined(argument, f" < {self._quoting.literal(edge)}")
        first = yield from self._steps(argument, low)
        other = yield from self._steps(argument, high)
        return _Sql(_case([(below, first.lines)], other.lines))

    def _is_missing(self, column: Column) -> str:
        value = self._inputs[column]
        return (
            f"({value} IS NULL OR {value} = '')" if column.kind == "text" else self._quoting.is_missing(value)
        )

    def _is_in(self, column: Column, texts: Sequence[str]) -> str:
        """Write whether a text is one of some, as a condition; truth values are compared in lower case."""
        truths = [text for text in texts if text in TRUTHS]
        others = [text for text in texts if text not in TRUTHS]
        if self._dialect is SqlDialect.SPARK:
            others += [_with_exponent(text) for text in others if _is_large_whole_number(text)]
        value = self._inputs[column]

        def listed(name: str, words: Iterable[str]) -> str:
            written = list(words)
            return f"{name} = {written[0]}" if len(written) == 1 else f"{name} IN ({', '.join(written)})"

        tests: list[str] = []
        if others:
            tests.append(listed(value, map(self._quoting.text, others)))
        if truths:
            tests.append(listed(f"LOWER({value})", map(self._quoting.text, truths)))
        if truths and self._dialect is SqlDialect.SQLITE:  # whose truth values are 0 and 1
            name = self._quoting.identifier(column.name)
            numbers = listed(name, (str(int(text == "true")) for text in truths))
            tests.append(f"TYPEOF({name}) = 'integer' AND {numbers}")
        if truths and self._dialect is SqlDialect.MYSQL:  # which tells 1 from true nowhere
            known = compared_texts(self._formula)[column.name]
            digits = [digit for digit, text in (("1", "true"), ("0", "false")) if text in truths]
            if unknown := [digit for digit in digits if digit not in known]:
                tests.append(listed(value, map(self._quoting.text, unknown)))
        return f"({' OR '.join(tests)})" if len(tests) > 1 else (tests or ["FALSE"])[0]


def _with_lambdas(steps: Sequence[Sequence[tuple[str, Lines]]], value: Lines, row: str) -> Lines:
    """Write functions, one for each step, of a list of one structure, to which it adds the named columns.

    They are not nested, since the time to read nested ones doubles with each.
    """
    first, *others = steps
    lines = _joined("[{", _listed([_joined(f"'{name}': ", text) for name, text in first]), "}]")
    for step in others:
        fields = _listed([_joined(f"{name} := ", text) for name, text in step])
        lines = [*_joined(lines, f", LAMBDA {row}:"), *_joined(f"STRUCT_INSERT({row}, ", fields, "))")]
    lines = [*_joined(lines, f", LAMBDA {row}:"), *_joined(value, ")[1]")]
    return _joined("LIST_TRANSFORM(" * len(steps), lines)


def _is_decimal(expression: Expression, dialect: SqlDialect) -> bool:
    """Whether a value is an exact decimal in PostgreSQL: one of some constants."""
    if dialect is not SqlDialect.POSTGRES:
        return False
    values = [expression]
    while values:
        match values.pop():
            case Constant(float()):
                pass
            case Case(branches, default):
                values += [default, *(value for _, value in branches)]
            case Lookup(_, _, leaves, default):
                values += [default, *leaves]
            case Steps(_, _, leaves):
                values += leaves
            case _:
                return False
    return True


def _greatest(numbers: Sequence[str], dialect: SqlDialect) -> str:
    """Write the largest of some numbers, none of which is null."""
    while len(numbers) > 1:
        parts = [numbers[start : start + _CHAIN] for start in range(0, len(numbers), _CHAIN)]
        function = "MAX" if dialect is SqlDialect.SQLITE else "GREATEST"
        numbers = [f"{function}({', '.join(part)})" if len(part) > 1 else part[0] for part in parts]
    return numbers[0]


def _texts_of_each(parts: Sequence[Expression]) -> Generator[Expression, _Sql, list[str]]:
    texts = []
    for part in parts:
        texts.append("\n".join((yield part).lines))
    return texts


def _branches(branches: Sequence[tuple[Expression, Expression]], default: Expression) -> _Writing:
    written = []
    for condition, value in branches:
        test = yield condition
        written.append((test.lines, (yield value).lines))
    last = yield default
    return _Sql(_case(written, last.lines)) if written else last


def _hoisted(expression: Expression) -> tuple[list[tuple[str, Expression]], Expression]:
    """Take named values out of an expression if they are computed in every row.

    Those in a branch are not: they are written out where they are used.
    """
    values: list[tuple[str, Expression]] = []

    def taken(part: Expression) -> Generator[Expression, Expression, Expression]:
        match part:
            case Let(name, value, body):
                values.append((name, (yield value)))
                return (yield body)
            case Arithmetic(_, left, right) | Comparison(_, left, right):
                first = yield left
                return replace(part, left=first, right=(yield right))
            case Function(_, argument) | Line(argument) | Steps(argument):
                return replace(part, argument=(yield argument))
            case Maximum(arguments):
                inner = []
                for argument in arguments:
                    inner.append((yield argument))
                return Maximum(tuple(inner))
            case _:
                return part

    body = write(expression, taken)
    return values, body


def _joined(*parts: str | Sequence[str]) -> Lines:
    """Put parts one after the other; the next goes on in the last line of a part of several lines."""
    lines = [""]
    for part in parts:
        first, *others = [part] if isinstance(part, str) else part
        lines[-1] += first
        lines += others
    return lines


def _indented(lines: Iterable[str]) -> Lines:
    return [f"  {line}" for line in lines]


def _listed(items: Sequence[Sequence[str]]) -> Lines:
    """Write items with commas, each on lines of its own."""
    return [line for item in items[:-1] for line in _joined(item, ",")] + [*chain(*items[-1:])]


def _selected(items: Sequence[str | Lines], source: str) -> Lines:
    """Write a query of a table, or of the row if there is none; on one line if it is short."""
    first, *others = [[item] if isinstance(item, str) else item for item in items]
    end = f" FROM {source}" if source else ""
    if len(first) == 1 and all(len(item) == 1 for item in others):
        line = f"SELECT {', '.join(item[0] for item in (first, *others))}{end}"
        if len(line) <= _LONGEST_LINE:
            return [line]
    lines = _joined("SELECT ", first, "," if others else "") + _indented(_listed(others))
    if end and len(lines[-1]) + len(end) <= _LONGEST_LINE:
        return _joined(lines, end)
    return [*lines, end.strip()] if end else lines


def _case(branches: Sequence[tuple[Lines, Lines]], default: Lines) -> Lines:
    """Write a choice; on one line if it is short."""
    parts = [_joined("WHEN ", condition, " THEN ", value) for condition, value in branches]
    parts.append(_joined("ELSE ", default))
    if all(len(part) == 1 for part in parts):
        line = " ".join(["CASE", *(part[0] for part in parts), "END"])
        if len(line) <= _LONGEST_LINE:
            return [line]
    return ["CASE", *_indented(line for part in parts for line in part), "END"]


def _chained(operator: str, conditions: Sequence[str]) -> str:
    """Combine conditions; many in groups of groups, so that no database meets a long chain of operators."""
    while len(conditions) > _CHAIN:
        parts = [conditions[start : start + _CHAIN] for start in range(0, len(conditions), _CHAIN)]
        conditions = [f"({operator.join(part)})" for part in parts]
    return operator.join(conditions)


def _as_case(lookup: Lookup) -> Case:
    """Return the conditions and values of a search, divided by the texts of the first column if many.

    Databases try one condition after the other: so they try the square root of their number, twice.
    """
    first, *others = lookup.columns
    is_alone = not others
    if len(lookup.groups) <= _CHAIN or not (is_alone or isinstance(lookup.default, Constant)):
        return Case(tuple(zip(lookup.conditions(), lookup.values, strict=True)), lookup.default)
    by_text: dict[tuple[str, ...] | None, list[int]] = {}
    for index, group in enumerate(lookup.groups):
        by_text.setdefault(group[0], []).append(index)
    missing = by_text.pop(None, [])
    parts: list[tuple[Expression, list[int]]] = [(IsMissing(first), missing)] if missing else []
    size = math.isqrt(len(by_text)) + 1
    texts = list(by_text)
    for start in range(0, len(texts), size):
        own = [text for text in texts[start : start + size] if text is not None]
        inside = TextIn(first, tuple(chain.from_iterable(own)))
        parts.append((inside, [index for text in own for index in by_text[text]]))

    def within(indices: Sequence[int]) -> Expression:
        # a row with one of the texts of the only column is in one of the groups
        chosen = indices[:-1] if is_alone else indices
        default = lookup.values[indices[-1]] if is_alone else lookup.default
        groups = tuple(lookup.groups[index] for index in chosen)
        return Lookup(lookup.columns, groups, tuple(lookup.values[index] for index in chosen), default)

    return Case(tuple((condition, within(indices)) for condition, indices in parts), lookup.default)


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
    if dialect is SqlDialect.POSTGRES:
        return _white_space_by_encoding()
    return "'" + "".join(f"\\u{ord(character):04x}" for character in WHITE_SPACE) + "'"


def _white_space_by_encoding() -> str:
    """Write the characters of white space that the encoding of a PostgreSQL database has.

    A constant that has others ends the statement when it is planned. The conversion from bytes is not
    planned ahead, so that only the branch of the encoding runs.
    """
    branches = []
    for encoding, codec in (("UTF8", "utf-8"), ("LATIN1", "latin-1")):
        characters = [character for character in WHITE_SPACE if codec == "utf-8" or ord(character) < 256]
        content = "".join(characters).encode(codec).hex()
        branches.append(f"WHEN '{encoding}' THEN CONVERT_FROM(DECODE('{content}', 'hex'), '{encoding}')")
    ascii_only = "".join(f"\\x{ord(character):02x}" for character in WHITE_SPACE if character.isascii())
    return f"CASE CURRENT_SETTING('server_encoding') {' '.join(branches)} ELSE E'{ascii_only}' END"


def _fraction(value: float) -> str:
    """Write a double as an integer times or divided by a power of two, which is exact."""
    numerator, denominator = value.as_integer_ratio()
    shift = max(numerator.bit_length() - sys.float_info.mant_dig, 0)  # trailing zeros of a large number
    text = " * ".join([f"{numerator >> shift}e0", *_powers(shift)])
    shift = denominator.bit_length() - 1
    for part in (min(shift, _LARGEST_SHIFT), shift - _LARGEST_SHIFT):
        if part > 0:
            powers = _powers(part)
            text += f" / ({' * '.join(powers)})" if len(powers) > 1 else f" / {powers[0]}"
    return f"({text})"


def _powers(exponent: int) -> list[str]:
    """Split a power of two into factors of at most 2^49, of at most 15 digits."""
    return [f"{2 ** min(49, exponent - start)}e0" for start in range(0, exponent, 49)]
