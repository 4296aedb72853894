"""What a rule computes from one row, as an expression: the form from which it is exported.

Numbers are doubles. An expression is evaluated only in rows in which the required columns are finite. It
meets a missing value only in columns that it asks about (``IsMissing``).
"""

from __future__ import annotations

import math
from collections.abc import Callable, Generator, Iterator, Mapping, Sequence
from dataclasses import field, fields
from functools import reduce
from itertools import count
from typing import Any, Final, Literal, TypeAlias, TypeVar

from uqcli.base.records import dataclass

WHITE_SPACE: Final = "".join(
    map(chr, [*range(9, 14), 32, 133, 160, 5760, *range(8192, 8203), 8232, 8233, 8239, 8287, 12288])
)
"""Characters that are stripped from the ends of texts: Unicode's white space, as in polars."""

TRUTHS: Final = ("true", "false")
"""Texts that are compared in lower case."""

Kind = Literal["number", "text"]
OutputType = Literal["bool", "double", "integer", "text"]

_FEW_EDGES: Final = 8
"""Edges up to which steps are nested conditions."""


@dataclass(frozen=True, kw_only=True)
class Column:
    """A column of the input, by name; numbers are compared as doubles, texts without white space around."""

    name: str
    kind: Kind = "number"


@dataclass(frozen=True)
class Constant:
    """A number, a truth value, or a text; None is null."""

    value: float | bool | int | str | None


@dataclass(frozen=True)
class Arithmetic:
    """Sum, difference, product or quotient of two numbers."""

    operator: Literal["+", "-", "*", "/"]
    left: Expression
    right: Expression


@dataclass(frozen=True)
class Function:
    """Natural logarithm or exponential function; arguments stay where the results are finite and not 0."""

    name: Literal["ln", "exp"]
    argument: Expression


@dataclass(frozen=True)
class Maximum:
    """Largest of several numbers."""

    arguments: tuple[Expression, ...]


@dataclass(frozen=True)
class Comparison:
    """Comparison of two numbers."""

    operator: Literal["<", "<=", ">", ">="]
    left: Expression
    right: Expression


@dataclass(frozen=True)
class AllOf:
    """Whether all conditions hold."""

    conditions: tuple[Expression, ...]


@dataclass(frozen=True)
class IsMissing:
    """Whether a column has no value: null, and for numbers NaN, for texts blanks only."""

    column: Column


@dataclass(frozen=True)
class TextIn:
    """Whether a text is one of some; false if it is missing."""

    column: Column
    texts: tuple[str, ...]


@dataclass(frozen=True)
class Case:
    """Value of the first branch whose condition holds, or the default."""

    branches: tuple[tuple[Expression, Expression], ...]
    default: Expression


@dataclass(frozen=True)
class Lookup:
    """Value of the group whose texts some columns have, or the default.

    A group has the texts of each column; None is a missing one. No two groups have the same texts.
    """

    columns: tuple[Column, ...]
    groups: tuple[tuple[tuple[str, ...] | None, ...], ...]
    values: tuple[Expression, ...]
    default: Expression

    def conditions(self) -> list[Expression]:
        """Return for each group whether a row is in it."""
        conditions: list[Expression] = []
        for texts_of_columns in self.groups:
            tests = tuple(
                IsMissing(column) if texts is None else TextIn(column, texts)
                for column, texts in zip(self.columns, texts_of_columns, strict=True)
            )
            conditions.append(tests[0] if len(tests) == 1 else AllOf(tests))
        return conditions

    def argument_of_steps(self) -> Expression | None:
        """Return the argument if all values are steps of it between constants, or constants; else None."""
        tables = [value for value in (*self.values, self.default) if isinstance(value, Steps)]
        others = [value for value in (*self.values, self.default) if not isinstance(value, Steps)]
        is_table = (
            tables
            and all(isinstance(value, Constant) for value in others)
            and all(isinstance(leaf, Constant) for table in tables for leaf in table.leaves)
            and all(table.argument == tables[0].argument for table in tables)
        )
        return tables[0].argument if is_table else None


@dataclass(frozen=True)
class Line:
    """``slope * (argument - start) + value``, rounded at each step as in numpy.interp."""

    argument: Expression
    start: float
    slope: float
    value: float


