"""Write a formula as a Python module without imports but ``math``."""

from __future__ import annotations

import keyword
import re
from collections.abc import Mapping, Sequence
from typing import Any, Final

from uqcli.rules.expressions import (
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
)

_FUNCTIONS: Final = {"decision": "decide", "class": "predicted_class"}
_TYPES: Final = {"bool": "bool", "double": "float", "integer": "int", "text": "str"}

_NUMBER: Final = '''
def _number(value):
    """Return a finite number as float; None for None, NaN and infinity."""
    if value is None:
        return None
    value = float(value)
    return value if math.isfinite(value) else None
'''
_OPTIONAL_NUMBER: Final = '''
def _optional_number(value):
    """Return a number as float, NaN if it is missing."""
    return math.nan if value is None else float(value)
'''
_TEXT: Final = f'''
def _text(value):
    """Return a text without white space at its ends; None if it is missing. Truth values are lower case."""
    if value is None or value != value:
        return None
    text = str(value).strip({WHITE_SPACE!a})
    return (text.lower() if text.lower() in ("true", "false") else text) or None
'''
_BIN: Final = '''
def _bin(edges, value):
    """Return the number of edges at or below a value."""
    low, high = 0, len(edges)
    while low < high:
        middle = (low + high) // 2
        if value < edges[middle]:
            high = middle
        else:
            low = middle + 1
    return low
'''


def to_python(formula: Formula, comments: Sequence[str]) -> str:
    """Write a formula as a module: one function for each output; comments are lines of its docstring."""
    arguments = argument_names(formula)
    functions = [_Function(formula, arguments, output).text() for output in formula.outputs]
    body = "\n\n".join(functions)
    helpers = [
        helper
        for name, helper in (
            ("_number(", _NUMBER),
            ("_optional_number(", _OPTIONAL_NUMBER),
            ("_text(", _TEXT),
            ("_bin(", _BIN),
        )
        if name in body
    ]
    lines = "\n".join(comment.replace("\\", "\\\\").replace('"', '\\"') for comment in comments)
    return f'"""{lines}\n"""\n\nimport math\n\n' + "\n".join(helpers) + f"\n\n{body}"


def function_name(output: Output) -> str:
    """Return the name of the function of an output."""
    return _FUNCTIONS.get(output.name) or _identifier(output.name)


def argument_names(formula: Formula) -> dict[str, str]:
    """Return the argument of each column: its role, or its name made an identifier."""
    names: dict[str, str] = {}
    for column in formula.inputs:
        name = _identifier(formula.roles.get(column.name, column.name))
        while name in names.values() or name == "math":
            name += "_"
        names[column.name] = name
    return names


def _identifier(name: str) -> str:
    plain = re.sub(r"\W", "_", name, flags=re.ASCII)
    if not plain or plain[0].isdigit() or plain.startswith("_"):
        plain = f"x{plain}"
    return f"{plain}_" if keyword.iskeyword(plain) else plain


