"""Reports in the text format of Prometheus, for the textfile collector of its node exporter.

A metric is ``uqcli_<command>_<metric>``; underscores join the names of nested metrics. The ends of an
interval have the suffixes ``_low`` and ``_high``. Names of rule files, and names from the data (classes,
groups), are labels. Every sample has the stem of its file as the label ``run``, since a collector drops all
but the first of two files with equal series. Undefined values are NaN, and so are the ends of their
intervals, which would hide that from an alert. Samples have no time stamp: equal results have equal bytes.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from pathlib import PurePath
from types import MappingProxyType
from typing import TYPE_CHECKING, Any, Final

from uqcli.base.errors import UsageError, words
from uqcli.base.wording import listed, visible
from uqcli.reports.format import Failure, FormatOfSamples, RunContext

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


_TAG: Final = re.compile(r"[a-zA-Z_][a-zA-Z0-9_]*", flags=re.ASCII)

_OWN_LABELS: Final = (
    "artifact", "bound", "class", "command", "digest", "group", "instance", "job", "method", "run", "size",
)  # fmt: skip
"""Labels that the program or Prometheus itself uses."""

_Labels = tuple[tuple[str, str], ...]
_Sample = tuple[str, _Labels, float | None]
"""Help text, labels and value of a sample."""


def parse_tags(tags: Sequence[str]) -> _Labels:
    """Parse labels that the user adds to each sample.

    Raises
    ------
    UsageError
        One is no ``KEY=VALUE``, its key is no name of a label or is used already.
    """
    labels: dict[str, str] = {}
    for tag in tags:
        key, equals, value = tag.partition("=")
        if not (equals and _TAG.fullmatch(key)) or key.startswith("__"):
            raise UsageError(
                words("--tag {!r} has no name of a label", tag),
                expected="KEY=VALUE with a KEY of letters, digits and _ that does not begin with __",
            )
        if key in _OWN_LABELS or key in labels:
            used = "given twice" if key in labels else "used by uqcli or by Prometheus itself"
            raise UsageError(
                words("--tag {!r}: the label {} is {}", tag, key, used),
                expected=f"another name than {listed(_OWN_LABELS)}, each once",
                remedy=words("for example --tag model_{}={}", key, value),
            )
        labels[key] = value
    return tuple(labels.items())


def to_prometheus(
    command: str,
    by_artifact: Mapping[str, Metrics],
    rules: Mapping[str, str] = MappingProxyType({}),
    labels: _Labels = (),
) -> str:
    """Build all metrics as gauges, each family once.

    Metrics are by rule file, or under '' for a single result or all rule files together. ``rules`` are the
    digests of the rule files that were read or written, by name. ``labels`` are those of all samples.
    """
    families: dict[str, list[_Sample]] = {}
    others = tuple(label for label in labels if label[0] != "artifact")
    for name, digest in rules.items():
        info: _Sample = ("the digest", (*others, ("artifact", name), ("digest", digest)), 1.0)
        families.setdefault(f"uqcli_{command}_artifact_info", []).append(info)
    for artifact, metrics in by_artifact.items():
        of_result = (*others, (_RESULT_LABELS.get(command, "artifact"), artifact)) if artifact else labels
        for name, sample in _samples(metrics, (), of_result):
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
        number = None if metric.value is None else getattr(metric, end)
        yield f"{name}{ending}", (f"{key}{description}", labels, number)


def _family(command: str, name: str, samples: list[_Sample]) -> str:
    help_text = visible(samples[0][0]).replace("\\", "\\\\")
    lines = [f"# HELP {name} {help_text} (uqcli {command})", f"# TYPE {name} gauge"]
    lines += [_sample(name, pairs, "NaN" if value is None else repr(value)) for _, pairs, value in samples]
    return "\n".join(lines) + "\n"


def _sample(name: str, pairs: _Labels, number: str) -> str:
    labels = ",".join(f'{label}="{_escaped(text)}"' for label, text in pairs)
    return f"{name}{{{labels}}} {number}" if labels else f"{name} {number}"


def _escaped(text: str) -> str:
    return visible(text).replace("\\", "\\\\").replace('"', '\\"')


def _up(command: str, labels: _Labels, *, is_up: bool) -> str:
    head = "# HELP uqcli_up whether the last run came to a result\n# TYPE uqcli_up gauge\n"
    return head + _sample("uqcli_up", (("command", command), *labels), str(int(is_up))) + "\n"


def _of_file(report: str, labels: _Labels) -> _Labels:
    """Return the labels of all samples of a file."""
    return (("run", PurePath(report).stem), *labels)


def _render(report: Report, context: RunContext) -> str:
    labels = _of_file(context.report, context.labels)
    files = context.files
    rules = {name: digest for name, digest in files.rules.items() if name != files.state}
    head = _up(context.command, labels, is_up=not context.failures)
    return head + to_prometheus(context.command, report.checked_metrics, rules, labels)


def _failed(failure: Failure) -> str:
    return _up(failure.command, _of_file(failure.report, failure.labels), is_up=False)


def _started(old: str, failed: str) -> str:
    """Keep all samples of the last run, but say that no run has come to a result since: it may be killed."""
    kept, count = re.subn(r"^(uqcli_up(?:\{.*\})?) \S+$", r"\1 0", old, flags=re.MULTILINE)
    return kept if count else failed


FORMAT: Final = FormatOfSamples(render=_render, failed=_failed, started=_started, needs_rules=True)
