"""Validate rows on the cluster with a single aggregation."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import field
from operator import and_, or_
from types import MappingProxyType
from typing import TYPE_CHECKING, Any, Final

import numpy as np

from uqcli.base.amounts import LARGEST_SUM, UNITS, is_no_amount, refuse_amounts, refuse_sum
from uqcli.base.choices import OnInvalid
from uqcli.base.counts import codes_of_texts
from uqcli.base.defaults import MAX_ROWS
from uqcli.base.errors import DataError, UsageError, Words, words
from uqcli.base.records import dataclass
from uqcli.base.running.left_out import LeftOut
from uqcli.base.running.messages import caution, leave_out, suspect
from uqcli.engines import refusals
from uqcli.engines.columns import identifying_columns
from uqcli.engines.probabilities import PROBABILITY_ADVICE, SUM_TOLERANCE, class_advice, is_no_probability
from uqcli.engines.protocol import GroupSize, SourceSummary
from uqcli.engines.repeated_rows import (
    MAX_POOLED,
    MAX_SAMPLED,
    MAX_VALUES,
    SharedRows,
    WeightSummary,
    repeated_caution,
    shared_caution,
)
from uqcli.engines.request import PREDICTED, PROBA, DataRequest, FeatureRequest, Roles
from uqcli.engines.spark.days import Days, date_of_feature, date_of_key
from uqcli.engines.spark.read import (
    ClusterInput,
    Column,
    F,
    Frame,
    only_row,
    opened,
    pairwise,
    quoted,
    together,
)
from uqcli.engines.spark.session import spark_errors
from uqcli.engines.spark.values import (
    class_of,
    first_labels,
    key_of,
    label_of,
    number_of,
    oddity_of,
    text_of,
    with_labels,
)

if TYPE_CHECKING:
    from pyspark.sql import SparkSession
    from pyspark.sql.types import DataType

_ODDITY = "odd"
"""Column that says how Spark misread a row of a file; null if it did not."""

_PLACEHOLDER = "ey"
"""Column of the texts of negative labels that may mean a missing one."""

_TAIL_SHARE = 1e-4
"""Fraction of the rows at either end that need no narrow ranges."""


@dataclass(frozen=True, kw_only=True)
class FrameColumns:
    """Columns of each role, key, and feature of known levels; and of amounts, in their order."""

    names: Mapping[str, str]
    keys: Mapping[str, str]
    features: Mapping[str, str]
    amounts: tuple[str, ...] = ()


@dataclass(frozen=True, kw_only=True)
class CheckedFrame:
    """Usable rows of positive weight on the cluster.

    Attributes
    ----------
    frame
        Columns ``n0``, ``n1``, ... (double) for numbers, ``f0``, ... (double) for features, ``y`` (long: 1
        or 0, or the class index; 0 without a label), ``w`` (long), ``g0``, ... (string) for keys, and
        ``a0``, ... (long) for amounts, in units times weight. For predictions, also ``score`` (double) and
        ``class`` (string).
    columns
        Names of these columns.
    unnormalised
        See uqcli.engines.protocol.ReadRows.
    rows
        Number of rows, unweighted.
    spans
        Approximate minimum and maximum of each role, without a few rows at either end, and number of
        distinct values; they affect speed only.
    usable
        Columns ``y``, ``w``, ``g0``, ... of all usable rows, whatever their weight.
    levels
        Sorted group texts of the keys queried so far.
    sizes
        Rows of each group and their total weight, for the keys queried so far.
    """

    frame: Frame
    roles: Roles
    columns: FrameColumns
    unnormalised: float
    summary: SourceSummary
    spans: Mapping[str, tuple[float, float, int]]
    rows: int
    size: int
    usable: Frame
    levels: dict[str, tuple[str, ...]] = field(default_factory=dict)
    sizes: dict[str, Mapping[str, tuple[GroupSize, int]]] = field(default_factory=dict)


def checked(session: SparkSession, request: DataRequest) -> CheckedFrame:
    """Check all rows: of columns that this engine supports, usable, and at least one."""
    inputs, roles = opened(session, request, with_labels)
    check = Check(request=request, roles=roles)
    weights = roles.ignored_weights([source.columns for source in inputs])
    weight = F.when(F.col("ok"), F.col("c0"))
    ends = [F.min(weight).alias("least_weight"), F.max(weight).alias("most_weight")] if weights else []
    with spark_errors("check the rows"):
        frame = check.converted(check.frame(inputs, weights))
        answers = only_row(frame.agg(*check.aggregations(), *ends))
    check.judge(answers)
    result = check.result(frame, answers)
    left_out = LeftOut(
        rows=answers["rows"],
        dropped=result.summary.dropped,
        unlabelled=result.summary.unlabelled,
        reasons=check.reasons(answers),
    )
    leave_out(request.inputs, left_out)
    if left_out.is_doubtful:
        caution("rows-left-out", left_out.caution())
    if result.summary.unlabelled:
        caution("unlabelled-rows", refusals.unlabelled(result.summary.unlabelled))
    column, positive_value = roles.label or "", request.positive_value or ""
    if check.lacks_positive(answers):
        caution(
            "no-positive", refusals.without_positive(positive_value, column, first_labels(inputs, column))
        )
    if text := answers.get(_PLACEHOLDER):
        caution("label-placeholder", refusals.placeholder(column, text, positive_value))
    if roles.weight is not None and (caution_text := _weights_seen(result).caution()):
        caution("unclear-weights", caution_text)
    if roles.label is not None and 1 < len(inputs) <= MAX_POOLED:
        _caution_of_shared_rows(check, inputs)
    if roles.may_depend and (caution_text := _repeated(result)):
        suspect("repeated-rows", caution_text)
    if caution_text := roles.forgotten_cluster(inputs[0].columns):
        caution("forgotten-cluster", caution_text)
    if weights and answers["least_weight"] != answers["most_weight"]:
        caution("unequal-sampling", request.unequal_weights())
    return result


def _repeated(checked: CheckedFrame) -> str:
    """Return the caution if most rows repeat the score and the uncertainty of another row."""
    names = [checked.columns.names[role] for role in ("score", "uncertainty")]
    with spark_errors("look for repeated rows"):
        pairs = checked.frame.groupBy(*names).agg(F.count(F.lit(1)).alias("rows"))
        repeated = F.sum(F.when(F.col("rows") > 1, F.col("rows")).otherwise(0)).alias("repeated")
        answer = only_row(pairs.agg(F.count(F.lit(1)).alias("pairs"), repeated))
    return repeated_caution(int(answer["pairs"]), int(answer["repeated"] or 0), checked.rows)


def _caution_of_shared_rows(check: Check, inputs: Sequence[ClusterInput]) -> None:
    """Caution if several inputs contain the same rows, as the local engine does."""
    columns = identifying_columns([source.columns for source in inputs], check.roles)
    shared = SharedRows(columns=columns, inputs=len(inputs))
    keys = [f"c{index}" for index in range(len(columns))]
    rows = together(
        [
            check.frame((source,), columns).where("ok").withColumn("source", F.lit(index))
            for index, source in enumerate(inputs)
        ]
    )
    with spark_errors("look for rows that inputs share"):
        if not columns:
            numbers = F.sum(F.xxhash64(*check.names.values()).cast("decimal(38,0)")).cast("string")
            sizes = rows.groupBy("source").agg(
                F.count(F.lit(1)).alias("rows"), F.sum("y").alias("labels"), numbers.alias("numbers")
            )
            for answer in sizes.toArrow().to_pylist():
                digest = int(answer["numbers"]) % 2**64
                shared.sizes[answer["source"]] = (answer["rows"], answer["labels"], digest)
            if caution_text := shared.caution():
                caution("shared-rows", caution_text)
            return
        texts = [F.col(key).cast("string").alias(key) for key in keys]
        by_source = (
            rows.select(*texts, "source", "y")
            .groupBy(*keys, "source")
            .agg(F.count(F.lit(1)).alias("rows"), F.min("y").alias("y"))
        )
        by_key = by_source.groupBy(*keys).agg(
            ((F.count(F.lit(1)) > 1) & (F.max("rows") == 1)).alias("shared"),
            F.min("y").alias("low"),
            F.max("y").alias("high"),
        )
        low = F.when(F.col("shared"), F.col("low"))
        same = F.col("shared") & (F.col("low") == F.col("high"))
        totals = by_key.agg(
            F.count(F.lit(1)).alias("keys"),
            F.count(low).alias("shared"),
            F.sum(F.when(same, 1).otherwise(0)).alias("same_label"),
            F.countDistinct(low).alias("labels"),
        )
        answer = only_row(totals)
    if caution_text := shared_caution(columns, **{name: int(value or 0) for name, value in answer.items()}):
        caution("shared-rows", caution_text)


def _weights_seen(checked: CheckedFrame) -> WeightSummary:
    """Return the summary of weights, from a sample if there are many values."""
    summary, names = WeightSummary(), list(checked.columns.names.values())
    odd = F.col("w") * (F.col("y") % 2)
    totals = (F.count(F.lit(1)).alias("rows"), F.sum("w").alias("size"))
    with spark_errors("look at the weights"):
        values = checked.frame.select("w").distinct().limit(MAX_VALUES + 1).toArrow()
        labels = checked.frame.groupBy("y").agg(*totals).toArrow()
        by_weight: list[dict[str, Any]] = []
        if len(values) <= MAX_VALUES:
            by_weight = checked.frame.groupBy("y", "w").agg(totals[0]).toArrow().to_pylist()
        sample = (
            checked.frame.groupBy(*names)
            .agg(*totals, F.sum(odd).alias("odd"), F.sum(F.col("y") % 2).alias("odd_rows"))
            .orderBy(F.xxhash64(*names))
            .limit(MAX_SAMPLED)
            .toArrow()
        )
    summary.values = set(values.column("w").to_pylist())
    summary.totals_by_label = {
        int(label["y"]): (label["rows"], label["size"]) for label in labels.to_pylist()
    }
    summary.rows_by_weight = Counter({(int(row["y"]), row["w"]): row["rows"] for row in by_weight})
    summary.value = sample.column(names[0]).to_numpy()
    summary.size, summary.odd, summary.rows, summary.odd_rows = (
        sample.column(name).to_numpy().astype(np.int64) for name in ("size", "odd", "rows", "odd_rows")
    )
    return summary


class _NoLabels:
    """Rows have no label: 0 stands for it."""

    columns: tuple[str, ...] = ()
    advice: tuple[str, Words] = ("", "")
    """What is expected of them, and a remedy."""

    by_text = False
    """Whether they are compared with the text of the positive one."""

    def __init__(self, request: DataRequest, roles: Roles) -> None:
        self._request, self._roles = request, roles

    def read(self, source: ClusterInput) -> list[Column]:  # noqa: ARG002
        """Return the labels, with those that are unreadable."""
        return [F.lit(0).cast("long").alias("y"), F.lit(None).cast("string").alias("by")]


class _Labels(_NoLabels):
    """Rows have a label: 0 or 1, or the name of a class."""

    def __init__(self, request: DataRequest, roles: Roles) -> None:
        super().__init__(request, roles)
        self._label, self._classes = roles.label or "", list(roles.classes)
        self.columns = (self._label,)
        self.by_text = not self._classes and request.positive_value is not None
        binary: tuple[str, Words] = (
            "0/1 or true/false",
            words("say which label is positive with --positive VALUE"),
        )
        self.advice = class_advice(self._classes) if self._classes else binary

    def read(self, source: ClusterInput) -> list[Column]:
        """Return the labels, with those that are unreadable, or may mean a missing one."""
        if self._classes:
            label, wrong = class_of(source, self._label, self._classes)
            return [label.alias("y"), wrong.alias("by")]
        label, wrong, placeholder = label_of(source, self._label, self._request.positive_value)
        columns = [label.alias("y"), wrong.alias("by"), placeholder.alias(_PLACEHOLDER)]
        return columns if self.by_text else columns[:2]


class _NoWeights:
    """Each row counts as one."""

    numbers: Mapping[str, str] = MappingProxyType({})
    """The user's column name by internal name."""

    def __init__(self, _: DataRequest, roles: Roles) -> None:
        self._roles = roles

    @property
    def weight(self) -> Column:
        """The weight of a row."""
        return F.lit(1)

    def read(self, source: ClusterInput) -> list[Column]:  # noqa: ARG002
        """Return the weights, with those that are unreadable."""
        return []

    def present(self, usable: Column) -> Column:
        """Whether usable rows count."""
        return usable

    def times(self, number: Column) -> Column:
        """Multiply a number by the weight."""
        return number

    def conditions(self) -> dict[str, Column]:
        """Return the conditions whose rows are counted."""
        return {}

    def amounts(self, present: Column) -> dict[str, Column]:  # noqa: ARG002
        """Return what is aggregated of the rows that count."""
        return {}

    def size(self, answers: Mapping[str, Any]) -> int:
        """Return the total weight."""
        return int(answers["there"])


