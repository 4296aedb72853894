"""Report of ``uqcli boundary`` for one bound."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import asdict, replace
from functools import cached_property
from typing import Any

import msgspec

from uqcli.base.choices import Algorithm, AlgorithmChoice, ReviewKind
from uqcli.base.counts import Cells, ValueCounts, merge
from uqcli.base.notices import Notice
from uqcli.base.operating_system import quote
from uqcli.base.records import dataclass
from uqcli.base.wording import ADD_NEGATIVES, ADD_POSITIVES, count, money, percent, rounded_money, rows_of
from uqcli.boundary.certificate_rule import Certification, Region
from uqcli.boundary.comparison_report import VERDICTS, UncertaintyComparison, gains_table
from uqcli.boundary.dependent_columns import AlikeRows
from uqcli.boundary.expected import (
    OPTIMISM_CORRECTED,
    Expected,
    expectation,
    expected_cells,
    expected_metrics,
)
from uqcli.boundary.groups_report import GroupRules
from uqcli.boundary.operating_points import frontier_figure, points_for_page, settings_of
from uqcli.boundary.rule import (
    ACCEPTED_PREDICTIONS,
    FLAGGED_ROWS,
    LABELLED_ROWS,
    ROWS_ARE_PREDICTIONS,
    BoundaryParameters,
    RowWords,
    answer,
    boundary_card,
    group_thresholds,
    precision_cell,
    recalibration_in_words,
    rule,
    threshold_table,
    verdict_on_calibration_set,
    zone_rates,
    zones_table,
)
from uqcli.boundary.search.algorithms import Optimum
from uqcli.boundary.search.constraint import Constraint
from uqcli.boundary.search.cross_validation import BinsTried, fewest_of
from uqcli.boundary.search.thresholds import FittedBoundary
from uqcli.boundary.search.zones import ReviewLimit
from uqcli.engines.request import PREDICTED
from uqcli.estimates.confusion import Confusion
from uqcli.estimates.estimate import FEWEST_FLAGGED, Estimate, unreliable
from uqcli.estimates.score_metrics import REVERSED, is_reversed
from uqcli.estimates.survey import few_clusters
from uqcli.reports.document import (
    Claim,
    Document,
    Figure,
    HeadCard,
    KeyNumber,
    Metric,
    Metrics,
    OneResult,
    OperatingPoints,
    Table,
    Verdict,
    by_key,
    head_of,
    plain,
)
from uqcli.reports.positivity import REVIEW, positive_rate_figure
from uqcli.rules.saved import Source
from uqcli.shift.rule import BinaryWeights

UNTESTED = "--compare tests whether the uncertainty finds more than a single threshold."
JOINT_TARGET = "The thresholds meet the target together, but not necessarily in each uncertainty bin."
MARGIN, CERTIFY = "--margin 1", "--certify 0.1"
_MIN_ROUNDED_SHARE = 0.001
"""Share of rows from which one decimal of a percentage is enough."""
TOO_FEW_ALERTS = "Too few rows are flagged to choose uncertainty bins, so the rule is one threshold."
NO_UNCERTAINTY = "The rows have no uncertainty column, so only the score decides."
NO_GAIN = "Uncertainty bins bring no clear gain, so the rule is one threshold."
_CROSS_VALIDATED = (
    "Gains are cross-validated: they are measured on rows that were not used to choose the rule. At the "
    "same number of alerts, a gain shows that rows are ranked better; at the same bound, it also includes "
    "what the additional alerts find."
)
_NO_SIGNIFICANT_GAIN = "Cross-validation shows no significant gain over a single threshold."


@dataclass(frozen=True, kw_only=True)
class Candidate(Optimum):
    """Optimum of one algorithm, or why it does not apply.

    The seconds of the search vary from run to run, so only a terminal shows them. Precision and recall
    expected on new data are None if not estimated.
    """

    algorithm: Algorithm
    obstacle: str | None = None
    seconds: float = 0.0
    expected: Expected | None = None


@dataclass(frozen=True, kw_only=True)
class BoundaryReport(OneResult):
    """A boundary on the calibration set; rows and positives are counted by weight.

    The chosen candidate is the best; it may be infeasible. If the margin makes it so, ``without_margin`` is
    the boundary without one. ``cautious`` is the boundary with a margin of one standard error; None if the
    margin is already as large. If a single threshold is saved in place of the boundary, the latter is
    ``unsaved``. ``score_only`` is a single threshold on the same rows, None if that is the algorithm, or if
    it is not computed; ``equal_alerts`` is one that flags as many rows, or as few less as its cells allow.

    ``class_weights`` are those of the target data for which the constraint must hold. ``compared`` has the
    gains of uncertainty columns over a single threshold, the best first, with ``--compare``, and
    ``other_direction`` what the uncertainty would gain with the other sign if that is computed and
    worthwhile. ``lacks_uncertainty`` says that the rows have none, though none was ruled out. ``tried`` are
    the numbers of uncertainty bins that were tried, empty with too few alerts; None if the number was set.
    ``empty_bins`` have no row. ``cells`` is the grid of the figure; None if the boundary was not found on a
    grid. There is a seed only if there were random draws.

    ``expected_share`` is the share of new rows that a rule for a share of rows flags, with its 90 % range.
    ``flagged_of_all`` are the flagged rows, and the rows, with those that have no label; None if all have
    one. With groups, ``chosen`` is the boundary for other rows, with the counts of all. ``clusters`` are the
    numbers of clusters, or days, by metric; None if rows are independent, or with a certificate. ``alike``
    are rows of one day or customer that are alike, though taken as independent. ``safer_options`` are options
    that this command takes, and that let a precision be missed less often. ``is_of_grid`` says that the
    counts are those of a saved grid, for which boundary needs a bound.
    """

    source: Source
    parameters: BoundaryParameters
    constraint: Constraint
    chosen: Candidate
    candidates: tuple[Candidate, ...]
    rows: int
    positives: int
    score_only: Optimum | None = None
    empty_bins: tuple[int, ...] = ()
    unsaved: Candidate | None = None
    class_weights: BinaryWeights | None = None
    certification: Certification | None = None
    tried: tuple[BinsTried, ...] | None = None
    cautious: Optimum | None = None
    without_margin: FittedBoundary | None = None
    compared: tuple[UncertaintyComparison, ...] = ()
    cells: Cells | None = None
    seed: int | None = None
    review: ReviewLimit | None = None
    expected_share: Estimate | None = None
    flagged_of_all: tuple[int, int] | None = None
    groups: GroupRules | None = None
    other_direction: str = ""
    clusters: Mapping[str, int] | None = None
    alike: AlikeRows | None = None
    lacks_uncertainty: bool = False
    equal_alerts: Confusion[int] | None = None
    safer_options: Sequence[str] = ()
    is_of_grid: bool = False

    @property
    def metrics(self) -> Metrics:
        """Recall, precision and counts on the calibration set."""
        fit = self.chosen.boundary.fit if self.chosen.boundary else None
        closest, single = self._closest, self._single
        in_target = self.class_weights.precision(fit.precision) if fit and self.class_weights else None
        target = {} if self.class_weights is None else {"target_precision": in_target}
        return {
            **target,
            **by_key(fit_metrics(fit)),
            **({} if self._region is None else {"recall": None}),
            **({"precision": None} if self._region is not None and self._region.is_below else {}),
            "rows": self.rows,
            "positives": self.positives,
            **(zone_rates(fit) if self.review else {}),
            **self._worth,
            "expected": {
                **expected_metrics(self.chosen.expected, self.class_weights),
                **({} if self.expected_share is None else {"share": self.expected_share}),
            },
            "score_only_recall": single.fit.recall if single else None,
            "score_only_equal_alerts": by_key(fit_metrics(self.equal_alerts)) if self.equal_alerts else None,
            "best_precision": closest.precision if closest else None,
            "recall_at_best_precision": closest.recall if closest and self._region is None else None,
            **(self.compared[0].metrics if self.compared else {}),
            **(self.groups.metrics() if self.groups else {}),
        }

    def _value_of(self, boundary: FittedBoundary | None) -> tuple[float, float | None] | None:
        """Value of the flagged rows, and the share of all positives' gain; None without gain and cost."""
        worth = {} if boundary is None else self.constraint.value_of(boundary.fit)
        return (worth["value"] or 0.0, worth["value_caught"]) if worth else None

    @property
    def _worth(self) -> dict[str, float | None]:
        """What the rule is worth by metric, with gain and cost; None without a rule."""
        if self.constraint.is_bound:
            return {}
        value, caught = self._value_of(self.chosen.boundary) or (None, None)
        return {"value": value, "value_caught": caught}

    def payload(self) -> dict[str, Any]:
        """Return the JSON form."""
        boundary = self.chosen.boundary
        margin = {"margin": float(self.constraint.margin)} if self.constraint.margin else {}
        content = {
            **head_of("boundary", self.source, {**msgspec.to_builtins(self.parameters), **margin}),
            "metrics": plain(self.metrics),
            "feasible": boundary is not None,
            "algorithm": str(self.chosen.algorithm),
            "uncertainty_edges": boundary.uncertainty_edges.tolist() if boundary else None,
            "thresholds": list(boundary.thresholds) if boundary else None,
            "notes": [self._title(), *self._lead(), *self._cautions(), *self._notes()],
        }
        if self.review:
            content["review_thresholds"] = boundary and list(boundary.review_thresholds or ())
        if self.groups is not None:
            content["groups"] = self.groups.payload()
        if self.certification is not None and self.groups is None:
            content["certificate"] = msgspec.to_builtins(self.certification.certificate)
        if self.compared:
            content["verdict"] = self.compared[0].verdict
            content["compared"] = [comparison.payload() for comparison in self.compared]
        if self.tried is not None:
            content["bins_tried"] = [asdict(candidate) for candidate in self.tried]
        if self.parameters.algorithm is AlgorithmChoice.ALL:
            content["algorithms"] = [_as_json(candidate) for candidate in self.candidates]
        return content

    def document(self) -> Document:
        """Return the readable form."""
        boundary = self.chosen.boundary
        has_table = self._region is None and (boundary or len(self.candidates) > 1)
        tables = [self._table()] if has_table else []
        if self.compared:
            tables.append(gains_table(self.compared))
        if self.tried:
            in_money = ("value gained, % of all gain",) if self.constraint.amounts else ()
            tables.append(bins_tried_table(self.tried, *in_money))
        if boundary and self.groups:
            tables += [self.groups.table(), *group_thresholds(self.groups.name, self.groups.boundaries)]
        if boundary and boundary.fit.zones:
            tables.append(zones_table(boundary.fit))
        if boundary and not self.groups and (self.review or not self._is_single_threshold):
            edges, below = boundary.uncertainty_edges.tolist(), boundary.printed_review
            tables.append(threshold_table(edges, boundary.printed, below, raised=self._is_raised))
        role = self.source.dependence  # the test takes rows of one day or customer as dependent, too
        option = "" if role is None else f" --{role} {quote(self.source.columns[role])}"
        return Document(
            title=self._title(),
            lead=self._lead(),
            tables=tables,
            cautions=self._cautions(),
            notes=self._notes(),
            next=f"evaluate {{rule}} TEST.csv{option}" if boundary and not self.reversed_score() else "",
            figures=self._figures(),
            claims=[self.claim, *self._miss_claim()],
            card=self.card,
            operating_points=self.operating_points,
            live=self._times(),
        )

    def _title(self) -> str:
        boundary = self.chosen.boundary
        if boundary is None:
            sentence = self.shortfall()
            return f"{sentence[:1].upper()}{sentence[1:]}."
        if self.certification is not None:
            return self.certification.sentence()
        return self._answer(boundary)

    def _answer(self, boundary: FittedBoundary) -> str:
        independent = self.source.dependence is None
        sentence = answer(
            boundary.fit, self._words, self.flagged_of_all, self._region, independent=independent
        )
        return (
            sentence if self._region is not None else sentence + self.constraint.beside_answer(boundary.fit)
        )

    @property
    def _region(self) -> Region | None:
        """Scores from which the calibration rows were drawn; None if they are like new rows."""
        certificate = None if self.certification is None else self.certification.certificate
        return None if certificate is None else certificate.region

    @property
    def _words(self) -> RowWords:
        accepts = self.groups is not None and self.groups.by == PREDICTED
        return ACCEPTED_PREDICTIONS if accepts else FLAGGED_ROWS

    @property
    def claim(self) -> Claim:
        """Claim that a boundary meets the constraint."""
        boundary, target = self.chosen.boundary, self.constraint.text()
        certified = "" if self.certification is None else ", certified"
        sentence = f"Infeasible: {self.shortfall()}." if boundary is None else ""
        return Claim(name=f"{target}{certified}", met=boundary is not None, sentence=sentence)

    def _miss_claim(self) -> list[Claim]:
        """Claim that a certificate of the cleared rows makes; empty without one."""
        boundary, review = self.chosen.boundary, self.review
        if (
            boundary is None
            or self.certification is None
            or review is None
            or review.kind is ReviewKind.REVIEW
        ):
            return []
        return [Claim(name=f"{review.text()}, certified", met=True, sentence="")]

    def _figures(self) -> list[Figure]:
        if self.cells is None:
            return []
        fitted, name = self.chosen.boundary, "boundary"
        if self.certification is not None:
            name = "certified boundary"
        named = [(name, fitted), ("single threshold", self._single)]
        if self.unsaved is not None:
            named = [("boundary, not saved", self.unsaved.boundary), ("single threshold, saved", fitted)]
        boundaries = {name: boundary.thresholds for name, boundary in named if boundary}
        if fitted and fitted.review_thresholds is not None:
            first, thresholds = next(iter(boundaries.items()))
            boundaries = {first: thresholds, REVIEW: fitted.review_thresholds}
        figure = positive_rate_figure(self.cells, boundaries)
        if self.compared and self.compared[0].verdict != "helps":
            figure = replace(figure, caption=f"{figure.caption} {_NO_SIGNIFICANT_GAIN}")
        if self.certification is not None or self.constraint.also or self.constraint.amounts:
            return [figure]
        has_points = not self._clustered and self.chosen.algorithm in OPTIMISM_CORRECTED
        return [figure, self.frontier([self.constraint])] if has_points else [figure]

    @property
    def _clustered(self) -> bool:
        """Whether rows depend on each other, so that ranges of independent rows are invalid."""
        return self.source.dependence is not None

    def frontier(self, marked: Sequence[Constraint]) -> Figure:
        """Build the figure of precision and recall at other operating points, and mark some."""
        return frontier_figure(self.operating_points, marked)

    @property
    def _refuted(self) -> str:
        """Why no precision on the target data is stated; empty if it is."""
        return "" if self.class_weights is None else self.class_weights.refuted

    @cached_property
    def _points(self) -> OperatingPoints | None:
        if self.cells is None or self.certification is not None or self._clustered or self._refuted:
            return None
        if self.chosen.algorithm not in OPTIMISM_CORRECTED:  # other rules at other points take a search each
            return None
        if self.constraint.also or self.constraint.amounts:
            return None
        boundary, expected = self.chosen.boundary, self.chosen.expected
        if self.few_alerts():
            expected = None
        return points_for_page(
            self.cells,
            self.constraint,
            self.seed or 0,
            self.class_weights,
            algorithm=self.chosen.algorithm,
            own=None if boundary is None or expected is None else (boundary, expected),
            settings=settings_of(
                self.chosen.algorithm,
                self.parameters.binning,
                len(self.cells.rows),
                self.source.signed_uncertainty if len(self.compared) > 1 else None,
            ),
        )

    def operating_points(self) -> OperatingPoints | None:
        """Compute the operating points, once.

        None with a certificate, which a later choice would void, and if rows depend on each other.
        """
        return self._points

    @property
    def card(self) -> HeadCard:
        """Head of the page."""
        boundary = self.chosen.boundary
        if boundary is None:
            return HeadCard(title=self._title(), verdict=Verdict(text="infeasible", tone="bad"))
        fit = boundary.fit
        expected = expected_metrics(self.chosen.expected, self.class_weights)
        if self.groups is not None and self.groups.rest.rows:
            expected = expected_metrics(None)  # those of the groups are not those of all rows
        card = boundary_card(
            fit,
            (expected["precision"], expected["recall"]),
            self._verdict(),
            self._words,
            flagged=self.flagged_of_all,
            title=self._title(),
            region=self._region,
        )
        value = self._value_of(boundary)
        if value is None:
            return card
        worth = KeyNumber(label="net value on the calibration set", value=rounded_money(value[0]))
        return replace(card, numbers=[worth, *card.numbers])

    def _verdict(self) -> Verdict:
        if self.certification is not None:
            return self.certification.verdict()
        for comparison in self.compared[:1]:
            words = {"no evidence": "no evidence that uncertainty helps"}
            verdict = words.get(comparison.verdict, f"uncertainty {comparison.verdict}")
            return Verdict(text=f"{verdict}; rule not tested on new rows yet")
        return verdict_on_calibration_set()

    @property
    def _single(self) -> FittedBoundary | None:
        """The single threshold on the same rows, beside the boundary or in its place."""
        if self.unsaved is not None:
            return self.chosen.boundary
        return self.score_only.boundary if self.score_only else None

    def sentence(self) -> list[str]:
        """State the verdict of the comparison, with advice; empty without ``--compare``."""
        return [f"{comparison.sentence()} {self._advice(comparison)}" for comparison in self.compared[:1]]

    def _advice(self, compared: UncertaintyComparison) -> str:
        """State which rule to use after a comparison, and which is saved."""
        if self.certification is not None:
            return "The rule is the certified boundary."
        if self.unsaved is not None:
            return "The rule is one threshold; --uncertainty-bins auto would use the uncertainty."
        if self._is_single_threshold:
            return "The rule is one threshold."
        if compared.verdict == "helps" or self._single is None:
            return "The rule uses it."
        return "One threshold does as well: add --uncertainty-bins 1 to use it."

    def _lead(self) -> list[str]:
        """State what to expect on new data, and what the table does not say."""
        boundary = self.chosen.boundary
        if boundary is None:
            return []  # the title states it
        sentences = []
        if self.certification is not None:
            costs = (self._answer(boundary), self.certification.cost(boundary))
            sentences = [" ".join(filter(None, costs)), *self.certification.test()]
        compared = self.sentence()
        sentences += [*self._expectation(), *compared]
        if self._words is ACCEPTED_PREDICTIONS:
            sentences.append(ROWS_ARE_PREDICTIONS)
        if self.lacks_uncertainty and not self._is_single_threshold:
            sentences.append(NO_UNCERTAINTY)
        if self._is_single_threshold:
            reason = ""
            if self.lacks_uncertainty:
                reason = f" {NO_UNCERTAINTY}"
            elif self.tried is not None and not self.unsaved and not compared:
                reason = f" {NO_GAIN if self.tried else TOO_FEW_ALERTS}"
            sentences.append(f"Flag when {rule(boundary.printed[0], raised=self._is_raised)}.{reason}")
            sentences += [self.recalibrated] if self._is_raised else []
        return [*sentences, *self._without_label(), *self._value_sentence(boundary)]

    def _expectation(self) -> list[str]:
        is_alone = self.certification is None and len(self.candidates) == 1
        if self.chosen.expected is None and is_alone and not self.few_alerts():
            return ["These are the results on the calibration set; expect somewhat less on new data."]
        if self.chosen.expected is None or self._refuted or self.few_alerts():
            return []
        where = "new data" if self.class_weights is None else "the target data"
        if self.flagged_of_all is not None:
            where = "new rows like the labelled ones"
        if self.groups is not None and self.groups.rest.rows:
            where = "new rows of the groups with a rule of their own"
        if self.review is not None:
            where += ", by the flagged rows alone,"
        between = "" if self.source.dependence is None else f"{self.source.dependence}s"
        expected = expected_metrics(self.chosen.expected, self.class_weights)
        sentence = expectation(expected, where, between)
        if self.chosen.boundary is not None:
            sentence += self.constraint.beside_expectation(self.chosen.boundary.fit)
        if share_flagged := self._share_range():
            sentence = f"{sentence} Of new rows, expect {share_flagged} to be flagged (90 % range)."
        return [sentence] if sentence else []

    def _value_sentence(self, boundary: FittedBoundary) -> list[str]:
        """State the value on the calibration set, beside that of a single threshold; empty without gain."""
        value = self._value_of(boundary)
        if value is None or len(self.candidates) > 1:
            return []
        single = None if self._single is boundary else self._value_of(self._single)
        beside = "" if single is None else f" (one threshold: {rounded_money(single[0])})"
        held = "" if value[1] is None else f"{percent(value[1])} of the gain from all positives"
        caught = f"; the flagged rows hold {held}" if held else ""
        return [f"Net value on the calibration set: {rounded_money(value[0])}{beside}{caught}."]

    @property
    def recalibrated(self) -> str:
        """Sentence on the recalibration of scores; empty if there is none."""
        by = self.chosen.recalibration
        return recalibration_in_words(by.coefficient, by.low, by.high) if by else ""

    @property
    def _is_raised(self) -> bool:
        return bool(self.recalibrated)

    @property
    def _thresholds(self) -> int:
        """Number of thresholds; 0 without a boundary, and with groups."""
        boundary = self.chosen.boundary
        return 0 if boundary is None or self.groups is not None else len(boundary.thresholds)

    @property
    def _is_single_threshold(self) -> bool:
        return self._thresholds == 1

    def _cautions(self) -> list[Notice]:
        listed = ", ".join(str(number + 1) for number in self.empty_bins)
        bins = f"uncertainty bin{'s' if len(self.empty_bins) > 1 else ''} {listed}"
        empty = (
            f"the calibration set has no row in {bins}, so new rows there are never flagged: add such rows, "
            "or set fewer --uncertainty-bins."
        )
        unknown = f"the precision on the target data is unknown: {self._refuted}."
        return [
            *([Notice("one-class", sentence)] if (sentence := self.only_positives()) else []),
            *([Notice("reversed-score", is_low)] if (is_low := self.reversed_score()) else []),
            *([Notice("few-alerts", few)] if (few := self.few_alerts()) else []),
            *([Notice("unknown-rate", unknown)] if self._refuted else []),
            *([self.alike.caution] if self.alike else []),
            *(self.groups.cautions() if self.groups else []),
            *self._bound_cautions(),
            *([Notice("other-direction", self.other_direction)] if self.other_direction else []),
            *self._better_single_threshold(),
            *([Notice("empty-bins", empty)] if self.empty_bins else []),
            *self._few_clusters(),
            *self._often_missed(),
        ]

    def _few_clusters(self) -> list[Notice]:
        """Caution that expected ranges rest on few clusters, or that too few give none."""
        expected, clusters = self.chosen.expected, self.clusters
        if expected is None or clusters is None:
            return []
        cautions = list[Notice]()
        for subject, estimate, number, whose in (
            ("expected precision", expected.precision, clusters["clusters_flagged"], "flagged rows"),
            ("expected recall", expected.recall, clusters["clusters_positive"], "positive rows"),
        ):
            few = few_clusters(subject, number, whose, self._units)
            cautions += few or unreliable(subject, estimate)
        return cautions

    def _without_range(self) -> list[str]:
        """State which results of dependent rows have no range, and why; few clusters are a caution."""
        expected, boundary = self.chosen.expected, self.chosen.boundary
        if self.clusters is None or boundary is None:
            return []
        if expected is None:
            reason = "the grid has too many cells, or too few resamples have a boundary"
            return [f"Expectations have no range by {self._unit}: {reason}."]
        if self.chosen.algorithm not in OPTIMISM_CORRECTED:
            return [f"Recall has no range: none is known to hold for {self.chosen.algorithm}; use smooth."]
        if self.groups is not None and len(self.groups.boundaries) > 1:
            return ["Recall has no range: the thresholds of several groups vary too much."]
        return []

    @property
    def _unit(self) -> str:
        return self.source.dependence or "cluster"

    @property
    def _units(self) -> str:
        return f"{self._unit}s"

    def only_positives(self) -> str:
        """Caution that all rows are positive; empty if they are not, or were chosen by their high scores."""
        certificates = [] if self.certification is None else self.certification.certificates
        were_chosen = any(certificate.region is not None for certificate in certificates)
        if self.chosen.boundary is None or self.positives < self.rows or were_chosen:
            return ""
        return f"every row is positive, so that any threshold reaches any precision here; {ADD_NEGATIVES}."

    def _without_label(self) -> list[str]:
        """State the share of all rows that is flagged, if results are those of labelled ones."""
        if self.flagged_of_all is None:
            return []
        selected, rows = self.flagged_of_all
        return [
            f"Of all {rows_of(rows)}, with and without a label, the rule flags {percent(selected / rows)}; "
            "evaluate it with --on-invalid drop for the recall among them."
        ]

    def _better_single_threshold(self) -> list[Notice]:
        boundary, single = self.unsaved.boundary if self.unsaved else self.chosen.boundary, self._single
        if single is None or not self.constraint.leaves_recall(single.fit):
            return []
        name, value = self.constraint.reached(single.fit)
        reached = f"a single threshold reaches {name} {value}"
        hint = "add --algorithm st to use it" if self.unsaved is None else "it is the rule"
        if boundary is None:
            better = f"no boundary on this grid meets the target, but {reached}: {hint}."
            return [Notice("single-threshold", better)]
        own, other = (self.constraint.objective(f) for f in (boundary.fit, single.fit))
        if other <= own or (self.unsaved is None and self.chosen.algorithm is Algorithm.SMOOTH):
            return []
        better = f"{reached}, and the boundary only {self.constraint.reached(boundary.fit)[1]}: {hint}."
        return [Notice("single-threshold", better)]

    def reversed_score(self) -> str:
        """Caution that low scores are more often positive, by the cells of the grid; empty otherwise."""
        if self.cells is None or self.certification is not None:
            return ""
        counts = merge(
            [
                ValueCounts(value=row.lower, count=row.count, positives=row.positives)
                for row in self.cells.rows
            ]
        )
        return REVERSED if is_reversed(counts) else ""

    def few_alerts(self) -> str:
        """Caution that the calibration set has few alerts; empty if it has enough."""
        boundary = self.chosen.boundary
        if boundary is None or self.certification is not None or boundary.fit.selected >= FEWEST_FLAGGED:
            return ""
        flagged = boundary.fit.selected
        return (
            f"only {flagged} calibration {'row is' if flagged == 1 else 'rows are'} flagged, too few to know "
            "the precision on new data: use more labelled rows, or a lower target."
        )

    def _often_missed(self) -> list[Notice]:
        """Caution that rules which just meet the target often miss it on new data, and say what to type."""
        constraint, boundary, expected = self.constraint, self.chosen.boundary, self.chosen.expected
        if boundary is None or self.certification is not None:
            return []
        if self.few_alerts():
            return []
        if self.cautious is not None:
            often = "that happens to some such rules" if constraint.margin else "as likely as not"
            remedy = self._remedy("to make that about 1 in 6")
            below = f"the true precision may be below {constraint.bound} ({often}): {remedy}"
            return [Notice("often-missed", below)]
        if not constraint.takes_margin or expected is None or self.class_weights is not None:
            return []
        if (expected.precision.value or 0) >= constraint.numbers[0]:
            return []
        often = f"on new data precision will more likely be below {constraint.bound} than above it"
        return [Notice("often-missed", f"{often}: {self._remedy('to make that less likely')}")]

    def _remedy(self, effect_of_margin: str) -> str:
        """Say what to add so that the precision is missed less often: only what this command takes."""
        effects = {MARGIN: effect_of_margin, CERTIFY: "for a guarantee (10 % risk)"}
        added = [f"{option} {effects[option]}" for option in self.safer_options]
        return (
            f"add {', or '.join(added)}." if added else "ask for a higher precision to make that less likely."
        )

    def _budget(self) -> list[str]:
        """State what a limit of alerts is relative to, and what to expect in new files."""
        if self._alerts is None or self.chosen.boundary is None:
            return []
        selected = self.chosen.boundary.fit.selected
        daily = " For N alerts a day: apply --top N --per DAY." if self._orders_rows else ""
        if self.expected_share is None:
            has_no_range = self.clusters is not None and self._alerts.is_share
            range_ = f" The share of new {self._units} has no range." if has_no_range else ""
            return [f"The limit is for a file of {rows_of(self.rows)}, like this one.{range_}{daily}"]
        here = f"{count(selected)} of {rows_of(self.rows)} are flagged here"
        return [f"{here}; in new files expect {self._share_range()} (90 % range).{daily}"]

    @property
    def _alerts(self) -> Constraint | None:
        return next(iter(self.constraint.alert_limits), None)

    @property
    def _orders_rows(self) -> bool:
        """Whether the rule orders rows, as a daily capacity needs."""
        smoothed = self.chosen.algorithm is Algorithm.SMOOTH
        return self.groups is None and (smoothed or not self.has_several_thresholds)

    def _share_range(self) -> str:
        """Format the share of new rows that is flagged; empty if it is not estimated."""
        if self.expected_share is None:
            return ""
        ends = (self.expected_share.low, self.expected_share.high)
        digits = 1 if min(end or 0 for end in ends) >= _MIN_ROUNDED_SHARE else 3
        low, high = (percent(end, digits) for end in ends)
        return f"{low.removesuffix(' %')} to {high}"

    def _bound_cautions(self) -> list[Notice]:
        """Caution on each bound that new data may exceed, or that looks like another."""
        boundary = self.chosen.boundary
        if boundary is None:
            return []
        return [
            notice for bound in self.constraint.bounds for notice in bound.cautions(boundary.fit, self.rows)
        ]

    def _table(self) -> Table:
        several = len(self.candidates) > 1
        header = ["", "recall", "precision", "flagged"]
        if several:
            more = [] if self.constraint.is_bound else ["value"]
            lines = []
            for candidate in self.candidates:
                value = self._value_of(candidate.boundary)
                cells = (*_cells(candidate), *("" if value is None else money(value[0]) for _ in more))
                expected = None if _is_few(candidate) else candidate.expected
                lines.append((str(candidate.algorithm), *cells, *expected_cells(expected)))
            more += ["expected recall", "expected precision"]
            return Table(title="", header=["calibration set", *header[1:], *more], rows=lines)
        where = "this rule" if self.flagged_of_all is None else f"this rule, {LABELLED_ROWS}"
        rows: list[tuple[str, ...]] = [(where, *_cells(self.chosen))]
        if self.unsaved is not None:
            rows.append((f"with uncertainty ({self.unsaved.algorithm})", *_cells(self.unsaved)))
        if self.score_only and self.score_only.boundary:
            bounded, cells = self.constraint.name, fit_cells(self.score_only.boundary.fit)
            if self.constraint.bounds_recall and cells[0] != rows[0][1]:  # both may exceed the target
                bounded = "target"
            bounded = "bounds" if self.constraint.limits.also else bounded
            rows.append((f"one threshold, same {bounded}", *cells))
        if self.equal_alerts is not None:
            rows.append(("one threshold, as many alerts", *fit_cells(self.equal_alerts)))
        if self.certification and self.certification.uncertified:
            rows.append(("this kind, without a guarantee", *fit_cells(self.certification.uncertified.fit)))
        return Table(title="", header=header, rows=rows)

    def _times(self) -> list[str]:
        if len(self.candidates) == 1:
            return []
        times = [
            f"{candidate.algorithm} {candidate.seconds:.3f}"
            for candidate in self.candidates
            if not candidate.obstacle
        ]
        return [f"Seconds: {', '.join(times)}."]

    @property
    def is_untested(self) -> bool:
        """Whether the report compares recalls without a test of their difference."""
        beside = len(self.candidates) > 1 or self._single is not None
        return beside and not self.compared and self.tried is None

    @property
    def has_several_thresholds(self) -> bool:
        """Whether the boundary has several thresholds."""
        return self._thresholds > 1

    @property
    def _closest(self) -> Confusion[int] | None:
        return self.chosen.closest.fit if self.chosen.closest else None

    def _notes(self) -> list[str]:
        dropped = f", {count(self.source.dropped)} dropped" if self.source.dropped else ""
        by_weight = "" if self.rows == self.source.rows else f" ({count(self.rows)} by weight)"
        within = "" if self.clusters is None else f" in {count(self.clusters['clusters'])} {self._units}"
        notes = [
            f"Calibration set: {count(self.source.rows)} rows{by_weight}{within}, "
            f"{count(self.source.positives)} positive{dropped}.",
            f"Goal: {self.constraint.aim()}.",
        ]
        notes += [
            f"{candidate.algorithm} does not apply: it {candidate.obstacle}."
            for candidate in self.candidates
            if candidate.obstacle
        ]
        if self.recalibrated and not self._is_single_threshold:
            notes.append(self.recalibrated)
        boundary, single = self.chosen.boundary, self._single
        if boundary is None:
            return [*notes, f"Infeasible: {self.shortfall()}."]
        notes += self._budget()
        hits, alerts = count(boundary.fit.true_positives), count(boundary.fit.selected)
        notes.append(f"{hits} of {alerts} flagged rows of the calibration set are positive.")
        if single is not None and single is not boundary:
            notes.append(f"The single threshold flags when {rule(single.printed[0])}.")
        if self.groups is not None:
            notes += self.groups.notes()
        if self.certification is not None:
            notes += self.certification.notes(boundary)
        if self.is_untested:
            notes.append(UNTESTED)
        if self.score_only and self.score_only.boundary is None:
            notes.append("No single threshold meets the target on the calibration set.")
        if self.class_weights is not None and not self._refuted:
            in_target = self.class_weights.precision(boundary.fit.precision)
            notes.append(
                f"With the class priors of the target data, precision is {percent(in_target)} (class weights "
                f"{self.class_weights.negative:.4g} and {self.class_weights.positive:.4g})."
            )
        return [*notes, *self._new_data_notes()]

    def _new_data_notes(self) -> list[str]:
        notes = [JOINT_TARGET] if self.has_several_thresholds and self.certification is None else []
        notes += self._without_range()
        notes += [_CROSS_VALIDATED, VERDICTS] if self.compared else []
        notes += self._margin_notes()
        random_parts = [
            *(["the gains"] if self.compared else []),
            *(["the uncertainty column"] if len(self.compared) > 1 else []),
            *(["the number of uncertainty bins"] if self.tried else []),
        ]
        if random_parts and self.seed is not None:
            notes.append(f"The random seed ({self.seed}) affects {' and '.join(random_parts)}.")
        return notes

    def _margin_notes(self) -> list[str]:
        """State the effect of a margin and of a certificate, if the margin is below one standard error."""
        if self.cautious is None or self.chosen.boundary is None or self._clustered:
            return []
        fit, notes = self.cautious.boundary, []
        if MARGIN in self.safer_options:
            notes.append(
                "--margin 1 finds no boundary"
                if fit is None
                else "with --margin 1, about 5 of 6 rules meet the target, and recall here is "
                f"{percent(fit.fit.recall)}"
            )
        if CERTIFY in self.safer_options:
            notes.append("--certify 0.1 guarantees the target at a risk of 10 %")
        return [f"{notes[0][:1].upper()}{'; '.join(notes)[1:]}."] if notes else []

    def shortfall(self) -> str:
        """State how close the best boundary comes."""
        if self.positives == 0:
            return f"no row is positive: {ADD_POSITIVES}"
        if self.certification is not None:
            return self.certification.shortfall()
        closest, limits = self._closest, self.constraint.limits
        if closest is not None and any(candidate.boundary for candidate in self.candidates):
            return self.constraint.recall_shortfall(closest)
        if self.constraint.margin and self.without_margin is not None:
            fit = self.without_margin.fit
            return (
                f"no boundary reaches precision {self.constraint.bound} with a margin of "
                f"{float(self.constraint.margin):g} standard errors; without one recall is "
                f"{percent(fit.recall)}"
            )
        if closest is None:
            subject = "no boundary" if self.groups is None else "no boundary of a group"
            return f"{subject} with {self.constraint.text()} has a positive result"
        return (
            self.constraint.joint_shortfall(closest, self.chosen.algorithm)
            if limits.also
            else self._single_shortfall(closest)
        )

    def _single_shortfall(self, closest: Confusion[int]) -> str:
        hint = "" if self.is_of_grid else "; boundary without a bound lists what these rows allow"
        return self.constraint.shortfall(closest, self.reversed_score().rstrip("."), hint)


