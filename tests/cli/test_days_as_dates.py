"""Days are dates in whatever form, in the order of time; texts in another order are refused."""

import json
from pathlib import Path

import numpy as np
import polars as pl
import pytest

from tests.cli.conftest import fit
from uqcli.rules.codec import decode, encode

DAYS = [f"2024-{month:02}-{day:02}" for month in (9, 10) for day in (2, 9, 28)]
FORMS = {
    "%d.%m.%Y",
    "%d-%b-%y",
    "%B %-d, %Y",
    "%Y-%-m-%-d",
    "%a, %d %b %Y 10:30:00",
    "%Y%m%d",
    "%Y-%m-%dT23:59:59",
}
WATCH = ("watch", "rule.json", "--day", "day", "--json")
FIT = ("boundary", "--precision", "0.6", "--score-bins", "20", "--day", "day", "--json")


def rows(form="%Y-%m-%d"):
    random = np.random.default_rng(3)
    score = random.random(360)
    day = pl.Series(DAYS).str.to_date().dt.strftime(form)
    return pl.DataFrame(
        {"score": score, "label": (random.random(360) < score).astype(int), "day": [*day] * 60}
    )


def write_rule():
    rows().drop("day").write_csv("fit.csv")
    fit("boundary fit.csv --precision 0.6 --score-bins 20 -o rule.json")


@pytest.fixture
def rule(prepared):
    return prepared(write_rule)


@pytest.mark.covering("thorough", every=3)
@pytest.mark.parametrize("form", sorted(FORMS))
def test_days_of_any_form_are_those_of_iso_dates(uqcli, rule, form):
    rows().write_parquet("iso.parquet")
    rows(form).write_csv("form.csv")
    for line in (WATCH, FIT):
        iso, other = (uqcli(*line, name) for name in ("iso.parquet", "form.csv"))
        assert (iso.code, iso.out) == (other.code, other.out), other.err
    assert uqcli(*WATCH, "form.csv", "--state", "state.json").code in (0, 6)
    batches = json.loads(Path("state.json").read_text())["batches"]
    assert [batch["day"] for batch in batches] == DAYS
    # as versions up to 0.4 named them, which took such texts for no dates
    older = Path("state.json").read_text()
    for day, text in zip(DAYS, rows(form)["day"], strict=False):
        older = older.replace(f'"{day}"', f'"{text}"')
    Path("older.json").write_bytes(encode(decode(older.encode(), "older.json")))
    outcome = uqcli(*WATCH, "iso.parquet", "--state", "older.json")
    assert outcome.code in (0, 6), outcome.err
    assert [batch["day"] for batch in json.loads(Path("older.json").read_text())["batches"]] == DAYS


@pytest.mark.covering("thorough", every=2)
@pytest.mark.parametrize("form", ["%d/%m/%Y", "%m/%d/%Y", "week %W of %Y", "%-m", "%Y-W%V", "%-m%d"])
def test_other_texts_are_keys_of_one_form_or_refused(uqcli, rule, form):
    rows(form).write_csv("form.csv")
    outcome = uqcli(*WATCH, "form.csv")
    is_refused = "%Y" in form and not form.startswith("%Y")
    assert (outcome.code == 3, "do not sort as their days do" in outcome.err) == (is_refused, is_refused)
    mixed = rows(form).with_columns(day=pl.lit("batch ") + pl.int_range(pl.len()).cast(pl.String))
    mixed.write_csv("mixed.csv")
    assert "do not sort as their days do" in uqcli(*WATCH, "mixed.csv").err


@pytest.mark.parametrize("ending", ["csv", "parquet"])
def test_times_are_ranked_by_their_date(uqcli, rule, ending):
    times = pl.datetime_range(pl.datetime(2024, 9, 1), pl.datetime(2024, 9, 4), "14m", eager=True)[:300]
    frame = rows()[:300].with_columns(day=times).with_columns(date=pl.col("day").dt.date())
    frame.write_parquet("rows.parquet")
    frame.with_columns(pl.col("day").dt.to_string("%Y-%m-%d %H:%M:%S")).write_csv("rows.csv")
    flagged = []
    for per in ("day", "date"):
        line = f"apply rule.json rows.{ending} --top 20 --per {per} -q -o out.parquet"
        assert uqcli(*line.split()).code == 0
        flagged.append(pl.read_parquet("out.parquet")["decision"].to_list())
    assert flagged[0] == flagged[1]
    assert sum(flagged[0]) == 20 * frame["date"].n_unique()


def test_ties_at_the_cut_are_counted(uqcli, rule):
    frame = pl.DataFrame({"score": [0.9, 0.5, 0.5, 0.5, 0.1] * 2, "shop": ["a"] * 5 + ["b"] * 5})
    frame.write_csv("rows.csv")
    line = ("apply", "rule.json", "rows.csv", "--top", "2", "--json", "-o", "out.csv")
    says = "rows rank as the last flagged row does"
    assert f"4 {says}, in 2 groups, and are not" in uqcli(*line, "--per", "shop").json["cautions"][0]
    frame.with_columns(pl.col("score") + pl.int_range(10) / 100).write_csv("rows.csv")
    assert uqcli(*line, "--per", "shop").json["cautions"] == [] or says not in str(uqcli(*line).json)
