"""Tests that Python and the command line are one program: checks, cautions, doubts, bytes and hashes."""

import inspect
import json
import os
import subprocess
import sys

import numpy as np
import polars as pl
import pytest

import uqcli
from uqcli.base.running import messages
from uqcli.base.running.rounding import caution_rounding
from uqcli.boundary.options import GroupOptions
from uqcli.cli.app import run
from uqcli.conformal.options import ConformalRequest
from uqcli.jobs.declared import declaration_of
from uqcli.sample.options import SampleRequest
from uqcli.shift.options import ShiftRequest
from uqcli.tce.options import TceRequest
from uqcli.watch.options import AlarmOptions, DayOptions


@pytest.fixture(scope="module")
def made(rows, classes):
    """Return rules, and functions that take whole numbers as keywords, with what they need."""
    boundary = uqcli.find_boundary(rows["score"], rows["label"], precision="0.5")
    p = np.stack([classes[f"p_{name}"] for name in "abcd"], axis=1)
    sets = uqcli.conformal_sets(p, classes["label"], classes=list("abcd"))
    calibrator = uqcli.Calibrator.fit(rows["score"], rows["label"], method="platt")
    labelled = rows["score"], rows["label"]
    functions = {
        "find_boundary": lambda **more: uqcli.find_boundary(*labelled, precision="0.5", **more),
        "Boundary.sample": lambda **more: boundary.sample(
            rows["score"], **{"goal": "precision", "budget": 3, **more}
        ),
        "Boundary.evaluate": lambda **more: boundary.evaluate(*labelled, **more),
        "Boundary.watch": lambda **more: boundary.watch(
            *labelled, day=np.arange(len(rows["score"])) % 20, **more
        ),
        "Calibrator.evaluate": lambda **more: calibrator.evaluate(*labelled, **more),
        "ConformalSets.watch": lambda **more: sets.watch(p, classes["label"], **more),
        "ConformalSets.evaluate": lambda **more: sets.evaluate(p, classes["label"], **more),
        "conformal_sets": lambda **more: uqcli.conformal_sets(
            p, classes["label"], classes=list("abcd"), **more
        ),
        "calibration_error": lambda **more: uqcli.calibration_error(*labelled, **more),
        "shift_weights": lambda **more: uqcli.shift_weights(
            p, classes["label"], p, classes=list("abcd"), **more
        ),
        "sample_for_certificate": lambda **more: uqcli.sample_for_certificate(
            rows["score"], **{"precision": "0.5", "budget": 30, **more}
        ),
    }
    return {"boundary": boundary, "sets": sets, "calibrator": calibrator}, functions


REQUESTS = (GroupOptions, ConformalRequest, SampleRequest, ShiftRequest, TceRequest, AlarmOptions, DayOptions)


COMMAND_OF = {
    "find_boundary": "boundary",
    "conformal_sets": "conformal",
    "calibration_error": "tce",
    "shift_weights": "shift",
}
"""Commands whose options the functions pass on."""


def whole_numbers():
    """Return the names of options that are whole numbers of a range."""
    fields = [field for request in REQUESTS for field in request.__dataclass_fields__.values()]
    nested = uqcli.base.options.OptionalResampling.__dataclass_fields__.values()
    return {field.name for field in (*fields, *nested) if field.metadata.get("check")}


def test_python_refuses_the_numbers_that_the_command_line_refuses(made):
    _, functions = made
    checked = set()
    for name, function in functions.items():
        function_of_python = uqcli
        for part in name.split("."):
            function_of_python = getattr(function_of_python, part)
        keywords = {*inspect.signature(function_of_python).parameters}
        if name in COMMAND_OF:
            keywords |= {*declaration_of(COMMAND_OF[name]).options}
        for keyword in whole_numbers() & keywords:
            checked.add(keyword)
            for wrong in (-1, 1.5, True, "3", np.float64(2)):
                with pytest.raises(uqcli.UsageError, match=f"^{keyword} .*whole number"):
                    function(**{keyword: wrong})
    assert checked == whole_numbers(), "each is a keyword of some function"


@pytest.mark.parametrize(("keyword", "wrong"), [("budget", 0), ("run_length", 0), ("min_group", 0)])
def test_python_refuses_zero_where_the_command_line_does(made, keyword, wrong):
    _, functions = made
    name = {"budget": "Boundary.sample", "run_length": "Boundary.watch", "min_group": "find_boundary"}
    with pytest.raises(uqcli.UsageError, match="whole number"):
        functions[name[keyword]](**{keyword: wrong})


