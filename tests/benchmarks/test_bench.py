"""Tests that the benchmarks run, on tiny files that do not measure speed."""

import json

import numpy as np
import pyarrow.parquet as pq
import pytest

from tests.benchmarks import data, scaling
from tests.benchmarks.jobs import BOUNDS, JOBS, MODEL, command
from tests.benchmarks.many import MANY, measure_many
from tests.benchmarks.objects import NUMBERS, measure_objects
from tests.benchmarks.others import other_process_benchmarks
from tests.benchmarks.pages import markdown
from tests.benchmarks.run import PARTS, machine, main, slopes
from tests.benchmarks.scaling import serial_fraction, summary


@pytest.mark.thorough
def test_a_run_writes_its_results_and_a_page(tmp_path):
    main(["--rows", "1e3", "--commands", "boundary-jsonl,conformal", "--runs", "1", "--out", str(tmp_path)])
    results = json.loads((tmp_path / "benchmarks.json").read_text())
    measured = {(row["command"], row["rows"], row["ties"]) for row in results["rows"]}
    row_kinds = ("continuous", "two decimals")
    kinds_by_command = {"boundary-jsonl": row_kinds, "conformal": ("10 classes",)}
    assert measured == {(name, 1000, ties) for name in kinds_by_command for ties in kinds_by_command[name]}
    assert all(row["seconds"] > 0 and row["ratio"] > 0 and row["memory"] > 1e7 for row in results["rows"])
    page = (tmp_path / "benchmarks.md").read_text()
    assert page.count("| boundary-jsonl |") == 2
    assert results["machine"]["versions"]["polars"] in page


@pytest.mark.thorough
def test_many_things_are_measured_beside_a_tenth_of_them(tmp_path):
    rows = list(measure_many(tmp_path, 1, scale=50))
    assert [row["number"] for row in rows] == [many.number // 50 for many in MANY]
    assert all(row["seconds"] > 0 and row["ratio"] > 0 for row in rows)
    results = {"machine": machine(), **{part: [] for part in PARTS}}
    rows[0] |= {"milliseconds": 3.0, "most_milliseconds": 2, "ratio": 4.0}
    page = markdown({**results, "many": rows})
    assert "| `boundary FILE` | 200 files |" in page
    assert "| **3.00 !** | 2 | 4.00 | 10 |" in page


@pytest.mark.thorough
def test_objects_of_a_store_are_measured_beside_files(tmp_path):
    rows = list(measure_objects(tmp_path, 1, scale=50))
    assert [row["number"] for row in rows] == [number // 50 for number in NUMBERS] * 2
    assert all(row["seconds"] > 0 and row["local_seconds"] > 0 for row in rows)
    page = markdown({"machine": machine(), **{part: [] for part in PARTS}, "objects": rows})
    assert "| `boundary s3://bucket` of CSV, 30 ms an answer | 100 |" in page


@pytest.mark.thorough
def test_other_processes_run_and_what_was_measured_is_kept_if_one_fails(tmp_path, monkeypatch):
    compared = list(other_process_benchmarks(tmp_path, 2000, 1))
    assert len({what for what, _, _ in compared}) == len(compared) == 8

    def fails(folder, runs):
        raise RuntimeError

    monkeypatch.setattr("tests.benchmarks.run.measure_many", fails)
    monkeypatch.setattr("tests.benchmarks.run.JOBS", JOBS[:1])
    with pytest.raises(RuntimeError):
        main(["--rows", "1e3", "--runs", "1", "--out", str(tmp_path)])
    assert json.loads((tmp_path / "benchmarks.json").read_text())["rows"]


def test_an_unknown_command_is_an_error(tmp_path):
    with pytest.raises(SystemExit, match="unknown: nothing"):
        main(["--commands", "nothing", "--out", str(tmp_path)])


def test_bounds_belong_to_existing_jobs():
    assert {bound.job for bound in BOUNDS} <= {job.name for job in JOBS}


def test_slopes_use_files_above_the_start_up_time():
    rows = [
        {"command": "tce", "ties": "continuous", "rows": 10**power, "seconds": 3.0 * 10**power}
        for power in (4, 6, 7, 8)
    ]
    (slope,) = slopes([*rows, {**rows[1], "command": "bin"}])
    assert (slope["from"], slope["to"]) == (10**6, 10**8)
    assert slope["slope"] == pytest.approx(1.0)


def test_files_are_written_in_parts(tmp_path, monkeypatch):
    monkeypatch.setattr(data, "PART_ROWS", 300)
    table = pq.read_table(data.rows_file(tmp_path, 1000, ties=True))
    assert table.num_rows == 1000
    score = table["score"].to_numpy()
    assert np.array_equal(score, score.round(2))
    classes = pq.read_table(data.classes_file(tmp_path, 1000))
    assert classes.column_names == [*(f"p_{class_number}" for class_number in range(10)), "label"]


def test_a_serial_share_is_that_of_karp_and_flatt_with_its_interval():
    assert [serial_fraction(10.0, two) for two in (5.0, 5.5, 10.0)] == pytest.approx([0.0, 0.1, 1.0])
    assert summary([0.09, 0.3, *[0.1] * 4, 0.2, 0.05, 0.11]) == {"share": 0.1, "low": 0.09, "high": 0.2}


@pytest.mark.thorough
def test_a_chain_is_shorter_than_all_work(tmp_path):
    rows = list(scaling.scaling(tmp_path, 300_000, pairs=1))
    assert {row["command"] for row in rows} == set(scaling.NAMES)
    line = command(MODEL, tmp_path / "rows_300000_continuous.parquet", tmp_path / "out", None)
    chain, total = scaling._chain(line)
    assert 0.1 < chain <= total
