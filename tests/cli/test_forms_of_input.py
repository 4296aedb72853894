"""Tests of input formats: key=value folders, JSON lines and CSV of any delimiter give equal results."""

import base64
import decimal
import gzip
import json
from pathlib import Path

import numpy as np
import polars as pl
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from uqcli.cli.app import run

DAYS = ("2026-11-01", "2026-11-02", "2026-11-10")
ARGUMENTS = ("--precision", "0.7", "--score-bins", "20", "-q", "-o", "b.json")


def write_rows(frame, path):
    path.parent.mkdir(parents=True, exist_ok=True)
    by_ending = {".parquet": frame.write_parquet, ".csv": frame.write_csv, ".jsonl": frame.write_ndjson}
    by_ending[path.suffix](path)


def write_files():
    random = np.random.default_rng(3)
    score = random.random(600)
    frame = pl.DataFrame(
        {
            "id": [f"{number:05d}" for number in range(600)],
            "score": score,
            "uncertainty": random.random(600),
            "label": random.random(600) < score,
        }
    )
    frame.write_parquet("all.parquet")
    for ending in ("parquet", "csv", "jsonl"):
        folder = Path(ending)
        for number, day in enumerate(DAYS):
            part = frame[200 * number : 200 * number + 200]
            write_rows(part, folder / f"day={day}" / "shop=a%20b" / f"part.{ending}")
        (folder / "day=2026-11-01" / "_SUCCESS").touch()
        (folder / "models").mkdir()
        (folder / "models" / "not-read.csv").write_text("a\n")
    return frame


@pytest.fixture
def rows(prepared):
    return prepared(write_files)


def fit_boundary():
    write_files()
    assert run(["boundary", "all.parquet", *ARGUMENTS]) == 0
    return Path("b.json").read_bytes()


@pytest.fixture
def boundary_bytes(prepared):
    return prepared(fit_boundary)


@pytest.mark.covering("thorough", every=4)
@pytest.mark.parametrize("ending", ["parquet", "csv", "jsonl"])
@pytest.mark.parametrize(
    "inputs", [["{}"], ["{}/day=*/"], ["{}/day=*/*/*.{}"], ["{}/day=2026-11-0*", "{}/day=2026-11-10"]]
)
def test_partitioned_folders_are_one_table(uqcli, boundary_bytes, tmp_path, ending, inputs):
    assert uqcli("boundary", *(pattern.format(ending, ending) for pattern in inputs), *ARGUMENTS).code == 0
    assert (tmp_path / "b.json").read_bytes() == boundary_bytes


@pytest.mark.covering("thorough", every=5)
@pytest.mark.parametrize("ending", ["parquet", "csv", "jsonl"])
@pytest.mark.parametrize("output", ["o.parquet", "o.csv", "o.jsonl", "o.arrow", "o.jsonl.gz"])
def test_folder_keys_are_columns_that_apply_keeps(uqcli, boundary_bytes, rows, tmp_path, ending, output):
    assert uqcli("apply", "b.json", ending, "-q", "-o", output).code == 0
    path = tmp_path / output
    readers = {"parquet": pl.read_parquet, "csv": pl.read_csv, "jsonl": pl.read_ndjson, "arrow": pl.read_ipc}
    content = gzip.decompress(path.read_bytes()) if output.endswith(".gz") else path.read_bytes()
    rows_out = readers[output.split(".")[1]](content, **({"infer_schema": False} if ".csv" in output else {}))
    assert rows_out.columns == ["id", "score", "uncertainty", "label", "day", "shop", "decision"]
    assert rows_out["day"].to_list() == [day for day in DAYS for _ in range(200)]
    assert set(rows_out["shop"]) == {"a b"}
    assert rows_out["id"].cast(pl.String).to_list() == rows["id"].to_list()


