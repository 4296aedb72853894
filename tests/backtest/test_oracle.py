"""The same figures from loops over periods, with the Python API and pandas ranks."""

import datetime
import json
from pathlib import Path

import numpy as np
import pandas as pd
import pytest

import uqcli
from uqcli import commands as uq

SAMPLE = Path(__file__).parents[2] / "sample_data"


def history(seed):
    """Draw a history with ties, days of one mood, gaps, empty periods, and labels that are missing."""
    random = np.random.default_rng(seed)
    days = int(random.integers(75, 150))
    kept = random.random(days) > random.choice([0.0, 0.2])
    if random.random() < 0.4:
        gap = int(random.integers(20, days - 10))
        kept[gap : gap + 12] = False
    kept[[0, -1]] = True
    frames = []
    for day in np.flatnonzero(kept):
        rows = int(random.integers(5, 60))
        score = random.random(rows).round(int(random.integers(1, 4)))
        mood = random.normal() * random.choice([0.0, 0.2])
        label = (random.random(rows) < np.clip(score + mood, 0, 1)).astype(float)
        frames.append(pd.DataFrame({"day": day, "score": score, "label": label}))
    rows = pd.concat(frames).sample(frac=1, random_state=seed).reset_index(drop=True)
    rows["day"] = [datetime.date(2025, 3, 17) + datetime.timedelta(days=int(day)) for day in rows["day"]]
    if random.random() < 0.5:
        rows.loc[random.random(len(rows)) < 0.04, "label"] = np.nan
    return rows


def weeks(first, last):
    start = first - datetime.timedelta(days=first.weekday())
    while start <= last:
        yield start, start + datetime.timedelta(days=7)
        start += datetime.timedelta(days=7)


def tens(first, last):
    while first <= last:
        yield first, first + datetime.timedelta(days=10)
        first += datetime.timedelta(days=10)


def months(first, last):
    start = first.replace(day=1)
    while start <= last:
        following = (start + datetime.timedelta(days=32)).replace(day=1)
        yield start, following
        start = following


def counts(rows, flagged, start, end):
    inside = (rows["day"] >= start) & (rows["day"] < end)
    known = rows["label"].notna()
    hits = inside & known & flagged & (rows["label"] == 1)
    return {
        "alerts": int((inside & flagged).sum()),
        "labelled": int((inside & known & flagged).sum()),
        "true_positives": int(hits.sum()),
        "positives": int((inside & (rows["label"] == 1)).sum()),
    }


def fitted(rows, start, delay, fit, target):
    """Fit a rule on the days of a window, and return which rows it flags; None if there is none."""
    end = start - datetime.timedelta(days=delay)
    first = end - datetime.timedelta(days=fit) if fit else datetime.date.min
    window = rows[(rows["day"] >= first) & (rows["day"] < end) & rows["label"].notna()]
    try:
        rule = uq.boundary(window.astype({"label": int}), day="day", **target).rule
    except (uqcli.InfeasibleError, uqcli.DataError):
        return None
    return np.asarray(rule.decide(rows.drop(columns="label")), dtype=bool)


def policies(found):
    """Return the rule of each period by policy: the first one, and that of the period or the last one."""
    first, each, paths = None, None, {"first": {}, "each_period": {}}
    for number, flags in found.items():
        first = number if first is None and flags is not None else first
        each = number if flags is not None else each
        paths["first"][number], paths["each_period"][number] = first, each
    return paths


