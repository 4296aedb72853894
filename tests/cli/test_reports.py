"""Reports in files: several at once, for people and for machines, and what pages say of their making."""

import hashlib
import html
import json
import re

import numpy as np
import polars as pl
import pytest
from junitparser import JUnitXml
from prometheus_client.parser import text_string_to_metric_families

from tests.cli.cases import CASES

JSON = [case for case in CASES if case.json]
FORMS = ("html", "md", "json", "xml", "prom")
HOSTILE = "<b>&\"'|`$x$]]>\n\x07\u202e"


def name_of(case):
    return case.name


def samples(text):
    """Values by metric name and labels; each is there once."""
    found = [
        (each.name, tuple(sorted(each.labels.items())), each.value)
        for family in text_string_to_metric_families(text)
        for each in family.samples
    ]
    assert len({each[:2] for each in found}) == len(found)
    return {each[:2]: each[2] for each in found}


def cases_of(path):
    """Test cases of a JUnit file by name: (class, kinds of results, what was said)."""
    (suite,) = JUnitXml.fromfile(str(path))
    return {
        case.name: (
            case.classname,
            [type(each).__name__ for each in case.result],
            [r.message for r in case.result],
        )
        for case in suite
    }


@pytest.mark.usefixtures("undrawn")  # figures are drawn twice in test_plots.py
@pytest.mark.parametrize("case", JSON, ids=name_of)
def test_all_forms_at_once_twice_the_same_bytes(uqcli, case, data, artifact, tmp_path):
    contents = []
    for _ in range(2):
        asked = [word for form in FORMS for word in ("--report", tmp_path / f"r.{form}")]
        assert uqcli(*case.arguments(data, artifact), "-q", *asked).code == 0
        contents.append({form: (tmp_path / f"r.{form}").read_bytes() for form in FORMS})
    assert contents[0] == contents[1]
    assert contents[0]["json"] == uqcli(*case.arguments(data, artifact), "--json").out
    for form in ("prom", "json"):
        for place in (str(tmp_path), "SHA-256"):
            assert case.reads_artifact or place not in contents[0][form].decode()


@pytest.mark.parametrize("case", JSON, ids=name_of)
def test_every_metric_is_in_the_prometheus_file(uqcli, case, data, artifact, tmp_path):
    assert uqcli(*case.arguments(data, artifact), "-q", "--report", "r.prom").code == 0
    text = (tmp_path / "r.prom").read_text()
    found = samples(text)
    assert found.pop(("uqcli_up", (("command", case.name),))) == 1
    assert all(name.startswith(f"uqcli_{case.name}_") for name, _ in found)
    assert text.count("# HELP ") == text.count("# TYPE ") == 1 + len({name for name, _ in found})
    metrics = uqcli(*case.arguments(data, artifact), "--json").json.get("metrics", {})
    for name, value in metrics.items():
        if isinstance(value, int | float):
            assert found[f"uqcli_{case.name}_{name}", ()] == value
        elif isinstance(value, dict) and set(value) == {"value", "low", "high"} and value["low"] is not None:
            assert found[f"uqcli_{case.name}_{name}_low", ()] == value["low"]
            assert found[f"uqcli_{case.name}_{name}_high", ()] == value["high"]


def test_names_from_the_data_are_labels(uqcli, frame, tmp_path):
    frame.with_columns(pl.lit(HOSTILE).alias("group")).write_parquet(tmp_path / "d.parquet")
    forms = [word for form in FORMS for word in ("--report", f"r.{form}")]
    assert uqcli("tce", "d.parquet", "--by", "group", "-q", *forms).code == 0
    shown = HOSTILE.replace("\n", "\\n").replace("\x07", "\\x07").replace("\u202e", "\\u202e")
    found = samples((tmp_path / "r.prom").read_text())
    assert ("uqcli_tce_ece", (("group", shown),)) in found
    assert ("uqcli_tce_ece", ()) in found
    page = (tmp_path / "r.html").read_text()
    assert html.escape(shown) in page
    assert "<b>" not in page
    for form in ("html", "md", "xml", "prom"):
        text = (tmp_path / f"r.{form}").read_text()
        assert not re.search(r"[\x00-\x08\x0b-\x1f\u202e]", text)


