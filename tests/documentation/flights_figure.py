"""Draws the picture of the README: the precision of a rule by month, beside what was expected.

``make figures`` writes it.
"""

from datetime import date

import numpy as np
import polars as pl

import uqcli
from tests.documentation.pages import ROOT
from uqcli.reports.document import Figure
from uqcli.reports.figures import BLUE, GREY, INK, RED, to_svg

TARGET = 0.45
MONTHS = range(7, 13)


def read(name):
    return pl.read_parquet(ROOT / "sample_data" / f"{name}.parquet")


def rules():
    """Fit a rule to random flights, with rows taken as independent, and one to whole days."""
    by_rows, by_days = read("flights_random_holdout"), read("flights_holdout")
    return (
        uqcli.find_boundary(by_rows["score"], by_rows["label"], precision=TARGET),
        uqcli.find_boundary(by_days["score"], by_days["label"], precision=TARGET, day=by_days["day"]),
    )


def by_month(rule, score):
    """Return the precision of a rule in each month of use."""
    use = read("flights_use")
    flagged = use.filter(pl.Series(rule.decide(use[score])))
    months = flagged.group_by(pl.col("day").dt.month().alias("month")).agg(
        pl.col("label").mean().alias("precision")
    )
    return [months.filter(pl.col("month") == month)["precision"].item() for month in MONTHS]


def draw(canvas):
    axes = canvas.subplots()
    random, days = rules()
    for place, rule, color in ((0, random, GREY), (1, days, BLUE)):
        expected = rule.artifact.expected.precision
        axes.plot(
            [place, place], [expected.low, expected.high], color=color, linewidth=5, solid_capstyle="butt"
        )
        axes.plot([place], [expected.value], marker="o", color=color)
    places = np.arange(3, 3 + len(MONTHS))
    dotted = {"color": GREY, "marker": "o", "linestyle": ":"}
    axes.plot(places, by_month(random, "score_random"), label="calibrated on random flights", **dotted)
    axes.plot(places, by_month(days, "score"), color=BLUE, marker="o", label="calibrated on whole days")
    axes.axhline(TARGET, color=RED, linewidth=1.5)
    axes.text(4.2, TARGET + 0.01, "the precision that was asked for", color=RED)
    axes.axvline(2, color=INK, linewidth=0.6)
    names = [date(2013, month, 1).strftime("%B") for month in MONTHS]
    axes.set_xticks([0, 1, *places], ["random\nflights", "whole\ndays", *names])
    axes.set_ylabel("precision of alerts")
    axes.set_ylim(0, 0.65)
    axes.set_xlim(-0.6, 9.5 - 1)
    axes.text(0.5, 0.6, "expected (90 % range)", ha="center", color=INK)
    axes.text(5.5, 0.6, "found in use", ha="center", color=INK)
    axes.legend(loc="lower left", bbox_to_anchor=(0.3, 0.02), frameon=False)
    return []


def figure():
    """Return the figure."""
    return Figure(
        title="Precision of a rule for late flights, by month",
        caption="",
        width=8.5,
        height=3.8,
        narrow_height=3.8,
        draw=draw,
    )


if __name__ == "__main__":
    (ROOT / "docs" / "images" / "flights.svg").write_text(to_svg(figure()))
