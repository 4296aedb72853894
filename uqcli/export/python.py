"""Write a formula as a Python module without imports but ``math``."""

from __future__ import annotations

import builtins
import keyword
import math
from collections.abc import Callable, Generator, Mapping, Sequence
from typing import Any, Final

from uqcli.base.errors import UsageError, words
from uqcli.base.records import dataclass
from uqcli.export.names import Names
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
    Lookup,
    Maximum,
    Name,
    Output,
    Steps,
    TextIn,
    write,
)

_FUNCTIONS: Final = {"decision": "decide", "class": "predicted_class"}
_TYPES: Final = {"bool": "bool", "double": "float", "integer": "int", "text": "str"}
_KINDS: Final = {"number": "float", "text": "str"}

_HELPERS: Final[Mapping[str, str]] = {
    "_number": '''
def _number(value):
    """Return a finite number as float; None for None, NaN and infinity."""
    if value is None:
        return None
    value = float(value)
    return value if math.isfinite(value) else None
''',
    "_optional_number": '''
def _optional_number(value):
    """Return a number as float, NaN if it is missing."""
    return math.nan if value is None else float(value)
''',
    "_text": f'''
def _text(value):
    """Return a text without white space at its ends; None if it is missing. Truth values are lower case."""
    if value is None or value != value or value in (math.inf, -math.inf):
        return None
    text = str(value).strip({WHITE_SPACE!a})
    return (text.lower() if text.lower() in ("true", "false") else text) or None
''',
    "_bin": '''
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
''',
}

_RESERVED: Final = (
    *keyword.kwlist,
    *keyword.softkwlist,
    *dir(builtins),
    *("math", "RULE", "COLUMNS", "OUTPUTS", "columns", "named"),
)

_MOST_PARAMETERS: Final = 1000
"""Parameters of all functions up to which each lists its own."""

_LONGEST_TERM: Final = 120
"""Characters of a term from which it is a statement, since Python reads 200 nested parentheses at most."""

_NESTED_BRANCHES: Final = 8
"""Branches that are nested; more stand one after the other, since Python reads 100 levels at most."""

_Writing = Generator[Expression, str, str]


@dataclass(frozen=True, kw_only=True)
class PythonNames:
    """Public names of a module.

    Attributes
    ----------
    arguments
        Argument of each column.
    functions
        Function of each output.
    together
        Function that returns all outputs by name if they use the same values; empty otherwise.
    unused
        Argument that functions accept after the first and do not need; empty for none.
    """

    arguments: Mapping[str, str]
    functions: Mapping[str, str]
    together: str
    unused: str


def python_names(formula: Formula) -> PythonNames:
    """Return the public names of the module of a formula."""
    return _names(formula)[0]


def _names(formula: Formula) -> tuple[PythonNames, Names]:
    """Return the public names, and the allocator of all others."""
    names = Names(_RESERVED)
    outputs = [output.name for output in formula.outputs]
    together = names.new("outputs") if formula.named else ""
    functions = names.new_for_each([_FUNCTIONS.get(name, name) for name in outputs])
    unused = names.new(formula.unused) if formula.unused else ""
    columns = [column.name for column in formula.inputs]
    arguments = names.new_for_each([formula.roles.get(column, column) for column in columns])
    public = PythonNames(
        arguments=dict(zip(columns, arguments, strict=True)),
        functions=dict(zip(outputs, functions, strict=True)),
        together=together,
        unused=unused,
    )
    return public, names


