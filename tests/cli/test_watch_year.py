"""Runs the crontab of the page on nights for a simulated year: a mail if the rule breaks, none if not."""

import re
import shlex
from datetime import date, timedelta
from pathlib import Path

import numpy as np
import polars as pl
import pytest

PAGE = Path(__file__).parents[2] / "docs" / "how-to" / "operate.md"
FIRST_DAY = date(2026, 1, 1)
ROWS_PER_DAY = 50
MATURED = 90


def crontab():
    """Return the runs of the page as words, of every night and of every week, without limits of others."""
    text = PAGE.read_text().replace("\\\n", " ")
    nightly, weekly = (
        shlex.split(re.search(pattern, text)[1])
        for pattern in (r"uqcli (apply boundary\.json .*)", r"\nuqcli (watch .*?) > latest\.json")
    )
    return nightly[: nightly.index("--fail-if")], weekly


def rows_of_day(day, rate):
    """Draw the rows of a day; positives have their label at once, other rows after three months."""
    random = np.random.default_rng(day)
    score, uncertainty = random.random(ROWS_PER_DAY).round(3), random.random(ROWS_PER_DAY).round(3)
    label = (random.random(ROWS_PER_DAY) < score * rate).astype(int)
    return pl.DataFrame(
        {
            "score": score,
            "uncertainty": uncertainty,
            "label": label,
            "day": [(FIRST_DAY + timedelta(days=day)).isoformat()] * ROWS_PER_DAY,
            "known": np.where(label == 1, day, day + MATURED),
        }
    )


def write_rule(uqcli, tmp_path):
    """Fit a rule to rows of the year before."""
    random = np.random.default_rng(999)
    score = random.random(4000).round(3)
    label = (random.random(4000) < score).astype(int)
    rows = pl.DataFrame({"score": score, "uncertainty": random.random(4000), "label": label})
    rows.write_csv(tmp_path / "fit.csv")
    assert uqcli("boundary", "fit.csv", "--precision", "0.75", "-q", "-o", "boundary.json").code == 0


@pytest.mark.faults
@pytest.mark.parametrize(("breaks_on", "mails"), [(None, 0), (150, 2)])
def test_the_crontab_mails_when_it_must(uqcli, tmp_path, breaks_on, mails):
    nightly, weekly = crontab()
    days = [
        rows_of_day(day, 0.55 if breaks_on is not None and day >= breaks_on else 1.0) for day in range(365)
    ]
    write_rule(uqcli, tmp_path)
    for folder in ("labelled", "prom"):
        (tmp_path / folder).mkdir()
    told, sent = [], []
    for day, rows in enumerate(days):
        if day % 30 == 0:  # the nightly run is the same every day
            rows.drop("label", "day", "known").write_csv(tmp_path / "today.csv")
            assert uqcli(*nightly).code == 0
        if (FIRST_DAY + timedelta(days=day)).weekday() != 0 or day <= MATURED:
            continue
        pl.concat(days[: day + 1]).filter(pl.col("known") <= day).drop("known").write_parquet(
            tmp_path / "labelled" / "rows.parquet"
        )
        outcome = uqcli(*weekly[: weekly.index("--report")])  # a page every week would take a minute
        alarms = re.findall(rb'"(?:alarmed|changed)_at": ?"[^"]*"', outcome.out)
        assert outcome.code == (6 if alarms else 0)
        if alarms and alarms != told:  # as the script compares them
            assert uqcli(*weekly).err == outcome.err
            sent.append((day, outcome.err))
        told = alarms
    assert len(sent) == mails
    if mails:  # one of the change, and one of the target once all days together miss it
        (day, text), (_, later) = sent
        assert text.startswith("alarm: the rule no longer meets ")
        assert later.startswith("alarm: the rule misses ")
        assert breaks_on + MATURED < day < breaks_on + MATURED + 60
        assert text.startswith("alarm: ")
        assert " since about 2026-0" in (tmp_path / "watch.html").read_text()


@pytest.mark.covering("thorough", every=2)
@pytest.mark.parametrize(("matured", "code"), [("90", 0), ("0", 6)])
def test_only_complete_days_keep_the_level_if_bad_outcomes_come_first(uqcli, tmp_path, matured, code):
    write_rule(uqcli, tmp_path)
    days = pl.concat([rows_of_day(day, 1.0) for day in range(200)])
    age = 199 - pl.col("day").str.to_date().sub(FIRST_DAY).dt.total_days()
    days.filter((pl.col("label") == 0) | (age >= MATURED)).drop("known").write_csv(tmp_path / "known.csv")
    line = ("watch", "boundary.json", "known.csv", "--day", "day", "--matured", matured, "-q")
    assert uqcli(*line).code == code
