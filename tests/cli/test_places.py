"""Tests of inputs and outputs: no file is both, streams are read once, and any name is allowed."""

import hashlib
import json
import os
import re
import subprocess
import sys

import polars as pl
import pytest

from tests.cli.cases import CASES, READ_DATA, WRITE

PROGRAM = [sys.executable, "-m", "uqcli"]


def name_of(case):
    return getattr(case, "name", None)


def assert_refused(outcome, *untouched):
    """Require exit code 2 with one line, and unchanged files."""
    assert outcome.code == 2, outcome.err
    assert len(outcome.err.splitlines()) == 1
    assert outcome.out == b""
    for path, content in untouched:
        assert path.read_bytes() == content


@pytest.mark.parametrize(
    "reference", ["name", "directory", "glob", "symlink", "hard link", "link to the output"]
)
@pytest.mark.parametrize("case", [case for case in WRITE if case.reads_data], ids=name_of)
def test_an_input_is_not_an_output_under_any_name(uqcli, case, reference, data, artifact, tmp_path):
    folder = tmp_path / "folder"
    folder.mkdir()
    file = data.rename(folder / "a.parquet")
    content = file.read_bytes()
    inputs, output = file, folder / "." / "a.parquet"
    if reference == "directory":
        inputs = folder
    elif reference == "glob":
        inputs = folder / "*.par*"
    elif reference == "symlink":
        inputs = tmp_path / "link.parquet"
        inputs.symlink_to(file)
    elif reference == "hard link":
        inputs = tmp_path / "link.parquet"
        os.link(file, inputs)
    elif reference == "link to the output":
        output = tmp_path / "out.parquet"
        output.symlink_to(file)
    assert_refused(uqcli(*case.arguments(inputs, artifact), "-o", output), (file, content))


@pytest.mark.parametrize("case", [case for case in CASES if case.reads_data], ids=name_of)
def test_an_input_is_not_a_report(uqcli, case, data, artifact, tmp_path):
    file = data.rename(tmp_path / "rows.json")
    content = file.read_bytes()
    arguments = [*case.arguments(file, artifact), "--format", "parquet"]
    if case.name == "evaluate":  # a name that ends in .json would be a rule file
        os.link(file, tmp_path / "rows.parquet")
        arguments = ["evaluate", artifact, tmp_path / "rows.parquet"]
    assert_refused(uqcli(*arguments, "-q", "--report", file), (file, content))


@pytest.mark.parametrize("case", CASES, ids=name_of)
def test_a_configuration_is_not_an_output(uqcli, case, data, artifact, tmp_path):
    named_file, discovered_file = tmp_path / "mine.json", tmp_path / "uqcli.toml"
    discovered_file.write_text("")
    named_file.write_text("[tool.uqcli.bin]\n")
    arguments = case.arguments(data, artifact)
    report = tmp_path / "r.json"
    os.link(discovered_file, report)
    assert_refused(
        uqcli(*arguments, "--config", named_file, "--report", named_file),
        (named_file, named_file.read_bytes()),
    )
    assert_refused(uqcli(*arguments, "--report", report), (discovered_file, b""))


@pytest.fixture
def rule_files_by_kind(uqcli, data, artifact, tmp_path):
    """Fit a rule file of each kind that options take."""
    rule_files = {"boundary": artifact, "shift": tmp_path / "s.json", "grid": tmp_path / "g.json"}
    known = ["--estimator", "known", "--prior", "0.5,0.5", "--bootstrap", "0"]
    assert uqcli("shift", data, *known, "-q", "-o", rule_files["shift"]).code == 0
    assert uqcli("bin", data, "--score-bins", "9", "-q", "-o", rule_files["grid"]).code == 0
    return rule_files


