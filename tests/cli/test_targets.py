"""Tests of ``boundary`` without a constraint: what each target would bring, as its own command finds it."""

import shlex
from pathlib import Path

import numpy as np
import polars as pl
import pytest


def write_files():
    rng = np.random.default_rng(3)
    n = 3_000
    score, spread = rng.beta(1, 3, n).round(4), rng.random(n).round(2)
    rows = pl.DataFrame(
        {
            "score": score,
            "uncertainty": spread,
            "label": (rng.random(n) < score**2 + 0.3 * spread * score).astype(int),
            "weight": rng.integers(0, 4, n),
            "customer": rng.integers(0, 400, n),
        }
    )
    rows.write_csv("rows.csv")
    rows.drop("uncertainty").write_csv("two.csv")
    rows.with_columns(label=pl.lit(0)).write_csv("none.csv")
    rows.with_columns(label=pl.lit(1)).write_csv("all.csv")
    rows.with_columns(label=(pl.col("score") > 0.05).cast(int)).write_csv("mostly.csv")
    rows.head(12).write_csv("few.csv")
    rows.select("label", score=rng.random(n)).write_csv("noise.csv")
    Path("it's.csv").write_bytes(Path("two.csv").read_bytes())


@pytest.fixture(autouse=True)
def files(prepared, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    prepared(write_files)


@pytest.mark.covering("thorough", every=4)
@pytest.mark.parametrize(
    "line",
    [
        "two.csv",
        "rows.csv",
        "rows.csv --weight weight",
        "rows.csv --algorithm st",
        "rows.csv --cluster customer",
        "rows.csv --algorithm vw-dpmt --score-bins 20",
        "rows.csv --uncertainty=-uncertainty",
        "few.csv",
        "noise.csv",
    ],
)
def test_each_target_is_the_rule_of_its_command(uqcli, line):
    found = uqcli("boundary", *line.split(), "--json")
    assert found.code == 0
    targets = found.json["targets"]
    for target in targets:
        alone = uqcli("boundary", *line.split(), target["option"], target["value"], "--json")
        assert alone.code == 0
        assert alone.json["metrics"] == {**target["metrics"], "dropped_share": 0.0}
    assert [each["value"] for each in targets if each["option"] == "--max-selected"]


def test_precisions_suit_the_file(uqcli):
    def precisions(name):
        targets = uqcli("boundary", name, "--json").json["targets"]
        return [float(each["value"]) for each in targets if each["option"] == "--precision"]

    rare, mostly = precisions("two.csv"), precisions("mostly.csv")
    assert 1 <= len(rare) <= 6
    assert rare == sorted(rare)
    assert min(mostly) >= 0.9


def test_a_screen_says_the_answer_and_what_to_type(uqcli):
    found = uqcli("boundary", "it's.csv")
    lines = found.out.decode().splitlines()
    assert found.code == 0
    assert len(lines) <= 16
    assert max(map(len, lines)) <= 100
    assert lines[0].startswith("By the score alone, a rule finds ")
    words = shlex.split(lines[-1])
    assert words[:4] == ["Next:", "uqcli", "boundary", "it's.csv"]
    assert uqcli(*words[2:]).code == 0
    assert Path("boundary.json").exists()


@pytest.mark.parametrize(
    "line",
    [
        "-o rule.json",
        "-o -",
        "--fail-if rows<9",
        "--certify 0.1",
        "--compare",
        "--margin 1",
        "--review 5%",
        "--by customer",
        "--frontier curve.csv",
        "--algorithm all",
        "--grid nowhere.json",
    ],
)
def test_what_needs_a_constraint_asks_for_it(uqcli, line):
    found = uqcli("boundary", "rows.csv", *line.split())
    assert (found.code, found.out) == (2, b"")
    assert "no constraint given" in found.err
    assert not Path("rule.json").exists()


@pytest.mark.parametrize(
    ("name", "part"), [("none.csv", "No row is positive"), ("all.csv", "Every row is positive")]
)
def test_rows_of_one_class_are_a_caution(uqcli, name, part):
    found = uqcli("boundary", name)
    assert found.code == 0
    assert part in found.out.decode()


def test_a_page_has_the_targets_and_the_choice(uqcli):
    assert uqcli("boundary", "rows.csv", "-q", "--report", "page.html", "--report", "page.md").code == 0
    page = Path("page.html").read_text()
    assert "operating-points" in page
    assert "--max-selected" in Path("page.md").read_text()


def test_several_bounds_share_one_reading(uqcli):
    several = uqcli("boundary", "rows.csv", "--precision", "0.3,0.5,0.6", "--json").json["results"]
    for result in several:
        value = result["parameters"]["constraint"]["value"]
        alone = uqcli("boundary", "rows.csv", "--precision", value, "--json").json
        read = {**result["source"], "read": alone["source"]["read"]}  # which is stated once for all
        said = {key: alone[key] for key in ("cautions", "notices", "gates")}  # of the run, for all
        assert {**alone, "notes": []} == {**result, **said, "source": read, "notes": []}


@pytest.mark.parametrize("bounds", ["0.3,0.3", ".5,0.4,0.50"])
def test_equal_bounds_are_refused_however_they_are_written(uqcli, bounds):
    failed = uqcli("boundary", "rows.csv", "--precision", bounds)
    assert (failed.code, f"'{bounds}' names a bound twice" in failed.err) == (2, True)