@dataclass(frozen=True)
class Steps:
    """Leaf number ``#{edges <= argument}``; edges ascend, and there is one leaf more than edges."""

    argument: Expression
    edges: tuple[float, ...]
    leaves: tuple[Expression, ...]

    @property
    def is_table(self) -> bool:
        """Whether a search in a table of the leaves is shorter than nested conditions."""
        return len(self.edges) > _FEW_EDGES and all(isinstance(leaf, Constant | Line) for leaf in self.leaves)

    def rows(self) -> list[tuple[float, float, Any]]:
        """Return start, slope and value of the leaves of a table; a constant has no slope."""
        return [
            (leaf.start, leaf.slope, leaf.value) if isinstance(leaf, Line) else (0.0, 0.0, leaf.value)
            for leaf in self.leaves
            if isinstance(leaf, Constant | Line)
        ]

    def halves(self) -> tuple[Steps, float, Steps]:
        """Return the steps below the edge in the middle, the edge, and the steps from it on."""
        middle = len(self.edges) // 2
        return (
            Steps(self.argument, self.edges[:middle], self.leaves[: middle + 1]),
            self.edges[middle],
            Steps(self.argument, self.edges[middle + 1 :], self.leaves[middle + 1 :]),
        )


@dataclass(frozen=True)
class Let:
    """A value that the body uses several times, by a name that no other value has."""

    name: str
    value: Expression
    body: Expression


@dataclass(frozen=True)
class Name:
    """The value of a surrounding ``Let``, or of ``Formula.named``."""

    name: str


Expression: TypeAlias = (
    Column
    | Constant
    | Arithmetic
    | Function
    | Maximum
    | Comparison
    | AllOf
    | IsMissing
    | TextIn
    | Case
    | Lookup
    | Line
    | Steps
    | Let
    | Name
)


@dataclass(frozen=True, kw_only=True)
class Output:
    """A column that a rule adds: its name, type and value."""

    name: str
    kind: OutputType
    value: Expression


@dataclass(frozen=True, kw_only=True)
class Formula:
    """What a rule adds to a row.

    Attributes
    ----------
    inputs
        Columns that it reads, in the order of arguments.
    required
        Names of the numbers that must be finite; other rows have null in every output. A number that is not
        required may be missing but not infinite.
    ranges
        Closed range of each number that is a probability; other rows have null, where ``apply`` ends with an
        error.
    terms
        Constant and factor of the largest log-odds: a bound on the sum S of absolute terms of the log-odds.
        Exported probabilities are within ``4 (1 + S) 2^-52`` of those of ``apply``, relative.
    shares
        Names of numbers that add up to 1.
    roles
        Roles of columns by name: the arguments of a function. Others have the names of their columns.
    unused
        Role that a function accepts after the first and does not need; empty for none.
    named
        Values that several outputs use, by name; each may use those before.
    """

    inputs: tuple[Column, ...]
    required: tuple[str, ...]
    outputs: tuple[Output, ...]
    ranges: Mapping[str, tuple[float, float]] = field(default_factory=dict)
    terms: tuple[float, float] = (0.0, 0.0)
    shares: tuple[str, ...] = ()
    roles: Mapping[str, str] = field(default_factory=dict)
    unused: str = ""
    named: tuple[tuple[str, Expression], ...] = ()

    def parts(self) -> Iterator[Expression]:
        """Iterate over all parts of all values."""
        for value in (*(value for _, value in self.named), *(output.value for output in self.outputs)):
            yield from parts_of(value)


def parts_of(expression: Expression) -> Iterator[Expression]:
    """Iterate over an expression and all of its parts, however deep they are."""
    left = [expression]
    while left:
        part = left.pop()
        yield part
        left += reversed(direct_parts(part))


def direct_parts(expression: Expression) -> list[Expression]:  # noqa: PLR0911
    """Return the parts of an expression, without theirs."""
    match expression:
        case Column() | Constant() | IsMissing() | TextIn() | Name():
            return []
        case Lookup(_, _, values, default):
            return [*values, default]
        case Case(branches, default):
            return [*(part for branch in branches for part in branch), default]
        case Steps(argument, _, leaves):
            return [argument, *leaves]
        case Maximum(parts) | AllOf(parts):
            return list(parts)
        case Let(_, value, body):
            return [value, body]
        case Arithmetic(_, left, right) | Comparison(_, left, right):
            return [left, right]
        case Function(_, argument) | Line(argument):
            return [argument]


Written = TypeVar("Written")


def write(
    expression: Expression, step: Callable[[Expression], Generator[Expression, Written, Written]]
) -> Written:
    """Write an expression without recursion, however deep it is.

    ``step`` writes one expression. It yields the parts that it needs, one after the other, and is sent what
    they are written as.
    """
    stack = [step(expression)]
    result: Any = None
    while stack:
        try:
            part = stack[-1].send(result)
        except StopIteration as end:
            stack.pop()
            result = end.value
        else:
            stack.append(step(part))
            result = None
    written: Written = result
    return written