class _Function:
    """Writer of the function of one output."""

    def __init__(self, formula: Formula, arguments: Mapping[str, str], output: Output) -> None:
        self._formula = formula
        self._arguments = arguments
        self._output = output
        self._lines: list[str] = []
        self._tables: list[str] = []
        self._depth = 1
        self._count = 0
        self._names: dict[str, str] = {}

    def text(self) -> str:
        """Return the tables and the function."""
        name, kind = function_name(self._output), _TYPES[self._output.kind]
        kinds = {
            column.name: "float" if column.kind == "number" else "str" for column in self._formula.inputs
        }
        listed = [f'{argument}: "{kinds[column]} | None"' for column, argument in self._arguments.items()]
        if self._formula.unused:
            later = [f"{argument} = None" for argument in listed[1:]]
            listed = [listed[0], f'{self._formula.unused}: "float | None" = None', *later]
        signature = ", ".join(listed)
        self._guard()
        result = self._written(self._output.value)
        self._line(f"return {result}")
        what = f"Return {self._output.name!r}; None if a number is missing, NaN or infinite."
        head = f'def {name}({signature}) -> "{kind} | None":\n    """{what}"""'
        return "\n".join([*self._tables, *([""] if self._tables else []), head, *self._lines]) + "\n"

    def _guard(self) -> None:
        """Convert the arguments, and return None for rows without the required numbers."""
        missing = []
        for column in self._formula.inputs:
            name = self._arguments[column.name]
            if column.kind == "text":
                self._line(f"{name} = _text({name})")
            elif column.name in self._formula.required:
                self._line(f"{name} = _number({name})")
                missing.append(f"{name} is None")
            else:
                self._line(f"{name} = _optional_number({name})")
                missing.append(f"math.isinf({name})")
        for column_name, (low, high) in self._formula.ranges.items():
            missing.append(f"not {low!r} <= {self._arguments[column_name]} <= {high!r}")
        self._line(f"if {' or '.join(missing)}:")
        self._line("    return None")

    def _line(self, text: str) -> None:
        self._lines.append("    " * self._depth + text)

    def _new(self) -> str:
        self._count += 1
        return f"_v{self._count}"

    def _written(self, expression: Expression) -> str:  # noqa: PLR0911, PLR0912
        """Write an expression; statements that it needs come before."""
        match expression:
            case Column():
                return self._arguments[expression.name]
            case Constant(value):
                return repr(value)
            case Name(name):
                return self._names[name]
            case Let(name, value, body):
                variable = self._new()
                self._line(f"{variable} = {self._written(value)}")
                self._names[name] = variable
                return self._written(body)
            case Arithmetic(operator, left, right) | Comparison(operator, left, right):
                return f"({self._written(left)} {operator} {self._written(right)})"
            case Function(name, argument):
                return f"math.{'log' if name == 'ln' else 'exp'}({self._written(argument)})"
            case Maximum(arguments):
                return f"max({', '.join(map(self._written, arguments))})"
            case AllOf(conditions):
                return f"({' and '.join(map(self._written, conditions)) or True})"
            case IsMissing(column):
                name = self._arguments[column.name]
                return f"({name} is None)" if column.kind == "text" else f"({name} != {name})"
            case TextIn(column, texts):
                return f"({self._arguments[column.name]} in {texts!r})"
            case Line(argument, start, slope, value):
                return f"({slope!r} * ({self._written(argument)} - {start!r}) + {value!r})"
            case Case(branches, default):
                return self._case(branches, default)
            case Steps(argument):
                return self._steps(self._written(argument), expression)

    def _case(self, branches: Sequence[tuple[Expression, Expression]], default: Expression) -> str:
        """Write branches as nested conditions, so that each value is computed only where it is needed."""
        result, depth = self._new(), self._depth
        for condition, value in branches:
            self._line(f"if {self._written(condition)}:")
            self._branch(result, value)
            self._line("else:")
            self._depth += 1
        self._line(f"{result} = {self._written(default)}")
        self._depth = depth
        return result

    def _branch(self, result: str, value: Expression) -> None:
        self._depth += 1
        self._line(f"{result} = {self._written(value)}")
        self._depth -= 1

    def _steps(self, argument: str, steps: Steps) -> str:
        """Write steps as nested conditions, or as a search in a table."""
        if not steps.edges:
            return self._written(steps.leaves[0])
        if steps.is_table:
            return self._search(argument, steps)
        result = self._new()
        low, edge, high = steps.halves()
        for line, part in ((f"if {argument} < {edge!r}:", low), ("else:", high)):
            self._line(line)
            self._depth += 1
            self._line(f"{result} = {self._steps(argument, part)}")
            self._depth -= 1
        return result

    def _search(self, argument: str, steps: Steps) -> str:
        """Write a search among the edges, and tables of the leaves."""
        name = f"_{function_name(self._output).upper()}_{len(self._tables)}"
        rows: list[Any] = steps.rows()
        is_constant = not any(isinstance(leaf, Line) for leaf in steps.leaves)
        if is_constant:
            rows = [value for _, _, value in rows]
        self._tables.append(f"{name} = (\n    {steps.edges!r},\n    {tuple(rows)!r},\n)")
        index = self._new()
        self._line(f"{index} = _bin({name}[0], {argument})")
        if is_constant:
            return f"{name}[1][{index}]"
        row = self._new()
        self._line(f"{row} = {name}[1][{index}]")
        return f"({row}[1] * ({argument} - {row}[0]) + {row}[2])"