def test_gates_and_promises_are_test_cases(uqcli, data, tmp_path):
    for bound in ("0.7", "0.99"):
        line = ("--precision", bound, "--score-bins", "20", "-q", "-o", f"b{bound}.json")
        assert uqcli("boundary", data, *line).code == 0
    frame = pl.read_parquet(data)
    frame.with_columns(label=(pl.col("score") > 2).cast(pl.Int8)).write_parquet(tmp_path / "none.parquet")
    gates = ("--fail-if", "precision < 0.5", "--fail-if", "rows < 3", "--report", "r.xml", "-q")
    assert uqcli("evaluate", "b0.7.json", data, *gates).code == 0
    assert cases_of(tmp_path / "r.xml") == {
        "--fail-if precision < 0.5": ("uqcli.evaluate.gate", [], []),
        "--fail-if rows < 3": ("uqcli.evaluate.gate", [], []),
        "b0.7.json: precision >= 0.7": ("uqcli.evaluate.promise", [], []),
    }
    assert uqcli("evaluate", "b0.7.json", "b0.99.json", "none.parquet", *gates).code == 6
    found = cases_of(tmp_path / "r.xml")
    assert found["--fail-if precision < 0.5 (b0.7.json)"][1] == ["Failure"]
    assert found["--fail-if rows < 3 (b0.7.json)"][1] == []
    assert found["b0.7.json: precision >= 0.7"][1] == ["Failure"]
    assert "misses precision >= 0.7 (significant)" in found["b0.7.json: precision >= 0.7"][2][0]
    report = JUnitXml.fromfile("r.xml")
    assert (report.tests, report.failures) == (6, sum(bool(each[1]) for each in found.values()))


def test_undefined_metrics_are_failed_gates_and_no_number(uqcli, data, tmp_path):
    frame = pl.read_parquet(data)
    frame.with_columns(score=pl.lit(0.0)).write_parquet(tmp_path / "low.parquet")
    assert uqcli("boundary", data, "--precision", "0.7", "--algorithm", "st", "-q", "-o", "b.json").code == 0
    line = ("--fail-if", "precision < 0.5", "-q", "--report", "r.xml", "--report", "r.prom")
    assert uqcli("evaluate", "b.json", "low.parquet", *line).code == 6
    found = cases_of(tmp_path / "r.xml")
    assert found["--fail-if precision < 0.5"][1] == found["b.json: precision >= 0.7"][1] == ["Failure"]
    assert uqcli("boundary", data, "--max-selected", "9", "-q", "-o", "b.json").code == 0
    assert uqcli("evaluate", "b.json", data, "-q", "--report", "r.xml").code == 0
    assert cases_of(tmp_path / "r.xml")["b.json: at most 9 flagged"][1] == ["Skipped"]
    assert "\nuqcli_evaluate_precision NaN\nu" in (tmp_path / "r.prom").read_text().replace("# ", "u# ")


def test_a_run_without_result_is_a_failure(uqcli, tmp_path):
    (tmp_path / "d.csv").write_text("score,uncertainty,label\n0.9,1,0\n0.9,1,1\n0.5,1,0\n")
    assert uqcli("boundary", "d.csv", "--precision", "0.75", "-q", "--report", "r.xml").code == 4
    found = cases_of(tmp_path / "r.xml")
    assert list(found) == ["precision >= 0.75", "result"]
    assert (found["precision >= 0.75"][1], found["result"][1]) == (["Failure"], ["Error"])
    assert uqcli("tce", "d.csv", "-q", "--report", "r.xml").code == 0
    assert cases_of(tmp_path / "r.xml") == {"result": ("uqcli.tce.run", [], [])}


