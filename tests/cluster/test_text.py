"""What Apache Spark would read otherwise is refused, or read as here; SPARK_REMOTE names the cluster."""

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from uqcli.cli.app import run

HEADER = b"score,label,note\n"


@pytest.mark.parametrize(
    ("text", "message"),
    [
        (b"", "is empty or has no header"),
        (b"sep=;\nscore;label\n0.5;1\n", "remove the line and give --delimiter"),
        (b"score,score,label\n0.5,1,1\n", "column 'score' appears 2 times"),
        (b"score\n0.5\n\n0.7\n", "has one column and blank lines"),
        (b"score,label,n\xffte\n0.5,1,a\n", "bytes that are not UTF-8"),
        (HEADER + b'0.5,1,"a\n0.7,0,b\n', "has a quote that is not closed"),
        (HEADER + b'0.5,1,"a"b\n0.7,0,"b"\n', "has a quote inside a field"),
        (HEADER + b"0.5,1,a,b\n", "each record as long as the header"),
        (HEADER + b"0.5,1\n", "each record as long as the header"),
        (HEADER + b"0.5,1,a\xff\n", "bytes that are not UTF-8"),
        (HEADER + b"0.5,1,a\n0.7,1,b\r\n", "line ends of two kinds"),
    ],
)
def test_text_that_spark_reads_otherwise_is_refused(tmp_path, capsys, text, message):
    rule, rows = tmp_path / "rule.json", tmp_path / "rows.csv"
    rows.write_text("score,label\n0.2,0\n0.4,0\n0.6,1\n0.8,1\n")
    assert run(["boundary", str(rows), "--precision", "0.5", "-q", "-o", str(rule)]) == 0
    rows.write_bytes(text)
    output = str(tmp_path / "decided.parquet")
    assert run(["apply", str(rule), str(rows), "-q", "-o", output, "--engine", "spark"]) == 3
    (line,) = capsys.readouterr().err.splitlines()
    assert message in line


def test_a_number_of_percent_is_a_hundredth_on_both_engines(tmp_path):
    rows = tmp_path / "rows.csv"
    shares = [0.07, 1, 12.5, 29, 58.55, 99.99, 100]
    rows.write_text(
        "score,label\n" + "".join(f"{share}%,{index % 2}\n" for index, share in enumerate(shares))
    )
    results = []
    for engine in ("polars", "spark"):
        output = tmp_path / f"{engine}.json"
        line = ["boundary", str(rows), "--precision", "0.5", "--algorithm", "st", "-q"]
        assert run([*line, "--engine", engine, "-o", str(output)]) == 0
        results.append(output.read_bytes())
    assert results[0] == results[1]


def test_files_with_other_columns_are_refused(tmp_path, capsys):
    (tmp_path / "rows").mkdir()
    (tmp_path / "rows" / "1.csv").write_bytes(HEADER + b"0.5,1,a\n")
    (tmp_path / "rows" / "2.csv").write_bytes(b"label,score,note\n1,0.5,a\n")
    line = ["tce", str(tmp_path / "rows"), "--format", "csv", "--engine", "spark"]
    assert run(line) == 3
    (message,) = capsys.readouterr().err.splitlines()
    assert "its header that of the others" in message


def test_settings_of_the_cluster_change_neither_days_nor_keys(tmp_path):
    random = np.random.default_rng(2)
    size = 600
    score = random.random(size).round(2)
    begin = np.datetime64("2026-03-01T02:30", "us")
    table = pa.table(
        {
            "score": score,
            "label": (random.random(size) < score).astype(int),
            "at": pa.array(begin + np.sort(random.integers(0, 40 * 24, size)) * np.timedelta64(1, "h")).cast(
                pa.timestamp("us", "America/New_York")
            ),
        }
    )
    for index, shop in enumerate(("01", "1")):
        folder = tmp_path / "rows" / f"shop={shop}"
        folder.mkdir(parents=True)
        half = size // 2
        pq.write_table(table[half:] if index else table[:half], folder / "rows.parquet")
    for line in ("boundary {} --precision 0.5 --algorithm st --day at -o", "tce {} --by shop --report"):
        results = []
        for engine in ("polars", "spark"):
            words = line.format(tmp_path / "rows").split()
            output = tmp_path / f"{engine}.json"
            assert run([*words, str(output), "-q", "--engine", engine]) == 0
            results.append(output.read_bytes())
        assert results[0] == results[1]
