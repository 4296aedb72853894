"""Report of ``uqcli tce``."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any, Final

import msgspec

from uqcli.audit.report import Audit, with_audit
from uqcli.base.choices import CalibrationTest
from uqcli.base.notices import Notice
from uqcli.base.records import dataclass
from uqcli.base.wording import (
    capitalised,
    count,
    first_of,
    p_cell,
    p_text,
    percent_in_range,
    printable,
    probability,
    rows_of,
)
from uqcli.estimates.binning import BINNINGS
from uqcli.estimates.estimate import Estimate, ends_of
from uqcli.reports.document import (
    Document,
    Figure,
    HeadCard,
    KeyNumber,
    Metrics,
    MetricValue,
    OneResult,
    Table,
    Verdict,
    head_of,
    key_cell,
    meaning_rows,
    plain,
)
from uqcli.rules.saved import Source
from uqcli.tce.chance import NullDistribution
from uqcli.tce.part_tests import LEVEL, MIN_ROWS
from uqcli.tce.reliability import reliability_figure
from uqcli.tce.results import (
    ClassResult,
    GroupResult,
    advice,
    affected,
    calibrated_within,
    detection_limit,
    findings,
    mean_error,
    misses_errors,
    rejected_alike,
)

_MEANINGS: Final = {
    "calibration": {
        "calibration_p": "p-value of true probabilities: range of the running sum, and intercept and slope",
        "calibration_p_adjusted": "the least of all rows, groups and classes, adjusted together (Holm)",
        "tce": "share of predictions that the test rejects, %",
        "tce_q": "as tce, on quantile bins, %",
        "tce_v": "as tce, on isotonic (PAVA) bins, %",
        "ece": "mean |rate - mean score|, equispaced bins",
        "ace": "as ece, on quantile bins",
        "mce": "largest |rate - mean score|, equispaced bins",
        "mce_q": "as mce, on quantile bins",
        "ecce": "range of cumulative differences of labels and scores, without bins",
        "mcb": "miscalibration: how much an isotonic fit reduces the Brier score",
        "intercept": "of the logistic fit on log-odds; 0 if calibrated",
        "slope": "of the same fit; 1 if calibrated, below 1 if overconfident",
        "intercept_at_slope_1": "0 if calibrated, negative if scores are too high",
    },
    "calibrated within": {
        "within": "deviation that 95 % of rows do not exceed, if rates rise with the score",
        "within_low": "largest deviation that is proved",
        "within_runs": "deviation that no range of scores with a twentieth of the rows exceeds",
        "within_detectable": "deviation at all scores that would be proved with probability 80 %",
    },
    "discrimination": {"dsc": "discrimination: what an isotonic fit explains"},
    "proper scores": {
        "brier": "mean squared error; mcb - dsc + unc",
        "log_loss": "mean negative log likelihood, nats",
    },
    "noise": {
        "unc": "uncertainty: the Brier score of the overall rate",
        "estimation_error": "variance of labels within the bins, by rows",
        "within_bin_error": "as estimation_error, mean over bins",
    },
}
_TERMINAL_METRICS = ("tce", "ece", "mcb", "slope", "brier", "log_loss")
"""Metrics on a terminal."""

_ONE_AGAINST_REST: Final = "log_loss, each class against the rest"
"""Of many classes, since calibrate and evaluate state that of the label's probability under the same name."""

_WEIGHTED: Final = "Rows count by their sampling weights; tce and within come from tests and are null"
"""Note on rows with sampling weights, to be ended."""

_PART_METRICS = ("tce", "ece", "ace", "brier", "log_loss")
_MAX_PANELS = 4
_MAX_NAMED = 12


class TceParameters(msgspec.Struct, frozen=True, kw_only=True):
    """Options that change the result."""

    binning: str
    bin_sizes: str | None
    n_min: int | None
    n_max: int | None
    group_n_min: int | None
    group_n_max: int | None
    n_bins: int
    alpha: float | None
    test: str | None
    classes: list[str] | None
    by: str | None
    audit: list[str] | None
    bootstrap: int
    seed: int | None
    confidence: float
    on_invalid: str
    positive: str | None
    cluster: str | msgspec.UnsetType = msgspec.UNSET
    sampling_weight: bool | msgspec.UnsetType = msgspec.UNSET


