"""Fixtures for all engines: file formats, data frames, and limits so small that every code path runs."""

import zlib

import pytest
from hypothesis import settings

from tests.conftest import PROFILE
from uqcli.base.choices import EngineName
from uqcli.engines.local.count import cached, pooling, ranges, table
from uqcli.engines.open import open_engine
from uqcli.engines.spark import engine as spark_engine
from uqcli.kernels import compile as compiling

FRAME = "frame"
SMALL_PARTS, REREAD_PARTS = "in parts of a few rows", "in parts, most of them read again"
FEW_CELLS, EXPRESSIONS = "spark, in a few cells", "spark, in a few cells by expressions"
ON_SPARK = (EngineName.SPARK, FEW_CELLS, EXPRESSIONS)
EXAMPLES_ON_SPARK, EXAMPLES_IN_PARTS = (1, 2) if PROFILE == "uqcli" else (2, 4)
"""Maximum number of generated examples per test: on a cluster, and with small parts."""

USUAL = (EngineName.POLARS, REREAD_PARTS, EXPRESSIONS)
"""Engines that ``make test`` uses, the last but one once for each test, and the last for a third of them.

``make test-spark`` uses all.
"""


@pytest.fixture(params=[*EngineName, SMALL_PARTS, REREAD_PARTS, FEW_CELLS, EXPRESSIONS])
def variant(request):
    """Return the name of an engine, or of an engine with small limits."""
    return request.param


@pytest.fixture(params=["parquet", FRAME])
def source(request):
    """Return the source of the rows: a file format, or a data frame in memory."""
    return request.param


@pytest.hookimpl(tryfirst=True)
def pytest_collection_modifyitems(config, items):
    """Deselect tests of inputs that a cluster refuses, and mark those of engines that are not usual."""
    deselected = [item for item in items if _is_refused(item)]
    config.hook.pytest_deselected(items=deselected)
    items[:] = [item for item in items if item not in deselected]
    taken = set()
    for item in items:
        values = item.callspec.params if hasattr(item, "callspec") else {}
        variant = values.get("variant")
        is_repeated = variant in USUAL[1:] and (item.function, variant) in taken
        is_repeated |= variant == REREAD_PARTS and values.get("source") == FRAME
        is_repeated |= variant == EXPRESSIONS and zlib.crc32(item.function.__name__.encode()) % 3 > 0
        if variant is not None and (variant not in USUAL or is_repeated):
            item.add_marker("spark")
        taken.add((item.function, variant))


def _is_refused(item):
    values = item.callspec.params if hasattr(item, "callspec") else {}
    if item.path.name == "test_frames.py":
        return bool({*ON_SPARK} & {value for value in values.values() if isinstance(value, str)})
    if values.get("variant") not in ON_SPARK:
        return False
    source = values.get("source", values.get("ending", "parquet"))
    return source in (FRAME, "arrow", "jsonl") or "local_only" in item.fixturenames


@pytest.fixture(autouse=True)
def few_examples(request, monkeypatch):
    """Limit the examples: a query to a cluster takes 0.1 s for any number of rows, and rereading is slow."""
    attribute = "_hypothesis_internal_use_settings"
    if "variant" not in request.fixturenames:
        return
    variant, known_settings = request.getfixturevalue("variant"), getattr(request.function, attribute, None)
    max_examples = (
        EXAMPLES_ON_SPARK
        if variant in ON_SPARK
        else EXAMPLES_IN_PARTS
        if variant in (SMALL_PARTS, REREAD_PARTS)
        else None
    )
    if known_settings is not None and max_examples is not None:
        monkeypatch.setattr(request.function, attribute, settings(known_settings, max_examples=max_examples))


@pytest.fixture
def local_only():
    """Mark a test for the local engine only: streams, single rows, cached rows."""


@pytest.fixture
def engine(variant, monkeypatch):
    """Open the engine under test."""
    # pyspark looks up the source line of each column, which takes a fifth of the run time
    if variant in ON_SPARK:
        monkeypatch.setattr("pyspark.errors.utils._enable_debugging_cache", False, raising=False)
    if variant in (SMALL_PARTS, REREAD_PARTS):
        for module in (cached, table, ranges):
            monkeypatch.setattr(module, "ROWS_PER_PART", 3)
        monkeypatch.setattr(table, "SORTED_ROWS", 4)
        monkeypatch.setattr(pooling, "WAITING_ROWS", 5)
        monkeypatch.setattr(pooling, "ROWS_PER_RANGE", 2)
        monkeypatch.setattr(ranges, "COLLECTED_ROWS", 2)
        monkeypatch.setattr(ranges, "CELLS", 8)
        monkeypatch.setattr(ranges, "MIN_RANGES", 4)
        monkeypatch.setattr(ranges, "MIN_PARTS", 64)
        if variant == REREAD_PARTS:
            monkeypatch.setattr(cached, "cached_bytes", lambda: 40)
            monkeypatch.setattr(ranges, "MIN_PARTS", 1 << 14)
            monkeypatch.setattr(table, "_SORTED_ROWS_READ_AGAIN", 4)
            monkeypatch.setattr(compiling, "SMALL_WORK", -1)  # every kernel runs as machine code
            monkeypatch.setattr(compiling, "UNCOMPILED_WORK", -1)
        return open_engine(EngineName.POLARS)
    if variant in (FEW_CELLS, EXPRESSIONS):
        monkeypatch.setattr(spark_engine, "ROWS_PER_PART", 3)
        monkeypatch.setattr(spark_engine, "MAX_VALUES", 4)
        monkeypatch.setattr(spark_engine, "CELLS", 16)
        monkeypatch.setattr(spark_engine, "MIN_CELLS", 4)
        if variant == EXPRESSIONS:  # else the test of the workers itself lets them have the functions
            monkeypatch.setattr(spark_engine, "runs_functions", lambda _: False)
        return open_engine(EngineName.SPARK)
    return open_engine(variant)
