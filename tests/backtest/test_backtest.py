"""Periods, standings, policies and exit codes of ``uqcli backtest``."""

import datetime
import json

import numpy as np
import pandas as pd
import polars as pl
import pytest

from tests.cli.conftest import uqcli  # noqa: F401 - a fixture
from uqcli import DataError
from uqcli import commands as uq
from uqcli.backtest.capacity import flags_first
from uqcli.backtest.history import read_history
from uqcli.engines.request import DataRequest, Roles, in_memory

START = datetime.date(2025, 1, 1)


def rows_of(days, each=40, seed=0, *, lower_from=None):
    """Draw a history, in which labels are rarer from a day on."""
    random = np.random.default_rng(seed)
    day = np.repeat(np.asarray(days), each)
    score = random.random(len(day))
    lowered = 0.0 if lower_from is None else 0.4 * (day >= lower_from)
    label = random.random(len(day)) < np.clip(score - lowered, 0, 1)
    dates = [START + datetime.timedelta(days=int(number)) for number in day]
    return pd.DataFrame({"day": dates, "score": score, "label": label.astype(int)})


def told(rows, **options):
    return json.loads(uq.backtest(rows, day="day", **{"precision": "0.7"} | options).json())


def standings(report):
    return {period["name"]: period["standing"] for period in report["periods"]}


def test_half_a_year_is_walked_by_month_and_less_by_week():
    names = [period["name"] for period in told(rows_of(range(181)))["periods"]]
    assert names == [f"2025-{month:02}" for month in range(1, 7)]
    assert told(rows_of(range(180)))["periods"][0]["name"] == "2025-W01"


def test_the_first_fit_has_a_whole_period_and_the_last_period_counts_if_it_is_whole():
    rows = rows_of(range(10, 140))
    report = told(rows, every="month")
    assert standings(report) == {
        "2025-01": "fit_only",
        "2025-02": "fit_only",  # January is not whole
        "2025-03": "counted",
        "2025-04": "counted",
        "2025-05": "partial",
    }
    assert [rule["period"] for rule in report["rules"]] == ["2025-03", "2025-04", "2025-05"]
    assert report["rules"][0]["first_day"] == "2025-01-11"
    assert report["rules"][0]["last_day"] == "2025-02-28"
    shown = [span["period"] for span in report["policies"][0]["periods"]]
    assert shown == ["2025-03", "2025-04", "2025-05"]
    assert report["metrics"]["periods"] == 2


def test_windows_end_where_labels_are_not_there_yet():
    report = told(rows_of(range(150)), every="month", fit="40d", delay="5d")
    first = report["rules"][0]
    assert (first["period"], first["first_day"], first["last_day"]) == ("2025-03", "2025-01-15", "2025-02-23")


def test_a_period_without_rows_is_listed_and_not_counted():
    report = told(rows_of([*range(70), *range(80, 130)]), every="10d")
    assert list(standings(report).values()).count("empty") == 1
    assert report["metrics"]["periods"] == 11


def test_what_the_model_has_seen_is_shown_and_not_counted():
    report = told(rows_of(range(120)), every="20d", model_until="2025-02-05")
    assert [*standings(report).values()] == ["fit_only", "seen", "counted", "counted", "counted", "counted"]
    span = report["policies"][0]["periods"][0]
    assert (span["verdict"], span["reason"]) == (None, "it is seen by the model")
    assert "scores-at-the-time" not in [notice["key"] for notice in report["notices"]]


def test_weeks_are_judged_in_groups_of_four():
    report = told(rows_of(range(5, 5 + 7 * 14)), every="week")
    spans = report["policies"][0]["periods"]
    assert [span["period"] for span in spans if span["verdict"]] == [
        "2025-W03 to 2025-W06",
        "2025-W07 to 2025-W10",
        "2025-W11 to 2025-W14",
    ]


def test_few_alerts_few_days_and_missing_labels_leave_a_period_undecided():
    rows = rows_of(range(100), each=60)
    few_alerts = rows[~((rows["day"] >= START + datetime.timedelta(days=40)) & (rows.index % 60 > 0))]
    reasons = {span["reason"] for span in told(few_alerts, every="20d")["policies"][0]["periods"]}
    assert any(reason and "alerts, 30 needed" in reason for reason in reasons)
    late = rows["day"] >= START + datetime.timedelta(days=80)
    unlabelled = rows.assign(label=rows["label"].where(~late | (rows.index % 5 > 0)).astype("Int64"))
    spans = told(unlabelled, every="20d", on_invalid="drop")["policies"][0]["periods"]
    assert spans[-1]["verdict"] == "undecided"
    assert "labelled, 95 % needed" in spans[-1]["reason"]
    assert spans[-1]["alerts"] > spans[-1]["labelled"]


