"""A part without rows beside others adds nothing, in any format and place; alone it is exit code 3."""

from pathlib import Path

import polars as pl
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from tests.cli.conftest import fit

RULE = ("boundary", "{}", "--precision", "0.6", "--score-bins", "20")
COMMANDS = {
    "boundary": RULE,
    "calibrate": ("calibrate", "{}", "--method", "platt"),
    "tce": ("tce", "{}", "--by", "shop", "--bootstrap", "0"),
    "overview": ("overview", "{}"),
    "evaluate": ("evaluate", "rule.json", "{}", "--by", "shop"),
    "watch": ("watch", "rule.json", "{}"),
}


def rows():
    count = range(400)
    return pl.DataFrame(
        {
            "score": [(number * 37 % 400) / 400 for number in count],
            "label": [int(number * 37 % 400 > (number * 11) % 300) for number in count],
            "shop": [number % 3 for number in count],
        }
    )


def write_group_without_rows(frame, path):
    """Write one row group of no rows, as pandas does."""
    table = frame.to_arrow()
    with pq.ParquetWriter(path, table.schema) as writer:
        writer.write_table(table)


def write_batch_without_rows(frame, path):
    table = frame.to_arrow()
    with pa.ipc.new_file(path, table.schema) as writer:
        for batch in table.to_batches() or table.schema.empty_table().to_batches(1):
            writer.write_batch(batch)


WRITERS = {
    "parquet": write_group_without_rows,
    "arrow": write_batch_without_rows,
    "csv": lambda frame, path: frame.write_csv(path),
    "jsonl": lambda frame, path: frame.write_ndjson(path),
}


@pytest.fixture
def folders(prepared):
    return prepared(write_folders)


def write_folders():
    """Write rows with and without parts of no rows, before, between and after the others, in each format."""
    empty = rows().clear()
    for ending, write in WRITERS.items():
        for name in ("whole", "parts", "alone"):
            Path(ending, name).mkdir(parents=True)
        write(rows(), Path(ending, "whole", f"a.{ending}"))
        for number, part in enumerate((empty, rows()[:150], empty, rows()[150:], empty)):
            write(part, Path(ending, "parts", f"{number}.{ending}"))
        write(empty, Path(ending, "alone", f"a.{ending}"))
    # one without columns of its own, and one whose columns have no type
    write_group_without_rows(pl.DataFrame(), "parquet/parts/5.parquet")
    write_group_without_rows(empty.select(pl.all().cast(pl.Null)), "parquet/parts/6.parquet")
    fit(f"{' '.join(RULE)} -o rule.json".format("csv/whole"))


@pytest.mark.covering("thorough", every=2, also=["parquet-watch", "arrow-tce"])
@pytest.mark.parametrize(
    "command",
    [pytest.param(name, marks=[pytest.mark.thorough] if name == "overview" else []) for name in COMMANDS],
)
@pytest.mark.parametrize("ending", WRITERS)
def test_parts_without_rows_add_nothing(uqcli, folders, command, ending):
    whole, parts, alone = (
        uqcli(*(part.format(f"{ending}/{name}") for part in COMMANDS[command]), "--json")
        for name in ("whole", "parts", "alone")
    )
    assert whole.code == 0
    assert (parts.code, parts.out.replace(b"/parts", b"/whole")) == (0, whole.out), parts.err
    assert (alone.code, "internal" in alone.err) == (3, False)


@pytest.mark.covering("thorough", every=2)
@pytest.mark.parametrize("ending", WRITERS)
def test_apply_writes_what_it_writes_without_them(uqcli, folders, ending):
    for output in ("o.csv", "o.parquet", "o.jsonl"):
        for name in ("whole", "parts"):
            outcome = uqcli("apply", "rule.json", f"{ending}/{name}", "-q", "-o", f"{name}-{output}")
            assert outcome.code == 0, outcome.err
        assert Path(f"parts-{output}").read_bytes() == Path(f"whole-{output}").read_bytes()
    if ending != "jsonl":  # whose columns are those of its rows
        assert uqcli("apply", "rule.json", f"{ending}/alone", "-q", "-o", "o.csv").code == 0
        assert Path("o.csv").read_text().split() == ["score,label,shop,decision"]


def test_the_empty_parts_of_labels_add_nothing(uqcli, folders):
    for name, frame in (("labels", rows()), ("scores", rows())):
        Path(name).mkdir()
        columns = ["label"] if name == "labels" else ["score"]
        table = frame.with_row_index("id").select("id", *columns)
        write_group_without_rows(table.clear(), f"{name}/0.parquet")
        write_group_without_rows(table, f"{name}/1.parquet")
    line = ("evaluate", "rule.json", "scores", "--labels", "labels", "--on", "id", "--json")
    assert uqcli(*line).json["metrics"]["rows"] == 400
