"""The same rows in key=value folders, as JSON lines, from spreadsheets: the same results, nothing lost."""

import base64
import decimal
import gzip
import json

import numpy as np
import polars as pl
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

DAYS = ("2026-11-01", "2026-11-02", "2026-11-10")
ARGUMENTS = ("--precision", "0.7", "--score-bins", "20", "-q", "-o", "b.json")


def write(frame, path):
    path.parent.mkdir(parents=True, exist_ok=True)
    by_ending = {".parquet": frame.write_parquet, ".csv": frame.write_csv, ".jsonl": frame.write_ndjson}
    by_ending[path.suffix](path)


@pytest.fixture
def rows(tmp_path):
    random = np.random.default_rng(3)
    score = random.random(600)
    frame = pl.DataFrame(
        {
            "id": [f"{each:05d}" for each in range(600)],
            "score": score,
            "uncertainty": random.random(600),
            "label": random.random(600) < score,
        }
    )
    frame.write_parquet(tmp_path / "all.parquet")
    for ending in ("parquet", "csv", "jsonl"):
        for number, day in enumerate(DAYS):
            part = frame[200 * number : 200 * number + 200]
            write(part, tmp_path / ending / f"day={day}" / "shop=a%20b" / f"part.{ending}")
        (tmp_path / ending / "day=2026-11-01" / "_SUCCESS").touch()
        (tmp_path / ending / "models").mkdir()
        (tmp_path / ending / "models" / "not-read.csv").write_text("a\n")
    return frame


@pytest.fixture
def whole(uqcli, rows, tmp_path):
    assert uqcli("boundary", "all.parquet", *ARGUMENTS).code == 0
    return (tmp_path / "b.json").read_bytes()


@pytest.mark.parametrize("ending", ["parquet", "csv", "jsonl"])
@pytest.mark.parametrize(
    "inputs", [["{}"], ["{}/day=*/"], ["{}/day=*/*/*.{}"], ["{}/day=2026-11-0*", "{}/day=2026-11-10"]]
)
def test_partitions_are_one_table(uqcli, whole, tmp_path, ending, inputs):
    assert uqcli("boundary", *(each.format(ending, ending) for each in inputs), *ARGUMENTS).code == 0
    assert (tmp_path / "b.json").read_bytes() == whole


@pytest.mark.parametrize("ending", ["parquet", "csv", "jsonl"])
@pytest.mark.parametrize("output", ["o.parquet", "o.csv", "o.jsonl", "o.arrow", "o.jsonl.gz"])
def test_keys_are_columns_that_apply_keeps(uqcli, whole, rows, tmp_path, ending, output):
    assert uqcli("apply", "b.json", ending, "-q", "-o", output).code == 0
    path = tmp_path / output
    readers = {"parquet": pl.read_parquet, "csv": pl.read_csv, "jsonl": pl.read_ndjson, "arrow": pl.read_ipc}
    content = gzip.decompress(path.read_bytes()) if output.endswith(".gz") else path.read_bytes()
    found = readers[output.split(".")[1]](content, **({"infer_schema": False} if ".csv" in output else {}))
    assert found.columns == ["id", "score", "uncertainty", "label", "day", "shop", "decision"]
    assert found["day"].to_list() == [day for day in DAYS for _ in range(200)]
    assert set(found["shop"]) == {"a b"}
    assert found["id"].cast(pl.String).to_list() == rows["id"].to_list()


@pytest.mark.parametrize("ending", ["parquet", "csv", "jsonl"])
def test_keys_tell_groups_apart_and_a_files_own_column_goes_before(uqcli, rows, tmp_path, ending):
    groups = uqcli("tce", ending, "--by", "day", "--json").json["groups"]
    assert [each["name"] for each in groups] == list(DAYS)
    write(rows.with_columns(day=pl.lit("own")), tmp_path / "own" / "day=x" / f"d.{ending}")
    (group,) = uqcli("tce", "own", "--by", "day", "--json").json["groups"]
    assert group["name"] == "own"


def test_null_keys_and_missing_keys(uqcli, rows, tmp_path):
    write(rows, tmp_path / "k" / "day=__HIVE_DEFAULT_PARTITION__" / "d.parquet")
    assert uqcli("tce", "k", "--by", "day").code == 3
    dropped = uqcli("tce", "k", "parquet", "--by", "day", "--on-invalid", "drop", "--json").json
    assert dropped["source"]["dropped"] == 600
    outcome = uqcli("tce", "parquet", "all.parquet", "--by", "day")
    assert (outcome.code, "no column 'day'" in outcome.err) == (3, True)
    assert uqcli("apply", "nowhere.json", "parquet/models").code == 3