class _Weights(_NoWeights):
    """Each row counts as often as its weight, which is 0 for those that do not."""

    def __init__(self, request: DataRequest, roles: Roles) -> None:
        super().__init__(request, roles)
        self._name = roles.weight or ""
        self.numbers = {"w": self._name}

    @property
    def weight(self) -> Column:
        """The weight of a row."""
        return F.col("w")

    @property
    def _off(self) -> Column:
        """Whether a weight is no count of rows."""
        return _is_finite("w") & refusals.is_no_count(self.weight, F.floor(self.weight))

    def read(self, source: ClusterInput) -> list[Column]:
        """Return the weights, with those that are unreadable."""
        weight, wrong = number_of(source, self._name)
        return [weight.alias("w"), wrong.alias("bw")]

    def present(self, usable: Column) -> Column:
        """Whether usable rows count."""
        return usable & (self.weight > 0)

    def times(self, number: Column) -> Column:
        """Multiply a number by the weight."""
        return number * self.weight

    def conditions(self) -> dict[str, Column]:
        """Count the weights that are no count of rows."""
        return {"off_w": self._off}

    def amounts(self, present: Column) -> dict[str, Column]:
        """Return the total weight, and the least that is no count of rows."""
        # with huge weights the double sum may round, but is then far beyond the limit
        size = F.sum(F.when(present & ~self._off, self.weight))
        return {"size": size, "off": F.min(F.when(self._off, self.weight))}

    def size(self, answers: Mapping[str, Any]) -> int:
        """Return the total weight."""
        return int(answers["size"])


