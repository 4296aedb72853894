"""Write a formula as an ONNX model of double tensors."""

from __future__ import annotations

from collections.abc import Generator, Mapping, Sequence
from typing import Any, Final, Literal

import numpy as np
import onnx
from onnx import TensorProto, helper, numpy_helper

from uqcli.base.errors import UsageError
from uqcli.export.names import Names
from uqcli.rules.expressions import (
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
    is_truth,
    write,
)

OPSET: Final = 19
"""Version of the operators: the first that compares texts."""

_DICTIONARIES: Final = "ai.onnx.ml", 2
"""Domain and version of the operator that looks up texts in a dictionary."""

_OPERATORS: Final[Mapping[str, str]] = {
    "+": "Add",
    "-": "Sub",
    "*": "Mul",
    "/": "Div",
    "<": "Less",
    "<=": "LessOrEqual",
    ">": "Greater",
    ">=": "GreaterOrEqual",
}
_TYPES: Final = {
    "bool": TensorProto.BOOL,
    "double": TensorProto.DOUBLE,
    "integer": TensorProto.INT64,
    "text": TensorProto.STRING,
}
_UNDEFINED: Final[Mapping[str, float | int | str]] = {"double": np.nan, "integer": -1, "text": ""}

_Writing = Generator[Expression, str, str]

VALID: Final = "valid"
"""Output that says whether the others are defined."""


def to_onnx(formula: Formula, metadata: Mapping[str, str]) -> bytes:
    """Write a formula as a model: a tensor of shape (N,) for each column and each output, and ``valid``.

    A missing number is NaN, a missing text is empty. Outputs of other rows than valid ones are false, NaN, -1
    or empty. No column may have the name of an output. Metadata are properties of the model.
    """
    columns = {column.name for column in formula.inputs}
    taken = columns & {VALID, *(output.name for output in formula.outputs)}
    if taken:
        raise UsageError(
            f"a column named '{min(taken)}', as an output of the model is",
            expected="other names of the columns",
        )
    if "" in columns:  # which is an input that a node does not have
        raise UsageError("a column without a name", expected="a name of each column, for ONNX")
    writer = _Writer(formula)
    valid = writer.valid()
    writer.name_values()
    for output in formula.outputs:
        writer.output(output, valid)
    graph = helper.make_graph(
        writer.nodes,
        "uqcli",
        [
            helper.make_tensor_value_info(
                column.name, TensorProto.DOUBLE if column.kind == "number" else TensorProto.STRING, ["N"]
            )
            for column in formula.inputs
        ],
        [
            *(
                helper.make_tensor_value_info(output.name, _TYPES[output.kind], ["N"])
                for output in formula.outputs
            ),
            helper.make_tensor_value_info(VALID, TensorProto.BOOL, ["N"]),
        ],
        initializer=writer.constants,
    )
    domains = [("", OPSET)]
    if any(node.domain for node in writer.nodes):
        domains.append(_DICTIONARIES)
    versions = [helper.make_opsetid(domain, version) for domain, version in domains]
    model = helper.make_model(graph, producer_name="uqcli", opset_imports=versions, ir_version=9)
    helper.set_model_props(model, dict(metadata))
    onnx.checker.check_model(model, full_check=True)
    content: bytes = model.SerializeToString(deterministic=True)
    return content