def test_short_records_keep_their_keys_in_their_places(uqcli, whole, tmp_path):
    path = tmp_path / "s" / "day=1,2" / "d.csv"
    path.parent.mkdir(parents=True)
    path.write_bytes(b"score,uncertainty,note\r\n0.5,0.1\r\n0.6,0.2,n\r\n")
    assert uqcli("apply", "b.json", "s", "-q", "-o", "o.csv", "--on-invalid", "keep").code == 0
    lines = (tmp_path / "o.csv").read_bytes().split(b"\r\n")
    assert lines[0] == b"score,uncertainty,note,day,decision"
    assert lines[1].startswith(b'0.5,0.1,,"1,2",')
    assert lines[2].startswith(b'0.6,0.2,n,"1,2",')


def test_json_lines_keep_their_text(uqcli, whole, tmp_path):
    first = '{"score": 0.50, "uncertainty":"0.25", "more": {"a": [1, 2]}'
    text = f'{first}}}\r\n\n{{ }}\n{{"score":1e-1,"uncertainty":1,"x":null}}'.encode()
    (tmp_path / "d.ndjson").write_bytes(text)
    applying = ("--on-invalid", "keep", "-q", "-o", "o.jsonl")
    for reading, stdin in ((["d.ndjson"], b""), (["-", "--format", "jsonl"], text)):
        outcome = uqcli("apply", "b.json", *reading, *applying, stdin=stdin)
        assert (outcome.code, outcome.err) == (0, "")
        one, two, three = (tmp_path / "o.jsonl").read_text().splitlines()
        assert one.startswith(f'{first},"decision":')
        assert two == '{"decision":null}'
        assert json.loads(three)["x"] is None
    assert uqcli("apply", "b.json", "o.jsonl", *applying[:3], "-o", "p.jsonl").code == 2
    assert uqcli("apply", "b.json", "o.jsonl", "--overwrite", *applying[:3], "-o", "p.jsonl").code == 0
    rewritten = [json.loads(line) for line in (tmp_path / "p.jsonl").read_text().splitlines()]
    assert [row["decision"] for row in rewritten] == [
        json.loads(each)["decision"] for each in (one, two, three)
    ]


@pytest.mark.parametrize("delimiter", [";", "\t", "|"])
@pytest.mark.parametrize("stdin", [False, True])
def test_a_spreadsheets_delimiter_is_recognised_and_said(uqcli, whole, rows, tmp_path, delimiter, stdin):
    text = rows.write_csv(separator=delimiter).encode()
    (tmp_path / "d.csv").write_bytes(text)
    reading = {"stdin": text} if stdin else {}
    asked = ("-" if stdin else "d.csv", *ARGUMENTS[:4], "-o", "b.json", "--verbose")
    outcome = uqcli("boundary", *asked, **reading)
    name = {";": "semicolons", "\t": "tabs", "|": "bars"}[delimiter]
    assert f"is read with {name} between its fields" in outcome.out.decode()
    assert (tmp_path / "b.json").read_bytes() == whole
    applied = uqcli("apply", "b.json", "-" if stdin else "d.csv", **reading)
    assert applied.out.splitlines()[0].decode().split(delimiter)[-1] == "decision"


def test_no_delimiter_is_guessed_where_one_is_given_or_columns_are_missing(uqcli, rows, tmp_path):
    rows.write_csv(tmp_path / "d.csv", separator=";")
    outcome = uqcli("tce", "d.csv", "--delimiter", ",")
    assert (outcome.code, "no column 'score'" in outcome.err) == (3, True)
    outcome = uqcli("tce", "d.csv", "--score", "other")
    assert (outcome.code, "no column 'other'" in outcome.err) == (3, True)


def test_decimal_commas_are_refused_with_the_remedy(uqcli, tmp_path):
    (tmp_path / "d.csv").write_text("score;label\n0,5;1\n0,25;0\n")
    outcome = uqcli("tce", "d.csv")
    assert outcome.code == 3
    assert "decimal point" in outcome.err
    assert "write 0.5 for 0,5" in outcome.err


def test_a_key_that_comes_late_is_never_there_twice(uqcli, whole, tmp_path):
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


