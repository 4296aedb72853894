"""Tests of inputs that change while they are read, that links lead to, or that are damaged."""

import os
from pathlib import Path

import numpy as np
import polars as pl
import pyarrow.parquet as pq
import pytest

from uqcli.base.errors import DataError
from uqcli.engines.local.count.cached import CachedRows
from uqcli.engines.local.read.columnar import ColumnarSource
from uqcli.engines.local.write import streaming
from uqcli.stores.content import LocalFile
from uqcli.stores.trees import expanded
from uqcli.stores.view import one_view

ROWS = 3000


def frame_of(seed, rows=ROWS):
    random = np.random.default_rng(seed)
    score = random.random(rows)
    label = (random.random(rows) < score).astype(np.int8)
    return pl.DataFrame({"score": score, "uncertainty": random.random(rows), "label": label})


def write(frame, path):
    """Write rows in the format of the name."""
    if path.name.endswith(".gz"):
        frame.write_csv(path, compression="gzip", check_extension=False)
    else:
        writers = {
            ".csv": "write_csv",
            ".jsonl": "write_ndjson",
            ".parquet": "write_parquet",
            ".arrow": "write_ipc",
        }
        getattr(frame, writers[path.suffix])(path)


def append(path):
    with path.open("ab") as stream:
        stream.write(b"\n")


def replace(path):
    """Replace the file by another of the same content, size and time."""
    status, beside = path.stat(), path.with_name("beside")
    beside.write_bytes(path.read_bytes())
    os.utime(beside, ns=(status.st_atime_ns, status.st_mtime_ns))
    beside.replace(path)


def rewrite(path):
    """Change a byte in place."""
    status = path.stat()
    with path.open("r+b") as stream:
        stream.write(b"!")
    os.utime(path, ns=(status.st_atime_ns, status.st_mtime_ns + 1))


def truncate(path):
    status = path.stat()
    os.truncate(path, status.st_size - 1)
    os.utime(path, ns=(status.st_atime_ns, status.st_mtime_ns))


CHANGES = [append, replace, rewrite, truncate]
WAYS = [LocalFile.opened, LocalFile.held, LocalFile.mapped]
FORMATS = [".csv", ".csv.gz", ".jsonl", ".parquet", ".arrow"]


@pytest.mark.parametrize("change", CHANGES)
@pytest.mark.parametrize("way", WAYS)
def test_a_file_must_be_the_same_whenever_it_is_opened(tmp_path, change, way):
    path = tmp_path / "a.csv"
    path.write_bytes(b"score,label\n" * 10)
    file = LocalFile.from_path(path)
    for first in WAYS:
        with one_view():
            with first(file), way(file):
                pass
            change(path)
            with pytest.raises(DataError, match=r"changed while it was read.*run it again"), way(file):
                pytest.fail("it was opened")
    with one_view(), way(file):
        """A later run reads the new file."""


@pytest.mark.parametrize("change", [append, rewrite, truncate])
@pytest.mark.parametrize("way", WAYS)
@pytest.mark.parametrize("fails", [False, True])
def test_a_file_must_be_the_same_when_it_has_been_read(tmp_path, change, way, fails):
    path = tmp_path / "a.csv"
    path.write_bytes(b"score,label\n" * 10)
    file = LocalFile.from_path(path)

    def read():
        with one_view(), way(file):
            change(path)
            if fails:
                raise ValueError("damaged")

    with pytest.raises(DataError, match="changed while it was read"):
        read()


@pytest.mark.parametrize("suffix", FORMATS)
def test_no_pass_reads_another_file_than_the_first(uqcli, tmp_path, monkeypatch, suffix):
    """Rows that do not fit into memory are read again, when the file has been replaced by as many rows."""
    path = tmp_path / f"a{suffix}"
    write(frame_of(1), path)
    read_again = CachedRows.remaining

    def remaining(self):
        write(frame_of(2), path)
        return read_again(self)

    monkeypatch.setattr(CachedRows, "remaining", remaining)
    line = ("boundary", path, "--precision", "0.7", "--memory", "1KB")
    outcome = uqcli(*line)
    assert (outcome.code, len(outcome.err.splitlines())) == (3, 1), outcome.err
    assert f"'{path}' changed while it was read" in outcome.err
    assert "run it again" in outcome.err
    monkeypatch.setattr(CachedRows, "remaining", read_again)
    assert uqcli(*line).code == 0