class _Writer:
    """Writer of the nodes of a graph; a value is named by its tensor."""

    def __init__(self, formula: Formula) -> None:
        self._formula = formula
        names = [column.name for column in formula.inputs] + [output.name for output in formula.outputs]
        self._tensors = Names([VALID, *names])
        self._values: dict[str, str] = {}
        self._constants: dict[tuple[str, bytes], str] = {}
        self.nodes: list[Any] = []
        self.constants: list[Any] = []

    def valid(self) -> str:
        """Write whether all required numbers are finite and in their ranges, and no other is infinite."""
        conditions = []
        for column in self._formula.inputs:
            if column.kind == "text":
                continue
            unusable = self._node("IsInf", column.name)
            if column.name in self._formula.required:
                unusable = self._node("Or", unusable, self._node("IsNaN", column.name))
            conditions.append(self._node("Not", unusable))
            if column.name in self._formula.ranges:
                low, high = map(self._constant, self._formula.ranges[column.name])
                conditions.append(self._node("GreaterOrEqual", column.name, low))
                conditions.append(self._node("LessOrEqual", column.name, high))
        self.nodes.append(helper.make_node("Identity", [self._combined("And", conditions)], [VALID]))
        return VALID

    def name_values(self) -> None:
        """Write the values that several outputs use."""
        for name, value in self._formula.named:
            self._values[name] = self._written(value)

    def output(self, output: Output, valid: str) -> None:
        """Write an output, undefined in rows that are not valid."""
        value = self._written(output.value)
        if output.kind == "bool":
            result = self._node("And", valid, value)
        else:
            chosen = self._node("Where", valid, value, self._constant(_UNDEFINED[output.kind]))
            # a rule may be a constant, whose shape is not that of the rows
            result = self._node("Expand", chosen, self._node("Shape", valid))
        self.nodes.append(helper.make_node("Identity", [result], [output.name]))

    def _node(self, operator: str, *inputs: str, **attributes: Any) -> str:
        name = self._tensors.new("value")
        self.nodes.append(helper.make_node(operator, list(inputs), [name], **attributes))
        return name

    def _combined(self, operator: Literal["And", "Or"], conditions: Sequence[str]) -> str:
        """Write whether all of some conditions hold, or any."""
        first, *others = conditions or [self._constant(operator == "And")]
        for condition in others:
            first = self._node(operator, first, condition)
        return first

    def _constant(self, value: float | bool | int | str | None) -> str:
        return self._array(
            np.array("" if value is None else value, dtype=object if _is_text(value) else None)
        )

    def _array(self, array: np.ndarray) -> str:
        """Return the name of a constant tensor, equal ones once."""
        tensor = numpy_helper.from_array(array, name="")
        key = str(array.shape), tensor.SerializeToString(deterministic=True)
        if key not in self._constants:
            tensor.name = self._tensors.new("constant")
            self.constants.append(tensor)
            self._constants[key] = tensor.name
        return self._constants[key]

    def _written(self, expression: Expression) -> str:
        """Write an expression; return the name of its tensor."""
        return write(expression, self._step)

    def _step(self, expression: Expression) -> _Writing:  # noqa: PLR0911, PLR0912
        match expression:
            case Column():
                return expression.name
            case Constant(value):
                return self._constant(value)
            case Name(name):
                return self._values[name]
            case Let(name, value, body):
                self._values[name] = yield value
                return (yield body)
            case Arithmetic(operator, left, right) | Comparison(operator, left, right):
                first = yield left
                return self._node(_OPERATORS[operator], first, (yield right))
            case Function(name, argument):
                return self._node("Log" if name == "ln" else "Exp", (yield argument))
            case Maximum(parts) | AllOf(parts):
                values = []
                for part in parts:
                    values.append((yield part))
                return (
                    self._node("Max", *values)
                    if isinstance(expression, Maximum)
                    else self._combined("And", values)
                )
            case IsMissing(column):
                if column.kind == "text":
                    return self._node("Equal", column.name, self._constant(""))
                return self._node("IsNaN", column.name)
            case TextIn(column, texts):
                equal = [self._node("Equal", column.name, self._constant(text)) for text in texts]
                return self._combined("Or", equal)
            case Case(branches, default):
                result = yield default
                for condition, value in reversed(branches):
                    test = yield condition
                    result = self._choice(test, (yield value), result, is_truth=is_truth(default))
                return result
            case Lookup():
                return (yield from self._lookup(expression))
            case Line(argument, start, slope, value):
                difference = self._node("Sub", (yield argument), self._constant(start))
                product = self._node("Mul", self._constant(slope), difference)
                return self._node("Add", product, self._constant(value))
            case Steps(argument):
                return (yield from self._steps((yield argument), expression))

    def _lookup(self, lookup: Lookup) -> _Writing:
        """Write a choice by the number of a row's group: from tables, or from one value after the other."""
        index = self._group(lookup)
        values = [*lookup.values, lookup.default]
        if all(isinstance(value, Constant) for value in values):
            return self._gathered([value.value for value in values if isinstance(value, Constant)], index)
        argument = lookup.argument_of_steps()
        if argument is not None:
            tables = [
                value if isinstance(value, Steps) else Steps(argument, (), (value,)) for value in values
            ]
            return self._counted_in_tables((yield argument), tables, index)
        result = yield lookup.default
        for group, value in enumerate(lookup.values):
            is_inside = self._node("Equal", index, self._constant(group))
            result = self._choice(is_inside, (yield value), result, is_truth=is_truth(lookup.default))
        return result

    def _group(self, lookup: Lookup) -> str:
        """Write the number of a row's group, which is the number of groups for a row in none.

        The texts of one column after the other are looked up, each with the number that those before have.
        """
        numbers: list[int] = [0] * len(lookup.groups)
        index = ""
        for position, column in enumerate(lookup.columns):
            levels: dict[str, int] = {}
            for group in lookup.groups:
                number = levels.get((group[position] or ("",))[0], len(levels))
                levels.update(dict.fromkeys(group[position] or ("",), number))
            own = [levels[(group[position] or ("",))[0]] for group in lookup.groups]
            level = self._encoded(column.name, levels, len(levels))
            if not index:
                numbers, index = own, level
                continue
            scaled = self._node("Mul", index, self._constant(len(levels) + 1))
            pairs = [before * (len(levels) + 1) + here for before, here in zip(numbers, own, strict=True)]
            known = {pair: number for number, pair in enumerate(dict.fromkeys(pairs))}
            numbers = [known[pair] for pair in pairs]
            index = self._encoded(self._node("Add", scaled, level), known, len(known))
        order = {number: group for group, number in reversed(list(enumerate(numbers)))}
        return self._encoded(index, order, len(lookup.groups))

    def _encoded(self, value: str, numbers: Mapping[Any, int], other: int) -> str:
        """Write the number of a text or an integer, another one for those without a number."""
        keys = list(numbers)
        kind = "keys_strings" if isinstance(keys[0], str) else "keys_int64s"
        return self._node(
            "LabelEncoder",
            value,
            domain=_DICTIONARIES[0],
            **{kind: keys, "values_int64s": list(numbers.values()), "default_int64": other},
        )

    def _gathered(self, values: Sequence[Any], index: str) -> str:
        """Write a choice of constants by number."""
        texts = ["" if value is None else value for value in values]
        kind = object if any(isinstance(value, str) for value in texts) else None
        return self._node("Gather", self._array(np.array(texts, dtype=kind)), index)

    def _counted_in_tables(self, argument: str, tables: Sequence[Steps], index: str) -> str:
        """Write the leaf of the table of a row's group; edges that nothing reaches fill it up."""
        width = max(len(table.edges) for table in tables)
        edges = np.full((len(tables), width), np.inf)
        leaves: list[Any] = []
        for row, table in enumerate(tables):
            edges[row, : len(table.edges)] = table.edges
            own = [leaf.value for leaf in table.leaves if isinstance(leaf, Constant)]
            leaves += [*own, *own[-1:] * (width + 1 - len(own))]
        own_edges = self._node("Gather", self._array(edges), index)
        start = self._node("Mul", index, self._constant(width + 1))
        return self._gathered(leaves, self._node("Add", start, self._reached(argument, own_edges)))

    def _choice(self, condition: str, chosen: str, other: str, *, is_truth: bool) -> str:
        """Write a choice; runtimes have none of truth values."""
        if not is_truth:
            return self._node("Where", condition, chosen, other)
        otherwise = self._node("And", self._node("Not", condition), other)
        return self._node("Or", self._node("And", condition, chosen), otherwise)

    def _steps(self, argument: str, steps: Steps) -> _Writing:
        """Write steps as nested choices, or as the number of edges at or below and tables of the leaves."""
        if not steps.edges:
            return (yield steps.leaves[0])
        if steps.is_table:
            return self._counted(argument, steps)
        low, edge, high = steps.halves()
        below = self._node("Less", argument, self._constant(edge))
        chosen = yield from self._steps(argument, low)
        other = yield from self._steps(argument, high)
        return self._choice(below, chosen, other, is_truth=is_truth(steps))

    def _counted(self, argument: str, steps: Steps) -> str:
        index = self._reached(argument, self._array(np.array([steps.edges], dtype=np.float64)))
        starts, slopes, values = zip(*steps.rows(), strict=True)
        value = self._gathered(values, index)
        if not any(isinstance(leaf, Line) for leaf in steps.leaves):
            return value
        start, slope = self._gathered(starts, index), self._gathered(slopes, index)
        return self._node("Add", self._node("Mul", slope, self._node("Sub", argument, start)), value)

    def _reached(self, argument: str, edges: str) -> str:
        """Write the number of edges at or below an argument."""
        last = self._array(np.array([1], dtype=np.int64))
        reached = self._node("GreaterOrEqual", self._node("Unsqueeze", argument, last), edges)
        return self._node("ReduceSum", self._node("Cast", reached, to=TensorProto.INT64), last, keepdims=0)


def _is_text(value: object) -> bool:
    return value is None or isinstance(value, str)
