"""Write a formula as an ONNX model of double tensors."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, Final, Literal

import numpy as np
import onnx
from onnx import TensorProto, helper, numpy_helper

from uqcli.base.errors import UsageError
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
    Maximum,
    Name,
    Output,
    Steps,
    TextIn,
)

OPSET: Final = 19
"""Version of the operators: the first that compares texts."""

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

VALID: Final = "valid"
"""Output that says whether the others are defined."""


def to_onnx(formula: Formula, metadata: Mapping[str, str]) -> bytes:
    """Write a formula as a model: a tensor of shape (N,) for each column and each output, and ``valid``.

    A missing number is NaN, a missing text is empty. Outputs of other rows than valid ones are false, NaN, -1
    or empty. No column may have the name of an output. Metadata are properties of the model.
    """
    taken = {column.name for column in formula.inputs} & {VALID, *(output.name for output in formula.outputs)}
    if taken:
        raise UsageError(
            f"a column named '{taken.pop()}', as an output of the model is",
            expected="other names of the columns",
        )
    writer = _Writer(formula)
    valid = writer.valid()
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
    model = helper.make_model(
        graph, producer_name="uqcli", opset_imports=[helper.make_opsetid("", OPSET)], ir_version=9
    )
    helper.set_model_props(model, dict(metadata))
    onnx.checker.check_model(model, full_check=True)
    content: bytes = model.SerializeToString(deterministic=True)
    return content


class _Writer:
    """Writer of the nodes of a graph; a value is named by its tensor."""

    def __init__(self, formula: Formula) -> None:
        self._formula = formula
        self._inputs = {column.name for column in formula.inputs}
        self._names: dict[str, str] = {}
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
        name = self._new()
        self.nodes.append(helper.make_node(operator, list(inputs), [name], **attributes))
        return name

    def _new(self) -> str:
        name = f"_{len(self.nodes)}"
        return name if name not in self._inputs else f"{name}_"

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
            tensor.name = f"constant_{len(self._constants)}"
            while tensor.name in self._inputs:
                tensor.name += "_"
            self.constants.append(tensor)
            self._constants[key] = tensor.name
        return self._constants[key]

    def _written(self, expression: Expression) -> str:  # noqa: PLR0911, PLR0912
        """Write an expression; return the name of its tensor."""
        match expression:
            case Column():
                return expression.name
            case Constant(value):
                return self._constant(value)
            case Name(name):
                return self._names[name]
            case Let(name, value, body):
                self._names[name] = self._written(value)
                return self._written(body)
            case Arithmetic(operator, left, right) | Comparison(operator, left, right):
                return self._node(_OPERATORS[operator], self._written(left), self._written(right))
            case Function(name, argument):
                return self._node("Log" if name == "ln" else "Exp", self._written(argument))
            case Maximum(arguments):
                return self._node("Max", *map(self._written, arguments))
            case AllOf(conditions):
                return self._combined("And", [self._written(condition) for condition in conditions])
            case IsMissing(column):
                if column.kind == "text":
                    return self._node("Equal", column.name, self._constant(""))
                return self._node("IsNaN", column.name)
            case TextIn(column, texts):
                equal = [self._node("Equal", column.name, self._constant(text)) for text in texts]
                return self._combined("Or", equal)
            case Case(branches, default):
                return self._case(branches, default)
            case Line(argument, start, slope, value):
                difference = self._node("Sub", self._written(argument), self._constant(start))
                product = self._node("Mul", self._constant(slope), difference)
                return self._node("Add", product, self._constant(value))
            case Steps(argument):
                return self._steps(self._written(argument), expression)

    def _case(self, branches: Sequence[tuple[Expression, Expression]], default: Expression) -> str:
        is_truth = _is_truth(default)
        result = self._written(default)
        for condition, value in reversed(branches):
            result = self._choice(self._written(condition), self._written(value), result, is_truth=is_truth)
        return result

    def _choice(self, condition: str, chosen: str, other: str, *, is_truth: bool) -> str:
        """Write a choice; runtimes have none of truth values."""
        if not is_truth:
            return self._node("Where", condition, chosen, other)
        otherwise = self._node("And", self._node("Not", condition), other)
        return self._node("Or", self._node("And", condition, chosen), otherwise)

    def _steps(self, argument: str, steps: Steps) -> str:
        """Write steps as nested choices, or as the number of edges at or below and tables of the leaves."""
        if not steps.edges:
            return self._written(steps.leaves[0])
        if steps.is_table:
            return self._counted(argument, steps)
        low, edge, high = steps.halves()
        below = self._node("Less", argument, self._constant(edge))
        chosen, other = self._steps(argument, low), self._steps(argument, high)
        return self._choice(below, chosen, other, is_truth=_is_truth(steps))

    def _counted(self, argument: str, steps: Steps) -> str:
        last = self._array(np.array([1], dtype=np.int64))
        column = self._node("Unsqueeze", argument, last)
        reached = self._node("GreaterOrEqual", column, self._array(np.array([steps.edges], dtype=np.float64)))
        index = self._node("ReduceSum", self._node("Cast", reached, to=TensorProto.INT64), last, keepdims=0)

        def gathered(numbers: Sequence[Any]) -> str:
            return self._node("Gather", self._array(np.array(numbers)), index)

        starts, slopes, values = zip(*steps.rows(), strict=True)
        value = gathered(values)
        if not any(isinstance(leaf, Line) for leaf in steps.leaves):
            return value
        start, slope = gathered(starts), gathered(slopes)
        return self._node("Add", self._node("Mul", slope, self._node("Sub", argument, start)), value)


def _is_text(value: object) -> bool:
    return value is None or isinstance(value, str)


def _is_truth(expression: Expression) -> bool:
    """Whether the value of an expression is a truth value."""
    match expression:
        case Constant(value):
            return isinstance(value, bool)
        case Comparison() | AllOf() | IsMissing() | TextIn():
            return True
        case Case(_, default):
            return _is_truth(default)
        case Steps(_, _, leaves):
            return _is_truth(leaves[0])
        case Let(_, _, body):
            return _is_truth(body)
        case _:
            return False
