"""Requests to an engine: inputs, columns and reading options."""

from __future__ import annotations

import fnmatch
import re
from collections.abc import Mapping, Sequence
from dataclasses import field, fields, replace
from functools import cached_property
from typing import TYPE_CHECKING, Final, TypeAlias

from uqcli.base import defaults
from uqcli.base.choices import EngineName, FileFormat, OnInvalid
from uqcli.base.errors import DataError, UsageError, words
from uqcli.base.files import InMemory
from uqcli.base.records import dataclass
from uqcli.base.wording import first_of, printable

if TYPE_CHECKING:
    import polars as pl

Inputs: TypeAlias = tuple[str, ...]
"""INPUT arguments in order."""


def in_memory(frame: pl.DataFrame) -> Inputs:
    """Return a data frame as the inputs of a request."""
    return (InMemory("the data frame", frame),)


TURNED: Final = "-uncertainty"
"""Role under which rule files name a column whose negative is the uncertainty.

Versions that do not know it refuse such a rule file: it does not name its uncertainty.
"""

INPUT = "\0input"
"""Key for the input of each row; no column has this name."""

PREDICTED = "\0predicted"
"""Key for the predicted class of each row; no column has this name."""

PROBA = "proba."
"""Prefix of class probability roles: ``proba.<class>``."""

SAMPLING_WEIGHT: Final = "sampling_weight"
"""Column in which ``uqcli sample`` writes 1 / the probability that a row was drawn."""

SAMPLED_FOR: Final = "sampled_for"
"""Column in which ``uqcli sample --for certificate`` writes what a row was drawn for."""


@dataclass(frozen=True, kw_only=True)
class ReadOptions:
    """Options for reading files, as given on the command line.

    Attributes
    ----------
    format
        Format of inputs whose name does not imply it (standard input, FIFOs).
    format_given
        Whether it was given; otherwise it is assumed for streams only.
    format_wins
        Whether it also holds for inputs whose name implies another format.
    delimiter
        Field separator of CSV inputs; empty for what the name implies, a comma by default.
    decimal
        Decimal mark of numbers in CSV: a point or a comma.
    null_values
        Texts in CSV that mean null, in addition to the empty field.
    required_columns
        Column names or patterns, by which a wrong delimiter is detected.
    text_columns
        Columns of which only the distinct texts matter, so that long ones need not be copied to each row.
    """

    format: FileFormat = defaults.FILE_FORMAT
    format_given: bool = False
    format_wins: bool = False
    delimiter: str = ""
    decimal: str = defaults.DECIMAL
    null_values: tuple[str, ...] = ()
    required_columns: tuple[str, ...] = ()
    text_columns: tuple[str, ...] = ()

    def format_of(self, inferred: FileFormat | None) -> FileFormat | None:
        """Return the format of an input whose name implies one, or None."""
        return self.format if self.format_wins or (inferred is None and self.format_given) else inferred


@dataclass(frozen=True, kw_only=True)
class FeatureRequest:
    """Feature column to read, with its levels once they are known.

    ``text`` is whether values are text even if they look like numbers; None to infer it. ``makes_groups`` is
    whether each text has results of its own, so that their number is limited, and ``dated`` whether of a time
    the date alone counts.
    """

    name: str
    text: bool | None = None
    levels: tuple[str, ...] | None = None
    option: str = "features"
    makes_groups: bool = False
    dated: bool = False

    @property
    def known(self) -> bool:
        """Whether values can be encoded batch by batch."""
        return self.text is False or self.levels is not None

    @cached_property
    def codes(self) -> dict[str, int]:
        """Index of the level that each text names; made once, since there may be a million levels."""
        from uqcli.base.counts import codes_of_texts

        return codes_of_texts(self.levels or ())


@dataclass(frozen=True, kw_only=True)
class FittedClusters:
    """Column of the clusters, or days, with which a rule was fitted; rows that it reads may also have it.

    ``rule`` is the name of its file, if it is one of several. The column is used as that of the clusters if
    it ``adopts``, and all inputs have it.
    """

    column: str
    days: bool
    rule: str = ""
    adopts: bool = False

    def caution(self, columns: Sequence[str]) -> str:
        """Return a caution if rows with some columns are taken as independent."""
        given = f"{self.rule or 'the rule'} was fitted with --{dependence(days=self.days)} {self.column}"
        if self.column in columns:
            return f"{given}, and these rows have this column: give it again."
        if self.adopts:
            return f"{given}, a column that these rows lack: their intervals are those of independent rows."
        return ""


