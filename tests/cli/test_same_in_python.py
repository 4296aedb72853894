"""Tests that every function of ``uqcli.commands`` gives what its command prints and saves."""

import io
import json
import re
import shlex
import sys
from pathlib import Path

import polars as pl
import pyarrow as pa
import pytest

from tests.cli.cases import CASES
from uqcli import commands as uq
from uqcli.base.errors import InfeasibleError, UqcliError, UsageError
from uqcli.calls import OF_COMMAND_LINE, _in_python
from uqcli.cli.app import program
from uqcli.cli.config import COMMANDS
from uqcli.jobs import declared

CASE = pytest.mark.parametrize("case", CASES, ids=lambda case: case.name)
KINDS = {
    "polars": lambda frame: frame,
    "lazy": lambda frame: frame.lazy(),
    "pandas": lambda frame: frame.to_pandas(),
    "pyarrow": lambda frame: frame.to_arrow(),
    "mapping": lambda frame: {name: frame[name].to_numpy() for name in frame.columns},
}


@pytest.fixture(autouse=True)
def _here(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)


def call(words, rows="data.parquet", rule="boundary.json"):
    """Call the function of a command line, with rows and a rule in place of the names of files."""
    command, *rest = words
    declaration = declared.declaration_of(command)
    flags = {declared.flag_of(name): name for name in declaration.options}
    given, options = [], {}
    while rest:
        word = rest.pop(0)
        if word not in flags:
            given.append({"data.parquet": rows, "boundary.json": rule}.get(word, word))
        elif declaration.options[flags[word]].kind is bool:
            options[flags[word]] = True
        else:
            options[flags[word]] = rest.pop(0)
    return getattr(uq, command)(*given, **options)


def line_of(case):
    return case.arguments("data.parquet", "boundary.json")


def printed(outcome):
    assert outcome.code == 0, outcome.err
    return outcome.out.decode()


@CASE
@pytest.mark.usefixtures("data", "artifact")
def test_a_path_gives_the_report_the_json_and_the_file_of_the_command(uqcli, case):
    result = call(line_of(case))
    writes_a_stream = case.writes_rows or case.writes_program
    to = ["-o", "rows.arrow" if case.writes_rows else "program"] if writes_a_stream else []
    assert result.json() == printed(uqcli(*line_of(case), *to, "--json"))
    wrote = re.compile(r"Wrote (rows[.]arrow|program)[.]( |\n$)")
    assert str(result) == wrote.sub("", printed(uqcli(*line_of(case), *to)))
    assert result.metrics == json.loads(result.json()).get("metrics", {})
    assert not result.failed
    if case.writes and case.json:
        assert uqcli(*line_of(case), "-o", "rule.json", "-q").code == 0
        result.rule.save("python.json")
        assert Path("python.json").read_bytes() == Path("rule.json").read_bytes()
    if case.writes_rows:
        assert result.rows.equals(pl.read_ipc("rows.arrow"))
    if case.writes_program:
        assert result.program.encode() == Path("program").read_bytes()


@pytest.mark.covering("thorough")
@CASE
@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.usefixtures("artifact")
def test_rows_in_memory_give_what_a_file_gives(case, kind, frame, data):
    rule, rows = uq.load("boundary.json"), KINDS[kind](frame)
    of_file, of_rows = call(line_of(case)), call(line_of(case), rows, rule)
    assert of_rows.metrics == of_file.metrics
    assert {**json.loads(of_rows.json()), "run": None} == {**json.loads(of_file.json()), "run": None}
    assert str(of_rows).replace(" rows ", " data.parquet ") == str(of_file).replace(
        " rows ", " data.parquet "
    )
    if case.writes and case.json:
        assert of_rows.rule.content == of_file.rule.content
    if case.writes_rows:
        assert of_rows.table.to_dict(as_series=False) == of_file.table.to_dict(as_series=False)
        native = {"pandas": "DataFrame", "pyarrow": "Table", "mapping": "dict"}.get(kind, "DataFrame")
        assert type(of_rows.rows).__name__ == native
    assert data.exists()