def test_fitted_objects_and_results_can_be_hashed(made, rows):
    rules, functions = made
    first, second = (
        uqcli.find_boundary(rows["score"], rows["label"], precision="0.5", algorithm="st") for _ in range(2)
    )
    assert hash(first) == hash(second)
    assert len({first, second, rules["sets"], rules["calibrator"]}) == 3
    for name in ("Boundary.evaluate", "Boundary.watch", "calibration_error", "shift_weights"):
        assert hash(functions[name]()) == hash(functions[name]())


def write(rows, path):
    pl.DataFrame({name: rows[name] for name in ("score", "label")}).write_csv(path)


DOUBTFUL = ([0.1, 0.2, 0.3, 0.9] * 4, [0, 0, 1, 1] * 4)


def test_payloads_are_the_json_of_the_command_with_cautions_and_doubts(tmp_path, monkeypatch, capsys):
    monkeypatch.chdir(tmp_path)
    score, label = DOUBTFUL
    uncertainty = [0.5] * len(score)
    pl.DataFrame({"score": score, "label": label, "uncertainty": uncertainty}).write_csv("rows.csv")
    boundary = uqcli.find_boundary(score, label, precision="0.5", uncertainty=uncertainty)
    assert boundary.doubts, "16 rows in 4 kinds are doubtful"
    results = {
        ("boundary", "rows.csv", "--precision", "0.5", "-o", "boundary.json"): boundary,
        ("evaluate", "boundary.json", "rows.csv"): boundary.evaluate(score, label, uncertainty=uncertainty),
        ("watch", "boundary.json", "rows.csv"): boundary.watch(score, label, uncertainty=uncertainty),
        ("tce", "rows.csv"): uqcli.calibration_error(score, label),
    }
    for line, result in results.items():
        capsys.readouterr()
        assert run([*line, "--json"]) in {0, 6}
        printed = capsys.readouterr().out.replace("boundary.json", "boundary")
        assert json.loads(printed) == json.loads(json.dumps(result.payload()))
    assert "doubts" in results["evaluate", "boundary.json", "rows.csv"].payload()


def test_loaded_rules_show_their_doubts(tmp_path):
    boundary = uqcli.find_boundary(*DOUBTFUL, precision="0.5")
    boundary.save(tmp_path / "rule.json")
    loaded = uqcli.load(tmp_path / "rule.json")
    assert loaded.doubts == boundary.doubts
    assert "made with a doubt" in repr(loaded)
    assert all(sentence in loaded.describe() for sentence in loaded.doubts)
    assert all(sentence in loaded.evaluate(*DOUBTFUL).notes for sentence in loaded.doubts)
    with pytest.raises(uqcli.UsageError, match="loaded"):
        loaded.payload()


def test_what_a_function_says_is_not_said_of_the_next(rows):
    uqcli.find_boundary(*DOUBTFUL, precision="0.5")
    fitted = uqcli.find_boundary(rows["score"], rows["label"], precision="0.5")
    assert not fitted.doubts
    assert messages.cautions() == []


SCRIPT = """
{first}
{second}
from uqcli.base.running import messages, rounding
rounding.caution_rounding()
found = numpy.show_config(mode="dicts")["SIMD Extensions"].get("found", [])
print(any("numpy was loaded before" in text for text in messages.cautions()))
print(any("AVX512" in name or name == "X86_V4" for name in found))
"""


@pytest.mark.parametrize("first", ["numpy", "uqcli"])
def test_numpy_rounds_alike_if_it_is_loaded_after_uqcli_and_a_caution_says_if_not(first):
    second = {"numpy": "uqcli", "uqcli": "numpy"}[first]
    script = SCRIPT.format(first=f"import {first}", second=f"import {second}")
    environment = {name: value for name, value in os.environ.items() if name != "NPY_DISABLE_CPU_FEATURES"}
    line = [sys.executable, "-c", script]
    answer = subprocess.run(line, capture_output=True, text=True, env=environment, check=True)
    said, otherwise = answer.stdout.split()
    assert said == otherwise
    assert first == "numpy" or otherwise == "False"


def test_a_cpu_that_rounds_otherwise_is_a_caution(monkeypatch):
    import numpy._core._multiarray_umath as loaded

    monkeypatch.setattr(loaded, "__cpu_dispatch__", ["AVX2", "AVX512_SKX"])
    monkeypatch.setattr(loaded, "__cpu_features__", {"AVX512_SKX": True})
    assert "numpy was loaded before" in uqcli.calibration_error([0.1, 0.9], [0, 1]).notes[-1]
    messages.clear()
    of_the_cpu_alone = {"AVX512F": True, "AVX512_SKX": False}  # numpy has no code of its own for AVX512F here
    for features, said in ((of_the_cpu_alone, 0), ({"AVX512_SKX": True, "AVX2": True}, 1)):
        monkeypatch.setattr(loaded, "__cpu_features__", features)
        caution_rounding()
        assert len(messages.cautions()) == said
    messages.clear()