@pytest.mark.thorough
@pytest.mark.parametrize("ending", ["parquet", "csv", "jsonl"])
def test_folder_keys_define_groups_and_columns_of_the_file_must_agree_with_them(
    uqcli, rows, tmp_path, ending
):
    groups = uqcli("tce", ending, "--by", "day", "--json").json["groups"]
    assert [group["name"] for group in groups] == list(DAYS)
    write_rows(rows.with_columns(day=pl.lit("own")), tmp_path / "own" / "day=x" / f"d.{ending}")
    outcome = uqcli("tce", "own", "--by", "day", "--json")
    assert (outcome.code, "day" in outcome.err) == (3, True)


def test_null_keys_and_missing_keys_are_errors(uqcli, rows, tmp_path):
    write_rows(rows, tmp_path / "k" / "day=__HIVE_DEFAULT_PARTITION__" / "d.parquet")
    assert uqcli("tce", "k", "--by", "day").code == 3
    dropped = uqcli("tce", "k", "parquet", "--by", "day", "--on-invalid", "drop", "--json").json
    assert dropped["source"]["dropped"] == 600
    outcome = uqcli("tce", "parquet", "all.parquet", "--by", "day")
    assert (outcome.code, "no column 'day'" in outcome.err) == (3, True)
    assert uqcli("apply", "nowhere.json", "parquet/models").code == 3


def test_short_records_keep_their_folder_keys_in_place(uqcli, boundary_bytes, tmp_path):
    path = tmp_path / "s" / "day=1,2" / "d.csv"
    path.parent.mkdir(parents=True)
    path.write_bytes(b"score,uncertainty,note\r\n0.5,0.1\r\n0.6,0.2,n\r\n")
    assert uqcli("apply", "b.json", "s", "-q", "-o", "o.csv", "--on-invalid", "keep").code == 0
    lines = (tmp_path / "o.csv").read_bytes().split(b"\r\n")
    assert lines[0] == b"score,uncertainty,note,day,decision"
    assert lines[1].startswith(b'0.5,0.1,,"1,2",')
    assert lines[2].startswith(b'0.6,0.2,n,"1,2",')


def test_json_lines_keep_their_text(uqcli, boundary_bytes, tmp_path):
    first = '{"score": 0.50, "uncertainty":"0.25", "more": {"a": [1, 2]}'
    text = f'{first}}}\r\n\n{{ }}\n{{"score":1e-1,"uncertainty":1,"x":null}}'.encode()
    (tmp_path / "d.ndjson").write_bytes(text)
    options = ("--on-invalid", "keep", "-q", "-o", "o.jsonl")
    for source, stdin in ((["d.ndjson"], b""), (["-", "--format", "jsonl"], text)):
        outcome = uqcli("apply", "b.json", *source, *options, stdin=stdin)
        assert (outcome.code, outcome.err) == (0, "")
        first_line, second_line, third_line = (tmp_path / "o.jsonl").read_text().splitlines()
        assert first_line.startswith(f'{first},"decision":')
        assert second_line == '{"decision":null}'
        assert json.loads(third_line)["x"] is None
    assert uqcli("apply", "b.json", "o.jsonl", *options[:3], "-o", "p.jsonl").code == 2
    assert uqcli("apply", "b.json", "o.jsonl", "--overwrite", *options[:3], "-o", "p.jsonl").code == 0
    rewritten = [json.loads(line) for line in (tmp_path / "p.jsonl").read_text().splitlines()]
    assert [row["decision"] for row in rewritten] == [
        json.loads(line_out)["decision"] for line_out in (first_line, second_line, third_line)
    ]


