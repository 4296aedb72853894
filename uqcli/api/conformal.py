"""Find prediction sets from arrays."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, ClassVar

import numpy as np

from uqcli.api.arguments import CLUSTER, GROUP, Classes, as_one_run, choice, class_rows, in_order, present
from uqcli.api.fitted import Evaluation, Fitted, Watched
from uqcli.api.shift import Shift, shift_artifact
from uqcli.base import defaults
from uqcli.base.choices import ConformalMethod, ConformalMode
from uqcli.base.counts import Bools, Floats
from uqcli.base.options import ResamplingOptions
from uqcli.base.records import dataclass
from uqcli.conformal.options import ConformalRequest
from uqcli.conformal.rule import ConformalArtifact
from uqcli.conformal.run import run
from uqcli.engines.request import PROBA
from uqcli.jobs.tables import Column, Decimal, decimal_text


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

    def sets(self, probability: Classes, *, group: Column | None = None, no_empty: bool = False) -> Bools:
        """Compute the prediction set of each row.

        Parameters
        ----------
        probability : shape (n, C), or (n,) for the probability of label 1
        group : shape (n,)
            Required if groups have their own thresholds.
        no_empty
            Whether empty sets get the most probable class; this never lowers coverage.

        Returns
        -------
        bool, shape (n, C)

        Raises
        ------
        DataError
            A value is invalid, or a column is missing.
        """
        columns = self._input_columns(probability, group)
        return self._added(columns, no_empty=no_empty)["set"].astype(np.bool_)

    @as_one_run
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
        """Measure coverage and size of the prediction sets on a test set, and test the guarantee.

        Same as ``uqcli evaluate``.

        Parameters
        ----------
        probability, group
            As in ``sets``.
        label : shape (n,)
            Class names or class indices.
        weight : non-negative integers, shape (n,), optional
        by : texts or integers, shape (n,), optional
            Groups to measure and test separately; see ``Evaluation.groups``.
        cluster : texts or integers, shape (n,), optional
            Customer, session or patient of each row; rows of one depend on each other.
        audit
            Columns by name, each of shape (n,): every value, and every pair of values of two columns, is
            tested; see ``Evaluation.segments``.
        shift
            Class weights of target data, to measure the coverage there also.

        Raises
        ------
        UsageError, DataError
            An option or a value is out of range.
        """
        return self._measured(
            self._input_columns(probability, group),
            label,
            weight,
            by,
            audit,
            cluster=cluster,
            shift=shift_artifact(shift),
            resampling=ResamplingOptions(confidence=confidence, seed=seed),
        )

    @as_one_run
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
        """Test what the sets promise as labels arrive, whatever the number of looks.

        Same as ``uqcli watch``; an alarm is no error.

        Parameters
        ----------
        probability, group
            As in ``sets``.
        label : class names, or class indices, shape (n,)
        weight : non-negative integers, shape (n,), optional
            Multiplicity of each row.
        day : dates, texts or numbers, shape (n,), optional
            Days such as 2026-03-31, or other keys that sort, each counted once.
        cluster : texts or integers, shape (n,), optional
            Customer of each row. All rows of a customer's first batch count, those of later batches do not.
        matured
            Days after which the labels of a day are complete; of keys that are no dates, the number of newest
            ones that wait.
        state
            Path of a file with the counts of earlier rows; it is locked and replaced.
        bound
            Bound to watch in place of the own one.
        delta, run_length
            Risk of a false alarm over the lifetime, and mean number of batches until a false change alarm.

        Raises
        ------
        UsageError, DataError, ArtifactError
            An option or a value is out of range, or the state is that of another rule.
        """
        return self._watched(
            self._input_columns(probability, group),
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

    def _input_columns(self, probability: Classes, group: Column | None) -> dict[str, Column | None]:
        """Return the columns by the names that the rule file uses."""
        single = "score" in self.artifact.source.columns
        if not single:
            probability = in_order(probability, self._probability_columns(), self.classes)
        frame = class_rows(probability, classes=None if single else self.classes).frame
        assert frame is not None  # built from columns
        columns: dict[str, Column | None] = dict(
            zip(self._probability_columns(), frame.iter_columns(), strict=True)
        )
        if self.artifact.groups is not None:
            columns[self.artifact.groups.column] = group
        return columns

    def _probability_columns(self) -> list[str]:
        columns = self.artifact.source.columns
        roles = ["score"] if "score" in columns else [f"{PROBA}{name}" for name in self.classes]
        return [columns[role] for role in roles]


@as_one_run
def conformal_sets(
    probability: Classes,
    label: Column,
    *,
    alpha: Decimal = defaults.MISCOVERAGE,
    classes: Sequence[str] | None = None,
    weight: Column | None = None,
    group: Column | None = None,
    cluster: Column | None = None,
    method: ConformalMethod | str = defaults.CONFORMAL_METHOD,
    mode: ConformalMode | str = defaults.CONFORMAL_MODE,
    alpha_by_class: Mapping[str, Decimal] | None = None,
    shift: Shift | None = None,
    target: Classes | None = None,
    randomize: bool = True,
    seed: int = defaults.SEED,
) -> ConformalSets:
    """Find thresholds of prediction sets that contain the true class with probability 1 - alpha [LS sec. 3].

    Same as ``uqcli conformal``.

    Parameters
    ----------
    probability : shape (n, C), or (n,) for the probability of label 1
        Calibration set that the model has not seen: an array, or a data frame with one column per class.
    label : shape (n,)
        Class names or class indices.
    alpha
        Decimal in (0, 1) as text, a Fraction, or a float, read as it prints.
    group : shape (n,)
        Groups with their own thresholds, in mode marginal.
    cluster : shape (n,)
        Customer of each row; the guarantee is then for a row drawn at random from a new one.
    shift, target
        For mode label-shift: class weights, or unlabelled target data to estimate them from.

    Raises
    ------
    UsageError, DataError
        An option or a value is out of range.
    InfeasibleError
        The class weights are not identified.

    Examples
    --------
    >>> found = conformal_sets([0.1, 0.2, 0.8, 0.9], [0, 0, 1, 1], alpha="0.4", method="lac")
    >>> found.sets([0.05, 0.95]).tolist()
    [[True, False], [False, True]]
    """
    more = present(**{GROUP: group, CLUSTER: cluster})
    result = run(
        ConformalRequest(
            data=class_rows(probability, label, classes=classes, weight=weight, more=more).clustered_by(
                None if cluster is None else CLUSTER
            ),
            method=choice("method", ConformalMethod, method),
            mode=choice("mode", ConformalMode, mode),
            alpha=decimal_text("alpha", alpha),
            alpha_by_class={
                str(name): decimal_text("alpha", value) for name, value in (alpha_by_class or {}).items()
            },
            no_randomize=not randomize,
            seed=seed,
            by=None if group is None else GROUP,
            shift=shift_artifact(shift),
            target=None if target is None else class_rows(target, classes=classes).frame,
        )
    )
    if result.artifact is None:
        raise result.failure or AssertionError("no sets and no reason")
    notes = tuple(result.report.payload()["notes"])
    return ConformalSets(artifact=result.artifact, notes=notes, report=result.report)
