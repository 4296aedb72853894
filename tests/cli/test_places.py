"""What is read and what is written: no place is both, streams are read once, names may be any."""

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
REPORTS = [case for case in CASES if case.name != "schema"]


def name_of(case):
    return getattr(case, "name", None)


def refused(outcome, *untouched):
    """Exit 2 with one line, and files as they were."""
    assert outcome.code == 2, outcome.err
    assert len(outcome.err.splitlines()) == 1
    assert outcome.out == b""
    for path, content in untouched:
        assert path.read_bytes() == content


@pytest.mark.parametrize("way", ["name", "directory", "glob", "symlink", "hard link", "link to the output"])
@pytest.mark.parametrize("case", [case for case in WRITE if case.reads_data], ids=name_of)
def test_an_input_is_not_an_output_whatever_its_name(uqcli, case, way, data, artifact, tmp_path):
    folder = tmp_path / "folder"
    folder.mkdir()
    file = data.rename(folder / "a.parquet")
    content = file.read_bytes()
    given, output = file, folder / "." / "a.parquet"
    if way == "directory":
        given = folder
    elif way == "glob":
        given = folder / "*.par*"
    elif way == "symlink":
        given = tmp_path / "link.parquet"
        given.symlink_to(file)
    elif way == "hard link":
        given = tmp_path / "link.parquet"
        os.link(file, given)
    elif way == "link to the output":
        output = tmp_path / "out.parquet"
        output.symlink_to(file)
    refused(uqcli(*case.arguments(given, artifact), "-o", output), (file, content))


@pytest.mark.parametrize("case", [case for case in REPORTS if case.reads_data], ids=name_of)
def test_an_input_is_not_a_report(uqcli, case, data, artifact, tmp_path):
    file = data.rename(tmp_path / "rows.json")
    content = file.read_bytes()
    arguments = [*case.arguments(file, artifact), "--format", "parquet"]
    if case.name == "evaluate":  # a name that ends in .json would be a model
        os.link(file, tmp_path / "rows.parquet")
        arguments = ["evaluate", artifact, tmp_path / "rows.parquet"]
    refused(uqcli(*arguments, "-q", "--report", file), (file, content))


@pytest.mark.parametrize("case", REPORTS, ids=name_of)
def test_a_configuration_is_not_an_output(uqcli, case, data, artifact, tmp_path):
    given, found = tmp_path / "mine.json", tmp_path / "uqcli.toml"
    found.write_text("")
    given.write_text("[tool.uqcli.bin]\n")
    arguments = case.arguments(data, artifact)
    report = tmp_path / "r.json"
    os.link(found, report)
    refused(uqcli(*arguments, "--config", given, "--report", given), (given, given.read_bytes()))
    refused(uqcli(*arguments, "--report", report), (found, b""))


@pytest.fixture
def models(uqcli, data, artifact, tmp_path):
    """One artifact of each kind that options name."""
    places = {"boundary": artifact, "shift": tmp_path / "s.json", "grid": tmp_path / "g.json"}
    known = ["--estimator", "known", "--prior", "0.5,0.5", "--bootstrap", "0"]
    assert uqcli("shift", data, *known, "-q", "-o", places["shift"]).code == 0
    assert uqcli("bin", data, "--score-bins", "9", "-q", "-o", places["grid"]).code == 0
    return places


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


@pytest.mark.parametrize("option", OPTIONS)
def test_what_options_read_is_not_an_output(uqcli, option, models, data, tmp_path):
    line, read, write = OPTIONS[option]
    test = tmp_path / "test.parquet"
    test.write_bytes(data.read_bytes())
    places = {**models, "data": data, "test": test}
    place = places[read]
    content = place.read_bytes()
    refused(uqcli(*line.format(**places).split(), write, place), (place, content))


def test_appending_to_what_is_read(artifact, data_csv):
    content = data_csv.read_bytes()
    with data_csv.open("ab") as appended:
        done = subprocess.run(
            [*PROGRAM, "apply", artifact, data_csv], stdout=appended, stderr=subprocess.PIPE, check=False
        )
    assert (done.returncode, len(done.stderr.splitlines())) == (2, 1)
    assert data_csv.read_bytes() == content