def test_several_bounds_and_artifacts_are_labels(uqcli, data, tmp_path):
    line = ("--precision", "0.6,0.7", "-q", "--report", "r.prom")
    assert uqcli("boundary", data, *line).code == 0
    found = samples((tmp_path / "r.prom").read_text())
    assert {labels for name, labels in found if name == "uqcli_boundary_recall"} == {
        (("bound", "0.6"),),
        (("bound", "0.7"),),
    }


def test_sets_and_their_classes_in_the_forms_of_machines(uqcli, data, tmp_path):
    frame = pl.read_parquet(data)
    frame.with_columns(label=1 - pl.col("label")).write_parquet(tmp_path / "wrong.parquet")
    assert uqcli("conformal", data, "--alpha", "0.1", "-q", "-o", "sets.json").code == 0
    forms = ("-q", "--report", "r.xml", "--report", "r.prom", "--report", "r.json")
    for rows, verdict, results in ((data, "kept", []), ("wrong.parquet", "broken", ["Failure"])):
        assert uqcli("evaluate", "sets.json", rows, *forms).code == 0
        report = json.loads((tmp_path / "r.json").read_text())
        found = samples((tmp_path / "r.prom").read_text())
        for name, each in report["metrics"]["coverage_by_class"].items():
            assert found["uqcli_evaluate_coverage_by_class", (("class", name),)] == each["value"]
            assert found["uqcli_evaluate_coverage_by_class_low", (("class", name),)] == each["low"]
        assert report["verdict"] == verdict
        assert cases_of(tmp_path / "r.xml")["sets.json: 90 % coverage"][1] == results


@pytest.mark.usefixtures("undrawn")
def test_all_places_are_checked_before_work_and_none_is_written_if_one_is_wrong(uqcli, data, tmp_path):
    for wrong, code in (("r.txt", 2), ("nowhere/r.xml", 3), ("r.html", 2)):
        outcome = uqcli("bin", data, "-q", "--report", "r.html", "--report", wrong)
        assert outcome.code == code
        assert f"failed</h1>\n<p>Error (exit code {code})" in (tmp_path / "r.html").read_text()
    assert ".html or .md or .json or .xml or .prom" in uqcli("bin", data, "--report", "r.txt").err


@pytest.mark.usefixtures("undrawn")
def test_reports_are_configured_as_a_list_or_one_text(uqcli, data, tmp_path, monkeypatch):
    (tmp_path / "uqcli.toml").write_text('[bin]\nreport = ["a.json", "a.prom"]\n')
    config = ("--config", "uqcli.toml")
    assert uqcli("bin", data, "-q", *config).code == 0
    assert json.loads((tmp_path / "a.json").read_text())["command"] == "bin"
    assert samples((tmp_path / "a.prom").read_text())
    (tmp_path / "uqcli.toml").write_text('[bin]\nreport = "b.md"\nscore-bins = "7"\n')
    assert uqcli("bin", data, "-q", *config).code == 0
    assert "| configured | --score-bins 7 |" in (tmp_path / "b.md").read_text()
    monkeypatch.setenv("UQCLI_BIN_REPORT", "c.xml")
    assert uqcli("bin", data, "-q", *config).code == 0
    assert (tmp_path / "c.xml").exists()


def made_from(path):
    """What a Markdown page says of its making."""
    _, end = path.read_text().split("\n## Made from\n")
    lines = [re.split(r"(?<!\\)\|", line)[1:-1] for line in end.strip().splitlines()[2:]]
    return [tuple(re.sub(r"\\(.)", r"\1", each.strip()) for each in line) for line in lines]