class Check:
    """Aggregations over all rows, and the evaluation of their results.

    Names, keys, amounts and features are the columns of each role, key, name of an amount, and feature.
    """

    def __init__(self, request: DataRequest, roles: Roles) -> None:
        self.request, self.roles = request, roles
        self.labels = (_Labels if roles.label is not None else _NoLabels)(request, roles)
        self.weights = (_Weights if roles.weight is not None else _NoWeights)(request, roles)
        if any(feature.text is not True or feature.levels is None for feature in self.roles.features):
            raise UsageError(words("features with --engine spark"), expected=words("--engine polars"))
        self.features = {feature.name: f"f{index}" for index, feature in enumerate(self.roles.features)}
        self.names = {role: f"n{index}" for index, role in enumerate(self.roles.all_numbers())}
        read_keys = [key for key in self.roles.keys if key != PREDICTED]
        self.keys = {key: f"g{index}" for index, key in enumerate(read_keys)}
        self.amounts = {self.names[role]: f"a{index}" for index, role in enumerate(self.roles.amounts)}

    def frame(
        self,
        inputs: Sequence[ClusterInput],
        kept_columns: Sequence[str] = (),
        types: Mapping[str, DataType] = MappingProxyType({}),
    ) -> Frame:
        """Parse the required columns of all rows; kept columns become c0, c1, ..., cast to given types.

        The column ``ok`` is whether a row is usable. To repeat its long condition in other expressions would
        take minutes of planning for many classes.
        """
        days = (
            Days(inputs, self.roles.cluster) if self.roles.days and self.roles.cluster in self.keys else None
        )
        frame = together([self._read(cluster_input, kept_columns, types, days) for cluster_input in inputs])
        return frame.withColumn("ok", self._usable())

    def _read(
        self,
        source: ClusterInput,
        kept_columns: Sequence[str],
        types: Mapping[str, DataType],
        days: Days | None,
    ) -> Frame:
        """Parse the required columns of an input, with the unreadable values of each."""
        columns: list[Column] = []
        frame, day = (source.frame, F.lit(None)) if days is None else days.added(source)
        for role, name in self.roles.all_numbers().items():
            value, wrong = number_of(source, name)
            value = F.lit(0.0) - value if self.roles.is_turned(role) else value
            columns += [value.alias(self.names[role]), wrong.alias(f"b{self.names[role]}")]
        columns += [*self.labels.read(source), *self.weights.read(source)]
        for key, name in self.keys.items():
            is_day = days is not None and key == self.roles.cluster
            columns.append((day if is_day else self._key(source, key)).alias(name))
        columns.append(oddity_of(source, [*self.roles.columns(), *kept_columns]).alias(_ODDITY))
        columns += [
            level_of(_text(source, feature), feature.levels or ()).alias(self.features[feature.name])
            for feature in self.roles.features
        ]
        kept = []
        numbers = set(self.roles.all_numbers().values()) if source.is_csv else ()
        for index, name in enumerate(kept_columns):
            column = F.col(quoted(name)) if name in source.columns else F.lit(None)
            column = number_of(source, name)[0] if name in numbers else column
            kept.append((column.cast(types[name]) if name in types else column).alias(f"c{index}"))
        return frame.select(*kept, *columns)

    def _key(self, source: ClusterInput, key: str) -> Column:
        return date_of_key(source, key) if key == self.roles.per else key_of(source, key)

    def lacks_positive(self, answers: Mapping[str, Any]) -> bool:
        """Whether there are rows, and none has the text of the positive label."""
        return self.labels.by_text and answers["rows"] > 0 and not answers["positive"]

    def converted(self, frame: Frame) -> Frame:
        """Turn rows that were read into predictions if they are requested."""
        if not self.roles.predicted:
            return frame
        probabilities = [_clipped(name) for name in self._probabilities()]
        return with_predictions(frame, probabilities, list(self.roles.classes))

    def _counted(self) -> dict[str, str]:
        """Return the column of each role that is counted; predictions have one score."""
        if not self.roles.predicted:
            return self.names
        return {"score": SCORE, **{role: self.names[role] for role in self.roles.numbers}}

    def _numbers(self) -> dict[str, str]:
        """Return the user's column name by internal name, for numeric columns."""
        column_by_name = {self.names[role]: name for role, name in self.roles.all_numbers().items()}
        return {**column_by_name, **self.weights.numbers}

    def _usable(self) -> Column:
        present = [F.col(column).isNotNull() for column in ("y", *self.keys.values())]
        return pairwise(and_, [*present, *map(_is_finite, self._numbers())])

    def _probabilities(self) -> list[str]:
        """Return the internal names of the class probability columns."""
        return [name for role, name in self.names.items() if role.startswith(PROBA)]

    def outside(self, ranges: Mapping[str, tuple[float, float]]) -> Column:
        """Whether a usable row has a number outside its range (see uqcli.engines.probabilities.outside)."""
        beyond = []
        for role, (low, high) in ranges.items():
            if role == "score" and self.roles.classes:
                value = F.array_max(F.array(*map(_clipped, self._probabilities())))
            else:
                value = F.col(self.names[role])
            beyond.append((value < F.lit(low)) | (value > F.lit(high)))
        return F.col("ok") & pairwise(or_, beyond) if beyond else F.lit(False)

    def unknown(self) -> Column:
        """Whether a usable row has a text that is no level of its feature."""
        conditions = [
            F.col(self.features[feature.name]) == len(feature.levels or ()) for feature in self.roles.features
        ]
        return F.col("ok") & pairwise(or_, conditions) if conditions else F.lit(False)

    def aggregations(self) -> list[Column]:
        """Return the aggregations over all rows."""
        usable = F.col("ok")
        conditions = {"rows": F.lit(True), "usable": usable, "positives": usable & (F.col("y") == 1)}
        conditions |= {"positive": F.col("y") == 1, "null_y": F.col("y").isNull() & F.col("by").isNull()}
        conditions |= {"wrong_y": F.col("by").isNotNull()}
        for name in self._numbers():
            column, wrong = F.col(name), F.col(f"b{name}")
            conditions[f"null_{name}"] = column.isNull() & wrong.isNull()
            conditions[f"nan_{name}"] = F.isnan(column)
            conditions[f"infinite_{name}"] = F.abs(column) == float("inf")
            conditions[f"wrong_{name}"] = wrong.isNotNull()
        conditions |= {f"null_{name}": F.col(name).isNull() for name in self.keys.values()}
        present = self.weights.present(usable)
        amounts: dict[str, Column] = self.weights.amounts(present)
        conditions |= self.weights.conditions()
        if self.roles.classes:
            for name in self._probabilities():
                conditions[f"outside_{name}"] = usable & is_no_probability(F.col(name))
            amounts["unnormalised"] = F.max(F.when(usable, _deviation(self._probabilities())))
        for name in self.amounts:
            nearest = F.rint(F.col(name) * UNITS)
            wrong = usable & is_no_amount(F.col(name), nearest)
            conditions[f"unusable_{name}"] = wrong
            amounts[f"unusable_amount_{name}"] = F.min(F.when(wrong, F.col(name)))
            amounts[f"sum_{name}"] = F.sum(F.when(present, self.weights.times(nearest)))
        conditions["there"] = present
        if self.labels.by_text:
            amounts[_PLACEHOLDER] = F.min(_PLACEHOLDER)
        unreadable_texts = {name: F.min(F.col(f"b{name}")) for name in ("y", *self._numbers())}
        for name in [name for role, name in self._counted().items() if not role.startswith(PROBA)]:
            amounts |= _span(name, present)
        return [
            *(
                F.sum(F.when(mask, 1).otherwise(0)).cast("long").alias(name)
                for name, mask in conditions.items()
            ),
            *(text.alias(f"said_{name}") for name, text in unreadable_texts.items()),
            F.min(_ODDITY).alias(_ODDITY),
            *(amount.alias(name) for name, amount in amounts.items()),
        ]

    def judge(self, answers: Mapping[str, Any]) -> None:
        """Raise the errors found, as the local engine does but without the positions of rows."""
        self.refuse_values(answers)
        if self.lacks_positive(answers) and not self.request.fitted_positive:
            raise refusals.no_positive(self.request.positive_value or "", self.roles.label or "")
        if not answers["usable"]:
            raise refusals.no_rows(answers["rows"])
        if not answers["there"]:
            raise refusals.no_weight()

    def refuse_values(self, answers: Mapping[str, Any]) -> None:
        """Raise the errors found in values."""
        if answers[_ODDITY]:
            raise DataError(
                f"a file has {answers[_ODDITY]}",
                expected=words("text in UTF-8 with line ends of one kind, with --engine spark"),
                remedy=words("convert the file, or use --engine polars"),
            )
        numbers = self._numbers()
        columns = {key: name for key, name in numbers.items() if key not in self.weights.numbers}
        errors = list[refusals.FormError]()
        for key, name in columns.items():
            advice = refusals.number_advice(name, [answers[f"said_{key}"] or ""], "")
            with refusals.collected(errors):
                self._refuse_unreadable(answers, key, name, *advice)
        for label in self.labels.columns:
            with refusals.collected(errors):
                self._refuse_unreadable(answers, "y", label, *self.labels.advice)
        for weight in self.weights.numbers.values():
            advice = refusals.number_advice(weight, [answers["said_w"] or ""], "")
            with refusals.collected(errors):
                self._refuse_unreadable(answers, "w", weight, *advice)
                self._refuse_weights(answers, weight)
        if errors:
            raise refusals.joined(errors)
        for name in self.amounts:
            if answers[f"unusable_{name}"]:
                count, example = answers[f"unusable_{name}"], answers[f"unusable_amount_{name}"]
                raise refuse_amounts(
                    f"column '{numbers[name]}' has {count} values such as {example!r}", example
                )
            if (answers[f"sum_{name}"] or 0.0) > LARGEST_SUM:
                raise refuse_sum(numbers[name])
        self._refuse_probabilities(answers)
        self._refuse_unusable(answers)

    def _refuse_unreadable(
        self, answers: Mapping[str, Any], key: str, name: str, expected: str, remedy: Words
    ) -> None:
        count = answers[f"wrong_{key}"]
        if count:
            values = "value" if count == 1 else "values"
            raise refusals.FormError(
                f"column '{name}' has {count} unreadable {values}, such as '{answers[f'said_{key}']}'",
                expected=expected,
                remedy=remedy,
            )

    def _refuse_probabilities(self, answers: Mapping[str, Any]) -> None:
        for name in self._probabilities():
            if answers[f"outside_{name}"]:
                problem = f"column '{self._numbers()[name]}' has {answers[f'outside_{name}']} values"
                expected, remedy = PROBABILITY_ADVICE
                raise DataError(f"{problem} outside 0 to 1", expected=expected, remedy=remedy)
        deviation = answers.get("unnormalised") or 0.0
        if deviation > SUM_TOLERANCE:
            problem = f"sums of class probabilities differ from 1 by up to {deviation:g}"
            raise refusals.unnormalised(problem, deviation)

    def _refuse_weights(self, answers: Mapping[str, Any], name: str) -> None:
        if answers["off_w"]:
            raise refusals.no_counts_of_rows(
                f"column '{name}' has {answers['off_w']} weights such as {answers['off']:g}"
            )
        if (answers["size"] or 0) > MAX_ROWS:
            raise refusals.too_heavy(name)

    def _refuse_unusable(self, answers: Mapping[str, Any]) -> None:
        problems = ", ".join(
            f"column '{name}' has {count} {description}"
            for (name, description), count in self.reasons(answers).items()
            if not (self.request.joined is not None and name == self.roles.label)
        )
        if problems and self.request.on_invalid is OnInvalid.ERROR:
            raise refusals.unusable_values(problems)

    def reasons(self, answers: Mapping[str, Any]) -> dict[tuple[str, str], int]:
        """Return the numbers of unusable values by column and by what they are."""
        kinds = (("null", "null"), ("nan", "NaN"), ("infinite", "infinite"))
        tallies = [
            (name, answers[f"{kind}_{key}"], description)
            for key, name in self._numbers().items()
            for kind, description in kinds
        ]
        last = len(tallies) - len(kinds) * len(self.weights.numbers)  # weights follow labels
        tallies[last:last] = [(label, answers["null_y"], "null") for label in self.labels.columns]
        tallies += [(key, answers[f"null_{name}"], "null, NaN or empty") for key, name in self.keys.items()]
        return {(name, description): count for name, count, description in tallies if count}

    def clipped(self) -> list[Column]:
        """Return the numeric columns, probabilities clipped to [0, 1]."""
        inside = self._probabilities()
        return [_clipped(name).alias(name) if name in inside else F.col(name) for name in self.names.values()]

    def result(self, frame: Frame, answers: Mapping[str, Any]) -> CheckedFrame:
        """Return the usable rows of positive weight."""
        names, numbers, keys = self._counted(), self.clipped(), self.keys
        if self.roles.predicted:
            numbers, keys = [F.col(name) for name in names.values()], {**self.keys, PREDICTED: CLASS}
        others = [F.col(name) for name in ("y", *keys.values(), *self.features.values())]
        weight = self.weights.weight.cast("long")
        amounts = [
            (F.rint(F.col(name) * UNITS).cast("long") * weight).alias(alias)
            for name, alias in self.amounts.items()
        ]
        return CheckedFrame(
            frame=frame.filter(self.weights.present(F.col("ok"))).select(
                *numbers, *others, weight.alias("w"), *amounts
            ),
            usable=frame.filter("ok").select(*others, weight.alias("w")),
            roles=self.roles,
            columns=FrameColumns(
                names=names, keys=keys, features=self.features, amounts=tuple(self.amounts.values())
            ),
            unnormalised=answers.get("unnormalised") or 0.0,
            summary=SourceSummary(
                rows=answers["usable"],
                positives=answers["positives"] if self.roles.is_binary else None,
                dropped=answers["rows"] - answers["usable"],
                columns=self.roles.column_by_role(),
                unlabelled=answers["null_y"] if self.roles.label else 0,
            ),
            spans={
                role: (answers[f"low_{name}"], answers[f"high_{name}"], answers[f"distinct_{name}"])
                for role, name in names.items()
                if f"low_{name}" in answers
            },
            rows=answers["there"],
            size=self.weights.size(answers),
        )


