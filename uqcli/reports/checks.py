"""Checks: conditions of ``--fail-if`` on metrics, which fail a run."""

from __future__ import annotations

import math
import operator
import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from types import MappingProxyType
from typing import Any, Final, Literal

from uqcli.base.errors import UsageError, words
from uqcli.base.records import dataclass
from uqcli.base.wording import first_of, formatted, similar_names
from uqcli.estimates.estimate import Estimate
from uqcli.reports.document import Metrics, Table

_OPERATORS: Final[Mapping[str, Callable[[float, float], bool]]] = MappingProxyType(
    {
        ">=": operator.ge,
        "<=": operator.le,
        "==": operator.eq,
        "!=": operator.ne,
        ">": operator.gt,
        "<": operator.lt,
    }
)
_OPERATOR: Final = re.compile(r"(?<![<>=!])(>=|<=|==|!=|>|<)")
_MAX_NAMES = 30


@dataclass(frozen=True, kw_only=True)
class Check:
    """A condition on a metric, and once it is tested the value of the metric.

    ``path`` is that of the metric, dotted. ``artifact`` is the name of the rule file with the metric; '' for
    a single result or for all together. An undefined value, None, also fails the check; ``reason`` says why
    it is undefined, if that is known.
    """

    path: str
    operator: str
    value: float
    text: str
    artifact: str = ""
    actual: float | None = None
    reason: str = ""

    @property
    def fails(self) -> bool:
        """Whether the check failed."""
        return self.actual is None or _OPERATORS[self.operator](self.actual, self.value)

    @property
    def message(self) -> str:
        """Error line of a failed check."""
        where = f" in {self.artifact}" if self.artifact else ""
        if self.actual is None:
            why = f" ({self.reason})" if self.reason else ""
            unknown = f"{self.path} is undefined{why}"
            return f"gate: check failed{where}: {self.text} cannot be tested, since {unknown}"
        found = f"{self.path} is {self.actual:.6g}"
        return f"gate: check failed{where}: {self.text} must not hold, but {found}"

    @property
    def in_words(self) -> str:
        """Head of pages for a failed check."""
        where = f" of {self.artifact}" if self.artifact else ""
        undefined = f"undefined: {self.reason}" if self.reason else "undefined"
        value = undefined if self.actual is None else f"{self.actual:.6g}"
        condition, path = self.text, self.path
        return f"Check failed: {condition}{where} ({path} is {value})"

    @property
    def result(self) -> Literal["passed", "failed", "undefined"]:
        """Result of the check for the table."""
        if self.actual is None:
            return "undefined"
        return "failed" if self.fails else "passed"

    def payload(self) -> dict[str, Any]:
        """Return the JSON form: the check as it was typed, and the rule file if there are several."""
        return {
            "text": self.text,
            "artifact": self.artifact or None,
            "value": self.actual,
            "result": self.result,
        }


def parse_check(text: str) -> Check:
    """Read ``METRIC OP VALUE``.

    >>> parse_check("precision.low < 0.7").path
    'precision.low'
    """
    for match in [*_OPERATOR.finditer(text)][-1:]:  # a name from the data may hold others before it
        path, value = text[: match.start()].strip(), _number(text[match.end() :])
        if path and math.isfinite(value):
            return Check(path=path, operator=match[0], value=value, text=text.strip())
    raise UsageError(
        words("--fail-if '{}' cannot be read", text), expected='METRIC OP VALUE such as "precision.low < 0.7"'
    )


def _number(text: str) -> float:
    """Read a number; NaN if it is none."""
    try:
        return float(text)
    except ValueError:
        return math.nan


def checks_table(checks: Sequence[Check]) -> Table:
    """Build the table of the checks."""
    rows = [
        (check.text, check.artifact or "all", formatted(check.actual, ".6g"), check.result)
        for check in checks
    ]
    header = ("fail if", "of", "value", "result")
    return Table(title="Checks", header=header, rows=rows, left=2, text_last=True)


def apply_checks(checks: Sequence[Check], by_artifact: Mapping[str, Metrics]) -> list[Check]:
    """Test the checks on all metrics, which are by rule file, or under '' for one result or all together.

    Raises UsageError if a check names a metric that does not exist.
    """
    return [
        replace(
            check, artifact=artifact, actual=_look_up(check, metrics), reason=_reason(check.path, metrics)
        )
        for check in checks
        for artifact, metrics in _metrics_to_check(check, by_artifact).items()
    ]


def _metrics_to_check(check: Check, by_artifact: Mapping[str, Metrics]) -> Mapping[str, Metrics]:
    """Return the metrics to check: of all rules together if these have the path, else of each rule."""
    shared_metrics = by_artifact.get("")
    if shared_metrics is None or len(by_artifact) == 1:
        return by_artifact
    if _metric_at(check.path, shared_metrics) is not _MISSING:
        return {"": shared_metrics}
    return {name: {**shared_metrics, **metrics} for name, metrics in by_artifact.items() if name}


def _look_up(check: Check, metrics: Metrics) -> float | None:
    metric = _metric_at(check.path, metrics)
    if isinstance(metric, Estimate):
        return metric.value
    if isinstance(metric, Mapping):
        raise UsageError(
            words("--fail-if: '{}' is a group of metrics", check.path),
            expected=f"one of {first_of([f'{check.path}.{path}' for path in _paths(metric)], _MAX_NAMES)}",
        )
    if metric is _MISSING:
        meant = similar_names(check.path.lower(), _paths(metrics), most=1, cutoff=0.6)
        raise UsageError(
            words("--fail-if: no metric '{}'", check.path),
            expected=f"one of {first_of(_paths(metrics), _MAX_NAMES)}",
            remedy=f"did you mean {meant[0]}?" if meant else "",
        )
    return None if metric is None else float(metric)


def _reason(path: str, metrics: Metrics) -> str:
    """Return why the estimate at or above a path is undefined; empty if it does not say."""
    estimates = (_metric_at(name, metrics) for name in (path, path.rpartition(".")[0]))
    return next((metric.reason for metric in estimates if isinstance(metric, Estimate)), "")


_MISSING: Final = object()


def _metric_at(path: str, value: Any) -> Any:
    """Look up a dotted path, _MISSING if it does not exist; names may contain dots."""
    if not path or (value is None and path in ("value", "low", "high")):  # an undefined estimate has no ends
        return value
    if isinstance(value, Estimate):
        if path not in ("value", "low", "high"):
            return _MISSING
        return None if value.value is None else getattr(value, path)
    if isinstance(value, Mapping):
        for name, inner in value.items():
            if path == name or path.startswith(f"{name}."):
                metric = _metric_at(path[len(name) + 1 :], inner)
                if metric is not _MISSING:
                    return metric
    return _MISSING


def _paths(metrics: Metrics) -> list[str]:
    paths = []
    for name, metric in metrics.items():
        inner = _paths(metric) if isinstance(metric, Mapping) else []
        paths += [f"{name}.{path}" for path in inner] or [name]
    return paths