@pytest.mark.covering("thorough", every=2)
@pytest.mark.parametrize("suffix", FORMATS)
@pytest.mark.parametrize("other", [".csv", ".parquet"])
def test_no_rows_are_written_of_a_file_that_changes(uqcli, tmp_path, monkeypatch, suffix, other):
    """It changes after the header was read, or while polars reads it."""
    monkeypatch.setattr(streaming, "MIN_ROWS", 10)
    path, out = tmp_path / f"a{suffix}", tmp_path / f"out{other}"
    write(frame_of(1), path)
    assert uqcli("boundary", path, "--precision", "0.7", "-o", tmp_path / "rule.json").code == 0
    out.write_bytes(b"old")
    plan = streaming.plan_layout

    def planned(*arguments):
        write(frame_of(2), path)
        return plan(*arguments)

    monkeypatch.setattr(streaming, "plan_layout", planned)
    outcome = uqcli("apply", tmp_path / "rule.json", path, "-o", out)
    assert (outcome.code, "changed while it was read" in outcome.err) == (3, True), outcome.err
    assert out.read_bytes() == b"old"


def rows_of(uqcli, *inputs):
    """Count the rows of some inputs, and return the cautions."""
    outcome = uqcli("tce", *inputs, "--json")
    assert outcome.code == 0, outcome.err
    shown = uqcli("tce", *inputs).out.decode()
    return outcome.json["source"]["rows"], outcome.json.get("cautions") or shown


@pytest.fixture
def folder(tmp_path, monkeypatch):
    """Rows in two days, beside links: to the folder above, to each other, and to a file."""
    monkeypatch.chdir(tmp_path)
    for day in (1, 2):
        (tmp_path / f"scores/day={day}").mkdir(parents=True)
        frame_of(day).write_csv(tmp_path / f"scores/day={day}/part.csv")
    return tmp_path / "scores"


def test_links_to_a_folder_above_end(uqcli, folder):
    for day in (1, 2):
        for number in range(2):
            (folder / f"day={day}/up={number}").symlink_to("..")
            (folder / f"day={day}/here={number}").symlink_to(".")
    rows, cautions = rows_of(uqcli, "scores")
    assert rows == 2 * ROWS
    assert "leads back to a folder above it" in str(cautions)


@pytest.mark.covering("thorough", every=2)
@pytest.mark.parametrize("pattern", ["**/*.csv", "scores/**/part.csv", "scores/**", "sc*/**/**/*.csv"])
def test_patterns_of_any_folders_end_at_links_to_a_folder_above(uqcli, folder, pattern):
    expected, _ = rows_of(uqcli, *(str(path) for path in sorted(folder.rglob("*.csv"))))
    for name in ("day=1/up", "day=1/top", "day=2/up"):
        (folder / name).symlink_to("../..")
    rows, _ = rows_of(uqcli, pattern)
    assert rows == expected


def test_folders_with_links_between_them_are_limited(folder, monkeypatch):
    for first in range(12):
        (folder / f"n{first}").mkdir()
        for second in range(12):
            (folder / f"n{first}/l{second}").symlink_to(f"../n{second}")
    monkeypatch.setattr("uqcli.stores.folders.MAX_AGAIN", 100)
    with pytest.raises(DataError, match="more than 100 further paths"):
        list(expanded("scores/**/part.csv"))


def spellings(folder):
    """Return further paths to a file, by kind."""
    path = folder / "day=1/part.csv"
    (folder / "day=1/link.csv").symlink_to("part.csv")
    os.link(path, folder / "day=1/hard.csv")
    (folder.parent / "elsewhere").symlink_to(folder)
    return {
        "again": "scores/day=1/part.csv",
        "absolute": str(path),
        "dots": "scores/day=2/../day=1/part.csv",
        "link": "scores/day=1/link.csv",
        "hard link": "scores/day=1/hard.csv",
        "linked folder": "elsewhere/day=1/part.csv",
        "folder": "scores/day=1",
        "pattern": "scores/day=1/p*.csv",
    }


@pytest.mark.covering("thorough", every=2)
@pytest.mark.parametrize(
    "kind", ["again", "absolute", "dots", "link", "hard link", "linked folder", "folder", "pattern"]
)
def test_a_file_under_two_paths_is_read_once_with_a_caution(uqcli, folder, kind):
    other = spellings(folder)[kind]
    rows, cautions = rows_of(uqcli, "scores/day=1/part.csv", other)
    assert rows == ROWS
    assert "is the same file as" in str(cautions)
    assert "is read once" in str(cautions)