@dataclass(frozen=True, kw_only=True)
class ClassColumns:
    """Columns of class probabilities, as requested: a pattern with one ``*``, or names separated by commas.

    ``names`` are those of the classes in the order of the columns; without any, the texts that ``*`` matched,
    or the column names.
    """

    columns: str
    names: tuple[str, ...] = ()

    def found_in(self, columns: Sequence[str], source: str) -> dict[str, str]:
        """Map classes to columns, in class order; ``source`` is the input's name for messages.

        A pattern of fewer than two columns is a data error. Names that repeat, are not one per column, or are
        those of the columns in another order, are usage errors.
        """
        if "*" in self.columns:
            matched = _matched(self.columns, columns)
        else:
            listed = [name.strip() for name in self.columns.split(",")]
            matched = {name: name for name in listed}
            if len(matched) < len(listed):
                raise UsageError(
                    words("--proba '{}' repeats a column", self.columns), expected="each column once"
                )
        if len(matched) < 2:
            raise DataError(
                f"'{self.columns}' matches {len(matched)} columns of {source}",
                expected="the probabilities of at least two classes",
                remedy=words("check --proba and its quoting"),
            )
        names = self.names or tuple(matched)
        if max(len(matched), len(names)) > defaults.MAX_CLASSES:
            raise DataError(
                f"'{printable(self.columns)}' matches {len(matched):,} columns of {source}",
                expected=f"the probabilities of at most {defaults.MAX_CLASSES:,} classes",
                remedy=words(
                    "name the classes that matter with --proba A,B,..., and add up those of the others"
                ),
            )
        if len(set(names)) != len(matched):
            raise UsageError(
                words("--classes names {} classes for {} columns", len(set(names)), len(matched)),
                expected="one name for each column",
            )
        if "*" in self.columns and set(names) == set(matched) and names != tuple(matched):
            raise UsageError(
                words(
                    "--classes {} gives the columns {} each other's names",
                    ",".join(names),
                    ", ".join(matched.values()),
                ),
                expected="names in the order of the columns",
                remedy=words("leave out --classes: the columns name the classes already"),
            )
        return dict(zip(names, matched.values(), strict=True))

    def renaming(self, known: Mapping[str, str]) -> dict[str, str]:
        """Map the known classes of a rule, given with its columns in its order, to columns.

        There must be one column per class, and the names must be those of the classes. The columns of the
        rule in another order, without names, are refused.
        """
        classes = tuple(known)
        if "*" in self.columns:
            if self.columns.count("*") > 1 or self.names:
                raise UsageError(
                    words("--proba '{}'", self.columns),
                    expected=words("one * without --classes, or names separated by commas"),
                )
            return {name: self.columns.replace("*", name) for name in classes}
        listed = [name.strip() for name in self.columns.split(",")]
        names = self.names or classes
        if len(set(listed)) != len(classes) or len(listed) != len(classes) or set(names) != set(classes):
            raise UsageError(
                words("--proba '{}' names {} columns", self.columns, len(set(listed))),
                expected=f"one for each of the classes {', '.join(list(classes)[:12])}",
            )
        if not self.names and set(listed) == set(known.values()) and listed != list(known.values()):
            raise UsageError(
                words("--proba '{}' lists the rule's columns in another order", self.columns),
                expected=f"the rule's order: {','.join(known.values())}",
                remedy=words("leave out --proba, or name the classes with --classes"),
            )
        column_of = dict(zip(names, listed, strict=True))
        return {name: column_of[name] for name in classes}


def _matched(pattern: str, columns: Sequence[str]) -> dict[str, str]:
    if pattern.count("*") > 1:
        raise UsageError(words("--proba '{}'", pattern), expected="one *, or names separated by commas")
    before, after = map(re.escape, pattern.split("*"))
    matches = [(re.fullmatch(f"{before}(.+){after}", column, re.DOTALL), column) for column in columns]
    class_names = {match[1].strip(): column for match, column in matches if match}
    integers = all(re.fullmatch(r"-?\d+", name) for name in class_names)
    return {name: class_names[name] for name in sorted(class_names, key=int if integers else str)}


