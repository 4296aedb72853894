"""Kind ``conformal``: prediction sets with guaranteed coverage."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from typing import Annotated, ClassVar, Final

import msgspec
import numpy as np
from msgspec import Meta

from uqcli.base.choices import ConformalMethod, ConformalMode, OnInvalid
from uqcli.base.counts import Bools, Floats, Ints
from uqcli.base.defaults import FORMAT_VERSION
from uqcli.base.draws import Purpose, uniforms
from uqcli.base.errors import DataError, UsageError
from uqcli.base.exact_numbers import decimal
from uqcli.base.rows import Rows
from uqcli.base.wording import count, exact_number, printable
from uqcli.conformal.coverage import SCORES, coverage_chances, rank_of
from uqcli.conformal.groups import NoGroups, SavedGroups
from uqcli.engines.probabilities import SUM_TOLERANCE, positions_of, probabilities
from uqcli.engines.protocol import AddedColumns, ColumnType
from uqcli.engines.request import PROBA, FeatureRequest, Roles
from uqcli.reports.document import Document, Metrics, Table
from uqcli.rules.columns import NewColumns
from uqcli.rules.expressions import (
    Case,
    Column,
    Comparison,
    Constant,
    Expression,
    Formula,
    NamedValues,
    Output,
    minus,
    total,
)
from uqcli.rules.saved import (
    Count,
    Saved,
    SavedDependence,
    are_weights,
    columns_of_classes,
    given,
    promise_name,
)

_UNIT = 2.0**-24
"""Distance of 32-bit numbers near 1, where sums of probabilities are compared."""

_MAX_ROWS = 60
_ON_AVERAGE = (
    "This is an average over calibration sets, so the coverage of one rule may be a little higher or lower."
)


NEW_FORMAT: Final = 2
"""Format of aps thresholds for which a class of probability 0 scores 2, above all others; it was 1."""


def format_of(method: ConformalMethod, thresholds: Sequence[Sequence[float]]) -> int:
    """Return the format: the new one if an earlier version might put a class of probability 0 into a set.

    Such a class scored the sum of the row's other probabilities, which is 1 within a tolerance.
    """
    largest = max(threshold for row in thresholds for threshold in row)
    is_new = method is ConformalMethod.APS and largest >= 1 - 2 * SUM_TOLERANCE
    return NEW_FORMAT if is_new else FORMAT_VERSION


class ConformalParameters(msgspec.Struct, frozen=True, kw_only=True):
    """Options of prediction sets; alphas as typed."""

    method: ConformalMethod
    mode: ConformalMode
    alpha: str
    alpha_by_class: dict[str, str] | None
    randomize: bool
    seed: Count
    by: str | None
    on_invalid: OnInvalid
    positive: str | None


class ConformalArtifact(Saved, frozen=True, kw_only=True):
    """Prediction sets: class y is in the set of x iff its non-conformity score is at most its threshold.

    ``calibration_rows``: weight of each class's calibration rows; None in files of version 0.1.0.
    ``dependence``: how the coverage of calibration rows depends on their day or cluster, by the name of a
    class, group, or of all rows.
    """

    parameters: ConformalParameters
    method: ConformalMethod
    mode: ConformalMode
    alpha: Annotated[float, Meta(gt=0, lt=1)]
    classes: Annotated[list[str], Meta(min_length=2)]
    thresholds: Annotated[list[float], Meta(min_length=2)]
    weights: list[float] | None
    groups: SavedGroups | None
    calibration_rows: list[Count] | None = None
    dependence: SavedDependence | msgspec.UnsetType = msgspec.UNSET

    has_sets: ClassVar[bool] = True
    newest_format: ClassVar[int] = NEW_FORMAT

    @property
    def every_label(self) -> float:
        """Threshold at which a class is in every set."""
        return SCORES[self.method].every_label if self.format_version == NEW_FORMAT else 1.0

    @property
    def by_group(self) -> SavedGroups | NoGroups:
        """Thresholds by group, if there are any."""
        return self.groups or NoGroups()

    @property
    def positive_label(self) -> str | None:
        """See Saved."""
        return self.parameters.positive

    def independent_rows(self, part: str | None, rows: int) -> int:
        """Return how many independent rows the calibration rows of a class or group, or all, count as."""
        dependence = given(self.dependence)
        sums = dependence and dependence.promises.get(promise_name("coverage", part))
        return math.floor(rows / max(1.0, sums.q / sums.n)) if sums and sums.n else rows

    @property
    def rows_of_thresholds(self) -> dict[str | None, int]:
        """Independent calibration rows of each class's or group's threshold, or of that of all rows."""
        names: Sequence[str | None]
        if self.groups:
            names, rows = self.groups.names, self.groups.calibration_rows
        elif self.mode is ConformalMode.LABEL_CONDITIONAL:
            names, rows = self.classes, self.calibration_rows
        else:
            names, rows = [None], [sum(self.calibration_rows)] if self.calibration_rows else None
        known = rows or [self.source.rows // len(names)] * len(names)
        return {name: self.independent_rows(name, count) for name, count in zip(names, known, strict=True)}

    def chances(self, column: str, name: str | None = None, share: float = 1.0) -> Floats:
        """Return equally likely coverages of new rows that are like the calibration rows.

        They are those of a value of a column: the threshold of all of its rows may be the one that rests on
        the fewest calibration rows, unless the rule has a threshold of its own for them. If the rule does not
        know how its calibration rows depend on each other, ``share`` of them count as independent.
        """
        alpha, rows = decimal("alpha", self.parameters.alpha), self.rows_of_thresholds
        if name in rows and self.groups and self.groups.column == column:
            fewest = rows[name]
        else:  # of too few rows, every set has the label
            fewest = min((count for count in rows.values() if rank_of(count, alpha) <= count), default=0)
        if not given(self.dependence):
            fewest = math.floor(fewest * share)
        return coverage_chances(fewest, alpha)

    @property
    def class_names(self) -> Sequence[str]:
        """See Saved: empty if a single score is the probability of the positive label."""
        return () if "score" in self.columns else self.classes

    def contradiction(self) -> str:
        """See Saved."""
        classes = self.classes
        threshold_rows = [self.thresholds, *self.by_group.thresholds]
        if any(len(row) != len(classes) for row in threshold_rows) or len(set(classes)) < len(classes):
            return "it does not have a threshold for each class"
        if not all(0 <= threshold <= self.every_label for row in threshold_rows for threshold in row):
            return f"a threshold is not between 0 and {self.every_label:g}"
        if self.calibration_rows is not None and len(self.calibration_rows) != len(classes):
            return "it does not have calibration rows for each class"
        in_groups = self.by_group.contradiction(self.parameters.by)
        return in_groups or self._in_guarantee() or columns_of_classes(self.columns, classes)

    def _in_guarantee(self) -> str:
        parameters = self.parameters
        if (parameters.method, parameters.mode) != (self.method, self.mode):
            return "its method and mode are not those of its parameters"
        try:
            first, *_ = (
                decimal("alpha", alpha, above=0, below=1)
                for alpha in (parameters.alpha, *(parameters.alpha_by_class or {}).values())
            )
        except UsageError as error:
            return str(error)
        if float(first) != self.alpha:
            return "its alpha is not that of its parameters"
        if self.mode is ConformalMode.MARGINAL and len(set(self.thresholds)) > 1:
            return "thresholds of mode marginal differ"
        return self._in_weights()

    def _in_weights(self) -> str:
        weights = self.weights
        if (weights is None) == (self.mode is ConformalMode.LABEL_SHIFT):
            return "class weights belong to mode label-shift"
        if weights is not None and (len(weights) != len(self.classes) or not are_weights(weights)):
            return "its class weights are not one for each class, finite and not all 0"
        return ""

    def features(self) -> tuple[FeatureRequest, ...]:
        """See Saved: the group column."""
        return self.by_group.features()

    def nearly(self, roles: Roles) -> Callable[[Rows], Bools]:
        """Build a function from checked rows to whether their sets change within one 32-bit unit.

        Sums of 32-bit probabilities differ from sums of their texts, by at most so much. No set of lac does.
        """
        if self.method is ConformalMethod.LAC:
            return lambda rows: np.zeros(len(rows), dtype=np.bool_)
        fewer, more = self.sets(roles, wider=-_UNIT), self.sets(roles, wider=_UNIT)

        def changes(rows: Rows) -> Bools:
            changed: Bools = (fewer(rows) != more(rows)).any(axis=1)
            return changed

        return changes

    def sets(
        self, roles: Roles, *, no_empty: bool = False, wider: float = 0.0
    ) -> Callable[[Rows], np.ndarray]:
        """Build a function from checked rows to prediction sets, masks of shape (rows, C).

        With ``no_empty``, empty sets get the most probable class (the first of ties); this never lowers
        coverage. Thresholds are ``wider`` by a small number, but from 1 on: they hold all that is possible.
        """
        threshold_rows = np.array([*self.by_group.thresholds, self.thresholds])
        threshold_rows += np.where(threshold_rows < 1, wider, 0.0)
        randomised = self.parameters.randomize and self.method is ConformalMethod.APS
        score = SCORES[self.method]
        sets_of = score.sets if self.format_version == NEW_FORMAT else score.sets_of_format_1

        def sets(rows: Rows) -> np.ndarray:
            probability = rows.filled(probabilities(rows, roles), 0.0)  # 0 in invalid rows
            uniform: Floats = np.ones(len(rows))
            if randomised:
                uniform = uniforms(positions_of(rows), self.parameters.seed, Purpose.APPLY)
            inside = sets_of(probability, self.by_group.of_rows(threshold_rows, rows), uniform)
            if no_empty:
                empty = ~inside.any(axis=1)
                inside[empty, probability[empty].argmax(axis=1)] = True
            return inside

        return sets

    def group_of(self, rows: Rows) -> Ints | None:
        """Return the group index of each row, the last one for unknown groups; None without groups."""
        return self.groups.of_row(rows) if self.groups else None

    def adds(self, roles: Roles, new_columns: NewColumns) -> AddedColumns:
        """See Saved: a list of classes, or one column per class, and the set size."""
        sets = self.sets(roles, no_empty=new_columns.no_empty)
        size = f"{new_columns.prefix}set_size"
        if new_columns.lists:
            name = f"{new_columns.prefix}set"

            def listed(rows: Rows) -> dict[str, Bools | Ints]:
                inside = sets(rows)
                return {name: inside, size: inside.sum(axis=1)}

            types: dict[str, ColumnType] = {name: "labels", size: "int64"}
            return AddedColumns(types=types, labels=tuple(self.classes), compute=listed)
        names = [f"{new_columns.prefix}in_{name}" for name in self.classes]
        if len({*names, size}) < len(names) + 1:
            raise DataError("two classes give one column", expected="other names of the classes")

        def flagged(rows: Rows) -> dict[str, Bools | Ints]:
            inside = sets(rows)
            return {**dict(zip(names, inside.T, strict=True)), size: inside.sum(axis=1)}

        flags: dict[str, ColumnType] = {**dict.fromkeys(names, "bool"), size: "int64"}
        return AddedColumns(types=flags, compute=flagged)

    def formula(self) -> Formula:
        """See Saved: lac decides on each class by itself."""
        if self.method is not ConformalMethod.LAC:
            raise UsageError(
                f"prediction sets of method {self.method} order the classes of each row",
                expected="method lac, whose sets decide on each class by itself",
            )
        if self.class_names:
            columns = tuple(Column(name=self.columns[f"{PROBA}{name}"]) for name in self.class_names)
            probabilities: tuple[Expression, ...] = columns
        else:
            score = Column(name=self.columns["score"])
            columns, probabilities = (score,), (minus(Constant(1.0), score), score)
        inside: list[Expression] = [
            Comparison("<=", minus(Constant(1.0), probability), self.by_group.exported(index, threshold))
            for index, (probability, threshold) in enumerate(zip(probabilities, self.thresholds, strict=True))
        ]
        named, required = NamedValues(), tuple(column.name for column in columns)
        if self.class_names:
            inside = [named.name(condition, "inside") for condition in inside]
        of_classes = zip(self.classes, inside, strict=True)
        size = total([Case(((condition, Constant(1)),), Constant(0)) for condition in inside])
        return Formula(
            inputs=(*columns, *(group for group in self.by_group.columns() if group.name not in required)),
            required=required,
            named=tuple(named.values),
            ranges={} if self.class_names else {columns[0].name: (0.0, 1.0)},
            shares=required if self.class_names else (),
            roles=self.arguments(),
            outputs=(
                *(Output(name=f"in_{name}", kind="bool", value=value) for name, value in of_classes),
                Output(name="set_size", kind="integer", value=size),
            ),
        )

    def metrics(self) -> Metrics:
        """See Saved: counts of the calibration set."""
        return {"rows": self.source.rows, "dropped": self.source.dropped, "classes": len(self.classes)}

    def document(self) -> Document:
        """See Saved."""
        return Document(
            title=f"Prediction sets ({self.in_short()})",
            tables=self.tables(),
            lead=[self.guarantee()],
            notes=[f"{self.made_from()}, {count(self.source.dropped)} dropped."],
        )

    def in_a_sentence(self) -> str:
        """See Saved: with its guarantee."""
        return f"{super().in_a_sentence()}. {self.guarantee().rstrip('.')}"

    def in_short(self) -> str:
        """Describe the rule by method, mode and alpha."""
        return f"{self.method}, {self.mode}, alpha {self.parameters.alpha}"

    def guarantee(self) -> str:
        """State the guarantee."""
        if self.unsealed:
            return f"No guarantee: {self.unsealed}."
        percent = f"{100 * (1 - self.alpha):g} %"
        by_mode = {
            "marginal": "over all classes together (a single class may have less)",
            "label-conditional": "in each class"
            + (" (or as its own alpha says)" if self.parameters.alpha_by_class else ""),
            "label-shift": "of the target data, if the class weights are right",
        }[self.mode]
        whom = self.by_group.where_covered(by_mode)
        return f"The guaranteed coverage is {percent} {whom}. {_ON_AVERAGE}{self._of_clusters()}"

    def _of_clusters(self) -> str:
        """State which row of a cluster the guarantee is for; empty if rows are independent."""
        if "cluster" not in self.source.columns:
            return ""
        return " It is for a row drawn at random from a new cluster."

    def guaranteed_of(self, name: str) -> float:
        """Return the guaranteed coverage of a class."""
        own = (self.parameters.alpha_by_class or {}).get(name)
        return 1 - (self.alpha if own is None else float(own))

    def tables(self, rows_of_class: Sequence[int] = ()) -> list[Table]:
        """Tabulate thresholds by class, and by group if there are any.

        ``rows_of_class`` are the calibration rows of each class, by weight, as a further column; none for no
        column.
        """
        if groups := self.groups:
            by_group = list(zip(groups.names, groups.thresholds, strict=True))[:_MAX_ROWS]
            rows = [(printable(name), exact_number(thresholds[0])) for name, thresholds in by_group]
            others = ("(any other)", exact_number(self.thresholds[0]))
            return [Table(title="", header=(str(groups.column), "threshold"), rows=[*rows, others])]
        if self.mode is ConformalMode.MARGINAL:
            threshold = exact_number(self.thresholds[0])
            cells = {"threshold": threshold, "classes": count(len(self.classes))}
            cells |= {"rows": count(sum(rows_of_class))} if rows_of_class else {}
            return [Table(title="", header=[*cells], rows=[[*cells.values()]], left=0)]
        return [self._threshold_of_each(rows_of_class)]

    def _threshold_of_each(self, rows_of_class: Sequence[int]) -> Table:
        columns = {
            "class": [printable(name) for name in self.classes],
            "threshold": [exact_number(threshold) for threshold in self.thresholds],
            "weight": [f"{weight:.4f}" for weight in self.weights or ()],
            "rows": [count(rows) for rows in rows_of_class],
        }
        shown = {name: cells for name, cells in columns.items() if cells}
        rows = list(zip(*shown.values(), strict=True))[:_MAX_ROWS]
        return Table(title="", header=list(shown), rows=rows)
