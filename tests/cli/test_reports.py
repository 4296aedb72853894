"""Tests of report files: several formats at once, for people and machines, and the origin on pages."""

import csv
import hashlib
import html
import json
import math
import re

import numpy as np
import polars as pl
import pytest
from junitparser import JUnitXml
from prometheus_client.parser import text_string_to_metric_families

from tests.cli.cases import CASES
from tests.documentation.reference import DOCS
from uqcli.base.choices import ReportFormat
from uqcli.base.wording import percent

JSON_CASES = [case for case in CASES if case.json]
FORMATS = [ending.removeprefix(".") for ending in ReportFormat]
HOSTILE = "<b>&\"'|`$x$]]>\n\x07\u202e"


def name_of(case):
    return case.name


def samples(text):
    """Read the values by metric name and labels without those of the run; each combination is unique."""
    parsed = [sample for family in text_string_to_metric_families(text) for sample in family.samples]
    assert len({sample.labels["run"] for sample in parsed}) == 1
    of_results = [sample.labels for sample in parsed if not sample.name.endswith("_artifact_info")]
    left_out = {"run"}
    if len({labels.get("artifact") for labels in of_results}) == 1:
        left_out.add("artifact")
    all_samples = [
        (
            sample.name,
            tuple(sorted(pair for pair in sample.labels.items() if pair[0] not in left_out)),
            sample.value,
        )
        for sample in parsed
    ]
    assert len({sample[:2] for sample in all_samples}) == len(all_samples)
    return {sample[:2]: sample[2] for sample in all_samples}


def csv_metrics(path):
    """Read the value and the ends of each metric by its key, as numbers or None."""
    header, *rows = csv.reader(path.read_text().splitlines())
    assert header == ["command", "key", "value", "low", "high"]
    assert len({row[1] for row in rows}) == len(rows)
    return {row[1]: tuple(json.loads(cell) if cell else None for cell in row[2:]) for row in rows}


def flat(metrics, prefix=""):
    """List the metrics of a JSON report by dotted key, with the ends of their intervals."""
    listed = {}
    for name, value in metrics.items():
        if not isinstance(value, dict):
            listed[f"{prefix}{name}"] = (value, None, None)
        elif set(value) == {"value", "low", "high"}:
            listed[f"{prefix}{name}"] = (value["value"], value["low"], value["high"])
        else:
            listed |= flat(value, f"{prefix}{name}.")
    return listed


def cases_of(path):
    """Read the test cases of a JUnit file by name: (class, kinds of results, messages)."""
    (suite,) = JUnitXml.fromfile(str(path))
    return {
        case.name: (
            case.classname,
            [type(result).__name__ for result in case.result],
            [result.message for result in case.result],
        )
        for case in suite
    }


def test_the_docs_describe_every_format():
    described = (DOCS / "reference" / "files-and-options.md").read_text()
    assert all(re.search(rf"^\|.*`\{ending}`.*\|", described, re.MULTILINE) for ending in ReportFormat)


@pytest.mark.thorough
@pytest.mark.parametrize("case", JSON_CASES, ids=name_of)
def test_all_formats_at_once_are_reproducible(uqcli, case, data, artifact, tmp_path):
    contents = []
    for _ in range(2):
        options = [word for ending in FORMATS for word in ("--report", tmp_path / f"r.{ending}")]
        assert uqcli(*case.arguments(data, artifact), "-q", *options).code == 0
        contents.append({ending: (tmp_path / f"r.{ending}").read_bytes() for ending in FORMATS})
    assert contents[0] == contents[1]
    assert contents[0]["json"] == uqcli(*case.arguments(data, artifact), "--json").out
    for ending in ("prom", "json", "csv"):
        for private_text in (str(tmp_path), "SHA-256"):
            assert case.reads_artifact or private_text not in contents[0][ending].decode()


