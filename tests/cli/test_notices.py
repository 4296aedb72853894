"""Notices in JSON: each caution has a kind and a weight; a terminal shows the weightiest."""

import re
from pathlib import Path

import polars as pl
import pytest

import uqcli as package
from tests.cli.cases import CASES
from tests.cli.conftest import fit
from uqcli.base.notices import KINDS, Notice, weightiest_first

SOURCE = Path(package.__file__).parent
JSON_CASES = [case for case in CASES if case.json]


def test_every_kind_is_used_and_known():
    text = "\n".join(path.read_text() for path in SOURCE.rglob("*.py"))
    pattern = r"(?:Notice|caution|suspect|_warn)[() ]+\s*\"([a-z0-9-]+)\""
    used = set(re.findall(pattern, text))
    used |= set(re.findall(r"\bcautions\[\"([a-z0-9-]+)\"\]", text))
    used |= {f"{whose}-of-earlier-version" for whose in ("alarm", "evidence")}
    assert used == set(KINDS)


def test_a_notice_is_its_text_and_the_weightiest_come_first():
    notices = [Notice("doubt", "a"), Notice("one-class", "b"), Notice("doubt", "c")]
    assert weightiest_first(notices) == ["b", "a", "c"]
    assert notices[1].changed(str.upper).payload() == {"key": "one-class", "text": "B", "weight": 95}


@pytest.mark.parametrize("case", JSON_CASES, ids=lambda case: case.name)
def test_every_report_has_cautions_notices_and_gates(uqcli, case, data, artifact):
    report = uqcli(*case.arguments(data, artifact), "--json").json
    assert report["gates"] == []
    assert isinstance(report["cautions"], list)
    texts = [notice["text"] for notice in report["notices"]]
    assert set(report["cautions"]) <= set(texts)
    weights = [notice["weight"] for notice in report["notices"]]
    assert weights == sorted(weights, reverse=True)
    assert all(KINDS[notice["key"]][0] == notice["weight"] for notice in report["notices"])
    shown = " ".join(uqcli(*case.arguments(data, artifact)).out.decode().split())
    assert shown.count("Caution: ") == bool(texts)
    if texts:
        first = " ".join(texts[0].split())
        assert f"Caution: {first[:1].upper()}{first[1:]}" in shown or f"Caution: {first}" in shown


def write_files():
    rows = pl.DataFrame({"score": [0.9, 0.8, 0.1, 0.3] * 60, "label": [1, 1, 0, 0] * 60})
    rows.write_csv("rows.csv")
    rows.with_columns(label=pl.when(pl.int_range(pl.len()) % 3 == 0).then(None).otherwise("label")).write_csv(
        "part.csv"
    )
    rows.with_columns(score=pl.when(pl.int_range(pl.len()) % 4 == 0).then(None).otherwise("score")).write_csv(
        "gaps.csv"
    )
    few = pl.DataFrame(
        {"score": [n / 1000 for n in range(240)], "label": [n > 237 or n % 9 == 0 for n in range(240)]}
    )
    few.write_csv("few.csv")
    few.with_columns(score=1 - pl.col("score") / 2).write_parquet("few.parquet")
    fit("boundary rows.csv --precision 0.9 --algorithm st -o rule.json")
    fit("boundary gaps.csv --on-invalid drop --precision 0.9 --algorithm st -o doubtful.json")


@pytest.fixture
def files(prepared):
    prepared(write_files)


@pytest.mark.parametrize(
    ("line", "keys"),
    [
        ("evaluate rule.json rows.csv", ["same-rows"]),
        ("tce gaps.csv --on-invalid drop", ["rows-left-out"]),
        ("tce part.csv --on-invalid drop", ["unlabelled-rows"]),
        ("tce rows.csv rows.csv", ["same-file"]),
        ("evaluate doubtful.json part.csv --on-invalid drop", ["unlabelled-rows", "doubt"]),
        ("boundary few.csv --precision 0.9 --algorithm st", ["few-alerts"]),
        ("boundary few.csv few.parquet --precision 0.9 --algorithm st", ["few-alerts", "shared-rows"]),
    ],
)
def test_kinds_of_notices(uqcli, files, line, keys):
    report = uqcli(*line.split(), "--json").json
    found = [notice["key"] for notice in report["notices"]]
    assert [key for key in found if key in keys] == keys


def test_gates_have_their_values_and_results(uqcli, files):
    gates = ("precision.low < 0.5", "rows > 10", "value > 3")
    line = (
        "evaluate",
        "rule.json",
        "rows.csv",
        *(word for gate in gates[:2] for word in ("--fail-if", gate)),
    )
    outcome = uqcli(*line, "--json", "--report", "report.json")
    assert outcome.code == 6
    assert [(gate["text"], gate["result"]) for gate in outcome.json["gates"]] == [
        ("precision.low < 0.5", "passed"),
        ("rows > 10", "failed"),
    ]
    assert outcome.json["gates"][1] == {
        "text": "rows > 10",
        "artifact": None,
        "value": 240,
        "result": "failed",
    }
    assert Path("report.json").read_bytes() == outcome.out
    two = uqcli("evaluate", "rule.json", "doubtful.json", "rows.csv", "--fail-if", "precision < 0", "--json")
    assert [gate["artifact"] for gate in two.json["gates"]] == ["rule.json", "doubtful.json"]
    undefined = uqcli("overview", "rows.csv", "--fail-if", "tce.within_low > 0.9", "--json")
    (gate,) = undefined.json["gates"]
    assert (gate["value"] is None) == (gate["result"] == "undefined")


@pytest.mark.parametrize("more", [(), ("--verbose",), ("--json",), ("-q",), ("-o", "-")])
def test_an_infeasible_target_is_said_once(uqcli, more):
    Path("d.csv").write_text("score,uncertainty,label\n0.9,1,0\n0.9,1,1\n0.5,1,0\n")
    outcome = uqcli("boundary", "d.csv", "--precision", "0.75", *more)
    assert outcome.code == 4
    printed = outcome.err if "--json" in more else f"{outcome.out.decode()}\n{outcome.err}"
    assert printed.lower().count("no boundary reaches precision 75 %") == 1
    assert outcome.err.startswith("error: no boundary reaches precision 75 %") or "-o" in more