@dataclass(frozen=True, kw_only=True)
class TceReport(OneResult):
    """Calibration errors of a score or of class probabilities, for all rows and for groups.

    Attributes
    ----------
    tce_at_group_sizes
        TCE of all rows with the bin sizes of the groups, for comparison; None without groups.
    clusters
        Clusters of dependent rows; None if rows are independent.
    calibration_set
        Example of a file to calibrate on, with the typed options of reading, as the next command takes them.
    """

    source: Source
    parameters: TceParameters
    overall: GroupResult
    tce_at_group_sizes: float | None
    groups: tuple[GroupResult, ...]
    warnings: tuple[Notice, ...]
    clusters: int | None = None
    notes: tuple[str, ...] = ()
    audit: Audit | None = None
    calibration_set: str = "CALIBRATION.parquet"

    @property
    def multiclass(self) -> bool:
        """Whether the rows have class probabilities."""
        return self.parameters.classes is not None

    @property
    def is_weighted(self) -> bool:
        """Whether rows have sampling weights, and nothing is tested."""
        return self.parameters.sampling_weight is True

    @property
    def metrics(self) -> Metrics:
        """Errors of all rows, by class, by group and of the worst group."""
        metrics: dict[str, MetricValue] = dict(self.overall.metrics)
        if self.clusters is not None:
            metrics["clusters"] = self.clusters
        if self.multiclass:
            metrics["by_class"] = {
                str(label_class.name): label_class.metrics for label_class in self.overall.classes
            }
        if self.groups:
            metrics["by_group"] = {str(group.name): group.metrics for group in self.groups}
            worst = self._worst_group
            metrics["worst_group"] = dict.fromkeys(self.overall.metrics) if worst is None else worst.metrics
            metrics["tce_at_group_sizes"] = self.tce_at_group_sizes
        return metrics if self.audit is None else {**metrics, **self.audit.metrics()}

    def _action(self) -> str:
        """State what to do if there is no command to run next."""
        shown = self._not_calibrated
        if not shown and any(misses_errors(part) for part in self.overall.classes):
            return "Use more labelled rows: with these, the tests miss considerable errors."
        if not shown:
            return ""
        if self._named[0] is not self.overall:
            feature = self.parameters.by
            return f"Calibrate with the group as a feature: --method heterogeneous --features {feature}."
        return "Calibrate the probabilities with uqcli calibrate." if self.multiclass else ""

    @property
    def _parts(self) -> list[Part]:
        """Each tested class of all rows and of each group, the least adjusted p-value first.

        Of equal ones the part with the larger mean error is first, then the first by name.
        """
        parts = [(group, part) for group in (self.overall, *self.groups) for part in group.classes]
        tested = [part for part in parts if part[1].metrics["calibration_p"] is not None]
        return sorted(
            tested, key=lambda part: (_adjusted(part[1]), -_value(part[1].metrics["ece"]), _name(part))
        )

    @property
    def _not_calibrated(self) -> list[Part]:
        """Parts whose scores are shown not to be true probabilities, the most significant first."""
        return [part for part in self._parts if _adjusted(part[1]) <= LEVEL]

    @property
    def _worst_group(self) -> GroupResult | None:
        tested = _worst_first([group for group in self.groups if group.tested])
        return tested[0] if tested else None

    def payload(self) -> dict[str, Any]:
        """Return the JSON form."""
        payload: dict[str, Any] = {
            **head_of("tce", self.source, self.parameters),
            "metrics": plain(self.metrics),
            "within": plain(self.overall.metrics)["within"],
            "within_low": plain(self.overall.metrics)["within_low"],
            "bins": _bins_as_json(self.overall),
            "not_calibrated": None if self.is_weighted else list(map(_names, self._not_calibrated)),
            "notes": [self._title(), *self._lead(), *self._cautions(), *self._notes()],
        }
        if self.overall.if_calibrated:
            payload["if_calibrated"] = {
                name: {"mean": null.mean, "p95": null.high}
                for name, null in self.overall.if_calibrated.items()
            }
        if self.groups:
            payload["worst_group"] = None if self._worst_group is None else self._worst_group.name
            payload["groups"] = [self._group_as_json(group) for group in self.groups]
        if self.audit is not None:
            payload["audit"] = self.audit.payload()
            payload["notes"] = [self.audit.lead(), *payload["notes"]]
        return payload

    def _group_as_json(self, group: GroupResult) -> dict[str, Any]:
        return {
            "name": group.name,
            "group": group.name,
            "rows": group.rows,
            "positives": None if self.multiclass else group.classes[0].positives,
            "tested": group.tested,
            "metrics": plain(group.metrics),
            "bins": _bins_as_json(group) if group.tested else [],
        }

    def document(self) -> Document:
        """Return the readable form."""
        metrics = replace(_metrics_table(self.overall), brief=_main_table(self.overall))
        if self.multiclass:
            tables = [_classes_table(self.overall), replace(metrics, detail=True)]
        else:
            title = f"Bins ({self.parameters.binning}: {BINNINGS[self.parameters.binning]})"
            tables = [metrics, _bins_table(title, self.overall.classes[0])]
        if self.groups:
            tables = [self._groups_table(), *(replace(table, detail=True) for table in tables)]
        positive = "" if self.multiclass else f", of which {count(self.source.positives)} are positive"
        by_weight = (
            "" if self.overall.rows == self.source.rows else f" ({count(self.overall.rows)} by weight)"
        )
        of_clusters = "" if self.clusters is None else f" in {count(self.clusters)} clusters"
        document = Document(
            title=self._title(),
            lead=self._lead(),
            tables=tables,
            cautions=self._cautions(),
            notes=[f"Rows: {count(self.source.rows)}{by_weight}{positive}{of_clusters}.", *self._notes()],
            next=f"calibrate {self.calibration_set} -o calibrator.json"
            if self._not_calibrated and not self.multiclass and self._named[0] is self.overall
            else "",
            figures=[self._figure()],
            card=self._card(),
        )
        return with_audit(document, self.audit)

    def _card(self) -> HeadCard:
        """Build the head of the page: the test of all rows, or of the worst class or group."""
        if self.is_weighted:
            names = {"ece": "mean error (ECE)", "slope": "slope (1 if calibrated)"}
            metrics = self.overall.metrics
            return HeadCard(
                title=self._title(),
                subject="Probabilities of {inputs} compared with their labels: "
                + f"{rows_of(self.source.rows)}.",
                verdict=Verdict(text="not tested"),
                numbers=[_key_number(name, label, metrics[name]) for name, label in names.items()],
            )
        group, part = self._named
        metrics = part.metrics if self.multiclass else group.metrics
        verdict = Verdict(text="no miscalibration is shown", tone="good")
        if self._not_calibrated:
            verdict = Verdict(text="not calibrated", tone="bad")
        elif not self._parts:
            verdict = Verdict(text="too few rows to test")
        labels = {
            "tce": "scores significantly wrong (TCE)",
            "ece": "mean error (ECE)",
            "slope": "slope (1 if calibrated)",
        }
        return HeadCard(
            title=self._title(),
            subject="Probabilities of {inputs} tested against their labels: "
            + f"{rows_of(self.source.rows)}.",
            action=self._action(),
            verdict=verdict,
            numbers=[
                _key_number(name, label, metrics[name]) for name, label in labels.items() if name in metrics
            ],
        )

    @property
    def _named(self) -> Part:
        """The part that the report speaks of: the first that is not calibrated, else all rows.

        Of several classes, none of which is shown to be miscalibrated, it is the most significant.
        """
        if self._not_calibrated:
            return self._not_calibrated[0]
        parts = [part for part in self._parts if part[0] is self.overall]
        return parts[0] if parts else (self.overall, _worst_first(self.overall.classes)[0])

    def _title(self) -> str:
        """State which part is not calibrated, and which of its scores are wrong by how much."""
        if self.is_weighted:
            _, points = mean_error(_worst_first(self.overall.classes)[0])
            return f"Scores are off by {points} on average (ECE, by sampling weight); no score is tested."
        if not self._not_calibrated:
            return self._none_shown()
        tested = p_text(_adjusted(self._named[1]))
        subject = self._subject(self._named)
        is_not = f"{subject} not calibrated ({tested}, adjusted for {self._of_parts})"
        if not subject:
            is_not = f"Not calibrated ({tested})"
        return f"{is_not}. {self._findings[0]}"

    def _none_shown(self) -> str:
        """State that no part is shown to be miscalibrated."""
        if not self._parts:
            return f"Too few rows to test whether the scores are calibrated: {MIN_ROWS} are needed."
        least = p_text(_adjusted(self._parts[0][1]))
        if self.groups or self.multiclass:
            part = "group" if self.groups else "class"
            return f"No {part} is shown to be miscalibrated (least {least}, adjusted for {self._of_parts})."
        few = ", but these labels are too few to show any but large errors"
        missed = few if misses_errors(self.overall.classes[0]) else ""
        return f"The scores are not shown to be miscalibrated ({least}){missed}."

    @property
    def _of_parts(self) -> str:
        """How many groups, classes or classes of groups the p-values are adjusted for."""
        classes, groups = (
            len(self.overall.classes) if self.multiclass else 0,
            len({_name(part)[0] for part in self._parts if part[0] is not self.overall}),
        )
        if groups and classes:
            return f"{count(len(self._parts))} classes of groups"
        return f"{count(groups)} groups" if groups else f"{count(len(self._parts))} classes"

    def _subject(self, part: Part) -> str:
        """Name a part at the start of a sentence, with its verb; empty for the whole of a single score."""
        group, label_class = part
        names = [] if group is self.overall else [f"group {_part_name(group)}"]
        names += [f"class {_part_name(label_class)}"] if self.multiclass else []
        if names:
            return f"{capitalised(', '.join(names))} is"
        return "All rows together are" if self.groups else ""

    @property
    def _findings(self) -> list[str]:
        """Sentences on the wrong scores of the named part."""
        part = self._named[1]
        error, points = mean_error(part)
        return findings(part) or [f"On average, its scores are off by {points} (ECE {probability(error)})."]

    def _lead(self) -> list[str]:
        """State how many rows are affected, and the error that is proved."""
        if self.is_weighted:
            return []
        group, part = self._named
        rows = "all rows" if group is self.overall else "its rows"
        shown = bool(self._not_calibrated)
        lead = [affected(part, self.parameters.alpha or LEVEL, rows, shown=shown)]
        lead += [] if self.multiclass or self.groups else self._within
        return lead if shown or self._action() or not self._parts else [*lead, "No need to calibrate."]

    @property
    def _within(self) -> list[str]:
        return [sentence] if (sentence := calibrated_within(self.overall.metrics)) else []

    def _cautions(self) -> list[Notice]:
        if self.is_weighted:
            return [*self.warnings]
        small = [group for group in self.groups if not group.tested]
        names = [f"{_part_name(group)} ({rows_of(group.rows)})" for group in small]
        subject = "1 group is" if len(small) == 1 else f"{count(len(small))} groups are"
        too_small = f"{subject} too small for a TCE: {first_of(names, _MAX_NAMED)}."
        sentences = [Notice("groups-untested", too_small)] if small else []
        undetected = None if self.multiclass else detection_limit(self.overall.classes[0])
        if undetected is not None:
            rare, error = undetected
            missed = f"errors below about {100 * error:.0f} % of" if error < 1 else "errors even larger than"
            sentences.append(
                Notice(
                    "few-positives",
                    f"there are few {rare}, so the tests miss {missed} their rate: use more labelled rows to "
                    "see smaller ones.",
                )
            )
        by_t = self.parameters.test == CalibrationTest.T
        alike = rejected_alike((self._worst_group or self.overall).classes) if by_t else []
        return [*alike, *sentences, *self.warnings]

    def _notes(self) -> list[str]:
        if self.is_weighted:
            return [f"{_WEIGHTED}{', and so is the worst group' if self.groups else ''}."]
        named = self._named[1]
        notes = self._findings[1:] if self._not_calibrated else []
        others = [_named_in_words(part) for part in self._not_calibrated[1:]]
        if others:
            notes.append(f"Also not calibrated: {first_of(others, _MAX_NAMED)}.")
        if self.multiclass or self.groups:
            notes += self._within
        if self.multiclass:
            value = _value(self.overall.metrics["tce"])
            notes.append(
                f"Mean over {len(self.overall.classes)} classes: {value:.1f} % of scores are "
                "significantly wrong."
            )
        notes += [*self.notes, *(advice(named) if self._not_calibrated else [])]
        if self.groups and self.parameters.group_n_min is not None:
            least, most = count(self.parameters.group_n_min), count(self.parameters.group_n_max)
            notes.append(f"The TCE of groups uses bins of {least} to {most} rows, for all groups alike.")
        if self.overall.if_calibrated:
            null = self.overall.if_calibrated["ece"]
            p_value = p_text(null.p_value, is_least=null.p_is_least)
            notes.append(
                f"For calibrated scores ECE is {null.mean:.4f} on average, up to {null.high:.4f} in 95 % "
                f"of draws; here it is {_value(self.overall.metrics['ece']):.4f} ({p_value})."
            )
            notes.append(
                f"The random seed ({self.parameters.seed}) affects labels drawn from calibrated scores."
            )
        elif self.parameters.seed is not None and self.clusters is None:
            notes.append(
                f"The random seed ({self.parameters.seed}) affects the tests of parts with few labels, which "
                "draw some from the scores."
            )
        if self.clusters is not None:
            notes.append(f"The random seed ({self.parameters.seed}) affects the row of each cluster.")
        return notes

    def _groups_table(self) -> Table:
        groups = sorted(_worst_first(self.groups), key=_least_adjusted)
        rows = [
            (name, count(group.rows), *_cells(group.metrics), _judged(group))
            for name, group in (
                ("(all rows)", self.overall),
                *((_part_name(group), group) for group in groups),
            )
        ]
        return Table(title="", header=("group", "rows", *_PART_METRICS, "calibrated"), rows=rows)

    def _figure(self) -> Figure:
        if self.multiclass:
            classes = _worst_first(self.overall.classes)[:_MAX_PANELS]
            return reliability_figure(
                [_panel(f"Class {_part_name(label_class, 40)}", label_class) for label_class in classes]
            )
        panels = [_panel("All rows" if self.groups else "", self.overall.classes[0])]
        for group in _worst_first([group for group in self.groups if group.tested])[: _MAX_PANELS - 1]:
            panels.append(_panel(f"{self.parameters.by} = {_part_name(group, 40)}", group.classes[0]))
        return reliability_figure(panels)