@pytest.mark.parametrize("case", JSON_CASES, ids=name_of)
def test_every_metric_is_in_the_prometheus_file(uqcli, case, data, artifact, tmp_path):
    assert uqcli(*case.arguments(data, artifact), "-q", "--report", "r.prom").code == 0
    text = (tmp_path / "r.prom").read_text()
    values = samples(text)
    assert values.pop(("uqcli_up", (("command", case.name),))) == 1
    assert all(name.startswith(f"uqcli_{case.name}_") for name, _ in values)
    assert text.count("# HELP ") == text.count("# TYPE ") == 1 + len({name for name, _ in values})
    metrics = uqcli(*case.arguments(data, artifact), "--json").json.get("metrics", {})
    for name, value in metrics.items():
        if isinstance(value, int | float):
            assert values[f"uqcli_{case.name}_{name}", ()] == value
        elif isinstance(value, dict) and set(value) == {"value", "low", "high"} and value["low"] is not None:
            assert values[f"uqcli_{case.name}_{name}_low", ()] == value["low"]
            assert values[f"uqcli_{case.name}_{name}_high", ()] == value["high"]


@pytest.mark.covering("thorough", every=3)
@pytest.mark.parametrize("case", JSON_CASES, ids=name_of)
def test_every_metric_is_a_row_of_the_csv_report(uqcli, case, data, artifact, tmp_path):
    assert uqcli(*case.arguments(data, artifact), "-q", "--report", "r.csv").code == 0
    report = uqcli(*case.arguments(data, artifact), "--json").json
    listed = csv_metrics(tmp_path / "r.csv")
    assert listed.pop("up") == (1, None, None)
    assert "metrics" not in report or listed == flat(report["metrics"])
    assert {row.split(",")[0] for row in (tmp_path / "r.csv").read_text().splitlines()[1:]} == {case.name}


def test_keys_of_the_csv_report_are_those_of_checks(uqcli, data, tmp_path):
    line = ("boundary", data, "--precision", "0.6,0.7", "-q", "-o", 'b "{}",.json')
    assert uqcli(*line, "--report", "r.csv").code == 0
    names = ['b "0.6",.json', 'b "0.7",.json']
    assert uqcli("evaluate", *names, data, "-q", "--report", "e.csv").code == 0
    fitted, metrics = csv_metrics(tmp_path / "r.csv"), csv_metrics(tmp_path / "e.csv")
    assert {"expected.precision (0.6)", "expected.precision (0.7)"} <= set(fitted)
    assert metrics["difference.recall"][1] is not None
    for key in set(metrics) - {"up"}:
        path = re.sub(r" \(b .*\)$", "", key)
        assert uqcli("evaluate", *names, data, "-q", "--fail-if", f"{path} > 1e99").code == 0
    assert {key for key in metrics if key.startswith("precision ")} == {
        f"precision ({name})" for name in names
    }


def test_a_csv_report_never_replaces_rows(uqcli, data, tmp_path):
    rows = "score,uncertainty,label\n0.1,1,0\n0.9,1,1\n"
    (tmp_path / "rows").mkdir()
    for name in ("rows/a.csv", "b.csv"):
        (tmp_path / name).write_text(rows)
    (tmp_path / "empty.csv").write_text("")
    for line in (
        ("bin", "rows/a.csv", "--report", "rows/a.csv"),
        ("bin", "rows", "--report", "rows/a.csv"),
        ("bin", "rows/*.csv", "--report", "rows/a.csv"),
        ("bin", "--report", "b.csv"),  # there is no INPUT
        ("apply", "rule.json", data, "-o", "b.csv", "--report", "b.csv"),
    ):
        assert uqcli(*line).code in (2, 3), line
        assert (tmp_path / "rows/a.csv").read_text() == (tmp_path / "b.csv").read_text() == rows
    assert uqcli("bin", "nowhere.csv", "--report", "empty.csv").code == 3
    assert csv_metrics(tmp_path / "empty.csv") == {"up": (0, None, None)}