@pytest.mark.covering("thorough", every=3)
@pytest.mark.parametrize("delimiter", [";", "\t", "|"])
@pytest.mark.parametrize("stdin", [False, True])
def test_the_delimiter_of_a_csv_file_is_recognised_and_reported(
    uqcli, boundary_bytes, rows, tmp_path, delimiter, stdin
):
    text = rows.write_csv(separator=delimiter).encode()
    (tmp_path / "d.csv").write_bytes(text)
    input_options = {"stdin": text} if stdin else {}
    options = ("-" if stdin else "d.csv", *ARGUMENTS[:4], "-o", "b.json", "--verbose")
    outcome = uqcli("boundary", *options, **input_options)
    name = {";": "semicolons", "\t": "tabs", "|": "bars"}[delimiter]
    assert f"is read with {name} between its fields" in outcome.out.decode()
    assert (tmp_path / "b.json").read_bytes() == boundary_bytes
    applied = uqcli("apply", "b.json", "-" if stdin else "d.csv", **input_options)
    assert applied.out.splitlines()[0].decode().split(delimiter)[-1] == "decision"


def test_no_delimiter_is_guessed_if_one_is_given_or_columns_are_missing(uqcli, rows, tmp_path):
    rows.write_csv(tmp_path / "d.csv", separator=";")
    outcome = uqcli("tce", "d.csv", "--delimiter", ",")
    assert (outcome.code, "the semicolons between them; leave out --delimiter" in outcome.err) == (3, True)
    outcome = uqcli("tce", "d.csv", "--score", "other")
    assert (outcome.code, "no column 'other'" in outcome.err) == (3, True)


def test_decimal_commas_are_refused_with_advice(uqcli, tmp_path):
    (tmp_path / "d.csv").write_text("score;label\n0,5;1\n0,25;0\n")
    outcome = uqcli("tce", "d.csv")
    assert outcome.code == 3
    assert "decimal point" in outcome.err
    assert "write 0.5 for 0,5" in outcome.err


def test_a_late_key_is_never_written_twice(uqcli, boundary_bytes, tmp_path):
    record = '{"score": 0.5, "uncertainty": 0.1}\n'
    for late in (
        '{"score": 0.5, "uncertainty": 0.1, "decision": 1}\n',
        record.replace("{", '{"d\\u0065cision": 1, '),
    ):
        (tmp_path / "late.jsonl").write_text(record * 1499 + late + record * 10)
        outcome = uqcli("apply", "b.json", "late.jsonl", "-q", "-o", "o.jsonl")
        assert outcome.code == 3
        assert "data row 1500 of 'late.jsonl' has a key 'decision'" in outcome.err
        assert not (tmp_path / "o.jsonl").exists()
        assert uqcli("apply", "b.json", "late.jsonl", "-q", "--prefix", "p_", "-o", "p.jsonl").code == 0
    (tmp_path / "value.jsonl").write_text(record * 1499 + record.replace("}", ', "note": "decision"}'))
    assert uqcli("apply", "b.json", "value.jsonl", "-q", "-o", "o.jsonl").code == 0


def test_decimals_are_the_numbers_of_their_texts(uqcli, tmp_path):
    """Arrow's own cast makes more than half of them a little larger."""
    texts = [f"0.{number:05d}" for number in range(1, 100_000, 7)]
    label = [number % 2 for number in range(len(texts))]
    columns = {"score": pa.array(map(decimal.Decimal, texts), pa.decimal128(10, 5)), "label": label}
    pq.write_table(pa.table(columns), tmp_path / "rows.parquet")
    rows = (f"{text},{positive}\n" for text, positive in zip(texts, label, strict=True))
    (tmp_path / "rows.csv").write_text("score,label\n" + "".join(rows))
    found = [
        uqcli("bin", f"rows.{form}", "--binning", "quantile", "--score-bins", "5000", "--json").json
        for form in ("csv", "parquet")
    ]
    assert found[0]["score_edges"] == found[1]["score_edges"]
    assert found[0]["count"] == found[1]["count"]


def test_partitions_that_differ_in_leading_zeros_are_groups_of_their_own(uqcli, tmp_path):
    """Other readers make one number of both, or fail."""
    for group in ("01", "1"):
        (tmp_path / "rows" / f"g={group}").mkdir(parents=True)
        pq.write_table(
            pa.table({"score": [0.2, 0.8], "label": [0, 1]}), tmp_path / f"rows/g={group}/a.parquet"
        )
    assert list(uqcli("tce", "rows", "--by", "g", "--json").json["metrics"]["by_group"]) == ["01", "1"]


