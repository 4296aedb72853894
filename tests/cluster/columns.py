"""Draw files as lakes have them, types x nulls x NaN x layouts of text x partitions, with command lines.

A drawn file is written to a folder; a command line names it, and what it writes.
"""

import datetime as dt
import gzip
import random as python_random
from contextlib import suppress
from dataclasses import dataclass, field
from decimal import Decimal

import numpy as np
import polars as pl
import pyarrow as pa
import pyarrow.parquet as pq

RULE = "rule.json"
"""Rule that drawn command lines apply, in the folder of all files."""

UTC = dt.UTC
BEGIN = dt.datetime(2026, 3, 1, 21, 30, tzinfo=UTC)
BLANKS = ("", "", "", " ", "\t", "\u00a0", "\u2003", "\u3000")

SCORES = (
    *("float64", "float64", "float32", "float16", "text", "dictionary"),
    *("decimal(5,4)", "decimal(18,17)", "decimal(20,19)", "decimal(38,37)"),
    *("int8", "int16", "int32", "int64", "uint8", "uint16", "uint32", "uint64"),
)
LABELS = (
    *(
        "int8",
        "int64",
        "uint8",
        "uint64",
        "bool",
        "float64",
        "float32",
        "decimal(3,1)",
        "text",
        "spaced text",
    ),
    *("words", "large numbers", "decimal(20,0)"),
)
GROUPS = (
    *(
        "text",
        "blanks",
        "int64",
        "uint64",
        "uint16",
        "bool",
        "date",
        "dictionary",
        "leading zeros",
        "whole text",
    ),
    *("float64", "time", "time in New York", "true and false"),
)
DAYS = (
    *("date", "text", "text of times", "named months", "numbers", "dictionary"),
    *("time", "time in New York", "time at +05:30", "time in UTC, ms", "time in UTC, ns", "mixed forms"),
)
CARRIED = (
    *("list", "struct", "map", "binary", "decimal(38,10)", "decimal(9,0)", "uint8", "uint64", "float16"),
    *(
        "dictionary",
        "time",
        "time in New York",
        "date",
        "null",
        "blanks",
        "nested list",
        "bool",
        "Score",
        "time of day",
    ),
)
LINES = (
    *("boundary {file} --recall 0.5 --uncertainty-bins 2 -o {out}",) * 2,
    "boundary {file} --recall 0.5 --algorithm vw-dpmt --uncertainty-bins 2 --by group -o {out}",
    "boundary {file} --recall 0.5 --algorithm st --day day -o {out}",
    "boundary {file} --recall 0.5 --algorithm st --weight weight -o {out}",
    "bin {file} --score-bins 4 -o {out}",
    "tce {file} --by group --report {out}",
    "calibrate {file} --method isotonic -o {out}",
    "evaluate {rule} {file} --by group --report {out}",
    "evaluate {rule} {file} --report {out}",
    "watch {rule} {file} --day day --report {out}",
    "overview {file} --report {out}",
    *("apply {rule} {file} -o {out}",) * 5,
    "apply {rule} {file} --only-selected -o {out}",
)


@dataclass(frozen=True)
class Drawn:
    """A drawn file, the command line, and what was drawn, by kind."""

    name: str
    line: str
    options: list = field(default_factory=list)
    kinds: dict = field(default_factory=dict)


def drawn(seed, folder):
    """Draw a file, write it to a folder, and return it with its command line."""
    random, pick = np.random.default_rng(seed), python_random.Random(seed).choice
    rows = int(random.integers(20, 60))
    kinds = {
        "line": pick(LINES),
        "layout": pick(
            ("pyarrow", "pyarrow", "polars", "row groups", "partitions", "folder", "csv", "csv", "csv.gz")
        ),
        "score": pick(SCORES),
        "label": pick(LABELS),
        "group": pick(GROUPS),
        "day": pick(DAYS),
        "carried": pick(CARRIED),
        "holes": pick(
            ("none", "none", "none", "nulls", "NaN", "nulls and NaN", "NaN among equals", "infinity")
        ),
    }
    table, options = _table(random, pick, rows, kinds)
    if kinds["holes"] != "none" and pick((True, True, True, False)):
        options += [
            "--on-invalid",
            "keep" if kinds["line"].startswith("apply") and pick((True, False)) else "drop",
        ]
    name = _WRITERS[kinds["layout"]](folder, table, pick, kinds)
    if "delimiter" in kinds:
        options += ["--delimiter", kinds["delimiter"]]
    return Drawn(name=name, line=kinds["line"], options=options, kinds=kinds)


