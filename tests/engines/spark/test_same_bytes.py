"""Tests of whole commands on a cluster: the same bytes as the local engine, and errors of one line."""

import importlib.util
import json
import socket
from pathlib import Path

import numpy as np
import polars as pl
import pytest

from tests import sail
from uqcli.base.errors import UsageError
from uqcli.cli.app import run
from uqcli.engines.protocol import ALL_ROWS
from uqcli.engines.request import DataRequest, Roles, in_memory
from uqcli.engines.spark import engine as spark_engine
from uqcli.engines.spark import pooling, session
from uqcli.engines.spark.engine import SparkEngine

BINARY = (
    "boundary --precision 0.5 --weight w",
    "boundary --precision 0.5 --algorithm all",
    "boundary --precision 0.5 --review 5% --weight w",
    "boundary --precision 0.5 --miss 0.2 --algorithm vw-dpmt",
    "boundary --precision 0.5 --miss 0.9 --certify 0.4",
    "boundary --recall 0.5 --certify 0.4 --weight w",
    "boundary --precision 0.4 --by region --bound each --certify 0.5",
    "boundary --precision 0.5 --by region --weight w",
    "boundary --gain amount --cost 2.5 --weight w",
    "boundary --gain amount --cost amount --algorithm vw-dpmt",
    "boundary --gain 20 --cost amount --algorithm st --weight w",
    "boundary --gain amount --cost 9 --compare --weight w",
    "boundary --precision 0.5 --by region --bound each --algorithm vw-dpmt --min-group 400",
    "bin --uncertainty-bins 3 --weight w",
    "calibrate --score p --method platt",
    "calibrate --score p --method isotonic --weight w",
    "calibrate --score p --weight w",
    "calibrate --score p --method spline",
    "calibrate --score p --method venn-abers --weight w",
    "calibrate --score p --method histogram",
    "calibrate --score p --method mist",
)
CLASSES = (
    "boundary --proba p_* --precision 0.5 --uncertainty uncertainty --weight w",
    "boundary --proba p_* --precision 0.5 --bound each --algorithm vw-dpmt",
    "conformal --proba p_* --method lac --weight w",
    "conformal --proba p_* --method aps --no-randomize",
    "shift --proba p_* --target {folder}/1.parquet",
    "shift --proba p_* --target {folder}/2.parquet --cluster region",
    "calibrate --proba p_* --weight w",
    "calibrate --proba p_* --method vector",
    "calibrate --proba p_* --method isotonic --weight w",
    "calibrate --proba p_* --method venn-abers",
    "calibrate --proba p_* --method histogram --n-bins 3",
)


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    """Write three files of rows with ties, negative scores and weights, some of them 0."""
    folder, random = tmp_path_factory.mktemp("rows"), np.random.default_rng(1)
    score = np.where(random.random(3000) < 0.5, random.normal(size=3000).round(1), random.normal(size=3000))
    probability = np.exp(random.normal(size=(3000, 3)).round(1))
    probability /= probability.sum(axis=1, keepdims=True)
    rows = pl.DataFrame(
        {
            "score": score,
            "p": 1 / (1 + np.exp(-score)),
            "uncertainty": random.integers(0, 5, 3000) / 4 - 0.5,
            "label": (random.random(3000) < 1 / (1 + np.exp(1 - score))).astype(np.int8),
            "class": np.array(list("abc"))[
                (random.random((3000, 1)) > probability[:, :2].cumsum(axis=1)).sum(1)
            ],
            "w": random.integers(0, 4, 3000),
            "region": np.arange(3000) % 7,
            "amount": np.exp(random.normal(2, 1, 3000)).round(3),
            **{f"p_{name}": probability[:, index] for index, name in enumerate("abc")},
        }
    )
    for file_number, (start, stop) in enumerate(((0, 700), (700, 701), (701, 3000))):
        rows[start:stop].write_parquet(folder / f"{file_number}.parquet")
    return folder


def inputs(folder):
    return [str(folder / f"{file_number}.parquet") for file_number in range(3)]


@pytest.mark.covering("spark", every=32)
@pytest.mark.parametrize("line", [*BINARY, *CLASSES])
def test_rule_files_are_byte_identical_on_both_engines(folder, tmp_path, line):
    words = line.format(folder=folder).split()
    labels = ["--label", "class"] if line in CLASSES else []
    for engine in ("polars", "spark"):
        output = str(tmp_path / engine)
        assert run([*words, *labels, *inputs(folder), "-q", "-o", output, "--engine", engine]) == 0
    assert (tmp_path / "polars").read_bytes() == (tmp_path / "spark").read_bytes()


