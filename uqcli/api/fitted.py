"""Fitted rules and results of the functions for arrays."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import field, replace
from functools import partial
from typing import Any, ClassVar, Generic, Self, TypeVar

import numpy as np
from numpy.typing import NDArray

from uqcli.api.arguments import (
    CLUSTER,
    DAY,
    WEIGHT,
    Classes,
    add_columns,
    amounts,
    in_order,
    present,
    run,
    unused,
)
from uqcli.api.calibration import fit_calibrator
from uqcli.audit.report import Segment
from uqcli.base import defaults
from uqcli.base.choices import Algorithm, SampleGoal
from uqcli.base.counts import Bools, Floats, Ints
from uqcli.base.defaults import LABEL
from uqcli.base.errors import DataError, UsageError
from uqcli.base.files import InMemory
from uqcli.base.notices import Notice
from uqcli.base.options import Intervals
from uqcli.base.records import dataclass
from uqcli.base.running.left_out import LeftOut
from uqcli.base.running.messages import Said, rows_left_out, said
from uqcli.bin.rule import GridArtifact
from uqcli.boundary.comparison import UncertaintyComparison
from uqcli.boundary.rule import BoundaryArtifact
from uqcli.boundary.rule_file import ZONES, Fit, SavedGroup
from uqcli.calibrate.maps import CalibrationMap, ClassMap
from uqcli.calibrate.rule import CalibratorArtifact
from uqcli.calls import Rule, in_one_run
from uqcli.conformal.rule import ConformalArtifact
from uqcli.engines.open import open_engine
from uqcli.engines.request import PROBA, DataRequest, in_memory
from uqcli.estimates.estimate import Estimate
from uqcli.estimates.survey import SAMPLING_WEIGHT
from uqcli.evaluate.groups import EvaluatedGroup
from uqcli.evaluate.report import ReportByGroup
from uqcli.jobs.tables import Column, Decimal, by_name, is_frame, python_number, table_of
from uqcli.reports.document import Metrics, Report
from uqcli.reports.figures import save_figure
from uqcli.reports.formats.markdown import to_markdown
from uqcli.reports.rows_read import with_rows_read
from uqcli.rules.codec import encode, load_kind, load_unedited
from uqcli.rules.columns import ColumnOverrides, NewColumns
from uqcli.rules.saved import Saved, given
from uqcli.sample.options import Population, SampleRequest
from uqcli.sample.run import prepare
from uqcli.shift.rule import ShiftArtifact
from uqcli.show.run import ShowReport
from uqcli.stores.output import write_bytes
from uqcli.watch.report import WatchReport
from uqcli.watch.unlabelled import UnlabelledReport

ModelT = TypeVar("ModelT", bound=Saved)
Shift = Any
"""Class weights: ``ShiftWeights``, or the path of a rule file."""


@dataclass(frozen=True, kw_only=True, repr=False)
class OfRun:
    """What a run has made.

    Attributes
    ----------
    said
        Cautions of the run, and doubts about the rules that it used.
    left_out
        Rows that the run read and left out; None if it read none.
    """

    said: Said = field(default_factory=said, compare=False)
    left_out: LeftOut | None = field(default_factory=rows_left_out, compare=False)

    def __hash__(self) -> int:
        return hash(repr(self))

    def _json(self, report: Report) -> dict[str, Any]:
        """Return the JSON that the command prints with ``--json``."""
        counted = with_rows_read(report, self.left_out)
        return {**counted.payload(), **self.said.payload(counted.document().cautions), "gates": []}


@dataclass(frozen=True, kw_only=True, repr=False, eq=False)
class Reported(OfRun):
    """Result of a command, with its report."""

    report: Report

    def __repr__(self) -> str:
        return f"<{self.report.document().title}>"

    def payload(self) -> dict[str, Any]:
        """Return the JSON that the command prints with ``--json``."""
        return self._json(self.report)

    def plot(self, path: str) -> None:
        """Write the figure, as ``--plot``."""
        save_figure(self.report, path)

    @property
    def notes(self) -> tuple[str, ...]:
        """Verdict, notes, cautions and doubts, in words."""
        said_of_run = self.said.payload(())
        notes = self.report.payload().get("notes", ())
        return (*notes, *said_of_run["cautions"], *said_of_run.get("doubts", ()))


@dataclass(frozen=True, kw_only=True, repr=False, eq=False)
class Watched(Reported):
    """Watch of a rule after new rows."""

    report: WatchReport | UnlabelledReport

    @property
    def metrics(self) -> Metrics:
        """Metrics by the keys of ``uqcli watch --json``."""
        return self.report.metrics

    @property
    def alarms(self) -> tuple[str, ...]:
        """Alarms, in words; empty if there is none."""
        return tuple(self.report.alarms()) if isinstance(self.report, WatchReport) else ()


@dataclass(frozen=True, kw_only=True, repr=False, eq=False)
class Evaluation(Reported):
    """Evaluation of a rule on a test set."""

    report: ReportByGroup

    @property
    def metrics(self) -> Metrics:
        """Metrics by the keys of ``uqcli evaluate --json``."""
        (metrics,) = self.report.checked_metrics.values()
        return metrics

    @property
    def groups(self) -> tuple[EvaluatedGroup, ...]:
        """Results of each group, in the order of the names; empty without ``by``."""
        return tuple(self.report.groups)

    @property
    def segments(self) -> tuple[Segment, ...]:
        """Tests of all segments, the most significant first; empty without ``audit``."""
        return tuple(self.report.segments)


@dataclass(frozen=True, kw_only=True, repr=False, eq=False)
class Fitted(OfRun, Generic[ModelT]):
    """A fitted rule.

    Attributes
    ----------
    artifact
        Content of the rule file that ``save`` writes and every command reads.
    notes
        Notes on the fit.
    report
        Report of the command that fits such rules; None if the rule was loaded, or fitted without a report.
    """

    artifact: ModelT
    notes: tuple[str, ...] = ()
    report: Report | None = field(default=None, compare=False)

    _saved_as: ClassVar[type[Any]] = Saved

    def __repr__(self) -> str:
        doubtful = "; made with a doubt, see doubts" if self.doubts else ""
        return f"<{self.artifact.document().title}{doubtful}>"

    @property
    def doubts(self) -> tuple[str, ...]:
        """Doubts about how the rule was made, which whatever uses the rule repeats."""
        return tuple(self.artifact.known_doubts)

    def payload(self) -> dict[str, Any]:
        """Return the JSON that the command prints with ``--json``; there is none for a loaded rule."""
        if self.report is None:
            raise UsageError("payload() of a rule that was loaded, or fitted without a report")
        return self._json(self.report)

    def save(self, path: str) -> None:
        """Write the rule file (JSON); an old file stays until the new one is complete."""
        write_bytes(str(path), encode(self.artifact))

    @classmethod
    def load(cls, path: str) -> Self:
        """Read a rule file written by ``save`` or a command."""
        return cls(artifact=load_kind(str(path), cls._saved_as))

    def export(self, to: str, *, dialect: str = "duckdb", table: str | None = None) -> str | bytes:
        """Write the rule as SQL or Python text, or as an ONNX model, as ``uqcli export``."""
        sql = {"dialect": dialect, "table": table} if to == "sql" else {}
        return run("export", (self._rule,), {"to": to, **sql}).program

    def plot(self, path: str) -> None:
        """Write the figure of the fit, as ``--plot``."""
        save_figure(self.report, path)

    def describe(self) -> str:
        """Describe the rule in words and tables, as ``uqcli show``; Markdown."""
        document = ShowReport(rule=self.artifact).document()
        doubts = [Notice("doubt", f"The rule was made with a doubt: {sentence}") for sentence in self.doubts]
        return to_markdown(replace(document, cautions=[*document.cautions, *doubts]))

    @property
    def _rule(self) -> Rule:
        """The rule as commands take it."""
        return Rule(encode(self.artifact), str(self.artifact.kind))

    def _columns(self, score: Classes, uncertainty: Any = None, **more: Any) -> dict[str, Column]:
        """Return a score, or class probabilities, and what else the rule reads, by its columns' names."""
        rule, columns = self.artifact, self.artifact.source.columns
        if is_frame(uncertainty):
            uncertainty = by_name(uncertainty).get(rule.source.uncertainty or "")
        own = rule.source.uncertainty or ""
        if rule.class_names:
            named = [columns[f"{PROBA}{name}"] for name in rule.class_names]
            found = in_order(score, named, rule.class_names)
        else:
            found = {columns["score"]: score}
            if own == columns["score"] and not (uncertainty is None or uncertainty is score):
                raise DataError(
                    "two columns for one", expected="the score alone, which is also the uncertainty"
                )
        if rule.needs_uncertainty and own not in found:
            found |= present(**{own: uncertainty})
        return {**found, **present(**more)}

    def _added(self, columns: Mapping[str, Column], **form: Any) -> dict[str, np.ndarray]:
        """Compute the columns that the rule adds, from columns by the names that the rule file uses."""
        roles = self.artifact.reads(ColumnOverrides())
        names = roles.columns()
        for name in names:
            if columns.get(name) is None:
                raise DataError(f"no {name} given", expected=f"all of {', '.join(names)}")
        data = DataRequest(inputs=_rows(columns, names), roles=roles)
        added = self.artifact.adds(roles, NewColumns(**form))
        parts = [added.compute(rows) for rows in open_engine(data.engine).batches(data)]
        return {name: np.concatenate([np.asarray(part[name]) for part in parts]) for name in added.types}

    def _labelled(
        self, columns: dict[str, Column], label: Column, weight: Column | None, **more: Column | None
    ) -> tuple[dict[str, Column], dict[str, Any]]:
        """Return labelled rows, and the options that name their columns."""
        own = self.artifact.source.columns
        rows = {**columns, own.get("label", LABEL): label}
        weights: dict[str, Any] = {"no_weight": True}
        if weight is not None:
            weights = {"weight": own.get("weight", unused(WEIGHT, rows))}
            rows[weights["weight"]] = weight
        if "label" not in own:
            weights["label"] = LABEL
        return rows, {**weights, **add_columns(rows, more.items())}

    def _measured(
        self,
        columns: dict[str, Column],
        label: Column,
        weight: Column | None,
        audit: Any,
        options: Mapping[str, Any],
        **more: Column | None,
    ) -> Evaluation:
        """Evaluate the rule on labelled rows; ``more`` are columns by option."""
        if more.get(CLUSTER) is not None and more.get(DAY) is not None:
            raise UsageError("cluster and day cannot be combined", remedy="leave one of them out")
        rows, named = self._labelled(columns, label, weight, **more)
        segments = add_columns(rows, by_name(audit).items())
        asked = {**options, **named, "audit": [*segments.values()] or None}
        result = run("evaluate", (self._rule, rows), asked)
        return result.made(partial(Evaluation, report=result.run_report))

    def _watched(
        self,
        columns: dict[str, Column],
        label: Column,
        weight: Column | None,
        options: Mapping[str, Any],
        **more: Column | None,
    ) -> Watched:
        """Watch the rule on new labelled rows."""
        rows, named = self._labelled(columns, label, weight, **more)
        result = run("watch", (self._rule, rows), {**options, **named})
        return result.made(partial(Watched, report=result.run_report))


