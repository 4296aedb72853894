"""Tests of rows, rule files and reports in an object store: the same bytes as local files, few requests."""

import re

import pytest

from tests.cloud.conftest import file_bytes, frame_of, uncertainty_line
from uqcli.base.errors import DataError
from uqcli.stores import filesystem, limits, upload
from uqcli.stores.address import Address
from uqcli.stores.bucket import StoreTree

DAYS = ("2026-11-01", "2026-11-02", "2026-11-10")
SUFFIXES = (".parquet", ".csv", ".csv.gz", ".csv.zst", ".jsonl", ".jsonl.gz", ".arrow")


@pytest.fixture
def folder(tmp_path):
    """Write partitioned rows, beside files that uqcli skips."""
    scores = tmp_path / "scores"
    for seed, day in enumerate(DAYS):
        (scores / f"day={day}").mkdir(parents=True)
        (scores / f"day={day}" / "part-0.parquet").write_bytes(file_bytes(frame_of(400, seed), ".parquet"))
        (scores / f"day={day}" / "_SUCCESS").write_bytes(b"")
        (scores / f"day={day}" / ".part.parquet").write_bytes(b"half")
        (scores / f"day={day}" / "notes.txt").write_bytes(b"no rows")
    (scores / "_day=old").mkdir()
    (scores / "_day=old" / "a.parquet").write_bytes(b"no rows")
    return scores


@pytest.mark.thorough
def test_boundary_and_apply_work_in_the_store(uqcli, bucket, folder, tmp_path):
    stored = bucket.put_folder(folder, "scores")
    local = uqcli("boundary", f"{folder}/day=*/", "--precision", "0.6", "-o", tmp_path / "b.json")
    outcome = uqcli("boundary", f"{stored}/day=*/", "--precision", "0.6", "-o", f"{bucket}/boundary.json")
    assert (outcome.code, outcome.err) == (0, "")
    *lines, summary = outcome.out.decode().splitlines()
    assert lines == local.out.decode().splitlines()[:-1]
    assert summary.startswith(f"Wrote {bucket}/boundary.json. ")
    assert bucket.get("boundary.json") == (tmp_path / "b.json").read_bytes()
    for name in ("d.csv", "d.parquet", "d.csv.gz", "d.jsonl"):
        local_output, output = tmp_path / name, f"{bucket}/out/{name}"
        assert uqcli("apply", tmp_path / "b.json", folder, "-q", "-o", local_output).code == 0
        assert uqcli("apply", f"{bucket}/boundary.json", stored, "-q", "-o", output).code == 0
        assert bucket.get(f"out/{name}") == local_output.read_bytes()
    assert "2026-11-10" in bucket.get("out/d.csv").decode()  # folder keys are columns
    assert [key for key in bucket.key_names() if ".uqcli" in key or key.endswith("/")] == []


@pytest.mark.covering("thorough", every=100, also=[".arrow"])
@pytest.mark.parametrize("suffix", SUFFIXES)
def test_every_format_is_read(uqcli, bucket, tmp_path, suffix):
    content = file_bytes(frame_of(1000), suffix)
    (tmp_path / f"a{suffix}").write_bytes(content)
    local = uqcli("tce", tmp_path / f"a{suffix}", "--json")
    stored = uqcli("tce", bucket.put(f"a{suffix}", content), "--json")
    assert (stored.code, stored.out) == (0, local.out)


@pytest.mark.thorough
@pytest.mark.parametrize("suffix", SUFFIXES)
def test_rows_are_streamed_in_pieces(uqcli, bucket, tmp_path, suffix, monkeypatch):
    monkeypatch.setattr(limits, "FIRST_BYTES", 100)
    monkeypatch.setattr(limits, "MAX_BYTES", 1000)
    monkeypatch.setattr("uqcli.engines.local.read.columnar.GROUP_BYTES", 500)
    monkeypatch.setattr(limits, "MAX_PUT_BYTES", 0)
    content = file_bytes(frame_of(1000), suffix)
    (tmp_path / f"a{suffix}").write_bytes(content)
    assert uqcli("boundary", tmp_path / f"a{suffix}", "--precision", "0.6", "-o", tmp_path / "b").code == 0
    rule_address = bucket.put("b.json", (tmp_path / "b").read_bytes())
    assert uqcli("apply", tmp_path / "b", tmp_path / f"a{suffix}", "-q", "-o", tmp_path / "o.csv").code == 0
    stored = uqcli("apply", rule_address, bucket.put(f"a{suffix}", content), "-q", "-o", f"{bucket}/o.csv")
    assert (stored.code, stored.err) == (0, "")
    assert bucket.get("o.csv") == (tmp_path / "o.csv").read_bytes()
    assert [key for key in bucket.key_names() if ".uqcli" in key] == []