def test_decimals_of_any_length_are_read_and_kept(uqcli, whole, tmp_path):
    score = [decimal.Decimal(each) / 1000 for each in range(1000)]
    label = [int(each > 500) for each in range(1000)]
    for digits, kind in ((38, pa.decimal128), (60, pa.decimal256)):
        columns = {"score": pa.array(score, kind(digits, 20)), "label": label, "uncertainty": [0.1] * 1000}
        pq.write_table(pa.table(columns), tmp_path / f"{digits}.parquet")
        assert uqcli("bin", f"{digits}.parquet", "-q", "-o", f"{digits}.json").code == 0
        for output in ("o.parquet", "o.csv", "o.jsonl"):
            outcome = uqcli("apply", "b.json", f"{digits}.parquet", "-q", "-o", output)
            assert (outcome.code, outcome.err) == (0, "")
        assert pq.read_table(tmp_path / "o.parquet")["score"].to_pylist() == score
        written = pl.read_csv(tmp_path / "o.csv", infer_schema=False)["score"].to_list()
        assert [decimal.Decimal(each) for each in written] == score
    assert (
        json.loads((tmp_path / "38.json").read_bytes())["count"]
        == (json.loads((tmp_path / "60.json").read_bytes())["count"])
    )


FOREIGN = {
    "nested": pa.array([[decimal.Decimal(1)]] * 3, pa.list_(pa.decimal256(60, 2))),
    "months": pa.array([pa.MonthDayNano([1, 2, 3])] * 3),
    "runs": pa.RunEndEncodedArray.from_arrays(pa.array([3], pa.int32()), pa.array([0.5])),
    "either": pa.UnionArray.from_sparse(pa.array([0, 0, 0], pa.int8()), [pa.array([0.1, 0.2, 0.3])]),
}


@pytest.mark.parametrize("name", FOREIGN)
def test_types_that_are_not_read_are_named(uqcli, whole, tmp_path, name):
    plain = {"label": pa.array([0, 1, 1]), "uncertainty": pa.array([0.1, 0.2, 0.3])}
    for column in ("score", "other"):
        table = pa.table({"score": pa.array([0.1, 0.2, 0.3]), **plain, column: FOREIGN[name]})
        with pa.ipc.new_file(tmp_path / "t.arrow", table.schema) as writer:
            writer.write_table(table)
        outcome = uqcli("apply", "b.json", "t.arrow", "-q", "-o", "o.csv")
        assert outcome.code == 3
        assert f"column '{column}' holds" in outcome.err
        assert len(outcome.err.splitlines()) == 1


def test_parquet_that_cannot_be_read_is_not_called_cut_off(uqcli, whole, tmp_path):
    plain = {"score": [0.1, 0.2], "uncertainty": [0.1, 0.2], "label": [0, 1]}
    pl.DataFrame({**plain, "id": pl.Series([1, 2], dtype=pl.Int128)}).write_parquet(tmp_path / "long.parquet")
    outcome = uqcli("bin", "long.parquet")
    assert outcome.code == 3
    assert "64 bits" in outcome.err
    encryption = pytest.importorskip("pyarrow.parquet.encryption")

    class Keys(encryption.KmsClient):
        def wrap_key(self, key, _master):
            return base64.b64encode(key)

    factory = encryption.CryptoFactory(lambda _config: Keys())
    for plain_footer in (False, True):
        how = encryption.EncryptionConfiguration(
            footer_key="f", column_keys={"c": ["score"]}, plaintext_footer=plain_footer
        )
        properties = factory.file_encryption_properties(encryption.KmsConnectionConfig(), how)
        table = pa.table(plain)
        with pq.ParquetWriter(
            tmp_path / "e.parquet", table.schema, encryption_properties=properties
        ) as writer:
            writer.write_table(table)
        outcome = uqcli("bin", "e.parquet")
        assert outcome.code == 3
        assert "decrypt it first" in outcome.err
    for path, remedy in (("long.parquet", "cast"), ("e.parquet", "decrypt")):
        assert "written to its end" not in uqcli("bin", path).err, remedy


PLAIN = '"score": 0.9, "uncertainty": 0.1'


def json_lines(path, *ends, first=PLAIN, times=1000):
    """Records alike, and others after them."""
    path.write_text(f"{{{first}}}\n" * times + "".join(f"{{{PLAIN}, {each}}}\n" for each in ends))