@pytest.mark.parametrize("name", ["/dev/stdin", "/dev/fd/0", "/proc/self/fd/0"])
@pytest.mark.parametrize("case", READ_DATA, ids=name_of)
def test_standard_input_by_its_names(uqcli, case, name, data_csv, artifact):
    options = ["--json"] if case.json else ["-q"]
    expected = uqcli(*case.arguments("-", artifact), *options, stdin=data_csv.read_bytes())
    found = uqcli(*case.arguments(name, artifact), *options, stdin=data_csv.read_bytes())
    assert (found.code, found.out, found.err) == (0, expected.out, "")


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
def test_two_that_ask_for_standard_input(uqcli, command, names):
    first, second = TWICE[command].split("{s}", 1)
    arguments = f"{first}{names[0]}{second.replace('{s}', names[1])}".split()
    outcome = uqcli(*arguments, stdin=b"score,label\n0.5,1\n")
    refused(outcome)
    assert "standard input is named twice" in outcome.err


def test_several_models_read_one_stream(uqcli, data, data_csv, tmp_path):
    for number, method in enumerate(("platt", "isotonic")):
        arguments = ["--method", method, "--bootstrap", 0, "-q", "-o", f"c{number}.json"]
        assert uqcli("calibrate", data, *arguments).code == 0
        assert uqcli("conformal", data, "--seed", number, "-q", "-o", f"s{number}.json").code == 0
        arguments = ["--precision", "0.7", "--score-bins", 20 + number, "-q", "-o", f"b{number}.json"]
        assert uqcli("boundary", data, *arguments).code == 0
    for kind in "csb":
        models = [f"{kind}0.json", f"{kind}1.json"]
        expected = uqcli("evaluate", *models, data, "--json")
        assert expected.code == 0
        for content in (data_csv.read_bytes(), data.read_bytes()):
            found = uqcli("evaluate", *models, "-", "--json", stdin=content)
            assert (found.code, found.out, found.err) == (0, expected.out, "")
    assert not list(tmp_path.glob(".*"))


def test_rows_on_a_pipe_beside_a_target(uqcli, data, data_csv, tmp_path):
    (tmp_path / "t.parquet").write_bytes(data.read_bytes())
    arguments = ["--mode", "label-shift", "--target", "t.parquet", "--json"]
    expected = uqcli("conformal", data, *arguments)
    found = uqcli("conformal", "-", *arguments, stdin=data_csv.read_bytes())
    assert expected.code == 0
    assert (found.code, found.out) == (0, expected.out)


def test_several_models_read_one_fifo(uqcli, data, data_csv, tmp_path):
    import threading

    for number in (0, 1):
        arguments = ["--method", "platt", "--seed", number, "--bootstrap", 0, "-q", "-o", f"c{number}.json"]
        assert uqcli("calibrate", data, *arguments).code == 0
    fifo = tmp_path / "fifo"
    os.mkfifo(fifo)
    writer = threading.Thread(target=lambda: fifo.write_bytes(data_csv.read_bytes()))
    writer.start()
    found = uqcli("evaluate", "c0.json", "c1.json", fifo, "--json")
    writer.join()
    assert found.out == uqcli("evaluate", "c0.json", "c1.json", data, "--json").out


@pytest.mark.parametrize("case", READ_DATA, ids=name_of)
def test_parquet_on_standard_input_is_recognised(uqcli, case, data, artifact):
    options = ["--json"] if case.json else ["-q"]
    expected = uqcli(*case.arguments(data, artifact), *options)
    found = uqcli(*case.arguments("-", artifact), *options, stdin=data.read_bytes())
    assert (found.code, found.out, found.err) == (0, expected.out, "")


def test_streams_shorter_than_a_signature(uqcli, artifact):
    assert uqcli("apply", artifact, "-", stdin=b"").code == 3
    assert uqcli("bin", "-", stdin=b"a\n").code == 3
    assert uqcli("bin", "-", stdin=b"PAR1").code == 3


@pytest.mark.parametrize("case", [case for case in WRITE if not case.json], ids=name_of)
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
def test_compressed_columnar_names(uqcli, case, output, data, artifact, tmp_path):
    outcome = uqcli(*case.arguments(data, artifact), "-o", *output)
    refused(outcome)
    assert "compressed" in outcome.err
    assert not (tmp_path / output[0]).exists()


NAMES = {"latin": "n" * 250, "cyrillic": "ж" * 125, "han": "漢" * 83 + "a", "emoji": "🎲" * 62 + "ab"}