def test_decimals_of_any_length_are_read_and_kept(uqcli, boundary_bytes, tmp_path):
    score = [decimal.Decimal(number) / 1000 for number in range(1000)]
    label = [int(number > 500) for number in range(1000)]
    for digits, kind in ((38, pa.decimal128), (60, pa.decimal256)):
        columns = {"score": pa.array(score, kind(digits, 20)), "label": label, "uncertainty": [0.1] * 1000}
        pq.write_table(pa.table(columns), tmp_path / f"{digits}.parquet")
        assert uqcli("bin", f"{digits}.parquet", "-q", "-o", f"{digits}.json").code == 0
        for output in ("o.parquet", "o.csv", "o.jsonl"):
            outcome = uqcli("apply", "b.json", f"{digits}.parquet", "-q", "-o", output)
            assert (outcome.code, outcome.err) == (0, "")
        assert pq.read_table(tmp_path / "o.parquet")["score"].to_pylist() == score
        written = pl.read_csv(tmp_path / "o.csv", infer_schema=False)["score"].to_list()
        assert [decimal.Decimal(text) for text in written] == score
    assert (
        json.loads((tmp_path / "38.json").read_bytes())["count"]
        == (json.loads((tmp_path / "60.json").read_bytes())["count"])
    )


UNSUPPORTED = {
    "nested": pa.array([[decimal.Decimal(1)]] * 3, pa.list_(pa.decimal256(60, 2))),
    "months": pa.array([pa.MonthDayNano([1, 2, 3])] * 3),
    "runs": pa.RunEndEncodedArray.from_arrays(pa.array([3], pa.int32()), pa.array([0.5])),
    "either": pa.UnionArray.from_sparse(pa.array([0, 0, 0], pa.int8()), [pa.array([0.1, 0.2, 0.3])]),
}


@pytest.mark.parametrize("name", UNSUPPORTED)
def test_unsupported_types_are_named(uqcli, boundary_bytes, tmp_path, name):
    columns = {"label": pa.array([0, 1, 1]), "uncertainty": pa.array([0.1, 0.2, 0.3])}
    for column in ("score", "other"):
        table = pa.table({"score": pa.array([0.1, 0.2, 0.3]), **columns, column: UNSUPPORTED[name]})
        with pa.ipc.new_file(tmp_path / "t.arrow", table.schema) as writer:
            writer.write_table(table)
        outcome = uqcli("apply", "b.json", "t.arrow", "-q", "-o", "o.csv")
        assert outcome.code == 3
        assert f"column '{column}' holds" in outcome.err
        assert len(outcome.err.splitlines()) == 1


def test_unreadable_parquet_is_not_reported_as_truncated(uqcli, boundary_bytes, tmp_path):
    columns = {"score": [0.1, 0.2], "uncertainty": [0.1, 0.2], "label": [0, 1]}
    pl.DataFrame({**columns, "id": pl.Series([1, 2], dtype=pl.Int128)}).write_parquet(
        tmp_path / "long.parquet"
    )
    outcome = uqcli("bin", "long.parquet")
    assert outcome.code == 3
    assert "64 bits" in outcome.err
    encryption = pytest.importorskip("pyarrow.parquet.encryption")

    class Keys(encryption.KmsClient):
        def wrap_key(self, key, _master):
            return base64.b64encode(key)

    factory = encryption.CryptoFactory(lambda _config: Keys())
    for plain_footer in (False, True):
        settings = encryption.EncryptionConfiguration(
            footer_key="f", column_keys={"c": ["score"]}, plaintext_footer=plain_footer
        )
        properties = factory.file_encryption_properties(encryption.KmsConnectionConfig(), settings)
        table = pa.table(columns)
        with pq.ParquetWriter(
            tmp_path / "e.parquet", table.schema, encryption_properties=properties
        ) as writer:
            writer.write_table(table)
        outcome = uqcli("bin", "e.parquet")
        assert outcome.code == 3
        assert "decrypt it first" in outcome.err
    for path, remedy in (("long.parquet", "cast"), ("e.parquet", "decrypt")):
        assert "written completely" not in uqcli("bin", path).err, remedy