OPTIONS = {
    "boundary --shift": ("boundary {data} --precision 0.6 --shift {shift}", "shift", "-o"),
    "boundary --grid": ("boundary --precision 0.6 --grid {grid}", "grid", "-o"),
    "calibrate --shift": ("calibrate {data} --shift {shift}", "shift", "-o"),
    "conformal --shift": ("conformal {data} --mode label-shift --shift {shift}", "shift", "-o"),
    "bin --edges": ("bin {data} --edges {grid}", "grid", "-o"),
    "bin --merge": ("bin --merge {grid} {grid}", "grid", "-o"),
    "evaluate --shift": ("evaluate {boundary} {data} --shift {shift}", "shift", "--report"),
    "evaluate": ("evaluate {boundary} {data}", "boundary", "--report"),
    "show": ("show {grid}", "grid", "--report"),
    "calibrate --test": ("calibrate {data} --test {test}", "test", "-o"),
    "calibrate --tree-data": (
        "calibrate {data} --method heterogeneous --features id --tree-data {test}",
        "test",
        "-o",
    ),
    "conformal --target": ("conformal {data} --mode label-shift --target {test}", "test", "-o"),
    "shift --target": ("shift {data} --target {test}", "test", "-o"),
}


@pytest.mark.covering("thorough", every=3)
@pytest.mark.parametrize("option", OPTIONS)
def test_inputs_of_options_are_not_outputs(uqcli, option, rule_files_by_kind, data, tmp_path):
    line, read_name, output_option = OPTIONS[option]
    test = tmp_path / "test.parquet"
    test.write_bytes(data.read_bytes())
    paths = {**rule_files_by_kind, "data": data, "test": test}
    path = paths[read_name]
    content = path.read_bytes()
    assert_refused(uqcli(*line.format(**paths).split(), output_option, path), (path, content))


def test_appending_to_the_input_is_refused(artifact, data_csv):
    content = data_csv.read_bytes()
    with data_csv.open("ab") as appended:
        process = subprocess.run(
            [*PROGRAM, "apply", artifact, data_csv], stdout=appended, stderr=subprocess.PIPE, check=False
        )
    assert (process.returncode, len(process.stderr.splitlines())) == (2, 1)
    assert data_csv.read_bytes() == content


@pytest.mark.covering("thorough", every=5)
@pytest.mark.parametrize("name", ["/dev/stdin", "/dev/fd/0", "/proc/self/fd/0"])
@pytest.mark.parametrize("case", READ_DATA, ids=name_of)
def test_standard_input_can_be_named_by_its_device(uqcli, case, name, data_csv, artifact):
    options = ["--json"] if case.json else ["-q"]
    expected = uqcli(*case.arguments("-", artifact), *options, stdin=data_csv.read_bytes())
    outcome = uqcli(*case.arguments(name, artifact), *options, stdin=data_csv.read_bytes())
    assert (outcome.code, outcome.out, outcome.err) == (0, expected.out, "")


TWICE = {
    "conformal": "conformal {s} --mode label-shift --target {s}",
    "shift": "shift {s} --target {s}",
    "shift targets": "shift x.csv --target {s} --target {s}",
    "calibrate": "calibrate {s} --test {s}",
    "trees": "calibrate {s} --method heterogeneous --features id --tree-data {s}",
    "grid": "bin {s} --edges {s}",
    "merge": "bin --merge {s} {s}",
    "weights": "boundary {s} --precision 0.5 --shift {s}",
    "evaluate": "evaluate b.json {s} --shift {s}",
    "apply": "apply {s} {s}",
}


@pytest.mark.parametrize("names", [("-", "-"), ("-", "/dev/stdin"), ("/dev/fd/0", "-")])
@pytest.mark.parametrize("command", TWICE)
def test_two_inputs_cannot_be_standard_input(uqcli, command, names):
    first, second = TWICE[command].split("{s}", 1)
    arguments = f"{first}{names[0]}{second.replace('{s}', names[1])}".split()
    outcome = uqcli(*arguments, stdin=b"score,label\n0.5,1\n")
    assert_refused(outcome)
    assert "standard input is named twice" in outcome.err