PATTERNS = (
    "",
    "/",
    "/day=*",
    "/day=*/",
    "/day=2026-11-0?/",
    "/day=2026-11-0[12]/*.parquet",
    "/*/part-0.parquet",
    "/**/*.parquet",
    "/**/part-?.parquet",
    "/day=2026-11-01",
    "/day=2026-11-01/part-0.parquet",
)


@pytest.mark.covering("thorough", every=6, also=["/*/part-0.parquet"])
@pytest.mark.parametrize("pattern", PATTERNS)
def test_patterns_match_as_on_local_files(uqcli, bucket, folder, pattern):
    stored = bucket.put_folder(folder, "scores")
    local = uqcli("tce", f"{folder}{pattern}", "--json", "--bootstrap", "0")
    outcome = uqcli("tce", f"{stored}{pattern}", "--json", "--bootstrap", "0")
    assert (outcome.code, outcome.out.replace(stored.encode(), bytes(folder))) == (local.code, local.out)
    assert outcome.err.replace(stored, str(folder)) == local.err


@pytest.mark.thorough
def test_folder_keys_define_groups(uqcli, bucket, folder):
    stored = bucket.put_folder(folder, "scores")
    local = uqcli("tce", folder, "--by", "day", "--json", "--bootstrap", "0")
    outcome = uqcli("tce", stored, "--by", "day", "--json", "--bootstrap", "0")
    assert (outcome.code, outcome.out) == (0, local.out)
    assert DAYS[2] in outcome.out.decode()


def test_pages_name_the_objects_that_were_read(uqcli, bucket, folder):
    stored = bucket.put_folder(folder, "scores")
    assert uqcli("tce", stored, "-q", "--bootstrap", "0", "--report", f"{bucket}/r.md").code == 0
    named = "".join(f"| input | {stored}/day={day}/part-0.parquet: 400 rows |\n" for day in DAYS)
    assert named in bucket.get("r.md").decode()


@pytest.mark.thorough
def test_pages_have_the_content_type_of_html(uqcli, bucket):
    rows = bucket.put("a.csv", file_bytes(frame_of(400), ".csv"))
    assert uqcli("tce", rows, "-q", "--bootstrap", "0", "--report", f"{bucket}/r.html").code == 0
    head = bucket.client.head_object(Bucket=bucket.name, Key="r.html")
    assert head["ContentType"] == "text/html"


@pytest.mark.thorough
def test_rule_files_are_read_from_the_store_by_every_command(uqcli, bucket):
    rows_address = bucket.put("a.csv", file_bytes(frame_of(400), ".csv"))
    assert uqcli("bin", rows_address, "-q", "-o", f"{bucket}/grid.json").code == 0
    line = ("boundary", "--grid", f"{bucket}/grid.json", "--precision", "0.6")
    assert uqcli(*line, "-q", "-o", f"{bucket}/b.json").code == 0
    assert "Boundary" in uqcli("show", f"{bucket}/b.json").out.decode()
    assert uqcli("evaluate", f"{bucket}/b.json", rows_address, "-q").code == 0
    from uqcli import load

    load(f"{bucket}/b.json").save(f"{bucket}/again.json")
    assert bucket.get("again.json") == bucket.get("b.json")