def is_truth(expression: Expression) -> bool:
    """Whether the value of an expression is a truth value."""
    while True:
        match expression:
            case Constant(value):
                return isinstance(value, bool)
            case Comparison() | AllOf() | IsMissing() | TextIn():
                return True
            case Case(_, default) | Lookup(_, _, _, default):
                expression = default
            case Steps(_, _, leaves):
                expression = leaves[0]
            case Let(_, _, body):
                expression = body
            case _:
                return False


def compared_numbers(formula: Formula) -> dict[str, list[float]]:
    """Return the numbers that are compared with each column, directly or after a computation; ascending.

    Those that are compared with a named value are compared with every column, which it may read.
    """
    own: dict[str, set[float]] = {column.name: set() for column in formula.inputs}
    of_named: set[float] = set()
    for part in formula.parts():
        match part:
            case Steps(argument, edges, _):
                compared, numbers = argument, edges
            case Comparison(_, left, right):
                constants = (inner.value for inner in parts_of(right) if isinstance(inner, Constant))
                compared, numbers = left, tuple(value for value in constants if isinstance(value, float))
            case _:
                continue
        for inner in parts_of(compared):
            if isinstance(inner, Name):
                of_named.update(numbers)
            elif isinstance(inner, Column) and inner.name in own:
                own[inner.name].update(numbers)
    return {name: sorted(filter(math.isfinite, numbers | of_named)) for name, numbers in own.items()}


def compared_texts(formula: Formula) -> dict[str, list[str]]:
    """Return the texts that are compared with each column; sorted."""
    texts: dict[str, set[str]] = {column.name: set() for column in formula.inputs}
    for column, own in compared_with_texts(formula):
        texts[column.name].update(own)
    return {name: sorted(own) for name, own in texts.items()}


def compared_with_texts(formula: Formula) -> Iterator[tuple[Column, tuple[str, ...]]]:
    """Iterate over columns and the texts with which they are compared."""
    for part in formula.parts():
        if isinstance(part, TextIn):
            yield part.column, part.texts
        elif isinstance(part, Lookup):
            for group in part.groups:
                yield from ((column, texts or ()) for column, texts in zip(part.columns, group, strict=True))


_NAMES: Final = count(1)


def let(value: Expression, body: Callable[[Expression], Expression], name: str = "value") -> Expression:
    """Name a value that ``body``, a function of its name, uses several times; programs call it alike."""
    if isinstance(value, Column | Constant | Name):
        return body(value)
    unique = f"{name} {next(_NAMES)}"
    return Let(unique, value, body(Name(unique)))


class NamedValues:
    """Values that several outputs use, in the order in which they are computed (``Formula.named``)."""

    def __init__(self) -> None:
        self.values: list[tuple[str, Expression]] = []

    def name(self, value: Expression, name: str) -> Expression:
        """Add a value, and return its name; programs call it alike."""
        if isinstance(value, Column | Constant | Name):
            return value
        unique = f"{name} {next(_NAMES)}"
        self.values.append((unique, value))
        return Name(unique)


def lookup(
    columns: Sequence[Column],
    groups: Sequence[tuple[tuple[str, ...] | None, ...]],
    values: Sequence[Expression],
    default: Expression,
) -> Expression:
    """Return the value of a row's group; of values of one form, only the constants are looked up."""

    def choose(parts: Sequence[Expression]) -> Expression:
        *own, other = parts
        return Lookup(tuple(columns), tuple(groups), tuple(own), other)

    return _merged([*values, default], choose, {}) or choose([*values, default])


def numbered(values: Sequence[Expression], number: Expression) -> Expression:
    """Return the value with a number from 0 on; of values of one form, only the constants are chosen."""
    edges = tuple(map(float, range(1, len(values))))

    def choose(parts: Sequence[Expression]) -> Expression:
        return Steps(number, edges, tuple(parts))

    return _merged(values, choose, {}) or choose(values)


_Choose = Callable[[Sequence[Expression]], Expression]
_Names = Mapping[tuple[str, ...], str]
"""The name that stands for those of each expression that is merged."""