def _table(random, pick, rows, kinds):
    unit = random.random(rows)
    positive = random.random(rows) < unit
    options = []
    holes = np.zeros(rows, dtype=bool)
    if kinds["holes"] != "none":
        holes[random.choice(rows, 2, replace=False)] = True
    nulls = holes if "null" in kinds["holes"] else np.zeros(rows, dtype=bool)
    score = _scores(kinds, unit, nulls, holes, pick)
    label, positive_value = _labels(kinds["label"], positive)
    if positive_value is not None and not kinds["line"].startswith("apply"):
        options += ["--positive", positive_value]
    columns = {
        "score": score,
        "uncertainty": pa.array(random.integers(0, 4, rows) / 4),
        "label": label,
        "group": _keys(kinds["group"], random.integers(0, 3, rows), pick),
        "day": _days(kinds["day"], np.sort(random.integers(0, 14 * 24, rows))),
        "weight": pa.array(
            random.integers(0, 4, rows), pick((pa.int64(), pa.uint8(), pa.uint64(), pa.float64()))
        ),
    }
    columns |= _carried(kinds["carried"], random.integers(0, 5, rows))
    if kinds["line"].startswith(("tce", "calibrate")) and kinds["score"].startswith(("int", "uint")):
        columns["score"] = pa.array(positive.astype(float) * 0.5 + 0.25)
    return pa.table(columns), options


def _scores(kinds, unit, nulls, holes, pick):
    kind = kinds["score"]
    unit = np.round(unit, 3) if kinds["holes"] != "NaN among equals" else np.full(len(unit), 0.625)
    if kind.startswith(("int", "uint")):
        return pa.array((unit * 100).astype(np.int64), mask=nulls).cast(pa.type_for_alias(kind))
    if kind.startswith("decimal"):
        digits, scale = map(int, kind[8:-1].split(","))
        values = [
            None if null else Decimal(repr(float(value))).quantize(Decimal(1).scaleb(-min(scale, 18)))
            for value, null in zip(unit, nulls, strict=True)
        ]
        return pa.array(values, pa.decimal128(digits, scale))
    special = {"infinity": np.inf}.get(kinds["holes"], np.nan)
    value = np.where(holes & ~nulls | (holes if kinds["holes"] == "nulls and NaN" else False), special, unit)
    if kinds["holes"] == "nulls and NaN":
        nulls = nulls & (np.arange(len(nulls)) % 2 == 0)
    if kind in ("text", "dictionary"):
        texts = [
            None if null else pick(BLANKS) + _number_text(number, pick) + pick(BLANKS)
            for number, null in zip(value, nulls, strict=True)
        ]
        return pa.array(texts).dictionary_encode() if kind == "dictionary" else pa.array(texts)
    if kind == "float16":
        return pa.array(value.astype(np.float16), mask=nulls)
    return pa.array(value, mask=nulls).cast(pa.type_for_alias(kind))


def _number_text(number, pick):
    if not np.isfinite(number):
        return pick({True: ("nan", "NaN"), False: ("inf", "Infinity", "+inf")}[bool(np.isnan(number))])
    plain = repr(float(number))
    return pick(
        (plain, plain, f"+{plain}", f"{number:e}", f"{number:E}", plain.removeprefix("0"), f"0{plain}")
    )


def _labels(kind, positive):
    if kind == "bool":
        return pa.array(positive), None
    if kind == "words":
        return pa.array(np.where(positive, "fraud", "fair")), "fraud"
    if kind == "large numbers":
        return pa.array(np.where(positive, 20000001.0, 1.0)), "20000001"
    if kind in ("text", "spaced text"):
        texts = np.where(positive, "1", "0") if kind == "text" else np.where(positive, " TRUE\u00a0", "false")
        return pa.array(texts), None
    if kind.startswith("decimal"):
        digits, scale = map(int, kind[8:-1].split(","))
        return pa.array([Decimal(int(value)) for value in positive], pa.decimal128(digits, scale)), None
    return pa.array(positive.astype(np.int64)).cast(pa.type_for_alias(kind)), None