@dataclass(frozen=True, kw_only=True)
class Roles:  # noqa: PLW1641 (mappings in it cannot be hashed)
    """Columns of a command, by role.

    Equality includes the order of roles and classes.

    Attributes
    ----------
    numbers
        Column names by role, read as finite numbers (score, uncertainty and others).
    label, weight
        Column names; None if the command does not need the role.
    pattern
        Further numeric columns under their own names: all columns of the first input that match a pattern, or
        a list a,b,c.
    class_columns
        Requested class probabilities; resolved with the columns of the first input.
    classes
        Map of classes to columns, once resolved. The label is then a class name.
    keys
        Columns whose texts define groups; ``INPUT`` is also a key, and so is ``PREDICTED`` if rows become
        predictions.
    by
        The key whose groups have results of their own, so that their number is limited; None for none.
    cluster
        The key of dependent rows, such as those of one customer; None if rows are independent.
    days
        Whether that key is a day: of dates and times, the date alone counts.
    per
        The key in each of whose groups rows are ranked; of times, the date alone counts.
    fitted
        Clusters of the rule that reads the rows, if it was fitted with some.
    may_lack_uncertainty
        Whether rows without the column of the uncertainty are read by their score alone.
    features
        Numeric or text columns in which values may be missing.
    amounts
        Numeric roles that are summed along with counts, as integers (see uqcli.base.amounts).
    turned
        Whether the uncertainty is the negative of its column. None if a minus before the name says so, unless
        an input has a column of that very name.
    predicted
        Whether each row becomes the prediction of its most probable class, except in ``Engine.stream``. Its
        score is that probability, its label is whether the class is right, and ``PREDICTED`` is the class.
        Requires class probabilities and a label, and no other score.
    """

    numbers: Mapping[str, str]
    label: str | None = None
    weight: str | None = None
    pattern: str | None = None
    class_columns: ClassColumns | None = None
    classes: Mapping[str, str] = field(default_factory=dict)
    keys: tuple[str, ...] = ()
    by: str | None = None
    cluster: str | None = None
    days: bool = False
    per: str | None = None
    fitted: tuple[FittedClusters, ...] = ()
    may_lack_uncertainty: bool = False
    features: tuple[FeatureRequest, ...] = ()
    amounts: tuple[str, ...] = ()
    turned: bool | None = None
    predicted: bool = False

    def __eq__(self, other: object) -> bool:
        """Whether the same columns are read in the same order, on which thresholds and class indices rely."""
        return _in_order(self) == _in_order(other) if isinstance(other, Roles) else NotImplemented

    def expanded(self, columns: Sequence[str], source: str) -> Roles:
        """Resolve patterns and a minus with the columns of an input; ``source`` is its name for messages.

        A pattern that matches nothing is refused.
        """
        name = self.numbers.get("uncertainty", "")
        if self.turned is None and name.startswith("-") and name not in columns:
            numbers = {**self.numbers, "uncertainty": name.removeprefix("-")}
            return replace(self, numbers=numbers, turned=True).expanded(columns, source)
        if self.class_columns is not None:
            return replace(self, classes=self.class_columns.found_in(columns, source), class_columns=None)
        if self.pattern is None:
            return self
        if any(sign in self.pattern for sign in "*?["):
            matched = sorted(fnmatch.filter(columns, self.pattern))
        else:
            matched = [name.strip() for name in self.pattern.split(",")]
        if not set(matched) & set(columns):
            raise DataError(
                f"no column of {source} matches '{self.pattern}'",
                expected=f"columns such as {first_of(columns, 12)}",
                remedy="check the pattern and its quoting",
            )
        return replace(self, numbers={**self.numbers, **{name: name for name in matched}}, pattern=None)

    def column_by_role(self) -> dict[str, str]:
        """Return the column names of the required roles; ``TURNED`` is the role of a turned uncertainty."""
        label_and_weight = (("label", self.label), ("weight", self.weight))
        return {
            **{TURNED if self.is_turned(role) else role: name for role, name in self.all_numbers().items()},
            **{role: name for role, name in label_and_weight if name is not None},
            **{
                dependence(days=self.days) if name == self.cluster else f"by.{name}": name
                for name in self.keys
                if name not in (INPUT, PREDICTED)
            },
            **{f"{feature.option}.{feature.name}": feature.name for feature in self.features},
        }

    def is_turned(self, role: str) -> bool:
        """Whether a number is the negative of its column."""
        return self.turned is True and role == "uncertainty"

    @property
    def dependence(self) -> str:
        """Role of the key of dependent rows, which is also the name of its option."""
        return dependence(days=self.days)

    @property
    def is_binary(self) -> bool:
        """Whether rows are positive or negative: they have a label, which is not a class name."""
        return self.label is not None and (self.predicted or not self.classes)

    @property
    def lacks_uncertainty(self) -> bool:
        """Whether an uncertainty that was optional is not in the inputs."""
        return self.may_lack_uncertainty and "uncertainty" not in self.numbers

    @property
    def may_depend(self) -> bool:
        """Whether labelled rows with an uncertainty are taken as independent."""
        has_both = "score" in self.numbers and "uncertainty" in self.numbers
        return has_both and self.label is not None and self.weight is None and self.cluster is None

    def adopted(self, inputs: Sequence[Sequence[str]]) -> Roles:
        """Use the cluster column of the rule, if that is wanted and the columns of all inputs have it."""
        for fitted in self.fitted if self.cluster is None else ():
            name = fitted.column
            if fitted.adopts and all(name in columns for columns in inputs):
                return replace(self, keys=(*self.keys, name), cluster=name, days=fitted.days)
        return self

    def forgotten_cluster(self, columns: Sequence[str]) -> str:
        """Return a caution if rows are taken as independent, unlike those of the rule."""
        is_independent = self.cluster is None and self.label is not None
        cautions = [each.caution(columns) for each in self.fitted if each.column not in self.keys]
        return "".join(cautions) if is_independent else ""

    def ignored_weights(self, inputs: Sequence[Sequence[str]]) -> tuple[str, ...]:
        """Return the column of sampling weights if labelled rows have it, and it is not read.

        Rows that are read by what they were drawn for need no weights.
        """
        if self.label is None or SAMPLED_FOR in self.keys or SAMPLING_WEIGHT in self.columns():
            return ()
        return (SAMPLING_WEIGHT,) if all(SAMPLING_WEIGHT in columns for columns in inputs) else ()

    def all_numbers(self) -> dict[str, str]:
        """Return the column names of the numeric roles, with class probabilities."""
        return {**self.numbers, **{PROBA + name: column for name, column in self.classes.items()}}

    def requested_columns(self) -> tuple[str, ...]:
        """Return the names and patterns of the columns that must exist, before any input is opened."""
        patterns = [self.pattern, None if self.class_columns is None else self.class_columns.columns]
        listed = [name.strip() for pattern in patterns if pattern for name in pattern.split(",")]
        required = self.without("uncertainty") if self.may_lack_uncertainty else self
        return (*required.columns(), *listed)

    def text_columns(self) -> tuple[str, ...]:
        """Return the columns whose texts are only told apart: keys, and features that are no numbers."""
        compared = {self.label, self.weight, *self.all_numbers().values()}
        features = (feature.name for feature in self.features if feature.text is not False)
        rule = (fitted.column for fitted in self.fitted)
        return tuple(name for name in (*self.keys, *features, *rule) if name not in compared)

    def columns(self) -> list[str]:
        """Return the column names, without duplicates."""
        return list(dict.fromkeys(self.column_by_role().values()))

    def without(self, role: str) -> Roles:
        """Return a copy without a numeric role."""
        return replace(self, numbers={key: name for key, name in self.numbers.items() if key != role})