def _judged(group: GroupResult) -> str:
    """State whether a group is calibrated, by the least adjusted p-value of its classes."""
    least = _least_adjusted(group)
    if math.isinf(least):
        return "too small to test"
    return f"{'no' if least <= LEVEL else 'not refuted'} ({p_text(least)})"


def _least_adjusted(group: GroupResult) -> float:
    """Return the least adjusted p-value of the classes of a group; infinite if none is tested."""
    return min(
        (_adjusted(part) for part in group.classes if part.metrics["calibration_p"] is not None),
        default=math.inf,
    )


Part = tuple[GroupResult, ClassResult]
"""A class of all rows or of a group; a single score has one class without name."""


def _adjusted(part: ClassResult) -> float:
    return _value(part.metrics["calibration_p_adjusted"])


def _name(part: Part) -> tuple[str, str]:
    return str(part[0].name or ""), str(part[1].name or "")


def _names(part: Part) -> dict[str, str | None]:
    return {"group": part[0].name, "class": part[1].name}


def _named_in_words(part: Part) -> str:
    group, label_class = part
    names = [] if group.name is None else [f"group {_part_name(group)}"]
    names += [] if label_class.name is None else [f"class {_part_name(label_class)}"]
    return f"{' '.join(names) or 'all rows together'} ({p_text(_adjusted(label_class))})"