def _keys(kind, codes, pick):
    texts = {
        "blanks": ["A", "\u00a0A", "B\u2003"],
        "leading zeros": ["007", "7", "07"],
        "whole text": ["2.0", "2", "2.50"],
        "true and false": ["TRUE", "true", "no"],
        "bool": [True, False, False],
        "date": [dt.date(2026, 1, day) for day in (1, 2, 3)],
        "float64": [2.0, 2.5, 3.0],
        "int64": [-5, 0, 2**53 + 1],
    }.get(kind, ["a", "b", "ü"])
    if kind in ("uint64", "uint16"):
        return pa.array(
            np.array([1, 2, 2**64 - 1 if kind == "uint64" else 40_000], dtype=np.uint64)[codes].astype(kind)
        )
    if kind.startswith("time"):
        zone = "America/New_York" if "York" in kind else None
        return pa.array(
            [BEGIN.replace(tzinfo=None) + dt.timedelta(days=int(code)) for code in codes],
            pa.timestamp("us", zone),
        )
    array = pa.array([texts[code] for code in codes])
    return array.dictionary_encode() if kind == "dictionary" else array


def _days(kind, hours):
    times = [BEGIN + dt.timedelta(hours=int(hour)) for hour in hours]
    if kind == "date":
        return pa.array([time.date() for time in times])
    if kind == "numbers":
        return pa.array([int(f"{time:%Y%m%d}") for time in times])
    forms = {
        "text": "%Y-%m-%d",
        "dictionary": "%Y-%m-%d",
        "text of times": "%Y-%m-%dT%H:%M:%S",
        "named months": "%d-%b-%Y",
    }
    if kind in forms:
        array = pa.array([time.strftime(forms[kind]) for time in times])
        return array.dictionary_encode() if kind == "dictionary" else array
    if kind == "mixed forms":
        return pa.array(
            [time.strftime("%Y/%m/%d" if index % 2 else "%Y-%m-%d") for index, time in enumerate(times)]
        )
    zone = {"time": None, "time in New York": "America/New_York", "time at +05:30": "+05:30"}.get(kind, "UTC")
    return pa.array(
        [time.replace(tzinfo=None) for time in times],
        pa.timestamp(kind[-2:] if kind[-2:] in ("ms", "ns") else "us", zone),
    )


def _carried(kind, codes):
    values = {
        "list": [[int(code), None] for code in codes],
        "nested list": [[{"a": [int(code)]}] for code in codes],
        "struct": [{"a": int(code), "b": "x"} for code in codes],
        "binary": [bytes([code, 0, 255]) for code in codes],
        "dictionary": ["abcde"[code] for code in codes],
        "blanks": [("", " ", "\u00a0x", "\n", 'say "hi", \\')[code] for code in codes],
        "date": [dt.date(1899, 1, 1 + int(code)) for code in codes],
        "bool": [bool(code % 2) for code in codes],
        "null": [None for _ in codes],
    }
    if kind in values:
        array = pa.array(values[kind])
        return {"carried": array.dictionary_encode() if kind == "dictionary" else array}
    if kind == "map":
        return {"carried": pa.array([[("k", int(code))] for code in codes], pa.map_(pa.string(), pa.int64()))}
    if kind.startswith("decimal"):
        digits, scale = map(int, kind[8:-1].split(","))
        return {"carried": pa.array([Decimal(int(code)) for code in codes], pa.decimal128(digits, scale))}
    if kind == "Score":
        return {"Score": pa.array(codes / 8), "SCORE": pa.array(codes)}
    if kind == "time of day":
        return {"carried": pa.array([dt.time(int(code)) for code in codes], pa.time64("us"))}
    if kind.startswith("time"):
        zone = "America/New_York" if "York" in kind else None
        return {
            "carried": pa.array(
                [dt.datetime(1850, 1, 1) + dt.timedelta(days=40_000 * int(code)) for code in codes],
                pa.timestamp("us", zone),
            )
        }
    if kind == "float16":
        return {"carried": pa.array((codes / 4).astype(np.float16))}
    return {"carried": pa.array(codes.astype(kind))}