def _rows(columns: Mapping[str, Column], names: Sequence[str]) -> tuple[str, ...]:
    return in_memory(table_of({name: columns[name] for name in names}))


@dataclass(frozen=True, kw_only=True, repr=False, eq=False)
class Boundary(Fitted[BoundaryArtifact]):
    """Decision boundary: a row is flagged iff its score reaches the threshold of its uncertainty bin.

    Attributes
    ----------
    compared
        Whether the uncertainty improves the decisions, if ``compare`` was set; with several, that of the one
        used.
    comparisons
        The same for each uncertainty, by name.
    """

    compared: UncertaintyComparison | None = None
    comparisons: Mapping[str, UncertaintyComparison] = field(default_factory=dict)

    _saved_as: ClassVar[type[Any]] = BoundaryArtifact

    @property
    def algorithm(self) -> Algorithm:
        """Algorithm that found it."""
        return self.artifact.algorithm

    @property
    def uncertainty_edges(self) -> Floats:
        """Edges of the uncertainty bins; float64, shape (K-1,)."""
        return np.array(self.artifact.uncertainty_edges, dtype=np.float64)

    @property
    def thresholds(self) -> tuple[float | None, ...]:
        """Threshold per uncertainty bin: None never flags, the lowest finite double always flags."""
        return tuple(self.artifact.thresholds)

    @property
    def review_thresholds(self) -> tuple[float | None, ...] | None:
        """Lowest reviewed score per uncertainty bin: None reviews no row there; None without a review."""
        thresholds = given(self.artifact.review_thresholds)
        return None if thresholds is None else tuple(thresholds)

    @property
    def fit(self) -> Fit:
        """Counts, precision and recall on the calibration set, by weight."""
        return self.artifact.fit

    @property
    def groups(self) -> Mapping[str, SavedGroup]:
        """Uncertainty edges, thresholds and counts of each group; empty without groups."""
        return self.artifact.group_rules

    def _of_rule(self, score: Classes, uncertainty: Any, group: Column | None) -> dict[str, Column]:
        by = self.artifact.by
        return self._columns(
            score, uncertainty, **({} if by is None or self.artifact.class_names else {by: group})
        )

    def decide(
        self, score: Column | Classes, uncertainty: Any = None, *, group: Column | None = None
    ) -> Bools:
        """Decide which rows of new data are flagged, or which predictions are accepted; shape (n,)."""
        return self._added(self._of_rule(score, uncertainty, group))["decision"].astype(np.bool_)

    def accepted(self, probability: Classes, uncertainty: Any = None) -> list[str | None]:
        """Return the predicted class of each row of new data, or None where it is not accepted."""
        classes: list[str | None] = [*self.artifact.class_names, None]
        if len(classes) == 1:
            raise UsageError("accepted() of a boundary of scores", expected="one of predicted classes")
        predicted = self._added(self._of_rule(probability, uncertainty, None))["class"]
        return [classes[index] for index in predicted.tolist()]

    def zones(
        self, score: Column | Classes, uncertainty: Any = None, *, group: Column | None = None
    ) -> NDArray[np.str_]:
        """Return the zone of each row of new data, flag, review or clear; shape (n,)."""
        added = self._added(self._of_rule(score, uncertainty, group))
        flagged = np.where(added["decision"], ZONES.index("flag"), ZONES.index("clear"))
        zones: NDArray[np.str_] = np.array(ZONES)[added.get("zone", flagged)]
        return zones

    def sample(
        self,
        score: Column | Classes,
        uncertainty: Any = None,
        *,
        group: Column | None = None,
        goal: str,
        budget: int,
        calibrator: Calibrator | None = None,
        seed: int = defaults.SEED,
    ) -> Floats:
        """Draw the rows of new data to label; sampling weights of shape (n,), 0 for rows not drawn."""
        if goal not in (SampleGoal.PRECISION, SampleGoal.RECALL):
            raise UsageError(f"goal '{goal}'", expected="one of precision, recall")
        columns = self._of_rule(score, uncertainty, group)
        request = SampleRequest(
            population=Population(
                data=DataRequest(inputs=_rows(columns, [*columns])),
                rule=InMemory("boundary", encode(self.artifact)),
                intervals=Intervals(seed=seed),
            ),
            for_=SampleGoal(goal),
            budget=budget,
            calibrator=None if calibrator is None else InMemory("calibrator", encode(calibrator.artifact)),
        )
        return in_one_run(partial(drawn_weights, prepare, request))

    def evaluate(
        self,
        score: Column | Classes,
        label: Column,
        *,
        uncertainty: Any = None,
        group: Column | None = None,
        weight: Column | None = None,
        sampling_weight: Column | None = None,
        by: Column | None = None,
        cluster: Column | None = None,
        day: Column | None = None,
        audit: Mapping[str, Column] | None = None,
        gain: Decimal | Column | None = None,
        cost: Decimal | Column | None = None,
        shift: Shift | None = None,
        unlabelled: Mapping[str, Column] | None = None,
        calibrator: Calibrator | None = None,
        confidence: float = defaults.CONFIDENCE,
        seed: int = defaults.SEED,
    ) -> Evaluation:
        """Measure precision, recall and false-positive rate on a test set, and test the target."""
        columns = self._of_rule(score, uncertainty, group)
        if calibrator is not None and unlabelled is None:
            raise UsageError("calibrator without unlabelled", expected="all rows in unlabelled")
        worth = amounts(columns, gain=gain, cost=cost)
        dependent = present(cluster=cluster, day=day)
        options = {"confidence": confidence, "seed": seed, "shift": as_rule(shift), **worth}
        if unlabelled is not None:
            options |= {"unlabelled": self._every(unlabelled, {"by": by, "weight": weight}, [*dependent])}
            options |= {"calibrator": as_rule(calibrator)}
        more = {"by": by, **dependent, SAMPLING_WEIGHT: sampling_weight}
        return self._measured(columns, label, weight, audit, options, **more)

    def _every(
        self, unlabelled: Mapping[str, Column], others: Mapping[str, Column | None], dependent: Sequence[str]
    ) -> dict[str, Column]:
        """Return all rows; UsageError if a column is of another name, or an argument needs further ones."""
        expected, needed = ("score", "uncertainty", "group"), ("score", *dependent)
        if not {*needed} <= {*unlabelled} <= {*expected, *dependent}:
            has = ", ".join(unlabelled) or "no column"
            raise UsageError(f"unlabelled has {has}", expected=" and ".join(needed))
        for name in present(**others):
            raise UsageError(f"unlabelled and {name} cannot be combined", remedy="leave one of them out")
        further = {name: unlabelled[name] for name in dependent}
        return {**self._of_rule(*map(unlabelled.get, expected)), **further}

    def watch(
        self,
        score: Column | Classes,
        label: Column,
        *,
        uncertainty: Any = None,
        group: Column | None = None,
        weight: Column | None = None,
        day: Column | None = None,
        cluster: Column | None = None,
        matured: int | None = None,
        state: str | None = None,
        bound: Decimal | None = None,
        delta: Decimal | None = None,
        run_length: int | None = None,
    ) -> Watched:
        """Test what the boundary promises as labels arrive, whatever the number of looks."""
        options = {
            "matured": matured,
            "state": state,
            "bound": bound,
            "delta": delta,
            "run_length": run_length,
        }
        columns = self._of_rule(score, uncertainty, group)
        return self._watched(columns, label, weight, options, day=day, cluster=cluster)


