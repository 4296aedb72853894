"""Evaluate calibrators on a test set, and report their metrics."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from types import MappingProxyType
from typing import Any, Final, NamedTuple

import msgspec
import numpy as np

from uqcli.base.counts import Ints, bin_of
from uqcli.base.errors import UsageError, words
from uqcli.base.notices import Notice
from uqcli.base.options import ResamplingOptions, check_bootstrap
from uqcli.base.records import dataclass
from uqcli.base.rows import Rows
from uqcli.base.wording import count, p_text, rows_of, short_names
from uqcli.calibrate.maps.histogram import HistogramMap
from uqcli.calibrate.rule import CalibratorArtifact
from uqcli.calibrate.scale import Scale
from uqcli.comparison.figure import ReliabilityPanel, before_and_after_figure
from uqcli.comparison.report import (
    GROUP_HEADER,
    Comparison,
    after_numbers,
    comparison_card,
    comparison_table,
    group_cells,
    losses_without_interval,
    lowest_brier,
    meanings_table,
    ranked_table,
    remaining_error,
    sort_by_log_loss,
    too_few_clusters,
    value_of,
    verdict,
)
from uqcli.comparison.run import AnyPairedCounts, PairedRows, compare, minus
from uqcli.engines.probabilities import probabilities, require_probabilities
from uqcli.engines.protocol import ReadRows
from uqcli.engines.request import DataRequest
from uqcli.estimates.estimate import Estimate, direction
from uqcli.estimates.paired import ClusteredPairs, keyed_by_cluster
from uqcli.estimates.proportion import holm
from uqcli.estimates.resampling import MIN_CLASS_ROWS
from uqcli.estimates.survey import counted_by_weight
from uqcli.evaluate.groups import EvaluatedGroup, GroupEvaluation, group_evaluation
from uqcli.evaluate.options import EvaluateRequest
from uqcli.evaluate.report import (
    HEADER,
    OWN_DATA_CAUTION,
    UNPAIRED,
    Evaluated,
    EvaluatedPart,
    EvaluateParameters,
    apply_command,
)
from uqcli.reports.document import Claim, Document, HeadCard, Metrics, Verdict, in_order
from uqcli.rules.labelled import group_indices, labelled_request, read_labelled
from uqcli.rules.saved import Source
from uqcli.shift.rule import ShiftArtifact

LOSSES_COMPARED: Final[Mapping[str, str]] = MappingProxyType({"log_loss": "log loss", "brier": "Brier score"})
"""Names of the metrics whose difference has an interval."""


@dataclass(frozen=True, kw_only=True)
class CalibratorDifference(EvaluatedPart):
    """A second calibrator compared with a first: metrics of the first as before, of the second as after.

    They are paired if both read the same columns; if not, there is no interval. ``resampled`` says that
    intervals were requested, which cannot be if rows count by sampling weights.
    """

    names: Sequence[str]
    compared: Comparison
    paired: bool
    resampled: bool
    by_weight: bool = False

    def metrics(self) -> Metrics:
        """See EvaluatedPart."""
        return {"difference": self.compared.difference}

    def added_to(self, document: Document, confidence: float) -> Document:  # noqa: ARG002
        """Add the table of the two side by side."""
        table = comparison_table("After calibration", self.compared, (*self.names, HEADER))
        ranked, *others = document.tables
        return replace(document, tables=[table, replace(ranked, detail=True), *others])

    def remarks(self) -> Sequence[str]:
        """State why the difference is not tested."""
        if self.by_weight:
            return []
        if not self.paired:
            return [UNPAIRED]
        return [] if self.resampled else ["Add --bootstrap 1000 to test the difference."]

    def advice(self) -> list[str]:
        """State which of the two to use, by the intervals of the losses."""
        if not self.paired or not self.resampled:
            return []
        names = self.names
        estimates = {loss: self.compared.difference[metric] for metric, loss in LOSSES_COMPARED.items()}
        lower: dict[str, list[str]] = {name: [] for name in names}
        for loss, estimate in estimates.items():
            if isinstance(estimate, Estimate) and (towards := direction(estimate)):
                lower[names[1] if towards == "lower" else names[0]].append(loss)
        better = [name for name in names if lower[name]]
        if not better:
            return ["The two do not differ significantly: use the simpler map."]
        if len(better) == 2:
            first, second = (f"{name} has the lower {lower[name][0]}" for name in names)
            return [f"{first}, {second}; the log loss punishes confident errors more."]
        (name,) = better
        return [f"Use {name}: it has the lower {' and '.join(lower[name])} (significant)."]


WEIGHTED: Final = "Rows count by their sampling weights; there are no tests and no intervals."
"""Note on metrics of rows with sampling weights."""


@dataclass(frozen=True, kw_only=True)
class MeasuredCalibrator:
    """Metrics of a calibrator on a test set, whose rows are counted by weight.

    There is a claim if the rule file states error bounds, and a number of clusters if rows depend on each
    other.
    """

    compared: Comparison
    rows: int
    claims: Sequence[Claim]
    clusters: Sequence[int]

    def metrics(self) -> Metrics:
        """Return the metrics by key."""
        clusters = zip(("clusters",), self.clusters, strict=False)
        broken = (("promise_broken", claim.broken) for claim in self.claims)
        return {**self.compared.metrics(), "rows": self.rows, **dict(clusters), **dict(broken)}


@dataclass(frozen=True, kw_only=True)
class EvaluateCalibratorReport(Evaluated):
    """Metrics of saved calibrators on a test set, with the number of bootstrap replicates and the seed.

    The panels show the reliability before and after: for one calibrator by part, for several by calibrator
    over all rows. There is a claim of the stated error bounds for each rule file that states some.
    """

    resampling: tuple[int, int]
    panels: tuple[ReliabilityPanel, ...]
    results: tuple[tuple[str, CalibratorArtifact, MeasuredCalibrator], ...]
    claims: tuple[Claim, ...] = ()

    def payload(self) -> dict[str, Any]:
        """Return the JSON form (see Evaluated)."""
        replicates, seed = self.resampling
        parameters = {"bootstrap": replicates, "seed": seed if replicates else None}
        sentences = [f"{name}: {self._verdict(measured.compared)}" for name, _, measured in self.results[:1]]
        single = sentences if len(self.results) == 1 else []
        return self.build_payload([*self._cautions(), *single, *self._notes(), *self._advice()], parameters)

    def document(self) -> Document:
        """Return the readable form."""
        named = self._compared
        tables = [comparison_table("", named[0][1])]
        if len(named) > 1:
            tables = [ranked_table("", "calibrator", named)]
        positives = "" if self.source.positives is None else f" ({count(self.source.positives)} positive)"
        size = f"{rows_of(self.source.rows)}{positives}"
        for clusters in self.results[0][2].clusters:
            size = f"{size} in {count(clusters)} {self.parameters.units}"
        headline = self._verdict(named[0][1])
        if len(named) > 1:
            headline = self._best(named)
        document = Document(
            title=headline,
            tables=[*tables, meanings_table()],
            lead=[*self._advice(), f"The test set has {size}."],
            cautions=self._cautions(),
            notes=self._notes(),
            figures=[before_and_after_figure(self.panels)] if self.panels else [],
            claims=self.claims,
            card=self._card(),
        )
        return self.with_parts(document)

    def _best(self, named: Sequence[tuple[str, Comparison]]) -> str:
        (best, after), *_ = sort_by_log_loss([(name, compared.after) for name, compared in named])
        loss = value_of(after["log_loss"])
        if loss is None:
            return f"The log loss of the {len(named)} calibrators is undefined, so they cannot be compared."
        return f"{best} has the lowest log loss of {len(named)} calibrators, {loss:.4f}."

    def _card(self) -> HeadCard:
        if len(self.results) == 1:
            name, _, measured = self.results[0]
            card = comparison_card(self._verdict(measured.compared), measured.compared)
            tone = "neutral" if card.verdict is None else card.verdict.tone
            actions = {"good": apply_command(name), "bad": "Do not use it."}
            size = rows_of(measured.rows)
            subject = "{rules} tested on {inputs}: " + f"{size}, before and after calibration."
            return replace(card, subject=subject, action=actions.get(tone, ""))
        advice = self._advice()
        best, *_ = sort_by_log_loss([(name, compared.after) for name, compared in self._compared])
        return HeadCard(
            title=advice[0]
            if advice
            else f"{best[0]} has the lowest log loss of {len(self.results)} calibrators",
            verdict=None
            if advice
            else Verdict(
                text="its lead is not tested" if len(self.results) > 2 else "no significant difference"
            ),
            numbers=after_numbers(best[1]),
            subject="{rules} compared on {inputs}: " + f"{rows_of(self.source.rows)}.",
        )

    def _cautions(self) -> list[Notice]:
        remaining = [
            Notice(notice.key, f"{name}: {notice}")
            for name, compared in self._compared
            for notice in remaining_error(compared)
        ]
        broken = [Notice("broken-promise", claim.sentence) for claim in self.claims if claim.met is False]
        few = [notice for number in self.results[0][2].clusters for notice in too_few_clusters(number)]
        return [*broken, *remaining, *few, *self.uncorrected_tests()]

    def _advice(self) -> list[str]:
        """State which of two rules to use, if the difference is significant."""
        return [sentence for part in self.parts for sentence in part.advice()]

    def _notes(self) -> list[str]:
        named = self._compared
        sentences = (
            [f"{name}: {self._verdict(compared)}" for name, compared in named] if len(named) > 1 else []
        )
        lowest = [] if len(named) == 2 else lowest_brier(named, "evaluate two at a time to test it")
        untested = [sentence for part in self.parts for sentence in part.remarks()]
        consistent = [claim.sentence for claim in self.claims if claim.met is not False]
        weighted = [WEIGHTED] if self._is_weighted else []
        return [
            *sentences,
            *weighted,
            *consistent,
            *untested,
            *lowest,
            *losses_without_interval(named),
            OWN_DATA_CAUTION,
        ]

    @property
    def _compared(self) -> list[tuple[str, Comparison]]:
        return [(name, measured.compared) for name, measured in self.named]

    @property
    def _is_weighted(self) -> bool:
        return self.parameters.sampling_weight is True

    def _verdict(self, compared: Comparison) -> str:
        """State how the log loss changes, and whether significantly."""
        if not self._is_weighted:
            return verdict(compared)
        change = value_of(compared.difference["log_loss"])
        changed = "is undefined" if change is None else f"changes by {change:+.4f}"
        return f"The log loss {changed}; with sampling weights, this is not tested."


def evaluate(
    request: EvaluateRequest, rules: Sequence[CalibratorArtifact], shift: ShiftArtifact | None
) -> EvaluateCalibratorReport:
    """Measure probabilities before and after each calibrator; a score that is no probability is a DataError.

    Calibrators share one pass over the inputs, unless they need different columns for a role.
    """
    if shift is not None:
        raise UsageError(
            words("--shift with calibrators"), expected="rule files of kind boundary or conformal"
        )
    requests = rows_to_read(request, rules)
    check_bootstrap(request.resampling.bootstrap)
    is_sampled = request.labelled.are_sampled
    plan = request.resampling
    results, after = [], []
    reliability: list[ReliabilityPanel] = []
    evaluated_parts = list[EvaluatedPart]()
    reads = list[_Read]()
    for name, artifact, data in zip(request.artifacts, rules, requests, strict=True):
        if not reads or reads[-1].data != data:
            reads.append(_Read.of(data, request))
        read = reads[-1]
        pairs, parts = _before_and_after(artifact, read, request)
        if not is_sampled:  # the bars of the diagram are intervals of rows that count alike
            rule_panels = pairs.panels(parts)
            reliability += (
                rule_panels if len(rules) == 1 else [replace(panel, title=name) for panel in rule_panels[:1]]
            )
        claims = [] if is_sampled else _claims(name, artifact, read.rows, 1 - request.confidence)
        compared, clusters = pairs.compared(plan), pairs.clusters
        measured = MeasuredCalibrator(
            compared=_without_test(compared) if is_sampled else compared,
            rows=read.size,
            claims=claims if clusters is None else list(map(_untested, claims)),
            clusters=() if clusters is None else (len(clusters.times),),
        )
        results.append((name, artifact, measured))
        if len(rules) == 2:
            after.append(pairs)
        if request.groups.has_groups:
            evaluated_parts.append(_by_group(request, pairs, read.read, plan))
    if after:
        of_two = [measured.compared for _, _, measured in results]
        evaluated_parts.append(_difference(request.artifacts, of_two, after, plan, weighted=is_sampled))
    return EvaluateCalibratorReport(
        source=reads[-1].source,
        parameters=EvaluateParameters(
            confidence=request.confidence,
            on_invalid=request.data.on_invalid,
            positive=reads[-1].data.positive_value,
            **request.dependent.saved,
            sampling_weight=True if is_sampled else msgspec.UNSET,
        ),
        resampling=(request.resampling.bootstrap, request.resampling.seed),
        panels=tuple(reliability),
        results=tuple(results),
        claims=tuple(claim for _, _, measured in results for claim in measured.claims),
        parts=evaluated_parts,
    )


class _Read(NamedTuple):
    """Rows that were read for calibrators, also as they count, by weight and cluster, and their number."""

    data: DataRequest
    read: ReadRows
    source: Source
    rows: Rows
    size: int

    @classmethod
    def of(cls, data: DataRequest, request: EvaluateRequest) -> _Read:
        """Read rows."""
        read, source = read_labelled(data)
        rows = keyed_by_cluster(read, request.dependent.column)
        return cls(
            data, read, source, counted_by_weight(rows) if request.labelled.are_sampled else rows, rows.size
        )


def _before_and_after(
    artifact: CalibratorArtifact, read: _Read, request: EvaluateRequest
) -> tuple[PairedRows, list[tuple[str, Ints]]]:
    """Return the probabilities before and after, and the parts of the rows."""
    rows, parts = read.rows, list[tuple[str, Ints]]()
    if artifact.class_names:
        before = probabilities(rows, read.data.roles)
        after = artifact.calibrated_classes(before)
    else:
        if not artifact.logit:
            require_probabilities(rows.score, read.source.columns["score"])
        before, output = Scale(real=artifact.logit).probability(rows.score), artifact.calibrated(rows)
        after = output.probability
        parts = artifact.calibration_of_rows.rows_by_part(rows.uncertainty, output.leaf)
    return PairedRows(rows=rows, before=before, after=after, cluster=request.dependent.column), parts


def _without_test(compared: Comparison) -> Comparison:
    """Remove the test-based calibration error, whose tests need rows that count alike."""
    return Comparison(
        before={**compared.before, "tce": None},
        after={**compared.after, "tce": None},
        difference={**compared.difference, "tce": None},
    )


def _by_group(
    request: EvaluateRequest, pairs: PairedRows, read: ReadRows, plan: ResamplingOptions
) -> GroupEvaluation:
    """Measure the calibrator in each group; no bound holds there, hence no test.

    ``pairs`` are the rows that were read, with the clusters and weights by which they count.
    """
    by = request.groups.by or ""
    indices_by_name, results = dict(group_indices(read, by)), []
    for name in in_order(indices_by_name):
        indices = indices_by_name[name]
        size = read.rows.select(indices).size
        compared = pairs.select(indices).compared(plan)
        if request.labelled.are_sampled:
            compared = _without_test(compared)
        metrics = {**compared.metrics(), "rows": size}
        results.append(EvaluatedGroup(name=name, rows=size, metrics=metrics, cells=group_cells(compared)))
    return group_evaluation(by, results, GROUP_HEADER, "", 1 - plan.confidence)


def _untested(claim: Claim) -> Claim:
    """Return a claim about rows of clusters, which is not tested."""
    return replace(claim, met=None, sentence=f"{claim.name}: not tested with --cluster.")


def _claims(name: str, artifact: CalibratorArtifact, rows: Rows, level: float) -> list[Claim]:
    """Test the stated error bounds of histogram bins at a level, if there are any."""
    map_ = artifact.calibration
    if not isinstance(map_, HistogramMap) or artifact.weights is not None:
        return []
    claim = f"{name}: every bin's rate within its error"
    if artifact.unsealed:
        sentence = f"{name}: errors not tested: {artifact.unsealed}."
        return [Claim(name=claim, met=None, sentence=sentence)]
    bin_index = bin_of(artifact.scale.corrected(rows.score), np.array(map_.edges, dtype=np.float64))
    weight, bins = rows.weights(), len(map_.rate)
    count, positives = np.zeros(bins, dtype=np.int64), np.zeros(bins, dtype=np.int64)
    np.add.at(count, bin_index, weight)
    np.add.at(positives, bin_index[rows.labels], weight[rows.labels])
    p_values = error_p_values(positives, count, map_.rate, map_.error)
    if not p_values:
        return [Claim(name=claim, met=None, sentence=f"{claim}: not tested, no bin has rows.")]
    worst = min(p_values, key=lambda index: p_values[index])
    consistent = p_values[worst] > level
    worst_rate = (
        f"{positives[worst] / count[worst]:.4f}, stated {map_.rate[worst]:.4f} +- {map_.error[worst]:.4f}"
    )
    outcome = "consistent" if consistent else "rejected"
    found = f"{claim}: {outcome}. Worst is bin {worst + 1}: rate {worst_rate}"
    sentence = f"{found} ({p_text(p_values[worst])} for all bins together)."
    return [Claim(name=claim, met=consistent, sentence=sentence)]


def error_p_values(
    positives: Ints, count: Ints, rate: Sequence[float], error: Sequence[float | None]
) -> dict[int, float]:
    """Test by bin whether the true rate is within its error bound; return the p-values adjusted by Holm.

    The p-values are exact and two-sided: doubled binomial tails at the nearer end of each range.
    ``positives`` and ``count`` are those of each of M bins in new data. Rates and error bounds are those of
    the rule, None for a bin without calibration rows. There is a p-value, by the index of the bin, for bins
    with new rows and an error bound.
    """
    from scipy.special import bdtr, bdtrc

    p_values = {}
    for bin_index, (k, n, bin_rate, error_bound) in enumerate(
        zip(positives.tolist(), count.tolist(), rate, error, strict=True)
    ):
        if n and error_bound is not None:
            low, high = max(0.0, bin_rate - error_bound), min(1.0, bin_rate + error_bound)
            lower_tail = float(bdtr(float(k), n, low)) if k < n else 1.0
            upper_tail = float(bdtrc(k - 1.0, n, high)) if k > 0 else 1.0
            p_values[bin_index] = min(1.0, 2 * min(lower_tail, upper_tail))
    return holm(p_values)


def rows_to_read(request: EvaluateRequest, rules: Sequence[CalibratorArtifact]) -> list[DataRequest]:
    """Return the requests for rows of the calibrators, also of an audit."""
    return [
        request.labelled.weighting(request.dependent.of(data.grouped_by(request.groups.by)))
        for data in _requests(request, rules)
    ]


def _requests(request: EvaluateRequest, rules: Sequence[CalibratorArtifact]) -> list[DataRequest]:
    """Return the data requests of the calibrators; a single one if the same rows suit all of them."""
    classes = [rule.class_names for rule in rules]
    if any(classes):
        if not all(classes):
            raise UsageError(
                "a calibrator of classes beside one of a score", remedy="evaluate them one at a time"
            )
        return [labelled_request(request.data, request.columns, [rule]) for rule in rules]
    try:
        names = request.artifacts if len(rules) > 1 else ()
        return [labelled_request(request.data, request.columns, rules, names)] * len(rules)
    except UsageError:
        return [labelled_request(request.data, request.columns, [rule]) for rule in rules]


def _difference(
    files: Sequence[str],
    compared: Sequence[Comparison],
    after: Sequence[PairedRows],
    plan: ResamplingOptions,
    *,
    weighted: bool,
) -> CalibratorDifference:
    """Compute the difference of two calibrators; paired if one pass covers both."""
    first, second = after
    first_metrics, second_metrics = (comparison.after for comparison in compared)
    values = {
        name: minus(value_of(second_metrics[name]), value_of(first_metrics[name])) for name in first_metrics
    }
    paired = first.rows is second.rows
    resampled: Metrics = {}
    if paired and plan.bootstrap:
        pairs = replace(first, before=first.after, after=second.after)
        resampled = resampled_losses(pairs.counts, plan, pairs.clusters)
    without_interval = {name: Estimate(value=values[name]) for name in LOSSES_COMPARED}
    difference = {**values, **without_interval, **resampled}
    return CalibratorDifference(
        names=short_names(files),
        compared=Comparison(before=first_metrics, after=second_metrics, difference=difference),
        paired=paired,
        resampled=plan.bootstrap > 0,
        by_weight=weighted,
    )


def resampled_losses(
    paired_counts: AnyPairedCounts, plan: ResamplingOptions, clusters: ClusteredPairs | None = None
) -> Metrics:
    """Compute the differences with intervals; none if few rows differ, where 95 % intervals covered 47 %."""
    if (clusters or paired_counts).rows_that_differ() < MIN_CLASS_ROWS:
        return {}
    difference = compare(paired_counts, plan, clusters).difference
    return {name: difference[name] for name in LOSSES_COMPARED}
