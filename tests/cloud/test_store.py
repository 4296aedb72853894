"""Rows, models and reports in an object store: the same bytes as on files, and as few requests as needed."""

import re

import pytest

from tests.cloud.conftest import frame_of, written
from uqcli.stores import filesystem, limits, upload
from uqcli.stores.address import Address
from uqcli.stores.bucket import StoreTree

DAYS = ("2026-11-01", "2026-11-02", "2026-11-10")
SUFFIXES = (".parquet", ".csv", ".csv.gz", ".csv.zst", ".jsonl", ".jsonl.gz", ".arrow")


@pytest.fixture
def folder(tmp_path):
    """Partitioned rows, with what is to be skipped beside them."""
    made = tmp_path / "scores"
    for seed, day in enumerate(DAYS):
        (made / f"day={day}").mkdir(parents=True)
        (made / f"day={day}" / "part-0.parquet").write_bytes(written(frame_of(400, seed), ".parquet"))
        (made / f"day={day}" / "_SUCCESS").write_bytes(b"")
        (made / f"day={day}" / ".part.parquet").write_bytes(b"half")
        (made / f"day={day}" / "notes.txt").write_bytes(b"no rows")
    (made / "_day=old").mkdir()
    (made / "_day=old" / "a.parquet").write_bytes(b"no rows")
    return made


def test_the_two_commands_of_a_pipeline(uqcli, bucket, folder, tmp_path):
    far = bucket.put_folder(folder, "scores")
    near = uqcli("boundary", f"{folder}/day=*/", "--precision", "0.6", "-o", tmp_path / "b.json")
    done = uqcli("boundary", f"{far}/day=*/", "--precision", "0.6", "-o", f"{bucket}/boundary.json")
    assert (done.code, done.err) == (0, "")
    *said, written = done.out.decode().splitlines()
    assert said == near.out.decode().splitlines()[:-1]
    assert written.startswith(f"Wrote {bucket}/boundary.json. ")
    assert bucket.get("boundary.json") == (tmp_path / "b.json").read_bytes()
    for name in ("d.csv", "d.parquet", "d.csv.gz", "d.jsonl"):
        local, stored = tmp_path / name, f"{bucket}/out/{name}"
        assert uqcli("apply", tmp_path / "b.json", folder, "-q", "-o", local).code == 0
        assert uqcli("apply", f"{bucket}/boundary.json", far, "-q", "-o", stored).code == 0
        assert bucket.get(f"out/{name}") == local.read_bytes()
    assert "2026-11-10" in bucket.get("out/d.csv").decode()  # the keys of folders are columns
    assert [key for key in bucket.listed() if ".uqcli" in key or key.endswith("/")] == []


@pytest.mark.parametrize("suffix", SUFFIXES)
def test_every_format_is_read(uqcli, bucket, tmp_path, suffix):
    content = written(frame_of(1000), suffix)
    (tmp_path / f"a{suffix}").write_bytes(content)
    near = uqcli("tce", tmp_path / f"a{suffix}", "--json")
    far = uqcli("tce", bucket.put(f"a{suffix}", content), "--json")
    assert (far.code, far.out) == (0, near.out)


@pytest.mark.parametrize("suffix", SUFFIXES)
def test_rows_pass_through_by_pieces(uqcli, bucket, tmp_path, suffix, monkeypatch):
    monkeypatch.setattr(limits, "FIRST_BYTES", 100)
    monkeypatch.setattr(limits, "MOST_BYTES", 1000)
    monkeypatch.setattr("uqcli.engines.local.read.columnar.GROUP_BYTES", 500)
    monkeypatch.setattr(limits, "MOST_PUT", 0)
    content = written(frame_of(1000), suffix)
    (tmp_path / f"a{suffix}").write_bytes(content)
    assert uqcli("boundary", tmp_path / f"a{suffix}", "--precision", "0.6", "-o", tmp_path / "b").code == 0
    model = bucket.put("b.json", (tmp_path / "b").read_bytes())
    assert uqcli("apply", tmp_path / "b", tmp_path / f"a{suffix}", "-q", "-o", tmp_path / "o.csv").code == 0
    far = uqcli("apply", model, bucket.put(f"a{suffix}", content), "-q", "-o", f"{bucket}/o.csv")
    assert (far.code, far.err) == (0, "")
    assert bucket.get("o.csv") == (tmp_path / "o.csv").read_bytes()
    assert [key for key in bucket.listed() if ".uqcli" in key] == []


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