@pytest.mark.covering("thorough", every=17)
@pytest.mark.parametrize("seed", range(50))
def test_figures_are_those_of_loops_over_periods(seed):
    every, cut = [("week", weeks), ("10d", tens)][seed % 2]
    fit, delay = [(0, 0), (21, 0), (0, 5), (30, 3)][seed // 2 % 4]
    require_loops(history(seed), every, cut, fit, delay, [{"precision": "0.7"}, {"recall": "0.5"}][seed % 2])


@pytest.mark.thorough
def test_figures_of_flights_are_those_of_loops():
    rows = pd.concat([pd.read_parquet(SAMPLE / f"flights_{name}.parquet") for name in ("holdout", "use")])
    rows = rows[["day", "score", "label"]].astype({"score": float}).reset_index(drop=True)
    rows["day"] = [each.date() for each in pd.to_datetime(rows["day"])]
    require_loops(rows, "month", months, 180, 0, {"precision": "0.45"})


def require_loops(rows, every, cut, fit, delay, target):
    first, last = rows["day"].min(), rows["day"].max()
    options = {"day": "day", "every": every, "on_invalid": "drop", "delay": f"{delay}d"}
    told = json.loads(uq.backtest(rows, fit=f"{fit}d" if fit else None, **options, **target).json())
    periods, found = list(cut(first, last)), {}
    for number, (start, _) in enumerate(periods):
        left = (start - datetime.timedelta(days=delay) - first).days
        if not ((rows["day"] >= start) & (rows["day"] < periods[number][1])).any():
            continue
        if number and left >= (fit or (periods[number - 1][1] - periods[number - 1][0]).days):
            found[number] = fitted(rows, start, delay, fit, target)
    names = [period["name"] for period in told["periods"]]
    cells = {(cell["rule"], cell["period"]): cell for cell in told["triangle"]}
    assert [rule["found"] for rule in told["rules"]] == [flags is not None for flags in found.values()]
    for number, flags in found.items():
        for later, (start, end) in enumerate(periods):
            if flags is not None and later >= number:
                expected = counts(rows, flags, start, end)
                cell = cells.pop((names[number], names[later]))
                assert {name: cell[name] for name in expected} == expected
    assert not cells
    for policy in told["policies"]:
        if policy["policy"] == "after_alarm":
            continue
        path = policies(found)[policy["policy"]]
        steps = [name and names.index(name) for name in (step["rule"] for step in policy["path"])]
        assert steps == list(path.values())
        for span in policy["periods"]:
            start, *end = map(names.index, span["period"].split(" to "))
            whole = [
                counts(rows, found[path[number]], *periods[number])
                for number in range(start, (end or [start])[0] + 1)
                if number in path and path[number] is not None and standing_of(told, number) != "empty"
            ]
            for name in ("alerts", "labelled", "true_positives"):
                assert span[name] == sum(each[name] for each in whole)


def standing_of(told, number):
    return told["periods"][number]["standing"]


@pytest.mark.covering("thorough", every=17)
@pytest.mark.parametrize("seed", range(50))
def test_first_rows_of_each_day_are_those_of_ranks(seed):
    rows = history(seed)
    top = seed % 7 + 1
    told = json.loads(uq.backtest(rows, day="day", every="10d", top=top, per="day", on_invalid="drop").json())
    order = rows.assign(position=range(len(rows))).sort_values(
        ["day", "score", "position"], ascending=[True, False, True]
    )
    rank = (order.groupby("day").cumcount() < top).sort_index()
    names = [period["name"] for period in told["periods"]]
    periods = dict(zip(names, tens(rows["day"].min(), rows["day"].max()), strict=True))
    (policy,) = told["policies"]
    for span in policy["periods"]:
        expected = counts(rows, rank, *periods[span["period"]])
        assert {name: span[name] for name in expected} == expected


def test_a_new_rule_follows_the_alarm_of_watch(tmp_path):
    random = np.random.default_rng(5)
    day = np.repeat(np.arange(120), 60)
    score = random.random(len(day))
    label = random.random(len(day)) < np.clip(score - 0.3 * (day >= 55), 0, 1)
    dates = [datetime.date(2025, 1, 1) + datetime.timedelta(days=int(each)) for each in day]
    rows = pd.DataFrame({"day": dates, "score": score, "label": label.astype(int)})
    told = json.loads(uq.backtest(rows, day="day", every="20d", precision="0.7", delay="4d").json())
    policy = next(policy for policy in told["policies"] if policy["policy"] == "after_alarm")
    start = datetime.date(2025, 1, 1) + datetime.timedelta(days=40)
    end = start - datetime.timedelta(days=4)
    rule = uq.boundary(rows[rows["day"] < end], day="day", precision="0.7").rule
    state, alarmed = tmp_path / "state.json", None
    for each in sorted(set(rows["day"])):
        if each >= start and alarmed is None:
            result = uq.watch(rule, rows[rows["day"] == each], day="day", state=str(state))
            alarmed = each + datetime.timedelta(days=4) if result.failed else None
    assert alarmed is not None
    alarms = [step["alarm"] for step in policy["path"] if step["alarm"]]
    assert alarms[0] == str(alarmed)
    rules = [step["rule"] for step in policy["path"]]
    following = next(
        period["name"] for period in told["periods"] if datetime.date.fromisoformat(period["first"]) > alarmed
    )
    names = [step["period"] for step in policy["path"]]
    assert set(rules[: names.index(following)]) == {names[0]}
    assert rules[names.index(following)] == following
