"""Gates: conditions on metrics that fail a pipeline."""

from __future__ import annotations

import math
import operator
import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from types import MappingProxyType
from typing import Any, Final

from uqcli.errors import UsageError
from uqcli.reports.document import Estimate, Metrics

_COMPARE: Final[Mapping[str, Callable[[float, float], bool]]] = MappingProxyType(
    {
        ">=": operator.ge,
        "<=": operator.le,
        "==": operator.eq,
        "!=": operator.ne,
        ">": operator.gt,
        "<": operator.lt,
    }
)
_FORM: Final = re.compile(r"\s*([\w.-]+)\s*(>=|<=|==|!=|>|<)\s*(\S+)\s*")


@dataclass(frozen=True, kw_only=True)
class Gate:
    """One condition: a dotted path, an operator, a number."""

    path: str
    operator: str
    value: float
    text: str


def parse_gate(text: str) -> Gate:
    """Read ``METRIC OP VALUE``.

    Raises
    ------
    UsageError
        It has another form.

    Examples
    --------
    >>> parse_gate("precision.low < 0.7").path
    'precision.low'
    """
    match = _FORM.fullmatch(text)
    value = _finite(match[3]) if match else None
    if match is None or value is None:
        raise UsageError(
            f"--fail-if '{text}' cannot be read", expected="METRIC OP VALUE such as 'precision.low < 0.7'"
        )
    return Gate(path=match[1], operator=match[2], value=value, text=text.strip())


def _finite(text: str) -> float | None:
    try:
        value = float(text)
    except ValueError:
        return None
    return value if math.isfinite(value) else None


def failed_gates(gates: Sequence[Gate], by_artifact: Mapping[str, Metrics]) -> list[str]:
    """Describe every gate that holds; an undefined metric holds none.

    Raises
    ------
    UsageError
        A gate names a metric that does not exist.
    """
    failed = []
    for gate in gates:
        for artifact, metrics in by_artifact.items():
            actual = _look_up(gate, metrics)
            if actual is not None and _COMPARE[gate.operator](actual, gate.value):
                where = f" in {artifact}" if artifact else ""
                failed.append(f"gate: {gate.text} holds{where} ({gate.path} is {actual:.6g})")
    return failed


def _look_up(gate: Gate, metrics: Metrics) -> float | None:
    value: Any = metrics
    for key in gate.path.split("."):
        if isinstance(value, Mapping) and key in value:
            value = value[key]
        elif isinstance(value, Estimate) and key in ("value", "low", "high"):
            value = getattr(value, key)
        else:
            raise UsageError(
                f"--fail-if: no metric '{gate.path}'", expected=f"one of {', '.join(_paths(metrics))}"
            )
    if isinstance(value, Estimate):
        return value.value
    if isinstance(value, Mapping):
        raise UsageError(
            f"--fail-if: '{gate.path}' is a group of metrics",
            expected=f"one of {', '.join(f'{gate.path}.{path}' for path in _paths(value))}",
        )
    return None if value is None else float(value)


def _paths(metrics: Metrics) -> list[str]:
    paths = []
    for name, metric in metrics.items():
        inner = _paths(metric) if isinstance(metric, Mapping) else []
        paths += [f"{name}.{path}" for path in inner] or [name]
    return paths
