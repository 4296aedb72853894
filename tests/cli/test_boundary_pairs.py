"""Tests of ``uqcli boundary`` with several bounds that hold together."""

import json

import numpy as np
import polars as pl
import pytest

from uqcli.base.wording import percent, percents


@pytest.fixture
def files(tmp_path):
    """Write a calibration set and a test set."""
    for seed, name in enumerate(("fit", "test")):
        random = np.random.default_rng(seed)
        score, uncertainty = random.random(2000).round(3), random.random(2000).round(2)
        label = (random.random(2000) < score ** (1 + uncertainty)).astype(int)
        pl.DataFrame({"score": score, "uncertainty": uncertainty, "label": label}).write_csv(
            tmp_path / f"{name}.csv"
        )


@pytest.mark.covering("thorough", every=100, also=["st"])
@pytest.mark.parametrize("algorithm", ["smooth", "vw-dpmt", "st", "all"])
def test_the_rule_is_that_of_the_precision_if_it_has_the_recall(uqcli, files, tmp_path, algorithm):
    common = ("boundary", "fit.csv", "--precision", "0.8", "--algorithm", algorithm, "-q")
    assert uqcli(*common, "-o", "one.json").code == 0
    one = json.loads((tmp_path / "one.json").read_text())
    recall = one["fit"]["recall"]
    assert uqcli(*common, "--recall", f"{recall - 0.001:.6f}", "-o", "both.json").code == 0
    both = json.loads((tmp_path / "both.json").read_text())
    assert (both["thresholds"], both["fit"]) == (one["thresholds"], one["fit"])
    if algorithm == "all":
        return
    outcome = uqcli(*common, "--recall", f"{recall + 0.001:.6f}", "--json", "-o", "both.json")
    assert outcome.code == 4
    assert outcome.json["metrics"]["recall_at_best_precision"] == recall
    assert (
        f"the highest recall found at precision 80 % is {percents(recall, recall + 0.001)[0]} %"
        in outcome.err
    )


@pytest.mark.parametrize("recall", ["0.7", "0.9"])
def test_of_all_algorithms_only_those_that_apply_miss_the_recall(uqcli, tmp_path, recall):
    """The rule named as the closest is the one of most positives, among those that were found."""
    rows = [("0.9", 1, 5, 0), ("0.6", 1, 2, 0), ("0.6", 0, 2, 1), ("0.3", 1, 3, 1), ("0.3", 0, 9, 1)]
    columns = zip(*(row for row in rows for _ in range(row[2])), strict=True)
    score, label, _, uncertainty = columns
    frame = pl.DataFrame({"score": score, "label": label, "uncertainty": uncertainty})
    frame.write_csv(tmp_path / "few.csv")
    line = ("few.csv", "--precision", "1", "--max-fpr", "0.2", "--recall", recall, "--algorithm", "all")
    outcome = uqcli("boundary", *line, "-o", "r.json", "--json")
    if recall == "0.7":
        assert outcome.code == 0
        assert json.loads((tmp_path / "r.json").read_text())["fit"]["true_positives"] == 7
        return
    assert outcome.code == 4
    assert (
        "the highest recall found with precision >= 100 % and false-positive rate <= 20 % is 70 %"
        in outcome.err
    )


@pytest.mark.parametrize(
    ("precision", "remedy"), [("0.5,0.6", "run the command for each"), ("0,7", "did you mean 0.7?")]
)
def test_a_list_beside_another_bound_says_what_to_do(uqcli, files, precision, remedy):
    outcome = uqcli("boundary", "fit.csv", "--precision", precision, "--max-fpr", "0.1")
    assert outcome.code == 2
    assert remedy in outcome.err


def test_evaluate_tests_both_bounds(uqcli, files, tmp_path):
    assert (
        uqcli("boundary", "fit.csv", "--precision", "0.7", "--recall", "0.3", "-q", "-o", "r.json").code == 0
    )
    frame = pl.read_csv(tmp_path / "test.csv")
    frame.with_columns(pl.col("score") / 2).write_csv(tmp_path / "low.csv")
    report = uqcli("evaluate", "r.json", "low.csv", "--json").json
    assert report["metrics"]["promise_broken"] == 1
    assert any("misses recall >= 30 % (significant)" in note for note in report["notes"])
    kept = uqcli("evaluate", "r.json", "test.csv", "--json").json
    assert kept["metrics"]["promise_broken"] == 0