@pytest.mark.thorough
def test_names_from_the_data_are_labels(uqcli, frame, tmp_path):
    frame.with_columns(pl.lit(HOSTILE).alias("group")).write_parquet(tmp_path / "d.parquet")
    options = [word for ending in FORMATS for word in ("--report", f"r.{ending}")]
    assert uqcli("tce", "d.parquet", "--by", "group", "-q", *options).code == 0
    shown = HOSTILE.replace("\n", "\\n").replace("\x07", "\\x07").replace("\u202e", "\\u202e")
    values = samples((tmp_path / "r.prom").read_text())
    assert ("uqcli_tce_ece", (("group", shown),)) in values
    assert ("uqcli_tce_ece", ()) in values
    page = (tmp_path / "r.html").read_text()
    assert html.escape(shown) in page
    assert "<b>" not in page
    for ending in ("html", "md", "xml", "prom", "csv"):
        text = (tmp_path / f"r.{ending}").read_text()
        assert not re.search(r"[\x00-\x08\x0b-\x1f\u202e]", text)


def test_checks_and_targets_are_test_cases(uqcli, data, tmp_path):
    for bound in ("0.7", "0.99"):
        line = ("--precision", bound, "--score-bins", "20", "-q", "-o", f"b{bound}.json")
        assert uqcli("boundary", data, *line).code == 0
    frame = pl.read_parquet(data)
    frame.with_columns(label=(pl.col("score") > 2).cast(pl.Int8)).write_parquet(tmp_path / "none.parquet")
    options = ("--fail-if", "precision < 0.5", "--fail-if", "rows < 3", "--report", "r.xml", "-q")
    assert uqcli("evaluate", "b0.7.json", data, *options).code == 0
    assert cases_of(tmp_path / "r.xml") == {
        "--fail-if precision < 0.5": ("uqcli.evaluate.gate", [], []),
        "--fail-if rows < 3": ("uqcli.evaluate.gate", [], []),
        "b0.7.json: precision >= 70 %": ("uqcli.evaluate.promise", [], []),
    }
    assert uqcli("evaluate", "b0.7.json", "b0.99.json", "none.parquet", *options).code == 6
    results = cases_of(tmp_path / "r.xml")
    assert results["--fail-if precision < 0.5 (b0.7.json)"][1] == ["Failure"]
    assert results["--fail-if rows < 3 (b0.7.json)"][1] == []
    assert results["b0.7.json: precision >= 70 %"][1] == ["Failure"]
    assert "misses precision >= 70 % (significant)" in results["b0.7.json: precision >= 70 %"][2][0]
    report = JUnitXml.fromfile("r.xml")
    assert (report.tests, report.failures) == (6, sum(bool(result[1]) for result in results.values()))


def test_undefined_metrics_are_failed_checks_and_nan(uqcli, data, tmp_path):
    frame = pl.read_parquet(data)
    frame.with_columns(score=pl.lit(0.0)).write_parquet(tmp_path / "low.parquet")
    assert uqcli("boundary", data, "--precision", "0.7", "--algorithm", "st", "-q", "-o", "b.json").code == 0
    line = ("--fail-if", "precision < 0.5", "-q", "--report", "r.xml", "--report", "r.prom")
    assert uqcli("evaluate", "b.json", "low.parquet", *line).code == 6
    results = cases_of(tmp_path / "r.xml")
    assert results["--fail-if precision < 0.5"][1] == results["b.json: precision >= 70 %"][1] == ["Failure"]
    assert uqcli("boundary", data, "--max-selected", "9", "-q", "-o", "b.json").code == 0
    assert uqcli("evaluate", "b.json", data, "-q", "--report", "r.xml").code == 0
    assert cases_of(tmp_path / "r.xml")["b.json: at most 9 flagged"][1] == ["Skipped"]
    values = samples((tmp_path / "r.prom").read_text())
    assert all(math.isnan(values[f"uqcli_evaluate_precision{end}", ()]) for end in ("", "_low", "_high"))


