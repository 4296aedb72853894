"""Reports as CSV, a row for each metric.

The key is the name that ``--fail-if`` has for the metric; the name of a rule file follows in parentheses if
there are several, as in JUnit. Numbers are those of JSON. The first row is whether the run came to a result.
"""

from __future__ import annotations

import csv
import io
import json
from collections.abc import Iterator, Mapping
from typing import TYPE_CHECKING, Any, Final

from uqcli.base.wording import visible
from uqcli.reports.format import Failure, Format, RunContext

if TYPE_CHECKING:
    from uqcli.reports.document import Metrics, Report

_HEADER: Final = ("command", "key", "value", "low", "high")


def to_csv(command: str, by_artifact: Mapping[str, Metrics], *, is_up: bool) -> str:
    """Build a table of all metrics, by rule file, or under '' for a single result or all files together."""
    text = io.StringIO()
    writer = csv.writer(text, lineterminator="\n")
    writer.writerow(_HEADER)
    writer.writerow((visible(command), "up", int(is_up), "", ""))
    for artifact, metrics in by_artifact.items():
        suffix = f" ({artifact})" if artifact else ""
        for path, numbers in _metrics(metrics):
            cells = ("" if number is None else json.dumps(number, allow_nan=False) for number in numbers)
            writer.writerow((visible(command), visible(f"{path}{suffix}"), *cells))
    return text.getvalue()


def _metrics(metrics: Mapping[str, Any]) -> Iterator[tuple[str, tuple[float | None, ...]]]:
    """Return each metric by its dotted path: its value, and the ends of its interval."""
    from uqcli.estimates.estimate import Estimate

    for name, metric in metrics.items():
        if isinstance(metric, Estimate):
            yield name, (metric.value, metric.low, metric.high)
        elif isinstance(metric, Mapping):
            yield from ((f"{name}.{path}", numbers) for path, numbers in _metrics(metric))
        else:
            yield name, (metric, None, None)


def _render(report: Report, context: RunContext) -> str:
    return to_csv(context.command, report.checked_metrics, is_up=not context.failures)


def _failed(failure: Failure) -> str:
    return to_csv(failure.command, {}, is_up=False)


FORMAT: Final = Format(render=_render, failed=_failed, begins=",".join(_HEADER).encode())