PLAIN = '"score": 0.9, "uncertainty": 0.1'


def json_lines(path, *later, first=PLAIN, copies=1000):
    """Write equal records, and different ones after them."""
    path.write_text(f"{{{first}}}\n" * copies + "".join(f"{{{PLAIN}, {fields}}}\n" for fields in later))


@pytest.mark.parametrize(
    ("first", "late"),
    [
        ('"x": {"a": 1}', '"x": {"a": 1, "b": "KEEP"}'),
        ('"x": []', '"x": [7]'),
        ('"x": [{"a": 1}]', '"x": [{"b": 1}]'),
        ('"x": null', '"x": {"a": 1}'),
    ],
)
def test_late_nested_values_are_never_lost(uqcli, boundary_bytes, tmp_path, first, late):
    json_lines(tmp_path / "n.jsonl", late, first=f"{PLAIN}, {first}")
    for output in ("o.parquet", "o.csv"):
        outcome = uqcli("apply", "b.json", "n.jsonl", "-q", "-o", output)
        assert outcome.code == 3, outcome.err
        assert "differ from the first ones" in outcome.err
    assert uqcli("apply", "b.json", "n.jsonl", "-q", "-o", "o.jsonl").code == 0
    assert late in (tmp_path / "o.jsonl").read_text()


def test_an_overwritten_key_changes_no_other(uqcli, boundary_bytes, tmp_path):
    json_lines(tmp_path / "n.jsonl", '"decision": 7, "x": {"b": 1.50, "c": []}', '"y": 1e2', copies=3)
    outcome = uqcli("apply", "b.json", "n.jsonl", "-q", "--overwrite", "-o", "o.jsonl")
    assert outcome.code == 0, outcome.err
    *_, changed, added = (tmp_path / "o.jsonl").read_text().splitlines()
    assert json.loads(changed)["decision"] in (True, False)
    assert '{"b": 1.50, "c": []}' in changed
    assert '"y":1e2' in added.replace(" ", "")
    assert all("decision" in json.loads(line) for line in (tmp_path / "o.jsonl").read_text().splitlines())


@pytest.mark.parametrize(
    "records",
    [
        ['"id": 18446744073709551615', '"id": 1'],
        ['"x": 1', '"x": true'],
        ['"x": 1', '"x": [2]'],
        ['"x": "a"', '"x": {"a": 1}'],
    ],
)
def test_unused_columns_may_contain_anything(uqcli, boundary_bytes, tmp_path, records):
    json_lines(tmp_path / "m.jsonl", *(f'"label": 1, {fields}' for fields in records), copies=0)
    assert uqcli("apply", "b.json", "m.jsonl", "-q", "-o", "o.jsonl").code == 0
    assert all(fields in (tmp_path / "o.jsonl").read_text() for fields in records)
    assert uqcli("evaluate", "b.json", "m.jsonl", "-q").code == 0
    outcome = uqcli("apply", "b.json", "m.jsonl", "-q", "-o", "o.csv")
    assert outcome.code == 0 or "write .jsonl" in outcome.err


@pytest.mark.parametrize("copies", [0, 1500])
def test_a_repeated_key_in_a_record_is_refused(uqcli, boundary_bytes, tmp_path, copies):
    json_lines(tmp_path / "d.jsonl", '"label": 1, "score": 0.1', copies=copies)
    outcome = uqcli("apply", "b.json", "d.jsonl", "-q", "-o", "o.jsonl")
    assert outcome.code == 3
    assert f"data row {copies + 1} of 'd.jsonl' has the key 'score' twice" in outcome.err
    json_lines(tmp_path / "d.jsonl", '"x": {"score": 1}', '"x": "score"', copies=3)
    assert uqcli("apply", "b.json", "d.jsonl", "-q", "-o", "o.jsonl").code == 0