def test_a_run_without_result_is_a_failure(uqcli, tmp_path):
    (tmp_path / "d.csv").write_text("score,uncertainty,label\n0.9,1,0\n0.9,1,1\n0.5,1,0\n")
    assert uqcli("boundary", "d.csv", "--precision", "0.75", "-q", "--report", "r.xml").code == 4
    results = cases_of(tmp_path / "r.xml")
    assert list(results) == ["precision >= 75 %", "result"]
    assert (results["precision >= 75 %"][1], results["result"][1]) == (["Failure"], ["Error"])
    assert uqcli("tce", "d.csv", "-q", "--report", "r.xml").code == 0
    assert cases_of(tmp_path / "r.xml") == {"result": ("uqcli.tce.run", [], [])}


def test_several_bounds_are_labels(uqcli, data, tmp_path):
    line = ("--precision", "0.6,0.7", "-q", "--report", "r.prom")
    assert uqcli("boundary", data, *line).code == 0
    values = samples((tmp_path / "r.prom").read_text())
    assert {labels for name, labels in values if name == "uqcli_boundary_recall"} == {
        (("bound", "0.6"),),
        (("bound", "0.7"),),
    }


def test_prediction_sets_and_classes_are_in_machine_formats(uqcli, data, tmp_path):
    frame = pl.read_parquet(data)
    frame.with_columns(label=1 - pl.col("label")).write_parquet(tmp_path / "wrong.parquet")
    assert uqcli("conformal", data, "--alpha", "0.1", "-q", "-o", "sets.json").code == 0
    options = ("-q", "--report", "r.xml", "--report", "r.prom", "--report", "r.json")
    for rows, verdict, results in ((data, "kept", []), ("wrong.parquet", "broken", ["Failure"])):
        assert uqcli("evaluate", "sets.json", rows, *options).code == 0
        report = json.loads((tmp_path / "r.json").read_text())
        values = samples((tmp_path / "r.prom").read_text())
        for name, coverage in report["metrics"]["coverage_by_class"].items():
            assert values["uqcli_evaluate_coverage_by_class", (("class", name),)] == coverage["value"]
            assert values["uqcli_evaluate_coverage_by_class_low", (("class", name),)] == coverage["low"]
        assert report["verdict"] == verdict
        assert cases_of(tmp_path / "r.xml")["sets.json: 90 % coverage"][1] == results


def test_all_report_paths_are_checked_before_any_work(uqcli, data, tmp_path):
    for wrong, code in (("r.txt", 2), ("nowhere/r.xml", 3), ("r.html", 2)):
        outcome = uqcli("bin", data, "-q", "--report", "r.html", "--report", wrong)
        assert outcome.code == code
        assert f"failed</h1>\n<p>Error (exit code {code})" in (tmp_path / "r.html").read_text()
    assert ".html, .md, .json, .csv, .xml, .prom" in uqcli("bin", data, "--report", "r.txt").err


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


def origin_of(path):
    """Read the origin of a Markdown page."""
    _, table_text = path.read_text().split("\n## Made from\n")
    table_rows = [re.split(r"(?<!\\)\|", row)[1:-1] for row in table_text.strip().splitlines()[2:]]
    return [tuple(re.sub(r"\\(.)", r"\1", cell.strip()) for cell in row) for row in table_rows]