def _key_number(name: str, label: str, metric: MetricValue) -> KeyNumber:
    return key_cell(label, format_metric(name, metric))


def _part_name(part: GroupResult | ClassResult, max_characters: int = 60) -> str:
    return printable(str(part.name), max_characters)


def _panel(name: str, part: ClassResult) -> tuple[str, ClassResult]:
    """Return the title of a panel, and what it shows."""
    errors = f"average error (ECE) {format_metric('ece', part.metrics['ece'])}"
    if part.rejected is not None:
        errors = f"{format_metric('tce', part.metrics['tce'])} of scores significantly wrong (TCE), {errors}"
    rows = f"{count(int(part.bins.count.sum()))} rows, {count(part.positives)} positive"
    return f"{name}: {errors}; {rows}" if name else f"{errors}; {rows}", part


def _worst_first(parts: Sequence[Any]) -> list[Any]:
    """Sort groups or classes by TCE, then ECE, highest first, then by name."""
    return sorted(
        parts, key=lambda part: (-_value(part.metrics["tce"]), -_value(part.metrics["ece"]), part.name)
    )


def _value(metric: MetricValue) -> float:
    """Return the value of a metric as a sort key; undefined values are lowest."""
    value = metric.value if isinstance(metric, Estimate) else metric
    return float(value) if isinstance(value, int | float) else -math.inf