def _merged(parts: Sequence[Expression], choose: _Choose, names: _Names) -> Expression | None:
    """Merge expressions that differ in constants only; None if they differ in more."""
    first = parts[0]
    if all(isinstance(part, Name) for part in parts):
        return _merged_names([part for part in parts if isinstance(part, Name)], names)
    if all(part == first for part in parts):
        return first
    if (chosen := _merged_constants(parts, choose)) is not None:
        return chosen
    is_leaf = isinstance(first, Column | Constant | IsMissing | TextIn | Lookup | Line | Name)
    if is_leaf or any(type(part) is not type(first) for part in parts):
        return None
    lets = [part for part in parts if isinstance(part, Let)]
    return _merged_lets(lets, choose, names) if lets else _merged_fields(parts, choose, names)


def _merged_fields(parts: Sequence[Any], choose: _Choose, names: _Names) -> Expression | None:
    """Merge expressions of one type field by field."""
    members: list[Any] = []
    for member in fields(parts[0]):
        merged = _merged_member([getattr(part, member.name) for part in parts], choose, names)
        if merged is None:
            return None
        members.append(merged)
    merged_parts: Expression = type(parts[0])(*members)
    return merged_parts


def _merged_names(parts: Sequence[Name], names: _Names) -> Expression | None:
    known = tuple(part.name for part in parts)
    if known in names:
        return Name(names[known])
    return parts[0] if len(set(known)) == 1 else None


def _merged_constants(parts: Sequence[Expression], choose: _Choose) -> Expression | None:
    """Choose among constants of one type, or among steps of one argument; None if they are neither."""
    if not all(isinstance(part, Constant | Steps) for part in parts):
        return None
    chosen = choose(parts)
    kinds = {type(part.value) if isinstance(part, Constant) else Steps for part in parts}
    are_constants = len(kinds) == 1 and Steps not in kinds
    is_chosen = isinstance(chosen, Lookup) and chosen.argument_of_steps() is not None
    return chosen if are_constants or is_chosen else None


def _merged_lets(lets: Sequence[Let], choose: _Choose, names: _Names) -> Expression | None:
    first = lets[0]
    value = _merged([let.value for let in lets], choose, names)
    within = {**names, tuple(let.name for let in lets): first.name}
    body = _merged([let.body for let in lets], choose, within)
    return None if value is None or body is None else Let(first.name, value, body)


def _merged_member(values: Sequence[Any], choose: _Choose, names: _Names) -> Any:
    """Merge the values of a field: expressions, tuples of them, or equal ones; None if they differ."""
    first = values[0]
    if isinstance(first, Expression):
        return _merged(values, choose, names)
    if isinstance(first, tuple) and all(len(value) == len(first) for value in values):
        merged = tuple(_merged_member(list(part), choose, names) for part in zip(*values, strict=True))
        return None if any(part is None for part in merged) else merged
    return first if all(value == first for value in values) else None


def minus(left: Expression, right: Expression) -> Expression:
    """Subtract."""
    return Arithmetic("-", left, right)


_FEW_TERMS: Final = 8
"""Terms up to which sums are taken in order, as numpy does."""


def total(values: Sequence[Expression]) -> Expression:
    """Add up values, at least one: few in order, many by halves, so that neither depth nor rounding grows."""
    if len(values) > _FEW_TERMS:
        middle = len(values) // 2
        return Arithmetic("+", total(values[:middle]), total(values[middle:]))
    return reduce(lambda left, right: Arithmetic("+", left, right), values)


def clipped(value: Expression, low: float, high: float) -> Expression:
    """Clip a number to a range."""
    return let(
        value,
        lambda name: Case(
            (
                (Comparison("<", name, Constant(low)), Constant(low)),
                (Comparison(">", name, Constant(high)), Constant(high)),
            ),
            name,
        ),
        "unclipped",
    )


LARGEST_EXPONENT: Final = 700.0
"""Exponents are clipped to this size where a factor beyond makes no difference."""

_NEARLY_ONE: Final = 40.0
_SMALL: Final = -700.0
_ZERO: Final = -745.0
"""Log-odds beyond which a probability is 1, is the exponential function, and is 0: nothing overflows."""


def sigmoid(log_odds: Expression) -> Expression:
    """Convert log-odds to a probability, without overflow or underflow, which some databases refuse."""

    def body(x: Expression) -> Expression:
        growth = Function("exp", minus(Constant(0.0), x))
        return Case(
            (
                (Comparison(">=", x, Constant(_NEARLY_ONE)), Constant(1.0)),
                (
                    Comparison(">=", x, Constant(_SMALL)),
                    Arithmetic("/", Constant(1.0), Arithmetic("+", Constant(1.0), growth)),
                ),
                (Comparison(">=", x, Constant(_ZERO)), Function("exp", x)),
            ),
            Constant(0.0),
        )

    return let(log_odds, body, "log_odds")