@pytest.mark.thorough
def test_pages_state_their_origin(uqcli, data, tmp_path):
    line = ("--precision", "0.7", "--score-bins=20", "-q", "--threads", "1", "-o", "b.json")
    assert uqcli("boundary", "data.parquet", *line, "--report", "r.md", "--report", "r.html").code == 0
    digest = hashlib.sha256((tmp_path / "b.json").read_bytes()).hexdigest()
    digest += f", which states digest {json.loads((tmp_path / 'b.json').read_bytes())['digest']}"
    version = uqcli("--version").out.decode().strip()
    assert origin_of(tmp_path / "r.md") == [
        ("command", "uqcli boundary data.parquet --precision 0.7 --score-bins 20"),
        ("version", version),
        ("input", f"data.parquet: 400 rows, SHA-256 {hashlib.sha256(data.read_bytes()).hexdigest()}"),
        ("rule file", f"b.json, SHA-256 {digest}"),
    ]
    page = (tmp_path / "r.html").read_text()
    assert page.index("Made from") > page.rindex("calibration set")
    assert digest in page
    assert uqcli("evaluate", "b.json", "data.parquet", "--report", "e.md", "--json").code == 0
    assert origin_of(tmp_path / "e.md")[-1] == ("rule file", f"b.json, SHA-256 {digest}")
    assert uqcli("boundary", data, *line, "--report", "r.md", "--fail-if", "rows > 1").code == 6
    assert origin_of(tmp_path / "r.md")[3:] == [("rule file", "none was written: the run failed")]


def test_pages_state_that_no_rule_was_saved(uqcli, data, tmp_path):
    line = ("boundary", data, "--precision", "0.7", "--score-bins", "20", "-q", "--report", "r.md")
    assert uqcli(*line).code == 0
    assert origin_of(tmp_path / "r.md")[3:] == [("rule file", "none was written: --output was not given")]
    assert "No rule was saved: run again with --output FILE to save it." in (tmp_path / "r.md").read_text()
    assert uqcli(*line, "-o", "b.json").code == 0
    assert "No rule was saved" not in (tmp_path / "r.md").read_text()
    assert uqcli("tce", data, "-q", "--report", "t.md").code == 0  # tce saves no rule
    assert "saved" not in (tmp_path / "t.md").read_text()


def test_pages_of_failed_runs_give_no_advice(uqcli, data, tmp_path):
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
    title, first, second = (tmp_path / "r.md").read_text().split("\n\n")[:3]
    assert (title, first) == ("# Check failed: rows > 1 (rows is 400)", "Nothing was saved.")
    assert second.startswith("If it had passed: ")


def test_apply_names_the_rule_on_its_page(uqcli, data, tmp_path):
    assert uqcli("boundary", data, "--precision", "0.7", "-q", "-o", "b.json").code == 0
    fit = json.loads((tmp_path / "b.json").read_text())["fit"]
    assert uqcli("apply", "b.json", data, "-q", "-o", "a.csv", "--report", "a.md").code == 0
    text = (tmp_path / "a.md").read_text()
    rate = f"it flagged {percent(fit['selected'] / fit['rows'])} of its calibration set."
    assert f"The rule was fitted for target precision >= 70 % (algorithm smooth); {rate}" in text


def test_hostile_file_names_are_quoted(uqcli, data, tmp_path):
    hostile = tmp_path / "-a b$(x)<i>.parquet"
    hostile.write_bytes(data.read_bytes())
    assert uqcli("bin", "-q", "--report", "r.md", "--report", "r.html", "--", hostile.name).code == 0
    (command, *_) = origin_of(tmp_path / "r.md")
    assert command == ("command", "uqcli bin -- '-a b$(x)<i>.parquet'")
    assert "<i>" not in (tmp_path / "r.html").read_text()
    assert uqcli("bin", "-", "-q", "--report", "r.md", stdin=data.read_bytes()).code == 0
    assert ("input", "standard input: 400 rows") in origin_of(tmp_path / "r.md")


def checks_of(path):
    """Read the table of checks on a Markdown page."""
    _, table_text = path.read_text().split("\n## Checks\n")
    table_rows = table_text.strip().partition("\n\n")[0].splitlines()[2:]
    return [tuple(cell.strip() for cell in line[1:-1].split("|")) for line in table_rows]