@pytest.mark.parametrize("pattern", PATTERNS)
def test_patterns_mean_what_they_mean_on_files(uqcli, bucket, folder, pattern):
    far = bucket.put_folder(folder, "scores")
    near = uqcli("tce", f"{folder}{pattern}", "--json", "--bootstrap", "0")
    done = uqcli("tce", f"{far}{pattern}", "--json", "--bootstrap", "0")
    assert (done.code, done.out.replace(far.encode(), bytes(folder))) == (near.code, near.out)
    assert done.err.replace(far, str(folder)) == near.err


def test_keys_of_folders_group(uqcli, bucket, folder):
    far = bucket.put_folder(folder, "scores")
    near = uqcli("tce", folder, "--by", "day", "--json", "--bootstrap", "0")
    done = uqcli("tce", far, "--by", "day", "--json", "--bootstrap", "0")
    assert (done.code, done.out) == (0, near.out)
    assert DAYS[2] in done.out.decode()


@pytest.mark.usefixtures("undrawn")
def test_pages_name_the_objects_that_were_read(uqcli, bucket, folder):
    far = bucket.put_folder(folder, "scores")
    assert uqcli("tce", far, "-q", "--bootstrap", "0", "--report", f"{bucket}/r.md").code == 0
    named = "".join(f"| input | {far}/day={day}/part-0.parquet: 400 rows |\n" for day in DAYS)
    assert named in bucket.get("r.md").decode()


@pytest.mark.usefixtures("undrawn")
def test_a_page_is_a_page_to_browsers(uqcli, bucket):
    rows = bucket.put("a.csv", written(frame_of(400), ".csv"))
    assert uqcli("tce", rows, "-q", "--bootstrap", "0", "--report", f"{bucket}/r.html").code == 0
    head = bucket.client.head_object(Bucket=bucket.name, Key="r.html")
    assert head["ContentType"] == "text/html"


def test_models_are_read_wherever_a_command_takes_one(uqcli, bucket):
    rows = bucket.put("a.csv", written(frame_of(400), ".csv"))
    assert uqcli("bin", rows, "-q", "-o", f"{bucket}/grid.json").code == 0
    line = ("boundary", "--grid", f"{bucket}/grid.json", "--precision", "0.6")
    assert uqcli(*line, "-q", "-o", f"{bucket}/b.json").code == 0
    assert "Boundary" in uqcli("show", f"{bucket}/b.json").out.decode()
    assert uqcli("evaluate", f"{bucket}/b.json", rows, "-q").code == 0
    from uqcli import load

    load(f"{bucket}/b.json").save(f"{bucket}/again.json")
    assert bucket.get("again.json") == bucket.get("b.json")


def test_what_is_read_is_not_written(uqcli, bucket, folder):
    far = bucket.put_folder(folder, "scores")
    key = f"scores/day={DAYS[0]}/part-0.parquet"
    before = bucket.get(key)
    for given in (far, f"{far}/day=*/", f"{far}/**/*.parquet", f"{bucket}/{key}"):
        for option in ("-o", "--frontier"):
            done = uqcli("boundary", given, "--precision", "0.6", option, f"{bucket}/{key}")
            assert (done.code, len(done.err.splitlines())) == (2, 1)
    assert uqcli("tce", far, "--report", f"{bucket}/r.md", "--plot", f"{bucket}/r.md").code == 2
    assert bucket.get(key) == before


def test_one_directory_does_not_mix_formats(uqcli, bucket):
    bucket.put("scores/a.csv", written(frame_of(400), ".csv"))
    bucket.put("scores/b.parquet", written(frame_of(400), ".parquet"))
    done = uqcli("tce", f"{bucket}/scores")
    assert done.code == 3
    assert done.err.startswith(f"error: directory '{bucket}/scores' contains csv and parquet files;")
    assert uqcli("tce", f"{bucket}/scores/*.csv", "-q", "--bootstrap", "0").code == 0