@pytest.mark.parametrize(
    ("first", "late"),
    [
        ('"x": {"a": 1}', '"x": {"a": 1, "b": "KEEP"}'),
        ('"x": []', '"x": [7]'),
        ('"x": [{"a": 1}]', '"x": [{"b": 1}]'),
        ('"x": null', '"x": {"a": 1}'),
    ],
)
def test_nested_values_that_come_late_are_never_lost(uqcli, whole, tmp_path, first, late):
    json_lines(tmp_path / "n.jsonl", late, first=f"{PLAIN}, {first}")
    for output in ("o.parquet", "o.csv"):
        outcome = uqcli("apply", "b.json", "n.jsonl", "-q", "-o", output)
        kept = outcome.code == 0 and "KEEP" not in late and '"null"' in late
        assert kept or outcome.code == 3, outcome.err
        assert not outcome.code or "differ from the first ones" in outcome.err
    assert uqcli("apply", "b.json", "n.jsonl", "-q", "-o", "o.jsonl").code == 0
    assert late in (tmp_path / "o.jsonl").read_text()


def test_an_overwritten_key_leaves_the_others_as_they_are(uqcli, whole, tmp_path):
    json_lines(tmp_path / "n.jsonl", '"decision": 7, "x": {"b": 1.50, "c": []}', '"y": 1e2', times=3)
    outcome = uqcli("apply", "b.json", "n.jsonl", "-q", "--overwrite", "-o", "o.jsonl")
    assert outcome.code == 0, outcome.err
    *_, changed, added = (tmp_path / "o.jsonl").read_text().splitlines()
    assert json.loads(changed)["decision"] in (True, False)
    assert '{"b": 1.50, "c": []}' in changed
    assert '"y":1e2' in added.replace(" ", "")
    assert all("decision" in json.loads(each) for each in (tmp_path / "o.jsonl").read_text().splitlines())


@pytest.mark.parametrize(
    "records",
    [
        ['"id": 18446744073709551615', '"id": 1'],
        ['"x": 1', '"x": true'],
        ['"x": 1', '"x": [2]'],
        ['"x": "a"', '"x": {"a": 1}'],
    ],
)
def test_columns_that_are_not_needed_may_hold_anything(uqcli, whole, tmp_path, records):
    json_lines(tmp_path / "m.jsonl", *(f'"label": 1, {each}' for each in records), times=0)
    assert uqcli("apply", "b.json", "m.jsonl", "-q", "-o", "o.jsonl").code == 0
    assert all(each in (tmp_path / "o.jsonl").read_text() for each in records)
    assert uqcli("evaluate", "b.json", "m.jsonl", "-q").code == 0
    outcome = uqcli("apply", "b.json", "m.jsonl", "-q", "-o", "o.csv")
    assert outcome.code == 0 or "write .jsonl" in outcome.err


@pytest.mark.parametrize("times", [0, 1500])
def test_a_key_that_stands_twice_in_a_record_is_refused(uqcli, whole, tmp_path, times):
    json_lines(tmp_path / "d.jsonl", '"label": 1, "score": 0.1', times=times)
    outcome = uqcli("apply", "b.json", "d.jsonl", "-q", "-o", "o.jsonl")
    assert outcome.code == 3
    assert f"data row {times + 1} of 'd.jsonl' has the key 'score' twice" in outcome.err
    json_lines(tmp_path / "d.jsonl", '"x": {"score": 1}', '"x": "score"', times=3)
    assert uqcli("apply", "b.json", "d.jsonl", "-q", "-o", "o.jsonl").code == 0


def test_columns_that_json_lines_have_no_form_for(uqcli, whole, tmp_path):
    plain = {"score": [0.9, 0.8], "uncertainty": [0.1, 0.2]}
    pl.DataFrame({**plain, "x": [b"a", b"b"]}).write_parquet(tmp_path / "bytes.parquet")
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
    ("text", "whole_"), [(r"\ud83d", False), (r"\udf89", False), (r"\ud83c\udf89", True)]
)
def test_half_a_character_is_not_made_another(uqcli, whole, tmp_path, text, whole_):
    json_lines(tmp_path / "s.jsonl", f'"t": "{text}"', times=0)
    for output in ("o.csv", "o.parquet"):
        assert uqcli("apply", "b.json", "s.jsonl", "-q", "-o", output).code == (0 if whole_ else 3)
    if "udf89" not in text or whole_:  # a second half alone cannot be read at all
        assert uqcli("apply", "b.json", "s.jsonl", "-q", "-o", "o.jsonl").code == 0
        assert text in (tmp_path / "o.jsonl").read_text()