@pytest.mark.parametrize(
    "more",
    [
        ("--shift", "w.json"),
        ("--review", "5%"),
        ("--by", "label"),
        ("--gain", "1", "--cost", "1"),
        ("--recall", "1.2"),
    ],
)
@pytest.mark.parametrize("second", [("--recall", "0.3"), ("--max-fpr", "0.1")])
def test_impossible_options_are_refused(uqcli, files, second, more):
    outcome = uqcli("boundary", "fit.csv", "--precision", "0.7", *second, *more)
    assert (outcome.code, outcome.out) == (2, b"")


THREE = ("--precision", "0.7", "--max-fpr", "0.1", "--recall", "0.3")


@pytest.mark.parametrize("algorithm", ["smooth", "vw-dpmt", "st", "mist", "all"])
def test_all_bounds_are_met_and_the_tightest_decides(uqcli, files, tmp_path, algorithm):
    """Looser bounds beside the one that decides change nothing but what the rule states."""
    decides = ("boundary", "fit.csv", "--max-fpr", "0.1", "--algorithm", algorithm, "-q")
    assert uqcli(*decides, "-o", "one.json").code == 0
    more = ("--precision", "0.7", "--min-specificity", "0.8", "--max-selected", "80%", "--recall", "0.3")
    outcome = uqcli(*decides, *more, "--json", "-o", "all.json")
    assert outcome.code == 0
    one, several = (json.loads((tmp_path / name).read_text()) for name in ("one.json", "all.json"))
    if algorithm != "all":  # which ranks them by what is expected of the first bound
        assert (several["thresholds"], several["fit"]) == (one["thresholds"], one["fit"])
    also = {"max-fpr": "0.1", "min-specificity": "0.8", "max-selected": "80%", "recall": "0.3"}
    assert several["constraint"] == {"kind": "precision", "value": "0.7", "also": also}
    fit = several["fit"]
    assert fit["selected"] - fit["true_positives"] <= 0.1 * (fit["rows"] - fit["positives"])


def test_an_algorithm_of_one_kind_of_bound_says_so(uqcli, files):
    outcome = uqcli("boundary", "fit.csv", *THREE, "--algorithm", "hr")
    assert (outcome.code, "it works for precision only; use vw-dpmt" in outcome.err) == (2, True)


@pytest.mark.parametrize(
    ("bounds", "is_within", "sentence"),
    [
        (
            ("--precision", "0.7", "--max-fpr", "0.1", "--recall", "0.9"),
            lambda hits, alarms: (hits >= 0.7 * (hits + alarms)) & (alarms <= 0.1 * alarms[-1]),
            "the highest recall found with precision >= 70 % and false-positive rate <= 10 % is {recall}",
        ),
        (
            ("--max-selected", "10%", "--recall", "0.9"),
            lambda hits, alarms: hits + alarms <= 200,
            "the highest recall found with at most 10 % flagged is {recall}",
        ),
        (
            ("--precision", "0.7", "--recall", "0.99"),
            lambda hits, alarms: hits >= 0.7 * (hits + alarms),
            "the highest recall found at precision 70 % is {recall}",
        ),
        (
            ("--max-fpr", "0", "--recall", "0.9"),
            lambda hits, alarms: alarms == 0,
            "the highest recall found with false-positive rate <= 0 % is {recall}",
        ),
        (
            ("--max-fpr", "0", "--max-selected", "0.01%"),
            lambda hits, alarms: np.arange(len(hits)) == 0,
            "the closest has {flagged} of 2,000 rows flagged, above 0.01 %, at recall {recall}",
        ),
    ],
)
def test_what_cannot_be_met_names_the_bound_and_by_how_much(
    uqcli, files, tmp_path, bounds, is_within, sentence
):
    """The figures are those of a loop over all thresholds."""
    rows = pl.read_csv(tmp_path / "fit.csv").sort("score", descending=True)
    last = np.flatnonzero(np.diff(rows["score"].to_numpy(), append=-1.0))  # no threshold between equal scores
    hits, flagged = rows["label"].cum_sum().to_numpy()[last], last + 1
    best = max(np.flatnonzero(is_within(hits, flagged - hits)), key=lambda row: hits[row])
    sentence = sentence.format(recall=percent(hits[best] / hits[-1]), flagged=flagged[best])
    grid = ("--score-bins", "all", "--uncertainty-bins", "1")
    outcome = uqcli("boundary", "fit.csv", *bounds, *grid, "--algorithm", "st", "--json")
    assert outcome.code == 4
    assert sentence in outcome.err
    assert outcome.json["feasible"] is False
    assert any(sentence in note for note in outcome.json["notes"])