@pytest.mark.covering("spark", every=8)
@pytest.mark.parametrize(
    "line",
    [
        "boundary --precision 0.5 --weight w",
        "calibrate --score p --method platt --weight w",
        "conformal --proba p_* --method aps --no-randomize --label class",
        "boundary --precision 0.5 --by region --bound each",
        "boundary --precision 0.5 --review 5%",
        "boundary --proba p_* --precision 0.5 --label class --uncertainty uncertainty",
        "boundary --proba p_c,p_a,p_b --classes c,a,b --precision 0.5 --label class --bound each",
    ],
)
def test_results_by_group_are_equal_on_both_engines(folder, tmp_path, line):
    rule_file = str(tmp_path / "rule.json")
    assert run([*line.split(), *inputs(folder), "-q", "-o", rule_file]) == 0
    reports = []
    for engine in ("polars", "spark"):
        report = tmp_path / f"{engine}.json"
        options = ["--by", "region", "-q", "--report", str(report), "--engine", engine]
        assert run(["evaluate", rule_file, *inputs(folder), *options]) == 0
        reports.append(report.read_bytes())
    assert reports[0] == reports[1]
    assert b'"groups"' in reports[0]


def test_values_of_rules_are_equal_on_both_engines(folder, tmp_path):
    rules = [str(tmp_path / f"{name}.json") for name in ("first", "second")]
    for rule_file, algorithm in zip(rules, ("st", "vw-dpmt"), strict=True):
        worth = ["--gain", "amount", "--cost", "2.5", "--algorithm", algorithm]
        assert run(["boundary", *inputs(folder), *worth, "-q", "-o", rule_file]) == 0
    reports = []
    for engine in ("polars", "spark"):
        report = tmp_path / f"{engine}.json"
        options = ["--weight", "w", "-q", "--report", str(report), "--engine", engine]
        assert run(["evaluate", *rules, *inputs(folder), *options]) == 0
        reports.append(report.read_bytes())
    assert reports[0] == reports[1]
    assert b'"value_caught"' in reports[0]


def test_rows_without_labels_are_compared_alike_on_both_engines(folder, tmp_path):
    rule_file, rows = str(tmp_path / "rule.json"), pl.read_parquet(folder / "2.parquet")
    days = pl.Series([f"2026-01-{1 + index % 20:02d}" for index in range(len(rows))])
    rows = rows.with_columns(day=days, p=pl.col("p").round(1))  # a cluster pools equal rows
    rows.write_parquet(tmp_path / "fit.parquet")
    rows.drop("label").write_parquet(tmp_path / "new.parquet")
    fit = ["boundary", "--score", "p", "--precision", "0.5", "--algorithm", "st", "--cluster", "day"]
    for engine in ("polars", "spark"):
        rule_file = str(tmp_path / f"{engine}.json")
        assert run([*fit, str(tmp_path / "fit.parquet"), "-q", "-o", rule_file, "--engine", engine]) == 0
    assert (tmp_path / "polars.json").read_bytes() == (tmp_path / "spark.json").read_bytes()
    for options in ([], ["--day", "day"]):
        report = watched(rule_file, tmp_path / "new.parquet", options, tmp_path)
        assert report["metrics"]["rows"] == len(rows)
    options = ["--day", "day", "--matured", "1"]
    report = watched(rule_file, tmp_path / "fit.parquet", options, tmp_path)
    newest = rows.filter(pl.col("day") == rows["day"].max())
    assert report["metrics"]["young_rows"] == len(newest)
    assert report["source"]["rows"] == len(rows) - len(newest)


def watched(rule_file, rows, options, folder):
    """Watch a rule on both engines, and return their report, which is the same."""
    reports = []
    for engine in ("polars", "spark"):
        report = folder / f"{engine}_report.json"
        words = [*options, "-q", "--report", str(report), "--engine", engine]
        assert run(["watch", rule_file, str(rows), *words]) == 0
        reports.append(report.read_bytes())
    assert reports[0] == reports[1]
    return json.loads(reports[0])