@pytest.mark.parametrize("command", COMMANDS)
def test_options_and_their_defaults_are_those_of_the_command(command):
    """Each function is made twice, since a folder of the package may have its name."""
    for _ in range(2):
        function = getattr(uq, command)
        assert function is getattr(uq, command)
        assert function.__name__ == command
    declaration = declared.declaration_of(command)
    assert set(declaration.options) <= {*function.__signature__.parameters, *OF_COMMAND_LINE}
    for option in declaration.options.values():
        if option.name not in OF_COMMAND_LINE:
            assert _in_python(option.help).replace(" (repeatable)", " (or a list)") in function.__doc__
    assert command in dir(uq)
    assert set(declared.COMMANDS) == set(COMMANDS)
    assert program((command,))


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"precison": 0.9}, "unknown option 'precison'; expected one of precision"),
        ({"precision": 0.9, "algorithm": "best"}, "algorithm is 'best'; expected one of "),
        ({"precision": 0.9, "uncertainty_bins": "x"}, "uncertainty_bins is 'x'; expected "),
        ({"precision": 0.9, "json": True}, "json is an option of the command line; result.json()"),
        ({"precision": 0.9, "score": ["a,b", "c"]}, "score has a comma in 'a,b,c'"),
        ({"precision": 0.9, "score": 3 + 2j}, "score is of type complex; expected "),
        ({"precision": 1.5}, "precision is '1.5'; expected a decimal number"),
    ],
    ids=lambda value: str(value)[:40],
)
def test_what_cannot_be_used_is_refused_in_words_of_python(frame, options, message):
    with pytest.raises(UsageError) as refusal:
        uq.boundary(frame, **options)
    assert str(refusal.value).startswith(message)


def test_numbers_lists_and_frames_are_what_would_be_typed(frame, uqcli, data):
    del data
    by_text = uq.boundary("data.parquet", precision="0.6,0.7", score_bins=20)
    by_numbers = uq.boundary(frame, precision=[0.6, 0.7], score_bins="20")
    assert list(by_numbers.rules) == list(by_text.rules) == ["0.6", "0.7"]
    assert {text: rule.content for text, rule in by_numbers.rules.items()} == {
        text: rule.content for text, rule in by_text.rules.items()
    }
    fitted = uq.calibrate(frame, method="platt", bootstrap=0, test=frame.with_columns(score=0.5))
    frame.with_columns(score=0.5).write_parquet("test.parquet")
    line = "calibrate data.parquet --method platt --bootstrap 0 --test test.parquet --json"
    assert fitted.json() == printed(uqcli(*shlex.split(line)))


def test_a_failed_gate_and_an_alarm_are_no_errors(frame, artifact):
    del artifact
    assert uq.tce(frame, fail_if="ece > 0").failed
    assert not uq.tce(frame, fail_if="ece > 1").failed
    wrong = frame.with_columns(label=0)
    watched = uq.watch("boundary.json", wrong)
    assert watched.failed
    assert "alarm" in str(watched).lower()


def test_an_infeasible_search_raises_with_its_report(frame, uqcli, data):
    del data
    with pytest.raises(InfeasibleError) as error:
        uq.boundary(frame, precision=0.9999, certify=0.0001)
    outcome = uqcli("boundary", "data.parquet", "--precision", "0.9999", "--certify", "0.0001", "--json")
    assert outcome.code == 4
    assert json.loads(error.value.report.json())["error"] == outcome.json["error"]


