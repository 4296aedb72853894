"""Property tests of the CSV reader, against Python's, with blocks that begin anywhere."""

import csv
import io
import random
import re

import pytest

from uqcli.base.errors import DataError
from uqcli.engines.local.read import csv_text
from uqcli.engines.local.read.csv_text import CsvDialect, read_header, read_texts

ALPHABET = ["a", "7", ".5", "-1e3", " ", "é", "漢", "🎲", ";", "x y", "null", "\u00a0", "\ufeff"]
IN_QUOTES = [*ALPHABET, ",", "\t", "\n", "\r\n", "\r", '""', "\n\n"]


class Trickle:
    """A stream that returns a few bytes per read, for any size asked for."""

    def __init__(self, content, max_bytes):
        self._stream = io.BytesIO(content)
        self._max_bytes = max_bytes

    def read(self, size=-1):
        return self._stream.read(min(size, self._max_bytes) if size >= 0 else self._max_bytes)


def read(content, block_bytes, monkeypatch, delimiter=","):
    """Return the columns, and the fields, raw fields, shortness and bytes of each record; None on errors."""
    monkeypatch.setattr(csv_text, "CSV_BLOCK_BYTES", block_bytes)
    stream = Trickle(content, block_bytes)
    try:
        header = read_header(stream, "d.csv", delimiter)
        dialect = CsvDialect(
            name="d.csv",
            columns=header.columns,
            delimiter=delimiter,
            header=header.text,
            line_end=header.line_end,
            ends_in_returns=header.ends_in_returns,
        )
        records = []
        for block in (text.block() for text in read_texts(stream, header.remainder, dialect)):
            assert block.first_row == len(records)
            short = [False] * block.rows if block.short is None else block.short.tolist()
            names = dialect.columns
            texts = (
                block.texts() if len(set(names)) == len(names) else block.values(list(dict.fromkeys(names)))
            )
            raw = zip(*(column.to_pylist() for column in block.raw_fields()), strict=True)
            records += zip(texts.rows(), raw, short, block.records().to_pylist(), strict=True)
    except DataError:
        return None
    return header.columns, records


def field(random, delimiter, *, first_alone):
    """Draw a field as written, never one that makes its line blank."""
    if random.random() < 0.3:
        return '"' + "".join(random.choices(IN_QUOTES, k=random.randrange(4))) + '"'
    text = "".join(random.choices(ALPHABET, k=random.randrange(1 if first_alone else 0, 4)))
    return text.replace(delimiter, "_")


def random_file(random, delimiter):
    """Draw a well-formed file, some with quotes, short lines, a BOM, blank lines or no last line end."""
    end = random.choice(["\n", "\r\n", "\r"])
    width = random.choice([1, 1, 2, 2, 3, 5, 9])
    lines = [delimiter.join(f"c{number}" for number in range(width))]
    ragged = random.random() < 0.4
    for _ in range(random.choice([0, 1, 1, 2, 3, 8, 20])):
        fields = random.randint(1, width) if ragged and random.random() < 0.5 else width
        lines.append(delimiter.join(field(random, delimiter, first_alone=fields == 1) for _ in range(fields)))
    text = "\ufeff" if random.random() < 0.2 else ""
    for line in lines:
        text += end * random.choice([0, 0, 0, 0, 1, 3]) + line + end
    return text.removesuffix(end) if random.random() < 0.3 else text + end * random.choice([0, 0, 2])


def read_by_python(content, delimiter):
    """Read the records with Python's csv module, for which a blank line has no fields."""
    text = content.decode("utf-8-sig").lstrip("\r\n")
    header, *rows = csv.reader(io.StringIO(text, newline=""), delimiter=delimiter, strict=True)
    if len(header) == 1 and not re.search(r"\r(?!\n)", re.sub(r'"[^"]*"', "", text)):
        rows = [row or [""] for row in rows]
    return tuple(header), [
        (row + [""] * (len(header) - len(row)), len(row) < len(header)) for row in rows if row
    ]


@pytest.mark.covering("thorough", every=4)
@pytest.mark.parametrize("seed", range(8))
def test_well_formed_files_are_read_as_by_python(seed, monkeypatch):
    source = random.Random(seed)
    for _ in range(60):
        delimiter = source.choice([",", ",", "\t", "|", " "])
        content = random_file(source, delimiter).encode()
        records_read = read(content, source.choice([1, 2, 3, 7, 20, 100, 1000]), monkeypatch, delimiter)
        columns, expected = read_by_python(content, delimiter)
        assert records_read is not None, content
        assert records_read[0] == columns, content
        values = [([text or "" for text in texts], short) for texts, _, short, _ in records_read[1]]
        assert values == expected, content
        for _, raw, short, record in records_read[1]:
            joined = delimiter.encode().join(raw)
            assert joined.startswith(record) if short else joined == record, content


@pytest.mark.covering("thorough", every=4)
@pytest.mark.parametrize("seed", range(8))
def test_any_bytes_are_read_alike_for_any_block_size(seed, monkeypatch):
    source = random.Random(1000 + seed)
    pieces = [
        b"a",
        b"1",
        b",",
        b",",
        b'"',
        b'"',
        b"\n",
        b"\n",
        b"\r\n",
        b"\r",
        b" ",
        "é".encode(),
        b"\xff",
        b"\0",
        b"\xef\xbb\xbf",
    ]
    for _ in range(60):
        body = b"".join(source.choices(pieces[: source.choice([9, 12, 15])], k=source.randrange(40)))
        content = source.choice([b"a,b\n", b"a\n", b"a,b,c\r\n", b"a,b\r", b"", b"\xef\xbb\xbf"]) + body
        expected = read(content, 1 << 20, monkeypatch)
        for block_bytes in (1, source.randrange(2, 9), source.randrange(9, 1000)):
            assert read(content, block_bytes, monkeypatch) == expected, (content, block_bytes)


def test_a_short_record_is_marked_in_any_block(monkeypatch):
    content = b"a,b,c\n1\n4,5,6\n7,8\n"
    for block_bytes in range(1, 30):
        columns, records = read(content, block_bytes, monkeypatch)
        assert columns == ("a", "b", "c")
        assert [texts for texts, *_ in records] == [("1", None, None), ("4", "5", "6"), ("7", "8", None)]
        assert [short for _, _, short, _ in records] == [True, False, True]


@pytest.mark.parametrize("second", [b'"1\r2",3', b"1,3"])
@pytest.mark.parametrize("end", [b"\r", b"\r\r\n", b""])
def test_a_header_that_ends_in_a_return_ends_all_lines_so(second, end, monkeypatch):
    content = b"\r\r" + b'a,"b\rc"\r' + second + b"\r4,5\r\n6,7\n8,9" + end
    for block_bytes in range(1, 30):
        columns, records = read(content, block_bytes, monkeypatch)
        assert columns == ("a", "b\rc")
        assert [record for *_, record in records] == [second, b"4,5", b"6,7", b"8,9"]


def test_a_header_alone_may_end_in_a_return(monkeypatch):
    for block_bytes in range(1, 9):
        assert read(b'"a",b\r', block_bytes, monkeypatch) == (("a", "b"), [])
        assert read(b"a,b\r\n1,2\r\n", block_bytes, monkeypatch)[1][0][1] == (b"1", b"2")
