"""Find decision boundaries from arrays."""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from dataclasses import field
from typing import Any, ClassVar, Literal

import numpy as np
from numpy.typing import NDArray

from uqcli.api.arguments import (
    CLUSTER,
    DAY,
    GROUP,
    WEIGHT,
    Classes,
    as_one_run,
    choice,
    class_rows,
    is_by_class,
    present,
    score_rows,
    unused,
)
from uqcli.api.calibrate import Calibrator
from uqcli.api.fitted import Evaluation, Fitted, Watched, used
from uqcli.api.shift import Shift, shift_artifact
from uqcli.base import defaults
from uqcli.base.choices import Algorithm, AlgorithmChoice, Binning, GroupBound, SampleGoal
from uqcli.base.counts import Bools, Floats
from uqcli.base.defaults import LABEL, SCORE, UNCERTAINTY
from uqcli.base.errors import UsageError
from uqcli.base.exact_numbers import check_size
from uqcli.base.options import Intervals, ResamplingOptions
from uqcli.base.records import dataclass
from uqcli.boundary.certificate_rows import SAMPLED_ABOVE, SAMPLED_BELOW, TEST
from uqcli.boundary.comparison import UncertaintyComparison
from uqcli.boundary.options import ALL_SCORES, AUTO, BoundaryRequest, size_or
from uqcli.boundary.rule import ZONES, BoundaryArtifact, Fit, SavedGroup
from uqcli.boundary.run import run
from uqcli.boundary.search.typed_constraints import constraint_from, with_margin
from uqcli.boundary.search.zones import omission_below, review_limit
from uqcli.engines.open import open_engine
from uqcli.engines.request import PREDICTED, SAMPLED_FOR, SAMPLING_WEIGHT, DataRequest, Inputs
from uqcli.jobs.tables import Column, Decimal, by_name, decimal_text, is_frame, table_of
from uqcli.rules.saved import given
from uqcli.sample.options import SampleRequest
from uqcli.sample.run import prepare


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
    def fit(self) -> Fit:
        """Counts, precision and recall on the calibration set, by weight."""
        return self.artifact.fit

    def decide(
        self, score: Column | Classes, uncertainty: Column | None = None, *, group: Column | None = None
    ) -> Bools:
        """Decide which rows of new data are flagged, or which predictions are accepted."""
        return self._added(self._rule_columns(score, uncertainty, group))["decision"].astype(np.bool_)

    def accepted(self, probability: Classes, uncertainty: Column | None = None) -> list[str | None]:
        """Return the predicted class of each row of new data, or None where it is not accepted."""
        classes: list[str | None] = [*self.artifact.class_names, None]
        if len(classes) == 1:
            raise UsageError("accepted() of a boundary of scores", expected="one of predicted classes")
        predicted = self._added(self._rule_columns(probability, uncertainty, None))["class"]
        return [classes[index] for index in predicted.tolist()]

    def _rule_columns(
        self, score: Column | Classes, uncertainty: Column | None, group: Column | None
    ) -> dict[str, Column | None]:
        """Return the columns by the names that the rule file uses."""
        if not self.artifact.class_names:
            column_by_name = self._input_columns(score, uncertainty)
            return column_by_name if self.artifact.by is None else {**column_by_name, self.artifact.by: group}
        column_by_name = self._class_columns(score)
        if self.artifact.needs_uncertainty:
            own = self.artifact.source.uncertainty or ""
            column_by_name[own] = self._own_uncertainty(uncertainty)
        return column_by_name

    @property
    def review_thresholds(self) -> tuple[float | None, ...] | None:
        """Lowest reviewed score per uncertainty bin: None reviews no row there; None without a review."""
        thresholds = given(self.artifact.review_thresholds)
        return None if thresholds is None else tuple(thresholds)

    @property
    def groups(self) -> Mapping[str, SavedGroup]:
        """Uncertainty edges, thresholds and counts of each group; empty without groups."""
        return self.artifact.group_rules

    def zones(
        self, score: Column | Classes, uncertainty: Column | None = None, *, group: Column | None = None
    ) -> NDArray[np.str_]:
        """Return the zone of each row of new data: flag, review or clear."""
        added = self._added(self._rule_columns(score, uncertainty, group))
        flagged = np.where(added["decision"], ZONES.index("flag"), ZONES.index("clear"))
        zones: NDArray[np.str_] = np.array(ZONES)[added.get("zone", flagged)]
        return zones

    @as_one_run
    def sample(
        self,
        score: Column | Classes,
        uncertainty: Column | None = None,
        *,
        group: Column | None = None,
        goal: str,
        budget: int,
        calibrator: Calibrator | None = None,
        seed: int = defaults.SEED,
    ) -> Floats:
        """Draw the rows of new data to label."""
        frame = table_of(self._rule_columns(score, uncertainty, group))
        chosen = choice("goal", SampleGoal, goal)
        if chosen is SampleGoal.CERTIFICATE:
            raise UsageError("goal certificate of a rule", expected="precision or recall")
        _, data, added = prepare(
            SampleRequest(
                data=DataRequest(inputs=(), frame=frame),
                rule=used(self),
                for_=chosen,
                budget=budget,
                calibrator=None if calibrator is None else used(calibrator),
                intervals=Intervals(seed=seed),
            )
        )
        assert added is not None  # there is a budget
        parts = [added.compute(rows)[SAMPLING_WEIGHT] for rows in open_engine(data.engine).batches(data)]
        return np.concatenate(parts).astype(np.float64, copy=False)

    @as_one_run
    def evaluate(
        self,
        score: Column | Classes,
        label: Column,
        *,
        uncertainty: Column | None = None,
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
        if calibrator is not None and unlabelled is None:
            raise UsageError("calibrator without unlabelled", expected="all rows in unlabelled")
        inputs, own = self._rule_columns(score, uncertainty, group), self.artifact.constraint.worth
        columns = self.artifact.source.columns
        taken = {*inputs, columns.get("label", LABEL), columns.get("weight", WEIGHT)}
        sampling = None
        if sampling_weight is not None:
            sampling, own = unused(SAMPLING_WEIGHT, taken), {}
            inputs = {**inputs, sampling: sampling_weight}
        worth, amounts = _gain_and_cost(taken, **{**own, **present(gain=gain, cost=cost)})
        taken |= {*inputs, *amounts}
        dependent = {CLUSTER: cluster, DAY: day}
        names = {name: unused(name, taken) for name, values in dependent.items() if values is not None}
        every = self._every(unlabelled, {"by": by, "weight": weight}, names)
        return self._measured(
            {**inputs, **amounts},
            label,
            weight,
            by,
            audit,
            cluster=cluster,
            day=day,
            utility=constraint_from(**worth) if worth else None,
            shift=shift_artifact(shift),
            resampling=ResamplingOptions(confidence=confidence, seed=seed),
            sampling_weight=sampling,
            unlabelled=every,
            calibrator=None if calibrator is None else used(calibrator),
        )

    def _every(
        self,
        unlabelled: Mapping[str, Column] | None,
        others: Mapping[str, Column | None],
        more: Mapping[str, str],
    ) -> Inputs | None:
        """Return the table of all rows, if given; ``more`` names further columns that it must have.

        Raises UsageError if a column is of another name, or an argument is given that all rows would need
        also.
        """
        if unlabelled is None:
            return None
        expected, needed = ("score", "uncertainty", "group"), ("score", *more)
        if not {*needed} <= {*unlabelled} <= {*expected, *more}:
            has = ", ".join(unlabelled) or "no column"
            raise UsageError(f"unlabelled has {has}", expected=" and ".join(needed))
        for name, values in others.items():
            if values is not None:
                raise UsageError(f"unlabelled and {name} cannot be combined", remedy="leave one of them out")
        further = {column: unlabelled[name] for name, column in more.items()}
        return table_of({**self._rule_columns(*map(unlabelled.get, expected)), **further})

    @as_one_run
    def watch(
        self,
        score: Column | Classes,
        label: Column,
        *,
        uncertainty: Column | None = None,
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
        return self._watched(
            self._rule_columns(score, uncertainty, group),
            label,
            weight,
            day,
            state,
            bound=bound,
            delta=delta,
            cluster=cluster,
            matured=matured,
            run_length=run_length,
        )


def _dependent_rows(cluster: Column | None, day: Column | None) -> dict[str, Column]:
    """Return the column of dependent rows by name; empty if they are independent."""
    dependent = present(**{CLUSTER: cluster, DAY: day})
    if len(dependent) > 1:
        raise UsageError("cluster and day cannot be combined", remedy="leave one of them out")
    return dependent


def _uncertainties(uncertainty: Column | Mapping[str, Column] | None) -> dict[str, Column]:
    """Return the uncertainties by name; a single one has a name of its own."""
    if uncertainty is None:
        return {}
    return by_name(uncertainty) if is_frame(uncertainty) else {UNCERTAINTY: uncertainty}


@as_one_run
def find_boundary(
    score: Column | Classes,
    label: Column,
    *,
    uncertainty: Column | Mapping[str, Column] | None = None,
    weight: Column | None = None,
    group: Column | None = None,
    cluster: Column | None = None,
    day: Column | None = None,
    classes: Sequence[str] | None = None,
    precision: Decimal | None = None,
    recall: Decimal | None = None,
    max_selected: Decimal | None = None,
    max_fpr: Decimal | None = None,
    min_specificity: Decimal | None = None,
    max_omission: Decimal | None = None,
    gain: Decimal | Column | None = None,
    cost: Decimal | Column | None = None,
    review: Decimal | None = None,
    miss: Decimal | None = None,
    bound: GroupBound | str = defaults.GROUP_BOUND,
    min_group: int = defaults.MIN_GROUP_ROWS,
    algorithm: AlgorithmChoice | str | None = None,
    binning: Binning | str | None = None,
    uncertainty_bins: int | Literal["auto"] | None = None,
    score_bins: int | Literal["all"] = defaults.SCORE_BINS,
    shift: Shift | None = None,
    certify: Decimal | None = None,
    pilot: Mapping[str, Column] | None = None,
    sampled_above: float | None = None,
    sampled_below: float | None = None,
    margin: Decimal | None = None,
    compare: bool = False,
    seed: int = defaults.SEED,
) -> Boundary:
    """Find the best decision boundary on score x uncertainty under a constraint [UB sec. 5]."""
    bounds = {
        "precision": precision,
        "recall": recall,
        "max_selected": max_selected,
        "max_fpr": max_fpr,
        "min_specificity": min_specificity,
        "max_omission": max_omission,
    }
    typed = {name: None if value is None else decimal_text(name, value) for name, value in bounds.items()}
    omission = omission_below(typed)
    names = (SCORE, UNCERTAINTY, LABEL, WEIGHT, GROUP, CLUSTER, DAY)
    worth, amounts = _gain_and_cost(names, gain=gain, cost=cost)
    uncertainties = _uncertainties(uncertainty)
    first_uncertainty = next(iter(uncertainties), None)
    dependent = _dependent_rows(cluster, day)
    more = {**present(**{GROUP: group}), **amounts, **dependent}
    for name, edge in ((SAMPLED_ABOVE, sampled_above), (SAMPLED_BELOW, sampled_below)):
        if edge is not None:
            if certify is None:
                raise UsageError(f"{name} is given without certify", remedy="add certify")
            more |= {name: np.full(len(label), edge), SAMPLED_FOR: [TEST] * len(label)}
    if not isinstance(min_group, int):
        raise UsageError(f"min_group {min_group!r}", expected="a whole number of rows")
    by = None if group is None else GROUP
    if is_by_class(score):
        if group is not None:
            raise UsageError(
                "group and class probabilities cannot be combined", remedy="leave one of them out"
            )
        data = class_rows(score, label, classes=classes, weight=weight, more={**uncertainties, **more})
        data, by = data.as_predictions(first_uncertainty), PREDICTED
    else:
        data = score_rows(score, label, weight=weight, more={**uncertainties, **more})
        if first_uncertainty is not None:
            data = data.with_uncertainty(first_uncertainty)
    bins = 1 if uncertainty is None else uncertainty_bins
    result = run(
        BoundaryRequest(
            data=data.grouped_by(by).clustered_by(next(iter(dependent), None), days=day is not None),
            constraint=with_margin(
                constraint_from(**typed, **worth), None if margin is None else decimal_text("margin", margin)
            ),
            limit=review_limit(
                review=None if review is None else decimal_text("review", review),
                miss=None if miss is None else decimal_text("miss", miss),
                max_omission=omission,
            ),
            by=by,
            bound=choice("bound", GroupBound, bound),
            min_group=check_size("min_group", min_group, defaults.MAX_ROWS),
            algorithm=None if algorithm is None else choice("algorithm", AlgorithmChoice, algorithm),
            binning=None if binning is None else choice("binning", Binning, binning),
            uncertainty_bins=None if bins is None else size_or(AUTO)("uncertainty_bins", str(bins)),
            score_bins=size_or(ALL_SCORES)("score_bins", str(score_bins)),
            shift=shift_artifact(shift),
            certify=None if certify is None else decimal_text("certify", certify),
            pilot=None if pilot is None else table_of(by_name(pilot)),
            compared=tuple(uncertainties) if compare or len(uncertainties) > 1 else (),
            seed=seed,
        )
    )
    if result.artifact is None:
        raise result.failure or AssertionError("no boundary and no reason")
    notes, compared = tuple(result.report.payload()["notes"]), result.report.compared
    return Boundary(
        artifact=result.artifact,
        notes=notes,
        report=result.report,
        compared=compared[0] if compared else None,
        comparisons={column.uncertainty: column for column in compared},
    )


def _gain_and_cost(
    taken: Collection[str], **values: Decimal | Column | None
) -> tuple[dict[str, str], dict[str, Column]]:
    """Return numbers as text, and names of columns, by role (``gain``, ``cost``); and the columns by name.

    The names differ from those that are taken.
    """
    texts: dict[str, str] = {}
    columns: dict[str, Column] = {}
    for role, value in present(**values).items():
        if isinstance(value, Decimal):
            texts[role] = decimal_text(role, value)
        else:
            texts[role] = unused(role, {*taken, *columns})
            columns[texts[role]] = value
    return texts, columns