def _bins_as_json(part: GroupResult) -> list[dict[str, Any]]:
    return [
        row if label_class.name is None else {"class": label_class.name, **row}
        for label_class in part.classes
        for row in _bin_dicts(label_class)
    ]


def _bin_dicts(part: ClassResult) -> list[dict[str, Any]]:
    bins = part.bins
    names = ("low", "high", "count", "positives", "rate", "mean_score", "rejected")
    columns = (bins.low, bins.high, bins.count, bins.positives, bins.rate, bins.mean_score)
    rejected = [None] * len(bins.count) if part.rejected is None else part.rejected.rows.tolist()
    rows = zip(*(column.tolist() for column in columns), rejected, strict=True)
    dicts = [dict(zip(names, row, strict=True)) for row in rows]
    return [values if values["count"] else {**values, "rate": None, "mean_score": None} for values in dicts]


def _bins_table(title: str, part: ClassResult) -> Table:
    rows = [
        (
            str(number),
            f"{values['low']:.4f}",
            f"{values['high']:.4f}",
            count(values["count"]),
            count(values["positives"]),
            probability(values["rate"]),
            probability(values["mean_score"]),
            f"{100 * values['rejected'] / values['count']:.1f} %"
            if values["count"] and values["rejected"] is not None
            else "-",
        )
        for number, values in enumerate(_bin_dicts(part), start=1)
    ]
    header = ("bin", "scores from", "to", "rows", "positive", "rate", "mean score", "rejected")
    return Table(title=title, header=header, rows=rows, left=0, detail=True)


