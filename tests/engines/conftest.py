"""Every engine on files and on frames, and the local one with so little room that all its ways are gone."""

import pytest

from uqcli.choices import EngineName
from uqcli.engines.local.count import isotonic, kept, ranges
from uqcli.engines.open import open_engine
from uqcli.engines.spark import ranges as spark_ranges
from uqcli.engines.spark.engine import SparkEngine

FRAME = "frame"
TIGHT, AGAIN = "in parts of a few rows", "in parts, most of them read again"
CELLS, EXPRESSIONS = "spark, in a few cells", "spark, in a few cells by expressions"
ON_SPARK = (EngineName.SPARK, CELLS, EXPRESSIONS)


@pytest.fixture(params=[*EngineName, TIGHT, AGAIN, CELLS, EXPRESSIONS])
def room(request):
    """The engine's name, or how little room one has."""
    return request.param


@pytest.fixture(params=["parquet", FRAME])
def source(request, room):
    """Where rows are read from: a format of files, or memory, which a cluster does not see."""
    if room in ON_SPARK and request.param == FRAME:
        return "parquet"
    return request.param


@pytest.fixture
def engine(room, monkeypatch):
    """An engine under the one contract."""
    if room in (TIGHT, AGAIN):
        for module in (kept, ranges):
            monkeypatch.setattr(module, "ROWS_PER_PART", 3)
        monkeypatch.setattr(isotonic, "SORTED_ROWS", 4)
        monkeypatch.setattr(ranges, "COLLECTED_ROWS", 2)
        monkeypatch.setattr(ranges, "CELLS", 8)
        monkeypatch.setattr(ranges, "LEAST_RANGES", 4)
        if room == AGAIN:
            monkeypatch.setattr(kept, "KEPT_BYTES", 40)
        return open_engine(EngineName.POLARS)
    if room in (CELLS, EXPRESSIONS):
        monkeypatch.setattr(spark_ranges, "ROWS_PER_PART", 3)
        monkeypatch.setattr(spark_ranges, "COLLECTED_ROWS", 2)
        monkeypatch.setattr(spark_ranges, "CELLS", 16)
        monkeypatch.setattr(spark_ranges, "LEAST_CELLS", 4)
        return SparkEngine(expressions=room == EXPRESSIONS)
    return open_engine(room)
