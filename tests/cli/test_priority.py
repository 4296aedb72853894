"""Tests of the priority of options from three sources, and of options without effect."""

import polars as pl
import pytest

from tests.cli.cases import CASES
from tests.cli.conftest import fit, sample_frame
from uqcli.cli.app import program
from uqcli.cli.command_line import EXCLUSIONS

BOUNDARY = ("boundary", "data.parquet", "--json")


def constraint_of(outcome):
    assert outcome.code == 0, outcome.err
    parsed = outcome.json["parameters"]["constraint"]
    return parsed["kind"], parsed["value"]


@pytest.fixture
def configure(tmp_path):
    def write(text):
        (tmp_path / "uqcli.toml").write_text(text)

    return write


@pytest.mark.thorough
@pytest.mark.usefixtures("data")
def test_an_option_overrides_configured_options_that_it_excludes(uqcli, configure, monkeypatch):
    configure("[boundary]\nprecision = 0.6\nscore-bins = 20\n")
    assert constraint_of(uqcli(*BOUNDARY)) == ("precision", "0.6")
    assert constraint_of(uqcli(*BOUNDARY, "--recall", "0.5")) == ("recall", "0.5")
    monkeypatch.setenv("UQCLI_BOUNDARY_MAX_FPR", "0.1")
    assert constraint_of(uqcli(*BOUNDARY)) == ("max-fpr", "0.1")
    assert constraint_of(uqcli(*BOUNDARY, "--recall", "0.5")) == ("recall", "0.5")
    configure("[boundary]\ncost = 1\n")
    monkeypatch.delenv("UQCLI_BOUNDARY_MAX_FPR")
    assert constraint_of(uqcli(*BOUNDARY, "--gain", "2"))[0] == "utility"
    assert uqcli(*BOUNDARY, "--gain", "2", "--recall", "0.5").code == 2
    assert constraint_of(uqcli(*BOUNDARY, "--recall", "0.01", "--precision", "0.5")) == ("precision", "0.5")


@pytest.mark.usefixtures("data")
def test_rows_override_a_configured_grid_and_a_grid_overrides_configured_bins(uqcli, configure):
    assert uqcli("bin", "data.parquet", "--score-bins", "20", "-o", "grid.json", "-q").code == 0
    configure('[boundary]\ngrid = "grid.json"\nuncertainty-bins = 2\nscore = "score"\non-invalid = "drop"\n')
    named = ("--config", "uqcli.toml")
    from_rows = uqcli(*BOUNDARY, *named, "--precision", "0.6", "--score-bins", "10")
    assert from_rows.code == 0, from_rows.err
    assert from_rows.json["parameters"]["score_bins"] == 10
    configure('[boundary]\nuncertainty-bins = 2\nscore = "score"\nlabel = "label"\ndelimiter = ";"\n')
    from_grid = uqcli("boundary", "--grid", "grid.json", "--precision", "0.6", "--json")
    assert from_grid.code == 0, from_grid.err
    configure("[bin]\nbinning = 'quantile'\nscore-bins = 4\nlabel = 'label'\n")
    assert uqcli("bin", "--merge", "grid.json", "grid.json", "-q").code == 0
    assert uqcli("bin", "--edges", "grid.json", "data.parquet", "-q").code == 0


@pytest.mark.usefixtures("data")
def test_unused_configuration_breaks_no_command(uqcli, configure):
    configure(
        "[calibrate]\nn-bins = 5\nuncertainty-bins = 2\nfeatures = 'id'\nmax-depth = 2\nmin-leaf = 20\n"
        "[conformal]\nby = 'id'\nalpha-by-class = '1=0.2'\nno-randomize = true\n"
        "[apply]\nuncertainty = 'uncertainty'\nno-empty = true\nproba = 'p_*'\n"
        "[evaluate]\nbootstrap = 3\nclasses = 'a,b'\n"
    )
    assert uqcli("calibrate", "data.parquet", "--method", "platt", "--bootstrap", "0", "-q").code == 0
    assert uqcli("calibrate", "data.parquet", "--method", "histogram", "--bootstrap", "0", "-q").code == 0
    for mode in ("marginal", "label-conditional"):
        assert uqcli("conformal", "data.parquet", "--mode", mode, "--method", "lac", "-q").code == 0
    arguments = ("--precision", "0.5", "--algorithm", "st", "-o", "st.json", "-q")
    assert uqcli("boundary", "data.parquet", *arguments).code == 0
    applied = uqcli("apply", "st.json", "data.parquet")
    assert applied.code == 0, applied.err
    assert uqcli("evaluate", "st.json", "data.parquet", "-q").code == 0