@pytest.mark.parametrize("script", NAMES)
@pytest.mark.parametrize("case", WRITE, ids=name_of)
def test_names_of_250_bytes(uqcli, case, script, data, artifact, tmp_path):
    output = tmp_path / NAMES[script]
    assert len(os.fsencode(output.name)) == 250
    assert uqcli(*case.arguments(data, artifact), "-q", "-o", output).code == 0
    assert output.stat().st_size > 0


@pytest.mark.parametrize("case", READ_DATA, ids=name_of)
def test_a_directory_in_two_formats(uqcli, case, data, data_csv, artifact, tmp_path):
    folder = tmp_path / "folder"
    folder.mkdir()
    data.rename(folder / "d.parquet")
    data_csv.rename(folder / "d.csv")
    outcome = uqcli(*case.arguments(folder, artifact))
    assert outcome.code == 3
    assert "contains csv and parquet files" in outcome.err
    assert uqcli(*case.arguments(folder / "*.csv", artifact)).code == 0


def sha256(path):
    return hashlib.sha256(path.read_bytes()).hexdigest()


@pytest.mark.usefixtures("undrawn")
@pytest.mark.parametrize("case", [case for case in READ_DATA if case.json], ids=name_of)
def test_pages_name_the_files_that_were_read(uqcli, case, data, artifact, tmp_path, frame):
    folder = tmp_path / "folder"
    folder.mkdir()
    for number, name in enumerate("cab"):
        frame[number * 100 : 400 if number == 2 else number * 100 + 100].write_csv(folder / f"{name}.csv")
    arguments = case.arguments(folder, artifact)
    rows = {"a": 100, "b": 200, "c": 100}
    said = "".join(
        f"| input | {folder}/{name}.csv: {n} rows, SHA-256 {sha256(folder / f'{name}.csv')} |\n"
        for name, n in rows.items()
    )
    assert uqcli(*arguments, "-q", "--report", "r.md", "--report", "r.html").code == 0
    assert said in (tmp_path / "r.md").read_text().replace("\\_", "_")
    assert str(folder / "c.csv") in (tmp_path / "r.html").read_text()
    assert str(folder) not in uqcli(*arguments, "--json").out.decode()
    assert uqcli(*case.arguments(data, artifact), "-q", "--report", "r.md").code == 0
    said = f"| input | {data}: 400 rows, SHA-256 {sha256(data)} |"
    assert said in (tmp_path / "r.md").read_text().replace("\\_", "_")


def test_gates_and_reports_of_rows_name_their_files(uqcli, artifact, data):
    assert uqcli("apply", artifact, data, "-q", "-o", "o.csv", "--report", "r.json").code == 0
    with open("r.json", encoding="utf-8") as report:  # noqa: PTH123
        assert str(data) not in json.dumps(json.load(report))
    assert pl.read_csv("o.csv").height == 400


def test_a_link_that_leads_nowhere_is_not_left_out_of_its_folder(uqcli, data, tmp_path):
    folder = tmp_path / "folder"
    folder.mkdir()
    data.rename(folder / "a.parquet")
    (folder / "b.parquet").symlink_to(tmp_path / "gone.parquet")
    outcome = uqcli("tce", folder)
    assert outcome.code == 3
    assert "b.parquet" in outcome.err


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
def test_standard_input_is_an_input(single, tmp_path, line):
    """Whatever the shell makes of it: a redirection is a name."""
    rows = (tmp_path / "fit.csv").read_bytes()
    kept = {"t.csv": rows, "r.md": rows, "b.json": single.read_bytes()}
    for name, content in kept.items():
        (tmp_path / name).write_bytes(content)
    command = f"{sys.executable} -m uqcli {line}"
    done = subprocess.run(command, shell=True, cwd=tmp_path, capture_output=True, text=True, check=False)
    assert done.returncode == 2, done.stderr
    assert re.fullmatch(
        r"error: [^\n]*(overwrite the input|is also an input|is standard input)[^\n]*\n", done.stderr
    )
    for name, content in kept.items():
        assert (tmp_path / name).read_bytes() == content


def test_other_redirections_are_none_of_these(single, tmp_path):
    for line in (
        "apply b.json - -o o.csv < fit.csv > log",
        "apply b.json - < fit.csv > o2.csv",
        "tce fit.csv >> log",
    ):
        command = f"{sys.executable} -m uqcli {line}"
        assert subprocess.run(command, shell=True, cwd=tmp_path, check=False).returncode == 0
    assert (tmp_path / "o.csv").read_bytes() == (tmp_path / "o2.csv").read_bytes()