@pytest.mark.usefixtures("undrawn")
def test_pages_say_what_they_were_made_of(uqcli, data, tmp_path):
    line = ("--precision", "0.7", "--score-bins=20", "-q", "--threads", "1", "-o", "b.json")
    assert uqcli("boundary", "data.parquet", *line, "--report", "r.md", "--report", "r.html").code == 0
    digest = hashlib.sha256((tmp_path / "b.json").read_bytes()).hexdigest()
    digest += f", which states digest {json.loads((tmp_path / 'b.json').read_bytes())['digest']}"
    version = uqcli("--version").out.decode().strip()
    assert made_from(tmp_path / "r.md") == [
        ("command", "uqcli boundary data.parquet --precision 0.7 --score-bins 20"),
        ("version", version),
        ("input", f"data.parquet: 400 rows, SHA-256 {hashlib.sha256(data.read_bytes()).hexdigest()}"),
        ("rule file", f"b.json, SHA-256 {digest}"),
    ]
    page = (tmp_path / "r.html").read_text()
    assert page.index("Made from") > page.rindex("calibration set")
    assert digest in page
    assert uqcli("evaluate", "b.json", "data.parquet", "--report", "e.md", "--json").code == 0
    assert made_from(tmp_path / "e.md")[-1] == ("rule file", f"b.json, SHA-256 {digest}")
    assert uqcli("boundary", data, *line, "--report", "r.md", "--fail-if", "rows > 1").code == 6
    assert made_from(tmp_path / "r.md")[3:] == [("rule file", "none was written: the run failed")]


@pytest.mark.usefixtures("undrawn")
def test_pages_say_that_nothing_was_saved(uqcli, data, tmp_path):
    line = ("boundary", data, "--precision", "0.7", "--score-bins", "20", "-q", "--report", "r.md")
    assert uqcli(*line).code == 0
    assert made_from(tmp_path / "r.md")[3:] == [("rule file", "none was written: --output was not given")]
    assert "No rule was saved: run again with --output FILE to save it." in (tmp_path / "r.md").read_text()
    assert uqcli(*line, "-o", "b.json").code == 0
    assert "Nothing was saved" not in (tmp_path / "r.md").read_text()
    assert uqcli("tce", data, "-q", "--report", "t.md").code == 0  # makes no model
    assert "saved" not in (tmp_path / "t.md").read_text()


@pytest.mark.usefixtures("undrawn", "few_draws")
def test_what_a_failed_run_would_have_said_is_no_advice(uqcli, data, tmp_path):
    line = (
        "boundary",
        data,
        "--precision",
        "0.7",
        "--score-bins",
        "20",
        "--compare",
        "-q",
        "--report",
        "r.md",
    )
    assert uqcli(*line, "--fail-if", "rows > 1").code == 6
    first, then = (tmp_path / "r.md").read_text().split("\n\n")[1:3]
    assert "No rule file was written." in first
    assert then.startswith("If it had passed: ")


@pytest.mark.usefixtures("undrawn")
def test_apply_says_by_what_rows_were_decided(uqcli, data, tmp_path):
    assert uqcli("boundary", data, "--precision", "0.7", "-q", "-o", "b.json").code == 0
    fit = json.loads((tmp_path / "b.json").read_text())["fit"]
    assert uqcli("apply", "b.json", data, "-q", "-o", "a.csv", "--report", "a.md").code == 0
    text = (tmp_path / "a.md").read_text()
    rate = f"alert rate {100 * fit['selected'] / fit['rows']:.2f} % on the calibration set."
    assert f"Boundary (smooth) for target precision >= 0.7; {rate}" in text


@pytest.mark.usefixtures("undrawn")
def test_names_that_would_act_in_a_shell_or_a_page_are_quoted(uqcli, data, tmp_path):
    hostile = tmp_path / "-a b$(x)<i>.parquet"
    hostile.write_bytes(data.read_bytes())
    assert uqcli("bin", "-q", "--report", "r.md", "--report", "r.html", "--", hostile.name).code == 0
    (command, *_) = made_from(tmp_path / "r.md")
    assert command == ("command", "uqcli bin -- '-a b$(x)<i>.parquet'")
    assert "<i>" not in (tmp_path / "r.html").read_text()
    assert uqcli("bin", "-", "-q", "--report", "r.md", stdin=data.read_bytes()).code == 0
    assert ("input", "standard input: 400 rows") in made_from(tmp_path / "r.md")