@dataclass(frozen=True, kw_only=True, repr=False, eq=False)
class Calibrator(Fitted[CalibratorArtifact]):
    """Fitted calibrator: a map from scores to probabilities."""

    _saved_as: ClassVar[type[Any]] = CalibratorArtifact

    @property
    def map(self) -> CalibrationMap | ClassMap:
        """Calibration map with its parameters."""
        return self.artifact.calibration

    @classmethod
    def fit(cls, score: Column | Classes, label: Column, **options: Any) -> Calibrator:
        """Fit a calibration map to labelled scores, as ``uqcli calibrate``; measure it with ``evaluate``."""
        numbers = {name: python_number(value) for name, value in options.items()}
        return in_one_run(lambda: cls(**fit_calibrator(score, label, **numbers)))

    def predict(self, score: Column | Classes, *, uncertainty: Any = None, features: Any = None) -> Floats:
        """Return calibrated probabilities of new data; shape (n,) or (n, C)."""
        return self._probabilities("calibrated", score, uncertainty, features)

    def interval(
        self, score: Column | Classes, *, uncertainty: Any = None, features: Any = None
    ) -> tuple[Floats, Floats]:
        """Return the lower and the upper probability of new data, with method venn-abers."""
        if not self.artifact.calibration.has_interval:
            raise UsageError(f"an interval of method {self.artifact.method}", expected="method venn-abers")
        prefix = "" if self.artifact.class_names else "calibrated_"
        low, high = (
            self._probabilities(f"{prefix}{end}", score, uncertainty, features) for end in ("low", "high")
        )
        return low, high

    def _probabilities(self, kind: str, score: Classes, uncertainty: Any, features: Any) -> Floats:
        """Return an added column, or those of all classes."""
        added = self._added(self._columns(score, uncertainty, **by_name(features)))
        classes = self.artifact.class_names
        if not classes:
            return added[kind].astype(np.float64)
        return np.stack([added[f"{kind}_{name}"] for name in classes], axis=1)

    def evaluate(
        self,
        score: Column | Classes,
        label: Column,
        *,
        uncertainty: Any = None,
        features: Any = None,
        weight: Column | None = None,
        by: Column | None = None,
        cluster: Column | None = None,
        audit: Mapping[str, Column] | None = None,
        bootstrap: int = 0,
        confidence: float = defaults.CONFIDENCE,
        seed: int = defaults.SEED,
    ) -> Evaluation:
        """Measure calibration and ranking before and after the map on a test set."""
        columns = self._columns(score, uncertainty, **by_name(features))
        options = {"bootstrap": bootstrap, "confidence": confidence, "seed": seed}
        return self._measured(columns, label, weight, audit, options, by=by, cluster=cluster)