def test_a_margin_lowers_the_highest_recall_that_is_named(uqcli, files):
    def highest(*margin):
        outcome = uqcli("boundary", "fit.csv", "--precision", "0.7", "--recall", "0.99", *margin, "--json")
        recall = outcome.json["metrics"]["recall_at_best_precision"]
        assert f"the highest recall found at precision 70 % is {percent(recall)}" in outcome.err
        return recall

    assert highest() - 0.1 < highest("--margin", "1") < highest()


@pytest.mark.covering("thorough", every=4)
@pytest.mark.parametrize(
    "more",
    [
        (),
        ("--cluster", "c"),
        ("--cluster", "c", "--max-fpr", "0.5"),
        ("--max-selected", "90%"),
        ("--max-fpr", "0.5"),
        ("--algorithm", "vw-dpmt"),
        ("--by", "g"),
        ("--by", "g", "--bound", "each"),
        ("--review", "5%"),
        ("--cluster", "c", "--miss", "0.3"),
        ("--frontier", "f.csv"),
        ("--grid", "grid.json"),
    ],
    ids=" ".join,
)
def test_the_caution_of_a_precision_names_options_that_the_command_takes(uqcli, files, tmp_path, more):
    groups = [pl.int_range(pl.len()).alias("c"), pl.int_range(pl.len()).mod(2).cast(pl.String).alias("g")]
    pl.read_csv(tmp_path / "fit.csv").with_columns(groups).write_csv(tmp_path / "rows.csv")
    assert uqcli("bin", "rows.csv", "-q", "-o", "grid.json").code == 0
    line = ("boundary", *(() if "--grid" in more else ("rows.csv",)), "--precision", "0.7", *more)
    notes = [
        note for note in uqcli(*line, "--json").json["notes"] if "precision" in note and " below " in note
    ]
    assert notes
    for option, value in (("--margin", "1"), ("--certify", "0.1")):
        is_taken = uqcli(*line, option, value).code != 2
        assert (f"{option} {value}" in notes[0]) == is_taken


def test_a_share_just_above_its_limit_is_told_from_it(uqcli, tmp_path):
    frame = pl.DataFrame({"score": [0.9] * 201 + [0.1] * 299, "label": [1] * 190 + [0] * 310})
    frame.write_csv(tmp_path / "d.csv")
    outcome = uqcli("boundary", "d.csv", "--precision", "0.7", "--max-selected", "40%")
    assert outcome.code == 4
    assert "the closest has 201 of 500 rows flagged, above 40 %, at recall 100 %" in outcome.err


def test_the_closest_precision_within_the_other_bounds_is_named(uqcli, tmp_path):
    frame = pl.DataFrame(
        {"score": [0.9] * 10 + [0.5] * 100, "label": [1] * 5 + [0] * 5 + [1] * 80 + [0] * 20}
    )
    frame.write_csv(tmp_path / "d.csv")
    outcome = uqcli("boundary", "d.csv", "--precision", "0.7", "--max-selected", "50", "--algorithm", "st")
    assert outcome.code == 4
    text = (
        "no boundary has precision >= 70 % and at most 50 flagged; the closest has precision 50 % "
        "(5 of 10), below 70 %"
    )
    assert f"{text}, at recall 5.9 % (10 flagged)" in outcome.err


