"""Evaluate boundaries on a test set."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from fractions import Fraction
from functools import partial

import msgspec

from uqcli.base.choices import ReviewKind
from uqcli.base.defaults import CONFIDENCE, LOWEST
from uqcli.base.draws import Purpose, generator
from uqcli.base.errors import UsageError
from uqcli.base.rows import Rows
from uqcli.base.wording import count, p_text, rounded_money
from uqcli.boundary.dependent_columns import dependence_caution
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
from uqcli.estimates.proportion import BoundedRate
from uqcli.estimates.survey import with_sampling_weights
from uqcli.estimates.value import Amounts, Worth
from uqcli.evaluate.boundaries_report import GROUP_HEADER, EvaluateReport, group_cells
from uqcli.evaluate.decisions import DecisionTally, Units
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
)
from uqcli.evaluate.options import EvaluateRequest
from uqcli.evaluate.report import EvaluatedGroup, EvaluateParameters, GroupEvaluation, group_evaluation
from uqcli.reports.document import Claim
from uqcli.rules.codec import load_kind
from uqcli.rules.labelled import labelled_request, source_of
from uqcli.shift.rule import BinaryWeights, ShiftArtifact, precision_interval, target_weights_of


def evaluate(
    request: EvaluateRequest, rules: Sequence[BoundaryArtifact], shift: ShiftArtifact | None
) -> EvaluateReport:
    """Count decisions and labels in one pass."""
    _refuse_different_classes(rules)
    calibrator = request.calibrator
    if isinstance(calibrator, str):
        request = replace(request, calibrator=load_kind(calibrator, CalibratorArtifact))
    by, data = _rows_to_read(request, rules)
    is_sampled = request.sampling_weight is not None
    if request.sampling_weight is not None:
        data = with_sampling_weights(data, request.sampling_weight)
    target = None if shift is None else target_weights_of(shift, data.positive_value)
    utility = utility_of(rules, request.utility)
    if utility is not None:
        data = data.with_amounts(utility.amounts)
    tally, batches = _count(data, rules, by, utility, is_sampled=is_sampled)
    summary, cluster = batches.summary, batches.roles.cluster
    if cluster is not None:
        request = replace(request, cluster=cluster, days="day" in summary.columns)
    if tally.total == 0:
        raise refusals.no_weight()
    counted = replace(
        tally.of_all(request.resampling.confidence, request.units), unlabelled=summary.unlabelled
    )
    data = data.clustered_by(cluster, days=request.days)
    parts, assisted = _all_rows(request, rules, data, Units(by, cluster), summary.unlabelled)
    if assisted is not None:
        counted = replace(counted, unlabelled=assisted.rows - tally.rows)
    known = (request.resampling.confidence, counted.unlabelled, request.units)
    designs = [(part.of_all(*known), place) for part, place in _places(parts, len(rules))]
    amounts = tally.amounts(request.resampling.confidence)
    measure = partial(_measured, rules, (counted, designs if parts else []), request, target, assisted)
    measured = measure(request.resampling.confidence)
    if amounts is not None:
        measured = [
            replace(result, value=_value(amounts.worth(flags(index)), [result], in_part=bool(parts)))
            for index, result in enumerate(measured)
        ]
    results = tuple(zip(request.artifacts, rules, measured, strict=True))
    groups = None
    if by is not None:
        levels = batches.levels.get(by) or rules[0].own_levels
        of_groups = {
            name: (design, tally.amounts(request.resampling.confidence, levels[name]))
            for name, design in tally.by_group(levels, request.resampling.confidence, request.units).items()
        }
        of_parts = {
            name: (design, 0) for part in parts for name, design in part.by_group(levels, *known).items()
        }
        groups = _by_group(rules[0], of_groups, of_parts, replace(request, by=by), target, assisted=assisted)
    alike = ""
    if cluster is None:
        alike, _ = dependence_caution(data, rules[0], lambda _: request.takes_option)
    claims = _claims(results, measure, request.resampling.confidence)
    if groups is not None and by == rules[0].own_key:
        claims = tuple(_in_each(claim, groups) for claim in claims)
    reviews = tuple(_review_claim(*result) for result in results)
    results = tuple(
        (name, rule, replace(measured, promise_broken=_broken(claim, review)))
        for (name, rule, measured), claim, review in zip(results, claims, reviews, strict=True)
    )
    difference = None
    if len(rules) == 2:
        design = counted if not parts else designs[0][0] if len(parts) == 1 else None
        difference = _difference(design, rules, measured, amounts, in_part=bool(parts))
    return EvaluateReport(
        source=source_of(summary),
        parameters=EvaluateParameters(
            confidence=request.resampling.confidence,
            on_invalid=data.on_invalid,
            positive=data.positive_value,
            seed=None if shift is None else request.resampling.seed,
            **request.saved_dependence,
            sampling_weight=True if is_sampled else msgspec.UNSET,
            assisted=msgspec.UNSET
            if assisted is None
            else {
                "rates": [str(rate) for rate in measured[0].assisted],
                "probabilities": "score" if request.calibrator is None else "calibrator",
            },
        ),
        results=results,
        claims=claims,
        review_claims=tuple(review for review in reviews if review is not None),
        difference=difference,
        by_group=groups,
        alike=alike,
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


def _rows_to_read(
    request: EvaluateRequest, rules: Sequence[BoundaryArtifact]
) -> tuple[str | None, DataRequest]:
    """Return the key of groups that are measured, and the request for rows."""
    by = request.by or (rules[0].own_key if len(rules) == 1 else None)
    # rows without a group have the rule of all rows, so that the rule's own groups are no key
    read = [*rules, request.calibrator] if isinstance(request.calibrator, CalibratorArtifact) else rules
    data = labelled_request(request.data, request.columns, read).grouped_by(
        None if by == PREDICTED else request.by
    )
    data = data.clustered_by(request.cluster, days=request.days)
    if request.takes_option and request.unlabelled is None:  # that file need not have the column
        data = replace(data, roles=replace(data.roles, adopts=True))
    return by, rules[0].as_decided(data)


def _refuse_different_classes(rules: Sequence[BoundaryArtifact]) -> None:
    if len({tuple(rule.class_names) for rule in rules}) > 1:
        raise UsageError(
            "the rules have different classes", expected="the same", remedy="evaluate each alone"
        )


def _in_each(claim: Claim, groups: GroupEvaluation) -> Claim:
    """Replace the claim about all rows by that about each group."""
    if groups.worst is None:
        return replace(claim, met=None, sentence=f"{claim.name} is tested in no group: {groups.no_test()}.")
    return replace(claim, met=not groups.broken, sentence=f"{claim.name} is tested in each group.")


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
        bounded, rate = None, None
        if has_target and not reason:
            bounded, rate = _bounded_rate(constraint, labelled, design) or (None, None)
        results.append(
            EvaluatedGroup(
                name=name,
                rows=design.rows(),
                metrics=measured.metrics(),
                cells=group_cells(measured),
                rate=None if rate == UNKNOWN else rate,
                bounded=None if rate == UNKNOWN else bounded,
                untested=untested if has_target else "without a rule of their own, not tested",
            )
        )
    is_named = bool(parts) or any(group.bounded for group in results)
    bound = constraint.text() if is_named and not constraint.is_utility else ""
    by = PREDICTED_CLASS if request.by == PREDICTED else request.by or ""
    has_value = any(worth is not None for _, worth in counted.values())
    return group_evaluation(
        by,
        results,
        (*GROUP_HEADER, *VALUE_ROWS[: int(has_value)]),
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
    if parts and constraint.rate is not Rate.PRECISION:
        return "labels are missing"
    if any((FLAGGED,) in design.uneven for design in parts):
        return "the labelled share of flagged rows changes with the score"
    return ""


def _bounded_rate(
    constraint: Constraint, measured: MeasuredBoundary, design: Design | None = None
) -> tuple[BoundedRate, Estimate] | None:
    """Return the rate that a constraint bounds; None if it bounds none.

    The design has the rows of a group whose bound is tested; None for the exact numbers of all rows.
    """
    if constraint.rate is None:
        return None
    bound, upper = constraint.numbers[0], constraint.rule.is_upper
    estimate = measured.rate(constraint.rate)
    if design is not None:
        return design.bounded(constraint.rate, 0, bound, upper=upper), estimate
    successes, trials = measured.totals.trials(constraint.rate)
    assisted = Rate.FPR if constraint.rate is Rate.SPECIFICITY else constraint.rate
    if estimate.value is not None and assisted in measured.assisted:
        successes, trials = estimate.value.as_integer_ratio()
    return BoundedRate(successes=successes, trials=trials, bound=bound, upper=upper), estimate


def _count(
    data: DataRequest,
    rules: Sequence[BoundaryArtifact],
    by: str | None,
    utility: Constraint | None,
    *,
    is_sampled: bool,
) -> tuple[DecisionTally, CheckedBatches]:
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
    confusion, flagged, caught = labelled.confusion(index), flags(place), catches(place)

    def reason(taken: Chooses) -> str:
        """Return why a rate of all rows is unknown; empty if it is known."""
        only_taken = design.rows(others(taken)) == 0 and not in_group and not _takes_all(rule)
        return design.reason(taken) or ("the file has flagged rows only" if only_taken else "")

    def of_all_rows(chosen: Chooses, *, taken: Chooses, positive: bool) -> Estimate:
        """Estimate a rate whose rows are not only the taken ones."""
        why = reason(taken)
        return unknown(why) if why else design.known_share(chosen, positive=positive)

    def with_model(rate: str, chosen: Chooses, plain: Estimate) -> Estimate:
        """Return the assisted estimate where labels allow it and it is not wider, else the plain one."""
        if assisted is None or plain == UNKNOWN:  # printed only where the other is good, it would cover less
            return plain
        model = assisted.chosen(chosen, design.confidence, group)
        computed, better = (
            (design.prevalence(), model.prevalence())
            if rate == "prevalence"
            else (
                design.share(chosen, positive=rate == Rate.RECALL),
                model.share(positive=rate == Rate.RECALL),
            )
        )
        if better is None or not shorter(computed, better):
            return plain
        used[rate] = ratio_of_labels(computed, better)
        return replace(better, reason=SHARE_CHANGES if design.varying else "")

    def prevalence() -> Estimate | None:
        """Estimate the share of positives; None if no probabilities are used."""
        if assisted is None:
            return None
        why = reason(flagged)
        return with_model("prevalence", flagged, unknown(why) if why else design.prevalence())

    def net_benefit() -> Estimate | None:
        """Estimate the net benefit at the odds of the constraint; None if it sets none."""
        constraint = rule.constraint.parsed()
        if not constraint.sets_odds or target is not None:  # the odds concern the target class priors
            return None
        why = reason(flagged)
        return (
            unknown(why) if constraint.odds is None or why else design.net_benefit(flagged, constraint.odds)
        )

    def omission() -> Estimate | None:
        """Estimate the share of positives among the rows that are dropped; None if it is no promise."""
        if not rule.limits_omission:
            return None
        why = reason(caught)
        return unknown(why) if why else design.known_precision(others(caught))

    zones = None
    if rule.has_zones and confusion.zones is not None:
        zones = MeasuredZones(
            caught=of_all_rows(caught, taken=caught, positive=True),
            review_share=design.share(reviews(place)),
            miss=of_all_rows(others(caught), taken=caught, positive=True),
            reviewed=confusion.zones[0],
        )
    used: dict[str, float | None] = {}
    recall, fpr = (
        with_model(rate, flagged, of_all_rows(flagged, taken=flagged, positive=rate is Rate.RECALL))
        for rate in (Rate.RECALL, Rate.FPR)
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
        zones=zones,
        net_benefit=net_benefit(),
        clusters=cluster_numbers(labelled.confusion_by_cluster(index))
        if isinstance(labelled, ClusteredRows)
        else None,
        omission=omission(),
        promised=tuple(bound.rate for bound in rule.constraint.parsed().bounds),
        prevalence=prevalence(),
        assisted=used,
    )


def _takes_all(rule: BoundaryArtifact) -> bool:
    """Whether a rule flags every row, whatever its score."""
    thresholds = [threshold for group in rule.group_rules.values() for threshold in group.thresholds]
    return {*rule.thresholds, *thresholds} == {LOWEST}


def _difference(
    design: Design | None,
    rules: Sequence[BoundaryArtifact],
    measured: Sequence[MeasuredBoundary],
    amounts: Amounts | None,
    *,
    in_part: bool,
) -> BoundaryDifference:
    """Compute the differences of two rules from rows with the decisions of both; None if they show none."""
    if design is None:
        design = WeightedRows(confidence=CONFIDENCE, sums={})
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


def _claims(
    results: Sequence[tuple[str, BoundaryArtifact, MeasuredBoundary]],
    measure: Callable[[float], Sequence[MeasuredBoundary]],
    confidence: float,
) -> tuple[Claim, ...]:
    """State of each rule whether the test rows contradict its target.

    An interval has half of its error on each side, so that two bounds have the level of one interval. Each of
    more bounds is tested by an interval of higher confidence, which ``measure`` takes.
    """
    claims = []
    for index, (name, rule, measured) in enumerate(results):
        bounds = sum(bound.rate is not None for bound in rule.constraint.parsed().bounds)
        tested = measured if bounds <= 2 else measure(1 - 2 * (1 - confidence) / bounds)[index]
        claims.append(_claim(name, rule, tested))
    return tuple(claims)


def _claim(name: str, artifact: BoundaryArtifact, measured: MeasuredBoundary) -> Claim:
    constraint = artifact.constraint.parsed()
    is_kept, sentence = _all([_outcome(artifact, bound, measured) for bound in constraint.bounds])
    if artifact.unsealed:
        is_kept, sentence = None, f"its target is not tested: {artifact.unsealed}."
    elif untested := _untested(artifact, measured):
        is_kept, sentence = None, f"{constraint.text()} is not tested: {untested}."
    target, about_new_data = f"{name}: {constraint.text()}", any(bound.rate for bound in constraint.bounds)
    return Claim(name=target, met=is_kept, sentence=f"{name}: {sentence}", about_new_data=about_new_data)


def _untested(artifact: BoundaryArtifact, measured: MeasuredBoundary) -> str:
    """Return why a certificate is not tested; empty if it is, or if there is none."""
    if artifact.certified is None or measured.weighted is None:
        return ""
    return "the exact test of a certificate needs rows that count alike"


def _review_claim(name: str, artifact: BoundaryArtifact, measured: MeasuredBoundary) -> Claim | None:
    """State whether the test rows contradict the limit of the review; None without a review."""
    review, zones = artifact.review, measured.zones
    if review is None or zones is None:
        return None
    limit = review.limit
    text = limit.text()
    fixed = limit.kind is ReviewKind.REVIEW and not limit.relative
    if untested := artifact.unsealed or _untested(artifact, measured):
        outcome: _Outcome = None, f"{text} is not tested: {untested}."
    elif fixed:
        outcome = (
            None,
            f"sends {count(zones.reviewed)} rows to review; its limit was {text} when it was fitted.",
        )
    elif limit.kind is ReviewKind.REVIEW:
        total = measured.totals.rows
        reviewed, _ = measured.totals.trials(Rate.REVIEWED)
        tested = BoundedRate(successes=reviewed, trials=total, bound=limit.number, upper=True)
        outcome = _share_outcome(text, tested, zones.review_share)
    elif limit.kind is ReviewKind.OMISSION:
        omitted, cleared = measured.totals.trials(Rate.OMISSION)
        tested = BoundedRate(successes=omitted, trials=cleared, bound=limit.number, upper=True)
        rate = text if artifact.certified is None else f"false omission rate <= {float(limit.number):g}"
        estimate = measured.rate(Rate.OMISSION)
        outcome = _rate_outcome(artifact, rate, tested, estimate, clustered=measured.clusters is not None)
    else:
        total = measured.totals.positives
        missed = total - measured.totals.handled[1]
        tested = BoundedRate(successes=missed, trials=total, bound=limit.number, upper=True)
        rate = text if artifact.certified is None else f"miss rate <= {float(limit.number):g}"
        outcome = _rate_outcome(artifact, rate, tested, zones.miss, clustered=measured.clusters is not None)
    met, sentence = outcome
    return Claim(name=f"{name}: {text}", met=met, sentence=f"{name}: {sentence}", about_new_data=not fixed)


def _broken(claim: Claim, review: Claim | None) -> int | None:
    """Return 1 if a promise is broken, 0 if none is, and None if none is tested.

    Each of at most two promises is tested at half the level.
    """
    tested = [promise.broken for promise in (claim, review) if promise and promise.broken is not None]
    return max(tested, default=None)


_Outcome = tuple[bool | None, str]
"""Whether the rows are consistent with a target (None if it is not tested), and a sentence on it."""


def _outcome(artifact: BoundaryArtifact, constraint: Constraint, measured: MeasuredBoundary) -> _Outcome:
    text, is_precision = constraint.text(), constraint.rate is Rate.PRECISION
    if constraint.is_utility:
        value = None if measured.value is None else measured.value.value.value
        return None, f"has a value of {'-' if value is None else rounded_money(value)}."
    if is_precision and measured.target_precision is not None:
        return _target_outcome(constraint, measured.target_precision, constraint.numbers[0])
    bounded = _bounded_rate(constraint, measured)
    if bounded is None:  # a number of rows
        share = 100 * measured.selected_share
        return None, (
            f"flags {count(measured.confusion.selected)} rows ({share:.2f} %); its limit was {text} when "
            "it was fitted."
        )
    rate, estimate = bounded
    if constraint.limits_alerts:  # which is never certified
        return _share_outcome(text, rate, estimate)
    clustered = measured.clusters is not None
    is_kept, sentence = _rate_outcome(artifact, text, rate, estimate, clustered=clustered)
    if is_precision and artifact.has_target:
        sentence = f"{sentence.rstrip('.')}, if these rows are target data (if not, give --shift)."
    return is_kept, sentence


def _all(outcomes: Sequence[_Outcome]) -> _Outcome:
    """Join the tests of promises, each at its part of the level."""
    tested = [is_kept for is_kept, _ in outcomes if is_kept is not None]
    *others, last = (sentence for _, sentence in outcomes)
    return all(tested) if tested else None, "; ".join([*(text.rstrip(".") for text in others), last])


def _rate_outcome(
    artifact: BoundaryArtifact, text: str, rate: BoundedRate, estimate: Estimate, *, clustered: bool
) -> _Outcome:
    """Test a target, or what a certificate guarantees by the exact one-sided test of independent rows."""
    certificate = artifact.certified
    p_value = None if certificate is None else rate.p_value()
    clustered = clustered or (certificate is not None and certificate.is_of_clusters)
    tested = _meets_bound(rate, estimate)
    if certificate is None or p_value is None or clustered or tested is None:
        return _share_outcome(text, rate, estimate)
    certified, promises = f"certified {text}", max(certificate.promises, 1 + (artifact.review is not None))
    if p_value > (1 - CONFIDENCE) / promises:
        met, significant = tested
        return True, _sentence(certified, met=met, significant=significant)
    return False, (
        f"misses {certified} ({p_text(p_value)}, exact one-sided test). The data have changed, or the "
        f"certificate is one of the {100 * certificate.delta:g} % that fail."
    )


def _share_outcome(text: str, rate: BoundedRate, estimate: Estimate) -> _Outcome:
    tested = _meets_bound(rate, estimate)
    if tested is None:
        reason = "no row counts for it"
        if rate.trials:
            reason = estimate.reason or "too few unflagged rows have a label"
            if estimate != UNKNOWN:  # but there is no interval
                reason = estimate.reason or "too few clusters"
        return None, f"{text} is not tested: {reason}."
    met, significant = tested
    return met or not significant, _sentence(text, met=met, significant=significant)


def _meets_bound(rate: BoundedRate, estimate: Estimate) -> tuple[bool, bool] | None:
    """Whether a rate meets its bound, and whether significantly; None without trials or an interval."""
    if rate.trials == 0 or estimate.low is None or estimate.high is None:
        return None
    value = Fraction(rate.successes, rate.trials)
    low, high = Fraction(estimate.low), Fraction(estimate.high)
    if rate.upper:
        return value <= rate.bound, high <= rate.bound or low > rate.bound
    return value >= rate.bound, low >= rate.bound or high < rate.bound


def _target_outcome(constraint: Constraint, estimate: Estimate, bound: Fraction) -> _Outcome:
    """Test the bound under the class priors of the target data, which are estimates themselves."""
    subject = f"{constraint.text()} on target data"
    if estimate.value is None:
        return None, f"{subject} is not tested: {estimate.reason or 'no row is flagged'}."
    met = Fraction(estimate.value) >= bound
    if estimate.low is None or estimate.high is None:
        return (
            None,
            f"{subject} is {'met' if met else 'missed'}, but not tested: the class weights have no draws.",
        )
    significant = estimate.low >= bound or estimate.high < bound
    return met or not significant, _sentence(subject, met=met, significant=significant)


def _sentence(target: str, *, met: bool, significant: bool) -> str:
    if not significant:
        return f"consistent with {target}."
    return f"{'meets' if met else 'misses'} {target} (significant)."


def utility_of(rules: Sequence[BoundaryArtifact], given: Constraint | None) -> Constraint | None:
    """Return the gain and cost by which rules are measured: the given ones, else their own; None without any.

    If rules have different ones, they must be given.
    """
    if given is not None:
        return given
    own = {rule.constraint.value: rule.constraint for rule in rules}
    utilities = [saved.parsed() for saved in own.values() if saved.parsed().is_utility]
    if len(utilities) > 1:
        listed = " and ".join(utility.value for utility in utilities)
        raise UsageError(f"rules with {listed}", expected="the same for all", remedy="give --gain and --cost")
    return utilities[0] if utilities else None