@pytest.mark.thorough
def test_pages_show_every_check_with_its_value(uqcli, data, tmp_path):
    checks = ("--fail-if", "rows > 1", "--fail-if", "recall < 0")
    line = ("boundary", data, "--precision", "0.7", "-q", "--report", "r.md", "--report", "r.html")
    assert uqcli(*line, *checks).code == 6
    recall = uqcli(*line[:4], "--json").json["metrics"]["recall"]
    assert checks_of(tmp_path / "r.md") == [
        ("rows > 1", "all", "400", "failed"),
        ("recall < 0", "all", f"{recall:.6g}", "passed"),
    ]
    expected = "Check failed: rows > 1 (rows is 400)"
    assert (
        (tmp_path / "r.md")
        .read_text()
        .startswith(f"# {expected}\n\nNothing was saved.\n\nIf it had passed: ")
    )
    assert f"<h1>{expected.replace('>', '&gt;')}</h1>" in (tmp_path / "r.html").read_text()
    assert "fail if" in (tmp_path / "r.html").read_text()
    assert uqcli(*line).code == 0
    assert "## Checks" not in (tmp_path / "r.md").read_text()


@pytest.mark.thorough
def test_a_gain_that_is_not_significant_is_stated_everywhere(uqcli, tmp_path):
    rng = np.random.default_rng(0)
    score = rng.uniform(size=1500).round(3)
    frame = {"score": score, "uncertainty": rng.uniform(size=1500), "label": rng.uniform(size=1500) < score}
    pl.DataFrame(frame).write_csv(tmp_path / "useless.csv")
    line = ("boundary", "useless.csv", "--precision", "0.7", "--compare", "-q", "-o", "b.json")
    for algorithm in ((), ("--algorithm", "vw-dpmt")):
        assert uqcli(*line, *algorithm, "--report", "r.md", "--report", "r.html").code == 0
        page = (tmp_path / "r.md").read_text()
        assert page.startswith("# Flags ")
        assert "Does the uncertainty help? No evidence of it: " in page
        caption = "Cross-validation shows no significant gain over a single threshold."
        assert caption in (tmp_path / "r.html").read_text()
    assert "One threshold does as well: add --uncertainty-bins 1 to use it." in page


def test_a_certificate_states_how_many_rows_chose_and_tested_the_boundary(uqcli, data, tmp_path):
    line = ("boundary", data, "--precision", "0.6", "--certify", "0.2", "-o", "b.json", "--json")
    report = uqcli(*line).json
    tested = report["certificate"]["tested_on"]["rows"]
    assert (
        f"{400 - tested} rows were used to choose the boundary, and {tested} to test it." in report["notes"]
    )


def test_the_evaluation_of_two_boundaries_advises_one(uqcli, tmp_path):
    rng = np.random.default_rng(0)

    def write_rows(name, power):
        score = rng.uniform(size=4000).round(3)
        label = rng.uniform(size=4000) < score**power
        pl.DataFrame({"score": score, "uncertainty": score, "label": label}).write_csv(tmp_path / name)

    def advice_for(first, second):
        return uqcli("evaluate", first, second, "here.csv", "--json").json["notes"][-1]

    write_rows("here.csv", 1)
    write_rows("easier.csv", 0.5)
    for name, source, bound in (
        ("a", "here", "0.7"),
        ("b", "here", "0.8"),
        ("c", "easier", "0.9"),
        ("d", "easier", "0.95"),
    ):
        line = ("--precision", bound, "--algorithm", "st", "-q", "-o", f"{name}.json")
        assert uqcli("boundary", f"{source}.csv", *line).code == 0
    assert advice_for("a.json", "c.json") == "Use a.json."
    assert advice_for("c.json", "a.json") == "Use a.json."
    assert advice_for("c.json", "d.json") == "Fit the rule again on current data before you rely on it."
    assert "Use a.json if its additional alerts are worth the work, and otherwise b.json." in advice_for(
        "b.json", "a.json"
    )
    assert advice_for("a.json", "a.json").startswith("The two rules do not differ significantly")