def _is_few(candidate: Candidate) -> bool:
    """Whether too few rows are flagged to expect anything on new data."""
    return candidate.boundary is not None and candidate.boundary.fit.selected < FEWEST_FLAGGED


def _as_json(candidate: Candidate) -> dict[str, Any]:
    fit = candidate.boundary.fit if candidate.boundary else None
    metrics = None
    if fit is not None:
        metrics = plain({**by_key(fit_metrics(fit)), "expected": expected_metrics(candidate.expected)})
    return {"algorithm": str(candidate.algorithm), "metrics": metrics, "obstacle": candidate.obstacle}


def _cells(candidate: Candidate) -> tuple[str, ...]:
    if candidate.boundary is None:
        return ("does not apply" if candidate.obstacle else "infeasible", "", "")
    return fit_cells(candidate.boundary.fit)


def fit_metrics(fit: Confusion[int] | None) -> list[Metric]:
    """Return the results on the calibration set; a rule that was not found flags nothing."""
    return [
        Metric("recall", "recall", None if fit is None else fit.recall, percent),
        Metric("precision", "precision", None if fit is None else fit.precision, percent),
        Metric("selected", "flagged", fit.selected if fit else 0, count),
        Metric("true_positives", "", fit.true_positives if fit else 0),
    ]


def fit_cells(fit: Confusion[int]) -> tuple[str, ...]:
    """Format the results for a table: recall, precision and flagged rows."""
    return percent(fit.recall), precision_cell(fit), count(fit.selected)


def bins_tried_table(tried: Sequence[BinsTried], gained: str = "recall gained, points") -> Table:
    """Build the table of the gain for each number of bins; ``gained`` says of what."""
    chosen = fewest_of(tried)
    rows = [
        (
            str(candidate.bins),
            f"{100 * candidate.gain:+.2f}",
            f"{100 * candidate.behind:.2f} ({100 * candidate.error:.2f})",
            "chosen" if candidate.bins == chosen else "",
        )
        for candidate in tried
    ]
    header = ("uncertainty bins", gained, "behind the best (SE)", "")
    title = "Gain at equal alerts, cross-validated; chosen: fewest bins within a standard error of the best"
    return Table(title=title, header=header, rows=rows, detail=True)