def test_a_changed_world_is_missed_and_told_apart():
    report = told(rows_of(range(300), each=80, lower_from=100), every="20d", fit="100d")
    first = report["metrics"]["first"]
    assert first["met"] < first["usual_low"]
    assert first["missed"] >= 4
    assert any("outside the usual range for the first rule" in note for note in report["notes"])


def test_margins_have_their_own_rules_policies_and_metrics():
    report = told(rows_of(range(120)), every="20d", margin="0,1.5")
    assert set(report["metrics"]["first"]) == {"margin_0", "margin_1_5"}
    assert {(policy["policy"], policy["margin"]) for policy in report["policies"]} == {
        (policy, margin) for policy in ("first", "after_alarm", "each_period") for margin in ("0", "1.5")
    }
    assert len(report["comparisons"]) == 6  # no alarm was raised, so that two policies are the same
    alerts = [report["metrics"]["first"][name]["alerts"] for name in ("margin_0", "margin_1_5")]
    assert alerts[0] > alerts[1]


def test_a_rule_by_the_score_alone_is_that_of_boundary_with_days():
    rows = rows_of(range(120))
    report = told(rows, every="20d")
    for number, rule in enumerate(report["rules"], start=1):
        end = START + datetime.timedelta(days=20 * number)
        alone = uq.boundary(rows[rows["day"] < end], day="day", precision="0.7").rule
        saved = json.loads(alone.content)
        assert rule["thresholds"] == saved["thresholds"]
        assert rule["expected_precision"] == saved["expected"]["precision"]["value"]


def test_the_order_and_the_number_of_files_change_nothing(tmp_path):
    rows = rows_of(range(100)).assign(uncertainty=lambda frame: frame["score"].round(1))
    mixed = rows.sample(frac=1, random_state=1)
    mixed[:1500].to_parquet(tmp_path / "a.parquet")
    mixed[1500:].to_parquet(tmp_path / "b.parquet")
    one = told(rows, every="20d", uncertainty="uncertainty")
    two = json.loads(
        uq.backtest(
            [tmp_path / "a.parquet", tmp_path / "b.parquet"],
            **{"day": "day", "every": "20d", "precision": "0.7", "uncertainty": "uncertainty"},
        ).json()
    )
    for report in (one, two):
        del report["source"]
    assert one == two


@pytest.mark.parametrize(
    ("days", "options", "code", "words"),
    [
        (range(59), ("--every", "month"), 3, "1 whole month after the first fit"),
        (range(20), ("--every", "month"), 3, "no whole month"),
        (range(100), ("--every", "20d", "--fit", "200d"), 3, "no whole period"),
        (range(100), ("--every", "20d", "--fit", "200d"), 3, "a shorter --fit or --delay"),
        (range(100), ("--model-until", "2030-01-01"), 3, "no whole weeks after --model-until"),
        (
            [*range(40), *range(99, 105)],
            ("--every", "month"),
            3,
            "1 whole month with rows after the first fit",
        ),
        (range(100), ("--every", "20d", "--precision", "1", "--max-fpr", "0.1"), 2, "several bounds"),
        (range(100), ("--every", "20d", "--engine", "spark"), 2, "use --engine polars"),
        (range(100), ("--every", "20d", "--precision", "0.7", "--margin", "0,0.0"), 2, "different numbers"),
    ],
)
def test_too_short_a_history_and_other_options_are_errors(uqcli, tmp_path, days, options, code, words):  # noqa: F811
    rows_of(days).to_csv(tmp_path / "rows.csv", index=False)
    target = () if "--precision" in options else ("--precision", "0.7")
    outcome = uqcli("backtest", tmp_path / "rows.csv", "--day", "day", *target, *options)
    assert outcome.code == code, outcome.err
    assert words in outcome.err


def test_no_rule_at_all_is_exit_four_with_a_report(uqcli, tmp_path):  # noqa: F811
    rows = rows_of(range(100)).assign(label=lambda frame: (frame["score"] < 0.5).astype(int))
    rows.to_csv(tmp_path / "rows.csv", index=False)
    line = ("backtest", tmp_path / "rows.csv", "--day", "day", "--every", "20d", "--precision", "0.99")
    outcome = uqcli(*line, "--json")
    assert outcome.code == 4, outcome.err
    report = json.loads(outcome.out)
    assert report["metrics"]["first"]["without_rule"] == 4
    assert report["metrics"]["alerts"] == 0


def test_a_rate_of_all_rows_counts_where_nothing_is_flagged():
    rows = rows_of(range(160), each=60)
    late = rows["day"] >= START + datetime.timedelta(days=80)
    fallen = rows.assign(score=rows["score"].where(~late, rows["score"] * 0.2))
    report = json.loads(uq.backtest(fallen, day="day", every="20d", fit="60d", recall="0.6").json())
    first = report["policies"][0]
    assert [span["alerts"] for span in first["periods"]][1:] == [0] * 4
    assert [span["verdict"] for span in first["periods"]][1:] == ["missed"] * 4
    assert (first["met"], first["missed"], first["counted"]) == (1, 4, 5)