@pytest.mark.thorough
def test_several_rules_read_one_stream(uqcli, data, data_csv, tmp_path):
    for number, method in enumerate(("platt", "isotonic")):
        arguments = ["--method", method, "--bootstrap", 0, "-q", "-o", f"c{number}.json"]
        assert uqcli("calibrate", data, *arguments).code == 0
        assert uqcli("conformal", data, "--seed", number, "-q", "-o", f"s{number}.json").code == 0
        arguments = ["--precision", "0.7", "--score-bins", 20 + number, "-q", "-o", f"b{number}.json"]
        assert uqcli("boundary", data, *arguments).code == 0
    for kind in "csb":
        rule_files = [f"{kind}0.json", f"{kind}1.json"]
        expected = uqcli("evaluate", *rule_files, data, "--json")
        assert expected.code == 0
        for content in (data_csv.read_bytes(), data.read_bytes()):
            outcome = uqcli("evaluate", *rule_files, "-", "--json", stdin=content)
            assert (outcome.code, outcome.out, outcome.err) == (0, expected.out, "")
    assert not list(tmp_path.glob(".*"))


def test_a_stream_can_be_used_with_target_data(uqcli, data, data_csv, tmp_path):
    (tmp_path / "t.parquet").write_bytes(data.read_bytes())
    arguments = ["--mode", "label-shift", "--target", "t.parquet", "--json"]
    expected = uqcli("conformal", data, *arguments)
    outcome = uqcli("conformal", "-", *arguments, stdin=data_csv.read_bytes())
    assert expected.code == 0
    assert (outcome.code, outcome.out) == (0, expected.out)


def test_several_rules_read_one_fifo(uqcli, data, data_csv, tmp_path):
    import threading

    for number in (0, 1):
        arguments = ["--method", "platt", "--seed", number, "--bootstrap", 0, "-q", "-o", f"c{number}.json"]
        assert uqcli("calibrate", data, *arguments).code == 0
    fifo = tmp_path / "fifo"
    os.mkfifo(fifo)
    writer = threading.Thread(target=lambda: fifo.write_bytes(data_csv.read_bytes()))
    writer.start()
    outcome = uqcli("evaluate", "c0.json", "c1.json", fifo, "--json")
    writer.join()
    assert outcome.out == uqcli("evaluate", "c0.json", "c1.json", data, "--json").out


@pytest.mark.covering("thorough", every=4)
@pytest.mark.parametrize("case", READ_DATA, ids=name_of)
def test_parquet_on_standard_input_is_recognised(uqcli, case, data, artifact):
    options = ["--json"] if case.json else ["-q"]
    expected = uqcli(*case.arguments(data, artifact), *options)
    outcome = uqcli(*case.arguments("-", artifact), *options, stdin=data.read_bytes())
    assert (outcome.code, outcome.out, outcome.err) == (0, expected.out, "")


def test_streams_shorter_than_a_signature_are_errors(uqcli, artifact):
    assert uqcli("apply", artifact, "-", stdin=b"").code == 3
    assert uqcli("bin", "-", stdin=b"a\n").code == 3
    assert uqcli("bin", "-", stdin=b"PAR1").code == 3


@pytest.mark.parametrize("case", [case for case in WRITE if case.writes_rows], ids=name_of)
@pytest.mark.parametrize(
    "output",
    [
        ("x.parquet.gz",),
        ("x.arrow.zst",),
        ("x.feather.gz",),
        ("x.csv.gz", "--output-format", "parquet"),
        ("x.csv.zst", "--output-format", "arrow"),
    ],
    ids=" ".join,
)
def test_compressed_columnar_outputs_are_refused(uqcli, case, output, data, artifact, tmp_path):
    outcome = uqcli(*case.arguments(data, artifact), "-o", *output)
    assert_refused(outcome)
    assert "compressed" in outcome.err
    assert not (tmp_path / output[0]).exists()


LONG_NAMES = {"latin": "n" * 250, "cyrillic": "ж" * 125, "han": "漢" * 83 + "a", "emoji": "🎲" * 62 + "ab"}


@pytest.mark.covering("thorough", every=5)
@pytest.mark.parametrize("script", LONG_NAMES)
@pytest.mark.parametrize("case", WRITE, ids=name_of)
def test_names_of_250_bytes_are_allowed(uqcli, case, script, data, artifact, tmp_path):
    output = tmp_path / LONG_NAMES[script]
    assert len(os.fsencode(output.name)) == 250
    assert uqcli(*case.arguments(data, artifact), "-q", "-o", output).code == 0
    assert output.stat().st_size > 0