def fit_rules():
    """Fit a single threshold, a calibrator, prediction sets of a score and of two classes, and a grid."""
    frame = sample_frame()
    frame.write_parquet("data.parquet")
    frame.with_columns(p_0=1 - pl.col("score"), p_1=pl.col("score")).write_parquet("proba.parquet")
    fit("boundary data.parquet --precision 0.5 --algorithm st -o st.json")
    fit("calibrate data.parquet --bootstrap 0 -o platt.json")
    fit("conformal data.parquet -o sets.json")
    fit("conformal proba.parquet --proba p_* -o classes.json")
    fit("bin data.parquet --score-bins 5 -o grid.json")


@pytest.fixture
def rule_files(prepared):
    prepared(fit_rules)


WITHOUT_EFFECT = [
    ("apply", "st.json", "data.parquet", "--uncertainty", "uncertainty"),
    ("apply", "platt.json", "data.parquet", "--uncertainty", "uncertainty"),
    ("apply", "sets.json", "data.parquet", "--uncertainty", "uncertainty"),
    ("apply", "st.json", "data.parquet", "--proba", "p_*"),
    ("apply", "sets.json", "data.parquet", "--proba", "p_*"),
    ("apply", "st.json", "data.parquet", "--no-empty"),
    ("apply", "classes.json", "proba.parquet", "--score", "score"),
    ("apply", "classes.json", "proba.parquet", "--classes", "0,1"),
    ("apply", "classes.json", "proba.parquet", "--proba", "p_0"),
    ("apply", "classes.json", "proba.parquet", "--proba", "p_0,p_0"),
    ("apply", "classes.json", "proba.parquet", "--proba", "p_0,p_1", "--classes", "0,2"),
    ("evaluate", "st.json", "data.parquet", "--uncertainty", "uncertainty"),
    ("evaluate", "st.json", "data.parquet", "--proba", "p_*"),
    ("evaluate", "st.json", "data.parquet", "--bootstrap", "5"),
    ("evaluate", "st.json", "data.parquet", "--weight", "label", "--no-weight"),
    ("evaluate", "classes.json", "proba.parquet", "--seed", "5"),
    ("boundary", "--grid", "grid.json", "--precision", "0.5", "--score", "score"),
    ("boundary", "--grid", "grid.json", "--precision", "0.5", "--on-invalid", "drop"),
    ("boundary", "--grid", "grid.json", "--precision", "0.5", "--weight", "label"),
    ("bin", "--merge", "grid.json", "grid.json", "--label", "label"),
    ("bin", "--merge", "grid.json", "grid.json", "--delimiter", ";"),
    ("calibrate", "data.parquet", "--method", "platt", "--uncertainty", "uncertainty"),
    ("tce", "data.parquet", "--uncertainty", "uncertainty"),
    ("tce", "proba.parquet", "--proba", "p_*", "--score", "score"),
    ("conformal", "data.parquet", "--classes", "0,1"),
    ("boundary", "data.parquet", "--precision", "0.5", "--weight", "label", "--no-weight"),
]


@pytest.mark.usefixtures("rule_files")
@pytest.mark.parametrize("arguments", WITHOUT_EFFECT, ids=" ".join)
def test_options_without_effect_are_refused(uqcli, arguments):
    outcome = uqcli(*arguments)
    assert outcome.code == 2, outcome.err
    assert len(outcome.err.splitlines()) == 1


