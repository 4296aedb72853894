"""Tests of error messages: they name the cause."""

import gzip
import os
import resource
import subprocess

import pytest

from tests.cli.conftest import NO_BYTECODE, PROGRAM

HEADER = "score,uncertainty,label\n"
ROWS = "0.1,0.2,1\n0.3,0.2,0\n"


@pytest.mark.parametrize(
    ("content", "message"),
    [
        ((HEADER + ROWS).encode("utf-16-le"), "NUL bytes"),
        ((HEADER + ROWS).encode("utf-16"), "iconv -f utf-16"),
        ((HEADER + ROWS).encode() + b'\0\0"\0\0', "NUL bytes"),
        (b"\0" * 5000, "NUL bytes"),
        ((HEADER + ROWS).encode("latin1") + "é,1,1".encode("latin1"), "iconv -f latin1"),
        ((HEADER + ROWS + "x" * 5000 + ",1,1\n").encode(), "unreadable value, 'xxxx"),
    ],
)
def test_errors_say_why_an_input_is_no_csv(uqcli, tmp_path, content, message):
    (tmp_path / "d.csv").write_bytes(content)
    outcome = uqcli("tce", "d.csv")
    assert outcome.code == 3
    assert message in outcome.err
    assert "quote" not in outcome.err
    assert len(outcome.err) < 300


@pytest.mark.parametrize("value", ['["a", "b"]', '["score"]', "{ a = 1 }"])
def test_a_list_instead_of_one_value_is_an_error(uqcli, data, tmp_path, value):
    for text in (
        f"[tce]\nscore = {value}\n",
        f"score = {value}\n" if "{" not in value else f"[tce]\nlabel = {value}",
    ):
        (tmp_path / "uqcli.toml").write_text(text)
        outcome = uqcli("tce", data)
        assert outcome.code == 2
        assert "expected one value" in outcome.err


@pytest.mark.parametrize("name", ["rows.json", "rows.JSON.gz", "rows.xlsx", "rows.zip", "rows.html"])
def test_rows_are_not_written_to_endings_of_other_formats(uqcli, data, artifact, tmp_path, name):
    for line in (("apply", artifact, data), ("boundary", data, "--precision", "0.5", "--frontier")):
        option = () if "--frontier" in line else ("-o",)
        outcome = uqcli(*line, *option, name)
        assert outcome.code == 2, line
        assert not (tmp_path / name).exists()
    assert uqcli("apply", artifact, data, "-q", "-o", name, "--output-format", "csv").code == 0
    content = (tmp_path / name).read_bytes()
    assert b",decision" in (gzip.decompress(content) if name.endswith(".gz") else content)


@pytest.mark.covering("faults", every=2)
@pytest.mark.parametrize("format_", ["csv", "parquet"])
def test_a_failed_copy_of_the_stream_names_its_cause(data, data_csv, tmp_path, format_):
    content = (data if format_ == "parquet" else data_csv).read_bytes()
    for file_size, folder in ((1000, tmp_path), (None, "/proc/none")):
        program = (
            "import tempfile, sys; tempfile.tempdir = sys.argv.pop(1)\n"
            "from uqcli.__main__ import main; main()"
        )
        process = subprocess.run(
            [
                PROGRAM[0],
                "-c",
                program,
                str(folder),
                "calibrate",
                "-",
                "--method",
                "all",
                "--format",
                format_,
            ],
            input=content,
            capture_output=True,
            check=False,
            preexec_fn=lambda file_size=file_size: (
                file_size and resource.setrlimit(resource.RLIMIT_FSIZE, (file_size, file_size))
            ),
            env={**os.environ, **NO_BYTECODE},
        )
        assert process.returncode == 3
        assert b"cannot copy the input to" in process.stderr
        assert b"TMPDIR" in process.stderr
        assert len(process.stderr.splitlines()) == 1