def _parquet(folder, table, pick, kinds):
    if kinds["layout"] == "polars":
        with suppress(pl.exceptions.PolarsError):  # of types that it lacks, pyarrow writes the file
            pl.from_arrow(table).write_parquet(folder / "rows.parquet")
            return "rows.parquet"
    size = 7 if kinds["layout"] == "row groups" else None
    name = pick(("rows.parquet", "rows.parquet", "rows {1}.parquet", "rows 50%.parquet", "a+b.parquet"))
    pq.write_table(
        table,
        folder / name,
        row_group_size=size,
        use_dictionary=pick((True, False)),
        version=pick(("1.0", "2.6")),
    )
    return name


def _folder(folder, table, pick, kinds):
    (folder / "rows").mkdir()
    cut = len(table) // 3
    for index, part in enumerate((table[:cut], table[cut:])):
        pq.write_table(part, folder / "rows" / f"part-{index}.parquet")
    return "rows"


def _partitions(folder, table, pick, kinds):
    values = pick(
        (
            ("007", "7", "08"),
            ("a b", "c", "d"),
            ("2026-01-01", "x", "1e3"),
            ("1.0", "1", "0x1"),
            ("__HIVE_DEFAULT_PARTITION__", "a", "b"),
            ("true", "FALSE", "b"),
            ("a%2Fb", "a%3Db", "ü"),
        )
    )
    place = np.arange(len(table)) % len(values)
    rest = table.drop_columns(["group"])
    for index, value in enumerate(values):
        part = folder / "rows" / f"group={value}"
        part.mkdir(parents=True)
        pq.write_table(rest.filter(pa.array(place == index)), part / "part.parquet")
    return pick(("rows", "rows", "rows/group=*"))


def _csv(folder, table, pick, kinds):
    delimiter = pick((",", ",", ";", "\t", "|"))
    columns = {name: [_cell(value) for value in table[name].to_pylist()] for name in table.column_names}
    end = pick(("\n", "\n", "\r\n"))
    always = pick((False, False, True))

    def field_text(value):
        if value is None:
            return ""
        special = any(mark in value for mark in (delimiter, '"', "\n", "\r")) or value == ""
        return '"' + value.replace('"', '""') + '"' if special or always else value

    lines = [delimiter.join(map(field_text, columns))]
    lines += [delimiter.join(map(field_text, row)) for row in zip(*columns.values(), strict=True)]
    oddity = pick(("", "", "", "", "", "blank line", "long", "short", "last line"))
    if oddity == "blank line":
        lines.insert(3, "")
    if oddity in ("long", "short"):
        lines[4] = lines[4] + delimiter + "more" if oddity == "long" else lines[4].rpartition(delimiter)[0]
    kinds["csv"] = oddity or "plain"
    text = end.join(lines) + ("" if oddity == "last line" else end)
    data = pick((b"", b"", b"\xef\xbb\xbf")) + text.encode()
    name = "rows.csv" if kinds["layout"] == "csv" else "rows.csv.gz"
    (folder / name).write_bytes(data if kinds["layout"] == "csv" else gzip.compress(data))
    kinds["delimiter"] = delimiter
    return name


def _cell(value):
    if value is None or isinstance(value, str):
        return value
    if isinstance(value, dt.datetime):
        return value.isoformat()
    return str(value)


_WRITERS = {
    "pyarrow": _parquet,
    "polars": _parquet,
    "row groups": _parquet,
    "partitions": _partitions,
    "folder": _folder,
    "csv": _csv,
    "csv.gz": _csv,
}


def with_rule(folder):
    """Write the rows of the rule that drawn command lines apply."""
    random = np.random.default_rng(0)
    score = random.random(400).round(3)
    rows = {
        "score": score,
        "uncertainty": random.integers(0, 4, 400) / 4,
        "label": random.random(400) < score,
    }
    pl.DataFrame(rows).write_parquet(folder / "fit.parquet")