def test_every_command_reads_a_file_once(uqcli, folder):
    path = "scores/day=1/part.csv"
    assert uqcli("boundary", path, "--precision", "0.7", "-o", "rule.json").code == 0
    for line in (
        ("boundary", path, path, "--precision", "0.7", "-o", "again.json"),
        ("evaluate", "rule.json", path, path),
        ("calibrate", path, path, "--method", "platt"),
        ("overview", path, path),
        ("bin", path, path),
        ("watch", "rule.json", path, path),
        ("apply", "rule.json", path, path, "-o", "out.csv"),
    ):
        outcome = uqcli(*line, "--verbose")  # a rule on its calibration rows has a weightier caution
        assert outcome.code == 0, outcome.err
        text = " ".join((outcome.out.decode() + outcome.err).split())
        assert "is the same file as" in text, line
    assert len(Path("out.csv").read_text().splitlines()) == ROWS + 1


def test_a_file_in_folders_of_other_keys_is_read_with_each(uqcli, folder):
    (folder / "day=3").mkdir()
    (folder / "day=3/part.csv").symlink_to("../day=1/part.csv")
    rows, cautions = rows_of(uqcli, "scores")
    assert rows == 3 * ROWS
    assert "same file" not in str(cautions)


@pytest.fixture
def checked_pages(tmp_path):
    """A Parquet file with checksums, whose values are stored as they are, and its damaged copy."""
    table = frame_of(1).to_arrow()
    options = {"compression": "none", "use_dictionary": False, "write_page_checksum": True}
    pq.write_table(table, tmp_path / "good.parquet", **options)
    content = bytearray((tmp_path / "good.parquet").read_bytes())
    value = np.float64(table["score"][ROWS // 2].as_py()).tobytes()
    content[content.index(value)] ^= 1  # the last bit of a number
    (tmp_path / "bad.parquet").write_bytes(content)
    pq.write_table(table, tmp_path / "plain.parquet", **{**options, "write_page_checksum": False})
    return tmp_path


def test_damaged_pages_are_refused_by_every_reader(uqcli, checked_pages, monkeypatch):
    rule, good, bad = (checked_pages / name for name in ("rule.json", "good.parquet", "bad.parquet"))
    assert uqcli("boundary", good, "--precision", "0.7", "-o", rule).code == 0
    for least in (10, 1 << 17):  # polars, which verifies nothing, or pyarrow
        monkeypatch.setattr(streaming, "MIN_ROWS", least)
        for line in (
            ("boundary", "{}", "--precision", "0.7"),
            ("tce", "{}"),
            ("calibrate", "{}", "--method", "platt"),
            ("evaluate", rule, "{}"),
            ("watch", rule, "{}"),
            ("apply", rule, "{}", "-o", checked_pages / "out.parquet"),
            ("apply", rule, "{}", "-o", checked_pages / "out.csv"),
        ):
            assert uqcli(*(good if word == "{}" else word for word in line)).code == 0, line
            outcome = uqcli(*(bad if word == "{}" else word for word in line))
            assert (outcome.code, "CRC checksum" in outcome.err) == (3, True), line


def test_only_files_with_checksums_are_read_to_verify_them(uqcli, checked_pages, monkeypatch):
    read, batches = [], ColumnarSource._record_batches
    monkeypatch.setattr(streaming, "MIN_ROWS", 10)
    monkeypatch.setattr(
        ColumnarSource,
        "_record_batches",
        lambda self, *options: read.append(self.origin.name) or batches(self, *options),
    )
    rule = checked_pages / "rule.json"
    assert uqcli("boundary", checked_pages / "good.parquet", "--precision", "0.7", "-o", rule).code == 0
    for name, is_verified in (("good.parquet", True), ("plain.parquet", False)):
        read.clear()
        line = ("apply", rule, checked_pages / name, "-o", checked_pages / f"out {name}")
        assert uqcli(*line).code == 0
        assert bool(read) == is_verified, name
    outputs = [(checked_pages / f"out {name}").read_bytes() for name in ("good.parquet", "plain.parquet")]
    assert outputs[0] == outputs[1]