def _classes_table(overall: GroupResult) -> Table:
    lines = [
        ("(mean)", count(overall.rows), overall.metrics),
        *(
            (_part_name(label_class), count(label_class.positives), label_class.metrics)
            for label_class in _worst_first(overall.classes)
        ),
    ]
    rows = [(name, rows, *_cells(metrics)) for name, rows, metrics in lines]
    return Table(title="", header=("class", "rows", *_PART_METRICS), rows=rows)


def _cells(metrics: Metrics) -> list[str]:
    return [format_metric(name, metrics[name]) for name in _PART_METRICS]


def _main_table(overall: GroupResult) -> Table:
    nulls = overall.if_calibrated
    rows = []
    for name in _TERMINAL_METRICS:
        label = _ONE_AGAINST_REST if name == "log_loss" and len(overall.classes) > 1 else name
        rows.append([label, format_metric(name, overall.metrics[name]), *_if_calibrated(name, nulls)])
    header = ["metric", "value", *(_IF_CALIBRATED if nulls else ())]
    return Table(title="", header=header, rows=rows)


def _metrics_table(overall: GroupResult) -> Table:
    """Build the table of all metrics, with their null distributions if labels were drawn."""
    nulls = overall.if_calibrated
    rows = [
        [kind, name, format_metric(name, overall.metrics[name]), *_if_calibrated(name, nulls), meaning]
        for kind, name, meaning in meaning_rows(_MEANINGS)
    ]
    header = ["", "metric", "value", *(_IF_CALIBRATED if nulls else ()), "meaning"]
    return Table(title="", header=header, rows=rows, left=2, text_last=True)


def format_metric(name: str, metric: MetricValue) -> str:
    """Format a metric with its interval: the share of rows that is the TCE in percent, others as they are.

    Examples
    --------
    >>> format_metric("tce", 12.3456), format_metric("ece", 0.5)
    ('12 %', '0.500')
    """
    assert not isinstance(metric, Mapping)  # no group of metrics
    estimate = metric if isinstance(metric, Estimate) else Estimate(value=metric)
    if not name.startswith("tce"):
        return f"{probability(estimate.value)}{ends_of(estimate, '.4f')}"
    ends = estimate.value, estimate.low, estimate.high
    return percent_in_range(*(None if end is None else end / 100 for end in ends))


_IF_CALIBRATED: Final = ("if calibrated", "p")
"""Names of the cells of a null distribution."""


def _if_calibrated(name: str, nulls: Mapping[str, NullDistribution]) -> list[str]:
    """Format the null distribution of a metric; empty cells if it has none, and no cells without draws."""
    null = nulls.get(name)
    if null is None:
        return [""] * len(_IF_CALIBRATED) if nulls else []
    p_value = p_cell(null.p_value, is_least=null.p_is_least)
    return [f"{format_metric(name, null.mean)}, up to {format_metric(name, null.high)}", p_value]
