"""Evaluate boundaries on a test set."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from functools import partial

import msgspec

from uqcli.base.defaults import LOWEST
from uqcli.base.draws import Purpose, generator
from uqcli.base.errors import UsageError
from uqcli.base.rows import Rows
from uqcli.boundary.dependent_columns import alike_rows
from uqcli.boundary.rule import PREDICTED_CLASS, BoundaryArtifact
from uqcli.boundary.search.constraint import Constraint
from uqcli.calibrate.rule import CalibratorArtifact
from uqcli.engines import refusals
from uqcli.engines.open import open_engine
from uqcli.engines.protocol import CheckedBatches
from uqcli.engines.request import PREDICTED, DataRequest
from uqcli.estimates.confusion import Confusion, Rate, cluster_numbers
from uqcli.estimates.design import (
    FLAGGED,
    SHARE_CHANGES,
    Chooses,
    ClusteredRows,
    Design,
    WeightedRows,
    catches,
    differ,
    flags,
    others,
    reviews,
    unknown,
)
from uqcli.estimates.estimate import UNKNOWN, Estimate
from uqcli.estimates.model_assisted import ratio_of_labels, shorter
from uqcli.estimates.survey import with_sampling_weights
from uqcli.estimates.value import Amounts, Worth
from uqcli.evaluate.boundaries_report import EvaluateReport, group_cells, group_header
from uqcli.evaluate.decisions import DecisionTally, Units
from uqcli.evaluate.groups import BoundedGroup, EvaluatedGroup, GroupEvaluation, group_evaluation
from uqcli.evaluate.labelled_part import (
    AssistedRows,
    LabelledPart,
    all_rows,
    labelled_parts,
    refuse_others,
    scores_by_decision,
)
from uqcli.evaluate.measured_boundary import (
    VALUE_ROWS,
    BoundaryDifference,
    MeasuredBoundary,
    MeasuredValue,
    MeasuredZones,
    bounded_rates,
    broken,
    review_claim,
    target_claims,
)
from uqcli.evaluate.options import EvaluateRequest
from uqcli.evaluate.report import EvaluatedPart, EvaluateParameters
from uqcli.rules.codec import load_kind
from uqcli.rules.labelled import labelled_request, source_of
from uqcli.shift.rule import BinaryWeights, ShiftArtifact, precision_interval, target_weights_of


def evaluate(
    request: EvaluateRequest, rules: Sequence[BoundaryArtifact], shift: ShiftArtifact | None
) -> EvaluateReport:
    """Count decisions and labels in one pass."""
    calibrator = request.calibrator
    if isinstance(calibrator, str):
        request = replace(request, calibrator=load_kind(calibrator, CalibratorArtifact))
    by, data = rows_to_read(request, rules)
    target = None if shift is None else target_weights_of(shift, data.positive_value)
    tally, batches = _count(data, rules, by, request)
    summary, cluster = batches.summary, batches.roles.cluster
    if cluster is not None:
        request = replace(request, cluster=cluster, days="day" in summary.columns)
    if tally.total == 0:
        raise refusals.no_weight()
    confidence = request.resampling.confidence
    data = data.clustered_by(cluster, days=request.days)
    parts, assisted = _all_rows(request, rules, data, Units(by, cluster), summary.unlabelled)
    unlabelled = summary.unlabelled if assisted is None else assisted.rows - tally.rows
    counted = replace(tally.of_all(confidence, request.units), unlabelled=unlabelled)
    designs = [
        (part.of_all(confidence, unlabelled, request.units), place)
        for part, place in _places(parts, len(rules))
    ]
    amounts = tally.amounts(confidence)
    measure = partial(_measured, rules, (counted, designs if parts else []), request, target, assisted)
    measured = _with_values(measure(confidence), amounts, in_part=bool(parts))
    parts_of_report, groups = list[EvaluatedPart](), None
    if by is not None:
        levels = batches.levels.get(by) or rules[0].own_levels
        of_groups = _designs_by_group(tally, parts, levels, request, unlabelled)
        groups = _by_group(rules[0], *of_groups, replace(request, by=by), target, assisted=assisted)
        parts_of_report.append(groups)
    alike = alike_rows(data, rules[0], lambda _: request.takes_option) if cluster is None else None
    results = tuple(zip(request.artifacts, rules, measured, strict=True))
    claims = target_claims(results, measure, confidence)
    if groups is not None and by == rules[0].own_key:
        claims = tuple(groups.on_each(claim) for claim in claims)
    reviews = tuple(review_claim(*result, 1 - confidence) for result in results)
    difference = None
    if len(rules) == 2:
        design = _design_of_both(counted, parts, designs)
        difference = _difference(design, rules, measured, amounts, in_part=bool(parts))
        parts_of_report.append(difference)
    return EvaluateReport(
        source=source_of(summary),
        parameters=_parameters(request, data, None if shift is None else request.resampling.seed, measured),
        results=tuple(
            (name, rule, replace(result, promise_broken=broken(claim, review)))
            for (name, rule, result), claim, review in zip(results, claims, reviews, strict=True)
        ),
        claims=claims,
        review_claims=tuple(review for review in reviews if review is not None),
        difference=difference,
        parts=parts_of_report,
        alike=alike,
    )


def _with_values(
    measured: Sequence[MeasuredBoundary], amounts: Amounts | None, *, in_part: bool
) -> list[MeasuredBoundary]:
    """Add what the decisions of each rule are worth, if amounts were given."""
    if amounts is None:
        return list(measured)
    return [
        replace(result, value=_value(amounts.worth(flags(index)), [result], in_part=in_part))
        for index, result in enumerate(measured)
    ]


def _designs_by_group(
    tally: DecisionTally,
    parts: Sequence[LabelledPart],
    levels: Mapping[str, int],
    request: EvaluateRequest,
    unlabelled: int,
) -> tuple[dict[str, tuple[Design, Amounts | None]], dict[str, tuple[Design, int]]]:
    """Return the labelled rows of each group, with their amounts, and those that stand for all rows."""
    confidence = request.resampling.confidence
    counted = tally.by_group(levels, confidence, request.units)
    of_parts = [part.by_group(levels, confidence, unlabelled, request.units) for part in parts]
    return (
        {name: (design, tally.amounts(confidence, levels[name])) for name, design in counted.items()},
        {name: (design, 0) for designs in of_parts for name, design in designs.items()},
    )


def _design_of_both(
    counted: Design, parts: Sequence[LabelledPart], designs: Sequence[tuple[Design, int]]
) -> Design:
    """Return rows with the decisions of both rules, that stand for all; parts of single rules have none."""
    if not parts:
        return counted
    return designs[0][0] if len(parts) == 1 else WeightedRows(confidence=counted.confidence, sums={})


def _parameters(
    request: EvaluateRequest, data: DataRequest, seed: int | None, measured: Sequence[MeasuredBoundary]
) -> EvaluateParameters:
    assisted: dict[str, object] | msgspec.UnsetType = msgspec.UNSET
    if request.assisted:
        rates = [str(rate) for rate in measured[0].assisted]
        assisted = {"rates": rates, "probabilities": "score" if request.calibrator is None else "calibrator"}
    return EvaluateParameters(
        confidence=request.resampling.confidence,
        on_invalid=data.on_invalid,
        positive=data.positive_value,
        seed=seed,
        **request.saved_dependence,
        sampling_weight=True if request.sampling_weight is not None else msgspec.UNSET,
        assisted=assisted,
    )


def _measured(  # noqa: PLR0917  its confidence varies
    rules: Sequence[BoundaryArtifact],
    designs: tuple[Design, Sequence[tuple[Design, int]]],
    request: EvaluateRequest,
    target: BinaryWeights | None,
    assisted: AssistedRows | None,
    confidence: float,
) -> list[MeasuredBoundary]:
    """Measure rules on all rows, with intervals of a confidence.

    ``designs`` are those of labelled rows, and of those that stand for all rows with the place of each rule.
    """
    counted, parts = designs
    request = replace(request, resampling=replace(request.resampling, confidence=confidence))
    own = [(replace(design, confidence=confidence), place) for design, place in parts]
    return [
        _measure(
            rule,
            (replace(counted, confidence=confidence), index),
            own[index] if own else None,
            request,
            target,
            assisted=assisted,
        )
        for index, rule in enumerate(rules)
    ]


def _places(parts: Sequence[LabelledPart], rules: int) -> list[tuple[LabelledPart, int]]:
    """Return the part in which each rule is, and its place there."""
    if len(parts) == 1:
        return [(parts[0], index) for index in range(rules)]
    return [(part, 0) for part in parts]


def _all_rows(
    request: EvaluateRequest,
    rules: Sequence[BoundaryArtifact],
    data: DataRequest,
    units: Units,
    unlabelled: int,
) -> tuple[list[LabelledPart], AssistedRows | None]:
    """Return the labelled rows that stand for all rows, and the probabilities of all rows, if used.

    ``data`` requests the labelled rows, beside which there are ``unlabelled`` ones.
    """
    every = None
    if request.assisted:
        _refuse_unclear(request, unlabelled)
        every = all_rows(data, request.unlabelled)
    parts = []
    if (unlabelled or every is not None) and request.sampling_weight is None:
        parts = labelled_parts(data, rules, units, every)
    if every is None:
        return parts, None
    if not parts:
        refuse_others(scores_by_decision(every, rules), scores_by_decision(data, rules))
    calibrator = request.calibrator
    assert not isinstance(calibrator, str)  # it was loaded
    part = parts[0] if parts else None
    return parts, AssistedRows(data, every, rules[0], calibrator, units=units, part=part)


def _refuse_unclear(request: EvaluateRequest, unlabelled: int) -> None:
    """Refuse rows of which it is not clear which lack a label."""
    if request.unlabelled is None and not unlabelled:
        raise UsageError(
            "--calibrator with a label in every row",
            expected="rows without a label, here or in the file of --unlabelled",
        )
    if request.unlabelled is not None and unlabelled:
        raise UsageError(
            f"--unlabelled with {unlabelled} rows without a label among the labelled ones",
            remedy="give all rows in one file, without --unlabelled, or leave out the rows without a label",
        )


def rows_to_read(
    request: EvaluateRequest, rules: Sequence[BoundaryArtifact]
) -> tuple[str | None, DataRequest]:
    """Return the key of groups that are measured, and the request for rows, also of an audit."""
    by = request.by or (rules[0].own_key if len(rules) == 1 else None)
    # rows without a group have the rule of all rows, so that the rule's own groups are no key
    read = [*rules, request.calibrator] if isinstance(request.calibrator, CalibratorArtifact) else rules
    names = request.artifacts if len(rules) > 1 else ()
    data = labelled_request(request.data, request.columns, read, names).grouped_by(
        None if by == PREDICTED else request.by
    )
    data = data.clustered_by(request.cluster, days=request.days)
    if request.takes_option and request.unlabelled is None:  # that file need not have the column
        data = replace(data, roles=replace(data.roles, adopts=True))
    data = rules[0].as_decided(data)
    if request.sampling_weight is not None:
        data = with_sampling_weights(data, request.sampling_weight)
    utility = utility_of(rules, request.utility)
    return by, data if utility is None else data.with_amounts(utility.amounts)


def _by_group(
    artifact: BoundaryArtifact,
    counted: Mapping[str, tuple[Design, Amounts | None]],
    parts: Mapping[str, tuple[Design, int]],
    request: EvaluateRequest,
    target: BinaryWeights | None,
    *,
    assisted: AssistedRows | None,
) -> GroupEvaluation:
    """Measure each group, and test the target of the rule there.

    ``counted`` has the labelled rows of each group, and their amounts, if any, and ``parts`` those that stand
    for all; empty if no label is missing.
    """
    constraint = replace(artifact.constraint.parsed(), also=())
    results = []
    reason = _untested_groups(artifact, constraint, target, [design for design, _ in parts.values()])
    untested = f"not tested, since {reason}" if reason else ""
    for name, (design, worth) in counted.items():
        labelled = _measure(artifact, (design, 0), None, request, target, in_group=True)
        measured = labelled
        if parts or assisted is not None:
            part = parts[name] if parts else None
            measured = _measure(
                artifact, (design, 0), part, request, target, assisted=assisted, in_group=True, group=name
            )
        if worth is not None:
            value = _value(worth.worth(flags(0)), [measured], in_part=bool(parts))
            measured = replace(measured, value=value)
        has_target = request.by != artifact.own_key or name in artifact.promising_groups
        group = EvaluatedGroup(
            name=name,
            rows=design.rows(),
            metrics=measured.metrics(),
            cells=group_cells(measured, constraint),
            untested=untested if has_target else "without a rule of their own, not tested",
        )
        for bounded, rate in bounded_rates(constraint, labelled, design) if has_target and not reason else ():
            if rate != UNKNOWN:
                group = BoundedGroup(**vars(group), rate=rate, bounded=bounded)
        results.append(group)
    is_named = bool(parts) or any(isinstance(group, BoundedGroup) for group in results)
    bound = constraint.text() if is_named and constraint.is_bound else ""
    by = PREDICTED_CLASS if request.by == PREDICTED else request.by or ""
    has_value = any(worth is not None for _, worth in counted.values())
    return group_evaluation(
        by,
        results,
        (*group_header(constraint), *VALUE_ROWS[: int(has_value)]),
        bound,
        1 - request.resampling.confidence,
        units=request.units if request.cluster is not None else "",
        labels_missing=bool(parts),
    )


def _untested_groups(
    artifact: BoundaryArtifact, constraint: Constraint, target: BinaryWeights | None, parts: Sequence[Design]
) -> str:
    """Return why groups are not tested; empty if they are.

    Labelled flagged rows show the precision, if labels were given at random among the flagged rows of a
    group. Other rates compare rows whose chances of a label differ.
    """
    if artifact.unsealed:
        return artifact.unsealed
    if target is not None:
        return "the class priors of the target data are those of all rows together"
    if parts and not constraint.is_proportion_of_flagged:
        return "labels are missing"
    if any((FLAGGED,) in design.uneven for design in parts):
        return "the labelled share of flagged rows changes with the score"
    return ""


def _count(
    data: DataRequest, rules: Sequence[BoundaryArtifact], by: str | None, request: EvaluateRequest
) -> tuple[DecisionTally, CheckedBatches]:
    utility, is_sampled = utility_of(rules, request.utility), request.sampling_weight is not None
    batches = open_engine(data.engine).batches(data)
    tallies: dict[str | None, DecisionTally] = {}

    def prepare(rows: Rows) -> Callable[[], None]:
        cluster = batches.roles.cluster
        new = DecisionTally(len(rules), Units(by, cluster), utility, is_weighted=is_sampled)
        return tallies.setdefault(cluster, new).prepare(rows, [rule.zones(rows) for rule in rules])

    for add in batches.mapped(prepare):
        add()
    return next(iter(tallies.values()), DecisionTally(len(rules), Units(by, None))), batches


def _measure(
    rule: BoundaryArtifact,
    counted: tuple[Design, int],
    part: tuple[Design, int] | None,
    request: EvaluateRequest,
    target: BinaryWeights | None,
    *,
    assisted: AssistedRows | None = None,
    in_group: bool = False,
    group: str | None = None,
) -> MeasuredBoundary:
    """Measure a rule on all rows, or on a group.

    ``counted`` has the labelled rows, and the place of the rule among those whose decisions they have, and
    ``part`` the same of labelled rows that stand for all; None if no label is missing. ``assisted`` has the
    probabilities of all rows; None if they are not used.
    """
    labelled, index = counted
    design, place = part or counted
    rates = _Rates(rule, design, place, in_group=in_group)
    if assisted is not None:
        rates = _AssistedRates(rule, design, place, in_group=in_group, assisted=assisted, group=group)
    confusion, flagged = labelled.confusion(index), flags(place)
    recall, fpr = (
        rates.with_model(
            rate, flagged, rates.of_all(flagged, taken=flagged, positive=positive), positive=positive
        )
        for rate, positive in ((Rate.RECALL, True), (Rate.FPR, False))
    )
    return MeasuredBoundary(
        confusion=confusion,
        weighted=design.totals(place) if design.is_weighted else None,
        precision=design.known_precision(flagged),
        recall=recall,
        fpr=fpr,
        alert_rate=design.share(flagged),
        unlabelled=design.unlabelled,
        target_precision=None if target is None else _in_target(target, confusion, request),
        zones=rates.zones(confusion),
        net_benefit=rates.net_benefit() if target is None else None,  # odds concern the target class priors
        clusters=cluster_numbers(labelled.confusion_by_cluster(index))
        if isinstance(labelled, ClusteredRows)
        else None,
        omission=rates.omission(),
        added=tuple(rate for bound in rule.constraint.parsed().bounds for rate in bound.added_metrics),
        prevalence=rates.prevalence(),
        assisted=rates.used,
    )


class _Rates:
    """Rates of a rule, from labelled rows that stand for all rows, or for those of a group."""

    def __init__(self, rule: BoundaryArtifact, design: Design, place: int, *, in_group: bool) -> None:
        self._rule, self._design, self._place, self._in_group = rule, design, place, in_group
        self.used: dict[str, float | None] = {}  # rates that probabilities estimate, with their gain

    def of_all(self, chosen: Chooses, *, taken: Chooses, positive: bool) -> Estimate:
        """Estimate a rate whose rows are not only the taken ones."""
        why = self._reason(taken)
        return unknown(why) if why else self._design.known_share(chosen, positive=positive)

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

    def prevalence(self) -> Estimate | None:
        """Estimate the share of positives; None if no probabilities are used."""
        return None

    def net_benefit(self) -> Estimate | None:
        """Estimate the net benefit at the odds of the constraint; None if it sets none."""
        constraint = self._rule.constraint.parsed()
        if not constraint.sets_odds:
            return None
        flagged = flags(self._place)
        why = self._reason(flagged)
        if constraint.odds is None or why:
            return unknown(why)
        return self._design.net_benefit(flagged, constraint.odds)

    def omission(self) -> Estimate | None:
        """Estimate the share of positives among the rows that are dropped; None if it is no promise."""
        if not self._rule.limits_omission:
            return None
        caught = catches(self._place)
        why = self._reason(caught)
        return unknown(why) if why else self._design.known_precision(others(caught))

    def zones(self, confusion: Confusion[int]) -> MeasuredZones | None:
        """Measure the zone for review; None if the rule has none."""
        if not self._rule.has_zones or confusion.zones is None:
            return None
        caught = catches(self._place)
        return MeasuredZones(
            caught=self.of_all(caught, taken=caught, positive=True),
            review_share=self._design.share(reviews(self._place)),
            miss=self.of_all(others(caught), taken=caught, positive=True),
            reviewed=confusion.zones[0],
        )

    def _reason(self, taken: Chooses) -> str:
        """Return why a rate of all rows is unknown; empty if it is known."""
        has_others = self._design.rows(others(taken)) != 0
        only_taken = not (has_others or self._in_group or _takes_all(self._rule))
        return self._design.reason(taken) or ("the file has flagged rows only" if only_taken else "")


class _AssistedRates(_Rates):
    """Rates that the probabilities of all rows make more exact."""

    def __init__(
        self,
        rule: BoundaryArtifact,
        design: Design,
        place: int,
        *,
        in_group: bool,
        assisted: AssistedRows,
        group: str | None,
    ) -> None:
        super().__init__(rule, design, place, in_group=in_group)
        self._assisted, self._group = assisted, group

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

    def prevalence(self) -> Estimate:
        flagged = flags(self._place)
        why = self._reason(flagged)
        return self.with_model("prevalence", flagged, unknown(why) if why else self._design.prevalence())


def _takes_all(rule: BoundaryArtifact) -> bool:
    """Whether a rule flags every row, whatever its score."""
    thresholds = [threshold for group in rule.group_rules.values() for threshold in group.thresholds]
    return {*rule.thresholds, *thresholds} == {LOWEST}


def _difference(
    design: Design,
    rules: Sequence[BoundaryArtifact],
    measured: Sequence[MeasuredBoundary],
    amounts: Amounts | None,
    *,
    in_part: bool,
) -> BoundaryDifference:
    """Compute the differences of two rules from rows with the decisions of both; they may be unknown."""
    first, second = flags(0), flags(1)
    apart, recalls = differ(first, second), [result.recall for result in measured]
    zones = [result.zones for result in measured if result.zones is not None]
    caught = None
    if len(zones) == len(measured):
        caught = design.difference(catches(0), catches(1), positive=True)
    value = None
    if amounts is not None:
        value = _value(amounts.difference(first, second), measured, in_part=in_part)
    return BoundaryDifference(
        recall=UNKNOWN if UNKNOWN in recalls else design.difference(first, second, positive=True),
        precision=design.precision_difference(first, second),
        selected=design.rows_difference(first, second),
        disagreements=design.rows(apart),
        disagreements_positive=design.rows(apart, positive=True),
        caught=UNKNOWN if UNKNOWN in [zone.caught for zone in zones] else caught,
        value=value,
        net_benefit=_net_benefit_difference(design, rules, measured),
    )


def _value(worth: Worth, measured: Sequence[MeasuredBoundary], *, in_part: bool) -> MeasuredValue:
    """Return the value of labelled rows, without the gain caught if rows without a label would count."""
    value, caught, heavy_tailed = worth
    if in_part or UNKNOWN in [result.recall for result in measured]:
        caught = UNKNOWN
    return MeasuredValue(value=value, value_caught=caught, heavy_tailed=heavy_tailed)


def _net_benefit_difference(
    design: Design, rules: Sequence[BoundaryArtifact], measured: Sequence[MeasuredBoundary]
) -> Estimate | None:
    """Estimate the difference of two net benefits; None unless both rules have one at the same odds."""
    estimates = [result.net_benefit for result in measured]
    odds, other = (rule.constraint.parsed().odds for rule in rules)
    if None in estimates or odds != other:
        return None
    if odds is None or UNKNOWN in estimates or not design.rows():
        return UNKNOWN
    return design.net_benefit_difference(flags(0), flags(1), odds)


def _in_target(target: BinaryWeights, confusion: Confusion[int], request: EvaluateRequest) -> Estimate:
    """Estimate the precision under target class priors; its interval includes the error of the weights."""
    true_positives, selected = confusion.true_positives, confusion.selected
    value = target.precision(true_positives / selected if selected else None)
    if target.draws is None or target.refuted:
        return Estimate(value=value, reason=target.refuted)
    random = generator(request.resampling.seed, Purpose.TARGET)
    counts = true_positives, selected - true_positives
    low, high = precision_interval(target.draws, *counts, request.resampling.confidence, random)
    return Estimate(value=value, low=low, high=high)


def utility_of(rules: Sequence[BoundaryArtifact], given: Constraint | None) -> Constraint | None:
    """Return the gain and cost by which rules are measured: the given ones, else their own; None without any.

    If rules have different ones, they must be given.
    """
    if given is not None:
        return given
    own = {rule.constraint.value: rule.constraint for rule in rules}
    utilities = [saved.parsed() for saved in own.values() if not saved.parsed().is_bound]
    if len(utilities) > 1:
        listed = " and ".join(utility.value for utility in utilities)
        raise UsageError(f"rules with {listed}", expected="the same for all", remedy="give --gain and --cost")
    return utilities[0] if utilities else None
