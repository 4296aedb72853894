"""Tests of ``boundary --certify --pilot``: older rows choose, all others test, and no row does both."""

import json
from fractions import Fraction

import numpy as np
import polars as pl
import pytest
from scipy.stats import binomtest

import uqcli as api
from tests.oracles.certificate import last_certified
from tests.oracles.single_precision import edge
from uqcli.base.counts import LOWEST, CellRow, Cells
from uqcli.boundary.search.smoothing import nested_boundaries

CERTIFY = ("--precision", "0.6", "--certify", "0.1")


def rows(seed, size=2000, digits=9):
    """Draw rows with an id, a group and a customer, whose positive rate rises with the score."""
    random = np.random.default_rng(seed)
    score = random.random(size).round(digits)
    return pl.DataFrame(
        {
            "id": np.arange(size) + 100_000 * seed,
            "score": score,
            "label": (random.random(size) < score**2).astype(int),
            "region": np.array(["north", "south"])[random.integers(0, 2, size)],
            "customer": [f"c{seed}-{number}" for number in random.integers(0, size // 2, size)],
        }
    )


@pytest.fixture
def files(tmp_path):
    """Write older rows, new ones, and some columns of both."""
    rows(1).write_csv(tmp_path / "older.csv")
    rows(2, 1500).write_csv(tmp_path / "new.csv")


def test_the_pilot_chooses_and_all_rows_test(uqcli, files, tmp_path):
    line = ("boundary", "new.csv", *CERTIFY, "--pilot", "older.csv")
    report = uqcli(*line, "-o", "rule.json", "--json").json
    certificate = json.loads((tmp_path / "rule.json").read_text())["certificate"]
    older = pl.read_csv(tmp_path / "older.csv")
    assert certificate["pilot"] == {"rows": 2000, "positives": older["label"].sum()}
    new = pl.read_csv(tmp_path / "new.csv")
    (threshold,) = report["thresholds"]
    flagged = new.filter(pl.col("score") >= threshold)
    assert certificate["tested_on"] == {
        "rows": 1500,
        "positives": new["label"].sum(),
        "selected": len(flagged),
        "true_positives": flagged["label"].sum(),
    }
    scores = older["score"].to_list()
    assert threshold in {edge(score, scores) for score in scores}  # an edge of the pilot
    assert any(
        "The 2,000 rows of --pilot were used to choose the boundary" in note for note in report["notes"]
    )
    shown = " ".join(uqcli("show", "rule.json").out.decode().split())
    assert "(2,000 others chose, 1,500 tested)" in shown
    assert "among all 1,500 rows" in " ".join(uqcli("show", "rule.json", "--verbose").out.decode().split())
    assert uqcli("boundary", "older.csv", *CERTIFY, "-o", "split.json", "-q").code == 0
    alone = " ".join(uqcli("show", "split.json", "--verbose").out.decode().split())
    assert "1,600 rows set aside" in alone
    # tested at the risk of the certificate: kept on the pilot, broken if every second label is 0
    kept = uqcli("evaluate", "rule.json", "older.csv", "--json").json["metrics"]
    above = older.filter(pl.col("score") >= threshold)["label"]
    assert binomtest(above.sum(), len(above), 0.6, "less").pvalue > 0.1
    assert (kept["true_positives"], kept["promise_broken"]) == (above.sum(), 0)
    older.with_columns(label=pl.col("label") * (pl.col("id") % 2)).write_csv(tmp_path / "worse.csv")
    broken = uqcli("evaluate", "rule.json", "worse.csv", "--json").json["metrics"]
    assert broken["promise_broken"] == 1


def test_the_rule_is_that_of_a_loop_over_the_boundaries_of_the_pilot(uqcli, files, tmp_path):
    line = ("boundary", "new.csv", *CERTIFY, "--score-bins", "20", "--uncertainty-bins", "1")
    saved = json.loads(uqcli(*line, "--pilot", "older.csv", "--json").out)
    older, new = (pl.read_csv(tmp_path / name).sort("score") for name in ("older.csv", "new.csv"))
    ranked = counted(older, edges_of(older, 10))
    nested = nested_boundaries(ranked)
    tested = nested.counts_of(counted(new, ranked.rows[0].lower[1:]))
    expected = np.cumsum(ranked.flat[0][nested.order] * nested.rate)
    last, p_value = last_certified(
        [("precision", Fraction(3, 5))],
        Fraction(1, 10),
        list(zip(expected.tolist(), nested.selected.tolist(), strict=True)),
        list(zip(*(column.tolist() for column in tested), strict=True)),
    )
    assert saved["certificate"]["p_value"] == pytest.approx(float(p_value), rel=1e-9)
    assert saved["certificate"]["tested_on"]["selected"] == tested[1][last]


def edges_of(frame, parts):
    """Return the values at equal ranks among all rows, and among positive ones (``--binning shared``)."""
    every, positive = (part["score"].to_numpy() for part in (frame, frame.filter(pl.col("label") == 1)))
    ranks = np.arange(1, parts)
    return np.sort(
        np.concatenate([column[ranks * len(column) // parts] for column in (every, positive)]), kind="stable"
    )


def counted(frame, edges):
    """Count the rows of one uncertainty bin under given edges."""
    index = np.searchsorted(edges, frame["score"].to_numpy(), side="right")
    count = np.bincount(index, minlength=len(edges) + 1)
    positives = np.bincount(index, weights=frame["label"].to_numpy(), minlength=len(edges) + 1)
    row = CellRow(lower=np.append(LOWEST, edges), count=count, positives=positives.astype(np.int64))
    return Cells(uncertainty_edges=np.empty(0), rows=(row,))


def test_python_takes_the_pilot_as_columns(tmp_path, files, uqcli):
    uqcli("boundary", "new.csv", *CERTIFY, "--pilot", "older.csv", "-q", "-o", "rule.json")
    new, older = (pl.read_csv(tmp_path / name) for name in ("new.csv", "older.csv"))
    pilot = older.select("score", "label")
    found = api.find_boundary(new["score"], new["label"], precision="0.6", certify="0.1", pilot=pilot)
    saved = json.loads((tmp_path / "rule.json").read_text())
    assert list(found.thresholds) == saved["thresholds"]
    assert found.artifact.certificate.pilot.rows == 2000
    with pytest.raises(api.DataError, match=r"all rows of INPUT are also in pilot"):
        api.find_boundary(older["score"], older["label"], precision="0.6", certify="0.1", pilot=pilot)


@pytest.mark.parametrize(
    ("columns", "shared", "code"),
    [
        (["id", "score", "label", "region"], 30, 3),
        (["id", "score", "label", "region"], 10, 0),
        (["score", "label"], 30, 3),
        (["score", "label"], 10, 0),
        (["label", "score"], 2000, 3),
    ],
)
def test_rows_in_both_files_are_refused(uqcli, files, tmp_path, columns, shared, code):
    older = rows(1).select(columns)
    older.write_csv(tmp_path / "older.csv")
    other = pl.concat([older.head(shared), rows(2, 1500).select(columns).head(1500 if shared < 2000 else 0)])
    other.sample(fraction=1, shuffle=True, seed=5).write_parquet(tmp_path / "new.parquet")
    outcome = uqcli("boundary", "new.parquet", *CERTIFY, "--pilot", "older.csv", "-q")
    assert outcome.code == code, outcome.err
    if code:
        assert "are also in --pilot" in outcome.err
        assert "choose a rule cannot test it" in outcome.err
    else:
        assert "could not check" not in outcome.err


@pytest.mark.parametrize(("digits", "columns"), [(3, ["score", "label"]), (1, ["score", "label", "region"])])
def test_scores_with_few_digits_are_no_reason_to_refuse_a_pilot(uqcli, tmp_path, digits, columns):
    for name, seed, size in (("older.csv", 1, 2000), ("new.csv", 2, 1500)):
        rows(seed, size, digits=digits).select(columns).write_csv(tmp_path / name)
    outcome = uqcli("boundary", "new.csv", *CERTIFY, "--pilot", "older.csv", "--json")
    assert outcome.code == 0
    assert any("could not check whether rows of --pilot" in sentence for sentence in outcome.json["cautions"])
    assert uqcli("boundary", "new.csv", *CERTIFY, "--pilot", "new.csv", "-q").code == 3


def test_groups_have_their_own_part_of_the_pilot(uqcli, files, tmp_path):
    line = ("boundary", "new.csv", *CERTIFY, "--by", "region", "--bound", "each", "--pilot", "older.csv")
    assert uqcli(*line, "-q", "-o", "rule.json").code == 0
    older, new = (pl.read_csv(tmp_path / name) for name in ("older.csv", "new.csv"))
    groups = json.loads((tmp_path / "rule.json").read_text())["groups"]
    for name, group in groups.items():
        certificate = group["certificate"]
        assert certificate["pilot"]["rows"] == older.filter(pl.col("region") == name).height
        assert certificate["tested_on"]["rows"] == new.filter(pl.col("region") == name).height
    older.filter(pl.col("region") == "north").write_csv(tmp_path / "older.csv")
    assert uqcli(*line, "-q", "-o", "rule.json").code == 0
    groups = json.loads((tmp_path / "rule.json").read_text())["groups"]
    assert "certificate" in groups["north"]
    assert "certificate" not in groups["south"]
    assert groups["south"]["thresholds"] == [None]


def test_clusters_are_in_one_of_the_files(uqcli, files, tmp_path):
    line = ("boundary", "new.csv", *CERTIFY, "--cluster", "customer", "--pilot", "older.csv", "-q")
    assert uqcli(*line, "-o", "rule.json").code == 0
    certificate = json.loads((tmp_path / "rule.json").read_text())["certificate"]
    new = pl.read_csv(tmp_path / "new.csv")
    assert certificate["tested_on"]["rows"] == new["customer"].n_unique()
    shared = pl.read_csv(tmp_path / "older.csv")["customer"][0]
    new.with_columns(
        customer=pl.when(pl.int_range(pl.len()) == 3).then(pl.lit(shared)).otherwise("customer")
    ).write_csv(tmp_path / "new.csv")
    outcome = uqcli(*line)
    assert outcome.code == 3
    assert "1 value of 'customer' is in INPUT and in --pilot" in outcome.err


def test_a_pilot_can_have_other_columns_and_no_labels_file(uqcli, files, tmp_path):
    new = pl.read_csv(tmp_path / "new.csv")
    new.select("id", "label").write_csv(tmp_path / "labels.csv")
    new.drop("label").with_columns(more=pl.lit("x")).write_csv(tmp_path / "scores.csv")
    line = (
        "boundary",
        "scores.csv",
        *CERTIFY,
        "--pilot",
        "older.csv",
        "--labels",
        "labels.csv",
        "--on",
        "id",
    )
    assert uqcli(*line, "-q", "-o", "joined.json").code == 0
    assert uqcli("boundary", "new.csv", *CERTIFY, "--pilot", "older.csv", "-q", "-o", "rule.json").code == 0
    joined, alone = (json.loads((tmp_path / name).read_text()) for name in ("joined.json", "rule.json"))
    assert joined["certificate"] == alone["certificate"]


def test_a_pilot_is_for_certificates_and_labelled(uqcli, files, tmp_path):
    outcome = uqcli("boundary", "new.csv", "--precision", "0.6", "--pilot", "older.csv")
    assert (outcome.code, outcome.out) == (2, b"")
    assert "--pilot is given without --certify" in outcome.err
    pl.read_csv(tmp_path / "older.csv").drop("label").write_csv(tmp_path / "older.csv")
    outcome = uqcli("boundary", "new.csv", *CERTIFY, "--pilot", "older.csv")
    assert outcome.code == 3
    assert "label" in outcome.err


def test_a_failure_counts_the_rows_of_the_input_alone(uqcli, files):
    line = ("boundary", "new.csv", "--precision", "0.95", "--certify", "0.001", "--pilot", "older.csv")
    outcome = uqcli(*line)
    assert outcome.code == 4
    assert "rows of the calibration set" in " ".join(outcome.err.split())


@pytest.mark.parametrize("options", [(), ("--by", "g")])
def test_the_file_itself_is_no_pilot_whatever_is_in_it(uqcli, tmp_path, options):
    """Its rows are not read: a score that is no number would be another error."""
    (tmp_path / "rows.csv").write_text("score,label,g\n0.5,1,a\nhigh,0,b\n")
    (tmp_path / "link.csv").symlink_to(tmp_path / "rows.csv")
    words = ("boundary", "rows.csv", "--precision", "0.7", "--certify", "0.1", "--pilot", "link.csv")
    outcome = uqcli(*words, *options, *(("--bound", "each") if options else ()))
    assert outcome.code == 3
    assert "all rows of INPUT are also in --pilot" in outcome.err