def test_types_without_a_json_form_are_refused(uqcli, boundary_bytes, tmp_path):
    columns = {"score": [0.9, 0.8], "uncertainty": [0.1, 0.2]}
    pl.DataFrame({**columns, "x": [b"a", b"b"]}).write_parquet(tmp_path / "bytes.parquet")
    outcome = uqcli("apply", "b.json", "bytes.parquet", "-q", "-o", "o.jsonl")
    assert outcome.code == 3
    assert "column 'x' holds bytes" in outcome.err
    assert len(outcome.err.splitlines()) == 1
    (tmp_path / "index.csv").write_text(",column_0,score,uncertainty\n7,8,0.9,0.1\n")
    assert uqcli("apply", "b.json", "index.csv", "-q", "-o", "o.jsonl").code == 0
    record = json.loads((tmp_path / "o.jsonl").read_text())
    assert (record[""], record["column_0"]) == ("7", "8")


@pytest.mark.parametrize("output", ["o.csv", "o.parquet", "o.jsonl", "o.arrow"])
@pytest.mark.parametrize("ending", ["csv", "parquet"])
def test_one_column_may_be_score_and_uncertainty(uqcli, rows, tmp_path, ending, output):
    rows.write_csv(tmp_path / "all.csv")
    name = f"all.{ending}"
    options = ("--precision", "0.7", "--uncertainty", "score", "-q", "-o", "s.json")
    assert uqcli("boundary", name, *options, "--algorithm", "mist").code == 0
    outcome = uqcli("apply", "s.json", name, "-q", "-o", output)
    assert (outcome.code, outcome.err) == (0, "")


@pytest.mark.parametrize(
    ("text", "is_whole"), [(r"\ud83d", False), (r"\udf89", False), (r"\ud83c\udf89", True)]
)
def test_half_a_surrogate_pair_is_not_replaced(uqcli, boundary_bytes, tmp_path, text, is_whole):
    json_lines(tmp_path / "s.jsonl", f'"t": "{text}"', copies=0)
    for output in ("o.csv", "o.parquet"):
        assert uqcli("apply", "b.json", "s.jsonl", "-q", "-o", output).code == (0 if is_whole else 3)
    if "udf89" not in text or is_whole:  # a second half alone is unreadable
        assert uqcli("apply", "b.json", "s.jsonl", "-q", "-o", "o.jsonl").code == 0
        assert text in (tmp_path / "o.jsonl").read_text()


@pytest.mark.parametrize("options", [(), ("--overwrite",)])
def test_a_record_does_not_change_the_text_of_another(uqcli, boundary_bytes, tmp_path, options):
    """Equal texts are spelled differently, so that a record that is rewritten with its block would differ."""
    line = f'{{{PLAIN},   "id":1, "id":2}}\n'
    odd_lines = [f'{{{PLAIN}, "note": "caf\\u00e9"}}\n', f'{{{PLAIN}, "d\\u00e9": "\\"q\\": x"}}\n']
    last = f'{{{PLAIN}, "decision": 3}}\n' if options else ""
    (tmp_path / "m.jsonl").write_text(line * 3 + "".join(odd_lines) + last)
    assert uqcli("apply", "b.json", "m.jsonl", "-q", "-o", "o.jsonl", *options).code == 0
    written = (tmp_path / "o.jsonl").read_text().splitlines()
    for before, after in zip(
        [line.strip()] * 3 + [odd_line.strip() for odd_line in odd_lines], written, strict=False
    ):
        assert after.startswith(before[:-1])
    assert len(written) == 5 + bool(options)


