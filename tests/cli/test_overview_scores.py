"""Tests of ``overview --score a,b``: its metrics are those of the commands for one score."""

from pathlib import Path

import numpy as np
import polars as pl
import pytest

from uqcli.overview import scores as compared


def write_files():
    rng = np.random.default_rng(7)
    n = 1_500
    cause = rng.normal(size=n)
    label = (rng.random(n) < 1 / (1 + np.exp(1 - 2 * cause))).astype(int)

    def score(noise):
        return (1 / (1 + np.exp(1 - cause - noise * rng.normal(size=n)))).round(4)

    rows = pl.DataFrame({"old": score(1.0), "new": score(0.2), "label": label, "w": rng.integers(0, 3, n)})
    rows = rows.with_columns(logit=pl.col("new").log() + 1, same=pl.col("old"))
    rows.write_csv("rows.csv")
    rows.sample(fraction=1, shuffle=True, seed=1).write_parquet("shuffled.parquet")
    rows.with_columns(label=pl.lit(1)).write_csv("all.csv")
    rows.head(20).write_csv("few.csv")


@pytest.fixture(autouse=True)
def files(prepared, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    prepared(write_files)


@pytest.fixture(autouse=True)
def _fewer_resamplings(monkeypatch):
    monkeypatch.setattr(compared, "RESAMPLINGS", 40)


def changes(found):
    """Return the differences of the first other score that have intervals."""
    return {key: each for key, each in found["differences"][0]["metrics"].items() if "auc_p" not in key}


@pytest.mark.parametrize("options", [(), ("--weight", "w")])
def test_metrics_are_those_of_each_score(uqcli, options):
    found = uqcli("rows.csv", "--score", "old,new", *options, "--json").json
    assert [each["name"] for each in found["scores"]] == ["old", "new"]
    for score in found["scores"]:
        one = uqcli("rows.csv", "--score", score["name"], *options, "--json").json["metrics"]
        metrics = score["metrics"]
        assert (metrics["auc"], metrics["average_precision"]) == (one["auc"], one["average_precision"])
        assert metrics["brier"] == pytest.approx(
            one["tce"]["brier"]["value"] if isinstance(one["tce"]["brier"], dict) else one["tce"]["brier"]
        )
        recalls = {key: value for key, value in metrics.items() if key.startswith("recall_at_")}
        assert recalls
        for key, recall in recalls.items():
            bound = key.removeprefix("recall_at_")
            line = ("rows.csv", "--score", score["name"], *options, "--algorithm", "st", "--precision", bound)
            rule = uqcli("boundary", *line, "--json")
            assert rule.code == (0 if recall is not None else 4)
            assert recall is None or rule.json["metrics"]["recall"] == recall


def test_differences_are_second_minus_first_with_intervals(uqcli):
    found = uqcli("rows.csv", "--score", "old,new", "--json").json
    (difference,) = found["differences"]
    first, second = (each["metrics"] for each in found["scores"])
    assert (difference["name"], difference["against"]) == ("new", "old")
    for key, change in changes(found).items():
        assert change["value"] == pytest.approx(second[key] - first[key])
        assert change["low"] is None or change["low"] <= change["value"] <= change["high"]
    assert difference["metrics"]["auc"]["low"] > 0
    assert "'new' ranks the rows better than 'old'" in uqcli("rows.csv", "--score", "old,new").out.decode()


def test_equal_scores_do_not_differ(uqcli):
    found = uqcli("rows.csv", "--score", "old,same", "--json").json
    for change in changes(found).values():
        assert (change["value"], change["low"] or 0.0, change["high"] or 0.0) == (0, 0, 0)


def test_losses_are_of_probabilities_only(uqcli):
    found = uqcli("rows.csv", "--score", "old,logit", "--json").json
    assert found["scores"][1]["metrics"]["brier"] is None
    assert found["differences"][0]["metrics"]["log_loss"] == {"value": None, "low": None, "high": None}
    assert found["differences"][0]["metrics"]["auc"]["low"] is not None


def test_order_of_rows_and_format_change_no_byte(uqcli):
    one = uqcli("rows.csv", "--score", "old,new,logit", "--json").out
    assert uqcli("shuffled.parquet", "--score", "old,new,logit", "--json").out == one
    assert uqcli("-", "--score", "old,new,logit", "--json", stdin=Path("rows.csv").read_bytes()).out == one


def test_a_part_of_many_rows_is_resampled_and_said(uqcli, monkeypatch):
    whole = uqcli("rows.csv", "--score", "old,new", "--json").json
    monkeypatch.setattr(compared, "MAX_RESAMPLED", 500)
    part = uqcli("rows.csv", "--score", "old,new", "--json").json
    assert part["scores"] == whole["scores"]
    assert part["parameters"]["resampled"] == 500
    assert any("of 500 rows drawn at random" in note for note in part["notes"])
    widths = [
        found["differences"][0]["metrics"]["auc"]["high"] - found["differences"][0]["metrics"]["auc"]["low"]
        for found in (part, whole)
    ]
    assert widths[0] > widths[1]


@pytest.mark.parametrize(
    ("line", "code"),
    [
        ("rows.csv --score old,nothing", 3),
        ("rows.csv --score old,label", 2),
        ("rows.csv --score old,old", 2),
        ("rows.csv --score old,new --uncertainty w", 2),
        ("rows.csv --score old,new --audit w", 2),
    ],
)
def test_what_cannot_be_compared_is_refused(uqcli, line, code):
    found = uqcli(*line.split())
    assert found.code == code
    assert found.err.count("\n") == 1


@pytest.mark.parametrize("name", ["all.csv", "few.csv"])
def test_few_rows_and_one_class_have_no_interval(uqcli, name):
    found = uqcli(name, "--score", "old,new", "--json")
    assert found.code == 0
    assert all(change["low"] is None for change in changes(found.json).values())
    assert found.json["differences"][0]["metrics"]["auc_p"] is None
    said = uqcli(name, "--score", "old,new")
    assert (said.code, b"tell whether" in said.out) == (0, True)


def test_the_label_has_a_usual_name(uqcli):
    pl.read_csv("rows.csv").rename({"label": "y_true"}).write_csv("usual.csv")
    one, other = (uqcli(name, "--score", "old,new", "--json").json for name in ("rows.csv", "usual.csv"))
    assert one["differences"] == other["differences"]


def test_pages_and_checks(uqcli):
    line = ("rows.csv", "--score", "old,new", "-q", "--report", "page.html", "--report", "page.csv")
    assert uqcli(*line, "--fail-if", "differences.new.auc.low < 0").code == 0
    assert "ranks the rows better" in Path("page.html").read_text()


def write_equal_scores():
    rng = np.random.default_rng(100_010)
    cause, label = rng.normal(size=600), np.repeat([0, 1], [480, 120])
    columns = {f"m{index}": cause + label + rng.normal(size=600) for index in range(8)}
    pl.DataFrame({**columns, "label": label}).write_parquet("equal.parquet")


def test_the_largest_of_several_differences_is_not_better_by_luck(uqcli):
    """Eight scores rank alike; the interval of the best one excludes 0, as one in ten such files has it."""
    write_equal_scores()
    found = uqcli("equal.parquet", "--score", ",".join(f"m{index}" for index in range(8)), "--json").json
    tests = {each["name"]: each["metrics"] for each in found["differences"]}
    largest = max(tests, key=lambda name: tests[name]["auc"]["value"])
    assert tests[largest]["auc"]["low"] > 0
    p_values = sorted(each["auc_p"] for each in tests.values())
    assert p_values[0] < 0.05
    assert min(each["auc_p_adjusted"] for each in tests.values()) == pytest.approx(7 * p_values[0])
    assert f"'{largest}' does not rank the rows significantly better or worse" in found["notes"][0]
    assert "adjusted for 7 scores" in found["notes"][0]


def test_a_worse_score_is_called_worse_and_a_better_one_is_named_first(uqcli):
    worse = uqcli("rows.csv", "--score", "new,old,same", "--json").json["notes"][0]
    assert "'old' ranks the rows worse than 'new'" in worse
    better = uqcli("rows.csv", "--score", "old,same,new").out.decode()
    assert "'new' ranks the rows better than 'old'" in better
    assert "Next: uqcli rows.csv --score new" in better
    assert "Next: uqcli rows.csv --score new" in uqcli("rows.csv", "--score", "new,old").out.decode()
    assert "Next" not in uqcli("rows.csv", "--score", "old,same").out.decode()