@pytest.mark.covering("spark", every=8)
@pytest.mark.parametrize(
    "options",
    [
        "--sampling-weight amount",
        "--sampling-weight amount --weight w",
        "--labels {folder}/some.parquet --on id",
        "--labels {folder}/some.parquet --on id --by region --weight w",
    ],
)
def test_rates_of_weighted_rows_are_equal_on_both_engines(folder, tmp_path, options):
    files = inputs(folder)
    if "--labels" in options:
        rows = pl.concat(map(pl.read_parquet, files)).with_row_index("id")
        labels = rows.select("id", "label").sample(fraction=0.4, shuffle=True, seed=1)
        labels.write_parquet(folder / "some.parquet")
        files = [str(tmp_path / "unlabelled.parquet")]
        rows.drop("label").write_parquet(files[0])
    rule_file = str(tmp_path / "rule.json")
    assert run(["boundary", "--precision", "0.5", *inputs(folder), "-q", "-o", rule_file]) == 0
    reports = []
    for engine in ("polars", "spark"):
        report = tmp_path / f"{engine}.json"
        words = [*options.format(folder=folder).split(), "-q", "--report", str(report), "--engine", engine]
        assert run(["evaluate", rule_file, *files, *words]) == 0
        reports.append(report.read_bytes())
    assert reports[0] == reports[1]
    assert json.loads(reports[0])["metrics"]["recall"]["low"] is not None


@pytest.mark.parametrize("options", ["--score p --weight w --by region", "--proba p_* --label class"])
def test_errors_by_sampling_weight_are_equal_on_both_engines(folder, tmp_path, options):
    line = ["tce", *options.split(), "--sampling-weight", "amount", *inputs(folder)]
    reports = []
    for engine in ("polars", "spark"):
        report = tmp_path / f"{engine}.json"
        assert run([*line, "-q", "--report", str(report), "--engine", engine]) == 0
        reports.append(report.read_bytes())
    assert reports[0] == reports[1]


@pytest.mark.parametrize(
    ("labels", "message"),
    [
        ([(0, 1), (0, 0)], "2 rows with an id that repeats"),
        ([(None, 1)], "1 row without an id"),
        ([(-1, 1)], "no 'id' of the inputs is in"),
    ],
)
def test_labels_of_a_second_file_are_checked_on_both_engines(folder, tmp_path, capsys, labels, message):
    rows = pl.read_parquet(inputs(folder)[0]).with_row_index("id").drop("label")
    rows.write_parquet(tmp_path / "rows.parquet")
    pl.DataFrame(labels, schema=["id", "label"], orient="row").write_parquet(tmp_path / "labels.parquet")
    second = ["--labels", str(tmp_path / "labels.parquet"), "--on", "id"]
    for engine in ("polars", "spark"):
        assert run(["tce", "--score", "p", str(tmp_path / "rows.parquet"), *second, "--engine", engine]) == 3
        assert message in capsys.readouterr().err


@pytest.mark.covering("spark", every=4)
@pytest.mark.parametrize(
    "line",
    [
        "boundary --precision 0.5",
        "boundary --precision 0.5 --miss 0.2",
        "boundary --precision 0.5 --by region --min-group 400",
        "boundary --proba p_* --precision 0.5 --label class --uncertainty uncertainty",
    ],
)
@pytest.mark.parametrize("only", [[], ["--only-selected"]], ids=["all rows", "flagged rows"])
def test_decisions_are_equal_in_any_order_of_rows(folder, tmp_path, line, only):
    rule_file, output = str(tmp_path / "b.json"), str(tmp_path / "there")
    assert run([*line.split(), *inputs(folder), "-q", "-o", rule_file]) == 0
    options = ["-q", "--prefix", "x_", *only]
    assert run(["apply", rule_file, *inputs(folder), *options, "-o", str(tmp_path / "here.parquet")]) == 0
    assert run(["apply", rule_file, *inputs(folder), *options, "-o", output, "--engine", "spark"]) == 0
    local = pl.read_parquet(tmp_path / "here.parquet")
    on_spark = pl.read_parquet(sorted(Path(output).glob("*.parquet")))
    assert on_spark.sort(on_spark.columns).equals(local.sort(local.columns))
    assert run(["apply", rule_file, *inputs(folder), *options, "-o", output, "--engine", "spark"]) == 3


@pytest.mark.covering("spark", every=3)
@pytest.mark.parametrize(
    "line",
    [
        "boundary --precision 0.5 --uncertainty-bins 2",
        "boundary --precision 0.5 --algorithm hr",
        "boundary --proba p_* --precision 0.5 --label class --uncertainty uncertainty",
    ],
)
def test_rows_outside_the_range_of_the_fit_are_the_same(folder, tmp_path, line):
    rule_file = str(tmp_path / "b.json")
    assert run([*line.split(), *inputs(folder)[:1], "-q", "-o", rule_file]) == 0
    metrics = []
    for engine in ("polars", "spark"):
        report, output = tmp_path / f"{engine}.json", str(tmp_path / f"{engine}.parquet")
        options = ["-q", "--prefix", "x_", "--report", str(report), "-o", output, "--engine", engine]
        assert run(["apply", rule_file, *inputs(folder), *options]) == 0
        metrics.append(json.loads(report.read_text())["metrics"])
    assert metrics[0] == metrics[1]
    assert metrics[0]["outside_range"] is not None