def test_inputs_are_not_outputs(uqcli, bucket, folder):
    stored = bucket.put_folder(folder, "scores")
    key = f"scores/day={DAYS[0]}/part-0.parquet"
    before = bucket.get(key)
    for inputs in (stored, f"{stored}/day=*/", f"{stored}/**/*.parquet", f"{bucket}/{key}"):
        for option in ("-o", "--frontier"):
            outcome = uqcli("boundary", inputs, "--precision", "0.6", option, f"{bucket}/{key}")
            assert (outcome.code, len(outcome.err.splitlines())) == (2, 1)
    assert uqcli("tce", stored, "--report", f"{bucket}/r.md", "--plot", f"{bucket}/r.md").code == 2
    assert bucket.get(key) == before


def test_a_report_of_a_failed_run_replaces_no_rows(uqcli, bucket):
    rows = file_bytes(frame_of(400), ".csv")
    bucket.put("scores/a.csv", rows)
    old_report = b"command,key,value,low,high\ntce,up,1,,\n"
    bucket.put("old.csv", old_report)
    assert uqcli("tce", f"{bucket}/scores", "--report", f"{bucket}/scores/a.csv").code == 2
    assert uqcli("tce", "nowhere.csv", "--report", f"{bucket}/scores/a.csv").code == 3
    assert bucket.get("scores/a.csv") == rows
    for name in ("old.csv", "new.csv"):
        assert uqcli("tce", "nowhere.csv", "--report", f"{bucket}/{name}").code == 3
        assert bucket.get(name) == old_report.replace(b"1", b"0")


def test_a_failed_run_writes_its_report_to_the_store(uqcli, bucket):
    assert uqcli("tce", "nowhere.csv", "--report", f"{bucket}/r.md").code == 3
    assert b"Error (exit code 3): " in bucket.get("r.md")


def test_a_folder_of_two_formats_is_an_error(uqcli, bucket):
    bucket.put("scores/a.csv", file_bytes(frame_of(400), ".csv"))
    bucket.put("scores/b.parquet", file_bytes(frame_of(400), ".parquet"))
    outcome = uqcli("tce", f"{bucket}/scores")
    assert outcome.code == 3
    assert outcome.err.startswith(f"error: directory '{bucket}/scores' contains csv and parquet files;")
    assert uqcli("tce", f"{bucket}/scores/*.csv", "-q", "--bootstrap", "0").code == 0


@pytest.mark.thorough
def test_folders_are_listed_once_and_only_if_a_pattern_matches(uqcli, bucket, folder, monkeypatch):
    stored = bucket.put_folder(folder, "scores")
    for prefix in ("logs/day=1", "logs/day=2", "scores/day=2025-01-01"):
        bucket.put(f"{prefix}/a.parquet", b"")
    listed = []
    list_folder = StoreTree.inside

    def record_listing(self, folder):
        from uqcli.stores.view import current_view

        if folder.name not in current_view().listings:
            listed.append(folder.name.removeprefix(f"{bucket}/"))
        return list_folder(self, folder)

    monkeypatch.setattr(StoreTree, "inside", record_listing)
    assert uqcli("boundary", f"{stored}/day=2026-*/", "--precision", "0.6", "-q").code == 0
    assert sorted(listed) == ["scores", *(f"scores/day={day}" for day in DAYS)]


@pytest.mark.covering("thorough", every=3)
@pytest.mark.parametrize("log", ["_delta_log/0.json", ".hoodie/x", "metadata/1.metadata.json"])
def test_folders_of_tables_are_refused(uqcli, bucket, folder, log):
    rows = bucket.put_folder(folder, "table/data")
    bucket.put(f"table/data/{log}" if log[0] in "._" else f"table/{log}", b"{}")
    for inputs in (rows, f"{rows}/day={DAYS[0]}", f"{rows}/day=*/", f"{rows}/**/*.parquet"):
        outcome = uqcli("tce", inputs)
        assert (outcome.code, len(outcome.err.splitlines())) == (3, 1)
        assert "whose files also hold deleted rows" in outcome.err
    assert uqcli("tce", f"{rows}/day={DAYS[0]}/part-0.parquet", "--bootstrap", "0").code == 0


def test_a_folder_is_read_though_those_above_are_closed(uqcli, bucket, folder, monkeypatch):
    stored = bucket.put_folder(folder, "scores")
    list_folder = StoreTree.inside

    def list_below(self, folder):
        if folder.name == stored:
            raise DataError("access is denied")
        return list_folder(self, folder)

    monkeypatch.setattr(StoreTree, "inside", list_below)
    assert uqcli("tce", f"{stored}/day={DAYS[0]}", "--bootstrap", "0").code == 0