@dataclass(frozen=True, kw_only=True, repr=False, eq=False)
class ConformalSets(Fitted[ConformalArtifact]):
    """Prediction sets with guaranteed coverage."""

    _saved_as: ClassVar[type[Any]] = ConformalArtifact

    @property
    def classes(self) -> tuple[str, ...]:
        """Class names, in the order of the columns of ``sets``."""
        return tuple(self.artifact.classes)

    @property
    def thresholds(self) -> Floats:
        """Non-conformity threshold of each class: the largest score still in a set; float64, shape (C,)."""
        return np.array(self.artifact.thresholds)

    @property
    def promise(self) -> str:
        """The guarantee as a sentence."""
        return self.artifact.guarantee()

    def _of_rule(self, probability: Classes, group: Column | None) -> dict[str, Column]:
        groups = self.artifact.groups
        return self._columns(probability, **({} if groups is None else {groups.column: group}))

    def sets(self, probability: Classes, *, group: Column | None = None, no_empty: bool = False) -> Bools:
        """Compute the prediction set of each row; shape (n, C)."""
        return self._added(self._of_rule(probability, group), no_empty=no_empty)["set"].astype(np.bool_)

    def evaluate(
        self,
        probability: Classes,
        label: Column,
        *,
        group: Column | None = None,
        weight: Column | None = None,
        by: Column | None = None,
        cluster: Column | None = None,
        audit: Mapping[str, Column] | None = None,
        shift: Shift | None = None,
        confidence: float = defaults.CONFIDENCE,
        seed: int = defaults.SEED,
    ) -> Evaluation:
        """Measure coverage and size of the prediction sets on a test set, and test the guarantee."""
        options = {"shift": as_rule(shift), "confidence": confidence, "seed": seed}
        columns = self._of_rule(probability, group)
        return self._measured(columns, label, weight, audit, options, by=by, cluster=cluster)

    def watch(
        self,
        probability: Classes,
        label: Column,
        *,
        group: Column | None = None,
        weight: Column | None = None,
        day: Column | None = None,
        cluster: Column | None = None,
        matured: int | None = None,
        state: str | None = None,
        bound: Decimal | None = None,
        delta: Decimal | None = None,
        run_length: int | None = None,
    ) -> Watched:
        """Test what the sets promise as labels arrive, whatever the number of looks."""
        options = {
            "matured": matured,
            "state": state,
            "bound": bound,
            "delta": delta,
            "run_length": run_length,
        }
        columns = self._of_rule(probability, group)
        return self._watched(columns, label, weight, options, day=day, cluster=cluster)


