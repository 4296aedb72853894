"""``uqcli calibrate --method all``: one ranked table, the best written as if it had been asked for alone."""

import pytest

from tests.cli.test_calibrate import frame
from uqcli.choices import CalibrationMethod

ALL = ("calibrate", "rows.parquet", "--method", "all", "--bootstrap", "0")
BY_SCORE = {"platt", "temperature", "beta", "isotonic", "histogram"}


@pytest.fixture(autouse=True)
def rows(tmp_path):
    frame().write_parquet(tmp_path / "rows.parquet")
    frame().drop("uncertainty").write_parquet(tmp_path / "certain.parquet")
    frame(seed=2).write_parquet(tmp_path / "new.parquet")
    return tmp_path


def methods(report):
    """Names of the methods that were measured, in order, and of those that do not apply."""
    results = report["results"]
    return [e["method"] for e in results if e["metrics"]], {e["method"] for e in results if not e["metrics"]}


def test_all_methods_are_ranked_by_log_loss_and_the_best_is_written(uqcli, rows):
    report = uqcli(*ALL, "-o", "all.json", "--json").json
    ranked, others = methods(report)
    assert (set(ranked), others) == ({*BY_SCORE, "mist"}, {"heterogeneous", "prior"})
    losses = [each["metrics"]["after"]["log_loss"] for each in report["results"] if each["metrics"]]
    assert losses == sorted(losses)
    assert report["metrics"] == report["results"][0]["metrics"]
    assert report["parameters"]["method"] == ranked[0]
    alone = ("calibrate", "rows.parquet", "--method", ranked[0], "--bootstrap", "0")
    assert uqcli(*alone, "-q", "-o", "one.json").code == 0
    assert (rows / "all.json").read_bytes() == (rows / "one.json").read_bytes()
    (note, *_) = report["notes"]
    assert note.startswith(f"{ranked[0]} has the lowest log loss: ")
    assert "helped" not in str(report["notes"])


@pytest.mark.parametrize("columns", ["--features", "--partition"])
def test_parts_and_undersampling_let_every_method_apply(uqcli, rows, columns):
    more = ("--undersampled", "2", columns, "kind", "--min-leaf", "50")
    report = uqcli(*ALL, *more, "--json", "-o", "all.json").json
    ranked, others = methods(report)
    assert (set(ranked), others) == (set(CalibrationMethod), set())
    own = () if ranked[0] != "heterogeneous" else more[2:]
    alone = ("calibrate", "rows.parquet", "--method", ranked[0], "--undersampled", "2", *own)
    assert uqcli(*alone, "--bootstrap", "0", "-q", "-o", "one.json").code == 0
    assert (rows / "all.json").read_bytes() == (rows / "one.json").read_bytes()


def test_without_the_uncertainty_mist_does_not_apply(uqcli, rows):
    line = ("calibrate", "-", "--method", "all", "--bootstrap", "0")
    outcome = uqcli(*line, "--json", stdin=(rows / "certain.parquet").read_bytes())
    ranked, others = methods(outcome.json)
    assert (set(ranked), others) == (BY_SCORE, {"mist", "heterogeneous", "prior"})
    assert "mist does not apply: it needs a column 'uncertainty'." in outcome.json["notes"]
    outcome = uqcli("calibrate", "certain.parquet", "--method", "all", "--uncertainty", "u")
    assert outcome.code == 3
    assert "no column 'u'" in outcome.err
    outcome = uqcli("calibrate", "certain.parquet", "--method", "all", "--score", "s")
    assert "no column 's'" in outcome.err


def test_all_are_measured_on_test_rows(uqcli):
    report = uqcli(*ALL, "--test", "new.parquet", "--json", "-o", "all.json").json
    for each in report["results"][:2]:
        line = ("calibrate", "rows.parquet", "--method", each["method"], "--test", "new.parquet")
        alone = uqcli(*line, "--bootstrap", "0", "--json").json
        assert alone["metrics"] == each["metrics"]
    assert report["parameters"]["measured"] == "test"
    (evaluated,) = uqcli("evaluate", "all.json", "new.parquet", "--json").json["results"]
    assert evaluated["metrics"]["after"] == report["metrics"]["after"]


def test_the_page_has_one_table_and_every_method_in_the_figure(uqcli, rows):
    assert uqcli(*ALL, "-q", "--report", "r.html", "--report", "r.prom").code == 0
    page = (rows / "r.html").read_text()
    assert "has the lowest log loss" in page
    assert "after calibration: " in page
    for method in (*BY_SCORE, "mist"):
        assert f"<td>{method}</td>" in page
    assert "uqcli_calibrate_after_log_loss " in (rows / "r.prom").read_text()


def test_gates_ask_for_the_best(uqcli, rows):
    assert uqcli(*ALL, "-q", "--fail-if", "after.log_loss > 10").code == 0
    assert uqcli(*ALL, "-q", "-o", "c.json", "--fail-if", "after.auc > 0.5").code == 6
    assert not (rows / "c.json").exists()


def test_one_row_is_too_few_to_rank(uqcli, rows):
    (rows / "one.csv").write_text("score,label\n0.5,1\n")
    outcome = uqcli("calibrate", "one.csv", "--method", "all", "--json")
    assert outcome.code == 0, outcome.err
    assert "One row is too few to measure on: no before and after." in outcome.json["notes"]


@pytest.mark.usefixtures("undrawn")
def test_several_calibrators_are_one_ranked_table(uqcli, rows):
    for method in ("platt", "isotonic", "histogram"):
        line = ("calibrate", "rows.parquet", "--method", method, "--bootstrap", "0", "-q")
        assert uqcli(*line, "-o", f"{method}.json").code == 0
    line = ("evaluate", "isotonic.json", "platt.json", "histogram.json", "new.parquet")
    report = uqcli(*line, "--json", "--report", "r.md").json
    losses = {e["artifact"]: e["metrics"]["after"]["log_loss"] for e in report["results"]}
    losses["(before)"] = report["results"][0]["metrics"]["before"]["log_loss"]
    page = (rows / "r.md").read_text()
    places = [page.index(f"\n| {name}") for name in sorted(losses, key=losses.get)]
    assert places == sorted(places)
    assert page.count("\n| (before)") == 1


def test_log_losses_that_single_rows_decide_are_named(uqcli, rows):
    line = ("calibrate", "rows.parquet", "--method", "all", "--json")
    report = uqcli(*line, "--bootstrap", "20").json
    bare = [
        each["method"]
        for each in report["results"]
        if each["metrics"] and each["metrics"]["after"]["log_loss"]["low"] is None
    ]
    assert 0 < len(bare) < 6
    assert any(
        note.startswith(f"{', '.join(bare)}: single rows decide the log loss") for note in report["notes"]
    )
    assert "single rows decide" not in str(uqcli(*line, "--bootstrap", "0").json["notes"])
