"""Tests of certificates of each promise: their reports, their files, and what contradicts them."""

import json

import numpy as np
import polars as pl
import pytest


def rows(seed, size=4000):
    """Draw rows of three regions whose positive rate rises with the score."""
    random = np.random.default_rng(seed)
    score, uncertainty = random.random(size).round(3), random.random(size).round(2)
    label = random.random(size) < score ** (1.5 + uncertainty)
    region = np.array(["north", "south", "small"])[
        np.searchsorted([size // 2, size - 100], np.arange(size), side="right")
    ]
    return pl.DataFrame(
        {"score": score, "uncertainty": uncertainty, "label": label.astype(int), "region": region}
    )


@pytest.fixture
def files(tmp_path):
    """Write a calibration set, a test set, and rows whose promises are broken."""
    rows(1).write_csv(tmp_path / "fit.csv")
    rows(2).write_csv(tmp_path / "test.csv")
    fewer = (pl.int_range(pl.len()) % 3 > 0) | (pl.col("score") < 0.4)
    worse = rows(3).with_columns(label=pl.when(fewer).then(1 - pl.col("label")).otherwise("label"))
    worse.write_csv(tmp_path / "worse.csv")


PROMISES = {
    "precision": (("--precision", "0.6"), {"precision": 0.6}, "precision >= 60 %"),
    "recall": (("--recall", "0.6"), {"recall": 0.6}, "recall >= 60 %"),
    "fpr": (("--max-fpr", "0.1"), {"fpr": 0.1}, "false-positive rate <= 10 %"),
    "specificity": (("--min-specificity", "0.9"), {"specificity": 0.9}, "specificity >= 90 %"),
    "pair": (
        ("--precision", "0.6", "--recall", "0.3"),
        {"precision": 0.6, "recall": 0.3},
        "precision >= 60 %",
    ),
}


@pytest.mark.thorough
@pytest.mark.parametrize("name", PROMISES)
def test_each_promise_is_certified_saved_shown_and_tested(uqcli, files, tmp_path, name):
    options, bounds, text = PROMISES[name]
    report = uqcli("boundary", "fit.csv", *options, "--certify", "0.1", "-o", "rule.json", "--json").json
    certificate = json.loads((tmp_path / "rule.json").read_text())["certificate"]
    assert certificate == report["certificate"]
    rates = ("precision", "recall", "fpr", "specificity")
    assert {key: certificate[key] for key in rates if key in certificate} == bounds
    assert certificate["p_value"] <= certificate["delta"] == 0.1
    tested = certificate["tested_on"]
    assert tested["rows"] == 3200
    assert 0 < tested["true_positives"] <= min(tested["selected"], tested["positives"])
    assert any(note.startswith("Certified: ") for note in report["notes"])
    shown = uqcli("show", "rule.json", "--verbose").out.decode()
    assert "at a risk of 10 %" in shown
    assert "rows set aside" in " ".join(shown.split())
    kept = uqcli("evaluate", "rule.json", "test.csv", "--json").json
    assert kept["metrics"]["promise_broken"] == 0
    assert any(f"certified {text}" in note for note in kept["notes"])
    broken = uqcli("evaluate", "rule.json", "worse.csv", "--json").json
    assert broken["metrics"]["promise_broken"] == 1
    assert any("one of the 10 % that fail" in note for note in broken["notes"])


@pytest.mark.thorough
def test_recall_costs_precision_and_says_so(uqcli, files):
    report = uqcli("boundary", "fit.csv", "--recall", "0.6", "--certify", "0.1", "--json").json
    assert any("Without the guarantee, a rule of this kind has about" in note for note in report["notes"])


def test_a_certificate_that_costs_nothing_names_no_cost(uqcli, tmp_path):
    rows(12, 300).write_csv(tmp_path / "few.csv")
    report = uqcli("boundary", "few.csv", "--precision", "0.6", "--certify", "0.3", "--json").json
    assert not any("Without the guarantee" in note for note in report["notes"])


def test_the_cleared_zone_has_half_of_the_risk(uqcli, files, tmp_path):
    options = ("--precision", "0.6", "--miss", "0.4", "--certify", "0.1", "-o", "rule.json", "--json")
    report = uqcli("boundary", "fit.csv", *options).json
    saved = json.loads((tmp_path / "rule.json").read_text())
    certificate = saved["certificate"]
    assert certificate["p_value"] <= 0.05
    assert certificate["cleared"]["p_value"] <= 0.05
    assert certificate["cleared"]["miss"] == 0.4
    assert any("The risk of 10 % is divided: 5 % for each part." in note for note in report["notes"])
    title = "precision >= 60 %, at most 40 % of positives missed, certified at a risk of 10 %"
    assert title in " ".join(uqcli("show", "rule.json").out.decode().split())
    promise = "precision is at least 60 % and at most 40 % of positives are missed on new data"
    assert promise in " ".join(uqcli("boundary", "fit.csv", *options[:-3]).out.decode().split())
    fit = saved["fit"]
    assert fit["caught"] >= 0.6 * fit["positives"]
    frame = pl.read_csv(tmp_path / "fit.csv")
    uqcli("apply", "rule.json", "fit.csv", "-q", "-o", "decided.csv")
    zones = pl.read_csv(tmp_path / "decided.csv")["zone"]
    assert int((zones == "review").sum()) == fit["reviewed"]
    assert int(frame["label"].filter(zones != "clear").sum()) == fit["caught"]
    kept = uqcli("evaluate", "rule.json", "test.csv", "--json").json
    assert kept["metrics"]["promise_broken"] == 0
    broken = uqcli("evaluate", "rule.json", "worse.csv", "--json").json
    assert broken["metrics"]["promise_broken"] == 1
    flagged = uqcli("boundary", "fit.csv", "--precision", "0.6", "--certify", "0.05", "-o", "alone.json")
    assert flagged.code == 0
    assert json.loads((tmp_path / "alone.json").read_text())["thresholds"] == saved["thresholds"]


def test_a_review_budget_leaves_the_flagged_zone_its_whole_risk(uqcli, files, tmp_path):
    options = ("--precision", "0.6", "--certify", "0.1", "-q", "-o")
    assert uqcli("boundary", "fit.csv", *options, "alone.json").code == 0
    assert uqcli("boundary", "fit.csv", "--review", "5%", *options, "rule.json").code == 0
    alone, rule = (json.loads((tmp_path / name).read_text()) for name in ("alone.json", "rule.json"))
    assert rule["certificate"] == alone["certificate"]
    assert rule["thresholds"] == alone["thresholds"]
    assert 0 < rule["fit"]["reviewed"] <= 200


def test_groups_share_the_risk_and_each_is_certified_on_its_rows_alone(uqcli, files, tmp_path):
    options = ("--precision", "0.6", "--certify")
    grouped = ("--by", "region", "--bound", "each", "-o", "rule.json", "--json")
    report = uqcli("boundary", "fit.csv", *options, "0.2", *grouped).json
    saved = json.loads((tmp_path / "rule.json").read_text())
    assert "certificate" not in saved
    assert "certificate" not in report
    for name in ("north", "south"):
        frame = pl.read_csv(tmp_path / "fit.csv").filter(pl.col("region") == name)
        frame.write_csv(tmp_path / "one.csv")
        assert uqcli("boundary", "one.csv", *options, "0.1", "-q", "-o", "one.json").code == 0
        alone, group = json.loads((tmp_path / "one.json").read_text()), saved["groups"][name]
        assert group["certificate"] == alone["certificate"] == report["groups"][name]["certificate"]
        assert group["thresholds"] == alone["thresholds"]
    assert any("on new data in each of 2 groups (20 % risk" in note for note in report["notes"])
    assert any("which is not certified: small (100)" in note for note in report["notes"])
    assert "at a risk of 20 %" in uqcli("show", "rule.json").out.decode()
    assert uqcli("evaluate", "rule.json", "test.csv", "--json").json["metrics"]["promise_broken"] == 0


def test_a_group_without_a_certificate_flags_nothing(uqcli, files, tmp_path):
    frame = pl.read_csv(tmp_path / "fit.csv")
    noise = (pl.col("region") == "south") & (pl.int_range(pl.len()) % 2 == 0)
    frame.with_columns(label=pl.when(noise).then(0).otherwise("label")).write_csv(tmp_path / "half.csv")
    options = ("--precision", "0.6", "--certify", "0.1", "--by", "region", "--bound", "each")
    report = uqcli("boundary", "half.csv", *options, "-o", "rule.json", "--json").json
    groups = json.loads((tmp_path / "rule.json").read_text())["groups"]
    assert groups["south"]["thresholds"] == [None]
    assert "certificate" not in groups["south"]
    assert report["metrics"]["groups_without_rule"] == 1
    assert any(
        "the rule flags nothing in south, since no rule is certified there" in note
        for note in report["notes"]
    )


@pytest.mark.thorough
def test_nothing_is_promised_in_a_group_without_a_certificate(uqcli, files, tmp_path):
    rare = (pl.col("region") == "south") & (pl.int_range(pl.len()) % 200 > 0)
    for name in ("fit", "test"):
        frame = pl.read_csv(tmp_path / f"{name}.csv")
        frame.with_columns(label=pl.when(rare).then(0).otherwise("label")).write_csv(
            tmp_path / f"r{name}.csv"
        )
    options = ("--recall", "0.6", "--certify", "0.1", "--by", "region", "--bound", "each")
    report = uqcli("boundary", "rfit.csv", *options, "-o", "rule.json", "--json").json
    groups = json.loads((tmp_path / "rule.json").read_text())["groups"]
    assert [name for name in groups if "certificate" in groups[name]] == ["north"]
    assert "The target holds in each of these groups that has a rule." in report["notes"]
    assert any("on new data in 1 of 2 groups (10 % risk" in note for note in report["notes"])
    uqcli("show", "rule.json", "--report", "page.html", "-q")
    assert "recall &gt;= 0.6 on new rows in 1 of 2 groups" in (tmp_path / "page.html").read_text()
    evaluated = uqcli("evaluate", "rule.json", "rtest.csv", "--json").json
    assert evaluated["metrics"]["promise_broken"] == 0
    assert any("not tested: (any other) (100), south" in note for note in evaluated["notes"])


@pytest.mark.parametrize(
    ("options", "found"),
    [
        (("--precision", "0.99"), "no boundary can be certified for precision >= 99 % at a risk of 10 %"),
        (("--precision", "1"), "no number of rows can show such a rate"),
        (("--max-fpr", "0"), "no number of rows can show such a rate"),
        (("--min-specificity", "1"), "no number of rows can show such a rate"),
        (("--precision", "0.6", "--recall", "0.95"), "precision >= 60 % and recall >= 95 %"),
        (("--precision", "0.6", "--miss", "0"), "at most 0 % of positives missed at a risk of 5 %"),
        (("--precision", "0.99", "--by", "region", "--bound", "each"), "no boundary of a group"),
    ],
)
def test_what_cannot_be_certified_is_exit_4(uqcli, files, tmp_path, options, found):
    outcome = uqcli("boundary", "fit.csv", *options, "--certify", "0.1", "-o", "rule.json")
    assert outcome.code == 4
    assert found in outcome.err
    assert not (tmp_path / "rule.json").exists()


@pytest.mark.parametrize(
    ("options", "found"),
    [
        (("--max-selected", "5%"), "--certify with --max-selected"),
        (("--gain", "2", "--cost", "1"), "--certify with --gain and --cost"),
        (("--precision", "0.6", "--by", "region"), "--certify and --bound overall cannot be combined"),
        (("--precision", "0.6", "--margin", "1"), "--margin and --certify cannot be combined"),
    ],
)
def test_other_bounds_have_no_certificate(uqcli, files, options, found):
    outcome = uqcli("boundary", "fit.csv", *options, "--certify", "0.1")
    assert outcome.code == 2
    assert found in outcome.err


@pytest.mark.covering("thorough", every=3)
@pytest.mark.parametrize(
    "edit",
    [
        {"p_value": 0.5},
        {"precision": None},
        {"tested_on": {"rows": 10, "positives": 2, "selected": 4, "true_positives": 5}},
        {"cleared": {"miss": 0.1, "p_value": 0.2, "caught": 2000}},
        {"tested_on": {"rows": 3200, "positives": 1000, "selected": 0, "true_positives": 0}},
        {"precision": 0.9},
        {"recall": 0.3},
    ],
)
def test_a_certificate_that_contradicts_itself_is_refused(uqcli, files, tmp_path, edit):
    uqcli("boundary", "fit.csv", "--precision", "0.6", "--certify", "0.1", "-q", "-o", "rule.json")
    saved = json.loads((tmp_path / "rule.json").read_text())
    certificate = {**saved["certificate"], **edit}
    saved["certificate"] = {key: value for key, value in certificate.items() if value is not None}
    del saved["digest"]  # otherwise the edit itself is found
    saved["uqcli_version"] = "0.2.0"
    (tmp_path / "edited.json").write_text(json.dumps(saved))
    outcome = uqcli("show", "edited.json")
    assert outcome.code == 5
    assert "certificate" in outcome.err


@pytest.mark.parametrize("more", [(), ("--review", "10%"), ("--miss", "0.4")])
def test_a_single_threshold_is_certified_as_the_grid_of_one_bin(uqcli, files, tmp_path, more):
    options = ("--precision", "0.6", "--certify", "0.1", *more, "-q", "-o")
    assert uqcli("boundary", "fit.csv", "--algorithm", "st", *options, "st.json").code == 0
    assert uqcli("boundary", "fit.csv", "--uncertainty-bins", "1", *options, "one.json").code == 0
    single, one = (json.loads((tmp_path / f"{name}.json").read_text()) for name in ("st", "one"))
    assert (single["algorithm"], one["algorithm"]) == ("st", "smooth")
    assert (single["thresholds"], single["certificate"]) == (one["thresholds"], one["certificate"])
    assert len(single["thresholds"]) == 1
    assert uqcli("evaluate", "st.json", "fit.csv").code == 0