@dataclass(frozen=True, kw_only=True, repr=False, eq=False)
class Grid(Fitted[GridArtifact]):
    """Counts in K x L cells of uncertainty and score; a value v is in bin #{edges <= v}."""

    _saved_as: ClassVar[type[Any]] = GridArtifact

    @property
    def uncertainty_edges(self) -> Floats:
        """Uncertainty edges; float64, shape (K-1,)."""
        return np.array(self.artifact.uncertainty_edges, dtype=np.float64)

    @property
    def score_edges(self) -> Floats:
        """Score edges of each uncertainty bin; float64, shape (K, L-1)."""
        return np.array(self.artifact.score_edges, dtype=np.float64)

    @property
    def count(self) -> Ints:
        """Total weight of each cell; int64, shape (K, L)."""
        return np.array(self.artifact.count, dtype=np.int64)

    @property
    def positives(self) -> Ints:
        """Weight of the positive rows of each cell; int64, shape (K, L)."""
        return np.array(self.artifact.positives, dtype=np.int64)

    def bins_of(self, score: Column, uncertainty: Any = None) -> tuple[Ints, Ints]:
        """Return uncertainty bin and score bin of new data; int64, shape (n,) each."""
        added = self._added(self._columns(score, uncertainty))
        return added["uncertainty_bin"], added["score_bin"]