@pytest.mark.parametrize(
    ("records", "options"),
    [
        ([f'{PLAIN}, "\\u0073core": 0.1'], ()),
        ([f'{PLAIN}, "score": 0.1', '"uncertainty": 0.1'], ("--on-invalid", "drop")),
        ([PLAIN.replace("score", r"sc\/ore"), f'{PLAIN}, "sc\\/ore": 1, "sc/ore": 2'], ("--score", "sc/ore")),
    ],
)
def test_repeated_keys_are_recognised_in_any_spelling(uqcli, boundary_bytes, tmp_path, records, options):
    (tmp_path / "d.jsonl").write_text("".join(f"{{{record}}}\n" for record in records))
    outcome = uqcli("apply", "b.json", "d.jsonl", "-q", "-o", "o.jsonl", *options)
    assert outcome.code == 3
    assert "twice" in outcome.err


def test_an_added_key_is_recognised_in_any_spelling(uqcli, boundary_bytes, tmp_path):
    (tmp_path / "d.jsonl").write_text(f'{{{PLAIN}, "a\\/decision": true}}\n')
    line = ("apply", "b.json", "d.jsonl", "-q", "--prefix", "a/", "-o", "o.jsonl")
    assert uqcli(*line).code != 0
    assert uqcli(*line, "--overwrite").code == 0
    assert (tmp_path / "o.jsonl").read_text().count("decision") == 1


def test_an_empty_key_is_a_column(uqcli, boundary_bytes, tmp_path):
    (tmp_path / "e.jsonl").write_text(f'{{{PLAIN}, "": 5}}\n')
    for output in ("o.csv", "o.jsonl", "o.parquet"):
        outcome = uqcli("apply", "b.json", "e.jsonl", "-q", "-o", output)
        assert (outcome.code, outcome.err) == (0, "")
    assert (tmp_path / "o.csv").read_text().splitlines()[1].split(",")[2] == "5"


@pytest.fixture
def timed_rows():
    """Make groups of times that differ in fractions of seconds, or in the offset of a repeated hour."""
    random = np.random.default_rng(5)
    score = random.random(300)
    index = random.integers(0, 3, 300)
    clock = pl.Series(
        [[3_723_000_000_000, 3_723_000_100_000, 3_723_000_200_000][clock_index] for clock_index in index]
    )
    hour = pl.Series(["2024-10-27T00:30:00", "2024-10-27T01:30:00", "2024-10-27T03:30:00"]).str.to_datetime()
    zoned = hour.dt.replace_time_zone("UTC").dt.convert_time_zone("Europe/Berlin")
    return pl.DataFrame(
        {
            "score": score,
            "label": (random.random(300) < score).astype(np.int8),
            "time": clock.cast(pl.Time),
            "zoned": zoned[index],
        }
    )


@pytest.mark.thorough
@pytest.mark.parametrize("column", ["time", "zoned"])
def test_groups_of_times_are_equal_for_every_format(uqcli, tmp_path, timed_rows, column):
    groups = []
    for ending in ("parquet", "csv", "arrow"):
        path = tmp_path / f"rows.{ending}"
        {"parquet": timed_rows.write_parquet, "csv": timed_rows.write_csv, "arrow": timed_rows.write_ipc}[
            ending
        ](path)
        outcome = uqcli("tce", path, "--by", column, "--json")
        assert (outcome.code, len(outcome.json["groups"])) == (0, 3)
        groups.append(outcome.json["groups"])
    assert groups[0] == groups[1] == groups[2]
    for ending in ("parquet", "csv"):
        rule_file, rows = tmp_path / f"{ending}.json", tmp_path / f"rows.{ending}"
        line = ("--method", "heterogeneous", "--partition", column, "-q", "-o", rule_file)
        assert uqcli("calibrate", rows, *line).code == 0
        assert (
            uqcli("apply", rule_file, tmp_path / "rows.csv", "-q", "-o", tmp_path / f"{ending}.csv").code == 0
        )
    assert (tmp_path / "parquet.csv").read_bytes() == (tmp_path / "csv.csv").read_bytes()


PATTERNS = {name: f"^{name}$" for name in ("score", "uncertainty", "label", "group")}


