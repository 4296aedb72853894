"""Tests of ``uqcli tce --sampling-weight``: metrics by weight, and what is null or refused."""

from pathlib import Path

import numpy as np
import polars as pl
import pytest

ROWS = 1200
FROM_TESTS = (
    *("tce", "tce_q", "tce_v", "within", "within_low", "within_runs", "within_detectable"),
    *("calibration_p", "calibration_p_adjusted"),
)
LINE = ("tce", "rows.parquet", "--sampling-weight")


@pytest.fixture(autouse=True)
def frame(tmp_path, monkeypatch):
    """Write rows of which one negative in ten was kept, and the columns of weights that tests need."""
    random = np.random.default_rng(8)
    score = random.random(ROWS)
    label = random.random(ROWS) < score
    frame = pl.DataFrame(
        {
            "score": score,
            "p_no": 1 - score,
            "p_yes": score,
            "label": label.astype(int),
            "name": np.where(label, "yes", "no"),
            "w": np.where(label, 1.0, 10.0),
            "alike": np.full(ROWS, 2.5),
            "none": np.zeros(ROWS),
            "negative": np.where(score < 0.5, -1.0, 1.0),
            "missing": pl.Series(np.where(score < 0.5, np.nan, 1.0)).fill_nan(None),
            "tiny": np.full(ROWS, 1e-9),
            "text": np.full(ROWS, "heavy"),
            "group": random.choice(["a", "b"], ROWS),
        }
    )
    monkeypatch.chdir(tmp_path)
    frame.write_parquet("rows.parquet")
    return frame


def test_metrics_are_those_of_all_rows_and_tests_are_null_with_a_reason(uqcli, frame):
    report = uqcli(*LINE, "w", "--json").json
    score, label, weight = (frame[name].to_numpy() for name in ("score", "label", "w"))
    metrics = report["metrics"]
    assert metrics["brier"] == pytest.approx(np.average((score - label) ** 2, weights=weight))
    assert metrics["ece"] > 0.1  # weights undo that the scores are those of the rows kept
    assert all(metrics[name] is None for name in FROM_TESTS)
    assert report["not_calibrated"] is None
    assert (report["within"], report["parameters"]["alpha"], report["parameters"]["test"]) == (None,) * 3
    assert all(row["rejected"] is None for row in report["bins"])
    assert [sum(row[key] for row in report["bins"]) for key in ("count", "positives")] == [ROWS, label.sum()]
    assert report["source"]["columns"]["sampling_weight"] == "w"
    assert any("no score is tested" in note for note in report["notes"])
    assert any("come from tests and are null" in note for note in report["notes"])
    shown = uqcli(*LINE, "w").out.decode()
    assert "by sampling weight); no score is tested" in " ".join(shown.split())
    assert uqcli(*LINE, "w", "-q", "--fail-if", "tce > 20").code == 6


def test_equal_weights_give_the_metrics_of_rows_without_weights(uqcli):
    options = ("--binning", "equispaced", "--json")
    found = uqcli(*LINE, "alike", *options).json
    expected = uqcli("tce", "rows.parquet", *options).json
    assert found["metrics"] == {**expected["metrics"], **dict.fromkeys(FROM_TESTS)}
    assert found["bins"] == [{**row, "rejected": None} for row in expected["bins"]]


def test_groups_and_classes_have_the_same_metrics(uqcli, frame):
    report = uqcli(*LINE, "w", "--by", "group", "--json").json
    frame.filter(pl.col("group") == "a").write_parquet("a.parquet")
    alone = uqcli("tce", "a.parquet", "--sampling-weight", "w", "--json").json["metrics"]
    group = report["metrics"]["by_group"]["a"]
    assert {**alone, **group} == alone
    assert (report["worst_group"], report["groups"][0]["tested"]) == (None, False)
    assert any("so is the worst group" in note for note in report["notes"])
    classes = uqcli(*LINE, "w", "--proba", "p_*", "--label", "name", "--json").json
    single = uqcli(*LINE, "w", "--json").json
    assert {**classes["metrics"]["by_class"]["yes"], "dropped_share": 0.0} == single["metrics"]
    assert uqcli(*LINE, "w", "--by", "group").out
    assert uqcli(*LINE, "w", "--proba", "p_*", "--label", "name").out