@pytest.mark.parametrize("options", [(), ("--overwrite",)])
def test_what_one_record_holds_changes_no_other(uqcli, whole, tmp_path, options):
    """However its text is spelled: blocks would show."""
    plain = f'{{{PLAIN},   "id":1, "id":2}}\n'
    odd = [f'{{{PLAIN}, "note": "caf\\u00e9"}}\n', f'{{{PLAIN}, "d\\u00e9": "\\"q\\": x"}}\n']
    last = f'{{{PLAIN}, "decision": 3}}\n' if options else ""
    (tmp_path / "m.jsonl").write_text(plain * 3 + "".join(odd) + last)
    assert uqcli("apply", "b.json", "m.jsonl", "-q", "-o", "o.jsonl", *options).code == 0
    written = (tmp_path / "o.jsonl").read_text().splitlines()
    for before, after in zip([plain.strip()] * 3 + [each.strip() for each in odd], written, strict=False):
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
def test_keys_that_stand_twice_are_seen_however_they_are_spelled(uqcli, whole, tmp_path, records, options):
    (tmp_path / "d.jsonl").write_text("".join(f"{{{each}}}\n" for each in records))
    outcome = uqcli("apply", "b.json", "d.jsonl", "-q", "-o", "o.jsonl", *options)
    assert outcome.code == 3
    assert "twice" in outcome.err


def test_an_added_key_is_seen_however_it_is_spelled(uqcli, whole, tmp_path):
    (tmp_path / "d.jsonl").write_text(f'{{{PLAIN}, "a\\/decision": true}}\n')
    line = ("apply", "b.json", "d.jsonl", "-q", "--prefix", "a/", "-o", "o.jsonl")
    assert uqcli(*line).code != 0
    assert uqcli(*line, "--overwrite").code == 0
    assert (tmp_path / "o.jsonl").read_text().count("decision") == 1


def test_an_empty_key_is_a_column(uqcli, whole, tmp_path):
    (tmp_path / "e.jsonl").write_text(f'{{{PLAIN}, "": 5}}\n')
    for output in ("o.csv", "o.jsonl", "o.parquet"):
        outcome = uqcli("apply", "b.json", "e.jsonl", "-q", "-o", output)
        assert (outcome.code, outcome.err) == (0, "")
    assert (tmp_path / "o.csv").read_text().splitlines()[1].split(",")[2] == "5"


@pytest.fixture
def times():
    """Groups that differ in a fraction of a second, or in the offset of an hour that comes twice."""
    random = np.random.default_rng(5)
    score = random.random(300)
    at = random.integers(0, 3, 300)
    clock = pl.Series([[3_723_000_000_000, 3_723_000_100_000, 3_723_000_200_000][each] for each in at])
    hour = pl.Series(["2024-10-27T00:30:00", "2024-10-27T01:30:00", "2024-10-27T03:30:00"]).str.to_datetime()
    zoned = hour.dt.replace_time_zone("UTC").dt.convert_time_zone("Europe/Berlin")
    return pl.DataFrame(
        {
            "score": score,
            "label": (random.random(300) < score).astype(np.int8),
            "time": clock.cast(pl.Time),
            "zoned": zoned[at],
        }
    )


@pytest.mark.parametrize("column", ["time", "zoned"])
def test_groups_of_times_are_the_same_from_every_format(uqcli, tmp_path, times, column):
    found = []
    for ending in ("parquet", "csv", "arrow"):
        path = tmp_path / f"rows.{ending}"
        {"parquet": times.write_parquet, "csv": times.write_csv, "arrow": times.write_ipc}[ending](path)
        outcome = uqcli("tce", path, "--by", column, "--json")
        assert (outcome.code, len(outcome.json["groups"])) == (0, 3)
        found.append(outcome.json["groups"])
    assert found[0] == found[1] == found[2]
    for ending in ("parquet", "csv"):
        model, rows = tmp_path / f"{ending}.json", tmp_path / f"rows.{ending}"
        line = ("--method", "heterogeneous", "--partition", column, "-q", "-o", model)
        assert uqcli("calibrate", rows, *line).code == 0
        assert uqcli("apply", model, tmp_path / "rows.csv", "-q", "-o", tmp_path / f"{ending}.csv").code == 0
    assert (tmp_path / "parquet.csv").read_bytes() == (tmp_path / "csv.csv").read_bytes()


PATTERNS = {name: f"^{name}$" for name in ("score", "uncertainty", "label", "group")}


@pytest.mark.parametrize("ending", ["parquet", "csv", "jsonl", "arrow"])
@pytest.mark.parametrize("names", [PATTERNS, {"score": "*"}, {"group": "^.*$"}], ids=["^a$", "*", "^.*$"])
def test_names_that_look_like_patterns_are_names(uqcli, rows, tmp_path, ending, names):
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
        found = uqcli(words[0], tmp_path / f"odd.{ending}", *words[1:], *options, "--json")
        assert (found.code, found.json["metrics"]) == (0, expected.json["metrics"]), found.err