def test_objects_too_large_to_copy_are_refused_beforehand(uqcli, bucket, tmp_path, monkeypatch):
    monkeypatch.setattr(limits, "MAX_PUT_BYTES", 0)
    monkeypatch.setattr(limits, "MAX_COPIED_BYTES", 100)
    bucket.put("o.csv", b"old")
    outcome = uqcli(*uncertainty_line(tmp_path / "members.csv", 99), "-o", f"{bucket}/o.csv")
    assert outcome.code == 3
    assert re.search(r"it has \d+ bytes; expected at most 100", outcome.err)
    assert bucket.key_names() == ["o.csv"]


def test_a_failed_check_keeps_the_old_object(uqcli, bucket):
    rows = bucket.put("a.csv", file_bytes(frame_of(400), ".csv"))
    assert uqcli("boundary", rows, "--precision", "0.6", "-q", "-o", f"{bucket}/b.json").code == 0
    bucket.put("o.csv", b"old")
    check = ("--fail-if", "rows > 1")
    outcome = uqcli("apply", f"{bucket}/b.json", rows, "-q", "-o", f"{bucket}/o.csv", *check)
    assert outcome.code == 6, outcome.err
    assert bucket.get("o.csv") == b"old"
    assert bucket.key_names() == ["a.csv", "b.json", "o.csv"]


@pytest.mark.thorough
def test_objects_that_mark_folders_are_skipped(uqcli, bucket, folder):
    stored = bucket.put_folder(folder, "scores")
    local = uqcli("tce", folder, "--json", "--bootstrap", "0")
    for key in ("scores/", f"scores/day={DAYS[0]}/", "scores/day=none/"):
        bucket.put(key, b"")
    for inputs in (stored, f"{stored}/", f"{stored}/day=2*/"):
        assert uqcli("tce", inputs, "--json", "--bootstrap", "0").out == local.out


@pytest.mark.parametrize("scheme", ["gs", "az"])
def test_other_stores_share_the_code(uqcli, folder, tmp_path, monkeypatch, scheme):
    """A local folder replaces the store; all stores use the same calls."""
    import pyarrow.fs as pf

    monkeypatch.setattr(
        filesystem, "_filesystem", lambda *_: pf.SubTreeFileSystem(str(tmp_path), pf.LocalFileSystem())
    )
    local = uqcli("boundary", folder, "--precision", "0.6", "-q", "-o", tmp_path / "b.json")
    assert local.code == 0
    line = (f"{scheme}://scores/day=*/", "--precision", "0.6", "-q", "-o", f"{scheme}://scores/model.json")
    outcome = uqcli("boundary", *line)
    assert (outcome.code, outcome.err) == (0, "")
    assert (folder / "model.json").read_bytes() == (tmp_path / "b.json").read_bytes()
    assert [path.name for path in folder.iterdir() if path.name.startswith(".")] == []


def test_unknown_schemes_are_errors(uqcli, bucket):
    rows = bucket.put("a.csv", file_bytes(frame_of(400), ".csv"))
    for line in (("tce", "hdfs://host/a.csv"), ("tce", rows, "--report", "s3a://bucket/r.md")):
        outcome = uqcli(*line)
        assert outcome.code == 3
        assert f"'{line[-1]}'" in outcome.err
        assert "expected s3://, gs://, az://, https:// or the name of a file" in outcome.err


def test_hidden_objects_are_beside_their_targets():
    assert Address.parse("s3://b/c/d.csv").beside(".x").path == "b/c/.x"
    assert Address.parse("s3://b/d.csv").beside(".x").path == "b/.x"


def test_no_upload_is_left_at_the_end(uqcli, bucket, tmp_path, monkeypatch):
    monkeypatch.setattr(limits, "MAX_PUT_BYTES", 0)
    line = uncertainty_line(tmp_path / "members.csv", 99)
    assert uqcli(*line, "-o", f"{bucket}/out/o.csv").code == 0
    assert not upload._hidden
    assert [key for key in bucket.key_names() if not key.endswith("/")] == ["out/o.csv"]