def test_texts_of_whole_numbers_name_the_same_group(folder, tmp_path):
    rule, code = str(tmp_path / "b.json"), pl.col("score").rank("ordinal") % 3
    rows = pl.read_parquet(inputs(folder)).with_columns(code=code.cast(pl.Int64))
    integers, floats = str(tmp_path / "integers.parquet"), str(tmp_path / "floats.parquet")
    rows.write_parquet(integers)
    rows.with_columns(pl.col("code").cast(pl.Float64).cast(pl.String)).write_parquet(floats)
    assert run(["boundary", "--precision", "0.5", "--by", "code", integers, "-q", "-o", rule]) == 0
    metrics = []
    for engine, source in (("polars", integers), ("spark", floats)):
        report, output = tmp_path / f"{engine}.json", str(tmp_path / f"{engine}.parquet")
        options = ["-q", "--report", str(report), "-o", output, "--engine", engine]
        assert run(["apply", rule, source, *options]) == 0
        metrics.append(json.loads(report.read_text())["metrics"])
    assert metrics[0] == metrics[1]
    assert metrics[0]["new_categories"] == 0


def test_a_daily_capacity_takes_the_same_rows(folder, tmp_path, capsys):
    rule_file, frame = str(tmp_path / "b.json"), pl.read_parquet(inputs(folder))
    assert run(["boundary", "--precision", "0.5", *inputs(folder), "-q", "-o", rule_file]) == 0
    tied = str(tmp_path / "tied.parquet")
    frame.write_parquet(tied)
    distinct = str(tmp_path / "distinct.parquet")
    frame.with_columns(score=pl.col("score") + pl.int_range(pl.len()) * 1e-7).write_parquet(distinct)
    options = ["-q", "--top", "40", "--per", "region"]
    assert run(["apply", rule_file, distinct, *options, "-o", str(tmp_path / "here.parquet")]) == 0
    there = str(tmp_path / "there")
    assert run(["apply", rule_file, distinct, *options, "-o", there, "--engine", "spark"]) == 0
    local = pl.read_parquet(tmp_path / "here.parquet")
    on_spark = pl.read_parquet(sorted(Path(there).glob("*.parquet")))
    assert on_spark.sort(on_spark.columns).equals(local.sort(local.columns))
    assert local["decision"].sum() == 7 * 40
    capsys.readouterr()
    pair = pl.DataFrame({"score": [0.5, 0.5], "uncertainty": [9.0, 9.5], "label": [0, 0]})
    pair.write_parquet(tmp_path / "pair.parquet")  # distinct rows of one place and score
    one = ["--top", "1", "-q", "-o", str(tmp_path / "no"), "--engine", "spark"]
    assert run(["apply", rule_file, str(tmp_path / "pair.parquet"), *one]) == 3
    assert "rows on a cluster have no order" in capsys.readouterr().err
    refused = run(["apply", rule_file, tied, *options, "-o", str(tmp_path / "no"), "--engine", "spark"])
    assert refused == 3
    assert "rows on a cluster have no order" in capsys.readouterr().err
    assert not (tmp_path / "no").exists()


@pytest.mark.parametrize(
    ("words", "code", "message"),
    [
        (["nowhere.parquet"], 3, "cannot read 'nowhere.parquet'"),
        (["{folder}/0.parquet", "--score", "scor"], 3, "did you mean 'score'"),
        (["{folder}/0.parquet", "--spark", "sc://127.0.0.1:1"], 3, "cannot reach the cluster"),
        (["{folder}/0.parquet", "--spark", "127.0.0.1"], 2, "sc://host:port"),
        (["-"], 2, "standard input"),
    ],
)
def test_errors_are_one_line(folder, capfd, words, code, message):
    words = [word.format(folder=folder) for word in words]
    assert run(["boundary", *words, "--precision", "0.5", "--engine", "spark"]) == code
    (line,) = capfd.readouterr().err.splitlines()
    assert message in line


