"""Every engine on files and on frames, and the local one with so little room that all its ways are gone."""

import pytest
from hypothesis import settings

from uqcli.choices import EngineName
from uqcli.engines.local.count import cached, isotonic, ranges
from uqcli.engines.open import open_engine
from uqcli.engines.spark import ranges as spark_ranges
from uqcli.engines.spark.engine import SparkEngine

FRAME = "frame"
TIGHT, AGAIN = "in parts of a few rows", "in parts, most of them read again"
CELLS, EXPRESSIONS = "spark, in a few cells", "spark, in a few cells by expressions"
ON_SPARK = (EngineName.SPARK, CELLS, EXPRESSIONS)
FEW, SOME = 2, 4
"""Generated examples of each test on a cluster, and where every part is read again."""


@pytest.fixture(params=[*EngineName, TIGHT, AGAIN, CELLS, EXPRESSIONS])
def room(request):
    """The engine's name, or how little room one has."""
    return request.param


@pytest.fixture(params=["parquet", FRAME])
def source(request):
    """Where rows are read from: a format of files, or memory."""
    return request.param


def pytest_collection_modifyitems(config, items):
    """Leave out what a cluster refuses: frames in memory, JSON lines, Arrow, streams."""
    left_out = [item for item in items if _is_refused(item)]
    config.hook.pytest_deselected(items=left_out)
    items[:] = [item for item in items if item not in left_out]


def _is_refused(item):
    values = item.callspec.params if hasattr(item, "callspec") else {}
    if item.path.name == "test_frames.py":
        return bool({*ON_SPARK} & {each for each in values.values() if isinstance(each, str)})
    if values.get("room") not in ON_SPARK:
        return False
    source = values.get("source", values.get("ending", "parquet"))
    return source in (FRAME, "arrow", "jsonl") or "here" in item.fixturenames


@pytest.fixture(autouse=True)
def few_examples(request, monkeypatch):
    """A question to a cluster takes a tenth of a second, however few the rows; reading again is slow, too."""
    asked = "_hypothesis_internal_use_settings"
    if "room" not in request.fixturenames:
        return
    room, known = request.getfixturevalue("room"), getattr(request.function, asked, None)
    most = FEW if room in ON_SPARK else SOME if room in (TIGHT, AGAIN) else None
    if known is not None and most is not None:
        monkeypatch.setattr(request.function, asked, settings(known, max_examples=most))


@pytest.fixture
def here():
    """For what is asked of engines of this machine only: streams, single rows, rows that are kept."""


@pytest.fixture
def engine(room, monkeypatch):
    """An engine under the one contract."""
    if (
        room in ON_SPARK
    ):  # where in the source a column was named, found anew for each, is a fifth of the work
        monkeypatch.setattr("pyspark.errors.utils._enable_debugging_cache", False, raising=False)
    if room in (TIGHT, AGAIN):
        for module in (cached, ranges):
            monkeypatch.setattr(module, "ROWS_PER_PART", 3)
        monkeypatch.setattr(isotonic, "SORTED_ROWS", 4)
        monkeypatch.setattr(ranges, "COLLECTED_ROWS", 2)
        monkeypatch.setattr(ranges, "CELLS", 8)
        monkeypatch.setattr(ranges, "LEAST_RANGES", 4)
        monkeypatch.setattr(ranges, "LEAST_PARTS", 64)
        if room == AGAIN:
            monkeypatch.setattr(cached, "KEPT_BYTES", 40)
            monkeypatch.setattr(ranges, "LEAST_PARTS", 1 << 14)
        return open_engine(EngineName.POLARS)
    if room in (CELLS, EXPRESSIONS):
        monkeypatch.setattr(spark_ranges, "ROWS_PER_PART", 3)
        monkeypatch.setattr(spark_ranges, "MOST_VALUES", 4)
        monkeypatch.setattr(spark_ranges, "CELLS", 16)
        monkeypatch.setattr(spark_ranges, "LEAST_CELLS", 4)
        return SparkEngine(expressions=room == EXPRESSIONS)
    return open_engine(room)