@pytest.mark.parametrize(
    ("options", "reason"),
    [
        ("--audit group", "tests of many segments at once need rows that count alike"),
        ("--cluster group", "tests over clusters need rows that count alike"),
        ("--bootstrap 20", "resamples draw rows that count alike"),
        ("--alpha 0.1", "rows that count alike, which tests need"),
        ("--test t", "rows that count alike, which tests need"),
        ("--n-min 50", "rows that count alike, which tests need"),
        ("--bin-sizes paper", "rows that count alike, which tests need"),
        ("--binning pava-bc", "rows that count alike, which tests need"),
    ],
)
def test_what_needs_rows_that_count_alike_is_refused(uqcli, options, reason):
    outcome = uqcli(*LINE, "w", *options.split())
    assert outcome.code == 2
    option = options.split()[0]
    told = (f"{option} with --sampling-weight", f"{option} and --sampling-weight cannot be combined")
    assert any(text in outcome.err for text in told)
    assert reason in outcome.err


@pytest.mark.parametrize(
    ("column", "code", "message"),
    [
        ("design", 3, "name one of them with --sampling-weight"),
        ("label", 2, "--label and --sampling-weight both name the column"),
        ("text", 3, "text"),
        ("negative", 3, "1 / the probability of each row"),
        ("missing", 3, "missing"),
        ("none", 3, "every row has weight 0"),
        ("tiny", 3, "every row has weight 0"),
    ],
)
def test_unusable_weights_are_refused(uqcli, column, code, message):
    outcome = uqcli(*LINE, column)
    assert outcome.code == code
    assert message in outcome.err


def test_rows_without_a_weight_can_be_dropped(uqcli, frame):
    report = uqcli(*LINE, "missing", "--on-invalid", "drop", "--json").json
    kept = frame.filter(pl.col("score") >= 0.5).height
    assert (report["source"]["rows"], report["source"]["dropped"]) == (kept, ROWS - kept)


def test_weights_below_1_are_cautioned_of(uqcli):
    report = uqcli(*LINE, "score", "--by", "group", "--json").json
    assert sum("sampling weights are below 1" in text for text in report["cautions"]) == 1


def test_no_byte_depends_on_the_order_of_rows_or_on_files(uqcli, frame):
    options = ("--sampling-weight", "w", "--by", "group", "--report", "report.json", "-q")
    reports = []
    for part in (frame, frame.sample(fraction=1, shuffle=True, seed=2)):
        part[:500].write_parquet("first.parquet")
        part[500:].write_parquet("second.parquet")
        for inputs in (("first.parquet", "second.parquet"), ("second.parquet", "first.parquet")):
            assert uqcli("tce", *inputs, *options).code == 0
            reports.append(Path("report.json").read_bytes())
    assert len(set(reports)) == 1


def test_a_configured_column_is_used(uqcli):
    expected = uqcli(*LINE, "w", "--json").out
    Path("uqcli.toml").write_text('[tce]\nsampling-weight = "w"\nalpha = 0.01\n')
    assert uqcli("tce", "rows.parquet", "--json").out == expected


def test_pages_show_no_interval_and_no_test(uqcli):
    options = (
        "--by",
        "group",
        "-q",
        "--report",
        "page.html",
        "--report",
        "report.md",
        "--plot",
        "figure.svg",
    )
    assert uqcli(*LINE, "w", *options).code == 0
    page = Path("page.html").read_text()
    assert "positive rate by weight" in page
    assert "without intervals" in page
    for absent in ("95 % interval", "95 % CI", "significantly wrong", "Red: predictions rejected"):
        assert absent not in page