@pytest.mark.usefixtures("rule_files")
def test_class_columns_can_be_renamed(uqcli):
    pl.read_parquet("proba.parquet").rename({"p_0": "q_0", "p_1": "q_1"}).write_parquet("renamed.parquet")
    plain = uqcli("apply", "classes.json", "proba.parquet", "-o", "plain.parquet", "-q")
    assert plain.code == 0, plain.err
    sets = pl.read_parquet("plain.parquet")["set"].to_list()
    assert uqcli("apply", "classes.json", "renamed.parquet", "-o", "out.parquet").code == 3
    for options in (("q_*",), ("q_0,q_1",), ("q_1, q_0", "--classes", "1,0")):
        outcome = uqcli(
            "apply", "classes.json", "renamed.parquet", "-o", "out.parquet", "-q", "--proba", *options
        )
        assert outcome.code == 0, outcome.err
        assert pl.read_parquet("out.parquet")["set"].to_list() == sets
        evaluation = uqcli("evaluate", "classes.json", "renamed.parquet", "--json", "--proba", *options)
        assert (
            evaluation.json["metrics"]
            == uqcli("evaluate", "classes.json", "proba.parquet", "--json").json["metrics"]
        )


@pytest.mark.parametrize("command", ["boundary", "tce", "conformal"])
def test_a_configured_weight_can_be_unset(uqcli, configure, data, command):
    pl.read_parquet(data).with_columns(w=pl.lit(2)).write_parquet("weighted.parquet")
    configure('weight = "w"\n[boundary]\nprecision = 0.5\n')
    weighted = uqcli(command, "weighted.parquet", "--json")
    plain = uqcli(command, "weighted.parquet", "--json", "--no-weight")
    assert weighted.json["source"]["columns"]["weight"] == "w"
    assert "weight" not in plain.json["source"]["columns"]


def test_the_weight_of_a_rule_file_can_be_unset(uqcli, data):
    pl.read_parquet(data).with_columns(w=pl.lit(2)).write_parquet("weighted.parquet")
    for command in (("boundary", "--precision", "0.5"), ("conformal",), ("calibrate", "--bootstrap", "0")):
        arguments = (command[0], "weighted.parquet", *command[1:], "--weight", "w", "-o", "model.json", "-q")
        assert uqcli(*arguments).code == 0
        assert uqcli("evaluate", "model.json", data).code == 3
        outcome = uqcli("evaluate", "model.json", data, "--no-weight", "-q")
        assert outcome.code == 0, outcome.err


@pytest.mark.thorough
def test_columns_can_be_configured_once_for_all_commands(uqcli, data, tmp_path, configure):
    renamed = pl.read_parquet(data).rename({"score": "s", "label": "y", "uncertainty": "u"})
    renamed.write_parquet("renamed.parquet")
    (tmp_path / "pyproject.toml").write_text(
        '[tool.uqcli]\nscore = "s"\nlabel = "y"\nuncertainty = "u"\n[tool.uqcli.boundary]\nprecision = 0.5\n'
    )
    assert uqcli("boundary", "renamed.parquet", "-o", "b.json", "-q").code == 0
    for command in (("bin",), ("tce",), ("conformal",), ("calibrate", "--bootstrap", "0")):
        outcome = uqcli(command[0], "renamed.parquet", *command[1:], "-q")
        assert outcome.code == 0, outcome.err
    for command in ("apply", "evaluate"):
        assert uqcli(command, "b.json", "renamed.parquet", "-q").code == 0
    assert uqcli("tce", data, "--score", "score", "--label", "label", "-q").code == 0
    configure('score = "s"\nprecision = 0.5\n')
    refused = uqcli("tce", "renamed.parquet")
    assert refused.code == 2
    assert "'precision' outside a table" in refused.err