def to_python(formula: Formula, facts: Mapping[str, str]) -> str:
    """Write a formula as a module of ASCII characters: one function for each output.

    Facts, and the names of columns and outputs, are constants of the module: names of data stand in constants
    only. A module that Python cannot compile is refused.
    """
    public, names = _names(formula)
    writer = _Writer(formula, public, names)
    functions = (
        writer.together() if formula.named else [writer.function(output) for output in formula.outputs]
    )
    columns = {argument: column for column, argument in public.arguments.items()}
    outputs = {function: output for output, function in public.functions.items()}
    body = "\n\n".join([*writer.tables, *functions])
    text = "\n".join(
        [
            '"""A rule of uqcli as functions, whose columns and outputs are in COLUMNS and OUTPUTS."""',
            "",
            "import math",
            "",
            f"RULE = {_dictionary(dict(facts))}",
            f"COLUMNS = {_dictionary(columns)}",
            f"OUTPUTS = {_dictionary(outputs)}",
            "",
            *(text for name, text in _HELPERS.items() if f"{name}(" in body),
            "",
            body,
        ]
    )
    try:
        compile(text, "exported.py", "exec")
    except (SyntaxError, RecursionError, MemoryError, OverflowError, ValueError) as error:
        raise UsageError(
            f"the rule is no module that Python can compile ({error})",
            expected="a rule of fewer levels",
            remedy=words("export it --to onnx"),
        ) from error
    return text


def _constant(value: float | bool | int | str | None) -> str:
    """Write a constant; texts in ASCII characters."""
    if isinstance(value, float) and math.isinf(value):
        return f"{'-' if value < 0 else ''}math.inf"
    return ascii(value)


def _tuple(values: Sequence[Any]) -> str:
    return f"({', '.join(map(_constant, values))}{',' if len(values) == 1 else ''})"


def _dictionary(values: Mapping[str, str]) -> str:
    return _written_dictionary([(_constant(key), _constant(value)) for key, value in values.items()])


def _written_dictionary(items: Sequence[tuple[str, str]]) -> str:
    return "\n".join(["{", *(f"    {key}: {value}," for key, value in items), "}"])