def level_of(text: Column, levels: Sequence[str]) -> Column:
    """Return the index of a text among known levels, their number for other texts, -1 if missing; double."""
    code_by_text = codes_of_texts(levels)
    position = F.array_position(F.array(*map(F.lit, code_by_text)), text)  # counted from 1, 0 for other texts
    codes = F.array(F.lit(len(levels)), *map(F.lit, code_by_text.values()))
    return F.when(text.isNull(), -1).otherwise(F.element_at(codes, position.cast("int") + 1)).cast("double")


def _text(source: ClusterInput, feature: FeatureRequest) -> Column:
    return date_of_feature(source, feature.name) if feature.dated else text_of(source, feature.name)


def _span(name: str, present: Column) -> dict[str, Column]:
    """Aggregate where the numbers of a column lie, and how many there are."""
    value = F.when(present, F.col(name))
    return {
        f"low_{name}": F.percentile_approx(value, _TAIL_SHARE),
        f"high_{name}": F.percentile_approx(value, 1 - _TAIL_SHARE),
        f"distinct_{name}": F.approx_count_distinct(F.when(present, F.xxhash64(name))),
    }


def _deviation(names: Sequence[str]) -> Column:
    """Compute |sum p - 1| of a row's class probabilities, added in the order that all engines use."""
    total = F.aggregate(F.array(*map(F.col, names)), F.lit(0.0), lambda total, value: total + value)
    return F.abs(total - F.lit(1.0))