def _in_order(roles: Roles) -> list[object]:
    """Return all field values; mappings as pairs, since mapping equality ignores order."""
    values = (getattr(roles, field.name) for field in fields(roles))
    return [tuple(value.items()) if isinstance(value, Mapping) else value for value in values]


@dataclass(frozen=True, kw_only=True)
class LabelsFile:
    """File, glob or directory of labels that are joined to the rows; its label column is that of the role.

    ``on`` is the column of the ids, in the inputs and in the file; ids are compared as text.
    """

    file: str
    on: str


@dataclass(frozen=True, kw_only=True)
class DataRequest:
    """Request for rows of the INPUT arguments in order, read as one table.

    The positive label has a text, or None for 0/1 and true/false; a rule's own, ``fitted_positive``, may be
    absent from a batch. ``spark`` is the address of the cluster for the Spark engine; None for
    ``SPARK_REMOTE``. Labels may be in a file of their own; rows without a label are then left out.
    ``takes_weights`` is whether ``--sampling-weight`` can be added to the options of the run.
    """

    inputs: tuple[str, ...]
    roles: Roles = field(default_factory=lambda: Roles(numbers={}))
    read: ReadOptions = ReadOptions()
    on_invalid: OnInvalid = defaults.ON_INVALID
    positive_value: str | None = None
    fitted_positive: bool = False
    engine: EngineName = defaults.ENGINE
    spark: str = ""
    labels: LabelsFile | None = None
    takes_weights: bool = False

    @property
    def joined(self) -> LabelsFile | None:
        """File of the labels, if labels are needed."""
        return None if self.roles.label is None else self.labels

    def unequal_weights(self) -> str:
        """Return the caution on rows that were drawn with unequal probabilities, but count alike."""
        drawn = f"the rows have a column {SAMPLING_WEIGHT} with different values"
        if self.takes_weights:
            option = f"--sampling-weight {SAMPLING_WEIGHT}"
            return f"{drawn}: add {option}, or the results are those of the drawn rows alone."
        return (
            f"{drawn}, which this run does not use: the results are those of the drawn rows alone. Use rows "
            "that were drawn with equal probabilities."
        )

    def without(self, role: str) -> DataRequest:
        """Return a copy without a numeric role."""
        return replace(self, roles=self.roles.without(role))

    def with_uncertainty(self, uncertainty: str) -> DataRequest:
        """Return a copy with an uncertainty column, or another one."""
        numbers = {**self.roles.numbers, "uncertainty": uncertainty}
        roles = replace(self.roles, numbers=numbers, turned=None, may_lack_uncertainty=False)
        return replace(self, roles=roles)

    def as_predictions(self, uncertainty: str | None) -> DataRequest:
        """Return a copy in which rows become predictions of classes, with an uncertainty column or None."""
        numbers = {} if uncertainty is None else {"uncertainty": uncertainty}
        return replace(self, roles=replace(self.roles, numbers=numbers, predicted=True))

    def with_amounts(self, amounts: Mapping[str, str]) -> DataRequest:
        """Return a copy with columns of amounts by role, summed along with counts."""
        numbers = {**self.roles.numbers, **amounts}
        return replace(self, roles=replace(self.roles, numbers=numbers, amounts=tuple(amounts)))

    def grouped_by(self, column: str | None) -> DataRequest:
        """Return a copy with a column of groups, if one is given, beside the key of clusters."""
        keyed = self.keyed_by(column)
        return replace(keyed, roles=replace(keyed.roles, by=column))

    def keyed_by(self, column: str | None) -> DataRequest:
        """Return a copy with a key column of any number of texts, if one is given, beside clusters."""
        keys = tuple(key for key in (column, self.roles.cluster) if key is not None)
        return replace(self, roles=replace(self.roles, keys=keys))

    @property
    def may_lack_labels(self) -> bool:
        """Whether rows without a label are left out."""
        return self.on_invalid is OnInvalid.DROP or self.labels is not None

    def clustered_by(self, column: str | None, *, days: bool = False) -> DataRequest:
        """Return a copy whose rows depend on each other within the groups of a column, or within days."""
        if column is None:
            return self
        roles = replace(self.roles, keys=(*self.roles.keys, column), cluster=column, days=days)
        return replace(self, roles=roles)

    def on(self, inputs: Inputs) -> DataRequest:
        """Return a copy for other inputs."""
        return replace(self, inputs=inputs)


def dependence(*, days: bool) -> str:
    """Return the role of the key of dependent rows, which is also the name of its option."""
    return "day" if days else "cluster"