def test_a_server_of_another_protocol_is_refused(folder, capfd, monkeypatch):
    monkeypatch.setattr(session, "_CONNECT_SECONDS", 0.5)
    with socket.create_server(("127.0.0.1", 0)) as server:
        address = f"sc://127.0.0.1:{server.getsockname()[1]}"
        line = [
            "boundary",
            str(folder / "0.parquet"),
            "--precision",
            "0.5",
            "--engine",
            "spark",
            "--spark",
            address,
        ]
        assert run(line) == 3
    assert "no answer of Spark Connect within 0.5 seconds" in capfd.readouterr().err


@pytest.mark.spark
def test_ranges_are_opened_in_as_many_passes_as_their_values_need(folder, tmp_path, monkeypatch):
    monkeypatch.setattr(spark_engine, "ROWS_PER_PART", 100)
    monkeypatch.setattr(spark_engine, "CELLS", 64)
    calls = []
    monkeypatch.setattr(
        spark_engine, "pooled", lambda *arguments, **options: calls.append(1) or pooled(*arguments, **options)
    )
    pooled, passes = pooling.pooled, {}
    for max_values in (1 << 24, 400):
        monkeypatch.setattr(spark_engine, "MAX_VALUES", max_values)
        calls.clear()
        output = str(tmp_path / f"{max_values}")
        line = f"boundary --precision 0.5 --weight w -q --engine spark -o {output}"
        assert run([*line.split(), *inputs(folder)]) == 0
        passes[max_values] = len(calls)
    local = tmp_path / "here"
    assert run([*f"boundary --precision 0.5 --weight w -q -o {local}".split(), *inputs(folder)]) == 0
    assert all((tmp_path / f"{max_values}").read_bytes() == local.read_bytes() for max_values in passes)
    assert passes[400] > passes[1 << 24]


@pytest.mark.parametrize(
    ("line", "message"),
    [
        ("tce --score p", "distinct values to collect; expected at most 100 from a cluster"),
        ("calibrate --score p --method mist -o nothing", "distinct rows to collect; expected at most "),
    ],
)
def test_too_many_values_are_refused_before_they_are_collected(folder, capfd, monkeypatch, line, message):
    monkeypatch.setattr(pooling, "MAX_VALUES", 100)
    monkeypatch.setattr(pooling, "MAX_NUMBERS", 150)
    words = [*line.split(), *inputs(folder), "--engine", "spark"]
    assert run(words) == 3
    stderr = capfd.readouterr().err
    assert message in stderr
    assert "--engine polars" in stderr


def test_frames_are_refused():
    request = DataRequest(
        inputs=in_memory(pl.DataFrame({"score": [1.0]})), roles=Roles(numbers={"score": "score"})
    )
    with pytest.raises(UsageError, match="data frame in memory"):
        SparkEngine().table(request).pooled(ALL_ROWS)


def test_a_server_that_is_no_apache_spark_is_refused_by_name(folder, capfd, monkeypatch):
    monkeypatch.setattr(session, "_sessions", {})
    monkeypatch.setattr(session, "_OTHERS_ARE_READ", False)
    line = ["tce", str(folder / "0.parquet"), "--score", "p", "--engine", "spark", "--spark", sail.address()]
    assert run(line) == 3
    (message,) = capfd.readouterr().err.splitlines()
    assert "is no Apache Spark: it says version " in message
    assert "as Sail does" in message


def test_a_cluster_needs_an_address(folder, capfd, monkeypatch):
    monkeypatch.undo()  # the tests' own server
    monkeypatch.delenv("SPARK_REMOTE", raising=False)
    assert run(["tce", str(folder / "0.parquet"), "--score", "p", "--engine", "spark"]) == 2
    (message,) = capfd.readouterr().err.splitlines()
    assert "--spark sc://host:port, or SPARK_REMOTE" in message
    assert "sbin/start-connect-server.sh" in message


def test_a_missing_extra_is_named(folder, capfd, monkeypatch):
    monkeypatch.setattr(session, "_sessions", {})
    monkeypatch.setattr(session, "find_spec", lambda name: None)
    line = ["boundary", str(folder / "0.parquet"), "--precision", "0.5", "--engine", "spark"]
    assert run(line) == 7
    assert "uqcli[spark]" in capfd.readouterr().err
    assert importlib.util.find_spec("pyspark") is not None


@pytest.mark.spark
@pytest.mark.parametrize("line", ["overview --score p --weight w", "boundary --weight w"])
def test_first_looks_are_equal_on_both_engines(folder, tmp_path, line):
    reports = []
    for engine in ("polars", "spark"):
        report = tmp_path / f"{engine}.json"
        options = ["-q", "--report", str(report), "--engine", engine]
        assert run([*line.split(), *inputs(folder), *options]) == 0
        reports.append(json.loads(report.read_text()))
    assert reports[0] == reports[1]