@pytest.mark.thorough
def test_reports_and_figures_are_those_of_the_command(frame, uqcli, data, real_figures):
    del data, real_figures
    result = uq.tce("data.parquet", report="one.html")
    assert uqcli("tce", "data.parquet", "--report", "two.html", "--plot", "two.png", "-q").code == 0
    assert Path("one.html").read_bytes() == Path("two.html").read_bytes()
    result.report("three.html")
    result.plot("three.png")
    assert Path("three.png").read_bytes() == Path("two.png").read_bytes()
    assert Path("three.html").read_bytes() == Path("two.html").read_bytes()
    shown = uq.tce(frame)._repr_html_()
    assert shown.startswith("<div>")
    assert "data:image/svg+xml" in shown
    assert "<style" not in shown


def test_a_rule_decides_and_predicts_as_apply(frame):
    rule = uq.boundary(frame, precision=0.7, score_bins=20).rule
    assert rule.decide(frame).tolist() == rule.apply(frame)["decision"].to_list()
    calibrator = uq.calibrate(frame, bootstrap=0).rule
    assert calibrator.predict(frame).tolist() == calibrator.apply(frame)["calibrated"].to_list()
    with pytest.raises(UsageError, match="a rule of kind calibrator adds calibrated"):
        calibrator.decide(frame)
    sets = uq.conformal(frame).rule
    inside = sets.predict(frame)
    assert inside.shape == (frame.height, 2)
    assert inside.sum(axis=1).tolist() == sets.apply(frame)["set_size"].to_list()
    assert repr(rule).startswith("<Boundary (")


def test_probabilities_of_classes_are_in_the_order_of_the_classes(frame):
    classes = frame.select(
        p_high=pl.col("score") / 2,
        p_low=pl.col("score") / 2,
        p_none=1 - pl.col("score"),
        label=pl.when(pl.col("label") == 1).then(pl.lit("high")).otherwise(pl.lit("none")),
    ).with_columns(label=pl.when(pl.int_range(pl.len()) % 3 == 0).then(pl.lit("low")).otherwise("label"))
    calibrator = uq.calibrate(classes, proba="p_*", method="temperature", bootstrap=0).rule
    calibrated = calibrator.predict(classes)
    added = calibrator.apply(classes).select(f"calibrated_{name}" for name in calibrator.json()["classes"])
    assert calibrated.tolist() == added.to_numpy().tolist()
    assert calibrated.shape == (frame.height, 3)


def test_columns_and_the_index_of_the_caller_stay(frame):
    rule = uq.boundary(frame, precision=0.7, score_bins=20).rule
    indexed = frame.to_pandas().set_index("id", drop=False)
    returned = rule.apply(indexed)
    assert returned.index.equals(indexed.index)
    assert returned.drop(columns="decision").equals(indexed)
    assert isinstance(rule.apply(frame.to_arrow()), pa.Table)


def test_nothing_is_printed_and_no_configuration_is_read(frame, monkeypatch, capfd):
    pl.DataFrame({"x": [1]}).write_csv("rows")
    Path("uqcli.toml").write_text("score = 'uncertainty'\n")
    monkeypatch.setenv("UQCLI_TCE_SCORE", "uncertainty")
    monkeypatch.setattr(sys, "stdin", io.StringIO("nothing"))
    result = uq.tce(frame)
    assert result.json() == uq.tce(frame, score="score").json()
    assert capfd.readouterr() == ("", "")


def test_a_call_leaves_nothing_to_the_next(frame):
    doubted = uq.tce(pl.concat([frame, frame]))
    plain = uq.tce(frame)
    assert uq.tce(frame).json() == plain.json()
    assert doubted.cautions != [] or plain.cautions == []
    with pytest.raises(UqcliError):
        uq.tce(frame, score="missing")
    assert uq.tce(frame).json() == plain.json()


def test_what_looks_like_an_option_in_data_stays_as_it_is(frame):
    with pytest.raises(UqcliError) as error:
        uq.tce(frame, score="--min-group")
    assert "no column '--min-group' in 'rows'" in str(error.value)
    assert str(error.value).endswith("name one of them with score")
    assert error.value.message.endswith("name one of them with --score")