def _clipped(name: str) -> Column:
    """Clip a class probability to [0, 1]."""
    return F.greatest(F.least(F.col(name), F.lit(1.0)), F.lit(0.0))


def _is_finite(name: str) -> Column:
    column = F.col(name)
    return column.isNotNull() & ~F.isnan(column) & (F.abs(column) != float("inf"))


SCORE: Final = "score"
"""Column of the largest probability."""

CLASS: Final = "class"
"""Column of the name of the predicted class."""


def with_predictions(frame: Frame, probabilities: Sequence[Column], classes: Sequence[str]) -> Frame:
    """Add the columns ``SCORE`` and ``CLASS``, and change ``y`` from the class index to whether it is right.

    Arrays keep the plan shallow for any number of classes. A row without a label keeps a null ``y``. A row of
    unusable probabilities is no error here.
    """
    frame = frame.withColumn("probabilities", F.array(*probabilities))
    frame = frame.withColumn(SCORE, F.array_max("probabilities"))
    # the position of the first of equal probabilities, counted from 1
    position = F.array_position("probabilities", F.col(SCORE))
    frame = frame.withColumn("predicted", (position - F.lit(1)).cast("int")).drop("probabilities")
    is_right = F.coalesce(F.col("y") == F.col("predicted"), F.lit(False)).cast("long")
    names = F.array(*map(F.lit, classes))
    return frame.withColumns(
        {CLASS: F.get(names, F.col("predicted")), "y": F.when(F.col("y").isNotNull(), is_right)}
    )
