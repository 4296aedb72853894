"""What a rule computes from one row, as an expression: the form from which it is exported.

Numbers are doubles. An expression is evaluated only in rows in which the required columns are finite. It
meets a missing value only in columns that it asks about (``IsMissing``).
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import field, fields
from functools import reduce
from itertools import count
from typing import Any, Final, Literal, TypeAlias

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
    """A value that the body uses several times, by name."""

    name: str
    value: Expression
    body: Expression


@dataclass(frozen=True)
class Name:
    """The value of a surrounding ``Let``."""

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
    """

    inputs: tuple[Column, ...]
    required: tuple[str, ...]
    outputs: tuple[Output, ...]
    ranges: Mapping[str, tuple[float, float]] = field(default_factory=dict)
    terms: tuple[float, float] = (0.0, 0.0)
    shares: tuple[str, ...] = ()
    roles: Mapping[str, str] = field(default_factory=dict)
    unused: str = ""


def parts_of(expression: Expression) -> Iterator[Expression]:
    """Iterate over an expression and all of its parts."""
    yield expression
    for member in fields(expression):
        for part in direct_parts(getattr(expression, member.name)):
            yield from parts_of(part)


def direct_parts(value: object) -> Iterator[Expression]:
    """Iterate over the expressions in a field of an expression, without their parts."""
    if isinstance(value, tuple):
        for part in value:
            yield from direct_parts(part)
    elif isinstance(value, Expression):
        yield value


def compared_numbers(formula: Formula, column: str) -> list[float]:
    """Return the numbers that are compared with a column, directly or after a computation; ascending."""
    numbers: set[float] = set()
    for output in formula.outputs:
        for part in parts_of(output.value):
            match part:
                case Steps(argument, edges, _) if _reads(argument, column):
                    numbers.update(edges)
                case Comparison(_, left, Constant(value)) if _reads(left, column):
                    numbers.add(float(value or 0.0))
                case _:
                    pass
    return sorted(numbers)


def _reads(expression: Expression, column: str) -> bool:
    """Whether an expression may read a column; named values may."""
    return any(isinstance(part, Name) or part == Column(name=column) for part in parts_of(expression))


def compared_texts(formula: Formula, column: str) -> list[str]:
    """Return the texts that are compared with a column; sorted."""
    return sorted(
        {
            text
            for output in formula.outputs
            for part in parts_of(output.value)
            if isinstance(part, TextIn) and part.column.name == column
            for text in part.texts
        }
    )


_NAMES: Final = count(1)


def let(value: Expression, body: Callable[[Name], Expression]) -> Expression:
    """Name a value that ``body``, a function of its name, uses several times."""
    name = Name(f"v{next(_NAMES)}")
    return Let(name.name, value, body(name))


def minus(left: Expression, right: Expression) -> Expression:
    """Subtract."""
    return Arithmetic("-", left, right)


def total(values: Sequence[Expression]) -> Expression:
    """Add up values in order; at least one."""
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

    return let(log_odds, body)
