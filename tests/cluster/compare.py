"""Run drawn files on both engines, and count what came of them."""

import contextlib
import io
import json
import shutil
from collections import Counter
from decimal import Decimal
from difflib import unified_diff
from pathlib import Path

import pyarrow as pa
import pyarrow.parquet as pq

from tests.cluster.columns import RULE, drawn, with_rule
from uqcli.cli.app import run

SAME, BOTH_REFUSE, REFUSED_THERE, OTHER = "same", "both refuse", "refused on the cluster", "other"


def compared(seeds, folder, address):
    """Run the files of some seeds on both engines; return the counts by kind, and the failures."""
    folder = Path(folder)
    with_rule(folder)
    assert _call(f"boundary {folder}/fit.parquet --precision 0.6 -o {folder}/{RULE}".split())[0] == 0
    counts, failures = Counter(), []
    for seed in seeds:
        place = folder / f"file-{seed}"
        place.mkdir()
        file = drawn(seed, place)
        outcome = _outcome(file, place, folder / RULE, address)
        counted = outcome if outcome in (SAME, BOTH_REFUSE, REFUSED_THERE) else OTHER
        kinds = {name: file.kinds[name] for name in ("layout", "score", "group", "day", "carried", "label")}
        used = {
            name: kind for name, kind in kinds.items() if name in ("layout", "score") or name in file.line
        }
        used |= {"line": file.line.split()[0]}
        used |= {"carried": kinds["carried"]} if file.line.startswith("apply") else {"label": kinds["label"]}
        for name, kind in used.items():
            counts[name, kind, counted] += 1
        counts["all", "", counted] += 1
        if counted == OTHER:
            failures.append(f"seed {seed}, {file.line} {' '.join(file.options)}, {file.kinds}: {outcome}")
        shutil.rmtree(place)
    return counts, failures


def _outcome(file, place, rule, address):
    results = []
    for engine, options in (("polars", []), ("spark", ["--engine", "spark", "--spark", address])):
        out = place / f"{engine}{'.parquet' if file.line.startswith('apply') else '.json'}"
        words = [word.format(file=place / file.name, rule=rule, out=out) for word in file.line.split()]
        code, stderr = _call([*words, *file.options, *options])
        results.append((code, stderr, out))
    (code, said, here), (code_there, said_there, there) = results
    if code_there in (1, 70) or "Traceback" in said_there:
        return f"exit {code_there} on the cluster: {said_there}"
    if code == 0 and code_there == 0:
        same = (_same_rows if file.line.startswith("apply") else _same_results)(here, there)
        return SAME if same else f"differs\n{_difference(here, there)}"
    if [line.startswith("error: ") for line in said_there.splitlines()].count(True) != 1:
        return f"says more than a sentence: {said_there}"
    if code and code_there in (2, 3, 4):
        return BOTH_REFUSE
    if code_there in (2, 3):
        return REFUSED_THERE
    return f"exit {code} here, {said}; exit {code_there} on the cluster: {said_there}"


def _call(words):
    out, err = io.StringIO(), io.StringIO()
    with contextlib.redirect_stdout(out), contextlib.redirect_stderr(err):
        code = run([str(word) for word in [*words, "-q"]])
    return code, err.getvalue()


def _same_results(here, there):
    return _without_advice(here) == _without_advice(there)


def _without_advice(path):
    """Return a result without what an overview says of columns by their types and first rows."""
    report = json.loads(path.read_text())
    if "could_be_uncertainty" not in report:
        return path.read_bytes()
    odd = [sentence for sentence in report["odd"] if "resemble each other" not in sentence]
    left = dict.fromkeys(("could_be_uncertainty", "form", "first_rows"))  # the last needs rows in order
    return {**report, "odd": odd, **left}


def _same_rows(here, there):
    return _rows(here) == _rows(there)


def _rows(path):
    """Return the columns, and the rows as sorted texts: times as instants, whole numbers of any width."""
    table = pa.concat_tables(map(pq.ParquetFile.read, map(pq.ParquetFile, _files(path))))
    columns = []
    for column in table.columns:
        is_time = pa.types.is_timestamp(column.type)
        kind = pa.timestamp("us", column.type.tz) if is_time else column.type
        values = column.cast(kind, safe=False).cast(pa.int64()) if is_time else column
        columns.append([_whole(value) for value in values.to_pylist()])
    return table.column_names, sorted(map(repr, zip(*columns, strict=True)))


def _files(path):
    return sorted(path.glob("*.parquet")) if path.is_dir() else [path]


def _whole(value):
    is_whole = isinstance(value, Decimal) and value.as_tuple().exponent == 0
    return int(value) if is_whole else value


def _difference(here, there):
    if here.suffix == ".parquet":
        lines = ["\n".join([str(columns), *rows]) for columns, rows in map(_rows, (here, there))]
        return "\n".join(list(unified_diff(*(text.splitlines() for text in lines), n=0))[:12])
    return "\n".join(
        list(unified_diff(here.read_text().splitlines(), there.read_text().splitlines(), n=1))[:40]
    )