def test_mistyped_dates_are_refused_and_a_last_period_may_end_the_calendar():
    rows = rows_of(range(60))
    for wrong in (datetime.date(1, 1, 1), datetime.date(9999, 12, 31)):
        mistyped = pd.concat([rows, rows[:1].assign(day=wrong)])
        with pytest.raises(DataError, match="mistyped dates"):
            told(mistyped, every="month")
    far = pd.concat([rows, rows[:1].assign(day=datetime.date(2035, 12, 31))])
    report = told(far, every="month", fit="20d")
    assert len(report["rules"]) == 3  # not one for each month of ten years


def test_months_without_rows_are_listed_apart():
    report = told(rows_of([*range(59), *range(90, 120), *range(151, 240)]), every="month")
    assert any(
        "2025-03 and 2025-05 (without rows)" in note.replace(", ", " and ") for note in report["notes"]
    )


def test_rows_are_ranked_within_each_day_and_group():
    rows = rows_of(range(60), each=30).assign(team=lambda frame: frame.index % 2)
    report = json.loads(uq.backtest(rows, day="day", every="20d", top=3, per="team").json())
    assert [span["alerts"] for span in report["policies"][0]["periods"]] == [120, 120, 120]


def test_rules_of_groups_are_listed_and_values_are_told():
    rows = rows_of(range(120), each=80).assign(team=lambda frame: frame.index % 2)
    report = told(rows, every="20d", by="team")
    assert set(report["rules"][-1]["groups"]) == {"0", "1"}
    worth = uq.backtest(rows, day="day", every="20d", gain="3", cost="1")
    assert "was worth" in str(worth).splitlines()[0]
    assert json.loads(worth.json())["comparisons"] == []


def test_values_are_told_of_a_policy_that_flags_rows():
    early, late = rows_of(range(20), each=60), rows_of(range(20, 120), each=60)
    early["score"] = 0.9 + early["score"] / 10  # so that the first rule flags no later row
    report = uq.backtest(pd.concat([early, late.assign(score=late["score"] / 2)]), **WORTH)
    first, each = (json.loads(report.json())["policies"][number] for number in (0, 1))
    assert first["counted"] == 0 < each["counted"]
    assert str(report).startswith("A new rule each period was worth")


WORTH = {"day": "day", "every": "20d", "gain": "1", "cost": "1"}


@pytest.mark.parametrize(
    ("options", "code", "words"),
    [
        ({"weight": "count"}, 2, "one row for each case"),
        ({"per": "label"}, 2, "--per and --label both name"),
        ({"model_until": "2030-01-01"}, 3, "no whole weeks after --model-until"),
        ({"every": "60d"}, 3, "1 whole period, in a history"),
    ],
)
def test_first_rows_are_refused_where_apply_would_flag_others_or_no_period_is_left(
    uqcli,  # noqa: F811
    tmp_path,
    options,
    code,
    words,
):
    rows_of(range(100)).assign(count=2).to_csv(tmp_path / "rows.csv", index=False)
    given = [text for name, value in options.items() for text in (f"--{name.replace('_', '-')}", value)]
    outcome = uqcli("backtest", tmp_path / "rows.csv", "--day", "day", "--top", "3", *given)
    assert outcome.code == code, outcome.err
    assert words in outcome.err
    assert "first fit" not in outcome.err


def test_sentences_of_first_rows_and_of_a_single_span_tell_no_rule_and_no_range():
    rows = rows_of(range(5, 5 + 28))
    lead = uq.backtest(rows, day="day", every="week", top=3)
    assert "over 1 span of 4 weeks (2025-W02 to 2025-W05)." in str(lead)
    longer = uq.backtest(rows_of(range(5, 5 + 7 * 14)), day="day", every="week", top=6)
    assert "The precision of the 6 highest scores of each day has been" in " ".join(str(longer).split())
    few = uq.backtest(rows_of(range(5, 5 + 7 * 4)), day="day", every="week", precision="0.7")
    assert "No week can be judged: 4 are judged together, and only 3 can be counted." in str(few)


def test_cuts_are_kept_of_the_pairs_of_day_and_value_that_occur():
    rows = rows_of(range(50)).assign(customer=lambda frame: np.arange(len(frame)) % 701)
    roles = Roles(numbers={"score": "score"}, label="label", keys=("customer",), per="customer")
    data = DataRequest(inputs=in_memory(pl.from_pandas(rows)), roles=roles).clustered_by("day", days=True)
    history = read_history(data)
    flags, cuts = flags_first(history, 1, "customer")
    assert len(cuts.taken) == len(rows[["day", "customer"]].drop_duplicates())
    assert flags(history.every).sum() == len(cuts.taken)
