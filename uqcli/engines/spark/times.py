"""Columns of times on the cluster, in the zone and with the digits that the local engine gives them.

Spark knows the instants of times with a zone, and leaves out the zone and the unit that a file states: they
are read from its metadata.
"""

from __future__ import annotations

from typing import Final

from uqcli.base.errors import DataError, words
from uqcli.engines.spark import worker
from uqcli.engines.spark.read import ClusterInput, Column, F, only_row, quoted
from uqcli.engines.spark.session import runs_functions, spark_errors

TIMES: Final = ("timestamp", "timestamp_ntz")
"""Spark types of times with a zone, and without one."""

_MAX_FILE_BYTES: Final = 1 << 28
"""Largest file whose metadata are read: Spark hands out files only as a whole."""

_DIGITS: Final = {"s": 3, "ms": 3, "us": 6, "ns": 9}
"""Digits behind the second, by the unit; Spark has six."""

_MICROSECONDS_PER_MINUTE: Final = 60_000_000


def date_of_time(source: ClusterInput, name: str) -> Column:
    """Return the text of the date of each time or date."""
    column = F.col(quoted(name))
    if source.types[name] == "timestamp":
        column = F.from_utc_timestamp(column, _form_of(source, name)[1])
    return F.date_format(column, "yyyy-MM-dd")


def text_of_time(source: ClusterInput, name: str) -> Column:
    """Return the text of each time, as the local engine formats it."""
    unit, zone = _form_of(source, name)
    time = column = F.col(quoted(name))
    if source.types[name] == "timestamp":
        time = F.from_utc_timestamp(column, zone)
    digits = _DIGITS[unit]
    parts = [F.date_format(time, f"yyyy-MM-dd'T'HH:mm:ss.{'S' * min(digits, 6)}"), F.lit("000"[: digits - 6])]
    if zone and source.types[name] == "timestamp":
        minutes = ((F.unix_micros(time) - F.unix_micros(column)) / _MICROSECONDS_PER_MINUTE).cast("int")
        sign = F.when(minutes < 0, "-").otherwise("+")
        hours, rest = F.floor(F.abs(minutes) / 60), F.abs(minutes) % 60
        parts += [sign, *(F.lpad(part.cast("string"), 2, "0") for part in (hours, rest))]
    return F.concat(*parts)


def _form_of(source: ClusterInput, name: str) -> tuple[str, str]:
    """Return the unit and the time zone of a column of Parquet files, empty without a zone."""
    session, problem = source.frame.sparkSession, f"column '{name}' of {source.display_name} has times"
    with spark_errors("find the time zone"):
        files = source.raw_files()
        largest = only_row(files.agg(F.max("length").alias("bytes")))["bytes"] or 0
        if largest > _MAX_FILE_BYTES or not runs_functions(session):
            raise DataError(
                f"{problem}, whose zone is found only in files of at most {_MAX_FILE_BYTES >> 20} MiB, by "
                "workers that have numpy and pyarrow",
                expected="a column of dates",
                remedy=words("write the date as a column of its own, or use --engine polars"),
            )
        work = worker.forms_of_times(name)
        forms = files.select("content").mapInArrow(work, "unit string, zone string").distinct().toArrow()
    found = sorted((form["unit"], form["zone"]) for form in forms.to_pylist())
    if len(found) > 1:
        kinds = " and ".join(f"{unit} {zone}".strip() for unit, zone in found)
        raise DataError(f"{problem} of several kinds: {kinds}", expected="one zone and unit, or dates")
    return found[0] if found else ("us", "UTC")
