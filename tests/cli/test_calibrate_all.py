"""Tests of ``uqcli calibrate --method all``: one ranked table, and the best method is saved."""

import pytest

from tests.cli.test_calibrate import frame
from uqcli.calibrate.fit import ROW_FITS, SCORE_FITS

ALL = ("calibrate", "rows.parquet", "--method", "all", "--bootstrap", "0")
BY_SCORE = set(SCORE_FITS) - {"prior"}


@pytest.fixture(autouse=True)
def folder(tmp_path):
    frame().write_parquet(tmp_path / "rows.parquet")
    frame().drop("uncertainty").write_parquet(tmp_path / "certain.parquet")
    frame(seed=2).write_parquet(tmp_path / "new.parquet")
    return tmp_path


def methods(report):
    """List the measured methods in order, and the methods that do not apply."""
    results = report["results"]
    return [result["method"] for result in results if result["metrics"]], {
        result["method"] for result in results if not result["metrics"]
    }


@pytest.mark.thorough
def test_all_methods_are_ranked_by_log_loss_and_the_best_is_saved(uqcli, folder):
    report = uqcli(*ALL, "-o", "all.json", "--json").json
    ranked, not_applicable = methods(report)
    assert (set(ranked), not_applicable) == ({*BY_SCORE, "mist", "surface"}, {"heterogeneous", "prior"})
    losses = [result["metrics"]["after"]["log_loss"] for result in report["results"] if result["metrics"]]
    assert losses == sorted(losses)
    assert report["metrics"] == report["results"][0]["metrics"]
    assert report["parameters"]["method"] == ranked[0]
    line = ("calibrate", "rows.parquet", "--method", ranked[0], "--bootstrap", "0")
    assert uqcli(*line, "-q", "-o", "one.json").code == 0
    assert (folder / "all.json").read_bytes() == (folder / "one.json").read_bytes()
    (note, *_) = report["notes"]
    assert note.startswith(f"{ranked[0]} has the lowest log loss, ")
    assert "helped" not in str(report["notes"])


@pytest.mark.thorough
@pytest.mark.parametrize("columns", ["--features", "--partition"])
def test_features_and_undersampling_make_every_method_applicable(uqcli, folder, columns):
    options = ("--undersampled", "2", columns, "kind", "--min-leaf", "50")
    report = uqcli(*ALL, *options, "--json", "-o", "all.json").json
    ranked, not_applicable = methods(report)
    assert (set(ranked), not_applicable) == ({*SCORE_FITS, *ROW_FITS}, set())
    own_options = () if ranked[0] != "heterogeneous" else options[2:]
    line = ("calibrate", "rows.parquet", "--method", ranked[0], "--undersampled", "2", *own_options)
    assert uqcli(*line, "--bootstrap", "0", "-q", "-o", "one.json").code == 0
    assert (folder / "all.json").read_bytes() == (folder / "one.json").read_bytes()


def test_without_the_uncertainty_mist_does_not_apply(uqcli, folder):
    line = ("calibrate", "-", "--method", "all", "--bootstrap", "0")
    outcome = uqcli(*line, "--json", stdin=(folder / "certain.parquet").read_bytes())
    ranked, not_applicable = methods(outcome.json)
    assert (set(ranked), not_applicable) == (BY_SCORE, {"mist", "surface", "heterogeneous", "prior"})
    assert "mist does not apply: it needs a column 'uncertainty'." in outcome.json["notes"]
    outcome = uqcli("calibrate", "certain.parquet", "--method", "all", "--uncertainty", "u")
    assert outcome.code == 3
    assert "no column 'u'" in outcome.err
    outcome = uqcli("calibrate", "certain.parquet", "--method", "all", "--score", "s")
    assert "no column 's'" in outcome.err


def test_all_methods_are_measured_on_the_test_set(uqcli):
    report = uqcli(*ALL, "--test", "new.parquet", "--json", "-o", "all.json").json
    for result in report["results"][:2]:
        line = ("calibrate", "rows.parquet", "--method", result["method"], "--test", "new.parquet")
        single = uqcli(*line, "--bootstrap", "0", "--json").json
        assert single["metrics"] == result["metrics"]
    assert report["parameters"]["measured"] == "test"
    (evaluated,) = uqcli("evaluate", "all.json", "new.parquet", "--json").json["results"]
    assert evaluated["metrics"]["after"] == report["metrics"]["after"]


@pytest.mark.thorough
def test_the_page_has_one_table_and_every_method_in_the_figure(uqcli, folder):
    assert uqcli(*ALL, "-q", "--report", "r.html", "--report", "r.prom").code == 0
    page = (folder / "r.html").read_text()
    assert "has the lowest log loss" in page
    assert "after calibration: " in page
    for method in {*BY_SCORE, "mist", "surface"} - {"identity"}:
        assert f"<td>{method}</td>" in page
    assert "uqcli_calibrate_after_log_loss{" in (folder / "r.prom").read_text()


@pytest.mark.thorough
def test_checks_use_the_metrics_of_the_best(uqcli, folder):
    assert uqcli(*ALL, "-q", "--fail-if", "after.log_loss > 10").code == 0
    assert uqcli(*ALL, "-q", "-o", "c.json", "--fail-if", "after.auc > 0.5").code == 6
    assert not (folder / "c.json").exists()


def test_one_row_is_too_few_to_rank(uqcli, folder):
    (folder / "one.csv").write_text("score,label\n0.5,1\n")
    outcome = uqcli("calibrate", "one.csv", "--method", "all", "--json")
    assert outcome.code == 0, outcome.err
    assert "One row is too few to measure on: no before and after." in outcome.json["notes"]


def test_several_calibrators_give_one_ranked_table(uqcli, folder):
    for method in ("platt", "isotonic", "histogram"):
        line = ("calibrate", "rows.parquet", "--method", method, "--bootstrap", "0", "-q")
        assert uqcli(*line, "-o", f"{method}.json").code == 0
    line = ("evaluate", "isotonic.json", "platt.json", "histogram.json", "new.parquet")
    report = uqcli(*line, "--json", "--report", "r.md").json
    losses = {result["artifact"]: result["metrics"]["after"]["log_loss"] for result in report["results"]}
    losses["(before)"] = report["results"][0]["metrics"]["before"]["log_loss"]
    page = (folder / "r.md").read_text()
    positions = [page.index(f"\n| {name}") for name in sorted(losses, key=losses.get)]
    assert positions == sorted(positions)
    assert page.count("\n| (before)") == 1


@pytest.mark.thorough
def test_log_losses_that_depend_on_single_rows_are_named(uqcli, folder):
    line = ("calibrate", "rows.parquet", "--method", "all", "--json")
    report = uqcli(*line, "--bootstrap", "20").json
    without_interval = [
        result["method"]
        for result in report["results"]
        if result["metrics"] and result["metrics"]["after"]["log_loss"]["low"] is None
    ]
    assert 0 < len(without_interval) < 6
    assert any(
        note.startswith(f"{', '.join(without_interval)}: single rows decide the log loss")
        for note in report["notes"]
    )
    assert "single rows decide" not in str(uqcli(*line, "--bootstrap", "0").json["notes"])