def gates_of(path):
    """The rows of the table of gates on a Markdown page."""
    _, end = path.read_text().split("\n## Checks\n")
    lines = end.strip().partition("\n\n")[0].splitlines()[2:]
    return [tuple(cell.strip() for cell in line[1:-1].split("|")) for line in lines]


@pytest.mark.usefixtures("undrawn")
def test_pages_show_every_gate_that_was_asked_and_what_it_found(uqcli, data, tmp_path):
    asked = ("--fail-if", "rows > 1", "--fail-if", "recall < 0")
    line = ("boundary", data, "--precision", "0.7", "-q", "--report", "r.md", "--report", "r.html")
    assert uqcli(*line, *asked).code == 6
    recall = uqcli(*line[:4], "--json").json["metrics"]["recall"]
    assert gates_of(tmp_path / "r.md") == [
        ("rows > 1", "all", "400", "failed"),
        ("recall < 0", "all", f"{recall:.6g}", "passed"),
    ]
    said = "Check failed: rows > 1 (rows is 400). No rule file was written."
    assert f": check failed\n\n{said}" in (tmp_path / "r.md").read_text()
    assert "fail if" in (tmp_path / "r.html").read_text()
    assert uqcli(*line).code == 0
    assert "## Checks" not in (tmp_path / "r.md").read_text()


@pytest.mark.usefixtures("undrawn", "few_draws")
def test_a_boundary_that_is_not_shown_to_beat_the_score_says_so_everywhere(uqcli, tmp_path):
    rng = np.random.default_rng(0)
    score = rng.uniform(size=1500).round(3)
    frame = {"score": score, "uncertainty": rng.uniform(size=1500), "label": rng.uniform(size=1500) < score}
    pl.DataFrame(frame).write_csv(tmp_path / "useless.csv")
    line = ("boundary", "useless.csv", "--precision", "0.7", "--compare", "-q", "-o", "b.json")
    for algorithm, title in (
        ((), "smooth) for target precision >= 0.7: single threshold"),
        (("--algorithm", "vw-dpmt"), "vw-dpmt) for target precision >= 0.7: no significant gain"),
    ):
        assert uqcli(*line, *algorithm, "--report", "r.md").code == 0
        page = (tmp_path / "r.md").read_text()
        assert page.startswith(f"# Boundary ({title}\n")
        assert "Cross-validation shows no significant gain over a single threshold." in page
    assert "A single threshold does as well: --uncertainty-bins 1 saves it." in page


def test_a_certificate_says_which_rows_chose_and_which_tested(uqcli, data, tmp_path):
    line = ("boundary", data, "--precision", "0.6", "--certify", "0.2", "-o", "b.json", "--json")
    report = uqcli(*line).json
    tested = report["certificate"]["tested_on"]["rows"]
    assert f"{400 - tested} rows chose the boundary, {tested} tested it." in report["notes"]


def test_of_two_boundaries_the_page_says_which_to_use(uqcli, tmp_path):
    rng = np.random.default_rng(0)

    def rows(name, lift):
        score = rng.uniform(size=4000).round(3)
        label = rng.uniform(size=4000) < score**lift
        pl.DataFrame({"score": score, "uncertainty": score, "label": label}).write_csv(tmp_path / name)

    def which(first, second):
        return uqcli("evaluate", first, second, "here.csv", "--json").json["notes"][-1]

    rows("here.csv", 1)
    rows("easier.csv", 0.5)
    for name, source, bound in (
        ("a", "here", "0.7"),
        ("b", "here", "0.8"),
        ("c", "easier", "0.9"),
        ("d", "easier", "0.95"),
    ):
        line = ("--precision", bound, "--algorithm", "st", "-q", "-o", f"{name}.json")
        assert uqcli("boundary", f"{source}.csv", *line).code == 0
    assert which("a.json", "c.json") == "Use a.json."
    assert which("c.json", "a.json") == "Use a.json."
    assert which("c.json", "d.json") == "Fit the rule again on current data."
    assert "Use a.json if its additional alerts are worth the work, else b.json." in which("b.json", "a.json")
    assert which("a.json", "a.json").startswith("No significant difference")