@pytest.mark.parametrize("case", READ_DATA, ids=name_of)
def test_a_folder_of_two_formats_is_an_error(uqcli, case, data, data_csv, artifact, tmp_path):
    folder = tmp_path / "folder"
    folder.mkdir()
    data.rename(folder / "d.parquet")
    data_csv.rename(folder / "d.csv")
    outcome = uqcli(*case.arguments(folder, artifact))
    assert outcome.code == 3
    assert "contains csv and parquet files" in outcome.err
    assert uqcli(*case.arguments(folder / "*.csv", artifact)).code == 0


TABLES = {
    "Delta": ("_delta_log/0.json", ""),
    "Delta in parts": ("_delta_log/0.json", "day=1/shop=a"),
    "Hudi": (".hoodie/hoodie.properties", ""),
    "Hudi in parts": ("2026/.hoodie_partition_metadata", "2026"),
    "Iceberg": ("metadata/v1.metadata.json", "data"),
    "Iceberg in parts": ("metadata/v1.metadata.json", "data/day=1"),
}


@pytest.mark.covering("thorough")
@pytest.mark.parametrize("case", [case for case in READ_DATA if case.name in ("apply", "tce")], ids=name_of)
@pytest.mark.parametrize("table", TABLES)
def test_folders_of_tables_are_refused(uqcli, case, table, data, artifact, tmp_path):
    """Their files also contain rows that were deleted or replaced."""
    log, rows = TABLES[table]
    folder = tmp_path / "table" / rows
    folder.mkdir(parents=True)
    (tmp_path / "table" / log).parent.mkdir(exist_ok=True)
    (tmp_path / "table" / log).write_text("{}")
    file = data.rename(folder / "a.parquet")
    for inputs in {tmp_path / "table", folder, folder / "*.parquet", tmp_path / "table" / "**" / "*.parquet"}:
        if table != "Hudi in parts" or inputs != tmp_path / "table":  # which has neither log nor rows
            outcome = uqcli(*case.arguments(inputs, artifact))
            assert (outcome.code, len(outcome.err.splitlines())) == (3, 1)
            assert f"is a table in the {table.split()[0]} format, whose files also" in outcome.err
    assert uqcli(*case.arguments(file, artifact)).code == 0