@pytest.mark.thorough
@pytest.mark.parametrize("ending", ["parquet", "csv", "jsonl", "arrow"])
@pytest.mark.parametrize("names", [PATTERNS, {"score": "*"}, {"group": "^.*$"}], ids=["^a$", "*", "^.*$"])
def test_column_names_that_look_like_patterns_are_names(uqcli, rows, tmp_path, ending, names):
    plain = rows.with_columns(group=pl.lit("a"))
    renamed = plain.rename(names)
    for frame, name in ((plain, "plain"), (renamed, "odd")):
        path = tmp_path / f"{name}.{ending}"
        writers = {"csv": frame.write_csv, "jsonl": frame.write_ndjson, "arrow": frame.write_ipc}
        writers.get(ending, frame.write_parquet)(path)
    for line in (
        ("boundary", "--precision", "0.6"),
        ("tce", "--by", "group"),
        ("calibrate", "--method", "heterogeneous", "--partition", "group", "--bootstrap", "2"),
    ):
        words = [names.get(word, word) for word in line]
        options = [f"--{role}={names[role]}" for role in ("score", "label") if role in names]
        if line[0] != "tce" and "uncertainty" in names and line[0] == "boundary":
            options.append(f"--uncertainty={names['uncertainty']}")
        expected = uqcli(line[0], tmp_path / f"plain.{ending}", *line[1:], "--json")
        outcome = uqcli(words[0], tmp_path / f"odd.{ending}", *words[1:], *options, "--json")
        assert (outcome.code, outcome.json["metrics"]) == (0, expected.json["metrics"]), outcome.err


@pytest.mark.parametrize("ending", ["csv", "csv.gz", "-"])
def test_lines_of_csv_may_end_in_carriage_returns(uqcli, boundary_bytes, tmp_path, ending):
    """Spreadsheets of old computers write such lines."""
    text = b'id,score,uncertainty,label,name\n00,0.5,0.1,1,"Doe, J"\n01,0.6,0.1,0,"a\rb"\n02,0.9,0.1,1,x'
    old = text.replace(b"\n", b"\r")
    (tmp_path / "new.csv").write_bytes(text + b"\n")
    file = "-" if ending == "-" else tmp_path / f"old.{ending}"
    if file != "-":
        file.write_bytes(gzip.compress(old) if ending == "csv.gz" else old)
    assert uqcli("apply", "b.json", "new.csv", "-q", "-o", "new-out.csv").code == 0
    outcome = uqcli("apply", "b.json", file, "-q", "-o", "old-out.csv", stdin=old)
    assert (outcome.code, outcome.err) == (0, "")
    written = (tmp_path / "old-out.csv").read_bytes()
    assert written == (tmp_path / "new-out.csv").read_bytes()
    assert written.count(b"\n") == 4
    expected = uqcli("tce", "new.csv", "--json", "--bootstrap", 0)
    assert uqcli("tce", file, "--json", "--bootstrap", 0, stdin=old).out == expected.out


@pytest.mark.parametrize("output", ["o.csv", "o.parquet", "o.arrow"])
def test_integers_of_json_lines_become_decimal_numbers(uqcli, boundary_bytes, output):
    """Types are those of all records, not of the first thousand."""
    values = [5] * 1200 + [5.25, 6]
    records = [
        {"score": 0.5, "uncertainty": 0.1, "amount": value, "more": {"x": [value]}, "whole": 1}
        for value in values
    ]
    if output == "o.csv":
        records = [{key: value for key, value in record.items() if key != "more"} for record in records]
    Path("d.jsonl").write_text("\n".join(map(json.dumps, records)))
    assert uqcli("apply", "b.json", "d.jsonl", "-q", "-o", output).code == 0
    readers = {"o.csv": pl.read_csv, "o.parquet": pl.read_parquet, "o.arrow": pl.read_ipc}
    frame = readers[output](output)
    assert frame["amount"].to_list() == values
    assert (frame["amount"].dtype, frame["whole"].dtype) == (pl.Float64, pl.Int64)
    assert output == "o.csv" or frame["more"].to_list() == [{"x": [value]} for value in values]