@dataclass(frozen=True, kw_only=True, repr=False, eq=False)
class ShiftWeights(Fitted[ShiftArtifact]):
    """Class weights under label shift: w = q/p, target prior over source prior."""

    _saved_as: ClassVar[type[Any]] = ShiftArtifact

    @property
    def classes(self) -> tuple[str, ...]:
        """Class names, in order."""
        return tuple(self.artifact.classes)

    @property
    def weights(self) -> Floats:
        """Class weights; float64, shape (C,)."""
        return np.array(self.artifact.weights)

    @property
    def target_prior(self) -> Floats:
        """Class priors in the target data; float64, shape (C,)."""
        return np.array(self.artifact.target_prior)

    @property
    def p_value(self) -> float | None:
        """p-value of "predictions have the same distribution in source and target"."""
        return self.artifact.shift_p

    @property
    def mixture_p_value(self) -> float | None:
        """p-value of "the target is a mixture of the classes" (label shift); None without an answer."""
        return given(self.artifact.mixture_p)

    @property
    def intervals(self) -> dict[str, Estimate]:
        """Weight and interval by class; empty if no valid interval exists."""
        estimates = self.artifact.estimates()
        return {name: estimate for name, estimate in estimates.items() if isinstance(estimate, Estimate)}


def as_rule(rule: Any) -> Any:
    """Return a fitted rule as an option takes it; paths and None stay."""
    return rule._rule if isinstance(rule, Fitted) else rule


def drawn_weights(prepared: Any, request: SampleRequest) -> Floats:
    """Return the sampling weights of all rows of a request; 0 for rows that are not drawn."""
    _, data, added = prepared(request)
    parts = [added.compute(rows)[SAMPLING_WEIGHT] for rows in open_engine(data.engine).batches(data)]
    return np.concatenate(parts).astype(np.float64, copy=False)


_CLASSES: dict[type[Saved], type[Fitted[Any]]] = {
    each._saved_as: each for each in (Boundary, Calibrator, ConformalSets, Grid, ShiftWeights)
}


def load(path: str) -> Fitted[Any]:
    """Load a rule file written by ``save`` or a command, as an object of its kind."""
    artifact = load_unedited(str(path))
    return _CLASSES.get(type(artifact), Fitted)(artifact=artifact)
