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
        """Compute the prediction set of each row."""
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
        """Measure coverage and size of the prediction sets on a test set, and test the guarantee."""
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
        """Test what the sets promise as labels arrive, whatever the number of looks."""
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
    """Find thresholds of prediction sets that have the true class with probability 1 - alpha [LS sec. 3]."""
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