@pytest.mark.thorough
def test_every_command_takes_a_rule_of_several_bounds(uqcli, files, tmp_path):
    assert uqcli("boundary", "fit.csv", *THREE, "-q", "-o", "r.json", "--report", "r.html").code == 0
    assert b"precision >= 70 %, false-positive rate <= 10 % and recall >= 30 %" in uqcli("show", "r.json").out
    assert uqcli("apply", "r.json", "test.csv", "-o", "a.csv").code == 0
    assert uqcli("export", "r.json", "--to", "sql").code == 0
    watched = uqcli("watch", "r.json", "test.csv", "--json").json
    assert set(watched["metrics"]["promises"]) == {"precision", "fpr", "recall"}
    kept = uqcli("evaluate", "r.json", "test.csv", "--json", "--report", "e.html").json
    assert kept["metrics"]["promise_broken"] == 0
    pl.read_csv(tmp_path / "test.csv").with_columns(label=1 - pl.col("label")).write_csv(
        tmp_path / "wrong.csv"
    )
    report = uqcli("evaluate", "r.json", "wrong.csv", "--json").json
    assert report["metrics"]["promise_broken"] == 1
    for missed in ("precision >= 70 %", "false-positive rate <= 10 %", "recall >= 30 %"):
        assert any(f"misses {missed} (significant)" in note for note in report["notes"])


def test_certified_bounds_are_stated_and_tested_together(uqcli, files, tmp_path):
    bounds = ("--max-fpr", "0.15", "--min-specificity", "0.8", "--recall", "0.2")
    outcome = uqcli("boundary", "fit.csv", *bounds, "--certify", "0.1", "-o", "c.json", "--json")
    assert outcome.code == 0
    certificate = json.loads((tmp_path / "c.json").read_text())["certificate"]
    assert (certificate["fpr"], certificate["specificity"], certificate["recall"]) == (0.15, 0.8, 0.2)
    assert certificate["p_value"] <= 0.1
    report = uqcli("evaluate", "c.json", "test.csv", "--json").json
    assert report["metrics"]["promise_broken"] == 0
    watched = uqcli("watch", "c.json", "test.csv", "--json").json
    assert [promise["origin"] for promise in watched["promises"]] == ["certified"] * 3


def test_a_number_of_alerts_has_no_certificate(uqcli, files):
    outcome = uqcli("boundary", "fit.csv", "--recall", "0.2", "--max-selected", "30%", "--certify", "0.1")
    assert (outcome.code, "--certify with --max-selected" in outcome.err) == (2, True)


@pytest.mark.parametrize(
    "changed",
    [
        {"kind": "recall", "value": "0.3", "also": {"precision": "0.7", "max-fpr": "0.1"}},
        {"kind": "precision", "value": "0.7", "also": {"precision": "0.8"}},
        {"kind": "recall", "value": "0.7", "recall": "0.8"},
    ],
)
def test_bounds_of_a_file_that_are_out_of_order_or_given_twice_are_damage(uqcli, files, tmp_path, changed):
    assert uqcli("boundary", "fit.csv", *THREE, "-q", "-o", "r.json").code == 0
    saved = json.loads((tmp_path / "r.json").read_text())
    saved["constraint"] = changed
    (tmp_path / "r.json").write_text(json.dumps(saved))
    outcome = uqcli("show", "r.json")
    assert (outcome.code, "its bounds are not in order" in outcome.err) == (5, True)


def test_a_boundary_that_only_the_exact_optimum_finds_is_named(uqcli, tmp_path):
    """The smoothed rates rank the cells in another order than those that are within the bounds here."""
    cells = [
        [(7, 7), (8, 6), (2, 2), (3, 0)],
        [(8, 6), (8, 0), (4, 3), (6, 6)],
        [(4, 1), (2, 2), (0, 0), (1, 1)],
    ]
    rows = [
        (score / 4, uncertainty, int(row < positives))
        for uncertainty, counts in enumerate(cells)
        for score, (size, positives) in enumerate(counts)
        for row in range(size)
    ]
    names = ["score", "uncertainty", "label"]
    pl.DataFrame(rows, schema=names, orient="row").write_csv(tmp_path / "d.csv")
    grid = ("--uncertainty-bins", "3", "--score-bins", "all", "--binning", "equi-span")
    common = ("boundary", "d.csv", "--precision", "0.8", "--max-selected", "40%", *grid)
    outcome = uqcli(*common, "--algorithm", "smooth")
    assert outcome.code == 4
    assert "smooth finds no boundary with precision >= 80 % and at most 40 % flagged" in outcome.err
    assert uqcli(*common, "--algorithm", "vw-dpmt").code == 0
