"""Evaluate boundaries on a test set."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import replace
from functools import partial

import msgspec

from uqcli.base.defaults import LOWEST
from uqcli.base.draws import Purpose, generator
from uqcli.base.errors import UsageError, words
from uqcli.base.options import GroupColumn
from uqcli.base.records import dataclass
from uqcli.base.rows import Rows
from uqcli.base.wording import percent, rounded_money, short_names
from uqcli.boundary.capacity import FirstRowsRule
from uqcli.boundary.dependent_columns import alike_rows
from uqcli.boundary.rule import BoundaryArtifact
from uqcli.boundary.rule_words import PREDICTED_CLASS, ROWS_ARE_PREDICTIONS
from uqcli.boundary.search.constraint import Constraint
from uqcli.calibrate.rule import CalibratorArtifact
from uqcli.engines import refusals
from uqcli.engines.open import open_engine
from uqcli.engines.protocol import CheckedBatches
from uqcli.engines.request import PREDICTED, DataRequest
from uqcli.estimates.confusion import Confusion, Decided, Rate, cluster_numbers
from uqcli.estimates.design import (
    FLAGGED,
    SHARE_CHANGES,
    Chooses,
    ClusteredRows,
    Design,
    WeightedRows,
    catches,
    chosen_by,
    differ,
    flags,
    others,
    unknown,
)
from uqcli.estimates.estimate import UNKNOWN, Estimate, interval
from uqcli.estimates.model_assisted import ratio_of_labels, shorter
from uqcli.estimates.value import Amounts
from uqcli.estimates.value import Worth as Value
from uqcli.evaluate.boundaries_report import EvaluateReport, least_caught
from uqcli.evaluate.capacity import (
    by_capacity,
    flagged_of_groups,
    measured_rows,
    named,
    one_rule,
    with_groups_as_clusters,
)
from uqcli.evaluate.decisions import DecisionTally, Units, units_of
from uqcli.evaluate.groups import BoundedGroup, EvaluatedGroup, GroupEvaluation, group_evaluation
from uqcli.evaluate.labelled_part import (
    AssistedRows,
    LabelledPart,
    all_rows,
    labelled_parts,
    refuse_others,
    sampling_weights,
    scores_by_decision,
)
from uqcli.evaluate.measured_boundary import (
    BoundaryDifference,
    MeasuredBoundary,
    TestedRule,
    WeightedDifference,
)
from uqcli.evaluate.options import Dependence, EvaluateRequest
from uqcli.evaluate.parts.benefit import BenefitDifference, NetBenefit
from uqcli.evaluate.parts.one import OneRule, OneRuleOnTarget
from uqcli.evaluate.parts.review import CatchesMore, Omission, Review
from uqcli.evaluate.parts.rows import (
    Clusters,
    Weights,
    assistance,
    own_rows,
    refuted_target,
    unknown_rates,
    unlabelled_rows,
    unreliable_rates,
)
from uqcli.evaluate.parts.worth import Worth, WorthMore
from uqcli.evaluate.promises import (
    BY_CAPACITY,
    Evidence,
    EvidenceByCapacity,
    EvidenceOnTarget,
    broken,
    review_claims,
    target_claims,
)
from uqcli.evaluate.report import OWN_DATA_CAUTION, EvaluatedPart, EvaluateParameters
from uqcli.evaluate.statements import Fact, MeasuredPart, MoreRate, Remark
from uqcli.reports.document import Claim
from uqcli.rules.codec import load_kind
from uqcli.rules.labelled import labelled_request, source_of
from uqcli.rules.saved import absent_if_none
from uqcli.shift.rule import BinaryWeights, ShiftArtifact, precision_interval, target_weights_of


def evaluate(
    request: EvaluateRequest, rules: Sequence[BoundaryArtifact], shift: ShiftArtifact | None
) -> EvaluateReport:
    """Count decisions and labels in one pass."""
    request = with_groups_as_clusters(_with_calibrator(request))
    by, data = rows_to_read(request, rules)
    priors = _SamePriors()
    if request.first.top is not None:
        rules, data = by_capacity(request, rules, data, request.first.top)
        priors = _FirstRows(rules)
    if shift is not None:
        priors = _TargetPriors(target_weights_of(shift, data.positive_value), request.resampling.seed)
    is_weighted, utilities = request.labelled.are_sampled, _utilities(rules, request.utility)
    tally_of = partial(DecisionTally, len(rules), utility=utilities, is_weighted=is_weighted)
    tally, batches = _count(data, rules, by, tally_of, in_order=request.first.are_asked)
    summary, cluster = batches.summary, batches.roles.cluster
    dependent = Dependence(column=cluster, days="day" in summary.columns)
    request = replace(request, dependent=named(dependent, request.first.per, rules))
    if tally.total == 0:
        raise refusals.no_weight()
    confidence = request.confidence
    data = dependent.of(data)
    labels = _labels(request, rules, data, units_of(by, cluster), tally, unlabelled=summary.unlabelled)
    sample, amounts = labels.sample(tally), tally.amounts(confidence)

    def measure(level: float) -> list[MeasuredBoundary]:
        at_level = sample.at(level)
        files = zip(rules, request.artifacts, strict=True)
        return [
            _measure(at_level, rule, file, place, priors=priors, units=request.dependent.units)
            for place, (rule, file) in enumerate(files)
        ]

    measured = _with_values(
        measure(confidence), request.artifacts, amounts, confidence, in_part=sample.in_part
    )
    claims = target_claims(
        request.artifacts,
        rules,
        [result.evidence for result in measured],
        lambda level: [result.evidence for result in measure(level)],
        confidence,
    )
    evaluated_parts = list[EvaluatedPart]()
    if by is not None:
        levels = batches.levels.get(by) or rules[0].own_levels
        samples = labels.by_group(tally, levels)
        of_groups = {name: tally.amounts_of_group(levels[name], confidence) for name in samples}
        groups = _by_group(rules[0], samples, of_groups, replace(request, groups=GroupColumn(by=by)), priors)
        evaluated_parts.append(groups)
        if by == rules[0].own_key:
            claims = [groups.on_each(claim) for claim in claims]
    tested = _tested(request.artifacts, rules, measured, claims, 1 - confidence)
    source = source_of(summary)
    of_test_set = _parts_of_test_set(request, data, rules[0], measured, priors)
    if len(rules) == 2:
        difference = _difference(labels.of_both(sample), tested, amounts, in_part=sample.in_part)
        evaluated_parts.append(difference)
        of_test_set.append(_of_two(tested, confidence, difference))
    elif len(rules) > 2:
        from uqcli.evaluate.parts.several import SeveralRules

        of_test_set.append(SeveralRules(tested=tested, confidence=confidence))
    else:
        of_test_set.append(_single(tested[0], source.dropped, confidence))
    return EvaluateReport(
        source=source,
        parameters=_parameters(request, data, priors.seed, measured),
        results=[(each.file, each.rule, each.measured) for each in tested],
        of_test_set=of_test_set,
        parts=evaluated_parts,
    )


def _with_calibrator(request: EvaluateRequest) -> EvaluateRequest:
    """Load the calibrator, if it is named."""
    named = request.labelled.calibrator
    if not isinstance(named, str):
        return request
    loaded = load_kind(named, CalibratorArtifact)
    return replace(request, labelled=replace(request.labelled, calibrator=loaded))


class _SamePriors:
    """New rows have the class priors of the test set."""

    seed: int | None = None
    untested = ""
    parts: Sequence[MeasuredPart] = ()

    def measured(self, evidence: Evidence, rates: _Rates) -> tuple[Evidence, Sequence[MeasuredPart]]:
        """Return what rows show, and the net benefit, whose odds concern these priors."""
        return evidence, rates.net_benefit()


class _FirstRows(_SamePriors):
    """The first rows of each group are flagged, so that no target is about them."""

    untested = BY_CAPACITY

    def __init__(self, rules: Sequence[BoundaryArtifact]) -> None:
        self.parts = [measured_rows(rules)]

    def measured(self, evidence: Evidence, rates: _Rates) -> tuple[Evidence, Sequence[MeasuredPart]]:
        return EvidenceByCapacity(**vars(evidence)), rates.net_benefit()


class _TargetPriors(_SamePriors):
    """New rows have the class priors of target data."""

    untested = "the class priors of the target data are those of all rows together"

    def __init__(self, weights: BinaryWeights, seed: int) -> None:
        self._weights, self.seed = weights, seed
        self.parts = [refuted_target(weights.refuted)] if weights.refuted else []

    def measured(self, evidence: Evidence, rates: _Rates) -> tuple[Evidence, Sequence[MeasuredPart]]:
        precision = self._precision(evidence.confusion, rates.confidence)
        rate = MoreRate(key="target_precision", row="precision, target data", estimate=precision)
        return EvidenceOnTarget(**vars(evidence), precision=precision), [rate]

    def _precision(self, confusion: Confusion[int], confidence: float) -> Estimate:
        """Estimate the precision; its interval includes the error of the weights."""
        target, true_positives, selected = self._weights, confusion.true_positives, confusion.selected
        value = target.precision(true_positives / selected if selected else None)
        if not len(target.draws) or target.refuted:
            return Estimate(value=value, reason=target.refuted)
        random = generator(self.seed or 0, Purpose.TARGET)
        counts = true_positives, selected - true_positives
        low, high = precision_interval(target.draws, *counts, confidence, random)
        return Estimate(value=value, low=low, high=high)


@dataclass(frozen=True, kw_only=True)
class _Sample:
    """Labelled rows, of all or of a group, and the designs that stand for all, with the place of each rule.

    There are no such designs if no label is missing.
    """

    labelled: Design
    standing: Sequence[tuple[Design, int]]
    group: str | None
    kind: Callable[..., _Rates]

    @property
    def in_part(self) -> bool:
        """Whether labelled rows stand for others."""
        return bool(self.standing)

    def at(self, confidence: float) -> _Sample:
        """Return it with another level of the intervals."""
        standing = [(replace(design, confidence=confidence), place) for design, place in self.standing]
        return replace(self, labelled=replace(self.labelled, confidence=confidence), standing=standing)

    def of_rule(self, place: int) -> tuple[Design, int]:
        """Return the design of a rule, and its place there."""
        return self.standing[place] if self.standing else (self.labelled, place)

    def rates(self, rule: BoundaryArtifact, place: int) -> _Rates:
        """Return what is known of the rates of a rule."""
        return self.kind(rule, *self.of_rule(place), group=self.group)

    @property
    def only_labelled(self) -> Sequence[_Sample]:
        """The labelled rows alone; empty if there are no others."""
        alone = _Sample(labelled=self.labelled, standing=(), group=self.group, kind=_Rates)
        return [alone] if self.in_part or self.kind is not _Rates else []


class _Labels:
    """Which rows have a label: all that count, or ``parts`` that stand for all.

    Rates of one ``kind`` are measured, which may use the probabilities of all rows.
    """

    def __init__(
        self,
        confidence: float,
        units: str,
        parts: Sequence[LabelledPart],
        *,
        rules: int,
        unlabelled: int,
        kind: Callable[..., _Rates],
    ) -> None:
        self._confidence, self._units = confidence, units
        self._parts, self._rules, self._unlabelled, self._kind = parts, rules, unlabelled, kind

    def sample(self, tally: DecisionTally) -> _Sample:
        """Return all rows."""
        labelled = replace(tally.of_all(self._confidence, self._units), unlabelled=self._unlabelled)
        of_parts = [part.of_all(self._confidence, self._unlabelled, self._units) for part in self._parts]
        standing = [(design, 0) for design in of_parts]
        if len(of_parts) == 1:
            standing = [(of_parts[0], place) for place in range(self._rules)]
        return _Sample(labelled=labelled, standing=standing, group=None, kind=self._kind)

    def by_group(self, tally: DecisionTally, levels: Mapping[str, int]) -> Mapping[str, _Sample]:
        """Return the rows of each group."""
        of_parts = [
            part.by_group(levels, self._confidence, self._unlabelled, self._units) for part in self._parts
        ]
        return {
            name: _Sample(
                labelled=design, standing=[(part[name], 0) for part in of_parts], group=name, kind=self._kind
            )
            for name, design in tally.by_group(levels, self._confidence, self._units).items()
        }

    def of_both(self, sample: _Sample) -> Design:
        """Return rows with the decisions of both rules; parts of single rules have none."""
        if len(self._parts) > 1:
            return WeightedRows(confidence=self._confidence, sums={})
        return sample.of_rule(0)[0]


def _labels(
    request: EvaluateRequest,
    rules: Sequence[BoundaryArtifact],
    data: DataRequest,
    units: Units,
    tally: DecisionTally,
    *,
    unlabelled: int,
) -> _Labels:
    """Find which rows have a label; ``data`` requests these, beside which there are ``unlabelled`` ones."""
    labels_of = partial(_Labels, request.confidence, request.dependent.units, rules=len(rules))
    if not request.labelled.are_assisted:
        has_parts = unlabelled and not request.labelled.are_sampled
        parts = labelled_parts(data, rules, units, all_rows(data)) if has_parts else []
        return labels_of(parts, unlabelled=unlabelled, kind=_Rates)
    _refuse_unclear(request, unlabelled)
    every = all_rows(data, request.labelled.unlabelled)
    parts, weights = list[LabelledPart](), sampling_weights
    if request.labelled.are_sampled:
        refuse_others(scores_by_decision(every, rules), scores_by_decision(data, rules))
    else:
        parts = labelled_parts(data, rules, units, every)
        weights = parts[0].weights
    calibrator = request.labelled.calibrator
    assert not isinstance(calibrator, str)  # it was loaded
    assisted = AssistedRows(data, every, rules[0], calibrator, units=units, weights=weights)
    kind = partial(_AssistedRates, assisted=assisted)
    return labels_of(parts, unlabelled=assisted.rows - tally.rows, kind=kind)


def _tested(
    files: Sequence[str],
    rules: Sequence[BoundaryArtifact],
    measured: Sequence[MeasuredBoundary],
    claims: Sequence[Claim],
    level: float,
) -> list[TestedRule]:
    """Test the reviews of rules, and add whether their targets and reviews hold."""
    names, tested = short_names(files), []
    for file, name, rule, result, claim in zip(files, names, rules, measured, claims, strict=True):
        reviews = review_claims(file, rule, result.evidence, level)
        promises = Remark(  # the order of the scores alone promises nothing
            said=[("claim", claim), *(("review-claim", review) for review in reviews)]
            if rule.is_fitted and not rule.first.are_asked
            else [],
            voided=[] if rule.is_fitted else [Fact.NEW_ROWS],
            measured={"promise_broken": broken([claim, *reviews])},
        )
        parts = [promises, *own_rows(file, rule, result.confusion), *flagged_of_groups(rule)]
        tested.append(
            TestedRule(
                file=file,
                name=name,
                rule=rule,
                measured=result.having(*parts),
                claim=claim,
                review_claims=reviews,
            )
        )
    return tested


def _parts_of_test_set(
    request: EvaluateRequest,
    data: DataRequest,
    rule: BoundaryArtifact,
    measured: Sequence[MeasuredBoundary],
    priors: _SamePriors,
) -> list[MeasuredPart]:
    """Return the parts that are the same beside each rule."""
    parts: list[MeasuredPart] = [Remark(said=[("own-data", OWN_DATA_CAUTION)])]
    first = measured[0]
    if rule.class_names:
        parts.append(Remark(said=[("predictions", ROWS_ARE_PREDICTIONS)]))
    alike = alike_rows(data, rule, lambda _: request.takes_option) if not request.dependent.is_known else None
    if alike is not None:
        parts.append(Remark(said=[("dependent-rows", alike.caution)]))
    parts += priors.parts
    if request.labelled.are_assisted:
        parts.append(assistance(first.unlabelled, first.evidence.gains))
    is_sampled = request.labelled.are_sampled
    if any(result.unlabelled for result in measured) and not (is_sampled and request.labelled.are_assisted):
        parts.append(unlabelled_rows(sampled=is_sampled))
    return parts


def _single(tested: TestedRule, dropped: int, confidence: float) -> OneRule:
    """Return the part of a single rule."""
    evidence = tested.measured.evidence
    if isinstance(tested.rule, FirstRowsRule):
        return one_rule(tested.rule.ranking, tested, dropped, confidence)
    if isinstance(evidence, EvidenceOnTarget):
        return OneRuleOnTarget(
            tested=tested, dropped=dropped, confidence=confidence, precision=evidence.precision
        )
    return OneRule(tested=tested, dropped=dropped, confidence=confidence)


def _of_two(tested: Sequence[TestedRule], confidence: float, difference: BoundaryDifference) -> MeasuredPart:
    """Return the part of two rules."""
    from uqcli.evaluate.parts.several import TwoRules, TwoRulesByCapacity

    kind = TwoRules if tested[0].rule.by_thresholds else TwoRulesByCapacity
    return kind(tested=tested, confidence=confidence, difference=difference, otherwise=_simpler(tested))


def _simpler(tested: Sequence[TestedRule]) -> str:
    """Say which of two boundaries to use if neither does better: the one with fewer thresholds."""
    first, second = (
        len(each.rule.thresholds) + sum(len(rule.thresholds) for rule in each.rule.group_rules.values())
        for each in tested
    )
    if first == second:
        return f"either will do, so keep {tested[0].name}"
    return f"use {tested[0].name if first < second else tested[1].name}, the simpler rule"


def _with_values(
    measured: Sequence[MeasuredBoundary],
    files: Sequence[str],
    amounts: Sequence[Amounts],
    confidence: float,
    *,
    in_part: bool,
) -> Sequence[MeasuredBoundary]:
    """Add what the decisions of each rule are worth, if amounts were given."""
    for of_rules in amounts:
        named = enumerate(zip(measured, files, strict=True))
        measured = [
            _with_value(result, file, of_rules.worth(flags(place)), confidence, in_part=in_part)
            for place, (result, file) in named
        ]
    return measured


def _with_value(
    measured: MeasuredBoundary, file: str, worth: Value, confidence: float, *, in_part: bool
) -> MeasuredBoundary:
    value = _value(worth, [measured], f"{file}: value", confidence, in_part=in_part)
    amount = value.value.value
    evidence = replace(measured.evidence, worth="-" if amount is None else rounded_money(amount))
    return replace(measured, evidence=evidence).having(value)


def _parameters(
    request: EvaluateRequest, data: DataRequest, seed: int | None, measured: Sequence[MeasuredBoundary]
) -> EvaluateParameters:
    assisted: dict[str, object] | msgspec.UnsetType = msgspec.UNSET
    if request.labelled.are_assisted:
        rates = [str(rate) for rate in measured[0].evidence.gains]
        assisted = {
            "rates": rates,
            "probabilities": "calibrator" if request.labelled.have_calibrator else "score",
        }
    return EvaluateParameters(
        confidence=request.confidence,
        on_invalid=data.on_invalid,
        positive=data.positive_value,
        seed=seed,
        **request.dependent.saved,
        sampling_weight=True if request.labelled.are_sampled else msgspec.UNSET,
        assisted=assisted,
        top=absent_if_none(request.first.top),
        per=absent_if_none(request.first.per),
    )


def _refuse_unclear(request: EvaluateRequest, unlabelled: int) -> None:
    """Refuse rows of which it is not clear which lack a label."""
    if not request.labelled.have_file_of_all and not unlabelled:
        raise UsageError(
            words("--calibrator with a label in every row"),
            expected=words("rows without a label, here or in the file of --unlabelled"),
        )
    if request.labelled.have_file_of_all and unlabelled:
        raise UsageError(
            words("--unlabelled with {} rows without a label among the labelled ones", unlabelled),
            remedy=words(
                "give all rows in one file, without --unlabelled, or leave out the rows without a label"
            ),
        )


def rows_to_read(
    request: EvaluateRequest, rules: Sequence[BoundaryArtifact]
) -> tuple[str | None, DataRequest]:
    """Return the key of groups that are measured, and the request for rows, also of an audit."""
    by = request.groups.by or (rules[0].own_key if len(rules) == 1 else None)
    # rows without a group have the rule of all rows, so that the rule's own groups are no key
    read = (
        [*rules, request.labelled.calibrator]
        if isinstance(request.labelled.calibrator, CalibratorArtifact)
        else rules
    )
    names = request.artifacts if len(rules) > 1 else ()
    data = labelled_request(request.data, request.columns, read, names).grouped_by(
        None if by == PREDICTED else request.groups.by
    )
    data = request.dependent.of(data)
    if request.takes_option and not request.labelled.have_file_of_all:  # that file need not have the column
        fitted = tuple(replace(clusters, adopts=True) for clusters in data.roles.fitted)
        data = replace(data, roles=replace(data.roles, fitted=fitted))
    data = rules[0].as_decided(data)
    data = request.labelled.weighting(data)
    for utility in _utilities(rules, request.utility):
        data = data.with_amounts(utility.amounts)
    return by, data


def _by_group(
    artifact: BoundaryArtifact,
    samples: Mapping[str, _Sample],
    amounts: Mapping[str, Sequence[Amounts]],
    request: EvaluateRequest,
    priors: _SamePriors,
) -> GroupEvaluation:
    """Measure each group, with its amounts, and test the target of the rule there."""
    constraint, file = replace(artifact.constraint.parsed(), also=()), request.artifacts[0]
    measure = partial(_measure, priors=priors, units=request.dependent.units)
    results, in_part = [], any(sample.in_part for sample in samples.values())
    designs = [design for sample in samples.values() for design, _ in sample.standing]
    reason = _untested_groups(artifact, constraint, priors, designs)
    untested = f"not tested, since {reason}" if reason else ""
    for name, sample in samples.items():
        measured = measure(sample, artifact, file, 0)
        labelled = [measure(only, artifact, file, 0) for only in sample.only_labelled]
        cells, shown = group_cells(measured, constraint), [*labelled, measured][0]
        for of_rule in amounts[name]:
            worth = of_rule.worth(flags(0))
            measured = _with_value(measured, name, worth, request.confidence, in_part=sample.in_part)
            cells = (*cells, measured.cells(brief=False)["value"])
        has_target = request.groups.by != artifact.own_key or name in artifact.promising_groups
        group = EvaluatedGroup(
            name=name,
            rows=sample.labelled.rows(),
            metrics=measured.metrics(),
            cells=cells,
            untested=untested if has_target else "without a rule of their own, not tested",
        )
        for rate in constraint.rates if has_target and not reason else ():
            upper = constraint.is_upper
            bounded = sample.labelled.bounded(rate, 0, constraint.numbers[0], upper=upper)
            if (estimate := shown.evidence.rate(rate)) != UNKNOWN:
                group = BoundedGroup(**vars(group), rate=estimate, bounded=bounded)
        results.append(group)
    is_named = in_part or any(isinstance(group, BoundedGroup) for group in results)
    bound = constraint.text() if is_named and constraint.is_bound else ""
    by = PREDICTED_CLASS if request.groups.by == PREDICTED else request.groups.by or ""
    return group_evaluation(
        by,
        results,
        (*group_header(constraint), *(["value"] if any(amounts.values()) else [])),
        bound,
        1 - request.confidence,
        units="" if not request.dependent.is_known else request.dependent.units,
        labels_missing=in_part,
    )


def _untested_groups(
    artifact: BoundaryArtifact, constraint: Constraint, priors: _SamePriors, parts: Sequence[Design]
) -> str:
    """Return why groups are not tested; empty if they are.

    Labelled flagged rows show the precision, if labels were given at random among the flagged rows of a
    group. Other rates compare rows whose chances of a label differ.
    """
    if reason := artifact.unsealed or priors.untested:
        return reason
    if parts and not constraint.is_proportion_of_flagged:
        return "labels are missing"
    if any((FLAGGED,) in design.uneven for design in parts):
        return "the labelled share of flagged rows changes with the score"
    return ""


def _count(
    data: DataRequest,
    rules: Sequence[BoundaryArtifact],
    by: str | None,
    tally_of: Callable[[Units], DecisionTally],
    *,
    in_order: bool,
) -> tuple[DecisionTally, CheckedBatches]:
    """Count the rows in a tally by their column of clusters; in order if threads are not to mix batches."""
    batches = open_engine(data.engine).batches(data)
    tallies: dict[str | None, DecisionTally] = {}

    def prepare(rows: Rows) -> Callable[[], None]:
        cluster = batches.roles.cluster
        return tallies.setdefault(cluster, tally_of(units_of(by, cluster))).prepare(
            rows, [rule.zones(rows) for rule in rules]
        )

    for add in map(prepare, batches) if in_order else batches.mapped(prepare):
        add()
    return next(iter(tallies.values()), tally_of(units_of(by, None))), batches


def _measure(
    sample: _Sample, rule: BoundaryArtifact, file: str, index: int, *, priors: _SamePriors, units: str
) -> MeasuredBoundary:
    """Measure a rule, which has this place among all rules."""
    labelled, (design, place), rates = sample.labelled, sample.of_rule(index), sample.rates(rule, index)
    confusion = labelled.confusion(index)
    parts = [*rates.of_cleared(confusion)]
    evidence = Evidence(
        confusion=confusion,
        totals=design.totals(place) if design.is_weighted else confusion,
        rates=rates.estimates(),
        gains=rates.used,
        count_alike=not design.is_weighted,
        independent=not isinstance(labelled, ClusteredRows),
    )
    evidence, more = priors.measured(evidence, rates)
    added = [rate for bound in rule.constraint.parsed().bounds for rate in bound.added_metrics]
    parts += [
        *more,
        *rates.of_all_rows(),
        Remark(measured={str(rate): evidence.rate(rate) for rate in added}),
        *_parts_of_rows(file, evidence, labelled, index, units),
    ]
    return MeasuredBoundary(evidence=evidence, unlabelled=design.unlabelled, parts=parts)


def _parts_of_rows(
    file: str, evidence: Evidence, labelled: Design, index: int, units: str
) -> Iterator[MeasuredPart]:
    """Yield the parts of rows that count by weight, depend on each other, or lack labels."""
    rates = {"precision": evidence.rate(Rate.PRECISION), "recall": evidence.rate(Rate.RECALL)}
    yield unknown_rates(file, rates)
    if not evidence.count_alike:
        yield Weights(selected=evidence.confusion.selected, share=evidence.selected_share)
    if isinstance(labelled, ClusteredRows):
        numbers = cluster_numbers(labelled.confusion_by_cluster(index))
        yield Clusters(file=file, numbers=numbers, units=units, rates=rates)
    else:
        yield unreliable_rates(file, rates)


class _Rates:
    """Rates of a rule, from labelled rows that stand for all rows, or for those of a group."""

    def __init__(self, rule: BoundaryArtifact, design: Design, place: int, *, group: str | None) -> None:
        self._rule, self._design, self._place, self._group = rule, design, place, group
        self.confidence = design.confidence
        self._more = dict[Rate, Estimate]()  # rates of rows that are not flagged
        self.used: dict[str, float | None] = {}  # rates that probabilities estimate, with their gain

    def estimates(self) -> dict[Rate, Estimate]:
        """Estimate the usual rates, those of its cleared rows, and any other that the rule bounds."""
        flagged, estimate = flags(self._place), self.estimate
        rates = {
            Rate.PRECISION: estimate(Rate.PRECISION),
            Rate.RECALL: self.with_model(Rate.RECALL, flagged, estimate(Rate.RECALL)),
            Rate.FPR: self.with_model(Rate.FPR, flagged, estimate(Rate.FPR), positive=False),
            Rate.ALERTS: estimate(Rate.ALERTS),
            **self._more,
        }
        bounded = {rate for bound in self._rule.constraint.parsed().bounds for rate in bound.rates}
        shown = {rate.rows for rate in rates}
        return rates | {rate: estimate(rate) for rate in sorted(bounded) if rate.rows not in shown}

    def estimate(self, rate: Rate) -> Estimate:
        """Estimate a rate; unknown if it is about rows whose labels are missing."""
        (decided, label), (other, _) = rate.success, rate.failure
        chosen = chosen_by(decided, self._place)
        if label is None:
            return self._design.share(chosen)
        taken = Decided.FLAGGED if Decided.FLAGGED in {decided, decided.others} else Decided.CAUGHT
        needs_others = not decided is other is taken
        if needs_others and (why := self._reason(chosen_by(taken, self._place))):
            return unknown(why)
        if decided is not other:
            return self._design.known_share(chosen, positive=label)
        precision = self._design.known_precision(chosen)
        return precision if label else precision.complement()

    def with_model(
        self,
        rate: str,  # noqa: ARG002
        chosen: Chooses,  # noqa: ARG002
        plain: Estimate,
        *,
        positive: bool = True,  # noqa: ARG002
    ) -> Estimate:
        """Return the estimate; one that uses the probabilities of all rows if there are any."""
        return plain

    def of_all_rows(self) -> list[MoreRate]:
        """Estimate the share of positives, if probabilities of all rows are used."""
        return []

    def net_benefit(self) -> list[NetBenefit]:
        """Estimate the net benefit at the odds of the constraint, if it sets any."""
        constraint = self._rule.constraint.parsed()
        if not constraint.sets_odds:
            return []
        flagged, odds = flags(self._place), constraint.odds
        why = self._reason(flagged)
        benefit = unknown(why) if odds is None or why else self._design.net_benefit(flagged, odds)
        return [NetBenefit(key="net_benefit", row="net benefit", estimate=benefit, odds=odds)]

    def of_cleared(self, confusion: Confusion[int]) -> Iterator[MeasuredPart]:
        """Measure the dropped rows, if the rule limits the positives there, and the review, if any."""
        if self._rule.limits_omission:
            omission = self._more[Rate.OMISSION] = self.estimate(Rate.OMISSION)
            yield Omission(key="omission", row="false omission", estimate=omission)
        if self._rule.has_zones:
            self._more |= {rate: self.estimate(rate) for rate in (Rate.CAUGHT, Rate.MISSED, Rate.REVIEWED)}
            handled, _ = confusion.handled
            yield Review(
                caught=self._more[Rate.CAUGHT],
                share=self._more[Rate.REVIEWED],
                miss=self._more[Rate.MISSED],
                reviewed=handled - confusion.selected,
                work=handled,
                limits_misses=least_caught(self._rule) is not None,
                confidence=self.confidence,
            )

    def _reason(self, taken: Chooses) -> str:
        """Return why a rate of all rows is unknown; empty if it is known."""
        has_others = self._design.rows(others(taken)) != 0
        only_taken = self._group is None and not (has_others or _takes_all(self._rule))
        return self._design.reason(taken) or ("the file has flagged rows only" if only_taken else "")


class _AssistedRates(_Rates):
    """Rates that the probabilities of all rows make more exact."""

    def __init__(
        self, rule: BoundaryArtifact, design: Design, place: int, *, group: str | None, assisted: AssistedRows
    ) -> None:
        super().__init__(rule, design, place, group=group)
        self._assisted = assisted

    def with_model(self, rate: str, chosen: Chooses, plain: Estimate, *, positive: bool = True) -> Estimate:
        """Return the assisted estimate where labels allow it and it is not wider, else the plain one."""
        if plain == UNKNOWN:  # printed only where the other is good, it would cover less
            return plain
        design = self._design
        model = self._assisted.chosen(chosen, design.confidence, self._group)
        if rate == "prevalence":
            computed, better = design.prevalence(), model.prevalence()
        else:
            computed, better = design.share(chosen, positive=positive), model.share(positive=positive)
        if better is None or not shorter(computed, better):
            return plain
        self.used[rate] = ratio_of_labels(computed, better)
        return replace(better, reason=SHARE_CHANGES if design.varying else "")

    def of_all_rows(self) -> list[MoreRate]:
        flagged = flags(self._place)
        why = self._reason(flagged)
        plain = unknown(why) if why else self._design.prevalence()
        rate = self.with_model("prevalence", flagged, plain)
        return [MoreRate(key="prevalence", row="positive rate", estimate=rate)]


def _takes_all(rule: BoundaryArtifact) -> bool:
    """Whether a rule may flag every row, whatever its score."""
    if not rule.by_thresholds:
        return True
    thresholds = [threshold for group in rule.group_rules.values() for threshold in group.thresholds]
    return {*rule.thresholds, *thresholds} == {LOWEST}


def _difference(
    design: Design, tested: Sequence[TestedRule], amounts: Sequence[Amounts], *, in_part: bool
) -> BoundaryDifference:
    """Compute the differences of two rules from rows with the decisions of both; they may be unknown."""
    first, second = flags(0), flags(1)
    names, measured = [each.name for each in tested], [each.measured for each in tested]
    apart, recalls = differ(first, second), [result.recall for result in measured]
    parts, all_parts = list[MeasuredPart](), [part for result in measured for part in result.parts]
    reviews = [part for part in all_parts if isinstance(part, Review)]
    if len(reviews) == len(measured):
        caught = design.difference(catches(0), catches(1), positive=True)
        if UNKNOWN in [review.caught for review in reviews]:
            caught = UNKNOWN
        parts.append(CatchesMore(names=names, reviews=reviews, caught=caught))
    benefits = [part for part in all_parts if isinstance(part, NetBenefit)]
    if len(benefits) == len(measured) and benefits[0].odds == benefits[1].odds:
        parts.append(_benefits_more(design, benefits))
    for of_rules in amounts:
        worth, confidence = of_rules.difference(first, second), design.confidence
        value = _value(worth, measured, "difference of values", confidence, in_part=in_part)
        parts.append(WorthMore(**vars(value), names=names, otherwise=_simpler(tested)))
    kind = BoundaryDifference if measured[0].evidence.count_alike else WeightedDifference
    return kind(
        first=measured[0],
        second=measured[1],
        recall=UNKNOWN if UNKNOWN in recalls else design.difference(first, second, positive=True),
        precision=design.precision_difference(first, second),
        selected=design.rows_difference(first, second),
        disagreements=design.rows(apart),
        disagreements_positive=design.rows(apart, positive=True),
        parts=parts,
    )


def _value(
    worth: Value, measured: Sequence[MeasuredBoundary], subject: str, confidence: float, *, in_part: bool
) -> Worth:
    """Return the value of labelled rows, without the gain caught if rows without a label would count."""
    value, caught, heavy_tailed = worth
    if in_part or UNKNOWN in [result.recall for result in measured]:
        caught = UNKNOWN
    return Worth(
        subject=subject, value=value, caught=caught, heavy_tailed=heavy_tailed, confidence=confidence
    )


def _benefits_more(design: Design, benefits: Sequence[NetBenefit]) -> MoreRate:
    """Estimate the difference of two net benefits at the same odds."""
    odds, difference = benefits[0].odds, UNKNOWN
    if odds is not None and design.rows() and UNKNOWN not in [benefit.estimate for benefit in benefits]:
        difference = design.net_benefit_difference(flags(0), flags(1), odds)
    return BenefitDifference(key="net_benefit", row="net benefit", estimate=difference)


def _utilities(rules: Sequence[BoundaryArtifact], given: Constraint | None) -> Sequence[Constraint]:
    """Return the gain and cost by which rules are measured: those given, else their own; none without any.

    If rules have different ones, they must be given.
    """
    if given is not None:
        return [given]
    own = {rule.constraint.value: rule.constraint for rule in rules}
    utilities = [saved.parsed() for saved in own.values() if not saved.parsed().is_bound]
    if len(utilities) > 1:
        listed = " and ".join(utility.value for utility in utilities)
        raise UsageError(
            f"rules with {listed}", expected="the same for all", remedy=words("give --gain and --cost")
        )
    return utilities


def group_header(tested: Constraint) -> tuple[str, ...]:
    """Return the names of the cells of a group that is tested for a bound."""
    names = "flagged", "precision", "recall"
    return (*names, tested.own_column) if tested.own_column else names


def group_cells(measured: MeasuredBoundary, tested: Constraint) -> tuple[str, ...]:
    """Format the results of a group, in the order of its header."""
    other = (interval(measured.evidence.rate(*tested.rates)),) if tested.own_column else ()
    share = percent(measured.selected_share)
    return share, interval(measured.precision), interval(measured.recall), *other
