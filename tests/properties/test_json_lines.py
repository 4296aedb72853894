"""Property tests of the JSON lines reader, against Python's, with blocks that begin anywhere."""

import io
import json
import random

import pyarrow as pa
import pytest

from tests.properties.test_csv_text import Trickle
from uqcli.base.errors import DataError
from uqcli.engines.local.read import json_lines
from uqcli.engines.local.read.json_lines import read_json_blocks

VALUES = [
    0.1,
    -1e-300,
    7,
    2**53 + 1,
    True,
    False,
    None,
    "",
    "0.5",
    "é漢🎲",
    'a"b',
    "x\ny",
    {"a": 1},
    [1, "b"],
]
KEYS = ["score", "label", "né", 'q"t', "a b"]
SCALARS = (int, float, str, bool, type(None))


def record(random):
    keys = random.sample(KEYS, random.randrange(len(KEYS) + 1))
    members = [
        f"{json.dumps(key, ensure_ascii=random.random() < 0.5)}{random.choice([':', ' : '])}"
        f"{json.dumps(random.choice(VALUES), ensure_ascii=random.random() < 0.5)}"
        for key in keys
    ]
    return random.choice(["{%s}", "{ %s }", "  {%s}", "{%s} \t"]) % ", ".join(members)


def expected_value(value):
    """Return booleans as text; strings, numbers and None unchanged."""
    if value is None or isinstance(value, str):
        return value
    return {True: "true", False: "false"}[value] if isinstance(value, bool) else value


def read(content, block_bytes, monkeypatch):
    monkeypatch.setattr(json_lines, "CSV_BLOCK_BYTES", block_bytes)
    rows = []
    for block in read_json_blocks(Trickle(content, block_bytes), b"", "d.jsonl", ()):
        assert block.first_row == len(rows)
        rows += block.values(KEYS).rows(named=True)
    return rows


@pytest.mark.covering("thorough", every=3)
@pytest.mark.parametrize("seed", range(60))
def test_values_equal_those_of_pythons_reader_for_any_block_size(seed, monkeypatch):
    random_ = random.Random(seed)
    records = [record(random_) for _ in range(random_.randrange(1, 30))]
    ends = [random_.choice(["\n", "\r\n", "\n\n", "\n \n"]) for _ in records]
    content = "".join(map("".join, zip(records, ends, strict=True))).encode()
    content = content if seed % 3 else content.rstrip()
    content = content if seed % 4 else b"\xef\xbb\xbf" + content
    for block_bytes in (1, 7, 64, 1 << 20):
        rows = read(content, block_bytes, monkeypatch)
        assert len(rows) == len(records)
        for row, text in zip(rows, records, strict=True):
            expected = json.loads(text)
            for key in KEYS:
                value = expected.get(key)
                if isinstance(value, SCALARS):
                    parsed, text_value = row[key], expected_value(value)
                    assert parsed == text_value or type(text_value)(parsed) == text_value, (
                        key,
                        value,
                        parsed,
                    )


@pytest.mark.parametrize(
    ("content", "message"),
    [
        (b'{"a": 1}\n[1]\n', "a line is no object"),
        (b'{"a": 1}\n{"a": NaN}\n', "data row 2: NaN is not a JSON number"),
        (b'{"a": 1}{"a": 2}\n', "data row 1: Extra data"),
        (b'{"a": 1}\n{"a": \n', "data row 2"),
        (b'{"a": "\xff"}\n', "not UTF-8 text"),
        (b'{"a": 1}\n{"a" 2}\n', "data row 2"),
    ],
)
def test_errors_of_invalid_lines_say_what_is_wrong(content, message, monkeypatch):
    with pytest.raises(DataError, match=message):
        read(content, 1 << 20, monkeypatch)


def test_columns_keep_the_types_of_the_first_records_or_fail():
    stream = io.BytesIO(b'{"a": 1, "b": "x"}\n{"a": 2.5}\n')
    (block,) = read_json_blocks(stream, b"", "d.jsonl", ())
    typed = block.table(pa.schema([("a", pa.float64()), ("b", pa.large_string())]))
    assert typed.to_pydict() == {"a": [1.0, 2.5], "b": ["x", None]}
    with pytest.raises(DataError, match="differ from the first ones"):
        block.table(pa.schema([("a", pa.int64()), ("b", pa.large_string())]))
    with pytest.raises(DataError, match="key 'b' is new"):
        block.table(pa.schema([("a", pa.float64())]))