class _Writer:
    """Writer of the functions of a module."""

    def __init__(self, formula: Formula, public: PythonNames, names: Names) -> None:
        self._formula = formula
        self._public = public
        self._arguments = public.arguments
        self._new: Callable[[str], str] = names.new
        self.tables: list[str] = []
        self._lines: list[str] = []
        self._depth = 1
        self._values: dict[str, str] = {}

    def function(self, output: Output) -> str:
        """Return the function of an output."""
        self._start(missing="None")
        self._line(f"return {self._written(output.value)}")
        return self._defined(self._public.functions[output.name], self._parameters(), output, self._lines)

    def together(self) -> list[str]:
        """Return a function that computes all outputs, and those that return one of them."""
        outputs = self._formula.outputs
        self._start(missing="dict.fromkeys(OUTPUTS.values())")
        for name, value in self._formula.named:
            self._named(name, self._written(value))
        values = [(_constant(output.name), self._written(output.value)) for output in outputs]
        *first, last = _written_dictionary(values).splitlines()
        self._lines += [f"    return {first[0]}", *(f"    {line}" for line in first[1:]), f"    {last}"]
        parameters = self._parameters()
        name = self._public.together
        head = f'def {name}({parameters}) -> "dict":\n    """Return all outputs by name, as in OUTPUTS."""'
        functions = ["\n".join([head, *self._lines]) + "\n"]
        given = [*self._arguments.values()]
        if len(given) * len(outputs) > _MOST_PARAMETERS:
            parameters, given = "*columns, **named", ["*columns", "**named"]
        for output in outputs:
            line = f"    return {name}({', '.join(given)})[{_constant(output.name)}]"
            functions.append(self._defined(self._public.functions[output.name], parameters, output, [line]))
        return functions

    def _parameters(self) -> str:
        listed = [
            f'{self._arguments[column.name]}: "{_KINDS[column.kind]} | None"'
            for column in self._formula.inputs
        ]
        if self._public.unused:
            later = [f"{parameter} = None" for parameter in listed[1:]]
            listed = [listed[0], f'{self._public.unused}: "float | None" = None', *later]
        return ", ".join(listed)

    def _defined(self, name: str, parameters: str, output: Output, lines: Sequence[str]) -> str:
        what = "Return one output; None if a number is missing, NaN, infinite or out of its range."
        head = f'def {name}({parameters}) -> "{_TYPES[output.kind]} | None":\n    """{what}"""'
        return "\n".join([head, *lines]) + "\n"

    def _start(self, missing: str) -> None:
        """Convert the arguments, and return what is missing for rows without the required numbers."""
        self._lines, self._depth, self._values = [], 1, {}
        tests = []
        for column in self._formula.inputs:
            name = self._arguments[column.name]
            if column.kind == "text":
                self._line(f"{name} = _text({name})")
            elif column.name in self._formula.required:
                self._line(f"{name} = _number({name})")
                tests.append(f"{name} is None")
            else:
                self._line(f"{name} = _optional_number({name})")
                tests.append(f"math.isinf({name})")
        for column_name, (low, high) in self._formula.ranges.items():
            tests.append(f"not {low!r} <= {self._arguments[column_name]} <= {high!r}")
        if tests:
            self._line(f"if {' or '.join(tests)}:")
            self._line(f"    return {missing}")

    def _line(self, text: str) -> None:
        self._lines.append("    " * self._depth + text)

    def _local(self, text: str, name: str = "value") -> str:
        """Write a statement that names a value."""
        local = self._new(name)
        self._line(f"{local} = {text}")
        return local

    def _named(self, name: str, text: str) -> None:
        """Write a named value, whose name may have a number after its word."""
        self._values[name] = self._local(text, name.partition(" ")[0])

    def _written(self, expression: Expression) -> str:
        return write(expression, self._step)

    def _step(self, expression: Expression) -> _Writing:  # noqa: PLR0911, PLR0912
        """Write an expression; statements that it needs come before."""
        match expression:
            case Column():
                return self._arguments[expression.name]
            case Constant(value):
                return _constant(value)
            case Name(name):
                return self._values[name]
            case Let(name, value, body):
                self._named(name, (yield value))
                return (yield body)
            case Arithmetic(operator, left, right) | Comparison(operator, left, right):
                first = yield left
                text = f"({first} {operator} {(yield right)})"
                return self._local(text, "term") if len(text) > _LONGEST_TERM else text
            case Function(name, argument):
                return f"math.{'log' if name == 'ln' else 'exp'}({(yield argument)})"
            case Maximum(parts) | AllOf(parts):
                texts = []
                for part in parts:
                    texts.append((yield part))
                if isinstance(expression, Maximum):
                    return f"max({', '.join(texts)})" if len(texts) > 1 else texts[0]
                return f"({' and '.join(texts) or True})"
            case IsMissing(column):
                name = self._arguments[column.name]
                return f"({name} is None)" if column.kind == "text" else f"({name} != {name})"
            case TextIn(column, texts_in):
                return f"({self._arguments[column.name]} in {_tuple(texts_in)})"
            case Line(argument, start, slope, value):
                difference = f"({(yield argument)} - {_constant(start)})"
                return f"({_constant(slope)} * {difference} + {_constant(value)})"
            case Case(branches, default):
                return (yield from self._case(branches, default))
            case Lookup():
                return (yield from self._lookup(expression))
            case Steps(argument):
                return (yield from self._steps((yield argument), expression))

    def _case(self, branches: Sequence[tuple[Expression, Expression]], default: Expression) -> _Writing:
        """Write branches as conditions, so that each value is computed only where it is needed."""
        result, depth = self._new("value"), self._depth
        is_nested = len(branches) <= _NESTED_BRANCHES
        if not is_nested:
            self._line("while True:")
            self._depth += 1
        for condition, value in branches:
            test = yield condition
            self._line(f"if {test}:")
            self._depth += 1
            chosen = yield value
            self._line(f"{result} = {chosen}")
            if not is_nested:
                self._line("break")
            self._depth -= 1
            if is_nested:
                self._line("else:")
                self._depth += 1
        self._line(f"{result} = {(yield default)}")
        if not is_nested:
            self._line("break")
        self._depth = depth
        return result

    def _table(self, text: str) -> str:
        name = f"_{self._new('table')}"
        self.tables.append(f"{name} = {text}")
        return name

    def _lookup(self, lookup: Lookup) -> _Writing:
        """Write a search in a dictionary: of the values, of tables, or of the numbers of branches."""
        columns = [self._arguments[column.name] for column in lookup.columns]
        keys, spellings = _keys(lookup)
        for index, spelling in enumerate(spellings):
            if len(columns) > 1 and spelling:
                columns[index] = (
                    f"{self._table(_dictionary(spelling))}.get({columns[index]}, {columns[index]})"
                )
        key = columns[0] if len(columns) == 1 else f"({', '.join(columns)})"

        def search(values: Sequence[str], default: str) -> str:
            items = [(written, values[group]) for written, group in keys.items()]
            return f"{self._table(_written_dictionary(items))}.get({key}, {default})"

        if all(isinstance(value, Constant) for value in (*lookup.values, lookup.default)):
            constants = [_constant(value.value) for value in lookup.values if isinstance(value, Constant)]
            return search(constants, (yield lookup.default))
        argument = lookup.argument_of_steps()
        if argument is not None:
            default = self._table(_row(lookup.default))
            row = self._local(search(list(map(_row, lookup.values)), default), "row")
            return f"{row}[1][_bin({row}[0], {(yield argument)})]"
        size = len(lookup.values)
        branch = self._local(search(list(map(str, range(size))), str(size)), "branch")
        edges = tuple(map(float, range(1, size + 1)))
        return (yield from self._halves(branch, Steps(lookup, edges, (*lookup.values, lookup.default))))

    def _steps(self, argument: str, steps: Steps) -> _Writing:
        """Write steps as nested conditions, or as a search in a table."""
        if steps.is_table:
            return self._search(argument, steps)
        return (yield from self._halves(argument, steps))

    def _halves(self, argument: str, steps: Steps) -> _Writing:
        if not steps.edges:
            return (yield steps.leaves[0])
        result = self._new("value")
        low, edge, high = steps.halves()
        for line, part in ((f"if {argument} < {_constant(edge)}:", low), ("else:", high)):
            self._line(line)
            self._depth += 1
            value = yield from self._steps(argument, part)
            self._line(f"{result} = {value}")
            self._depth -= 1
        return result

    def _search(self, argument: str, steps: Steps) -> str:
        """Write a search among the edges, and a table of the leaves."""
        if not any(isinstance(leaf, Line) for leaf in steps.leaves):
            table = self._table(_row(steps))
            return f"{table}[1][_bin({table}[0], {argument})]"
        rows = f"({', '.join(map(_tuple, steps.rows()))})"
        table = self._table(f"({_tuple(steps.edges)}, {rows})")
        row = self._local(f"{table}[1][_bin({table}[0], {argument})]", "row")
        return f"({row}[1] * ({argument} - {row}[0]) + {row}[2])"


def _row(value: Expression) -> str:
    """Write the edges and the leaves of steps between constants, or of a constant."""
    edges, leaves = (value.edges, value.leaves) if isinstance(value, Steps) else ((), (value,))
    return f"({_tuple(edges)}, {_tuple([leaf.value for leaf in leaves if isinstance(leaf, Constant)])})"


def _keys(lookup: Lookup) -> tuple[dict[str, int], list[dict[str, str]]]:
    """Return the key of each group as written, and for several columns the other spellings of their texts."""
    keys: dict[str, int] = {}
    spellings: list[dict[str, str]] = [{} for _ in lookup.columns]
    for index, group in enumerate(lookup.groups):
        if len(group) == 1:
            for text in group[0] or (None,):
                keys.setdefault(_constant(text), index)
            continue
        for spelling, texts in zip(spellings, group, strict=True):
            spelling.update(dict.fromkeys(texts[1:], texts[0]) if texts else {})
        keys.setdefault(_tuple([texts[0] if texts else None for texts in group]), index)
    return keys, spellings
