"""Dates of keys on the cluster, as the local engine finds them."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Final

import pyarrow as pa

from uqcli.base.dates import TIME, date_of
from uqcli.engines import refusals
from uqcli.engines.request import INPUT
from uqcli.engines.spark.read import ClusterInput, Column, F, Frame, quoted, together
from uqcli.engines.spark.session import spark_errors
from uqcli.engines.spark.times import TIMES, date_of_time
from uqcli.engines.spark.values import key_of, text_of

MAX_GROUPS: Final = 1 << 20
"""Maximum groups of a key to collect."""

_DAY: Final = r"^[0-9]{4}-[0-9]{2}-[0-9]{2}$"
_TEXT, _DATE = "\0text", "\0date"


def date_of_key(source: ClusterInput, name: str) -> Column:
    """Return the text of a key, of a time the date alone."""
    return _date_alone(source, name, key_of)


def date_of_feature(source: ClusterInput, name: str) -> Column:
    """Return the text of a feature, of a time the date alone."""
    return _date_alone(source, name, text_of)


def _date_alone(source: ClusterInput, name: str, read: Callable[[ClusterInput, str], Column]) -> Column:
    if _has_dates(source, name):
        return date_of_time(source, name)
    return F.regexp_replace(read(source, name), TIME, "$1")


def _has_dates(source: ClusterInput, name: str) -> bool:
    return name != INPUT and source.types[name] in (*TIMES, "date")


class Days:
    """Days that a key column names, in any of the forms that the local engine knows.

    Raises
    ------
    DataError
        A text names no day, or there are more than a cluster's driver should collect.
    """

    def __init__(self, inputs: Sequence[ClusterInput], name: str) -> None:
        self._name = name
        texts = [
            source.frame.select(_beginning(key_of(source, name)).alias(_TEXT))
            for source in inputs
            if not _has_dates(source, name)
        ]
        self._days: dict[str, str] = {}
        if texts:
            with spark_errors("find the days"):
                found = together(texts).dropna().distinct().limit(MAX_GROUPS + 1).toArrow()[0].to_pylist()
            refusals.require_few_texts(len(found), MAX_GROUPS, name)
            self._days = {text: str(date_of(text) or text) for text in found}
            refusals.require_days(self._days.values(), name)

    def added(self, source: ClusterInput) -> tuple[Frame, Column]:
        """Return the rows of an input, and their days."""
        if _has_dates(source, self._name):
            return source.frame, date_of_time(source, self._name)
        beginning = _beginning(key_of(source, self._name))
        if all(text == day for text, day in self._days.items()):
            return source.frame, beginning
        days = pa.table({_TEXT: list(self._days), _DATE: list(self._days.values())})
        levels = F.broadcast(source.frame.sparkSession.createDataFrame(days))
        return source.frame.join(levels, beginning == F.col(quoted(_TEXT)), "left"), F.col(quoted(_DATE))


def _beginning(text: Column) -> Column:
    """Return the date with which a text begins, else the text."""
    date = F.substring(text, 1, len("2026-03-31"))
    return F.when(date.rlike(_DAY), date).otherwise(text)