@pytest.mark.usefixtures("data")
def test_the_environment_can_name_the_configuration_file(uqcli, tmp_path, monkeypatch):
    (tmp_path / "uqcli.toml").write_text("[boundary]\nprecision = 0.5\n")
    (tmp_path / "other.toml").write_text("[boundary]\nprecision = 0.55\n")
    monkeypatch.setenv("UQCLI_BOUNDARY_CONFIG", "other.toml")
    assert constraint_of(uqcli(*BOUNDARY))[1] == "0.55"
    assert constraint_of(uqcli(*BOUNDARY, "--config", "uqcli.toml"))[1] == "0.5"
    assert "targets" in uqcli(*BOUNDARY, "--no-config").json
    monkeypatch.setenv("UQCLI_BOUNDARY_NO_CONFIG", "1")
    assert "cannot be combined" in uqcli(*BOUNDARY).err
    monkeypatch.delenv("UQCLI_BOUNDARY_CONFIG")
    assert "targets" in uqcli(*BOUNDARY).json
    assert constraint_of(uqcli(*BOUNDARY, "--config", "other.toml"))[1] == "0.55"
    monkeypatch.setenv("UQCLI_BOUNDARY_NO_CONFIG", "perhaps")
    assert "true or false" in uqcli(*BOUNDARY).err
    monkeypatch.setenv("UQCLI_BOUNDARY_NO_CONFIG", "0")
    assert constraint_of(uqcli(*BOUNDARY))[1] == "0.5"


def test_debug_can_be_set_by_the_environment_and_a_file(uqcli, monkeypatch, configure):
    assert "Traceback" not in uqcli("show", "nowhere.json").err
    monkeypatch.setenv("UQCLI_SHOW_DEBUG", "1")
    assert "Traceback" in uqcli("show", "nowhere.json").err
    monkeypatch.setenv("UQCLI_SHOW_DEBUG", "0")
    assert "Traceback" not in uqcli("show", "nowhere.json").err
    monkeypatch.delenv("UQCLI_SHOW_DEBUG")
    configure("[show]\ndebug = true\n")
    assert "Traceback" in uqcli("show", "nowhere.json").err


@pytest.mark.parametrize("command", [case.name for case in CASES])
def test_help_reads_no_configuration(uqcli, configure, command):
    configure("[nothing]\n")
    assert uqcli(command, "--help").code == 0


def test_members_accept_a_list(uqcli, tmp_path):
    frame = pl.DataFrame({"a": [0.2, 0.4], "b": [0.3, 0.5], "c": [0.9, 0.1]})
    frame.write_parquet(tmp_path / "m.parquet")
    frame.select("a", "b").write_parquet(tmp_path / "two.parquet")
    listed = uqcli("uncertainty", "m.parquet", "--members", "b, a", "-o", "listed.parquet", "-q")
    assert listed.code == 0, listed.err
    assert uqcli("uncertainty", "two.parquet", "--members", "*", "-o", "two.parquet.out", "-q").code == 0
    assert uqcli("uncertainty", "two.parquet", "--members", "[ab]", "-o", "all.parquet", "-q").code == 0
    scores = pl.read_parquet("listed.parquet")["score"].to_list()
    assert scores == pytest.approx(pl.read_parquet("all.parquet")["score"].to_list())
    missing = uqcli("uncertainty", "m.parquet", "--members", "a,d")
    assert missing.code == 3
    assert "'d'" in missing.err


def test_exclusions_name_existing_options():
    callbacks = {command.name: command.callback for command in program().registered_commands}
    options = {name: set(callback.__signature__.parameters) for name, callback in callbacks.items()}
    options["*"] = set().union(*options.values())
    exclusions = [*EXCLUSIONS.items(), *((name, callback.exclusions) for name, callback in callbacks.items())]
    for command, sets in exclusions:
        for alternatives in sets:
            assert {name for alternative in alternatives for name in alternative} <= options[command]
    constraints, dependence = callbacks["boundary"].exclusions
    assert {("precision",), ("gain", "cost")} < set(constraints)
    assert set(dependence) == {("cluster",), ("day",)}


def test_configured_values_of_every_type_are_read_or_refused(uqcli, data, configure):
    for value in ("[1]", "{a=1}", "1979-05-27", "[[1]]", "true", "''", '"\\u0000"', "1e400", "nan"):
        for option in ("precision", "fail-if", "quiet", "threads", "algorithm", "score"):
            configure(f"[boundary]\nscore-bins = 5\n{option} = {value}\n")
            outcome = uqcli("boundary", data, *([] if option == "precision" else ["--precision", "0.5"]))
            assert outcome.code in (0, 2, 3), (option, value, outcome.err)
            assert len(outcome.err.splitlines()) == (outcome.code != 0), outcome.err