def test_folders_are_listed_once_and_only_where_a_pattern_leads(uqcli, bucket, folder, monkeypatch):
    far = bucket.put_folder(folder, "scores")
    for other in ("logs/day=1", "logs/day=2", "scores/day=2025-01-01"):
        bucket.put(f"{other}/a.parquet", b"")
    listed = []
    inside = StoreTree.inside

    def noted(self, folder):
        from uqcli.stores.view import current_view

        if folder.name not in current_view().listings:
            listed.append(folder.name.removeprefix(f"{bucket}/"))
        return inside(self, folder)

    monkeypatch.setattr(StoreTree, "inside", noted)
    assert uqcli("boundary", f"{far}/day=2026-*/", "--precision", "0.6", "-q").code == 0
    assert sorted(listed) == ["scores", *(f"scores/day={day}" for day in DAYS)]


def test_more_than_the_store_copies_is_refused_beforehand(uqcli, bucket, monkeypatch):
    monkeypatch.setattr(limits, "MOST_PUT", 0)
    monkeypatch.setattr(limits, "MOST_COPIED", 100)
    bucket.put("o.csv", b"old")
    done = uqcli("simulate", "posterior", "--rows", "99", "-q", "-o", f"{bucket}/o.csv")
    assert done.code == 3
    assert re.search(r"it has \d+ bytes; expected at most 100", done.err)
    assert bucket.listed() == ["o.csv"]


def test_a_gate_that_holds_leaves_the_old_object(uqcli, bucket):
    rows = bucket.put("a.csv", written(frame_of(400), ".csv"))
    assert uqcli("boundary", rows, "--precision", "0.6", "-q", "-o", f"{bucket}/b.json").code == 0
    bucket.put("o.csv", b"old")
    gate = ("--fail-if", "rows > 1")
    done = uqcli("apply", f"{bucket}/b.json", rows, "-q", "-o", f"{bucket}/o.csv", *gate)
    assert done.code == 6, done.err
    assert bucket.get("o.csv") == b"old"
    assert bucket.listed() == ["a.csv", "b.json", "o.csv"]


def test_objects_that_stand_for_folders_are_no_rows(uqcli, bucket, folder):
    far = bucket.put_folder(folder, "scores")
    near = uqcli("tce", folder, "--json", "--bootstrap", "0")
    for key in ("scores/", f"scores/day={DAYS[0]}/", "scores/day=none/"):
        bucket.put(key, b"")
    for given in (far, f"{far}/", f"{far}/day=2*/"):
        assert uqcli("tce", given, "--json", "--bootstrap", "0").out == near.out


@pytest.mark.parametrize("scheme", ["gs", "az"])
def test_other_stores_share_the_code(uqcli, folder, tmp_path, monkeypatch, scheme):
    """A folder in the place of the store: what is asked of it is the same for all."""
    import pyarrow.fs as pf

    monkeypatch.setattr(
        filesystem, "_filesystem", lambda *_: pf.SubTreeFileSystem(str(tmp_path), pf.LocalFileSystem())
    )
    near = uqcli("boundary", folder, "--precision", "0.6", "-q", "-o", tmp_path / "b.json")
    assert near.code == 0
    line = (f"{scheme}://scores/day=*/", "--precision", "0.6", "-q", "-o", f"{scheme}://scores/model.json")
    done = uqcli("boundary", *line)
    assert (done.code, done.err) == (0, "")
    assert (folder / "model.json").read_bytes() == (tmp_path / "b.json").read_bytes()
    assert [path.name for path in folder.iterdir() if path.name.startswith(".")] == []


def test_addresses_of_nothing_that_is_known(uqcli, bucket):
    rows = bucket.put("a.csv", written(frame_of(400), ".csv"))
    for line in (("tce", "hdfs://host/a.csv"), ("tce", rows, "--report", "s3a://bucket/r.md")):
        done = uqcli(*line)
        assert done.code == 3
        assert f"'{line[-1]}'" in done.err
        assert "expected s3://, gs://, az://, https:// or the name of a file" in done.err


def test_hidden_objects_are_beside_their_places():
    assert Address.of("s3://b/c/d.csv").beside(".x").path == "b/c/.x"
    assert Address.of("s3://b/d.csv").beside(".x").path == "b/.x"


def test_nothing_waits_when_all_is_written(uqcli, bucket, monkeypatch):
    monkeypatch.setattr(limits, "MOST_PUT", 0)
    assert uqcli("simulate", "posterior", "--rows", "99", "-q", "-o", f"{bucket}/out/o.csv").code == 0
    assert not upload._hidden
    assert [key for key in bucket.listed() if not key.endswith("/")] == ["out/o.csv"]