@pytest.mark.parametrize("inputs", ["table", "table/day=1", "table/day=1/*.parquet", "tab*"])
def test_spark_refuses_folders_of_tables(uqcli, inputs, data, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    (tmp_path / "table" / "day=1").mkdir(parents=True)
    (tmp_path / "table" / "_delta_log").mkdir()
    data.rename(tmp_path / "table" / "day=1" / "a.parquet")
    outcome = uqcli("tce", inputs, "--engine", "spark")
    assert (outcome.code, len(outcome.err.splitlines())) == (3, 1)
    assert "is a table in the Delta format" in outcome.err
    file = "table/day=1/a.parquet"
    assert uqcli("tce", file, "--engine", "spark", "--bootstrap", "0").code == 0


def test_a_folder_in_a_table_is_refused_from_within(uqcli, data, tmp_path, monkeypatch):
    folder = tmp_path / "day=1"
    folder.mkdir()
    (tmp_path / "_delta_log").mkdir()
    data.rename(folder / "a.parquet")
    monkeypatch.chdir(folder)
    for inputs in (".", "*.parquet"):
        outcome = uqcli("tce", inputs)
        assert (outcome.code, len(outcome.err.splitlines())) == (3, 1)
        assert f"'{tmp_path}' is a table in the Delta format" in outcome.err


def test_a_folder_that_has_metadata_of_another_kind_is_read(uqcli, data, tmp_path):
    folder = tmp_path / "data"
    (tmp_path / "metadata").mkdir()
    (tmp_path / "metadata" / "readme.json").write_text("{}")
    folder.mkdir()
    data.rename(folder / "a.parquet")
    assert uqcli("tce", folder).code == 0


def sha256(path):
    return hashlib.sha256(path.read_bytes()).hexdigest()


@pytest.mark.thorough
@pytest.mark.parametrize("case", [case for case in READ_DATA if case.json], ids=name_of)
def test_pages_name_the_files_that_were_read(uqcli, case, data, artifact, tmp_path, frame):
    folder = tmp_path / "folder"
    folder.mkdir()
    for number, name in enumerate("cab"):
        frame[number * 100 : 400 if number == 2 else number * 100 + 100].write_csv(folder / f"{name}.csv")
    arguments = case.arguments(folder, artifact)
    rows = {"a": 100, "b": 200, "c": 100}
    expected = "".join(
        f"| input | {folder}/{name}.csv: {n} rows, SHA-256 {sha256(folder / f'{name}.csv')} |\n"
        for name, n in rows.items()
    )
    assert uqcli(*arguments, "-q", "--report", "r.md", "--report", "r.html").code == 0
    assert expected in (tmp_path / "r.md").read_text().replace("\\_", "_")
    assert str(folder / "c.csv") in (tmp_path / "r.html").read_text()
    assert str(folder) not in uqcli(*arguments, "--json").out.decode()
    assert uqcli(*case.arguments(data, artifact), "-q", "--report", "r.md").code == 0
    expected = f"| input | {data}: 400 rows, SHA-256 {sha256(data)} |"
    assert expected in (tmp_path / "r.md").read_text().replace("\\_", "_")


def test_json_reports_of_rows_do_not_name_their_files(uqcli, artifact, data):
    assert uqcli("apply", artifact, data, "-q", "-o", "o.csv", "--report", "r.json").code == 0
    with open("r.json", encoding="utf-8") as report:  # noqa: PTH123
        assert str(data) not in json.dumps(json.load(report))
    assert pl.read_csv("o.csv").height == 400


def test_a_broken_link_in_a_folder_is_an_error(uqcli, data, tmp_path):
    folder = tmp_path / "folder"
    folder.mkdir()
    data.rename(folder / "a.parquet")
    (folder / "b.parquet").symlink_to(tmp_path / "gone.parquet")
    outcome = uqcli("tce", folder)
    assert outcome.code == 3
    assert "b.parquet" in outcome.err


@pytest.mark.covering("thorough", every=3)
@pytest.mark.parametrize(
    "line",
    [
        "apply b.json - -o t.csv < t.csv",
        "apply b.json - -o /dev/stdin <> t.csv",
        "apply b.json - -o /dev/fd/0 <> t.csv",
        "apply b.json - >> t.csv < t.csv",
        "apply b.json - 1<> t.csv < t.csv",
        "apply - fit.csv -o b.json < b.json",
        "tce - --report r.md < r.md",
        "tce t.csv >> t.csv",
        "tce - -q < t.csv >> t.csv",
    ],
)
def test_redirected_standard_input_is_an_input(single, tmp_path, line):
    """A redirection of the shell also names a file."""
    rows = (tmp_path / "fit.csv").read_bytes()
    contents = {"t.csv": rows, "r.md": rows, "b.json": single.read_bytes()}
    for name, content in contents.items():
        (tmp_path / name).write_bytes(content)
    command = f"{sys.executable} -m uqcli {line}"
    process = subprocess.run(command, shell=True, cwd=tmp_path, capture_output=True, text=True, check=False)
    assert process.returncode == 2, process.stderr
    assert re.fullmatch(
        r"error: [^\n]*(overwrite the input|is also an input|is standard input)[^\n]*\n", process.stderr
    )
    for name, content in contents.items():
        assert (tmp_path / name).read_bytes() == content


@pytest.mark.faults
def test_other_redirections_are_allowed(single, tmp_path):
    for line in (
        "apply b.json - -o o.csv < fit.csv > log",
        "apply b.json - < fit.csv > o2.csv",
        "tce fit.csv >> log",
    ):
        command = f"{sys.executable} -m uqcli {line}"
        assert subprocess.run(command, shell=True, cwd=tmp_path, check=False).returncode == 0
    assert (tmp_path / "o.csv").read_bytes() == (tmp_path / "o2.csv").read_bytes()
