"""Reports in the text format of Prometheus, for the textfile collector of its node exporter.

A metric is ``uqcli_<command>_<metric>``; underscores join the names of nested metrics. The ends of an
interval have the suffixes ``_low`` and ``_high``. Names of rule files, and names from the data (classes,
groups), are labels. Undefined values are NaN. Samples have no time stamp: equal results have equal bytes.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from types import MappingProxyType
from typing import TYPE_CHECKING, Any, Final

from uqcli.base.wording import visible
from uqcli.reports.format import Failure, Format, RunContext

if TYPE_CHECKING:
    from uqcli.estimates.estimate import Estimate
    from uqcli.reports.document import Metrics, Report

_LABELS: Final[Mapping[str, str]] = MappingProxyType(
    {
        "by_class": "class",
        "by_group": "group",
        "coverage_by_class": "class",
        "coverage_by_group": "group",
        "coverage_by_size": "size",
        "set_sizes": "size",
        "weights": "class",
        "target_prior": "class",
        "class_shares": "class",
    }
)
"""Label name of each group of metrics whose keys come from the data."""

_RESULT_LABELS: Final[Mapping[str, str]] = MappingProxyType({"boundary": "bound", "calibrate": "method"})
"""Label name of several results of a command; other commands use ``artifact``."""

_ESTIMATE_FIELDS: Final = (("", "value", ""), ("_low", "low", ", lower end of the interval"),
                ("_high", "high", ", upper end of the interval"))  # fmt: skip


_Labels = tuple[tuple[str, str], ...]
_Sample = tuple[str, _Labels, float | None]
"""Help text, labels and value of a sample."""


def to_prometheus(
    command: str, by_artifact: Mapping[str, Metrics], rules: Mapping[str, str] = MappingProxyType({})
) -> str:
    """Build all metrics as gauges, each family once.

    Metrics are by rule file, or under '' for a single result or all rule files together. ``rules`` are the
    digests of the rule files that were read or written, by name.
    """
    families: dict[str, list[_Sample]] = {}
    for name, digest in rules.items():
        info: _Sample = ("the digest", (("artifact", name), ("digest", digest)), 1.0)
        families.setdefault(f"uqcli_{command}_artifact_info", []).append(info)
    for artifact, metrics in by_artifact.items():
        labels = ((_RESULT_LABELS.get(command, "artifact"), artifact),) if artifact else ()
        for name, sample in _samples(metrics, (), labels):
            families.setdefault(f"uqcli_{command}_{name}", []).append(sample)
    return "".join(_family(command, name, samples) for name, samples in families.items())


def _samples(
    metrics: Mapping[str, Any], path: tuple[str, ...], labels: _Labels
) -> Iterator[tuple[str, _Sample]]:
    for name, metric in metrics.items():
        metric_path = (*path, name)
        if isinstance(metric, Mapping) and name in _LABELS:
            for key, value in metric.items():
                sample_labels = (*labels, (_LABELS[name], str(key)))
                # by_class and by_group have the same metrics, on some of the rows
                sample_path = path if name.startswith("by_") else metric_path
                yield from _metric_samples(value, sample_path, sample_labels)
        else:
            yield from _metric_samples(metric, metric_path, labels)


def _metric_samples(metric: Any, path: tuple[str, ...], labels: _Labels) -> Iterator[tuple[str, _Sample]]:
    return _samples(metric, path, labels) if isinstance(metric, Mapping) else _numbers(metric, path, labels)


def _numbers(
    metric: Estimate | float | None, path: tuple[str, ...], labels: _Labels
) -> Iterator[tuple[str, _Sample]]:
    from uqcli.estimates.estimate import Estimate

    name, key = re.sub(r"\W", "_", "_".join(path), flags=re.ASCII), ".".join(path)
    if not isinstance(metric, Estimate):
        yield name, (key, labels, metric)
        return
    for ending, end, description in _ESTIMATE_FIELDS:
        yield f"{name}{ending}", (f"{key}{description}", labels, getattr(metric, end))


def _family(command: str, name: str, samples: list[_Sample]) -> str:
    help_text = visible(samples[0][0]).replace("\\", "\\\\")
    lines = [f"# HELP {name} {help_text} (uqcli {command})", f"# TYPE {name} gauge"]
    for _, pairs, value in samples:
        labels = ",".join(f'{label}="{_escaped(text)}"' for label, text in pairs)
        number = "NaN" if value is None else repr(value)
        lines.append(f"{name}{{{labels}}} {number}" if labels else f"{name} {number}")
    return "\n".join(lines) + "\n"


def _escaped(text: str) -> str:
    return visible(text).replace("\\", "\\\\").replace('"', '\\"')


def _up(command: str, *, is_up: bool) -> str:
    return (
        "# HELP uqcli_up whether the last run came to a result\n# TYPE uqcli_up gauge\n"
        f'uqcli_up{{command="{_escaped(command)}"}} {int(is_up)}\n'
    )


def _render(report: Report, context: RunContext) -> str:
    command = context.command
    head = _up(command, is_up=context.failure is None)
    return head + to_prometheus(command, report.checked_metrics, context.rules)


def _failed(failure: Failure) -> str:
    return _up(failure.command, is_up=False)


FORMAT: Final = Format(render=_render, failed=_failed, needs_rules=True)
